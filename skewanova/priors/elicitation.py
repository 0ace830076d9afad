"""Beta distributions from quantiles that an expert states."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import scipy

from skewanova.base.checks import Floats, InputError, InputTypeError, check_fraction, check_priors

#: Smallest shape of a beta prior; with smaller ones, skews above 1e150 have weight.
SMALLEST_SHAPE = 0.1


#: Search limits of the log-odds of the mean, and of the logarithm of a + b.
MEAN_LIMITS = (-45.0, 45.0)


SIZE_LIMITS = (-8.0, 30.0)


#: Relative errors of the odds of a fitted quantile that cause a warning and an error.
MISFIT_WARNING, MISFIT_ERROR = 0.05, 0.25


#: Search limits of quantiles, in log-odds.
QUANTILE_LIMITS = (-700.0, 36.0)


def shapes_from_quantiles(quantiles: Mapping[float, float]) -> tuple[float, float, list[str]]:
    """Return shapes a, b of quantiles {share: prior}, and [] or a note on a poor fit; raise if none fit."""
    shares, priors = _check_quantiles(quantiles)
    try:
        a, b = fit_shapes(shares, priors)
    except ValueError as error:
        raise InputError(
            f"`quantiles` are too close together, or to 0 or 1, for a beta prior, but got {quantiles}; state "
            "two of these priors as the range (low, high)"
        ) from error
    if min(a, b) < SMALLEST_SHAPE:
        raise InputError(
            f"`quantiles` must leave shapes of at least {SMALLEST_SHAPE}, but {quantiles} would need "
            f"beta({a:.3g}, {b:.3g}); state two of these priors as the range (low, high)"
        )
    return a, b, _misfit_notes(shares, priors, beta_quantiles(a, b, shares))


def fit_shapes(shares: Floats, quantiles: Floats) -> tuple[float, float]:
    """Return shapes (a, b) with two quantiles, or fitted in log-odds to more; raise ValueError if none."""
    from scipy.optimize import least_squares  # slow to load, and seldom used

    start = _solve_two_quantiles(shares[[0, -1]], quantiles[[0, -1]])
    if len(shares) == 2:
        return start

    def misfits(log_shapes: Floats) -> Floats:
        a, b = np.exp(log_shapes)
        return np.asarray(scipy.special.logit(beta_quantiles(a, b, shares)) - scipy.special.logit(quantiles))

    solution = least_squares(misfits, np.log(start), x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14)
    a, b = np.exp(solution.x).tolist()
    return a, b


def beta_quantiles(a: float, b: float, shares: Floats) -> Floats:
    """Return the quantiles at several shares (same shape) of the beta distribution with shapes a and b."""
    return np.array([beta_quantile(a, b, float(share)) for share in shares])


def beta_quantile(a: float, b: float, share: float) -> float:
    """Return the quantile (a prior) at `share` of the beta distribution, its log-odds in QUANTILE_LIMITS."""

    def cdf_less_share(log_odds: float) -> float:
        return float(scipy.special.betainc(a, b, scipy.special.expit(log_odds)) - share)

    # in log-odds, because scipy.special.betaincinv fails for shapes near 1
    low, high = QUANTILE_LIMITS
    if cdf_less_share(low) >= 0 or cdf_less_share(high) <= 0:
        return float(scipy.special.expit(low if cdf_less_share(low) >= 0 else high))
    return float(scipy.special.expit(_find_root(cdf_less_share, QUANTILE_LIMITS)))


def _solve_two_quantiles(shares: Floats, quantiles: Floats) -> tuple[float, float]:
    """Return the beta shapes (a, b) with exactly two quantiles (Shih 2015); raise ValueError if none."""

    # for every a + b, one mean gives the first quantile; the second then approaches it as a + b grows
    def shapes(log_size: float) -> tuple[float, float]:
        """Return the shapes with the first quantile and this log(a + b)."""

        def shapes_of_mean(log_odds: float) -> tuple[float, float]:
            a, b = np.exp(log_size) * scipy.special.expit([log_odds, -log_odds])
            return float(a), float(b)

        def first_cdf_less_share(log_odds: float) -> float:
            return float(scipy.special.betainc(*shapes_of_mean(log_odds), quantiles[0]) - shares[0])

        return shapes_of_mean(_find_root(first_cdf_less_share, MEAN_LIMITS))

    def second_cdf_less_share(log_size: float) -> float:
        return float(scipy.special.betainc(*shapes(log_size), quantiles[1]) - shares[1])

    return shapes(_find_root(second_cdf_less_share, SIZE_LIMITS))


def _find_root(function: Callable[[float], float], limits: tuple[float, float]) -> float:
    """Return the root between two limits; raise ValueError unless the function has opposite signs there."""
    return float(scipy.optimize.brentq(function, *limits, xtol=1e-14, rtol=4 * np.finfo(np.float64).eps))


def _check_quantiles(quantiles: Mapping[float, float]) -> tuple[Floats, Floats]:
    """Return the shares (keys) and their priors (values), both ascending; raise if they are invalid."""
    if not isinstance(quantiles, Mapping):
        raise InputTypeError(
            "`quantiles` must map shares to priors, such as {0.05: 0.02, 0.95: 0.15}, "
            f"but got {type(quantiles).__name__}"
        )
    if len(quantiles) < 2:
        raise InputError(f"`quantiles` must have at least two entries, but got {quantiles}; add one")
    shares = np.array([check_fraction(share, "share of quantiles") for share in quantiles])
    priors = check_priors(list(quantiles.values()), "prior of quantiles")
    order = np.argsort(shares)
    if not (np.diff(priors[order]) > 0).all():
        raise InputError(f"`quantiles` must rise with their shares, but got {quantiles}")
    return shares[order], priors[order]


def _misfit_notes(shares: Floats, stated: Floats, fitted: Floats) -> list[str]:
    """Return a list with a note if odds of fitted quantiles are over 5 % off, else []; raise if over 25 %."""
    factor = fitted * (1 - stated) / (stated * (1 - fitted))
    off = float(np.max(np.maximum(factor, 1 / factor)) - 1)
    quantiles = ", ".join(f"{p:g}: {f:.4g} for {s:g}" for p, f, s in zip(shares, fitted, stated, strict=True))
    if off > MISFIT_ERROR:
        raise InputError(
            f"`quantiles` are not those of a beta distribution: the closest has {quantiles} (odds off by "
            f"{off:.0%}); state two of them, or in Python use skewanova.DiscretePrior(priors, weights)"
        )
    note = (
        f"the closest beta distribution has the quantiles {quantiles}; state two of them to have them exactly"
    )
    return [note] if off > MISFIT_WARNING else []
