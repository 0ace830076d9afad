"""The score table: one row for each held-out case and model, read, checked and grouped here and only here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova._checks import InputError, check_choice, emit
from skewanova._score_table import SHOWN, ScoreTable, build_table, score_values
from skewanova._tables_in import load_table

COLUMNS = ("model", "fold", "y_true", "y_score")
#: A column of this name tells data sets apart, whose folds must not be mixed.
DATASET_COLUMNS = frozenset({"dataset"})
MISSING_POLICIES = ("error", "drop_fold")


class SeveralDatasetsError(InputError):
    """A table of several data sets stands where one is wanted."""


def read_scores(
    source: object, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> ScoreTable:
    """Read and check a long table of held-out scores.

    Parameters
    ----------
    source : path or frame
        ``.csv``, ``.csv.gz`` or ``.parquet`` (extra ``parquet``), or a pandas, polars or pyarrow table, with
        the columns model, fold, y_true, y_score and, optionally, case (which case of the data set a row is
        about). A higher score speaks for the positive class.
    columns : mapping, optional
        Where the table uses other names: ``{"model": "classifier", "y_score": "probability"}``.
    pos_label : object, optional
        The positive class; needed unless the labels are {0, 1}, booleans or {-1, 1}.

    Returns
    -------
    ScoreTable
        The checked table.

    Raises
    ------
    ValueError
        If a column is missing, a value is missing or unusable, a (model, fold) lacks a class, a (model, fold,
        case) stands twice, or a case has two labels. The message names the rows, by line of a file.
    TypeError
        If scores are not real numbers, or `source` is neither a path nor a frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova import read_scores
    >>> frame = pd.DataFrame({"model": ["A"] * 3, "fold": 1, "y_true": [0, 1, 1], "y_score": [0.2, 0.4, 0.9]})
    >>> table = read_scores(frame)
    >>> table.models, table.folds, table.counts.tolist()
    (('A',), (1,), [[[1, 2]]])
    """
    names = _column_names(columns)
    required = [name for column, name in names.items() if column != "case" or column in (columns or {})]
    labels = [name for column, name in names.items() if column != "y_score"]
    kept = [names["case"], *DATASET_COLUMNS.difference(names.values())]
    raw = load_table(source, required=required, optional=kept, text=[*labels, *DATASET_COLUMNS])
    _check_one_dataset(raw.frame, kept[1:])
    renamed = raw.frame.rename(columns={name: column for column, name in names.items()})
    return build_table(renamed, raw.where, pos_label, raw.source)


def _check_one_dataset(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Folds of several data sets are not folds of one."""
    for column in columns:
        if column in frame and frame[column].nunique() > 1:
            n_datasets = frame[column].nunique()
            raise SeveralDatasetsError(
                f"the table holds {n_datasets} data sets (column {column!r}), whose folds must not be mixed: "
                "compare them through compare_datasets() (`skewanova compare` does), or keep one"
            )


def scores_from_wide(
    source: object,
    *,
    y_true: str = "y_true",
    models: Sequence[str] | None = None,
    fold: str | None = None,
    case: str | None = None,
    pos_label: object = None,
) -> ScoreTable:
    """Read and check a wide table of held-out scores: one row a case, one column a model.

    Parameters
    ----------
    source : path or frame
        As for :func:`read_scores`.
    y_true : str, default "y_true"
        Column of the labels.
    models : sequence of str, optional
        Columns of scores, named by model; by default all columns that have a name and no other role.
    fold, case : str, optional
        Columns of the fold and of the case; by default those called fold and case, where there are any and
        `models` does not name them. Without a fold, all rows are one fold.
    pos_label : object, optional
        As for :func:`read_scores`.

    Returns
    -------
    ScoreTable
        The checked table in long form.

    Raises
    ------
    ValueError, TypeError
        As :func:`read_scores`.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova import scores_from_wide
    >>> wide = pd.DataFrame({"y_true": [0, 1, 1], "tree": [0.1, 0.7, 0.6], "net": [0.3, 0.2, 0.9]})
    >>> scores_from_wide(wide).models
    ('tree', 'net')
    """
    given = [name for name in (y_true, fold, case) if name is not None]
    usual = [name for name, role in (("fold", fold), ("case", case)) if role is None]
    known = [*given, *(name for name in usual if name not in (models or ()))]
    rest = None if models is None else known
    raw = load_table(source, required=[*given, *(models or ())], optional=rest, text=known)
    wide = raw.frame
    chosen = [column for column in wide.columns.tolist() if column not in known]
    if not chosen:
        raise InputError("`models` must name at least one column of scores, but there is none left")
    scores = [score_values(wide[column], str(column), raw.where) for column in chosen]
    roles = {"y_true": y_true, "fold": fold or "fold", "case": case or "case"}
    found = {role: wide[name] for role, name in roles.items() if name in known and name in wide}
    labels = pd.DataFrame({"fold": 1, **found})
    parts = [labels.assign(model=str(column)) for column in chosen]
    # What is wrong with a row is wrong once: the first model's rows are checked by themselves.
    build_table(parts[0].assign(y_score=scores[0]), raw.where, pos_label, raw.source)
    long = pd.concat(parts, ignore_index=True).assign(y_score=_stacked(scores))
    return build_table(long, raw.where, pos_label, raw.source)


def complete_table(table: ScoreTable, *, missing: str = "error") -> tuple[ScoreTable, tuple[str, ...]]:
    """Return a table in which every model has every fold, and what was dropped to get there.

    Parameters
    ----------
    table : ScoreTable
        The table.
    missing : {"error", "drop_fold"}
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
        If a cell is missing and the policy is "error", or if no fold is left.
    """
    check_choice(missing, MISSING_POLICIES, "missing")
    absent = np.argwhere(table.counts.sum(axis=2) == 0)
    if not len(absent):
        return table, ()
    cells = [f"model {table.models[m]!r} in fold {table.folds[f]!r}" for m, f in absent]
    told = "; ".join(cells[:SHOWN]) + (f"; and {len(cells) - SHOWN} more" if len(cells) > SHOWN else "")
    if missing == "error":
        raise InputError(
            f"every model must be scored in every fold, but these are missing: {told}. Score them, or drop "
            "the folds for all models with missing='drop_fold'"
        )
    dropped = {table.folds[f] for _, f in absent}
    kept = [fold for fold in table.folds if fold not in dropped]
    if not kept:
        raise InputError(f"no fold holds every model; missing: {told}")
    note = (
        f"dropped {len(dropped)} of {len(table.folds)} folds for all models, since these are missing: {told}"
    )
    frame = table.frame[table.frame["fold"].isin(kept)].reset_index(drop=True)
    frame["fold"] = frame["fold"].cat.set_categories(kept)
    return replace(table, frame=frame), emit([note])


def check_paired(table: ScoreTable) -> tuple[str, ...]:
    """Check that all models of a fold were scored on the same cases; return what cannot be checked.

    Raises
    ------
    ValueError
        If the case column shows that they were not.
    """
    if not table.has_cases:
        return _check_paired_counts(table)
    fold, case = table.codes("fold"), table.codes("case")
    _, first, seen = np.unique(fold * (case.max() + 1) + case, return_index=True, return_counts=True)
    expected = (table.counts.sum(axis=2) > 0).sum(axis=0)[fold[first]]
    odd = np.flatnonzero(seen != expected)
    if len(odd):
        rows = first[odd[:SHOWN]]
        cases = table.frame["case"].iloc[rows].tolist()
        shown = ", ".join(
            f"case {c!r} in fold {table.folds[fold[r]]!r}" for c, r in zip(cases, rows, strict=True)
        )
        raise InputError(
            f"all models of a fold must be scored on the same cases, but {len(odd)} (fold, case) pairs lack "
            f"a model, the first: {shown}"
        )
    return ()


def _check_paired_counts(table: ScoreTable) -> tuple[str, ...]:
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


def _column_names(columns: Mapping[str, str] | None) -> dict[str, str]:
    names = {column: column for column in (*COLUMNS, "case")}
    for column, name in (columns or {}).items():
        names[check_choice(column, tuple(names), "columns")] = name
    return names


def _stacked(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """One column over another; integers that the common dtype would merge are replaced by their ranks."""
    common = np.result_type(*columns)

    def safe(column: NDArray[Any]) -> NDArray[Any]:
        cast = column.astype(common)
        if column.dtype.kind not in "iu" or common.kind != "f":
            return cast
        if len(np.unique(cast)) < len(np.unique(column)):
            return np.unique(column, return_inverse=True)[1].astype(common)
        return cast

    return np.concatenate([safe(column) for column in columns])


def describe_table(table: ScoreTable) -> list[str]:
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
        If a comparison would refuse the table: fewer than 2 models or folds, a model missing in a fold, or
        different cases across models in a fold.
    """
    for word, levels in (("models", table.models), ("folds", table.folds)):
        if len(levels) < 2:
            raise InputError(f"a comparison needs at least 2 {word}, but the table has {len(levels)}")
    complete_table(table)
    notes = check_paired(table)
    negative, positive = table.counts[..., 0], table.counts[..., 1]
    return [
        f"{len(table.frame):,} rows: {len(table.models)} models x {len(table.folds)} folds",
        f"models: {', '.join(map(_printable, table.models))}",
        f"positives a fold: {_range(positive)}; negatives a fold: {_range(negative)}",
        f"prior in the table: {positive.sum() / table.counts.sum():.4g}",
        "cases: " + ("named, and the same for all models of a fold" if table.has_cases else "not named"),
        *(f"warning: {note}" for note in notes),
        "The table can be compared.",
    ]


def _printable(name: str) -> str:
    """Name as it stands, or with escapes where it holds signs that a terminal would act on."""
    return name if name.isprintable() else repr(name)


def _range(values: NDArray[np.int64]) -> str:
    return f"{values.min()}" if values.min() == values.max() else f"{values.min()} to {values.max()}"
