import numpy as np
import pytest
from fold_tables import INPUTS, frame_of, means_of, r_number, random_table, table_of
from loops import each
from scipy.linalg import helmert

from skewanova import compare, load_satellite_scores
from skewanova.inference import assumptions, fold_statistics
from skewanova.inference.diagnostics import CHECK_COLUMNS, additivity_test

CHECKS = [
    "normality", "spread", "sphericity", "additivity", "fold_imbalance", "ceiling", "smallest_p_sign_flip",
    "smallest_p_permutation", "smallest_p_wilcoxon_holm",
]  # fmt: skip


def checked(values, **options):
    frame = values if hasattr(values, "columns") else frame_of(values, n_positive=50)
    found = assumptions(frame, **options)
    assert tuple(found.columns) == CHECK_COLUMNS
    assert found["check"].tolist() == CHECKS
    return found.set_index("check")


def advised(values, **options):
    found = checked(values, **options)
    return set(found.index[found["advice"] != ""])


def residuals(values):
    return values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()


@each("name", INPUTS)
@each(("check", "term"), [
    ("normality", "shapiro_wilk"), ("spread", "brown_forsythe"), ("additivity", "tukey_additivity")
])  # fmt: skip
def test_values_equal_r(name, check, term):
    row = checked(means_of(name).assign(n_positive=10)).loc[check]
    for column in ("statistic", "p_value"):
        expected = r_number("r_checks.csv", name, "two_way", column, term=term)
        # R's and scipy's Shapiro-Wilk are one algorithm in two precisions
        assert row[column] == pytest.approx(expected, rel=1e-7 if check == "normality" else 1e-9)


@pytest.mark.parametrize("name", INPUTS)
def test_sphericity_is_mauchlys(name):
    values = table_of(name)
    found = checked(means_of(name).assign(n_positive=10))
    contrasts = values @ helmert(values.shape[1]).T
    expected = fold_statistics.mauchly(fold_statistics.fold_covariance(contrasts), len(values))
    row = found.loc["sphericity", ["statistic", "p_value"]]
    assert tuple(row) == pytest.approx(tuple(map(float, expected)))


def test_imbalance_ceiling_and_smallest_p():
    values = random_table(7, 3)
    found = checked(frame_of(values).assign(n_positive=[10, *[14] * 20]))
    assert found.loc["fold_imbalance", "statistic"] == pytest.approx(1.4)
    best = values.mean(axis=0).argmax()
    expected = (1 - values[:, best].mean()) / values[:, best].std(ddof=1)
    assert found.loc["ceiling", "statistic"] == pytest.approx(expected)
    assert found.loc["smallest_p_sign_flip", "p_value"] == 2.0**-6
    assert found.loc["smallest_p_permutation", "p_value"] == pytest.approx(6.0**-6)
    assert found.loc["smallest_p_wilcoxon_holm", "p_value"] == pytest.approx(3 * 2.0**-6)
    of_five = checked(random_table(7, 5)).loc["smallest_p_wilcoxon_holm", "p_value"]
    assert of_five == pytest.approx(10 * 2.0**-6)
    assert found.filter(like="smallest", axis=0)["statistic"].isna().all()


def test_no_advice_for_a_table_as_assumed():
    told = [bool(advised(random_table(20, 4, seed=seed))) for seed in range(20)]
    assert sum(told) <= 8  # 4 tests at .05 each
    assert advised(random_table(20, 4, seed=3)) == set()


def test_advice_where_an_assumption_fails():
    values = random_table(20, 4, seed=3)
    values[4, 2] -= 0.3
    assert "normality" in advised(values)
    noise = np.random.default_rng(0).normal(size=(20, 4)) * (0.002, 0.01, 0.02, 0.06)
    assert {"spread", "sphericity"} <= advised(0.7 + noise)
    level, noise = np.linspace(0.2, 0.9, 15)[:, None], 0.005 * np.random.default_rng(0).normal(size=(15, 3))
    assert "additivity" in advised(level * (1 + 0.2 * np.arange(3)) / 1.5 + noise)
    assert "additivity" not in advised(level + 0.05 * np.arange(3) + noise)


@pytest.mark.parametrize(("fewest", "told"), [(10, True), (25, False), (24, True)])
def test_advice_on_imbalance(fewest, told):
    frame = frame_of(random_table(4, 2)).assign(n_positive=[fewest, 50, 50, 50] * 2)
    advice = checked(frame).loc["fold_imbalance", "advice"]
    assert bool(advice) == told
    if told:
        assert f"a factor of {50 / fewest:.2g} in positives" in advice


def test_advice_on_the_ceiling():
    noise = np.random.default_rng(0).uniform(0, 0.02, size=(12, 3))
    assert "ceiling" in advised(1 - noise)
    assert "ceiling" not in advised(0.9 - noise)
    perfect = np.hstack([np.ones((12, 1)), 0.9 - noise])
    row = checked(perfect).loc["ceiling"]
    assert row["statistic"] == 0
    assert row["advice"]
    assert checked(np.hstack([0.95 + 0 * noise[:, :1], 0.9 - noise])).loc["ceiling", "statistic"] == np.inf


@pytest.mark.parametrize(("distance", "told"), [(1.99, True), (2.01, False)])
def test_the_ceiling_is_close_within_two_deviations(distance, told):
    noise = np.random.default_rng(0).normal(size=(12, 2))
    noise = 0.01 * (noise - noise.mean(axis=0)) / noise.std(axis=0, ddof=1)
    row = checked(1 - 0.01 * distance + noise - [0.0, 0.1]).loc["ceiling"]
    assert row["statistic"] == pytest.approx(distance)
    assert bool(row["advice"]) == told


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_additivity_sees_no_scale(scale):
    values = 0.8 + 1e-5 * np.random.default_rng(1).normal(size=(6, 3))
    assert additivity_test(scale * values) == pytest.approx(additivity_test(values), rel=1e-6)


@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_advice_on_too_few_folds(alpha):
    for n_folds in range(2, 13):
        found = advised(random_table(n_folds, 3, seed=n_folds), alpha=alpha)
        smallest = {
            "smallest_p_sign_flip": 2.0 ** (1 - n_folds),
            "smallest_p_permutation": 6.0 ** (1 - n_folds),
            "smallest_p_wilcoxon_holm": min(1, 3 * 2.0 ** (1 - n_folds)),
        }
        for check, p in smallest.items():
            assert (check in found) == (p >= alpha)
    text = checked(random_table(3, 3)).loc["smallest_p_sign_flip", "advice"]
    assert text == "with 3 folds this test cannot reach 0.05: more folds are needed"


@each("n_folds", [2, 3, 4])
@each("n_models", [2, 3, 6])
def test_small_tables(n_folds, n_models):
    found = checked(random_table(n_folds, n_models, seed=1))
    assert np.isnan(found.loc["spread", "p_value"]) == (n_folds == 2 or n_models == 2)
    assert np.isnan(found.loc["sphericity", "p_value"]) == (n_models == 2 or n_folds < n_models)
    assert np.isnan(found.loc["additivity", "p_value"]) == ((n_folds - 1) * (n_models - 1) < 2)
    assert 0 <= found.loc["normality", "p_value"] <= 1
    assert found.loc[found.index.str.startswith("smallest"), "p_value"].between(0, 1).all()
    undefined = found.loc[["spread", "sphericity", "additivity"]]
    assert (undefined.loc[undefined["p_value"].isna(), "advice"] == "").all()


FOLD = np.linspace(0.5, 0.9, 8)[:, None]


@pytest.mark.parametrize("values", [
    np.tile(FOLD, 3), np.full((8, 3), 0.7), FOLD + 1e-16 * np.arange(3), FOLD + 0.02 * np.arange(3)
])  # fmt: skip
def test_tables_without_residual_variation(values):
    found = checked(values)
    assert found.loc[["normality", "spread", "sphericity", "additivity"], "p_value"].isna().all()
    assert (found.loc[["normality", "spread", "sphericity", "additivity"], "advice"] == "").all()


def test_many_models_and_folds():
    found = checked(random_table(2, 30))
    assert 0 <= found.loc["smallest_p_permutation", "p_value"] < 1e-30
    found = checked(random_table(1001, 5))  # more residuals than Shapiro and Wilk's test is made for
    assert np.isnan(found.loc["normality", "p_value"])
    assert 0 <= checked(random_table(1000, 5)).loc["normality", "p_value"] <= 1
    assert checked(random_table(1200, 5)).loc["smallest_p_sign_flip", "p_value"] == 0


def test_additivity_where_nothing_varies():
    noise = 0.01 * np.random.default_rng(0).normal(size=(6, 3))
    assert np.isnan(additivity_test(np.full((6, 3), 0.7))).all()
    by_fold = noise - noise.mean(axis=0)
    assert np.isnan(additivity_test(0.7 + by_fold)).all()  # models alike on average
    assert not np.isnan(additivity_test(0.7 + noise)).any()
    assert np.isnan(additivity_test(random_table(2, 2))).all()


@pytest.mark.parametrize("scale", [1.0, 1e12])
def test_additivity_where_one_product_leaves_nothing(scale):
    fold, model = np.array([[-0.3], [0.1], [0.2]]), np.array([-0.1, -0.3, 0.4])
    values = scale * (0.7 + fold + model + fold * model)
    assert np.isnan(additivity_test(values)).all()
    assert not np.isnan(additivity_test(values + 0.01 * scale * np.eye(3))).any()


def test_tests_for_independent_folds_are_advised_where_folds_are():
    result = compare(load_satellite_scores())
    advice = result.tables["assumptions"].set_index("check").loc["normality", "advice"]
    assert advice.endswith(
        "where folds are independent, read sign_flip and friedman in result.tests (tables/tests.csv of --out)"
    )
    assert {"sign_flip", "friedman"} <= set(result.tests["test"])
