"""Names of the columns of a score table, and their values as arrays."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from skewanova.base.checks import InputError, InputTypeError, check_choice, check_text, name_row, warn_each

#: Columns that describe how cases were sampled.
SAMPLING_COLUMNS = ("cluster", "weight")


#: Columns that assign rows to the hold-outs, or to a half of a halving.
HALVING_COLUMNS = ("part", "halving")


#: Value of the column part in the rows of hold-outs.
HOLDOUT = "holdout"


#: The parts of a table with halvings: the hold-outs, and the two halves of every halving.
PARTS = (HOLDOUT, "half_a", "half_b")


OPTIONAL_COLUMNS = ("case", *SAMPLING_COLUMNS, *HALVING_COLUMNS)


#: Columns that a table may lack; the last is one of unlabelled scores.
MISSING_ALLOWED = (*OPTIONAL_COLUMNS, "fold", "batch")


ALL_COLUMNS = ("model", "fold", "y_true", "y_score", *OPTIONAL_COLUMNS)


#: Columns of numbers; the others are labels, read as text.
NUMERIC_COLUMNS = frozenset({"y_score", "weight"})


#: Column that names the data set of a row; folds of two data sets must not be mixed.
DATASET_COLUMN = "dataset"


#: Words of the options that name a column, where they differ from the column.
OPTION_WORDS = {"y_true": "label", "y_score": "score"}


#: Names of columns that a message shows.
MAX_NAMES = 20


#: Names that pandas and R give to a column of row numbers, which holds no scores.
_UNNAMED = re.compile(r"\s*|Unnamed: \d+|__index_level_\d+__")


#: What to do if a file has no line of names.
NO_HEADER = "; if these are no names, name the columns (of a file, in its first line)"


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns before any check, in a frame under the names of a score table.

    `where` names a row in messages, by its position in the frame; `source` is the file that was read.
    """

    frame: pd.DataFrame
    where: Callable[[int], str] = name_row
    source: Path | None = None

    def take(self, rows: NDArray[np.intp]) -> RawTable:
        """Return a RawTable of the rows at these positions; `where` still names their place in the source."""
        frame = self.frame.iloc[rows].reset_index(drop=True)
        return RawTable(frame, lambda row: self.where(int(rows[row])), self.source)


@dataclass(frozen=True)
class ColumnMap:
    """Columns to read from a source, and their names in a score table.

    `required` and `optional` list names in the source; the optional ones are read if present (all that have a
    name if None). Columns in `text` hold labels, which are not read as numbers. `names` maps columns of a
    score table to names in the source. Of two scores by class in JSON lines, that of `pos_label` is read.
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
        """Return the map of `allowed`, renamed by `columns`, `classes` for y_score; raise for other keys."""
        if not isinstance(columns, Mapping | None):
            raise InputTypeError(
                f"`columns` must be a mapping such as {{'model': 'classifier'}}, but got {columns!r:.60}"
            )
        stated = columns or {}
        names = {column: column for column in allowed if column != "y_score" or not classes}
        for column, name in stated.items():
            names[check_choice(column, tuple(names), "key of columns")] = name
        for column in OPTIONAL_COLUMNS:
            if column not in stated and [*names.values()].count(column) > 1:  # another column has this name
                names.pop(column, None)
        used = [*names.values()]
        can_lack = (*MISSING_ALLOWED, "y_true") if "batch" in allowed else MISSING_ALLOWED
        taken = [name for name in classes if name in {*names, *names.values()}]
        if taken:
            raise InputError(
                f"`classes` must name score columns, but {taken[0]!r} has another use; leave it out, or "
                "if it is a class, rename its column, and the class in `classes` and in `y_true`"
            )
        required = [n for c, n in names.items() if c not in can_lack or c in stated or used.count(n) > 1]
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
        """Return names in the source: required, then optional in its order; raise for lacking or repeated."""
        required = self.required
        repeated = [name for i, name in enumerate(required) if name in required[:i]]
        if repeated:
            roles = " and ".join(role for role, name in self.names.items() if name == repeated[0])
            use = f" (for {roles})" * bool(roles)
            raise InputError(f"the column {repeated[0]!r} is used twice{use}; use each column once")
        separator = re.search(r"[;\t|]", str(available[0])) if len(available) == 1 else None
        missing = [name for name in required or ["model"] * bool(separator) if name not in available]
        if missing:
            n_others = len(available) - MAX_NAMES
            hint = self._hint(missing) + NO_HEADER * any(str(name)[:1].isdecimal() for name in available)
            if separator:
                hint = f"its columns seem to be separated by {separator.group()!r}: separate them by commas"
            raise InputError(
                f"{source} must have the column{'s' if len(missing) > 1 else ''} "
                f"{', '.join(map(repr, missing))}, but has "
                f"{', '.join(f'{name!r:.60}' for name in available[:MAX_NAMES]) or 'none'}"
                f"{f' and {n_others:,} more' if n_others > 0 else ''}; {hint}"
            )
        optional = self.optional
        if optional is None:
            optional = [column for column in available if not _UNNAMED.fullmatch(str(column))]
        selected = [*required, *(name for name in available if name in optional and name not in required)]
        repeated = [column for column in selected if available.count(column) > 1]
        if repeated:
            raise InputError(f"{source} has the column {repeated[0]!r} more than once; leave one out")
        check_text(map(str, selected), source)
        return selected

    def _hint(self, missing: Sequence[str]) -> str:
        """Return advice on names that the source lacks: map others by an argument or option, or rename."""
        roles = [role for role, name in self.names.items() if name in missing]
        if not roles or "batch" in self.names:
            if missing[0] == "y_true" and "y_score" not in self.required:  # of a wide table
                return "name it by y_true='NAME' (--label-column NAME)"
            is_wide = {"model", "y_score"} <= {*roles}  # of unlabelled scores
            long = ", or make the table long: a row for each model and case" * is_wide
            return f"correct the name, or rename the column{long}"
        mapping = f"columns={{{', '.join(f'{role!r}: NAME' for role in roles)}}}"
        option = " ".join(f"--{OPTION_WORDS.get(role, role)}-column NAME" for role in roles)
        if DATASET_COLUMN in self.names:
            single = "; of one data set, use skewanova.compare(table)" * (DATASET_COLUMN in roles)
            return f"map another name with skewanova.read_datasets(table, {mapping}){single}"
        if "y_score" not in self.names:
            return f"map another name with {mapping} ({option})"
        wide = "; read one column per model with skewanova.scores_from_wide(table), or --wide"
        mapped = f"map another name with skewanova.read_scores(table, {mapping}), or {option}"
        return mapped + wide * ("model" in roles)


def warn_without_fold(reader: str = "read_scores(table, ") -> None:
    """Warn that rows without a column fold are one test set; `reader` begins the call that names it."""
    note = (
        "there is no column fold, so all rows are taken as one test set; if they are several folds, name the "
        f"fold column: skewanova.{reader}columns={{'fold': NAME}}), or --fold-column NAME"
    )
    warn_each([note])


def add_fold(frame: pd.DataFrame, *reader: str) -> pd.DataFrame:
    """Return the frame; without fold, `warn_without_fold` and add a fold 1, or raise if it has halvings."""
    if "fold" in frame:
        return frame
    if "halving" in frame:
        raise InputError(
            "`halving` needs columns part, fold, case; add those, or rename it if no case is halved"
        )
    warn_without_fold(*reader)
    return frame.assign(fold=np.int8(1))


# --- values of a column, batch by batch --------------------------------------------------------------------


#: Rows processed at once, so that temporary arrays stay small.
CHUNK_ROWS = 1 << 18


#: Larger whole numbers are read as text.
MAX_WHOLE = 10**18


#: Largest range of whole numbers that an array over the range encodes: per row, and in addition.
MAX_GAP, MIN_RANGE = 4, 1000


def iter_chunks(n_rows: int) -> Iterator[slice]:
    """Yield consecutive slices of `CHUNK_ROWS` rows from 0 on; the last may stop beyond `n_rows`."""
    return (slice(start, start + CHUNK_ROWS) for start in range(0, n_rows, CHUNK_ROWS))


def encode_whole_numbers(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]] | None:
    """Return signed codes and ascending levels of integers; None for a wide range, or 10**18 and more."""
    low, high = int(values.min()), int(values.max())
    if high - low > MAX_GAP * len(values) + MIN_RANGE or max(-low, high) >= MAX_WHOLE:
        return None
    is_level = np.zeros(high - low + 1, dtype=np.bool_)
    for rows in iter_chunks(len(values)):
        is_level[values[rows].astype(np.intp) - low] = True
    levels = np.flatnonzero(is_level) + low
    code = (np.cumsum(is_level) - 1).astype(np.min_scalar_type(-len(levels)))
    if low == 0 and len(levels) == len(is_level):  # values are their own codes: large columns are not copied
        return values.astype(code.dtype, copy=False), levels
    codes = np.empty(len(values), dtype=code.dtype)
    for rows in iter_chunks(len(values)):
        codes[rows] = code[values[rows].astype(np.intp) - low]
    return codes, levels.astype(np.int64)


def values_or_codes(column: pd.Series[Any]) -> NDArray[Any]:
    """Return the values of a column, or the codes of a categorical one, as an array without a copy."""
    values: Any = column.array.codes if isinstance(column.dtype, pd.CategoricalDtype) else column.to_numpy()
    return np.asarray(values)


def read_batches(
    batches: Iterable[Sequence[Any]], schema: Any, *, labels: Collection[str], source: str
) -> pd.DataFrame:
    """Return the rows of all batches of Arrow arrays as one frame; raise if a column is nested.

    Text in `labels` becomes small integers if all values are plain whole numbers, else categories; numbers
    and booleans keep their kind, and other text stays text.
    """
    for item in schema:
        if pa.types.is_nested(value_type(item.type)):
            raise InputError(
                f"{source} must hold one value per row in {item.name!r}, but holds {value_type(item.type)}; "
                "write one, or leave the column out if it is not needed"
            )
    readers = [_Column(is_label=name in labels) for name in schema.names]
    for batch in batches:
        for column, reader in zip(batch, readers, strict=True):
            reader.add(column)
    values = {name: reader.finish() for name, reader in zip(schema.names, readers, strict=True)}
    return pd.DataFrame(values, copy=False)


def value_type(kind: Any) -> Any:
    """Return the Arrow type of the values of a dictionary type; any other type as it is."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind


class _Column:
    """Collect a column batch by batch, as numbers, or as categories of labels that are not whole numbers."""

    def __init__(self, *, is_label: bool) -> None:
        """Start empty; labels may be text."""
        self._is_label = is_label
        self._values: NDArray[Any] = np.empty(0, dtype=np.bool_)
        self._codes: dict[Any, int] = {}

    def add(self, column: Any) -> None:
        """Append the values of an Arrow array to those collected, labels as codes or whole numbers."""
        if pa.types.is_string_view(column.type):
            column = column.cast(pa.large_string())
        kind = value_type(column.type)
        is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
        if self._is_label and not is_number:
            numbers = None if self._codes else _parse_whole_numbers(column)
            if numbers is None:
                self._append_labels(column.dictionary_encode())
                return
            column = numbers
        elif pa.types.is_dictionary(column.type):
            column = pa.array(column.dictionary.to_pylist()).take(column.indices)  # string_view has no kernel
        values = column.to_numpy(zero_copy_only=False)
        if self._is_label and values.dtype.kind == "i" and len(values):
            values = values.astype(np.min_scalar_type(min(int(values.min()), -1 - int(values.max()))))
        self._append(values)

    def _append_labels(self, encoded: Any) -> None:
        """Append the codes of dictionary-encoded labels (missing: -1); whole numbers so far become labels."""
        if not self._codes:
            self._codes[None] = -1
            numbers, levels = pd.factorize(self._values)
            self._values = self._encode(levels.astype(str).tolist())[numbers]
        names = [*encoded.dictionary.to_pandas().tolist(), None]
        index = encoded.indices.cast(pa.int64()).fill_null(len(names) - 1)
        self._append(self._encode(names)[index.to_numpy()])

    def _encode(self, names: Sequence[Any]) -> NDArray[Any]:
        """Return the code of each label (-1 for None) in the smallest type; new labels get the next codes."""
        codes = self._codes
        new = [codes.setdefault(name, len(codes) - 1) for name in names]
        return np.array(new, dtype=np.min_scalar_type(-len(codes)))

    def finish(self) -> Any:
        """Return the collected values, as a categorical if a label was text, else as an array of numbers."""
        if not self._codes:
            return self._values
        return pd.Categorical.from_codes(self._values, pd.Index([*self._codes][1:], dtype=object))

    def _append(self, values: NDArray[Any]) -> None:
        """Append values to `_values`, which are enlarged in place and cast to the common dtype."""
        size = len(self._values)
        dtype = np.result_type(self._values, values) if size else values.dtype
        self._values = self._values.astype(dtype, copy=False)
        self._values.resize(size + len(values), refcheck=False)
        self._values[size:] = values


def _parse_whole_numbers(column: Any) -> Any:
    """Return a string array as int64; None if of another type, or not all plain and below 10**18."""
    if not pa.types.is_string(column.type):
        return None
    try:
        numbers = column.cast(pa.int64())
    except pa.ArrowInvalid:
        return None
    values = numbers.to_numpy(zero_copy_only=False)
    if numbers.null_count or np.abs(values).max(initial=0) >= MAX_WHOLE:
        return None
    return numbers if numbers.cast(pa.string()).equals(column) else None  # another spelling, such as 007
