"""Means along the prior that plots show: AUPREC with intervals, and the shortfall from the best model."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats

from skewanova._checks import InputError, check_fraction, check_prior_list
from skewanova._omnibus_result import check_ratio
from skewanova._ties import is_largest
from skewanova.evaluation import Evaluation, prior_grid

INTERVAL_COLUMNS = ("model", "prior", "auprec", "std_error", "conf_low", "conf_high", "n_folds")
REGRET_COLUMNS = ("model", "prior", "auprec", "best", "regret")


def auprec_intervals(auprec: pd.DataFrame, *, ratio: float = 0.0, alpha: float = 0.05) -> pd.DataFrame:
    """Mean AUPREC over folds of every model at every prior, each with its t interval.

    Parameters
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec.
    ratio : float, default 0
        Test cases for each training case, where folds share training data.
    alpha : float, default 0.05
        The intervals are at level ``1 - alpha``, each by itself.

    Returns
    -------
    DataFrame
        Columns of `INTERVAL_COLUMNS`. The variance of each mean is ``s^2 (1 / J + ratio)`` over J folds
        (Nadeau and Bengio 2003); with one fold the intervals are nan.

    Raises
    ------
    ValueError
        If a column is missing or an option is out of range.

    Examples
    --------
    >>> from skewanova import auprec_intervals, evaluate, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> auprec_intervals(measures.auprec)[["model", "prior"]].to_numpy().tolist()
    [['A', 0.5], ['A', 0.2], ['B', 0.5], ['B', 0.2], ['C', 0.5], ['C', 0.2]]
    """
    check_fraction(alpha, "alpha")
    check_ratio(ratio)
    missing = [c for c in ("model", "prior", "auprec") if c not in auprec]
    if missing:
        raise InputError(f"`auprec` must have the columns model, fold, prior, auprec; it lacks {missing[0]}")
    cells = auprec.groupby(["model", "prior"], sort=False, observed=True)["auprec"]
    frame = cells.agg(["mean", "std", "count"]).reset_index()
    n_folds = frame["count"].to_numpy()
    std_error = frame["std"].to_numpy(dtype=np.float64) * np.sqrt(1 / n_folds + ratio)
    margin = stats.t.isf(alpha / 2, np.maximum(n_folds - 1, 1)) * std_error
    mean = frame["mean"].to_numpy(dtype=np.float64)
    bounds = {"conf_low": mean - margin, "conf_high": mean + margin}
    frame = frame.assign(auprec=mean, std_error=std_error, n_folds=n_folds, **bounds)
    return frame[list(INTERVAL_COLUMNS)]


def regret_by_prior(evaluation: Evaluation, priors: ArrayLike | None = None) -> pd.DataFrame:
    """What each model falls short of the best model's mean AUPREC, prior by prior.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    priors : array_like, optional
        By default 81 priors, evenly spaced in the log-odds, over all that the evaluation uses, and the limits
        of the deployment prior.

    Returns
    -------
    DataFrame
        Columns of `REGRET_COLUMNS`: ``best`` is the model with the largest mean at that prior (the first in
        order among equals), ``regret`` its mean minus the model's.

    Raises
    ------
    ValueError
        If a prior is out of range.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, regret_by_prior
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> regret_by_prior(measures, [0.1])[["model", "best", "regret"]].round(3).to_numpy().tolist()
    [['A', 'A', 0.0], ['B', 'A', 0.183], ['C', 'A', 0.025]]
    """
    grid = _grid(evaluation) if priors is None else check_prior_list(priors)
    means = evaluation.mean_auprec(grid)
    leader, models = is_largest(means.T).argmax(axis=1), np.array(evaluation.models, dtype=object)
    return pd.DataFrame(
        {
            "model": np.repeat(models, len(grid)),
            "prior": np.tile(grid, len(models)),
            "auprec": means.ravel(),
            "best": np.tile(models[leader], len(models)),
            "regret": (means.max(axis=0) - means).ravel(),
        }
    )


def _grid(evaluation: Evaluation) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    limits = (evaluation.deployment_prior.low, evaluation.deployment_prior.high)
    return np.union1d(prior_grid(evaluation), limits)
