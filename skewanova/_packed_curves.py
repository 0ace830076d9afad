"""ROC curves without loss in two bits a case, so that curves of more cases than memory holds still fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from skewanova.roc import RocCurve

Bits = NDArray[np.uint8]
Cell = tuple[str, str | int]


@dataclass(frozen=True, eq=False, slots=True)
class PackedCurve:
    """A curve as its cases in descending order of score, thresholds forgotten.

    Attributes
    ----------
    labels : ndarray of uint8
        One bit a case: whether it is positive; within a tie, positives first.
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
    def of(cls, roc: RocCurve) -> PackedCurve:
        """Pack an unweighted curve."""
        n_positive, n_negative = round(roc.n_positive), round(roc.n_negative)
        true = np.rint(np.diff(np.rint(roc.tpr * n_positive))).astype(np.int64)
        false = np.rint(np.diff(np.rint(roc.fpr * n_negative))).astype(np.int64)
        if len(true) == n_positive + n_negative:
            return cls(np.packbits(true.astype(bool)), None, n_positive, n_negative)
        labels = np.repeat(np.tile([True, False], len(true)), np.stack([true, false], axis=1).ravel())
        ends = np.zeros(len(labels), dtype=bool)
        ends[np.cumsum(true + false) - 1] = True
        return cls(np.packbits(labels), np.packbits(ends), n_positive, n_negative)

    def curve(self) -> RocCurve:
        """Return the curve, its thresholds unknown (nan)."""
        size = self.n_positive + self.n_negative
        true = np.cumsum(np.unpackbits(self.labels, count=size), dtype=np.int64)
        false = np.arange(1, size + 1) - true
        if self.ends is not None:
            last = np.flatnonzero(np.unpackbits(self.ends, count=size))
            true, false = true[last], false[last]
        return RocCurve(
            fpr=np.concatenate(([0.0], false / self.n_negative)),
            tpr=np.concatenate(([0.0], true / self.n_positive)),
            thresholds=np.broadcast_to(np.nan, len(true) + 1),
            n_positive=float(self.n_positive),
            n_negative=float(self.n_negative),
        )


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
