"""Checks of columns and of counts: what a table of scores may hold, and what is said of the rest."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from numbers import Number
from typing import Any, NoReturn

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skewanova.base.checks import (
    Bools,
    InputError,
    InputTypeError,
    MultipleDatasetsError,
    Where,
    check_labels,
    check_scores,
    row_number,
)
from skewanova.scores.columns import code_whole_numbers, decode, values_or_codes

INTEGER_TEXT = re.compile(r"(-?[1-9][0-9]{0,17}|0)(\.0)?")


#: How many offending cells or rows a message shows.
MAX_EXAMPLES = 5


Label = str | int


def check_any_row(n_rows: int, table: str = "score table") -> None:
    """Raise for a table without rows."""
    if not n_rows:
        raise InputError(f"the {table} must hold at least one row, but is empty")


def with_fold(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows with the column fold: those that none divides into folds are one."""
    return frame if "fold" in frame else frame.assign(fold=1)


def locate_row_of_group(frame: pd.DataFrame) -> Where:
    """Rows of a group have no number in the table."""
    if not len(frame) or any(key not in frame for key in ("model", "fold")):
        return row_number
    model, fold = (frame[key].head(1).tolist()[0] for key in ("model", "fold"))
    return lambda row: f"{row_number(row)} of those of model {model!r} in fold {fold!r}"


def validate_scores(values: pd.Series[Any], name: str, where: Where) -> NDArray[Any]:
    """Real scores in their own dtype; of a column of objects, the first that is no number is shown."""
    score = values.to_numpy()
    if score.dtype.kind == "O":
        text = next((row for row, value in enumerate(score) if not isinstance(value, Number)), None)
        hint = (
            "convert it, for example with astype(float)"
            if text is None
            else f"the first that is no number is {score[text]!r:.40} at {where(text)}"
        )
        dtype = values.cat.categories.dtype if isinstance(values.dtype, pd.CategoricalDtype) else values.dtype
        raise InputTypeError(f"`{name}` must hold real numbers, but has dtype {dtype}; {hint}")
    return check_scores(score, name, where=where)


def positive_labels(values: pd.Series[Any], pos_label: object, where: Where) -> Bools:
    """Return which labels are positive; of labels in codes each is checked once, if none is wrong."""
    if isinstance(values.dtype, pd.CategoricalDtype) and len(values):
        codes = values_or_codes(values)
        if codes.min() >= 0:
            with suppress(InputError):
                return decode(codes, check_labels(values.cat.categories.to_numpy(), pos_label=pos_label))
    return check_labels(values.to_numpy(), pos_label=pos_label, where=where)


def to_categorical(
    values: pd.Series[Any], name: str, where: Where, *, whole: bool = False
) -> pd.Categorical[Any]:
    """Levels as text in order of appearance or, if `whole` and all read so, as ascending whole numbers."""
    if whole and isinstance(values.dtype, np.dtype) and values.dtype.kind in "iu" and len(values):
        coded = code_whole_numbers(values.to_numpy())
        if coded is not None:
            return pd.Categorical.from_codes(coded[0], pd.Index(coded[1]))
    if values.dtype == object:  # where 1, 1.0 and True are the same to pandas
        values = values.map(str, na_action="ignore")
    is_coded = isinstance(values.dtype, pd.CategoricalDtype)
    codes, names = (values_or_codes(values), values.cat.categories) if is_coded else pd.factorize(values)
    used = pd.unique(codes)
    used = used[used >= 0]
    text = [str(value) for value in names[used]]
    blank = [code for code, label in zip(used, text, strict=True) if not label.strip()]
    if blank or codes.min() < 0:
        empty = np.flatnonzero((codes < 0) | np.isin(codes, blank))
        rows = "1 row is" if len(empty) == 1 else f"{len(empty)} rows are"
        raise InputError(f"`{name}` must not be empty, but {rows}, the first at {where(int(empty[0]))}")
    numbers = _whole_numbers(text) if whole else None
    in_order = np.array(text, dtype=object) if numbers is None else numbers
    position, levels = pd.factorize(in_order, sort=numbers is not None)
    recoded = np.zeros(len(names), dtype=np.min_scalar_type(-len(levels)))
    recoded[used] = position
    is_same = np.array_equal(recoded, np.arange(len(recoded)))
    new = codes if is_same else decode(codes, recoded)
    return pd.Categorical.from_codes(new, dtype=pd.CategoricalDtype(pd.Index(levels)))


def _whole_numbers(texts: list[str]) -> NDArray[np.int64] | None:
    """Return numbers if all texts are whole ones in their plain spelling (or a float's, such as 3.0)."""
    try:
        names = pa.array(texts, pa.string())
    except UnicodeEncodeError:
        return None
    if not pc.all(pc.match_substring_regex(names, f"^(?:{INTEGER_TEXT.pattern})$"), min_count=0).as_py():
        return None
    numbers: NDArray[np.int64] = pc.replace_substring_regex(names, r"\.0$", "").cast(pa.int64()).to_numpy()
    return numbers


def check_both_classes(models: Sequence[str], folds: Sequence[Label], counts: NDArray[np.int64]) -> None:
    """Both classes in every cell that has any case."""
    present = counts.sum(axis=2, keepdims=True) > 0
    lacking = np.argwhere((counts == 0) & present)
    if len(lacking):
        model, fold, kind = lacking[0]
        word = ("negative", "positive")[kind]
        raise InputError(
            f"every model needs both classes in every fold, but model {models[model]!r} has no {word} "
            f"case in fold {folds[fold]!r} ({len(lacking)} such cells in all); use stratified or fewer "
            "folds"
        )


def raise_multiple_datasets(column: str, n_datasets: int) -> None:
    """Raise where folds of several data sets would be taken for folds of one."""
    if n_datasets > 1:
        raise MultipleDatasetsError(
            f"the table holds {n_datasets} data sets (column {column!r}), whose folds must not be mixed: "
            "compare them through compare_datasets() (`skewanova compare` does), or keep one"
        )


def raise_duplicates(n_rows: int, shown: str) -> NoReturn:
    """Raise for rows that repeat a (model, fold, case)."""
    raise InputError(
        f"(model, fold, case) must be unique, but {n_rows} rows repeat one: {shown}; if folds are bootstrap "
        "resamples, give the test set once: its cases are resampled for you"
    )


def raise_mixed_labels(n_cases: int, cases: Sequence[Label]) -> NoReturn:
    """Raise for cases that have both labels."""
    raise InputError(
        f"a case must have one label, but {n_cases} cases have both, the first: "
        f"{', '.join(map(repr, cases))}; if case "
        "numbers start again in every fold, make them unique (such as fold and number together)"
    )
