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

from skewanova.base import frames
from skewanova.base.checks import InputError
from skewanova.plotting import artists, looks
from skewanova.plotting.looks import Entry, ErrorBar, label_lines, or_own


def plot_auprec(
    result: object,
    *,
    deployment_prior: tuple[float, float] | None = None,
    support: pd.DataFrame | None = None,
    errorbar: ErrorBar = ("sd", 1),
    ax: Axes | None = None,
) -> Axes:
    """AUPREC of each model against the prior, averaged over folds.

    Priors at which the test set holds too few negatives to tell are hatched.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_by_prior`, or that frame: model, fold, prior, auprec on one grid of priors.
    deployment_prior : tuple of float, optional
        Range of priors to shade.
    support : DataFrame, optional
        Columns prior, supported; by default that of the result, if it has one.
    errorbar, ax
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
    limits = looks.check_limits(deployment_prior)
    ax, entries = artists.auprec_lines(frame, errorbar, ax)
    entries += looks.shade_priors(ax, limits)
    entries += artists.unsupported(ax, or_own(result, support, "support", ["prior", "supported"]))
    looks.style(ax, title="AUPREC by prior", xlabel=looks.PRIOR_LABEL, ylabel="AUPREC")
    looks.legend(ax, entries, looks.legend_title(frame))
    return ax


def plot_iauprec(result: object, ranking: pd.DataFrame | None = None, *, ax: Axes | None = None) -> Axes:
    """IAUPREC of each fold and model, with mean, interval and compact letters where a ranking is known.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `iauprec` and `ranking`, or the former frame: model, fold, iauprec. A fold has the same
        place in every model's row.
    ranking : DataFrame, optional
        Columns model, iauprec, conf_low, conf_high, group; needed where `result` is a frame, else only the
        folds are drawn.
    ax : Axes, optional
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
    ranked = None if source is None else looks.find_ranking(source, models)
    ax = looks.new_axes(ax, (7.2, 1.6 + 0.45 * len(models)))
    entries = artists.fold_points(ax, frame, models)
    if ranked is not None:
        entries += artists.ranked_means(ax, ranked, models)
    looks.style(ax, title="IAUPREC by model", xlabel="IAUPREC", ylabel="")
    ax.set_yticks(range(len(models)), labels=list(looks.model_labels(models).values()))
    ax.set_ylim(len(models) - 0.5, -0.5)
    looks.legend(ax, entries)
    return ax


def plot_regions(
    result: object,
    regions: pd.DataFrame | None = None,
    *,
    bands: pd.DataFrame | None = None,
    crossings: pd.DataFrame | None = None,
    support: pd.DataFrame | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Mean AUPREC against the prior, and along the bottom which model leads where.

    Bands hold for all models and priors at once, changes of the lead have their intervals, and priors
    at which the test set holds too few negatives to tell are hatched.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_by_prior` and `regions`, or the former frame: model, fold, prior, auprec.
    regions : DataFrame, optional
        Columns model, prior_low, prior_high; needed where `result` is a frame.
    bands, crossings, support : DataFrame, optional
        As :func:`~skewanova.decision.auprec_bands`, :func:`~skewanova.decision.crossings` and
        :func:`~skewanova.evaluation.support` return them; by default those of the result, if it has them.
    ax : Axes, optional
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
    leads = looks.find_regions(source, models)
    ax, entries = artists.auprec_lines(frame, None, ax)
    columns = ["model", "prior", "conf_low", "conf_high"]
    few = len(models) <= looks.MOST_BANDS  # else nothing is drawn of what takes long to draw from
    shown = or_own(result, bands, "auprec_bands", columns) if few else None
    if shown is not None and shown["conf_low"].notna().any():
        entries += artists.bands(ax, shown, models)
    entries += artists.unsupported(ax, or_own(result, support, "support", ["prior", "supported"]))
    marks = ["prior", "conf_low", "conf_high", "model_above", "lead", "open_low", "open_high"]
    changes = or_own(result, crossings, "crossings", marks)
    artists.leading_strip(ax, leads, models)
    entries += artists.crossing_marks(ax, changes, frame) if changes is not None else []
    entries.append(("strip: leading model", Patch(facecolor=looks.NEUTRAL)))
    looks.style(ax, title="Leading model by prior", xlabel=looks.PRIOR_LABEL, ylabel="AUPREC")
    looks.legend(ax, entries, looks.legend_title(frame))
    return ax


#: Share of the distance between two priors over which the models' intervals stand side by side.
DODGE = 0.36


#: Beyond this many priors every second, third, ... is written.
MOST_TICKS = 10


def plot_interaction(result: object, *, ax: Axes | None = None) -> Axes:
    """Interaction plot of models and priors: mean AUPREC over folds with its interval.

    Lines that are not parallel show an interaction: what a model gains depends on the prior; lines that cross
    show that the better model does.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `auprec_intervals`, or that frame: model, prior, auprec, conf_low, conf_high.
    ax : Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    Axes
        The axes drawn on, priors ascending and evenly spaced; models stand side by side at each.

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
    styles = looks.line_looks(frames.distinct(frame["model"]))
    ax = looks.new_axes(ax, (7.2, 4.4))
    places = np.linspace(-DODGE / 2, DODGE / 2, len(styles)) if len(styles) > 1 else [0.0]
    ends: dict[str, tuple[float, float]] = {}
    for (model, look), shift in zip(styles.items(), places, strict=True):
        rows = frame[frame["model"] == model].sort_values("prior")
        x = np.array([priors.index(prior) for prior in rows["prior"]]) + shift
        _means(ax, x, rows, {**look, "markevery": None})
        ends[model] = (float(x[-1]), float(rows["auprec"].iloc[-1]))
    step = -(-len(priors) // MOST_TICKS)
    ticks = range(0, len(priors), step)
    ax.set_xticks(ticks, labels=[looks.plain(priors[i]) for i in ticks])
    ax.set_xlim(-0.4, len(priors) - 0.6)
    ax.set_ylim(ax.get_ylim())
    ylabel = "Mean AUPREC (t interval)"
    looks.style(ax, title="AUPREC by model and prior", xlabel=looks.PRIOR_LABEL, ylabel=ylabel)
    _name_models(ax, ends, styles, [])
    return ax


def plot_regret(
    result: object, *, deployment_prior: tuple[float, float] | None = None, ax: Axes | None = None
) -> Axes:
    """Regret of each model along the prior: what it falls short of the best model there.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `regret`, or that frame: model, prior, regret.
    deployment_prior : tuple of float, optional
        Range of priors to shade; by default that of the comparison, if `result` is one.
    ax : Axes, optional
        Where to draw; by default a new figure.

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
    styles = looks.line_looks(frames.distinct(frame["model"]))
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
    _name_models(ax, {model: ends[model] for model in styles}, styles, shade)
    return ax


def _means(ax: Axes, x: np.ndarray, rows: pd.DataFrame, look: dict[str, Any]) -> None:
    """Means joined by a line, with their intervals where they are known."""
    known = rows[["conf_low", "conf_high"]].notna().all(axis=1).to_numpy()
    ax.vlines(x[known], rows["conf_low"][known], rows["conf_high"][known], color=look["color"], linewidth=1.6)
    ax.plot(x, rows["auprec"], linewidth=1.2, **look)


def _name_models(
    ax: Axes, ends: dict[str, tuple[float, float]], styles: dict[str, dict[str, object]], others: list[Entry]
) -> None:
    """Names at the ends of the lines where they fit, with the rest in a legend inside; else one legend."""
    if not label_lines(ax, ends):
        looks.legend(ax, [*looks.line_entries(styles), *others])
    elif others:
        handles, labels = [entry for _, entry in others], [label for label, _ in others]
        ax.legend(handles, labels, loc="best", framealpha=0.8, fontsize="small")
