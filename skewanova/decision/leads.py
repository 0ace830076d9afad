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
from scipy.special import expit, logit

from skewanova.base.checks import Bools, Floats, Seed, check_fraction
from skewanova.base.rounding import argsort_descending
from skewanova.curves.chebyshev import MeanCurves, Region, certain_signs, panel_series, sign_intervals
from skewanova.decision.bands import (
    BAND_PRIORS,
    auprec_bands,
    decided_grid,
    pair_critical,
    rarest_decided,
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
    >>> regions(evaluate(load_satellite_scores(), priors=(0.5, 0.2))).columns.tolist()
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
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
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
    found = [unordered[i] for i in argsort_descending([-c.prior for c in unordered])]
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
    reach = panel.joint.half_widths(critical)
    pairs = np.transpose(fold_statistics.pair_indices(len(panel.joint.estimate)))
    found, known = [], not np.isnan(critical)
    for k in np.flatnonzero(certain_signs(panel.edges, difference) == 0):
        a, b = pairs[k]
        pieces = [row[0] for row in panel_series(panel.edges, difference[k : k + 1])]
        stretches = [s for s in sign_intervals(panel.edges, pieces) if s[0]]
        for (before, _, end), (after, start, _) in pairwise(stretches):
            if before == after:
                continue
            at = (end + start) / 2  # the same but where the curves coincide on a stretch
            limits: tuple[float, float, bool, bool] = (np.nan, np.nan, False, False)
            if known:
                around = undecided(panel.edges, difference[k], reach[k])
                limits = _limits(panel.edges, around, at)
            error = _delta_error(panel.edges, pieces, variance[k], at)
            below, above = (int(a), int(b)) if before > 0 else (int(b), int(a))
            found.append(Crossing(below, above, float(expit(at)), *limits, error))
    return found


def undecided(edges: Floats, difference: Floats, reach: Floats) -> list[tuple[float, float]]:
    """Stretches, in log-odds, on which the interval of a difference holds zero."""
    return undecided_pairs(edges, difference[None], reach[None])[0]


def undecided_pairs(edges: Floats, difference: Floats, reach: Floats) -> list[list[tuple[float, float]]]:
    """The same for each of several differences (n_pairs, n_priors)."""
    excess = difference**2 - reach**2
    size = np.abs(excess).max(axis=1)
    excess = excess / np.where(size > 0, size, 1.0)[:, None]
    known = {1: [], -1: [(float(edges[0]), float(edges[-1]))]}
    found = []
    for row, sign in zip(excess, certain_signs(edges, excess), strict=True):
        if sign:
            found.append(known[int(sign)])
            continue
        pieces = [series[0] for series in panel_series(edges, row[None])]
        found.append([(low, high) for turn, low, high in sign_intervals(edges, pieces) if turn <= 0])
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


LEADER_COLUMNS = ("prior_low", "prior_high", "leader", "contender", "shortfall")


#: Stretches shorter than this, in log-odds, are one root found twice.
SHORTEST = 1e-9


#: Gauss-Legendre nodes and weights on [-1, 1].
NODES = np.polynomial.legendre.leggauss(24)


#: Leader, models not shown to be behind another, and limits in log-odds.
LeadStretch = tuple[int, tuple[int, ...], float, float]


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
    >>> found = leaders(evaluate(load_satellite_scores(), priors=(0.5, 0.2)))
    >>> found["contender"].tolist()
    ['A', 'C', 'B']
    """
    check_fraction(alpha, "alpha")
    panel = panel_curves(evaluation)
    joint = joint_curves(evaluation, decided_grid(evaluation))
    critical = pair_critical(joint, alpha, rng=rng)
    return leaders_frame(panel, evaluation.models, critical, rarest=rarest_decided(evaluation))


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
    >>> rows = by_prior(evaluate(load_satellite_scores(), priors=(0.5, 0.2)))
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
    found = np.zeros((len(models), len(grid)), dtype=bool)
    place = {model: i for i, model in enumerate(models)}
    columns = leading[["contender", "prior_low", "prior_high"]]
    for model, low, high in columns.itertuples(index=False):
        found[place[model]] |= (grid >= low * (1 - SAME_PRIOR)) & (grid <= high * (1 + SAME_PRIOR))
    return found


def leaders_frame(
    panel: PanelCurves, models: tuple[str, ...], critical: float, *, rarest: float = 0.0
) -> pd.DataFrame:
    """Every stretch and contender as a row."""
    rows = []
    for leader, contenders, low, high in lead_stretches(panel, critical, rarest=rarest):
        priors = expit((low + high + (high - low) * NODES[0]) / 2)
        values: Floats = panel.curves.evaluate(priors) @ NODES[1] / 2
        limits = _limit(panel, low), _limit(panel, high)
        by_value = [leader, *(i for i in argsort_descending(values) if i in contenders and i != leader)]
        rows += [(*limits, models[leader], models[i], float(values[leader] - values[i])) for i in by_value]
    return pd.DataFrame(rows, columns=list(LEADER_COLUMNS))


def lead_stretches(panel: PanelCurves, critical: float, *, rarest: float = 0.0) -> list[LeadStretch]:
    """Stretches with one leader and one set of contenders; nobody is left out below `rarest`."""
    behind = _joined((worse, low, high) for _, worse, low, high in band_stretches(panel, critical, rarest))
    leads = panel.curves.regions()
    ends = {float(logit(panel.low)), float(logit(panel.high))}
    ends |= {float(logit(high)) for _, _, high in leads}
    ends |= {end for _, low, high in behind for end in (low, high) if min(ends) < end < max(ends)}
    found: list[LeadStretch] = []
    edges = sorted(ends)
    for low, high in pairwise(edges if len(edges) > 1 else edges * 2):
        if high - low < SHORTEST and len(edges) > 2:
            continue
        middle = (low + high) / 2
        out = {model for model, first, last in behind if first <= middle <= last}
        leader = panel.curves.leader(float(expit(middle)))
        inside = tuple(i for i in range(len(panel.joint.estimate)) if i not in out or i == leader)
        if found and found[-1][:2] == (leader, inside):
            found[-1] = (leader, inside, found[-1][2], high)
        else:
            found.append((leader, inside, low, high))
    return found


def band_stretches(
    panel: PanelCurves, critical: float, rarest: float = 0.0
) -> list[tuple[int, int, float, float]]:
    """Who is above whom by the band of their difference from where to where, in log-odds from `rarest` on."""
    if np.isnan(critical):
        return []
    floor = float(logit(rarest)) if rarest > 0 else -np.inf
    difference = panel.joint.pairs()[0]
    pairs = zip(*fold_statistics.pair_indices(len(panel.joint.estimate)), strict=True)
    decided = undecided_pairs(panel.edges, difference, panel.joint.half_widths(critical))
    stretches = [
        (int(a), int(b), max(low, floor), high)
        for (a, b), ends in zip(pairs, decided, strict=True)
        for low, high in _between(panel.edges, ends)
        if high > floor
    ]
    middle = {(low, high): expit((low + high) / 2) for *_, low, high in stretches}
    values = dict(zip(middle, panel.curves.evaluate(np.array([*middle.values()])).T, strict=True))
    found = []
    for a, b, low, high in stretches:
        at = values[low, high]
        better, worse = (a, b) if at[a] > at[b] else (b, a)
        found.append((better, worse, low, high))
    return found


def _joined(stretches: Iterable[tuple[int, float, float]]) -> list[tuple[int, float, float]]:
    """The same stretches, those of one model that touch made one."""
    found: list[tuple[int, float, float]] = []
    for model, low, high in sorted(stretches):
        if found and found[-1][0] == model and low <= found[-1][2]:
            found[-1] = (model, found[-1][1], max(high, found[-1][2]))
        else:
            found.append((model, low, high))
    return found


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
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> differing_priors(measures).empty  # hold-outs that share training data
    True
    """
    check_fraction(alpha, "alpha")
    panel = panel_curves(evaluation)
    critical = pair_critical(joint_curves(evaluation, decided_grid(evaluation)), alpha, rng=rng)
    return differing_frame(panel, evaluation.models, critical, rarest=rarest_decided(evaluation))


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
        for better, worse, low, high in band_stretches(panel, critical, rarest)
        if control is None or control in {models[better], models[worse]}
    ]
    return pd.DataFrame(rows, columns=list(DIFFERING_COLUMNS))
