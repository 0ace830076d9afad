"""Critical values and bands at all priors at once: against simulation and at exact limits."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed, evaluated, scored
from scipy import stats
from scipy.special import logit

import skewanova as sa
from skewanova.base.rounding import TIE
from skewanova.decision.bands import _mean_critical_value, auprec_bands, pair_critical_value
from skewanova.decision.joint_curves import JointCurves, joint_curves

PRIORS = np.array([0.1, 0.5])


def curves(deviations, df):
    deviations = np.asarray(deviations, dtype=float)
    return JointCurves(PRIORS[: deviations.shape[2]], np.full(deviations.shape[1:], 0.7), deviations, df)


@pytest.fixture(scope="module")
def several():
    return evaluated(scored(4))[0]


@pytest.mark.parametrize(("share", "value"), [(0.5, 1.96), (2.0, 2.236)])
def test_deviations_that_are_rounding_do_not_count(share, value):
    columns = np.array([[1.0, 0.0], [0.0, share * TIE]])
    joint = curves(columns[:, :, None], np.inf)
    found = _mean_critical_value(joint, 0.05, n_draws=100_000, rng=1)
    assert found == pytest.approx(value, rel=0.01)
    assert joint.deviations[1, 1, 0] == share * TIE  # left as it was


def test_of_few_folds_the_value_is_that_of_one_t():
    deviations = np.random.default_rng(3).normal(size=(5, 1, 1))
    deviations -= deviations.mean(axis=0)
    joint = curves(np.repeat(deviations, 2, axis=2), 4)
    found = _mean_critical_value(joint, 0.05, n_draws=40_000, rng=0)
    assert found == pytest.approx(stats.t.isf(0.025, 4), rel=0.03)


def test_without_a_covariance_there_is_no_critical_value():
    unknown = JointCurves(PRIORS, np.ones((2, 2)), np.empty((0, 2, 2)), np.nan)
    assert np.isnan(
        [pair_critical_value(unknown, 0.05), _mean_critical_value(unknown, 0.05, n_draws=99, rng=0)]
    ).all()


@pytest.mark.parametrize("ratio", [0, 0.25])
def test_bands_are_the_mean_and_its_errors_times_the_value(several, ratio):
    found = auprec_bands(designed(several, ratio), PRIORS, alpha=0.1)
    areas = several.auprec_by_cell(PRIORS)  # models, folds, priors
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
    assert auprec_bands(replace(measures, scores=None), [0.3])["conf_low"].isna().all()


def test_bands_of_perfect_models_over_cases_have_no_width():
    labels = np.repeat([1, 0], [60, 600])
    frame = pd.DataFrame({"fold": 1, "case": range(660), "y_true": labels})
    both = pd.concat([frame.assign(model=m, y_score=labels * s + 1.0) for m, s in (("a", 1), ("b", 2))])
    found = auprec_bands(sa.evaluate(both, at_priors=(0.5,), deployment_prior=(0.2, 0.5)), [0.5])
    assert (found[["auprec", "conf_low", "conf_high"]] == 1).all(axis=None)
