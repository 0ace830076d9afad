"""Feasibility of published areas: complete curves that have them, or the recall that must be missing.

Write ``F(T)`` for the false positive rate at recall T, which never falls, and k for the skew. The loss of an
area, ``1 - AUPREC``, is the integral of ``k F / (T + k F)`` over T, and ``1 - AUC`` that of F. Both are sums
over T of functions of F alone, so the curve that is worst for any combination of areas follows from dynamic
programming along T; and what means over folds can be is the convex hull of what curves can be, which linear
programming searches, one worst curve after another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import (
    Bools,
    Floats,
    InputError,
    InputTypeError,
    check_choice,
    check_count,
    check_not_negative,
    check_number,
    check_prior,
    check_prior_list,
)
from skewanova.curves.estimators import ESTIMATORS

#: Cells of recall, finer towards 0, and levels of the false positive rate: areas are met to about 1e-4.
N_CELLS, N_LEVELS = 200, 200


#: Lowest level above 0.
LOWEST_LEVEL = 1e-7


#: Recall that must be missing before areas are called impossible: the error of the grid.
LEAST_MISSING = 5e-4


#: Price of missing a printed value, above any gain from doing so.
PENALTY = 1e3


#: Gain of a new curve below which the search has ended, and the curves it may try.
SMALLEST_GAIN, MOST_CURVES = 1e-5, 500


#: Points at which the sums over tied curves are compared.
N_POINTS = 20_001


class AreaRange(NamedTuple):
    """Range of one printed number on complete curves."""

    measure: str  #: ``AUPREC(prior)`` or ``AUC``
    value: float  #: as printed
    low: float  #: limits given all the other numbers; nan if these contradict each other
    high: float
    low_given_auc: float  #: limits given the AUC alone; nan for the AUC itself, or where it is not known
    high_given_auc: float


class AreaPair(NamedTuple):
    """Two printed areas beside the largest ratio of their losses."""

    prior: float
    rarer_prior: float
    constant: float  #: the largest ratio of their losses
    loss: float  #: ``1 - AUPREC`` at `prior`
    largest_loss: float  #: the most that the area at `rarer_prior` allows
    holds: bool  #: whether the loss is within that, as far as the digits tell


@dataclass(frozen=True)
class PossibleAreas:
    """Result of a search for complete curves with the printed areas."""

    possible: bool  #: within the rounding
    missing_recall: float  #: the least that must be missing, a mean over folds; nan if that explains nothing
    pairs: tuple[AreaPair, ...] = field(repr=False)  #: every two areas beside the bound that needs no AUC
    _search: _Search = field(repr=False, compare=False)
    _values: Floats = field(repr=False, compare=False)
    _limits: Floats = field(repr=False, compare=False)

    @cached_property
    def ranges(self) -> tuple[AreaRange, ...]:
        """Range of each number given the others; computed on first use, in about a second."""
        return tuple(map(self.range_of, self._search.names))

    def range_of(self, measure: str) -> AreaRange:
        """Return the range of one number, ``AUC`` or ``AUPREC(prior)`` as in `ranges`, given the others."""
        names, search = self._search.names, self._search
        index, last = names.index(check_choice(measure, names, "measure")), len(names) - 1
        others = [k for k in range(last + 1) if k != index]
        by_auc = search.with_auc and index < last
        given_auc = search.range_of(index, self._limits, [last]) if by_auc else (np.nan, np.nan)
        limits = search.range_of(index, self._limits, others)
        return AreaRange(measure, float(self._values[index]), *limits, *given_auc)

    def __str__(self) -> str:
        """One line: possible, or how much recall is missing."""
        if self.possible:
            return "possible on complete curves"
        if np.isnan(self.missing_recall):
            return "impossible, even with recall missing"
        return f"impossible on complete curves: recall of at least {self.missing_recall:.3f} is missing"


def loss_ratio(
    prior: float, rarer_prior: float, *, area_estimator: str = "trapezoid", ties: bool = False
) -> float:
    """Return the largest ratio of ``1 - AUPREC`` at a prior to that at a rarer one, over complete curves.

    Parameters
    ----------
    prior, rarer_prior : float
        The priors, the second not above the first.
    area_estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    ties : bool, default False
        Whether curves of few cases or of cases that tie across classes count too. Without them all
        estimators but ``convex_hull`` agree.

    Returns
    -------
    float
        The constant; it is approached, so no smaller one holds.

    Raises
    ------
    ValueError
        If a prior is not strictly between 0 and 1, they are out of order, or the estimator is unknown.

    Notes
    -----
    With the skews k < l of the two priors and ``h(k) = k ln(1 + 1/k)``, the constant is ``h(k) / h(l)``, met
    by scores that put all negatives above all positives. For curves above the diagonal, and so for convex
    hulls, it is ``(1 - prior) / (1 - rarer_prior)``, met by the diagonal. The proofs are in the page on
    errors of the papers.

    With ties, ``exact`` and ``interpolated_max`` keep the constant; ``average_precision`` exceeds it where
    both priors are high; the others have none below 1.

    Examples
    --------
    >>> from skewanova.curves import loss_ratio
    >>> round(loss_ratio(0.5, 0.1), 4), round(loss_ratio(0.5, 0.1, area_estimator="convex_hull"), 4)
    (0.731, 0.5556)
    """
    common, rare = check_prior(prior), check_prior(rarer_prior, "rarer_prior")
    check_choice(area_estimator, ESTIMATORS, "area_estimator")
    if rare > common:
        raise InputError(f"`rarer_prior` must not be above `prior`, but got {rare:g} > {common:g}")
    if area_estimator == "convex_hull":
        return (1 - common) / (1 - rare)
    skew, rarer = (1 - common) / common, (1 - rare) / rare
    # losses of the exact area where every negative scores above every positive
    untied = float(skew * np.log1p(1 / skew) / (rarer * np.log1p(1 / rarer)))
    if not ties or area_estimator in ("exact", "interpolated_max"):
        return untied
    return _ratio_of_steps(skew, rarer, untied) if area_estimator == "average_precision" else 1.0


def _ratio_of_steps(skew: float, rarer: float, untied: float) -> float:
    """Return the smallest constant that no step curve exceeds, of the best points above each recall."""
    from scipy.optimize import brentq  # slow to load, and seldom used

    point = np.linspace(0, 1, N_POINTS) ** 4

    def excess(constant: float) -> float:
        value = skew / (point + skew) - constant * rarer / (point + rarer)
        best = np.maximum.accumulate(value[::-1])[::-1]
        return float(np.sum(np.diff(point) * (best[1:] + best[:-1]) / 2))

    return untied if skew == rarer or excess(untied) <= 0 else float(brentq(excess, untied, 1))


def possible_areas(
    auprec: Mapping[float, float],
    *,
    auc: float | None = None,
    area_estimator: str = "trapezoid",
    n_positive: int | None = None,
    rounding: float = 0.0005,
) -> PossibleAreas:
    """Check whether printed areas, or means of areas over folds, can come from complete curves.

    A reviewer's tool: one ROC curve gives AUPREC at every prior, so a table that gives several of them, or
    the AUC beside them, can contradict itself.

    Parameters
    ----------
    auprec : mapping of float to float
        The printed area at each prior.
    auc : float, optional
        The printed area under the ROC curve.
    area_estimator : str, default "trapezoid"
        How the areas were computed. Of ``convex_hull`` it is asked only that curves lie above the diagonal.
    n_positive : int, optional
        Number of positives in a fold, whose scores do not tie: widens what an area may be by
        ``(1.5 + ln(n) / 4) / n``, the most that estimators can be off the integral. By default as of very
        many.
    rounding : float, default 0.0005
        Half a unit of the last printed digit.

    Returns
    -------
    PossibleAreas
        The answer, the least recall that must be missing, and what each number may be given the others.

    Raises
    ------
    ValueError
        If there is no area, a prior or an area is out of range, or the estimator is unknown.
    TypeError
        If `auprec` is not a mapping.

    Notes
    -----
    Sharp for means over any number of folds, to about 1e-4. If folds resemble each other, the truth is
    stricter than this. Asked of curves of distinct scores: where many cases of both classes tie, a sum can
    miss recall as well, a trapezoid half of that of a tie (``loss_ratio(..., ties=True)``).

    Examples
    --------
    >>> from skewanova.curves import possible_areas
    >>> print(possible_areas({0.5: 0.8, 0.1: 0.5}, auc=0.85))
    possible on complete curves
    >>> print(possible_areas({0.5: 0.7, 0.1: 0.6}))
    impossible on complete curves: recall of at least 0.016 is missing
    """
    printed = _check_areas(auprec)
    check_choice(area_estimator, ESTIMATORS, "area_estimator")
    slack = check_not_negative(rounding, "rounding", what="half a unit of the last digit", largest=0.5)
    printed_auc = None if auc is None else _check_area(auc, "auc")
    steps = 0.0 if n_positive is None else _estimator_error(check_count(n_positive, "n_positive", minimum=1))
    hull = area_estimator == "convex_hull"
    search = _Search(tuple(printed), printed_auc is not None, not_below_diagonal=hull)
    values = np.array([*printed.values(), *([] if printed_auc is None else [printed_auc])])
    off = np.array([slack + steps] * len(printed) + [slack] * (printed_auc is not None))
    limits = np.clip([values - off, values + off], 0, 1)
    missing = search.solve(limits, range(len(search.names)))
    return PossibleAreas(
        possible=bool(missing <= LEAST_MISSING),
        missing_recall=0.0 if missing <= LEAST_MISSING else missing,
        pairs=tuple(_pairs(printed, slack + steps, area_estimator)),
        _search=search,
        _values=values,
        _limits=limits,
    )


def _estimator_error(n: int) -> float:
    """Return the largest difference between a sum over n recalls and the exact area."""
    return float((1.5 + np.log(n) / 4) / n)


def _check_area(value: float, name: str) -> float:
    area = check_number(value, name)
    if not 0 <= area <= 1:
        raise InputError(f"`{name}` must lie between 0 and 1, but got {area:g}")
    return area


def _check_areas(auprec: Mapping[float, float]) -> dict[float, float]:
    """Return areas by prior, the most common prior first."""
    if not isinstance(auprec, Mapping):
        raise InputTypeError(f"`auprec` must map priors to areas, as in {{0.5: 0.8}}, but got {auprec!r}")
    if not auprec:
        raise InputError("`auprec` must hold the area at one prior at least, but is empty")
    priors = check_prior_list(list(auprec), "auprec").tolist()
    pairs = zip(priors, auprec.values(), strict=True)
    areas = {prior: _check_area(area, f"auprec[{prior:g}]") for prior, area in pairs}
    return dict(sorted(areas.items(), reverse=True))


def _pairs(printed: Mapping[float, float], slack: float, area_estimator: str) -> Sequence[AreaPair]:
    """Compare every two priors with the bound on the ratio of their losses."""
    pairs = []
    for (prior, area), (rarer, other) in combinations(printed.items(), 2):
        constant = loss_ratio(prior, rarer, area_estimator=area_estimator)
        most = constant * (1 - other)
        holds = 1 - area <= most + slack * (1 + constant)
        pairs.append(AreaPair(prior, rarer, constant, 1 - area, most, bool(holds)))
    return pairs


class _Curve(NamedTuple):
    """One curve's areas, and the recall left out of them."""

    areas: Floats
    missing: float


class _Search:
    """Worst curves for combinations of areas, stored for the next question."""

    def __init__(self, priors: Sequence[float], with_auc: bool, *, not_below_diagonal: bool) -> None:
        self.with_auc = with_auc
        self.names = [f"AUPREC({prior:g})" for prior in priors] + ["AUC"] * with_auc
        self._edges = np.linspace(0, 1, N_CELLS + 1) ** 2
        self._width = np.diff(self._edges)
        steps = np.append(0.0, np.geomspace(LOWEST_LEVEL, 1, N_LEVELS - 1))
        self._levels = self._edges if not_below_diagonal else steps
        barred = not_below_diagonal & (self._levels > self._edges[1:, None])
        self._barred = np.where(barred, -np.inf, 0.0)
        cells = [self._areas((1 - prior) / prior) for prior in priors]
        self._cells = np.array([*cells, *([self._width[:, None] * (1 - self._levels)] * with_auc)])
        self._curves = [self._curve(np.zeros(N_CELLS, dtype=np.intp), np.zeros(N_CELLS, dtype=bool))]

    def _areas(self, skew: float) -> Floats:
        """Return the integral of T / (T + skew F) over each cell, at each level of F."""
        false = skew * self._levels[1:]
        grown = np.log((self._edges[1:, None] + false) / (self._edges[:-1, None] + false))
        return np.column_stack([self._width, self._width[:, None] - false * grown])

    def _curve(self, level: NDArray[np.intp], lost: Bools) -> _Curve:
        """Return the curve with these levels; lost recall does not count in AUPREC."""
        cells = self._cells[:, np.arange(N_CELLS), level]
        cells[: len(cells) - self.with_auc, lost] = 0
        return _Curve(cells.sum(axis=1), float(self._width[lost].sum()))

    def range_of(self, measure: int, limits: Floats, fixed: Sequence[int]) -> tuple[float, float]:
        """Return lowest and highest value of an area among means of complete curves, given others."""
        goal = np.eye(len(self.names))[measure]
        return self.solve(limits, fixed, goal), -self.solve(limits, fixed, -goal)

    def solve(self, limits: Floats, fixed: Sequence[int], goal: Floats | None = None) -> float:
        """Minimise the goal, or else the missing recall, by adding worst curves until none helps.

        The areas that are fixed stay within their limits.
        """
        for _ in range(MOST_CURVES):
            curves = [curve for curve in self._curves if goal is None or not curve.missing]
            cost = np.array([curve.missing if goal is None else goal @ curve.areas for curve in curves])
            areas = np.array([curve.areas[list(fixed)] for curve in curves]).T.reshape(len(fixed), -1)
            value, missed, prices, gain = _cheapest_mean(cost, areas, limits[:, list(fixed)])
            price = np.zeros(len(self.names)) if goal is None else -goal
            price[list(fixed)] += prices
            reward, curve = self._best_curve(price, may_lose=goal is None)
            if reward + gain <= SMALLEST_GAIN:
                break
            self._curves.append(curve)
        return float("nan") if missed > SMALLEST_GAIN else max(value, 0.0) if goal is None else value

    def _best_curve(self, price: Floats, *, may_lose: bool) -> tuple[float, _Curve]:
        """Return the curve with the largest sum of prices times areas, less the recall that it leaves out."""
        n_priors = len(price) - self.with_auc
        states = np.tensordot(price[:n_priors], self._cells[:n_priors], 1)
        lost = may_lose & (states < -self._width[:, None])
        reward = np.where(lost, -self._width[:, None], states) + self._barred
        if self.with_auc:
            reward = reward + price[-1] * self._cells[-1]
        total, level = _best_path(reward)
        return total, self._curve(level, lost[np.arange(N_CELLS), level])


def _best_path(reward: Floats) -> tuple[float, NDArray[np.intp]]:
    """Return the largest sum over cells of one reward each, the level never falling from cell to cell."""
    best = reward.copy()
    for cell in range(1, len(best)):
        best[cell] += np.maximum.accumulate(best[cell - 1])
    level = np.empty(len(best), dtype=np.intp)
    last = best.shape[1]
    for cell in range(len(best) - 1, -1, -1):
        level[cell] = np.argmax(best[cell, :last])
        last = level[cell] + 1
    return float(best[-1].max()), level


def _cheapest_mean(cost: Floats, areas: Floats, limits: Floats) -> tuple[float, float, Floats, float]:
    """Solve for the cheapest mean of curves: value, misses, prices of the areas and of a curve."""
    from scipy.optimize import linprog  # slow to load, and seldom used

    n_limits, n_curves = areas.shape
    miss = np.eye(n_limits)
    solution = linprog(
        np.append(cost, np.full(2 * n_limits, PENALTY)),
        A_ub=np.block([[areas, miss, -miss], [-areas, -miss, miss]]) if n_limits else None,
        b_ub=np.append(limits[1], -limits[0]) if n_limits else None,
        A_eq=np.append(np.ones(n_curves), np.zeros(2 * n_limits))[None],
        b_eq=[1.0],
    )
    missed = float(np.asarray(solution.x)[n_curves:].sum())
    rises, falls = np.split(solution.ineqlin.marginals, 2)
    value = float(np.asarray(solution.fun)) - PENALTY * missed
    return value, missed, rises - falls, float(solution.eqlin.marginals[0])
