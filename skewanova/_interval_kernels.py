"""Limits of an interval for one area between 0 and 1: bare formulas."""

from __future__ import annotations

import numpy as np
from scipy import special

from skewanova._beta_quantiles import beta_quantile
from skewanova._checks import Bools, Floats

Limits = tuple[float, float]
#: With fewer trials than this Wilson's interval covers an area too seldom (docs/studies/intervals.md).
FEW_TRIALS = 20


def two_sided(level: float, df: float = np.inf) -> float:
    """Deviate of the normal or the t distribution that leaves half of 1 - `level` on either side."""
    if not np.isfinite(df):
        return float(-special.ndtri((1 - level) / 2))
    return float(special.stdtrit(df, (1 + level) / 2))


def binomial_limits(theta: float, size: float, level: float) -> Limits:
    """Boyd et al. (2013): theta -+ z sqrt(theta (1 - theta) / n); may leave [0, 1]."""
    reach = two_sided(level) * np.sqrt(theta * (1 - theta) / size)
    return float(theta - reach), float(theta + reach)


def logit_limits(theta: float, size: float, level: float) -> Limits:
    """Boyd et al. (2013): expit(eta -+ z tau) with eta = logit(theta), tau = (n theta (1 - theta))^(-1/2)."""
    # as printed the slides show e^eta -+ z tau; the exponent is eta -+ z tau
    return delta_logit_limits(theta, float(np.sqrt(theta * (1 - theta) / size)), level)


def delta_logit_limits(theta: float, std_error: float, level: float, *, df: float = np.inf) -> Limits:
    """Limits symmetric on the logit scale: expit(eta -+ t std_error / (theta (1 - theta)))."""
    reach = two_sided(level, df) * std_error / (theta * (1 - theta))
    centre = special.logit(theta)
    return float(special.expit(centre - reach)), float(special.expit(centre + reach))


def wilson_limits(theta: float, size: float, level: float) -> Limits:
    """Wilson (1927): the proportions that a score test of `size` trials does not reject."""
    z2 = two_sided(level) ** 2
    centre = (theta + z2 / (2 * size)) / (1 + z2 / size)
    reach = np.sqrt(z2 * (theta * (1 - theta) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    return max(0.0, float(centre - reach)), min(1.0, float(centre + reach))


def clopper_pearson_limits(theta: float, size: float, level: float) -> Limits:
    """Clopper and Pearson (1934): the proportions that neither tail of `size` trials rejects."""
    wins, tail = size * theta, (1 - level) / 2
    low = beta_quantile(wins, size - wins + 1, tail) if wins > 0 else 0.0
    high = beta_quantile(wins + 1, size - wins, 1 - tail) if wins < size else 1.0
    return low, high


def thin_limits(theta: float, size: float, level: float) -> Limits:
    """Wilson's limits or, with so few trials that they are too short for an area, Clopper and Pearson's."""
    return (clopper_pearson_limits if size < FEW_TRIALS else wilson_limits)(theta, size, level)


def boundary_limits(theta: float, size: float, level: float) -> Limits:
    """Clopper and Pearson (1934) at an estimate of 1, [(alpha/2)^(1/n), 1], or mirrored at 0."""
    bound = float(((1 - level) / 2) ** (1 / size))
    return (bound, 1.0) if theta > 0.5 else (0.0, 1 - bound)


def percentile_limits(estimates: Floats, level: float) -> Limits:
    """Quantiles of resampled estimates."""
    low, high = np.quantile(estimates, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bca_limits(theta: float, estimates: Floats, acceleration: float, level: float) -> Limits:
    """Bias-corrected and accelerated quantiles of resampled estimates (Efron 1987)."""
    below = np.mean(estimates < theta) + np.mean(estimates == theta) / 2
    shift = special.ndtri(np.clip(below, 0.5 / len(estimates), 1 - 0.5 / len(estimates)))
    moved = shift + two_sided(level) * np.array([-1.0, 1.0])
    share = special.ndtr(shift + moved / (1 - acceleration * moved))
    low, high = np.quantile(estimates, share)
    return float(low), float(high)


def acceleration_of(influence: Floats, positive: Bools) -> float:
    """Acceleration from influence values of two samples: a sixth of the skewness of their mean."""
    parts = [(influence[rows], np.count_nonzero(rows)) for rows in (positive, ~positive)]
    square = sum(float((values**2).sum()) / size**2 for values, size in parts)
    cube = sum(float((values**3).sum()) / size**3 for values, size in parts)
    return cube / (6 * square**1.5) if square > 0 else 0.0


def t_limits(estimates: Floats, level: float) -> Limits:
    """Mean -+ t s / sqrt(K) over K folds; may leave [0, 1]."""
    n_folds = len(estimates)
    reach = special.stdtrit(n_folds - 1, (1 + level) / 2) * estimates.std(ddof=1) / np.sqrt(n_folds)
    return float(estimates.mean() - reach), float(estimates.mean() + reach)
