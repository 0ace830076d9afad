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
from skewanova.base.rounding import TIE_SLACK, is_largest
from skewanova.inference.fold_statistics import ROUNDING, pair_differences

#: Numbers held at once while permuting.
BLOCK_SIZE = 4_000_000


def fold_bootstrap_means(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> Floats:
    """Means of the models over folds drawn with replacement.

    Parameters
    ----------
    values : ndarray of shape (n_folds, n_models)
        One value for each fold and model.
    n_resamples : int, default 9999
        Number of bootstrap samples.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws; None takes fresh entropy.

    Returns
    -------
    ndarray of shape (n_resamples, n_models)
        The resampled means.

    Raises
    ------
    ValueError
        If there are fewer than two folds, or a value is not finite.

    Notes
    -----
    Covers the variation from fold to fold. Folds cut from one data set share training data, so their spread
    understates the uncertainty about new data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.inference.fold_resampling import fold_bootstrap_means
    >>> fold_bootstrap_means(np.array([[0.1, 0.2], [0.3, 0.4]]), n_resamples=1000).shape
    (1000, 2)
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
    """Share of the resamples in which each model has the largest mean, ties shared equally.

    Parameters
    ----------
    means : ndarray of shape (n_resamples, n_models)
        As returned by :func:`fold_bootstrap_means`.

    Returns
    -------
    ndarray of shape (n_models,)
        Shares, summing to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.inference.fold_resampling import fraction_best
    >>> fraction_best(np.array([[1.0, 2.0], [3.0, 3.0]])).tolist()
    [0.25, 0.75]
    """
    best = is_largest(means)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))


class ResamplingPValues(NamedTuple):
    """p-values of a resampling test, how many arrangements were tried, and whether these were all."""

    p_value: Floats
    n_arrangements: int
    exact: bool


def sign_flips(n_folds: int, *, n_resamples: int = 9999, rng: Seed = 0) -> tuple[Floats, bool]:
    """Signs for every fold: all arrangements if these are few, else random ones behind the observed.

    Parameters
    ----------
    n_folds : int
        Number of folds.
    n_resamples : int, default 9999
        Random arrangements to draw.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    signs : ndarray of shape (n_arrangements, n_folds)
        Rows of +1 and -1, the first all +1. A two-sided statistic does not see a flip of all folds, so the
        first fold's sign is fixed.
    exact : bool
        Whether the rows are all arrangements.

    Examples
    --------
    >>> from skewanova.inference.fold_resampling import sign_flips
    >>> sign_flips(2)[0].tolist()
    [[1.0, 1.0], [1.0, -1.0]]
    """
    if 2 ** (n_folds - 1) <= n_resamples + 1:
        rest = list(product((1.0, -1.0), repeat=n_folds - 1))
        return np.array([(1.0, *row) for row in rest]), True
    signs = seeded(rng).choice((1.0, -1.0), size=(n_resamples + 1, n_folds))
    signs[0] = 1.0
    return signs, False


def sign_flip_test(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> ResamplingPValues:
    """Test equal means by flipping the signs of whole fold profiles about the fold's mean.

    Parameters
    ----------
    values : ndarray of shape (..., n_folds, n_models)
        One value for each fold and model.
    n_resamples : int, default 9999
        Random arrangements, unless all can be enumerated.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    ResamplingPValues
        p-values of shape ``values.shape[:-2]``. The smallest p possible is ``2 ** (1 - n_folds)``.

    Notes
    -----
    Valid when fold profiles are independent and symmetric about their mean, whatever the models' spreads. The
    statistic is the blocked F, in which only the models' sum of squares varies.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.inference.fold_resampling import sign_flip_test
    >>> sign_flip_test(np.array([[0.1, 0.2], [0.1, 0.3], [0.2, 0.4]])).p_value.tolist()
    0.25
    """
    centred = _centred(values)
    signs, exact = sign_flips(centred.shape[-2], n_resamples=n_resamples, rng=rng)
    effects = signs @ centred  # (..., n_arrangements, n_models)
    return ResamplingPValues(_upper_tail((effects**2).sum(axis=-1)), len(signs), exact)


def permutation_test(values: Floats, *, n_resamples: int = 9999, rng: Seed = 0) -> ResamplingPValues:
    """Test exchangeable models by permuting them within folds.

    Parameters
    ----------
    values : ndarray of shape (n_folds, n_models)
        One value for each fold and model.
    n_resamples : int, default 9999
        Random arrangements, unless all can be enumerated.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    ResamplingPValues
        One p-value. The smallest p possible is ``factorial(n_models) ** (1 - n_folds)``.

    Notes
    -----
    The hypothesis is that the models are interchangeable within folds, which includes equal spreads: with
    unequal ones it rejects too often. The statistic is the blocked F.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.inference.fold_resampling import permutation_test
    >>> permutation_test(np.array([[0.1, 0.2], [0.1, 0.3], [0.2, 0.4]])).p_value.tolist()
    0.25
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
    """Step-down max-T test of all pairs of models by sign flips of whole fold profiles.

    Parameters
    ----------
    values : ndarray of shape (..., n_folds, n_models)
        One value for each fold and model.
    n_resamples : int, default 9999
        Random arrangements, unless all can be enumerated.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    ResamplingPValues
        Adjusted p-values of shape (..., n_pairs), pairs in the order of :func:`numpy.triu_indices`.

    References
    ----------
    Westfall and Young (1993), algorithm 4.1; p-values as Phipson and Smyth (2010).

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.inference.fold_resampling import max_t_test
    >>> table = np.array([[0.1, 0.2, 0.9], [0.1, 0.3, 0.8], [0.2, 0.4, 0.9], [0.1, 0.2, 0.9]])
    >>> max_t_test(table).p_value.tolist()
    [0.125, 0.125, 0.125]
    """
    table = np.asarray(values, dtype=np.float64)
    signs, exact = sign_flips(table.shape[-2], n_resamples=n_resamples, rng=rng)
    difference = pair_differences(table)
    observed = squared_t(difference, signs[:1])[..., 0, :]
    size = difference[..., 0, :].size
    hits = np.zeros_like(observed)
    for part in split_signs(signs, size):
        hits += _stepdown_exceedances(squared_t(difference, part), observed)
    return ResamplingPValues(_monotone(hits / len(signs), observed), len(signs), exact)


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
    hits = np.empty(observed.shape)
    np.put_along_axis(hits, order, (reached >= limit).sum(axis=-2).astype(np.float64), axis=-1)
    return hits


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
