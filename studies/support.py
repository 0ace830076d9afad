"""Size of tests and coverage of intervals where cases are few, by positives and effective negatives."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from skewanova.base.checks import Bools, Floats, SkewanovaWarning, check_count
from skewanova.comparison.analysis import choose_omnibus_test, choose_pairwise_test
from skewanova.curves.areas import auprec
from skewanova.curves.distributions import true_auprec, true_iauprec
from skewanova.curves.roc import curve_from_scores
from skewanova.decision.bands import BAND_PRIORS, pair_critical_value
from skewanova.decision.joint_curves import joint_curves
from skewanova.evaluation import auprec_intervals
from skewanova.evaluation.measures import Evaluation, evaluate, prior_grid
from skewanova.inference import omnibus_test, posthoc
from skewanova.inference.intervals import IntervalInputs, compute_interval
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import (
    ArcsineAreas,
    compare_areas,
    compute_pair_tests,
    measure_arcsine_areas,
)
from skewanova.priors.evidence import Support
from skewanova.priors.weightings import UniformPrior
from skewanova.scores.design import fold_mean_interval
from studies.one_set import CORRELATION
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one, share_and_error

#: Mean of the positives of each model; negatives are N(0, 1). The first four models are equal.
MEANS = (1.0, 1.0, 1.0, 1.0, 2.0)


#: Number of folds of each design, which are independent and score each case once.
DESIGNS: Mapping[str, int] = {"test_set": 1, "5 folds": 5, "10 folds": 10}


SIZES = (5, 10, 20, 30, 50, 100)


PRIORS = (0.05, 0.2)


#: Bands reach from a prior to this one; they are simulated from so many cases on, at the rarest prior.
COMMON_PRIOR, FEWEST_FOR_BANDS = 0.5, 20


#: Draws for the critical value of the bands.
N_DRAWS = 999


#: Tables of each cell in a full study.
FULL = 2_000


ALPHA = 0.05


#: Levels of the tests, by what follows the name of the rate.
LEVELS: Mapping[str, float] = {"": ALPHA, ", at .005": 0.005}


#: Rejection rates of equal models, by column of the measured values.
RATES = (
    "size of the pair, 2 models",
    "size of all models, 4 models",
    "size of the pairs (Holm or max-T), 4 models",
)


#: Coverages, each with three columns of the measured values: estimate, lower and upper limit.
COVERAGES = ("coverage, area of a weak model", "coverage, area of a strong model", "coverage, difference")


BANDS = "size of the simultaneous bands, 2 models"


#: Measures of :func:`few_positives_study`, of the first model but for the difference.
FEW_MEASURES = ("area, one test set", "difference, one test set", "area, 5 folds", "area, 10 folds")


FEW_COLUMNS = (
    "setting", "prior", "n_positive", "effective_negatives", "measure", "coverage", "std_error", "too_low",
    "too_high", "width", "truth", "replicates",
)  # fmt: skip


#: Tables of each cell in a full study of few positives.
FULL_FEW = 1_000


SUPPORT_COLUMNS = (
    "design", "prior", "n_positive", "effective_negatives", "n_negative", "measure", "rate", "std_error",
    "truth", "mean", "replicates",
)  # fmt: skip


class Design(NamedTuple):
    """Number of folds by its name, the prior, and the distinct cases of both classes."""

    design: str
    prior: float
    n_positive: int
    effective_negatives: int

    @property
    def n_negative(self) -> int:
        """Negatives that have the effective number at the prior."""
        return round(self.effective_negatives * (1 - self.prior) / self.prior)

    def draw(self, rng: np.random.Generator) -> tuple[Bools, Floats]:
        """Draw labels, the positives first, and scores (n_cases, n_models)."""
        positive = np.arange(self.n_positive + self.n_negative) < self.n_positive
        noise = rng.normal(size=(len(positive), len(MEANS) + 1))
        scores = np.sqrt(1 - CORRELATION) * noise[:, 1:] + np.sqrt(CORRELATION) * noise[:, :1]
        return positive, scores + positive[:, None] * np.array(MEANS)


def support_study(
    *,
    designs: Sequence[str] | None = None,
    priors: Sequence[float] = PRIORS,
    sizes: Sequence[int] = SIZES,
    effective: Sequence[int] = SIZES,
    **run: Any,
) -> Study:
    """Simulate tables with few cases, and count rejections of equal models and intervals that hold.

    Parameters
    ----------
    designs : sequence of str, optional
        Names of `DESIGNS`; by default all.
    priors : sequence of float
        Priors at which the models are compared.
    sizes, effective : sequence of int
        Distinct positives and effective negatives (negatives over skew) of all folds together. Designs with
        more folds than cases of a class are left out. Bands are simulated from 20 of both on, at the rarest
        prior.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (2,000), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `SUPPORT_COLUMNS`. ``rate`` is the share of tables rejected at .05, or, if
        the measure says so, at .005, or the coverage of 95 % intervals. The truth of an area is that of its
        distributions on one test set, and over folds the mean of the areas in folds of that size, which
        differs from it by their bias.

    Raises
    ------
    ValueError
        If a design is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.support import support_study
    >>> options = {"designs": ["5 folds"], "priors": [0.2], "sizes": [20], "effective": [10]}
    >>> frame = support_study(**options, replicates=25, progress=False).to_frame()
    >>> len(frame), bool(frame["rate"].between(0, 1).all())
    (9, True)
    """
    how = Run(**run)
    for name, counts in (("sizes", sizes), ("effective", effective)):
        for count in counts:
            check_count(count, name, minimum=2)
    number, named = how.number(FULL), chosen(designs, DESIGNS, argument="designs")
    grid = [Design(*key) for key in product(named, priors, sizes, effective)]
    tables = [
        design for design in grid if DESIGNS[design.design] <= min(design.n_positive, design.n_negative)
    ]
    cells = [
        Cell(tuple(design), number, partial(one_by_one, partial(measure_table, design))) for design in tables
    ]
    cells += [
        Cell(("bands", *design), number, partial(one_by_one, partial(measure_bands, design)))
        for design in tables
        if design.prior == min(priors)
        and min(design.n_positive, design.effective_negatives) >= FEWEST_FOR_BANDS
    ]
    return study_of("support", cells, _rows, columns=SUPPORT_COLUMNS, run=how)


class Shape(NamedTuple):
    """Scores of the positives of two models: means, standard deviation; t degrees of freedom; rounding."""

    means: tuple[float, float]
    std: float = 1.0
    df: float = np.inf
    step: float = 0.0

    def draw(self, rng: np.random.Generator, n_positive: int, n_negative: int) -> tuple[Bools, Floats]:
        """Draw labels, the positives first, and scores (n_cases, 2) with the correlation `CORRELATION`."""
        positive = np.arange(n_positive + n_negative) < n_positive
        noise = rng.normal(size=(len(positive), 3))
        scores = np.sqrt(1 - CORRELATION) * noise[:, 1:] + np.sqrt(CORRELATION) * noise[:, :1]
        if np.isfinite(self.df):
            scores /= np.sqrt(rng.chisquare(self.df, size=(len(positive), 1)) / self.df)
        scores[positive] = self.std * scores[positive] + self.means
        return positive, np.round(scores / self.step) if self.step else scores

    def true_areas(self, prior: float) -> list[float]:
        """Return the true area of each model, of rounded scores from the weights of their levels."""
        unit = stats.t(self.df)
        pairs = [(unit, stats.t(self.df, loc=mean, scale=self.std)) for mean in self.means]
        if not self.step:
            return [true_auprec(*pair, prior) for pair in pairs]
        levels = np.arange(-8, 8 + max(self.means), self.step)
        edges = np.concatenate([[-np.inf], levels[1:] - self.step / 2, [np.inf]])
        weights = [np.concatenate([np.diff(side.cdf(edges)) for side in pair[::-1]]) for pair in pairs]
        positive, score = np.repeat([True, False], len(levels)), np.tile(levels, 2)
        curves = [curve_from_scores(positive[w > 0], score[w > 0], w[w > 0]) for w in weights]
        return [auprec(curve, prior) for curve in curves]


#: Score distributions with few positives.
SHAPES: Mapping[str, Shape] = {
    "binormal": Shape((1.5, 1.9)),
    "unequal_variances": Shape((1.5, 2.0), std=2.0),
    "heavy_tails": Shape((2.0, 2.5), df=3.0),
    "ties": Shape((1.5, 1.9), step=0.25),
}


def few_positives_study(
    *,
    settings: Sequence[str] | None = None,
    priors: Sequence[float] = (0.01, 0.05, 0.1),
    sizes: Sequence[int] = (30, 50, 100, 300),
    effective: Sequence[int] = (100,),
    **run: Any,
) -> Study:
    """Simulate tables with few positives, and count how often 95 % intervals hold the truth.

    Parameters
    ----------
    settings : sequence of str, optional
        Names of `SHAPES`; by default all.
    priors, sizes, effective : sequence
        Priors, distinct positives, and effective negatives (negatives over skew).
    **run
        As for :func:`support_study`; a full study has 1,000 tables.

    Returns
    -------
    Study
        Frame with the columns of `FEW_COLUMNS`. ``too_low`` and ``too_high`` are the shares of intervals
        below and above the truth, which over folds is the mean of the areas in folds of that size.

    Examples
    --------
    >>> from studies.support import few_positives_study
    >>> options = {"settings": ["ties"], "priors": [0.1], "sizes": [20]}
    >>> frame = few_positives_study(**options, replicates=25, progress=False).to_frame()
    >>> len(frame), bool((frame["coverage"] > 0.8).all())
    (4, True)
    """
    how = Run(**run)
    cells = [
        Cell(key, how.number(FULL_FEW), partial(one_by_one, partial(measure_limits, key)))
        for key in product(chosen(settings, SHAPES), priors, sizes, effective)
    ]
    return study_of("few_positives", cells, _few_rows, columns=FEW_COLUMNS, run=how)


def measure_limits(key: tuple[str, float, int, int], rng: np.random.Generator) -> Floats:
    """Return estimate, lower and upper limit of each of `FEW_MEASURES`."""
    setting, prior, n_positive, effective = key
    n_negative, weighting = round(effective * (1 - prior) / prior), UniformPrior(prior, prior)
    positive, scores = SHAPES[setting].draw(rng, n_positive, n_negative)
    sample = Sample(positive)
    areas = measure_arcsine_areas(sample, scores.T, weighting, "trapezoid")
    pair = compute_pair_tests(areas, level=1 - ALPHA, simultaneous="none")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        limits = [
            _area_limits(areas, scores, 0, weighting),
            (pair.difference[0], pair.conf_low[0], pair.conf_high[0]),
        ]
    size = Support(n_negative, n_positive).effective_size(prior)
    for n_folds in (5, 10):
        rows = [np.r_[i:n_positive:n_folds, n_positive + i : len(positive) : n_folds] for i in range(n_folds)]
        in_fold = np.array([auprec(curve_from_scores(positive[r], scores[r, 0]), prior) for r in rows])
        mean, std = in_fold.mean(), in_fold.std(ddof=1)
        interval = fold_mean_interval(mean, std, n_folds, ratio=0.0, level=1 - ALPHA, size=size)
        limits.append((mean, interval.low, interval.high))
    return np.array(limits)


def _few_rows(cell: Cell, limits: Floats) -> Iterator[tuple[object, ...]]:
    first, second = SHAPES[cell.key[0]].true_areas(cell.key[1])
    truths = (first, first - second, *limits[:, 2:, 0].mean(axis=0))
    for name, (_, low, high), truth in zip(FEW_MEASURES, limits.transpose(1, 2, 0), truths, strict=True):
        covered = share_and_error(((low <= truth) & (truth <= high)).astype(np.float64))
        missed = (high < truth).mean(), (low > truth).mean(), (high - low).mean()
        yield (*cell.key, name, *covered, *map(float, missed), truth, len(limits))


def measure_table(design: Design, rng: np.random.Generator) -> Floats:
    """Measure one table: p-values in the order of `RATES`, then three numbers for each of `COVERAGES`."""
    positive, scores = design.draw(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        if DESIGNS[design.design] == 1:
            return _measure_test_set(positive, scores, design.prior)
        return _measure_folds(_evaluate_folds(positive, scores, design))


def measure_bands(design: Design, rng: np.random.Generator) -> Floats:
    """Return 1 if a simultaneous band, from the prior to `COMMON_PRIOR`, separates two equal models."""
    positive, scores = design.draw(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        measures = _evaluate_folds(positive, scores[:, :2], design)
        joint = joint_curves(measures, prior_grid(measures, BAND_PRIORS))
        half_width = joint.half_widths(pair_critical_value(joint, ALPHA, n_draws=N_DRAWS))
    return np.array([(np.abs(joint.pairs()[0]) > half_width).any()], dtype=np.float64)


def _measure_test_set(positive: Bools, scores: Floats, prior: float) -> Floats:
    sample, weighting = Sample(positive), UniformPrior(prior, prior)
    areas = measure_arcsine_areas(sample, scores.T, weighting, "trapezoid")
    options: dict[str, Any] = {"weighting": "", "confidence_level": 1 - ALPHA, "simultaneous": "none"}
    two, four, unequal = (
        compare_areas(
            ArcsineAreas.from_areas(areas.area[models], areas.values[:, models], sample),
            models=tuple(map(str, models)),
            **options,
        )
        for models in ([0, 1], [0, 1, 2, 3], [4, 0])
    )
    limits = [_area_limits(areas, scores, model, weighting) for model in (0, 4)]
    limits.append((unequal.difference[0], unequal.conf_low[0], unequal.conf_high[0]))
    rates = [two.p_value[0], four.p_omnibus, four.p_adjusted.min()]
    return np.array([*rates, *np.ravel(limits)])


def _area_limits(
    areas: ArcsineAreas, scores: Floats, model: int, weighting: UniformPrior
) -> tuple[float, float, float]:
    """Return the area of a model with the limits of the interval ``auto``."""
    area, error, df = (float(part[model]) for part in (areas.area, *areas.model_errors()))
    inputs = IntervalInputs(
        areas.sample, scores[:, model], weighting, "trapezoid", 1 - ALPHA, precomputed=(area, error, df)
    )
    interval = compute_interval(inputs, "auto")
    return interval.estimate, interval.conf_low, interval.conf_high


def _evaluate_folds(positive: Bools, scores: Floats, design: Design) -> Evaluation:
    """Deal the cases of each class to the folds in turn, and evaluate all models."""
    n_folds = DESIGNS[design.design]
    rank = np.concatenate([np.arange(positive.sum()), np.arange((~positive).sum())])
    rows = [
        pd.DataFrame({"model": f"{i}", "fold": rank % n_folds, "y_true": positive, "y_score": column})
        for i, column in enumerate(scores.T)
    ]
    stated = "auto" if n_folds == 1 else "independent"
    priors = [design.prior, COMMON_PRIOR]
    table = pd.concat(rows, ignore_index=True)
    return evaluate(table, at_priors=priors, deployment_prior=design.prior, design=stated)


def _measure_folds(measures: Evaluation) -> Floats:
    """Measure the tests that `compare` chooses for independent folds."""
    frame, order = measures.iauprec, list(measures.models)
    omnibus = choose_omnibus_test(measures.design, 4)
    method = choose_pairwise_test(measures.design, ALPHA)
    two, four, unequal = (
        posthoc(frame[frame["model"].isin(models)], method=method, order=models)
        for models in (order[:2], order[:4], [order[4], order[0]])
    )
    p_omnibus = omnibus_test(frame[frame["model"] != order[4]], method=omnibus).to_frame()["p_value"].iloc[0]
    areas = auprec_intervals(measures).query("prior == prior.min()").set_index("model")
    limits = [*areas.loc[[order[0], order[4]], ["auprec", "conf_low", "conf_high"]].to_numpy()]
    limits.append(unequal[["estimate", "conf_low", "conf_high"]].to_numpy(dtype=np.float64)[0])
    rates = [two["p_adjusted"].min(), p_omnibus, four["p_adjusted"].min()]
    return np.array([*rates, *np.ravel(limits)])


@cache
def true_areas(prior: float) -> tuple[float, float, float]:
    """Return the true areas of a weak and a strong model, and their difference."""
    weak, strong = (
        true_iauprec(stats.norm(0, 1), stats.norm(mean, 1), prior) for mean in (MEANS[0], MEANS[-1])
    )
    return weak, strong, strong - weak


def _rows(cell: Cell, values: Floats) -> Iterator[tuple[object, ...]]:
    """Yield a row for each rate and coverage; `values` has a row for each table."""
    design = Design(*cell.key[-len(Design._fields) :])
    head = (*design, design.n_negative)
    if cell.key[0] == "bands":
        yield (*head, BANDS, *share_and_error(values[:, 0]), np.nan, np.nan, len(values))
        return
    for name, column in zip(RATES, values.T, strict=False):
        for suffix, alpha in LEVELS.items():
            rate = share_and_error((column < alpha).astype(np.float64))
            yield (*head, name + suffix, *rate, np.nan, np.nan, len(values))
    limits = values[:, len(RATES) :].reshape(len(values), len(COVERAGES), 3)
    for name, each, true in zip(COVERAGES, limits.transpose(1, 2, 0), true_areas(design.prior), strict=True):
        estimate, low, high = each
        truth = true if DESIGNS[design.design] == 1 else estimate.mean()
        covers = (low <= truth) & (truth <= high)
        yield (*head, name, *share_and_error(covers.astype(np.float64)), true, estimate.mean(), len(values))
