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
import scipy
from numpy.typing import NDArray

from skewanova.base.checks import Bools, Floats, check_subset
from skewanova.curves.groups import CompactCurve, GroupCurves, PackedCurves
from skewanova.priors.evidence import UnitSums
from skewanova.scores.columns import HOLDOUT, PARTS, iter_chunks, values_or_codes

#: Most offending cells or rows that a message lists.
MAX_EXAMPLES = 5


Label = str | int


Codes = NDArray[np.intp]


#: Rows whose distinct scores are counted first, and the limit of the count.
FIRST_ROWS, MAX_DISTINCT = 1000, 100


class TieCounts(NamedTuple):
    """Numbers of cases, cases at the best score, and distinct scores (up to 100) of a model in a fold."""

    model: str
    fold: Label
    n_cases: int
    n_best: int
    n_distinct: int


class WeightRange(NamedTuple):
    """Smallest and largest weight, and the weighted prior."""

    low: float
    high: float
    prior: float


class SharedClusters(NamedTuple):
    """Number of clusters in several folds, and the name and number of folds of the cluster in most."""

    n_clusters: int
    name: Any
    n_folds: int


class SamplingSummary(NamedTuple):
    """Summary of the clusters and weights of a table.

    `n_clusters` is 0 if cases are not clustered; `shared` (clusters in several folds) and `weights` may be
    None. `sums` are weights of the clusters or cases, of shape (n_models, n_folds, 2). For distributed scores
    only, `kinds` are numbers of clusters with negatives only, with positives only, and with both; `distinct`
    are distinct weights of the negatives and of the positives, up to a limit.
    """

    n_clusters: int
    shared: SharedClusters | None
    sums: UnitSums
    weights: WeightRange | None
    kinds: tuple[int, ...] = ()
    distinct: tuple[Floats, Floats] = (np.ones(1), np.ones(1))


class CaseSummary(NamedTuple):
    """Summary of the cases of a table.

    `shared` is the number of cases that each two folds share, (n_folds, n_folds); `n_cases` and `n_positive`
    count distinct cases; `unpaired` counts the cases of each fold that lack a model of the fold, and
    `examples` holds some of these as (case, fold).
    """

    shared: NDArray[np.int64]
    n_cases: int
    n_positive: int
    unpaired: NDArray[np.int64]
    examples: tuple[tuple[Label, Label], ...]


class _ScoreSummaries:
    """Cases, clusters and weights, as summarized for tables in memory and for distributed scores."""

    # fields of distributed scores, and computed once for tables in memory
    counts: NDArray[np.int64]
    cases: CaseSummary | None
    sampling: SamplingSummary | None
    # what only tables in memory have
    source: Path | None = None
    halvings: Halvings | None = None
    n_cases: int | None = None

    def __repr__(self) -> str:
        """Return text such as '<ScoreTable: 600 rows, 3 models x 2 folds, of 'scores.csv'>'."""
        n_models, n_folds = self.counts.shape[:2]
        source = "" if self.source is None else f", of {self.source.name!r}"
        rows = f"{self.counts.sum():,} rows, {n_models} models x {n_folds} folds"
        return f"<{type(self).__name__}: {rows}{source}>"

    @property
    def has_cases(self) -> bool:
        """True if rows name their cases."""
        return self.cases is not None

    @property
    def has_clusters(self) -> bool:
        """True if cases belong to clusters (`n_clusters` is above 0)."""
        return self.n_clusters > 0

    @property
    def has_weights(self) -> bool:
        """True if cases have weights (`weights` is not None)."""
        return self.weights is not None

    @property
    def n_clusters(self) -> int:
        """Number of clusters; 0 if cases are not clustered."""
        return 0 if self.sampling is None else self.sampling.n_clusters

    @property
    def weights(self) -> WeightRange | None:
        """Smallest and largest weight, and the weighted prior; None if cases are not weighted."""
        return None if self.sampling is None else self.sampling.weights

    @property
    def shared_clusters(self) -> SharedClusters | None:
        """Number of clusters in several folds, and name and number of folds of one in most; None for none."""
        return None if self.sampling is None else self.sampling.shared

    @property
    def effective_counts(self) -> Floats:
        """Effective numbers (Kish) of negatives and positives (clusters if any), (n_models, n_folds, 2)."""
        if self.sampling is None:
            return self.counts.astype(np.float64)
        return self.sampling.sums.effective_number()

    def count_unpaired(self) -> tuple[int, tuple[tuple[Label, Label], ...]]:
        """Return number of (case, fold) that lack a model of the fold, and the first 5; 0, () if unnamed."""
        cases = self.cases
        return (0, ()) if cases is None else (int(cases.unpaired.sum()), cases.examples[:MAX_EXAMPLES])

    def shared_cases(self) -> tuple[NDArray[np.int64], int]:
        """Return numbers of cases shared by two folds, (n_folds, n_folds), and of all; raise if unnamed."""
        cases = self._named_cases()
        return cases.shared, cases.n_cases

    def _named_cases(self) -> CaseSummary:
        """Return `cases`; raise LookupError if rows do not name their cases."""
        if self.cases is None:
            raise LookupError("the table has no column case, which names the case of each row; add it")
        return self.cases


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTable(_ScoreSummaries):
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

    @property
    def models(self) -> tuple[str, ...]:
        """Model names in order of first appearance."""
        return tuple(self.frame["model"].cat.categories)

    @property
    def folds(self) -> tuple[Label, ...]:
        """Fold labels: whole numbers in ascending order, else text in order of first appearance."""
        return tuple(self.frame["fold"].cat.categories.tolist())

    @cached_property
    def counts(self) -> NDArray[np.int64]:  # type: ignore[override]
        """Number of negatives and positives, 0 without rows, of shape (n_models, n_folds, 2)."""
        shape = (len(self.models), len(self.folds), 2)
        counts = np.zeros(shape, dtype=np.int64).reshape(-1)
        cell, positive = self._cell_codes, self.frame["y_true"].to_numpy()
        for rows in iter_chunks(len(cell)):
            counts += np.bincount(2 * cell[rows].astype(np.intp) + positive[rows], minlength=len(counts))
        return counts.reshape(shape)

    @cached_property
    def sampling(self) -> SamplingSummary | None:  # type: ignore[override]
        """Summary of clusters and weights; None without them."""
        frame = self.frame
        has_clusters, has_weights = "cluster" in frame, "weight" in frame
        if not (has_clusters or has_weights):
            return None
        weights = None
        if has_weights:
            prior = float(np.average(frame["y_true"], weights=frame["weight"]))
            weights = WeightRange(frame["weight"].min(), frame["weight"].max(), prior)
        n_clusters = frame["cluster"].nunique() if has_clusters else 0
        shared = shared_clusters(frame) if has_clusters else None
        return SamplingSummary(n_clusters, shared, self.sum_units(), weights)

    def sum_units(self) -> UnitSums:
        """Return sums of weights of clusters, or else cases, (n_models, n_folds, 2: negative, positive)."""
        kind = 2 * self._cell_codes.astype(np.intp) + self.frame["y_true"].to_numpy()
        unit = self.codes("cluster") if "cluster" in self.frame else np.arange(len(kind))
        weight = self.frame["weight"].to_numpy() if "weight" in self.frame else None
        return UnitSums.from_cases(kind, unit, weight, self.counts.size).reshape(*self.counts.shape)

    def groups(self) -> Iterator[tuple[str, Label, Bools, NDArray[Any]]]:
        """Yield model, fold, mask of positives, scores of every (model, fold) with rows, model by model."""
        (positive, score), sizes = self._columns_by_cell("y_true", "y_score")
        stops = np.cumsum(sizes)
        for (model, fold), start, stop in zip(self.cells, stops - sizes, stops, strict=True):
            yield model, fold, positive[start:stop], score[start:stop]

    @cached_property
    def cells(self) -> list[tuple[str, Label]]:
        """Every (model, fold) with rows, model by model."""
        models, folds = self.models, self.folds
        present = np.argwhere(self.counts.sum(axis=2) > 0)
        return [(models[m], folds[f]) for m, f in present.tolist()]

    def _columns_by_cell(self, *columns: str) -> tuple[list[NDArray[Any]], Codes]:
        """Return columns (categories as codes) sorted by (model, fold), and the number of rows by `cells`."""
        sizes = self.counts.sum(axis=2).ravel()
        cell = self._cell_codes
        values = [values_or_codes(self.frame[column]) for column in columns]
        if (cell[1:] < cell[:-1]).any():
            values = _sort_by_code(cell, sizes, values)
        return values, sizes[sizes > 0]

    def ties(self) -> Iterator[TieCounts]:
        """Yield the ties among the scores of every (model, fold), model by model."""
        for model, fold, _, score in self.groups():
            n_best = int(np.count_nonzero(score == score.max()))
            n_distinct = len(np.unique(score[:FIRST_ROWS]))
            if n_distinct < MAX_DISTINCT:
                n_distinct = len(np.unique(score))
            yield TieCounts(model, fold, len(score), n_best, min(n_distinct, MAX_DISTINCT))

    def curves(self) -> GroupCurves:
        """Return the ROC curve, weighted if the cases are, of every (model, fold), model by model."""
        names = ["y_true", "y_score", *(["weight"] if "weight" in self.frame else [])]
        columns, sizes = self._columns_by_cell(*names)
        return GroupCurves(self.cells, *columns, sizes=sizes)

    def select_folds(self, folds: Collection[Label]) -> ScoreTable:
        """Return the table with these folds only, in its own order; skip unknown ones, leave halvings."""
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

    @cached_property
    def cases(self) -> CaseSummary | None:  # type: ignore[override]
        """Summary of the cases, those of dropped folds included; None if rows do not name them."""
        has_cases = "case" in self.frame
        return self.summarize_cases((self.counts.sum(axis=2) > 0).sum(axis=0)) if has_cases else None

    def summarize_cases(self, n_models: NDArray[np.intp]) -> CaseSummary:
        """Return the summary of named cases; one of fold j is unpaired unless `n_models[j]` score it."""
        (case,), sizes = self._columns_by_cell("case")
        groups: dict[Label, list[NDArray[Any]]] = {fold: [case[:0]] for fold in self.folds}
        for (_, fold), cases in zip(self.cells, np.split(case, np.cumsum(sizes))[:-1], strict=True):
            groups[fold].append(cases)
        members, unpaired, examples = [], [], []
        names = self.frame["case"].cat.categories
        for (fold, parts), expected in zip(groups.items(), n_models, strict=True):
            cases, n_rows = np.unique(np.concatenate(parts), return_counts=True)
            odd = cases[n_rows != expected]
            members.append(cases.astype(np.int32))
            unpaired.append(len(odd))
            examples += [(name, fold) for name in names[odd[:MAX_EXAMPLES]]]
        stops = np.cumsum([0, *map(len, members)])
        content = np.ones(stops[-1], dtype=np.int64), np.concatenate(members), stops
        member = scipy.sparse.csr_array(content, shape=(len(members), len(names)))
        return CaseSummary(
            shared=(member @ member.T).toarray(),
            n_cases=len(names),
            n_positive=self.class_sizes()[1],
            unpaired=np.array(unpaired),
            examples=tuple(examples),
        )

    def class_sizes(self) -> tuple[int, int]:
        """Return the numbers of distinct negative and positive cases; raise LookupError without names."""
        is_positive, is_negative = case_labels(self)
        return int(np.count_nonzero(is_negative)), int(np.count_nonzero(is_positive))

    def to_frame(self) -> pd.DataFrame:
        """Return a copy of the rows; with halvings, hold-outs, then halves, and columns part and halving."""
        if self.halvings is None:
            return self.frame.copy()
        plain = {"model": object, "fold": object, "case": object}
        holdouts = self.frame.astype(plain).assign(part=HOLDOUT, halving=None)
        frame = pd.concat([holdouts, self.halvings.to_frame().astype(plain)], ignore_index=True)
        keys = ["model", "part", "halving", "fold", "case"]
        return frame[[*keys, *(column for column in frame if column not in keys)]]

    def sha256(self) -> str:
        """Return the hexadecimal SHA-256 of the source if it still exists, else of the table as CSV."""
        if self.source is not None and self.source.exists():
            return hash_path(self.source)
        text = self.to_frame().astype({"model": str, "fold": str}).to_csv(index=False)
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def _cell_codes(self) -> NDArray[Any]:
        """Index ``model * n_folds + fold`` of every row's (model, fold), in the smallest type."""
        model, fold = (values_or_codes(self.frame[key]) for key in ("model", "fold"))
        small = np.min_scalar_type(len(self.models) * len(self.folds))
        return np.asarray(model.astype(small) * small.type(len(self.folds)) + fold.astype(small))

    def codes(self, column: str) -> Codes:
        """Return the codes of a categorical column, one per row."""
        return level_codes(self.frame, column)


def _sort_by_code(code: Codes, sizes: Codes, columns: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
    """Return the columns sorted stably by code, of which there are `sizes`; no index of all rows is made."""
    result, first = [np.empty_like(column) for column in columns], np.cumsum(sizes) - sizes
    for rows in iter_chunks(len(code)):
        order = np.argsort(code[rows], kind="stable")
        count = np.bincount(code[rows], minlength=len(sizes))
        position = np.repeat(first - np.cumsum(count) + count, count) + np.arange(len(order))
        for target, column in zip(result, columns, strict=True):
            target[position] = column[rows][order]
        first += count
    return result


def case_labels(table: ScoreTable) -> tuple[Bools, Bools]:
    """Return two masks by code of case: those positive in some row, and those negative in some row."""
    case, positive = values_or_codes(table.frame["case"]), table.frame["y_true"].to_numpy()
    is_positive, is_negative = np.zeros((2, len(table.frame["case"].cat.categories)), dtype=np.bool_)
    is_positive[case[positive]] = is_negative[case[~positive]] = True
    return is_positive, is_negative


def level_codes(frame: pd.DataFrame, column: str) -> Codes:
    """Return the codes of a categorical column, one per row, as intp."""
    return np.asarray(frame[column].cat.codes.to_numpy(), dtype=np.intp)


def shared_clusters(frame: pd.DataFrame) -> SharedClusters | None:
    """Return number of clusters in several folds, name and number of folds of one in most; None for none."""
    n_folds = frame[["fold", "cluster"]].drop_duplicates()["cluster"].value_counts()
    several = int((n_folds > 1).sum())
    return SharedClusters(several, n_folds.index.tolist()[0], int(n_folds.iloc[0])) if several else None


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
        """Smallest number of folds in a half of any halving."""
        return int(self._sizes.min())

    @property
    def _sizes(self) -> NDArray[np.intp]:
        """Number of folds in every half, of shape (n_halvings, 2)."""
        return np.bincount(2 * self.halving + self.half, minlength=2 * self.n_halvings).reshape(-1, 2)

    @cached_property
    def curves(self) -> GroupCurves:
        """ROC curve of every model in every fold of every half, model by model, folds as in `scores`."""
        return self.scores.curves()

    def half_differences(self, areas: Floats) -> Floats:
        """Return half of (mean area in half 0 - mean area in half 1), (n_halvings, n_models, ...).

        The first axis of `areas` is that of `curves`; means are over the folds of a half.
        """
        share = np.zeros((self.n_halvings, len(self.half)))
        sign, size = 1 - 2 * self.half, self._sizes[self.halving, self.half]
        share[self.halving, np.arange(len(self.half))] = sign / (2 * size)
        cells = areas.reshape(len(self.scores.models), len(self.half), *areas.shape[1:])
        return np.asarray(np.einsum("hf,mf...->hm...", share, cells))

    def to_frame(self) -> pd.DataFrame:
        """Return the rows of all halves, with columns part (half_a, half_b), halving and fold in the half."""
        code = self.scores.codes("fold")
        return self.scores.frame.assign(
            part=np.array(PARTS[1:], dtype=object)[self.half[code]],
            halving=np.array(self.labels, dtype=object)[self.halving[code]],
            fold=np.array(self.fold, dtype=object)[code],
        )


def hash_path(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file or, for a folder, of the names and hashes of its files."""
    if path.is_file():
        with path.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    files = sorted(file for file in path.rglob("*") if file.is_file())
    lines = (f"{hash_path(file)}  {file.relative_to(path).as_posix()}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@dataclass(frozen=True, eq=False, repr=False)
class StreamedScores(_ScoreSummaries):
    """Checked held-out scores of Dask or Spark, as ROC curves, without rows.

    It replaces a :class:`~skewanova.ScoreTable` in :func:`~skewanova.compare` and
    :func:`~skewanova.evaluate`, with the same results.

    Attributes
    ----------
    models, folds : tuple
        As in a score table, but text in alphabetical order.
    counts : ndarray of shape (n_models, n_folds, 2)
        Number of negatives and positives.
    packed : dict
        The curve of every (model, fold), model by model.
    cases, sampling : CaseSummary, SamplingSummary or None
        Summaries of the cases, if rows name them, and of clusters and weights, if there are any.
    parts : PersistedCases or None
        Cases of a test set on the workers, if all models and runs have the same cases.
    """

    models: tuple[str, ...]
    folds: tuple[Label, ...]
    counts: NDArray[np.int64]
    packed: dict[tuple[str, Label], CompactCurve]
    cases: CaseSummary | None = None
    parts: Any = None
    sampling: SamplingSummary | None = None

    def ties(self) -> Iterator[TieCounts]:
        """Yield the ties among the scores of every (model, fold), model by model."""
        for (model, fold), packed in self.packed.items():
            n_best, n_distinct = packed.ties()
            yield TieCounts(model, fold, packed.n_cases, n_best, min(n_distinct, MAX_DISTINCT))

    def curves(self) -> PackedCurves:
        """Return the ROC curve of every (model, fold), model by model, without thresholds."""
        return PackedCurves(self.packed)

    def select_folds(self, folds: Collection[Label]) -> StreamedScores:
        """Return the scores of these folds only, in their order here; ignore unknown folds."""
        chosen = [i for i, fold in enumerate(self.folds) if fold in folds]
        return self._select(list(range(len(self.models))), chosen)

    def select_models(self, models: Iterable[str]) -> StreamedScores:
        """Return the scores of these models, in own order, without folds none has; unpaired cases stay."""
        models = check_subset(models, self.models)
        chosen = [i for i, model in enumerate(self.models) if model in models]
        return self._select(chosen, np.flatnonzero(self.counts[chosen].any(axis=(0, 2))).tolist())

    def _select(self, models: list[int], folds: list[int]) -> StreamedScores:
        """Return the scores of models and folds at these positions; numbers of cases and clusters stay."""
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

    def class_sizes(self) -> tuple[int, int]:
        """Return numbers of distinct negative and positive cases, of dropped folds too; raise if unnamed."""
        cases = self._named_cases()
        return cases.n_cases - cases.n_positive, cases.n_positive

    def sha256(self) -> str:
        """Return the hexadecimal SHA-256 of the curves."""
        result = hashlib.sha256()
        for cell, curve in self.packed.items():
            result.update(repr((cell, curve.n_positive, curve.n_negative)).encode())
            result.update(curve.tobytes())
        return result.hexdigest()


Scores = ScoreTable | StreamedScores
