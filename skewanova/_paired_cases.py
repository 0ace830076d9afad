"""The cases of one test set, each with its label and the scores of all models."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova._checks import Bools, InputError
from skewanova._score_table import ScoreTable
from skewanova._streamed_scores import Scores

UNPAIRED = (
    "the models of one test set must be scored on the same cases, but their rows do not go together: add a "
    "case column that says which row is about which case"
)
STREAMED = (
    "models on one test set are compared case by case, which takes the scores in memory: read them by "
    "read_scores()"
)


class PairedCases(NamedTuple):
    """Labels, and one column of scores for each model."""

    positive: Bools
    scores: tuple[NDArray[Any], ...]


def paired_cases(table: Scores) -> PairedCases:
    """Line up the models of a table with one fold: by case or, without cases, row by row.

    Parameters
    ----------
    table : ScoreTable
        All models on one fold, scored on the same cases.

    Returns
    -------
    PairedCases
        Labels of shape (n_cases,), and scores of that shape for each model of the table, in its dtype.

    Raises
    ------
    ValueError
        If there are several folds, or the models' rows cannot be about the same cases.
    """
    if len(table.folds) != 1:
        raise InputError(f"cases are paired within one fold, but the table has {len(table.folds)}")
    if not isinstance(table, ScoreTable):
        raise InputError(STREAMED)
    model = table.codes("model")
    rows = [np.flatnonzero(model == m) for m in range(len(table.models))]
    if table.has_cases:
        case = table.codes("case")
        rows = [at[np.argsort(case[at])] for at in rows]
        key = case
    else:
        key = table.frame["y_true"].to_numpy()
    if any(not np.array_equal(key[at], key[rows[0]]) for at in rows):
        raise InputError(UNPAIRED)
    positive, score = table.frame["y_true"].to_numpy(), table.frame["y_score"].to_numpy()
    return PairedCases(positive[rows[0]], tuple(score[at] for at in rows))
