"""Checks of the columns of a score table, of its counts, and of clusters and weights of cases."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base import checks
from skewanova.base.checks import Bools, Floats, InputError, MultipleDatasetsError, RowName, name_row
from skewanova.scores.columns import SAMPLING_COLUMNS, RawTable, encode_whole_numbers, values_or_codes
from skewanova.scores.table import MAX_EXAMPLES, Codes, Label, ScoreTable, case_labels, level_codes

#: Plain whole numbers of up to 18 digits, also with .0.
INTEGER_TEXT = re.compile(r"(-?[1-9][0-9]{0,17}|0)(\.0)?")


def check_any_row(n_rows: int, table: str = "score table") -> None:
    """Raise if `n_rows` is 0; `table` is the name of the table in the message."""
    if not n_rows:
        raise InputError(f"the {table} must hold at least one row, but is empty")


def fill_fold(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows with the column fold; without one, all rows are in fold 1, and no warning is issued."""
    return frame if "fold" in frame else frame.assign(fold=1)


def locate_group_row(frame: pd.DataFrame) -> RowName:
    """Return a function of R: 'row R of model M in fold F', with those of row 0; 'row R' if it has none."""
    if not len(frame) or any(key not in frame for key in ("model", "fold")):
        return name_row
    model, fold = (frame[key].head(1).tolist()[0] for key in ("model", "fold"))
    return lambda row: f"{name_row(row)} of model {model!r} in fold {fold!r}"


def validate_scores(values: pd.Series[Any], name: str, where: RowName) -> NDArray[Any]:
    """Return the scores in their own dtype, infinite ones too; raise for text, other objects and NaN."""
    return checks.check_scores(values.to_numpy(), name, where=where, remedy="convert the column to floats")


def check_label_column(values: pd.Series[Any], pos_label: object, where: RowName) -> Bools:
    """Return a mask of rows with `pos_label`, or 1 of {0, 1} or {-1, 1}, also as text; raise if unclear."""
    if isinstance(values.dtype, pd.CategoricalDtype) and len(values):
        codes = values_or_codes(values)
        if codes.min() >= 0:
            with suppress(InputError):
                positive = checks.check_labels(values.cat.categories.to_numpy(), pos_label=pos_label)
                return np.asarray(positive[codes])
    return checks.check_labels(values.to_numpy(), pos_label=pos_label, where=where)


def to_categorical(
    values: pd.Series[Any], name: str, where: RowName, *, numeric: bool = False
) -> pd.Categorical[Any]:
    """Return a categorical with levels of text in order of appearance; raise for missing or blank values.

    With `numeric`, the levels are ascending integers if all values are whole numbers, also text or 3.0.
    """
    if numeric and isinstance(values.dtype, np.dtype) and values.dtype.kind in "iu" and len(values):
        coded = encode_whole_numbers(values.to_numpy())
        if coded is not None:
            return pd.Categorical.from_codes(coded[0], pd.Index(coded[1]))
    if values.dtype == object:  # pandas takes 1, 1.0 and True for the same level
        try:
            values = values.map(str, na_action="ignore")
        except UnicodeEncodeError as error:  # from pandas 3 on, which stores text as UTF-8
            checks.check_text([error.object], f"`{name}`")
    codes, names = pd.factorize(values)
    text = [str(value) for value in names]
    blank = [code for code, label in enumerate(text) if not label.strip()]
    if blank or codes.min() < 0:
        empty = np.flatnonzero((codes < 0) | np.isin(codes, blank))
        rows = "1 row is" if len(empty) == 1 else f"{len(empty)} rows are"
        raise InputError(f"`{name}` must not be empty, but {rows}, the first at {where(int(empty[0]))}")
    checks.check_text(text, f"`{name}`")
    in_order = np.array(text, dtype=object)
    is_whole = numeric and all(map(INTEGER_TEXT.fullmatch, text))
    if is_whole:
        in_order = np.array([int(name.removesuffix(".0")) for name in text], dtype=np.int64)
    position, levels = pd.factorize(in_order, sort=is_whole)
    recoded = position.astype(np.min_scalar_type(-len(levels)))
    return pd.Categorical.from_codes(recoded[codes], dtype=pd.CategoricalDtype(pd.Index(levels)))


def read_names(raw: RawTable, *columns: str) -> dict[str, Any]:
    """Return columns that exist, by name, as categoricals, of integers if all are whole (but not models)."""
    present = [column for column in columns if column in raw.frame]
    return {c: to_categorical(raw.frame[c], c, raw.where, numeric=c != "model") for c in present}


def check_cell_classes(
    models: Sequence[str], folds: Sequence[Label], counts: NDArray[np.int64], *, weighted: bool = False
) -> None:
    """Raise unless every (model, fold) with rows has cases of both classes, by `counts`."""
    present = counts.sum(axis=2, keepdims=True) > 0
    lacking = np.argwhere((counts == 0) & present)
    if len(lacking):
        model, fold, kind = lacking[0]
        word = ("negative", "positive")[kind]
        remedies = (
            ("score it on the cases of the other models", counts[:, fold, kind].any()),
            (f"use stratified folds, at most as many as {word} cases", counts[..., kind].any()),
            (f"score some {word} cases too" if not weighted else "give some a weight above 0", True),
        )
        raise InputError(
            f"every model needs both classes in every fold, but model {models[model]!r} has no {word} "
            f"case {'of weight above 0 ' * weighted}in fold {folds[fold]!r} (such cells in "
            f"all: {len(lacking)}); " + next(remedy for remedy, applies in remedies if applies)
        )


def raise_multiple_datasets(n_datasets: int, *, classes: Sequence[str] = ()) -> None:
    """Raise if a table holds more than one data set, since folds would be mixed."""
    if n_datasets > 1:
        compare = (
            ", or compare AUPREC over all (with the same names of columns and positive class) by "
            "skewanova.compare_datasets(table), or `skewanova compare`"
        )
        raise MultipleDatasetsError(
            f"the table holds {n_datasets} data sets (column 'dataset'), whose folds must not be mixed; "
            f"keep the rows of one{'' if classes else compare}"
        )


# --- clusters and weights of cases -------------------------------------------------------------------------


def check_weight_column(values: pd.Series[Any], where: RowName) -> Floats:
    """Return the weights of a column as floats; raise unless real, finite and not negative (0 is allowed)."""
    weight = validate_scores(values.infer_objects(), "weight", where)
    return checks.check_weights(weight, "weight", where=where)


def check_any_weight(largest: float) -> None:
    """Raise unless the largest weight is above 0."""
    if not largest > 0:
        raise InputError("`weight` must be above 0 in some row, but is 0 in all")


def drop_weightless(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rows of weight above 0, less unused categories of case and cluster; all rows without weights."""
    if "weight" not in frame:
        return frame
    frame = frame[frame["weight"] > 0].reset_index(drop=True)
    names = frame.columns.intersection(["case", "cluster"])
    return frame.assign(**{name: frame[name].cat.remove_unused_categories() for name in names})


def check_same_for_case(frame: pd.DataFrame, where: RowName, *, n_models: Codes | None = None) -> None:
    """Raise unless a case has one cluster and one weight; `n_models` is the number of models per fold."""
    for column in SAMPLING_COLUMNS:
        if column in frame:
            if "case" in frame or len(frame["fold"].cat.categories) == 1:
                _check_case_by_case(frame, column, where)
            else:
                _check_fold_by_fold(frame, column, where, n_models)


def _check_case_by_case(frame: pd.DataFrame, column: str, where: RowName) -> None:
    """Raise unless a case has one value; without names, rows of one fold are matched by their order."""
    value, has_cases = pd.factorize(frame[column])[0], "case" in frame
    case = level_codes(frame, "case") if has_cases else frame.groupby("model", observed=True).cumcount()
    _, start, index = np.unique(case, return_index=True, return_inverse=True)
    first = start[index.reshape(-1)]
    odd = np.flatnonzero(value != value[first])
    if not len(odd):
        return
    values = " and ".join(
        f"{_cell_text(frame, column, row)} in model {_cell_text(frame, 'model', row)} at {where(int(row))}"
        for row in (first[odd[0]], odd[0])
    )
    name = f"case {_cell_text(frame, 'case', odd[0])}" if has_cases else "a case"
    hint = "make names of different cases unique across folds" if has_cases else "match rows by a column case"
    raise InputError(
        f"a case must have one {column} in every model and fold, but {name} has {values} (such rows in "
        f"all: {len(odd)}); correct these, or {hint}"
    )


def _check_fold_by_fold(frame: pd.DataFrame, column: str, where: RowName, n_models: Codes | None) -> None:
    """Raise unless all models of a fold have equally many rows of each value (cases have no names)."""
    value = pd.factorize(frame[column])[0]
    rows = pd.DataFrame({key: level_codes(frame, key) for key in ("fold", "model")}).assign(value=value)
    n_rows = rows.groupby(["fold", "value", "model"]).size()
    sizes = n_rows.groupby(["fold", "value"]).agg(["nunique", "size"])
    models = rows.groupby("fold")["model"].nunique() if n_models is None else pd.Series(n_models)
    n_expected = models.loc[sizes.index.get_level_values(0)].to_numpy()
    odd = sizes[(sizes["nunique"] > 1) | (sizes["size"] != n_expected)]
    if len(odd):
        fold, level = odd.index[0]
        row = int(np.flatnonzero((rows["fold"] == fold) & (value == level))[0])
        raise InputError(
            f"a case must have one {column} in every model, but in fold {_cell_text(frame, 'fold', row)} "
            f"models have unequal numbers of rows with the {column} {_cell_text(frame, column, row)}, the "
            f"first at {where(row)}; correct these (a column case shows which case differs)"
        )


def _cell_text(frame: pd.DataFrame, column: str, row: int) -> str:
    """Return the repr of the value in a row of a column, cut to 40 characters."""
    return f"{frame[column].iloc[[row]].tolist()[0]!r:.40}"


def check_several_clusters(n_clusters: int, name: Any) -> None:
    """Raise if there are fewer than 2 clusters; `name` is that of the only one."""
    if n_clusters < 2:
        raise InputError(
            f"`cluster` must name at least 2 clusters, but all cases are in {name!r:.40}; leave it out if "
            "each case was drawn by itself"
        )


def check_whole_clusters(frame: pd.DataFrame) -> None:
    """Raise unless every fold tests all cases of a cluster in the table, or none."""
    codes = {name: level_codes(frame, name) for name in ("fold", "cluster", "case", "model") if name in frame}
    rows = pd.DataFrame(codes)
    if "case" not in rows:  # so that the largest number in a model and fold counts
        rows["case"] = rows.groupby(["fold", "cluster", "model"]).cumcount()
    tested = rows.drop_duplicates(["fold", "cluster", "case"]).groupby(["fold", "cluster"]).size()
    n_cases = rows.drop_duplicates(["cluster", "case"]).groupby("cluster").size()
    expected = n_cases.loc[tested.index.get_level_values("cluster")].to_numpy()
    odd = np.flatnonzero(tested.to_numpy() != expected)
    if len(odd):
        fold, cluster = tested.index[odd[0]]
        raise InputError(
            "every fold must test all known cases of a cluster or none, but fold "
            f"{frame['fold'].cat.categories.tolist()[fold]!r} tests {tested.iloc[odd[0]]} of the "
            f"{expected[odd[0]]} of cluster {frame['cluster'].cat.categories.tolist()[cluster]!r:.40} "
            f"(such in all: {len(odd)}), so its other cases may have been training cases; split whole "
            "clusters, as scikit-learn's StratifiedGroupKFold does; if names start again in every fold, make "
            "them unique; or leave out the column cluster if its cases are no more alike than others"
        )


# --- the table ---------------------------------------------------------------------------------------------


def check_score_columns(raw: RawTable, pos_label: object) -> pd.DataFrame:
    """Return checked model, fold, y_true, y_score and, if present, case, cluster, weight; drop all others."""
    columns, where = raw.frame, raw.where
    check_any_row(len(columns))
    values = {
        **read_names(raw, "model", "fold"),
        "y_true": check_label_column(columns["y_true"], pos_label, where),
        "y_score": validate_scores(columns["y_score"], "y_score", where),
        **read_names(raw, "case", "cluster"),
    }
    score = columns["y_score"]
    if isinstance(score.dtype, np.dtype) and np.may_share_memory(values["y_score"], score.to_numpy()):
        values["y_score"] = score  # which pandas copies before a user changes theirs
    frame = pd.DataFrame(values, copy=False)
    if "weight" in columns:
        frame["weight"] = check_weight_column(columns["weight"], where)
        check_any_weight(frame["weight"].max())
    return frame


def build_score_table(raw: RawTable, pos_label: object) -> ScoreTable:
    """Return the table of raw columns less rows of weight 0; raise for bad rows, cells, cases or clusters."""
    table = ScoreTable(check_score_columns(raw, pos_label), raw.source)
    if "weight" not in table.frame:  # else checked when cases of weight 0 are left out
        check_cell_classes(table.models, table.folds, table.counts)
    if "case" in table.frame:
        check_cases(table, raw.where)
    if any(column in table.frame for column in SAMPLING_COLUMNS):
        check_same_for_case(table.frame, raw.where)
        table = replace(table, frame=drop_weightless(table.frame))
        if "cluster" in table.frame:
            names = table.frame["cluster"].cat.categories
            check_several_clusters(len(names), names.tolist()[0])
            check_whole_clusters(table.frame)
        check_cell_classes(table.models, table.folds, table.counts, weighted="weight" in table.frame)
    return table


def check_cases(table: ScoreTable, where: RowName) -> None:
    """Raise if a (model, fold, case) repeats, with its rows by `where`, or if a case has both labels."""
    (case,), sizes = table._columns_by_cell("case")
    groups = (np.sort(cases) for cases in np.split(case, np.cumsum(sizes)[:-1]))
    if any((cases[1:] == cases[:-1]).any() for cases in groups):
        n_cases = len(table.frame["case"].cat.categories)
        key = table._cell_codes.astype(np.int64) * n_cases + table.codes("case")
        repeated = np.flatnonzero(pd.Series(key).duplicated())
        columns = table.frame[["model", "fold", "case"]].iloc[repeated[:MAX_EXAMPLES]]
        displayed = ", ".join(
            f"({m!r}, {f!r}, {c!r}) at {where(int(r))}"
            for (m, f, c), r in zip(columns.itertuples(index=False), repeated, strict=False)
        )
        raise InputError(
            f"(model, fold, case) must be unique, but rows repeat one ({len(repeated)} in all): {displayed}; "
            "leave repeats out or, if of several folds or runs, number these in a column fold; if folds are "
            "bootstrap resamples, give the test set once: its cases are resampled for you"
        )
    check_labels_of_cases(table)


def check_labels_of_cases(table: ScoreTable) -> None:
    """Raise if a case has both labels."""
    is_positive, is_negative = case_labels(table)
    mixed = np.flatnonzero(is_positive & is_negative)
    if len(mixed):
        cases = table.frame["case"].cat.categories[mixed[:MAX_EXAMPLES]].tolist()
        raise InputError(
            f"a case must have one label, but {len(mixed)} got both, the first: "
            f"{', '.join(map(repr, cases))}; mend labels or cases or, if case numbers start again in every "
            "fold, make them unique, for example by joining fold and number"
        )
