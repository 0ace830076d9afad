"""Bootstrap of cases in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Bools, Floats, Seed, seeded
from skewanova.curves.areas import iauprec
from skewanova.curves.estimators import LINEAR, vertex_precision
from skewanova.curves.roc import Rises, RocCurve
from skewanova.curves.sorting import Counts, run_ends, sort_cases
from skewanova.priors.weightings import DeploymentPrior

#: Cases drawn at once, so that a few arrays of them stay in the second-level cache. Every block of resamples
#: has a seed of its own: the size is part of what makes results repeat.
BLOCK_SIZE = 1 << 16


def bootstrap_estimates(
    positive: Bools,
    score: NDArray[Any],
    weighting: DeploymentPrior,
    *,
    area_estimator: str,
    n_resamples: int,
    rng: Seed,
) -> Floats:
    """Estimates of AUPREC or IAUPREC from `n_resamples` samples of as many cases of each class."""
    keys = sort_cases(positive, score).keys
    counts = np.diff([np.cumsum(label)[run_ends(keys)] for label in (keys & 1, 1 - (keys & 1))], prepend=0)
    block = max(1, BLOCK_SIZE // len(keys))
    sizes = [min(block, n_resamples - start) for start in range(0, n_resamples, block)]
    measure = _linear_measure if area_estimator in LINEAR else _curve_measure
    estimates = measure(counts, weighting, area_estimator)
    streams = map(np.random.default_rng, block_seeds(rng, len(sizes)))
    return np.concatenate([estimates(size, stream) for size, stream in zip(sizes, streams, strict=True)])


def block_seeds(rng: Seed, n_blocks: int) -> list[np.random.SeedSequence]:
    """Return a seed for each block, from the next numbers of `rng`, so that they repeat with its state."""
    entropy = seeded(rng).integers(2**32, size=4)
    return np.random.SeedSequence(entropy.tolist()).spawn(n_blocks)


Estimates = Callable[[int, np.random.Generator], Floats]


@dataclass(frozen=True, eq=False)
class _Class:
    """Cases of one class from the best score down, by the slot each falls in."""

    slot: Counts
    n_slots: int

    def drawn(self, size: int, rng: np.random.Generator) -> Counts:
        """Cases in every slot, one row a resample."""
        at = self.slot[rng.integers(0, len(self.slot), size=(size, len(self.slot)))]
        at += np.arange(size)[:, None] * self.n_slots
        return np.bincount(at.ravel(), minlength=size * self.n_slots).reshape(size, self.n_slots)


def _curve_measure(counts: Counts, weighting: DeploymentPrior, area_estimator: str) -> Estimates:
    """Estimator's own kernel on every resampled curve, groups that were not drawn left out."""
    classes = [_Class(np.repeat(np.arange(len(count)), count), len(count)) for count in counts]

    def estimates(size: int, rng: np.random.Generator) -> Floats:
        true, false = (np.cumsum(one.drawn(size, rng), axis=1) for one in classes)
        curves = (_curve(t, f) for t, f in zip(true, false, strict=True))
        return np.array([iauprec(curve, weighting, area_estimator=area_estimator) for curve in curves])

    return estimates


def _curve(true: Counts, false: Counts) -> RocCurve:
    moved = np.flatnonzero(np.diff(true + false, prepend=0))
    t, f = (np.append(0.0, count[moved] / count[-1]) for count in (true, false))
    return RocCurve(f, t, np.full(len(t), np.nan), float(true[-1]), float(false[-1]))


def _linear_measure(counts: Counts, weighting: DeploymentPrior, area_estimator: str) -> Estimates:
    """Only groups with positives matter: the negatives have a slot within each, and one before each."""
    rising = np.flatnonzero(counts[0])
    slot = np.searchsorted(rising, np.arange(counts.shape[1])) * 2
    slot[rising] += 1
    positives = _Class(np.repeat(np.arange(len(rising)), counts[0][rising]), len(rising))
    negatives = _Class(np.repeat(slot, counts[1]), 2 * len(rising) + 1)
    priors, weights = weighting.quadrature()

    def estimates(size: int, rng: np.random.Generator) -> Floats:
        height = positives.drawn(size, rng)
        true, false = np.cumsum(height, axis=1), np.cumsum(negatives.drawn(size, rng), axis=1)
        points = LINEAR[area_estimator](
            _rises(height, true, false, reached=area_estimator == "upper_trapezoid")
        )
        points = replace(points, weight=height.astype(np.float64))
        means = (points.mean(partial(vertex_precision, prior=pi)).sum(axis=1) for pi in priors)
        total = sum(weight * mean for weight, mean in zip(weights, means, strict=True))
        return np.asarray(total / len(positives.slot))

    return estimates


def _rises(height: Counts, true: Counts, false: Counts, *, reached: bool) -> Rises:
    """Rises of all resamples; one above all that was drawn has no height, and a rate to divide by."""
    n_positive, n_negative = true[0, -1], false[0, -1]
    start_fpr, fpr = false[:, :-1:2] / n_negative, false[:, 1::2] / n_negative
    tpr = np.maximum(true, 1) / n_positive
    return Rises((true - height) / n_positive, start_fpr, tpr, fpr, _reached(height, fpr) if reached else fpr)


def _reached(height: Counts, fpr: Floats) -> Floats:
    """False positive rate at the end of the last rise before that was drawn, 0 where there is none."""
    last = np.maximum.accumulate(np.where(height > 0, np.arange(height.shape[1]), -1), axis=1)
    last = np.insert(last[:, :-1], 0, -1, axis=1)
    return np.where(last >= 0, np.take_along_axis(fpr, np.maximum(last, 0), axis=1), 0.0)
