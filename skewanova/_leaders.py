"""Which models may be the best at which prior: the leader and all that are not shown to be behind another.

A model is out at a prior where the simultaneous band of its difference to some other model lies below zero.
As the bands hold for all pairs at all priors at once, the truly best model stays in at every prior with at
least their probability: a confidence set for the best (Gupta 1965; Hsu 1984), from the bands that
`differences` shows.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.special import expit, logit

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats, Seed, check_fraction
from skewanova._crossings import undecided_pairs
from skewanova._joint_bands import BAND_PRIORS, pair_critical
from skewanova._joint_curves import PanelCurves, joint_curves, panel_curves
from skewanova._omnibus_result import check_ratio
from skewanova._streamed_scores import Scores
from skewanova._ties import falling_order
from skewanova.evaluation import Evaluation, prior_grid

LEADER_COLUMNS = ("prior_low", "prior_high", "leader", "contender", "shortfall")
#: Stretches shorter than this, in log-odds, are one root found twice.
SHORTEST = 1e-9

#: Effective negatives from which on the bands of one test set hold (docs/studies/decisions.md).
ENOUGH_FOR_INFLUENCE = 100
#: Gauss-Legendre nodes and weights on [-1, 1].
NODES = np.polynomial.legendre.leggauss(24)

#: Leader, models not shown to be behind another, and limits in log-odds.
LeadStretch = tuple[int, tuple[int, ...], float, float]


def leaders(
    evaluation: Evaluation,
    *,
    ratio: float = 0.0,
    alpha: float = 0.05,
    scores: Scores | None = None,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Which models may be the best at which prior.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    ratio : float, default 0
        Test cases for each training case, where folds share training data.
    alpha : float, default 0.05
        With probability ``1 - alpha`` the best model is among the contenders, at all priors at once.
    scores : ScoreTable, optional
        What was evaluated. With one fold the bands rest on it; without it every model is a contender.
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
    simultaneous band of :func:`~skewanova.difference_curves` puts it behind another. With one fold nobody is
    left out at priors with fewer than 100 effective negatives, for which the bands are not claimed to hold.

    Examples
    --------
    >>> from skewanova import evaluate, leaders, load_satellite_scores
    >>> found = leaders(evaluate(load_satellite_scores(), priors=(0.5, 0.2)), ratio=0.25)
    >>> found["contender"].tolist()
    ['A', 'C', 'B']
    """
    check_fraction(alpha, "alpha")
    check_ratio(ratio)
    panel = panel_curves(evaluation, ratio=ratio, scores=scores)
    joint = joint_curves(evaluation, prior_grid(evaluation, BAND_PRIORS), ratio=ratio, scores=scores)
    critical = pair_critical(joint, alpha, rng=rng)
    return leaders_frame(panel, evaluation.models, critical, rarest=rarest_decided(evaluation))


def rarest_decided(evaluation: Evaluation) -> float:
    """Prior below which nobody is left out: 0 with several folds, whose spread shows itself."""
    if len(evaluation.folds) > 1:
        return 0.0
    fewest = min(roc.n_negative for roc in evaluation.curves.values())
    return float(ENOUGH_FOR_INFLUENCE / (ENOUGH_FOR_INFLUENCE + fewest))


def leaders_frame(
    panel: PanelCurves, models: tuple[str, ...], critical: float, *, rarest: float = 0.0
) -> pd.DataFrame:
    """Every stretch and contender as a row."""
    rows = []
    for leader, contenders, low, high in lead_stretches(panel, critical, rarest=rarest):
        values: Floats = panel.curves.at(expit((low + high + (high - low) * NODES[0]) / 2)) @ NODES[1] / 2
        limits = _limit(panel, low), _limit(panel, high)
        by_value = [leader, *(i for i in falling_order(values) if i in contenders and i != leader)]
        rows += [(*limits, models[leader], models[i], float(values[leader] - values[i])) for i in by_value]
    return pd.DataFrame(rows, columns=list(LEADER_COLUMNS))


def lead_stretches(panel: PanelCurves, critical: float, *, rarest: float = 0.0) -> list[LeadStretch]:
    """Stretches with one leader and one set of contenders; nobody is left out below `rarest`."""
    floor = float(logit(rarest)) if rarest > 0 else -np.inf
    behind = _joined(
        (out, max(low, floor), high) for out, low, high in _behind(panel, critical) if high > floor
    )
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


def _behind(panel: PanelCurves, critical: float) -> list[tuple[int, float, float]]:
    """Stretches, in log-odds, on which the band of a difference puts a model behind another."""
    if np.isnan(critical):
        return []
    difference, variance = panel.joint.pairs()
    pairs = zip(*kernels.pair_indices(len(panel.joint.estimate)), strict=True)
    decided = undecided_pairs(panel.edges, difference, variance, critical)
    stretches = [
        (a, b, low, high)
        for (a, b), ends in zip(pairs, decided, strict=True)
        for low, high in _between(panel.edges, ends)
    ]
    middle = {(low, high): expit((low + high) / 2) for *_, low, high in stretches}
    values = dict(zip(middle, panel.curves.at(np.array([*middle.values()])).T, strict=True))
    found = []
    for a, b, low, high in stretches:
        at = values[low, high]
        found.append((int(b if at[a] > at[b] else a), low, high))
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
    return float(expit(at))
