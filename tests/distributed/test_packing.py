"""Groups packed where their rows are, whole and in pieces, against the same rows in memory."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from loops import each
from messages import expect_error

import skewanova as sa
from skewanova.curves.groups import WeightedCurve
from skewanova.distributed import packing


def rows_of(n=200, digits=1, rng=0, **columns):
    draw = np.random.default_rng(rng)
    label = np.arange(n) % 3 == 0
    score = (draw.normal(size=n) + label).round(digits)
    return pd.DataFrame({"model": "a", "fold": 2, "y_true": label.astype(int), "y_score": score, **columns})


def test_missing_keys_and_labels_are_kept_and_categories_without_rows_are_none():
    frame = rows_of(6).assign(model=pd.Categorical(["b"] * 6, categories=["a", "b"]))
    assert [one.group for one in packing.sample_groups(frame)] == [("b", "2")]
    counts = packing.count_levels(frame, cuts={})
    assert (counts["n"].sum(), (counts["n"] > 0).all(), counts.index.is_unique) == (6, True, True)
    holes = rows_of(6).astype({"fold": float, "y_true": float})
    holes.loc[2, "fold"] = np.nan
    assert isinstance(packing.sample_groups(holes), sa.InputError)
    unlabelled = rows_of(6).astype({"y_true": object})
    unlabelled.loc[4, "y_true"] = np.nan
    (found,) = packing.sample_groups(unlabelled)
    assert (found.labels, packing.count_levels(unlabelled, cuts={})["n"].sum()) == (("1", "0", "nan"), 6)


@each(("columns", "error", "message"), [
    ({"y_score": np.nan}, sa.InputError, "y_score"),
    ({"y_score": 1j}, sa.InputTypeError, "y_score"),
    ({"y_true": 0}, sa.InputError, "no positives|positive"),
])  # fmt: skip
def test_what_a_worker_refuses_is_raised_here(columns, error, message):
    refused = packing.pack_group(rows_of().assign(**columns), pos_label=None)
    assert isinstance(refused, error)
    later = sa.InputTypeError("zzz") if error is sa.InputError else sa.InputError("zzz")
    expect_error(message, packing.raise_errors, [later, "whatever", refused], error=error)
    assert packing.raise_errors(["this", "that"]) == ["this", "that"]


@pytest.mark.parametrize("shown", [4, 256])
def test_a_sketch_shows_scores_from_the_least_to_the_largest(shown, monkeypatch):
    monkeypatch.setattr(packing, "SAMPLE_SIZE", shown)
    frame = pd.concat([rows_of(11, digits=9), rows_of(3, digits=9).assign(fold=1.0)])
    first, second = packing.sample_groups(frame)
    score = np.sort(frame["y_score"][:11].to_numpy())
    assert first.score.tolist() == (score if shown > 11 else score[[0, 3, 6, 10]]).tolist()
    assert (first.group, first.n_rows, first.labels) == (("a", "2"), 11, ("1", "0"))
    assert (second.group, second.n_rows, len(second.score)) == (("a", "1"), 3, 3)
    many = rows_of(9, y_true=[*"abcdefghi"], case=range(9))
    (found,) = packing.sample_groups(many)
    assert found.labels == tuple("abcde")
    assert "a row of model 'a' in fold '2'" in str(packing.sample_groups(many.assign(y_score=np.nan)))


def sketch(score, n_rows=None, group=("a", "1")):
    score = np.asarray(score, dtype=float)
    return packing.GroupSample(group, n_rows or len(score), score, ("0", "1"))


@pytest.mark.parametrize(("n", "most"), [(100, 30), (1000, 999), (57, 10)])
def test_no_piece_has_many_more_rows_than_half_of_what_a_worker_holds(n, most):
    score = np.random.default_rng(n).permutation(n).astype(float)
    parts = [sketch(part) for part in np.array_split(score, 4)]
    cuts = packing.choose_cuts([*parts, sketch([5.0], group=("b", "1"))], most)[("a", "1")]
    sizes = np.bincount(np.searchsorted(cuts, score))
    assert len(sizes) == -(-2 * n // most)
    assert sizes.max() <= most / 2 + 1
    assert sizes.min() >= n // len(sizes) - 2


def test_scores_shown_stand_for_as_many_rows_or_none():
    """Of two parts that show as many scores the larger counts for more."""
    four, tens = [1, 2, 3, 4], [10, 20, 30, 40]
    assert not packing.choose_cuts([sketch(four, n_rows=4), sketch(tens, n_rows=96)], 100)
    for parts, most, cuts in (
        ([sketch(four, n_rows=4), sketch(tens, n_rows=100)], 100, [20, 30]),
        ([sketch(four, n_rows=7), sketch(tens)], 10, [3, 10]),
        ([sketch(four, n_rows=7), sketch(tens[:2], n_rows=40)], 30, [10, 20]),
    ):
        assert packing.choose_cuts(parts, most)["a", "1"].tolist() == cuts
    none = packing.count_levels(rows_of(5)[:0], cuts={})
    assert list(none) == ["model", "fold", "y_true", "y_score", "piece", "n"]
    assert none.empty
    assert none[["piece", "n"]].dtypes.tolist() == [np.int64, np.int64]
    both = packing.count_levels(pd.concat([rows_of(5), rows_of(5).assign(model="b")]), cuts={})
    assert both.index.is_unique
    one = partial(packing.pack_piece, labels=("0", "1"), pos_label=None)(both[:1].assign(piece=3))
    assert (one.number, one.curve.n_positive + one.curve.n_negative) == (3, both["n"].iloc[0])
    alone = packing.count_levels(rows_of(5).drop(columns="fold"), cuts={})
    assert (list(alone), set(alone["piece"])) == (["model", "y_true", "y_score", "piece", "n"], {0})


def weighted_rows(n=200, **columns):
    weight = np.random.default_rng(1).choice([0.0, 0.5, 2.0, 7.0], n)
    return rows_of(n, weight=weight, case=np.arange(n), cluster="p", **columns)


def test_cases_of_weight_0_are_left_out_of_a_packed_group():
    frame = weighted_rows()
    frame["y_true"] = np.where(frame["weight"] > 0, frame["y_true"], 1)
    frame["y_true"] = np.where(frame["y_true"] == 1, "yes", "no")
    frame.loc[[0, 1], "weight"] = 0.0
    kept = frame[frame["weight"] > 0]
    positive, score, weight = (kept["y_true"] == "yes").to_numpy(), kept["y_score"].to_numpy(), kept["weight"]
    found = packing.pack_group(frame[::-1], pos_label="yes")
    expected = WeightedCurve.from_cases(positive, score, weight.to_numpy())
    assert found.curve.tobytes() == expected.tobytes()
    assert (found.curve.n_positive, found.curve.n_negative) == (positive.sum(), (~positive).sum())
    assert found.labels == ("no", "yes")
    frame = weighted_rows(9).assign(weight=0)
    for rows, labels in ((frame, ("1", "0")), (frame[frame["y_true"] == 0], ("0",))):
        found = packing.pack_group(rows, pos_label=None)
        assert (found.curve, found.labels) == (None, labels)
        assert found.group == ("a", "2")


@pytest.mark.parametrize(
    ("column", "value", "message"), [("weight", -1.0, "weight"), ("cluster", None, "cluster")]
)
def test_what_is_wrong_with_a_weight_or_a_cluster_is_told_of_the_group(column, value, message):
    frame = weighted_rows(9).astype({"cluster": object})
    frame.loc[3, column] = value
    found = packing.pack_group(frame, pos_label=None)
    assert isinstance(found, sa.InputError)
    assert f"`{message}` must" in str(found)
    assert "row 3 of model 'a' in fold 2" in str(found)
    assert "a row of model 'a' in fold '2'" in str(packing.sample_groups(frame))


def test_groups_stand_in_order_and_lack_what_has_no_curve():
    rows = {(m, f): weighted_rows(30).assign(model=m, fold=f) for m in "ab" for f in (10, 9)}
    rows["a", 10]["weight"] = 0.0
    groups = packing.join_groups([packing.pack_group(frame, pos_label=None) for frame in rows.values()], None)
    assert (groups.models, groups.folds) == (("a", "b"), (9, 10))
    assert [*groups.packed] == [("a", 9), ("b", 9), ("b", 10)]
    kept = rows["b", 9][rows["b", 9]["weight"] > 0]["y_true"]
    each = [(kept == 0).sum(), (kept == 1).sum()]
    assert groups.counts.tolist() == [[each, [0, 0]], [each, each]]
