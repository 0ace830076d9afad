"""Kernels of the eight AUPREC estimators: bare formulas on ROC vertices, at many priors.

Three estimators are linear in the precisions at the vertices and are stored as vertex weights, which gives
their integrals over the prior in closed form. The other five join points by exact segments, along which true
and false positives grow in proportion (Davis and Goadrich 2006).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skewanova._checks import Floats
from skewanova.priors import UniformPrior, UniformSkew
from skewanova.roc import RocCurve, convex_hull

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
SERIES_TERMS = 16

Kernel = Callable[[Floats], Floats]


def vertex_precision(tpr: Floats, fpr: Floats, prior: float | Floats) -> Floats:
    """Precision at operating points with a positive rate of alarms (Landgrebe et al. 2006, eq. 3).

    Written with the prior instead of the skew, so that a rule that flags everything scores exactly the prior.
    """
    true = prior * tpr
    return np.asarray(true / (true + (1 - prior) * fpr))


# --- estimators linear in the precisions --------------------------------------------------------------------


@dataclass(frozen=True)
class Vertices:
    """AUPREC as ``constant + sum of weight * precision`` over vertices with these rates."""

    weight: Floats
    tpr: Floats
    fpr: Floats
    constant: float = 0.0


def _trapezoid(roc: RocCurve) -> Vertices:
    # Landgrebe et al. 2006, eq. 4, the sum taken from i = 1; the origin shares the first vertex's precision
    half = np.diff(roc.tpr) / 2
    weight = half + np.append(half[1:], 0.0)
    weight[0] += half[0]
    return Vertices(weight, roc.tpr[1:], roc.fpr[1:])


def _average_precision(roc: RocCurve) -> Vertices:
    step, reached = _recall_steps(roc)
    return Vertices(step, roc.tpr[reached], roc.fpr[reached])


def _upper_trapezoid(roc: RocCurve) -> Vertices:
    # sum of (R_i - R_{i-1}) (pmax_{i-1} + pmax_i) / 2 with pmax_0 = 1
    step, reached = _recall_steps(roc)
    weight = (step + np.append(step[1:], 0.0)) / 2
    return Vertices(weight, roc.tpr[reached], roc.fpr[reached], constant=float(step[0] / 2))


def _recall_steps(roc: RocCurve) -> tuple[Floats, NDArray[np.intp]]:
    """Increments of recall, and the vertex that first reaches each distinct recall above 0."""
    step = np.diff(roc.tpr)
    rises = np.flatnonzero(step > 0)
    return step[rises], rises + 1


LINEAR: dict[str, Callable[[RocCurve], Vertices]] = {
    "trapezoid": _trapezoid,
    "average_precision": _average_precision,
    "upper_trapezoid": _upper_trapezoid,
}


def _linear_kernel(vertices: Vertices) -> Kernel:
    def area(prior: Floats) -> Floats:
        precisions = (vertex_precision(vertices.tpr, vertices.fpr, pi) for pi in prior)
        return np.array([weighted_mean(vertices, precision) for precision in precisions])

    return area


def weighted_mean(vertices: Vertices, precision: Floats) -> float:
    """Weighted mean of precisions; the weights sum to 1 but for rounding, which the division takes out."""
    area = vertices.constant + (vertices.weight * precision).sum()
    return float(area / (vertices.constant + vertices.weight.sum()))


def mean_precision(vertices: Vertices, weighting: UniformPrior | UniformSkew) -> Floats:
    """Mean of T / (T + skew F) over the weighting, in closed form, at every vertex."""
    true, false = vertices.tpr, vertices.fpr
    if isinstance(weighting, UniformSkew):
        start = true + weighting.low_skew * false
        return true / start * _log_ratio((weighting.high_skew - weighting.low_skew) * false / start)[0]
    low, width = weighting.low, weighting.high - weighting.low
    start = low * true + (1 - low) * false
    end = weighting.high * true + (1 - weighting.high) * false
    g, h = _log_ratio(width * (true - false) / start, end / start)
    return np.where(false == 0, 1.0, true * (low * g + width * h) / start)


def _log_ratio(u: Floats, grown: Floats | None = None) -> tuple[Floats, Floats]:
    """Return g = log(1 + u) / u and h = (1 - g) / u, by series near 0 where they would cancel.

    `grown` is 1 + u, to be given where u may come near -1 and has lost the digits of the sum.
    """
    near = np.abs(u) < SERIES_LIMIT
    safe = np.where(near, 1.0, u)
    small = np.where(near, u, 0.0)
    powers = (-small[..., None]) ** np.arange(SERIES_TERMS)
    log = np.log1p(safe) if grown is None else np.where(u < -0.5, np.log(grown), np.log1p(safe))
    g = np.where(near, powers @ (1 / np.arange(1.0, SERIES_TERMS + 1)), log / safe)
    h = np.where(near, powers @ (1 / np.arange(2.0, SERIES_TERMS + 2)), (1 - g) / safe)
    return g, h


# --- estimators that join points by exact segments ----------------------------------------------------------


def _segments_area(recall: Floats, alarms: Floats, prior: float) -> Floats:
    """Exact area under precision along each segment that rises, straight in recall and false alarms.

    `alarms` are false alarms in units of the positives' prior, so precision is ``t / (t + alarms)`` with
    ``t = prior * recall``.
    """
    up = np.flatnonzero(np.diff(recall) > 0)
    rise, start = recall[up + 1] - recall[up], prior * recall[up]
    growth = prior * rise + (alarms[up + 1] - alarms[up])  # dD, positive however small the prior
    whole = start + alarms[up]  # D0
    from_origin = whole == 0
    safe = np.where(from_origin, 1.0, whole)
    g, h = _log_ratio(growth / safe)
    area = rise * np.where(from_origin, prior * rise / growth, (start * g + prior * rise * h) / safe)
    return np.where(alarms[up + 1] == 0, rise, area)


def _exact_kernel(roc: RocCurve) -> Kernel:
    total = np.diff(roc.tpr)
    total = total[total > 0].sum()

    def area(prior: Floats) -> Floats:
        segments = (_segments_area(roc.tpr, (1 - pi) * roc.fpr, pi) for pi in prior)
        return np.array([segment.sum() / total for segment in segments])

    return area


def _hull_kernel(roc: RocCurve) -> Kernel:
    return _exact_kernel(convex_hull(roc))


def _interpolated_kernel(aggregate: str) -> Callable[[RocCurve], Kernel]:
    """Exact segments between one aggregated precision for each distinct recall (Boyd et al. 2013)."""

    def kernel(roc: RocCurve) -> Kernel:
        reached = _recall_steps(roc)[1]

        def area(prior: Floats) -> Floats:
            precisions = ((pi, _aggregated(roc, reached, pi, aggregate)) for pi in prior)
            return np.array([_interpolated_area(roc.tpr[reached], p, pi) for pi, p in precisions])

        return area

    return kernel


def _aggregated(roc: RocCurve, reached: NDArray[np.intp], prior: float, aggregate: str) -> Floats:
    """Largest, mean or median precision over the vertices that share a recall; it falls within each group."""
    precision = vertex_precision(roc.tpr[reached[0] :], roc.fpr[reached[0] :], prior)
    first = reached - reached[0]
    if aggregate == "max":
        return np.asarray(precision[first])
    size = np.diff(np.append(first, len(precision)))
    if aggregate == "mean":
        return np.asarray(np.add.reduceat(precision, first) / size)
    return np.asarray((precision[first + (size - 1) // 2] + precision[first + size // 2]) / 2)


def _interpolated_area(recall: Floats, precision: Floats, prior: float) -> float:
    """Rectangle up to the first recall, then exact segments through (recall, precision)."""
    alarms = prior * recall * (1 - precision) / precision
    area = recall[0] * precision[0] + _segments_area(recall, alarms, prior).sum()
    return float(area / (recall[0] + np.diff(recall).sum()))


_KERNELS: dict[str, Callable[[RocCurve], Kernel]] = {
    "exact": _exact_kernel,
    "convex_hull": _hull_kernel,
    "interpolated_max": _interpolated_kernel("max"),
    "interpolated_mean": _interpolated_kernel("mean"),
    "interpolated_median": _interpolated_kernel("median"),
}


def area_kernel(roc: RocCurve, estimator: str) -> Kernel:
    """Return a function from priors to areas, with all that does not depend on the prior done once."""
    if estimator in LINEAR:
        return _linear_kernel(LINEAR[estimator](roc))
    return _KERNELS[estimator](roc)
