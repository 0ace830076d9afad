"""How the folds came about, and the ratio of test to training cases.

Folds cut from one data set train on overlapping cases, so their results are correlated. Nadeau and Bengio
(2003) allow for it by one number, the ratio of test to training cases, and here it is found out or asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from skewanova.base.checks import Floats, InputError, check_choice, check_fraction, check_not_negative
from skewanova.scores.clusters import refuse_shared_clusters
from skewanova.scores.kinds import RESAMPLING, RUNS
from skewanova.scores.table import Halvings, Scores, ScoreTable

#: Assumed where nothing tells: hold-outs of 20 %, the commonest, which is also on the safe side for 5 folds
#: or more of a cross-validation.
ASSUMED_TEST_FRACTION = 0.2


#: How far a stated ratio may lie from the one that the cases show, as a factor, before it is remarked on.
RATIO_SLACK = 1.1


#: Folds in each half with which the split-half variance was seen to hold its level; with two it does not.
ENOUGH_INNER_FOLDS = 5


FEW_INNER_FOLDS = (
    "the halves are cross-validated in {fewest} folds: models train on much less than half the data, and "
    "tests reject true equality too often (.15 at level .05 in simulations with 2 folds); use 5 folds or more"
)


NO_HALVINGS = (
    "resampling='split_half' needs a table with halvings (columns part, halving and case): make it by "
    "compare_estimators(resampling='split_half'), or leave resampling='auto'"
)


NEEDS_SHARED_CASES = (
    "resampling={resampling!r} needs a case column (in memory, or with Dask or Spark) with the same cases in "
    "every fold: several runs of each model on one test set"
)


SAME_LABELS = (
    "the labels are the same, row by row, in every fold: if the folds are runs on one test set, such as "
    "seeds, add a case column, and runs and cases are tested together"
)


NOT_USED = "the table's halvings are not used, since resampling={resampling!r} was stated"


SAME_CASES = (
    "all folds test the same cases, as runs with several seeds do, so the variation between folds says "
    "nothing about other cases: read the tests as about these cases alone, or test runs and cases together "
    "by skewanova.inference.compare_runs()"
)


@dataclass(frozen=True)
class Resampling:
    """The design of the folds.

    Attributes
    ----------
    kind : str
        ``independent``, ``kfold``, ``repeated_kfold``, ``repeated_holdout`` or ``split_half`` (the same with
        halvings of the data set beside it, which tell the variance); ``shared_cases`` for several runs on one
        test set; ``one_set`` for one fold.
    n_folds : int
        Number of folds in all.
    ratio : float
        Test cases for each training case; 0 for independent folds.
    reason : str
        What it was concluded from.
    warnings : tuple of str
        Where what was said and what the cases show disagree, or something had to be assumed.
    n_halvings : int
        Number of halvings of the data set, where the design goes by them.
    runs : str
        Of runs on one test set: ``crossed`` if run j of all models has something in common, such as the
        training sample; ``nested`` if not; ``fixed`` if the claim is about these runs alone. Of other designs
        it says nothing.
    n_clusters : int
        Number of clusters that the cases are in; 0 where each was drawn by itself.
    weighted : bool
        Whether cases stand for unequal numbers of the population.
    """

    kind: str
    n_folds: int
    ratio: float
    reason: str
    warnings: tuple[str, ...] = field(default=(), repr=False)
    n_halvings: int = 0
    runs: str = "crossed"
    n_clusters: int = 0
    weighted: bool = False

    @property
    def overlapping(self) -> bool:
        """Whether folds share training data."""
        return self.kind not in {"independent", "one_set", "shared_cases"}

    @property
    def inflation(self) -> float:
        """Factor ``1 + J r`` on the variance of a mean over J folds (Nadeau and Bengio 2003)."""
        return 1 + self.n_folds * self.ratio

    @property
    def over_cases_alone(self) -> bool:
        """Whether the models are fixed, and nothing but the cases varies."""
        return self.kind == "one_set" or (self.kind == "shared_cases" and self.runs == "fixed")

    @property
    def units(self) -> str:
        """What was drawn: cases, or clusters of cases."""
        return "clusters of cases" if self.n_clusters else "cases"

    @property
    def claim(self) -> str:
        """What tests and intervals are about: who or what would vary if all was done again."""
        cases = self.units
        kind = "one_set" if self.over_cases_alone else self.kind
        about = {
            "independent": "methods on further independent folds",
            "one_set": f"these fitted models on further {cases}",
            "shared_cases": f"learners over further runs and {cases}",
        }.get(kind, "methods trained anew on data like these")
        return f"{about} of the population that the weights stand for" if self.weighted else about

    def describe(self) -> str:
        """Say the design in one sentence."""
        reason = "; ".join([self.reason, *self._sampling()])
        if self.kind == "one_set":
            return f"one test set ({reason})"
        if self.kind == "shared_cases":
            kinds = {"crossed": "runs", "nested": "runs of its own of each model", "fixed": "fixed runs"}
            return f"{self.n_folds} {kinds[self.runs]} on one test set ({reason})"
        names = {
            "independent": "independent folds",
            "kfold": "one cross-validation",
            "repeated_kfold": "repeated cross-validation",
            "repeated_holdout": "repeated hold-out",
            "split_half": f"repeated hold-out beside {self.n_halvings} halvings of the data",
        }
        told = f"{names[self.kind]}, {self.n_folds} folds"
        if self.overlapping:
            told += f", {self.ratio:.3g} test cases for each training case"
        return f"{told} ({reason})"

    def _sampling(self) -> list[str]:
        """How the cases were sampled, where not one by one and alike."""
        whole = "" if self.kind in {"one_set", "shared_cases"} else ", each whole in a fold or not in it"
        clusters = [f"cases in {self.n_clusters:,} clusters{whole}"] if self.n_clusters else []
        return [*clusters, *(["cases weighted"] if self.weighted else [])]


def find_resampling(
    table: Scores, *, resampling: str = "auto", test_fraction: float | None = None
) -> Resampling:
    """Find out how the folds were made, from the case column or from what the user says.

    Parameters
    ----------
    table : ScoreTable
        A complete table.
    resampling : str, default "auto"
        One of `RESAMPLING`; "auto" takes halvings where the table has them, else looks at the cases (the
        same in every fold are runs on one test set, ``shared_cases``) and, without them, assumes repeated
        hold-out. Of runs on one test set, ``nested_runs`` says that run j of one model has nothing in common
        with run j of another, ``fixed_runs`` that the claim is about these runs and further cases.
    test_fraction : float, optional
        Share of the data set that each fold tests; by default worked out from the cases.

    Returns
    -------
    Resampling
        The design, with what there is to remark on it in ``warnings``.

    Raises
    ------
    ValueError
        If an option is unknown or out of range, repeated cross-validation is claimed without saying or
        showing how large its folds are, or halvings that the table does not have, or folds that were said to
        share nothing share a cluster.

    Examples
    --------
    >>> from skewanova import load_satellite_scores
    >>> from skewanova.scores import find_resampling
    >>> design = find_resampling(load_satellite_scores())
    >>> design.kind, round(design.ratio, 2)
    ('repeated_holdout', 0.25)
    """
    check_choice(resampling, RESAMPLING, "resampling")
    given = None if test_fraction is None else check_fraction(test_fraction, "test_fraction")
    found = _found(table, resampling, given)
    if found.kind in {"independent", "kfold"}:
        refuse_shared_clusters(table.shared_clusters, found.kind)
    return replace(found, n_clusters=table.n_clusters, weighted=table.has_weights)


def cases_claim(table: ScoreTable) -> str:
    """What intervals over the cases of a table's models are about, whatever its folds are."""
    return Resampling(
        "one_set",
        len(table.folds),
        0.0,
        "",
        n_clusters=int(table.has_clusters),
        weighted=table.has_weights,
    ).claim


def _found(table: Scores, resampling: str, given: float | None) -> Resampling:
    """The design of a table, whatever its cases stand for."""
    n_folds = len(table.folds)
    halvings = table.halvings if isinstance(table, ScoreTable) else None
    if n_folds < 2:
        return _one_set(table, resampling, given)
    if resampling == "split_half" or (resampling == "auto" and halvings is not None):
        return _split_half(table, halvings, given)
    found = _of_folds(table, resampling, given)
    unused = () if halvings is None else (NOT_USED.format(resampling=resampling),)
    return replace(found, warnings=(*found.warnings, *unused))


def _of_folds(table: Scores, resampling: str, given: float | None) -> Resampling:
    """The design of several folds, whatever stands beside them."""
    n_folds = len(table.folds)
    seen = _from_cases(table) if table.has_cases else None
    if resampling == "independent":
        notes = _notes_on_independence(table, seen, given)
        return Resampling("independent", n_folds, 0.0, "as stated", notes)
    same_cases = table.has_cases and seen is None and (isinstance(table, ScoreTable) or bool(table.parts))
    if resampling in RUNS or (resampling == "auto" and same_cases and given is None):
        if not same_cases:
            raise InputError(NEEDS_SHARED_CASES.format(resampling=resampling))
        runs = RUNS.get(resampling, "crossed")
        return Resampling("shared_cases", n_folds, 0.0, "every fold tests the same cases", runs=runs)
    if seen is not None:
        return _with_statement(seen, resampling, given)
    design = _assumed(n_folds, resampling, given)
    notes = (SAME_CASES,) if table.has_cases else (SAME_LABELS,) if _asks(table, resampling, given) else ()
    return replace(design, warnings=(*notes, *design.warnings))


def _asks(table: Scores, resampling: str, given: float | None) -> bool:
    """Whether nothing is stated, and all folds have the same labels, which are not merely sorted by class."""
    if resampling != "auto" or given is not None or not isinstance(table, ScoreTable):
        return False
    rows = table.codes("model") == 0
    label, fold = table.frame["y_true"].to_numpy()[rows], table.codes("fold")[rows]
    first = label[fold == 0]
    if (np.diff(first.astype(np.int8)) != 0).sum() < 2:
        return False
    return all(np.array_equal(label[fold == f], first) for f in range(1, len(table.folds)))


def _split_half(table: Scores, halvings: Halvings | None, given: float | None) -> Resampling:
    """The hold-outs' design, with halvings beside it."""
    if halvings is None:
        raise InputError(NO_HALVINGS)
    seen = _of_folds(table, "auto", given)
    fewest = halvings.fewest_folds
    notes = [] if fewest >= ENOUGH_INNER_FOLDS else [FEW_INNER_FOLDS.format(fewest=fewest)]
    return replace(seen, kind="split_half", n_halvings=halvings.n_halvings, warnings=(*seen.warnings, *notes))


def stated_resampling(
    n_folds: int, *, resampling: str = "auto", test_fraction: float | None = None
) -> Resampling:
    """Design of folds whose cases cannot be looked at: what is stated, or assumed."""
    check_choice(resampling, RESAMPLING, "resampling")
    given = None if test_fraction is None else check_fraction(test_fraction, "test_fraction")
    if n_folds < 2:
        return Resampling("one_set", 1, 0.0, "one fold")
    if resampling in RUNS:
        raise InputError(NEEDS_SHARED_CASES.format(resampling=resampling))
    if resampling == "split_half":
        raise InputError(NO_HALVINGS)
    if resampling == "independent":
        return Resampling("independent", n_folds, 0.0, "as stated")
    return _assumed(n_folds, resampling, given)


def _one_set(table: Scores, resampling: str, given: float | None) -> Resampling:
    """One fold has no design: what varies is which cases came into it."""
    negative, positive = table.counts[0, 0]
    stated = [f"resampling={resampling!r}"] if resampling != "auto" else []
    stated += [] if given is None else [f"test_fraction={given:g}"]
    stated += ["halvings"] if isinstance(table, ScoreTable) and table.halvings is not None else []
    notes = [f"{' and '.join(stated)} not used, since there is one fold only"] if stated else []
    return Resampling("one_set", 1, 0.0, f"{positive:,} positives, {negative:,} negatives", tuple(notes))


def _notes_on_independence(table: Scores, seen: Resampling | None, given: float | None) -> tuple[str, ...]:
    """What speaks against independent folds."""
    notes = []
    if table.has_cases and (seen is None or seen.kind != "kfold"):
        notes.append("cases occur in several folds, yet the folds were said to be independent")
    if given is not None:
        notes.append(f"test_fraction={given:g} is not used, since the folds were said to be independent")
    return tuple(notes)


def _with_statement(seen: Resampling, resampling: str, given: float | None) -> Resampling:
    """What the cases show, overruled by what the user states."""
    kind = seen.kind if resampling == "auto" else resampling
    ratio = seen.ratio if given is None else given / (1 - given)
    stated = [word for word, told in (("resampling", resampling != "auto"), ("test_fraction", given)) if told]
    reason = f"{' and '.join(stated)} as stated" if stated else seen.reason
    notes = []
    if kind != seen.kind:
        notes.append(f"the cases look like {seen.kind}, but resampling={resampling!r} was stated and is used")
    if not 1 / RATIO_SLACK <= ratio / seen.ratio <= RATIO_SLACK:
        share = seen.ratio / (1 + seen.ratio)
        notes.append(
            f"the cases look like {share:.3g} of the data set in each fold, but test_fraction={given:g} was "
            "stated and is used"
        )
    return Resampling(kind, seen.n_folds, ratio, reason, tuple(notes))


def _assumed(n_folds: int, resampling: str, given: float | None) -> Resampling:
    """Without cases: what is stated, and for the rest what is on the safe side."""
    kind = "repeated_holdout" if resampling == "auto" else resampling
    if given is not None:
        return Resampling(kind, n_folds, given / (1 - given), "test_fraction as stated")
    if kind == "kfold":
        return Resampling(kind, n_folds, 1 / (n_folds - 1), "as stated")
    if kind == "repeated_kfold":
        raise InputError(
            "resampling='repeated_kfold' needs test_fraction (0.1 for 10-fold) or a case column to tell how "
            "large the folds are"
        )
    ratio = max(ASSUMED_TEST_FRACTION / (1 - ASSUMED_TEST_FRACTION), 1 / (n_folds - 1))
    unknown = "how the folds were made" if resampling == "auto" else "how large the folds are"
    note = (
        f"nothing tells {unknown}: taken as repeated hold-out of one data set with "
        f"{ratio / (1 + ratio):.0%} test cases; add a case column, or say "
        "resampling= and test_fraction= (--resampling, --test-fraction)"
    )
    return Resampling(kind, n_folds, ratio, "assumed", (note,))


def _from_cases(table: Scores) -> Resampling | None:
    """Tell the designs apart by which folds share cases; None where all folds hold the same."""
    counted, n_cases = table.shared_cases()
    shared, n_folds = counted.astype(np.float64), len(table.folds)
    size = np.diag(shared)
    if (shared == size[0]).all():
        return None
    if not np.triu(shared, 1).any():
        return Resampling("kfold", n_folds, _ratio(size, n_cases), "no case occurs in two folds")
    if _evenly_covered(counted, n_cases) or _has_partition(shared, n_cases):
        return Resampling(
            "repeated_kfold",
            n_folds,
            _ratio(size, n_cases),
            "the folds fall into sets that each cover all cases",
        )
    known = table.n_cases if isinstance(table, ScoreTable) else None
    total = float(known) if known else max(float(n_cases), _capture_recapture(shared))
    return Resampling("repeated_holdout", n_folds, _ratio(size, total), "folds overlap at random")


def _ratio(size: Floats, total: float) -> float:
    return float(np.mean(size) / (total - np.mean(size)))


def _evenly_covered(shared: NDArray[np.int64], n_cases: int) -> bool:
    """Whether every case is in as many folds as any other.

    All entries sum to the squares of the cases' numbers of folds, the diagonal to these numbers: they are
    equal if and only if the mean of the squares is the square of the mean.
    """
    return n_cases * int(shared.sum()) == int(np.trace(shared)) ** 2


def _has_partition(shared: Floats, n_cases: int) -> bool:
    """Whether some fold and all folds disjoint from it form one partition of the cases."""
    disjoint = (shared == 0) | np.eye(len(shared), dtype=bool)
    blocks = disjoint[(disjoint @ np.diag(shared) == n_cases) & (disjoint.sum(axis=1) > 1)]
    return any(bool(disjoint[np.ix_(block, block)].all()) for block in blocks)


def _capture_recapture(shared: Floats) -> float:
    """Size of the data set from how much random test sets overlap: n_i n_j / n_ij (Petersen 1896)."""
    above = np.triu_indices(len(shared), 1)
    size = np.diag(shared)
    return float((size[above[0]] * size[above[1]]).sum() / shared[above].sum())


#: More test cases than these for each training case are a slip.
LARGEST_RATIO = 1e9


class MeanInterval(NamedTuple):
    """Standard error of a mean over folds, and its t limits."""

    std_error: Floats
    low: Floats
    high: Floats

    def cut(self) -> MeanInterval:
        """The same of an area, whose limits lie between 0 and 1: what is beyond cannot be."""
        return self._replace(low=np.maximum(self.low, 0.0), high=np.minimum(self.high, 1.0))


def fold_mean_interval(
    mean: ArrayLike,
    std: ArrayLike,
    n_folds: ArrayLike,
    *,
    ratio: float,
    level: float,
    halves: Floats | None = None,
) -> MeanInterval:
    """Interval of a mean over J folds, of variance ``s^2 (1 / J + r)`` (Nadeau and Bengio 2003, eq. 9).

    With differences between halves d (n_halvings, ...) it is ``s^2 / J + mean d^2``, with as many degrees of
    freedom as there are halvings.
    """
    folds, deviation = np.asarray(n_folds), np.asarray(std, dtype=np.float64)
    if halves is None:
        df, std_error = np.maximum(folds - 1, 1), deviation * np.sqrt(1 / folds + ratio)
    else:
        df, std_error = np.asarray(len(halves)), np.sqrt(deviation**2 / folds + (halves**2).mean(axis=0))
    margin = special.stdtrit(df, (1 + level) / 2) * std_error
    return MeanInterval(std_error, np.asarray(mean - margin), np.asarray(mean + margin))


def check_ratio(ratio: float) -> float:
    """Test cases for each training case: 0 or more."""
    return check_not_negative(
        ratio, "ratio", what="a number of test cases for each training case", largest=LARGEST_RATIO
    )


#: Folds whose positive counts differ by more than this factor do not weigh alike.
FOLD_IMBALANCE = 2.0
