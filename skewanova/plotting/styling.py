"""Colours, markers, labels, axes and legends of plots, and their shared parameter descriptions."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import wraps
from typing import Any, TypedDict, TypeVar, cast

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

from skewanova.base.checks import InputError, InputTypeError, check_prior
from skewanova.base.frames import list_distinct
from skewanova.base.text import shorten_names
from skewanova.plotting.lines import LIGHT_COLORS, spread_heights
from skewanova.priors.weightings import PriorLike, as_deployment_prior

Color = tuple[float, float, float]


Plot = TypeVar("Plot", bound=Callable[..., Axes])


ErrorBar = tuple[str, float] | None


Entry = tuple[str, Artist | tuple[Artist, ...]]


#: Options of the line of each model.
LineStyles = dict[str, dict[str, Any]]


#: Colours by model, in the order of the models, or the name of a palette of seaborn.
Palette = Mapping[str, Any] | Sequence[Any] | str | None


#: Filled markers can also be drawn open; nine, so that two models of one of ten colours differ.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">")


#: Line styles of matplotlib, by name or by their dashes.
DASHES: tuple[Any, ...] = ("-", "--", ":", "-.", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 3)))


#: Distance between the markers of a line, as a share of the diagonal of its axes.
MARKER_STEP = 0.21


NEUTRAL = "0.35"


PRIOR_LABEL = "Prior (probability of the positive class)"


#: Lines with bands; more would hide each other.
MAX_BANDS = 9


#: Inches; narrower axes, as in one column of a paper, have no room for a legend beside them.
MIN_LEGEND_WIDTH = 3.4


#: Inches; lower axes have no room for a legend below them.
MIN_LEGEND_HEIGHT = 3.0


_BAND_LABELS = {"sd": "±{} standard\ndeviation{} over folds", "pi": "middle {} % of folds"}


class PlotOptions(TypedDict, total=False):
    """Shared parameters of plots; `document_plot` adds them, and those that all plots take as keywords.

    Parameters
    ----------
    deployment_prior : (low, high), float or deployment prior, optional
        Range of priors to shade; by default that of the comparison, if `result` is one.
    support : DataFrame, optional
        Columns prior, supported; by default the frame `support` of the result, if it has one.
    rope : float, optional
        Difference that would not matter, to shade; by default that of the comparison, if `result` is one.
    errorbar : tuple or None, optional
        Spread over folds: ``("sd", multiple)``, ``("pi", percentage)`` or None for no band. More than nine
        lines have no bands, because bands would hide each other.
    legend : bool, default True
        Whether there is a legend.
    palette : mapping, sequence or str, optional
        Colours by model, in the order of the models, or the name of a seaborn palette; by default those of
        the style sheet in use, or ten that colour-blind readers can tell apart.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If columns are missing, a frame is empty, or an argument is unknown or out of range.
    """

    legend: bool
    palette: Palette
    ax: Axes | None


#: Defaults of the keywords that all plots take.
DEFAULTS: PlotOptions = {"legend": True, "palette": None, "ax": None}


def document_plot(plot: Plot, **special: Any) -> Plot:
    """Return `plot` with keywords DEFAULTS, as changed by `special`, and documentation from PlotOptions."""
    defaults = {**DEFAULTS, **special}
    signature = inspect.signature(plot)
    *parameters, _ = signature.parameters.values()  # the last one stands for the defaults
    for name, default in defaults.items():
        parameters.append(inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default))
    signature = signature.replace(parameters=parameters)

    @wraps(plot)
    def draw_with_defaults(*args: Any, **options: Any) -> Axes:
        call = signature.bind(*args, **options)  # raises for unknown keywords
        return plot(*call.args, **{**defaults, **call.kwargs})

    shared, sections = _split_sections(PlotOptions), _split_sections(plot)
    entries, options = (re.split(r"\n(?=\w)", part["Parameters"])[1:] for part in (sections, shared))
    described = re.split(r"\W+", " ".join(entry.split(" : ")[0] for entry in entries))
    names = [name for name in signature.parameters if name not in described]
    added = [next(text for text in options if text.startswith(f"{name} : ")) for name in names]
    sections["Parameters"] = "\n".join([sections["Parameters"], *added])
    order = ("Summary", "Parameters", "Returns", "Raises", "References")
    texts = (sections.get(name) or shared.get(name) for name in order)
    draw_with_defaults.__doc__ = "\n\n".join(filter(None, texts)) + "\n"
    draw_with_defaults.__signature__ = signature  # type: ignore[attr-defined]
    return cast("Plot", draw_with_defaults)


def _split_sections(documented: object) -> dict[str, str]:
    """Return sections of a docstring, headings included, by heading: first Summary, and always Parameters."""
    summary, *others = re.split(r"\n\n(?=[A-Z][a-z]+\n---)", inspect.getdoc(documented) or "")
    sections = {text.split("\n")[0]: text for text in others}
    return {"Summary": summary, "Parameters": "Parameters\n----------", **sections}


def get_table(source: object, name: str, default: object = None) -> Any:
    """Return ``source.tables[name]``, or else the attribute of this name, or else the default."""
    tables = getattr(source, "tables", {})
    return tables[name] if name in tables else getattr(source, name, default)


def get_setting(source: object, name: str, default: object = None) -> Any:
    """Return a setting of a comparison, or the default if there is no such setting."""
    return getattr(source, "settings", {}).get(name, default)


#: What gives a frame that a comparison of one data set may lack, or all that a plot takes.
_MAKERS = {
    "by_dataset": "skewanova.compare_datasets(datasets)",
    "components": "skewanova.compare(scores, design='runs') of several runs on one test set",
    "hierarchical": "skewanova.compare_datasets(datasets)",
    "residuals": "skewanova.compare(scores) of several folds",
    "table": "skewanova.comparison.monitor(result, unlabelled)",
    "plot_critical_difference": "skewanova.compare(scores)",
    "plot_regions": "skewanova.compare(scores)",
}


def find_frame(
    source: object, attribute: str, columns: str, caller: str = "", *, models: Sequence[str] = ()
) -> pd.DataFrame:
    """Return `source` or its frame `attribute`, models as text categories; raise without rows or `columns`.

    `columns` are separated by spaces. A model that is not among `models` also raises. Errors name `caller`.
    """
    caller = caller or f"plot_{attribute}"
    value = source if isinstance(source, pd.DataFrame) else get_table(source, attribute, source)
    frame = _as_frame(value() if inspect.ismethod(value) else value)
    maker = f"skewanova.compare(scores) or its tables[{attribute!r}]"
    if several := getattr(source, "comparisons", None):
        maker = f"one of its comparisons, such as .comparisons[{next(iter(several))!r}]"
    maker = _MAKERS.get(attribute, maker if several else _MAKERS.get(caller, maker))
    if frame is None:
        hint = "; convert it by its to_pandas()" if hasattr(source, "to_pandas") else ""
        raise InputTypeError(f"`{caller}` takes {maker}, but got {type(source).__name__}{hint}")
    required = columns.split()
    missing = [column for column in required if column not in frame.columns]
    if missing:
        raise InputError(
            f"`{caller}` needs the columns {', '.join(required)}, but the frame lacks {', '.join(missing)}; "
            f"give it {maker}"
        )
    if frame.empty:
        raise InputError(f"`{caller}` needs at least one row, but the frame is empty; give it {maker}")
    names = [column for column in ("model", "model_a", "model_b") if column in required]
    result = frame.assign(**{name: _as_text(frame[name]) for name in names})
    unknown = [model for model in list_distinct(result["model"]) if model not in models] if models else []
    if unknown:
        raise InputError(
            f"`{attribute}` must name models of the first frame, {', '.join(models)}; but got {unknown[0]!r}"
        )
    return result


def _as_text(names: pd.Series[Any]) -> pd.Categorical[str]:
    """Return names as categories of text in alphabetical order; each distinct name is converted once."""
    codes, values = pd.factorize(names, use_na_sentinel=False)
    return pd.Categorical([str(name) for name in values]).take(codes)


def _as_frame(value: object) -> pd.DataFrame | None:
    """Return the frame, or `to_frame()` of a result; None for anything else."""
    if hasattr(value, "to_frame") and not isinstance(value, pd.DataFrame):
        value = value.to_frame()
    return value if isinstance(value, pd.DataFrame) else None


def find_optional_frame(
    result: object, frame: pd.DataFrame | None, attribute: str, columns: str, *, name: str = ""
) -> pd.DataFrame | None:
    """Return `frame` or this frame of the result, checked, None without rows; errors name argument `name`."""
    source = result if frame is None and not isinstance(result, pd.DataFrame) else frame
    value = source if isinstance(source, pd.DataFrame) else _as_frame(get_table(source, attribute, frame))
    if frame is None if value is None else value.empty:
        return None
    return find_frame(source if value is None else value, attribute, columns, name or attribute)


def select_prior(prior: float, present: pd.Series[float]) -> float:
    """Return the prior in `present` that equals `prior` up to rounding; raise if there is none."""
    priors = [float(value) for value in list_distinct(present)]
    result = [value for value in priors if np.isclose(value, check_prior(prior), rtol=1e-9, atol=0)]
    if not result:
        listed = ", ".join(map(format_plain, priors))
        rule = f"one of the priors in the frame, {listed}," if priors else "left out, for no row has one,"
        remedy = f"; to add it, compare (or evaluate) with at_priors=[{listed}, {prior}]" if priors else ""
        raise InputError(f"`prior` must be {rule} but got {prior}{remedy}")
    return result[0]


#: Current settings, which style sheets change, and the defaults.
_RC: Any = rcParams
_RC_DEFAULT: Any = rcParamsDefault


def has_custom_style(*names: str) -> bool:
    """Return True if any of these rcParams differs from matplotlib's default."""
    return any(_RC[name] != _RC_DEFAULT[name] for name in names)


def model_palette(models: Sequence[str], palette: Palette = None) -> dict[str, Color]:
    """Return the colour of each model, from the palette, the style sheet or ten default colours.

    Parameters
    ----------
    models : sequence of str
        Model names in ranking order; if colours repeat, markers tell the models apart.
    palette : mapping, sequence or str, optional
        Colours by model, in the order of the models, or the name of a seaborn palette.

    Returns
    -------
    dict of str to tuple
        Red, green and blue, between 0 and 1, by model name.

    Raises
    ------
    ValueError
        If a model has no colour, or the palette is unknown.

    Examples
    --------
    >>> from skewanova.plotting import model_palette
    >>> model_palette(["A", "B"])["A"]
    (0.050980392156862744, 0.08627450980392157, 0.7254901960784313)
    """
    if isinstance(models, str) or not isinstance(models, Iterable):
        raise InputTypeError(f"`models` must be a list of names, but got {models!r}")
    names = list_distinct(models)
    if isinstance(palette, Mapping):
        missing = [model for model in names if model not in palette]
        if missing:
            lacking = ", ".join(map(repr, missing[:5]))
            raise InputError(f"`palette` must have a colour for everything drawn, but has none for {lacking}")
        palette = [palette[model] for model in names]
    shades = _resolve_colors(palette, len(names))
    return {model: shades[i % len(shades)] for i, model in enumerate(names)}


def _resolve_colors(palette: Sequence[Any] | str | None, number: int) -> Sequence[Color]:
    """Return `number` colours of the palette, else all of a style sheet, else `number` of ten; or raise."""
    cycle = _RC["axes.prop_cycle"].by_key()
    if palette is None and has_custom_style("axes.prop_cycle") and "color" in cycle:
        return [colors.to_rgb(shade) for shade in cycle["color"]]
    try:
        return list(sns.color_palette(LIGHT_COLORS if palette is None else palette, number))
    except (StopIteration, TypeError, ValueError) as error:
        rule = "hold colours of matplotlib, such as 'red' or '#0000ff'"
        if isinstance(palette, str):
            rule = "be the name of a palette of seaborn, such as 'husl', or a list of colours"
        raise InputError(f"`palette` must {rule}, but got {palette!r}") from error


def model_markers(models: Sequence[str]) -> dict[str, str]:
    """Return matplotlib's marker of each model by name; nine markers repeat in order."""
    return {model: MARKERS[i % len(MARKERS)] for i, model in enumerate(list_distinct(models))}


def make_line_styles(models: Sequence[str], palette: Palette = None) -> LineStyles:
    """Return options of each model's line: color, marker, its size and edge, sparse markevery, linestyle."""
    shades, markers = model_palette(models, palette), model_markers(models)
    return {
        model: {
            "color": color,
            "marker": markers[model],
            "markersize": 6.0,
            "markeredgewidth": 0.5,
            "markevery": (0.03 + MARKER_STEP * i / len(shades), MARKER_STEP),
            "linestyle": DASHES[i // 10 % len(DASHES)],
        }
        for i, (model, color) in enumerate(shades.items())
    }


def model_labels(models: Iterable[str], width: int = 28) -> dict[str, str]:
    """Return each model's label: one line, distinct, at most `width` characters before each $ is escaped."""
    named = {model: model if model.strip() else repr(model) for model in list_distinct(models)}
    labels = shorten_names(named.values(), width)
    # $...$ would be a formula
    return {model: labels[name].replace("$", r"\$") for model, name in named.items()}


def format_plain(number: float, _position: object = None) -> str:
    """Format a number without an exponent, to four significant digits: 0.01, not 1e-2."""
    return np.format_float_positional(number, precision=4, fractional=False, trim="-")


def make_axes(ax: Axes | None, size: tuple[float, float], projection: str | None = None) -> Axes:
    """Return `ax`, or the axes of a new pyplot figure of this size; raise unless it has the projection."""
    if ax is None:
        # matplotlib before 3.11 finds no room for 3-D axes in this layout
        layout = "constrained" if projection is None else None
        ax = plt.figure(figsize=size, layout=layout).add_subplot(projection=projection)
    needed = "of plt.subplots()[1]" if projection is None else f"of plt.subplot(projection={projection!r})"
    if not isinstance(ax, Axes):
        raise InputTypeError(f"`ax` must be one Axes, as {needed}, but got {type(ax).__name__}")
    if ax.name != (projection or "rectilinear"):
        raise InputError(f"`ax` must be Axes {needed} for this plot, but is {ax.name}")
    return ax


def draw_mean_line(
    ax: Axes, frame: pd.DataFrame, xy: tuple[str, str], *, errorbar: ErrorBar = None, **style: Any
) -> Line2D:
    """Draw the mean of y over rows by x, `errorbar` as a band of `opacity` cut to [0, 1]; return the line."""
    x, y = xy
    if frame[x].nunique() < 2:  # a line of one point is its marker
        style.pop("markevery", None)
    alpha, rows = style.pop("opacity", 0.2), frame.dropna(subset=[x, y]).groupby(x, observed=True)[y]
    mean: Any = rows.mean()
    (line,) = ax.plot(mean.index, mean, **{"markeredgecolor": "white", **style})
    if errorbar is not None:
        kind, amount = errorbar
        if kind == "sd":
            low, high = mean - amount * rows.std(), mean + amount * rows.std()
        else:
            tails = ((1 - amount / 100) / 2, 1 - (1 - amount / 100) / 2)
            low, high = (rows.quantile(tail).where(rows.size() > 1) for tail in tails)  # or without spread
        band = low.clip(lower=0), high.clip(upper=1)
        ax.fill_between(mean.index, *band, color=style["color"], alpha=alpha, linewidth=0)
    return line


def describe_level(source: object) -> str:
    """Return the confidence level of a comparison as text, such as '95 % '; '' if it is unknown."""
    alpha = get_setting(source, "alpha")
    return "" if alpha is None else f"{format_plain(100 * (1 - float(alpha)))} % "


def check_errorbar(errorbar: Any, folds: pd.Series[Any], lines: int) -> ErrorBar:
    """Return `errorbar`, or None for one fold or for more than MAX_BANDS `lines`; raise if it is invalid."""
    band: Any = errorbar if isinstance(errorbar, tuple) and len(errorbar) == 2 else ("", None)
    most = {"sd": np.inf, "pi": 100}.get(str(band[0]), 0)
    valid = isinstance(band[1], int | float | np.number) and 0 < band[1] <= most
    if errorbar is not None and not valid:
        raise InputError(
            "`errorbar` must be ('sd', MULTIPLE above 0), ('pi', PERCENTAGE above 0, up to 100), such as "
            f"('sd', 1), or None, but got {errorbar!r}"
        )
    return errorbar if folds.nunique() > 1 and lines <= MAX_BANDS else None


def make_band_entry(kind: str, amount: float) -> Entry:
    """Return the legend entry (label, handles) of a band of this kind, 'sd' or 'pi'."""
    label = _BAND_LABELS[kind].format(format_plain(amount), "" if amount == 1 else "s")
    return f"band: {label}", (Patch(facecolor=NEUTRAL, alpha=0.25), Line2D([], [], color=NEUTRAL))


def make_line_entries(styles: LineStyles) -> list[Entry]:
    """Return the legend entry (label, line) of each model."""
    lines = (Line2D([], [], **{**style, "markevery": None}) for style in styles.values())
    return list(zip(model_labels(styles).values(), lines, strict=True))


def find_deployment_limits(source: object, deployment_prior: PriorLike | None) -> tuple[float, float] | None:
    """Return the deployment prior's (low, high), by default that of the comparison; None without it."""
    if deployment_prior is None:
        limits: tuple[float, float] | None = get_setting(source, "deployment_limits")
        return limits
    prior = as_deployment_prior(deployment_prior)
    return prior.low, prior.high


def shade_priors(ax: Axes, limits: tuple[float, float] | None) -> list[Entry]:
    """Shade a range of priors; return its legend entry, or none without a range."""
    if limits is None:
        return []
    style: dict[str, Any] = {"color": NEUTRAL, "alpha": 0.12}
    ax.axvspan(*limits, linewidth=1, zorder=0, **style)
    span = " to ".join(dict.fromkeys(map(format_plain, limits)))
    return [(f"deployment prior\n{span}", Patch(**style))]


def has_layout(ax: Axes) -> bool:
    """Return True if the figure has a layout engine, which makes room for a legend outside the axes."""
    return ax.get_figure() is not None and ax.figure.get_layout_engine() is not None


def is_narrow(ax: Axes) -> bool:
    """Return True if the axes are narrower than `MIN_LEGEND_WIDTH` (3.4 inches)."""
    return ax.bbox.width / ax.figure.dpi < MIN_LEGEND_WIDTH


def is_small(ax: Axes) -> bool:
    """Return True if the axes are narrow and lower than `MIN_LEGEND_HEIGHT` (3 inches)."""
    return is_narrow(ax) and ax.bbox.height / ax.figure.dpi < MIN_LEGEND_HEIGHT


def estimate_text_width(text: str) -> float:
    """Return the approximate width in inches of the longest line of a small text."""
    return 0.062 * max(map(len, text.split("\n")))


def _count_legend_columns(ax: Axes, labels: Sequence[str]) -> int:
    """Return the number of legend columns, 1 to 3, that fit below the axes."""
    room = ax.figure.bbox.width / ax.figure.dpi - 0.6
    for columns in (3, 2):
        rows = -(-len(labels) // columns)
        parts = [labels[start : start + rows] for start in range(0, len(labels), rows)]
        if sum(0.6 + max(map(estimate_text_width, part)) for part in parts) <= room:
            return columns
    return 1


def draw_legend(
    ax: Axes, entries: Sequence[Entry], title: str | None = None, *, position: str = "beside"
) -> None:
    """Draw a legend of any entries, beside or below (narrow), or inside (small, no layout, corner given)."""
    if not entries:
        return
    options: dict[str, Any] = {"loc": "best", "framealpha": 0.8}
    columns = -(-len(entries) // 20)
    small = is_small(ax)
    if position not in {"beside", "below"}:
        options = {"loc": position, "frameon": False}
    elif small:
        options |= {"handlelength": 1.2, "labelspacing": 0.2, "borderpad": 0.2}
    elif has_layout(ax):
        options = {"loc": "upper left", "bbox_to_anchor": (1.02, 1), "borderaxespad": 0, "frameon": False}
        if position == "below" or is_narrow(ax):
            under = ax.transAxes + ScaledTranslation(0, -0.55, ax.figure.dpi_scale_trans)
            options |= {"bbox_to_anchor": (0, 0), "bbox_transform": under}
            columns = _count_legend_columns(ax, [label for label, _ in entries])
    # matplotlib drops entries whose label begins with an underscore, so texts are set afterwards
    handles, names = [handle for _, handle in entries], [f"entry {i}" for i in range(len(entries))]
    options |= {"fontsize": "x-small" if small else "small", "title_fontsize": "small", "alignment": "left"}
    drawn = ax.legend(handles, names, title=None if small else title, ncols=columns, **options)
    for text, (label, _) in zip(drawn.get_texts(), entries, strict=True):
        text.set_text(label)


def set_title(ax: Axes, title: str) -> None:
    """Set the title at the left, in smaller type over narrow axes, unless a style sheet differs."""
    options: dict[str, Any] = {"loc": "left", "fontsize": "medium" if is_narrow(ax) else "large"}
    for option, name in (("loc", "axes.titlelocation"), ("fontsize", "axes.titlesize")):
        if has_custom_style(name):
            options[option] = _RC[name]
    ax.set_title(title, **options)


def style_axes(ax: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Set title, labels, a light grid and an open frame, except what a style sheet sets."""
    set_title(ax, title)
    ax.set(xlabel="Prior" if xlabel == PRIOR_LABEL and is_narrow(ax) else xlabel, ylabel=ylabel)
    if not has_custom_style("axes.grid", "grid.color", "grid.alpha", "grid.linewidth", "grid.linestyle"):
        ax.grid(True, color="0.5", alpha=0.2, linewidth=0.8)
    ax.set_axisbelow(True)
    if not has_custom_style("axes.spines.top", "axes.spines.right", "axes.facecolor"):
        ax.spines[["top", "right"]].set_visible(False)


def finish_axes(
    ax: Axes, labels: tuple[str, str, str], entries: Sequence[Entry], *, legend: bool = True, n_folds: int = 1
) -> Axes:
    """Set labels (title, x, y); draw a legend, titled "mean over folds" if several; return the axes."""
    style_axes(ax, *labels)
    draw_legend(ax, entries if legend else [], "mean over folds" if n_folds > 1 else None)
    return ax


def name_rows(ax: Axes, labels: Sequence[str]) -> None:
    """Label the y axis at 0, 1, ..., with 0 on top."""
    ax.set_yticks(range(len(labels)), labels=labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)


def set_unit_limits(ax: Axes, *, x: bool = True) -> None:
    """Set the limits of y, and of x if `x` is True, to -0.02 and 1.02."""
    ax.set_ylim(-0.02, 1.02)
    if x:
        ax.set_xlim(-0.02, 1.02)


class PlainLogLocator(LogLocator):
    """Locator of as many ticks of a logarithmic axis as have room when it is drawn."""

    def __call__(self) -> Any:
        """Return as many tick positions as fit."""
        axis: Any = self.axis
        box = axis.axes.get_window_extent()
        pixels = box.width if axis.axis_name == "x" else box.height
        low, high = axis.get_view_interval()
        self.set_params(subs=choose_tick_digits(low, high, pixels * 72 / axis.axes.figure.dpi))
        return super().__call__()


def set_log_axis(ax: Axes, which: str, low: float, high: float) -> None:
    """Make axis `which` ("x" or "y") logarithmic with plain numbers, from low to high unless equal."""
    axis = ax.xaxis if which == "x" else ax.yaxis
    ax.set(**{f"{which}scale": "log"})
    if low < high:
        ax.set(**{f"{which}lim": (low, high)})
    axis.set_major_locator(PlainLogLocator())
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(format_plain))


def choose_tick_digits(low: float, high: float, points: float) -> tuple[float, ...]:
    """Return the leading digits of ticks, (1, 2, 5), (1, 3) or (1,), whose numbers fit into the axis."""
    per_decade = points / max(float(np.log10(high / low)), 0.1)
    if per_decade * 0.3 >= 30:
        return (1.0, 2.0, 5.0)
    return (1.0, 3.0) if per_decade * 0.47 >= 30 else (1.0,)


def choose_opacity(bands: int) -> float:
    """Return the opacity (alpha) of each of several bands: 0.24 for one, less for more, at least 0.06."""
    return max(0.06, 0.28 - 0.04 * bands)


NAME_FONT_SIZE = "small"


#: Left edge of a name, in widths of the axes.
NAME_X = 1.05


def label_lines(ax: Axes, lines: dict[str, Line2D], styles: LineStyles, others: Sequence[Entry] = ()) -> None:
    """Name lines at their right ends, `others` in a legend below; all in a legend without room or layout."""
    height = ax.bbox.height / ax.figure.dpi * 72
    gap = 1.3 * FontProperties(size=NAME_FONT_SIZE).get_size_in_points() / height  # the height of a line
    labels = model_labels(lines)
    ends = np.array([np.asarray(line.get_xydata())[-1] for line in lines.values()])
    # names may take this share of the width
    wide = max(map(estimate_text_width, labels.values())) > 0.45 * ax.bbox.width / ax.figure.dpi
    if not has_layout(ax) or gap * len(ends) > 1 or wide or not np.isfinite(ends).all():
        draw_legend(ax, [*make_line_entries(styles), *others])
        return
    points = (ax.transScale + ax.transLimits).transform(ends)
    for model, (x, y), height in zip(lines, points, spread_heights(points[:, 1], gap), strict=True):
        style = {name: styles[model][name] for name in ("color", "marker")}
        style |= {"markersize": 4, "markevery": [1], "linewidth": 0.8, "linestyle": ":", "clip_on": False}
        ax.plot([x, NAME_X - 0.015], [y, height], transform=ax.transAxes, **style)
        ax.text(NAME_X, height, labels[model], va="center", fontsize=NAME_FONT_SIZE, transform=ax.transAxes)
    draw_legend(ax, others, position="below")
