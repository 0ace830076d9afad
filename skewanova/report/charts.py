"""Line charts of the page as plain SVG: coordinates for ``chart.html.j2``, all values those of frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skewanova.base.checks import Floats
from skewanova.base.text import shorten_name
from skewanova.plotting.lines import LIGHT_COLORS, spread_heights

#: Pixels between the ticks of an axis, and between the texts "1 in n" below them.
TICK_GAP, FRACTION_GAP = 26, 54


#: Largest mean width of a character, in font sizes: of names, which are bold, and of other texts.
BOLD_WIDTH, TEXT_WIDTH = 0.65, 0.6


#: Prior, its interval and AUPREC of a change of the highest mean; low, high, text and colour of a segment.
Crossing = tuple[float, float, float, float]
Segment = tuple[float, float, str, int]


#: Coordinates and texts of one chart, as its template writes them.
Chart = SimpleNamespace


class Layout(NamedTuple):
    """Size, margins and font size of a chart in pixels, and the longest name at a line end."""

    name: str
    width: int
    height: int
    left: int
    top: int
    bottom: int
    font: int
    max_name: int


#: Layouts of the charts along the prior on a screen, on a phone, of a smaller chart, and of a panel.
WIDE = Layout("wide", 800, 500, 40, 30, 66, 12, 24)
NARROW = Layout("narrow", 358, 262, 34, 26, 62, 11, 11)
LOW = Layout("wide", 800, 340, 48, 30, 44, 12, 24)
PANEL = Layout("panel", 440, 340, 36, 14, 44, 12, 14)
SMALL = Layout("small", 150, 104, 4, 4, 20, 11, 0)


@dataclass(frozen=True)
class ChartLine:
    """One model's line, the limits of its band, if any, and the number of its colour, 0 for grey."""

    model: str
    color: int
    x: Floats
    y: Floats
    limits: Sequence[Floats] = ()
    is_named: bool = True


class Scale(NamedTuple):
    """Box of a plot in pixels, and the limits of its axes."""

    left: float
    right: float
    top: float
    bottom: float
    x_limits: tuple[float, float]
    y_limits: tuple[float, float]
    is_log: bool = True

    def x(self, values: Floats | float) -> Floats:
        """Return horizontal positions in pixels (in logs if `is_log`), clipped to the box; nan stays."""
        transform = np.log if self.is_log else np.asarray
        return np.asarray(np.interp(transform(values), transform(self.x_limits), (self.left, self.right)))

    def y(self, values: Floats | float) -> Floats:
        """Return the vertical positions of values in pixels, clipped to the box; nan stays."""
        return np.asarray(np.interp(values, self.y_limits, (self.bottom, self.top)))

    def path(self, x: Floats, y: Floats) -> str:
        """Return the SVG path "M1.0 2.0L3.0 4.0" in pixels of points in axis units, "" of fewer than two."""
        points = [f"{a:.1f} {b:.1f}" for a, b in zip(self.x(x), self.y(y), strict=True)]
        return f"M{'L'.join(points)}" if len(points) > 1 else ""


#: Layout of a chart of intervals, and pixels of each of its rows; a phone shows it at about two thirds.
INTERVALS, ROW_HEIGHT = Layout("means", 640, 0, 14, 0, 34, 14, 24), 28


def build_interval_chart(ranking: pd.DataFrame, colors: Mapping[str, int], *, label: str) -> Chart:
    """Return label, size, scale, ticks (x, text), rows by model (text, color; y, mean, low, high: pixels)."""
    models, layout = ranking["model"].tolist(), INTERVALS
    numbers = ranking[["mean", "conf_low", "conf_high"]].to_numpy(dtype=np.float64)
    names = [shorten_name(model, layout.max_name) for model in models]
    limits, height = choose_limits(numbers), ROW_HEIGHT * len(names)
    left = round(BOLD_WIDTH * layout.font * max(map(len, names))) + layout.left
    scale = Scale(left, layout.width - 20, 0, height, limits, (0, 1), is_log=False)
    ticks = [(float(scale.x(value)), f"{value:.3g}") for value in choose_steps(*limits)]
    rows = []
    for i, (mean, low, high) in enumerate(scale.x(numbers).tolist()):
        positions = {"y": ROW_HEIGHT * (i + 0.5), "mean": mean, "low": low, "high": high}
        rows.append(SimpleNamespace(text=names[i], color=colors[models[i]], **positions))
    size = layout.width, height + layout.bottom
    return Chart(label=label, size=size, scale=scale, ticks=ticks, rows=rows)


class Marks(NamedTuple):
    """Marks of a chart besides its lines; below the prior `rarest` these are dashed."""

    rarest: float = 0.0
    cursor: float | None = None
    deployment: tuple[float, float] | None = None
    has_no_skill: bool = False
    crossings: Sequence[Crossing] = ()
    strip: Sequence[Segment] = ()


def build_chart(
    kind: str,
    lines: Sequence[ChartLine],
    layout: Layout,
    *,
    label: str,
    y_limits: tuple[float, float] = (0.0, 1.0),
    marks: Marks | None = None,
) -> Chart:
    """Return a chart, lines in reverse, greys first; x is the log prior with `marks`, else linear, 0 to 1."""
    named = [line for line in lines if line.is_named]
    longest = max((len(shorten_name(line.model, layout.max_name)) for line in named), default=0)
    right = layout.width - round(BOLD_WIDTH * layout.font * longest + (18 if named else 6))
    low, high = (0.0, 1.0) if marks is None else (float(lines[0].x[0]), float(lines[0].x[-1]))
    bottom, is_log, extra = layout.height - layout.bottom, marks is not None, marks or Marks()
    scale = Scale(layout.left, right, layout.top, bottom, (low, high), y_limits, is_log)
    x_ticks = [(float(scale.x(value)), f"{value:.3g}", "") for value in (low, (low + high) / 2, high)]
    y_ticks = [(float(scale.y(value)), f"{value:.3g}") for value in choose_steps(*y_limits)]
    if layout is SMALL:
        x_ticks, y_ticks = [x_ticks[0], x_ticks[2]], []
    elif is_log:
        x_ticks = choose_prior_ticks(scale)
    placed = [{"index": i, **_place_line(line, scale, extra)} for i, line in enumerate(lines)]
    return Chart(
        kind=kind,
        label=label,
        layout=layout,
        scale=scale,
        x_ticks=x_ticks,
        y_ticks=y_ticks,
        # the first models are drawn last, above the others
        lines=sorted(placed, key=lambda line: (line["color"] > 0, -line["index"])),
        names=_place_names(named, scale, layout) if named else [],
        shade=extra.deployment and _place_shade(extra.deployment, scale),
        unsupported=float(scale.x(min(extra.rarest, high))) if extra.rarest > low else None,
        no_skill=scale.path(*[np.geomspace(low, high, 40)] * 2) if extra.has_no_skill else "",
        skill_y=float(scale.y(low * (high / low) ** 0.84)) if extra.has_no_skill else 0.0,
        crossings=[_place_crossing(each, scale, layout.font) for each in extra.crossings],
        strip=[_place_segment(each, scale, layout.font) for each in extra.strip],
        cursor=extra.cursor and {"x": float(scale.x(extra.cursor)), "text": f"{extra.cursor:.3g}"},
        zero=float(scale.y(0.0)) if y_limits[0] < 0 < y_limits[1] else None,
    )


def choose_steps(low: float, high: float) -> list[float]:
    """Return two to six ascending values in the limits: multiples of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5  # matplotlib's ticks would take long to load
    unit = 10.0 ** np.floor(np.log10(rough))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough * (1 - 1e-9))
    first, last = np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9)
    return [float(k * step) + 0.0 for k in np.arange(first, last + 1)]


def choose_limits(values: Floats) -> tuple[float, float]:
    """Return limits, low < high, around values other than nan, at multiples of the step of `choose_steps`."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    steps = choose_steps(low, max(high, low + 1e-3))
    step = steps[1] - steps[0]
    first, last = np.floor(low / step), np.ceil(high / step)
    return float(first * step), float(max(last, first + 1) * step)


def choose_prior_ticks(scale: Scale) -> list[tuple[float, str, str]]:
    """Return ascending (x in pixels, prior, "1 in n" or "") of ticks at the ends, 1, 2 and 5 with room."""
    low, high = scale.x_limits
    digits = [d * 10.0**k for k in range(-12, 1) for d in (1, 2, 5)]
    values = [low, high, *(v for v in digits if low < v < high)]
    placed: dict[float, tuple[float, str, str]] = {}
    fractions: list[float] = []
    for value in values:
        x, number, text = float(scale.x(value)), 1 / value, ""
        if any(abs(x - other) < TICK_GAP for other, *_ in placed.values()):
            continue
        is_whole = value <= 0.5 and abs(number - round(number)) < 0.005 * number
        if is_whole and all(abs(x - other) >= FRACTION_GAP for other in fractions):
            fractions.append(x)
            text = f"1 in {number:,.0f}"
        placed[value] = x, f"{value:.3g}", text
    return [placed[value] for value in sorted(placed)]


def _place_line(line: ChartLine, scale: Scale, marks: Marks) -> dict[str, Any]:
    """Return color, path, dashed (unsupported part), band (SVG paths or ""), dot (pixels or None) by name."""
    x, y, limits, rarest = line.x, line.y, line.limits, marks.rarest
    if x[0] < rarest < x[-1]:  # the dashes end where support begins
        x = np.union1d(x, rarest)
        y, *limits = (np.interp(np.log(x), np.log(line.x), values) for values in (y, *limits))
    first = min(int(np.searchsorted(x, rarest)), len(x) - 1)
    band = ""
    if limits and rarest <= x[-1]:
        low, high = limits
        finite = np.isfinite(low) & np.isfinite(high) & (x >= x[first])
        band = scale.path(np.r_[x[finite], x[finite][::-1]], np.r_[high[finite], low[finite][::-1]])
    dot = None
    if marks.cursor is not None and line.is_named:
        nearest = int(np.argmin(np.abs(np.log(line.x / marks.cursor))))
        dot = float(scale.x(line.x[nearest])), float(scale.y(line.y[nearest]))
    return {
        "color": line.color,
        "path": scale.path(x[first:], y[first:]),
        "dashed": scale.path(x[: first + 1], y[: first + 1]),
        "band": band,
        "dot": dot,
    }


def _place_names(lines: Sequence[ChartLine], scale: Scale, layout: Layout) -> list[dict[str, Any]]:
    """Return by line color, text, y (of the text), end (y of the line) in pixels; texts apart if they fit."""
    height = scale.bottom - scale.top
    ends = np.array([float(scale.y(line.y[-1])) for line in lines])
    gap = min((layout.font + 4) / height, 1 / max(len(lines) - 1, 1))
    heights = scale.top + height * spread_heights((ends - scale.top) / height, gap)
    return [
        {"color": line.color, "text": shorten_name(line.model, layout.max_name), "y": y, "end": end}
        for line, y, end in zip(lines, heights.tolist(), ends.tolist(), strict=True)
    ]


def _place_shade(limits: tuple[float, float], scale: Scale) -> dict[str, Any]:
    """Return x and right (sides in pixels, in the box) and text of the shaded deployment prior, by name."""
    low, high = limits
    text = f"deployment prior {low:.3g}" + (f" to {high:.3g}" if high > low else "")
    return {"x": float(scale.x(low)), "right": float(scale.x(high)), "text": text}


def _place_crossing(each: Crossing, scale: Scale, font: int) -> dict[str, Any]:
    """Return by name x, y (ring), low, high (bar), text_x, text_y in pixels, anchor, texts ([]: no room)."""
    prior, low, high, value = each
    x, y = float(scale.x(prior)), float(scale.y(value))
    texts = ["the lead changes", f"at {prior:.3g} ({low:.3g} to {high:.3g})"]
    width = TEXT_WIDTH * font * max(map(len, texts))
    is_left = x - 40 - width > scale.left or x - scale.left > scale.right - x
    is_above = y - scale.top > 100 and is_left
    return {
        "x": x,
        "y": y,
        "low": float(scale.x(low)),
        "high": float(scale.x(high)),
        "text_x": max(x - 40, scale.left + width) if is_left else min(x + 40, scale.right - width),
        "text_y": y - 76 if is_above else min(y + 66, scale.bottom - 12),
        "anchor": "end" if is_left else "start",
        "texts": texts if width < (scale.right - scale.left) / 2 else [],
    }


def _place_segment(each: Segment, scale: Scale, font: int) -> dict[str, Any]:
    """Return by name x and width in pixels, color, title (full text), text that fits ("" if none does)."""
    low, high, text, color = each
    x, right = float(scale.x(low)), float(scale.x(high))
    shorter = text, text.split(":")[0].removeprefix("use ")
    character = (BOLD_WIDTH if color else TEXT_WIDTH) * font
    fitting = (each for each in shorter if character * len(each) <= right - x - 6)
    return {"x": x, "width": right - x, "text": next(fitting, ""), "title": text, "color": color}


def number_colors(models: Sequence[str], named: Iterable[str]) -> dict[str, int]:
    """Return colours from 1 in order of `models`; of over ten models the first ten in `named`, others 0."""
    is_few = len(models) <= len(LIGHT_COLORS)
    chosen = [model for model in models if is_few or model in set(named)][: len(LIGHT_COLORS)]
    return dict.fromkeys(models, 0) | {model: i for i, model in enumerate(chosen, 1)}
