"""Real workers: two processes of a local Dask cluster."""

import re
import sys

import joblib
import numpy as np
import pandas as pd
import pytest

import skewanova as sa
from skewanova.base.checks import InputError
from skewanova.studies.areas import estimators_study

dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning"),
    # the workers' event loops may outlive the last reference to their sockets
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

OPTIONS = {"priors": (0.5, 0.2, 0.01), "deployment_prior": sa.UniformSkew(4, 19), "area_estimator": "exact"}


@pytest.fixture(scope="module")
def client():
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def frame():
    """Rows of every group spread over all partitions."""
    scores = sa.load_satellite_scores().only_folds(range(1, 7))
    return scores.frame.sample(frac=1, random_state=0).astype({"model": str})


@pytest.fixture(scope="module")
def spread(client, frame):
    assert len(client.scheduler_info()["workers"]) == 2
    return sa.evaluate(partitioned(frame), **OPTIONS)


def partitioned(frame, n=3):
    return dd.from_pandas(frame.reset_index(drop=True), npartitions=n, sort=False)


def by_name(measured, column):
    """The frame of an evaluation in the order of names."""
    keys = ["model", "fold"]
    return (
        getattr(measured, column).sort_values(keys, kind="stable", ignore_index=True).astype({"model": str})
    )


def test_the_cluster_gives_the_numbers_of_one_process(spread, frame):
    here = sa.evaluate(frame, **OPTIONS)
    for name in ("auprec", "iauprec"):
        pd.testing.assert_frame_equal(by_name(spread, name), by_name(here, name), check_exact=True)
    assert spread.models == tuple(sorted(here.models))
    assert (spread.folds, spread.priors, spread.warnings) == (here.folds, here.priors, here.warnings)
    assert spread.deployment_prior == here.deployment_prior


def test_the_tests_take_what_comes_back(spread, frame):
    here = sa.evaluate(frame, **OPTIONS).ordered(spread.models)
    for measure in (spread, here):
        assert sa.inference.two_way_anova(measure.iauprec).to_frame()["p_value"].iloc[0] > 0
    found, expected = (sa.inference.omnibus_test(m, method="friedman").to_frame() for m in (spread, here))
    pd.testing.assert_frame_equal(found, expected, check_exact=True)


def test_folds_in_words_and_cases_that_are_left_out(client):
    rows = [(m, f, y, y + s / 9) for m in "ba" for f in ("x", "10", "9") for s, y in enumerate([0, 1] * 6)]
    frame = pd.DataFrame(rows, columns=["model", "fold", "y_true", "y_score"])
    spread = sa.evaluate(partitioned(frame, 3))
    assert spread.models == ("a", "b")
    assert set(spread.folds) == {"x", "10", "9"}
    numbers = sa.evaluate(partitioned(frame[frame["fold"] != "x"], 3))
    assert numbers.folds == (9, 10)
    assert numbers.auprec["fold"].tolist() == ([9] * 3 + [10] * 3) * 2


def test_curves_stay_where_they_are(spread):
    for use in (
        lambda: spread.mean_auprec([0.3]),
        lambda: sa.evaluation.roc(spread),
        lambda: sa.decision.ranking(spread),
        lambda: len(spread.curves),
        lambda: spread.curves["A", 1],
    ):
        with pytest.raises(InputError, match=r"^this needs the ROC curves, which stayed where the rows are"):
            use()
    assert repr(spread.curves) == "<ROC curves that stayed where the rows are>"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda f: f.assign(y_score=f["y_score"].where(f.index != 5)),
            "`y_score` must not hold NaN, but has 1",
        ),
        (
            lambda f: f.assign(y_true=f["y_true"] & (f["fold"] != 3)),
            "model 'B' has no positive|model '[AC]' has",
        ),
        (lambda f: pd.concat([f, f[:1]]), r"^\(model, fold, case\) must be unique, but 1 rows repeat one"),
        (lambda f: f.drop(columns=["fold"]), "^the Dask frame must have the column 'fold', but has 'model'"),
        (
            lambda f: f.assign(dataset=f["fold"] % 2),
            r"^the table holds 2 data sets \(column 'dataset'\), whose",
        ),
        (lambda f: f[:0], "^the score table must hold at least one row, but is empty$"),
        (lambda f: f.assign(model=f["model"].where(f.index != 5)), "`model` must not be empty, but 1 row is"),
    ],
)
def test_rules_hold_on_the_workers(client, frame, change, message):
    bad = change(frame.reset_index(drop=True).astype({"fold": int}))
    with pytest.raises(InputError, match=message):
        sa.evaluate(partitioned(bad))


def test_one_group_at_a_time():
    rows = {"y_true": [0, 0, 1, 1], "y_score": [0.1, 0.4, np.nan, 0.8]}
    message = "`y_score` must not hold NaN, but has 1 NaN, the first at row 2 of those of model 'A' in fold 1"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        sa.evaluation.measure_group(pd.DataFrame({"model": "A", "fold": 1, **rows}))
    two = pd.DataFrame({"model": ["A", "A", "B", "B"], "fold": 1, "y_true": [0, 1, 0, 1], "y_score": 0.5})
    with pytest.raises(
        InputError, match=r"^`frame` must hold the rows of one model in one fold, but holds 2"
    ):
        sa.evaluation.measure_group(two)
    with pytest.raises(InputError, match=r"^the score table must hold at least one row"):
        sa.evaluation.measure_group(two[:0])


def test_a_grouped_map_of_any_engine(frame):
    """What Spark's applyInPandas does: the function on every group, its results stacked."""
    small = frame[frame["fold"].isin([1, 2])].assign(fold=lambda f: f["fold"].astype(str))
    grouped = small.groupby(["model", "fold"])
    long = pd.concat([sa.evaluation.measure_group(rows, **OPTIONS) for _, rows in grouped], ignore_index=True)
    here = sa.evaluate(small, **OPTIONS)
    assert long["auprec"].tolist() == by_name(here, "auprec")["auprec"].tolist()
    assert long["iauprec"][::3].tolist() == by_name(here, "iauprec")["iauprec"].tolist()
    assert {str(kind) for kind in long.dtypes[2:]} == {"float64", "int64"}


def test_simulations_spread_over_the_cluster(client):
    run = {"settings": ["binormal", "bibeta"], "sizes": [20], "replicates": 4, "rng": 3, "progress": False}
    alone = estimators_study(n_jobs=1, **run).to_frame()
    with joblib.parallel_config(backend="dask"):
        spread = estimators_study(n_jobs=2, **run).to_frame()
    pd.testing.assert_frame_equal(alone, spread, check_exact=True)
    ran = client.run(lambda: "skewanova.studies.areas" in sys.modules)
    assert any(ran.values())
