"""Tables read from files, folders of Parquet, frames of any library, Arrow streams and queries."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import narwhals as nw
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from skewanova.base.checks import InputError, InputTypeError, RowName, name_row
from skewanova.base.folders import find_free_memory, raise_error
from skewanova.scores.columns import DATASET_COLUMN, ColumnMap, RawTable, read_batches, value_type
from skewanova.scores.text_files import is_text, read_text

PARQUET_SUFFIXES = (".parquet", ".pq")


#: Rows of Parquet decoded at once.
BATCH_ROWS = 1 << 17


#: Bytes of a column chunk read at once: a row group need not fit in memory.
BUFFER_SIZE = 1 << 20


#: Errors that damaged files of Parquet raise.
_DAMAGED = (pa.ArrowException, OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
            MemoryError)  # fmt: skip


_ADVICE = "; if it is damaged or of another format, write it anew"


_HIVE_NULL = "__HIVE_DEFAULT_PARTITION__"


#: Memory of a row while it is read and checked, and the share of the free memory that rows may take.
BYTES_PER_ROW, MEMORY_SHARE = 30, 0.9


#: Usual smallest length of a row of text, and the usual compression of gzip.
MIN_LINE_BYTES, GZIP_FACTOR = 25, 4


def detect_backend(source: Any) -> Any:
    """Return a Backend that wraps a frame of Dask or Spark, or None for any other source."""
    native = nw.to_native(source, pass_through=True)
    native = native.to_spark() if hasattr(type(native), "to_spark") else native  # of pandas on Spark
    is_dask = nw.dependencies.is_dask_dataframe(native)
    is_spark = nw.dependencies.is_pyspark_dataframe, nw.dependencies.is_pyspark_connect_dataframe
    if not (is_dask or any(check(native) for check in is_spark)):
        return None
    backends: Any = import_module("skewanova.distributed.backends")
    return (backends.DaskFrame if is_dask else backends.SparkFrame)(native)


def load_table(source: object, columns: ColumnMap) -> RawTable:
    """Return columns of a path, frame, stream or query in memory, unchecked, chosen, named by `columns`."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        try:
            with _reading_errors(repr(path.name[:60]), (OSError, EOFError, zlib.error)):
                frame, where = _read_path(path, columns)
        except MemoryError as error:
            remedy = _write_remedy(path, columns)
            raise InputError(f"{path.name!r} does not fit in memory; {remedy}") from error
    else:
        path, where, frame = None, name_row, _read_frame(source, columns)
    return RawTable(frame.rename(columns={name: key for key, name in columns.names.items()}), where, path)


# --- files -------------------------------------------------------------------------------------------------


def _read_path(path: Path, columns: ColumnMap) -> tuple[pd.DataFrame, RowName]:
    """Return needed columns, named as in the file or folder of Parquet, and the function that names rows."""
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    if not (path.is_file() or path.is_dir()):
        raise InputError(
            f"{path.name!r} is neither a file nor a folder (a pipe can be read only once); write the table "
            "to a file first"
        )
    name = repr(path.name or str(path))
    if path.is_dir() or path.suffix.lower() in PARQUET_SUFFIXES:
        parquet = ParquetSource.from_path(path)
        _check_memory(sum(parquet.sizes.values()), name, _write_remedy(path, columns))
        names = columns.select(parquet.schema.names, name)
        schema = pa.schema([parquet.schema.field(column) for column in names])
        return read_batches(parquet.batches(names), schema, labels=columns.text, source=name), parquet.where
    if not is_text(path):
        raise InputError(f"{name} must be written as .csv, .csv.gz, .jsonl, .ndjson or .parquet")
    n_bytes = path.stat().st_size * (GZIP_FACTOR if path.suffix.lower() == ".gz" else 1)
    _check_memory(n_bytes // MIN_LINE_BYTES, name, _write_remedy(path, columns))
    return read_text(path, columns)


@contextmanager
def _reading_errors(name: str, kinds: Any = _DAMAGED, advice: str = _ADVICE) -> Iterator[None]:
    """Raise errors of these kinds in the block as InputError 'NAME cannot be read: REASON'."""
    try:
        yield
    except InputError:
        raise
    except kinds as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split()).rstrip(".") + advice
        raise InputError(f"{name} cannot be read: {reason}") from error


MEMORY_REMEDY = "keep fewer rows, or take a machine with more memory"


def _write_remedy(path: Path, columns: ColumnMap, step: str = "") -> str:
    """Return advice to keep fewer rows or, of a long table of one data set, to use Dask after `step`."""
    names = columns.names.keys()
    if not {"y_true", "y_score"} <= names or not names.isdisjoint((DATASET_COLUMN, "batch")):
        return MEMORY_REMEDY
    if path.suffix.lower() == ".gz":  # Dask reads a zipped file, and JSON without a block size, as one
        path, step = path.with_suffix(""), "unpacked, "
    kind = "csv" if ".csv" in path.name.lower() else "json" if is_text(path) else "parquet"
    options = ", lines=True, blocksize=2**26" * (kind == "json")
    table = f"dask.dataframe.read_{kind}({str(path)!r}{options})"
    renamed = {column: name for column, name in columns.names.items() if column != name}
    table = f"skewanova.read_scores({table}, columns={renamed})" if renamed else table
    return (
        f"{MEMORY_REMEDY}; only skewanova.compare and skewanova.evaluate read it in parts, {step}with Dask "
        f"(pip install 'skewanova[dask]'): import dask.dataframe, skewanova; skewanova.compare({table})"
    )


def _check_memory(n_rows: int, name: str, remedy: str) -> None:
    """Raise if rows need over `MEMORY_SHARE` of free memory, if it is known; the message ends in `remedy`."""
    free = find_free_memory()
    if free is not None and n_rows * BYTES_PER_ROW > MEMORY_SHARE * free:
        raise InputError(
            f"{name} holds about {n_rows:,} rows, which take {n_rows * BYTES_PER_ROW / 1e9:.2g} GB of "
            f"memory, but {free / 1e9:.2g} GB are free; {remedy}"
        )


# --- Parquet -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ParquetSource:
    """A file, or all files of a folder that end in .parquet or .pq, as one table.

    `sizes` holds the number of rows of every file, in the order of their paths. `schema` holds the columns
    of the first file, to whose types the others are cast, and of the names of folders
    (``model=forest/fold=3/``). An index that pandas stored is left out.
    """

    path: Path
    sizes: Mapping[Path, int]
    schema: Any

    @classmethod
    def from_path(cls, path: Path) -> ParquetSource:
        """Return the source of a path, with the metadata of all its files."""
        sizes = {}
        for file in _list_parquet(path):
            with _reading_errors(repr(file.name)):
                sizes[file] = pq.read_metadata(file).num_rows
        first = next(iter(sizes))
        with _reading_errors(repr(first.name)):
            schema, keys = pq.read_schema(first), _folder_keys(first, path)
            hidden = {*_index_columns(schema), *keys}
            fields = [field for field in schema if field.name not in hidden]
            return cls(path, sizes, pa.schema([*fields, *(pa.field(key, pa.string()) for key in keys)]))

    def where(self, row: int) -> str:
        """Return "row 3", or of a folder "row 3 of 'a.parquet'"; the rows of each file count from 0."""
        if not self.path.is_dir():
            return name_row(row)
        for file, n_rows in self.sizes.items():
            if row < n_rows:
                return f"{name_row(row)} of {file.relative_to(self.path).as_posix()!r}"
            row -= n_rows
        raise IndexError(row)

    def batches(self, columns: Sequence[str]) -> Iterator[list[Any]]:
        """Yield batches of rows, file by file, a list of an Arrow array per column each; raise if damaged."""
        for path in self.sizes:
            with _reading_errors(repr(path.name)):
                yield from self._read_file(path, [self.schema.field(name) for name in columns])

    def _read_file(self, path: Path, fields: Sequence[Any]) -> Iterator[list[Any]]:
        """Yield batches of rows of a file, an Arrow array per field; `batches` explains errors of damage."""
        keys = _folder_keys(path, self.path)
        stored = {*pq.read_schema(path).names} - {*keys}
        names = [field.name for field in fields if field.name in stored]
        text = [f.name for f in fields if f.name in stored and f.type in (pa.string(), pa.large_string())]
        options = {"buffer_size": BUFFER_SIZE, "pre_buffer": False}  # else whole columns stay in memory
        n_read = 0
        with pq.ParquetFile(path, read_dictionary=text, **options) as file:
            for group in range(file.num_row_groups):
                rows = f"rows {n_read} to {n_read + file.metadata.row_group(group).num_rows - 1}"
                selection = {"row_groups": [group], "columns": names, "use_threads": False}
                try:
                    for batch in file.iter_batches(BATCH_ROWS, **selection):
                        batch.validate(full=True)
                        n_read += len(batch)
                        yield [_select_column(batch, field, keys) for field in fields]
                except _DAMAGED as error:
                    raise pa.ArrowInvalid(f"row group {group} ({rows}): {error}") from error
        if n_read != self.sizes[path]:
            raise pa.ArrowInvalid(f"its metadata state {self.sizes[path]} rows, but it has {n_read}")


def _select_column(batch: Any, field: Any, keys: Mapping[str, str | None]) -> Any:
    """Return a column as Arrow array of the field's type (text may be a dictionary), or nulls if lacking."""
    if field.name in keys:
        return pa.repeat(pa.scalar(keys[field.name], pa.string()), len(batch))
    if field.name not in batch.schema.names:
        return pa.nulls(len(batch), field.type)
    column, kind = batch.column(field.name), value_type(field.type)
    if value_type(column.type) == kind:
        return column
    return (column.dictionary_decode() if pa.types.is_dictionary(column.type) else column).cast(kind)


def describe_damage(paths: Iterable[Path], columns: Collection[str]) -> str | None:
    """Return the error text of the first file whose columns cannot be read, or None if all can."""
    try:
        for path in paths:
            parquet = ParquetSource.from_path(path)
            for _ in parquet.batches([name for name in parquet.schema.names if name in columns]):
                pass
    except InputError as error:
        return str(error)
    return None


def _index_columns(schema: Any) -> frozenset[str]:
    """Return the names of columns that pandas stored as the index by the metadata; empty without it."""
    try:
        columns = schema.pandas_metadata["index_columns"]
        return frozenset(name for name in columns if isinstance(name, str))
    except (LookupError, TypeError, ValueError, RecursionError):
        return frozenset()


def _list_parquet(path: Path) -> list[Path]:
    """Return [file], or the sorted Parquet files at any depth of a folder, none hidden; raise for no file."""
    if not path.is_dir():
        return [path]
    with _reading_errors(repr(path.name)):  # of a folder that cannot be entered, rows would be missing
        walked = [Path(top, name) for top, _, names in os.walk(path, onerror=raise_error) for name in names]
    below = (file for file in sorted(walked) if file.suffix.lower() in PARQUET_SUFFIXES and file.is_file())
    files = [f for f in below if not any(p.startswith(("_", ".")) for p in f.relative_to(path).parts)]
    if not files:
        raise InputError(
            f"the folder {str(path)!r} has no file that ends in .parquet or .pq (names that start with _ or "
            ". are skipped); rename Parquet files so, or give the path of one .csv, .jsonl or .parquet file"
        )
    return files


def _folder_keys(file: Path, folder: Path) -> dict[str, str | None]:
    """Return the NAME=VALUE pairs in the names of folders between `folder` and `file`, None for null."""
    pairs = (part.split("=", 1) for part in file.relative_to(folder).parts[:-1] if "=" in part)
    return {unquote(name): None if value == _HIVE_NULL else unquote(value) for name, value in pairs}


# --- frames, streams and queries ---------------------------------------------------------------------------


#: What to do with an object that is no table, by an attribute that it has.
REMEDIES = {
    "scores": "pass its attribute scores",
    "classes": "pass one of its tables, or compare all by skewanova.compare_classes(scores)",
    "comparisons": "pass the scores of one of its comparisons",
    "packed": "pass the Dask or Spark frame itself",
    "halvings": "use it as it is, its to_frame() as unlabelled scores, or name it in a dict of data sets",
    "fit": "score cases by skewanova.scores_from_estimators({'A': model}, X, y), or compare candidates of a "
    "search by skewanova.compare_values(search.cv_results_)",
    "with_format": "pass one of its splits, such as scores['test']",
    "append": "make one by pandas.DataFrame, or give data sets to skewanova.compare_datasets in a dict",
    "keys": "make one by pandas.DataFrame, or compare data sets by skewanova.compare_datasets(tables), "
    "results of scikit-learn by skewanova.compare_values(results) and estimators by "
    "skewanova.compare_estimators(estimators, X, y)",
}


def _read_frame(source: object, columns: ColumnMap) -> pd.DataFrame:
    """Return needed columns, by source names, of a frame, stream or query as pandas; raise if no table."""
    backend = detect_backend(source)
    if backend is not None:
        names = columns.select(backend.names, backend.name)
        rows: pd.DataFrame = backend.read_rows({name: name for name in names})
        return rows.reset_index(drop=True)
    native: Any = nw.to_native(source, pass_through=True)
    if isinstance(native, pd.DataFrame):
        frame = native.reset_index(drop=True)
        names = columns.select(frame.columns.tolist(), "the table")
        score = columns.names.get("y_score")
        shared = [name for name in names if name == score and isinstance(frame[name].dtype, np.dtype)]
        table = frame[[name for name in names if name not in shared]].copy()  # the user may change theirs
        for name in shared:  # from pandas 3 on, copied when the user changes theirs
            table[name] = frame[name]
        return table[names]
    with _reading_errors("the query", _list_query_errors(native), ""):
        is_column = nw.dependencies.is_into_series(native)
        reader = None if is_column else _open_stream(native, columns)
        if reader is None:
            remedies = {} if is_column else REMEDIES
            advice = (text for name, text in remedies.items() if hasattr(source, name))
            raise InputTypeError(
                "scores must be a path or a pandas, polars or pyarrow table, but got "
                f"{type(source).__name__}; {next(advice, 'make one by pandas.DataFrame')}"
            )
        names = columns.select(reader.schema.names, "the table")
        schema = pa.schema([reader.schema.field(name) for name in names])
        return read_batches(_iter_columns(reader, names), schema, labels=columns.text, source="the table")


def _iter_columns(reader: Any, names: Sequence[str]) -> Iterator[list[Any]]:
    """Yield these columns of each record batch, an array a name; raise ArrowInvalid for impossible values."""
    for batch in reader:
        selected = batch.select(names)
        selected.validate(full=True)
        yield selected.columns


def _open_stream(native: Any, columns: ColumnMap) -> Any:
    """Return a reader of Arrow record batches, of a lazy query the needed columns; None if it is no table."""
    try:
        frame = nw.from_native(native)
    except (TypeError, nw.exceptions.DuplicateError):  # such as a cursor of ADBC
        if hasattr(native, "fetch_record_batch"):
            return native.fetch_record_batch()
        if hasattr(native, "with_format") and hasattr(native, "iter"):  # a data set of Hugging Face
            empty = pa.table({name: [] for name in native.column_names or ()})
            tables = [empty, *native.with_format("arrow").iter(BATCH_ROWS)]
            native = pa.concat_tables(tables, promote_options="default")
    else:
        if isinstance(frame, nw.LazyFrame):
            names = columns.select(frame.collect_schema().names(), "the query")
            n_rows = int(frame.select(nw.len()).collect().item())
            step = "written to 'folder' as Parquet, "
            _check_memory(n_rows, "the query", _write_remedy(Path("folder"), columns, step))
            frame = frame.select(names)
            native = frame.to_native()
        if not hasattr(native, "__arrow_c_stream__"):
            native = (frame.collect("pyarrow") if isinstance(frame, nw.LazyFrame) else frame).to_arrow()
    return pa.RecordBatchReader.from_stream(native) if hasattr(native, "__arrow_c_stream__") else None


def _list_query_errors(native: Any) -> tuple[type[BaseException], ...]:
    """Return Arrow, narwhals, OS and memory errors, and error classes of the library of `native`, if any."""
    home = sys.modules.get(type(native).__module__.split(".")[0].lstrip("_"))
    owners = (home, "Error"), (getattr(home, "exceptions", None), "PolarsError")
    errors = [getattr(owner, name) for owner, name in owners if hasattr(owner, name)]
    return (pa.ArrowException, OSError, MemoryError, nw.exceptions.NarwhalsError, *errors)
