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

from skewanova.base.checks import InputError
from skewanova.base.frames import distinct
from skewanova.plotting import looks
from skewanova.plotting.looks import NEUTRAL, Color, Entry, ErrorBar, Palette


def auprec_lines(
    frame: pd.DataFrame, errorbar: ErrorBar, ax: Axes | None, palette: Palette = None
) -> tuple[Axes, list[Entry]]:
    """Mean AUPREC of each model over a logarithmic prior axis; axes and legend entries."""
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
    """A mean line for each model and part (label, rows, x and y): colour by model, dashes by part.

    New axes are of this size; nothing is opened where the bands are unknown.
    """
    frame = pd.concat([rows[["model", "fold"]] for _, rows, _ in parts])
    styles, drawn = looks.line_looks(distinct(frame["model"]), palette), list(zip(parts, cycle(looks.DASHES)))
    n_lines = len(styles) * len(parts)
    band = looks.check_errorbar(errorbar, frame["fold"], n_lines)
    ax = looks.new_axes(ax, size)
    for model, look in styles.items():
        for (_, rows, xy), dash in drawn:
            line = {**look, "linestyle": dash} if len(parts) > 1 else look
            looks.mean_line(
                ax, rows[rows["model"] == model], xy, errorbar=band, opacity=looks.opacity(n_lines), **line
            )
    named = looks.dash_entries({part[0]: dash for part, dash in drawn}) if len(parts) > 1 else []
    return ax, [*looks.line_entries(styles), *named, *looks.band_entries(band)]


def unsupported(ax: Axes, support: pd.DataFrame | None) -> list[Entry]:
    """Hatch the priors that the test set cannot speak for."""
    if support is None or support["supported"].all():
        return []
    result = support.sort_values("prior")
    limits = ax.get_xlim()
    known = result.loc[result["supported"], "prior"]
    end = known.min() if len(known) else result["prior"].max()
    look: dict[str, Any] = {"facecolor": "none", "edgecolor": NEUTRAL, "hatch": "///", "alpha": 0.35}
    ax.axvspan(max(result["prior"].min(), limits[0]), min(end, limits[1]), linewidth=0, zorder=0, **look)
    ax.set_xlim(limits)
    return [("too few negatives\nto tell", Patch(linewidth=0, **look))]


def bands(ax: Axes, frame: pd.DataFrame, palette: Mapping[str, Color], *, level: str = "") -> list[Entry]:
    """Band around each model's mean, in its colour."""
    models = list(palette)
    for model in models:
        rows = frame[frame["model"] == model]
        ax.fill_between(
            rows["prior"],
            rows["conf_low"],
            rows["conf_high"],
            color=palette[model],
            alpha=looks.opacity(len(models)),
            linewidth=0,
        )
    return [(f"simultaneous\n{level}band", Patch(facecolor=NEUTRAL, alpha=0.25))]


def crossing_marks(ax: Axes, frame: pd.DataFrame, heights: pd.DataFrame) -> list[Entry]:
    """Point at every prior at which the lead changes hands, its interval beside it; arrows run on beyond."""
    rows = frame[frame["lead"]]
    if rows.empty:
        return []
    look: dict[str, Any] = {"color": "black", "linewidth": 1.6}
    mean = heights.groupby(["model", "prior"], sort=False, observed=True)["auprec"].mean()
    columns = ("prior", "conf_low", "conf_high", "model_above", "open_low", "open_high")
    for prior, low, high, model, open_low, open_high in looks.tuples_of(rows, *columns):
        curve = mean.loc[model]
        y = np.interp(np.log(prior), np.log(curve.index.to_numpy(float)), curve.to_numpy(float))
        inside, limits = _inside(ax), ax.get_xlim()
        low = max(low, inside[0] if open_low else limits[0])
        high = min(high, inside[1] if open_high else limits[1])
        ax.plot([low, high], [y, y], zorder=4, **look)
        for end, is_open, arrow in ((low, open_low, "<"), (high, open_high, ">")):
            ax.plot([end], [y], marker=arrow if is_open else "|", markersize=7, zorder=4, **look)
        ax.plot([prior], [y], "o", color="white", markeredgecolor="black", markersize=6, zorder=5)
    key = Line2D([], [], marker="o", markerfacecolor="white", markeredgecolor="black", **look)
    return [("change of the lead,\nwith interval", key)]


def _inside(ax: Axes) -> tuple[float, float]:
    """Limits of a logarithmic axis, less the room of an arrow at either end."""
    low, high = np.log(ax.get_xlim())
    room = 0.012 * (high - low)
    return float(np.exp(low + room)), float(np.exp(high - room))


#: From so many models on colours repeat, so that the strip has names.
NAMED_STRIP = 11


def leading_strip(ax: Axes, regions: pd.DataFrame, palette: Mapping[str, Color]) -> None:
    """One coloured bar a region along the bottom, below all curves."""
    low, high = ax.get_ylim()
    ax.set_ylim(low - 0.08 * (high - low), high)
    across = ax.get_xaxis_transform()
    for model, start, end in looks.tuples_of(regions, "model", "prior_low", "prior_high"):
        color = palette[model]
        ax.add_patch(Rectangle((start, 0), end - start, 0.05, color=color, linewidth=0, transform=across))
        if len(palette) >= NAMED_STRIP:
            _strip_name(ax, looks.model_labels(palette)[model], (start, end))


def _strip_name(ax: Axes, name: str, ends: tuple[float, float]) -> None:
    """Name above a part of the strip, where that is wide enough."""
    low, high = np.log(ax.get_xlim())
    share = np.diff(np.log(ends))[0] / max(high - low, 1e-9)
    if share * ax.bbox.width / ax.figure.dpi > looks.text_width(name):
        look: dict[str, Any] = {"ha": "center", "va": "bottom", "fontsize": "x-small"}
        ax.text(float(np.sqrt(ends[0] * ends[1])), 0.055, name, transform=ax.get_xaxis_transform(), **look)


def fold_points(ax: Axes, frame: pd.DataFrame, palette: Mapping[str, Color]) -> list[Entry]:
    """One row of points a model; a fold has the same height in every row."""
    models, markers = list(palette), looks.model_markers(list(palette))
    folds = distinct(frame["fold"])
    height = dict(zip(folds, np.linspace(-0.28, 0.28, len(folds)) if len(folds) > 1 else [0.0], strict=True))
    for i, model in enumerate(models):
        rows = frame[frame["model"] == model]
        heights = [i + height[fold] for fold in rows["fold"]]
        look: dict[str, Any] = {"color": palette[model], "marker": markers[model], "alpha": 0.5}
        ax.plot(rows["iauprec"], heights, markersize=4, linewidth=0, **look)
    if len(folds) == 1:
        return []  # one test set: its point is the estimate
    return [("one fold", Line2D([], [], color=NEUTRAL, marker="o", markersize=4, alpha=0.5, linewidth=0))]


def ranked_means(
    ax: Axes, ranking: pd.DataFrame, palette: Mapping[str, Color], *, level: str = ""
) -> list[Entry]:
    """Mean and interval of each ranked model, and its letters at the right edge."""
    models, markers = list(palette), looks.model_markers(list(palette))
    look: dict[str, Any] = {"markersize": 8, "markeredgecolor": "black", "linewidth": 2.5}
    for model, mean, low, high in looks.tuples_of(ranking, "model", "iauprec", "conf_low", "conf_high"):
        i = models.index(model)
        ax.plot([low, high], [i, i], color=palette[model], linewidth=2.5)
        ax.plot([mean], [i], color=palette[model], marker=markers[model], **look)
    key = Line2D([], [], color=NEUTRAL, marker="o", **look)
    return [(f"mean and\n{level}confidence interval", key), *_letters(ax, ranking, models)]


def _letters(ax: Axes, ranking: pd.DataFrame, models: Sequence[str]) -> list[Entry]:
    """Compact letters in a column of their own at the right edge."""
    named = ranking[ranking["group"].notna() & (ranking["group"].astype(str) != "")]
    if named.empty:
        return []
    low, high = ax.get_xlim()
    ax.set_xlim(low, high + 0.1 * (high - low))
    edge: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "ha": "right", "va": "center"}
    for model, letters in looks.tuples_of(named, "model", "group"):
        ax.text(0.99, list(models).index(model), str(letters), **edge)
    key = Line2D([], [], color=NEUTRAL, marker="$a$", markeredgewidth=0, linewidth=0)
    return [("models that share a\nletter do not differ\nsignificantly", key)]


def surface_grid(rows: pd.DataFrame, model: str) -> pd.DataFrame:
    """Precision with one row a prior and one column a recall."""
    if rows.duplicated(["prior", "recall"]).any():
        raise InputError(f"`surface` must have one row a prior and recall, but repeats some for {model!r}")
    grid = rows.pivot(index="prior", columns="recall", values="precision")
    if min(grid.shape) < 2:
        raise InputError(
            f"`surface` must have 2 priors and 2 recalls or more, but has {len(grid)} and {len(grid.columns)}"
        )
    return grid


def contours(ax: Axes, grid: pd.DataFrame, *, legend: bool = True, cmap: str = "viridis") -> None:
    """Filled contours a tenth of precision apart, recall across, prior upwards."""
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
    """Surface over recall and the logarithm of the prior; ticks are plain priors."""
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
    """The pairs of one test on one response, IAUPREC where there is a choice."""
    tests = distinct([*frame["test"][frame["response"] == "iauprec"], *frame["test"]])
    rows: pd.DataFrame = frame[frame["test"] == looks.choose(test, tests, "test")]
    if prior is not None:
        return rows[rows["prior"] == looks.choose_prior(prior, rows["prior"].dropna())]
    if (rows["response"] == "iauprec").any():
        return rows[rows["response"] == "iauprec"]
    response, at = rows["response"].iloc[0], rows["prior"].iloc[0]
    same = rows["prior"].isna() if pd.isna(at) else rows["prior"].eq(at)
    return rows.loc[same & rows["response"].eq(response)]


def forest(
    ax: Axes, rows: pd.DataFrame, color: Any, *, interval: str = "interval at the\nlevel of its test"
) -> list[Entry]:
    """Differences with their intervals, one row a pair; filled where rejected."""
    y = np.arange(len(rows))
    known = rows[["conf_low", "conf_high"]].notna().all(axis=1).to_numpy()
    entries: list[Entry] = []
    if known.any():
        ax.hlines(y[known], rows["conf_low"][known], rows["conf_high"][known], color=NEUTRAL, linewidth=1.8)
        entries.append((interval, Line2D([], [], color=NEUTRAL, linewidth=1.8)))
    rejected = rows["reject"].eq(True).to_numpy()  # neither NaN nor text counts as rejected
    for label, which, face in (
        ("differs", rejected, color),
        ("no significant\ndifference", ~rejected, ax.get_facecolor()),
    ):
        look: dict[str, Any] = {"color": color, "markerfacecolor": face, "markersize": 7, "linewidth": 0}
        ax.plot(rows["estimate"][which], y[which], "o", **look)
        entries.append((label, Line2D([], [], marker="o", **look)))
    return entries


def mean_of_all(ax: Axes, row: Any, place: int, color: Any) -> list[Entry]:
    """A diamond over the interval of the mean, the thin line where a new difference is expected."""
    if np.isnan(row["conf_low"]):
        ax.plot(row["estimate"], place, "D", color=color, markerfacecolor=ax.get_facecolor(), markersize=7)
        return []
    ax.hlines(place, row["prediction_low"], row["prediction_high"], color=NEUTRAL, linewidth=0.8)
    corners = [(row["conf_low"], 0), (row["estimate"], 0.28), (row["conf_high"], 0), (row["estimate"], -0.28)]
    ax.add_patch(Polygon([(x, place + y) for x, y in corners], facecolor=color, zorder=3))
    ax.axhline(place - 0.5, color=NEUTRAL, linewidth=0.6)
    ax.update_datalim([(row["prediction_low"], place), (row["prediction_high"], place)])
    line = Line2D([], [], color=NEUTRAL, linewidth=0.8)
    look: dict[str, Any] = {"color": color, "marker": "D", "markersize": 7, "linewidth": 0}
    return [("mean, its\ninterval", Line2D([], [], **look)), ("a new\ndata set", line)]


def pair_rows(frame: pd.DataFrame, pair: tuple[str, str] | None) -> pd.DataFrame:
    """Rows of one pair of models, the first by default."""
    pairs = distinct(zip(frame["model_a"], frame["model_b"], strict=True))
    chosen = pairs[0] if pair is None else tuple(pair)
    if chosen not in pairs:
        raise InputError(
            f"`pair` must be one of the pairs compared, but got {chosen!r}; the first is {pairs[0]!r}"
        )
    return frame[(frame["model_a"] == chosen[0]) & (frame["model_b"] == chosen[1])]


def margin(ax: Axes, rope: float | None, *, upright: bool = False) -> list[Entry]:
    """Shade the differences that would not matter."""
    if not rope:
        return []
    look: dict[str, Any] = {"facecolor": "tab:olive", "alpha": 0.22, "linewidth": 0}
    (ax.axvspan if upright else ax.axhspan)(-rope, rope, zorder=0, **look)
    return [(f"within {looks.plain(rope)}:\nwould not matter", Patch(**look))]


def difference_band(ax: Axes, rows: pd.DataFrame, color: Any, *, level: str = "") -> list[Entry]:
    """Difference along the prior with its band, the zero line, and a strip where the band leaves out zero."""
    ax.axhline(0, color="black", linewidth=0.9)
    ax.fill_between(rows["prior"], rows["conf_low"], rows["conf_high"], color=color, alpha=0.2, linewidth=0)
    (line,) = ax.plot(rows["prior"], rows["estimate"], color=color, linewidth=2)
    result = rows["reject"].to_numpy(dtype=bool)
    ax.fill_between(
        rows["prior"], 0, 0.035, where=result, color=NEUTRAL, linewidth=0, transform=ax.get_xaxis_transform()
    )
    entries: list[Entry] = [
        ("difference", line),
        (f"simultaneous\n{level}band", Patch(color=color, alpha=0.2)),
    ]
    return [*entries, *([("differ", Patch(color=NEUTRAL))] if result.any() else [])]
