"""Mean AUPREC along the prior, exactly, with its joint spread.

AUPREC is analytic for imaginary parts of the log-odds of the prior below pi. On panels of limited width a few
dozen terms hold every digit, so crossings and extremes are roots of polynomials: no grid decides them.

Whether the spread was seen over folds or comes from leaving out single cases, it is held in the same
way: as deviations whose products sum to the covariance of the estimates, at every prior and between priors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import combinations, pairwise
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
from numpy.polynomial import Chebyshev
from numpy.polynomial.chebyshev import chebpts1, chebval, chebvander
from numpy.polynomial.polyutils import mapdomain
from numpy.typing import NDArray
from scipy import stats
from scipy.special import expit, logit

from skewanova.base.checks import Floats, InputError
from skewanova.base.rounding import TIE, is_largest
from skewanova.curves.groups import Cell
from skewanova.curves.placed import Parts
from skewanova.evaluation.measures import Evaluation, prior_grid
from skewanova.inference import fold_statistics
from skewanova.inference.case_deviations import (
    CaseDeviations,
    Turn,
    nodes_for,
    symmetric,
    to_series,
    triangle,
)
from skewanova.inference.cases_elsewhere import AnglesElsewhere, CasesElsewhere, DeviationsElsewhere
from skewanova.inference.intervals import IntervalInputs, PrecomputedInterval
from skewanova.inference.jackknife import SortedScores, measure_models, ranked
from skewanova.inference.one_set import ArcsineAreas, ArcsineScale, AreasOnArcsine, angles_of, t_from_z
from skewanova.inference.sampling import ReducedSample, Sample, SampleSummary, Spreads
from skewanova.inference.shared_cases import Degrees, run_means, run_pairs
from skewanova.priors.evidence import UnitSums
from skewanova.priors.weightings import DeploymentPrior, UniformPrior
from skewanova.scores.pairing import check_clustered_runs, check_paired, paired_cases, paired_runs
from skewanova.scores.table import Scores, ScoreTable, StreamedScores

#: Widest panel in the log-odds, and the degree that holds every digit on it.
PANEL_WIDTH = 4.0


DEGREE = 32


#: Parts of a panel on which series are bounded.
PARTS = 8


Region = tuple[int, float, float]


def panel_priors(low: float, high: float) -> tuple[Floats, Floats]:
    """Ends of the panels between two priors, in log-odds, and the priors to sample a function at."""
    first, last = float(logit(low)), float(logit(high))
    count = max(1, int(np.ceil((last - first) / PANEL_WIDTH)))
    edges = np.linspace(first, last, count + 1) if low < high else np.array([first - 0.5, first + 0.5])
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    return edges, np.asarray(expit(middle[:, None] + half[:, None] * chebpts1(DEGREE + 1)).ravel())


def panel_series(edges: Floats, values: Floats) -> tuple[tuple[Chebyshev, ...], ...]:
    """For each panel the series of every row of values (n_functions, n_priors) at `panel_priors`."""
    parts = np.split(np.asarray(values), len(edges) - 1, axis=1)
    return tuple(
        tuple(Chebyshev(c, domain=domain) for c in part @ to_series(DEGREE + 1))
        for domain, part in zip(pairwise(edges.tolist()), parts, strict=True)
    )


def bounds(coefficients: Floats) -> tuple[Floats, Floats]:
    """Limits of series (..., DEGREE + 1) that they stay within on each part of their panel: (..., PARTS)."""
    parts = coefficients @ _to_parts()
    reach = np.abs(parts[..., 1:]).sum(axis=-1)
    middle = parts[..., 0]
    return np.moveaxis(middle - reach, 0, -1), np.moveaxis(middle + reach, 0, -1)


@cache
def _to_parts() -> Floats:
    """From coefficients of a series on its panel to those on each of its parts."""
    nodes = chebpts1(DEGREE + 1)
    left = -1 + 2 * np.arange(PARTS)[:, None] / PARTS
    inside = left + (nodes + 1) / PARTS
    return np.array([chebvander(x, DEGREE).T @ to_series(DEGREE + 1) for x in inside])


def clear_signs(edges: Floats, values: Floats) -> NDArray[np.int64]:
    """Sign of each function (n_functions, n_priors) that is clear of zero throughout, else 0."""
    signs = []
    for part in np.split(np.asarray(values), len(edges) - 1, axis=1):
        low, high = bounds(part @ to_series(DEGREE + 1))
        signs.append(np.where(low.min(axis=-1) > TIE, 1, np.where(high.max(axis=-1) < -TIE, -1, 0)))
    return np.where(np.all(np.array(signs) == signs[0], axis=0), signs[0], 0)


def sign_stretches(edges: Floats, pieces: Sequence[Chebyshev]) -> list[tuple[int, float, float]]:
    """Sign (-1, 0, 1) of a function between its changes of sign, in log-odds; pieces join at the edges.

    What is smaller than `TIE` counts as zero.
    """
    ends = [edges[0], *sorted({*edges[1:-1], *(r for piece in pieces for r in _roots(piece))}), edges[-1]]
    found: list[tuple[int, float, float]] = []
    for low, high in pairwise(map(float, ends)):
        middle = (low + high) / 2
        piece = pieces[int(np.searchsorted(edges, middle, side="right")) - 1]
        value = float(piece(middle))
        sign = 0 if abs(value) <= TIE else int(np.sign(value))
        if found and found[-1][0] == sign:
            found[-1] = (sign, found[-1][1], high)
        else:
            found.append((sign, low, high))
    return found


@dataclass(frozen=True)
class MeanCurves:
    """Mean AUPREC of every model between two priors.

    Attributes
    ----------
    low, high : float
        Limits of the prior.
    edges : ndarray
        Ends of the panels, in log-odds.
    panels : tuple of tuple of Chebyshev
        For each panel, the series of every model.
    """

    low: float
    high: float
    edges: Floats
    panels: tuple[tuple[Chebyshev, ...], ...]

    @classmethod
    def sampled(cls, mean_auprec: Callable[[Floats], Floats], low: float, high: float) -> MeanCurves:
        """Fit the series to a function from priors to values of shape (n_models, n_priors)."""
        edges, priors = panel_priors(low, high)
        return cls(low, high, edges, panel_series(edges, mean_auprec(priors)))

    def at(self, priors: Floats | float, models: Sequence[int] | None = None) -> Floats:
        """Mean AUPREC at priors, of shape (n_models, n_priors), of all models or of some."""
        x = np.atleast_1d(logit(priors))
        panel = np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.panels) - 1)
        chosen = slice(None) if models is None else list(models)
        values = np.empty((len(self._coefficients[0][chosen]), len(x)))
        for k in np.unique(panel):
            inside = mapdomain(x[panel == k], self.panels[k][0].domain, self.panels[k][0].window)
            values[:, panel == k] = chebval(inside, self._coefficients[k][chosen].T)
        return values

    @cached_property
    def _coefficients(self) -> list[Floats]:
        """For each panel the coefficients of every model."""
        return [_coefficients(panel) for panel in self.panels]

    def leader(self, prior: float) -> int:
        """First model in order whose value is the largest but for rounding."""
        values = self.at(prior)[:, 0]
        return int(np.argmax(is_largest(values)))

    def regions(self) -> list[Region]:
        """Leader, lowest and highest prior of every stretch without a change of the lead."""
        found: list[Region] = []
        for low, high in pairwise([self.low, *self._candidates(), self.high]):
            leader = self.leader(float(expit((logit(low) + logit(high)) / 2)))
            if found and found[-1][0] == leader:
                found[-1] = (leader, found[-1][1], high)
            else:
                found.append((leader, low, high))
        return found

    def largest_gap(self, model: int, region: Region, low: float, high: float) -> float:
        """Largest shortfall of a model from the region's leader between two priors."""
        leader, first, last = region
        first, last = max(first, low), min(last, high)
        if first > last:
            return 0.0
        x = np.array([logit(first), *self._extremes(leader, model), logit(last)])
        inside = expit(x[(x >= x[0]) & (x <= x[-1])])
        best, other = self.at(inside, [leader, model])
        return float((best - other).max())

    def smallest(self, model: int, low: float, high: float) -> tuple[float, float]:
        """Smallest value of one curve between two priors, and the prior where it is reached."""
        ends = [float(logit(low)), float(logit(high))]
        turns = [root for panel in self.panels for root in _roots(panel[model].deriv())]
        inside = [x for x in (*turns, *self.edges[1:-1]) if ends[0] < x < ends[1]]
        priors = np.array([low, *expit(inside), high])
        (values,) = self.at(priors, [model])
        least = int(np.argmax(is_largest(-values)))
        return float(values[least]), float(priors[least])

    def slope(self, prior: float) -> Floats:
        """Change of every curve with the log-odds of the prior."""
        x = float(logit(prior))
        panel = int(np.clip(np.searchsorted(self.edges, x, side="right") - 1, 0, len(self.panels) - 1))
        return np.array([float(series.deriv()(x)) for series in self.panels[panel]])

    def _candidates(self) -> list[float]:
        """Priors at which two curves that may lead meet, or a panel ends: the lead changes nowhere else."""
        met = [_roots(a - b) for panel in self.panels for a, b in combinations(_contenders(panel), 2)]
        found = expit(np.concatenate([*met, self.edges[1:-1]]))
        return sorted({float(p) for p in found if self.low < p < self.high})

    def _extremes(self, leader: int, model: int) -> Iterator[float]:
        """Log-odds at which the shortfall turns, or a panel ends."""
        yield from self.edges[1:-1]
        for panel in self.panels:
            yield from _roots((panel[leader] - panel[model]).deriv())


def _contenders(panel: Sequence[Chebyshev]) -> list[Chebyshev]:
    """Curves that are not below some other all over a part of the panel, for any of its parts."""
    low, high = bounds(_coefficients(panel))
    may_lead = (high >= low.max(axis=0) - TIE).any(axis=1)
    return [curve for curve, kept in zip(panel, may_lead, strict=True) if kept]


def _coefficients(panel: Sequence[Chebyshev]) -> Floats:
    return np.array([np.pad(c.coef, (0, DEGREE + 1 - len(c.coef))) for c in panel])


def _roots(curve: Chebyshev) -> Floats:
    """Real roots within the domain; none where the curve is rounding throughout."""
    size = np.abs(curve.coef)
    if size.max() <= TIE or size[0] > size[1:].sum():  # rounding, or nowhere near zero
        return np.empty(0)
    roots = np.asarray(curve.trim(1e-17).roots())
    real = roots[np.abs(roots.imag) < 1e-9].real
    return np.asarray(real[(real > curve.domain[0]) & (real < curve.domain[1])])


#: Cases whose deviations are held at once.
CASES_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class JointCurves:
    """Estimates of every model at several priors, and what they deviate by.

    Attributes
    ----------
    priors : ndarray of shape (n_priors,)
        Where the curves are known.
    estimate : ndarray of shape (n_models, n_priors)
        Mean AUPREC.
    deviations : ndarray of shape (n_units, n_models, n_priors)
        The covariance of two estimates is the sum over units of the products of their deviations; with one
        fold and no scores there are no units.
    df : float
        Degrees of freedom of the covariance: folds less one or, where there are halvings, their number;
        infinite for cases, nan without units.
    pair_error, pair_df : ndarray of shape (n_pairs, n_priors), or None
        Of cases: standard error of every difference, and its degrees of freedom, as the tests have them.
    model_df : ndarray of shape (n_models, n_priors), or None
        Where cases vary, alone or with runs: degrees of freedom of every estimate.
    """

    priors: Floats
    estimate: Floats
    deviations: Floats
    df: float
    pair_error: Floats | None = None
    pair_df: Floats | None = None
    model_df: Floats | None = None

    @property
    def known(self) -> bool:
        """Whether anything is known about the spread."""
        return len(self.deviations) > 0

    def at(self, chosen: NDArray[np.intp]) -> JointCurves:
        """Keep some of the priors."""
        of_cases = (
            None if each is None else each[:, chosen]
            for each in (self.pair_error, self.pair_df, self.model_df)
        )
        return JointCurves(
            self.priors[chosen], self.estimate[:, chosen], self.deviations[..., chosen], self.df, *of_cases
        )

    def pairs(self) -> tuple[Floats, Floats]:
        """Difference and its variance of every pair of models, each of shape (n_pairs, n_priors)."""
        a, b = fold_statistics.pair_indices(len(self.estimate))
        variance = np.full((len(a), len(self.priors)), np.nan)
        if self.pair_error is not None:
            variance = self.pair_error**2
        elif self.known:
            for k, (i, j) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
                moved = self.deviations[:, i] - self.deviations[:, j]
                variance[k] = (moved * moved).sum(axis=0)
        difference = self.estimate[a] - self.estimate[b]
        alike = (np.abs(difference).max(axis=1) <= TIE) & (variance.max(axis=1) <= TIE**2)
        difference[alike] = variance[alike] = 0.0  # models that are the same, but for rounding
        return difference, variance

    def half_widths(self, critical: float) -> Floats:
        """How far the intervals of all differences reach, (n_pairs, n_priors), at a critical value.

        Of cases the value is a normal deviate: t with as much beyond it takes its place.
        """
        error = np.sqrt(self.pairs()[1])
        return error * (critical if self.pair_df is None else t_from_z(critical, self.pair_df))

    def critical_value(self, alpha: float) -> float:
        """Two-sided value of one t; nan where nothing is known."""
        return float(stats.t.isf(alpha / 2, self.df)) if self.known else np.nan


@dataclass(frozen=True, eq=False)
class PanelCurves:
    """Joint curves sampled so that they are known, but for rounding, at every prior of a range."""

    low: float
    high: float
    edges: Floats
    joint: JointCurves

    @cached_property
    def curves(self) -> MeanCurves:
        """The mean curves alone."""
        return MeanCurves(self.low, self.high, self.edges, panel_series(self.edges, self.joint.estimate))


def fold_curves(priors: Floats, values: Floats, *, ratio: float, halves: Floats | None = None) -> JointCurves:
    """Curves from AUPREC of shape (n_folds, n_models, n_priors).

    The covariance of the means over folds is inflated by ``1 + J ratio`` (Nadeau and Bengio 2003) where folds
    share training data; with differences between halves (n_halvings, n_models, n_priors) their mean square
    is added to it instead.
    """
    n_folds = len(values)
    mean = values.mean(axis=0)
    if n_folds < 2:
        return JointCurves(priors, mean, np.empty((0, *mean.shape)), np.nan)
    if halves is None:
        scale = np.sqrt((1 / n_folds + ratio) / (n_folds - 1))
        return JointCurves(priors, mean, scale * (values - mean), n_folds - 1)
    seen = (values - mean) / np.sqrt(n_folds * (n_folds - 1))
    units = np.concatenate([halves / np.sqrt(len(halves)), seen])
    return JointCurves(priors, mean, units, len(halves))


def case_curves(
    priors: Floats, sample: Sample, scores: Sequence[NDArray[Any] | SortedScores], area_estimator: str
) -> JointCurves:
    """Curves of models on one test set, from what leaving out every unit changes (jackknife)."""
    models = [ranked(sample, score) for score in scores]
    estimate = np.stack([one.areas(priors, area_estimator) for one in models])
    measure = partial(CaseDeviations.of, models, area_estimator=area_estimator)
    return _curves_of_cases((priors,), (estimate,), measure, area_estimator)[0]


def _curves_of_cases(
    grids: Sequence[Floats],
    estimates: Sequence[Floats],
    measure: Callable[[Floats], CaseDeviations | DeviationsElsewhere],
    area_estimator: str,
) -> list[JointCurves]:
    """The same on several grids at once, given the areas there; `measure` takes priors."""
    priors = np.concatenate(grids)
    nodes = nodes_for(priors, float(priors.min()), float(priors.max()), area_estimator)
    weights = np.split(nodes.weight, np.cumsum([*map(len, grids)])[:-1], axis=1)
    scales = [[ArcsineScale.of(area) for area in estimate.T] for estimate in estimates]
    slopes = [np.transpose([1 / scale.slope for scale in at]) for at in scales]
    found = measure(nodes.priors)
    parts = found.along([Turn(*turn) for turn in zip(weights, slopes, strict=True)])
    alone = bool(found.sample.alone)
    return [
        JointCurves(
            grid, estimate, units.reshape(-1, *estimate.shape), np.inf, *_errors(at, spreads, alone=alone)
        )
        for grid, estimate, at, (units, spreads) in zip(grids, estimates, scales, parts, strict=True)
    ]


def _errors(
    scales: Sequence[ArcsineScale], spreads: Spreads, *, alone: bool
) -> tuple[Floats, Floats, Floats]:
    """Standard errors of all differences, their degrees of freedom, and those of all estimates."""
    error = np.transpose(
        [scale.errors(*part) for scale, *part in zip(scales, spreads.pair.T, spreads.own.T, strict=True)]
    )
    return np.full(error.shape, np.nan) if alone else error, spreads.pair_df, spreads.own_df


#: Values of units held at once while runs are measured at many priors: 32 MB.
RUN_VALUES_AT_ONCE = 1 << 22


#: Cases of the test set that all runs share, and the scores of every model on them, run by run.
MatchedRuns = tuple[Sample, list[list[NDArray[Any]]]]


class RunAreas(NamedTuple):
    """Areas of every model in every run of one test set, and what leaving out every unit changes in them.

    Attributes
    ----------
    area : ndarray of shape (n_models, n_runs)
        Areas.
    values : ndarray of shape (n_units, n_models * n_runs)
        Jackknife values, the runs of the first model first.
    sample : Sample
        The cases.
    runs : str
        What the runs have in common, as of :class:`~skewanova.scores.design.Resampling`.
    """

    area: Floats
    values: Floats
    sample: Sample
    runs: str

    @property
    def mean_values(self) -> Floats:
        """Jackknife values (n_units, n_models) of the means over runs."""
        return np.asarray(self.values.reshape(len(self.values), *self.area.shape).mean(axis=2))

    @property
    def covariance(self) -> Floats:
        """Covariance of all areas over cases."""
        return self.sample.covariance(self.values)

    @property
    def run_deviations(self) -> Floats:
        """Deviations (n_units, n_models) of the means whose products sum to their covariance over runs."""
        n_models, n_runs = self.area.shape
        if self.runs == "fixed":
            return np.empty((0, n_models))
        moved = (self.area - self.area.mean(axis=1, keepdims=True)) / np.sqrt(n_runs * (n_runs - 1))
        if self.runs == "crossed":
            return np.asarray(moved.T)
        apart = np.zeros((n_models, n_runs, n_models))  # a run of one model is none of another
        apart[np.arange(n_models), :, np.arange(n_models)] = moved
        return apart.reshape(-1, n_models)

    @property
    def covariance_of_means(self) -> Floats:
        """Covariance of the models' means: over cases and, unless the runs are fixed, over runs too."""
        over_runs = self.run_deviations
        return np.asarray(self.sample.covariance(self.mean_values) + over_runs.T @ over_runs)

    @property
    def degrees(self) -> Degrees:
        """How degrees of freedom come about."""
        return Degrees(of_cases=self.sample.df)

    def pairs(self) -> tuple[Floats, Floats]:
        """Standard error of every difference of two means, and its degrees of freedom, as tests have them."""
        if self.runs == "fixed":
            return ArcsineAreas.of(self.area.mean(axis=1), self.mean_values, self.sample).pairs()
        nested = self.runs == "nested"
        return run_pairs(self.area, self.covariance, self.degrees, nested=nested)[1:]

    def means_df(self) -> Floats:
        """Degrees of freedom of every mean, as its interval has them."""
        if self.runs == "fixed":
            return self.sample.spread(self.mean_values)[1]
        return run_means(self.area, self.covariance, self.degrees)[1]


def run_curves(evaluation: Evaluation, priors: Floats) -> JointCurves:
    """Curves of models with several runs on one test set: over runs and cases together.

    Differences have the errors of :func:`~skewanova.inference.compare_runs`; draws go by how runs deviate
    from their mean, and by what leaving out every unit changes in the means.
    """
    means, units, roots, spreads = [], [], [], []
    for found in areas_of_runs(evaluation, [UniformPrior(prior, prior) for prior in priors.tolist()]):
        means.append(found.area.mean(axis=1))
        units.append(found.sample.deviations(found.mean_values))
        roots.append(found.run_deviations)
        spreads.append((*found.pairs(), found.means_df()))
    error, df, own = (np.stack(column, axis=1) for column in zip(*spreads, strict=True))
    over_cases, over_runs = np.stack(units, axis=2), np.stack(roots, axis=2)
    if len(over_cases) > over_cases[0].size or isinstance(found.sample, ReducedSample):
        flat = over_cases.reshape(len(over_cases), -1)
        starts = range(0, len(flat), CASES_AT_ONCE)
        root = condensed(flat[start : start + CASES_AT_ONCE] for start in starts)
        over_cases = root.reshape(-1, *over_cases.shape[1:])
    deviations = np.concatenate([over_runs, over_cases])
    return JointCurves(priors, np.stack(means, axis=1), deviations, np.inf, error, df, own)


def run_areas(evaluation: Evaluation, weighting: DeploymentPrior) -> RunAreas:
    """Measure every model in every run, and what leaving out every unit changes."""
    return next(areas_of_runs(evaluation, [weighting]))


def areas_of_runs(evaluation: Evaluation, weightings: Sequence[DeploymentPrior]) -> Iterator[RunAreas]:
    """The same over each weighting; few are measured at once, as all would not fit."""
    if isinstance(evaluation.scores, StreamedScores) and evaluation.scores.parts is not None:
        yield from _runs_elsewhere(evaluation, evaluation.scores, evaluation.scores.parts, weightings)
        return
    sample, runs = matched_runs(evaluation)
    columns = [run[model] for model in range(len(runs[0])) for run in runs]
    together = max(1, RUN_VALUES_AT_ONCE // (sample.n_units * len(columns)))
    for start in range(0, len(weightings), together):
        part = weightings[start : start + together]
        areas, values = measure_models(sample, columns, part, evaluation.area_estimator)
        for i in range(len(part)):
            area, left = areas[:, i].reshape(len(runs[0]), len(runs)), np.ascontiguousarray(values[..., i])
            yield RunAreas(area, left, sample, evaluation.design.runs)


#: Said of fixed runs whose cases are elsewhere.
FIXED_ELSEWHERE = (
    "fixed runs on one test set are compared by the tails of the changes over cases, which takes the scores "
    "in memory: read them by read_scores(), or take the runs as crossed or nested"
)


def _runs_elsewhere(
    evaluation: Evaluation, table: StreamedScores, parts: Parts, weightings: Sequence[DeploymentPrior]
) -> Iterator[RunAreas]:
    """The same of cases that are elsewhere: rows with the same products stand for them."""
    if evaluation.design.runs == "fixed":
        raise InputError(FIXED_ELSEWHERE)
    cells = [(model, fold) for model in evaluation.models for fold in evaluation.folds]
    found = cases_elsewhere(table, parts)
    areas, rows = found.rows_along(cells, weightings, evaluation.area_estimator)
    sample = found.sample.condensed()
    for i in range(len(weightings)):
        area = areas[:, i].reshape(len(evaluation.models), -1)
        yield RunAreas(area, np.ascontiguousarray(rows[..., i]), sample, evaluation.design.runs)


def run_sample(evaluation: Evaluation) -> Sample:
    """Cases of the test set that all folds share, or their numbers."""
    table = evaluation.scores
    if isinstance(table, StreamedScores) and table.parts is not None:
        return counted_sample(table)
    return matched_runs(evaluation)[0]


def condensed(blocks: Iterable[Floats]) -> Floats:
    """As many rows as columns with the same products of columns: the symmetric root of these."""
    return symmetric(triangle(blocks))


def joint_curves(evaluation: Evaluation, priors: Floats) -> JointCurves:
    """Measure the curves of an evaluation at priors, from folds or, with one fold, from its scores.

    Without scores one fold tells nothing about the spread, nor do folds in which a model is missing, or cases
    that do not match between models.
    """
    values = evaluation.cell_auprec(priors).swapaxes(0, 1)
    if np.isnan(values).any():
        mean = evaluation.mean_auprec(priors)
        return JointCurves(priors, mean, np.empty((0, *mean.shape)), np.nan)
    if evaluation.design.kind == "shared_cases":
        return run_curves(evaluation, priors)
    known = _paired_set(evaluation) if len(values) == 1 else None
    if known is None or known.sample.alone:
        halves = evaluation.auprec_between_halves(priors)
        return fold_curves(priors, values, ratio=evaluation.design.ratio, halves=halves)
    return known.curves_along(evaluation, priors)


def panel_curves(evaluation: Evaluation) -> PanelCurves:
    """Measure the curves over the grid of priors and the deployment prior together."""
    grid = prior_grid(evaluation, 2)
    low, high = float(grid[0]), float(grid[-1])
    edges, priors = panel_priors(low, high)
    return PanelCurves(low, high, edges, joint_curves(evaluation, priors))


def matched_set(evaluation: Evaluation) -> PairedSet | None:
    """Models on the cases of the only fold.

    None if these do not match or are not known, or if all cases of a class are one unit: no spread shows.
    """
    known = _paired_set(evaluation)
    return None if known is None or known.sample.alone else known


class PairedSet(ABC):
    """Models on one test set, and the curves measured so far."""

    sample: Sample

    def __init__(self) -> None:
        self._curves: dict[tuple[object, ...], JointCurves] = {}

    @abstractmethod
    def angles(self, evaluation: Evaluation, weighting: DeploymentPrior) -> tuple[AreasOnArcsine, Floats]:
        """Areas of the models of an evaluation on the angular scale, and their covariance as they are."""

    @abstractmethod
    def questions(self, evaluation: Evaluation, confidence_level: float) -> Sequence[IntervalInputs]:
        """What an interval of every model's IAUPREC is made of."""

    @abstractmethod
    def pair_strata(self, evaluation: Evaluation) -> tuple[Floats, Floats, Floats]:
        """IAUPREC; what strata add to the variances of differences (n_pairs, 3); variances of these."""

    @abstractmethod
    def _measured(self, evaluation: Evaluation, grids: Sequence[Floats]) -> list[JointCurves]:
        """Curves on some grids."""

    def curves_along(self, evaluation: Evaluation, priors: Floats) -> JointCurves:
        """Curves at priors, kept for the next who asks; those of panels, which go with them, at one go."""
        same = evaluation.models, evaluation.area_estimator
        if (*same, priors.tobytes()) not in self._curves:
            ends = prior_grid(evaluation, 2)
            panels = panel_priors(float(ends[0]), float(ends[-1]))[1]
            grids = {grid.tobytes(): grid for grid in (priors, panels)}
            wanted = [grid for key, grid in grids.items() if (*same, key) not in self._curves]
            for found in self._measured(evaluation, wanted):
                self._curves[*same, found.priors.tobytes()] = found
        return self._curves[*same, priors.tobytes()]


class SetHere(PairedSet):
    """The same in memory, sorted once."""

    def __init__(self, table: Scores) -> None:
        """Line up the cases of a table with one fold."""
        super().__init__()
        cases = paired_cases(table)
        self.sample = Sample(cases.positive, cases.cluster, cases.weight)
        self.models = {
            name: SortedScores(self.sample, s) for name, s in zip(table.models, cases.scores, strict=True)
        }

    def of(self, evaluation: Evaluation) -> list[SortedScores]:
        """Models in the order of an evaluation."""
        return [self.models[name] for name in evaluation.models]

    def angles(self, evaluation: Evaluation, weighting: DeploymentPrior) -> tuple[AreasOnArcsine, Floats]:
        """Areas on the angular scale, and their covariance as they are."""
        return angles_of(self.sample, self.of(evaluation), weighting, evaluation.area_estimator)

    def questions(self, evaluation: Evaluation, confidence_level: float) -> Sequence[IntervalInputs]:
        """What an interval of every model's IAUPREC is made of."""
        how = evaluation.deployment_prior, evaluation.area_estimator, confidence_level
        return [IntervalInputs(model, *how) for model in self.of(evaluation)]

    def pair_strata(self, evaluation: Evaluation) -> tuple[Floats, Floats, Floats]:
        """IAUPREC, and what strata add to the variances of differences."""
        weighting, models = evaluation.deployment_prior, self.of(evaluation)
        area, values = measure_models(self.sample, models, [weighting], evaluation.area_estimator)
        return area[:, 0], *strata_of_pairs(self.sample, values[..., 0])

    def _measured(self, evaluation: Evaluation, grids: Sequence[Floats]) -> list[JointCurves]:
        models, area_estimator = self.of(evaluation), evaluation.area_estimator
        estimates = [np.stack([one.areas(grid, area_estimator) for one in models]) for grid in grids]
        measure = partial(CaseDeviations.of, models, area_estimator=area_estimator)
        return _curves_of_cases(grids, estimates, measure, area_estimator)


def strata_of_pairs(sample: Sample, values: Floats) -> tuple[Floats, Floats]:
    """What each stratum adds to the variance of every difference, from values (n_units, n_models)."""
    pairs = combinations(range(values.shape[1]), 2)
    found = [sample.spread_by_stratum(values[:, i] - values[:, j]) for i, j in pairs]
    variance, doubt = (np.array(part) for part in zip(*found, strict=True))
    return variance, doubt


class SetElsewhere(PairedSet):
    """The same of cases that are elsewhere: sums over them come back."""

    def __init__(self, table: StreamedScores, parts: Parts) -> None:
        """Take the curves of a table with one fold, whose models have the same cases."""
        super().__init__()
        self._cases, self._fold = cases_elsewhere(table, parts), table.folds[0]
        self.sample = self._cases.sample
        self._angles: dict[tuple[object, ...], AnglesElsewhere] = {}

    def angles(self, evaluation: Evaluation, weighting: DeploymentPrior) -> tuple[AnglesElsewhere, Floats]:
        """Areas on the angular scale, and their covariance as they are."""
        models, area_estimator = evaluation.models, evaluation.area_estimator
        key = models, id(weighting), area_estimator  # what is kept holds the weighting too
        if key not in self._angles:
            self._angles[key] = self._cases.angles(self._cells(models), weighting, area_estimator)
        return self._angles[key], self._angles[key].area_covariance

    def questions(self, evaluation: Evaluation, confidence_level: float) -> Sequence[IntervalInputs]:
        """What an interval of every model's IAUPREC is made of."""
        angles, _ = self.angles(evaluation, evaluation.deployment_prior)
        how = evaluation.deployment_prior, evaluation.area_estimator, confidence_level
        known = zip(*(part.tolist() for part in (angles.area, *angles.own())), strict=True)
        return [
            PrecomputedInterval(SortedScores(self.sample, np.empty(0)), *how, known=each) for each in known
        ]

    def pair_strata(self, evaluation: Evaluation) -> tuple[Floats, Floats, Floats]:
        """IAUPREC, and what classes add to the variances of differences."""
        angles, _ = self.angles(evaluation, evaluation.deployment_prior)
        return angles.area, *angles.pair_strata()

    def _measured(self, evaluation: Evaluation, grids: Sequence[Floats]) -> list[JointCurves]:
        cells, area_estimator = self._cells(evaluation.models), evaluation.area_estimator
        estimates = [evaluation.mean_auprec(grid) for grid in grids]
        measure = partial(DeviationsElsewhere, self._cases, cells, area_estimator=area_estimator)
        return _curves_of_cases(grids, estimates, measure, area_estimator)

    def _cells(self, models: Sequence[str]) -> list[Cell]:
        return [(model, self._fold) for model in models]


def cases_elsewhere(table: StreamedScores, parts: Parts) -> CasesElsewhere:
    """Curves and cases of a test set whose models have the same cases."""
    check_paired(table)
    if len(table.folds) > 1:
        check_clustered_runs(table)
    sample, known = counted_sample(table), table.sampling
    if known is None:
        return CasesElsewhere(sample, table.packed, parts)
    return CasesElsewhere(sample, table.packed, parts, known.distinct)


def counted_sample(table: StreamedScores) -> SampleSummary:
    """How the cases of a test set that are elsewhere were drawn."""
    known = table.sampling
    if known is None:
        return SampleSummary.of(table.counts[0, 0])
    sums = UnitSums(*(part[0, 0] for part in known.held))
    sizes = known.kinds if table.has_clusters else table.counts[0, 0]
    return SampleSummary.of(sizes, sums=sums, clustered=table.has_clusters)


_PAIRED_SETS: WeakKeyDictionary[Scores, PairedSet] = WeakKeyDictionary()


def paired_set(table: Scores) -> PairedSet:
    """Cases and models of a table with one fold, lined up once."""
    if table not in _PAIRED_SETS:
        parts = None if isinstance(table, ScoreTable) else table.parts
        if isinstance(table, ScoreTable) or parts is None:
            _PAIRED_SETS[table] = SetHere(table)
        else:
            _PAIRED_SETS[table] = SetElsewhere(table, parts)
    return _PAIRED_SETS[table]


def _paired_set(evaluation: Evaluation) -> PairedSet | None:
    """The same of an evaluation; None if its cases do not match or are not known."""
    try:
        return None if evaluation.scores is None else paired_set(evaluation.scores)
    except InputError:
        return None


def matched_runs(evaluation: Evaluation) -> MatchedRuns:
    """Cases of the test set that all folds share, and the scores of every model on them, run by run."""
    table = evaluation.scores
    if not isinstance(table, ScoreTable):
        raise InputError("several runs on one test set are compared with the scores in memory only")
    runs = paired_runs(table)
    places = [table.models.index(name) for name in evaluation.models]
    sample = Sample(runs[0].positive, runs[0].cluster, runs[0].weight)
    return sample, [[run.scores[place] for place in places] for run in runs]


def iauprec_covariance(evaluation: Evaluation) -> tuple[Floats, Floats, float] | None:
    """Mean IAUPREC of every model, the covariance of these means and its degrees of freedom, where known."""
    table = evaluation.iauprec.pivot(index="fold", columns="model", values="iauprec")
    values = table.loc[list(evaluation.folds), list(evaluation.models)].to_numpy(dtype=np.float64)
    n_folds = len(values)
    if not np.isfinite(values).all():
        return None
    if evaluation.design.kind == "shared_cases":
        return _over_runs(evaluation)
    if n_folds > 1:
        return _over_folds(values, evaluation)
    known = matched_set(evaluation)
    if known is None:
        return None
    return values[0], known.angles(evaluation, evaluation.deployment_prior)[1], known.sample.df


def _over_folds(values: Floats, evaluation: Evaluation) -> tuple[Floats, Floats, float]:
    """The same from IAUPREC of shape (n_folds, n_models)."""
    halves, mean = evaluation.iauprec_between_halves, values.mean(axis=0)
    if halves is not None:
        return mean, fold_statistics.split_half_covariance(values, halves), float(len(halves))
    inflated = fold_statistics.fold_covariance(values) * (1 / len(values) + evaluation.design.ratio)
    return mean, inflated, len(values) - 1.0


def _over_runs(evaluation: Evaluation) -> tuple[Floats, Floats, float]:
    """The same of runs on one test set; the degrees of freedom are the fewest of a pair."""
    found = run_areas(evaluation, evaluation.deployment_prior)
    df = np.inf if found.runs == "fixed" else float(found.pairs()[1].min())
    return found.area.mean(axis=1), found.covariance_of_means, df


def mean_curves(measures: Evaluation) -> MeanCurves:
    """Curves over the grid of priors and the deployment prior together."""
    grid = prior_grid(measures, 2)
    return MeanCurves.sampled(measures.mean_auprec, float(grid[0]), float(grid[-1]))
