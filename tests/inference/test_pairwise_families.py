"""Families of pairs: adjustments, intervals that agree with them, a control, practical equivalence."""

import numpy as np
import pandas as pd
import pytest
from by_statsmodels import adjusted_by_statsmodels
from fold_tables import evaluation_of, frame_of, random_table
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from loops import each
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from skewanova.inference import equivalence, posthoc
from skewanova.inference.catalogue import ADJUSTABLE_TESTS, ADJUSTMENTS, TESTS, name_family
from skewanova.inference.effect_sizes import add_equivalence_tests
from skewanova.inference.pairwise import adjust_family, adjust_p_values, orient_to_control, stepwise_levels

#: R 4.2: p.adjust(c(.002, .01, .03, .04, .2), method), to 7 digits.
P_VALUES = np.array([0.03, 0.002, 0.2, 0.01, 0.04])
BY_R = {
    "holm": [0.09, 0.01, 0.2, 0.04, 0.09],
    "bonferroni": [0.15, 0.01, 1.0, 0.05, 0.2],
    "hochberg": [0.08, 0.01, 0.2, 0.04, 0.08],
    "bh": [0.05, 0.01, 0.2, 0.025, 0.05],
}
SMALL = arrays.arrays(np.float64, st.integers(1, 8), elements=st.floats(1e-6, 1.0))


@pytest.mark.parametrize("p_adjust", ADJUSTMENTS)
def test_adjusted_p_values_are_those_of_r(p_adjust):
    np.testing.assert_allclose(adjust_p_values(P_VALUES, p_adjust), BY_R[p_adjust], rtol=1e-12)
    with_gap = np.insert(P_VALUES, 2, np.nan)
    found = adjust_p_values(with_gap, p_adjust)
    assert np.isnan(found[2])
    np.testing.assert_array_equal(np.delete(found, 2), adjust_p_values(P_VALUES, p_adjust))
    assert np.isnan(adjust_p_values(np.full(3, np.nan), p_adjust)).all()


@given(SMALL, st.sampled_from(ADJUSTMENTS), st.sampled_from([0.005, 0.05, 0.2]))
def test_the_level_of_a_pair_decides_as_its_adjusted_p(p_values, p_adjust, alpha):
    level = stepwise_levels(p_values, alpha, p_adjust=p_adjust)
    p_adjusted = adjust_p_values(p_values, p_adjust)
    clear = np.abs(p_adjusted - alpha) > 1e-9  # else rounding decides
    if clear.all():
        np.testing.assert_array_equal(p_values < level, p_adjusted < alpha)
    assert (level >= alpha / len(p_values) * (1 - 1e-12)).all()
    assert (level <= alpha * (1 + 1e-12)).all()


def test_levels_by_hand():
    expected = {
        "holm": [0.05 / 3, 0.01, 0.05 / 3, 0.05 / 4, 0.05 / 3],  # two rejected, the third decides the rest
        "bonferroni": [0.01] * 5,
        "hochberg": [0.05 / 3, 0.05 / 4, 0.05, 0.05 / 4, 0.05 / 2],
    }
    for p_adjust, levels in expected.items():
        np.testing.assert_allclose(stepwise_levels(P_VALUES, 0.05, p_adjust=p_adjust), levels, rtol=1e-12)
    for alpha, level in ((0.045, 0.018), (0.06, 0.048)):  # two rejected, four
        np.testing.assert_allclose(stepwise_levels(P_VALUES, alpha, p_adjust="bh"), [level] * 5, rtol=1e-12)
    for p_adjust in ADJUSTMENTS:
        assert stepwise_levels(np.full(2, np.nan), 0.05, p_adjust=p_adjust)[0] == 0.05


@each("p_adjust", ADJUSTMENTS)
@each("seed", range(2))
def test_intervals_by_hand_and_as_decided(p_adjust, seed):
    values = random_table(8, 4, seed=seed, effect=0.012)
    found = posthoc(frame_of(values), method="paired_t", p_adjust=p_adjust, order=["M3", "M2", "M1", "M0"])
    levels = stepwise_levels(found["p_value"].to_numpy(), 0.05, p_adjust=p_adjust)
    for row, level in zip(found.to_dict("records"), levels, strict=True):
        a, b = (values[:, int(row[side][1])] for side in ("model_a", "model_b"))
        limits = stats.ttest_rel(a, b).confidence_interval(1 - level)
        assert (row["conf_low"], row["conf_high"]) == pytest.approx(tuple(limits), rel=1e-9)
    outside = (found["conf_low"] > 0) | (found["conf_high"] < 0)
    assert (outside == found["reject"]).all()
    assert set(found["test"]) == {f"paired_t_{p_adjust}"}


@each("method", ["paired_t", "corrected_t", "wilcoxon"])
@each("p_adjust", ADJUSTMENTS)
def test_a_control_has_the_p_values_of_all_pairs_over_fewer(method, p_adjust):
    measures = evaluation_of(random_table(10, 5, effect=0.02), "repeated_holdout")
    options = {"method": method, "p_adjust": p_adjust, "order": ["M3", "M4", "M1", "M0", "M2"]}
    every, found = posthoc(measures, **options), posthoc(measures, control="M1", **options)
    assert found["model_a"].tolist() == ["M3", "M4", "M0", "M2"]
    assert set(found["model_b"]) == {"M1"}
    assert set(found["test"]) == {name_family(method, p_adjust, control=True)}
    raw = {frozenset(pair): p for *pair, p in every[["model_a", "model_b", "p_value"]].to_numpy()}
    assert found["p_value"].tolist() == [raw[frozenset((a, "M1"))] for a in found["model_a"]]
    name = {"hochberg": "simes-hochberg", "bh": "fdr_bh"}.get(p_adjust, p_adjust)
    expected = adjusted_by_statsmodels(found["p_value"], name)
    np.testing.assert_allclose(found["p_adjusted"], expected, rtol=1e-12)


def pairs_of(names, estimate, std_error, *, statistic=np.nan, p_value=np.nan, **columns):
    models = {"model_a": [name[0] for name in names.split()], "model_b": [name[1] for name in names.split()]}
    tests = {"std_error": std_error, "df": 9.0, "statistic": statistic, "p_value": p_value}
    return pd.DataFrame(models | {"estimate": estimate} | tests | columns)


def test_pairs_with_a_control_are_turned_towards_it():
    columns = {"statistic": [1.0, 2.0, 3.0], "p_value": [0.3, 0.1, 0.01]}
    columns |= {"p_a_ahead": [0.7, 0.8, 0.9], "p_b_ahead": [0.2, 0.1, 0.05]}
    pairs = pairs_of("AB AC BC", [0.1, 0.2, 0.3], 0.1, **columns)
    found = orient_to_control(pairs, "B")
    assert found[["model_a", "model_b"]].to_numpy().tolist() == [["A", "B"], ["C", "B"]]
    assert found["estimate"].tolist() == [0.1, -0.3]
    assert found["statistic"].tolist() == [1.0, -3.0]
    assert found[["p_a_ahead", "p_b_ahead"]].to_numpy().tolist() == [[0.7, 0.2], [0.05, 0.9]]
    tested = adjust_family(pairs, alpha=0.05, control="B")
    assert tested["p_adjusted"].tolist() == [0.3, 0.02]
    assert tested["reject"].tolist() == [False, True]
    assert tested["conf_high"].iloc[1] < 0


def test_a_difference_without_spread_has_no_limits_and_an_equal_pair_has():
    pairs = pairs_of("AB AC", [0.1, 0.0], 0.0).assign(df=np.nan)
    found = adjust_family(pairs, alpha=0.05)
    assert found["conf_low"].isna().tolist() == [True, False]
    assert found["conf_low"].iloc[1] == found["conf_high"].iloc[1] == 0
    assert not found["reject"].any()


def test_every_method_has_a_record_with_every_adjustment():
    for method, record in ADJUSTABLE_TESTS.items():
        for p_adjust in ADJUSTMENTS:
            plain, against = (TESTS[name_family(method, p_adjust, control=c)] for c in (False, True))
            assert plain.name.startswith(record.name)
            assert (plain.needs_control, against.needs_control) == (False, True)
            assert "every other model with the control" in against.methods
            assert against.note.startswith("Against the control. ")


@pytest.mark.parametrize("rope", [0.001, 0.01, 0.1])
def test_two_one_sided_tests_are_those_of_statsmodels(rope):
    values = random_table(12, 3, effect=0.004)
    found = equivalence(evaluation_of(values, "independent"), rope=rope, order=["M0", "M1", "M2"])
    gaps = [values[:, a] - values[:, b] for a, b in ((0, 1), (0, 2), (1, 2))]
    expected = [DescrStatsW(gap).ttost_mean(-rope, rope)[0] for gap in gaps]
    np.testing.assert_allclose(found["p_value"], expected, rtol=1e-9)
    np.testing.assert_allclose(found["p_adjusted"], adjusted_by_statsmodels(expected), rtol=1e-9)
    assert found["equivalent"].tolist() == (found["p_adjusted"] < 0.05).tolist()
    if rope == 0.1:
        assert found["equivalent"].all()


def test_equivalence_has_the_family_of_the_control():
    measures = evaluation_of(random_table(12, 4, effect=0.004), "repeated_holdout")
    every = equivalence(measures, rope=0.05)
    found = equivalence(measures, rope=0.05, control="M2", p_adjust="bonferroni")
    assert set(found["model_b"]) == {"M2"}
    assert len(found) == 3
    np.testing.assert_allclose(found["p_adjusted"], np.minimum(3 * found["p_value"], 1), rtol=1e-12)
    for row in found.to_dict("records"):
        same = every[every[["model_a", "model_b"]].isin([row["model_a"], "M2"]).all(axis=1)]
        assert row["p_value"] == same["p_value"].item()
        turned = same["model_a"].item() == "M2"
        assert row["p_a_ahead"] == same["p_b_ahead" if turned else "p_a_ahead"].item()


def test_probabilities_of_the_three_regions_by_hand():
    ahead, behind = np.array([0.3, 0.7, 0.0, np.nan]), np.array([0.2, 0.3 + 1e-12, 0.0, 0.01])
    pairs = pd.DataFrame({"model_a": list("AABB"), "model_b": list("CDCD")})
    found = add_equivalence_tests(pairs, ahead, behind, rope=0.01, alpha=0.05)
    assert found["p_equal"].tolist()[:3] == pytest.approx([0.5, 0.0, 1.0], abs=1e-15)
    assert (found["p_equal"].iloc[:3] >= 0).all()
    np.testing.assert_array_equal(found["p_value"], [0.3, 0.7, 0.0, np.nan])  # one side alone says nothing
    assert found["equivalent"].tolist() == [False, False, True, False]


def test_an_adjusted_p_of_alpha_itself_rejects_nothing():
    pair = pairs_of("AB", [0.1], 0.1, statistic=1.0, p_value=0.05)
    assert adjust_family(pair, alpha=0.05)["reject"].tolist() == [False]
    assert adjust_family(pair, alpha=np.nextafter(0.05, 1))["reject"].tolist() == [True]
    for alpha, equal in ((0.05, False), (np.nextafter(0.05, 1), True)):
        one = add_equivalence_tests(pair, np.array([0.05]), np.array([0.01]), rope=0.1, alpha=alpha)
        assert one["equivalent"].tolist() == [equal]


def test_levels_beside_a_pair_without_a_test_and_at_alpha_itself():
    assert stepwise_levels(np.array([0.001, np.nan]), 0.05, p_adjust="holm").tolist() == [0.05, 0.05]
    assert stepwise_levels(np.array([0.025, 0.05]), 0.05, p_adjust="holm").tolist() == [0.025, 0.025]


def test_pairs_with_a_control_keep_their_columns():
    pairs = pd.DataFrame({"model_a": list("AAB"), "model_b": list("BCC"), "estimate": [0.1, 0.2, 0.1]})
    found = orient_to_control(pairs, "B")
    assert [list(found), found.index.tolist()] == [list(pairs), [0, 1]]
