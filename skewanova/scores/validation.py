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
from numpy.typing import ArrayLike, NDArray

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
from skewanova.scores.columns import MAX_WHOLE, chunks, code_whole_numbers, decode, values_or_codes

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
    """Which labels are positive; each category is looked at once, if none is wrong."""
    if isinstance(values.dtype, pd.CategoricalDtype):
        codes, result = _used_categories(values)
        if len(codes) and codes.min() >= 0:
            with suppress(InputError):
                return decode(codes, check_labels(np.asarray(result), pos_label=pos_label))
    return check_labels(values.to_numpy(), pos_label=pos_label, where=where)


def to_categorical(
    values: pd.Series[Any], name: str, where: Where, *, whole: bool = False
) -> pd.Categorical[Any]:
    """Levels as text in order of appearance or, if `whole` and all read so, as ascending whole numbers."""
    if whole and isinstance(values.dtype, np.dtype) and values.dtype.kind in "iu" and len(values):
        coded = code_whole_numbers(values.to_numpy())
        if coded is not None:
            return pd.Categorical.from_codes(coded[0], pd.Index(coded[1]))
    if whole and isinstance(values.dtype, pd.CategoricalDtype) and _are_whole_levels(values):
        return pd.Categorical.from_codes(values_or_codes(values), pd.Index(values.cat.categories))
    if values.dtype == object:  # where 1, 1.0 and True are the same to pandas
        values = values.map(str, na_action="ignore")
    is_coded = isinstance(values.dtype, pd.CategoricalDtype)
    codes, result = _used_categories(values) if is_coded else pd.factorize(values)
    text = [str(value) for value in result]
    blank = [i for i, t in enumerate(text) if not t.strip()]
    if blank or codes.min() < 0:
        empty = np.flatnonzero((codes < 0) | np.isin(codes, blank))
        raise_empty(name, len(empty), where(int(empty[0])))
    numbers = _whole_numbers(text) if whole else None
    if numbers is None:
        index = {name: i for i, name in enumerate(dict.fromkeys(text))}
        return _recode([index[name] for name in text], codes, list(index))
    levels, position = np.unique(numbers, return_inverse=True)
    return _recode(position, codes, levels)


def _are_whole_levels(values: pd.Series[Any]) -> bool:
    """Whether the categories are ascending whole numbers, each of them in use, and no value is missing."""
    codes, levels = values_or_codes(values), values.cat.categories
    if levels.dtype != np.int64 or not len(levels) or not levels.is_monotonic_increasing:
        return False
    is_used = np.zeros(len(levels) + 1, dtype=np.bool_)  # a missing value is -1, the last
    for rows in chunks(len(codes)):
        is_used[codes[rows]] = True
    return bool(is_used[:-1].all() and not is_used[-1] and max(-levels[0], levels[-1]) < MAX_WHOLE)


def _used_categories(values: pd.Series[Any]) -> tuple[NDArray[Any], pd.Index[Any]]:
    """Return codes in order of appearance, and what they stand for, as pandas.factorize does."""
    codes = values_or_codes(values)
    order = pd.unique(codes)
    order = order[order >= 0]
    if not np.array_equal(order, np.arange(len(order))):
        index = np.full(len(values.cat.categories) + 1, -1, dtype=np.min_scalar_type(-len(order) - 1))
        index[order] = np.arange(len(order))
        codes = decode(codes, index)  # -1, a missing value, stays
    return codes, values.cat.categories[order]


def _recode(position: ArrayLike, codes: NDArray[Any], levels: Any) -> pd.Categorical[Any]:
    """Return the levels, of which each code has one by its position."""
    index = np.asarray(position)
    small = np.min_scalar_type(-len(index))  # fewer bytes to move, and what pandas stores anyway
    is_same = np.array_equal(index, np.arange(len(index)))
    new = codes.astype(small, copy=False) if is_same else decode(codes, index.astype(small))
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


def raise_empty(name: str, n_rows: int, first: str) -> NoReturn:
    """Raise for rows that lack a label."""
    told = "1 row is" if n_rows == 1 else f"{n_rows} rows are"
    raise InputError(f"`{name}` must not be empty, but {told}, the first at {first}")


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
