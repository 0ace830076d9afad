"""Complete folds, the same cases for all models, and what `check` says of a table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import Bools, Floats, InputError, check_choice, emit
from skewanova.base.text import visible
from skewanova.priors.evidence import UnitSums
from skewanova.scores.soundness import auc_of_folds, ranking_findings, score_findings
from skewanova.scores.table import Scores, ScoreTable
from skewanova.scores.validation import MAX_EXAMPLES

UNPAIRED = (
    "the models of one test set must be scored on the same cases, but their rows do not go together: add a "
    "case column that says which row is about which case"
)


STREAMED = (
    "models on one test set are compared case by case, which takes the scores in memory: give a frame "
    "of Dask or Spark with a column case, since its rows have no order by which cases could be told"
)


class PairedCases(NamedTuple):
    """Labels, one column of scores for each model and, where given, clusters numbered from 0 and weights."""

    positive: Bools
    scores: tuple[NDArray[Any], ...]
    cluster: NDArray[np.intp] | None = None
    weight: Floats | None = None


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
    score = table.frame["y_score"].to_numpy()
    positive, cluster, weight = _sampled(table, rows[0])
    return PairedCases(positive, tuple(score[at] for at in rows), cluster, weight)


def _sampled(
    table: ScoreTable, rows: NDArray[np.intp]
) -> tuple[Bools, NDArray[np.intp] | None, Floats | None]:
    """Labels of some rows and, where given, their clusters numbered from 0 and their weights."""
    cluster = weight = None
    if table.has_clusters:
        cluster = np.unique(table.codes("cluster")[rows], return_inverse=True)[1].reshape(-1)
    if table.has_weights:
        weight = table.frame["weight"].to_numpy()[rows]
    return table.frame["y_true"].to_numpy()[rows], cluster, weight


def paired_runs(table: ScoreTable) -> tuple[PairedCases, ...]:
    """Line up the models of a table whose folds all hold the same cases: one entry a fold.

    Raises
    ------
    ValueError
        If a model was not scored on all cases in every fold, or one cluster holds all cases of a class.
    """
    case = table.codes("case")
    order = np.lexsort((case, table.codes("model"), table.codes("fold")))
    n_groups = len(table.folds) * len(table.models)
    n_cases = len(order) // n_groups
    if not np.array_equal(case[order], np.tile(case[order[:n_cases]], n_groups)):
        raise InputError(UNPAIRED)
    positive, cluster, weight = _sampled(table, order[:n_cases])
    if cluster is not None:
        _refuse_single_clusters(UnitSums.of(positive.astype(np.intp), cluster, weight, 2).total)
    score = table.frame["y_score"].to_numpy()[order].reshape(len(table.folds), len(table.models), n_cases)
    return tuple(PairedCases(positive, tuple(run), cluster, weight) for run in score)


#: Share of the weight of a class below which what is left of it is rounding.
NO_WEIGHT = 1e-9


def check_clustered_runs(table: Scores) -> None:
    """The models of several runs go together, and either class comes in several clusters.

    Raises
    ------
    ValueError
        As :func:`paired_runs`.
    """
    if isinstance(table, ScoreTable):
        paired_runs(table)
    elif table.sampling is not None and table.has_clusters:
        _refuse_single_clusters(table.sampling.held.total[0, 0])


def _refuse_single_clusters(total: Floats) -> None:
    """Raise where one cluster holds all of a class: how clusters vary cannot show.

    `total` is what the clusters weigh in the class of negatives and in that of positives; the largest is 1.
    """
    for side in ("positive", "negative"):
        whole = total[int(side == "positive")]
        if whole - 1 <= NO_WEIGHT * whole:
            raise InputError(
                "`cluster` must name at least 2 clusters of either class where several runs test the same "
                f"cases, but the only cluster with {side} cases cannot show how they vary; leave out the "
                "column if each case was drawn by itself"
            )


MISSING_POLICIES = ("raise", "drop")


def complete_table(table: Scores, *, missing: str = "raise") -> tuple[Scores, tuple[str, ...]]:
    """Return a table in which every model has every fold, and what was dropped to get there.

    Parameters
    ----------
    table : ScoreTable
        The table.
    missing : {"raise", "drop"}
        What to do with a fold that some model lacks.

    Returns
    -------
    table : ScoreTable
        The complete table.
    notes : tuple of str
        One warning for each fold dropped.

    Raises
    ------
    ValueError
        If a cell is missing and the policy is "raise", or if no fold is left.
    """
    check_choice(missing, MISSING_POLICIES, "missing")
    absent = np.argwhere(table.counts.sum(axis=2) == 0)
    if not len(absent):
        return table, ()
    cells = [f"model {table.models[m]!r} in fold {table.folds[f]!r}" for m, f in absent]
    n_others = len(cells) - MAX_EXAMPLES
    absences = "; ".join(cells[:MAX_EXAMPLES]) + (f"; and {n_others} more" if n_others > 0 else "")
    if missing == "raise":
        raise InputError(
            f"every model must be scored in every fold, but these are missing: {absences}. Score them, or "
            "drop the folds for all models with missing='drop'"
        )
    dropped = {table.folds[f] for _, f in absent}
    retained = [fold for fold in table.folds if fold not in dropped]
    if not retained:
        raise InputError(f"no fold holds every model; missing: {absences}")
    folds = f"{len(dropped)} of {len(table.folds)} folds"
    note = f"dropped {folds} for all models, since these are missing: {absences}"
    return table.select_folds(retained), emit([note])


def check_paired(table: Scores) -> tuple[str, ...]:
    """Check that all models of a fold were scored on the same cases; return what cannot be checked.

    Raises
    ------
    ValueError
        If the case column shows that they were not.
    """
    if not table.has_cases:
        return _check_paired_counts(table)
    n_pairs, first = table.unpaired()
    if n_pairs:
        displayed = ", ".join(f"case {case!r} in fold {fold!r}" for case, fold in first)
        raise InputError(
            f"all models of a fold must be scored on the same cases, but {n_pairs} (fold, case) pairs lack "
            f"a model, the first: {displayed}"
        )
    return ()


def _check_paired_counts(table: Scores) -> tuple[str, ...]:
    """Without case numbers, unequal class counts are the only sign of unpaired folds."""
    odd = np.flatnonzero((table.counts != table.counts[:1]).any(axis=(0, 2)))
    if not len(odd):
        return ()
    fold = table.folds[odd[0]]
    note = (
        f"models have different numbers of cases in {len(odd)} folds (the first: fold {fold!r}): they cannot "
        "have been scored on the same cases, which the tests assume"
    )
    return emit([note])


def describe_table(table: Scores) -> list[str]:
    """Say in a few lines what a table holds, and whether a comparison will accept it.

    Parameters
    ----------
    table : ScoreTable
        The table.

    Returns
    -------
    list of str
        Lines of text.

    Raises
    ------
    ValueError
        If a comparison would refuse the table: fewer than 2 models, a model missing in a fold, different
        cases across models in a fold, or several runs on the same cases of which one cluster holds a class.
    """
    check_several_models(table)
    complete_table(table)
    notes = check_paired(table)
    test_set = len(table.folds) == 1
    halvings = table.halvings if isinstance(table, ScoreTable) else None
    if test_set and (isinstance(table, ScoreTable) or table.parts is None):
        paired_cases(table)
    elif _has_clustered_runs(table):
        check_clustered_runs(table)
    negative, positive = table.counts[..., 0], table.counts[..., 1]
    auc = auc_of_folds(table)
    suspicions = [
        result.advice for result in (*ranking_findings(auc), *score_findings(table, auc)) if result.advice
    ]
    return [
        f"{table.counts.sum():,} rows: {len(table.models)} models x {_folds(table)}",
        f"models: {', '.join(map(visible, table.models))}",
        f"positives a fold: {_range(positive)}; negatives a fold: {_range(negative)}",
        f"prior in the table: {positive.sum() / table.counts.sum():.4g}",
        "cases: " + ("named, and the same for all models of a fold" if table.has_cases else "not named"),
        *_sampling_lines(table),
        *([] if halvings is None else [f"halvings: {halvings.n_halvings}, of {halvings.n_cases:,} cases"]),
        *(f"warning: {note}" for note in (*notes, *suspicions)),
        *(["one fold: models are compared by how much their areas vary over cases"] if test_set else []),
        "The table can be compared.",
    ]


def _has_clustered_runs(table: Scores) -> bool:
    """Whether every fold tests the same cases, which come in clusters."""
    if not (table.has_clusters and table.has_cases):
        return False
    shared, _ = table.shared_cases()
    return bool((shared == shared[0, 0]).all())


def _sampling_lines(table: Scores) -> list[str]:
    """Clusters and weights, where there are any, and how many equal ones the smallest fold is worth."""
    clusters, weights = table.n_clusters, table.weights
    told = [f"clusters: {clusters:,}, none of them cut by a fold"] if clusters else []
    if weights is not None:
        low, high, prior = weights
        told.append(f"weights: {low:.4g} to {high:.4g}, which make the prior {prior:.4g}")
    if not told:
        return []
    negative, positive = table.effective_counts.min(axis=(0, 1)).tolist()
    unit = "clusters" if clusters else "cases"
    return [
        *told,
        f"effective numbers in the smallest fold: {positive:.4g} positives, {negative:.4g} negatives "
        f"(so many equal {unit})",
    ]


def check_several_models(table: Scores) -> None:
    """Raise unless there are models to compare."""
    if len(table.models) < 2:
        raise InputError(f"a comparison needs at least 2 models, but the table has {len(table.models)}")


def _folds(table: Scores) -> str:
    return "1 fold" if len(table.folds) == 1 else f"{len(table.folds)} folds"


def _range(values: NDArray[np.int64]) -> str:
    return f"{values.min()}" if values.min() == values.max() else f"{values.min()} to {values.max()}"
