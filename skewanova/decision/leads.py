"""Best models along the prior: regions of the largest mean, crossings of curves, and contenders.

The interval of a crossing is Fieller's (1954): the priors around it at which the pointwise test does not
separate the two models. It divides by no slope, so it is valid where curves are almost parallel.

A model is excluded at a prior if the simultaneous band of its difference from another model is below zero.
The other models, the contenders, are a confidence set for the best model (Gupta 1965; Hsu 1984).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.polynomial import Chebyshev
from scipy.special import expit, logit
from scipy.stats import rankdata

from skewanova.base.checks import Bools, Floats, Seed, check_alpha
from skewanova.base.rounding import TIE, argsort_descending, snap_ties
from skewanova.curves import chebyshev
from skewanova.curves.chebyshev import MeanCurves, Region
from skewanova.decision.bands import BAND_PRIORS, auprec_bands, grid_of_bands, pair_critical_value
from skewanova.decision.choice import ranking_order
from skewanova.decision.joint_curves import JointCurves, PanelCurves, joint_curves, mean_curves, panel_curves
from skewanova.evaluation.measures import Evaluation, check_evaluation, prior_grid
from skewanova.inference import fold_statistics
from skewanova.inference.anova import check_levels
from skewanova.priors.weightings import UniformPrior

REGION_COLUMNS = ("model", "prior_low", "prior_high", "margin", "runner_up")


def find_regions(evaluation: Evaluation) -> pd.DataFrame:
    """Find the model with the largest mean AUPREC at each prior.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluated models.

    Returns
    -------
    DataFrame
        One row for each range of priors with one best model, ascending, with columns model, prior_low,
        prior_high, margin and runner_up. The limits are the crossings of mean curves. ``margin`` is the lead
        over ``runner_up``, the second-best model (nan and "" without one), averaged uniformly over priors.

    Examples
    --------
    >>> import skewanova as sa
    >>> regions = sa.decision.find_regions(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> regions["model"].tolist()
    ['A']
    """
    measures = check_evaluation(evaluation).reorder_models(ranking_order(evaluation))
    curves = mean_curves(measures)
    rows = [
        (measures.models[region[0]], *region[1:], *_mean_lead(measures, curves, region))
        for region in curves.regions()
    ]
    return pd.DataFrame(rows, columns=list(REGION_COLUMNS))


def _mean_lead(measures: Evaluation, curves: MeanCurves, region: Region) -> tuple[float, str]:
    """Return the mean lead, uniformly over a region's priors, and the runner-up's name; nan, '' if alone."""
    leader, low, high = region
    if len(measures.models) < 2:
        return np.nan, ""
    priors, weights = UniformPrior(low, high).quadrature()
    mean = curves.evaluate(priors) @ weights
    second = next(i for i in argsort_descending(mean) if i != leader)
    return float(mean[leader] - mean[second]), measures.models[second]


#: Tolerance between two computations of one root, in log-odds.
ROOT_TOLERANCE = 1e-9


class Crossing(NamedTuple):
    """A crossing of the mean curves of two models, given by their indices."""

    prior: float
    conf_low: float
    conf_high: float
    model_below: int
    model_above: int
    lead: bool
    open_low: bool
    open_high: bool
    std_error: float
    df: float


CROSSING_COLUMNS = Crossing._fields


def find_crossings(evaluation: Evaluation, *, alpha: float = 0.05) -> pd.DataFrame:
    """Find the priors at which the mean curves of two models cross, with confidence intervals.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluated models.
    alpha : float, default 0.05
        Each interval has the level ``1 - alpha``, not simultaneously.

    Returns
    -------
    DataFrame
        One row for each crossing, in ascending priors, with columns prior, conf_low, conf_high, model_below,
        model_above, lead, open_low, open_high, std_error and df. ``model_below`` is the better of the two
        models below the prior. ``lead`` is True if the largest mean of all models changes there. ``open_low``
        and ``open_high`` are True if the interval reaches the limit of the range. ``std_error`` is that of
        the delta method, and ``df`` are the degrees of freedom (inf on one test set). The interval contains
        the priors around the crossing at which the paired t of the difference stays within its two-sided
        critical value (Fieller 1954). The variance over folds is that of Nadeau and Bengio (2003); with one
        fold, it is the jackknife variance over cases. The limits are roots of polynomials, or nan.
        A single prior has no crossings.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.decision.find_crossings(measures)[["model_below", "model_above", "lead"]].values.tolist()
    []
    """
    check_alpha(alpha)
    return crossings_frame(panel_curves(check_evaluation(evaluation)), evaluation.models, alpha)


def crossings_frame(panel: PanelCurves, models: tuple[str, ...], alpha: float) -> pd.DataFrame:
    """Return the frame of :func:`find_crossings`: crossings of any two mean curves, by ascending prior."""
    return _order_crossings(locate_crossings(panel, panel.joint.critical_value(alpha)), models)


def _order_crossings(unordered: Sequence[Crossing], models: Sequence[str]) -> pd.DataFrame:
    """Return crossings by ascending prior as a frame, with the names of the models."""
    ordered = [unordered[i] for i in argsort_descending([-crossing.prior for crossing in unordered])]
    frame = pd.DataFrame(ordered, columns=list(CROSSING_COLUMNS))
    names = {name: [models[i] for i in frame[name]] for name in ("model_below", "model_above")}
    return frame.assign(**names).astype({"lead": bool, "open_low": bool, "open_high": bool})


def interpolate_crossings(joint: JointCurves, models: Sequence[str], alpha: float) -> pd.DataFrame:
    """Return the frame of :func:`find_crossings` of curves on a grid, linear in between in the log-odds."""
    (differences, variances), x = joint.pairs(), logit(joint.priors)
    margins, best = joint.half_widths(joint.critical_value(alpha)), joint.estimate.argmax(axis=0)
    pairs, rows = np.transpose(fold_statistics.pair_indices(len(models))).tolist(), []
    for pair, gap, margin, variance in zip(pairs, differences, margins, variances, strict=True):
        for i, j in pairwise(np.flatnonzero(np.abs(gap) > TIE).tolist()):
            if gap[i] * gap[j] > 0:
                continue
            slope = (gap[j] - gap[i]) / (x[j] - x[i])
            root, k = float(x[i] - gap[i] / slope), i + 1
            below, above = pair[:: 1 if gap[i] > 0 else -1]
            nodes = np.insert(x, k, root)
            excess = np.insert(np.abs(gap) - margin, k, -np.interp(root, x, margin))
            low, open_low = _find_limit(nodes[k::-1], excess[k::-1])
            high, open_high = _find_limit(nodes[k:], excess[k:])
            prior, low, high = expit([root, low, high]).tolist()
            error = float(np.sqrt(np.interp(root, x, variance)) / abs(slope) * prior * (1 - prior))
            lead = bool(best[i] == below and best[j] == above)
            rows.append(Crossing(prior, low, high, below, above, lead, open_low, open_high, error, joint.df))
    return _order_crossings(rows, models)


def _find_limit(nodes: Floats, excess: Floats) -> tuple[float, bool]:
    """Return (where excess rises above 0, linearly, False), (last node, True) if not, (nan, False) if nan."""
    if np.isnan(excess).any():
        return np.nan, False
    outside = np.flatnonzero(excess > 0)
    if not len(outside):
        return float(nodes[-1]), True
    ends = slice(outside[0] - 1, outside[0] + 1)
    return float(np.interp(0.0, excess[ends], nodes[ends])), False


def locate_crossings(panel: PanelCurves, critical: float) -> list[Crossing]:
    """Return the crossings, pair by pair, none at one prior; intervals are nan if the critical value is."""
    if panel.low == panel.high:
        return []
    difference, variance = panel.joint.pairs()
    half_width, regions = panel.joint.half_widths(critical), panel.curves.regions()
    pairs = np.transpose(fold_statistics.pair_indices(len(panel.joint.estimate)))
    result = []
    for k in np.flatnonzero(chebyshev.certain_signs(panel.edges, difference) == 0):
        pieces = chebyshev.function_series(panel.edges, difference[k])
        signs = [interval for interval in chebyshev.sign_intervals(panel.edges, pieces) if interval[0]]
        for (before, _, end), (after, start, _) in pairwise(signs):
            if before == after:
                continue
            root = (end + start) / 2  # the two differ if the curves coincide on a range
            prior, limits = float(expit(root)), (np.nan, np.nan, False, False)
            if not np.isnan(critical):
                (ranges,) = list_separated_ranges(panel.edges, difference[[k]], half_width[[k]])
                limits = _crossing_limits(panel.edges, [ends for sign, *ends in ranges if sign <= 0], root)
            below, above = pairs[k].tolist()[:: 1 if before > 0 else -1]
            lead = _is_lead_change(regions, below, above, prior)
            error = _delta_error(panel.edges, pieces, variance[k], root)
            row = (prior, *limits[:2], below, above, lead, *limits[2:], error, panel.joint.df)
            result.append(Crossing(*row))
    return result


def _is_lead_change(regions: list[Region], below: int, above: int, prior: float) -> bool:
    """Return True if the largest mean of all models changes from `below` to `above` at a prior."""
    return any(
        (first, second) == (below, above) and np.isclose(high, prior, rtol=1e-6, atol=0)
        for (first, _, high), (second, _, _) in pairwise(regions)
    )


def list_separated_ranges(
    edges: Floats, difference: Floats, half_width: Floats
) -> list[list[tuple[int, float, float]]]:
    """Return by row (Chebyshev nodes) ranges (sign of |difference| - half_width, low, high) in log-odds."""
    excess = difference**2 - half_width**2
    size = np.abs(excess).max(axis=1)
    excess = excess / np.where(size > 0, size, 1.0)[:, None]
    result = []
    for row, sign in zip(excess, chebyshev.certain_signs(edges, excess), strict=True):
        ranges = [(int(sign), float(edges[0]), float(edges[-1]))]
        if sign == 0:
            ranges = chebyshev.sign_intervals(edges, chebyshev.function_series(edges, row))
        result.append(ranges)
    return result


def _crossing_limits(
    edges: Floats, intervals: Iterable[Sequence[float]], root: float
) -> tuple[float, float, bool, bool]:
    """Return low, high (priors) of the interval around `root` (log-odds), and for both if it is an edge."""
    around = (ends for ends in intervals if ends[0] - ROOT_TOLERANCE <= root <= ends[1] + ROOT_TOLERANCE)
    low, high = next(around, (root, root))
    open_low, open_high = low <= edges[0] + ROOT_TOLERANCE, high >= edges[-1] - ROOT_TOLERANCE
    return float(expit(low)), float(expit(high)), open_low, open_high


def _delta_error(edges: Floats, pieces: list[Chebyshev], variance: Floats, root: float) -> float:
    """Return the delta-method standard error, in priors, of a crossing at `root` (log-odds), or nan."""
    panel = min(int(np.searchsorted(edges, root, side="right")) - 1, len(pieces) - 1)
    slope = float(pieces[panel].deriv()(root))
    if not np.isfinite(variance).all() or slope == 0:
        return np.nan
    prior, at_root = float(expit(root)), float(chebyshev.function_series(edges, variance)[panel](root))
    return float(np.sqrt(max(at_root, 0.0)) / abs(slope) * prior * (1 - prior))


LEADER_COLUMNS = ("prior_low", "prior_high", "leader", "contender", "shortfall")


#: Shorter ranges, in log-odds, are rounding errors of one root.
MIN_WIDTH = 1e-9


#: Gauss-Legendre nodes and weights on [-1, 1].
NODES = np.polynomial.legendre.leggauss(24)


#: Index of the leader, indices of the contenders, and limits in log-odds.
LeaderInterval = tuple[int, tuple[int, ...], float, float]


def find_leaders(evaluation: Evaluation, *, alpha: float = 0.05, rng: Seed = 0) -> pd.DataFrame:
    """Find, by ranges of the prior, the leader and all models that may be the best (a confidence set).

    Parameters
    ----------
    evaluation : Evaluation
        The evaluated models.
    alpha : float, default 0.05
        With probability ``1 - alpha``, the best model is among the contenders at all priors at once.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws for the bands.

    Returns
    -------
    DataFrame
        Columns prior_low, prior_high, leader, contender and shortfall, one row for each range of priors and
        contender. ``leader`` has the largest mean AUPREC in the range, and is the first contender.
        ``shortfall`` is the mean of the leader less that of the contender, averaged over the log-odds. The
        limits are exact. A model is excluded where the simultaneous band of
        :func:`~skewanova.decision.difference_curves` puts it below another (Gupta 1965; Hsu 1984), at
        supported priors only (:func:`~skewanova.evaluation.support`).

    Examples
    --------
    >>> import skewanova as sa
    >>> leaders = sa.decision.find_leaders(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> leaders["contender"].tolist()
    ['A', 'C', 'B']
    """
    return leaders_frame(*_compute_bands(evaluation, alpha, rng))


def _compute_bands(
    evaluation: Evaluation, alpha: float, rng: Seed
) -> tuple[PanelCurves, tuple[str, ...], float]:
    """Check the input (2 models); return curves, names of models, and critical |t| (cases: |z|) of bands."""
    check_levels(len(check_evaluation(evaluation).models), 2)
    check_alpha(alpha)
    critical = pair_critical_value(joint_curves(evaluation, grid_of_bands(evaluation)), alpha, rng=rng)
    return panel_curves(evaluation), evaluation.models, critical


BY_PRIOR_COLUMNS = ("prior", "model", "rank", "auprec", "conf_low", "conf_high", "contender", "regret")


#: Relative tolerance between two computations of one prior.
PRIOR_TOLERANCE = 1e-9


def tabulate_by_prior(evaluation: Evaluation, *, alpha: float = 0.05, rng: Seed = 0) -> pd.DataFrame:
    """Tabulate mean AUPREC, band, rank and regret of every model by prior.

    Parameters
    ----------
    evaluation, alpha, rng
        As for :func:`find_leaders`; the bands have the same level.

    Returns
    -------
    DataFrame
        One row for each prior and model: prior, model, rank, auprec, conf_low, conf_high, contender and
        regret. The priors are 41 default ones, those evaluated and the limits of the deployment prior.
        ``conf_low`` and ``conf_high`` are the band of :func:`auprec_bands`. ``contender`` is True if the
        model may be the best (see :func:`find_leaders`). ``regret`` is its shortfall from the best mean.

    Examples
    --------
    >>> import skewanova as sa
    >>> rows = sa.decision.tabulate_by_prior(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> rows.loc[rows["prior"] == 0.2, ["model", "rank", "contender"]].to_numpy().tolist()
    [['A', 1, True], ['B', 3, True], ['C', 2, True]]
    """
    return by_prior_frame(evaluation, find_leaders(evaluation, alpha=alpha, rng=rng), alpha=alpha, rng=rng)


def by_prior_frame(evaluation: Evaluation, leading: pd.DataFrame, *, alpha: float, rng: Seed) -> pd.DataFrame:
    """Return a row a prior and model: prior, model, rank, auprec, conf_low, conf_high, contender, regret."""
    prior = evaluation.deployment_prior
    grid = np.union1d(prior_grid(evaluation, BAND_PRIORS), [*evaluation.priors, prior.low, prior.high])
    bands = auprec_bands(evaluation, grid, alpha=alpha, rng=rng)
    areas = bands["auprec"].to_numpy().reshape(-1, len(grid))
    frame = bands.assign(
        rank=rankdata(-snap_ties(areas.T), method="ordinal", axis=1).T.ravel(),
        contender=_mask_contenders(leading, evaluation.models, grid).ravel(),
        regret=(areas.max(axis=0) - areas).ravel(),
    )
    return frame.sort_values("prior", kind="stable", ignore_index=True)[list(BY_PRIOR_COLUMNS)]


def _mask_contenders(leading: pd.DataFrame, models: tuple[str, ...], grid: Floats) -> Bools:
    """Return the mask (n_models, n_priors), True where a model is a contender in the frame `leading`."""
    contending = np.zeros((len(models), len(grid)), dtype=bool)
    columns = leading[["contender", "prior_low", "prior_high"]]
    for model, low, high in columns.itertuples(index=False):
        inside = (grid >= low * (1 - PRIOR_TOLERANCE)) & (grid <= high * (1 + PRIOR_TOLERANCE))
        contending[models.index(model)] |= inside
    return contending


def leaders_frame(panel: PanelCurves, models: tuple[str, ...], critical: float) -> pd.DataFrame:
    """Return `LEADER_COLUMNS`, by range: the leader, then others that no band puts lower, by their mean."""
    rows = []
    for leader, contenders, low, high in leader_intervals(panel, critical):
        priors = expit((low + high + (high - low) * NODES[0]) / 2)
        values: Floats = panel.curves.evaluate(priors) @ NODES[1] / 2
        limits = _log_odds_to_prior(panel, low), _log_odds_to_prior(panel, high)
        by_value = [leader, *(i for i in argsort_descending(values) if i in contenders and i != leader)]
        rows += [(*limits, models[leader], models[i], float(values[leader] - values[i])) for i in by_value]
    return pd.DataFrame(rows, columns=list(LEADER_COLUMNS))


def leader_intervals(panel: PanelCurves, critical: float) -> list[LeaderInterval]:
    """Return (leader, contenders, it included, low, high), indices, log-odds; all contend below `rarest`."""
    behind = [band[1:] for band in band_intervals(panel, critical)]
    first, last = float(logit(panel.low)), float(logit(panel.high))
    ends = {first, last, *(float(logit(high)) for _, _, high in panel.curves.regions())}
    edges = sorted(ends | {end for _, *limits in behind for end in limits if first < end < last})
    intervals = []
    for low, high in pairwise(edges if len(edges) > 1 else edges * 2):
        if high - low < MIN_WIDTH and len(edges) > 2:
            continue
        middle = (low + high) / 2
        out = {model for model, start, end in behind if start <= middle <= end}
        leader = panel.curves.leader(float(expit(middle)))
        contenders = tuple(i for i in range(len(panel.joint.estimate)) if i not in out or i == leader)
        intervals.append(((leader, contenders), low, high))
    return [(*key, low, high) for key, low, high in chebyshev.join_neighbours(intervals)]


def band_intervals(panel: PanelCurves, critical: float) -> list[tuple[int, int, float, float]]:
    """Return (better, worse, low, high), indices, log-odds from `rarest`, of bands without 0; [] if nan."""
    if np.isnan(critical):
        return []
    floor, top = float(logit(max(panel.low, panel.rarest))), float(logit(panel.high))
    shortest = MIN_WIDTH if panel.low < panel.high else 0.0  # the edges are wider than a single prior
    difference = panel.joint.pairs()[0]
    pairs = zip(*fold_statistics.pair_indices(len(panel.joint.estimate)), strict=True)
    separated = list_separated_ranges(panel.edges, difference, panel.joint.half_widths(critical))
    intervals = [
        (int(a), int(b), max(low, floor), min(high, top))
        for (a, b), ranges in zip(pairs, separated, strict=True)
        for sign, low, high in ranges
        if sign > 0 and high - low > MIN_WIDTH and min(high, top) - max(low, floor) >= shortest
    ]
    middle = np.array([expit((low + high) / 2) for *_, low, high in intervals])
    values = panel.curves.evaluate(middle).T
    return [
        (a, b, low, high) if value[a] > value[b] else (b, a, low, high)
        for (a, b, low, high), value in zip(intervals, values, strict=True)
    ]


def _log_odds_to_prior(panel: PanelCurves, log_odds: float) -> float:
    """Return the prior at a log-odds, clipped to the panel, whose limits are returned exactly."""
    for end in (panel.low, panel.high):
        if abs(log_odds - float(logit(end))) < MIN_WIDTH:
            return end
    return min(max(float(expit(log_odds)), panel.low), panel.high)  # panels of a single prior are wider


DIFFERING_COLUMNS = ("better", "worse", "prior_low", "prior_high")


def find_differing_priors(evaluation: Evaluation, *, alpha: float = 0.05, rng: Seed = 0) -> pd.DataFrame:
    """Find the ranges of priors at which the simultaneous band puts one model above another.

    Parameters
    ----------
    evaluation, alpha, rng
        As for :func:`difference_curves`.

    Returns
    -------
    DataFrame
        Columns better, worse, prior_low and prior_high, one row for each range, pair by pair. The bands
        are those of :func:`difference_curves` at supported priors.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.decision.find_differing_priors(measures).empty  # hold-outs that share training data
    True
    """
    return differing_priors_frame(*_compute_bands(evaluation, alpha, rng))


def differing_priors_frame(
    panel: PanelCurves, models: tuple[str, ...], critical: float, *, control: str | None = None
) -> pd.DataFrame:
    """Return better, worse, prior_low, prior_high where the band of a pair (with `control`) excludes 0."""
    rows = [
        (models[better], models[worse], _log_odds_to_prior(panel, low), _log_odds_to_prior(panel, high))
        for better, worse, low, high in band_intervals(panel, critical)
        if control is None or control in {models[better], models[worse]}
    ]
    return pd.DataFrame(rows, columns=list(DIFFERING_COLUMNS))
