"""Influence values of every case, as bare kernels, and the checks of what they are computed from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

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
    to_numbers,
)
from skewanova.priors import DeploymentPrior, UniformPrior, as_deployment_prior

#: Degrees of freedom that heavy-tailed influence values cannot fall below.
FEWEST_DF = 4.0


def check_cases(y_true: ArrayLike, y_score: ArrayLike, pos_label: object) -> tuple[Bools, NDArray[Any]]:
    """Labels with both classes, and scores of shape (n_cases, n_models)."""
    positive = check_labels(y_true, pos_label=pos_label)
    table = to_numbers(y_score, "y_score")
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
    positives' distribution towards case j moves T_k by [j at or above group k] - T_k, and the weight of its
    own p; moving the negatives' moves F_k likewise. Groups without a positive have no weight, so that the
    negatives need no sorting, but only their place among the positives.
    """
    return _influence(positive, _among_positives(positive, score), weighting)


def _influence(positive: Bools, places: _Places, weighting: DeploymentPrior) -> tuple[float, Floats]:
    _, _, count, tpr, fpr = places
    share = count / count.sum()
    precision, by_tpr, by_fpr = precision_slopes(tpr, fpr, weighting)
    theta = float(share @ precision)
    of_positives = precision - theta + _pull(share * by_tpr, tpr)[1:]
    return theta, _at_cases(positive, places, of_positives, _pull(share * by_fpr, fpr))


def jackknife_kernel(
    positive: Bools, score: NDArray[Any], weighting: DeploymentPrior
) -> tuple[float, Floats]:
    """Average precision over a weighting, and what leaving out each case changes in it.

    The value of a case is (size - 1) (theta - theta without it), with the size of its class: influence values
    but for O(1/size), which sees how thin the curve is where one case is all there is. A class of one case
    has the value 0.
    """
    return _jackknife(positive, _among_positives(positive, score), weighting)


def jackknife_by_prior(positive: Bools, score: NDArray[Any], priors: Floats) -> Floats:
    """Jackknife value of every case at each prior, of shape (n_priors, n_cases)."""
    places = _among_positives(positive, score)
    return np.array([_jackknife(positive, places, UniformPrior(at, at))[1] for at in priors.tolist()])


class JackknifeLookup:
    """Jackknife values along priors, of any cases at a time: all that are alike share one entry.

    Parameters
    ----------
    positive, score : ndarray of shape (n_cases,)
        Clean cases of both classes.
    priors : ndarray of shape (n_priors,)
        Where average precision is looked at.
    """

    def __init__(self, positive: Bools, score: NDArray[Any], priors: Floats) -> None:
        places = _among_positives(positive, score)
        found = (_jackknife_by_place(places, UniformPrior(at, at)) for at in priors.tolist())
        _, of_positives, of_negatives = zip(*found, strict=True)
        self._values = np.concatenate([np.stack(of_positives, axis=1), np.stack(of_negatives, axis=1)])
        self._entry = np.empty(len(positive), dtype=np.intp)
        self._entry[positive] = places.group
        self._entry[~positive] = len(of_positives[0]) + places.at_or_below

    def rows(self, rows: slice) -> Floats:
        """Values of some cases, of shape (n_rows, n_priors)."""
        return np.asarray(self._values[self._entry[rows]])


def _jackknife(positive: Bools, places: _Places, weighting: DeploymentPrior) -> tuple[float, Floats]:
    theta, of_positives, of_negatives = _jackknife_by_place(places, weighting)
    return theta, _at_cases(positive, places, of_positives, of_negatives)


def _jackknife_by_place(places: _Places, weighting: DeploymentPrior) -> tuple[float, Floats, Floats]:
    """Theta, and the values of positives in every group and of negatives above 0, 1, ... groups."""
    _, at_or_below, count, tpr, fpr = places
    n, m = int(count.sum()), len(at_or_below)
    theta = float(count @ mean_precision(tpr, fpr, weighting)) / n
    of_positives, of_negatives = np.zeros(len(count)), np.zeros(len(count) + 1)
    if m > 1:  # without a negative, the groups at or below it have one alarm fewer
        kept, fewer = (mean_precision(tpr, (m * fpr - less) / (m - 1), weighting) for less in (0, 1))
        without = count @ kept + np.append(0.0, np.cumsum(count * (fewer - kept)))
        of_negatives = (m - 1) * (theta - without / n)
    if n > 1:  # without a positive, they have one hit fewer, and its own precision is not counted
        kept, fewer = (mean_precision((n * tpr - less) / (n - 1), fpr, weighting) for less in (0, 1))
        of_positives = (n - 1) * theta - (count @ kept + (np.cumsum(count * (fewer - kept)) - fewer))
    return theta, of_positives, of_negatives


def _at_cases(positive: Bools, places: _Places, of_positives: Floats, of_negatives: Floats) -> Floats:
    """Value of every case from those of the places."""
    values = np.empty(len(positive))
    values[positive] = of_positives[places.group]
    values[~positive] = of_negatives[places.at_or_below]
    return values


class _Places(NamedTuple):
    """Where the cases stand among the groups of tied positives, the lowest score first.

    The group of every positive, the number of groups at or below every negative, the positives in each group,
    and the true and the false positive rate of the vertex that each group ends.
    """

    group: NDArray[np.intp]
    at_or_below: NDArray[np.intp]
    in_group: NDArray[np.intp]
    tpr: Floats
    fpr: Floats


def _among_positives(positive: Bools, score: NDArray[Any]) -> _Places:
    """Sort the positives; of the negatives, only the place among them is needed."""
    distinct, group, count = np.unique(score[positive], return_inverse=True, return_counts=True)
    at_or_below = np.searchsorted(distinct, score[~positive], side="right")
    fpr = _from_the_top(np.bincount(at_or_below, minlength=len(distinct) + 1))[1:]
    return _Places(group.reshape(-1), at_or_below, count, _from_the_top(count), fpr)


def _from_the_top(count: NDArray[np.intp]) -> Floats:
    """Share of the cases in each group, the lowest score first, or in one above."""
    return np.asarray(np.cumsum(count[::-1])[::-1] / count.sum())


def mean_precision(tpr: Floats, fpr: Floats, weighting: DeploymentPrior) -> Floats:
    """Precision averaged over the weighting, 0 where there is no alarm; rounding below 0 counts as 0."""
    true, false, total = np.maximum(tpr, 0.0), np.maximum(fpr, 0.0), np.zeros(tpr.shape)
    for prior, weight in zip(*weighting.quadrature(), strict=True):
        alarms = prior * true + (1 - prior) * false
        total += weight * np.divide(prior * true, alarms, out=np.zeros(tpr.shape), where=alarms > 0)
    return total


def precision_slopes(tpr: Floats, fpr: Floats, weighting: DeploymentPrior) -> tuple[Floats, Floats, Floats]:
    """Precision and its slopes in the true and the false positive rate, averaged over the weighting."""
    total = np.zeros((3, *tpr.shape))
    for prior, weight in zip(*weighting.quadrature(), strict=True):
        alarms = prior * tpr + (1 - prior) * fpr  # D / (1 + lam) in the notation with skews
        precision, fallout = prior * tpr / alarms, (1 - prior) * fpr / alarms
        total += weight * np.array([precision, fallout * prior / alarms, -precision * (1 - prior) / alarms])
    return total[0], total[1], total[2]


def _pull(slope: Floats, rate: Floats) -> Floats:
    """Sum of the slopes of the lowest 0, 1, ... groups, less its mean over the cases of the class."""
    return np.append(0.0, np.cumsum(slope)) - slope @ rate


def stratified_covariance(influence: Floats, positive: Bools) -> Floats:
    """Covariance (n_models, n_models) from influence values (n_cases, n_models), classes sampled apart."""
    parts = ((influence[rows], np.count_nonzero(rows)) for rows in (positive, ~positive))
    return np.asarray(sum(values.T @ values / count**2 for values, count in parts))


def spread_of(influence: Floats, positive: Bools) -> tuple[float, float]:
    """Standard error from influence values of two samples, and the degrees of freedom behind it.

    The variance of a variance is (kurtosis - 1) variance^2 / n in each sample, so heavy tails leave fewer
    degrees of freedom than cases (Satterthwaite 1946, without the normal's kurtosis of 3).
    """
    variance = doubt = 0.0
    for values in (influence[positive], influence[~positive]):
        size, squares = len(values), (values - values.mean()) ** 2
        square = float(squares.mean())
        variance += square / max(size - 1, 1)
        doubt += (float((squares**2).mean()) - square**2) / size**3
    df = 2 * variance**2 / doubt if doubt > 0 else np.inf
    return float(np.sqrt(variance)), max(df, FEWEST_DF)
