"""Kernels of the eight estimators of AUPREC, with their sums by moments.

With r = F / T the precision at skew lam is ``1 / (1 + lam r)``. Points whose r agrees in its exponent and
first six binary digits share a bin; with c in its middle, ``r = c (1 + e)``, ``q = lam c / (1 + lam c) < 1``,

    sum of w / (1 + lam r) = (1 - q) * sum over k of (-q)^k * (sum of w e^k).

All terms on the left are positive and ``|e| <= 1/128``, so what `TERMS` moments leave out is below 128^-TERMS
of the sum.

Three estimators are linear in the precisions at operating points, which gives their integrals over the prior
in closed form. The other five join points by exact segments, along which true and false positives grow in
proportion (Davis and Goadrich 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Floats
from skewanova.curves.roc import RecallSteps, RocCurve, convex_hull, steps_from_curve
from skewanova.priors.weightings import DeploymentPrior, UniformPrior, UniformSkew

#: Moments kept, the first included: 128^-8 is 1.4e-17.
TERMS = 8


#: Bits of a double below those that tell bins apart.
LOW_BITS = 46


#: Neighbouring points that mostly share a bin, and are then summed at one go.
ROW_LENGTH = 32


#: Rates below this are not divided by, and have no bin.
SMALLEST_RATE = 1e-150


#: Precisions computed at once.
FEW_PRECISIONS = 1 << 15


Codes = NDArray[np.int64]


class MomentSums:
    """Sum of weight times precision over all points added, at any prior, to rounding."""

    def __init__(self) -> None:
        self._perfect = self._height = 0.0
        self._codes: list[Codes] = [np.empty(0, dtype=np.int64)]
        self._moments: list[Floats] = [np.empty((TERMS, 0))]
        self._others: list[Floats] = [np.empty((3, 0))]

    def add(self, weight: Floats, tpr: Floats, fpr: Floats) -> None:
        """Add points; those without false positives have precision 1."""
        self._height += weight.sum()
        binned = (tpr > SMALLEST_RATE) & (fpr > SMALLEST_RATE)
        if binned.any():
            code, moments = _bins(fpr[binned] / tpr[binned], weight[binned])
            self._codes.append(code)
            self._moments.append(moments)
        perfect = fpr == 0
        self._perfect += weight[perfect].sum()
        left = ~(binned | perfect)
        self._others.append(np.array([weight[left], tpr[left], fpr[left]]))

    def mean(self, prior: Floats) -> Floats:
        """Return the mean at every prior."""
        return self.evaluate(prior) / self._height

    def evaluate(self, prior: Floats) -> Floats:
        """Return the sum at every prior."""
        code, moments = self._together()
        centre = _centres(code)
        together = max(1, FEW_PRECISIONS // max(1, len(code)))
        rows = (prior[i : i + together, None] for i in range(0, len(prior), together))
        total = self._perfect + np.concatenate([_from_moments(centre, moments, row) for row in rows])
        weight, tpr, fpr = np.concatenate(self._others, axis=1)
        others = [(weight * (pi * tpr / (pi * tpr + (1 - pi) * fpr))).sum() for pi in prior]
        return np.asarray(total + others)

    def _together(self) -> tuple[Codes, list[Floats]]:
        """Merge and store the bins of all points, a few hundred kilobytes at most."""
        if len(self._codes) > 1:
            code, codes = np.unique(np.concatenate(self._codes), return_inverse=True)
            parts = np.concatenate(self._moments, axis=1)
            self._codes = [code]
            self._moments = [np.array([np.bincount(codes, weights=m) for m in parts], dtype=np.float64)]
        return self._codes[0], list(self._moments[0])


def _bins(ratio: Floats, weight: Floats) -> tuple[Codes, Floats]:
    """Return codes of the bins that hold a point, and their moments, of shape (TERMS, n_bins)."""
    code = ratio.view(np.int64) >> LOW_BITS
    centre = _centres(code)
    offset = (ratio - centre) / centre
    first = code.min()
    code -= first
    n_rows = len(code) // ROW_LENGTH
    rows = code[: n_rows * ROW_LENGTH].reshape(n_rows, ROW_LENGTH)
    alike = rows.min(axis=1) == rows.max(axis=1)
    single = np.append(np.repeat(~alike, ROW_LENGTH), np.ones(len(code) % ROW_LENGTH, dtype=bool))
    n_bins = int(code.max()) + 1
    by_row = _moments(rows[alike, 0], _rows(offset, single), _rows(weight, single), n_bins)
    moments = by_row + _moments(code[single], offset[single, None], weight[single, None], n_bins)
    occupied = np.flatnonzero(moments[0])
    return occupied + first, moments[:, occupied]


def _rows(values: Floats, single: NDArray[np.bool_]) -> Floats:
    return values[~single].reshape(-1, ROW_LENGTH)


def _moments(code: Codes, offset: Floats, weight: Floats, n_bins: int) -> Floats:
    """Return sums of weight times powers of the offset by bin, for points in rows that share a bin."""
    moments = np.empty((TERMS, n_bins))
    term = weight
    for power in range(TERMS):
        moments[power] = np.bincount(code, weights=term.sum(axis=1), minlength=n_bins)
        term = term * offset
    return moments


def _centres(code: Codes) -> Floats:
    """Return the middle of the numbers that share these high bits."""
    return ((code << LOW_BITS) + (1 << (LOW_BITS - 1))).view(np.float64)


def _from_moments(centre: Floats, moments: list[Floats], prior: Floats) -> Floats:
    precision = prior / (prior + (1 - prior) * centre)
    series = np.broadcast_to(moments[-1], precision.shape)
    for moment in moments[-2::-1]:
        series = moment + (precision - 1) * series  # 1 - precision is q
    return np.asarray((precision * series).sum(axis=1))


ESTIMATORS = (
    "trapezoid",
    "exact",
    "average_precision",
    "upper_trapezoid",
    "interpolated_max",
    "interpolated_mean",
    "interpolated_median",
    "convex_hull",
)


#: Below this |u| the series of the closed forms replaces the logarithm, which would cancel.
SERIES_LIMIT = 0.05


#: The next term would be below half of the last digit at that limit.
SERIES_TERMS = 12


#: A segment that begins at less than this share of its growth begins at the origin, to the last digit.
NOTHING = 1e-30


MANY_PRIORS = 12


MANY_STEPS = 1 << 11


Kernel = Callable[[Floats], Floats]


def vertex_precision(tpr: Floats, fpr: Floats, prior: float | Floats) -> Floats:
    """Return the precision at operating points with a positive rate of alarms (Landgrebe et al. 2006, eq. 3).

    Written with the prior instead of the skew, so that a rule that flags everything scores exactly the prior.
    """
    true = prior * tpr
    return np.asarray(true / (true + (1 - prior) * fpr))


@dataclass(frozen=True)
class Points:
    """AUPREC as the weighted mean of precisions, over rises and over the points that speak for each rise."""

    weight: Floats  #: gain in recall of every rise
    tpr: tuple[Floats, ...]  #: rates at each rise's points, one array a point
    fpr: tuple[Floats, ...]

    def mean(self, precision: Callable[[Floats, Floats], Floats]) -> Floats:
        """Return the weight of each rise times the mean of a function of the rates over its points."""
        total = precision(self.tpr[0], self.fpr[0])
        for true, false in zip(self.tpr[1:], self.fpr[1:], strict=True):
            total = total + precision(true, false)
        return np.asarray(self.weight * total / len(self.tpr))


def _trapezoid(steps: RecallSteps) -> Points:
    # Landgrebe et al. 2006, eq. 4, the sum taken from i = 1; the origin shares the first vertex's precision
    start_tpr, start_fpr = steps.start_tpr, steps.start_fpr
    origin = (start_tpr == 0) & (start_fpr == 0)
    if origin.any():
        start_tpr, start_fpr = np.where(origin, (steps.tpr, steps.fpr), (start_tpr, start_fpr))
    return Points(steps.height, (start_tpr, steps.tpr), (start_fpr, steps.fpr))


def _average_precision(steps: RecallSteps) -> Points:
    return Points(steps.height, (steps.tpr,), (steps.fpr,))


def _upper_trapezoid(steps: RecallSteps) -> Points:
    # sum of (R_i - R_{i-1}) (pmax_{i-1} + pmax_i) / 2; pmax is at the vertex that first reaches a recall, and
    # pmax_0 = 1 is the precision at any recall without false positives
    start_tpr = np.where(steps.start_tpr == 0, 1.0, steps.start_tpr)
    return Points(steps.height, (start_tpr, steps.tpr), (steps.fpr_at_first_reach, steps.fpr))


LINEAR: dict[str, Callable[[RecallSteps], Points]] = {
    "trapezoid": _trapezoid,
    "average_precision": _average_precision,
    "upper_trapezoid": _upper_trapezoid,
}


def terms_kernel(steps: RecallSteps, area_estimator: str) -> Callable[[Any], Floats]:
    """Return a function from priors to every step's term in the area, by an estimator of `BY_STEPS`."""
    if area_estimator not in LINEAR:
        return partial(segment_areas, _segments(steps, area_estimator))
    points = LINEAR[area_estimator](steps)
    return lambda prior: points.mean(partial(vertex_precision, prior=prior))


def _along(prior: Floats, size: int, sums: Kernel) -> Floats:
    """Evaluate `sums` at each prior, in chunks that fit in cache."""
    n_rows = max(1, FEW_PRECISIONS // max(1, size))
    values = np.empty(len(prior))
    for i in range(0, len(prior), n_rows):
        values[i : i + n_rows] = sums(prior[i : i + n_rows, None])
    return values


def prior_averaged_precision(tpr: Floats, fpr: Floats, weighting: DeploymentPrior) -> Floats:
    """Return the precision averaged over the weighting at every point."""
    if isinstance(weighting, UniformSkew):
        return _mean_over_skew(tpr, fpr, weighting)
    if isinstance(weighting, UniformPrior) and weighting.low < weighting.high:
        return _mean_over_prior(tpr, fpr, weighting)
    nodes = zip(*weighting.quadrature(), strict=True)
    return np.asarray(sum(weight * vertex_precision(tpr, fpr, prior) for prior, weight in nodes))


def _mean_over_skew(tpr: Floats, fpr: Floats, weighting: UniformSkew) -> Floats:
    start = tpr + weighting.low_skew * fpr
    return tpr / start * log1p_over_u((weighting.high_skew - weighting.low_skew) * fpr / start)[0]


def _mean_over_prior(tpr: Floats, fpr: Floats, weighting: UniformPrior) -> Floats:
    low, width = weighting.low, weighting.high - weighting.low
    start = low * tpr + (1 - low) * fpr
    end = weighting.high * tpr + (1 - weighting.high) * fpr
    g, h = log1p_over_u(width * (tpr - fpr) / start, end / start)
    return np.where(fpr == 0, 1.0, tpr * (low * g + width * h) / start)


def log1p_over_u(u: Floats, grown: Floats | None = None) -> tuple[Floats, Floats]:
    """Return g = log(1 + u) / u and h = (1 - g) / u, by series near 0 where they would cancel.

    `grown` is 1 + u, to be given where u may come near -1 and has lost the digits of the sum.
    """
    near = np.abs(u) < SERIES_LIMIT
    safe = np.where(near, 1.0, u)
    log = np.log1p(safe) if grown is None else np.where(u < -0.5, np.log(grown), np.log1p(safe))
    g = log / safe
    h = (1 - g) / safe
    small = u[near]
    h[near] = _series(small)
    g[near] = 1 - small * h[near]
    return g, h


def _series(u: Floats) -> Floats:
    """Return h = (1 - log(1 + u) / u) / u as the sum of (-u)^k / (k + 2), by Horner's rule."""
    total = np.full(u.shape, 1 / (SERIES_TERMS + 1))
    for k in range(SERIES_TERMS - 2, -1, -1):
        total *= -u
        total += 1 / (k + 2)
    return total


def _segments(steps: RecallSteps, area_estimator: str) -> RecallSteps:
    """Return the segments of ``exact`` areas or, for ``interpolated_max``, from the first reach.

    The largest precision at a recall is where the recall is first reached.
    """
    return steps if area_estimator == "exact" else replace(steps, start_fpr=steps.fpr_at_first_reach)


def segment_areas(steps: RecallSteps, prior: float | Floats) -> Floats:
    """Return the exact area under precision along every step."""
    start_fp, fp = (1 - prior) * steps.start_fpr, (1 - prior) * steps.fpr
    return _segment_areas(steps, start_fp, fp, prior)


def _segment_areas(steps: RecallSteps, start_fp: Floats, fp: Floats, prior: float | Floats) -> Floats:
    """Return these areas for false positives in units of the prior: precision is t / (t + fp), t = pi T."""
    rise, start = steps.height, prior * steps.start_tpr
    growth = prior * rise + (fp - start_fp)  # dD, positive however small the prior
    start_total = start + start_fp  # D0
    from_origin = start_total <= NOTHING * growth
    safe = np.where(from_origin, 1.0, start_total)
    grown = np.where(growth == 0, 1.0, growth)  # 0: below doubles
    g, h = log1p_over_u(growth / safe)
    area = rise * np.where(from_origin, prior * rise / grown, (start * g + prior * rise * h) / safe)
    return np.where(fp == 0, rise, area)


def _interpolated_kernel(aggregate: str) -> Callable[[RocCurve], Kernel]:
    """Return the exact segments between the aggregated precisions of distinct recalls (Boyd et al. 2013)."""

    def kernel(roc: RocCurve) -> Kernel:
        reached = _first_reached(roc)

        def sums(priors: Floats) -> Floats:
            return _interpolated_areas(roc.tpr[reached], _aggregated(roc, reached, priors, aggregate), priors)

        return lambda prior: _along(prior, len(roc.tpr), sums)

    return kernel


def _first_reached(roc: RocCurve) -> NDArray[np.intp]:
    """Return the vertex that first reaches each distinct recall above 0."""
    return np.flatnonzero(np.diff(roc.tpr) > 0) + 1


def _aggregated(roc: RocCurve, reached: NDArray[np.intp], prior: Floats, aggregate: str) -> Floats:
    """Return the mean or median precision of vertices that share a recall, a row a prior."""
    precision = vertex_precision(roc.tpr[reached[0] :], roc.fpr[reached[0] :], prior)
    first = reached - reached[0]
    size = np.diff(np.append(first, precision.shape[-1]))
    if aggregate == "mean":
        return np.asarray(np.add.reduceat(precision, first, axis=-1) / size)
    return np.asarray((precision[:, first + (size - 1) // 2] + precision[:, first + size // 2]) / 2)


def _interpolated_areas(recall: Floats, precision: Floats, prior: Floats) -> Floats:
    """Return the rectangle up to the first recall plus exact segments, a row a prior."""
    fp = prior * recall * (1 - precision) / precision
    start, end = fp[:, :-1], fp[:, 1:]
    steps = RecallSteps(recall[:-1], start, recall[1:], end, start)
    areas = recall[0] * precision[:, 0] + _segment_areas(steps, start, end, prior).sum(axis=-1)
    return np.asarray(areas / (recall[0] + np.diff(recall).sum()))


#: Estimators that depend on the rises of the curve only, and can be summed block by block.
BY_STEPS = (*LINEAR, "exact", "interpolated_max")
#: Those of them that ask where a recall was first reached.
BY_REACHED = ("upper_trapezoid", "interpolated_max")


_KERNELS: dict[str, Callable[[RocCurve], Kernel]] = {
    "convex_hull": lambda roc: area_kernel(convex_hull(roc), "exact"),
    "interpolated_mean": _interpolated_kernel("mean"),
    "interpolated_median": _interpolated_kernel("median"),
}


def area_kernel(roc: RocCurve, area_estimator: str) -> Kernel:
    """Return a function from priors to areas, with all that does not depend on the prior done once."""
    if area_estimator in BY_STEPS:
        blocks = list(steps_from_curve(roc))
        return lambda prior: areas(blocks, prior, area_estimator)
    return _KERNELS[area_estimator](roc)


def areas(blocks: Iterable[RecallSteps], prior: Floats, area_estimator: str) -> Floats:
    """Return the area at every prior by an estimator of `BY_STEPS`, from blocks of steps."""
    blocks = iter(blocks)
    first = next(blocks)
    blocks = chain([first], blocks)
    if area_estimator in LINEAR and len(prior) >= MANY_PRIORS and len(first.tpr) >= MANY_STEPS:
        return moment_sums(blocks, area_estimator).mean(prior)
    return np.asarray(_over_height(blocks, lambda steps: area_sums(steps, prior, area_estimator)))


def area_sums(steps: RecallSteps, prior: Floats, area_estimator: str) -> Floats:
    """Return the sum of the steps' terms at every prior."""
    terms = terms_kernel(steps, area_estimator)
    return _along(prior, steps.tpr.size, lambda priors: terms(priors).sum(axis=-1))


def moment_sums(blocks: Iterable[RecallSteps], area_estimator: str) -> MomentSums:
    """Return moment sums of a curve for an estimator of `LINEAR`, valid at any prior."""
    sums = MomentSums()
    for steps in blocks:
        points = LINEAR[area_estimator](steps)
        for tpr, fpr in zip(points.tpr, points.fpr, strict=True):
            sums.add(points.weight, tpr, fpr)
    return sums


def prior_averaged_area(
    blocks: Iterable[RecallSteps], weighting: DeploymentPrior, area_estimator: str
) -> float:
    """Return the area averaged over a weighting, in closed form if there is one."""
    if area_estimator in LINEAR and isinstance(weighting, UniformPrior | UniformSkew):
        return float(_over_height(blocks, lambda steps: step_terms(steps, weighting, area_estimator).sum()))
    priors, weights = weighting.quadrature()
    return float((weights * areas(blocks, priors, area_estimator)).sum() / weights.sum())


def step_terms(steps: RecallSteps, weighting: DeploymentPrior | Floats, area_estimator: str) -> Floats:
    """Return every step's term in the area averaged over a weighting.

    In place of a weighting, a column of priors gives the parts at each in a row. A rise without height has no
    part.
    """
    rising = steps.tpr > steps.start_tpr
    if not rising.all():
        rising_terms = step_terms(steps.part(rising), weighting, area_estimator)
        terms = np.zeros(rising_terms.shape[:-1] + rising.shape)
        terms[..., rising] = rising_terms
        return terms
    if isinstance(weighting, np.ndarray):
        return terms_kernel(steps, area_estimator)(weighting)
    if area_estimator in LINEAR:
        return LINEAR[area_estimator](steps).mean(partial(prior_averaged_precision, weighting=weighting))
    terms_at, nodes = terms_kernel(steps, area_estimator), zip(*weighting.quadrature(), strict=True)
    return np.asarray(sum(weight * terms_at(prior) for prior, weight in nodes))


def _over_height(blocks: Iterable[RecallSteps], part: Callable[[RecallSteps], Any]) -> Any:
    """Return the sum over the blocks divided by their total height, which is 1 up to rounding."""
    total, height = 0.0, 0.0
    for steps in blocks:
        total = total + part(steps)
        height += steps.height.sum()
    return total / height
