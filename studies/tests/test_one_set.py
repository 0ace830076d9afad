"""Size of the test on one test set: the study runs the public function, and holds what is recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from loops import each
from scipy import stats

from skewanova.base.checks import InputError
from skewanova.curves.distributions import true_iauprec
from skewanova.inference import compare_test_set
from skewanova.priors.evidence import MIN_CASES, MIN_CASES_WITH_TIES
from studies import one_set
from studies.one_set import Design, paired_study

RECORDED = Path(__file__).resolve().parents[2] / "studies" / "records" / "paired.csv"


@pytest.fixture(scope="module")
def reduced():
    return paired_study(
        settings=["binormal", "values_8"],
        weightings=[(0.05, 0.2)],
        sizes=[100],
        models=[2, 3],
        supports=[25, 100],
        replicates=60,
        rng=4,
        progress=False,
    )


def test_one_replicate_has_no_spread_to_compare_with():
    options = {"settings": ["binormal"], "weightings": [0.5], "sizes": [50], "models": [2]}
    frame = paired_study(**options, replicates=1, progress=False).to_frame()
    assert frame["spread_ratio"].isna().all()


@each("setting", one_set.SETTINGS)
def test_each_sample_is_tested_by_the_public_function(setting):
    design = Design(setting, (0.05, 0.2), 3, 30, 40)
    found = one_set.judged(design, np.random.default_rng(2))
    positive, scores, patient = design.sample(np.random.default_rng(2))
    cluster = patient if one_set.SETTINGS[setting].patients in {"alike", "mixed"} else None
    result = compare_test_set(positive, scores, deployment_prior=(0.05, 0.2), cluster=cluster)
    expected = (result.p_omnibus, result.p_adjusted.min(), result.difference[0], result.std_error[0])
    assert found == pytest.approx(expected)


@pytest.mark.parametrize("weighting", [0.1, (0.05, 0.2)])
def test_all_models_have_the_same_true_area(weighting):
    truth = one_set.true_pair_area("crossing", weighting)
    mean = one_set.last_mean("crossing", weighting)
    assert true_iauprec(stats.norm(0, 1), stats.norm(mean, 1.5), weighting) == pytest.approx(truth, abs=1e-9)
    assert mean != pytest.approx(1.0, abs=0.01)
    assert one_set.last_mean("values_8", weighting) == 1.0


def test_samples_have_the_stated_correlation_and_means():
    design = Design("crossing", 0.5, 2, 20_000, 20_000)
    positive, scores, _ = design.sample(np.random.default_rng(0))
    for rows in (positive, ~positive):
        assert np.corrcoef(scores[rows].T)[0, 1] == pytest.approx(one_set.CORRELATION, abs=0.02)
    assert scores[positive].mean(axis=0) == pytest.approx([1, one_set.last_mean("crossing", 0.5)], abs=0.04)
    assert scores[positive, 1].std() == pytest.approx(1.5, rel=0.02)


def test_a_better_model_is_better_by_its_lead_and_no_setting_of_equal_ones():
    positive, scores, _ = Design("better", 0.5, 2, 20_000, 20_000).sample(np.random.default_rng(0))
    assert scores[positive].mean(axis=0) == pytest.approx([1, 1.3], abs=0.04)
    assert scores[~positive].mean(axis=0) == pytest.approx([0, 0], abs=0.04)
    assert "better" not in one_set.SINGLE


@pytest.mark.parametrize(("setting", "values"), [("values_5", 5), ("neighbours", 11), ("leaves", 20)])
def test_scores_have_few_values(setting, values):
    _, scores, _ = Design(setting, 0.5, 2, 2000, 2000).sample(np.random.default_rng(1))
    assert values - 1 <= len(np.unique(scores)) <= values


def test_the_test_holds_its_size(reduced):
    frame = reduced.to_frame()
    rows = frame[frame["claimed"] & (frame["level"] == 0.05)]
    assert len(rows) == 8
    for _, of_one in rows.groupby("test"):
        assert len(of_one) == 4
        assert of_one["rate"].mean() <= 0.064 + 3 * np.sqrt(0.064 * 0.936 / (4 * 60))
    assert rows["spread_ratio"].between(0.75, 1.33).all()


def test_the_recorded_study_holds_what_it_claims():
    frame = pd.read_csv(RECORDED)
    assert tuple(frame.columns) == one_set.PAIRED_COLUMNS
    rows = frame[frame["claimed"] & (frame["n_positive"] >= MIN_CASES_WITH_TIES)]
    assert len(rows) == 80
    assert (rows["replicates"] >= 1000).all()
    for level, most in ((0.05, 0.064), (0.005, 0.0095)):
        at = rows[rows["level"] == level]
        assert (at["rate"] <= most + 3 * np.sqrt(most * (1 - most) / at["replicates"])).all()
        assert at["rate"].median() <= level * 1.2


def test_the_recorded_study_at_the_limit_of_support_holds_what_it_claims():
    frame = pd.read_csv(RECORDED.with_name("paired-support.csv"))
    assert tuple(frame.columns) == one_set.PAIRED_COLUMNS
    assert (frame["replicates"] >= 400).all()
    tied = frame["setting"].isin(["leaves", "neighbours"])
    enough = frame["support"] >= np.where(tied, MIN_CASES_WITH_TIES, MIN_CASES)
    size = {level: frame[enough & (frame["level"] == level)] for level in (0.05, 0.005)}
    assert (size[0.05]["rate"] <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 400)).all()
    assert (size[0.005]["rate"][~tied] <= 0.005 + 2 * np.sqrt(0.005 * 0.995 / 400)).all()
    assert frame.loc[tied & (frame["support"] < MIN_CASES), "rate"].max() > 0.2


CLUSTERS = RECORDED.with_name("paired-clusters.csv")


def test_the_recorded_study_of_patients_holds_what_it_claims():
    frame = pd.read_csv(CLUSTERS)
    assert tuple(frame.columns) == one_set.PAIRED_COLUMNS
    ignored = frame["setting"] == "patients_ignored"
    at = frame[frame["level"] == 0.05]
    assert (at["rate"][~ignored] <= 0.064).all()
    assert (at["rate"][~ignored] >= 0.035).all()
    assert (frame["rate"][~ignored & (frame["level"] == 0.005)] <= 0.0095).all()
    assert (at["rate"][ignored] > 0.3).all()  # half the standard error that is true
    assert frame["spread_ratio"][~ignored].between(0.95, 1.05).all()


@pytest.mark.parametrize("setting", ["patients", "patients_mixed", "patients_ignored"])
def test_patients_have_ten_cases_of_one_class_or_of_both(setting):
    design = Design(setting, 0.5, 2, 30, 100)
    labels, scores, patient = design.sample(np.random.default_rng(5))
    assert len(labels) == len(scores) == 10 * (30 + design.n_negative)
    assert set(np.bincount(patient)) == {10}
    positives = np.bincount(patient[labels], minlength=patient.max() + 1)
    assert set(positives) <= {0, 10} or setting == "patients_mixed"
    assert ((positives > 0) & (positives < 10)).any() == (setting == "patients_mixed")


@pytest.mark.parametrize(("cases", "fewest", "most"), [("8_60", 8, 60), ("lognormal", 1, 200)])
def test_patients_have_uneven_numbers_of_cases(cases, fewest, most):
    labels, _, patient = Design(f"mixed_{cases}", 0.5, 2, 300, 300).sample(np.random.default_rng(5))
    sizes = np.bincount(patient)
    assert fewest <= sizes.min() < 15 < 50 < sizes.max() <= most
    assert len(labels) == sizes.sum()
    assert len(sizes) == 600


def test_the_recorded_study_of_few_patients_holds_what_it_claims():
    frame = pd.read_csv(RECORDED.with_name("paired-clusters-few.csv"))
    assert tuple(frame.columns) == one_set.PAIRED_COLUMNS
    # ten lognormal patients count as about five, of which the function warns
    warned = (frame["setting"] == "mixed_lognormal") & (frame["n_positive"] == 5) & (frame["n_models"] > 2)
    assert frame.loc[warned & (frame["level"] == 0.05), "rate"].between(0.05, 0.12).all()
    frame = frame[~warned]
    for level, most in ((0.05, 0.065), (0.005, 0.0095)):
        at = frame[frame["level"] == level]
        assert (at["rate"] <= most + 2 * np.sqrt(most * (1 - most) / at["replicates"])).all()


def test_frames_and_tables(reduced):
    frame = reduced.to_frame()
    assert tuple(frame.columns) == one_set.PAIRED_COLUMNS
    assert (frame["claimed"] == (frame["support"] >= 100)).all()
    assert reduced.groups == ("binormal", "values_8")
    table = reduced.to_table("values_8")
    assert table.header == ("Test", "100 / 25", "100 / 100")
    assert table.rows[0][0] == "all models, 2 models, uniform over priors 0.05 to 0.2, at .05"


def test_a_full_study_has_its_own_number_of_samples(monkeypatch):
    monkeypatch.setattr(one_set, "FULL", 4)
    options = {"settings": ["binormal"], "weightings": [0.5], "sizes": [50], "models": [2]}
    frame = paired_study(**options, full=True, progress=False).to_frame()
    assert set(frame["replicates"]) == {4}


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"settings": ["bibeta"]}, "settings"),
        ({"sizes": [4]}, "sizes"),
        ({"models": [1]}, "models"),
        ({"supports": [0]}, "supports"),
        ({"replicates": 0}, "replicates"),
    ],
)
def test_bad_arguments_are_refused(options, named):
    with pytest.raises(InputError, match=named):
        paired_study(**options)
