"""Beta priors from stated quantiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import scipy

from skewanova.base.checks import Floats, InputError, InputTypeError, check_priors

#: Log-odds of the mean and logarithm of a + b between which the shapes are sought.
MEAN_LIMITS = (-45.0, 45.0)


SIZE_LIMITS = (-8.0, 30.0)


#: A fitted quantile off by more than the first share of its odds is told, by more than the second refused.
MISFIT_WARNING, MISFIT_ERROR = 0.05, 0.25


#: Log-odds between which quantiles are sought.
QUANTILE_LIMITS = (-700.0, 36.0)


RELATIVE_TOLERANCE = 4 * float(np.finfo(np.float64).eps)


def shapes_from_quantiles(
    quantiles: Mapping[float, float], *, smallest: float
) -> tuple[float, float, list[str]]:
    """Return beta shapes (a, b) of at least `smallest` from stated quantiles, and notes on the fit."""
    shares, priors = _check_quantiles(quantiles)
    try:
        a, b = fit_shapes(shares, priors)
    except ValueError as error:
        raise InputError(f"`quantiles` lie too close together for a beta prior: {quantiles}") from error
    if min(a, b) < smallest:
        raise InputError(
            f"`quantiles` must leave shapes of at least {smallest}, but {quantiles} would need "
            f"beta({a:.3g}, {b:.3g}); narrow the quantiles"
        )
    return a, b, _misfit_notes(shares, priors, beta_quantiles(a, b, shares))


def fit_shapes(shares: Floats, quantiles: Floats) -> tuple[float, float]:
    """Return beta shapes (a, b) with two given quantiles, or the least-squares fit to more.

    Two quantiles fix one beta distribution (Shih 2015): for every a + b one mean puts the first where it
    should be, and the distance to the second then falls as a + b grows.
    """
    from scipy.optimize import least_squares  # heavy, and seldom needed

    start = _solve_two_quantiles(shares[[0, -1]], quantiles[[0, -1]])
    if len(shares) == 2:
        return start

    def misfit(log_shapes: Floats) -> Floats:
        a, b = np.exp(log_shapes)
        return np.asarray(scipy.special.logit(beta_quantiles(a, b, shares)) - scipy.special.logit(quantiles))

    solution = least_squares(misfit, np.log(start), x_scale="jac", xtol=1e-14, ftol=1e-14, gtol=1e-14)
    a, b = np.exp(solution.x)
    return float(a), float(b)


def beta_quantiles(a: float, b: float, shares: Floats) -> Floats:
    """Return quantiles of the beta distribution with shapes a and b."""
    return np.array([beta_quantile(a, b, float(share)) for share in shares])


def beta_quantile(a: float, b: float, share: float) -> float:
    """Return a quantile of the beta distribution, or the limit of the search beyond it.

    By bisection in the log-odds: :func:`scipy.special.betaincinv` fails next to shapes of 1.
    """

    def excess(log_odds: float) -> float:
        return float(scipy.special.betainc(a, b, scipy.special.expit(log_odds)) - share)

    low, high = QUANTILE_LIMITS
    if excess(low) >= 0 or excess(high) <= 0:
        return float(scipy.special.expit(low if excess(low) >= 0 else high))
    return float(scipy.special.expit(_find_root(excess, QUANTILE_LIMITS)))


def _solve_two_quantiles(shares: Floats, quantiles: Floats) -> tuple[float, float]:
    def shapes(log_size: float) -> tuple[float, float]:
        """Return the shapes with this a + b and the first quantile."""
        size = np.exp(log_size)

        def excess(log_odds: float) -> float:
            return float(
                scipy.special.betainc(
                    size * scipy.special.expit(log_odds), size * scipy.special.expit(-log_odds), quantiles[0]
                )
                - shares[0]
            )

        log_odds = _find_root(excess, MEAN_LIMITS)
        return float(size * scipy.special.expit(log_odds)), float(size * scipy.special.expit(-log_odds))

    def excess(log_size: float) -> float:
        return float(scipy.special.betainc(*shapes(log_size), quantiles[1]) - shares[1])

    return shapes(_find_root(excess, SIZE_LIMITS))


def _find_root(function: Callable[[float], float], limits: tuple[float, float]) -> float:
    """Return the root of an increasing function."""
    from scipy.optimize import brentq  # heavy, and seldom needed

    return float(brentq(function, *limits, xtol=1e-14, rtol=RELATIVE_TOLERANCE))


def _check_quantiles(quantiles: Mapping[float, float]) -> tuple[Floats, Floats]:
    """Return shares and priors in ascending order."""
    if not isinstance(quantiles, Mapping):
        raise InputTypeError(
            "`quantiles` must map shares to priors, such as {0.05: 0.02, 0.95: 0.15}, "
            f"but got {quantiles!r}"
        )
    if len(quantiles) < 2:
        raise InputError(f"`quantiles` must hold at least two, but got {len(quantiles)}")
    shares = check_priors(list(quantiles), "share of quantiles")
    priors = check_priors(list(quantiles.values()), "prior of quantiles")
    order = np.argsort(shares)
    if not (np.diff(priors[order]) > 0).all():
        raise InputError(f"`quantiles` must rise with their shares, but got {quantiles}")
    return shares[order], priors[order]


def _misfit_notes(shares: Floats, stated: Floats, fitted: Floats) -> list[str]:
    """Note which quantiles the fit misses; raise if it misses them by far."""
    factor = fitted * (1 - stated) / (stated * (1 - fitted))
    off = float(np.max(np.maximum(factor, 1 / factor)) - 1)
    quantiles = ", ".join(f"{p:g}: {f:.4g} for {s:g}" for p, f, s in zip(shares, fitted, stated, strict=True))
    if off > MISFIT_ERROR:
        raise InputError(
            f"`quantiles` are not those of a beta distribution: the closest has {quantiles} (odds off by "
            f"{off:.0%}); state two of them, or give priors and weights as a DiscretePrior"
        )
    return [f"the closest beta distribution has the quantiles {quantiles}"] if off > MISFIT_WARNING else []
