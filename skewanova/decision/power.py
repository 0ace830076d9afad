"""Power of a test that is planned from a pilot, whose variance is not known but estimated."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special, stats
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

from skewanova.base.checks import Bools, Floats, check_fraction

#: Sizes beyond this many folds, or this many times the cases, count as out of reach.
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
    """What the deviation seen may be of the true one, and how probable each is."""

    ratio: Floats
    weight: Floats

    @classmethod
    @lru_cache(maxsize=64)  # a plan asks for the same again and again
    def expected(cls, df: float) -> Pilot:
        """All that a pilot with these degrees of freedom allows: chi / sqrt(df), by Gauss-Laguerre nodes."""
        if df >= KNOWN_DF:
            return cls(np.ones(1), np.ones(1))
        size = next(n for least, n in N_NODES if df >= least)
        k, shape = np.arange(size), df / 2 - 1
        beside = np.sqrt(k[1:] * (k[1:] + shape))  # Golub and Welsch 1969
        nodes, axes = np.linalg.eigh(np.diag(2 * k + 1 + shape) + np.diag(beside, 1) + np.diag(beside, -1))
        pilot = cls(np.sqrt(2 * np.maximum(nodes, 0.0) / df), axes[0] ** 2)
        pilot.ratio.flags.writeable = pilot.weight.flags.writeable = False
        return pilot

    @classmethod
    def assured(cls, df: float, assurance: float) -> Pilot:
        """The one that a pilot's deviation exceeds with this probability."""
        return cls(np.array([assured_ratio(df, assurance)]), np.ones(1))

    def mean(self, power: Floats) -> Floats:
        """Mean of powers of which the last axis goes with the deviations."""
        return np.asarray(power @ self.weight)


def assured_ratio(df: ArrayLike, assurance: float) -> Floats:
    """What a deviation seen is of the true one at least, with this probability."""
    degrees = np.asarray(df, dtype=np.float64)
    finite = np.minimum(degrees, KNOWN_DF)
    return np.where(degrees < KNOWN_DF, np.sqrt(stats.chi2.ppf(1 - assurance, finite) / finite), 1.0)


def t_power(
    difference: ArrayLike,
    deviation: ArrayLike,
    n_folds: ArrayLike,
    *,
    ratio: ArrayLike,
    alpha: float,
    df: float | None = None,
    pilot_df: float = np.inf,
) -> Floats:
    """Power of the two-sided paired t test over folds, corrected by 1 + J ratio (Nadeau and Bengio 2003).

    With correlation ratio / (1 + ratio) between folds, the corrected statistic is noncentral t exactly. All
    numbers may be arrays. The degrees of freedom are those of the folds unless halvings give them. Where the
    deviation is a pilot's, the power is the one to be expected over what the true one may be.
    """
    degrees = np.asarray(n_folds) - 1 if df is None else df
    return expected_power(shift_of(difference, deviation, n_folds, ratio), degrees, alpha, pilot_df)


def shift_of(difference: ArrayLike, deviation: ArrayLike, n_folds: ArrayLike, ratio: ArrayLike) -> Floats:
    """Difference in standard errors of its mean over folds."""
    error = np.asarray(deviation, dtype=np.float64) * np.sqrt(1 / np.asarray(n_folds) + np.asarray(ratio))
    return np.asarray(np.abs(difference) / error)


def shift_power(shift: ArrayLike, df: ArrayLike, alpha: float) -> Floats:
    """Power of the two-sided t test whose statistic is noncentral t with that shift."""
    shift, df = np.broadcast_arrays(np.asarray(shift, dtype=np.float64), df)
    limit = np.asarray(stats.t.isf(alpha / 2, df))
    certain = shift > CERTAIN * (1 + limit)  # where scipy's noncentral t runs out of digits, and power is 1
    power = np.asarray(certain, dtype=np.float64)
    doubtful, small = (
        np.asarray(~certain),
        np.asarray(shift < CERTAIN),
    )  # the wrong side has less than 1e-15 beyond it
    with np.errstate(all="ignore"):  # older scipy divides by 0 on its way to tails that are next to nothing
        power[doubtful] = stats.nct.sf(limit[doubtful], df[doubtful], shift[doubtful])
        power[small] += np.nan_to_num(stats.nct.cdf(-limit[small], df[small], shift[small]))
    return power[()]


def expected_power(shift: ArrayLike, df: ArrayLike, alpha: float, pilot_df: float = np.inf) -> Floats:
    """Mean power where the deviation behind the shift is that of a pilot with so many degrees of freedom."""
    pilot = Pilot.expected(pilot_df)
    shifts = np.asarray(shift, dtype=np.float64)[..., None] * pilot.ratio
    return pilot.mean(shift_power(shifts, np.asarray(df)[..., None], alpha))[()]


def shift_needed(df: ArrayLike, power: float, alpha: float, pilot_df: float = np.inf) -> Floats:
    """Smallest shift at which the two-sided t test has that power; 0 where even no difference has it."""
    degrees = np.asarray(df, dtype=np.float64)
    if power <= alpha:
        return np.zeros(degrees.shape)[()]

    def excess(shift: Floats) -> Floats:  # nearly straight
        return np.asarray(
            special.ndtri(np.minimum(expected_power(shift, degrees, alpha, pilot_df), TOP_POWER))
        )

    return _root(excess, float(special.ndtri(power)), np.asarray(stats.t.isf(alpha / 2, degrees) + 1.0))[()]


def _root(rising: Callable[[Floats], Floats], target: float, high: Floats) -> Floats:
    """Where a function that rises from 0 on is as large as wanted, by false position (Illinois)."""
    low, below = np.zeros(high.shape), rising(np.zeros(high.shape)) - target
    while ((above := rising(high) - target) < 0).any():
        high = np.where(above < 0, 2 * high, high)
    last = np.zeros(high.shape)
    for _ in range(MAX_STEPS):
        middle = (low * above - high * below) / (above - below)
        value = rising(middle) - target
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
    """Mean and variance of chi / sqrt(df), which is what a deviation seen is of the true one."""
    degrees = np.minimum(np.asarray(df, dtype=np.float64), KNOWN_DF)
    mean = np.sqrt(2 / degrees) * special.poch(degrees / 2, 0.5)
    return np.asarray(mean), np.asarray(1 - mean**2)


def approximate_power(shift: ArrayLike, df: ArrayLike, alpha: float, pilot_df: float = np.inf) -> Floats:
    """:func:`expected_power` to .01 from four degrees of freedom on, at power .8 to .005, and far faster.

    The difference less the limit of t, in deviations seen, is taken for normal (Johnson and Welch 1940).
    """
    shift = np.minimum(shift, CERTAIN_SHIFT)
    limit = special.stdtrit(np.minimum(df, KNOWN_DF), 1 - alpha / 2)
    (mean, variance), (seen, var_of_var) = chi_moments(df), chi_moments(pilot_df)
    scale = np.sqrt(1 + shift**2 * var_of_var + limit**2 * variance)
    sides = (special.ndtr((side * shift * seen - limit * mean) / scale) for side in (1, -1))
    return np.asarray(sum(sides))[()]


@cache
def _shifts_needed(power: float, alpha: float, pilot_df: float) -> Callable[[Floats], Floats]:
    """:func:`shift_needed` at any degrees of freedom: over the limit of t it is smooth in their inverse."""
    knots = np.unique([*np.arange(1.0, N_EXACT), *np.geomspace(N_EXACT, MAX_FOLDS, N_KNOTS)])[::-1]
    over = shift_needed(knots, power, alpha, pilot_df) / stats.t.isf(alpha / 2, knots)
    spline = CubicSpline(1 / knots, over)
    return lambda df: np.asarray(spline(1 / df) * stats.t.isf(alpha / 2, df))


def z_power(difference: ArrayLike, std_error: ArrayLike, alpha: float) -> Floats:
    """Power of the two-sided normal test."""
    with np.errstate(over="ignore", invalid="ignore"):  # certain; unknown where no difference meets no error
        limit, shift = -special.ndtri(alpha / 2), np.abs(difference) / np.asarray(std_error)
    return np.asarray(special.ndtr(shift - limit) + special.ndtr(-shift - limit))[()]


def limit_power(
    difference: ArrayLike,
    deviation: ArrayLike,
    *,
    ratio: ArrayLike,
    alpha: float,
    df: float | None = None,
    pilot_df: float = np.inf,
) -> Floats:
    """Power with infinitely many folds of the same data: what they share is left of the variance."""
    nothing = np.equal(ratio, 0)
    left = np.where(nothing, 1.0, ratio)
    shift = shift_of(difference, deviation, np.inf, left)
    if df is not None:
        power = expected_power(shift, df, alpha, pilot_df)
    else:
        pilot = Pilot.expected(pilot_df)
        power = pilot.mean(z_power(np.asarray(shift)[..., None] * pilot.ratio, 1.0, alpha))
    return np.where(nothing, 1.0, power)[()]


def folds_needed(
    difference: ArrayLike,
    deviation: ArrayLike,
    *,
    ratio: ArrayLike,
    alpha: float,
    power: float,
    df: float | None = None,
    pilot_df: float = np.inf,
) -> Floats:
    """Smallest number of folds with that power, for each difference; infinite where no number has it."""
    difference, deviation, ratio = np.broadcast_arrays(np.atleast_1d(difference), deviation, ratio)
    options: dict[str, Any] = {"alpha": alpha, "df": df, "pilot_df": pilot_df}
    reachable = limit_power(difference, deviation, ratio=ratio, **options) > power
    needed = _shifts_needed(power, alpha, pilot_df)

    def reached(n_folds: NDArray[np.int64], at: Bools) -> Bools:
        folds = n_folds[at].astype(np.float64)
        least = needed(folds - 1) if df is None else shift_needed(df, power, alpha, pilot_df)
        return np.asarray(shift_of(difference[at], deviation[at], folds, ratio[at]) >= least)

    return smallest_numbers(reached, reachable)[0 if difference.size == 1 else slice(None)]


def smallest_numbers(reached: Callable[[NDArray[np.int64], Bools], Bools], reachable: Bools) -> Floats:
    """Smallest whole number from 2 on with which each is reached, infinite beyond the most folds.

    `reached` takes a number each, and which of them are asked for.
    """
    low, high = np.ones(reachable.shape, dtype=np.int64), np.full(reachable.shape, 2)
    reachable = reachable.copy()
    pending = reachable.copy()
    while pending.any():
        pending[pending] = ~reached(high, pending)
        low, high = np.where(pending, high, low), np.where(pending, np.minimum(2 * high, MAX_FOLDS), high)
        reachable &= low < MAX_FOLDS
        pending &= reachable
    while (pending := reachable & (high - low > 1)).any():
        middle = (low + high) // 2
        sufficient = np.zeros_like(pending)
        sufficient[pending] = reached(middle, pending)
        low, high = np.where(pending & ~sufficient, middle, low), np.where(pending & sufficient, middle, high)
    return np.where(reachable, high.astype(np.float64), np.inf)


def case_factor_over_folds(
    difference: Floats,
    deviation: Floats,
    n_folds: int,
    *,
    ratio: ArrayLike,
    alpha: float,
    power: float,
    df: float | None = None,
    pilot_df: float = np.inf,
) -> Floats:
    """How many times as many cases have that power: they bring down the squared deviation alike."""
    needed = shift_needed(n_folds - 1 if df is None else df, power, alpha, pilot_df)
    with np.errstate(divide="ignore"):
        factor = (needed / shift_of(difference, deviation, n_folds, ratio)) ** 2
    return np.where(factor > MAX_FACTOR, np.inf, np.maximum(factor, MIN_FACTOR))


def factor_needed(power_of: Callable[[float], float], power: float) -> float:
    """How many times as many cases have that power; infinite where no number has it, nan where unknown."""
    power = check_fraction(power, "power")
    low, high = MIN_FACTOR, MAX_FACTOR
    at_ends = power_of(low), power_of(high)
    if np.isnan(power_of(1.0)):
        return np.nan
    if at_ends[0] >= power:
        return low
    if np.isnan(at_ends).any():
        return np.nan
    if at_ends[1] < power:
        return np.inf
    first, last = float(np.log(low)), float(np.log(high))
    powers = dict(zip((first, last), at_ends, strict=True))  # exp(log(high)) is a little less

    def excess(log_factor: float) -> float:
        return (powers[log_factor] if log_factor in powers else power_of(np.exp(log_factor))) - power

    return float(min(np.exp(brentq(excess, first, last, xtol=1e-10)), high))
