"""Kernels of the eight estimators of AUPREC, and fast sums of precisions by moments.

With r = F / T, the precision at skew lam is ``1 / (1 + lam r)``. Points whose r has the same exponent and
first six binary digits share a bin. With its centre c, ``r = c (1 + e)`` and ``q = lam c / (1 + lam c) < 1``,

    sum of w / (1 + lam r) = (1 - q) * sum over k of (-q)^k * (sum of w e^k).

All terms on the left are positive and ``|e| <= 1/128``, so the relative error of K moments is below 128^-K.

Three estimators are linear in the precisions at operating points, so their integrals over the prior have a
closed form. The other five join points by exact segments, along which true and false positives grow in
proportion (Davis and Goadrich 2006).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Floats
from skewanova.curves.roc import RecallSteps, RocCurve, check_curve, convex_hull, steps_from_curve
from skewanova.priors.weightings import DeploymentPrior, UniformPrior, UniformSkew

#: Number of moments, the zeroth included; 128^-8 is 1.4e-17.
N_MOMENTS = 8


#: Low bits of a double that do not identify its bin.
LOW_BITS = 46


#: Neighbouring points that are summed at once if they share a bin.
ROW_LENGTH = 32


#: Points with smaller rates have no bin, because ratios could overflow.
MIN_RATE = 1e-150


#: Most precisions computed at once.
MAX_PRECISIONS = 1 << 15


Codes = NDArray[np.int64]


def sum_by_moments(parts: Iterable[Points], prior: Floats) -> tuple[Floats, float]:
    """Return sums over points of weight times precision at flat priors (n_priors,), and of the weights."""
    perfect = height = 0.0  # points without false positives have precision 1
    codes, moments = [np.empty(0, dtype=np.int64)], [np.empty((N_MOMENTS, 0))]
    others = [np.empty((3, 0))]
    for tpr, fpr, weight in ((*rates, part.weight) for part in parts for rates in part.rates):
        height += weight.sum()
        binned, certain = (tpr > MIN_RATE) & (fpr > MIN_RATE), fpr == 0
        if binned.any():
            code, sums = _bin_moments(fpr[binned] / tpr[binned], weight[binned])
            codes.append(code)
            moments.append(sums)
        perfect += weight[certain].sum()
        others.append(np.array([weight, tpr, fpr])[:, ~(binned | certain)])
    code, index = np.unique(np.concatenate(codes), return_inverse=True)
    merged = [np.bincount(index, part).astype(np.float64) for part in np.concatenate(moments, axis=1)]
    sums_at = partial(_sums_from_moments, _bin_centres(code), merged)
    total = perfect + _evaluate_in_chunks(prior, len(code), sums_at)
    weight, tpr, fpr = np.concatenate(others, axis=1)
    return total + [(weight * vertex_precision(tpr, fpr, pi)).sum() for pi in prior], height


def _bin_moments(ratio: Floats, weight: Floats) -> tuple[Codes, Floats]:
    """Return occupied bins' codes, and sums (N_MOMENTS, n_bins) of weight * (ratio / centre - 1)^moment."""
    code = ratio.view(np.int64) >> LOW_BITS
    centre = _bin_centres(code)
    offset = (ratio - centre) / centre
    first = code.min()
    code -= first
    n_rows = len(code) // ROW_LENGTH
    rows = code[: n_rows * ROW_LENGTH].reshape(n_rows, ROW_LENGTH)
    alike = rows.min(axis=1) == rows.max(axis=1)
    single = np.append(np.repeat(~alike, ROW_LENGTH), np.ones(len(code) % ROW_LENGTH, dtype=bool))
    n_bins = int(code.max()) + 1
    offsets, weights = (values[~single].reshape(-1, ROW_LENGTH) for values in (offset, weight))
    moments = _sum_moments(rows[alike, 0], offsets, weights, n_bins)
    moments += _sum_moments(code[single], offset[single, None], weight[single, None], n_bins)
    occupied = np.flatnonzero(moments[0])
    return occupied + first, moments[:, occupied]


def _sum_moments(code: Codes, offset: Floats, weight: Floats, n_bins: int) -> Floats:
    """Return sums (N_MOMENTS, n_bins) of weight times powers of the offset; points of a row share a bin."""
    moments = np.empty((N_MOMENTS, n_bins))
    term = weight
    for power in range(N_MOMENTS):
        moments[power] = np.bincount(code, weights=term.sum(axis=1), minlength=n_bins)
        term = term * offset
    return moments


def _bin_centres(code: Codes) -> Floats:
    """Return the ratio fpr / tpr at the centre of each bin."""
    return ((code << LOW_BITS) + (1 << (LOW_BITS - 1))).view(np.float64)


def _sums_from_moments(centre: Floats, moments: list[Floats], prior: Floats) -> Floats:
    """Return sums (n_priors,) of weight times precision over all bins, at a column of priors."""
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


#: For smaller |u| the closed forms use a series, because the logarithm would cancel.
SERIES_LIMIT = 0.05


#: Terms of the series; the next one is below rounding errors at that limit.
SERIES_TERMS = 12


#: Sums by moments are faster from these numbers of priors and of steps on.
MIN_PRIORS_FOR_MOMENTS = 12


MIN_STEPS_FOR_MOMENTS = 1 << 11


Kernel = Callable[[Floats], Floats]


def vertex_precision(tpr: Floats, fpr: Floats, prior: float | Floats) -> Floats:
    """Return precision prior T / (prior T + (1 - prior) F) at rates not both 0 (Landgrebe et al., eq. 3)."""
    # by the prior rather than the skew, so a rule that flags all cases has exactly the prior
    true = prior * tpr
    return np.asarray(true / (true + (1 - prior) * fpr))


class Points(NamedTuple):
    """Operating points whose weighted mean precision is AUPREC; every step has the same number of points."""

    weight: Floats  #: gain in recall of every step
    rates: tuple[tuple[Floats, Floats], ...]  #: true and false positive rates (n_steps,), a pair a point

    def terms(self, precision: Callable[[Floats, Floats], Floats]) -> Floats:
        """Return each step's weight times the mean of a function of rates over its points, (..., n_steps)."""
        total = sum(precision(*rates) for rates in self.rates)
        return np.asarray(self.weight * total / len(self.rates))


def _trapezoid(steps: RecallSteps) -> Points:
    # Landgrebe et al. 2006, eq. 4 (sum from i = 1); the origin has the precision of the first vertex
    """Return both ends of every step as its operating points; the origin has the first vertex's rates."""
    start_tpr, start_fpr = steps.start_tpr, steps.start_fpr
    origin = (start_tpr == 0) & (start_fpr == 0)
    if origin.any():
        start_tpr, start_fpr = np.where(origin, (steps.tpr, steps.fpr), (start_tpr, start_fpr))
    return Points(steps.height, ((start_tpr, start_fpr), (steps.tpr, steps.fpr)))


def _average_precision(steps: RecallSteps) -> Points:
    """Return the end of every step as its operating point."""
    return Points(steps.height, ((steps.tpr, steps.fpr),))


def _upper_trapezoid(steps: RecallSteps) -> Points:
    # sum of (R_i - R_{i-1}) (pmax_{i-1} + pmax_i) / 2, where pmax is the precision at the first vertex with a
    # recall, and pmax_0 = 1
    """Return two points a step: its start at the least fpr of its recall (precision 1 at 0), and its end."""
    start_tpr = np.where(steps.start_tpr == 0, 1.0, steps.start_tpr)
    return Points(steps.height, ((start_tpr, steps.fpr_at_first_reach), (steps.tpr, steps.fpr)))


LINEAR: dict[str, Callable[[RecallSteps], Points]] = {
    "trapezoid": _trapezoid,
    "average_precision": _average_precision,
    "upper_trapezoid": _upper_trapezoid,
}


def roc_terms(steps: RecallSteps) -> Floats:
    """Return each step's term (n_steps,) of the area under the ROC curve."""
    return np.asarray(steps.height * (1 - (steps.start_fpr + steps.fpr) / 2))


def terms_kernel(steps: RecallSteps, area_estimator: str) -> Callable[[Any], Floats]:
    """Return a function from a prior, or a column of them, to each step's term of the area (..., n_steps)."""
    if area_estimator == ROC_AUC:
        terms = roc_terms(steps)
        return lambda prior: terms + 0 * prior
    if area_estimator not in LINEAR:
        if area_estimator == "interpolated_max":  # the largest precision at a recall is at its first vertex
            steps = steps._replace(start_fpr=steps.fpr_at_first_reach)
        return partial(segment_areas, steps)
    points = LINEAR[area_estimator](steps)
    return lambda prior: points.terms(partial(vertex_precision, prior=prior))


def _evaluate_in_chunks(prior: Floats, size: int, sums: Kernel) -> Floats:
    """Return `sums` at every prior (n_priors,), by columns of at most MAX_PRECISIONS / `size` priors."""
    n_rows = max(1, MAX_PRECISIONS // max(1, size))
    columns = (prior[i : i + n_rows, None] for i in range(0, len(prior), n_rows))
    return np.concatenate([np.empty(0), *map(sums, columns)])


def prior_averaged_precision(tpr: Floats, fpr: Floats, weighting: DeploymentPrior) -> Floats:
    """Return the precision at every point, averaged over a deployment prior, of the shape of `tpr`."""
    if isinstance(weighting, UniformSkew):
        start = tpr + weighting.low_skew * fpr
        return tpr / start * log1p_over_u((weighting.high_skew - weighting.low_skew) * fpr / start)[0]
    if isinstance(weighting, UniformPrior) and weighting.low < weighting.high:
        low, width = weighting.low, weighting.high - weighting.low
        start = low * tpr + (1 - low) * fpr
        end = weighting.high * tpr + (1 - weighting.high) * fpr
        g, h = log1p_over_u(width * (tpr - fpr) / start, end / start)
        return np.where(fpr == 0, 1.0, tpr * (low * g + width * h) / start)
    nodes = zip(*weighting.quadrature(), strict=True)
    return np.asarray(sum(weight * vertex_precision(tpr, fpr, prior) for prior, weight in nodes))


def log1p_over_u(u: Floats, grown: Floats | None = None) -> tuple[Floats, Floats]:
    """Return g = log(1 + u) / u and h = (1 - g) / u; near -1 they need `grown`, an accurate 1 + u."""
    # near 0, where the logarithm would cancel, h is the sum of (-u)^k / (k + 2), by Horner's rule
    near = np.abs(u) < SERIES_LIMIT
    safe = np.where(near, 1.0, u)
    log = np.log1p(safe) if grown is None else np.where(u < -0.5, np.log(grown), np.log1p(safe))
    g = log / safe
    h = (1 - g) / safe
    small = u[near]
    series = np.full(small.shape, 1 / (SERIES_TERMS + 1))
    for k in range(SERIES_TERMS - 2, -1, -1):
        series *= -small
        series += 1 / (k + 2)
    h[near], g[near] = series, 1 - small * series
    return g, h


def segment_areas(steps: RecallSteps, prior: float | Floats) -> Floats:
    """Return the exact area under the precision-recall curve along every step, (..., n_steps)."""
    start_fp, fp = (1 - prior) * steps.start_fpr, (1 - prior) * steps.fpr
    return _areas_between_points(steps, start_fp, fp, prior)


def _areas_between_points(steps: RecallSteps, start_fp: Floats, fp: Floats, prior: float | Floats) -> Floats:
    """Return areas (..., n_steps) under precision t / (t + fp), for t = prior T and false positives fp."""
    rise, start = steps.height, prior * steps.start_tpr
    growth = prior * rise + (fp - start_fp)  # increase of t + fp
    start_total = start + start_fp
    from_origin = start_total <= 1e-30 * growth  # up to a negligible share of the growth
    safe = np.where(from_origin, 1.0, start_total)
    grown = np.where(growth == 0, 1.0, growth)  # 0 by underflow
    g, h = log1p_over_u(growth / safe)
    area = rise * np.where(from_origin, prior * rise / grown, (start * g + prior * rise * h) / safe)
    return np.where(fp == 0, rise, area)


def _interpolated_kernel(roc: RocCurve, aggregate: str) -> Kernel:
    """Return a function from priors to areas (n_priors,) by the "mean" or "median" precision at a recall."""
    reached = np.flatnonzero(np.diff(roc.tpr) > 0) + 1  # the first vertex with each recall above 0
    recall = roc.tpr[reached]

    def areas_at(prior: Floats) -> Floats:
        """Return the areas (n_priors,) at a column of priors."""
        precision = _aggregate_precision(roc, reached, prior, aggregate)
        fp = prior * recall * (1 - precision) / precision
        start, end = fp[:, :-1], fp[:, 1:]
        steps = RecallSteps(recall[:-1], start, recall[1:], end, start)
        # up to the first recall a rectangle, then exact segments
        areas = recall[0] * precision[:, 0] + _areas_between_points(steps, start, end, prior).sum(axis=-1)
        return np.asarray(areas / (recall[0] + np.diff(recall).sum()))

    return lambda prior: _evaluate_in_chunks(prior, len(roc.tpr), areas_at)


def _aggregate_precision(roc: RocCurve, reached: NDArray[np.intp], prior: Floats, aggregate: str) -> Floats:
    """Return mean or median precision (n_priors, n_recalls) of each recall's vertices, from `reached` on."""
    precision = vertex_precision(roc.tpr[reached[0] :], roc.fpr[reached[0] :], prior)
    first = reached - reached[0]
    size = np.diff(np.append(first, precision.shape[-1]))
    if aggregate == "mean":
        return np.asarray(np.add.reduceat(precision, first, axis=-1) / size)
    return np.asarray((precision[:, first + (size - 1) // 2] + precision[:, first + size // 2]) / 2)


#: Area under the ROC curve, the same at every prior: a sum over recall steps, but no estimator of AUPREC.
ROC_AUC = "roc_auc"
#: Estimators that depend on the recall steps of the curve only, and can be summed block by block.
STEP_ESTIMATORS = (*LINEAR, "exact", "interpolated_max", ROC_AUC)
#: Estimators that use the first vertex with a recall.
FIRST_REACH_ESTIMATORS = ("upper_trapezoid", "interpolated_max")


def area_kernel(roc: RocCurve, area_estimator: str) -> Kernel:
    """Return the function from priors (n_priors,) to areas (n_priors,) of `roc`; only its type is checked."""
    check_curve(roc)
    if area_estimator in STEP_ESTIMATORS:
        blocks = list(steps_from_curve(roc))
        return lambda prior: areas_from_steps(blocks, prior, area_estimator)
    if area_estimator == "convex_hull":
        return area_kernel(convex_hull(roc), "exact")
    return _interpolated_kernel(roc, area_estimator.removeprefix("interpolated_"))


def areas_from_steps(blocks: Iterable[RecallSteps], prior: Floats, area_estimator: str) -> Floats:
    """Return the area at every prior (n_priors,), from blocks of the steps of one curve."""
    blocks = iter(blocks)
    first = next(blocks)
    blocks = chain([first], blocks)
    many = len(prior) >= MIN_PRIORS_FOR_MOMENTS and len(first.tpr) >= MIN_STEPS_FOR_MOMENTS
    if many and area_estimator in LINEAR:
        total, height = sum_by_moments(map(LINEAR[area_estimator], blocks), prior)
        return total / height
    return np.asarray(_divide_by_height(blocks, lambda steps: area_sums(steps, prior, area_estimator)))


def area_sums(steps: RecallSteps, prior: Floats, area_estimator: str) -> Floats:
    """Return the sum of the terms of all steps at every prior (n_priors,), not divided by their height."""
    terms = terms_kernel(steps, area_estimator)
    return _evaluate_in_chunks(prior, steps.tpr.size, lambda priors: terms(priors).sum(axis=-1))


def prior_averaged_area(
    blocks: Iterable[RecallSteps], weighting: DeploymentPrior, area_estimator: str
) -> float:
    """Return the area averaged over a deployment prior, in closed form if there is one."""
    if area_estimator in LINEAR and isinstance(weighting, UniformPrior | UniformSkew):
        area = _divide_by_height(blocks, lambda steps: step_terms(steps, weighting, area_estimator).sum())
        return float(area)
    priors, weights = weighting.quadrature()
    return float((weights * areas_from_steps(blocks, priors, area_estimator)).sum() / weights.sum())


def step_terms(steps: RecallSteps, weighting: DeploymentPrior | Floats, area_estimator: str) -> Floats:
    """Return each step's term (n_steps,) of the mean area, or (n_priors, n_steps) at a column of priors."""
    rising = steps.tpr > steps.start_tpr  # steps without height have term 0
    if not rising.all():
        rising_terms = step_terms(steps.select(rising), weighting, area_estimator)
        terms = np.zeros(rising_terms.shape[:-1] + rising.shape)
        terms[..., rising] = rising_terms
        return terms
    if isinstance(weighting, np.ndarray):
        return terms_kernel(steps, area_estimator)(weighting)
    if area_estimator in LINEAR:
        return LINEAR[area_estimator](steps).terms(partial(prior_averaged_precision, weighting=weighting))
    terms_at, nodes = terms_kernel(steps, area_estimator), zip(*weighting.quadrature(), strict=True)
    return np.asarray(sum(weight * terms_at(prior) for prior, weight in nodes))


def _divide_by_height(blocks: Iterable[RecallSteps], part: Callable[[RecallSteps], Any]) -> Any:
    """Return the sum of `part` over all blocks, divided by the total height of their steps."""
    total, height = 0.0, 0.0
    for steps in blocks:
        total = total + part(steps)
        height += steps.height.sum()
    return total / height
