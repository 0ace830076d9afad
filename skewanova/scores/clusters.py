"""Clusters and weights of cases: one of each a case, and no cluster cut in two by a fold.

Cases of one cluster, such as a patient, are alike: what is left out, drawn or held out is a cluster. A weight
says how many cases of the population a case stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import Floats, InputError, Where, check_real, check_weights
from skewanova.priors.evidence import UnitSums
from skewanova.scores.columns import SAMPLING_COLUMNS

#: Who cannot honour them says so.
SAMPLED_IN_MEMORY = (
    "one group of a table with the column {column!r} cannot be measured by itself, since clusters are left "
    "out together and curves are weighted: use evaluate() on the whole table, or leave out the column"
)


#: Said of rows that nothing names.
NO_NAMES = "; rows were matched by their order: name cases in a column case"


Codes = NDArray[np.intp]


class WeightRange(NamedTuple):
    """The smallest and the largest weight, and the share of the positives in all."""

    low: float
    high: float
    prior: float


class SharedClusters(NamedTuple):
    """How many clusters are in several folds; the one in most, by name, and in how many."""

    n_clusters: int
    name: Any
    n_folds: int


@dataclass(frozen=True, eq=False)
class SamplingSummary:
    """What clusters and weights tell of a table whose rows are elsewhere.

    Attributes
    ----------
    n_clusters : int
        Number of clusters; 0 where there are none.
    shared : SharedClusters or None
        Those in several folds, if any.
    kinds : (int, int, int)
        Number of clusters of negatives alone, of positives alone, and of both.
    held : UnitSums
        What clusters, or weighted cases, weigh: of shape (n_models, n_folds, 2).
    weights : WeightRange or None
        Of weighted cases.
    distinct : (ndarray, ndarray)
        Different weights of the negatives and of the positives, or some of them if they are many.
    """

    n_clusters: int
    shared: SharedClusters | None
    kinds: tuple[int, int, int]
    held: UnitSums
    weights: WeightRange | None
    distinct: tuple[Floats, Floats]

    def chosen(self, models: Sequence[int], folds: Sequence[int]) -> SamplingSummary:
        """The same of some models and folds; clusters are still counted in all."""
        return replace(self, held=UnitSums(*(part[np.ix_(models, folds)] for part in self.held)))


def check_weight_column(values: pd.Series[Any], where: Where) -> Floats:
    """Finite, non-negative weights."""
    given = values.to_numpy()
    if given.dtype.kind == "O":
        given = np.array([np.nan if value is None else value for value in given.tolist()])
    return check_weights(check_real(given, "weight"), "weight", where=where)


def check_any_weight(largest: float) -> None:
    """Raise for a table in which all weights are 0."""
    if not largest > 0:
        raise InputError("`weight` must be above 0 in some row, but is 0 in all")


def check_same_for_case(
    frame: pd.DataFrame, where: Where, *, n_models: NDArray[np.intp] | None = None
) -> None:
    """One cluster and one weight a case, in every model and fold; `n_models` have each fold, if not all."""
    for column in SAMPLING_COLUMNS:
        if column in frame:
            value = pd.factorize(frame[column])[0].astype(np.intp)
            if "case" in frame or len(frame["fold"].cat.categories) == 1:
                _check_case_by_case(frame, column, value, where)
            else:
                _check_fold_by_fold(frame, column, value, where, known=n_models)


def _check_case_by_case(frame: pd.DataFrame, column: str, value: Codes, where: Where) -> None:
    """A case has one value; without names, rows of one fold in the same place are about one case."""
    known = "case" in frame
    case = codes_of(frame, "case") if known else frame.groupby("model", observed=True).cumcount().to_numpy()
    _, start, at = np.unique(case, return_index=True, return_inverse=True)
    first = start[at.reshape(-1)]
    odd = np.flatnonzero(value != value[first])
    if not len(odd):
        return
    told = " and ".join(
        f"{_cell(frame, column, row)} in model {_cell(frame, 'model', row)} at {where(int(row))}"
        for row in (first[odd[0]], odd[0])
    )
    name, hint = (f"case {_cell(frame, 'case', odd[0])}", "") if known else ("a case", NO_NAMES)
    raise InputError(
        f"a case must have one {column} in every model and fold, but {name} has {told} ({len(odd)} such rows "
        f"in all){hint}"
    )


def _check_fold_by_fold(
    frame: pd.DataFrame, column: str, value: Codes, where: Where, *, known: NDArray[np.intp] | None
) -> None:
    """Without names of cases: in a fold every model has as many rows of each value."""
    rows = pd.DataFrame({"fold": codes_of(frame, "fold"), "value": value, "model": codes_of(frame, "model")})
    held = rows.groupby(["fold", "value", "model"]).size().groupby(["fold", "value"]).agg(["nunique", "size"])
    n_models = rows.groupby("fold")["model"].nunique() if known is None else pd.Series(known)
    odd = held[
        (held["nunique"] > 1) | (held["size"] != n_models.loc[held.index.get_level_values(0)].to_numpy())
    ]
    if len(odd):
        fold, of = odd.index[0]
        row = int(np.flatnonzero((rows["fold"] == fold) & (value == of))[0])
        raise InputError(
            f"a case must have one {column} in every model, but in fold {_cell(frame, 'fold', row)} models "
            f"have unequal numbers of rows with the {column} {_cell(frame, column, row)}, the first at "
            f"{where(row)}; name cases in a column case"
        )


def _cell(frame: pd.DataFrame, column: str, row: int) -> str:
    """What stands there, for a message."""
    return f"{frame[column].iloc[[row]].tolist()[0]!r:.40}"


def check_clusters(frame: pd.DataFrame) -> None:
    """At least two clusters, and each fold tests all known cases of a cluster or none."""
    names = frame["cluster"].cat.categories.tolist()
    check_several_clusters(len(names), names[0])
    check_whole_clusters(frame)


def check_several_clusters(n_clusters: int, name: Any) -> None:
    """At least two."""
    if n_clusters < 2:
        raise InputError(
            f"`cluster` must name at least 2 clusters, but all cases are in {name!r:.40}; leave out the "
            "column if each case was drawn by itself"
        )


def check_whole_clusters(frame: pd.DataFrame) -> None:
    """Each fold tests all known cases of a cluster or none."""
    names = frame["cluster"].cat.categories.tolist()
    tested = _tested(frame)
    odd = tested[tested["tested"] != tested["known"]]
    if len(odd):
        row, folds = odd.iloc[0], frame["fold"].cat.categories.tolist()
        raise InputError(
            "every fold must test all known cases of a cluster or none, but fold "
            f"{folds[row['fold']]!r} tests {row['tested']} of the {row['known']} of cluster "
            f"{names[row['cluster']]!r:.40} ({len(odd)} such in all): its other cases may have been "
            "trained on; split whole clusters (such as scikit-learn's StratifiedGroupKFold), or leave out "
            "the column cluster if its cases are no more alike than others"
        )


def _tested(frame: pd.DataFrame) -> pd.DataFrame:
    """Cases of every cluster that every fold tests, and how many are known (without names, in a fold)."""
    codes = {name: codes_of(frame, name) for name in ("fold", "cluster", "case", "model") if name in frame}
    rows = pd.DataFrame(codes)
    if "case" in rows:
        cases = rows.drop_duplicates(["fold", "case"])
        result = cases.groupby(["fold", "cluster"]).size().rename("tested").reset_index()
        known = rows.drop_duplicates("case").groupby("cluster").size()
    else:
        each = rows.groupby(["fold", "cluster", "model"]).size()
        result = each.groupby(["fold", "cluster"]).max().rename("tested").reset_index()
        known = result.groupby("cluster")["tested"].max()
    return result.assign(known=known.loc[result["cluster"]].to_numpy())


def codes_of(frame: pd.DataFrame, column: str) -> Codes:
    """Positions of a categorical column's values in its order of levels."""
    return np.asarray(frame[column].cat.codes.to_numpy(), dtype=np.intp)


def shared_clusters(frame: pd.DataFrame) -> SharedClusters | None:
    """Clusters in several folds, if there are any."""
    n_folds = frame[["fold", "cluster"]].drop_duplicates()["cluster"].value_counts()
    several = int((n_folds > 1).sum())
    return SharedClusters(several, n_folds.index.tolist()[0], int(n_folds.iloc[0])) if several else None


def refuse_shared_clusters(found: SharedClusters | None, design: str) -> None:
    """Raise where folds that are said to share nothing share a cluster; the message names it."""
    if found is not None:
        raise InputError(
            f"with design={design!r} no two folds may share a cluster, but cluster {found.name!r:.40} "
            f"is in {found.n_folds} of them ({found.n_clusters} such clusters in all); leave "
            "design='auto'"
        )


def refuse_in_passes(names: Sequence[str], columns: Sequence[str]) -> None:
    """Raise for a group with one of these columns."""
    for column in columns:
        if column in names:
            raise InputError(SAMPLED_IN_MEMORY.format(column=column))
