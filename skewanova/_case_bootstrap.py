"""Bootstrap of cases, each class apart: sorted once, drawn as counts on tie groups, in blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skewanova._checks import Bools, Floats, Seed
from skewanova._estimators import LINEAR
from skewanova._influence_kernels import tie_groups
from skewanova.auprec import iauprec
from skewanova.priors import DeploymentPrior
from skewanova.roc import RocCurve

#: Numbers held at once in each of a handful of arrays.
BLOCK_SIZE = 1_000_000


def bootstrap_estimates(
    positive: Bools,
    score: NDArray[Any],
    weighting: DeploymentPrior,
    *,
    estimator: str,
    n_resamples: int,
    rng: Seed,
) -> Floats:
    """Estimates of AUPREC or IAUPREC from `n_resamples` samples of as many cases of each class."""
    _, counts = tie_groups(positive, score)
    area = _linear_areas if estimator in LINEAR else _areas_by_curve
    blocks = _rates(counts, n_resamples, np.random.default_rng(rng))
    return np.concatenate([area(tpr, fpr, weighting, estimator) for tpr, fpr in blocks])


def _rates(
    counts: NDArray[np.intp], n_resamples: int, rng: np.random.Generator
) -> Iterator[tuple[Floats, Floats]]:
    """Blocks of resampled true and false positive rates after every tie group, one row a resample."""
    block = max(1, BLOCK_SIZE // counts.shape[1])
    for start in range(0, n_resamples, block):
        size = min(block, n_resamples - start)
        tpr, fpr = (_resampled_rates(count, size, rng) for count in counts)
        yield tpr, fpr


def _resampled_rates(count: NDArray[np.intp], size: int, rng: np.random.Generator) -> Floats:
    total, filled = count.sum(), np.flatnonzero(count)
    drawn = np.zeros((size, len(count)), dtype=np.int64)
    drawn[:, filled] = rng.multinomial(total, count[filled] / total, size=size)
    return np.asarray(np.cumsum(drawn, axis=1) / total)


def _areas_by_curve(tpr: Floats, fpr: Floats, weighting: DeploymentPrior, estimator: str) -> Floats:
    """Estimator's own kernel on every resampled curve, groups that were not drawn left out."""
    areas = []
    for true, false in zip(tpr, fpr, strict=True):
        moved = np.diff(true + false, prepend=0.0) > 0
        t, f = (np.concatenate(([0.0], rate[moved])) for rate in (true, false))
        areas.append(
            iauprec(RocCurve(f, t, np.full(len(t), np.nan), 1.0, 1.0), weighting, estimator=estimator)
        )
    return np.array(areas)


# --- estimators linear in the precisions, all resamples at once ---------------------------------------------


def _linear_areas(tpr: Floats, fpr: Floats, weighting: DeploymentPrior, estimator: str) -> Floats:
    step, before = np.diff(tpr, axis=1, prepend=0.0), _BEFORE[estimator]
    total = np.zeros(len(tpr))
    for prior, weight in zip(*weighting.quadrature(), strict=True):
        true, alarms = prior * tpr, prior * tpr + (1 - prior) * fpr
        precision = np.divide(true, alarms, out=np.zeros_like(true), where=alarms > 0)
        total += weight * (step * (before(precision, step, alarms > 0) + precision)).sum(axis=1) / 2
    return total


def _of_same_group(precision: Floats, step: Floats, left_origin: Bools) -> Floats:
    """average_precision: the precision of the group that a step of recall ends at."""
    return precision


def _of_group_before(precision: Floats, step: Floats, left_origin: Bools) -> Floats:
    """Trapezoid: the precision of the group before, that of the first group drawn at the origin."""
    before = np.roll(precision, 1, axis=1)
    known = np.roll(left_origin, 1, axis=1)
    known[:, 0] = False
    return np.where(known, before, precision)


def _of_rise_before(precision: Floats, step: Floats, left_origin: Bools) -> Floats:
    """upper_trapezoid: the precision where recall last rose, 1 at the origin."""
    at = np.where(step > 0, np.arange(step.shape[1]), -1)
    last = np.roll(np.maximum.accumulate(at, axis=1), 1, axis=1)
    last[:, 0] = -1
    return np.where(last >= 0, np.take_along_axis(precision, np.maximum(last, 0), axis=1), 1.0)


_BEFORE: dict[str, Callable[[Floats, Floats, Bools], Floats]] = {
    "average_precision": _of_same_group,
    "trapezoid": _of_group_before,
    "upper_trapezoid": _of_rise_before,
}
