"""Effect sizes: differences in standard deviations, intervals of the noncentral t distribution."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from fold_tables import evaluation_of, frame_of, random_table
from scipy import stats

from skewanova.inference import effect_sizes, effects
from skewanova.inference.effect_sizes import add_effect_sizes, estimate_mean_effect, noncentrality_limits


@pytest.mark.parametrize(("df", "tail"), [(1.5, 0.025), (2.5, 0.0025), (12.3, 0.025), (80.0, 0.0025)])
def test_limits_of_the_noncentrality_by_scipy(df, tail):
    statistic = np.array([-3.3, -0.4, 0.0, 0.4, 3.0, 9.0, 33.0])
    found = noncentrality_limits(statistic, np.full(len(statistic), df), tail)
    slack = 1e-7 if df < 2 else 1e-12
    for t, low, high in zip(statistic, *found, strict=True):
        assert stats.nct.cdf(t, df, low) == pytest.approx(1 - tail, abs=slack)
        assert stats.nct.cdf(t, df, high) == pytest.approx(tail, abs=slack)


def test_limits_far_out_and_differences_without_spread():
    low, high = noncentrality_limits(np.array([300.0]), np.array([19.0]), 0.025).ravel()
    chi = np.sqrt(stats.chi2.ppf([0.025, 0.975], 19) / 19) * 300  # the noncentrality is t times a chi
    assert (low, high) == pytest.approx(tuple(chi), rel=1e-3)
    for df in (9e9, 1e10, 1.7e18, np.inf):  # 1.7e18: all cases have the same spread, but for rounding
        exact = noncentrality_limits(np.array([2.0]), np.array([df]), 0.025).ravel()
        assert exact == pytest.approx(2 + stats.norm.ppf([0.025, 0.975]), abs=1e-9)
    pairs = pd.DataFrame({
        "model_a": list("AAA"), "model_b": list("BCD"), "estimate": [0.1, 0.0, 0.2], "df": 9.0,
        "std_error": [0.05, 0.0, 0.1], "statistic": [2.0, 0.0, np.inf], "spread": 0.1,
    })  # fmt: skip
    found = add_effect_sizes(pairs, alpha=0.05)
    for column in ("conf_low", "conf_high", "effect", "effect_low", "effect_high"):
        assert found[column].isna().tolist() == [False, True, True]


@pytest.mark.parametrize(("kind", "ratio"), [("independent", 0.0), ("repeated_holdout", 0.25)])
def test_effects_by_hand(kind, ratio):
    values = random_table(12, 3, effect=0.02)
    found = effects(evaluation_of(values, kind), order=["M2", "M1", "M0"])
    assert list(found) == [
        *("model_a", "model_b", "estimate", "std_error", "df", "conf_low", "conf_high"),
        *("effect", "effect_low", "effect_high"),
    ]
    for row in found.to_dict("records"):
        d = values[:, int(row["model_a"][1])] - values[:, int(row["model_b"][1])]
        assert row["estimate"] == pytest.approx(d.mean(), rel=1e-9)
        assert row["effect"] == pytest.approx(d.mean() / (d.std(ddof=1) * np.sqrt(1 + ratio)), rel=1e-9)
        reach = stats.t.isf(0.025, 11) * d.std(ddof=1) * np.sqrt(1 / 12 + ratio)
        assert row["conf_high"] - row["estimate"] == pytest.approx(reach, rel=1e-9)
        t = d.mean() / (d.std(ddof=1) * np.sqrt(1 / 12 + ratio))
        for limit, below in ((row["effect_low"], 0.975), (row["effect_high"], 0.025)):
            assert stats.nct.cdf(t, 11, limit * t / row["effect"]) == pytest.approx(below, abs=1e-7)


def test_halvings_add_spread_and_a_control_turns_the_pairs(monkeypatch):
    values = random_table(8, 3, effect=0.02)
    measures = evaluation_of(values, "independent")
    every, found = effects(measures, order=["M2", "M1", "M0"]), effects(measures, control="M1")
    assert found["model_b"].tolist() == ["M1", "M1"]
    below = found[found["model_a"] == "M0"].iloc[0]
    turned = every[(every["model_a"] == "M1") & (every["model_b"] == "M0")].iloc[0]
    assert below["effect"] == pytest.approx(-turned["effect"], rel=1e-12)
    limits = -turned["effect_high"], -turned["effect_low"]
    assert (below["effect_low"], below["effect_high"]) == pytest.approx(limits, rel=1e-9)
    same = effects(evaluation_of(np.repeat(values[:, :1], 2, axis=1), "independent"))
    assert same[["effect", "effect_low", "effect_high", "conf_low"]].isna().all(axis=None)
    values, halves = random_table(7, 3, effect=0.02), random_table(9, 3, seed=4) - 0.8
    monkeypatch.setattr(effect_sizes, "half_differences", lambda *_: halves)
    for row in effects(frame_of(values), ratio=0.0, order=["M2", "M1", "M0"]).to_dict("records"):
        d = values[:, int(row["model_a"][1])] - values[:, int(row["model_b"][1])]
        spread = np.sqrt(row["std_error"] ** 2 + d.var(ddof=1) * (1 - 1 / 7))
        assert row["std_error"] > 1.1 * d.std(ddof=1) / np.sqrt(7)
        assert row["effect"] == pytest.approx(d.mean() / spread, rel=1e-9)


EFFECTS, VARIANCES = np.array([0.1, 0.5, -0.2, 0.3]), np.array([0.01, 0.02, 0.04, 0.01])


def test_studies_that_agree_and_the_robust_error_where_it_is_larger():
    found = estimate_mean_effect(np.array([0.2, 0.21, 0.19]), VARIANCES[:3])
    weight = 1 / VARIANCES[:3]
    assert (found.tau, found.i_sq) == (0.0, 0.0)
    assert found.estimate == pytest.approx(np.average([0.2, 0.21, 0.19], weights=weight))
    assert found.std_error == pytest.approx(weight.sum() ** -0.5)
    alike = estimate_mean_effect(np.array([0.2, 0.2]), VARIANCES[:2])
    assert (alike.tau, alike.q, alike.q_p_value) == (0.0, pytest.approx(0.0, abs=1e-20), pytest.approx(1.0))
    # Studies of small errors lie further from the mean than those of large ones.
    effects, variances = np.array([0.6, -0.4, 0.1, 0.12, 0.08]), np.array([0.01, 0.02, 0.2, 0.3, 0.2])
    found = estimate_mean_effect(effects, variances)
    share = 1 / (variances + found.tau**2)
    share /= share.sum()
    residual = effects - share @ effects
    robust = np.sqrt(sum(w**2 * e**2 / (1 - w) for w, e in zip(share, residual, strict=True)))
    assert found.std_error == pytest.approx(robust)
    assert robust > 1.05 / np.sqrt((1 / (variances + found.tau**2)).sum())


@pytest.mark.parametrize("variance", [0.0, np.nan, -0.1])
def test_a_study_without_an_error_leaves_the_mean_alone(variance):
    found = estimate_mean_effect(EFFECTS, np.array([variance, 0.02, 0.04, 0.01]))
    assert (found.estimate, found.df) == (pytest.approx(EFFECTS.mean()), 3)
    assert np.isnan([found.std_error, *found[3:]]).all()


@pytest.mark.parametrize("spread", [1.0, 1e-12, 1e-19, 1e-200])
def test_one_study_may_have_all_the_weight(spread):
    """Found by fuzzing: the square of the sum less the sum of squares was 0 from variances 1e16 apart on."""
    effects = np.array([0.1, 0.2, 0.5])
    variances = [Fraction(spread) / 100, Fraction(1, 100), Fraction(1, 50)]
    weight = [1 / variance for variance in variances]
    typical = 2 * sum(weight) / (sum(weight) ** 2 - sum(one**2 for one in weight))
    found = estimate_mean_effect(effects, np.array([float(variance) for variance in variances]))
    assert found.i_sq == pytest.approx(found.tau**2 / (found.tau**2 + float(typical)), rel=1e-12)


METAFOR_EFFECTS = np.array([0.03, 0.01, -0.02, 0.08, 0.05, 0.02])
METAFOR_VARIANCES = np.array([4, 9, 1, 16, 2.5, 6]) * 1e-4
#: R 4, metafor 3.8.1: rma(d, v, method="PM", test="adhoc", control=list(tol=1e-12, maxiter=10000)), for d as
#: it stands and d / 3: b, se, zval, pval, sqrt(tau2), QE, QEp, I2 / 100.
METAFOR = {
    1: (0.0217128111372, 0.0135849683843, 1.59829677353, 0.170869730736, 0.025002689626, 19.5851942312,
        0.00149465276364, 0.628634310232),
    3: (0.00283786927192, 0.0070883173495, 0.40035866511, 0.705425385371, 0, 2.17613269236,
        0.824275882755, 0),
}  # fmt: skip


@pytest.mark.parametrize("divisor", METAFOR)
def test_meta_analysis_against_metafor(divisor):
    found = estimate_mean_effect(METAFOR_EFFECTS / divisor, METAFOR_VARIANCES, robust=False)
    numbers = (found.estimate, found.std_error, found.statistic, found.p_value, found.tau, found.q)
    assert (*numbers, found.q_p_value, found.i_sq) == pytest.approx(METAFOR[divisor], rel=1e-10, abs=1e-12)
    assert found.df == 5
