"""Size of the test of two models on one set: the study against the public function, and as recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from strategies import tie_groups

from skewanova import auprec_score, compare_on_one_set
from skewanova.base.checks import InputError
from skewanova.curves.distributions import true_iauprec
from skewanova.studies import one_set
from skewanova.studies.one_set import Design, paired_study

RECORDED = Path(__file__).resolve().parents[2] / "docs" / "studies" / "paired.csv"


@pytest.fixture(scope="module")
def reduced():
    return paired_study(weightings=[0.5, (0.05, 0.2)], sizes=[50], replicates=1000, rng=4, progress=False)


def test_one_replicate_has_no_spread_to_compare_with():
    frame = paired_study(weightings=[0.5], sizes=[50], replicates=1, progress=False).to_frame()
    ratio = frame.columns[-2]
    assert "ratio" in ratio
    assert frame[ratio].isna().all()


@pytest.mark.parametrize("weighting", [0.1, (0.05, 0.2)])
@pytest.mark.parametrize("setting", one_set.SETTINGS)
def test_each_sample_is_tested_as_by_the_public_function(setting, weighting):
    design = Design(setting, weighting, 30, 25)
    found = one_set.by_influence(design, np.random.default_rng(2), 5)
    scores = design.sample(np.random.default_rng(2), 5)
    target = {"prior": weighting} if isinstance(weighting, float) else {"deployment_prior": weighting}
    labels = np.arange(scores.shape[2]) < 30
    for i in range(5):
        result = compare_on_one_set(labels, scores[:, i].T, **target)
        expected = (result.difference[0], result.std_error[0], result.p_value[0])
        np.testing.assert_allclose(found[i, 0], expected, rtol=1e-8)
        error = np.sqrt(np.array([1, -1]) @ result.covariance @ np.array([1, -1]))
        plain = 2 * stats.norm.sf(abs(expected[0]) / error)
        np.testing.assert_allclose(found[i, 1], (expected[0], error, plain), rtol=1e-8)


@pytest.mark.parametrize("weighting", one_set.WEIGHTINGS)
def test_both_models_have_the_same_true_area(weighting):
    mean, spread = one_set.SETTINGS["crossing"]
    second = stats.norm(one_set.second_mean("crossing", weighting), spread)
    areas = [true_iauprec(stats.norm(0, 1), p, weighting) for p in (stats.norm(mean, 1), second)]
    assert areas[0] == pytest.approx(areas[1], abs=1e-10)
    assert one_set.second_mean("crossing", weighting) != pytest.approx(mean, abs=0.01)


def test_samples_have_the_stated_correlation_and_means():
    design = Design("crossing", 0.5, 500, 500)
    scores = design.sample(np.random.default_rng(0), 200)
    for part in (scores[:, :, :500], scores[:, :, 500:]):
        assert np.corrcoef(part.reshape(2, -1))[0, 1] == pytest.approx(one_set.CORRELATION, abs=0.01)
    assert scores[1, :, :500].mean() == pytest.approx(one_set.second_mean("crossing", 0.5), abs=0.02)
    assert scores[1, :, :500].std() == pytest.approx(1.5, rel=0.01)
    assert design.n_negative == 500


@given(groups=tie_groups(), seed=st.integers(0, 99))
def test_weighted_areas_are_those_of_repeated_cases(groups, seed):
    labels = np.array(twins.labels_and_scores(groups)[0])
    rng = np.random.default_rng(seed)
    scores, weight = rng.permutation(len(labels)).astype(float), rng.integers(0, 3, size=(1, len(labels)))
    weight[0, [labels.argmax(), labels.argmin()]] = 1  # both classes are left
    rows = np.repeat(np.arange(len(labels)), weight[0])
    expected = auprec_score(labels[rows], scores[rows], prior=0.2, area_estimator="average_precision")
    found = one_set.weighted_areas(labels == 1, scores, weight.astype(float), one_set.nodes_of(0.2))
    assert found == pytest.approx([expected])


def test_the_bootstrap_has_the_spread_of_fresh_samples():
    design = Design("binormal", 0.5, 100, 100)
    found = np.array([one_set.by_bootstrap(design, np.random.default_rng(i))[0] for i in range(60)])
    spread = one_set.by_influence(design, np.random.default_rng(1), 2000)[:, 0, 0].std()
    assert np.median(found[:, 1]) == pytest.approx(spread, rel=0.1)
    np.testing.assert_allclose(found[:, 2], 2 * stats.norm.sf(abs(found[:, 0] / found[:, 1])))


def test_the_test_holds_its_size(reduced):
    frame = reduced.to_frame()
    rows = frame[frame["claimed"] & (frame["test"] == "compare_on_one_set")]
    assert len(rows) == 6
    assert rows["rate"].between(0.04 - 3 * 0.0065, 0.06 + 3 * 0.0075).all()
    assert rows["spread_ratio"].between(0.9, 1.12).all()


def test_the_recorded_study_holds_what_it_claims():
    frame = pd.read_csv(RECORDED)
    assert tuple(frame.columns) == one_set.PAIRED_COLUMNS
    rows = frame[frame["claimed"] & (frame["test"] == "compare_on_one_set")]
    assert (rows["replicates"] >= 4_000).all()
    enough = rows["n_positive"] * rows["truth"] >= 10
    margin = 3 * rows["std_error"]
    assert (rows["rate"] < 0.06 + margin)[enough].all()
    rare = rows["weighting"] == "prior 0.01"
    assert (rows["rate"] > 0.04 - margin)[~rare].all()
    assert (rows["rate"] > 0.03)[rare & enough].all()  # conservative where both curves are the same


def test_the_recorded_study_of_several_models_holds_what_it_claims():
    frame = pd.read_csv(RECORDED.with_name("paired-models.csv"))
    rate, error = frame["rate"], frame["std_error"]
    np.testing.assert_allclose(error, np.sqrt(rate * (1 - rate) / frame["replicates"]), rtol=1e-4)
    assert (rate < 0.05 + 3 * error).all()
    assert (rate > 0.05 - 3 * error)[frame["test"] == "omnibus_f"].all()


def test_the_reduced_study_agrees_with_the_recorded_one(reduced):
    keys = ["setting", "weighting", "n_positive", "support", "test"]
    recorded = pd.read_csv(RECORDED).set_index(keys)
    frame = reduced.to_frame().set_index(keys)
    shared = frame.index.intersection(recorded.index)
    assert len(shared) >= 12
    gap = frame.loc[shared, "rate"] - recorded.loc[shared, "rate"]
    error = np.hypot(frame.loc[shared, "std_error"], recorded.loc[shared, "std_error"])
    assert (gap.abs() <= 4 * error).all()


def test_frames_and_tables(reduced):
    frame = reduced.to_frame()
    assert tuple(frame.columns) == one_set.PAIRED_COLUMNS
    assert set(frame["n_negative"]) >= {25, 100}
    assert (frame["claimed"] == (frame["support"] >= 100)).all()
    assert reduced.groups == tuple(one_set.SETTINGS)
    table = reduced.to_table("crossing")
    assert table.header == ("Test", "50 / 25", "50 / 100")
    assert table.rows[0][0] == "compare_on_one_set, prior 0.5"


def test_a_full_study_has_its_own_numbers_of_samples(monkeypatch):
    for name, number in (("FULL", 4), ("FULL_THIN", 3), ("FULL_BOOTSTRAP", 2)):
        monkeypatch.setattr(one_set, name, number)
    options = {"settings": ["binormal"], "weightings": [0.5], "sizes": [50]}
    frame = paired_study(**options, full=True, progress=False).to_frame()
    found = frame.set_index(["support", "test"])["replicates"].to_dict()
    assert found == {
        **{(25, test): 3 for test in one_set.TESTS},
        **{(100, test): 4 for test in one_set.TESTS},
        (100, "bootstrap_z"): 2,
    }


@pytest.mark.parametrize(
    ("options", "named"),
    [({"settings": ["bibeta"]}, "settings"), ({"sizes": [5]}, "sizes"), ({"replicates": 0}, "replicates")],
)
def test_bad_arguments_are_refused(options, named):
    with pytest.raises(InputError, match=named):
        paired_study(**options)
