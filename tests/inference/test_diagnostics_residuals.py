"""Normal quantiles of residuals: statsmodels for the pieces, fresh simulation for what the envelopes hold."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.graphics.gofplots import plotting_pos

from skewanova import evaluate, load_satellite_scores
from skewanova.base.checks import InputError
from skewanova.inference import diagnostics, residual_quantiles, three_way_anova, two_way_anova
from skewanova.inference.diagnostics import ENVELOPES

QUANTILE_COLUMNS = ("residual", "standardized", *ENVELOPES)

N_FOLDS, N_MODELS = 6, 4


def long(values, name="iauprec"):
    rows = [(f"m{j}", i, value) for (i, j), value in np.ndenumerate(values)]
    return pd.DataFrame(rows, columns=["model", "fold", name])


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


def test_residuals_are_ordered_and_standardized(found, values):
    assert tuple(found) == ("model", "fold", *QUANTILE_COLUMNS)
    np.testing.assert_allclose(found["standardized"], slow_standardized(values), atol=1e-10)
    assert found["residual"].is_monotonic_increasing
    assert found.index.tolist() == list(range(N_FOLDS * N_MODELS))
    result = two_way_anova(long(values))
    scale = float(np.sqrt(result.row("residual")["mean_sq"]))
    np.testing.assert_allclose(found["residual"] / scale, found["standardized"], atol=1e-10)
    bloms = stats.norm.ppf(plotting_pos(N_FOLDS * N_MODELS, a=0.375))
    np.testing.assert_allclose(found["theoretical"], bloms, rtol=1e-12)


def test_envelopes_hold_what_they_say(found):
    rng = np.random.default_rng(11)
    fresh = np.array([slow_standardized(rng.normal(size=(N_FOLDS, N_MODELS))) for _ in range(3000)])
    inside = {
        name: (fresh >= found[f"{name}_low"].to_numpy()) & (fresh <= found[f"{name}_high"].to_numpy())
        for name in ("pointwise", "simultaneous")
    }
    assert np.abs(inside["pointwise"].mean(axis=0) - 0.95).max() < 0.025
    assert inside["simultaneous"].all(axis=1).mean() == pytest.approx(0.95, abs=0.02)
    assert inside["pointwise"].all(axis=1).mean() < 0.85
    assert (found["simultaneous_low"] < found["pointwise_low"]).all()
    assert (found["simultaneous_high"] > found["pointwise_high"]).all()


def test_the_frame_of_residuals_does_as_well(found, values):
    frame = two_way_anova(long(values)).residuals()
    pd.testing.assert_frame_equal(residual_quantiles(frame), found)
    pd.testing.assert_frame_equal(residual_quantiles(frame, n_draws=4999, rng=0), found)


def test_a_wider_level_is_wider_and_draws_repeat(values):
    result = two_way_anova(long(values))
    narrow, wide = (residual_quantiles(result, confidence_level=level, n_draws=999) for level in (0.8, 0.99))
    for name in ("pointwise", "simultaneous"):
        assert (wide[f"{name}_high"] > narrow[f"{name}_high"]).all()
    pd.testing.assert_frame_equal(narrow, residual_quantiles(result, confidence_level=0.8, n_draws=999))
    other = residual_quantiles(result, confidence_level=0.8, n_draws=999, rng=1)
    assert not np.allclose(narrow["pointwise_low"], other["pointwise_low"])


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


def test_options_are_checked(values):
    with pytest.raises(InputError, match="`n_draws` must"):
        residual_quantiles(two_way_anova(long(values)), n_draws=9)
    flat = pd.DataFrame({"model": list("AABB"), "fold": [1, 2, 1, 2], "fitted": 0.5, "residual": 0.0})
    with pytest.raises(InputError, match="must vary, but the analysis leaves no residual variation"):
        residual_quantiles(flat)
    with pytest.raises(InputError, match="but lacks fitted"):
        residual_quantiles(long(values, "residual"))
    with pytest.raises(InputError, match="but lacks model"):
        residual_quantiles(pd.DataFrame({"fold": [1, 2]}))


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
    basis = diagnostics._effect_basis(frame, crossed)
    assert basis.shape[1] == np.linalg.matrix_rank(columns)
    np.testing.assert_allclose(rows @ basis @ basis.T, (columns @ effects).T, atol=1e-12)


def test_one_degree_of_freedom_is_enough():
    found = residual_quantiles(two_way_anova(long(np.array([[0.5, 0.7], [0.6, 0.9]]))), n_draws=99)
    assert found["standardized"].to_numpy() == pytest.approx([-0.5, -0.5, 0.5, 0.5])


def test_envelopes_do_not_depend_on_how_much_is_worked_on_at_a_time(monkeypatch):
    result = two_way_anova(evaluate(load_satellite_scores(), at_priors=(0.5,)).iauprec)
    whole = residual_quantiles(result, n_draws=199)
    for size in (450, 1):
        monkeypatch.setattr(diagnostics, "BLOCK_SIZE", size)
        found = residual_quantiles(result, n_draws=199)
        pd.testing.assert_frame_equal(found, whole, check_exact=False, rtol=1e-12)


def test_rows_that_are_missing_leave_degrees_of_freedom(values):
    frame = two_way_anova(long(values)).residuals().drop(index=[3, 8])
    found = residual_quantiles(frame, n_draws=99)
    spare = N_FOLDS * N_MODELS - 2 - 1 - (N_FOLDS - 1) - (N_MODELS - 1)
    scale = np.sqrt((frame["residual"] ** 2).sum() / spare)
    np.testing.assert_allclose(found["standardized"], np.sort(frame["residual"] / scale), rtol=1e-9)


@pytest.mark.parametrize("level", [0.3, 0.9])
def test_the_envelope_of_ranks_is_the_narrowest_that_holds_the_share(level):
    draws = np.sort(np.random.default_rng(2).normal(size=(400, 5)), axis=1)

    def share(cut):
        ends = np.sort(draws, axis=0)[[cut, 399 - cut]]
        return ((draws >= ends[0]) & (draws <= ends[1])).all(axis=1).mean(), ends

    low, high = diagnostics._rank_envelope(draws, level)
    cut = max(k for k in range(200) if share(k)[0] >= level)
    np.testing.assert_array_equal([low, high], share(cut)[1])


def test_checks_of_residuals_are_those_of_scipy(values):
    frame = long(values).astype({"model": "category"})
    frame["model"] = frame["model"].cat.add_categories("nobody")
    result = two_way_anova(frame)
    found = diagnostics.residuals(result).set_index("check")
    residual = result.residuals()
    groups = [part["residual"] for _, part in residual.groupby("model", observed=True)]
    assert tuple(found.loc["shapiro_wilk"]) == tuple(stats.shapiro(residual["residual"]))
    assert tuple(found.loc["brown_forsythe"]) == tuple(stats.levene(*groups, center="median"))


@pytest.mark.filterwarnings("ignore:there is no residual variation")
def test_checks_of_residuals_that_are_rounding_say_nothing():
    flat = np.array([0.1, 0.2, 0.4])[:, None] + np.array([0.0, 0.3])
    assert diagnostics.residuals(two_way_anova(long(flat)))[["statistic", "p_value"]].isna().all(axis=None)
