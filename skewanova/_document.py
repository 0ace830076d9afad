"""The report as HTML: what each section says, and the template filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from skewanova import _sentences as sentences
from skewanova import tables
from skewanova._figures import MOST_PAIRS, MOST_PANELS, FigureSource, headline_rows, inline_svg
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

ESTIMATORS = {
    "trapezoid": "the trapezoid rule on the points of the curve (Landgrebe et al. 2006, eq. 4)",
    "exact": "exact segments between the points of the ROC curve (Davis and Goadrich 2006)",
    "average_precision": "average precision, a step at every positive",
    "upper_trapezoid": "the upper trapezoid rule, anchored at precision 1 (Boyd et al. 2013)",
    "interpolated_max": "exact segments through the largest precision at each recall (Boyd et al. 2013)",
    "interpolated_mean": "exact segments through the mean precision at each recall (Boyd et al. 2013)",
    "interpolated_median": "exact segments through the median precision at each recall (Boyd et al. 2013)",
    "convex_hull": "exact segments along the convex hull of the ROC curve",
}
TESTS = {
    "two_way": "2-way analysis of variance of IAUPREC with the factors model and fold, the folds as blocks "
    "(Landgrebe et al. 2006, section 5)",
    "three_way": "3-way analysis of variance of AUPREC with the factors model, fold and prior "
    "(Landgrebe et al. 2006, sections 5 and 6)",
    "three_way_interaction": "the same with the interaction of model and prior",
    "repeated_measures": "repeated measures with Greenhouse and Geisser's (1959) degrees of freedom",
    "hotelling": "Hotelling's (1931) T2 of the contrasts between models",
    "friedman": "Friedman's ranks by the F of Iman and Davenport (1980)",
    "permutation": "permutation of models within folds",
    "sign_flip": "sign flips of whole fold profiles",
    "mixed": "a mixed model with random folds",
    "corrected_f": "the 2-way F divided by 1 + J r, for J folds with r test cases for each training case "
    "(Nadeau and Bengio 2003, extended to several models)",
    "corrected_gg": "the same with Greenhouse and Geisser's degrees of freedom",
    "corrected_hotelling": "Hotelling's T2 divided by 1 + J r",
    "paired_t_holm": "paired t tests adjusted by Holm (1979)",
    "corrected_t_holm": "paired t tests with Nadeau and Bengio's (2003) variance, adjusted by Holm (1979)",
    "games_howell": "paired differences with their own standard errors and the studentized range (Games and "
    "Howell 1976)",
    "max_t": "step-down max-T under sign flips of whole fold profiles (Westfall and Young 1993)",
    "nemenyi": "Nemenyi's test of mean ranks (Demsar 2006)",
    "wilcoxon_holm": "signed ranks adjusted by Holm",
    "dunnett": "Dunnett's (1955) comparisons with the control on the 2-way residual mean square",
    "tukey": "Tukey's honestly significant differences on the residual mean square of the 2-way analysis, so "
    "that the variation between folds is taken out; at each prior likewise (Tukey 1949, Kramer 1956)",
    "tukey_three_way": "the same on the residual mean square of the 3-way analysis",
}
CAPTIONS = {
    "iauprec": "IAUPREC by model. A small dot is one fold, at the same height in every row; the large "
    "marker is the mean over folds with its {level} interval (how it was made stands under the ranking). "
    "Models that share a letter were not found to differ.",
    "auprec": "AUPREC by prior, mean over folds, on a logarithmic axis of priors.",
    "regions": "Mean AUPREC by prior; the strip along the bottom has the colour of the model that leads "
    "there. The lead is not tested.",
    "differences": "Pairwise differences in {measure} ({test}), first model minus second, with simultaneous "
    "{level} intervals; filled where the test finds a difference.{cut_pairs}",
    "difference_curves": "Difference in AUPREC of each pair along the prior; the {level} bands hold at all "
    "priors and for all pairs at once; a dark strip marks priors at which a band leaves out 0.{cut_panels}",
    "roc": "ROC curves, mean over folds at each false positive rate.",
    "precision_recall": "Precision-recall curves, mean over folds at each recall: each prior has its own.",
    "surface": "P-ROC surface of each model: mean precision over folds by recall and prior.{cut_panels}",
    "skew": "Accuracy and precision of one threshold (that of each fold with the largest true minus false "
    "positive rate) as negatives become more frequent: accuracy hides what precision shows.",
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


def render(source: ReportSource, drawn: Mapping[str, bytes], provenance: Mapping[str, Any]) -> str:
    """Fill in the template; `drawn` holds an SVG picture of each figure."""
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
        "methods": _methods(source),
        "along": sentences.curve_sentences(source.differences),
        "provenance": _facts(provenance),
    }
    return _environment().get_template("report.html.j2").render(context)


def title(source: ReportSource) -> str:
    """Heading of the report."""
    return f"Comparison of {len(source.ranking)} classifiers"


def alpha_of(source: ReportSource) -> float:
    """Level of the tests."""
    return float(str(source.settings["alpha"]))


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
    performance = tables.performance_table(source.auprec, source.iauprec, source.ranking)
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
        "tests": [
            _test(source, group)
            for _, group in source.anova.groupby(["test", "response"], sort=False, observed=True)
        ],
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
        table = _without(tables.posthoc_table(rows, alpha_of(source)), "Test")
        found.append(
            {
                "name": sentences.TEST_NAMES.get(test, test),
                "label": f"{ROLES.get(rows['role'].iloc[0], '')} {label}".strip(),
                "table": _view(replace(table, name=f"{table.name}-{len(found) + 1}"), "posthoc.csv"),
            }
        )
    return found


def _without(table: Table, head: str) -> Table:
    """The table but for one column, which says the same in every row."""
    kept = [j for j, name in enumerate(table.header) if name != head]
    rows = tuple(tuple(row[j] for j in kept) for row in table.rows)
    return replace(table, header=tuple(table.header[j] for j in kept), rows=rows)


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
        "roc": f" Mean AUC: {_list_of(source.ranking, 'auc')}.",
    }
    return {
        kind: _Picture(inline_svg(svg, kind), captions[kind] + told.get(kind, ""), captions[kind])
        for kind, svg in drawn.items()
    }


def _list_of(ranking: pd.DataFrame, column: str) -> str:
    values = zip(ranking["model"], ranking[column], strict=True)
    return ", ".join(f"{shortened(model)} {format_number(value)}" for model, value in values)


def _methods(source: ReportSource) -> dict[str, str]:
    """What the section on methods fills in: estimator, weighting and tests in words."""
    name = str(source.settings.get("estimator", ""))
    tests = dict.fromkeys([*source.anova["test"], *source.posthoc["test"]])
    return {
        "estimator": ESTIMATORS.get(name, name),
        "deployment": str(source.settings.get("deployment_prior", "")),
        "tests": "; ".join(TESTS.get(test, sentences.TEST_NAMES.get(test, test)) for test in tests),
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
