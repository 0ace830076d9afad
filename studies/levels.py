"""Size, coverage and power where scores have few levels, such as ratings: one test set, folds and runs.

Negatives are N(0, 1), positives N(1.5, 1), and models share half of the variance of a score. Scores are cut
into levels of equal width from -2 to 3.5, or of equal shares of all cases. Runs of a model share half of the
rest of the variance.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import optimize, stats

from skewanova.base.checks import Bools, Floats, SkewanovaWarning
from skewanova.comparison.analysis import choose_omnibus_test, choose_pairwise_test
from skewanova.curves.areas import iauprec
from skewanova.curves.roc import curve_from_scores
from skewanova.inference import auprec_covariance, compare_runs, compare_test_set, omnibus_test, posthoc
from skewanova.inference.intervals import confidence_interval
from skewanova.priors.evidence import Support
from skewanova.priors.weightings import UniformPrior, typical_prior
from skewanova.scores.design import FoldDesign, fold_mean_interval
from studies.one_set import CORRELATION
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one, share_and_error

LEVELS = (2, 3, 5, 7, 11, 21)


#: Names of the cuts; designs with their numbers of folds or runs; positives and negatives.
CUTS = ("width", "share")
DESIGNS = {"test_set": 1, "folds": 10, "runs": 5}
SAMPLES = ((32, 368), (100, 900), (100, 4900), (500, 4500))


#: Means of the positives: four equal models and a better one.
MEANS = np.array([1.5, 1.5, 1.5, 1.5, 1.9])


#: Rates of rejection, and coverages of 95 % intervals.
RATES = ("size, 2 models", "size, 4 models", "size, 4 models, pairs", "power, 2 models")
COVERAGES = ("coverage, area", "coverage, difference")


WEIGHTING = UniformPrior(0.05, 0.2)


FULL = 1_000


LEVELS_COLUMNS = (
    "design", "levels", "cut", "n_positive", "n_negative", "measure", "alpha", "rate", "std_error",
    "replicates",
)  # fmt: skip


class Rating(NamedTuple):
    """A design, the number of levels, how scores are cut into them, and the classes' sizes."""

    design: str
    n_levels: int
    cut: str
    n_positive: int
    n_negative: int

    def edges(self) -> Floats:
        """Return the limits between levels."""
        return _edges(self.n_levels, self.cut, self.n_positive / (self.n_positive + self.n_negative))

    def draw(self, rng: np.random.Generator) -> tuple[Bools, Floats]:
        """Draw labels, and levels (n_cases, n_models, n_runs)."""
        n_runs = DESIGNS["runs"] if self.design == "runs" else 1
        positive = np.arange(self.n_positive + self.n_negative) < self.n_positive
        common, own = rng.normal(size=(len(positive), 1, 1)), rng.normal(size=(len(positive), len(MEANS), 1))
        if n_runs > 1:
            own = np.sqrt(0.5) * (own + rng.normal(size=(len(positive), len(MEANS), n_runs)))
        scores = np.sqrt(CORRELATION) * common + np.sqrt(1 - CORRELATION) * own
        scores[positive] += MEANS[:, None]
        return positive, np.digitize(scores, self.edges()).astype(float)

    def true_areas(self) -> Floats:
        """Return the true area of each model."""
        return np.array([_true_area(mean, tuple(self.edges())) for mean in MEANS])


@cache
def _edges(n_levels: int, cut: str, share: float) -> Floats:
    inner = np.arange(1, n_levels) / n_levels
    if cut == "width":
        return np.asarray(-2 + 5.5 * inner)

    def excess(x: float, q: float) -> float:
        return float(share * stats.norm.cdf(x - MEANS[0]) + (1 - share) * stats.norm.cdf(x) - q)

    return np.array([optimize.brentq(excess, -8, 8, args=(q,)) for q in inner])


@cache
def _true_area(mean: float, edges: tuple[float, ...]) -> float:
    limits = np.array([-np.inf, *edges, np.inf])
    weights = np.concatenate([np.diff(stats.norm.cdf(limits - shift)) for shift in (mean, 0.0)])
    positive, score = np.repeat([True, False], len(edges) + 1), np.tile(np.arange(len(edges) + 1.0), 2)
    return float(iauprec(curve_from_scores(positive, score, weights), WEIGHTING))


def levels_study(
    *,
    designs: Sequence[str] | None = None,
    levels: Sequence[int] = LEVELS,
    cuts: Sequence[str] = CUTS,
    samples: Sequence[tuple[int, int]] = SAMPLES,
    **run: Any,
) -> Study:
    """Simulate ratings, and count rejections of equal models and intervals that hold.

    Parameters
    ----------
    designs, cuts : sequence of str
        Names of `DESIGNS` (all by default) and `CUTS`.
    levels : sequence of int
        Numbers of levels.
    samples : sequence of (int, int)
        Positives and negatives of all folds together.
    **run
        Fields of :class:`~studies.runner.Run`.

    Returns
    -------
    Study
        Frame with the columns of `LEVELS_COLUMNS`; the truth over folds is the mean of the areas in folds of
        that size. Tests and intervals are those that `compare` takes for the design.

    Raises
    ------
    ValueError
        If a design is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.levels import levels_study
    >>> options = {"designs": ["test_set"], "levels": [3], "cuts": ["width"], "samples": [(50, 450)]}
    >>> len(levels_study(**options, replicates=25, progress=False).to_frame())
    10
    """
    how = Run(**run)
    named = chosen(designs, DESIGNS, argument="designs")
    cells = [
        Cell(
            (*key[:3], *key[3]),
            how.number(FULL),
            partial(one_by_one, partial(_measure, Rating(*key[:3], *key[3]))),
        )
        for key in product(named, levels, cuts, samples)
    ]
    return study_of("levels", cells, _rows, columns=LEVELS_COLUMNS, run=how)


def _rows(cell: Cell, values: Floats) -> Iterator[tuple[object, ...]]:
    rating = Rating(*cell.key)
    for name, column in zip(RATES, values.T, strict=False):
        for alpha in (0.05, 0.005):
            yield (*rating, name, alpha, *share_and_error((column <= alpha).astype(float)), len(values))
    truth = rating.true_areas()
    limits = values[:, len(RATES) :].reshape(len(values), len(COVERAGES), 3)
    for k, target in enumerate((truth[0], truth[0] - truth[4])):
        estimate, low, high = limits[:, k].T
        true = estimate.mean() if rating.design == "folds" else target
        yield (
            *rating,
            COVERAGES[k],
            0.05,
            *share_and_error(((low <= true) & (true <= high)) * 1.0),
            len(values),
        )


def _measure(rating: Rating, rng: np.random.Generator) -> Floats:
    """Return p-values in the order of `RATES`, then estimate and limits of each of `COVERAGES`."""
    positive, levels = rating.draw(rng)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        return {"test_set": _on_test_set, "folds": _over_folds, "runs": _over_runs}[rating.design](
            positive, levels
        )


def _on_test_set(positive: Bools, levels: Floats) -> Floats:
    four, two, unequal = (
        compare_test_set(positive, levels[:, models, 0], deployment_prior=WEIGHTING, simultaneous="none")
        for models in ([0, 1, 2, 3], [0, 1], [0, 4])
    )
    area = confidence_interval(positive, levels[:, 0, 0], deployment_prior=WEIGHTING)
    limits = [area.estimate, area.conf_low, area.conf_high]
    limits += [unequal.difference[0], unequal.conf_low[0], unequal.conf_high[0]]
    return np.array([two.p_value[0], four.p_omnibus, four.p_adjusted.min(), unequal.p_value[0], *limits])


def _over_runs(positive: Bools, levels: Floats) -> Floats:
    n_models, n_runs = levels.shape[1:]
    areas = auprec_covariance(positive, levels.reshape(len(positive), -1), deployment_prior=WEIGHTING)
    columns = np.arange(n_models * n_runs).reshape(n_models, n_runs)
    four, two, unequal = (
        compare_runs(areas.estimate[columns[models]], areas.covariance[np.ix_(chosen, chosen)])
        for models in ([0, 1, 2, 3], [0, 1], [0, 4])
        for chosen in [columns[models].ravel()]
    )
    limits = [unequal.estimate[0], unequal.model_low[0], unequal.model_high[0]]
    limits += [unequal.difference[0], unequal.conf_low[0], unequal.conf_high[0]]
    return np.array([two.p_value[0], four.p_omnibus, four.p_adjusted.min(), unequal.p_value[0], *limits])


def _over_folds(positive: Bools, levels: Floats) -> Floats:
    n_folds, n_positive = DESIGNS["folds"], int(positive.sum())
    rows = [np.r_[i:n_positive:n_folds, n_positive + i : len(positive) : n_folds] for i in range(n_folds)]
    values = np.array(
        [
            [iauprec(curve_from_scores(positive[r], levels[r, m, 0]), WEIGHTING) for m in range(len(MEANS))]
            for r in rows
        ]
    )
    models = [f"M{i}" for i in range(len(MEANS))]
    wide = pd.DataFrame(values, columns=models).rename_axis("fold").reset_index()
    frame = wide.melt("fold", var_name="model", value_name="iauprec")
    design = FoldDesign("independent", n_folds=n_folds)
    method = choose_pairwise_test(design, 0.05)
    two, four, unequal = (
        posthoc(frame[frame["model"].isin(names)], method=method, order=names)
        for names in (models[:2], models[:4], [models[0], models[4]])
    )
    every = omnibus_test(frame[frame["model"] != models[4]], method=choose_omnibus_test(design, 4))
    mean, std = values[:, 0].mean(), values[:, 0].std(ddof=1)
    size = Support(len(positive) - n_positive, n_positive).effective_size(typical_prior(WEIGHTING))
    area = fold_mean_interval(mean, std, n_folds, ratio=0.0, level=0.95, size=size)
    pair = unequal[["estimate", "conf_low", "conf_high"]].to_numpy(dtype=float)[0]
    p = [two["p_adjusted"].min(), every.to_frame()["p_value"].iloc[0], four["p_adjusted"].min()]
    return np.array([*p, unequal["p_adjusted"].min(), mean, area.low, area.high, *pair])
