"""JSON lines: one object a row, as prediction services and model hubs write them, by the rules of CSV.

By the json module, since pandas.read_json takes the last of two equal keys without a word, rounds whole
numbers beyond 64 bits, and tells neither the line nor the column of what is no JSON.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skewanova._checks import InputError, Where

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from contextlib import AbstractContextManager

SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")
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


def read_json_lines(
    path: Path,
    opened: Callable[[Path], AbstractContextManager[Iterator[str]]],
    needed: Collection[str] | None,
) -> tuple[list[dict[str, Any]], list[str], list[int]]:
    """Cells of each row as they were written, of the needed keys only; all keys; and the line of each row."""
    rows, lines = [], []
    keys: dict[str, None] = {}
    with opened(path) as text:
        for line, content in enumerate(text, 1):
            if content.strip():
                row = _parsed(content, f"line {line} of {path.name!r}")
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
