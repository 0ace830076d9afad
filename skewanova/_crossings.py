"""Priors at which two mean curves cross, with confidence intervals that invert the test of their difference.

The interval is Fieller's (1954): it holds the priors at which the pointwise test does not tell the two models
apart, as far as these hang together with the crossing. No slope is divided by, so it stays right where the
curves run almost side by side, and then reaches the limits of the range instead of ending too early.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats, check_fraction
from skewanova._joint_curves import PanelCurves, panel_curves
from skewanova._mean_curves import clear_signs, panel_series, sign_stretches
from skewanova._omnibus_result import check_ratio
from skewanova._streamed_scores import Scores
from skewanova._ties import falling_order
from skewanova.evaluation import Evaluation

CROSSING_COLUMNS = (
    "prior",
    "conf_low",
    "conf_high",
    "model_below",
    "model_above",
    "lead",
    "open_low",
    "open_high",
    "std_error",
    "df",
)
#: Two numbers for one root in the log-odds differ by no more than this.
SAME_ROOT = 1e-9


class Crossing(NamedTuple):
    """Where one model passes another: their positions, and priors."""

    below: int
    above: int
    prior: float
    conf_low: float
    conf_high: float
    open_low: bool
    open_high: bool
    std_error: float


def crossings(
    evaluation: Evaluation,
    *,
    ratio: float = 0.0,
    alpha: float = 0.05,
    scores: Scores | None = None,
) -> pd.DataFrame:
    """Priors at which the mean curves of two models cross, each with a confidence interval.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    ratio : float, default 0
        Test cases for each training case, where folds share training data.
    alpha : float, default 0.05
        The intervals are at level ``1 - alpha``, each by itself.
    scores : ScoreTable, optional
        What was evaluated. With one fold the intervals rest on it; without it they are nan.

    Returns
    -------
    DataFrame
        Columns of `CROSSING_COLUMNS`, in ascending priors, over the grid of priors and the deployment prior
        together. ``model_below`` is the better of the two below the prior, ``model_above`` the better one
        above it; ``lead`` tells whether the largest mean of all changes hands there. ``open_low`` and
        ``open_high`` mark intervals that reach a limit of the range and may go on beyond. ``std_error`` is
        the delta method's, and ``df`` the degrees of freedom (infinite for one fold).

    Raises
    ------
    ValueError
        If an option is out of range.

    Notes
    -----
    The interval holds the priors around the crossing at which the paired t of the difference stays within its
    two-sided critical value (Fieller 1954). From folds the variance is inflated by ``1 + J ratio`` (Nadeau
    and Bengio 2003); from one fold it is the jackknife's over cases. Limits are roots of polynomials, no
    grid's.

    Examples
    --------
    >>> from skewanova import crossings, evaluate, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> crossings(measures, ratio=0.25)[["model_below", "model_above", "lead"]].values.tolist()
    []
    """
    check_fraction(alpha, "alpha")
    check_ratio(ratio)
    panel = panel_curves(evaluation, ratio=ratio, scores=scores)
    return crossings_frame(panel, evaluation.models, alpha)


def crossings_frame(panel: PanelCurves, models: tuple[str, ...], alpha: float) -> pd.DataFrame:
    """Every crossing as a row."""
    regions = panel.curves.regions()
    leads = [(a, b, high) for (a, _, high), (b, _, _) in pairwise(regions)]
    unordered = find_crossings(panel, panel.joint.critical_value(alpha))
    found = [unordered[i] for i in falling_order([-c.prior for c in unordered])]
    rows = [
        (
            c.prior,
            c.conf_low,
            c.conf_high,
            models[c.below],
            models[c.above],
            any(
                a == c.below and b == c.above and np.isclose(p, c.prior, rtol=1e-6, atol=0)
                for a, b, p in leads
            ),
            c.open_low,
            c.open_high,
            c.std_error,
            panel.joint.df,
        )
        for c in found
    ]
    return pd.DataFrame(rows, columns=list(CROSSING_COLUMNS)).astype(
        {"lead": bool, "open_low": bool, "open_high": bool}
    )


def find_crossings(panel: PanelCurves, critical: float) -> list[Crossing]:
    """Crossings of every pair, pair by pair; with a critical value of nan their intervals are nan."""
    if panel.low == panel.high:
        return []
    difference, variance = panel.joint.pairs()
    pairs = np.transpose(kernels.pair_indices(len(panel.joint.estimate)))
    found, known = [], not np.isnan(critical)
    for k in np.flatnonzero(clear_signs(panel.edges, difference) == 0):
        a, b = pairs[k]
        pieces = [row[0] for row in panel_series(panel.edges, difference[k : k + 1])]
        stretches = [s for s in sign_stretches(panel.edges, pieces) if s[0]]
        for (before, _, end), (after, start, _) in pairwise(stretches):
            if before == after:
                continue
            at = (end + start) / 2  # the same but where the curves coincide on a stretch
            limits: tuple[float, float, bool, bool] = (np.nan, np.nan, False, False)
            if known:
                around = undecided(panel.edges, difference[k], variance[k], critical)
                limits = _limits(panel.edges, around, at)
            error = _delta_error(panel.edges, pieces, variance[k], at)
            below, above = (int(a), int(b)) if before > 0 else (int(b), int(a))
            found.append(Crossing(below, above, float(expit(at)), *limits, error))
    return found


def undecided(
    edges: Floats, difference: Floats, variance: Floats, critical: float
) -> list[tuple[float, float]]:
    """Stretches, in log-odds, on which a difference is within `critical` standard errors of zero."""
    return undecided_pairs(edges, difference[None], variance[None], critical)[0]


def undecided_pairs(
    edges: Floats, difference: Floats, variance: Floats, critical: float
) -> list[list[tuple[float, float]]]:
    """The same for each of several differences (n_pairs, n_priors)."""
    excess = difference**2 - critical**2 * variance
    size = np.abs(excess).max(axis=1)
    excess = excess / np.where(size > 0, size, 1.0)[:, None]
    whole = [(float(edges[0]), float(edges[-1]))]
    known = {1: [], -1: whole}
    found = []
    for row, sign, largest in zip(excess, clear_signs(edges, excess), size, strict=True):
        if sign or largest == 0:
            found.append(known[int(sign)] if sign else whole)
            continue
        pieces = [series[0] for series in panel_series(edges, row[None])]
        found.append([(low, high) for turn, low, high in sign_stretches(edges, pieces) if turn <= 0])
    return found


def _limits(
    edges: Floats, stretches: list[tuple[float, float]], at: float
) -> tuple[float, float, bool, bool]:
    """Limits of the stretch around a crossing, and whether they are those of the range."""
    around = [(low, high) for low, high in stretches if low - SAME_ROOT <= at <= high + SAME_ROOT]
    low, high = around[0] if around else (at, at)
    return (
        float(expit(low)),
        float(expit(high)),
        low <= edges[0] + SAME_ROOT,
        high >= edges[-1] - SAME_ROOT,
    )


def _delta_error(edges: Floats, pieces: list[np.polynomial.Chebyshev], variance: Floats, at: float) -> float:
    """Standard error of the crossing by the delta method, on the prior's scale."""
    panel = min(int(np.searchsorted(edges, at, side="right")) - 1, len(pieces) - 1)
    slope = float(pieces[panel].deriv()(at))
    if not np.isfinite(variance).all() or slope == 0:
        return np.nan
    spread = panel_series(edges, variance[None])[panel][0]
    prior = float(expit(at))
    return float(np.sqrt(max(spread(at), 0.0)) / abs(slope) * prior * (1 - prior))
