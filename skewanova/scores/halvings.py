"""Hold-outs and halvings of a data set: splits drawn at random, and score tables with halvings.

Halves share no case, so the difference of a model's areas in them estimates the variance over data sets for
any learner. Hold-outs share most of their training cases and cannot estimate it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from skewanova.base.checks import Bools, InputError, check_count, check_fraction
from skewanova.scores import validation
from skewanova.scores.columns import HALVING_COLUMNS, HOLDOUT, PARTS, RawTable
from skewanova.scores.design import MIN_INNER_FOLDS
from skewanova.scores.table import Codes, Halvings, Label, ScoreTable

Rows = NDArray[np.intp]


#: Fewest halvings from which a variance is estimated.
MIN_HALVINGS = 2


#: Largest ratio of the numbers of cases in two halves.
MAX_HALF_RATIO = 2.0


HALVINGS_TOO_LARGE = (
    "a table with a column part or halving must fit in memory, but this one does not; leave out these "
    "columns (and, of halvings, all rows but those of part 'holdout')"
)


def name_fold(fold: Label, part: str, halving: Label) -> str:
    """Return the text 'FOLD of PART in halving HALVING', which labels a fold of a half."""
    return f"{fold} of {part} in halving {halving}"


def build_scores(raw: RawTable, pos_label: object) -> ScoreTable:
    """Return the checked table of raw columns; of a table with halvings, its hold-outs with `halvings`."""
    if not _has_halvings(raw.frame):
        plain = raw.frame.drop(columns=["part"], errors="ignore")
        return validation.build_score_table(replace(raw, frame=plain), pos_label)
    part = _part_codes(raw)
    merged = ", or leave out the columns part and halving"
    for is_part, name, remedy in ((part == 0, HOLDOUT, ""), (part > 0, PARTS[1], merged)):
        if not is_part.any():
            raise InputError(
                f"a table with halvings needs hold-outs and halves, but has no row of part {name!r}; add "
                f"them{remedy}"
            )
    columns = replace(raw, frame=raw.frame.drop(columns=list(HALVING_COLUMNS)))
    table = validation.build_score_table(columns.take(np.flatnonzero(part == 0)), pos_label)
    halved = np.flatnonzero(part > 0)
    halvings = _build_halvings(raw.take(halved), part[halved] - 1, pos_label)
    _check_holdouts_in_halvings(table, halvings)
    rows = validation.check_score_columns(raw, pos_label)
    validation.check_labels_of_cases(ScoreTable(rows))
    validation.check_same_for_case(rows, raw.where)
    return replace(table, halvings=halvings, n_cases=halvings.n_cases)


def _has_halvings(frame: pd.DataFrame) -> bool:
    """Return True for a column halving or part half_a or half_b; then raise without part, halving or case."""
    if "halving" not in frame and not ("part" in frame and frame["part"].astype(str).isin(PARTS[1:]).any()):
        return False
    for column, why in (
        ("part", f"one of {', '.join(PARTS)}"),
        ("halving", "which numbers the halvings"),
        ("case", "which shows that the halves share no case"),
    ):
        if column not in frame:
            raise InputError(
                f"halvings need a column {column}, {why}; add it, or keep hold-outs without part and halving"
            )
    return True


def _part_codes(raw: RawTable) -> Codes:
    """Return the position of every row's part in `PARTS`; raise for any other part."""
    part = validation.to_categorical(raw.frame["part"], "part", raw.where)
    codes = part.set_categories(PARTS).codes.astype(np.intp)
    if codes.min() < 0:
        row = int(np.argmin(codes))
        raise InputError(f"`part` must be one of {', '.join(PARTS)}; not {part[row]!r} at {raw.where(row)}")
    return np.asarray(codes)


def _build_halvings(raw: RawTable, half: Codes, pos_label: object) -> Halvings:
    """Return the checked halvings of rows, `half` 0 or 1 of each; a fold of a half is a fold of `scores`."""
    halving = validation.to_categorical(raw.frame["halving"], "halving", raw.where, numeric=True)
    fold = validation.to_categorical(raw.frame["fold"], "fold", raw.where, numeric=True)
    names, numbers = halving.categories.tolist(), fold.categories.tolist()
    if len(names) < MIN_HALVINGS:
        raise InputError(f"`halving` must number at least {MIN_HALVINGS} halvings, but numbers {len(names)}")
    if not isinstance(names[0], int):  # a single text makes all of them text
        text = next(name for name in names if not validation.INTEGER_TEXT.fullmatch(str(name)))
        raise InputError(f"`halving` must number the halvings 1, 2, 3, ..., but has {text!r:.40}")
    shape = len(names), 2, len(numbers)
    code, key = pd.factorize(np.ravel_multi_index((halving.codes, half, fold.codes), shape))
    of_halving, of_half, of_fold = np.unravel_index(key, shape)
    keys = zip(of_halving, of_half, of_fold, strict=True)
    labels = [name_fold(numbers[f], PARTS[1 + s], names[h]) for h, s, f in keys]
    frame = raw.frame.drop(columns=list(HALVING_COLUMNS))
    frame["fold"] = pd.Categorical.from_codes(code, dtype=pd.CategoricalDtype(labels))
    table = validation.build_score_table(replace(raw, frame=frame, source=None), pos_label)
    result = Halvings(table, of_halving, of_half, tuple(numbers[f] for f in of_fold), tuple(names))
    _check_halves(result)
    return result


def _check_halves(halvings: Halvings) -> None:
    """Raise unless models test each case once per halving, and a class's halves are within a factor 2."""
    scores = halvings.scores
    cases = scores.frame["case"].cat.categories.tolist()
    shape = len(scores.models), halvings.n_halvings, len(cases)
    cell = scores.codes("model"), halvings.halving[scores.codes("fold")], scores.codes("case")
    times = np.bincount(np.ravel_multi_index(cell, shape), minlength=int(np.prod(shape))).reshape(shape)
    if len(odd := np.argwhere(times != 1)):
        model, halving, case = odd[0]
        raise InputError(
            f"every halving must test each case once for every model, but case {cases[case]!r} is tested "
            f"{times[model, halving, case]} times in halving {halvings.labels[halving]!r} for model "
            f"{scores.models[model]!r} (such in all: {len(odd)}); score it there once, or nowhere at all"
        )
    counts = np.zeros((halvings.n_halvings, 2, 2), dtype=np.int64)
    np.add.at(counts, (halvings.halving, halvings.half), scores.counts[0])
    odd = np.argwhere(counts.max(axis=1) > MAX_HALF_RATIO * counts.min(axis=1))
    if len(odd):
        halving, kind = odd[0]
        a, b = counts[halving, :, kind]
        raise InputError(
            f"the halves of a halving must be of similar size, but those of halving "
            f"{halvings.labels[halving]!r} hold {a} and {b} {('negative', 'positive')[kind]} cases; halve "
            "each class at random"
        )


def _check_holdouts_in_halvings(table: ScoreTable, halvings: Halvings) -> None:
    """Raise unless halvings have the models of the hold-outs, and all their cases."""
    if odd := sorted(set(table.models) ^ set(halvings.scores.models)):
        raise InputError(
            f"hold-outs and halvings must have the same models, but one lacks {', '.join(map(repr, odd))}; "
            "spell names alike, score such models in both, or leave their rows out"
        )
    held_out, halved = ([*map(str, t.frame["case"].cat.categories)] for t in (table, halvings.scores))
    absent = pd.Index(held_out).difference(halved, sort=False)
    if len(absent):
        raise InputError(
            f"every halving must hold the whole data set, but cases of the hold-outs are in no halving "
            f"({len(absent)} in all), the first: {absent[0]}; score them in each, by the same name"
        )


# --- splits of a data set ----------------------------------------------------------------------------------


def import_sklearn(name: str) -> Any:
    """Return the module sklearn.NAME; without scikit-learn, raise InputError with how to install it."""
    try:
        return import_module(f"sklearn.{name}")
    except ImportError as error:
        raise InputError('this needs scikit-learn: pip install "skewanova[sklearn]"') from error


@dataclass(frozen=True, eq=False)
class Split:
    """Cases to train on and to test in one fold."""

    train: Rows
    test: Rows
    fold: int
    part: str = HOLDOUT
    halving: int | None = None

    @property
    def label(self) -> Label:
        """Number `fold` of a hold-out; of a fold of a half, the text of `name_fold`."""
        return self.fold if self.halving is None else name_fold(self.fold, self.part, self.halving)


@dataclass(frozen=True, eq=False)
class Units:
    """Units of a random split, which are cases or groups of cases, with their strata.

    `unit` and `positive` have a value per case, `stratum` one per unit. Cases are stratified by class, and
    groups by whether they hold negatives only (0), positives only (1), or both (2).
    """

    unit: Rows
    stratum: Rows
    positive: Bools

    @classmethod
    def from_groups(cls, positive: Bools, groups: NDArray[Any] | None) -> Units:
        """Return the units of these cases: every case or, with `groups`, every group, sorted as text."""
        if groups is None:
            return cls(np.arange(len(positive)), positive.astype(np.intp), positive)
        unit = np.unique(groups.astype(str), return_inverse=True)[1].astype(np.intp)
        share = np.bincount(unit, weights=positive) / np.bincount(unit)
        return cls(unit, np.where(share == 0, 0, np.where(share == 1, 1, 2)), positive)

    def make_split(self, sides: Sequence[Rows], *label: Any) -> Split:
        """Return the split into the cases of training and of test units, labelled fold[, part, halving]."""
        train, test = (np.flatnonzero(np.isin(self.unit, side)).astype(np.intp) for side in sides)
        return Split(train, test, *label)

    def check_units(
        self, needed: int, name: str, why: str, *, remedy: str, least: int = 2, other: str = ""
    ) -> None:
        """Raise if n < `needed` units hold a class; `remedy` ({}: n // 2) from `least`, `other` from 2 on."""
        kinds = ((True, "positive"), (False, "negative"))
        counts = {word: len(np.unique(self.unit[self.positive == kind])) for kind, word in kinds}
        word, result = min(counts.items(), key=lambda item: item[1])
        if result == 0:
            raise InputError(f"`y` must hold both classes, but has no {word} case")
        if result < needed:
            offered = remedy.format(result // 2) if result >= least else other
            raise InputError(
                f"{name} needs at least {needed} {word} cases (or groups with one), {why}, but there are "
                f"{result}; {f'{offered}, or ' * (result > 1)}add such cases"
            )


def draw_holdouts(units: Units, n_splits: int, *, test_fraction: float, rng: Generator) -> list[Split]:
    """Return random stratified splits into training and test cases, numbered from 1; raise for few cases."""
    check_count(n_splits, "n_splits", minimum=2)
    fraction = check_fraction(test_fraction, "test_fraction")
    needed = max(2, int(np.ceil(1 / min(fraction, 1 - fraction))))
    why, remedy = "so that training and test have one each", "take one nearer to 0.5"
    units.check_units(needed, f"`test_fraction`={fraction:g}", why, remedy=remedy)
    cut = _shuffle_split(units.stratum, n_splits, fraction, rng)
    return check_splits([units.make_split(sides, fold) for fold, sides in enumerate(cut, 1)], units.positive)


def check_half_folds(units: Units, n_halvings: int, inner_folds: int) -> None:
    """Raise unless both numbers are 2 or more, and 2 * `inner_folds` units or more hold each class."""
    check_count(n_halvings, "n_halvings", minimum=MIN_HALVINGS)
    check_count(inner_folds, "inner_folds", minimum=2)
    remedy = "take design=skewanova.FoldDesign('split_half', inner_folds={})"
    options: dict[str, Any] = {"least": 2 * MIN_INNER_FOLDS, "other": "leave out `design`"}
    name, why = f"`inner_folds`={inner_folds}", "one for each fold of each half"
    units.check_units(2 * inner_folds, name, why, remedy=remedy, **options)


def draw_half_folds(units: Units, n_halvings: int, *, inner_folds: int, rng: Generator) -> list[Split]:
    """Return stratified folds of both halves of random halvings, by halving, half and fold; or raise."""
    check_half_folds(units, n_halvings, inner_folds)
    result = []
    for halving, halves in enumerate(_shuffle_split(units.stratum, n_halvings, 0.5, rng), 1):
        for part, half in zip(PARTS[1:], halves, strict=True):
            options = {"shuffle": True, "random_state": int(rng.integers(2**32))}
            splitter = import_sklearn("model_selection").StratifiedKFold(inner_folds, **options)
            stratum = _merge_small_strata(units.stratum[half], inner_folds)
            for fold, (train, test) in enumerate(splitter.split(np.zeros(len(half)), stratum), 1):
                result.append(units.make_split((half[train], half[test]), fold, part, halving))
    return check_splits(result, units.positive)


def _shuffle_split(
    stratum: Rows, n_splits: int, fraction: float, rng: Generator
) -> Iterator[tuple[Rows, Rows]]:
    """Yield positions of training and test units of random stratified splits that test `fraction` of them."""
    make = import_sklearn("model_selection").StratifiedShuffleSplit
    splitter = make(n_splits, test_size=fraction, random_state=int(rng.integers(2**32)))
    min_size = int(np.ceil(1 / min(fraction, 1 - fraction)))
    yield from splitter.split(np.zeros(len(stratum)), _merge_small_strata(stratum, min_size))


def _merge_small_strata(stratum: Rows, min_size: int) -> Rows:
    """Return the stratum of every unit, with strata below `min_size` units merged into the largest."""
    counts = np.bincount(stratum)
    return np.where(counts[stratum] < min_size, counts.argmax(), stratum)


def check_splits(splits: list[Split], positive: Bools, remedy: str = "leave out `groups`") -> list[Split]:
    """Return the splits unchanged; raise with `remedy` if the training or test cases of one lack a class."""
    for split in splits:
        for cases, word in ((split.train, "train on"), (split.test, "test")):
            if positive[cases].all() or not positive[cases].any():
                lacking = "negative" if positive[cases].all() else "positive"
                raise InputError(
                    f"every split needs both classes, but fold {split.label} has no {lacking} case to "
                    f"{word}; {remedy}"
                )
    return splits
