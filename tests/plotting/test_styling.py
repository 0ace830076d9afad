"""Names, colours, numbers, names beside lines, mean lines, legends, style sheets and small axes."""

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from messages import expect_error
from plot_checks import HOSTILE, NAMES, PRIORS, assert_fits, legend_texts, make_result, texts
from scipy.optimize import minimize

import skewanova.plotting as sp
from skewanova.plotting import styling


def source(names=NAMES):
    """A comparison with its settings."""
    settings = {"alpha": 0.01, "deployment_limits": (0.05, 0.2), "rope": 0.01}
    return SimpleNamespace(**vars(make_result(names, 2)), settings=settings)


def test_names_are_drawn_literally_and_start_no_formula():
    labels = styling.model_labels(HOSTILE)
    assert (labels["a_b%$"], labels["$x_1$ <b>&%"]) == (r"a_b%\$", r"\$x_1\$ <b>&%")
    assert (labels["_hidden"], labels["new\nline"]) == ("_hidden", "new line")
    assert (labels["new line"], labels[" "], labels[""]) == ("new line (2)", "' '", "''")
    assert labels["\x1b[31mred\u202e"] == "\\x1b[31mred\\u202e"
    assert labels["a very long name of a random forest with max_depth=10"] == "a very long name of a ran..."
    assert max(map(len, labels.values())) <= 28
    assert len(set(labels.values())) == len(HOSTILE)
    long = ["x" * 40 + str(i) + "y" * 40 for i in range(3)]
    assert [label[-4:] for label in styling.model_labels(long).values()] == ["x...", " (2)", " (3)"]
    figure = Figure()
    for label in styling.model_labels(["$x$", r"\$a$", "$", "a$b$c$"]).values():
        drawn, is_formula = figure.text(0, 0, label)._preprocess_math(label)
        assert not is_formula
        assert "$" in drawn


def test_colours_repeat_after_ten_and_ticks_are_plain():
    names = [f"m{i}" for i in range(90)]
    palette, markers = sp.model_palette(names), styling.model_markers(names)
    assert (len(set(palette.values())), palette["m10"]) == (10, palette["m0"])
    assert len({(palette[name], markers[name]) for name in names}) == 90
    numbers = (0.01, 1e-5, 10000.0, 0.123456, 0.5)
    assert [styling.format_plain(number) for number in numbers] == [
        "0.01", "0.00001", "10000", "0.1235", "0.5",
    ]  # fmt: skip
    assert styling.choose_tick_digits(0.01, 0.1, 300) == (1.0, 2.0, 5.0)
    assert styling.choose_tick_digits(0.01, 0.1, 80) == (1.0, 3.0)
    assert styling.choose_tick_digits(0.01, 0.1, 20) == (1.0,)


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=12), st.integers(1, 80))
def test_places_keep_order_distance_and_limits(heights, gap):
    heights, gap = np.array(heights) / 1000, gap / 1000
    placed = styling.spread_heights(heights, gap)
    assert np.diff(placed[np.argsort(heights, kind="stable")]).min(initial=np.inf) >= gap - 1e-9
    assert placed.min() >= -1e-9
    assert placed.max() <= 1 + 1e-9


@pytest.mark.parametrize("heights", [[0.1, 0.5, 0.9], [0.5, 0.5], [0.5, 0.52, 0.54], [0.3, 0.31, 0.8, 0.81]])
def test_crowded_places_are_as_near_as_can_be(heights):
    heights = np.array(heights)
    best = minimize(
        lambda place: ((place - heights) ** 2).sum(),
        heights + 0.01 * np.arange(len(heights)),
        constraints={"type": "ineq", "fun": lambda place: np.diff(place) - 0.1},
    )
    np.testing.assert_allclose(styling.spread_heights(heights, 0.1), best.x, atol=1e-3)


def axes(layout="constrained", size=(7, 4)):
    ax = Figure(figsize=size, layout=layout).subplots()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    return ax


def test_names_stand_to_the_right_and_are_joined_with_their_ends():
    ax = axes()
    lines = {"A": Line2D([0, 1], [0, 0.2]), "$B$": Line2D([0, 0.9], [0, 0.7])}
    styling.label_lines(ax, lines, styling.make_line_styles(["A", "$B$"]))
    assert ax.get_legend() is None
    assert [text.get_text() for text in ax.texts] == ["A", r"\$B\$"]
    assert all(text.get_position()[0] > 1 for text in ax.texts)
    np.testing.assert_allclose([line.get_xydata()[0] for line in ax.lines], [(1.0, 0.2), (0.9, 0.7)])
    np.testing.assert_allclose([text.get_position()[1] for text in ax.texts], [0.2, 0.7])


@pytest.mark.parametrize(("ax", "ends"), [
    (axes(layout=None), {"A": (1.0, 0.5)}), (axes(), {f"m{i}": (1.0, 0.5) for i in range(40)}),
    (axes(size=(2.5, 3)), {"a name that takes half the width": (1.0, 0.5)}), (axes(), {"A": (1.0, np.nan)}),
])  # fmt: skip
def test_without_room_a_legend_names_the_lines(ax, ends):
    lines = {model: Line2D([0, x], [0, y]) for model, (x, y) in ends.items()}
    styling.label_lines(ax, lines, styling.make_line_styles(list(ends)))
    assert list(ax.texts) == list(ax.lines) == []
    assert ax.get_legend() is not None


@each("errorbar", [("sd", 1), ("sd", 2.5), ("pi", 80), None])
@each("n_folds", [5, 2])
def test_mean_and_band_are_those_of_seaborn(errorbar, n_folds):
    frame = pd.DataFrame({"fpr": np.tile([0.3, 0.1, 0.2], n_folds)})
    frame["tpr"] = np.random.default_rng(0).random(len(frame))
    frame.loc[1, "tpr"] = np.nan
    axes = Figure().subplots(1, 2)
    look = {"color": "C2", "marker": "s", "markersize": 6, "markeredgewidth": 0.5, "linestyle": "--"}
    styling.draw_mean_line(axes[0], frame, ("fpr", "tpr"), errorbar=errorbar, opacity=0.1, **look)
    look |= {"legend": False, "err_kws": {"alpha": 0.1, "linewidth": 0}, "errorbar": errorbar}
    sns.lineplot(frame, x="fpr", y="tpr", ax=axes[1], **look)
    (line,), (known,) = (ax.get_lines() for ax in axes)
    np.testing.assert_allclose(line.get_xydata(), known.get_xydata(), rtol=1e-12)
    for name in ("color", "marker", "markeredgecolor", "markeredgewidth", "linestyle", "linewidth"):
        assert getattr(line, f"get_{name}")() in (getattr(known, f"get_{name}")(), "white"), name
    assert len(axes[0].collections) == len(axes[1].collections) == (errorbar is not None)
    for band, other in zip(axes[0].collections, axes[1].collections, strict=True):
        expected = other.get_paths()[0].vertices.copy()
        expected[:, 1] = np.clip(expected[:, 1], 0, 1)  # no rate lies beyond
        np.testing.assert_allclose(band.get_paths()[0].vertices, expected, rtol=1e-12)
        np.testing.assert_array_equal(band.get_facecolor(), other.get_facecolor())


def test_single_points_names_and_bands_not_drawn():
    ax = Figure().subplots()
    one = pd.DataFrame({"fpr": 0.5, "tpr": [0.2, 0.4]})
    styling.draw_mean_line(ax, one, ("fpr", "tpr"), errorbar=None, markevery=0.3)
    (line,) = ax.get_lines()
    assert line.get_markevery() is None
    assert line.get_xydata().tolist() == [[0.5, pytest.approx(0.3)]]
    frame = pd.DataFrame({"model": [2, "1", 2, 3, 1], "fold": 0})
    found = styling.find_frame(frame, "x", "model fold", "plot")["model"]
    assert (found.tolist(), found.unique().tolist()) == (["2", "1", "2", "3", "1"], ["2", "1", "3"])
    assert frame["model"].tolist() == [2, "1", 2, 3, 1]
    sp.plot_regions(WithoutBands(10), ax=Figure().subplots())
    with pytest.raises(RuntimeError, match="bands are wanted"):
        sp.plot_regions(WithoutBands(9), ax=Figure().subplots())


class WithoutBands:
    """Leading models of a result whose bands nobody may ask for."""

    def __init__(self, n_models):
        models = [f"m{i}" for i in range(n_models)]
        self.auprec_by_prior = pd.DataFrame({"model": models, "fold": 0, "prior": 0.1, "auprec": 0.5})
        self.regions = pd.DataFrame({"model": models[:1], "prior_low": 0.01, "prior_high": 0.1})

    @property
    def by_prior(self):
        raise RuntimeError("bands are wanted")


@pytest.mark.parametrize("palette", [{"A": "red", "B": "0.5", "C": "#0000ff"}, ["#0000ff", "red", "0.5"]])
def test_colours_are_those_asked_for_and_legends_may_be_left_out(palette):
    for plot in (sp.plot_auprec, sp.plot_iauprec, sp.plot_regions):
        ax = plot(source(), palette=palette)
        drawn = dict.fromkeys(to_rgb(line.get_color()) for line in ax.lines)
        assert list(drawn)[:3] == [(0, 0, 1), (1, 0, 0), (0.5, 0.5, 0.5)]
        legends = ax.get_legend(), plot(source(), legend=False).get_legend()
        assert [legend is None for legend in legends] == [False, True]


def test_palettes_may_be_named_and_surfaces_have_their_own(result):
    named = list(sp.model_palette(NAMES, "Set2").values())
    assert named == [pytest.approx(to_rgb(shade)) for shade in plt.get_cmap("Set2").colors[:3]]
    for palette, told in (
        ({"A": "red"}, "has none for 'C', 'B'$"), ("no such", "^`palette` must be the name .*'no such'$"),
        (["nothing"], r"^`palette` must hold colours of matplotlib, such as 'red' or '#0000ff', but got \["),
        ([], "`palette` must hold"), (3, "`palette` must hold")
    ):  # fmt: skip
        expect_error(told, sp.model_palette, NAMES, palette)
    assert sp.plot_surface(result, palette="magma").collections[0].get_cmap().name == "magma"
    assert len(sp.plot_surface(result, legend=False).figure.axes) == 1
    for palette in ("no such", None, 5):
        with expect_error(r"`palette` must be the name of a colour map.* as 'viridis', but"):
            sp.plot_surface(result, palette=palette)
    ax = sp.plot_p_values(result, palette=["red", "green", "blue"])
    assert to_rgb(ax.patches[0].get_facecolor()) == (1, 0, 0)
    expect_error("`palette` must list 3 colours", sp.plot_p_values, result, palette="red")


def test_style_sheets_and_panels_of_a_paper():
    cycle = mpl.cycler(color=["red", "green"])
    with plt.style.context({"axes.prop_cycle": cycle, "axes.titlelocation": "right"}):
        ax = sp.plot_auprec(source())
    assert [to_rgb(line.get_color()) for line in ax.lines] == [to_rgb(c) for c in ("red", "green", "red")]
    assert ax.get_title(loc="right") == "AUPREC by prior"
    with plt.style.context({"axes.grid": True, "grid.color": "red"}):
        ax = sp.plot_auprec(source())
    assert to_rgb(ax.get_xgridlines()[0].get_color()) == (1, 0, 0)
    assert to_rgb(sp.plot_auprec(source()).get_xgridlines()[0].get_color()) == to_rgb("0.5")
    figure = plt.figure(figsize=(6.5, 2.6), layout="constrained")
    first, second = figure.subplots(1, 2)
    sp.plot_auprec(source(), ax=first)
    sp.plot_iauprec(source(), ax=second)
    assert_fits(figure)
    for ax in (first, second):
        assert ax.get_position().height * 2.6 > 1.5
    box = first.get_legend().get_window_extent()
    assert first.get_window_extent().contains(box.x0, box.y0)
    assert first.get_window_extent().contains(box.x1, box.y1)


def test_many_models_have_dashes_and_legends_their_level():
    ax = sp.plot_regions(source(tuple(f"m{i}" for i in range(12))))
    assert [line.get_linestyle() for line in ax.lines[:12]] == ["-"] * 10 + ["--"] * 2
    assert (texts(ax), texts(sp.plot_regions(source()))) == (["m0", "m1"], [])
    assert "mean and\n99 % confidence interval" in legend_texts(sp.plot_iauprec(source()))
    curve = {"model_a": "A", "model_b": "B", "prior": PRIORS, "estimate": 0.0, "reject": False}
    frame = pd.DataFrame({**curve, "conf_low": -0.1, "conf_high": 0.1})
    result = SimpleNamespace(difference_curves=frame, settings=source().settings)
    said = legend_texts(sp.plot_difference_curves(result))
    assert {"simultaneous\n99 % band", "within 0.01:\nwould not matter"} <= set(said)
    (margin,) = sp.plot_difference_curves(frame, rope=0.05).patches
    assert (margin.get_y(), margin.get_height()) == pytest.approx((-0.05, 0.1))
