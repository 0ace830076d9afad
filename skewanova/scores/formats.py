"""CSV, JSON lines and frames to columns.

By the json module, since pandas.read_json takes the last of two equal keys without a word, rounds whole
numbers beyond 64 bits, and tells neither the line nor the column of what is no JSON.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import os
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from itertools import count, islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NoReturn

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import (
    FIRST_INEXACT,
    MISSING_TEXT,
    InputError,
    InputTypeError,
    Where,
    is_exact,
    row_number,
)
from skewanova.scores.engines import engine_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import AbstractContextManager
    from typing import TextIO

    from skewanova.scores.parquet import ParquetSource

SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


_CSV = (".csv", ".csv.gz")


#: What model hubs call the class of label 1.
_POSITIVE = frozenset({"1", "true", "positive", "label_1"})


class Number(str):
    """A number or constant of JSON as it was written, so that no digit is lost before its column is known."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Absent:
    """What stands where an object lacks a key that another has."""


ABSENT = _Absent()


def json_rows(
    path: Path, opened: Callable[[Path], AbstractContextManager[Iterator[str]]]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Line and cells of each row as they were written; blank lines are passed over."""
    with opened(path) as text:
        for line, content in enumerate(text, 1):
            if content.strip():
                yield line, _parsed(content, f"line {line} of {path.name!r}")


def read_json_lines(
    path: Path,
    opened: Callable[[Path], AbstractContextManager[Iterator[str]]],
    needed: Collection[str] | None,
) -> tuple[list[dict[str, Any]], list[str], list[int]]:
    """Cells of each row as they were written, of the needed keys only; all keys; and the line of each row."""
    rows, lines = [], []
    keys: dict[str, None] = {}
    for line, row in json_rows(path, opened):
        keys |= dict.fromkeys(row)
        rows.append({k: v for k, v in row.items() if needed is None or k in needed})
        lines.append(line)
    if not rows:
        raise InputError(f"{path.name!r} is empty")
    return rows, list(keys), lines


def _parsed(content: str, place: str) -> dict[str, Any]:
    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [key for key, _ in pairs]
            twice = next(key for key in names if names.count(key) > 1)
            raise InputError(f"{place} has the key {twice!r} more than once")
        return made

    try:
        row = json.loads(
            content, parse_float=Number, parse_int=Number, parse_constant=Number, object_pairs_hook=once
        )
    except (json.JSONDecodeError, RecursionError) as error:
        told = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        raise InputError(f"{place} is not JSON: {told}") from error
    if not isinstance(row, dict):
        raise InputError(
            f'{place} must be a JSON object such as {{"model": "A", ...}}, but is {content.strip():.40}'
        )
    return row


def as_texts(
    name: str, rows: Sequence[dict[str, Any]], where: Where, *, label: bool, pos_label: object
) -> list[str]:
    """A column's cells as a CSV file would hold them; of several scores, that of the positive class."""

    def text(row: int, cell: Any) -> str:
        try:
            return _plain(cell if label else _one_score(cell, pos_label))
        except ValueError as error:
            raise InputError(f"`{name}` {error}, at {where(row)}") from error

    return [text(i, row.get(name, ABSENT)) for i, row in enumerate(rows)]


def _plain(cell: Any) -> str:
    if cell is ABSENT:
        raise ValueError("is missing in an object that others have it in")
    if isinstance(cell, bool) or cell is None:
        return {True: "true", False: "false", None: ""}[cell]
    if isinstance(cell, str):
        return _encodable(cell)
    raise ValueError(f"must hold one value, but has {_shown(cell)}")


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"must hold text, but has half a character in {text!a}") from None
    return str(text)


def _one_score(cell: Any, pos_label: object) -> Any:
    """The positive class's of two scores, by place or by name; anything else as it is, if it is one value."""
    if isinstance(cell, dict):
        raise ValueError(
            f"has {_shown(cell)}, which does not tell the score of the other class; write the scores of both "
            "(top_k=None in a Hugging Face pipeline) or of the positive class alone"
        )
    if not isinstance(cell, list):
        return cell
    positive = "1" if pos_label is None else str(pos_label).strip().casefold()
    if len(cell) == 2 and all(isinstance(score, Number) for score in cell):
        if positive not in {"1", "true"}:
            raise ValueError(
                f"has {_shown(cell)} in the order of labels 0 and 1, but the positive class is "
                f"{pos_label!r}; write its score alone"
            )
        return cell[1]
    return _score_by_name(cell, positive)


def _score_by_name(cell: list[Any], positive: str) -> Any:
    known = _POSITIVE if positive in {"1", "true"} else {positive, f"label_{positive}"}
    named = [entry for entry in cell if isinstance(entry, dict) and {"label", "score"} <= entry.keys()]
    found = [entry["score"] for entry in named if str(entry["label"]).strip().casefold() in known]
    if not (len(cell) == len(named) == 2 and len(found) == 1):
        raise ValueError(
            f"has {_shown(cell)}, in which the score of the positive class cannot be told; write it alone, "
            "as [score of 0, score of 1], or as two {'label': ..., 'score': ...} of which one names it"
        )
    return found[0]


def _shown(cell: Any) -> str:
    return f"{cell!r:.60}"


PARQUET = frozenset({".parquet", ".pq"})


NO_PYARROW = "reading Parquet needs pyarrow: pip install 'skewanova[parquet]'"


#: Names of columns that a message shows.
MOST_SHOWN = 20


#: Records of a CSV file taken apart at once.
BLOCK = 1 << 13


#: Characters of a line at most; a field has no more than 131,072.
LONGEST_LINE = 1 << 24


#: Bytes of a file looked at at once.
CHUNK = 1 << 20


#: A quoted field without quotes, commas and ends of lines in it.
_QUOTED = re.compile(rb'(?:\A|[,\r\n])"[^",\r\n]*"(?=[,\r\n]|\Z)')


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
    """Load the columns that are needed."""
    if not isinstance(source, str | os.PathLike):
        return RawTable(_from_frame(source, required, optional), row_number, None)
    path = existing(source)
    choose = partial(wanted_columns, required=required, optional=optional, name=repr(path.name))
    with clear_errors(path):
        if path.is_dir() or path.suffix.lower() in PARQUET:
            parquet = open_parquet(path)
            return RawTable(parquet.read(choose(parquet.names)), parquet.where, path)
        if _is_json(path):
            rows, keys, lines = read_json_lines(
                path, _opened, None if optional is None else {*required, *optional}
            )
            where = _line_in(lines)
            texts = {
                name: as_texts(name, rows, where, label=name in text, pos_label=pos_label)
                for name in choose(keys)
            }
            return RawTable(_with_numbers(texts, path.name, text, where), where, path)
        if not is_text(path):
            raise InputError(f"{path.name!r} must end in .csv, .csv.gz, .jsonl, .ndjson or .parquet")
        where, names = _line_of(path), choose(_header(path))
        plain = _read_plain(path, names, text)
        columns = _read_csv(path, names) if plain is None else plain
        return RawTable(_with_numbers(columns, path.name, text, where), where, path)


def existing(source: str | os.PathLike[str]) -> Path:
    """Path of a file, or of a folder that holds a table in several files."""
    path = Path(source)
    with clear_errors(path):
        if not path.exists():
            raise InputError(f"there is no file {str(path)!r}")
        if not (path.is_file() or path.is_dir()):
            raise InputError(
                f"{path.name!r} is neither a file nor a folder (a pipe can be read only once): write the "
                "table to a file first"
            )
    return path


@contextmanager
def clear_errors(path: Path) -> Iterator[None]:
    """Tell in one line why the system cannot read a file, or not into memory."""
    try:
        yield
    except MemoryError as error:
        raise InputError(
            f"{path.name!r} cannot be read: it does not fit in memory; give it as Parquet, which is read in "
            "passes"
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise InputError(f"{path.name[:60]!r} cannot be read: {reason}") from error


def open_parquet(path: Path) -> ParquetSource:
    """A file or folder to be read in batches."""
    try:
        from skewanova.scores.parquet import ParquetSource  # needs an extra package
    except ImportError as error:
        raise InputError(NO_PYARROW) from error
    return ParquetSource.open(path)


def _read_plain(path: Path, names: list[str], labels: Sequence[str]) -> dict[str, Any] | None:
    """Text of the labels, numbers of other columns, by Arrow; None of a file that it might read otherwise."""
    if find_spec("pyarrow") is None or not TextTable(path, names).is_plain():
        return None
    import pyarrow as pa

    from skewanova.scores import plain_csv

    first = next(_csv_blocks(path, names, 1), None)
    if first is None:
        return None
    fractions = {name for name in names if not (name in labels or plain_csv.is_whole(first[name][0]))}
    with suppress(pa.ArrowInvalid):
        columns = plain_csv.plain_columns(path, names, fractions)
        found = {name: plain_csv.exact(columns[name]) for name in fractions}
        if not any(values is None for values in found.values()):
            texts = {name: plain_csv.texts_of(columns[name]) for name in names if name not in fractions}
            return {name: (found | texts)[name] for name in names}
    return None


def _read_csv(path: Path, names: Sequence[str]) -> dict[str, list[str]]:
    """Fields of the chosen columns as text: a model may be called NA or 007, and scores keep every digit.

    By the csv module, since pandas.read_csv lets broken tables pass: it fills up rows that are too short,
    takes stray quotes for text (and so can lose the row behind one), and does not tell a row's line. Into
    columns at once, where equal texts are one object: 300,000 rows take less than half of the memory of
    whole records. Plain files Arrow reads the same, several times faster.
    """
    columns: dict[str, list[str]] = {name: [] for name in names}
    known: dict[str, str] = {}
    for block in _csv_blocks(path, names, BLOCK):
        for name, texts in block.items():
            columns[name].extend(map(known.setdefault, texts, texts))
    return columns


def _header(path: Path) -> list[str]:
    """Names of the columns of a CSV file."""
    _, header = next(_records(path), (0, []))
    if not header:
        raise InputError(f"{path.name!r} is empty")
    return header


def _csv_blocks(path: Path, names: Sequence[str], n_rows: int) -> Iterator[dict[str, list[str]]]:
    """Fields of some columns as text, of so many rows at a time."""
    records = _records(path)
    _, header = next(records)
    kept = {name: header.index(name) for name in names}
    while block := [fields for _, fields in islice(records, n_rows)]:
        yield {name: [fields[place] for fields in block] for name, place in kept.items()}


@dataclass(frozen=True, eq=False)
class TextTable:
    """A file of CSV or JSON lines, of which a few rows at a time are in memory.

    Attributes
    ----------
    path : Path
        The file.
    names : list of str
        Its columns; of JSON lines the keys of the first object.
    """

    path: Path
    names: list[str]

    @classmethod
    def open(cls, path: Path) -> TextTable:
        """Look at the first line."""
        with clear_errors(path):
            if not _is_json(path):
                return cls(path, _header(path))
            for _, row in json_rows(path, _opened):
                return cls(path, list(row))
        raise InputError(f"{path.name!r} is empty")

    def where(self, row: int) -> str:
        """Line on which a row starts, looked up only when a message needs it."""
        if not _is_json(self.path):
            return _line_of(self.path)(row)
        return f"line {next(islice(json_rows(self.path, _opened), row, None))[0]}"

    def is_plain(self) -> bool:
        """Whether it is CSV, not packed, of UTF-8 where every comma parts two fields, quoted or not."""
        if self.path.suffix.lower() != ".csv":
            return False
        decoder = codecs.getincrementaldecoder("utf-8")()
        with clear_errors(self.path), self.path.open("rb") as file:
            try:
                return all(_is_plain(part) for part in _whole_lines(file, decoder.decode))
            except UnicodeDecodeError:
                return False

    def blocks(
        self, names: Sequence[str], *, labels: Collection[str], pos_label: object, n_rows: int
    ) -> Iterator[dict[str, list[str]]]:
        """Text of some columns, as a CSV file would hold it, of so many rows at a time."""
        with clear_errors(self.path):
            if not _is_json(self.path):
                yield from _csv_blocks(self.path, names, n_rows)
                return
            rows, start = (row for _, row in json_rows(self.path, _opened)), 0
            while block := list(islice(rows, n_rows)):
                where = partial(_behind, self.where, start)
                yield {
                    name: as_texts(name, block, where, label=name in labels, pos_label=pos_label)
                    for name in names
                }
                start += len(block)


def _whole_lines(file: IO[bytes], decode: Callable[..., str]) -> Iterator[bytes]:
    """Pieces of a file that end where a line does, each decoded to see whether it can be."""
    rest = b""
    for chunk in iter(partial(file.read, CHUNK), b""):
        decode(chunk)
        lines, end, begun = chunk.rpartition(b"\n")
        yield rest + lines + end if end else b'"'  # lines so long are left to the csv module
        rest = begun
    decode(b"", True)
    yield rest


def _is_plain(lines: bytes) -> bool:
    """Whether quotes stand around whole fields only, in which nothing is to be read otherwise."""
    return b'"' not in lines or b'"' not in _QUOTED.sub(b"", lines)


def _behind(where: Where, start: int, row: int) -> str:
    """Where a row of a block is that begins at `start`."""
    return where(start + row)


def is_text(path: Path) -> bool:
    """Whether a file's name ends as one of CSV or JSON lines does."""
    return _is_json(path) or path.name.lower().endswith(_CSV)


def _is_json(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES)


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
def _opened(path: Path) -> Iterator[Iterator[str]]:
    """Lines of the file, packed or not."""
    opener: Callable[..., Any] = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as text:
            yield _bounded_lines(text, path)
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name!r} is not UTF-8 text: {error}") from error


def _bounded_lines(text: TextIO, path: Path) -> Iterator[str]:
    """Lines of no more than `LONGEST_LINE`: a small archive may unpack to one line that fills the memory."""
    for number in count(1):
        line = text.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE:
            raise InputError(f"line {number} of {path.name!r} is longer than {LONGEST_LINE:,} characters")
        if not line:
            return
        yield line


def _line_of(path: Path) -> Where:
    """Line on which a row starts in the file, looked up only when a message needs it."""
    return lambda row: f"line {next(islice(_records(path), row + 1, None))[0]}"


def _line_in(lines: Sequence[int]) -> Where:
    return lambda row: f"line {lines[row]}"


def _with_numbers(texts: dict[str, Any], source: str, labels: Sequence[str], where: Where) -> pd.DataFrame:
    """Turn all columns but the labels from text into numbers, or point to the first that is none."""
    columns: dict[str, Any] = {}
    for name in list(texts):
        column = texts.pop(name)
        if name in labels:
            columns[name] = pd.Series(column, dtype=object) if isinstance(column, list) else column
        elif isinstance(column, np.ndarray):
            columns[name] = column
        else:
            columns[name] = number_column(list(column), name, source, where)
    return pd.DataFrame(columns)


def number_column(texts: Sequence[str], name: str, source: str, where: Where) -> NDArray[Any]:
    """Numbers of a column of text; the first that is none, or that a double rounds, is named."""
    values, bad = _numbers(texts)
    if bad is not None:
        refuse_number(texts[bad], name, source, where(bad))
    lossy = _first_rounded(texts, values)
    if lossy is not None:
        refuse_rounded(texts[lossy], name, source, where(lossy))
    return values


def refuse_number(text: str, name: str, source: str, place: str) -> NoReturn:
    """Raise for text among numbers."""
    shown = repr(text)
    shown = shown if len(shown) <= 40 else f"{shown[:36]}..."
    raise InputError(f"`{name}` must hold real numbers, but {source!r} has {shown} at {place}")


def refuse_rounded(text: str, name: str, source: str, place: str) -> NoReturn:
    """Raise for a whole number among doubles that is none."""
    raise InputError(
        f"`{name}` must keep its order in 64 bits, but {source!r} has {text:.40} at {place}, which would be "
        "rounded, and may tie with another; write the ranks"
    )


def _numbers(texts: Sequence[str]) -> tuple[NDArray[Any], int | None]:
    """Whole numbers in 64 bits, exact doubles or truth values; and the position of the first other text."""
    if all(text.strip().lower() in _TRUTH for text in texts):
        return np.array([_TRUTH[text.strip().lower()] for text in texts], dtype=bool), None
    if all(map(_WHOLE.fullmatch, texts)):
        return _whole_numbers(texts), None
    whole = "".join(texts)
    plain = whole.isascii() and "_" not in whole
    for read in (float, _real_number) if plain else (_real_number,):
        with suppress(ValueError):
            return np.fromiter(map(read, texts), np.float64, len(texts)), None
    return np.empty(0), next(row for row, text in enumerate(texts) if not _is_real(text))


def _whole_numbers(texts: Sequence[str]) -> NDArray[Any]:
    """As int64 or uint64, and those that fit neither as doubles."""
    values = list(map(int, texts))
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= min(values) and max(values) <= np.iinfo(dtype).max:
            return np.array(values, dtype=dtype)
    return np.array(list(map(float, texts)))


def _first_rounded(texts: Sequence[str], values: NDArray[Any]) -> int | None:
    """Position of the first whole number that a double does not hold."""
    if values.dtype.kind != "f":
        return None
    large: list[int] = np.flatnonzero(np.abs(values) >= FIRST_INEXACT).tolist()
    return next((i for i in large if _WHOLE.fullmatch(texts[i]) and not is_exact(int(texts[i]))), None)


def _is_real(text: str) -> bool:
    try:
        _real_number(text)
    except ValueError:
        return False
    return True


def _real_number(text: str) -> float:
    """The nearest double, nan where the text says missing; Python's 1_000 is no number in a table."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    try:
        return float(text)
    except ValueError:
        if text.strip().lower() in MISSING_TEXT:
            return np.nan
        raise


def _from_frame(source: object, required: Sequence[str], optional: Sequence[str] | None) -> pd.DataFrame:
    """The columns that are needed of any frame; of one whose rows are elsewhere, no others come here."""
    engine = engine_of(source)
    if engine is not None:
        kept = wanted_columns(engine.names, required, optional, name=engine.name)
        return engine.rows({name: name for name in kept}).reset_index(drop=True)
    frame = _as_pandas(source)
    return frame[wanted_columns(frame.columns.tolist(), required, optional, name="the table")]


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
            f"but has {', '.join(map(_shown, has[:MOST_SHOWN])) or 'none'}{others}; map other "
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
