"""ROC curves, the area under them, and their recall steps.

Recall is the true positive rate, and the precision at any skew is ``tpr / (tpr + skew * fpr)`` (Landgrebe et
al. 2006, eq. 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova.base import checks
from skewanova.base.checks import Bools, Floats, InputError, InputTypeError
from skewanova.curves.sorting import iter_runs, iter_runs_with_positives, sort_cases


@dataclass(frozen=True, eq=False)
class RocCurve:
    """Vertices of an empirical ROC curve: the origin and one vertex for each distinct score.

    Attributes
    ----------
    fpr, tpr : ndarray of shape (n_vertices,)
        False and true positive rate of the rule ``score >= threshold``, from (0, 0) to (1, 1).
    thresholds : ndarray of shape (n_vertices,)
        ``inf`` for the origin, then the distinct scores in descending order.
    n_positive, n_negative : float
        Number (or total weight) of the positive and negative cases.
    """

    fpr: Floats
    tpr: Floats
    thresholds: Floats
    n_positive: float
    n_negative: float

    @classmethod
    def from_rates(
        cls, fpr: ArrayLike, tpr: ArrayLike, *, n_positive: float = np.nan, n_negative: float = np.nan
    ) -> RocCurve:
        """Make a `RocCurve` with unknown thresholds (nan) from known rates, such as a published curve.

        Parameters
        ----------
        fpr, tpr : array_like of shape (n_vertices,)
            Non-decreasing rates from (0, 0) to (1, 1); repeated vertices are dropped.
        n_positive, n_negative : float, optional
            Class sizes, if known.

        Raises
        ------
        ValueError
            If the rates differ in length, do not run from (0, 0) to (1, 1), or fall.

        Examples
        --------
        >>> from skewanova import RocCurve, auprec
        >>> curve = RocCurve.from_rates([0, 0, 0.5, 1], [0, 0.5, 1, 1])
        >>> round(float(auprec(curve, 0.5)), 4)
        0.9167
        """
        false, true = _check_rates(fpr, "fpr"), _check_rates(tpr, "tpr")
        checks.check_same_length(fpr=false, tpr=true)
        unknown = np.full(len(false), np.nan)
        return drop_repeated_vertices(cls(false, true, unknown, float(n_positive), float(n_negative)))


def drop_repeated_vertices(roc: RocCurve) -> RocCurve:
    """Return the curve without vertices that repeat the one before."""
    changes = np.append(True, (np.diff(roc.fpr) > 0) | (np.diff(roc.tpr) > 0))
    return replace(roc, fpr=roc.fpr[changes], tpr=roc.tpr[changes], thresholds=roc.thresholds[changes])


def roc_curve(
    y_true: ArrayLike, y_score: ArrayLike, *, pos_label: object = None, sample_weight: ArrayLike | None = None
) -> RocCurve:
    """Return the ROC curve of scores; higher scores must indicate the positive class.

    Cases with equal scores form one vertex, so the curve does not depend on the order of the rows (Landgrebe
    et al. 2006, section 3). Scores are compared in their own dtype: large 64-bit integers are not rounded.

    Parameters
    ----------
    y_true : array_like of shape (n_cases,)
        Labels {0, 1}, booleans or {-1, 1}; any other pair needs `pos_label`.
    y_score : array_like of shape (n_cases,)
        Real scores; infinities are allowed.
    pos_label : object, optional
        Label of the positive class.
    sample_weight : array_like of shape (n_cases,), optional
        Non-negative weights; weight 2 equals two identical rows, and weight 0 no row.

    Returns
    -------
    RocCurve
        The curve with all vertices, including collinear ones.

    Raises
    ------
    ValueError, TypeError
        If a score is NaN, labels are not binary, lengths differ, a class is empty, or scores are not real
        numbers (TypeError).

    Examples
    --------
    >>> from skewanova import roc_curve
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> curve.fpr.tolist(), curve.tpr.tolist()
    ([0.0, 0.0, 0.5, 0.5, 1.0], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    positive, score = checks.check_labelled_scores(y_true, y_score, pos_label)
    if sample_weight is None:
        return curve_from_scores(positive, score)
    weight = checks.check_weights(sample_weight)
    checks.check_same_length(y_score=score, sample_weight=weight)
    used = weight > 0
    checks.check_both_classes(positive[used], weighted=True)
    return curve_from_scores(positive[used], score[used], weight[used])


@np.errstate(over="ignore")  # thresholds are doubles, scores may be long doubles
def curve_from_scores(positive: Bools, score: NDArray[Any], weight: Floats | None = None) -> RocCurve:
    """Return the ROC curve of validated labels, scores and any weights, all above 0, of both classes."""
    if weight is not None:
        return _weighted_curve(positive, score, weight)
    cases, n_positive = sort_cases(positive, score), int(np.count_nonzero(positive))
    n_negative = len(positive) - n_positive
    fpr, tpr, thresholds = np.zeros((3, len(positive) + 1))
    thresholds[0], done = np.inf, 1
    for true, false, levels in iter_runs(cases):
        rows = slice(done, done + len(true))
        np.divide(true, n_positive, out=tpr[rows])
        np.divide(false, n_negative, out=fpr[rows])
        thresholds[rows] = levels
        done = rows.stop
    fpr, tpr, thresholds = (
        rates[:done] if 2 * done > len(rates) else rates[:done].copy() for rates in (fpr, tpr, thresholds)
    )
    return RocCurve(fpr, tpr, thresholds, float(n_positive), float(n_negative))


def _weighted_curve(positive: Bools, score: NDArray[Any], weight: Floats) -> RocCurve:
    """Return the ROC curve of validated labels, scores and weights, all above 0."""
    order = np.argsort(score, kind="stable")[::-1]
    ranked, label = score[order], positive[order]
    last = np.flatnonzero(np.append(ranked[1:] != ranked[:-1], True))  # lowest-ranked row of each tie
    # sums from the highest score on, so that small rates are accurate
    true = np.cumsum(np.where(label, weight[order], 0.0))[last]
    false = np.cumsum(np.where(label, 0.0, weight[order]))[last]
    fpr, tpr = np.append(0.0, false / false[-1]), np.append(0.0, true / true[-1])
    thresholds = np.append(np.inf, ranked[last].astype(np.float64))
    return RocCurve(fpr, tpr, thresholds, float(true[-1]), float(false[-1]))


def check_curve(roc: object) -> None:
    """Raise a TypeError unless `roc` is a `RocCurve`."""
    if not isinstance(roc, RocCurve):
        raise InputTypeError(
            f"`roc` must be skewanova.roc_curve(y_true, y_score), but got {type(roc).__name__}; for "
            "AUPREC of labels and scores use skewanova.auprec_score(y_true, y_score, prior=0.1)"
        )


def auc(roc: RocCurve, *, fpr_range: tuple[float, float] | None = None, normalised: bool = False) -> float:
    """Return the area under the ROC curve by the trapezoidal rule, in total or over a range.

    Parameters
    ----------
    roc : RocCurve
        The curve.
    fpr_range : (low, high), optional
        Range of false positive rates; by default all.
    normalised : bool, default False
        If True, divide by the width of the range, which gives the mean true positive rate there.

    Returns
    -------
    float
        The area. Without a range, it is the probability that a random positive scores above a random
        negative, where ties count one half. This is Landgrebe et al. (2006), eq. 2, with the first term
        corrected to the previous vertex. As printed, it gives 1.5 for a diagonal of one segment. Limits
        between vertices are interpolated.

    Raises
    ------
    ValueError
        If the range does not lie within 0 and 1, or has no width.

    Examples
    --------
    >>> from skewanova import auc, roc_curve
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> auc(curve), auc(curve, fpr_range=(0, 0.5)), auc(curve, fpr_range=(0, 0.5), normalised=True)
    (0.75, 0.25, 0.5)
    """
    check_curve(roc)
    if fpr_range is not None:
        limits = checks.check_float_array(fpr_range, "fpr_range", "(low, high)")
        if limits.shape != (2,) or not 0 <= limits[0] < limits[1] <= 1:
            raise InputError(
                f"`fpr_range` must be (low, high) with 0 <= low < high <= 1, but got {fpr_range!r}"
            )
        low, high = map(float, limits)
        return _area_between(roc, low, high) / (high - low if normalised else 1.0)
    up = np.flatnonzero(roc.tpr[1:] > roc.tpr[:-1])
    height = roc.tpr[up + 1] - roc.tpr[up]
    area = np.sum(height * (1 - (roc.fpr[up] + roc.fpr[up + 1]) / 2))
    return float(area / height.sum())  # the heights sum to 1 up to rounding errors


def _area_between(roc: RocCurve, low: float, high: float) -> float:
    """Return the area under the ROC curve between two false positive rates, not divided by their distance."""
    width = np.diff(roc.fpr)
    across = np.flatnonzero(width > 0)
    start, rise = roc.fpr[across], np.diff(roc.tpr)[across] / width[across]
    left, right = (np.clip(limit, start, roc.fpr[across + 1]) for limit in (low, high))
    height = roc.tpr[across] + rise * ((left + right) / 2 - start)
    return float(np.sum((right - left) * height))


def convex_hull(roc: RocCurve) -> RocCurve:
    """Return the upper convex hull of the curve, which randomised mixtures of thresholds attain.

    The hull of a cumulative curve is its antitonic regression: segments are pooled until slopes decrease. The
    slopes are relative to ``fpr + tpr``, so they are finite for vertical segments.

    Parameters
    ----------
    roc : RocCurve
        The curve.

    Returns
    -------
    RocCurve
        The hull, whose vertices are a subset of those of the curve.

    Examples
    --------
    >>> import skewanova as sa
    >>> hull = sa.curves.convex_hull(sa.roc_curve([0, 1, 0, 1, 1], [1, 2, 3, 4, 5]))
    >>> hull.fpr.tolist()
    [0.0, 0.0, 0.5, 1.0]
    """
    check_curve(roc)
    from scipy.optimize import isotonic_regression  # slow to load, and seldom used

    rise, run = np.diff(roc.tpr), np.diff(roc.fpr)
    span = rise + run
    changes = np.flatnonzero(span > 0)
    pooled = isotonic_regression(rise[changes] / span[changes], weights=span[changes], increasing=False)
    ends = np.concatenate(([0], changes[pooled.blocks[1:] - 1] + 1))
    return RocCurve(roc.fpr[ends], roc.tpr[ends], roc.thresholds[ends], roc.n_positive, roc.n_negative)


def _check_rates(values: ArrayLike, name: str) -> Floats:
    """Return the rates as floats; raise unless they rise from 0 to 1 without falling."""
    rates = checks.check_float_array(values, name, "a list of numbers")
    complete = rates.ndim == 1 and len(rates) > 1 and rates[0] == 0 and rates[-1] == 1
    if not (complete and (np.diff(rates) >= 0).all()):
        text = np.array2string(rates, 400, precision=17, threshold=8)
        raise InputError(f"`{name}` must rise from 0 to 1 without falling, but got {text}")
    return rates


#: Steps processed at once, so that a few arrays fit in the second-level cache.
BLOCK_SIZE = 1 << 14


class RecallSteps(NamedTuple):
    """Rates at the start and the end of every segment that increases recall, of one or several curves."""

    start_tpr: Floats  #: in ascending order within a curve
    start_fpr: Floats
    tpr: Floats
    fpr: Floats
    fpr_at_first_reach: Floats  #: false positive rate at the first vertex with the recall `start_tpr`

    @property
    def height(self) -> Floats:
        """Gain in recall of each step."""
        return self.tpr - self.start_tpr

    def select(self, rows: slice | Bools) -> RecallSteps:
        """Return the steps in a slice or mask."""
        return RecallSteps(*(rates[rows] for rates in self))


def steps_from_vertices(tpr: Floats, fpr: Floats) -> RecallSteps:
    """Return the steps of curves end to end, each from (0, 0); the fall from one to the next is no step."""
    up = np.flatnonzero(tpr[1:] > tpr[:-1])
    end = fpr[up + 1]
    return RecallSteps(tpr[up], fpr[up], tpr[up + 1], end, np.where(tpr[up] == 0, 0.0, np.roll(end, 1)))


def steps_from_curve(roc: RocCurve) -> Iterator[RecallSteps]:
    """Yield the steps of a curve in ascending recall, in blocks of up to BLOCK_SIZE steps."""
    return iter_blocks(steps_from_vertices(roc.tpr, roc.fpr))


def iter_blocks(steps: RecallSteps) -> Iterator[RecallSteps]:
    """Yield the steps in consecutive blocks of up to BLOCK_SIZE steps."""
    starts = range(0, len(steps.tpr), BLOCK_SIZE)
    return (steps.select(slice(start, start + BLOCK_SIZE)) for start in starts)


def batch_steps(curves: Iterable[RecallSteps]) -> Iterator[RecallSteps]:
    """Yield the steps of complete curves in batches of at least BLOCK_SIZE steps, except for the last."""
    parts: list[RecallSteps] = []
    for steps in curves:
        parts.append(steps)
        if sum(len(part.tpr) for part in parts) >= BLOCK_SIZE:
            yield concatenate_steps(parts)
            parts = []
    if parts:
        yield concatenate_steps(parts)


def concatenate_steps(parts: Sequence[RecallSteps]) -> RecallSteps:
    """Return the steps of all parts, concatenated in this order."""
    return RecallSteps(*map(np.concatenate, zip(*parts, strict=True)))


def steps_from_scores(positive: Bools, score: NDArray[Any]) -> Iterator[RecallSteps]:
    """Yield the steps of the curve of validated scores in blocks, without storing the curve."""
    n_positive = np.count_nonzero(positive)
    n_negative = len(positive) - n_positive
    reached = 0.0
    for true_before, false_before, true, false in iter_runs_with_positives(sort_cases(positive, score).keys):
        fpr = np.append(reached, false / n_negative)
        start_tpr, start_fpr = true_before / n_positive, false_before / n_negative
        yield RecallSteps(start_tpr, start_fpr, true / n_positive, fpr[1:], fpr[:-1])
        reached = fpr[-1]
