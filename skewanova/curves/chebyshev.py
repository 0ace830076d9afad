"""Chebyshev series of curves on panels of the log-odds of the prior, with their roots and extremes.

AUPREC is analytic for imaginary parts of the log-odds below pi. On panels of limited width, a few dozen terms
are exact up to rounding errors. Crossings and extremes are roots of these polynomials, not of a grid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, groupby, pairwise
from operator import itemgetter
from typing import TypeVar

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.polynomial.chebyshev import chebpts1, chebval, chebvander
from numpy.polynomial.polyutils import mapdomain
from numpy.typing import NDArray
from scipy.special import expit, logit

from skewanova.base.checks import Floats
from skewanova.base.rounding import TIE, is_maximum

#: Widest panel in the log-odds, and the degree that is exact on it up to rounding errors.
PANEL_WIDTH = 4.0


DEGREE = 32


#: Parts of a panel on which series are bounded.
N_PARTS = 8


#: Index of the best model on a range of priors, and the limits of the range.
Region = tuple[int, float, float]


Key = TypeVar("Key")


def join_neighbours(intervals: Iterable[tuple[Key, float, float]]) -> list[tuple[Key, float, float]]:
    """Return the intervals (key, low, high), with successive ones of a key joined, also across gaps."""
    groups = (list(group) for _, group in groupby(intervals, key=itemgetter(0)))
    return [(group[0][0], group[0][1], group[-1][2]) for group in groups]


@cache
def chebyshev_transform(count: int) -> Floats:
    """Return the (count, count) matrix from values at Chebyshev nodes to coefficients: values @ matrix."""
    transform = 2 * chebvander(chebpts1(count), count - 1) / count
    transform[:, 0] /= 2
    return np.asarray(transform)


def panel_priors(low: float, high: float) -> tuple[Floats, Floats]:
    """Return panel ends in log-odds (0.5 either side if low is high), and priors (n_nodes,) at nodes."""
    first, last = float(logit(low)), float(logit(high))
    count = max(1, int(np.ceil((last - first) / PANEL_WIDTH)))
    edges = np.linspace(first, last, count + 1) if low < high else np.array([first - 0.5, first + 0.5])
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    return edges, np.asarray(expit(middle[:, None] + half[:, None] * chebpts1(DEGREE + 1)).ravel())


def _panel_coefficients(edges: Floats, values: Floats) -> list[Floats]:
    """Return, by panel, the coefficients (n_functions, DEGREE + 1) from values at `panel_priors`."""
    parts = np.split(np.asarray(values), len(edges) - 1, axis=1)
    return [part @ chebyshev_transform(DEGREE + 1) for part in parts]


def panel_series(edges: Floats, values: Floats) -> tuple[tuple[Chebyshev, ...], ...]:
    """Return, by panel, each function's series in log-odds, from values (n_functions, n_panel_priors)."""
    panels = zip(_panel_coefficients(edges, values), pairwise(edges.tolist()), strict=True)
    return tuple(tuple(Chebyshev(row, domain) for row in rows) for rows, domain in panels)


def function_series(edges: Floats, values: Floats) -> list[Chebyshev]:
    """Return, by panel, one function's series in the log-odds, from its values at `panel_priors`."""
    return [series for (series,) in panel_series(edges, values[None])]


def bound_chebyshev_series(coefficients: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper bounds (n_functions, N_PARTS) of Chebyshev series on equal parts of a panel."""
    parts = coefficients @ _transform_to_parts()
    middle, radius = parts[..., 0].T, np.abs(parts[..., 1:]).sum(axis=-1).T
    return middle - radius, middle + radius


@cache
def _transform_to_parts() -> Floats:
    """Return N_PARTS square matrices: coefficients on a panel @ matrix are those on each part."""
    left = -1 + 2 * np.arange(N_PARTS)[:, None] / N_PARTS
    inside = left + (chebpts1(DEGREE + 1) + 1) / N_PARTS
    return np.array([chebvander(x, DEGREE).T @ chebyshev_transform(DEGREE + 1) for x in inside])


def certain_signs(edges: Floats, values: Floats) -> NDArray[np.int64]:
    """Return 1 or -1 for each function (row of values) that surely has this sign on all panels, else 0."""
    limits = [bound_chebyshev_series(coefficients) for coefficients in _panel_coefficients(edges, values)]
    low, high = (np.stack(side) for side in zip(*limits, strict=True))
    return np.where(low.min(axis=(0, 2)) > TIE, 1, np.where(high.max(axis=(0, 2)) < -TIE, -1, 0))


def sign_intervals(edges: Floats, pieces: Sequence[Chebyshev]) -> list[tuple[int, float, float]]:
    """Return ascending (sign, low, high) in log-odds that cover the panels, joined by sign, 0 up to `TIE`."""
    roots = (root for piece in pieces for root in _find_roots(piece))
    ends = [edges[0], *sorted({*edges[1:-1], *roots}), edges[-1]]
    signs = []
    for low, high in pairwise(map(float, ends)):
        middle = (low + high) / 2
        value = float(pieces[int(np.searchsorted(edges, middle, side="right")) - 1](middle))
        signs.append((0 if abs(value) <= TIE else int(np.sign(value)), low, high))
    return join_neighbours(signs)


@dataclass(frozen=True)
class MeanCurves:
    """Mean AUPREC curves of all models between two priors."""

    low: float
    high: float
    edges: Floats  #: ends of the panels, in log-odds
    panels: tuple[tuple[Chebyshev, ...], ...]  #: for each panel, the series of every model

    @classmethod
    def fit(cls, mean_auprec: Callable[[Floats], Floats], low: float, high: float) -> MeanCurves:
        """Return the series fitted to a function from priors to mean AUPREC (n_models, n_priors)."""
        edges, priors = panel_priors(low, high)
        return cls(low, high, edges, panel_series(edges, mean_auprec(priors)))

    def evaluate(self, priors: Floats | float, models: Sequence[int] | None = None) -> Floats:
        """Return mean AUPREC (n_models, n_priors), one column for a float, of all models or these indices."""
        x = np.atleast_1d(logit(priors))
        panel = self._panel_of(x)
        chosen = range(len(self.panels[0])) if models is None else models
        values = np.empty((len(chosen), len(x)))
        for k in np.unique(panel):
            series = [self.panels[k][model] for model in chosen]
            inside = mapdomain(x[panel == k], series[0].domain, series[0].window)
            values[:, panel == k] = chebval(inside, _coefficients(series).T)
        return values

    def _panel_of(self, x: Floats) -> NDArray[np.intp]:
        """Return the index of the panel of each log-odds `x`; outside all panels, of the nearest."""
        return np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.panels) - 1)

    def leader(self, prior: float) -> int:
        """Return the index of the best model at a prior; of models equal up to rounding, the first."""
        return int(np.argmax(is_maximum(self.evaluate(prior)[:, 0])))

    def regions(self) -> list[Region]:
        """Return (index of the best model, low, high) of ascending ranges of priors; neighbours differ."""
        # the best model changes only where the curves of two contenders meet, or a panel ends
        meet = (_find_roots(a - b) for panel in self.panels for a, b in combinations(_contenders(panel), 2))
        ends = self._inner_priors(meet, self.low, self.high).tolist()
        return join_neighbours(
            (self.leader(float(expit((logit(low) + logit(high)) / 2))), low, high)
            for low, high in pairwise(ends)
        )

    def largest_gap(self, model: int, region: Region, low: float, high: float) -> float:
        """Return a region leader's largest lead over a model, where the region meets [low, high], or 0."""
        leader, first, last = region
        first, last = max(first, low), min(last, high)
        if first > last:
            return 0.0
        turns = (_find_roots((panel[leader] - panel[model]).deriv()) for panel in self.panels)
        best, other = self.evaluate(self._inner_priors(turns, first, last), [leader, model])
        return float((best - other).max())

    def smallest(self, model: int, low: float, high: float) -> tuple[float, float]:
        """Return the minimum of a model's mean AUPREC between two priors, and its (first) prior."""
        turns = (_find_roots(panel[model].deriv()) for panel in self.panels)
        priors = self._inner_priors(turns, low, high)
        (values,) = self.evaluate(priors, [model])
        index = int(np.argmax(is_maximum(-values)))
        return float(values[index]), float(priors[index])

    def _inner_priors(self, roots: Iterable[Floats], low: float, high: float) -> Floats:
        """Return `low`, the priors inside at roots (log-odds) and panel ends, and `high`, ascending."""
        inside = np.unique(expit(np.concatenate([*roots, self.edges[1:-1]])))
        return np.array([low, *inside[(low < inside) & (inside < high)], high])

    def slope(self, prior: float) -> Floats:
        """Return the derivative of each model's mean AUPREC in the log-odds at a prior, (n_models,)."""
        x = np.asarray(logit(prior))
        return np.array([float(series.deriv()(x)) for series in self.panels[int(self._panel_of(x))]])


def _contenders(panel: Sequence[Chebyshev]) -> list[Chebyshev]:
    """Return the curves that may be the largest on some part of the panel, by their bounds."""
    low, high = bound_chebyshev_series(_coefficients(panel))
    may_lead = (high >= low.max(axis=0) - TIE).any(axis=1)
    return [curve for curve, contends in zip(panel, may_lead, strict=True) if contends]


def _coefficients(panel: Sequence[Chebyshev]) -> Floats:
    """Return the coefficients (n_curves, DEGREE + 1) of series, padded by zeros."""
    return np.array([np.pad(c.coef, (0, DEGREE + 1 - len(c.coef))) for c in panel])


def _find_roots(curve: Chebyshev) -> Floats:
    """Return ascending real roots strictly within the domain; none if the curve is zero up to rounding."""
    size = np.abs(curve.coef)
    if size.max() <= TIE or size[0] > size[1:].sum():
        return np.empty(0)
    roots = np.asarray(curve.trim(1e-17).roots())
    real = roots[np.abs(roots.imag) < 1e-9].real
    return np.asarray(real[(real > curve.domain[0]) & (real < curve.domain[1])])
