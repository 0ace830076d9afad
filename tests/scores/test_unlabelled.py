"""Tables of unlabelled scores: what is read, what is refused."""

import pandas as pd
import pytest
from loops import each

from skewanova import InputError, InputTypeError
from skewanova.scores.unlabelled import read_unlabelled

ROWS = pd.DataFrame({"model": ["A", "A", "B", "B"], "y_score": [0.1, 0.2, 0.3, 0.4], "case": [2, 1, 1, 2]})


def test_files_and_frames_are_read_alike(tmp_path):
    ROWS.to_csv(tmp_path / "field.csv", index=False)
    of_file, of_frame = read_unlabelled(tmp_path / "field.csv"), read_unlabelled(ROWS)
    assert of_file.frame.equals(of_frame.frame)
    assert (of_file.models, of_file.has_batches, of_file.source) == (
        ("A", "B"),
        False,
        tmp_path / "field.csv",
    )
    assert of_file.sha256() != of_frame.sha256() == ""


def test_models_are_paired_by_case_or_by_row():
    found = read_unlabelled(ROWS)
    assert found.is_paired
    assert found.select_model("A")["y_score"].tolist() == [0.2, 0.1]
    assert not read_unlabelled(ROWS.assign(case=[1, 2, 3, 4])).is_paired
    bare = ROWS.drop(columns="case")
    assert read_unlabelled(bare).is_paired
    assert not read_unlabelled(bare[1:]).is_paired


def test_other_names_of_columns():
    found = read_unlabelled(
        ROWS.rename(columns={"y_score": "p"}).assign(week=[1, 1, 2, 2]),
        columns={"y_score": "p", "batch": "week"},
    )
    assert found.has_batches
    assert found.frame["batch"].tolist() == [1, 1, 2, 2]


@each(
    ("table", "options", "message"),
    [
        (ROWS.drop(columns="y_score"), {}, "y_score"),
        (ROWS, {"columns": {"batch": "week"}}, "week"),
        (ROWS, {"columns": {"fold": "x"}}, "`columns` must be one of model, y_score, batch, case"),
        (ROWS[:0], {}, "at least one row"),
        (ROWS.assign(case=1), {}, r"\(model, case\) must be unique .* 2 rows repeat one, the first at row 1"),
        (ROWS.assign(y_score=[0.1, None, 0.2, 0.3]), {}, "`y_score` must not hold NaN"),
        (ROWS.assign(model=["A", None, "B", "B"]), {}, "`model` must not be empty"),
    ],
)
def test_bad_tables_are_refused(table, options, message):
    with pytest.raises(InputError, match=message):
        read_unlabelled(table, **options)


def test_scores_must_be_numbers():
    with pytest.raises(InputTypeError, match="`y_score` must hold real numbers"):
        read_unlabelled(ROWS.assign(y_score=list("abcd")))
