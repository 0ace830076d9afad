"""Sums of precisions by moments against exactly rounded sums over the points."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import each

from skewanova.curves import estimators
from skewanova.curves.areas import auprec, auprec_score
from skewanova.curves.estimators import MomentSums, vertex_precision
from skewanova.curves.roc import concatenate_steps, roc_curve, steps_from_curve, steps_from_scores

PRIORS = np.array([1e-9, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999])


def exact_sum(weight, tpr, fpr, prior):
    return math.fsum((weight * vertex_precision(tpr, fpr, prior)).tolist())


@settings(max_examples=50)
@given(st.integers(1, 400), st.floats(0, 4), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 10]))
def test_points_of_any_rates(n, power, seed, n_ties):
    """Rates over many orders of magnitude, none with both rates 0; runs of points with equal rates."""
    rng = np.random.default_rng(seed)
    weight, tpr = rng.random(n), rng.random(n) ** (1 + 10 * power)
    fpr = rng.random(n) ** (1 + 10 * power) * (rng.random(n) < 0.9)
    tpr[fpr > 0] *= rng.random((fpr > 0).sum()) < 0.9
    tpr[(tpr == 0) & (fpr == 0)] = 1e-300
    weight, tpr, fpr = (np.repeat(v, 1 + 31 * n_ties) for v in (weight, tpr, fpr))
    sums = MomentSums()
    for part in (slice(None, n // 2), slice(n // 2, None)):
        sums.add(weight[part], tpr[part], fpr[part])
    truth = [exact_sum(weight, tpr, fpr, prior) for prior in PRIORS]
    assert sums.evaluate(PRIORS) == pytest.approx(truth, rel=4e-15, abs=1e-300)


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("estimator", estimators.LINEAR)
def test_many_priors_of_a_large_sample(estimator, monkeypatch):
    rng = np.random.default_rng(5)
    positive = rng.random(300_000) < 0.1
    score = rng.normal(size=len(positive)) + 1.5 * positive
    grid = np.tile(PRIORS, 2)
    found = auprec_score(positive, score, prior=grid, area_estimator=estimator)
    blocks = list(steps_from_scores(positive, score))
    assert len(blocks) > 2
    points = [estimators.LINEAR[estimator](block) for block in blocks]
    weight = math.fsum(w for p in points for w in p.weight.tolist())
    for prior, area in zip(grid, found, strict=True):
        terms = (p.mean(lambda t, f, pi=prior: vertex_precision(t, f, pi)) for p in points)
        assert area == pytest.approx(math.fsum(v for t in terms for v in t.tolist()) / weight, rel=2e-15)
    curve = roc_curve(positive, score)
    assert auprec(curve, grid, area_estimator=estimator) == pytest.approx(found, rel=2e-15)
    monkeypatch.setattr(estimators, "MIN_PRIORS_FOR_MOMENTS", np.inf)
    assert auprec(curve, grid, area_estimator=estimator) == pytest.approx(found, rel=2e-15)


def test_perfect_and_constant_scores_stay_exact_in_many_blocks():
    positive = np.arange(300_000) < 100_000
    grid = np.linspace(0.01, 0.99, 20)
    perfect, constant = positive + np.arange(len(positive)) * 1e-9, np.ones(len(positive))
    for estimator in estimators.STEP_ESTIMATORS:
        assert (auprec_score(positive, perfect, prior=grid, area_estimator=estimator) == 1.0).all()
        chance = auprec_score(positive, constant, prior=grid, area_estimator=estimator)
        assert chance.tolist() == ((1 + grid) / 2 if estimator == "upper_trapezoid" else grid).tolist()


@each("estimator", estimators.STEP_ESTIMATORS)
def test_blocks_of_scores_are_those_of_the_curve(estimator):
    rng = np.random.default_rng(6)
    positive = rng.random(150_000) < 0.4
    score = np.round(rng.normal(size=len(positive)) + positive, 4)
    curve = roc_curve(positive, score)
    either = steps_from_scores(positive, score), steps_from_curve(curve)
    by_score, by_curve = (concatenate_steps(list(blocks)) for blocks in either)
    for name in ("start_tpr", "start_fpr", "tpr", "fpr", "fpr_at_first_reach"):
        assert getattr(by_score, name).tolist() == getattr(by_curve, name).tolist()
    area = auprec_score(positive, score, prior=0.1, area_estimator=estimator)
    assert area == pytest.approx(auprec(curve, 0.1, area_estimator=estimator), rel=1e-15)


def test_a_centre_is_the_middle_of_its_bin_and_near_all_of_it():
    ratio = np.exp(np.random.default_rng(7).uniform(-300, 300, 5000))
    code = ratio.view(np.int64) >> estimators.LOW_BITS
    low, high = ((code + k << estimators.LOW_BITS).view(np.float64) for k in (0, 1))
    centre = estimators._bin_centres(code)
    assert centre == pytest.approx((low + high) / 2, rel=1e-15)
    assert (np.abs(ratio - centre) <= centre / 128).all()  # eight terms then reach 128^-8 = 1.4e-17


@each("n", [1, 31, 32, 33, 100])
def test_points_at_the_very_centre_of_a_bin_count(n):
    centre = float(estimators._bin_centres(np.array([1.7]).view(np.int64) >> estimators.LOW_BITS)[0])
    sums = MomentSums()
    sums.add(np.full(n, 0.5), np.full(n, 0.5), np.full(n, 0.5 * centre))
    truth = 0.5 * n * PRIORS / (PRIORS + (1 - PRIORS) * centre)
    assert sums.evaluate(PRIORS) == pytest.approx(truth, rel=1e-14)


def test_rates_too_small_to_divide_by_are_added_one_by_one():
    weight = np.array([1.0, 2.0, 4.0, 8.0])
    tpr, fpr = np.array([1e-160, 3e-200, 0.0, 0.5]), np.array([2e-160, 0.3, 0.7, 1e-170])
    sums = MomentSums()
    assert sums.evaluate(PRIORS).tolist() == [0.0] * len(PRIORS)
    sums.add(weight, tpr, fpr)
    truth = [exact_sum(weight, tpr, fpr, prior) for prior in PRIORS]
    assert sums.evaluate(PRIORS) == pytest.approx(truth, rel=4e-15)
    perfect = MomentSums()
    perfect.add(np.array([0.25, 0.5]), np.array([0.1, 1e-200]), np.zeros(2))
    assert perfect.evaluate(PRIORS).tolist() == [0.75] * len(PRIORS)
