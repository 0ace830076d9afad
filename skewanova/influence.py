"""Influence of every case on AUPREC: standard errors and comparisons of models on one set of cases.

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
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova._checks import Bools, Floats, InputError, check_choice, check_fraction, emit
from skewanova._contrasts import Angles, omnibus_test, pair_tests
from skewanova._estimators import ESTIMATORS
from skewanova._influence_kernels import (
    check_cases,
    check_model_names,
    influence_kernel,
    jackknife_kernel,
    stratified_covariance,
    target_prior,
)
from skewanova.auprec import iauprec
from skewanova.priors import DeploymentPrior
from skewanova.roc import curve_from_scores

#: How the intervals of all pairs are made to hold together.
SIMULTANEOUS = ("max_z", "bonferroni", "none")

#: Said of models whose difference has no spread.
SAMENESS = "models {} and {} have the same influence values: their difference has no standard error or test"
#: Said of a set in which a class has one case.
ALONE = "the only {} case cannot show how cases differ: there is no standard error, test or interval"

Target = DeploymentPrior | tuple[float, float] | float


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


@dataclass(frozen=True, eq=False)
class OneSetComparison:
    """Models compared on one set of cases: the omnibus test and every pair.

    Attributes
    ----------
    models, estimate, covariance : tuple of str, ndarray, ndarray
        Names in the order of the columns, and what `AuprecCovariance` has.
    model_a, model_b : tuple of str
        The models of every pair; its difference is a minus b.
    difference, std_error, statistic, df_error, p_value, p_adjusted : ndarray of shape (n_pairs,)
        Difference, its jackknife standard error, their ratio, the degrees of freedom of its t distribution,
        its two-sided p-value, and that adjusted by Holm.
    conf_low, conf_high, critical_value : ndarray of shape (n_pairs,)
        Intervals that hold together with probability `level` (singly, where `simultaneous` is ``none``), and
        how many standard errors they reach to either side.
    level : float
        Level of the intervals.
    f_omnibus, df, df_omnibus, p_omnibus
        F test that all models are equal; `df` counts the contrasts that vary, at most n_models - 1, and
        `df_omnibus` are the degrees of freedom of the error.
    weighting : str
        The prior or deployment prior, in words.
    """

    models: tuple[str, ...]
    estimate: Floats
    covariance: Floats
    model_a: tuple[str, ...]
    model_b: tuple[str, ...]
    difference: Floats
    std_error: Floats
    statistic: Floats
    df_error: Floats
    p_value: Floats
    p_adjusted: Floats
    conf_low: Floats
    conf_high: Floats
    critical_value: Floats
    level: float
    f_omnibus: float
    df: int
    df_omnibus: float
    p_omnibus: float
    weighting: str


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
    >>> from skewanova.influence import auprec_influence
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
    >>> from skewanova.influence import auprec_variance
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
    estimator: str = "average_precision",
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
    estimator : str, default "average_precision"
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
    >>> from skewanova.influence import auprec_covariance
    >>> scores = [[0.1, 0.3], [0.4, 0.1], [0.35, 0.6], [0.8, 0.1]]
    >>> result = auprec_covariance([0, 0, 1, 1], scores, prior=0.5)
    >>> result.estimate.round(4).tolist()
    [0.8333, 0.75]
    """
    check_choice(estimator, ESTIMATORS, "estimator")
    positive, columns = check_cases(y_true, y_score, pos_label)
    return _estimates(positive, columns, target_prior(prior, deployment_prior, positive), estimator)


def _estimates(
    positive: Bools, columns: NDArray[Any], weighting: DeploymentPrior, estimator: str
) -> AuprecCovariance:
    curves = [curve_from_scores(positive, score) for score in columns.T]
    estimate = np.array([iauprec(curve, weighting, estimator=estimator) for curve in curves])
    values = np.stack([influence_kernel(positive, score, weighting)[1] for score in columns.T], axis=1)
    return AuprecCovariance(estimate, stratified_covariance(values, positive))


def compare_on_one_set(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: Target | None = None,
    models: Sequence[str] | None = None,
    level: float = 0.95,
    simultaneous: str = "max_z",
    estimator: str = "average_precision",
    pos_label: object = None,
) -> OneSetComparison:
    """Compare models on one set of cases, without folds.

    Parameters
    ----------
    y_true, y_score, prior, deployment_prior, estimator, pos_label
        As for :func:`auprec_covariance`, with at least two models.
    models : sequence of str, optional
        Names of the columns; by default their numbers from 0.
    level : float, default 0.95
        Level of the intervals.
    simultaneous : {"max_z", "bonferroni", "none"}, default "max_z"
        How the intervals of all pairs hold together: by the largest of the correlated deviates, by
        Bonferroni's inequality, or not at all.

    Returns
    -------
    OneSetComparison
        All pairs, in the order of the columns, and the omnibus test.

    Raises
    ------
    ValueError, TypeError
        As :func:`auprec_covariance`, if there are fewer than two models, or their names do not fit.

    Warns
    -----
    SkewanovaWarning
        If models do not differ on any case that matters, or a class has one case: statistic and p are then
        nan.

    Notes
    -----
    The scores are taken as given: what is compared are these fitted models, not the methods that fitted them.

    The tests compare 2 arcsin(sqrt(area)), or the areas themselves where one is 0 or 1, by the jackknife that
    leaves out one case of either class, in closed form. A difference is referred to t, with Satterthwaite's
    degrees of freedom from the kurtosis of the jackknife values. Standard errors and intervals are carried
    back to the difference of the areas by its ratio to that of the angles. The size of the test was
    simulated, beside that of a z test from influence values alone: ``docs/studies/paired.md``.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.influence import compare_on_one_set
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], [300, 100])
    >>> scores = labels[:, None] * [1.5, 0.5] + rng.normal(size=(400, 2))
    >>> result = compare_on_one_set(labels, scores, prior=0.1, models=["A", "B"])
    >>> result.difference.round(3).tolist(), bool(result.p_adjusted[0] < 0.01)
    ([0.387], True)
    """
    check_choice(simultaneous, SIMULTANEOUS, "simultaneous")
    check_choice(estimator, ESTIMATORS, "estimator")
    check_fraction(level, "level")
    positive, columns = check_cases(y_true, y_score, pos_label)
    names = check_model_names(models, columns.shape[1])
    weighting = target_prior(prior, deployment_prior, positive)
    found = _estimates(positive, columns, weighting, estimator)
    values = np.stack([jackknife_kernel(positive, score, weighting)[1] for score in columns.T], axis=1)
    angles = Angles.of(found.estimate, values, positive)
    result = _compared(
        found, angles, names, level=level, simultaneous=simultaneous, weighting=weighting.describe()
    )
    alike = zip(result.model_a, result.model_b, result.std_error == 0, strict=True)
    emit(SAMENESS.format(a, b) for a, b, same in alike if same)
    counts = {"positive": np.count_nonzero(positive), "negative": np.count_nonzero(~positive)}
    emit(ALONE.format(word) for word, count in counts.items() if count == 1)
    return result


def _compared(
    found: AuprecCovariance,
    angles: Angles,
    names: tuple[str, ...],
    *,
    level: float,
    simultaneous: str,
    weighting: str,
) -> OneSetComparison:
    f_omnibus, df, df_omnibus, p_omnibus = omnibus_test(angles)
    return OneSetComparison(
        models=names,
        estimate=found.estimate,
        covariance=found.covariance,
        model_a=tuple(a for a, _ in combinations(names, 2)),
        model_b=tuple(b for _, b in combinations(names, 2)),
        **pair_tests(angles, level=level, simultaneous=simultaneous)._asdict(),
        level=level,
        f_omnibus=f_omnibus,
        df=df,
        df_omnibus=df_omnibus,
        p_omnibus=p_omnibus,
        weighting=weighting,
    )
