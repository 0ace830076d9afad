"""Names at the right ends of lines, moved apart where lines end close together."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from skewanova._checks import Floats
from skewanova._plotting import has_layout, model_labels, model_markers, model_palette

FONT_SIZE = "small"
#: Height of a line of text, in font sizes.
LINE_HEIGHT = 1.3
#: Where a name begins, in widths of the axes.
PLACE = 1.05


def label_lines(ax: Axes, ends: Mapping[str, float]) -> bool:
    """Name each model at the height where its line ends; False where there is no room for all names.

    The limits of the axes must be final: heights are turned into places on the axes.
    """
    points = ax.bbox.height / ax.figure.dpi * 72
    gap = LINE_HEIGHT * FontProperties(size=FONT_SIZE).get_size_in_points() / points
    if not has_layout(ax) or gap * len(ends) > 1 or not np.isfinite(list(ends.values())).all():
        return False
    to_axes = ax.transScale + ax.transLimits
    right = ax.get_xlim()[1]
    heights = np.array([to_axes.transform((right, value))[1] for value in ends.values()])
    labels, palette, markers = model_labels(ends), model_palette(list(ends)), model_markers(list(ends))
    for model, height, place in zip(ends, heights, spread(heights, gap), strict=True):
        ax.plot(
            [1, PLACE - 0.015],
            [height, place],
            color=palette[model],
            linewidth=0.9,
            clip_on=False,
            marker=markers[model],
            markersize=4,
            markevery=[1],
            transform=ax.transAxes,
            label="_connector",
        )
        ax.text(PLACE, place, labels[model], va="center", fontsize=FONT_SIZE, transform=ax.transAxes)
    return True


def spread(heights: Floats, gap: float) -> Floats:
    """Places between 0 and 1 in the order of the heights, close to them, and at least `gap` apart."""
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(heights))
    wanted = heights[order] - steps
    raised = np.maximum.accumulate(wanted)
    lowered = np.minimum.accumulate(wanted[::-1])[::-1]
    room = 1 - steps[-1]
    placed = np.empty(len(heights))
    placed[order] = np.clip((raised + lowered) / 2, 0, room) + steps
    return placed
