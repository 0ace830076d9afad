"""Hold-outs and halvings of a data set: drawn, and checked where a table holds every model in either half.

Halves share no case, so what a model's areas in them differ by tells how much they vary with the data, for
any learner. Hold-outs of one data set cannot tell that: they share most of their training cases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from skewanova.base.checks import Bools, InputError, Where, check_count, check_fraction
from skewanova.scores.columns import HALVING_COLUMNS, HOLDOUT, PARTS, SAMPLING_COLUMNS
from skewanova.scores.table import Halvings, ScoreTable, build_table
from skewanova.scores.validation import INTEGER_TEXT, Codes, Label, to_categorical

Rows = NDArray[np.intp]


#: Fewer halvings than two show no variation.
FEWEST_HALVINGS = 2


#: Halves of which one holds more than this many times the cases of the other are none.
MOST_UNEQUAL = 2.0


HALVINGS_IN_MEMORY = (
    "a table with halvings must fit in memory, but this one is read over several machines: give a "
    "frame of pandas, or leave out the column halving and the rows of halves"
)


def fold_label(fold: Label, part: str, halving: Label) -> str:
    """A fold of a half in words."""
    return f"{fold} of {part} in halving {halving}"


def places(where: Where, rows: NDArray[np.intp]) -> Where:
    """Where a row of some of the rows stands in the whole table."""
    return lambda row: where(int(rows[row]))


def build_scores(raw: pd.DataFrame, where: Where, pos_label: object, source: Path | None) -> ScoreTable:
    """Build the table from raw columns, and beside it the halvings where the columns tell of them."""
    if not _tells_halvings(raw):
        return build_table(raw.drop(columns=["part"], errors="ignore"), where, pos_label, source)
    half = _part_codes(raw, where)
    held, halved = np.flatnonzero(half == 0), np.flatnonzero(half > 0)
    for rows, part in ((held, PARTS[0]), (halved, PARTS[1])):
        if not len(rows):
            raise InputError(
                f"a table with halvings must hold hold-outs beside them, but has no row of part {part!r}"
            )
    columns = raw.drop(columns=list(HALVING_COLUMNS))
    table = build_table(columns.iloc[held].reset_index(drop=True), places(where, held), pos_label, source)
    halvings = _halvings(raw.iloc[halved], half[halved] - 1, places(where, halved), pos_label)
    _check_same_data(table, halvings)
    return replace(table, halvings=halvings, n_cases=halvings.n_cases)


def _tells_halvings(raw: pd.DataFrame) -> bool:
    """Whether there are halvings, and if so, the columns that they need."""
    halves = "part" in raw and raw["part"].astype(str).isin(PARTS[1:]).any()
    if "halving" not in raw and not halves:
        return False
    for column, why in (
        ("part", f"which says {', '.join(PARTS)}"),
        ("halving", "which numbers the halvings"),
        ("case", "which tells that the halves share none"),
    ):
        if column not in raw:
            raise InputError(f"a table with halvings needs the column {column}, {why}; add it")
    return True


def _part_codes(raw: pd.DataFrame, where: Where) -> Codes:
    """Part of every row as a position in `PARTS`."""
    result = to_categorical(raw["part"], "part", where)
    unknown = [str(name) for name in result.categories if name not in PARTS]
    if unknown:
        row = int(np.flatnonzero(np.asarray(result == unknown[0]))[0])
        raise InputError(f"`part` must be one of {', '.join(PARTS)}; but got {unknown[0]!r} at {where(row)}")
    position = np.array([PARTS.index(str(name)) for name in result.categories], dtype=np.intp)
    return np.asarray(position[result.codes])


def _halvings(raw: pd.DataFrame, half: Codes, where: Where, pos_label: object) -> Halvings:
    """The halves' rows as folds of one table, each fold labelled by halving, half and fold."""
    raw = raw.reset_index(drop=True)
    halving = to_categorical(raw["halving"], "halving", where, whole=True)
    fold = to_categorical(raw["fold"], "fold", where, whole=True)
    n_folds = len(fold.categories)
    cell = (2 * halving.codes.astype(np.intp) + half) * n_folds + fold.codes
    key, code = np.unique(cell, return_inverse=True)
    of_half, at = np.divmod(key, n_folds)
    of_halving, side = np.divmod(of_half, 2)
    names, numbers = halving.categories.tolist(), fold.categories.tolist()
    check_halvings(len(names), "halving")
    if not isinstance(names[0], int):  # one that is no whole number makes text of all
        raise InputError(
            f"`halving` must number the halvings by whole numbers, but has {_first_text(names)!r:.40}"
        )
    labels = [
        fold_label(numbers[f], PARTS[1 + s], names[h]) for h, s, f in zip(of_halving, side, at, strict=True)
    ]
    told = pd.Categorical.from_codes(code, dtype=pd.CategoricalDtype(labels))
    table = build_table(raw.drop(columns=list(HALVING_COLUMNS)).assign(fold=told), where, pos_label, None)
    order = np.array([labels.index(label) for label in map(str, table.folds)])
    result = Halvings(
        table, of_halving[order], side[order], tuple(numbers[f] for f in at[order]), tuple(names)
    )
    _check_halves(result)
    return result


def _first_text(labels: list[Label]) -> Label:
    return next(label for label in labels if not INTEGER_TEXT.fullmatch(str(label)))


def check_halvings(n_halvings: int, name: str) -> int:
    """Enough halvings to see how they vary."""
    if n_halvings < FEWEST_HALVINGS:
        raise InputError(
            f"`{name}` must tell of at least {FEWEST_HALVINGS} halvings, but there is {n_halvings}; 20 are "
            "usual"
        )
    return n_halvings


def _check_halves(halvings: Halvings) -> None:
    """Both halves of every halving, all models in each of their folds, and every case tested once."""
    single = np.argwhere(halvings._sizes == 0)
    if len(single):
        halving, half = single[0]
        raise InputError(
            f"every halving must have both halves, but {PARTS[1 + half]} is missing in halving "
            f"{halvings.labels[halving]!r}"
        )
    scores = halvings.scores
    absent = np.argwhere(scores.counts.sum(axis=2) == 0)
    if len(absent):
        model, fold = absent[0]
        raise InputError(
            "every model must be scored in every fold of every half, but model "
            f"{scores.models[model]!r} is not in fold {scores.folds[fold]} ({len(absent)} such in all)"
        )
    _check_tested_once(halvings)
    _check_alike(halvings)


def _check_tested_once(halvings: Halvings) -> None:
    """Halves share no case, and together they test all, the same for every model."""
    scores = halvings.scores
    cases = scores.frame["case"].cat.categories.tolist()
    shape = len(scores.models), halvings.n_halvings, len(cases)
    at = scores.codes("model"), halvings.halving[scores.codes("fold")], scores.codes("case")
    times = np.bincount(np.ravel_multi_index(at, shape), minlength=int(np.prod(shape))).reshape(shape)
    odd = np.argwhere(times != 1)
    if len(odd):
        model, halving, case = odd[0]
        raise InputError(
            "every halving must test each case once for every model, in one half and there in one fold, but "
            f"case {cases[case]!r} is tested {times[model, halving, case]} times in halving "
            f"{halvings.labels[halving]!r} for model {scores.models[model]!r} ({len(odd)} such in all)"
        )


def _check_alike(halvings: Halvings) -> None:
    """Halves hold about as many cases of each class."""
    of_half = 2 * halvings.halving + halvings.half
    flat = np.zeros((2 * halvings.n_halvings, 2), dtype=np.int64)
    np.add.at(flat, of_half, halvings.scores.counts[0])
    counts = flat.reshape(-1, 2, 2)
    odd = np.argwhere(counts.max(axis=1) > MOST_UNEQUAL * counts.min(axis=1))
    if len(odd):
        halving, kind = odd[0]
        a, b = counts[halving, :, kind]
        raise InputError(
            f"the halves of a halving must be about as large, but those of halving "
            f"{halvings.labels[halving]!r} hold {a} and {b} {('negative', 'positive')[kind]} cases; halve "
            "each class at random"
        )


def _check_same_data(table: ScoreTable, halvings: Halvings) -> None:
    """Hold-outs and halvings are about the same models and cases."""
    odd = sorted(set(table.models) ^ set(halvings.scores.models))
    if odd:
        raise InputError(
            f"hold-outs and halvings must have the same models, but {odd[0]!r} is in only one of the two"
        )
    for column in SAMPLING_COLUMNS:
        if column in table.frame:
            _check_same_sampling(table.frame, halvings.scores.frame, column)
    label = _labels(halvings.scores)
    mixed = [case for case, positive in _labels(table).items() if label.get(case) != positive]
    if not mixed:
        return
    known = [case for case in mixed if case in label]
    if known:
        raise InputError(
            f"a case must have one label, but case {known[0]} has one in the hold-outs and another in the "
            "halvings"
        )
    raise InputError(
        f"every halving must hold the whole data set, but {len(mixed)} cases of the hold-outs are in none, "
        f"the first: {mixed[0]}"
    )


def _check_same_sampling(held: pd.DataFrame, halved: pd.DataFrame, column: str) -> None:
    """A case has one cluster or weight in hold-outs and halvings."""
    known, other = (frame.drop_duplicates("case").set_index("case")[column] for frame in (held, halved))
    known, other = (values.astype(object).rename(index=str) for values in (known, other))
    both = [case for case in known.index if case in other.index]
    odd = [case for case in both if str(known[case]) != str(other[case])]
    if odd:
        raise InputError(
            f"a case must have one {column}, but case {odd[0]!r:.40} has {known[odd[0]]!r:.40} in the "
            f"hold-outs and {other[odd[0]]!r:.40} in the halvings ({len(odd)} such cases in all)"
        )


def _labels(table: ScoreTable) -> dict[str, bool]:
    """Whether each case is positive."""
    first = table.frame.drop_duplicates("case")
    return dict(zip(map(str, first["case"]), first["y_true"].tolist(), strict=True))


# --- splits of a data set ----------------------------------------------------------------------------------


def sklearn_module(name: str) -> Any:
    """Part of scikit-learn, or how to install it."""
    try:
        return import_module(f"sklearn.{name}")
    except ImportError as error:
        raise InputError('this needs scikit-learn: pip install "skewanova[sklearn]"') from error


def check_groups(groups: ArrayLike | None, n_cases: int) -> NDArray[Any] | None:
    """The group of each case, where there are groups."""
    if groups is None:
        return None
    given = np.asarray(groups)
    if given.shape != (n_cases,):
        raise InputError(
            f"`groups` must name the group of each of the {n_cases} cases, but has shape {given.shape}"
        )
    return given


@dataclass(frozen=True, eq=False)
class Split:
    """Cases to train on and to test, and which fold of what it is."""

    train: Rows
    test: Rows
    fold: int
    part: str = HOLDOUT
    halving: int | None = None

    @property
    def label(self) -> Label:
        """The fold, and for a half's which half and halving."""
        return self.fold if self.halving is None else fold_label(self.fold, self.part, self.halving)


@dataclass(frozen=True, eq=False)
class Units:
    """What is never cut in two: cases, or groups of cases; and the strata that are cut evenly.

    Cases are stratified by their class, groups by whether they hold negatives only, positives only, or both.
    """

    unit: Rows
    stratum: Rows
    positive: Bools

    @classmethod
    def of(cls, positive: Bools, groups: ArrayLike | None) -> Units:
        """Cases by class, or groups by the classes in them."""
        given = check_groups(groups, len(positive))
        if given is None:
            return cls(np.arange(len(positive)), positive.astype(np.intp), positive)
        names, unit = np.unique(given.astype(str), return_inverse=True)
        share = np.bincount(unit, weights=positive) / np.bincount(unit)
        stratum = np.where(share == 0, 0, np.where(share == 1, 1, 2))
        return cls(unit.astype(np.intp), stratum[: len(names)].astype(np.intp), positive)

    def cases(self, chosen: Rows) -> Rows:
        """Cases of some of the units."""
        return np.flatnonzero(np.isin(self.unit, chosen)).astype(np.intp)

    def check_enough(self, needed: int, name: str, why: str) -> None:
        """Enough units that hold each class."""
        for kind, word in ((True, "positive"), (False, "negative")):
            result = len(np.unique(self.unit[self.positive == kind]))
            if result < needed:
                raise InputError(
                    f"{name} needs at least {needed} {word} cases (or groups that hold one), {why}, but "
                    f"there are {result}; ask for fewer, or add cases"
                )


def hold_outs(units: Units, n_splits: int, *, test_fraction: float, rng: np.random.Generator) -> list[Split]:
    """Random splits in which each stratum has its share."""
    check_count(n_splits, "n_splits", minimum=2)
    fraction = check_fraction(test_fraction, "test_fraction")
    needed = max(2, int(np.ceil(1 / min(fraction, 1 - fraction))))
    units.check_enough(needed, f"`test_fraction`={fraction:g}", "so that training and test have one each")
    cut = _shuffled(units.stratum, n_splits, fraction, rng)
    result = [Split(units.cases(train), units.cases(test), fold) for fold, (train, test) in enumerate(cut, 1)]
    return _with_both_classes(result, units.positive)


def half_folds(units: Units, n_halvings: int, *, inner_folds: int, rng: np.random.Generator) -> list[Split]:
    """Random halvings, both halves of each cut into folds for a cross-validation."""
    check_halvings(check_count(n_halvings, "n_halvings", minimum=1), "n_halvings")
    check_count(inner_folds, "inner_folds", minimum=2)
    units.check_enough(2 * inner_folds, f"`inner_folds`={inner_folds}", "one for each fold of each half")
    result = []
    for halving, halves in enumerate(_shuffled(units.stratum, n_halvings, 0.5, rng), 1):
        for part, half in zip(PARTS[1:], halves, strict=True):
            for fold, test in enumerate(_dealt(units.stratum[half], inner_folds, rng), 1):
                held = units.cases(half[test])
                rest = units.cases(np.delete(half, test))
                result.append(Split(rest, held, fold, part, halving))
    return _with_both_classes(result, units.positive)


def _shuffled(
    stratum: Rows, n_splits: int, fraction: float, rng: np.random.Generator
) -> Iterator[tuple[Rows, Rows]]:
    """Units to train on and to test, stratified at random."""
    make = sklearn_module("model_selection").StratifiedShuffleSplit
    splitter = make(n_splits, test_size=fraction, random_state=_seed(rng))
    least = int(np.ceil(1 / min(fraction, 1 - fraction)))
    yield from splitter.split(np.zeros(len(stratum)), _merged(stratum, least))


def _dealt(stratum: Rows, n_folds: int, rng: np.random.Generator) -> list[Rows]:
    """Units that each fold tests, stratified at random."""
    splitter = sklearn_module("model_selection").StratifiedKFold(
        n_folds, shuffle=True, random_state=_seed(rng)
    )
    return [test for _, test in splitter.split(np.zeros(len(stratum)), _merged(stratum, n_folds))]


def _merged(stratum: Rows, least: int) -> Rows:
    """Strata too small to be cut go with the largest."""
    counts = np.bincount(stratum)
    small = (counts > 0) & (counts < least)
    return np.where(small[stratum], counts.argmax(), stratum)


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(2**32))


def _with_both_classes(splits: list[Split], positive: Bools) -> list[Split]:
    """The splits, once both classes stand in training and test of each: groups may leave one out."""
    for split in splits:
        for cases, word in ((split.train, "train on"), (split.test, "test")):
            if positive[cases].all() or not positive[cases].any():
                lacking = "negative" if positive[cases].all() else "positive"
                raise InputError(
                    f"every split needs both classes, but fold {split.label} has no {lacking} case to "
                    f"{word}; ask for fewer or larger folds, or leave out `groups`"
                )
    return splits
