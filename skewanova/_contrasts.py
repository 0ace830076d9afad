"""Contrasts between estimates that are jointly normal: pairs, Wald test, simultaneous critical values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from skewanova._checks import Floats
from skewanova._fold_kernels import holm

#: Eigenvalues of a covariance below this share of its size count as zero.
RANK_TOLERANCE = 1e-10
#: log2 of the quasi-random draws behind the critical value of the largest |z|.
LOG_DRAWS = 16
#: Numbers held at once while drawing.
BLOCK_SIZE = 4_000_000


class PairTests(NamedTuple):
    """Differences between all pairs of models, with their tests and intervals; arrays over pairs."""

    difference: Floats
    std_error: Floats
    z: Floats
    p_value: Floats
    p_adjusted: Floats
    conf_low: Floats
    conf_high: Floats
    critical_value: float


def pair_tests(estimate: Floats, covariance: Floats, *, level: float, simultaneous: str) -> PairTests:
    """Test every pair a - b, in the order of :func:`numpy.triu_indices`."""
    a, b = np.triu_indices(len(estimate), 1)
    contrasts = np.eye(len(estimate))[a] - np.eye(len(estimate))[b]
    difference, std_error = estimate[a] - estimate[b], contrast_errors(contrasts, covariance)
    z, p_value = z_test(difference, std_error)
    critical = _critical_value(contrasts, covariance, level, simultaneous)
    reach = critical * std_error
    return PairTests(
        difference, std_error, z, p_value, holm(p_value), difference - reach, difference + reach, critical
    )


def contrast_errors(contrasts: Floats, covariance: Floats) -> Floats:
    """Standard errors of contrasts, exactly zero where only rounding is left."""
    variance = np.einsum("pi,ij,pj->p", contrasts, covariance, contrasts)
    scale = np.abs(contrasts) @ np.diag(covariance)
    return np.asarray(np.sqrt(np.where(variance <= RANK_TOLERANCE * scale, 0.0, variance)))


def z_test(difference: Floats, std_error: Floats) -> tuple[Floats, Floats]:
    """Return z and two-sided p; both nan where neither a difference nor an error is left."""
    with np.errstate(divide="ignore", invalid="ignore"):
        z = difference / std_error
    return z, np.asarray(2 * special.ndtr(-np.abs(z)))


def wald_test(estimate: Floats, covariance: Floats) -> tuple[float, int, float]:
    """Chi-square of equal estimates over the contrasts that vary, their number, and p (Moore-Penrose)."""
    steps = -np.diff(np.eye(len(estimate)), axis=0)
    values, vectors = np.linalg.eigh(steps @ covariance @ steps.T)
    kept = values > RANK_TOLERANCE * np.trace(covariance)
    df = int(np.count_nonzero(kept))
    if df == 0:
        return np.nan, 0, np.nan
    along = vectors[:, kept].T @ (steps @ estimate)
    statistic = float((along**2 / values[kept]).sum())
    return statistic, df, float(special.chdtrc(df, statistic))


def bonferroni_value(n_pairs: int, level: float) -> float:
    """Two-sided normal critical value shared by `n_pairs` intervals."""
    return float(-special.ndtri((1 - level) / (2 * n_pairs)))


def max_z_value(contrasts: Floats, covariance: Floats, level: float) -> float:
    """Quantile of the largest |z| over contrasts whose estimates are jointly normal.

    Sobol points in the space that varies, without scrambling, so the value repeats.
    """
    from scipy.stats import qmc

    std_error = contrast_errors(contrasts, covariance)
    varying = std_error > 0
    if np.count_nonzero(varying) <= 1:
        return bonferroni_value(1, level)
    values, vectors = np.linalg.eigh(covariance)
    kept = values > RANK_TOLERANCE * values[-1]
    loading = (contrasts[varying] / std_error[varying, None]) @ vectors[:, kept] * np.sqrt(values[kept])
    points = qmc.Sobol(int(kept.sum()), scramble=False).random_base2(LOG_DRAWS)
    normal = special.ndtri(points + 0.5**LOG_DRAWS / 2)  # multiples of 2^-LOG_DRAWS, moved off 0
    block = max(1, BLOCK_SIZE // len(loading))
    largest = [np.abs(part @ loading.T).max(axis=1) for part in _blocks(normal, block)]
    return float(np.quantile(np.concatenate(largest), level))


def _blocks(rows: Floats, size: int) -> list[Floats]:
    return [rows[start : start + size] for start in range(0, len(rows), size)]


def _critical_value(contrasts: Floats, covariance: Floats, level: float, simultaneous: str) -> float:
    if simultaneous == "max_z":
        return max_z_value(contrasts, covariance, level)
    return bonferroni_value(len(contrasts) if simultaneous == "bonferroni" else 1, level)
