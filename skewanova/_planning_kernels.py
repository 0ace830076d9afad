"""Power of a paired comparison, and the size that reaches it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special, stats
from scipy.optimize import brentq

#: Sizes beyond this many folds, or this many times the cases, count as out of reach.
MOST_FOLDS = 10_000_000
LARGEST_FACTOR = 1e9
#: Standard errors that leave no doubt.
CERTAIN = 8.0


def t_power(difference: float, deviation: float, n_folds: int, *, ratio: float, alpha: float) -> float:
    """Power of the two-sided paired t test over folds, corrected by 1 + J ratio (Nadeau and Bengio 2003).

    With correlation ratio / (1 + ratio) between folds, the corrected statistic is noncentral t exactly.
    """
    df = n_folds - 1
    shift = abs(difference) / (deviation * np.sqrt(1 / n_folds + ratio))
    limit = stats.t.isf(alpha / 2, df)
    if shift > CERTAIN * (1 + limit):  # where scipy's noncentral t runs out of digits, and power is 1
        return 1.0
    with np.errstate(all="ignore"):  # older scipy divides by 0 on its way to tails that are next to nothing
        wrong_side = stats.nct.cdf(-limit, df, shift)  # nan for some large shifts, where it is below 1e-15
        right_side = stats.nct.sf(limit, df, shift)
    return float(right_side + np.nan_to_num(wrong_side))


def z_power(difference: float, std_error: float, alpha: float) -> float:
    """Power of the two-sided normal test."""
    limit, shift = -special.ndtri(alpha / 2), abs(difference) / std_error
    return float(special.ndtr(shift - limit) + special.ndtr(-shift - limit))


def limit_power(difference: float, deviation: float, *, ratio: float, alpha: float) -> float:
    """Power with infinitely many folds of the same data: what they share is left of the variance."""
    return 1.0 if ratio == 0 else z_power(difference, deviation * np.sqrt(ratio), alpha)


def folds_needed(difference: float, deviation: float, *, ratio: float, alpha: float, power: float) -> float:
    """Smallest number of folds with that power; infinite where no number has it."""
    if limit_power(difference, deviation, ratio=ratio, alpha=alpha) <= power:
        return np.inf

    def reached(n_folds: int) -> bool:
        return t_power(difference, deviation, n_folds, ratio=ratio, alpha=alpha) >= power

    low, high = 1, 2
    while not reached(high):
        low, high = high, 2 * high
        if high > MOST_FOLDS:
            return np.inf
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle, high)
    return float(high)


def factor_needed(power_of: Callable[[float], float], power: float) -> float:
    """How many times as many cases have that power; infinite where no number has it, nan where unknown."""
    if np.isnan(power_of(1.0)):
        return np.nan
    if power_of(LARGEST_FACTOR) < power:
        return np.inf
    low = 1e-6
    if power_of(low) >= power:
        return low
    return float(
        np.exp(brentq(lambda f: power_of(np.exp(f)) - power, np.log(low), np.log(LARGEST_FACTOR), xtol=1e-10))
    )
