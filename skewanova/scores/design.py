"""The design of the folds, and the ratio of test to training cases.

Folds of one data set train on overlapping cases, so their results are correlated. Nadeau and Bengio (2003)
correct for the correlation by the ratio of test to training cases.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from skewanova.base import checks
from skewanova.base.checks import Floats, InputError, InputTypeError
from skewanova.scores.kinds import DESIGNS, RUNS
from skewanova.scores.table import Scores, ScoreTable

#: Assumed if the design is unknown: hold-outs of 20 %, the most common. This is conservative for a
#: cross-validation of 5 folds or more.
ASSUMED_TEST_FRACTION = 0.2


#: Largest factor between the stated and the observed ratio without a warning.
RATIO_SLACK = 1.1


#: Folds in each half from which split-half tests held their level in simulations; with 2 folds they do not.
MIN_INNER_FOLDS = 5


FEW_INNER_FOLDS = (
    "the halves are cross-validated in {fewest} folds, so models train on much less than half the data and "
    "tests reject too often (.15 at level .05 in simulations with 2 folds); use 5 folds or more"
)


NO_HALVINGS = (
    "design='split_half' needs a table with halvings (columns part, halving and case), which "
    "`skewanova.compare_estimators` makes with that design; or use design='auto' (--design auto)"
)


NEEDS_SAME_CASES = (
    "design={design!r} needs a column case with the same cases in every fold, as several runs of each model "
    "on one test set have; else use design='auto' (--design auto)"
)


SAME_LABELS = (
    "the labels are the same, row by row, in every fold; if the folds are runs on one test set, such as "
    "seeds, add a case column, so that runs and cases are tested together"
)


NOT_USED = (
    "the table's halvings are not used, since design={design!r} was stated; leave out `design` to use them"
)


SAME_CASES = (
    "all folds test the same cases, as runs with several seeds do, so the variation between folds says "
    "nothing about other cases; the tests hold for these cases alone; test runs and cases together with "
    "design='runs' (--design runs)"
)


@dataclass(frozen=True)
class FoldDesign:
    """Design by which the folds were made.

    A user states `kind` and, where the cases do not show it, `test_fraction`;
    :func:`~skewanova.scores.infer_design` fills in the rest.

    Attributes
    ----------
    kind : str, default "auto"
        ``independent``, ``kfold``, ``repeated_kfold``, ``repeated_holdout`` or ``split_half`` (repeated
        hold-outs, and halvings of the data set that estimate the variance); ``runs`` for several runs on one
        test set; ``test_set`` for a single fold; ``auto`` to infer it.
    test_fraction : float, optional
        Fraction of the data set that each fold tests; None if the folds share no training data.
    runs : str, default "crossed"
        For runs on one test set: ``crossed`` if run j of all models shares something, such as the training
        sample; ``nested`` if not; ``fixed`` if inference is about these runs alone.
    n_folds, reason : int, str
        Number of folds in all, and the evidence for the design.
    warnings : tuple of str
        Assumptions, and contradictions between the statement and the cases.
    n_halvings, inner_folds : int
        Number of halvings of the data set, 0 if none are used, and smallest number of folds in a half.
    n_clusters, weighted : int, bool
        Number of clusters of cases (0 if each case was sampled by itself), and whether cases represent
        unequal numbers of the population.
    correlation : float, optional
        Correlation of the results of two overlapping folds, by default `test_fraction` (Nadeau and Bengio
        2003). A larger one suits learners that change much with their training data.

    Raises
    ------
    ValueError
        If the kind is unknown, or a fraction or the correlation out of range.

    Examples
    --------
    >>> from skewanova import FoldDesign
    >>> FoldDesign("repeated_kfold", test_fraction=0.1).ratio
    0.11111111111111112
    """

    kind: str = "auto"
    test_fraction: float | None = None
    runs: str = "crossed"
    n_folds: int = 0
    reason: str = ""
    warnings: tuple[str, ...] = field(default=(), repr=False)
    n_halvings: int = 0
    inner_folds: int = 0
    n_clusters: int = 0
    weighted: bool = False
    correlation: float | None = None

    def __post_init__(self) -> None:
        """Raise for unknown `kind` or `runs`; store fraction and correlation as floats, raise if bad."""
        kinds = [kind for kind in DESIGNS if kind == "runs" or kind not in RUNS]
        checks.check_choice(self.kind, kinds, "kind")
        checks.check_choice(self.runs, [*RUNS.values()], "runs")
        for name in ("test_fraction", "correlation"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checks.check_fraction(getattr(self, name), name))

    @property
    def ratio(self) -> float:
        """``c / (1 - c)`` of `correlation` or else `test_fraction` c, 0.0 if both are None.

        By default it is the number of test cases per training case.
        """
        share = self.correlation or self.test_fraction or 0.0
        return share / (1 - share)

    @property
    def is_test_set(self) -> bool:
        """True if `kind` is ``test_set``: there is a single test set, so only the cases vary."""
        return self.kind == "test_set"

    @property
    def has_runs(self) -> bool:
        """True if `kind` is ``runs``: the folds are runs on one test set."""
        return self.kind == "runs"

    @property
    def is_over_folds(self) -> bool:
        """True unless `kind` is ``test_set`` or ``runs``: folds differ in the cases that they test."""
        return not (self.is_test_set or self.has_runs)

    @property
    def overlapping(self) -> bool:
        """True if inference is over folds that are not ``independent``, so that they share training data."""
        return self.is_over_folds and self.kind != "independent"

    @property
    def variance_inflation(self) -> float:
        """Factor ``1 + n_folds * ratio`` on the variance of a mean over folds (Nadeau and Bengio 2003)."""
        return 1 + self.n_folds * self.ratio

    @property
    def has_fixed_models(self) -> bool:
        """True if `kind` is ``test_set``, or ``runs`` with `runs` ``fixed``: only the cases vary."""
        return self.is_test_set or (self.has_runs and self.runs == "fixed")

    @property
    def units(self) -> str:
        """Sampling units as text, 'clusters' if `n_clusters` is above 0, else 'cases'."""
        return "clusters" if self.n_clusters else "cases"

    @property
    def population(self) -> str:
        """Phrase for the population of inference, as 'methods retrained on new data', and weights if any."""
        if self.has_fixed_models:
            about = f"these fitted models on further {self.units}"
        elif self.has_runs:
            about = f"learners over further runs and {self.units}"
        elif self.overlapping:
            about = "methods retrained on data like these"
        else:
            about = "methods retrained on new data"
        return f"{about} of the population that the weights stand for" if self.weighted else about

    def describe(self) -> str:
        """Return as text kind, folds, test cases per training case and '(REASON; CLUSTERS; WEIGHTS)'."""
        parts = [self.reason]
        if self.n_clusters:
            folds = ", each whole in a fold or not in it" if self.is_over_folds else ""
            parts.append(f"cases in {self.n_clusters:,} clusters{folds}")
        if self.weighted:
            parts.append("cases weighted")
        runs = {"crossed": "runs", "nested": "separate runs of each model", "fixed": "fixed runs"}
        names = {
            "test_set": "one test set",
            "runs": f"{self.n_folds} {runs[self.runs]} on one test set",
            "independent": "independent folds",
            "kfold": "one cross-validation",
            "repeated_kfold": "repeated cross-validation",
            "repeated_holdout": "repeated hold-out",
            "split_half": f"repeated hold-out and {self.n_halvings} halvings of the data",
        }
        text = names[self.kind] + f", {self.n_folds} folds" * self.is_over_folds
        if self.overlapping:
            ratio = replace(self, correlation=None).ratio
            text += f", {ratio:.3g} test case{'s' * (ratio != 1)} for each training case"
            if self.correlation is not None:
                text += f", results correlated by {self.correlation:.3g} (r = {self.ratio:.3g})"
        return f"{text} ({'; '.join(parts)})"


def as_design(design: str | FoldDesign) -> FoldDesign:
    """Return the FoldDesign of a name in `DESIGNS`, or a FoldDesign as it is; raise for anything else."""
    if isinstance(design, FoldDesign):
        return design
    if not isinstance(design, str):
        raise InputTypeError(
            f"`design` must be a name such as 'kfold' or a FoldDesign, but has type {type(design).__name__}"
        )
    checks.check_choice(design, DESIGNS, "design")
    return FoldDesign("runs", runs=RUNS[design]) if design in RUNS else FoldDesign(design)


def infer_design(table: Scores, *, design: str | FoldDesign = "auto") -> FoldDesign:
    """Return how the folds were made, as stated by the user or else inferred from the cases.

    Parameters
    ----------
    table : ScoreTable
        A complete table.
    design : str or FoldDesign, default "auto"
        "auto" uses halvings if the table has them, else the cases; folds with the same cases are ``runs``.
        Without cases it assumes repeated hold-out. Other values are the kinds of a
        :class:`~skewanova.FoldDesign`, "nested_runs" (run j of one model shares nothing with run j of
        another) and "fixed_runs" (inference is about these runs and further cases).

    Returns
    -------
    FoldDesign
        The design, with its ``warnings``, which are not issued. A single fold is always a ``test_set``.

    Raises
    ------
    ValueError
        If an option is unknown or out of range, the size of the folds of a repeated cross-validation is
        neither stated nor shown by the cases, the table lacks the halvings stated, or folds stated to be
        disjoint share a cluster.

    Examples
    --------
    >>> import skewanova as sa
    >>> design = sa.scores.infer_design(sa.load_satellite_scores())
    >>> design.kind, round(design.ratio, 2)
    ('repeated_holdout', 0.25)
    """
    result = _infer_design(table, as_design(design))
    shared = table.shared_clusters if result.kind in {"independent", "kfold"} else None
    if shared is not None:
        raise InputError(
            f"with design={result.kind!r} no two folds may share a cluster, but cluster {shared.name!r:.40} "
            f"is in {shared.n_folds} folds (such clusters in all: {shared.n_clusters}); use design='auto' "
            "(--design auto)"
        )
    return replace(result, n_clusters=table.n_clusters, weighted=table.has_weights)


NEEDS_ONE_FOLD = (
    "design='test_set' needs a single fold, but there are {n_folds}; use design='auto' (--design auto)"
)


def _infer_design(table: Scores, stated: FoldDesign) -> FoldDesign:
    """Return the design stated or inferred, without clusters or weights; raise if a statement cannot hold."""
    if len(table.folds) < 2:
        return _infer_single_fold(table, stated)
    if stated.is_test_set:
        raise InputError(NEEDS_ONE_FOLD.format(n_folds=len(table.folds)))
    if stated.kind == "split_half" or (stated.kind == "auto" and table.halvings is not None):
        return _infer_split_half(table, stated)
    result = _infer_several_folds(table, stated)
    unused = () if table.halvings is None else (NOT_USED.format(design=stated.kind),)
    return replace(result, warnings=(*result.warnings, *unused))


def _infer_several_folds(table: Scores, stated: FoldDesign) -> FoldDesign:
    """Return the design of several folds as stated or inferred from cases, ignoring halvings."""
    n_folds = len(table.folds)
    inferred = _infer_from_cases(table) if table.has_cases else None
    same_cases = table.has_cases and inferred is None and (isinstance(table, ScoreTable) or bool(table.parts))
    if same_cases and (stated.has_runs or stated == FoldDesign()):
        return FoldDesign("runs", runs=stated.runs, n_folds=n_folds, reason="every run tests the same cases")
    if inferred is not None and stated.kind not in {"runs", "independent"}:
        return _override_design(inferred, stated)
    if stated.kind == "independent":
        notes = _independence_warnings(table, inferred, stated)
    else:
        notes = (SAME_CASES,) if table.has_cases else (SAME_LABELS,) if _is_ambiguous(table, stated) else ()
    design = design_without_cases(n_folds, stated, can_add_cases=not table.has_cases)
    return replace(design, warnings=(*notes, *design.warnings))


def _design_name(design: FoldDesign) -> str:
    """Return the name by which a user states a design: for runs the key in `RUNS`, else `kind`."""
    return {runs: name for name, runs in RUNS.items()}[design.runs] if design.has_runs else design.kind


def _is_ambiguous(table: Scores, stated: FoldDesign) -> bool:
    """Return True if (in memory, nothing stated) the first model's unsorted labels repeat in every fold."""
    if stated != FoldDesign() or not isinstance(table, ScoreTable):
        return False
    rows = table.codes("model") == 0
    label, fold = table.frame["y_true"].to_numpy()[rows], table.codes("fold")[rows]
    first = label[fold == 0]
    if (np.diff(first.astype(np.int8)) != 0).sum() < 2:
        return False
    return all(np.array_equal(label[fold == f], first) for f in range(1, len(table.folds)))


def _infer_split_half(table: Scores, stated: FoldDesign) -> FoldDesign:
    """Return the hold-outs' design as split_half, with number and fewest folds of halvings; raise without."""
    if table.halvings is None:
        raise InputError(NO_HALVINGS)
    holdouts = _infer_several_folds(table, FoldDesign(test_fraction=stated.test_fraction))
    fewest = table.halvings.min_folds
    notes = [] if fewest >= MIN_INNER_FOLDS else [FEW_INNER_FOLDS.format(fewest=fewest)]
    design = replace(holdouts, kind="split_half", warnings=(*holdouts.warnings, *notes))
    return replace(design, n_halvings=table.halvings.n_halvings, inner_folds=fewest)


def _infer_single_fold(table: Scores, stated: FoldDesign) -> FoldDesign:
    """Return the design test_set of one fold; its warning lists statements and halvings not used."""
    negative, positive = table.counts[0, 0]
    unused = [] if stated.kind in {"auto", "test_set"} else [f"design={_design_name(stated)!r}"]
    unused += [] if stated.test_fraction is None else [f"test_fraction={stated.test_fraction:g}"]
    unused += [] if table.halvings is None else ["halvings"]
    notes = (f"{' and '.join(unused)} not used for only one fold; leave that out",) if unused else ()
    reason = f"{positive:,} positives, {negative:,} negatives"
    return FoldDesign("test_set", n_folds=1, reason=reason, warnings=notes)


def _independence_warnings(table: Scores, inferred: FoldDesign | None, stated: FoldDesign) -> tuple[str, ...]:
    """Return warnings if folds stated to be independent share cases, or if a test fraction is stated too."""
    notes = []
    if table.has_cases and (inferred is None or inferred.kind != "kfold"):
        notes.append(
            "cases occur in several folds, but the folds were stated to be independent; leave out `design`"
        )
    if stated.test_fraction is not None:
        fraction = f"test_fraction={stated.test_fraction:g}"
        notes.append(f"{fraction} is not used, because the folds were stated to be independent; leave it out")
    return tuple(notes)


def _override_design(inferred: FoldDesign, stated: FoldDesign) -> FoldDesign:
    """Return the inferred design but with stated kind, fraction, correlation, and warnings if they differ."""
    kind = inferred.kind if stated.kind == "auto" else stated.kind
    fraction = inferred.test_fraction if stated.test_fraction is None else stated.test_fraction
    design = replace(inferred, kind=kind, test_fraction=fraction)
    notes = []
    if kind != inferred.kind and not stated.reason:  # with a reason, the splits were drawn so
        notes.append(
            f"the cases look like {inferred.kind}, but design={kind!r} was stated and is used; if it is "
            "wrong, leave out `design`"
        )
    if not 1 / RATIO_SLACK <= design.ratio / inferred.ratio <= RATIO_SLACK:
        notes.append(
            f"the cases look like {inferred.test_fraction:.3g} of the data set in each fold, but "
            f"test_fraction={fraction:g} was stated and is used; if it is wrong, leave out `test_fraction`"
        )
    words = {"design": stated.kind != "auto", "test_fraction": stated.test_fraction is not None}
    names = [word for word, is_stated in words.items() if is_stated]
    reason = f"{' and '.join(names)} as stated" if names else inferred.reason
    return replace(design, reason=reason, warnings=tuple(notes), correlation=stated.correlation)


#: What is not known of folds without cases, and how it is stated, by the stated kind.
ASSUMPTIONS = {
    "auto": ("how the folds were made", "design='kfold'"),
    "repeated_holdout": (
        "how large the folds are",
        "design=skewanova.FoldDesign('repeated_holdout', test_fraction=0.1), or --design repeated_holdout "
        "--test-fraction 0.1",
    ),
}


def design_without_cases(n_folds: int, stated: FoldDesign, *, can_add_cases: bool = True) -> FoldDesign:
    """Return the stated design of folds without cases; raise if it needs cases, a size, or a single fold.

    One fold is a test set, ``auto`` hold-out. A size not stated is 1 / n_folds (kfold) or assumed (warning).
    Messages advise a case column if `can_add_cases`.
    """
    if n_folds < 2:
        return FoldDesign("test_set", n_folds=1, reason="one fold")
    if stated.has_runs:
        raise InputError(NEEDS_SAME_CASES.format(design=_design_name(stated)))
    refusals = {"split_half": NO_HALVINGS, "test_set": NEEDS_ONE_FOLD.format(n_folds=n_folds)}
    if stated.kind in refusals:
        raise InputError(refusals[stated.kind])
    if stated.kind == "independent":
        return FoldDesign("independent", n_folds=n_folds, reason="as stated")
    kind = "repeated_holdout" if stated.kind == "auto" else stated.kind
    design = replace(stated, kind=kind, n_folds=n_folds)
    if stated.test_fraction is not None:
        return replace(design, reason="test_fraction as stated")
    if kind == "kfold":
        return replace(design, test_fraction=1 / n_folds, reason="as stated")
    if kind == "repeated_kfold":
        cases = "; or add a case column" * can_add_cases
        raise InputError(
            "design='repeated_kfold' needs the size of the folds: state `test_fraction`, as in "
            f"design=skewanova.FoldDesign('repeated_kfold', test_fraction=0.1), or --test-fraction 0.1{cases}"
        )
    fraction = max(ASSUMED_TEST_FRACTION, 1 / n_folds)
    unknown, example = ASSUMPTIONS[stated.kind]
    note = (
        f"cannot tell {unknown}, so repeated hold-out of one data set with {fraction:.0%} test cases is "
        f"assumed; {'add a case column, or ' * can_add_cases}state the design, as in {example}"
    )
    return replace(design, test_fraction=fraction, reason="assumed", warnings=(note,))


def _infer_from_cases(table: Scores) -> FoldDesign | None:
    """Return the kfold, repeated_kfold or hold-out design, with size, by shared cases; None if all shared."""
    counted, n_cases = table.shared_cases()
    shared, n_folds = counted.astype(np.float64), len(table.folds)
    size = np.diag(shared)
    if (shared == size[0]).all():
        return None
    pairs = np.triu_indices(n_folds, 1)
    if not shared[pairs].any():
        kind, total, reason = "kfold", float(n_cases), "no case occurs in two folds"
    # with f_i folds of case i, the sum of the entries is sum f_i^2 and the trace is sum f_i
    elif n_cases * int(counted.sum()) == int(np.trace(counted)) ** 2 or _has_partition(shared, n_cases):
        kind, total = "repeated_kfold", float(n_cases)
        reason = "the folds fall into sets that each cover all cases"
    else:
        # folds of n_i and n_j of N cases are expected to share n_i n_j / N
        estimate = (size[pairs[0]] * size[pairs[1]]).sum() / shared[pairs].sum()
        total = float(table.n_cases or max(n_cases, estimate))
        kind, reason = "repeated_holdout", "folds overlap at random"
    return FoldDesign(kind, float(np.mean(size) / total), n_folds=n_folds, reason=reason)


def _has_partition(shared: Floats, n_cases: int) -> bool:
    """Return True if some fold and the folds disjoint from it partition the cases."""
    disjoint = (shared == 0) | np.eye(len(shared), dtype=bool)
    blocks = disjoint[(disjoint @ np.diag(shared) == n_cases) & (disjoint.sum(axis=1) > 1)]
    return any(bool(disjoint[np.ix_(block, block)].all()) for block in blocks)


#: Largest number of test cases per training case.
MAX_RATIO = 1e9


class MeanInterval(NamedTuple):
    """Standard error of a mean over folds, and the limits of its interval."""

    std_error: Floats
    low: Floats
    high: Floats


def logit_interval(
    area: ArrayLike, std_error: Floats | float, *, df: Floats | float, level: float, size: ArrayLike = np.inf
) -> tuple[Floats, Floats]:
    """Return limits low and high, ``expit(logit(area) -+ t std_error / (area (1 - area)))``.

    With `size` cases, half a case each of precision 0 and 1 first joins area and error. The limits enclose
    the area; without `size`, a limit is nan for an area of 0 or 1.
    """
    # half a case of precision 1 and half a case of precision 0 join `size` cases (see
    # studies/records/support.md): without them, area and error are both too small where the few cases of high
    # precision are missing
    theta, share = np.asarray(area, dtype=np.float64), 1 / (np.asarray(size) + 1)
    centre = (1 - share) * theta + share / 2
    variance = ((1 - share) * std_error) ** 2 + share**2 * (centre**2 + (1 - centre) ** 2) / 2
    margin = -scipy.special.stdtrit(df, (1 - level) / 2) * np.sqrt(variance) / (centre * (1 - centre))
    low, high = (scipy.special.expit(scipy.special.logit(centre) + side * margin) for side in (-1, 1))
    return np.minimum(low, theta), np.maximum(high, theta)


def fold_mean_interval(
    mean: ArrayLike,
    std: ArrayLike,
    n_folds: ArrayLike,
    *,
    ratio: float,
    level: float,
    halves: Floats | None = None,
    size: ArrayLike | None = None,
) -> MeanInterval:
    """Return standard error, low and high of a mean over folds, by t or, with `size`, :func:`logit_interval`.

    The variance of the mean is ``s^2 (1 / J + r)`` (Nadeau and Bengio 2003, eq. 9). With half differences d
    of shape (n_halvings, ...) it is ``s^2 / J + mean d^2``, with one degree of freedom per halving (else
    J - 1). Limits by t are not clipped.
    """
    folds, deviation = np.asarray(n_folds), np.asarray(std, dtype=np.float64)
    if halves is None:
        df, std_error = np.maximum(folds - 1, 1), deviation * np.sqrt(1 / folds + ratio)
    else:
        df, std_error = np.asarray(len(halves)), np.sqrt(deviation**2 / folds + (halves**2).mean(axis=0))
    if size is not None:
        return MeanInterval(std_error, *logit_interval(mean, std_error, df=df, level=level, size=size))
    margin = scipy.special.stdtrit(df, (1 + level) / 2) * std_error
    return MeanInterval(std_error, np.asarray(mean - margin), np.asarray(mean + margin))


def check_ratio(ratio: float) -> float:
    """Return `ratio` as a float; raise unless it is from 0 to `MAX_RATIO` test cases per training case."""
    return checks.check_not_negative(
        ratio, "ratio", what="a number of test cases for each training case, 0 or more", largest=MAX_RATIO
    )
