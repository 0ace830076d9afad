"""The scenarios: areas against the package's own, splits by counting, true equality by large simulation."""

from functools import cache

import numpy as np
import pytest
from loops import each

from skewanova import auprec, iauprec, roc_curve
from studies.scenarios import (
    BINORMAL_CASES,
    DEPLOYMENT,
    PRIOR_GRIDS,
    QUALITY,
    SCENARIOS,
    WIDE_QUALITY,
    Splits,
    Task,
    binormal,
    feature_subsets,
    gaussian,
    measures,
    random_starts,
    unstable_selection,
)


@pytest.mark.parametrize(
    ("n_positive", "n_negative", "shift"), [(1, 1, 0), (3, 8, 1), (20, 60, 2), (7, 2, 9)]
)
def test_areas_are_the_packages(n_positive, n_negative, shift):
    rng = np.random.default_rng(n_positive)
    scores = rng.standard_normal((2, 3, 4, n_positive + n_negative))
    scores[..., :n_positive] += shift
    found = measures(scores, n_positive)
    label = np.arange(n_positive + n_negative) < n_positive
    for index in np.ndindex(2, 3, 4):
        roc = roc_curve(label, scores[index])
        assert found.iauprec[index] == pytest.approx(iauprec(roc, DEPLOYMENT), abs=1e-12)
        for name, priors in PRIOR_GRIDS.items():
            np.testing.assert_allclose(found.auprec[name][index], auprec(roc, priors), rtol=0, atol=1e-12)


@pytest.mark.parametrize("splits", [Splits(4, 5), Splits(1, 10, 10), Splits(3, 2, 2)])
def test_splits_are_stratified_and_cover_what_they_should(splits):
    n_positive, n_negative = 20, 30
    test = splits.test_cases(6, np.random.default_rng(0), (n_positive, n_negative))
    each = n_positive // splits.parts
    assert test.shape == (6, splits.n_folds, 50 // splits.parts)
    assert (test[..., :each] < n_positive).all()
    assert (test[..., each:] >= n_positive).all()
    assert splits.ratio == pytest.approx(test.shape[-1] / (50 - test.shape[-1]))
    for replicate in test.reshape(6, splits.repeats, -1):
        for cases in replicate:
            assert len(np.unique(cases)) == len(cases) == 50 // splits.parts * splits.used


@pytest.mark.parametrize("draw", [feature_subsets, random_starts, unstable_selection])
def test_no_test_case_is_trained_on(draw, monkeypatch):
    """With 30 features for 8 training cases of a class, a discriminant knows its training cases by heart."""
    task = Task(Splits(5, 5), sizes=(20, 40), n_features=30, n_used=4, distance=0.0)
    values = draw(40, np.random.default_rng(1), task=task).iauprec
    chance = measures(np.random.default_rng(2).standard_normal((4000, 12)), 4).iauprec
    error = np.hypot(values.mean(axis=(1, 2)).std() / np.sqrt(40), chance.std() / np.sqrt(4000))
    assert abs(values.mean() - chance.mean()) < 4 * error


@pytest.mark.no_cover
@each("name", ["S1", "S2a", "S2b", "S2c", "S2d", "S2e"])
def test_models_are_equal_in_truth(name):
    """Mean difference of the first two models over replicates, which are independent data sets."""
    means = SCENARIOS[name].draw(60, np.random.default_rng(5)).iauprec.mean(axis=1)
    difference = means[:, 0] - means[:, 1]
    assert abs(difference.mean()) < 3.5 * difference.std() / np.sqrt(len(difference))


def test_no_two_models_use_the_same_features():
    task = Task(Splits(1, 5))
    held = task.subsets(task.data(300, np.random.default_rng(0)), np.random.default_rng(1), 0.0)
    totals = np.sort(held.sum(axis=(2, 3)), axis=1)
    assert (np.diff(totals, axis=1) > 1e-9).all()


@cache
def areas_of_quality(mean, deviation):
    """IAUPREC of one model in 15,000 folds."""
    rng = np.random.default_rng(8)
    n_positive, n_negative = BINORMAL_CASES
    scores = rng.standard_normal((15_000, n_positive + n_negative))
    scores[:, :n_positive] += mean + deviation * rng.standard_normal(15_000)[:, None]
    return measures(scores, n_positive).iauprec


@pytest.mark.no_cover
@pytest.mark.parametrize("spread", WIDE_QUALITY)
def test_the_wide_model_spreads_as_told_about_the_same_mean(spread):
    """Checks the solved constants: one model of each kind."""
    values = [areas_of_quality(*quality) for quality in (QUALITY, WIDE_QUALITY[spread])]
    difference = values[1] - values[0]
    assert abs(difference.mean()) < 3.5 * difference.std() / np.sqrt(len(difference))
    assert values[1].std() / values[0].std() == pytest.approx(spread, rel=0.03)


@pytest.mark.no_cover
def test_only_the_last_model_is_wide_and_only_the_first_is_better():
    narrow = binormal(300, np.random.default_rng(1)).iauprec
    wide = binormal(300, np.random.default_rng(1), spread=2.3, effect=1.0).iauprec
    np.testing.assert_array_equal(wide[..., 1:3], narrow[..., 1:3])
    assert (wide[..., 0] >= narrow[..., 0]).all()
    assert wide[..., 3].std() > 1.8 * narrow[..., 3].std()


def test_an_effect_of_nothing_changes_nothing():
    task = Task(Splits(2, 5), sizes=(20, 30))
    for draw in (feature_subsets, random_starts, unstable_selection):
        values = [draw(3, np.random.default_rng(1), task=task, effect=e).iauprec for e in (0.0, 3.0)]
        np.testing.assert_array_equal(values[0][..., 1:], values[1][..., 1:])
        assert values[1][..., 0].mean() > values[0][..., 0].mean()


def test_gaussian_folds_correlate_as_told():
    values = gaussian(20_000, np.random.default_rng(0), rho=0.3).iauprec
    assert np.corrcoef(values[:, 0, 0], values[:, 1, 0])[0, 1] == pytest.approx(0.3, abs=0.02)
    assert values.std() == pytest.approx(1.0, abs=0.01)


@each("name", SCENARIOS)
def test_every_scenario_draws_the_tables_it_announces(name):
    scenario = SCENARIOS[name]
    tables = scenario.draw(2, np.random.default_rng(0))
    assert tables.iauprec.shape == (2, scenario.n_folds, scenario.n_models)
    assert np.isfinite(tables.iauprec).all()
    for grid in tables.auprec.values():
        assert grid.shape[:-1] == tables.iauprec.shape
