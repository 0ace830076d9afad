"""Differences between models along the prior, with bands that hold at all priors and for all pairs."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats, InputError, Seed, check_count, check_fraction, check_priors
from skewanova._omnibus_result import check_ratio
from skewanova.evaluation import Evaluation, auprec_by_prior, prior_grid
from skewanova.resampling import BLOCK_SIZE, TIE_SLACK

#: With fewer folds the correlation between pairs of models is not to be relied on.
FOLDS_FOR_JOINT_DRAWS = 10
DIFFERENCE_COLUMNS = (
    "model_a",
    "model_b",
    "prior",
    "estimate",
    "std_error",
    "statistic",
    "p_adjusted",
    "conf_low",
    "conf_high",
    "reject",
)


def difference_curves(
    evaluation: Evaluation,
    priors: ArrayLike | None = None,
    *,
    ratio: float = 0.0,
    alpha: float = 0.05,
    n_draws: int = 4999,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Difference of AUPREC of every pair of models along the prior, with simultaneous bands.

    Answers whether there is any prior at which two models differ, and at which: the largest absolute t over
    all priors and pairs is referred to its joint distribution, so the answer does not depend on how fine the
    grid is, once it is fine.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models, every model in every fold.
    priors : array_like, optional
        By default 41 priors, evenly spaced in the log-odds, over all that the evaluation uses.
    ratio : float, default 0
        Test cases for each training case, where folds share training data.
    alpha : float, default 0.05
        Level of the bands, over all priors and pairs together.
    n_draws : int, default 4999
        Draws from the joint distribution.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    DataFrame
        Columns of `DIFFERENCE_COLUMNS`; ``reject`` marks priors at which the band leaves out 0.

    Raises
    ------
    ValueError
        If there are fewer than 2 models or 2 folds, a cell is missing, or an option is out of range.

    Notes
    -----
    The joint distribution is drawn: Gaussian fold differences with the sample's correlation, each studentized
    by its own standard deviation. Where folds share training data the variance of each mean is inflated as
    Nadeau and Bengio (2003) have it. With fewer than ten folds the pairs are drawn as if independent, and
    with two folds the priors too, since so few folds do not show how they go together.

    Examples
    --------
    >>> from skewanova import difference_curves, evaluate, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> bool(difference_curves(measures, ratio=0.25)["reject"].any())
    False
    """
    check_fraction(alpha, "alpha")
    check_count(n_draws, "n_draws", minimum=99)
    check_ratio(ratio)
    grid = prior_grid(evaluation, 41) if priors is None else np.atleast_1d(check_priors(priors, "priors"))
    values = _fold_tables(evaluation, grid)  # (n_priors, n_folds, n_models)
    found = kernels.paired_t(values, inflation=1 + values.shape[1] * ratio)
    estimate, std_error, statistic = (part.T.ravel() for part in found)  # pair by pair, along the prior
    difference = kernels.pair_differences(values).transpose(1, 2, 0).reshape(values.shape[1], -1)
    residual = difference - difference.mean(axis=0)
    residual[:, std_error == 0] = 0.0
    largest = np.sort(largest_of_all(residual, len(grid), n_draws, rng))
    reached = n_draws - np.searchsorted(largest, np.abs(statistic) * (1 - TIE_SLACK))
    adjusted = np.where(np.isnan(statistic), np.nan, (1 + reached) / (1 + n_draws))
    margin = critical_value(largest, alpha) * std_error
    a, b = kernels.pair_indices(len(evaluation.models))
    return pd.DataFrame(
        {
            "model_a": np.repeat([evaluation.models[i] for i in a], len(grid)),
            "model_b": np.repeat([evaluation.models[i] for i in b], len(grid)),
            "prior": np.tile(grid, len(a)),
            "estimate": estimate,
            "std_error": std_error,
            "statistic": statistic,
            "p_adjusted": adjusted,
            "conf_low": estimate - margin,
            "conf_high": estimate + margin,
            "reject": adjusted < alpha,
        }
    )[list(DIFFERENCE_COLUMNS)]


def differing_priors(differences: pd.DataFrame) -> pd.DataFrame:
    """Stretches of priors at which two models differ.

    Parameters
    ----------
    differences : DataFrame
        As :func:`difference_curves` returns it.

    Returns
    -------
    DataFrame
        Columns better, worse, prior_low, prior_high, p_adjusted (the smallest of the stretch); limits are
        priors of the grid.

    Examples
    --------
    >>> from skewanova import difference_curves, differing_priors, evaluate, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> differing_priors(difference_curves(measures))["worse"].unique().tolist()
    ['B']
    """
    rows = []
    ordered = differences.sort_values("prior", kind="stable")
    for a, b in dict.fromkeys(zip(differences["model_a"], differences["model_b"], strict=True)):
        pair = ordered[(ordered["model_a"] == a) & (ordered["model_b"] == b)]
        sign = np.where(pair["reject"], np.sign(pair["estimate"]), 0.0)
        edges = [0, *(np.flatnonzero(np.diff(sign)) + 1), len(sign)]
        for start, stop in pairwise(edges):
            if sign[start]:
                better, worse = (a, b) if sign[start] > 0 else (b, a)
                part = pair.iloc[start:stop]
                rows.append(
                    (better, worse, part["prior"].min(), part["prior"].max(), part["p_adjusted"].min())
                )
    return pd.DataFrame(rows, columns=["better", "worse", "prior_low", "prior_high", "p_adjusted"])


def _fold_tables(evaluation: Evaluation, grid: Floats) -> Floats:
    """AUPREC of shape (n_priors, n_folds, n_models)."""
    n_models, n_folds = len(evaluation.models), len(evaluation.folds)
    if min(n_models, n_folds) < 2:
        raise InputError(
            f"a difference needs at least 2 models and 2 folds, but has {n_models} and {n_folds}"
        )
    frame = auprec_by_prior(evaluation, grid)
    if len(frame) != n_models * n_folds * len(grid):
        raise InputError("every model must be scored in every fold")
    return frame["auprec"].to_numpy().reshape(n_models, n_folds, len(grid)).transpose(2, 1, 0)


def critical_value(largest: Floats, alpha: float) -> float:
    """Draw above which p is below alpha; nan where the draws are too few for that."""
    allowed = int(np.ceil(alpha * (1 + len(largest)) - TIE_SLACK)) - 2  # draws that may reach a rejected |t|
    return float(largest[-1 - allowed]) if allowed >= 0 else np.nan


def largest_of_all(residual: Floats, n_priors: int, n_draws: int, rng: Seed) -> Floats:
    """Draws of the largest |t| over all pairs and priors.

    Few folds understate how freely several pairs vary, since their residuals span too few directions: pairs
    are then drawn independently, which is on the safe side (Sidak 1967), and with two folds all columns.
    """
    generator = np.random.default_rng(rng)
    n_folds, n_columns = residual.shape
    size = n_columns if n_folds >= FOLDS_FOR_JOINT_DRAWS else n_priors if n_folds > 2 else 1
    blocks = (residual[:, start : start + size] for start in range(0, n_columns, size))
    draws = [_largest_t(block[:, block.any(axis=0)], n_draws, generator) for block in blocks]
    return np.asarray(np.max(draws, axis=0))


def _largest_t(residual: Floats, n_draws: int, generator: np.random.Generator) -> Floats:
    """Draws of the largest |t| over columns that are correlated as the residuals over folds are.

    Every draw is a Gaussian table with the residuals' correlation, studentized by its own deviations: one
    common deviation, as in the multivariate t, would understate the largest of many.
    """
    n_folds = len(residual)
    if not residual.size:
        return np.zeros(n_draws)
    unit = residual / np.linalg.norm(residual, axis=0)
    block = max(1, BLOCK_SIZE // (n_folds * unit.shape[1]))
    parts = []
    for start in range(0, n_draws, block):
        size = min(block, n_draws - start)
        table = generator.standard_normal((size * n_folds, n_folds)) @ unit
        table = table.reshape(size, n_folds, -1)
        mean = table.mean(axis=1)
        deviation = np.sqrt(np.maximum((table**2).sum(axis=1) - n_folds * mean**2, 0) / (n_folds - 1))
        parts.append(np.abs(mean / deviation).max(axis=1) * np.sqrt(n_folds))
    return np.concatenate(parts)
