import numpy as np
import pandas as pd
import pytest
from fold_tables import INPUTS, frame_of, means_of, r_number, random_table, table_of
from loops import each
from messages import expect_error, expect_warning
from scipy import stats
from scipy.linalg import helmert
from statsmodels.graphics.gofplots import plotting_pos

from skewanova import compare, evaluate, load_satellite_scores
from skewanova.inference import assumptions, diagnostics, fold_statistics, residual_quantiles, soundness
from skewanova.inference.anova import three_way_anova, two_way_anova
from skewanova.inference.diagnostics import CHECK_COLUMNS, ENVELOPES, additivity_test

CHECKS = [
    "normality", "spread", "sphericity", "additivity", "fold_imbalance", "ceiling", "smallest_p_sign_flip",
    "smallest_p_permutation", "smallest_p_wilcoxon_holm",
]  # fmt: skip


def checked(values, **options):
    found = assumptions(values if hasattr(values, "columns") else frame_of(values, n_positive=50), **options)
    assert (tuple(found.columns), found["check"].tolist()) == (CHECK_COLUMNS, CHECKS)
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


def test_advice_where_an_assumption_fails_or_the_ceiling_is_near():
    told = [bool(advised(random_table(20, 4, seed=seed))) for seed in range(20)]
    assert sum(told) <= 8  # 4 tests at .05 each
    assert advised(random_table(20, 4, seed=3)) == set()
    values = random_table(20, 4, seed=3)
    values[4, 2] -= 0.3
    assert "normality" in advised(values)
    noise = np.random.default_rng(0).normal(size=(20, 4)) * (0.002, 0.01, 0.02, 0.06)
    assert {"spread", "sphericity"} <= advised(0.7 + noise)
    level, noise = np.linspace(0.2, 0.9, 15)[:, None], 0.005 * np.random.default_rng(0).normal(size=(15, 3))
    assert "additivity" in advised(level * (1 + 0.2 * np.arange(3)) / 1.5 + noise)
    assert "additivity" not in advised(level + 0.05 * np.arange(3) + noise)
    noise = np.random.default_rng(0).uniform(0, 0.02, size=(12, 3))
    assert "ceiling" in advised(1 - noise)
    assert "ceiling" not in advised(0.9 - noise)
    row = checked(np.hstack([np.ones((12, 1)), 0.9 - noise])).loc["ceiling"]
    assert row["statistic"] == 0
    assert row["advice"]
    assert checked(np.hstack([0.95 + 0 * noise[:, :1], 0.9 - noise])).loc["ceiling", "statistic"] == np.inf


@pytest.mark.parametrize(("fewest", "told"), [(10, True), (25, False), (24, True)])
def test_advice_on_imbalance(fewest, told):
    frame = frame_of(random_table(4, 2)).assign(n_positive=[fewest, 50, 50, 50] * 2)
    advice = checked(frame).loc["fold_imbalance", "advice"]
    assert bool(advice) == told
    if told:
        assert f"a factor of {50 / fewest:.2g} in positives" in advice


@pytest.mark.parametrize(("distance", "told"), [(1.99, True), (2.01, False)])
def test_the_ceiling_is_close_within_two_deviations(distance, told):
    noise = np.random.default_rng(0).normal(size=(12, 2))
    noise = 0.01 * (noise - noise.mean(axis=0)) / noise.std(axis=0, ddof=1)
    row = checked(1 - 0.01 * distance + noise - [0.0, 0.1]).loc["ceiling"]
    assert (row["statistic"], bool(row["advice"])) == (pytest.approx(distance), told)


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


def test_many_models_tables_without_variation_and_independent_folds():
    found = checked(random_table(2, 30))
    assert 0 <= found.loc["smallest_p_permutation", "p_value"] < 1e-30
    found = checked(random_table(1001, 5))  # more residuals than Shapiro and Wilk's test is made for
    assert np.isnan(found.loc["normality", "p_value"])
    assert 0 <= checked(random_table(1000, 5)).loc["normality", "p_value"] <= 1
    assert checked(random_table(1200, 5)).loc["smallest_p_sign_flip", "p_value"] == 0
    noise = 0.01 * np.random.default_rng(0).normal(size=(6, 3))
    assert np.isnan(additivity_test(np.full((6, 3), 0.7))).all()
    by_fold = noise - noise.mean(axis=0)
    assert np.isnan(additivity_test(0.7 + by_fold)).all()  # models alike on average
    assert not np.isnan(additivity_test(0.7 + noise)).any()
    assert np.isnan(additivity_test(random_table(2, 2))).all()
    result = compare(load_satellite_scores())
    advice = result.tables["assumptions"].set_index("check").loc["normality", "advice"]
    said = (
        "where folds are independent, read sign_flip and friedman in result.tests (tables/tests.csv of --out)"
    )
    assert advice.endswith(said)
    assert {"sign_flip", "friedman"} <= set(result.tests["test"])


@pytest.mark.parametrize("scale", [1.0, 1e12])
def test_additivity_where_one_product_leaves_nothing(scale):
    fold, model = np.array([[-0.3], [0.1], [0.2]]), np.array([-0.1, -0.3, 0.4])
    values = scale * (0.7 + fold + model + fold * model)
    assert np.isnan(additivity_test(values)).all()
    assert not np.isnan(additivity_test(values + 0.01 * scale * np.eye(3))).any()


QUANTILE_COLUMNS = ("residual", "standardized", *ENVELOPES)

N_FOLDS, N_MODELS = 6, 4


def long(values, name="iauprec"):
    return frame_of(values).rename(columns={"iauprec": name})


def slow_standardized(values):
    """Residuals of a complete table by its means, over the root of the residual mean square."""
    rows, columns = values.mean(axis=1, keepdims=True), values.mean(axis=0, keepdims=True)
    residual = values - rows - columns + values.mean()
    df = (values.shape[0] - 1) * (values.shape[1] - 1)
    return np.sort((residual / np.sqrt((residual**2).sum() / df)).ravel())


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(3).normal(size=(N_FOLDS, N_MODELS)) + np.arange(N_MODELS)


@pytest.fixture(scope="module")
def found(values):
    return residual_quantiles(two_way_anova(long(values)))


def test_residuals_are_ordered_and_standardized_from_result_or_frame(found, values):
    assert tuple(found) == ("model", "fold", *QUANTILE_COLUMNS)
    np.testing.assert_allclose(found["standardized"], slow_standardized(values), atol=1e-10)
    assert found["residual"].is_monotonic_increasing
    assert found.index.tolist() == list(range(N_FOLDS * N_MODELS))
    scale = float(np.sqrt(two_way_anova(long(values)).row("residual")["mean_sq"]))
    np.testing.assert_allclose(found["residual"] / scale, found["standardized"], atol=1e-10)
    bloms = stats.norm.ppf(plotting_pos(N_FOLDS * N_MODELS, a=0.375))
    np.testing.assert_allclose(found["theoretical"], bloms, rtol=1e-12)
    frame = two_way_anova(long(values)).residuals()
    pd.testing.assert_frame_equal(residual_quantiles(frame), found)
    pd.testing.assert_frame_equal(residual_quantiles(frame, n_draws=4999, rng=0), found)


def test_envelopes_hold_what_they_say(found):
    rng = np.random.default_rng(11)
    fresh = np.array([slow_standardized(rng.normal(size=(N_FOLDS, N_MODELS))) for _ in range(3000)])
    names = ("pointwise", "simultaneous")
    limits = {name: found[[f"{name}_low", f"{name}_high"]].to_numpy().T for name in names}
    inside = {name: (fresh >= low) & (fresh <= high) for name, (low, high) in limits.items()}
    assert np.abs(inside["pointwise"].mean(axis=0) - 0.95).max() < 0.025
    assert inside["simultaneous"].all(axis=1).mean() == pytest.approx(0.95, abs=0.02)
    assert inside["pointwise"].all(axis=1).mean() < 0.85
    assert (found["simultaneous_low"] < found["pointwise_low"]).all()
    assert (found["simultaneous_high"] > found["pointwise_high"]).all()


def test_levels_draws_and_options_are_checked(values):
    result = two_way_anova(long(values))
    narrow, wide = (residual_quantiles(result, confidence_level=level, n_draws=999) for level in (0.8, 0.99))
    for name in ("pointwise", "simultaneous"):
        assert (wide[f"{name}_high"] > narrow[f"{name}_high"]).all()
    pd.testing.assert_frame_equal(narrow, residual_quantiles(result, confidence_level=0.8, n_draws=999))
    other = residual_quantiles(result, confidence_level=0.8, n_draws=999, rng=1)
    assert not np.allclose(narrow["pointwise_low"], other["pointwise_low"])
    expect_error("`n_draws` must", residual_quantiles, two_way_anova(long(values)), n_draws=9)
    flat = pd.DataFrame({"model": list("AABB"), "fold": [1, 2, 1, 2], "fitted": 0.5, "residual": 0.0})
    expect_error("variation; give at least 2 models a row in each of at least 2", residual_quantiles, flat)
    expect_error("but lacks fitted", residual_quantiles, long(values, "residual"))
    expect_error("but lacks model", residual_quantiles, pd.DataFrame({"fold": [1, 2]}))


@pytest.mark.parametrize("interaction", [False, True])
def test_the_interaction_of_models_and_priors_is_swept_too(interaction):
    rng = np.random.default_rng(5)
    frame = pd.concat([long(rng.normal(size=(5, 3)), "auprec").assign(prior=p) for p in (0.5, 0.1)])
    result = three_way_anova(frame, interaction=interaction)
    found = residual_quantiles(result, n_draws=99)
    row = result.row("residual")
    df = 29 - 2 - 4 - 1 - 2 * interaction
    assert row["df"] == df
    # so the draws have the same scale as the residuals
    np.testing.assert_allclose((found["standardized"] ** 2).sum(), df, rtol=1e-9)
    assert list(found)[:3] == ["model", "fold", "prior"]


@pytest.mark.parametrize(("missing", "crossed"), [([], False), ([], True), ([3, 10], False)])
def test_effects_are_taken_out_as_by_least_squares(missing, crossed):
    names = ["model", "fold", "prior"]
    frame = pd.MultiIndex.from_product([list("abc"), range(4), [0.5, 0.1]], names=names).to_frame(index=False)
    frame = frame.drop(index=missing)
    factors = [frame[name].astype(str) for name in names]
    factors += [factors[0] + factors[2]] * crossed
    columns = np.hstack([pd.get_dummies(factor).to_numpy(dtype=float) for factor in factors])
    rows = np.random.default_rng(0).normal(size=(2, len(frame)))
    effects = np.linalg.lstsq(columns, rows.T, rcond=None)[0]
    terms = [[name] for name in names] + [["model", "prior"]] * crossed
    basis = diagnostics._effect_basis(frame, terms)
    assert basis.shape[1] == np.linalg.matrix_rank(columns)
    np.testing.assert_allclose(rows @ basis @ basis.T, (columns @ effects).T, atol=1e-12)


def test_residual_degrees_of_freedom_and_checks_of_scipy(values):
    found = residual_quantiles(two_way_anova(long(np.array([[0.5, 0.7], [0.6, 0.9]]))), n_draws=99)
    assert found["standardized"].to_numpy() == pytest.approx([-0.5, -0.5, 0.5, 0.5])
    frame = two_way_anova(long(values)).residuals().drop(index=[3, 8])
    found = residual_quantiles(frame, n_draws=99)
    spare = N_FOLDS * N_MODELS - 2 - 1 - (N_FOLDS - 1) - (N_MODELS - 1)
    scale = np.sqrt((frame["residual"] ** 2).sum() / spare)
    np.testing.assert_allclose(found["standardized"], np.sort(frame["residual"] / scale), rtol=1e-9)
    frame = long(values).astype({"model": "category"})
    frame["model"] = frame["model"].cat.add_categories("nobody")
    result = two_way_anova(frame)
    found = diagnostics.residuals(result).set_index("check")
    residual = result.residuals()
    groups = [part["residual"] for _, part in residual.groupby("model", observed=True)]
    assert tuple(found.loc["shapiro_wilk"]) == tuple(stats.shapiro(residual["residual"]))
    assert tuple(found.loc["brown_forsythe"]) == tuple(stats.levene(*groups, center="median"))


def test_spread_has_no_test_where_the_residuals_of_each_model_are_of_one_size():
    size = np.array([1, -1, -1, 1])[:, None] * [0.05, 0.03, -0.08]
    result = two_way_anova(long(0.5 + size))
    assert diagnostics.residuals(result).set_index("check").loc["brown_forsythe"].isna().all()
    checks = diagnostics.assumptions(long(0.5 + size)).set_index("check")
    assert checks.loc["spread", ["statistic", "p_value"]].isna().all()


@pytest.mark.parametrize("level", [0.3, 0.9])
def test_the_envelope_of_ranks_is_the_narrowest_that_holds_the_share(level):
    draws = np.sort(np.random.default_rng(2).normal(size=(400, 5)), axis=1)

    def share(cut):
        ends = np.sort(draws, axis=0)[[cut, 399 - cut]]
        return ((draws >= ends[0]) & (draws <= ends[1])).all(axis=1).mean(), ends

    low, high = diagnostics._rank_envelope(draws, level)
    cut = max(k for k in range(200) if share(k)[0] >= level)
    np.testing.assert_array_equal([low, high], share(cut)[1])


SETTINGS = {"deployment_prior": (0.3, 0.6), "at_priors": (0.5, 0.4)}


def table(quality, n=240):
    """Folds of models whose quality is given by model and fold."""
    rng = np.random.default_rng(3)
    label = np.arange(n) % 2
    parts = []
    for model, values in quality.items():
        for fold, value in enumerate(values):
            cases = {"case": fold * n + np.arange(n), "y_true": label}
            score = label * value + rng.normal(size=n)
            parts.append(pd.DataFrame({"model": model, "fold": fold, **cases, "y_score": score}))
    return pd.concat(parts, ignore_index=True)


def checked_by_model(quality):
    return soundness(evaluate(table(quality), **SETTINGS)).set_index("check")


def test_rankings_turned_and_collapses_in_some_folds_are_named_once():
    checks = checked_by_model({"good": [1.5] * 5, "turned": [-1.0] * 5})
    assert checks.loc["smallest_auc", "statistic"] == pytest.approx(0.24, abs=0.05)
    assert "worse than chance: 'turned' (AUC 0.2" in checks.loc["smallest_auc", "advice"]
    assert checks.loc["collapsed_folds", "advice"] == ""
    checks = checked_by_model({"a": [1.5] * 6, "b": [1.5, 0, 1.5, 1.5, 0, 1.5], "c": [1.4] * 6})
    assert checks.loc["collapsed_folds", "statistic"] == 2
    told = "'b' ranks near chance in 2 of 6 folds (the first: fold 1,"
    assert told in checks.loc["collapsed_folds", "advice"]
    frame = table({"good": [1.5] * 5, "turned": [-1.0] * 5})
    result = expect_warning("worse than chance", compare, frame, **SETTINGS)
    assert len([note for note in result.warnings if "worse than chance" in note]) == 1
    assert "smallest_auc" in result.tables["assumptions"]["check"].tolist()
    summary = result.summary(10_000, full=True)
    assert summary.count("worse than chance") == 1
    assert "Tests and intervals are about methods retrained on data like these" in summary
