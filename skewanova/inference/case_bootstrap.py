"""Bootstrap of cases in blocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Floats, Seed, seeded
from skewanova.curves.areas import iauprec
from skewanova.curves.estimators import BY_STEPS, step_terms
from skewanova.curves.roc import RocCurve, curve_from_scores
from skewanova.curves.sorting import Counts, run_ends, sort_cases
from skewanova.inference.jackknife import rises_of_counts
from skewanova.inference.sampling import Sample
from skewanova.priors.weightings import DeploymentPrior

#: Cases drawn at once, so that a few arrays of them stay in the second-level cache. Every block of resamples
#: has a seed of its own: the size is part of what makes results repeat.
BLOCK_SIZE = 1 << 16


def bootstrap_estimates(
    sample: Sample,
    score: NDArray[Any],
    weighting: DeploymentPrior,
    *,
    area_estimator: str,
    n_resamples: int,
    rng: Seed,
) -> Floats:
    """Estimates of AUPREC or IAUPREC from `n_resamples` samples of as many units of each stratum.

    A sample of clusters that happens to lack a class is left out.
    """
    block = max(1, BLOCK_SIZE // len(score))
    sizes = [min(block, n_resamples - start) for start in range(0, n_resamples, block)]
    estimates = _measure(sample, score, weighting, area_estimator)
    streams = map(np.random.default_rng, block_seeds(rng, len(sizes)))
    results = np.concatenate([estimates(size, stream) for size, stream in zip(sizes, streams, strict=True)])
    return np.asarray(results[np.isfinite(results)])


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
        index = self.slot[rng.integers(0, len(self.slot), size=(size, len(self.slot)))]
        index += np.arange(size)[:, None] * self.n_slots
        return np.bincount(index.ravel(), minlength=size * self.n_slots).reshape(size, self.n_slots)


def _measure(
    sample: Sample, score: NDArray[Any], weighting: DeploymentPrior, area_estimator: str
) -> Estimates:
    """What measures a block of resamples: all rises at once or, if that will not do, curve by curve."""
    if sample.cluster is not None or sample.weight is not None:
        return _units_measure(sample, score, weighting, area_estimator)
    keys = sort_cases(sample.positive, score).keys
    counts = np.diff([np.cumsum(label)[run_ends(keys)] for label in (keys & 1, 1 - (keys & 1))], prepend=0)
    if area_estimator in BY_STEPS:
        return _rises_measure(counts, weighting, area_estimator)
    return _curve_measure(counts, weighting, area_estimator)


def _units_measure(
    sample: Sample, score: NDArray[Any], weighting: DeploymentPrior, area_estimator: str
) -> Estimates:
    """Units drawn as a whole, stratum by stratum; every case weighs what its unit was drawn."""
    weight = np.ones(len(score)) if sample.weight is None else sample.weight

    def estimate(rng: np.random.Generator) -> float:
        drawn = np.zeros(sample.n_units)
        for rows, size in sample.strata:
            drawn[rows] = np.bincount(rng.integers(0, size, size=size), minlength=size)
        weights = drawn[sample.unit] * weight
        included = weights > 0
        positive = sample.positive[included]
        if positive.all() or not positive.any():
            return np.nan
        curve = curve_from_scores(positive, score[included], weights[included])
        return iauprec(curve, weighting, area_estimator=area_estimator)

    return lambda size, rng: np.array([estimate(rng) for _ in range(size)])


def _curve_measure(counts: Counts, weighting: DeploymentPrior, area_estimator: str) -> Estimates:
    """Estimator's own kernel on every resampled curve, groups that were not drawn left out."""
    classes = [_Class(np.repeat(np.arange(len(count)), count), len(count)) for count in counts]

    def estimates(size: int, rng: np.random.Generator) -> Floats:
        true, false = (np.cumsum(group.drawn(size, rng), axis=1) for group in classes)
        curves = (_curve(t, f) for t, f in zip(true, false, strict=True))
        return np.array([iauprec(curve, weighting, area_estimator=area_estimator) for curve in curves])

    return estimates


def _curve(true: Counts, false: Counts) -> RocCurve:
    changed = np.flatnonzero(np.diff(true + false, prepend=0))
    t, f = (np.append(0.0, count[changed] / count[-1]) for count in (true, false))
    return RocCurve(f, t, np.full(len(t), np.nan), float(true[-1]), float(false[-1]))


def _rises_measure(counts: Counts, weighting: DeploymentPrior, area_estimator: str) -> Estimates:
    """Only groups with positives matter: the negatives have a slot within each, and one before each."""
    rising = np.flatnonzero(counts[0])
    slot = np.searchsorted(rising, np.arange(counts.shape[1])) * 2
    slot[rising] += 1
    positives = _Class(np.repeat(np.arange(len(rising)), counts[0][rising]), len(rising))
    negatives = _Class(np.repeat(slot, counts[1]), 2 * len(rising) + 1)

    def estimates(size: int, rng: np.random.Generator) -> Floats:
        rises = rises_of_counts(positives.drawn(size, rng), negatives.drawn(size, rng), area_estimator)
        return np.asarray(step_terms(rises, weighting, area_estimator).sum(axis=1))

    return estimates
