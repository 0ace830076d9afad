"""The columns of a table of scores: their names, which are required, and their values as arrays."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from skewanova.base.checks import InputError, check_choice, emit

#: Columns that every table must have, but for the fold.
COLUMNS = ("model", "fold", "y_true", "y_score")


#: Columns that say how cases were sampled, and to which part of a halving rows belong.
SAMPLING_COLUMNS = ("cluster", "weight")


HALVING_COLUMNS = ("part", "halving")


#: What the column part calls the rows of hold-outs, where a table holds halvings too.
HOLDOUT = "holdout"


#: The parts of a table with halvings: the hold-outs, and the two halves of every halving.
PARTS = (HOLDOUT, "half_a", "half_b")


#: Columns that a table may have beside them.
OPTIONAL = ("case", *SAMPLING_COLUMNS, *HALVING_COLUMNS)


KNOWN = (*COLUMNS, *OPTIONAL)


#: Columns that hold numbers; the others are labels, taken as they are written.
NUMBERS = frozenset({"y_score", "weight"})


#: A column of this name tells data sets apart, whose folds must not be mixed.
DATASET = "dataset"


NO_FOLD = (
    "there is no column fold: all rows are taken as one test set; if they are several folds, say which "
    "column tells them (--fold-column, or columns=)"
)


#: Names of columns that a message shows.
MAX_NAMES = 20


#: What pandas and R make of a column without a name: numbers of rows, never scores of a model.
_NAMELESS = re.compile(r"\s*|Unnamed: \d+|__index_level_\d+__")


@dataclass(frozen=True)
class ColumnMap:
    """Which columns to read from a source, and what they are called here.

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
        known: Sequence[str] = KNOWN,
        classes: Sequence[str] = (),
        pos_label: object = None,
    ) -> ColumnMap:
        """Map the known columns; `classes` are read in place of y_score."""
        names = column_names(columns, [name for name in known if name != "y_score" or not classes])
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
            if column not in (*OPTIONAL, "fold") or column in (columns or {}) or used.count(name) > 1
        ]
        datasets = [DATASET] if DATASET not in used else []
        text = [name for column, name in names.items() if column not in NUMBERS]
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
            optional = [column for column in available if not _NAMELESS.fullmatch(str(column))]
        selected = [*required, *(name for name in available if name in optional and name not in required)]
        repeated = [column for column in selected if available.count(column) > 1]
        if repeated:
            raise InputError(f"{source} has the column {repeated[0]!r} more than once")
        return selected

    def rename(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the frame with the names that columns have here."""
        return frame.rename(columns={name: column for column, name in self.names.items()})


def column_names(columns: Mapping[str, str] | None, known: Sequence[str] = KNOWN) -> dict[str, str]:
    """Return the name of every column in the source; one that serves as another is no optional one."""
    names = {column: column for column in known}
    for column, name in (columns or {}).items():
        names[check_choice(column, tuple(known), "columns")] = name
    for column in OPTIONAL:
        if column not in (columns or {}) and [*names.values()].count(names[column]) > 1:
            del names[column]
    return names


def add_fold(frame: pd.DataFrame) -> pd.DataFrame:
    """Take rows that no column divides into folds as one test set, with a warning."""
    if "fold" in frame:
        return frame
    if "halving" in frame:
        raise InputError("a table with halvings needs the column fold, the fold of each half; add it")
    emit([NO_FOLD])
    return frame.assign(fold=np.int8(1))


# --- values of a column, batch by batch --------------------------------------------------------------------


#: Rows looked at together, so that temporary arrays stay small.
CHUNK_ROWS = 1 << 18


#: From here on a whole number is a name.
MAX_WHOLE = 10**18


#: Distance of whole numbers that have levels by their place, for each row and in all.
MAX_GAP, MIN_RANGE = 4, 1000


def chunks(n_rows: int) -> Iterator[slice]:
    """Yield stretches of rows whose temporary arrays are small."""
    return (slice(start, start + CHUNK_ROWS) for start in range(0, n_rows, CHUNK_ROWS))


def code_whole_numbers(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return codes and the ascending numbers that they stand for; None if these are far between or large."""
    low, high = int(values.min()), int(values.max())
    if high - low > MAX_GAP * len(values) + MIN_RANGE or max(-low, high) >= MAX_WHOLE:
        return None
    is_level = np.zeros(high - low + 1, dtype=np.bool_)
    for rows in chunks(len(values)):
        is_level[values[rows].astype(np.intp) - low] = True
    levels = np.flatnonzero(is_level) + low
    code = (np.cumsum(is_level) - 1).astype(np.min_scalar_type(-len(levels)))
    codes = np.empty(len(values), dtype=code.dtype)
    for rows in chunks(len(values)):
        codes[rows] = code[values[rows].astype(np.intp) - low]
    return codes, levels.astype(np.int64)


def values_or_codes(column: pd.Series[Any]) -> NDArray[Any]:
    """Return the values of a column or, of a categorical one, its codes, without a copy."""
    values: Any = column.array.codes if isinstance(column.dtype, pd.CategoricalDtype) else column.to_numpy()
    return np.asarray(values)


def decode(codes: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    """Return the value of every code."""
    result = np.empty(len(codes), dtype=values.dtype)
    for rows in chunks(len(codes)):
        result[rows] = values[codes[rows]]
    return result


class Buffer:
    """An array that grows by batches; its type widens as values need it."""

    def __init__(self, n_rows: int = 0) -> None:
        self._values: NDArray[Any] | None = None
        self._capacity = n_rows
        self._size = 0

    def add(self, values: NDArray[Any]) -> None:
        """Append the values of a batch."""
        size = self._size + len(values)
        if self._values is None:
            self._values = np.empty(max(self._capacity, size), values.dtype)
        dtype = np.result_type(self._values, values)
        if size > len(self._values) or dtype != self._values.dtype:
            larger = np.empty(max(len(self._values), size if size <= len(self._values) else 2 * size), dtype)
            larger[: self._size] = self._values[: self._size]
            self._values = larger
        self._values[self._size : size] = values
        self._size = size

    def finish(self) -> NDArray[Any]:
        """Return the values."""
        return np.empty(0) if self._values is None else self._values[: self._size]


_POWERS = 10 ** np.arange(1, 19)


class KeyColumn:
    """Codes of the distinct values of a column; -1 of a missing value."""

    def __init__(self, n_rows: int = 0) -> None:
        self._codes = Buffer(n_rows)
        self._places: dict[Any, int] = {None: -1}
        self._whole: NumberColumn | None = None  # text of whole numbers, as long as there is no other

    def add(self, column: Any) -> None:
        """Append the values of an Arrow array."""
        if len(self._places) == 1 and pa.types.is_string(column.type):
            numbers = _parse_whole_numbers(column)
            if numbers is not None:
                self._whole = self._whole or NumberColumn(narrow=True)
                self._whole.add(numbers)
                return
        self._add_whole()
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        values, index = encoded.dictionary, encoded.indices
        is_text = pa.types.is_string(values.type) or pa.types.is_large_string(values.type)
        names = values.to_numpy(zero_copy_only=False).tolist() if is_text else values.to_pylist()
        if index.null_count:
            names.append(None)
            index = index.fill_null(len(names) - 1)
        self._add_codes(names, index.to_numpy(zero_copy_only=False))

    def add_texts(self, texts: Sequence[str]) -> None:
        """Append text."""
        index = {text: code for code, text in enumerate(dict.fromkeys(texts))}
        self._add_codes(list(index), np.fromiter(map(index.__getitem__, texts), np.intp, len(texts)))

    def _add_whole(self) -> None:
        """Turn whole numbers so far into text, which other text follows."""
        if self._whole:
            coded = _code_as_text(self._whole.finish())
            self._whole = None
            self._add_codes(coded.categories.tolist(), coded.codes)

    def _add_codes(self, values: list[Any], index: NDArray[Any]) -> None:
        places = self._places
        codes = list(map(places.get, values))
        if None in codes:
            for i in pd.unique(index).tolist():  # a dictionary need not be in order of appearance
                places.setdefault(values[i], len(places) - 1)
            codes = [places.get(value, -1) for value in values]
        self._codes.add(np.array(codes, dtype=np.min_scalar_type(-len(places)))[index])

    def finish(self) -> pd.Categorical[Any]:
        """Return codes and values."""
        if self._whole:
            return _code_as_text(self._whole.finish())
        codes = self._codes.finish().astype(np.min_scalar_type(-len(self._places)), copy=False)
        return pd.Categorical.from_codes(codes, pd.Index(list(self._places)[1:], dtype=object))


def _code_as_text(numbers: NDArray[Any]) -> pd.Categorical[Any]:
    """Return codes of whole numbers, and the text that they were."""
    codes, levels = code_whole_numbers(numbers) or np.unique(numbers, return_inverse=True)[::-1]
    return pd.Categorical.from_codes(codes, pd.Index(list(map(str, levels.tolist())), dtype=object))


def _parse_whole_numbers(column: Any) -> Any:
    """Return the numbers of an Arrow array of text, if all are whole ones in their plain spelling."""
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


class NumberColumn:
    """Numbers of a column in their own type or, of labels, in the narrowest of the whole numbers."""

    def __init__(self, n_rows: int = 0, *, narrow: bool = False) -> None:
        self._values = Buffer(n_rows)
        self._narrow = narrow

    def add(self, column: Any) -> None:
        """Append the values of an Arrow array; missing numbers are NaN."""
        values = column.to_numpy(zero_copy_only=False)
        if self._narrow and values.dtype.kind == "i" and len(values):
            values = values.astype(np.min_scalar_type(min(int(values.min()), -1 - int(values.max()))))
        self._values.add(values)

    def finish(self) -> NDArray[Any]:
        """Return the numbers."""
        return self._values.finish()


class LabelColumn(NumberColumn):
    """Numbers of a column of labels: whole ones that take more than a byte become codes."""

    def __init__(self, n_rows: int) -> None:
        super().__init__(n_rows, narrow=True)

    def finish(self) -> Any:
        """Return the numbers, or their codes."""
        values = super().finish()
        coded = code_whole_numbers(values) if values.dtype.kind == "i" and values.itemsize > 1 else None
        return values if coded is None else pd.Categorical.from_codes(coded[0], pd.Index(coded[1]))


class OtherColumn:
    """Values of a column of scores that holds no numbers, as pandas takes them."""

    def __init__(self) -> None:
        self._parts: list[pd.Series[Any]] = []

    def add(self, column: Any) -> None:
        """Append the values of an Arrow array."""
        self._parts.append(column.to_pandas())

    def finish(self) -> pd.Series[Any]:
        """Return all values."""
        return pd.concat(self._parts, ignore_index=True)


def is_number(kind: Any) -> bool:
    """Whether an Arrow type is one of numbers or truth values."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def value_type(kind: Any) -> Any:
    """Return the type of the values of a column that may be stored by its distinct ones."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def read_batches(
    batches: Iterable[Any], schema: Any, *, text: Sequence[str], source: str, n_rows: int = 0
) -> pd.DataFrame:
    """Read batches of Arrow arrays into a frame: labels by their codes, numbers in their own type."""
    readers: list[Any] = []
    for item in schema:
        kind = value_type(item.type)
        if pa.types.is_nested(kind):
            raise InputError(f"{source} must hold one value a row in {item.name!r}, but holds {kind}")
        if is_number(kind):
            readers.append(LabelColumn(n_rows) if item.name in text else NumberColumn(n_rows))
        else:
            readers.append(KeyColumn(n_rows) if item.name in text else OtherColumn())
    for batch in batches:
        for column, reader in zip(batch, readers, strict=True):
            reader.add(_readable(column))
    values = {item.name: reader.finish() for item, reader in zip(schema, readers, strict=True)}
    return pd.DataFrame(values, copy=False)


def _readable(column: Any) -> Any:
    """Decode numbers that are stored by their distinct values, and text in views."""
    if pa.types.is_dictionary(column.type) and is_number(column.type.value_type):
        return column.dictionary_decode()
    return column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
