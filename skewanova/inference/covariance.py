"""Sampling variance and covariance of areas, by influence values of average precision or by the jackknife.

The influence values give a DeLong-type variance of AUPREC at a prior, or of its mean over a deployment prior.
With lam = (1 - prior) / prior, T and F the rates at a case's score, D = T + lam F, p = T / D, and theta the
mean of p over the n positives (average precision),

* positive j: ``p_j - theta + [sum over positives at or below j of lam F / D^2 - sum of lam F T / D^2] / n``
* negative j: ``-[sum over positives at or below j of lam T / D^2 - sum of lam T F / D^2] / n``

with D and the rates those of the positive summed over. Cases with equal scores share the rates of their tie
group. Both kinds of value sum to zero, and the variance of the estimate is
``sum(positive^2) / n^2 + sum(negative^2) / m^2``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova.base.checks import Bools, Floats, InputError, check_choice
from skewanova.curves.estimators import ESTIMATORS
from skewanova.inference.case_resampling import measure_models, rank_cases
from skewanova.inference.sampling import Sample, check_sample, target_prior
from skewanova.priors.weightings import DeploymentPrior, PriorLike


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
        """Standard error of every model's estimate (n_models,)."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))


def auprec_covariance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: PriorLike | None = None,
    area_estimator: str = "trapezoid",
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> AuprecCovariance:
    """Estimate AUPREC or IAUPREC of several models on the same cases, with their sampling covariance.

    Parameters
    ----------
    y_true, pos_label
        As for :func:`~skewanova.roc_curve`.
    y_score : array_like of shape (n_cases,) or (n_cases, n_models)
        Real scores, one column a model.
    prior : float, optional
        Probability of the positive class in deployment; by default the sample's prior, taken as known.
    deployment_prior, area_estimator
        As for :func:`~skewanova.iauprec`; a deployment prior takes the place of `prior`.
    cluster : array_like of shape (n_cases,), optional
        Cluster of every case, such as the patient; clusters are the sampling units, left out as a whole.
    sample_weight : array_like of shape (n_cases,), optional
        Number of cases of the population that each case stands for; 0 leaves a case out.

    Returns
    -------
    AuprecCovariance
        Estimates (n_models,), and their covariance (n_models, n_models) by the jackknife, stratified by class
        (clusters by the classes they hold). Without ties between classes it equals the covariance from
        influence values up to O(1/n). A case that is a class by itself adds no variance.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.roc_curve` and :func:`~skewanova.iauprec`; ValueError if both `prior` and
        `deployment_prior` are given, the estimator is unknown, or there is one cluster only.

    Examples
    --------
    >>> from skewanova.inference import auprec_covariance
    >>> scores = [[0.1, 0.3], [0.4, 0.1], [0.35, 0.6], [0.8, 0.1]]
    >>> result = auprec_covariance([0, 0, 1, 1], scores, prior=0.5)
    >>> result.estimate.round(4).tolist()
    [0.7917, 0.75]
    """
    check_choice(area_estimator, ESTIMATORS, "area_estimator")
    sample, columns = check_sample(
        y_true, y_score, pos_label=pos_label, cluster=cluster, sample_weight=sample_weight
    )
    weighting = target_prior(prior, deployment_prior, sample)
    estimate, values = measure_models(sample, columns.T, [weighting], area_estimator)
    return AuprecCovariance(estimate[:, 0], sample.covariance(values[..., 0]))


def influence_values(
    positive: Bools, score: NDArray[Any], weighting: DeploymentPrior
) -> tuple[float, Floats]:
    """Return average precision over a weighting, and influence values (n_cases,) as of `auprec_influence`."""
    steps, rise, slot = rank_cases(Sample(positive), score)
    tpr, fpr = steps.tp / steps.n_positive, steps.fp / steps.n_negative
    share = steps.n_pos / steps.n_positive
    precision, by_tpr, by_fpr = precision_slopes(tpr, fpr, weighting)
    theta = float(share @ precision)
    values = np.empty(len(positive))
    values[positive] = (precision - theta + _accumulate_slopes(share * by_tpr, tpr)[:-1])[rise]
    values[~positive] = _accumulate_slopes(share * by_fpr, fpr)[slot // 2]
    return theta, values


def precision_slopes(tpr: Floats, fpr: Floats, weighting: DeploymentPrior) -> tuple[Floats, Floats, Floats]:
    """Return precision and its derivatives by true and by false positive rate, averaged over a weighting."""
    total = np.zeros((3, *tpr.shape))
    for prior, weight in zip(*weighting.quadrature(), strict=True):
        denominator = prior * tpr + (1 - prior) * fpr  # D / (1 + lam) in the notation with skews
        precision, fallout = prior * tpr / denominator, (1 - prior) * fpr / denominator
        slopes = fallout * prior / denominator, -precision * (1 - prior) / denominator
        total += weight * np.array([precision, *slopes])
    return total[0], total[1], total[2]


def _accumulate_slopes(slope: Floats, rate: Floats) -> Floats:
    """Return sums of slope over each rise and all after it, then 0, all less slope @ rate, (n_rises + 1,)."""
    return np.append(np.cumsum(slope[::-1])[::-1], 0.0) - slope @ rate


def auprec_influence(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: PriorLike | None = None,
    pos_label: object = None,
) -> Floats:
    """Compute the influence of every case on AUPREC at a prior, or on IAUPREC over a deployment prior.

    Parameters
    ----------
    y_true, y_score, prior, deployment_prior, pos_label
        As for :func:`auprec_covariance`.

    Returns
    -------
    ndarray of the shape of `y_score`
        Influence values, which sum to zero over the positives and over the negatives. The influence on a
        difference between models is the difference of their influence values. A value is the derivative of
        ``average_precision`` in the weight of the case, times the number of cases of its class. Other
        estimators differ from it by O(1/n).

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.roc_curve` and :func:`~skewanova.iauprec`; ValueError if both `prior` and
        `deployment_prior` are given.

    Examples
    --------
    >>> from skewanova.inference import auprec_influence
    >>> auprec_influence([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], prior=0.5).round(4).tolist()
    [0.1111, -0.1111, -0.1667, 0.1667]
    """
    sample, columns = check_sample(y_true, y_score, pos_label=pos_label)
    weighting = target_prior(prior, deployment_prior, sample)
    values = [influence_values(sample.positive, score, weighting)[1] for score in columns.T]
    return np.stack(values, axis=1).reshape(np.shape(y_score))


def auprec_variance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: PriorLike | None = None,
    pos_label: object = None,
) -> float:
    """Estimate the sampling variance of AUPREC at a prior, or of IAUPREC over a deployment prior.

    Parameters
    ----------
    y_true, y_score, prior, deployment_prior, pos_label
        As for :func:`auprec_influence`, of one model.

    Returns
    -------
    float
        ``sum(positive^2) / n^2 + sum(negative^2) / m^2`` over the influence values. The variance is of first
        order. It is too small if ``n_negative * prior / (1 - prior)`` is below about 100.

    Raises
    ------
    ValueError, TypeError
        As :func:`auprec_influence`; ValueError if scores of several models are given.

    Examples
    --------
    >>> from skewanova.inference import auprec_variance
    >>> round(auprec_variance([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], prior=0.5), 6)
    0.020062
    """
    if np.ndim(y_score) > 1:
        raise InputError(
            f"`y_score` must be one-dimensional, but has shape {np.shape(y_score)}; of one "
            "model pass y_score[:, 0], of several use skewanova.inference.auprec_covariance likewise"
        )
    sample, columns = check_sample(y_true, y_score, pos_label=pos_label)
    weighting = target_prior(prior, deployment_prior, sample)
    values = influence_values(sample.positive, columns[:, 0], weighting)[1]
    parts = (values[rows] for rows in (sample.positive, ~sample.positive))
    return float(sum(part @ part / len(part) ** 2 for part in parts))
