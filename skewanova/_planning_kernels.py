"""Power of a paired comparison, and the size that reaches it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats
from scipy.optimize import brentq

from skewanova._checks import Bools, Floats

#: Sizes beyond this many folds, or this many times the cases, count as out of reach.
MOST_FOLDS = 10_000_000
SMALLEST_FACTOR, LARGEST_FACTOR = 1e-6, 1e9
#: Standard errors that leave no doubt.
CERTAIN = 8.0


def t_power(
    difference: ArrayLike, deviation: ArrayLike, n_folds: ArrayLike, *, ratio: float, alpha: float
) -> Floats:
    """Power of the two-sided paired t test over folds, corrected by 1 + J ratio (Nadeau and Bengio 2003).

    With correlation ratio / (1 + ratio) between folds, the corrected statistic is noncentral t exactly. All
    numbers may be arrays.
    """
    return shift_power(_shift(difference, deviation, n_folds, ratio), np.asarray(n_folds) - 1, alpha)


def _shift(difference: ArrayLike, deviation: ArrayLike, n_folds: ArrayLike, ratio: float) -> Floats:
    error = np.asarray(deviation, dtype=np.float64) * np.sqrt(1 / np.asarray(n_folds) + ratio)
    return np.asarray(np.abs(difference) / error)


def shift_power(shift: ArrayLike, df: ArrayLike, alpha: float) -> Floats:
    """Power of the two-sided t test whose statistic is noncentral t with that shift."""
    shift, df = np.broadcast_arrays(np.asarray(shift, dtype=np.float64), df)
    limit = stats.t.isf(alpha / 2, df)
    certain = shift > CERTAIN * (1 + limit)  # where scipy's noncentral t runs out of digits, and power is 1
    kept = np.where(certain, 0.0, shift)
    with np.errstate(all="ignore"):  # older scipy divides by 0 on its way to tails that are next to nothing
        wrong_side = stats.nct.cdf(-limit, df, kept)  # nan for some large shifts, where it is below 1e-15
        right_side = stats.nct.sf(limit, df, kept)
    return np.where(certain, 1.0, right_side + np.nan_to_num(wrong_side))[()]


@cache
def shift_needed(df: float, power: float, alpha: float) -> float:
    """Smallest shift at which the two-sided t test has that power; 0 where even no difference has it."""
    if power <= alpha:
        return 0.0

    def excess(shift: float) -> float:
        return float(shift_power(shift, df, alpha)) - power

    high = 1.0
    while excess(high) < 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-12, rtol=1e-13))


def z_power(difference: ArrayLike, std_error: ArrayLike, alpha: float) -> Floats:
    """Power of the two-sided normal test."""
    limit, shift = -special.ndtri(alpha / 2), np.abs(difference) / np.asarray(std_error)
    return np.asarray(special.ndtr(shift - limit) + special.ndtr(-shift - limit))[()]


def limit_power(difference: ArrayLike, deviation: ArrayLike, *, ratio: float, alpha: float) -> Floats:
    """Power with infinitely many folds of the same data: what they share is left of the variance."""
    if ratio == 0:
        return np.ones(np.broadcast(difference, deviation).shape)[()]
    return z_power(difference, np.asarray(deviation) * np.sqrt(ratio), alpha)


def folds_needed(
    difference: ArrayLike, deviation: ArrayLike, *, ratio: float, alpha: float, power: float
) -> Floats:
    """Smallest number of folds with that power, for each difference; infinite where no number has it."""
    difference, deviation = np.broadcast_arrays(np.atleast_1d(difference), np.atleast_1d(deviation))
    low, high = np.ones(difference.shape, dtype=np.int64), np.full(difference.shape, 2)
    reachable = limit_power(difference, deviation, ratio=ratio, alpha=alpha) > power

    def reached(n_folds: NDArray[np.int64], at: Bools) -> Bools:
        return t_power(difference[at], deviation[at], n_folds[at], ratio=ratio, alpha=alpha) >= power

    wanted = reachable.copy()
    while wanted.any():
        wanted[wanted] = ~reached(high, wanted)
        low, high = np.where(wanted, high, low), np.where(wanted, 2 * high, high)
        reachable &= high <= MOST_FOLDS
        wanted &= reachable
    while (wanted := reachable & (high - low > 1)).any():
        middle = (low + high) // 2
        enough = np.zeros_like(wanted)
        enough[wanted] = reached(middle, wanted)
        low, high = np.where(wanted & ~enough, middle, low), np.where(wanted & enough, middle, high)
    return np.where(reachable, high.astype(np.float64), np.inf)[0 if difference.size == 1 else slice(None)]


def case_factor_over_folds(
    difference: Floats, deviation: Floats, n_folds: int, *, ratio: float, alpha: float, power: float
) -> Floats:
    """How many times as many cases have that power: they bring down the squared deviation alike."""
    with np.errstate(divide="ignore"):
        factor = (
            shift_needed(n_folds - 1, power, alpha) / _shift(difference, deviation, n_folds, ratio)
        ) ** 2
    return np.where(factor > LARGEST_FACTOR, np.inf, np.maximum(factor, SMALLEST_FACTOR))


def factor_needed(power_of: Callable[[float], float], power: float) -> float:
    """How many times as many cases have that power; infinite where no number has it, nan where unknown."""
    if np.isnan(power_of(1.0)):
        return np.nan
    if power_of(LARGEST_FACTOR) < power:
        return np.inf
    low = SMALLEST_FACTOR
    if power_of(low) >= power:
        return low
    return float(
        np.exp(brentq(lambda f: power_of(np.exp(f)) - power, np.log(low), np.log(LARGEST_FACTOR), xtol=1e-10))
    )
