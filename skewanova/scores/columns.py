"""The columns of a table of scores: their names, which are required, and their values as arrays."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skewanova.base.checks import InputError, RowName, check_choice, name_row, warn_each

#: Columns that every table must have, but for the fold.
REQUIRED_COLUMNS = ("model", "fold", "y_true", "y_score")


#: Columns that say how cases were sampled, and to which part of a halving rows belong.
SAMPLING_COLUMNS = ("cluster", "weight")


HALVING_COLUMNS = ("part", "halving")


#: What the column part calls the rows of hold-outs, where a table holds halvings too.
HOLDOUT = "holdout"


#: The parts of a table with halvings: the hold-outs, and the two halves of every halving.
PARTS = (HOLDOUT, "half_a", "half_b")


#: Columns that a table may have beside them.
OPTIONAL_COLUMNS = ("case", *SAMPLING_COLUMNS, *HALVING_COLUMNS)


ALL_COLUMNS = (*REQUIRED_COLUMNS, *OPTIONAL_COLUMNS)


#: Columns that hold numbers; the others are labels, taken as they are written.
NUMERIC_COLUMNS = frozenset({"y_score", "weight"})


#: A column of this name tells data sets apart, whose folds must not be mixed.
DATASET_COLUMN = "dataset"


NO_FOLD_WARNING = (
    "there is no column fold: all rows are taken as one test set; if they are several folds, say which "
    "column tells them (--fold-column, or columns=)"
)


#: Names of columns that a message shows.
MAX_NAMES = 20


#: What pandas and R make of a column without a name: numbers of rows, never scores of a model.
_UNNAMED = re.compile(r"\s*|Unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns as they were written, how to name a row in a message, and the file they are from."""

    frame: pd.DataFrame
    where: RowName = name_row
    source: Path | None = None

    def take(self, rows: NDArray[np.intp]) -> RawTable:
        """Return some of the rows, which have the same names in messages."""
        frame = self.frame.iloc[rows].reset_index(drop=True)
        return RawTable(frame, lambda row: self.where(int(rows[row])), self.source)


@dataclass(frozen=True)
class ColumnMap:
    """Columns to read from a source, and their names here.

    Attributes
    ----------
    required : sequence of str
        Columns of the source that must be there.
    optional : collection of str or None
        Columns that are read if the source has them; None for all that have a name.
    text : collection of str
        Columns that hold labels, not numbers.
    names : mapping
        Name in the source of every column that is called otherwise here.
    pos_label : object
        The positive class, whose score is read where JSON lines hold those of both.
    """

    required: Sequence[str]
    optional: Sequence[str] | None
    text: Sequence[str]
    names: Mapping[str, str] = field(default_factory=dict)
    pos_label: object = None

    @classmethod
    def from_names(
        cls,
        columns: Mapping[str, str] | None,
        *,
        allowed: Sequence[str] = ALL_COLUMNS,
        classes: Sequence[str] = (),
        pos_label: object = None,
    ) -> ColumnMap:
        """Map the columns; `classes` are read in place of y_score."""
        names = _map_names(columns, [name for name in allowed if name != "y_score" or not classes])
        taken = [name for name in classes if name in names.values()]
        if taken:
            raise InputError(
                f"`classes` must name columns of scores, but {taken[0]!r} is read as another column: rename "
                "it"
            )
        used = [*names.values()]
        required = [
            name
            for column, name in names.items()
            if column not in (*OPTIONAL_COLUMNS, "fold") or column in (columns or {}) or used.count(name) > 1
        ]
        datasets = [DATASET_COLUMN] if DATASET_COLUMN not in used else []
        text = [name for column, name in names.items() if column not in NUMERIC_COLUMNS]
        return cls(
            required=[*required, *classes],
            optional=[*used, *datasets, *classes],
            text=[*text, *datasets],
            names=names,
            pos_label=pos_label,
        )

    def select(self, available: Sequence[str], source: str) -> list[str]:
        """Return the columns to read of those available, the required ones first; errors name the source."""
        required = self.required
        repeated = [name for i, name in enumerate(required) if name in required[:i]]
        if repeated:
            raise InputError(f"the column {repeated[0]!r} cannot serve twice")
        missing = [column for column in required if column not in available]
        if missing:
            n_others = len(available) - MAX_NAMES
            raise InputError(
                f"{source} must have the column{'s' if len(missing) > 1 else ''} "
                f"{', '.join(map(repr, missing))}, but has "
                f"{', '.join(f'{name!r:.60}' for name in available[:MAX_NAMES]) or 'none'}"
                f"{f' and {n_others:,} more' if n_others > 0 else ''}; map other "
                "names with columns= (--model-column and its like on the command line), or read a table with "
                "one column a model through scores_from_wide (--wide)"
            )
        optional = self.optional
        if optional is None:
            optional = [column for column in available if not _UNNAMED.fullmatch(str(column))]
        selected = [*required, *(name for name in available if name in optional and name not in required)]
        repeated = [column for column in selected if available.count(column) > 1]
        if repeated:
            raise InputError(f"{source} has the column {repeated[0]!r} more than once")
        return selected

    def rename(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with the names that columns have here."""
        return frame.rename(columns={name: column for column, name in self.names.items()})


def _map_names(columns: Mapping[str, str] | None, allowed: Sequence[str] = ALL_COLUMNS) -> dict[str, str]:
    """Return the name of every column in the source; one that serves as another is no optional one."""
    names = {column: column for column in allowed}
    for column, name in (columns or {}).items():
        names[check_choice(column, tuple(allowed), "columns")] = name
    for column in OPTIONAL_COLUMNS:
        if column not in (columns or {}) and [*names.values()].count(names[column]) > 1:
            del names[column]
    return names


def add_fold(frame: pd.DataFrame) -> pd.DataFrame:
    """Take rows that no column divides into folds as one test set, with a warning."""
    if "fold" in frame:
        return frame
    if "halving" in frame:
        raise InputError("a table with halvings needs the column fold, the fold of each half; add it")
    warn_each([NO_FOLD_WARNING])
    return frame.assign(fold=np.int8(1))


# --- values of a column, batch by batch --------------------------------------------------------------------


#: Rows looked at together, so that temporary arrays stay small.
CHUNK_ROWS = 1 << 18


#: From here on a whole number is a name.
MAX_WHOLE = 10**18


#: Distance of whole numbers that have levels by their place, for each row and in all.
MAX_GAP, MIN_RANGE = 4, 1000


_POWERS = 10 ** np.arange(1, 19)


def iter_chunks(n_rows: int) -> Iterator[slice]:
    """Yield stretches of rows whose temporary arrays are small."""
    return (slice(start, start + CHUNK_ROWS) for start in range(0, n_rows, CHUNK_ROWS))


def encode_whole_numbers(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return codes and the ascending numbers that they stand for; None if these are far between or large."""
    low, high = int(values.min()), int(values.max())
    if high - low > MAX_GAP * len(values) + MIN_RANGE or max(-low, high) >= MAX_WHOLE:
        return None
    is_level = np.zeros(high - low + 1, dtype=np.bool_)
    for rows in iter_chunks(len(values)):
        is_level[values[rows].astype(np.intp) - low] = True
    levels = np.flatnonzero(is_level) + low
    code = (np.cumsum(is_level) - 1).astype(np.min_scalar_type(-len(levels)))
    codes = np.empty(len(values), dtype=code.dtype)
    for rows in iter_chunks(len(values)):
        codes[rows] = code[values[rows].astype(np.intp) - low]
    return codes, levels.astype(np.int64)


def values_or_codes(column: pd.Series[Any]) -> NDArray[Any]:
    """Return the values of a column or, of a categorical one, its codes, without a copy."""
    values: Any = column.array.codes if isinstance(column.dtype, pd.CategoricalDtype) else column.to_numpy()
    return np.asarray(values)


def decode(codes: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Return the value of every code."""
    result = np.empty(len(codes), dtype=values.dtype)
    for rows in iter_chunks(len(codes)):
        result[rows] = values[codes[rows]]
    return result


def read_batches(
    batches: Iterable[Sequence[Any]], schema: Any, *, labels: Collection[str], source: str, n_rows: int = 0
) -> pd.DataFrame:
    """Read batches of Arrow arrays into a frame: numbers in their own type, or codes of labels."""
    for item in schema:
        if pa.types.is_nested(value_type(item.type)):
            raise InputError(
                f"{source} must hold one value a row in {item.name!r}, but holds {value_type(item.type)}"
            )
    readers = [_Column(n_rows, is_label=name in labels) for name in schema.names]
    for batch in batches:
        for column, reader in zip(batch, readers, strict=True):
            reader.add(column)
    values = {name: reader.finish() for name, reader in zip(schema.names, readers, strict=True)}
    return pd.DataFrame(values, copy=False)


def value_type(kind: Any) -> Any:
    """Return the type of the values of a column that may be stored by its distinct ones."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


class _Column:
    """Values of a column, batch by batch: numbers or, of labels that are no numbers, codes.

    Labels that are whole numbers in their plain spelling are read as numbers, if all are.
    """

    def __init__(self, n_rows: int, *, is_label: bool) -> None:
        self._n_rows, self._is_label = n_rows, is_label
        self._values: NDArray[Any] = np.empty(0, dtype=np.bool_)  # grows, and its type widens
        self._size = 0
        self._codes: dict[Any, int] = {None: -1}

    def add(self, column: Any) -> None:
        """Append the values of an Arrow array."""
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.large_string())
        kind = value_type(column.type)
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        if self._is_label and not is_number:
            numbers = _parse_whole_numbers(column) if len(self._codes) == 1 else None
            if numbers is None:
                self._append_labels(
                    column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
                )
                return
            column = numbers
        elif pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        values = column.to_numpy(zero_copy_only=False)
        if self._is_label and values.dtype.kind == "i" and len(values):
            values = values.astype(np.min_scalar_type(min(int(values.min()), -1 - int(values.max()))))
        self._append(values)

    def _append_labels(self, encoded: Any) -> None:
        """Append the codes of labels, whose dictionary may hold one twice, or a missing one."""
        if len(self._codes) == 1 and self._size:  # whole numbers so far
            numbers, levels = pd.factorize(self._values[: self._size])
            self._values = self._encode(levels.astype(str).tolist())[numbers]
        names = [*encoded.dictionary.to_pandas().tolist(), None]
        index = encoded.indices.cast(pa.int64()).fill_null(len(names) - 1)
        self._append(self._encode(names)[index.to_numpy()])

    def _encode(self, names: Sequence[Any]) -> NDArray[Any]:
        codes = self._codes
        new = [codes.setdefault(name, len(codes) - 1) for name in names]
        return np.array(new, dtype=np.min_scalar_type(-len(codes)))

    def finish(self) -> Any:
        """Return the values."""
        values = self._values[: self._size]
        if len(self._codes) == 1:
            return values
        return pd.Categorical.from_codes(values, pd.Index([*self._codes][1:], dtype=object))

    def _append(self, values: NDArray[Any]) -> None:
        size, dtype = self._size + len(values), np.result_type(self._values, values)
        if size > len(self._values) or dtype != self._values.dtype:
            n_rows = len(self._values) if size <= len(self._values) else max(self._n_rows, 2 * size)
            larger = np.empty(n_rows, dtype)
            larger[: self._size] = self._values[: self._size]
            self._values = larger
        self._values[self._size : size] = values
        self._size = size


def _parse_whole_numbers(column: Any) -> Any:
    """Return the numbers of an Arrow array of text, if all are whole ones in their plain spelling."""
    if not pa.types.is_string(column.type):
        return None
    try:
        numbers = column.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    values = numbers.to_numpy(zero_copy_only=False)
    if numbers.null_count or not len(values) or np.abs(values).max() >= MAX_WHOLE:
        return None
    # every other spelling, such as 007, is longer
    n_digits = np.searchsorted(_POWERS, np.abs(values), side="right") + 1 + (values < 0)
    return numbers if pc.sum(pc.binary_length(column)).as_py() == n_digits.sum() else None
