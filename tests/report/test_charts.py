"""Charts of the page: positions, ticks, names that do not overlap, and bands that hold what frames hold."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import each

from skewanova.report import charts

PRIORS = np.geomspace(0.01, 0.5, 9)


def line(model="a", color=1, level=0.5, **options):
    return charts.ChartLine(model, color, PRIORS, level + 0.3 * PRIORS, **options)


def chart(lines, layout=charts.WIDE, **marks):
    return charts.build_chart("x", lines, layout, label="x", marks=charts.Marks(**marks))


def points(path):
    return np.array([[float(x) for x in pair.split()] for pair in re.split("[ML]", path.strip("Z"))[1:]])


def test_a_line_goes_through_its_points_dashed_without_support():
    drawn = chart([line()])
    box = drawn.scale
    xy = points(drawn.lines[0]["path"])
    share = np.log(PRIORS / 0.01) / np.log(50)
    np.testing.assert_allclose(xy[:, 0], box.left + (box.right - box.left) * share, atol=0.06)
    expected = 0.5 + 0.3 * PRIORS
    np.testing.assert_allclose((box.bottom - xy[:, 1]) / (box.bottom - box.top), expected, atol=1e-3)
    drawn = chart([line(limits=(np.full(9, 0.4), np.full(9, 0.8)))], rarest=0.03)
    limit = float(drawn.scale.x(0.03))
    dashed, solid, band = (points(drawn.lines[0][name]) for name in ("dashed", "path", "band"))
    assert (dashed[-1].tolist(), drawn.unsupported) == (solid[0].tolist(), limit)
    assert [dashed[-1, 0], band[:, 0].min()] == pytest.approx([limit, limit], abs=0.06)
    assert len(dashed) + len(solid) == len(PRIORS) + 2
    top, bottom = (float(drawn.scale.y(value)) for value in (0.8, 0.4))
    assert set(np.round(band[:, 1], 1)) == {round(top, 1), round(bottom, 1)}
    assert chart([line()], rarest=0.9).lines[0]["path"] == ""


@given(st.lists(st.floats(0, 0.7), min_size=1, max_size=12), st.sampled_from([charts.WIDE, charts.NARROW]))
def test_names_at_line_ends_never_overlap_and_stay_inside(levels, layout):
    drawn = chart([line(f"model {i}" * 9, 1, level) for i, level in enumerate(levels)], layout)
    heights = sorted(name["y"] for name in drawn.names)
    gap = min(layout.font + 4, (drawn.scale.bottom - drawn.scale.top) / max(len(levels) - 1, 1))
    assert np.diff(heights).min(initial=np.inf) >= gap - 1e-6
    assert drawn.scale.top - 1e-6 <= heights[0] <= heights[-1] <= drawn.scale.bottom + 1e-6
    longest = max(len(name["text"]) for name in drawn.names)
    assert longest <= layout.max_name
    assert drawn.scale.right + 12 + 0.65 * layout.font * longest <= layout.width + 1


@given(st.floats(1e-5, 0.4), st.floats(1.3, 1000), st.sampled_from([charts.WIDE, charts.NARROW]))
def test_ticks_of_priors_have_room(low, ratio, layout):
    ends = np.array([low, min(low * ratio, 0.999)])
    drawn = chart([charts.ChartLine("a", 1, ends, ends, is_named=False)], layout)
    xs, texts, fractions = zip(*drawn.x_ticks, strict=True)
    assert np.diff(xs).min(initial=np.inf) >= charts.TICK_GAP
    assert (xs[0], texts[0]) == (pytest.approx(drawn.scale.left), f"{low:.3g}")
    below = [x for x, text in zip(xs, fractions, strict=True) if text]
    assert np.diff(below).min(initial=np.inf) >= charts.FRACTION_GAP
    for text, fraction in zip(texts, fractions, strict=True):
        if fraction:
            number = float(fraction.removeprefix("1 in ").replace(",", ""))
            assert 1 / number == pytest.approx(float(text), rel=0.02)


@given(st.floats(-1, 0.9), st.floats(1e-3, 1))
def test_steps_are_round_and_limits_hold_all_values(low, spread):
    steps = charts.choose_steps(low, low + spread)
    assert all(low - 1e-9 <= step <= low + spread + 1e-9 for step in steps)
    assert 2 <= len(steps) <= 7
    bottom, top = charts.choose_limits(np.array([low, np.nan, low + spread]))
    assert bottom <= low + 1e-12
    assert top >= low + spread - 1e-12


@each(("text", "width", "shown"), [
    ("use forest", 0.9, "use forest"), ("use forest", 0.08, "forest"), ("use forest", 0.01, ""),
    ("open: a or b", 0.9, "open: a or b"), ("open: a or b", 0.08, "open"),
])  # fmt: skip
def test_a_segment_has_the_longest_text_that_fits(text, width, shown):
    high = 0.01 * 50**width
    (segment,) = chart([line()], strip=[(0.01, high, text, 1)]).strip
    assert (segment["text"], segment["title"]) == (shown, text)
    assert segment["width"] == pytest.approx(float(chart([line()]).scale.x(high)) - charts.WIDE.left)


def test_changes_of_the_lead_and_panels_of_many_models():
    for prior in (0.012, 0.05, 0.4):
        drawn = chart([line()], crossings=[(prior, prior / 2, prior * 1.2, 0.6)])
        (ring,) = drawn.crossings
        assert ring["low"] <= ring["x"] <= ring["high"]
        assert ring["low"] >= drawn.scale.left - 1e-9
        width = 0.6 * 12 * max(map(len, ring["texts"]))
        start = ring["text_x"] - (width if ring["anchor"] == "end" else 0)
        assert drawn.scale.left - 1e-6 <= start <= start + width <= drawn.scale.right + 1e-6
    assert (
        chart([line()], charts.NARROW, crossings=[(0.0512, 0.0213, 0.123, 0.6)]).crossings[0]["texts"] == []
    )
    roc = charts.ChartLine("a", 1, np.array([0.0, 0.5, 1]), np.array([0.0, 0.8, 1]))
    panel = charts.build_chart("roc", [roc], charts.PANEL, label="x")
    xy = points(panel.lines[0]["path"])
    assert xy[1, 0] == pytest.approx((xy[0, 0] + xy[2, 0]) / 2, abs=0.06)
    assert [text for _, text, _ in panel.x_ticks] == ["0", "0.5", "1"]
    small = chart([line(is_named=False)], charts.SMALL)
    assert ([text for _, text, _ in small.x_ticks], small.y_ticks, small.names) == (["0.01", "0.5"], [], [])
    models = [f"m{i}" for i in range(12)]
    assert list(charts.number_colors(models[:10], ()).values()) == list(range(1, 11))
    colors = charts.number_colors(models, ["m7", "m0", "m11"])
    assert {model: color for model, color in colors.items() if color} == {"m0": 1, "m7": 2, "m11": 3}
