"""Confidence intervals of AUPREC and IAUPREC of one model."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy import special

from skewanova.base import checks
from skewanova.base.checks import Bools, Floats, InputError, Seed, SkewanovaWarning
from skewanova.base.text import shorten_notes
from skewanova.curves.areas import iauprec
from skewanova.curves.estimators import ESTIMATORS
from skewanova.curves.roc import curve_from_scores
from skewanova.inference.case_resampling import SortedScores, bootstrap_estimates, measure_models
from skewanova.inference.catalogue import INTERVALS, TABLE_INTERVALS
from skewanova.inference.sampling import Codes, Sample, check_sample, number_groups, target_prior
from skewanova.inference.single_test_set import bonferroni_value
from skewanova.priors.elicitation import beta_quantile
from skewanova.priors.evidence import (
    MIN_FOR_JACKKNIFE,
    MIN_NEGATIVES_FOR_INTERVALS,
    MIN_POSITIVES_FOR_INTERVALS,
    is_sufficient,
)
from skewanova.priors.weightings import DeploymentPrior, PriorLike
from skewanova.scores.design import fold_mean_interval, infer_design, logit_interval
from skewanova.scores.reading import read_in_memory

Limits = tuple[float, float]


#: With fewer trials than this Wilson's interval covers an area too seldom (studies/records/intervals.md).
MIN_WILSON_TRIALS = 20


def binomial_limits(theta: float, size: float, level: float) -> Limits:
    """Return the limits theta -+ z sqrt(theta (1 - theta) / n) of Boyd et al. (2013), not cut to [0, 1]."""
    half_width = bonferroni_value(1, level) * np.sqrt(theta * (1 - theta) / size)
    return theta - half_width, theta + half_width


def logit_limits(theta: float, size: float, level: float) -> tuple[Floats, Floats]:
    """Return expit(logit(theta) -+ z (n theta (1 - theta))^(-1/2)) of Boyd et al. (2013), nan at 0 and 1."""
    # in the extracted text the slides have e^eta -+ z tau; the exponent is eta -+ z tau
    return logit_interval(theta, np.sqrt(theta * (1 - theta) / size), df=np.inf, level=level)


def wilson_limits(theta: float, size: float, level: float) -> Limits:
    """Return limits of Wilson's (1927) score interval of a share theta of `size` trials, within [0, 1]."""
    # statsmodels' proportion_confint agrees to 9e-15, but takes 300 microseconds, not 7
    z2 = bonferroni_value(1, level) ** 2
    centre = (theta + z2 / (2 * size)) / (1 + z2 / size)
    half_width = np.sqrt(z2 * (theta * (1 - theta) / size + z2 / (4 * size**2))) / (1 + z2 / size)
    return max(0.0, float(centre - half_width)), min(1.0, float(centre + half_width))


def clopper_pearson_limits(theta: float, size: float, level: float) -> Limits:
    """Return Clopper and Pearson's (1934) exact limits of a share theta; `size` need not be an integer."""
    wins, tail = size * theta, (1 - level) / 2
    low = beta_quantile(wins, size - wins + 1, tail) if wins > 0 else 0.0
    high = beta_quantile(wins + 1, size - wins, 1 - tail) if wins < size else 1.0
    return low, high


def small_sample_limits(theta: float, size: float, level: float) -> Limits:
    """Return Wilson's limits of a share theta, or with fewer than 20 trials Clopper and Pearson's."""
    return (clopper_pearson_limits if size < MIN_WILSON_TRIALS else wilson_limits)(theta, size, level)


def boundary_limits(theta: float, size: float, level: float) -> Limits:
    """Return Clopper-Pearson limits at 1, [(alpha/2)^(1/n), 1], if theta > 0.5; else at 0, mirrored."""
    bound = float(((1 - level) / 2) ** (1 / size))
    return (bound, 1.0) if theta > 0.5 else (0.0, 1 - bound)


def percentile_limits(estimates: Floats, level: float) -> Floats:
    """Return the quantiles (1 - level) / 2 and (1 + level) / 2 of resampled estimates."""
    return np.quantile(estimates, [(1 - level) / 2, (1 + level) / 2])


def bca_limits(theta: float, estimates: Floats, acceleration: float, level: float) -> Floats:
    """Return both bias-corrected and accelerated quantiles of resampled estimates, low first (Efron 1987)."""
    below = np.mean(estimates < theta) + np.mean(estimates == theta) / 2
    shift = special.ndtri(np.clip(below, 0.5 / len(estimates), 1 - 0.5 / len(estimates)))
    shifted = shift + bonferroni_value(1, level) * np.array([-1.0, 1.0])
    share = special.ndtr(shift + shifted / (1 - acceleration * shifted))
    return np.asarray(np.quantile(estimates, share))


def bca_acceleration(deviations: Floats) -> float:
    """Return sum(d^3) / (6 sum(d^2)^1.5) of jackknife deviations d, 0 if all are 0 (Efron 1987, eq. 7.3)."""
    square = float((deviations**2).sum())
    return float((deviations**3).sum()) / (6 * square**1.5) if square > 0 else 0.0


def t_limits(estimates: Floats, level: float) -> Limits:
    """Return the limits mean -+ t s / sqrt(K) over K folds, not cut to [0, 1]."""
    mean, std = estimates.mean(), estimates.std(ddof=1)
    _, low, high = fold_mean_interval(mean, std, len(estimates), ratio=0.0, level=level)
    return float(low), float(high)


#: Number of trials below which Wilson's limits are 0 and 1 in double precision.
MIN_TRIALS = 1e-9


#: Estimates within this distance of 0 or 1 have no standard error.
BOUNDARY_TOLERANCE = 1e-15


@dataclass(frozen=True)
class Interval:
    """A confidence interval, and how it was made.

    Attributes
    ----------
    estimate, conf_low, conf_high, confidence_level : float
        The estimate, the limits, and their nominal coverage.
    method : str
        One of `INTERVALS` but ``auto``, ``clopper_pearson``, or ``boundary`` at an estimate of 0 or 1.
    warning : str or None
        Why the interval should be read with care; also sent as a `SkewanovaWarning`.
    area_estimator, weighting : str
        Estimator of the area, and the prior or deployment prior in words.
    """

    estimate: float
    conf_low: float
    conf_high: float
    confidence_level: float
    method: str
    warning: str | None = None
    area_estimator: str = "trapezoid"
    weighting: str = ""


@dataclass(frozen=True)
class IntervalInputs:
    """Checked inputs of an interval, with cached quantities that several methods need.

    `precomputed` (area, standard error, degrees of freedom) replaces the scores.
    """

    sample: Sample
    score: NDArray[Any]
    weighting: DeploymentPrior
    area_estimator: str
    confidence_level: float
    precomputed: tuple[float, float, float] | None = None
    n_resamples: int = 2000
    rng: Seed = 0
    folds: Codes | None = None

    @cached_property
    def n_positive(self) -> float:
        """Kish's effective number of positive cases, or of clusters with positives."""
        return self.sample.effective_size(positive=True)

    @cached_property
    def n_negative(self) -> float:
        """Kish's effective number of negative cases, or of clusters with negatives."""
        return self.sample.effective_size(positive=False)

    @cached_property
    def support(self) -> float:
        """Effective negatives over the skew, m / lam; lam is a geometric mean over a deployment prior."""
        priors, weights = self.weighting.quadrature()
        return self.n_negative / float(np.exp(weights @ np.log((1 - priors) / priors)))

    @cached_property
    def effective_size(self) -> float:
        """Effective trials: the lesser of effective positives and `support`, but at least `MIN_TRIALS`."""
        return max(min(self.n_positive, self.support), MIN_TRIALS)

    @cached_property
    def estimate(self) -> float:
        """AUPREC or IAUPREC over all cases, or the precomputed area."""
        return self.area(slice(None)) if self.precomputed is None else self.precomputed[0]

    @cached_property
    def jackknife_values(self) -> Floats:
        """Jackknife value (G - 1) (area - area without the unit) of every unit, G its stratum's size."""
        return measure_models(self.sample, [self.score], [self.weighting], self.area_estimator)[1][:, 0, 0]

    def area(self, rows: Bools | slice) -> float:
        """Return AUPREC or IAUPREC, by `weighting`, over the cases `rows` only."""
        weight = None if self.sample.weight is None else self.sample.weight[rows]
        curve = curve_from_scores(self.sample.positive[rows], self.score[rows], weight)
        return iauprec(curve, self.weighting, area_estimator=self.area_estimator)

    @cached_property
    def fold_areas(self) -> Floats:
        """AUPREC or IAUPREC of every fold (n_folds,), or of all cases (1,) if `folds` is None."""
        folds = np.zeros(len(self.score), dtype=np.intp) if self.folds is None else self.folds
        return np.array([self.area(folds == fold) for fold in range(folds.max() + 1)])

    @cached_property
    def bootstrap_areas(self) -> Floats:
        """AUPREC or IAUPREC of stratified bootstrap samples, less those that lack a class."""
        model, size = SortedScores(self.sample, self.score), self.n_resamples
        return bootstrap_estimates(model, self.weighting, self.area_estimator, n_resamples=size, rng=self.rng)


def confidence_interval(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: float | None = None,
    deployment_prior: PriorLike | None = None,
    method: str = "auto",
    confidence_level: float = 0.95,
    area_estimator: str = "trapezoid",
    folds: ArrayLike | None = None,
    rng: Seed = 0,
    cluster: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    pos_label: object = None,
) -> Interval:
    """Estimate a confidence interval for the AUPREC or IAUPREC of one model.

    Parameters
    ----------
    y_true, y_score, deployment_prior, area_estimator, cluster, sample_weight, pos_label
        As for :func:`~skewanova.inference.auprec_covariance`, of one model; bootstraps draw clusters.
    prior : float, optional
        Probability of the positive class in deployment; by default the sample's prior, taken as known.
    method : str, default "auto"
        One of `INTERVALS`:

        * ``jackknife``: jackknife standard error on the logit scale, with a t quantile, and half a case of
          precision 1 and half a case of precision 0 beside the min(n, m/lam) cases;
        * ``wilson``: Wilson's interval with the positives as trials;
        * ``binomial``, ``logit``: Boyd et al. (2013), with the positives as trials;
        * ``bootstrap``: percentiles over 2,000 samples of the positives and of the negatives; ``bca``: also
          corrected for bias and acceleration (Efron 1987);
        * ``cross_validation``: t interval of the mean over `folds`, as in Boyd et al. (2013);
        * ``auto``: ``jackknife`` where m and m/lam (negatives over skew) are at least 50 and there are 30
          positives, else, with a warning, Wilson's of min(n, m/lam) trials or, below 20, Clopper-Pearson's.
    confidence_level : float, default 0.95
        Nominal coverage.
    folds : array_like of shape (n_cases,), optional
        Fold of every case, for ``cross_validation`` only; each fold must hold both classes.
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
        If the estimate is 0 or 1, or the prior is too rare for the method.

    Notes
    -----
    At an estimate of 1 the limits are [(alpha/2)^(1/k), 1] with k = min(n, m/lam), mirrored at 0, for every
    method but ``wilson``. The limits of ``binomial`` and ``cross_validation`` may leave [0, 1], as published.
    Over a deployment prior, lam is the geometric mean of its skews.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova.inference.intervals import confidence_interval
    >>> rng = np.random.default_rng(0)
    >>> labels = np.repeat([0, 1], [900, 100])
    >>> interval = confidence_interval(labels, rng.normal(labels), prior=0.2)
    >>> interval.method, round(interval.estimate, 3)
    ('jackknife', 0.388)
    """
    checks.check_choice(method, INTERVALS, "method")
    checks.check_choice(area_estimator, ESTIMATORS, "area_estimator")
    checks.check_fraction(confidence_level, "confidence_level")
    checks.check_vector(checks.to_array(y_score, "y_score"), "y_score")
    sample, columns = check_sample(
        y_true, y_score, pos_label=pos_label, cluster=cluster, sample_weight=sample_weight
    )
    weighting = target_prior(prior, deployment_prior, sample)
    included = (
        np.ones(len(columns), bool) if sample_weight is None else checks.check_weights(sample_weight) > 0
    )
    numbers = _check_folds(folds, method, sample.positive, included)
    inputs = sample, columns[:, 0], weighting, area_estimator, confidence_level
    return compute_interval(IntervalInputs(*inputs, rng=rng, folds=numbers), method)


def compute_interval(inputs: IntervalInputs, method: str) -> Interval:
    """Return the interval, with the method used (at 0 or 1 boundary, but for wilson); warn if unreliable."""
    estimate = float(inputs.fold_areas.mean()) if method == "cross_validation" else inputs.estimate
    at_boundary = min(estimate, 1 - estimate) <= BOUNDARY_TOLERANCE and method != "wilson"
    used = "boundary" if at_boundary else method
    if used == "auto":
        used = choose_method(inputs.n_positive, min(inputs.support, inputs.n_negative))
    low, high = map(float, _LIMITS[used](inputs))
    warning = _warning_text(inputs, method, used)
    checks.warn_each([warning] if warning else [])
    if used == "small_sample":
        used = "clopper_pearson" if inputs.effective_size < MIN_WILSON_TRIALS else "wilson"
    level, words = inputs.confidence_level, inputs.weighting.describe()
    return Interval(estimate, low, high, level, used, warning, inputs.area_estimator, words)


def choose_method(n_positive: float, support: float) -> str:
    """Return the method of ``auto``: "jackknife" from 30 positives and support 50 on, else "small_sample"."""
    enough = n_positive >= MIN_POSITIVES_FOR_INTERVALS and is_sufficient(support, MIN_FOR_JACKKNIFE)
    return "jackknife" if enough else "small_sample"


def _check_folds(folds: ArrayLike | None, method: str, positive: Bools, included: Bools) -> Codes | None:
    """Return included cases' folds from 0, None for None; raise if unfit for `method` or lacking a class."""
    if (folds is None) != (method != "cross_validation"):
        other = "uses no `folds`; leave them out, or state method='cross_validation'"
        problem = "needs `folds`, one for each case" if folds is None else other
        raise InputError(f"method={method!r} {problem}")
    if folds is None:
        return None
    names, codes = number_groups(folds, "folds", included, remedy="leave `folds` and `method` out")
    codes = codes[included]
    counts = np.array([np.bincount(codes[rows], minlength=len(names)) for rows in (positive, ~positive)])
    lacking = names[(counts == 0).any(axis=0)]
    if len(lacking):
        examples = ", ".join(map(str, lacking[:5]))
        raise InputError(
            f"`folds` must each hold both classes, but a class is missing in {examples}; stratify "
            "them, or leave `folds` and `method` out"
        )
    return codes


def _warning_text(inputs: IntervalInputs, method: str, used: str) -> str | None:
    """Return why the interval by the method `used` is exact, wide or too short, or None if it is reliable."""
    support, size = inputs.support, inputs.effective_size
    text = f"m/lam = {support:.3g} (negatives over skew, at {inputs.weighting.describe()})"
    if used == "boundary":
        return (
            "the estimate is at its limit, where no method has a standard error: the limits are exact ones "
            f"for min(n, m/lam) = {size:.4g} trials, with {text}; check that the scores are held out"
        )
    if used == "small_sample":
        few_negatives = not is_sufficient(min(support, inputs.n_negative), MIN_FOR_JACKKNIFE)
        few_positives = inputs.n_positive < MIN_POSITIVES_FOR_INTERVALS
        lacking = " and ".join(["negatives"] * few_negatives + ["positives"] * few_positives)
        reason = f"{inputs.n_negative:.4g} negatives are fewer than {MIN_FOR_JACKKNIFE}"
        if not is_sufficient(support, MIN_FOR_JACKKNIFE):
            reason = f"{text} is below {MIN_FOR_JACKKNIFE}"
        elif few_positives:
            reason = f"{inputs.n_positive:.4g} positives are fewer than {MIN_POSITIVES_FOR_INTERVALS}"
        name = "Clopper and Pearson's" if size < MIN_WILSON_TRIALS else "Wilson's"
        interval = f"the interval is {name} with min(n, m/lam) = {size:.4g} trials, wide on purpose"
        return f"{reason}: {interval}; add {lacking}{' in further clusters' * inputs.sample.clustered}"
    if method in _BY_TRIALS and not is_sufficient(support, inputs.n_positive):
        return (
            f"{text} is below the {inputs.n_positive:.4g} positives: the prior is rarer than the sample's, "
            f"and {method} with the positives as trials is too short; use method='auto' (--method auto)"
        )
    enough = MIN_FOR_JACKKNIFE if method == "jackknife" else MIN_NEGATIVES_FOR_INTERVALS
    if method in _BY_SPREAD and not is_sufficient(support, enough):
        rest = " without `folds`" * (method == "cross_validation")
        return (
            f"{text} is below {enough:g}, where {method} tends to be too short; add negatives, or "
            f"use method='auto' (--method auto){rest}"
        )
    return None


def _jackknife_limits(inputs: IntervalInputs) -> tuple[Floats, Floats]:
    """Return 0-d limits by t and jackknife error on logits, half a case of 0, 1 added; nan if error is."""
    spread = None if inputs.precomputed is None else inputs.precomputed[1:]
    std_error, df = spread or inputs.sample.estimate_errors(inputs.jackknife_values)
    options = {"level": inputs.confidence_level, "size": inputs.effective_size}
    return logit_interval(inputs.estimate, std_error, df=df, **options)


def _bca_limits(inputs: IntervalInputs) -> Floats:
    """Return both BCa quantiles of the bootstrap areas, accelerated by the jackknife."""
    acceleration = bca_acceleration(inputs.sample.deviations(inputs.jackknife_values))
    return bca_limits(inputs.estimate, inputs.bootstrap_areas, acceleration, inputs.confidence_level)


_LIMITS: dict[str, Callable[[IntervalInputs], Iterable[Any]]] = {
    "jackknife": _jackknife_limits,
    "wilson": lambda q: wilson_limits(q.estimate, q.n_positive, q.confidence_level),
    "small_sample": lambda q: small_sample_limits(q.estimate, q.effective_size, q.confidence_level),
    "binomial": lambda q: binomial_limits(q.estimate, q.n_positive, q.confidence_level),
    "logit": lambda q: logit_limits(q.estimate, q.n_positive, q.confidence_level),
    "bootstrap": lambda q: percentile_limits(q.bootstrap_areas, q.confidence_level),
    "bca": _bca_limits,
    "cross_validation": lambda q: t_limits(q.fold_areas, q.confidence_level),
    "boundary": lambda q: boundary_limits(q.estimate, q.effective_size, q.confidence_level),
}


#: Methods that count the positives as trials, and those that estimate a standard error.
_BY_TRIALS = ("wilson", "binomial", "logit")


_BY_SPREAD = ("jackknife", "bootstrap", "bca", "cross_validation")


INTERVAL_COLUMNS = (
    "model", "level", "fold", "estimate", "conf_low", "conf_high", "confidence_level", "method", "warning"
)  # fmt: skip


#: Levels of a row: one fold, or the cases of all folds pooled.
FOLD, POOLED = "fold", "pooled"


def interval_table(
    scores: object,
    *,
    prior: float | None = None,
    deployment_prior: DeploymentPrior | tuple[float, float] | None = None,
    method: str = "auto",
    confidence_level: float = 0.95,
    area_estimator: str = "trapezoid",
    rng: Seed = 0,
) -> pd.DataFrame:
    """Tabulate confidence intervals for every model in every fold, and over the cases of disjoint folds.

    Parameters
    ----------
    scores : ScoreTable, path or frame
        Held-out scores, as for :func:`~skewanova.read_scores`; one model or one fold is enough.
    prior, deployment_prior, method, confidence_level, area_estimator, rng
        As for :func:`~skewanova.confidence_interval`, but without the method ``cross_validation``.

    Returns
    -------
    DataFrame
        Columns model, level ("fold"), fold, estimate, conf_low, conf_high, confidence_level, method, warning.
        If each named case is in one of several folds, a model has one more row, "pooled", without fold. It
        ranks the scores of all folds jointly, as if they came from one model.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores` and :func:`~skewanova.confidence_interval`.

    Examples
    --------
    >>> import skewanova as sa
    >>> table = sa.inference.interval_table(sa.load_satellite_scores(), prior=0.2)
    >>> len(table), table.loc[0, ["estimate", "conf_low", "conf_high"]].astype(float).round(2).tolist()
    (60, [0.84, 0.8, 0.87])
    """
    checks.check_choice(method, TABLE_INTERVALS, "method")
    table = read_in_memory(scores)
    cells = table.frame.groupby(["model", "fold"], sort=True, observed=True)
    groups: list[tuple[str, str, object, pd.DataFrame]] = [
        (model, FOLD, fold, cells.get_group((model, fold))) for model, fold in table.cells
    ]
    if len(table.folds) > 1 and table.has_cases and infer_design(table).kind == "kfold":
        for model in table.models:
            groups.append((model, POOLED, pd.NA, pd.concat([rows for m, *_, rows in groups if m == model])))
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)  # rows hold them; sent once below
        for model, what, fold, cases in groups:
            if "cluster" in cases and len(clusters := cases["cluster"].unique().tolist()) < 2:
                raise InputError(
                    f"an interval needs at least 2 clusters, but all cases of model {model!r} in fold "
                    f"{fold!r} are in {clusters[0]!r}; leave out the column of clusters to count cases"
                )
            interval = confidence_interval(
                cases["y_true"].to_numpy(),
                cases["y_score"].to_numpy(),
                cluster=cases["cluster"].cat.codes.to_numpy() if "cluster" in cases else None,
                sample_weight=cases["weight"].to_numpy() if "weight" in cases else None,
                prior=prior,
                deployment_prior=deployment_prior,
                method=method,
                confidence_level=confidence_level,
                area_estimator=area_estimator,
                rng=rng,
            )
            cell = {"model": model, "level": what, "fold": fold, "warning": interval.warning or ""}
            rows.append(vars(interval) | cell)
    frame = pd.DataFrame(rows)[list(INTERVAL_COLUMNS)]
    frame["fold"] = frame["fold"].convert_dtypes()  # nullable, of the dtype of the folds
    checks.warn_each(shorten_notes(text for text in frame["warning"] if text))
    return frame
