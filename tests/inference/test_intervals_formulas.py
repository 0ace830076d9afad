"""Formulas of limits, each against the equation it solves; cuts and choices at their exact places."""

import numpy as np
import pytest
from scipy import special, stats

from skewanova.inference import intervals


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_deviates_leave_half_of_the_rest_on_either_side(level):
    assert intervals.bonferroni_value(1, level) == pytest.approx(stats.norm.ppf((1 + level) / 2))


@pytest.mark.parametrize(("theta", "size"), [(0.7, 50), (0.3, 8.5), (0.02, 30), (0.98, 30)])
def test_wilsons_limits_are_where_the_score_test_ends(theta, size):
    for limit in intervals.wilson_limits(theta, size, 0.9):
        score = (theta - limit) / np.sqrt(limit * (1 - limit) / size)
        assert abs(score) == pytest.approx(stats.norm.ppf(0.95))


def test_wilsons_limits_end_at_0_and_1_exactly():
    z2 = stats.norm.ppf(0.975) ** 2
    for size in (*range(1, 60), 0.3, 1e6):
        low, high = intervals.wilson_limits(0.0, size, 0.95)
        assert 0 <= low < 1e-12
        assert high == pytest.approx(z2 / (size + z2))
        low, high = intervals.wilson_limits(1.0, size, 0.95)
        assert 1 - 1e-12 < high <= 1
        assert low == pytest.approx(size / (size + z2))


@pytest.mark.parametrize(("wins", "size"), [(3, 10), (0, 10), (10, 10), (1, 1), (7.5, 12.5)])
def test_clopper_and_pearson_leave_a_tail_on_either_side(wins, size):
    low, high = intervals.clopper_pearson_limits(wins / size, size, 0.9)
    # The chance of so many wins or more is an incomplete beta function, also of sizes that are not whole.
    assert low == 0 if wins == 0 else special.betainc(wins, size - wins + 1, low) == pytest.approx(0.05)
    assert high == 1 if wins == size else special.betaincc(wins + 1, size - wins, high) == pytest.approx(0.05)
    if wins == round(wins) and 0 < wins < size:
        assert (low, high) == pytest.approx(tuple(stats.binomtest(wins, size).proportion_ci(0.9)))


def test_thin_limits_are_wilsons_from_20_trials_on():
    assert intervals.small_sample_limits(0.7, 20, 0.95) == intervals.wilson_limits(0.7, 20, 0.95)
    exact = intervals.clopper_pearson_limits(0.7, 19.99, 0.95)
    assert intervals.small_sample_limits(0.7, 19.99, 0.95) == exact


def test_at_the_boundary_all_trials_agree():
    assert intervals.boundary_limits(1.0, 9, 0.9) == pytest.approx((0.05 ** (1 / 9), 1.0))
    assert intervals.boundary_limits(0.0, 9, 0.9) == pytest.approx((0.0, 1 - 0.05 ** (1 / 9)))


def test_percentiles_leave_half_of_the_rest_on_either_side():
    assert intervals.percentile_limits(np.arange(1001) / 1000, 0.9) == pytest.approx((0.05, 0.95))


def bca_of_scipy(estimates, theta, acceleration, level):
    """Efron's (1987) shares written with scipy's distributions: eq. 6.8."""
    bias = stats.norm.ppf((np.sum(estimates < theta) + np.sum(estimates <= theta)) / 2 / len(estimates))
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        step = bias + stats.norm.ppf(tail)
        ends.append(stats.norm.cdf(bias + step / (1 - acceleration * step)))
    return tuple(np.quantile(estimates, ends))


@pytest.mark.parametrize("acceleration", [0.0, 0.08, -0.05])
def test_bca_follows_efrons_formula(acceleration):
    estimates = np.round(np.random.default_rng(1).gamma(4, size=2000), 2)  # with ties at theta
    theta = float(np.median(estimates)) + 0.3
    theta = float(estimates[np.argmin(np.abs(estimates - theta))])
    found = intervals.bca_limits(theta, estimates, acceleration, 0.9)
    assert found == pytest.approx(bca_of_scipy(estimates, theta, acceleration, 0.9))


def test_bca_of_an_estimate_beyond_all_resamples_stays_finite():
    estimates = np.linspace(0, 1, 100)
    for theta, end in ((2.0, 1.0), (-1.0, 0.0)):
        limits = intervals.bca_limits(theta, estimates, 0.0, 0.95)
        shift = stats.norm.ppf(0.995) * (1 if theta > 1 else -1)  # half a resample from the end
        shares = stats.norm.cdf(2 * shift + stats.norm.ppf([0.025, 0.975]))
        assert limits == pytest.approx(tuple(np.quantile(estimates, shares)))
        assert abs(limits[0] - end) < 0.1


def test_acceleration_is_a_sixth_of_the_skewness_of_the_mean():
    rng = np.random.default_rng(2)
    sizes = np.where(np.arange(40) < 15, 15, 25)
    moved = rng.gamma(2, size=40)
    moved -= np.where(sizes == 15, moved[:15].mean(), moved[15:].mean())
    # Third and second moment of a sum of two independent means.
    third = sum((moved[sizes == n] ** 3).mean() / n**2 for n in (15, 25))
    second = sum((moved[sizes == n] ** 2).mean() / n for n in (15, 25))
    assert intervals.bca_acceleration(moved / sizes) == pytest.approx(third / second**1.5 / 6)
    assert intervals.bca_acceleration(1e-3 * moved / sizes) == pytest.approx(third / second**1.5 / 6)
    assert intervals.bca_acceleration(np.zeros(40)) == 0.0


def test_t_limits_are_those_of_scipy():
    estimates = np.array([0.5, 0.7, 0.65, 0.8])
    expected = stats.ttest_1samp(estimates, 0).confidence_interval(0.9)
    assert intervals.t_limits(estimates, 0.9) == pytest.approx((expected.low, expected.high))
