"""Residual plots: every point drawn is one of the frame."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest
from loops import each
from matplotlib import pyplot as plt
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from plot_checks import HOSTILE, assert_fits, fold_frame, legend_texts

from skewanova.base.checks import InputError
from skewanova.inference import residual_quantiles, three_way_anova, two_way_anova
from skewanova.plotting import plot_residuals
from skewanova.plotting.looks import model_labels, model_markers, model_palette
from skewanova.plotting.performance import RESIDUAL_KINDS

mpl.use("Agg")
NAMES = ("C", "A", "B")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def result():
    return two_way_anova(fold_frame(NAMES))


def points(ax):
    """Points of each model."""
    return {
        model: line.get_xydata()
        for model, line in zip(NAMES, (x for x in ax.lines if x.get_marker() != "None"), strict=True)
    }


@pytest.mark.parametrize("kind", RESIDUAL_KINDS)
def test_results_frames_and_comparisons_draw_alike(kind, result):
    ax = plot_residuals(result, kind=kind, ax=Figure().subplots())
    assert plt.get_fignums() == []
    frame = result.residuals()
    for other in (frame, SimpleNamespace(residuals=frame)):
        twin = points(plot_residuals(other, kind=kind))
        for model, drawn in points(ax).items():
            np.testing.assert_array_equal(drawn, twin[model])


@pytest.mark.parametrize("kind", RESIDUAL_KINDS)
def test_models_have_their_colour_and_marker(kind, result):
    ax = plot_residuals(result, kind=kind)
    drawn = [line for line in ax.lines if line.get_marker() != "None"]
    for line, model in zip(drawn, NAMES, strict=True):
        assert to_rgba(line.get_color()) == to_rgba(model_palette(NAMES)[model])
        assert line.get_marker() == model_markers(NAMES)[model]
    assert legend_texts(ax)[:3] == list(NAMES)


def test_residuals_against_fitted_values(result):
    frame = result.residuals()
    for model, drawn in points(plot_residuals(result)).items():
        rows = frame[frame["model"] == model]
        np.testing.assert_array_equal(drawn, rows[["fitted", "residual"]])


def test_residuals_by_fold_stand_side_by_side(result):
    frame = result.residuals()
    ax = plot_residuals(result, kind="fold")
    drawn = points(ax)
    for model, xy in drawn.items():
        rows = frame[frame["model"] == model]
        np.testing.assert_array_equal(xy[:, 1], rows["residual"])
        assert np.round(xy[:, 0]).tolist() == [fold - 1 for fold in rows["fold"]]
    assert len({round(float(xy[0, 0]), 9) for xy in drawn.values()}) == 3
    assert [label.get_text() for label in ax.get_xticklabels()] == [str(fold) for fold in range(1, 7)]


def test_quantiles_and_envelopes_are_the_frame(result):
    frame = residual_quantiles(result)
    ax = plot_residuals(result, kind="qq")
    for model, drawn in points(ax).items():
        np.testing.assert_array_equal(drawn, frame[frame["model"] == model][["theoretical", "standardized"]])
    wide, narrow = (artist for artist in ax.collections if isinstance(artist, PolyCollection))
    for band, name in ((wide, "simultaneous"), (narrow, "pointwise")):
        edge = band.get_paths()[0].vertices
        assert set(frame[f"{name}_low"]) | set(frame[f"{name}_high"]) <= set(edge[:, 1])
    assert legend_texts(ax)[3:] == ["95 % envelope,\nsimultaneous", "95 % envelope,\npointwise"]


def test_an_interaction_keeps_its_degrees_of_freedom():
    parts = [fold_frame(NAMES, seed=seed).rename(columns={"iauprec": "auprec"}) for seed in (1, 2)]
    frame = parts[0].assign(prior=0.5).merge(parts[1].assign(prior=0.1), how="outer")
    result = three_way_anova(frame, interaction=True)
    drawn = np.vstack(list(points(plot_residuals(result, kind="qq")).values()))
    assert (drawn[:, 1] ** 2).sum() == pytest.approx(result.row("residual")["df"])


@pytest.mark.no_cover
@each("kind", RESIDUAL_KINDS)
@each("names", ["AB", HOSTILE, [f"m{i}" for i in range(12)]])
def test_everything_fits_and_every_model_is_named(kind, names):
    ax = plot_residuals(two_way_anova(fold_frame(names, 20)), kind=kind)
    assert_fits(ax.figure)
    assert legend_texts(ax)[: len(names)] == list(model_labels(names).values())
    assert len(ax.get_xticklabels()) <= 14


def test_wrong_input_is_named(result):
    frame = result.residuals()
    with pytest.raises(InputError, match="`kind` must be one of fitted, fold, qq; but got 'pie'"):
        plot_residuals(result, kind="pie")
    with pytest.raises(InputError, match=r"`plot_residuals` draws the columns .* lacks fitted"):
        plot_residuals(frame.drop(columns="fitted"))
    with pytest.raises(InputError, match="the residuals must vary"):
        plot_residuals(frame.assign(residual=0.0), kind="qq")
    assert plt.get_fignums() == []
