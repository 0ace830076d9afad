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
from skewanova.report.figures import (
    _STYLE,
    FIGURES,
    MAX_LEGEND_BELOW,
    MAX_PAIRS,
    MAX_PANELS,
    _move_legend_below,
    draw_figures,
    list_figures,
    render_figures,
    restrict_to_drawn,
)


@pytest.fixture(scope="module")
def few():
    return simulated(["a", "b", "c"])


@pytest.fixture(scope="module")
def many():
    return simulated([f"m{i}" for i in range(8)], n_folds=3)


def test_no_two_figures_draw_the_same_and_a_control_has_no_groups(few):
    assert {"auprec", "interaction"}.isdisjoint(FIGURES)
    assert list_figures(few)[:2] == ("regions", "iauprec")
    beside = simulated(["a", "b", "c"], priors=(0.5,), control="b")
    assert "critical_difference" not in list_figures(beside)


def test_the_main_figure_shades_the_deployment_prior(few):
    (ax,) = FIGURES["regions"].draw(few).axes
    assert "deployment prior\n0.05 to 0.2" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_of_many_pairs_the_best_is_drawn_against_the_rest(few, many):
    best = many.ranking["model"].iloc[0]
    assert len(FIGURES["difference_curves"].draw(few).axes) == 3
    curves = FIGURES["difference_curves"].draw(many).axes
    assert len(curves) == MAX_PANELS
    assert all(best in ax.get_title(loc="left").split() for ax in curves)
    assert len(many.pairs[many.pairs["role"] == "primary"]) > MAX_PAIRS
    labels = FIGURES["pairs"].draw(many).axes[0].get_yticklabels()
    assert len(labels) == 7
    assert all(best in label.get_text().split() for label in labels)
    surfaces = FIGURES["surface"].draw(many)
    assert sum("m" in ax.get_title(loc="left") for ax in surfaces.axes) == MAX_PANELS
    assert len(FIGURES["precision_recall"].draw(many).axes) == 2  # one a prior
    assert len(FIGURES["surface"].draw(few).axes) == 3 + 1  # one bar of colours


def test_a_figure_is_drawn_once_for_each_file(few, monkeypatch):
    drawn, draw = [], Figure.draw
    monkeypatch.setattr(Figure, "draw", lambda figure, renderer: drawn.append(draw(figure, renderer)))
    kind, pictures = next(draw_figures(few, ("svg", "svg", "png")))
    assert (kind, list(pictures), len(drawn)) == ("regions", ["svg", "png"], 2)


def test_legends_stand_below_the_curves_unless_they_would_take_more_room(few):
    for kind in ("regions", "skew"):
        figure = FIGURES[kind].draw(few)
        figure.draw_without_rendering()
        (ax,) = figure.axes
        assert ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0
        assert ax.get_window_extent().width > 0.8 * figure.bbox.width
    crowded = Figure()
    ax = crowded.subplots()
    lines = [ax.plot([0, 1])[0] for _ in range(MAX_LEGEND_BELOW + 1)]
    ax.legend(lines, [str(line) for line in lines])
    size = crowded.get_size_inches().tolist()
    assert _move_legend_below(crowded).get_size_inches().tolist() == size


def titled(text):
    figure = Figure(figsize=(1, 1), layout="constrained")
    figure.subplots().set_title(text)
    return figure


def test_signs_that_the_font_lacks_are_told_once():
    drawings = {"a": lambda: titled("\u6a21\u578b"), "b": lambda: titled("\u578b \u4e00\u4e8c\u4e09\u56db")}
    assert "\u6a21".encode() in dict(render_figures(drawings.items(), ("svg",)))["a"]["svg"]
    with pytest.warns(SkewanovaWarning) as told:
        drawn = dict(render_figures(drawings.items(), ("svg", "png")))
    assert [str(warning.message) for warning in told] == [
        "figures show boxes where their font lacks a sign ('\u4e00', '\u4e09', '\u4e8c', '\u56db', "
        "'\u578b' and 1 more); tables show them all"
    ]
    assert list(drawn) == ["a", "b"]


def test_other_warnings_of_figures_pass():
    def noisy():
        warnings.warn("mine", UserWarning, stacklevel=1)
        return titled("a")

    with pytest.warns(UserWarning, match=r"^mine$"):
        dict(render_figures({"a": noisy}.items(), ("svg",)))


# --- text is neither cut nor covered ------------------------------------------------------------------------


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
    cut = [
        text
        for text, box in boxes
        if min(box.x0, box.y0) < -1 or box.x1 > room.width + 1 or box.y1 > room.height + 1
    ]
    covered = [
        (one, other)
        for i, (one, a) in enumerate(boxes)
        for other, b in boxes[i + 1 :]
        if min(a.x1, b.x1) - max(a.x0, b.x0) > 1.5 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.5
    ]
    return cut, covered


def test_faults_are_found():
    figure = Figure(figsize=(2, 2))
    figure.text(0.5, 0.5, "one")
    figure.text(0.52, 0.5, "two")
    figure.text(0.95, 0.1, "too far right")
    assert find_faults(figure) == (["too far right"], [("one", "two")])


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("number", [2, 3, 11, 30])
@pytest.mark.parametrize("name", ["model {}", "a gradient boosting classifier with depth {}"])
def test_no_text_of_a_figure_is_cut_or_covered(number, name):
    result = simulated([name.format(i) for i in range(number)], n_folds=5)
    drawn = restrict_to_drawn(result)
    with style.context(_STYLE):
        faults = {kind: find_faults(FIGURES[kind].draw(drawn)) for kind in list_figures(result)}
    assert faults == dict.fromkeys(faults, ([], []))


def test_a_long_name_of_a_test_is_not_cut_in_the_diagram_of_ranks():
    rng, cases = np.random.default_rng(0), np.arange(300)
    positive = rng.random(300) < 0.3
    parts = [
        pd.DataFrame({"model": model, "fold": run, "case": cases, "y_true": positive,
                      "y_score": rng.normal(size=300) + positive})
        for model in "ab" for run in range(3)
    ]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        result = restrict_to_drawn(compare(pd.concat(parts)))
    with style.context(_STYLE):
        assert find_faults(FIGURES["critical_difference"].draw(result)) == ([], [])
