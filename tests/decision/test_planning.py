"""How much more data: power against statsmodels, planned sizes by simulation, frames and words."""

import re

import numpy as np
import pandas as pd
import pytest
from case_values import jackknife_values
from click.testing import CliRunner
from fold_tables import correlated_folds
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats
from statsmodels.stats.power import NormalIndPower, TTestPower

import skewanova as sa
from skewanova.cli import commands
from skewanova.decision import planning as decision_planning
from skewanova.decision.planning import PLAN_COLUMNS
from skewanova.priors.weightings import UniformPrior


def folds_table(n_folds=8, size=120, effects=(1.5, 1.0), seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat([0, 1], [2 * size // 3, size // 3])
    parts = [
        pd.DataFrame(
            {
                "model": f"m{m}",
                "fold": f,
                "y_true": labels,
                "y_score": rng.normal(size=size) + effect * labels,
            }
        )
        for f in range(n_folds)
        for m, effect in enumerate(effects)
    ]
    return pd.concat(parts, ignore_index=True)


# --- power --------------------------------------------------------------------------------------------------


@given(st.integers(1, 300), st.integers(2, 200), st.sampled_from([0.005, 0.05, 0.2]))
def test_power_against_statsmodels(effect, n_folds, alpha):
    found = decision_planning.t_power(effect / 100, 1.0, n_folds, ratio=0.0, alpha=alpha)
    known = TTestPower().power(effect / 100, n_folds, alpha)
    if np.isnan(known):  # statsmodels gives up, here and there from power .997
        known = power_by_quadrature(effect / 100, n_folds, alpha)
    assert found == pytest.approx(known, abs=1e-6)


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


def test_power_where_statsmodels_gives_up():
    found = decision_planning.t_power(2.14, 1.0, 11, ratio=0.0, alpha=0.005)
    assert found == pytest.approx(power_by_quadrature(2.14, 11, 0.005), abs=1e-9)


@given(st.integers(-40, 40), st.integers(2, 200), st.sampled_from([0.0, 0.1, 1.0]))
def test_power_is_a_probability_that_grows_with_folds(tenth, n_folds, ratio):
    difference = 10 ** (tenth / 20)
    found = [
        decision_planning.t_power(difference, 1.0, j, ratio=ratio, alpha=0.05) for j in (n_folds, n_folds + 1)
    ]
    assert 0 <= found[0] <= found[1] + 1e-6 <= 1 + 2e-6


@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_independent_folds_needed_against_statsmodels(power):
    found = decision_planning.folds_needed(0.3, 1.0, ratio=0.0, alpha=0.05, power=power)
    known = TTestPower().solve_power(0.3, power=power, alpha=0.05)
    assert found == np.ceil(known)


def test_normal_power_against_statsmodels():
    assert decision_planning.z_power(0.25, 0.1, 0.01) == pytest.approx(
        NormalIndPower(ddof=0).power(2.5, 1, 0.01, ratio=0)
    )


def test_overlapping_folds_have_a_limit():
    options = {"ratio": 0.25, "alpha": 0.05}
    limit = decision_planning.limit_power(1.2, 1.0, **options)
    assert limit == pytest.approx(stats.norm.sf(1.959964 - 2.4) + stats.norm.cdf(-1.959964 - 2.4), rel=1e-6)
    assert decision_planning.t_power(1.2, 1.0, 100_000, **options) == pytest.approx(limit, abs=1e-4)
    assert decision_planning.folds_needed(1.2, 1.0, power=0.8, **options) == np.inf
    needed = int(decision_planning.folds_needed(1.2, 1.0, power=0.6, **options))
    assert decision_planning.t_power(1.2, 1.0, needed, **options) >= 0.6
    assert decision_planning.t_power(1.2, 1.0, needed - 1, **options) < 0.6


@pytest.mark.parametrize(("ratio", "effect", "power"), [(0.0, 0.7, 0.8), (0.25, 1.6, 0.8)])
def test_planned_folds_reach_their_power_in_simulated_folds(ratio, effect, power):
    """Gaussian folds with correlation r / (1 + r); Monte Carlo error .005."""
    n_folds = int(decision_planning.folds_needed(effect, 1.0, ratio=ratio, alpha=0.05, power=power))
    rho = ratio / (1 + ratio)
    values = correlated_folds(6000, n_folds, 1, rho=rho, rng=np.random.default_rng(5))[..., 0]
    values = effect + values / np.sqrt(1 - rho)  # deviation 1 within a data set
    t = values.mean(axis=1) / (values.std(axis=1, ddof=1) * np.sqrt(1 / n_folds + ratio))
    rate = (np.abs(t) > stats.t.isf(0.025, n_folds - 1)).mean()
    assert rate == pytest.approx(
        decision_planning.t_power(effect, 1.0, n_folds, ratio=ratio, alpha=0.05), abs=0.018
    )
    assert rate > power - 0.018


# --- plans --------------------------------------------------------------------------------------------------


def test_plan_of_independent_folds():
    table = folds_table()
    plan = sa.plan_comparison(table, 0.4, difference=0.05, resampling="independent").to_frame().iloc[0]
    values = sa.evaluate(table, priors=(0.5,), deployment_prior=0.4).iauprec
    wide = values.pivot(index="fold", columns="model", values="iauprec")
    deviation = (wide["m0"] - wide["m1"]).std()
    assert abs(plan["observed"]) == pytest.approx(abs((wide["m0"] - wide["m1"]).mean()))
    assert plan["std_error"] == pytest.approx(deviation / np.sqrt(8))
    known = TTestPower().solve_power(0.05 / deviation, power=0.8, alpha=0.05)
    assert plan["n_folds"] == np.ceil(known)
    factor = plan["case_factor"]
    assert TTestPower().power(0.05 / deviation * np.sqrt(factor), 8, 0.05) == pytest.approx(0.8, abs=1e-6)
    assert (plan["limit_power"], plan["n_folds_now"]) == (1.0, 8)
    assert np.isnan(plan["positive_factor"])


def one_set(rng, size, effects=(1.4, 1.0)):
    n = round(60 * size)
    labels = np.repeat([1, 0], [n, 4 * n])
    common = rng.normal(size=5 * n)
    scores = [np.sqrt(0.5) * (common + rng.normal(size=5 * n)) + e * labels for e in effects]
    return labels, np.stack(scores, axis=1)


def long_frame(labels, scores):
    parts = [
        pd.DataFrame(
            {"model": f"m{m}", "fold": 1, "case": range(len(labels)), "y_true": labels, "y_score": s}
        )
        for m, s in enumerate(scores.T)
    ]
    return pd.concat(parts, ignore_index=True)


def test_plan_of_one_test_set():
    labels, scores = one_set(np.random.default_rng(3), 1)
    plan = sa.plan_comparison(long_frame(labels, scores), 0.2, difference=0.12).to_frame().iloc[0]
    covariance = sa.inference.auprec_covariance(labels, scores, prior=0.2).covariance
    assert plan["std_error"] == pytest.approx(np.sqrt([1, -1] @ covariance @ [1, -1]))
    shift = stats.norm.isf(0.025) + stats.norm.isf(0.2)  # the other tail adds less than 1e-6
    assert plan["case_factor"] == pytest.approx((shift * plan["std_error"] / 0.12) ** 2, rel=1e-4)
    assert (plan["design"], plan["n_folds_now"]) == ("one_set", 1)
    assert plan["positive_factor"] > plan["case_factor"]
    at = UniformPrior(0.2, 0.2)
    gap = np.subtract(*(jackknife_values(labels == 1, column, at)[1] for column in scores.T))
    parts = [gap[labels == y].var(ddof=1) / (labels == y).sum() for y in (1, 0)]
    left = parts[0] / plan["positive_factor"] + parts[1]
    assert 0.12 / np.sqrt(left) == pytest.approx(shift, rel=1e-4)


def test_the_order_of_named_cases_does_not_matter():
    labels, scores = one_set(np.random.default_rng(3), 1)
    frame = long_frame(labels, scores)
    mixed = frame.sample(frac=1, random_state=0)
    found = [sa.plan_comparison(f, 0.2, difference=0.1).to_frame() for f in (frame, mixed)]
    np.testing.assert_allclose(found[0]["std_error"], found[1]["std_error"])
    unnamed = mixed.drop(columns="case")
    with pytest.raises(ValueError, match=r"^the models of one test set must be scored on the same cases"):
        sa.plan_comparison(unnamed, 0.2, difference=0.1)


@pytest.mark.no_cover
def test_planned_cases_reach_their_power_in_simulated_test_sets():
    """Plan from one large sample, test 400 samples of the planned size; Monte Carlo error .02."""
    rng = np.random.default_rng(11)
    labels, scores = one_set(rng, 30)
    with pytest.warns(sa.SkewanovaWarning, match=r"^Planned for the differences observed"):
        plan = sa.plan_comparison(long_frame(labels, scores), 0.2).to_frame().iloc[0]
    size = 30 * plan["case_factor"]
    found = [sa.compare_on_one_set(*one_set(rng, size), prior=0.2) for _ in range(400)]
    rate = np.mean([result.p_value[0] < 0.05 for result in found])
    assert rate == pytest.approx(0.8, abs=0.06)


def test_columns_and_levels():
    frame = folds_table(effects=(1.5, 1.2, 0.9))
    plan = sa.plan_comparison(frame, 0.4, difference=0.05, bonferroni=True, resampling="independent")
    assert tuple(plan.to_frame()) == PLAN_COLUMNS
    assert len(plan.to_frame()) == 3
    assert plan.alpha == pytest.approx(0.05 / 3)


def test_models_that_agree():
    frame = folds_table()
    frame["y_score"] = np.tile(frame["y_score"].to_numpy()[:120], 16)
    plan = sa.plan_comparison(frame, 0.4, difference=0.05, resampling="independent")
    assert plan.to_frame()["case_factor"].isna().all()
    assert plan.sentences == (
        "m0 and m1: their difference does not vary, so nothing can be planned from it.",
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"power": 80}, "`power` must lie strictly between 0 and 1, but got 80"),
        ({"alpha": 0}, "`alpha` must lie strictly between 0 and 1, but got 0"),
        ({"difference": 0}, "`difference` must be finite and not 0, but got 0"),
        ({"area_estimator": "x"}, "`area_estimator` must be one of"),
    ],
)
def test_options_out_of_range(options, message):
    with pytest.raises(ValueError, match=message):
        sa.plan_comparison(folds_table(), 0.4, **options)


def test_one_model_is_refused():
    with pytest.raises(ValueError, match=r"^a comparison needs at least 2 models, but the table has 1$"):
        sa.plan_comparison(folds_table(effects=(1,)), difference=0.1)


def test_words():
    text = sa.plan_comparison(sa.load_satellite_scores(), difference=0.05).summary()
    assert all(len(line) <= 80 for line in text.split("\n"))
    joined = " ".join(text.split())
    assert "About 2.1 times as many cases in the data would give power 0.8." in joined
    assert "More folds of the same data cannot: they share training data" in joined
    independent = sa.plan_comparison(folds_table(), 0.4, difference=0.05, resampling="independent").summary()
    assert re.search(r"So would \d+ independent folds instead of 8\.", " ".join(independent.split()))
    enough = sa.plan_comparison(folds_table(), 0.4, difference=0.9, resampling="independent").summary()
    assert "which is enough" in " ".join(enough.split())


def test_command(tmp_path):
    folds_table().to_csv(tmp_path / "scores.csv", index=False)
    arguments = ["plan", tmp_path / "scores.csv", "--difference", 0.05, "--out", tmp_path / "out"]
    done = CliRunner().invoke(commands.main, [*map(str, arguments), "--resampling", "independent"])
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(
        "Design: independent folds, 8 folds (as stated)\n- m0 and m1: a difference of"
    )
    assert tuple(pd.read_csv(tmp_path / "out" / "plans.csv")) == PLAN_COLUMNS
    assert (tmp_path / "out" / "plans.txt").read_text() == done.stdout
    bad = CliRunner().invoke(commands.main, ["plan", str(tmp_path / "scores.csv"), "--power", "2"])
    assert bad.exit_code == 2
    assert "`power` must lie strictly between 0 and 1" in bad.stderr


def test_no_factor_is_known_where_no_power_is():
    assert np.isnan(decision_planning.factor_needed(lambda f: np.nan, 0.8))


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_models_that_are_the_same_on_one_set_have_no_plan():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [30, 90])
    frame = pd.DataFrame({"fold": 1, "y_true": labels, "y_score": rng.normal(labels)})
    both = pd.concat([frame.assign(model="a"), frame.assign(model="b")])
    plan = sa.plan_comparison(both, difference=0.05).to_frame()
    assert plan[["power_now", "case_factor", "positive_factor", "negative_factor"]].isna().all(axis=None)
