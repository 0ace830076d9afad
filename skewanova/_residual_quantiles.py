"""Residuals of an analysis of variance against normal quantiles, with envelopes of what chance allows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from skewanova._anova_result import AnovaResult
from skewanova._checks import Floats, InputError, Seed, check_count, check_fraction, seeded
from skewanova.anova import variation_limit

#: Numbers worked on at a time.
BLOCK_SIZE = 2_000_000
QUANTILE_COLUMNS = (
    "residual",
    "standardized",
    "theoretical",
    "pointwise_low",
    "pointwise_high",
    "simultaneous_low",
    "simultaneous_high",
)


def residual_quantiles(
    result: AnovaResult | pd.DataFrame, *, level: float = 0.95, n_draws: int = 4999, rng: Seed = 0
) -> pd.DataFrame:
    """Ordered residuals of an analysis of variance beside those of a normal sample.

    Parameters
    ----------
    result : AnovaResult or DataFrame
        The analysis, or its ``residuals()``: columns model, fold, [prior,] fitted, residual; the frame is
        taken to come from main effects alone.
    level : float, default 0.95
        Level of both envelopes.
    n_draws : int, default 4999
        Normal samples drawn.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    DataFrame
        The factors and the columns of `QUANTILE_COLUMNS`, smallest residual first. ``standardized`` is the
        residual over the root of the residual mean square; ``theoretical`` is Blom's normal quantile. A
        pointwise envelope holds one ordered residual of a normal sample with probability `level`, the
        simultaneous one all of them.

    Raises
    ------
    ValueError
        If columns are missing, nothing is left to vary, or an option is out of range.

    Notes
    -----
    The residuals are correlated and share one estimate of their spread, so envelopes for independent values
    would be wrong. Normal samples of the same layout are swept by the same factors instead; under the model
    their standardized residuals have the distribution of those observed, whatever the effects. The
    simultaneous envelope cuts the same number of draws from either end at every place (Myllymaki et al.
    2017, global rank envelope).

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, residual_quantiles, two_way_anova
    >>> result = two_way_anova(evaluate(load_satellite_scores(), priors=(0.5,)).iauprec)
    >>> found = residual_quantiles(result)
    >>> outside = found["standardized"].lt(found["simultaneous_low"])
    >>> bool(outside.any())
    True
    """
    check_fraction(level, "level")
    check_count(n_draws, "n_draws", minimum=99)
    frame, crossed = _residual_frame(result)
    residual = frame["residual"].to_numpy(dtype=np.float64)
    sweep, spare = _sweep(frame, crossed)
    square = float(residual @ residual)
    if spare < 1 or square <= variation_limit(frame["fitted"].to_numpy(dtype=np.float64) + residual):
        raise InputError("the residuals must vary, but the analysis leaves nothing to vary")
    draws = _standardized_draws(sweep, len(frame), spare, n_draws=n_draws, rng=rng)
    n = len(frame)
    ordered = frame.assign(standardized=residual / np.sqrt(square / spare)).sort_values(
        "residual", kind="stable", ignore_index=True
    )
    pointwise_low, pointwise_high = _by_place(
        draws, lambda part: np.quantile(part, [(1 - level) / 2, (1 + level) / 2], axis=0)
    )
    simultaneous_low, simultaneous_high = _rank_envelope(draws, level)
    envelopes = {
        "theoretical": stats.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25)),  # Blom 1958
        "pointwise_low": pointwise_low,
        "pointwise_high": pointwise_high,
        "simultaneous_low": simultaneous_low,
        "simultaneous_high": simultaneous_high,
    }
    factors = [c for c in ordered if c not in ("fitted", "residual", "standardized")]
    return ordered.assign(**envelopes)[[*factors, *QUANTILE_COLUMNS]]


def _residual_frame(result: AnovaResult | pd.DataFrame) -> tuple[pd.DataFrame, bool]:
    """Return the residuals, and whether models and priors interact in the analysis."""
    frame = result if isinstance(result, pd.DataFrame) else result.residuals()
    missing = [c for c in ("model", "fold", "fitted", "residual") if c not in frame]
    if missing:
        raise InputError(
            f"`result` must have the columns model, fold, fitted, residual; it lacks {missing[0]}"
        )
    factors = [c for c in ("model", "fold", "prior") if c in frame]
    crossed = isinstance(result, AnovaResult) and result.test == "three_way_interaction"
    return frame[[*factors, "fitted", "residual"]], crossed


def _sweep(frame: pd.DataFrame, crossed: bool) -> tuple[Callable[[Floats], Floats], int]:
    """What takes the effects of the factors out of rows of values, and the degrees of freedom left."""
    terms = [[c] for c in ("model", "fold", "prior") if c in frame] + [["model", "prior"]] * crossed
    codes = [frame.groupby(term, sort=False, observed=True).ngroup().to_numpy() for term in terms]
    shape = tuple(int(code.max()) + 1 for code in codes)
    if not crossed and len(frame) == prod(shape):  # every cell stands: effects are means
        return _means_out(codes, shape), len(frame) - 1 - sum(size - 1 for size in shape)
    columns = np.hstack([np.eye(size)[code] for size, code in zip(shape, codes, strict=True)])
    left, size, _ = np.linalg.svd(columns, full_matrices=False)
    basis = left[:, size > 1e-10 * size[0]]
    return lambda rows: rows - rows @ basis @ basis.T, len(frame) - basis.shape[1]


def _means_out(
    codes: Sequence[NDArray[np.integer[Any]]], shape: tuple[int, ...]
) -> Callable[[Floats], Floats]:
    """Take the means of every factor out of rows of values; the cells come back in another order."""
    order = np.argsort(np.ravel_multi_index(tuple(codes), shape))

    def swept(rows: Floats) -> Floats:
        cube = rows[:, order].reshape(-1, *shape)
        for axis in range(1, cube.ndim):
            others = tuple(i for i in range(1, cube.ndim) if i != axis)
            cube -= cube.mean(axis=others, keepdims=True)
        return cube.reshape(len(rows), -1)

    return swept


def _standardized_draws(
    sweep: Callable[[Floats], Floats], n: int, spare: int, *, n_draws: int, rng: Seed
) -> Floats:
    """Ordered residuals of normal samples over the root of their mean square, of shape (n_draws, n)."""
    generator, draws = seeded(rng), np.empty((n_draws, n))
    rows = max(1, BLOCK_SIZE // n)
    for start in range(0, n_draws, rows):
        part = sweep(generator.standard_normal((min(rows, n_draws - start), n)))
        part /= np.sqrt((part**2).sum(axis=1, keepdims=True) / spare)
        draws[start : start + rows] = np.sort(part, axis=1)
    return draws


def _by_place(draws: Floats, what: Callable[[Floats], Floats]) -> Floats:
    """Apply a function of whole columns to some of them at a time, and join what it returns."""
    columns = max(1, BLOCK_SIZE // len(draws))
    starts = range(0, draws.shape[1], columns)
    return np.hstack([what(draws[:, start : start + columns]) for start in starts])


def _rank_envelope(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Narrowest envelope, cut alike at every place, that holds a share of whole draws."""

    def depth(part: Floats) -> Floats:
        order = part.argsort(axis=0)
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(len(part))[:, None], axis=0)
        return np.asarray(np.minimum(rank, len(part) - 1 - rank).min(axis=1, keepdims=True))

    last = len(draws) - 1
    cut = int(np.quantile(_by_place(draws, depth).min(axis=1), 1 - level, method="lower"))
    low, high = _by_place(draws, lambda part: np.sort(part, axis=0)[[cut, last - cut]])
    return low, high
