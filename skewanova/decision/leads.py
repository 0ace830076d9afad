"""Who leads where: regions, crossings, leaders.

The interval is Fieller's (1954): it holds the priors at which the pointwise test does not tell the two models
apart, as far as these hang together with the crossing. No slope is divided by, so it stays right where the
curves run almost side by side, and then reaches the limits of the range instead of ending too early.

A model is out at a prior where the simultaneous band of its difference to some other model lies below zero.
As the bands hold for all pairs at all priors at once, the truly best model stays in at every prior with at
least their probability: a confidence set for the best (Gupta 1965; Hsu 1984), from the bands that
`difference_curves` shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.polynomial import Chebyshev
from scipy.special import expit, logit

from skewanova.base.checks import Bools, Floats, Seed, check_fraction
from skewanova.base.rounding import argsort_descending
from skewanova.curves.chebyshev import (
    MeanCurves,
    Region,
    certain_signs,
    function_series,
    join_neighbours,
    sign_intervals,
)
from skewanova.decision.bands import (
    BAND_PRIORS,
    auprec_bands,
    decision_floor,
    decision_grid,
    pair_critical,
)
from skewanova.decision.choice import ranking_order
from skewanova.decision.joint_curves import PanelCurves, joint_curves, mean_curves, panel_curves
from skewanova.evaluation.measures import Evaluation, prior_grid
from skewanova.inference import fold_statistics
from skewanova.priors.weightings import UniformPrior

REGION_COLUMNS = ("model", "prior_low", "prior_high", "margin", "runner_up")


def regions(evaluation: Evaluation) -> pd.DataFrame:
    """Which model has the largest mean AUPREC at which prior.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns of `REGION_COLUMNS`, in ascending priors, over the grid of priors and the deployment prior
        together; limits between regions are the priors at which the mean curves cross. ``margin`` is the lead
        over ``runner_up``, the second-best model of the region, averaged over the region's priors.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.decision import regions
    >>> regions(evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))).columns.tolist()
    ['model', 'prior_low', 'prior_high', 'margin', 'runner_up']
    """
    measures = evaluation.ordered(ranking_order(evaluation))
    curves = mean_curves(measures)
    rows = [(*region, *_margin(measures, curves, region)) for region in curves.regions()]
    return pd.DataFrame(
        [(measures.models[leader], *rest) for leader, *rest in rows], columns=list(REGION_COLUMNS)
    )


def _margin(measures: Evaluation, curves: MeanCurves, region: Region) -> tuple[float, str]:
    """Mean lead over the second-best model of a region, and who that is."""
    leader, low, high = region
    if len(measures.models) < 2:
        return np.nan, ""
    priors, weights = UniformPrior(low, high).quadrature()
    mean = curves.evaluate(priors) @ weights
    second = next(i for i in argsort_descending(mean) if i != leader)
    return float(mean[leader] - mean[second]), measures.models[second]


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
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Priors at which the mean curves of two models cross, each with a confidence interval.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    alpha : float, default 0.05
        The intervals are at level ``1 - alpha``, each by itself.

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
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.decision import crossings
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> crossings(measures)[["model_below", "model_above", "lead"]].values.tolist()
    []
    """
    check_fraction(alpha, "alpha")
    panel = panel_curves(evaluation)
    return crossings_frame(panel, evaluation.models, alpha)


def crossings_frame(panel: PanelCurves, models: tuple[str, ...], alpha: float) -> pd.DataFrame:
    """Every crossing as a row."""
    regions = panel.curves.regions()
    leads = [(a, b, high) for (a, _, high), (b, _, _) in pairwise(regions)]
    unordered = find_crossings(panel, panel.joint.critical_value(alpha))
    ordered = [unordered[i] for i in argsort_descending([-c.prior for c in unordered])]
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
        for c in ordered
    ]
    return pd.DataFrame(rows, columns=list(CROSSING_COLUMNS)).astype(
        {"lead": bool, "open_low": bool, "open_high": bool}
    )


def find_crossings(panel: PanelCurves, critical: float) -> list[Crossing]:
    """Crossings of every pair, pair by pair; with a critical value of nan their intervals are nan."""
    if panel.low == panel.high:
        return []
    difference, variance = panel.joint.pairs()
    half_width = panel.joint.half_widths(critical)
    pairs = np.transpose(fold_statistics.pair_indices(len(panel.joint.estimate)))
    result = []
    for k in np.flatnonzero(certain_signs(panel.edges, difference) == 0):
        a, b = pairs[k].tolist()
        pieces = function_series(panel.edges, difference[k])
        signs = [interval for interval in sign_intervals(panel.edges, pieces) if interval[0]]
        for (before, _, end), (after, start, _) in pairwise(signs):
            if before == after:
                continue
            root = (end + start) / 2  # the same unless the curves coincide on a range
            limits: tuple[float, float, bool, bool] = (np.nan, np.nan, False, False)
            if not np.isnan(critical):
                covering = intervals_covering_zero(panel.edges, difference[[k]], half_width[[k]])[0]
                limits = _limits(panel.edges, covering, root)
            error = _delta_error(panel.edges, pieces, variance[k], root)
            below, above = (a, b) if before > 0 else (b, a)
            result.append(Crossing(below, above, float(expit(root)), *limits, error))
    return result


def intervals_covering_zero(
    edges: Floats, difference: Floats, half_width: Floats
) -> list[list[tuple[float, float]]]:
    """Return where, in log-odds, the interval of each difference (n_pairs, n_priors) covers zero."""
    excess = difference**2 - half_width**2
    size = np.abs(excess).max(axis=1)
    excess = excess / np.where(size > 0, size, 1.0)[:, None]
    result = []
    for row, sign in zip(excess, certain_signs(edges, excess), strict=True):
        signs = [(sign, float(edges[0]), float(edges[-1]))]
        if sign == 0:
            signs = sign_intervals(edges, function_series(edges, row))
        result.append([(low, high) for sign, low, high in signs if sign <= 0])
    return result


def _limits(
    edges: Floats, intervals: list[tuple[float, float]], root: float
) -> tuple[float, float, bool, bool]:
    """Return the limits of the interval around a crossing, and whether they are those of the range."""
    around = (ends for ends in intervals if ends[0] - SAME_ROOT <= root <= ends[1] + SAME_ROOT)
    low, high = next(around, (root, root))
    return (
        float(expit(low)),
        float(expit(high)),
        low <= edges[0] + SAME_ROOT,
        high >= edges[-1] - SAME_ROOT,
    )


def _delta_error(edges: Floats, pieces: list[Chebyshev], variance: Floats, root: float) -> float:
    """Return the standard error of the crossing by the delta method, on the prior's scale."""
    panel = min(int(np.searchsorted(edges, root, side="right")) - 1, len(pieces) - 1)
    slope = float(pieces[panel].deriv()(root))
    if not np.isfinite(variance).all() or slope == 0:
        return np.nan
    prior, at_root = float(expit(root)), float(function_series(edges, variance)[panel](root))
    return float(np.sqrt(max(at_root, 0.0)) / abs(slope) * prior * (1 - prior))


LEADER_COLUMNS = ("prior_low", "prior_high", "leader", "contender", "shortfall")


#: Stretches shorter than this, in log-odds, are one root found twice.
SHORTEST = 1e-9


#: Gauss-Legendre nodes and weights on [-1, 1].
NODES = np.polynomial.legendre.leggauss(24)


#: Leader, models not shown to be behind another, and limits in log-odds.
LeaderInterval = tuple[int, tuple[int, ...], float, float]


def leaders(
    evaluation: Evaluation,
    *,
    alpha: float = 0.05,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Which models may be the best at which prior.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    alpha : float, default 0.05
        With probability ``1 - alpha`` the best model is among the contenders, at all priors at once.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws behind the bands.

    Returns
    -------
    DataFrame
        Columns of `LEADER_COLUMNS`: one row for each stretch of priors and contender. ``leader`` has the
        largest mean AUPREC on the stretch, and is a contender itself; ``shortfall`` is by how much the
        contender's mean stays below the leader's, averaged over the stretch in the log-odds. The limits are
        exact.

    Raises
    ------
    ValueError
        If an option is out of range.

    Notes
    -----
    Contenders are a confidence set for the best model (Gupta 1965; Hsu 1984): a model is left out where the
    simultaneous band of :func:`~skewanova.decision.difference_curves` puts it behind another. With one fold
    nobody is left out at priors with fewer than 100 effective negatives, for which the bands are not
    claimed to hold.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.decision import leaders
    >>> found = leaders(evaluate(load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> found["contender"].tolist()
    ['A', 'C', 'B']
    """
    check_fraction(alpha, "alpha")
    panel = panel_curves(evaluation)
    joint = joint_curves(evaluation, decision_grid(evaluation))
    critical = pair_critical(joint, alpha, rng=rng)
    return leaders_frame(panel, evaluation.models, critical, rarest=decision_floor(evaluation))


BY_PRIOR_COLUMNS = ("prior", "model", "rank", "auprec", "conf_low", "conf_high", "contender", "regret")


#: Priors are the same number up to this, relative to them.
SAME_PRIOR = 1e-9


def by_prior(evaluation: Evaluation, *, alpha: float = 0.05, rng: Seed = 0) -> pd.DataFrame:
    """What is known of every model, prior by prior.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    alpha : float, default 0.05
        Bands and contenders are at level ``1 - alpha``, at all priors at once.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws behind them.

    Returns
    -------
    DataFrame
        Columns of `BY_PRIOR_COLUMNS`, at 41 priors, those of the evaluation and the limits of the deployment
        prior, ascending; at each prior the models in the order of the evaluation. ``conf_low``, ``conf_high``
        are the band of :func:`auprec_bands`, ``contender`` whether the model may be the best there (see
        :func:`leaders`), ``regret`` by how much its mean stays below the largest.

    Raises
    ------
    ValueError
        If an option is out of range.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.decision import by_prior
    >>> rows = by_prior(evaluate(load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> rows.loc[rows["prior"] == 0.2, ["model", "rank", "contender"]].to_numpy().tolist()
    [['A', 1, True], ['B', 3, True], ['C', 2, True]]
    """
    return by_prior_of(evaluation, leaders(evaluation, alpha=alpha, rng=rng), alpha=alpha, rng=rng)


def by_prior_of(evaluation: Evaluation, leading: pd.DataFrame, *, alpha: float, rng: Seed) -> pd.DataFrame:
    """The same, from what :func:`leaders` found of the evaluation."""
    weighting = evaluation.deployment_prior
    grid = np.union1d(
        prior_grid(evaluation, BAND_PRIORS), [*evaluation.priors, weighting.low, weighting.high]
    )
    bands = auprec_bands(evaluation, grid, alpha=alpha, rng=rng)
    areas = bands["auprec"].to_numpy().reshape(-1, len(grid))
    ranks = np.empty(areas.shape, dtype=np.int64)
    for column, values in enumerate(areas.T):
        ranks[argsort_descending(values), column] = np.arange(1, len(values) + 1)
    frame = bands.assign(
        rank=ranks.ravel(),
        contender=_contending(leading, evaluation.models, grid).ravel(),
        regret=(areas.max(axis=0) - areas).ravel(),
    )
    return frame.sort_values("prior", kind="stable", ignore_index=True)[list(BY_PRIOR_COLUMNS)]


def _contending(leading: pd.DataFrame, models: tuple[str, ...], grid: Floats) -> Bools:
    """Which model may be the best at which prior, of shape (n_models, n_priors)."""
    contending = np.zeros((len(models), len(grid)), dtype=bool)
    columns = leading[["contender", "prior_low", "prior_high"]]
    for model, low, high in columns.itertuples(index=False):
        inside = (grid >= low * (1 - SAME_PRIOR)) & (grid <= high * (1 + SAME_PRIOR))
        contending[models.index(model)] |= inside
    return contending


def leaders_frame(
    panel: PanelCurves, models: tuple[str, ...], critical: float, *, rarest: float = 0.0
) -> pd.DataFrame:
    """Every stretch and contender as a row."""
    rows = []
    for leader, contenders, low, high in leader_intervals(panel, critical, rarest=rarest):
        priors = expit((low + high + (high - low) * NODES[0]) / 2)
        values: Floats = panel.curves.evaluate(priors) @ NODES[1] / 2
        limits = _limit(panel, low), _limit(panel, high)
        by_value = [leader, *(i for i in argsort_descending(values) if i in contenders and i != leader)]
        rows += [(*limits, models[leader], models[i], float(values[leader] - values[i])) for i in by_value]
    return pd.DataFrame(rows, columns=list(LEADER_COLUMNS))


def leader_intervals(panel: PanelCurves, critical: float, *, rarest: float = 0.0) -> list[LeaderInterval]:
    """Stretches with one leader and one set of contenders; nobody is left out below `rarest`."""
    behind = _joined((worse, low, high) for _, worse, low, high in band_intervals(panel, critical, rarest))
    leads = panel.curves.regions()
    ends = {float(logit(panel.low)), float(logit(panel.high))}
    ends |= {float(logit(high)) for _, _, high in leads}
    ends |= {end for _, low, high in behind for end in (low, high) if min(ends) < end < max(ends)}
    intervals = []
    edges = sorted(ends)
    for low, high in pairwise(edges if len(edges) > 1 else edges * 2):
        if high - low < SHORTEST and len(edges) > 2:
            continue
        middle = (low + high) / 2
        out = {model for model, first, last in behind if first <= middle <= last}
        leader = panel.curves.leader(float(expit(middle)))
        contenders = tuple(i for i in range(len(panel.joint.estimate)) if i not in out or i == leader)
        intervals.append(((leader, contenders), low, high))
    return [(*key, low, high) for key, low, high in join_neighbours(intervals)]


def band_intervals(
    panel: PanelCurves, critical: float, rarest: float = 0.0
) -> list[tuple[int, int, float, float]]:
    """Return (better, worse, low, high) where bands separate two models, in log-odds from `rarest` on."""
    if np.isnan(critical):
        return []
    floor = float(logit(rarest)) if rarest > 0 else -np.inf
    difference = panel.joint.pairs()[0]
    pairs = zip(*fold_statistics.pair_indices(len(panel.joint.estimate)), strict=True)
    covering = intervals_covering_zero(panel.edges, difference, panel.joint.half_widths(critical))
    intervals = [
        (int(a), int(b), max(low, floor), high)
        for (a, b), ends in zip(pairs, covering, strict=True)
        for low, high in _between(panel.edges, ends)
        if high > floor
    ]
    middle = np.array([expit((low + high) / 2) for *_, low, high in intervals])
    values = panel.curves.evaluate(middle).T
    return [
        (a, b, low, high) if value[a] > value[b] else (b, a, low, high)
        for (a, b, low, high), value in zip(intervals, values, strict=True)
    ]


def _joined(stretches: Iterable[tuple[int, float, float]]) -> list[tuple[int, float, float]]:
    """The same stretches, those of one model that touch made one."""
    result: list[tuple[int, float, float]] = []
    for model, low, high in sorted(stretches):
        if result and result[-1][0] == model and low <= result[-1][2]:
            result[-1] = (model, result[-1][1], max(high, result[-1][2]))
        else:
            result.append((model, low, high))
    return result


def _between(edges: Floats, stretches: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """What the stretches leave over between the first and the last edge."""
    ends = [float(edges[0]), *(end for stretch in stretches for end in stretch), float(edges[-1])]
    return [(low, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if high - low > SHORTEST]


def _limit(panel: PanelCurves, at: float) -> float:
    """Prior at a log-odds; the limits of the range to their last digit."""
    for end in (panel.low, panel.high):
        if abs(at - float(logit(end))) < SHORTEST:
            return end
    return min(max(float(expit(at)), panel.low), panel.high)  # one prior is looked at with some room


DIFFERING_COLUMNS = ("better", "worse", "prior_low", "prior_high")


def differing_priors(evaluation: Evaluation, *, alpha: float = 0.05, rng: Seed = 0) -> pd.DataFrame:
    """Stretches of priors at which the simultaneous band puts one model above another.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    alpha : float, default 0.05
        Level of the bands, over all priors and pairs together.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws behind the bands.

    Returns
    -------
    DataFrame
        Columns of `DIFFERING_COLUMNS`, a row a stretch, pair by pair. The limits are exact, and the bands
        those of :func:`~skewanova.decision.difference_curves` and :func:`~skewanova.decision.leaders`.

    Raises
    ------
    ValueError
        If an option is out of range.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.decision import differing_priors
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> differing_priors(measures).empty  # hold-outs that share training data
    True
    """
    check_fraction(alpha, "alpha")
    panel = panel_curves(evaluation)
    critical = pair_critical(joint_curves(evaluation, decision_grid(evaluation)), alpha, rng=rng)
    return differing_frame(panel, evaluation.models, critical, rarest=decision_floor(evaluation))


def differing_frame(
    panel: PanelCurves,
    models: tuple[str, ...],
    critical: float,
    *,
    rarest: float = 0.0,
    control: str | None = None,
) -> pd.DataFrame:
    """Every stretch as a row, of all pairs or of those with the control."""
    rows = [
        (models[better], models[worse], _limit(panel, low), _limit(panel, high))
        for better, worse, low, high in band_intervals(panel, critical, rarest)
        if control is None or control in {models[better], models[worse]}
    ]
    return pd.DataFrame(rows, columns=list(DIFFERING_COLUMNS))
