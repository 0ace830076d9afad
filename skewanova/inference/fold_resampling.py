"""Bootstrap, sign flips, permutations and max-T over folds.

Models stay paired throughout, because a fold brings the values of all models with it. Tests take values of
shape (..., n_folds, n_models) and use the same draws for every leading index.
"""

from __future__ import annotations

from itertools import permutations, product
from math import lgamma, log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Floats, InputError, Seed, check_count, seeded
from skewanova.base.rounding import TIE_SLACK, is_maximum
from skewanova.inference.fold_statistics import ROUNDING, pair_differences

#: Numbers held at once while permuting.
BLOCK_SIZE = 4_000_000


def fold_bootstrap_means(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> Floats:
    """Return means of the models (n_resamples, n_models) over folds drawn with replacement.

    They cover the variation from fold to fold. Folds of one data set share training data, so their spread
    understates the uncertainty about new data sets.
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or len(table) < 2 or not np.isfinite(table).all():
        raise InputError(
            f"`values` must be finite, of shape (at least 2 folds, models), but has shape {table.shape}"
        )
    check_count(n_resamples, "n_resamples", minimum=1)
    n_folds = len(table)
    draws = seeded(rng).multinomial(n_folds, np.full(n_folds, 1 / n_folds), size=n_resamples)
    return np.asarray(draws @ table / n_folds)


def fraction_best(means: Floats) -> Floats:
    """Return the fraction of resamples in which each model has the largest mean; ties share it equally."""
    best = is_maximum(means)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


class ResamplingPValues(NamedTuple):
    """p-values of a resampling test, how many arrangements were tried, and whether these were all."""

    p_value: Floats
    n_arrangements: int
    exact: bool


def sign_flips(n_folds: int, *, n_resamples: int = 9999, rng: Seed = 0) -> tuple[Floats, bool]:
    """Return rows of signs (n_arrangements, n_folds), the first all +1, and whether they are exhaustive.

    A two-sided statistic does not see a flip of all folds, so enumerated rows fix the first fold's sign.
    """
    if 2 ** (n_folds - 1) <= n_resamples + 1:
        rest = list(product((1.0, -1.0), repeat=n_folds - 1))
        return np.array([(1.0, *row) for row in rest]), True
    signs = seeded(rng).choice((1.0, -1.0), size=(n_resamples + 1, n_folds))
    signs[0] = 1.0
    return signs, False


def sign_flip_test(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> ResamplingPValues:
    """Test equal means of tables (..., n_folds, n_models) by sign flips of fold profiles.

    The test is valid when profiles are independent and symmetric about their mean, whatever the models'
    spreads. The statistic is the blocked F, in which only the models' sum of squares varies. The smallest
    possible p is ``2 ** (1 - n_folds)``.
    """
    centred = _centred(values)
    signs, exact = sign_flips(centred.shape[-2], n_resamples=n_resamples, rng=rng)
    effects = signs @ centred  # (..., n_arrangements, n_models)
    return ResamplingPValues(_upper_tail((effects**2).sum(axis=-1)), len(signs), exact)


def permutation_test(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> ResamplingPValues:
    """Test exchangeable models of one table (n_folds, n_models) by permuting them within folds.

    The hypothesis includes equal spreads: with unequal ones the test rejects too often. The statistic is the
    blocked F. The smallest possible p is ``factorial(n_models) ** (1 - n_folds)``.
    """
    centred = _centred(values)
    n_folds, n_models = centred.shape
    if (n_folds - 1) * lgamma(n_models + 1) <= log(n_resamples + 1) + TIE_SLACK:
        statistic = _all_permuted(centred)
        return ResamplingPValues(_upper_tail(statistic), len(statistic), True)
    rng = seeded(rng)
    block = max(1, BLOCK_SIZE // centred.size)
    parts = [((centred.sum(axis=0)) ** 2).sum()[None]]
    for start in range(0, n_resamples, block):
        size = min(block, n_resamples - start)
        drawn = rng.permuted(np.broadcast_to(centred, (size, *centred.shape)), axis=-1)
        parts.append((drawn.sum(axis=-2) ** 2).sum(axis=-1))
    return ResamplingPValues(_upper_tail(np.concatenate(parts)), n_resamples + 1, False)


def max_t_test(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> ResamplingPValues:
    """Test all pairs of models of tables (..., n_folds, n_models) by step-down max-T under sign flips.

    p-values (..., n_pairs), in the order of :func:`numpy.triu_indices`, are adjusted by algorithm 4.1 of
    Westfall and Young (1993) and counted as Phipson and Smyth (2010) do.
    """
    table = np.asarray(values, dtype=np.float64)
    signs, exact = sign_flips(table.shape[-2], n_resamples=n_resamples, rng=rng)
    difference = pair_differences(table)
    observed = squared_t(difference, signs[:1])[..., 0, :]
    size = difference[..., 0, :].size
    counts = np.zeros_like(observed)
    for part in split_signs(signs, size):
        counts += _stepdown_exceedances(squared_t(difference, part), observed)
    return ResamplingPValues(_monotone(counts / len(signs), observed), len(signs), exact)


def squared_t(difference: Floats, signs: Floats) -> Floats:
    """Squared t of differences (..., n_folds, n) under every row of signs, increasing in its square only."""
    total = (difference**2).sum(axis=-2)[..., None, :]
    square = np.asarray(signs @ difference)  # in place from here on: these are large
    square *= square
    square /= difference.shape[-2]  # J mean^2
    rest = total - square
    np.maximum(rest, 1e-15 * total, out=rest)
    with np.errstate(divide="ignore", invalid="ignore"):
        np.divide(square, rest, out=square, where=total != 0)  # where all is 0, so is the square
    return square


def split_signs(signs: Floats, size: int) -> list[Floats]:
    """Rows of signs, as many at a time as leave `size` statistics of each in memory."""
    rows = max(1, BLOCK_SIZE // max(size, 1))
    return [signs[start : start + rows] for start in range(0, len(signs), rows)]


def _stepdown_exceedances(statistic: Floats, observed: Floats) -> Floats:
    """How many arrangements reach each observed statistic by the largest of it and all less extreme ones."""
    order = np.argsort(observed, axis=-1)  # the least extreme first: its maximum is over itself alone
    ranked = np.take_along_axis(statistic, order[..., None, :], axis=-1)
    reached = np.maximum.accumulate(ranked, axis=-1)
    limit = np.take_along_axis(observed, order, axis=-1)[..., None, :] * (1 - TIE_SLACK)
    counts = np.empty(observed.shape)
    np.put_along_axis(counts, order, (reached >= limit).sum(axis=-2).astype(np.float64), axis=-1)
    return counts


def _monotone(share: Floats, observed: Floats) -> Floats:
    """Shares that do not fall from the most to the least extreme observed statistic."""
    order = np.argsort(observed, axis=-1)
    ranked = np.take_along_axis(share, order, axis=-1)
    falling = np.maximum.accumulate(ranked[..., ::-1], axis=-1)[..., ::-1]
    adjusted = np.empty_like(falling)
    np.put_along_axis(adjusted, order, falling, axis=-1)
    return adjusted


def _centred(values: Floats) -> Floats:
    table = np.asarray(values, dtype=np.float64)
    centred = table - table.mean(axis=-1, keepdims=True)
    rounding = ROUNDING * np.abs(table).max(axis=(-2, -1), keepdims=True)
    return np.where(np.abs(centred) <= rounding, 0.0, centred)


def _upper_tail(statistic: Floats) -> Floats:
    """Share of arrangements (last axis) that reach the first, the observed one."""
    return np.asarray((statistic >= statistic[..., :1] * (1 - TIE_SLACK)).mean(axis=-1))


def _all_permuted(centred: Floats) -> Floats:
    """Statistic of every arrangement: the first fold fixed, all others permuted in every way."""
    sums = centred[:1]
    orders: NDArray[np.intp] = np.array(list(permutations(range(centred.shape[1]))))
    for fold in centred[1:]:
        sums = (sums[:, None, :] + fold[orders][None, :, :]).reshape(-1, centred.shape[1])
    return np.asarray((sums**2).sum(axis=-1))
