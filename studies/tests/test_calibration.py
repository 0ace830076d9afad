"""The battery of tests against slow twins, and reduced calibration studies against what is known."""

import numpy as np
import pandas as pd
import pytest
from loops import each
from scipy import stats

from skewanova.base.checks import InputError
from skewanova.inference import three_way_anova, tukey_hsd, two_way_anova
from skewanova.inference.fold_statistics import blocked_f, pair_indices, permutation_test
from studies import calibration
from studies.calibration import (
    POWER_COLUMNS,
    TYPE_ONE_ERROR_COLUMNS,
    adjusted_rate,
    power_study,
    type_one_error_study,
)
from studies.results import Study
from studies.scenarios import SCENARIOS

RESAMPLED_DEFAULTS = ("default_omnibus", "default", "corrected_f", "corrected_gg", "corrected_hotelling")


def rates(study: Study, scenario: str, level: float = 0.05) -> pd.Series:
    frame = study.to_frame()
    return frame[(frame["scenario"] == scenario) & (frame["level"] == level)].set_index("test")["rate"]


def long_frame(auprec):
    folds, models, priors = (axis.ravel() for axis in np.indices(auprec.shape))
    names = np.array(list("ABCDEFGH"))[models]
    return pd.DataFrame(
        {"model": names, "fold": folds, "prior": 0.1 + 0.1 * priors, "auprec": auprec.ravel()}
    )


# --- the battery against slow twins -------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 3, 2), (20, 4, 3), (4, 2, 16)])
def test_three_way_is_the_published_anova(shape):
    auprec = np.random.default_rng(1).random((2, *shape))
    found = calibration.three_way_test(auprec)
    tukey = calibration.three_way_tukey_p(auprec)
    for i in range(2):
        result = three_way_anova(long_frame(auprec[i]))
        row = result.row("model")
        assert found.statistic[i] == pytest.approx(row["statistic"], rel=1e-9)
        assert found.p_value[i] == pytest.approx(row["p_value"], rel=1e-8)
        assert found.df_error[i] == row["df_error"]
        pairs = tukey_hsd(result, order=list("ABCDEFGH")[: shape[1]]).to_frame()
        np.testing.assert_allclose(tukey[i], pairs["p_adjusted"], rtol=1e-3, atol=1e-9)


def test_tukey_is_that_of_the_two_way_anova():
    values = np.random.default_rng(2).random((3, 12, 4))
    for table, found in zip(values, calibration.tukey_p(values), strict=True):
        frame = long_frame(table[..., None]).rename(columns={"auprec": "iauprec"})
        pairs = tukey_hsd(two_way_anova(frame), order=list("ABCD")).to_frame()
        np.testing.assert_allclose(found, pairs["p_adjusted"], rtol=1e-3)


@pytest.mark.no_cover
@pytest.mark.parametrize(
    ("n_models", "df", "quantile"),  # near p = .9, .5, .05, .005 and .001
    [
        (3, 8, [0.62, 1.66, 4.04, 6.37, 8.25]),
        (3, 38, [0.62, 1.6, 3.45, 4.75, 5.55]),
        (4, 57, [0.98, 1.99, 3.74, 4.94, 5.67]),
        (8, 133, [1.83, 2.8, 4.36, 5.39, 6.02]),
        (4, np.inf, [0.98, 1.98, 3.63, 4.69, 5.31]),
    ],
)
def test_interpolated_studentized_range(n_models, df, quantile):
    tail = stats.studentized_range.sf(quantile, n_models, df)
    means = np.zeros((5, n_models))
    means[:, 0] = quantile
    found = calibration._range_p(means, np.ones(5), df)[:, 0]
    np.testing.assert_allclose(found, tail, rtol=2e-3)
    np.testing.assert_allclose(found[2:], tail[2:], rtol=1e-4)


@pytest.mark.parametrize("n_folds", [5, 10, 20])
def test_signed_ranks_are_scipys_exact(n_folds):
    values = np.random.default_rng(3).random((4, n_folds, 3))
    found = calibration.signed_rank_p(values)
    for table, row in zip(values, found, strict=True):
        a, b = pair_indices(3)
        expected = [
            stats.wilcoxon(table[:, i] - table[:, j], method="exact").pvalue
            for i, j in zip(a, b, strict=True)
        ]
        np.testing.assert_allclose(row, expected, rtol=1e-9)


def test_pretest_of_spreads_is_scipys_levene_on_residuals():
    values = np.random.default_rng(9).random((2, 12, 3))
    for table, found in zip(values, calibration.brown_forsythe_p(values), strict=True):
        residuals = table - table.mean(axis=1, keepdims=True)
        assert found == pytest.approx(stats.levene(*residuals.T, center="median").pvalue, rel=1e-10)


def test_nemenyi_is_the_range_of_mean_ranks():
    values = np.random.default_rng(4).random((1, 10, 3))
    rank = stats.rankdata(values[0], axis=1).mean(axis=0)
    size = np.abs(rank[0] - rank[1]) / np.sqrt(3 * 4 / (6 * 10)) * np.sqrt(2)
    expected = stats.studentized_range.sf(size, 3, np.inf)
    assert calibration.nemenyi_p(values)[0, 0] == pytest.approx(expected, rel=1e-3)


def test_permutation_agrees_with_the_enumeration():
    values = np.random.default_rng(5).random((6, 4, 3))  # 216 arrangements
    found = calibration.permutation_p(values, np.random.default_rng(6))
    exact = [permutation_test(table) for table in values]
    np.testing.assert_allclose(found, exact, atol=4 * 0.5 / np.sqrt(calibration.N_RESAMPLES))


def test_defaults_follow_the_design_alone():
    chosen = {
        name: (calibration.default_omnibus(s), calibration.default_pairs(s)) for name, s in SCENARIOS.items()
    }
    assert chosen["S1"] == ("repeated_measures", "max_t")
    assert chosen["S3-M5"] == ("repeated_measures", "paired_t_holm")
    assert chosen["S2a"] == ("corrected_hotelling", "corrected_t_holm")
    assert chosen["S2a-10fold"] == ("corrected_gg", "corrected_t_holm")


# --- reduced studies ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def study():
    names = ["S1", "S1-partial", "S3-M5", "S2a"]
    return type_one_error_study(scenarios=names, replicates=200, rng=1, progress=False)


@each("level", [0.05, 0.005])
@each("scenario", ["S1", "S3-M5", "S2a"])
def test_defaults_hold_their_level(study, scenario, level):
    found = rates(study, scenario, level)
    limit = level + 3 * np.sqrt(level * (1 - level) / 200)
    assert found["default_omnibus"] <= limit
    assert found["default"] <= limit


def test_family_wise_error_under_a_partial_null(study):
    found = rates(study, "S1-partial")
    assert found["default"] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)
    assert "two_way" not in found  # not a true null: there is nothing to count


def test_naive_tests_fail_where_folds_share_training_data(study):
    assert rates(study, "S2a")["two_way"] > 0.5
    assert rates(study, "S2a")["paired_t_holm"] > 0.4
    assert rates(study, "S1")["two_way"] < 0.1


def test_three_way_rejects_more_with_more_priors(study):
    found = rates(study, "S1")
    assert found["two_way"] < 0.1 < 0.25 < found["three_way"] < 0.8 < found["three_way_16_priors"]
    assert found["tukey_three_way_16_priors"] > 0.8


@pytest.mark.parametrize(
    ("rho", "naive", "corrected"),
    [(0, 0.05, 0.0), (0.1, 0.468, 0.0032), (0.2, 0.711, 0.05), (0.3, 0.833, 0.17)],
)
def test_equicorrelated_folds_match_the_exact_rates(rho, naive, corrected):
    """F of equicorrelated folds is F(3, 57) times 1 + 20 rho / (1 - rho)."""
    factor = 1 + 20 * rho / (1 - rho)
    critical = stats.f.isf(0.05, 3, 57)
    assert stats.f.sf(critical / factor, 3, 57) == pytest.approx(naive, abs=6e-4)
    assert stats.f.sf(critical * 6 / factor, 3, 57) == pytest.approx(corrected, abs=6e-4)
    name = f"G-{rho:g}"
    tables = SCENARIOS[name].draw(4000, np.random.default_rng(7))
    statistic = blocked_f(tables.iauprec).statistic
    for inflation, rate in ((1, naive), (6, corrected)):
        found = (statistic / inflation > critical).mean()
        assert abs(found - rate) <= 4 * np.sqrt(max(rate * (1 - rate), 1e-4) / 4000)


@pytest.mark.parametrize(("copies", "expected"), [(3, 0.555), (4, 0.676), (16, 0.948)])
def test_copied_priors_match_the_exact_rates(copies, expected):
    tables = SCENARIOS[f"P-{copies}"].draw(4000, np.random.default_rng(8))
    found = (calibration.three_way_test(tables.auprec["three_way"]).p_value <= 0.05).mean()
    assert abs(found - expected) <= 4 * np.sqrt(expected * (1 - expected) / 4000)


def test_the_result_does_not_depend_on_the_number_of_processes_or_on_other_scenarios():
    options = {"replicates": 30, "rng": 3, "progress": False}
    alone = type_one_error_study(scenarios=["S2a-J5"], **options).to_frame()
    shared = type_one_error_study(scenarios=["S1-M5", "S2a-J5"], n_jobs=2, **options).to_frame()
    again = shared[shared["scenario"] == "S2a-J5"].reset_index(drop=True)
    pd.testing.assert_frame_equal(alone, again)


def test_frame_of_the_type_one_error_study(study):
    frame = study.to_frame()
    assert tuple(frame.columns) == TYPE_ONE_ERROR_COLUMNS
    assert frame["rate"].between(0, 1).all()
    np.testing.assert_allclose(
        frame["std_error"], np.sqrt(frame["rate"] * (1 - frame["rate"]) / 200), atol=1e-12
    )
    assert set(frame.loc[frame["role"] == "primary", "test"]) == {"default_omnibus", "default"}
    assert set(frame.loc[frame["role"] == "published", "test"]) >= {"two_way", "three_way", "tukey"}


def test_table_shows_both_levels(study):
    table = study.to_table()
    assert table.header == ("Test", "S1", "S1-partial", "S3-M5", "S2a")
    cells = {row[0]: row[1:] for row in table.rows}
    assert cells["two_way"][1] == ""
    assert cells["default"][0].count(" / ") == 1
    assert "200 replicates, seed 1" in table.note
    assert "| default |" in table.to_markdown()


def test_power_grows_and_size_adjustment_takes_excess_away():
    study = power_study(scenarios=["S2a"], effects=[0.2, 1.2], replicates=150, progress=False)
    frame = study.to_frame()
    assert tuple(frame.columns) == POWER_COLUMNS
    power = frame[frame["level"] == 0.05].set_index(["test", "effect"])
    assert power.loc[("default", 1.2), "rate"] > power.loc[("default", 0.2), "rate"]
    naive = power.loc[("two_way", 0.2)]
    assert naive["rate"] > 2 * naive["adjusted_rate"]
    assert study.to_table().header == ("Test", "S2a, +0.2", "S2a, +1.2")
    cells = {row[0]: row[1] for row in study.to_table("adjusted_rate").rows}
    assert cells["permutation"] == "- / -"  # nearly all its p-values are the smallest there is


def test_size_adjustment_splits_ties_at_the_critical_p():
    null = np.array([0.01, 0.1, 0.1, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])
    assert adjusted_rate(null, null[:, None], 0.2) == pytest.approx(0.2)
    assert adjusted_rate(null, np.full((5, 1), 0.1), 0.2) == pytest.approx(0.5)
    assert adjusted_rate(null, np.full((5, 2), 0.01), 0.2) == 1.0
    assert np.isnan(adjusted_rate(null, null[:, None], 0.15))  # two in ten are tied where the level falls


def test_bad_arguments_are_refused():
    with pytest.raises(InputError, match="scenarios"):
        type_one_error_study(scenarios=["S9"])
    with pytest.raises(InputError, match="replicates"):
        power_study(replicates=0)
    frame = pd.DataFrame({"scenario": ["S1"], "test": ["two_way"], "rate": [0.1]})
    with pytest.raises(InputError, match="`rate of` must be one of rate; but got 'adjusted_rate'"):
        Study("type_one_error", 0, frame).to_table("adjusted_rate")
    with pytest.raises(InputError, match="n_jobs"):
        type_one_error_study(scenarios=["G-0"], replicates=1, n_jobs=0)
