import numpy as np
import pandas as pd
import pytest
from fold_tables import INPUTS, auprec_of, long_frame_of, r_number, recorded
from loops import each
from scipy import stats

from skewanova import SkewanovaWarning
from skewanova.inference import sphericity, split_plot_anova
from skewanova.inference.anova import ANOVA_COLUMNS, IDENTICAL_MODELS, NO_RESIDUAL_VARIATION

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
def test_strata_equal_aov_and_afex(name, term):
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


@each("name", INPUTS)
@each("term", TERMS)
def test_sphericity_equals_afex(name, term):
    row = sphericity(auprec_of(name)).set_index("term").loc[term]
    close(row["p_uncorrected"], r_number(FILE, name, "afex_model_prior", "p_value", term=term))
    numbers = recorded(FILE)
    if (name, "afex_model_prior", term, "gg_epsilon") not in numbers:
        return
    close(row["epsilon_gg"], r_number(FILE, name, "afex_model_prior", "gg_epsilon", term=term))
    close(row["p_gg"], r_number(FILE, name, "afex_model_prior", "gg_p_value", term=term))
    raw = r_number(FILE, name, "afex_model_prior", "hf_epsilon", term=term)
    close(row["epsilon_hf"], min(raw, 1.0))
    close(row["p_hf"], r_number(FILE, name, "afex_model_prior", "hf_p_value", term=term))
    if (name, "afex_model_prior", term, "mauchly_w") in numbers:
        close(row["mauchly_w"], r_number(FILE, name, "afex_model_prior", "mauchly_w", term=term), rel=1e-8)


@pytest.mark.parametrize("ratio", [0.0, 0.25])
def test_the_ratio_divides_f_and_leaves_the_degrees_of_freedom(ratio):
    plain = split_plot_anova(auprec_of("balanced"), ratio=0).to_frame()
    result = split_plot_anova(auprec_of("balanced"), ratio=ratio, role="secondary")
    found = result.to_frame()
    assert tuple(found.columns) == ANOVA_COLUMNS
    assert tuple(found["term"]) == TERMS
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
    with pytest.warns(SkewanovaWarning, match="identical in every fold"):
        result = split_plot_anova(long_frame_of(cube, PRIORS), ratio=0)
    found = result.to_frame().set_index("term")
    assert result.warnings == (IDENTICAL_MODELS,)
    assert found.loc[["model", "model:prior"], ["statistic", "p_value"]].isna().all(axis=None)
    assert 0 < found.loc["prior", "p_value"] < 1
    checks = sphericity(long_frame_of(cube, PRIORS)).set_index("term")
    assert checks.loc[["model", "model:prior"]].isna().all(axis=None)
    assert checks.loc["prior"].notna().all()


def test_constant_differences():
    cube = random_cube(6, 1, 3) + 0.05 * np.arange(3)[:, None]
    with pytest.warns(SkewanovaWarning, match="no residual variation"):
        result = split_plot_anova(long_frame_of(cube, PRIORS), ratio=0.25)
    found = result.to_frame().set_index("term")
    assert result.warnings == (NO_RESIDUAL_VARIATION,)
    assert found.loc["model", "statistic"] == np.inf
    assert found.loc["model", "p_value"] == 0
    assert np.isnan(found.loc["model:prior", "p_value"])


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


def test_errors():
    frame = long_frame_of(random_cube(4, 3, 3), PRIORS)
    missing = "`auprec` must be present and finite for every fold and model and prior, but is not"
    for broken, message in (
        (frame[frame["prior"] == 0.5], "a split plot needs at least 2 priors, but has 1; evaluate at more"),
        (pd.concat([frame, frame.iloc[:1]]), "the frame must have one row for each model and fold and prior"),
        (frame.iloc[1:], missing),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            split_plot_anova(broken, ratio=0)
        with pytest.raises(ValueError, match=f"^{message}"):
            sphericity(broken)
