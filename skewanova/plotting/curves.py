"""Plots of ROC and precision-recall curves, the P-ROC surface, and measures by skew."""

from __future__ import annotations

from matplotlib import colormaps
from matplotlib.axes import Axes

from skewanova.base import frames
from skewanova.base.checks import check_choice
from skewanova.plotting import artists, styling
from skewanova.plotting.styling import ErrorBar, Palette, document_plot

SURFACE_KINDS = ("contour", "3d")


@document_plot
def plot_roc(
    result: object,
    *,
    errorbar: ErrorBar = ("sd", 1),
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the ROC curve of each model, averaged over folds.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `roc`, or that frame: model, fold, fpr, tpr on one grid of fpr.
    """
    frame = styling.find_frame(result, "roc", "model fold fpr tpr", "plot_roc")
    ax, entries = artists.draw_mean_lines(
        ax, (6.8, 4.4), [("", frame, ("fpr", "tpr"))], errorbar, palette=palette
    )
    chance = ax.axline((0, 0), slope=1, color=styling.NEUTRAL, linestyle=":", linewidth=1, zorder=1)
    styling.set_unit_limits(ax)
    ax.set_aspect("equal", anchor="W")
    entries.insert(frame["model"].nunique(), ("random ranking", chance))
    labels = ("ROC curves", "False positive rate", "True positive rate")
    return styling.finish_axes(ax, labels, entries if legend else [], styling.make_legend_title(frame))


@document_plot
def plot_precision_recall(
    result: object,
    *,
    prior: float | None = None,
    errorbar: ErrorBar = ("sd", 1),
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
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
    frame = styling.find_frame(result, "precision_recall", columns, "plot_precision_recall")
    if prior is not None:
        frame = frame[frame["prior"] == styling.select_prior(prior, frame["prior"])]
    priors, xy = frames.list_distinct(frame["prior"]), ("recall", "precision")
    parts = [(f"prior {styling.format_plain(value)}", frame[frame["prior"] == value], xy) for value in priors]
    ax, entries = artists.draw_mean_lines(ax, (7.2, 4.6), parts, errorbar, palette=palette)
    suffix = f" at {parts[0][0]}" if len(parts) == 1 else ""
    styling.set_unit_limits(ax)
    labels = (f"Precision-recall curves{suffix}", "Recall", "Precision")
    return styling.finish_axes(ax, labels, entries if legend else [], styling.make_legend_title(frame))


@document_plot
def plot_surface(
    result: object,
    *,
    model: str | None = None,
    kind: str = "contour",
    legend: bool = True,
    palette: str = "viridis",
    ax: Axes | None = None,
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
    check_choice(kind, SURFACE_KINDS, "kind")
    check_choice(palette, list(colormaps), "palette")
    frame = styling.find_frame(result, "surface", "model prior recall precision", "plot_surface")
    models = frames.list_distinct(frame["model"])
    chosen = models[0] if model is None else check_choice(model, models, "model")
    grid = artists.pivot_surface(frame[frame["model"] == chosen], chosen)
    ax = styling.make_axes(ax, (6.4, 4.6), "3d" if kind == "3d" else None)
    if kind == "3d":
        artists.draw_surface(ax, grid, palette)
    else:
        artists.draw_contours(ax, grid, palette, legend=legend)
    styling.set_title(ax, f"P-ROC surface of {styling.model_labels(models)[chosen]}")
    return ax


@document_plot
def plot_skew(
    result: object,
    *,
    errorbar: ErrorBar = ("sd", 1),
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw accuracy and precision by skew at one operating point (Landgrebe et al. 2006, figure 1).

    Accuracy tends to the true negative rate as the skew grows, while precision depends on the positives.
    Colours differ by model. Lines are solid for accuracy and dashed for precision.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `skew`, or that frame: model, fold, skew, accuracy, precision.
    """
    frame = styling.find_frame(result, "skew", "model fold skew accuracy precision", "plot_skew")
    parts = [(measure, frame, ("skew", measure)) for measure in ("accuracy", "precision")]
    ax, entries = artists.draw_mean_lines(ax, (7.2, 4.4), parts, errorbar, palette=palette)
    styling.set_log_axis(ax, "x", frame["skew"].min(), frame["skew"].max())
    styling.set_unit_limits(ax, x=False)
    labels = ("Accuracy and precision by skew", "Skew (negatives per positive)", "Accuracy, precision")
    return styling.finish_axes(ax, labels, entries if legend else [], styling.make_legend_title(frame))
