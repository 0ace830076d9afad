"""Comparisons that treat numbers as equal if they differ only by rounding error.

The last digits of sums depend on the processor's linear algebra. No order, name, state or rejection may
depend on them, so every choice and ranking uses this module.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from skewanova.base.checks import Bools, Floats

#: Largest rounding error of numbers up to 1, and relative rounding error of larger numbers.
TIE = 1e-12


#: A resampled statistic reaches the observed one within this relative slack.
TIE_SLACK = 1e-10


def snap_ties(values: ArrayLike) -> Floats:
    """Return values with each chain of near-ties along the last axis replaced by its least; nan stays nan."""
    array = np.asarray(values, dtype=np.float64)
    order = np.argsort(array, axis=-1, kind="stable")
    ranked = np.take_along_axis(array, order, axis=-1)
    near = np.minimum(np.abs(ranked[..., 1:]), np.abs(ranked[..., :-1]))
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        apart = np.diff(ranked, axis=-1) > TIE * np.maximum(near, 1.0)
    start = np.zeros(ranked.shape, dtype=np.intp)
    start[..., 1:] = np.where(apart, np.arange(1, ranked.shape[-1]), 0)
    least = np.take_along_axis(ranked, np.maximum.accumulate(start, axis=-1), axis=-1)
    level = np.empty_like(ranked)
    np.put_along_axis(level, order, least, axis=-1)
    return np.where(np.isnan(array), np.nan, level)


def argsort_descending(values: ArrayLike) -> list[int]:
    """Return the indices of values in descending order; near-ties keep their order, and nan is last."""
    return [int(i) for i in np.argsort(-snap_ties(values), kind="stable")]


def is_maximum(values: ArrayLike) -> Bools:
    """Return True for each maximum along the last axis, up to rounding; all are False beside a nan."""
    array = np.asarray(values, dtype=np.float64)
    top = array.max(axis=-1, keepdims=True)
    return np.asarray(array >= top - TIE * np.maximum(np.abs(top), 1.0))


@contextmanager
def limit_blas_threads() -> Iterator[None]:
    """Limit numpy's and scipy's linear algebra to one thread in the block, enough for our skinny matrices."""
    with _find_blas().limit(limits=1, user_api="blas"):
        yield


@cache
def _find_blas() -> Any:
    """Return threadpoolctl's controller of numpy's linear algebra and of scipy's, which is another."""
    import scipy.linalg  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
