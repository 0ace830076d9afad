"""Points of ROC curves, precision-recall curves, the P-ROC surface, and a threshold by skew."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skewanova.base.checks import Floats, InputError, check_float_array, check_prior_list
from skewanova.base.rounding import TIE
from skewanova.curves.estimators import vertex_precision
from skewanova.curves.groups import Cell, select_curves
from skewanova.curves.roc import RocCurve
from skewanova.evaluation.measures import Evaluation, check_evaluation, prior_grid

RECALL_GRID = np.linspace(0.005, 1.0, 200)


RATE_GRID = np.linspace(0.0, 1.0, 201)


def roc(evaluation: Evaluation, *, fpr: ArrayLike = RATE_GRID) -> pd.DataFrame:
    """Return the true positive rate of every model and fold on a common grid of false positive rates.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    fpr : array_like, optional
        False positive rates; by default 0, 0.005, ..., 1.

    Returns
    -------
    DataFrame
        Columns model, fold, fpr, tpr. Between vertices the curve is linear; on a vertical segment the upper
        end is taken.

    Raises
    ------
    ValueError
        If a false positive rate is out of range.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.evaluation import roc
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> roc(measures).columns.tolist()
    ['model', 'fold', 'fpr', 'tpr']
    """
    rates = _check_operating_rates(fpr, "fpr", zero=True)

    def points(roc: RocCurve) -> dict[str, Floats]:
        last = np.append(np.diff(roc.fpr) > 0, True)
        return {"fpr": rates, "tpr": np.interp(rates, roc.fpr[last], roc.tpr[last])}

    return _stack_points(evaluation, points)


def precision_recall(
    evaluation: Evaluation, priors: ArrayLike | None = None, *, recall: ArrayLike = RECALL_GRID
) -> pd.DataFrame:
    """Return the precision of every model and fold on a common grid of recalls, at several priors.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    priors : array_like, optional
        By default the evaluation's grid.
    recall : array_like, optional
        Recalls above 0; by default 0.005, 0.01, ..., 1.

    Returns
    -------
    DataFrame
        Columns model, fold, prior, recall, precision. Between vertices true and false positives grow in
        proportion. If several points have the same recall, the best precision is taken.

    Raises
    ------
    ValueError
        If a prior or a recall is out of range.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.evaluation import precision_recall
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> len(precision_recall(measures, 0.1, recall=[0.5, 0.9]))
    120
    """
    check_evaluation(evaluation)
    grid = np.asarray(evaluation.priors) if priors is None else check_prior_list(priors, "priors")
    rates = _check_operating_rates(recall, "recall", zero=False)
    columns = {"prior": np.repeat(grid, len(rates)), "recall": np.tile(rates, len(grid))}
    return _stack_points(
        evaluation, lambda roc: {**columns, "precision": _precision(roc, rates, grid).ravel()}
    )


def surface(evaluation: Evaluation) -> pd.DataFrame:
    """Return the P-ROC surface: mean precision over folds by prior and recall (Landgrebe et al. 2006, 4).

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns model, prior, recall, precision.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.evaluation import surface
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> surface(measures).columns.tolist()
    ['model', 'prior', 'recall', 'precision']
    """
    grid, recall = prior_grid(check_evaluation(evaluation), 41), np.linspace(0.02, 1.0, 50)
    result: dict[str, list[Floats]] = {}
    for (model, _), roc in select_curves(evaluation.curves, list_cells(evaluation)).items():
        total, count = result.setdefault(model, [np.zeros((len(grid), len(recall))), np.zeros(1)])
        total += _precision(roc, recall, grid)
        count += 1
    return pd.DataFrame(
        {
            "model": np.repeat(list(result), len(grid) * len(recall)),
            "prior": np.tile(np.repeat(grid, len(recall)), len(result)),
            "recall": np.tile(recall, len(grid) * len(result)),
            "precision": np.concatenate([(total / count).ravel() for total, count in result.values()]),
        }
    )


def _check_operating_rates(values: ArrayLike, name: str, *, zero: bool) -> Floats:
    """Return rates as a vector; raise unless they are at most 1, and above 0 (or 0 if `zero`)."""
    result = np.atleast_1d(check_float_array(values, name))
    wrong = result[~((result >= 0 if zero else result > 0) & (result <= 1))]
    if wrong.size:
        least = "from 0 to 1" if zero else "above 0 and at most 1"
        raise InputError(f"`{name}` must hold numbers {least}, but has {wrong[0]:g}")
    return result


def _precision(roc: RocCurve, recall: Floats, priors: Floats) -> Floats:
    """Return the precision (n_priors, n_recalls) of the curve at each prior and recall."""
    rises = np.diff(roc.tpr) > 0
    level, fewest = (side[np.insert(rises, 0, True)] for side in (roc.tpr, roc.fpr))
    most = roc.fpr[np.append(rises, True)]  # the next segment begins at the largest rate of a recall
    stop = np.searchsorted(level + TIE, recall)
    start = np.maximum(stop - 1, 0)
    share = (recall - level[start]) / np.where(stop > 0, level[stop] - level[start], 1)
    fpr = most[start] + share * (fewest[stop] - most[start])
    return vertex_precision(recall, fpr, priors[:, None])


def skew(evaluation: Evaluation) -> pd.DataFrame:
    """Return accuracy and precision of a threshold as the skew grows (Landgrebe et al. 2006, figure 1).

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns model, fold, prior, skew, tpr, fpr, accuracy, precision. The threshold of each fold is the one
        with the largest ``tpr - fpr``, which is best at prior 0.5.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.evaluation import skew
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> skew(measures)["skew"].iloc[[0, -1]].round(6).tolist()
    [1.0, 1000.0]
    """
    skew = np.geomspace(1.0, 1000.0, 61)
    prior = 1 / (1 + skew)

    def points(roc: RocCurve) -> dict[str, Floats]:
        chosen = 1 + int(np.argmax(roc.tpr[1:] - roc.fpr[1:]))
        tpr, fpr = roc.tpr[chosen], roc.fpr[chosen]
        return {
            "prior": prior,
            "skew": skew,
            "tpr": np.full_like(skew, tpr),
            "fpr": np.full_like(skew, fpr),
            "accuracy": prior * tpr + (1 - prior) * (1 - fpr),
            "precision": vertex_precision(tpr, fpr, prior),
        }

    return _stack_points(evaluation, points)


def _stack_points(evaluation: Evaluation, points: Callable[[RocCurve], dict[str, Floats]]) -> pd.DataFrame:
    """Return the points of every curve as one frame, with the columns model and fold first."""
    curves = select_curves(check_evaluation(evaluation).curves, list_cells(evaluation))
    parts = [points(roc) for roc in curves.values()]
    columns = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    size = len(next(iter(columns.values()))) // len(parts)
    cells = pd.DataFrame(list(curves), columns=["model", "fold"])
    return cells.take(np.repeat(np.arange(len(parts)), size)).reset_index(drop=True).assign(**columns)


def list_cells(evaluation: Evaluation) -> list[Cell]:
    """Return a list of every (model, fold) with a curve, in the order of models and folds."""
    cells = ((m, f) for m in evaluation.models for f in evaluation.folds)
    return [cell for cell in cells if cell in evaluation.curves]
