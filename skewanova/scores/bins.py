"""Labelled cases of a model, each once, and how many are in which bin of its score."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import Bools, InputError, check_choice
from skewanova.priors.mixtures import N_BINS, binned
from skewanova.scores.table import Scores, ScoreTable

SCORE_BIN_COLUMNS = ("model", "bin", "score_high", "n_positive", "n_negative")


class LabelledCases(NamedTuple):
    """Labelled cases of one model, each once."""

    positive: Bools
    score: NDArray[Any]
    case: NDArray[np.intp]


def labelled_cases(table: ScoreTable, model: str, fold: str | int | None = None) -> LabelledCases:
    """Each case once: by its mean score over the folds that tested it, or in one fold."""
    rows = table.frame[table.frame["model"] == model]
    if fold is not None:
        label = check_choice(str(fold), [str(label) for label in table.folds], "fold")
        rows = rows[rows["fold"].astype(str) == label]
    positive, score = rows["y_true"].to_numpy(), rows["y_score"].to_numpy()
    if not table.has_cases:
        if rows["fold"].nunique() > 1:
            raise InputError(
                "the labelled table must have a case column, so that each case counts once, or `fold` must "
                f"name one of its {rows['fold'].nunique()} folds"
            )
        return LabelledCases(positive, score, np.arange(len(rows)))
    case, first, index = np.unique(rows["case"].cat.codes.to_numpy(), return_index=True, return_inverse=True)
    if len(case) == len(rows):
        return LabelledCases(positive[first], score[first], case.astype(np.intp))
    mean = np.bincount(index, weights=score.astype(np.float64)) / np.bincount(index)
    return LabelledCases(positive[first], mean, case.astype(np.intp))


def score_bins(table: Scores) -> pd.DataFrame:
    """Cases in the bins of each model's score: what tells the prior of later scores.

    Columns of `SCORE_BIN_COLUMNS`; no rows where cases cannot be counted once: its rows are elsewhere,
    or has several folds and no cases. Models whose scores are all alike have none.
    """
    empty = pd.DataFrame({name: pd.Series(dtype=float) for name in SCORE_BIN_COLUMNS})
    if not isinstance(table, ScoreTable) or (len(table.folds) > 1 and not table.has_cases):
        return empty
    parts = [_bins_of(table, model) for model in table.models]
    retained = [part for part in parts if part is not None]
    return pd.concat(retained, ignore_index=True) if retained else empty


def _bins_of(table: ScoreTable, model: str) -> pd.DataFrame | None:
    """Rows of one model, if its scores tell anything apart."""
    cases = labelled_cases(table, model)
    if not np.isfinite(cases.score).all() or cases.score.min() == cases.score.max():
        return None
    result = binned(cases.positive, cases.score, cases.score[:1], N_BINS)
    return pd.DataFrame(
        {
            "model": model,
            "bin": np.arange(1, len(result.edges) + 2),
            "score_high": [*result.edges.astype(np.float64), np.nan],
            "n_positive": result.counts.positive.astype(int),
            "n_negative": result.counts.negative.astype(int),
        },
        columns=list(SCORE_BIN_COLUMNS),
    )
