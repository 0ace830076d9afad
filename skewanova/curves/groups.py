"""ROC curves and areas of all models and folds, in memory or packed into two bits for each case."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Bools, Floats
from skewanova.curves import estimators
from skewanova.curves.roc import (
    RecallSteps,
    RocCurve,
    batch_steps,
    curve_from_scores,
    iter_blocks,
    steps_from_vertices,
)
from skewanova.curves.sorting import BLOCK_SIZE, Counts, find_run_ends, iter_runs_with_positives, sort_cases
from skewanova.priors.weightings import DeploymentPrior, UniformPrior, UniformSkew


class GroupMeasures(NamedTuple):
    """AUPREC (n_groups, n_priors), IAUPREC (n_groups,) and AUC (n_groups,) of all groups."""

    auprec: Floats
    iauprec: Floats
    auc: Floats


def _compute_steps(positive: Bools, score: NDArray[Any], sizes: Counts) -> RecallSteps:
    """Return the concatenated steps of the curves of consecutive groups of these sizes."""
    keys = sort_cases(positive, score, sizes).keys
    run = np.zeros(len(keys), dtype=np.intp)
    np.cumsum(find_run_ends(keys, sizes)[:-1], out=run[1:])
    run *= 2
    run |= keys & 1
    blocks = zip(*iter_runs_with_positives(run), strict=True)
    true_before, false_before, true, false = map(np.concatenate, blocks)
    stops = np.cumsum(sizes)
    starts = stops - sizes
    group = np.searchsorted(stops, true + false)
    n_positive = np.add.reduceat(positive, starts, dtype=np.intp)
    n_negative = sizes - n_positive
    base = np.cumsum(n_positive) - n_positive  # positives in the groups before
    tpr, start_tpr = ((count - base[group]) / n_positive[group] for count in (true, true_before))
    base = starts - base
    fpr, start_fpr = ((count - base[group]) / n_negative[group] for count in (false, false_before))
    return RecallSteps(start_tpr, start_fpr, tpr, fpr, np.where(start_tpr == 0, 0.0, np.roll(fpr, 1)))


def _isolate_long_curves(batches: Iterable[RecallSteps]) -> Iterator[RecallSteps]:
    """Yield the batches; one that has a curve of MIN_STEPS_FOR_MOMENTS steps or more comes curve by curve."""
    for steps in batches:
        first = _index_first_steps(steps)
        if np.diff(first, append=len(steps.tpr)).max() < estimators.MIN_STEPS_FOR_MOMENTS:
            yield steps
        else:
            cuts = pairwise([*first.tolist(), len(steps.tpr)])
            yield from (steps.select(slice(start, stop)) for start, stop in cuts)


def _index_first_steps(steps: RecallSteps) -> NDArray[np.intp]:
    """Return the index of the first step of each curve (n_curves,), which starts at recall 0."""
    return np.flatnonzero(steps.start_tpr == 0)


def _auprec_of_batch(steps: RecallSteps, prior: Floats, area_estimator: str) -> Floats:
    """Return AUPREC (n_curves, n_priors) of every curve of a batch at every prior."""
    first = _index_first_steps(steps)
    if len(first) == 1:
        return estimators.areas_from_steps(iter_blocks(steps), prior, area_estimator)[None]
    terms = estimators.terms_kernel(steps, area_estimator)
    sums = [_sum_by_curve(terms(pi), first) for pi in prior]
    return np.stack(sums, axis=1) / _sum_by_curve(steps.height, first)[:, None]


def _iauprec_of_batch(steps: RecallSteps, weighting: DeploymentPrior, area_estimator: str) -> Floats:
    """Return IAUPREC (n_curves,) of every curve of a batch."""
    first = _index_first_steps(steps)
    if len(first) == 1:
        return np.array([estimators.prior_averaged_area(iter_blocks(steps), weighting, area_estimator)])
    if area_estimator in estimators.LINEAR and isinstance(weighting, UniformPrior | UniformSkew):
        terms = estimators.step_terms(steps, weighting, area_estimator)
        return np.asarray(_sum_by_curve(terms, first) / _sum_by_curve(steps.height, first))
    priors, weights = weighting.quadrature()
    return np.average(_auprec_of_batch(steps, priors, area_estimator), axis=1, weights=weights)


def _auc_of_batch(steps: RecallSteps) -> Floats:
    """Return the area under the ROC curve (n_curves,) of every curve of a batch."""
    first, height = _index_first_steps(steps), steps.height
    return np.asarray(_sum_by_curve(estimators.roc_terms(steps), first) / _sum_by_curve(height, first))


def aucs_of_groups(curves: Curves) -> Floats:
    """Return the area under every ROC curve, (n_curves,), by the trapezoidal rule."""
    return np.concatenate([_auc_of_batch(steps) for steps in _iter_steps(curves)])


def _sum_by_curve(values: Floats, first: NDArray[np.intp]) -> Floats:
    """Return sums (n_curves,) of the values (n_steps,) of each curve, which begin at the indices `first`."""
    # bitwise equal to the sum of the curve alone, because of the leading zero
    padded = np.insert(values, first, 0.0)
    return np.asarray(np.add.reduceat(padded, first + np.arange(len(first))))


Cell = tuple[str, str | int]


class MeasuredCurves(Mapping[Cell, RocCurve]):
    """Base of mappings from every (model, fold) to its ROC curve; each subclass defines what `cells` hold."""

    def __init__(self, cells: Mapping[Cell, Any]) -> None:
        self._cells = cells

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __contains__(self, cell: object) -> bool:
        return cell in self._cells

    def __repr__(self) -> str:
        return f"<{len(self)} ROC curves>"

    @property
    @abstractmethod
    def steps(self) -> Iterable[RecallSteps]:
        """The steps of all curves in batches, each the concatenated steps of complete curves."""


class GroupCurves(MeasuredCurves):
    """ROC curves of all (model, fold) from columns of all groups' cases: labels, scores, weights if any."""

    def __init__(self, cells: Sequence[Cell], *columns: NDArray[Any], sizes: Counts) -> None:
        super().__init__(dict.fromkeys(cells))
        self._columns, self._sizes = columns, sizes

    def __getitem__(self, cell: Cell) -> RocCurve:
        return self._curves[cell]

    @cached_property
    def _curves(self) -> dict[Cell, RocCurve]:
        """ROC curve of every (model, fold), all computed on first use."""
        groups = (np.split(column, np.cumsum(self._sizes)[:-1]) for column in self._columns)
        return dict(zip(self._cells, map(curve_from_scores, *groups), strict=True))

    @cached_property
    def steps(self) -> list[RecallSteps]:
        """Steps of all curves, concatenated in batches of complete curves."""
        if len(self._columns) > 2:
            return list(_iter_steps(self._curves))
        (positive, score), sizes, stops = self._columns, self._sizes, np.cumsum(self._sizes)
        cuts = np.flatnonzero(np.diff((stops - 1) // BLOCK_SIZE, prepend=-1, append=-1))
        batches = [(slice(stops[i] - sizes[i], stops[j - 1]), sizes[i:j]) for i, j in pairwise(cuts.tolist())]
        return [_compute_steps(positive[rows], score[rows], parts) for rows, parts in batches]


Bits = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class CurveWithoutThresholds:
    """Base class of ROC curves without thresholds."""

    n_positive: int
    n_negative: int

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return self.n_positive + self.n_negative

    @abstractmethod
    def _totals(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return cumulative (weights of) true and false positives by distinct score, from the highest on."""

    def curve(self) -> RocCurve:
        """Return the ROC curve with all vertices, thresholds nan (the first too), sizes as weights if any."""
        true, false = (np.append(0, totals) for totals in self._totals())
        unknown = np.broadcast_to(np.nan, len(true))
        return RocCurve(false / false[-1], true / true[-1], unknown, float(true[-1]), float(false[-1]))

    def steps(self) -> RecallSteps:
        """Return the steps of the curve that increase recall."""
        roc = self.curve()
        return steps_from_vertices(roc.tpr, roc.fpr)

    def tobytes(self) -> bytes:
        """Return the bytes of the arrays (labels and ties, or weights by score), for a fingerprint."""
        return b"".join(value.tobytes() for value in vars(self).values() if isinstance(value, np.ndarray))


@dataclass(frozen=True, eq=False)
class PackedCurve(CurveWithoutThresholds):
    """ROC curve as bits of its cases in descending order of score."""

    labels: Bits  #: 1 for positives; within a tie, negatives come first
    ends: Bits | None  #: 1 for the last case of each tie; None without ties

    @classmethod
    def _pack_cases(cls, labels: NDArray[Any], is_last_of_tie: NDArray[Any]) -> Self:
        """Return the curve of labels (True: positive) and last cases of ties, in descending score."""
        n_positive = int(np.count_nonzero(labels))
        packed_ends = None if is_last_of_tie.all() else np.packbits(is_last_of_tie)
        return cls(n_positive, len(labels) - n_positive, np.packbits(labels), packed_ends)

    @classmethod
    def from_cases(cls, positive: Bools, score: NDArray[Any]) -> Self:
        """Return the packed curve of validated labels and scores of both classes."""
        keys = sort_cases(positive, score).keys
        return cls._pack_cases((keys & 1).astype(bool), find_run_ends(keys))

    @classmethod
    def from_counts(cls, counts: Counts) -> Self:
        """Return the packed curve of counts (n_scores, 2) of negatives, positives, highest score first."""
        labels = np.repeat(np.tile([False, True], len(counts)), counts.ravel())
        ends = np.zeros(len(labels), dtype=bool)
        ends[np.cumsum(counts.sum(axis=1)) - 1] = True
        return cls._pack_cases(labels, ends)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return one curve of parts that are in descending order of score, and share no score."""
        return cls._pack_cases(*map(np.concatenate, zip(*(part._unpack() for part in parts), strict=True)))

    def _unpack(self) -> tuple[Bits, Bits]:
        """Return 0 or 1 by case, the highest score first: positives, and the last cases of ties."""
        labels = np.unpackbits(self.labels, count=self.n_cases)
        ends = np.ones_like(labels) if self.ends is None else np.unpackbits(self.ends, count=self.n_cases)
        return labels, ends

    def steps(self) -> RecallSteps:
        """Return the steps of the curve that increase recall; without ties, these are the positives."""
        if self.ends is not None:
            return super().steps()
        index = np.flatnonzero(np.unpackbits(self.labels, count=self.n_cases))
        true = np.arange(1, self.n_positive + 1)
        tpr, fpr = true / self.n_positive, (index + 1 - true) / self.n_negative
        return RecallSteps((true - 1) / self.n_positive, fpr, tpr, fpr, np.append(0.0, fpr[:-1]))

    def counts(self) -> tuple[Counts, Counts]:
        """Return positives by step; negatives (2 n_steps + 1,) above step 1, at it, ..., below the last."""
        steps = self.steps()
        true = np.rint(steps.tpr * self.n_positive).astype(np.intp)
        false = np.rint(np.stack([steps.start_fpr, steps.fpr], axis=1).ravel() * self.n_negative)
        total = np.append(false.astype(np.intp), self.n_negative)
        return np.diff(true, prepend=0), np.diff(total, prepend=0)

    def ties(self) -> tuple[int, int]:
        """Return the number of cases at the highest score, and of distinct scores."""
        _, ends = self._unpack()
        return int(np.argmax(ends)) + 1, int(np.count_nonzero(ends))

    def _totals(self) -> tuple[Counts, Counts]:
        """Return cumulative true and false positives at every distinct score, the highest first."""
        labels, ends = self._unpack()
        last = np.flatnonzero(ends)
        true = np.cumsum(labels, dtype=np.int64)[last]
        return true, last + 1 - true


@dataclass(frozen=True, eq=False)
class WeightedCurve(CurveWithoutThresholds):
    """ROC curve of weighted cases."""

    weights: Floats  #: weights of negatives and positives (n_scores, 2) at every score, the highest first
    n_best: int  #: number of cases at the highest score

    @classmethod
    def from_cases(cls, positive: Bools, score: NDArray[Any], weight: Floats) -> Self:
        """Return the curve of validated labels, scores and weights of both classes."""
        levels, index = np.unique(score, return_inverse=True)
        slot = 2 * (len(levels) - 1 - index.reshape(-1)) + positive
        counts = np.bincount(slot, minlength=2 * len(levels)).reshape(-1, 2)
        return cls.from_counts(counts, slot=slot, weight=weight)

    @classmethod
    def from_counts(cls, counts: Counts, *, slot: Counts, weight: Floats) -> Self:
        """Return the curve of counts (n_scores, 2), highest first; cases of row k have slot 2 k + label."""
        # in ascending order of weight, so that the result does not depend on the order of rows
        order = np.lexsort((weight, slot))
        sums = np.bincount(slot[order], weights=weight[order], minlength=counts.size).reshape(-1, 2)
        n_negative, n_positive = counts.sum(axis=0).tolist()
        return cls(n_positive, n_negative, sums.astype(np.float64), int(counts[0].sum()))

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Return one curve of parts that are in descending order of score, and share no score."""
        n_positive, n_negative = (sum(getattr(p, n) for p in parts) for n in ("n_positive", "n_negative"))
        return cls(n_positive, n_negative, np.concatenate([p.weights for p in parts]), parts[0].n_best)

    def counts(self) -> tuple[Floats, Floats]:
        """Return weights of positives by step; of negatives above step 1, at it, ..., below the last."""
        index, scores = np.flatnonzero(self.weights[:, 1]), np.arange(len(self.weights))
        slot = sum(np.searchsorted(index, scores, side=side) for side in ("left", "right"))
        fall = np.bincount(slot, weights=self.weights[:, 0], minlength=2 * len(index) + 1)
        return np.asarray(self.weights[index, 1]), fall.astype(np.float64)

    def ties(self) -> tuple[int, int]:
        """Return the number of cases at the highest score, and of distinct scores."""
        return self.n_best, len(self.weights)

    def _totals(self) -> tuple[Floats, Floats]:
        """Return cumulative weights of true and false positives by distinct score, the highest first."""
        false, true = np.cumsum(self.weights, axis=0).T
        return true, false


CompactCurve = PackedCurve | WeightedCurve


class PackedCurves(MeasuredCurves):
    """ROC curves of all (model, fold), unpacked on access."""

    _cells: Mapping[Cell, CompactCurve]

    def __getitem__(self, cell: Cell) -> RocCurve:
        return self._cells[cell].curve()

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, packed>"

    @property
    def steps(self) -> Iterable[RecallSteps]:
        """The unpacked steps of all curves, concatenated in batches of complete curves."""
        return batch_steps(curve.steps() for curve in self._cells.values())


Curves = Mapping[Cell, RocCurve]


def _iter_steps(curves: Curves) -> Iterable[RecallSteps]:
    """Return the steps of all curves, concatenated in batches of complete curves."""
    if isinstance(curves, MeasuredCurves):
        return curves.steps
    return batch_steps(steps_from_vertices(roc.tpr, roc.fpr) for roc in curves.values())


def areas_of_groups(curves: Curves, priors: Floats, area_estimator: str) -> Floats:
    """Return AUPREC (n_curves, n_priors) of every curve at every prior."""
    if area_estimator not in estimators.STEP_ESTIMATORS:
        return np.array([estimators.area_kernel(roc, area_estimator)(priors) for roc in curves.values()])
    batches = _isolate_long_curves(_iter_steps(curves))
    return np.concatenate([_auprec_of_batch(steps, priors, area_estimator) for steps in batches])


def measures_of_groups(
    curves: Curves, priors: Floats, weighting: DeploymentPrior, area_estimator: str
) -> GroupMeasures:
    """Return AUPREC at every prior, IAUPREC and AUC of every curve, in one pass over the curves."""
    if area_estimator in estimators.STEP_ESTIMATORS:
        parts = [
            (
                _auprec_of_batch(steps, priors, area_estimator),
                _iauprec_of_batch(steps, weighting, area_estimator),
                _auc_of_batch(steps),
            )
            for steps in _isolate_long_curves(_iter_steps(curves))
        ]
        return GroupMeasures(*map(np.concatenate, zip(*parts, strict=True)))
    nodes, weights = weighting.quadrature()
    areas = areas_of_groups(curves, np.append(priors, nodes), area_estimator)
    auprec, at_nodes = np.split(areas, [len(priors)], axis=1)
    return GroupMeasures(auprec, np.average(at_nodes, axis=1, weights=weights), aucs_of_groups(curves))
