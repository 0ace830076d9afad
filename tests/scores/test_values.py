"""Values of any measure: every form gives the same table, and every mistake is named."""

from hashlib import sha256

import numpy as np
import pandas as pd
import polars as pl
import pytest
from loops import each
from messages import expect_error
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import skewanova as sa
from skewanova.scores.values import name_candidates, read_values

WIDE = pd.DataFrame({"A": [0.8, 0.7, 0.9], "B": [0.6, 0.7, 0.8]})
LONG = pd.DataFrame({
    "model": ["A", "A", "A", "B", "B", "B"], "fold": ["1", "2", "3"] * 2, "value": [*WIDE["A"], *WIDE["B"]]
})  # fmt: skip


@pytest.fixture(scope="module")
def search():
    X, y = make_classification(120, random_state=0)
    grid = {"svc__C": [0.1, 1.0], "svc__kernel": ["rbf"]}
    model = make_pipeline(StandardScaler(), SVC())
    return GridSearchCV(model, grid, cv=3, scoring=["accuracy", "roc_auc"], refit=False).fit(X, y)


def forms(folder):
    """The same values in every form."""
    WIDE.to_csv(folder / "wide.csv", index=False)
    LONG.to_parquet(folder / "long.parquet")
    LONG.to_json(folder / "long.jsonl", orient="records", lines=True)
    yield from (WIDE, LONG, LONG.sample(frac=1, random_state=1), pl.from_pandas(LONG), WIDE.to_dict("list"))
    yield from (folder / name for name in ("wide.csv", "long.parquet", "long.jsonl"))
    yield WIDE.assign(fold=[1, 2, 3])
    yield WIDE.set_axis(pd.Index([1, 2, 3], name="fold"))
    yield {name: {"test_score": values, "fit_time": values} for name, values in WIDE.to_dict("list").items()}
    yield LONG.rename(columns={"value": "accuracy"})
    yield LONG.assign(fit_time=1.0)


def test_every_form_gives_the_same_table_of_measure_and_source(tmp_path):
    for form in forms(tmp_path):
        table = read_values(form)
        cells = {(row.model, row.fold): row.value for row in table.values.itertuples()}
        assert cells == {(row.model, row.fold): row.value for row in LONG.itertuples()}
        assert (set(table.models), set(table.folds)) == ({"A", "B"}, {"1", "2", "3"})
        assert read_values(table) is table
    assert [read_values(form).measure for form in [*forms(tmp_path)][-2:]] == ["accuracy", "value"]
    path = tmp_path / "wide.csv"
    assert (read_values(path).source, len(read_values(path).sha256())) == (path, 64)
    expected = sha256(LONG.to_csv(index=False).encode()).hexdigest()
    assert read_values(WIDE).sha256() == read_values(LONG).sha256() == expected
    assert read_values(LONG.assign(f1=LONG["value"] / 2), measure="f1").values["value"].max() == 0.45
    for form in (LONG, WIDE):
        assert (read_values(form, measure="f2").measure, read_values(form).run_size) == ("f2", 0)


def test_names_stay_text(tmp_path):
    (tmp_path / "t.csv").write_text("fold,001,1\n01,0.5,0.6\n1,0.7,0.8\n")
    table = read_values(tmp_path / "t.csv")
    assert (table.models, table.folds) == (["001", "1"], ["01", "1"])


def test_searches(search):
    for form in (search.cv_results_, pd.DataFrame(search.cv_results_)):
        table = read_values(form, measure="roc_auc")
        assert (table.models, table.measure, len(table.folds)) == (["C=0.1", "C=1.0"], "roc_auc", 3)
        first = [search.cv_results_[f"split{i}_test_roc_auc"][0] for i in range(3)]
        assert table.values["value"].tolist()[:3] == first
    expect_error("`measure` must be one of 'accuracy', 'roc_auc'", read_values, search.cv_results_)
    failed = {**search.cv_results_, "split1_test_accuracy": np.array([np.nan, 0.5])}
    expect_error(r"1 of 2 candidates got no score .*'C=0\.1'", read_values, failed, measure="accuracy")
    expect_error("has no test scores of one `scoring`", read_values, {"params": [{}]})
    results = {"A": {"test_auc": [0.5, 0.6]}, "B": {"test_f1": [0.5, 0.6]}}
    expect_error("has no test scores of one .* for all; use one, in all splits$", read_values, results)


def test_candidates_are_named_by_what_differs():
    assert name_candidates([{"a": 1, "b": SVC()}, {"a": 2, "b": SVC()}]) == ["a=1", "a=2"]
    long_names = name_candidates([{"p__a": 1, "q__a": 1}, {"p__a": 2, "q__a": 3}])
    assert long_names == ["p__a=1, q__a=1", "p__a=2, q__a=3"]
    assert name_candidates([{"a": 1}, {"a": 1}, {"a": 2}]) == ["a=1 (0)", "a=1 (1)", "a=2"]
    assert name_candidates([{"a": 1}, {"a": 1}]) == ["candidate (0)", "candidate (1)"]
    assert name_candidates([{"kernel": "rbf"}, {"kernel": "poly", "degree": 2}]) == [
        "kernel=rbf", "kernel=poly, degree=2",
    ]  # fmt: skip


def test_cross_validations_data_sets_and_runs():
    X, y = make_classification(120, random_state=0)
    results = {name: cross_validate(SVC(C=C), X, y, cv=3) for name, C in (("a", 1.0), ("b", 0.01))}
    assert read_values(results).values["value"].tolist() == [
        *results["a"]["test_score"], *results["b"]["test_score"],
    ]  # fmt: skip
    expect_error("cross_validate gives for one model; pass", read_values, pd.DataFrame(results["a"]))
    expect_error("use one form", read_values, {**results, "c": [1.0, 2.0, 3.0]}, error=sa.InputTypeError)
    folds = pd.concat([WIDE.assign(dataset=name, fold=[1, 2, 3]) for name in "xy"])
    table = read_values(folds)
    assert (table.has_datasets, table.folds) == (True, ["x", "y"])
    assert table.values["value"].round(12).tolist() == [0.8, 0.8, 0.7, 0.7]
    runs = read_values(folds.rename(columns={"dataset": "run"}))
    assert (runs.run_size, runs.folds[0], len(runs.folds)) == (3, "x/1", 6)
    with pytest.raises(sa.InputError, match="column 'A' has two values in fold '1'; tell them apart by a"):
        read_values(folds.drop(columns="dataset"))


def test_selected_models():
    pd.testing.assert_frame_equal(
        read_values(WIDE).select_models(["B"]).values, LONG.tail(3).reset_index(drop=True)
    )
    expect_error("`models` must be one of A, B", read_values(WIDE).select_models, ["C"])


@each(("values", "message"), [
    (WIDE.assign(A="x"), "`A` must hold real numbers.*'x' at row 0; call that column model if"),
    (sa.read_scores(WIDE[1:].assign(model="A", fold=1, y_true=[0, 1], y_score=0.5)),
     r"^`values` has scores of cases: .* by skewanova\.compare_values\(values, measure=.*roc_auc$"),
    (WIDE.assign(A=[0.1, np.nan, 0.3]), "`A` must not hold NaN or blanks, but has 1, the first at row 1"),
    (WIDE.assign(A=[0.1, np.inf, -np.inf]), "is inf at row 1; leave out that fold, run or data set for all"),
    (WIDE.iloc[:1], "at least 2 folds, but the values are of 1"),
    (WIDE[["A"]], "at least 2 models, but the values are of 1"),
    (WIDE[[]], "at least 2 models, but the values are of 0"),
    (LONG.iloc[:-1], "model 'B' has no value in fold '3'"),
    (LONG.iloc[::-1].drop([3, 1]), "model 'B' has no value in fold '1'"),  # the first by its place
    (pd.concat([LONG, LONG]).replace("A", "z"), "model 'z' has two values in fold '1'; .* by a column run"),
    (LONG.drop(columns="fold"), "must have a column fold"),
    (LONG.rename(columns={"value": "f1"}).assign(f2=1.0), "values 'value', but 'f1', 'f2'; name one"),
    (LONG.drop(columns="value"), "no column of values 'value'; add it$"),
    (LONG.iloc[:0], "^the table must hold at least one row"),
    (LONG.assign(dataset="x"), "2 data sets, but names 1; add others, or leave it out and state `design`"),
    (LONG[LONG["fold"] == "1"].rename(columns={"fold": "dataset"}), "but names 1; add others$"),
    (LONG[:-1].rename(columns={"fold": "dataset"}), "no value in data set '3'; .* leave out that data set"),
    (LONG[LONG["fold"] == "1"].rename(columns={"fold": "run"}), "needs at least 2 runs, but the values are"),
    (LONG.drop(columns="model"), "^column 'value' has two values .* by a column model or run or dataset"),
    (pd.DataFrame({"model;fold;value": ["A;1;0.5"]}), "separated by ';': separate them by commas$"),
    ({"A": [1, 2], "B": [1]}, r"numbers of values are \[1, 2\]"),
    (5, "^`values` must be a path or a pandas"),
])  # fmt: skip
def test_mistakes_are_named(values, message):
    with pytest.raises((sa.InputError, sa.InputTypeError), match=message):
        read_values(values)


def test_columns_of_text_in_files(tmp_path):
    path = tmp_path / "t.csv"
    LONG.assign(note="x").to_csv(path, index=False)
    assert read_values(path).values.equals(read_values(LONG).values)
    for bad in (LONG.rename(columns={"value": "f1"}), WIDE):
        bad.assign(note="x").to_csv(path, index=False)
        expect_error("'x' at line 2; call that column model if it names the models, or", read_values, path)
    LONG.rename(columns={"value": "y_score"}).assign(case="x", y_true="no").to_csv(path, index=False)
    expect_error("the table has scores: compare AUPREC by", read_values, path)


def test_a_measure_that_is_not_there():
    with pytest.raises(sa.InputError, match="values 'f1', but 'a', 'b'; name one"):
        read_values(LONG.rename(columns={"value": "a"}).assign(b=1.0), measure="f1")
