"""Quadrature over the class prior: Gauss rules on panels in the log of the skew."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

import numpy as np
import scipy
from numpy.polynomial.hermite import hermgauss
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss

from skewanova.base.checks import SMALLEST_PRIOR, Floats

#: Error of the rules, below the spacing of doubles.
QUADRATURE_TOLERANCE = 1e-18


#: Widest panel in log skew. Rules of many nodes on wider panels have end weights accurate to 1e-13 only.
PANEL_WIDTH = 4.0


#: Largest prior of a node.
LARGEST_PRIOR = 1 - float(np.finfo(np.float64).epsneg)


RULES = {"legendre": leggauss, "hermite": hermgauss, "hermite_e": hermegauss}


@cache
def gauss_nodes(rule: str, size: int) -> tuple[Floats, Floats]:
    """Return the nodes and weights, (size,) each, of one of numpy's Gauss rules (see `RULES`), read-only."""
    node, weight = RULES[rule](size)
    node.flags.writeable = weight.flags.writeable = False
    return node, weight


def log_skew(prior: float) -> float:
    """Return log((1 - prior) / prior); inf at 0 and -inf at 1."""
    return float(-scipy.special.logit(prior))


def prior_from_log_odds(log_odds: Floats) -> Floats:
    """Return the prior at each of `log_odds`, clipped to SMALLEST_PRIOR and LARGEST_PRIOR."""
    return np.asarray(np.clip(scipy.special.expit(log_odds), SMALLEST_PRIOR, LARGEST_PRIOR))


def log_skew_nodes(low: float, high: float, breaks: Iterable[float]) -> tuple[Floats, Floats]:
    """Return log skews in [low, high], weights summing to high - low (1 if 0); priors `breaks` end panels."""
    if not low < high:  # neighbouring doubles may have equal logarithms
        return np.array([low]), np.array([1.0])
    edges = _panel_edges(low, high, width=PANEL_WIDTH, cuts=[log_skew(p) for p in breaks])
    # AUPREC is analytic for |Im log skew| < pi, so every node divides the error of Gauss-Legendre by rho^2
    ratio = 2 * np.pi / np.diff(edges).max()
    rho = ratio + np.hypot(1.0, ratio)
    n_nodes = int(np.ceil(-np.log(QUADRATURE_TOLERANCE) / (2 * np.log(rho)))) + 2
    return gauss_panels(edges, n_nodes)


def beta_nodes(a: float, b: float, breaks: Iterable[float]) -> tuple[Floats, Floats]:
    """Return ascending priors and positive weights, summing to 1, of beta(a, b); panels end at `breaks`."""
    centre = np.log(a) - np.log(b)
    spread = float(np.sqrt(scipy.special.polygamma(1, a) + scipy.special.polygamma(1, b)))
    tail = 3 - np.log(QUADRATURE_TOLERANCE)  # the tails fall like exp(-a v) and exp(-b v)
    low, high = centre - spread * 10 - tail / a, centre + spread * 10 + tail / b
    cuts = [-log_skew(p) for p in breaks]
    odds, step = gauss_panels(_panel_edges(low, high, width=min(2.0, 2 * spread), cuts=cuts), 24)
    log_density = -a * np.logaddexp(0, -odds) - b * np.logaddexp(0, odds) - scipy.special.betaln(a, b)
    weights = step * np.exp(log_density)
    positive = weights > 0
    return prior_from_log_odds(odds[positive]), normalise_weights(weights[positive])


def panel_nodes(priors: Floats, breaks: Iterable[float]) -> tuple[Floats, Floats]:
    """Return priors, and weights summing to the range of log-odds; panels end at `priors` and `breaks`."""
    cuts = [p for p in breaks if priors.min() < p < priors.max()]
    odds, step = gauss_panels(np.unique(scipy.special.logit([*priors, *cuts])), 12)
    return prior_from_log_odds(odds), step


def _panel_edges(low: float, high: float, *, width: float, cuts: Iterable[float]) -> Floats:
    """Return ascending edges from `low` to `high`, at most `width` apart, with an edge at every inner cut."""
    edges = [low]
    for start, stop in pairwise([low, *sorted(c for c in cuts if low < c < high), high]):
        edges.extend(np.linspace(start, stop, int(np.ceil((stop - start) / width)) + 1)[1:])
    return np.array(edges)


def gauss_panels(edges: Floats, n_nodes: int) -> tuple[Floats, Floats]:
    """Return Gauss-Legendre nodes and weights, `n_nodes` on every panel between `edges`, as flat arrays."""
    node, weight = gauss_nodes("legendre", n_nodes)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    return (middle[:, None] + half[:, None] * node).ravel(), (half[:, None] * weight).ravel()


def normalise_weights(weights: Floats) -> Floats:
    """Return the weights divided by their sum."""
    return np.asarray(weights / weights.sum())
