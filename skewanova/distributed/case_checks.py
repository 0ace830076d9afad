"""Checks of cases, clusters and weights on workers, by the rules for tables in memory.

All rows of a case, or of a cluster, are sent to one worker. The cases of one test set, or of runs on it, stay
on the workers as positions on the curves of the models.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from skewanova.base.checks import Floats, InputError, name_row
from skewanova.curves.groups import Cell
from skewanova.curves.sorting import MAX_DISTINCT_WEIGHTS, RankedCases, rank_among_positives
from skewanova.distributed.backends import Backend, RowFunction, Split
from skewanova.distributed.packing import PackedGroup, raise_errors, read_labels, return_errors
from skewanova.priors.evidence import UnitSums
from skewanova.scores.columns import SAMPLING_COLUMNS
from skewanova.scores.table import (
    MAX_EXAMPLES,
    CaseSummary,
    Label,
    SamplingSummary,
    SharedClusters,
    StreamedScores,
    WeightRange,
    level_codes,
    shared_clusters,
)
from skewanova.scores.validation import (
    check_any_weight,
    check_same_for_case,
    check_several_clusters,
    check_whole_clusters,
    fill_fold,
    raise_duplicates,
    raise_mixed_labels,
    to_categorical,
    validate_scores,
)

#: Approximate number of rows of a bucket.
BUCKET_ROWS = 1 << 20


class CaseFacts(NamedTuple):
    """Summary of the cases of a bucket.

    `n_repeated` rows repeat a (model, fold, case), and `n_mixed` cases have both labels, each with examples.
    """

    summary: CaseSummary
    n_repeated: int
    repeated: list[tuple[Any, ...]]
    n_mixed: int
    mixed: list[Label]


class WeightFacts(NamedTuple):
    """Sums of weights, of shape (n_models, n_folds, 2), and at most 65 distinct weights of each class."""

    sums: UnitSums
    distinct: list[Floats]


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
    has_whole_cases: bool
    labels: tuple[str, str]
    pos_label: object

    def read(self, frame: pd.DataFrame) -> pd.DataFrame:
        """Return the rows as in a score table; categories of cases and clusters are in sorted order."""
        frame = fill_fold(frame)
        rows = pd.DataFrame({"y_true": read_labels(frame["y_true"], self.labels, self.pos_label)})
        for column, levels in (("model", self.models), ("fold", self.folds)):
            rows[column] = _recode_levels(frame[column], levels)
        for column, is_whole in (("case", self.has_whole_cases), ("cluster", True)):
            if column in frame:
                names = to_categorical(frame[column], column, name_row, numeric=is_whole)
                rows[column] = names.reorder_categories(sorted(names.categories))
        if "weight" in frame:
            rows["weight"] = frame["weight"].to_numpy(dtype=np.float64)
        if "y_score" in frame:
            rows["y_score"] = validate_scores(frame["y_score"], "y_score", name_row)
        return rows

    @return_errors
    def check_cases(self, frame: pd.DataFrame) -> CaseFacts:
        """Return the facts of a bucket of cases, or the error if one has two clusters or weights."""
        rows = self.read(frame)
        if any(column in rows for column in SAMPLING_COLUMNS):
            self._check_same(rows)
        repeated = rows.loc[rows.duplicated(["model", "fold", "case"]), ["model", "fold", "case"]]
        n_labels = rows.groupby("case", observed=True)["y_true"].nunique()
        mixed = n_labels.index[n_labels > 1].tolist()
        return CaseFacts(
            self._summarize_cases(_drop_weightless(rows)),
            len(repeated),
            list(repeated.head(MAX_EXAMPLES).itertuples(index=False, name=None)),
            len(mixed),
            mixed[:MAX_EXAMPLES],
        )

    def _summarize_cases(self, rows: pd.DataFrame) -> CaseSummary:
        """Return the summary of the cases in some rows, with at most 5 unpaired examples per fold."""
        n_folds, names = len(self.folds), rows["case"].cat.categories.tolist()
        code = level_codes(rows, "case") * n_folds + level_codes(rows, "fold")
        pair, n_rows = np.unique(code, return_counts=True)
        case, fold = np.divmod(pair, n_folds)
        member: Any = sparse.csr_array((np.ones_like(pair), (case, fold)), shape=(len(names), n_folds))
        is_unpaired = n_rows != self.n_models[fold]
        unpaired = pd.DataFrame({"case": case[is_unpaired], "fold": fold[is_unpaired]})
        examples = unpaired.groupby("fold").head(MAX_EXAMPLES).itertuples(index=False)
        return CaseSummary(
            shared=(member.T @ member).toarray(),
            n_cases=rows["case"].nunique(),
            n_positive=rows["case"][rows["y_true"]].nunique(),
            unpaired=np.bincount(fold[is_unpaired], minlength=n_folds),
            examples=tuple((names[i], self.folds[j]) for i, j in examples),
        )

    @return_errors
    def check_clusters(self, frame: pd.DataFrame) -> ClusterFacts:
        """Return the facts of a bucket of clusters, or the error if a case has two clusters."""
        rows = self.read(frame)
        if "case" not in rows:
            self._check_same(rows.drop(columns="weight", errors="ignore"))
        rows = _drop_weightless(rows)
        rows["cluster"] = rows["cluster"].cat.remove_unused_categories()
        names = rows["cluster"].cat.categories.tolist()
        cluster, classes = level_codes(rows, "cluster"), np.zeros((len(names), 2), dtype=bool)
        classes[cluster, rows["y_true"].astype(np.intp)] = True
        parts = rows.drop_duplicates(["fold", "cluster"]).sort_values(["cluster", "fold"])
        return ClusterFacts(
            error=return_errors(_check_sorted)(check_whole_clusters, rows) if names else None,
            name=names[0] if names else None,
            shared=shared_clusters(parts),
            kinds=np.bincount(classes @ [1, 2], minlength=4)[1:],
            sums=self._sum_units(rows, cluster),
        )

    @return_errors
    def check_weights(self, frame: pd.DataFrame) -> WeightFacts:
        """Return the facts of the weights in a bucket, or the error if a case has two weights."""
        rows = self.read(frame).drop(columns="cluster", errors="ignore")
        if "case" not in rows and len(self.folds) > 1:
            self._check_same(rows)
        rows = _drop_weightless(rows)
        weight, positive = rows["weight"].to_numpy(), rows["y_true"].to_numpy()
        sums = self._sum_units(rows, np.arange(len(rows)))
        return WeightFacts(sums, [_distinct_weights([weight[side]]) for side in (~positive, positive)])

    def _sum_units(self, rows: pd.DataFrame, unit: NDArray[np.intp]) -> UnitSums:
        """Return sums of units' weights by model, fold and class (negative, positive)."""
        shape = len(self.models), len(self.folds), 2
        model, fold = (level_codes(rows, key) for key in ("model", "fold"))
        weight = rows["weight"].to_numpy() if "weight" in rows else None
        kind = np.ravel_multi_index((model, fold, rows["y_true"].to_numpy().astype(np.intp)), shape)
        return UnitSums.from_cases(kind, unit, weight, int(np.prod(shape))).reshape(*shape)

    def _check_same(self, rows: pd.DataFrame) -> None:
        """Raise unless a case has one cluster and one weight; messages name rows by their fold."""

        def check(rows: pd.DataFrame) -> None:
            folds = rows["fold"].tolist()
            check_same_for_case(rows, lambda row: f"a row of fold {folds[row]!r}", n_models=self.n_models)

        _check_sorted(check, rows)

    def find_positive_scores(self, frame: pd.DataFrame) -> list[tuple[Any, NDArray[Any]]]:
        """Return ((model, fold), unsorted distinct scores of positives) of each group that has positives."""
        if not len(frame):
            return []
        rows = _drop_weightless(self.read(frame))
        groups = rows[rows["y_true"]].groupby(["model", "fold"], observed=True)["y_score"]
        return [(cell, scores.unique()) for cell, scores in groups]

    def place_cases(self, frame: pd.DataFrame, *, levels: Sequence[NDArray[Any]]) -> RankedCases:
        """Return a bucket's cases, sorted, with slots (n_curves, n_cases) on the curves of models and runs.

        `levels` are the distinct scores of the positives of each model in each run, in ascending order.
        """
        rows = _drop_weightless(self.read(frame)).sort_values(["model", "fold", "case"])
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


def _drop_weightless(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of positive weight, with a new index; without weights, the rows as they are."""
    return rows[rows["weight"] > 0].reset_index(drop=True) if "weight" in rows else rows


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
        # at exit the session has ended
        weakref.finalize(self, self.engine.release, self.buckets).atexit = False

    def map(self, function: Callable[[RankedCases], Any]) -> list[Any]:
        """Return a list of the function's result for the cases of every bucket that has any."""
        results = self.engine.map_results(self.buckets, partial(_apply_if_any, function))
        return [item for item in results if item is not None]


def _apply_if_any(function: Callable[[RankedCases], Any], cases: RankedCases) -> Any:
    """Return the function's result for the cases, or None if there are none."""
    return function(cases) if len(cases.positive) else None


def summarize_groups(
    engine: Backend,
    columns: Mapping[str, str],
    table: StreamedScores,
    groups: Sequence[PackedGroup],
    *,
    pos_label: object,
) -> tuple[CaseSummary | None, SamplingSummary | None, PersistedCases | None]:
    """Return summaries of cases and of sampling, and the cases if all groups share them; or None for each."""
    counts = table.counts
    checks = RowChecks(
        models=table.models,
        folds=table.folds,
        n_models=(counts.sum(axis=2) > 0).sum(axis=0),
        has_whole_cases=all(item.has_whole_cases for item in groups),
        labels=groups[0].labels,
        pos_label=pos_label,
    )
    n_buckets = int(counts.sum()) // BUCKET_ROWS + 1
    without_scores = {column: name for column, name in columns.items() if column != "y_score"}

    def check_buckets(column: str, check: RowFunction) -> list[Any]:
        return raise_errors(engine.map_groups(without_scores, check, Split.into_buckets(n_buckets, column)))

    cases = sampling = None
    if "case" in columns:
        cases = _join_cases(check_buckets("case", checks.check_cases), table.folds)
    if any(column in columns for column in SAMPLING_COLUMNS):
        sampling = _summarize_sampling(check_buckets, columns, checks)
    if cases is None or cases.unpaired.any() or not (cases.shared == cases.n_cases).all():
        return cases, sampling, None
    needed = {column: name for column, name in columns.items() if column not in {"case", "cluster"}}
    scores = [item for part in engine.map_partitions(needed, checks.find_positive_scores) for item in part]
    cells = tuple(table.packed)
    levels = [np.unique(np.concatenate([part for key, part in scores if key == cell])) for cell in cells]
    place_cases = partial(checks.place_cases, levels=levels)
    split = Split.into_buckets(n_buckets, "cluster" if "cluster" in columns else "case")
    return cases, sampling, PersistedCases(cells, engine, engine.persist_groups(columns, place_cases, split))


def _join_cases(parts: Sequence[CaseFacts], folds: Sequence[Label]) -> CaseSummary:
    """Return the summary of all cases; raise for repeated cases and mixed labels."""
    if n_repeated := sum(part.n_repeated for part in parts):  # only groups read in pieces can have some
        repeated = sorted(row for part in parts for row in part.repeated)
        raise_duplicates(n_repeated, ", ".join(map(str, repeated[:MAX_EXAMPLES])))
    if n_mixed := sum(part.n_mixed for part in parts):
        raise_mixed_labels(n_mixed, sorted(case for part in parts for case in part.mixed)[:MAX_EXAMPLES])
    summaries = [part.summary for part in parts]
    examples = (example for part in summaries for example in part.examples)
    return CaseSummary(
        shared=np.sum([part.shared for part in summaries], axis=0),
        n_cases=sum(part.n_cases for part in summaries),
        n_positive=sum(part.n_positive for part in summaries),
        unpaired=np.sum([part.unpaired for part in summaries], axis=0),
        examples=tuple(sorted(examples, key=lambda example: (folds.index(example[1]), example[0]))),
    )


def _summarize_sampling(
    check_buckets: Callable[[str, RowFunction], list[Any]], columns: Mapping[str, str], checks: RowChecks
) -> SamplingSummary:
    """Return the summary of clusters and weights of all buckets; raise if a check fails."""
    weights = shared = None
    distinct = [np.ones(1), np.ones(1)]
    kinds: tuple[int, ...] = (0, 0, 0)
    if "weight" in columns:
        column = "case" if "case" in columns else "weight"
        weighted: list[WeightFacts] = check_buckets(column, checks.check_weights)
        sums = UnitSums.merge([part.sums for part in weighted])
        check_any_weight(sums.largest.max())
        distinct = [_distinct_weights(sides) for sides in zip(*(p.distinct for p in weighted), strict=True)]
        total = (sums.total * sums.largest).sum(axis=(0, 1))
        low = float(min(weight[0] for weight in distinct))
        weights = WeightRange(low, float(sums.largest.max()), float(total[1] / total.sum()))
    if "cluster" in columns:
        parts: list[ClusterFacts] = check_buckets("cluster", checks.check_clusters)
        kinds = tuple(np.sum([part.kinds for part in parts], axis=0).tolist())
        check_several_clusters(sum(kinds), next((part.name for part in parts if part.name is not None), None))
        raise_errors([part.error for part in parts])
        several = [part.shared for part in parts if part.shared is not None]
        if several:
            most = max(several, key=lambda item: (item.n_folds, str(item.name)))
            shared = most._replace(n_clusters=sum(item.n_clusters for item in several))
        sums = UnitSums.merge([part.sums for part in parts])
    return SamplingSummary(sum(kinds), shared, sums, weights, kinds, (distinct[0], distinct[1]))
