"""Plots of AUPREC and IAUPREC: by prior, by fold, who leads, regret.

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
from skewanova.base.checks import InputError
from skewanova.plotting import artists, looks
from skewanova.plotting.looks import Entry, ErrorBar, Palette, label_lines, model_palette, or_own


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
    deployment_prior : tuple of float, optional
        Range of priors to shade; by default that of the comparison, if `result` is one.
    support : DataFrame, optional
        Columns prior, supported; by default that of the result, if it has one.
    errorbar, legend, palette, ax
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        As for :func:`plot_roc`.

    Raises
    ------
    ValueError
        If columns are missing, the frame is empty, `errorbar` is unknown or `deployment_prior` is no range.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plotting.performance import plot_auprec
    >>> areas = pd.DataFrame({"model": "A", "fold": 1, "prior": [0.01, 0.1], "auprec": [0.4, 0.8]})
    >>> plot_auprec(areas, ax=Figure().subplots()).get_xscale()
    'log'
    """
    frame = looks.find_frame(result, "auprec_by_prior", ["model", "fold", "prior", "auprec"], "plot_auprec")
    limits = looks.deployment_limits(result, deployment_prior)
    ax, entries = artists.auprec_lines(frame, errorbar, ax, palette)
    entries += looks.shade_priors(ax, limits)
    entries += artists.unsupported(ax, or_own(result, support, "support", ["prior", "supported"]))
    looks.style(ax, title="AUPREC by prior", xlabel=looks.PRIOR_LABEL, ylabel="AUPREC")
    if legend:
        looks.legend(ax, entries, looks.legend_title(frame))
    return ax


def plot_iauprec(
    result: object,
    ranking: pd.DataFrame | None = None,
    *,
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """IAUPREC of each fold and model, with mean, interval and compact letters where a ranking is known.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `iauprec` and `ranking`, or the former frame: model, fold, iauprec. A fold has the same
        place in every model's row.
    ranking : DataFrame, optional
        Columns model, iauprec, conf_low, conf_high, group; needed where `result` is a frame, else only the
        folds are drawn.
    legend, palette, ax
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        The axes drawn on, first model on top.

    Raises
    ------
    ValueError
        If columns are missing, a frame is empty, or the ranking names a model that has no folds.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plotting.performance import plot_iauprec
    >>> folds = pd.DataFrame({"model": ["A", "A", "B"], "fold": [1, 2, 1], "iauprec": [0.8, 0.7, 0.6]})
    >>> ax = plot_iauprec(folds, ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['A', 'B']
    """
    frame = looks.find_frame(result, "iauprec", ["model", "fold", "iauprec"], "plot_iauprec")
    models = frames.distinct(frame["model"])
    source = result if ranking is None and not isinstance(result, pd.DataFrame) else ranking
    columns = ["model", "iauprec", "conf_low", "conf_high", "group"]
    ranked = None
    if source is not None:
        ranked = looks.find_frame(source, "ranking", columns, "plot_iauprec", models=models)
    ax = looks.new_axes(ax, (7.2, 1.6 + 0.45 * len(models)))
    shades = model_palette(models, palette)
    entries = artists.fold_points(ax, frame, shades)
    if ranked is not None:
        entries += artists.ranked_means(ax, ranked, shades, level=looks.level_words(result))
    looks.style(ax, title="IAUPREC by model", xlabel="IAUPREC", ylabel="")
    ax.set_yticks(range(len(models)), labels=list(looks.model_labels(models).values()))
    ax.set_ylim(len(models) - 0.5, -0.5)
    if legend and not looks.is_small(ax):  # the axis names the models
        looks.legend(ax, entries)
    return ax


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
        As :func:`~skewanova.decision.auprec_bands`, :func:`~skewanova.decision.crossings` and
        :func:`~skewanova.evaluation.support` return them; by default those of the result, if it has them.
    deployment_prior : tuple of float, optional
        Range of priors to shade; by default that of the comparison, if `result` is one.
    legend, palette, ax
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        As for :func:`plot_roc`.

    Raises
    ------
    ValueError
        If columns are missing, a frame is empty or not given, or the regions name an unknown model.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plotting.performance import plot_regions
    >>> areas = pd.DataFrame({"model": "A", "fold": 1, "prior": [0.01, 0.1], "auprec": [0.4, 0.8]})
    >>> leads = pd.DataFrame({"model": ["A"], "prior_low": [0.01], "prior_high": [0.1]})
    >>> plot_regions(areas, leads, ax=Figure().subplots()).get_title(loc="left")
    'Leading model by prior'
    """
    frame = looks.find_frame(result, "auprec_by_prior", ["model", "fold", "prior", "auprec"], "plot_regions")
    if regions is None and isinstance(result, pd.DataFrame):
        raise InputError("`plot_regions` needs `regions` where its first argument is a frame")
    source = result if regions is None else regions
    models = frames.distinct(frame["model"])
    columns = ["model", "prior_low", "prior_high"]
    leads = looks.find_frame(source, "regions", columns, "plot_regions", models=models)
    limits = looks.deployment_limits(result, deployment_prior)
    shades = model_palette(models, palette)
    ax, entries = artists.auprec_lines(frame, None, ax, shades)
    columns = ["model", "prior", "conf_low", "conf_high"]
    few = len(models) <= looks.MOST_BANDS  # else nothing is drawn of what takes long to draw from
    displayed = or_own(result, bands, "by_prior", columns) if few else None
    if displayed is not None and displayed["conf_low"].notna().any():
        entries += artists.bands(ax, displayed, shades, level=looks.level_words(result))
    entries += looks.shade_priors(ax, limits)
    entries += artists.unsupported(ax, or_own(result, support, "support", ["prior", "supported"]))
    marks = ["prior", "conf_low", "conf_high", "model_above", "lead", "open_low", "open_high"]
    changes = or_own(result, crossings, "crossings", marks)
    artists.leading_strip(ax, leads, shades)
    entries += artists.crossing_marks(ax, changes, frame) if changes is not None else []
    entries.append(("strip: leading model", Patch(facecolor=looks.NEUTRAL)))
    looks.style(ax, title="Leading model by prior", xlabel=looks.PRIOR_LABEL, ylabel="AUPREC")
    if legend:
        looks.legend(ax, entries, looks.legend_title(frame))
    return ax


#: Points between the intervals of two models, which stand side by side at every prior; and of all of them.
DODGE, MOST_DODGE = 4.0, 30.0


#: Beyond this many priors every second, third, ... is written.
MOST_TICKS = 10


def plot_interaction(
    result: object, *, legend: bool = True, palette: Palette = None, ax: Axes | None = None
) -> Axes:
    """Interaction plot of models and priors: mean AUPREC over folds with its interval.

    Lines that are not parallel show an interaction: what a model gains depends on the prior; lines that cross
    show that the better model does.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_intervals`, or that frame: model, prior, auprec, conf_low, conf_high.
    legend, palette, ax
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        The axes drawn on, priors ascending and evenly spaced. Lines stand at the priors; the intervals of
        several models stand side by side.

    Raises
    ------
    ValueError
        If columns are missing or the frame is empty.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plotting import plot_interaction
    >>> means = pd.DataFrame({"model": "A", "prior": [0.5, 0.1], "auprec": [0.9, 0.6]})
    >>> ax = plot_interaction(means.assign(conf_low=0.5, conf_high=1.0), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0.1', '0.5']
    """
    columns = ["model", "prior", "auprec", "conf_low", "conf_high"]
    frame = looks.find_frame(result, "auprec_intervals", columns, "plot_interaction")
    priors = sorted(frames.distinct(frame["prior"]))
    styles = looks.line_looks(frames.distinct(frame["model"]), palette)
    ax = looks.new_axes(ax, (7.2, 4.4))
    step = min(DODGE, MOST_DODGE / len(styles))
    ends: dict[str, tuple[float, float]] = {}
    for i, (model, look) in enumerate(styles.items()):
        rows = frame[frame["model"] == model].sort_values("prior")
        x = np.array([priors.index(prior) for prior in rows["prior"]], dtype=np.float64)
        _means(ax, x, rows, {**look, "markevery": None}, shift=step * (i - (len(styles) - 1) / 2))
        ends[model] = (float(x[-1]), float(rows["auprec"].iloc[-1]))
    step = -(-len(priors) // MOST_TICKS)
    ticks = range(0, len(priors), step)
    ax.set_xticks(ticks, labels=[looks.plain(priors[i]) for i in ticks])
    ax.set_xlim(-0.4, len(priors) - 0.6)
    ax.set_ylim(ax.get_ylim())
    ylabel = "Mean AUPREC (t interval)"
    looks.style(ax, title="AUPREC by model and prior", xlabel=looks.PRIOR_LABEL, ylabel=ylabel)
    if legend:
        _name_models(ax, ends, styles, [])
    return ax


def plot_regret(
    result: object,
    *,
    deployment_prior: tuple[float, float] | None = None,
    legend: bool = True,
    palette: Palette = None,
    ax: Axes | None = None,
) -> Axes:
    """Regret of each model along the prior: what it falls short of the best model there.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `regret`, or that frame: model, prior, regret.
    deployment_prior : tuple of float, optional
        Range of priors to shade; by default that of the comparison, if `result` is one.
    legend, palette, ax
        As for :func:`plot_roc`.

    Returns
    -------
    Axes
        The axes drawn on; the best model at a prior lies on 0 there, and lower is better.

    Raises
    ------
    ValueError
        If columns are missing, the frame is empty or `deployment_prior` is no range.

    Examples
    --------
    >>> import pandas as pd
    >>> from matplotlib.figure import Figure
    >>> from skewanova.plotting import plot_regret
    >>> frame = pd.DataFrame({"model": "A", "prior": [0.01, 0.1], "regret": [0.2, 0.0]})
    >>> plot_regret(frame, ax=Figure().subplots()).get_ylabel()
    'Regret (shortfall in AUPREC)'
    """
    frame = looks.find_frame(result, "regret", ["model", "prior", "regret"], "plot_regret")
    limits = looks.deployment_limits(result, deployment_prior)
    styles = looks.line_looks(frames.distinct(frame["model"]), palette)
    ax = looks.new_axes(ax, (7.2, 4.4))
    for model, look in styles.items():
        looks.mean_line(ax, frame[frame["model"] == model], ("prior", "regret"), errorbar=None, **look)
    looks.log_axis(ax, "x", frame["prior"].min(), frame["prior"].max())
    top = float(frame["regret"].max()) or 0.01
    ax.set_ylim(-0.03 * top, 1.05 * top)
    shade = looks.shade_priors(ax, limits)
    ylabel = "Regret (shortfall in AUPREC)"
    looks.style(ax, title="Regret by prior", xlabel=looks.PRIOR_LABEL, ylabel=ylabel)
    last = frame.sort_values("prior").groupby("model", sort=False, observed=True)[["prior", "regret"]].last()
    ends = {str(model): (float(x), float(y)) for model, x, y in last.itertuples()}
    if legend:
        _name_models(ax, {model: ends[model] for model in styles}, styles, shade)
    return ax


def _means(ax: Axes, x: np.ndarray, rows: pd.DataFrame, look: dict[str, Any], *, shift: float) -> None:
    """Means joined by a line, with their intervals, as far as areas go, so many points beside them."""
    known = rows[["conf_low", "conf_high"]].notna().all(axis=1).to_numpy()
    aside = ax.transData + ScaledTranslation(shift / 72, 0, ax.figure.dpi_scale_trans)
    low, high = (np.clip(rows[end].to_numpy(float)[known], 0, 1) for end in ("conf_low", "conf_high"))
    ax.vlines(x[known], low, high, color=look["color"], linewidth=1.6, transform=aside)
    ax.update_datalim(np.column_stack([np.tile(x[known], 2), np.concatenate([low, high])]))
    ax.autoscale_view()
    ax.plot(x, rows["auprec"], linewidth=1.2, **look)


def _name_models(
    ax: Axes, ends: dict[str, tuple[float, float]], styles: dict[str, dict[str, object]], others: list[Entry]
) -> None:
    """Names at the ends of the lines where they fit, with the rest below the axes; else one legend."""
    if not label_lines(ax, ends, {model: look["color"] for model, look in styles.items()}):
        looks.legend(ax, [*looks.line_entries(styles), *others])
    elif others:
        looks.legend(ax, others, below=True)
