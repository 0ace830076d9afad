"""Names at the right ends of lines, moved apart where lines end close together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties

from skewanova._checks import Floats
from skewanova._plotting import has_layout, model_labels, model_markers, model_palette, text_width

FONT_SIZE = "small"
#: Height of a line of text, in font sizes.
LINE_HEIGHT = 1.3
#: Share of the width of the axes that names may take.
MOST_WIDTH = 0.45
#: Where a name begins, in widths of the axes.
PLACE = 1.05


def label_lines(ax: Axes, ends: Mapping[str, tuple[float, float]]) -> bool:
    """Name each model to the right of its line's end; False where there is no room for all names.

    The limits of the axes must be final: heights are turned into places on the axes.
    """
    height = ax.bbox.height / ax.figure.dpi * 72
    gap = LINE_HEIGHT * FontProperties(size=FONT_SIZE).get_size_in_points() / height
    labels = model_labels(ends)
    wide = max(map(text_width, labels.values())) > MOST_WIDTH * ax.bbox.width / ax.figure.dpi
    if not has_layout(ax) or gap * len(ends) > 1 or wide or not np.isfinite([*ends.values()]).all():
        return False
    to_axes = ax.transScale + ax.transLimits
    points = to_axes.transform([*ends.values()])
    palette, markers = model_palette(list(ends)), model_markers(list(ends))
    for model, (x, y), place in zip(ends, points, spread(points[:, 1], gap), strict=True):
        look: dict[str, Any] = {"marker": markers[model], "markersize": 4, "markevery": [1]}
        look |= {"color": palette[model], "linewidth": 0.8, "linestyle": ":", "clip_on": False}
        ax.plot([x, PLACE - 0.015], [y, place], transform=ax.transAxes, **look)
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
