"""Groups checked and packed where their rows are: whole or, where they are larger than a worker, in pieces.

Of a large group the rows are counted by score level, part of the table by part; it is cut at some of its
scores, and each piece of levels comes together by itself. Pieces are packed as a whole group is, and joined:
a curve is the same to the last bit, whatever the cuts.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import (
    Bools,
    Floats,
    InputError,
    InputTypeError,
    SkewanovaWarning,
    Where,
    check_labels,
    row_number,
)
from skewanova.curves.groups import CompactCurve, PackedCurve, WeightedCurve
from skewanova.curves.sorting import FEW_WEIGHTS
from skewanova.priors.evidence import UnitSums
from skewanova.scores.table import build_table
from skewanova.scores.validation import (
    Label,
    check_weight_column,
    locate_row_of_group,
    to_categorical,
    validate_scores,
    with_fold,
)

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


class Weights(NamedTuple):
    """What is known of the weights of some cases, those of 0 left out.

    Their smallest, their largest, and for negatives and positives: what all weigh, sums over cases, and the
    different ones, or some if they are many.
    """

    low: float
    high: float
    total: Floats
    held: UnitSums
    distinct: tuple[Floats, Floats]

    @classmethod
    def of(cls, weight: Floats, positive: Bools) -> Weights:
        """Look at the cases."""
        negatives, positives = (np.sort(weight[rows]) for rows in (~positive, positive))
        kind = np.repeat([0, 1], [len(negatives), len(positives)])
        both = np.concatenate([negatives, positives])
        held = UnitSums.of(kind, np.arange(len(kind)), both, 2)
        total = np.array([negatives.sum(), positives.sum()])
        distinct = tuple(np.unique(side)[: FEW_WEIGHTS + 1] for side in (negatives, positives))
        return cls(float(both.min()), float(both.max()), total, held, (distinct[0], distinct[1]))

    @classmethod
    def joined(cls, parts: Sequence[Weights]) -> Weights:
        """All that is known of cases in parts."""
        sides = zip(*(item.distinct for item in parts), strict=True)
        distinct = [np.unique(np.concatenate(side))[: FEW_WEIGHTS + 1] for side in sides]
        return cls(
            min(item.low for item in parts),
            max(item.high for item in parts),
            np.sum([item.total for item in parts], axis=0),
            UnitSums.joined([item.held for item in parts]),
            (distinct[0], distinct[1]),
        )


@dataclass(frozen=True)
class Packed:
    """One group as it comes back: its curve, and what the checks of all groups together need.

    Attributes
    ----------
    model, fold : str
        As text.
    curve : PackedCurve, WeightedCurve or None
        Its curve; None of cases that all weigh 0.
    labels : (str, str)
        A negative and a positive label, as they were written.
    whole : bool
        Whether all its cases are whole numbers.
    levels : ndarray or None
        Different scores of its positives, in ascending order, of a test set that came in pieces.
    weights : Weights or None
        What is known of its weights.
    """

    model: str
    fold: str
    curve: CompactCurve | None
    labels: tuple[str, str]
    whole: bool
    levels: NDArray[Any] | None = None
    weights: Weights | None = None


@dataclass(frozen=True)
class Refused:
    """What is wrong with the rows of a group: errors of a worker do not come back whole from every engine."""

    message: str
    of_type: bool


def pack_group(frame: pd.DataFrame, *, pos_label: object) -> Packed | Refused:
    """Check and pack all rows of one model and fold."""
    result: Packed | Refused = refusing(lambda: _packed(frame.reset_index(drop=True), pos_label))
    return result


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
    where = locate_row_of_group(frame)
    rows = _without_clusters(frame, where)
    if "weight" in rows and not check_weight_column(rows["weight"], where).any():
        result = [str(label) for label in pd.unique(rows["y_true"])]
        return Packed(*group_of(rows), None, (result[0], result[-1]), _all_whole(rows, where))
    table = build_table(rows, where, pos_label, None)
    (model, fold, positive, score), *_ = table.groups()
    written = rows["y_true"].to_numpy()
    curve: CompactCurve
    if table.has_weights:
        written = written[check_weight_column(rows["weight"], where) > 0]
        weight = table.frame["weight"].to_numpy()
        weights, curve = Weights.of(weight, positive), WeightedCurve.of(positive, score, weight)
    else:
        weights, curve = None, PackedCurve.of(positive, score)
    labels = str(written[np.argmin(positive)]), str(written[np.argmax(positive)])
    whole = table.has_cases and pd.api.types.is_integer_dtype(table.frame["case"].cat.categories.dtype)
    return Packed(str(model), str(fold), curve, labels, whole, weights=weights)


def _without_clusters(rows: pd.DataFrame, where: Where) -> pd.DataFrame:
    """The rows, each of which names a cluster if any does; all else about these takes more than a group."""
    if "cluster" not in rows:
        return rows
    to_categorical(rows["cluster"], "cluster", where)
    return rows.drop(columns="cluster")


def _all_whole(rows: pd.DataFrame, where: Where) -> bool:
    """Whether all cases are whole numbers."""
    if "case" not in rows:
        return False
    levels = to_categorical(rows["case"], "case", where, whole=True).categories
    return bool(pd.api.types.is_integer_dtype(levels.dtype))


def accepted(found: Sequence[Any]) -> list[Any]:
    """What was found, if nothing was refused."""
    refused = sorted((one for one in found if isinstance(one, Refused)), key=lambda one: one.message)
    for one in refused:
        raise (InputTypeError if one.of_type else InputError)(one.message)
    return list(found)


def read_labels(values: pd.Series[Any], labels: Sequence[str], pos_label: object) -> Bools:
    """Labels as those of all groups together are read: these rows may have one class only."""
    codes, result = pd.factorize(values)
    texts = [*map(str, result), *labels]
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
    result: list[Sketch] | Refused = refusing(lambda: [_sketch(rows) for rows in _groups(frame)])
    return result


def weights_of_groups(
    frame: pd.DataFrame, *, labels: tuple[str, str], pos_label: object
) -> list[tuple[Group, Weights]]:
    """What a part of the table tells of the weights of each group."""
    result = []
    for rows in _groups(frame[frame["weight"] > 0]):
        positive = read_labels(rows["y_true"], labels, pos_label)
        weight = rows["weight"].to_numpy(dtype=np.float64)
        result.append((group_of(with_fold(rows)), Weights.of(weight, positive)))
    return result


def _groups(frame: pd.DataFrame) -> list[pd.DataFrame]:
    groups = frame.groupby(keys_of(frame), sort=False, observed=True, dropna=False)
    return [rows.reset_index(drop=True) for _, rows in groups]


def _sketch(rows: pd.DataFrame) -> Sketch:
    rows = with_fold(rows)
    model, fold = group_of(rows)
    location = f"a row of model {model!r} in fold {fold!r}"
    rows = _without_clusters(rows, lambda _: location)
    if "weight" in rows:
        check_weight_column(rows["weight"], lambda _: location)
    score = np.sort(validate_scores(rows["y_score"], "y_score", lambda _: location))
    displayed = np.linspace(0, len(score) - 1, min(len(score), SCORES_SHOWN)).astype(np.intp)
    labels = tuple(dict.fromkeys(map(str, pd.factorize(rows["y_true"], use_na_sentinel=False)[1])))
    return Sketch(
        (model, fold), len(rows), score[displayed], labels[:5], _all_whole(rows, lambda _: location)
    )


def group_of(rows: pd.DataFrame) -> Group:
    """Model and fold of the rows of a group, as text."""
    model, fold = (
        to_categorical(rows[key][:1], key, row_number, whole=key == "fold").categories.item() for key in KEYS
    )
    return str(model), str(fold)


def by_group(found: Sequence[Of]) -> dict[Group, list[Of]]:
    """What was found of every group, in the order of their names."""
    groups: dict[Group, list[Of]] = {}
    for item in found:
        groups.setdefault(item.group, []).append(item)
    return dict(sorted(groups.items()))


def cuts_of(shown: Sequence[Sketch], most: int) -> dict[Group, NDArray[Any]]:
    """Scores at which groups of more rows are cut, so that no piece has many more than half of that."""
    result: dict[Group, NDArray[Any]] = {}
    for group, parts in by_group(shown).items():
        total = sum(item.n_rows for item in parts)
        if total > most:
            score = np.concatenate([item.score for item in parts])
            stands_for = np.concatenate(
                [np.full(len(item.score), item.n_rows / len(item.score)) for item in parts]
            )
            order = np.argsort(score, kind="stable")
            upto = np.cumsum(stands_for[order])
            n_pieces = -(-2 * total // most)
            at = np.searchsorted(upto, upto[-1] * np.arange(1, n_pieces) / n_pieces)
            result[group] = np.unique(score[order][at])
    return result


def counted(frame: pd.DataFrame, *, cuts: Mapping[Group, NDArray[Any]]) -> pd.DataFrame:
    """Rows of a part of the table counted by group, label and score, with the piece of each.

    Where rows are weighted, with their weight in all; those of weight 0 are left out.
    """
    keys = [*keys_of(frame), "y_true", "y_score"]
    weighted = "weight" in frame
    if weighted:
        frame = frame[frame["weight"] > 0]
    if not len(frame):
        none, held = np.empty(0, dtype=np.int64), {"weight": np.empty(0)} if weighted else {}
        return frame[keys].assign(**held, piece=none, n=none)
    groups = frame.groupby(keys, sort=False, observed=True, dropna=False)
    levels = groups.size().rename("n").to_frame()  # the number stands last
    if weighted:
        levels.insert(0, "weight", groups["weight"].sum().astype(np.float64))
    parts = _groups(levels.reset_index())
    empty: NDArray[Any] = np.empty(0)
    for part in parts:
        own = cuts.get(group_of(with_fold(part)), empty)
        piece = np.searchsorted(own, validate_scores(part["y_score"], "y_score", row_number))
        part.insert(part.shape[1] - 1, "piece", piece.astype(np.int64))
    return pd.concat(parts, ignore_index=True)


@dataclass(frozen=True)
class Piece:
    """Cases of a group between two scores, packed; different scores of the positives, if asked for."""

    group: Group
    number: int
    curve: CompactCurve
    levels: NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class PieceOf:
    """Packs the counted levels of one piece, by labels of the whole table."""

    labels: tuple[str, str]
    pos_label: object
    with_levels: bool

    def __call__(self, frame: pd.DataFrame) -> Piece:
        """Merge the counts of all parts of the table."""
        score = validate_scores(frame["y_score"], "y_score", row_number)
        positive = read_labels(frame["y_true"], self.labels, self.pos_label)
        levels, at = np.unique(score, return_inverse=True)
        counts = np.zeros((len(levels), 2), dtype=np.int64)
        np.add.at(counts, (at, positive.astype(np.intp)), frame["n"].to_numpy())
        retained = levels[counts[:, 1] > 0] if self.with_levels else None
        number = int(frame["piece"].iloc[0])
        curve: CompactCurve
        if "weight" in frame:
            slot, weight = 2 * (len(levels) - 1 - at) + positive, frame["weight"].to_numpy(dtype=np.float64)
            curve = WeightedCurve.of_counts(counts[::-1], slot=slot, weight=weight)
        else:
            curve = PackedCurve.of_counts(counts[::-1])
        return Piece(group_of(with_fold(frame)), number, curve, retained)


def joined(pieces: Sequence[Piece]) -> dict[Group, tuple[CompactCurve, NDArray[Any] | None]]:
    """Curve of every group, and the scores of its positives, if they were asked for."""
    result = {}
    for group, some in by_group(pieces).items():
        parts = sorted(some, key=lambda one: one.number)
        levels = [one.levels for one in parts if one.levels is not None]
        curves: Any = [one.curve for one in reversed(parts)]
        result[group] = type(curves[0]).joined(curves), np.concatenate(levels) if levels else None
    return result


@dataclass(frozen=True, eq=False)
class Groups:
    """All groups, and the levels of their models and folds: models in the order of their names."""

    packed: Sequence[Packed]
    models: tuple[str, ...]
    folds: tuple[Label, ...]
    model: NDArray[Any]
    fold: NDArray[Any]

    @classmethod
    def of(cls, packed: Sequence[Packed]) -> Groups:
        """Order the groups."""
        some = sorted(packed, key=lambda one: (one.model, one.fold))
        model = to_categorical(pd.Series([one.model for one in some]), "model", row_number)
        fold = to_categorical(pd.Series([one.fold for one in some]), "fold", row_number, whole=True)
        models, folds = tuple(model.categories.tolist()), tuple(fold.categories.tolist())
        return cls(some, models, folds, model.codes.astype(np.intp), fold.codes.astype(np.intp))

    def check(self, pos_label: object) -> None:
        """One spelling a fold, and the same two labels in all groups."""
        if len({*zip(self.model.tolist(), self.fold.tolist(), strict=True)}) < len(self.packed):
            raise InputError(
                "a fold must be spelled in one way, but some are both whole numbers and fractions"
            )
        written = [label for item in self.packed for label in item.labels]
        check_labels(written, pos_label=pos_label, where=lambda row: self._place(row // 2))

    def counts(self) -> NDArray[np.int64]:
        """Number of negatives and positives, of shape (n_models, n_folds, 2)."""
        counts = np.zeros((len(self.models), len(self.folds), 2), dtype=np.int64)
        for item, model, fold in zip(self.packed, self.model, self.fold, strict=True):
            if item.curve is not None:
                counts[model, fold] = item.curve.n_negative, item.curve.n_positive
        return counts

    def weights(self) -> dict[tuple[int, int], Weights]:
        """What is known of the weights of every model and fold that has any, by their positions."""
        cells = zip(self.model.tolist(), self.fold.tolist(), self.packed, strict=True)
        return {(model, fold): item.weights for model, fold, item in cells if item.weights is not None}

    def in_order(self) -> dict[tuple[str, Label], CompactCurve]:
        """Curves, models first."""
        order = np.lexsort((self.fold, self.model)).tolist()
        cells = [(self.models[self.model[i]], self.folds[self.fold[i]]) for i in order]
        curves = [self.packed[i].curve for i in order]
        return {cell: curve for cell, curve in zip(cells, curves, strict=True) if curve is not None}

    def _place(self, at: int) -> str:
        return f"model {self.packed[at].model!r} in fold {self.packed[at].fold!r}"
