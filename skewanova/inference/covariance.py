"""Covariance of the areas of several models on the same cases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from skewanova.base.checks import Floats, check_choice
from skewanova.curves.estimators import ESTIMATORS
from skewanova.inference.jackknife import measure_models
from skewanova.inference.sampling import check_sample, target_prior
from skewanova.priors.weightings import Target


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


def auprec_covariance(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: Target | None = None,
    area_estimator: str = "trapezoid",
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> AuprecCovariance:
    """Estimate AUPREC or IAUPREC of several models on the same cases, with their sampling covariance.

    Parameters
    ----------
    y_true
        As for :func:`~skewanova.roc_curve`.
    y_score : array_like of shape (n_cases,) or (n_cases, n_models)
        Real scores, one column a model.
    prior : float, optional
        Probability of the positive class in the deployment; by default the sample's own, taken as known.
    deployment_prior : (low, high) or deployment prior, optional
        As for :func:`~skewanova.iauprec`, in place of `prior`.
    area_estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    cluster : array_like of shape (n_cases,), optional
        Cases of one cluster, such as a patient, were drawn together and are left out together.
    sample_weight : array_like of shape (n_cases,), optional
        How many cases of the population each stands for; a weight of 0 leaves a case out.
    pos_label
        As for :func:`~skewanova.roc_curve`.

    Returns
    -------
    AuprecCovariance
        Estimates and covariance.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.roc_curve` and :func:`~skewanova.iauprec`; ValueError if both `prior` and
        `deployment_prior` are given, the estimator is unknown, or there is one cluster only.

    Notes
    -----
    The jackknife, stratified by class (clusters: by the classes they hold). Without ties between classes it
    equals the covariance from influence values but for O(1/n); with ties it does not, however many cases
    there are, unless the estimator is average precision.

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
    estimate, values = measure_models(
        sample, columns.T, [target_prior(prior, deployment_prior, sample)], area_estimator
    )
    return AuprecCovariance(estimate[:, 0], sample.covariance(values[..., 0]))
