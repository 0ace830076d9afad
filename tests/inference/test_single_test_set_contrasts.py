"""Contrasts between areas on the same cases: guards at their exact places, numbers by other routes."""

import warnings

import numpy as np
import pytest
from scipy import stats

from skewanova.base.checks import SkewanovaWarning
from skewanova.base.rounding import TIE
from skewanova.inference import compare_test_set, single_test_set
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import RANK_TOLERANCE, ArcsineAreas, ArcsineScale, max_z_value

POSITIVE = np.arange(30) < 12
SAMPLE = Sample(POSITIVE)


def drawn(n_models, seed=0):
    """Values of 30 cases, with means that differ between the classes."""
    rng = np.random.default_rng(seed)
    mixed = rng.normal(size=(30, n_models)) @ rng.normal(size=(n_models, n_models))
    return mixed + 3 * POSITIVE[:, None]


def covariance_of(values):
    """Sum of squares within each class of n cases over n (n - 1)."""
    parts = [(values[rows], rows.sum()) for rows in (POSITIVE, ~POSITIVE)]
    return sum(np.cov(part, rowvar=False) / size for part, size in parts)


def chord(angles, i, j):
    return angles.scale.secant_slopes(np.array([i]), np.array([j]))[0]


def unscaled(area, values, sample):
    """Areas that stay on their own scale."""
    return ArcsineAreas(ArcsineScale(np.array(area), np.array(area), np.ones(len(area))), values, sample)


def test_angles_have_the_slope_of_the_arcsine_whatever_rounding_leaves():
    area, values = np.array([0.3, 0.8]), drawn(2)
    found = ArcsineAreas.from_areas(area, values, SAMPLE)
    step = 1e-6
    slope = [(2 * np.arcsin(np.sqrt(a + step)) - 2 * np.arcsin(np.sqrt(a - step))) / (2 * step) for a in area]
    assert found.scale.angle == pytest.approx(2 * np.arcsin(np.sqrt(area)))
    assert 1 / found.scale.slope == pytest.approx(slope, rel=1e-6)
    assert found.covariance == pytest.approx(covariance_of(values * slope), rel=1e-6)
    labels = np.array([1, 1, 1, 1, 1, 0, 0, 0])
    first, second = [2.1, 1.9, 2.6, 2.1, 1.5, 0.4, 1.3, 0.9], [1.3, 0.7, 1.4, 2.0, -0.3, -0.2, -1.2, -0.7]
    scores = np.transpose([first, second])
    options = {"deployment_prior": (0.05, 0.2), "area_estimator": "exact"}
    alone = compare_test_set(labels, scores, **options)
    with pytest.warns(SkewanovaWarning, match="^the clusters with (negatives|positives) count as [35] of"):
        clusters = compare_test_set(labels, scores, cluster=np.arange(8), **options)
    assert (alone.estimate[0], clusters.estimate[0]) == (pytest.approx(1), pytest.approx(1))
    assert clusters.p_value[0] == pytest.approx(alone.p_value[0])
    assert clusters.std_error[0] == pytest.approx(alone.std_error[0])


@pytest.mark.parametrize("area", [[0.0, 0.5], [0.5, 1.0], [0.5, 1 - TIE / 2], [0.5, 1 + 1e-16]])
def test_an_area_at_a_limit_keeps_all_on_their_own_scale(area):
    found = ArcsineAreas.from_areas(np.array(area), drawn(2), SAMPLE)
    assert found.scale.angle is found.area
    assert found.covariance == pytest.approx(covariance_of(drawn(2)))
    assert (chord(found, 0, 1), chord(found, 0, 0)) == (pytest.approx(1.0), 1.0)


@pytest.mark.parametrize("area", [[0.001, 0.5], [0.5, 0.999], [0.5, 1 - 2 * TIE]])
def test_an_area_near_a_limit_has_an_angle(area):
    found = ArcsineAreas.from_areas(np.array(area), drawn(2), SAMPLE)
    angle = found.scale.angle
    assert chord(found, 0, 1) == pytest.approx((area[0] - area[1]) / (angle[0] - angle[1]))
    assert chord(found, 0, 1) == pytest.approx(chord(found, 1, 0))
    assert chord(found, 0, 0) == pytest.approx(np.sqrt(area[0] * (1 - area[0])))


@pytest.mark.parametrize("rise", [-2.0, 2.0])
def test_the_chord_becomes_the_slope_where_two_angles_are_the_same(rise):
    area, least = np.array([0.2, 0.9]), single_test_set.MIN_ANGLE_DIFFERENCE
    slope = np.sqrt(area * (1 - area))

    def with_angles(*angles):
        return ArcsineAreas(ArcsineScale(area, np.array(angles), slope), drawn(2), SAMPLE)

    far, near = (with_angles(1 + rise * least * share, 1.0) for share in (1, 1 / 4))
    assert chord(far, 0, 1) == pytest.approx(-0.7 / (rise * least), rel=1e-6)
    assert chord(near, 0, 1) == pytest.approx(0.4)  # sqrt(0.2 * 0.8)
    assert chord(with_angles(np.sign(rise) * least, 0.0), 0, 1) == pytest.approx(0.4)


def test_differences_without_spread_or_with_rounding_alone_are_not_tested():
    values = drawn(1)
    unknown = [np.nan, np.nan]
    for area, limits in (([0.5, 0.5], [0, 0]), ([1.0, 0.3], unknown), ([0.3, 1.0], unknown)):
        angles = ArcsineAreas.from_areas(np.array(area), np.hstack([values, values]), SAMPLE)
        found = single_test_set.compute_pair_tests(angles, level=0.95, simultaneous="none")
        assert found.std_error.tolist() == [0.0]
        assert np.isnan([*found.statistic, *found.p_value, *found.p_adjusted]).all()
        assert [*found.conf_low, *found.conf_high] == pytest.approx(limits, nan_ok=True)
    assert single_test_set.contrast_errors(np.array([[RANK_TOLERANCE]]), np.ones((1, 1))).tolist() == [0.0]


@pytest.mark.parametrize(("share", "scale", "left"), [(0.1, 1, False), (10.0, 1, True), (0.1, 1e3, False)])
def test_a_spread_of_rounding_alone_is_none(share, scale, left):
    values = scale * drawn(1)
    faint = scale * np.sqrt(share * 2 * RANK_TOLERANCE) * drawn(1, seed=3)
    assert (unscaled([0.5, 0.5], np.hstack([values, values + faint]), SAMPLE).pair_errors()[0][0] > 0) == left


@pytest.mark.parametrize(("share", "left"), [(0.5, False), (2.0, True)])
def test_errors_of_contrasts_are_zero_where_only_rounding_is_left(share, left):
    # Variance of the difference: 2 - 2 correlation; its scale: the sum of both variances, 2.
    covariance = np.array([[1.0, 1 - share * RANK_TOLERANCE], [1 - share * RANK_TOLERANCE, 1.0]])
    found = single_test_set.contrast_errors(np.array([[1.0, -1.0], [1.0, 0.0]]), covariance)
    assert (found[0] > 0, found[1]) == (left, 1.0)


def test_the_omnibus_is_the_mean_square_of_uncorrelated_contrasts_that_vary():
    angles = ArcsineAreas.from_areas(np.array([0.5, 0.6, 0.85]), drawn(3), SAMPLE)
    centre = np.eye(3) - 1 / 3
    values, vectors = np.linalg.eigh(centre @ covariance_of(angles.values / angles.scale.slope) @ centre)
    squares, dfs = [], []
    for k in np.argsort(values)[1:]:
        error, df = SAMPLE.estimate_errors((angles.values / angles.scale.slope) @ vectors[:, k])
        squares.append((vectors[:, k] @ angles.scale.angle / error) ** 2)
        dfs.append(df)
    statistic, df, df_error, p_value = single_test_set.omnibus_f_test(angles)
    shared = stats.hmean(dfs)  # T2 of p = 2 contrasts: F = T2 (df - p + 1) / (p df)
    assert (df, df_error) == (2, pytest.approx(shared - 1))
    assert statistic == pytest.approx(np.sum(squares) * (shared - 1) / (2 * shared))
    assert p_value == pytest.approx(stats.f.sf(statistic, 2, shared - 1))
    one = drawn(1)
    same = ArcsineAreas.from_areas(np.array([0.5, 0.5, 0.5]), np.hstack([one, one, one]), SAMPLE)
    statistic, df, shared, p_value = single_test_set.omnibus_f_test(same)
    assert df == 0
    assert np.isnan([statistic, shared, p_value]).all()
    two = ArcsineAreas.from_areas(np.array([0.5, 0.5, 0.6]), np.hstack([one, one, drawn(1, seed=1)]), SAMPLE)
    assert single_test_set.omnibus_f_test(two)[1] == 1


@pytest.mark.parametrize(("share", "df"), [(0.01, 1), (100.0, 2)])
def test_a_contrast_counts_from_the_tolerance_on(share, df):
    """The third model differs from the first by a value whose variance is a share of the tolerance."""
    pair, own = drawn(2, seed=4), drawn(1, seed=5)
    # Variance of the faint contrast over the trace is near share * RANK_TOLERANCE.
    values = np.hstack([pair, pair[:, :1] + np.sqrt(share * RANK_TOLERANCE) * own])
    means = np.where(POSITIVE[:, None], values[POSITIVE].mean(axis=0), values[~POSITIVE].mean(axis=0))
    assert single_test_set.omnibus_f_test(unscaled([0.5, 0.5, 0.6], values - means, SAMPLE))[1] == df


def test_degrees_of_freedom_of_cases_bound_those_of_contrasts():
    # Values of +1 and -1 alone: their squares do not vary.
    flip = np.where(np.arange(40) % 2 == 0, 1.0, -1.0)
    angles = unscaled([0.5, 0.6], np.stack([flip, 0 * flip], axis=1), Sample(np.arange(40) < 20))
    statistic, df, shared, p_value = single_test_set.omnibus_f_test(angles)
    variance = 2 * 1 / 19  # of each class: mean square 1 over (20 - 1)
    assert (statistic, df, shared) == (pytest.approx(0.01 / variance), 1, pytest.approx(38))
    assert p_value == pytest.approx(stats.f.sf(statistic, 1, 38))
    angles = unscaled(np.linspace(0.4, 0.6, 9), drawn(9), SAMPLE)
    _, df, df_error, p_value = single_test_set.omnibus_f_test(angles)
    assert (df, df_error >= 1, 0 <= p_value <= 1) == (8, True, True)
    tiny, known = (unscaled([0.3, 0.6], size * drawn(2), SAMPLE).model_errors()[1] for size in (1e-170, 1))
    assert tiny == pytest.approx(known)


@pytest.mark.parametrize(("share", "limited"), [(0.99, True), (1.01, False)])
def test_few_positives_at_the_top_limit_the_degrees_of_freedom_of_test_and_band(share, limited):
    """Positives times the smaller area around 5: 30 positives at prior .01 covered .909 to .920."""
    area = np.array([share * 5 / 12, 0.6])
    angles = ArcsineAreas.from_areas(area, drawn(2), SAMPLE)
    free = angles.angle_variances.pair_df[0, 0]
    pair = single_test_set.compute_pair_tests(angles, level=0.95, simultaneous="none")
    assert free > 12 * area.sum()
    assert pair.df_error[0] == pytest.approx(12 * area.sum() if limited else free)
    assert pair.critical_value[0] == pytest.approx(stats.t.ppf(0.975, pair.df_error[0]))
    assert single_test_set.omnibus_f_test(angles)[2:] == pytest.approx((pair.df_error[0], pair.p_value[0]))
    assert angles.scale.max_pair_df(SAMPLE)[0] == (pytest.approx(12 * area.sum()) if limited else np.inf)
    assert ArcsineScale.from_areas(np.array([0.01, 0.02])).max_pair_df(SAMPLE)[0] == 4
    assert unscaled([0.01, 0.02], drawn(2), SAMPLE).scale.max_pair_df(SAMPLE)[0] == np.inf  # gains


@pytest.mark.parametrize(("n_models", "n_positive"), [(3, 300), (2, 300), (3, 40)])
def test_few_scores_with_few_effective_negatives_are_named(n_models, n_positive):
    rng, labels = np.random.default_rng(0), np.repeat([1, 0], [n_positive, 374])
    scores = rng.binomial(10, 0.4 + 0.2 * labels[:, None], size=(len(labels), n_models))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkewanovaWarning)
        compare_test_set(labels, scores, deployment_prior=(0.05, 0.2))
    text = "11 distinct scores and 50 effective negatives are few: tests may reject too often; provide "
    text += "unrounded scores, or add cases"
    assert [str(each.message) for each in caught] == [text] * ((n_models, n_positive) == (3, 300))


def test_deviates_that_are_one_count_as_one_among_their_contrasts():
    contrasts = np.array([[1.0, 0.0], [2.0, 0.0], [-1.0, 0.0]])
    single = stats.norm.isf(0.05)
    assert max_z_value(contrasts, np.eye(2), 0.9) == pytest.approx(single, rel=1e-3)
    assert max_z_value(contrasts[:1], np.eye(2), 0.9) == pytest.approx(single, rel=1e-12)
    still = np.array([[1.0, 0.0], [0.0, 1.0]])
    assert max_z_value(still, np.diag([1.0, 0.0]), 0.9) == pytest.approx(single, rel=1e-12)
    assert max_z_value(still, np.zeros((2, 2)), 0.9) == pytest.approx(single, rel=1e-12)
    angles = ArcsineAreas.from_areas(np.array([0.5, 0.6, 0.9]), drawn(3), SAMPLE)
    contrasts = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
    normal = max_z_value(contrasts, covariance_of(angles.values / angles.scale.slope), 0.9)
    found = single_test_set.compute_pair_tests(angles, level=0.9, simultaneous="max_z")
    assert found.critical_value == pytest.approx(stats.t.ppf(stats.norm.cdf(normal), found.df_error))


@pytest.mark.parametrize(("share", "counted"), [(0.01, 2), (100.0, 3)])
def test_a_direction_counts_from_the_tolerance_on(share, counted):
    found = max_z_value(np.eye(3), np.diag([1.0, 2.0, 2 * share * RANK_TOLERANCE]), 0.9)
    assert found == pytest.approx(stats.norm.isf((1 - 0.9 ** (1 / counted)) / 2), rel=2e-3)


def test_the_draws_are_the_midpoints_of_a_grid_and_all_count(monkeypatch):
    """Of two deviates with correlation 0 at 16 bits: the quantile of the largest over all Sobol points."""
    normal = stats.norm.ppf(stats.qmc.Sobol(2, scramble=False).random_base2(16) + 2.0**-17)
    expected = np.quantile(np.abs(normal).max(axis=1), 0.95)
    for scale in (1.0, 1e-30, 1e30):
        found = max_z_value(np.eye(2), np.diag([1.0, 2.0]) * scale, 0.95)
        assert found == pytest.approx(expected, rel=1e-12)
    monkeypatch.setattr("skewanova.inference.single_test_set.LOG_DRAWS", 3)
    monkeypatch.setattr("skewanova.inference.single_test_set.BLOCK_SIZE", 1)
    largest = np.abs(stats.norm.ppf(stats.qmc.Sobol(2, scramble=False).random_base2(3) + 1 / 16)).max(axis=1)
    for level in (0.2, 0.9):
        found = max_z_value(np.eye(2), np.diag([1.0, 2.0]), level)
        assert found == pytest.approx(np.quantile(largest, level), rel=1e-12)
