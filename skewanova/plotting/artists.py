"""Strips, bands, forests, surfaces: what plots are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon, Rectangle
from matplotlib.ticker import LogLocator

from skewanova.base.checks import InputError, check_choice, check_rope
from skewanova.base.frames import list_distinct
from skewanova.plotting import looks
from skewanova.plotting.looks import NEUTRAL, Color, Entry, ErrorBar, Palette


def auprec_lines(
    frame: pd.DataFrame, errorbar: ErrorBar, ax: Axes | None, palette: Palette = None
) -> tuple[Axes, list[Entry]]:
    """Draw the mean AUPREC of each model over a logarithmic prior axis; return axes and legend entries."""
    ax, entries = mean_lines(ax, (7.2, 4.4), [("", frame, ("prior", "auprec"))], errorbar, palette=palette)
    looks.log_axis(ax, "x", frame["prior"].min(), frame["prior"].max())
    return ax, entries


def mean_lines(
    ax: Axes | None,
    size: tuple[float, float],
    parts: Sequence[tuple[str, pd.DataFrame, tuple[str, str]]],
    errorbar: ErrorBar,
    *,
    palette: Palette = None,
) -> tuple[Axes, list[Entry]]:
    """Draw a mean line for each model and part (label, rows, x and y): colour by model, dashes by part.

    New axes are of this size; nothing is opened where the bands are unknown.
    """
    frame = pd.concat([rows[["model", "fold"]] for _, rows, _ in parts])
    styles = looks.line_styles(list_distinct(frame["model"]), palette)
    dashed = list(zip(parts, cycle(looks.DASHES)))
    n_lines = len(styles) * len(parts)
    band = looks.check_errorbar(errorbar, frame["fold"], n_lines)
    ax = looks.new_axes(ax, size)
    for model, style in styles.items():
        for (_, rows, xy), dash in dashed:
            line = {**style, "errorbar": band, **({"linestyle": dash} if len(parts) > 1 else {})}
            looks.mean_line(ax, rows[rows["model"] == model], xy, opacity=looks.opacity(n_lines), **line)
    entries = looks.line_entries(styles)
    if len(parts) > 1:
        dashes = {part[0]: dash for part, dash in dashed}
        entries += [(label, Line2D([], [], color=NEUTRAL, linestyle=dash)) for label, dash in dashes.items()]
    return ax, entries if band is None else [*entries, looks.band_entry(*band)]


def hatch_unsupported(ax: Axes, result: object, support: pd.DataFrame | None) -> list[Entry]:
    """Hatch the priors that the test set cannot speak for, where that is known."""
    support = looks.find_optional_frame(result, support, "support", "prior supported")
    if support is None or support["supported"].all():
        return []
    limits = ax.get_xlim()
    supported = support.loc[support["supported"], "prior"]
    end = supported.min() if len(supported) else support["prior"].max()
    style: dict[str, Any] = {"facecolor": "none", "edgecolor": NEUTRAL, "hatch": "///", "alpha": 0.35}
    ax.axvspan(max(support["prior"].min(), limits[0]), min(end, limits[1]), linewidth=0, zorder=0, **style)
    ax.set_xlim(limits)
    return [("too few negatives\nto tell", Patch(linewidth=0, **style))]


def bands(
    ax: Axes, frame: pd.DataFrame | None, palette: Mapping[str, Color], *, level: str = ""
) -> list[Entry]:
    """Draw a band around each model's mean in its colour, where bands are known."""
    if frame is None or frame["conf_low"].isna().all():
        return []
    for model, color in palette.items():
        rows = frame[frame["model"] == model]
        style: dict[str, Any] = {"color": color, "alpha": looks.opacity(len(palette)), "linewidth": 0}
        ax.fill_between(rows["prior"], rows["conf_low"], rows["conf_high"], **style)
    return [(f"simultaneous\n{level}band", Patch(facecolor=NEUTRAL, alpha=0.25))]


def crossing_marks(ax: Axes, frame: pd.DataFrame | None, heights: pd.DataFrame) -> list[Entry]:
    """Mark every prior at which the lead changes hands, with its interval; arrows run on beyond."""
    if frame is None or not frame["lead"].any():
        return []
    style: dict[str, Any] = {"color": "black", "linewidth": 1.6}
    mean = heights.groupby(["model", "prior"], sort=False, observed=True)["auprec"].mean()
    limits = ax.get_xlim()
    edges = np.log(limits)
    inside = np.exp(edges + 0.012 * np.diff(edges) * [1, -1])  # arrows at open ends need room
    columns = "prior conf_low conf_high model_above open_low open_high"
    for prior, low, high, model, open_low, open_high in looks.tuples_of(frame[frame["lead"]], columns):
        curve = mean.loc[model]
        y = np.interp(np.log(prior), np.log(curve.index.to_numpy(float)), curve.to_numpy(float))
        low = max(low, inside[0] if open_low else limits[0])
        high = min(high, inside[1] if open_high else limits[1])
        ax.plot([low, high], [y, y], zorder=4, **style)
        for end, is_open, arrow in ((low, open_low, "<"), (high, open_high, ">")):
            ax.plot([end], [y], marker=arrow if is_open else "|", markersize=7, zorder=4, **style)
        ax.plot([prior], [y], "o", color="white", markeredgecolor="black", markersize=6, zorder=5)
    key = Line2D([], [], marker="o", markerfacecolor="white", markeredgecolor="black", **style)
    return [("change of the lead,\nwith interval", key)]


#: From so many models on colours repeat, so that the strip has names.
NAMED_STRIP = 11


def leader_strip(ax: Axes, regions: pd.DataFrame, palette: Mapping[str, Color]) -> None:
    """Draw one coloured bar a region along the bottom, below all curves; name those that are wide enough."""
    low, high = ax.get_ylim()
    ax.set_ylim(low - 0.08 * (high - low), high)
    labels, transform = looks.model_labels(palette), ax.get_xaxis_transform()
    width = ax.bbox.width / ax.figure.dpi / max(np.diff(np.log(ax.get_xlim()))[0], 1e-9)
    text: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": "x-small", "transform": transform}
    for model, start, end in looks.tuples_of(regions, "model prior_low prior_high"):
        bar: dict[str, Any] = {"color": palette[model], "linewidth": 0, "transform": transform}
        ax.add_patch(Rectangle((start, 0), end - start, 0.05, **bar))
        room = np.log(end / start) * width if len(palette) >= NAMED_STRIP else 0
        if room > looks.text_width(labels[model]):
            ax.text(float(np.sqrt(start * end)), 0.055, labels[model], **text)


def fold_points(ax: Axes, frame: pd.DataFrame, palette: Mapping[str, Color]) -> list[Entry]:
    """Draw one row of points a model; a fold has the same height in every row."""
    markers, folds = looks.model_markers(list(palette)), list_distinct(frame["fold"])
    height = dict(zip(folds, np.linspace(-0.28, 0.28, len(folds)) if len(folds) > 1 else [0.0], strict=True))
    style: dict[str, Any] = {"markersize": 4, "linewidth": 0, "alpha": 0.5}
    for i, (model, color) in enumerate(palette.items()):
        rows = frame[frame["model"] == model]
        heights = [i + height[fold] for fold in rows["fold"]]
        ax.plot(rows["iauprec"], heights, color=color, marker=markers[model], **style)
    if len(folds) == 1:
        return []  # one test set: its point is the estimate
    return [("one fold", Line2D([], [], color=NEUTRAL, marker="o", **style))]


def ranked_means(
    ax: Axes, ranking: pd.DataFrame, palette: Mapping[str, Color], *, level: str = ""
) -> list[Entry]:
    """Draw mean and interval of each ranked model, and its letters in a column at the right edge."""
    models, markers = list(palette), looks.model_markers(list(palette))
    style: dict[str, Any] = {"markersize": 8, "markeredgecolor": "black", "linewidth": 2.5}
    for model, mean, low, high in looks.tuples_of(ranking, "model iauprec conf_low conf_high"):
        i = models.index(model)
        ax.plot([low, high], [i, i], color=palette[model], linewidth=2.5)
        ax.plot([mean], [i], color=palette[model], marker=markers[model], **style)
    key = Line2D([], [], color=NEUTRAL, marker="o", **style)
    entries: list[Entry] = [(f"mean and\n{level}confidence interval", key)]
    lettered = ranking[ranking["group"].notna() & (ranking["group"].astype(str) != "")]
    if lettered.empty:
        return entries
    left, right = ax.get_xlim()
    ax.set_xlim(left, right + 0.1 * (right - left))
    edge: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "ha": "right", "va": "center"}
    for model, letters in looks.tuples_of(lettered, "model group"):
        ax.text(0.99, models.index(model), str(letters), **edge)
    key = Line2D([], [], color=NEUTRAL, marker="$a$", markeredgewidth=0, linewidth=0)
    return [*entries, ("models that share a\nletter do not differ\nsignificantly", key)]


def surface_grid(rows: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return precision with one row a prior and one column a recall."""
    if rows.duplicated(["prior", "recall"]).any():
        raise InputError(f"`surface` must have one row a prior and recall, but repeats some for {model!r}")
    grid = rows.pivot(index="prior", columns="recall", values="precision")
    if min(grid.shape) < 2:
        raise InputError(
            f"`surface` must have 2 priors and 2 recalls or more, but has {len(grid)} and {len(grid.columns)}"
        )
    return grid


def contours(ax: Axes, grid: pd.DataFrame, *, legend: bool = True, cmap: str = "viridis") -> None:
    """Draw filled contours a tenth of precision apart, recall across, prior upwards."""
    recall, prior = grid.columns.to_numpy(float), grid.index.to_numpy(float)
    levels = np.linspace(0, 1, 11)
    height = np.clip(grid.to_numpy(float), 0, 1)  # a mean a rounding error above 1 would stay blank
    filled = ax.contourf(recall, prior, height, levels=levels, cmap=cmap)
    looks.log_axis(ax, "y", prior.min(), prior.max())
    ax.set_xlim(0, 1)
    ax.set_xlabel("Recall")
    ax.set_ylabel(looks.PRIOR_LABEL)
    if legend:
        ax.figure.colorbar(filled, ax=ax, label="Precision", ticks=levels[::2])


def space(ax: Axes, grid: pd.DataFrame, *, legend: bool = True, cmap: str = "viridis") -> None:
    """Draw a surface over recall and the logarithm of the prior; ticks are plain priors."""
    axes: Any = ax  # mplot3d publishes no types
    recall, height = grid.columns.to_numpy(float), np.log10(grid.index.to_numpy(float))
    mesh = np.meshgrid(recall, height)
    axes.plot_surface(*mesh, grid.to_numpy(float), cmap=cmap, vmin=0, vmax=1, rcount=60, ccount=60)
    low, high = grid.index.min(), grid.index.max()
    ticks = LogLocator(subs=looks.tick_digits(low, high, 120)).tick_values(low, high)
    ticks = ticks[(ticks >= low * (1 - 1e-9)) & (ticks <= high * (1 + 1e-9))]
    axes.set_yticks(np.log10(ticks), labels=[looks.plain(tick) for tick in ticks])
    axes.set(xlabel="Recall", ylabel="Prior", zlabel="Precision", zlim=(0, 1))
    axes.set_box_aspect(None, zoom=0.9)


def select_pairs(frame: pd.DataFrame, test: str | None, prior: float | None) -> pd.DataFrame:
    """Return the pairs of one test on one response, IAUPREC where there is a choice."""
    tests = list_distinct([*frame["test"][frame["response"] == "iauprec"], *frame["test"]])
    rows = frame[frame["test"] == (tests[0] if test is None else check_choice(test, tests, "test"))]
    if prior is not None:
        return rows[rows["prior"] == looks.select_prior(prior, rows["prior"].dropna())]
    if (rows["response"] == "iauprec").any():
        return rows[rows["response"] == "iauprec"]
    first = rows.iloc[0]
    same = rows["prior"].isna() if pd.isna(first["prior"]) else rows["prior"].eq(first["prior"])
    return rows.loc[same & rows["response"].eq(first["response"])]


def forest(
    ax: Axes, rows: pd.DataFrame, color: Any, *, interval: str = "interval at the\nlevel of its test"
) -> list[Entry]:
    """Draw differences with their intervals, one row a pair; filled where rejected."""
    ax.axvline(0, color=NEUTRAL, linewidth=1, zorder=1)
    y = np.arange(len(rows))
    bounded = rows[["conf_low", "conf_high"]].notna().all(axis=1).to_numpy()
    entries: list[Entry] = []
    if bounded.any():
        low, high = rows["conf_low"][bounded], rows["conf_high"][bounded]
        ax.hlines(y[bounded], low, high, color=NEUTRAL, linewidth=1.8)
        entries.append((interval, Line2D([], [], color=NEUTRAL, linewidth=1.8)))
    rejected = rows["reject"].eq(True).to_numpy()  # neither NaN nor text counts as rejected
    faces = {"differs": (rejected, color), "no significant\ndifference": (~rejected, ax.get_facecolor())}
    for label, (subset, face) in faces.items():
        style: dict[str, Any] = {"color": color, "markerfacecolor": face, "markersize": 7, "linewidth": 0}
        ax.plot(rows["estimate"][subset], y[subset], "o", **style)
        entries.append((label, Line2D([], [], marker="o", **style)))
    return entries


def mean_of_all(ax: Axes, row: Any, y: int, color: Any) -> list[Entry]:
    """Draw a diamond over the interval of the mean, and a thin line where a new difference is expected."""
    if np.isnan(row["conf_low"]):
        ax.plot(row["estimate"], y, "D", color=color, markerfacecolor=ax.get_facecolor(), markersize=7)
        return []
    ax.hlines(y, row["prediction_low"], row["prediction_high"], color=NEUTRAL, linewidth=0.8)
    x = (row["conf_low"], row["estimate"], row["conf_high"], row["estimate"])
    ax.add_patch(Polygon(list(zip(x, (y, y + 0.28, y, y - 0.28), strict=True)), facecolor=color, zorder=3))
    ax.axhline(y - 0.5, color=NEUTRAL, linewidth=0.6)
    ax.update_datalim([(row["prediction_low"], y), (row["prediction_high"], y)])
    diamond = Line2D([], [], color=color, marker="D", markersize=7, linewidth=0)
    line = Line2D([], [], color=NEUTRAL, linewidth=0.8)
    return [("mean, its\ninterval", diamond), ("a new\ndata set", line)]


def pair_rows(frame: pd.DataFrame, pair: tuple[str, str] | None) -> pd.DataFrame:
    """Return the rows of one pair of models, the first by default."""
    pairs = list_distinct(zip(frame["model_a"], frame["model_b"], strict=True))
    chosen = pairs[0] if pair is None else tuple(pair)
    if chosen not in pairs:
        raise InputError(
            f"`pair` must be one of the pairs compared, but got {chosen!r}; the first is {pairs[0]!r}"
        )
    return frame[(frame["model_a"] == chosen[0]) & (frame["model_b"] == chosen[1])]


def margin(ax: Axes, result: object, rope: float | None, *, upright: bool = False) -> list[Entry]:
    """Shade the differences that would not matter: `rope`, or that of the comparison."""
    rope = looks.setting_of(result, "rope") if rope is None else check_rope(rope)
    if not rope:
        return []
    style: dict[str, Any] = {"facecolor": "tab:olive", "alpha": 0.22, "linewidth": 0}
    (ax.axvspan if upright else ax.axhspan)(-rope, rope, zorder=0, **style)
    return [(f"within {looks.plain(rope)}:\nwould not matter", Patch(**style))]


def difference_band(ax: Axes, rows: pd.DataFrame, color: Any, *, level: str = "") -> list[Entry]:
    """Draw a difference along the prior, its band, zero, and a strip where the band leaves out zero."""
    prior, differs = rows["prior"], rows["reject"].to_numpy(dtype=bool)
    ax.axhline(0, color="black", linewidth=0.9)
    ax.fill_between(prior, rows["conf_low"], rows["conf_high"], color=color, alpha=0.2, linewidth=0)
    (line,) = ax.plot(prior, rows["estimate"], color=color, linewidth=2)
    strip: dict[str, Any] = {"color": NEUTRAL, "linewidth": 0, "transform": ax.get_xaxis_transform()}
    ax.fill_between(prior, 0, 0.035, where=differs, **strip)
    band = (f"simultaneous\n{level}band", Patch(color=color, alpha=0.2))
    return [("difference", line), band, *([("differ", Patch(color=NEUTRAL))] if differs.any() else [])]
