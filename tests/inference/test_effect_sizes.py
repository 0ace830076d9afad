"""Effect sizes: differences in standard deviations, intervals of the noncentral t distribution."""

import numpy as np
import pandas as pd
import pytest
from fold_tables import correlated_folds, evaluation_of, frame_of, random_table
from scipy import stats

from skewanova.inference import effect_sizes, effects
from skewanova.inference.effect_sizes import add_effect_sizes, noncentrality_limits

#: R 4.2, base: uniroot(function(l) pt(t, df, l) - p, tol = 1e-12) at p = 1 - alpha / 2 and alpha / 2.
BY_R = [
    (2.1, 19, 0.05, 0.00620540601, 4.14443846226),
    (0.5, 4, 0.05, -1.51736554, 2.45920711),
    (-3.3, 9, 0.05, -5.712668461, -0.774938842),
    (7.0, 19, 0.005, 2.80403395, 11.25514227),
]


@pytest.mark.parametrize("numbers", BY_R)
def test_limits_of_the_noncentrality_equal_r(numbers):
    statistic, df, alpha, low, high = numbers
    found = noncentrality_limits(np.array([statistic]), np.array([float(df)]), alpha / 2).ravel()
    assert found == pytest.approx((low, high), abs=2e-8)


@pytest.mark.parametrize("df", [1.5, 2.5, 12.3, 80.0])
def test_limits_of_the_noncentrality_by_scipy(df):
    statistic = np.array([-1.5, -0.4, 0.0, 0.4, 3.0, 9.0, 33.0])
    found = noncentrality_limits(statistic, np.full(len(statistic), df), 0.025)
    for t, low, high in zip(statistic, *found, strict=True):
        assert stats.nct.cdf(t, df, low) == pytest.approx(0.975, abs=1e-7)
        assert stats.nct.cdf(t, df, high) == pytest.approx(0.025, abs=1e-7)


def test_limits_far_out_and_without_end():
    low, high = noncentrality_limits(np.array([300.0]), np.array([19.0]), 0.025).ravel()
    chi = np.sqrt(stats.chi2.ppf([0.025, 0.975], 19) / 19) * 300  # the noncentrality is t times a chi
    assert (low, high) == pytest.approx(tuple(chi), rel=1e-3)
    for df in (9e9, 1e10, 1.7e18, np.inf):  # 1.7e18: all cases have the same spread, but for rounding
        exact = noncentrality_limits(np.array([2.0]), np.array([df]), 0.025).ravel()
        assert exact == pytest.approx(2 + stats.norm.ppf([0.025, 0.975]), abs=1e-9)


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
        assert row["effect_low"] < row["effect"] < row["effect_high"]


def test_with_halvings_the_spread_in_one_fold_is_that_of_folds_and_of_their_mean(monkeypatch):
    values, halves = random_table(7, 3, effect=0.02), random_table(9, 3, seed=4) - 0.8
    monkeypatch.setattr(effect_sizes, "half_differences", lambda *_: halves)
    found = effects(frame_of(values), ratio=0.0, order=["M2", "M1", "M0"])
    for row in found.to_dict("records"):
        d = values[:, int(row["model_a"][1])] - values[:, int(row["model_b"][1])]
        spread = np.sqrt(row["std_error"] ** 2 + d.var(ddof=1) * (1 - 1 / 7))
        assert row["std_error"] > 1.1 * d.std(ddof=1) / np.sqrt(7)
        assert row["effect"] == pytest.approx(d.mean() / spread, rel=1e-9)


def test_a_difference_without_spread_or_statistic_has_no_effect_size():
    pairs = pd.DataFrame(
        {
            "model_a": list("AAA"), "model_b": list("BCD"), "estimate": [0.1, 0.0, 0.2], "df": 9.0,
            "std_error": [0.05, 0.0, 0.1], "statistic": [2.0, 0.0, np.inf], "spread": 0.1,
        }
    )  # fmt: skip
    found = add_effect_sizes(pairs, alpha=0.05)
    for column in ("conf_low", "conf_high", "effect", "effect_low", "effect_high"):
        assert found[column].isna().tolist() == [False, True, True]


def test_a_control_turns_the_pairs_and_alike_models_have_no_effect():
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


@pytest.mark.slow
@pytest.mark.no_cover
def test_intervals_cover_the_effect_of_correlated_folds():
    tables = correlated_folds(200, 10, 2, rho=0.2, rng=np.random.default_rng(5))
    tables += np.array([0.0, 0.6 * np.sqrt(2)])
    held = 0
    for table in tables:
        row = effects(frame_of(table), ratio=0.25, order=["M1", "M0"]).iloc[0]
        held += row["effect_low"] <= 0.6 <= row["effect_high"]
    assert 0.905 <= held / len(tables) <= 0.99
