"""Curves and measures of all (model, fold), in memory or two bits a case."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Bools, Floats
from skewanova.curves.estimators import (
    BY_STEPS,
    LINEAR,
    MANY_PRIORS,
    MANY_STEPS,
    Kernel,
    area_kernel,
    areas,
    moment_sums,
    prior_averaged_area,
    segment_areas,
    segments,
    step_terms,
    vertex_precision,
)
from skewanova.curves.roc import (
    RecallSteps,
    RocCurve,
    batch_steps,
    concatenate_steps,
    curve_from_scores,
    iter_blocks,
    steps_from_vertices,
)
from skewanova.curves.sorting import BLOCK_SIZE, Counts, rising_runs, run_ends, sort_cases
from skewanova.priors.weightings import DeploymentPrior, UniformPrior, UniformSkew


def curves_of_groups(positive: Bools, score: NDArray[Any], sizes: Counts) -> list[RocCurve]:
    """Curve of every group of clean cases, `sizes` rows after one another, with both classes in each."""
    parts = (_curves_of_batch(positive[rows], score[rows], part) for rows, part in _batches(sizes))
    return [curve for part in parts for curve in part]


def _batches(sizes: Counts) -> Iterator[tuple[slice, Counts]]:
    """Rows and sizes of as many groups at a time as fit the cache."""
    stops = np.cumsum(sizes)
    batch = (stops - 1) // BLOCK_SIZE
    cuts = np.flatnonzero(np.diff(batch, prepend=-1, append=batch[-1] + 1))
    for i, j in pairwise(cuts.tolist()):
        yield slice(stops[i] - sizes[i], stops[j - 1]), sizes[i:j]


def _curves_of_batch(positive: Bools, score: NDArray[Any], sizes: Counts) -> list[RocCurve]:
    cases = sort_cases(positive, score, sizes)
    last = run_ends(cases.keys, sizes)
    ends = np.cumsum(sizes)
    edge = np.append(0, np.searchsorted(last, ends))  # first run of every group
    group = np.repeat(np.arange(len(sizes)), np.diff(edge))
    true = np.cumsum(cases.keys & 1)
    n_positive = np.diff(true[ends - 1], prepend=0)
    n_negative = sizes - n_positive
    true = true[last] - (np.cumsum(n_positive) - n_positive)[group]
    false = last + 1 - (ends - sizes)[group] - true
    index = np.arange(len(last)) + group + 1  # behind the origins of this group and those before
    fpr, tpr, thresholds = np.zeros((3, len(last) + len(sizes)))
    fpr[index], tpr[index] = false / n_negative[group], true / n_positive[group]
    thresholds[:] = np.inf
    thresholds[index] = cases.scores(last)
    cuts = edge + np.arange(len(edge))
    parts = zip(pairwise(cuts.tolist()), n_positive.tolist(), n_negative.tolist(), strict=True)
    return [RocCurve(fpr[i:j], tpr[i:j], thresholds[i:j], float(n), float(m)) for (i, j), n, m in parts]


class GroupMeasures(NamedTuple):
    """AUPREC of shape (n_groups, n_priors), and IAUPREC and the area under ROC of every group."""

    auprec: Floats
    iauprec: Floats
    auc: Floats


def measures_of_rises(
    rises: Iterable[RecallSteps], prior: Floats, weighting: DeploymentPrior, area_estimator: str
) -> GroupMeasures:
    """Measures of every curve by an estimator of `BY_STEPS`, each batch of curves being looked at once."""
    parts = [
        (_areas(batch, prior, area_estimator), _mean_areas(batch, weighting, area_estimator), _aucs(batch))
        for batch in rises
    ]
    return GroupMeasures(*map(np.concatenate, zip(*parts, strict=True)))


def measures_of_curves(
    curves: Sequence[RocCurve], prior: Floats, weighting: DeploymentPrior, area_estimator: str
) -> GroupMeasures:
    """Measures of every curve."""
    means = mean_areas_of_curves(curves, weighting, area_estimator)
    return GroupMeasures(areas_of_curves(curves, prior, area_estimator), means, aucs_of_curves(curves))


def rises_of_groups(positive: Bools, score: NDArray[Any], sizes: Counts) -> Iterator[RecallSteps]:
    """Rises of all groups, of as many at a time as fit the cache."""
    return (_rises_of_batch(positive[rows], score[rows], part) for rows, part in _batches(sizes))


def _rises_of_batch(positive: Bools, score: NDArray[Any], sizes: Counts) -> RecallSteps:
    """Rises of all groups in a row: runs of ties are numbered through, so that groups stay apart."""
    keys = sort_cases(positive, score, sizes).keys
    run = np.zeros(len(keys), dtype=np.intp)
    run[run_ends(keys, sizes)[:-1] + 1] = 2
    np.cumsum(run, out=run)
    run |= keys & 1
    true_before, false_before, true, false = map(np.concatenate, zip(*rising_runs(run), strict=True))
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


def _curve_batches(curves: Sequence[RocCurve]) -> Iterator[Sequence[RocCurve]]:
    """As many curves at a time as have vertices that fit the cache."""
    sizes = np.array([len(roc.fpr) for roc in curves])
    start = 0
    for _, part in _batches(sizes):
        yield curves[start : start + len(part)]
        start += len(part)


def areas_of_curves(curves: Sequence[RocCurve], prior: Floats, area_estimator: str) -> Floats:
    """AUPREC of every curve at every prior, of shape (n_curves, n_priors)."""
    if area_estimator in BY_STEPS:
        return areas_of_rises(map(_rises_of, _curve_batches(curves)), prior, area_estimator)
    return np.array([area_kernel(roc, area_estimator)(prior) for roc in curves])


def areas_of_rises(rises: Iterable[RecallSteps], prior: Floats, area_estimator: str) -> Floats:
    """AUPREC of every curve by an estimator of `BY_STEPS`, of shape (n_curves, n_priors)."""
    return np.concatenate([_areas(batch, prior, area_estimator) for batch in rises])


def mean_areas_of_curves(
    curves: Sequence[RocCurve], weighting: DeploymentPrior, area_estimator: str
) -> Floats:
    """IAUPREC of every curve."""
    if area_estimator in BY_STEPS:
        parts = (_mean_areas(_rises_of(part), weighting, area_estimator) for part in _curve_batches(curves))
        return np.concatenate(list(parts))
    priors, weights = weighting.quadrature()
    return _weighted(areas_of_curves(curves, priors, area_estimator), weights)


def _areas(rises: RecallSteps, prior: Floats, area_estimator: str) -> Floats:
    first = _first_rises(rises)
    if _has_long(rises, first):
        if len(first) > 1:
            return np.concatenate([_areas(part, prior, area_estimator) for part in _one_by_one(rises, first)])
        return areas(iter_blocks(rises), prior, area_estimator)[None]
    if area_estimator in LINEAR:
        points = LINEAR[area_estimator](rises)
        terms = (points.mean(partial(vertex_precision, prior=pi)) for pi in prior)
    else:
        terms = (segment_areas(segments(rises, area_estimator), pi) for pi in prior)
    return np.stack([_sums(term, first) for term in terms], axis=1) / _sums(rises.height, first)[:, None]


def _mean_areas(rises: RecallSteps, weighting: DeploymentPrior, area_estimator: str) -> Floats:
    first = _first_rises(rises)
    if _has_long(rises, first):
        if len(first) > 1:
            return np.concatenate(
                [_mean_areas(part, weighting, area_estimator) for part in _one_by_one(rises, first)]
            )
        return np.array([prior_averaged_area(iter_blocks(rises), weighting, area_estimator)])
    if area_estimator in LINEAR and isinstance(weighting, UniformPrior | UniformSkew):
        terms = step_terms(rises, weighting, area_estimator)
        return np.asarray(_sums(terms, first) / _sums(rises.height, first))
    priors, weights = weighting.quadrature()
    return _weighted(_areas(rises, priors, area_estimator), weights)


def _first_rises(rises: RecallSteps) -> NDArray[np.intp]:
    """Where each curve begins: it has one rise that starts from recall 0."""
    return np.flatnonzero(rises.start_tpr == 0)


def _has_long(rises: RecallSteps, first: NDArray[np.intp]) -> bool:
    """Whether there is a curve that is measured by itself, since moments and blocks pay for it."""
    return bool(np.diff(first, append=len(rises.tpr)).max() >= MANY_STEPS)


def _one_by_one(rises: RecallSteps, first: NDArray[np.intp]) -> Iterator[RecallSteps]:
    cuts = pairwise([*first.tolist(), len(rises.tpr)])
    return (rises.part(slice(start, stop)) for start, stop in cuts)


def _weighted(areas: Floats, weights: Floats) -> Floats:
    return np.asarray((areas * weights).sum(axis=1) / weights.sum())


def aucs_of_curves(curves: Sequence[RocCurve]) -> Floats:
    """Area under every ROC curve, by the trapezoidal rule."""
    return np.concatenate([_aucs(_rises_of(part)) for part in _curve_batches(curves)])


def _aucs(rises: RecallSteps) -> Floats:
    first, height = _first_rises(rises), rises.height
    area = height * (1 - (rises.start_fpr + rises.fpr) / 2)
    return np.asarray(_sums(area, first) / _sums(height, first))


def _rises_of(curves: Sequence[RocCurve]) -> RecallSteps:
    return steps_from_vertices(
        *(np.concatenate([getattr(roc, name) for roc in curves]) for name in ("tpr", "fpr"))
    )


def _sums(values: Floats, first: NDArray[np.intp]) -> Floats:
    """Sum of every part, equal in the last bit to that of the part alone, to which a zero is added first."""
    padded = np.insert(values, first, 0.0)
    return np.asarray(np.add.reduceat(padded, first + np.arange(len(first))))


Cell = tuple[str, str | int]


#: Curves whose sums are cached, a tenth of a megabyte each.
MAX_CACHED_CURVES = 512


class AreaCache:
    """Areas of curves at many priors, with cached sums for long curves.

    Parameters
    ----------
    batches : list of callables
        Rises of all curves in order, of a few curves at a time.
    """

    def __init__(self, batches: list[Callable[[], RecallSteps]]) -> None:
        self._batches = batches
        self._kernels: dict[tuple[str, int], list[Kernel]] = {}

    def areas(self, prior: Floats, area_estimator: str) -> Floats:
        """AUPREC of every curve at every prior by an estimator of `LINEAR`."""
        return np.concatenate([self._areas(i, prior, area_estimator) for i in range(len(self._batches))])

    def _areas(self, batch: int, prior: Floats, area_estimator: str) -> Floats:
        kernels = self._kernels.get((area_estimator, batch))
        if kernels is None:
            rises = self._batches[batch]()
            first = _first_rises(rises)
            if not _has_long(rises, first):
                return _areas(rises, prior, area_estimator)
            kernels = [_kernel(part, area_estimator) for part in _one_by_one(rises, first)]
            if sum(map(len, self._kernels.values())) + len(kernels) <= MAX_CACHED_CURVES:
                self._kernels[area_estimator, batch] = kernels
        return np.array([kernel(prior) for kernel in kernels])


def _kernel(rises: RecallSteps, area_estimator: str) -> Kernel:
    """Areas of one curve at many priors by an estimator of `LINEAR`."""
    if len(rises.tpr) >= MANY_STEPS:
        return moment_sums(iter_blocks(rises), area_estimator).mean
    copy = concatenate_steps([rises])  # a view would keep the whole batch in memory
    return lambda prior: np.asarray(_areas(copy, prior, area_estimator)[0])


class MeasuredCurves(Mapping[Cell, RocCurve]):
    """ROC curve of every (model, fold), whose steps are at hand without building curves."""

    _cells: Mapping[Cell, Any]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __contains__(self, cell: object) -> bool:
        return cell in self._cells

    def __repr__(self) -> str:
        return f"<{len(self)} ROC curves>"

    @abstractmethod
    def batches(self) -> list[Callable[[], RecallSteps]]:
        """Return functions that compute the steps of all curves in order, a few curves each."""

    def rises(self) -> Iterator[RecallSteps]:
        """Yield the steps of all curves in order, a few curves at a time."""
        return (batch() for batch in self.batches())

    @cached_property
    def area_cache(self) -> AreaCache:
        """Areas at further priors."""
        return AreaCache(self.batches())


class GroupCurves(MeasuredCurves):
    """ROC curve of every (model, fold); what measures need is at hand without building curves.

    Parameters
    ----------
    cells : sequence of (model, fold)
        The groups, in order.
    positive, score, sizes : ndarray
        Clean cases of all groups after one another, and the number of cases in each.
    weight : ndarray, optional
        Positive weight of every case.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        positive: Bools,
        *,
        score: NDArray[Any],
        sizes: Counts,
        weight: Floats | None = None,
    ) -> None:
        self._cells = dict.fromkeys(cells)
        self._cases = positive, score, sizes
        self._weight = weight

    def __getitem__(self, cell: Cell) -> RocCurve:
        return self._curves[cell]

    def batches(self) -> list[Callable[[], RecallSteps]]:
        """Return functions that look up the steps of all curves in order, a few curves each."""
        return [partial(self._rises.__getitem__, i) for i in range(len(self._rises))]

    @cached_property
    def _curves(self) -> dict[Cell, RocCurve]:
        if self._weight is None:
            return dict(zip(self._cells, curves_of_groups(*self._cases), strict=True))
        positive, score, sizes = self._cases
        columns = (np.split(column, np.cumsum(sizes)[:-1]) for column in (positive, score, self._weight))
        return dict(zip(self._cells, map(curve_from_scores, *columns), strict=True))

    @cached_property
    def _rises(self) -> list[RecallSteps]:
        if self._weight is None:
            return list(rises_of_groups(*self._cases))
        return list(batch_steps(steps_from_vertices(roc.tpr, roc.fpr) for roc in self._curves.values()))


Bits = NDArray[np.uint8]


@dataclass(frozen=True, eq=False, slots=True)
class PackedCurve:
    """A curve as its cases in descending order of score, thresholds forgotten.

    Attributes
    ----------
    labels : ndarray of uint8
        One bit a case: whether it is positive; within a tie, negatives first.
    ends : ndarray of uint8 or None
        One bit a case: whether it is the last of its tie; None where no scores are tied.
    n_positive, n_negative : int
        Number of cases of each class.
    """

    labels: Bits
    ends: Bits | None
    n_positive: int
    n_negative: int

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return self.n_positive + self.n_negative

    @property
    def most_rises(self) -> int:
        """No fewer than its rises."""
        return self.n_positive

    @classmethod
    def of(cls, positive: Bools, score: NDArray[Any]) -> PackedCurve:
        """Pack the curve of clean cases of both classes."""
        keys = sort_cases(positive, score).keys
        last = run_ends(keys)
        ends = None
        if len(last) < len(keys):
            ends = np.zeros(len(keys), dtype=bool)
            ends[last] = True
            ends = np.packbits(ends)
        n_positive = int(np.count_nonzero(positive))
        return cls(np.packbits((keys & 1).astype(bool)), ends, n_positive, len(keys) - n_positive)

    def rises(self) -> RecallSteps:
        """Rises of the curve; unless scores are tied, only positives are looked at."""
        if self.ends is not None:
            return steps_from_vertices(*self._rates())
        at = np.flatnonzero(np.unpackbits(self.labels, count=self.n_cases))
        true = np.arange(1, self.n_positive + 1)
        tpr, fpr = true / self.n_positive, (at + 1 - true) / self.n_negative
        return RecallSteps((true - 1) / self.n_positive, fpr, tpr, fpr, np.append(0.0, fpr[:-1]))

    def curve(self) -> RocCurve:
        """Return the curve, its thresholds unknown (nan)."""
        tpr, fpr = self._rates()
        unknown = np.broadcast_to(np.nan, len(tpr))
        return RocCurve(fpr, tpr, unknown, float(self.n_positive), float(self.n_negative))

    @classmethod
    def of_counts(cls, counts: Counts) -> PackedCurve:
        """Pack so many negatives and positives (n_levels, 2) at each score, the best first."""
        labels = np.repeat(np.tile([False, True], len(counts)), counts.ravel())
        last, ends = np.cumsum(counts.sum(axis=1)) - 1, None
        if len(last) < len(labels):
            ends = np.zeros(len(labels), dtype=bool)
            ends[last] = True
            ends = np.packbits(ends)
        negative, positive = counts.sum(axis=0).tolist()
        return cls(np.packbits(labels), ends, positive, negative)

    @classmethod
    def joined(cls, parts: Sequence[PackedCurve]) -> PackedCurve:
        """Curve of cases packed in parts, those of the best scores first; no part is tied with another."""
        sizes = [part.n_cases for part in parts]
        cases = list(zip(parts, sizes, strict=True))
        labels = np.packbits(np.concatenate([np.unpackbits(part.labels, count=n) for part, n in cases]))
        ends = None
        if any(part.ends is not None for part in parts):
            bits = [
                np.ones(n, dtype=np.uint8) if part.ends is None else np.unpackbits(part.ends, count=n)
                for part, n in cases
            ]
            ends = np.packbits(np.concatenate(bits))
        n_positive = sum(part.n_positive for part in parts)
        return cls(labels, ends, n_positive, sum(sizes) - n_positive)

    def counts(self) -> tuple[Counts, Counts]:
        """Number of positives at every rise, and of negatives above each, at each, and below all."""
        rises = self.rises()
        hits = np.rint(rises.tpr * self.n_positive).astype(np.intp)
        alarms = (np.rint(fpr * self.n_negative).astype(np.intp) for fpr in (rises.start_fpr, rises.fpr))
        false = np.append(np.stack([*alarms], axis=1).ravel(), self.n_negative)
        return np.diff(hits, prepend=0), np.diff(false, prepend=0)

    def ties(self) -> tuple[int, int]:
        """Number of cases at the best score, and of different scores."""
        if self.ends is None:
            return 1, self.n_cases
        ends = np.unpackbits(self.ends, count=self.n_cases)
        return int(np.argmax(ends)) + 1, int(np.count_nonzero(ends))

    def tobytes(self) -> bytes:
        """All that it tells, for a fingerprint."""
        return self.labels.tobytes() + (b"" if self.ends is None else self.ends.tobytes())

    def _rates(self) -> tuple[Floats, Floats]:
        """True and false positive rates at all vertices."""
        size = self.n_cases
        true = np.cumsum(np.unpackbits(self.labels, count=size), dtype=np.int64)
        false = np.arange(1, size + 1) - true
        if self.ends is not None:
            last = np.flatnonzero(np.unpackbits(self.ends, count=size))
            true, false = true[last], false[last]
        rates = true / self.n_positive, false / self.n_negative
        return np.append(0.0, rates[0]), np.append(0.0, rates[1])


@dataclass(frozen=True, eq=False, slots=True)
class WeightedCurve:
    """A curve of cases that stand for unequal numbers, thresholds forgotten.

    Attributes
    ----------
    held : ndarray of shape (n_scores, 2)
        Weight of the negatives and of the positives at every score, the best first.
    n_positive, n_negative : int
        Number of cases of each class.
    n_best : int
        Number of cases at the best score.
    """

    held: Floats
    n_positive: int
    n_negative: int
    n_best: int

    @property
    def n_cases(self) -> int:
        """Number of cases."""
        return self.n_positive + self.n_negative

    @property
    def most_rises(self) -> int:
        """No fewer than its rises."""
        return min(self.n_positive, len(self.held))

    @classmethod
    def of(cls, positive: Bools, score: NDArray[Any], weight: Floats) -> WeightedCurve:
        """Pack the curve of clean cases of both classes."""
        levels, at = np.unique(score, return_inverse=True)
        slot = 2 * (len(levels) - 1 - at.reshape(-1)) + positive
        counts = np.bincount(slot, minlength=2 * len(levels)).reshape(-1, 2)
        return cls.of_counts(counts, slot=slot, weight=weight)

    @classmethod
    def of_counts(cls, counts: Counts, *, slot: Counts, weight: Floats) -> WeightedCurve:
        """Sum weights at every score, of which slot 2 k are negatives and 2 k + 1 positives at score k.

        There are so many negatives and positives (n_scores, 2). They are summed by their size, since the
        order of the rows may be any.
        """
        order = np.lexsort((weight, slot))
        held = np.bincount(slot[order], weights=weight[order], minlength=counts.size).reshape(-1, 2)
        n_negative, n_positive = counts.sum(axis=0).tolist()
        return cls(held.astype(np.float64), n_positive, n_negative, int(counts[0].sum()))

    @classmethod
    def joined(cls, parts: Sequence[WeightedCurve]) -> WeightedCurve:
        """Curve of cases in parts, those of the best scores first; no part is tied with another."""
        n_positive, n_negative = (
            sum(getattr(part, name) for part in parts) for name in ("n_positive", "n_negative")
        )
        return cls(np.concatenate([part.held for part in parts]), n_positive, n_negative, parts[0].n_best)

    def rises(self) -> RecallSteps:
        """Rises of the curve."""
        roc = self.curve()
        return steps_from_vertices(roc.tpr, roc.fpr)

    def curve(self) -> RocCurve:
        """Return the curve, its thresholds unknown (nan)."""
        false, true = np.insert(np.cumsum(self.held, axis=0), 0, 0.0, axis=0).T
        unknown = np.broadcast_to(np.nan, len(true))
        return RocCurve(false / false[-1], true / true[-1], unknown, float(true[-1]), float(false[-1]))

    def counts(self) -> tuple[Floats, Floats]:
        """Weight of positives at every rise, and of negatives above each, at each, and below all."""
        at = np.flatnonzero(self.held[:, 1])
        below, at_or_below = (
            np.searchsorted(at, np.arange(len(self.held)), side=s) for s in ("left", "right")
        )
        fall = np.bincount(below + at_or_below, weights=self.held[:, 0], minlength=2 * len(at) + 1)
        return np.asarray(self.held[at, 1]), fall.astype(np.float64)

    def ties(self) -> tuple[int, int]:
        """Number of cases at the best score, and of different scores."""
        return self.n_best, len(self.held)

    def tobytes(self) -> bytes:
        """All that it tells, for a fingerprint."""
        return self.held.tobytes()


#: A curve without its thresholds.
CompactCurve = PackedCurve | WeightedCurve


def _unpacked(curves: Sequence[CompactCurve]) -> RecallSteps:
    """Compute the steps of some curves in a row."""
    return concatenate_steps([curve.rises() for curve in curves])


class PackedCurves(MeasuredCurves):
    """ROC curve of every (model, fold), unpacked when it is looked up.

    Parameters
    ----------
    packed : mapping
        The packed curve of every (model, fold), in order.
    """

    def __init__(self, packed: Mapping[Cell, CompactCurve]) -> None:
        self._cells: Mapping[Cell, CompactCurve] = packed

    def __getitem__(self, cell: Cell) -> RocCurve:
        return self._cells[cell].curve()

    def __repr__(self) -> str:
        return f"{super().__repr__()[:-1]}, packed>"

    def batches(self) -> list[Callable[[], RecallSteps]]:
        """Return functions that unpack the steps of all curves in order, a few curves each."""
        curves = list(self._cells.values())
        stops = np.cumsum([curve.most_rises for curve in curves])
        cuts = np.flatnonzero(np.diff((stops - 1) // BLOCK_SIZE, prepend=-1, append=-1))
        return [partial(_unpacked, curves[i:j]) for i, j in pairwise(cuts.tolist())]

    def select(self, cells: Sequence[Cell]) -> PackedCurves:
        """Return some of the curves, in the order given."""
        return PackedCurves({cell: self._cells[cell] for cell in cells})


def select_curves(curves: Mapping[Cell, RocCurve], cells: Sequence[Cell]) -> Mapping[Cell, RocCurve]:
    """Return some of the curves, in the order given; packed ones stay packed."""
    return (
        curves.select(cells) if isinstance(curves, PackedCurves) else {cell: curves[cell] for cell in cells}
    )


#: Vertices of all curves that are measured together.
MOST_VERTICES = 100_000


Curves = Mapping[Cell, RocCurve]


def _group_batches(curves: Curves) -> Iterator[list[RocCurve]]:
    """Curves one after another, as many together as may be unpacked at once."""
    batch: list[RocCurve] = []
    size = 0
    for roc in curves.values():
        batch.append(roc)
        size += len(roc.fpr)
        if size >= MOST_VERTICES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def areas_of_groups(curves: Curves, priors: Floats, area_estimator: str) -> Floats:
    """AUPREC of every curve at every prior, of shape (n_curves, n_priors)."""
    if area_estimator in BY_STEPS and isinstance(curves, MeasuredCurves):
        if area_estimator in LINEAR and len(priors) >= MANY_PRIORS:
            return curves.area_cache.areas(priors, area_estimator)
        return areas_of_rises(curves.rises(), priors, area_estimator)
    return np.concatenate(
        [areas_of_curves(batch, priors, area_estimator) for batch in _group_batches(curves)]
    )


def measures_of_groups(
    curves: Curves, priors: Floats, weighting: DeploymentPrior, area_estimator: str
) -> GroupMeasures:
    """AUPREC at every prior, IAUPREC and AUC of every curve, each curve being looked at once."""
    if area_estimator in BY_STEPS and isinstance(curves, MeasuredCurves):
        return measures_of_rises(curves.rises(), priors, weighting, area_estimator)
    parts = [measures_of_curves(batch, priors, weighting, area_estimator) for batch in _group_batches(curves)]
    return GroupMeasures(*map(np.concatenate, zip(*parts, strict=True)))
