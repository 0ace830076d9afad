"""ROC curves of groups (model and fold), checked and computed on workers.

A group too large for one worker is split at some of its scores, and its rows are counted by score in every
partition. The curves of the pieces join to the same curve to the last bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype

from skewanova.base.checks import (
    Bools,
    InputError,
    InputTypeError,
    RowName,
    SkewanovaWarning,
    check_labels,
    name_row,
)
from skewanova.curves.groups import CompactCurve, PackedCurve, WeightedCurve
from skewanova.distributed.backends import GROUP_COLUMNS, Backend, Split, group_columns
from skewanova.scores.columns import RawTable
from skewanova.scores.table import StreamedScores
from skewanova.scores.validation import (
    build_score_table,
    check_any_row,
    check_cell_classes,
    check_weight_column,
    fill_fold,
    locate_group_row,
    to_categorical,
    validate_scores,
)

#: Most rows of a group that one worker holds (80 bytes each).
MAX_GROUP_ROWS = 20_000_000


#: Scores of a group in the sample of a partition.
SAMPLE_SIZE = 256


Group = tuple[str, str]


Part = TypeVar("Part", "GroupSample", "Piece")


def return_errors(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function, changed to return input errors, not raise them, and to hide our warnings."""

    @wraps(function)
    def wrapper(*args: Any, **options: Any) -> Any:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SkewanovaWarning)
                return function(*args, **options)
        except (InputError, InputTypeError) as error:
            return error.with_traceback(None)

    return wrapper


def raise_errors(results: Sequence[Any]) -> list[Any]:
    """Return the results as a list; raise if one is an error, of several the first by message."""
    for error in sorted((item for item in results if isinstance(item, Exception)), key=str):
        raise error
    return list(results)


@dataclass(frozen=True)
class PackedGroup:
    """The curve of one group, None if all cases have weight 0, and its properties for checks across groups.

    `labels` are a negative and a positive one, as written; `has_whole_cases` is True if cases are integers.
    """

    model: str
    fold: str
    curve: CompactCurve | None
    labels: tuple[str, str]
    has_whole_cases: bool


@return_errors
def pack_group(frame: pd.DataFrame, *, pos_label: object) -> PackedGroup:
    """Return the checked group of some rows, its curve None if all weigh 0; or an input error, not raised."""
    frame = fill_fold(frame.reset_index(drop=True))
    where = locate_group_row(frame)
    rows = _drop_clusters(frame, where)
    labels = rows["y_true"].to_numpy()
    if "weight" in rows:
        weighted = check_weight_column(rows["weight"], where) > 0
        if not weighted.any():
            names = [str(label) for label in pd.unique(labels)]
            return PackedGroup(*read_group(rows), None, (names[0], names[-1]), _has_whole_cases(rows, where))
        labels = labels[weighted]
    table = build_score_table(RawTable(rows, where), pos_label)
    (model, fold, positive, score), *_ = table.groups()
    curve: CompactCurve
    if "weight" in table.frame:
        curve = WeightedCurve.from_cases(positive, score, table.frame["weight"].to_numpy())
    else:
        curve = PackedCurve.from_cases(positive, score)
    names = [str(labels[np.argmin(positive)]), str(labels[np.argmax(positive)])]
    has_whole_cases = "case" in table.frame and is_integer_dtype(table.frame["case"].cat.categories)
    return PackedGroup(str(model), str(fold), curve, (names[0], names[1]), has_whole_cases)


def _drop_clusters(rows: pd.DataFrame, where: RowName) -> pd.DataFrame:
    """Return the rows without the column cluster; raise if a cluster is empty."""
    if "cluster" not in rows:
        return rows
    to_categorical(rows["cluster"], "cluster", where)
    return rows.drop(columns="cluster")


def _has_whole_cases(rows: pd.DataFrame, where: RowName) -> bool:
    """Return True if rows have a column case of whole numbers or their text only; raise if one is empty."""
    if "case" not in rows:
        return False
    cases = to_categorical(rows["case"], "case", where, numeric=True)
    return is_integer_dtype(cases.categories)


def read_labels(values: pd.Series[Any], labels: Sequence[str], pos_label: object) -> Bools:
    """Return a mask of positive labels; `labels` has one of each class in any order, as rows may lack one."""
    codes, levels = pd.factorize(values)
    return np.asarray(check_labels([*map(str, levels), *labels], pos_label=pos_label)[codes])


# --- groups in pieces ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class GroupSample:
    """A sample of the scores that a partition has of one group.

    Every score represents equally many rows. `labels` are the distinct labels, as written.
    """

    group: Group
    n_rows: int
    score: NDArray[Any]
    labels: tuple[str, ...]
    has_whole_cases: bool


@return_errors
def sample_groups(frame: pd.DataFrame) -> list[GroupSample]:
    """Return a list of a sample of every group of a partition; or an input error, not raised."""
    groups = frame.groupby(group_columns(frame), sort=False, observed=True, dropna=False)
    return [_sample_group(fill_fold(rows.reset_index(drop=True))) for _, rows in groups]


def _sample_group(rows: pd.DataFrame) -> GroupSample:
    """Return up to SAMPLE_SIZE ascending scores of a group at equal steps of rank; labels are not checked."""
    model, fold = read_group(rows)
    location = f"a row of model {model!r} in fold {fold!r}"
    rows = _drop_clusters(rows, lambda _: location)
    if "weight" in rows:
        check_weight_column(rows["weight"], lambda _: location)
    score = np.sort(validate_scores(rows["y_score"], "y_score", lambda _: location))
    index = np.linspace(0, len(score) - 1, min(len(score), SAMPLE_SIZE)).astype(np.intp)
    labels = tuple(dict.fromkeys(map(str, pd.factorize(rows["y_true"], use_na_sentinel=False)[1])))
    has_whole_cases = _has_whole_cases(rows, lambda _: location)
    return GroupSample((model, fold), len(rows), score[index], labels[:5], has_whole_cases)


def read_group(rows: pd.DataFrame) -> Group:
    """Return (model, fold) as text, from the first of the rows of one group, which have both columns."""
    model, fold = (
        to_categorical(rows[key][:1], key, name_row, numeric=key == "fold").categories.item()
        for key in GROUP_COLUMNS
    )
    return str(model), str(fold)


def group_parts(parts: Sequence[Part]) -> dict[Group, list[Part]]:
    """Return lists of the parts by group (model, fold), with groups in alphabetical order."""
    group = attrgetter("group")
    return {key: list(items) for key, items in groupby(sorted(parts, key=group), group)}


def choose_cuts(sketches: Sequence[GroupSample], most: int) -> dict[Group, NDArray[Any]]:
    """Return, by group of more than `most` rows, ascending scores that cut it into pieces of `most` / 2."""
    result = {}
    for group, parts in group_parts(sketches).items():
        total = sum(item.n_rows for item in parts)
        if total > most:
            score, sizes = np.concatenate([item.score for item in parts]), [len(item.score) for item in parts]
            stands_for = np.repeat([item.n_rows / len(item.score) for item in parts], sizes)
            order = np.argsort(score, kind="stable")
            n_above = np.cumsum(stands_for[order])
            n_pieces = -(-2 * total // most)
            index = np.searchsorted(n_above, n_above[-1] * np.arange(1, n_pieces) / n_pieces)
            result[group] = np.unique(score[order][index])
    return result


def count_levels(frame: pd.DataFrame, *, cuts: Mapping[Group, NDArray[Any]]) -> pd.DataFrame:
    """Return model, [fold,] y_true, y_score, [weight,] piece, n: a row a label and score of a group.

    n is the number of rows. Weights are summed, and rows of weight 0 are left out.
    """
    keys, sums = group_columns(frame), ["n"]
    if "weight" in frame:
        frame, sums = frame[frame["weight"] > 0].astype({"weight": np.float64}), ["weight", "n"]
    piece = np.zeros(len(frame), dtype=np.int64)
    for index in frame.groupby(keys, sort=False, observed=True, dropna=False).indices.values():
        rows = fill_fold(frame.iloc[index])
        scores = validate_scores(rows["y_score"], "y_score", name_row)
        piece[index] = np.searchsorted(cuts.get(read_group(rows), np.empty(0)), scores)
    levels = [*keys, "y_true", "y_score", "piece"]
    counts = frame.assign(piece=piece, n=1).groupby(levels, sort=False, observed=True, dropna=False)[sums]
    return counts.sum().reset_index()[[*levels[:-1], *sums[:-1], "piece", "n"]]


@dataclass(frozen=True)
class Piece:
    """The curve of the cases of a group between two scores."""

    group: Group
    number: int
    curve: CompactCurve


def pack_piece(frame: pd.DataFrame, *, labels: tuple[str, str], pos_label: object) -> Piece:
    """Return the curve of one piece from rows of `count_levels`; `labels` has one of each class."""
    score = validate_scores(frame["y_score"], "y_score", name_row)
    positive = read_labels(frame["y_true"], labels, pos_label)
    levels, level = np.unique(score, return_inverse=True)
    slot = 2 * (len(levels) - 1 - level) + positive
    counts = np.zeros((len(levels), 2), dtype=np.int64)
    np.add.at(counts.ravel(), slot, frame["n"].to_numpy())
    curve: CompactCurve
    if "weight" in frame:
        curve = WeightedCurve.from_counts(
            counts, slot=slot, weight=frame["weight"].to_numpy(dtype=np.float64)
        )
    else:
        curve = PackedCurve.from_counts(counts)
    return Piece(read_group(fill_fold(frame)), int(frame["piece"].iloc[0]), curve)


def join_pieces(pieces: Sequence[Piece]) -> dict[Group, CompactCurve]:
    """Return the curve of every (model, fold), its pieces joined from the highest scores to the lowest."""
    result = {}
    for group, parts in group_parts(pieces).items():
        curves: Any = [item.curve for item in sorted(parts, key=attrgetter("number"), reverse=True)]
        result[group] = type(curves[0]).concatenate(curves)
    return result


# --- all groups together ------------------------------------------------------------------------------------


def join_groups(groups: Sequence[PackedGroup], pos_label: object) -> StreamedScores:
    """Return all groups' curves and counts; raise if folds or labels conflict, or a group lacks a class."""
    names = pd.DataFrame({key: [getattr(item, key) for item in groups] for key in GROUP_COLUMNS})
    model, fold = (to_categorical(names[key], key, name_row, numeric=key == "fold") for key in GROUP_COLUMNS)
    cells = dict(
        sorted(zip(zip(model.codes, fold.codes, strict=True), groups, strict=True), key=itemgetter(0))
    )
    if len(cells) < len(groups):
        raise InputError(
            "a fold must be spelled in one way, but one is both a whole number and a fraction, as 1 and "
            "1.0; convert the column fold to float"
        )
    places = [f"model {item.model!r} in fold {item.fold!r}" for item in groups]
    labels = [label for item in groups for label in item.labels]
    check_labels(labels, pos_label=pos_label, where=lambda row: places[row // 2])
    models, folds = tuple(model.categories.tolist()), tuple(fold.categories.tolist())
    counts = np.zeros((len(models), len(folds), 2), dtype=np.int64)
    curves = {}
    for (i, j), item in cells.items():
        if item.curve is not None:
            counts[i, j] = item.curve.n_negative, item.curve.n_positive
            curves[models[i], folds[j]] = item.curve
    check_cell_classes(models, folds, counts, weighted=any(item.curve is None for item in groups))
    return StreamedScores(models, folds, counts, curves, cases=None, source=None)


def pack_groups(engine: Backend, columns: Mapping[str, str], pos_label: object) -> list[PackedGroup]:
    """Return the checked groups, in order of model and fold as text; in pieces if one is too large."""
    cuts, sketches = {}, []
    if engine.n_rows() > MAX_GROUP_ROWS and max(engine.count_rows(columns).values()) > MAX_GROUP_ROWS:
        parts = raise_errors(engine.map_partitions(columns, sample_groups))
        sketches = [item for part in parts for item in part]
        cuts = choose_cuts(sketches, MAX_GROUP_ROWS)
    if cuts:
        packed = _pack_pieces(engine, columns, sketches, cuts=cuts, pos_label=pos_label)
    else:
        packed = raise_errors(engine.map_groups(columns, partial(pack_group, pos_label=pos_label)))
    check_any_row(len(packed))
    return sorted(packed, key=attrgetter(*GROUP_COLUMNS))


def _pack_pieces(
    engine: Backend,
    columns: Mapping[str, str],
    sketches: Sequence[GroupSample],
    *,
    cuts: Mapping[Group, NDArray[Any]],
    pos_label: object,
) -> list[PackedGroup]:
    """Return all groups, with curves joined from counts by score; large groups are in pieces."""
    groups = group_parts(sketches)
    written = [
        (label, "model {!r} in fold {!r}".format(*group))
        for group, parts in groups.items()
        for part in parts
        for label in part.labels
    ]
    labels = [label for label, _ in written]
    positive = check_labels(labels, pos_label=pos_label, where=lambda row: written[row][1])
    both = labels[int(np.argmin(positive))], labels[int(np.argmax(positive))]
    needed = {column: name for column, name in columns.items() if column not in {"case", "cluster"}}
    pack = partial(pack_piece, labels=both, pos_label=pos_label)
    split = Split([*group_columns(columns), "piece"], partial(count_levels, cuts=cuts), ["piece", "n"])
    curves = join_pieces(engine.map_groups(needed, pack, split))
    return [
        PackedGroup(*group, curves.get(group), both, all(part.has_whole_cases for part in parts))
        for group, parts in groups.items()
    ]
