"""Cases where an engine has them: what they tell of folds and clusters, and their places on the curves.

All rows of some cases are looked at together, and all rows of some clusters: whether the models of a fold
have the same cases, which folds share them, whether each has one label, cluster and weight. Those of one test
set, or of several runs on it, stay with the engine, each by its places on the curves of the models.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from skewanova.base.checks import Bools, Floats, InputError, row_number
from skewanova.curves.sorting import PlacedCases, slots_among
from skewanova.distributed.backends import Backend, Buckets, Persisted
from skewanova.distributed.packing import (
    Group,
    Groups,
    Refused,
    Weights,
    accepted,
    group_of,
    read_labels,
    refusing,
)
from skewanova.priors.evidence import UnitSums
from skewanova.scores.columns import SAMPLING_COLUMNS
from skewanova.scores.table import CaseSummary
from skewanova.scores.validation import (
    INTEGER_TEXT,
    MAX_EXAMPLES,
    Label,
    SamplingSummary,
    SharedClusters,
    WeightRange,
    check_any_weight,
    check_same_for_case,
    check_several_clusters,
    check_whole_clusters,
    raise_duplicates,
    raise_mixed_labels,
    shared_clusters,
    to_categorical,
    validate_scores,
    with_fold,
)

Found = TypeVar("Found")


#: About how many rows of cases are looked at together.
BUCKET_ROWS = 1 << 20


#: Of so many offending cases at most the first are told; of more, the first of some.
MAX_OFFENDERS = 100_000


@dataclass(eq=False)
class CaseFacts:
    """Counts and examples of the cases that break a rule, of cases and of cases that folds share.

    Attributes
    ----------
    shared : ndarray of shape (n_folds, n_folds)
        Number of cases that two folds share.
    n_cases, n_positive : int
        Number of cases in all, and of the positive class.
    repeated, mixed : int
        Rows that repeat a (model, fold, case), and cases that have both labels.
    unpaired : ndarray of shape (n_folds,)
        Number of cases in each fold that lack a model.
    repeated_keys, mixed_keys, unpaired_keys
        As many of them as are kept: (cell, key), key, keys by fold; of an engine names stand for keys.
    """

    shared: NDArray[np.int64]
    unpaired: NDArray[np.int64]
    n_cases: int = 0
    n_positive: int = 0
    repeated: int = 0
    mixed: int = 0
    repeated_keys: list[tuple[Any, ...]] = field(default_factory=list)
    mixed_keys: list[Any] = field(default_factory=list)
    unpaired_keys: dict[int, list[Any]] = field(default_factory=dict)

    @classmethod
    def none(cls, n_folds: int) -> CaseFacts:
        """Facts of no rows."""
        return cls(np.zeros((n_folds, n_folds), dtype=np.int64), np.zeros(n_folds, dtype=np.int64))


def add_bucket(
    facts: CaseFacts, n_models: NDArray[np.intp], fold: NDArray[Any], *, key: NDArray[Any], positive: Bools
) -> None:
    """Add to the facts those of all rows of some cases; `n_models` have each fold."""
    n_folds = len(n_models)
    keys, case = np.unique(key, return_inverse=True)
    pair, seen = np.unique(case * n_folds + fold, return_counts=True)
    case_of, fold_of = np.divmod(pair, n_folds)
    member: Any = sparse.csr_array((np.ones_like(pair), (case_of, fold_of)), shape=(len(keys), n_folds))
    facts.shared += (member.T @ member).toarray()
    facts.n_cases += len(keys)
    of_case = np.bincount(case, weights=positive, minlength=len(keys))
    facts.n_positive += int(np.count_nonzero(of_case))
    mixed = np.flatnonzero((of_case > 0) & (of_case < np.bincount(case, minlength=len(keys))))
    facts.mixed += len(mixed)
    facts.mixed_keys = sorted([*facts.mixed_keys, *keys[mixed[:MAX_OFFENDERS]].tolist()])[:MAX_OFFENDERS]
    odd = np.flatnonzero(seen != n_models[fold_of])
    facts.unpaired += np.bincount(fold_of[odd], minlength=n_folds)
    room = max(MAX_EXAMPLES, MAX_OFFENDERS // n_folds)
    for index in np.unique(fold_of[odd]).tolist():
        lacking = keys[case_of[odd[fold_of[odd] == index]]][:room]
        facts.unpaired_keys[index] = sorted([*facts.unpaired_keys.get(index, ()), *lacking.tolist()])[:room]


class Known(NamedTuple):
    """What cases, clusters and weights tell, and the cases of a test set, where there are any."""

    cases: CaseSummary | None
    sampling: SamplingSummary | None
    parts: PartsKept | None


@dataclass(frozen=True, eq=False)
class PartsKept:
    """Cases of one test set that an engine keeps."""

    cells: tuple[tuple[str, Label], ...]
    kept: Persisted

    def map(self, function: Callable[[PlacedCases], Any]) -> list[Any]:
        """What the function makes of each part that has cases."""
        return [item for item in self.kept.map(_OfPlaced(function)) if item is not None]


@dataclass(frozen=True, eq=False)
class _OfPlaced:
    function: Callable[[PlacedCases], Any]

    def __call__(self, found: _Found) -> Any:
        if found.placed is None:
            raise InputError("the models of one test set must be scored on the same cases")
        return self.function(found.placed) if len(found.placed.positive) else None


def look_at_cases(engine: Backend, columns: Mapping[str, str], groups: Groups, pos_label: object) -> Known:
    """What the cases of all groups together tell; those of one test set stay with the engine."""
    counts = groups.counts()
    look = _Rows(
        models=groups.models,
        folds=groups.folds,
        n_models=(counts.sum(axis=2) > 0).sum(axis=0),
        whole=all(item.whole for item in groups.packed),
        labels=groups.packed[0].labels,
        pos_label=pos_label,
    )
    n_buckets = int(counts.sum()) // BUCKET_ROWS + 1
    request = _Asked(engine, columns, n_buckets)
    summary, sampled = None, any(column in columns for column in SAMPLING_COLUMNS)
    if "case" in columns and (len(groups.folds) > 1 or sampled):
        summary = _summary(request.each("case", _CaseCheck(look)), groups.folds)
    sampling = _sampling(request, groups, look) if sampled else None
    if "case" not in columns:
        return Known(None, sampling, None)
    if summary is not None and (summary.unpaired.any() or not (summary.shared == summary.n_cases).all()):
        return Known(summary, sampling, None)
    levels = {(item.model, item.fold): item.levels for item in groups.packed if item.levels is not None}
    if not levels:
        needed = {column: name for column, name in columns.items() if column not in {"case", "cluster"}}
        levels = dict(engine.map_groups(needed, _LevelsOf(look)))
    cells = tuple(groups.in_order())
    place_cases = _Placed(look, cells, tuple(levels[model, str(fold)] for model, fold in cells))
    buckets = engine.persist_buckets(
        columns, place_cases, Buckets(n_buckets, "cluster" if "cluster" in columns else "case")
    )
    if summary is None:
        summary = _summary(buckets.map(_facts), groups.folds)
    return Known(summary, sampling, PartsKept(cells, buckets))


class _Asked(NamedTuple):
    """An engine and the columns of its table."""

    engine: Backend
    columns: Mapping[str, str]
    n_buckets: int

    def each(self, column: str, function: Callable[[pd.DataFrame], Any]) -> list[Any]:
        """What the function makes of all rows of some of the names in a column, scores aside."""
        needed = {own: name for own, name in self.columns.items() if own != "y_score"}
        return self.engine.map_buckets(needed, function, Buckets(self.n_buckets, column))


@dataclass(frozen=True, eq=False)
class _Rows:
    """Reads rows by what is known of all groups."""

    models: tuple[str, ...]
    folds: tuple[Label, ...]
    n_models: NDArray[np.intp]
    whole: bool
    labels: tuple[str, str]
    pos_label: object

    def fold(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """Position of every row's fold, whole numbers by their plain spelling, as groups tell them."""
        codes, result = pd.factorize(with_fold(frame)["fold"])
        index = {str(fold): i for i, fold in enumerate(self.folds)}
        texts = [str(value) for value in result]
        plain = [text.removesuffix(".0") if INTEGER_TEXT.fullmatch(text) else text for text in texts]
        return np.array([index[text] for text in plain], dtype=np.intp)[codes]

    def model(self, frame: pd.DataFrame) -> NDArray[np.intp]:
        """Position of every row's model."""
        codes, result = pd.factorize(frame["model"])
        index = {model: i for i, model in enumerate(self.models)}
        return np.array([index[str(value)] for value in result], dtype=np.intp)[codes]

    def positive(self, frame: pd.DataFrame) -> Bools:
        """Labels as all groups together read them."""
        return read_labels(frame["y_true"], self.labels, self.pos_label)

    def case(self, frame: pd.DataFrame) -> pd.Categorical[Any]:
        """Cases as all groups together read them."""
        return to_categorical(frame["case"], "case", row_number, whole=self.whole)

    def table(self, frame: pd.DataFrame) -> pd.DataFrame:
        """What rules about clusters and weights look at."""
        codes = {"model": (self.model(frame), self.models), "fold": (self.fold(frame), self.folds)}
        rows = pd.DataFrame(
            {
                key: pd.Categorical.from_codes(at, dtype=pd.CategoricalDtype([*levels]))
                for key, (at, levels) in codes.items()
            }
        )
        if "case" in frame:
            rows["case"] = self.case(frame)
        if "cluster" in frame:
            rows["cluster"] = to_categorical(frame["cluster"], "cluster", row_number, whole=True)
        if "weight" in frame:
            rows["weight"] = frame["weight"].to_numpy(dtype=np.float64)
        if "y_true" in frame:
            rows["y_true"] = self.positive(frame)
        return rows

    def check_same(self, rows: pd.DataFrame) -> None:
        """One cluster and one weight a case, in every model and fold."""
        in_order(partial(_check_same, n_models=self.n_models), rows)


def _check_same(rows: pd.DataFrame, *, n_models: NDArray[np.intp]) -> None:
    """One cluster and one weight a case; rows have no number where they are."""
    fold = rows["fold"]
    check_same_for_case(
        rows, lambda row: f"a row of fold {fold.iloc[[row]].tolist()[0]!r}", n_models=n_models
    )


def in_order(look: Callable[[pd.DataFrame], Found], rows: pd.DataFrame) -> Found:
    """What a look at the rows finds; what it refuses is told of rows in an order that no engine tells."""
    try:
        return look(rows)
    except InputError:
        return look(rows.sort_values(rows.columns.tolist(), ignore_index=True))


@dataclass(frozen=True, eq=False)
class _Check:
    """A check on the workers, which returns what is wrong instead of raising it."""

    look: _Rows

    def __call__(self, frame: pd.DataFrame) -> Any:
        """Check the rows."""
        return refusing(lambda: self.check(frame))

    @abstractmethod
    def check(self, frame: pd.DataFrame) -> Any:
        """Check the rows, or raise."""


class _CaseCheck(_Check):
    """A check of all rows of some of the cases."""

    def check(self, frame: pd.DataFrame) -> CaseFacts:
        """Return the facts of the rows, cases by their names."""
        facts = self.facts(frame)
        if any(column in frame for column in SAMPLING_COLUMNS):
            self.look.check_same(self.look.table(frame))
        if "weight" not in frame or (held := frame["weight"].to_numpy(dtype=np.float64) > 0).all():
            return facts
        weighted = self.facts(frame[held].reset_index(drop=True))
        every = {name: getattr(facts, name) for name in ("mixed", "mixed_keys", "repeated", "repeated_keys")}
        return replace(weighted, **every)

    def facts(self, frame: pd.DataFrame) -> CaseFacts:
        """Which folds share cases, which models lack some, and which cases break a rule."""
        facts = CaseFacts.none(len(self.look.folds))
        if not len(frame):
            return facts
        case = self.look.case(frame)
        names = case.categories.tolist()
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.argsort(order)
        fold, positive = self.look.fold(frame), self.look.positive(frame)
        add_bucket(facts, self.look.n_models, fold, key=rank[case.codes], positive=positive)
        named = [names[i] for i in order]
        unpaired = {at: [named[k] for k in keys[:MAX_EXAMPLES]] for at, keys in facts.unpaired_keys.items()}
        rows = pd.DataFrame(
            {"model": frame["model"].astype(str).to_numpy(), "fold": fold, "case": case.codes}
        )
        again, folds = rows[rows.duplicated()], self.look.folds
        repeated = [(m, folds[f], names[c]) for m, f, c in again.head(MAX_EXAMPLES).itertuples(index=False)]
        return replace(
            facts,
            mixed_keys=[named[k] for k in facts.mixed_keys[:MAX_EXAMPLES]],
            unpaired_keys=unpaired,
            repeated=len(again),
            repeated_keys=repeated,
        )


def _summary(parts: Sequence[CaseFacts | Refused], folds: Sequence[Label]) -> CaseSummary:
    """What all buckets together tell."""
    known: list[CaseFacts] = accepted(parts)
    if repeated := sum(part.repeated for part in known):  # groups that came back whole have none
        displayed = sorted(name for part in known for name in part.repeated_keys)[:MAX_EXAMPLES]
        raise_duplicates(repeated, ", ".join(map(str, displayed)))
    if mixed := sum(part.mixed for part in known):
        raise_mixed_labels(mixed, sorted(name for part in known for name in part.mixed_keys)[:MAX_EXAMPLES])
    examples = [
        (name, fold)
        for at, fold in enumerate(folds)
        for name in sorted(name for part in known for name in part.unpaired_keys.get(at, ()))[:MAX_EXAMPLES]
    ]
    return CaseSummary(
        shared=np.sum([part.shared for part in known], axis=0),
        n_cases=sum(part.n_cases for part in known),
        n_positive=sum(part.n_positive for part in known),
        unpaired=np.sum([part.unpaired for part in known], axis=0),
        examples=tuple(examples),
    )


# --- clusters and weights ----------------------------------------------------------------------------------


class _Clusters(NamedTuple):
    """What some of the clusters tell; `cut` is what is wrong with one that a fold cuts in two."""

    cut: Refused | None
    n_clusters: int
    name: Label | None
    shared: SharedClusters | None
    kinds: NDArray[np.intp]
    held: UnitSums


class _ClusterCheck(_Check):
    """A check of all rows of some of the clusters."""

    def check(self, frame: pd.DataFrame) -> _Clusters:
        """Count the clusters, and check that no fold cuts one."""
        rows = self.look.table(frame)
        if "case" not in rows:
            self.look.check_same(rows.drop(columns="weight", errors="ignore"))
        if "weight" in rows:
            rows = rows[rows["weight"] > 0].reset_index(drop=True)
            rows["cluster"] = rows["cluster"].cat.remove_unused_categories()
        names = rows["cluster"].cat.categories.tolist()
        cut: Refused | None = refusing(lambda: in_order(check_whole_clusters, rows)) if names else None
        model, fold, cluster = (
            rows[key].cat.codes.to_numpy().astype(np.intp) for key in ("model", "fold", "cluster")
        )
        positive = rows["y_true"].to_numpy().astype(np.intp)
        weight = rows["weight"].to_numpy() if "weight" in rows else None
        shape = len(self.look.models), len(self.look.folds), 2
        held = UnitSums.of((model * shape[1] + fold) * 2 + positive, cluster, weight, int(np.prod(shape)))
        classes = np.zeros((len(names), 2), dtype=bool)
        classes[cluster, positive] = True
        kinds = np.bincount(classes @ [1, 2], minlength=4)[1:]
        shared = shared_clusters(rows)
        if shared is not None:
            shared = shared_clusters(rows.sort_values(["cluster", "fold"]))
        return _Clusters(cut, len(names), next(iter(names), None), shared, kinds, held.reshape(*shape))


class _WeightCheck(_Check):
    """A check of all rows of some of the weights: without cases, every model has as many in a fold."""

    def check(self, frame: pd.DataFrame) -> None:
        """Check that a case weighs the same in all models."""
        self.look.check_same(self.look.table(frame).drop(columns="cluster", errors="ignore"))


def _sampling(asked: _Asked, groups: Groups, look: _Rows) -> SamplingSummary:
    """What clusters and weights tell."""
    columns, shape = asked.columns, groups.counts().shape
    known = groups.weights()
    if "weight" in columns:
        check_any_weight(max((item.high for item in known.values()), default=0.0))
        if "case" not in columns and len(groups.folds) > 1:
            accepted(asked.each("weight", _WeightCheck(look)))
    result, distinct = _range(known)
    if "cluster" in columns:
        parts: list[_Clusters] = accepted(asked.each("cluster", _ClusterCheck(look)))
        n_clusters = sum(part.n_clusters for part in parts)
        check_several_clusters(n_clusters, next((part.name for part in parts if part.n_clusters), None))
        accepted([part.cut for part in parts])
        negatives, positives, both = np.sum([part.kinds for part in parts], axis=0).tolist()
        held = UnitSums.joined([part.held for part in parts])
        shared = _most_shared([part.shared for part in parts if part.shared is not None])
        return SamplingSummary(n_clusters, shared, (negatives, positives, both), held, result, distinct)
    held = UnitSums(*np.zeros((3, *shape)))
    for (model, fold), item in known.items():
        for part, own in zip(held, item.held, strict=True):
            part[model, fold] = own
    return SamplingSummary(0, None, (0, 0, 0), held, result, distinct)


def _range(known: Mapping[tuple[int, int], Weights]) -> tuple[WeightRange | None, tuple[Floats, Floats]]:
    """Range of all weights, and the different ones; of cases that weigh alike, none and 1."""
    if not known:
        return None, (np.ones(1), np.ones(1))
    every = Weights.joined(list(known.values()))
    return WeightRange(every.low, every.high, float(every.total[1] / every.total.sum())), every.distinct


def _most_shared(found: Sequence[SharedClusters]) -> SharedClusters | None:
    """Clusters in several folds, of all buckets."""
    if not found:
        return None
    worst = max(found, key=lambda one: (one.n_folds, str(one.name)))
    return worst._replace(n_clusters=sum(one.n_clusters for one in found))


# --- places on the curves ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _LevelsOf:
    """Finds the different scores of a model's positives, in ascending order."""

    look: _Rows

    def __call__(self, frame: pd.DataFrame) -> tuple[Group, NDArray[Any]]:
        """Model and fold, and the scores."""
        score, positive = validate_scores(frame["y_score"], "y_score", row_number), self.look.positive(frame)
        if "weight" in frame:
            positive &= frame["weight"].to_numpy(dtype=np.float64) > 0
        return group_of(with_fold(frame)), np.unique(score[positive])


class _Found(NamedTuple):
    """What a bucket of one test set keeps: facts, and its cases, placed if all models have the same ones."""

    facts: CaseFacts | Refused
    placed: PlacedCases | None


def _facts(found: _Found) -> CaseFacts | Refused:
    return found.facts


@dataclass(frozen=True, eq=False)
class _Placed:
    """Looks at all rows of some of the cases of one test set, and finds their places on the curves.

    The scores of the positives of each model in each run, in ascending order, tell these.
    """

    look: _Rows
    cells: tuple[tuple[str, Label], ...]
    levels: tuple[NDArray[Any], ...]

    def __call__(self, frame: pd.DataFrame) -> _Found:
        """Facts and places."""
        return _Found(_CaseCheck(self.look)(frame), self._placed(frame))

    def _placed(self, frame: pd.DataFrame) -> PlacedCases | None:
        if "weight" in frame:
            frame = frame[frame["weight"].to_numpy(dtype=np.float64) > 0].reset_index(drop=True)
        small = np.min_scalar_type(2 * max(map(len, self.levels)) + 1)
        if not len(frame):
            return PlacedCases(np.empty(0, dtype=bool), np.empty((len(self.cells), 0), dtype=small))
        fold, model = self.look.fold(frame), self.look.model(frame)
        case = self.look.case(frame).codes
        score = validate_scores(frame["y_score"], "y_score", row_number)
        places = [(self.look.models.index(name), self.look.folds.index(label)) for name, label in self.cells]
        rows = [np.flatnonzero((model == name) & (fold == at)) for name, at in places]
        rows = [at[np.argsort(case[at])] for at in rows]
        if any(not np.array_equal(case[at], case[rows[0]]) for at in rows):
            return None
        slot = [slots_among(levels, score[at]) for levels, at in zip(self.levels, rows, strict=True)]
        cluster = weight = None
        if "cluster" in frame:
            names = to_categorical(frame["cluster"], "cluster", row_number, whole=True).codes[rows[0]]
            cluster = np.unique(names, return_inverse=True)[1].reshape(-1)
        if "weight" in frame:
            weight = frame["weight"].to_numpy(dtype=np.float64)[rows[0]]
        positive = self.look.positive(frame)[rows[0]]
        return PlacedCases(positive, np.array(slot, dtype=small), cluster, weight)
