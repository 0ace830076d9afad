"""Jackknife values along the prior: exact values, nodes against the priors themselves, blocks of cases."""

import mpmath
import numpy as np
import pytest
from case_values import unit_values
from loops import each
from scipy.special import expit, logit

from skewanova.curves.estimators import ESTIMATORS, STEP_ESTIMATORS
from skewanova.inference import case_deviations
from skewanova.inference.case_deviations import CaseDeviations, PriorProjection, choose_nodes
from skewanova.inference.case_resampling import SortedScores
from skewanova.inference.sampling import Sample, VarianceEstimates
from skewanova.priors.weightings import UniformPrior


def scored(n, share, *, digits=None, seed=3):
    """Labels, and scores of two models that are much alike."""
    rng = np.random.default_rng(seed)
    positive, common = rng.random(n) < share, rng.normal(size=n)
    scores = [common + s * rng.normal(size=n) + gain * positive for s, gain in ((0.7, 1), (0.6, 1.2))]
    return positive, scores if digits is None else [np.round(score, digits) for score in scores]


def area_without(positive, score, left, prior):
    """Trapezoid of untied scores without a case, in 30 digits (Landgrebe et al. 2006, eq. 4)."""
    kept = np.arange(len(score)) != left
    label = positive[kept][np.argsort(-score[kept])]
    true, false = np.cumsum(label), np.cumsum(~label)
    n, m, pi = int(true[-1]), int(false[-1]), mpmath.mpf(prior)

    def precision(hits, alarms):
        return pi * hits / n / (pi * hits / n + (1 - pi) * alarms / m)

    total = mpmath.mpf(0)
    for hits, alarms in zip(true[label].tolist(), false[label].tolist(), strict=True):
        first = hits == 1 and alarms == 0
        before = 1 if first else precision(hits - 1, alarms) if hits > 1 or alarms else 1
        total += (precision(hits, alarms) + before) / 2
    return total / n


def test_what_is_left_of_two_areas_is_no_rounding():
    """Areas subtracted from each other, and multiplied by the cases, once kept ten digits of these."""
    positive, (score, _) = scored(1200, 0.5)
    with mpmath.workdps(30):
        whole = area_without(positive, score, -1, 0.9)
        result = unit_values(Sample(positive), score, [UniformPrior(0.9, 0.9)], "trapezoid")
        found = result.select_units()[:, 0]
        for side in (positive, ~positive):
            for case in np.flatnonzero(side)[::250].tolist():
                value = (np.count_nonzero(side) - 1) * (whole - area_without(positive, score, case, 0.9))
                assert found[case] == pytest.approx(float(value), rel=2e-12, abs=2e-13)


def deviations(sample, scores, priors, area_estimator):
    models = [SortedScores(sample, score) for score in scores]
    return CaseDeviations.from_models(models, priors, area_estimator)


@each("area_estimator", STEP_ESTIMATORS)
@each(("low", "high"), [(0.05, 0.2), (0.001, 0.5), (1e-4, 0.9)])
def test_nodes_say_the_same_as_the_priors_themselves(low, high, area_estimator):
    positive, scores = scored(300, 0.3, digits=2)
    sample, priors = Sample(positive), expit(np.linspace(logit(low), logit(high), 150))
    nodes = choose_nodes(priors, low, high, area_estimator)
    assert len(nodes.priors) < 100
    found = deviations(sample, scores, nodes.priors, area_estimator)
    few, scale = np.arange(0, 150, 37), np.array([[1.0], [0.8]])
    alone = deviations(sample, scores, priors[few], area_estimator)
    own = PriorProjection(np.eye(len(few)), np.repeat(scale, len(few), axis=1))
    root, [(unit, sums)] = alone.sum_products([own])
    expected = VarianceEstimates.from_power_sums(sample, sums, 2, unit)
    turn = PriorProjection(nodes.weight, np.repeat(scale, 150, axis=1))
    part = PriorProjection(turn.weight[:, few], turn.scale[:, few])
    (units, spreads), (few_units, few_spreads) = found.project([turn, part])
    for one, less, other in zip(spreads, few_spreads, expected, strict=True):
        np.testing.assert_allclose(one[:, few], other, rtol=1e-10)
        np.testing.assert_allclose(less, other, rtol=1e-10)
    rows = alone.project_units(own.weight, root)
    for values in (units[:, np.concatenate([few, 150 + few])], few_units):
        np.testing.assert_allclose(values.T @ values, rows.T @ rows, rtol=1e-10)


@each(("n_priors", "area_estimator"), [
    (1, "trapezoid"), (12, "trapezoid"), *((200, name) for name in set(ESTIMATORS) - set(STEP_ESTIMATORS)),
])  # fmt: skip
def test_few_priors_and_estimators_that_are_no_sums_of_precisions_have_no_nodes(n_priors, area_estimator):
    priors = np.linspace(0.1, 0.3, n_priors)
    found = choose_nodes(priors, priors[0], priors[-1], area_estimator)
    assert found.priors.tolist() == priors.tolist()
    assert (found.weight == np.eye(n_priors)).all()


def test_nodes_serve_priors_within_their_range_unless_these_are_as_few():
    priors = np.linspace(0.1, 0.3, 60)
    wide, own = choose_nodes(priors, 0.05, 0.5, "exact"), choose_nodes(priors, 0.1, 0.3, "exact")
    assert wide.priors.min() < 0.06
    assert own.priors.min() > 0.09
    two_panels = np.append(1e-4 * (1 - 1e-12), np.geomspace(1e-4, 0.9, 200))
    by_rounding = choose_nodes(two_panels, 1e-4, 0.9, "exact")
    assert by_rounding.weight[:, 0] @ by_rounding.priors == pytest.approx(1e-4, rel=1e-10)
    for nodes in (wide, own):
        at = 1 / (1 + 3 * (1 - nodes.priors) / nodes.priors)
        np.testing.assert_allclose(at @ nodes.weight, 1 / (1 + 3 * (1 - priors) / priors), rtol=1e-14)
    low, high = 1e-4, 0.9  # wider than one panel
    n_nodes = len(choose_nodes(np.linspace(low, high, 500), low, high, "exact").priors)
    for spare in (0, 1):
        priors = np.linspace(low, high, n_nodes + spare)
        own = choose_nodes(priors, low, high, "exact").priors.tolist() == priors.tolist()
        assert own == (spare == 0)


@pytest.mark.parametrize(("width", "panels"), [(0.5, 1), (1.0, 1), (1.01, 2), (2.0, 2)])
def test_panels_are_as_few_as_their_width_allows(width, panels):
    low, high = expit([-6, -6 + width * case_deviations.PANEL_WIDTH * (1 - 1e-12)])
    found = choose_nodes(np.linspace(low, high, 500), low, high, "exact").priors
    half = width * case_deviations.PANEL_WIDTH / panels / 2
    assert len(found) == panels * case_deviations._count_panel_nodes(half)


def test_sums_of_a_mix_of_models_are_those_of_its_deviations():
    positive, scores = scored(40, 0.4, digits=1)
    found = deviations(Sample(positive), scores, np.array([0.1, 0.2, 0.4]), "exact")
    weight, scale = np.eye(3)[:, :2], np.array([[1.0, 2.0], [3.0, 1.0]])
    mix = np.array([[1.0, -1.0], [0.5, 0.5], [0.0, 1.0]])
    parts = zip(found.tables, found.bases, scale, strict=True)
    values = np.stack([one.select_units() @ basis[:, :2] * row for one, basis, row in parts])
    mixed = np.einsum("km,mup->kup", mix, values)
    columns = np.array([*mixed, mixed[0] - mixed[1], mixed[0] - mixed[2], mixed[1] - mixed[2]])
    _, [(unit, sums)] = found.sum_products([PriorProjection(weight, scale)], mix)
    for number, (rows, _) in enumerate(found.sample.strata):
        for power in (2, 4):
            expected = ((columns[:, rows] / unit) ** power).sum(axis=1)
            assert sums[number, power // 2 - 1] == pytest.approx(expected, rel=1e-10, abs=1e-18)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("block", [1, 1000])
def test_spreads_by_blocks_are_those_of_all_cases(block, clustered, monkeypatch):
    monkeypatch.setattr(case_deviations, "ROWS", block)
    positive, scores = scored(90, 0.4, digits=1)
    sample, priors = Sample(positive, np.arange(90) // 3 if clustered else None), np.array([0.1, 0.4])
    at = [UniformPrior(prior, prior) for prior in priors]
    first, second = (unit_values(sample, score, at, "trapezoid").select_units() for score in scores)
    scale = np.array([[2.0, 1e-90], [0.5, 3e-90]])  # whose fourth powers are no doubles
    found = deviations(sample, scores, priors, "trapezoid").project([PriorProjection(np.eye(2), scale)])[0][1]
    expected = [sample.estimate_errors(values) for values in (first * scale[0], second * scale[1])]
    error, df = sample.estimate_errors(first * scale[0] - second * scale[1])
    np.testing.assert_allclose(found.model, [error**2 for error, _ in expected], rtol=1e-10)
    np.testing.assert_allclose(found.model_df, [df for _, df in expected], rtol=1e-9)
    np.testing.assert_allclose(found.pair, [error**2], rtol=1e-10)
    np.testing.assert_allclose(found.pair_df, [df], rtol=1e-9)


@each("n_models", [1, 2])
@each("spare", [-1, 0, 1])
def test_units_are_their_own_rows_unless_they_are_more_than_columns(n_models, spare):
    nodes = choose_nodes(np.linspace(0.05, 0.3, 60), 0.05, 0.3, "trapezoid")
    assert len(nodes.priors) < 60
    n_columns = 60 * n_models
    positive, scores = scored(n_columns + spare, 0.4, digits=1)
    found = deviations(Sample(positive), scores[:n_models], nodes.priors, "trapezoid")
    pairs = zip(found.tables, found.bases, strict=True)
    rows = np.hstack([one.select_units() @ (basis @ nodes.weight) for one, basis in pairs])
    ((units, _),) = found.project([PriorProjection(nodes.weight, np.ones((n_models, 60)))])
    assert units.shape == (n_columns + min(spare, 0), n_columns)
    np.testing.assert_allclose(units.T @ units, rows.T @ rows, rtol=1e-10)
    if spare > 0:
        np.testing.assert_allclose(units, units.T, atol=1e-12)
    else:
        np.testing.assert_array_equal(units, rows)


@pytest.mark.parametrize("half", [0.3, 1.7, 4.0])
def test_nodes_of_a_panel_reach_the_poles_and_no_further(half):
    """Precision has its poles at log-odds of i pi; log(pole + sqrt(1 + pole^2)) is asinh of the pole."""
    nodes = case_deviations._count_panel_nodes(half) - np.array([1, 0])
    error = -np.arcsinh(np.pi / half) * nodes
    assert error[1] <= np.log(case_deviations.TOLERANCE) < error[0]
