"""Groups gathered from where their rows are, against the same rows in memory."""

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest
from loops import each
from messages import expect_error
from rows_elsewhere import assert_alike, gathered, table

import skewanova as sa
from skewanova.base.checks import InputError, InputTypeError
from skewanova.curves.groups import PackedCurve
from skewanova.distributed import packing
from skewanova.scores.pairing import check_paired, describe_table

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")


CASES = {
    "whole": lambda case: case,
    "two spellings": lambda case: case.astype(str) + np.where(case.index % 2, ".0", ""),
    "text": lambda case: "case-" + case.astype(str),
    "some whole": lambda case: case.astype(str).where(case > 3, "x" + case.astype(str)),
    "categories": lambda case: ("c" + case.astype(str)).astype("category"),
    "fractions": lambda case: case / 7,
    "dates": lambda case: pd.Timestamp("2020-01-01") + pd.to_timedelta(case, unit="D"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_cases_of_any_kind_are_those_of_memory(kind, monkeypatch):
    monkeypatch.setattr(packing, "BUCKET_ROWS", 50)
    frame = table()
    frame["case"] = CASES[kind](frame["case"])
    assert_alike(gathered(frame), sa.read_scores(frame))


@each(("column", "change"), [
    ("case", None), ("fold", lambda f: f.astype(float)), ("fold", lambda f: "cv" + f.astype(str)),
    ("fold", lambda f: f.astype(str).where(f > 1, "x")), ("y_true", lambda y: y.map({0: "-1", 1: "1.0"})),
    ("y_true", lambda y: y.astype(bool)), ("y_score", lambda s: (s * 10).astype(np.int64) + 2**53),
    ("model", lambda m: m.map({"a": "NA", "b": "../x", "c": "C(x) = 'é'"}).astype("category")),
])  # fmt: skip
def test_columns_of_any_type_are_those_of_memory(column, change):
    frame = table()
    frame = frame.drop(columns=column) if change is None else frame.assign(**{column: change(frame[column])})
    read = sa.read_scores(frame)
    if column == "fold":  # text in the order of first appearance there, in that of names here
        fold = read.frame["fold"].cat
        fold = fold.reorder_categories(sorted(fold.categories))
        read = dataclasses.replace(read, frame=read.frame.assign(fold=fold))
    assert_alike(gathered(frame), read)


def test_tables_without_folds_and_one_positive_label_for_all_groups():
    frame = table()[lambda rows: rows["fold"] == 1]
    found = gathered(frame.drop(columns="fold"))
    assert_alike(found, sa.read_scores(frame))
    assert list(found.ties()) == sorted(sa.read_scores(frame).ties())
    message = r"^`y_score` must not hold NaN or blanks, .* row 2 of model 'A' in fold 1;"
    rows = pd.DataFrame({"model": "A", "y_true": [0, 1, 1], "y_score": [0.1, 0.2, np.nan]})
    expect_error(message, gathered, rows)
    words = table().assign(y_true=lambda f: f["y_true"].map({0: "ill", 1: "well"}))
    assert_alike(gathered(words, pos_label="ill"), sa.read_scores(words, pos_label="ill"))
    expect_error(r"has the labels 'ill', 'well': name the positive class", gathered, words)
    other = table().assign(y_true=lambda f: f["y_true"] - (f["y_true"] == 0) * (f["model"] == "c"))
    expect_error(r"two classes, but has 3, first seen: -1 \(model 'c' in fold '1'", gathered, other)
    with pytest.raises(InputTypeError, match=r"`y_score` must hold real numbers.* at row 0 of model 'a'"):
        gathered(table().sort_values("model").assign(y_score="high"))
    with pytest.raises(InputError, match=r"^a fold must be spelled in one way"):
        gathered(table().assign(fold=lambda f: f["fold"].astype(str) + np.where(f["case"] % 2, "", ".0")))
    first, again = gathered(table()), gathered(table().sample(frac=1, random_state=5))
    assert first.sha256() == again.sha256()
    assert first.sha256() != gathered(table(seed=1)).sha256()
    assert repr(first) == "<StreamedScores: 480 rows, 3 models x 4 folds>"
    assert describe_table(first)[0] == "480 rows: 3 models x 4 folds"


def test_what_is_wrong_across_groups_is_told_as_in_memory():
    frame = table()
    odd = (frame["model"] == "b") & frame["case"].isin([7, 11])
    for broken, check in (
        (frame.assign(y_true=frame["y_true"].where(~odd, 1 - frame["y_true"])), None),
        (frame.assign(case=frame["case"].where(~odd, frame["case"] + 1000)), check_paired),
    ):
        said = []
        for read in (sa.read_scores, gathered):
            with pytest.raises(InputError, match=r"got both, the first: 7, 11|cases lack a m") as told:
                check(read(broken))
            said.append(str(told.value))
        here = re.sub(r" \(not scored by [^)]*\)", "", said[0])  # workers count models, and do not name them
        assert here.startswith(said[1])  # without the line of pandas


SCORES = {
    "tied": lambda score: score,
    "apart": lambda score: score + np.random.default_rng(1).random(len(score)) / 100,
    "one score": lambda score: score * 0 + 0.5,
    "signs of zero": lambda score: np.where(score.index % 2, 0.0, -0.0) + (score > 1),
    "large numbers": lambda score: (score * 10).astype(np.int64) + 2**53,
    "single precision": lambda score: score.astype(np.float32) / 3,
    "infinite": lambda score: np.where(score > 1, np.inf, np.where(score < -1, -np.inf, score)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.usefixtures("small_workers")
@pytest.mark.parametrize("kind", SCORES)
def test_groups_in_pieces_have_the_curves_of_memory(kind, monkeypatch):
    cut = []
    join = packing.join_pieces
    monkeypatch.setattr(packing, "join_pieces", lambda pieces: cut.append(len(pieces)) or join(pieces))
    frame = table().assign(y_score=lambda f: SCORES[kind](f["y_score"]))
    found = gathered(frame)
    assert_alike(found, sa.read_scores(frame))
    if kind == "one score":
        assert cut == [12]
    elif kind != "signs of zero":
        assert cut[0] > 24
    for (model, fold), packed in found.packed.items():
        rows = frame[(frame["model"] == model) & (frame["fold"] == fold)]
        whole = PackedCurve.from_cases(rows["y_true"].to_numpy() == 1, rows["y_score"].to_numpy())
        assert (packed.labels.tolist(), packed.ends is None) == (whole.labels.tolist(), whole.ends is None)
        assert packed.ends is None or packed.ends.tolist() == whole.ends.tolist()


@pytest.mark.slow
def test_many_rows_in_groups_that_fit_are_looked_at_once(monkeypatch):
    """Sizes are counted by the keys alone; only where one is too large do rows show where to cut."""
    frame, looked = table(), []
    sketch = packing.sample_groups
    monkeypatch.setattr(packing, "sample_groups", lambda rows: looked.append(rows) or sketch(rows))
    for most, cut in ((40, False), (39, True)):
        monkeypatch.setattr(packing, "MAX_GROUP_ROWS", most)
        assert_alike(gathered(frame), sa.read_scores(frame))
        assert bool(looked) is cut


@pytest.mark.slow
@pytest.mark.usefixtures("small_workers")
def test_rules_hold_for_groups_in_pieces():
    frame = table()
    labels = frame["y_true"].map({0: "ill", 1: "well"})
    words = frame.assign(y_true=labels, case="c" + frame["case"].astype(str))
    assert_alike(gathered(words, pos_label="ill"), sa.read_scores(words, pos_label="ill"))
    group = (frame["model"] == "b") & (frame["fold"] == 2)
    for broken, message in (
        (frame.assign(y_score=frame["y_score"].where(~group)),
         r"NaN or blanks, .* a row of model 'b' in fold '2';"),
        (pd.concat([frame, frame[group][:1]]), r"^\(model, fold, case\) must be unique, .*: \('b', 2, \d+\)"),
        (frame.assign(y_true=frame["y_true"] * ~group), r"model 'b' has no positive case in fold 2 "),
        (frame.assign(y_true=frame["y_true"] + 5 * group), r"but has 4, first seen: .*model 'b' in fold '2'"),
        (frame.assign(y_true=frame["y_true"].where(~group)), r"not have missing labels, .* 'b' in fold '2';"),
        (frame.assign(model=frame["model"].where(~group)), r"`model` must not be empty"),
        (words, r"has the labels 'ill', 'well': name the positive class")
    ):  # fmt: skip
        expect_error(message, gathered, broken)
