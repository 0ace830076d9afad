"""Checked tables of held-out scores, in memory or as ROC curves only."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from skewanova.base.checks import Bools, Floats, RowName, check_subset
from skewanova.curves.groups import CompactCurve, GroupCurves, PackedCurves
from skewanova.curves.sorting import CasePartitions
from skewanova.priors.evidence import UnitSums
from skewanova.scores.columns import HOLDOUT, PARTS, RawTable, iter_chunks, values_or_codes
from skewanova.scores.validation import (
    MAX_EXAMPLES,
    Codes,
    Label,
    SamplingSummary,
    SharedClusters,
    WeightRange,
    check_any_row,
    check_any_weight,
    check_cell_classes,
    check_label_column,
    check_sampling,
    check_weight_column,
    level_codes,
    raise_duplicates,
    raise_mixed_labels,
    shared_clusters,
    to_categorical,
    validate_scores,
)

#: Rows whose distinct scores are counted first, and the limit of the count.
FIRST_ROWS, MAX_DISTINCT = 1000, 100


class TieCounts(NamedTuple):
    """Ties among the scores of one model in one fold.

    Attributes
    ----------
    model, fold
        Model and fold of the scores.
    n_cases, n_best, n_different : int
        Numbers of cases, of cases at the best score, and of distinct scores (at most 100).
    """

    model: str
    fold: Label
    n_cases: int
    n_best: int
    n_distinct: int


def _describe_scores(scores: Scores) -> str:
    """Return the number of rows, models and folds, and the file, as a representation."""
    shape = f"{len(scores.models)} models x {len(scores.folds)} folds"
    source = "" if scores.source is None else f", of {scores.source.name!r}"
    return f"<{type(scores).__name__}: {scores.counts.sum():,} rows, {shape}{source}>"


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Checked held-out scores of several models over folds.

    Attributes
    ----------
    frame : DataFrame
        Columns model and fold (categorical, in the order of `models` and `folds`), y_true (bool, True for the
        positive class), y_score (in its own dtype) and, if present, case, cluster and weight.
    source : Path or None
        The file the table was read from.
    halvings : Halvings or None
        Scores of the same models, cross-validated in halves of the data set.
    n_cases : int or None
        Number of cases of the data set, tested or not, if known.
    """

    frame: pd.DataFrame
    source: Path | None = None
    halvings: Halvings | None = None
    n_cases: int | None = None

    __repr__ = _describe_scores

    @property
    def models(self) -> tuple[str, ...]:
        """Model names in order of first appearance."""
        return tuple(self.frame["model"].cat.categories)

    @property
    def folds(self) -> tuple[Label, ...]:
        """Fold labels: whole numbers in ascending order, else text in order of first appearance."""
        return tuple(self.frame["fold"].cat.categories.tolist())

    @property
    def has_cases(self) -> bool:
        """True if rows name their cases."""
        return "case" in self.frame

    @property
    def has_clusters(self) -> bool:
        """True if cases were drawn in clusters."""
        return "cluster" in self.frame

    @property
    def has_weights(self) -> bool:
        """True if cases represent unequal numbers of the population."""
        return "weight" in self.frame

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """Number of negatives and positives, of shape (n_models, n_folds, 2)."""
        shape = (len(self.models), len(self.folds), 2)
        counts = np.zeros(shape, dtype=np.int64).reshape(-1)
        cell, positive = self._cell_codes, self.frame["y_true"].to_numpy()
        for rows in iter_chunks(len(cell)):
            counts += np.bincount(2 * cell[rows].astype(np.intp) + positive[rows], minlength=len(counts))
        return counts.reshape(shape)

    @cached_property
    def effective_counts(self) -> Floats:
        """Effective numbers of negatives and positives by model and fold, shaped as `counts`."""
        if not (self.has_clusters or self.has_weights):
            return self.counts.astype(np.float64)
        kind = 2 * self._cell_codes.astype(np.intp) + self.frame["y_true"].to_numpy()
        unit = self.codes("cluster") if self.has_clusters else np.arange(len(kind))
        weight = self.frame["weight"].to_numpy() if self.has_weights else None
        result = UnitSums.from_cases(kind, unit, weight, self.counts.size).effective_number()
        return np.asarray(result.reshape(self.counts.shape))

    @property
    def n_clusters(self) -> int:
        """Number of clusters; 0 if cases are not clustered."""
        return self.frame["cluster"].nunique() if self.has_clusters else 0

    @property
    def weights(self) -> WeightRange | None:
        """Range of the weights; None if cases are not weighted."""
        if not self.has_weights:
            return None
        weight, positive = self.frame["weight"].to_numpy(), self.frame["y_true"].to_numpy()
        return WeightRange(weight.min(), weight.max(), float(np.average(positive, weights=weight)))

    @property
    def shared_clusters(self) -> SharedClusters | None:
        """Clusters in several folds, if there are any."""
        return shared_clusters(self.frame) if self.has_clusters else None

    def groups(self) -> Iterator[tuple[str, Label, Bools, NDArray[Any]]]:
        """Yield model, fold, positive labels and scores of every (model, fold), models first."""
        (positive, score), sizes = self._columns_by_cell("y_true", "y_score")
        stops = np.cumsum(sizes)
        for (model, fold), start, stop in zip(self.cells, stops - sizes, stops, strict=True):
            yield model, fold, positive[start:stop], score[start:stop]

    @cached_property
    def cells(self) -> list[tuple[str, Label]]:
        """Every (model, fold) with rows, models first."""
        models, folds = self.models, self.folds
        present = np.argwhere(self.counts.sum(axis=2) > 0)
        return [(models[m], folds[f]) for m, f in present.tolist()]

    def _columns_by_cell(self, *columns: str) -> tuple[list[NDArray[Any]], Codes]:
        """Return columns with rows sorted by (model, fold), and the number of rows of each (model, fold)."""
        sizes = self.counts.sum(axis=2).ravel()
        cell = self._cell_codes
        values = [values_or_codes(self.frame[column]) for column in columns]
        if (cell[1:] < cell[:-1]).any():
            values = _sort_by_cell(cell, values, sizes)
        return values, sizes[sizes > 0]

    def ties(self) -> Iterator[TieCounts]:
        """Yield the ties among the scores of every (model, fold), models first."""
        for model, fold, _, score in self.groups():
            n_best = int(np.count_nonzero(score == score.max()))
            yield TieCounts(model, fold, len(score), n_best, _count_distinct(score))

    def curves(self) -> GroupCurves:
        """Return the weighted ROC curve of every (model, fold), models first."""
        names = ["y_true", "y_score", *(["weight"] if self.has_weights else [])]
        (positive, score, *weight), sizes = self._columns_by_cell(*names)
        weights = weight[0] if weight else None
        return GroupCurves(self.cells, positive, score=score, sizes=sizes, weight=weights)

    def select_folds(self, folds: Collection[Label]) -> ScoreTable:
        """Return the table with some of the folds."""
        frame = self.frame[self.frame["fold"].isin(folds)].reset_index(drop=True)
        frame["fold"] = frame["fold"].cat.set_categories([fold for fold in self.folds if fold in folds])
        return replace(self, frame=frame)

    def select_models(self, models: Iterable[str]) -> ScoreTable:
        """Return the table with some of the models, in their order here, without folds that none of them has.

        Parameters
        ----------
        models : iterable of str
            Names of the models.

        Raises
        ------
        ValueError, TypeError
            If a name is unknown, or `models` is not a list of names.

        Examples
        --------
        >>> from skewanova import load_satellite_scores
        >>> load_satellite_scores().select_models(["C", "A"]).models
        ('A', 'C')
        """
        models = check_subset(models, self.models)
        frame = self.frame[self.frame["model"].isin(models)].reset_index(drop=True)
        frame["model"] = frame["model"].cat.set_categories(models)
        frame["fold"] = frame["fold"].cat.remove_unused_categories()
        halvings = self.halvings
        if halvings is not None:
            halvings = replace(halvings, scores=halvings.scores.select_models(models))
        return replace(self, frame=frame, halvings=halvings)

    def _cases_by_fold(self) -> dict[Label, list[NDArray[Any]]]:
        """Return the codes of the cases of every fold, one array per model."""
        (case,), sizes = self._columns_by_cell("case")
        groups: dict[Label, list[NDArray[Any]]] = {fold: [] for fold in self.folds}
        for (_, fold), cases in zip(self.cells, np.split(case, np.cumsum(sizes)[:-1]), strict=True):
            groups[fold].append(cases)
        return groups

    def count_unpaired(self) -> tuple[int, tuple[tuple[Label, Label], ...]]:
        """Count (fold, case) pairs that lack a model of the fold; return the count and some (case, fold)."""
        n_pairs, examples = 0, []
        for fold, groups in self._cases_by_fold().items():
            cases, n_models = np.unique(np.concatenate(groups), return_counts=True)
            odd = cases[n_models != len(groups)]
            n_pairs += len(odd)
            examples += [(case, fold) for case in self.frame["case"].cat.categories[odd[:MAX_EXAMPLES]]]
        return n_pairs, tuple(examples[:MAX_EXAMPLES])

    def shared_cases(self) -> tuple[NDArray[np.int64], int]:
        """Return the number of cases that each two folds share, and the number of all cases."""
        cases = [np.unique(np.concatenate(groups)) for groups in self._cases_by_fold().values()]
        stops = np.cumsum([0, *map(len, cases)])
        n_cases = len(self.frame["case"].cat.categories)
        member = sparse.csr_array(
            (np.ones(stops[-1], dtype=np.int64), np.concatenate(cases).astype(np.int32), stops),
            shape=(len(cases), n_cases),
        )
        return (member @ member.T).toarray(), n_cases

    def class_sizes(self) -> tuple[int, int]:
        """Return the numbers of distinct negative and positive cases."""
        is_positive, is_negative = _case_labels(self)
        return int(np.count_nonzero(is_negative)), int(np.count_nonzero(is_positive))

    def to_frame(self) -> pd.DataFrame:
        """Return all rows, those of halvings included, as :func:`~skewanova.read_scores` reads them."""
        if self.halvings is None:
            return self.frame.copy()
        plain = {"model": object, "fold": object, "case": object}
        holdouts = self.frame.astype(plain).assign(part=HOLDOUT, halving=None)
        frame = pd.concat([holdouts, self.halvings.to_frame().astype(plain)], ignore_index=True)
        keys = ["model", "part", "halving", "fold", "case"]
        return frame[[*keys, *(column for column in frame if column not in keys)]]

    def sha256(self) -> str:
        """Return the fingerprint of the source file or, without one, of the table."""
        if self.source is not None and self.source.exists():
            return hash_path(self.source)
        text = self.to_frame().astype({"model": str, "fold": str}).to_csv(index=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def _cell_codes(self) -> NDArray[Any]:
        """Index of the (model, fold) of every row, models first, in the smallest type."""
        model, fold = (values_or_codes(self.frame[key]) for key in ("model", "fold"))
        small = np.min_scalar_type(len(self.models) * len(self.folds))
        return np.asarray(model.astype(small) * small.type(len(self.folds)) + fold.astype(small))

    def codes(self, column: str) -> Codes:
        """Return the codes of a categorical column."""
        return level_codes(self.frame, column)


@dataclass(frozen=True, eq=False)
class Halvings:
    """Held-out scores of every model, cross-validated in both halves of every halving.

    Attributes
    ----------
    scores : ScoreTable
        Scores whose folds are those of all halves; a label names halving, half and fold.
    halving, half, fold : ndarray of shape (n_folds,)
        Halving (a position in `labels`), half (0 or 1) and number of each of these folds.
    labels : tuple
        Labels of the halvings.
    """

    scores: ScoreTable
    halving: Codes
    half: Codes
    fold: tuple[Label, ...]
    labels: tuple[Label, ...]

    @property
    def n_halvings(self) -> int:
        """Number of halvings."""
        return len(self.labels)

    @property
    def n_cases(self) -> int:
        """Number of cases of the data set, all of which every halving tests."""
        return len(self.scores.frame["case"].cat.categories)

    @property
    def min_folds(self) -> int:
        """Smallest number of folds of a half."""
        return int(self._sizes.min())

    @property
    def _sizes(self) -> NDArray[np.intp]:
        """Number of folds in every half, of shape (n_halvings, 2)."""
        flat = np.bincount(2 * self.halving + self.half, minlength=2 * self.n_halvings)
        return flat.reshape(-1, 2)

    @cached_property
    def curves(self) -> GroupCurves:
        """ROC curve of every model in every fold of every half, models first."""
        return self.scores.curves()

    def half_differences(self, areas: Floats) -> Floats:
        """Return half the differences of the mean areas of halves, of shape (n_halvings, n_models, ...).

        The first axis of `areas` is that of `curves`.
        """
        share = np.zeros((self.n_halvings, len(self.half)))
        sign, size = 1 - 2 * self.half, self._sizes[self.halving, self.half]
        share[self.halving, np.arange(len(self.half))] = sign / (2 * size)
        cells = areas.reshape(len(self.scores.models), len(self.half), *areas.shape[1:])
        return np.asarray(np.einsum("hf,mf...->hm...", share, cells))

    def to_frame(self) -> pd.DataFrame:
        """Return the rows with the columns part, halving and fold."""
        code = self.scores.codes("fold")
        return self.scores.frame.assign(
            part=np.array(PARTS[1:], dtype=object)[self.half[code]],
            halving=np.array(self.labels, dtype=object)[self.halving[code]],
            fold=np.array(self.fold, dtype=object)[code],
        )


def _sort_by_cell(
    cell: NDArray[Any], values: Sequence[NDArray[Any]], sizes: NDArray[np.int64]
) -> list[NDArray[Any]]:
    """Return the columns with rows sorted by cell, in a stable order."""
    result = [np.empty_like(column) for column in values]
    filled = np.cumsum(sizes) - sizes
    for rows in iter_chunks(len(cell)):
        order = np.argsort(cell[rows], kind="stable")
        count = np.bincount(cell[rows], minlength=len(sizes))
        index = np.repeat(filled - (np.cumsum(count) - count), count) + np.arange(len(order))
        for column, target in zip(values, result, strict=True):
            target[index] = column[rows][order]
        filled += count
    return result


def _count_distinct(score: NDArray[Any]) -> int:
    """Return the number of distinct scores, at most `MAX_DISTINCT`."""
    first = len(np.unique(score[:FIRST_ROWS]))
    return min(first if first >= MAX_DISTINCT else len(np.unique(score)), MAX_DISTINCT)


def hash_path(path: Path) -> str:
    """Return the SHA-256 of a file or, for a folder, of the names and hashes of its files."""
    if path.is_file():
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lines = (f"{hash_path(file)}  {file.relative_to(path).as_posix()}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def build_score_table(raw: RawTable, pos_label: object) -> ScoreTable:
    """Build a score table from raw columns, and check its rows, cases, clusters and weights."""
    columns, where = raw.frame, raw.where
    check_any_row(len(columns))
    frame = pd.DataFrame(
        {
            "model": to_categorical(columns["model"], "model", where),
            "fold": to_categorical(columns["fold"], "fold", where, numeric=True),
            "y_true": check_label_column(columns["y_true"], pos_label, where),
            "y_score": validate_scores(columns["y_score"], "y_score", where),
        },
        copy=False,
    )
    for column in ("case", "cluster"):
        if column in columns:
            frame[column] = to_categorical(columns[column], column, where, numeric=True)
    if "weight" in columns:
        frame["weight"] = check_weight_column(columns["weight"], where)
        check_any_weight(frame["weight"].max())
    table = ScoreTable(frame, raw.source)
    if not table.has_weights:  # with weights, this is checked after cases of weight 0 are left out
        check_cell_classes(table.models, table.folds, table.counts)
    if table.has_cases:
        _check_cases(table, where)
    if table.has_clusters or table.has_weights:
        table = replace(table, frame=check_sampling(frame, where))
        check_cell_classes(table.models, table.folds, table.counts)
    return table


def _check_cases(table: ScoreTable, where: RowName) -> None:
    """Check that no (model, fold, case) repeats and that each case has one label."""
    if _has_repeated_cases(table):
        n_cases = len(table.frame["case"].cat.categories)
        key = table._cell_codes.astype(np.int64) * n_cases + table.codes("case")
        repeated = np.flatnonzero(pd.Series(key).duplicated())
        columns = table.frame[["model", "fold", "case"]].iloc[repeated[:MAX_EXAMPLES]]
        displayed = ", ".join(
            f"({m!r}, {f!r}, {c!r}) at {where(int(r))}"
            for (m, f, c), r in zip(columns.itertuples(index=False), repeated, strict=False)
        )
        raise_duplicates(len(repeated), displayed)
    is_positive, is_negative = _case_labels(table)
    mixed = np.flatnonzero(is_positive & is_negative)
    if len(mixed):
        raise_mixed_labels(len(mixed), table.frame["case"].cat.categories[mixed[:MAX_EXAMPLES]].tolist())


def _has_repeated_cases(table: ScoreTable) -> bool:
    """Return True if a model in a fold has a case twice."""
    (case,), sizes = table._columns_by_cell("case")
    stops = np.cumsum(sizes)
    for start, stop in zip((stops - sizes).tolist(), stops.tolist(), strict=True):
        cases = np.sort(case[start:stop])
        if (cases[1:] == cases[:-1]).any():
            return True
    return False


def _case_labels(table: ScoreTable) -> tuple[Bools, Bools]:
    """Return masks of the cases that are positive, and that are negative, in some row."""
    case, positive = values_or_codes(table.frame["case"]), table.frame["y_true"].to_numpy()
    is_positive, is_negative = np.zeros((2, len(table.frame["case"].cat.categories)), dtype=np.bool_)
    for rows in iter_chunks(len(case)):
        is_positive[case[rows][positive[rows]]] = True
        is_negative[case[rows][~positive[rows]]] = True
    return is_positive, is_negative


class CaseSummary(NamedTuple):
    """Summary of the cases of distributed scores.

    Attributes
    ----------
    shared : ndarray of shape (n_folds, n_folds)
        Number of cases that each two folds share.
    n_cases, n_positive : int
        Number of distinct cases, and of positive ones.
    unpaired : ndarray of shape (n_folds,)
        Number of cases in each fold that lack a model of the fold.
    examples : tuple of (case, fold)
        Some of these cases.
    """

    shared: NDArray[np.int64]
    n_cases: int
    n_positive: int
    unpaired: NDArray[np.int64]
    examples: tuple[tuple[Label, Label], ...]


@dataclass(frozen=True, eq=False)
class StreamedScores:
    """Checked held-out scores of Dask or Spark, as ROC curves, without rows.

    It replaces a :class:`~skewanova.ScoreTable` in :func:`~skewanova.compare` and
    :func:`~skewanova.evaluate`, with the same results.

    Attributes
    ----------
    models, folds : tuple
        As in a score table.
    counts : ndarray of shape (n_models, n_folds, 2)
        Number of negatives and positives.
    packed : dict
        The curve of every (model, fold), models first.
    cases : CaseSummary or None
        Summary of the cases, if rows name them.
    source : Path or None
        The file or folder that was read; None for a frame.
    parts : CasePartitions or None
        Cases of a test set on the workers, if all models and runs have the same cases.
    sampling : SamplingSummary or None
        Summary of clusters and weights, if there are any.
    """

    models: tuple[str, ...]
    folds: tuple[Label, ...]
    counts: NDArray[np.int64]
    packed: dict[tuple[str, Label], CompactCurve]
    cases: CaseSummary | None
    source: Path | None
    parts: CasePartitions | None = None
    sampling: SamplingSummary | None = None

    __repr__ = _describe_scores

    @property
    def has_cases(self) -> bool:
        """True if rows name their cases."""
        return self.cases is not None

    @property
    def has_clusters(self) -> bool:
        """True if cases were drawn in clusters."""
        return self.n_clusters > 0

    @property
    def has_weights(self) -> bool:
        """True if cases represent unequal numbers of the population."""
        return self.weights is not None

    @property
    def n_clusters(self) -> int:
        """Number of clusters, those of dropped folds included; 0 if cases are not clustered."""
        return 0 if self.sampling is None else self.sampling.n_clusters

    @property
    def weights(self) -> WeightRange | None:
        """Range of the weights, those of dropped folds included; None if cases are not weighted."""
        return None if self.sampling is None else self.sampling.weights

    @property
    def shared_clusters(self) -> SharedClusters | None:
        """Clusters in several folds, if there are any."""
        return None if self.sampling is None else self.sampling.shared

    @property
    def effective_counts(self) -> Floats:
        """Effective numbers of negatives and positives by model and fold, shaped as `counts`."""
        sampling = self.sampling
        return self.counts.astype(np.float64) if sampling is None else sampling.sums.effective_number()

    def ties(self) -> Iterator[TieCounts]:
        """Yield the ties among the scores of every (model, fold), models first."""
        for (model, fold), packed in self.packed.items():
            n_best, n_distinct = packed.ties()
            yield TieCounts(model, fold, packed.n_cases, n_best, min(n_distinct, MAX_DISTINCT))

    def curves(self) -> PackedCurves:
        """Return the ROC curve of every (model, fold), models first, without thresholds."""
        return PackedCurves(self.packed)

    def select_folds(self, folds: Collection[Label]) -> StreamedScores:
        """Return the scores with some of the folds."""
        chosen = [i for i, fold in enumerate(self.folds) if fold in folds]
        return self._select(list(range(len(self.models))), chosen)

    def select_models(self, models: Iterable[str]) -> StreamedScores:
        """Return the scores with some of the models; cases without a model still count as unpaired."""
        models = check_subset(models, self.models)
        chosen = [i for i, model in enumerate(self.models) if model in models]
        return self._select(chosen, np.flatnonzero(self.counts[chosen].any(axis=(0, 2))).tolist())

    def _select(self, models: list[int], folds: list[int]) -> StreamedScores:
        names, labels = tuple(self.models[i] for i in models), tuple(self.folds[i] for i in folds)
        cases, sampling, cells = self.cases, self.sampling, np.ix_(models, folds)
        if cases is not None:
            cases = cases._replace(
                shared=cases.shared[np.ix_(folds, folds)],
                unpaired=cases.unpaired[folds],
                examples=tuple(pair for pair in cases.examples if pair[1] in labels),
            )
        if sampling is not None:
            sampling = sampling._replace(sums=UnitSums(*(part[cells] for part in sampling.sums)))
        return replace(
            self,
            models=names,
            folds=labels,
            counts=self.counts[cells],
            packed={(m, f): curve for (m, f), curve in self.packed.items() if m in names and f in labels},
            cases=cases,
            sampling=sampling,
        )

    def count_unpaired(self) -> tuple[int, tuple[tuple[Label, Label], ...]]:
        """Count (fold, case) pairs that lack a model of the fold; return the count and some (case, fold)."""
        cases = self.cases
        return (0, ()) if cases is None else (int(cases.unpaired.sum()), cases.examples[:MAX_EXAMPLES])

    def shared_cases(self) -> tuple[NDArray[np.int64], int]:
        """Return the number of cases that each two folds share, and of all cases, with dropped folds."""
        if self.cases is None:
            raise LookupError("there is no case column")
        return self.cases.shared, self.cases.n_cases

    def class_sizes(self) -> tuple[int, int]:
        """Return the numbers of distinct negative and positive cases, those of dropped folds included."""
        if self.cases is None:
            raise LookupError("there is no case column")
        return self.cases.n_cases - self.cases.n_positive, self.cases.n_positive

    def sha256(self) -> str:
        """Return the fingerprint of the file or folder or, without one, of the curves."""
        if self.source is not None:
            return hash_path(self.source)
        result = hashlib.sha256()
        for cell, curve in self.packed.items():
            result.update(repr((cell, curve.n_positive, curve.n_negative)).encode())
            result.update(curve.tobytes())
        return result.hexdigest()


Scores = ScoreTable | StreamedScores
