"""Estimates of one prior by several models on the same cases: whether they agree, and what they say together.

By a paired bootstrap: cases are drawn with all of their scores, so that what models share is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Floats
from skewanova.priors import mixtures
from skewanova.priors.mixtures import Counts

#: Samples of cases drawn.
N_RESAMPLES = 499


#: Share of its own variance that is added to that of each model: models may be the same.
RIDGE = 1e-9


#: Differences between models below which there is rounding only.
SAME = 1e-9


Bins = NDArray[np.intp]


class JointAgreement(NamedTuple):
    """What several models say of one prior."""

    weights: Floats  #: of the log-likelihood of each, so that of all of them falls as fast as it should
    statistic: float
    p_value: float


class Cases(NamedTuple):
    """Bin of every case by each model (a column each); unlabelled ones may not be paired."""

    positive: Bins
    negative: Bins
    unlabelled: Sequence[Bins]


def assess_agreement(
    cases: Cases, n_bins: Sequence[int], prior: float, *, rng: np.random.Generator
) -> JointAgreement:
    """Return the weights of the models and the test that they agree.

    A slope at a prior near all estimates varies about it without an end at 0, as estimates do not.
    """
    seen, drawn = (
        np.stack([mixtures.slope(counts, np.asarray(prior)) for counts in models], axis=-1)
        for models in (_counted(cases, n_bins), _resampled(cases, n_bins, rng))
    )
    covariance = np.cov(drawn.T)
    information = np.diag(covariance).copy()
    covariance += RIDGE * np.diag(information)
    weights = np.maximum(np.linalg.solve(covariance, information), 0)
    weights *= (weights @ information) / (weights @ covariance @ weights)
    of_steps, shares = np.linalg.inv(covariance), weights * information / (weights @ information)

    def distances(slopes: Floats) -> Floats:
        steps = slopes / information  # to each model's estimate, about
        off = (steps - (steps @ shares)[..., None]) * information
        return np.asarray(((off @ of_steps) * off).sum(axis=-1))

    statistic = float(distances(seen))
    as_far = distances(drawn - drawn.mean(axis=0)) >= statistic - SAME  # of models that are the same, all
    return JointAgreement(weights, statistic, float((1 + np.sum(as_far)) / (1 + len(drawn))))


def _counted(cases: Cases, n_bins: Sequence[int]) -> list[Counts]:
    """Return counts in the bins of every model."""
    paired = len(cases.unlabelled) == 1
    unlabelled = cases.unlabelled[0].T if paired else cases.unlabelled
    parts = zip(cases.positive.T, cases.negative.T, unlabelled, n_bins, strict=True)
    return [
        Counts(*(np.bincount(bins, minlength=size).astype(np.float64) for bins in classes))
        for *classes, size in parts
    ]


def _resampled(cases: Cases, n_bins: Sequence[int], rng: np.random.Generator) -> list[Counts]:
    """Return counts for resampled cases, a row a sample."""
    positive, negative = (_draws(part, n_bins, rng) for part in (cases.positive, cases.negative))
    if len(cases.unlabelled) == 1:
        unlabelled = _draws(cases.unlabelled[0], n_bins, rng)
    else:
        pairs = zip(cases.unlabelled, n_bins, strict=True)
        unlabelled = [_draws(bins[:, None], [size], rng)[0] for bins, size in pairs]
    return [Counts(*parts) for parts in zip(positive, negative, unlabelled, strict=True)]


def _draws(bins: Bins, n_bins: Sequence[int], rng: np.random.Generator) -> list[Floats]:
    """Draw counts in the bins of every model; equal rows are drawn as one multinomial cell."""
    kinds, count = np.unique(bins, axis=0, return_counts=True)
    drawn = rng.multinomial(count.sum(), count / count.sum(), size=N_RESAMPLES).astype(np.float64)
    return [drawn @ (kinds[:, [m]] == np.arange(size)).astype(np.float64) for m, size in enumerate(n_bins)]
