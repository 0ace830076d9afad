"""Plots of AUPREC and IAUPREC: by prior, by fold, who leads, regret, residuals.

The first argument is a comparison (or any object with the frame as an attribute) or the frame itself. Models
keep the order in which the frame names them, and with it one colour and one marker in every plot. Without
`ax` a new pyplot figure is made, so that notebooks show it and ``plt.close`` frees it; with `ax` pyplot is
not touched. Legends stand beside the axes where the figure has a layout that makes room for them, such as
``plt.subplots(layout="constrained")``. Global settings of matplotlib and seaborn are never changed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from skewanova.base import frames
from skewanova.base.checks import InputError, check_choice
from skewanova.inference.anova import AnovaResult
from skewanova.inference.diagnostics import residual_quantiles
from skewanova.plotting import artists, looks
from skewanova.plotting.looks import Entry, ErrorBar, Palette, document_plot, find_optional_frame


@document_plot
def plot_auprec(
    result: object,
    *,
    deployment_prior: tuple[float, float] | None = None,
    support: pd.DataFrame | None = None,
    errorbar: ErrorBar = ("sd", 1),
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """AUPREC of each model against the prior, averaged over folds.

    Priors at which the test set holds too few negatives to tell are hatched.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_by_prior`, or that frame: model, fold, prior, auprec on one grid of priors.
    """
    frame = looks.find_frame(result, "auprec_by_prior", "model fold prior auprec", "plot_auprec")
    limits = looks.deployment_limits(result, deployment_prior)
    ax, entries = artists.auprec_lines(frame, errorbar, ax, palette)
    entries += looks.shade_priors(ax, limits)
    entries += artists.hatch_unsupported(ax, result, support)
    labels = ("AUPREC by prior", looks.PRIOR_LABEL, "AUPREC")
    return looks.finish(ax, labels, entries if legend else [], looks.legend_title(frame))


@document_plot
def plot_iauprec(
    result: object,
    ranking: pd.DataFrame | None = None,
    *,
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """IAUPREC of each fold and model, with mean, interval and compact letters where a ranking is known.

    The first model is on top. A fold has the same place in every model's row.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `iauprec` and `ranking`, or the former frame: model, fold, iauprec.
    ranking : DataFrame, optional
        Columns model, iauprec, conf_low, conf_high, group; needed where `result` is a frame, else only the
        folds are drawn.
    """
    frame = looks.find_frame(result, "iauprec", "model fold iauprec", "plot_iauprec")
    models = frames.list_distinct(frame["model"])
    source = result if ranking is None and not isinstance(result, pd.DataFrame) else ranking
    if source is not None:
        columns = "model iauprec conf_low conf_high group"
        ranking = looks.find_frame(source, "ranking", columns, "plot_iauprec", models=models)
    ax = looks.new_axes(ax, (7.2, 1.6 + 0.45 * len(models)))
    shades = looks.model_palette(models, palette)
    entries = artists.fold_points(ax, frame, shades)
    if ranking is not None:
        entries += artists.ranked_means(ax, ranking, shades, level=looks.level_words(result))
    looks.name_rows(ax, list(looks.model_labels(models).values()))
    visible = legend and not looks.is_small(ax)  # the axis names the models
    return looks.finish(ax, ("IAUPREC by model", "IAUPREC", ""), entries if visible else [])


@document_plot
def plot_regions(
    result: object,
    regions: pd.DataFrame | None = None,
    *,
    bands: pd.DataFrame | None = None,
    crossings: pd.DataFrame | None = None,
    support: pd.DataFrame | None = None,
    deployment_prior: tuple[float, float] | None = None,
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Mean AUPREC against the prior, and along the bottom which model leads where.

    Bands hold for all models and priors at once, changes of the lead have their intervals, the deployment
    prior is shaded, and priors at which the test set holds too few negatives to tell are hatched. From eleven
    models on the strip has names.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_by_prior` and `regions`, or the former frame: model, fold, prior, auprec.
    regions : DataFrame, optional
        Columns model, prior_low, prior_high; needed where `result` is a frame.
    bands, crossings, support : DataFrame, optional
        As :func:`~skewanova.decision.auprec_bands`, :func:`~skewanova.decision.find_crossings` and
        :func:`~skewanova.evaluation.support` return them; by default those of the result, if it has them.
    """
    frame = looks.find_frame(result, "auprec_by_prior", "model fold prior auprec", "plot_regions")
    if regions is None and isinstance(result, pd.DataFrame):
        raise InputError("`plot_regions` needs `regions` where its first argument is a frame")
    source, models = result if regions is None else regions, frames.list_distinct(frame["model"])
    leads = looks.find_frame(source, "regions", "model prior_low prior_high", "plot_regions", models=models)
    limits = looks.deployment_limits(result, deployment_prior)
    shades = looks.model_palette(models, palette)
    ax, entries = artists.auprec_lines(frame, None, ax, shades)
    if len(models) <= looks.MOST_BANDS:  # bands that are not drawn are not computed
        columns = "model prior conf_low conf_high"
        displayed = find_optional_frame(result, bands, "by_prior", columns)
        entries += artists.bands(ax, displayed, shades, level=looks.level_words(result))
    entries += looks.shade_priors(ax, limits)
    entries += artists.hatch_unsupported(ax, result, support)
    columns = "prior conf_low conf_high model_above lead open_low open_high"
    changes = find_optional_frame(result, crossings, "crossings", columns)
    artists.leader_strip(ax, leads, shades)
    entries += artists.crossing_marks(ax, changes, frame)
    entries.append(("strip: leading model", Patch(facecolor=looks.NEUTRAL)))
    labels = ("Leading model by prior", looks.PRIOR_LABEL, "AUPREC")
    return looks.finish(ax, labels, entries if legend else [], looks.legend_title(frame))


#: Points between the intervals of two models, which stand side by side at every prior; and of all of them.
DODGE, MOST_DODGE = 4.0, 30.0


#: Beyond this many priors every second, third, ... is written.
MOST_TICKS = 10


@document_plot
def plot_interaction(
    result: object, *, legend: bool = True, palette: Palette = None, ax: Axes | None = None
) -> Axes:
    """Interaction plot of models and priors: mean AUPREC over folds with its interval.

    Lines that are not parallel show an interaction: what a model gains depends on the prior; lines that cross
    show that the better model does. Priors ascend evenly spaced; the intervals of several models stand side
    by side at a prior.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_intervals`, or that frame: model, prior, auprec, conf_low, conf_high.
    """
    columns = "model prior auprec conf_low conf_high"
    frame = looks.find_frame(result, "auprec_intervals", columns, "plot_interaction")
    priors = sorted(frames.list_distinct(frame["prior"]))
    styles = looks.line_styles(frames.list_distinct(frame["model"]), palette)
    ax = looks.new_axes(ax, (7.2, 4.4))
    step = min(DODGE, MOST_DODGE / len(styles))
    ends: dict[str, tuple[float, float]] = {}
    for i, (model, style) in enumerate(styles.items()):
        rows = frame[frame["model"] == model].sort_values("prior")
        x = np.array([priors.index(prior) for prior in rows["prior"]], dtype=np.float64)
        _draw_means(ax, x, rows, {**style, "markevery": None}, shift=step * (i - (len(styles) - 1) / 2))
        ends[model] = (float(x[-1]), float(rows["auprec"].iloc[-1]))
    ticks = range(0, len(priors), -(-len(priors) // MOST_TICKS))
    ax.set_xticks(ticks, labels=[looks.plain(priors[i]) for i in ticks])
    ax.set_xlim(-0.4, len(priors) - 0.6)
    ax.set_ylim(ax.get_ylim())
    looks.style(ax, "AUPREC by model and prior", looks.PRIOR_LABEL, "Mean AUPREC (t interval)")
    if legend:
        _name_models(ax, ends, styles, [])
    return ax


@document_plot
def plot_regret(
    result: object,
    *,
    deployment_prior: tuple[float, float] | None = None,
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Regret of each model along the prior: what it falls short of the best model there.

    The best model at a prior lies on 0 there, and lower is better.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `regret`, or that frame: model, prior, regret.
    """
    frame = looks.find_frame(result, "regret", "model prior regret", "plot_regret")
    limits = looks.deployment_limits(result, deployment_prior)
    styles = looks.line_styles(frames.list_distinct(frame["model"]), palette)
    ax = looks.new_axes(ax, (7.2, 4.4))
    ends: dict[str, tuple[float, float]] = {}
    for model, style in styles.items():
        rows = frame[frame["model"] == model]
        looks.mean_line(ax, rows, ("prior", "regret"), errorbar=None, **style)
        x, y = rows.sort_values("prior")[["prior", "regret"]].ffill().iloc[-1]
        ends[model] = (float(x), float(y))
    looks.log_axis(ax, "x", frame["prior"].min(), frame["prior"].max())
    top = float(frame["regret"].max()) or 0.01
    ax.set_ylim(-0.03 * top, 1.05 * top)
    shade = looks.shade_priors(ax, limits)
    looks.style(ax, "Regret by prior", looks.PRIOR_LABEL, "Regret (shortfall in AUPREC)")
    if legend:
        _name_models(ax, ends, styles, shade)
    return ax


def _draw_means(ax: Axes, x: np.ndarray, rows: pd.DataFrame, style: dict[str, Any], *, shift: float) -> None:
    """Draw means joined by a line, with their intervals (within 0 and 1) so many points beside them."""
    valid = rows[["conf_low", "conf_high"]].notna().all(axis=1).to_numpy()
    aside = ax.transData + ScaledTranslation(shift / 72, 0, ax.figure.dpi_scale_trans)
    low, high = (np.clip(rows[end].to_numpy(float)[valid], 0, 1) for end in ("conf_low", "conf_high"))
    ax.vlines(x[valid], low, high, color=style["color"], linewidth=1.6, transform=aside)
    ax.update_datalim(np.column_stack([np.tile(x[valid], 2), np.concatenate([low, high])]))
    ax.autoscale_view()
    ax.plot(x, rows["auprec"], linewidth=1.2, **style)


def _name_models(
    ax: Axes, ends: dict[str, tuple[float, float]], styles: dict[str, dict[str, object]], others: list[Entry]
) -> None:
    """Name lines at their ends where names fit, with the rest below the axes; else draw one legend."""
    if looks.label_lines(ax, ends, {model: style["color"] for model, style in styles.items()}):
        looks.legend(ax, others, below=True)
    else:
        looks.legend(ax, [*looks.line_entries(styles), *others])


#: Title, label of x and label of y of each plot of residuals.
RESIDUAL_KINDS = {
    "fitted": ("Residuals by fitted value", "Fitted value", "Residual"),
    "fold": ("Residuals by fold", "Fold", "Residual"),
    "qq": ("Normal quantiles", "Normal quantile", "Standardized residual"),
}


#: Share of the distance between two folds over which the models stand side by side.
FOLD_DODGE = 0.5


#: Numbers of all normal samples behind an envelope; with very many residuals there are fewer samples.
MOST_DRAWN, FEWEST_DRAWS = 10_000_000, 499


#: Beyond this many folds every second, third, ... is written.
MOST_FOLD_TICKS = 12


@document_plot
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
    """
    check_choice(kind, list(RESIDUAL_KINDS), "kind")
    frame = looks.find_frame(result, "residuals", "model fold fitted residual", "plot_residuals")
    dots: dict[str, Any] = {"linestyle": "none", "markevery": None, "markersize": 5}
    dots |= {"markeredgecolor": "white", "markeredgewidth": 0.4}
    lines = looks.line_styles(frames.list_distinct(frame["model"]), palette)
    styles = {model: {**style, **dots} for model, style in lines.items()}
    x, y, others = "fitted", "residual", []
    if kind == "qq":  # the envelopes of an interaction need the analysis itself
        draws = int(np.clip(MOST_DRAWN // len(frame), FEWEST_DRAWS, 4999))
        frame = residual_quantiles(result if isinstance(result, AnovaResult) else frame, n_draws=draws)
        x, y = "theoretical", "standardized"
    ax = looks.new_axes(ax, (6.4, 4.2))
    if kind == "qq":
        others = _draw_envelopes(ax, frame)
    else:
        ax.axhline(0, color=looks.NEUTRAL, linewidth=1, zorder=1)
    if kind == "fold":
        x, frame = "position", frame.assign(position=_place_folds(ax, frame, list(styles)))
    for model, style in styles.items():
        rows = frame[frame["model"] == model]
        ax.plot(rows[x], rows[y], **style)
    entries = [*looks.line_entries(styles), *others]
    return looks.finish(ax, RESIDUAL_KINDS[kind], entries if legend else [])


def _place_folds(ax: Axes, frame: pd.DataFrame, models: list[str]) -> list[float]:
    """Name folds along x; return the place of each row, models side by side within a fold."""
    folds = frames.list_distinct(frame["fold"])
    shift = dict(zip(models, np.linspace(-FOLD_DODGE / 2, FOLD_DODGE / 2, len(models)), strict=True))
    index = {fold: i for i, fold in enumerate(folds)}
    most = MOST_FOLD_TICKS // 2 if looks.is_narrow(ax) else MOST_FOLD_TICKS
    labels = list(looks.model_labels(map(str, folds), width=12).values())
    ticks = range(0, len(folds), -(-len(folds) // most))
    ax.set_xticks(ticks, labels=[labels[i] for i in ticks])
    return [index[fold] + shift[model] for model, fold in looks.tuples_of(frame, "model fold")]


def _draw_envelopes(ax: Axes, frame: pd.DataFrame) -> list[Entry]:
    """Draw both 95 % envelopes of normal residuals; return their legend entries."""
    entries: list[Entry] = []
    for name, alpha in (("simultaneous", 0.18), ("pointwise", 0.28)):
        band: dict[str, Any] = {"color": looks.NEUTRAL, "alpha": alpha, "linewidth": 0}
        ax.fill_between(frame["theoretical"], frame[f"{name}_low"], frame[f"{name}_high"], zorder=1, **band)
        entries.append((f"95 % envelope,\n{name}", Patch(**band)))
    ax.axline((0, 0), slope=1, color=looks.NEUTRAL, linewidth=1, zorder=1)
    return entries
