"""True curves and areas of known distributions, and samples from them.

With S+ and S- the survival functions of the positives' and the negatives' scores, recall at a threshold is
S+, the false positive rate S-, and AUPREC the mean over recall u of ``u / (u + skew S-(S+^-1(u)))``.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy import special

from skewanova.base.checks import (
    Bools,
    Floats,
    InputError,
    InputTypeError,
    Seed,
    check_count,
    check_fraction,
    check_prior,
    seeded,
)
from skewanova.curves.estimators import vertex_precision
from skewanova.curves.roc import RocCurve, without_repeats
from skewanova.priors.quadrature import gauss_panels
from skewanova.priors.weightings import Target, as_deployment_prior

#: Logit of the recall beyond which nothing is left to integrate (4e-20 on either side).
REACH = 44.5


PANEL_NODES = 16


class Distribution(Protocol):
    """A continuous distribution as scipy.stats freezes it."""

    def sf(self, x: Any) -> Any:
        """Survival function."""

    def cdf(self, x: Any) -> Any:
        """Distribution function."""

    def isf(self, q: Any) -> Any:
        """Inverse of the survival function."""

    def ppf(self, q: Any) -> Any:
        """Quantile function."""

    def support(self) -> Any:
        """Smallest and largest score."""

    def rvs(self, *, size: Any, random_state: Any) -> Any:
        """Random scores."""


def true_auprec(negative: Distribution, positive: Distribution, prior: float) -> float:
    """Return AUPREC of a classifier whose scores have known distributions.

    Parameters
    ----------
    negative, positive : frozen continuous distribution of scipy.stats
        Distributions of the scores.
    prior : float
        Probability of the positive class.

    Returns
    -------
    float
        The area, to about 1e-12.

    Raises
    ------
    ValueError
        If the prior is not strictly between 0 and 1.
    TypeError
        If a distribution is not continuous, or not frozen.

    Examples
    --------
    >>> from scipy import stats
    >>> from skewanova.curves.distributions import true_auprec
    >>> round(true_auprec(stats.norm(0, 1), stats.norm(1, 1), 0.5), 10)
    0.7529959969
    """
    return true_iauprec(negative, positive, check_prior(prior))


def true_iauprec(
    negative: Distribution,
    positive: Distribution,
    deployment_prior: Target,
) -> float:
    """Return the mean AUPREC over a deployment prior, of a classifier whose scores have known distributions.

    Parameters
    ----------
    negative, positive
        As for :func:`true_auprec`.
    deployment_prior
        As for :func:`~skewanova.iauprec`.

    Returns
    -------
    float
        The mean area, to about 1e-12.

    Raises
    ------
    ValueError, TypeError
        As :func:`true_auprec` and :func:`~skewanova.iauprec`.

    Examples
    --------
    >>> from scipy import stats
    >>> from skewanova.curves.distributions import true_iauprec
    >>> round(true_iauprec(stats.norm(0, 1), stats.norm(1, 1), (0.05, 0.20)), 10)
    0.3340169553
    """
    recall, weight, fpr = _recall_nodes(negative, positive)
    nodes = zip(*as_deployment_prior(deployment_prior).quadrature(), strict=True)
    return float(sum(share * (weight @ vertex_precision(recall, fpr, prior)) for prior, share in nodes))


def true_auc(negative: Distribution, positive: Distribution) -> float:
    """Return the probability that a positive scores above a negative.

    Parameters
    ----------
    negative, positive
        As for :func:`true_auprec`.

    Returns
    -------
    float
        Area under the true ROC curve.

    Examples
    --------
    >>> from scipy import stats
    >>> from skewanova.curves.distributions import true_auc
    >>> round(true_auc(stats.uniform(0, 1), stats.uniform(0.5, 1)), 10)
    0.875
    """
    _, weight, fpr = _recall_nodes(negative, positive)
    return float(1 - weight @ fpr)


def true_roc(negative: Distribution, positive: Distribution, *, n_points: int = 2001) -> RocCurve:
    """Return the true ROC curve at evenly spaced quantiles of both classes.

    Parameters
    ----------
    negative, positive
        As for :func:`true_auprec`.
    n_points : int, default 2001
        Thresholds taken from each class.

    Returns
    -------
    RocCurve
        Class sizes are nan; joining its vertices by straight lines is an approximation of order
        ``n_points ** -2``.

    Examples
    --------
    >>> from scipy import stats
    >>> from skewanova import auc
    >>> from skewanova.curves.distributions import true_roc
    >>> round(auc(true_roc(stats.norm(0, 1), stats.norm(1, 1))), 5)
    0.76025
    """
    _check_distributions(negative, positive)
    share = np.arange(1, check_count(n_points, "n_points", minimum=1) + 1) / (n_points + 1)
    thresholds = np.unique(np.concatenate([negative.isf(share), positive.isf(share)]))[::-1]
    return curve_at(thresholds, negative.sf(thresholds), positive.sf(thresholds))


def curve_at(thresholds: Floats, fpr: Floats, tpr: Floats) -> RocCurve:
    """Return the curve through rates at falling thresholds, without repeated points."""
    ends = ((0.0, fpr, 1.0), (0.0, tpr, 1.0), (np.inf, thresholds, -np.inf))
    false, true, levels = (np.concatenate(([first], values, [last])) for first, values, last in ends)
    return without_repeats(RocCurve(false, true, levels, np.nan, np.nan))


def sample_scores(
    negative: Distribution,
    positive: Distribution,
    n_cases: int,
    *,
    prior: float,
    exact_counts: bool = True,
    rng: Seed = 0,
) -> tuple[Bools, Floats]:
    """Draw labels and scores.

    Parameters
    ----------
    negative, positive
        As for :func:`true_auprec`.
    n_cases : int
        Number of cases, at least 2.
    prior : float
        Share of positives, or their probability.
    exact_counts : bool, default True
        Whether the number of negatives is ``(1 - prior) * n_cases``, rounded, or binomial. Neither class is
        ever left empty.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    positive : ndarray of bool, shape (n_cases,)
        Labels, the positives first.
    score : ndarray of shape (n_cases,)
        Scores.

    Examples
    --------
    >>> from scipy import stats
    >>> from skewanova.curves.distributions import sample_scores
    >>> labels, scores = sample_scores(stats.norm(-1, 2), stats.norm(1, 2), 100, prior=0.4)
    >>> int(labels.sum()), len(scores)
    (40, 100)
    """
    _check_distributions(negative, positive)
    check_count(n_cases, "n_cases", minimum=2)
    check_fraction(prior, "prior")
    generator = seeded(rng)
    mean = (1 - prior) * n_cases
    n_negative = np.floor(mean + 0.5) if exact_counts else generator.binomial(n_cases, 1 - prior)
    n_negative = int(np.clip(n_negative, 1, n_cases - 1))
    sizes = ((positive, n_cases - n_negative), (negative, n_negative))
    scores = [drawn.rvs(size=size, random_state=generator) for drawn, size in sizes]
    return np.arange(n_cases) < n_cases - n_negative, np.concatenate(scores).astype(np.float64)


def _recall_nodes(negative: Distribution, positive: Distribution) -> tuple[Floats, Floats, Floats]:
    """Return nodes and weights over recall, and the false positive rate at each; finer towards kinks.

    In the logit of recall, tails are as smooth as the middle. A kink lies where the negatives end.
    """
    _check_distributions(negative, positive)
    log_odds, step = gauss_panels(_edges(negative, positive), PANEL_NODES)
    recall = special.expit(log_odds)
    score = np.where(log_odds < 0, positive.isf(recall), positive.ppf(special.expit(-log_odds)))
    return recall, step * recall * special.expit(-log_odds), np.asarray(negative.sf(score))


def _edges(negative: Distribution, positive: Distribution) -> Floats:
    """Return ends of panels, even in the logit of either rate."""
    even = np.arange(-REACH, REACH + 0.25, 0.5)
    scores = np.where(even < 0, negative.isf(special.expit(even)), negative.ppf(special.expit(-even)))
    ends = _logit_recall(positive, np.array(negative.support(), dtype=np.float64))
    edges = np.concatenate([even, _logit_recall(positive, scores), ends])
    return np.unique(edges[np.abs(edges) <= REACH])


def _logit_recall(positive: Distribution, score: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(positive.sf(score)) - np.log(positive.cdf(score)))


def _check_distributions(negative: Distribution, positive: Distribution) -> None:
    for name, distribution in (("negative", negative), ("positive", positive)):
        if not all(hasattr(distribution, part) for part in ("sf", "cdf", "isf", "ppf", "support", "rvs")):
            raise InputTypeError(
                f"`{name}` must be a frozen distribution such as scipy.stats.norm(0, 1), "
                f"but got {distribution!r}"
            )
        if hasattr(getattr(distribution, "dist", distribution), "pmf"):
            raise InputTypeError(f"`{name}` must be continuous, but its scores would tie")
        try:
            centre = distribution.isf(0.5)
        except TypeError as error:
            raise InputTypeError(f"`{name}` must be frozen with its parameters") from error
        if not np.isfinite(centre):
            raise InputError(f"`{name}` must have valid parameters, but its median is {centre}")
