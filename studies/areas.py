"""Estimators, intervals and binormal fits against the truth.

Score distributions are those of Boyd et al. (2013) and Brodersen et al. (2010).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from skewanova.base.checks import Bools, Floats, InputError, SkewanovaWarning, check_count, check_prior
from skewanova.curves.distributions import BinormalFit, sample_scores, true_auc, true_auprec
from skewanova.curves.estimators import ESTIMATORS, area_kernel
from skewanova.curves.roc import auc, curve_from_scores
from skewanova.inference.intervals import IntervalInputs, compute_interval
from skewanova.inference.sampling import Sample
from skewanova.priors.weightings import UniformPrior
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, means, one_by_one
from studies.scenarios import BRODERSEN, BRODERSEN_CASES, LEVEL, N_FOLDS, PRIOR, SETTINGS

#: Bootstrap samples behind an interval.
N_RESAMPLES = 1000


#: The package's estimators of an area, and the area of a binormal fit whose variances divide by n - 1.
AREAS = (*ESTIMATORS, "binormal")


QUICK_METHODS = ("binomial", "logit", "wilson", "jackknife", "auto", "cross_validation")


BOOTSTRAP_METHODS = ("bootstrap", "bca")


#: Models of the area under precision-recall (the binormal one has prior 0.5), and of that under ROC.
BINORMAL_MODELS = {
    "auprec": ("trapezoid", "average_precision", "binormal", "alpha_binormal_ddof1", "alpha_binormal_ddof0"),
    "auc": ("empirical", "binormal_ddof1", "binormal_ddof0"),
}


def estimated_areas(setting: str, n_total: int, rng: np.random.Generator, *, prior: float = PRIOR) -> Floats:
    """AUPREC at the sample's prior by each of `AREAS`, from one sample."""
    positive, score = sample_scores(*SETTINGS[setting], n_total, prior=prior, rng=rng)
    at = np.array([prior])
    roc = curve_from_scores(positive, score)
    areas = [float(area_kernel(roc, area_estimator)(at)[0]) for area_estimator in ESTIMATORS]
    return np.array([*areas, fit_moments(positive, score, ddof=1).auprec(prior)])


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
    """Low, high, and whether the rule for estimates of 0 or 1 made them, by each of `QUICK_METHODS`."""
    positive, score = sample_scores(*SETTINGS[setting], n_total, prior=prior, rng=rng)
    return _limits(positive, score, prior, QUICK_METHODS, rng=rng)


def bootstrap_limits(setting: str, prior: float, n_total: int, rng: np.random.Generator) -> Floats:
    """As :func:`quick_limits`, by each of `BOOTSTRAP_METHODS` from the same resamples."""
    positive, score = sample_scores(*SETTINGS[setting], n_total, prior=prior, rng=rng)
    return _limits(positive, coarse(positive, score), prior, BOOTSTRAP_METHODS, rng=rng)


def _limits(
    positive: Bools, score: Floats, prior: float, methods: Sequence[str], *, rng: np.random.Generator
) -> Floats:
    """Limits as :func:`~skewanova.confidence_interval` has them, for all methods of one sample.

    Of the folds, each class is dealt out in turn.
    """
    n = int(positive.sum())
    question = IntervalInputs(
        sample=Sample(positive),
        score=score,
        weighting=UniformPrior(prior, prior),
        area_estimator="average_precision",
        confidence_level=LEVEL,
        n_resamples=N_RESAMPLES,
        rng=rng,
        folds=np.concatenate([np.arange(n), np.arange(len(positive) - n)]) % N_FOLDS,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        found = [compute_interval(question, method) for method in methods]
    return np.array([(one.conf_low, one.conf_high, one.method == "boundary") for one in found], dtype=float)


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
        float(area_kernel(roc, area_estimator)(at)[0]) for area_estimator in BINORMAL_MODELS["auprec"][:2]
    ]
    fitted = [unbiased.auprec(0.5), unbiased.auprec(alpha), likeliest.auprec(alpha)]
    return np.array([*empirical, *fitted, auc(roc), unbiased.auc, likeliest.auc])


class TypicalSample(NamedTuple):
    """A sample whose areas are near the middle of those of many.

    Attributes
    ----------
    positive, score : ndarray
        The labels and scores.
    percentile : float
        Largest distance, over all areas of `BINORMAL_MODELS`, from the 50th percentile of the samples.
    n_samples : int
        Of so many.
    """

    positive: Bools
    score: Floats
    percentile: float
    n_samples: int


def typical_sample(alpha: float = 0.4, *, n_samples: int = 100, rng: int = 0) -> TypicalSample:
    """Return the most typical of some samples of Brodersen's 100 cases, and say how typical it is.

    Parameters
    ----------
    alpha : float, default 0.4
        Share of positives; that of the paper's figure 1.
    n_samples : int, default 100
        Samples to choose from.
    rng : int, default 0
        Seed.

    Returns
    -------
    TypicalSample
        The sample whose areas (empirical and fitted, of precision-recall and of ROC) are all as near to the
        50th percentile of their kind as any sample has them.

    Examples
    --------
    >>> from studies.areas import typical_sample
    >>> typical_sample(n_samples=50).percentile < 20
    True
    """
    share, count = _check_alpha(alpha), check_count(n_samples, "n_samples", minimum=1)
    seeds = np.random.SeedSequence(check_count(rng, "rng", minimum=0)).spawn(count)
    areas = np.array([binormal_areas(share, np.random.default_rng(seed)) for seed in seeds])
    ranks = areas.argsort(axis=0).argsort(axis=0)
    off = np.abs((ranks + 0.5) / count - 0.5).max(axis=1)
    best = int(off.argmin())
    drawn = sample_scores(*BRODERSEN, BRODERSEN_CASES, prior=share, rng=np.random.default_rng(seeds[best]))
    return TypicalSample(*drawn, percentile=100 * float(off[best]), n_samples=count)


#: Sample sizes of the studies of estimators and of intervals.
SIZES = (50, 100, 200, 500, 1000, 2000, 10000)


INTERVAL_SIZES = (100, 200, 500, 1000, 10000)


#: Shares of positives of the recorded study of intervals.
INTERVAL_PRIORS = (0.5, PRIOR, 0.01)


#: Shares of positives in the study of binormal fits; 0.4 is that of Brodersen's figure 1.
ALPHAS = (0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.7, 0.9)


#: Shares of positives and sizes of the study of estimators by prior.
ESTIMATOR_PRIORS, ESTIMATOR_SIZES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5), (200, 1000, 5000)


#: Samples in the full study of estimators by prior.
FULL_BY_PRIOR = 500


#: Largest sample whose bootstrap intervals are simulated: in a reduced study, and in full.
BOOTSTRAP_UP_TO = {False: 100, True: 1000}


#: Samples in a full study: as a rule, and at 10,000 cases; of intervals, at the prior 0.1, at others and at
#: 10,000 cases, and of bootstraps.
FULL, FULL_LARGE = 10_000, 4_000


FULL_INTERVALS, FULL_OTHER_PRIOR, FULL_LARGE_INTERVALS, FULL_BOOTSTRAP = 2_000, 1_000, 400, 400


LARGE = 5000


ESTIMATORS_COLUMNS = (
    "setting", "prior", "n_total", "estimator", "truth", "mean", "ratio", "std_error", "replicates",
)  # fmt: skip


#: The study by prior has the spread as well: the standard deviation of the estimates over samples.
BY_PRIOR_COLUMNS = (*ESTIMATORS_COLUMNS, "std_dev")


INTERVALS_COLUMNS = (
    "setting", "prior", "n_total", "method", "level", "coverage", "std_error", "width", "width_std_error",
    "location", "too_high", "too_low", "at_limit", "coverage_without_rule", "replicates",
)  # fmt: skip


BINORMAL_COLUMNS = (
    "measure", "alpha", "n_total", "model", "truth", "mean", "bias", "std_error", "replicates",
)  # fmt: skip


def estimators_study(
    *, settings: Sequence[str] | None = None, sizes: Sequence[int] = SIZES, **run: Any
) -> Study:
    """Simulate samples from known distributions, and compare every estimator's mean with the true area.

    Parameters
    ----------
    settings : sequence of str, optional
        Distributions of the scores: ``binormal``, ``bibeta``, ``offset_uniform``; by default all.
    sizes : sequence of int
        Numbers of cases, a tenth of them positive; at least 20.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (10,000 samples; 4,000 at 10,000
        cases), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `ESTIMATORS_COLUMNS`. ``ratio`` is the mean estimate over the truth.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Notes
    -----
    The number of positives is exact, not binomial. Binomial counts move the ratios of small samples where
    estimates are at prior 0.1 (average precision of 50 binormal cases: 1.38 instead of 1.33).

    References
    ----------
    Boyd, Eng and Page (2013), Area under the precision-recall curve: point estimates and confidence
    intervals.

    Examples
    --------
    >>> from studies.areas import estimators_study
    >>> study = estimators_study(settings=["binormal"], sizes=[50], replicates=300, progress=False)
    >>> ratio = study.to_frame().set_index("estimator")["ratio"]
    >>> bool(ratio["average_precision"] > ratio["trapezoid"] > 1)
    True
    """
    how = Run(**run)
    cells = [
        Cell(
            (setting, n_total),
            how.number(FULL_LARGE if n_total > LARGE else FULL),
            partial(one_by_one, partial(estimated_areas, setting, n_total)),
        )
        for setting, n_total in _grid(settings, sizes, 20)
    ]
    return study_of("estimators", cells, _estimator_rows, columns=ESTIMATORS_COLUMNS, run=how)


def estimators_by_prior_study(
    *,
    settings: Sequence[str] | None = None,
    sizes: Sequence[int] = ESTIMATOR_SIZES,
    priors: Sequence[float] = ESTIMATOR_PRIORS,
    **run: Any,
) -> Study:
    """Simulate samples at several priors, and compare the mean and spread of every estimator with the truth.

    Parameters
    ----------
    settings, sizes
        As for :func:`estimators_study`.
    priors : sequence of float
        Shares of positives, which are also the priors of the areas; sizes that do not hold two cases of
        either class are left out.
    **run
        As for :func:`estimators_study`. A full study has 500 samples.

    Returns
    -------
    Study
        Frame with the columns of `BY_PRIOR_COLUMNS`.

    Raises
    ------
    ValueError
        As :func:`estimators_study`, and if no size holds two cases of either class.

    References
    ----------
    Boyd, Eng and Page (2013), backup slide "AUCPR Estimators Results by pi".

    Examples
    --------
    >>> from studies.areas import estimators_by_prior_study
    >>> study = estimators_by_prior_study(
    ...     settings=["binormal"], sizes=[200], priors=[0.02, 0.5], replicates=100, progress=False
    ... )
    >>> ratio = study.to_frame().set_index(["estimator", "prior"])["ratio"]
    >>> bool(ratio["average_precision", 0.02] > 1.3 > 1.02 > ratio["average_precision", 0.5])
    True
    """
    how = Run(**run)
    designs = [
        (setting, n_total, check_prior(prior, "priors"))
        for setting, n_total in _grid(settings, sizes, 20)
        for prior in dict.fromkeys(priors)
        if 2 <= round(prior * n_total) <= n_total - 2
    ]
    if not designs:
        raise InputError("`sizes` must hold two cases of either class at some of `priors`, but none does")
    cells = [
        Cell(design, how.number(FULL_BY_PRIOR), partial(one_by_one, _areas_at(*design))) for design in designs
    ]
    return study_of("estimators_by_prior", cells, _estimator_rows, columns=BY_PRIOR_COLUMNS, run=how)


def _areas_at(setting: str, n_total: int, prior: float) -> Callable[[np.random.Generator], Floats]:
    return partial(estimated_areas, setting, n_total, prior=prior)


def intervals_study(
    *,
    settings: Sequence[str] | None = None,
    sizes: Sequence[int] = INTERVAL_SIZES,
    priors: Sequence[float] = (PRIOR,),
    **run: Any,
) -> Study:
    """Simulate samples from known distributions, and count how often intervals hold the true area.

    Parameters
    ----------
    settings
        As for :func:`estimators_study`.
    sizes : sequence of int
        Numbers of cases.
    priors : sequence of float, default (0.1,)
        Shares of positives, which are also the priors of the deployment; sizes that do not hold 10 positives,
        one for each of the folds of cross-validation, are left out.
    **run
        As for :func:`estimators_study`. A full study has 2,000 samples at prior 0.1 and 1,000 at others; 400
        at 10,000 cases. Bootstraps have 400 samples of up to 1,000 cases, below 1,000 at prior 0.1 only;
        without `full`, `replicates` of up to 100 cases.

    Returns
    -------
    Study
        Frame with the columns of `INTERVALS_COLUMNS`. ``width`` is a mean, ``location`` the mean middle of
        the interval over the truth, ``too_high`` and ``too_low`` the shares whose interval is above or
        below the truth, ``at_limit`` the share with an estimate of 0 or 1, where
        :func:`~skewanova.confidence_interval` follows a rule of its own; ``coverage_without_rule`` counts
        these as misses, as an interval of no width would be.

    Raises
    ------
    ValueError
        As :func:`estimators_study`.

    Examples
    --------
    >>> from studies.areas import intervals_study
    >>> study = intervals_study(settings=["binormal"], sizes=[200], replicates=100, progress=False)
    >>> coverage = study.to_frame().set_index("method")["coverage"]
    >>> bool(coverage["cross_validation"] < coverage["jackknife"])
    True
    """
    how = Run(**run)
    designs = [
        (setting, check_prior(prior, "priors"), n_total)
        for setting, n_total in _grid(settings, sizes, 2 * N_FOLDS)
        for prior in dict.fromkeys(priors)
        if N_FOLDS <= round(prior * n_total) <= n_total - N_FOLDS
    ]
    if not designs:
        raise InputError("`sizes` must hold 10 cases of either class at some of `priors`, but none does")
    cells = [cell for design in designs for cell in _interval_cells(design, how)]
    return study_of("intervals", cells, _interval_rows, columns=INTERVALS_COLUMNS, run=how)


#: As the recorded study: at every share of positives.
intervals_at_all_priors = partial(intervals_study, priors=INTERVAL_PRIORS)


def binormal_study(*, alphas: Sequence[float] = ALPHAS, **run: Any) -> Study:
    """Simulate 100 binormal cases, and compare empirical and fitted areas with the truth.

    Parameters
    ----------
    alphas : sequence of float
        Shares of positives, each with at least two cases of either class among the hundred.
    **run
        As for :func:`estimators_study`.

    Returns
    -------
    Study
        Frame with the columns of `BINORMAL_COLUMNS`. ``measure`` is auprec (Brodersen et al., figure 2) or
        auc (figure 1). The model ``binormal`` of auprec has its alpha fixed at 0.5, with ddof 1.

    Raises
    ------
    ValueError
        If a share is too near to 0 or 1, or a number out of range.

    References
    ----------
    Brodersen et al. (2010), The binormal assumption on precision-recall curves.

    Examples
    --------
    >>> from studies.areas import binormal_study
    >>> frame = binormal_study(alphas=[0.1], replicates=100, progress=False).to_frame()
    >>> bias = frame[frame["measure"] == "auprec"].set_index("model")["bias"]
    >>> bool(abs(bias["alpha_binormal_ddof0"]) < bias["average_precision"] < bias["binormal"])
    True
    """
    how = Run(**run)
    cells = [
        Cell((alpha,), how.number(FULL), partial(one_by_one, partial(binormal_areas, alpha)))
        for alpha in dict.fromkeys(map(_check_alpha, alphas))
    ]
    found = study_of("binormal", cells, _binormal_rows, columns=BINORMAL_COLUMNS, run=how)
    ordered = found.to_frame().sort_values("measure", ascending=False, kind="stable", ignore_index=True)
    return replace(found, _table=ordered)


def _grid(settings: Sequence[str] | None, sizes: Sequence[int], fewest: int) -> Iterator[tuple[str, int]]:
    for n_total in sizes:
        check_count(n_total, "sizes", minimum=fewest)
    return product(chosen(settings, SETTINGS), dict.fromkeys(sizes))


def _check_alpha(alpha: float) -> float:
    value = check_prior(alpha, "alphas")
    if not 2 <= round(BRODERSEN_CASES * value) <= BRODERSEN_CASES - 2:
        raise InputError(f"`alphas` must leave two cases of either class among 100, but got {alpha:g}")
    return value


def _interval_cells(design: tuple[str, float, int], how: Run) -> Iterator[Cell]:
    _, prior, n_total = design
    usual = prior == PRIOR
    many = FULL_LARGE_INTERVALS if n_total > LARGE else FULL_INTERVALS if usual else FULL_OTHER_PRIOR
    yield Cell(design, how.number(many), partial(one_by_one, partial(quick_limits, *design)))
    if n_total <= BOOTSTRAP_UP_TO[how.full] and (usual or n_total >= 1000 or not how.full):
        measure = partial(one_by_one, partial(bootstrap_limits, *design))
        yield Cell((*design, "bootstrap"), how.number(FULL_BOOTSTRAP), measure)


def _estimator_rows(cell: Cell, areas: Floats) -> Iterator[tuple[object, ...]]:
    """One row an estimator; with a prior in the key, the spread too."""
    setting, n_total, prior = (*cell.key, PRIOR)[:3]
    truth = true_auprec(*SETTINGS[setting], prior)
    spread = areas.std(axis=0)
    for place, (mean, error) in enumerate(means(areas)):
        told = (AREAS[place], truth, mean, mean / truth, error / truth, len(areas))
        yield (setting, prior, n_total, *told, *([float(spread[place])] if len(cell.key) > 2 else []))


def _interval_rows(cell: Cell, limits: Floats) -> Iterator[tuple[object, ...]]:
    setting, prior, n_total = cell.key[:3]
    truth = true_auprec(*SETTINGS[setting], prior)
    low, high, at_limit = np.moveaxis(limits, 2, 0)
    covered = ((low <= truth) & (truth <= high)).astype(np.float64)
    methods = BOOTSTRAP_METHODS if len(cell.key) > 3 else QUICK_METHODS
    coverage, width = means(covered), means(high - low)
    missed = (low + high).mean(axis=0) / 2 / truth, (low > truth).mean(axis=0), (high < truth).mean(axis=0)
    published = (covered * (1 - at_limit)).mean(axis=0)
    for j, method in enumerate(methods):
        told = (*coverage[j], *width[j], *(float(part[j]) for part in missed), float(at_limit[:, j].mean()))
        yield (setting, prior, n_total, method, LEVEL, *told, float(published[j]), len(limits))


def _binormal_rows(cell: Cell, areas: Floats) -> Iterator[tuple[object, ...]]:
    alpha = float(cell.key[0])
    truths = {"auprec": true_auprec(*BRODERSEN, alpha), "auc": true_auc(*BRODERSEN)}
    names = [(measure, model) for measure, models in BINORMAL_MODELS.items() for model in models]
    for (measure, model), (mean, error) in zip(names, means(areas), strict=True):
        told = (truths[measure], mean, mean - truths[measure], error, len(areas))
        yield (measure, alpha, BRODERSEN_CASES, model, *told)
