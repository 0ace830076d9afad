import hashlib
import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import each

from skewanova import read_scores
from skewanova.base.checks import InputError, InputTypeError
from skewanova.scores import table as scores_table
from skewanova.scores.columns import RawTable


def exact(message):
    return f"^{re.escape(message)}$"


def build(frame, pos_label=None):
    return scores_table.build_table(RawTable(frame), pos_label)


def cell(model="A", fold=1, **columns):
    """One negative and one positive."""
    return pd.DataFrame({"model": model, "fold": fold, "y_true": [0, 1], "y_score": [0.1, 0.9], **columns})


def random_table(seed, n_models=3, n_folds=4, size=30):
    rng = np.random.default_rng(seed)
    parts = [
        pd.DataFrame({"model": f"m{m}", "fold": f, "y_true": rng.permutation([0, 1] * (size // 2))})
        for m in range(n_models)
        for f in range(n_folds)
        if (m + f) % 5 or not m
    ]
    frame = pd.concat(parts)
    frame["y_score"] = rng.integers(0, 9, len(frame)) / 8
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


# --- levels -----------------------------------------------------------------------------------------------


@each(
    ("folds", "levels"),
    [
        ([3, 1, 10, 2], (1, 2, 3, 10)),
        ([3.0, 1.0, 10.0, 2.0], (1, 2, 3, 10)),
        (["3", "1", "10", "2"], (1, 2, 3, 10)),
        (["3.0", "1", "10", "2.0"], (1, 2, 3, 10)),
        (["-1", "0", "10", "-5"], (-5, -1, 0, 10)),
        (["3", "1", "a", "2"], ("3", "1", "a", "2")),
        (["03", "1", "10", "2"], ("03", "1", "10", "2")),
        (["-0", "1", "2", "3"], ("-0", "1", "2", "3")),
        (["--5", "1", "2", "3"], ("--5", "1", "2", "3")),
        (["-", "1", "2", "3"], ("-", "1", "2", "3")),
        (["\u0663", "1", "2", "3"], ("\u0663", "1", "2", "3")),
        ([" 1", "1", "2", "3"], (" 1", "1", "2", "3")),
        ([1.5, 1.0, 2.0, 3.0], ("1.5", "1.0", "2.0", "3.0")),
        ([True, "a", 2, 3.5], ("True", "a", "2", "3.5")),
        (["9" * 18, "1", "2", "3"], (1, 2, 3, 10**18 - 1)),
        (["1" * 5000, "1", "2", "3"], ("1" * 5000, "1", "2", "3")),
        (["1e3", "inf", "nan", "NA"], ("1e3", "inf", "nan", "NA")),
        (pd.to_datetime(["2020-01-02", "2020-01-01"] * 2).date, ("2020-01-02", "2020-01-01")),
    ],
)
def test_fold_levels(folds, levels):
    frame = pd.concat([cell(fold=fold) for fold in pd.Series(folds, dtype=object)])
    if not isinstance(folds[0], str | bool):
        frame["fold"] = frame["fold"].infer_objects()
    assert build(frame).folds == levels


def test_numbers_and_their_text_are_one_fold():
    frame = pd.concat([cell(fold=1), cell(fold="1"), cell(fold=1.0), cell(fold="2")], ignore_index=True)
    assert build(frame).counts.tolist() == [[[3, 3], [1, 1]]]


@pytest.mark.parametrize("form", [list, lambda names: pd.Categorical(names, categories=sorted(set(names)))])
def test_models_stand_in_order_of_appearance(form):
    names = [
        "NA",
        "nan",
        "007",
        "1",
        "True",
        "<script>",
        "a_b%$",
        "../x",
        "C(x)",
        "fold",
        "b",
        "a",
        "A",
        " A",
    ]
    frame = pd.concat([cell()] * len(names), ignore_index=True)
    frame["model"] = form([name for name in names for _ in range(2)])
    assert build(frame).models == tuple(names)


def test_models_of_mixed_types_stay_apart():
    frame = pd.concat([cell(m) for m in (1, True, 1.0, "1", "x", None.__class__)], ignore_index=True)
    assert build(frame).models == ("1", "True", "1.0", "x", "<class 'NoneType'>")


@each("column", ["model", "fold", "case"])
@each("empty", [None, np.nan, pd.NA, pd.NaT, "", " ", "\t\n"])
def test_empty_labels(column, empty):
    frame = cell(case=["x", "y"]).astype({column: object})
    frame[column] = ["7", empty]
    with pytest.raises(
        InputError, match=exact(f"`{column}` must not be empty, but 1 row is, the first at row 1")
    ):
        build(frame)
    frame[column] = empty
    with pytest.raises(
        InputError, match=f"^`{column}` must not be empty, but 2 rows are, the first at row 0$"
    ):
        build(frame)


# --- scores -----------------------------------------------------------------------------------------------


@each(
    ("scores", "message"),
    [
        (["x", "y"], r"has dtype (str|object); the first that is not a number is 'x' at row 0$"),
        (
            pd.Series([0.5, "y"], dtype=object),
            "has dtype object; the first that is not a number is 'y' at row 1$",
        ),
        (pd.Series([0.5, None], dtype=object), "object; the first that is not a number is None at row 1$"),
        (pd.Series([0.5, 1], dtype=object), r"object; convert it: df\['y_score'\]\.astype\(float\)$"),
        (pd.Series(["x" * 99] * 2), r"the first that is not a number is 'x{39} at row 0$"),
        ([1j, 2], "has dtype complex128$"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "has dtype datetime64"),
    ],
)
def test_scores_that_are_no_numbers(scores, message):
    with pytest.raises(InputTypeError, match=f"^`y_score` must hold real numbers, but .*{message}"):
        build(cell(y_score=scores))


@pytest.mark.parametrize(
    "scores",
    [
        [np.nan, 1.0],
        np.array([np.nan, 1], dtype=np.float32),
        pd.array([None, 1.0], dtype="Float64"),
        pd.array([None, 1], dtype="Int64"),
        pd.array([None, 1.0], dtype="double[pyarrow]"),
    ],
)
def test_nan_scores(scores):
    with pytest.raises(
        InputError, match=exact("`y_score` must not hold NaN, but has 1 NaN, the first at row 0")
    ):
        build(cell(y_score=scores))


@each("dtype", ["int64", "uint64", "uint8", "float16", "float32", "bool"])
def test_scores_keep_their_dtype(dtype):
    assert build(cell(y_score=np.array([0, 1], dtype=dtype))).frame["y_score"].dtype == dtype


def test_infinite_scores_are_ranks():
    assert build(cell(y_score=[-np.inf, np.inf])).frame["y_score"].tolist() == [-np.inf, np.inf]


def test_nullable_whole_numbers_keep_every_digit():
    table = build(cell(y_score=pd.array([2**53 + 1, 2**53], dtype="Int64")))
    assert table.frame["y_score"].tolist() == [2**53 + 1, 2**53]


# --- labels -----------------------------------------------------------------------------------------------


@each(
    "labels",
    [
        [0, 1], [False, True], [-1, 1], [0.0, 1.0], ["0", "1"], ["False", "true"], ["-1.0", "1"],
        pd.array([0, 1], dtype="Int8"), pd.array([False, True], dtype="boolean"), pd.Categorical([0, 1]),
    ],
)  # fmt: skip
def test_labels_that_need_no_word(labels):
    assert build(cell(y_true=labels)).frame["y_true"].tolist() == [False, True]


@each(
    ("labels", "message"),
    [
        (
            ["no", "yes"],
            "`y_true` has the labels 'no', 'yes': say which is the positive class with `pos_label`",
        ),
        ([1, 2], "`y_true` has the labels 1, 2: say which is the positive class with `pos_label`"),
        (
            [0, 0.5],
            "`y_true` must hold class labels, but has fractions; its labels start: 0 (row 0), 0.5 (row 1)",
        ),
        ([0, np.nan], "`y_true` must not have missing labels, but has 1, the first at row 1"),
        (["0", None], "`y_true` must not have missing labels, but has 1, the first at row 1"),
        (
            pd.array([True, None], dtype="boolean"),
            "`y_true` must not have missing labels, but has 1, the first",
        ),
        (["1", "NA"], "`y_true` must not have missing labels, but has 1, the first at row 1"),
    ],
)
def test_labels_that_do_not_do(labels, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        build(cell(y_true=labels))


def test_three_labels_are_listed():
    frame = pd.concat([cell(), cell(y_true=[2, 1])], ignore_index=True)
    message = "`y_true` must hold two classes, but has 3, first seen: 0 (row 0), 1 (row 1), 2 (row 2)"
    with pytest.raises(InputError, match=exact(message)):
        build(frame)


@pytest.mark.parametrize(("word", "positive"), [("yes", [False, True]), ("no", [True, False])])
def test_any_pair_of_labels_with_a_word(word, positive):
    assert build(cell(y_true=["no", "yes"]), word).frame["y_true"].tolist() == positive
    with pytest.raises(
        InputError, match=exact("`pos_label` must be one of the labels 'no', 'yes', but got 'x'")
    ):
        build(cell(y_true=["no", "yes"]), "x")


# --- cells and cases --------------------------------------------------------------------------------------


def test_empty_table():
    with pytest.raises(InputError, match=exact("the score table must hold at least one row, but is empty")):
        build(cell().iloc[:0])


@pytest.mark.parametrize(("labels", "word"), [([0, 0], "positive"), ([1, 1], "negative")])
def test_a_cell_with_one_class(labels, word):
    frame = pd.concat([cell("A", 1), cell("A", 2, y_true=labels), cell("B", 1), cell("B", 2, y_true=labels)])
    message = (
        f"every model needs both classes in every fold, but model 'A' has no {word} case in fold 2 (2 such "
        "cells in all); use stratified or fewer folds"
    )
    with pytest.raises(InputError, match=exact(message)):
        build(frame)


def test_repeated_cases_show_the_first_five():
    frame = pd.concat([cell(case=["x", "y"])] * 4, ignore_index=True)
    message = (
        "(model, fold, case) must be unique, but 6 rows repeat one: ('A', 1, 'x') at row 2, ('A', 1, 'y') at "
        "row 3, ('A', 1, 'x') at row 4, ('A', 1, 'y') at row 5, ('A', 1, 'x') at row 6; if folds are "
        "bootstrap resamples, give the test set once: its cases are resampled for you"
    )
    with pytest.raises(InputError, match=exact(message)):
        build(frame)


def test_a_case_may_recur_in_other_folds_and_models():
    frame = pd.concat([cell(m, f, case=[7, 9]) for m in "AB" for f in (1, 2)])
    table = build(frame)
    assert table.has_cases
    assert table.frame["case"].tolist() == [7, 9] * 4


def test_a_case_with_two_labels():
    frame = pd.concat([cell("A", 1, case=[7, 9]), cell("A", 2, case=[9, 7])])
    message = (
        "a case must have one label, but 2 cases have both, the first: 7, 9; if case numbers start again"
    )
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        build(frame)


# --- groups, counts, fingerprint --------------------------------------------------------------------------


@given(st.integers(0, 2**32 - 1))
def test_groups_and_counts_equal_naive_ones(seed):
    frame = random_table(seed)
    table = build(frame)
    naive = dict(iter(frame.groupby(["model", "fold"])))
    seen = []
    for model, fold, positive, score in table.groups():
        seen.append((model, fold))
        rows = naive[model, fold]
        assert positive.tolist() == rows["y_true"].astype(bool).tolist()
        assert score.tolist() == rows["y_score"].tolist()
    assert seen == [(m, f) for m in table.models for f in table.folds if (m, f) in naive]
    assert len(seen) == len(naive) < len(table.models) * len(table.folds)
    for i, model in enumerate(table.models):
        for j, fold in enumerate(table.folds):
            labels = frame.loc[(frame["model"] == model) & (frame["fold"] == fold), "y_true"]
            assert table.counts[i, j].tolist() == [(labels == 0).sum(), (labels == 1).sum()]


def test_the_table_does_not_share_memory_with_the_frame_given():
    frame = random_table(0)
    table = read_scores(frame)
    before = table.frame["y_score"].tolist()
    frame.loc[:, "y_score"] = 9.0
    assert table.frame["y_score"].tolist() == before


def test_fingerprint_of_a_frame_is_stable_and_tells_changes():
    frame = random_table(3)
    known = build(frame).sha256()
    assert re.fullmatch("[0-9a-f]{64}", known)
    assert build(frame.copy()).sha256() == known
    assert build(frame.set_index(frame.index[::-1])).sha256() == known
    nudged = frame["y_score"].mask(frame.index == 5, np.nextafter(frame["y_score"], 9))
    others = [
        frame.assign(y_score=nudged),
        frame.assign(y_true=1 - frame["y_true"]),
        frame.assign(model=frame["model"] + "x"),
        frame.assign(fold=frame["fold"] + 1),
        frame.assign(case=np.arange(len(frame))),
        frame.iloc[::-1],
    ]
    prints = {build(other).sha256() for other in others}
    assert len(prints) == len(others)
    assert known not in prints


def test_fingerprint_of_a_file_is_that_of_its_bytes(tmp_path):
    path = tmp_path / "s.csv"
    path.write_bytes(b"model,fold,y_true,y_score\r\nA,1,0,0.5\r\nA,1,1,0.50\r\n")
    assert read_scores(path).sha256() == hashlib.sha256(path.read_bytes()).hexdigest()
