"""Tables of unlabelled scores: what is read, what is refused."""

import numpy as np
import pandas as pd
from loops import each
from messages import expect_error

from skewanova import read_scores
from skewanova.scores.unlabelled import SCORE_BIN_COLUMNS, collect_labelled_cases, read_unlabelled, score_bins

ROWS = pd.DataFrame({"model": ["A", "A", "B", "B"], "y_score": [0.1, 0.2, 0.3, 0.4], "case": [2, 1, 1, 2]})


def test_files_and_frames_are_read_alike(tmp_path):
    ROWS.to_csv(tmp_path / "field.csv", index=False)
    of_file, of_frame = read_unlabelled(tmp_path / "field.csv"), read_unlabelled(ROWS)
    assert of_file.frame.equals(of_frame.frame)
    assert (of_file.models, of_file.has_batches, of_file.source) == (
        ("A", "B"), False, tmp_path / "field.csv"
    )  # fmt: skip
    assert of_file.sha256() != of_frame.sha256() == ""
    (tmp_path / "field.csv").unlink()
    assert not of_file.sha256()


def test_models_are_paired_whatever_their_columns_are_called():
    found = read_unlabelled(ROWS)
    assert found.is_paired
    assert found.select_model("A")["y_score"].tolist() == [0.2, 0.1]
    three = pd.concat([ROWS, ROWS[:2].assign(model="C")])
    assert read_unlabelled(three).is_paired
    for cases in ([1, 2, 3, 4, 3, 4], [1, 2, 1, 2, 3, 4]):
        assert not read_unlabelled(three.assign(case=cases)).is_paired
    bare = ROWS.drop(columns="case")
    assert read_unlabelled(bare).is_paired
    assert not read_unlabelled(bare[1:]).is_paired
    renamed = ROWS.rename(columns={"y_score": "p"}).assign(week=[1, 1, 2, 2])
    found = read_unlabelled(renamed, columns={"y_score": "p", "batch": "week"})
    assert found.has_batches
    assert found.frame["batch"].tolist() == [1, 1, 2, 2]


@each(("table", "options", "message"), [
    (ROWS.drop(columns="y_score"), {}, "y_score"), (ROWS, {"columns": {"batch": "week"}}, "week"),
    (ROWS, {"columns": {"fold": "x"}}, "`key of columns` must be one of model, y_score, batch, case"),
    (ROWS[:0], {}, "at least one row"),
    (ROWS.assign(case=1), {}, r"\(model, case\) must be unique .* one \(2 in all\), the first at row 1"),
    (ROWS.assign(case=1, batch=[1, 2, 1, 2]), {}, "start again in every batch, join batch and number$"),
    (ROWS.assign(y_score=[0.1, None, 0.2, 0.3]), {}, "`y_score` must not hold NaN"),
    (ROWS.assign(model=["A", None, "B", "B"]), {}, "`model` must not be empty"),
])  # fmt: skip
def test_bad_tables_are_refused(table, options, message):
    expect_error(message, read_unlabelled, table, **options)


def make_labelled():
    """Models over three folds that overlap; A has ties, B is constant, C goes to infinity."""
    rng = np.random.default_rng(0)
    rows = [(m, f, case) for m in "DABC" for f in (1, 2, 3) for case in range(20 * f, 20 * f + 60)]
    frame = pd.DataFrame(rows, columns=["model", "fold", "case"])
    frame = frame.sample(frac=1, random_state=0, ignore_index=True)
    frame["y_true"] = frame["case"] % 3 == 0
    frame["y_score"] = (rng.normal(size=len(frame)) + frame["y_true"]).round(1)
    frame.loc[frame["model"] == "B", "y_score"] = 0.5
    frame.loc[frame["model"].eq("C") & frame["case"].eq(30), "y_score"] = np.inf
    return frame


def test_cases_of_several_folds_count_once_by_their_mean_score():
    frame = make_labelled()
    table = read_scores(frame)
    names = table.frame["case"].cat.categories
    for model in "ADB":
        rows = frame[frame["model"] == model]
        for fold, part in [(None, rows), (2, rows[rows["fold"] == 2]), ("2", rows[rows["fold"] == 2])]:
            cases = collect_labelled_cases(table, model, fold)
            means = part.groupby("case")["y_score"].mean()
            assert names[cases.case].tolist() == means.index.tolist()
            np.testing.assert_allclose(cases.score, means, rtol=1e-14)
            assert cases.positive.tolist() == (means.index % 3 == 0).tolist()
    part = read_scores(frame[frame["fold"].gt(1) | frame["model"].ne("A")])  # fold 1 is of others only
    expect_error("`fold` must be one of 2, 3; but got '1'", collect_labelled_cases, part, "A", 1)
    bare = read_scores(frame[frame["fold"] > 1].drop(columns="case"))
    with expect_error(r"must have a case column, .*as in fold='2' \(--fold 2 of `skewanova prior`\)$"):
        collect_labelled_cases(bare, "A")
    named = read_scores(frame.assign(fold=frame["fold"].map("site {}".format)).drop(columns="case"))
    with expect_error(r"as in fold='site \d' \(--fold 'site \d' of"):
        collect_labelled_cases(named, "D")
    assert score_bins(bare).empty
    part = frame[(frame["model"] == "A") & (frame["fold"] == 3)]
    cases = collect_labelled_cases(bare, "A", fold=3)
    assert (cases.score.tolist(), cases.case.tolist()) == (part["y_score"].tolist(), list(range(60)))


def test_bins_count_the_cases_of_every_model_whose_scores_differ():
    table = read_scores(make_labelled())
    frame = score_bins(table)
    assert (tuple(frame.columns), frame.index.tolist()) == (SCORE_BIN_COLUMNS, list(range(len(frame))))
    assert frame["model"].unique().tolist() == [m for m in table.models if m in "AD"]
    for model, rows in frame.groupby("model"):
        assert rows["bin"].tolist() == list(range(1, len(rows) + 1))
        assert rows["score_high"].isna().tolist() == [False] * (len(rows) - 1) + [True]
        cases = collect_labelled_cases(table, model)
        index = np.searchsorted(rows["score_high"].to_numpy()[:-1], cases.score, side="left")
        for kind, column in ((True, "n_positive"), (False, "n_negative")):
            counts = np.bincount(index[cases.positive == kind], minlength=len(rows))
            assert rows[column].tolist() == counts.tolist()
    one = make_labelled().query("fold == 1").drop(columns="case")
    assert score_bins(read_scores(one))["n_positive"].sum() == 2 * 20
    for nothing in (read_scores(make_labelled().drop(columns="case")), read_scores(one.assign(y_score=0.5))):
        assert score_bins(nothing).empty
        assert tuple(score_bins(nothing).columns) == SCORE_BIN_COLUMNS
