"""Leave-one-out values of the area of a model: the jackknife of the estimator in use.

An area that is a sum over the rises of the ROC curve changes in one place only when a case is left out: rises
above the case keep their counts, those below have one true or false positive fewer, and the rise at its score
is counted anew. Sums from the top and from the bottom give the values of all cases at once, and cases of one
class with the same score share a value.

Where several cases are left out together (clusters), or an area is no such sum, it is computed again without
them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Bools, Floats
from skewanova.curves.areas import auprec, iauprec
from skewanova.curves.estimators import BY_REACHED, BY_STEPS, areas, step_terms
from skewanova.curves.placed import FEW_WEIGHTS, slots_among
from skewanova.curves.roc import RecallSteps, RocCurve, curve_from_scores, iter_blocks
from skewanova.curves.sorting import Counts
from skewanova.inference.sampling import Codes, Sample, is_all
from skewanova.priors.weightings import DeploymentPrior, UniformPrior

#: Numbers held at once while areas are computed again: what the second-level cache holds.
BLOCK_SIZE = 1 << 15


#: Priors whose values are found together.
WEIGHTINGS_AT_ONCE = 64


#: Entries whose values are moved at once.
ENTRIES_AT_ONCE = 1 << 12


@dataclass(frozen=True, eq=False)
class JackknifeValues:
    """Jackknife values of all units; exchangeable units share an entry.

    Attributes
    ----------
    estimate : ndarray of shape (n_weightings,)
        The area over each weighting.
    values : ndarray of shape (n_entries, n_weightings)
        (G - 1) (estimate - estimate without the unit), with the G units of its stratum.
    entry : ndarray of shape (n_units,)
        Which of them is each unit's.
    """

    estimate: Floats
    values: Floats
    entry: Codes

    def rows(self, rows: slice | Codes = slice(None), weightings: slice = slice(None)) -> Floats:
        """Values of some units, of shape (n_rows, n_weightings)."""
        return np.asarray(self.values[:, weightings][self.entry[rows]])

    def deviations(self, sample: Sample, *, overwrite: bool = False) -> JackknifeValues:
        """The same with values whose products over units sum to the covariance."""
        centered = self.values if overwrite else self.values.copy()
        for rows, size in sample.strata:
            _centre(centered, np.bincount(self.entry[rows], minlength=len(centered)), size)
        return replace(self, values=centered)


def _centre(values: Floats, count: Codes, size: int) -> None:
    """Turn the values of a stratum's entries, of so many units each, into deviations."""
    mean, present = count @ values / size, np.flatnonzero(count)
    for start in range(0, len(present), ENTRIES_AT_ONCE):
        rows = present[start : start + ENTRIES_AT_ONCE]
        values[rows] = (values[rows] - mean) / np.sqrt(size * max(size - 1, 1))


@dataclass(frozen=True, eq=False)
class SortedScores:
    """Scores of one model on the cases of a sample, sorted once however often they are asked about."""

    sample: Sample
    score: NDArray[Any]

    @cached_property
    def layout(self) -> _Layout | None:
        """Where the cases stand; None where no entry can be shared between units."""
        distinct = None if self.sample.cluster is not None else _distinct_weights(self.sample)
        return None if distinct is None else _layout(self.sample, self.score, distinct)

    def jackknife_values(self, weightings: Sequence[DeploymentPrior], area_estimator: str) -> JackknifeValues:
        """Areas over several weightings, and what leaving out each unit changes in them.

        Those of the latest one that is no single prior are kept: tests, intervals and P(best) ask for them.
        """
        if len(weightings) > 1 or _is_prior(weightings[0]):
            return self._left_out(weightings, area_estimator)
        key = weightings[0], area_estimator
        if not any(over is key[0] and by == key[1] for over, by, _ in self._kept):
            self._kept[:] = [(*key, self._left_out(weightings, area_estimator))]
        return self._kept[0][2]

    @cached_property
    def _kept(self) -> list[tuple[DeploymentPrior, str, JackknifeValues]]:
        return []

    def _left_out(self, weightings: Sequence[DeploymentPrior], area_estimator: str) -> JackknifeValues:
        if area_estimator not in BY_STEPS or self.layout is None:
            return _refitted(self.sample, self.score, weightings, area_estimator)
        result = _changes_at(self.layout, weightings, area_estimator)
        return JackknifeValues(*result, self.layout.entry)

    def areas(self, priors: Floats, area_estimator: str) -> Floats:
        """Area at every prior."""
        if area_estimator in BY_STEPS and self.layout is not None:
            return areas(iter_blocks(self.layout.steps.without_negative(0.0)), priors, area_estimator)
        curve = curve_from_scores(self.sample.positive, self.score, self.sample.weight)
        return auprec(curve, priors, area_estimator=area_estimator)


def _changes_at(
    layout: _Layout, weightings: Sequence[DeploymentPrior], area_estimator: str
) -> tuple[Floats, Floats]:
    """Areas, and the value of every entry (n_entries, n_weightings)."""
    estimate, values = np.empty(len(weightings)), np.empty((layout.n_entries, len(weightings)))
    start = 0
    for part in _together(weightings, WEIGHTINGS_AT_ONCE):
        columns = slice(start, start + (len(part) if isinstance(part, np.ndarray) else 1))
        estimate[columns] = _LeaveOneOut(layout, part, area_estimator).fill(values[:, columns])
        start = columns.stop
    return estimate, values


class CurveJackknife(NamedTuple):
    """Deviations of cases that weigh alike, at every place of a curve that holds any.

    Areas (n_weightings,), values (n_entries, n_weightings), and the entry of every place: of positives at
    every rise, then of negatives in every slot.
    """

    estimate: Floats
    values: Floats
    number: Codes

    @classmethod
    def of(
        cls,
        n_pos: Floats | Counts,
        n_neg: Floats | Counts,
        weightings: Sequence[DeploymentPrior],
        area_estimator: str,
    ) -> CurveJackknife:
        """Measure a curve with so many positives at every rise and negatives in every slot."""
        sizes, ones = (int(n_neg.sum()), int(n_pos.sum())), np.ones(1)
        result = WeightedRanks(n_pos, n_neg, (ones, ones), sizes).changes(weightings, area_estimator)
        for start, counts, size in ((len(n_pos), n_neg, sizes[0]), (0, n_pos, sizes[1])):
            of_entry = np.zeros(len(result.values), dtype=np.intp)
            positions = start + np.flatnonzero(counts)
            of_entry[result.number[positions]] = counts[positions - start]
            _centre(result.values, of_entry, size)
        return result


class WeightedRanks(NamedTuple):
    """A curve with so much weight of positives at every rise and of negatives in every slot.

    `weights` are the different ones of negatives and of positives, `sizes` the numbers of these cases.
    """

    n_pos: Floats | Counts
    n_neg: Floats | Counts
    weights: tuple[Floats, Floats]
    sizes: tuple[int, int]

    def changes(self, weightings: Sequence[DeploymentPrior], area_estimator: str) -> CurveJackknife:
        """What leaving out a case of each weight changes, at every place that holds any: not yet centred."""
        sides = (self.n_pos, self.weights[1]), (self.n_neg, self.weights[0])
        present = np.concatenate([np.tile(counts > 0, len(weight)) for counts, weight in sides])
        number, n_entries = np.where(present, np.cumsum(present) - 1, -1), int(np.count_nonzero(present))
        negatives, positives = (
            _Weights(weight, number, size) for weight, size in zip(self.weights, self.sizes, strict=True)
        )
        steps = _step_table(self.n_pos, self.n_neg)
        layout = _Layout(steps, (negatives, positives), number, number, n_entries)  # of no cases
        return CurveJackknife(*_changes_at(layout, weightings, area_estimator), number)

    def place(self, positive: Bools, slot: Codes, weight: Floats | None) -> Codes:
        """Place of every case: positives at the rises, weight by weight, then negatives in the slots."""
        if weight is None:
            return np.where(positive, slot // 2, self.n_of_positives + slot)
        code = [np.searchsorted(distinct, weight) for distinct in self.weights]
        of_positive = slot // 2 + len(self.n_pos) * code[1]
        return np.where(positive, of_positive, self.n_of_positives + slot + len(self.n_neg) * code[0])

    @property
    def n_of_positives(self) -> int:
        """Number of places of positives."""
        return len(self.n_pos) * len(self.weights[1])


def jackknife_values(
    sample: Sample, score: NDArray[Any], weightings: Sequence[DeploymentPrior], area_estimator: str
) -> JackknifeValues:
    """Areas of one model over several weightings, and what leaving out each unit changes in them."""
    return SortedScores(sample, score).jackknife_values(weightings, area_estimator)


def measure_models(
    sample: Sample,
    scores: Iterable[NDArray[Any] | SortedScores],
    weightings: Sequence[DeploymentPrior],
    area_estimator: str,
) -> tuple[Floats, Floats]:
    """Areas (n_models, n_weightings) on the same cases, and values (n_units, n_models, n_weightings)."""
    results = [ranked(sample, score).jackknife_values(weightings, area_estimator) for score in scores]
    values = np.empty((sample.n_units, len(results), len(weightings)))
    for k, result in enumerate(results):
        values[:, k] = result.rows()
    return np.stack([result.estimate for result in results]), values


def ranked(sample: Sample, score: NDArray[Any] | SortedScores) -> SortedScores:
    """The same, ready to be sorted once."""
    return score if isinstance(score, SortedScores) else SortedScores(sample, score)


class _Layout(NamedTuple):
    """A steps, the different weights, the entry of every place (-1 without a case), and of every case."""

    steps: StepTable
    weights: tuple[_Weights, _Weights]
    number: Codes
    entry: Codes
    n_entries: int


def _layout(sample: Sample, score: NDArray[Any], distinct: tuple[_Weights, _Weights]) -> _Layout:
    """CaseRanks of positives at every rise, then of negatives in every slot, weight by weight."""
    places = rank_cases(sample, score)
    n_rises = len(places.steps.n_pos)
    n_first, n_slots = n_rises * len(distinct[1].weight), 2 * n_rises + 1
    n_places = n_first + n_slots * len(distinct[0].weight)
    position = np.empty(len(score), dtype=np.intp if n_places > np.iinfo(np.int32).max else np.int32)
    position[sample.positive] = places.rise + n_rises * distinct[1].code
    position[~sample.positive] = n_first + places.slot + n_slots * distinct[0].code
    present = np.bincount(position, minlength=n_places) > 0
    number = np.where(present, np.cumsum(present) - 1, -1).astype(position.dtype)
    return _Layout(places.steps, distinct, number, number[position], int(np.count_nonzero(present)))


class _Weights(NamedTuple):
    """Different weights within a class, which of them each case has, and how many cases there are."""

    weight: Floats
    code: Codes
    n_cases: int


def _distinct_weights(sample: Sample) -> tuple[_Weights, _Weights] | None:
    """Weights of the negatives and of the positives; None if there are too many to go one by one."""
    classes = []
    for rows in (~sample.positive, sample.positive):
        n_cases = int(np.count_nonzero(rows))
        weight, code = np.ones(1), np.broadcast_to(np.intp(0), n_cases)
        if sample.weight is not None:
            weight, code = np.unique(sample.weight[rows], return_inverse=True)
        if len(weight) > FEW_WEIGHTS:
            return None
        classes.append(_Weights(weight, code, n_cases))
    return classes[0], classes[1]


class StepTable(NamedTuple):
    """Steps of a ROC curve with a rise in recall, the best score first, in cases or their weight.

    At every step: `n_pos` positives; `tp` and `fp` cases at or above it, `fp_before` negatives above it;
    `fp_prev` the false positives of the step before, `fp_prev2` of that before it.
    """

    n_pos: Floats
    tp: Floats
    fp_before: Floats
    fp: Floats
    fp_prev: Floats
    fp_prev2: Floats
    n_positive: float
    n_negative: float

    def part(self, rows: slice) -> StepTable:
        """Some of the rises."""
        return self._replace(**{name: getattr(self, name)[rows] for name in self._fields[:6]})

    def without_negative(
        self, weight: float, *, start: bool = False, end: bool = False, reached: bool = False
    ) -> RecallSteps:
        """Rises without a negative that counts at the start, at the end, at the end of the rise before."""
        n, m = self.n_positive, self.n_negative - weight
        before = self.fp_prev - reached * weight
        fpr, start_fpr = self.fp - end * weight, self.fp_before - start * weight
        return _rises((self.tp - self.n_pos) / n, start_fpr / m, self.tp / n, fpr / m, before / m)

    def without_positive(
        self, weight: float, *, start: bool = False, end: bool = False, skip: bool = False
    ) -> RecallSteps:
        """Rises without a positive that counts at the start, at the end; `skip` the rise before, now gone."""
        n, m = self.n_positive - weight, self.n_negative
        before = self.fp_prev2 if skip else self.fp_prev
        tpr, start_tpr = self.tp - end * weight, self.tp - self.n_pos - start * weight
        return _rises(start_tpr / n, self.fp_before / m, tpr / n, self.fp / m, before / m)


def _rises(*rates: Floats) -> RecallSteps:
    """Rates at the start and the end; those of rises that are not looked at may be out of range."""
    return RecallSteps(*(np.maximum(rate, 0.0) for rate in rates))


class CaseRanks(NamedTuple):
    """Where the cases stand: the rise of every positive, and the slot of every negative.

    Slot 2 k is above rise k and below the one before, slot 2 k + 1 is tied with rise k.
    """

    steps: StepTable
    rise: Codes
    slot: Codes


def rank_cases(sample: Sample, score: NDArray[Any]) -> CaseRanks:
    """Sort the positives; of the negatives, only the place among them is needed."""
    positive, weight = sample.positive, sample.weight
    distinct, group = np.unique(score[positive], return_inverse=True)
    rise = len(distinct) - 1 - group.reshape(-1)
    slot = slots_among(distinct, score[~positive])
    weights = (None, None) if weight is None else (weight[positive], weight[~positive])
    n_pos = np.bincount(rise, weights=weights[0], minlength=len(distinct))
    n_neg = np.bincount(slot, weights=weights[1], minlength=2 * len(distinct) + 1)
    return CaseRanks(_step_table(n_pos, n_neg), rise, slot)


def _step_table(n_pos: Floats | Counts, n_neg: Floats | Counts) -> StepTable:
    """Rises with such weights of positives at each, and of negatives in every slot."""
    fp = np.cumsum(n_neg).astype(np.float64)
    tp = np.cumsum(n_pos, dtype=np.float64)
    fp_step = fp[1::2]
    before, long_before = (np.append(np.zeros(back), fp_step)[: len(fp_step)] for back in (1, 2))
    totals = float(tp[-1]), float(fp[-1])
    return StepTable(n_pos.astype(np.float64), tp, fp[:-1:2], fp_step, before, long_before, *totals)


def _together(weightings: Sequence[DeploymentPrior], most: int) -> Iterator[DeploymentPrior | Floats]:
    """The weightings in order, those that are one prior as columns of a few."""
    for is_prior, group in groupby(weightings, key=_is_prior):
        if not is_prior:
            yield from group
            continue
        priors = np.array([prior.low for prior in group])[:, None]
        yield from (priors[i : i + max(1, most)] for i in range(0, len(priors), max(1, most)))


def _is_prior(weighting: DeploymentPrior) -> bool:
    return isinstance(weighting, UniformPrior) and weighting.low == weighting.high


class _LeaveOneOut:
    """What leaving out a case of every place changes in areas, over a column of priors or one weighting.

    Rises are looked at in blocks, for all priors at once; sums over the rises above and up to each are
    carried from block to block. Changes are summed, not areas: what is left of two areas is mostly rounding.
    """

    def __init__(self, layout: _Layout, weighting: DeploymentPrior | Floats, area_estimator: str) -> None:
        """Take what all places share."""
        self.layout, self.weighting, self.area_estimator = layout, weighting, area_estimator
        self.size = len(weighting) if isinstance(weighting, np.ndarray) else 1
        self.step = max(1, BLOCK_SIZE // self.size)

    def fill(self, values: Floats) -> Floats:
        """Write the values (n_entries, n_weightings), and return the areas."""
        negatives, positives = self.layout.weights
        n_rises, position = len(self.layout.steps.n_pos), 0
        area = np.zeros(self.size)
        for _, steps in self._blocks(0):
            area += self._terms(steps.without_negative(0.0)).sum(axis=-1)
        for weight in positives.weight.tolist():
            entry = self.layout.number[position : position + n_rises]
            values[entry[entry >= 0]] = 0.0
            if not is_all(weight, self.layout.steps.n_positive):
                self._without_positive(values, entry, weight, 1 - positives.n_cases)
            position += n_rises
        for weight in negatives.weight.tolist():
            entry = self.layout.number[position : position + 2 * n_rises + 1]
            values[entry[entry >= 0]] = 0.0
            if not is_all(weight, self.layout.steps.n_negative):
                self._without_negative(values, entry, weight, 1 - negatives.n_cases)
            position += 2 * n_rises + 1
        return area

    def _blocks(self, beyond: int) -> Iterator[tuple[int, StepTable]]:
        """First rise of a block, and the rises of it and some beyond."""
        steps = self.layout.steps
        for start in range(0, len(steps.n_pos), self.step):
            yield start, steps.part(slice(start, start + self.step + beyond))

    def _terms(self, rises: RecallSteps) -> Floats:
        """Parts of the rises in the areas; nan of places without a case, which nobody looks up."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.atleast_2d(step_terms(rises, self.weighting, self.area_estimator))

    def _without_positive(self, values: Floats, entry: Codes, weight: float, factor: float) -> None:
        """Without a positive of each rise; a rise that ends with it no longer counts as reached."""
        above, below = np.zeros((2, self.size, 1))
        for start, steps in self._blocks(1):
            baseline = self._terms(steps.without_negative(0.0))
            unmoved, tied, fewer, skip = (
                self._terms(steps.without_positive(weight, **where)) - baseline
                for where in (
                    {},
                    {"end": True},
                    {"start": True, "end": True},
                    {"start": True, "end": True, "skip": True},
                )
            )
            n = min(self.step, len(self.layout.steps.n_pos) - start)
            behind = np.zeros((2, self.size, n))  # the next rise, of the last there is none
            behind[:, :, : fewer.shape[1] - 1] = fewer[:, 1:], skip[:, 1:]
            below = below if start else fewer[:, :1]
            upto = below + np.cumsum(behind[0], axis=1)
            over = above + np.cumsum(unmoved[:, :n], axis=1)
            after = np.where(steps.n_pos[:n] <= weight, behind[1], behind[0])
            change = (over - unmoved[:, :n]) + tied[:, :n] + after - upto
            above, below = over[:, -1:], upto[:, -1:]
            _put(values, entry[start : start + n], change)
        _finish(values, entry, below.ravel(), factor)

    def _without_negative(self, values: Floats, entry: Codes, weight: float, factor: float) -> None:
        """Without a negative of each slot."""
        above, below = np.zeros((self.size, 1)), np.zeros((self.size, 1))
        for start, steps in self._blocks(0):
            baseline = self._terms(steps.without_negative(0.0))
            unmoved, tied, between, fewer = (
                self._terms(steps.without_negative(weight, **where)) - baseline
                for where in (
                    {},
                    {"end": True},
                    {"start": True, "end": True},
                    {"start": True, "end": True, "reached": True},
                )
            )
            over, upto = above + np.cumsum(unmoved, axis=1), below + np.cumsum(fewer, axis=1)
            beside = over - unmoved - upto
            slots = slice(2 * start, 2 * (start + unmoved.shape[1]))
            _put(
                values,
                entry[slots],
                np.stack([beside + between, beside + tied], axis=2).reshape(self.size, -1),
            )
            above, below = over[:, -1:], upto[:, -1:]
        _finish(values, entry[:-1], below.ravel(), factor)
        _put(values, entry[-1:], factor * above)


def _put(values: Floats, entry: Codes, changes: Floats) -> None:
    """Write what was found (n_weightings, n_places) of the places that hold a case."""
    present = entry >= 0
    values[entry[present]] = changes[:, present].T


def _finish(values: Floats, entry: Codes, total: Floats | float, factor: float) -> None:
    """Add the sum over all rises, so that those behind each are counted, and scale; entries are in a row."""
    present = np.flatnonzero(entry >= 0)
    if len(present):
        rows = slice(int(entry[present[0]]), int(entry[present[-1]]) + 1)
        values[rows] += total
        values[rows] *= factor


def _refitted(
    sample: Sample, score: NDArray[Any], weightings: Sequence[DeploymentPrior], area_estimator: str
) -> JackknifeValues:
    """Values of units without which the areas are computed again; one that leaves a class empty has 0."""
    curve = curve_from_scores(sample.positive, score, sample.weight)
    estimate = areas_over(curve, weightings, area_estimator)
    if area_estimator in BY_STEPS:
        units = ClusterRanks.of(sample, score)
        return units.jackknife_values(estimate, sample.stratum_size, weightings, area_estimator)
    first, entry = _alike(sample, score)
    areas = (_without(sample, score, weightings, area_estimator, unit=unit) for unit in first.tolist())
    without = np.array(list(areas))
    size = np.empty(len(without))
    size[entry] = sample.stratum_size
    values = (size[:, None] - 1) * (estimate - without)
    return JackknifeValues(estimate, np.where(np.isnan(values), 0.0, values), entry)


def areas_over(curve: RocCurve, weightings: Sequence[DeploymentPrior], area_estimator: str) -> Floats:
    """Area of a curve over each weighting."""
    return np.array([iauprec(curve, weighting, area_estimator=area_estimator) for weighting in weightings])


@dataclass(frozen=True, eq=False)
class ClusterRanks:
    """Where the cases of units stand on a curve: rises of the positives, slots of the negatives.

    `n_pos` and `n_neg` are the weights of all positives at every rise and of all negatives in every slot,
    including units that are elsewhere.
    """

    sample: Sample
    rise: Codes
    slot: Codes
    n_pos: Floats
    n_neg: Floats

    @classmethod
    def of(cls, sample: Sample, score: NDArray[Any]) -> ClusterRanks:
        """CaseRanks of units that are all here."""
        steps, rise, slot = rank_cases(sample, score)
        weight = np.ones(len(score)) if sample.weight is None else sample.weight
        n_pos = np.bincount(rise, weights=weight[sample.positive], minlength=len(steps.n_pos))
        n_neg = np.bincount(slot, weights=weight[~sample.positive], minlength=2 * len(steps.n_pos) + 1)
        return cls(sample, rise, slot, n_pos.astype(np.float64), n_neg.astype(np.float64))

    def jackknife_values(
        self, estimate: Floats, sizes: Codes, weightings: Sequence[DeploymentPrior], area_estimator: str
    ) -> JackknifeValues:
        """Jackknife values of units whose strata have so many; one that leaves a class empty has 0."""
        values = (sizes[:, None] - 1) * (estimate - self.areas(weightings, area_estimator))
        return JackknifeValues(estimate, np.where(np.isnan(values), 0.0, values), self.sample.unit_numbers)

    def areas(self, weightings: Sequence[DeploymentPrior], area_estimator: str) -> Floats:
        """Areas (n_units, n_weightings) without each unit, many at once; nan where a class would be empty."""
        step, blocks = max(1, BLOCK_SIZE // len(self.n_neg)), []
        for start in range(0, self.sample.n_units, step):
            stop = min(start + step, self.sample.n_units)
            n_pos, n_neg = (total - side.of_units(start, stop, len(total)) for side, total in self._whole)
            rises = rises_of_counts(np.maximum(n_pos, 0.0), np.maximum(n_neg, 0.0), area_estimator)
            areas = np.stack(
                [step_terms(rises, weighting, area_estimator).sum(axis=1) for weighting in weightings], axis=1
            )
            for left, (_, total) in zip((n_pos, n_neg), self._whole, strict=True):
                areas[is_all(total.sum() - left.sum(axis=1), total.sum())] = np.nan
            blocks.append(areas)
        return np.concatenate(blocks)

    @cached_property
    def _whole(self) -> tuple[tuple[_ClassCases, Floats], tuple[_ClassCases, Floats]]:
        """Cases of each class, and the weight of all at every place."""
        positive, weight = self.sample.positive, self.sample.weight
        sides = []
        for rows, position in ((positive, self.rise), (~positive, self.slot)):
            order = np.argsort(self.sample.unit[rows], kind="stable")
            weights = np.ones(len(order)) if weight is None else weight[rows][order]
            sides.append(_ClassCases(self.sample.unit[rows][order], position[order], weights))
        return (sides[0], self.n_pos), (sides[1], self.n_neg)


class _ClassCases(NamedTuple):
    """Unit, place and weight of the cases of a class, unit after unit."""

    unit: Codes
    place: Codes
    weight: Floats

    def of_units(self, start: int, stop: int, n_places: int) -> Floats:
        """Weight of some of the units at every place, a row each."""
        rows = slice(*np.searchsorted(self.unit, [start, stop]).tolist())
        index = (self.unit[rows] - start) * n_places + self.place[rows]
        counts = np.bincount(index, weights=self.weight[rows], minlength=(stop - start) * n_places)
        return np.asarray(counts.reshape(-1, n_places), dtype=np.float64)


def rises_of_counts(n_pos: Floats | Counts, n_neg: Floats | Counts, area_estimator: str) -> RecallSteps:
    """Rises of samples with so many positives at every rise and so many negatives in every slot, row by row.

    Where a row has no hit at a rise, that rise has no height; a class without cases has rates of nan. Where a
    recall was first reached is found for the estimators that ask for it.
    """
    true, false = (np.cumsum(counts, axis=1, dtype=np.float64) for counts in (n_pos, n_neg))
    with np.errstate(invalid="ignore"):
        fpr, start_fpr = false[:, 1::2] / false[:, -1:], false[:, :-1:2] / false[:, -1:]
        reached = _reached(n_pos, fpr) if area_estimator in BY_REACHED else fpr
        return RecallSteps((true - n_pos) / true[:, -1:], start_fpr, true / true[:, -1:], fpr, reached)


def _reached(n_pos: Floats | Counts, fpr: Floats) -> Floats:
    """False positive rate at the end of the last rise before that has a hit, 0 where there is none."""
    last = np.maximum.accumulate(np.where(n_pos > 0, np.arange(n_pos.shape[1]), -1), axis=1)
    last = np.insert(last[:, :-1], 0, -1, axis=1)
    return np.where(last >= 0, np.take_along_axis(fpr, np.maximum(last, 0), axis=1), 0.0)


def _alike(sample: Sample, score: NDArray[Any]) -> tuple[Codes, Codes]:
    """First unit of each kind that leaves the same curve when left out, and the kind of every unit."""
    if sample.cluster is not None:
        return np.arange(sample.n_units), sample.unit_numbers
    weight = np.zeros(len(score)) if sample.weight is None else sample.weight
    keys = [np.unique(column, return_inverse=True)[1] for column in (score, weight)]
    _, first, kind = np.unique(
        np.column_stack([*keys, sample.positive]), axis=0, return_index=True, return_inverse=True
    )
    return first, kind.reshape(-1)


def _without(
    sample: Sample,
    score: NDArray[Any],
    weightings: Sequence[DeploymentPrior],
    area_estimator: str,
    *,
    unit: int,
) -> list[float]:
    """Areas of a curve without one unit; nan where a class would be empty."""
    included = sample.unit != unit
    positive = sample.positive[included]
    weights = (sample.held(positive=side) for side in (True, False))
    if any(is_all(weight[unit], weight.sum()) for weight in weights):
        return [np.nan] * len(weightings)
    weight = None if sample.weight is None else sample.weight[included]
    curve = curve_from_scores(positive, score[included], weight)
    return [iauprec(curve, weighting, area_estimator=area_estimator) for weighting in weightings]
