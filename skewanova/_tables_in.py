"""Tables from outside: files and frames become pandas columns that know where their rows come from."""

from __future__ import annotations

import csv
import gzip
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova._checks import MISSING_TEXT, InputError, InputTypeError, Where, row_number
from skewanova._json_lines import SUFFIXES, as_texts, read_json_lines

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from skewanova._parquet import ParquetSource

PARQUET = frozenset({".parquet", ".pq"})
NO_PYARROW = "reading Parquet needs pyarrow: pip install 'skewanova[parquet]'"
#: Names of columns that a message shows.
MOST_SHOWN = 20
_TRUTH = {"true": True, "false": False}
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,4000}\s*", re.ASCII)
#: What pandas and R make of a column without a name: numbers of rows, never scores of a model.
_NAMELESS = re.compile(r"\s*|Unnamed: \d+|__index_level_\d+__")


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
    text: Sequence[str],
    pos_label: object = None,
) -> RawTable:
    """Load the columns that are needed.

    Parameters
    ----------
    source : path or frame
        Where the table is.
    required, optional : sequence of str
        Columns that must and may be there; ``optional=None`` takes all others that have a name.
    text : sequence of str
        Columns of a text file that are labels; all others are numbers.
    pos_label : object, optional
        Positive class, whose score is taken where JSON lines tell those of both classes.
    """
    if not isinstance(source, str | os.PathLike):
        return RawTable(_selected(_as_pandas(source), required, optional, "the table"), row_number, None)
    path = existing(source)
    if path.is_dir():
        parquet = open_parquet(path)
        frame = _selected(parquet.read(), required, optional, repr(path.name))
        return RawTable(frame, parquet.where, path)
    if path.suffix.lower() in PARQUET:
        frame = _selected(_read_parquet(path), required, optional, repr(path.name))
        return RawTable(frame, row_number, path)
    if path.name.lower().endswith(SUFFIXES):
        cells, lines = read_json_lines(path, _opened)
        frame, where = _selected(cells, required, optional, repr(path.name)), _line_in(lines)
        for name in frame.columns.tolist():
            texts = as_texts(frame[name], where, label=name in text, pos_label=pos_label)
            frame = frame.assign(**{name: texts})
        return RawTable(_with_numbers(frame, path.name, text, where), where, path)
    if not path.name.lower().endswith((".csv", ".csv.gz")):
        raise InputError(f"{path.name!r} must end in .csv, .csv.gz, .jsonl, .ndjson or .parquet")
    frame, where = _selected(_read_csv(path), required, optional, repr(path.name)), _line_of(path)
    return RawTable(_with_numbers(frame, path.name, text, where), where, path)


def existing(source: str | os.PathLike[str]) -> Path:
    """Path of a file, or of a folder that holds a table in several files."""
    path = Path(source)
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    return path


def open_parquet(path: Path) -> ParquetSource:
    """A file or folder to be read in batches."""
    try:
        from skewanova._parquet import ParquetSource  # needs an extra package
    except ImportError as error:
        raise InputError(NO_PYARROW) from error
    return ParquetSource.open(path)


def _read_csv(path: Path) -> pd.DataFrame:
    """Every field as its text: a model may be called NA or 007, and scores keep every digit."""
    records = (fields for _, fields in _records(path))
    header = next(records, [])
    if not header:
        raise InputError(f"{path.name!r} is empty")
    columns = list(zip(*records, strict=True)) or [()] * len(header)
    return pd.concat([pd.Series(c, dtype=object) for c in columns], axis=1).set_axis(header, axis=1)


def _records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line of the file and fields of every record, the header first; blank lines are passed over."""
    line, width = 1, 0
    try:
        with _opened(path) as lines:
            reader = csv.reader(lines, strict=True)
            for fields in reader:
                if len(fields) > 1 or "".join(fields).strip():
                    width = width or len(fields)
                    if len(fields) != width:
                        raise InputError(
                            f"line {line} of {path.name!r} has {len(fields)} fields, but its header {width}"
                        )
                    yield line, fields
                line = reader.line_num + 1
    except csv.Error as error:
        raise InputError(f"{path.name!r} cannot be read from line {line} on: {error}") from error


@contextmanager
def _opened(path: Path) -> Iterator[TextIO]:
    """The file's text, packed or not."""
    opener: Callable[..., Any] = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as lines:
            yield lines
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name!r} is not UTF-8 text: {error}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path.name!r} cannot be read: {error}") from error


def _line_of(path: Path) -> Where:
    """Line on which a row starts in the file, looked up only when a message needs it."""
    return lambda row: f"line {next(islice(_records(path), row + 1, None))[0]}"


def _line_in(lines: Sequence[int]) -> Where:
    return lambda row: f"line {lines[row]}"


def _with_numbers(frame: pd.DataFrame, source: str, text: Sequence[str], where: Where) -> pd.DataFrame:
    """Turn all columns but the labels from text into numbers, or point to the first that is none."""
    columns: dict[str, Any] = {}
    for name in frame.columns.tolist():
        columns[name], bad = (frame[name], None) if name in text else _numbers(frame[name].tolist())
        if bad is not None:
            shown = repr(frame[name].iloc[bad])
            shown = shown if len(shown) <= 40 else f"{shown[:36]}..."
            raise InputError(f"`{name}` must hold real numbers, but {source!r} has {shown} at {where(bad)}")
    return pd.DataFrame(columns)


def _numbers(texts: Sequence[str]) -> tuple[NDArray[Any], int | None]:
    """Whole numbers in 64 bits, exact doubles or truth values; and the position of the first other text."""
    if {text.strip().lower() for text in set(texts)} <= _TRUTH.keys():
        return np.array([_TRUTH[text.strip().lower()] for text in texts], dtype=bool), None
    if all(map(_WHOLE.fullmatch, texts)):
        return _whole_numbers([int(text) for text in texts]), None
    values = np.empty(len(texts))
    for i, text in enumerate(texts):
        try:
            values[i] = _real_number(text)
        except ValueError:
            return values, i
    return values, None


def _whole_numbers(values: Sequence[int]) -> NDArray[Any]:
    """As int64 or uint64; those that fit neither, as their ranks, which is all that a score tells."""
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= min(values) and max(values) <= np.iinfo(dtype).max:
            return np.array(values, dtype=dtype)
    rank = {value: position for position, value in enumerate(sorted(set(values)))}
    return np.array([rank[value] for value in values])


def _real_number(text: str) -> float:
    """The nearest double, nan where the text says missing; Python's 1_000 is no number in a table."""
    if text.strip().lower() in MISSING_TEXT:
        return np.nan
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path, engine="pyarrow").reset_index(drop=True)
    except ImportError as error:
        raise InputError(NO_PYARROW) from error
    except (ValueError, OSError) as error:
        raise InputError(f"{path.name!r} cannot be read: {' '.join(str(error).split())}") from error


def _as_pandas(source: object) -> pd.DataFrame:
    """Take any frame that narwhals knows; columns become numpy arrays, so polars does not need pyarrow."""
    if isinstance(source, pd.DataFrame):
        return source.reset_index(drop=True)
    try:
        frame: Any = nw.from_native(source)
        eager = frame.collect() if isinstance(frame, nw.LazyFrame) else frame
        return pd.DataFrame({name: _column(eager[name]) for name in eager.columns})
    except TypeError as error:
        raise InputTypeError(
            f"scores must be a path or a pandas, polars or pyarrow table, but got {type(source).__name__}"
        ) from error
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"the table's {' '.join(str(error).split())}") from error


def _column(column: Any) -> Any:
    numeric = column.dtype.is_numeric() or column.dtype == nw.Boolean
    return column.to_numpy() if numeric else np.array([*column.to_list(), None], dtype=object)[:-1]


def _selected(
    frame: pd.DataFrame, required: Sequence[str], optional: Sequence[str] | None, name: str
) -> pd.DataFrame:
    return frame[wanted_columns(frame.columns.tolist(), required, optional, name=name)]


def wanted_columns(
    has: Sequence[str], required: Sequence[str], optional: Sequence[str] | None, *, name: str
) -> list[str]:
    """Columns to take of those that a table has, the required ones first; errors call the table `name`."""
    twice = [name for i, name in enumerate(required) if name in required[:i]]
    if twice:
        raise InputError(f"the column {twice[0]!r} cannot serve twice")
    missing = [column for column in required if column not in has]
    if missing:
        others = f" and {len(has) - MOST_SHOWN:,} more" if len(has) > MOST_SHOWN else ""
        raise InputError(
            f"{name} must have the column{'s' if len(missing) > 1 else ''} {', '.join(map(repr, missing))}, "
            f"but has {', '.join(map(repr, has[:MOST_SHOWN])) or 'none'}{others}; map other "
            "names with columns= (--model-column and its like on the command line), or read a table with one "
            "column a model through scores_from_wide (--wide)"
        )
    if optional is None:
        optional = [column for column in has if not _NAMELESS.fullmatch(str(column))]
    wanted = [*required, *(column for column in has if column in optional and column not in required)]
    repeated = [column for column in wanted if has.count(column) > 1]
    if repeated:
        raise InputError(f"{name} has the column {repeated[0]!r} more than once")
    return wanted
