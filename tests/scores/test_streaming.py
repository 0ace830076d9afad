import dataclasses
import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from damaged_files import damaged
from hypothesis import given
from hypothesis import strategies as st

import skewanova as sa
from skewanova.base.checks import InputError, InputTypeError, SkewanovaWarning
from skewanova.cli import commands
from skewanova.curves.groups import PackedCurve
from skewanova.curves.roc import rises_between
from skewanova.scores import parquet, reading, soundness, streamed_cases, streaming
from skewanova.scores.pairing import check_paired, complete_table, describe_table
from skewanova.scores.reading import open_scores, stream_scores

FRAMES = (
    "auprec iauprec anova posthoc prior_pairs ranking regions difference_curves equivalence assumptions roc "
    "precision_recall auprec_by_prior surface skew"
)


def table(n_models=3, n_folds=4, size=40, seed=0):
    """Every model scored on the same cases of a fold, which overlap at random; some scores are tied."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation([0, 1] * 50)
    parts = []
    for fold in range(1, n_folds + 1):
        while True:
            case = rng.choice(100, size, replace=False)
            if 0 < truth[case].sum() < size:
                break
        for model in range(n_models):
            noise = rng.normal(size=size).round(1)
            parts.append(
                pd.DataFrame(
                    {
                        "model": f"m{n_models - model}",
                        "fold": n_folds + 1 - fold,
                        "y_true": truth[case],
                        "y_score": noise + truth[case] * (0.5 + 0.2 * model),
                        "case": case,
                    }
                )
            )
    return pd.concat(parts, ignore_index=True)


def one_file(folder, frame, **options):
    path = folder / "scores.parquet"
    frame.to_parquet(path, **{"index": False, "row_group_size": 50, **options})
    return path


def pieces(folder, frame):
    """Three files, one of them below another folder, beside files that are none of the table."""
    place = folder / "pieces"
    (place / "more").mkdir(parents=True)
    (place / "_metadata.parquet").write_bytes(b"no table")
    (place / "README.txt").write_text("no table")
    cuts = [0, 17, len(frame) // 2, len(frame)]
    for i, name in enumerate(["b.parquet", "a.pq", "more/c.parquet"]):
        frame.iloc[cuts[i] : cuts[i + 1]].to_parquet(place / name, index=False)
    return place


def hive(folder, frame):
    """One file a group, models and folds in the names of the folders."""
    place = folder / "hive"
    for (model, fold), rows in frame.groupby(["model", "fold"]):
        below = place / f"model={model}" / f"fold={fold}"
        below.mkdir(parents=True)
        rows.drop(columns=["model", "fold"]).to_parquet(below / "part.parquet", index=False)
    return place


def mixed(frame):
    return frame.sample(frac=1, random_state=3)


def assert_alike(streamed, read):
    """Same levels, counts and curves, to the last bit; same facts about the cases."""
    assert (streamed.models, streamed.folds) == (read.models, read.folds)
    assert [type(fold) for fold in streamed.folds] == [type(fold) for fold in read.folds]
    assert streamed.counts.tolist() == read.counts.tolist()
    assert streamed.has_cases == read.has_cases
    assert list(streamed.curves()) == list(read.curves())
    for cell, curve in read.curves().items():
        other = streamed.curves()[cell]
        assert (other.fpr.tolist(), other.tpr.tolist()) == (curve.fpr.tolist(), curve.tpr.tolist())
        assert (other.n_positive, other.n_negative) == (curve.n_positive, curve.n_negative)
    if read.has_cases:
        assert streamed.unpaired()[0] == read.unpaired()[0]
        assert streamed.shared_cases()[1] == read.shared_cases()[1]
        assert streamed.shared_cases()[0].tolist() == read.shared_cases()[0].tolist()


@pytest.fixture(params=[7, 1 << 18])
def batch_rows(request, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_ROWS", request.param)
    monkeypatch.setattr(streamed_cases, "BUCKET_ROWS", 10 * request.param)


# --- the same as in memory --------------------------------------------------------------------------------


@pytest.mark.parametrize("write", [one_file, pieces, hive])
@pytest.mark.parametrize("order", [lambda f: f, mixed, lambda f: f.sort_values("case", kind="stable")])
@pytest.mark.parametrize("drop", [[], ["case"]])
@pytest.mark.usefixtures("batch_rows")
def test_any_layout_gives_what_is_read_in_memory(tmp_path, write, order, drop):
    path = write(tmp_path, order(table()).drop(columns=drop))
    read = sa.read_scores(path)
    assert_alike(stream_scores(path), read)
    expected = sa.read_scores(table().drop(columns=drop))
    assert set(read.models) == set(expected.models)
    assert read.folds == expected.folds
    assert read.counts.sum() == expected.counts.sum()


CASES = {
    "whole": lambda case: case,
    "unsigned": lambda case: case.astype(np.uint64) + 2**63,
    "text of whole numbers": lambda case: case.astype(str),
    "two spellings": lambda case: case.astype(str) + np.where(case.index % 2, ".0", ""),
    "text": lambda case: "case-" + case.astype(str),
    "some whole": lambda case: case.astype(str).where(case > 3, "x" + case.astype(str)),
    "categories": lambda case: ("c" + case.astype(str)).astype("category"),
    "fractions": lambda case: case / 7,
    "zeros of both signs": lambda case: case * np.where(case.index % 2, 1.0, -1.0) * (case == 0) + case,
    "dates": lambda case: pd.Timestamp("2020-01-01") + pd.to_timedelta(case, unit="D"),
}  # fmt: skip


@pytest.mark.no_cover
@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("order", [lambda f: f, mixed])
@pytest.mark.usefixtures("batch_rows")
def test_cases_of_any_kind(tmp_path, kind, order):
    frame = table()
    path = one_file(tmp_path, order(frame.assign(case=CASES[kind](frame["case"]))))
    assert_alike(stream_scores(path), sa.read_scores(path))


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("fold", lambda f: f.astype(float)),
        ("fold", lambda f: f.astype(float) + 0.5),
        ("fold", lambda f: f.astype(str).where(f.index % 3 > 0, f.astype(str) + ".0")),
        ("fold", lambda f: "cv" + f.astype(str)),
        ("fold", lambda f: pd.Timestamp("2020-01-01") + pd.to_timedelta(f, unit="D")),
        ("model", lambda m: m.str[1:].astype(int)),
        ("model", lambda m: m.astype("category").cat.set_categories(["unused", "m1", "m2", "m3"])),
        ("model", lambda m: m.map({"m1": "NA", "m2": "../x", "m3": "C(x) = 'é'"})),
        ("y_true", lambda y: y.astype(bool)),
        ("y_true", lambda y: y * 2 - 1.0),
        ("y_true", lambda y: y.map({0: "0", 1: "1.0"})),
        ("y_score", lambda s: s.astype(np.float32)),
        ("y_score", lambda s: (s * 10).astype(np.int64) + 2**53),
        ("y_score", lambda s: (s * 10).astype(np.int8)),
        ("y_score", lambda s: s > 0.4),
        ("y_score", lambda s: s.where(s < 1, np.inf).where(s > -1, -np.inf)),
    ],
)
@pytest.mark.usefixtures("batch_rows")
def test_columns_of_any_type(tmp_path, column, change):
    frame = table()
    path = one_file(tmp_path, mixed(frame.assign(**{column: change(frame[column])})))
    assert_alike(stream_scores(path), sa.read_scores(path))


def test_names_of_columns_and_the_positive_label(tmp_path):
    names = {"model": "classifier", "fold": "model", "case": "id"}
    frame = table().assign(y_true=table()["y_true"].map({0: "ill", 1: "well"})).rename(columns=names)
    path = one_file(tmp_path, frame)
    options = {"columns": names, "pos_label": "ill"}
    assert_alike(stream_scores(path, **options), sa.read_scores(path, **options))


def in_words(folder, frame):
    path = folder / "scores.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("write", [one_file, pieces, in_words])
def test_without_a_column_of_folds_all_rows_are_one_test_set(tmp_path, write):
    frame = mixed(table(n_folds=1))
    path = write(tmp_path, frame.drop(columns="fold"))
    message = "^there is no column fold: all rows are taken as one test set"
    with pytest.warns(SkewanovaWarning, match=message):
        read = sa.read_scores(path)
    with pytest.warns(SkewanovaWarning, match=message):
        streamed = stream_scores(path)
    assert_alike(streamed, read)
    assert streamed.sha256() == read.sha256()
    with pytest.raises(InputError, match="must have the column 'split'"):
        stream_scores(path, columns={"fold": "split"})


def test_scores_are_told_apart_alike(tmp_path):
    """Ties and resamples are looked at in passes too, whatever the order of rows."""
    frame = table(size=70)
    decided = (frame["y_score"] > 0.5).astype(float)
    frame["y_score"] = frame["y_score"].round(0).where(frame["model"] != "m2", decided)
    streamed, here = stream_scores(one_file(tmp_path, frame)), sa.read_scores(mixed(frame))
    auc = soundness.auc_of_folds(here)
    told = soundness.auc_of_folds(streamed).loc[list(here.folds), list(here.models)]
    pd.testing.assert_frame_equal(told, auc, check_exact=True)
    found = soundness.score_findings(streamed, auc)
    assert found == soundness.score_findings(here, auc)
    advised = [each.check for each in found if each.advice]
    assert advised == ["share_of_cases", "different_scores", "share_at_best_score"]


def test_files_of_different_types_are_one_table(tmp_path):
    frame = table()
    frame[:200].astype({"y_score": "float64"}).to_parquet(tmp_path / "a.parquet", index=False)
    late = frame[200:].astype({"y_score": "float32", "model": "category", "case": "int16"})
    late[sorted(late)].to_parquet(tmp_path / "b.parquet", index=False)
    assert_alike(stream_scores(tmp_path), sa.read_scores(tmp_path))


@pytest.mark.no_cover
@pytest.mark.parametrize("write", [one_file, hive])
@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_comparing_gives_equal_frames(tmp_path, write):
    frame = sa.load_satellite_scores().only_folds(range(1, 7)).frame
    path = write(tmp_path, frame if write is hive else mixed(frame))
    options = {"deployment_prior": (0.05, 0.2), "priors": (0.5, 0.2), "interaction": True}
    read, streamed = (sa.compare(source, **options) for source in (sa.read_scores(path), stream_scores(path)))
    for name in FRAMES.split():
        pd.testing.assert_frame_equal(getattr(streamed, name), getattr(read, name), check_exact=True)
    assert (streamed.design, streamed.warnings) == (read.design, read.warnings)
    assert (streamed.sha256, streamed.source) == (read.sha256, path)
    assert streamed.summary() == read.summary()


@pytest.mark.no_cover
@pytest.mark.parametrize("estimator", sa.curves.ESTIMATORS)
@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_every_estimator_is_the_same(tmp_path, estimator):
    path = one_file(tmp_path, mixed(table()))
    read, streamed = (
        sa.evaluate(s, area_estimator=estimator) for s in (sa.read_scores(path), stream_scores(path))
    )
    assert streamed.auprec.equals(read.auprec)
    assert streamed.iauprec.equals(read.iauprec)
    grid = np.linspace(0.01, 0.9, 30)
    assert streamed.mean_auprec(grid).tolist() == read.mean_auprec(grid).tolist()


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_missing_cells(tmp_path):
    frame = table()
    path = one_file(tmp_path, frame[(frame["model"] != "m2") | (frame["fold"] != 3)])
    read, streamed = sa.read_scores(path), stream_scores(path)
    assert_alike(streamed, read)
    assert streamed.class_sizes() == read.class_sizes()
    with pytest.raises(InputError, match=r"^every model must be .* missing: model 'm2' in fold 3\."):
        complete_table(streamed)
    dropped, notes = complete_table(streamed, missing="drop_fold")
    expected, told = complete_table(read, missing="drop_fold")
    assert notes == told
    assert_alike(dropped, expected)
    first, second = (sa.compare(scores, missing="drop_fold", priors=(0.5,)) for scores in (streamed, read))
    pd.testing.assert_frame_equal(first.anova, second.anova, check_exact=True)
    assert first.design == second.design


@pytest.mark.parametrize("kind", ["kfold", "repeated_kfold"])
def test_designs_are_told_apart_alike(tmp_path, kind):
    rng = np.random.default_rng(1)
    sets = {
        "kfold": np.split(np.arange(60), 6),
        "repeated_kfold": [*np.split(rng.permutation(60), 3), *np.split(rng.permutation(60), 3)],
    }[kind]
    parts = [
        pd.DataFrame({"model": model, "fold": fold, "case": cases, "y_true": cases % 2})
        for fold, cases in enumerate(sets)
        for model in "ab"
    ]
    frame = pd.concat(parts, ignore_index=True).assign(y_score=lambda f: rng.normal(size=len(f)))
    path = one_file(tmp_path, frame)
    assert sa.scores.find_resampling(stream_scores(path)) == sa.scores.find_resampling(sa.read_scores(path))


def test_runs_on_one_test_set_are_known_as_such_in_memory_only(tmp_path):
    parts = [
        pd.DataFrame({"model": model, "fold": fold, "case": range(60), "y_true": np.arange(60) % 2})
        for fold in range(3)
        for model in "ab"
    ]
    frame = pd.concat(parts, ignore_index=True)
    path = one_file(tmp_path, frame.assign(y_score=np.random.default_rng(1).normal(size=len(frame))))
    assert sa.scores.find_resampling(sa.read_scores(path)).kind == "shared_cases"
    streamed = sa.scores.find_resampling(stream_scores(path))
    assert streamed.kind == "repeated_holdout"
    assert streamed.warnings[0].startswith("all folds test the same cases")


def test_the_description(tmp_path):
    path = one_file(tmp_path, table())
    streamed = stream_scores(path)
    assert describe_table(streamed) == describe_table(sa.read_scores(path))
    assert repr(streamed) == "<StreamedScores: 480 rows, 3 models x 4 folds, of 'scores.parquet'>"
    assert repr(streamed.curves()) == "<12 ROC curves, packed>"
    without = stream_scores(one_file(tmp_path, table().drop(columns="case")))
    assert without.unpaired() == (0, ())
    with pytest.raises(LookupError, match="no case column"):
        without.shared_cases()


# --- packed curves ----------------------------------------------------------------------------------------


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 6)), min_size=2, max_size=60), st.booleans())
def test_packing_loses_nothing_but_thresholds(rows, untied):
    positive = np.array([True, False, *(label for label, _ in rows)])
    score = np.array([3, 3, *(value for _, value in rows)])
    score = np.arange(len(score)) if untied else score
    curve = sa.roc_curve(positive, score)
    packed = PackedCurve.of(positive, score)
    again = packed.curve()
    assert (again.fpr.tolist(), again.tpr.tolist()) == (curve.fpr.tolist(), curve.tpr.tolist())
    assert (again.n_positive, again.n_negative) == (curve.n_positive, curve.n_negative)
    assert np.isnan(again.thresholds).all()
    assert len(again.thresholds) == len(again.fpr)
    assert (packed.ends is None) == (len(curve.fpr) == len(score) + 1)
    assert packed.labels.nbytes == -(-len(score) // 8)
    assert sa.curves.convex_hull(again).tpr.tolist() == sa.curves.convex_hull(curve).tpr.tolist()
    rises = rises_between(curve.tpr, curve.fpr)
    for field in dataclasses.fields(rises):
        assert getattr(packed.rises(), field.name).tolist() == getattr(rises, field.name).tolist()


# --- the same rules ---------------------------------------------------------------------------------------


def repeated(frame):
    return pd.concat([frame, frame.iloc[[300, 7, 9]]], ignore_index=True)


def two_labels(frame):
    """One case positive in one fold only, in which it is so for all models."""
    odd = (frame["fold"] == 1) & (frame["case"] == frame.loc[frame["fold"] == 1, "case"].iloc[0])
    return frame.assign(y_true=frame["y_true"].where(~odd, 1 - frame["y_true"]))


def two_labels_often(frame):
    """Every third case is positive in the second model only."""
    odd = (frame["model"] == "m2") & (frame["case"] % 3 == 0)
    return frame.assign(y_true=frame["y_true"].where(~odd, 1 - frame["y_true"]))


def repeated_often(frame):
    """Many rows stand there two and three times."""
    return pd.concat([frame, frame.iloc[::9], frame.iloc[::18]], ignore_index=True)


BROKEN = {
    "empty": lambda f: f[:0],
    "model": lambda f: f.assign(model=f["model"].where(~f.index.isin([5, 9]), None)),
    "blank model": lambda f: f.assign(model=f["model"].where(~f.index.isin([5, 9]), " ")),
    "fold": lambda f: f.assign(fold=f["fold"].where(f.index != 11)),
    "case": lambda f: f.assign(case=f["case"].where(~f.index.isin([13, 400]))),
    "blank case": lambda f: f.assign(case=f["case"].astype(str).where(f.index != 5, "")),
    "label": lambda f: f.assign(y_true=f["y_true"].where(~f.index.isin([5, 6]))),
    "label in words": lambda f: f.assign(y_true=f["y_true"].astype(str).where(~f.index.isin([5, 77]), "NA")),
    "fraction": lambda f: f.assign(y_true=f["y_true"].where(f.index != 5, 0.5)),
    "third label": lambda f: f.assign(y_true=f["y_true"].where(f.index != 5, 2)),
    "labels in words": lambda f: f.assign(y_true=f["y_true"].map({0: "no", 1: "yes"})),
    "scores as labels": lambda f: f.assign(y_true=f["y_score"]),
    "nan": lambda f: f.assign(y_score=f["y_score"].where(~f.index.isin([401, 90]))),
    "null among whole scores": lambda f: f.assign(y_score=pd.array([1, None] * (len(f) // 2), dtype="Int64")),
    "one class": lambda f: f.assign(y_true=f["y_true"].where((f["model"] != "m2") | (f["fold"] != 2), 0)),
    "two labels": two_labels,
}  # fmt: skip


@pytest.mark.no_cover
@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.usefixtures("batch_rows")
def test_the_same_message_as_in_memory(tmp_path, what):
    path = one_file(tmp_path, BROKEN[what](table()))
    with pytest.raises(InputError, match=r".") as read:
        sa.read_scores(path)
    with pytest.raises(InputError, match=f"^{re.escape(str(read.value))}$"):
        stream_scores(path)


@pytest.mark.parametrize("form", [lambda c: c, lambda c: c.astype(str), lambda c: "c" + c.astype(str)])
@pytest.mark.usefixtures("batch_rows")
def test_repeated_cases_are_named_with_their_rows(tmp_path, form):
    frame = table()
    path = one_file(tmp_path, repeated(frame.assign(case=form(frame["case"]))))
    with pytest.raises(InputError, match="3 rows repeat one") as read:
        sa.read_scores(path)
    with pytest.raises(InputError, match="^" + re.escape(str(read.value)) + "$"):
        stream_scores(path)


SPELLINGS = {
    "whole": lambda c: c,
    "text": lambda c: "c" + c.astype(str),
    "whole as text": lambda c: c.astype(str),
    "whole and not": lambda c: c.astype(str).replace("3", "three"),
    "whole as floats": lambda c: c - 40.0,
    "fractions": lambda c: c / 4 - 10,
    "short fractions": lambda c: (c / 10).astype("float32"),
    "more than 18 digits": lambda c: c + (10**18 - 50),
    "huge floats": lambda c: c * 1e15,
}


@pytest.mark.no_cover
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("rows", [[3, 4, 250], [*range(0, 480, 7)]], ids=["few", "many"])
def test_the_same_unpaired_cases_first(tmp_path, monkeypatch, spelling, rows):
    monkeypatch.setattr(parquet, "BATCH_ROWS", 50)
    monkeypatch.setattr(streamed_cases, "BUCKET_ROWS", 50)
    frame = table()
    frame.loc[rows, "case"] += 1000
    path = one_file(tmp_path, mixed(frame.assign(case=SPELLINGS[spelling](frame["case"]))))
    read, streamed = sa.read_scores(path), stream_scores(path)
    assert streamed.unpaired() == read.unpaired()
    assert read.unpaired()[0] == 2 * len(rows)
    for folds in ([1, 2], [4]):
        assert streamed.only_folds(folds).unpaired() == read.only_folds(folds).unpaired()


@pytest.mark.no_cover
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("broken", [two_labels_often, repeated_often])
def test_the_same_offending_cases_first(tmp_path, monkeypatch, spelling, broken):
    monkeypatch.setattr(parquet, "BATCH_ROWS", 50)
    monkeypatch.setattr(streamed_cases, "BUCKET_ROWS", 50)
    frame = broken(table())
    path = one_file(tmp_path, mixed(frame.assign(case=SPELLINGS[spelling](frame["case"]))))
    with pytest.raises(InputError, match=r"cases have both|rows repeat one") as read:
        sa.read_scores(path)
    with pytest.raises(InputError, match=f"^{re.escape(str(read.value))}$"):
        stream_scores(path)


def test_of_very_many_unpaired_cases_some_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr(streamed_cases, "KEPT", 1)
    frame = table()
    frame.loc[frame["model"] == "m2", "case"] += 1000
    path = one_file(tmp_path, mixed(frame.assign(case="c" + frame["case"].astype(str))))
    read, streamed = sa.read_scores(path).unpaired(), stream_scores(path).unpaired()
    assert streamed[0] == read[0]
    assert len(set(streamed[1])) == len(read[1])
    assert {fold for _, fold in streamed[1]} == {1}


@pytest.mark.usefixtures("batch_rows")
def test_unpaired_cases(tmp_path):
    frame = table()
    frame.loc[[3, 4, 250], "case"] += 1000
    path = one_file(tmp_path, mixed(frame))
    read, streamed = sa.read_scores(path), stream_scores(path)
    assert_alike(streamed, read)
    assert streamed.unpaired() == read.unpaired()
    with pytest.raises(InputError, match=r"but 6 \(fold, case\) pairs lack a model") as told:
        check_paired(read)
    with pytest.raises(InputError, match="^" + re.escape(str(told.value)) + "$"):
        check_paired(streamed)
    kept, _ = streamed.only_folds([1, 2]), None
    assert kept.unpaired() == read.only_folds([1, 2]).unpaired()


def test_unequal_counts_without_cases(tmp_path):
    frame = table().drop(columns="case")
    path = one_file(tmp_path, frame.drop(index=frame.index[frame["y_true"] == 1][0]))
    with pytest.warns(SkewanovaWarning, match="different numbers of cases in 1 folds"):
        check_paired(stream_scores(path))


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (["0.5"], "^`y_score` must hold real numbers, but has dtype str; the first .*'0.5' at row 0$"),
        ([pd.Timestamp("2020-01-01")], "^`y_score` must hold real numbers, but has dtype datetime64"),
    ],
)
def test_scores_that_are_no_numbers(tmp_path, column, message):
    path = one_file(tmp_path, table().assign(y_score=column * 480))
    with pytest.raises(InputTypeError, match=message):
        sa.read_scores(path)
    with pytest.raises(InputTypeError, match=message):
        stream_scores(path)


def test_a_folder_names_file_and_row(tmp_path):
    frame = table()
    path = pieces(tmp_path, frame.assign(y_score=frame["y_score"].where(frame.index != 20)))
    message = "`y_score` must not hold NaN, but has 1 NaN, the first at row 3 of 'a.pq'"
    for read in (sa.read_scores, stream_scores):
        with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
            read(path)


def test_sources_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match=r"^there is no file '.*absent\.parquet'$"):
        stream_scores(tmp_path / "absent.parquet")
    with pytest.raises(InputError, match=r"^the folder '.*' holds no file that ends in \.parquet or \.pq$"):
        stream_scores(tmp_path)
    (tmp_path / "bad.parquet").write_text("model,fold")
    with pytest.raises(InputError, match=r"^'bad\.parquet' cannot be read: .*Parquet"):
        stream_scores(tmp_path / "bad.parquet")
    path = one_file(tmp_path, table().rename(columns={"y_score": "p"}))
    with pytest.raises(
        InputError, match=r"^'scores\.parquet' must have the column 'y_score', but has 'model'"
    ):
        stream_scores(path)
    with pytest.raises(InputError, match=r"^the column 'model' cannot serve twice$"):
        stream_scores(path, columns={"y_score": "model"})
    with pytest.raises(InputError, match=r"^'scores\.parquet' must have the column 'id'"):
        stream_scores(path, columns={"y_score": "p", "case": "id"})


def test_a_file_cut_short(tmp_path):
    path = one_file(tmp_path, table())
    whole = path.read_bytes()
    path.write_bytes(whole[:40] + bytes(200) + whole[240:])
    with pytest.raises(InputError, match=r"^'scores\.parquet' cannot be read: "):
        stream_scores(path)


def test_a_row_group_that_is_damaged_is_named_and_nothing_is_left(tmp_path, monkeypatch):
    place, folder = tmp_path / "temporary", tmp_path / "scores"
    place.mkdir()
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    for name, rows in zip("ab", (table()[:100], table()[100:]), strict=True):
        rows.to_parquet(folder / f"{name}.parquet", index=False, row_group_size=30)
    damaged(folder / "b.parquet", 1, "y_score")
    message = r"'b\.parquet' cannot be read: row group 1 \(rows 30 to 59\): \S"
    for free in (10**12, 1):
        monkeypatch.setattr(reading, "available_memory", lambda free=free: free)
        done = CliRunner().invoke(commands.main, ["compare", str(folder), "--out", str(tmp_path / "out")])
        assert done.exit_code == 2
        assert re.fullmatch(rf"Error: {message}.*\n", done.stderr), done.stderr
        assert done.stdout == ""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scores", "temporary"]
    assert not [*place.iterdir()]


def test_an_index_that_pandas_stored_is_no_column(tmp_path):
    path = one_file(tmp_path, table().set_index("model"), index=True)
    for read in (sa.read_scores, stream_scores):
        with pytest.raises(InputError, match=r"must have the column 'model', but has 'fold', 'y_true'"):
            read(path)


# --- temporary files --------------------------------------------------------------------------------------


def test_no_temporary_file_has_a_name(tmp_path, monkeypatch):
    place = tmp_path / "temporary"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    seen = []
    pack = PackedCurve.of
    monkeypatch.setattr(PackedCurve, "of", lambda *group: (seen.append([*place.iterdir()]), pack(*group))[1])
    stream_scores(one_file(tmp_path, mixed(table())))
    assert seen == [[]] * 12


def test_a_temporary_folder_that_is_full(tmp_path, monkeypatch):
    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(streamed_cases, "write_scattered", full)
    with pytest.raises(InputError, match=r"cannot take the rows \(No space left on device\); set TMPDIR to"):
        stream_scores(one_file(tmp_path, mixed(table())))


def test_a_temporary_folder_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(InputError, match=r"^the temporary folder '.*absent' cannot take the rows"):
        stream_scores(one_file(tmp_path, mixed(table())))


HALF_WAY = """
import sys, time
from {package} import {module} as module
from skewanova.cli import commands
step, calls = module.{name}, []
def slow(*args, **options):
    calls.append(1)
    if len(calls) > {after}:
        print("half-way", flush=True)
        time.sleep(60)
    return step(*args, **options)
module.{name} = slow
from skewanova.scores import reading
reading.available_memory = lambda: 1
commands.main(sys.argv[1:])
"""


#: Where a run is interrupted: package, module, function, and at which call of it.
READING = ("skewanova.curves", "groups", "sort_cases", 6)
WRITING = ("skewanova.base", "folders", "csv_text", 3)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    ("number", "step"),
    [
        pytest.param(signal.SIGTERM, READING, id="reading-15"),
        pytest.param(signal.SIGINT, READING, id="reading-2"),
        pytest.param(signal.SIGTERM, WRITING, id="writing-15"),
        pytest.param(signal.SIGKILL, WRITING, id="writing-9"),
    ],
)
def test_a_run_that_is_killed_leaves_no_output(tmp_path, number, step):
    place = tmp_path / "temporary"
    place.mkdir()
    path = one_file(tmp_path, mixed(table()))
    code = HALF_WAY.format(**dict(zip(("package", "module", "name", "after"), step, strict=True)))
    options = ["--priors", "0.5", "--out", str(tmp_path / "out")]
    command = [sys.executable, "-c", code, "compare", str(path), *options]
    environment = {**os.environ, "TMPDIR": str(place), "MPLCONFIGDIR": matplotlib.get_cachedir()}
    run = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        assert run.stdout.readline() == "half-way\n", run.stderr.read()
        run.send_signal(number)
        run.communicate(timeout=60)
    finally:
        run.kill()
    assert run.returncode != 0
    assert not (tmp_path / "out").exists()
    if number == signal.SIGTERM:
        assert run.returncode == 128 + number
    if number != signal.SIGKILL:
        assert not list(tmp_path.glob(".skewanova-*"))
    assert not list(place.iterdir())


# --- what is chosen ---------------------------------------------------------------------------------------


def test_large_tables_are_streamed_unasked(tmp_path, monkeypatch):
    paths = [one_file(tmp_path, table()), pieces(tmp_path, table())]
    for path in paths:
        for free, kind in ((None, sa.ScoreTable), (10**12, sa.ScoreTable), (10**4, sa.scores.StreamedScores)):
            monkeypatch.setattr(reading, "available_memory", lambda free=free: free)
            assert isinstance(open_scores(path), kind)
    assert isinstance(open_scores(table()), sa.ScoreTable)
    assert isinstance(sa.read_scores(paths[0]), sa.ScoreTable)


@pytest.mark.parametrize("command", ["check", "compare"])
def test_the_commands_stream_unasked(tmp_path, monkeypatch, command):
    path = one_file(tmp_path, table())
    said = []
    for free in (10**12, 1):
        monkeypatch.setattr(reading, "available_memory", lambda free=free: free)
        done = CliRunner().invoke(commands.main, [command, str(path)])
        assert (done.exit_code, done.stderr) == (0, "")
        said.append(done.stdout)
    assert said[0] == said[1]


def test_labels_are_refused_without_reading_on(tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "BATCH_ROWS", 100)
    monkeypatch.setattr(streaming, "LABELS_ENOUGH", 10)
    path = one_file(tmp_path, table().assign(y_true=np.arange(480)))
    counted = []
    batches = parquet.ParquetSource.batches

    def counting(source, columns):
        for batch in batches(source, columns):
            counted.append(len(batch))
            yield batch

    monkeypatch.setattr(parquet.ParquetSource, "batches", counting)
    with pytest.raises(InputError, match=r"^`y_true` must hold two classes, but has 50, first seen: 0 "):
        stream_scores(path)
    assert sum(counted) <= 100


def test_nothing_is_drawn_without_a_terminal(tmp_path, capsys):
    stream_scores(one_file(tmp_path, table()))
    assert capsys.readouterr() == ("", "")


def test_a_terminal_sees_the_progress(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    path = one_file(tmp_path, table())
    stream_scores(path, progress=False)
    assert capsys.readouterr().err == ""
    stream_scores(path)
    assert "reading keys" in capsys.readouterr().err


PEAK = """
import sys, skewanova as sa
from pathlib import Path
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
read = getattr(sa, sys.argv[1])
read(sys.argv[2])
before = peak()
read(sys.argv[3])
print(peak() - before)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells the peak memory of a process")
@pytest.mark.parametrize("order", ["clustered", "shuffled"])
def test_memory_is_that_of_a_group(tmp_path, order):
    rng = np.random.default_rng(0)
    size, groups = 20_000, 60
    model, fold = np.divmod(np.repeat(np.arange(groups), size), 20)
    columns = {"model": model, "fold": fold, "y_true": rng.random(len(fold)) < 0.3}
    frame = pd.DataFrame({**columns, "y_score": rng.normal(size=len(fold))}).astype({"model": str})
    frame = frame if order == "clustered" else frame.sample(frac=1, random_state=1)
    path = tmp_path / "large.parquet"
    frame.to_parquet(path, index=False, row_group_size=100_000)
    small = one_file(tmp_path, table())
    kilobytes = {}
    for name in ("read_scores", "stream_scores"):
        command = [sys.executable, "-c", PEAK, name, str(small), str(path)]
        kilobytes[name] = int(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    assert kilobytes["stream_scores"] < 50_000
    assert kilobytes["stream_scores"] < kilobytes["read_scores"] / 2
