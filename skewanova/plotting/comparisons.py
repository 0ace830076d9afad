"""Plots of differences between models, their p-values and critical differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from skewanova.base.checks import InputError, InputTypeError, check_alpha
from skewanova.base.frames import iter_rows, list_distinct
from skewanova.base.text import format_number, format_p
from skewanova.inference.catalogue import get_test, name_response
from skewanova.inference.ranks import RankComparison, rank_comparison
from skewanova.plotting import artists, styling
from skewanova.plotting.styling import Entry, PlotOptions, document_plot, model_palette


@document_plot
def plot_pairs(
    result: object,
    *,
    test: str | None = None,
    prior: float | None = None,
    rope: float | None = None,
    **options: Unpack[PlotOptions],
) -> Axes:
    """Draw a forest plot of the pairwise differences of one post-hoc test.

    The first pair is on top. Markers are filled where the test rejects equality. All pairs have the colour of
    the first model.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `pairs`, or that frame: test, response, prior, model_a, model_b, estimate, conf_low,
        conf_high, reject.
    test : str, optional
        The test to draw; by default the first on IAUPREC.
    prior : float, optional
        The prior to draw, for a test at several priors; by default IAUPREC, or else the first prior.
    """
    columns = "test response prior model_a model_b estimate conf_low conf_high reject"
    rows = artists.select_test(styling.find_frame(result, "pairs", columns), test, prior)
    ax = styling.make_axes(options["ax"], (7.6, 1.5 + 0.3 * len(rows)))
    models = [*rows["model_a"], *rows["model_b"]]
    entries = artists.draw_forest(ax, rows, model_palette(models, options["palette"])[models[0]])
    entries += artists.shade_rope(ax, result, rope, upright=True)
    labels = styling.model_labels(models, width=20)
    pairs = zip(rows["model_a"], rows["model_b"], strict=True)
    styling.name_rows(ax, [f"{labels[a]} − {labels[b]}" for a, b in pairs])  # noqa: RUF001
    direction = "" if styling.is_narrow(ax) else " (first minus second)"
    title = f"Pairwise differences\n{get_test(rows['test'].iloc[0]).name}"
    xlabel = f"Difference in {_format_response(rows)}{direction}"
    visible = options["legend"] and not styling.is_small(ax)  # the axis names the pairs
    return styling.finish_axes(ax, (title, xlabel, ""), entries, legend=visible)


@document_plot
def plot_difference_curves(
    result: object,
    *,
    pair: tuple[str, str] | None = None,
    support: pd.DataFrame | None = None,
    rope: float | None = None,
    **options: Unpack[PlotOptions],
) -> Axes:
    """Draw the difference in AUPREC of two models by prior, with a simultaneous band.

    A strip along the bottom marks priors at which the band excludes 0. Priors with too few negatives in the
    test set are hatched. The colour is that of the first model.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `difference_curves`, or that frame: model_a, model_b, prior, estimate, conf_low,
        conf_high, reject.
    pair : (str, str), optional
        The two models, in the order of the frame; by default its first pair.
    """
    columns = "model_a model_b prior estimate conf_low conf_high reject"
    frame = styling.find_frame(result, "difference_curves", columns)
    rows = artists.select_pair(frame, pair)
    models = list_distinct([*frame["model_a"], *frame["model_b"]])
    first, second = rows["model_a"].iloc[0], rows["model_b"].iloc[0]
    ax = styling.make_axes(options["ax"], (7.2, 4.0))
    color, level = model_palette(models, options["palette"])[first], styling.describe_level(result)
    entries = artists.draw_difference_band(ax, rows, color, level=level)
    entries += artists.shade_rope(ax, result, rope)
    styling.set_log_axis(ax, "x", rows["prior"].min(), rows["prior"].max())
    entries += artists.hatch_unsupported(ax, result, support)
    names = styling.model_labels(models)
    labels = (f"{names[first]} minus {names[second]}", styling.PRIOR_LABEL, "Difference in AUPREC")
    return styling.finish_axes(ax, labels, entries, legend=options["legend"])


#: One hue from light to dark keeps its order in greyscale and for colour-blind readers.
SHADES = ("#f2f2f2", "#82b4da", "#08519c")


#: The second level of significance is this share of the first.
SECOND_LEVEL_SHARE = 0.1


#: Smallest side of a cell, in points, that holds p and the difference, and that holds p alone.
MIN_POINTS_FOR_BOTH, MIN_POINTS_FOR_P = 33, 22


#: Up to this many models, the cells of a new figure hold both.
MAX_MODELS_WITH_ESTIMATES = 10


#: Height of a bar and of a name under a critical-difference axis, in rows.
BAR_STEP, NAME_STEP = 0.55, 0.9


#: Characters of a name beside that axis.
MAX_RANK_NAME = 18


@document_plot
def plot_critical_difference(
    result: object, *, test: str | None = None, **options: Unpack[PlotOptions]
) -> Axes:
    """Draw a critical-difference diagram: mean ranks over folds, and bars over models not found to differ.

    Rank 1 (best) is on the left. A bar has a dot at each model of its group; a model without a dot does not
    belong to it. The critical difference is drawn for Nemenyi's test (Demsar 2006).

    Parameters
    ----------
    result : RankComparison or Comparison
        Result of :func:`~skewanova.inference.rank_comparison`, or a result with `iauprec` and `pairs`.
    test : str, optional
        Test of all pairs behind the bars, if `result` is a comparison; by default the test of its
        conclusions, or else Nemenyi's.
    legend : bool, default True
        Whether the critical difference of Nemenyi's test is drawn above the axis.
    """
    comparison = _compare_ranks(result, test)
    rank = dict(zip(comparison.ranks["model"], comparison.ranks["mean_rank"], strict=True))
    levels = _assign_bar_rows(comparison, rank)
    first = 0.75 + BAR_STEP * (1 + max(levels.values(), default=-1))
    depth = first + NAME_STEP * (-(-len(rank) // 2) - 1)
    ax = styling.make_axes(options["ax"], (7.2, 1.5 + 0.26 * (depth + 2)))
    ax.set(xlim=(1, len(rank)), ylim=(depth + 0.5, -1.4))
    ax.axhline(0, color="black", linewidth=1.2)
    for tick in range(1, len(rank) + 1, -(-len(rank) // 10)):
        ax.plot([tick, tick], [0, -0.2], color="black", linewidth=1.2, clip_on=False)
        ax.text(tick, -0.3, str(tick), ha="center", va="bottom")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    _name_ranks(ax, rank, model_palette(comparison.models, options["palette"]), first=first)
    bar: dict[str, Any] = {"color": "0.15", "linewidth": 3.2, "markersize": 6, "clip_on": False}
    for clique, level in levels.items():
        ax.plot([rank[model] for model in clique], [0.45 + BAR_STEP * level] * len(clique), "-o", **bar)
    if options["legend"]:
        _draw_ruler(ax, comparison, len(rank))
    test = get_test(comparison.test).name
    gap = "\n" if len(test) > 36 else " "  # or a long name would be cut
    bars = f"Bars: no difference found{gap}({test})"
    styling.set_title(ax, f"Mean ranks over {comparison.n_folds} folds, 1 = best\n{bars}")
    return ax


@partial(document_plot, palette=(styling.NEUTRAL, "0.75"))
def plot_components(result: object, **options: Unpack[PlotOptions]) -> Axes:
    """Draw bars of the variance components of one area: runs, model x run, cases.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result of several runs on one test set, or its frame `components`: component, share.
    palette : sequence of two colours, optional
        Colours of variance from runs and from cases.

    Raises
    ------
    ValueError
        If columns are missing, or there are no components because the design has no runs or nothing varies.
    """
    frame = styling.find_frame(result, "components", "component share")
    names, share = frame["component"].tolist(), 100 * frame["share"].to_numpy(dtype=np.float64)
    if np.isnan(share).any():
        raise InputError("all areas are equal, so no component can be drawn; give each run its own scores")
    ax = styling.make_axes(options["ax"], (7.2, 1.4 + 0.3 * len(names)))
    shades = model_palette(["runs", "cases"], options["palette"])
    sources = ["cases" if str(name).startswith("cases") else "runs" for name in names]
    bars: Any = ax.barh(range(len(names)), share, color=[shades[source] for source in sources], height=0.6)
    ax.bar_label(bars, [f"{value:.0f} %" for value in share], padding=4)
    styling.name_rows(ax, names)
    ax.set_xlim(0, 1.12 * max(share))
    entries = [(f"more {name} help", Patch(color=shade)) for name, shade in shades.items()]
    labels = ("Where the variance comes from", "Share of the variance of one area (%)", "")
    return styling.finish_axes(ax, labels, entries, legend=options["legend"])


@document_plot
def plot_by_dataset(
    result: object,
    *,
    pair: tuple[str, str] | None = None,
    hierarchical: pd.DataFrame | None = None,
    **options: Unpack[PlotOptions],
) -> Axes:
    """Draw a forest plot of the difference of two models on each data set and over all data sets.

    The first data set is on top and the overall mean at the bottom. Markers are filled where an interval
    excludes 0. The colour is that of the first model.

    Parameters
    ----------
    result : DatasetsComparison or DataFrame
        A result on several data sets, or its frame `by_dataset`: dataset, model_a, model_b, estimate,
        conf_low, conf_high.
    pair : tuple of str, optional
        The pair to draw; by default the first.
    hierarchical : DataFrame, optional
        The meta-analysis; by default that of `result`, if it has one.
    """
    columns = "model_a model_b estimate conf_low conf_high"
    frame = styling.find_frame(result, "by_dataset", f"dataset {columns}")
    rows = artists.select_pair(frame, pair)
    a, b = (str(rows[side].iloc[0]) for side in ("model_a", "model_b"))
    columns += " prediction_low prediction_high"
    means = styling.find_optional_frame(result, hierarchical, "hierarchical", columns)
    ax = styling.make_axes(options["ax"], (7.6, 1.9 + 0.3 * len(rows)))
    color = model_palette([*frame["model_a"], *frame["model_b"]], options["palette"])[a]
    rows = rows.assign(reject=(rows["conf_low"] > 0) | (rows["conf_high"] < 0))
    entries = artists.draw_forest(ax, rows, color, interval="interval of\nits own")
    labels = list(styling.model_labels(map(str, rows["dataset"]), width=20).values())
    if means is not None:
        entries += artists.draw_overall_mean(ax, artists.select_pair(means, (a, b)).iloc[0], len(rows), color)
        labels.append("all data sets")
    styling.name_rows(ax, labels)
    names = styling.model_labels([a, b], width=20)
    direction = "" if styling.is_narrow(ax) else f" ({names[a]} minus {names[b]})"
    titles = ("Difference on every data set", f"Difference in IAUPREC{direction}", "")
    visible = options["legend"] and not styling.is_small(ax)
    return styling.finish_axes(ax, titles, entries, legend=visible)


@partial(document_plot, palette=SHADES)
def plot_p_values(
    result: object,
    *,
    test: str | None = None,
    prior: float | None = None,
    alpha: float | None = None,
    **options: Unpack[PlotOptions],
) -> Axes:
    """Draw the matrix of adjusted p-values of one family of pairwise comparisons, with the differences.

    Cells below the diagonal show p and the difference, column minus row; without a p they are hatched.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `pairs`, or that frame: test, response, prior, model_a, model_b, estimate, p_adjusted.
    test, prior : optional
        As for :func:`~skewanova.plotting.plot_pairs`.
    alpha : float, optional
        First level of significance; by default that of the comparison, or 0.05. The second is a tenth of it.
    palette : sequence of three colours, optional
        Colours of p not below the first level, below it, and below the second level.
    """
    columns = "test response prior model_a model_b estimate p_adjusted"
    frame = styling.find_frame(result, "pairs", columns, "plot_p_values")
    level = check_alpha(styling.get_setting(result, "alpha", 0.05) if alpha is None else alpha)
    rows = artists.select_test(frame, test, prior)
    models = list_distinct([*rows["model_a"], *rows["model_b"]])
    n_models = len(models)
    has_corner = n_models >= 7  # the legend fits above the diagonal
    side = (0.62 if n_models <= MAX_MODELS_WITH_ESTIMATES else 0.46) * (n_models - 1)
    ax = styling.make_axes(options["ax"], (side + (2.4 if has_corner else 4.4), max(side + 1.9, 2.6)))
    # side of a cell in points, before names take their share of the figure
    space = min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi * 72 / max(n_models - 1, 1)
    palette = options["palette"]
    if isinstance(palette, str) or not isinstance(palette, Sequence) or len(palette) != len(SHADES):
        raise InputError(
            f"`palette` must list {len(SHADES)} colours, as ['white', 'gold', 'red'], but got {palette!r}"
        )
    shades = list(model_palette(["none", "first", "second"], palette).values())
    for cell in _list_cells(rows, models):
        _draw_cell(ax, cell, (level, shades), space)
    labels = list(styling.model_labels(models, width=20).values())
    size = "medium" if n_models <= MAX_MODELS_WITH_ESTIMATES else "small"
    rotation = 90 if max(map(len, labels)) > 6 else 0
    ax.set_xticks(range(n_models - 1), labels=labels[:-1], fontsize=size, rotation=rotation)
    ax.set_yticks(range(1, n_models), labels=labels[1:], fontsize=size)
    ax.set(xlim=(-0.5, n_models - 1.5), ylim=(n_models - 0.5, 0.5), aspect="equal", anchor="W")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    styling.set_title(ax, f"Adjusted p\n{get_test(rows['test'].iloc[0]).name}")
    if options["legend"]:
        position, title = "upper right" if has_corner and not styling.is_narrow(ax) else "beside", None
        if space >= MIN_POINTS_FOR_BOTH:
            measure = _format_response(rows, separator="\n")
            title = f"p, and below it the\ndifference in {measure},\ncolumn minus row"
        styling.draw_legend(ax, _make_level_entries(level, shades), title, position=position)
    return ax


def _compare_ranks(result: object, test: str | None) -> RankComparison:
    """Return a RankComparison, or a result's by any `test`, primary or Nemenyi's; raise for one fold."""
    if isinstance(result, RankComparison):
        return result
    iauprec, pairs = styling.get_table(result, "iauprec"), styling.get_table(result, "pairs")
    complete = isinstance(iauprec, pd.DataFrame) and isinstance(pairs, pd.DataFrame)
    if not (complete or hasattr(result, "comparisons")):
        raise InputTypeError(
            "`plot_critical_difference` takes what skewanova.compare(scores) or "
            "skewanova.inference.rank_comparison(frame) returns, frame with model, fold, iauprec, such as "
            f"skewanova.evaluate(scores).iauprec, but got {type(result).__name__}"
        )
    frame = styling.find_frame(result, "iauprec", "model fold iauprec", "plot_critical_difference")
    if frame["fold"].nunique() < 2:
        raise InputError(
            "`plot_critical_difference` needs ranks over at least 2 folds, but the comparison has one test "
            "set; draw its pairs by skewanova.plotting.plot_pairs(result)"
        )
    family = test
    if family is None:  # the first primary test on IAUPREC that needs no control
        primary = pairs[(pairs["response"] == "iauprec") & (pairs.get("role", "") == "primary")]
        tests = map(str, primary["test"].unique())
        family = next((name for name in tests if not get_test(name).needs_control), "nemenyi")
    tested = None if test is None and family not in set(pairs["test"]) else pairs  # as with a control
    return rank_comparison(frame, tested, test=family, alpha=styling.get_setting(result, "alpha", 0.05))


def _assign_bar_rows(comparison: RankComparison, rank: dict[str, float]) -> dict[tuple[str, ...], int]:
    """Return the row (0, 1, ...) of each bar by its models, so that the bars of one row do not touch."""
    ends: list[float] = []
    levels = {}
    for clique in comparison.cliques:
        low, high = (limit(rank[model] for model in clique) for limit in (min, max))
        gap = 0.02 * len(rank)
        free = [level for level, end in enumerate(ends) if end + gap < low]
        levels[clique] = free[0] if free else len(ends)
        ends[levels[clique] : levels[clique] + 1] = [high]
    return levels


def _name_ranks(ax: Axes, ranks: Mapping[str, float], shades: Mapping[str, Any], *, first: float) -> None:
    """Write names and ranks: the better half left, others right, from height `first`, joined to ranks."""
    markers, labels = styling.model_markers(list(shades)), styling.model_labels(ranks, width=MAX_RANK_NAME)
    half = -(-len(ranks) // 2)
    elbow: dict[str, Any] = {"markersize": 5, "markevery": [2], "linewidth": 1.3, "clip_on": False}
    dot: dict[str, Any] = {"markersize": 7, "markeredgecolor": "black", "markeredgewidth": 0.6}
    dot |= {"linestyle": "", "clip_on": False, "zorder": 3}
    for i, (model, rank) in enumerate(ranks.items()):
        y = first + NAME_STEP * (i if i < half else len(ranks) - 1 - i)
        edge, offset, side = (1.0, -8, "right") if i < half else (float(len(ranks)), 8, "left")
        style = {"color": shades[model], "marker": markers[model]}
        ax.plot([rank, rank, edge], [0, y, y], **style, **elbow)
        ax.plot([rank], [0], **style, **dot)
        text: dict[str, Any] = {"ha": side, "va": "center", "annotation_clip": False}
        name = f"{labels[model]}  {format_number(float(rank), 2)}"
        ax.annotate(name, (edge, y), xytext=(offset, 0), textcoords="offset points", **text)


def _draw_ruler(ax: Axes, comparison: RankComparison, n_models: int) -> None:
    """Draw the critical difference to scale above the axis, or as text if too long; nothing if it is nan."""
    width = comparison.critical_difference
    if np.isnan(width):
        return
    text = f"CD = {format_number(width, 2)} (level {styling.format_plain(comparison.alpha)})"
    if width > n_models - 1:
        ax.text(1, -1.15, f"{text}: wider than the axis", va="center", ha="left", fontsize="small")
        return
    ax.plot([1, 1 + width], [-1.15, -1.15], "-|", color="black", linewidth=1.5, markersize=8, clip_on=False)
    is_long = 1 + width > 0.5 * (n_models + 1)
    x, offset, side = (1, (0, 6), "bottom") if is_long else (1 + width, (6, 0), "center")
    style: dict[str, Any] = {"va": side, "fontsize": "small", "annotation_clip": False}
    ax.annotate(text, (x, -1.15), xytext=offset, textcoords="offset points", **style)


def _list_cells(rows: pd.DataFrame, models: Sequence[str]) -> list[tuple[int, int, float, float]]:
    """Return (column, row, p, column minus row) of each pair, as indices, column < row; raise on repeats."""
    index = {model: i for i, model in enumerate(models)}
    cells = []
    for pair in iter_rows(rows):
        column, row = sorted((index[pair.model_a], index[pair.model_b]))
        estimate = pair.estimate if column == index[pair.model_a] else -pair.estimate
        cells.append((column, row, float(pair.p_adjusted), float(estimate)))
    if len({cell[:2] for cell in cells}) < len(cells):
        raise InputError(
            "`result` must have one row for each pair of a test, in one order, but repeats some; give it one "
            "comparison, as skewanova.compare(scores) or result.comparisons[NAME], or leave the others out"
        )
    return cells


def _draw_cell(
    ax: Axes, cell: tuple[int, int, float, float], levels: tuple[float, Sequence[Any]], space: float
) -> None:
    """Draw a cell of `_list_cells`, shaded by p, `levels` (alpha, shades), with numbers if `space` allows."""
    column, row, p_value, estimate = cell
    level, shades = levels
    shade = int(p_value < level) + int(p_value < SECOND_LEVEL_SHARE * level)
    style: dict[str, Any] = {"facecolor": shades[shade], "edgecolor": "white", "linewidth": 1.5}
    if np.isnan(p_value):
        style = {"facecolor": "white", "edgecolor": "0.8", "hatch": "///", "linewidth": 0}
    ax.fill(column + np.array([-0.5, 0.5, 0.5, -0.5]), row + np.array([-0.5, -0.5, 0.5, 0.5]), **style)
    if space >= MIN_POINTS_FOR_P:
        text = format_p(p_value) or "-"
        if space >= MIN_POINTS_FOR_BOTH:
            difference = format_number(estimate)
            sign = "" if difference.startswith("-") or not difference else "+"
            text += f"\n{sign}{difference}"
        style = {"color": "white" if shade == 2 else "black", "fontsize": min(space / 4.4, 9.0)}
        ax.text(column, row, text, ha="center", va="center", linespacing=1.3, **style)


def _make_level_entries(level: float, shades: Sequence[Any]) -> list[Entry]:
    """Return the legend entries of the three shades, the most significant first."""
    first, second = styling.format_plain(level), styling.format_plain(SECOND_LEVEL_SHARE * level)
    texts = (f"p < {second}", f"{second} ≤ p < {first}", f"p ≥ {first}")
    edge: dict[str, Any] = {"edgecolor": "0.6", "linewidth": 0.6}
    return [(text, Patch(facecolor=shade, **edge)) for text, shade in zip(texts, shades[::-1], strict=True)]


def _format_response(rows: pd.DataFrame, separator: str = " ") -> str:
    """Return the measure of the first row, such as "AUPREC at prior 0.1" or, without a prior, "IAUPREC"."""
    response, prior = rows["response"].iloc[0], rows["prior"].iloc[0]
    name = name_response(response).replace("$", r"\$")  # no formula
    return f"{name}{separator}at prior {styling.format_plain(prior)}" if pd.notna(prior) else name
