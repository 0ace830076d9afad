"""Colours of models and heights of names at line ends, for figures and for the page."""

from __future__ import annotations

import numpy as np

from skewanova.base.checks import Floats

#: Colours of models in ranking order on white, each with a contrast of 3 or more; readers with any kind of
#: colour blindness can tell neighbours apart.
LIGHT_COLORS = (
    "#0d16b9", "#cf4010", "#11836c", "#760469", "#46320f", "#9944e6", "#086092", "#6f464c", "#33520b",
    "#7066b6",
)  # fmt: skip


#: The same on a dark page.
DARK_COLORS = (
    "#3684f8", "#fc5616", "#78ecbb", "#b96eac", "#fcb321", "#c5bffb", "#74b5c0", "#d19487", "#5d9d47",
    "#b692fd",
)  # fmt: skip


def spread_heights(heights: Floats, gap: float) -> Floats:
    """Return heights (in any order) of the same ranks, 0 to 1, at least `gap` apart; n - 1 gaps must fit."""
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(heights))
    desired = heights[order] - steps
    raised = np.maximum.accumulate(desired)
    lowered = np.minimum.accumulate(desired[::-1])[::-1]
    result = np.empty(len(heights))
    result[order] = np.clip((raised + lowered) / 2, 0, 1 - steps[-1]) + steps
    return result
