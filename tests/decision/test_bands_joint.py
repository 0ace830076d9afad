"""Critical values and bands at all priors at once: against simulation and at exact limits."""

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed, evaluated, scored
from scipy import stats
from scipy.special import logit

import skewanova as sa
from skewanova.base.rounding import TIE
from skewanova.decision.bands import (
    BAND_PRIORS,
    N_DRAWS,
    _max_z_draws,
    _mean_critical,
    auprec_bands,
    pair_critical,
)
from skewanova.decision.joint_curves import JointCurves, joint_curves
from skewanova.evaluation.measures import prior_grid

PRIORS = np.array([0.1, 0.5])


def curves(deviations, df):
    deviations = np.asarray(deviations, dtype=float)
    return JointCurves(PRIORS[: deviations.shape[2]], np.full(deviations.shape[1:], 0.7), deviations, df)


def units(n, n_models, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n_models, 2)) / 100


@pytest.fixture(scope="module")
def several():
    return evaluated(scored(4))[0]


# --- critical values ----------------------------------------------------------------------------------------


def test_of_many_cases_the_value_is_that_of_independent_normal_columns():
    joint = curves(np.eye(4).reshape(4, 2, 2), np.inf)
    found = _mean_critical(joint, 0.1, n_draws=200_000, rng=0)
    assert found == pytest.approx(stats.norm.isf((1 - 0.9 ** (1 / 4)) / 2), rel=0.01)


def test_normal_columns_vary_together_as_their_deviations_do():
    columns = units(30, 2).reshape(30, 4)
    covariance = columns.T @ columns
    draws = np.random.default_rng(9).multivariate_normal(np.zeros(4), covariance, 100_000)
    expected = np.abs(draws / np.sqrt(np.diag(covariance))).max(axis=1)
    found = _max_z_draws(columns, 100_000, 0)
    assert found.shape == (100_000,)
    assert np.quantile(found, [0.5, 0.9]) == pytest.approx(np.quantile(expected, [0.5, 0.9]), rel=0.01)


def test_a_column_without_deviations_does_not_count():
    columns = np.array([[1.0, 0.0], [2.0, 0.0]])
    found = _max_z_draws(columns, 50_000, 0)
    assert np.quantile(found, 0.95) == pytest.approx(1.96, rel=0.02)
    assert _max_z_draws(np.zeros((2, 3)), 7, 0).tolist() == [0.0] * 7


@pytest.mark.parametrize(("share", "value"), [(0.5, 1.96), (2.0, 2.236)])
def test_deviations_that_are_rounding_do_not_count(share, value):
    columns = np.array([[1.0, 0.0], [0.0, share * TIE]])
    joint = curves(columns[:, :, None], np.inf)
    found = _mean_critical(joint, 0.05, n_draws=100_000, rng=1)
    assert found == pytest.approx(value, rel=0.01)
    assert joint.deviations[1, 1, 0] == share * TIE  # left as it was


def test_of_few_folds_the_value_is_that_of_one_t():
    deviations = np.random.default_rng(3).normal(size=(5, 1, 1))
    deviations -= deviations.mean(axis=0)
    joint = curves(np.repeat(deviations, 2, axis=2), 4)
    found = _mean_critical(joint, 0.05, n_draws=40_000, rng=0)
    assert found == pytest.approx(stats.t.isf(0.025, 4), rel=0.03)


def test_pairs_are_their_differences():
    deviations = units(40, 3)
    joint = curves(deviations, np.inf)
    differences = np.stack([deviations[:, i] - deviations[:, j] for i, j in ((0, 1), (0, 2), (1, 2))], axis=1)
    same = curves(differences, np.inf)
    expected = _mean_critical(same, 0.05, n_draws=N_DRAWS, rng=4)
    assert pair_critical(joint, 0.05, rng=4) == pytest.approx(
        expected, rel=0.01
    )  # the draw itself, not between two
    assert pair_critical(joint, 0.05) == pair_critical(joint, 0.05, rng=0, n_draws=4999)


def test_nothing_known_has_no_value():
    joint = JointCurves(PRIORS, np.ones((2, 2)), np.empty((0, 2, 2)), np.nan)
    assert np.isnan(pair_critical(joint, 0.05))


# --- bands --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ratio", [0, 0.25])
def test_bands_are_the_mean_and_its_errors_times_the_value(several, ratio):
    found = auprec_bands(designed(several, ratio), PRIORS, alpha=0.1)
    areas = several.cell_auprec(PRIORS)  # models, folds, priors
    error = areas.std(axis=1, ddof=1) * np.sqrt(1 / 4 + ratio)
    assert found["model"].tolist() == [m for m in several.models for _ in PRIORS]
    assert found["prior"].tolist() == [*PRIORS] * 3
    assert found["auprec"].to_numpy() == pytest.approx(areas.mean(axis=1).ravel())
    inside = (found["conf_low"] > 0) & (found["conf_high"] < 1)
    low = ((found["auprec"] - found["conf_low"]) / error.ravel())[inside]
    high = ((found["conf_high"] - found["auprec"]) / error.ravel())[inside]
    assert len(low) >= 2
    assert low.to_numpy() == pytest.approx([low.iloc[0]] * len(low))
    assert high.to_numpy() == pytest.approx(low.to_numpy())
    assert low.iloc[0] > stats.t.isf(0.05, 3)


def test_limits_stay_within_0_and_1(several):
    found = auprec_bands(designed(several, 400.0), PRIORS)
    assert (found["conf_low"] == 0).all()
    assert (found["conf_high"] == 1).all()


def test_the_default_grid_has_41_priors_over_all_that_are_used(several):
    found = auprec_bands(several)
    grid = found.loc[found["model"] == several.models[0], "prior"].to_numpy()
    assert len(grid) == BAND_PRIORS == 41
    assert grid == pytest.approx(prior_grid(several, 41))


def test_defaults_are_level_5_percent_4999_draws_and_seed_0(several):
    first = auprec_bands(several, PRIORS)
    assert first.equals(auprec_bands(designed(several, 0), PRIORS, alpha=0.05, n_draws=4999, rng=0))
    assert not first.equals(auprec_bands(several, PRIORS, rng=1))


@pytest.mark.parametrize(
    ("options", "message"),
    [({"n_draws": 98}, "n_draws"), ({"alpha": 1.0}, "alpha")],
)
def test_options_out_of_range_are_refused(several, options, message):
    with pytest.raises(ValueError, match=message):
        auprec_bands(several, PRIORS, **options)
    assert len(auprec_bands(several, PRIORS, n_draws=99)) == 6


def test_bands_over_cases_are_symmetric_on_the_logit_scale():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [60, 600])
    columns = [rng.normal(labels * d) for d in (1.0, 2.5)]
    parts = [
        pd.DataFrame({"model": f"m{d}", "fold": 1, "case": range(660), "y_true": labels, "y_score": column})
        for d, column in enumerate(columns)
    ]
    measures = sa.evaluate(pd.concat(parts), at_priors=(0.5,), deployment_prior=(0.2, 0.5))
    found = auprec_bands(measures, [0.2, 0.5], n_draws=499)
    low, middle, high = (logit(found[name]) for name in ("conf_low", "auprec", "conf_high"))
    np.testing.assert_allclose(high - middle, middle - low, rtol=1e-9)
    joint = joint_curves(measures, np.array([0.2, 0.5]))
    spread = np.sqrt((joint.deviations**2).sum(axis=0)).ravel()
    reach = (high - middle) * found["auprec"] * (1 - found["auprec"]) / spread
    normal = -stats.norm.ppf(stats.t.cdf(-reach, joint.model_df.ravel()))
    np.testing.assert_allclose(normal, normal[0], rtol=1e-6)
    assert 1.96 < normal[0] < stats.norm.isf(0.025 / 4) + 0.1
    assert (reach > normal).all()


def test_bands_of_perfect_models_over_cases_have_no_width():
    labels = np.repeat([1, 0], [60, 600])
    frame = pd.DataFrame({"fold": 1, "case": range(660), "y_true": labels})
    both = pd.concat([frame.assign(model=m, y_score=labels * s + 1.0) for m, s in (("a", 1), ("b", 2))])
    found = auprec_bands(sa.evaluate(both, at_priors=(0.5,), deployment_prior=(0.2, 0.5)), [0.5])
    assert (found[["auprec", "conf_low", "conf_high"]] == 1).all(axis=None)
