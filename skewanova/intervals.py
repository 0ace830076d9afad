"""Confidence intervals for one AUPREC or IAUPREC: Boyd et al. (2013), Wilson, influence values, bootstrap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova._case_bootstrap import bootstrap_estimates
from skewanova._checks import (
    Bools,
    Floats,
    InputError,
    Seed,
    check_choice,
    check_count,
    check_fraction,
    check_same_length,
    check_vector,
    emit,
    to_array,
)
from skewanova._estimators import ESTIMATORS
from skewanova._influence_kernels import (
    check_cases,
    influence_kernel,
    jackknife_kernel,
    spread_of,
    target_prior,
)
from skewanova._interval_kernels import (
    FEW_TRIALS,
    Limits,
    acceleration_of,
    bca_limits,
    binomial_limits,
    boundary_limits,
    delta_logit_limits,
    logit_limits,
    percentile_limits,
    t_limits,
    thin_limits,
    two_sided,
    wilson_limits,
)
from skewanova.auprec import iauprec
from skewanova.priors import DeploymentPrior
from skewanova.roc import curve_from_scores

#: Fewest negatives per unit of skew (m/lam), and fewest positives, for which influence values are relied on.
ENOUGH_SUPPORT = 100.0
ENOUGH_POSITIVES = 30
#: Share by which rounding may take m/lam below a limit.
SLACK = 1e-9
#: Trials below which Wilson's limits are 0 and 1 in double precision.
FEWEST_TRIALS = 1e-9
#: Estimates this near to 0 or 1 have no spread of their own.
AT_BOUNDARY = 1e-15

Target = DeploymentPrior | tuple[float, float] | float


@dataclass(frozen=True)
class Interval:
    """A confidence interval, and how it was made.

    Attributes
    ----------
    estimate, low, high : float
        The estimate and the limits.
    level : float
        Nominal coverage.
    method : str
        What was used: one of `METHODS` but ``auto``, ``clopper_pearson`` (by ``auto`` alone), or ``boundary``
        where the estimate is 0 or 1.
    warning : str or None
        Why the interval should be read with care; also sent as a `SkewanovaWarning`.
    estimator : str
        Estimator of the area.
    weighting : str
        The prior or deployment prior, in words.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    warning: str | None = None
    estimator: str = "average_precision"
    weighting: str = ""


@dataclass(frozen=True)
class _Question:
    """Clean input, and what several methods need of it, computed once."""

    positive: Bools
    score: NDArray[Any]
    weighting: DeploymentPrior
    estimator: str
    level: float
    n_resamples: int
    rng: Seed
    folds: NDArray[np.intp] | None

    @cached_property
    def n_positive(self) -> int:
        return int(np.count_nonzero(self.positive))

    @cached_property
    def support(self) -> float:
        """Negatives over the skew: m / lam; over a deployment prior, the geometric mean of lam."""
        priors, weights = self.weighting.quadrature()
        rarity = float(np.exp(weights @ np.log((1 - priors) / priors)))
        return (len(self.positive) - self.n_positive) / rarity

    @cached_property
    def effective_size(self) -> float:
        return max(min(float(self.n_positive), self.support), FEWEST_TRIALS)

    @cached_property
    def estimate(self) -> float:
        return self.area(np.full(len(self.positive), True))

    @cached_property
    def influence(self) -> Floats:
        return influence_kernel(self.positive, self.score, self.weighting)[1]

    @cached_property
    def left_out(self) -> Floats:
        return jackknife_kernel(self.positive, self.score, self.weighting)[1]

    def area(self, rows: Bools) -> float:
        curve = curve_from_scores(self.positive[rows], self.score[rows])
        return iauprec(curve, self.weighting, estimator=self.estimator)

    @cached_property
    def fold_areas(self) -> Floats:
        folds = np.zeros(len(self.positive), dtype=np.intp) if self.folds is None else self.folds
        return np.array([self.area(folds == fold) for fold in range(folds.max() + 1)])

    @cached_property
    def resampled(self) -> Floats:
        return bootstrap_estimates(
            self.positive,
            self.score,
            self.weighting,
            estimator=self.estimator,
            n_resamples=self.n_resamples,
            rng=self.rng,
        )


def confidence_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: Target | None = None,
    method: str = "auto",
    level: float = 0.95,
    estimator: str = "average_precision",
    folds: ArrayLike | None = None,
    n_resamples: int = 2000,
    rng: Seed = 0,
    pos_label: object = None,
) -> Interval:
    """Confidence interval for the AUPREC or IAUPREC of one model.

    Parameters
    ----------
    y_true, y_score, pos_label
        As for :func:`~skewanova.roc_curve`.
    prior : float, optional
        Probability of the positive class in the deployment; by default the sample's own, taken as known.
    deployment_prior : (low, high) or deployment prior, optional
        As for :func:`~skewanova.iauprec`, in place of `prior`.
    method : str, default "auto"
        One of `METHODS`:

        * ``influence``: from influence values (:func:`~skewanova.auprec_influence`), or the jackknife's where
          that is wider, on the logit scale, with a t deviate whose degrees of freedom come from their
          kurtosis;
        * ``wilson``: Wilson's interval with the positives as trials;
        * ``binomial``, ``logit``: Boyd et al. (2013), with the positives as trials;
        * ``bootstrap``: percentiles over samples of the positives and of the negatives; ``bca``: the same,
          corrected for bias and acceleration (Efron 1987);
        * ``cross_validation``: t interval of the mean over `folds`, as in Boyd et al. (2013);
        * ``auto``: ``influence`` where m/lam, the negatives over the skew of the deployment, is at least 100
          and there are at least 30 positives, else Wilson's interval with min(n, m/lam) trials or, below 20
          trials, Clopper and Pearson's, and a warning.
    level : float, default 0.95
        Nominal coverage.
    estimator : str, default "average_precision"
        As for :func:`~skewanova.auprec`. Influence values are those of average precision, whose intervals
        have the better coverage below about 50 positives.
    folds : array_like of shape (n_cases,), optional
        Fold of every case, for ``cross_validation`` only; each fold must hold both classes.
    n_resamples : int, default 2000
        Bootstrap samples.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the bootstrap; None takes fresh entropy.

    Returns
    -------
    Interval
        Estimate, limits, and the method used.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.roc_curve` and :func:`~skewanova.iauprec`; ValueError if an option is unknown,
        both priors are given, or the folds do not fit.

    Warns
    -----
    SkewanovaWarning
        If the estimate is 0 or 1, or the prior so rare that the method is not to be trusted.

    Notes
    -----
    At an estimate of 1 every standard error vanishes: the limits are then [(alpha/2)^(1/k), 1] with
    k = min(n, m/lam), mirrored at 0, for every method but ``wilson``. The limits of ``binomial`` and
    ``cross_validation`` may leave [0, 1], as published. Over a deployment prior, lam is the geometric
    mean of its skews.

    The slides of Boyd et al. print the logit limits as e^eta -+ z tau; the exponent is eta -+ z tau.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.intervals import confidence_interval
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], [900, 100])
    >>> found = confidence_interval(labels, rng.normal(labels), prior=0.2)
    >>> found.method, round(found.estimate, 3), round(found.low, 3), round(found.high, 3)
    ('influence', 0.393, 0.32, 0.471)
    """
    check_choice(method, METHODS, "method")
    check_choice(estimator, ESTIMATORS, "estimator")
    check_fraction(level, "level")
    check_count(n_resamples, "n_resamples", minimum=10)
    check_vector(to_array(y_score, "y_score"), "y_score")
    positive, columns = check_cases(y_true, y_score, pos_label)
    question = _Question(
        positive=positive,
        score=columns[:, 0],
        weighting=target_prior(prior, deployment_prior, positive),
        estimator=estimator,
        level=level,
        n_resamples=n_resamples,
        rng=rng,
        folds=_check_folds(folds, method, positive),
    )
    return _answer(question, method)


def _answer(question: _Question, method: str) -> Interval:
    estimate = float(question.fold_areas.mean()) if method == "cross_validation" else question.estimate
    at_boundary = min(estimate, 1 - estimate) <= AT_BOUNDARY and method != "wilson"
    used = "boundary" if at_boundary else _chosen(question) if method == "auto" else method
    low, high = _LIMITS[used](question)
    notes = emit(note for note in (_note(question, method, used),) if note)
    return Interval(
        estimate=estimate,
        low=low,
        high=high,
        level=question.level,
        method=_thin_name(question) if used == "thin" else used,
        warning=notes[0] if notes else None,
        estimator=question.estimator,
        weighting=question.weighting.describe(),
    )


def _chosen(question: _Question) -> str:
    enough = question.support >= ENOUGH_SUPPORT * (1 - SLACK) and question.n_positive >= ENOUGH_POSITIVES
    return "influence" if enough else "thin"


def _thin_name(question: _Question) -> str:
    return "clopper_pearson" if question.effective_size < FEW_TRIALS else "wilson"


def _check_folds(folds: ArrayLike | None, method: str, positive: Bools) -> NDArray[np.intp] | None:
    """Fold numbers from 0, each fold with both classes; None where the method needs no folds."""
    if (folds is None) != (method != "cross_validation"):
        told = "needs `folds`" if folds is None else "has no use for `folds`, which are for cross_validation"
        raise InputError(f"method {method} {told}")
    if folds is None:
        return None
    given = to_array(folds, "folds")
    check_vector(given, "folds")
    check_same_length(y_true=positive, folds=given)
    names, codes = np.unique(given, return_inverse=True)
    codes = codes.reshape(-1)
    counts = np.array([np.bincount(codes[rows], minlength=len(names)) for rows in (positive, ~positive)])
    lacking = names[(counts == 0).any(axis=0)]
    if len(names) < 2 or len(lacking):
        told = (
            f"but {', '.join(map(str, lacking[:5]))} lacks one" if len(lacking) else "but there is one fold"
        )
        raise InputError(f"`folds` must name at least 2 folds with both classes, {told}")
    return codes


def _note(question: _Question, method: str, used: str) -> str | None:
    """What to say about the method used on this question, if anything."""
    support, size = question.support, question.effective_size
    thin = f"m/lam = {support:.3g} (negatives over skew, at {question.weighting.describe()})"
    if used == "boundary":
        return (
            "the estimate is at its limit, where no method has a standard error: the limits are exact ones "
            f"for min(n, m/lam) = {size:.4g} trials, with {thin}"
        )
    if used == "thin":
        few = f"{question.n_positive} positives are fewer than {ENOUGH_POSITIVES}"
        reason = f"{thin} is below {ENOUGH_SUPPORT:g}" if support < ENOUGH_SUPPORT * (1 - SLACK) else few
        name = {"wilson": "Wilson's", "clopper_pearson": "Clopper and Pearson's"}[_thin_name(question)]
        return f"{reason}: the interval is {name} with min(n, m/lam) = {size:.4g} trials, wide on purpose"
    if method in _BY_TRIALS and support < question.n_positive * (1 - SLACK):
        return (
            f"{thin} is below the {question.n_positive} positives: the prior is rarer than the sample's, and "
            f"{method} with the positives as trials is too short; use auto"
        )
    if method in _BY_SPREAD and support < ENOUGH_SUPPORT * (1 - SLACK):
        return f"{thin} is below {ENOUGH_SUPPORT:g}, where {method} tends to be too short; use auto"
    return None


def _influence(question: _Question) -> Limits:
    """The wider of two: influence values understate thin curves, the jackknife those of few positives."""
    spreads = [spread_of(values, question.positive) for values in (question.influence, question.left_out)]
    std_error, df = max(spreads, key=lambda spread: spread[0] * two_sided(question.level, spread[1]))
    return delta_logit_limits(question.estimate, std_error, question.level, df=df)


def _bca(question: _Question) -> Limits:
    acceleration = acceleration_of(question.influence, question.positive)
    return bca_limits(question.estimate, question.resampled, acceleration, question.level)


_LIMITS: dict[str, Callable[[_Question], Limits]] = {
    "influence": _influence,
    "wilson": lambda q: wilson_limits(q.estimate, q.n_positive, q.level),
    "thin": lambda q: thin_limits(q.estimate, q.effective_size, q.level),
    "binomial": lambda q: binomial_limits(q.estimate, q.n_positive, q.level),
    "logit": lambda q: logit_limits(q.estimate, q.n_positive, q.level),
    "bootstrap": lambda q: percentile_limits(q.resampled, q.level),
    "bca": _bca,
    "cross_validation": lambda q: t_limits(q.fold_areas, q.level),
    "boundary": lambda q: boundary_limits(q.estimate, q.effective_size, q.level),
}
METHODS = ("auto", "influence", "wilson", "binomial", "logit", "bootstrap", "bca", "cross_validation")
#: Methods that count the positives as trials, and those that measure the spread of the estimate.
_BY_TRIALS = ("wilson", "binomial", "logit")
_BY_SPREAD = ("influence", "bootstrap", "bca", "cross_validation")
