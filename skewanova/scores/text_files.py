"""Columns read from CSV files and JSON lines.

Arrow reads plain CSV. The csv and json modules read all other text, since their errors name the line, csv
rejects stray quotes, and json keeps numbers as written.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from functools import partial
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv

from skewanova.base.checks import FIRST_INEXACT, MISSING_TEXT, InputError, RowName, is_exact
from skewanova.scores.columns import ColumnMap, read_batches

JSON_SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


#: Records of a CSV file read at once by the csv module.
BLOCK_ROWS = 1 << 13


#: Bytes of a file read at once.
BLOCK_BYTES = 1 << 20


#: Most characters of a line; a field has at most 131,072.
MAX_LINE_LENGTH = 1 << 24


#: A quoted field without quotes, commas or line breaks.
_QUOTED = re.compile(rb'(?:\A|[,\r\n])"[^",\r\n]*"(?=[,\r\n]|\Z)')


_BOOLEANS = {"true": True, "false": False}


_WHOLE_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,4000}\s*", re.ASCII)


#: Names of the class 1 on model hubs.
_POSITIVE_LABELS = frozenset({"1", "true", "positive", "label_1"})


def is_text(path: Path) -> bool:
    """Return True if the path ends like a CSV file or JSON lines, also compressed."""
    return path.name.lower().endswith((".csv", ".csv.gz", *JSON_SUFFIXES))


def read_text(path: Path, columns: ColumnMap) -> tuple[pd.DataFrame, RowName]:
    """Return needed columns (labels as integers or categories, others as numbers), and what names a line."""
    rows: dict[int, dict[str, Any]] = {}
    # slow, and only for messages
    where: RowName = lambda row: f"line {next(islice(_iter_records(path), row + 1, None))[0]}"  # noqa: E731
    if path.name.lower().endswith(JSON_SUFFIXES):
        rows = dict(_iter_objects(path, columns))
        lines, header = [*rows], [*dict.fromkeys(chain.from_iterable(rows.values()))]
        where = lambda row: f"line {lines[row]}"  # noqa: E731
    else:
        _, header = next(_iter_records(path), (0, []))
    if not header:
        raise InputError(f"{path.name!r} is empty, or its first line names no column; write it anew")
    names = columns.select(header, repr(path.name))
    frame = None if rows else _read_plain_csv(path, names, columns)
    if frame is None:
        cells = [_format_column(name, [*rows.values()], where, columns) for name in names]
        blocks = [cells] if rows else _iter_blocks(path, names, BLOCK_ROWS)
        batches = ([pa.array(texts, pa.string()) for texts in block] for block in blocks)
        schema = pa.schema([(name, pa.string()) for name in names])
        frame = read_batches(batches, schema, labels=names, source="the file")
    for name in names:
        if name not in columns.text and frame[name].dtype != np.float64:
            frame[name] = _read_numbers(frame[name], path.name, where)
    return frame, where


# --- CSV ---------------------------------------------------------------------------------------------------


def _read_plain_csv(path: Path, names: Sequence[str], columns: ColumnMap) -> pd.DataFrame | None:
    """Return columns as floats, integers or categories, by Arrow; None if the csv module must read them."""
    first = next(_iter_blocks(path, names, 1), None)
    if not first or not _is_plain_csv(path):
        return None
    # a column is read as doubles if its first value is a fraction; no double may be so large that it could be
    # a rounded whole number
    fractions = [
        name
        for name, (text,) in zip(names, first, strict=True)
        if name not in columns.text and not _WHOLE_NUMBER.fullmatch(text)
    ]
    schema = pa.schema([(name, pa.float64() if name in fractions else pa.string()) for name in names])
    convert = arrow_csv.ConvertOptions(
        include_columns=names, column_types=schema, null_values=[], strings_can_be_null=False
    )
    options = arrow_csv.ReadOptions(use_threads=False, block_size=BLOCK_BYTES)
    labels = [name for name in names if name not in fractions]
    try:
        with _open_bytes(path) as file, arrow_csv.open_csv(file, options, convert_options=convert) as batches:
            columns_read = (batch.columns for batch in batches)
            frame = read_batches(columns_read, schema, labels=labels, source="the file")
    except pa.ArrowInvalid:
        return None  # the csv module will name the error
    return frame if (frame[fractions].abs() < FIRST_INEXACT).all(axis=None) else None


def _is_plain_csv(path: Path) -> bool:
    """Return True if a file is UTF-8, quotes only whole plain fields, and has no line longer than a block."""
    with suppress(UnicodeDecodeError), _open_bytes(path) as file:
        while block := file.read(BLOCK_BYTES) + file.readline(BLOCK_BYTES):
            block.decode()
            if b'"' in block and b'"' in _QUOTED.sub(b"", block):
                return False
            if not block.endswith(b"\n"):
                return not file.read(1)
        return True
    return False


def _iter_blocks(path: Path, names: Sequence[str], n_rows: int) -> Generator[list[list[str]]]:
    """Yield the text of these columns, one list of fields per column, for `n_rows` rows at a time."""
    with closing(_iter_records(path)) as records:
        _, header = next(records)
        index = [header.index(name) for name in names]
        while block := [fields for _, fields in islice(records, n_rows)]:
            yield [[fields[i] for fields in block] for i in index]


def _iter_records(path: Path) -> Generator[tuple[int, list[str]]]:
    """Yield line number and fields of every record, the header first, no blank lines; raise if ragged."""
    line, width = 1, 0
    try:
        with closing(_iter_lines(path)) as lines:
            reader = csv.reader(lines, strict=True)
            for fields in reader:
                if len(fields) > 1 or "".join(fields).strip():
                    width = width or len(fields)
                    if len(fields) != width:
                        raise InputError(
                            f"line {line} of {path.name!r} has {len(fields)} fields, but its header {width}; "
                            f"write {width} in each line, those with a comma in quotes"
                        )
                    yield line, fields
                line = reader.line_num + 1
    except csv.Error as error:
        reason = f"{error}; mend quotes, or shorten long text"
        raise InputError(f"{path.name!r} cannot be read from line {line} on: {reason}") from error


def _open_bytes(path: Path) -> IO[bytes]:
    """Return the file opened to read bytes, decompressed if its name ends in .gz."""
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else open(path, "rb")  # type: ignore[return-value]


def _iter_lines(path: Path) -> Generator[str]:
    """Yield the lines of a file (or .gz); raise if not UTF-8, or for one of `MAX_LINE_LENGTH` characters."""
    try:
        with TextIOWrapper(_open_bytes(path), encoding="utf-8-sig", newline="") as text:
            for number, line in enumerate(iter(partial(text.readline, MAX_LINE_LENGTH), ""), 1):
                if len(line) == MAX_LINE_LENGTH:  # lest it fill the memory
                    raise InputError(
                        f"line {number} of {path.name!r} is longer than {MAX_LINE_LENGTH:,} characters; "
                        "write one row (of JSON, one object) on each line, without long texts"
                    )
                yield line
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name!r} is not UTF-8 text: {error}; save CSV or JSON as UTF-8") from error


# --- numbers from text -------------------------------------------------------------------------------------


def _read_numbers(column: pd.Series[Any], source: str, where: RowName) -> NDArray[Any]:
    """Return text as booleans, integers or floats (nan if missing); raise for other text or lost digits."""
    if not isinstance(column.dtype, pd.CategoricalDtype):
        return column.to_numpy().astype(np.int64)
    codes, texts = column.cat.codes.to_numpy(), column.cat.categories.tolist()
    values, bad = _parse_numbers(texts)
    if bad is not None:
        text = ascii(texts[bad])
        raise InputError(
            f"`{column.name}` must hold real numbers, but {source!r} has "
            f"{text if len(text) <= 40 else f'{text[:36]}...'} at {where(int(np.argmax(codes == bad)))}"
        )
    large = np.flatnonzero(np.abs(values) >= FIRST_INEXACT).tolist() if values.dtype.kind == "f" else []
    rounded = [i for i in large if _WHOLE_NUMBER.fullmatch(texts[i]) and not is_exact(int(texts[i]))]
    if rounded:
        raise InputError(
            f"`{column.name}` must keep its order in 64 bits, but {source!r} has {texts[rounded[0]]:.40} at "
            f"{where(int(np.argmax(codes == rounded[0])))}, which would be rounded, and may tie with "
            "another; write it as a decimal, such as 1e21, or, of scores that then tie, write the ranks"
        )
    return np.asarray(values[codes])


def _parse_numbers(texts: Sequence[str]) -> tuple[NDArray[Any], int | None]:
    """Return texts as booleans or numbers (nan if missing), and the position of the first bad one or None."""
    if all(text.strip().lower() in _BOOLEANS for text in texts):
        return np.array([_BOOLEANS[text.strip().lower()] for text in texts], dtype=bool), None
    if all(map(_WHOLE_NUMBER.fullmatch, texts)):
        whole_numbers = np.array(list(map(int, texts)))  # of objects or floats beyond 64 bits
        if whole_numbers.dtype.kind in "iu":
            return whole_numbers, None
    values = np.empty(len(texts))
    for i, text in enumerate(texts):
        try:
            values[i] = np.nan if text.strip().lower() in MISSING_TEXT else float(text)
        except ValueError:
            return values, i
        if "_" in text or not text.isascii():  # float reads 1_000
            return values, i
    return values, None


# --- JSON lines --------------------------------------------------------------------------------------------


class JsonNumber(str):
    """A number or constant of JSON as written, so that no digit is lost before its column is known."""

    __slots__ = ()

    __repr__ = str.__str__


def _iter_objects(path: Path, columns: ColumnMap) -> Generator[tuple[int, dict[str, Any]]]:
    """Yield line number and object of each line not blank; numbers as JsonNumber, None for unneeded cells."""
    needed = None if columns.optional is None else {*columns.required, *columns.optional}
    with closing(_iter_lines(path)) as lines:
        for line, content in enumerate(lines, 1):
            if content.strip():
                row = _parse_json(content, f"line {line} of {path.name!r}")
                yield line, {k: v if needed is None or k in needed else None for k, v in row.items()}


def _parse_json(content: str, line: str) -> dict[str, Any]:
    """Return the JSON object of a line, with numbers as JsonNumber; raise, naming `line`, for other text."""

    def build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Return pairs of key and value as a dict; raise if a key repeats."""
        names = [key for key, _ in pairs]
        repeated = next((key for key in names if names.count(key) > 1), None)
        if repeated is not None:
            raise InputError(f"{line} has the key {repeated!r} more than once; keep one")
        return dict(pairs)

    try:
        numbers: dict[str, Any] = dict.fromkeys(("parse_float", "parse_int", "parse_constant"), JsonNumber)
        row = json.loads(content.rstrip(), object_pairs_hook=build_object, **numbers)
    except (json.JSONDecodeError, RecursionError) as error:
        reason = f"{error.msg} at column {error.colno}" if isinstance(error, json.JSONDecodeError) else error
        raise InputError(f"{line} is not JSON: {reason}; write one JSON object on each line") from error
    if not isinstance(row, dict):
        raise InputError(
            f'{line} must be a JSON object such as {{"model": "A", ...}}, but is {content.strip():.40}; '
            "write one object on each line"
        )
    return row


def _format_column(
    name: str, rows: Sequence[dict[str, Any]], where: RowName, columns: ColumnMap
) -> list[str]:
    """Return a column of JSON as text, of two classes' scores the positive one's; raise for other cells."""
    texts, single = [], (*columns.text, columns.names.get("weight", "weight")) if columns.required else [name]
    for i, row in enumerate(rows):
        try:
            if name not in row:
                raise ValueError(
                    "is missing, but other objects have it; write it in each or, if it is optional, in none"
                )
            cell = row[name]
            texts.append(_format_cell(cell if name in single else _positive_score(cell, columns)))
        except ValueError as error:
            raise InputError(f"`{name}` at {where(i)} {error}") from error
    return texts


def _format_cell(cell: Any) -> str:
    """Return a cell of JSON as text: true, false, '' for None, text as it is; raise ValueError for others."""
    if isinstance(cell, bool) or cell is None:
        return {True: "true", False: "false", None: ""}[cell]
    if not isinstance(cell, str):
        raise ValueError(f"must hold one value, but has {cell!r:.60}")
    try:
        cell.encode()
    except UnicodeEncodeError:
        raise ValueError(f"has an incomplete character in {cell!a}; write it in full") from None
    return str(cell)


def _positive_score(cell: Any, columns: ColumnMap) -> Any:
    """Return a cell as it is, of two classes' scores the positive one's; raise ValueError if unclear."""
    if isinstance(cell, dict) and "label" in cell:
        raise ValueError(
            f"has {cell!r:.60}, the score of one class only; write the scores of both classes (top_k=None in "
            "a Hugging Face pipeline), or the score of the positive class alone"
        )
    if not isinstance(cell, list):
        return cell
    positive = "1" if columns.pos_label is None else str(columns.pos_label).strip().casefold()
    if len(cell) == 2 and all(isinstance(score, JsonNumber) for score in cell):
        if positive not in {"1", "1.0", "true"}:
            raise ValueError(
                f"has {cell!r:.60} in the order of labels 0 and 1, but the positive class is "
                f"{columns.pos_label!r}; write its score alone"
            )
        return cell[1]
    other = "; name another of `y_true` by pos_label=LABEL of skewanova.read_scores, or --positive LABEL"
    return _positive_score_by_label(cell, positive, other * ("batch" not in columns.names))


def _positive_score_by_label(cell: list[Any], positive: str, other: str) -> Any:
    """Return the score labelled `positive` (or LABEL_1, any case) of two dicts; else raise, with `other`."""
    names = _POSITIVE_LABELS if positive in {"1", "true"} else {positive, f"label_{positive}"}
    named = [entry for entry in cell if isinstance(entry, dict) and {"label", "score"} <= entry.keys()]
    result = [entry["score"] for entry in named if str(entry["label"]).strip().casefold() in names]
    if not (len(cell) == len(named) == 2 and len(result) == 1):
        raise ValueError(
            f"has {cell!r:.120}, in which the score of the positive class is not clear; write it alone, as "
            "[score of 0, score of 1], or as two {'label': ..., 'score': ...}, one with the positive label "
            f"{positive!r}{other}"
        )
    return result[0]
