"""Hold-outs and halvings of a data set, stratified, and whole groups where there are any."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova.base.checks import Bools, InputError, check_count, check_fraction
from skewanova.scores.columns import HOLDOUT, PARTS
from skewanova.scores.halvings import check_halvings, fold_label
from skewanova.scores.validation import Label

Rows = NDArray[np.intp]


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
