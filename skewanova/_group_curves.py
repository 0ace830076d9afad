"""ROC curves of all groups of a table in memory, built when they are first looked up."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from skewanova._checks import Bools
from skewanova._group_kernels import curves_of_groups, rises_of_groups
from skewanova._packed_sort import Counts
from skewanova._rises import Rises
from skewanova.roc import RocCurve

Cell = tuple[str, str | int]


class GroupCurves(Mapping[Cell, RocCurve]):
    """ROC curve of every (model, fold); what measures need is at hand without building curves.

    Parameters
    ----------
    cells : sequence of (model, fold)
        The groups, in order.
    positive, score, sizes : ndarray
        Clean cases of all groups after one another, and the number of cases in each.
    """

    def __init__(self, cells: Sequence[Cell], positive: Bools, *, score: NDArray[Any], sizes: Counts) -> None:
        self._cells = dict.fromkeys(cells)
        self._cases = positive, score, sizes

    def __getitem__(self, cell: Cell) -> RocCurve:
        return self._curves[cell]

    def __iter__(self) -> Iterator[Cell]:
        return iter(self._cells)

    def __len__(self) -> int:
        return len(self._cells)

    def __contains__(self, cell: object) -> bool:
        return cell in self._cells

    def __repr__(self) -> str:
        return f"<{len(self)} ROC curves>"

    def rises(self) -> Sequence[Rises]:
        """Rises of all curves in order, of a few curves at a time."""
        return self._rises

    @cached_property
    def _curves(self) -> dict[Cell, RocCurve]:
        return dict(zip(self._cells, curves_of_groups(*self._cases), strict=True))

    @cached_property
    def _rises(self) -> list[Rises]:
        return list(rises_of_groups(*self._cases))
