"""Values of any measure by model and fold, from long and wide tables and scikit-learn's results."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.checks import Floats, InputError, InputTypeError, check_choice
from skewanova.base.frames import FrameResult
from skewanova.base.text import escape_text
from skewanova.scores.columns import DATASET_COLUMN, ColumnMap, RawTable
from skewanova.scores.sources import load_table
from skewanova.scores.table import Scores, ScoreTable, hash_path
from skewanova.scores.validation import check_any_row, to_categorical, validate_scores

#: Columns that say whose a value is; all others hold values.
KEY_COLUMNS = ("model", "fold", "run", DATASET_COLUMN)


#: Column of the values in a long table, and name of a measure that is not named.
VALUE = "value"


#: What to do with held-out scores, by the name of their table.
SCORES_REMEDY = (
    "compare AUPREC by skewanova.compare({0}), or `skewanova compare`; compare another measure by "
    "skewanova.compare_values({0}, measure=skewanova.decision.Measure.roc_auc()), or --score-measure roc_auc"
)


#: What to do with text in a wide table.
TEXT_REMEDY = "call that column model if it names the models, or leave it out if it holds no values"


#: Keys of scikit-learn: of one split in `cv_results_`, and of all in what `cross_validate` returns.
_SPLIT_KEY, _TEST_KEY = re.compile(r"split(\d+)_test_(.+)"), re.compile(r"test_(.+)")


@dataclass(frozen=True, eq=False)
class ValueTable(FrameResult):
    """Values of one measure of every model in every fold, or on every data set.

    Attributes
    ----------
    values : DataFrame
        One row for each model and fold: model, fold (both text) and value. With data sets, ``fold`` names the
        data set, and the value is the mean over its folds.
    measure : str
        Name of the measure.
    has_datasets : bool
        True if the table names data sets.
    run_size : int
        Number of folds in each run of a table that numbers runs; 0 without.
    source : Path, optional
        The file that was read.
    """

    values: pd.DataFrame
    measure: str
    has_datasets: bool = False
    run_size: int = 0
    source: Path | None = None

    @property
    def models(self) -> list[str]:
        """Names of the models, in order of appearance."""
        return list(dict.fromkeys(self.values["model"]))

    @property
    def folds(self) -> list[str]:
        """Names of the folds or data sets, in order of appearance."""
        return list(dict.fromkeys(self.values["fold"]))

    def select_models(self, models: Sequence[str]) -> ValueTable:
        """Return the table of these models only, in its own order; raise for an unknown one."""
        chosen = [check_choice(model, self.models, "models") for model in models]
        return replace(self, values=self.values[self.values["model"].isin(chosen)].reset_index(drop=True))

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the frame with the columns model, fold and value."""
        return self.values.copy()

    def sha256(self) -> str:
        """Return the hexadecimal SHA-256 of the source if it still exists, else of the values as CSV."""
        if self.source is not None and self.source.exists():
            return hash_path(self.source)
        return sha256(self.values.to_csv(index=False).encode()).hexdigest()


def read_values(source: object, *, measure: str | None = None) -> ValueTable:
    """Read and check values of a measure by model and fold.

    Parameters
    ----------
    source, measure
        As `values` and `measure` of :func:`~skewanova.compare_values`.

    Returns
    -------
    ValueTable
        One value for each model and fold, or a mean for each model and data set; a ValueTable as it is.

    Raises
    ------
    ValueError, TypeError
        If a value is missing, repeated or not finite, or there are fewer than two models or folds.

    Examples
    --------
    >>> from skewanova.scores import read_values
    >>> read_values({"tree": [0.81, 0.78], "net": [0.84, 0.80]}, measure="accuracy").folds
    ['1', '2']
    """
    if isinstance(source, ValueTable):
        return source
    scores = getattr(source, "scores", source)
    if isinstance(scores, Scores):
        name = "values" + ".scores" * (scores is not source) if isinstance(scores, ScoreTable) else "frame"
        raise InputTypeError(f"`values` has scores of cases: {SCORES_REMEDY.format(name)}")
    if isinstance(source, pd.DataFrame) and source.index.name in KEY_COLUMNS:
        source = source.reset_index()
    if isinstance(source, pd.DataFrame) and {"params", "fit_time"} & {*source} and "model" not in source:
        source = {str(name): column.tolist() for name, column in source.items()}
    if isinstance(source, Mapping):
        columns, name = _read_results(source, measure)
        return _make_value_table(RawTable(pd.DataFrame(columns)), None, name)
    raw = _load_values(source, measure or VALUE)
    check_any_row(len(raw.frame), "table")
    if "model" in raw.frame:
        return _make_value_table(raw, _find_value_column(raw.frame, measure), measure)
    try:
        return _make_value_table(raw, None, measure or VALUE)
    except InputTypeError as error:
        raise InputTypeError(f"{error}; {TEXT_REMEDY}") from error


def _load_values(source: object, name: str) -> RawTable:
    """Return all columns; if a value column is text, only a long table's keys, y_true, `name`, y_score."""
    try:
        return load_table(source, ColumnMap([], None, KEY_COLUMNS))
    except InputTypeError as error:
        raise InputTypeError(re.sub("^scores must", "`values` must", str(error))) from error
    except InputError as error:
        if " must hold real numbers" not in str(error):
            raise
        columns = [*KEY_COLUMNS, "y_true", name, "y_score"]
        raw = load_table(source, ColumnMap([], columns, columns[:-2]))
        if "model" not in raw.frame or raw.frame.columns.isin(KEY_COLUMNS).all():
            raise InputError(f"{error}; {TEXT_REMEDY}") from error
        return raw


def _find_value_column(frame: pd.DataFrame, measure: str | None) -> str:
    """Return `measure` if a column, else "value", else (without `measure`) the only one left; or raise."""
    others = [str(name) for name in frame.columns if name not in KEY_COLUMNS]
    names = [measure, VALUE, *(others if measure is None and len(others) == 1 else [])]
    column = next((name for name in names if name in others), None)
    if column is not None:
        return column
    if "y_score" in others:
        raise InputError(f"the table has scores: {SCORES_REMEDY.format('values')}")
    problem = f"the table has no column of values {measure or VALUE!r}"
    if not others:
        raise InputError(f"{problem}; add it")
    remedy = "name one by measure=NAME (--measure NAME), or write all in one, with a column fold"
    raise InputError(f"{problem}, but {', '.join(map(repr, others))}; {remedy}")


# --- results of scikit-learn --------------------------------------------------------------------------------


def _read_results(source: Mapping[Any, Any], measure: str | None) -> tuple[dict[str, Any], str]:
    """Return arrays of values by fold, one per model name, and the measure (or "value"); raise if unequal."""
    if "params" in source:
        return _read_search(source, measure)
    if "fit_time" in source:
        raise InputError(
            "`values` is what cross_validate gives for one model; pass those of all models by name, as in "
            "{'A': result_a, 'B': result_b}, with `measure` if they have several"
        )
    if any(isinstance(each, Mapping) for each in source.values()):
        return _read_cross_validations(source, measure)
    columns = {str(model): np.asarray(values).ravel() for model, values in source.items()}
    sizes = {len(values) for values in columns.values()}
    if len(sizes) > 1:
        raise InputError(
            f"every model needs one value for each fold, but the numbers of values are {sorted(sizes)}; give "
            "all models the same folds"
        )
    return columns, measure or VALUE


def _read_search(source: Mapping[Any, Any], measure: str | None) -> tuple[dict[str, Any], str]:
    """Return split values by name of candidate, and the measure (score: "value"); raise if any is nan."""
    keys = [match for key in source if (match := _SPLIT_KEY.fullmatch(str(key)))]
    name = _choose_measure([*dict.fromkeys(match[2] for match in keys)], measure, "cv_results_")
    splits = sorted((int(match[1]), match[0]) for match in keys if match[2] == name)
    values = np.column_stack([np.asarray(source[key], dtype=np.float64) for _, key in splits])
    names = name_candidates(source["params"])
    failed = [candidate for candidate, row in zip(names, values, strict=True) if np.isnan(row).any()]
    if failed:
        raise InputError(
            f"{len(failed)} of {len(names)} candidates got no score in some split, the first {failed[0]!r}; "
            "mend it, or leave such candidates out of the search"
        )
    return dict(zip(names, values, strict=True)), VALUE if name == "score" else name


def name_candidates(params: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a name per candidate, varied parameters (no STEP__) "C=1, D=2"; repeated or none add (INDEX)."""
    keys = list(dict.fromkeys(key for each in params for key in each))
    texts = [{key: _format_parameter(each[key]) for key in keys if key in each} for each in params]
    varied = [key for key in keys if len({each.get(key) for each in texts}) > 1]
    short = {key: key.rpartition("__")[2] for key in varied}
    if len({*short.values()}) < len(short):
        short = {key: key for key in varied}
    names = [", ".join(f"{short[key]}={each[key]}" for key in varied if key in each) for each in texts]
    repeated = {name for name in names if names.count(name) > 1 or not name}
    return [f"{name or 'candidate'} ({i})" if name in repeated else name for i, name in enumerate(names)]


def _format_parameter(value: object) -> str:
    """Return the value of a parameter as text; an estimator by its class."""
    return type(value).__name__ if hasattr(value, "get_params") else f"{value}"


def _read_cross_validations(source: Mapping[Any, Any], measure: str | None) -> tuple[dict[str, Any], str]:
    """Return test values by split of each model, by name, and the measure (score: "value"); or raise."""
    names = []
    for model, result in source.items():
        if not isinstance(result, Mapping):
            raise InputTypeError(
                f"a mapping must hold what cross_validate returned for each model, or one list of values for "
                f"each, but holds {type(result).__name__} for {model!r} beside others; use one form"
            )
        names.append([m[1] for key in result if (m := _TEST_KEY.fullmatch(str(key)))])
    available = [name for name in names[0] if all(name in each for each in names)]
    name = _choose_measure(available, measure, "what cross_validate returned")
    columns = {str(model): np.asarray(result[f"test_{name}"]) for model, result in source.items()}
    return _read_results(columns, VALUE if name == "score" else name)


def _choose_measure(available: Sequence[str], measure: str | None, source: str) -> str:
    """Return the stated measure or, if None, the only one; raise if it is lacking, or there are several."""
    if not available:
        raise InputError(f"{source} has no test scores of one `scoring` for all; use one, in all splits")
    name = available[0] if measure is None and len(available) == 1 else measure
    if name in available:
        return str(name)
    names = ", ".join(map(repr, available))
    raise InputError(f"`measure` must be one of {names}, of {source}, but got {measure!r}")


# --- checks -------------------------------------------------------------------------------------------------


def _make_value_table(raw: RawTable, value: str | None, measure: str | None) -> ValueTable:
    """Return the checked table, long with values in `value`, or wide (None), its rows folds if not named."""
    frame = raw.frame
    names = {key: to_categorical(frame[key], key, raw.where) for key in KEY_COLUMNS if key in frame}
    keys: dict[str, Any] = {key: np.asarray(column).astype(str) for key, column in names.items()}
    if value is None:
        shared = keys or {"fold": [str(row) for row in range(1, len(frame) + 1)]}
        models = [column for column in frame.columns if column not in KEY_COLUMNS]
        parts = [pd.DataFrame({"model": str(c), **shared, VALUE: _check_values(raw, c)}) for c in models]
        long = pd.concat(parts or [pd.DataFrame(columns=["model", "fold", VALUE])], ignore_index=True)
    else:
        long = pd.DataFrame({**keys, VALUE: _check_values(raw, value)})
        if {"fold", "run", DATASET_COLUMN}.isdisjoint(keys):
            raise InputError(
                "the table must have a column fold (or run, or dataset), which says what the values of two "
                "models share; add it, or pass one column for each model"
            )
    return _name_folds(long, raw, measure or value or VALUE)


def _check_values(raw: RawTable, column: Any) -> Floats:
    """Return a column as finite floats; raise for text, blanks and infinite values, naming the row."""
    values = validate_scores(raw.frame[column], str(column), raw.where).astype(np.float64)
    infinite = np.flatnonzero(~np.isfinite(values))
    if len(infinite):
        raise InputError(
            f"`{column}` must be finite, but is {values[infinite[0]]:g} at {raw.where(int(infinite[0]))}; "
            "leave out that fold, run or data set for all models"
        )
    return values


def _name_folds(long: pd.DataFrame, raw: RawTable, measure: str) -> ValueTable:
    """Return the table by model and "RUN/FOLD", or data set (means); raise for lacking or repeated values."""
    keys = [key for key in (DATASET_COLUMN, "run", "fold") if key in long]
    rows = long.assign(fold=long[keys].agg("/".join, axis=1))
    unit = "/".join(keys).replace(DATASET_COLUMN, "data set")
    repeated = rows.duplicated(["model", "fold"])
    if repeated.any():
        model, fold = rows.loc[repeated, ["model", "fold"]].iloc[0]
        absent = " or ".join(k for k in KEY_COLUMNS[long["model"].nunique() > 1 :] if k not in raw.frame)
        remedy = f"tell them apart by a column {absent} (with run or dataset, leave out any `design`)"
        raise InputError(
            f"{'model' if 'model' in raw.frame else 'column'} {model!r} has two values in {unit} {fold!r}; "
            + (remedy if absent else "leave out one of them")
        )
    has_datasets = DATASET_COLUMN in long
    if has_datasets and long[DATASET_COLUMN].nunique() == 1:
        other = ", or leave it out and state `design`, such as 'kfold'" * (len(keys) > 1)
        raise InputError(f"`dataset` must name at least 2 data sets, but names 1; add others{other}")
    _check_complete(rows, unit)
    run_size = long["fold"].nunique() if {"run", "fold"} <= {*long} else 0
    rows = rows.assign(fold=long[DATASET_COLUMN]) if has_datasets else rows
    frame = rows.groupby(["model", "fold"], sort=False)[VALUE].mean().reset_index()
    return ValueTable(frame, escape_text(measure), has_datasets, run_size, raw.source)


def _check_complete(rows: pd.DataFrame, unit: str) -> None:
    """Raise for fewer than 2 models or 2 folds (called `unit`), or if a model lacks a value in some fold."""
    models, folds = rows["model"].unique(), rows["fold"].unique()
    for number, name in ((len(models), "model"), (len(folds), unit.rpartition("/")[2])):
        if number < 2:
            raise InputError(
                f"a comparison needs at least 2 {name}s, but the values are of {number}; add the values of "
                "others"
            )
    if len(rows) < len(models) * len(folds):
        cells = pd.MultiIndex.from_product([models, folds])
        model, fold = cells.difference(pd.MultiIndex.from_frame(rows[["model", "fold"]]), sort=False)[0]
        raise InputError(
            f"model {model!r} has no value in {unit} {fold!r}; add it, or leave out that {unit} or that model"
        )
