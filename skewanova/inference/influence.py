"""Influence and jackknife values over cases; variance and covariance of AUPREC.

A DeLong-type variance for AUPREC at any prior, and for its mean over a deployment prior. With
lam = (1 - prior) / prior, T and F the rates at a case's score, D = T + lam F, p = T / D, and theta the mean
of p over the n positives (average precision),

* positive j: ``p_j - theta + [sum over positives at or below j of lam F / D^2 - sum of lam F T / D^2] / n``
* negative j: ``-[sum over positives at or below j of lam T / D^2 - sum of lam T F / D^2] / n``

with D and the rates those of the positive summed over. Cases with equal scores share the rates of their tie
group. Both kinds of value sum to zero, and the variance of the estimate is
``sum(positive^2) / n^2 + sum(negative^2) / m^2``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova.base.checks import (
    Bools,
    Floats,
    InputError,
    check_choice,
    check_labels,
    check_prior,
    check_same_length,
    check_scores,
    to_numbers,
)
from skewanova.curves.areas import iauprec
from skewanova.curves.estimators import ESTIMATORS
from skewanova.curves.roc import curve_from_scores
from skewanova.priors.weightings import DeploymentPrior, Target, UniformPrior, as_deployment_prior

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
    unit = np.ldexp(1.0, int(np.frexp(np.abs(influence).max())[1]))  # fourth powers may leave the doubles
    for values in (influence[positive] / unit, influence[~positive] / unit):
        size, squares = len(values), (values - values.mean()) ** 2
        square = float(squares.mean())
        variance += square / max(size - 1, 1)
        doubt += (float((squares**2).mean()) - square**2) / size**3
    df = 2 * variance**2 / doubt if doubt > 0 else np.inf
    return float(unit * np.sqrt(variance)), max(df, FEWEST_DF)


@dataclass(frozen=True, eq=False)
class AuprecCovariance:
    """Estimates of several models on the same cases, and the covariance of these estimates.

    Attributes
    ----------
    estimate, covariance : ndarray of shape (n_models,), (n_models, n_models)
        AUPREC or IAUPREC of every model, and its sampling covariance.
    """

    estimate: Floats
    covariance: Floats

    @property
    def std_error(self) -> Floats:
        """Standard error of every estimate."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


def auprec_influence(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: Target | None = None,
    pos_label: object = None,
) -> Floats:
    """Influence value of every case on AUPREC at a prior, or on IAUPREC over a deployment prior.

    Parameters
    ----------
    y_true, pos_label
        As for :func:`~skewanova.roc_curve`.
    y_score : array_like of shape (n_cases,) or (n_cases, n_models)
        Real scores of one or several models on the same cases.
    prior : float, optional
        Probability of the positive class in the deployment; by default the sample's own, taken as known.
    deployment_prior : (low, high) or deployment prior, optional
        As for :func:`~skewanova.iauprec`, in place of `prior`.

    Returns
    -------
    ndarray of the shape of `y_score`
        Influence values, summing to zero over the positives and over the negatives. Those of a difference
        between models are the difference of theirs.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.roc_curve` and :func:`~skewanova.iauprec`; ValueError if both `prior` and
        `deployment_prior` are given.

    Notes
    -----
    They are the derivatives of ``average_precision`` in the weight of each case, times the number of cases
    of its class. ``trapezoid`` and the other estimators differ from average precision by O(1/n), which a
    standard error of order n^-1/2 does not see.

    Examples
    --------
    >>> from skewanova.inference.influence import auprec_influence
    >>> auprec_influence([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], prior=0.5).round(4).tolist()
    [0.1111, -0.1111, -0.1667, 0.1667]
    """
    positive, columns = check_cases(y_true, y_score, pos_label)
    weighting = target_prior(prior, deployment_prior, positive)
    values = [influence_kernel(positive, score, weighting)[1] for score in columns.T]
    return np.stack(values, axis=1).reshape(np.shape(y_score))


def auprec_variance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: Target | None = None,
    pos_label: object = None,
) -> float:
    """Sampling variance of AUPREC at a prior, or of IAUPREC over a deployment prior.

    Parameters
    ----------
    y_true, y_score, pos_label
        As for :func:`~skewanova.roc_curve`.
    prior, deployment_prior
        As for :func:`auprec_influence`.

    Returns
    -------
    float
        ``sum(positive^2) / n^2 + sum(negative^2) / m^2`` over the influence values.

    Raises
    ------
    ValueError, TypeError
        As :func:`auprec_influence`; ValueError if scores of several models are given.

    Notes
    -----
    Of first order: it is too small where ``n_negative * prior / (1 - prior)`` falls below about 100, because
    the precision there rests on few false alarms.

    Examples
    --------
    >>> from skewanova.inference.influence import auprec_variance
    >>> round(auprec_variance([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], prior=0.5), 6)
    0.020062
    """
    if np.ndim(y_score) != 1:
        raise InputError(
            f"`y_score` must be one-dimensional, but has shape {np.shape(y_score)}; use auprec_covariance"
        )
    positive, columns = check_cases(y_true, y_score, pos_label)
    weighting = target_prior(prior, deployment_prior, positive)
    values = influence_kernel(positive, columns[:, 0], weighting)[1]
    return float(stratified_covariance(values[:, None], positive)[0, 0])


def auprec_covariance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: Target | None = None,
    area_estimator: str = "average_precision",
    pos_label: object = None,
) -> AuprecCovariance:
    """AUPREC or IAUPREC of several models on the same cases, with their sampling covariance.

    Parameters
    ----------
    y_true, pos_label
        As for :func:`~skewanova.roc_curve`.
    y_score : array_like of shape (n_cases, n_models)
        Real scores, one column a model.
    prior, deployment_prior
        As for :func:`auprec_influence`.
    area_estimator : str, default "average_precision"
        Of the estimates, as for :func:`~skewanova.auprec`. The covariance is that of average precision, to
        which every estimator is equal but for O(1/n).

    Returns
    -------
    AuprecCovariance
        Estimates and covariance.

    Raises
    ------
    ValueError, TypeError
        As :func:`auprec_influence`, or if the estimator is unknown.

    Examples
    --------
    >>> from skewanova.inference.influence import auprec_covariance
    >>> scores = [[0.1, 0.3], [0.4, 0.1], [0.35, 0.6], [0.8, 0.1]]
    >>> result = auprec_covariance([0, 0, 1, 1], scores, prior=0.5)
    >>> result.estimate.round(4).tolist()
    [0.8333, 0.75]
    """
    check_choice(area_estimator, ESTIMATORS, "area_estimator")
    positive, columns = check_cases(y_true, y_score, pos_label)
    return estimates(positive, columns, target_prior(prior, deployment_prior, positive), area_estimator)


def estimates(
    positive: Bools, columns: NDArray[Any], weighting: DeploymentPrior, area_estimator: str
) -> AuprecCovariance:
    """Areas of the models and their covariance over cases."""
    curves = [curve_from_scores(positive, score) for score in columns.T]
    estimate = np.array([iauprec(curve, weighting, area_estimator=area_estimator) for curve in curves])
    values = np.stack([influence_kernel(positive, score, weighting)[1] for score in columns.T], axis=1)
    return AuprecCovariance(estimate, stratified_covariance(values, positive))
