"""ROC curves of groups (model and fold), and cases, clusters and weights, checked and summarized on workers.

A group too large for one worker is split at some of its scores, and its rows are counted by score in every
partition. The curves of the pieces join to the same curve to the last bit.

All rows of a case, or of a cluster, are sent to one worker. The cases of one test set, or of runs on it, stay
on the workers as positions on the curves of the models.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from itertools import chain, groupby
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import (
    Bools,
    Floats,
    InputError,
    InputTypeError,
    RowName,
    SkewanovaWarning,
    check_labels,
    name_row,
)
from skewanova.curves.groups import Cell, CompactCurve, PackedCurve, WeightedCurve
from skewanova.curves.sorting import MAX_DISTINCT_WEIGHTS, RankedCases, rank_among_positives
from skewanova.distributed.backends import GROUP_COLUMNS, Backend, RowFunction, Split, group_columns
from skewanova.priors.evidence import UnitSums
from skewanova.scores import validation
from skewanova.scores.columns import SAMPLING_COLUMNS, RawTable
from skewanova.scores.table import (
    CaseSummary,
    Label,
    SamplingSummary,
    ScoreTable,
    SharedClusters,
    StreamedScores,
    WeightRange,
    level_codes,
    shared_clusters,
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
    def result_or_error(*args: Any, **options: Any) -> Any:
        try:
            with warnings.catch_warnings(action="ignore", category=SkewanovaWarning):
                return function(*args, **options)
        except (InputError, InputTypeError) as error:
            return error.with_traceback(None)

    return result_or_error


def raise_errors(results: Sequence[Any]) -> list[Any]:
    """Return the results as a list; raise if one is an error, of several the first by message."""
    for error in sorted((item for item in results if isinstance(item, Exception)), key=str):
        raise error
    return list(results)


class PackedGroup(NamedTuple):
    """The curve of one group, None if all cases have weight 0, and its distinct labels, as written."""

    group: Group
    curve: CompactCurve | None
    labels: tuple[str, ...]


@return_errors
def pack_group(frame: pd.DataFrame, *, pos_label: object) -> PackedGroup:
    """Return the checked group of some rows, its curve None if all weigh 0; or an input error, not raised."""
    rows = validation.fill_fold(frame.reset_index(drop=True))
    where = validation.locate_group_row(rows)
    if "cluster" in rows:  # clusters may be in several groups, so only names are checked here
        validation.to_categorical(rows["cluster"], "cluster", where)
        rows = rows.drop(columns="cluster")
    labels = rows["y_true"].to_numpy()
    if "weight" in rows:
        weighted = validation.check_weight_column(rows["weight"], where) > 0
        if not weighted.any():
            return PackedGroup(read_group(rows), None, list_labels(labels))
        labels = labels[weighted]
    table = validation.build_score_table(RawTable(rows, where), pos_label)
    columns = [column for column in ("y_true", "y_score", "weight") if column in table.frame]
    kind = WeightedCurve if "weight" in columns else PackedCurve
    curve = kind.from_cases(*(table.frame[column].to_numpy() for column in columns))
    return PackedGroup((table.models[0], str(table.folds[0])), curve, list_labels(labels))


def list_labels(values: Any) -> tuple[str, ...]:
    """Return the distinct labels, missing ones too, as text in order of first occurrence."""
    return tuple(dict.fromkeys(map(str, pd.factorize(values, use_na_sentinel=False)[1])))


def check_group_labels(groups: Sequence[PackedGroup | GroupSample], pos_label: object) -> tuple[str, str]:
    """Return a negative and a positive label of all groups; raise, naming groups, if labels do not agree."""
    written = [(label, item.group) for item in groups for label in item.labels]
    labels = [label for label, _ in written]
    where: RowName = lambda row: "model {!r} in fold {!r}".format(*written[row][1])  # noqa: E731
    positive = check_labels(labels, pos_label=pos_label, where=where)
    return labels[int(np.argmin(positive))], labels[int(np.argmax(positive))]


def read_labels(values: pd.Series[Any], labels: Sequence[str], pos_label: object) -> Bools:
    """Return a mask of positive labels; `labels` has one of each class in any order, as rows may lack one."""
    codes, levels = pd.factorize(values)
    return np.asarray(check_labels([*map(str, levels), *labels], pos_label=pos_label)[codes])


# --- groups in pieces ---------------------------------------------------------------------------------------


class GroupSample(NamedTuple):
    """A sample of the scores that a partition has of one group.

    Every score represents equally many rows. `labels` are the distinct labels, as written.
    """

    group: Group
    n_rows: int
    score: NDArray[Any]
    labels: tuple[str, ...]


@return_errors
def sample_groups(frame: pd.DataFrame) -> list[GroupSample]:
    """Return a list of a sample of every group of a partition; or an input error, not raised."""
    groups = frame.groupby(group_columns(frame), sort=False, observed=True, dropna=False)
    return [_sample_group(validation.fill_fold(rows.reset_index(drop=True))) for _, rows in groups]


def _sample_group(rows: pd.DataFrame) -> GroupSample:
    """Return up to SAMPLE_SIZE ascending scores of a group at equal steps of rank; labels are not checked."""
    model, fold = read_group(rows)
    location = f"a row of model {model!r} in fold {fold!r}"
    for column in rows.columns.intersection(["case", "cluster"]):
        validation.to_categorical(rows[column], column, lambda _: location)
    if "weight" in rows:
        validation.check_weight_column(rows["weight"], lambda _: location)
    score = np.sort(validation.validate_scores(rows["y_score"], "y_score", lambda _: location))
    index = np.linspace(0, len(score) - 1, min(len(score), SAMPLE_SIZE)).astype(np.intp)
    return GroupSample((model, fold), len(rows), score[index], list_labels(rows["y_true"])[:5])


def read_group(rows: pd.DataFrame) -> Group:
    """Return (model, fold) as text, from the first of the rows of one group, which have both columns."""
    model, fold = (
        validation.to_categorical(rows[key][:1], key, name_row, numeric=key == "fold").categories.item()
        for key in GROUP_COLUMNS
    )
    return str(model), str(fold)


def group_parts(parts: Sequence[Part]) -> dict[Group, list[Part]]:
    """Return lists of the parts by group (model, fold), with groups in alphabetical order."""
    group = attrgetter("group")
    return {key: list(items) for key, items in groupby(sorted(parts, key=group), group)}


def choose_cuts(sketches: Sequence[GroupSample], most: int) -> dict[Group, NDArray[Any]]:
    """Return, by group of over `most` rows, ascending scores that cut it into pieces of about `most` / 2."""
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

    n is the number of rows; piece 0 has the lowest scores. Weights are summed; rows of weight 0 left out.
    """
    keys, sums = group_columns(frame), ["n"]
    if "weight" in frame:
        frame, sums = frame[frame["weight"] > 0].astype({"weight": np.float64}), ["weight", "n"]
    piece = np.zeros(len(frame), dtype=np.int64)
    for index in frame.groupby(keys, sort=False, observed=True, dropna=False).indices.values():
        rows = validation.fill_fold(frame.iloc[index])
        scores = validation.validate_scores(rows["y_score"], "y_score", name_row)
        piece[index] = np.searchsorted(cuts.get(read_group(rows), np.empty(0)), scores)
    levels = [*keys, "y_true", "y_score", "piece"]
    counts = frame.assign(piece=piece, n=1).groupby(levels, sort=False, observed=True, dropna=False)[sums]
    return counts.sum().reset_index()[[*levels[:-1], *sums[:-1], "piece", "n"]]


class Piece(NamedTuple):
    """The curve of the cases of a group between two scores."""

    group: Group
    number: int
    curve: CompactCurve


def pack_piece(frame: pd.DataFrame, *, labels: tuple[str, str], pos_label: object) -> Piece:
    """Return the curve of one piece from rows of `count_levels`; `labels` has one of each class."""
    scores = validation.validate_scores(frame["y_score"], "y_score", name_row)
    levels, level = np.unique(scores, return_inverse=True)
    slot = 2 * (len(levels) - 1 - level) + read_labels(frame["y_true"], labels, pos_label)
    counts = np.zeros((len(levels), 2), dtype=np.int64)
    np.add.at(counts.ravel(), slot, frame["n"].to_numpy())
    curve: CompactCurve
    if "weight" in frame:
        curve = WeightedCurve.from_counts(
            counts, slot=slot, weight=frame["weight"].to_numpy(dtype=np.float64)
        )
    else:
        curve = PackedCurve.from_counts(counts)
    return Piece(read_group(validation.fill_fold(frame)), int(frame["piece"].iloc[0]), curve)


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
    names = pd.DataFrame([item.group for item in groups], columns=GROUP_COLUMNS)
    model, fold = (
        validation.to_categorical(names[key], key, name_row, numeric=key == "fold") for key in GROUP_COLUMNS
    )
    cells = dict(
        sorted(zip(zip(model.codes, fold.codes, strict=True), groups, strict=True), key=itemgetter(0))
    )
    if len(cells) < len(groups):
        raise InputError(
            "a fold must be spelled in one way, but one is both a whole number and a fraction, as 1 and "
            "1.0; convert such numbers to float"
        )
    check_group_labels(groups, pos_label)
    models, folds = tuple(model.categories.tolist()), tuple(fold.categories.tolist())
    counts = np.zeros((len(models), len(folds), 2), dtype=np.int64)
    curves = {}
    for (i, j), item in cells.items():
        if item.curve is not None:
            counts[i, j] = item.curve.n_negative, item.curve.n_positive
            curves[models[i], folds[j]] = item.curve
    validation.check_cell_classes(models, folds, counts, weighted=any(item.curve is None for item in groups))
    return StreamedScores(models, folds, counts, curves)


def pack_groups(engine: Backend, columns: Mapping[str, str], pos_label: object) -> list[PackedGroup]:
    """Return the checked groups, in order of model and fold as text; in pieces if one is too large."""
    if engine.n_rows() > MAX_GROUP_ROWS and max(engine.count_rows(columns).values()) > MAX_GROUP_ROWS:
        packed = _pack_pieces(engine, columns, pos_label)
    else:
        packed = raise_errors(engine.map_groups(columns, partial(pack_group, pos_label=pos_label)))
    validation.check_any_row(len(packed))
    return sorted(packed, key=attrgetter("group"))


def _pack_pieces(engine: Backend, columns: Mapping[str, str], pos_label: object) -> list[PackedGroup]:
    """Return all groups, with curves joined from counts by score; large groups are in pieces."""
    samples = raise_errors(engine.map_partitions(columns, sample_groups))
    sketches = sorted(chain(*samples), key=attrgetter("group"))
    both, cuts = check_group_labels(sketches, pos_label), choose_cuts(sketches, MAX_GROUP_ROWS)
    needed = {column: name for column, name in columns.items() if column not in {"case", "cluster"}}
    pack = partial(pack_piece, labels=both, pos_label=pos_label)
    split = Split([*group_columns(columns), "piece"], partial(count_levels, cuts=cuts), ["piece", "n"])
    curves = join_pieces(engine.map_groups(needed, pack, split))
    return [PackedGroup(group, curves.get(group), both) for group in group_parts(sketches)]


# --- cases, clusters and weights ----------------------------------------------------------------------------


#: Approximate number of rows of a bucket.
BUCKET_ROWS = 1 << 20


class ClusterFacts(NamedTuple):
    """Summary of the clusters of a bucket: the error of a cluster that a fold splits, and one name.

    `shared` are the clusters in several folds, `kinds` the numbers of clusters with negatives only, positives
    only and both, and `sums` their weights, of shape (n_models, n_folds, 2).
    """

    error: Exception | None
    name: Label | None
    shared: SharedClusters | None
    kinds: NDArray[np.intp]
    sums: UnitSums


@dataclass(frozen=True, eq=False)
class RowChecks:
    """Checks of the rows of a bucket, read by the models, folds and labels of the whole table."""

    models: tuple[str, ...]
    folds: tuple[Label, ...]
    n_models: NDArray[np.intp]
    labels: Sequence[str]
    pos_label: object

    def read(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows as in a score table; categories of cases and clusters are in sorted order."""
        frame = validation.fill_fold(frame)
        rows = pd.DataFrame({"y_true": read_labels(frame["y_true"], self.labels, self.pos_label)})
        for column, levels in (("model", self.models), ("fold", self.folds)):
            rows[column] = _recode_levels(frame[column], levels)
        for column in frame.columns.intersection(["case", "cluster"]):
            names = validation.to_categorical(frame[column], column, name_row, numeric=True)
            rows[column] = names.reorder_categories(sorted(names.categories))
        if "weight" in frame:
            rows["weight"] = frame["weight"].to_numpy(dtype=np.float64)
        if "y_score" in frame:
            rows["y_score"] = validation.validate_scores(frame["y_score"], "y_score", name_row)
        return rows

    @return_errors
    def check_cases(self, frame: pd.DataFrame) -> CaseSummary:
        """Return the summary of a bucket of cases, or the error of a case that repeats or is ambiguous."""
        rows = self.read(frame)
        self._check_rows(rows)
        return ScoreTable(validation.drop_weightless(rows)).summarize_cases(self.n_models)

    @return_errors
    def check_clusters(self, frame: pd.DataFrame) -> ClusterFacts:
        """Return the facts of a bucket of clusters, or the error if a case has two clusters."""
        rows = self.read(frame)
        if "case" not in rows:
            self._check_rows(rows.drop(columns="weight", errors="ignore"))
        rows = validation.drop_weightless(rows)
        names = rows["cluster"].cat.categories.tolist()
        cluster, classes = level_codes(rows, "cluster"), np.zeros((len(names), 2), dtype=bool)
        classes[cluster, rows["y_true"].astype(np.intp)] = True
        parts = rows.drop_duplicates(["fold", "cluster"]).sort_values(["cluster", "fold"])
        return ClusterFacts(
            error=return_errors(_check_sorted)(validation.check_whole_clusters, rows) if names else None,
            name=names[0] if names else None,
            shared=shared_clusters(parts),
            kinds=np.bincount(classes @ [1, 2], minlength=4)[1:],
            sums=ScoreTable(rows).sum_units(),
        )

    @return_errors
    def check_weights(self, frame: pd.DataFrame) -> SamplingSummary:
        """Return sums and distinct weights in a bucket, or the error if a case has two weights."""
        rows = self.read(frame).drop(columns="cluster", errors="ignore")
        if "case" not in rows and len(self.folds) > 1:
            self._check_rows(rows)
        rows = validation.drop_weightless(rows)
        weight, positive = rows["weight"].to_numpy(), rows["y_true"].to_numpy()
        distinct = _distinct_weights([weight[~positive]]), _distinct_weights([weight[positive]])
        return SamplingSummary(0, None, ScoreTable(rows).sum_units(), None, distinct=distinct)

    def _check_rows(self, rows: pd.DataFrame) -> None:
        """Raise unless a case is once in a group, with one label, cluster and weight; messages name folds."""

        def check_by_fold(rows: pd.DataFrame) -> None:
            folds = rows["fold"].tolist()
            where: RowName = lambda row: f"a row of fold {folds[row]!r}"  # noqa: E731
            if "case" in rows:
                validation.check_cases(ScoreTable(rows), where)
            validation.check_same_for_case(rows, where, n_models=self.n_models)

        _check_sorted(check_by_fold, rows)

    def find_positive_scores(self, frame: pd.DataFrame) -> list[tuple[Any, NDArray[Any]]]:
        """Return ((model, fold), unsorted distinct scores of positives) of each group that has positives."""
        if not len(frame):
            return []
        rows = validation.drop_weightless(self.read(frame))
        groups = rows[rows["y_true"]].groupby(["model", "fold"], observed=True)["y_score"]
        return [(cell, scores.unique()) for cell, scores in groups]

    def place_cases(self, frame: pd.DataFrame, *, levels: Sequence[NDArray[Any]]) -> RankedCases:
        """Return a bucket's cases, sorted, with slots (n_curves, n_cases) on the curves of models and runs.

        `levels` are the distinct scores of the positives of each model in each run, in ascending order.
        """
        rows = validation.drop_weightless(self.read(frame)).sort_values(["model", "fold", "case"])
        scores = rows["y_score"].to_numpy().reshape(len(levels), -1)
        slot = [rank_among_positives(*columns) for columns in zip(levels, scores, strict=True)]
        cases, cluster = rows[: scores.shape[1]], None
        if "cluster" in cases:
            cluster = np.unique(level_codes(cases, "cluster"), return_inverse=True)[1]
        weight = cases["weight"].to_numpy() if "weight" in cases else None
        small = np.min_scalar_type(2 * max(map(len, levels)) + 1)
        return RankedCases(cases["y_true"].to_numpy(), np.array(slot, dtype=small), cluster, weight)


def _recode_levels(values: pd.Series[Any], levels: Sequence[Label]) -> pd.Categorical[Any]:
    """Return the values as a categorical of `levels`, matched as text without a final .0; or KeyError."""
    codes, names = pd.factorize(values)
    index = {str(level): i for i, level in enumerate(levels)}
    texts = [name if name in index else name.removesuffix(".0") for name in map(str, names)]
    position = np.array([index[text] for text in texts], dtype=np.intp)
    return pd.Categorical.from_codes(position[codes], dtype=pd.CategoricalDtype([*levels]))


def _distinct_weights(weights: Sequence[Floats]) -> Floats:
    """Return the ascending distinct weights of all arrays, at most `MAX_DISTINCT_WEIGHTS` + 1."""
    return np.unique(np.concatenate(weights))[: MAX_DISTINCT_WEIGHTS + 1]


def _check_sorted(check: Callable[[pd.DataFrame], None], rows: pd.DataFrame) -> None:
    """Call `check` on rows; if it fails, on sorted rows, so that on every engine it names the same row."""
    try:
        check(rows)
    except InputError:
        check(rows.sort_values(rows.columns.tolist(), ignore_index=True))


# --- all buckets together -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PersistedCases:
    """Positions of the cases of one test set, on the workers, deleted with this object."""

    cells: tuple[Cell, ...]
    engine: Backend
    buckets: Any

    def __post_init__(self) -> None:
        """Let the engine delete the buckets together with this object, but not at the end of Python."""
        # at exit the session has ended
        weakref.finalize(self, self.engine.release, self.buckets).atexit = False

    def map(self, function: Callable[[RankedCases], Any]) -> list[Any]:
        """Return a list of the function's result for the cases of every bucket that has any."""
        results = self.engine.map_results(self.buckets, partial(_apply_if_any, function))
        return [item for item in results if item is not None]


def _apply_if_any(function: Callable[[RankedCases], Any], cases: RankedCases) -> Any:
    """Return the function's result for the cases, or None if there are none."""
    return function(cases) if len(cases.positive) else None


def collect_curves(engine: Backend, columns: Mapping[str, str], *, pos_label: object) -> StreamedScores:
    """Return checked groups: curves, any case, cluster, weight summaries; `parts` if all cases are paired."""
    groups = pack_groups(engine, columns, pos_label)
    table = join_groups(groups, pos_label)
    n_models = (table.counts.sum(axis=2) > 0).sum(axis=0)
    checks = RowChecks(table.models, table.folds, n_models, groups[0].labels, pos_label)
    n_buckets = int(table.counts.sum()) // BUCKET_ROWS + 1
    without_scores = {column: name for column, name in columns.items() if column != "y_score"}

    def check_buckets(column: str, check: RowFunction) -> list[Any]:
        """Return results of a check, one for each bucket by `column`; raise if any is an error."""
        return raise_errors(engine.map_groups(without_scores, check, Split.into_buckets(n_buckets, column)))

    if "case" in columns:
        table = replace(table, cases=_join_cases(check_buckets("case", checks.check_cases), table.folds))
    if any(column in columns for column in SAMPLING_COLUMNS):
        table = replace(table, sampling=_summarize_sampling(check_buckets, columns, checks))
    cases = table.cases
    if cases is None or cases.unpaired.any() or not (cases.shared == cases.n_cases).all():
        return table
    needed = {column: name for column, name in columns.items() if column not in {"case", "cluster"}}
    scores = [item for part in engine.map_partitions(needed, checks.find_positive_scores) for item in part]
    cells = tuple(table.packed)
    levels = [np.unique(np.concatenate([part for key, part in scores if key == cell])) for cell in cells]
    place_cases = partial(checks.place_cases, levels=levels)
    split = Split.into_buckets(n_buckets, "cluster" if "cluster" in columns else "case")
    return replace(
        table, parts=PersistedCases(cells, engine, engine.persist_groups(columns, place_cases, split))
    )


def _join_cases(parts: Sequence[CaseSummary], folds: Sequence[Label]) -> CaseSummary:
    """Return the summary of the cases of all buckets, examples sorted by fold and name."""
    *counts, examples = zip(*parts, strict=True)
    order = sorted(chain(*examples), key=lambda x: (folds.index(x[1]), isinstance(x[0], str), x[0]))
    return CaseSummary._make([*map(sum, counts), tuple(order)])


def _summarize_sampling(
    check_buckets: Callable[[str, RowFunction], list[Any]], columns: Mapping[str, str], checks: RowChecks
) -> SamplingSummary:
    """Return the summary of clusters and weights of all buckets; raise if a check fails."""
    weights = shared = None
    distinct = [np.ones(1), np.ones(1)]
    kinds: tuple[int, ...] = (0, 0, 0)
    if "weight" in columns:
        column = "case" if "case" in columns else "weight"
        weighted: list[SamplingSummary] = check_buckets(column, checks.check_weights)
        sums = UnitSums.merge([part.sums for part in weighted])
        validation.check_any_weight(sums.largest.max())
        distinct = [_distinct_weights(sides) for sides in zip(*(p.distinct for p in weighted), strict=True)]
        total = (sums.total * sums.largest).sum(axis=(0, 1))
        low = float(min(weight[0] for weight in distinct))
        weights = WeightRange(low, float(sums.largest.max()), float(total[1] / total.sum()))
    if "cluster" in columns:
        parts: list[ClusterFacts] = check_buckets("cluster", checks.check_clusters)
        kinds = tuple(np.sum([part.kinds for part in parts], axis=0).tolist())
        validation.check_several_clusters(
            sum(kinds), next((part.name for part in parts if part.name is not None), None)
        )
        raise_errors([part.error for part in parts])
        several = [part.shared for part in parts if part.shared is not None]
        if several:
            most = max(several, key=lambda item: (item.n_folds, str(item.name)))
            shared = most._replace(n_clusters=sum(item.n_clusters for item in several))
        sums = UnitSums.merge([part.sums for part in parts])
    return SamplingSummary(sum(kinds), shared, sums, weights, kinds, (distinct[0], distinct[1]))
