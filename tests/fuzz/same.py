"""Changes of a score table that must not change a comparison: rows, names, scores, priors, coding, format."""

from functools import lru_cache

import numpy as np
import pandas as pd
from hypothesis import strategies as st

import skewanova as sa
from fuzz.command import folder_of
from fuzz.generator import Generator, answered, sample
from fuzz.tables import WRITERS, rows_of, shapes
from skewanova.report.source import FRAMES

PRIORS = (0.5, 0.1)


def frames(source, **options):
    """Every frame of the comparison, by name."""
    result = sa.compare(source, **{"at_priors": PRIORS, **options})
    return {name: result.tables[name] for name in FRAMES}


def assert_same(changed, known):
    assert set(changed) == set(known)
    for name, frame in known.items():
        # categories in the order of a table's rows, and text of no rows, are no part of the result
        got, want = (
            part.reset_index(drop=True).astype(dict.fromkeys(_texts(part), object))
            for part in (changed[name], frame)
        )
        limits = {"rtol": 1e-9, "atol": 1e-12}  # numbers are sums in another order at most
        pd.testing.assert_frame_equal(got, want, check_dtype=False, obj=f"the frame {name}", **limits)


def _texts(frame):
    return [column for column in frame if not pd.api.types.is_numeric_dtype(frame[column].dtype)]


@lru_cache(maxsize=8)
def _known(shape):
    return frames(pd.DataFrame(rows_of(dict(shape))))


def rows_in_another_order(table, seed):
    """Any order; where cases have no names, a model's rows keep theirs, for it says which case each is."""
    mixed = table.sample(frac=1, random_state=seed)
    if "case" in table:
        return frames(mixed)
    cell = ["model", "fold"]
    place = pd.MultiIndex.from_frame(mixed[cell].assign(row=mixed.groupby(cell).cumcount()))
    rows = table.assign(row=table.groupby(cell).cumcount()).set_index([*cell, "row"])
    return frames(rows.loc[place].reset_index().drop(columns="row"))


def other_names(table, seed):
    """Models of other names, and folds, in the same order; the old ones stand in the result again."""
    names = {f"m{k}": f"{'zyx'[k]} \u00e9'{seed}\"" for k in range(3)}
    renamed = frames(table.assign(model=table["model"].map(names)))
    back = {new: old for old, new in names.items()}
    return {name: _named_back(frame, back) for name, frame in renamed.items()}


def _named_back(frame, back):
    def cell(value):
        if not isinstance(value, str):
            return value
        for new, old in back.items():
            value = value.replace(repr(new), repr(old)).replace(new, old)
        return value

    return frame.assign(**{column: frame[column].astype(object).map(cell) for column in _texts(frame)})


def monotone_scores(table, seed):
    kinds = [
        np.exp, lambda s: 3.0 * s + 7.0, lambda s: np.unique(s, return_inverse=True)[1] - 2**40,
        lambda s: np.arctan(s) * 1e-300
    ]  # fmt: skip
    scores = kinds[seed % len(kinds)](table["y_score"].to_numpy())
    assert len(np.unique(scores)) == table["y_score"].nunique()
    return frames(table.assign(y_score=scores))


def labels_as_words(table, seed):
    words = [{0: "bad", 1: "good"}, {0: "z", 1: "a"}, {0: 1, 1: 0}, {0: "no", 1: "yes"}][seed % 4]
    return frames(sa.read_scores(table.assign(y_true=table["y_true"].map(words)), pos_label=words[1]))


def other_formats(table, seed):
    kind = sorted(WRITERS)[seed % 3]
    with folder_of({f"scores.{kind}": WRITERS[kind](table.to_dict("records"))}):
        return frames(f"scores.{kind}")


_ALL = (rows_in_another_order, other_names, monotone_scores, labels_as_words, other_formats)
CHANGES = {change.__name__: change for change in _ALL}


def changes_nothing(case):
    """The comparison of the changed table is the comparison of the table."""
    known = answered(_known, tuple(sorted(case["shape"].items())))
    if known is None:
        return
    changed = CHANGES[case["change"]](pd.DataFrame(rows_of(case["shape"])), case["seed"])
    if case["change"] == "monotone_scores":  # scores may become whole numbers, or cease to be
        for result in (changed, known := dict(known)):
            result["assumptions"] = result["assumptions"].query("check != 'identifiers'")
    assert_same(changed, known)


_shapes = shapes(models=(2, 3), size=(12, 30), datasets=[1])
cases = st.fixed_dictionaries({"shape": _shapes, **sample(change=sorted(CHANGES), seed=range(12))})

GENERATORS = (Generator("same comparison", cases, changes_nothing, 0),)
