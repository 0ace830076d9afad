"""Colours, markers, names, axes, legends, labels at lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import ismethod
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib import colors, rcParams, rcParamsDefault
from matplotlib import pyplot as plt
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from skewanova.base.checks import (
    Floats,
    InputError,
    InputTypeError,
    check_choice,
    check_ordered,
    check_priors,
    check_rope,
)
from skewanova.base.frames import distinct
from skewanova.base.text import visible

Color = tuple[float, float, float]


ErrorBar = tuple[str, float] | None


Dash = Any  # a matplotlib line style, by name or by its dashes


Entry = tuple[str, Artist | tuple[Artist, ...]]


#: Colours by model, in the order of the models, or the name of a palette of seaborn.
Palette = Mapping[str, Any] | Sequence[Any] | str | None


#: Filled markers, so that they can also be drawn open; nine, so that models ten apart (one colour) differ.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


DASHES: tuple[Dash, ...] = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))


MARKER_SIZE = 6.0


#: Distance between the markers of a line, as a share of the diagonal of its axes.
MARKER_STEP = 0.21


NEUTRAL = "0.35"


PRIOR_LABEL = "Prior (probability of the positive class)"


NAME_WIDTH = 28


MOST_BANDS = 9


#: Inches; beside narrower axes, as in one column of a paper, a legend would leave them no room.
NARROW = 3.4


#: Inches; below lower axes a legend would leave them no room.
LOW = 3.0


_BANDS = {"sd": "±{} standard deviation{}\nover folds", "pi": "middle {} % of folds"}


def table_of(source: object, name: str, default: object = None) -> Any:
    """Return the table or attribute of that name that a result has."""
    tables = getattr(source, "tables", {})
    return tables[name] if name in tables else getattr(source, name, default)


def find_frame(
    source: object, attribute: str, columns: Sequence[str], caller: str, *, models: Sequence[str] = ()
) -> pd.DataFrame:
    """The frame itself, or that attribute of a result, with the columns the caller draws; names as text.

    Where `models` are given, it names no others.
    """
    value = source if isinstance(source, pd.DataFrame) else table_of(source, attribute, source)
    frame = _as_frame(value() if ismethod(value) else value)
    if frame is None:
        raise InputTypeError(
            f"`{caller}` takes a pandas DataFrame or a result that has `{attribute}`, "
            f"but got {type(source).__name__}"
        )
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError(
            f"`{caller}` draws the columns {', '.join(columns)}, but the frame lacks {', '.join(missing)}; "
            f"give it `{attribute}` of a comparison"
        )
    if frame.empty:
        raise InputError(f"`{caller}` needs at least one row, but the frame is empty")
    names = [column for column in ("model", "model_a", "model_b") if column in columns]
    result = frame.assign(**{name: _as_text(frame[name]) for name in names})
    unknown = [model for model in distinct(result["model"]) if model not in models] if models else []
    if unknown:
        raise InputError(
            f"`{attribute}` must name models of the first frame, {', '.join(models)}; but got {unknown[0]!r}"
        )
    return result


def _as_text(names: pd.Series[Any]) -> pd.Categorical[str]:
    """Names as text, each turned once: there are many rows of few names."""
    codes, known = pd.factorize(names, use_na_sentinel=False)
    return pd.Categorical([str(name) for name in known]).take(codes)


def _as_frame(value: object) -> pd.DataFrame | None:
    """A frame, or what a result's `to_frame` returns."""
    if hasattr(value, "to_frame") and not isinstance(value, pd.DataFrame):
        value = value.to_frame()
    return value if isinstance(value, pd.DataFrame) else None


def tuples_of(frame: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Rows as tuples of those columns."""
    return list(zip(*(frame[column] for column in columns), strict=True))


def choose(wanted: str | None, present: Sequence[str], name: str) -> str:
    """The one asked for, which must occur, or else the first."""
    return present[0] if wanted is None else check_choice(wanted, present, name)


def choose_prior(wanted: float, present: pd.Series[float]) -> float:
    """The prior of the frame that equals the one asked for."""
    known = [float(prior) for prior in distinct(present)]
    result = [prior for prior in known if np.isclose(prior, wanted, rtol=1e-9, atol=0)]
    if not result:
        available = ", ".join(plain(prior) for prior in known) or "which has none"
        raise InputError(f"`prior` must be one of the priors in the frame, {available}; but got {wanted:g}")
    return result[0]


#: What style sheets set, and what is so without any.
_SET: Any = rcParams
_DEFAULT: Any = rcParamsDefault


def of_style(*names: str) -> bool:
    """Whether a style sheet, or the user, has set one of these to anything but matplotlib's default."""
    return any(_SET[name] != _DEFAULT[name] for name in names)


def model_palette(models: Sequence[str], palette: Palette = None) -> dict[str, Color]:
    """Colour of each model: those of the style sheet, or ten that colour-blind readers can tell apart.

    Parameters
    ----------
    models : sequence of str
        Model names in ranking order; where colours repeat, markers tell models apart.
    palette : mapping, sequence or str, optional
        Colours by model, in the order of the models, or the name of a palette of seaborn.

    Returns
    -------
    dict of str to tuple
        Red, green and blue, between 0 and 1, by model name.

    Raises
    ------
    ValueError
        If a model has no colour, or what is given is none.

    Examples
    --------
    >>> from skewanova.plotting.looks import model_palette
    >>> model_palette(["A", "B"])["A"]
    (0.00392156862745098, 0.45098039215686275, 0.6980392156862745)
    """
    names = distinct(models)
    result = [_color_of(palette, name) for name in names] if isinstance(palette, Mapping) else palette
    shades = _colors(result, len(names))
    return {model: shades[i % len(shades)] for i, model in enumerate(names)}


def _color_of(palette: Mapping[str, Any], model: str) -> Any:
    if model not in palette:
        raise InputError(f"`palette` must have a colour for every model, but has none for {model!r}")
    return palette[model]


def _colors(palette: Sequence[Any] | str | None, number: int) -> Sequence[Color]:
    """The colours asked for, or else those of the style sheet, or else ten."""
    if palette is None:
        cycle = _SET["axes.prop_cycle"].by_key()
        if of_style("axes.prop_cycle") and "color" in cycle:
            return [colors.to_rgb(shade) for shade in cycle["color"]]
        return list(sns.color_palette("colorblind", 10))
    try:
        return list(sns.color_palette(palette, number))
    except ValueError as error:
        raise InputError(
            "`palette` must be colours by model, a list of colours, or the name of a palette of seaborn, but "
            f"got {palette!r}"
        ) from error


def model_markers(models: Sequence[str]) -> dict[str, str]:
    """Marker of each model; never shared by two models of one colour (up to 90 models)."""
    return {model: MARKERS[i % len(MARKERS)] for i, model in enumerate(distinct(models))}


def line_looks(models: Sequence[str], palette: Palette = None) -> dict[str, dict[str, Any]]:
    """Colour, marker and dashes of each model; markers are sparse and start apart, not to hide others."""
    shades, markers = model_palette(models, palette), model_markers(models)
    return {
        model: {
            "color": color,
            "marker": markers[model],
            "markersize": MARKER_SIZE,
            "markeredgewidth": 0.5,
            "markevery": (0.03 + MARKER_STEP * i / len(shades), MARKER_STEP),
            "linestyle": DASHES[i // 10 % len(DASHES)],
        }
        for i, (model, color) in enumerate(shades.items())
    }


def model_labels(models: Iterable[str], width: int = NAME_WIDTH) -> dict[str, str]:
    """Names as they are drawn: literal, on one line, shortened, and still distinct."""
    labels: dict[str, str] = {}
    for model in distinct(models):
        short = label = _shorten(_drawn(model), width)
        copy = 1
        while label in labels.values():
            copy += 1
            label = f"{short} ({copy})"
        labels[model] = label
    return {
        model: label.replace("$", r"\$") for model, label in labels.items()
    }  # else $...$ is set as a formula


def _drawn(name: str) -> str:
    """Name with single spaces; one with nothing to see in quotes."""
    return " ".join(visible(name).split()) or repr(name)


def _shorten(text: str, width: int) -> str:
    """The middle left out of a long name: names often differ at either end."""
    if len(text) <= width:
        return text
    tail = width // 3
    return f"{text[: width - tail - 1]}…{text[-tail:]}"


def plain(number: float, _position: object = None) -> str:
    """A number without an exponent, to four significant digits: 0.01, not 1e-2."""
    return np.format_float_positional(number, precision=4, fractional=False, trim="-")


def new_axes(ax: Axes | None, size: tuple[float, float], projection: str | None = None) -> Axes:
    """The axes given, or those of a new figure that pyplot knows, so that notebooks show it."""
    if ax is None:
        # matplotlib before 3.11 finds no room for 3-D axes in this layout
        layout = "constrained" if projection is None else None
        ax = plt.figure(figsize=size, layout=layout).add_subplot(projection=projection)
    if (ax.name == "3d") != (projection == "3d"):
        needed = "3-D axes (projection='3d')" if projection == "3d" else "2-D axes"
        raise InputError(f"`ax` must be {needed} for this plot, but is {ax.name}")
    return ax


def mean_line(ax: Axes, frame: pd.DataFrame, xy: tuple[str, str], **look: Any) -> None:
    """Mean over the rows at each x with a band around it (`errorbar`).

    As seaborn's lineplot has it, which calls a function of Python at every x: most of the time of a figure.
    """
    x, y = xy
    if frame[x].nunique() < 2:  # a line of one point is its marker
        look.pop("markevery", None)
    opacity, band = look.pop("opacity", 0.2), look.pop("errorbar")
    rows = frame.dropna(subset=[x, y]).groupby(x, sort=True, observed=True)[y]
    mean = rows.mean()
    ax.plot(mean.index, mean, **{"markeredgecolor": "white", **look})
    if band is not None:
        low, high = _limits(rows, mean, band)
        ax.fill_between(mean.index, low, high, color=look["color"], alpha=opacity, linewidth=0)


def _limits(rows: Any, mean: pd.Series[float], band: tuple[str, float]) -> tuple[Any, Any]:
    """Multiples of the standard deviation either side of the mean, or the middle percentage of the rows."""
    kind, amount = band
    if kind == "sd":
        half_width = amount * rows.std()
        return (mean - half_width).clip(lower=0), (mean + half_width).clip(
            upper=1
        )  # as what is drawn lies between
    tail, several = (1 - amount / 100) / 2, rows.size() > 1  # one row shows no spread
    return rows.quantile(tail).where(several), rows.quantile(1 - tail).where(several)


def level_words(source: object) -> str:
    """Level of a comparison's intervals, with a space behind it; nothing where it is not known."""
    alpha = getattr(source, "settings", {}).get("alpha")
    return "" if alpha is None else f"{plain(100 * (1 - float(alpha)))} % "


def check_errorbar(errorbar: Any, folds: pd.Series[Any], lines: int) -> ErrorBar:
    """A band of the kinds that have a label here; none for one fold or where many would hide each other."""
    known = isinstance(errorbar, tuple) and len(errorbar) == 2 and errorbar[0] in _BANDS
    if errorbar is not None and not known:
        raise InputError(
            f"`errorbar` must be ('sd', multiple), ('pi', percentage) or None, but got {errorbar!r}"
        )
    band: ErrorBar = errorbar
    return band if folds.nunique() > 1 and lines <= MOST_BANDS else None


def band_entries(errorbar: ErrorBar) -> list[Entry]:
    """Legend entry that says what the band is."""
    if errorbar is None:
        return []
    kind, amount = errorbar
    label = _BANDS[kind].format(plain(amount), "" if amount == 1 else "s")
    return [(f"band: {label}", (Patch(facecolor=NEUTRAL, alpha=0.25), Line2D([], [], color=NEUTRAL)))]


def line_entries(looks: Mapping[str, Mapping[str, Any]]) -> list[Entry]:
    """Legend entry of each model's line."""
    labels = model_labels(looks)
    without = {"markevery"}
    return [
        (labels[model], Line2D([], [], **{key: value for key, value in look.items() if key not in without}))
        for model, look in looks.items()
    ]


def dash_entries(dashes: Mapping[str, Dash]) -> list[Entry]:
    """Legend entry of each line style."""
    return [(label, Line2D([], [], color=NEUTRAL, linestyle=dash)) for label, dash in dashes.items()]


def rope_of(source: object, rope: float | None) -> float | None:
    """The margin given, or that of the comparison."""
    known = getattr(source, "settings", {}).get("rope") if rope is None else check_rope(rope)
    return None if known is None else float(known)


def deployment_limits(
    source: object, deployment_prior: tuple[float, float] | None
) -> tuple[float, float] | None:
    """The range given, in ascending order, or that of the comparison."""
    own = getattr(source, "settings", {}).get("deployment_limits")
    limits = own if deployment_prior is None else deployment_prior
    if limits is None:
        return None
    priors = check_priors(limits, "deployment_prior")
    if priors.shape != (2,):
        raise InputError(f"`deployment_prior` must be given as (low, high), but got {limits!r}")
    low, high = float(priors[0]), float(priors[1])
    check_ordered(low, high, "deployment_prior")
    return low, high


def shade_priors(ax: Axes, limits: tuple[float, float] | None) -> list[Entry]:
    """Shade a range of priors; its legend entry."""
    if limits is None:
        return []
    look: dict[str, Any] = {"color": NEUTRAL, "alpha": 0.12}
    ax.axvspan(*limits, linewidth=1, zorder=0, **look)
    span = plain(limits[0]) if limits[0] == limits[1] else f"{plain(limits[0])} to {plain(limits[1])}"
    return [(f"deployment prior\n{span}", Patch(**look))]


def has_layout(ax: Axes) -> bool:
    """Whether the figure makes room for what stands outside its axes."""
    return ax.get_figure() is not None and ax.figure.get_layout_engine() is not None


def is_narrow(ax: Axes) -> bool:
    """Whether the axes are about as wide as one column of a paper, or less."""
    return ax.bbox.width / ax.figure.dpi < NARROW


def is_small(ax: Axes) -> bool:
    """Whether they are narrow and low, as two panels side by side in a paper."""
    return is_narrow(ax) and ax.bbox.height / ax.figure.dpi < LOW


def text_width(text: str) -> float:
    """Rough width in inches of a text in small letters."""
    return 0.062 * max(map(len, text.split("\n")))


def _columns_below(ax: Axes, labels: Sequence[str]) -> int:
    """As many columns of a legend as fit under the axes, up to three."""
    room = ax.figure.bbox.width / ax.figure.dpi - 0.6
    for columns in (3, 2):
        rows = -(-len(labels) // columns)
        parts = [labels[start : start + rows] for start in range(0, len(labels), rows)]
        if sum(0.6 + max(map(text_width, part)) for part in parts) <= room:
            return columns
    return 1


def legend(
    ax: Axes,
    entries: Sequence[Entry],
    title: str | None = None,
    *,
    corner: str | None = None,
    below: bool = False,
) -> None:
    """Legend beside the axes where the figure makes room for it (below narrow ones), else inside.

    With `corner` it stands there, inside; in small axes it is small. Axes too low for one below have it
    inside.

    Texts are set afterwards: matplotlib drops entries whose label begins with an underscore.
    """
    if not entries:
        return
    options: dict[str, Any] = {"loc": "best", "framealpha": 0.8}
    columns = -(-len(entries) // 20)
    small = is_small(ax)
    if corner is not None:
        options = {"loc": corner, "frameon": False}
    elif small:
        options |= {"handlelength": 1.2, "labelspacing": 0.2, "borderpad": 0.2}
    elif has_layout(ax):
        options = {"loc": "upper left", "bbox_to_anchor": (1.02, 1), "borderaxespad": 0, "frameon": False}
        if below or is_narrow(ax):
            under = ax.transAxes + ScaledTranslation(0, -0.55, ax.figure.dpi_scale_trans)
            options |= {"bbox_to_anchor": (0, 0), "bbox_transform": under}
            columns = _columns_below(ax, [label for label, _ in entries])
    drawn = ax.legend(
        [handle for _, handle in entries],
        [f"entry {i}" for i in range(len(entries))],
        title=None if small else title,
        alignment="left",
        fontsize="x-small" if small else "small",
        title_fontsize="small",
        ncols=columns,
        **options,
    )
    for text, (label, _) in zip(drawn.get_texts(), entries, strict=True):
        text.set_text(label)


def set_title(ax: Axes, title: str) -> None:
    """Title on the left, smaller over narrow axes, unless a style sheet has it otherwise."""
    size = _SET["axes.titlesize"] if of_style("axes.titlesize") else "medium" if is_narrow(ax) else "large"
    location: Any = _SET["axes.titlelocation"] if of_style("axes.titlelocation") else "left"
    ax.set_title(title, loc=location, fontsize=size)


def style(ax: Axes, *, title: str, xlabel: str, ylabel: str) -> None:
    """Title, labels, light grid, open frame, but for what a style sheet has set; nothing else is touched."""
    set_title(ax, title)
    ax.set_xlabel("Prior" if xlabel == PRIOR_LABEL and is_narrow(ax) else xlabel)
    ax.set_ylabel(ylabel)
    if not of_style("axes.grid", "grid.color", "grid.alpha", "grid.linewidth", "grid.linestyle"):
        ax.grid(True, color="0.5", alpha=0.2, linewidth=0.8)
    ax.set_axisbelow(True)
    if not of_style("axes.spines.top", "axes.spines.right", "axes.facecolor"):
        ax.spines[["top", "right"]].set_visible(False)


def unit_limits(ax: Axes, *, x: bool = True) -> None:
    """Axes from 0 to 1 with a little air, for rates."""
    ax.set_ylim(-0.02, 1.02)
    if x:
        ax.set_xlim(-0.02, 1.02)


class PlainLogLocator(LogLocator):
    """Ticks of a logarithmic axis: as many plain numbers as there is room for when it is drawn."""

    def __call__(self) -> Any:
        """As many places of ticks as fit."""
        axis: Any = self.axis
        box = axis.axes.get_window_extent()
        pixels = box.width if axis.axis_name == "x" else box.height
        low, high = axis.get_view_interval()
        self.set_params(subs=tick_digits(low, high, pixels * 72 / axis.axes.figure.dpi))
        return super().__call__()


def log_axis(ax: Axes, which: str, low: float, high: float) -> None:
    """Logarithmic axis `which` from low to high with plain numbers."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    ax.set(**{f"{which}scale": "log"})
    if low < high:
        ax.set(**{f"{which}lim": (low, high)})
    axis.set_major_locator(PlainLogLocator())
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(plain))


def tick_digits(low: float, high: float, points: float) -> tuple[float, ...]:
    """Leading digits of the ticks: 1-2-5, 1-3 or 1, whichever leaves room for the numbers."""
    per_decade = points / max(float(np.log10(high / low)), 0.1)
    if per_decade * 0.3 >= 30:
        return (1.0, 2.0, 5.0)
    return (1.0, 3.0) if per_decade * 0.47 >= 30 else (1.0,)


def legend_title(frame: pd.DataFrame) -> str | None:
    """What the lines of a frame are where it has several folds."""
    return "mean over folds" if frame["fold"].nunique() > 1 else None


def opacity(bands: int) -> float:
    """Opacity of each of several bands that may overlap."""
    return max(0.06, 0.28 - 0.04 * bands)


FONT_SIZE = "small"


#: Height of a line of text, in font sizes.
LINE_HEIGHT = 1.3


#: Share of the width of the axes that names may take.
MOST_WIDTH = 0.45


#: Where a name begins, in widths of the axes.
PLACE = 1.05


def label_lines(ax: Axes, ends: Mapping[str, tuple[float, float]], palette: Palette = None) -> bool:
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
    shades, markers = model_palette(list(ends), palette), model_markers(list(ends))
    for model, (x, y), height in zip(ends, points, spread(points[:, 1], gap), strict=True):
        look: dict[str, Any] = {"marker": markers[model], "markersize": 4, "markevery": [1]}
        look |= {"color": shades[model], "linewidth": 0.8, "linestyle": ":", "clip_on": False}
        ax.plot([x, PLACE - 0.015], [y, height], transform=ax.transAxes, **look)
        ax.text(PLACE, height, labels[model], va="center", fontsize=FONT_SIZE, transform=ax.transAxes)
    return True


def spread(heights: Floats, gap: float) -> Floats:
    """Places between 0 and 1 in the order of the heights, close to them, and at least `gap` apart."""
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(len(heights))
    desired = heights[order] - steps
    raised = np.maximum.accumulate(desired)
    lowered = np.minimum.accumulate(desired[::-1])[::-1]
    room = 1 - steps[-1]
    placed = np.empty(len(heights))
    placed[order] = np.clip((raised + lowered) / 2, 0, room) + steps
    return placed


def or_own(
    result: object, given: pd.DataFrame | None, attribute: str, columns: list[str]
) -> pd.DataFrame | None:
    """The frame given, or that of the result, or None where there is none or it has no rows."""
    source = result if given is None and not isinstance(result, pd.DataFrame) else given
    found = source if isinstance(source, pd.DataFrame) else _as_frame(table_of(source, attribute))
    return None if found is None or found.empty else find_frame(found, attribute, columns, attribute)
