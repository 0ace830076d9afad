"""Numbers that differ by rounding only count as equal, so that no result depends on the processor.

Sums come out otherwise in their last digits under every processor's linear algebra. No order, name, state or
rejection may rest on these digits, so whatever picks or ranks looks at numbers through this module.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from skewanova.base.checks import Bools, Floats

#: Numbers closer than this, or than this share of them beyond 1, differ by rounding only.
TIE = 1e-12


#: Relative slack with which a resampled statistic counts as reaching the observed one.
TIE_SLACK = 1e-10


def snap_ties(values: ArrayLike) -> Floats:
    """Replace values that differ by rounding error only with exact ties, along the last axis.

    Numbers in a row, each a near-tie of the next, take the value of the least; nan stays nan.
    """
    array = np.asarray(values, dtype=np.float64)
    order = np.argsort(array, axis=-1, kind="stable")
    ranked = np.take_along_axis(array, order, axis=-1)
    near = np.minimum(np.abs(ranked[..., 1:]), np.abs(ranked[..., :-1]))
    with np.errstate(invalid="ignore"):  # nothing is as far from itself as infinity
        apart = np.diff(ranked, axis=-1) > TIE * np.maximum(near, 1.0)
    start = np.zeros(ranked.shape, dtype=np.intp)
    start[..., 1:] = np.where(apart, np.arange(1, ranked.shape[-1]), 0)
    least = np.take_along_axis(ranked, np.maximum.accumulate(start, axis=-1), axis=-1)
    level = np.empty_like(ranked)
    np.put_along_axis(level, order, least, axis=-1)
    return np.where(np.isnan(array), np.nan, level)


def argsort_descending(values: ArrayLike) -> list[int]:
    """Return positions from the largest value to the least; near-ties keep their order, nan is last."""
    return [int(i) for i in np.argsort(-snap_ties(values), kind="stable")]


def is_maximum(values: ArrayLike) -> Bools:
    """Return True for each value that is the maximum along the last axis, up to rounding."""
    array = np.asarray(values, dtype=np.float64)
    top = array.max(axis=-1, keepdims=True)
    return np.asarray(array >= top - TIE * np.maximum(np.abs(top), 1.0))
