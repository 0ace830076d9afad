"""Power of t tests planned from a pilot, averaged over the uncertainty of the estimated variance."""

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

from skewanova.base.checks import Bools, Floats

#: Larger numbers of folds count as infinite.
MAX_FOLDS = 10_000_000


#: Limits of the factor of cases; larger factors count as infinite.
MIN_FACTOR, MAX_FACTOR = 1e-6, 1e9


#: With a larger noncentrality the normal part of t counts for nothing, and that of scipy overflows.
LARGE_NONCENTRALITY = 1e4


#: With this noncentrality, power is 1 and the wrong tail has less than 1e-15.
CERTAIN_NONCENTRALITY = 8.0


#: With this many degrees of freedom, a variance counts as known.
KNOWN_DF = 1e7


#: (Smallest degrees of freedom of the pilot, quadrature nodes). The error of power is below 1e-5 (with four
#: degrees of freedom 1e-4, with one 2e-3).
N_NODES = ((50.0, 8), (5.0, 24), (0.0, 48))


#: Degrees of freedom at which noncentralities are computed: up to the first number all, then `N_KNOTS` evenly
#: on the logarithmic scale.
N_EXACT, N_KNOTS = 8, 16


#: Tolerance of the normal quantile of power, and most iterations.
QUANTILE_TOLERANCE, MAX_STEPS = 1e-11, 100


#: Larger noncentralities are clipped, so that their squares do not overflow.
MAX_NONCENTRALITY = 1e100


#: Larger powers, and larger targets, are clipped, so that their normal quantiles are finite.
MAX_POWER, MAX_TARGET = 1 - 1e-15, 1 - 2e-15


class Pilot(NamedTuple):
    """Distribution of the ratio of a pilot's standard deviation to the true one, as nodes and weights."""

    ratio: Floats
    weight: Floats

    @classmethod
    @lru_cache(maxsize=64)
    def from_df(cls, df: float) -> Pilot:
        """Return the distribution of chi / sqrt(df) as Gauss-Laguerre nodes; just 1 if df is 1e7 or more."""
        if df >= KNOWN_DF:
            return cls(np.ones(1), np.ones(1))
        size = next(n for least, n in N_NODES if df >= least)
        k, shape = np.arange(size), df / 2 - 1
        nodes, axes = eigh_tridiagonal(2 * k + 1 + shape, np.sqrt(k[1:] * (k[1:] + shape)))  # Golub, Welsch
        pilot = cls(np.sqrt(2 * np.maximum(nodes, 0.0) / df), axes[0] ** 2)
        pilot.ratio.flags.writeable = pilot.weight.flags.writeable = False
        return pilot


def quantile_ratio(df: ArrayLike, assurance: float) -> Floats:
    """Return the value that chi / sqrt(df) exceeds with the probability `assurance`, elementwise."""
    degrees = np.asarray(df, dtype=np.float64)
    finite = np.minimum(degrees, KNOWN_DF)
    return np.where(degrees < KNOWN_DF, np.sqrt(stats.chi2.ppf(1 - assurance, finite) / finite), 1.0)


@dataclass(frozen=True, eq=False)
class FoldTest:
    """Two-sided paired t test over folds, corrected by 1 + J ratio (Nadeau and Bengio 2003).

    If the correlation between folds is ratio / (1 + ratio), the corrected statistic is exactly noncentral t.
    The degrees of freedom are those of the folds, unless `df` gives those of halvings. Power is averaged over
    the deviation, which is estimated from a pilot with `pilot_df`. Numbers may be arrays.
    """

    difference: ArrayLike
    deviation: ArrayLike
    ratio: ArrayLike
    alpha: float
    df: float | None = None
    pilot_df: float = np.inf

    def noncentrality(self, n_folds: ArrayLike) -> Floats:
        """Return |difference| divided by the standard error of its mean over this number of folds."""
        variance = 1 / np.asarray(n_folds) + np.asarray(self.ratio)
        error = np.asarray(self.deviation, dtype=np.float64) * np.sqrt(variance)
        return np.asarray(np.abs(self.difference) / error)

    def power(self, n_folds: ArrayLike) -> Floats:
        """Return the expected power of the test with this number of folds, elementwise."""
        degrees = np.asarray(n_folds) - 1 if self.df is None else self.df
        return expected_power(self.noncentrality(n_folds), degrees, self.alpha, self.pilot_df)

    def limit_power(self) -> Floats:
        """Return the power with infinitely many folds: 1 unless they share variance (ratio above 0)."""
        independent = np.equal(self.ratio, 0)
        noncentrality = replace(self, ratio=np.where(independent, 1.0, self.ratio)).noncentrality(np.inf)
        if self.df is not None:
            power = expected_power(noncentrality, self.df, self.alpha, self.pilot_df)
        else:
            pilot = Pilot.from_df(self.pilot_df)
            power = z_power(noncentrality[..., None] * pilot.ratio, 1.0, self.alpha) @ pilot.weight
        return np.where(independent, 1.0, power)[()]

    def folds_for_power(self, power: float) -> Floats:
        """Return the smallest number of folds, from 2, with this power; infinite if none up to 1e7 has it."""
        df, alpha, pilot_df = self.df, self.alpha, self.pilot_df
        needed = _interpolate_noncentrality(power, alpha, pilot_df) if df is None else None
        least = np.zeros(()) if df is None else noncentrality_for_power(df, power, alpha, pilot_df)

        def has_power(n_folds: NDArray[np.int64]) -> Bools:
            folds = n_folds.astype(np.float64)
            return np.asarray(self.noncentrality(folds) >= (least if needed is None else needed(folds - 1)))

        return find_smallest_counts(has_power, self.limit_power() > power)

    def case_factor(self, n_folds: int, power: float) -> Floats:
        """Return, elementwise, the factor of the cases for this power, from 1e-6; infinite beyond 1e9."""
        df = n_folds - 1 if self.df is None else self.df
        needed = noncentrality_for_power(df, power, self.alpha, self.pilot_df)
        with np.errstate(divide="ignore", over="ignore"):
            factor = (needed / self.noncentrality(n_folds)) ** 2
        return np.where(factor > MAX_FACTOR, np.inf, np.maximum(factor, MIN_FACTOR))


def t_power(noncentrality: ArrayLike, df: ArrayLike, alpha: float) -> Floats:
    """Return the power of the two-sided t test at level alpha with this noncentrality, elementwise."""
    noncentrality, df = np.broadcast_arrays(np.asarray(noncentrality, dtype=np.float64), df)
    limit = np.asarray(stats.t.isf(alpha / 2, df))
    # scipy's noncentral t loses its digits there
    certain = np.asarray(noncentrality > CERTAIN_NONCENTRALITY * (1 + limit))
    large = ~certain & (noncentrality > LARGE_NONCENTRALITY)
    power, uncertain = certain.astype(np.float64), ~(certain | large)
    power[large] = stats.chi2.cdf(df[large] * (noncentrality[large] / limit[large]) ** 2, df[large])
    small = np.asarray(noncentrality < CERTAIN_NONCENTRALITY)
    with np.errstate(all="ignore"):  # older scipy divides by 0 for tiny tails
        power[uncertain] = stats.nct.sf(limit[uncertain], df[uncertain], noncentrality[uncertain])
        power[small] += np.nan_to_num(stats.nct.cdf(-limit[small], df[small], noncentrality[small]))
    return power[()]


def expected_power(noncentrality: ArrayLike, df: ArrayLike, alpha: float, pilot_df: float = np.inf) -> Floats:
    """Return the t test's power, averaged over a deviation estimated with `pilot_df` degrees of freedom."""
    pilot = Pilot.from_df(pilot_df)
    noncentralities = np.asarray(noncentrality, dtype=np.float64)[..., None] * pilot.ratio
    return np.asarray(t_power(noncentralities, np.asarray(df)[..., None], alpha) @ pilot.weight)[()]


def noncentrality_for_power(df: ArrayLike, power: float, alpha: float, pilot_df: float = np.inf) -> Floats:
    """Return the smallest noncentrality with this expected power, for each df; 0 if power <= alpha."""
    degrees = np.asarray(df, dtype=np.float64)
    if power <= alpha:
        return np.zeros(degrees.shape)[()]

    def excess_quantile(noncentrality: Floats) -> Floats:
        # normal quantiles of power are almost linear in the noncentrality
        normal = special.ndtri(np.minimum(expected_power(noncentrality, degrees, alpha, pilot_df), MAX_POWER))
        return np.asarray(normal - special.ndtri(min(power, MAX_TARGET)))

    return _find_increasing_roots(excess_quantile, np.asarray(stats.t.isf(alpha / 2, degrees) + 1.0))[()]


def _find_increasing_roots(rising: Callable[[Floats], Floats], high: Floats) -> Floats:
    """Return the roots, elementwise, of functions increasing from 0 to `high` or beyond (Illinois method)."""
    low, below, last = np.zeros(high.shape), rising(np.zeros(high.shape)), np.zeros(high.shape)
    while ((above := rising(high)) < 0).any():
        high = np.where(above < 0, 2 * high, high)
    for _ in range(MAX_STEPS):
        middle = (low * above - high * below) / (above - below)
        value = rising(middle)
        if (np.abs(value) <= QUANTILE_TOLERANCE).all():
            break
        up, same_side = value > 0, np.sign(value) == last
        share = np.where(same_side, 0.5, 1.0)
        above, below = np.where(up, value, share * above), np.where(up, share * below, value)
        low, high, last = np.where(up, low, middle), np.where(up, middle, high), np.sign(value)
    return np.asarray(middle)


def chi_moments(df: ArrayLike) -> tuple[Floats, Floats]:
    """Return the mean and variance of chi / sqrt(df), the ratio of an estimated deviation to the true one."""
    degrees = np.minimum(np.asarray(df, dtype=np.float64), KNOWN_DF)
    mean = np.sqrt(2 / degrees) * special.poch(degrees / 2, 0.5)
    return np.asarray(mean), np.asarray(1 - mean**2)


def approximate_power(
    noncentrality: ArrayLike, df: ArrayLike, alpha: float, pilot_df: float = np.inf
) -> Floats:
    """Approximate :func:`expected_power` much faster (Johnson and Welch 1940), within .01 from 4 df on."""
    # The difference minus the critical value times the deviation is taken as normal.
    noncentrality = np.minimum(noncentrality, MAX_NONCENTRALITY)
    limit = special.stdtrit(np.minimum(df, KNOWN_DF), 1 - alpha / 2)
    (mean, variance), (pilot_mean, pilot_variance) = chi_moments(df), chi_moments(pilot_df)
    scale = np.sqrt(1 + noncentrality**2 * pilot_variance + limit**2 * variance)
    sides = (special.ndtr((side * noncentrality * pilot_mean - limit * mean) / scale) for side in (1, -1))
    return np.asarray(sum(sides))[()]


@cache
def _interpolate_noncentrality(power: float, alpha: float, pilot_df: float) -> Callable[[Floats], Floats]:
    """Return a spline that maps df to :func:`noncentrality_for_power` (arrays)."""
    knots = np.unique([*np.arange(1.0, N_EXACT), *np.geomspace(N_EXACT, MAX_FOLDS, N_KNOTS)])[::-1]
    # divided by the critical value of t, it is smooth in 1 / df
    ratio = noncentrality_for_power(knots, power, alpha, pilot_df) / stats.t.isf(alpha / 2, knots)
    spline = CubicSpline(1 / knots, ratio)
    return lambda df: np.asarray(spline(1 / df) * stats.t.isf(alpha / 2, df))


def z_power(difference: ArrayLike, std_error: ArrayLike, alpha: float) -> Floats:
    """Return the power of the two-sided normal test of difference / std_error at alpha; nan for 0 / 0."""
    with np.errstate(over="ignore", invalid="ignore"):  # power is 1 on overflow, and nan for 0 / 0
        limit, noncentrality = -special.ndtri(alpha / 2), np.abs(difference) / np.asarray(std_error)
    return np.asarray(special.ndtr(noncentrality - limit) + special.ndtr(-noncentrality - limit))[()]


def find_smallest_counts(has_power: Callable[[NDArray[np.int64]], Bools], reachable: Bools) -> Floats:
    """Return, elementwise, the smallest integers from 2 with the power; infinite beyond 1e7 or if none."""
    low, high = np.ones(np.shape(reachable), dtype=np.int64), np.full(np.shape(reachable), 2)
    while (pending := reachable & ~has_power(high)).any():
        low, high = np.where(pending, high, low), np.where(pending, np.minimum(2 * high, MAX_FOLDS), high)
        reachable = reachable & (low < MAX_FOLDS)
    while (high - low > 1).any():
        middle = (low + high + 1) // 2
        sufficient = has_power(middle)
        low, high = np.where(sufficient, low, middle), np.where(sufficient, middle, high)
    return np.where(reachable, high.astype(np.float64), np.inf)[()]


def case_factor_for_power(power_of: Callable[[float], float], power: float) -> float:
    """Return f with power_of(f) = power, at least 1e-6; infinite beyond 1e9; nan if power_of gives nan."""
    smallest, largest = power_of(MIN_FACTOR), power_of(MAX_FACTOR)
    if np.isnan(power_of(1.0)):
        return np.nan
    if smallest >= power:
        return MIN_FACTOR
    if np.isnan([smallest, largest]).any():
        return np.nan
    if largest < power:
        return np.inf

    def excess_power(log_factor: float) -> float:
        # exp(log(MAX_FACTOR)) is a little below MAX_FACTOR
        return (largest if log_factor == last else power_of(np.exp(log_factor))) - power

    first, last = float(np.log(MIN_FACTOR)), float(np.log(MAX_FACTOR))
    return float(min(np.exp(brentq(excess_power, first, last, xtol=1e-10)), MAX_FACTOR))
