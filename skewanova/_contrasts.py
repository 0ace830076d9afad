"""Contrasts between areas on the same cases: pairs, omnibus test, simultaneous critical values.

Areas are compared on the angular scale, 2 arcsin(sqrt(area)), where their spread depends least on the area
itself; a t or F deviate allows for the tails of the values behind the standard errors.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from skewanova._checks import Bools, Floats
from skewanova._fold_kernels import helmert, holm
from skewanova._influence_kernels import spread_of, stratified_covariance

#: Eigenvalues of a covariance below this share of its size count as zero.
RANK_TOLERANCE = 1e-10
#: log2 of the quasi-random draws behind the critical value of the largest |z|.
LOG_DRAWS = 16
#: Angles nearer than this have the slope at the area itself.
SAME_ANGLE = 1e-9
#: Degrees of freedom taken for infinitely many.
LARGEST_DF = 1e12
#: Numbers held at once while drawing.
BLOCK_SIZE = 4_000_000


class PairTests(NamedTuple):
    """Differences between all pairs of models, with their tests and intervals; arrays over pairs."""

    difference: Floats
    std_error: Floats
    statistic: Floats
    df_error: Floats
    p_value: Floats
    p_adjusted: Floats
    conf_low: Floats
    conf_high: Floats
    critical_value: Floats


class Angles(NamedTuple):
    """Areas on the angular scale, and the values of every case on it, centred in either class.

    An area of 0 or 1 has no slope there: with one among them, all stay as they are.
    """

    area: Floats
    angle: Floats
    values: Floats
    positive: Bools

    @classmethod
    def of(cls, area: Floats, values: Floats, positive: Bools) -> Angles:
        """Carry areas and values of shape (n_cases, n_models) over (delta method)."""
        centred = np.where(
            positive[:, None], values - values[positive].mean(axis=0), values - values[~positive].mean(axis=0)
        )
        if ((area <= 0) | (area >= 1)).any():
            return cls(area, area, centred, positive)
        return cls(area, 2 * np.arcsin(np.sqrt(area)), centred / np.sqrt(area * (1 - area)), positive)

    @property
    def covariance(self) -> Floats:
        """Covariance of the angles."""
        return stratified_covariance(self.values, self.positive)

    def chord(self, a: int, b: int) -> float:
        """Difference of two areas for one of their angles."""
        rise = self.angle[a] - self.angle[b]
        if abs(rise) > SAME_ANGLE:
            return float((self.area[a] - self.area[b]) / rise)
        at = self.area[a]
        return 1.0 if self.angle is self.area else float(np.sqrt(at * (1 - at)))


def pair_tests(angles: Angles, *, level: float, simultaneous: str) -> PairTests:
    """Test every pair a - b, in the order of :func:`numpy.triu_indices`.

    The standard error is that of the difference of the angles times the chord, so that the test is that of
    the angles, and the interval agrees with it. A difference without spread has neither test nor limits,
    however large: a perfect model and a constant one keep their areas whatever case is left out.
    """
    a, b = np.triu_indices(len(angles.area), 1)
    pairs = list(zip(a.tolist(), b.tolist(), strict=True))
    spread = [_spread(angles.values[:, i] - angles.values[:, j], angles.positive) for i, j in pairs]
    error, df_error = (np.array(column) for column in zip(*spread, strict=True))
    contrasts, covariance = np.eye(len(angles.area))[a] - np.eye(len(angles.area))[b], angles.covariance
    error[contrast_errors(contrasts, covariance) == 0] = 0.0
    std_error = error * np.array([angles.chord(i, j) for i, j in pairs])
    difference = angles.area[a] - angles.area[b]
    statistic, p_value = t_test(difference, std_error, df_error)
    normal = _critical_value(contrasts, covariance, level, simultaneous)
    critical = -special.stdtrit(df_error, special.ndtr(-normal))
    reach = np.where((std_error == 0) & (difference != 0), np.nan, critical * std_error)
    low, high = difference - reach, difference + reach
    return PairTests(difference, std_error, statistic, df_error, p_value, holm(p_value), low, high, critical)


def contrast_errors(contrasts: Floats, covariance: Floats) -> Floats:
    """Standard errors of contrasts, exactly zero where only rounding is left."""
    variance = np.einsum("pi,ij,pj->p", contrasts, covariance, contrasts)
    scale = np.abs(contrasts) @ np.diag(covariance)
    return np.asarray(np.sqrt(np.where(variance <= RANK_TOLERANCE * scale, 0.0, variance)))


def t_test(difference: Floats, std_error: Floats, df: Floats) -> tuple[Floats, Floats]:
    """Return t and two-sided p; both nan where no error is left."""
    statistic = difference / np.where(std_error == 0, np.nan, std_error)
    return statistic, np.asarray(2 * special.stdtr(df, -np.abs(statistic)))


def omnibus_test(angles: Angles) -> tuple[float, int, float, float]:
    """F of equal areas over the contrasts that vary, their number, the error's df, and p (Moore-Penrose).

    The error's degrees of freedom are the harmonic mean of those of the contrasts made uncorrelated. These
    come from orthonormal contrasts, so that the order of the models does not matter.
    """
    steps, covariance = helmert(len(angles.area)), angles.covariance
    values, vectors = np.linalg.eigh(steps @ covariance @ steps.T)
    kept = values > RANK_TOLERANCE * np.trace(covariance)
    df = int(np.count_nonzero(kept))
    if df == 0:
        return np.nan, 0, np.nan, np.nan
    along = vectors[:, kept].T @ steps
    spread = [_spread(angles.values @ contrast, angles.positive) for contrast in along]
    error, df_error = (np.array(column) for column in zip(*spread, strict=True))
    statistic = float((((along @ angles.angle) / error) ** 2).mean())
    shared = float(1 / (1 / df_error).mean())
    return statistic, df, shared, float(special.fdtrc(df, min(shared, LARGEST_DF), statistic))


def _spread(values: Floats, positive: Bools) -> tuple[float, float]:
    """As :func:`spread_of`, but nan where a class has one case, which shows no spread."""
    error, df = spread_of(values, positive)
    alone = min(np.count_nonzero(positive), np.count_nonzero(~positive)) == 1
    return (np.nan if alone else error), df


def bonferroni_value(n_pairs: int, level: float) -> float:
    """Two-sided normal critical value shared by `n_pairs` intervals."""
    return float(-special.ndtri((1 - level) / (2 * n_pairs)))


def max_z_value(contrasts: Floats, covariance: Floats, level: float) -> float:
    """Quantile of the largest |z| over contrasts whose estimates are jointly normal.

    Sobol points in the space that varies, without scrambling, so the value repeats; the signs of its axes do
    not depend on the order of the models.
    """
    from scipy.stats import qmc

    std_error = contrast_errors(contrasts, covariance)
    varying = std_error > 0
    if np.count_nonzero(varying) <= 1:
        return bonferroni_value(1, level)
    values, vectors = np.linalg.eigh(covariance)
    kept = values > RANK_TOLERANCE * values[-1]
    vectors = vectors * np.where((vectors**3).sum(axis=0) < 0, -1.0, 1.0)
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
