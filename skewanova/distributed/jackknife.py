"""What leaving out each case changes, where the cases are elsewhere: sums come back, not cases.

The change depends on nothing but the places of the case, or of those of its cluster, on the curve of its
model. A part of the cases knows the places of its own, and is sent the curves of all models; it returns a
triangle with the same products as the deviations of its units, and sums of squares and fourth powers.
Triangles of parts go together as those of blocks do, so that models which are nearly alike keep their digits.
Clusters and weighted cases are asked twice: first for their mean, which no curve tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from skewanova.base.checks import Floats, InputError
from skewanova.curves.estimators import BY_STEPS
from skewanova.curves.groups import Cell, CompactCurve
from skewanova.curves.sorting import FEW_WEIGHTS, Parts, PlacedCases
from skewanova.inference.case_deviations import CaseDeviations, Turn, nodes_for, triangle, units_of
from skewanova.inference.case_resampling import (
    ClusterRanks,
    CurvePlaces,
    JackknifeValues,
    StepTable,
    areas_over,
    number_places,
)
from skewanova.inference.sampling import (
    Codes,
    Sample,
    SampleSummary,
    Spreads,
    kinds_of,
)
from skewanova.inference.single_test_set import ArcsineAreas, ArcsineScale
from skewanova.priors.weightings import DeploymentPrior, UniformPrior

NOT_BY_RISES = (
    "area_estimator={!r} is measured anew without every case, which takes the scores in memory: read them by "
    "read_scores(), or take one of {}"
)


MANY_WEIGHTS = (
    "cases of a class have more than {} different weights, so that each is left out by itself, which takes "
    "the scores in memory: round the weights, or read them by read_scores()"
)


class _Table(NamedTuple):
    """Places on a model's curve, the entry of each, and the jackknife values of the entries."""

    places: CurvePlaces
    entry: Codes
    estimate: Floats
    values: Floats

    def of_part(self, part: PlacedCases, row: int) -> JackknifeValues:
        """Values of the cases of a part."""
        slot = part.slot[row].astype(np.intp)
        sides = slot[part.positive] // 2, slot[~part.positive]
        position = self.places.position(part.positive, *sides, part.weight)
        return JackknifeValues(self.estimate, self.values, self.entry[position])


class _Whole(NamedTuple):
    """A curve: weight of all positives at every rise and of negatives in every slot, and its areas."""

    gain: Floats
    fall: Floats
    area: Floats


@dataclass(frozen=True, eq=False)
class _Values:
    """What leaving out units changes; the curves are looked at once in a process.

    Attributes
    ----------
    curves, rows : sequence
        The curve of every model or run, and its row among the slots.
    weightings, area_estimator
        What to measure.
    sample : SampleSummary
        All units together.
    weights : (ndarray, ndarray)
        Different weights of the negatives and of the positives.
    means : ndarray of shape (3, n_models, n_weightings), or None
        Mean jackknife values of every stratum; None while they are not known. Those of cases drawn one by one
        and alike follow from the curves.
    """

    curves: Sequence[CompactCurve]
    rows: Sequence[int]
    weightings: Sequence[DeploymentPrior]
    area_estimator: str
    sample: SampleSummary
    weights: tuple[Floats, Floats]
    means: Floats | None = None

    def of(self, part: PlacedCases) -> CaseDeviations:
        """Those of the units of a part."""
        if self.sample.clustered:
            return self._of_clusters(part)
        result = tuple(table.of_part(part, row) for table, row in zip(self.tables, self.rows, strict=True))
        return CaseDeviations(Sample(part.positive), result)

    @cached_property
    def tables(self) -> list[_Table]:
        """Values along every curve, of cases that were drawn one by one."""
        result = []
        for model, curve in enumerate(self.curves):
            gain, fall = curve.counts()
            sizes = self.sample.sizes[:2]
            places = CurvePlaces(StepTable.of(gain, fall), self.weights, sizes)
            repeats = zip((gain, fall), map(len, self.weights[::-1]), strict=True)
            counts = np.concatenate([np.tile(side, n_weights) for side, n_weights in repeats])
            entry = number_places(counts > 0)
            estimate, values = places.changes(entry, self.weightings, self.area_estimator)
            present = np.flatnonzero(entry >= 0)
            stratum = (present < places.n_of_positives).astype(np.intp)
            means = None if self.means is None else self.means[:, model]
            if self.sample.sums is None:  # all weigh alike
                of_stratum = [np.where(stratum == kind, counts[present], 0) for kind in (0, 1)]
                means = np.array([n @ values / size for n, size in zip(of_stratum, sizes, strict=True)])
            result.append(_Table(places, entry, estimate, self._centred(values, stratum, means)))
        return result

    @cached_property
    def _wholes(self) -> list[_Whole]:
        """The curves of models whose cases come in clusters."""
        result = []
        for curve in self.curves:
            gain, fall = (np.asarray(held, dtype=np.float64) for held in curve.counts())
            area = areas_over(curve.curve(), self.weightings, self.area_estimator)
            result.append(_Whole(gain, fall, area))
        return result

    def _of_clusters(self, part: PlacedCases) -> CaseDeviations:
        cases = part.positive, part.cluster, part.weight
        stratum = np.array(self.sample.kinds)[kinds_of(Sample(*cases))]
        sample, sizes = Sample(*cases, stratum), self.sample.stratum_sizes[stratum]
        result = []
        for model, (whole, row) in enumerate(zip(self._wholes, self.rows, strict=True)):
            slot = part.slot[row].astype(np.intp)
            places = slot[part.positive] // 2, slot[~part.positive]
            units = ClusterRanks(sample, *places, whole.gain, whole.fall)
            left = units.jackknife_values(whole.area, sizes, self.weightings, self.area_estimator)
            means = None if self.means is None else self.means[:, model]
            result.append(replace(left, values=self._centred(left.values, stratum, means)))
        return CaseDeviations(sample, tuple(result))

    def _centred(self, values: Floats, stratum: Codes, means: Floats | None) -> Floats:
        """Deviations, once the means of the strata are known."""
        if means is None:
            return values
        size = self.sample.stratum_sizes[stratum]
        scale = np.sqrt(size * np.maximum(size - 1, 1))[:, None]
        return np.asarray((values - means[stratum]) / scale)


def _stratum_sums(values: _Values, part: PlacedCases) -> Floats:
    """Sums (3, n_models, n_weightings) of the values of a part, by stratum."""
    result = values.of(part)
    sums = np.zeros((3, len(result.tables), len(values.weightings)))
    for rows, _ in result.sample.strata:
        kind = int(result.sample.stratum[rows[0]])
        for model, table in enumerate(result.tables):
            sums[kind, model] = np.bincount(table.entry[rows], minlength=len(table.values)) @ table.values
    return sums


class _Sums(NamedTuple):
    """What a part returns: areas (n_models, n_weightings), a triangle, and for every turn unit and sums."""

    estimate: Floats
    root: Floats
    powers: list[tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class _Question:
    """What every part is asked.

    Attributes
    ----------
    values : _Values
        What leaving out units changes.
    turns : sequence of Turn, or None
        Of what to sum powers: by default of the areas on the angular scale, then as they are.
    mix : ndarray of shape (n, n_models), or None
        Combinations to take in place of the models.
    """

    values: _Values
    turns: Sequence[Turn] | None
    mix: Floats | None

    def __call__(self, part: PlacedCases) -> _Sums:
        """Answer for the cases of a part."""
        result = self.values.of(part)
        estimate = np.stack([item.estimate for item in result.tables])
        turns = _both_scales(estimate.ravel()) if self.turns is None else self.turns
        root = result.root if self.mix is None else np.empty((0, 0))  # known by then
        return _Sums(estimate, root, [self._powers(result, turn) for turn in turns])

    def _powers(self, deviations: CaseDeviations, turn: Turn) -> tuple[Floats, Floats]:
        """Unit, and sums by stratum: a part may lack one."""
        unit = deviations.unit(turn)
        sums = deviations.sums(turn._replace(scale=turn.scale / unit), self.mix)
        by_stratum = np.zeros((3, *sums.shape[1:]))
        by_stratum[deviations.sample.strata_kinds] = sums
        return unit, by_stratum


def _both_scales(area: Floats) -> list[Turn]:
    """Of areas over one weighting: on the angular scale, and as they are."""
    return [
        Turn(np.ones((1, 1)), 1 / slope[:, None])
        for slope in (ArcsineScale.of(area).slope, np.ones(len(area)))
    ]


@dataclass(frozen=True, eq=False)
class Measured:
    """Areas, and deviations of all cases from them, of which only sums are known.

    Attributes
    ----------
    sample : SampleSummary
        The numbers of cases.
    estimate : ndarray of shape (n_models, n_weightings)
        Areas.
    root : ndarray
        A triangle with the same products as the deviations at the weightings.
    powers : list of (unit, sums)
        For every turn: sums by stratum (3, 2, n_models + n_pairs, n_priors), over powers of the unit.
    """

    sample: SampleSummary
    estimate: Floats
    root: Floats
    powers: list[tuple[Floats, Floats]]

    def units(self, weight: Floats) -> Floats:
        """Deviations (n_rows, n_models * n_priors) at priors that follow by `weight`."""
        return units_of(self.root, weight, len(self.estimate))

    def spreads(self, n_curves: int) -> list[Spreads]:
        """Spreads of so many models or combinations of them, for every turn."""
        stratum = self.sample.stratum
        return [Spreads.of(self.sample, sums[stratum], n_curves, unit) for unit, sums in self.powers]


@dataclass(frozen=True, eq=False)
class DistributedCases:
    """Models, perhaps in several runs, on one test set whose cases are elsewhere.

    Attributes
    ----------
    sample : SampleSummary
        The numbers of cases.
    curves : mapping
        The curve of every (model, fold).
    parts : Parts
        Where the cases are.
    weights : (ndarray, ndarray)
        Different weights of the negatives and of the positives, of more than are taken at least as many.
    """

    sample: SampleSummary
    curves: Mapping[Cell, CompactCurve]
    parts: Parts
    weights: tuple[Floats, Floats] = (np.ones(1), np.ones(1))

    def measured(
        self,
        cells: Sequence[Cell],
        weightings: Sequence[DeploymentPrior],
        area_estimator: str,
        *,
        turns: Sequence[Turn] | None = None,
        mix: Floats | None = None,
    ) -> Measured:
        """Ask all parts about some models and runs."""
        if area_estimator not in BY_STEPS:
            raise InputError(NOT_BY_RISES.format(area_estimator, ", ".join(BY_STEPS)))
        rows = [self.parts.cells.index(cell) for cell in cells]
        curves = [self.curves[cell] for cell in cells]
        values = self._centred(_Values(curves, rows, weightings, area_estimator, self.sample, self.weights))
        result: list[_Sums] = self.parts.map(_Question(values, turns, mix))
        powers = []
        for item in zip(*(part.powers for part in result), strict=True):
            units, sums = zip(
                *item, strict=True
            )  # that of curves is in all parts alike, that of clusters not
            unit = np.max(units, axis=0)
            scales = ((own / unit) ** np.array([[[2]], [[4]]]) for own in units)
            powers.append((unit, np.sum([part * by for part, by in zip(sums, scales, strict=True)], axis=0)))
        estimate, *_ = (part.estimate for part in result)
        return Measured(self.sample, estimate, triangle(part.root for part in result), powers)

    def _centred(self, values: _Values) -> _Values:
        """The same with the mean of every stratum; cases drawn one by one and alike need none."""
        if self.sample.sums is None:
            return values
        if not self.sample.clustered and max(map(len, self.weights)) > FEW_WEIGHTS:
            raise InputError(MANY_WEIGHTS.format(FEW_WEIGHTS))
        sums = np.sum(self.parts.map(partial(_stratum_sums, values)), axis=0)
        return replace(values, means=sums / np.maximum(self.sample.stratum_sizes, 1)[:, None, None])

    def angles(
        self, cells: Sequence[Cell], weighting: DeploymentPrior, area_estimator: str
    ) -> DistributedArcsine:
        """Areas over a weighting, on the angular scale."""
        result = self.measured(cells, [weighting], area_estimator)
        scale = ArcsineScale.of(result.estimate.ravel())
        question = tuple(cells), weighting, area_estimator
        return DistributedArcsine(scale, result.root, self.sample, self, question, result)

    def along(
        self, cells: Sequence[Cell], nodes: Floats, area_estimator: str, turns: Sequence[Turn]
    ) -> list[tuple[Floats, Spreads]]:
        """Rows that stand for the units, and spreads, for each turn from the nodes."""
        weightings = [UniformPrior(prior, prior) for prior in nodes.tolist()]
        result = self.measured(cells, weightings, area_estimator, turns=turns)
        spreads = result.spreads(len(cells))
        return [(result.units(turn.weight), each) for turn, each in zip(turns, spreads, strict=True)]

    def rows_along(
        self, cells: Sequence[Cell], weightings: Sequence[DeploymentPrior], area_estimator: str
    ) -> tuple[Floats, Floats]:
        """Areas (n_cells, n_weightings), and rows (n_rows, n_cells, n_weightings) that stand for the units.

        Their products are those of the deviations; many priors follow from those at some nodes.
        """
        targets, weight = list(weightings), np.eye(len(weightings))
        if all(isinstance(item, UniformPrior) and item.low == item.high for item in weightings):
            priors = np.array([item.low for item in weightings])
            nodes = nodes_for(priors, priors.min(), priors.max(), area_estimator)
            targets, weight = [UniformPrior(prior, prior) for prior in nodes.priors.tolist()], nodes.weight
        result = self.measured(cells, targets, area_estimator, turns=())
        return result.estimate @ weight, result.root.reshape(-1, len(cells), len(targets)) @ weight


@dataclass(frozen=True, eq=False)
class DistributedArcsine(ArcsineAreas):
    """Areas on the angular scale; rows stand for the values of all units, and sums of powers are known."""

    cases: DistributedCases
    question: tuple[tuple[Cell, ...], DeploymentPrior, str]
    measured: Measured

    def spreads(self) -> Spreads:
        """Variances of the angles and of their differences."""
        return self.measured.spreads(len(self.area))[0]

    def singles(self) -> tuple[Floats, Floats]:
        """Standard error of every area, and its degrees of freedom."""
        spreads = self.measured.spreads(len(self.area))[1]
        return self.sample.std_errors(spreads.model.ravel()), spreads.model_df.ravel()

    def pair_strata(self) -> tuple[Floats, Floats]:
        """What each stratum adds to the variance of every difference (n_pairs, 3); variances of these."""
        (unit, sums), stratum = self.measured.powers[1], self.sample.stratum
        result = np.zeros((2, 3, sums.shape[2] - len(self.area)))
        result[:, stratum] = self.sample.variances(sums[stratum])[:, :, len(self.area) :, 0]
        return result[0].T * unit**2, result[1].T * unit**4

    def along(self, contrasts: Floats) -> tuple[Floats, Floats]:
        """Standard errors of contrasts (n, n_models) of the angles, and their degrees of freedom."""
        (cells, weighting, area_estimator), (angular, _) = self.question, _both_scales(self.area)
        result = self.cases.measured(cells, [weighting], area_estimator, turns=[angular], mix=contrasts)
        (spreads,) = result.spreads(len(contrasts))
        return self.sample.std_errors(spreads.model.ravel()), spreads.model_df.ravel()
