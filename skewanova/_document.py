"""The report as HTML: what each section says, and the template filled in."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from skewanova import _sentences as sentences
from skewanova import tables
from skewanova._figures import MOST_PAIRS, MOST_PANELS, FigureSource, inline_svg
from skewanova._methods import cited, methods_text
from skewanova._publication import alpha_of, headline_rows, publication_table, without
from skewanova._rendering import Table, format_number, shortened

#: Sections below the findings, in order.
CONTENTS = {
    "ranking": "Ranking",
    "priors": "AUPREC against the prior",
    "tests": "Tests, and how each may be read",
    "pairs": "Pairwise differences",
    "differences": "Differences along the prior",
    "prior-pairs": "Differences between priors",
    "curves": "ROC and precision-recall curves",
    "surface": "P-ROC surface",
    "skew": "Accuracy and precision against the skew",
    "assumptions": "Assumptions",
    "warnings": "Warnings",
    "methods": "Methods",
    "provenance": "Provenance",
}
#: Sentences beyond these are left to the table of pairs.
MOST_CONCLUSIONS = 8
#: The analysis of variance whose mean square a pairwise test uses: its label holds for the pairs too.
BEHIND = {"tukey": "two_way", "tukey_three_way": "three_way"}
#: What a family of pairwise tests is there for, where its label does not say so.
ROLES = {
    "headline": "The conclusions rest on this test.",
    "check": "A check, valid under its own assumptions only: the conclusions do not rest on it.",
}

CAPTIONS = {
    "iauprec": "IAUPREC by model. A small dot is one fold, at the same height in every row; the large "
    "marker is the mean over folds with its {level} interval (how it was made stands under the ranking). "
    "Models that share a letter were not found to differ.",
    "auprec": "AUPREC by prior, mean over folds, on a logarithmic axis of priors.",
    "interaction": "Mean AUPREC over folds of each model at each prior tabulated, with its {level} t "
    "interval (widened where folds share training data; each interval by itself). Lines that cross: which "
    "model is better depends on the prior.",
    "regions": "Mean AUPREC by prior; the strip along the bottom has the colour of the model that leads "
    "there. The lead is not tested.",
    "regret": "Regret by prior: by how much the mean AUPREC of each model falls short of that of the best "
    "model at the same prior. The range of the deployment prior is shaded.",
    "differences": "Pairwise differences in {measure} ({test}), first model minus second, with simultaneous "
    "{level} intervals; filled where the test finds a difference.{cut_pairs}",
    "p_values": "Adjusted p of each pair ({test}) and, where its cell has room, the difference in "
    "{measure}, column minus row; the darker a cell, the smaller p.",
    "critical_difference": "Mean ranks of the models over folds by IAUPREC (1 is best). A bar joins models "
    "that Nemenyi's test does not tell apart: those with a dot on it (Demsar 2006). A check beside the "
    "headline test.",
    "difference_curves": "Difference in AUPREC of each pair along the prior; the {level} bands hold at all "
    "priors and for all pairs at once; a dark strip marks priors at which a band leaves out 0.{cut_panels}",
    "roc": "ROC curves, mean over folds at each false positive rate.",
    "precision_recall": "Precision-recall curves, mean over folds at each recall: each prior has its own.",
    "surface": "P-ROC surface of each model: mean precision over folds by recall and prior.{cut_panels}",
    "skew": "Accuracy and precision of one threshold (that of each fold with the largest true minus false "
    "positive rate) as negatives become more frequent: accuracy hides what precision shows.",
    "residuals": "Residuals of the 2-way analysis of variance of IAUPREC: against fitted values, by fold, "
    "and ordered against normal quantiles with the 95 % envelopes of normal samples of the same layout "
    "(dark: each point by itself; light: all points at once).",
}


#: Where the numbers of a figure are: files of the output folder.
FIGURE_NUMBERS = {
    "iauprec": ("iauprec.csv", "ranking.csv"),
    "auprec": ("auprec_by_prior.csv",),
    "interaction": ("auprec_intervals.csv",),
    "regions": ("regions.csv", "crossings.csv", "auprec_by_prior.csv"),
    "regret": ("regret.csv",),
    "differences": ("posthoc.csv",),
    "p_values": ("posthoc.csv",),
    "critical_difference": ("iauprec.csv", "posthoc.csv"),
    "difference_curves": ("differences.csv",),
    "roc": ("roc.csv",),
    "precision_recall": ("precision_recall.csv",),
    "surface": ("surface.csv",),
    "skew": ("skew.csv",),
    "residuals": ("residuals.csv",),
}
_SCRIPT = (resources.files("skewanova") / "_templates" / "report.js").read_text(encoding="utf-8")


TEST_ROLES = {
    "headline": "Calibrated: the conclusions rest on it",
    "as_published": "As published by Landgrebe et al. (2006)",
    "check": "Checks",
}


class ReportSource(FigureSource, Protocol):
    """What a report is made of: a comparison, or anything with the same attributes."""

    @property
    def auprec(self) -> pd.DataFrame:
        """AUPREC of every model, fold and prior."""

    @property
    def anova(self) -> pd.DataFrame:
        """One row a term of each analysis of variance."""

    @property
    def practical(self) -> pd.DataFrame:
        """One row a pair of models: probability of practical equivalence."""

    @property
    def checks(self) -> pd.DataFrame:
        """What the tests assume, with advice."""

    @property
    def prior_posthoc(self) -> pd.DataFrame:
        """One row a pair of priors; may be empty."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to keep in mind when reading the numbers."""

    @property
    def labels(self) -> Mapping[str, str]:
        """How each analysis of variance may be read."""

    @property
    def advice(self) -> str:
        """What to do."""

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What the tests found, in sentences."""

    @property
    def source(self) -> Path | None:
        """File the scores were read from."""

    @property
    def sha256(self) -> str:
        """Fingerprint of the input."""


@dataclass(frozen=True)
class _Cell:
    text: str
    kind: str
    bold: bool = False


@dataclass(frozen=True)
class _View:
    """A table as the template needs it, with the files that hold its numbers in full."""

    name: str
    caption: str
    header: list[_Cell]
    rows: list[list[_Cell]]
    note: str
    files: tuple[str, ...]


@dataclass(frozen=True)
class _Picture:
    svg: Markup
    alt: str
    caption: str
    files: tuple[str, ...]


def render(source: ReportSource, drawn: Mapping[str, bytes], provenance: Mapping[str, Any]) -> str:
    """Fill in the template; `drawn` holds an SVG picture of each figure."""
    methods = methods_of(source)
    references = cited(methods)
    context = {
        "title": title(source),
        "version": provenance["versions"]["skewanova"],
        "contents": list(CONTENTS.items()),
        "figures": _pictures(source, drawn),
        "warnings": source.warnings,
        **_findings(source),
        **_views(source),
        **_tests(source),
        "design": _design(source),
        "methods": methods,
        "references": references,
        "script": Markup(_SCRIPT),
        "script_hash": _hash(_SCRIPT),
        "along": sentences.curve_sentences(source.differences),
        "provenance": _facts(provenance),
    }
    return _environment().get_template("report.html.j2").render(context)


def title(source: ReportSource) -> str:
    """Heading of the report."""
    return f"Comparison of {len(source.ranking)} classifiers"


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("skewanova", "_templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(value: object) -> object:
    """Text without control characters, which HTML forbids; the figures are finished already."""
    if isinstance(value, Markup) or not isinstance(value, str):
        return value
    return "".join(sign if sign.isprintable() else " " for sign in value)


def _hash(script: str) -> str:
    """What the content security policy calls the one script that may run."""
    return base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode("ascii")


def _level(source: ReportSource) -> str:
    return f"{100 * (1 - alpha_of(source)):g} %"


def _findings(source: ReportSource) -> dict[str, Any]:
    """Who ranks first, and what the tests found."""
    best = source.ranking.iloc[0]
    low, high = format_number(best["conf_low"]), format_number(best["conf_high"])
    interval = f" ({_level(source)} interval {low} to {high})" if low else ""
    shown = source.conclusions[:MOST_CONCLUSIONS]
    mean = format_number(best["iauprec"])
    return {
        "first": f"{shortened(best['model'])} ranks first: mean IAUPREC {mean}{interval}.",
        "advice": source.advice,
        "conclusions": shown,
        "more_conclusions": len(source.conclusions) - len(shown),
    }


def _design(source: ReportSource) -> list[tuple[str, str]]:
    """What was compared, over what."""
    settings = source.settings
    priors = settings.get("priors", source.auprec["prior"].unique().tolist())
    return [
        ("Models", str(len(source.ranking))),
        ("Folds", str(source.settings.get("design", source.iauprec["fold"].nunique()))),
        ("Deployment prior", str(settings.get("deployment_prior", ""))),
        ("Priors tabulated", _setting(priors)),
        ("Estimator", str(settings.get("estimator", ""))),
        ("Level of the tests", f"{alpha_of(source):g}"),
    ]


def _views(source: ReportSource) -> dict[str, _View | None]:
    """Every table but those of pairs."""
    level = 1 - alpha_of(source)
    performance = publication_table(source, "performance")
    prior_pairs = source.prior_posthoc
    return {
        "ranking": _view(
            tables.ranking_table(source.ranking, level), "ranking.csv", "decisions.csv", "choices.csv"
        ),
        "performance": _view(performance, "auprec.csv", "iauprec.csv"),
        "regions": _view(
            tables.regions_table(source.regions), "regions.csv", "crossings.csv", "leaders.csv", "support.csv"
        ),
        "anova": _view(tables.anova_table(source.anova), "anova.csv"),
        "practical": _view(tables.practical_table(source.practical), "practical.csv"),
        "checks": _view(tables.checks_table(source.checks), "checks.csv"),
        "prior_pairs": None
        if prior_pairs.empty
        else _view(tables.prior_pairs_table(prior_pairs, alpha_of(source)), "prior_differences.csv"),
    }


def _view(table: Table, *files: str) -> _View:
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    kinds = ["number" if i and all(map(_is_number, cells)) else "text" for i, cells in enumerate(columns)]
    return _View(
        table.name,
        table.caption,
        [_Cell(text, kind) for text, kind in zip(table.header, kinds, strict=True)],
        [
            [_Cell(text, kinds[j], (i, j) in table.bold) for j, text in enumerate(row)]
            for i, row in enumerate(table.rows)
        ],
        table.note,
        files,
    )


def _is_number(cell: str) -> bool:
    return not cell or cell.lstrip("-<")[:1].isdecimal() or cell in {"inf", "-inf"}


def _tests(source: ReportSource) -> dict[str, Any]:
    """Each analysis of variance in a line with its label, and the tables of pairs by test."""
    return {
        "tests": {
            role: [
                _test(source, group)
                for _, group in rows.groupby(["test", "response"], sort=False, observed=True)
            ]
            for role, rows in source.anova.groupby("role", sort=False, observed=True)
        },
        "test_roles": TEST_ROLES,
        "headline": _test(source, headline_rows(source.anova)),
        "pairs": _families(source),
        "prior_label": source.labels.get("three_way", ""),
    }


def _test(source: ReportSource, rows: pd.DataFrame) -> dict[str, str]:
    return {"line": sentences.anova_line(rows), "label": source.labels.get(rows["test"].iloc[0], "")}


def _families(source: ReportSource) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for name, rows in source.posthoc.groupby("test", sort=False, observed=True):
        test = str(name)
        label = source.labels.get(BEHIND.get(test, test), "")
        shown = sentences.TEST_NAMES.get(test, test)
        table = without(tables.posthoc_table(rows, alpha_of(source)), "Test")
        table = replace(table, name=f"pairs-{len(found) + 1}", caption=f"{table.caption}, {shown}")
        found.append(
            {
                "name": shown,
                "label": f"{ROLES.get(rows['role'].iloc[0], '')} {label}".strip(),
                "table": _view(table, "posthoc.csv"),
            }
        )
    return found


def _pictures(source: ReportSource, drawn: Mapping[str, bytes]) -> dict[str, _Picture]:
    """Figures with a caption, and with a description for whoever cannot see them."""
    pairs = headline_rows(source.posthoc)
    test, response = pairs["test"].iloc[0], pairs["response"].iloc[0]
    filled = {
        "level": _level(source),
        "test": sentences.TEST_NAMES.get(test, test),
        "measure": sentences.RESPONSE_NAMES.get(response, response),
        "cut_pairs": f" The first {MOST_PAIRS} pairs." if len(pairs) > MOST_PAIRS else "",
        "cut_panels": f" The first {MOST_PANELS}." if len(source.ranking) > MOST_PANELS else "",
    }
    captions = {kind: CAPTIONS[kind].format(**filled) for kind in drawn}
    told = {
        "iauprec": f" Means: {_list_of(source.ranking, 'iauprec')}.",
        "auprec": f" At the rarest deployment prior: {_list_of(source.ranking, 'worst_auprec')}.",
        "regret": f" Largest over the deployment prior: {_list_of(source.ranking, 'max_regret')}.",
        "roc": f" Mean AUC: {_list_of(source.ranking, 'auc')}.",
    }
    return {
        kind: _Picture(
            inline_svg(svg, kind), captions[kind] + told.get(kind, ""), captions[kind], FIGURE_NUMBERS[kind]
        )
        for kind, svg in drawn.items()
    }


def _list_of(ranking: pd.DataFrame, column: str) -> str:
    values = zip(ranking["model"], ranking[column], strict=True)
    return ", ".join(f"{shortened(model)} {format_number(value)}" for model, value in values)


def methods_of(source: ReportSource) -> list[str]:
    """The section on methods, in paragraphs."""
    return methods_text(
        estimator=str(source.settings.get("estimator", "")),
        deployment_prior=str(source.settings.get("deployment_prior", "")),
        alpha=alpha_of(source),
        tests=[*source.anova["test"], *source.posthoc["test"]],
    )


def _facts(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    versions = ", ".join(f"{name} {number}" for name, number in provenance["versions"].items())
    return [
        ("Made by", f"skewanova {provenance['versions']['skewanova']}, {provenance['created']}"),
        ("Input", provenance["input"]["name"] or "a table in memory"),
        ("SHA-256 of the input", provenance["input"]["sha256"]),
        *((f"Setting {name}", _setting(value)) for name, value in provenance["settings"].items()),
        ("Versions", versions),
    ]


def _setting(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_setting, value))
    return f"{value:g}" if isinstance(value, float) else str(value)
