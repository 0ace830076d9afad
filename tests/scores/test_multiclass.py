"""Every class of several against the rest."""

import numpy as np
import pandas as pd
import pytest
from loops import each
from messages import expect_error

from skewanova import InputError, InputTypeError, read_scores, scores_from_multiclass
from skewanova.scores import read_multiclass

LABELS = np.array(["cat", "dog", "owl", "dog", "cat", "owl", "cat", "dog"])
RNG = np.random.default_rng(0)
SCORES = {"tree": RNG.random((8, 3)), "net": RNG.random((8, 3))}


def test_each_table_is_that_class_against_the_rest():
    found = scores_from_multiclass(LABELS, SCORES, fold=[1, 1, 1, 2, 2, 2, 1, 2])
    assert found.classes == ("cat", "dog", "owl")
    for place, name in enumerate(found.classes):
        table = found.tables[name]
        assert table.models == ("tree", "net")
        for model, values in SCORES.items():
            rows = table.frame[table.frame["model"] == model].sort_values("case")
            assert rows["y_score"].tolist() == values[:, place].tolist()
            assert rows["y_true"].tolist() == (name == LABELS).tolist()
            assert rows["fold"].tolist() == [1, 1, 1, 2, 2, 2, 1, 2]
    long = found.to_frame()
    assert (long.columns[0], len(long)) == ("class", 3 * 2 * 8)
    again = read_scores(long[long["class"] == "owl"].drop(columns="class"))
    assert again.frame.equals(found.tables["owl"].frame)


def test_columns_are_named_by_the_classes_of_arrays_and_tables(tmp_path):
    order = ["owl", "cat", "dog"]
    found = scores_from_multiclass(LABELS, SCORES, classes=order)
    owl = found.tables["owl"].frame
    assert found.classes == tuple(order)
    assert owl[owl["model"] == "net"]["y_score"].tolist() == SCORES["net"][:, 0].tolist()
    with pytest.raises(InputTypeError, match="must be a mapping by names"):
        scores_from_multiclass(LABELS, SCORES["tree"])
    arrays = scores_from_multiclass(LABELS, SCORES)
    long_table().to_csv(tmp_path / "scores.csv", index=False)
    for source in (long_table(), tmp_path / "scores.csv"):
        found = read_multiclass(source, ["cat", "dog", "owl"])
        assert found.to_frame().equals(arrays.to_frame())
    assert found.tables["owl"].source == tmp_path / "scores.csv"
    renamed = long_table().rename(columns={"y_true": "truth", "case": "patient"})
    again = read_multiclass(renamed, ["owl", "cat", "dog"], columns={"y_true": "truth", "case": "patient"})
    assert again.classes == ("owl", "cat", "dog")
    assert again.tables["cat"].frame.equals(arrays.tables["cat"].frame)


@each(("labels", "scores", "options", "message"), [
    (LABELS, {"tree": SCORES["tree"][:, :2]}, {}, "case and one column for each of cat, dog, owl, but have"),
    (LABELS, SCORES, {"classes": ["cat", "dog", "hen"]}, "has the class 'owl', which is not one of cat"),
    (LABELS, SCORES, {"classes": ["cat", "cat", "owl"]}, "2 classes, whose names differ as text"),
    (LABELS[:1].repeat(8), {"tree": np.ones((8, 1))}, {}, "at least 2 classes"),
    (np.array([1, *LABELS[1:]], dtype=object), SCORES, {}, "holds both; name the class of every column"),
    (LABELS, SCORES, {"fold": [1, 2]}, "equally long"),
    (LABELS, {}, {}, "^`y_score` must hold at least one model, but is empty$"),
    (LABELS, {"\ud800": np.ones((8, 3))}, {}, r"^`y_score` must hold text .* has '\\ud800'; rename it$"),
    ([None, *LABELS[1:]], SCORES, {}, "^class 'cat': `y_true` must not have missing labels, but has 2"),
    (LABELS, {"tree": np.full((8, 3), np.nan)}, {}, "^class 'cat': "),
    (LABELS, SCORES, {"fold": [1, 2, 2, 2, 1, 2, 1, 2]}, r"^class '\w+': "),
])  # fmt: skip
def test_what_is_refused(labels, scores, options, message):
    expect_error(message, scores_from_multiclass, labels, scores, **options)


def long_table():
    keys = {"fold": 1, "case": np.arange(8), "y_true": LABELS}
    scores = {model: pd.DataFrame(values, columns=["cat", "dog", "owl"]) for model, values in SCORES.items()}
    parts = [frame.assign(model=model, **keys) for model, frame in scores.items()]
    return pd.concat(parts, ignore_index=True)


def test_classes_may_be_numbers_and_have_several_columns():
    numbers = {"cat": 1, "dog": 2, "owl": 3}
    frame = long_table().rename(columns={name: str(number) for name, number in numbers.items()})
    found = read_multiclass(frame.assign(y_true=frame["y_true"].map(numbers)), ["1", "2", "3"])
    assert found.tables["2"].frame.equals(scores_from_multiclass(LABELS, SCORES).tables["dog"].frame)
    with pytest.raises(InputTypeError, match="`classes` must be a list of columns, as "):
        read_multiclass(long_table(), "cat")
    with pytest.raises(InputError, match=r"`key of columns`.*'y_score'"):
        read_multiclass(long_table(), ["cat", "dog", "owl"], columns={"y_score": "cat"})


@each(("change", "classes", "message"), [
    ({}, ["cat", "dog"], "not one of cat, dog; spell it as one of these, leave its rows out,"),
    ({}, ["cat"], "at least 2 classes"), ({}, ["cat", "dog", "owl", "hen"], "hen"),
    ({}, ["cat", "dog", "owl", "case"], "'case' has another use; leave it out, or if it is a class"),
    ({"y_true": [np.nan, *LABELS[1:]] * 2}, ["cat", "dog", "owl"], "^class 'cat': .*y_true.* row 0"),
    ({"owl": ["high"] * 16}, ["cat", "dog", "owl"], "^`owl` must hold real numbers"),
    ({"owl": [np.nan] * 16}, ["cat", "dog", "owl"], "^`owl` must not hold NaN or blanks, .* at row 0;"),
])  # fmt: skip
def test_what_is_refused_of_a_table(change, classes, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        read_multiclass(long_table().assign(**change), classes)
