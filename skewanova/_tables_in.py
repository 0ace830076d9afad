"""Tables from outside: CSV, Parquet and frames become pandas columns that know where their rows come from."""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd

from skewanova._checks import InputError, InputTypeError, Where, row_number

if TYPE_CHECKING:
    from collections.abc import Callable

#: Spellings of a missing score in a text file.
MISSING_SCORES = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None")


@dataclass(frozen=True, eq=False)
class RawTable:
    """Columns as they were given, and how to say where a row stands."""

    frame: pd.DataFrame
    where: Where
    source: Path | None


def load_table(
    source: object,
    *,
    required: Sequence[str],
    optional: Sequence[str] | None,
    text: Sequence[str] | None = None,
) -> RawTable:
    """Load the columns that are needed.

    Parameters
    ----------
    source : path or frame
        Where the table is.
    required, optional : sequence of str
        Columns that must and may be there; ``optional=None`` takes all others.
    text : sequence of str, optional
        Columns that a text file's reader must not turn into numbers; by default all but the last required.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        labels = list(required[:-1]) + list(optional or ()) if text is None else list(text)
        wanted = None if optional is None else {*required, *optional}
        frame = _read_file(path, labels, wanted)
        where: Where = (lambda row: f"line {_line_of(path, row)}") if _is_text(path) else row_number
        return RawTable(_selected(frame, required, optional, str(path.name)), where, path)
    return RawTable(_selected(_as_pandas(source), required, optional, "the table"), row_number, None)


def _read_file(path: Path, labels: Sequence[str], wanted: set[str] | None) -> pd.DataFrame:
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}" + (" (it is a folder)" if path.is_dir() else ""))
    if not _is_text(path) and path.suffix not in {".parquet", ".pq"}:
        raise InputError(f"{path.name!r} must end in .csv, .csv.gz or .parquet")
    try:
        return _read_csv(path, labels, wanted) if _is_text(path) else _read_parquet(path)
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name!r} is not UTF-8 text: {error}") from error
    except (ValueError, OSError, EOFError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path.name!r} cannot be read: {' '.join(str(error).split())}") from error


def _read_csv(path: Path, labels: Sequence[str], wanted: set[str] | None) -> pd.DataFrame:
    """Labels stay text (a model may be called NA or 007); scores keep every digit they were written with."""
    with _open_text(path) as lines:
        header = next(csv.reader(lines), [])
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise InputError(f"{path.name!r} has the column {repeated[0]!r} more than once")
    frame = pd.read_csv(
        path,
        encoding="utf-8-sig",
        dtype={name: str for name in labels if name in header},
        keep_default_na=False,
        na_values={name: list(MISSING_SCORES) for name in header if name not in labels},
        float_precision="round_trip",
    )
    if not isinstance(frame.index, pd.RangeIndex):
        raise InputError(f"{path.name!r} has rows with more fields than its header")
    numbers = [name for name in header if name not in labels and (wanted is None or name in wanted)]
    _check_numbers(frame, path, numbers)
    return frame


def _check_numbers(frame: pd.DataFrame, path: Path, names: Iterable[str]) -> None:
    """Point to the first text among the numbers of a text file."""
    for name in names:
        if pd.api.types.is_numeric_dtype(frame[name]):
            continue
        for row, value in enumerate(frame[name]):
            if isinstance(value, str) and not _reads_as_number(value):
                at = f"line {_line_of(path, row)}"
                raise InputError(f"`{name}` must hold real numbers, but {path.name} has {value!r} at {at}")


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path, engine="pyarrow").reset_index(drop=True)
    except ImportError as error:
        raise InputError("reading Parquet needs pyarrow: pip install 'skewanova[parquet]'") from error


def _as_pandas(source: object) -> pd.DataFrame:
    """Take any frame that narwhals knows; columns become numpy arrays, so polars does not need pyarrow."""
    if isinstance(source, pd.DataFrame):
        return source.reset_index(drop=True)
    try:
        frame: Any = nw.from_native(source)
    except TypeError as error:
        raise InputTypeError(
            f"scores must be a path or a pandas, polars or pyarrow table, but got {type(source).__name__}"
        ) from error
    eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
    return pd.DataFrame({name: _column(eager[name]) for name in eager.columns})


def _column(column: Any) -> Any:
    numeric = column.dtype.is_numeric() or column.dtype == nw.Boolean
    return column.to_numpy() if numeric else np.array(column.to_list(), dtype=object)


def _selected(
    frame: pd.DataFrame, required: Sequence[str], optional: Sequence[str] | None, name: str
) -> pd.DataFrame:
    missing = [column for column in required if column not in frame]
    if missing:
        raise InputError(
            f"{name} must have the column{'s' if len(missing) > 1 else ''} "
            f"{', '.join(repr(c) for c in missing)}, but has {', '.join(repr(c) for c in frame)}; map other "
            "names with columns= (--model-column and its like on the command line), or read a table with one "
            "column a model through scores_from_wide (--wide)"
        )
    if optional is None:
        return frame
    return frame[[*required, *(column for column in optional if column in frame)]]


def _is_text(path: Path) -> bool:
    return path.name.lower().endswith((".csv", ".csv.gz"))


def _open_text(path: Path) -> Any:
    opener: Callable[..., Any] = gzip.open if path.suffix == ".gz" else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def _line_of(path: Path, row: int) -> int:
    """Line on which a row starts in the file, looked up only when a message needs it."""
    with _open_text(path) as lines:
        reader = csv.reader(lines)
        found, start = -2, 1
        for record in reader:
            found += bool(record)
            if found == row:
                break
            start = reader.line_num + 1
    return start
