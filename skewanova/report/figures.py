"""Every figure by name: what is drawn, its caption, its files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from skewanova.base.frames import records
from skewanova.base.progress import stage
from skewanova.base.text import format_number, shortened
from skewanova.inference.anova import variation_limit
from skewanova.inference.catalogue import get_test, response_name
from skewanova.inference.ranks import rank_comparison
from skewanova.plotting import comparisons, curves, performance
from skewanova.plotting.looks import MOST_BANDS, Entry, legend, model_labels, set_title, text_width
from skewanova.plotting.priors import estimates_of, plot_prior_estimate
from skewanova.report.rendering import PRIOR_AREA, draw_single, render_figures
from skewanova.report.source import (
    ReportSource,
    Tables,
    control_of,
    evenly,
    level_of,
    primary_rows,
)

#: What goes beyond these is left to the files: a picture that nobody can read shows nothing.
MOST_PANELS = 6


MOST_PAIRS = 21


#: Signs of a title over half of the width.
ONE_LINE = 26


#: Models drawn: the first of the ranking, and whoever leads at some prior.
MOST_MODELS = 40


#: Points of a curve, below which it is said how many there are.
FULL_CURVE = 200


#: Inches; narrow enough to be read on a phone without scrolling.
WIDTH = 6.3


#: Inches of the axis of ranks, between the names.
AXIS = 3.6


#: Inches of all cells of a matrix of pairs.
MOST_SIDE = 9.0


#: More entries than these stay beside the axes: below they would take more room than the curves.
MOST_BELOW = 16


#: Inches of a line of a legend.
LINE = 0.19


#: Beyond these, each prior has a panel of its own.
MOST_LINES = 9


@dataclass(frozen=True, kw_only=True)
class FigureOf:
    """One figure of a comparison.

    Attributes
    ----------
    draw : callable
        Draws it.
    files : tuple of str
        Files of the output folder that have its numbers.
    caption, test_set_caption : str
        What it shows, over folds and (where that differs) on one test set; `{level}`, `{test}` and
        `{measure}` are filled in.
    values : callable
        Its numbers in a sentence, for whoever cannot see it.
    left_out : callable
        What the caption adds: what is left out of a large comparison, what its marks are.
    is_there : callable
        Whether there is something to draw.
    along_priors, by_model : bool
        Whether it needs more than one prior; whether it has a line, a row or a column a model.
    """

    draw: Callable[[ReportSource], Figure]
    files: tuple[str, ...]
    caption: str
    test_set_caption: str = ""
    values: Callable[[ReportSource], str] = lambda _: ""
    left_out: Callable[[ReportSource], str] = lambda _: ""
    is_there: Callable[[ReportSource], bool] = lambda _: True
    along_priors: bool = False
    by_model: bool = False


def kinds_of(source: ReportSource) -> tuple[str, ...]:
    """Figures there is something to draw for."""
    several = source.tables["auprec_by_prior"]["prior"].nunique() > 1
    return tuple(
        kind
        for kind, figure in FIGURES.items()
        if (several or not figure.along_priors) and figure.is_there(source)
    )


def caption(kind: str, source: ReportSource) -> str:
    """What a figure shows, and what it leaves out."""
    figure, tested = FIGURES[kind], next(records(primary_rows(source.pairs)))
    text = figure.test_set_caption if source.design.is_test_set else ""
    filled = (text or figure.caption).format(
        level=level_of(source), test=get_test(tested.test).name, measure=response_name(tested.response)
    )
    n_models, n_shown = len(source.ranking), len(shown_models(source))
    if figure.by_model and n_models > n_shown:
        filled += (
            f" Drawn are {n_shown} of {n_models:,} models: the first of the ranking, and whoever leads at "
            "some prior."
        )
    return filled + figure.left_out(source)


def shown_models(source: ReportSource) -> list[str]:
    """Models that are drawn, in ranking order."""
    models, leading = _models(source), set(source.tables["regions"]["model"])
    return [model for i, model in enumerate(models) if i < MOST_MODELS or model in leading]


class _ShownModels:
    """A source whose frames hold the rows of the models that are drawn."""

    def __init__(self, source: ReportSource) -> None:
        self._source, self._models = source, shown_models(source)
        frames = source.tables
        self.tables = Tables({}, {name: partial(self._select, frames, name) for name in frames})

    def _select(self, frames: Mapping[str, pd.DataFrame], name: str) -> pd.DataFrame:
        """Return the rows of a frame that name no other model."""
        frame = frames[name]
        for column in {"model", "model_a", "model_b"}.intersection(frame.columns):
            frame = frame[frame[column].isin(self._models)]
        return frame

    def __getattr__(self, name: str) -> Any:
        return self.tables[name] if name in self.tables else getattr(self._source, name)


def _of_shown_models(source: ReportSource) -> ReportSource:
    if len(source.ranking) <= MOST_MODELS:
        return source
    return cast("ReportSource", _ShownModels(source))


def _priors_drawn(source: ReportSource) -> int:
    """Priors of the precision-recall curves, in one panel or in one each."""
    n_priors = source.tables["precision_recall"]["prior"].nunique()
    return n_priors if len(source.ranking) * n_priors <= MOST_LINES else min(n_priors, MOST_PANELS)


def _varies(source: ReportSource) -> bool:
    """Whether there are residuals, and these are more than rounding."""
    residuals = source.tables["residuals"]
    if residuals.empty:
        return False
    values = (residuals["fitted"] + residuals["residual"]).to_numpy(dtype=np.float64)
    return float((residuals["residual"] ** 2).sum()) > variation_limit(values)


def draw_figures(source: ReportSource, formats: Sequence[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the name of each figure and its picture in each format."""
    selected = _of_shown_models(source)

    def drawings() -> Iterator[tuple[str, Callable[[], Figure]]]:
        for kind in kinds_of(source):
            stage(f"figure {kind.replace('_', ' ')}")
            yield kind, partial(FIGURES[kind].draw, source if kind == "residuals" else selected)

    return render_figures(drawings(), formats)


def _legend_below(figure: Figure) -> Figure:
    """The legend beside the only axes moved below them, where a phone shows it with the curves."""
    ax = figure.axes[0]
    old_legend = ax.get_legend()
    if old_legend is None or len(old_legend.get_texts()) > MOST_BELOW:
        return figure
    entries = _entries(old_legend)
    title = old_legend.get_title().get_text() or None
    old_legend.remove()
    legend(ax, entries, title, below=True)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + LINE * _lines_below(ax.get_legend()))
    return figure


def _lines_below(shown: Any) -> int:
    """Lines of text of the longest column of a legend."""
    lines: list[int] = [text.get_text().count("\n") + 1 for text in shown.get_texts()]
    rows: int = -(-len(lines) // shown._ncols)
    return max(sum(lines[start : start + rows]) for start in range(0, len(lines), rows))


def _entries(shown: Any) -> list[Entry]:
    """Texts and marks of a legend."""
    return list(zip((text.get_text() for text in shown.get_texts()), shown.legend_handles, strict=True))


def _wide(names: Iterable[str]) -> float:
    """Width that leaves the axes their room beside long names."""
    return WIDTH + 0.08 * max(0, max(map(len, names)) - 12)


def _models(source: ReportSource) -> list[str]:
    return [str(model) for model in source.ranking["model"]]


def _size(source: ReportSource, height: float) -> tuple[float, float]:
    """Size that also holds a legend of all models."""
    labels = model_labels(_models(source))
    return _wide(labels.values()), max(height, 1.6 + 0.2 * min(len(labels), 20))


def _draw_iauprec(source: ReportSource) -> Figure:
    width, _ = _size(source, 0)
    return draw_single(performance.plot_iauprec, source, (width, max(2.6, 1.5 + 0.45 * len(source.ranking))))


def _draw_regions(source: ReportSource) -> Figure:
    figure = _legend_below(draw_single(performance.plot_regions, source, _size(source, 4.2)))
    figure.axes[0].patch.set_gid(PRIOR_AREA)
    return figure


def _draw_regret(source: ReportSource) -> Figure:
    limits = source.settings.get("deployment_limits")
    regret = source.tables["regret"]
    return draw_single(performance.plot_regret, regret, _size(source, 4.2), deployment_prior=limits)


def _draw_p_values(source: ReportSource) -> Figure:
    """Cells as large as numbers need, or as there is room for, in a figure that stays on the page."""
    side = min(max(0.6 * len(source.ranking), 3.2), MOST_SIDE)
    names = _wide(model_labels(_models(source), width=20).values()) - WIDTH
    size = max(WIDTH, side + 2.2 + names), max(2.4, side + 1.2)
    pairs, alpha = primary_rows(source.pairs), source.settings.get("alpha")
    return draw_single(comparisons.plot_p_values, pairs, size, alpha=alpha)


def _draw_critical_difference(source: ReportSource) -> Figure:
    return draw_single(comparisons.plot_critical_difference, source, _ranks_size(_models(source)))


def _ranks_size(models: Sequence[str]) -> tuple[float, float]:
    """Size that holds the axis of ranks between the names."""
    names = model_labels(models, width=comparisons.RANK_NAME).values()
    width = max(WIDTH, AXIS + 2.8 * text_width("x" * (max(map(len, names)) + 6)))
    return width, 2.4 + 0.26 * len(models)


def _draw_components(source: ReportSource) -> Figure:
    height = 1.4 + 0.3 * len(source.tables["components"])
    return draw_single(comparisons.plot_components, source, (WIDTH, height))


def _draw_residuals(source: ReportSource) -> Figure:
    """Three views, and in the place of a fourth the legend they share."""
    width, legend_height = _size(source, 2.8)
    figure = Figure(figsize=(width, 2 * legend_height), layout="constrained")
    *panels, spare = figure.subplots(2, 2).ravel()
    entries: list[Entry] = []
    for kind, ax in zip(("fitted", "fold", "qq"), panels, strict=True):
        performance.plot_residuals(source.tables["residuals"], kind=kind, ax=ax)
        old_legend = ax.get_legend()
        entries = _entries(old_legend)
        old_legend.remove()
    spare.set_axis_off()
    few = len(source.ranking) <= MOST_MODELS
    legend(spare, entries if few else entries[len(source.ranking) :], corner="upper left")
    return figure


def _draw_pairs(source: ReportSource) -> Figure:
    pairs = _pairs_drawn(source)
    labels = model_labels(_models(source), width=20)
    width = _wide(f"{labels[str(a)]} - {labels[str(b)]}" for a, b in pairs[["model_a", "model_b"]].to_numpy())
    size, rope = (width, max(2.4, 1.5 + 0.3 * len(pairs))), source.settings.get("rope")
    return draw_single(comparisons.plot_pairs, pairs, size, rope=rope)


def _pairs_drawn(source: ReportSource) -> pd.DataFrame:
    """All pairs, or the first of the ranking with those behind it; with a control, those with it."""
    pairs = primary_rows(source.pairs)
    if len(pairs) <= MOST_PAIRS or control_of(source) is not None:
        return pairs
    best = _models(source)[0]
    return pairs[(pairs["model_a"] == best) | (pairs["model_b"] == best)]


def _draw_difference_curves(source: ReportSource) -> Figure:
    """One panel a pair, two a row."""
    pairs = _pairs_along(source)
    labels = model_labels(_models(source), width=18)
    figure, panels = _two_a_row(len(pairs), 2.7, sharey=True)
    for pair, ax in zip(pairs, panels, strict=True):
        # the caption says what band and strip are
        comparisons.plot_difference_curves(source, pair=pair, legend=False, ax=ax)
        first, second = f"{labels[pair[0]]} minus", labels[pair[1]]
        space = " " if len(first + second) < ONE_LINE else "\n"
        ax.set_title(f"{first}{space}{second}", loc="left", fontsize="medium")
        ax.set(xlabel="Prior", ylabel=ax.get_ylabel() if ax.get_subplotspec().is_first_col() else "")
    return figure


def _two_a_row(number: int, height: float, *, sharey: bool = False) -> tuple[Figure, list[Any]]:
    """A figure with so many panels, each of that height."""
    rows = -(-number // 2)
    figure = Figure(figsize=(WIDTH, 0.3 + height * rows), layout="constrained")
    panels = figure.subplots(rows, 2, squeeze=False, sharey=sharey).ravel().tolist()
    for ax in panels[number:]:
        ax.remove()
    return figure, panels[:number]


def _pairs_along(source: ReportSource) -> list[tuple[str, str]]:
    """Pairs drawn along the prior: all of them, or the first of the ranking with those behind it."""
    frame = source.tables["difference_curves"]
    pairs = list(dict.fromkeys(zip(frame["model_a"], frame["model_b"], strict=True)))
    if len(pairs) <= MOST_PANELS:
        return pairs
    best = _models(source)[0]
    return [pair for pair in pairs if best in pair][:MOST_PANELS]


def _draw_roc(source: ReportSource) -> Figure:
    width, height = _size(source, 4.0)
    return draw_single(curves.plot_roc, source, (width - 0.2, height))


def _draw_precision_recall(source: ReportSource) -> Figure:
    """All priors in one panel, or a panel each where lines would hide each other."""
    priors = source.tables["precision_recall"]["prior"].unique()
    if len(source.ranking) * len(priors) <= MOST_LINES:
        return _legend_below(draw_single(curves.plot_precision_recall, source, _size(source, 4.6)))
    displayed = evenly(priors, MOST_PANELS).tolist()
    width, height = _size(source, 3.8)
    figure = Figure(figsize=(width, height * len(displayed)), layout="constrained")
    for prior, ax in zip(displayed, figure.subplots(len(displayed), 1, squeeze=False).ravel(), strict=True):
        curves.plot_precision_recall(source, prior=prior, ax=ax)
    return figure


def _draw_surface(source: ReportSource) -> Figure:
    """One panel a model, two a row."""
    models = _models(source)[:MOST_PANELS]
    labels = model_labels(_models(source), width=24)
    figure, panels = _two_a_row(len(models), 2.9)
    for model, ax in zip(models, panels, strict=True):
        curves.plot_surface(source.tables["surface"], model=model, legend=False, ax=ax).set_ylabel("Prior")
        ax.set_title(labels[model], loc="left", fontsize="medium")
    figure.suptitle("P-ROC surfaces", x=0.01, ha="left")
    filled = panels[0].collections[0]
    figure.colorbar(filled, ax=panels, label="Precision", ticks=filled.levels[::2])
    return figure


def _draw_skew(source: ReportSource) -> Figure:
    return _legend_below(draw_single(curves.plot_skew, source, _size(source, 4.2)))


def _draw_prior_estimate(source: ReportSource) -> Figure:
    """One panel a model, one below the other."""
    result = estimates_of(source)
    names = list(result)[:MOST_PANELS]
    figure = Figure(figsize=(WIDTH, 4.2 * len(names)), layout="constrained")
    labels = model_labels(names, width=24)
    for name, ax in zip(names, figure.subplots(len(names), 1, squeeze=False).ravel(), strict=True):
        plot_prior_estimate(result[name], ax=ax)
        set_title(ax, f"{labels[name]}{': prior' if name else 'Prior'} {result[name]}")
    return figure


def _estimates(source: ReportSource) -> str:
    """What each model says of the prior."""
    result = estimates_of(source).items()
    told = ", ".join(f"{shortened(name)} {item}".strip() for name, item in list(result)[:MOST_PANELS])
    return f" Estimates: {told}."


def _taken_for_granted(source: ReportSource) -> str:
    """Where the estimate is from, what it rests on, and why to doubt it; what is left out."""
    weighting = source.evaluation.deployment_prior
    told = f" The deployment prior is {weighting.describe()}."
    alike = (
        "the scores of each class are spread where the models run as among the labelled cases (label shift)",
    )
    told += f" It is assumed that {'; that '.join(getattr(weighting, 'assumptions', alike))}."
    caveats = getattr(weighting, "caveats", ())
    told += f" In doubt: {'; '.join(caveats)}." if caveats else ""
    return told + (f" The first {MOST_PANELS} models." if len(estimates_of(source)) > MOST_PANELS else "")


def _has_ranks(source: ReportSource) -> bool:
    """Whether there are folds to rank models in, and groups of models: with a control there are none."""
    several = not source.design.is_test_set and control_of(source) is None
    return several and len(source.ranking) <= MOST_MODELS


def _means(source: ReportSource) -> str:
    return f" {'IAUPREC' if source.design.is_test_set else 'Means'}: {_list_of(source.ranking, 'iauprec')}."


def _at_the_rarest(source: ReportSource) -> str:
    return f" At the rarest deployment prior: {_list_of(source.ranking, 'auprec_at_rarest')}."


def _marks_of_regions(source: ReportSource) -> str:
    """What else is drawn of who leads where, and what is not."""
    level, told = level_of(source), ""
    if len(shown_models(source)) > MOST_BANDS:
        told += " Bands are left out of so many models."
    elif source.by_prior["conf_low"].notna().any():
        told += f" Bands hold for all models and priors at once, at {level}."
        if source.design.kind == "repeated_holdout":
            told += " On splits that share training data they cover a little less (docs/tests.md)."
        if source.design.kind == "split_half":
            told += " Where learners are unstable they cover less (docs/tests.md)."
    if source.tables["crossings"]["lead"].any():
        told += f" A ring with a bar is a prior at which the lead changes, with its {level} interval."
    if not source.tables["support"]["supported"].all():
        told += " Hatched: too few negatives to tell."
    return told


def _leads(source: ReportSource) -> str:
    rows = source.tables["regions"][["model", "prior_low", "prior_high"]].itertuples(index=False)
    told = [f"{shortened(model)} from {low:.3g} to {high:.3g}" for model, low, high in rows]
    return f" Highest by prior: {', '.join(told)}."


def _largest_regrets(source: ReportSource) -> str:
    return f" Largest over the deployment prior: {_list_of(source.ranking, 'max_regret')}."


def _aucs(source: ReportSource) -> str:
    return f" {'AUC' if source.design.is_test_set else 'Mean AUC'}: {_list_of(source.ranking, 'auc')}."


def _list_of(ranking: pd.DataFrame, column: str) -> str:
    values = zip(ranking["model"], ranking[column], strict=True)
    return ", ".join(f"{shortened(model)} {format_number(value)}" for model, value in values)


def _pairs_left_out(source: ReportSource) -> str:
    if len(_pairs_drawn(source)) == len(primary_rows(source.pairs)):
        return ""
    return " Drawn is the first of the ranking with those behind it: the matrix of p-values has all pairs."


def _panels_of_pairs_left_out(source: ReportSource) -> str:
    n_models = len(source.ranking)
    if n_models * (n_models - 1) // 2 <= MOST_PANELS:
        return ""
    return f" Drawn is the first of the ranking with {min(MOST_PANELS, n_models - 1)} of those behind it."


def _panels_of_models_left_out(source: ReportSource) -> str:
    return f" The first {MOST_PANELS}." if len(source.ranking) > MOST_PANELS else ""


def _no_diagram(source: ReportSource) -> str:
    many = len(source.ranking) > len(shown_models(source))
    return f" There is no critical-difference diagram of more than {MOST_MODELS} models." if many else ""


def _names_in_the_file(source: ReportSource) -> str:
    return " The file names the models." if len(source.ranking) > len(shown_models(source)) else ""


def _priors_and_points(source: ReportSource) -> str:
    frame, most = source.tables["precision_recall"], _priors_drawn(source)
    n_priors = frame["prior"].nunique()
    drawn = f" Drawn are {most} of {n_priors:,} priors, evenly chosen." if n_priors > most else ""
    return drawn + _of_points(frame["recall"])


def _of_points(values: pd.Series[float]) -> str:
    n_points = values.nunique()
    return f" {n_points} points a curve, here and in the file." if n_points < FULL_CURVE else ""


#: Every figure by the name of its files, in the order of the report.
FIGURES: Mapping[str, FigureOf] = {
    "regions": FigureOf(
        draw=_draw_regions,
        files=("regions.csv", "crossings.csv", "auprec_by_prior.csv", "auprec_intervals.csv"),
        caption="Mean AUPREC over folds by prior; the deployment prior is shaded. The strip along the bottom "
        "has the colour of the model with the highest mean there. The lead itself is not tested here: the "
        "tables say which models may be the best.",
        test_set_caption="AUPREC on the test set by prior; the deployment prior is shaded. The strip along "
        "the bottom has the colour of the model with the highest AUPREC there. The lead itself is not tested "
        "here: the tables say which models may be the best.",
        values=lambda source: _leads(source) + _at_the_rarest(source),
        left_out=_marks_of_regions,
        along_priors=True,
        by_model=True,
    ),
    "iauprec": FigureOf(
        draw=_draw_iauprec,
        files=("iauprec.csv", "ranking.csv"),
        caption="IAUPREC by model. A small dot is one fold, at the same height in every row; the large "
        "marker is the mean over folds with its {level} interval (how it was made stands under the "
        "ranking). Models that share a letter were not found to differ.",
        test_set_caption="IAUPREC by model on the test set, with its {level} interval over cases (how it was "
        "made stands under the ranking). Models that share a letter were not found to differ.",
        values=_means,
        by_model=True,
    ),
    "prior_estimate": FigureOf(
        draw=_draw_prior_estimate,
        files=("prior.csv", "bins.csv"),
        caption="The prior where the models run, from their unlabelled scores. Bars: unlabelled cases "
        "expected of either class in each bin of the score; dots: those that are there. Small: the "
        "likelihood of the prior, shaded over its interval.",
        values=_estimates,
        left_out=_taken_for_granted,
        is_there=lambda source: bool(estimates_of(source)),
    ),
    "regret": FigureOf(
        draw=_draw_regret,
        files=("regret.csv",),
        caption="Regret by prior: by how much the mean AUPREC of each model falls short of that of the best "
        "model at the same prior. The range of the deployment prior is shaded.",
        test_set_caption="Regret by prior: by how much the AUPREC of each model falls short of that of the "
        "best model at the same prior. The range of the deployment prior is shaded.",
        values=_largest_regrets,
        along_priors=True,
        by_model=True,
    ),
    "pairs": FigureOf(
        draw=_draw_pairs,
        files=("pairs.csv",),
        caption="Pairwise differences in {measure} ({test}), first model minus second, with "
        "intervals at the level at which each was tested; filled where the test finds a difference. Shaded: "
        "differences that would not matter.",
        left_out=_pairs_left_out,
    ),
    "p_values": FigureOf(
        draw=_draw_p_values,
        files=("pairs.csv",),
        caption="Adjusted p of each pair ({test}) and, where its cell has room, the difference in "
        "{measure}, column minus row; the darker a cell, the smaller p.",
        left_out=_no_diagram,
        by_model=True,
    ),
    "critical_difference": FigureOf(
        draw=_draw_critical_difference,
        files=("iauprec.csv", "pairs.csv"),
        caption="Mean ranks of the models over folds by IAUPREC (1 is best), drawn as by Demsar (2006). A "
        "bar joins models that were not told apart by the test that the conclusions rest on ({test}): those "
        "with a dot on it.",
        is_there=_has_ranks,
    ),
    "components": FigureOf(
        draw=_draw_components,
        files=("components.csv",),
        caption="Where the variance of IAUPREC of one model in one run comes from: runs, which more runs "
        "bring down, and cases, which more cases bring down.",
        is_there=lambda source: not source.tables["components"].empty,
    ),
    "difference_curves": FigureOf(
        draw=_draw_difference_curves,
        files=("difference_curves.csv",),
        caption="Difference in AUPREC of each pair along the prior; the {level} bands hold at all priors "
        "and for all pairs at once; a dark strip marks priors at which a band leaves out 0. Shaded: "
        "differences that would not matter; hatched: too few negatives to tell.",
        left_out=_panels_of_pairs_left_out,
        along_priors=True,
    ),
    "roc": FigureOf(
        draw=_draw_roc,
        files=("roc.csv",),
        caption="ROC curves, mean over folds at each false positive rate.",
        test_set_caption="ROC curves on the test set.",
        values=_aucs,
        left_out=lambda source: _of_points(source.tables["roc"]["fpr"]),
        by_model=True,
    ),
    "precision_recall": FigureOf(
        draw=_draw_precision_recall,
        files=("precision_recall.csv",),
        caption="Precision-recall curves, mean over folds at each recall: each prior has its own.",
        test_set_caption="Precision-recall curves on the test set: each prior has its own.",
        left_out=_priors_and_points,
        by_model=True,
    ),
    "surface": FigureOf(
        draw=_draw_surface,
        files=("surface.csv",),
        caption="P-ROC surface of each model: mean precision over folds by recall and prior.",
        test_set_caption="P-ROC surface of each model: precision by recall and prior.",
        left_out=_panels_of_models_left_out,
        along_priors=True,
    ),
    "skew": FigureOf(
        draw=_draw_skew,
        files=("skew.csv",),
        caption="Accuracy and precision of one threshold (that of each fold with the largest true minus "
        "false positive rate) as negatives become more frequent: accuracy hides what precision shows.",
        test_set_caption="Accuracy and precision of one threshold (that with the largest true minus false "
        "positive rate) as negatives become more frequent: accuracy hides what precision shows.",
        by_model=True,
    ),
    "residuals": FigureOf(
        draw=_draw_residuals,
        files=("residuals.csv",),
        caption="Residuals of the 2-way analysis of variance of IAUPREC: against fitted values, by fold, "
        "and ordered against normal quantiles with the 95 % envelopes of normal samples of the same layout "
        "(dark: each point by itself; light: all points at once).",
        left_out=_names_in_the_file,
        is_there=_varies,
    ),
}


KINDS = tuple(FIGURES)


def draw_across(iauprec: pd.DataFrame, tested: pd.DataFrame, alpha: float) -> Figure:
    """Mean ranks over data sets with bars over models not told apart; with a control, differences from it."""
    pairs = primary_rows(tested)
    test = str(pairs["test"].iloc[0])
    if not compares_all(pairs):
        return draw_single(comparisons.plot_pairs, pairs, (WIDTH, max(2.4, 1.5 + 0.3 * len(pairs))))
    blocks = iauprec[["model", "iauprec"]].assign(fold=iauprec["dataset"])
    result = rank_comparison(blocks, tested, test=test, alpha=alpha)
    figure = draw_single(comparisons.plot_critical_difference, result, _ranks_size(result.models))
    counted = f"Mean ranks over {result.n_folds} data sets, 1 = best"
    set_title(figure.axes[0], f"{counted}\nBars: no difference found ({get_test(test).name})")
    return figure


def compares_all(pairs: pd.DataFrame) -> bool:
    """Whether every model is compared with every other, not with a control alone."""
    n_models = len({*pairs["model_a"], *pairs["model_b"]})
    return len(pairs) == n_models * (n_models - 1) // 2


def draw_hierarchical(by_dataset: pd.DataFrame, hierarchical: pd.DataFrame) -> Figure:
    """The first pair on every data set, and over all of them."""
    height = min(1.9 + 0.3 * by_dataset["dataset"].nunique(), MOST_SIDE)
    return draw_single(comparisons.plot_by_dataset, by_dataset, (WIDTH, height), hierarchical=hierarchical)


def hierarchical_caption(by_dataset: pd.DataFrame, alpha: float) -> str:
    """What the figure of a pair on every data set shows."""
    first, level = by_dataset.iloc[0], f"{100 * (1 - alpha):g} % intervals"
    return (
        f"Difference in IAUPREC between {first['model_a']} and {first['model_b']} on every data set, with "
        f"{level} of each by itself. Below, its mean over data sets by the random-effects meta-analysis; the "
        "thin line is where a new data set's true difference is expected."
    )


def across_caption(posthoc: pd.DataFrame) -> str:
    """What the figure across data sets shows."""
    pairs = primary_rows(posthoc)
    test = get_test(str(pairs["test"].iloc[0])).name
    if not compares_all(pairs):
        return f"Differences in IAUPREC from the control over data sets ({test}), filled where one was found."
    return (
        "Mean ranks of the models over data sets by IAUPREC (1 is best), drawn as by Demsar (2006). A bar "
        f"joins models that the test of the conclusions ({test}) did not tell apart: those with a dot on it."
    )
