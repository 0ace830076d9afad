"""Studentized range: all values of one family at once (scipy integrates each by itself, 200 times slower)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.polynomial.chebyshev import chebpts1
from numpy.polynomial.legendre import leggauss
from scipy import special, stats
from scipy.interpolate import PPoly
from scipy.optimize import brentq

from skewanova._checks import Floats

#: The range of standard normal values left out beyond this is below 1e-16.
REACH = 8.5
#: Nodes over the pooled deviation; its distribution is wide where there are few degrees of freedom.
MANY_NODES, NODES, FEW_DF = 600, 96, 10
#: The tail of the range is a polynomial of this degree on pieces of this width, to the last digit or two.
DEGREE, PIECE = 7, 1 / 16
#: Values at a time, times the nodes of each.
BLOCK_SIZE = 1_000_000


def range_sf(value: Floats, n_levels: int, df: float) -> Floats:
    """Upper tail of the studentized range; 0 at infinity, nan for nan.

    E_s [1 - R(q s)], s the pooled deviation with `df` degrees of freedom and R the distribution of the range
    of `n_levels` standard normal values (Tukey 1949). Within 1e-13 of ``scipy.stats.studentized_range.sf``.
    """
    value = np.asarray(value, dtype=float)
    node, weight = _deviation(df)
    normal = _normal_range(n_levels)
    nothing = value * node.min() > 2 * REACH  # left beyond, whatever the deviation
    tail = np.where(nothing, 0.0, np.nan)
    finite = np.isfinite(value) & ~nothing
    wanted = value[finite]
    rows = max(1, BLOCK_SIZE // len(node))
    parts = [normal(part[:, None] * node) @ weight for part in _blocks(wanted, rows)]
    tail[finite] = np.clip(np.concatenate([wanted[:0], *parts]), 0.0, 1.0)
    return tail


@cache
def range_isf(alpha: float, n_levels: int, df: float) -> float:
    """Critical value of the studentized range; the same for every prior, so kept."""

    def excess(value: float) -> float:
        return float(range_sf(np.array([value]), n_levels, df)[0]) - alpha

    high = 1.0
    while excess(high) > 0:
        high *= 2
    return float(brentq(excess, 0.0, high, xtol=1e-13, rtol=1e-14))


@cache
def _deviation(df: float) -> tuple[Floats, Floats]:
    """Gauss-Legendre nodes of the pooled deviation, chi / sqrt(df), with their probabilities."""
    if np.isinf(df):
        return np.ones(1), np.ones(1)
    low, high = np.sqrt(stats.chi2.isf([1 - 1e-16, 1e-16], df))
    legendre, weight = leggauss(NODES if df >= FEW_DF else MANY_NODES)
    chi = (high + low) / 2 + (high - low) / 2 * legendre
    weight = weight * stats.chi.pdf(chi, df)
    return chi / np.sqrt(df), weight / weight.sum()


def _blocks(values: Floats, size: int) -> list[Floats]:
    return [values[start : start + size] for start in range(0, len(values), size)]


@cache
def _normal_range(n_levels: int) -> Callable[[Floats], Floats]:
    """Tail of the range of `n_levels` standard normal values as piecewise polynomials.

    One family asks for it at every pair and every node of the pooled deviation: millions of times.
    """
    edges = np.arange(0.0, 2 * REACH + PIECE, PIECE)
    place = (chebpts1(DEGREE + 1) + 1) / 2
    widths = edges[:-1, None] + PIECE * place
    values = _normal_range_sf(widths.ravel(), n_levels).reshape(widths.shape)
    powers = np.linalg.solve(np.vander(place), values.T)  # of the way along a piece, the highest first
    curve = PPoly(powers / PIECE ** np.arange(DEGREE, -1, -1.0)[:, None], edges)
    return lambda width: curve(np.minimum(width, edges[-1]))


def _normal_range_sf(width: Floats, n_levels: int) -> Floats:
    """Chance that the range of `n_levels` standard normal values exceeds each width.

    k E_z [Phi(z)^n - (Phi(z) - Phi(z - w))^n], n = k - 1 and z the largest: no cancellation, as one power is
    taken out. The trapezoid rule converges geometrically in 1/h, the faster the fewer levels.
    """
    n, step = n_levels - 1, min(0.2, 0.7 / np.sqrt(n_levels))
    largest = np.arange(-REACH, REACH + step / 2, step)
    below = special.ndtr(largest)
    density = n_levels * step * np.exp(-(largest**2) / 2) / np.sqrt(2 * np.pi) * below**n
    tails = []
    for part in _blocks(width, max(1, BLOCK_SIZE // len(largest))):
        with np.errstate(divide="ignore"):  # a width of 0 leaves nothing between
            inside = np.log1p(-special.ndtr(largest - part[:, None]) / below)
        tails.append(-np.expm1(n * inside) @ density)
    return np.concatenate(tails)
