"""The figures of a report: drawn once, without pyplot, as PNG and SVG, and SVG fit to stand inside HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, Protocol

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skewanova import plots
from skewanova._plotting import Entry, legend, model_labels
from skewanova._progress import stage
from skewanova._publication import headline_rows
from skewanova.anova import variation_limit

#: In the order of the report; also the names of the files.
KINDS = (
    "regions",
    "iauprec",
    "auprec",
    "interaction",
    "regret",
    "differences",
    "p_values",
    "critical_difference",
    "difference_curves",
    "roc",
    "precision_recall",
    "surface",
    "skew",
    "residuals",
)
#: SVG first: each drawing starts from the layout of the one before it.
FORMATS = ("svg", "png")
#: Figures that need more than one prior on the axis.
ALONG_PRIORS = frozenset({"auprec", "interaction", "regions", "regret", "difference_curves", "surface"})
#: What goes beyond these is left to the files: a picture that nobody can read shows nothing.
MOST_PANELS = 6
MOST_PAIRS = 60
#: Inches; narrow enough to be read on a phone without scrolling.
WIDTH = 6.3
#: Inches of all cells of a matrix of pairs.
MOST_SIDE = 9.0
#: Beyond these, each prior has a panel of its own.
MOST_LINES = 9

#: On top of matplotlib's defaults, whatever the user has set: same input, same bytes.
_STYLE: list[Any] = ["default", {"svg.hashsalt": "skewanova", "svg.fonttype": "path", "font.size": 11}]
_METADATA: dict[str, dict[str, Any]] = {
    "png": {"Software": None},
    "svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
}


class FigureSource(Protocol):
    """What the figures show; columns as in the functions of `plots`."""

    @property
    def iauprec(self) -> pd.DataFrame:
        """IAUPREC of every model and fold."""

    @property
    def ranking(self) -> pd.DataFrame:
        """One row a model, best first."""

    @property
    def posthoc(self) -> pd.DataFrame:
        """One row a pair of models of each family of comparisons."""

    @property
    def regions(self) -> pd.DataFrame:
        """Which model leads at which prior."""

    @property
    def differences(self) -> pd.DataFrame:
        """Difference curves of the pairs with simultaneous bands."""

    @property
    def roc_points(self) -> pd.DataFrame:
        """Points of the ROC curves."""

    @property
    def precision_recall_points(self) -> pd.DataFrame:
        """Points of the precision-recall curves."""

    @property
    def auprec_by_prior(self) -> pd.DataFrame:
        """AUPREC along a fine grid of priors."""

    @property
    def auprec_intervals(self) -> pd.DataFrame:
        """Mean AUPREC by model and prior, with intervals."""

    @property
    def regret_by_prior(self) -> pd.DataFrame:
        """Shortfall of each model from the best along the prior."""

    @property
    def residuals(self) -> pd.DataFrame:
        """Residuals of the 2-way analysis of variance."""

    @property
    def surface_points(self) -> pd.DataFrame:
        """Precision by prior and recall."""

    @property
    def operating_points(self) -> pd.DataFrame:
        """Accuracy and precision of one threshold by skew."""

    @property
    def settings(self) -> Mapping[str, object]:
        """What was asked for; `deployment_limits`, if there, is the range of priors to shade."""


def kinds_of(source: FigureSource) -> tuple[str, ...]:
    """Figures there is something to draw for."""
    missing = set(ALONG_PRIORS) if source.auprec_by_prior["prior"].nunique() < 2 else set()
    if source.iauprec["fold"].nunique() < 2:  # nothing to make its intervals from
        missing.add("interaction")
    if "nemenyi" not in set(source.posthoc["test"]):
        missing.add("critical_difference")
    if not _varies(source.residuals):
        missing.add("residuals")
    return tuple(kind for kind in KINDS if kind not in missing)


def _varies(residuals: pd.DataFrame) -> bool:
    """Whether there are residuals, and these are more than rounding."""
    if residuals.empty:
        return False
    values = (residuals["fitted"] + residuals["residual"]).to_numpy(dtype=np.float64)
    return float((residuals["residual"] ** 2).sum()) > variation_limit(values)


def draw_figures(source: FigureSource, formats: Sequence[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the name of each figure and its picture in each format; one figure is held at a time."""
    for kind in kinds_of(source):
        stage(f"figure {kind.replace('_', ' ')}")
        with style.context(_STYLE):
            figure = _DRAW[kind](source)
            pictures = {}
            for name in formats:
                pictures[name] = _picture(figure, name)
                figure.set_layout_engine("none")  # found once: it takes as long as the drawing
        yield kind, pictures


def inline_svg(svg: bytes, kind: str) -> Markup:
    """Return the picture for use inside HTML: no prolog, no comments, no rules of style, ids of its own."""
    text = svg.decode("utf-8")
    text = re.sub(r"<!--.*?-->|<style.*?</style>", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' xmlns(:xlink)?="[^"]*"', "", text)
    text = re.sub(r'(?: xlink:)?\bhref="#', ' href="#', text)
    text = re.sub(r'(\bid="|\bhref="#|url\(#)', rf"\g<1>{kind}-", text)
    text = text.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1)
    return Markup(re.sub(r"\s*\n\s*", "\n", text).strip())


def _picture(figure: Figure, name: str) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format=name, dpi=150, metadata=_METADATA[name])
    return buffer.getvalue()


def _one(plot: Callable[..., Axes], source: object, size: tuple[float, float], **options: Any) -> Figure:
    """One plot in a figure that pyplot does not know."""
    figure = Figure(figsize=size, layout="constrained")
    plot(source, ax=figure.subplots(), **options)
    return figure


def _wide(names: Iterable[str]) -> float:
    """Width that leaves the axes their room beside long names."""
    return WIDTH + 0.08 * max(0, max(map(len, names)) - 12)


def _models(source: FigureSource) -> list[str]:
    return [str(model) for model in source.ranking["model"]]


def _size(source: FigureSource, height: float) -> tuple[float, float]:
    """Size that also holds a legend of all models."""
    labels = model_labels(_models(source))
    return _wide(labels.values()), max(height, 1.6 + 0.2 * min(len(labels), 20))


def _draw_iauprec(source: FigureSource) -> Figure:
    width, _ = _size(source, 0)
    return _one(plots.plot_iauprec, source, (width, max(2.6, 1.5 + 0.45 * len(source.ranking))))


def _draw_auprec(source: FigureSource) -> Figure:
    limits = source.settings.get("deployment_limits")
    return _one(plots.plot_auprec, source, _size(source, 4.2), deployment_prior=limits)


def _draw_regions(source: FigureSource) -> Figure:
    return _one(plots.plot_regions, source, _size(source, 4.2))


def _draw_interaction(source: FigureSource) -> Figure:
    return _one(plots.plot_interaction, source, _size(source, 4.2))


def _draw_regret(source: FigureSource) -> Figure:
    limits = source.settings.get("deployment_limits")
    return _one(plots.plot_regret, source.regret_by_prior, _size(source, 4.2), deployment_prior=limits)


def _draw_p_values(source: FigureSource) -> Figure:
    """Cells as large as numbers need, in a figure that stays on the page."""
    side = min(0.6 * len(source.ranking), MOST_SIDE)
    names = _wide(model_labels(_models(source), width=20).values()) - WIDTH
    size = max(WIDTH, side + 2.2 + names), max(2.4, side + 1.2)
    pairs, alpha = headline_rows(source.posthoc), source.settings.get("alpha")
    return _one(plots.plot_p_values, pairs, size, alpha=alpha)


def _draw_critical_difference(source: FigureSource) -> Figure:
    names = model_labels(_models(source)).values()
    height = 2.4 + 0.26 * len(source.ranking)
    return _one(plots.plot_critical_difference, source, (_wide(names), height))


def _draw_residuals(source: FigureSource) -> Figure:
    """Three views, and in the place of a fourth the legend they share."""
    width, legend_height = _size(source, 2.8)
    figure = Figure(figsize=(width, 2 * legend_height), layout="constrained")
    *panels, spare = figure.subplots(2, 2).ravel()
    entries: list[Entry] = []
    for kind, ax in zip(("fitted", "fold", "qq"), panels, strict=True):
        plots.plot_residuals(source.residuals, kind=kind, ax=ax)
        shown = ax.get_legend()
        texts = [text.get_text() for text in shown.get_texts()]
        entries = list(zip(texts, shown.legend_handles, strict=True))
        shown.remove()
    spare.set_axis_off()
    legend(spare, entries, corner="upper left")
    return figure


def _draw_differences(source: FigureSource) -> Figure:
    pairs = headline_rows(source.posthoc).head(MOST_PAIRS)
    labels = model_labels(_models(source), width=20)
    width = _wide(f"{labels[str(a)]} - {labels[str(b)]}" for a, b in pairs[["model_a", "model_b"]].to_numpy())
    return _one(plots.plot_differences, pairs, (width, max(2.4, 1.5 + 0.3 * len(pairs))))


def _draw_difference_curves(source: FigureSource) -> Figure:
    """One panel a pair, two a row."""
    pairs = list(
        dict.fromkeys(zip(source.differences["model_a"], source.differences["model_b"], strict=True))
    )
    shown = pairs[:MOST_PANELS]
    rows = -(-len(shown) // 2)
    figure = Figure(figsize=(WIDTH, 0.3 + 2.7 * rows), layout="constrained")
    panels = figure.subplots(rows, 2, squeeze=False, sharey=True).ravel()
    for pair, ax in zip(shown, panels, strict=False):
        plots.plot_difference_curves(source, pair=pair, ax=ax)
        if (legend := ax.get_legend()) is not None:
            legend.remove()  # the caption says what band and strip are
        ax.set_title(ax.get_title(loc="left"), loc="left", fontsize="medium")
        ax.set_xlabel("Prior")
    for ax in panels[len(shown) :]:
        ax.remove()
    return figure


def _draw_roc(source: FigureSource) -> Figure:
    return _one(plots.plot_roc, source, _size(source, 4.0))


def _draw_precision_recall(source: FigureSource) -> Figure:
    """All priors in one panel, or a panel each where lines would hide each other."""
    priors = source.precision_recall_points["prior"].unique().tolist()
    if len(source.ranking) * len(priors) <= MOST_LINES:
        return _one(plots.plot_precision_recall, source, _size(source, 4.6))
    shown = priors[:MOST_PANELS]
    width, height = _size(source, 3.8)
    figure = Figure(figsize=(width, height * len(shown)), layout="constrained")
    for prior, ax in zip(shown, figure.subplots(len(shown), 1, squeeze=False).ravel(), strict=True):
        plots.plot_precision_recall(source, prior=prior, ax=ax)
    return figure


def _draw_surface(source: FigureSource) -> Figure:
    """One panel a model, two a row."""
    models = _models(source)[:MOST_PANELS]
    labels = model_labels(_models(source), width=24)
    rows = -(-len(models) // 2)
    figure = Figure(figsize=(WIDTH, 0.3 + 2.9 * rows), layout="constrained")
    panels = figure.subplots(rows, 2, squeeze=False).ravel()
    for model, ax in zip(models, panels, strict=False):
        plots.plot_surface(source.surface_points, model=model, ax=ax).set_ylabel("Prior")
        ax.set_title(labels[model], loc="left", fontsize="medium")
    figure.suptitle("P-ROC surfaces", x=0.01, ha="left")
    for ax in panels[len(models) :]:
        ax.remove()
    return figure


def _draw_skew(source: FigureSource) -> Figure:
    return _one(plots.plot_skew, source, _size(source, 4.2))


_DRAW: Mapping[str, Callable[[FigureSource], Figure]] = {
    "iauprec": _draw_iauprec,
    "auprec": _draw_auprec,
    "interaction": _draw_interaction,
    "regions": _draw_regions,
    "regret": _draw_regret,
    "differences": _draw_differences,
    "p_values": _draw_p_values,
    "critical_difference": _draw_critical_difference,
    "difference_curves": _draw_difference_curves,
    "roc": _draw_roc,
    "precision_recall": _draw_precision_recall,
    "surface": _draw_surface,
    "skew": _draw_skew,
    "residuals": _draw_residuals,
}
