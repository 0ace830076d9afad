"""Resampling of whole folds: models stay paired, because a fold brings the values of all models with it."""

from __future__ import annotations

import numpy as np

from skewanova._checks import Floats, InputError, Seed, check_count


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
    >>> from skewanova.resampling import fold_bootstrap_means
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
    draws = np.random.default_rng(rng).multinomial(n_folds, np.full(n_folds, 1 / n_folds), size=n_resamples)
    return np.asarray(draws @ table / n_folds)


def share_best(means: Floats) -> Floats:
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
    >>> from skewanova.resampling import share_best
    >>> share_best(np.array([[1.0, 2.0], [3.0, 3.0]])).tolist()
    [0.25, 0.75]
    """
    best = means == means.max(axis=1, keepdims=True)
    return np.asarray((best / best.sum(axis=1, keepdims=True)).mean(axis=0))
