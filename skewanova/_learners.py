"""Four small learners on arrays, trained on many subsets of the cases and many feature sets at once.

They serve the simulations: linear and quadratic discriminants, Gaussian naive Bayes, nearest neighbours.
Positive cases stand first. Shapes: `features` (..., n_cases, n_features), `train` (..., n_folds,
n_cases) holding 1 for training cases and 0 for others, `test` (..., n_folds, n_test, n_features); scores are
(..., n_folds, n_test), a higher score speaking for the positive class.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from skewanova._checks import Floats

#: Neighbours that vote.
N_NEIGHBOURS = 15


class Moments(NamedTuple):
    """Number of training cases, means and sums of squares about them, of one class in every fold."""

    size: Floats
    mean: Floats
    scatter: Floats


Learner = Callable[[Floats, Floats, Floats, int], Floats]


def lda(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
    """Linear discriminant: log odds of two Gaussian classes with one covariance (divisor n)."""
    negative, positive = class_moments(features, train, n_positive)
    size = positive.size + negative.size
    pooled = (positive.scatter + negative.scatter) / size[..., None, None]
    direction = np.linalg.solve(pooled, (positive.mean - negative.mean)[..., None])
    middle = (positive.mean + negative.mean)[..., None, :] / 2
    return np.asarray(((test - middle) @ direction)[..., 0] + _log_odds(negative, positive))


def qda(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
    """Quadratic discriminant: log odds of two Gaussian classes with their own covariances (divisor n)."""
    negative, positive = class_moments(features, train, n_positive)
    log_density = [_log_density(test, moments) for moments in (positive, negative)]
    return np.asarray(log_density[0] - log_density[1] + _log_odds(negative, positive))


def naive_bayes(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
    """Gaussian naive Bayes: log odds with independent features (variances with divisor n)."""
    negative, positive = class_moments(features, train, n_positive)
    log_density = [_log_density_independent(test, moments) for moments in (positive, negative)]
    return np.asarray(log_density[0] - log_density[1] + _log_odds(negative, positive))


def nearest_neighbours(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
    """Positives among the nearest training cases, ties broken by the nearest case of either class.

    The second term lies between 0 and 1, so it orders only what has the same count.
    """
    cases = features[..., None, :, :]
    products = test @ np.swapaxes(cases, -1, -2)
    squared = (test**2).sum(axis=-1)[..., None] + (cases**2).sum(axis=-1)[..., None, :] - 2 * products
    distance = np.where(train[..., None, :] > 0, np.maximum(squared, 0.0), np.inf)
    nearest = np.argpartition(distance, N_NEIGHBOURS - 1, axis=-1)[..., :N_NEIGHBOURS]
    positive = np.sqrt(distance[..., :n_positive].min(axis=-1))
    negative = np.sqrt(distance[..., n_positive:].min(axis=-1))
    return np.asarray((nearest < n_positive).sum(axis=-1) + negative / (positive + negative))


LEARNERS: dict[str, Learner] = {
    "lda": lda,
    "qda": qda,
    "naive_bayes": naive_bayes,
    "nearest_neighbours": nearest_neighbours,
}


def class_moments(features: Floats, train: Floats, n_positive: int) -> tuple[Moments, Moments]:
    """Moments of the negative and the positive training cases in every fold."""
    parts = slice(n_positive, None), slice(None, n_positive)
    negative, positive = (_moments(features[..., part, :], train[..., part]) for part in parts)
    return negative, positive


def separation(features: Floats, train: Floats, n_positive: int) -> Floats:
    """Squared t (with unequal variances) between the classes in every feature: (..., n_folds, n_features)."""
    parts = slice(n_positive, None), slice(None, n_positive)
    means, errors = [], []
    for part in parts:
        cases, weight = features[..., part, :], train[..., part]
        count = weight.sum(axis=-1)[..., None]
        means.append(weight @ cases / count)
        errors.append((weight @ cases**2 / count - means[-1] ** 2) / (count - 1))
    return np.asarray((means[1] - means[0]) ** 2 / (errors[0] + errors[1]))


def _moments(features: Floats, weight: Floats) -> Moments:
    count = weight.sum(axis=-1)
    mean = weight @ features / count[..., None]
    size = features.shape[-1]
    products = (features[..., :, None] * features[..., None, :]).reshape(*features.shape[:-1], size**2)
    second = (weight @ products).reshape(*mean.shape, size)
    scatter = second - count[..., None, None] * mean[..., :, None] * mean[..., None, :]
    return Moments(np.broadcast_to(count, mean.shape[:-1]), mean, scatter)


def _log_odds(negative: Moments, positive: Moments) -> Floats:
    return np.asarray(np.log(positive.size / negative.size))[..., None]


def _log_density(test: Floats, moments: Moments) -> Floats:
    """Gaussian log density, but for a constant."""
    cov = moments.scatter / moments.size[..., None, None]
    centred = test - moments.mean[..., None, :]
    squared = (centred @ np.linalg.inv(cov) * centred).sum(axis=-1)
    return np.asarray(-(squared + np.linalg.slogdet(cov)[1][..., None]) / 2)


def _log_density_independent(test: Floats, moments: Moments) -> Floats:
    variance = np.diagonal(moments.scatter, axis1=-2, axis2=-1) / moments.size[..., None]
    squared = ((test - moments.mean[..., None, :]) ** 2 / variance[..., None, :]).sum(axis=-1)
    return np.asarray(-(squared + np.log(variance).sum(axis=-1)[..., None]) / 2)
