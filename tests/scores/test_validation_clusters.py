"""Columns cluster and weight of a score table: read, checked, and honoured or refused."""

import re

import numpy as np
import pandas as pd
import pytest
from loops import each
from messages import expect_error

import skewanova as sa
from skewanova import InputError, InputTypeError, read_scores, scores_from_wide
from skewanova.scores.table import shared_clusters
from skewanova.scores.validation import fill_fold, locate_group_row

#: Two models on six cases of three patients.
TABLE = pd.DataFrame({
    "model": np.repeat(["A", "B"], 6), "fold": 1, "case": np.tile(np.arange(6), 2),
    "cluster": np.tile(["p 1", "p 1", "p 2", "p 2", "p 3", "p 3"], 2),
    "weight": np.tile([1.0, 2.0, 0.5, 1.5, 4.0, 1.0], 2), "y_true": np.tile([0, 1, 0, 1, 0, 1], 2),
    "y_score": [0.1, 0.8, 0.2, 0.4, 0.7, 0.9, 0.3, 0.2, 0.1, 0.6, 0.5, 0.8],
})  # fmt: skip


def folds(clusters, n_folds=2, *, case=True):
    """Folds that test the same numbers of cases; `clusters` names that of every case, fold by fold."""
    size = len(clusters) // n_folds
    frame = pd.DataFrame({
        "fold": np.repeat(np.arange(1, n_folds + 1), size), "case": np.arange(len(clusters)),
        "cluster": clusters, "y_true": np.arange(len(clusters)) % 2,
        "y_score": np.linspace(0, 1, len(clusters)),
    })  # fmt: skip
    both = pd.concat([frame.assign(model=model) for model in "AB"], ignore_index=True)
    return both if case else both.drop(columns="case")


def test_both_columns_are_read_from_every_format_and_under_other_names(tmp_path):
    frame = TABLE.rename(columns={"cluster": "patient", "weight": "ipw"})
    frame.to_csv(tmp_path / "t.csv", index=False)
    frame.to_json(tmp_path / "t.jsonl", orient="records", lines=True)
    frame.to_parquet(tmp_path / "t.parquet")
    for source in (frame, *tmp_path.iterdir()):
        table = read_scores(source, columns={"cluster": "patient", "weight": "ipw"})
        assert (table.has_clusters, table.has_weights) == (True, True)
        assert list(table.frame) == ["model", "fold", "y_true", "y_score", "case", "cluster", "weight"]
        for column in ("cluster", "weight"):
            assert table.frame[column].tolist() == TABLE[column].tolist()


def test_a_wide_table_takes_them_for_no_models(tmp_path):
    wide = TABLE[TABLE["model"] == "A"].drop(columns="model").rename(columns={"y_score": "A"})
    wide.to_csv(tmp_path / "wide.csv", index=False)
    table = scores_from_wide(wide)
    pd.testing.assert_frame_equal(scores_from_wide(tmp_path / "wide.csv").frame, table.frame)
    assert table.models == ("A",)
    assert table.has_clusters
    assert table.has_weights
    other = wide.rename(columns={"cluster": "patient", "weight": "ipw"})
    renamed = scores_from_wide(other, cluster="patient", weight="ipw")
    pd.testing.assert_frame_equal(renamed.frame, table.frame)
    as_models = scores_from_wide(wide, models=["A", "weight"])
    assert as_models.models == ("A", "weight")
    assert not as_models.has_weights


@each(("change", "message"), [
    ({"weight": pd.Series([None, -1.0] * 6, dtype=object)},
     "`weight` must not hold NaN or blanks, but has 6, the first at row 0"),
    ({"weight": 0}, "`weight` must be above 0 in some row, but is 0 in all"),
    ({"cluster": "p"}, "`cluster` must name at least 2 clusters, but all cases are in 'p'; leave it"),
    ({"weight": 1 - TABLE["y_true"]}, "every model needs both classes in every fold, but model 'A' has"),
])  # fmt: skip
def test_clusters_and_weights_that_cannot_be(change, message):
    expect_error(f"^{re.escape(message)}", read_scores, TABLE.assign(**change))
    with pytest.raises(InputTypeError, match=r"^`weight` must hold real numbers, .* is 'much' at row 0$"):
        read_scores(TABLE.assign(weight="much"))


@pytest.mark.parametrize(("column", "value"), [("cluster", "p 2"), ("weight", 7.0)])
def test_a_case_has_one_cluster_and_one_weight(column, value):
    frame = TABLE.copy()
    first = frame[column].tolist()[1]
    frame.loc[[7, 11], column] = value
    told = (
        f"a case must have one {column} in every model and fold, but case 1 has {first!r} in model 'A' at "
        f"row 1 and {value!r} in model 'B' at row 7 (such rows in all: 2)"
    )
    expect_error(re.escape(told), read_scores, frame)
    with pytest.raises(InputError, match=r"at row 7 .*; correct these, or match rows by a column case"):
        read_scores(frame.drop(columns="case"))


def test_weights_of_zero_hide_nothing_and_folds_hold_whole_clusters():
    frame = TABLE.copy()
    frame.loc[7, "weight"] = 0.0
    expect_error(r"a case must have one weight", read_scores, frame)
    table = read_scores(TABLE.assign(weight=np.tile([1.0, 2.0, 0.0, 0.0, 4.0, 1.0], 2)))
    assert (len(table.frame), table.counts.tolist()) == (8, [[[2, 2]], [[2, 2]]])
    assert table.frame["cluster"].cat.categories.tolist() == ["p 1", "p 3"]
    frame = pd.DataFrame({"fold": [1, 2, 3, 1, 2, 1], "cluster": [*"cccaab"]})
    assert shared_clusters(frame) == (2, "c", 3)
    assert shared_clusters(frame[frame["fold"] == 1]) is None
    frame = folds(list("aabbccdd"), case=False)
    assert read_scores(frame).has_clusters
    first, second = frame.copy(), frame.copy()
    first.loc[[8, 12], "cluster"] = ["b", "d"]  # of model B, in both folds
    second["cluster"] = second["cluster"].where(second["model"] == "A", second["cluster"].str.upper())
    second = pd.concat([second[second["fold"] == 2], second[second["fold"] == 1]])
    for odd, place in ((first, "row 0"), (second, "row 8")):
        message = (
            "a case must have one cluster in every model, but in fold 1 models have unequal numbers of rows "
            f"with the cluster 'a', the first at {place}; correct these (a column case shows which "
        )
        expect_error(re.escape(message), read_scores, odd)


@pytest.mark.parametrize("case", [True, False])
def test_no_fold_cuts_a_cluster(case):
    assert read_scores(folds(list("aabbccdd"), case=case)).has_clusters
    cut = list("aabccddd") if case else list("aabcddbb")
    told = r"every fold must test all known cases of a cluster or none, but fold 1 tests 1 of the \d of c"
    expect_error(told, read_scores, folds(cut, case=case))


def test_rows_and_effective_counts_of_a_group():
    assert fill_fold(TABLE) is TABLE
    assert fill_fold(TABLE.drop(columns="fold"))["fold"].tolist() == [1] * 12
    rows = TABLE[TABLE["model"] == "B"].assign(fold=3)
    assert locate_group_row(rows)(2) == "row 2 of model 'B' in fold 3"
    for bare in (rows[:0], rows.drop(columns="model")):
        assert locate_group_row(bare)(2) == "row 2"
    table = read_scores(TABLE)
    for model, at in zip("AB", (0, 1), strict=True):
        rows = TABLE[TABLE["model"] == model]
        for kind in (0, 1):
            held = rows[rows["y_true"] == kind].groupby("cluster")["weight"].sum().to_numpy()
            expected = held.sum() ** 2 / (held**2).sum()
            assert table.effective_counts[at, 0, kind] == pytest.approx(expected, rel=1e-12)
    plain = read_scores(TABLE.drop(columns=["cluster", "weight"]))
    assert plain.effective_counts.tolist() == plain.counts.tolist()


@pytest.mark.parametrize("column", ["cluster", "weight"])
def test_a_group_by_itself_is_refused_with_them(column):
    rows = TABLE.drop(columns={"cluster": "weight", "weight": "cluster"}[column]).query("model == 'A'")
    with pytest.raises(InputError, match=rf"with {column} cannot be measured by itself; leave"):
        sa.evaluation.measure_group(rows)
