"""Jackknife and bootstrap of the area of a model over the cases of a test set.

A rise is a step of the ROC curve on which recall increases. An area that is a sum over rises changes locally
when a case is left out. Rises above the case keep their counts, those below lose one true or false positive,
and the rise at its score is counted again. Cumulative sums from both ends therefore give the values of all
cases in one pass. For clusters, and for estimators that are not such sums, the area is computed again without
each unit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skewanova.base.checks import Bools, Floats, Seed, make_generator
from skewanova.curves import sorting
from skewanova.curves.areas import iauprec
from skewanova.curves.estimators import FIRST_REACH_ESTIMATORS, ROC_AUC, STEP_ESTIMATORS, step_terms
from skewanova.curves.roc import RecallSteps, RocCurve, auc, curve_from_scores
from skewanova.curves.sorting import MAX_DISTINCT_WEIGHTS, Counts
from skewanova.inference.fold_statistics import split_rows
from skewanova.inference.sampling import Codes, Sample, is_entire_class
from skewanova.priors.weightings import DeploymentPrior, UniformPrior

Weightings = Sequence[DeploymentPrior]


#: Rises of positives, slots of negatives, and the counts or weights at each rise and at each slot.
Ranks = tuple[Codes, Codes, NDArray[Any], NDArray[Any]]


#: Numbers in memory at once while areas are computed again, which fit the second-level cache.
BLOCK_SIZE = 1 << 15


#: Priors whose values are computed in one block.
PRIORS_AT_ONCE = 64


#: Entries that are centred, and units that are counted, at once.
ENTRIES_AT_ONCE, UNITS_AT_ONCE = 1 << 12, 1 << 18


@dataclass(frozen=True, eq=False)
class JackknifeValues:
    """Areas over some weightings (n_weightings,), and the jackknife values of all units.

    Units that are exchangeable share an entry of `values` (n_entries, n_weightings); `entry` is that of each.
    A value is (G - 1) (estimate - estimate without the unit), with G units in its stratum.
    """

    estimate: Floats
    values: Floats
    entry: Codes

    def select_units(self, rows: slice | Codes = slice(None)) -> Floats:
        """Return the values, centred or not, of the units `rows` (n_rows, n_weightings), or of all."""
        return np.asarray(self.values.take(self.entry[rows], axis=0))

    def centre_in_place(self, sample: Sample) -> JackknifeValues:
        """Overwrite `values` by deviations from stratum means over sqrt(G (G - 1)); return this object."""
        for rows, size in sample.strata:
            count = np.zeros(len(self.values), dtype=np.intp)  # units of each entry
            for part in split_rows(rows, UNITS_AT_ONCE):
                count += np.bincount(self.entry[part], minlength=len(count))
            mean = count @ self.values / size
            for entries in split_rows(np.flatnonzero(count), ENTRIES_AT_ONCE):
                self.values[entries] = (self.values[entries] - mean) / np.sqrt(size * max(size - 1, 1))
        return self

    def combine_in_place(self, weight: Floats) -> JackknifeValues:
        """Return values @ weight (no more columns), moved to the front of `values`, whose rest is freed."""
        values = np.require(self.values, requirements=["C", "OWNDATA"])
        size = len(values), weight.shape[1]
        combined = values.reshape(-1)[: size[0] * size[1]].reshape(size)
        for start in range(0, len(values), ENTRIES_AT_ONCE):
            rows = slice(start, start + ENTRIES_AT_ONCE)
            combined[rows] = values[rows] @ weight
        values.resize(size, refcheck=False)
        return replace(self, values=values)


@dataclass(eq=False)
class SortedScores:
    """Scores of one model on the cases of a sample, sorted once for all weightings."""

    sample: Sample
    score: NDArray[Any]
    _latest: tuple[DeploymentPrior, str, JackknifeValues] | None = None

    @cached_property
    def layout(self) -> tuple[CurvePositions, Codes, Codes] | None:
        """Positions, entry of each (-1: empty) and of every case; None for clusters or too many weights."""
        if self.sample.cluster is not None:
            return None
        positive, weight = self.sample.positive, self.sample.weight
        distinct = [np.ones(1) if weight is None else np.unique(weight[positive == side]) for side in (0, 1)]
        if max(map(len, distinct)) > MAX_DISTINCT_WEIGHTS:
            return None
        steps, rise, slot = rank_cases(self.sample, self.score)
        positions = CurvePositions(steps, (distinct[0], distinct[1]), (len(slot), len(rise)))
        position = positions.locate_cases(positive, rise, slot, weight)
        occupied = np.bincount(position, minlength=positions.n_positions) > 0
        entry = number_occupied_positions(occupied).astype(position.dtype)
        return positions, entry, entry[position]

    def jackknife_values(self, weightings: Weightings, area_estimator: str) -> JackknifeValues:
        """Return the areas over weightings and all units' jackknife values; the latest IAUPREC is cached."""
        if len(weightings) > 1 or _is_single_prior(weightings[0]):
            return self._leave_one_out(weightings, area_estimator)
        if self._latest is None or self._latest[0] is not weightings[0] or self._latest[1] != area_estimator:
            self._latest = weightings[0], area_estimator, self._leave_one_out(weightings, area_estimator)
        return self._latest[2]

    def _leave_one_out(self, weightings: Weightings, area_estimator: str) -> JackknifeValues:
        """Return areas and jackknife values, in one pass over steps if estimator and `layout` allow it."""
        if area_estimator not in STEP_ESTIMATORS or self.layout is None:
            return _recompute_areas(self, weightings, area_estimator)
        positions, entry, entry_of_unit = self.layout
        return JackknifeValues(*positions.leave_one_out(entry, weightings, area_estimator), entry_of_unit)


#: Scores of one model, sorted already or not.
ModelScores = NDArray[Any] | SortedScores


class CurvePositions(NamedTuple):
    """Positions on a curve, one for each weight: at every rise for positives, in every slot for negatives.

    `weights` are the distinct weights, and `sizes` the numbers of cases, of negatives and of positives.
    """

    steps: StepTable
    weights: tuple[Floats, Floats]
    sizes: tuple[int, ...]

    @property
    def n_positive_positions(self) -> int:
        """Number of positions of positives, which precede those of negatives."""
        return len(self.steps.n_pos) * len(self.weights[1])

    @property
    def n_positions(self) -> int:
        """Number of positions on the curve, with cases or without, of positives and of negatives."""
        return self.n_positive_positions + (2 * len(self.steps.n_pos) + 1) * len(self.weights[0])

    def locate_cases(self, positive: Bools, rise: Codes, slot: Codes, weight: Floats | None) -> Codes:
        """Return positions (n_cases,): of positives by weight, rise; then of negatives by weight, slot."""
        n_rises, fits = len(self.steps.n_pos), self.n_positions <= np.iinfo(np.int32).max
        position: Codes = np.empty(len(positive), dtype=np.int32 if fits else np.intp)
        sides = (positive, rise, n_rises), (~positive, self.n_positive_positions + slot, 2 * n_rises + 1)
        for (rows, first, size), distinct in zip(sides, self.weights[::-1], strict=True):
            code = 0 if weight is None else np.searchsorted(distinct, weight[rows])
            position[rows] = first + size * code
        return position

    def leave_one_out(
        self, entry: Codes, weightings: Weightings, area_estimator: str
    ) -> tuple[Floats, Floats]:
        """Return areas (n_weightings,) and jackknife values (n_entries, n_weightings) of a case per entry."""
        estimate, values = np.empty(len(weightings)), np.empty((int(entry.max()) + 1, len(weightings)))
        start = 0
        for part in _group_priors(weightings):
            columns = slice(start, start + (len(part) if isinstance(part, np.ndarray) else 1))
            estimate[columns] = _LeaveOneOut(self, part, area_estimator).fill(values[:, columns], entry)
            start = columns.stop
        return estimate, values


def number_occupied_positions(present: Bools) -> Codes:
    """Return 0, 1, 2, ... for the positions that hold cases, in order, and -1 for the others."""
    return np.asarray(np.where(present, np.cumsum(present) - 1, -1))


def measure_rates(model: SortedScores, threshold: float) -> tuple[Floats, Floats]:
    """Return rates of scores >= threshold, true, false positive (2,), and jackknife values (n_units, 2)."""
    sample, flagged, rates, values = model.sample, model.score >= np.float64(threshold), [], []
    for side in (True, False):
        rows, total = flagged & (sample.positive == side), sample.unit_weights(positive=side)
        weight = None if sample.weight is None else sample.weight[rows]
        part = np.bincount(sample.unit[rows], weights=weight, minlength=sample.n_units)
        rates.append(part.sum() / total.sum())
        with np.errstate(invalid="ignore", divide="ignore"):
            values.append(rates[-1] - (part.sum() - part) / (total.sum() - total))
    return np.array(rates), scale_changes(sample.stratum_size, np.stack(values, axis=1))


def measure_models(
    sample: Sample, scores: Iterable[ModelScores], weightings: Weightings, area_estimator: str
) -> tuple[Floats, Floats]:
    """Return areas (n_models, n_weightings) and jackknife values (n_units, n_models, n_weightings)."""
    models = (score if isinstance(score, SortedScores) else SortedScores(sample, score) for score in scores)
    results = [model.jackknife_values(weightings, area_estimator) for model in models]
    values = np.stack([result.select_units() for result in results], axis=1)
    return np.stack([result.estimate for result in results]), values


class StepTable(NamedTuple):
    """Counts or weights at the steps of a ROC curve on which recall rises, the best score first.

    `fp_before` counts the negatives above a step, `fp_prev` and `fp_prev2` those up to the end of the step
    before and of the one before that.
    """

    n_pos: Floats
    tp: Floats
    fp_before: Floats
    fp: Floats
    fp_prev: Floats
    fp_prev2: Floats
    n_positive: float
    n_negative: float

    @classmethod
    def from_counts(cls, n_pos: Floats | Counts, n_neg: Floats | Counts) -> StepTable:
        """Return the table of positives (n_rises,) and negatives (2 n_rises + 1,), as of `count_ranks`."""
        fp = np.cumsum(n_neg).astype(np.float64)
        tp = np.cumsum(n_pos, dtype=np.float64)
        fp_step = fp[1::2]
        before, long_before = (np.append(np.zeros(back), fp_step)[: len(fp_step)] for back in (1, 2))
        totals = float(tp[-1]), float(fp[-1])
        return cls(n_pos.astype(np.float64), tp, fp[:-1:2], fp_step, before, long_before, *totals)

    def drop_negative(
        self, weight: float, *, start: bool = False, end: bool = False, reached: bool = False
    ) -> RecallSteps:
        """Return steps less one negative, counted at `start`, `end` and, if `reached`, the end before."""
        n, m = self.n_positive, self.n_negative - weight
        before = self.fp_prev - reached * weight
        fpr, start_fpr = self.fp - end * weight, self.fp_before - start * weight
        return _clip_rates((self.tp - self.n_pos) / n, start_fpr / m, self.tp / n, fpr / m, before / m)

    def drop_positive(
        self, weight: float, *, start: bool = False, end: bool = False, skip: bool = False
    ) -> RecallSteps:
        """Return steps less one positive, counted at `start`, `end`; `skip` if the step before is lost."""
        n, m = self.n_positive - weight, self.n_negative
        before = self.fp_prev2 if skip else self.fp_prev
        tpr, start_tpr = self.tp - end * weight, self.tp - self.n_pos - start * weight
        return _clip_rates(start_tpr / n, self.fp_before / m, tpr / n, self.fp / m, before / m)


def _clip_rates(*rates: Floats) -> RecallSteps:
    """Return the five rates as recall steps, negative ones set to 0; steps not used may be out of range."""
    return RecallSteps(*(np.maximum(rate, 0.0) for rate in rates))


def count_ranks(sample: Sample, score: NDArray[Any]) -> Ranks:
    """Return rises of positives, slots of negatives, and their numbers or weights at each, best score first.

    Rises are 0, 1, ...; slot 2 k is between rise k and the rise before, 2 k + 1 tied with it.
    """
    positive, weight = sample.positive, sample.weight
    distinct, group = np.unique(score[positive], return_inverse=True)
    rise = len(distinct) - 1 - group.reshape(-1)
    slot = sorting.rank_among_positives(distinct, score[~positive])
    weights = (None, None) if weight is None else (weight[positive], weight[~positive])
    n_pos = np.bincount(rise, weights=weights[0], minlength=len(distinct))
    n_neg = np.bincount(slot, weights=weights[1], minlength=2 * len(distinct) + 1)
    return rise, slot, n_pos, n_neg


def rank_cases(sample: Sample, score: NDArray[Any]) -> tuple[StepTable, Codes, Codes]:
    """Return the table of steps, positives' rises and negatives' slots, as of :func:`count_ranks`."""
    rise, slot, *counts = count_ranks(sample, score)
    return StepTable.from_counts(*counts), rise, slot


def _group_priors(weightings: Weightings) -> Iterator[DeploymentPrior | Floats]:
    """Yield the weightings in order, runs of single priors as columns (n, 1) of at most `PRIORS_AT_ONCE`."""
    for is_prior, group in groupby(weightings, key=_is_single_prior):
        if is_prior:
            priors = np.array([prior.low for prior in group])[:, None]
            yield from (priors[i : i + PRIORS_AT_ONCE] for i in range(0, len(priors), PRIORS_AT_ONCE))
        else:
            yield from group


def _is_single_prior(weighting: DeploymentPrior) -> bool:
    """Return True for a uniform prior whose limits are equal."""
    return isinstance(weighting, UniformPrior) and weighting.low == weighting.high


#: Where a case that is left out counts at a rise, if it is below it, tied with it, or above it.
BELOW: dict[str, bool] = {}
TIED = {"end": True}
ABOVE = {"start": True, "end": True}


class _LeaveOneOut:
    """Jackknife of a curve over a column of priors or one weighting, by passes over blocks of its steps.

    Sums over the steps above and below each are carried from block to block. Changes are summed, since the
    difference of two areas is mostly rounding.
    """

    def __init__(
        self, positions: CurvePositions, weighting: DeploymentPrior | Floats, area_estimator: str
    ) -> None:
        self.positions, self.steps = positions, positions.steps
        self.weighting, self.area_estimator = weighting, area_estimator
        self.size = len(weighting) if isinstance(weighting, np.ndarray) else 1
        self.step = max(1, BLOCK_SIZE // self.size)

    def fill(self, values: Floats, entry: Codes) -> Floats:
        """Write jackknife values, 0 for a case that is a class, to `values`; return areas (n_weightings,)."""
        n_rises, position = len(self.steps.n_pos), 0
        area = np.zeros(self.size)
        for _, steps in self._blocks(0):
            area += self._terms(steps.drop_negative(0.0)).sum(axis=-1)
        sides = (
            (n_rises, self.steps.n_positive, self._drop_positives),
            (2 * n_rises + 1, self.steps.n_negative, self._drop_negatives),
        )
        for (size, total, without), side in zip(sides, (1, 0), strict=True):
            for weight in self.positions.weights[side].tolist():
                entries = entry[position : position + size]
                values[entries[entries >= 0]] = 0.0
                if not is_entire_class(weight, total):
                    without(values, entries, weight, 1 - self.positions.sizes[side])
                position += size
        return area

    def _blocks(self, beyond: int) -> Iterator[tuple[int, StepTable]]:
        """Yield the index of each block's first step, with the table of its steps and of `beyond` more."""
        for start in range(0, len(self.steps.n_pos), self.step):
            rows = slice(start, start + self.step + beyond)
            columns = {name: getattr(self.steps, name)[rows] for name in StepTable._fields[:6]}
            yield start, self.steps._replace(**columns)  # with the totals of all steps

    def _terms(self, rises: RecallSteps) -> Floats:
        """Return each step's terms in the areas, (n_weightings, n_steps); nan where rates are undefined."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.atleast_2d(step_terms(rises, self.weighting, self.area_estimator))

    def _changes(
        self, steps: StepTable, drop: Callable[..., RecallSteps], weight: float, flag: str
    ) -> list[Floats]:
        """Return 4 term changes (n_weightings, n_steps) without a case: below, tied, above, by `flag` too."""
        baseline = self._terms(steps.drop_negative(0.0))
        changes = [self._terms(drop(weight, **where)) - baseline for where in (BELOW, TIED, ABOVE)]
        if self.area_estimator not in FIRST_REACH_ESTIMATORS:
            return [*changes, changes[-1]]
        return [*changes, self._terms(drop(weight, **ABOVE, **{flag: True})) - baseline]

    def _drop_positives(self, values: Floats, entry: Codes, weight: float, factor: float) -> None:
        """Write `factor` times areas' changes without a positive at each rise into rows `entry`, not -1."""
        carry_above, carry_below = np.zeros((2, self.size, 1))
        for start, steps in self._blocks(1):
            if_below, if_tied, if_above, if_skipped = self._changes(
                steps, steps.drop_positive, weight, "skip"
            )
            n = min(self.step, len(self.steps.n_pos) - start)
            next_step = np.zeros((2, self.size, n))  # the next rise; the last rise has none
            next_step[:, :, : if_above.shape[1] - 1] = if_above[:, 1:], if_skipped[:, 1:]
            carry_below = carry_below if start else if_above[:, :1]
            sum_below = carry_below + np.cumsum(next_step[0], axis=1)
            sum_above = carry_above + np.cumsum(if_below[:, :n], axis=1)
            after = np.where(steps.n_pos[:n] <= weight, next_step[1], next_step[0])  # a step may be lost
            change = (sum_above - if_below[:, :n]) + if_tied[:, :n] + after - sum_below
            carry_above, carry_below = sum_above[:, -1:], sum_below[:, -1:]
            _write_changes(values, entry[start : start + n], change)
        _add_total(values, entry, carry_below.ravel(), factor)

    def _drop_negatives(self, values: Floats, entry: Codes, weight: float, factor: float) -> None:
        """Write `factor` times areas' changes without a negative in each slot into rows `entry`, not -1."""
        carry_above, carry_below = np.zeros((self.size, 1)), np.zeros((self.size, 1))
        for start, steps in self._blocks(0):
            if_below, if_tied, if_between, if_above = self._changes(
                steps, steps.drop_negative, weight, "reached"
            )
            sum_above = carry_above + np.cumsum(if_below, axis=1)
            sum_below = carry_below + np.cumsum(if_above, axis=1)
            elsewhere = sum_above - if_below - sum_below
            slots = slice(2 * start, 2 * (start + if_below.shape[1]))
            change = np.stack([elsewhere + if_between, elsewhere + if_tied], axis=2)
            _write_changes(values, entry[slots], change.reshape(self.size, -1))
            carry_above, carry_below = sum_above[:, -1:], sum_below[:, -1:]
        _add_total(values, entry[:-1], carry_below.ravel(), factor)
        _write_changes(values, entry[-1:], factor * carry_above)


def _write_changes(values: Floats, entry: Codes, changes: Floats) -> None:
    """Write changes (n_weightings, n_positions) into rows `entry` (n_positions,) of `values`, unless -1."""
    present = entry >= 0
    values[entry[present]] = changes[:, present].T


def _add_total(values: Floats, entry: Codes, total: Floats | float, factor: float) -> None:
    """Add the total to the rows `entry` (not -1) of `values`, then multiply these by the factor."""
    present = np.flatnonzero(entry >= 0)
    if len(present):
        rows = slice(int(entry[present[0]]), int(entry[present[-1]]) + 1)
        values[rows] += total
        values[rows] *= factor


def _recompute_areas(model: SortedScores, weightings: Weightings, area_estimator: str) -> JackknifeValues:
    """Return areas and jackknife values, by areas without each unit; 0 for a unit that is a class."""
    sample, score = model.sample, model.score
    curve = curve_from_scores(sample.positive, score, sample.weight)
    estimate = compute_areas(curve, weightings, area_estimator)
    if area_estimator in STEP_ESTIMATORS:
        without = areas_without_units(sample, count_ranks(sample, score), weightings, area_estimator)
        values = scale_changes(sample.stratum_size, estimate - without)
        return JackknifeValues(estimate, values, np.arange(sample.n_units))
    first, entry = _find_exchangeable_units(sample, score)
    without = np.full((len(first), len(weightings)), np.nan)
    sides = [sample.unit_weights(positive=side) for side in (True, False)]
    for row, unit in enumerate(first.tolist()):
        if not any(is_entire_class(weight[unit], weight.sum()) for weight in sides):
            included = (sample.unit != unit).astype(np.float64)
            without[row] = _weighted_areas(model, included, weightings, area_estimator)
    values = scale_changes(sample.stratum_size[first], estimate - without)
    return JackknifeValues(estimate, values, entry)


def scale_changes(size: Codes, changes: Floats) -> Floats:
    """Return (sizes of units' strata - 1) * changes (n_units, n_weightings), with 0 where that is nan."""
    values = (size[:, None] - 1) * changes
    return np.where(np.isnan(values), 0.0, values)


def _weighted_areas(
    model: SortedScores, case_weight: Floats, weightings: Weightings, area_estimator: str
) -> Floats:
    """Return areas (n_weightings,) with case weights besides the sample's, nan if a class is empty."""
    sample = model.sample
    weight = case_weight if sample.weight is None else case_weight * sample.weight
    included = weight > 0
    positive = sample.positive[included]
    if positive.all() or not positive.any():
        return np.full(len(weightings), np.nan)
    curve = curve_from_scores(positive, model.score[included], weight[included])
    return compute_areas(curve, weightings, area_estimator)


def compute_areas(curve: RocCurve, weightings: Weightings, area_estimator: str) -> Floats:
    """Return AUPREC or IAUPREC over each weighting (n_weightings,), or the AUC, the same for all."""
    if area_estimator == ROC_AUC:
        return np.full(len(weightings), auc(curve))
    return np.array([iauprec(curve, weighting, area_estimator=area_estimator) for weighting in weightings])


def areas_without_units(sample: Sample, ranks: Ranks, weightings: Weightings, area_estimator: str) -> Floats:
    """Return areas (n_units, n_weightings) without each unit, by sums over steps; nan if a class is empty."""
    weight = np.ones(len(sample.positive)) if sample.weight is None else sample.weight
    sides, blocks = [], []
    for side, position, total in zip((True, False), ranks[:2], ranks[2:], strict=True):
        rows = sample.positive == side
        entries = weight[rows], (sample.unit[rows], position)
        sides.append((total, sparse.coo_array(entries, shape=(sample.n_units, len(total))).tocsr()))
    for rows in split_rows(np.arange(sample.n_units), max(1, BLOCK_SIZE // len(ranks[3]))):
        n_pos, n_neg = (np.maximum(total - weights[rows].toarray(), 0.0) for total, weights in sides)
        rises = recall_steps_from_counts(n_pos, n_neg, area_estimator)
        areas = [step_terms(rises, weighting, area_estimator).sum(axis=1) for weighting in weightings]
        blocks.append(np.stack(areas, axis=1))
        for rest, total in ((n_pos, ranks[2].sum()), (n_neg, ranks[3].sum())):
            blocks[-1][is_entire_class(total - rest.sum(axis=1), total)] = np.nan
    return np.concatenate(blocks)


def recall_steps_from_counts(
    n_pos: Floats | Counts, n_neg: Floats | Counts, area_estimator: str
) -> RecallSteps:
    """Return steps (n_rows, n_rises) of curves from counts by rise and slot; nan where a class is empty."""
    true, false = (np.cumsum(counts, axis=1, dtype=np.float64) for counts in (n_pos, n_neg))
    with np.errstate(invalid="ignore"):
        fpr, start_fpr = false[:, 1::2] / false[:, -1:], false[:, :-1:2] / false[:, -1:]
        reached = fpr
        if area_estimator in FIRST_REACH_ESTIMATORS:  # at the end of the last earlier step with positives
            last = np.maximum.accumulate(np.where(n_pos > 0, np.arange(n_pos.shape[1]), -1), axis=1)
            last = np.insert(last[:, :-1], 0, -1, axis=1)
            reached = np.where(last >= 0, np.take_along_axis(fpr, np.maximum(last, 0), axis=1), 0.0)
        return RecallSteps((true - n_pos) / true[:, -1:], start_fpr, true / true[:, -1:], fpr, reached)


def _find_exchangeable_units(sample: Sample, score: NDArray[Any]) -> tuple[Codes, Codes]:
    """Return first unit of each class alike in score, weight, label (a cluster each); every unit's class."""
    if sample.cluster is not None:
        units = np.arange(sample.n_units)
        return units, units
    weight = np.zeros(len(score)) if sample.weight is None else sample.weight
    keys = [np.unique(column, return_inverse=True)[1] for column in (score, weight)]
    table = np.column_stack([*keys, sample.positive])
    _, first, kind = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return first, kind.reshape(-1)


#: Cases drawn at once, so that a few arrays of them stay in the second-level cache. Every block of resamples
#: has its own seed, so results depend on this number.
MAX_CASES_AT_ONCE = 1 << 16


def bootstrap_estimates(
    model: SortedScores, weighting: DeploymentPrior, area_estimator: str, *, n_resamples: int, rng: Seed
) -> Floats:
    """Return areas of `n_resamples` stratified bootstrap samples, less those that lack a class."""
    block = max(1, MAX_CASES_AT_ONCE // len(model.score))
    sizes = [len(part) for part in split_rows(np.empty(n_resamples), block)]
    measure = _resample_steps if area_estimator in STEP_ESTIMATORS else _resample_curves
    if model.sample.clustered or model.sample.weight is not None:
        measure = _resample_units
    estimates = measure(model, weighting, area_estimator)
    streams = map(np.random.default_rng, block_seeds(rng, len(sizes)))
    results = np.concatenate([estimates(size, stream) for size, stream in zip(sizes, streams, strict=True)])
    return np.asarray(results[np.isfinite(results)])


def block_seeds(rng: Seed, n_blocks: int) -> list[np.random.SeedSequence]:
    """Return one seed sequence a block, drawn from `rng` and so repeatable by its state."""
    entropy = make_generator(rng).integers(2**32, size=4)
    return np.random.SeedSequence(entropy.tolist()).spawn(n_blocks)


Resampler = Callable[[int, np.random.Generator], Floats]


class _ClassSlots(NamedTuple):
    """Cases of one class, by the slot that each falls in."""

    slot: Counts
    n_slots: int

    def draw(self, size: int, rng: np.random.Generator) -> Counts:
        """Return counts (size, n_slots) of cases drawn with replacement, one row a resample."""
        index = self.slot[rng.integers(0, len(self.slot), size=(size, len(self.slot)))]
        index += np.arange(size)[:, None] * self.n_slots
        return np.bincount(index.ravel(), minlength=size * self.n_slots).reshape(size, self.n_slots)


def _resample_units(model: SortedScores, weighting: DeploymentPrior, area_estimator: str) -> Resampler:
    """Return a function of (size, rng) to areas of units drawn by stratum (size,), nan without a class."""
    sample = model.sample

    def estimate(rng: np.random.Generator) -> float:
        drawn = np.zeros(sample.n_units)
        for rows, size in sample.strata:
            drawn[rows] = np.bincount(rng.integers(0, size, size=size), minlength=size)
        return float(_weighted_areas(model, drawn[sample.unit], [weighting], area_estimator)[0])

    return lambda size, rng: np.array([estimate(rng) for _ in range(size)])


def _resample_curves(model: SortedScores, weighting: DeploymentPrior, area_estimator: str) -> Resampler:
    """Return a function of (size, rng) to areas (size,) of bootstrap samples, each from its whole curve."""
    keys = sorting.sort_cases(model.sample.positive, model.score).keys
    counts = np.diff(
        [np.cumsum(label)[sorting.find_run_ends(keys)] for label in (keys & 1, 1 - (keys & 1))], prepend=0
    )
    classes = [_ClassSlots(np.repeat(np.arange(len(count)), count), len(count)) for count in counts]

    def estimates(size: int, rng: np.random.Generator) -> Floats:
        true, false = (np.cumsum(group.draw(size, rng), axis=1) for group in classes)
        curves = (_curve_from_counts(t, f) for t, f in zip(true, false, strict=True))
        return np.array([iauprec(curve, weighting, area_estimator=area_estimator) for curve in curves])

    return estimates


def _curve_from_counts(true: Counts, false: Counts) -> RocCurve:
    """Return the ROC curve (thresholds nan) of cumulative positives and negatives, less empty groups."""
    changed = np.flatnonzero(np.diff(true + false, prepend=0))
    t, f = (np.append(0.0, count[changed] / count[-1]) for count in (true, false))
    return RocCurve(f, t, np.full(len(t), np.nan), float(true[-1]), float(false[-1]))


def _resample_steps(model: SortedScores, weighting: DeploymentPrior, area_estimator: str) -> Resampler:
    """Return a function of (size, rng) to areas (size,) of bootstrap samples, as sums over steps."""
    steps, rise, slot = rank_cases(model.sample, model.score)
    positives = _ClassSlots(np.sort(rise), len(steps.n_pos))
    negatives = _ClassSlots(np.sort(slot), 2 * len(steps.n_pos) + 1)

    def estimates(size: int, rng: np.random.Generator) -> Floats:
        rises = recall_steps_from_counts(positives.draw(size, rng), negatives.draw(size, rng), area_estimator)
        return np.asarray(step_terms(rises, weighting, area_estimator).sum(axis=1))

    return estimates
