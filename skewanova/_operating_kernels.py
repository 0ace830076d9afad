"""One threshold on a ROC curve: which one a target asks for, what it does at a prior, and how sure that is.

The recall T and the false positive rate F of a fixed threshold are two independent binomial shares. Sums and
ratios of them get their limits from Wilson's limits of each (MOVER: Zou and Donner 2008; for ratios Donner
and Zou 2012), which hold up where F or T is 0.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special

from skewanova._checks import Floats
from skewanova._interval_kernels import wilson_limits
from skewanova._ties import TIE
from skewanova.roc import RocCurve

#: What is measured at a threshold, in the order of every frame.
MEASURES = (
    "recall",
    "fpr",
    "precision",
    "npv",
    "flagged",
    "error_rate",
    "f_measure",
    "expected_cost",
)


class Estimate(NamedTuple):
    """A number and its limits."""

    value: float
    low: float
    high: float


class Share(NamedTuple):
    """A binomial share and Wilson's limits of it."""

    value: float
    low: float
    high: float

    def complement(self) -> Share:
        """Share of the others."""
        return Share(1 - self.value, 1 - self.high, 1 - self.low)


# --- which threshold ----------------------------------------------------------------------------------------


def at_threshold(roc: RocCurve, threshold: float) -> int:
    """Vertex of the rule ``score >= threshold``."""
    return int(np.count_nonzero(roc.thresholds >= threshold)) - 1


def reaching_recall(roc: RocCurve, recall: float) -> int:
    """Vertex of the highest threshold whose recall is at least as wanted."""
    return int(np.argmax(roc.tpr >= recall - TIE))


def reaching_precision(roc: RocCurve, precision: float, prior: float) -> int | None:
    """Vertex of the lowest threshold whose precision is at least as wanted; None where there is none."""
    hits, alarms = prior * roc.tpr, (1 - prior) * roc.fpr
    reached = np.flatnonzero(hits >= (precision - TIE) * (hits + alarms))
    return int(reached[-1]) if reached[-1] > 0 else None  # the origin flags nothing, so it has no precision


def within_budget(roc: RocCurve, flagged: float, prior: float) -> int:
    """Vertex of the lowest threshold that flags at most this share of cases (perhaps none)."""
    share = prior * roc.tpr + (1 - prior) * roc.fpr
    return int(np.flatnonzero(share <= flagged + TIE)[-1])


def cheapest(roc: RocCurve, costs: tuple[float, float], prior: float) -> int:
    """Vertex of smallest expected cost; of several, the one that flags least."""
    cost = (1 - prior) * costs[0] * roc.fpr + prior * costs[1] * (1 - roc.tpr)
    return int(np.argmax(cost <= cost.min() + TIE * max(costs)))


# --- what it does -------------------------------------------------------------------------------------------


def share(value: float, size: float, level: float) -> Share:
    """Share of `size` trials with Wilson's (1927) limits."""
    return Share(value, *wilson_limits(value, size, level))


def measures(
    recall: Share, fpr: Share, prior: float, costs: tuple[float, float] | None
) -> dict[str, Estimate]:
    """Every one of `MEASURES` at one prior; the expected cost is nan where no costs are known."""
    miss, other = recall.complement(), 1 - prior
    paid = (np.nan, np.nan) if costs is None else costs
    found = (
        Estimate(*recall),
        Estimate(*fpr),
        _of_two(recall, fpr, prior / other),
        _of_two(fpr.complement(), miss, other / prior),
        weighted_sum(recall, fpr, (prior, other)),
        weighted_sum(miss, fpr, (prior, other)),
        _f_measure(recall, fpr, other / prior),
        weighted_sum(miss, fpr, (prior * paid[1], other * paid[0])),
    )
    return dict(zip(MEASURES, found, strict=True))


def weighted_sum(first: Share, second: Share, weights: tuple[float, float]) -> Estimate:
    """Sum of two shares with positive weights (Zou and Donner 2008)."""
    a, b = weights
    value = a * first.value + b * second.value
    below = np.hypot(a * (first.value - first.low), b * (second.value - second.low))
    above = np.hypot(a * (first.high - first.value), b * (second.high - second.value))
    return Estimate(float(value), float(value - below), float(value + above))


def share_ratio(over: Share, under: Share) -> Estimate:
    """Quotient of two shares (Donner and Zou 2012): where ``over - q under`` has a limit of 0.

    Infinite where nothing is below the line; nan between 0 and infinity where both are 0.
    """
    product = over.value * under.value
    low, high = over.low * (2 * over.value - over.low), over.high * (2 * over.value - over.high)
    down, up = under.low * (2 * under.value - under.low), under.high * (2 * under.value - under.high)
    # the quadratic's smaller root, written so that nothing cancels
    bottom = product + np.sqrt(max(product**2 - low * up, 0.0))
    lower = (low / bottom if bottom > 0 else np.inf) if low > 0 else 0.0
    upper = (product + np.sqrt(max(product**2 - high * down, 0.0))) / down if down > 0 else np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.divide(over.value, under.value)
    return Estimate(float(value), float(lower), float(upper))


def _of_two(right: Share, wrong: Share, prior_odds: float) -> Estimate:
    """Share of the right ones among those flagged: precision, or with the classes changed over, NPV."""
    with np.errstate(invalid="ignore", over="ignore"):  # odds beyond all numbers make a share of 1
        odds = np.array(share_ratio(right, wrong)) * prior_odds
        return Estimate(*(1 - 1 / (1 + odds)).tolist())


def _f_measure(recall: Share, fpr: Share, skew: float) -> Estimate:
    """Harmonic mean of precision and recall, 2T / (T + lam F + 1).

    Landgrebe et al. 2006 print a geometric mean and leave the skew out.
    """
    unit = 1 / (1 + skew)  # squares of large skews are beyond all numbers
    rest = Share(*(unit + skew * unit * rate for rate in fpr))
    quotient = np.minimum(np.array(share_ratio(recall, rest)) * unit, recall)
    return Estimate(*(2 * quotient / (1 + quotient)).tolist())


def fold_mean(values: Floats, level: float, *, ratio: float) -> Estimate:
    """Mean over folds with its t limits, the variance corrected by 1 + J ratio (Nadeau and Bengio 2003)."""
    n_folds = len(values)
    mean = float(values.mean())
    reach = special.stdtrit(n_folds - 1, (1 + level) / 2) * values.std(ddof=1) * np.sqrt(1 / n_folds + ratio)
    return Estimate(mean, float(mean - reach), float(mean + reach))
