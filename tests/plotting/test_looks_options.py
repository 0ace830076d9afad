"""Legend, colours, style sheets and small axes, the same for every plot."""

import inspect
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from loops import each
from matplotlib import pyplot as plt
from matplotlib.colors import to_rgb
from plot_checks import assert_fits, fold_frame, legend_texts, texts

import skewanova.plotting as sp
from skewanova.base.checks import InputError

mpl.use("Agg")
NAMES = ("C", "A", "B")
PRIORS = np.geomspace(0.01, 0.5, 5)
FUNCTIONS = [getattr(sp, name) for name in sp.__all__ if name.startswith("plot_")]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def areas(names=NAMES):
    rows = [
        {"model": m, "fold": f, "prior": p, "auprec": 0.5 + 0.4 * p - 0.03 * i + 0.01 * f}
        for i, m in enumerate(names)
        for f in (1, 2)
        for p in PRIORS
    ]
    return pd.DataFrame(rows)


def source(names=NAMES):
    """What the plots of areas need of a comparison."""
    folds = fold_frame(names, 3)
    means = folds.groupby("model", sort=False)["iauprec"].mean().to_numpy()
    ranking = pd.DataFrame({"model": names, "iauprec": means, "group": "a"})
    regions = pd.DataFrame(
        {"model": names[:2], "prior_low": [0.01, 0.03], "prior_high": [0.03, 0.5], "margin": 0.1}
    )
    return SimpleNamespace(
        auprec_by_prior=areas(names),
        iauprec=folds,
        ranking=ranking.assign(conf_low=means - 0.1, conf_high=means + 0.1),
        regions=regions,
        settings={"alpha": 0.01, "deployment_limits": (0.05, 0.2), "rope": 0.01},
    )


@each("plot", FUNCTIONS)
def test_every_plot_takes_legend_palette_and_axes_by_name(plot):
    kinds = {name: each.kind for name, each in inspect.signature(plot).parameters.items()}
    assert {kinds[name] for name in ("legend", "palette", "ax")} == {inspect.Parameter.KEYWORD_ONLY}


@pytest.mark.parametrize("plot", [sp.plot_auprec, sp.plot_iauprec, sp.plot_regions])
def test_without_legend_there_is_none(plot):
    assert plot(source()).get_legend() is not None
    assert plot(source(), legend=False).get_legend() is None


@pytest.mark.parametrize("palette", [{"A": "red", "B": "0.5", "C": "#0000ff"}, ["#0000ff", "red", "0.5"]])
def test_colours_are_those_asked_for(palette):
    for plot in (sp.plot_auprec, sp.plot_iauprec, sp.plot_regions):
        drawn = dict.fromkeys(to_rgb(line.get_color()) for line in plot(source(), palette=palette).lines)
        assert list(drawn)[:3] == [(0, 0, 1), (1, 0, 0), (0.5, 0.5, 0.5)]


def test_a_palette_may_be_named():
    assert list(sp.model_palette(NAMES, "Set2").values()) == [
        pytest.approx(to_rgb(shade)) for shade in plt.get_cmap("Set2").colors[:3]
    ]


@pytest.mark.parametrize(
    ("palette", "told"),
    [
        ({"A": "red"}, "has none for 'C'"),
        ("no such", "but got 'no such'"),
        (["nothing"], "`palette` must be"),
    ],
)
def test_what_is_no_colour_is_refused(palette, told):
    with pytest.raises(InputError, match=told):
        sp.plot_auprec(areas(), palette=palette)


def test_surfaces_and_p_values_have_palettes_of_their_own():
    grid = {"model": "A", "prior": [0.1, 0.1, 0.5, 0.5], "recall": [0, 1, 0, 1]}
    surface = pd.DataFrame({**grid, "precision": [0.7, 0.1, 0.9, 0.5]})
    assert sp.plot_surface(surface, palette="magma").collections[0].get_cmap().name == "magma"
    assert len(sp.plot_surface(surface, legend=False).figure.axes) == 1
    with pytest.raises(InputError, match="`palette` must be one of"):
        sp.plot_surface(surface, palette="no such")
    pair = {"model_a": "A", "model_b": "B", "estimate": 0.1, "p_adjusted": 0.5}
    pairs = pd.DataFrame([{"test": "tukey", "response": "iauprec", "prior": None, **pair}])
    ax = sp.plot_p_values(pairs, palette=["red", "green", "blue"])
    assert to_rgb(ax.patches[0].get_facecolor()) == (1, 0, 0)
    with pytest.raises(InputError, match="`palette` must be 3 colours"):
        sp.plot_p_values(pairs, palette="red")


def test_a_style_sheet_has_its_colours_grid_and_titles():
    with plt.style.context(
        {"axes.prop_cycle": mpl.cycler(color=["red", "green"]), "axes.titlelocation": "right"}
    ):
        ax = sp.plot_auprec(areas())
    assert [to_rgb(line.get_color()) for line in ax.lines] == [to_rgb(c) for c in ("red", "green", "red")]
    assert ax.get_title(loc="right") == "AUPREC by prior"
    with plt.style.context({"axes.grid": True, "grid.color": "red"}):
        ax = sp.plot_auprec(areas())
    assert to_rgb(ax.get_xgridlines()[0].get_color()) == (1, 0, 0)
    assert to_rgb(sp.plot_auprec(areas()).get_xgridlines()[0].get_color()) == to_rgb("0.5")


def test_two_panels_of_a_paper_stay_readable():
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


def test_more_than_ten_models_have_dashes_and_a_strip_with_names():
    names = tuple(f"m{i}" for i in range(12))
    ax = sp.plot_regions(source(names))
    assert [line.get_linestyle() for line in ax.lines[:12]] == ["-"] * 10 + ["--"] * 2
    assert texts(ax) == ["m0", "m1"]
    assert texts(sp.plot_regions(source())) == []


def test_the_deployment_prior_is_that_of_the_comparison():
    for plot in (sp.plot_auprec, sp.plot_regions):
        assert "deployment prior\n0.05 to 0.2" in legend_texts(plot(source()))
        assert "deployment prior\n0.1 to 0.3" in legend_texts(plot(source(), deployment_prior=(0.1, 0.3)))


def test_legends_say_the_level_and_what_would_not_matter():
    assert "mean and\n99 % confidence interval" in legend_texts(sp.plot_iauprec(source()))
    curve = {"model_a": "A", "model_b": "B", "prior": PRIORS, "estimate": 0.0, "reject": False}
    frame = pd.DataFrame({**curve, "conf_low": -0.1, "conf_high": 0.1})
    result = SimpleNamespace(difference_curves=frame, settings=source().settings)
    said = legend_texts(sp.plot_difference_curves(result))
    assert {"simultaneous\n99 % band", "within 0.01:\nwould not matter"} <= set(said)
    ax = sp.plot_difference_curves(frame, rope=0.05)
    (margin,) = ax.patches
    assert (margin.get_y(), margin.get_height()) == pytest.approx((-0.05, 0.1))
