"""Power: against statsmodels and quadrature, of uncertain pilots, planned numbers of folds by simulation."""

import numpy as np
import pytest
from fold_tables import correlated_folds
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from scipy import integrate, stats
from statsmodels.stats.power import NormalIndPower, TTestPower

from skewanova.decision import power as decision_power
from skewanova.decision.power import FoldTest


@given(st.integers(1, 300), st.integers(2, 200), st.sampled_from([0.005, 0.05, 0.2]))
def test_power_against_statsmodels(effect, n_folds, alpha):
    found = FoldTest(effect / 100, 1.0, ratio=0.0, alpha=alpha).power(n_folds)
    known = TTestPower().power(effect / 100, n_folds, alpha)
    if np.isnan(known):  # statsmodels gives up, here and there from power .997
        known = power_by_quadrature(effect / 100, n_folds, alpha)
    assert found == pytest.approx(known, abs=1e-6)
    normal = NormalIndPower(ddof=0).power(effect / 10, 1, alpha, ratio=0)
    assert decision_power.z_power(-effect / 100, 0.1, alpha) == pytest.approx(normal)


def power_by_quadrature(effect, n_folds, alpha):
    """Power given the deviation, averaged over it: t is normal over chi / sqrt(df)."""
    df, shift = n_folds - 1, effect * np.sqrt(n_folds)
    limit = stats.t.isf(alpha / 2, df)
    scaled = stats.chi(df, scale=1 / np.sqrt(df))
    low, high = scaled.isf([1 - 1e-14, 1e-14])
    return integrate.quad(
        lambda s: scaled.pdf(s) * (stats.norm.cdf(shift - limit * s) + stats.norm.cdf(-shift - limit * s)),
        low, high, limit=200,
    )[0]  # fmt: skip


@pytest.mark.parametrize(("effect", "power"), [(0.3, 0.5), (0.3, 0.8), (0.3, 0.95), (0.9, 0.8)])
def test_independent_folds_needed_against_statsmodels(effect, power):
    found = FoldTest([0.3, effect], 1.0, ratio=0.0, alpha=0.05).folds_for_power(power)
    assert found[1] == np.ceil(TTestPower().solve_power(effect, power=power, alpha=0.05))
    assert found[0] == FoldTest(0.3, 1.0, ratio=0.0, alpha=0.05).folds_for_power(power)


def test_overlapping_folds_have_a_limit():
    options = {"ratio": 0.25, "alpha": 0.05}
    limit = FoldTest(1.2, 1.0, **options).limit_power()
    assert limit == pytest.approx(stats.norm.sf(1.959964 - 2.4) + stats.norm.cdf(-1.959964 - 2.4), rel=1e-6)
    assert FoldTest(1.2, 1.0, **options).power(100_000) == pytest.approx(limit, abs=1e-4)
    assert FoldTest(1.2, 1.0, **options).folds_for_power(0.8) == np.inf
    assert np.isinf(FoldTest(1.2, 1.0, **options).folds_for_power(limit))
    assert np.isfinite(FoldTest(1.2, 1.0, **options).folds_for_power(limit - 0.01))
    needed = int(FoldTest(1.2, 1.0, **options).folds_for_power(0.6))
    assert FoldTest(1.2, 1.0, **options).power(needed) >= 0.6
    assert FoldTest(1.2, 1.0, **options).power(needed - 1) < 0.6
    halved = FoldTest(1.2, 1.0, df=12.0, **options)
    needed = int(halved.folds_for_power(0.5))
    assert halved.power(needed) >= 0.5 > halved.power(needed - 1)


@pytest.mark.parametrize(("ratio", "effect", "power"), [(0.0, 0.7, 0.8), (0.25, 1.6, 0.8)])
def test_planned_folds_reach_their_power_in_simulated_folds(ratio, effect, power):
    """Gaussian folds with correlation r / (1 + r); Monte Carlo error .005."""
    n_folds = int(FoldTest(effect, 1.0, ratio=ratio, alpha=0.05).folds_for_power(power))
    rho = ratio / (1 + ratio)
    values = correlated_folds(6000, n_folds, 1, rho=rho, rng=np.random.default_rng(5))[..., 0]
    values = effect + values / np.sqrt(1 - rho)  # deviation 1 within a data set
    t = values.mean(axis=1) / (values.std(axis=1, ddof=1) * np.sqrt(1 / n_folds + ratio))
    rate = (np.abs(t) > stats.t.isf(0.025, n_folds - 1)).mean()
    assert rate == pytest.approx(FoldTest(effect, 1.0, ratio=ratio, alpha=0.05).power(n_folds), abs=0.018)
    assert rate > power - 0.018


@pytest.mark.parametrize("pilot_df", [3.0, 9.0, 60.0])
def test_expected_power_against_quadrature(pilot_df):
    seen = stats.chi(pilot_df, scale=1 / np.sqrt(pilot_df))
    known = integrate.quad(
        lambda s: seen.pdf(s) * decision_power.t_power(3.0 * s, 12, 0.05), 0, seen.isf(1e-13), limit=200
    )[0]
    assert decision_power.expected_power(3.0, 12, 0.05, pilot_df) == pytest.approx(known, abs=1e-5)
    assert decision_power.approximate_power(3.0, 12, 0.05, pilot_df) == pytest.approx(known, abs=0.012)


@pytest.mark.parametrize("pilot_df", [np.inf, 9.0])
def test_shifts_between_knots_are_those_worked_out_one_by_one(pilot_df):
    df = np.array([1.0, 3.0, 9.5, 47.0, 54_321.0])
    found = decision_power._interpolate_noncentrality(0.8, 0.01, pilot_df)(df)
    known = [decision_power.noncentrality_for_power(each, 0.8, 0.01, pilot_df) for each in df]
    np.testing.assert_allclose(found, known, rtol=1e-5)
    np.testing.assert_allclose(decision_power.expected_power(found, df, 0.01, pilot_df), 0.8, atol=1e-5)


@pytest.mark.parametrize("pilot_df", [np.inf, 9.0])
@pytest.mark.parametrize("power", [0.06, 0.8, 0.99, 1 - 1e-9])
def test_shifts_are_found_in_few_steps_up_to_powers_next_to_1(power, pilot_df, monkeypatch):
    measured, shifts = decision_power.expected_power, []

    def counted(shift, *options):
        shifts.append(shift)
        return measured(shift, *options)

    monkeypatch.setattr(decision_power, "expected_power", counted)
    found = decision_power.noncentrality_for_power(9, power, 0.05, pilot_df)
    assert 1 - measured(found, 9, 0.05, pilot_df) == pytest.approx(1 - power, rel=1e-6)
    assert len(shifts) <= 12
    assert len({decision_power.noncentrality_for_power(9, 1 - by, 0.05) for by in (2e-15, 2e-16)}) == 1


@each("wanted", [2, 3, 1000, 65_537, 9_000_001, 10_000_000])
def test_numbers_up_to_the_most_folds_are_found(wanted):
    asked = np.array([True, False, True])
    targets = np.array([wanted, 2, 10_000_001])
    found = decision_power.find_smallest_counts(lambda number: number >= targets, asked)
    assert (found.tolist(), asked.tolist()) == ([wanted, np.inf, np.inf], [True, False, True])


@pytest.mark.parametrize("df", [None, 12.0])
def test_a_factor_of_cases_has_the_power_it_is_asked_for(df):
    differences = np.array([0.2, 0.9, 1.4])
    options = {"ratio": 0.25, "alpha": 0.05, "df": df}
    factor = FoldTest(differences, 1.0, **options).case_factor(7, 0.8)
    np.testing.assert_allclose(FoldTest(differences, 1 / np.sqrt(factor), **options).power(7), 0.8, atol=1e-7)
    ends = FoldTest(np.array([0.0, 1e-300, 1e6]), 1.0, **options).case_factor(7, 0.8)
    assert ends.tolist() == [np.inf, np.inf, 1e-6]


def test_factors_by_hand_known_variances_and_nodes_that_are_kept():
    found = decision_power.case_factor_for_power(lambda factor: 1 - np.exp(-factor), 0.8)
    assert found == pytest.approx(-np.log(0.2), rel=1e-8)
    assert decision_power.case_factor_for_power(lambda factor: 0.8, 0.8) == 1e-6  # even the fewest
    assert decision_power.case_factor_for_power(lambda factor: 0.79, 0.8) == np.inf
    assert decision_power.case_factor_for_power(lambda factor: 0.9 if factor > 1e9 else 0.1, 0.8) == np.inf
    for unknown in (1e-6, 1.0, 1e9):
        nowhere = decision_power.case_factor_for_power(lambda f, at=unknown: np.nan if f == at else 0.1, 0.8)
        assert np.isnan(nowhere)
    huge = decision_power.t_power(
        np.array([2e5, 3e5]), 1.0, 1e-6
    )  # where the noncentral t of scipy overflows
    assert huge == pytest.approx(
        stats.norm.cdf(np.array([2e5, 3e5]) / stats.t.isf(5e-7, 1)) * 2 - 1, rel=1e-8
    )
    shift = np.array([0.5, 3.3])
    known = decision_power.t_power(shift, 9.0, 0.05)
    assert decision_power.expected_power(shift, 9.0, 0.05, decision_power.KNOWN_DF).tolist() == known.tolist()
    nearly = decision_power.expected_power(shift, 9.0, 0.05, decision_power.KNOWN_DF / 2)
    assert nearly == pytest.approx(known, rel=1e-6)
    pilot = decision_power.Pilot.from_df(9.0)
    assert decision_power.Pilot.from_df(9.0) is pilot
    assert not any(values.flags.writeable for values in pilot)
