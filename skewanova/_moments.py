"""Sums of precisions at many priors from moments: points are read once, not once for each prior.

With r = F / T the precision at skew lam is ``1 / (1 + lam r)``. Points whose r agrees in its exponent and
first six binary digits share a bin; with c in its middle, ``r = c (1 + e)``, ``q = lam c / (1 + lam c) < 1``,

    sum of w / (1 + lam r) = (1 - q) * sum over k of (-q)^k * (sum of w e^k).

All terms on the left are positive and ``|e| <= 1/128``, so what `TERMS` moments leave out is below 128^-TERMS
of the sum.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from skewanova._checks import Floats

#: Moments kept, the first included: 128^-8 is 1.4e-17.
TERMS = 8
#: Bits of a double below those that tell bins apart.
LOW_BITS = 46
#: Neighbouring points that mostly share a bin, and are then summed at one go.
ROW_LENGTH = 32
#: Rates below this are not divided by, and have no bin.
SMALLEST_RATE = 1e-150

#: Precisions computed at once.
FEW_PRECISIONS = 1 << 15

Codes = NDArray[np.int64]


class MomentSums:
    """Sum of weight times precision over all points added, at any prior, to rounding."""

    def __init__(self) -> None:
        self._perfect = 0.0
        self._codes: list[Codes] = [np.empty(0, dtype=np.int64)]
        self._moments: list[Floats] = [np.empty((TERMS, 0))]
        self._others: list[Floats] = [np.empty((3, 0))]

    def add(self, weight: Floats, tpr: Floats, fpr: Floats) -> None:
        """Take in points; those without false positives have precision 1, and few have no bin."""
        binned = (tpr > SMALLEST_RATE) & (fpr > SMALLEST_RATE)
        if binned.any():
            code, moments = _bins(fpr[binned] / tpr[binned], weight[binned])
            self._codes.append(code)
            self._moments.append(moments)
        perfect = (fpr == 0) & ~binned
        self._perfect += weight[perfect].sum()
        left = ~(binned | perfect)
        self._others.append(np.array([weight[left], tpr[left], fpr[left]]))

    def at(self, prior: Floats) -> Floats:
        """Return the sum at every prior."""
        code, place = np.unique(np.concatenate(self._codes), return_inverse=True)
        parts = np.concatenate(self._moments, axis=1)
        moments = [np.asarray(np.bincount(place, weights=m), dtype=np.float64) for m in parts]
        centre = _centres(code)
        together = max(1, FEW_PRECISIONS // max(1, len(code)))
        rows = (prior[i : i + together, None] for i in range(0, len(prior), together))
        total = self._perfect + np.concatenate([_from_moments(centre, moments, row) for row in rows])
        weight, tpr, fpr = np.concatenate(self._others, axis=1)
        others = [(weight * (pi * tpr / (pi * tpr + (1 - pi) * fpr))).sum() for pi in prior]
        return np.asarray(total + others)


def _bins(ratio: Floats, weight: Floats) -> tuple[Codes, Floats]:
    """Codes of the bins that hold a point, and their moments, of shape (TERMS, n_bins)."""
    code = ratio.view(np.int64) >> LOW_BITS
    centre = _centres(code)
    offset = (ratio - centre) / centre
    first = code.min()
    code -= first
    n_rows = len(code) // ROW_LENGTH
    rows = code[: n_rows * ROW_LENGTH].reshape(n_rows, ROW_LENGTH)
    alike = rows.min(axis=1) == rows.max(axis=1)
    single = np.append(np.repeat(~alike, ROW_LENGTH), np.ones(len(code) % ROW_LENGTH, dtype=bool))
    by_row = _moments(rows[alike, 0], *(_rows(values, single) for values in (offset, weight)))
    moments = _summed(by_row, _moments(code[single], offset[single, None], weight[single, None]))
    held = np.flatnonzero(moments[0])
    return held + first, moments[:, held]


def _rows(values: Floats, single: NDArray[np.bool_]) -> Floats:
    return values[~single].reshape(-1, ROW_LENGTH)


def _moments(code: Codes, offset: Floats, weight: Floats) -> list[Floats]:
    """Sums of weight times powers of the offset by bin, for points in rows that share a bin."""
    moments: list[Floats] = []
    term = weight
    for _ in range(TERMS):
        moments.append(np.asarray(np.bincount(code, weights=term.sum(axis=1)), dtype=np.float64))
        term = term * offset
    return moments


def _summed(one: list[Floats], other: list[Floats]) -> Floats:
    total = np.zeros((TERMS, max(len(one[0]), len(other[0]))))
    for part in (one, other):
        total[:, : len(part[0])] += part
    return total


def _centres(code: Codes) -> Floats:
    """Middle of the numbers that share these high bits."""
    return ((code << LOW_BITS) + (1 << (LOW_BITS - 1))).view(np.float64)


def _from_moments(centre: Floats, moments: list[Floats], prior: Floats) -> Floats:
    precision = prior / (prior + (1 - prior) * centre)
    series = np.broadcast_to(moments[-1], precision.shape)
    for moment in moments[-2::-1]:
        series = moment + (precision - 1) * series  # 1 - precision is q
    return np.asarray((precision * series).sum(axis=1))
