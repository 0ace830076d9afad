"""Which figures are drawn, and of what; no text is cut or overlaps another."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hostile_results import simulated
from matplotlib import style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from skewanova import SkewanovaWarning, compare
from skewanova.report import figures


@pytest.fixture(scope="module")
def few():
    return simulated(["a", "b", "c"])


@pytest.fixture(scope="module")
def many():
    return simulated([f"m{i}" for i in range(8)], n_folds=3)


def test_figures_differ_shade_the_deployment_prior_and_draw_the_best_of_many(few, many):
    assert {"auprec", "interaction"}.isdisjoint(figures.FIGURES)
    assert figures.list_figures(few)[:2] == ("regions", "iauprec")
    controlled = simulated(["a", "b", "c"], priors=(0.5,), control="b")
    assert "critical_difference" not in figures.list_figures(controlled)
    (ax,) = figures.FIGURES["regions"].draw(few).axes
    assert "deployment prior\n0.05 to 0.2" in [text.get_text() for text in ax.get_legend().get_texts()]
    best = many.ranking["model"].iloc[0]
    assert len(figures.FIGURES["difference_curves"].draw(few).axes) == 3
    curves = figures.FIGURES["difference_curves"].draw(many).axes
    assert len(curves) == figures.MAX_PANELS
    assert all(best in ax.get_title(loc="left").split() for ax in curves)
    assert len(many.pairs[many.pairs["role"] == "primary"]) > figures.MAX_PAIRS
    labels = figures.FIGURES["pairs"].draw(many).axes[0].get_yticklabels()
    assert len(labels) == 7
    assert all(best in label.get_text().split() for label in labels)
    surfaces = figures.FIGURES["surface"].draw(many)
    assert sum("m" in ax.get_title(loc="left") for ax in surfaces.axes) == figures.MAX_PANELS
    assert len(figures.FIGURES["precision_recall"].draw(many).axes) == 2  # one a prior
    assert len(figures.FIGURES["surface"].draw(few).axes) == 3 + 1  # one bar of colours


def test_figures_are_drawn_once_with_legends_below_the_curves(few, monkeypatch):
    drawn, draw = [], Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda figure, renderer: drawn.append(draw(figure, renderer)))
    kind, pictures = next(figures.draw_figures(few, ("svg", "svg", "png")))
    assert (kind, list(pictures), len(drawn)) == ("regions", ["svg", "png"], 2)
    for kind in ("regions", "skew"):
        figure = figures.FIGURES[kind].draw(few)
        figure.draw_without_rendering()
        (ax,) = figure.axes
        assert ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0
        assert ax.get_window_extent().width > 0.8 * figure.bbox.width
    crowded = Figure()
    ax = crowded.subplots()
    lines = [ax.plot([0, 1])[0] for _ in range(figures.MAX_LEGEND_BELOW + 1)]
    ax.legend(lines, [str(line) for line in lines])
    size = crowded.get_size_inches().tolist()
    assert figures._move_legend_below(crowded).get_size_inches().tolist() == size


def titled(text):
    figure = Figure(figsize=(1, 1), layout="constrained")
    figure.subplots().set_title(text)
    return figure


def test_warnings_and_faults_of_figures_are_found():
    drawings = {"a": lambda: titled("\u6a21\u578b"), "b": lambda: titled("\u578b \u4e00\u4e8c\u4e09\u56db")}
    assert "\u6a21".encode() in dict(figures.render_figures(drawings.items(), ("svg",)))["a"]["svg"]
    with pytest.warns(SkewanovaWarning) as told:
        drawn = dict(figures.render_figures(drawings.items(), ("svg", "png")))
    assert [str(warning.message) for warning in told] == [
        "figures show boxes where their font lacks a sign ('\u4e00', '\u4e09', '\u4e8c', '\u56db', "
        "'\u578b' and 1 more); tables show them all, and so do figures in the format svg"
    ]
    assert list(drawn) == ["a", "b"]

    def noisy():
        warnings.warn("mine", UserWarning, stacklevel=1)
        return titled("a")

    with pytest.warns(UserWarning, match=r"^mine$"):
        dict(figures.render_figures({"a": noisy}.items(), ("svg",)))
    figure = Figure(figsize=(2, 2))
    figure.text(0.5, 0.5, "one")
    figure.text(0.52, 0.5, "two")
    figure.text(0.95, 0.1, "too far right")
    assert find_faults(figure) == (["too far right"], [("one", "two")])


def list_hidden_ticks(figure):
    """Labels of ticks that are not drawn."""
    hidden = set()
    for axis in (axis for ax in figure.axes for axis in (ax.xaxis, ax.yaxis)):
        low, high = sorted(axis.get_view_interval())
        for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
            hidden.add(tick.label2)
            if not low <= tick.get_loc() <= high or not axis.axes.axison:
                hidden.add(tick.label1)
        if not axis.axes.axison:
            hidden.add(axis.label)
    return hidden


def find_faults(figure):
    """Texts that leave the figure, and pairs that cover each other, in pixels."""
    canvas = FigureCanvasAgg(figure)
    figure.draw_without_rendering()
    hidden, room = list_hidden_ticks(figure), figure.bbox
    shown = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip() and t not in hidden]
    boxes = [(text.get_text(), text.get_window_extent(canvas.get_renderer())) for text in shown]
    beyond = lambda box: min(box.x0, box.y0) < -1 or box.x1 > room.width + 1 or box.y1 > room.height + 1  # noqa: E731
    cut = [text for text, box in boxes if beyond(box)]
    covered = [
        (one, other)
        for i, (one, a) in enumerate(boxes)
        for other, b in boxes[i + 1 :]
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.5
    ]
    return cut, covered


LONG_NAME = "a gradient boosting classifier with depth {}"


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize(("number", "name"), [(3, "model {}"), *((n, LONG_NAME) for n in (2, 11, 30))])
def test_no_text_of_a_figure_is_cut_or_covered(number, name):
    result = simulated([name.format(i) for i in range(number)], n_folds=5)
    drawn = figures.restrict_to_drawn(result)
    with style.context(figures._STYLE):
        pictures = {kind: figures.FIGURES[kind].draw(drawn) for kind in figures.list_figures(result)}
        faults = {kind: find_faults(figure) for kind, figure in pictures.items()}
    assert faults == dict.fromkeys(faults, ([], []))


def test_a_long_name_of_a_test_is_not_cut_in_the_diagram_of_ranks():
    rng, cases = np.random.default_rng(0), np.arange(300)
    positive = rng.random(300) < 0.3
    parts = [
        pd.DataFrame({"model": model, "fold": run, "case": cases, "y_true": positive,
                      "y_score": rng.normal(size=300) + positive})
        for model in "ab" for run in range(3)
    ]  # fmt: skip
    with warnings.catch_warnings(action="ignore", category=SkewanovaWarning):
        result = figures.restrict_to_drawn(compare(pd.concat(parts)))
    with style.context(figures._STYLE):
        assert find_faults(figures.FIGURES["critical_difference"].draw(result)) == ([], [])
