"""Plots of residuals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from skewanova.base import frames
from skewanova.base.checks import check_choice
from skewanova.inference.anova import AnovaResult
from skewanova.inference.diagnostics import residual_quantiles
from skewanova.plotting import looks
from skewanova.plotting.looks import Entry, Palette

RESIDUAL_KINDS = ("fitted", "fold", "qq")


#: Share of the distance between two folds over which the models stand side by side.
DODGE = 0.5


#: Numbers of all normal samples behind an envelope; with very many residuals there are fewer samples.
MOST_DRAWN, FEWEST_DRAWS = 10_000_000, 499


#: Beyond this many folds every second, third, ... is written.
MOST_TICKS = 12


def plot_residuals(
    result: object,
    *,
    kind: str = "fitted",
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Residuals of an analysis of variance, to see whether its assumptions hold.

    Parameters
    ----------
    result : AnovaResult, Comparison or DataFrame
        A result with `residuals`, or that frame: model, fold, fitted, residual.
    kind : {"fitted", "fold", "qq"}, default "fitted"
        Residuals against fitted values (a funnel shows unequal spread), by fold (single folds that stand
        out), or ordered against normal quantiles, with the 95 % envelopes of
        :func:`~skewanova.inference.residual_quantiles`.
    legend, palette, ax
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        The axes drawn on.

    Raises
    ------
    ValueError
        If columns are missing, the frame is empty, `kind` is unknown, or for "qq" nothing varies.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import two_way_anova
    >>> from skewanova.plotting import plot_residuals
    >>> result = two_way_anova(evaluate(load_satellite_scores(), at_priors=(0.5,)).iauprec)
    >>> plot_residuals(result, kind="qq", ax=Figure().subplots()).get_xlabel()
    'Normal quantile'
    """
    check_choice(kind, RESIDUAL_KINDS, "kind")
    frame = looks.find_frame(result, "residuals", ["model", "fold", "fitted", "residual"], "plot_residuals")
    found = looks.line_looks(frames.distinct(frame["model"]), palette)
    styles = {model: _dots(look) for model, look in found.items()}
    if kind == "qq":  # the envelopes of an interaction need the analysis itself
        draws = int(np.clip(MOST_DRAWN // len(frame), FEWEST_DRAWS, 4999))
        frame = residual_quantiles(result if isinstance(result, AnovaResult) else frame, n_draws=draws)
    ax = looks.new_axes(ax, (6.4, 4.2))
    others = _DRAW[kind](ax, frame, styles)
    if legend:
        looks.legend(ax, [*looks.line_entries(styles), *others])
    return ax


def _dots(look: dict[str, Any]) -> dict[str, Any]:
    return {
        **look,
        "linestyle": "none",
        "markevery": None,
        "markersize": 5,
        "markeredgecolor": "white",
        "markeredgewidth": 0.4,
    }


def _points(ax: Axes, frame: pd.DataFrame, xy: tuple[str, str], styles: dict[str, dict[str, Any]]) -> None:
    for model, look in styles.items():
        rows = frame[frame["model"] == model]
        ax.plot(rows[xy[0]], rows[xy[1]], **look)


def _against_fitted(ax: Axes, frame: pd.DataFrame, styles: dict[str, dict[str, Any]]) -> list[Entry]:
    ax.axhline(0, color=looks.NEUTRAL, linewidth=1, zorder=1)
    _points(ax, frame, ("fitted", "residual"), styles)
    looks.style(ax, title="Residuals by fitted value", xlabel="Fitted value", ylabel="Residual")
    return []


def _by_fold(ax: Axes, frame: pd.DataFrame, styles: dict[str, dict[str, Any]]) -> list[Entry]:
    folds = frames.distinct(frame["fold"])
    shift = dict(zip(styles, np.linspace(-DODGE / 2, DODGE / 2, len(styles)), strict=True))
    first = dict(zip(folds, range(len(folds)), strict=True))
    place = [first[fold] + shift[model] for model, fold in looks.tuples_of(frame, "model", "fold")]
    ax.axhline(0, color=looks.NEUTRAL, linewidth=1, zorder=1)
    _points(ax, frame.assign(place=place), ("place", "residual"), styles)
    ticks = range(0, len(folds), -(-len(folds) // (MOST_TICKS // 2 if looks.is_narrow(ax) else MOST_TICKS)))
    labels = list(looks.model_labels([str(fold) for fold in folds], width=12).values())
    ax.set_xticks(ticks, labels=[labels[i] for i in ticks])
    looks.style(ax, title="Residuals by fold", xlabel="Fold", ylabel="Residual")
    return []


def _against_normal(ax: Axes, frame: pd.DataFrame, styles: dict[str, dict[str, Any]]) -> list[Entry]:
    x = frame["theoretical"]
    entries: list[Entry] = []
    for name, alpha in (("simultaneous", 0.18), ("pointwise", 0.28)):
        band: dict[str, Any] = {"color": looks.NEUTRAL, "alpha": alpha, "linewidth": 0}
        ax.fill_between(x, frame[f"{name}_low"], frame[f"{name}_high"], zorder=1, **band)
        entries.append((f"95 % envelope,\n{name}", Patch(**band)))
    ax.axline((0, 0), slope=1, color=looks.NEUTRAL, linewidth=1, zorder=1)
    _points(ax, frame, ("theoretical", "standardized"), styles)
    looks.style(ax, title="Normal quantiles", xlabel="Normal quantile", ylabel="Standardized residual")
    return entries


_DRAW: dict[str, Callable[[Axes, pd.DataFrame, dict[str, dict[str, Any]]], list[Entry]]] = {
    "fitted": _against_fitted,
    "fold": _by_fold,
    "qq": _against_normal,
}
