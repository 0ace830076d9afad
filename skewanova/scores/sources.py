"""Where scores come from: files, folders, frames of any library, Arrow streams and queries."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
import pyarrow as pa

from skewanova.base.checks import InputError, InputTypeError, Where, row_number
from skewanova.base.folders import available_memory
from skewanova.scores.columns import ColumnMap, read_batches
from skewanova.scores.parquet import SUFFIXES, ParquetSource
from skewanova.scores.text_files import is_text, read_text, reading_file

#: Module that knows frames whose rows are elsewhere; it is imported for these alone.
DISTRIBUTED = "skewanova.distributed.backends"


#: Bytes that a row takes while it is read and checked, and the share of the free memory for that.
BYTES_PER_ROW, MEMORY_SHARE = 30, 0.9


#: Bytes that a row of text has at least, as a rule, and how much smaller gzip makes them.
BYTES_OF_TEXT, GZIP_FACTOR = 25, 4


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns as they were written, how to say where a row is, and the file they are from."""

    frame: pd.DataFrame
    where: Where
    source: Path | None


def detect_backend(source: object) -> Any:
    """Return the backend of a frame of Dask or Spark, whose rows are elsewhere; None for all else."""
    homes = {base.__module__.partition(".")[0] for base in type(source).__mro__}
    is_distributed = homes & {"dask", "dask_expr", "pyspark"}
    return import_module(DISTRIBUTED).detect_backend(source) if is_distributed else None


def load_table(source: object, columns: ColumnMap) -> RawTable:
    """Read the columns of a source that are needed, by the names that they have here."""
    if isinstance(source, str | os.PathLike):
        path = check_path(source)
        with reading_file(path):
            frame, where = _read_file(path, columns)
    else:
        path, where, frame = None, row_number, _read_frame(source, columns)
    return RawTable(columns.rename(frame), where, path)


def check_path(source: str | os.PathLike[str]) -> Path:
    """Return the path of a file, or of a folder that holds a table in several files."""
    path = Path(source)
    with reading_file(path):
        if not path.exists():
            raise InputError(f"there is no file {str(path)!r}")
        if not (path.is_file() or path.is_dir()):
            raise InputError(
                f"{path.name!r} is neither a file nor a folder (a pipe can be read only once): write the "
                "table to a file first"
            )
    return path


def _read_file(path: Path, columns: ColumnMap) -> tuple[pd.DataFrame, Where]:
    if path.is_dir() or path.suffix.lower() in SUFFIXES:
        parquet = ParquetSource.open(path)
        check_memory(parquet.n_rows, repr(path.name), f"dask.dataframe.read_parquet({str(path)!r})")
        names = columns.select(parquet.names, repr(path.name))
        return parquet.read(names, columns.text), parquet.where
    if not is_text(path):
        raise InputError(f"{path.name!r} must end in .csv, .csv.gz, .jsonl, .ndjson or .parquet")
    n_bytes = path.stat().st_size * (GZIP_FACTOR if path.suffix.lower() == ".gz" else 1)
    reader = "read_csv" if ".csv" in path.name.lower() else "read_json"
    check_memory(n_bytes // BYTES_OF_TEXT, repr(path.name), f"dask.dataframe.{reader}({str(path)!r})")
    return read_text(path, columns)


def check_memory(n_rows: int, name: str, frame: str) -> None:
    """Refuse a table that does not fit in memory, with what to write instead."""
    free = available_memory()
    if free is not None and n_rows * BYTES_PER_ROW > MEMORY_SHARE * free:
        raise InputError(
            f"{name} holds about {n_rows:,} rows, which take {n_rows * BYTES_PER_ROW / 1e9:.2g} GB of "
            f"memory, but {free / 1e9:.2g} GB are free; compare it in parts by Dask (pip install "
            f"'skewanova[dask]'): compare({frame})"
        )


def _read_frame(source: object, columns: ColumnMap) -> pd.DataFrame:
    """Read a frame of any library, an Arrow stream or a query."""
    backend = detect_backend(source)
    if backend is not None:
        names = columns.select(backend.names, backend.name)
        rows: pd.DataFrame = backend.rows({name: name for name in names})
        return rows.reset_index(drop=True)
    native: Any = nw.to_native(source, pass_through=True)
    if isinstance(native, pd.DataFrame):
        frame = native.reset_index(drop=True)
        return frame[columns.select(frame.columns.tolist(), "the table")].copy()  # the user may change theirs
    if isinstance(native, pd.Series):
        raise _refuse_type(source)
    with _reading_query(native):
        reader = _open_stream(native, columns)
        if reader is None:
            raise _refuse_type(source)
        names = columns.select(reader.schema.names, "the table")
        index = [reader.schema.names.index(name) for name in names]
        schema = pa.schema([reader.schema.field(i) for i in index])
        batches = ([batch.column(i) for i in index] for batch in reader)
        return read_batches(batches, schema, text=columns.text, source="the table")


def _open_stream(native: Any, columns: ColumnMap) -> Any:
    """Return a reader of record batches; None of what is no table."""
    try:
        frame = nw.from_native(native)
    except (TypeError, nw.exceptions.DuplicateError):  # such as a cursor of ADBC
        if hasattr(native, "fetch_record_batch"):
            return native.fetch_record_batch()
    else:
        if isinstance(frame, nw.LazyFrame):
            names = columns.select(frame.collect_schema().names(), "the query")
            n_rows = int(frame.select(nw.len()).collect().item())
            check_memory(n_rows, "the query", "dask.dataframe.read_parquet(folder), once written")
            frame = frame.select(names)
            native = frame.to_native()
        if not hasattr(native, "__arrow_c_stream__"):
            native = (frame.collect("pyarrow") if isinstance(frame, nw.LazyFrame) else frame).to_arrow()
    return pa.RecordBatchReader.from_stream(native) if hasattr(native, "__arrow_c_stream__") else None


def _refuse_type(source: object) -> InputTypeError:
    return InputTypeError(
        f"scores must be a path or a pandas, polars or pyarrow table, but got {type(source).__name__}"
    )


@contextmanager
def _reading_query(native: Any) -> Iterator[None]:
    """Tell in one line what a query or a stream raises that cannot be carried out."""
    home = sys.modules[type(native).__module__.split(".")[0].lstrip("_")]
    owners = (home, "Error"), (getattr(home, "exceptions", None), "PolarsError")
    own = [getattr(owner, name) for owner, name in owners if hasattr(owner, name)]
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, MemoryError, nw.exceptions.NarwhalsError, *own) as error:
        raise InputError(f"the query cannot be read: {' '.join(str(error).split())}") from error
