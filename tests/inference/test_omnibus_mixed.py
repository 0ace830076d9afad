import numpy as np
import pandas as pd
import pytest
from fold_tables import INPUTS, REFERENCE, frame_of, means_of, r_number, random_table
from loops import each
from scipy import stats

from skewanova import SkewanovaWarning
from skewanova.inference import mixed_model_anova, two_way_anova
from skewanova.inference.anova import IDENTICAL_MODELS, NO_RESIDUAL_VARIATION

NO_FOLDS = "the mixed model finds no variation between folds, so F is that of a one-way ANOVA"
MORE = dict(iter(pd.read_csv(REFERENCE / "r_mixed_inputs.csv").groupby("input")))


def row_of(frame):
    return mixed_model_anova(frame, role="secondary").to_frame().iloc[0]


def with_gaps(values, cells):
    values = values.copy()
    for fold, model in cells:
        values[fold, model] = np.nan
    return frame_of(values)


@pytest.mark.parametrize("name", INPUTS)
def test_complete_tables_give_the_blocked_f(name):
    expected, row = two_way_anova(means_of(name)).row("model"), row_of(means_of(name))
    assert (row["df"], row["df_error"]) == (expected["df"], expected["df_error"])
    for column in ("statistic", "p_value"):
        assert row[column] == pytest.approx(expected[column], rel=1e-9, abs=0)


@each("name", [*INPUTS, "unbalanced", "unbalanced_folds", "smallest", "halves"])
def test_equals_lme4_to_its_tolerance(name):
    frame = MORE[name] if name in MORE else means_of(name)
    row, (n_models, n_folds) = row_of(frame), frame[["model", "fold"]].nunique()
    assert row[["test", "role", "term", "response"]].tolist() == ["mixed", "secondary", "model", "iauprec"]
    assert np.isnan(row["sum_sq"])
    assert row["statistic"] == pytest.approx(r_number("r_mixed.csv", name, "mixed", "statistic"), rel=1e-7)
    assert row["df_error"] == len(frame) - n_folds - n_models + 1
    p_value = stats.f.sf(row["statistic"], n_models - 1, row["df_error"])
    assert row["p_value"] == pytest.approx(p_value, rel=1e-12)


def test_no_variation_between_folds_equals_lme4_and_is_remarked_on():
    assert r_number("r_mixed.csv", "boundary", "mixed", "variance_ratio") == 0
    with pytest.warns(SkewanovaWarning, match=f"^{NO_FOLDS}$"):
        result = mixed_model_anova(MORE["boundary"])
    assert result.warnings == (NO_FOLDS,)
    expected = r_number("r_mixed.csv", "boundary", "mixed", "statistic")
    assert result.to_frame()["statistic"].iloc[0] == pytest.approx(expected, rel=1e-9)


def test_order_names_and_units_do_not_matter():
    frame = with_gaps(random_table(8, 3, seed=4, effect=0.01), [(0, 0), (3, 2)])
    expected = row_of(frame)["statistic"]
    names = {"M0": "C(f)", "M1": "y", "M2": "m]"}
    shuffled = frame.assign(model=frame["model"].map(names)).sample(frac=1, random_state=0)
    assert row_of(shuffled)["statistic"] == pytest.approx(expected, rel=1e-9)
    small = row_of(frame.assign(iauprec=1e-6 * frame["iauprec"]))
    assert small["statistic"] == pytest.approx(expected, rel=1e-6)
    labelled = frame.assign(fold=frame["fold"].map(str).astype("category"))
    assert row_of(labelled)["statistic"] == pytest.approx(expected, rel=1e-12)


FOLD = np.linspace(0.6, 0.9, 8)[:, None]


@pytest.mark.parametrize("level", [FOLD, np.full((8, 1), 0.7)])
def test_identical_models_are_undefined(level):
    with pytest.warns(SkewanovaWarning, match="identical in every fold"):
        result = mixed_model_anova(with_gaps(np.tile(level, 3), [(0, 0), (5, 2)]))
    assert result.warnings == (IDENTICAL_MODELS,)
    assert result.to_frame()[["statistic", "p_value"]].isna().all(axis=None)


def test_constant_differences_have_p_0():
    with pytest.warns(SkewanovaWarning, match="no residual variation"):
        result = mixed_model_anova(with_gaps(FOLD + 0.02 * np.arange(3), [(0, 0)]))
    assert result.warnings == (NO_RESIDUAL_VARIATION,)
    assert result.to_frame()["statistic"].iloc[0] == np.inf
    assert result.to_frame()["p_value"].iloc[0] == 0


def test_nearly_constant_differences():
    noise = 1e-5 * np.random.default_rng(0).normal(size=(8, 3))
    frame = frame_of(FOLD + 0.02 * np.arange(3) + noise)
    expected = two_way_anova(frame).row("model")["statistic"]
    assert row_of(frame)["statistic"] == pytest.approx(expected, rel=1e-6)


def test_errors():
    frame = frame_of(random_table(3, 2))
    for rows, message in (
        ([1, 2, 3, 5], "a mixed model of 2 models and 3 folds needs at least 5 rows, but has 4; add folds"),
        ([*range(6), 0], "the frame must have one row for each model and fold, but 1 more"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            mixed_model_anova(frame.iloc[rows])
