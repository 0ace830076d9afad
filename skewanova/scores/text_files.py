"""CSV and JSON lines to columns.

Plain CSV is read by Arrow. All other text is read by the csv and json modules: they tell the line of what is
wrong, the csv module refuses stray quotes, and the json module keeps numbers as they are written.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import IO, Any, TextIO

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from skewanova.base.checks import FIRST_INEXACT, MISSING_TEXT, InputError, Where, is_exact
from skewanova.scores.columns import Buffer, ColumnMap, KeyColumn

#: Endings of files of text.
CSV_SUFFIXES = (".csv", ".csv.gz")


JSON_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


#: Records of a CSV file read at once by the csv module.
BLOCK_ROWS = 1 << 13


#: Bytes of a file read at once.
BLOCK_BYTES = 1 << 20


#: Characters of a line at most; a field has no more than 131,072.
LONGEST_LINE = 1 << 24


#: A quoted field without quotes, commas and ends of lines in it.
_QUOTED = re.compile(rb'(?:\A|[,\r\n])"[^",\r\n]*"(?=[,\r\n]|\Z)')


_TRUTH = {"true": True, "false": False}


_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,4000}\s*", re.ASCII)


#: What model hubs call the class of label 1.
_POSITIVE = frozenset({"1", "true", "positive", "label_1"})


def is_text(path: Path) -> bool:
    """Whether a file's name ends as one of CSV or JSON lines does."""
    return path.name.lower().endswith(CSV_SUFFIXES + JSON_SUFFIXES)


def read_text(path: Path, columns: ColumnMap) -> tuple[pd.DataFrame, Where]:
    """Read the needed columns of a file of text, and return how to tell the line of a row."""
    name = repr(path.name)
    if path.name.lower().endswith(JSON_SUFFIXES):
        rows, keys, lines = _read_json_lines(path, columns)
        where: Where = lambda row: f"line {lines[row]}"  # noqa: E731
        values: dict[str, Any] = {
            key: _encode_texts(_column_texts(key, rows, where, columns)) for key in columns.select(keys, name)
        }
    else:
        where = partial(_find_line, path)
        names = columns.select(_read_header(path), name)
        values = _read_plain_csv(path, names, columns.text) or _read_csv(path, names)
    for key, column in values.items():
        if key not in columns.text and isinstance(column, pd.Categorical):
            values[key] = _read_numbers(column, key, path.name, where)
    return pd.DataFrame(values, copy=False), where


def _encode_texts(texts: Sequence[str]) -> pd.Categorical[Any]:
    column = KeyColumn(len(texts))
    column.add_texts(texts)
    return column.finish()


# --- CSV ---------------------------------------------------------------------------------------------------


def _read_plain_csv(path: Path, names: Sequence[str], text: Collection[str]) -> dict[str, Any] | None:
    """Read plain CSV by Arrow: codes of text, and doubles; None of what it may read otherwise.

    A column is read as doubles if its first value is a fraction. No double may be so large that it can stand
    for a whole number that was rounded.
    """
    if not _is_plain_csv(path):
        return None
    first = next(_read_blocks(path, names, 1), None)
    if first is None:
        return None
    fractions = {name for name in names if name not in text and not _WHOLE.fullmatch(first[name][0])}
    columns = {name: Buffer() if name in fractions else KeyColumn() for name in names}
    code = pa.dictionary(pa.int32(), pa.string())
    kinds = {name: pa.string() if _WHOLE.fullmatch(first[name][0]) else code for name in names}
    kinds |= dict.fromkeys(fractions, pa.float64())
    convert = arrow_csv.ConvertOptions(
        include_columns=list(names), column_types=kinds, null_values=[], strings_can_be_null=False
    )
    options = arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES)
    try:
        with (
            _open_bytes(path) as file,
            arrow_csv.open_csv(file, convert_options=convert, read_options=options) as batches,
        ):
            for batch in batches:
                for (name, column), values in zip(columns.items(), batch.columns, strict=True):
                    if name in fractions:
                        values = values.to_numpy()
                        if not bool((np.abs(values) < FIRST_INEXACT).all()):
                            return None
                    column.add(values)
    except pa.ArrowInvalid:
        return None  # the csv module tells what is wrong
    return {name: column.finish() for name, column in columns.items()}


def _is_plain_csv(path: Path) -> bool:
    """Whether a file is UTF-8, and quotes stand around whole fields only, in which nothing is special."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _open_bytes(path) as file:
        try:
            return all(_has_plain_quotes(lines) for lines in _read_whole_lines(file, decoder.decode))
        except UnicodeDecodeError:
            return False


def _read_whole_lines(file: IO[bytes], decode: Callable[..., str]) -> Iterator[bytes]:
    """Yield pieces of a file that end where a line does; each is decoded to see whether it can be."""
    rest = b""
    for block in iter(partial(file.read, BLOCK_BYTES), b""):
        decode(block)
        lines, end, begun = block.rpartition(b"\n")
        yield rest + lines + end if end else b'"'  # lines so long are left to the csv module
        rest = begun
    decode(b"", True)
    yield rest


def _has_plain_quotes(lines: bytes) -> bool:
    return b'"' not in lines or b'"' not in _QUOTED.sub(b"", lines)


def _read_csv(path: Path, names: Sequence[str]) -> dict[str, Any]:
    """Read the fields of the columns as text by the csv module, strictly."""
    columns = {name: KeyColumn() for name in names}
    for block in _read_blocks(path, names, BLOCK_ROWS):
        for name, texts in block.items():
            columns[name].add_texts(texts)
    return {name: column.finish() for name, column in columns.items()}


def _read_header(path: Path) -> list[str]:
    """Return the names of the columns of a CSV file."""
    _, header = next(_read_records(path), (0, []))
    if not header:
        raise InputError(f"{path.name!r} is empty")
    return header


def _read_blocks(path: Path, names: Sequence[str], n_rows: int) -> Iterator[dict[str, list[str]]]:
    """Yield the fields of some columns, so many rows at a time."""
    records = _read_records(path)
    _, header = next(records)
    index = {name: header.index(name) for name in names}
    while block := [fields for _, fields in islice(records, n_rows)]:
        yield {name: [fields[i] for fields in block] for name, i in index.items()}


def _read_records(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the fields of every record, the header first; blank lines are passed over."""
    line, width = 1, 0
    try:
        with _open_lines(path) as lines:
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


def _find_line(path: Path, row: int) -> str:
    """Return the line on which a row starts, looked up only when a message needs it."""
    return f"line {next(islice(_read_records(path), row + 1, None))[0]}"


def _open_bytes(path: Path) -> IO[bytes]:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else open(path, "rb")  # type: ignore[return-value]


@contextmanager
def _open_lines(path: Path) -> Iterator[Iterator[str]]:
    """Open the lines of a file, compressed or not."""
    opener: Callable[..., Any] = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rt", encoding="utf-8-sig", newline="") as text:
            yield _read_bounded_lines(text, path)
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name!r} is not UTF-8 text: {error}") from error


def _read_bounded_lines(text: TextIO, path: Path) -> Iterator[str]:
    """Yield lines of no more than `LONGEST_LINE`: a small archive may unpack to one that fills the memory."""
    for number in count(1):
        line = text.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE:
            raise InputError(f"line {number} of {path.name!r} is longer than {LONGEST_LINE:,} characters")
        if not line:
            return
        yield line


@contextmanager
def reading_file(path: Path) -> Iterator[None]:
    """Tell in one line why the system cannot read a file, or not into memory."""
    try:
        yield
    except MemoryError as error:
        raise InputError(
            f"{path.name!r} cannot be read: it does not fit in memory; give it to Dask, which reads "
            "it in parts"
        ) from error
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or " ".join(str(error).split())
        raise InputError(f"{path.name[:60]!r} cannot be read: {reason}") from error


# --- numbers from text -------------------------------------------------------------------------------------


def _read_numbers(column: pd.Categorical[Any], name: str, source: str, where: Where) -> NDArray[Any]:
    """Read numbers of text by its distinct values; the first that is none, or is rounded, is named."""
    codes, texts = column.codes, column.categories.tolist()
    values, bad = _parse_numbers(texts)
    if bad is not None:
        text = repr(texts[bad])
        raise InputError(
            f"`{name}` must hold real numbers, but {source!r} has "
            f"{text if len(text) <= 40 else f'{text[:36]}...'} at {where(int(np.argmax(codes == bad)))}"
        )
    lossy = _find_rounded(texts, values)
    if lossy is not None:
        raise InputError(
            f"`{name}` must keep its order in 64 bits, but {source!r} has {texts[lossy]:.40} at "
            f"{where(int(np.argmax(codes == lossy)))}, which would be rounded, and may tie with another; "
            "write the ranks"
        )
    return np.asarray(values[codes])


def _parse_numbers(texts: Sequence[str]) -> tuple[NDArray[Any], int | None]:
    """Return whole numbers in 64 bits, exact doubles or truth values; and the first other text."""
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
    """Return int64 or uint64, or doubles of those that fit neither."""
    values = list(map(int, texts))
    for dtype in (np.int64, np.uint64):
        if np.iinfo(dtype).min <= min(values) and max(values) <= np.iinfo(dtype).max:
            return np.array(values, dtype=dtype)
    return np.array(list(map(float, texts)))


def _find_rounded(texts: Sequence[str], values: NDArray[Any]) -> int | None:
    """Return the position of the first whole number that a double does not hold."""
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
    """Return the nearest double, nan of text that says missing; Python's 1_000 is no number in a table."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    try:
        return float(text)
    except ValueError:
        if text.strip().lower() in MISSING_TEXT:
            return np.nan
        raise


# --- JSON lines --------------------------------------------------------------------------------------------


class Number(str):
    """A number or constant of JSON as it was written, so that no digit is lost before its column is known."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


class _Absent:
    """What stands where an object lacks a key that another has."""


ABSENT = _Absent()


def _read_json_lines(path: Path, columns: ColumnMap) -> tuple[list[dict[str, Any]], list[str], list[int]]:
    """Return the needed cells of each row as they were written, all keys, and the line of each row."""
    needed = None if columns.optional is None else {*columns.required, *columns.optional}
    rows, lines = [], []
    keys: dict[str, None] = {}
    with _open_lines(path) as text:
        for line, content in enumerate(text, 1):
            if content.strip():
                row = _parse_json(content, f"line {line} of {path.name!r}")
                keys |= dict.fromkeys(row)
                rows.append({k: v for k, v in row.items() if needed is None or k in needed})
                lines.append(line)
    if not rows:
        raise InputError(f"{path.name!r} is empty")
    return rows, list(keys), lines


def _parse_json(content: str, place: str) -> dict[str, Any]:
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
        reason = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        raise InputError(f"{place} is not JSON: {reason}") from error
    if not isinstance(row, dict):
        raise InputError(
            f'{place} must be a JSON object such as {{"model": "A", ...}}, but is {content.strip():.40}'
        )
    return row


def _column_texts(name: str, rows: Sequence[dict[str, Any]], where: Where, columns: ColumnMap) -> list[str]:
    """Return cells as a CSV file would hold them; of several scores, that of the positive class."""

    def text(row: int, cell: Any) -> str:
        try:
            return _cell_text(cell if name in columns.text else _score_of_positive(cell, columns.pos_label))
        except ValueError as error:
            raise InputError(f"`{name}` {error}, at {where(row)}") from error

    return [text(i, row.get(name, ABSENT)) for i, row in enumerate(rows)]


def _cell_text(cell: Any) -> str:
    if cell is ABSENT:
        raise ValueError("is missing in an object that others have it in")
    if isinstance(cell, bool) or cell is None:
        return {True: "true", False: "false", None: ""}[cell]
    if isinstance(cell, str):
        return _encodable(cell)
    raise ValueError(f"must hold one value, but has {cell!r:.60}")


def _encodable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"must hold text, but has half a character in {text!a}") from None
    return str(text)


def _score_of_positive(cell: Any, pos_label: object) -> Any:
    """Return the positive class's of two scores, by place or by name; another single value as it is."""
    if isinstance(cell, dict):
        raise ValueError(
            f"has {cell!r:.60}, which does not tell the score of the other class; write the scores of both "
            "(top_k=None in a Hugging Face pipeline) or of the positive class alone"
        )
    if not isinstance(cell, list):
        return cell
    positive = "1" if pos_label is None else str(pos_label).strip().casefold()
    if len(cell) == 2 and all(isinstance(score, Number) for score in cell):
        if positive not in {"1", "true"}:
            raise ValueError(
                f"has {cell!r:.60} in the order of labels 0 and 1, but the positive class is "
                f"{pos_label!r}; write its score alone"
            )
        return cell[1]
    return _score_by_name(cell, positive)


def _score_by_name(cell: list[Any], positive: str) -> Any:
    known = _POSITIVE if positive in {"1", "true"} else {positive, f"label_{positive}"}
    named = [entry for entry in cell if isinstance(entry, dict) and {"label", "score"} <= entry.keys()]
    result = [entry["score"] for entry in named if str(entry["label"]).strip().casefold() in known]
    if not (len(cell) == len(named) == 2 and len(result) == 1):
        raise ValueError(
            f"has {cell!r:.60}, in which the score of the positive class cannot be told; write it alone, "
            "as [score of 0, score of 1], or as two {'label': ..., 'score': ...} of which one names it"
        )
    return result[0]
