"""Differences and bands along the prior: against loops and t tests, and at exact limits."""

from dataclasses import replace
from inspect import signature
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed, evaluated, scored
from loops import each
from messages import expect_error
from scipy import stats
from scipy.special import logit

import skewanova as sa
from skewanova import evaluate, load_satellite_scores
from skewanova.base.rounding import TIE
from skewanova.decision import auprec_bands, difference_curves, find_differing_priors
from skewanova.decision.bands import _mean_critical_value, critical_value, pair_critical_value
from skewanova.decision.joint_curves import JointCurves, joint_curves
from skewanova.evaluation import auprec_by_prior
from skewanova.evaluation.measures import prior_grid

RATIO = 0.25


def scores(quality, *, n_folds=6, n_cases=60, seed=0):
    """Scores of binormal models on the same cases; every quality a model."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], n_cases // 2)
    rows = []
    for fold in range(n_folds):
        noise = rng.normal(size=n_cases)
        for name, d in quality.items():
            y_score = d * labels + 0.7 * noise + 0.7 * rng.normal(size=n_cases)
            rows.append(pd.DataFrame({"model": name, "fold": fold, "y_true": labels, "y_score": y_score}))
    return pd.concat(rows, ignore_index=True)


def measured(frame, priors=(0.5, 0.3), deployment_prior=(0.4, 0.6)):
    return evaluate(frame, at_priors=priors, deployment_prior=deployment_prior, design="independent")


@pytest.fixture(scope="module")
def satellite():
    return evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))


def test_estimates_and_standard_errors_equal_a_loop(satellite):
    priors = [0.2, 0.35, 0.5]
    found = difference_curves(designed(satellite, RATIO), priors, n_draws=99)
    assert found.columns.tolist() == [
        "model_a", "model_b", "prior", "estimate", "std_error", "statistic", "p_adjusted", "conf_low",
        "conf_high", "reject",
    ]  # fmt: skip
    wide = auprec_by_prior(satellite, priors).set_index(["model", "prior", "fold"])["auprec"].sort_index()
    rows = iter(found.to_dict("records"))
    for a, b in combinations(satellite.models, 2):
        for prior in priors:
            d = (wide[a, prior] - wide[b, prior]).to_numpy()
            row = next(rows)
            assert (row["model_a"], row["model_b"], row["prior"]) == (a, b, prior)
            assert row["estimate"] == pytest.approx(d.mean(), rel=1e-9)
            assert row["std_error"] == pytest.approx(np.sqrt(d.var(ddof=1) * (1 / 20 + RATIO)), rel=1e-9)
            assert row["statistic"] == pytest.approx(row["estimate"] / row["std_error"], rel=1e-9)
    assert next(rows, None) is None


def test_defaults_are_41_priors_level_5_percent_4999_draws_and_seed_0(satellite):
    for found in (difference_curves(satellite, n_draws=99), auprec_bands(satellite, n_draws=99)):
        assert found["prior"].tolist() == [*prior_grid(satellite, 41)] * 3
    for function in (difference_curves, auprec_bands, pair_critical_value):
        defaults = {name: option.default for name, option in signature(function).parameters.items()}
        assert (defaults["n_draws"], defaults["rng"]) == (4999, 0)
        assert defaults["alpha"] in (0.05, signature(function).empty)


@each("alpha", [0.05, 0.005, 0.37])
@each("n_draws", [101, 499])
def test_decision_p_value_and_band_say_the_same(satellite, alpha, n_draws):
    found = difference_curves(satellite, alpha=alpha, n_draws=n_draws)
    assert (found["reject"] == (found["p_adjusted"] < alpha)).all()
    if found["conf_low"].notna().all():
        outside = (found["conf_low"] > 0) | (found["conf_high"] < 0)
        assert (outside == found["reject"]).all()
        margin = (found["conf_high"] - found["estimate"]) / found["std_error"]
        np.testing.assert_allclose(margin, margin.iloc[0], rtol=1e-9)  # one critical value for all
    else:  # too few draws for the level
        assert alpha * (n_draws + 1) <= 1
        assert not found["reject"].any()


@each("n_draws", [99, 100, 101, 199, 1000, 4999])
@each("alpha", [0.05, 0.01, 0.1])
def test_critical_value_is_where_p_falls_below_alpha(n_draws, alpha):
    largest = np.arange(1.0, n_draws + 1)
    critical = critical_value(largest, alpha)
    p_at = lambda t: (1 + (largest >= t).sum()) / (1 + n_draws)  # noqa: E731
    assert np.isnan(critical) or p_at(critical) >= alpha - 1e-12 > p_at(critical + 0.5) - 2e-12
    assert np.isnan(critical) == (1 / (1 + n_draws) >= alpha - 1e-12)


def test_one_prior_and_two_models_are_a_t_test_that_names_the_better_model():
    measures = measured(scores({"A": 1.0, "B": 1.6}, n_folds=10))
    row = difference_curves(measures, 0.5, n_draws=20_000).iloc[0]
    wide = measures.auprec[measures.auprec["prior"] == 0.5].pivot(
        index="fold", columns="model", values="auprec"
    )
    expected = stats.ttest_rel(wide["A"], wide["B"])
    assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
    p = expected.pvalue
    assert row["p_adjusted"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 20_000) + 1e-4)
    margin = (row["conf_high"] - row["estimate"]) / row["std_error"]
    assert margin == pytest.approx(stats.t.isf(0.025, 9), rel=0.03)
    measures = measured(scores({"worse": 0.5, "better": 2.5}, n_folds=12))
    found = difference_curves(measures)
    assert found["reject"].all()
    assert (found["estimate"] < 0).all()
    (stretch,) = find_differing_priors(measures).to_numpy().tolist()
    assert stretch == ["better", "worse", pytest.approx(0.3), pytest.approx(0.6)]


def test_identical_and_perfect_models_beside_a_constant_difference():
    frame = scores({"A": 1.0, "B": 1.5})
    twin = frame[frame["model"] == "A"].assign(model="twin", y_score=lambda f: 3 * f["y_score"] + 1)
    found = difference_curves(measured(pd.concat([frame, twin])), n_draws=299)
    found = found.set_index(["model_a", "model_b"])
    same = found.loc[("A", "twin")]
    assert same[["statistic", "p_adjusted"]].isna().all(axis=None)
    assert (same[["estimate", "std_error", "conf_low", "conf_high"]] == 0).all(axis=None)
    assert not same["reject"].any()
    np.testing.assert_allclose(
        found.loc[("A", "B"), "statistic"].to_numpy(), -found.loc[("B", "twin"), "statistic"].to_numpy()
    )
    only = pd.concat([frame[frame["model"] == "A"], twin])
    assert difference_curves(measured(only), n_draws=99)["p_adjusted"].isna().all()
    rows = pd.DataFrame({"y_true": np.repeat([0, 1], 30)})
    fold = pd.concat([rows.assign(model=m, y_score=s * rows["y_true"]) for m, s in (("A", 1), ("B", -1))])
    found = difference_curves(measured(pd.concat([fold.assign(fold=f) for f in range(4)])), n_draws=199)
    assert (found["statistic"] == np.inf).all()
    assert (found["std_error"] == 0).all()
    assert found["reject"].all()
    np.testing.assert_allclose(found["p_adjusted"], 1 / 200)
    np.testing.assert_array_equal(found["conf_low"], found["estimate"])


def test_errors(satellite):
    frame = scores({"A": 1.0, "B": 1.5})
    gap = frame[(frame["model"] != "B") | (frame["fold"] != 0)]
    one = measured(scores({"A": 1.0}))
    for call, message in (
        (lambda: difference_curves(satellite, alpha=1.5), "`alpha` must lie strictly between 0 and 1"),
        (lambda: difference_curves(satellite, n_draws=98), "`n_draws` must be at least 99, but got 98"),
        (lambda: difference_curves(satellite, [0.0, 0.5]), "`priors` must lie strictly between 0 and 1"),
        (lambda: difference_curves(one), "a comparison needs at least 2 models, but has 1"),
        (lambda: difference_curves(measured(gap)),
         "`auprec` must be present and finite for every fold and model, but is not"),
        (lambda: auprec_bands(satellite, alpha=1.0), "`alpha` must lie strictly between 0 and 1"),
        (lambda: auprec_bands(satellite, n_draws=98), "`n_draws` must be at least 99, but got 98")
    ):  # fmt: skip
        expect_error(f"^{message}", call, error=ValueError)


PRIORS = np.array([0.1, 0.5])


def curves(deviations, df):
    deviations = np.asarray(deviations, dtype=float)
    return JointCurves(PRIORS[: deviations.shape[2]], np.full(deviations.shape[1:], 0.7), deviations, df)


@pytest.fixture(scope="module")
def several():
    return evaluated(scored(4))[0]


@pytest.mark.parametrize(("share", "value"), [(0.5, 1.96), (2.0, 2.236)])
def test_deviations_that_are_rounding_do_not_count(share, value):
    joint = curves(np.array([[1.0, 0.0], [0.0, share * TIE]])[:, :, None], np.inf)
    assert _mean_critical_value(joint, 0.05, n_draws=100_000, rng=1) == pytest.approx(value, rel=0.01)
    assert joint.deviations[1, 1, 0] == share * TIE  # left as it was


def test_few_folds_have_the_value_of_one_t_and_limits_stay_within_0_and_1(several):
    deviations = np.random.default_rng(3).normal(size=(5, 1, 1))
    deviations -= deviations.mean(axis=0)
    found = _mean_critical_value(curves(np.repeat(deviations, 2, axis=2), 4), 0.05, n_draws=40_000, rng=0)
    assert found == pytest.approx(stats.t.isf(0.025, 4), rel=0.03)
    unknown = JointCurves(PRIORS, np.ones((2, 2)), np.empty((0, 2, 2)), np.nan)
    assert np.isnan(
        [pair_critical_value(unknown, 0.05), _mean_critical_value(unknown, 0.05, n_draws=99, rng=0)]
    ).all()
    found = auprec_bands(designed(several, 400.0), PRIORS)
    assert (found["conf_low"] == 0).all()
    assert (found["conf_high"] == 1).all()


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


def test_bands_over_cases_are_symmetric_on_the_logit_scale_or_without_width():
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
    labels = np.repeat([1, 0], [60, 600])
    frame = pd.DataFrame({"fold": 1, "case": range(660), "y_true": labels})
    both = pd.concat([frame.assign(model=m, y_score=labels * s + 1.0) for m, s in (("a", 1), ("b", 2))])
    found = auprec_bands(sa.evaluate(both, at_priors=(0.5,), deployment_prior=(0.2, 0.5)), [0.5])
    assert (found[["auprec", "conf_low", "conf_high"]] == 1).all(axis=None)
