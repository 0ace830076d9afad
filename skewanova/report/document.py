"""The HTML page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources
from typing import Any

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from skewanova.base.text import Table, visible, without, without_empty
from skewanova.inference.catalogue import get_test
from skewanova.report import sentences, tables
from skewanova.report.figures import FIGURES, caption
from skewanova.report.methods import cited, methods_of
from skewanova.report.publication import TABLES, publication_tables
from skewanova.report.rendering import inline_svg
from skewanova.report.slider import slider_of
from skewanova.report.source import ReportSource, control_of, primary_rows

#: Parts of the page below the verdict and the ranking, in order; each can be opened and closed.
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


#: Parts that are open from the start, and so are printed; warnings are where there are any.
OPEN = frozenset({"found", "compared", "warnings"})


#: Where the page has the numbers of each frame that a verdict names.
TABLE_PLACES = {
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


#: Sentences beyond these are left to the table of pairs.
MOST_CONCLUSIONS = 8


#: Stretches of priors beyond these are left to the file of difference curves.
MOST_STRETCHES = 60


#: What a family of pairwise tests is there for, where its label does not say so.
ROLES = {
    "primary": "The conclusions rest on this test.",
    "secondary": "A secondary test, valid under its own assumptions only: the conclusions do not rest on it.",
}


_SCRIPT = (resources.files("skewanova.report") / "templates" / "report.js").read_text(encoding="utf-8")


TEST_ROLES = {
    "primary": "Calibrated: the conclusions rest on it",
    "published": "As published by Landgrebe et al. (2006)",
    "secondary": "Secondary tests",
}


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
class Picture:
    """A figure of the page: drawing, description, caption, files with its numbers."""

    svg: Markup
    alt: str
    caption: str
    files: tuple[str, ...]


def render(
    source: ReportSource,
    drawn: Mapping[str, bytes],
    provenance: Mapping[str, Any],
    *,
    beside: bool = False,
) -> str:
    """Fill in the template; `drawn` holds an SVG picture of each figure, `beside` are the files it names."""
    methods = methods_of(source)
    references = cited(methods)
    views = _views(source)
    context = {
        "title": title(source),
        "version": provenance["versions"]["skewanova"],
        "contents": _contents(source, drawn, views),
        "open": OPEN,
        "linked": beside,
        **_slider(source),
        "figures": _pictures(source, drawn),
        "warnings": source.warnings,
        **_findings(source),
        **views,
        **_tests(source),
        "design": _design(source),
        "methods": methods,
        "references": references,
        **script(),
        **_along(source),
        "provenance": _facts(provenance),
    }
    return environment().get_template("report.html.j2").render(context)


def _slider(source: ReportSource) -> dict[str, Any]:
    """The slider, where there is more than one prior, and its table."""
    slider = slider_of(source)
    return {"slider": slider, "at_prior": slider and _whole_view(slider.table, "by_prior.csv")}


def title(source: ReportSource) -> str:
    """Heading of the report."""
    return f"Comparison of {len(source.ranking)} classifiers"


def _contents(
    source: ReportSource, drawn: Mapping[str, bytes], views: Mapping[str, object]
) -> list[tuple[str, str]]:
    """Parts there is something to say in."""
    there = {
        "warnings": bool(source.warnings),
        "skew": "skew" in drawn,
        "curves": "roc" in drawn,
        "differences": "difference_curves" in drawn,
        "surface": "surface" in drawn,
        "prior-pairs": views["prior_pairs"] is not None,
    }
    return [(name, heading) for name, heading in CONTENTS.items() if there.get(name, True)]


@cache
def environment() -> Environment:
    """Templates, everything escaped."""
    return Environment(
        loader=PackageLoader("skewanova.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _printable(value: object) -> object:
    """Text without control characters, which HTML forbids; the figures are finished already."""
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def script() -> dict[str, str]:
    """The one script of a page, and what its content security policy calls it."""
    digest = hashlib.sha256(_SCRIPT.encode("utf-8")).digest()
    return {"script": Markup(_SCRIPT), "script_hash": base64.b64encode(digest).decode("ascii")}


def _findings(source: ReportSource) -> dict[str, Any]:
    """The verdict, and what the tests found."""
    conclusions = source.conclusions
    displayed = conclusions[:MOST_CONCLUSIONS]
    return {
        "verdict": [
            (heading, text, [(name, TABLE_PLACES[name]) for name in tables])
            for heading, text, tables in source.verdict.lines()
        ],
        "conclusions": displayed,
        "more_conclusions": len(conclusions) - len(displayed),
    }


def _along(source: ReportSource) -> dict[str, Any]:
    """At which priors two models differ, in words."""
    result = sentences.curve_sentences(
        source.tables["difference_curves"], source.tables["differing_priors"], control=control_of(source)
    )
    return {"along": result[:MOST_STRETCHES], "more_along": len(result[MOST_STRETCHES:])}


def _design(source: ReportSource) -> list[tuple[str, str]]:
    """What was compared, over what."""
    settings = source.settings
    priors = settings.get("at_priors", source.tables["auprec"]["prior"].unique().tolist())
    return [
        ("Models", str(len(source.ranking))),
        (
            "Data" if source.design.is_test_set else "Folds",
            str(source.settings.get("design_description", source.tables["iauprec"]["fold"].nunique())),
        ),
        ("Deployment prior", str(settings.get("deployment_prior", ""))),
        ("Priors tabulated", _setting(priors)),
        ("Estimator", str(settings.get("area_estimator", ""))),
        ("Level of the tests", f"{source.alpha:g}"),
    ]


def _views(source: ReportSource) -> dict[str, _View | None]:
    """Every table but those of pairs; none where there are no rows."""
    made = publication_tables(source)
    names = [name for name in TABLES if name not in {"pairwise", "pairs"}]
    return {name: view(made[name], *TABLES[name].files) if name in made else None for name in names}


def view(table: Table, *files: str) -> _View:
    """A table as the templates take it, without the columns that are empty."""
    return _whole_view(without_empty(table), *files)


def _whole_view(table: Table, *files: str) -> _View:
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
        "roles": {
            role: [_test(group) for _, group in rows.groupby(["test", "response"], sort=False, observed=True)]
            for role, rows in source.tests.groupby("role", sort=False, observed=True)
        },
        "test_roles": TEST_ROLES,
        "primary": _test(primary_rows(source.tests)),
        "pairs": _families(source),
        "prior_label": get_test("three_way").note,
    }


def _test(rows: pd.DataFrame) -> dict[str, str]:
    return {"line": sentences.anova_line(rows), "label": get_test(rows["test"].iloc[0]).note}


def _families(source: ReportSource) -> list[dict[str, Any]]:
    result: list[dict[str, Any]] = []
    for name, rows in source.pairs.groupby("test", sort=False, observed=True):
        test = str(name)
        test_name = get_test(test).name
        table = without(tables.pairs_table(rows, source.alpha), "Test")
        table = replace(table, name=f"pairs-{len(result) + 1}", caption=f"{table.caption}, {test_name}")
        result.append(
            {
                "name": test_name,
                "label": f"{ROLES.get(rows['role'].iloc[0], '')} {get_test(test).note}".strip(),
                "table": view(table, "pairs.csv"),
            }
        )
    return result


def _pictures(source: ReportSource, drawn: Mapping[str, bytes]) -> dict[str, Picture]:
    """Figures with a caption, and with a description for whoever cannot see them."""
    captions = {kind: caption(kind, source) for kind in drawn}
    return {
        kind: Picture(
            inline_svg(svg, kind),
            captions[kind] + FIGURES[kind].values(source),
            captions[kind],
            FIGURES[kind].files,
        )
        for kind, svg in drawn.items()
    }


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
