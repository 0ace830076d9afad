"""True curves and areas of known score distributions, samples from them, and the binormal model.

Let S+ and S- be the survival functions of the scores of positives and negatives. Recall at a threshold is S+,
the false positive rate is S-, and AUPREC is the mean over recall u of ``u / (u + skew S-(S+^-1(u)))``.

In the alpha-binormal model of Brodersen et al. (2010), the scores of each class are normal. The curves depend
on ``a = (mu+ - mu-) / s-`` and ``b = s+ / s-``. A positive with standard score z has the standard score
``x = a + b z`` among negatives; recall there is Phi(-z), and the false positive rate Phi(-x). The paper
prints recall as ``1 - Phi-(t)``, and its eq. 7 without the distribution function of negatives. The correct
precision at recall r is ``alpha r / (alpha r + (1 - alpha) (1 - Phi-(Phi+^-1(1 - r))))``, for the share
alpha of positives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy.optimize import minimize_scalar

from skewanova.base.checks import (
    Bools,
    Floats,
    InputError,
    InputTypeError,
    Seed,
    check_count,
    check_float_array,
    check_labels,
    check_prior,
    check_same_length,
    check_scores,
    describe_value,
    make_generator,
    warn_each,
)
from skewanova.base.text import write_p
from skewanova.curves.estimators import vertex_precision
from skewanova.curves.roc import RocCurve, drop_repeated_vertices
from skewanova.priors.quadrature import gauss_panels
from skewanova.priors.weightings import FrozenDistribution, PriorLike, as_deployment_prior

#: Limit of integration in the logit of recall; 4e-20 of recall is beyond it on either side.
MAX_LOGIT = 44.5


PANEL_NODES = 16


def true_auprec(negative: FrozenDistribution, positive: FrozenDistribution, prior: float) -> float:
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
    ValueError, TypeError
        If the prior is not strictly between 0 and 1; TypeError if a distribution is not continuous or frozen.

    Examples
    --------
    >>> from scipy import stats
    >>> from skewanova.curves.distributions import true_auprec
    >>> round(true_auprec(stats.norm(0, 1), stats.norm(1, 1), 0.5), 10)
    0.7529959969
    """
    return true_iauprec(negative, positive, check_prior(prior))


def true_iauprec(
    negative: FrozenDistribution, positive: FrozenDistribution, deployment_prior: PriorLike
) -> float:
    """Return the mean AUPREC over a deployment prior, of a classifier whose scores have known distributions.

    Parameters
    ----------
    negative, positive, deployment_prior
        As for :func:`true_auprec` and, the last, :func:`~skewanova.iauprec`.

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


def true_auc(negative: FrozenDistribution, positive: FrozenDistribution) -> float:
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


def true_roc(negative: FrozenDistribution, positive: FrozenDistribution, *, n_points: int = 2001) -> RocCurve:
    """Return the true ROC curve at evenly spaced quantiles of both classes.

    Parameters
    ----------
    negative, positive
        As for :func:`true_auprec`.
    n_points : int, default 2001
        Number of thresholds from each class.

    Returns
    -------
    RocCurve
        The curve, with unknown class sizes (nan). The error of its straight segments is of order
        ``n_points ** -2``.

    Examples
    --------
    >>> from scipy import stats
    >>> from skewanova import auc
    >>> from skewanova.curves.distributions import true_roc
    >>> round(auc(true_roc(stats.norm(0, 1), stats.norm(1, 1))), 5)
    0.76025
    """
    _check_frozen_continuous(negative, positive)
    share = np.arange(1, check_count(n_points, "n_points", minimum=1) + 1) / (n_points + 1)
    thresholds = np.unique(np.concatenate([negative.isf(share), positive.isf(share)]))[::-1]
    return curve_from_rates(thresholds, negative.sf(thresholds), positive.sf(thresholds))


def curve_from_rates(thresholds: Floats, fpr: Floats, tpr: Floats) -> RocCurve:
    """Return the curve, without sizes or repeats, from (0, 0) at inf by these rates to (1, 1) at -inf."""
    ends = ((0.0, fpr, 1.0), (0.0, tpr, 1.0), (np.inf, thresholds, -np.inf))
    false, true, levels = (np.concatenate(([first], values, [last])) for first, values, last in ends)
    return drop_repeated_vertices(RocCurve(false, true, levels, np.nan, np.nan))


def sample_scores(
    negative: FrozenDistribution,
    positive: FrozenDistribution,
    n_cases: int,
    *,
    prior: float,
    exact_counts: bool = True,
    rng: Seed = 0,
) -> tuple[Bools, Floats]:
    """Draw labels and scores from known distributions.

    Parameters
    ----------
    negative, positive
        As for :func:`true_auprec`.
    n_cases : int
        Number of cases, at least 2.
    prior : float
        Share of positives, or their probability.
    exact_counts : bool, default True
        If True, the number of negatives is ``(1 - prior) * n_cases``, rounded; else it is binomial. Neither
        class is empty.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    positive : ndarray of bool, shape (n_cases,)
        Labels, positives first.
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
    _check_frozen_continuous(negative, positive)
    check_count(n_cases, "n_cases", minimum=2)
    check_prior(prior)
    generator = make_generator(rng)
    mean = (1 - prior) * n_cases
    n_negative = np.floor(mean + 0.5) if exact_counts else generator.binomial(n_cases, 1 - prior)
    n_negative = int(np.clip(n_negative, 1, n_cases - 1))
    sizes = ((positive, n_cases - n_negative), (negative, n_negative))
    scores = [drawn.rvs(size=size, random_state=generator) for drawn, size in sizes]
    return np.arange(n_cases) < n_cases - n_negative, np.concatenate(scores).astype(np.float64)


def _recall_nodes(
    negative: FrozenDistribution, positive: FrozenDistribution
) -> tuple[Floats, Floats, Floats]:
    """Return nodes and weights of quadrature over recall in (0, 1), and the false positive rates there."""
    _check_frozen_continuous(negative, positive)
    # panels in the logit of recall, where the tails are smooth, that end at kinks of the curve
    log_odds, step = gauss_panels(_find_rate_panels(negative, positive), PANEL_NODES)
    recall = special.expit(log_odds)
    score = np.where(log_odds < 0, positive.isf(recall), positive.ppf(special.expit(-log_odds)))
    return recall, step * recall * special.expit(-log_odds), np.asarray(negative.sf(score))


def _find_rate_panels(negative: FrozenDistribution, positive: FrozenDistribution) -> Floats:
    """Return panel ends, ascending logits of recall: even, at even logits of the fpr, at support ends."""
    even = np.arange(-MAX_LOGIT, MAX_LOGIT + 0.25, 0.5)
    scores = np.where(even < 0, negative.isf(special.expit(even)), negative.ppf(special.expit(-even)))
    ends = _logit_recall(positive, np.array(negative.support(), dtype=np.float64))
    edges = np.concatenate([even, _logit_recall(positive, scores), ends])
    return np.unique(edges[np.abs(edges) <= MAX_LOGIT])


def _logit_recall(positive: FrozenDistribution, score: Floats) -> Floats:
    """Return the logit of the recall at each threshold `score`; infinite outside the support."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(positive.sf(score)) - np.log(positive.cdf(score)))


def _check_frozen_continuous(negative: FrozenDistribution, positive: FrozenDistribution) -> None:
    """Raise a TypeError unless both are frozen and continuous, a ValueError if a median is not finite."""
    for name, distribution in (("negative", negative), ("positive", positive)):
        if not all(hasattr(distribution, part) for part in ("sf", "cdf", "isf", "ppf", "support", "rvs")):
            raise InputTypeError(
                f"`{name}` must be a frozen distribution such as scipy.stats.norm(0, 1), but got "
                f"{describe_value(distribution)}; of scores use skewanova.curves.fit_binormal(y_true, scores)"
            )
        if hasattr(getattr(distribution, "dist", distribution), "pmf"):
            raise InputTypeError(f"`{name}` must be continuous, as scipy.stats.norm(0, 1), but is discrete")
        if getattr(distribution, "numargs", 0):
            raise InputTypeError(f"`{name}` must have its parameters, such as scipy.stats.gamma(2)")
        centre = distribution.isf(0.5)
        if np.ndim(centre) or not np.isfinite(centre):
            raise InputError(
                f"`{name}` must have valid parameters, one value each, but its median is {centre}"
            )


#: Limit of integration in standard scores of positives; 1e-19 of them are beyond it on either side.
LARGEST_Z = 9.0


#: Standard scores of negatives within which precision changes at any skew up to 1e300.
LARGEST_NEGATIVE_Z = 40.0


LOG_ROOT_TWO_PI = 0.5 * np.log(2 * np.pi)


def positive_nodes(a: float, b: float) -> tuple[Floats, Floats]:
    """Return standard scores z of positives, and weights that average a function of z over positives."""
    edges = np.arange(-LARGEST_Z, LARGEST_Z + 0.25, 0.5)
    if b > 1:  # the scale of negatives, x = a + b z, needs finer panels
        crossing = (np.arange(-LARGEST_NEGATIVE_Z, LARGEST_NEGATIVE_Z + 0.25, 0.5) - a) / b
        edges = np.unique(np.concatenate([edges, crossing[np.abs(crossing) < LARGEST_Z]]))
    z, step = gauss_panels(edges, PANEL_NODES)
    return z, step * np.exp(-(z**2) / 2 - LOG_ROOT_TWO_PI)


def precision_at_score(z: Floats, a: float, b: float, log_skew: float) -> Floats:
    """Return precision at thresholds z, which are standard scores of positives (Brodersen et al., eq. 6)."""
    return np.asarray(special.expit(special.log_ndtr(-z) - special.log_ndtr(-(a + b * z)) - log_skew))


def auprec_and_slopes(a: float, b: float, priors: Floats, shares: Floats) -> tuple[float, Floats]:
    """Return AUPREC averaged over priors by weights `shares` (eqs 7, 8), and derivatives (2,) in a and b."""
    z, weight = positive_nodes(a, b)
    x = a + b * z
    hazard = np.exp(-(x**2) / 2 - LOG_ROOT_TWO_PI - special.log_ndtr(-x))
    area, slopes = 0.0, np.zeros(2)
    for prior, share in zip(priors, shares, strict=True):
        precision = precision_at_score(z, a, b, float(-special.logit(prior)))
        changes = weight * precision * (1 - precision) * hazard
        area += float(share * (weight @ precision))
        slopes += share * np.array([changes.sum(), changes @ z])
    return area, slopes


def auc_and_slopes(a: float, b: float) -> tuple[float, Floats]:
    """Return AUC = Phi(a / sqrt(1 + b^2)) and its derivatives in a and b, (2,)."""
    root = np.sqrt(1 + b**2)
    density = np.exp(-((a / root) ** 2) / 2 - LOG_ROOT_TWO_PI)
    return float(special.ndtr(a / root)), density * np.array([1 / root, -a * b / root**3])


def shape_covariance(a: float, b: float, n_positive: int, n_negative: int) -> Floats:
    """Return the (2, 2) covariance matrix of a and b, by Var(mean) = s^2 / n and Var(sd) = s^2 / (2 n)."""
    n, m = n_positive, n_negative
    joint = a * b / (2 * m)  # both depend on the standard deviation of negatives
    return np.array([[b**2 / n + 1 / m + a**2 / (2 * m), joint], [joint, b**2 * (1 / (2 * n) + 1 / (2 * m))]])


def find_best_power(positive: Floats, negative: Floats) -> float:
    """Return the Box-Cox power (-5 to 5) with the largest likelihood of normals of unequal variances."""
    log_sum = np.log(positive).sum() + np.log(negative).sum()
    # with geometric mean 1, the Jacobian is 1 and powers of large scores are finite
    centre = np.exp(log_sum / (len(positive) + len(negative)))

    def minus_log_likelihood(power: float) -> float:
        """Return minus the largest log-likelihood of normals after this power, less a constant."""
        return float(
            sum(len(s) * np.log(special.boxcox(s / centre, power).std()) for s in (positive, negative))
        )

    return float(minimize_scalar(minus_log_likelihood, bounds=(-5, 5), options={"xatol": 1e-8}).x)


def normality_p_value(values: Floats) -> float:
    """Return the p-value of the Anderson-Darling test of normality; nan for fewer than 8 values."""
    # D'Agostino and Stephens (1986), table 4.9
    from statsmodels.stats.diagnostic import normal_ad  # loads pandas, and is seldom used

    return float(normal_ad(values)[1]) if len(values) >= 8 else np.nan


#: Level of the normality tests of both classes together.
CHECK_LEVEL = 0.01


@dataclass(frozen=True)
class BinormalFit:
    """Binormal model: normal scores of each class, with the curves and areas they imply.

    Attributes
    ----------
    mean_positive, mean_negative, std_positive, std_negative, n_positive, n_negative : float, int
        Moments of the (transformed) scores, and class sizes.
    alpha, power : float, float or None
        Default prior (the share of positives, or the `alpha` of the fit); power of the Box-Cox transform.
    normality_positive, normality_negative : float
        p-values of Anderson-Darling tests of the (transformed) scores; nan with fewer than 8 cases.
    """

    mean_positive: float
    mean_negative: float
    std_positive: float
    std_negative: float
    n_positive: int
    n_negative: int
    alpha: float
    power: float | None = None
    normality_positive: float = field(default=np.nan, repr=False)
    normality_negative: float = field(default=np.nan, repr=False)

    @property
    def auc(self) -> float:
        """Area under the ROC curve."""
        return auc_and_slopes(*self._shape)[0]

    @property
    def auc_std_error(self) -> float:
        """Standard error of the AUC, by the delta method."""
        return self._std_error(auc_and_slopes(*self._shape)[1])

    def auprec(self, prior: float | None = None) -> float:
        """Return AUPREC at a prior (by default `alpha`)."""
        return self.iauprec(self._prior(prior))

    def auprec_std_error(self, prior: float | None = None) -> float:
        """Return the delta-method standard error of AUPREC at a known prior (by default `alpha`)."""
        return self.iauprec_std_error(self._prior(prior))

    def iauprec(self, deployment_prior: PriorLike) -> float:
        """Return the mean AUPREC over a deployment prior, as for :func:`~skewanova.iauprec`."""
        return auprec_and_slopes(*self._shape, *as_deployment_prior(deployment_prior).quadrature())[0]

    def iauprec_std_error(self, deployment_prior: PriorLike) -> float:
        """Return the delta-method standard error of the mean AUPREC over a deployment prior."""
        nodes = as_deployment_prior(deployment_prior).quadrature()
        return self._std_error(auprec_and_slopes(*self._shape, *nodes)[1])

    def roc(self, *, n_points: int = 1001) -> RocCurve:
        """Return the ROC curve at quantiles of both classes, with sizes; thresholds after any transform."""
        check_count(n_points, "n_points", minimum=2)
        z = special.ndtri(np.arange(1, n_points + 1) / (n_points + 1))
        a, b = self._shape
        x = np.unique(np.concatenate([z, a + b * z]))[::-1]  # in units of the negatives
        thresholds = self.mean_negative + self.std_negative * x
        curve = curve_from_rates(thresholds, special.ndtr(-x), special.ndtr((a - x) / b))
        return replace(curve, n_positive=self.n_positive, n_negative=self.n_negative)

    def precision_recall(
        self, prior: float | None = None, *, recall: ArrayLike | None = None
    ) -> tuple[Floats, Floats]:
        """Return precision, recall at a prior (by default `alpha`), recalls in (0, 1] (0.001, ..., 1)."""
        recalls = np.arange(1, 1001) / 1000 if recall is None else check_float_array(recall, "recall")
        invalid = recalls[~((recalls > 0) & (recalls <= 1))]
        if invalid.size:
            raise InputError(f"`recall` must lie in (0, 1], but got {invalid.flat[0]:.15g}")
        log_skew = float(-special.logit(self._prior(prior)))
        return precision_at_score(-special.ndtri(recalls), *self._shape, log_skew), recalls

    @property
    def _shape(self) -> tuple[float, float]:
        """Shapes a (difference of means) and b (standard deviation of positives) in units of negatives."""
        gap = (self.mean_positive - self.mean_negative) / self.std_negative
        return gap, self.std_positive / self.std_negative

    def _prior(self, prior: float | None) -> float:
        """Return the prior, checked, or `alpha` if it is None."""
        return self.alpha if prior is None else check_prior(prior)

    def _std_error(self, slopes: Floats) -> float:
        """Return the delta-method standard error of an area with these derivatives in a and b."""
        covariance = shape_covariance(*self._shape, self.n_positive, self.n_negative)
        return float(np.sqrt(slopes @ covariance @ slopes))


def fit_binormal(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    alpha: float | None = None,
    ddof: int = 0,
    boxcox: bool = False,
    pos_label: object = None,
) -> BinormalFit:
    """Fit the binormal model to scores by moments.

    Parameters
    ----------
    y_true, pos_label
        As for :func:`~skewanova.roc_curve`, with at least two cases of each class.
    y_score : array_like of shape (n_cases,)
        Finite scores, not all equal within a class.
    alpha : float, optional
        Default prior of the curves: by default the share of positives (the alpha-binormal model of the
        paper); 0.5 is its binormal model.
    ddof : int, default 0
        Variances divide by n - ddof. 0 is maximum likelihood, as in the paper; its published code has 1.
    boxcox : bool, default False
        If True, transform the scores first, by the Box-Cox power with the largest likelihood.

    Returns
    -------
    BinormalFit
        Moments, with the curves and areas they imply and standard errors.

    Raises
    ------
    ValueError
        If a score is NaN or infinite, a class has fewer than two cases or equal scores only, or `boxcox` is
        True and a score is not positive.

    Warns
    -----
    SkewanovaWarning
        If the scores of a class are not normal (Anderson-Darling test, level 0.01 over both classes).

    Notes
    -----
    ROC and precision-recall curves do not change under increasing transforms of the scores, but this fit by
    moments does. So scores that fail the check may have a binormal curve after another transform. Standard
    errors ignore the uncertainty of the power, of `alpha` and of the model. The paper is Brodersen et al.
    (2010), The binormal assumption on precision-recall curves.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.curves.distributions import fit_binormal
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], [60, 40])
    >>> fit = fit_binormal(labels, rng.normal(2 * labels - 1, 2))
    >>> round(fit.auc, 3), round(fit.auprec(), 3), round(fit.auprec(0.1), 3)
    (0.767, 0.714, 0.366)
    """
    positive, score = _check_input(y_true, y_score, pos_label)
    check_count(ddof, "ddof", minimum=0)
    power = None
    if boxcox:
        if not (score > 0).all():
            least = f"the lowest is {score.min():g}; add more than {abs(score.min()):g} to all scores"
            raise InputError(f"`boxcox` needs scores above 0, but {least}")
        _check_spreads(score[positive], score[~positive], 0)
        power = find_best_power(score[positive], score[~positive])
    values: Floats = score if power is None else np.asarray(special.boxcox(score, power))
    classes = values[positive], values[~positive]
    _check_spreads(*classes, ddof)
    n_positive, n_negative = map(len, classes)
    mean_positive, mean_negative = (float(part.mean()) for part in classes)
    std_positive, std_negative = (float(part.std(ddof=ddof)) for part in classes)
    checks = tuple(map(normality_p_value, classes))
    warn_each(_normality_notes(checks, power, has_powers=bool(score.min() > 0)))
    moments = mean_positive, mean_negative, std_positive, std_negative
    share = n_positive / (n_positive + n_negative) if alpha is None else check_prior(alpha, "alpha")
    return BinormalFit(*moments, n_positive, n_negative, share, power, *checks)


def _check_input(y_true: ArrayLike, y_score: ArrayLike, pos_label: object) -> tuple[Bools, Floats]:
    """Return labels, True for positives, and finite scores as floats; raise if they are invalid."""
    positive, ranks = check_labels(y_true, pos_label=pos_label), check_scores(y_score)
    check_same_length(y_true=positive, y_score=ranks)
    score = ranks.astype(np.float64)
    infinite = np.flatnonzero(~np.isfinite(score))
    if infinite.size:
        raise InputError(
            f"`y_score` must be finite for the binormal model, but has {infinite.size} infinite, the first "
            f"at row {infinite[0]}; use skewanova.auprec_score(y_true, y_score, prior=0.1)"
        )
    return positive, score


def _check_spreads(positive: Floats, negative: Floats, ddof: int) -> None:
    """Raise unless each class has at least 2 and ddof + 1 cases, and two different scores."""
    needed = max(2, ddof + 1)
    for name, values in (("positive", positive), ("negative", negative)):
        if len(values) < needed:
            why = f" for `ddof`={ddof}" if needed > 2 else ""
            raise InputError(f"`y_true` must hold at least {needed} {name} cases{why}, but has {len(values)}")
        if np.ptp(values) == 0:
            raise InputError(
                f"`y_score` must vary within each class, but all {name} cases have {values[0]:g}; use "
                "skewanova.auprec_score(y_true, y_score, prior=0.1), which needs no model"
            )


def _normality_notes(p_values: Sequence[float], power: float | None, *, has_powers: bool = True) -> list[str]:
    """Return [note] that names classes (positives, negatives) with p-values below CHECK_LEVEL / 2, or []."""
    pairs = zip(("positives", "negatives"), p_values, strict=True)
    failed = [f"{name} ({write_p(p)})" for name, p in pairs if p < CHECK_LEVEL / 2]
    if not failed:
        return []
    scale = "scores" if power is None else f"scores transformed by the Box-Cox power {power:.3g}"
    advice = "try boxcox=True, or use " if power is None and has_powers else "use "
    return [
        f"the binormal model does not hold because {scale} are not normal for {' and '.join(failed)}; areas "
        f"may be biased at any sample size: {advice}skewanova.auprec_score(y_true, y_score, prior=0.1)"
    ]
