"""Plots of differences, p-values and critical differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from skewanova.base import frames
from skewanova.base.checks import InputError, InputTypeError, check_fraction
from skewanova.base.text import format_number, format_p
from skewanova.inference.catalogue import get_test, response_name
from skewanova.inference.ranks import RankComparison, rank_comparison
from skewanova.plotting import artists, looks
from skewanova.plotting.looks import Entry, Palette, model_palette, or_own


def plot_pairs(
    result: object,
    *,
    test: str | None = None,
    prior: float | None = None,
    rope: float | None = None,
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Forest plot of the pairwise differences of one post-hoc test.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `pairs`, or that frame: test, response, prior, model_a, model_b, estimate, conf_low,
        conf_high, reject.
    test : str, optional
        The test to draw; by default the first on IAUPREC.
    prior : float, optional
        The prior to draw, for tests done at several; by default IAUPREC or else the first.
    rope : float, optional
        Difference that would not matter, to shade; by default that of the comparison, if `result` is one.
    legend, palette, ax
        As for :func:`plot_roc`; of the colours, the first is taken.

    Returns
    -------
    Axes
        The axes drawn on, first pair on top; markers are filled where the test rejects equality.

    Raises
    ------
    ValueError
        If columns are missing, the frame is empty, or `test` or `prior` does not occur.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plotting.comparisons import plot_pairs
    >>> pair = {"model_a": "A", "model_b": "B", "estimate": 0.1, "conf_low": 0.02, "conf_high": 0.18}
    >>> tukey = {"test": "tukey", "response": "iauprec", "prior": None, "reject": True, **pair}
    >>> plot_pairs(pd.DataFrame([tukey]), ax=Figure().subplots()).get_xlabel()
    'Difference in IAUPREC (first minus second)'
    """
    columns = ["test", "response", "prior", "model_a", "model_b"]
    columns += ["estimate", "conf_low", "conf_high", "reject"]
    rows = artists.select_pairs(looks.find_frame(result, "pairs", columns, "plot_pairs"), test, prior)
    ax = looks.new_axes(ax, (7.6, 1.5 + 0.3 * len(rows)))
    ax.axvline(0, color=looks.NEUTRAL, linewidth=1, zorder=1)
    first = model_palette([*rows["model_a"], *rows["model_b"]], palette)[rows["model_a"].iloc[0]]
    entries = artists.forest(ax, rows, first)
    entries += artists.margin(ax, looks.rope_of(result, rope), upright=True)
    response, at = rows["response"].iloc[0], rows["prior"].iloc[0]
    what = response_name(response) + (f" at prior {looks.plain(at)}" if pd.notna(at) else "")
    looks.style(
        ax,
        title=f"Pairwise differences\n{_family(rows)}",
        xlabel=f"Difference in {what}" + ("" if looks.is_narrow(ax) else " (first minus second)"),
        ylabel="",
    )
    labels = looks.model_labels([*rows["model_a"], *rows["model_b"]], width=20)
    pairs = [f"{labels[a]} − {labels[b]}" for a, b in rows[["model_a", "model_b"]].to_numpy()]  # noqa: RUF001
    ax.set_yticks(range(len(pairs)), labels=pairs)
    ax.set_ylim(len(pairs) - 0.5, -0.5)
    if legend and not looks.is_small(ax):  # the axis names the pairs
        looks.legend(ax, entries)
    return ax


def plot_difference_curves(
    result: object,
    *,
    pair: tuple[str, str] | None = None,
    support: pd.DataFrame | None = None,
    rope: float | None = None,
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Difference of AUPREC of two models along the prior, with a band that holds at all priors at once.

    Priors at which the test set holds too few negatives to tell are hatched.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `difference_curves`, or that frame: model_a, model_b, prior, estimate, conf_low,
        conf_high, reject.
    pair : (str, str), optional
        The two models, as the frame orders them; by default its first pair.
    support : DataFrame, optional
        Columns prior, supported; by default that of the result, if it has one.
    rope : float, optional
        Difference that would not matter, to shade; by default that of the comparison, if `result` is one.
    legend, palette, ax
        As for :func:`plot_roc`; the colour is that of the first model.

    Returns
    -------
    Axes
        A strip along the bottom marks priors at which the band leaves out 0.

    Raises
    ------
    ValueError
        If a column is missing, or the pair is not in the frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.plotting import plot_difference_curves
    >>> frame = pd.DataFrame({
    ...     "model_a": "A", "model_b": "B", "prior": [0.1, 0.5], "estimate": [0.2, 0.1],
    ...     "conf_low": [0.1, -0.1], "conf_high": [0.3, 0.3], "reject": [True, False]
    ... })
    >>> from matplotlib.figure import Figure
    >>> plot_difference_curves(frame, ax=Figure().subplots()).get_ylabel()
    'Difference in AUPREC'
    """
    columns = ["model_a", "model_b", "prior", "estimate", "conf_low", "conf_high", "reject"]
    frame = looks.find_frame(result, "difference_curves", columns, "plot_difference_curves")
    rows = artists.pair_rows(frame, pair)
    models = frames.distinct([*frame["model_a"], *frame["model_b"]])
    labels = looks.model_labels(models)
    first, second = rows["model_a"].iloc[0], rows["model_b"].iloc[0]
    ax = looks.new_axes(ax, (7.2, 4.0))
    color, level = model_palette(models, palette)[first], looks.level_words(result)
    entries = artists.difference_band(ax, rows, color, level=level)
    entries += artists.margin(ax, looks.rope_of(result, rope))
    looks.log_axis(ax, "x", rows["prior"].min(), rows["prior"].max())
    entries += artists.unsupported(ax, or_own(result, support, "support", ["prior", "supported"]))
    title = f"{labels[first]} minus {labels[second]}"
    looks.style(ax, title=title, xlabel=looks.PRIOR_LABEL, ylabel="Difference in AUPREC")
    if legend:
        looks.legend(ax, entries)
    return ax


#: One hue from light to dark, so that the order survives greyscale and every colour blindness.
SHADES = ("#f2f2f2", "#82b4da", "#08519c")


#: The second level of significance is this share of the first.
STRONG = 0.1


#: Points that a cell needs to hold p and the difference, and to hold p alone.
ROOM_FOR_BOTH, ROOM_FOR_P = 33, 22


#: Up to this many models the cells of a new figure are large enough for both.
MOST_ESTIMATES = 10


#: From this many models on, the corner above the diagonal has room for the legend.
FREE_CORNER = 7


#: Height of a bar and of a name under a critical-difference axis, in rows.
BAR_STEP, NAME_STEP = 0.55, 0.9


#: Signs of a name beside that axis, which needs the width.
RANK_NAME = 18


def plot_critical_difference(
    result: object,
    *,
    test: str | None = None,
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Critical-difference diagram: mean ranks over folds, bars over models not found to differ.

    Parameters
    ----------
    result : RankComparison or Comparison
        Of :func:`~skewanova.inference.rank_comparison`, or a result with `iauprec` and `posthoc`.
    test : str, optional
        Family of comparisons of all pairs behind the bars, where `result` is a comparison; by default the one
        that its conclusions rest on, or else Nemenyi's.
    legend : bool, default True
        Whether the critical difference of Nemenyi's test stands above the axis.
    palette, ax
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        The axes drawn on, rank 1 (best) on the left. A bar has a dot at each model of its group; a model
        without a dot does not belong to it (the diagram of scikit-posthocs has none, and a tick for every
        rank however many models there are). The critical difference is shown for Nemenyi's test.

    Raises
    ------
    ValueError
        As :func:`~skewanova.inference.rank_comparison`.
    TypeError
        If `result` holds no comparison.

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import rank_comparison
    >>> from skewanova.plotting import plot_critical_difference
    >>> found = rank_comparison(evaluate(load_satellite_scores(), at_priors=(0.5,)).iauprec)
    >>> ax = plot_critical_difference(found, ax=Figure().subplots())
    >>> [text.get_text() for text in ax.texts[3:6]]
    ['A  1.40', 'C  1.80', 'B  2.80']
    """
    found = _ranks(result, test)
    names, ranks = found.ranks["model"].tolist(), found.ranks["mean_rank"].to_numpy()
    levels = _bar_levels(found, dict(zip(names, ranks, strict=True)))
    first = 0.75 + BAR_STEP * (1 + max(levels.values(), default=-1))
    depth = first + NAME_STEP * (-(-len(names) // 2) - 1)
    ax = looks.new_axes(ax, (7.2, 1.5 + 0.26 * (depth + 2)))
    ax.set(xlim=(1, len(names)), ylim=(depth + 0.5, -1.4))
    _rank_axis(ax, len(names))
    shades = model_palette(found.models, palette)
    _rank_names(ax, names, ranks, shades=shades, first=first)
    _bars(ax, levels, dict(zip(names, ranks, strict=True)))
    if legend:
        _ruler(ax, found, len(names))
    family = get_test(found.test).name
    looks.set_title(
        ax, f"Mean ranks over {found.n_folds} folds, 1 = best\nBars: no difference found ({family})"
    )
    return ax


#: Of what runs bring into the variance, and of what cases do.
COMPONENT_SHADES = (looks.NEUTRAL, "0.75")


def plot_components(
    result: object,
    *,
    legend: bool = True,
    palette: Sequence[Any] = COMPONENT_SHADES,
    ax: Axes | None = None,
) -> Axes:
    """Bars of the variance of one area by where it comes from: runs, model x run, cases.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result of several runs on one test set, or its frame `components`: component, share.
    legend, ax
        As for :func:`~skewanova.plotting.plot_roc`.
    palette : sequence of two colours, optional
        Of what runs bring in, and of what cases bring in.

    Returns
    -------
    Axes
        The axes drawn on, a bar a component.

    Raises
    ------
    ValueError
        If columns are missing, or there are no components: the design has no runs, or nothing varies.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from skewanova.inference import components
    >>> from skewanova.plotting import plot_components
    >>> frame = components([[0.80, 0.84], [0.70, 0.71]], 0.0001 * np.eye(4))
    >>> plot_components(frame, ax=Figure().subplots()).get_xlabel()
    'Share of the variance of one area (%)'
    """
    frame = looks.find_frame(result, "components", ["component", "share"], "plot_components")
    names, share = frame["component"].tolist(), 100 * frame["share"].to_numpy(dtype=np.float64)
    if not len(share) or np.isnan(share).any():
        raise InputError("there are no components to draw: the areas have no runs, or do not vary")
    ax = looks.new_axes(ax, (7.2, 1.4 + 0.3 * len(names)))
    rows = range(len(names))
    shades = model_palette(["runs", "cases"], palette)
    sources = ["cases" if str(name).startswith("cases") else "runs" for name in names]
    ax.barh(rows, share, color=[shades[source] for source in sources], height=0.6)
    for row, value in zip(rows, share, strict=True):
        ax.annotate(f"{value:.0f} %", (value, row), (4, 0), textcoords="offset points", va="center")
    looks.style(
        ax,
        title="Where the variance comes from",
        xlabel="Share of the variance of one area (%)",
        ylabel="",
    )
    ax.set_yticks(rows, labels=names)
    ax.set(xlim=(0, 1.12 * max(share)), ylim=(len(names) - 0.5, -0.5))
    if legend:
        looks.legend(ax, [(f"more {name} help", Patch(color=shade)) for name, shade in shades.items()])
    return ax


def plot_by_dataset(
    result: object,
    *,
    pair: tuple[str, str] | None = None,
    hierarchical: pd.DataFrame | None = None,
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Forest plot of the difference of two models on every data set, and over all of them.

    Parameters
    ----------
    result : DatasetsComparison or DataFrame
        A result on several data sets, or its frame `by_dataset`: dataset, model_a, model_b, estimate,
        conf_low, conf_high.
    pair : tuple of str, optional
        The pair to draw; by default the first.
    hierarchical : DataFrame, optional
        The meta-analysis; by default that of `result`, if it has one.
    legend, palette, ax
        As for :func:`~skewanova.plotting.plot_roc`; of the colours, the first model's is taken.

    Returns
    -------
    Axes
        The axes drawn on, first data set on top, the mean over all below; markers are filled where an
        interval leaves out 0.

    Raises
    ------
    ValueError
        If columns are missing, the frame is empty, or `pair` does not occur.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plotting import plot_by_dataset
    >>> pair = {"model_a": "A", "model_b": "B", "estimate": 0.1, "conf_low": 0.02, "conf_high": 0.18}
    >>> plot_by_dataset(pd.DataFrame([{"dataset": "mine", **pair}]), ax=Figure().subplots()).get_xlabel()
    'Difference in IAUPREC (A minus B)'
    """
    columns = ["model_a", "model_b", "estimate", "conf_low", "conf_high"]
    frame = looks.find_frame(result, "by_dataset", ["dataset", *columns], "plot_by_dataset")
    rows = artists.pair_rows(frame, pair)
    a, b = (str(rows[side].iloc[0]) for side in ("model_a", "model_b"))
    whole = looks.table_of(result, "hierarchical") if hierarchical is None else hierarchical
    ax = looks.new_axes(ax, (7.6, 1.9 + 0.3 * len(rows)))
    ax.axvline(0, color=looks.NEUTRAL, linewidth=1, zorder=1)
    color = model_palette([*frame["model_a"], *frame["model_b"]], palette)[a]
    away = (rows["conf_low"] > 0) | (rows["conf_high"] < 0)
    entries = artists.forest(ax, rows.assign(reject=away), color, interval="interval of\nits own")
    labels = list(looks.model_labels(map(str, rows["dataset"]), width=20).values())
    if whole is not None:
        required = ["prediction_low", "prediction_high"]
        found = looks.find_frame(whole, "hierarchical", [*columns, *required], "plot_by_dataset")
        entries += artists.mean_of_all(ax, artists.pair_rows(found, (a, b)).iloc[0], len(rows), color)
        labels.append("all data sets")
    names = looks.model_labels([a, b], width=20)
    looks.style(
        ax,
        title="Difference on every data set",
        xlabel="Difference in IAUPREC" + ("" if looks.is_narrow(ax) else f" ({names[a]} minus {names[b]})"),
        ylabel="",
    )
    ax.set_yticks(range(len(labels)), labels=labels)
    ax.set_ylim(len(labels) - 0.5, -0.5)
    if legend and not looks.is_small(ax):
        looks.legend(ax, entries)
    return ax


def plot_p_values(
    result: object,
    *,
    test: str | None = None,
    prior: float | None = None,
    alpha: float | None = None,
    legend: bool = True,
    palette: Sequence[Any] = SHADES,
    ax: Axes | None = None,
) -> Axes:
    r"""Matrix of the adjusted p-values of one family of pairwise comparisons, with the differences.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `pairs`, or that frame: test, response, prior, model_a, model_b, estimate, p_adjusted.
    test, prior : optional
        As for :func:`~skewanova.plotting.plot_pairs`.
    alpha : float, optional
        First level of significance (the second is a tenth of it); by default that of the comparison, or 0.05.
    legend, ax
        As for :func:`~skewanova.plotting.plot_roc`.
    palette : sequence of three colours, optional
        Of p not below the first level, below it, and below the second.

    Returns
    -------
    Axes
        The axes drawn on: below the diagonal, p and the difference, column minus row.

    Raises
    ------
    ValueError
        If columns are missing, the frame is empty, or `test`, `prior`, `alpha` or `palette` is unknown or
        out of range.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plotting import plot_p_values
    >>> pair = {"model_a": "A", "model_b": "B", "estimate": 0.1, "p_adjusted": 0.012}
    >>> tukey = pd.DataFrame([{"test": "tukey", "response": "iauprec", "prior": None, **pair}])
    >>> [text.get_text() for text in plot_p_values(tukey, ax=Figure().subplots()).texts]
    ['0.012\n+0.100']
    """
    columns = ["test", "response", "prior", "model_a", "model_b", "estimate", "p_adjusted"]
    frame = looks.find_frame(result, "pairs", columns, "plot_p_values")
    level = check_fraction(_alpha_of(result) if alpha is None else alpha, "alpha")
    rows = artists.select_pairs(frame, test, prior)
    models = frames.distinct([*rows["model_a"], *rows["model_b"]])
    side = _side(len(models))
    ax = looks.new_axes(ax, (side + (2.4 if len(models) >= FREE_CORNER else 4.4), max(side + 1.9, 2.6)))
    space = _cell_points(ax, len(models))
    shades = list(model_palette(["none", "first", "second"], check_shades(palette)).values())
    for cell in _cells(rows, models):
        _cell(ax, cell, (level, shades), space)
    _name_sides(ax, models)
    ax.set(xlim=(-0.5, len(models) - 1.5), ylim=(len(models) - 0.5, 0.5), aspect="equal", anchor="W")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    looks.set_title(ax, f"Adjusted p\n{_family(rows)}")
    inside = len(models) >= FREE_CORNER and not looks.is_narrow(ax)
    title = _cell_title(rows) if space >= ROOM_FOR_BOTH else None
    if legend:
        looks.legend(ax, _level_entries(level, shades), title, corner="upper right" if inside else None)
    return ax


def _name_sides(ax: Axes, models: Sequence[str]) -> None:
    """Columns below, slanted where names are long; rows on the left."""
    labels = list(looks.model_labels(models, width=20).values())
    long = max(map(len, labels)) > 6
    slant: dict[str, Any] = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if long else {}
    size = "medium" if len(models) <= MOST_ESTIMATES else "small"
    ax.set_xticks(range(len(models) - 1), labels=labels[:-1], fontsize=size, **slant)
    ax.set_yticks(range(1, len(models)), labels=labels[1:], fontsize=size)


def _ranks(result: object, test: str | None) -> RankComparison:
    """The ranks given, or those of a comparison."""
    if isinstance(result, RankComparison):
        return result
    iauprec, pairs = looks.table_of(result, "iauprec"), looks.table_of(result, "pairs")
    if not isinstance(iauprec, pd.DataFrame) or not isinstance(pairs, pd.DataFrame):
        raise InputTypeError(
            "`plot_critical_difference` takes a RankComparison or a result that has `iauprec` and `pairs`, "
            f"but got {type(result).__name__}"
        )
    family = _family_of_all_pairs(pairs) if test is None else test
    return rank_comparison(iauprec, pairs, test=family, alpha=_alpha_of(result))


def _family_of_all_pairs(pairs: pd.DataFrame) -> str:
    """The family that the conclusions rest on, unless that has pairs with a control alone."""
    if "role" in pairs:
        rows = pairs[(pairs["role"] == "primary") & (pairs["response"] == "iauprec")]
        result = [str(test) for test in rows["test"].unique() if not get_test(str(test)).control]
        if result:
            return result[0]
    return "nemenyi"


def _alpha_of(result: object) -> float:
    """Level of a comparison, or else the usual one."""
    return float(getattr(result, "settings", {}).get("alpha", 0.05))


def _bar_levels(found: RankComparison, rank: dict[str, float]) -> dict[tuple[str, ...], int]:
    """Row of each bar, so that no two bars of a row touch."""
    ends: list[float] = []
    levels = {}
    for clique in found.cliques:
        low, high = (limit(rank[model] for model in clique) for limit in (min, max))
        gap = 0.02 * len(rank)
        free = [level for level, end in enumerate(ends) if end + gap < low]
        levels[clique] = free[0] if free else len(ends)
        ends[levels[clique] : levels[clique] + 1] = [high]
    return levels


def _bars(ax: Axes, levels: dict[tuple[str, ...], int], rank: dict[str, float]) -> None:
    """A bar over each group, with a dot at each of its models."""
    look: dict[str, Any] = {"color": "0.15", "linewidth": 3.2, "markersize": 6, "clip_on": False}
    for clique, level in levels.items():
        ax.plot([rank[model] for model in clique], [0.45 + BAR_STEP * level] * len(clique), "-o", **look)


def _rank_axis(ax: Axes, n_models: int) -> None:
    """A bare axis of ranks along the top of the names."""
    ax.axhline(0, color="black", linewidth=1.2)
    step = -(-n_models // 10)
    for rank in range(1, n_models + 1, step):
        ax.plot([rank, rank], [0, -0.2], color="black", linewidth=1.2, clip_on=False)
        ax.text(rank, -0.3, str(rank), ha="center", va="bottom")
    ax.set_xticks([])
    ax.set_yticks([])
    ax.spines[:].set_visible(False)


def _rank_names(
    ax: Axes, names: Sequence[str], ranks: np.ndarray, *, shades: Mapping[str, Any], first: float
) -> None:
    """Names on both sides, the better half on the left, joined with their ranks by elbows."""
    markers, labels = looks.model_markers(list(shades)), looks.model_labels(names, width=RANK_NAME)
    half = -(-len(names) // 2)
    for i, (name, rank) in enumerate(zip(names, ranks, strict=True)):
        left = i < half
        y = first + NAME_STEP * (i if left else len(names) - 1 - i)
        edge = 1.0 if left else float(len(names))
        look: dict[str, Any] = {"marker": markers[name], "markersize": 5, "markevery": [2], "linewidth": 1.3}
        ax.plot([rank, rank, edge], [0, y, y], color=shades[name], clip_on=False, **look)
        ax.plot(
            [rank], [0], markers[name], color=shades[name], markersize=7, markeredgecolor="black",
            markeredgewidth=0.6, clip_on=False, zorder=3,
        )  # fmt: skip
        text = f"{labels[name]}  {format_number(float(rank), 2)}"
        ax.annotate(
            text, (edge, y), xytext=(-8 if left else 8, 0), textcoords="offset points", va="center",
            ha="right" if left else "left", annotation_clip=False,
        )  # fmt: skip


def _ruler(ax: Axes, found: RankComparison, n_models: int) -> None:
    """The critical difference at scale above the axis, or in words where it is longer than the axis."""
    width = found.critical_difference
    if np.isnan(width):
        return
    text = f"CD = {format_number(width, 2)} (level {looks.plain(found.alpha)})"
    if width > n_models - 1:
        ax.text(1, -1.15, f"{text}: wider than the axis", va="center", ha="left", fontsize="small")
        return
    ax.plot([1, 1 + width], [-1.15, -1.15], "-|", color="black", linewidth=1.5, markersize=8, clip_on=False)
    right = 1 + width > 0.5 * (n_models + 1)
    ax.annotate(
        text, (1, -1.15) if right else (1 + width, -1.15), xytext=(0, 6) if right else (6, 0),
        textcoords="offset points", va="bottom" if right else "center", fontsize="small",
        annotation_clip=False,
    )  # fmt: skip


def _cells(rows: pd.DataFrame, models: Sequence[str]) -> list[tuple[int, int, float, float]]:
    """Column, row, p and difference (column minus row) of each pair, below the diagonal."""
    index = {model: i for i, model in enumerate(models)}
    cells = []
    for a, b, p_value, estimate in looks.tuples_of(rows, "model_a", "model_b", "p_adjusted", "estimate"):
        column, row = index[a], index[b]
        if column > row:
            column, row, estimate = row, column, -estimate
        cells.append((column, row, float(p_value), float(estimate)))
    if len({cell[:2] for cell in cells}) < len(cells):
        raise InputError("`pairs` must hold every pair of a test once, but repeats some")
    return cells


def check_shades(palette: object) -> Sequence[Any]:
    """Three colours."""
    if isinstance(palette, str) or not isinstance(palette, Sequence) or len(palette) != len(SHADES):
        raise InputError(f"`palette` must be {len(SHADES)} colours, one for each level, but got {palette!r}")
    return palette


def _cell(
    ax: Axes, cell: tuple[int, int, float, float], levels: tuple[float, Sequence[Any]], space: float
) -> None:
    column, row, p_value, estimate = cell
    level, shades = levels
    shade = _shade(p_value, level)
    color = "white" if np.isnan(p_value) else shades[shade]
    look: dict[str, Any] = {"facecolor": color, "edgecolor": "white", "linewidth": 1.5}
    if np.isnan(p_value):
        look |= {"edgecolor": "0.8", "hatch": "///", "linewidth": 0}
    x, y = [column - 0.5, column + 0.5], [row - 0.5, row + 0.5]
    ax.fill(x + x[::-1], [y[0], y[0], y[1], y[1]], **look)
    if space >= ROOM_FOR_P:
        text = format_p(p_value) or "-"
        text += f"\n{_signed(estimate)}" if space >= ROOM_FOR_BOTH else ""
        look = {"color": "white" if shade == 2 else "black", "fontsize": min(space / 4.4, 9.0)}
        ax.text(column, row, text, ha="center", va="center", linespacing=1.3, **look)


def _shade(p_value: float, level: float) -> int:
    """0 where not significant or unknown, 1 and 2 below either level."""
    return int(p_value < level) + int(p_value < STRONG * level)


def _signed(value: float) -> str:
    text = format_number(value)
    return text if text.startswith("-") or not text else f"+{text}"


def _cell_points(ax: Axes, n_models: int) -> float:
    """Side of a cell in points, before names take their share of the figure."""
    return min(ax.bbox.width, ax.bbox.height) / ax.figure.dpi * 72 / max(n_models - 1, 1)


def _level_entries(level: float, shades: Sequence[Any]) -> list[Entry]:
    """Legend of the three shades, the most significant first."""
    first, second = looks.plain(level), looks.plain(STRONG * level)
    texts = (f"p < {second}", f"{second} ≤ p < {first}", f"p ≥ {first}")
    return [
        (text, Patch(facecolor=shade, edgecolor="0.6", linewidth=0.6))
        for text, shade in zip(texts, reversed(shades), strict=True)
    ]


def _side(n_models: int) -> float:
    """Inches for all cells of a row."""
    return (0.62 if n_models <= MOST_ESTIMATES else 0.46) * (n_models - 1)


def _cell_title(rows: pd.DataFrame) -> str:
    """What the numbers of a cell are."""
    return f"p, and below it the\ndifference in {_measure(rows)},\ncolumn minus row"


def _family(rows: pd.DataFrame) -> str:
    return get_test(str(rows["test"].iloc[0])).name


def _measure(rows: pd.DataFrame) -> str:
    response, at = rows["response"].iloc[0], rows["prior"].iloc[0]
    where = f"\nat prior {looks.plain(at)}" if pd.notna(at) else ""
    return f"{response_name(response)}{where}"
