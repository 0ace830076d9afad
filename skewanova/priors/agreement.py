"""Estimates of one prior by several models on the same cases: whether they agree, and what they say together.

By a paired bootstrap: cases are drawn with all of their scores, so that what models share is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from scipy.stats import norm

from skewanova.base.checks import Floats
from skewanova.priors import mixtures
from skewanova.priors.mixtures import Counts

#: Samples of cases drawn.
N_RESAMPLES = 499


Bins = NDArray[np.intp]


class Together(NamedTuple):
    """What several models say of one prior, on the scale of its angle, arcsin(sqrt(prior)).

    On that scale an estimate varies about alike wherever it lies, and 0 is no further off than it should be.
    """

    angle: float
    std_error: float
    weights: Floats
    statistic: float
    p_value: float


class Cases(NamedTuple):
    """Bin of every case by each model (a column each); unlabelled ones may not be paired."""

    positive: Bins
    negative: Bins
    unlabelled: Sequence[Bins]


def together(cases: Cases, n_bins: Sequence[int], *, rng: np.random.Generator) -> Together:
    """Pool estimates by how much they vary and go together; test whether they differ."""
    seen, drawn = _estimates(_counted(cases, n_bins)), _estimates(_resampled(cases, n_bins, rng))
    covariance = np.cov(drawn.T) + 1e-9 * np.eye(len(seen))
    weights = np.maximum(np.linalg.solve(covariance, np.ones(len(seen))), 0)
    weights /= weights.sum()
    inverse = np.linalg.inv(covariance)

    def apart(values: Floats) -> Floats:
        from_mean = values - (values @ weights)[..., None]
        return np.asarray(((from_mean @ inverse) * from_mean).sum(axis=-1))

    statistic = float(apart(seen))
    p_value = (1 + np.sum(apart(drawn - drawn.mean(axis=0)) >= statistic)) / (1 + len(drawn))
    least = 0.5 / np.sqrt(max(len(part) for part in cases.unlabelled))  # with the labels of all of them
    error = max(float(np.sqrt(weights @ covariance @ weights)), float(least))
    return Together(float(weights @ seen), error, weights, statistic, float(p_value))


def weighting(found: Together, share: float, n_places: int, n_unlabelled: int) -> tuple[Floats, Floats]:
    """Log-odds of the middle share, and the log of the likelihood over its maximum there."""
    ends = mixtures.ends(np.asarray(float(n_unlabelled)))
    with np.errstate(divide="ignore"):
        limits = logit(interval(found, share))
    low, high = np.clip(limits, *ends).tolist()
    log_odds = np.linspace(low, high, n_places)
    return log_odds, -(((_angle(expit(log_odds)) - found.angle) / found.std_error) ** 2) / 2


def interval(found: Together, level: float) -> tuple[float, float]:
    """Limits of the pooled prior."""
    reach = norm.ppf((1 + level) / 2) * found.std_error
    low, high = np.clip([found.angle - reach, found.angle + reach], 0, np.pi / 2)
    return float(np.sin(low) ** 2), float(np.sin(high) ** 2)


def _angle(prior: Floats) -> Floats:
    return np.asarray(np.arcsin(np.sqrt(prior)))


def _counted(cases: Cases, n_bins: Sequence[int]) -> list[Counts]:
    """Counts in the bins of every model."""
    parts = cases.positive, cases.negative
    return [
        Counts(*(_tally(part, size) for part in (*(p[:, m] for p in parts), _column(cases, m))))
        for m, size in enumerate(n_bins)
    ]


def _column(cases: Cases, model: int) -> Bins:
    if len(cases.unlabelled) == 1:
        return np.asarray(cases.unlabelled[0][:, model])
    return cases.unlabelled[model]


def _tally(bins: Bins, size: int) -> Floats:
    return np.bincount(bins, minlength=size).astype(np.float64)


def _resampled(cases: Cases, n_bins: Sequence[int], rng: np.random.Generator) -> list[Counts]:
    """The same for samples of cases, a row each."""
    positive, negative = (_draws(part, n_bins, rng) for part in (cases.positive, cases.negative))
    if len(cases.unlabelled) == 1:
        unlabelled = _draws(cases.unlabelled[0], n_bins, rng)
    else:
        pairs = zip(cases.unlabelled, n_bins, strict=True)
        unlabelled = [_draws(bins[:, None], [size], rng)[0] for bins, size in pairs]
    return [Counts(*parts) for parts in zip(positive, negative, unlabelled, strict=True)]


def _draws(bins: Bins, n_bins: Sequence[int], rng: np.random.Generator) -> list[Floats]:
    """Counts in the bins of every model over samples of the rows: equal rows are drawn together."""
    kinds, count = np.unique(bins, axis=0, return_counts=True)
    drawn = rng.multinomial(count.sum(), count / count.sum(), size=N_RESAMPLES).astype(np.float64)
    return [drawn @ (kinds[:, [m]] == np.arange(size)).astype(np.float64) for m, size in enumerate(n_bins)]


def _estimates(counts: Sequence[Counts]) -> Floats:
    """Angle by each model, in the last axis."""
    return np.stack([_angle(mixtures.likeliest_prior(each)) for each in counts], axis=-1)
