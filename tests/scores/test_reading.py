import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from skewanova import (
    ScoreTable,
    compare,
    evaluate,
    read_datasets,
    read_scores,
    scores_from_wide,
)
from skewanova.base.checks import InputError, InputTypeError, SkewanovaWarning
from skewanova.scores.pairing import check_paired, complete_table, describe_table

ROWS = [(m, f, y, s / 8) for m in "AB" for f in (1, 2) for y, s in ((0, 1), (0, 3), (1, 2), (1, 5))]
LONG = pd.DataFrame(ROWS, columns=["model", "fold", "y_true", "y_score"])
WIDE = pd.DataFrame(
    {"y_true": [0, 0, 1, 1] * 2, "fold": [1] * 4 + [2] * 4, "A": np.arange(8) + 0.5, "B": 8.5 - np.arange(8)}
)


def exact(message):
    return f"^{re.escape(message)}$"


def test_without_a_column_of_folds_all_rows_are_one_test_set():
    plain = LONG.drop(columns="fold")
    with pytest.warns(
        SkewanovaWarning, match="^there is no column fold, so all rows are taken as one test set"
    ):
        table = read_scores(plain)
    assert table.frame.equals(read_scores(plain.assign(fold=1)).frame)
    with pytest.warns(SkewanovaWarning, match="no column fold"):
        (named,) = read_datasets(plain.assign(dataset="x")).values()
    assert named.frame.equals(table.frame)
    with pytest.raises(InputError, match="split"):
        read_scores(plain, columns={"fold": "split"})
    with pytest.raises(InputError, match=r"^a table with halvings needs the column fold"):
        read_scores(plain.assign(part="holdout", halving=1))


def with_cases(frame):
    return frame.assign(case=frame.groupby(["model", "fold"]).cumcount() + 10 * frame["fold"])


def csv_file(folder, frame, name="scores.csv"):
    frame.to_csv(folder / name, index=False)
    return folder / name


# --- long tables ------------------------------------------------------------------------------------------


def every_source(folder, frame):
    frame.to_parquet(folder / "s.parquet", index=False)
    return [
        csv_file(folder, frame),
        str(csv_file(folder, frame, "s.csv.gz")),
        folder / "s.parquet",
        frame,
        frame.convert_dtypes(),
        pl.from_pandas(frame),
        pa.Table.from_pandas(frame),
    ]


@pytest.mark.parametrize("make", [lambda f: f, with_cases, lambda f: f.assign(notes="some, text")])
def test_every_source_gives_the_same_table(tmp_path, make):
    frame = make(LONG)
    for source in every_source(tmp_path, frame):
        table = read_scores(source)
        assert isinstance(table, ScoreTable)
        assert (table.models, table.folds) == (("A", "B"), (1, 2))
        assert table.counts.tolist() == [[[2, 2]] * 2] * 2
        columns = [*LONG, "case"] if "case" in frame else list(LONG)
        assert list(table.frame) == columns
        assert table.frame["y_true"].dtype == bool
        assert table.frame.astype({"model": str, "y_true": int}).to_numpy().tolist() == (
            frame[columns].to_numpy().tolist()
        )


def test_columns_of_other_names(tmp_path):
    names = {"model": "classifier", "fold": "split", "y_true": "label", "y_score": "p", "case": "id"}
    frame = with_cases(LONG).rename(columns=names)
    for source in every_source(tmp_path, frame.assign(model="x", y_score="y")):
        assert read_scores(source, columns=names).frame.equals(read_scores(with_cases(LONG)).frame)


def test_columns_may_swap_names():
    swapped = LONG.rename(columns={"model": "fold", "fold": "model"})
    table = read_scores(swapped, columns={"model": "fold", "fold": "model"})
    assert (table.models, table.folds) == (("A", "B"), (1, 2))


def test_columns_that_cannot_be():
    with pytest.raises(InputError, match=exact("the column 'y_score' is mapped twice; map each column once")):
        read_scores(LONG, columns={"y_true": "y_score"})
    with pytest.raises(InputError, match=exact("the column 'fold' is mapped twice; map each column once")):
        read_scores(LONG, columns={"case": "fold"})
    with pytest.raises(
        InputError,
        match=r"^`columns` must be one of model, fold, y_true, y_score, case, cluster, weight, part, halv",
    ):
        read_scores(LONG, columns={"score": "y_score"})


@pytest.mark.parametrize("column", ["model", "fold", "y_true", "y_score"])
def test_a_column_called_case_may_serve_as_another(tmp_path, column):
    frame = LONG.rename(columns={column: "case"})
    frame.to_parquet(tmp_path / "long.parquet")
    known = read_scores(LONG).frame
    assert read_scores(frame, columns={column: "case"}).frame.equals(known)
    assert read_scores(tmp_path / "long.parquet", columns={column: "case"}).frame.equals(known)
    several = pd.concat([frame.assign(dataset=name) for name in "xy"])
    assert read_datasets(several, columns={column: "case"})["x"].frame.equals(known)


@pytest.mark.parametrize("names", [["x"] * len(LONG), [None] * len(LONG), [float("nan")] * len(LONG)])
def test_several_data_sets_are_refused(tmp_path, names):
    path = tmp_path / "long.parquet"
    LONG.assign(dataset=names).to_parquet(path)
    assert read_scores(path).counts.tolist() == read_scores(LONG).counts.tolist()
    LONG.assign(dataset=["x", "y"] * (len(LONG) // 2)).to_parquet(path)
    with pytest.raises(InputError, match="the table holds 2 data sets"):
        read_scores(path)


def test_a_case_column_that_was_named_must_be_there():
    with pytest.raises(InputError, match=r"^the table must have the column 'id', but has 'model', 'fold',"):
        read_scores(LONG, columns={"case": "id"})
    assert not read_scores(LONG).has_cases


@pytest.mark.parametrize("positive", ["ill", "well"])
def test_the_positive_label(tmp_path, positive):
    frame = LONG.assign(y_true=np.where(LONG["y_true"] == 1, "ill", "well"))
    for source in every_source(tmp_path, frame):
        labels = read_scores(source, pos_label=positive).frame["y_true"]
        assert labels.tolist() == (frame["y_true"] == positive).tolist()
    with pytest.raises(InputError, match=r"has the labels 'ill', 'well': say which is the positive class"):
        read_scores(frame)


BROKEN = {
    "fold": (("fold", 5, ""), "`fold` must not be empty, but 1 row is, the first at {}"),
    "label": (("y_true", 5, np.nan), "`y_true` must not have missing labels, but has 1, the first at {}"),
    "fraction": (("y_true", 5, 0.5), "`y_true` must hold class labels, but has fractions"),
    "third label": (("y_true", 5, 2), "`y_true` must hold two classes, but has 3, first seen: "),
    "nan": (("y_score", 5, np.nan), "`y_score` must not hold NaN, but has 1 NaN, the first at {}"),
    "no positive": (
        ("y_true", slice(4, 7), 0),
        "every model needs both classes in every fold, but model 'A' has no positive case in fold 2",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", BROKEN)
def test_the_same_error_whatever_the_source(tmp_path, what):
    (column, rows, value), message = BROKEN[what]
    frame = LONG.astype({"y_true": float})
    if column == "fold":
        frame["fold"] = frame["fold"].astype(str)
    frame.loc[rows, column] = value
    for source in every_source(tmp_path, frame):
        is_text = ".csv" in str(source)
        place = "line 7" if is_text else "row 5"
        with pytest.raises(InputError, match=f"^{re.escape(message.format(place))}"):
            read_scores(source)


def test_text_scores(tmp_path):
    frame = LONG.astype({"y_score": str})
    frame.loc[5, "y_score"] = "high"
    with pytest.raises(
        InputError, match=exact("`y_score` must hold real numbers, but 'scores.csv' has 'high' at line 7")
    ):
        read_scores(csv_file(tmp_path, frame))
    for source in every_source(tmp_path, frame)[2:]:
        with pytest.raises(
            InputTypeError, match=r"^`y_score` must hold real numbers, but has dtype (str|object|string)"
        ):
            read_scores(source)
    with pytest.raises(InputTypeError, match=r"has dtype complex128$"):
        read_scores(LONG.assign(y_score=LONG["y_score"] * 1j))


def test_cases_are_checked_in_files_too(tmp_path):
    cases = with_cases(LONG)
    cases.loc[5, "case"] = cases.loc[4, "case"]
    message = (
        "(model, fold, case) must be unique, but 1 rows repeat one: ('A', 2, 20) at line 7; if folds are "
        "bootstrap resamples, give the test set once: its cases are resampled for you"
    )
    with pytest.raises(InputError, match=exact(message)):
        read_scores(csv_file(tmp_path, cases))
    flipped = with_cases(LONG)
    flipped.loc[[5, 6], "y_true"] = [1, 0]
    with pytest.raises(
        InputError, match=r"^a case must have one label, but 2 cases have both, the first: 21, 22;"
    ):
        read_scores(csv_file(tmp_path, flipped))


@pytest.mark.filterwarnings("ignore:at prior 0.5 the smallest fold")
@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_whole_scores_beyond_2_to_53_are_not_tied(tmp_path, dtype):
    score = np.array([2**62 + 1, 2**62], dtype=dtype)
    frame = pd.DataFrame({"model": "A", "fold": 1, "y_true": [0, 1], "y_score": score})
    for source in every_source(tmp_path, frame):
        assert evaluate(read_scores(source), at_priors=(0.5,), deployment_prior=0.5).iauprec[
            "auc"
        ].tolist() == [0.0]


# --- wide tables ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_wide_table_equals_its_long_form(tmp_path):
    wide = WIDE.assign(case=np.arange(8))
    long = wide.melt(["y_true", "fold", "case"], var_name="model", value_name="y_score")
    known = read_scores(long).frame
    for source in every_source(tmp_path, wide):
        assert scores_from_wide(source).frame.equals(known)
        assert scores_from_wide(source, fold="fold", case="case").frame.equals(known)
        assert scores_from_wide(source, models=("A", "B")).frame.equals(known)


def test_wide_columns_chosen_and_named(tmp_path):
    wide = WIDE.rename(columns={"fold": "split", "y_true": "label"}).assign(notes="text", id=np.arange(8))
    for source in every_source(tmp_path, wide):
        table = scores_from_wide(source, y_true="label", fold="split", case="id", models=["B", "A"])
        assert (table.models, table.folds, table.has_cases) == (("B", "A"), (1, 2), True)
    assert scores_from_wide(wide.drop(columns="notes"), y_true="label").models == ("split", "A", "B", "id")
    with pytest.raises(
        InputError, match=exact("`notes` must hold real numbers, but 'w.csv' has 'text' at line 2")
    ):
        scores_from_wide(csv_file(tmp_path, wide, "w.csv"), y_true="label")
    with pytest.raises(
        InputTypeError, match=r"^`notes` must hold real numbers, but has dtype (str|object); the first"
    ):
        scores_from_wide(wide, y_true="label")


def test_the_fold_of_a_wide_table_is_no_model_unless_it_is_named_one():
    assert scores_from_wide(WIDE).models == ("A", "B")
    assert scores_from_wide(WIDE).folds == (1, 2)
    table = scores_from_wide(WIDE, models=["fold", "A"])
    assert (table.models, table.folds) == (("fold", "A"), (1,))


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["NA", "nan", "007", "1", "True", "<script>", "a_b%$", "../x", "C(x)", "model", "y_score"]
)
def test_wide_models_of_any_name(tmp_path, name):
    wide = WIDE.rename(columns={"B": name})
    for source in every_source(tmp_path, wide):
        assert scores_from_wide(source).models == ("A", name)


def test_wide_columns_that_are_no_text():
    wide = pd.DataFrame({"y_true": [0, 1], 0: [0.1, 0.9], 1: [0.5, 0.2]})
    assert scores_from_wide(wide).models == ("0", "1")
    assert scores_from_wide(wide, models=[1]).frame["y_score"].tolist() == [0.5, 0.2]


def test_a_column_of_row_numbers_is_no_model(tmp_path):
    WIDE.to_csv(tmp_path / "w.csv")
    assert scores_from_wide(tmp_path / "w.csv").models == ("A", "B")


def test_wide_errors_count_a_row_once_and_name_the_column(tmp_path):
    broken = WIDE.astype({"y_true": float, "fold": object})
    cases = [("y_true", np.nan, "`y_true` must not have missing labels, but has 1, the first at line 5"),
             ("fold", "", "`fold` must not be empty, but 1 row is, the first at line 5"),
             ("B", np.nan, "`B` must not hold NaN, but has 1 NaN, the first at line 5")]  # fmt: skip
    for column, value, message in cases:
        frame = broken.copy()
        frame.loc[3, column] = value
        with pytest.raises(InputError, match=exact(message)):
            scores_from_wide(csv_file(tmp_path, frame))
    repeated = WIDE.assign(case=[0, 1, 2, 2, 4, 5, 6, 7])
    with pytest.raises(
        InputError,
        match=r"^\(model, fold, case\) must be unique, but 1 rows repeat one: \('A', 1, 2\) at line 5;",
    ):
        scores_from_wide(csv_file(tmp_path, repeated))


def test_wide_tables_without_models_or_with_one_twice():
    with pytest.raises(
        InputError, match=r"^`models` must name at least one column of scores, but the table has"
    ):
        scores_from_wide(WIDE[["y_true", "fold"]])
    with pytest.raises(
        InputError, match=r"^`models` must name at least one column of scores, but the table has"
    ):
        scores_from_wide(WIDE, models=[])
    with pytest.raises(InputError, match=exact("the column 'A' is mapped twice; map each column once")):
        scores_from_wide(WIDE, models=["A", "A"])
    with pytest.raises(InputError, match=exact("the column 'y_true' is mapped twice; map each column once")):
        scores_from_wide(WIDE, models=["y_true"])
    with pytest.raises(InputError, match=r"^the table must have the column 'Z', but has"):
        scores_from_wide(WIDE, models=["A", "Z"])
    with pytest.raises(InputError, match=r"^the table must have the column 'id', but has"):
        scores_from_wide(WIDE, case="id")


ROUNDED = {
    "int and float": ([2**53 + 1, 2**53, 0, 5], [0.5, 1.5, 0.25, 2.0], "A", 2**53 + 1),
    "limits": ([2**63 - 1, 2**63 - 2, 1, 0], [0.5, 1.5, 0.25, 2.0], "A", 2**63 - 1),
    "unsigned and signed": (
        np.array([2**63, 2, 1, 0], dtype=np.uint64),
        [2**62 + 1, -2, -1, 2**62],
        "B",
        2**62 + 1,
    ),
}


@pytest.mark.parametrize("kind", ROUNDED)
def test_wide_whole_numbers_beside_floats_are_neither_rounded_nor_replaced(tmp_path, kind):
    a, b, name, value = ROUNDED[kind]
    wide = pd.DataFrame({"y_true": [0, 1, 0, 1], "A": a, "B": b})
    message = rf"^`{name}` must keep its order as floats.*but {value} at .*write the ranks$"
    for source in every_source(tmp_path, wide)[2:]:
        with pytest.raises(InputError, match=message):
            scores_from_wide(source)


def test_wide_whole_numbers_that_floats_hold_keep_their_values():
    wide = pd.DataFrame({"y_true": [0, 1, 0, 1], "A": [2**53 + 2, 2**53, 0, 5], "B": [0.5, 1.5, 0.25, 2.0]})
    table = scores_from_wide(wide)
    assert [score.tolist() for *_, score in table.groups()] == [wide["A"].tolist(), wide["B"].tolist()]


MIXED = {
    "int and float": ([2**53 + 2, 2**53, 0, 5], [0.5, 1.5, 0.25, 2.0]),
    "small": (np.array([255, 0, 3, 2], dtype=np.uint8), np.array([-1, 1, 3, -4], dtype=np.int8)),
    "bool": ([True, False, True, False], [0.5, 1.5, 0.25, 2.0]),
    "single": (np.array([0.1, 0.2, 0.3, 0.1], dtype=np.float32), [0.1, 0.2, 0.30000000000000004, 0.3]),
}


@pytest.mark.parametrize("kind", MIXED)
def test_wide_columns_of_mixed_dtypes_keep_every_order(tmp_path, kind):
    a, b = MIXED[kind]
    wide = pd.DataFrame({"y_true": [0, 1, 0, 1], "A": a, "B": b})
    for source in every_source(tmp_path, wide)[2:]:
        table = scores_from_wide(source)
        for (_, _, _, score), column in zip(table.groups(), ("A", "B"), strict=True):
            known = wide[column].to_numpy()
            assert ((score[:, None] < score) == (known[:, None] < known)).all()
            assert ((score[:, None] == score) == (known[:, None] == known)).all()


# --- complete and paired tables ---------------------------------------------------------------------------


def test_a_complete_table_is_left_alone():
    table = read_scores(LONG)
    assert complete_table(table) == (table, ())
    assert complete_table(table, missing="drop") == (table, ())
    with pytest.raises(InputError, match=r"^`missing` must be one of raise, drop; but got 'ignore'$"):
        complete_table(table, missing="ignore")


def lacking(*cells, frame=LONG):
    gone = pd.MultiIndex.from_frame(frame[["model", "fold"]]).isin(cells)
    return read_scores(frame[~gone])


def test_a_missing_cell_is_named():
    message = (
        "every model must be scored in every fold, but these are missing: model 'B' in fold 2. Score them, "
        "or drop the folds for all models with missing='drop' (--missing drop)"
    )
    with pytest.raises(InputError, match=exact(message)):
        complete_table(lacking(("B", 2)))
    frame = pd.concat([LONG.assign(model=m) for m in ("A", "B", *"cdefghi")])
    table = lacking(*((m, 2) for m in "cdefghi"), frame=frame)
    with pytest.raises(InputError, match=r"'g' in fold 2; and 2 more\. Score them"):
        complete_table(table)


def test_a_fold_is_dropped_for_all_models():
    table = lacking(("B", 2))
    note = "dropped 1 of 2 folds for all models, since these are missing: model 'B' in fold 2"
    with pytest.warns(SkewanovaWarning, match=exact(note)):
        kept, notes = complete_table(table, missing="drop")
    assert notes == (note,)
    assert (kept.models, kept.folds, kept.counts.tolist()) == (("A", "B"), (1,), [[[2, 2]], [[2, 2]]])
    assert kept.frame.index.tolist() == list(range(8))
    assert table.folds == (1, 2)
    with pytest.raises(
        InputError, match=r"^no fold holds every model; missing: model 'A' in fold 1; model 'B'"
    ):
        complete_table(lacking(("A", 1), ("B", 2)), missing="drop")


def test_cases_must_be_the_same_for_all_models():
    assert check_paired(read_scores(with_cases(LONG))) == ()
    frame = with_cases(LONG)
    frame.loc[15, "case"] = 99
    message = (
        "all models of a fold must be scored on the same cases, but 2 (fold, case) pairs lack a model, the "
        "first: case 23 in fold 2, case 99 in fold 2; score these cases by all models, or leave them out"
    )
    with pytest.raises(InputError, match=exact(message)):
        check_paired(read_scores(frame))
    assert check_paired(lacking(("B", 2), frame=with_cases(LONG))) == ()


def test_without_cases_unequal_counts_are_told():
    assert check_paired(read_scores(LONG)) == ()
    with pytest.warns(SkewanovaWarning, match=r"^models have different numbers of cases in 1 folds \(the"):
        (note,) = check_paired(read_scores(LONG.drop(index=15)))
    assert note.endswith("which the tests assume")


# --- description ------------------------------------------------------------------------------------------


def test_description():
    assert describe_table(read_scores(with_cases(LONG))) == [
        "16 rows: 2 models x 2 folds",
        "models: A, B",
        "positives per fold: 2; negatives per fold: 2",
        "prior in the table: 0.5",
        "cases: named, and the same for all models of a fold",
        "warning: the smallest fold has 2 positives: means and intervals are about areas in folds of that "
        "size, which below 30 positives may differ from those of large samples; use fewer or larger folds",
        "The table can be compared.",
    ]


def test_description_of_unequal_folds_and_strange_names():
    frame = LONG.drop(index=[0, 15]).replace({"model": {"B": "\x1b[31m\nB"}})
    with pytest.warns(SkewanovaWarning, match="different numbers of cases in 2 folds"):
        lines = describe_table(read_scores(frame))
    assert lines[1:4] == [
        r"models: A, \x1b[31m B",
        "positives per fold: 1 to 2; negatives per fold: 1 to 2",
        "prior in the table: 0.5",
    ]
    assert lines[4] == "cases: not named"
    assert lines[5].startswith("warning: models have different numbers of cases in 2 folds")


@pytest.mark.filterwarnings("ignore:at prior 0.5 the smallest fold")
@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (LONG[LONG["model"] == "A"], "a comparison needs at least 2 models, but the table has 1"),
        (LONG[:12], "every model must be scored in every fold"),
        (
            with_cases(LONG).assign(case=np.arange(16)),
            "all models of a fold must be scored on the same cases",
        ),
    ],
)
def test_tables_that_cannot_be_compared_are_not_described(frame, message):
    table = read_scores(frame)
    with pytest.raises(InputError, match=f"^{message}"):
        describe_table(table)
    with pytest.raises(InputError, match=r".{20}"):
        compare(table, at_priors=(0.5,), deployment_prior=0.5)


def test_data_sets_of_json_lines_have_a_positive_class_too(tmp_path):
    both = [{"label": "ham", "score": 0.3}, {"label": "spam", "score": 0.7}]
    cells = [(name, label) for name in ("x", "y") for label in ("ham", "spam")]
    rows = [{"dataset": d, "model": "A", "fold": 1, "y_true": label, "y_score": both} for d, label in cells]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    tables = read_datasets(path, pos_label="spam")
    assert [table.frame["y_score"].tolist() for table in tables.values()] == [[0.7, 0.7]] * 2
