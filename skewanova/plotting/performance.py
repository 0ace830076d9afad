"""Plots of curves, AUPREC and IAUPREC by prior and by fold, leading models, regret and residuals.

The first argument is a comparison, any object with the frame as an attribute, or the frame itself. Models
keep the order of the frame, and one colour and marker in every plot. Without `ax` a new pyplot figure is
made, which notebooks show; with `ax` pyplot is not touched. Legends are beside the axes if the figure has a
layout that makes room, such as ``plt.subplots(layout="constrained")``. Global settings are never changed.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Unpack

import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.transforms import ScaledTranslation

from skewanova.base.checks import Floats, InputError, check_choice, suggest_name
from skewanova.base.frames import list_distinct
from skewanova.inference.anova import AnovaResult
from skewanova.inference.diagnostics import residual_quantiles
from skewanova.plotting import artists, styling
from skewanova.plotting.styling import Entry, ErrorBar, PlotOptions, document_plot, find_optional_frame
from skewanova.priors.weightings import PriorLike


@document_plot
def plot_auprec(
    result: object,
    *,
    deployment_prior: PriorLike | None = None,
    support: pd.DataFrame | None = None,
    errorbar: ErrorBar = ("sd", 1),
    **options: Unpack[PlotOptions],
) -> Axes:
    """Draw the AUPREC of each model by prior, averaged over folds.

    Priors with too few negatives in the test set are hatched.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_by_prior`, or that frame: model, fold, prior, auprec on one grid of priors.
    """
    frame = styling.find_frame(result, "auprec_by_prior", "model fold prior auprec", "plot_auprec")
    limits = styling.find_deployment_limits(result, deployment_prior)
    ax, entries = artists.draw_mean_lines((7.2, 4.4), [("", frame, ("prior", "auprec"))], errorbar, options)
    styling.set_log_axis(ax, "x", frame["prior"].min(), frame["prior"].max())
    entries += styling.shade_priors(ax, limits)
    entries += artists.hatch_unsupported(ax, result, support)
    labels = ("AUPREC by prior", styling.PRIOR_LABEL, "AUPREC")
    return styling.finish_axes(ax, labels, entries, legend=options["legend"], n_folds=frame["fold"].nunique())


@document_plot
def plot_iauprec(result: object, ranking: pd.DataFrame | None = None, **options: Unpack[PlotOptions]) -> Axes:
    """Draw the IAUPREC of each fold and model, with mean, interval and compact letters of a ranking.

    The first model of `iauprec` is on top. A fold has the same height in every model's row.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `iauprec` and `ranking`, or the former frame: model, fold, iauprec.
    ranking : DataFrame, optional
        Columns model, iauprec, conf_low, conf_high, group; by default that of `result`. If `result` is a
        frame and there is no ranking, only the folds are drawn.
    """
    frame = styling.find_frame(result, "iauprec", "model fold iauprec")
    models = list_distinct(frame["model"])
    source = result if ranking is None and not isinstance(result, pd.DataFrame) else ranking
    if source is not None:
        columns = "model iauprec conf_low conf_high group"
        ranking = styling.find_frame(source, "ranking", columns, "ranking", models=models)
    ax = styling.make_axes(options["ax"], (7.2, 1.6 + 0.45 * len(models)))
    shades = styling.model_palette(models, options["palette"])
    entries = artists.draw_fold_points(ax, frame, shades)
    if ranking is not None:
        entries += artists.draw_ranked_means(ax, ranking, shades, level=styling.describe_level(result))
    styling.name_rows(ax, list(styling.model_labels(models).values()))
    visible = options["legend"] and not styling.is_small(ax)  # the axis names the models
    return styling.finish_axes(ax, ("IAUPREC by model", "IAUPREC", ""), entries, legend=visible)


@document_plot
def plot_regions(
    result: object,
    regions: pd.DataFrame | None = None,
    *,
    bands: pd.DataFrame | None = None,
    crossings: pd.DataFrame | None = None,
    support: pd.DataFrame | None = None,
    deployment_prior: PriorLike | None = None,
    **options: Unpack[PlotOptions],
) -> Axes:
    """Draw the mean AUPREC by prior, with a strip along the bottom that shows the leading model.

    Bands are simultaneous over models and priors. Changes of the leader have intervals, the deployment prior
    is shaded, and priors with too few negatives in the test set are hatched. From eleven models on, the strip
    has names.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_by_prior` and `regions`, or the former frame: model, fold, prior, auprec.
    regions : DataFrame, optional
        Columns model, prior_low, prior_high; required if `result` is a frame.
    bands, crossings, support : DataFrame, optional
        Results of :func:`~skewanova.decision.auprec_bands`, :func:`~skewanova.decision.find_crossings` and
        :func:`~skewanova.evaluation.support`; by default those of `result`, if it has them.
    """
    frame = styling.find_frame(result, "auprec_by_prior", "model fold prior auprec", "plot_regions")
    if regions is None and isinstance(result, pd.DataFrame):
        raise InputError(
            "`plot_regions` needs `regions` where its first argument is a frame; make them by "
            "skewanova.decision.find_regions(skewanova.evaluate(scores))"
        )
    source, models = result if regions is None else regions, list_distinct(frame["model"])
    leads = styling.find_frame(source, "regions", "model prior_low prior_high", "regions", models=models)
    limits = styling.find_deployment_limits(result, deployment_prior)
    shades = styling.model_palette(models, options["palette"])
    ax, entries = artists.draw_mean_lines((7.2, 4.4), [("", frame, ("prior", "auprec"))], None, options)
    styling.set_log_axis(ax, "x", frame["prior"].min(), frame["prior"].max())
    if len(models) <= styling.MAX_BANDS:  # bands that are not drawn are not computed
        columns = "model prior conf_low conf_high"
        displayed = find_optional_frame(result, bands, "by_prior", columns, name="bands")
        entries += artists.draw_bands(ax, displayed, shades, level=styling.describe_level(result))
    entries += styling.shade_priors(ax, limits)
    entries += artists.hatch_unsupported(ax, result, support)
    columns = "prior conf_low conf_high model_above lead open_low open_high"
    changes = find_optional_frame(result, crossings, "crossings", columns)
    artists.draw_leader_strip(ax, leads, shades)
    entries += artists.mark_crossings(ax, changes, frame)
    entries.append(("strip: leading model", Patch(facecolor=styling.NEUTRAL)))
    labels = ("Leading model by prior", styling.PRIOR_LABEL, "AUPREC")
    return styling.finish_axes(ax, labels, entries, legend=options["legend"], n_folds=frame["fold"].nunique())


#: Points between the intervals of two models at one prior, and at most between the first and the last.
DODGE, MAX_DODGE = 4.0, 30.0


@document_plot
def plot_interaction(result: object, **options: Unpack[PlotOptions]) -> Axes:
    """Draw the interaction plot of models and priors: mean AUPREC over folds with its interval.

    Lines that are not parallel show an interaction, because differences between models depend on the prior.
    Lines that cross show that the better model depends on it. Priors are evenly spaced in ascending order.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_intervals`, or that frame: model, prior, auprec, conf_low, conf_high.
    """
    columns = "model prior auprec conf_low conf_high"
    frame = styling.find_frame(result, "auprec_intervals", columns, "plot_interaction")
    priors = sorted(list_distinct(frame["prior"]))
    styles = styling.make_line_styles(list_distinct(frame["model"]), options["palette"])
    ax = styling.make_axes(options["ax"], (7.2, 4.4))
    step = min(DODGE, MAX_DODGE / len(styles))
    lines = {}
    for i, (model, style) in enumerate(styles.items()):
        rows = frame[frame["model"] == model].sort_values("prior")
        x = np.array([priors.index(prior) for prior in rows["prior"]], dtype=np.float64)
        shift, style["markevery"] = step * (i - (len(styles) - 1) / 2), None
        lines[model] = _draw_means(ax, x, rows, style, shift=shift)
    ticks = range(0, len(priors), -(-len(priors) // 10))  # of more than 10, every second, third, ...
    ax.set_xticks(ticks, labels=[styling.format_plain(priors[i]) for i in ticks])
    ax.set(xlim=(-0.4, len(priors) - 0.6), ylim=ax.get_ylim())
    styling.style_axes(ax, "AUPREC by model and prior", styling.PRIOR_LABEL, "Mean AUPREC (t interval)")
    if options["legend"]:
        styling.label_lines(ax, lines, styles)
    return ax


@document_plot
def plot_regret(
    result: object, *, deployment_prior: PriorLike | None = None, **options: Unpack[PlotOptions]
) -> Axes:
    """Draw the regret of each model by prior: its shortfall in AUPREC from the best model there.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `regret`, or that frame: model, prior, regret.
    """
    frame = styling.find_frame(result, "regret", "model prior regret")
    limits = styling.find_deployment_limits(result, deployment_prior)
    styles = styling.make_line_styles(list_distinct(frame["model"]), options["palette"])
    ax = styling.make_axes(options["ax"], (7.2, 4.4))
    lines = {
        model: styling.draw_mean_line(ax, frame[frame["model"] == model], ("prior", "regret"), **style)
        for model, style in styles.items()
    }
    styling.set_log_axis(ax, "x", frame["prior"].min(), frame["prior"].max())
    top = float(frame["regret"].max()) or 0.01
    ax.set_ylim(-0.03 * top, 1.05 * top)
    shade = styling.shade_priors(ax, limits)
    styling.style_axes(ax, "Regret by prior", styling.PRIOR_LABEL, "Regret (shortfall in AUPREC)")
    if options["legend"]:
        styling.label_lines(ax, lines, styles, shade)
    return ax


def _draw_means(ax: Axes, x: Floats, rows: pd.DataFrame, style: dict[str, Any], *, shift: float) -> Line2D:
    """Draw means joined by a line, and `shift` points aside intervals cut to [0, 1]; return the line."""
    valid = rows[["conf_low", "conf_high"]].notna().all(axis=1).to_numpy()
    aside = ax.transData + ScaledTranslation(shift / 72, 0, ax.figure.dpi_scale_trans)
    low, high = (np.clip(rows[end].to_numpy(float)[valid], 0, 1) for end in ("conf_low", "conf_high"))
    ax.vlines(x[valid], low, high, color=style["color"], linewidth=1.6, transform=aside)
    ax.update_datalim(np.column_stack([np.tile(x[valid], 2), np.concatenate([low, high])]))
    ax.autoscale_view()
    return ax.plot(x, rows["auprec"], linewidth=1.2, **style)[0]


#: Title, label of x and label of y of each plot of residuals.
RESIDUAL_KINDS = {
    "fitted": ("Residuals by fitted value", "Fitted value", "Residual"),
    "fold": ("Residuals by fold", "Fold", "Residual"),
    "qq": ("Normal quantiles", "Normal quantile", "Standardized residual"),
}


#: Models are side by side within this share of the distance between two folds.
FOLD_DODGE = 0.5


#: Largest number of normal values drawn for an envelope, and smallest number of samples.
MAX_DRAWN, MIN_DRAWS = 10_000_000, 499


#: Largest number of folds written along the axis.
MAX_FOLD_TICKS = 12


@document_plot
def plot_residuals(result: object, *, kind: str = "fitted", **options: Unpack[PlotOptions]) -> Axes:
    """Draw the residuals of an analysis of variance, to check its assumptions.

    Parameters
    ----------
    result : AnovaResult, Comparison or DataFrame
        A result with `residuals`, or that frame: model, fold, fitted, residual.
    kind : {"fitted", "fold", "qq"}, default "fitted"
        Residuals by fitted value, where a funnel shows unequal variances; by fold, which shows outlying
        folds; or by normal quantile, with the 95 % envelopes of
        :func:`~skewanova.inference.residual_quantiles`.
    """
    check_choice(kind, list(RESIDUAL_KINDS), "kind")
    frame = styling.find_frame(result, "residuals", "model fold fitted residual")
    dots: dict[str, Any] = {"linestyle": "none", "markevery": None, "markersize": 5}
    dots |= {"markeredgecolor": "white", "markeredgewidth": 0.4}
    lines = styling.make_line_styles(list_distinct(frame["model"]), options["palette"])
    styles = {model: {**style, **dots} for model, style in lines.items()}
    x, y, others = "fitted", "residual", []
    if kind == "qq":  # the envelopes of an interaction need the analysis itself
        draws = int(np.clip(MAX_DRAWN // len(frame), MIN_DRAWS, 4999))
        frame = residual_quantiles(result if isinstance(result, AnovaResult) else frame, n_draws=draws)
        x, y = "theoretical", "standardized"
    ax = styling.make_axes(options["ax"], (6.4, 4.2))
    if kind == "qq":
        others = _draw_envelopes(ax, frame)
    else:
        ax.axhline(0, color=styling.NEUTRAL, linewidth=1, zorder=1)
    if kind == "fold":
        x, frame = "position", frame.assign(position=_position_folds(ax, frame, list(styles)))
    for model, style in styles.items():
        rows = frame[frame["model"] == model]
        ax.plot(rows[x], rows[y], **style)
    entries = [*styling.make_line_entries(styles), *others]
    return styling.finish_axes(ax, RESIDUAL_KINDS[kind], entries, legend=options["legend"])


def _position_folds(ax: Axes, frame: pd.DataFrame, models: list[str]) -> list[float]:
    """Label the folds along x; return the x of each row, where models are side by side in a fold."""
    folds = list_distinct(frame["fold"])
    shift = dict(zip(models, np.linspace(-FOLD_DODGE / 2, FOLD_DODGE / 2, len(models)), strict=True))
    index = {fold: i for i, fold in enumerate(folds)}
    most = MAX_FOLD_TICKS // 2 if styling.is_narrow(ax) else MAX_FOLD_TICKS
    labels = list(styling.model_labels(map(str, folds), width=12).values())
    ticks = range(0, len(folds), -(-len(folds) // most))
    ax.set_xticks(ticks, labels=[labels[i] for i in ticks])
    return [index[fold] + shift[model] for model, fold in zip(frame["model"], frame["fold"], strict=True)]


def _draw_envelopes(ax: Axes, frame: pd.DataFrame) -> list[Entry]:
    """Draw both 95 % envelopes of normal residuals, and the diagonal; return [simultaneous, pointwise]."""
    entries: list[Entry] = []
    for name, alpha in (("simultaneous", 0.18), ("pointwise", 0.28)):
        band: dict[str, Any] = {"color": styling.NEUTRAL, "alpha": alpha, "linewidth": 0}
        ax.fill_between(frame["theoretical"], frame[f"{name}_low"], frame[f"{name}_high"], zorder=1, **band)
        entries.append((f"95 % envelope,\n{name}", Patch(**band)))
    ax.axline((0, 0), slope=1, color=styling.NEUTRAL, linewidth=1, zorder=1)
    return entries


@document_plot
def plot_roc(result: object, *, errorbar: ErrorBar = ("sd", 1), **options: Unpack[PlotOptions]) -> Axes:
    """Draw the ROC curve of each model, averaged over folds.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `roc`, or that frame: model, fold, fpr, tpr on one grid of fpr.
    """
    frame = styling.find_frame(result, "roc", "model fold fpr tpr")
    ax, entries = artists.draw_mean_lines((6.8, 4.4), [("", frame, ("fpr", "tpr"))], errorbar, options)
    chance = ax.axline((0, 0), slope=1, color=styling.NEUTRAL, linestyle=":", linewidth=1, zorder=1)
    styling.set_unit_limits(ax)
    ax.set_aspect("equal", anchor="W")
    entries.insert(frame["model"].nunique(), ("random ranking", chance))
    labels = ("ROC curves", "False positive rate", "True positive rate")
    return styling.finish_axes(ax, labels, entries, legend=options["legend"], n_folds=frame["fold"].nunique())


@document_plot
def plot_precision_recall(
    result: object,
    *,
    prior: float | None = None,
    errorbar: ErrorBar = ("sd", 1),
    **options: Unpack[PlotOptions],
) -> Axes:
    """Draw precision-recall curves, averaged over folds, with colours by model and line styles by prior.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `precision_recall`, or that frame: model, fold, prior, recall, precision on one
        grid of recall.
    prior : float, optional
        The only prior to draw; by default all.
    """
    columns = "model fold prior recall precision"
    frame = styling.find_frame(result, "precision_recall", columns)
    if prior is not None:
        frame = frame[frame["prior"] == styling.select_prior(prior, frame["prior"])]
    priors, xy = list_distinct(frame["prior"]), ("recall", "precision")
    parts = [(f"prior {styling.format_plain(value)}", frame[frame["prior"] == value], xy) for value in priors]
    ax, entries = artists.draw_mean_lines((7.2, 4.6), parts, errorbar, options)
    suffix = f" at {parts[0][0]}" if len(parts) == 1 else ""
    styling.set_unit_limits(ax)
    labels = (f"Precision-recall curves{suffix}", "Recall", "Precision")
    return styling.finish_axes(ax, labels, entries, legend=options["legend"], n_folds=frame["fold"].nunique())


@partial(document_plot, palette="viridis")
def plot_surface(
    result: object, *, model: str | None = None, kind: str = "contour", **options: Unpack[PlotOptions]
) -> Axes:
    """Draw the P-ROC surface of one model: precision by recall and prior (Landgrebe et al. 2006, section 4).

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `surface`, or that frame: model, prior, recall, precision on a full grid.
    model : str, optional
        The model to draw; by default the first.
    kind : {"contour", "3d"}, optional
        Filled contours, or a 3-D surface, for which `ax` must be 3-D.
    legend : bool, default True
        Whether contours have a colour bar.
    palette : str, default "viridis"
        Name of a matplotlib colour map.
    """
    check_choice(kind, ("contour", "3d"), "kind")
    palette: Any = options["palette"]
    if not isinstance(palette, str) or palette not in colormaps:
        raise InputError(
            "`palette` must be the name of a colour map of matplotlib, such as 'viridis', but got "
            f"{palette!r}{suggest_name(palette, colormaps)}"
        )
    frame = styling.find_frame(result, "surface", "model prior recall precision")
    models = list_distinct(frame["model"])
    chosen = models[0] if model is None else check_choice(model, models, "model")
    grid = artists.pivot_surface(frame[frame["model"] == chosen], chosen)
    ax = styling.make_axes(options["ax"], (6.4, 4.6), "3d" if kind == "3d" else None)
    if kind == "3d":
        artists.draw_surface(ax, grid, palette)
    else:
        artists.draw_contours(ax, grid, palette, legend=options["legend"])
    styling.set_title(ax, f"P-ROC surface of {styling.model_labels(models)[chosen]}")
    return ax


@document_plot
def plot_skew(result: object, *, errorbar: ErrorBar = ("sd", 1), **options: Unpack[PlotOptions]) -> Axes:
    """Draw accuracy and precision by skew at one operating point (Landgrebe et al. 2006, figure 1).

    Accuracy tends to the true negative rate as the skew grows, while precision depends on the positives.
    Colours differ by model. Lines are solid for accuracy and dashed for precision.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `skew`, or that frame: model, fold, skew, accuracy, precision.
    """
    frame = styling.find_frame(result, "skew", "model fold skew accuracy precision")
    parts = [(measure, frame, ("skew", measure)) for measure in ("accuracy", "precision")]
    ax, entries = artists.draw_mean_lines((7.2, 4.4), parts, errorbar, options)
    styling.set_log_axis(ax, "x", frame["skew"].min(), frame["skew"].max())
    styling.set_unit_limits(ax, x=False)
    labels = ("Accuracy and precision by skew", "Skew (negatives per positive)", "Accuracy, precision")
    return styling.finish_axes(ax, labels, entries, legend=options["legend"], n_folds=frame["fold"].nunique())
