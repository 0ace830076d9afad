"""Jackknife values of clean cases of two classes, as the package has them."""

import numpy as np

from skewanova.inference.jackknife import left_out
from skewanova.inference.sampling import Sample


def jackknife_values(positive, score, weighting, area_estimator="trapezoid"):
    """Area, and the value of every case."""
    found = left_out(Sample(np.asarray(positive)), np.asarray(score), [weighting], area_estimator)
    return found.estimate[0], found.rows()[:, 0]


def spread_of(values, positive):
    """Standard error from the values of all cases, and its degrees of freedom."""
    return Sample(np.asarray(positive)).spread(np.asarray(values))


def covariance_of(deviations):
    """Covariance of the models at the first prior from deviations (n_units, n_models, n_priors)."""
    first = deviations[..., 0]
    return first.T @ first
