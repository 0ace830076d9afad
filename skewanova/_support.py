"""At which priors the test set can speak: how many negatives a fold's negatives weigh as much as."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skewanova._checks import check_priors
from skewanova.evaluation import FEW_EFFECTIVE_NEGATIVES, Evaluation, prior_grid

SUPPORT_COLUMNS = ("prior", "effective_negatives", "supported")


def support_by_prior(evaluation: Evaluation, priors: ArrayLike | None = None) -> pd.DataFrame:
    """Tell at which priors the smallest fold holds negatives enough to speak for the precision there.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    priors : array_like, optional
        By default 81 priors, evenly spaced in the log-odds, over all that the evaluation uses, and the rarest
        prior that is supported where it lies between them.

    Returns
    -------
    DataFrame
        Columns of `SUPPORT_COLUMNS`, in ascending priors. ``effective_negatives`` is the number of negatives
        of the smallest fold over the skew, and ``supported`` whether it is 50 or more.

    Raises
    ------
    ValueError
        If a prior is out of range.

    Notes
    -----
    At a skew of `s` the precision among `m` negatives is as uncertain as a proportion among ``m / s``: below
    50 a single false alarm moves it by percents, whatever the estimator.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, support_by_prior
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> support_by_prior(measures, [0.2, 0.01])["supported"].tolist()
    [False, True]
    """
    fewest = min(roc.n_negative for roc in evaluation.curves.values())
    rarest = FEW_EFFECTIVE_NEGATIVES / (FEW_EFFECTIVE_NEGATIVES + fewest)
    if priors is None:
        grid = prior_grid(evaluation)
        inside = [rarest] if grid[0] < rarest < grid[-1] else []
        grid = np.unique([*grid, *inside])
    else:
        grid = np.unique(check_priors(priors, "priors"))
    effective = fewest * grid / (1 - grid)
    supported = effective >= FEW_EFFECTIVE_NEGATIVES * (1 - 1e-12)  # the rarest prior itself counts
    return pd.DataFrame({"prior": grid, "effective_negatives": effective, "supported": supported})
