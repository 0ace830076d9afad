"""What every plot does: axes, names, colours, refusals."""

import inspect
import io
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from loops import each
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from messages import expect_error
from plot_checks import HOSTILE, NAMES, assert_fits, legend_texts, make_result, texts

import skewanova.plotting as sp
from skewanova.base.checks import InputError, InputTypeError
from skewanova.base.frames import list_distinct
from skewanova.plotting.styling import model_labels

#: The frame of each plot, and a column that it needs.
PLOTS = {
    sp.plot_roc: ("roc", "model"), sp.plot_precision_recall: ("precision_recall", "prior"),
    sp.plot_auprec: ("auprec_by_prior", "model"), sp.plot_iauprec: ("iauprec", "iauprec"),
    sp.plot_surface: ("surface", "recall"), sp.plot_skew: ("skew", "accuracy"),
    sp.plot_pairs: ("pairs", "reject"), sp.plot_p_values: ("pairs", "p_adjusted"),
    sp.plot_regions: ("auprec_by_prior", "model"), sp.plot_interaction: ("auprec_intervals", "prior"),
    sp.plot_regret: ("regret", "prior"), sp.plot_residuals: ("residuals", "fitted"),
}  # fmt: skip
#: Those with a line a model, which the legend names.
LINES = (
    sp.plot_roc, sp.plot_precision_recall, sp.plot_auprec, sp.plot_skew, sp.plot_regions, sp.plot_residuals
)  # fmt: skip
ALONG_PRIOR = (sp.plot_interaction, sp.plot_regret)


def test_every_plot_takes_legend_palette_and_axes_by_name():
    for plot in (getattr(sp, name) for name in sp.__all__ if name.startswith("plot_")):
        kinds = {name: one.kind for name, one in inspect.signature(plot).parameters.items()}
        assert {kinds[name] for name in ("legend", "palette", "ax")} == {inspect.Parameter.KEYWORD_ONLY}


@each("plot", PLOTS)
def test_given_axes_are_drawn_on_and_nothing_else_is_touched(plot, result):
    before, frame = dict(mpl.rcParams), getattr(result, PLOTS[plot][0])
    given, ax = frame.copy(), Figure().subplots()
    assert plot(result, ax=ax) is ax
    assert (plt.get_fignums(), dict(mpl.rcParams)) == ([], before)
    pd.testing.assert_frame_equal(frame, given)


@each("plot", [plot for plot in PLOTS if plot is not sp.plot_regions])
def test_without_axes_one_new_figure_is_made_and_the_frame_draws_the_lines_of_the_result(plot, result):
    one = plot(result, ax=Figure().subplots())
    other = plot(getattr(result, PLOTS[plot][0]))
    assert [plt.figure(number) for number in plt.get_fignums()] == [other.figure]
    plt.close(other.figure)
    assert one.get_xlabel() == other.get_xlabel()
    if plot is not sp.plot_iauprec:  # the frame alone knows no ranking
        for line, twin in zip(one.lines, other.lines, strict=False):
            np.testing.assert_array_equal(line.get_xdata(), twin.get_xdata())


@each("plot", PLOTS)
def test_what_cannot_be_drawn_is_named(plot, result):
    (name, column), called = PLOTS[plot], f"`{plot.__name__}`"
    frame = getattr(result, name)
    lacking = rf"{called} needs the columns .* the frame lacks {column}; give it skewanova\."
    expect_error(lacking, plot, frame.drop(columns=column))
    expect_error(rf"{called} needs at least one row", plot, frame.iloc[:0])
    for wrong in (3, None, SimpleNamespace()):
        expect_error(rf"{called} takes skewanova\.", plot, wrong, error=InputTypeError)
    assert plt.get_fignums() == []


def test_results_that_make_frames_are_accepted_and_refusals_name_others(result):
    class Posthoc:
        def to_frame(self):
            return result.pairs

    for source in (Posthoc(), SimpleNamespace(pairs=Posthoc())):
        assert len(sp.plot_pairs(source, ax=Figure().subplots()).get_yticks()) == 2
    ax = Figure().subplots()
    polars = SimpleNamespace(to_pandas=lambda: result.auprec_by_prior)
    several = SimpleNamespace(comparisons={"d0": result}, auprec_by_prior=result.iauprec)
    folds = result.iauprec.drop(columns="fold")
    classes = SimpleNamespace(comparisons={"d0": result}, iauprec=folds, pairs=result.pairs)
    for call, message in (
        (lambda: sp.plot_auprec(polars), r"convert it by its to_pandas\(\)$"),
        (lambda: sp.plot_auprec(several), r"; give it one of its comparisons, such as .comparisons\['d0'\]$"),
        (lambda: sp.plot_critical_difference(classes), "fold; give it one of its comparisons, such as"),
        (lambda: sp.plot_residuals(result.residuals[:0]), r"compare\(scores\) of several folds$"),
        (lambda: sp.plot_regions(result.iauprec), r"; give it skewanova.compare\(scores\)$"),
        (lambda: sp.plot_components(result.iauprec), "several runs on one test set$"),
        (lambda: sp.plot_regions(result, bands=result.iauprec, ax=ax), "^`bands` needs the columns"),
        (lambda: sp.plot_auprec(result, support=5, ax=ax), "^`support` takes .* but got int$"),
    ):
        with pytest.raises((InputError, InputTypeError), match=message):
            call()
    assert plt.get_fignums() == []


@pytest.mark.no_cover
@each("plot", [*PLOTS, lambda r: sp.plot_surface(r, kind="3d")])
@each("names", [HOSTILE, tuple(f"m{i}" for i in range(30))])
def test_everything_fits_and_every_model_is_named(plot, names):
    if len(names) == 30 and plot not in ALONG_PRIOR:
        return
    ax = plot(make_result(names, 2))
    assert_fits(ax.figure)
    ax.figure.savefig(io.BytesIO(), format="svg")  # any sign without a warning
    if plot in LINES:
        assert legend_texts(ax)[: len(names)] == list(model_labels(names).values())
    if plot in ALONG_PRIOR:
        assert set(model_labels(names).values()) <= {*texts(ax), *legend_texts(ax)}
    plt.close(ax.figure)


@each("plot", LINES)
def test_models_keep_colour_and_order_in_every_plot(plot, result):
    ax = plot(result)
    assert legend_texts(ax)[:3] == list(NAMES)
    expected = [to_rgba(color) for color in sp.model_palette(NAMES).values()]
    assert [to_rgba(line.get_color()) for line in ax.get_legend().get_lines()[:3]] == expected
    drawn = [to_rgba(line.get_color()) for line in ax.lines]
    assert list_distinct(color for color in drawn if color in expected) == expected
