"""Every figure of a comparison by name, with its drawing, and its files with reproducible bytes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skewanova.base.checks import warn_each
from skewanova.base.text import report_stage
from skewanova.inference.anova import variation_limit
from skewanova.inference.catalogue import get_test
from skewanova.inference.ranks import rank_comparison
from skewanova.plotting import comparisons, performance
from skewanova.plotting.priors import get_estimates, plot_prior_estimate
from skewanova.plotting.styling import Entry, draw_legend, estimate_text_width, model_labels, set_title
from skewanova.report.screen import MAX_MODELS, list_drawn_models
from skewanova.report.source import ReportSource, TestedResult, get_control, select_primary, subsample

#: Panels of a figure, and pairs of models in one panel; the files have all.
MAX_PANELS, MAX_PAIRS = 6, 21


#: Characters of a title that fit half of the width.
MAX_TITLE_LENGTH = 26


#: Inches, so that a phone shows the figure without scrolling.
FIGURE_WIDTH = 6.3


#: Inches between the names of a diagram of ranks.
RANK_AXIS_WIDTH = 3.6


#: Inches of a matrix of pairs, and of a figure with a row for each data set.
MAX_MATRIX_SIZE = 9.0


#: Longer legends stay beside the axes, because below they would be larger than the curves.
MAX_LEGEND_BELOW = 16


#: Models that the legend of the residuals names.
MAX_RESIDUAL_MODELS = 10


#: Inches of one line of a legend.
LEGEND_LINE_HEIGHT = 0.19


#: With more lines, each prior has its own panel.
MAX_LINES = 9


@dataclass(frozen=True)
class FigureSpec:
    """One figure of a comparison: its drawing, and whether there is one; its text is in ``texts.toml``."""

    draw: Callable[[Any], Figure]
    is_available: Callable[[Any], bool] = lambda _: True


def list_figures(source: TestedResult) -> tuple[str, ...]:
    """Return the names of the figures that a comparison has."""
    return tuple(kind for kind in source.FIGURES or FIGURES if FIGURES[kind].is_available(source))


def restrict_to_drawn(source: Any) -> Any:
    """Return the comparison with frames of `list_drawn_models` only; itself if few or without regions."""
    if len(source.ranking) <= MAX_MODELS or "regions" not in source.tables:
        return source
    models = list_drawn_models(source)
    frames = dict(source.tables)
    for name, frame in frames.items():
        columns = {"model", "model_a", "model_b"}.intersection(frame.columns)
        frames[name] = frame[frame[[*columns]].isin(models).all(axis=1)]
    return replace(source, tables=frames)


def draw_figures(source: TestedResult, formats: Sequence[str]) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield name and files (bytes by format) of each figure, of `restrict_to_drawn` but for residuals."""
    selected = restrict_to_drawn(source)

    def iter_drawings() -> Iterator[tuple[str, Callable[[], Figure]]]:
        for kind in list_figures(source):
            report_stage(f"figure {kind.replace('_', ' ')}")
            yield kind, partial(FIGURES[kind].draw, source if kind == "residuals" else selected)

    return render_figures(iter_drawings(), formats)


# --- sizes and legends --------------------------------------------------------------------------------------


def _move_legend_below(figure: Figure) -> Figure:
    """Move a legend of up to MAX_LEGEND_BELOW entries below the axes; return the same figure, made higher."""
    ax = figure.axes[0]
    old_legend = ax.get_legend()
    if old_legend is None or len(old_legend.get_texts()) > MAX_LEGEND_BELOW:
        return figure
    entries, title = _get_legend_entries(old_legend), old_legend.get_title().get_text() or None
    old_legend.remove()
    draw_legend(ax, entries, title, position="below")
    new_legend: Any = ax.get_legend()
    lines: list[int] = [text.get_text().count("\n") + 1 for text in new_legend.get_texts()]
    n_rows: int = -(-len(lines) // new_legend._ncols)
    longest = max(sum(lines[start : start + n_rows]) for start in range(0, len(lines), n_rows))
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height + LEGEND_LINE_HEIGHT * longest)
    return figure


def _get_legend_entries(old_legend: Any) -> list[Entry]:
    """Return the text and the handle of each entry of a legend."""
    texts = (text.get_text() for text in old_legend.get_texts())
    return list(zip(texts, old_legend.legend_handles, strict=True))


def _fit_width(names: Iterable[str]) -> float:
    """Return the width of a figure in inches, larger for names of more than 12 characters."""
    return FIGURE_WIDTH + 0.08 * max(0, max(map(len, names)) - 12)


def _fit_size(source: ReportSource, height: float) -> tuple[float, float]:
    """Return width and height of a figure, in inches: `height` or more, for a legend of up to 20 models."""
    labels = model_labels(source.ranking["model"])
    return _fit_width(labels.values()), max(height, 1.6 + 0.2 * min(len(labels), 20))


def _make_panels(
    number: int, height: float, *, columns: int = 1, width: float = FIGURE_WIDTH, sharey: bool = False
) -> tuple[Figure, list[Any]]:
    """Return a figure with `number` panels in one or two columns, each `height` inches high, and these."""
    rows = -(-number // columns)
    title = 0.3 if columns > 1 else 0.0
    figure = Figure(figsize=(width, title + height * rows), layout="constrained")
    panels = figure.subplots(rows, columns, squeeze=False, sharey=sharey).ravel().tolist()
    for ax in panels[number:]:
        ax.remove()
    return figure, panels[:number]


# --- drawings -----------------------------------------------------------------------------------------------


def _draw_iauprec(source: ReportSource) -> Figure:
    """Return the figure of IAUPREC by model, higher for more models."""
    width, _ = _fit_size(source, 0)
    return draw_single(performance.plot_iauprec, source, (width, max(2.6, 1.5 + 0.45 * len(source.ranking))))


def _draw_above_legend(plot: Callable[..., Axes], source: ReportSource, height: float = 4.2) -> Figure:
    """Return the figure of a plot with room for all models, and a legend of up to MAX_LEGEND_BELOW below."""
    return _move_legend_below(draw_single(plot, source, _fit_size(source, height)))


def _draw_p_values(source: ReportSource) -> Figure:
    """Return the matrix of adjusted p-values of the primary pairs, with cells that fit their numbers."""
    side = min(max(0.6 * len(source.ranking), 3.2), MAX_MATRIX_SIZE)
    names = _fit_width(model_labels(source.ranking["model"], width=20).values()) - FIGURE_WIDTH
    size = max(FIGURE_WIDTH, side + 2.2 + names), max(2.4, side + 1.2)
    pairs, alpha = select_primary(source.pairs), source.settings.get("alpha")
    return draw_single(comparisons.plot_p_values, pairs, size, alpha=alpha)


def _draw_ranks(source: object, models: Sequence[str]) -> Figure:
    """Return the critical-difference diagram of mean ranks, with the size in inches that names need."""
    names = model_labels(models, width=comparisons.MAX_RANK_NAME).values()
    width = max(FIGURE_WIDTH, RANK_AXIS_WIDTH + 2.8 * estimate_text_width("x" * (max(map(len, names)) + 6)))
    return draw_single(comparisons.plot_critical_difference, source, (width, 2.4 + 0.26 * len(models)))


def _draw_components(source: ReportSource) -> Figure:
    """Return the figure of the variance components of runs, with a row for each."""
    height = 1.4 + 0.3 * len(source.tables["components"])
    return draw_single(comparisons.plot_components, source, (FIGURE_WIDTH, height))


def _draw_roc(source: ReportSource) -> Figure:
    """Return the figure of the mean ROC curves."""
    width, height = _fit_size(source, 4.0)
    return draw_single(performance.plot_roc, source, (width - 0.2, height))


def _draw_residuals(source: ReportSource) -> Figure:
    """Return three plots of residuals and a legend, without models if over MAX_RESIDUAL_MODELS."""
    width, legend_height = _fit_size(source, 2.8)
    figure = Figure(figsize=(width, 2 * legend_height), layout="constrained")
    *panels, legend_ax = figure.subplots(2, 2).ravel()
    entries: list[Entry] = []
    for kind, ax in zip(("fitted", "fold", "qq"), panels, strict=True):
        performance.plot_residuals(source.tables["residuals"], kind=kind, ax=ax)
        old_legend = ax.get_legend()
        entries = _get_legend_entries(old_legend)
        old_legend.remove()
    legend_ax.set_axis_off()
    few = len(source.ranking) <= MAX_RESIDUAL_MODELS
    draw_legend(legend_ax, entries if few else entries[len(source.ranking) :], position="upper left")
    return figure


def _draw_pairs(source: ReportSource) -> Figure:
    """Return the figure of the primary pairs: all, or the first model's if too many and no control."""
    pairs = select_primary(source.pairs)
    if get_control(source) is None and len(pairs) > MAX_PAIRS:
        pairs = _select_pairs_of_best(source, pairs)
    labels = model_labels(source.ranking["model"], width=20)
    width = _fit_width(
        f"{labels[str(a)]} - {labels[str(b)]}" for a, b in pairs[["model_a", "model_b"]].to_numpy()
    )
    size, rope = (width, max(2.4, 1.5 + 0.3 * len(pairs))), source.settings.get("rope")
    return draw_single(comparisons.plot_pairs, pairs, size, rope=rope)


def _select_pairs_of_best(source: ReportSource, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs with the first model of the ranking."""
    return pairs[pairs[["model_a", "model_b"]].isin([source.ranking["model"].iloc[0]]).any(axis=1)]


def _draw_difference_curves(source: ReportSource) -> Figure:
    """Return panels of up to MAX_PANELS pairs along the prior; if there are more, of the first model's."""
    names = source.tables["difference_curves"][["model_a", "model_b"]].drop_duplicates()
    chosen = names if len(names) <= MAX_PANELS else _select_pairs_of_best(source, names)
    pairs = list(chosen.head(MAX_PANELS).itertuples(index=False, name=None))
    labels = model_labels(source.ranking["model"], width=18)
    figure, panels = _make_panels(len(pairs), 2.7, columns=2, sharey=True)
    for pair, ax in zip(pairs, panels, strict=True):
        comparisons.plot_difference_curves(source, pair=pair, legend=False, ax=ax)
        first, second = f"{labels[pair[0]]} minus", labels[pair[1]]
        space = " " if len(first + second) < MAX_TITLE_LENGTH else "\n"
        ax.set_title(f"{first}{space}{second}", loc="left", fontsize="medium")
        ax.set(xlabel="Prior", ylabel=ax.get_ylabel() if ax.get_subplotspec().is_first_col() else "")
    return figure


def _draw_precision_recall(source: ReportSource) -> Figure:
    """Return curves in one panel or, of over MAX_LINES, in up to MAX_PANELS panels, each at one prior."""
    priors = source.tables["precision_recall"]["prior"].unique()
    if len(source.ranking) * len(priors) <= MAX_LINES:
        return _draw_above_legend(performance.plot_precision_recall, source, 4.6)
    displayed = subsample(priors, MAX_PANELS).tolist()
    width, height = _fit_size(source, 3.8)
    figure, panels = _make_panels(len(displayed), height, width=width)
    for prior, ax in zip(displayed, panels, strict=True):
        performance.plot_precision_recall(source, prior=prior, ax=ax)
    return figure


def _draw_surface(source: ReportSource) -> Figure:
    """Return a panel of precision by recall and prior for each of the first MAX_PANELS models."""
    models = source.ranking["model"].head(MAX_PANELS)
    labels = model_labels(source.ranking["model"], width=24)
    figure, panels = _make_panels(len(models), 2.9, columns=2)
    for model, ax in zip(models, panels, strict=True):
        performance.plot_surface(source.tables["surface"], model=model, legend=False, ax=ax)
        ax.set_ylabel("Prior")
        ax.set_title(labels[model], loc="left", fontsize="medium")
    figure.suptitle("P-ROC surfaces", x=0.01, ha="left")
    filled = panels[0].collections[0]
    figure.colorbar(filled, ax=panels, label="Precision", ticks=filled.levels[::2])
    return figure


def _draw_prior_estimate(source: ReportSource) -> Figure:
    """Return a panel of scores and likelihood for each estimated prior, at most MAX_PANELS."""
    estimates = get_estimates(source)
    names = list(estimates)[:MAX_PANELS]
    labels = model_labels(names, width=24)
    figure, panels = _make_panels(len(names), 4.2)
    for name, ax in zip(names, panels, strict=True):
        plot_prior_estimate(estimates[name], ax=ax)
        set_title(ax, f"{labels[name]}{': prior' if name else 'Prior'} {estimates[name]}")
    return figure


# --- availability -------------------------------------------------------------------------------------------


def _has_priors(source: ReportSource) -> bool:
    """Return True if AUPREC was computed at more than one prior."""
    return bool(source.tables["auprec_by_prior"]["prior"].nunique() > 1)


def _has_ranks(source: ReportSource) -> bool:
    """Return True if ranks are drawn: several folds, no control, and not too many models."""
    several = not source.design.is_test_set and get_control(source) is None
    return several and len(source.ranking) <= MAX_MODELS


def _has_residuals(source: ReportSource) -> bool:
    """Return True if there are residuals, larger than rounding errors."""
    frame = source.tables["residuals"]
    if frame.empty:
        return False
    values = (frame["fitted"] + frame["residual"]).to_numpy(dtype=np.float64)
    return float((frame["residual"] ** 2).sum()) > variation_limit(values)


#: Figures by name.
FIGURES: Mapping[str, FigureSpec] = {
    "regions": FigureSpec(partial(_draw_above_legend, performance.plot_regions), _has_priors),
    "iauprec": FigureSpec(_draw_iauprec),
    "prior_estimate": FigureSpec(_draw_prior_estimate, lambda source: bool(get_estimates(source))),
    "regret": FigureSpec(
        lambda source: draw_single(performance.plot_regret, source, _fit_size(source, 4.2)), _has_priors
    ),
    "pairs": FigureSpec(_draw_pairs),
    "p_values": FigureSpec(_draw_p_values),
    "critical_difference": FigureSpec(
        lambda source: _draw_ranks(source, source.ranking["model"]), _has_ranks
    ),
    "components": FigureSpec(_draw_components, lambda source: not source.tables["components"].empty),
    "difference_curves": FigureSpec(_draw_difference_curves, _has_priors),
    "roc": FigureSpec(_draw_roc),
    "precision_recall": FigureSpec(_draw_precision_recall),
    "surface": FigureSpec(_draw_surface, _has_priors),
    "skew": FigureSpec(partial(_draw_above_legend, performance.plot_skew)),
    "residuals": FigureSpec(_draw_residuals, _has_residuals),
}


# --- data sets ----------------------------------------------------------------------------------------------


def draw_mean_ranks(iauprec: pd.DataFrame, tests: pd.DataFrame, alpha: float) -> Figure:
    """Return the figure of mean ranks over data sets or, with a control, of differences from it."""
    pairs = select_primary(tests)
    test, n_models = str(pairs["test"].iloc[0]), len({*pairs["model_a"], *pairs["model_b"]})
    if len(pairs) < n_models * (n_models - 1) // 2:
        return draw_single(comparisons.plot_pairs, pairs, (FIGURE_WIDTH, max(2.4, 1.5 + 0.3 * len(pairs))))
    blocks = iauprec[["model", "iauprec"]].assign(fold=iauprec["dataset"])
    result = rank_comparison(blocks, tests, test=test, alpha=alpha)
    figure = _draw_ranks(result, result.models)
    title = f"Mean ranks over {result.n_folds} data sets, 1 = best"
    set_title(figure.axes[0], f"{title}\nBars: no difference found ({get_test(test).name})")
    return figure


def draw_hierarchical(by_dataset: pd.DataFrame, hierarchical: pd.DataFrame) -> Figure:
    """Return the figure of the first pair's difference on each data set and by the meta-analysis."""
    height = min(1.9 + 0.3 * by_dataset["dataset"].nunique(), MAX_MATRIX_SIZE)
    return draw_single(
        comparisons.plot_by_dataset, by_dataset, (FIGURE_WIDTH, height), hierarchical=hierarchical
    )


# --- files --------------------------------------------------------------------------------------------------


#: matplotlib's defaults and these, whatever the user has set, so that equal input gives equal bytes.
#: Text of an SVG stays text, so that it can be searched, copied and read aloud.
_STYLE: list[Any] = [
    "default",
    {
        "svg.hashsalt": "skewanova",
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "font.size": 11,
        "axes.titley": 1.0,
    },
]


#: Warning of matplotlib that a font lacks a character, and how many of them a message lists.
_GLYPH, MAX_GLYPHS = re.compile(r"Glyph (\d+) .* missing from"), 5


_METADATA: dict[str, dict[str, Any]] = {
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
    "png": {"Software": None},
    "svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
}


def render_figures(
    drawings: Iterable[tuple[str, Callable[[], Figure]]], formats: Sequence[str]
) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield each figure's name and bytes by format; then warn of lacking glyphs, unless all are SVG."""
    missing: set[str] = set()
    for name, draw in drawings:
        with style.context(_STYLE), _collect_missing_glyphs(missing):
            pictures = _render_formats(draw(), formats)
        yield name, pictures
    if missing and set(formats) != {"svg"}:  # viewers of SVG find another font
        signs = ", ".join(f"{sign!r}" for sign in sorted(missing)[:MAX_GLYPHS])
        rest = f" and {len(missing) - MAX_GLYPHS} more" if len(missing) > MAX_GLYPHS else ""
        remedy = "tables show them all, and so do figures in the format svg"
        warn_each([f"figures show boxes where their font lacks a sign ({signs}{rest}); {remedy}"])


def render_plot(plot: Callable[..., Axes], source: object) -> bytes:
    """Return one plot as the bytes of an SVG file in the style of the report."""
    drawing = ("plot", lambda: draw_single(plot, source, (7, 4.6)))
    return dict(render_figures([drawing], ("svg",)))["plot"]["svg"]


def _render_formats(figure: Figure, formats: Iterable[str]) -> dict[str, bytes]:
    """Return the files of a figure, bytes by format; its layout is computed once."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # "none" would leave a placeholder, and savefig draw twice
    files = {}
    for name in dict.fromkeys(formats):
        buffer = BytesIO()
        figure.savefig(buffer, format=name, dpi=150, metadata=_METADATA[name])
        files[name] = buffer.getvalue()
    return files


def draw_single(
    plot: Callable[..., Axes], source: object, size: tuple[float, float], **options: Any
) -> Figure:
    """Return a figure outside pyplot, `size` inches wide and high, with one plot of `source`."""
    figure = Figure(figsize=size, layout="constrained")
    plot(source, ax=figure.subplots(), **options)
    return figure


@contextmanager
def _collect_missing_glyphs(missing: set[str]) -> Iterator[None]:
    """Add characters that the font lacks in the block to `missing`; issue its other warnings after it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message=_GLYPH.pattern)
        yield
    for warning in caught:
        glyph = _GLYPH.match(str(warning.message))
        if glyph:
            missing.add(chr(int(glyph[1])))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
