"""Halvings of a data set: every model validated in either half, beside the hold-outs.

Halves share no case, so what a model's areas in them differ by tells how much they vary with the data, for
any learner. Hold-outs of one data set cannot tell that: they share most of their training cases.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import InputError, Where
from skewanova.scores.columns import HALVING_COLUMNS, PARTS, SAMPLING_COLUMNS
from skewanova.scores.table import Codes, Halvings, ScoreTable, build_table
from skewanova.scores.validation import INTEGER_TEXT, Label, to_categorical

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
