"""The report of a comparison as one HTML page."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from skewanova.base.text import (
    Table,
    build_table,
    drop_column,
    drop_empty_columns,
    escape_text,
    format_column,
    format_factor,
    format_limits,
    shorten_names,
)
from skewanova.inference.catalogue import get_test
from skewanova.report import sentences
from skewanova.report.figures import FIGURES, list_drawn_models, write_caption
from skewanova.report.methods import find_references, write_methods
from skewanova.report.publication import build_publication_tables, is_number
from skewanova.report.rendering import inline_svg
from skewanova.report.source import ReportSource, format_level, get_control, select_primary
from skewanova.report.tables import NOT_RELIABLE, TABLES, build_pairs_table

#: Headings of the parts below the verdict and the ranking, in order; readers can open and close each.
CONTENTS = {
    "found": "What the tests found",
    "compared": "What was compared",
    "warnings": "Warnings",
    "priors": "AUPREC against the prior",
    "tests": "Tests, and how each may be read",
    "pairs": "Pairwise differences",
    "differences": "Differences along the prior",
    "prior-pairs": "Differences between priors",
    "curves": "ROC and precision-recall curves",
    "surface": "P-ROC surface",
    "skew": "Accuracy and precision against the skew",
    "assumptions": "Assumptions",
    "methods": "Methods",
    "provenance": "Provenance",
}


#: Parts that are open at first, and are printed.
OPEN_PARTS = frozenset({"found", "compared", "warnings"})


#: Id of the element with the numbers of each frame that a verdict cites.
TABLE_ANCHORS = {
    "pairs": "pairs",
    "equivalence": "table-equivalence",
    "plans": "table-plans",
    "decisions": "table-ranking",
    "iauprec": "table-measures",
    "leaders": "table-leaders",
    "regions": "table-regions",
    "crossings": "table-crossings",
    "support": "table-regions",
    "roc": "curves",
    "assumptions": "table-assumptions",
    "design": "compared",
}


#: Conclusions on the page; the table of pairs has all.
MAX_CONCLUSIONS = 8


#: Ranges of differing priors on the page; the file of difference curves has all.
MAX_RANGES = 60


#: Sentences on the role of a pairwise test.
ROLES = {
    "primary": "The conclusions rest on this test.",
    "secondary": "A secondary test, valid under its own assumptions only: the conclusions do not rest on it.",
}


#: Headings of the tests of all models by role.
TEST_ROLES = {
    "primary": "Primary: the conclusions rest on it",
    "published": "As published by Landgrebe et al. (2006)",
    "secondary": "Secondary tests",
}


class View(NamedTuple):
    """A table of the page, with the kind of each column (number or text) and the files of its numbers."""

    table: Table
    kinds: list[str]
    files: tuple[str, ...]


class Picture(NamedTuple):
    """A figure of the page, with its text alternative, caption and the files of its numbers."""

    svg: Markup
    alt: str
    caption: str
    files: tuple[str, ...]


def render_page(source: ReportSource, drawings: Mapping[str, bytes], provenance: Mapping[str, Any]) -> str:
    """Return the page as HTML, with links to the files of its folder; `drawings` are SVG."""
    methods, views, conclusions = write_methods(source), _build_views(source), source.conclusions
    bands, differing = source.tables["difference_curves"], source.tables["differing_priors"]
    names = shorten_names(source.evaluation.models)
    trusted, control = source.verdict.is_trusted, get_control(source)
    along_prior = sentences.write_curve_sentences(bands, differing, names, control=control) if trusted else []
    context = {
        "title": write_title(source),
        "version": provenance["versions"]["skewanova"],
        "contents": _list_parts(source, drawings, views),
        "open": OPEN_PARTS,
        **_build_slider(source),
        "figures": _build_pictures(source, drawings),
        "warnings": source.warnings,
        "reversing": source.verdict.warnings,
        "verdict": [
            (heading, text, [(name, TABLE_ANCHORS[name]) for name in tables])
            for heading, text, tables in source.verdict.lines()
        ],
        "conclusions": conclusions[:MAX_CONCLUSIONS],
        "more_conclusions": len(conclusions[MAX_CONCLUSIONS:]),
        **views,
        **_describe_tests(source),
        "design": _describe_design(source),
        "methods": methods,
        "references": find_references(methods),
        **load_script(),
        "along": along_prior[:MAX_RANGES],
        "more_along": len(along_prior[MAX_RANGES:]),
        "provenance": _list_provenance(provenance),
    }
    return load_templates().get_template("report.html.j2").render(context)


def write_title(source: ReportSource) -> str:
    """Write the title of the report."""
    return f"Comparison of {len(source.ranking)} classifiers"


def _list_parts(
    source: ReportSource, drawings: Mapping[str, bytes], views: Mapping[str, object]
) -> list[tuple[str, str]]:
    """Return id and heading of each part that has content."""
    present = {
        "warnings": bool(source.warnings),
        "skew": "skew" in drawings,
        "curves": "roc" in drawings,
        "differences": "difference_curves" in drawings,
        "surface": "surface" in drawings,
        "prior-pairs": views["prior_pairs"] is not None,
    }
    return [(name, heading) for name, heading in CONTENTS.items() if present.get(name, True)]


@cache
def load_templates() -> Environment:
    """Load the templates, which escape HTML and control characters (HTML forbids these)."""
    return Environment(
        loader=PackageLoader("skewanova.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_escape_controls,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _escape_controls(value: object) -> object:
    return escape_text(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def load_script() -> dict[str, str]:
    """Load the script of a page, with its hash for the content security policy."""
    code = (resources.files("skewanova.report") / "templates" / "report.js").read_text(encoding="utf-8")
    digest = hashlib.sha256(code.encode("utf-8")).digest()
    return {"script": Markup(code), "script_hash": base64.b64encode(digest).decode("ascii")}


def _describe_design(source: ReportSource) -> list[tuple[str, str]]:
    """List the models, the design and the settings of the comparison."""
    settings = source.settings
    return [
        ("Models", str(len(source.ranking))),
        ("Data" if source.design.is_test_set else "Folds", str(settings["design_description"])),
        ("Deployment prior", str(settings["deployment_prior"])),
        ("Priors tabulated", _format_setting(settings["at_priors"])),
        ("Estimator", str(settings["area_estimator"])),
        ("Level of the tests", f"{source.alpha:g}"),
    ]


def _build_views(source: ReportSource) -> dict[str, View | None]:
    """Build all tables except those of pairs; a table without rows is None."""
    tables = build_publication_tables(source)
    names = [name for name in TABLES if name not in {"pairwise", "pairs"}]
    return {name: build_view(tables[name], *TABLES[name].files) if name in tables else None for name in names}


def build_view(table: Table, *files: str, complete: bool = False) -> View:
    """Build the view of a table; empty columns are dropped unless `complete`."""
    table = table if complete else drop_empty_columns(table)
    columns = list(zip(*table.rows, strict=True)) or [()] * len(table.header)
    kinds = ["number" if i and all(map(is_number, cells)) else "text" for i, cells in enumerate(columns)]
    return View(table, kinds, files)


def _describe_tests(source: ReportSource) -> dict[str, Any]:
    """Return a line and a note on each test of all models, by role, and the tables of pairs by test."""
    return {
        "roles": {
            role: [
                _describe_test(group)
                for _, group in rows.groupby(["test", "response"], sort=False, observed=True)
            ]
            for role, rows in source.tests.groupby("role", sort=False, observed=True)
        },
        "test_roles": TEST_ROLES if source.verdict.is_trusted else {**TEST_ROLES, "primary": NOT_RELIABLE},
        "primary": _describe_test(select_primary(source.tests)),
        "pairs": _build_pair_views(source),
        "prior_label": get_test("three_way").note,
    }


def _describe_test(rows: pd.DataFrame) -> dict[str, str]:
    return {"line": sentences.write_test_line(rows), "label": get_test(rows["test"].iloc[0]).note}


def _build_pair_views(source: ReportSource) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    for test, rows in source.pairs.groupby("test", sort=False, observed=True):
        record = get_test(str(test))
        table = build_pairs_table(rows, source.alpha, "Test", trusted=source.verdict.is_trusted)
        table = replace(table, name=f"pairs-{len(result) + 1}", caption=f"{table.caption}, {record.name}")
        role = ROLES.get(rows["role"].iloc[0], "") if source.verdict.is_trusted else f"{NOT_RELIABLE}."
        label = f"{role} {record.note}".strip()
        result.append({"name": record.name, "label": label, "table": build_view(table, "pairs.csv")})
    return result


def _build_pictures(source: ReportSource, drawings: Mapping[str, bytes]) -> dict[str, Picture]:
    """Build the figures of the page by name."""
    return {
        kind: build_picture(
            kind, svg, (write_caption(kind, source), FIGURES[kind].values(source)), FIGURES[kind].files
        )
        for kind, svg in drawings.items()
    }


def build_picture(name: str, svg: bytes, texts: tuple[str, str], files: tuple[str, ...]) -> Picture:
    """Build a figure from its caption and its values, which are part of the text alternative."""
    return Picture(inline_svg(svg, name), "".join(texts), texts[0], files)


def _list_provenance(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    versions = ", ".join(f"{name} {number}" for name, number in provenance["versions"].items())
    return [
        ("Made by", f"skewanova {provenance['versions']['skewanova']}, {provenance['created']}"),
        ("Input", provenance["input"]["name"] or "a table in memory"),
        ("SHA-256 of the input", provenance["input"]["sha256"]),
        *((f"Setting {name}", _format_setting(value)) for name, value in provenance["settings"].items()),
        ("Versions", versions),
    ]


def _format_setting(value: object) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_format_setting, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


# --- slider over the prior ----------------------------------------------------------------------------------


#: Separates the cells of a row for the script; these cells are numbers, yes or no.
CELL_SEPARATOR = "|"


def _build_slider(source: ReportSource) -> dict[str, Any]:
    """Build the slider over the priors of `by_prior` and its first table; None if there is one prior."""
    frame = source.by_prior[source.by_prior["model"].isin(list_drawn_models(source))]
    tables = [
        _build_prior_table(source, float(str(prior)), rows)
        for prior, rows in frame.groupby("prior", observed=True)
    ]
    if len(tables) < 2:
        return {"slider": None}
    priors, weighting = frame["prior"].unique(), source.evaluation.deployment_prior
    start = int(np.abs(np.log(priors) - np.log(weighting.low * weighting.high) / 2).argmin())
    steps = {
        # further digits depend on the processor
        "priors": [float(f"{prior:.9g}") for prior in priors],
        "captions": [table.caption for table in tables],
        "rows": [[CELL_SEPARATOR.join(cells) for _, *cells in table.rows] for table in tables],
    }
    slider = {"start": start, "last": len(tables) - 1, "steps": json.dumps(steps, separators=(",", ":"))}
    return {"slider": slider, "at_prior": build_view(tables[start], "by_prior.csv", complete=True)}


def _build_prior_table(source: ReportSource, prior: float, rows: pd.DataFrame) -> Table:
    """Build the table of all models at one prior."""
    weighting = source.evaluation.deployment_prior
    inside = "within" if weighting.low <= prior <= weighting.high else "outside of"
    band = f"{format_level(source.alpha)} band"
    table = build_table(
        "by_prior",
        f"At prior {prior:.3g} (negatives for each positive: {format_factor((1 - prior) / prior)}), {inside} "
        "the deployment prior",
        rows,
        {
            "Model": attrgetter("model"),
            "Rank": lambda row: str(row.rank),
            "AUPREC": format_column("auprec"),
            band: format_limits,
            "May be the best": lambda row: "yes" if row.contender else "no",
            "Regret": format_column("regret"),
        },
        note="Bands hold at all priors and for all models at once. A model may be the best where no band of "
        "a difference puts it behind another. Regret: by how much it stays below the highest.",
    )
    return table if source.by_prior["conf_low"].notna().any() else drop_column(table, band)
