"""Feasibility of reported areas: whether complete curves can have them, or how much recall must be missing.

Let ``F(T)`` be the non-decreasing false positive rate at recall T, and k the skew. The loss ``1 - AUPREC`` is
the integral of ``k F / (T + k F)`` over T, and ``1 - AUC`` is that of F. Both are sums over T of functions of
F, so dynamic programming along T gives the curve that is worst for any combination of areas. Means over folds
are in the convex hull of curves, which linear programming searches by column generation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova.base import checks
from skewanova.base.checks import Bools, Floats, InputError, InputTypeError
from skewanova.curves.estimators import ESTIMATORS

#: Cells of recall, finer towards 0, and levels of the false positive rate; the error of areas is about 1e-4.
N_CELLS, N_LEVELS = 200, 200


#: Lowest level above 0.
LOWEST_LEVEL = 1e-7


#: Smallest missing recall that makes areas impossible; less is within the error of the grid.
MIN_MISSING_RECALL = 5e-4


#: Penalty of missing a reported value, larger than any gain from it.
PENALTY = 1e3


#: Gain of a new curve below which the search ends, and the most curves of a search.
MIN_GAIN, MAX_CURVES = 1e-5, 500


#: Grid size of the sums over tied curves.
N_POINTS = 20_001


class AreaRange(NamedTuple):
    """Range of one reported area on complete curves."""

    measure: str  #: ``AUPREC(prior)`` or ``AUC``
    value: float  #: reported value
    low: float  #: lower limit given all other areas; nan if these contradict each other
    high: float  #: upper limit given all other areas
    low_given_auc: float  #: lower limit given only the AUC; nan for the AUC itself, or if it is unknown
    high_given_auc: float  #: upper limit given only the AUC


class AreaPair(NamedTuple):
    """Two reported areas with the largest possible ratio of their losses."""

    prior: float
    rarer_prior: float
    constant: float  #: largest possible ratio of the losses
    loss: float  #: ``1 - AUPREC`` at `prior`
    largest_loss: float  #: largest loss at `prior`, given the area at `rarer_prior`
    holds: bool  #: True if the loss is within that limit, up to rounding of the reported digits


@dataclass(frozen=True)
class FeasibilityReport:
    """Result of a search for complete curves with the reported areas."""

    possible: bool  #: True if complete curves have the areas, up to rounding
    missing_recall: float  #: smallest missing recall, a mean over folds; nan if no missing recall suffices
    pairs: tuple[AreaPair, ...] = field(repr=False)  #: all pairs of areas with the bound on their losses
    _search: _CurveSearch = field(repr=False, compare=False)
    _values: Floats = field(repr=False, compare=False)
    _limits: Floats = field(repr=False, compare=False)

    @cached_property
    def ranges(self) -> tuple[AreaRange, ...]:
        """Ranges of all areas (by descending prior, then AUC), computed on first use (about a second)."""
        return tuple(map(self.find_range, self._search.names))

    def find_range(self, measure: str) -> AreaRange:
        """Return the range of an area by its name, ``AUC`` or ``AUPREC(prior)``; raise if not reported."""
        names, search = self._search.names, self._search
        index, last = names.index(checks.check_choice(measure, names, "measure")), len(names) - 1
        others = [k for k in range(last + 1) if k != index]
        by_auc = search.has_auc and index < last
        given_auc = search.find_range(index, self._limits, [last]) if by_auc else (np.nan, np.nan)
        limits = search.find_range(index, self._limits, others)
        return AreaRange(measure, float(self._values[index]), *limits, *given_auc)

    def __str__(self) -> str:
        """Return one line: possible, or impossible with the least missing recall, or even with any."""
        if self.possible:
            return "possible on complete curves"
        if np.isnan(self.missing_recall):
            return "impossible, even with recall missing"
        return f"impossible on complete curves: recall of at least {self.missing_recall:.3f} is missing"


def max_loss_ratio(
    prior: float, rarer_prior: float, *, area_estimator: str = "trapezoid", ties: bool = False
) -> float:
    """Return the largest ratio of ``1 - AUPREC`` at a prior to that at a rarer one, over complete curves.

    Parameters
    ----------
    prior, rarer_prior : float
        Two priors, the second not above the first.
    area_estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    ties : bool, default False
        If True, include curves of few cases, or with ties between classes. Without them, all estimators but
        ``convex_hull`` agree.

    Returns
    -------
    float
        The supremum of the ratio, which is sharp.

    Raises
    ------
    ValueError
        If a prior is not strictly between 0 and 1, they are out of order, or the estimator is unknown.

    Notes
    -----
    With the skews k < l of the two priors and ``h(k) = k ln(1 + 1/k)``, the supremum is ``h(k) / h(l)``.
    Scores that rank all negatives above all positives attain it. For curves above the diagonal, such as
    convex hulls, it is ``(1 - prior) / (1 - rarer_prior)``, which the diagonal attains. The proofs are in
    studies/records/bounds.md.

    With ties, the supremum does not change for ``exact`` and ``interpolated_max``. It is larger for
    ``average_precision`` if both priors are high, and 1 for the other estimators.

    Examples
    --------
    >>> from skewanova.curves import max_loss_ratio
    >>> round(max_loss_ratio(0.5, 0.1), 4), round(max_loss_ratio(0.5, 0.1, area_estimator="convex_hull"), 4)
    (0.731, 0.5556)
    """
    common, rare = checks.check_prior(prior), checks.check_prior(rarer_prior, "rarer_prior")
    checks.check_choice(area_estimator, ESTIMATORS, "area_estimator")
    if rare > common:
        raise InputError(f"`rarer_prior` must not be above `prior`, but got {rare} > {common}")
    if area_estimator == "convex_hull":
        return (1 - common) / (1 - rare)
    skew, rarer = (1 - common) / common, (1 - rare) / rare
    # ratio of exact losses if every negative scores above every positive
    untied = float(skew * np.log1p(1 / skew) / (rarer * np.log1p(1 / rarer)))
    if not ties or area_estimator in ("exact", "interpolated_max"):
        return untied
    return _ratio_of_steps(skew, rarer, untied) if area_estimator == "average_precision" else 1.0


def _ratio_of_steps(skew: float, rarer: float, untied: float) -> float:
    """Return the largest ratio, at least `untied`, of losses of step curves (average precision with ties)."""
    from scipy.optimize import brentq  # slow to load, and seldom used

    point = np.linspace(0, 1, N_POINTS) ** 4

    def largest_excess(constant: float) -> float:
        """Return the most by which a step curve's loss exceeds `constant` times that at `rarer`."""
        value = skew / (point + skew) - constant * rarer / (point + rarer)
        best = np.maximum.accumulate(value[::-1])[::-1]
        return float(np.sum(np.diff(point) * (best[1:] + best[:-1]) / 2))

    if skew == rarer or largest_excess(untied) <= 0:
        return untied
    return float(brentq(largest_excess, untied, 1))


def check_reported_areas(
    auprec: Mapping[float, float],
    *,
    auc: float | None = None,
    area_estimator: str = "trapezoid",
    n_positive: int | None = None,
    rounding: float = 0.0005,
) -> FeasibilityReport:
    """Check whether reported areas, or means of areas over folds, can come from complete curves.

    Use it to review published tables. One ROC curve determines AUPREC at every prior, so a table with AUPREC
    at several priors, or with the AUC, can contradict itself.

    Parameters
    ----------
    auprec : mapping of float to float
        Reported AUPREC at each prior.
    auc : float, optional
        Reported area under the ROC curve.
    area_estimator : str, default "trapezoid"
        Estimator of the areas. For ``convex_hull``, curves must only be above the diagonal.
    n_positive : int, optional
        Number of positives in a fold, without ties. It widens the limits of areas by
        ``(1.5 + ln(n) / 4) / n``, the largest difference of an estimator from the integral. By default, the
        number is taken as infinite.
    rounding : float, default 0.0005
        Half a unit of the last reported digit.

    Returns
    -------
    FeasibilityReport
        The result, the smallest missing recall, and the range of each area given the others. The result is
        sharp for means over any number of folds, up to about 1e-4; similar folds would be more restricted.
        Scores are assumed to be distinct. If many cases of both classes tie, a sum can miss recall too; a
        trapezoid misses half the recall of a tie (``max_loss_ratio(..., ties=True)``).

    Raises
    ------
    ValueError, TypeError
        If there is no area, a prior or an area is out of range, the estimator is unknown, or `auprec` is not
        a mapping (TypeError).

    Examples
    --------
    >>> from skewanova.curves import check_reported_areas
    >>> print(check_reported_areas({0.5: 0.8, 0.1: 0.5}, auc=0.85))
    possible on complete curves
    >>> print(check_reported_areas({0.5: 0.7, 0.1: 0.6}))
    impossible on complete curves: recall of at least 0.016 is missing
    """
    printed = _check_areas(auprec)
    checks.check_choice(area_estimator, ESTIMATORS, "area_estimator")
    rule = "half a unit of the last digit, 0 or more"
    slack = checks.check_not_negative(rounding, "rounding", what=rule, largest=0.5)
    printed_auc = None if auc is None else _check_area(auc, "auc")
    steps = (
        0.0
        if n_positive is None
        else _estimator_error(checks.check_count(n_positive, "n_positive", minimum=1))
    )
    hull = area_estimator == "convex_hull"
    search = _CurveSearch(tuple(printed), printed_auc is not None, not_below_diagonal=hull)
    values = np.array([*printed.values(), *([] if printed_auc is None else [printed_auc])])
    off = np.array([slack + steps] * len(printed) + [slack] * (printed_auc is not None))
    limits = np.clip([values - off, values + off], 0, 1)
    missing = search.solve(limits, range(len(search.names)))
    possible = bool(missing <= MIN_MISSING_RECALL)
    pairs = tuple(_compare_pairs(printed, slack + steps, area_estimator))
    return FeasibilityReport(possible, 0.0 if possible else missing, pairs, search, values, limits)


def _estimator_error(n: int) -> float:
    """Return (1.5 + ln(n) / 4) / n, the largest error of an estimator of areas with n positives."""
    return float((1.5 + np.log(n) / 4) / n)


def _check_area(value: float, name: str) -> float:
    """Return the area as a float; raise unless it is from 0 to 1."""
    area = checks.check_number(value, name)
    if not 0 <= area <= 1:
        raise InputError(f"`{name}` must lie between 0 and 1, but got {area:g}")
    return area


def _check_areas(auprec: Mapping[float, float]) -> dict[float, float]:
    """Return the areas by prior, in descending priors; raise if they are invalid."""
    if not isinstance(auprec, Mapping):
        raise InputTypeError(
            f"`auprec` must map priors to areas, as {{0.5: 0.8}}; got {checks.describe_value(auprec)}"
        )
    if not auprec:
        raise InputError("`auprec` must hold the area at one prior at least, but is empty")
    priors = checks.check_prior_list(list(auprec), "prior of auprec").tolist()
    pairs = zip(priors, auprec.values(), strict=True)
    areas = {prior: _check_area(area, f"auprec[{prior:g}]") for prior, area in pairs}
    return dict(sorted(areas.items(), reverse=True))


def _compare_pairs(printed: Mapping[float, float], slack: float, area_estimator: str) -> Sequence[AreaPair]:
    """Return, for each two priors (descending), the bound on the loss at the larger, and if it holds."""
    pairs = []
    for (prior, area), (rarer, other) in combinations(printed.items(), 2):
        constant = max_loss_ratio(prior, rarer, area_estimator=area_estimator)
        most = constant * (1 - other)
        holds = 1 - area <= most + slack * (1 + constant)
        pairs.append(AreaPair(prior, rarer, constant, 1 - area, most, bool(holds)))
    return pairs


class _CurveSearch:
    """Column generation over curves; the curves are stored for further searches."""

    def __init__(self, priors: Sequence[float], has_auc: bool, *, not_below_diagonal: bool) -> None:
        self.has_auc = has_auc
        self.names = [f"AUPREC({prior:g})" for prior in priors] + ["AUC"] * has_auc
        self._edges = np.linspace(0, 1, N_CELLS + 1) ** 2
        self._width = np.diff(self._edges)
        steps = np.append(0.0, np.geomspace(LOWEST_LEVEL, 1, N_LEVELS - 1))
        self._levels = self._edges if not_below_diagonal else steps
        barred = not_below_diagonal & (self._levels > self._edges[1:, None])
        self._barred = np.where(barred, -np.inf, 0.0)
        cells = [self._cell_areas((1 - prior) / prior) for prior in priors]
        self._cells = np.array([*cells, *([self._width[:, None] * (1 - self._levels)] * has_auc)])
        self._curves = [self._make_curve(np.zeros(N_CELLS, dtype=np.intp), np.zeros(N_CELLS, dtype=bool))]

    def _cell_areas(self, skew: float) -> Floats:
        """Return integrals (N_CELLS, n_levels) of T / (T + skew F) over a cell of T, at each level F."""
        false = skew * self._levels[1:]
        grown = np.log((self._edges[1:, None] + false) / (self._edges[:-1, None] + false))
        return np.column_stack([self._width, self._width[:, None] - false * grown])

    def _make_curve(self, level: NDArray[np.intp], lost: Bools) -> Floats:
        """Return AUPREC by prior, AUC if known, and missing recall; `lost` cells count in the AUC only."""
        # lost cells count in the AUC
        cells = self._cells[:, np.arange(N_CELLS), level]
        cells[: len(cells) - self.has_auc, lost] = 0
        return np.append(cells.sum(axis=1), self._width[lost].sum())

    def find_range(self, measure: int, limits: Floats, fixed: Sequence[int]) -> tuple[float, float]:
        """Return least and largest mean of an area, limits (2, n_areas) on the `fixed`; nan if impossible."""
        goal = np.eye(len(self.names))[measure]
        return self.solve(limits, fixed, goal), -self.solve(limits, fixed, -goal)

    def solve(self, limits: Floats, fixed: Sequence[int], goal: Floats | None = None) -> float:
        """Return least `goal` @ areas of complete curves, or missing recall, by `fixed` limits, or nan."""
        for _ in range(MAX_CURVES):
            curves = np.array([curve for curve in self._curves if goal is None or not curve[-1]])
            cost = curves[:, -1] if goal is None else curves[:, :-1] @ goal
            areas = curves[:, list(fixed)].T
            value, missed, prices, gain = _solve_cheapest_mean(cost, areas, limits[:, list(fixed)])
            price = np.zeros(len(self.names)) if goal is None else -goal
            price[list(fixed)] += prices
            reward, curve = self._best_curve(price, may_lose=goal is None)
            if reward + gain <= MIN_GAIN:
                break
            self._curves.append(curve)
        return float("nan") if missed > MIN_GAIN else max(value, 0.0) if goal is None else value

    def _best_curve(self, price: Floats, *, may_lose: bool) -> tuple[float, Floats]:
        """Return the largest price @ areas - missing recall (0 unless `may_lose`), and its `_make_curve`."""
        n_priors = len(price) - self.has_auc
        states = np.tensordot(price[:n_priors], self._cells[:n_priors], 1)
        lost = may_lose & (states < -self._width[:, None])
        reward = np.where(lost, -self._width[:, None], states) + self._barred
        if self.has_auc:
            reward = reward + price[-1] * self._cells[-1]
        total, level = _find_best_path(reward)
        return total, self._make_curve(level, lost[np.arange(N_CELLS), level])


def _find_best_path(reward: Floats) -> tuple[float, NDArray[np.intp]]:
    """Return the largest sum of rewards (n_cells, n_levels) over non-decreasing levels, and their indices."""
    best = reward.copy()
    for cell in range(1, len(best)):
        best[cell] += np.maximum.accumulate(best[cell - 1])
    level = np.empty(len(best), dtype=np.intp)
    last = best.shape[1]
    for cell in range(len(best) - 1, -1, -1):
        level[cell] = np.argmax(best[cell, :last])
        last = level[cell] + 1
    return float(best[-1].max()), level


def _solve_cheapest_mean(cost: Floats, areas: Floats, limits: Floats) -> tuple[float, float, Floats, float]:
    """Return cost of the cheapest mean, violation of limits, duals (slopes of cost) of areas and weight."""
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
