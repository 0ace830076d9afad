"""Plots of the prior estimated from unlabelled scores, once or batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Unpack

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from scipy.special import expit

from skewanova.base.checks import InputTypeError, check_choice
from skewanova.base.frames import iter_rows
from skewanova.plotting import styling
from skewanova.plotting.styling import Palette, PlotOptions, document_plot
from skewanova.priors.estimation import PriorEstimate

#: Colours of positives, negatives and observed counts.
POSITIVE, NEGATIVE, OBSERVED = "#d55e00", "#56b4e9", "0.2"


#: Colours of the states of a batch: whether the chosen model leads at its prior.
STATE_COLOURS = {"choice": "#009e73", "open": "#e69f00", "changed": "#d55e00", "beyond": "0.5"}


@partial(document_plot, palette=(POSITIVE, NEGATIVE))
def plot_prior_estimate(source: object, *, model: str | None = None, **options: Unpack[PlotOptions]) -> Axes:
    """Draw binned unlabelled scores as a mixture of both classes, with the likelihood of the prior inset.

    Parameters
    ----------
    source : PriorEstimate, PriorEstimates or Comparison
        An estimate, or a comparison with an estimated deployment prior.
    model : str, optional
        The model, if there are several; by default the first.
    palette : mapping, sequence or str, optional
        Colours of positives and negatives.

    Raises
    ------
    ValueError, TypeError
        ValueError if there is no such model; TypeError if `source` holds no estimated prior.
    """
    result = _select_estimate(source, model)
    bins = result.bins_frame()
    names = styling.model_palette(("positives", "negatives"), options["palette"])
    ax = styling.make_axes(options["ax"], (6.4, 4.4))
    share = result.fit.positive * result.estimate * result.n_unlabelled
    ax.bar(bins["bin"], bins["expected"] - share, color=names["negatives"], width=0.9)
    ax.bar(bins["bin"], share, bottom=bins["expected"] - share, color=names["positives"], width=0.9)
    ax.plot(bins["bin"], bins["n_unlabelled"], "o", color=OBSERVED, markersize=5)
    ax.set_xticks(bins["bin"], [*(f"{edge:.3g}" for edge in bins["score_high"][:-1]), "above"])
    ax.set_ylim(0, 1.75 * max(bins["expected"].max(), bins["n_unlabelled"].max()))
    styling.style_axes(ax, f"Prior {result}", "Score up to", "Unlabelled cases")
    ax.tick_params(axis="x", labelsize="small")
    entries: list[styling.Entry] = [(name, Patch(color=colour)) for name, colour in names.items()]
    dots = Line2D([], [], marker="o", linestyle="", color=OBSERVED, markersize=5)
    if options["legend"]:
        styling.draw_legend(ax, [*entries, ("observed", dots)], position="upper left")
    _draw_likelihood(ax, result)
    return ax


@document_plot
def plot_monitor(source: object, leaders: pd.DataFrame | None = None, **options: Unpack[PlotOptions]) -> Axes:
    """Draw each batch's prior and interval, coloured by state, on a linear axis over the leaders' ranges.

    Parameters
    ----------
    source : MonitorReport or DataFrame
        Result of `monitor`, or its table: batch, estimate, conf_low, conf_high, state.
    leaders : DataFrame, optional
        Leading model by range of priors: prior_low, prior_high, leader; by default that of `source`.
    """
    table = styling.find_frame(source, "table", "batch estimate conf_low conf_high state", "plot_monitor")
    spans = styling.find_optional_frame(source, leaders, "leaders", "prior_low prior_high leader")
    ax = styling.make_axes(options["ax"], (6.4, 4.4))
    entries = _shade_leaders(ax, spans, options["palette"])
    for index, row in enumerate(iter_rows(table)):
        colour = STATE_COLOURS[check_choice(str(row.state), list(STATE_COLOURS), "state")]
        ax.plot([index, index], [row.conf_low, row.conf_high], color=colour, linewidth=2)
        ax.plot(index, row.estimate, "o", color=colour)
    states = dict.fromkeys(table["state"].astype(str))
    entries += [(state, Line2D([], [], color=STATE_COLOURS[state], marker="o")) for state in states]
    names = styling.model_labels(table["batch"].astype(str))
    ax.set_xticks(range(len(table)), [names[str(name)] if name else "all" for name in table["batch"]])
    ax.tick_params(axis="x", labelsize="small", labelrotation=90 if len(table) > 12 else 0)
    return styling.finish_axes(ax, ("Prior by batch", "Batch", "Prior"), entries, legend=options["legend"])


def get_estimates(source: object) -> Mapping[str, PriorEstimate]:
    """Return prior estimates by model, or as "" if one is for all, of an estimate or comparison; else {}."""
    prior = getattr(getattr(source, "evaluation", None), "deployment_prior", source)
    if isinstance(prior, PriorEstimate):
        return {"": prior}
    by_model = getattr(prior, "by_model", None)
    return by_model if isinstance(by_model, Mapping) else {}


def _select_estimate(source: object, model: str | None) -> PriorEstimate:
    """Return the estimate of a model, by default the first, or the one for all; raise if none or unknown."""
    result = get_estimates(source)
    if not result:
        raise InputTypeError(
            "plot_prior_estimate() needs an estimated prior, or a comparison over one, but got "
            f"{type(source).__name__}; make one by skewanova.estimate_prior(y_true, y_score, unlabelled)"
        )
    first = next(iter(result))
    return result[first] if first == "" else result[check_choice(model or first, list(result), "model")]


def _draw_likelihood(ax: Axes, estimate: PriorEstimate) -> None:
    """Draw an inset of the relative likelihood by prior, on a linear axis, with the interval shaded."""
    inset = ax.inset_axes((0.56, 0.68, 0.42, 0.24))
    priors = np.asarray(expit(np.linspace(estimate.log_odds[0], estimate.log_odds[-1], 200)))
    height = estimate.density(np.clip(priors, estimate.low, estimate.high))
    inset.plot(priors, height, color=OBSERVED, linewidth=1.2)
    inside = (priors >= estimate.conf_low) & (priors <= estimate.conf_high)
    inset.fill_between(priors, height, where=inside.tolist(), color=POSITIVE, alpha=0.3, linewidth=0)
    inset.set(yticks=[], ylim=(0, 1.05))
    inset.tick_params(labelsize="x-small")
    inset.set_title("likelihood of the prior", fontsize="x-small", loc="left")


def _shade_leaders(ax: Axes, spans: pd.DataFrame | None, palette: Palette) -> list[styling.Entry]:
    """Shade each range of priors in the colour of its leader, if there are any; return an entry a leader."""
    if spans is None:
        return []
    shades = styling.model_palette(spans["leader"].astype(str).tolist(), palette)
    for row in iter_rows(spans.drop_duplicates(["prior_low", "prior_high"])):
        ax.axhspan(row.prior_low, row.prior_high, color=shades[str(row.leader)], alpha=0.12, linewidth=0)
    names = styling.model_labels(shades)
    return [(f"{names[model]} leads", Patch(color=colour, alpha=0.3)) for model, colour in shades.items()]
