"""Residuals of an analysis of variance against normal quantiles, with envelopes of what chance allows."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from skewanova._anova_result import AnovaResult
from skewanova._checks import Floats, InputError, Seed, check_count, check_fraction
from skewanova.anova import variation_limit

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
    basis = _basis(frame, crossed)
    spare = len(frame) - basis.shape[1]
    square = float(residual @ residual)
    if spare < 1 or square <= variation_limit(frame["fitted"].to_numpy(dtype=np.float64) + residual):
        raise InputError("the residuals must vary, but the analysis leaves nothing to vary")
    draws = np.sort(_standardized_draws(basis, spare, n_draws, rng), axis=1)
    n = len(frame)
    ordered = frame.assign(standardized=residual / np.sqrt(square / spare)).sort_values(
        "residual", kind="stable", ignore_index=True
    )
    simultaneous_low, simultaneous_high = _rank_envelope(draws, level)
    envelopes = {
        "theoretical": stats.norm.ppf((np.arange(1, n + 1) - 0.375) / (n + 0.25)),  # Blom 1958
        "pointwise_low": np.quantile(draws, (1 - level) / 2, axis=0),
        "pointwise_high": np.quantile(draws, (1 + level) / 2, axis=0),
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


def _basis(frame: pd.DataFrame, crossed: bool) -> Floats:
    """Orthonormal columns that span the effects of the factors."""
    terms = [[c] for c in ("model", "fold", "prior") if c in frame] + [["model", "prior"]] * crossed
    codes = [frame.groupby(term, sort=False, observed=True).ngroup().to_numpy() for term in terms]
    columns = np.hstack([np.eye(code.max() + 1)[code] for code in codes])
    left, size, _ = np.linalg.svd(columns, full_matrices=False)
    return left[:, size > 1e-10 * size[0]]


def _standardized_draws(basis: Floats, spare: int, n_draws: int, rng: Seed) -> Floats:
    """Residuals of normal samples over the root of their mean square, of shape (n_draws, n)."""
    draws = np.random.default_rng(rng).standard_normal((n_draws, len(basis)))
    draws -= draws @ basis @ basis.T
    return np.asarray(draws / np.sqrt((draws**2).sum(axis=1, keepdims=True) / spare))


def _rank_envelope(draws: Floats, level: float) -> tuple[Floats, Floats]:
    """Narrowest envelope, cut alike at every place, that holds a share of whole draws."""
    order = draws.argsort(axis=0)
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.arange(len(draws))[:, None], axis=0)
    depth = np.minimum(rank, len(draws) - 1 - rank).min(axis=1)
    cut = int(np.quantile(depth, 1 - level, method="lower"))
    placed = np.sort(draws, axis=0)
    return placed[cut], placed[len(draws) - 1 - cut]
