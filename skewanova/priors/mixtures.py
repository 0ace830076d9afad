"""Profile likelihood of the prior from binned scores, where unlabelled cases are a mixture of both classes.

The counts by bin are multinomial, with probabilities p for positives, q for negatives and
prior p + (1 - prior) q for unlabelled cases. Bins are the last axis of counts; leading axes are samples.

Audited labels estimate the prior without label shift, in strata by score. The share of each stratum in all
cases counts as known, and its labelled cases are binomial.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from skewanova.base.checks import Bools, Floats, InputError, InputTypeError, check_same_length, check_vector

Codes = NDArray[np.intp]


#: Size of the grid of priors on which the maximum of the likelihood is bracketed.
N_GRID = 25


#: Most iterations of a root (about ten are usual), and its tolerance.
MAX_STEPS, TOLERANCE = 60, 1e-11


class BinCounts(NamedTuple):
    """Counts by bin of labelled positives, labelled negatives and unlabelled cases."""

    positive: Floats
    negative: Floats
    unlabelled: Floats

    @property
    def totals(self) -> tuple[Floats, Floats, Floats]:
        """Numbers of positives, negatives and unlabelled cases: the sums over bins, by sample."""
        positive, negative, unlabelled = (np.asarray(part.sum(axis=-1)) for part in self)
        return positive, negative, unlabelled

    @property
    def shape(self) -> tuple[int, ...]:
        """Broadcast shape of the arrays without their last axis, the bins."""
        return np.broadcast_shapes(*(part.shape[:-1] for part in self))

    def add_axis(self) -> Self:
        """Return the counts with an axis of length 1, for several priors, before the bins."""
        return type(self)(*(part[..., None, :] for part in self))


class Peak(NamedTuple):
    """Maximum of the profile likelihood."""

    log_odds: Floats  #: log-odds of the likeliest prior; a limit of the search if that is 0 or 1
    height: Floats  #: log-likelihood there
    counts: BinCounts  #: counts of the samples


class ClassFit(NamedTuple):
    """Likeliest bin probabilities of the two classes at a prior."""

    log_likelihood: Floats
    positive: Floats  #: bin probabilities of positives
    negative: Floats  #: bin probabilities of negatives

    def mixture(self, prior: Floats) -> Floats:
        """Return prior * positive + (1 - prior) * negative, the bin probabilities of unlabelled cases."""
        return mix_classes(self.positive, self.negative, prior)


def fit_classes(counts: BinCounts, prior: Floats) -> ClassFit:
    """Return the likeliest bin probabilities of both classes at given priors, and the log-likelihood."""
    prior = np.broadcast_to(prior, np.broadcast_shapes(counts.shape, np.shape(prior)))
    # The Lagrange multipliers of sum(p) = 1 and sum(q) = 1 are n1 + share N and n0 + (1 - share) N. Given
    # these, the maximum of every bin has a closed form, so only the root in `share` is iterative.
    share = find_roots(partial(_total_excess, counts, prior), np.zeros(prior.shape), np.ones(prior.shape))
    positive, negative = _class_probabilities(counts, prior, share)
    positive /= positive.sum(axis=-1, keepdims=True)
    negative /= negative.sum(axis=-1, keepdims=True)
    height = _multinomial_log_likelihood(counts, (positive, negative, mix_classes(positive, negative, prior)))
    return ClassFit(height, positive, negative)


def _multinomial_log_likelihood(counts: BinCounts, shares: Sequence[Floats]) -> Floats:
    """Return the sum of n log(p) over the bins and over all three samples of `counts`."""
    parts = zip(counts, shares, strict=True)
    return np.asarray(sum(scipy.special.xlogy(n, p).sum(axis=-1) for n, p in parts))


def mix_classes(positive: Floats, negative: Floats, prior: Floats) -> Floats:
    """Return prior * positive + (1 - prior) * negative: bin probabilities (..., n_bins) of the mixture."""
    pi = np.asarray(prior)[..., None]
    return np.asarray(pi * positive + (1 - pi) * negative)


def log_odds_range(n_unlabelled: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest log-odds of the search, a tenth of an unlabelled case from 0 and 1."""
    low = np.asarray(scipy.special.logit(1 / (10.0 * np.maximum(n_unlabelled, 1))))
    return low, -low


def find_peak(counts: BinCounts) -> Peak:
    """Return each sample's likeliest log-odds (a finite limit for prior 0 or 1), and log-likelihood."""
    low, high = (np.broadcast_to(end, counts.shape) for end in log_odds_range(counts.totals[2]))
    places = low[..., None] + np.linspace(0, 1, N_GRID) * (high - low)[..., None]
    best = _index_grid_maximum(counts.add_axis(), places)
    below, above = (np.clip(best + step, 0, N_GRID - 1) for step in (-1, 1))
    left, right = (np.take_along_axis(places, i[..., None], -1)[..., 0] for i in (below, above))
    top = find_roots(partial(_share_excess, counts), left, right)
    return Peak(top, fit_classes(counts, np.asarray(scipy.special.expit(top))).log_likelihood, counts)


def find_likeliest_prior(counts: BinCounts) -> Floats:
    """Return the likeliest prior of each sample, which is 0 or 1 if the peak is at a limit of the search."""
    best = find_peak(counts).log_odds
    low, high = log_odds_range(counts.totals[2])
    return np.asarray(np.where(best <= low, 0.0, np.where(best >= high, 1.0, scipy.special.expit(best))))


def _share_excess(counts: BinCounts, log_odds: Floats) -> Floats:
    """Return negatives' total probability less positives' with share = prior; negative below the peak."""
    prior = np.asarray(scipy.special.expit(log_odds))
    return _total_excess(counts, prior, prior)


def _index_grid_maximum(counts: BinCounts, places: Floats) -> Codes:
    """Return the index in the last axis of `places`, within one of the maximum of the likelihood."""
    falls = _share_excess(counts, places) >= 0
    turns = np.concatenate([falls[..., :1], falls[..., 1:] & ~falls[..., :-1], ~falls[..., -1:]], axis=-1)
    best = np.array(np.minimum(turns.argmax(axis=-1), N_GRID - 1))
    several = turns.sum(axis=-1) > 1
    if several.any():
        chosen = BinCounts(*(part[several] for part in np.broadcast_arrays(*counts)))
        shares = scipy.special.expit(places[several])
        best[several] = fit_classes(chosen, shares).log_likelihood.argmax(axis=-1)
    return best


def likelihood_ratio_statistic(counts: BinCounts, log_odds: Floats, top: Floats) -> Floats:
    """Return twice the fall of the log-likelihood from its maximum `top` at `log_odds`, at least 0."""
    fit = fit_classes(counts, np.asarray(scipy.special.expit(log_odds)))
    return np.maximum(0.0, 2 * (top - fit.log_likelihood))


def profile_slope(counts: BinCounts, prior: Floats) -> Floats:
    """Return the derivative of the profile log-likelihood in the prior, at `prior`, of each sample."""
    fit = fit_classes(counts, prior)
    mixture = fit.mixture(prior)
    change = counts.unlabelled * (fit.positive - fit.negative)
    return np.asarray(np.divide(change, mixture, out=np.zeros_like(mixture), where=mixture > 0).sum(axis=-1))


def interval_limits(peak: Peak, critical: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Return lower and upper log-odds where the ratio statistic is `critical`; -inf or inf if nowhere."""
    low, high = log_odds_range(peak.counts.totals[2])
    return _interval_limit(peak, low, critical[0]), _interval_limit(peak, high, critical[1])


def _interval_limit(peak: Peak, end: Floats, value: Floats) -> Floats:
    """Return the log-odds between peak and `end` where the ratio statistic is `value`; infinite if none."""
    outer = np.broadcast_to(end, peak.counts.shape).astype(np.float64)
    sign = np.sign(outer)

    def signed_excess(log_odds: Floats) -> Floats:
        """Return the ratio statistic less `value`, times the sign of `end`, increasing in the log-odds."""
        return np.asarray(sign * (likelihood_ratio_statistic(peak.counts, log_odds, peak.height) - value))

    low, high = np.minimum(outer, peak.log_odds), np.maximum(outer, peak.log_odds)
    inner = find_roots(signed_excess, low, high, close=1e-7)
    return np.where(sign * signed_excess(outer) > 0, inner, sign * np.inf)


def g2_statistic(counts: BinCounts, fit: ClassFit, prior: Floats) -> Floats:
    """Return G2: twice the log-likelihood of the saturated model less that of the fit at `prior`."""
    observed = [part / part.sum(axis=-1, keepdims=True) for part in counts]
    bound = _multinomial_log_likelihood(counts, (fit.positive, fit.negative, fit.mixture(prior)))
    return np.maximum(0.0, 2 * (_multinomial_log_likelihood(counts, observed) - bound))


def bootstrap_critical_value(
    counts: BinCounts, log_odds: Floats, level: float | Floats, *, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Return the bootstrap quantile at `level` of the likelihood ratio at a prior, at least that of chi2."""
    prior = np.asarray(scipy.special.expit(log_odds))
    fit = fit_classes(counts, prior)
    size = (n_resamples, *prior.shape)
    parts = zip(counts.totals, (fit.positive, fit.negative, fit.mixture(prior)), strict=True)
    drawn = BinCounts(*(rng.multinomial(n.astype(int), p, size=size).astype(float) for n, p in parts))
    log_odds = np.broadcast_to(log_odds, drawn.shape)
    ratios = likelihood_ratio_statistic(drawn, log_odds, find_peak(drawn).height)
    # a new ratio exceeds the i-th of n with probability 1 - i / (n + 1), hence Weibull's quantile
    reached = np.quantile(ratios, level, axis=0, method="weibull")
    return np.asarray(np.maximum(reached, scipy.stats.chi2.ppf(level, 1)))


def _total_excess(counts: BinCounts, prior: Floats, share: Floats) -> Floats:
    """Return the total probability of negatives less that of positives, which increases in `share`."""
    positive, negative = _class_probabilities(counts, prior, share)
    return np.asarray(negative.sum(axis=-1) - positive.sum(axis=-1))


def _class_probabilities(counts: BinCounts, prior: Floats, share: Floats) -> tuple[Floats, Floats]:
    """Return bin probabilities (..., n_bins) of positives and negatives, not normalised, given `share`."""
    # A bin has a labelled and c unlabelled cases. With x = c pi / lambda, A = a pi / lambda for positives and
    # y and B for negatives, the mixture m of the bin is the larger root of
    # (m - x)(m - y) = A (m - y) + B (m - x). It is computed without cancellation.
    of_positive, of_negative, of_unlabelled = counts.totals
    pi = prior[..., None]
    weight = pi / (of_positive + share * of_unlabelled)[..., None]
    other = (1 - pi) / (of_negative + (1 - share) * of_unlabelled)[..., None]
    a, b = weight * counts.positive, other * counts.negative
    gap = (weight - other) * counts.unlabelled + a - b
    size = np.sqrt(gap**2 + 4 * a * b)
    mixture = ((weight + other) * counts.unlabelled + a + b + size) / 2
    large = size + np.abs(gap)
    class_counts = np.where(gap >= 0, b, a)  # the class with the smaller part of the bin
    below = np.maximum(large + 2 * class_counts, np.finfo(np.float64).tiny)
    part = np.where(gap >= 0, large, 2 * class_counts) / below
    return mixture * part / pi, mixture * (1 - part) / (1 - pi)


def find_roots(
    function: Callable[[Floats], Floats], low: Floats, high: Floats, *, close: float = TOLERANCE
) -> Floats:
    """Return roots of an increasing function (x or value within `close`), or the end nearest to it."""
    # the method of Chandrupatla (1997), which scipy has for arrays from 1.15 on only
    new, old = np.array(low, dtype=np.float64), np.array(high, dtype=np.float64)
    at_new, at_old = function(new), function(old)
    fixed, nearest = (at_new >= 0) | (at_old <= 0), np.where(at_new >= 0, new, old)
    step = np.full(new.shape, 0.5)
    for _ in range(MAX_STEPS):
        point = new + step * (old - new)
        value = function(point)
        same = np.sign(value) == np.sign(at_new)
        third, at_third = np.where(same, new, old), np.where(same, at_new, at_old)
        old, at_old = np.where(same, old, new), np.where(same, at_old, at_new)
        new, at_new = point, value
        width = np.abs(old - new)
        if np.all(fixed | (np.abs(at_new) < close) | (width < close)):
            break
        step = _next_step((new, old, third), (at_new, at_old, at_third))
        least = np.minimum(0.5, close / np.maximum(width, close) / 2)
        step = np.clip(step, least, 1 - least)
    return np.where(fixed, nearest, new)


def _next_step(points: tuple[Floats, Floats, Floats], values: tuple[Floats, Floats, Floats]) -> Floats:
    """Return the step from the first point, as a fraction of the way to the second: interpolated or 0.5."""
    (new, old, third), (at_new, at_old, at_third) = points, values
    with np.errstate(divide="ignore", invalid="ignore"):
        position, height = (new - old) / (third - old), (at_new - at_old) / (at_third - at_old)
        bent = at_new / (at_old - at_new) * at_third / (at_old - at_third)
        other = (third - new) / (old - new) * at_new / (at_third - at_new) * at_old / (at_third - at_old)
        usable = (height**2 < position) & ((1 - height) ** 2 < 1 - position) & np.isfinite(bent + other)
        return np.where(usable, bent + other, 0.5)


#: Mean number of labelled cases of the rarer class that a bin should have.
CASES_PER_BIN = 10


#: Default number of bins; few cases have fewer.
N_BINS = 8


@dataclass(frozen=True, eq=False)
class BinnedScores:
    """Labelled and unlabelled scores in common bins."""

    edges: NDArray[Any]  #: largest labelled score of each bin but the last
    counts: BinCounts
    positive: Floats  #: normal scores of the positives, which do not depend on the scale of the scores
    negative: Floats  #: normal scores of the negatives
    normal_edges: Floats  #: edges of the bins on the scale of the normal scores

    def shift_classes(self, *, positive: float = 0.0, negative: float = 0.0) -> BinCounts:
        """Return the counts if normal scores of labelled classes were so many standard deviations higher."""
        shifts = (self.positive, positive), (self.negative, negative)
        labelled = [count_by_bin(scores + by * scores.std(), self.normal_edges) for scores, by in shifts]
        return self.counts._replace(positive=labelled[0], negative=labelled[1])


def binned_auc(counts: BinCounts) -> float:
    """Return the area under the ROC curve of the labelled cases, where those of a bin tie."""
    positive, negative = counts.positive / counts.positive.sum(), counts.negative / counts.negative.sum()
    return float(positive @ (np.cumsum(negative) - negative / 2))


def count_by_bin(scores: NDArray[Any], edges: NDArray[Any]) -> Floats:
    """Return the number of scores in each bin (n_bins,), as floats; a score equal to an edge is below it."""
    return np.bincount(np.searchsorted(edges, scores), minlength=len(edges) + 1).astype(np.float64)


def bin_scores(positive: Bools, score: NDArray[Any], unlabelled: NDArray[Any], n_bins: int) -> BinnedScores:
    """Return the scores in at most `n_bins` common bins, with counts; small classes and ties have fewer."""
    rarer = int(min(positive.sum(), (~positive).sum()))
    edges = bin_edges(score, max(2, min(n_bins, rarer // CASES_PER_BIN)))
    normal = scipy.special.ndtri(scipy.stats.rankdata(score) / (len(score) + 1))
    ranked = normal[np.argsort(score, kind="stable")]
    last = np.searchsorted(np.sort(score), edges, side="right")
    classes = score[positive], score[~positive], unlabelled
    return BinnedScores(
        edges=edges,
        counts=BinCounts(*(count_by_bin(part, edges) for part in classes)),
        positive=normal[positive],
        negative=normal[~positive],
        normal_edges=(ranked[last - 1] + ranked[last]) / 2,  # halfway to the next value
    )


def bin_edges(score: NDArray[Any], n_bins: int) -> NDArray[Any]:
    """Return the largest scores of up to `n_bins` about equal bins but the last; raise if all are equal."""
    ordered = np.sort(score)
    if ordered[0] == ordered[-1]:
        raise InputError(f"`y_score` must not be constant, but is {ordered[0]:g}; use another model")
    places = np.ceil(len(ordered) * np.arange(1, n_bins) / n_bins).astype(int) - 1
    edges = np.unique(ordered[places])
    edges = edges[edges < ordered[-1]]
    return np.asarray(edges if len(edges) else ordered[ordered < ordered[-1]][-1:])


# --- audited labels -----------------------------------------------------------------------------------------


#: Range of priors of the likelihood.
AUDIT_RANGE = (1e-6, 1 - 1e-6)


class AuditedStrata(NamedTuple):
    """Shares of the strata in all cases, and counts of labelled positives and negatives in each."""

    weight: Floats
    positive: Floats
    negative: Floats

    @classmethod
    def from_scores(cls, scores: NDArray[Any], audited: ArrayLike) -> Self:
        """Return up to 5 strata of about as many labels (0, 1; nan, None: none); raise for others or few."""
        rule = (
            f"`audited` must be 0, 1 or nan for each unlabelled score, with at least {CASES_PER_BIN} labels"
        )
        try:
            labels = np.ma.asarray(audited, dtype=np.float64).filled(np.nan)
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"{rule}, but {error}") from error
        check_same_length(unlabelled=scores, audited=check_vector(labels, "audited"))
        positive, labelled = labels == 1, ~np.isnan(labels)
        others = np.setdiff1d(labels[labelled], (0, 1))
        if len(others) or labelled.sum() < CASES_PER_BIN:
            reason = f"the label {others[0]:g}" if len(others) else f"{labelled.sum()}"
            raise InputError(f"{rule}, but has {reason}")
        n_strata = min(int(labelled.sum()) // CASES_PER_BIN, 5)
        edges = np.unique(np.quantile(scores[labelled], np.arange(1, n_strata) / n_strata))
        weight = count_by_bin(scores, edges) / len(scores)
        counts = [count_by_bin(scores[labelled & side], edges) for side in (positive, ~positive)]
        weight, *counts = (part[sum(counts) > 0] for part in (weight, *counts))  # none lie between tied edges
        return cls(weight / weight.sum(), *counts)

    def add_half_cases(self) -> Self:
        """Return the strata with half a case of each class more, shared out by weight."""
        # without these, intervals by few positives cover .87 to .92
        half = self.weight / 2
        return self._replace(positive=self.positive + half, negative=self.negative + half)

    @property
    def estimate(self) -> float:
        """Share of positives in all cases: the mean of their shares in the strata, by `weight`."""
        return float(self.weight @ (self.positive / (self.positive + self.negative)))

    def likelihood_ratio(self, prior: float) -> float:
        """Return twice the fall of the log-likelihood from its maximum at this share of positives."""
        n = self.positive + self.negative

        # the rates solve a / r - c / (1 - r) = m w, with the Lagrange multiplier m
        def find_rates(multiplier: float) -> Floats:
            slope = multiplier * self.weight
            total = n + slope
            root = np.sqrt(np.maximum(total**2 - 4 * slope * self.positive, 0.0))
            with np.errstate(divide="ignore", invalid="ignore"):  # of the two forms, one has no cancellation
                return np.where(total > 0, 2 * self.positive / (total + root), (total - root) / (2 * slope))

        def estimate_less_prior(multiplier: float) -> float:
            return float(self.weight @ find_rates(multiplier)) - prior

        bound = 2 * (n / self.weight).max() / AUDIT_RANGE[0]  # beyond, all rates are below the range
        multiplier = scipy.optimize.brentq(estimate_less_prior, -bound, bound)
        heights = [
            (scipy.special.xlogy(self.positive, rate) + scipy.special.xlogy(self.negative, 1 - rate)).sum()
            for rate in (self.positive / n, find_rates(multiplier))
        ]
        return float(2 * (heights[0] - heights[1]))

    def interval_limits(self, critical: float) -> tuple[float, float]:
        """Return priors below and above the estimate with this likelihood ratio; 0 or 1 if none has it."""

        def ratio_less_critical(prior: float) -> float:
            return self.likelihood_ratio(prior) - critical

        def find_limit(end: float, edge: float) -> float:
            if ratio_less_critical(edge) <= 0:
                return end
            return float(scipy.optimize.brentq(ratio_less_critical, self.estimate, edge))

        return find_limit(0.0, AUDIT_RANGE[0]), find_limit(1.0, AUDIT_RANGE[1])
