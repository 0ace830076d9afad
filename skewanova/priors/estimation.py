"""Estimation of the deployment prior from unlabelled scores under label shift."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import PchipInterpolator
from scipy.special import expit, logit
from scipy.stats import chi2

from skewanova.base import checks
from skewanova.base.checks import MISSING_TEXT, Floats, InputError, Seed
from skewanova.base.frames import FrameResult, make_frame
from skewanova.base.text import write_p
from skewanova.priors import batches, mixtures
from skewanova.priors.mixtures import AUDIT_RANGE, AuditedStrata, BinCounts, BinnedScores, ClassFit, Peak
from skewanova.priors.quadrature import normalise_weights, panel_nodes
from skewanova.priors.weightings import BetaPrior

if TYPE_CHECKING:
    import pandas as pd

#: Bootstrap samples at each limit, and most updates of a limit to its own quantile.
N_RESAMPLES, MAX_UPDATES = 999, 3


#: Level of the interval to which the density is truncated, and the size of its grid.
DENSITY_LEVEL, N_PLACES = 0.999, 41


#: Fewest labelled cases of a class; with fewer, a warning is issued and no further batch is predicted.
MIN_LABELLED = 2 * mixtures.CASES_PER_BIN


#: Default shift of the scores of a class, in standard deviations, for the sensitivity analysis.
DEFAULT_SHIFT = 0.1


#: Level of the test of label shift.
SHIFT_LEVEL = 0.05


TO_CHECK = "to check it, label some 50 of the unlabelled cases, drawn at random, and count the positives"


@dataclass(frozen=True, eq=False)
class LabelShift:
    """Test of label shift: each class has the same score distribution in labelled and deployment data.

    Attributes
    ----------
    statistic, df, p_value : float, int, float
        Likelihood-ratio statistic G2 of the fitted mixture against the saturated model, the number of bins
        less 2 (with 0 there is no test), and the p-value by chi2 (nan without a test). The test has little
        power, so a large p-value proves nothing.
    residuals : array
        Pearson residuals of the unlabelled cases by bin.
    """

    statistic: float
    df: int
    p_value: float
    residuals: Floats = field(repr=False)

    @property
    def is_rejected(self) -> bool:
        """True if label shift is rejected at the level .05."""
        return self.p_value < SHIFT_LEVEL

    @property
    def note(self) -> str:
        """Sentence that label shift is rejected, if it is; else ''."""
        if not self.is_rejected:
            return ""
        return (
            f"label shift is rejected ({write_p(self.p_value)}): the unlabelled scores are not a mixture of "
            f"the labelled classes, and the estimate may be far off; {TO_CHECK}"
        )

    def __str__(self) -> str:
        """Return one line, "label shift: G2 = 5.10 on 6 df, p = 0.53", or that two bins allow no test."""
        if self.df == 0:
            return "label shift: not tested (two bins fit any mixture)"
        return f"label shift: G2 = {self.statistic:.2f} on {self.df} df, {write_p(self.p_value)}"


@dataclass(frozen=True, eq=False, kw_only=True)
class EstimatedPrior(FrameResult):
    """A prior with its likelihood over the log-odds, usable as a deployment prior."""

    estimate: float  #: likeliest prior
    conf_low: float  #: lower confidence limit; 0 if the data do not exclude it
    conf_high: float  #: upper confidence limit; 1 if the data do not exclude it
    confidence_level: float
    log_odds: Floats = field(repr=False)  #: grid of log-odds
    log_density: Floats = field(repr=False)  #: log of the density relative to its maximum

    @property
    def low(self) -> float:
        """Smallest prior with weight, the first of the grid of log-odds."""
        return float(expit(self.log_odds[0]))

    @property
    def high(self) -> float:
        """Largest prior with weight, the last of the grid of log-odds."""
        return float(expit(self.log_odds[-1]))

    def quadrature(self, breaks: Iterable[float] = ()) -> tuple[Floats, Floats]:
        """Return ascending priors, and weights summing to 1, of the density exp(log_density) of log-odds."""
        nodes, step = panel_nodes(np.asarray(expit(self.log_odds[::2])), breaks)
        return nodes, normalise_weights(step * np.exp(self._curve(-np.log(1 / nodes - 1))))

    @cached_property
    def _curve(self) -> PchipInterpolator:
        """Interpolating function from log-odds to the log density, which extrapolates by default."""
        return PchipInterpolator(self.log_odds, self.log_density)

    def density(self, prior: ArrayLike) -> Floats:
        """Return exp(log_density) at each prior, 1 at its maximum and 0 outside the grid of log-odds."""
        height = self._curve(logit(np.asarray(prior, dtype=np.float64)), extrapolate=False)
        return np.where(np.isnan(height), 0.0, np.exp(height))

    def central_interval(self, share: float) -> tuple[float, float]:
        """Return two priors with this share of the weight between, and equal parts beyond either."""
        tail = (1 - checks.check_fraction(share, "share")) / 2
        priors, weights = self.quadrature()
        below = np.cumsum(weights) - weights / 2
        return float(np.interp(tail, below, priors)), float(np.interp(1 - tail, below, priors))

    def to_beta(self) -> BetaPrior:
        """Return the beta distribution with the same mean and variance of the prior."""
        priors, weights = self.quadrature()
        mean = float(weights @ priors)
        size = mean * (1 - mean) / float(weights @ (priors - mean) ** 2) - 1
        return BetaPrior(mean * size, (1 - mean) * size)

    def __str__(self) -> str:
        """Return the estimate with its interval, "0.06 (95 % 0 to 0.123)"."""
        limits = f"{self.conf_low:.3g} to {self.conf_high:.3g}"
        return f"{self.estimate:.3g} ({100 * self.confidence_level:g} % {limits})"


@dataclass(frozen=True, eq=False, kw_only=True)
class PriorEstimate(EstimatedPrior):
    """A prior estimated from unlabelled scores, usable as a deployment prior.

    Attributes
    ----------
    estimate, conf_low, conf_high, confidence_level : float
        Likeliest prior, its confidence interval (0 or 1 if the data do not exclude it), and the level.
    label_shift : LabelShift
        Test of the assumption of label shift, with residuals by bin.
    method : {"chi2", "bootstrap", "batches", "audited"}
        Reference distribution of the likelihood ratio, or ``batches`` for a prediction from batches, or
        ``audited`` for an estimate by audited labels, without label shift.
    bins : BinnedScores
        Bins of the scores with their counts.
    ratio_scale : tuple of float
        Critical values of the likelihood ratio below and above the estimate, divided by that of chi2.
    warnings : tuple of str
        Warnings about the estimate.
    batches : tuple of (str, PriorEstimate)
        Separate estimate of every batch. With at least four batches and 20 labelled cases of each class,
        `estimate` and its interval are about the median batch, and the deployment prior is the distribution
        of the prior of a further batch.
    """

    label_shift: LabelShift
    method: str
    bins: BinnedScores = field(repr=False)
    fit: ClassFit = field(repr=False)
    ratio_scale: tuple[float, float] = field(default=(1.0, 1.0), repr=False)
    warnings: tuple[str, ...] = field(default=(), repr=False)
    batches: tuple[tuple[str, PriorEstimate], ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.describe()}"

    @property
    def n_unlabelled(self) -> int:
        """Number of unlabelled scores."""
        return int(self.bins.counts.unlabelled.sum())

    def describe(self) -> str:
        """Return a phrase: source, any doubt, estimate and interval or, of batches, a further one's 95 %."""
        scores = f"{self.n_unlabelled:,} unlabelled score{'s' * (self.n_unlabelled > 1)}"
        if self.method == "audited":
            return f"the prior estimated from audited labels among {scores}: {self}"
        if self.method == "batches":
            low, high = self.central_interval(0.95)
            return (
                f"the prior of a further batch, predicted from {len(self.batches)} batches of together "
                f"{scores}{caveat_phrase(self.caveats)}: 95 % {low:.3g} to {high:.3g}"
            )
        return f"the prior estimated from {scores}{caveat_phrase(self.caveats)}: {self}"

    def sensitivity(self, delta: float = DEFAULT_SHIFT) -> tuple[float, float]:
        """Return the range of `estimate` and of the estimates by all scores if one class shifts by `delta`.

        Parameters
        ----------
        delta : float, default 0.1
            Shift of the scores of one class at a time between labelled cases and deployment, in either
            direction, in standard deviations of the normal scores of that class, from 0 to 10.
        """
        by = checks.check_not_negative(delta, "delta", what="standard deviations, 0 or more", largest=10.0)
        shifts = [{side: sign * by} for side in ("positive", "negative") for sign in (-1, 1)]
        shifted = [self.bins.shift_classes(**shift) for shift in shifts]
        counts = BinCounts(*(np.stack(parts) for parts in zip(*shifted, strict=True)))
        estimates = [*mixtures.find_likeliest_prior(counts), self.estimate]
        return float(min(estimates)), float(max(estimates))

    def half_range(self) -> tuple[float, float]:
        """Return the range of the estimate if positives in deployment score like one half of those labelled.

        These are the least and the largest of the estimates by the half with higher, by that with lower
        scores, and `estimate`. No test on unlabelled scores tells that positives became easier or harder to
        recognise. Label about 50 cases of the deployment at random, and pass them as `audited`.
        """
        counts = self.bins.counts
        n_below = np.cumsum(counts.positive)
        lower = np.diff(np.minimum(n_below, n_below[-1] / 2), prepend=0.0)
        halves = counts._replace(positive=np.stack([lower, counts.positive - lower]))
        estimates = [*mixtures.find_likeliest_prior(halves), self.estimate]
        return float(min(estimates)), float(max(estimates))

    @property
    def caveats(self) -> tuple[str, ...]:
        """Sentences that label shift is rejected or `sensitivity` wider than the interval; () if audited."""
        if self.method == "audited":
            return ()
        low, high = self.sensitivity()
        wide = high - low > self.conf_high - self.conf_low
        band = (
            f"if the scores of one class shift by {DEFAULT_SHIFT:g} standard deviations in deployment, the "
            f"estimate is {low:.3g} to {high:.3g}, which is wider than its interval, and the test of label "
            "shift may not detect it"
        )
        return tuple(filter(None, [self.label_shift.note, band * wide]))

    def to_frame(self) -> pd.DataFrame:
        """Return a row for the estimate (`batch` is '') and for each batch.

        Columns batch, estimate, conf_low, conf_high, n_positive, n_negative, n_unlabelled, n_bins, auc,
        statistic, df, p_value (of label shift), method.
        """
        return make_frame([self._to_row(), *(batch._to_row(name) for name, batch in self.batches)])

    def bins_frame(self) -> pd.DataFrame:
        """Return one row a bin, from the lowest scores.

        Columns bin, score_high (last nan), n_positive, n_negative, n_unlabelled, expected (unlabelled at
        `estimate`), residual.
        """
        expected = self.n_unlabelled * self.fit.mixture(np.asarray(self.estimate))
        edges = np.append(self.bins.edges.astype(np.float64), np.nan)
        counts = {f"n_{name}": part.astype(int) for name, part in self.bins.counts._asdict().items()}
        columns = {"bin": np.arange(1, len(edges) + 1), "score_high": edges, **counts, "expected": expected}
        return make_frame({**columns, "residual": self.label_shift.residuals})

    def _to_row(self, name: str = "") -> dict[str, Any]:
        """Return the row of `to_frame` by column; `name` is the batch."""
        counts, shift = self.bins.counts, self.label_shift
        sizes = {f"n_{name}": int(part.sum()) for name, part in counts._asdict().items()}
        interval = {"estimate": self.estimate, "conf_low": self.conf_low, "conf_high": self.conf_high}
        bins = {"n_bins": len(counts.positive), "auc": mixtures.binned_auc(counts)}
        test = {"statistic": shift.statistic, "df": shift.df, "p_value": shift.p_value}
        return {"batch": name, **interval, **sizes, **bins, **test, "method": self.method}


def estimate_prior(
    y_true: ArrayLike,
    y_score: ArrayLike,
    unlabelled: ArrayLike,
    *,
    pos_label: object = None,
    batch: ArrayLike | None = None,
    audited: ArrayLike | None = None,
    n_bins: int = mixtures.N_BINS,
    confidence_level: float = 0.95,
    rng: Seed = 0,
) -> PriorEstimate:
    """Estimate the deployment prior from unlabelled scores under label shift.

    Label shift means that only the prior differs in deployment: each class has the score distribution of the
    labelled cases. The scores may be on any scale and need not be calibrated. Do not use it if the classes
    themselves change, for instance with new equipment.

    Parameters
    ----------
    y_true : array_like
        Labels of the labelled cases.
    y_score : array_like
        Held-out scores of the labelled cases.
    unlabelled : array_like
        Scores of the same model in deployment.
    pos_label : optional
        Label of the positive class, if the labels are not 0 and 1.
    batch : array_like, optional
        Batch (week, site) of each unlabelled score. From four batches and 20 labelled cases of each class on,
        the result is the distribution of the prior of a further batch.
    audited : array_like, optional
        Labels (0 or 1) of those of the unlabelled cases that were drawn at random and labelled later; nan for
        the others. The estimate is then theirs, stratified by score, and needs no label shift.
    n_bins : int, default 8
        Number of bins of the score, at quantiles of `y_score`. It is reduced for ties, and to ten cases of
        the rarer class in each bin on average.
    confidence_level : float, default 0.95
        Level of the interval.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the bootstrap.

    Returns
    -------
    PriorEstimate
        Estimate, interval and test of label shift. It is a deployment prior too.

    Raises
    ------
    ValueError, TypeError
        If a class is missing, all labelled scores are equal, unlabelled and labelled scores do not overlap,
        fewer than 10 cases are audited, or both `audited` and `batch` are given; TypeError if scores are not
        real numbers.

    Warns
    -----
    SkewanovaWarning
        If label shift is rejected or cannot be tested, the classes are hardly or completely separated, there
        are few cases, or many unlabelled scores are beyond the labelled ones.

    Notes
    -----
    The counts by bin are multinomial, with probabilities p for positives, q for negatives and
    ``prior p + (1 - prior) q`` for unlabelled cases. The interval is that of the profile likelihood over p
    and q, so it contains the uncertainty of both samples. The likelihood ratio is compared with chi2 on one
    degree of freedom or, with few positives or an area under ROC below .75, with its parametric bootstrap at
    each limit. See Saerens et al. (2002), Lipton et al. (2018), Garg et al. (2020) and Tasche (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova import estimate_prior
    >>> draw = np.random.default_rng(0).normal
    >>> labels = np.repeat([1, 0], [60, 240])
    >>> labelled = [*draw(1.5, 1, 60), *draw(0, 1, 240)]
    >>> unlabelled = [*draw(1.5, 1, 100), *draw(0, 1, 1900)]
    >>> print(estimate_prior(labels, labelled, unlabelled))
    0.06 (95 % 0 to 0.123)
    """
    positive, score = checks.check_labelled_scores(y_true, y_score, pos_label)
    scores = checks.check_scores(unlabelled, "unlabelled")
    check_overlap(score, scores)
    bins = checks.check_count(n_bins, "n_bins", minimum=2)
    level = checks.check_fraction(confidence_level, "confidence_level")
    estimate = estimate_from_bins(mixtures.bin_scores(positive, score, scores, bins), level, rng=rng)
    if audited is not None:
        if batch is not None:
            raise InputError("`audited` is for all unlabelled scores together; leave out `batch`")
        estimate = _estimate_from_audit(estimate, AuditedStrata.from_scores(scores, audited))
        return replace(estimate, warnings=checks.warn_each(estimate.warnings))
    if batch is not None:
        names = checks.check_vector(checks.to_array(batch, "batch"), "batch").astype(str)
        checks.check_same_length(unlabelled=scores, batch=names)
        if (unnamed := np.flatnonzero(np.isin(np.char.lower(names), list(MISSING_TEXT)))).size:
            bad = f"row {unnamed[0]} has {str(names[unnamed[0]])!r}, which means none; name it"
            raise InputError(f"`batch` must name a batch for every score, but {bad}")
        estimate = add_batches(estimate, count_by_batch(names, scores, estimate.bins.edges), rng=rng)
    return replace(
        estimate, warnings=checks.warn_each([*note_scores_beyond(score, scores), *estimate.warnings])
    )


def count_by_batch(names: NDArray[Any], scores: NDArray[Any], edges: NDArray[Any]) -> dict[str, Floats]:
    """Return the counts by bin (n_bins,) of the scores of each batch, in order of first appearance."""
    distinct, first, codes = np.unique(names, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return {str(distinct[i]): mixtures.count_by_bin(scores[codes.reshape(-1) == i], edges) for i in order}


def add_batches(estimate: PriorEstimate, counts: dict[str, Floats], *, rng: Seed = 0) -> PriorEstimate:
    """Return `estimate` with `batches`, and median's and further batch's prior or, if few, a stored note."""
    level, bins = estimate.confidence_level, estimate.bins
    each = tuple(
        (name, estimate_from_bins(replace(bins, counts=bins.counts._replace(unlabelled=row)), level, rng=rng))
        for name, row in counts.items()
    )
    if note := _note_unpredicted(len(each), bins.counts):
        return replace(estimate, batches=each, warnings=(*estimate.warnings, note))
    prediction = batches.predict_batch(bins.counts._replace(unlabelled=np.stack([*counts.values()])))
    shares = (1 - level) / 2, 0.5, (1 + level) / 2
    centres = batches.density_quantile(prediction.centres, prediction.likelihood, shares)
    names = ("conf_low", "estimate", "conf_high", "log_odds", "log_density")
    values = (*expit(centres).tolist(), *_truncate_density(prediction, bins.counts))
    changes: dict[str, Any] = dict(zip(names, values, strict=True))
    return replace(estimate, **changes, method="batches", batches=each)


def _note_unpredicted(n_batches: int, counts: BinCounts) -> str:
    """Return a sentence that says why no further batch is predicted, or '' if one is."""
    if n_batches < batches.MIN_BATCHES:
        reason = f"{n_batches} batches are too few ({batches.MIN_BATCHES} are needed)"
    elif min(counts.totals[:2]) < MIN_LABELLED:  # the classes would be estimated from the batches
        reason = f"fewer than {MIN_LABELLED} labelled positives or negatives are too few"
    else:
        return ""
    return (
        f"{reason} to estimate how the prior varies between batches: the interval is that of the pooled ones"
    )


def _truncate_density(prediction: batches.BatchPrediction, counts: BinCounts) -> tuple[Floats, Floats]:
    """Return N_PLACES log-odds over DENSITY_LEVEL of a further batch, and log density less its maximum."""
    tails = (1 - DENSITY_LEVEL) / 2, (1 + DENSITY_LEVEL) / 2
    reached = batches.density_quantile(prediction.log_odds, prediction.density, tails)
    inside = np.clip(reached, *mixtures.log_odds_range(counts.totals[2]))
    beyond = np.ptp(inside) < 0.01 * np.ptp(reached)  # hardly any of it would be left
    low, high = (reached if beyond else inside).tolist()
    log_odds = np.linspace(low, high, N_PLACES)
    height = np.interp(log_odds, prediction.log_odds, prediction.density)
    return log_odds, np.log(height / height.max())


def _estimate_from_audit(estimate: PriorEstimate, strata: AuditedStrata) -> PriorEstimate:
    """Return the estimate by audited labels; it warns only if they exclude the estimate under label shift."""
    smoothed, observed = strata.add_half_cases(), strata.estimate
    critical, widest = (float(chi2.ppf(level, 1)) for level in (estimate.confidence_level, DENSITY_LEVEL))
    low, high = smoothed.interval_limits(critical)
    ends = logit(np.clip(smoothed.interval_limits(widest), *AUDIT_RANGE)).tolist()
    log_odds = np.linspace(ends[0], ends[1], N_PLACES)
    ratio = np.array([smoothed.likelihood_ratio(float(prior)) for prior in expit(log_odds)])
    agrees = smoothed.likelihood_ratio(float(np.clip(estimate.estimate, *AUDIT_RANGE))) <= critical
    note = (
        f"the audited labels exclude the estimate under label shift, {estimate.estimate:.3g}: the scores of "
        "a class are distributed differently in deployment, so use the estimate by audited labels"
    )
    return replace(
        estimate,
        estimate=observed,
        conf_low=low if observed > 0 else 0.0,
        conf_high=high if observed < 1 else 1.0,
        log_odds=log_odds,
        log_density=-ratio / 2,
        method="audited",
        warnings=() if agrees else (note,),
    )


def check_overlap(score: NDArray[Any], unlabelled: NDArray[Any]) -> None:
    """Raise unless the ranges of unlabelled and labelled scores overlap."""
    if unlabelled.max() < score.min() or unlabelled.min() > score.max():
        raise InputError(
            f"`unlabelled` must be scores of the same model, but they are between {unlabelled.min():g} and "
            f"{unlabelled.max():g}, and the labelled ones between {score.min():g} and {score.max():g}; give "
            "both on one scale or, if they are, more cases"
        )


def note_scores_beyond(score: NDArray[Any], unlabelled: NDArray[Any]) -> list[str]:
    """Return a note in a list if over max(1 %, 10 / len(score)) of `unlabelled` are beyond `score`, or []."""
    share = float(((unlabelled < score.min()) | (unlabelled > score.max())).mean())
    if share <= max(0.01, 10 / len(score)):
        return []
    return [
        f"{share:.0%} of the unlabelled scores are beyond the labelled ones: the deployment may have cases "
        "of another kind, so label some 50 of the unlabelled cases, drawn at random, and pass the labels to "
        "skewanova.estimate_prior(..., audited=labels)"
    ]


def estimate_from_bins(bins: BinnedScores, level: float, *, rng: Seed = 0) -> PriorEstimate:
    """Return the prior with interval and test of label shift; its warnings are stored, not issued."""
    counts = bins.counts
    peak = mixtures.find_peak(counts)
    prior = np.asarray(expit(peak.log_odds))
    fit = mixtures.fit_classes(counts, prior)
    weak = is_chi2_too_small(counts)
    usual = np.asarray(chi2.ppf(level, 1))
    critical = _calibrate_critical_values(peak, level, checks.make_generator(rng)) if weak else (usual, usual)
    low, high = mixtures.interval_limits(peak, critical)
    ratio_scale = float(critical[0] / usual), float(critical[1] / usual)
    log_odds, log_density = _likelihood_density(peak, ratio_scale)
    result = PriorEstimate(
        estimate=float(mixtures.find_likeliest_prior(counts)),
        conf_low=float(expit(low)),
        conf_high=float(expit(high)),
        confidence_level=level,
        label_shift=_test_label_shift(counts, fit, prior),
        method="bootstrap" if weak else "chi2",
        bins=bins,
        fit=fit,
        ratio_scale=ratio_scale,
        log_odds=log_odds,
        log_density=log_density,
    )
    return replace(result, warnings=tuple(_collect_warnings(result)))


def is_chi2_too_small(counts: BinCounts) -> bool:
    """Return True if the rarer class has under 10 labelled cases per bin, or the AUC is within .25 of .5."""
    positive, negative, _ = counts.totals
    few = min(positive, negative) < mixtures.CASES_PER_BIN * len(counts.positive)
    return bool(few or abs(mixtures.binned_auc(counts) - 0.5) < 0.25)


def _calibrate_critical_values(peak: Peak, level: float, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return bootstrap critical values, at least chi2's, of the likelihood ratio at lower and upper limit."""
    seeds = rng.bit_generator.seed_seq.spawn(1)[0]  # type: ignore[attr-defined]
    draw = partial(mixtures.bootstrap_critical_value, peak.counts, level=level, n_resamples=N_RESAMPLES)
    ends = mixtures.log_odds_range(peak.counts.totals[2])
    critical = [np.asarray(chi2.ppf(level, 1))] * 2
    for _ in range(MAX_UPDATES):
        limits = np.clip(mixtures.interval_limits(peak, (critical[0], critical[1])), *ends)
        updated = [draw(limit, rng=np.random.default_rng(seeds)) for limit in limits]
        settled = all(abs(new - old) < 0.01 * old for new, old in zip(updated, critical, strict=True))
        critical = [np.maximum(new, old) for new, old in zip(updated, critical, strict=True)]
        if settled:
            break
    return critical[0], critical[1]


def _likelihood_density(peak: Peak, ratio_scale: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return N_PLACES log-odds in the interval of DENSITY_LEVEL, and scaled log-likelihood less its peak."""
    below, above = chi2.ppf(DENSITY_LEVEL, 1) * np.array(ratio_scale)
    reached = mixtures.interval_limits(peak, (below, above))
    low, high = np.clip(reached, *mixtures.log_odds_range(peak.counts.totals[2])).tolist()
    log_odds = np.linspace(low, high, N_PLACES)
    return log_odds, -_scaled_ratio(peak, ratio_scale, log_odds) / 2


def caveat_phrase(caveats: Sequence[str]) -> str:
    """Return ', in doubt (see the warnings)' if there are caveats, else ''."""
    return ", in doubt (see the warnings)" if caveats else ""


def likelihood_ratio(estimate: PriorEstimate, log_odds: Floats) -> Floats:
    """Return twice the fall from the bins' peak log-likelihood at `log_odds`, divided by `ratio_scale`."""
    return _scaled_ratio(mixtures.find_peak(estimate.bins.counts), estimate.ratio_scale, log_odds)


def _scaled_ratio(peak: Peak, ratio_scale: tuple[float, float], log_odds: Floats) -> Floats:
    """Return twice the fall of the log-likelihood from its peak, divided by the scale below or above it."""
    fall = mixtures.likelihood_ratio_statistic(peak.counts.add_axis(), log_odds, peak.height)
    return np.asarray(fall / np.where(log_odds < peak.log_odds, *ratio_scale))


def _test_label_shift(counts: BinCounts, fit: ClassFit, prior: Floats) -> LabelShift:
    """Return the G2 test of the fit at `prior` (p nan for two bins), with Pearson residuals by bin."""
    df = counts.positive.shape[-1] - 2
    statistic = float(mixtures.g2_statistic(counts, fit, prior)) if df else 0.0
    expected = counts.totals[2] * fit.mixture(prior)
    beyond = counts.unlabelled - expected
    residuals = np.divide(beyond, np.sqrt(expected), out=np.zeros_like(beyond), where=expected > 0)
    return LabelShift(statistic, df, float(chi2.sf(statistic, df)) if df else np.nan, residuals)


def _collect_warnings(estimate: PriorEstimate) -> list[str]:
    """Return texts on poor, reversed or full separation, few data, label shift not tested or rejected."""
    positive, negative, _ = (int(total) for total in estimate.bins.counts.totals)
    shift = estimate.label_shift
    area, spread = mixtures.binned_auc(estimate.bins.counts), (estimate.conf_low, estimate.conf_high)
    applies = {
        f"the scores rank negatives above positives (area under ROC {area:.2f}): check that the labels are "
        "not swapped": area < 0.5,
        f"the scores hardly separate the classes (area under ROC {area:.2f}), so they have little "
        "information about the prior; give those of a better model": abs(area - 0.5) < 0.1,
        "the unlabelled scores have no information about the prior: the interval is 0 to 1; give more "
        "scores, labelled and unlabelled, or those of a better model": spread == (0.0, 1.0),
        "every labelled positive scores above every labelled negative: the estimate assumes the same in "
        "deployment; check that the labelled cases were held out from training": estimate.bins.positive.min()
        > estimate.bins.negative.max(),
        f"{positive} labelled positives and {negative} labelled negatives are few for an estimate of the "
        f"prior; use at least {MIN_LABELLED} of each": min(positive, negative) < MIN_LABELLED,
        f"label shift cannot be tested with two bins; three need {3 * mixtures.CASES_PER_BIN} labelled cases "
        "of each class, scores with few ties, and n_bins=3 (--bins 3) or more": shift.df == 0,
        shift.note: shift.is_rejected,
    }
    return [text for text, holds in applies.items() if holds]
