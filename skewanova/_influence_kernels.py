"""Influence values of every case, as bare kernels, and the checks of what they are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova._checks import (
    Bools,
    Floats,
    InputError,
    check_labels,
    check_prior,
    check_same_length,
    check_scores,
)
from skewanova.priors import DeploymentPrior, UniformPrior, as_deployment_prior


def check_cases(y_true: ArrayLike, y_score: ArrayLike, pos_label: object) -> tuple[Bools, NDArray[Any]]:
    """Labels with both classes, and scores of shape (n_cases, n_models)."""
    positive = check_labels(y_true, pos_label=pos_label)
    table = np.asarray(y_score)
    if table.ndim not in {1, 2} or 0 in table.shape:
        raise InputError(
            f"`y_score` must have shape (n_cases,) or (n_cases, n_models), but has shape {table.shape}"
        )
    columns = table.reshape(len(table), -1)
    for j in range(columns.shape[1]):
        check_scores(columns[:, j], "y_score" if table.ndim == 1 else f"y_score[:, {j}]")
    check_same_length(y_true=positive, y_score=columns)
    for present, word in ((positive.any(), "positive"), (not positive.all(), "negative")):
        if not present:
            raise InputError(f"`y_true` must hold both classes, but has no {word} case")
    return positive, columns


def check_model_names(models: Sequence[str] | None, n_models: int) -> tuple[str, ...]:
    """Different names for at least two models, by default their numbers."""
    if n_models < 2:
        raise InputError(f"`y_score` must hold at least 2 models, one a column, but has {n_models}")
    names = tuple(str(name) for name in (range(n_models) if models is None else models))
    if len(names) != n_models or len(set(names)) != n_models:
        raise InputError(f"`models` must hold {n_models} different names, but got {names}")
    return names


def target_prior(prior: float | None, deployment_prior: Any, positive: Bools) -> DeploymentPrior:
    """Weighting over priors that the caller means: one prior, a deployment prior, or the sample's own."""
    if prior is not None and deployment_prior is not None:
        raise InputError("give either `prior` or `deployment_prior`, but got both")
    if deployment_prior is not None:
        return as_deployment_prior(deployment_prior)
    at = float(positive.mean()) if prior is None else check_prior(prior)
    return UniformPrior(at, at)


def influence_kernel(
    positive: Bools, score: NDArray[Any], weighting: DeploymentPrior
) -> tuple[float, Floats]:
    """Average precision over a weighting, and the influence value of every case.

    With `a` the positives in each tie group, theta = sum (a_k / n) p_k and p_k = p(T_k, F_k). Moving the
    positives' distribution towards case j of group g moves T_k by [g <= k] - T_k and the weight of p_g;
    moving the negatives' moves F_k likewise.
    """
    rank, in_group = tie_groups(positive, score)
    theta, of_positive, of_negative = _group_influence(in_group, weighting)
    return theta, np.where(positive, of_positive[rank], of_negative[rank])


def influence_along(positive: Bools, score: NDArray[Any], priors: Floats) -> Floats:
    """Influence value of every case on average precision at each prior, of shape (n_cases, n_priors)."""
    rank, in_group = tie_groups(positive, score)
    columns = []
    for prior in priors:
        _, of_positive, of_negative = _group_influence(in_group, UniformPrior(float(prior), float(prior)))
        columns.append(np.where(positive, of_positive[rank], of_negative[rank]))
    return np.stack(columns, axis=1)


def _group_influence(in_group: NDArray[np.intp], weighting: DeploymentPrior) -> tuple[float, Floats, Floats]:
    """Average precision, and the influence of a positive and of a negative case of every tie group."""
    tpr, fpr = (np.cumsum(count) / count.sum() for count in in_group)
    precision, by_tpr, by_fpr = precision_slopes(tpr, fpr, weighting)
    share = in_group[0] / in_group[0].sum()
    theta = float(share @ precision)
    of_positive = precision - theta + _pull(share * by_tpr, tpr)
    return theta, of_positive, _pull(share * by_fpr, fpr)


def tie_groups(positive: Bools, score: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Tie group of every case, the best score first, and the positives and negatives in every group."""
    distinct, codes = np.unique(score, return_inverse=True)
    rank = len(distinct) - 1 - codes.reshape(-1)
    counts = [np.bincount(rank[rows], minlength=len(distinct)) for rows in (positive, ~positive)]
    return rank, np.array(counts)


def precision_slopes(tpr: Floats, fpr: Floats, weighting: DeploymentPrior) -> tuple[Floats, Floats, Floats]:
    """Precision and its slopes in the true and the false positive rate, averaged over the weighting."""
    total = np.zeros((3, len(tpr)))
    for prior, weight in zip(*weighting.quadrature(), strict=True):
        alarms = prior * tpr + (1 - prior) * fpr  # D / (1 + lam) in the notation with skews
        precision, fallout = prior * tpr / alarms, (1 - prior) * fpr / alarms
        total += weight * np.array([precision, fallout * prior / alarms, -precision * (1 - prior) / alarms])
    return total[0], total[1], total[2]


def _pull(slope: Floats, rate: Floats) -> Floats:
    """Sum over vertices at or below each group of the slopes, less its mean over the cases of the class."""
    return np.asarray(np.cumsum(slope[::-1])[::-1] - slope @ rate)


def stratified_covariance(influence: Floats, positive: Bools) -> Floats:
    """Covariance (n_models, n_models) from influence values (n_cases, n_models), classes sampled apart."""
    parts = ((influence[rows], np.count_nonzero(rows)) for rows in (positive, ~positive))
    return np.asarray(sum(values.T @ values / count**2 for values, count in parts))
