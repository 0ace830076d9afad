"""How many folds or cases would tell each pair of models apart, as numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd

from skewanova import _fold_kernels as fold_kernels
from skewanova import _planning_kernels as kernels
from skewanova._design import Resampling
from skewanova._influence_kernels import influence_kernel
from skewanova._omnibus_result import fold_table
from skewanova._paired_cases import paired_cases
from skewanova._streamed_scores import Scores
from skewanova.evaluation import Evaluation

PLAN_COLUMNS = (
    "model_a",
    "model_b",
    "design",
    "observed",
    "difference",
    "std_error",
    "alpha",
    "power",
    "power_now",
    "limit_power",
    "n_folds_now",
    "n_folds",
    "case_factor",
    "positive_factor",
    "negative_factor",
)


class _Pair(NamedTuple):
    """What a plan needs of one pair on one test set."""

    observed: float
    positive: float  # variance that the positives add
    negative: float


def plan_frame(
    table: Scores,
    measures: Evaluation,
    design: Resampling,
    *,
    difference: float | None = None,
    power: float = 0.8,
    alpha: float = 0.05,
) -> pd.DataFrame:
    """Plan every pair, in the order of the measures' models.

    Parameters
    ----------
    table : ScoreTable or StreamedScores
        What was evaluated.
    measures : Evaluation
        Its measures.
    design : Resampling
        How the folds came about, or that there is one test set.
    difference : float, optional
        Difference to be found; by default the observed one.
    power, alpha : float
        Power wanted and level of each pair's test.

    Returns
    -------
    DataFrame
        Columns of `PLAN_COLUMNS`.
    """
    pairs = list(combinations(measures.models, 2))
    options: dict[str, float] = {"power": power, "alpha": alpha}
    if design.kind != "one_set":
        return _folds(measures, pairs, design, difference, **options)
    rows = [
        (a, b, *_plan(pair, design, difference, power=power, alpha=alpha))
        for (a, b), pair in zip(pairs, _one_set(table, measures), strict=True)
    ]
    return pd.DataFrame(rows, columns=list(PLAN_COLUMNS))


def _folds(
    measures: Evaluation,
    pairs: Sequence[tuple[str, str]],
    design: Resampling,
    difference: float | None,
    *,
    power: float,
    alpha: float,
) -> pd.DataFrame:
    """All pairs at once, from the mean and deviation of their differences over folds."""
    values, _ = fold_table(measures.iauprec)
    found = fold_kernels.paired_t(values)
    deviation = found.std_error * np.sqrt(len(values))
    wanted = found.estimate if difference is None else np.full(len(pairs), difference)
    numbers = np.full((4, len(pairs)), np.nan)
    moved = deviation > 0  # else the models agree in every fold: nothing to plan with
    size, spread = wanted[moved], deviation[moved]
    options: dict[str, float] = {"ratio": design.ratio, "alpha": alpha}
    numbers[0, moved] = kernels.t_power(size, spread, design.n_folds, **options)
    numbers[1, moved] = kernels.limit_power(size, spread, **options)
    numbers[2, moved] = kernels.folds_needed(size, spread, power=power, **options)
    numbers[3, moved] = kernels.case_factor_over_folds(size, spread, design.n_folds, power=power, **options)
    frame = pd.DataFrame(pairs, columns=["model_a", "model_b"]).assign(
        design=design.kind,
        observed=found.estimate,
        difference=wanted,
        std_error=deviation * np.sqrt(1 / design.n_folds + design.ratio),
        alpha=alpha,
        power=power,
        n_folds_now=float(design.n_folds),
        positive_factor=np.nan,
        negative_factor=np.nan,
    )
    names = ("power_now", "limit_power", "n_folds", "case_factor")
    return frame.assign(**dict(zip(names, numbers, strict=True)))[list(PLAN_COLUMNS)]


def _one_set(table: Scores, measures: Evaluation) -> list[_Pair]:
    """Difference of every pair, and the variance that each class adds to it."""
    positive, scores = paired_cases(table)
    columns = [scores[table.models.index(model)] for model in measures.models]
    influence = [influence_kernel(positive, score, measures.deployment_prior)[1] for score in columns]
    area = measures.iauprec["iauprec"].to_numpy()
    pairs = []
    for i, j in combinations(range(len(area)), 2):
        moved = influence[i] - influence[j]
        parts = [float((moved[r] ** 2).sum() / np.count_nonzero(r) ** 2) for r in (positive, ~positive)]
        pairs.append(_Pair(float(area[i] - area[j]), *parts))
    return pairs


def _plan(
    pair: _Pair, design: Resampling, difference: float | None, *, power: float, alpha: float
) -> tuple[object, ...]:
    """Everything from the column design on."""
    wanted = pair.observed if difference is None else difference
    std_error = float(np.sqrt(pair.positive + pair.negative))
    numbers = _cases(pair, wanted, power=power, alpha=alpha)
    if std_error == 0:  # the models agree on every case: nothing to plan with
        numbers = (np.nan, np.nan, *numbers[2:3], *[np.nan] * 4)
    return (design.kind, pair.observed, wanted, std_error, alpha, power, *numbers)


def _cases(pair: _Pair, wanted: float, *, power: float, alpha: float) -> tuple[float, ...]:
    """Power now and without limit, folds (one), and the factors of all cases and of either class."""

    def power_of(positive: float, negative: float) -> float:
        variance = pair.positive / positive + pair.negative / negative
        return float(kernels.z_power(wanted, np.sqrt(variance), alpha)) if variance > 0 else np.nan

    factors = (
        kernels.factor_needed(lambda f: power_of(f, f), power),
        kernels.factor_needed(lambda f: power_of(f, 1), power),
        kernels.factor_needed(lambda f: power_of(1, f), power),
    )
    return (power_of(1, 1), np.nan, 1.0, np.nan, *factors)
