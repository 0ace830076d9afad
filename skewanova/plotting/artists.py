"""Parts that plots share: mean lines, bands, strips, forests and surfaces."""

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
from skewanova.base.frames import iter_rows, list_distinct
from skewanova.plotting import styling
from skewanova.plotting.styling import NEUTRAL, Color, Entry, ErrorBar, PlotOptions

#: Label, rows and names of x and y of one line of every model.
LinePart = tuple[str, pd.DataFrame, tuple[str, str]]


def draw_mean_lines(
    size: tuple[float, float], parts: Sequence[LinePart], errorbar: ErrorBar, options: PlotOptions
) -> tuple[Axes, list[Entry]]:
    """Draw a mean line by model and part; return axes, entries of models, parts (if several), any band."""
    frame = pd.concat([rows[["model", "fold"]] for _, rows, _ in parts])
    styles = styling.make_line_styles(list_distinct(frame["model"]), options["palette"])
    dashed = list(zip(parts, cycle(styling.DASHES)))
    n_lines = len(styles) * len(parts)
    band = styling.check_errorbar(errorbar, frame["fold"], n_lines)
    ax = styling.make_axes(options["ax"], size)
    for model, style in styles.items():
        for (_, rows, xy), dash in dashed:
            line = {**style, "errorbar": band, "opacity": styling.choose_opacity(n_lines)}
            line |= {"linestyle": dash} if len(parts) > 1 else {}
            styling.draw_mean_line(ax, rows[rows["model"] == model], xy, **line)
    entries = styling.make_line_entries(styles)
    if len(parts) > 1:
        dashes = {part[0]: dash for part, dash in dashed}
        entries += [(label, Line2D([], [], color=NEUTRAL, linestyle=dash)) for label, dash in dashes.items()]
    return ax, entries if band is None else [*entries, styling.make_band_entry(*band)]


def hatch_unsupported(ax: Axes, result: object, support: pd.DataFrame | None) -> list[Entry]:
    """Hatch priors below the lowest supported of `support` or the result's; return [entry], or [] if none."""
    support = styling.find_optional_frame(result, support, "support", "prior supported")
    if support is None or support["supported"].all():
        return []
    limits = ax.get_xlim()
    supported = support.loc[support["supported"], "prior"]
    end = supported.min() if len(supported) else support["prior"].max()
    style: dict[str, Any] = {"facecolor": "none", "edgecolor": NEUTRAL, "hatch": "///", "alpha": 0.35}
    ax.axvspan(max(support["prior"].min(), limits[0]), min(end, limits[1]), linewidth=0, zorder=0, **style)
    ax.set_xlim(limits)
    return [("too few negatives\nto tell", Patch(linewidth=0, **style))]


def draw_bands(
    ax: Axes, frame: pd.DataFrame | None, palette: Mapping[str, Color], *, level: str = ""
) -> list[Entry]:
    """Draw simultaneous bands; return [entry], with `level`, or [] if frame is None or all limits nan."""
    if frame is None or frame["conf_low"].isna().all():
        return []
    alpha = styling.choose_opacity(len(palette))
    for model, color in palette.items():
        rows = frame[frame["model"] == model]
        ax.fill_between(rows["prior"], rows["conf_low"], rows["conf_high"], color=color, alpha=alpha, lw=0)
    return [(f"simultaneous\n{level}band", Patch(facecolor=NEUTRAL, alpha=0.25))]


def mark_crossings(ax: Axes, crossings: pd.DataFrame | None, auprec: pd.DataFrame) -> list[Entry]:
    """Mark crossings with a new leader on the mean curve of `model_above`; return [entry], or [] if none."""
    if crossings is None or not crossings["lead"].any():
        return []
    style: dict[str, Any] = {"color": "black", "linewidth": 1.6}
    mean = auprec.groupby(["model", "prior"], sort=False, observed=True)["auprec"].mean()
    limits = ax.get_xlim()
    edges = np.log(limits)
    inside = np.exp(edges + 0.012 * np.diff(edges) * [1, -1])  # arrows at open ends need room
    for row in iter_rows(crossings[crossings["lead"]]):
        curve = mean.loc[row.model_above]
        y = np.interp(np.log(row.prior), np.log(curve.index.to_numpy(float)), curve.to_numpy(float))
        low = max(row.conf_low, inside[0] if row.open_low else limits[0])
        high = min(row.conf_high, inside[1] if row.open_high else limits[1])
        ax.plot([low, high], [y, y], zorder=4, **style)
        for end, is_open, arrow in ((low, row.open_low, "<"), (high, row.open_high, ">")):
            ax.plot([end], [y], marker=arrow if is_open else "|", markersize=7, zorder=4, **style)
        ax.plot([row.prior], [y], "o", color="white", markeredgecolor="black", markersize=6, zorder=5)
    key = Line2D([], [], marker="o", markerfacecolor="white", markeredgecolor="black", **style)
    return [("change of the lead,\nwith interval", key)]


def draw_leader_strip(ax: Axes, regions: pd.DataFrame, palette: Mapping[str, Color]) -> None:
    """Lower the y limit; draw a bar for each leader's region there, from 11 models on with names that fit."""
    low, high = ax.get_ylim()
    ax.set_ylim(low - 0.08 * (high - low), high)
    labels, transform = styling.model_labels(palette), ax.get_xaxis_transform()
    width = ax.bbox.width / ax.figure.dpi / max(np.diff(np.log(ax.get_xlim()))[0], 1e-9)
    text: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": "x-small", "transform": transform}
    for model, start, end in zip(regions["model"], regions["prior_low"], regions["prior_high"], strict=True):
        bar: dict[str, Any] = {"color": palette[model], "linewidth": 0, "transform": transform}
        ax.add_patch(Rectangle((start, 0), end - start, 0.05, **bar))
        # from 11 models on, colours repeat, so the strip has names
        room = np.log(end / start) * width if len(palette) > 10 else 0
        if room > styling.estimate_text_width(labels[model]):
            ax.text(float(np.sqrt(start * end)), 0.055, labels[model], **text)


def draw_fold_points(ax: Axes, frame: pd.DataFrame, palette: Mapping[str, Color]) -> list[Entry]:
    """Draw each model's IAUPREC by fold in a row; return [entry], or [] if there is one fold."""
    markers, folds = styling.model_markers(list(palette)), list_distinct(frame["fold"])
    height = dict(zip(folds, np.linspace(-0.28, 0.28, len(folds)) if len(folds) > 1 else [0.0], strict=True))
    style: dict[str, Any] = {"markersize": 4, "linewidth": 0, "alpha": 0.5}
    for i, (model, color) in enumerate(palette.items()):
        rows = frame[frame["model"] == model]
        heights = [i + height[fold] for fold in rows["fold"]]
        ax.plot(rows["iauprec"], heights, color=color, marker=markers[model], **style)
    if len(folds) == 1:
        return []  # one test set: its point is the estimate
    return [("one fold", Line2D([], [], color=NEUTRAL, marker="o", **style))]


def draw_ranked_means(
    ax: Axes, ranking: pd.DataFrame, palette: Mapping[str, Color], *, level: str = ""
) -> list[Entry]:
    """Draw mean and interval of each ranked model, and letters, if any; return one or two legend entries."""
    models, markers = list(palette), styling.model_markers(list(palette))
    style: dict[str, Any] = {"markersize": 8, "markeredgecolor": "black", "linewidth": 2.5}
    for row in iter_rows(ranking):
        i, color = models.index(row.model), palette[row.model]
        ax.plot([row.conf_low, row.conf_high], [i, i], color=color, linewidth=2.5)
        ax.plot([row.iauprec], [i], color=color, marker=markers[row.model], **style)
    key = Line2D([], [], color=NEUTRAL, marker="o", **style)
    entries: list[Entry] = [(f"mean and\n{level}confidence interval", key)]
    lettered = ranking[ranking["group"].notna() & (ranking["group"].astype(str) != "")]
    if lettered.empty:
        return entries
    left, right = ax.get_xlim()
    ax.set_xlim(left, right + 0.1 * (right - left))
    edge: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "ha": "right", "va": "center"}
    for model, letters in zip(lettered["model"], lettered["group"], strict=True):
        ax.text(0.99, models.index(model), str(letters), **edge)
    key = Line2D([], [], color=NEUTRAL, marker="$a$", markeredgewidth=0, linewidth=0)
    return [*entries, ("models that share a\nletter do not differ\nsignificantly", key)]


def pivot_surface(rows: pd.DataFrame, model: str) -> pd.DataFrame:
    """Return one model's precision by prior and recall (columns), sorted; raise on repeats, one of either."""
    if rows.duplicated(["prior", "recall"]).any():
        raise InputError(
            f"`plot_surface` needs one row for each prior and recall, but {model!r} has more; give it "
            "skewanova.compare(scores) or its tables['surface']"
        )
    grid = rows.pivot(index="prior", columns="recall", values="precision")
    if min(grid.shape) < 2:
        raise InputError(
            f"`plot_surface` needs at least 2 priors and 2 recalls, but got {len(grid)} and "
            f"{len(grid.columns)}; give it skewanova.compare(scores, at_priors=(0.5, 0.1))"
        )
    return grid


def draw_contours(ax: Axes, grid: pd.DataFrame, cmap: str, *, legend: bool) -> None:
    """Draw filled contours of precision over recall (x) and log prior (y); `legend` adds a colour bar."""
    recall, prior = grid.columns.to_numpy(float), grid.index.to_numpy(float)
    levels = np.linspace(0, 1, 11)
    height = np.clip(grid.to_numpy(float), 0, 1)  # a mean a rounding error above 1 would stay blank
    filled = ax.contourf(recall, prior, height, levels=levels, cmap=cmap)
    styling.set_log_axis(ax, "y", prior.min(), prior.max())
    ax.set(xlim=(0, 1), xlabel="Recall", ylabel=styling.PRIOR_LABEL)
    if legend:
        ax.figure.colorbar(filled, ax=ax, label="Precision", ticks=levels[::2])


def draw_surface(ax: Axes, grid: pd.DataFrame, cmap: str) -> None:
    """Draw precision as a surface over recall and the logarithm of the prior."""
    axes: Any = ax  # mplot3d publishes no types
    recall, height = grid.columns.to_numpy(float), np.log10(grid.index.to_numpy(float))
    mesh = np.meshgrid(recall, height)
    axes.plot_surface(*mesh, grid.to_numpy(float), cmap=cmap, vmin=0, vmax=1, rcount=60, ccount=60)
    low, high = grid.index.min(), grid.index.max()
    ticks = LogLocator(subs=styling.choose_tick_digits(low, high, 120)).tick_values(low, high)
    ticks = ticks[(ticks >= low * (1 - 1e-9)) & (ticks <= high * (1 + 1e-9))]
    axes.set_yticks(np.log10(ticks), labels=[styling.format_plain(tick) for tick in ticks])
    axes.set(xlabel="Recall", ylabel="Prior", zlabel="Precision", zlim=(0, 1))
    axes.set_box_aspect(None, zoom=0.9)


def select_test(frame: pd.DataFrame, test: str | None, prior: float | None) -> pd.DataFrame:
    """Return rows at `prior`, else on IAUPREC or the first prior, of `test` or the first with such rows."""
    if prior is not None and frame["prior"].notna().any():
        frame = frame[frame["prior"].notna()]
    tests = list_distinct([*frame["test"][frame["response"] == "iauprec"], *frame["test"]])
    rows = frame[frame["test"] == (tests[0] if test is None else check_choice(test, tests, "test"))]
    if prior is not None:
        return rows[rows["prior"] == styling.select_prior(prior, rows["prior"].dropna())]
    if (rows["response"] == "iauprec").any():
        return rows[rows["response"] == "iauprec"]
    first = rows.iloc[0]
    same = rows["prior"].isna() if pd.isna(first["prior"]) else rows["prior"].eq(first["prior"])
    return rows.loc[same & rows["response"].eq(first["response"])]


def draw_forest(
    ax: Axes, rows: pd.DataFrame, color: Any, *, interval: str = "interval at the\nlevel of its test"
) -> list[Entry]:
    """Draw differences, filled if rejected, on grey intervals; return entries: [interval,] both fills."""
    ax.axvline(0, color=NEUTRAL, linewidth=1, zorder=1)
    ax.locator_params(axis="x", nbins=5)
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


def draw_overall_mean(ax: Axes, row: Any, y: int, color: Any) -> list[Entry]:
    """Draw mean, interval, prediction interval at height `y`, return two entries; conf_low nan: mean, []."""
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


def select_pair(frame: pd.DataFrame, pair: tuple[str, str] | None) -> pd.DataFrame:
    """Return the rows of the pair (a, b), by default the first; raise if absent or only as (b, a)."""
    pairs = list_distinct(zip(frame["model_a"], frame["model_b"], strict=True))
    chosen = pairs[0] if pair is None else tuple(pair) if np.iterable(pair) else (pair, pair)
    if chosen not in pairs:
        listed = ", ".join([*map(repr, pairs[:5]), *["..."] * (len(pairs) > 5)])
        near = f"; did you mean {chosen[::-1]!r}?" if chosen[::-1] in pairs else ""
        raise InputError(f"`pair` must be one of the pairs compared, {listed}; but got {pair!r}{near}")
    return frame[(frame["model_a"] == chosen[0]) & (frame["model_b"] == chosen[1])]


def shade_rope(ax: Axes, result: object, rope: float | None, *, upright: bool = False) -> list[Entry]:
    """Shade differences within `rope`, or the comparison's; return the legend entry, or none without it."""
    rope = styling.get_setting(result, "rope") if rope is None else check_rope(rope, of_areas=False)
    if not rope:
        return []
    style: dict[str, Any] = {"facecolor": "tab:olive", "alpha": 0.22, "linewidth": 0}
    (ax.axvspan if upright else ax.axhspan)(-rope, rope, zorder=0, **style)
    return [(f"within {styling.format_plain(rope)}:\nwould not matter", Patch(**style))]


def draw_difference_band(ax: Axes, rows: pd.DataFrame, color: Any, *, level: str = "") -> list[Entry]:
    """Draw a difference by prior, band, strip where they differ; return entries: line, band, any strip."""
    prior, differs = rows["prior"], rows["reject"].to_numpy(dtype=bool)
    ax.axhline(0, color="black", linewidth=0.9)
    ax.fill_between(prior, rows["conf_low"], rows["conf_high"], color=color, alpha=0.2, linewidth=0)
    (line,) = ax.plot(prior, rows["estimate"], color=color, linewidth=2)
    strip: dict[str, Any] = {"color": NEUTRAL, "linewidth": 0, "transform": ax.get_xaxis_transform()}
    ax.fill_between(prior, 0, 0.035, where=differs, **strip)
    band = (f"simultaneous\n{level}band", Patch(color=color, alpha=0.2))
    return [("difference", line), band, *([("differ", Patch(color=NEUTRAL))] if differs.any() else [])]
