"""The parts of a ROC curve along which recall rises: all that most areas under precision-recall depend on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skewanova._checks import Bools, Floats
from skewanova._packed_sort import rising_runs, sort_cases
from skewanova.roc import RocCurve

#: Rises handled at once, so that a few arrays of them stay in the second-level cache.
BLOCK_SIZE = 1 << 14


@dataclass(frozen=True, eq=False)
class Rises:
    """Rates at the start and at the end of every segment that rises, of one curve or of several in a row.

    Attributes
    ----------
    start_tpr, start_fpr, tpr, fpr : ndarray of shape (n_rises,)
        True and false positive rates at the start and the end, from the best score down.
    reached_fpr : ndarray of shape (n_rises,)
        False positive rate where the recall at the start was first reached; 0 at the origin.
    """

    start_tpr: Floats
    start_fpr: Floats
    tpr: Floats
    fpr: Floats
    reached_fpr: Floats

    @property
    def height(self) -> Floats:
        """Gain in recall."""
        return self.tpr - self.start_tpr

    def part(self, rows: slice) -> Rises:
        """Some of the rises."""
        return Rises(*(getattr(self, entry.name)[rows] for entry in fields(self)))


def rises_between(tpr: Floats, fpr: Floats) -> Rises:
    """Rises of a curve with these vertices; of several curves in a row, since recall falls between them."""
    up = np.flatnonzero(tpr[1:] > tpr[:-1])
    end = fpr[up + 1]
    return Rises(tpr[up], fpr[up], tpr[up + 1], end, np.where(tpr[up] == 0, 0.0, np.roll(end, 1)))


def rises_of_curve(roc: RocCurve) -> Iterator[Rises]:
    """Yield the rises of a curve in blocks."""
    return in_blocks(rises_between(roc.tpr, roc.fpr))


def in_blocks(rises: Rises) -> Iterator[Rises]:
    """Yield the rises of a curve in blocks that fit the cache."""
    starts = range(0, len(rises.tpr), BLOCK_SIZE)
    return (rises.part(slice(start, start + BLOCK_SIZE)) for start in starts)


def together(curves: Iterable[Rises]) -> Iterator[Rises]:
    """Rises of whole curves in a row, of as many curves at a time as fit the cache."""
    held: list[Rises] = []
    for rises in curves:
        held.append(rises)
        if sum(len(part.tpr) for part in held) >= BLOCK_SIZE:
            yield _in_a_row(held)
            held = []
    if held:
        yield _in_a_row(held)


def _in_a_row(parts: Sequence[Rises]) -> Rises:
    names = [entry.name for entry in fields(Rises)]
    return Rises(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def rises_of_scores(positive: Bools, score: NDArray[Any]) -> Iterator[Rises]:
    """Yield the rises of the curve of clean scores in blocks, the curve itself never being held."""
    n_positive = np.count_nonzero(positive)
    n_negative = len(positive) - n_positive
    reached = 0.0
    for run in rising_runs(sort_cases(positive, score).keys):
        start_tpr, tpr = run.true_before / n_positive, run.true / n_positive
        fpr = np.append(reached, run.false / n_negative)
        yield Rises(start_tpr, run.false_before / n_negative, tpr, fpr[1:], fpr[:-1])
        reached = fpr[-1]
