from functools import partial

import numpy as np
import pandas as pd
import pytest
from fold_tables import (
    INPUTS,
    REFERENCE,
    auprec_of,
    evaluation_of,
    frame_of,
    long_frame_of,
    means_of,
    r_number,
    random_table,
    recorded,
    table_of,
)
from loops import each
from messages import exact, expect_error, expect_warning
from scipy import stats

from skewanova import SkewanovaWarning
from skewanova.inference import mixed_model_anova, omnibus, omnibus_test, sphericity, split_plot_anova
from skewanova.inference.anova import ANOVA_COLUMNS, IDENTICAL_MODELS, NO_RESIDUAL_VARIATION, two_way_anova
from skewanova.inference.catalogue import get_test
from skewanova.inference.fold_statistics import blocked_test, gg_test, permutation_test, sign_flip_test

RATIO = 0.25
TESTS = {
    method: partial(omnibus_test, method=method, **({"ratio": RATIO} if get_test(method).needs_ratio else {}))
    for method in omnibus.OMNIBUS_TESTS
    if not get_test(method).needs_halvings  # which frames lack: tests/comparison/test_analysis.py
}
VARIED = [name for name in TESTS if name != "friedman"]


FOLD = np.linspace(0.6, 0.9, 8)[:, None]


def row_of(result):
    frame = result.to_frame()
    assert len(frame) == 1
    return frame.iloc[0]


R_ROWS = {
    "repeated_measures": ("r_repeated_measures.csv", "afex_model",
                          {"statistic": "statistic", "df": "gg_df", "df_error": "gg_df_error",
                           "p_value": "gg_p_value", "sum_sq": "sum_sq"}),
    "friedman": ("r_pairs.csv", "iman_davenport",
                 {name: name for name in ("statistic", "df", "df_error", "p_value")}),
    **{test: ("r_repeated_measures.csv", test, {n: n for n in ("statistic", "df", "df_error", "p_value")})
       for test in ("hotelling", "corrected_f", "corrected_gg", "corrected_hotelling")},
}  # fmt: skip


@each("name", INPUTS)
@each("test", R_ROWS)
def test_rows_equal_r(test, name):
    file, recorded, quantities = R_ROWS[test]
    row = row_of(TESTS[test](means_of(name)))
    for column, quantity in quantities.items():
        expected = r_number(file, name, recorded, quantity)
        assert float(row[column]) == pytest.approx(expected, rel=1e-9, abs=0), column


@each("test", TESTS)
def test_every_test_fills_the_same_columns_of_any_table(test):
    result = TESTS[test](means_of("balanced"), role="primary")
    row = row_of(result)
    assert tuple(row.index) == ANOVA_COLUMNS
    assert (row["test"], row["role"], row["response"], row["term"]) == (test, "primary", "iauprec", "model")
    assert (result.test, result.role, result.response) == (test, "primary", "iauprec")
    assert result.warnings == ()
    assert np.isnan(row["breakdown_correlation"])
    assert row[["sum_sq", "mean_sq", "partial_eta_sq"]].isna().all() == (test == "friedman")
    frame = result.to_frame()
    frame["test"] = "changed"
    assert row_of(result)["test"] == test  # a copy
    for n_models in (2,) if "hotelling" in test or test == "friedman" else (2, 5):
        assert 0 < row_of(TESTS[test](frame_of(random_table(2, n_models))))["p_value"] <= 1


@each("test", VARIED)
def test_sums_of_squares_of_any_and_of_constant_differences(test):
    expected = two_way_anova(means_of("balanced")).row("model")
    row = row_of(TESTS[test](means_of("balanced")))
    for column in ("sum_sq", "mean_sq"):
        assert row[column] == pytest.approx(expected[column], rel=1e-9)
    scaled = row["statistic"] * row["df"]
    assert row["partial_eta_sq"] == pytest.approx(scaled / (scaled + row["df_error"]), rel=1e-9)
    with pytest.warns(SkewanovaWarning, match=exact(NO_RESIDUAL_VARIATION)):
        row = row_of(TESTS[test](frame_of(FOLD + 0.03 * np.arange(3))))
    assert (row["statistic"], row["p_value"]) == (np.inf, 0)


def test_resampling_rows_hold_their_p_and_halvings_are_enough():
    frame = means_of("heteroscedastic")
    for method, kernel in (("sign_flip", sign_flip_test), ("permutation", permutation_test)):
        row = row_of(omnibus_test(frame, method=method, n_resamples=299, rng=4))
        assert row["statistic"] == pytest.approx(two_way_anova(frame).row("model")["statistic"], rel=1e-9)
        expected = kernel(table_of("heteroscedastic"), n_resamples=299, rng=4)
        assert row["p_value"] == pytest.approx(float(expected), abs=1e-15)
    # One for each model but one, on differences that vary; then the folds are not asked.
    alike = random_table(6, 3)[:, [0, 1, 2, 2]]
    halves, names = random_table(3, 4, seed=5), ("ABCD", "split_half_hotelling")
    for enough in (halves, random_table(5, 4, seed=6)):
        omnibus._check_has_full_rank(alike, enough, *names)
    message = (
        "Hotelling's test of 4 models needs at least 3 halvings, but has 2; add halvings, or use "
        "method='split_half_gg'"
    )
    expect_error(exact(message), omnibus._check_has_full_rank, random_table(6, 4), halves[:2], *names)
    with pytest.raises(ValueError, match="other models determine those of 'D'; leave"):
        omnibus._check_has_full_rank(alike, halves[:, [0, 1, 2, 2]], *names)


@pytest.mark.parametrize("method", ["sign_flip", "permutation"])
def test_random_arrangements_by_default(method):
    """9,999 of them and the table itself, by the same seed."""
    frame = frame_of(random_table(18, 3))
    p_value = row_of(omnibus_test(frame, method=method))["p_value"]
    assert 0.01 < p_value < 0.99
    assert p_value * 10_000 == pytest.approx(round(p_value * 10_000), abs=1e-8)
    assert p_value == row_of(omnibus_test(frame, method=method, rng=0))["p_value"]


def test_folds_without_variation_are_tested_by_halvings_that_vary(monkeypatch):
    flat, halves = FOLD + 0.03 * np.arange(3), random_table(5, 3)
    monkeypatch.setattr(omnibus, "half_differences", lambda *_, **__: halves)
    expected = gg_test(flat, halves=halves)
    assert row_of(omnibus_test(frame_of(flat), method="split_half_gg"))["statistic"] == expected.statistic
    halves = np.full((5, 3), 0.7)
    with pytest.warns(SkewanovaWarning, match=exact(NO_RESIDUAL_VARIATION)):
        assert row_of(omnibus_test(frame_of(flat), method="split_half_gg"))["statistic"] == np.inf


NOT_HOTELLING = [name for name in VARIED if "hotelling" not in name]


@each("test", VARIED)
@each("offset", [0.0, 2e-16])
@each("level", [FOLD, np.full((8, 1), 0.7)])
def test_identical_models_are_undefined(test, level, offset):
    frame = frame_of(level + offset * np.arange(3))
    result = expect_warning(exact(IDENTICAL_MODELS), TESTS[test], frame)
    assert result.warnings == (IDENTICAL_MODELS,)
    assert row_of(result)[["statistic", "p_value"]].isna().all()
    assert row_of(result)["df"] == 2


def test_effects_of_rounding_and_degenerate_tables():
    for effect, known_as in ((1.0, IDENTICAL_MODELS), (np.nextafter(1.0, 2), NO_RESIDUAL_VARIATION)):
        found, note = omnibus.degenerate_result(effect, 1.0, limit=1.0, df=(2.0, 14.0))
        assert note == known_as
        assert np.isnan(found.statistic) == np.isnan(found.p_value) == (known_as == IDENTICAL_MODELS)
    assert omnibus.degenerate_result(1.0, np.nextafter(1.0, 2), limit=1.0, df=(2.0, 14.0)) is None
    endless = blocked_test(random_table(6, 3))._replace(statistic=np.asarray(np.inf))
    assert omnibus.make_effect_row(endless, np.eye(2))["partial_eta_sq"].item() == 1
    assert np.isnan(row_of(omnibus_test(frame_of(np.tile(FOLD, 3)), method="friedman"))["p_value"])
    row = row_of(omnibus_test(frame_of(FOLD + 0.03 * np.arange(3)), method="friedman"))
    assert (row["statistic"], row["p_value"]) == (np.inf, pytest.approx(6.0**-7))


def test_two_identical_models_among_three_and_as_many_folds_as_models():
    values = random_table(8, 2)[:, [0, 0, 1]]
    for test in NOT_HOTELLING:
        assert 0 < row_of(TESTS[test](frame_of(values)))["p_value"] < 1
    frame = frame_of(values)
    message = r"full rank, but .* other models determine those of '\w+'; leave that out$"
    expect_error(message, omnibus_test, frame, method="hotelling", error=ValueError)
    second = frame["model"].unique()[1]
    assert 0 < row_of(omnibus_test(frame[frame["model"] != second], method="hotelling"))["p_value"] < 1
    few = frame_of(random_table(3, 4))
    for method, other, options in (
        ("hotelling", "repeated_measures", {}), ("corrected_hotelling", "corrected_gg", {"ratio": 0.2}),
    ):  # fmt: skip
        message = r"^Hotelling's test of 4 models needs at least 4 folds, but has 3; add folds, or use "
        expect_error(f"{message}method='{other}'$", omnibus_test, few, method=method, **options)
        assert 0 < row_of(omnibus_test(few, method=other, **options))["p_value"] < 1
    assert row_of(omnibus_test(frame_of(random_table(4, 4)), method="hotelling"))["df_error"] == 1


def test_fold_table_has_the_order_of_appearance_and_a_level_for_a_missing_name():
    values = random_table(4, 3)
    frame = frame_of(values, ["z", "a", "m"])
    found, models = omnibus.build_fold_table(frame)
    np.testing.assert_array_equal(found, values)
    assert models == ["z", "a", "m"]
    found, models = omnibus.build_fold_table(frame[::-1])
    np.testing.assert_array_equal(found, values[::-1, ::-1])
    assert models == ["m", "a", "z"]
    values = random_table(3, 3)
    unnamed = frame_of(values).replace({"model": {"M1": None}, "fold": {1: np.nan}})
    found, models = omnibus.build_fold_table(unnamed)
    np.testing.assert_array_equal(found, values)
    assert len(models) == 3


def test_incomplete_frames():
    frame = frame_of(random_table(4, 3))
    cases = {
        "the frame must have one row for each model and fold, but 1 more rows repeat one, the first "
        "model='M0', fold=0; keep one row, or the mean, of each": pd.concat([frame, frame.iloc[:1]]),
        "`iauprec` must be present and finite for every fold and model, but is not for 1, the first "
        "fold 0 and model 'M0'; leave out all rows of each such fold or model": frame.iloc[1:],
        "the frame has the column iauprec more than once; keep one of them": pd.concat(
            [frame, frame[["iauprec"]]], axis=1
        ),
    }
    for message, broken in cases.items():
        for test in TESTS.values():
            expect_error(exact(message), test, broken, error=ValueError)
        with pytest.raises(TypeError, match="`iauprec` must hold real numbers"):
            TESTS[next(iter(TESTS))](frame.assign(iauprec="x"))
    expect_error("present and finite", omnibus_test, frame.assign(iauprec=np.inf), method="repeated_measures")


def test_an_evaluation_brings_its_design_and_no_variation_equals_lme4():
    measures = evaluation_of(random_table(10, 3), "repeated_holdout")
    known = omnibus_test(measures.iauprec, method="corrected_gg", ratio=0.25).to_frame()
    pd.testing.assert_frame_equal(omnibus_test(measures, method="corrected_gg").to_frame(), known)
    with pytest.raises(ValueError, match=r"^corrected_gg depends on how the folds were made: pass skew"):
        omnibus_test(measures.iauprec, method="corrected_gg")
    assert r_number("r_mixed.csv", "boundary", "mixed", "variance_ratio") == 0
    result = expect_warning(f"^{NO_FOLDS}$", mixed_model_anova, MORE["boundary"])
    assert result.warnings == (NO_FOLDS,)
    expected = r_number("r_mixed.csv", "boundary", "mixed", "statistic")
    assert result.to_frame()["statistic"].iloc[0] == pytest.approx(expected, rel=1e-9)


NO_FOLDS = "the mixed model finds no variation between folds, so F is that of a one-way ANOVA"
MORE = dict(iter(pd.read_csv(REFERENCE / "r_mixed_inputs.csv").groupby("input")))


def mixed_row(frame):
    return mixed_model_anova(frame, role="secondary").to_frame().iloc[0]


def with_gaps(values, cells):
    values = values.copy()
    for fold, model in cells:
        values[fold, model] = np.nan
    return frame_of(values)


@each("name", [*INPUTS, "unbalanced", "unbalanced_folds", "smallest", "halves"])
def test_equals_lme4_to_its_tolerance(name):
    frame = MORE[name] if name in MORE else means_of(name)
    row, (n_models, n_folds) = mixed_row(frame), frame[["model", "fold"]].nunique()
    assert row[["test", "role", "term", "response"]].tolist() == ["mixed", "secondary", "model", "iauprec"]
    assert np.isnan(row["sum_sq"])
    assert row["statistic"] == pytest.approx(r_number("r_mixed.csv", name, "mixed", "statistic"), rel=1e-7)
    if name in INPUTS:  # complete
        expected = two_way_anova(frame).row("model")["statistic"]
        assert row["statistic"] == pytest.approx(expected, rel=1e-9, abs=0)
    assert (row["df"], row["df_error"]) == (n_models - 1, len(frame) - n_folds - n_models + 1)
    p_value = stats.f.sf(row["statistic"], n_models - 1, row["df_error"])
    assert row["p_value"] == pytest.approx(p_value, rel=1e-12)


def test_order_names_units_and_constant_differences():
    frame = with_gaps(random_table(8, 3, seed=4, effect=0.01), [(0, 0), (3, 2)])
    expected = mixed_row(frame)["statistic"]
    names = {"M0": "C(f)", "M1": "y", "M2": "m]"}
    shuffled = frame.assign(model=frame["model"].map(names)).sample(frac=1, random_state=0)
    assert mixed_row(shuffled)["statistic"] == pytest.approx(expected, rel=1e-9)
    small = mixed_row(frame.assign(iauprec=1e-6 * frame["iauprec"]))
    assert small["statistic"] == pytest.approx(expected, rel=1e-6)
    labelled = frame.assign(fold=frame["fold"].map(str).astype("category"))
    assert mixed_row(labelled)["statistic"] == pytest.approx(expected, rel=1e-12)
    with pytest.warns(SkewanovaWarning, match="no residual variation"):
        result = mixed_model_anova(with_gaps(FOLD + 0.02 * np.arange(3), [(0, 0)]))
    assert result.warnings == (NO_RESIDUAL_VARIATION,)
    assert (result.to_frame()["statistic"].iloc[0], result.to_frame()["p_value"].iloc[0]) == (np.inf, 0)
    noise = 1e-5 * np.random.default_rng(0).normal(size=(8, 3))
    frame = frame_of(FOLD + 0.02 * np.arange(3) + noise)
    expected = two_way_anova(frame).row("model")["statistic"]
    assert mixed_row(frame)["statistic"] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("level", [FOLD, np.full((8, 1), 0.7)])
def test_identical_models_are_undefined_in_a_mixed_model(level):
    with pytest.warns(SkewanovaWarning, match="identical in every fold"):
        result = mixed_model_anova(with_gaps(np.tile(level, 3), [(0, 0), (5, 2)]))
    assert result.warnings == (IDENTICAL_MODELS,)
    assert result.to_frame()[["statistic", "p_value"]].isna().all(axis=None)


def test_errors():
    frame = frame_of(random_table(3, 2))
    for rows, message in (
        ([1, 2, 3, 5], "a mixed model of 2 models and 3 folds needs at least 5 rows, but has 4; add the"),
        ([*range(6), 0], "the frame must have one row for each model and fold, but 1 more"),
    ):
        expect_error(f"^{message}", mixed_model_anova, frame.iloc[rows], error=ValueError)


FILE = "r_repeated_measures.csv"
TERMS = ("model", "prior", "model:prior")
PRIORS = (0.5, 0.2, 0.1)


def close(found, expected, rel=1e-9):
    assert float(found) == pytest.approx(expected, rel=rel, abs=0)


def random_cube(n_folds, n_models, n_priors, *, seed=0):
    rng = np.random.default_rng(seed)
    fold = rng.normal(size=(n_folds, 1, 1)) + rng.normal(size=(n_folds, n_models, 1))
    return 0.7 + 0.02 * (fold + rng.normal(size=(n_folds, n_models, n_priors)))


@each("name", INPUTS)
@each("term", TERMS)
def test_strata_and_sphericity_equal_aov_and_afex(name, term):
    row = split_plot_anova(auprec_of(name), ratio=0).to_frame().set_index("term").loc[term]
    stratum = f"fold:{term}/{term}"
    close(row["sum_sq"], r_number(FILE, name, "split_plot", "sum_sq", term=stratum))
    close(row["mean_sq"], r_number(FILE, name, "split_plot", "mean_sq", term=stratum))
    close(row["statistic"], r_number(FILE, name, "split_plot", "statistic", term=stratum))
    error = r_number(FILE, name, "split_plot", "sum_sq", term=f"fold:{term}/residuals")
    close(row["partial_eta_sq"], row["sum_sq"] / (row["sum_sq"] + error))
    numbers = recorded(FILE)
    if (name, "afex_model_prior", term, "gg_p_value") in numbers:
        for column, quantity in (("df", "gg_df"), ("df_error", "gg_df_error"), ("p_value", "gg_p_value")):
            close(row[column], r_number(FILE, name, "afex_model_prior", quantity, term=term))
    row = sphericity(auprec_of(name)).set_index("term").loc[term]
    close(row["p_uncorrected"], r_number(FILE, name, "afex_model_prior", "p_value", term=term))
    numbers = recorded(FILE)
    if (name, "afex_model_prior", term, "gg_epsilon") not in numbers:
        return
    close(row["epsilon_gg"], r_number(FILE, name, "afex_model_prior", "gg_epsilon", term=term))
    close(row["p_gg"], r_number(FILE, name, "afex_model_prior", "gg_p_value", term=term))
    close(row["epsilon_hf"], min(r_number(FILE, name, "afex_model_prior", "hf_epsilon", term=term), 1.0))
    close(row["p_hf"], r_number(FILE, name, "afex_model_prior", "hf_p_value", term=term))
    if (name, "afex_model_prior", term, "mauchly_w") in numbers:
        close(row["mauchly_w"], r_number(FILE, name, "afex_model_prior", "mauchly_w", term=term), rel=1e-8)


@pytest.mark.parametrize("ratio", [0.0, 0.25])
def test_the_ratio_divides_f_and_leaves_the_degrees_of_freedom(ratio):
    plain = split_plot_anova(auprec_of("balanced"), ratio=0).to_frame()
    result = split_plot_anova(auprec_of("balanced"), ratio=ratio, role="secondary")
    found = result.to_frame()
    assert (tuple(found.columns), tuple(found["term"])) == (ANOVA_COLUMNS, TERMS)
    assert set(found["response"]) == {"auprec"}
    assert found["breakdown_correlation"].isna().all()
    assert result.test == ("corrected_gg" if ratio else "repeated_measures")
    assert set(found["test"]) == {result.test}
    np.testing.assert_allclose(found["statistic"], plain["statistic"] / (1 + 20 * ratio), rtol=1e-12)
    np.testing.assert_array_equal(found[["df", "df_error"]], plain[["df", "df_error"]])
    expected = stats.f.sf(found["statistic"], found["df"], found["df_error"])
    np.testing.assert_allclose(found["p_value"], expected, rtol=1e-12)


@pytest.mark.parametrize("noise", [0.0, 1e-16])
def test_identical_models(noise):
    cube = np.repeat(random_cube(6, 1, 3), 3, axis=1) + noise * np.arange(3)[:, None]
    result = expect_warning("identical in every fold", split_plot_anova, long_frame_of(cube, PRIORS), ratio=0)
    found = result.to_frame().set_index("term")
    assert result.warnings == (IDENTICAL_MODELS,)
    assert found.loc[["model", "model:prior"], ["statistic", "p_value"]].isna().all(axis=None)
    assert 0 < found.loc["prior", "p_value"] < 1
    checks = sphericity(long_frame_of(cube, PRIORS)).set_index("term")
    assert checks.loc[["model", "model:prior"]].isna().all(axis=None)
    assert checks.loc["prior"].notna().all()


def test_constant_differences_and_errors_of_split_plots():
    cube = random_cube(6, 1, 3) + 0.05 * np.arange(3)[:, None]
    with pytest.warns(SkewanovaWarning, match="no residual variation"):
        result = split_plot_anova(long_frame_of(cube, PRIORS), ratio=0.25)
    found = result.to_frame().set_index("term")
    assert result.warnings == (NO_RESIDUAL_VARIATION,)
    assert (found.loc["model", "statistic"], found.loc["model", "p_value"]) == (np.inf, 0)
    assert np.isnan(found.loc["model:prior", "p_value"])
    frame = long_frame_of(random_cube(4, 3, 3), PRIORS)
    missing = "`auprec` must be present and finite for every fold and model and prior, but is not"
    for broken, message in (
        (frame[frame["prior"] == 0.5], "the test needs at least 2 priors, but has 1; evaluate at more"),
        (pd.concat([frame, frame.iloc[:1]]), "the frame must have one row for each model and fold and prior"),
        (frame.iloc[1:], missing),
    ):
        expect_error(f"^{message}", split_plot_anova, broken, ratio=0, error=ValueError)
        expect_error(f"^{message}", sphericity, broken, error=ValueError)


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 4, 3), (3, 2, 2), (3, 5, 4)])
def test_few_folds(shape):
    frame = long_frame_of(random_cube(*shape), range(shape[2]))
    assert split_plot_anova(frame, ratio=0).to_frame()["p_value"].between(0, 1).all()
    found = sphericity(frame)
    n_folds = shape[0]
    size = np.array([shape[1] - 1, shape[2] - 1, (shape[1] - 1) * (shape[2] - 1)])
    np.testing.assert_array_equal(found["mauchly_p"].notna(), (size > 1) & (size < n_folds))
    np.testing.assert_array_equal(found["epsilon_hf"].notna(), (size == 1) | (n_folds > 2))
    assert found["epsilon_gg"].notna().all()
