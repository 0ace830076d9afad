"""Plots of an estimated prior."""

import numpy as np
import pytest
from matplotlib.figure import Figure
from messages import expect_error
from plot_checks import legend_texts
from report_frames import frame_of
from scipy.special import logit

import skewanova as sa
from skewanova.comparison.estimated_prior import PriorEstimates
from skewanova.plotting import plot_monitor, plot_prior_estimate, priors


@pytest.fixture(scope="module")
def found():
    draw, labels = np.random.default_rng(0).normal, np.repeat([1, 0], 150)
    return sa.estimate_prior(labels, draw(2 * labels), draw(2 * np.repeat([1, 0], [100, 300])))


def test_bars_are_the_mixture_of_one_of_several_models(found):
    ax = plot_prior_estimate(found, ax=Figure().subplots())
    bins = found.bins_frame()
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(2, -1)
    assert heights.sum(axis=0) == pytest.approx(bins["expected"].tolist())
    assert heights[1].sum() == pytest.approx(found.estimate * 400)
    assert ax.lines[0].get_ydata().tolist() == bins["n_unlabelled"].tolist()
    top = 1.75 * max(heights.sum(axis=0).max(), *ax.lines[0].get_ydata())
    assert ax.get_ylim() == (0, pytest.approx(top))
    assert legend_texts(ax) == ["positives", "negatives", "observed"]
    assert plot_prior_estimate(found, legend=False).get_legend() is None
    (inset,), (line,) = ax.child_axes, ax.child_axes[0].lines
    assert line.get_xdata()[line.get_ydata().argmax()] == pytest.approx(found.estimate, rel=0.05)
    assert logit(line.get_xdata()[[0, -1]]) == pytest.approx(found.log_odds[[0, -1]])
    shaded = inset.collections[0].get_paths()[0].vertices[:, 0]
    assert (shaded.min(), shaded.max()) == pytest.approx((found.conf_low, found.conf_high), rel=0.05)
    several = PriorEstimates({"a_$x$": found, "b": found}, found)
    ax = plot_prior_estimate(several, model="b", ax=Figure().subplots())
    assert ax.get_title(loc="left").startswith("Prior")
    expect_error("`model` must be one of", plot_prior_estimate, several, model="z")
    message = "needs an estimated prior, or a comparison over one, but got float"
    expect_error(message, plot_prior_estimate, 0.1, error=sa.InputTypeError)


def test_a_monitor_draws_an_estimate_a_batch_over_the_priors_of_each_leader():
    rows = [("", 0.2, 0.1, 0.3, "choice"), ("a_$x$", 0.05, 0.02, 0.08, "changed")]
    table = frame_of("batch estimate conf_low conf_high state", *rows)
    leads = [(0.01, 0.1, "A"), (0.1, 0.5, "B"), (0.1, 0.5, "B")]
    ax = plot_monitor(table, frame_of("prior_low prior_high leader", *leads), ax=Figure().subplots())
    limits, points = ax.lines[::2], ax.lines[1::2]
    assert [line.get_xydata().tolist() for line in limits] == [[[0, 0.1], [0, 0.3]], [[1, 0.02], [1, 0.08]]]
    assert [line.get_xydata().tolist() for line in points] == [[[0, 0.2]], [[1, 0.05]]]
    colours = [priors.STATE_COLOURS[state] for state in table["state"]]
    assert [line.get_color() for line in limits] == [line.get_color() for line in points] == colours
    boxes = [patch.get_path().get_extents(patch.get_transform() - ax.transData) for patch in ax.patches]
    assert [(box.y0, box.y1) for box in boxes] == [pytest.approx(lead[:2]) for lead in leads[:2]]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["all", r"a_\$x\$"]
    assert legend_texts(ax) == ["A leads", "B leads", "choice", "changed"]
    alone = plot_monitor(table, legend=False)
    assert (list(alone.patches), alone.get_legend()) == ([], None)
