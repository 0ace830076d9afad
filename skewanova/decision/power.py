"""Power of a test that is planned from a pilot, whose variance is not known but estimated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats
from scipy.interpolate import CubicSpline
from scipy.linalg import eigh_tridiagonal
from scipy.optimize import brentq

from skewanova.base.checks import Bools, Floats, check_fraction

#: Sizes beyond this many folds, or this many times the cases, count as infinite.
MAX_FOLDS = 10_000_000


MIN_FACTOR, MAX_FACTOR = 1e-6, 1e9


#: Standard errors that leave no doubt.
CERTAIN = 8.0


#: With this many degrees of freedom a variance is as good as known.
KNOWN_DF = 1e7


#: Nodes over the deviation of a pilot of at least so many degrees of freedom: power is right to 1e-5, with
#: four degrees of freedom to 1e-4, with one to 2e-3.
N_NODES = ((50.0, 8), (5.0, 24), (0.0, 48))


#: Degrees of freedom at which shifts are worked out, all of the first and then evenly in their logarithm;
#: between these they are interpolated.
N_EXACT, N_KNOTS = 8, 16


#: How exactly, in standard errors, and in how many steps at most.
SHIFT_SLACK, MAX_STEPS = 1e-11, 100


#: A shift beyond all doubt, whose square is still a number.
CERTAIN_SHIFT = 1e100


#: Power that is as good as 1, so that its normal quantile is finite.
TOP_POWER = 1 - 1e-15


class Pilot(NamedTuple):
    """Ratios of a pilot's deviation to the true one, and their probabilities."""

    ratio: Floats
    weight: Floats

    @classmethod
    @lru_cache(maxsize=64)  # a plan asks for the same again and again
    def expected(cls, df: float) -> Pilot:
        """Return the distribution chi / sqrt(df) of a pilot's deviation, at Gauss-Laguerre nodes."""
        if df >= KNOWN_DF:
            return cls(np.ones(1), np.ones(1))
        size = next(n for least, n in N_NODES if df >= least)
        k, shape = np.arange(size), df / 2 - 1
        nodes, axes = eigh_tridiagonal(2 * k + 1 + shape, np.sqrt(k[1:] * (k[1:] + shape)))  # Golub, Welsch
        pilot = cls(np.sqrt(2 * np.maximum(nodes, 0.0) / df), axes[0] ** 2)
        pilot.ratio.flags.writeable = pilot.weight.flags.writeable = False
        return pilot

    @classmethod
    def assured(cls, df: float, assurance: float) -> Pilot:
        """Return the ratio that a pilot's deviation exceeds with this probability."""
        return cls(np.array([assured_ratio(df, assurance)]), np.ones(1))


def assured_ratio(df: ArrayLike, assurance: float) -> Floats:
    """Return the ratio to the true deviation that a pilot's deviation exceeds with this probability."""
    degrees = np.asarray(df, dtype=np.float64)
    finite = np.minimum(degrees, KNOWN_DF)
    return np.where(degrees < KNOWN_DF, np.sqrt(stats.chi2.ppf(1 - assurance, finite) / finite), 1.0)


@dataclass(frozen=True, eq=False)
class FoldTest:
    """The two-sided paired t test over folds, corrected by 1 + J ratio (Nadeau and Bengio 2003).

    With correlation ratio / (1 + ratio) between folds, the corrected statistic is noncentral t exactly. The
    degrees of freedom are those of the folds unless halvings give them. Where the deviation is a pilot's,
    power is the mean over what the true one may be. Numbers may be arrays.
    """

    difference: ArrayLike
    deviation: ArrayLike
    ratio: ArrayLike
    alpha: float
    df: float | None = None
    pilot_df: float = np.inf

    def shift(self, n_folds: ArrayLike) -> Floats:
        """Return the difference in standard errors of its mean over folds."""
        error = np.asarray(self.deviation, dtype=np.float64) * np.sqrt(
            1 / np.asarray(n_folds) + np.asarray(self.ratio)
        )
        return np.asarray(np.abs(self.difference) / error)

    def power(self, n_folds: ArrayLike) -> Floats:
        """Return the power with so many folds."""
        degrees = np.asarray(n_folds) - 1 if self.df is None else self.df
        return expected_power(self.shift(n_folds), degrees, self.alpha, self.pilot_df)

    def limit_power(self) -> Floats:
        """Return the power with infinitely many folds, which leave the variance that they share."""
        independent = np.equal(self.ratio, 0)
        shift = replace(self, ratio=np.where(independent, 1.0, self.ratio)).shift(np.inf)
        if self.df is not None:
            power = expected_power(shift, self.df, self.alpha, self.pilot_df)
        else:
            pilot = Pilot.expected(self.pilot_df)
            power = z_power(shift[..., None] * pilot.ratio, 1.0, self.alpha) @ pilot.weight
        return np.where(independent, 1.0, power)[()]

    def folds_needed(self, power: float) -> Floats:
        """Return the smallest number of folds with that power; infinite where no number has it."""
        df, alpha, pilot_df = self.df, self.alpha, self.pilot_df
        needed = _shifts_needed(power, alpha, pilot_df) if df is None else None
        least = np.zeros(()) if df is None else shift_needed(df, power, alpha, pilot_df)

        def has_power(n_folds: NDArray[np.int64]) -> Bools:
            folds = n_folds.astype(np.float64)
            return np.asarray(self.shift(folds) >= (least if needed is None else needed(folds - 1)))

        return smallest_numbers(has_power, self.limit_power() > power)

    def case_factor(self, n_folds: int, power: float) -> Floats:
        """Return how many times the cases have that power: these divide the squared deviation."""
        needed = shift_needed(n_folds - 1 if self.df is None else self.df, power, self.alpha, self.pilot_df)
        with np.errstate(divide="ignore"):
            factor = (needed / self.shift(n_folds)) ** 2
        return np.where(factor > MAX_FACTOR, np.inf, np.maximum(factor, MIN_FACTOR))


def shift_power(shift: ArrayLike, df: ArrayLike, alpha: float) -> Floats:
    """Return the power of the two-sided t test whose statistic is noncentral t with that shift."""
    shift, df = np.broadcast_arrays(np.asarray(shift, dtype=np.float64), df)
    limit = np.asarray(stats.t.isf(alpha / 2, df))
    certain = np.asarray(shift > CERTAIN * (1 + limit))  # scipy's noncentral t runs out of digits: power 1
    power, uncertain = certain.astype(np.float64), ~certain
    small = np.asarray(shift < CERTAIN)  # beyond, the wrong side has less than 1e-15
    with np.errstate(all="ignore"):  # older scipy divides by 0 on its way to tails that are next to nothing
        power[uncertain] = stats.nct.sf(limit[uncertain], df[uncertain], shift[uncertain])
        power[small] += np.nan_to_num(stats.nct.cdf(-limit[small], df[small], shift[small]))
    return power[()]


def expected_power(shift: ArrayLike, df: ArrayLike, alpha: float, pilot_df: float = np.inf) -> Floats:
    """Return the mean power where a pilot with so many degrees of freedom estimates the deviation."""
    pilot = Pilot.expected(pilot_df)
    shifts = np.asarray(shift, dtype=np.float64)[..., None] * pilot.ratio
    return np.asarray(shift_power(shifts, np.asarray(df)[..., None], alpha) @ pilot.weight)[()]


def shift_needed(df: ArrayLike, power: float, alpha: float, pilot_df: float = np.inf) -> Floats:
    """Return the smallest shift with that power of the two-sided t test; 0 where no difference has it."""
    degrees = np.asarray(df, dtype=np.float64)
    if power <= alpha:
        return np.zeros(degrees.shape)[()]

    def excess(shift: Floats) -> Floats:  # nearly straight
        normal = special.ndtri(np.minimum(expected_power(shift, degrees, alpha, pilot_df), TOP_POWER))
        return np.asarray(normal - special.ndtri(power))

    return _root(excess, np.asarray(stats.t.isf(alpha / 2, degrees) + 1.0))[()]


def _root(rising: Callable[[Floats], Floats], high: Floats) -> Floats:
    """Return the roots above 0 of rising functions, all at once, by false position (Illinois)."""
    low, below, last = np.zeros(high.shape), rising(np.zeros(high.shape)), np.zeros(high.shape)
    while ((above := rising(high)) < 0).any():
        high = np.where(above < 0, 2 * high, high)
    for _ in range(MAX_STEPS):
        middle = (low * above - high * below) / (above - below)
        value = rising(middle)
        if (np.abs(value) <= SHIFT_SLACK).all():
            break
        up, again = value > 0, np.sign(value) == last  # an end that stays twice counts half
        above, below = (
            np.where(up, value, np.where(again, above / 2, above)),
            np.where(up, np.where(again, below / 2, below), value),
        )
        low, high, last = np.where(up, low, middle), np.where(up, middle, high), np.sign(value)
    return np.asarray(middle)


def chi_moments(df: ArrayLike) -> tuple[Floats, Floats]:
    """Return mean and variance of chi / sqrt(df), the ratio of an estimated deviation to the true one."""
    degrees = np.minimum(np.asarray(df, dtype=np.float64), KNOWN_DF)
    mean = np.sqrt(2 / degrees) * special.poch(degrees / 2, 0.5)
    return np.asarray(mean), np.asarray(1 - mean**2)


def approximate_power(shift: ArrayLike, df: ArrayLike, alpha: float, pilot_df: float = np.inf) -> Floats:
    """Approximate :func:`expected_power` to .01 from four degrees of freedom on, at power .8 to .005.

    The difference less the limit of t is taken for normal (Johnson and Welch 1940), which is far faster.
    """
    shift = np.minimum(shift, CERTAIN_SHIFT)
    limit = special.stdtrit(np.minimum(df, KNOWN_DF), 1 - alpha / 2)
    (mean, variance), (pilot_mean, pilot_variance) = chi_moments(df), chi_moments(pilot_df)
    scale = np.sqrt(1 + shift**2 * pilot_variance + limit**2 * variance)
    sides = (special.ndtr((side * shift * pilot_mean - limit * mean) / scale) for side in (1, -1))
    return np.asarray(sum(sides))[()]


@cache
def _shifts_needed(power: float, alpha: float, pilot_df: float) -> Callable[[Floats], Floats]:
    """Interpolate :func:`shift_needed`: over the limit of t it is smooth in the inverse of df."""
    knots = np.unique([*np.arange(1.0, N_EXACT), *np.geomspace(N_EXACT, MAX_FOLDS, N_KNOTS)])[::-1]
    over = shift_needed(knots, power, alpha, pilot_df) / stats.t.isf(alpha / 2, knots)
    spline = CubicSpline(1 / knots, over)
    return lambda df: np.asarray(spline(1 / df) * stats.t.isf(alpha / 2, df))


def z_power(difference: ArrayLike, std_error: ArrayLike, alpha: float) -> Floats:
    """Return the power of the two-sided normal test."""
    with np.errstate(over="ignore", invalid="ignore"):  # certain; unknown where no difference meets no error
        limit, shift = -special.ndtri(alpha / 2), np.abs(difference) / np.asarray(std_error)
    return np.asarray(special.ndtr(shift - limit) + special.ndtr(-shift - limit))[()]


def smallest_numbers(has_power: Callable[[NDArray[np.int64]], Bools], reachable: Bools) -> Floats:
    """Return the smallest whole numbers from 2 on that have the power, infinite beyond the most folds."""
    low, high = np.ones(np.shape(reachable), dtype=np.int64), np.full(np.shape(reachable), 2)
    while (pending := reachable & ~has_power(high)).any():
        low, high = np.where(pending, high, low), np.where(pending, np.minimum(2 * high, MAX_FOLDS), high)
        reachable = reachable & (low < MAX_FOLDS)
    while (high - low > 1).any():
        middle = (low + high + 1) // 2
        sufficient = has_power(middle)
        low, high = np.where(sufficient, low, middle), np.where(sufficient, middle, high)
    return np.where(reachable, high.astype(np.float64), np.inf)[()]


def factor_needed(power_of: Callable[[float], float], power: float) -> float:
    """Return how many times the cases have that power; infinite where no number has it, nan where unknown."""
    power = check_fraction(power, "power")
    smallest, largest = power_of(MIN_FACTOR), power_of(MAX_FACTOR)
    if np.isnan(power_of(1.0)):
        return np.nan
    if smallest >= power:
        return MIN_FACTOR
    if np.isnan([smallest, largest]).any():
        return np.nan
    if largest < power:
        return np.inf

    def excess(log_factor: float) -> float:  # exp(log(MAX_FACTOR)) is a little less
        return (largest if log_factor == last else power_of(np.exp(log_factor))) - power

    first, last = float(np.log(MIN_FACTOR)), float(np.log(MAX_FACTOR))
    return float(min(np.exp(brentq(excess, first, last, xtol=1e-10)), MAX_FACTOR))
