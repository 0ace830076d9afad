"""The first screen of the page: headline, charts along the prior, and the table that follows the slider."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
from markupsafe import Markup

from skewanova.base.checks import Floats
from skewanova.base.frames import iter_rows
from skewanova.base.text import format_limits, format_number, shorten_name, shorten_names
from skewanova.decision.verdict import Verdict, contender_ranges, order_by_estimate
from skewanova.evaluation.curve_frames import precision_recall
from skewanova.priors.weightings import DeploymentPrior
from skewanova.report.charts import (
    LOW,
    NARROW,
    PANEL,
    SMALL,
    WIDE,
    Chart,
    ChartLine,
    Crossing,
    Layout,
    Marks,
    Segment,
    build_chart,
    choose_limits,
    number_colors,
)
from skewanova.report.source import ReportSource, TestedResult, format_level, get_control, orient_pairs

#: Models that are drawn, besides those that lead at some prior.
MAX_MODELS = 40


#: Rows of the table at one prior that are shown at first.
MAX_ROWS = 10


#: Headings of the shortfall from the highest, and of the mark of models that no band puts behind another.
TO_BEST, MAY_BE_BEST = "To best", "May be best"


#: Models of the choice that have a colour, if there are more than ten.
MAX_COLORED = 5


#: Small charts of data sets or classes.
MAX_PARTS = 10


#: Lines that have bands; of more models only those of the choice, and of more than ten the first.
MAX_BANDS = 4


#: Changes of the highest mean that are marked.
MAX_CROSSINGS = 3


#: Models of the charts of differences, and of the ROC and precision-recall curves.
MAX_DIFFERENCES, MAX_CURVES = 4, 5


#: Recalls of the precision-recall curves of the page.
RECALLS = np.linspace(0.025, 1, 40)


#: Number of the colour of each model, and the priors with the index of the first one that is displayed.
Colors = Mapping[str, int]
Steps = tuple[Floats, int]


#: Texts, table, slider and charts of the first screen, as its template writes them; the script reads `data`.
Screen = SimpleNamespace


def list_drawn_models(source: ReportSource) -> list[str]:
    """Return the first MAX_MODELS models and those that lead in some region, in ranking order."""
    leaders = set(source.tables["regions"]["model"])
    return [m for i, m in enumerate(source.ranking["model"]) if i < MAX_MODELS or m in leaders]


def build_screen(source: ReportSource) -> Screen:
    """Return charts, slider and table of `list_drawn_models`; charts along the prior if it has several."""
    trusted, models = source.verdict.is_trusted, list_drawn_models(source)
    if not trusted:  # ranking order would be a claim
        models = [model for model in map(str, source.scores.models) if model in set(models)]
    frame = _mark_remaining(source)
    frame = frame[frame["model"].isin(models)]
    colors, support = color_models(models, source.verdict), source.tables["support"]
    rarest = min(support.loc[support["supported"], "prior"].tolist(), default=np.inf)
    weighting = source.evaluation.deployment_prior
    priors, start = steps = _choose_start(frame, weighting, rarest)
    marks = Marks(rarest, float(priors[start]), (weighting.low, weighting.high))
    charts = _build_headline_charts(source, frame, colors, marks) if len(priors) > 1 else []
    curves, paths = _build_curves(source, colors, priors, start)
    means = f"mean of {source.design.n_folds} {source.unit}s"
    means = "values of one test set" if source.design.is_test_set else means
    return Screen(
        **_build_steps(frame, colors, _list_heads(source), steps, rarest=rarest, paths=paths),
        charts=charts[:2],
        distances=charts[2:],
        differences=_build_difference_charts(source, colors, marks),
        curves=curves,
        reference=_choose_reference(source),
        subtitle=means if trusted else f"{means}, not reliable",
    )


def _mark_remaining(source: ReportSource) -> pd.DataFrame:
    """Return `by_prior`, with `contender` False for `find_losers` at deployment priors if others remain."""
    frame, weighting = source.by_prior, source.evaluation.deployment_prior
    inside = frame["prior"].between(weighting.low * (1 - 1e-9), weighting.high * (1 + 1e-9))
    loses = inside & frame["model"].isin(find_losers(source))
    others = (frame["contender"] & ~loses).groupby(frame["prior"]).transform("any")
    return frame.assign(contender=frame["contender"] & ~(loses & others))


def _choose_start(frame: pd.DataFrame, weighting: DeploymentPrior, rarest: float = 0.0) -> Steps:
    """Return the sorted priors, and the index of the middle, in logs, of the supported deployment prior."""
    priors = np.sort(frame["prior"].unique())
    low = rarest if weighting.low < rarest < weighting.high else weighting.low
    return priors, int(np.abs(np.log(priors) - np.log(low * weighting.high) / 2).argmin())


def _build_steps(
    frame: pd.DataFrame, colors: Colors, heads: list[str], steps: Steps, *, rarest: float = 0, paths: Any = ()
) -> dict[str, Any]:
    """Return the table and the slider of a screen: rows at the start; `data` has those of all priors."""
    priors, start = steps
    tables = [
        _list_prior_rows(frame[frame["prior"] == prior], colors, heads, is_supported=prior >= rarest)
        for prior in priors.tolist()
    ]
    titles = [_write_prior(prior, is_supported=prior >= rarest) for prior in priors.tolist()]
    data = {
        "priors": [float(f"{prior:.9g}") for prior in priors],  # further digits depend on the processor
        "heads": titles,
        "rows": [[[row.number, *row.cells] for row in rows] for rows in tables],
        "curves": paths,
    }
    span = np.log(priors[-1] / priors[0])
    share = float(np.log(priors[start] / priors[0]) / span) if span > 0 else 0.0
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    title, fraction = titles[start]
    words = {"title": title, "fraction": fraction, "heads": heads}
    return {**words, "rows": tables[start], "start": share, "data": Markup(text)}


def build_datasets_screen(results: Mapping[str, ReportSource], frame: pd.DataFrame, colors: Colors) -> Screen:
    """Return charts (none at one prior), slider and table of mean AUPREC over data sets along the prior."""
    weighting = next(iter(results.values())).evaluation.deployment_prior
    priors, start = steps = _choose_start(frame, weighting)
    limits = weighting.low, weighting.high
    marks = Marks(cursor=float(priors[start]), deployment=limits, has_no_skill=True)
    wide, label = LOW._replace(height=LOW.height + 60), "Mean AUPREC over the data sets along the prior."
    lines = _make_lines(frame, colors)
    return Screen(
        **_build_steps(frame, colors, ["Model", "AUPREC", TO_BEST], steps),
        charts=_build_both("auprec", lines, wide, label=label, marks=marks) if len(priors) > 1 else [],
        distances=[],
        subtitle=f"mean of {len(results)} data sets, each counted once",
    )


def build_values_charts(source: TestedResult, colors: Colors) -> list[Chart]:
    """Return wide and narrow charts along the prior of a measure other than AUPREC; [] for one prior."""
    frame = source.tables["by_prior"]
    if frame["prior"].nunique() < 2:
        return []
    lines = _make_lines(frame, colors, "value")
    deployment = cast("tuple[float, float]", source.settings["deployment_limits"])
    marks = Marks(deployment=deployment, crossings=_list_crossings(source, lines))
    limits, label = choose_limits(frame["value"].to_numpy()), f"{source.measure} along the prior."
    return _build_both("value", lines, LOW, label=label, y_limits=limits, marks=marks)


def _build_both(kind: str, lines: Sequence[ChartLine], wide: Layout, **options: Any) -> list[Chart]:
    """Return two charts of the same lines: in the layout `wide`, and in NARROW for a phone."""
    return [build_chart(kind, lines, layout, **options) for layout in (wide, NARROW)]


def list_small_charts(results: Mapping[str, ReportSource], colors: Colors) -> dict[str, tuple[str, Chart]]:
    """Return "MODEL by LEAD" (or "not reliable") and a chart by part with several priors, up to MAX_PARTS."""
    several = [name for name, result in results.items() if result.by_prior["prior"].nunique() > 1]
    charts = {}
    for name in several[:MAX_PARTS]:
        result, weighting = results[name], results[name].evaluation.deployment_prior
        best, *others = iter_rows(result.ranking)
        lead = f" by {format_number(best.iauprec - others[0].iauprec)}" if others else ""
        text = f"{shorten_name(str(best.model))}{lead}" if result.verdict.is_trusted else "not reliable"
        chosen = {model: colors[model] for model in sorted(result.by_prior["model"].unique())}
        lines = [replace(line, is_named=False) for line in _make_lines(result.by_prior, chosen)]
        label = f"AUPREC along the prior. Highest over the deployment prior: {text}."
        marks = Marks(deployment=(weighting.low, weighting.high))
        charts[name] = text, build_chart("part", lines, SMALL, label=label, marks=marks)
    return charts


def _make_lines(
    frame: pd.DataFrame, colors: Colors, value: str = "auprec", banded: Collection[str] = ()
) -> list[ChartLine]:
    """Return lines of the column `value` along the prior, in order of `colors`, with bands for `banded`."""
    lines, groups = [], {str(model): rows for model, rows in frame.groupby("model", observed=True)}
    for model, color in colors.items():
        names = ["prior", value, *(("conf_low", "conf_high") if model in banded else ())]
        x, y, *limits = groups[model][names].to_numpy(dtype=np.float64).T
        lines.append(ChartLine(model, color, x, y, limits))
    return lines


def color_models(models: Sequence[str], verdict: Verdict | None) -> dict[str, int]:
    """Return colours from 1; 0 if untrusted; of over ten only the chosen, first, suspects (None: first 5)."""
    if verdict is None:
        return number_colors(models, models[:MAX_COLORED])
    suspects = [model for model in models if any(repr(model) in text for text in verdict.warnings)]
    named = [*verdict.models[:MAX_COLORED], *models[:1], *suspects]
    return number_colors(models, named) if verdict.is_trusted else dict.fromkeys(models, 0)


def _write_prior(prior: float, *, is_supported: bool) -> tuple[str, str]:
    """Return "At a prior of 0.1", and "1 in 10 positive" (above .5 "60 % ...") or "..., not supported"."""
    fraction = f"{100 * prior:.3g} % positive"
    if prior <= 0.5:
        fraction = f"1 in {round(1 / prior, 0 if prior < 0.1 else 1):,g} positive"
    return f"At a prior of {prior:.3g}", fraction if is_supported else f"{fraction}, not supported"


# --- the table at one prior ---------------------------------------------------------------------------------


def _list_heads(source: ReportSource) -> list[str]:
    """Return headings: Model, AUPREC and, if tests are reliable, the band (if any), To best, May be best."""
    if not source.verdict.is_trusted:
        return ["Model", "AUPREC"]
    band = [f"{format_level(source.alpha)} band"] if source.by_prior["conf_low"].notna().any() else []
    return ["Model", "AUPREC", *band, TO_BEST, MAY_BE_BEST]


def _list_prior_rows(
    rows: pd.DataFrame, colors: Colors, heads: Sequence[str], *, is_supported: bool
) -> list[SimpleNamespace]:
    """Return rows (number, color, model, cells) by rank, untrusted as `colors`; no support: no band, mark."""
    models, result = list(colors), []
    formats: dict[str, Callable[[Any], str]] = {
        "AUPREC": lambda row: format_number(row.auprec),
        TO_BEST: lambda row: f"-{format_number(row.regret)}" if row.regret > 0 else "highest",
        MAY_BE_BEST: lambda row: "\u25cf" if row.contender and is_supported else "",
    }
    format_band = format_limits if is_supported else lambda _: ""
    key = (lambda row: row.rank) if TO_BEST in heads else (lambda row: models.index(row.model))
    for row in sorted(iter_rows(rows), key=key):
        texts = [formats.get(head, format_band)(row) for head in heads[1:]]
        number, color = models.index(row.model), colors[row.model]
        result.append(SimpleNamespace(number=number, color=color, model=row.model, cells=texts))
    return result


# --- charts -------------------------------------------------------------------------------------------------


def _build_headline_charts(
    source: ReportSource, frame: pd.DataFrame, colors: Colors, marks: Marks
) -> list[Chart]:
    """Return wide and narrow charts of AUPREC and, if many and trusted, two more of it less the highest."""
    trusted = source.verdict.is_trusted
    banded = _select_banded(source, list(colors)) if trusted else set()
    lines = _make_lines(frame, colors, banded=banded)
    lines = [replace(line, is_named=line.color > 0 or not trusted) for line in lines]
    is_many = len(colors) > MAX_ROWS
    y_limits = choose_limits(np.array([line.y for line in lines])) if is_many else (0.0, 1.0)
    marks = marks._replace(
        has_no_skill=y_limits[0] == 0,
        crossings=_list_crossings(source, lines) if trusted else (),
        strip=list_strip(source, colors, (float(lines[0].x[0]), float(lines[0].x[-1])), marks.rarest),
    )
    wide = WIDE._replace(height=WIDE.height - 50) if source.verdict.warnings else WIDE
    leads = (
        f"{shorten_name(row.model)} from {row.prior_low:.3g} to {row.prior_high:.3g}"
        for row in iter_rows(source.tables["regions"])
    )
    label = f"AUPREC along the prior. Highest: {', '.join(leads)}."
    charts = _build_both("auprec", lines, wide, label=label, y_limits=y_limits, marks=marks)
    if not is_many or not trusted:
        return charts
    best = frame.groupby("prior")["auprec"].max().to_numpy()
    lines = [replace(line, y=line.y - best, limits=()) for line in lines]
    y_limits = choose_limits(np.array([line.y for line in lines]))

    marks = marks._replace(has_no_skill=False, crossings=[(*each[:3], 0.0) for each in marks.crossings])
    label, wide = label.replace("AUPREC", "AUPREC less the highest", 1), wide._replace(left=LOW.left)
    return charts + _build_both("auprec distance", lines, wide, label=label, y_limits=y_limits, marks=marks)


def _select_banded(source: ReportSource, models: Sequence[str]) -> set[str]:
    """Return models with bands: all to MAX_BANDS, else the verdict's first MAX_BANDS, 1 above MAX_ROWS."""
    if len(models) <= MAX_BANDS:
        return set(models)
    return set(source.verdict.models[: MAX_BANDS if len(models) <= MAX_ROWS else 1])


def _list_crossings(source: TestedResult, lines: Sequence[ChartLine]) -> list[Crossing]:
    """Return (prior, low, high, value there) of up to MAX_CROSSINGS located changes of the highest mean."""
    crossings = source.tables["crossings"]
    located = crossings["conf_low"].notna() & ~(crossings["open_low"] & crossings["open_high"])
    result, by_model = [], {line.model: line for line in lines}
    for row in iter_rows(crossings[crossings["lead"] & located].head(MAX_CROSSINGS)):
        line = by_model[str(row.model_above)]
        value = float(np.interp(np.log(row.prior), np.log(line.x), line.y))
        result.append((row.prior, row.conf_low, row.conf_high, value))
    return result


def list_strip(
    source: ReportSource, colors: Colors, limits: tuple[float, float], rarest: float
) -> list[Segment]:
    """Return (low, high, text, colour) by range: "use A", or, in grey, "open: A or B", "no choice", ..."""
    low, high = limits
    start = min(max(low, rarest), high)
    result = [(low, start, "not supported", 0)] if start > low else []
    if start == high:
        return result
    if not source.verdict.is_trusted:
        return [*result, (start, high, "no choice", 0)]
    names = shorten_names(source.ranking["model"])
    weighting, losers = source.evaluation.deployment_prior, find_losers(source)
    ends = [start, *(end for end in (weighting.low, weighting.high) if start < end < high), high]
    for left, right in pairwise(ends):
        is_deployment = weighting.low <= left and right <= weighting.high
        word = "any" if is_deployment and source.verdict.state == "equal" else "open"
        for models, first, last in contender_ranges(source.tables["leaders"], left, right):
            remaining = [m for m in names if m in models and not (is_deployment and m in losers)]
            *others, final = remaining or [m for m in names if m in models]
            text = f"{word}: {', '.join(names[m] for m in others)} or {names[final]}"
            text = text if others else f"use {names[final]}"
            first = result.pop()[0] if result and result[-1][2] == text else first
            result.append((first, last, text, 0 if others else colors.get(final, 0)))
    return result


def find_losers(source: ReportSource) -> set[str]:
    """Return the models that a primary pair puts behind another on average over the (supported) prior."""
    partial = source.verdict.state == "unsupported"
    column, value = ("response", "iauprec_supported") if partial else ("role", "primary")
    rows = source.pairs[(source.pairs[column] == value) & source.pairs["reject"].astype(bool)]
    return {order_by_estimate(row)[1] for row in iter_rows(rows)}


def _choose_reference(source: ReportSource) -> str:
    """Return the model from which differences are drawn: control, first of the choice, or first ranked."""
    candidates = (get_control(source), *source.verdict.models, str(source.ranking["model"].iloc[0]))
    return next(filter(None, candidates))


def _build_difference_charts(source: ReportSource, colors: Colors, marks: Marks) -> list[Chart]:
    """Return [wide, narrow] charts of up to 4 models less the reference; [] if untrusted or at one prior."""
    reference = _choose_reference(source)
    frame = orient_pairs(source.tables["difference_curves"], reference).sort_values("prior")
    if frame["prior"].nunique() < 2 or not source.verdict.is_trusted:
        return []
    others = [model for model in colors if model in set(frame["model_a"])][:MAX_DIFFERENCES]
    chosen = {model: colors[model] for model in others}
    lines = _make_lines(frame.rename(columns={"model_a": "model"}), chosen, "estimate", others)
    extremes = np.concatenate([np.r_[line.y, *line.limits] for line in lines])
    cursor = None if marks.cursor is None else float(np.clip(marks.cursor, *lines[-1].x[[0, -1]]))
    label = f"Differences in AUPREC from {shorten_name(reference)} along the prior, with simultaneous bands."
    options = {"y_limits": choose_limits(extremes), "marks": marks._replace(cursor=cursor)}
    return _build_both("difference", lines, LOW, label=label, **options)


def _build_curves(
    source: ReportSource, colors: Colors, priors: Floats, start: int
) -> tuple[list[Chart], list[list[str]]]:
    """Return [ROC, PR at the start] of MAX_CURVES models; by prior, model: texts of precision times 1000."""
    drawn = [model for model in colors if colors[model]][:MAX_CURVES] or list(colors)[:MAX_CURVES]
    roc = source.tables["roc"].groupby(["model", "fpr"], observed=True)["tpr"].mean()
    frame = precision_recall(replace(source.evaluation, models=tuple(drawn)), priors, recall=RECALLS)
    precision = frame.groupby(["model", "prior", "recall"], observed=True)["precision"].mean()
    thinned = {model: roc.loc[model].iloc[::2] for model in drawn}
    lines = [ChartLine(m, colors[m], thinned[m].index.to_numpy(), thinned[m].to_numpy()) for m in drawn]
    heights = {model: precision.loc[model].to_numpy().reshape(len(priors), -1) for model in drawn}
    at_start = [ChartLine(model, colors[model], RECALLS, heights[model][start]) for model in drawn]
    charts = [
        build_chart("roc", lines, PANEL, label="ROC curves."),
        build_chart("pr", at_start, PANEL, label="Precision-recall curves at the prior of the slider."),
    ]
    texts = ([" ".join(f"{1000 * value:.0f}" for value in row) for row in heights[m]] for m in drawn)
    return charts, list(map(list, zip(*texts, strict=True)))
