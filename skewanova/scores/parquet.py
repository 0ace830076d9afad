"""Parquet in batches."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from skewanova.base.checks import InputError, row_number
from skewanova.scores.columns import read_batches, value_type

SUFFIXES = (".parquet", ".pq")


#: Rows decoded at once.
BATCH_ROWS = 1 << 17


#: Bytes of a column chunk read at once: a row group need not fit in memory.
BUFFER_SIZE = 1 << 20


#: What damaged files raise beside Arrow's own errors.
_DAMAGED = (OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, MemoryError)


_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True)
class Part:
    """One file, its columns, and those that its folders' names hold (``model=forest/fold=3/``)."""

    path: Path
    names: tuple[str, ...]
    keys: dict[str, str | None]
    n_rows: int

    @classmethod
    def of(cls, file: Path, folder: Path) -> Part:
        """Read the metadata of a file below a folder."""
        with told(file):
            metadata = pq.read_metadata(file)
            names = metadata.schema.to_arrow_schema().names
            return cls(file, tuple(names), _keys(file.relative_to(folder)), metadata.num_rows)


@dataclass(frozen=True, eq=False)
class ParquetSource:
    """A file, or all files of a folder that end in .parquet or .pq, as one table.

    Attributes
    ----------
    path : Path
        The file or the folder.
    parts : tuple of Part
        Its files in the order of their paths; rows are counted through all of them.
    schema : pyarrow.Schema
        Columns of the first file, to whose types those of the others are cast, and of the folders' names.
    """

    path: Path
    parts: tuple[Part, ...]
    schema: Any

    @classmethod
    def open(cls, path: Path) -> ParquetSource:
        """Read the metadata of all files."""
        files = _files(path)
        parts = tuple(Part.of(file, path) for file in files)
        with told(files[0]):
            schema = pq.read_schema(files[0])
            index = _stored_index(schema.metadata)
            retained = [
                field for field in schema if field.name not in index and field.name not in parts[0].keys
            ]
            keys = [pa.field(name, pa.string()) for name in parts[0].keys]
            return cls(path, parts, pa.schema([*retained, *keys]))

    @property
    def n_rows(self) -> int:
        """Rows of all files together."""
        return sum(part.n_rows for part in self.parts)

    @property
    def names(self) -> list[str]:
        """Names of the columns; an index that pandas stored is none."""
        return list(self.schema.names)

    def where(self, row: int) -> str:
        """Say where a row is: by its number from 0 and, of a folder, by its file."""
        if not self.path.is_dir():
            return row_number(row)
        for part in self.parts:
            if row < part.n_rows:
                return f"{row_number(row)} of {part.path.relative_to(self.path).as_posix()!r}"
            row -= part.n_rows
        raise IndexError(row)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Record batches of these columns, which must hold one value a row."""
        for name in columns:
            kind = value_type(self.schema.field(name).type)
            if pa.types.is_nested(kind):
                raise InputError(
                    f"{self.path.name!r} must hold one value a row in {name!r}, but holds {kind}"
                )
        for part in self.parts:
            with told(part.path):
                yield from self._batches(part, columns)

    def read(self, columns: Sequence[str], text: Sequence[str]) -> pd.DataFrame:
        """Read all rows of these columns; those of `text` are labels."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        name = repr(self.path.name)
        return read_batches(
            (batch.columns for batch in self.batches(columns)),
            schema,
            text=text,
            source=name,
            n_rows=self.n_rows,
        )

    def _batches(self, part: Part, columns: Sequence[str]) -> Iterator[Any]:
        fields = [self.schema.field(name) for name in columns]
        stored = [name for name in columns if name in part.names and name not in part.keys]
        text = [f.name for f in fields if f.name in stored and _is_text(f.type)]
        options = {"buffer_size": BUFFER_SIZE, "pre_buffer": False}  # else whole columns are kept
        n_rows = 0
        with pq.ParquetFile(part.path, read_dictionary=text, **options) as file:
            try:
                for batch in file.iter_batches(BATCH_ROWS, columns=stored, use_threads=False):
                    batch.validate(full=True)
                    n_rows += len(batch)
                    arrays = [_array(batch, part, field) for field in fields]
                    yield pa.RecordBatch.from_arrays(arrays, names=list(columns))
            except (pa.ArrowException, *_DAMAGED) as error:
                raise pa.ArrowInvalid(f"{_damaged_group(file, stored, n_rows)}{error}") from error
        if n_rows != part.n_rows:
            raise pa.ArrowInvalid(f"it says that it has {part.n_rows} rows, but has {n_rows}")


def damage(paths: Iterable[Path], columns: Collection[str]) -> str | None:
    """What is said of the first file that cannot be read, of those columns that it has, one value a row."""
    try:
        for path in paths:
            source = ParquetSource.open(path)
            flat = [field.name for field in source.schema if not pa.types.is_nested(value_type(field.type))]
            for _ in source.batches([name for name in flat if name in columns]):
                pass
    except InputError as error:
        return str(error)
    return None


def _damaged_group(file: pq.ParquetFile, columns: Sequence[str], n_read: int) -> str:
    """Say which row group cannot be read, behind so many rows that could be; nothing if all can."""
    first = 0
    for group in range(file.num_row_groups):
        stop = first + file.metadata.row_group(group).num_rows
        if stop > n_read:
            try:
                options = {"row_groups": [group], "columns": columns, "use_threads": False}
                for batch in file.iter_batches(BATCH_ROWS, **options):
                    batch.validate(full=True)
            except (pa.ArrowException, *_DAMAGED):
                return f"row group {group} (rows {first} to {stop - 1}): "
        first = stop
    return ""


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Turn what Arrow says about a file that cannot be read, of whatever type, into one clear line."""
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, *_DAMAGED) as error:
        raise InputError(f"{path.name!r} cannot be read: {' '.join(str(error).split())}") from error


def _stored_index(metadata: Mapping[bytes, bytes] | None) -> frozenset[str]:
    """Columns that pandas stored as the index; metadata that are not pandas' tell of none."""
    try:
        columns = json.loads((metadata or {})[b"pandas"])["index_columns"]
        return frozenset(name for name in columns if isinstance(name, str))
    except (LookupError, TypeError, ValueError, RecursionError):
        return frozenset()


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    with told(path):  # a folder that cannot be entered is an error: its rows would be missing
        walked = [Path(folder, name) for folder, _, names in os.walk(path, onerror=_fail) for name in names]
    below = (file for file in sorted(walked) if file.suffix.lower() in SUFFIXES and file.is_file())
    files = [f for f in below if not any(p.startswith(("_", ".")) for p in f.relative_to(path).parts)]
    if not files:
        raise InputError(f"the folder {str(path)!r} holds no file that ends in .parquet or .pq")
    return files


def _fail(error: OSError) -> NoReturn:
    raise error


def _keys(relative: Path) -> dict[str, str | None]:
    pairs = (part.split("=", 1) for part in relative.parts[:-1] if "=" in part)
    return {unquote(name): None if value == _NO_VALUE else unquote(value) for name, value in pairs}


def _array(batch: Any, part: Part, field: Any) -> Any:
    """A column of the batch in the type of the whole table, text by its distinct values."""
    if field.name in part.keys:
        value = pa.array([part.keys[field.name]], pa.string())
        return pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0, pa.int32()), len(batch)), value)
    if field.name not in batch.schema.names:
        return pa.nulls(len(batch), field.type)
    column = batch.column(field.name)
    target = value_type(field.type)
    return column if value_type(column.type) == target else plain(column).cast(target)


def _is_text(kind: Any) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def plain(column: Any) -> Any:
    """The values of a column that may be stored by its distinct ones."""
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
