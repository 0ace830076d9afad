"""What one simulated sample tells: areas by every estimator, intervals by every method, binormal fits.

Score distributions are those of Boyd et al. (2013) and Brodersen et al. (2010).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import stats

from skewanova._case_bootstrap import bootstrap_estimates
from skewanova._checks import Bools, Floats
from skewanova._estimators import ESTIMATORS, area_kernel
from skewanova._influence_kernels import influence_kernel, jackknife_kernel, spread_of
from skewanova._interval_kernels import (
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
from skewanova._true_curves import Distribution, sample_scores
from skewanova.binormal import BinormalFit
from skewanova.intervals import AT_BOUNDARY, ENOUGH_POSITIVES, ENOUGH_SUPPORT, SLACK
from skewanova.priors import UniformPrior
from skewanova.roc import auc, curve_from_scores

#: Negatives' and positives' scores (Boyd et al. 2013, figure 2).
SETTINGS: Mapping[str, tuple[Distribution, Distribution]] = {
    "binormal": (stats.norm(0, 1), stats.norm(1, 1)),
    "bibeta": (stats.beta(2, 5), stats.beta(5, 2)),
    "offset_uniform": (stats.uniform(0, 1), stats.uniform(0.5, 1)),
}
#: Negatives' and positives' scores (Brodersen et al. 2010, section IV).
BRODERSEN = (stats.norm(-1, 2), stats.norm(1, 2))
BRODERSEN_CASES = 100
#: Boyd's share of positives.
PRIOR = 0.1
N_FOLDS = 10
LEVEL = 0.95
#: Bootstrap samples behind an interval.
N_RESAMPLES = 1000

#: The package's estimators of an area, and the area of a binormal fit whose variances divide by n - 1.
AREAS = (*ESTIMATORS, "binormal")
QUICK_METHODS = ("binomial", "logit", "wilson", "influence", "auto", "cross_validation")
BOOTSTRAP_METHODS = ("bootstrap", "bca")
#: Models of the area under precision-recall (the binormal one has prior 0.5), and of that under ROC.
BINORMAL_MODELS = {
    "auprec": ("trapezoid", "average_precision", "binormal", "alpha_binormal_ddof1", "alpha_binormal_ddof0"),
    "auc": ("empirical", "binormal_ddof1", "binormal_ddof0"),
}


def estimated_areas(setting: str, n_total: int, rng: np.random.Generator) -> Floats:
    """AUPREC at the sample's prior by each of `AREAS`, from one sample."""
    positive, score = sample_scores(*SETTINGS[setting], n_total, prior=PRIOR, rng=rng)
    at = np.array([PRIOR])
    roc = curve_from_scores(positive, score)
    areas = [float(area_kernel(roc, estimator)(at)[0]) for estimator in ESTIMATORS]
    return np.array([*areas, fit_moments(positive, score, ddof=1).auprec(PRIOR)])


def fit_moments(positive: Bools, score: Floats, *, ddof: int) -> BinormalFit:
    """Binormal fit without the check of normality, which would warn in one sample of a hundred."""
    one, other = score[positive], score[~positive]
    return BinormalFit(
        mean_positive=float(one.mean()),
        mean_negative=float(other.mean()),
        std_positive=float(one.std(ddof=ddof)),
        std_negative=float(other.std(ddof=ddof)),
        n_positive=len(one),
        n_negative=len(other),
        alpha=float(positive.mean()),
    )


def quick_limits(setting: str, prior: float, n_total: int, rng: np.random.Generator) -> Floats:
    """Low, high, and whether the rule for estimates of 0 or 1 made them, by each of `QUICK_METHODS`.

    The limits are those of :func:`~skewanova.confidence_interval`, from values computed once for all methods.
    """
    positive, score = sample_scores(*SETTINGS[setting], n_total, prior=prior, rng=rng)
    weighting, n = UniformPrior(prior, prior), int(positive.sum())
    support = (n_total - n) * prior / (1 - prior)
    theta, values = influence_kernel(positive, score, weighting)
    trials = min(n, support)
    wilson = wilson_limits(theta, n, LEVEL)
    if _at_boundary(theta):
        exact = boundary_limits(theta, trials, LEVEL)
        limits = [exact, exact, wilson, exact, exact]
    else:
        _, left_out = jackknife_kernel(positive, score, weighting)
        spreads = [spread_of(part, positive) for part in (values, left_out)]
        error, df = max(spreads, key=lambda spread: spread[0] * two_sided(LEVEL, spread[1]))
        influence = delta_logit_limits(theta, error, LEVEL, df=df)
        enough = support >= ENOUGH_SUPPORT * (1 - SLACK) and n >= ENOUGH_POSITIVES
        auto = influence if enough else thin_limits(theta, trials, LEVEL)
        limits = [binomial_limits(theta, n, LEVEL), logit_limits(theta, n, LEVEL), wilson, influence, auto]
    at_limit = np.array([_at_boundary(theta)] * 5) & (np.array(QUICK_METHODS[:5]) != "wilson")
    rows = [(*pair, float(at)) for pair, at in zip(limits, at_limit, strict=True)]
    return np.array([*rows, _fold_limits(positive, score, weighting, trials)])


def _fold_limits(
    positive: Bools, score: Floats, weighting: UniformPrior, trials: float
) -> tuple[float, float, float]:
    """Limits from the areas of 10 folds, of which each class is dealt out in turn."""
    n = int(positive.sum())
    folds = np.concatenate([np.arange(n), np.arange(len(positive) - n)]) % N_FOLDS
    rows = [folds == fold for fold in range(N_FOLDS)]
    areas = np.array([influence_kernel(positive[row], score[row], weighting)[0] for row in rows])
    mean = float(areas.mean())
    if _at_boundary(mean):
        return (*boundary_limits(mean, trials, LEVEL), 1.0)
    return (*t_limits(areas, LEVEL), 0.0)


def _at_boundary(area: float) -> bool:
    return min(area, 1 - area) <= AT_BOUNDARY


def bootstrap_limits(setting: str, prior: float, n_total: int, rng: np.random.Generator) -> Floats:
    """As :func:`quick_limits`, by each of `BOOTSTRAP_METHODS` from the same resamples."""
    positive, score = sample_scores(*SETTINGS[setting], n_total, prior=prior, rng=rng)
    weighting, ranks = UniformPrior(prior, prior), coarse(positive, score)
    theta, influence = influence_kernel(positive, score, weighting)
    n = int(positive.sum())
    if _at_boundary(theta):
        trials = min(n, (n_total - n) * prior / (1 - prior))
        return np.array([(*boundary_limits(theta, trials, LEVEL), 1.0)] * 2)
    drawn = bootstrap_estimates(
        positive, ranks, weighting, estimator="average_precision", n_resamples=N_RESAMPLES, rng=rng
    )
    acceleration = acceleration_of(influence, positive)
    limits = [percentile_limits(drawn, LEVEL), bca_limits(theta, drawn, acceleration, LEVEL)]
    return np.array([(low, high, 0.0) for low, high in limits])


def coarse(positive: Bools, score: Floats) -> Floats:
    """Scores that tie all negatives between the same two positives: average precision is the same."""
    distinct = np.unique(score[positive])
    place = np.searchsorted(distinct, score, side="right").astype(np.float64)
    return np.where(positive, place - 0.5, place)


def binormal_areas(alpha: float, rng: np.random.Generator) -> Floats:
    """Areas by each of `BINORMAL_MODELS`, of precision-recall and then of ROC, from one sample."""
    positive, score = sample_scores(*BRODERSEN, BRODERSEN_CASES, prior=alpha, rng=rng)
    roc = curve_from_scores(positive, score)
    unbiased, likeliest = (fit_moments(positive, score, ddof=ddof) for ddof in (1, 0))
    at = np.array([alpha])
    empirical: Sequence[float] = [
        float(area_kernel(roc, estimator)(at)[0]) for estimator in BINORMAL_MODELS["auprec"][:2]
    ]
    fitted = [unbiased.auprec(0.5), unbiased.auprec(alpha), likeliest.auprec(alpha)]
    return np.array([*empirical, *fitted, auc(roc), unbiased.auc, likeliest.auc])
