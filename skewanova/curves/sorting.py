"""Fast sorting of cases by score, and ranks of cases among the scores of positives.

A score is mapped to an integer ``v`` with the same order and ties, and the case to the key ``-2 v + label``.
Ascending keys are descending scores, with negatives before positives of the same score. In-place sorting of
integers is vectorised, and several times faster than ``argsort`` or sorting each class.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import FIRST_INEXACT, Bools

#: Cases processed at once, so that a few arrays fit in the second-level cache.
BLOCK_SIZE = 1 << 15


#: Value of infinity among finite scores scaled into (-1, 1).
SCALED_INFINITY = 1.5


Ints = NDArray[np.signedinteger[Any]]


Counts = NDArray[np.intp]


#: True and false positives before and after every run of equal scores with a positive.
RunsWithPositives = tuple[Counts, Counts, Counts, Counts]


class SortedCases(NamedTuple):
    """Ascending keys of all cases (the highest score first), with the packing that decodes their scores."""

    keys: Ints
    packing: _Packing


def sort_cases(positive: Bools, score: NDArray[Any], sizes: NDArray[np.intp] | None = None) -> SortedCases:
    """Return cases by descending score, negatives first in ties, within parts of these sizes if given."""
    packing, values = _choose_packing(score)
    keys = np.empty(len(score), packing.key_type)
    for block in _iter_slices(len(score)):
        packing.encode(values[block], keys[block])
        keys[block] *= -2
        keys[block] += positive[block]
    if sizes is None:
        keys.sort()
    else:
        for part in np.split(keys, np.cumsum(sizes)[:-1]):
            part.sort()
    return SortedCases(keys, packing)


def find_run_ends(keys: Ints, sizes: NDArray[np.intp] | None = None) -> Bools:
    """Return a mask of the last row of every run of equal scores; a run ends with its part, if any."""
    ends = np.ones(len(keys), dtype=bool)
    rank = keys >> 1
    np.not_equal(rank[1:], rank[:-1], out=ends[:-1])
    if sizes is not None:
        ends[np.cumsum(sizes) - 1] = True
    return ends


def iter_runs(cases: SortedCases) -> Iterator[tuple[Counts, Counts, NDArray[Any]]]:
    """Yield true and false positives at the end of all runs of equal scores, and these scores, in blocks."""
    keys, seen = cases.keys, 0
    for block in _iter_slices(len(keys)):
        key = keys[block]
        rank = key >> 1
        true = np.cumsum(key & 1, dtype=np.intp)
        true += seen
        seen = true[-1]
        row = np.arange(block.start + 1, block.stop + 1)
        goes_on = block.stop < len(keys) and keys[block.stop] >> 1 == rank[-1]
        ends = np.append(rank[1:] != rank[:-1], not goes_on)
        if not ends.all():
            true, row, rank = true[ends], row[ends], rank[ends]
        yield true, row - true, cases.packing.decode(-rank)


def iter_runs_with_positives(keys: Ints) -> Iterator[RunsWithPositives]:
    """Yield true and false positives before, then after, runs of equal scores with a positive, in blocks."""
    seen = 0
    for rows in _iter_positive_rows(keys):
        runs = _find_runs_ending_at(rows, keys, seen)
        seen += len(rows)
        if len(runs[0]):  # empty if one run continues in the next block
            yield runs


def _iter_positive_rows(keys: Ints) -> Iterator[NDArray[np.intp]]:
    """Yield ascending row numbers of positives (odd keys) in blocks, all but the last of a minimum size."""
    rows: list[NDArray[np.intp]] = []
    for block in _iter_slices(len(keys)):
        rows.append(block.start + np.flatnonzero((keys[block] & 1).astype(bool)))
        if sum(map(len, rows)) > BLOCK_SIZE // 3:
            yield np.concatenate(rows)
            rows = []
    if any(map(len, rows)):
        yield np.concatenate(rows)


def _find_runs_ending_at(rows: NDArray[np.intp], keys: Ints, seen: int) -> RunsWithPositives:
    """Return true, false positives before, then after runs with last positive in `rows` (`seen` earlier)."""
    key, last, true = keys[rows], rows, np.arange(seen + 1, seen + 1 + len(rows))
    goes_on = rows[-1] + 1 < len(keys) and keys[rows[-1] + 1] == key[-1]
    ends = np.append(key[1:] != key[:-1], not goes_on)
    if not ends.all():
        key, last, true = key[ends], last[ends], true[ends]
    start, true_before = last.copy(), true - 1
    tied = np.flatnonzero(keys[last - 1] >= key - 1)  # row -1, before the first, does no harm
    if len(tied):
        start[tied] = np.searchsorted(keys, key[tied] - 1)
        true_before[tied] -= last[tied] - np.searchsorted(keys, key[tied])
    return true_before, start - true_before, true, last + 1 - true


def _iter_slices(n: int) -> Iterator[slice]:
    """Return an iterator over slices of up to BLOCK_SIZE rows that together cover n rows."""
    return (slice(start, min(start + BLOCK_SIZE, n)) for start in range(0, n, BLOCK_SIZE))


@dataclass(frozen=True, eq=False)
class _Packing:
    """Packing by the bits of floats, scaled by a power of two into (-2, 2), which leaves two bits free."""

    dtype: np.dtype[Any]
    key_type: type[np.int32 | np.int64]
    exponent: int
    signed: bool
    infinite: bool
    ranked: NDArray[Any] | None = None  #: distinct scores, if their ranks are packed

    def encode(self, score: NDArray[Any], out: Ints) -> None:
        """Write integers with the order and the ties of the scores to `out`."""
        scaled: NDArray[Any] = out.view(_FLOAT_OF[self.key_type])
        np.add(score, 0.0, out=scaled, dtype=scaled.dtype)  # -0.0 ties 0.0
        if self.exponent:
            scaled *= 2.0**-self.exponent
        if self.infinite:
            np.clip(scaled, -SCALED_INFINITY, SCALED_INFINITY, out=scaled)
        if self.signed:
            _flip_negative(out)

    def decode(self, value: Ints) -> NDArray[Any]:
        """Return the scores of encoded integers, in their original dtype."""
        bits = value
        if self.signed:
            bits = value.copy()
            _flip_negative(bits)
        scaled: NDArray[Any] = bits.view(_FLOAT_OF[self.key_type])
        if self.infinite:
            scaled = np.where(np.abs(scaled) == SCALED_INFINITY, np.copysign(np.inf, scaled), scaled)
        score = np.asarray(np.ldexp(scaled, self.exponent) if self.exponent else scaled, dtype=self.dtype)
        return score if self.ranked is None else np.asarray(self.ranked[score])

    def loses_bits(self, score: NDArray[Any]) -> bool:
        """Return True if scaling makes a score other than 0 subnormal."""
        least = np.ldexp(float(np.finfo(_FLOAT_OF[self.key_type]).tiny), self.exponent)
        blocks = (np.abs(score[block]) for block in _iter_slices(len(score)))
        return self.exponent > 0 and any(((size < least) & (size > 0)).any() for size in blocks)


_FLOAT_OF: dict[type, type[np.float32 | np.float64]] = {np.int32: np.float32, np.int64: np.float64}


def _flip_negative(bits: Ints) -> None:
    """Convert negative numbers between sign-magnitude and two's complement in place."""
    sign = bits >> (8 * bits.itemsize - 1)
    bits &= np.iinfo(bits.dtype).max
    bits ^= sign
    bits -= sign


def _choose_packing(score: NDArray[Any]) -> tuple[_Packing, NDArray[Any]]:
    """Return a packing and the values to pack: scores, or their ranks if scores would merge or overflow."""
    is_float, size = score.dtype.kind == "f", score.dtype.itemsize
    low, high = float(score.min()), float(score.max())
    infinite = bool(np.isinf(low) or np.isinf(high))
    finite = score[np.isfinite(score)] if infinite else np.array([low, high])
    top = float(np.abs(finite).max(initial=0.0))
    within = 1 if infinite else 2
    exponent = int(np.frexp(top / within)[1]) if top >= within else 0
    # whole numbers are exact in single precision below 2^24
    key_type = np.int32 if (size <= 4 if is_float else top < 2**24) else np.int64
    packing = _Packing(score.dtype, key_type, exponent, not low >= 0, infinite)
    if (size <= 8 if is_float else top < FIRST_INEXACT) and not packing.loses_bits(score):
        return packing, score
    distinct, ranks = np.unique(score, return_inverse=True)
    packing, values = _choose_packing(ranks.reshape(-1))
    return replace(packing, ranked=distinct), values


#: Most distinct weights of a class by which jackknife cases are grouped.
MAX_DISTINCT_WEIGHTS = 64


def rank_among_positives(levels: NDArray[Any], score: NDArray[Any]) -> Counts:
    """Return for each score twice the number of ascending `levels` above it, plus 1 if it equals one."""
    below = np.searchsorted(levels, score)
    tied = levels.take(below, mode="clip") == score
    return np.asarray(2 * (len(levels) - below) - tied)


class RankedCases(NamedTuple):
    """Labels (n_cases,) of some cases, and slots (n_cells, n_cases) of their scores.

    Clusters, if any, are numbered from 0 and complete.
    """

    positive: Bools
    slot: Counts
    cluster: NDArray[np.intp] | None = None
    weight: NDArray[np.float64] | None = None
