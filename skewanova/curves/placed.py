"""Cases by their places on curves: where a score stands among those of its model's positives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Bools
from skewanova.curves.sorting import Counts

#: Different weights of a class that are told apart; with more, cases are left out one by one.
FEW_WEIGHTS = 64


def slots_among(levels: NDArray[Any], score: NDArray[Any]) -> Counts:
    """Slots of scores among the different ones of positives, which ascend.

    Slot 2 k is above rise k and below the one before, slot 2 k + 1 is tied with rise k; rise 0 is the best.
    """
    below, at_or_below = (np.searchsorted(levels, score, side=side) for side in ("left", "right"))
    return np.asarray(2 * (len(levels) - at_or_below) + (at_or_below > below))


class PlacedCases(NamedTuple):
    """Labels of some cases (n_cases,), and the slots (n_cells, n_cases) where their scores stand.

    Where cases come in clusters, these are numbered from 0, and all cases of each are here; where they stand
    for unequal numbers of the population, by weights.
    """

    positive: Bools
    slot: Counts
    cluster: NDArray[np.intp] | None = None
    weight: NDArray[np.float64] | None = None


class Parts(Protocol):
    """Placed cases that are elsewhere, some in each part."""

    @property
    def cells(self) -> tuple[tuple[str, str | int], ...]:
        """Every (model, fold) in the order of the slots."""

    def map(self, function: Callable[[PlacedCases], Any]) -> list[Any]:
        """What the function makes of each part."""
