"""Groups checked and packed where their rows are: whole or, where they are larger than a worker, in pieces.

Of a large group the rows are counted by score level, part of the table by part; it is cut at some of its
scores, and each piece of levels comes together by itself. Pieces are packed as a whole group is, and joined:
a curve is the same to the last bit, whatever the cuts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import (
    Bools,
    InputError,
    InputTypeError,
    SkewanovaWarning,
    check_labels,
    row_number,
)
from skewanova.curves.groups import PackedCurve
from skewanova.scores.table import build_table, levels_of, place_of_group, score_values, with_fold

KEYS = ("model", "fold")


#: Rows of a group that a worker is expected to hold (80 bytes each).
MOST_ROWS_OF_GROUP = 20_000_000


#: Scores of a group that each part of a table shows, by which it is cut.
SCORES_SHOWN = 256


Group = tuple[str, str]


Of = TypeVar("Of", "Sketch", "Piece")


def keys_of(columns: Container[str]) -> list[str]:
    """Columns that tell groups apart: without one of folds, models."""
    return [key for key in KEYS if key in columns]


@dataclass(frozen=True)
class Packed:
    """One group as it comes back: its curve, and what the checks of all groups together need.

    Attributes
    ----------
    model, fold : str
        As text.
    curve : PackedCurve
        Its curve.
    labels : (str, str)
        A negative and a positive label, as they were written.
    whole : bool
        Whether all its cases are whole numbers.
    levels : ndarray or None
        Different scores of its positives, in ascending order, of a test set that came in pieces.
    """

    model: str
    fold: str
    curve: PackedCurve
    labels: tuple[str, str]
    whole: bool
    levels: NDArray[Any] | None = None


@dataclass(frozen=True)
class Refused:
    """What is wrong with the rows of a group: errors of a worker do not come back whole from every engine."""

    message: str
    of_type: bool


def pack_group(frame: pd.DataFrame, *, pos_label: object) -> Packed | Refused:
    """Check and pack all rows of one model and fold."""
    found: Packed | Refused = refusing(lambda: _packed(frame.reset_index(drop=True), pos_label))
    return found


def refusing(find: Callable[[], Any]) -> Any:
    """What is found, or what is wrong with it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkewanovaWarning)
            return find()
    except (InputError, InputTypeError) as error:
        return Refused(str(error), isinstance(error, InputTypeError))


def _packed(frame: pd.DataFrame, pos_label: object) -> Packed:
    frame = with_fold(frame)
    table = build_table(frame, place_of_group(frame), pos_label, None)
    (model, fold, positive, score), *_ = table.groups()
    written = frame["y_true"].to_numpy()
    labels = str(written[np.argmin(positive)]), str(written[np.argmax(positive)])
    whole = table.has_cases and pd.api.types.is_integer_dtype(table.frame["case"].cat.categories.dtype)
    return Packed(str(model), str(fold), PackedCurve.of(positive, score), labels, whole)


def accepted(found: Sequence[Any]) -> list[Any]:
    """What was found, if nothing was refused."""
    refused = sorted((one for one in found if isinstance(one, Refused)), key=lambda one: one.message)
    for one in refused:
        raise (InputTypeError if one.of_type else InputError)(one.message)
    return list(found)


def read_labels(values: pd.Series[Any], labels: Sequence[str], pos_label: object) -> Bools:
    """Labels as those of all groups together are read: these rows may have one class only."""
    codes, found = pd.factorize(values)
    texts = [*map(str, found), *labels]
    return np.asarray(check_labels(texts, pos_label=pos_label)[codes])


@dataclass(frozen=True)
class Sketch:
    """What a part of the table shows of one group.

    Attributes
    ----------
    group : (model, fold)
        As text.
    n_rows : int
        Number of its rows.
    score : ndarray
        Some of the scores, each for as many.
    labels : tuple of str
        Different labels, as they were written.
    whole : bool
        Whether all its cases are whole numbers.
    """

    group: Group
    n_rows: int
    score: NDArray[Any]
    labels: tuple[str, ...]
    whole: bool


def group_sizes(frame: pd.DataFrame) -> dict[str, int]:
    """Rows of every group in a part of the table, by its keys as they are written."""
    sizes = frame.groupby(keys_of(frame), observed=True, dropna=False).size()
    return {str(key): int(size) for key, size in sizes.items()}


def sketches(frame: pd.DataFrame) -> list[Sketch] | Refused:
    """Look at the groups of a part of the table; every rule about a single row is applied here."""
    found: list[Sketch] | Refused = refusing(lambda: [_sketch(rows) for rows in _groups(frame)])
    return found


def _groups(frame: pd.DataFrame) -> list[pd.DataFrame]:
    groups = frame.groupby(keys_of(frame), sort=False, observed=True, dropna=False)
    return [rows.reset_index(drop=True) for _, rows in groups]


def _sketch(rows: pd.DataFrame) -> Sketch:
    rows = with_fold(rows)
    model, fold = group_of(rows)
    place = f"a row of model {model!r} in fold {fold!r}"
    score = np.sort(score_values(rows["y_score"], "y_score", lambda _: place))
    shown = np.linspace(0, len(score) - 1, min(len(score), SCORES_SHOWN)).astype(np.intp)
    labels = tuple(dict.fromkeys(map(str, pd.factorize(rows["y_true"], use_na_sentinel=False)[1])))
    whole = False
    if "case" in rows:
        case = levels_of(rows["case"], "case", lambda _: place, whole=True)
        whole = bool(pd.api.types.is_integer_dtype(case.categories.dtype))
    return Sketch((model, fold), len(rows), score[shown], labels[:5], whole)


def group_of(rows: pd.DataFrame) -> Group:
    """Model and fold of the rows of a group, as text."""
    model, fold = (
        levels_of(rows[key][:1], key, row_number, whole=key == "fold").categories.item() for key in KEYS
    )
    return str(model), str(fold)


def by_group(found: Sequence[Of]) -> dict[Group, list[Of]]:
    """What was found of every group, in the order of their names."""
    groups: dict[Group, list[Of]] = {}
    for one in found:
        groups.setdefault(one.group, []).append(one)
    return dict(sorted(groups.items()))


def cuts_of(shown: Sequence[Sketch], most: int) -> dict[Group, NDArray[Any]]:
    """Scores at which groups of more rows are cut, so that no piece has many more than half of that."""
    found: dict[Group, NDArray[Any]] = {}
    for group, parts in by_group(shown).items():
        total = sum(one.n_rows for one in parts)
        if total > most:
            score = np.concatenate([one.score for one in parts])
            stands_for = np.concatenate(
                [np.full(len(one.score), one.n_rows / len(one.score)) for one in parts]
            )
            order = np.argsort(score, kind="stable")
            upto = np.cumsum(stands_for[order])
            n_pieces = -(-2 * total // most)
            at = np.searchsorted(upto, upto[-1] * np.arange(1, n_pieces) / n_pieces)
            found[group] = np.unique(score[order][at])
    return found


def counted(frame: pd.DataFrame, *, cuts: Mapping[Group, NDArray[Any]]) -> pd.DataFrame:
    """Rows of a part of the table counted by group, label and score, with the piece of each."""
    keys = [*keys_of(frame), "y_true", "y_score"]
    if not len(frame):
        none = np.empty(0, dtype=np.int64)
        return frame[keys].assign(piece=none, n=none)
    sizes = frame.groupby(keys, sort=False, observed=True, dropna=False).size()
    parts = _groups(sizes.rename("n").reset_index())
    empty: NDArray[Any] = np.empty(0)
    for part in parts:
        own = cuts.get(group_of(with_fold(part)), empty)
        piece = np.searchsorted(own, score_values(part["y_score"], "y_score", row_number))
        part.insert(len(keys), "piece", piece.astype(np.int64))
    return pd.concat(parts, ignore_index=True)[[*keys, "piece", "n"]]


@dataclass(frozen=True)
class Piece:
    """Cases of a group between two scores, packed; different scores of the positives, if asked for."""

    group: Group
    number: int
    curve: PackedCurve
    levels: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class PieceOf:
    """Packs the counted levels of one piece, by labels of the whole table."""

    labels: tuple[str, str]
    pos_label: object
    with_levels: bool

    def __call__(self, frame: pd.DataFrame) -> Piece:
        """Merge the counts of all parts of the table."""
        score = score_values(frame["y_score"], "y_score", row_number)
        positive = read_labels(frame["y_true"], self.labels, self.pos_label)
        levels, at = np.unique(score, return_inverse=True)
        counts = np.zeros((len(levels), 2), dtype=np.int64)
        np.add.at(counts, (at, positive.astype(np.intp)), frame["n"].to_numpy())
        kept = levels[counts[:, 1] > 0] if self.with_levels else None
        number = int(frame["piece"].iloc[0])
        return Piece(group_of(with_fold(frame)), number, PackedCurve.of_counts(counts[::-1]), kept)


def joined(pieces: Sequence[Piece]) -> dict[Group, tuple[PackedCurve, NDArray[Any] | None]]:
    """Curve of every group, and the scores of its positives, if they were asked for."""
    found = {}
    for group, some in by_group(pieces).items():
        parts = sorted(some, key=lambda one: one.number)
        levels = [one.levels for one in parts if one.levels is not None]
        curve = PackedCurve.joined([one.curve for one in reversed(parts)])
        found[group] = curve, np.concatenate(levels) if levels else None
    return found
