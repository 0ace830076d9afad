"""Cases, clusters and weights where an engine has them, against the same rows in memory."""

import re

import numpy as np
import pandas as pd
import pytest
from messages import expect_error
from rows_elsewhere import (
    SAMPLED,
    SET_OPTIONS,
    assert_nearly_alike,
    assert_sampled_alike,
    by_names,
    cases_of,
    gathered,
    mixed,
    sampled,
)

import skewanova as sa
from skewanova.distributed import packing
from skewanova.scores.pairing import describe_table

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")


@pytest.mark.usefixtures("stays")
def test_a_set_that_stays_is_compared_as_in_memory(test_set, set_here, monkeypatch):
    monkeypatch.setattr(packing, "MAX_GROUP_ROWS", 400)
    found = gathered(test_set.sample(frac=1, random_state=0).drop(columns="fold"))
    assert len(found.parts.map(len)) > 3
    assert_nearly_alike(sa.compare(found, **SET_OPTIONS), set_here)
    assert describe_table(found)[-1] == "The table can be compared."
    with pytest.raises(sa.InputTypeError, match=r"pass the Dask or Spark frame itself$"):
        sa.threshold_table(found, recall=0.8)


def test_a_set_that_stays_without_spread_is_compared_as_in_memory_or_refused():
    frame = cases_of("one test set")
    scores = frame["y_score"].to_numpy().reshape(3, 60).copy()
    scores[1:] = scores[0], frame["y_true"][:60]
    perfect = frame.assign(y_score=scores.ravel())
    single = frame.assign(y_true=frame["case"] == 0)
    for rows in (perfect, single):
        found, here = (sa.compare(read(rows), **SET_OPTIONS) for read in (gathered, sa.read_scores))
        for name in ("ranking", "pairs", "plans", "equivalence", "assumptions"):
            both = found.tables[name], here.tables[name]
            pd.testing.assert_frame_equal(*both, rtol=1e-10, atol=1e-10, check_categorical=False)
        assert found.warnings == here.warnings
    for table, options, message in (
        (cases_of("runs"), {"design": "fixed_runs"}, "^fixed runs on one test set need the scores in memory"),
        (
            frame,
            {"area_estimator": "convex_hull"},
            "^area_estimator='convex_hull' needs the scores in memory",
        ),
        (
            frame.drop(index=7),
            {},
            "first: case 7 in fold 1; name them alike, score them by all, or leave them out$",
        ),
    ):
        with expect_error(message):
            sa.compare(gathered(table), **options)


@pytest.mark.parametrize("resampling", ["auto", "nested_runs"])
def test_runs_that_stay_are_compared_as_in_memory(resampling):
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"case": np.arange(800), "y_true": rng.random(800) < 0.4})
    cells = [rows.assign(fold=f, model=m) for m in "ab" for f in (1, 2, 3)]
    frame = pd.concat(cells, ignore_index=True)
    frame["y_score"] = rng.normal(size=4800).round(2) + (1 + np.arange(6) / 9).repeat(800) * frame["y_true"]
    options = {**SET_OPTIONS, "design": resampling}
    found, here = (sa.compare(read(frame), **options) for read in (gathered, sa.read_scores))
    assert found.design.kind == "runs"
    assert_nearly_alike(found, here)


@pytest.mark.slow
@pytest.mark.usefixtures("stays")
@pytest.mark.parametrize(("case", "pieces"), [(True, False), (False, False), (False, True)])
@pytest.mark.parametrize("kind", SAMPLED[2:])
def test_clusters_and_weights_of_folds_are_those_of_memory(kind, case, pieces, monkeypatch):
    """Folds that share no case: areas from weighted curves, effective numbers, the design and its claim."""
    frame = sampled(kind, n_folds=5, same=False).drop(columns=[] if case else ["case"])
    if pieces:
        monkeypatch.setattr(packing, "MAX_GROUP_ROWS", 40)
    found, here = gathered(mixed(frame)), sa.read_scores(frame)
    assert (found.n_clusters, found.has_weights) == (here.n_clusters, here.has_weights)
    assert found.counts.tolist() == here.counts.tolist()
    assert found.effective_counts == pytest.approx(here.effective_counts, rel=1e-12)
    assert found.weights == (None if here.weights is None else pytest.approx(here.weights, rel=1e-12))
    assert describe_table(found) == describe_table(here)
    compared = [sa.compare(scores, **SET_OPTIONS) for scores in (found, here)]
    assert_nearly_alike(*compared)


@pytest.mark.slow
@pytest.mark.usefixtures("stays")
@pytest.mark.parametrize(("kind", "n_folds"), [(SAMPLED[0], 1), (SAMPLED[1], 2), (SAMPLED[2], 1)])
def test_clusters_and_weights_of_a_set_that_stays_are_those_of_memory(kind, n_folds):
    """More clusters than columns, of which rows stand for them in memory too: bands draw from the same."""
    frame = sampled(kind, n=2400, n_folds=n_folds)
    found = gathered(mixed(frame))
    assert len(found.parts.map(len)) > 3
    assert_nearly_alike(sa.compare(found, **SET_OPTIONS), sa.compare(by_names(frame), **SET_OPTIONS))
    assert describe_table(found)[-1] == "The table can be compared."
    few = sampled(kind, n=100, n_folds=n_folds)
    assert_sampled_alike(gathered(mixed(few)), few)


def checks_of(*models):
    options = {"folds": (1,), "labels": ("0", "1"), "pos_label": None}
    return packing.RowChecks(models=models, n_models=np.array([len(models)]), **options)


def test_weights_are_summed_class_by_class():
    frame = pd.DataFrame({"model": "a", "y_true": [1, 0, 0, 1, 1, 0], "weight": [3.0, 1, 1, 9, 2, 0]})
    found = checks_of("a").check_weights(frame)
    assert [side.tolist() for side in found.distinct] == [[1.0], [2.0, 3.0, 9.0]]
    assert found.sums.effective_number().ravel() == pytest.approx([2, 14**2 / (9 + 81 + 4)])
    table = frame.assign(y_score=0.5, case=range(6))
    assert gathered(table).weights == pytest.approx((1.0, 9.0, 14 / 16))
    # Of many different weights one more is returned than are told apart.
    frame = pd.DataFrame({"model": "a", "y_true": np.arange(200) % 2, "weight": 1 + np.arange(200.0)})
    found = checks_of("a").check_weights(frame)
    expected = [(first + 2 * np.arange(65.0)).tolist() for first in (1, 2)]
    assert [side.tolist() for side in found.distinct] == expected


def test_scores_of_the_positives_are_those_of_weight_above_0():
    frame = sampled("weights").drop(columns=["case"])
    checks = checks_of("a", "b", "c")
    held = frame[(frame["weight"] > 0) & frame["y_true"]]
    found = dict(checks.find_positive_scores(frame))
    for model in "abc":
        assert set(found[model, 1]) == set(held["y_score"][held["model"] == model])
    assert checks.find_positive_scores(frame[:0]) == []


def test_rows_of_weight_0_are_left_out_group_by_group():
    frame = sampled("weights", n_folds=5, same=False)
    none = frame["fold"] == 3
    for rows in (frame.assign(weight=frame["weight"].where(~none, 0)), frame[~none]):
        found = gathered(mixed(rows))
        assert found.counts[:, [i for i, fold in enumerate(found.folds) if fold != 3]].all()
    assert found.folds == (1, 2, 4, 5)
    rows = frame.assign(weight=frame["weight"].where(~none, 0))
    left, here = gathered(rows), sa.read_scores(rows)
    assert left.counts.tolist() == here.counts.tolist()
    with pytest.raises(sa.InputError, match="these are missing: model 'a' in fold 3"):
        sa.compare(left)


def with_value(frame, rows, column, value):
    return frame.assign(**{column: frame[column].where(~rows, value)})


@pytest.mark.slow
@pytest.mark.usefixtures("stays")
def test_rules_about_clusters_and_weights_hold_where_the_rows_are():
    frame = sampled("clusters and weights", n_folds=5, same=False)
    here = sa.read_scores(frame).frame
    case = here["case"].iloc[0]  # of weight above 0
    of_case, of_b = frame["case"] == case, frame["model"] == "b"
    one, other = of_case & of_b, 6 - frame["fold"][of_case].iloc[0]
    for broken, message in (
        (with_value(frame, one, "cluster", "other"), f"^a case must have one cluster .* case {case} has"),
        (with_value(frame, one, "weight", 9.0), f"^a case must have one weight .* case {case} has .*9"),
        (with_value(frame, of_case, "weight", -1.0), r"^`weight` must .* of model '.' in fold \d has -1"),
        (with_value(frame, of_case, "fold", other), "^every fold must test all known "),
        (with_value(frame, one, "cluster", None), r"^`cluster` must not be empty, .* row \d+ of model 'b'"),
        (frame.assign(cluster="p"), "^`cluster` must name at least 2 clusters, but all cases are in 'p'"),
        (frame.assign(weight=0), "^`weight` must be above 0 in some row, but is 0 in all"),
        (with_value(frame.drop(columns=["case", "weight"]), one, "cluster", "p7"), "^a case must have one"),
        (with_value(frame.drop(columns=["case", "cluster"]), one, "weight", 7.0), "^a case must have one"),
    ):
        with pytest.raises(sa.InputError, match=message):
            sa.compare(gathered(mixed(broken)))
        with pytest.raises(sa.InputError):
            sa.read_scores(broken)


def test_folds_said_to_be_independent_share_no_cluster_on_an_engine_either():
    frame = sampled("clusters", n_folds=5, same=False).drop(columns="case")
    frame["cluster"] = frame["cluster"].str[:2]
    frame["cluster"] = frame["cluster"] + frame.groupby(["model", "fold", "cluster"]).cumcount().astype(str)
    told = []
    for read in (gathered, sa.read_scores):
        message = r"no two folds may share a cluster, but .* 'p\d\d+' is in \d"
        with pytest.raises(sa.InputError, match=message) as error:
            sa.compare(read(frame), design="independent")
        told.append(re.sub("'.*?' is", "", str(error.value).split("but cluster ")[1]))
    assert told[0] == told[1]


def test_what_weights_and_clusters_of_a_set_that_stays_cannot_show_is_told(monkeypatch):
    frame = sampled("weights")
    frame["weight"] = 1 + frame["case"] / 7
    with pytest.raises(sa.InputError, match=r"^more than 64 different weights in a class .* or round"):
        sa.compare(gathered(frame))
    runs = sampled("clusters", n_folds=2)
    runs["cluster"] = runs["cluster"].where(~runs["y_true"], "one")
    for read in (gathered, sa.read_scores):
        for look in (sa.compare, describe_table):
            with pytest.raises(sa.InputError, match="only one cluster has positive cases"):
                look(read(runs))
