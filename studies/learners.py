"""Size of the default of `compare_estimators` for ten learners, and what scores say of instability."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from scipy import special
from sklearn import config_context
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeRegressor

from skewanova.base.checks import Bools, Floats
from skewanova.comparison.pipeline import KERNEL_MACHINE_FACTOR, TEST_FRACTIONS
from skewanova.curves.estimators import prior_averaged_area
from skewanova.curves.roc import steps_from_scores
from skewanova.inference.case_resampling import SortedScores
from skewanova.inference.fold_statistics import paired_t_p_values
from skewanova.inference.sampling import Sample
from skewanova.priors.evidence import Support
from skewanova.priors.weightings import as_deployment_prior
from skewanova.scores.design import FoldDesign
from skewanova.scores.halvings import Units, draw_holdouts
from studies.halvings import default_p_values
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one, share_and_error
from studies.scenarios import (
    DEPLOYMENT,
    HALVED_DRAWS,
    LEVELS,
    STRESS_LEARNERS,
    Indices,
    Learner,
    Splits,
    Tables,
    Task,
    feature_subsets,
    lda,
    random_starts,
    selected_features,
    take_cases,
)

#: Hold-outs that `compare_estimators` draws.
N_SPLITS = 20


#: Features of noise among which `selection` selects, and how many it selects.
N_NOISE, N_SELECTED = 60, 4


#: Penalty and steps of the logistic regression.
PENALTY, NEWTON_STEPS = 1.0, 8


def logistic(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
    """Logistic regression with a penalty of `PENALTY` / 2 on the squared slopes, by Newton's steps."""
    cases, held = (np.concatenate([x, np.ones((*x.shape[:-1], 1))], axis=-1) for x in (features, test))
    cases, positive = cases[..., None, :, :], np.arange(features.shape[-2]) < n_positive
    ridge = PENALTY * np.diag([*np.ones(features.shape[-1]), 0.0])
    weights = np.zeros((*test.shape[:-2], cases.shape[-1], 1))
    for _ in range(NEWTON_STEPS):
        p = special.expit(cases @ weights)[..., 0]
        gradient = np.swapaxes(cases, -1, -2) @ (train * (positive - p))[..., None] - ridge @ weights
        curvature = np.swapaxes(cases * (train * p * (1 - p))[..., None], -1, -2) @ cases + ridge
        weights = weights + np.linalg.solve(curvature, gradient)
    return np.asarray((held @ weights)[..., 0])


def select_and_discriminate(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
    """Linear discriminant on the `N_SELECTED` features that the training cases separate best."""
    best = selected_features(features, train, n_positive, N_SELECTED)
    seen = np.take_along_axis(features[..., None, :, :], best[..., None, :], axis=-1)
    tested = np.take_along_axis(test, best[..., None, :], axis=-1)
    return lda(seen, train[..., None, :], tested[..., None, :, :], n_positive)[..., 0, :]


Fit = Callable[[Floats, Floats, int], Callable[[Floats], Floats]]


def fold_by_fold(fit: Fit) -> Learner:
    """Return the learner that fits anew, with a seed of its own, for every model and fold."""

    def score(features: Floats, train: Floats, test: Floats, n_positive: int) -> Floats:
        positive = (np.arange(features.shape[-2]) < n_positive).astype(np.float64)
        folds = np.broadcast_to(train, (*test.shape[:2], len(positive))) > 0
        features, test, seed = features.astype(np.float32), test.astype(np.float32), count()
        with config_context(assume_finite=True, skip_parameter_validation=True):
            return np.array(
                [
                    [fit(x[w], positive[w], next(seed))(t) for w, t in zip(rows, tests, strict=True)]
                    for x, rows, tests in zip(features, folds, test, strict=True)
                ]
            )

    return score


def fit_tree(cases: Floats, label: Floats, seed: int, **options: Any) -> Callable[[Floats], Floats]:
    """Grow a tree on labels 0 and 1 until its leaves are pure, unless `options` say otherwise."""
    tree = DecisionTreeRegressor(random_state=seed, **options).fit(cases, label, check_input=False).tree_
    return lambda test: np.asarray(tree.predict(test)[:, 0])


def fit_forest(cases: Floats, label: Floats, seed: int) -> Callable[[Floats], Floats]:
    """Grow `N_TREES` trees on bootstrap samples, with half of the features tried at every node."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(len(label), size=(N_TREES, len(label)))
    trees = [fit_tree(cases[rows], label[rows], k, max_features=0.5) for k, rows in enumerate(drawn)]
    return lambda test: np.mean([tree(test) for tree in trees], axis=0)


def fit_boosting(cases: Floats, label: Floats, seed: int) -> Callable[[Floats], Floats]:
    """Add `N_STAGES` trees of three levels, each fitted to the residuals and shrunk by `RATE`."""
    trees, residual = [], label - label.mean()
    for _ in range(N_STAGES):
        trees.append(fit_tree(cases, residual, seed, max_depth=3))
        residual = residual - RATE * trees[-1](cases)
    return lambda test: np.sum([tree(test) for tree in trees], axis=0)


def fit_svm(cases: Floats, label: Floats, _seed: int) -> Callable[[Floats], Floats]:
    """Fit a support vector machine with a Gaussian kernel."""
    machine = SVC().fit(cases, label)
    return lambda test: np.asarray(machine.decision_function(test))


#: Trees of a forest; stages of boosting and how much of a tree each adds.
N_TREES, N_STAGES, RATE = 5, 10, 0.1


#: Learners by name; `selection` sees noise beside its features.
LEARNERS: Mapping[str, Learner] = {
    "logistic": logistic,
    **{name: STRESS_LEARNERS[name] for name in STRESS_LEARNERS if name != "lda"},
    "selection": select_and_discriminate,
    "tree": fold_by_fold(fit_tree),
    "forest": fold_by_fold(fit_forest),
    "boosting": fold_by_fold(fit_boosting),
    "svm": fold_by_fold(fit_svm),
    "svm_half": fold_by_fold(fit_svm),  # tested as tables of its scores are, without a stated correlation
}


#: Correlation of half splits that `compare_estimators` takes for a learner, if not a half.
CORRELATIONS = {"svm": KERNEL_MACHINE_FACTOR / (1 + KERNEL_MACHINE_FACTOR)}


class Setting(NamedTuple):
    """Cases of both classes, distance of the classes in a feature, number of models, deployment prior."""

    n_positive: int
    n_negative: int
    distance: float
    n_models: int
    prior: tuple[float, float]

    @property
    def name(self) -> str:
        """The setting in words."""
        low, high = self.prior
        return (
            f"{self.n_positive} + {self.n_negative}, {'easy' if self.distance > EASY else 'hard'}, "
            f"{self.n_models} models, prior {low:g} to {high:g}"
        )

    @property
    def supported(self) -> bool:
        """Whether `compare` judges such data at every deployment prior."""
        support = Support(self.n_negative, self.n_positive)
        return support.has_enough_positives and bool(support.is_supported(self.prior[0]))

    @property
    def positive(self) -> Bools:
        """Labels of the cases, positives first."""
        return np.arange(self.n_positive + self.n_negative) < self.n_positive

    def blocks(self, rng: np.random.Generator, n_noise: int) -> Floats:
        """Features of each model (models, cases, features), exchangeable between models: one data set."""
        task = Task(Splits(1, 2), self[:2], distance=self.distance, n_models=self.n_models)
        blocks = task.subsets(task.data(1, rng), rng, 0.0)[0]
        return np.concatenate([blocks, rng.standard_normal((*blocks.shape[:2], n_noise))], axis=-1)


#: Distance of the classes in a feature above which a setting is called easy.
EASY = 0.6


SETTINGS = (
    Setting(50, 50, 0.3, 2, (0.5, 0.7)),
    Setting(20, 80, 0.9, 4, (0.05, 0.2)),
    Setting(50, 150, 0.9, 2, (0.25, 0.5)),
    Setting(100, 100, 0.3, 4, (0.35, 0.6)),
    Setting(20, 180, 0.3, 4, (0.05, 0.2)),
    Setting(50, 350, 0.9, 4, (0.15, 0.4)),
    Setting(100, 300, 0.3, 2, (0.15, 0.3)),
    Setting(200, 200, 0.9, 2, (0.01, 0.1)),
)


LEARNER_COLUMNS = (
    "learner", "n_positive", "n_negative", "distance", "n_models", "prior_low", "prior_high", "supported",
    "question", "level", "rate", "std_error", "replicates",
)  # fmt: skip


def learners_study(
    *, scenarios: Sequence[str] | None = None, settings: Sequence[Setting] = SETTINGS, **run: Any
) -> Study:
    """Count how often the default of `compare_estimators` finds a difference between models equal in truth.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names from `LEARNERS`; by default all.
    settings : sequence of Setting, default SETTINGS
        Data sets of which the models see exchangeable features.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (100), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `LEARNER_COLUMNS`. The rate of "models" is that of the test of all models,
        that of "pairs" of families of adjusted tests with a rejection.

    Raises
    ------
    ValueError
        If a learner is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.learners import SETTINGS, learners_study
    >>> study = learners_study(scenarios=["qda"], settings=SETTINGS[:1], replicates=2, progress=False)
    >>> sorted(set(study.to_frame()["question"]))
    ['models', 'pairs']
    """
    how = Run(**run)
    cells = [
        Cell((name, setting), how.number(100), partial(one_by_one, partial(null_p_values, name, setting)))
        for name in chosen(scenarios, LEARNERS, argument="scenarios")
        for setting in settings
    ]
    return study_of("learners", cells, _rows, columns=LEARNER_COLUMNS, run=how)


def null_p_values(name: str, setting: Setting, rng: np.random.Generator) -> tuple[float, float]:
    """p-value of the test of all models, and the smallest adjusted one of pairs, on one data set."""
    blocks = setting.blocks(rng, N_NOISE if name == "selection" else 0)
    units, fraction = Units.from_groups(setting.positive, None), TEST_FRACTIONS["repeated_holdout"]
    splits = draw_holdouts(units, N_SPLITS, test_fraction=fraction, rng=rng)
    test = np.stack([split.test for split in splits])
    train = np.ones((N_SPLITS, len(setting.positive)))
    np.put_along_axis(train, test, 0.0, axis=-1)
    scores = LEARNERS[name](blocks, train[None], take_cases(blocks, test[None]), setting.n_positive)
    areas = [
        [_area(score, setting.positive[cases], setting) for score in fold]
        for fold, cases in zip(np.moveaxis(scores, 1, 0), test, strict=True)
    ]
    design = FoldDesign("repeated_holdout", fraction, n_folds=N_SPLITS, correlation=CORRELATIONS.get(name))
    models, pairs = default_p_values(design, Tables(np.array(areas)[None], {})).values()
    return float(models[0]), float(pairs.min())


def _area(score: Floats, positive: Bools, setting: Setting) -> float:
    steps = steps_from_scores(positive, score)
    return prior_averaged_area(steps, as_deployment_prior(setting.prior), "trapezoid")


def _rows(cell: Cell, p_values: Floats) -> Iterator[tuple[object, ...]]:
    name, setting = cell.key
    known = name, *setting[:4], *setting.prior, setting.supported
    for question, p in zip(("models", "pairs"), p_values.T, strict=True):
        for level in LEVELS:
            yield *known, question, level, *share_and_error((p <= level).astype(np.float64)), len(p)


# --- what repeated folds say of instability -----------------------------------------------------------------


INSTABILITY_COLUMNS = (
    "scenario", "rejected", "std_error", "measure", "median", "q05", "q95", "detected", "replicates",
)  # fmt: skip


#: Draws of two models on one data set, and its size: those of the halvings; stable learners of few cases; and
#: learners of which only the seed differs.
INSTABILITY_DRAWS = {
    **HALVED_DRAWS,
    "S2a-small": (feature_subsets, HALVED_DRAWS["S2e"][1]),
    "S2b": (random_starts, HALVED_DRAWS["S2a"][1]),
}


#: The scenario that sets the threshold, which a twentieth of its data sets exceed.
STABLE = "S2a"


MEASURES = ("variance_ratio", "share_within_cases")


class WatchedTask(Task):
    """A task of which every data set has two measures of instability in the place of areas at priors."""

    def measured(self, scores: Floats, test: Indices) -> Tables:
        """Return areas, and by data set the ratio of variances over folds and the share within cases."""
        tables = super().measured(scores, test)
        n_positive = self.sizes[0] // self.splits.parts
        difference = tables.iauprec[..., 0] - tables.iauprec[..., 1]
        pairs = np.moveaxis(scores, 1, 2)
        sampling = [[_sampling_variance(fold, n_positive) for fold in folds] for folds in pairs]
        ratio = difference.var(axis=1, ddof=1) / np.mean(sampling, axis=1)
        ranks = (np.argsort(np.argsort(scores, axis=-1), axis=-1) + 0.5) / scores.shape[-1]
        within = [
            np.mean([share_within(rank, cases, self.sizes[0]) for rank in models])
            for models, cases in zip(ranks, test, strict=True)
        ]
        return Tables(tables.iauprec, dict(zip(MEASURES, (ratio, np.array(within)), strict=True)))


def _sampling_variance(scores: Floats, n_positive: int) -> float:
    """Jackknife variance over the test cases of the difference of two models' areas."""
    sample = Sample(np.arange(scores.shape[-1]) < n_positive)
    values = [
        SortedScores(sample, score)
        .jackknife_values([DEPLOYMENT], "trapezoid")
        .centre_in_place(sample)
        .select_units()
        for score in scores
    ]
    return float(((values[0] - values[1]) ** 2).sum())


def share_within(rank: Floats, cases: Indices, n_positive: int) -> float:
    """Share of the variance of ranks (folds, tests) within a class that is between tests of one case."""
    case, rank = cases.ravel(), rank.ravel()
    number = np.bincount(case)
    mean = np.bincount(case, rank) / np.maximum(number, 1)
    within = ((rank - mean[case]) ** 2).sum() / (number[number > 0] - 1).sum()
    positive = case < n_positive
    return float(within * len(rank) / sum(rank[side].var() * side.sum() for side in (positive, ~positive)))


def instability_study(*, scenarios: Sequence[str] | None = None, **run: Any) -> Study:
    """Measure how far scores over 20 hold-outs of a fifth tell stable from unstable learners.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Names from `INSTABILITY_DRAWS`; by default all. `STABLE` is always among them.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (200), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `INSTABILITY_COLUMNS`, over data sets: how often the corrected t test
        rejected true equality at .05, and two measures: the variance of a difference over
        folds by the variance that the jackknife over test cases explains, and the share of the variance of
        ranks that is between tests of one case. ``detected`` is the share above the .95 quantile of `STABLE`.

    Raises
    ------
    ValueError
        If a scenario is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.learners import instability_study
    >>> frame = instability_study(scenarios=["S2e"], replicates=3, progress=False).to_frame()
    >>> sorted(set(frame["scenario"]))
    ['S2a', 'S2e']
    """
    how = Run(**run)
    names = dict.fromkeys([STABLE, *chosen(scenarios, INSTABILITY_DRAWS, argument="scenarios")])
    cells = [Cell((name,), how.number(200), partial(_instability, name)) for name in names]
    threshold: dict[str, float] = {}

    def rows(cell: Cell, values: Mapping[str, Floats]) -> Iterator[tuple[object, ...]]:
        size = share_and_error((values["p_value"] <= max(LEVELS)).astype(np.float64))
        for measure in MEASURES:
            each = values[measure]
            low, middle, high = np.quantile(each, (0.05, 0.5, 0.95))
            threshold.setdefault(measure, float(high))
            detected = float((each > threshold[measure]).mean())
            yield cell.key[0], *size, measure, middle, low, high, detected, len(each)

    return study_of("instability", cells, rows, columns=INSTABILITY_COLUMNS, run=how)


def _instability(name: str, seed: np.random.SeedSequence, size: int) -> Mapping[str, Floats]:
    draw, sizes = INSTABILITY_DRAWS[name]
    cut = Splits(N_SPLITS, 5)
    tables = draw(size, np.random.default_rng(seed), task=WatchedTask(cut, sizes, n_models=2))
    p = paired_t_p_values(tables.iauprec, inflation=1 + cut.n_folds * cut.ratio)[:, 0]
    return {"p_value": p, **tables.auprec}
