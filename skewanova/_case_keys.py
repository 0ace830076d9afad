"""Cases as 64-bit keys, equal where the cases are the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skewanova._checks import Where
from skewanova._parquet import plain, value_type
from skewanova._score_table import WHOLE, refuse_empty

Keys = NDArray[np.int64]


class CaseReader:
    """Keys of the cases in batches.

    Whole numbers are their own keys, whether written as numbers or as text; numbers with fractions are keyed
    by their bits. Other cases are keyed by 64 bits of a hash: among n of them two are mistaken for one with
    probability n^2 / 2^65, which is 3e-6 for ten million.

    Parameters
    ----------
    whole : bool
        Whether all cases that are text read as whole numbers.
    where : callable
        Says where a row is.
    """

    def __init__(self, *, whole: bool, where: Where) -> None:
        self.whole = whole
        self._where = where
        self.n_empty = 0
        self.first = 0

    def take(self, column: Any, start: int) -> Keys:
        """Keys of a batch whose first row is `start`; empty cases get any key and are counted."""
        values = plain(column)
        if is_number(values.type):
            self._count(_missing(values), start)
            return _number_keys(values)
        text = as_text(values)
        self._count(_blank(text), start)
        return _whole_keys(text) if self.whole else _hashed(text)

    def check(self) -> None:
        """Raise if any case was empty."""
        if self.n_empty:
            refuse_empty("case", self.n_empty, self._where(self.first))

    def _count(self, empty: NDArray[np.bool_], start: int) -> None:
        if empty.any():
            self.first = self.first if self.n_empty else start + int(np.argmax(empty))
            self.n_empty += int(empty.sum())


def all_whole(kind: Any, batches: Iterable[Any]) -> bool:
    """Whether a column of this type, the only one of the batches, is text that reads as whole numbers."""
    if is_number(value_type(kind)):
        return False
    return all(_reads_whole(as_text(plain(batch.column(0)))) for batch in batches)


def name_of(column: Any, row: int, *, whole: bool) -> str | int:
    """A case as a score table names it."""
    values = plain(column.slice(row, 1))
    text = str(as_text(values)[0].as_py())
    if whole or (is_number(values.type) and WHOLE.fullmatch(text)):
        return int(text.removesuffix(".0"))
    return text


def as_text(values: Any) -> Any:
    """Arrow text of any column, numbers and dates spelled as pandas does."""
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return values
    series = values.to_pandas()
    return pa.array([None if pd.isna(value) else str(value) for value in series.tolist()], pa.string())


def is_number(kind: Any) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _missing(values: Any) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = pc.is_null(values, nan_is_null=True).to_numpy(zero_copy_only=False)
    return found


def _number_keys(values: Any) -> Keys:
    if pa.types.is_floating(values.type):
        number = values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0  # -0.0 is 0.0
        return np.asarray(number.view(np.int64))
    filler = False if pa.types.is_boolean(values.type) else 0
    return np.asarray(values.fill_null(filler).to_numpy(zero_copy_only=False).astype(np.int64))


def _blank(text: Any) -> NDArray[np.bool_]:
    empty = pc.equal(pc.utf8_trim_whitespace(text), "")
    found: NDArray[np.bool_] = pc.fill_null(empty, True).to_numpy(zero_copy_only=False)
    return found


def _reads_whole(text: Any) -> bool:
    matching = pc.match_substring_regex(text, f"^(?:{WHOLE.pattern})$")
    return bool(pc.all(pc.fill_null(matching, False), min_count=0).as_py())


def _whole_keys(text: Any) -> Keys:
    number = pc.replace_substring_regex(text, r"\.0$", "").cast(pa.int64())
    return np.asarray(number.to_numpy(zero_copy_only=False))


def _hashed(text: Any) -> Keys:
    names = np.array(text.fill_null("").to_pylist(), dtype=object)
    return np.asarray(pd.util.hash_array(names, categorize=False).view(np.int64))
