"""Size of `compare_values` for accuracy, area under ROC, Brier score and log loss, by design."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold, StratifiedShuffleSplit

from skewanova import FoldDesign, SkewanovaWarning
from skewanova.base.checks import Bools, Floats
from skewanova.comparison.analysis import FoldTests, Options
from skewanova.comparison.values import choose_primary_tests, resolve_design
from skewanova.inference.omnibus import omnibus_test
from skewanova.scores.values import read_values
from studies.learners import LEARNERS, Setting
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one, share_and_error
from studies.scenarios import LEVELS, N_NEIGHBOURS, take_cases

#: Cases, distance of the classes, and number of models, all equal in truth.
SETTING = Setting(60, 140, 0.6, 3, (0.3, 0.3))


#: Probability of the positive class that a learner's score stands for.
PROBABILITIES: Mapping[str, Callable[[Floats], Floats]] = {
    "logistic": special.expit,
    "nearest_neighbours": lambda score: (np.floor(score) + 0.5) / (N_NEIGHBOURS + 1),
}


def measure_auc(p: Floats, positive: Bools) -> float:
    """Area under ROC by the ranks of the positives (Mann and Whitney 1947)."""
    n = int(positive.sum())
    ranks = stats.rankdata(p)[positive].sum()
    return float((ranks - n * (n + 1) / 2) / n / (len(p) - n))


#: Measures of probabilities and labels, and whether greater is better.
MEASURES: Mapping[str, tuple[Callable[[Floats, Bools], float], bool]] = {
    "accuracy": (lambda p, positive: float(((p >= 0.5) == positive).mean()), True),
    "roc_auc": (measure_auc, True),
    "brier": (lambda p, positive: float(((p - positive) ** 2).mean()), False),
    "log_loss": (lambda p, positive: float(-np.log(np.where(positive, p, 1 - p)).mean()), False),
}


#: Splits of one data set by design, and what `compare_values` is told.
DESIGNS: Mapping[str, tuple[Any, str | FoldDesign]] = {
    "kfold 10": (partial(StratifiedKFold, 10, shuffle=True), "kfold"),
    "repeated kfold 4 x 5": (
        partial(RepeatedStratifiedKFold, n_splits=5, n_repeats=4), FoldDesign("repeated_kfold", 0.2)
    ),
    "20 hold-outs of 0.2": (
        partial(StratifiedShuffleSplit, 20, test_size=0.2), FoldDesign("repeated_holdout", 0.2)
    ),
    "20 hold-outs of 0.5": (
        partial(StratifiedShuffleSplit, 20, test_size=0.5), FoldDesign("repeated_holdout", 0.5)
    ),
}  # fmt: skip


#: Data sets, each with one hold-out of a half, by what each is: a fold of its own, or a data set.
SAMPLES: Mapping[str, tuple[int, str]] = {
    "10 independent folds": (10, "independent"),
    "6 data sets": (6, "datasets"),
    "15 data sets": (15, "datasets"),
}


VALUES_COLUMNS = ("learner", "design", "measure", "question", "level", "rate", "std_error", "replicates")


def values_study(*, scenarios: Sequence[str] | None = None, **run: Any) -> Study:
    """Count how often `compare_values` finds a difference between models equal in truth.

    Parameters
    ----------
    scenarios : sequence of str, optional
        Designs, names from `DESIGNS` and `SAMPLES`; by default all.
    **run
        Fields of :class:`~studies.runner.Run`: replicates, full (500), rng, n_jobs, progress.

    Returns
    -------
    Study
        Frame with the columns of `VALUES_COLUMNS`. The rate of "models" is that of the test of all models,
        that of "pairs" of families of adjusted tests with a rejection.

    Raises
    ------
    ValueError
        If a design is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.values import values_study
    >>> study = values_study(scenarios=["kfold 10"], replicates=2, progress=False)
    >>> sorted(set(study.to_frame()["measure"]))
    ['accuracy', 'brier', 'log_loss', 'roc_auc']
    """
    how = Run(**run)
    cells = [
        Cell((learner, design), how.number(500), partial(one_by_one, partial(null_p_values, learner, design)))
        for learner in PROBABILITIES
        for design in chosen(scenarios, {**DESIGNS, **SAMPLES}, argument="scenarios")
    ]
    return study_of("values", cells, _rows, columns=VALUES_COLUMNS, run=how)


def null_p_values(learner: str, design: str, rng: np.random.Generator) -> Floats:
    """p-value of all models and the smallest adjusted one of pairs, of each measure (n_measures, 2)."""
    parts, stated = draw_parts(learner, design, rng)
    return np.array([_compare(parts, stated, *MEASURES[name]) for name in MEASURES])


def draw_parts(
    learner: str, design: str, rng: np.random.Generator
) -> tuple[list[tuple[Floats, Bools]], str | FoldDesign]:
    """Probabilities and labels, as of `_probabilities`, of every data set of a design; what it is called."""
    if design in DESIGNS:
        splitter, stated = DESIGNS[design]
        return [_probabilities(learner, splitter(random_state=int(rng.integers(2**31))), rng)], stated
    number, name = SAMPLES[design]
    half = StratifiedShuffleSplit(1, test_size=0.5, random_state=0)
    return [_probabilities(learner, half, rng) for _ in range(number)], name


def _probabilities(learner: str, splitter: Any, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Probabilities (n_models, n_folds, n_test) and labels (n_folds, n_test) of one new data set."""
    blocks, positive = SETTING.blocks(rng, 0), SETTING.positive
    cut = list(splitter.split(np.zeros(len(positive)), positive))
    test, train = np.stack([cases for _, cases in cut]), np.zeros((len(cut), len(positive)))
    for row, (cases, _) in zip(train, cut, strict=True):
        row[cases] = 1.0
    scores = LEARNERS[learner](blocks, train[None], take_cases(blocks, test[None]), SETTING.n_positive)
    return PROBABILITIES[learner](scores), positive[test]


def _compare(
    parts: Sequence[tuple[Floats, Bools]],
    design: str | FoldDesign,
    measure: Callable[[Floats, Bools], float],
    greater: bool,
) -> tuple[float, float]:
    gains = np.array(
        [
            [measure(p, label) for p in models]
            for each, labels in parts
            for models, label in zip(np.moveaxis(each, 1, 0), labels, strict=True)
        ]
    )
    return default_p_values(gains if greater else -gains, design)


def default_p_values(gains: Floats, design: str | FoldDesign) -> tuple[float, float]:
    """Return the primary p-values of `compare_values` for gains (n_folds, n_models), and nothing else."""
    columns = {str(k): column for k, column in enumerate(gains.T)}
    stated, unit = resolve_design(design, read_values(columns))
    options = Options(0.05, "auto", None, None, 0.0, 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)  # models alike in every fold
        primary, _ = choose_primary_tests(unit, options, gains.shape)
        frame = pd.DataFrame(columns).rename_axis("fold").reset_index()
        frame = frame.melt("fold", var_name="model", value_name="iauprec")
        tests = FoldTests(frame, list(columns), stated, options, primary)
        models = omnibus_test(frame, method=tests.omnibus, ratio=tests.ratio).to_frame()["p_value"]
        pairs = tests.test_family(tests.pairwise)["p_adjusted"]
    return float(models.fillna(1).iloc[0]), float(pairs.fillna(1).min())


def _rows(cell: Cell, p_values: Floats) -> Iterator[tuple[object, ...]]:
    for name, each in zip(MEASURES, np.moveaxis(p_values, 1, 0), strict=True):
        for question, p in zip(("models", "pairs"), each.T, strict=True):
            for level in LEVELS:
                rate = share_and_error((p <= level).astype(np.float64))
                yield *cell.key, name, question, level, *rate, len(p)
