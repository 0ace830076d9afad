"""Interaction and regret plots: every number drawn is one of the frame."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from loops import each
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from plot_checks import HOSTILE, assert_fits, legend_texts, texts

from skewanova.base.checks import InputError, InputTypeError
from skewanova.plotting import plot_interaction, plot_regret
from skewanova.plotting.looks import model_labels, model_markers, model_palette

mpl.use("Agg")
NAMES = ("C", "A", "B")
PRIORS = (0.5, 0.01, 0.1)
MANY = [f"m{i}" for i in range(30)]
FINE = np.geomspace(0.01, 0.5, 20)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def intervals(names=NAMES, priors=PRIORS):
    rows = [
        {"model": name, "prior": prior, "auprec": prior**0.3 - 0.05 * i}
        for i, name in enumerate(names)
        for prior in priors
    ]
    frame = pd.DataFrame(rows)
    return frame.assign(conf_low=frame["auprec"] - 0.04, conf_high=frame["auprec"] + 0.06)


def regrets(names=NAMES, priors=FINE):
    parts = [
        {"model": name, "prior": priors, "regret": 0.1 * np.abs(i - 2 * priors)}
        for i, name in enumerate(names)
    ]
    return pd.concat([pd.DataFrame(part) for part in parts], ignore_index=True)


PLOTS = {plot_interaction: ("auprec_intervals", intervals), plot_regret: ("regret", regrets)}


@pytest.mark.parametrize("plot", PLOTS)
def test_frames_and_results_are_taken_and_axes_returned(plot):
    name, make = PLOTS[plot]
    ax = Figure().subplots()
    assert plot(make(), ax=ax) is ax
    assert plt.get_fignums() == []
    other = plot(SimpleNamespace(**{name: make()}))
    assert [plt.figure(number) for number in plt.get_fignums()] == [other.figure]
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), other.lines[0].get_xydata())


@pytest.mark.parametrize("plot", PLOTS)
def test_wrong_input_is_named(plot):
    name, make = PLOTS[plot]
    with pytest.raises(
        InputError, match=rf"`{plot.__name__}` draws the columns .* lacks prior; give it `{name}`"
    ):
        plot(make().drop(columns="prior"))
    with pytest.raises(InputError, match="needs at least one row"):
        plot(make().iloc[:0])
    with pytest.raises(InputTypeError, match=rf"takes a pandas DataFrame or a result that has `{name}`"):
        plot(3)
    assert plt.get_fignums() == []


@pytest.mark.no_cover
@each("plot", PLOTS)
@each("names", [NAMES[:2], HOSTILE, [f"m{i}" for i in range(12)], [f"m{i}" for i in range(30)]])
def test_everything_fits_and_every_model_is_named(plot, names):
    ax = plot(PLOTS[plot][1](names))
    assert_fits(ax.figure)
    named = [*texts(ax), *legend_texts(ax)]
    assert set(model_labels(names).values()) <= set(named)


@pytest.mark.parametrize("plot", PLOTS)
def test_models_have_their_colour_and_marker(plot):
    ax = plot(PLOTS[plot][1]())
    for line, model in zip(ax.lines, NAMES, strict=False):
        assert to_rgba(line.get_color()) == to_rgba(model_palette(NAMES)[model])
        assert line.get_marker() == model_markers(NAMES)[model]


@pytest.mark.parametrize("plot", PLOTS)
def test_names_go_to_a_legend_where_the_figure_makes_no_room(plot):
    ax = plot(PLOTS[plot][1](), ax=Figure().subplots())
    assert legend_texts(ax)[:3] == list(NAMES)
    assert texts(ax) == []


def test_interaction_draws_means_and_intervals_over_ascending_priors():
    frame = intervals()
    ax = plot_interaction(frame)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.01", "0.1", "0.5"]
    shifts = []
    for i, model in enumerate(NAMES):
        rows = frame[frame["model"] == model].sort_values("prior")
        np.testing.assert_array_equal(ax.lines[i].get_ydata(), rows["auprec"])
        x = ax.lines[i].get_xdata()
        np.testing.assert_array_equal(x, [0, 1, 2])  # lines cross where their means do
        bars = np.array(ax.collections[i].get_segments())
        np.testing.assert_allclose(bars[:, :, 1], rows[["conf_low", "conf_high"]].clip(0, 1))
        np.testing.assert_array_equal(bars[:, 0, 0], x)
        drawn = ax.collections[i].get_transform().transform(bars[:, 0])
        shifts.append((drawn - ax.transData.transform(bars[:, 0]))[0, 0])
    assert np.diff(shifts).min() > 2  # intervals stand side by side
    assert sum(shifts) == pytest.approx(0, abs=1e-9)


def test_intervals_may_be_unknown():
    ax = plot_interaction(intervals().assign(conf_low=np.nan))
    assert [len(bars.get_segments()) for bars in ax.collections] == [0, 0, 0]
    assert len(ax.lines[0].get_xdata()) == 3


def test_one_prior_and_many_priors_are_readable():
    assert len(plot_interaction(intervals(priors=(0.1,))).get_xticks()) == 1
    many = plot_interaction(intervals(priors=np.linspace(0.01, 0.6, 25)))
    assert len(many.get_xticks()) == 9


def test_regret_lines_are_the_frame():
    frame = regrets()
    ax = plot_regret(frame)
    for line, model in zip(ax.lines, NAMES, strict=False):
        rows = frame[frame["model"] == model]
        np.testing.assert_allclose(line.get_xydata(), rows[["prior", "regret"]])
    assert ax.get_xscale() == "log"
    assert ax.get_ylim()[0] < 0 < ax.get_ylim()[1]
    assert len(ax.patches) == 0


@pytest.mark.parametrize("given", [False, True])
def test_deployment_prior_is_shaded(given):
    result = SimpleNamespace(regret=regrets(), settings={"deployment_limits": (0.05, 0.2)})
    ax = plot_regret(result, deployment_prior=(0.1, 0.3)) if given else plot_regret(result)
    (shade,) = ax.patches
    box = shade.get_path().get_extents(shade.get_transform() - ax.transData)
    assert (box.x0, box.x1) == pytest.approx((0.1, 0.3) if given else (0.05, 0.2))
    assert legend_texts(ax) == [f"deployment prior\n{'0.1 to 0.3' if given else '0.05 to 0.2'}"]


def test_one_deployment_prior_is_named_once():
    ax = plot_regret(regrets(), deployment_prior=(0.1, 0.1))
    assert legend_texts(ax) == ["deployment prior\n0.1"]


def test_deployment_prior_is_checked():
    with pytest.raises(InputError, match="`deployment_prior` must be given as"):
        plot_regret(regrets(), deployment_prior=(0.2, 0.1))


def test_no_regret_at_all_still_draws():
    ax = plot_regret(regrets(("A",), FINE).assign(regret=0.0))
    assert_fits(ax.figure)
