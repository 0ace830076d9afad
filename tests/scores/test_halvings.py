"""Halvings of a data set in score tables."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from halved_tables import halved_frame
from loops import each

import skewanova as sa


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return halved_frame()


def test_hold_outs_and_halves_are_told_apart(frame: pd.DataFrame) -> None:
    table = sa.read_scores(frame)
    assert table.models == ("A", "B", "C")
    assert table.folds == (1, 2, 3, 4, 5, 6)
    assert len(table.frame) == (frame["part"] == "holdout").sum()
    assert table.halvings is not None
    assert table.halvings.n_halvings == 4
    assert table.halvings.min_folds == 2
    assert len(table.halvings.scores.folds) == 4 * 2 * 2


def test_differences_are_those_of_plain_loops(frame: pd.DataFrame) -> None:
    halvings = sa.read_scores(frame).halvings
    assert halvings is not None
    areas = {
        keys: sa.auprec_score(rows["y_true"], rows["y_score"], prior=0.1)
        for keys, rows in frame[frame["part"] != "holdout"].groupby(["model", "halving", "part", "fold"])
    }
    found = halvings.differences(np.array([sa.auprec(curve, 0.1) for curve in halvings.curves.values()]))
    for m, model in enumerate("ABC"):
        for h in range(4):
            first, second = (
                (areas[model, h + 1, half, 1] + areas[model, h + 1, half, 2]) / 2
                for half in ("half_a", "half_b")
            )
            assert found[h, m] == pytest.approx((first - second) / 2, abs=1e-14)


def test_rows_in_any_order_give_the_same_differences(frame: pd.DataFrame) -> None:
    first, second = (sa.read_scores(rows).halvings for rows in (frame, frame.sample(frac=1, random_state=1)))
    assert first is not None
    assert second is not None
    found = []
    for halvings in (first, second):
        areas = np.array([sa.auc(curve) for curve in halvings.curves.values()])
        order = [halvings.scores.models.index(model) for model in "ABC"]
        found.append(halvings.differences(areas)[:, order])
    np.testing.assert_allclose(*found, rtol=0, atol=1e-14)


def test_a_table_comes_back_from_a_file(frame: pd.DataFrame, tmp_path: Path) -> None:
    table = sa.read_scores(frame)
    table.to_frame().to_csv(tmp_path / "scores.csv", index=False)
    again = sa.read_scores(tmp_path / "scores.csv")
    pd.testing.assert_frame_equal(again.frame, table.frame)
    pd.testing.assert_frame_equal(again.to_frame(), table.to_frame())


def test_a_table_without_halvings_is_its_own_frame() -> None:
    table = sa.read_scores(halved_frame().query("part == 'holdout'").drop(columns=["part", "halving"]))
    pd.testing.assert_frame_equal(table.to_frame(), table.frame)
    assert table.halvings is None


def test_other_names_of_the_columns(frame: pd.DataFrame) -> None:
    renamed = frame.rename(columns={"part": "portion", "halving": "cut"})
    table = sa.read_scores(renamed, columns={"part": "portion", "halving": "cut"})
    assert table.halvings is not None
    assert table.halvings.n_halvings == 4


def test_a_column_part_of_another_meaning_is_left_alone(frame: pd.DataFrame) -> None:
    held = frame[frame["part"] == "holdout"].drop(columns="halving").assign(part="north")
    table = sa.read_scores(held)
    assert table.halvings is None
    assert "part" not in table.frame


def test_a_wide_table_with_halvings(frame: pd.DataFrame) -> None:
    keys = ["part", "halving", "fold", "case", "y_true"]
    wide = frame.fillna({"halving": 0}).pivot(index=keys, columns="model", values="y_score").reset_index()
    table = sa.scores_from_wide(wide)
    assert table.models == ("A", "B", "C")
    assert table.halvings is not None
    assert table.halvings.n_halvings == 4


def test_data_sets_with_halvings(frame: pd.DataFrame) -> None:
    tables = sa.read_datasets(pd.concat([frame.assign(dataset=name) for name in ("x", "y")]))
    assert [table.halvings is not None for table in tables.values()] == [True, True]


def test_the_fingerprint_knows_the_halves(frame: pd.DataFrame) -> None:
    changed = frame.copy()
    changed.loc[changed.index[-1], "y_score"] += 1
    assert sa.read_scores(frame).sha256() != sa.read_scores(changed).sha256()


def _without(rows: str) -> Callable[[pd.DataFrame], pd.DataFrame]:
    return lambda frame: frame[~frame.eval(rows, engine="python")]


def _cut_unevenly(frame: pd.DataFrame) -> pd.DataFrame:
    """Positives of half_b of the first halving go to half_a, but for two in each fold."""
    moved = frame.query("halving == 1 and part == 'half_b' and y_true == 1")["case"].unique()
    kept = frame.query("halving == 1 and part == 'half_b' and y_true == 1").groupby("fold")["case"].min()
    going = set(moved) - set(kept)
    rows = (frame["halving"] == 1).fillna(False) & frame["case"].isin(going)
    return frame.assign(part=frame["part"].mask(rows, "half_a"))


OTHER_HALF = {"half_a": "half_b", "half_b": "half_a"}


WRONG: dict[str, tuple[Callable[[pd.DataFrame], pd.DataFrame], str]] = {
    "part misspelt": (
        lambda f: f.replace({"part": {"half_a": "hafl_a"}}),
        r"`part` must be one of .*'hafl_a' at row \d+",
    ),
    "no case": (lambda f: f.drop(columns="case"), "needs the column case"),
    "no halving": (lambda f: f.drop(columns="halving"), "needs the column halving"),
    "no part": (lambda f: f.drop(columns="part"), "needs the column part"),
    "no hold-outs": (_without("part == 'holdout'"), "no row of part 'holdout'"),
    "hold-outs only": (lambda f: f[f["part"] == "holdout"], "no row of part 'half_a'"),
    "halvings by name": (
        lambda f: f.assign(halving="cut " + f["halving"].astype(str)),
        r"numbers, but has 'cut",
    ),
    "one halving": (_without("halving > 1"), "at least 2 halvings, but gives 1"),
    "half a halving": (_without("halving == 2 and part == 'half_b'"), "half_b is missing in halving 2"),
    "a model's fold missing": (
        _without("halving == 2 and part == 'half_b' and fold == 1 and model == 'B'"),
        "model 'B' is not in fold 1 of half_b in halving 2",
    ),
    "a case untested": (_without("halving == 3 and case == 7"), "case 7 is tested 0 times in halving 3"),
    "a model's case untested": (
        _without("halving == 3 and case == 7 and model == 'C'"),
        "case 7 is tested 0 times in halving 3 for model 'C'",
    ),
    "a case in both halves": (
        lambda f: pd.concat([f, f.query("halving == 1 and case == 0").replace({"part": OTHER_HALF})]),
        "case 0 is tested 2 times in halving 1",
    ),
    "a class missing": (
        _without("halving == 2 and part == 'half_a' and fold == 1 and y_true == 1"),
        "no positive case in fold '1 of half_a in halving 2'",
    ),
    "other models": (
        lambda f: f.assign(model=f["model"].where((f["part"] == "holdout") | (f["model"] != "B"), "D")),
        "must have the same models, but 'B' is in only one",
    ),
    "cases in no halving": (
        _without("halving > 0 and case > 50"),
        "cases of the hold-outs are in no halving",
    ),
    "two labels": (
        lambda f: f.assign(y_true=f["y_true"] ^ ((f["part"] == "holdout") & (f["case"] == 7))),
        "case 7 has one in the hold-outs and another in the halvings",
    ),
    "unequal halves": (_cut_unevenly, "must be of similar size, but those of halving 1 hold"),
}


@each("wrong", WRONG)
def test_what_is_no_halving_is_refused(wrong: str, frame: pd.DataFrame) -> None:
    change, message = WRONG[wrong]
    with pytest.raises(sa.InputError, match=message):
        sa.read_scores(change(frame))


def test_an_empty_number_of_a_halving_is_named_by_its_row(frame: pd.DataFrame) -> None:
    rows = frame.copy()
    rows.loc[len(rows) - 3, "halving"] = pd.NA
    with pytest.raises(sa.InputError, match=rf"`halving` must not be empty.*row {len(rows) - 3}"):
        sa.read_scores(rows)


def test_one_of_the_columns_may_be_a_model_of_a_wide_table() -> None:
    wide = pd.DataFrame({"y_true": [0, 1, 1], "part": [0.1, 0.7, 0.6], "net": [0.3, 0.2, 0.9]})
    with pytest.raises(
        sa.InputError, match="halvings need both columns part and halving, but there is only 'part'"
    ):
        sa.scores_from_wide(wide)
    assert sa.scores_from_wide(wide, models=("part", "net")).models == ("part", "net")


def test_parquet_holds_halvings(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame.astype({"halving": "Int64"}).to_parquet(tmp_path / "scores.parquet")
    assert sa.read_scores(tmp_path / "scores.parquet").halvings is not None


def test_a_dask_frame_with_halvings_is_read_as_in_memory(frame: pd.DataFrame) -> None:
    dask_frame = pytest.importorskip("dask.dataframe")
    rows = dask_frame.from_pandas(frame.astype({"halving": "Int64"}), npartitions=2)
    found, known = sa.read_scores(rows), sa.read_scores(frame)
    assert found.halvings is not None
    assert known.halvings is not None
    assert found.halvings.n_cases == known.halvings.n_cases
    assert found.counts.tolist() == known.counts.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)
        pd.testing.assert_frame_equal(sa.evaluate(rows).auprec, sa.evaluate(frame).auprec)
