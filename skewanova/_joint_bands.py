"""Critical values and bands that hold at all priors and for all models at once."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats, Seed, check_count, check_fraction, check_prior_list, seeded
from skewanova._differences import critical_value, largest_of_all, largest_of_pairs
from skewanova._joint_curves import JointCurves, joint_curves
from skewanova._omnibus_result import check_ratio
from skewanova._streamed_scores import Scores
from skewanova._ties import TIE
from skewanova.evaluation import Evaluation, prior_grid

BAND_COLUMNS = ("model", "prior", "auprec", "conf_low", "conf_high")
#: Priors at which the largest deviate is looked for: as fine as anybody can see.
BAND_PRIORS = 41
N_DRAWS = 4999


def auprec_bands(
    evaluation: Evaluation,
    priors: ArrayLike | None = None,
    *,
    ratio: float = 0.0,
    alpha: float = 0.05,
    scores: Scores | None = None,
    n_draws: int = N_DRAWS,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Mean AUPREC of every model along the prior, with bands that hold at all priors and for all models.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    priors : array_like, optional
        By default 41 priors, evenly spaced in the log-odds, over all that the evaluation uses.
    ratio : float, default 0
        Test cases for each training case, where folds share training data.
    alpha : float, default 0.05
        The bands are at level ``1 - alpha``.
    scores : ScoreTable, optional
        What was evaluated. With one fold the bands rest on it; without it they are nan.
    n_draws : int, default 4999
        Draws from the joint distribution.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    DataFrame
        Columns of `BAND_COLUMNS`; limits beyond 0 and 1 are cut.

    Raises
    ------
    ValueError
        If an option is out of range.

    Notes
    -----
    Bands of means say how well each mean is known. Two models on the same folds may be told apart although
    their bands overlap: for that see :func:`~skewanova.difference_curves`.

    Examples
    --------
    >>> from skewanova import auprec_bands, evaluate, load_satellite_scores
    >>> bands = auprec_bands(evaluate(load_satellite_scores(), priors=(0.5, 0.2)), [0.1], ratio=0.25)
    >>> bool((bands["conf_low"] < bands["auprec"]).all())
    True
    """
    check_fraction(alpha, "alpha")
    check_ratio(ratio)
    check_count(n_draws, "n_draws", minimum=99)
    grid = prior_grid(evaluation, BAND_PRIORS) if priors is None else check_prior_list(priors)
    joint = joint_curves(evaluation, grid, ratio=ratio, scores=scores)
    error = (
        np.sqrt((joint.deviations**2).sum(axis=0)) if joint.known else np.full(joint.estimate.shape, np.nan)
    )
    reach = _critical(joint, joint.deviations, alpha, n_draws=n_draws, rng=rng) * error
    return pd.DataFrame(
        {
            "model": np.repeat(evaluation.models, len(grid)),
            "prior": np.tile(grid, len(evaluation.models)),
            "auprec": joint.estimate.ravel(),
            "conf_low": np.maximum(joint.estimate - reach, 0).ravel(),
            "conf_high": np.minimum(joint.estimate + reach, 1).ravel(),
        }
    )[list(BAND_COLUMNS)]


def pair_critical(joint: JointCurves, alpha: float, *, n_draws: int = N_DRAWS, rng: Seed = 0) -> float:
    """Critical value of the differences of all pairs at all priors; nan where nothing is known."""
    a, b = kernels.pair_indices(len(joint.estimate))
    if not joint.known or np.isinf(joint.df):
        differences = joint.deviations[:, a] - joint.deviations[:, b]
        return _critical(joint, differences, alpha, n_draws=n_draws, rng=rng)
    spread = np.sqrt(joint.pairs()[1])
    moved = (spread > kernels.ROUNDING).ravel()  # else alike in every fold
    return critical_value(np.sort(largest_of_pairs(joint.deviations, moved, n_draws, rng)), alpha)


def _critical(joint: JointCurves, deviations: Floats, alpha: float, *, n_draws: int, rng: Seed) -> float:
    """Quantile of the largest absolute deviate over curves (n_units, n_curves, n_priors)."""
    if not joint.known:
        return np.nan
    columns = deviations.reshape(len(deviations), -1).copy()
    columns[:, np.linalg.norm(columns, axis=0) <= TIE] = 0.0  # models alike in every case
    if np.isinf(joint.df):
        return float(np.quantile(_largest_normal(columns, n_draws, rng), 1 - alpha))
    largest = largest_of_all(columns, len(joint.priors), n_draws, rng)
    return critical_value(np.sort(largest), alpha)


def _largest_normal(columns: Floats, n_draws: int, rng: Seed) -> Floats:
    """Draws of the largest absolute value of normal columns that vary together as the deviations do."""
    size = np.linalg.norm(columns, axis=0)
    unit = columns[:, size > 0] / size[size > 0]
    if not unit.size:
        return np.zeros(n_draws)
    draws = seeded(rng).standard_normal((n_draws, len(unit))) @ unit
    return np.asarray(np.abs(draws).max(axis=1))
