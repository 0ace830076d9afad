"""Plots of an estimated prior."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from skewanova import InputError, InputTypeError, estimate_prior
from skewanova.comparison.estimated_prior import PriorEstimates
from skewanova.plotting import plot_prior_estimate


@pytest.fixture(scope="module")
def found():
    draw, labels = np.random.default_rng(0).normal, np.repeat([1, 0], 150)
    return estimate_prior(labels, draw(2 * labels), draw(2 * np.repeat([1, 0], [100, 300])))


def test_bars_are_the_mixture_dots_what_was_observed_and_the_inset_the_likelihood(found):
    ax = plot_prior_estimate(found, ax=Figure().subplots())
    bins = found.bins_frame()
    heights = np.array([bar.get_height() for bar in ax.patches]).reshape(2, -1)
    assert heights.sum(axis=0) == pytest.approx(bins["expected"].tolist())
    assert heights[1].sum() == pytest.approx(found.estimate * 400)
    assert ax.lines[0].get_ydata().tolist() == bins["n_unlabelled"].tolist()
    line = ax.child_axes[0].lines[0]
    assert line.get_xdata()[line.get_ydata().argmax()] == pytest.approx(found.estimate, rel=0.05)


def test_one_of_several_models_is_drawn(found):
    several = PriorEstimates({"a_$x$": found, "b": found}, found)
    ax = plot_prior_estimate(several, model="b", ax=Figure().subplots())
    assert ax.get_title(loc="left").startswith("Prior")
    with pytest.raises(InputError, match="`model` must be one of"):
        plot_prior_estimate(several, model="z")
    with pytest.raises(
        InputTypeError, match="needs an estimated prior, or a comparison over one, but got float"
    ):
        plot_prior_estimate(0.1)
