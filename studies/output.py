"""Figures and folder of a study."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from skewanova.base.checks import Floats
from skewanova.base.folders import make_provenance, replace_folder
from skewanova.curves.distributions import fit_binormal, true_roc
from skewanova.curves.roc import RocCurve, curve_from_scores
from studies.areas import TypicalSample, typical_sample
from studies.results import Study
from studies.scenarios import BRODERSEN, BRODERSEN_CASES, PRIOR

MARKERS = "osD^v<>PXh"


_REFERENCE: dict[str, Any] = {"color": "0.4", "linewidth": 1, "linestyle": "--", "zorder": 1}


FORMATS = ("png", "svg")


#: Two-sided 95 % deviate of Monte Carlo bars and bands.
BAR = 1.96


#: Size of the test within which it is said to hold its level.
TARGET = (0.04, 0.06)


def plot_ratio(frame: pd.DataFrame, *, over: str = "n_total", ax: Axes | None = None) -> Axes:
    """Draw the ratio of mean estimate to truth by number of cases or by prior, a line an estimator."""
    ax = _lines(frame, "estimator", over, "ratio", ax=ax)
    ax.axhline(1, **_REFERENCE)
    if over == "prior":  # ratios of several where positives are few
        ax.set_yscale("log")
        ax.yaxis.set_major_locator(FixedLocator([0.25, 0.5, 1, 2, 4, 8]))
        ax.yaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    return _labelled(ax, _AXES[over], "mean estimate / truth")


def plot_spread(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the standard deviation of estimates over the truth by prior, a line an estimator."""
    ax = _lines(frame.assign(spread=frame["std_dev"] / frame["truth"]), "estimator", "prior", "spread", ax=ax)
    return _labelled(ax, "prior", "standard deviation / truth")


def plot_coverage(frame: pd.DataFrame, *, over: str = "n_total", ax: Axes | None = None) -> Axes:
    """Draw the coverage of intervals by number of cases or by prior, a line a method."""
    ax = _lines(frame, "method", over, "coverage", ax=ax)
    ax.axhline(frame["level"].iloc[0], **_REFERENCE)
    return _labelled(ax, _AXES[over], "coverage")


def plot_width(frame: pd.DataFrame, *, over: str = "n_total", ax: Axes | None = None) -> Axes:
    """Draw the mean width of intervals by number of cases or by prior, a line a method."""
    ax = _lines(frame, "method", over, "width", ax=ax)
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(FixedLocator([0.02, 0.05, 0.1, 0.2, 0.5, 1]))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    return _labelled(ax, _AXES[over], "mean width")


def plot_location(frame: pd.DataFrame, *, over: str = "n_total", ax: Axes | None = None) -> Axes:
    """Draw the mean middle of the interval over the truth by number of cases or by prior."""
    ax = _lines(frame, "method", over, "location", ax=ax)
    ax.axhline(1, **_REFERENCE)
    return _labelled(ax, _AXES[over], "mean middle of interval / truth")


def plot_bias(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the bias of every model by the share of positives, for one measure."""
    ax = _lines(frame, "model", "alpha", "bias", ax=ax, logarithmic=False)
    ax.axhline(0, **_REFERENCE)
    return _labelled(ax, "share of positives", "mean estimate - truth")


def plot_means(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the mean area under precision-recall by the share of positives, and the true one (figure 2)."""
    ax = _axes(ax)
    rows = frame[frame["measure"] == "auprec"].sort_values("alpha")
    truth = rows.drop_duplicates("alpha")
    ax.plot(truth["alpha"], truth["truth"], label="true", **_CURVES["true"])
    for model, name in _SHOWN_MODELS.items():
        own = rows[rows["model"] == model]
        bars = BAR * own["std_error"]
        ax.errorbar(own["alpha"], own["mean"], yerr=bars, label=name, elinewidth=1, **_CURVES[name])
    ax.set_ylim(0, 1.02)
    ax.legend(frameon=False, loc="lower right")
    return _labelled(ax, "share of positives", f"mean area of {BRODERSEN_CASES} cases")


def plot_size(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the size of tests by number of positives, a line a test, with the band of .04 to .06."""
    ax = _lines(frame, "test", "n_positive", "rate", ax=ax)
    ax.axhspan(*TARGET, color="0.9", zorder=0, linewidth=0)
    ax.axhline(frame["level"].iloc[0], **_REFERENCE)
    return _labelled(ax, "positives", "share of samples rejected")


def plot_reliability(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw how often a model was the best against its probability of being best, a line a way to find it."""
    ax = _lines(frame, "method", "mean_p", "truly_best", ax=ax, logarithmic=False)
    ax.plot([0, 1], [0, 1], **_REFERENCE)
    return _labelled(ax, "P(best)", "share truly the best")


def plot_prior_coverage(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the coverage of intervals of an estimated prior, a row a setting, a mark a way to choose bins."""
    ax = _axes(ax)
    settings = list(dict.fromkeys(frame["setting"]))
    groups = list(frame.groupby("bins", sort=False))
    colours = sns.color_palette("colorblind", len(groups))
    for k, ((bins, rows), colour, marker) in enumerate(zip(groups, colours, MARKERS, strict=False)):
        row = np.array([settings.index(name) for name in rows["setting"]]) + 0.15 * (
            k - (len(groups) - 1) / 2
        )
        look = {"color": colour, "marker": marker, "markersize": 4, "linestyle": "none", "elinewidth": 1}
        label = "rule" if bins == "rule" else f"{bins} bins"
        ax.errorbar(rows["coverage"], row, xerr=BAR * rows["std_error"], label=label, **look)
    ax.axvline(1 - frame["level"].iloc[0], **_REFERENCE)
    ax.set_yticks(range(len(settings)), settings)
    ax.set_ylim(len(settings) - 0.5, -0.5)
    ax.legend(frameon=False)
    return _labelled(ax, "coverage", "")


def plot_scores(sample: TypicalSample, *, ax: Axes | None = None) -> Axes:
    """Draw histograms of both classes' scores and the densities they come from (figure 1a)."""
    ax = _axes(ax)
    at = np.linspace(-9, 9, 400)
    names = ("negatives", "positives")
    for name, truth, members, colour in zip(
        names, BRODERSEN, (~sample.positive, sample.positive), CLASS_COLOURS, strict=True
    ):
        ax.hist(
            sample.score[members], bins=list(range(-9, 10)), density=True, color=colour, alpha=0.4, label=name
        )
        ax.plot(at, truth.pdf(at), color=colour)
    ax.set_yticks([])
    ax.legend(frameon=False, loc="upper left")
    return _labelled(ax, "score", "density")


#: Colours of the negatives' and the positives' scores.
CLASS_COLOURS = ("0.4", sns.color_palette("colorblind")[0])


def plot_sample_roc(sample: TypicalSample, *, ax: Axes | None = None) -> Axes:
    """Draw the true, the empirical and the fitted ROC curve, which no share of positives changes (1b)."""
    ax = _axes(ax)
    fitted = fit_binormal(sample.positive, sample.score).roc()
    curves = {"true": true_roc(*BRODERSEN), "empirical": curve_from_scores(sample.positive, sample.score)}
    for name, roc in {**curves, "binormal, alpha-binormal": fitted}.items():
        ax.plot(roc.fpr, roc.tpr, label=name, **_CURVES[name])
    ax.set(xlim=(0, 1), ylim=(0, 1.02))
    ax.legend(frameon=False, loc="lower right")
    return _labelled(ax, "false positive rate", "true positive rate")


def plot_sample(sample: TypicalSample, *, ax: Axes | None = None) -> Axes:
    """Draw the true, the empirical and both fitted precision-recall curves of one sample (1c)."""
    ax = _axes(ax)
    alpha, fitted = float(sample.positive.mean()), fit_binormal(sample.positive, sample.score)
    empirical = curve_from_scores(sample.positive, sample.score)
    curves = {
        "true": _precision_recall(true_roc(*BRODERSEN), alpha),
        "empirical": _precision_recall(empirical, alpha),
        "binormal": fitted.precision_recall(0.5)[::-1],
        "alpha-binormal": fitted.precision_recall()[::-1],
    }
    for name, points in curves.items():
        ax.plot(*points, label=name, **_CURVES[name])
    ax.set(xlim=(0, 1), ylim=(0, 1.02))
    ax.legend(frameon=False, loc="lower left")
    return _labelled(ax, "recall", "precision")


#: How each curve of a sample is drawn.
_CURVES: dict[str, dict[str, Any]] = {
    "true": {"color": "black"},
    "empirical": {"color": sns.color_palette("colorblind")[3], "linewidth": 1},
    "binormal": {"color": sns.color_palette("colorblind")[0], "linestyle": "-."},
    "alpha-binormal": {"color": sns.color_palette("colorblind")[2], "linestyle": ":", "linewidth": 2},
    "binormal, alpha-binormal": {"color": sns.color_palette("colorblind")[2], "linestyle": "--"},
}


#: Models of figure 2, and what the paper calls them.
_SHOWN_MODELS = {"trapezoid": "empirical", "binormal": "binormal", "alpha_binormal_ddof0": "alpha-binormal"}


def plot_auc_bias(frame: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Draw the mean deviation of every AUC from the truth with two standard errors (inset of 1b)."""
    ax = _axes(ax)
    ax.errorbar(
        range(len(frame)), frame["bias"], yerr=2 * frame["std_error"], fmt="o", markersize=3, color="0.2"
    )
    ax.axhline(0, **_REFERENCE)
    ax.set_xticks(range(len(frame)), [str(name).split("_ddof")[0][:9] for name in frame["model"]], fontsize=6)
    ax.tick_params(axis="y", labelsize=6)
    ax.set_xlim(-0.5, len(frame) - 0.5)
    ax.set_title("AUC - truth", fontsize=7)
    return ax


def draw_figure_1(frame: pd.DataFrame, *, seed: int = 0) -> Figure:
    """Draw Brodersen's figure 1 on a typical sample: scores, ROC curves, precision-recall curves."""
    sample = typical_sample(SHOWN_ALPHA, rng=seed)
    figure = Figure(figsize=(13, 4.4), layout="constrained")
    panels = figure.subplots(1, 3)
    plot_scores(sample, ax=panels[0]).set_title("a", loc="left")
    plot_sample_roc(sample, ax=panels[1]).set_title("b", loc="left")
    plot_sample(sample, ax=panels[2]).set_title("c", loc="left")
    rows = frame[(frame["measure"] == "auc") & (frame["alpha"] == SHOWN_ALPHA)]
    rows = rows[rows["model"] != "binormal_ddof1"]
    if len(rows):
        plot_auc_bias(rows, ax=panels[1].inset_axes((0.6, 0.38, 0.38, 0.3)))
    figure.suptitle(
        f"One of {sample.n_samples} samples of {BRODERSEN_CASES} cases: all its areas lie within "
        f"{sample.percentile:.0f} percentiles of the median",
        fontsize=10,
    )
    return figure


#: Share of positives in Brodersen's figure 1.
SHOWN_ALPHA = 0.4


def draw_panels(frame: pd.DataFrame, plot: Callable[..., Axes], *, by: str = "setting") -> Figure:
    """Draw one panel for each value of a column, with one legend."""
    names = list(dict.fromkeys(frame[by]))
    figure = Figure(figsize=(3.2 * len(names) + 2.4, 3.8), layout="constrained")
    panels = figure.subplots(1, len(names), sharey=True, squeeze=False)[0]
    for name, ax in zip(names, panels, strict=True):
        plot(frame[frame[by] == name], ax=ax).set_title(str(name).replace("_", " "), loc="left")
        ax.label_outer()
    handles = {label: h for ax in panels for h, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    figure.legend(handles.values(), handles.keys(), loc="outside right center", frameon=False)
    return figure


def study_figures(study: str, frame: pd.DataFrame, *, seed: int = 0) -> Iterator[tuple[str, Figure]]:
    """Yield the name and the figure of each of a study's figures."""
    yield from _FIGURES.get(study, _none)(frame, seed)


def picture(figure: Figure, kind: str) -> bytes:
    """Return the figure as PNG or SVG, without the date."""
    buffer = BytesIO()
    figure.savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else None)
    return buffer.getvalue()


def _of_estimators(frame: pd.DataFrame, _seed: int) -> Iterator[tuple[str, Figure]]:
    yield "bias", draw_panels(frame, plot_ratio)


def _of_estimators_by_prior(frame: pd.DataFrame, _seed: int) -> Iterator[tuple[str, Figure]]:
    for n_total, rows in frame.groupby("n_total"):
        yield f"bias_by_prior_{n_total}", draw_panels(rows, partial(plot_ratio, over="prior"))
        yield f"spread_by_prior_{n_total}", draw_panels(rows, plot_spread)


def _of_intervals(frame: pd.DataFrame, _seed: int) -> Iterator[tuple[str, Figure]]:
    """By number of cases at the prior nearest to Boyd's, and by prior at the commonest size."""
    usual = min(frame["prior"], key=lambda prior: abs(prior - PRIOR))
    shared = frame.groupby("n_total")["prior"].nunique()
    size = shared.index[shared == shared.max()].min()
    plots = {"coverage": plot_coverage, "width": plot_width, "location": plot_location}
    for name, plot in plots.items():
        yield name, draw_panels(frame[frame["prior"] == usual], plot)
        if shared.max() > 1:
            rows = frame[frame["n_total"] == size]
            yield f"{name}_by_prior", draw_panels(rows, lambda part, ax, p=plot: p(part, over="prior", ax=ax))


def _of_binormal(frame: pd.DataFrame, seed: int) -> Iterator[tuple[str, Figure]]:
    titles = {"auc": "Area under ROC", "auprec": "Area under precision-recall"}
    yield "curves", draw_figure_1(frame, seed=seed)
    means = _single()
    plot_means(frame, ax=means.subplots())
    yield "means", means
    for measure, title in titles.items():
        rows = frame[frame["measure"] == measure]
        yield measure, draw_panels(rows.assign(setting=title), plot_bias)


def _of_paired(frame: pd.DataFrame, _seed: int) -> Iterator[tuple[str, Figure]]:
    """At .05, a line a test and number of models, a panel a prior; where m/lam is thin, in the same way."""
    frame = frame[frame["level"] == 0.05]
    frame = frame.assign(test=frame["test"] + ", " + frame["n_models"].astype(str) + " models")
    for name, rows in (("size", frame[frame["support"] == 100]), ("size_thin", frame[~frame["claimed"]])):
        for setting in dict.fromkeys(rows["setting"]):
            yield (
                f"{name}_{setting}",
                draw_panels(rows[rows["setting"] == setting], plot_size, by="weighting"),
            )


def _of_p_best(frame: pd.DataFrame, _seed: int) -> Iterator[tuple[str, Figure]]:
    """All settings together, by range of probabilities, weighted by how many models are in each."""
    weighted = frame.assign(p=frame["mean_p"] * frame["n_models"], t=frame["truly_best"] * frame["n_models"])
    sums = weighted.groupby(["method", "p_low"], as_index=False)[["p", "t", "n_models"]].sum()
    share = sums["t"] / sums["n_models"]
    shown = sums.assign(
        setting="all settings",
        mean_p=sums["p"] / sums["n_models"],
        truly_best=share,
        std_error=np.sqrt(share * (1 - share) / sums["n_models"]),
    )
    yield "reliability", draw_panels(shown, plot_reliability)


def _of_prior(frame: pd.DataFrame, _seed: int) -> Iterator[tuple[str, Figure]]:
    for level, rows in frame.groupby("level", sort=False):
        figure = Figure(figsize=(6.5, 1.2 + 0.27 * rows["setting"].nunique()), layout="constrained")
        plot_prior_coverage(rows, ax=figure.subplots())
        yield f"coverage_{level:g}", figure


def _none(_frame: pd.DataFrame, _seed: int) -> Iterator[tuple[str, Figure]]:
    """No figure: the table says it all."""
    yield from ()


_FIGURES: Mapping[str, Callable[[pd.DataFrame, int], Iterator[tuple[str, Figure]]]] = {
    "estimators": _of_estimators,
    "estimators_by_prior": _of_estimators_by_prior,
    "intervals": _of_intervals,
    "binormal": _of_binormal,
    "paired": _of_paired,
    "p_best": _of_p_best,
    "prior": _of_prior,
}


_AXES = {"n_total": "cases", "prior": "prior"}


def _lines(
    frame: pd.DataFrame, by: str, over: str, value: str, *, ax: Axes | None, logarithmic: bool = True
) -> Axes:
    """Draw a line for every value of a column, with 95 % Monte Carlo bars where the error is of `value`."""
    ax = _axes(ax)
    groups = list(frame.groupby(by, sort=False))
    colours = sns.color_palette("colorblind", len(groups))
    for (name, rows), colour, marker in zip(groups, colours, MARKERS, strict=False):
        ordered = rows.sort_values(over)
        bars = None if value in {"width", "location", "spread"} else BAR * ordered["std_error"]
        look = {"color": colour, "marker": marker, "markersize": 4, "linewidth": 1.2, "elinewidth": 1}
        ax.errorbar(ordered[over], ordered[value], yerr=bars, label=str(name), **look)
    if logarithmic:
        _log_axis(ax, sorted(set(frame[over])))
    return ax


def _log_axis(ax: Axes, values: Sequence[float]) -> None:
    """Logarithmic, with the values that were simulated as ticks, as far as they do not touch."""
    ax.set_xscale("log")
    kept = [values[0]]
    for value in values[1:]:
        if np.log(value / kept[-1]) > 0.1 * np.log(values[-1] / values[0]) and value != kept[-1]:
            kept.append(value)
    ax.xaxis.set_major_locator(FixedLocator(kept))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    ax.tick_params(axis="x", labelsize=8)


def _labelled(ax: Axes, x: str, y: str) -> Axes:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    return ax


def _axes(ax: Axes | None) -> Axes:
    return _single().subplots() if ax is None else ax


def _single() -> Figure:
    return Figure(figsize=(6.4, 4.4), layout="constrained")


def _precision_recall(roc: RocCurve, prior: float) -> tuple[Floats, Floats]:
    """Recall and precision at every vertex with alarms."""
    kept = roc.fpr + roc.tpr > 0
    true, false = prior * roc.tpr[kept], (1 - prior) * roc.fpr[kept]
    return roc.tpr[kept], true / (true + false)


def write_study(result: Study, directory: Path, settings: Mapping[str, Any] | None = None) -> None:
    """Write a study: the frame as ``<study>.csv``, the tables as ``<study>.md``, each figure as PNG and SVG.

    Parameters
    ----------
    result : Study
        A finished study.
    directory : Path
        The folder, written whole or not at all; an earlier output there is replaced.
    settings : mapping, optional
        What was asked for, for the provenance.

    Raises
    ------
    ValueError
        If the folder holds anything but an earlier output.
    OSError
        If the place cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from studies.areas import estimators_study
    >>> from studies.output import write_study
    >>> study = estimators_study(settings=["binormal"], sizes=[20, 50], replicates=5, progress=False)
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_study(study, Path(place) / "out")
    ...     sorted(path.name for path in (Path(place) / "out").iterdir())
    ['bias.png', 'bias.svg', 'estimators.csv', 'estimators.md', 'provenance.json']
    """
    provenance = make_provenance(f"study {result.study}", settings or {}, seed=result.rng)
    with replace_folder(directory, provenance) as output:
        output.write_csv(f"{result.study}.csv", result.to_frame(), float_format="%.6g")
        tables = "\n\n".join(table.to_markdown() for table in result.to_tables())
        output.write(f"{result.study}.md", tables + "\n")
        for name, figure in study_figures(result.study, result.to_frame(), seed=result.rng):
            for kind in FORMATS:
                output.write(f"{name}.{kind}", picture(figure, kind))
