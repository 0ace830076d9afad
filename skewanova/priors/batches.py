"""Prior of a further batch from several batches of unlabelled scores, and agreement between models.

The log-odds of the priors of batches are normal, and the two classes are common to all batches. Likelihoods
of single batches share the labelled cases and must not be multiplied. So there is one joint likelihood, in
which the prior of each batch is integrated out by adaptive quadrature and the classes are profiled out.

Agreement between models is tested by a paired bootstrap, which draws cases with the scores of all models.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator
from scipy.linalg import block_diag, cho_factor, cho_solve
from scipy.special import expit, log_expit
from scipy.stats import norm

from skewanova.base.checks import Floats
from skewanova.priors import mixtures
from skewanova.priors.mixtures import BinCounts, ClassFit, Codes
from skewanova.priors.quadrature import gauss_nodes

#: Fewest batches from which the spread between batches is estimated.
MIN_BATCHES = 4


#: Quadrature nodes of each batch; grid sizes of the centre and of the spread.
N_NODES, N_CENTRES, N_SPREADS = 9, 11, 7


#: Grid size of the interpolated likelihood.
N_FINE = 61


#: Most steps to the likeliest classes, and the gain in log-likelihood below which they end.
MAX_STEPS, MIN_GAIN = 100, 1e-3


#: Smallest probability of a bin, so that the log-likelihood stays finite after too long a step.
MIN_PROBABILITY = 1e-300


#: Smallest spread of log-odds, and half-width of the grid of centres in standard errors.
MIN_SPREAD, N_STD_ERRORS = 0.02, 5.0


#: A spread that makes all log-odds about equally likely; trial spreads; fall in log-likelihood beyond which
#: values are negligible.
FLAT_SPREAD, N_TRIAL_SPREADS, NEGLIGIBLE_FALL = 100.0, 101, 15.0


class BatchPrediction(NamedTuple):
    """Distributions of the prior of the median batch and of a further batch."""

    centres: Floats  #: log-odds of the median batch
    likelihood: Floats  #: likelihood of each centre, summing to 1
    log_odds: Floats  #: log-odds of a further batch
    density: Floats  #: density of each log-odds


class BatchNormal(NamedTuple):
    """Normal distribution of the log-odds of batches."""

    centre: float
    spread: float


class RoughLikelihood(NamedTuple):
    """Normal approximation of the log-likelihood, in which all batches share one error of the classes."""

    places: Floats  #: likeliest log-odds of each batch
    errors: Floats  #: their standard errors for known classes
    common: float  #: standard error that all batches share

    def log_likelihood(self, centres: Floats, spreads: Floats) -> Floats:
        """Return the approximate log-likelihood (n_centres, n_spreads), up to a constant."""
        best, mean, error = self._best(spreads)
        return np.asarray(best - 0.5 * (centres[:, None] - mean) ** 2 / (error**2 + self.common**2))

    def spreads(self, most: float) -> tuple[float, float]:
        """Return least and largest trial spread (to MIN_SPREAD + most) within NEGLIGIBLE_FALL of the best."""
        spreads = np.geomspace(MIN_SPREAD, MIN_SPREAD + most, N_TRIAL_SPREADS)
        best, _, _ = self._best(spreads)
        plausible = spreads[best > best.max() - NEGLIGIBLE_FALL]
        return float(plausible[0]), float(plausible[-1])

    def _best(self, spreads: Floats) -> tuple[Floats, Floats, Floats]:
        """Return, by spread, without `common`, the largest log-likelihood, its centre and standard error."""
        variance = spreads[:, None] ** 2 + self.errors**2
        precision = (1 / variance).sum(axis=1)
        mean = (self.places / variance).sum(axis=1) / precision
        best = -0.5 * ((self.places - mean[:, None]) ** 2 / variance + np.log(variance)).sum(axis=1)
        return best, mean, 1 / np.sqrt(precision)


def predict_batch(counts: BinCounts) -> BatchPrediction:
    """Return distributions of log-odds, of median and further batch; `unlabelled` is (n_batches, n_bins)."""
    pooled = BinCounts(counts.positive, counts.negative, counts.unlabelled.sum(axis=0))
    log_odds, error = _fit_log_odds(pooled)
    fit, common = mixtures.fit_classes(pooled, np.asarray(expit(log_odds))), float(error)
    places, errors = _fit_log_odds(BinCounts(pooled.positive[None], pooled.negative[None], counts.unlabelled))
    spread = float(np.std(places)) + float(np.median(errors))
    half_width = N_STD_ERRORS * np.hypot(spread / np.sqrt(len(places)), common)
    middle = float(np.mean(places))
    low, high = mixtures.log_odds_range(pooled.totals[2])
    limits = np.clip([middle - half_width, middle + half_width], low, high).tolist()
    centres = np.linspace(limits[0], limits[1], N_CENTRES)
    rough = RoughLikelihood(*_find_modes(counts, fit, BatchNormal(middle, FLAT_SPREAD)), common)
    least, most = rough.spreads(3 * spread + 0.5)
    spreads = least + (most - least) * np.linspace(0, 1, N_SPREADS) ** 1.5
    height = _likelihood_surface(counts, fit, centres, spreads)
    while (near := _zoom_centres(centres, height)) is not None:
        centres = near
        height = _likelihood_surface(counts, fit, centres, spreads)
    centres, spreads, weight = _interpolate_surface(centres, spreads, height, rough)
    far = N_STD_ERRORS * float(spreads @ weight.sum(axis=0))
    log_odds = np.linspace(centres[0] - far, centres[-1] + far, 801)
    each = norm.pdf(log_odds[:, None, None], centres[:, None], spreads)
    return BatchPrediction(centres, weight.sum(axis=1), log_odds, (each * weight).sum(axis=(1, 2)))


def _likelihood_surface(counts: BinCounts, fit: ClassFit, centres: Floats, spreads: Floats) -> Floats:
    """Return the log-likelihood (n_centres, n_spreads), maximised over the classes' bin probabilities."""
    start = np.log(np.maximum(np.concatenate([fit.positive, fit.negative]), 1e-6))
    normals = [[BatchNormal(centre, spread) for spread in spreads.tolist()] for centre in centres.tolist()]
    return np.array(
        [[_maximise_over_classes(counts, fit, normal, start) for normal in row] for row in normals]
    )


def _zoom_centres(centres: Floats, height: Floats) -> Floats | None:
    """Return as many centres over the likely run about the maximum, or None if it spans half of the grid."""
    best = height.max(axis=1)
    likely = np.flatnonzero(best > best.max() - NEGLIGIBLE_FALL)
    top = int(best.argmax())
    gaps = np.diff(likely) > 1  # a second maximum belongs to another solution for the classes
    run = next(part for part in np.split(likely, np.flatnonzero(gaps) + 1) if top in part)
    first, last = max(run[0] - 1, 0), min(run[-1] + 1, len(centres) - 1)
    if 2 * (last - first) > len(centres):
        return None
    return np.linspace(centres[first], centres[last], len(centres))


def _interpolate_surface(
    centres: Floats, spreads: Floats, height: Floats, rough: RoughLikelihood
) -> tuple[Floats, Floats, Floats]:
    """Return N_FINE centres, N_FINE spreads, and the likelihood (N_FINE, N_FINE) there, summing to 1."""
    near, wide = np.linspace(centres[0], centres[-1], N_FINE), np.linspace(spreads[0], spreads[-1], N_FINE)
    # the log-likelihood itself may fall by thousands between neighbours; monotone pieces do not overshoot
    along = PchipInterpolator(spreads, height - rough.log_likelihood(centres, spreads), axis=1)(wide)
    logs = PchipInterpolator(centres, along, axis=0)(near) + rough.log_likelihood(near, wide)
    weight = np.exp(logs - logs.max())
    return near, wide, weight / weight.sum()


def density_quantile(places: Floats, weights: Floats, share: ArrayLike) -> Floats:
    """Return the quantiles, of the shape of `share`, of a density `weights` at evenly spaced `places`."""
    below = np.concatenate([[0.0], np.cumsum((weights[1:] + weights[:-1]) / 2)])
    return np.asarray(np.interp(np.asarray(share), below / below[-1], places))


def _fit_log_odds(counts: BinCounts) -> tuple[Floats, Floats]:
    """Return samples' likeliest log-odds, and half-widths where the ratio statistic is below 1; 0-d for 1."""
    peak = mixtures.find_peak(counts)
    low, high = mixtures.interval_limits(peak, (np.asarray(1.0), np.asarray(1.0)))
    ends = mixtures.log_odds_range(counts.totals[2])
    return peak.log_odds, (np.minimum(high, ends[1]) - np.maximum(low, ends[0])) / 2


def _maximise_over_classes(counts: BinCounts, fit: ClassFit, normal: BatchNormal, start: Floats) -> float:
    """Return the largest log-likelihood over log bin probabilities, from `start` (2 n_bins,) on."""
    nodes, weights = _quadrature_nodes(counts, fit, normal)
    solve = cho_factor(_expected_information(counts, fit, normal))
    logs = start
    height, slope, expected = _joint_log_likelihood(counts, logs, nodes, weights)
    # Fisher scoring with the information of the pooled fit; an EM step if the likelihood would fall
    for _ in range(MAX_STEPS):
        step = cho_solve(solve, slope)
        if slope @ step < MIN_GAIN:
            break
        candidate = logs + step
        terms = _joint_log_likelihood(counts, candidate, nodes, weights)
        if not terms[0] >= height:
            candidate = np.log(np.maximum(expected, MIN_PROBABILITY))
            terms = _joint_log_likelihood(counts, candidate, nodes, weights)
        logs, (height, slope, expected) = candidate, terms
    return height


def _expected_information(counts: BinCounts, fit: ClassFit, normal: BatchNormal) -> Floats:
    """Return the expected information on 2 n_bins log probabilities, positives first, plus the identity."""
    log_odds, _ = _find_modes(counts, fit, normal)
    prior = expit(log_odds)[:, None]
    mixture = np.maximum(fit.mixture(expit(log_odds)), np.finfo(np.float64).tiny)
    spread = [np.diag(part) - np.outer(part, part) for part in (fit.positive, fit.negative)]
    labelled = block_diag(*(n * part for n, part in zip(counts.totals[:2], spread, strict=True)))
    slopes = np.concatenate([prior[..., None] * spread[0], (1 - prior)[..., None] * spread[1]], axis=1)
    odds = prior * (1 - prior) * (fit.positive - fit.negative)
    sizes = counts.unlabelled.sum(axis=-1)
    each = np.einsum("bik,bk,bjk->bij", slopes, sizes[:, None] / mixture, slopes)
    both = np.einsum("bik,bk->bi", slopes, sizes[:, None] * odds / mixture)
    precision = (sizes[:, None] * odds**2 / mixture).sum(axis=-1) + normal.spread**-2
    total = labelled + each.sum(axis=0) - np.einsum("bi,bj,b->ij", both, both, 1 / precision)
    return np.asarray(total + np.eye(len(total)))  # the likelihood does not depend on the sum of logs


def _joint_log_likelihood(
    counts: BinCounts, logs: Floats, nodes: Floats, weights: Floats
) -> tuple[float, Floats, Floats]:
    """Return log-likelihood, gradient, expected cases at `logs`, each vector (2 n_bins,), positives first."""
    halves = logs.reshape(2, -1)
    classes = np.exp(halves - np.logaddexp.reduce(halves, axis=1, keepdims=True))
    prior = expit(nodes)
    mixture = np.maximum(
        mixtures.mix_classes(classes[0], classes[1], prior), MIN_PROBABILITY
    )  # batch x node x bin
    each = (counts.unlabelled[:, None] * np.log(mixture)).sum(axis=-1) + weights
    batch = np.logaddexp.reduce(each, axis=-1, keepdims=True)
    share = np.exp(each - batch)[..., None] * counts.unlabelled[:, None] / mixture
    observed = np.stack([counts.positive, counts.negative])
    unlabelled = np.stack([(part[..., None] * share).sum(axis=(0, 1)) for part in (prior, 1 - prior)])
    expected = observed + classes * unlabelled
    slope = expected - classes * expected.sum(axis=1, keepdims=True)
    labelled = np.vdot(observed, np.log(np.maximum(classes, np.finfo(np.float64).tiny)))
    return float(batch.sum() + labelled), slope.ravel(), expected.ravel()


def _quadrature_nodes(counts: BinCounts, fit: ClassFit, normal: BatchNormal) -> tuple[Floats, Floats]:
    """Return log-odds (n_batches, N_NODES) about the modes, and log weights times the normal density."""
    centre, width = _find_modes(counts, fit, normal)
    node, weight = gauss_nodes("hermite", N_NODES)
    log_odds = centre[:, None] + np.sqrt(2) * width[:, None] * node
    scaled = np.log(weight) + node**2 + np.log(np.sqrt(2) * width)[:, None]
    return log_odds, scaled + norm.logpdf(log_odds, normal.centre, normal.spread)


def _find_modes(counts: BinCounts, fit: ClassFit, normal: BatchNormal) -> tuple[Floats, Floats]:
    """Return the posterior modes of the batches' log-odds and their standard deviations, (n_batches,)."""
    log_odds = np.full(len(counts.unlabelled), normal.centre)
    width = np.full(len(log_odds), normal.spread)
    for _ in range(12):
        mixture = fit.mixture(expit(log_odds))
        change = np.exp(log_expit(log_odds) + log_expit(-log_odds))[:, None] * (fit.positive - fit.negative)
        ratio = change / np.maximum(mixture, np.finfo(np.float64).tiny)
        slope = (counts.unlabelled * ratio).sum(axis=-1) - (log_odds - normal.centre) / normal.spread**2
        curvature = counts.unlabelled.sum(axis=-1) * (mixture * ratio**2).sum(axis=-1) + normal.spread**-2
        log_odds = log_odds + np.clip(slope / curvature, -1.0, 1.0)
        width = 1 / np.sqrt(curvature)
    return log_odds, width


#: Number of bootstrap samples.
N_RESAMPLES = 499


class JointAgreement(NamedTuple):
    """Joint estimate of one prior by several models."""

    weights: Floats  #: weights of the log-likelihoods, whose sum has the right curvature
    statistic: float  #: squared distance of the estimates from their mean
    p_value: float  #: bootstrap p-value of the hypothesis that all models estimate one prior


class CaseBins(NamedTuple):
    """Bins of cases (n_cases, n_models); unpaired unlabelled cases have one table for each model."""

    positive: Codes
    negative: Codes
    unlabelled: Sequence[Codes]


def assess_agreement(
    cases: CaseBins, n_bins: Sequence[int], prior: float, *, rng: np.random.Generator
) -> JointAgreement:
    """Return models' weights (>= 0, sum not 1) by slopes at `prior`, and a test that their priors are one."""
    # slopes of the log-likelihoods at a common prior, because they have no limit at 0 as estimates have
    samples = _count_cases(cases, n_bins, None), _count_cases(cases, n_bins, rng)
    slopes = ([mixtures.profile_slope(counts, np.asarray(prior)) for counts in models] for models in samples)
    observed, drawn = (np.stack(by_model, axis=-1) for by_model in slopes)
    covariance = np.cov(drawn.T)
    information = np.diag(covariance).copy()
    covariance += 1e-9 * np.diag(information)  # since models may be identical
    weights = np.maximum(np.linalg.solve(covariance, information), 0)
    weights *= (weights @ information) / (weights @ covariance @ weights)
    of_steps, shares = np.linalg.inv(covariance), weights * information / (weights @ information)

    def squared_distances(slopes: Floats) -> Floats:
        """Return, of slopes (..., n_models), squared distances (...) of estimates from their mean."""
        steps = slopes / information  # one Newton step towards the estimate of each model
        off = (steps - (steps @ shares)[..., None]) * information
        return np.asarray(((off @ of_steps) * off).sum(axis=-1))

    statistic = float(squared_distances(observed))
    exceeds = squared_distances(drawn - drawn.mean(axis=0)) >= statistic - 1e-9  # rounding errors
    return JointAgreement(weights, statistic, float((1 + np.sum(exceeds)) / (1 + len(drawn))))


def _count_cases(cases: CaseBins, n_bins: Sequence[int], rng: np.random.Generator | None) -> list[BinCounts]:
    """Return each model's counts or, with `rng`, of N_RESAMPLES samples (first axis), paired in a table."""
    counts = []
    for tables in ([cases.positive], [cases.negative], cases.unlabelled):
        sizes, by_model = iter(n_bins), []
        for table in tables:
            kinds, n = np.unique(table, axis=0, return_counts=True)
            if rng is not None:
                n = rng.multinomial(n.sum(), n / n.sum(), size=N_RESAMPLES)
            by_model += [n @ (bins[:, None] == np.arange(next(sizes))).astype(np.float64) for bins in kinds.T]
        counts.append(by_model)
    return [BinCounts(*parts) for parts in zip(*counts, strict=True)]
