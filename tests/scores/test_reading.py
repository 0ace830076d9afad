import json
import re
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from messages import exact, expect_error, expect_warning

import skewanova as sa
from skewanova.scores import read_multiclass, read_unlabelled, reading

ROWS = [(m, f, y, s / 8) for m in "AB" for f in (1, 2) for y, s in ((0, 1), (0, 3), (1, 2), (1, 5))]
LONG = pd.DataFrame(ROWS, columns=["model", "fold", "y_true", "y_score"])
WIDE = pd.DataFrame(
    {"y_true": [0, 0, 1, 1] * 2, "fold": [1] * 4 + [2] * 4, "A": np.arange(8) + 0.5, "B": 8.5 - np.arange(8)}
)


def test_tables_without_folds_or_with_columns_of_other_names(tmp_path):
    plain = LONG.drop(columns="fold")
    table = expect_warning("^there is no column fold, so all rows are taken as", sa.read_scores, plain)
    assert table.frame.equals(sa.read_scores(plain.assign(fold=1)).frame)
    (named,) = expect_warning("no column fold", sa.read_datasets, plain.assign(dataset="x")).values()
    assert named.frame.equals(table.frame)
    expect_error("split.* first line", sa.read_scores, plain.assign(**{"7": 0}), columns={"fold": "split"})
    expect_error("needs columns part, fold, case; .* rename it", sa.read_scores, plain.assign(halving=1))
    names = {"model": "classifier", "fold": "split", "y_true": "label", "y_score": "p", "case": "id"}
    frame = with_cases(LONG).rename(columns=names)
    for source in every_source(tmp_path, frame.assign(model="x", y_score="y")):
        assert sa.read_scores(source, columns=names).frame.equals(sa.read_scores(with_cases(LONG)).frame)
    swapped = LONG.rename(columns={"model": "fold", "fold": "model"})
    table = sa.read_scores(swapped, columns={"model": "fold", "fold": "model"})
    assert (table.models, table.folds) == (("A", "B"), (1, 2))
    wide = pd.DataFrame([[0, 0.1], [1, 0.2]], columns=pd.Index(["y_true", "a\ud800"], dtype=object))
    expect_error(r"^the table must hold text .* has 'a\\ud800'; rename it$", sa.scores_from_wide, wide)
    expect_error(r"^`dataset` must .* has '\\ud800'; rename it$", sa.read_datasets, {"\ud800": LONG})
    for models in ("ab", 3):
        message = f"^`models` must be a list of names, but got {models!r}$"
        expect_error(message, sa.scores_from_wide, wide, models=models, error=sa.InputTypeError)
    message = r"^`columns` must be a mapping such as \{'model': 'classifier'\}, but got \['a'\]$"
    expect_error(message, sa.read_scores, LONG, columns=["a"], error=sa.InputTypeError)


def with_cases(frame):
    return frame.assign(case=frame.groupby(["model", "fold"]).cumcount() + 10 * frame["fold"])


def csv_file(folder, frame, name="scores.csv"):
    frame.to_csv(folder / name, index=False)
    return folder / name


def every_source(folder, frame):
    frame.to_parquet(folder / "s.parquet", index=False)
    return [
        csv_file(folder, frame), str(csv_file(folder, frame, "s.csv.gz")), folder / "s.parquet", frame,
        frame.convert_dtypes(), pl.from_pandas(frame), pa.Table.from_pandas(frame),
    ]  # fmt: skip


@pytest.mark.parametrize("column", ["model", "fold", "case"])
def test_half_a_character_is_named(column):
    frame = with_cases(LONG).astype({column: object})
    frame[column] = pd.Series([f"{value}\ud800" for value in frame[column]], dtype=object)
    expect_error(rf"^`{column}` must hold text .* has '\w+\\ud800'; rename it$", sa.read_scores, frame)


@pytest.mark.parametrize(("read", "missing", "hint"), [
    (sa.read_scores, "y_true", "read_scores(table, columns={'y_true': NAME}), or --label-column NAME"),
    (sa.read_scores, "model", "read one column per model with skewanova.scores_from_wide(table), or --wide"),
    (sa.read_datasets, "model", "another name with skewanova.read_datasets(table, columns={'model': NAME})"),
    (sa.scores_from_wide, "y_true", "name it by y_true='NAME' (--label-column NAME)"),
    (partial(sa.scores_from_wide, models=["z"]), "z", "correct the name, or rename the column"),
    (partial(read_multiclass, classes=["a", "b"]), "a", "correct the name, or rename the column"),
    (partial(read_multiclass, classes=["a", "b"]), "fold_", "columns={'fold': NAME} (--fold-column NAME)"),
    (read_unlabelled, "y_score", "correct the name, or rename the column"),
])  # fmt: skip
def test_a_missing_column_can_be_named_as_the_message_says(read, missing, hint):
    frame = LONG.assign(dataset="x", a=0.1, b=0.2).drop(columns=missing, errors="ignore")
    columns = {"columns": {"fold": missing}} if missing == "fold_" else {}
    expect_error(rf"must have the column '{missing}'.*; .*{re.escape(hint)}$", read, frame, **columns)


def test_missing_columns_are_named_at_once_with_remedies():
    frame = LONG.rename(columns={"y_true": "label", "y_score": "probability"})
    options = "--label-column NAME --score-column NAME"
    remedy = f"columns={{'y_true': NAME, 'y_score': NAME}}), or {options}"
    expect_error(re.escape(remedy) + "$", sa.read_scores, frame)
    text = LONG.assign(dataset="x", y_true=LONG["y_true"].map({0: "no", 1: "yes"}))
    for source in (text, {"x": text.drop(columns="dataset")}):
        expect_error(r"skewanova\.read_datasets\(table, pos_label='yes'\)", sa.read_datasets, source)
        assert sa.read_datasets(source, pos_label="yes")["x"].models == ("A", "B")
    remedy = r"skewanova\.read_datasets\(table, columns=\{'fold': NAME\}\), or --fold-column NAME$"
    cases = LONG.rename(columns={"fold": "f"}).assign(dataset="x", a=0.1, b=LONG["y_score"])
    expect_warning(remedy, sa.read_datasets, cases)
    assert sa.read_datasets(cases, columns={"fold": "f"})["x"].folds == sa.read_scores(LONG).folds
    labels = cases.assign(y_true=cases["y_true"].map({0: "a", 1: "b"})).drop(columns="dataset")
    remedy = r"skewanova\.scores\.read_multiclass\(table, classes, columns=\{'fold': NAME\}\), or --fold"
    expect_warning(remedy, read_multiclass, labels, ["a", "b"])
    assert read_multiclass(labels, ["a", "b"], columns={"fold": "f"}).classes == ("a", "b")


def test_columns_that_cannot_be():
    message = "the column 'y_score' is used twice (for y_true and y_score); use each column once"
    expect_error(exact(message), sa.read_scores, LONG, columns={"y_true": "y_score"})
    with expect_error(exact("the column 'fold' is used twice (for fold and case); use each column once")):
        sa.read_scores(LONG, columns={"case": "fold"})
    message = (
        r"^`key of columns` must be one of model, fold, y_true, y_score, case, cluster, weight, part, halv"
    )
    expect_error(message, sa.read_scores, LONG, columns={"score": "y_score"})


@pytest.mark.parametrize("column", ["model", "fold", "y_true", "y_score"])
def test_a_column_called_case_may_serve_as_another(tmp_path, column):
    frame = LONG.rename(columns={column: "case"})
    frame.to_parquet(tmp_path / "long.parquet")
    known = sa.read_scores(LONG).frame
    assert sa.read_scores(frame, columns={column: "case"}).frame.equals(known)
    assert sa.read_scores(tmp_path / "long.parquet", columns={column: "case"}).frame.equals(known)
    several = pd.concat([frame.assign(dataset=name) for name in "xy"])
    assert sa.read_datasets(several, columns={column: "case"})["x"].frame.equals(known)


@pytest.mark.parametrize("names", [["x"] * len(LONG), [None] * len(LONG), [float("nan")] * len(LONG)])
def test_several_data_sets_are_refused(tmp_path, names):
    path = tmp_path / "long.parquet"
    LONG.assign(dataset=names).to_parquet(path)
    assert sa.read_scores(path).counts.tolist() == sa.read_scores(LONG).counts.tolist()
    LONG.assign(dataset=["x", None] * (len(LONG) // 2)).to_parquet(path)
    expect_error(f"`dataset` must not be empty, but {len(LONG) // 2} rows are", sa.read_scores, path)
    several = LONG.assign(dataset=["x", "y"] * (len(LONG) // 2), a=0.1, b=0.2)
    several.to_parquet(path)
    message = "^the table holds 2 data sets .*, whose folds must not be mixed; "
    expect_error(f"{message}keep the rows of one, or compare AUPREC over all", sa.read_scores, path)
    expect_error(f"{message}keep the rows of one$", read_multiclass, several, ["a", "b"])
    wide = several[["y_true", "a", "b", "dataset"]]
    with pytest.raises(sa.InputTypeError, match="; keep the rows of one data set without it, or make"):
        sa.scores_from_wide(wide)


@pytest.mark.parametrize("positive", ["ill", "well"])
def test_the_positive_label(tmp_path, positive):
    frame = LONG.assign(y_true=np.where(LONG["y_true"] == 1, "ill", "well"))
    for source in every_source(tmp_path, frame):
        labels = sa.read_scores(source, pos_label=positive).frame["y_true"]
        assert labels.tolist() == (frame["y_true"] == positive).tolist()
    expect_error(r"has the labels 'ill', 'well': name the positive class", sa.read_scores, frame)


BROKEN = {
    "fold": (("fold", 5, ""), "`fold` must not be empty, but 1 row is, the first at {}"),
    "label": (("y_true", 5, np.nan), "`y_true` must not have missing labels, but has 1, the first at {}"),
    "fraction": (("y_true", 5, 0.5), "`y_true` must hold classes such as 0 and 1, but has fractions"),
    "third label": (("y_true", 5, 2), "`y_true` must hold two classes, but has 3, first seen: "),
    "nan": (("y_score", 5, np.nan), "`y_score` must not hold NaN or blanks, but has 1, the first at {}"),
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
        expect_error(f"^{re.escape(message.format(place))}", sa.read_scores, source)


@pytest.mark.slow
def test_a_wide_table_equals_its_long_form(tmp_path):
    wide = WIDE.assign(case=np.arange(8))
    known = sa.read_scores(
        wide.melt(["y_true", "fold", "case"], var_name="model", value_name="y_score")
    ).frame
    for source in every_source(tmp_path, wide):
        assert sa.scores_from_wide(source).frame.equals(known)
        assert sa.scores_from_wide(source, fold="fold", case="case").frame.equals(known)
        assert sa.scores_from_wide(source, models=("A", "B")).frame.equals(known)


def test_wide_columns_chosen_and_of_any_name(tmp_path):
    wide = WIDE.rename(columns={"fold": "split", "y_true": "label"}).assign(notes="text", id=np.arange(8))
    for source in every_source(tmp_path, wide):
        table = sa.scores_from_wide(source, y_true="label", fold="split", case="id", models=["B", "A"])
        assert (table.models, table.folds, table.has_cases) == (("B", "A"), (1, 2), True)
    assert sa.scores_from_wide(wide.drop(columns="notes"), y_true="label").models == ("split", "A", "B", "id")
    with expect_error(r"^`notes` must hold .* 'w\.csv' has 'text' at line 2; if it holds no scores, leave"):
        sa.scores_from_wide(csv_file(tmp_path, wide, "w.csv"), y_true="label")
    message = r"^`notes` must hold real numbers, but has dtype (str|object); the first"
    expect_error(message, sa.scores_from_wide, wide, y_true="label", error=sa.InputTypeError)
    assert (sa.scores_from_wide(WIDE).models, sa.scores_from_wide(WIDE).folds) == (("A", "B"), (1, 2))
    table = sa.scores_from_wide(WIDE, models=["fold", "A"])
    assert (table.models, table.folds) == (("fold", "A"), (1,))
    names = ("NA", "nan", "007", "1", "True", "<script>", "a_b%$", "../x", "C(x)", "model", "y_score")
    wide = WIDE[["y_true", "fold"]].assign(**dict.fromkeys(names, WIDE["A"]))
    for source in every_source(tmp_path, wide):
        assert sa.scores_from_wide(source).models == names


def test_wide_columns_that_are_no_text_or_no_models():
    wide = pd.DataFrame({"y_true": [0, 1], 0: [0.1, 0.9], 1: [0.5, 0.2]})
    assert sa.scores_from_wide(wide).models == ("0", "1")
    assert sa.scores_from_wide(wide, models=[1]).frame["y_score"].tolist() == [0.5, 0.2]
    with expect_error(r"^`models` must list the columns of scores, but the table has only 'y_true', 'fold'$"):
        sa.scores_from_wide(WIDE[["y_true", "fold"]])
    with expect_error(r"^`models` must list the columns of scores, but is empty$"):
        sa.scores_from_wide(WIDE, models=[])
    with pytest.raises(sa.InputError, match=exact("the column 'A' is used twice; use each column once")):
        sa.scores_from_wide(WIDE, models=["A", "A"])
    with pytest.raises(sa.InputError, match=exact("the column 'y_true' is used twice; use each column once")):
        sa.scores_from_wide(WIDE, models=["y_true"])
    expect_error(r"^the table must have the column 'Z', but", sa.scores_from_wide, WIDE, models=["A", "Z"])
    expect_error(r"^the table must have the column 'id', but has", sa.scores_from_wide, WIDE, case="id")


def test_wide_errors_count_a_row_once_and_name_the_column(tmp_path):
    broken = WIDE.astype({"y_true": float, "fold": object})
    cases = [("y_true", np.nan, "`y_true` must not have missing labels, but has 1, the first at line 5"),
             ("fold", "", "`fold` must not be empty, but 1 row is, the first at line 5"),
             ("B", np.nan, "`B` must not hold NaN or blanks, but has 1, the first at line 5")]  # fmt: skip
    for column, value, message in cases:
        frame = broken.copy()
        frame.loc[3, column] = value
        expect_error(f"^{re.escape(message)}(;|$)", sa.scores_from_wide, csv_file(tmp_path, frame))
    repeated = WIDE.assign(case=[0, 1, 2, 2, 4, 5, 6, 7])
    message = (
        r"^\(model, fold, case\) must be unique, but rows repeat one \(1 in all\): \('A', 1, 2\) at line 5;"
    )
    expect_error(message, sa.scores_from_wide, csv_file(tmp_path, repeated))


ROUNDED = {
    "int and float": ([2**53 + 1, 2**53, 0, 5], [0.5, 1.5, 0.25, 2.0], "A", 2**53 + 1),
    "unsigned and signed": (np.array([2**63, 2, 1, 0], dtype=np.uint64), [2**62 + 1, -2, -1, 2**62], "B",
                            2**62 + 1),
}  # fmt: skip


@pytest.mark.parametrize("kind", ROUNDED)
def test_wide_whole_numbers_beside_floats_are_neither_rounded_nor_replaced(tmp_path, kind):
    a, b, name, value = ROUNDED[kind]
    wide = pd.DataFrame({"y_true": [0, 1, 0, 1], "A": a, "B": b})
    message = rf"^`{name}` must keep its order as floats.*but {value} at .*write ranks in such columns$"
    for source in every_source(tmp_path, wide)[2:]:
        expect_error(message, sa.scores_from_wide, source)


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
        for (_, _, _, score), column in zip(sa.scores_from_wide(source).groups(), ("A", "B"), strict=True):
            known = wide[column].to_numpy()
            assert ((score[:, None] < score) == (known[:, None] < known)).all()
            assert ((score[:, None] == score) == (known[:, None] == known)).all()


def test_data_sets_come_from_json_lines_columns_or_a_mapping(tmp_path):
    both = [{"label": "ham", "score": 0.3}, {"label": "spam", "score": 0.7}]
    cells = [(name, label) for name in ("x", "y") for label in ("ham", "spam")]
    rows = [{"dataset": d, "model": "A", "fold": 1, "y_true": label, "y_score": both} for d, label in cells]
    path = tmp_path / "scores.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    tables = sa.read_datasets(path, pos_label="spam")
    assert [table.frame["y_score"].tolist() for table in tables.values()] == [[0.7, 0.7]] * 2
    both = pd.concat([LONG.assign(dataset=name, y_score=LONG["y_score"] + name) for name in (7, 3)])
    known = {str(name): both[both["dataset"] == name].drop(columns="dataset") for name in (7, 3)}
    for tables in (sa.read_datasets(both), sa.read_datasets({int(name): known[name] for name in known})):
        assert list(tables) == ["7", "3"]
        for name, table in tables.items():
            assert table.frame.equals(sa.read_scores(known[name]).frame)
    for empty in (None, " "):
        names = both["dataset"].astype(object).where(both["dataset"] == 7, empty)
        with expect_error(r"^`dataset` must not be empty, but 16 rows are, the first at row"):
            sa.read_datasets(both.assign(dataset=names))


def test_a_part_and_the_rest_are_two_tables(tmp_path):
    frame = pd.concat([LONG.assign(part=part, y_score=LONG["y_score"] + i) for i, part in enumerate("bac")])
    frame = frame.sample(frac=1, random_state=0)
    frame.to_csv(tmp_path / "s.csv", index=False)
    for source in (frame, tmp_path / "s.csv"):
        first, rest = reading.read_parts(source, "b")
        for table, rows in ((first, frame["part"] == "b"), (rest, frame["part"] != "b")):
            assert table.frame.equals(sa.read_scores(frame[rows].drop(columns="part")).frame)
    for odd, remedy in (
        (LONG, "add the column, or rename"),
        (frame.assign(halving=1), "leave `choose_on` out$"),
    ):
        expect_error(rf"^`choose_on` needs a column part, .* halving; {remedy}", reading.read_parts, odd, "b")
    expect_error(r"^`choose_on` must be one of .*; but got 'z'", reading.read_parts, frame, "z")
    with pytest.raises(sa.InputError, match=r"^`choose_on` must leave rows of another part, but all"):
        reading.read_parts(frame[frame["part"] == "b"], "b")


def test_every_model_of_a_hold_out_of_the_satellite_data_saw_the_same_cases():
    table = sa.load_satellite_scores()
    assert isinstance(table, sa.ScoreTable)
    assert (table.models, table.folds, table.has_cases) == (("A", "B", "C"), tuple(range(1, 21)), True)
    assert np.isfinite(table.frame["y_score"]).all()
    groups = table.frame.groupby(["model", "fold"], observed=True)
    cases = {key: frozenset(rows["case"]) for key, rows in groups}
    for fold in range(1, 21):
        assert cases["A", fold] == cases["B", fold] == cases["C", fold]
        assert len(cases["A", fold]) == 1287
    assert len({cases["A", fold] for fold in range(1, 21)}) == 20
    assert table.frame.groupby("case", observed=True)["y_true"].nunique().max() == 1
