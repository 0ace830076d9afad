"""Power that a plan promises from a pilot, and power that samples of the planned size have.

A pilot is drawn, the size for a power of .8 planned, and a sample of that size compared by `compare`. Two
models' scores are correlated .5 within a class; the second one's positives score higher.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skewanova import compare, evaluate, plan_comparison, read_scores
from skewanova.base.checks import Bools, Floats, SkewanovaWarning
from skewanova.comparison.analysis import choose_pairwise_test
from skewanova.inference import compare_test_set, posthoc
from skewanova.scores.design import FoldDesign
from skewanova.scores.pairing import pair_cases
from studies.results import Study, study_of
from studies.runner import Cell, Run, chosen, one_by_one, share_and_error
from studies.scenarios import Splits, lda

WEIGHTING = (0.05, 0.2)


#: Power that is planned for, and the level of the test.
POWER, ALPHA = 0.8, 0.05


#: Largest size that is drawn.
LARGEST = 8.0


FULL = 1_000


PLANS_COLUMNS = (
    "design", "difference", "median_size", "measure", "rate", "std_error", "replicates",
)  # fmt: skip


class PlannedDesign(NamedTuple):
    """How tables are drawn at a size (1 for the pilot), the difference planned for, and the planned column.

    `unit` is the number that the planned column is a multiple of: the pilot's folds or runs, or 1.
    """

    draw: Callable[[np.random.Generator, float], pd.DataFrame]
    difference: float
    column: str
    unit: float = 1.0
    options: Mapping[str, Any] = {}


def _scores(positive: Bools, rng: np.random.Generator, difference: float, *, spread: float = 0.0) -> Floats:
    """Draw scores (n_cases, 2), whose classes are 1 and 1 + `difference` apart (normal with this spread)."""
    common, *own = rng.normal(size=(3, len(positive)))
    distance = np.array([1.0, 1.0 + difference]) + spread * rng.normal(size=2)
    return np.asarray(np.sqrt(0.5) * (common[:, None] + np.transpose(own)) + positive[:, None] * distance)


def _table(positive: Bools, scores: Floats, **columns: Any) -> pd.DataFrame:
    """Return the rows of both models."""
    parts = [
        pd.DataFrame({"model": name, "y_true": positive * 1, "y_score": scores[:, i], **columns})
        for i, name in enumerate("AB")
    ]
    return pd.concat(parts, ignore_index=True)


def _labels(n_positive: float, n_negative: float) -> Bools:
    return np.arange(round(n_positive) + round(n_negative)) < round(n_positive)


def _draw_folds(rng: np.random.Generator, size: float, *, n_folds: int, difference: float) -> pd.DataFrame:
    """Draw independent folds of 40 positives and 160 negatives, whose quality varies."""
    positive = _labels(40, 160)
    parts = [
        _table(positive, _scores(positive, rng, difference, spread=0.15), fold=fold)
        for fold in range(round(n_folds * size))
    ]
    return pd.concat(parts, ignore_index=True)


def _draw_test_set(rng: np.random.Generator, size: float) -> pd.DataFrame:
    """Draw a test set, 60 positives and 600 negatives in the pilot."""
    positive = _labels(60 * size, 600 * size)
    return _table(positive, _scores(positive, rng, 0.35), case=np.arange(len(positive)))


def _draw_clusters(rng: np.random.Generator, size: float) -> pd.DataFrame:
    """Draw a test set in clusters of eight cases with a part of the score in common, 60 in the pilot."""
    n_clusters = round(60 * size)
    cluster = np.repeat(np.arange(n_clusters), 8)
    positive = rng.random(len(cluster)) < np.repeat(rng.beta(1, 4, n_clusters), 8)
    scores = _scores(positive, rng, 0.4) + 0.7 * rng.normal(size=(n_clusters, 2))[cluster]
    return _table(positive, scores, case=np.arange(len(positive)), cluster=cluster)


def _draw_runs(rng: np.random.Generator, size: float) -> pd.DataFrame:
    """Draw four runs in the pilot of both models on one test set of 100 positives and 900 negatives."""
    positive = _labels(100, 900)
    fixed, parts = _scores(positive, rng, 0.5), []
    for run in range(max(round(4 * size), 2)):
        noise = rng.normal(size=fixed.shape) * 0.5 + positive[:, None] * rng.normal(size=2) * 0.15
        parts.append(_table(positive, fixed + noise, case=np.arange(len(positive)), fold=run))
    return pd.concat(parts, ignore_index=True)


def _draw_hold_outs(rng: np.random.Generator, size: float) -> pd.DataFrame:
    """Draw 20 hold-outs of a fifth of a data set, and linear discriminants on three features each."""
    sizes = round(20 * size) * 5, round(60 * size) * 5
    positive = _labels(*sizes)
    features = (
        rng.normal(size=(2, len(positive), 3)) + positive[:, None] * np.array([0.6, 0.9])[:, None, None]
    )
    test = Splits(20, 5).test_cases(1, rng, sizes)[0]
    train = np.ones((len(test), len(positive)))
    np.put_along_axis(train, test, 0.0, axis=-1)
    parts = []
    for fold, cases in enumerate(test):
        scores = [lda(part, train[[fold]], part[cases][None], sizes[0])[0] for part in features]
        parts.append(_table(positive[cases], np.transpose(scores), case=cases, fold=fold))
    return pd.concat(parts, ignore_index=True)


_INDEPENDENT = {"design": "independent"}


#: Every design by its name. Differences are means of 400 tables of the pilot's size.
DESIGNS: Mapping[str, PlannedDesign] = {
    "5 folds": PlannedDesign(
        partial(_draw_folds, n_folds=5, difference=0.35), -0.122143, "n_folds", 5, _INDEPENDENT
    ),
    "10 folds": PlannedDesign(
        partial(_draw_folds, n_folds=10, difference=0.25), -0.0863256, "n_folds", 10, _INDEPENDENT
    ),
    "test set": PlannedDesign(_draw_test_set, -0.122138, "case_factor"),
    "clusters": PlannedDesign(_draw_clusters, -0.113561, "case_factor"),
    "runs": PlannedDesign(_draw_runs, -0.154011, "n_folds", 4, {"design": "runs"}),
    "hold-outs": PlannedDesign(
        _draw_hold_outs,
        -0.185926,
        "case_factor",
        1,
        {"design": FoldDesign("repeated_holdout", test_fraction=0.2)},
    ),
}


def plans_study(*, designs: Sequence[str] | None = None, **run: Any) -> Study:
    """Simulate pilots, plan a power of .8 from each, and compare models on samples of the planned size.

    Parameters
    ----------
    designs : sequence of str, optional
        Names of `DESIGNS`; by default all.
    **run
        Fields of :class:`~studies.runner.Run`.

    Returns
    -------
    Study
        Frame with the columns of `PLANS_COLUMNS`: the share of samples of the planned and of the assured size
        in which `compare` tells the models apart, and the share of pilots that no size suffices for. A size
        over 8 times the pilot's is drawn as 8 times.

    Raises
    ------
    ValueError
        If a design is unknown, or a number out of range.

    Examples
    --------
    >>> from studies.plans import plans_study
    >>> frame = plans_study(designs=["test set"], replicates=2, progress=False).to_frame()
    >>> frame["measure"].tolist()
    ['planned', 'assured', 'no size']
    """
    how = Run(**run)
    cells = [
        Cell((name,), how.number(FULL), partial(one_by_one, partial(measure_plan, name)))
        for name in chosen(designs, DESIGNS, argument="designs")
    ]
    return study_of("plans", cells, _rows, columns=PLANS_COLUMNS, run=how)


def measure_plan(name: str, rng: np.random.Generator) -> Floats:
    """Return the planned size over the pilot's, and p at the planned and at the assured size."""
    design = DESIGNS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        plan = plan_comparison(
            design.draw(rng, 1.0),
            WEIGHTING,
            difference=abs(design.difference),
            power=POWER,
            alpha=ALPHA,
            **design.options,
        ).to_frame()
        sizes = [float(plan[f"{design.column}{end}"].iloc[0]) / design.unit for end in ("", "_assured")]
        return np.array([sizes[0], *(_p_value(design, rng, min(size, LARGEST)) for size in sizes)])


def _p_value(design: PlannedDesign, rng: np.random.Generator, size: float) -> float:
    """Return the primary p-value of the pair on a new sample of this size."""
    return primary_p_value(design.draw(rng, size), design.options)


def primary_p_value(frame: pd.DataFrame, options: Mapping[str, Any]) -> float:
    """Return the p-value of the pair that `compare` has, by the test that it chooses."""
    table = read_scores(frame)
    measures = evaluate(table, deployment_prior=WEIGHTING, **options)
    if measures.design.has_runs:
        pairs = compare(table, deployment_prior=WEIGHTING, at_priors=(0.1,), **options).pairs
        return float(pairs.loc[pairs["role"] == "primary", "p_adjusted"].iloc[0])
    if measures.design.is_test_set:
        cases = pair_cases(table)
        scores = np.column_stack(cases.scores)
        test = compare_test_set(cases.positive, scores, deployment_prior=WEIGHTING, cluster=cases.cluster)
        return float(test.p_adjusted[0])
    method = choose_pairwise_test(measures.design, ALPHA)
    return float(posthoc(measures, method=method)["p_adjusted"].iloc[0])


def _rows(cell: Cell, values: Floats) -> Iterator[tuple[object, ...]]:
    (name,) = cell.key
    size = float(np.median(values[:, 0]))
    hits = [values[:, 1] < ALPHA, values[:, 2] < ALPHA, values[:, 0] > LARGEST]
    for measure, column in zip(("planned", "assured", "no size"), hits, strict=True):
        rate = share_and_error(column.astype(np.float64))
        yield (name, DESIGNS[name].difference, size, measure, *rate, len(values))
