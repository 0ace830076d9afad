import math
from itertools import combinations, product

import numpy as np
import pandas as pd
import pytest
from by_statsmodels import adjusted_by_statsmodels
from fold_tables import INPUTS, evaluation_of, frame_of, means_of, r_number, random_table, recorded, table_of
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from loops import each
from messages import exact, expect_error
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

import skewanova as sa
from skewanova.inference import equivalence, fold_statistics, pairwise, posthoc
from skewanova.inference.catalogue import ADJUSTABLE_TESTS, ADJUSTMENTS, TESTS, get_test, name_family
from skewanova.inference.effect_sizes import add_equivalence_tests

#: A frame has no halvings.
OF_FRAMES = [test for test in pairwise.PAIRWISE_TESTS if not get_test(test).needs_halvings]
FAMILIES = [test for test in OF_FRAMES if not get_test(test).needs_control]
T_FAMILIES = ["paired_t", "corrected_t", "games_howell"]
RATIO = 0.25


def compared(frame, method, **options):
    method = method.removesuffix("_holm")  # what the column test has
    if method == "dunnett":
        options.setdefault("control", frame["model"].iloc[0])
    if method == "corrected_t":
        options.setdefault("ratio", 0.0)
    return posthoc(frame, method=method, **options)


def in_order(name):
    """Models of a recorded input in the order of their names, as R has them."""
    return sorted(means_of(name)["model"].unique())


@each("name", INPUTS)
@each("test", ["paired_t_holm", "corrected_t_holm", "wilcoxon_holm"])
def test_holms_families_equal_r(test, name):
    found = compared(means_of(name), test, ratio=RATIO, order=in_order(name)[::-1])
    numbers = recorded("r_pairs.csv")
    columns = {"p_value", "p_adjusted", "estimate", "std_error", "statistic", "df"}
    checked = 0
    for row in found.to_dict("records"):
        term = f"{row['model_a']}-{row['model_b']}"
        for column in columns:
            if (name, test, term, column) in numbers:
                expected = numbers[name, test, term, column]
                assert row[column] == pytest.approx(expected, rel=1e-9, abs=0), (term, column)
                checked += 1
    assert checked >= 2 * len(found)


@pytest.mark.parametrize("name", INPUTS)
def test_dunnett_equals_multcomp(name):
    models = in_order(name)
    found = compared(means_of(name), "dunnett", control=models[0], order=models)
    assert (found["model_a"].tolist(), set(found["model_b"])) == (models[1:], {models[0]})
    for row in found.to_dict("records"):
        term = f"{row['model_a']}-{models[0]}"
        for column in ("estimate", "std_error", "statistic", "df"):
            expected = r_number("r_pairs.csv", name, "dunnett", column, term=term)
            assert row[column] == pytest.approx(expected, rel=1e-9), column
        assert row["p_value"] == pytest.approx(2 * stats.t.sf(abs(row["statistic"]), row["df"]), rel=1e-9)
        expected = r_number("r_pairs.csv", name, "dunnett", "p_adjusted", term=term)
        assert row["p_adjusted"] == pytest.approx(expected, abs=1e-5)
        expected = r_number("r_pairs.csv", name, "dunnett_integrated", "p_adjusted", term=term)
        assert row["p_adjusted"] == pytest.approx(expected, abs=1e-9)
        critical = r_number("r_pairs.csv", name, "dunnett_integrated", "critical_95", term="all")
        margin = (row["conf_high"] - row["conf_low"]) / 2
        assert margin == pytest.approx(critical * row["std_error"], rel=1e-8)
        expected = r_number("r_pairs.csv", name, "dunnett", "conf_low_95", term=term)
        assert row["conf_low"] == pytest.approx(expected, abs=1e-4 * margin)


#: Two adaptive integrals (scipy's quad to 1e-10), over the control's mean and the pooled deviation's chi.
BY_QUADRATURE = [
    (0.5, 2, 1, 0.8592614521), (12.7, 1, 1, 0.0500243277), (30.0, 3, 2, 0.0021397157),
    (2.5, 3, 12, 0.0690346644), (3.5, 9, 40, 0.0085853137), (1.0, 5, 200, 0.7740608804),
    (6.0, 4, 8, 0.0010688234),
]  # fmt: skip


@each("numbers", BY_QUADRATURE)
def test_dunnett_sf_equals_quadrature(numbers):
    assert pairwise.dunnett_sf(*numbers[:3]) == pytest.approx(numbers[3], abs=1e-8)


@each("df", [1, 3, 30, 500])
@each("value", [0.0, 0.3, 2.0, 8.0, 60.0])
def test_dunnett_sf_of_one_comparison_is_students(value, df):
    assert pairwise.dunnett_sf(value, 1, df) == pytest.approx(2 * stats.t.sf(value, df), abs=1e-8)
    assert (pairwise.dunnett_sf(0.0, 3, 5), pairwise.dunnett_sf(np.inf, 3, 5)) == (pytest.approx(1), 0)
    assert np.isnan(pairwise.dunnett_sf(np.nan, 3, 5))


def pairs(values):
    return list(zip(*fold_statistics.pair_indices(values.shape[1]), strict=True))


def studentized_range(q, k, df):
    return pytest.approx(stats.studentized_range.sf(q, k, df), abs=1e-12)


def test_games_howell_by_hand():
    name = "balanced"
    values = table_of(name)
    n, k = values.shape
    found = compared(means_of(name), "games_howell", order=in_order(name))
    for row, (a, b) in zip(found.to_dict("records"), pairs(values), strict=True):
        d = values[:, a] - values[:, b]
        t = stats.ttest_1samp(d, 0)
        assert row["p_value"] == pytest.approx(t.pvalue, rel=1e-9)
        assert row["p_adjusted"] == studentized_range(np.sqrt(2) * abs(t.statistic), k, n - 1)
        margin = stats.studentized_range.isf(0.05, k, n - 1) * stats.sem(d) / np.sqrt(2)
        assert row["conf_high"] - row["estimate"] == pytest.approx(margin, rel=1e-6)


@pytest.mark.parametrize("name", INPUTS)
def test_nemenyi_by_hand_and_max_t_by_its_kernel(name):
    values = table_of(name)
    j, k = values.shape
    ranks = stats.rankdata(values, axis=1).mean(axis=0)
    found = compared(means_of(name), "nemenyi", order=in_order(name))
    for row, (a, b) in zip(found.to_dict("records"), pairs(values), strict=True):
        z = (ranks[a] - ranks[b]) / np.sqrt(k * (k + 1) / (6 * j))
        assert row["estimate"] == pytest.approx(values[:, a].mean() - values[:, b].mean(), rel=1e-9)
        assert row["statistic"] == pytest.approx(z, rel=1e-12, abs=1e-14)
        assert row["p_value"] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)
        assert row["p_adjusted"] == studentized_range(np.sqrt(2) * abs(z), k, np.inf)
    found = compared(means_of(name), "max_t", order=in_order(name), rng=3)
    np.testing.assert_array_equal(found["p_adjusted"], fold_statistics.max_t_test(table_of(name), rng=3))


@pytest.mark.parametrize("alpha", [0.04, 0.1, 0.25])
def test_max_t_interval_is_at_the_quantile_of_the_largest_t_under_flips(alpha):
    values = random_table(6, 3, effect=0.01)
    found = compared(frame_of(values), "max_t", alpha=alpha, order=["M0", "M1", "M2"])
    centred = np.stack([values[:, a] - values[:, b] for a, b in ((0, 1), (0, 2), (1, 2))], axis=1)
    centred -= centred.mean(axis=0)
    flipped = [np.array([1, *signs])[:, None] * centred for signs in product([1, -1], repeat=5)][1:]
    largest = sorted(np.abs(stats.ttest_1samp(one, 0).statistic).max() for one in flipped)
    critical = largest[math.ceil((1 - alpha) * 30)]
    for side, sign in (("conf_low", -1), ("conf_high", 1)):
        expected = found["estimate"] + sign * critical * found["std_error"]
        np.testing.assert_allclose(found[side], expected.where(found[side] != 0, 0.0), rtol=1e-9)  # or cut


def test_max_t_interval_excludes_0_only_if_the_step_down_test_rejects():
    rng = np.random.default_rng(0)
    for _ in range(20):  # without the cut, one in ten of the intervals of rejected pairs includes 0
        values = 0.6 + 0.02 * (rng.normal(size=(12, 5)) + np.linspace(1.5, 0, 5))
        found = compared(frame_of(values), "max_t")
        includes = (found["conf_low"] < 0) & (found["conf_high"] > 0)
        assert not (includes & found["reject"]).any()
        excludes = (found["conf_low"] > 0) | (found["conf_high"] < 0)
        assert not (excludes & ~found["reject"]).any()
        assert found["estimate"].between(found["conf_low"], found["conf_high"]).all()


def test_max_t_of_few_folds_and_dunnett_at_its_ends():
    found = compared(frame_of(random_table(5, 3)), "max_t")  # 16 arrangements cannot reach .05
    assert found[["conf_low", "conf_high"]].isna().all(axis=None)
    assert (found["p_adjusted"] >= 1 / 16).all()
    frame = frame_of(np.linspace(0.6, 0.9, 6)[:, None] + np.array([0.0, 0.0, 0.1]))
    found = compared(frame, "dunnett", control="M0", order=["M0", "M1", "M2"])
    assert np.isnan(found["p_adjusted"].iloc[0])
    assert (found["p_adjusted"].iloc[1], found["reject"].tolist()) == (0, [False, True])
    found = compared(frame_of(random_table(2, 2)), "dunnett", alpha=0.001)  # t of 1 degree of freedom: 637
    margin = found["conf_high"] - found["estimate"]
    critical = float(margin.iloc[0] / found["std_error"].iloc[0])
    assert critical == pytest.approx(stats.t.isf(0.0005, 1), rel=1e-3)


def test_the_difference_of_wilcoxon_is_the_pseudo_median_whose_sign_is_that_of_the_ranks():
    rng = np.random.default_rng(3)
    for n_folds in (2, 3, 8, 25):
        values = rng.standard_t(1, (n_folds, 3))  # with outliers
        values[0, 1] = values[0, 0]  # a difference of 0 does not count
        rows = compared(frame_of(values), "wilcoxon", order=["M0", "M1", "M2"])
        for row, (a, b) in zip(rows.itertuples(), combinations(range(3), 2), strict=True):
            difference = [x for x in values[:, a] - values[:, b] if x != 0]
            means = [(x + y) / 2 for i, x in enumerate(difference) for y in difference[i:]]
            assert row.estimate == pytest.approx(np.median(means), rel=1e-12)
            ranks = stats.rankdata(np.abs(difference))
            direction = np.sum(ranks * np.sign(difference))
            assert direction == 0 or np.sign(row.estimate) == np.sign(direction)
    many = np.column_stack([rng.normal(0.3, 1, 1500), np.zeros(1500)])  # of evenly spaced ones
    row = compared(frame_of(many), "wilcoxon", order=["M0", "M1"]).iloc[0]
    first, second = np.triu_indices(1500)
    assert row["estimate"] == pytest.approx(np.median(many[first, 0] + many[second, 0]) / 2, abs=1e-3)


def test_wilcoxon_of_ties_by_rounding_and_of_one_equal_fold():
    """0.8 - 0.7 and 0.7 - 0.6 differ in the last digit; a fold without a difference does not count."""
    control = np.array([0.7, 0.7, 0.7, 0.65, 0.55, 0.65])
    other = np.array([0.8, 0.6, 0.9, 0.95, 0.80, 0.7])
    row = compared(frame_of(np.column_stack([other, control])), "wilcoxon", order=["M0", "M1"]).iloc[0]
    known = stats.wilcoxon(np.round(other - control, 6))
    assert (row["statistic"], row["p_value"]) == (known.statistic, known.pvalue) == (2.5, 0.125)
    same = np.array([0.2, 0.5, 0.4, 0.7, 0.6, 0.9])
    differ = same + np.array([0.0, 0.01, 0.02, -0.03, 0.04, 0.05])
    row = compared(frame_of(np.column_stack([differ, same])), "wilcoxon", order=["M0", "M1"]).iloc[0]
    known = stats.wilcoxon((differ - same)[1:])
    assert (row["statistic"], row["p_value"]) == (known.statistic, known.pvalue)


def test_dunnett_sees_no_scale_and_corrected_tests_need_their_design():
    """What is rounding is told by the size of the values."""
    small = random_table(6, 3, spread=1e-8, effect=1e-8)
    flat = np.array([0.8, 0.8 + 1e-8, 0.8]) + np.linspace(0, 0.1, 6)[:, None]
    for values in (small, flat):
        options = {"control": "M2", "order": ["M0", "M1", "M2"]}
        one, scaled = (compared(frame_of(v), "dunnett", **options) for v in (values, 1e-4 * values))
        np.testing.assert_allclose(scaled["statistic"], one["statistic"], rtol=1e-6)
        np.testing.assert_allclose(scaled["p_adjusted"], one["p_adjusted"], rtol=1e-6)
    assert np.isfinite(compared(frame_of(small), "dunnett", control="M2")["statistic"]).all()
    scores = sa.load_satellite_scores()
    priors = (0.5, 0.2)
    measures, result = sa.evaluate(scores, at_priors=priors), sa.compare(scores, at_priors=priors)
    known = result.pairs[result.pairs["role"] == "primary"].reset_index(drop=True)
    found = posthoc(measures, role="primary")
    pd.testing.assert_frame_equal(found, known, rtol=1e-12, check_dtype=False)
    assert not found["reject"].any()
    pd.testing.assert_frame_equal(equivalence(measures), result.tables["equivalence"], rtol=1e-12)
    for call, name in ((posthoc, "corrected_t"), (equivalence, "the correlated t test")):
        expect_error(f"^{name} depends on how the folds were made", call, THREE, error=ValueError)
    assert posthoc(THREE, method="paired_t")["p_value"].notna().all()
    expect_error("present and finite", posthoc, THREE.iloc[1:], ratio=0, error=ValueError)


@each("test", OF_FRAMES)
def test_columns_and_a_stricter_level_that_rejects_less(test):
    found = compared(means_of("balanced"), test, role="primary")
    assert tuple(found.columns) == pairwise.POSTHOC_COLUMNS
    assert set(found["test"]) == {test + "_holm" * get_test(test).needs_adjustment}
    assert (set(found["role"]), set(found["response"])) == ({"primary"}, {"iauprec"})
    assert found["prior"].isna().all()
    assert found["reject"].dtype == bool
    assert (found["reject"] == (found["p_adjusted"] < 0.05)).all()
    assert found["p_adjusted"].between(0, 1).all()
    frame = frame_of(random_table(20, 3, effect=0.015))
    loose, strict = (compared(frame, test, alpha=alpha) for alpha in (0.05, 0.005))
    assert (loose["reject"] | ~strict["reject"]).all()
    np.testing.assert_array_equal(loose["p_adjusted"], strict["p_adjusted"])
    if loose["conf_low"].notna().all():
        assert (strict["conf_low"] < loose["conf_low"]).all()


@each("test", FAMILIES)
def test_default_order_is_by_falling_means(test):
    values = random_table(9, 4, seed=1, effect=0.02)[:, [2, 0, 3, 1]]
    found = compared(frame_of(values, ["c", "a", "d", "b"]), test)
    assert found[["model_a", "model_b"]].to_numpy().tolist() == [
        ["d", "c"], ["d", "b"], ["d", "a"], ["c", "b"], ["c", "a"], ["b", "a"],
    ]  # fmt: skip
    assert (found["estimate"] > 0).all()


@each("offset", [0.0, 1e-16])
@each("test", FAMILIES)
def test_identical_models_are_never_told_apart(test, offset):
    one = random_table(10, 1)
    values = np.hstack([one, one + offset, random_table(10, 1, seed=5)])
    found = compared(frame_of(values), test).set_index(["model_a", "model_b"])
    pair = found.loc[("M0", "M1") if ("M0", "M1") in found.index else ("M1", "M0")]
    assert not pair["reject"]
    assert abs(pair["estimate"]) < 1e-15
    if test in [*T_FAMILIES, "max_t"] or (test == "wilcoxon" and offset == 0):
        assert np.isnan(pair["p_adjusted"])
    assert found.drop(index=pair.name)["p_adjusted"].notna().all()


@pytest.mark.parametrize("test", T_FAMILIES)
def test_constant_differences_have_p_0(test):
    one = random_table(10, 1)
    found = compared(frame_of(np.hstack([one + 0.02, one])), test, ratio=RATIO).iloc[0]
    assert (found["statistic"], found["p_adjusted"], found["reject"]) == (np.inf, 0.0, True)
    assert found["conf_low"] == pytest.approx(0.02)
    for rank_test in ("max_t", "wilcoxon_holm"):  # their smallest p
        smallest = compared(frame_of(np.hstack([one + 0.02, one])), rank_test)["p_adjusted"].iloc[0]
        assert smallest == pytest.approx(2.0**-9)


@each("rope", [0.0, 0.01, 0.05])
@each("ratio", [0.0, 0.25])
def test_bayesian_probabilities_are_those_of_the_posterior(rope, ratio):
    frame, values = means_of("heteroscedastic"), table_of("heteroscedastic")
    found = equivalence(frame, rope=rope, ratio=ratio, order=in_order("heteroscedastic"))
    n = len(values)
    rho = ratio / (1 + ratio)
    for row, (a, b) in zip(found.to_dict("records"), pairs(values), strict=True):
        d = values[:, a] - values[:, b]
        # Corani and Benavoli 2015, eq. 8: St(mu; n - 1, mean, (1 / n + rho / (1 - rho)) s^2)
        scale = np.sqrt((1 / n + rho / (1 - rho)) * d.var(ddof=1))
        posterior = stats.t(n - 1, d.mean(), scale)
        assert row["p_a_ahead"] == pytest.approx(posterior.sf(rope), abs=1e-12)
        assert row["p_equal"] == pytest.approx(posterior.cdf(rope) - posterior.cdf(-rope), abs=1e-12)
        assert row["rope"] == rope
    np.testing.assert_allclose(found[["p_a_ahead", "p_equal", "p_b_ahead"]].sum(axis=1), 1, atol=1e-12)


@each(("gap", "rope", "expected"), [
    *((gap, rope, (0, 1, 0)) for gap in (0.0, 1e-16) for rope in (0.0, 0.01, 1.0)),
    (0.05, 0.01, (1, 0, 0)), (0.005, 0.01, (0, 1, 0)),
])  # fmt: skip
def test_bayesian_identical_models_and_constant_differences_are_certain(gap, rope, expected):
    one = random_table(6, 1)
    found = equivalence(frame_of(np.hstack([one, one + gap])), rope=rope, order=["M1", "M0"], ratio=0).iloc[0]
    assert (found["p_a_ahead"], found["p_equal"], found["p_b_ahead"]) == expected


THREE = frame_of(random_table(5, 3))


@each(("options", "message"), [
    ({"method": "dunnett"}, "`control` must name the model that method='dunnett' compares the others with; "
     "state control='NAME' (--control NAME)"),
    ({"method": "dunnett", "control": "M9", "order": ["M0", "M1", "M2"]},
     "`control` must be one of M0, M1, M2; but got 'M9'"),
    ({"method": "max_t", "control": "M0"},
     "`control` selects the pairs with one model, but method='max_t' compares all pairs: leave "
     "`control` out"),
    ({"method": "nemenyi", "p_adjust": "holm"},
     "`p_adjust` is for tests with unadjusted p-values, but method='nemenyi' adjusts by itself: "
     "leave `p_adjust` out"),
    ({"order": ["M0", "M1", "M1"]},
     "`order` must name every level once, but got ['M0', 'M1', 'M1'] for ['M0', 'M1', 'M2']"),
])  # fmt: skip
def test_bad_options(options, message):
    expect_error(exact(message), posthoc, THREE, **{"ratio": 0, **options}, error=ValueError)


#: R 4.2: p.adjust(c(.002, .01, .03, .04, .2), method), to 7 digits.
P_VALUES = np.array([0.03, 0.002, 0.2, 0.01, 0.04])
BY_R = {
    "holm": [0.09, 0.01, 0.2, 0.04, 0.09], "bonferroni": [0.15, 0.01, 1.0, 0.05, 0.2],
    "hochberg": [0.08, 0.01, 0.2, 0.04, 0.08], "bh": [0.05, 0.01, 0.2, 0.025, 0.05],
}  # fmt: skip
SMALL = arrays.arrays(np.float64, st.integers(1, 8), elements=st.floats(1e-6, 1.0))


@pytest.mark.parametrize("p_adjust", ADJUSTMENTS)
def test_adjusted_p_values_are_those_of_r(p_adjust):
    np.testing.assert_allclose(pairwise.adjust_p_values(P_VALUES, p_adjust), BY_R[p_adjust], rtol=1e-12)
    found = pairwise.adjust_p_values(np.insert(P_VALUES, 2, np.nan), p_adjust)
    assert np.isnan(found[2])
    np.testing.assert_array_equal(np.delete(found, 2), pairwise.adjust_p_values(P_VALUES, p_adjust))
    assert np.isnan(pairwise.adjust_p_values(np.full(3, np.nan), p_adjust)).all()


@given(SMALL, st.sampled_from(ADJUSTMENTS), st.sampled_from([0.005, 0.05, 0.2]))
def test_the_level_of_a_pair_decides_as_its_adjusted_p(p_values, p_adjust, alpha):
    level = pairwise.stepwise_levels(p_values, alpha, p_adjust=p_adjust)
    p_adjusted = pairwise.adjust_p_values(p_values, p_adjust)
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
        found = pairwise.stepwise_levels(P_VALUES, 0.05, p_adjust=p_adjust)
        np.testing.assert_allclose(found, levels, rtol=1e-12)
    for alpha, level in ((0.045, 0.018), (0.06, 0.048)):  # two rejected, four
        found = pairwise.stepwise_levels(P_VALUES, alpha, p_adjust="bh")
        np.testing.assert_allclose(found, [level] * 5, rtol=1e-12)
    for p_adjust in ADJUSTMENTS:
        assert pairwise.stepwise_levels(np.full(2, np.nan), 0.05, p_adjust=p_adjust)[0] == 0.05
        equal = pairwise.stepwise_levels(np.array([0.6, 0.001, 0.001, np.nan]), 0.05, p_adjust=p_adjust)
        assert equal[1] == equal[2]  # two copies of a model against a third


@each("p_adjust", ADJUSTMENTS)
@each("seed", range(2))
def test_intervals_by_hand_and_as_decided(p_adjust, seed):
    values = random_table(8, 4, seed=seed, effect=0.012)
    found = posthoc(frame_of(values), method="paired_t", p_adjust=p_adjust, order=["M3", "M2", "M1", "M0"])
    levels = pairwise.stepwise_levels(found["p_value"].to_numpy(), 0.05, p_adjust=p_adjust)
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
    assert (found["model_a"].tolist(), set(found["model_b"])) == (["M3", "M4", "M0", "M2"], {"M1"})
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


def test_pairs_are_turned_towards_a_control_and_have_limits_with_spread():
    columns = {"statistic": [1.0, 2.0, 3.0], "p_value": [0.3, 0.1, 0.01]}
    columns |= {"p_a_ahead": [0.7, 0.8, 0.9], "p_b_ahead": [0.2, 0.1, 0.05]}
    pairs = pairs_of("AB AC BC", [0.1, 0.2, 0.3], 0.1, **columns)
    found = pairwise.orient_to_control(pairs, "B")
    assert found[["model_a", "model_b"]].to_numpy().tolist() == [["A", "B"], ["C", "B"]]
    assert (found["estimate"].tolist(), found["statistic"].tolist()) == ([0.1, -0.3], [1.0, -3.0])
    assert found[["p_a_ahead", "p_b_ahead"]].to_numpy().tolist() == [[0.7, 0.2], [0.05, 0.9]]
    tested = pairwise.adjust_family(pairs, alpha=0.05, control="B")
    assert (tested["p_adjusted"].tolist(), tested["reject"].tolist()) == ([0.3, 0.02], [False, True])
    assert tested["conf_high"].iloc[1] < 0
    pairs = pd.DataFrame({"model_a": list("AAB"), "model_b": list("BCC"), "estimate": [0.1, 0.2, 0.1]})
    found = pairwise.orient_to_control(pairs, "B")
    assert [list(found), found.index.tolist()] == [list(pairs), [0, 1]]
    found = pairwise.adjust_family(pairs_of("AB AC", [0.1, 0.0], 0.0).assign(df=np.nan), alpha=0.05)
    assert found["conf_low"].isna().tolist() == [True, False]
    assert found["conf_low"].iloc[1] == found["conf_high"].iloc[1] == 0
    assert not found["reject"].any()
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
    assert (set(found["model_b"]), len(found)) == ({"M2"}, 3)
    np.testing.assert_allclose(found["p_adjusted"], np.minimum(3 * found["p_value"], 1), rtol=1e-12)
    for row in found.to_dict("records"):
        same = every[every[["model_a", "model_b"]].isin([row["model_a"], "M2"]).all(axis=1)]
        assert row["p_value"] == same["p_value"].item()
        turned = same["model_a"].item() == "M2"
        assert row["p_a_ahead"] == same["p_b_ahead" if turned else "p_a_ahead"].item()


def test_probabilities_by_hand_and_nothing_rejected_at_alpha_itself():
    ahead, behind = np.array([0.3, 0.7, 0.0, np.nan]), np.array([0.2, 0.3 + 1e-12, 0.0, 0.01])
    pairs = pd.DataFrame({"model_a": list("AABB"), "model_b": list("CDCD")})
    found = add_equivalence_tests(pairs, ahead, behind, rope=0.01, alpha=0.05)
    assert found["p_equal"].tolist()[:3] == pytest.approx([0.5, 0.0, 1.0], abs=1e-15)
    assert (found["p_equal"].iloc[:3] >= 0).all()
    np.testing.assert_array_equal(found["p_value"], [0.3, 0.7, 0.0, np.nan])  # one side alone says nothing
    assert found["equivalent"].tolist() == [False, False, True, False]
    pair = pairs_of("AB", [0.1], 0.1, statistic=1.0, p_value=0.05)
    assert pairwise.adjust_family(pair, alpha=0.05)["reject"].tolist() == [False]
    assert pairwise.adjust_family(pair, alpha=np.nextafter(0.05, 1))["reject"].tolist() == [True]
    for alpha, equal in ((0.05, False), (np.nextafter(0.05, 1), True)):
        one = add_equivalence_tests(pair, np.array([0.05]), np.array([0.01]), rope=0.1, alpha=alpha)
        assert one["equivalent"].tolist() == [equal]
    assert pairwise.stepwise_levels(np.array([0.001, np.nan]), 0.05, p_adjust="holm").tolist() == [0.05, 0.05]
    assert pairwise.stepwise_levels(np.array([0.025, 0.05]), 0.05, p_adjust="holm").tolist() == [0.025, 0.025]
