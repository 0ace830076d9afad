"""Confidence intervals of a score table: one row a model and fold, and pooled where folds are disjoint."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova._checks import Bools, Seed, SkewanovaWarning, emit
from skewanova._design import find_resampling
from skewanova._score_table import ScoreTable
from skewanova.intervals import Interval, confidence_interval
from skewanova.priors import DeploymentPrior
from skewanova.scores import read_scores

INTERVAL_COLUMNS = (
    "model", "level", "fold", "estimate", "low", "high", "confidence_level", "method", "warning"
)  # fmt: skip
#: What a row is about: one fold, or the cases of all folds ranked together, which has no fold.
FOLD, POOLED = "fold", "pooled"


def interval_table(
    scores: object,
    *,
    prior: float | None = None,
    deployment_prior: DeploymentPrior | tuple[float, float] | None = None,
    method: str = "auto",
    level: float = 0.95,
    estimator: str = "average_precision",
    rng: Seed = 0,
) -> pd.DataFrame:
    """Confidence interval for every model in every fold, and over all cases where folds are disjoint.

    Parameters
    ----------
    scores : ScoreTable, path or frame
        Held-out scores, as for :func:`~skewanova.read_scores`; one model or one fold will do.
    prior, deployment_prior, method, level, estimator, rng
        As for :func:`~skewanova.confidence_interval`.

    Returns
    -------
    DataFrame
        Columns of `INTERVAL_COLUMNS`; ``warning`` is empty where there is none. If the case column shows that
        no case is in two folds, each model has one more row, with the level "pooled" and no fold: its scores
        of all folds ranked together, which takes the models trained for the folds for one.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores` and :func:`~skewanova.confidence_interval`.

    Examples
    --------
    >>> from skewanova import interval_table, load_satellite_scores
    >>> table = interval_table(load_satellite_scores(), prior=0.2)
    >>> len(table), table.loc[0, ["estimate", "low", "high"]].astype(float).round(2).tolist()
    (60, [0.84, 0.8, 0.87])
    """
    table = scores if isinstance(scores, ScoreTable) else read_scores(scores)
    groups: list[tuple[str, str, object, Bools, NDArray[Any]]] = [
        (m, FOLD, f, y, s) for m, f, y, s in table.groups()
    ]
    if len(table.folds) > 1 and table.has_cases and find_resampling(table)[0].kind == "kfold":
        for model in table.models:
            own = [(y, s) for m, _, _, y, s in groups if m == model]
            positive, score = (np.concatenate(side) for side in zip(*own, strict=True))
            groups.append((model, POOLED, pd.NA, positive, score))
    rows = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)  # every row keeps its own; told once below
        for model, what, fold, positive, score in groups:
            found = confidence_interval(
                positive,
                score,
                prior=prior,
                deployment_prior=deployment_prior,
                method=method,
                level=level,
                estimator=estimator,
                rng=rng,
            )
            rows.append((model, what, fold, *_values(found)))
    frame = pd.DataFrame(rows, columns=list(INTERVAL_COLUMNS))
    frame["fold"] = frame["fold"].convert_dtypes()  # missing where there is none, else as it was
    emit(text for text in frame["warning"] if text)
    return frame


def _values(found: Interval) -> tuple[object, ...]:
    return (found.estimate, found.low, found.high, found.level, found.method, found.warning or "")
