"""Names beside line ends: apart, in order, close to where the lines end."""

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy.optimize import minimize

from skewanova.plotting.looks import label_lines, spread

mpl.use("Agg")


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=12), st.integers(1, 80))
def test_places_keep_order_distance_and_limits(heights, gap):
    heights, gap = np.array(heights) / 1000, gap / 1000
    placed = spread(heights, gap)
    order = np.argsort(heights, kind="stable")
    assert np.diff(placed[order]).min(initial=np.inf) >= gap - 1e-9
    assert placed.min() >= -1e-9
    assert placed.max() <= 1 + 1e-9


def test_places_far_apart_are_the_heights():
    heights = np.array([0.9, 0.1, 0.5])
    np.testing.assert_allclose(spread(heights, 0.1), heights)


@pytest.mark.parametrize("heights", [[0.5, 0.5], [0.5, 0.52, 0.54], [0.3, 0.31, 0.8, 0.81]])
def test_crowded_places_are_as_near_as_can_be(heights):
    heights = np.array(heights)
    best = minimize(
        lambda place: ((place - heights) ** 2).sum(),
        heights + 0.01 * np.arange(len(heights)),
        constraints={"type": "ineq", "fun": lambda place: np.diff(place) - 0.1},
    )
    np.testing.assert_allclose(spread(heights, 0.1), best.x, atol=1e-3)


def axes(layout="constrained", size=(7, 4)):
    ax = Figure(figsize=size, layout=layout).subplots()
    ax.set(xlim=(0, 1), ylim=(0, 1))
    return ax


def test_names_stand_to_the_right_and_are_joined_with_their_ends():
    ax = axes()
    assert label_lines(ax, {"A": (1.0, 0.2), "$B$": (0.9, 0.7)})
    assert [text.get_text() for text in ax.texts] == ["A", r"\$B\$"]
    assert all(text.get_position()[0] > 1 for text in ax.texts)
    starts = [line.get_xydata()[0] for line in ax.lines]
    np.testing.assert_allclose(starts, [(1.0, 0.2), (0.9, 0.7)])
    np.testing.assert_allclose([text.get_position()[1] for text in ax.texts], [0.2, 0.7])


@pytest.mark.parametrize(
    ("ax", "ends"),
    [
        (axes(layout=None), {"A": (1.0, 0.5)}),
        (axes(), {f"m{i}": (1.0, 0.5) for i in range(40)}),
        (axes(size=(2.5, 3)), {"a name that takes half the width": (1.0, 0.5)}),
        (axes(), {"A": (1.0, np.nan)}),
    ],
)
def test_without_room_nothing_is_drawn(ax, ends):
    assert not label_lines(ax, ends)
    assert list(ax.texts) == list(ax.lines) == []
