"""Studies of areas against the truth, against simulations made elsewhere with 20,000 samples."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import twins
from hypothesis import given
from loops import each
from strategies import tie_groups

from skewanova import auprec, auprec_score
from skewanova.base.checks import InputError, SkewanovaWarning
from skewanova.curves import fit_binormal
from skewanova.curves.distributions import sample_scores
from skewanova.curves.roc import curve_from_scores
from skewanova.inference.intervals import confidence_interval
from studies import areas as studies_areas
from studies import scenarios
from studies.areas import binormal_study, estimators_study, intervals_study

RECORDED = Path(__file__).resolve().parents[2] / "studies" / "records"
FAR = 4  # standard errors, for dozens of comparisons

# mean estimate over truth with 50 and 100 binormal cases, and with 100 of the other settings
RATIOS = {
    "average_precision": (1.335, 1.207, 1.015, 1.010),
    "trapezoid": (1.188, 1.112, 1.005, 1.000),
    "upper_trapezoid": (1.609, 1.352, 1.050, 1.069),
    "interpolated_max": (1.417, 1.265, None, None),
    "interpolated_mean": (1.060, 1.060, None, None),
    "interpolated_median": (1.005, 1.033, 0.965, 0.947),
    "convex_hull": (1.524, 1.388, 1.064, 1.085),
    "exact": (1.203, 1.120, None, None),
    "binormal": (1.083, 1.042, 1.040, 0.854),
}
RATIO_CELLS = (("binormal", 50), ("binormal", 100), ("bibeta", 100), ("offset_uniform", 100))
# coverage of 95 % intervals with 200 cases: binormal, bibeta, offset uniform
COVERAGE = {
    "binomial": (0.969, 0.953, 0.961),
    "logit": (0.960, 0.988, 0.984),
    "cross_validation": (0.588, 0.811, 0.915),
}
# bias with 100 cases at shares .02, .1 and .5
BIAS = {
    "trapezoid": (0.079, 0.033, 0.003),
    "average_precision": (0.124, 0.060, 0.008),
    "binormal": (0.638, 0.450, -0.002),
    "alpha_binormal_ddof1": (0.060, 0.012, -0.002),
    "alpha_binormal_ddof0": (0.042, 0.008, 0.000),
}


@pytest.fixture(scope="module")
def estimators():
    return estimators_study(sizes=[50, 100], replicates=150, rng=1, progress=False)


@pytest.fixture(scope="module")
def intervals():
    return intervals_study(sizes=[200], replicates=120, rng=1, progress=False)


@pytest.fixture(scope="module")
def fits():
    return binormal_study(alphas=[0.02, 0.1, 0.5], replicates=150, rng=1, progress=False)


# --- agreement with the recorded simulations ----------------------------------------------------------------


@each("estimator", RATIOS)
def test_mean_estimates_match(estimators, estimator):
    frame = estimators.to_frame().set_index(["estimator", "setting", "n_total"])
    for cell, expected in zip(RATIO_CELLS, RATIOS[estimator], strict=True):
        if expected is not None:
            row = frame.loc[(estimator, *cell)]
            assert abs(row["ratio"] - expected) <= FAR * row["std_error"] + 5e-4, cell


@pytest.mark.parametrize("method", COVERAGE)
def test_coverage_matches(intervals, method):
    frame = intervals.to_frame().set_index(["method", "setting"])
    for setting, expected in zip(scenarios.SETTINGS, COVERAGE[method], strict=True):
        row = frame.loc[(method, setting)]
        error = np.sqrt(expected * (1 - expected) / row["replicates"])
        assert abs(row["coverage_without_rule"] - expected) <= FAR * error + 5e-4, setting


@pytest.mark.no_cover
def test_bootstrap_coverage_matches_where_it_is_simulated():
    study = intervals_study(settings=["binormal"], sizes=[100], replicates=200, rng=2, progress=False)
    coverage = study.to_frame().set_index("method")["coverage"]
    for method, expected in (("bootstrap", 0.879), ("bca", 0.898), ("cross_validation", 0.566)):
        assert abs(coverage[method] - expected) <= FAR * np.sqrt(expected * (1 - expected) / 200)


def test_influence_intervals_cover_better_than_cross_validation(intervals):
    coverage = intervals.to_frame().pivot_table(index="setting", columns="method", values="coverage")
    assert (coverage["jackknife"] > coverage["cross_validation"]).all()
    assert (coverage["auto"] >= 0.93).all()


@pytest.mark.parametrize("model", BIAS)
def test_bias_of_binormal_fits_matches(fits, model):
    frame = fits.to_frame().set_index(["measure", "model", "alpha"])
    for alpha, expected in zip((0.02, 0.1, 0.5), BIAS[model], strict=True):
        row = frame.loc[("auprec", model, alpha)]
        assert abs(row["bias"] - expected) <= FAR * row["std_error"] + 5e-4, alpha


@pytest.mark.no_cover
def test_area_under_roc_is_unbiased_at_the_share_of_the_paper():
    frame = binormal_study(alphas=[0.4], replicates=400, rng=3, progress=False).to_frame()
    rows = frame[frame["measure"] == "auc"]
    assert list(rows["model"]) == ["empirical", "binormal_ddof1", "binormal_ddof0"]
    assert (rows["bias"].abs() <= FAR * rows["std_error"]).all()


def test_the_recorded_studies_match():
    estimators, binormal, intervals = (
        pd.read_csv(RECORDED / f"{name}.csv") for name in ("estimators", "binormal", "intervals")
    )
    assert tuple(estimators) == studies_areas.ESTIMATORS_COLUMNS
    assert tuple(binormal) == studies_areas.BINORMAL_COLUMNS
    assert tuple(intervals) == studies_areas.INTERVALS_COLUMNS
    ratios = estimators.set_index(["estimator", "setting", "n_total"])
    for estimator, expected in RATIOS.items():
        for cell, ratio in zip(RATIO_CELLS, expected, strict=True):
            row = ratios.loc[(estimator, *cell)]
            assert ratio is None or abs(row["ratio"] - ratio) <= 3 * row["std_error"] + 5e-4
    biases = binormal.set_index(["measure", "model", "alpha"])
    for model, expected in BIAS.items():
        for alpha, bias in zip((0.02, 0.1, 0.5), expected, strict=True):
            row = biases.loc[("auprec", model, alpha)]
            assert abs(row["bias"] - bias) <= 3 * row["std_error"] + 5e-4
    usual = intervals[intervals["prior"] == scenarios.PRIOR]
    rates = usual.set_index(["method", "setting", "n_total"])[["coverage_without_rule", "replicates"]]
    for method, expected in COVERAGE.items():
        for setting, rate in zip(scenarios.SETTINGS, expected, strict=True):
            row = rates.loc[(method, setting, 200)]
            error = np.sqrt(rate * (1 - rate) * (1 / row["replicates"] + 1 / 20_000))
            assert abs(row["coverage_without_rule"] - rate) <= 3 * error + 5e-4


# --- one sample against the public functions ----------------------------------------------------------------


def test_one_sample_is_measured_as_by_the_public_functions():
    labels, scores = sample_scores(*scenarios.SETTINGS["binormal"], 100, prior=0.1, rng=5)
    areas = studies_areas.estimated_areas("binormal", 100, np.random.default_rng(5))
    roc = curve_from_scores(labels, scores)
    expected = [auprec(roc, 0.1, area_estimator=estimator) for estimator in studies_areas.AREAS[:-1]]
    np.testing.assert_allclose(areas[:-1], expected)
    np.testing.assert_allclose(areas[-1], fit_binormal(labels, scores, ddof=1).auprec(0.1))


@pytest.mark.parametrize(("setting", "prior", "n_total"), [("binormal", 0.1, 100), ("bibeta", 0.5, 300)])
def test_limits_of_one_sample_are_those_of_the_public_function(setting, prior, n_total):
    labels, scores = sample_scores(*scenarios.SETTINGS[setting], n_total, prior=prior, rng=8)
    n_positive = int(labels.sum())
    folds = np.concatenate([np.arange(n_positive), np.arange(n_total - n_positive)]) % scenarios.N_FOLDS
    found = studies_areas.quick_limits(setting, prior, n_total, np.random.default_rng(8))
    for method, limits in zip(studies_areas.QUICK_METHODS, found, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkewanovaWarning)
            given = folds if method == "cross_validation" else None
            interval = confidence_interval(
                labels, scores, prior=prior, method=method, folds=given, area_estimator="average_precision"
            )
        np.testing.assert_allclose(limits, (interval.conf_low, interval.conf_high, 0), rtol=1e-9)


def test_bootstraps_of_one_sample_are_those_of_the_public_function(monkeypatch):
    monkeypatch.setattr(studies_areas, "N_RESAMPLES", 2000)
    generator = np.random.default_rng(6)
    labels, scores = sample_scores(*scenarios.SETTINGS["binormal"], 100, prior=0.1, rng=generator)
    state = generator.bit_generator.state
    found = studies_areas.bootstrap_limits("binormal", 0.1, 100, np.random.default_rng(6))
    for method, limits in zip(studies_areas.BOOTSTRAP_METHODS, found, strict=True):
        again = np.random.default_rng()
        again.bit_generator.state = state
        with pytest.warns(SkewanovaWarning, match="too short"):
            interval = confidence_interval(
                labels,
                studies_areas.coarse(labels, scores),
                prior=0.1,
                method=method,
                area_estimator="average_precision",
                rng=again,
            )
        np.testing.assert_allclose(limits, (interval.conf_low, interval.conf_high, 0))


@given(groups=tie_groups())
def test_coarse_scores_have_the_same_average_precision(groups):
    labels, scores = (np.array(part) for part in twins.labels_and_scores(groups))
    options = {"prior": 0.2, "area_estimator": "average_precision"}
    expected = auprec_score(labels, scores, **options)
    assert auprec_score(labels, studies_areas.coarse(labels == 1, scores), **options) == pytest.approx(
        expected
    )


def test_estimates_at_the_limit_follow_the_rule(monkeypatch):
    def separable(*_args, **_options):
        return np.arange(100) < 10, np.arange(100.0)[::-1]

    monkeypatch.setattr(studies_areas, "sample_scores", separable)
    rng = np.random.default_rng(0)
    limits = np.concatenate(
        [f("bibeta", 0.1, 100, rng) for f in (studies_areas.quick_limits, studies_areas.bootstrap_limits)]
    )
    methods = np.array([*studies_areas.QUICK_METHODS, *studies_areas.BOOTSTRAP_METHODS])
    at_limit = limits[:, 2] == 1
    assert set(methods[~at_limit]) == {"wilson"}
    np.testing.assert_allclose(limits[at_limit, 0], 0.025**0.1)


# --- frames and tables --------------------------------------------------------------------------------------


def test_frames_have_their_columns(estimators, intervals, fits):
    for study, columns in (
        (estimators, studies_areas.ESTIMATORS_COLUMNS),
        (intervals, studies_areas.INTERVALS_COLUMNS),
        (fits, studies_areas.BINORMAL_COLUMNS),
    ):
        frame = study.to_frame()
        assert tuple(frame.columns) == columns
        assert frame.notna().all(axis=None)
    frame = intervals.to_frame()
    missed = frame["too_high"] + frame["too_low"]
    np.testing.assert_allclose(frame["coverage"] + missed, 1)
    assert frame["location"].between(0.5, 2).all()
    assert (frame["coverage_without_rule"] <= frame["coverage"]).all()
    assert (frame["coverage_without_rule"] >= frame["coverage"] - frame["at_limit"] - 1e-12).all()


def test_tables_fit_the_screen(estimators, intervals, fits):
    for study in (estimators, intervals, fits):
        assert len(study.to_tables()) == len(study.groups)
        for table in study.to_tables():
            assert max(map(len, table.to_text().splitlines())) <= 80
    table = estimators.to_table("bibeta")
    assert table.header == ("Estimator", "50", "100")
    assert "150 samples, seed 1" in table.note
    assert fits.to_table().header == ("Model", "0.02", "0.1", "0.5")


def test_the_result_does_not_depend_on_the_number_of_processes_or_on_other_cells():
    options = {"settings": ["binormal"], "replicates": 30, "rng": 3, "progress": False}
    alone = estimators_study(sizes=[50], **options).to_frame()
    shared = estimators_study(sizes=[20, 50], n_jobs=2, **options).to_frame()
    again = shared[shared["n_total"] == 50].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, again)


def test_a_full_study_has_its_own_numbers_of_samples(monkeypatch):
    for name, number in (("FULL", 4), ("FULL_LARGE", 3), ("FULL_INTERVALS", 5), ("FULL_BOOTSTRAP", 2)):
        monkeypatch.setattr(studies_areas, name, number)
    options = {"settings": ["binormal"], "full": True, "progress": False}
    ratios = estimators_study(sizes=[50, 10000], **options).to_frame()
    assert ratios.groupby("n_total")["replicates"].first().to_dict() == {50: 4, 10000: 3}
    frame = intervals_study(sizes=[500], **options).to_frame().set_index("method")
    assert frame.loc[["binomial", "bca"], "replicates"].tolist() == [5, 2]
    assert set(binormal_study(alphas=[0.3], full=True, progress=False).to_frame()["replicates"]) == {4}


@each(
    ("study", "options", "named"),
    [
        (estimators_study, {"settings": ["normal"]}, "settings"),
        (estimators_study, {"sizes": [5]}, "sizes"),
        (estimators_study, {"replicates": 0}, "replicates"),
        (estimators_study, {"rng": -1, "sizes": [50]}, "rng"),
        (intervals_study, {"sizes": [50]}, "sizes"),
        (intervals_study, {"n_jobs": 0}, "n_jobs"),
        (intervals_study, {"priors": [1.5]}, "priors"),
        (binormal_study, {"alphas": [0.01]}, "alphas"),
        (binormal_study, {"alphas": [1.0]}, "alphas"),
        (binormal_study, {"replicates": 0}, "replicates"),
    ],
)
def test_bad_arguments_are_refused(study, options, named):
    with pytest.raises(InputError, match=named):
        study(**options)


def test_a_table_of_a_group_that_was_not_simulated_is_refused(fits):
    with pytest.raises(InputError, match="measure"):
        fits.to_table("accuracy")


def test_typical_sample_is_near_the_median_of_every_area():
    found = studies_areas.typical_sample(n_samples=60, rng=3)
    areas = np.array(
        [
            studies_areas.binormal_areas(0.4, np.random.default_rng(seed))
            for seed in np.random.SeedSequence(3).spawn(60)
        ]
    )
    fitted = studies_areas.fit_moments(*found[:2], ddof=0)
    own = {0: auprec_score(found.positive, found.score, prior=0.4), 4: fitted.auprec(0.4), 7: fitted.auc}
    below = [(areas[:, place] < value - 1e-9).sum() for place, value in own.items()]
    assert np.abs((np.array(below) + 0.5) / 60 - 0.5).max() <= found.percentile / 100 + 1e-12
    assert found.percentile < 20
    assert found.positive.sum() == 40


def test_estimators_by_prior_agree_with_sums_over_samples():
    study = studies_areas.estimators_by_prior_study(
        settings=["bibeta"], sizes=[60], priors=[0.01, 0.2], replicates=8, progress=False
    )
    frame = study.to_frame()
    assert set(frame["prior"]) == {0.2}  # 60 cases hold less than two positives at .01
    assert list(frame) == list(studies_areas.BY_PRIOR_COLUMNS)
    (size, seed), *_ = studies_areas.Cell(("bibeta", 60, 0.2), 8, None).blocks("estimators_by_prior", 0)
    draws = np.random.default_rng(seed)
    samples = [sample_scores(*scenarios.SETTINGS["bibeta"], 60, prior=0.2, rng=draws) for _ in range(size)]
    areas = [auprec_score(*sample, prior=0.2, area_estimator="exact") for sample in samples]
    row = frame[frame["estimator"] == "exact"].iloc[0]
    assert row["mean"] == pytest.approx(np.mean(areas), rel=1e-12)
    assert row["std_dev"] == pytest.approx(np.std(areas), rel=1e-12)
    assert study.to_table().caption.endswith("by prior (bibeta, 60 cases)")


def test_recorded_study_by_prior_is_of_this_code():
    recorded = pd.read_csv(Path(__file__).parents[2] / "studies" / "records" / "estimators_by_prior.csv")
    assert list(recorded) == list(studies_areas.BY_PRIOR_COLUMNS)
    assert set(recorded["replicates"]) == {studies_areas.FULL_BY_PRIOR}
    assert sorted(set(recorded["prior"])) == list(studies_areas.ESTIMATOR_PRIORS)
    rare = recorded[(recorded["prior"] == 0.01) & (recorded["setting"] == "binormal")]
    ratio = rare[rare["n_total"] == 1000].set_index("estimator")["ratio"]
    assert ratio["average_precision"] > ratio["trapezoid"] > 1.2  # the slides recommend both


def test_sizes_that_hold_no_positives_are_refused():
    with pytest.raises(InputError, match="must hold two cases of either class at some of `priors`"):
        studies_areas.estimators_by_prior_study(sizes=[20], priors=[0.01], replicates=1, progress=False)
