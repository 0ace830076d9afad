"""Means along the prior to matplotlib Axes: models against priors with intervals, and regret."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from skewanova import _plotting as draw
from skewanova._line_labels import label_lines
from skewanova._plotting import Entry

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
    >>> from skewanova import plot_interaction
    >>> means = pd.DataFrame({"model": "A", "prior": [0.5, 0.1], "auprec": [0.9, 0.6]})
    >>> ax = plot_interaction(means.assign(conf_low=0.5, conf_high=1.0), ax=Figure().subplots())
    >>> [label.get_text() for label in ax.get_xticklabels()]
    ['0.1', '0.5']
    """
    columns = ["model", "prior", "auprec", "conf_low", "conf_high"]
    frame = draw.find_frame(result, "auprec_intervals", columns, "plot_interaction")
    priors = sorted(draw.in_order(frame["prior"]))
    looks = draw.line_looks(frame["model"].tolist())
    ax = draw.new_axes(ax, (7.2, 4.4))
    places = np.linspace(-DODGE / 2, DODGE / 2, len(looks)) if len(looks) > 1 else [0.0]
    ends: dict[str, tuple[float, float]] = {}
    for (model, look), shift in zip(looks.items(), places, strict=True):
        rows = frame[frame["model"] == model].sort_values("prior")
        x = np.array([priors.index(prior) for prior in rows["prior"]]) + shift
        _means(ax, x, rows, {**look, "markevery": None})
        ends[model] = (float(x[-1]), float(rows["auprec"].iloc[-1]))
    step = -(-len(priors) // MOST_TICKS)
    ticks = range(0, len(priors), step)
    ax.set_xticks(ticks, labels=[draw.plain(priors[i]) for i in ticks])
    ax.set_xlim(-0.4, len(priors) - 0.6)
    ax.set_ylim(ax.get_ylim())
    ylabel = "Mean AUPREC (t interval)"
    draw.style(ax, title="AUPREC by model and prior", xlabel=draw.PRIOR_LABEL, ylabel=ylabel)
    _name_models(ax, ends, looks, [])
    return ax


def plot_regret(
    result: object, *, deployment_prior: tuple[float, float] | None = None, ax: Axes | None = None
) -> Axes:
    """Regret of each model along the prior: what it falls short of the best model there.

    Parameters
    ----------
    result : Comparison or DataFrame
        A result with `regret_by_prior`, or that frame: model, prior, regret.
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
    >>> from skewanova import plot_regret
    >>> frame = pd.DataFrame({"model": "A", "prior": [0.01, 0.1], "regret": [0.2, 0.0]})
    >>> plot_regret(frame, ax=Figure().subplots()).get_ylabel()
    'Regret (shortfall in AUPREC)'
    """
    frame = draw.find_frame(result, "regret_by_prior", ["model", "prior", "regret"], "plot_regret")
    limits = draw.deployment_limits(result, deployment_prior)
    looks = draw.line_looks(frame["model"].tolist())
    ax = draw.new_axes(ax, (7.2, 4.4))
    for model, look in looks.items():
        draw.mean_line(ax, frame[frame["model"] == model], ("prior", "regret"), errorbar=None, **look)
    draw.log_axis(ax, "x", frame["prior"].min(), frame["prior"].max())
    top = float(frame["regret"].max()) or 0.01
    ax.set_ylim(-0.03 * top, 1.05 * top)
    shade = draw.shade_priors(ax, limits)
    ylabel = "Regret (shortfall in AUPREC)"
    draw.style(ax, title="Regret by prior", xlabel=draw.PRIOR_LABEL, ylabel=ylabel)
    last = frame.sort_values("prior").groupby("model", sort=False, observed=True)[["prior", "regret"]].last()
    ends = {str(model): (float(x), float(y)) for model, x, y in last.itertuples()}
    _name_models(ax, {model: ends[model] for model in looks}, looks, shade)
    return ax


def _means(ax: Axes, x: np.ndarray, rows: pd.DataFrame, look: dict[str, Any]) -> None:
    """Means joined by a line, with their intervals where they are known."""
    known = rows[["conf_low", "conf_high"]].notna().all(axis=1).to_numpy()
    ax.vlines(x[known], rows["conf_low"][known], rows["conf_high"][known], color=look["color"], linewidth=1.6)
    ax.plot(x, rows["auprec"], linewidth=1.2, **look)


def _name_models(
    ax: Axes, ends: dict[str, tuple[float, float]], looks: dict[str, dict[str, object]], others: list[Entry]
) -> None:
    """Names at the ends of the lines where they fit, with the rest in a legend inside; else one legend."""
    if not label_lines(ax, ends):
        draw.legend(ax, [*draw.line_entries(looks), *others])
    elif others:
        handles, labels = [entry for _, entry in others], [label for label, _ in others]
        ax.legend(handles, labels, loc="best", framealpha=0.8, fontsize="small")
