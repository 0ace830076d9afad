"""Learners, scenarios, settings and levels.

They serve the simulations: linear and quadratic discriminants, Gaussian naive Bayes, nearest neighbours.
Positive cases stand first. Shapes: `features` (..., n_cases, n_features), `train` (..., n_folds,
n_cases) holding 1 for training cases and 0 for others, `test` (..., n_folds, n_test, n_features); scores are
(..., n_folds, n_test), a higher score speaking for the positive class.

Every scenario draws replicates as arrays, with the models truly equal unless an effect is asked for. Positive
cases stand first throughout. The areas are the package's trapezoid, read from a table of all that a positive
case can add: its rank among the positives and the number of negatives above it decide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skewanova.base.checks import Floats
from skewanova.curves.estimators import prior_averaged_precision, vertex_precision
from skewanova.priors.weightings import FrozenDistribution, UniformPrior
from skewanova.scores.design import FoldDesign

#: Neighbours that vote.
N_NEIGHBOURS = 15


class Moments(NamedTuple):
    """Number of training cases, means and sums of squares about them, of one class in every fold."""

    size: Floats
    mean: Floats
    scatter: Floats


Learner = Callable[[Floats, Floats, Floats, int], Floats]


Indices = NDArray[np.intp]


def lda(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
    """Linear discriminant: log odds of two Gaussian classes with one covariance (divisor n)."""
    negative, positive = class_moments(features, train, n_positive)
    size = positive.size + negative.size
    pooled = (positive.scatter + negative.scatter) / size[..., None, None]
    direction = np.linalg.solve(pooled, (positive.mean - negative.mean)[..., None])
    middle = (positive.mean + negative.mean)[..., None, :] / 2
    return np.asarray(((test - middle) @ direction)[..., 0] + _log_odds(negative, positive))


def qda(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
    """Quadratic discriminant: log odds of two Gaussian classes with their own covariances (divisor n)."""
    negative, positive = class_moments(features, train, n_positive)
    log_density = [_log_density(test, moments) for moments in (positive, negative)]
    return np.asarray(log_density[0] - log_density[1] + _log_odds(negative, positive))


def naive_bayes(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
    """Gaussian naive Bayes: log odds with independent features (variances with divisor n)."""
    negative, positive = class_moments(features, train, n_positive)
    log_density = [_log_density_independent(test, moments) for moments in (positive, negative)]
    return np.asarray(log_density[0] - log_density[1] + _log_odds(negative, positive))


def nearest_neighbours(
    features: Floats, train: Floats, test: Floats, n_positive: int, *, n_neighbours: int = N_NEIGHBOURS
) -> Floats:
    """Positives among the nearest training cases, ties broken by the nearest case of either class.

    The second term lies between 0 and 1, so it orders only what has the same count.
    """
    cases = features[..., None, :, :]
    products = test @ np.swapaxes(cases, -1, -2)
    squared = (test**2).sum(axis=-1)[..., None] + (cases**2).sum(axis=-1)[..., None, :] - 2 * products
    distance = np.where(train[..., None, :] > 0, np.maximum(squared, 0.0), np.inf)
    positive = np.sqrt(distance[..., :n_positive].min(axis=-1))
    negative = np.sqrt(distance[..., n_positive:].min(axis=-1))
    if n_neighbours == 1:  # its class is told by the two already
        return np.asarray((positive < negative) + negative / (positive + negative))
    nearest = np.argpartition(distance, n_neighbours - 1, axis=-1)[..., :n_neighbours]
    return np.asarray((nearest < n_positive).sum(axis=-1) + negative / (positive + negative))


LEARNERS: dict[str, Learner] = {
    "lda": lda,
    "qda": qda,
    "naive_bayes": naive_bayes,
    "nearest_neighbours": nearest_neighbours,
}


#: And one that changes more with its training set than any of these.
STRESS_LEARNERS: dict[str, Learner] = {
    **LEARNERS,
    "nearest_neighbour": partial(nearest_neighbours, n_neighbours=1),
}


def class_moments(features: Floats, train: Floats, n_positive: int) -> tuple[Moments, Moments]:
    """Moments of the negative and the positive training cases in every fold."""
    parts = slice(n_positive, None), slice(None, n_positive)
    negative, positive = (_moments(features[..., part, :], train[..., part]) for part in parts)
    return negative, positive


def separation(features: Floats, train: Floats, n_positive: int) -> Floats:
    """Squared t (with unequal variances) between the classes in every feature: (..., n_folds, n_features)."""
    parts = slice(n_positive, None), slice(None, n_positive)
    means, errors = [], []
    for part in parts:
        cases, weight = features[..., part, :], train[..., part]
        count = weight.sum(axis=-1)[..., None]
        means.append(weight @ cases / count)
        errors.append((weight @ cases**2 / count - means[-1] ** 2) / (count - 1))
    return np.asarray((means[1] - means[0]) ** 2 / (errors[0] + errors[1]))


def selected_features(features: Floats, train: Floats, n_positive: int, n_selected: int) -> Indices:
    """Features that separate the classes best, best first: (..., n_folds, n_selected)."""
    return np.argsort(-separation(features, train, n_positive), axis=-1)[..., :n_selected]


def _moments(features: Floats, weight: Floats) -> Moments:
    count = weight.sum(axis=-1)
    mean = weight @ features / count[..., None]
    size = features.shape[-1]
    products = (features[..., :, None] * features[..., None, :]).reshape(*features.shape[:-1], size**2)
    second = (weight @ products).reshape(*mean.shape, size)
    scatter = second - count[..., None, None] * mean[..., :, None] * mean[..., None, :]
    return Moments(np.broadcast_to(count, mean.shape[:-1]), mean, scatter)


def _log_odds(negative: Moments, positive: Moments) -> Floats:
    return np.asarray(np.log(positive.size / negative.size))[..., None]


def _log_density(test: Floats, moments: Moments) -> Floats:
    """Gaussian log density, but for a constant."""
    cov = moments.scatter / moments.size[..., None, None]
    centred = test - moments.mean[..., None, :]
    squared = (centred @ np.linalg.inv(cov) * centred).sum(axis=-1)
    return np.asarray(-(squared + np.linalg.slogdet(cov)[1][..., None]) / 2)


def _log_density_independent(test: Floats, moments: Moments) -> Floats:
    variance = np.diagonal(moments.scatter, axis1=-2, axis2=-1) / moments.size[..., None]
    squared = ((test - moments.mean[..., None, :]) ** 2 / variance[..., None, :]).sum(axis=-1)
    return np.asarray(-(squared + np.log(variance).sum(axis=-1)[..., None]) / 2)


DEPLOYMENT = UniformPrior(0.05, 0.20)


#: Mean IAUPREC of each learner of `LEARNERS` in scenario S2d (seed 2026; differences to .0005 at worst).
LEARNER_MEANS = np.array([0.43534, 0.41516, 0.42820, 0.37320])


#: Priors of the paper's three-way ANOVA: the three of its tables, and a grid of sixteen.
SIXTEEN_PRIORS = "_16_priors"
PRIOR_GRIDS = {
    "three_way": (0.5, 0.1, 0.01),
    f"three_way{SIXTEEN_PRIORS}": tuple(round(0.05 + 0.01 * i, 2) for i in range(16)),
}


@dataclass(frozen=True)
class Tables:
    """IAUPREC (replicates, folds, models), and AUPREC (..., priors) for each grid of priors.

    With halvings also the mean IAUPREC in both halves (replicates, halvings, 2, models).
    """

    iauprec: Floats
    auprec: Mapping[str, Floats]
    half_means: Floats | None = None

    @property
    def halves(self) -> Floats | None:
        """Half the differences of IAUPREC between halves (replicates, halvings, models)."""
        return None if self.half_means is None else (self.half_means[:, :, 0] - self.half_means[:, :, 1]) / 2


def measures(scores: Floats, n_positive: int) -> Tables:
    """IAUPREC and AUPREC of scores (..., n_cases) without ties, the positive cases first."""
    areas = summed_gains(scores, n_positive, _gains(n_positive, scores.shape[-1] - n_positive))
    ends = np.cumsum([1, *map(len, PRIOR_GRIDS.values())])
    grids = {
        name: areas[..., end - len(PRIOR_GRIDS[name]) : end]
        for name, end in zip(PRIOR_GRIDS, ends[1:], strict=True)
    }
    return Tables(areas[..., 0], grids)


def summed_gains(scores: Floats, n_positive: int, gains: Floats) -> Floats:
    """Areas of scores (..., cases): what every positive adds, by its rank and the negatives above it."""
    ranked = np.argsort(-scores, axis=-1) < n_positive
    places = np.nonzero(ranked)[-1].reshape(*scores.shape[:-1], n_positive)
    above = places - np.arange(n_positive)  # negatives above the first, second, ... positive
    return np.asarray(gains[np.arange(n_positive), above].sum(axis=-2))


@cache
def _gains(n_positive: int, n_negative: int) -> Floats:
    """Return what positive j adds with f negatives above it, to IAUPREC and to AUPREC at every prior.

    Landgrebe et al. 2006, eq. 4: half a step of recall times the precisions before and after it. Precision is
    1 where no negative stands above, and 0 where no positive does.
    """
    true = np.arange(1, n_positive + 1)[:, None] / n_positive
    false = np.arange(n_negative + 1) / n_negative
    true, false = np.broadcast_arrays(true, false)
    after = [prior_averaged_precision(true, false, DEPLOYMENT)]
    after += [vertex_precision(true, false, prior) for grid in PRIOR_GRIDS.values() for prior in grid]
    precision = np.stack(after, axis=-1)
    before = np.concatenate([np.zeros((1, *precision.shape[1:])), precision[:-1]])
    before[:, 0] = 1.0
    return np.asarray((before + precision) / (2 * n_positive))


#: Mean and standard deviation over folds of the binormal distance between the classes.
QUALITY = (1.5, 0.2)


#: Those of one model whose IAUPREC spreads more widely over folds by the factor given, with the same mean
#: (solved numerically: tests/studies/test_scenarios.py does it again).
WIDE_QUALITY = {1.3: (1.50128, 0.29865), 1.6: (1.50266, 0.39785), 2.3: (1.50535, 0.66390)}


BINORMAL_CASES = (100, 300)


#: Share of the variance of a case's score that all models have in common.
SHARED_VARIANCE = 0.5


def binormal(
    n_replicates: int,
    rng: np.random.Generator,
    *,
    effect: float = 0.0,
    n_folds: int = 20,
    n_models: int = 4,
    spread: float = 1.0,
) -> Tables:
    """Independent folds: random quality for each model and fold, cases in common.

    The first model is better by `effect` in the distance between classes; the last one's spread over folds is
    `spread` times the others'.
    """
    n_positive, n_negative = BINORMAL_CASES
    quality = rng.normal(*QUALITY, size=(n_replicates, n_folds, n_models))
    if spread != 1.0:
        standard = (quality[..., -1] - QUALITY[0]) / QUALITY[1]
        quality[..., -1] = WIDE_QUALITY[spread][0] + WIDE_QUALITY[spread][1] * standard
    quality[..., 0] += effect
    common = rng.standard_normal((n_replicates, n_folds, 1, n_positive + n_negative))
    own = rng.standard_normal((n_replicates, n_folds, n_models, n_positive + n_negative))
    scores = np.sqrt(SHARED_VARIANCE) * common + np.sqrt(1 - SHARED_VARIANCE) * own
    scores[..., :n_positive] += quality[..., None]
    return measures(scores, n_positive)


def gaussian(
    n_replicates: int, rng: np.random.Generator, *, effect: float = 0.0, rho: float = 0.0, n_copies: int = 0
) -> Tables:
    """Gaussian values of 4 models in 20 folds correlated by `rho`, repeated at `n_copies` priors."""
    common = rng.standard_normal((n_replicates, 1, 4))
    values = np.sqrt(rho) * common + np.sqrt(1 - rho) * rng.standard_normal((n_replicates, 20, 4))
    values[..., 0] += effect
    copies = {"three_way": np.repeat(values[..., None], n_copies, axis=-1)} if n_copies else {}
    return Tables(values, copies)


@dataclass(frozen=True)
class Splits:
    """How a data set is cut: `repeats` times at random into `parts`, of which `used` are tested in turn."""

    repeats: int
    parts: int
    used: int = 1

    @property
    def n_folds(self) -> int:
        """Number of folds in all."""
        return self.repeats * self.used

    @property
    def ratio(self) -> float:
        """Test cases for each training case."""
        return 1 / (self.parts - 1)

    def test_cases(self, n_replicates: int, rng: np.random.Generator, sizes: tuple[int, int]) -> Indices:
        """Cases tested in each fold (replicates, folds, cases): positives first, classes in proportion."""
        drawn = []
        for first, size in zip((0, sizes[0]), sizes, strict=True):
            cases = np.broadcast_to(np.arange(first, first + size), (n_replicates, self.repeats, size))
            parts = rng.permuted(cases, axis=-1).reshape(n_replicates, self.repeats, self.parts, -1)
            drawn.append(parts[:, :, : self.used].reshape(n_replicates, self.n_folds, -1))
        return np.concatenate(drawn, axis=-1)


@dataclass(frozen=True)
class HalfFolds:
    """Random halvings of a data set, both halves cut into folds for a cross-validation."""

    halvings: int = 20
    folds: int = 5

    @property
    def n_fits(self) -> int:
        """Fits of each model."""
        return 2 * self.halvings * self.folds

    def test_cases(self, n_replicates: int, rng: np.random.Generator, sizes: tuple[int, int]) -> Indices:
        """Cases tested (replicates, halvings, halves, folds, cases), positives first."""
        shape = n_replicates, self.halvings, 2, self.folds, -1
        drawn = []
        for first, size in zip((0, sizes[0]), sizes, strict=True):
            cases = np.broadcast_to(np.arange(first, first + size), (n_replicates, self.halvings, size))
            drawn.append(rng.permuted(cases, axis=-1).reshape(shape))
        return np.concatenate(drawn, axis=-1)


#: Scores (replicates, models, folds, cases) of test cases, from these and the training cases of each fold.
Scoring = Callable[[Indices, Floats], Floats]


@dataclass(frozen=True)
class Task:
    """A data set: cases of either class, the distance of the classes in each feature, and how it is cut."""

    splits: Splits
    sizes: tuple[int, int] = (100, 300)
    n_features: int = 12
    n_used: int = 4
    distance: float = 0.6
    n_models: int = 4
    half_folds: HalfFolds | None = None

    def data(self, n_replicates: int, rng: np.random.Generator) -> Floats:
        """Independent standard Gaussian features (replicates, cases, features), positives shifted."""
        features = rng.standard_normal((n_replicates, sum(self.sizes), self.n_features))
        features[:, : self.sizes[0]] += self.distance
        return features

    def subsets(self, features: Floats, rng: np.random.Generator, effect: float) -> Floats:
        """Features of each model (replicates, models, cases, used): one of its own, others from a pool.

        The first model's classes lie further apart by `effect`.
        """
        pool = np.arange(self.n_models, self.n_features)
        pools = np.broadcast_to(pool, (len(features), self.n_models, len(pool)))
        chosen = rng.permuted(pools, axis=-1)[..., : self.n_used]
        chosen[..., 0] = np.arange(self.n_models)  # so that no two models are the same
        held = np.take_along_axis(features[:, None], chosen[:, :, None, :], axis=-1)
        held[:, 0, : self.sizes[0]] += effect / np.sqrt(self.n_used)
        return np.asarray(held)

    def folds(self, n_replicates: int, rng: np.random.Generator) -> tuple[Indices, Floats]:
        """Test cases of every fold, and 1 for the training cases (replicates, folds, cases)."""
        test = self.splits.test_cases(n_replicates, rng, self.sizes)
        train = np.ones((*test.shape[:-1], sum(self.sizes)))
        np.put_along_axis(train, test, 0.0, axis=-1)
        return test, train

    def measured(self, scores: Floats, test: Indices) -> Tables:
        """Areas of scores (replicates, models, folds, cases) of the test cases of every fold."""
        return measures(np.moveaxis(scores, 1, 2), self.sizes[0] // self.splits.parts)

    def with_halves(self, tables: Tables, score: Scoring, rng: np.random.Generator) -> Tables:
        """Return the tables and, halving by halving, the mean areas in both halves."""
        if self.half_folds is None:
            return tables
        cut = self.half_folds.test_cases(len(tables.iauprec), rng, self.sizes)
        n_positive = self.sizes[0] // (2 * self.half_folds.folds)
        means = []
        for test in np.moveaxis(cut, 1, 0):
            folds, train = self._halved(test)
            areas = measures(np.moveaxis(score(folds, train), 1, 2), n_positive).iauprec
            means.append(areas.reshape(len(areas), 2, -1, areas.shape[-1]).mean(axis=2))
        return replace(tables, half_means=np.stack(means, axis=1))

    def _halved(self, test: Indices) -> tuple[Indices, Floats]:
        """Folds of both halves in a row, and 1 for the rest of a fold's half (replicates, folds, cases)."""
        folds = test.reshape(len(test), -1, test.shape[-1])
        inside = np.zeros((*test.shape[:2], sum(self.sizes)))
        np.put_along_axis(inside, test.reshape(*test.shape[:2], -1), 1.0, axis=-1)
        train = np.repeat(inside, test.shape[2], axis=1)
        np.put_along_axis(train, folds, 0.0, axis=-1)
        return folds, train


def take_cases(features: Floats, test: Indices) -> Floats:
    """Features (..., cases, features) of the test cases (..., folds, test)."""
    return np.take_along_axis(features[..., None, :, :], test[..., None], axis=-2)


def feature_subsets(
    n_replicates: int, rng: np.random.Generator, *, task: Task, effect: float = 0.0, learner: str = "lda"
) -> Tables:
    """One learner on random feature subsets, one for each model, fixed for the replicate.

    All features are alike, so all subsets are equally good, and the models equal in expectation over data
    sets. `learner` is a name from `LEARNERS`, or "any": drawn for the replicate.
    """
    held = task.subsets(task.data(n_replicates, rng), rng, effect)
    test, train = task.folds(n_replicates, rng)
    learners = list(LEARNERS.values()) if learner == "any" else [STRESS_LEARNERS[learner]]
    drawn = rng.integers(len(learners), size=n_replicates)

    def score(test: Indices, train: Floats) -> Floats:
        scores = [
            learners[k](x, w[None], take_cases(x, t[None]), task.sizes[0])
            for k, x, w, t in zip(drawn, held, train, test, strict=True)
        ]
        return np.stack(scores)

    return task.with_halves(task.measured(score(test, train), test), score, rng)


def different_learners(
    n_replicates: int,
    rng: np.random.Generator,
    *,
    task: Task,
    effect: float = 0.0,
    means: Floats = LEARNER_MEANS,
) -> Tables:
    """All learners against each other on the same features, their mean areas made equal.

    Learners differ in truth; `LEARNER_MEANS`, from 4,000 data sets of this task, are taken out, or other
    `means`. That equates IAUPREC only, so there is no grid of priors.
    """
    held = task.subsets(task.data(n_replicates, rng), rng, 0.0)[:, :1]
    better = held.copy()
    better[:, :, : task.sizes[0]] += effect / np.sqrt(task.n_used)
    test, train = task.folds(n_replicates, rng)
    learners = list(LEARNERS.values())[: task.n_models]

    def score(test: Indices, train: Floats) -> Floats:
        scores = [
            np.concatenate(
                [
                    learner(x, w[None], take_cases(x, t[None]), task.sizes[0])
                    for learner, x in zip(learners, (first, *[rest] * (len(learners) - 1)), strict=True)
                ]
            )
            for first, rest, w, t in zip(better, held, train, test, strict=True)
        ]
        return np.stack(scores)

    tables = task.measured(score(test, train), test)
    centred = tables.iauprec - means
    return task.with_halves(Tables(centred, {}), score, rng)


def random_starts(n_replicates: int, rng: np.random.Generator, *, task: Task, effect: float = 0.0) -> Tables:
    """Discriminants of random projections, drawn anew for each model and fold: only the seed differs."""
    features = task.data(n_replicates, rng)[:, None, None]
    test, train = task.folds(n_replicates, rng)

    def score(test: Indices, train: Floats) -> Floats:
        shape = (n_replicates, task.n_models, test.shape[1], task.n_features, task.n_used)
        seen = features @ rng.standard_normal(shape)
        seen[:, 0, :, : task.sizes[0]] += effect / np.sqrt(task.n_used)
        tested = take_cases(seen, test[:, None, :, None])
        return lda(seen, train[:, None, :, None], tested, task.sizes[0])[..., 0, :]

    return task.with_halves(task.measured(score(test, train), test), score, rng)


def fixed_scores(n_replicates: int, rng: np.random.Generator, *, task: Task, effect: float = 0.0) -> Tables:
    """Binormal scores that no training changes, cases in common: only the cut varies over folds."""
    common, own = (rng.standard_normal((n_replicates, n, sum(task.sizes))) for n in (1, task.n_models))
    scores = np.sqrt(SHARED_VARIANCE) * common + np.sqrt(1 - SHARED_VARIANCE) * own
    scores[..., : task.sizes[0]] += QUALITY[0]
    scores[:, 0, : task.sizes[0]] += effect
    test, train = task.folds(n_replicates, rng)

    def score(test: Indices, _train: Floats) -> Floats:
        return np.take_along_axis(scores[:, :, None], test[:, None], axis=-1)

    return task.with_halves(task.measured(score(test, train), test), score, rng)


def unstable_selection(
    n_replicates: int, rng: np.random.Generator, *, task: Task, n_noise: int = 120, effect: float = 0.0
) -> Tables:
    """Features selected by t inside training, from a random pool for each model: a stress case.

    A pool holds a random subset of the task's features, alike for all models, among features of pure noise.
    """
    held = task.subsets(task.data(n_replicates, rng), rng, effect)
    pool = np.concatenate([held, rng.standard_normal((*held.shape[:-1], n_noise))], axis=-1)
    test, train = task.folds(n_replicates, rng)

    def score(test: Indices, train: Floats) -> Floats:
        best = selected_features(pool, train[:, None], task.sizes[0], task.n_used)
        seen = np.take_along_axis(pool[:, :, None], best[..., None, :], axis=-1)
        tested = take_cases(seen, test[:, None, :, None])
        return lda(seen, train[:, None, :, None], tested, task.sizes[0])[..., 0, :]

    return task.with_halves(task.measured(score(test, train), test), score, rng)


@dataclass(frozen=True)
class Scenario:
    """A named scenario: how it is drawn, its design, and which models are equal in truth.

    Attributes
    ----------
    design : str
        The folds, in words.
    n_folds, n_models : int
        Size of the tables.
    ratio : float
        Test cases for each training case; 0 for independent folds.
    draw : callable
        From (n_replicates, rng) and an effect of the first model to `Tables`.
    n_better : int
        Number of models, counted from the first, that are not equal to the others.
    full : int
        Replicates of a recorded study.
    half_folds : HalfFolds or None
        Halvings beside the folds.
    """

    design: str
    n_folds: int
    n_models: int
    ratio: float
    draw: Callable[..., Tables]
    n_better: int = 0
    full: int = 4000
    half_folds: HalfFolds | None = None

    @property
    def fold_design(self) -> FoldDesign:
        """The design as a comparison of such tables has it."""
        if self.ratio == 0:
            return FoldDesign("independent", n_folds=self.n_folds, reason="simulated")
        fraction = self.ratio / (1 + self.ratio)
        design = FoldDesign("repeated_holdout", fraction, n_folds=self.n_folds, reason="simulated")
        if self.half_folds is None:
            return design
        return replace(design, kind="split_half", n_halvings=self.half_folds.halvings)


#: Effect of the better model where the null is partly true: found in nearly every replicate.
CLEAR_EFFECT = 1.5


def _independent(
    n_folds: int = 20, spread: float = 1.0, *, better: bool = False, n_models: int = 4
) -> Scenario:
    draw = partial(
        binormal, effect=CLEAR_EFFECT if better else 0.0, n_folds=n_folds, n_models=n_models, spread=spread
    )
    return Scenario(f"{n_folds} independent folds", n_folds, n_models, 0.0, draw, int(better))


def _gaussian(rho: float = 0.0, n_copies: int = 0) -> Scenario:
    design = f"20 folds correlated {rho:g}" if rho else "20 independent folds"
    draw = partial(gaussian, rho=rho, n_copies=n_copies)
    return Scenario(design, 20, 4, 0.25 if rho else 0.0, draw, full=10_000)


def _learned(name: str, draw: Callable[..., Tables], task: Task, full: int = 2000) -> Scenario:
    splits = task.splits
    drawn = partial(draw, task=task)
    return Scenario(
        name, splits.n_folds, task.n_models, splits.ratio, drawn, full=full, half_folds=task.half_folds
    )


_HOLD_OUTS = Splits(20, 5)


_SMALL = (40, 160)


_ANY_LEARNER = partial(feature_subsets, learner="any")


_QDA = partial(feature_subsets, learner="qda")


_NEIGHBOURS = partial(feature_subsets, learner="nearest_neighbours")


SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        "S1": _independent(),
        "S1-M5": _independent(5),
        "S1-M10": _independent(10),
        "S1-K8": _independent(n_models=8),
        "S1-partial": _independent(better=True),
        "S3-1.3": _independent(spread=1.3),
        "S3-1.6": _independent(spread=1.6),
        "S3": _independent(spread=2.3),
        "S3-M5": _independent(5, 2.3),
        "S3-M10": _independent(10, 2.3),
        "S3-partial": _independent(spread=2.3, better=True),
        "S2a": _learned("20 hold-outs 80/20", feature_subsets, Task(_HOLD_OUTS)),
        "S2a-J5": _learned("5 hold-outs 80/20", feature_subsets, Task(Splits(5, 5))),
        "S2a-J100": _learned("100 hold-outs 80/20", feature_subsets, Task(Splits(100, 5)), 1000),
        "S2a-10fold": _learned("10-fold", feature_subsets, Task(Splits(1, 10, 10))),
        "S2a-10x10": _learned("10 x 10-fold", feature_subsets, Task(Splits(10, 10, 10)), 1000),
        "S2a-5x2": _learned("5 x 2-fold", feature_subsets, Task(Splits(5, 2, 2))),
        "S2b": _learned("20 hold-outs 80/20", random_starts, Task(_HOLD_OUTS)),
        "S2c": _learned("20 hold-outs 80/20", _ANY_LEARNER, Task(_HOLD_OUTS)),
        "S2c-qda": _learned("20 hold-outs 80/20", _QDA, Task(_HOLD_OUTS), 1000),
        "S2c-knn": _learned("20 hold-outs 80/20", _NEIGHBOURS, Task(_HOLD_OUTS), 1000),
        "S2c-half": _learned("20 hold-outs 50/50", _ANY_LEARNER, Task(Splits(20, 2))),
        "S2c-5x2": _learned("5 x 2-fold", _ANY_LEARNER, Task(Splits(5, 2, 2))),
        "S2d": _learned("20 hold-outs 80/20", different_learners, Task(_HOLD_OUTS)),
        "S2e": _learned("20 hold-outs 80/20", unstable_selection, Task(_HOLD_OUTS, _SMALL)),
        "S2e-half": _learned("20 hold-outs 50/50", unstable_selection, Task(Splits(20, 2), _SMALL)),
        "S2e-10fold": _learned("10-fold", unstable_selection, Task(Splits(1, 10, 10), _SMALL)),
        "S2e-5x2": _learned("5 x 2-fold", unstable_selection, Task(Splits(5, 2, 2), _SMALL)),
        **{f"G-{rho:g}": _gaussian(rho) for rho in (0.0, 0.05, 0.1, 0.2, 0.3)},
        **{f"P-{n}": _gaussian(n_copies=n) for n in (3, 4, 16)},
    }
)


def _both_ways(draw: Callable[..., Tables], sizes: tuple[int, int]) -> tuple[Scenario, Scenario]:
    """Hold-outs of a fifth beside 20 halvings, and half splits."""
    halved = Task(_HOLD_OUTS, sizes, half_folds=HalfFolds())
    return (
        _learned("20 hold-outs 80/20 beside 20 halvings", draw, halved, full=400),
        _learned("20 hold-outs 50/50", draw, Task(Splits(20, 2), sizes), full=400),
    )


#: Draws of learners that change more and more with their training set, and the size of the data set.
HALVED_DRAWS: Mapping[str, tuple[Callable[..., Tables], tuple[int, int]]] = MappingProxyType(
    {
        "S2a": (feature_subsets, (100, 300)),
        "qda": (_QDA, (100, 300)),
        "knn-15": (_NEIGHBOURS, (100, 300)),
        "knn-1": (partial(feature_subsets, learner="nearest_neighbour"), (100, 300)),
        "S2e": (unstable_selection, _SMALL),
        "noise-300": (partial(unstable_selection, n_noise=300), _SMALL),
    }
)


#: Their scenarios in the study of halvings.
HALVED_SCENARIOS: Mapping[str, tuple[Scenario, Scenario]] = MappingProxyType(
    {name: _both_ways(*each) for name, each in HALVED_DRAWS.items()}
)


#: Negatives' and positives' scores (Boyd et al. 2013, figure 2).
SETTINGS: Mapping[str, tuple[FrozenDistribution, FrozenDistribution]] = {
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


#: Levels at which every test is judged.
LEVELS = (0.05, 0.005)
