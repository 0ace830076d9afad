"""AUPREC at any prior and IAUPREC over a deployment prior.

All eight estimators start from the ROC curve, so one curve gives every prior.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import ArrayLike

from skewanova.base.checks import Floats, check_choice, check_labelled_scores, check_prior, check_priors
from skewanova.curves import estimators
from skewanova.curves.roc import RocCurve, check_curve, roc_curve, steps_from_curve, steps_from_scores
from skewanova.priors.weightings import PriorLike, as_deployment_prior, unwrap_scalar


@overload
def auprec(roc: RocCurve, prior: float, *, area_estimator: str = ...) -> float: ...


@overload
def auprec(roc: RocCurve, prior: ArrayLike, *, area_estimator: str = ...) -> Floats: ...


def auprec(roc: RocCurve, prior: ArrayLike, *, area_estimator: str = "trapezoid") -> float | Floats:
    """Return the area under the precision-recall curve at one or many priors.

    Parameters
    ----------
    roc : RocCurve
        The curve.
    prior : float or array_like
        Probability of the positive class in deployment, strictly between 0 and 1.
    area_estimator : str, default "trapezoid"
        One of `ESTIMATORS`: ``trapezoid`` (Landgrebe et al. 2006, eq. 4; Boyd's lower trapezoid), ``exact``
        (Davis and Goadrich 2006), ``average_precision`` (as scikit-learn), ``upper_trapezoid``,
        ``interpolated_max``, ``interpolated_mean``, ``interpolated_median`` (Boyd et al. 2013),
        ``convex_hull`` (of the ROC).

    Returns
    -------
    float or ndarray
        AUPREC, of the shape of `prior`; a constant classifier has the prior itself. Precision at recall 0 is
        0/0, and set to that of the first vertex, its limit along the first ROC segment. ``upper_trapezoid``
        is defined with precision 1 there, so it exceeds the prior for a constant classifier.

    Raises
    ------
    ValueError
        If a prior is not strictly between 0 and 1, or the estimator is unknown.

    Examples
    --------
    >>> from skewanova import auprec, roc_curve
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> auprec(curve, [0.5, 0.1]).round(4)
    array([0.7917, 0.5705])
    """
    check_choice(area_estimator, estimators.ESTIMATORS, "area_estimator")
    return _evaluate_area(estimators.area_kernel(roc, area_estimator), prior)


def _evaluate_area(area: estimators.Kernel, prior: ArrayLike) -> float | Floats:
    """Return the areas in the shape of the priors, a float for a scalar; raise unless they are in (0, 1)."""
    priors = check_priors(prior)
    return unwrap_scalar(area(priors.ravel()).reshape(priors.shape))


def iauprec(roc: RocCurve, deployment_prior: PriorLike, *, area_estimator: str = "trapezoid") -> float:
    """Return the mean AUPREC over a deployment prior (Landgrebe et al. 2006, eq. 5, normalised by the range).

    Parameters
    ----------
    roc : RocCurve
        The curve.
    deployment_prior : (low, high), float or deployment prior
        ``(low, high)`` is `UniformPrior`, which reproduces table 1 of the paper; `UniformSkew` is its eq. 5
        as printed. `BetaPrior` and `DiscretePrior` are other distributions.
    area_estimator : str, default "trapezoid"
        As for :func:`auprec`.

    Returns
    -------
    float
        The mean, on the scale of AUPREC. Estimators that are linear in the precisions have a closed form for
        uniform distributions of the prior or the skew. Others use Gauss-Legendre quadrature in the log of the
        skew, exact up to rounding errors.

    Raises
    ------
    ValueError, TypeError
        If a limit is out of range or the limits are out of order, the estimator is unknown, or
        `deployment_prior` is none of the above (TypeError).

    Examples
    --------
    >>> from skewanova import UniformSkew, iauprec, roc_curve
    >>> curve = roc_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> round(iauprec(curve, (0.05, 0.20)), 4), round(iauprec(curve, UniformSkew(4, 19)), 4)
    (0.5861, 0.5649)
    """
    check_curve(roc)
    weighting = as_deployment_prior(deployment_prior)
    check_choice(area_estimator, estimators.ESTIMATORS, "area_estimator")
    if area_estimator in estimators.STEP_ESTIMATORS:
        return estimators.prior_averaged_area(steps_from_curve(roc), weighting, area_estimator)
    priors, weights = weighting.quadrature()
    return float((weights * estimators.area_kernel(roc, area_estimator)(priors)).sum() / weights.sum())


@overload
def auprec_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float,
    area_estimator: str = ...,
    pos_label: object = ...,
    sample_weight: ArrayLike | None = ...,
) -> float: ...


@overload
def auprec_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: ArrayLike,
    area_estimator: str = ...,
    pos_label: object = ...,
    sample_weight: ArrayLike | None = ...,
) -> Floats: ...


def auprec_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: ArrayLike,
    area_estimator: str = "trapezoid",
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float | Floats:
    """Return AUPREC from labels and scores, in little more time and memory than sorting them.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight, prior, area_estimator
        As for :func:`~skewanova.roc_curve` and :func:`auprec`.

    Returns
    -------
    float or ndarray
        The area at every prior, of the shape of `prior`.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.roc_curve` and :func:`auprec`.

    Examples
    --------
    >>> from skewanova import auprec_score
    >>> round(auprec_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], prior=0.1), 4)
    0.5705
    """
    check_choice(area_estimator, estimators.ESTIMATORS, "area_estimator")
    if sample_weight is not None or area_estimator not in estimators.STEP_ESTIMATORS:
        curve = roc_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        return auprec(curve, prior, area_estimator=area_estimator)
    steps = steps_from_scores(*check_labelled_scores(y_true, y_score, pos_label))
    return _evaluate_area(lambda priors: estimators.areas_from_steps(steps, priors, area_estimator), prior)


def iauprec_score(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    deployment_prior: PriorLike,
    area_estimator: str = "trapezoid",
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return IAUPREC from labels and scores.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight, deployment_prior, area_estimator
        As for :func:`~skewanova.roc_curve` and :func:`iauprec`.

    Returns
    -------
    float
        The mean area over the deployment prior.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.roc_curve` and :func:`iauprec`.

    Examples
    --------
    >>> from skewanova import iauprec_score
    >>> round(iauprec_score([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], deployment_prior=(0.05, 0.2)), 4)
    0.5861
    """
    check_choice(area_estimator, estimators.ESTIMATORS, "area_estimator")
    if sample_weight is not None or area_estimator not in estimators.STEP_ESTIMATORS:
        curve = roc_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
        return iauprec(curve, deployment_prior, area_estimator=area_estimator)
    steps = steps_from_scores(*check_labelled_scores(y_true, y_score, pos_label))
    return estimators.prior_averaged_area(steps, as_deployment_prior(deployment_prior), area_estimator)


def precision_recall_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    pos_label: object = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats, Floats]:
    """Return precision and recall at every distinct threshold, at the sample prior or another prior.

    Parameters
    ----------
    y_true, y_score, pos_label, sample_weight
        As for :func:`~skewanova.roc_curve`.
    prior : float, optional
        Probability of the positive class; by default the share of positives in the sample.

    Returns
    -------
    precision, recall : ndarray of shape (n_thresholds + 1,)
        Points from (recall 0, precision 1) to (recall 1, precision = prior), as in scikit-learn but in
        ascending recall.
    thresholds : ndarray of shape (n_thresholds,)
        Distinct scores in descending order. A threshold flags the scores at or above it. Point ``i + 1`` is
        valid for thresholds in ``(thresholds[i + 1], thresholds[i]]``, the last point for all lower ones, and
        point 0, which flags no case, for those above the highest score.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.roc_curve`; ValueError if the prior is not strictly between 0 and 1.

    Examples
    --------
    >>> from skewanova import precision_recall_curve
    >>> precision, recall, thresholds = precision_recall_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
    >>> precision.round(3).tolist(), recall.tolist()
    ([1.0, 1.0, 0.5, 0.667, 0.5], [0.0, 0.5, 0.5, 1.0, 1.0])
    """
    roc = roc_curve(y_true, y_score, pos_label=pos_label, sample_weight=sample_weight)
    sample_prior = roc.n_positive / (roc.n_positive + roc.n_negative)
    used_prior = sample_prior if prior is None else check_prior(prior)
    precision = estimators.vertex_precision(roc.tpr[1:], roc.fpr[1:], used_prior)
    return np.concatenate(([1.0], precision)), roc.tpr.copy(), roc.thresholds[1:].copy()
