"""Jackknife and bootstrap of the area of a model over the cases of a test set.

An area that is a sum over the rises of the ROC curve changes in one place only when a case is left out: rises
above the case keep their counts, those below have one true or false positive fewer, and the rise at its score
is counted anew. So sums from the top and from the bottom give the values of all cases at once. For clusters,
or if an area is no such sum, it is computed again.
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
from skewanova.curves.areas import iauprec
from skewanova.curves.estimators import BY_REACHED, BY_STEPS, step_terms
from skewanova.curves.roc import RecallSteps, RocCurve, curve_from_scores
from skewanova.curves.sorting import FEW_WEIGHTS, Counts, run_ends, slots_among, sort_cases
from skewanova.inference.sampling import Codes, Sample, is_entire_class
from skewanova.priors.weightings import DeploymentPrior, UniformPrior

#: Numbers held at once while areas are computed again: what the second-level cache holds.
BLOCK_SIZE = 1 << 15


#: Priors whose values are computed together.
PRIORS_AT_ONCE = 64


#: Entries whose values are moved at once.
ENTRIES_AT_ONCE = 1 << 12


@dataclass(frozen=True, eq=False)
class JackknifeValues:
    """Areas over some weightings (n_weightings,), and the jackknife values of all units.

    The values (n_entries, n_weightings) are (G - 1) (estimate - estimate without the unit), with the G units
    of its stratum; `entry` is that of every unit, which exchangeable units share.
    """

    estimate: Floats
    values: Floats
    entry: Codes

    def select_units(self, rows: slice | Codes = slice(None)) -> Floats:
        """Values of some units, of shape (n_rows, n_weightings)."""
        return np.asarray(self.values[self.entry[rows]])

    def deviations(self, sample: Sample, *, overwrite: bool = False) -> JackknifeValues:
        """Return values whose products over units sum to the covariance."""
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


class SortedScores:
    """Scores of one model on the cases of a sample, sorted once for all weightings."""

    def __init__(self, sample: Sample, score: NDArray[Any]) -> None:
        self.sample, self.score = sample, score
        self._latest: list[tuple[DeploymentPrior, str, JackknifeValues]] = []

    @cached_property
    def layout(self) -> tuple[CurvePositions, Codes, Codes] | None:
        """Places on the curve, and the entry of each and of every unit; None if no units share any."""
        if self.sample.cluster is not None:
            return None
        positive, weight = self.sample.positive, self.sample.weight
        distinct = [np.ones(1) if weight is None else np.unique(weight[positive == side]) for side in (0, 1)]
        if max(map(len, distinct)) > FEW_WEIGHTS:
            return None
        steps, rise, slot = rank_cases(self.sample, self.score)
        places = CurvePositions(steps, (distinct[0], distinct[1]), (len(slot), len(rise)))
        position = places.locate_cases(positive, rise, slot, weight)
        entry = number_occupied(np.bincount(position, minlength=places.n_places) > 0).astype(position.dtype)
        return places, entry, entry[position]

    def jackknife_values(self, weightings: Sequence[DeploymentPrior], area_estimator: str) -> JackknifeValues:
        """Areas over several weightings, and the values of all units; cached for the latest IAUPREC."""
        if len(weightings) > 1 or _is_single_prior(weightings[0]):
            return self._leave_one_out(weightings, area_estimator)
        for weighting, estimator, values in self._latest:
            if weighting is weightings[0] and estimator == area_estimator:
                return values
        values = self._leave_one_out(weightings, area_estimator)
        self._latest = [(weightings[0], area_estimator, values)]
        return values

    def _leave_one_out(self, weightings: Sequence[DeploymentPrior], area_estimator: str) -> JackknifeValues:
        if area_estimator not in BY_STEPS or self.layout is None:
            return _recompute_areas(self, weightings, area_estimator)
        places, entry, entry_of_unit = self.layout
        return JackknifeValues(*places.leave_one_out(entry, weightings, area_estimator), entry_of_unit)


class CurvePositions(NamedTuple):
    """Places on a curve: positives at every rise, then negatives in every slot, for every weight of a class.

    `weights` are the different ones and `sizes` the numbers of the negatives and of the positives.
    """

    steps: StepTable
    weights: tuple[Floats, Floats]
    sizes: tuple[int, int]

    @property
    def n_positive_positions(self) -> int:
        """Number of places of positives."""
        return len(self.steps.n_pos) * len(self.weights[1])

    @property
    def n_places(self) -> int:
        """Number of places."""
        return self.n_positive_positions + (2 * len(self.steps.n_pos) + 1) * len(self.weights[0])

    def locate_cases(self, positive: Bools, rise: Codes, slot: Codes, weight: Floats | None) -> Codes:
        """Place of every case, from the rise of every positive and the slot of every negative."""
        n_rises, fits = len(self.steps.n_pos), self.n_places <= np.iinfo(np.int32).max
        position: Codes = np.empty(len(positive), dtype=np.int32 if fits else np.intp)
        sides = (positive, rise, n_rises), (~positive, self.n_positive_positions + slot, 2 * n_rises + 1)
        for (rows, first, size), distinct in zip(sides, self.weights[::-1], strict=True):
            code = 0 if weight is None else np.searchsorted(distinct, weight[rows])
            position[rows] = first + size * code
        return position

    def leave_one_out(
        self, entry: Codes, weightings: Sequence[DeploymentPrior], area_estimator: str
    ) -> tuple[Floats, Floats]:
        """Areas, and what leaving out a case changes (n_entries, n_weightings), by the entry of its place."""
        estimate, values = np.empty(len(weightings)), np.empty((int(entry.max()) + 1, len(weightings)))
        start = 0
        for part in _group_priors(weightings):
            columns = slice(start, start + (len(part) if isinstance(part, np.ndarray) else 1))
            estimate[columns] = _LeaveOneOut(self, part, area_estimator).fill(values[:, columns], entry)
            start = columns.stop
        return estimate, values


def number_occupied(present: Bools) -> Codes:
    """Return numbers of the places that hold cases, -1 for the others."""
    return np.asarray(np.where(present, np.cumsum(present) - 1, -1))


def measure_models(
    sample: Sample,
    scores: Iterable[NDArray[Any] | SortedScores],
    weightings: Sequence[DeploymentPrior],
    area_estimator: str,
) -> tuple[Floats, Floats]:
    """Areas (n_models, n_weightings) on the same cases, and values (n_units, n_models, n_weightings)."""
    models = (score if isinstance(score, SortedScores) else SortedScores(sample, score) for score in scores)
    results = [model.jackknife_values(weightings, area_estimator) for model in models]
    values = np.empty((sample.n_units, len(results), len(weightings)))
    for k, result in enumerate(results):
        values[:, k] = result.select_units()
    return np.stack([result.estimate for result in results]), values


class StepTable(NamedTuple):
    """Steps of a ROC curve with a rise in recall, the best score first, in cases or their weight.

    `fp_before` are negatives above a step, `fp_prev` and `fp_prev2` the false positives of the two before.
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
        """Count the steps with such weights of positives at each rise, and of negatives in every slot."""
        fp = np.cumsum(n_neg).astype(np.float64)
        tp = np.cumsum(n_pos, dtype=np.float64)
        fp_step = fp[1::2]
        before, long_before = (np.append(np.zeros(back), fp_step)[: len(fp_step)] for back in (1, 2))
        totals = float(tp[-1]), float(fp[-1])
        return cls(n_pos.astype(np.float64), tp, fp[:-1:2], fp_step, before, long_before, *totals)

    def slice_steps(self, rows: slice) -> StepTable:
        """Return some of the rises."""
        return self._replace(**{name: getattr(self, name)[rows] for name in self._fields[:6]})

    def drop_negative(
        self, weight: float, *, start: bool = False, end: bool = False, reached: bool = False
    ) -> RecallSteps:
        """Rises without a negative that counts at the start, at the end, at the end of the rise before."""
        n, m = self.n_positive, self.n_negative - weight
        before = self.fp_prev - reached * weight
        fpr, start_fpr = self.fp - end * weight, self.fp_before - start * weight
        return _clip_rates((self.tp - self.n_pos) / n, start_fpr / m, self.tp / n, fpr / m, before / m)

    def drop_positive(
        self, weight: float, *, start: bool = False, end: bool = False, skip: bool = False
    ) -> RecallSteps:
        """Rises without a positive that counts at the start, at the end; `skip` the rise before, now gone."""
        n, m = self.n_positive - weight, self.n_negative
        before = self.fp_prev2 if skip else self.fp_prev
        tpr, start_tpr = self.tp - end * weight, self.tp - self.n_pos - start * weight
        return _clip_rates(start_tpr / n, self.fp_before / m, tpr / n, self.fp / m, before / m)


def _clip_rates(*rates: Floats) -> RecallSteps:
    """Rates at the start and the end; those of rises that are not looked at may be out of range."""
    return RecallSteps(*(np.maximum(rate, 0.0) for rate in rates))


class CaseRanks(NamedTuple):
    """Ranks of the cases: the step of every positive, and the slot of every negative.

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
    return CaseRanks(StepTable.from_counts(n_pos, n_neg), rise, slot)


def _group_priors(weightings: Sequence[DeploymentPrior]) -> Iterator[DeploymentPrior | Floats]:
    """Yield the weightings in order, those that are one prior as columns of a few."""
    for is_prior, group in groupby(weightings, key=_is_single_prior):
        if is_prior:
            priors = np.array([prior.low for prior in group])[:, None]
            yield from (priors[i : i + PRIORS_AT_ONCE] for i in range(0, len(priors), PRIORS_AT_ONCE))
        else:
            yield from group


def _is_single_prior(weighting: DeploymentPrior) -> bool:
    return isinstance(weighting, UniformPrior) and weighting.low == weighting.high


#: How a case that is left out counts at a rise: one below it, one tied with it, one above it.
BELOW: dict[str, bool] = {}
TIED = {"end": True}
ABOVE = {"start": True, "end": True}


class _LeaveOneOut:
    """Change of areas when a case of every rank is left out, over a column of priors or one weighting.

    Sums over the rises above and up to each are carried from block to block. Changes are summed, not areas:
    what is left of two areas is mostly rounding.
    """

    def __init__(
        self, places: CurvePositions, weighting: DeploymentPrior | Floats, area_estimator: str
    ) -> None:
        self.places, self.steps = places, places.steps
        self.weighting, self.area_estimator = weighting, area_estimator
        self.size = len(weighting) if isinstance(weighting, np.ndarray) else 1
        self.step = max(1, BLOCK_SIZE // self.size)

    def fill(self, values: Floats, entry: Codes) -> Floats:
        """Write the values (n_entries, n_weightings) of places, and return the areas."""
        n_rises, position = len(self.steps.n_pos), 0
        area = np.zeros(self.size)
        for _, steps in self._blocks(0):
            area += self._terms(steps.drop_negative(0.0)).sum(axis=-1)
        sides = (
            (n_rises, self.steps.n_positive, self._drop_positives),
            (2 * n_rises + 1, self.steps.n_negative, self._drop_negatives),
        )
        for (size, total, without), side in zip(sides, (1, 0), strict=True):
            for weight in self.places.weights[side].tolist():
                entries = entry[position : position + size]
                values[entries[entries >= 0]] = 0.0
                if not is_entire_class(weight, total):
                    without(values, entries, weight, 1 - self.places.sizes[side])
                position += size
        return area

    def _blocks(self, beyond: int) -> Iterator[tuple[int, StepTable]]:
        """First rise of a block, and the rises of it and some beyond."""
        for start in range(0, len(self.steps.n_pos), self.step):
            yield start, self.steps.slice_steps(slice(start, start + self.step + beyond))

    def _terms(self, rises: RecallSteps) -> Floats:
        """Parts of the rises in the areas; nan at places without a case."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.atleast_2d(step_terms(rises, self.weighting, self.area_estimator))

    def _drop_positives(self, values: Floats, entry: Codes, weight: float, factor: float) -> None:
        """Without a positive of each rise; a rise that ends with it no longer counts as reached."""
        above, below = np.zeros((2, self.size, 1))
        for start, steps in self._blocks(1):
            baseline = self._terms(steps.drop_negative(0.0))
            unmoved, tied, fewer, skip = (
                self._terms(steps.drop_positive(weight, **where)) - baseline
                for where in (BELOW, TIED, ABOVE, ABOVE | {"skip": True})
            )
            n = min(self.step, len(self.steps.n_pos) - start)
            behind = np.zeros((2, self.size, n))  # the next rise, of the last there is none
            behind[:, :, : fewer.shape[1] - 1] = fewer[:, 1:], skip[:, 1:]
            below = below if start else fewer[:, :1]
            upto = below + np.cumsum(behind[0], axis=1)
            over = above + np.cumsum(unmoved[:, :n], axis=1)
            after = np.where(steps.n_pos[:n] <= weight, behind[1], behind[0])
            change = (over - unmoved[:, :n]) + tied[:, :n] + after - upto
            above, below = over[:, -1:], upto[:, -1:]
            _write_changes(values, entry[start : start + n], change)
        _add_total(values, entry, below.ravel(), factor)

    def _drop_negatives(self, values: Floats, entry: Codes, weight: float, factor: float) -> None:
        """Without a negative of each slot."""
        above, below = np.zeros((self.size, 1)), np.zeros((self.size, 1))
        for start, steps in self._blocks(0):
            baseline = self._terms(steps.drop_negative(0.0))
            unmoved, tied, between, fewer = (
                self._terms(steps.drop_negative(weight, **where)) - baseline
                for where in (BELOW, TIED, ABOVE, ABOVE | {"reached": True})
            )
            over, upto = above + np.cumsum(unmoved, axis=1), below + np.cumsum(fewer, axis=1)
            beside = over - unmoved - upto
            slots = slice(2 * start, 2 * (start + unmoved.shape[1]))
            change = np.stack([beside + between, beside + tied], axis=2)
            _write_changes(values, entry[slots], change.reshape(self.size, -1))
            above, below = over[:, -1:], upto[:, -1:]
        _add_total(values, entry[:-1], below.ravel(), factor)
        _write_changes(values, entry[-1:], factor * above)


def _write_changes(values: Floats, entry: Codes, changes: Floats) -> None:
    """Write the changes (n_weightings, n_places) at places that hold a case."""
    present = entry >= 0
    values[entry[present]] = changes[:, present].T


def _add_total(values: Floats, entry: Codes, total: Floats | float, factor: float) -> None:
    """Add the sum over all rises, so that those behind each are counted, and scale; entries are in a row."""
    present = np.flatnonzero(entry >= 0)
    if len(present):
        rows = slice(int(entry[present[0]]), int(entry[present[-1]]) + 1)
        values[rows] += total
        values[rows] *= factor


def _recompute_areas(
    model: SortedScores, weightings: Sequence[DeploymentPrior], area_estimator: str
) -> JackknifeValues:
    """Values of units without which the areas are computed again; one that leaves a class empty has 0."""
    sample, score = model.sample, model.score
    curve = curve_from_scores(sample.positive, score, sample.weight)
    estimate = compute_areas(curve, weightings, area_estimator)
    if area_estimator in BY_STEPS:
        units = ClusterRanks.from_sample(sample, score)
        return units.jackknife_values(estimate, sample.stratum_size, weightings, area_estimator)
    first, entry = _find_exchangeable_units(sample, score)
    without = np.full((len(first), len(weightings)), np.nan)
    sides = [sample.unit_weights(positive=side) for side in (True, False)]
    for row, unit in enumerate(first.tolist()):
        if not any(is_entire_class(weight[unit], weight.sum()) for weight in sides):
            included = (sample.unit != unit).astype(np.float64)
            without[row] = _weighted_areas(model, included, weightings, area_estimator)
    size = np.empty(len(without))
    size[entry] = sample.stratum_size
    return JackknifeValues(estimate, _scale_changes(size, estimate - without), entry)


def _scale_changes(size: Floats | Codes, changes: Floats) -> Floats:
    """Jackknife values of units in strata of so many; one that leaves a class empty has 0."""
    values = (size[:, None] - 1) * changes
    return np.where(np.isnan(values), 0.0, values)


def _weighted_areas(
    model: SortedScores, case_weight: Floats, weightings: Sequence[DeploymentPrior], area_estimator: str
) -> Floats:
    """Areas of the cases that have such weights besides their own; nan where a class is empty."""
    sample = model.sample
    weight = case_weight if sample.weight is None else case_weight * sample.weight
    included = weight > 0
    positive = sample.positive[included]
    if positive.all() or not positive.any():
        return np.full(len(weightings), np.nan)
    curve = curve_from_scores(positive, model.score[included], weight[included])
    return compute_areas(curve, weightings, area_estimator)


def compute_areas(curve: RocCurve, weightings: Sequence[DeploymentPrior], area_estimator: str) -> Floats:
    """Area of a curve over each weighting."""
    return np.array([iauprec(curve, weighting, area_estimator=area_estimator) for weighting in weightings])


@dataclass(frozen=True, eq=False)
class ClusterRanks:
    """Rises of the positives of units and slots of their negatives, and the weight of all cases there."""

    sample: Sample
    rise: Codes
    slot: Codes
    n_pos: Floats
    n_neg: Floats

    @classmethod
    def from_sample(cls, sample: Sample, score: NDArray[Any]) -> ClusterRanks:
        """Rank units that are all here."""
        steps, rise, slot = rank_cases(sample, score)
        weight = None if sample.weight is None else sample.weight[~sample.positive]
        n_neg = np.bincount(slot, weights=weight, minlength=2 * len(steps.n_pos) + 1).astype(np.float64)
        return cls(sample, rise, slot, steps.n_pos, n_neg)

    def jackknife_values(
        self, estimate: Floats, sizes: Codes, weightings: Sequence[DeploymentPrior], area_estimator: str
    ) -> JackknifeValues:
        """Jackknife values of units whose strata have so many."""
        values = _scale_changes(sizes, estimate - self.areas(weightings, area_estimator))
        return JackknifeValues(estimate, values, np.arange(self.sample.n_units))

    def areas(self, weightings: Sequence[DeploymentPrior], area_estimator: str) -> Floats:
        """Areas (n_units, n_weightings) without each unit, many at once; nan where a class would be empty."""
        step, blocks = max(1, BLOCK_SIZE // len(self.n_neg)), []
        for start in range(0, self.sample.n_units, step):
            n_pos, n_neg = (
                np.maximum(total - weights[start : start + step].toarray(), 0.0)
                for total, weights in zip((self.n_pos, self.n_neg), self._unit_weights, strict=True)
            )
            rises = steps_from_counts(n_pos, n_neg, area_estimator)
            areas = [step_terms(rises, weighting, area_estimator).sum(axis=1) for weighting in weightings]
            blocks.append(np.stack(areas, axis=1))
            for rest, total in ((n_pos, self.n_pos.sum()), (n_neg, self.n_neg.sum())):
                blocks[-1][is_entire_class(total - rest.sum(axis=1), total)] = np.nan
        return np.concatenate(blocks)

    @cached_property
    def _unit_weights(self) -> list[sparse.csr_array]:
        """Weight of every unit at every rise (of positives) and in every slot (of negatives)."""
        sample, tables = self.sample, []
        weight = np.ones(len(sample.positive)) if sample.weight is None else sample.weight
        for side, position, total in ((True, self.rise, self.n_pos), (False, self.slot, self.n_neg)):
            rows = sample.positive == side
            entries = weight[rows], (sample.unit[rows], position)
            tables.append(sparse.coo_array(entries, shape=(sample.n_units, len(total))).tocsr())
        return tables


def steps_from_counts(n_pos: Floats | Counts, n_neg: Floats | Counts, area_estimator: str) -> RecallSteps:
    """Rises of samples with so many positives at every rise and so many negatives in every slot, row by row.

    Where a row has no positive at a rise, that rise has no height; a class without cases has rates of nan.
    """
    true, false = (np.cumsum(counts, axis=1, dtype=np.float64) for counts in (n_pos, n_neg))
    with np.errstate(invalid="ignore"):
        fpr, start_fpr = false[:, 1::2] / false[:, -1:], false[:, :-1:2] / false[:, -1:]
        reached = _previous_hit_fpr(n_pos, fpr) if area_estimator in BY_REACHED else fpr
        return RecallSteps((true - n_pos) / true[:, -1:], start_fpr, true / true[:, -1:], fpr, reached)


def _previous_hit_fpr(n_pos: Floats | Counts, fpr: Floats) -> Floats:
    """Return false positive rate at the end of the last rise before that has a hit, 0 where there is none."""
    last = np.maximum.accumulate(np.where(n_pos > 0, np.arange(n_pos.shape[1]), -1), axis=1)
    last = np.insert(last[:, :-1], 0, -1, axis=1)
    return np.where(last >= 0, np.take_along_axis(fpr, np.maximum(last, 0), axis=1), 0.0)


def _find_exchangeable_units(sample: Sample, score: NDArray[Any]) -> tuple[Codes, Codes]:
    """First unit of each kind that leaves the same curve when left out, and the kind of every unit."""
    if sample.cluster is not None:
        units = np.arange(sample.n_units)
        return units, units
    weight = np.zeros(len(score)) if sample.weight is None else sample.weight
    keys = [np.unique(column, return_inverse=True)[1] for column in (score, weight)]
    _, first, kind = np.unique(
        np.column_stack([*keys, sample.positive]), axis=0, return_index=True, return_inverse=True
    )
    return first, kind.reshape(-1)


#: Cases drawn at once, so that a few arrays of them stay in the second-level cache. Every block of resamples
#: has a seed of its own: the size is part of what makes results repeat.
MAX_CASES_AT_ONCE = 1 << 16


def bootstrap_estimates(
    sample: Sample,
    score: NDArray[Any],
    weighting: DeploymentPrior,
    *,
    area_estimator: str,
    n_resamples: int,
    rng: Seed,
) -> Floats:
    """Estimates of AUPREC or IAUPREC from `n_resamples` samples of as many units of each stratum.

    A sample of clusters that happens to lack a class is left out.
    """
    block = max(1, MAX_CASES_AT_ONCE // len(score))
    sizes = [min(block, n_resamples - start) for start in range(0, n_resamples, block)]
    if sample.cluster is not None or sample.weight is not None:
        measure = _resample_units
    else:
        measure = _resample_steps if area_estimator in BY_STEPS else _resample_curves
    estimates = measure(SortedScores(sample, score), weighting, area_estimator)
    streams = map(np.random.default_rng, block_seeds(rng, len(sizes)))
    results = np.concatenate([estimates(size, stream) for size, stream in zip(sizes, streams, strict=True)])
    return np.asarray(results[np.isfinite(results)])


def block_seeds(rng: Seed, n_blocks: int) -> list[np.random.SeedSequence]:
    """Return a seed for each block, from the next numbers of `rng`, so that they repeat with its state."""
    entropy = make_generator(rng).integers(2**32, size=4)
    return np.random.SeedSequence(entropy.tolist()).spawn(n_blocks)


Estimates = Callable[[int, np.random.Generator], Floats]


class _ClassSlots(NamedTuple):
    """Cases of one class from the best score down, by the slot each falls in."""

    slot: Counts
    n_slots: int

    def draw(self, size: int, rng: np.random.Generator) -> Counts:
        """Cases in every slot, one row a resample."""
        index = self.slot[rng.integers(0, len(self.slot), size=(size, len(self.slot)))]
        index += np.arange(size)[:, None] * self.n_slots
        return np.bincount(index.ravel(), minlength=size * self.n_slots).reshape(size, self.n_slots)


def _resample_units(model: SortedScores, weighting: DeploymentPrior, area_estimator: str) -> Estimates:
    """Units drawn as a whole, stratum by stratum; every case weighs what its unit was drawn."""
    sample = model.sample

    def estimate(rng: np.random.Generator) -> float:
        drawn = np.zeros(sample.n_units)
        for rows, size in sample.strata:
            drawn[rows] = np.bincount(rng.integers(0, size, size=size), minlength=size)
        return float(_weighted_areas(model, drawn[sample.unit], [weighting], area_estimator)[0])

    return lambda size, rng: np.array([estimate(rng) for _ in range(size)])


def _resample_curves(model: SortedScores, weighting: DeploymentPrior, area_estimator: str) -> Estimates:
    """Estimator's own kernel on every resampled curve, groups that were not drawn left out."""
    keys = sort_cases(model.sample.positive, model.score).keys
    counts = np.diff([np.cumsum(label)[run_ends(keys)] for label in (keys & 1, 1 - (keys & 1))], prepend=0)
    classes = [_ClassSlots(np.repeat(np.arange(len(count)), count), len(count)) for count in counts]

    def estimates(size: int, rng: np.random.Generator) -> Floats:
        true, false = (np.cumsum(group.draw(size, rng), axis=1) for group in classes)
        curves = (_curve_from_counts(t, f) for t, f in zip(true, false, strict=True))
        return np.array([iauprec(curve, weighting, area_estimator=area_estimator) for curve in curves])

    return estimates


def _curve_from_counts(true: Counts, false: Counts) -> RocCurve:
    changed = np.flatnonzero(np.diff(true + false, prepend=0))
    t, f = (np.append(0.0, count[changed] / count[-1]) for count in (true, false))
    return RocCurve(f, t, np.full(len(t), np.nan), float(true[-1]), float(false[-1]))


def _resample_steps(model: SortedScores, weighting: DeploymentPrior, area_estimator: str) -> Estimates:
    """Only groups with positives matter: the negatives have a slot within each, and one before each."""
    steps, rise, slot = rank_cases(model.sample, model.score)
    positives = _ClassSlots(np.sort(rise), len(steps.n_pos))
    negatives = _ClassSlots(np.sort(slot), 2 * len(steps.n_pos) + 1)

    def estimates(size: int, rng: np.random.Generator) -> Floats:
        rises = steps_from_counts(positives.draw(size, rng), negatives.draw(size, rng), area_estimator)
        return np.asarray(step_terms(rises, weighting, area_estimator).sum(axis=1))

    return estimates
