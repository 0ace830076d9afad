"""Halvings of a data set: read from score tables, and drawn."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from halved_tables import halved_frame
from loops import each
from messages import exact, expect_error
from sklearn.dummy import DummyClassifier

import skewanova as sa
from skewanova.scores.halvings import Units, _merge_small_strata, draw_half_folds, draw_holdouts
from skewanova.scores.pairing import check_paired

POSITIVE = np.arange(103) % 4 == 0  # 26 positives, 77 negatives


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return halved_frame()


def read_halvings(frame: pd.DataFrame, **options: object) -> sa.scores.table.Halvings:
    halvings = sa.read_scores(frame, **options).halvings
    assert halvings is not None
    return halvings


def test_hold_outs_and_halves_are_told_apart(frame: pd.DataFrame) -> None:
    table = sa.read_scores(frame)
    assert (table.models, table.folds) == (("A", "B", "C"), (1, 2, 3, 4, 5, 6))
    pd.testing.assert_frame_equal(
        table.frame.astype({"model": str, "fold": int, "case": int}),
        frame[frame["part"] == "holdout"]
        .astype({"fold": int, "y_true": bool})[["model", "fold", "y_true", "y_score", "case"]]
        .reset_index(drop=True),
        check_dtype=False,
    )
    halvings = read_halvings(frame)
    assert (halvings.n_halvings, halvings.min_folds, halvings.n_cases, table.n_cases) == (4, 2, 60, 60)
    assert halvings.fold == (1, 2) * 8
    names = ("1 of half_a", "2 of half_a", "1 of half_b")
    assert halvings.scores.folds[:3] == tuple(f"{name} in halving 1" for name in names)


@each("seed", [None, 1])
def test_differences_are_those_of_plain_loops(frame: pd.DataFrame, seed: int | None) -> None:
    """Whatever the order of rows."""
    halvings = read_halvings(frame if seed is None else frame.sample(frac=1, random_state=seed))
    cells = frame[frame["part"] != "holdout"].groupby(["model", "halving", "part", "fold"])
    areas = {keys: sa.auprec_score(rows["y_true"], rows["y_score"], prior=0.1) for keys, rows in cells}
    by_cell = np.array([sa.auprec(curve, 0.1) for curve in halvings.curves.values()])
    result = halvings.half_differences(by_cell)
    for m, model in enumerate(halvings.scores.models):
        for h in range(4):
            halves = ((model, h + 1, half) for half in ("half_a", "half_b"))
            first, second = ((areas[*half, 1] + areas[*half, 2]) / 2 for half in halves)
            assert result[h, m] == pytest.approx((first - second) / 2, abs=1e-14)


def test_halvings_come_from_every_source(frame: pd.DataFrame, tmp_path: Path) -> None:
    table = sa.read_scores(frame)
    table.to_frame().to_csv(tmp_path / "scores.csv", index=False)
    frame.astype({"halving": "Int64"}).to_parquet(tmp_path / "scores.parquet")
    names = {"part": "portion", "halving": "cut"}
    keys = ["part", "halving", "fold", "case", "y_true"]
    wide = frame.fillna({"halving": 0}).pivot(index=keys, columns="model", values="y_score").reset_index()
    for again in (
        sa.read_scores(tmp_path / "scores.csv"), sa.read_scores(tmp_path / "scores.parquet"),
        sa.read_scores(frame.rename(columns=names), columns=names), sa.scores_from_wide(wide),
        *sa.read_datasets(pd.concat([frame.assign(dataset=name) for name in ("x", "y")])).values()
    ):  # fmt: skip
        rows = [x.to_frame().astype(str).sort_values(["model", *keys[:-1]]) for x in (again, table)]
        pd.testing.assert_frame_equal(*(x.reset_index(drop=True)[list(rows[0])] for x in rows))
    assert table.to_frame().index.tolist() == list(range(len(frame)))
    changed = frame.copy()
    changed.loc[changed.index[-1], "y_score"] += 1
    assert table.sha256() != sa.read_scores(changed).sha256()


@each("part", ["north", "holdout"])
def test_a_column_part_alone_tells_of_no_halvings(frame: pd.DataFrame, part: str) -> None:
    table = sa.read_scores(frame[frame["part"] == "holdout"].drop(columns="halving").assign(part=part))
    assert table.halvings is None
    assert "part" not in table.frame
    pd.testing.assert_frame_equal(table.to_frame(), table.frame)


def _without(rows: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda frame: frame[~frame.eval(rows, engine="python")]


def _move_positives(n_moved: int) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Move positives of half_b, 10 of 20, to half_a in the first two halvings."""

    def move(frame: pd.DataFrame) -> pd.DataFrame:
        frame = frame.copy()
        for halving in (1, 2):
            rows = frame.eval(f"halving == {halving} and part == 'half_b' and y_true == 1", engine="python")
            moved = frame.loc[rows, "case"].unique()[:n_moved]
            frame.loc[rows & frame["case"].isin(moved), "part"] = "half_a"
        return frame

    return move


OTHER_HALF = {"half_a": "half_b", "half_b": "half_a"}


WRONG: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "part misspelt": (
        lambda f: f.replace({"part": {"half_a": "hafl_a", "half_b": "hafl_b"}}),
        r"`part` must be one of holdout, half_a, half_b; not 'hafl_a' at row 378$"),
    "no case": (lambda f: f.drop(columns="case"), "need a column case"),
    "no halving": (lambda f: f[f["part"] != "half_b"].drop(columns="halving"), "need a column halving"),
    "no part": (lambda f: f.drop(columns="part"), "need a column part"),
    "no hold-outs": (_without("part == 'holdout'"), "no row of part 'holdout'"),
    "hold-outs only": (lambda f: f[f["part"] == "holdout"], "no row of part 'half_a'"),
    "halvings by name": (
        lambda f: f.assign(halving="cut " + f["halving"].astype(str)), r"but has 'cut"),
    "one halving": (_without("halving > 1"), "at least 2 halvings, but numbers 1"),
    "half a halving": (
        _without("(halving == 2 and part == 'half_b') or (halving == 3 and part == 'half_a')"),
        r"case \d+ is tested 0 times in halving 2 for model 'A' \(such in all: \d+\)"),
    "a model's fold missing": (
        _without(
            "halving == 2 and part == 'half_b' and (model == 'B' and fold == 1 or model > 'B' and fold == 2)"
        ), r"case \d+ is tested 0 times in halving 2 for model 'B' \(such in all: 30"),
    "a model's case untested": (
        _without("halving == 3 and case == 7 and model == 'C'"),
        "case 7 is tested 0 times in halving 3 for model 'C'"),
    "a case in both halves": (
        lambda f: pd.concat([f, f.query("halving == 1 and case == 0").replace({"part": OTHER_HALF})]),
        "case 0 is tested 2 times in halving 1"),
    "a class missing": (
        _without("halving == 2 and part == 'half_a' and fold == 1 and y_true == 1"),
        "no positive case in fold '1 of half_a in halving 2'"),
    "other models": (
        lambda f: f.assign(model=f["model"].where((f["part"] == "holdout") | (f["model"] != "B"), "D")),
        "must have the same models, but one lacks 'B', 'D'; spell names alike, score"),
    "cases in no halving": (
        _without("halving > 0 and case > 50"),
        r"cases of the hold-outs are in no halving \(9 in all\), the first: 51; score"),
    "two labels": (
        lambda f: f.assign(y_true=f["y_true"] ^ ((f["part"] == "holdout") & (f["case"] == 7))),
        "a case must have one label, but 1 got both, the first: 7;"),
    "two clusters": (
        lambda f: f.assign(cluster=f["case"] + 90 * ((f["part"] == "holdout") & f["case"].isin([6, 7]))),
        r"a case must have one cluster in every model and fold, but case 7 has 97 in .* and 7 in model"),
    "two weights": (
        lambda f: f.assign(weight=1.0 + ((f["part"] == "holdout") & f["case"].isin([7, 8]))),
        r"a case must have one weight in every model and fold, but case 7 has 2.0 in .* and 1.0 in model"),
    "unequal halves": (_move_positives(4), "but those of halving 1 hold 14 and 6 positive cases; halve each"),
}  # fmt: skip


def test_halves_may_differ_and_columns_be_models_of_a_wide_table(frame: pd.DataFrame) -> None:
    assert read_halvings(_move_positives(3)(frame)).n_halvings == 4
    rows = frame.copy()
    rows.loc[len(rows) - 3, "halving"] = pd.NA
    expect_error(rf"`halving` must not be empty.*row {len(rows) - 3}", sa.read_scores, rows)
    wide = pd.DataFrame({"y_true": [0, 1, 1], "part": [0.1, 0.7, 0.6], "net": [0.3, 0.2, 0.9]})
    message = (
        "halvings need columns part, halving, fold and case, but of the first two only 'part'; add the rest, "
        "or rename it if it holds scores of a model, or else leave it out"
    )
    expect_error(exact(message), sa.scores_from_wide, wide)
    assert sa.scores_from_wide(wide.rename(columns={"part": "tree"})).models == ("tree", "net")
    assert sa.scores_from_wide(wide, models=("part", "net")).models == ("part", "net")


@each("wrong", WRONG)
def test_what_is_no_halving_is_refused(wrong: str, frame: pd.DataFrame) -> None:
    change, message = WRONG[wrong]
    expect_error(message, sa.read_scores, change(frame))


def test_cases_that_a_model_lacks_are_left_out_of_hold_outs_as_the_message_says(frame: pd.DataFrame) -> None:
    """In the halves, a fold of the same number may hold a case for all models."""
    dropped = (frame["part"] == "holdout") & (frame["fold"] < 3) & (frame["case"] < 30)
    rows, known = frame[~(dropped & (frame["model"] == "B"))], frame[~dropped]
    remedy = "rows[rows.groupby(['part', 'fold', 'case'])['model'].transform('nunique') == 3]"
    expect_error(re.escape(f"by {remedy}, where"), check_paired, sa.read_scores(rows))
    mended = rows[rows.groupby(["part", "fold", "case"])["model"].transform("nunique") == 3]
    pd.testing.assert_frame_equal(mended, known)


@each("columns", [["case", "fold"], ["case", "fold", "halving"]])
def test_a_dask_frame_of_parts_alone_lacks_cases(columns: list[str], frame: pd.DataFrame) -> None:
    dask_frame = pytest.importorskip("dask.dataframe")
    rows = dask_frame.from_pandas(frame.astype({"halving": "Int64"}).drop(columns=columns), npartitions=2)
    expect_error("add a column case to the frame", sa.read_scores, rows)


def test_a_dask_frame_is_read_as_in_memory_and_small_strata_go_with_the_largest(frame: pd.DataFrame) -> None:
    dask_frame = pytest.importorskip("dask.dataframe")
    rows = dask_frame.from_pandas(frame.astype({"halving": "Int64"}), npartitions=2)
    found, known = sa.read_scores(rows), sa.read_scores(frame)
    assert found.halvings is not None
    assert known.halvings is not None
    assert found.halvings.n_cases == known.halvings.n_cases
    assert found.counts.tolist() == known.counts.tolist()
    with warnings.catch_warnings(action="ignore", category=sa.SkewanovaWarning):
        pd.testing.assert_frame_equal(sa.evaluate(rows).auprec, sa.evaluate(frame).auprec)
    # One group holds positives alone, which could not stand in both halves.
    groups = np.arange(103) // 2
    positive = POSITIVE.copy()
    positive[:2] = True
    units, rng = Units.from_groups(positive, groups), np.random.default_rng(0)
    splits = draw_holdouts(units, 4, test_fraction=0.5, rng=rng)
    assert [len(split.test) for split in splits] == pytest.approx([52] * 4, abs=2)
    assert _merge_small_strata(np.array([0, 3, 3, 3, 1, 1, 0, 3]), 3).tolist() == [3] * 8
    assert _merge_small_strata(np.array([0, 3, 3, 1, 0]), 2).tolist() == [0, 3, 3, 0, 0]


@each(
    ("groups", "stratum"),
    [(None, [0, 1, 0, 1, 1, 0]), ([7, 7, 5, 9, 9, 5], [0, 2, 1]), (["b", "b", "b", "a", "a", "c"], [1, 2, 0])]
)  # fmt: skip
def test_groups_are_stratified_by_the_classes_in_them(groups, stratum):
    positive = np.array([0, 1, 0, 1, 1, 0], dtype=bool)
    units = Units.from_groups(positive, None if groups is None else np.array(groups))
    assert units.stratum.tolist() == stratum
    names = range(6) if groups is None else groups
    second = [case for case in range(6) if names[case] == sorted(set(names))[1]]
    assert units.make_split([np.array([1])] * 2, 1).test.tolist() == second


@each("fraction", [0.5, 0.2, 0.8])
def test_hold_outs_have_their_share_of_each_class(fraction: float) -> None:
    units, rng = Units.from_groups(POSITIVE, None), np.random.default_rng(1)
    splits = draw_holdouts(units, 6, test_fraction=fraction, rng=rng)
    assert [split.label for split in splits] == [1, 2, 3, 4, 5, 6]
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(103))
        assert len(split.test) == pytest.approx(fraction * 103, abs=1)
        assert POSITIVE[split.test].sum() == pytest.approx(fraction * 26, abs=1)
    assert len({tuple(split.test) for split in splits}) == 6


@each("grouped", [False, True])
def test_halves_share_no_unit_and_test_each_once(grouped: bool) -> None:
    """Groups are never cut in two; halvings differ, though groups are of other sizes; a seed repeats them."""
    size = np.repeat(np.arange(40), np.arange(40) % 5 + 1)[:103]
    groups = np.array([f"patient {name}" for name in size]) if grouped else np.arange(103)
    units = Units.from_groups(POSITIVE, groups if grouped else None)
    inner = 2 if grouped else 5
    seeds = map(np.random.default_rng, (3, 3, 4))
    first, second, other = (draw_half_folds(units, 8, inner_folds=inner, rng=rng) for rng in seeds)
    assert [split.test.tolist() for split in first] == [split.test.tolist() for split in second]
    assert [split.test.tolist() for split in first] != [split.test.tolist() for split in other]
    assert (len(first), first[0].label) == (8 * 2 * inner, "1 of half_a in halving 1")
    sides = set()
    for halving in range(1, 9):
        splits = [split for split in first if split.halving == halving]
        halves = [[split for split in splits if split.part == part] for part in ("half_a", "half_b")]
        tested = [np.concatenate([split.test for split in half]) for half in halves]
        assert sorted(np.concatenate(tested)) == list(range(103))
        assert not set(groups[tested[0]]) & set(groups[tested[1]])
        sides.add(tuple(sorted(tested[0])))
        for half, cases in zip(halves, tested, strict=True):
            assert [split.fold for split in half] == list(range(1, inner + 1))
            assert grouped or POSITIVE[cases].sum() == 13
            for split in half:
                assert sorted([*split.train, *split.test]) == sorted(cases)
                assert not set(groups[split.train]) & set(groups[split.test])
                assert grouped or POSITIVE[split.test].sum() in {2, 3}
    assert len(sides) == 8


UNCUTTABLE: dict[str, tuple[Callable[..., object], dict[str, float], str]] = {
    "one halving": (
        draw_half_folds, {"n_halvings": 1, "inner_folds": 5}, "`n_halvings` must be at least 2, but got 1"),
    "one fold": (draw_half_folds, {"n_halvings": 4, "inner_folds": 1}, "`inner_folds` must be at least 2"),
    "few positives": (
        draw_half_folds, {"n_halvings": 4, "inner_folds": 14},
        "`inner_folds`=14 needs at least 28 positive cases (or groups with one), one for each fold of "
        "each half, but there are 26; take design=skewanova.FoldDesign('split_half', inner_folds=13), or"),
    "one split": (draw_holdouts, {"n_splits": 1, "test_fraction": 0.5}, "`n_splits` must be at least 2"),
    "nothing to train": (
        draw_holdouts, {"n_splits": 5, "test_fraction": 1.0}, "`test_fraction` must lie strictly"),
    **{
        f"share of {fraction}": (
            draw_holdouts,
            {"n_splits": 5, "test_fraction": fraction},
            f"`test_fraction`={fraction} needs at least 50 positive cases (or groups with one), so that",
        )
        for fraction in (0.02, 0.98)
    },
}  # fmt: skip


@each("wrong", UNCUTTABLE)
def test_what_cannot_be_cut_is_refused(wrong: str) -> None:
    cut, sizes, message = UNCUTTABLE[wrong]
    with pytest.raises(sa.InputError, match=f"^{re.escape(message)}"):
        cut(Units.from_groups(POSITIVE, None), **sizes, rng=np.random.default_rng(0))
    if "positive" in message:
        with pytest.raises(sa.InputError, match=f"^{re.escape(message.replace('positive', 'negative'))}"):
            cut(Units.from_groups(~POSITIVE, None), **sizes, rng=np.random.default_rng(0))


@each("length", [100, 110])
def test_groups_of_another_length(length: int) -> None:
    message = rf"^`groups` must be a list of 103 groups, one a case, but has shape \({length},\)$"
    with pytest.raises(sa.InputError, match=message):
        sa.scores_from_estimators({"A": DummyClassifier()}, POSITIVE[:, None], POSITIVE, groups=range(length))


@each(("positive", "word"), [(POSITIVE, "positive"), (~POSITIVE, "negative")])
def test_groups_that_leave_a_class_out(positive: np.ndarray, word: str) -> None:
    """Four groups hold all of a class, two of them cases of the other too: some fold of a half gets none."""
    groups = np.where(POSITIVE, 200 + np.arange(103) % 16 // 4, np.arange(103))
    groups[[1, 2]] = [202, 203]
    message = rf"^every split needs both classes, but fold .* has no {word} case to (train on|test); leave"
    with pytest.raises(sa.InputError, match=message):
        draw_half_folds(Units.from_groups(positive, groups), 6, inner_folds=2, rng=np.random.default_rng(0))
