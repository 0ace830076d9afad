"""ROC curves without loss in two bits a case, so that curves of more cases than memory holds still fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skewanova._checks import Bools, Floats
from skewanova._group_curves import Cell
from skewanova._packed_sort import run_ends, sort_cases
from skewanova._rises import Rises, rises_between, together
from skewanova.roc import RocCurve

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

    def rises(self) -> Rises:
        """Rises of the curve; unless scores are tied, only positives are looked at."""
        if self.ends is not None:
            return rises_between(*self._rates())
        at = np.flatnonzero(np.unpackbits(self.labels, count=self.n_positive + self.n_negative))
        true = np.arange(1, self.n_positive + 1)
        tpr, fpr = true / self.n_positive, (at + 1 - true) / self.n_negative
        return Rises((true - 1) / self.n_positive, fpr, tpr, fpr, np.append(0.0, fpr[:-1]))

    def curve(self) -> RocCurve:
        """Return the curve, its thresholds unknown (nan)."""
        tpr, fpr = self._rates()
        unknown = np.broadcast_to(np.nan, len(tpr))
        return RocCurve(fpr, tpr, unknown, float(self.n_positive), float(self.n_negative))

    def _rates(self) -> tuple[Floats, Floats]:
        """True and false positive rates at all vertices."""
        size = self.n_positive + self.n_negative
        true = np.cumsum(np.unpackbits(self.labels, count=size), dtype=np.int64)
        false = np.arange(1, size + 1) - true
        if self.ends is not None:
            last = np.flatnonzero(np.unpackbits(self.ends, count=size))
            true, false = true[last], false[last]
        rates = true / self.n_positive, false / self.n_negative
        return np.append(0.0, rates[0]), np.append(0.0, rates[1])


class PackedCurves(Mapping[Cell, RocCurve]):
    """ROC curve of every (model, fold), unpacked when it is looked up.

    Parameters
    ----------
    packed : mapping
        The packed curve of every (model, fold), in order.
    """

    def __init__(self, packed: Mapping[Cell, PackedCurve]) -> None:
        self._packed = packed

    def __getitem__(self, cell: Cell) -> RocCurve:
        return self._packed[cell].curve()

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._packed)

    def __len__(self) -> int:
        return len(self._packed)

    def rises(self) -> Iterator[Rises]:
        """Rises of all curves in order, of a few curves at a time."""
        return together(packed.rises() for packed in self._packed.values())

    def select(self, cells: Sequence[Cell]) -> PackedCurves:
        """Return some of the curves, in the order given."""
        return PackedCurves({cell: self._packed[cell] for cell in cells})

    def __contains__(self, cell: object) -> bool:
        return cell in self._packed

    def __repr__(self) -> str:
        return f"<{len(self)} ROC curves, packed>"


def select_curves(curves: Mapping[Cell, RocCurve], cells: Sequence[Cell]) -> Mapping[Cell, RocCurve]:
    """Return some of the curves, in the order given; packed ones stay packed."""
    return (
        curves.select(cells) if isinstance(curves, PackedCurves) else {cell: curves[cell] for cell in cells}
    )
