"""Reports as one HTML page, and output folders, of one comparison and of several data sets or classes."""

from __future__ import annotations

import base64
import hashlib
import os
import re
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from markupsafe import Markup, escape

from skewanova.base.folders import Output, Provenance, check_formats, make_provenance, replace_folder
from skewanova.base.text import (
    Table,
    drop_empty_columns,
    escape_text,
    format_section,
    shorten_names,
    wrap_lines,
)
from skewanova.decision.verdict import LINE_TITLES, Verdict
from skewanova.inference.catalogue import get_test
from skewanova.plotting.lines import DARK_COLORS, LIGHT_COLORS
from skewanova.report import publication, screen, sentences
from skewanova.report.charts import Chart, build_interval_chart
from skewanova.report.source import (
    TEMPLATES,
    TEXTS,
    ReportSource,
    Result,
    TestedResult,
    build_provenance,
    get_control,
    load_templates,
    select_primary,
)
from skewanova.report.tables import write_value_heading

#: Id of the section with the numbers of each frame that a verdict cites.
TABLE_ANCHORS = {
    **dict.fromkeys(("pairs", "equivalence"), "pairs"),
    **dict.fromkeys(("difference_curves", "leaders", "regions", "crossings"), "where"),
    **dict.fromkeys(("design", "support"), "data"),
    **dict.fromkeys(("plans", "assumptions"), "checks"),
    "decisions": "ranking",
    "iauprec": "priors",
    "roc": "curves",
}


#: The same on the page of a comparison of values.
VALUES_ANCHORS = {**dict.fromkeys(("pairs", "equivalence"), "pairs"), "ranking": "ranking"}


#: JavaScript of a page, and its SHA-256 in base64.
SCRIPT = (TEMPLATES / "report.js").read_text(encoding="utf-8")
SCRIPT_HASH = base64.b64encode(hashlib.sha256(SCRIPT.encode("utf-8")).digest()).decode("ascii")


#: Numbers of a verdict without a link: limits beside an estimate that has one.
UNLINKED = frozenset({"low", "high", "conf_low", "conf_high", "power", "prior", "prior_low"})


#: Ranges of differing priors on the page; the file has all.
MAX_RANGES = 6


def render_page(source: ReportSource, provenance: Mapping[str, Any]) -> str:
    """Return the report as an HTML document, with links to the files of its folder."""
    colors = screen.color_models(screen.list_drawn_models(source), source.verdict)
    rarest = source.evaluation.support.smallest_prior
    context = {
        **build_page_context(source.verdict, colors, TABLE_ANCHORS, rarest=rarest),
        **_describe_source(source, provenance),
        "screen": screen.build_screen(source),
        "along": _write_along_prior(source),
        "tested": [describe_test(source, role) for role in ("primary", "published")],
        "data": _describe_data(source),
        "support": write_support(source),
    }
    return load_templates().get_template("report.html.j2").render(context)


def render_values_page(source: TestedResult, provenance: Mapping[str, Any]) -> str:
    """Return the report on values of any measure as an HTML document."""
    heading = write_value_heading(source)
    colors = screen.color_models(source.ranking["model"].tolist(), source.verdict)
    context = {
        **build_page_context(source.verdict, colors, VALUES_ANCHORS, rarest=None),
        **_describe_source(source, provenance),
        "measure": source.measure,
        "unit": source.unit,
        "intervals": build_interval_chart(source.ranking, colors, label=f"{heading} by model"),
        "charts": screen.build_values_charts(source, colors),
        "on_cases": source.design.is_test_set,
        "heading": heading,
        "tested": describe_test(source, "primary"),
        "conclusions": source.conclusions,
    }
    return load_templates().get_template("values.html.j2").render(context)


def _describe_source(source: TestedResult, provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return title, subject, views, warnings beyond the verdict's, methods, references and provenance."""
    return {
        "title": write_title(source),
        "subject": str(source.settings["design_description"]),
        "views": build_views(source),
        "warnings": [text for text in source.warnings if text not in source.verdict.warnings],
        "methods": source.methods.paragraphs,
        "references": [each.to_text() for each in source.methods.references],
        "provenance": _list_provenance(provenance),
    }


def render_notebook(source: TestedResult, table: Table, chart: Chart | None = None) -> str:
    """Return the verdict, a chart (if any) and a table as HTML for a notebook."""
    context = {
        "light": LIGHT_COLORS,
        "verdict": Markup(source.verdict._repr_html_()),
        "picture": chart,
        "ranking": Markup(table.to_html()),
    }
    return load_templates().get_template("notebook.html.j2").render(context)


def build_page_context(
    verdict: Verdict | None,
    colors: Mapping[str, int],
    anchors: Mapping[str, str],
    *,
    rarest: float | None = 0.0,
) -> dict[str, Any]:
    """Return variables of every page, with a verdict `choose` and `verdict`; no scope if `rarest` is None."""
    context: dict[str, Any] = {
        "version": version("skewanova"),
        "light": LIGHT_COLORS,
        "dark": DARK_COLORS,
        "script": Markup(SCRIPT),
        "script_hash": SCRIPT_HASH,
        "max_rows": screen.MAX_ROWS,
        "reversing": () if verdict is None else verdict.warnings,
    }
    if verdict is not None:
        choice = split_choice(verdict.choose, shorten_names(colors).values())
        scope = "" if rarest is None else _describe_scope(verdict, rarest)
        titles = {**LINE_TITLES, "how_sure": f"How sure{scope}"}
        titles.pop("choose")
        context["choose"] = [color_names(text, colors) for text in choice]
        context["verdict"] = [(titles[line], link_numbers(verdict, line, anchors)) for line in titles]
    return context


def _select_decisive(verdict: Verdict) -> pd.DataFrame:
    """Return the rows of the verdict's evidence that are decisive."""
    return verdict.evidence[verdict.evidence["decisive"].astype(bool)]


def _describe_scope(verdict: Verdict, rarest: float) -> str:
    """Return " (average over priors LOW to HIGH, some unsupported)"; if nan no numbers; "" at one prior."""
    decisive = _select_decisive(verdict)
    low, high = (decisive[name].max() for name in ("prior_low", "prior_high"))
    if len(decisive) and np.isnan(low):
        return " (on average over the deployment prior)"
    partly = ", some unsupported" if low < rarest * (1 - 1e-9) else ""
    return f" (average over priors {low:.3g} to {high:.3g}{partly})" if low < high else ""


def write_title(source: TestedResult) -> str:
    """Return the title "A, B and C compared", or "9 models compared" of more than four or if untrusted."""
    names = [*shorten_names(source.ranking["model"]).values()]
    if len(names) > 4 or not source.verdict.is_trusted:
        return f"{len(names)} models compared"
    return f"{', '.join(names[:-1])} and {names[-1]} compared"


# --- headline -----------------------------------------------------------------------------------------------


def split_choice(text: str, names: Iterable[str] = ()) -> tuple[str, str]:
    """Return the instruction of Choose, and the rest (or "Because ...") or ""; `names` are not split."""
    masked = text
    for name in sorted(names, key=len, reverse=True):
        masked = masked.replace(name, "x" * len(name))
    reason = re.match(r"(No choice: [^(]*[^( ]) \((.*?)\)\. ", masked)
    if reason:
        why = text[reason.start(2) : reason.end(2)]
        return f"{text[: reason.end(1)]}.", f"Because {why}. {text[reason.end() :]}"
    match = re.search(r"; |\. (?=[A-Zx])", masked)
    if match is None:
        return text, ""
    first, rest = text[: match.start()], text[match.end() :]
    supported = re.search(r" \(supported above prior ([\d.]+)\)\.$", rest)
    if supported:
        rest = f"{rest[: supported.start()]}. Judged above prior {supported[1]} only."
    return f"{first}.", f"{rest[0].upper()}{rest[1:]}" if rest.startswith(("in between", "use ")) else rest


def color_names(text: str, colors: Mapping[str, int]) -> Markup:
    """Return a text as HTML, escaped, with short names of models in their colours (0: none)."""
    classes = {name: colors[model] for model, name in shorten_names(colors).items() if colors[model]}
    if not classes:
        return escape(escape_text(text))
    longest = sorted(classes, key=len, reverse=True)
    pieces = re.split(rf"(?<![\w-])({'|'.join(map(re.escape, longest))})(?![\w-])", text)
    colored = Markup('<span class="c{}">{}</span>')
    return Markup("").join(
        colored.format(classes[piece], escape_text(piece)) if i % 2 else escape_text(piece)
        for i, piece in enumerate(pieces)
    )


def link_numbers(verdict: Verdict, line: str, anchors: Mapping[str, str]) -> Markup:
    """Return the verdict's field `line` as HTML; numbers, except UNLINKED, link to `anchors` by table."""
    text = str(getattr(verdict, line))
    places: dict[int, tuple[int, str]] = {}
    for number in verdict.numbers:
        anchor = anchors.get(number.table)
        if number.line != line or anchor is None or number.quantity in UNLINKED:
            continue
        matches = re.finditer(rf"(?<![\w.]){re.escape(number.text)}(?!\w|\.\d)", text)
        free = next((match for match in matches if match.start() not in places), None)
        if free is not None:
            places[free.start()] = free.end(), anchor
    result, position = Markup(""), 0
    for start, (end, anchor) in sorted(places.items()):
        result += escape_text(text[position:start])
        result += Markup('<a href="#{}">{}</a>').format(anchor, escape_text(text[start:end]))
        position = end
    return result + escape_text(text[position:])


# --- tables -------------------------------------------------------------------------------------------------


def build_views(source: TestedResult) -> dict[str, dict[str, Any] | None]:
    """Return the view of each of REPORT_TABLES by name, None without rows; a decisive pair is marked."""
    tables = publication.build_report_tables(source)
    views = {name: build_view(table, *source.SPECS[name].files) for name, table in tables.items()}
    views["pairwise"]["marked"] = find_decisive_row(source)
    return {name: views.get(name) for name in publication.REPORT_TABLES}


def find_decisive_row(source: TestedResult) -> int | None:
    """Return the position among the primary pairs of the first decisive one, None if none or untrusted."""
    decisive, pairs = _select_decisive(source.verdict), select_primary(source.pairs)
    if decisive.empty or not source.verdict.is_trusted:
        return None
    models = list(decisive[["model_a", "model_b"]].iloc[0])
    rows = pairs[["model_a", "model_b"]].isin(models).all(axis=1)
    return int(rows.to_numpy().argmax()) if rows.any() else None


def build_view(table: Table, *files: str) -> dict[str, Any]:
    """Return the table (without empty columns), its files and the marked row (None), by name."""
    return {"table": drop_empty_columns(table), "files": files, "marked": None}


# --- sentences ----------------------------------------------------------------------------------------------


def _write_along_prior(source: ReportSource) -> list[str]:
    """Return up to MAX_RANGES sentences on differing models, and a count, or why none; [] if untrusted."""
    if not source.verdict.is_trusted:
        return []
    names = shorten_names(source.evaluation.models)
    texts = sentences.write_curve_sentences(source.tables, names, control=get_control(source))
    rest = len(texts) - MAX_RANGES
    note = [f"differing_priors.csv has {rest} more."] if rest > 0 else []
    return [*texts[:MAX_RANGES], *note]


def describe_test(source: TestedResult, role: str) -> list[tuple[str, str]]:
    """Return the statistics and the note, both text, of each test of all models that has this role."""
    rows = source.tests[source.tests["role"] == role]
    groups = [group for _, group in rows.groupby(["test", "response"], sort=False, observed=True)]
    return [(sentences.write_test_line(group), get_test(group["test"].iloc[0]).note) for group in groups]


def write_support(source: ReportSource) -> str:
    """Return sentences on the effective negatives at the rarest prior and on the supported priors."""
    support = source.tables["support"]
    rarest = support.iloc[0]
    number, needed = rarest["effective_negatives"], rarest["needed"]
    units = "clusters with negatives (clusters" if source.design.n_clusters else "negatives (negatives"
    count = f"{number:,.{0 if number >= 10 else 1}f}; {needed:g} are needed (studies/records/support.md)"
    text = f"At prior {rarest['prior']:.3g} the effective {units} / skew) are {count}"
    supported = support.loc[support["supported"], "prior"]
    if len(supported) in {0, len(support)}:
        return f"{text}, so {'every' if len(supported) else 'no'} prior shown is supported."
    return f"{text}. Priors from {supported.min():.3g} on are supported."


def _describe_data(source: ReportSource) -> list[tuple[str, str]]:
    """Return rows (heading, text): models, design, deployment prior with assumptions, estimator and level."""
    settings, prior = source.settings, source.evaluation.deployment_prior
    return [
        ("Models", str(len(source.ranking))),
        ("Data" if source.design.is_test_set else "Folds", str(settings["design_description"])),
        ("Deployment prior", str(settings["deployment_prior"])),
        *(("Assumed of this prior", text) for text in getattr(prior, "assumptions", ())),
        ("Estimator", str(settings["area_estimator"])),
        ("Level of the tests", f"{source.alpha:g}"),
    ]


def _list_provenance(provenance: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return five rows (heading, text): version and time, input, its SHA-256, settings, package versions."""
    versions = provenance["versions"]
    return [
        ("Made by", f"skewanova {versions['skewanova']}, {provenance['created']}"),
        ("Input", provenance["input"]["name"] or "a table in memory"),
        ("SHA-256 of the input", provenance["input"]["sha256"]),
        ("Settings", "; ".join(f"{k} {_format_setting(v)}" for k, v in provenance["settings"].items())),
        ("Versions", ", ".join(f"{name} {number}" for name, number in versions.items())),
    ]


def _format_setting(value: object) -> str:
    """Return a setting as text: floats with six significant digits, sequences joined by commas."""
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(map(_format_setting, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


# --- folder -------------------------------------------------------------------------------------------------


#: Frames of curves, which are written as Parquet because they have many rows.
CURVE_FRAMES = frozenset({"auprec_by_prior", "precision_recall", "regret", "roc", "skew", "surface"})


#: Files of every output, with what they hold.
FILES: Mapping[str, str] = TEXTS["files"]


def write_folder(
    source: TestedResult, directory: str | os.PathLike[str], *, figures: str | Sequence[str] | None = None
) -> Path:
    """Replace a folder by page, tables, figures (None: none); return its path; see `Comparison.save`."""
    provenance, formats = build_provenance(source), check_formats(figures)
    with replace_folder(directory, provenance, inputs=[source.source]) as output:
        write_files(output, source, provenance, formats)
    return Path(directory)


def write_part(source: TestedResult, output: Output, name: str, *, formats: Sequence[str]) -> None:
    """Write a comparison to the subfolder `name` of the output, with its own provenance."""
    part, provenance = output.make_subfolder(name), build_provenance(source)
    write_files(part, source, provenance, formats)
    part.write_manifest(provenance)


def write_files(output: Output, source: TestedResult, provenance: Provenance, formats: Sequence[str]) -> None:
    """Write frames, tables, references, page, figures (which take most time), README.txt into `output`."""
    files = dict(FILES)
    descriptions = {**source.FRAMES, **TEXTS["prior_frames"]}
    for name, frame in [*source.tables.items(), *getattr(source, "prior_frames", {}).items()]:
        file = f"tables/{name}.{'parquet' if name in CURVE_FRAMES else 'csv'}"
        files[file] = descriptions[name]
        if name in CURVE_FRAMES:
            output.write(file, frame.to_parquet(index=False))
        else:
            output.write_csv(file, frame)
    tables = publication.build_report_tables(source).values()
    latex = [publication.LATEX_HEAD, *map(publication.write_fixed_latex, tables)]
    output.write("tables/tables.tex", "\n".join(latex))
    texts = [f"# {write_title(source)}", *(table.to_markdown() for table in tables)]
    output.write("tables/tables.md", "\n\n".join(texts) + "\n")
    output.write("tables/references.bib", publication.write_bibtex(source.methods.references))
    output.write("report.html", source._render_page(provenance))
    if formats:
        from skewanova.report.figures import draw_figures  # imports matplotlib

        names = write_figures(output, draw_figures(source, formats))
        files |= {f"figures/{name}": TEXTS["figures"][name] for name in names}
    write_readme(output, files)


def write_figures(output: Output, figures: Iterable[tuple[str, Mapping[str, bytes]]]) -> list[str]:
    """Write each figure to ``figures/NAME.FORMAT``, and return the names without formats."""
    names = []
    for name, pictures in figures:
        for suffix, content in pictures.items():
            output.write(f"figures/{name}.{suffix}", content)
        names.append(name)
    return names


def write_readme(output: Output, files: Mapping[str, str]) -> None:
    """Write README.txt, with a line on each file: its name and its description."""
    width = max(map(len, files)) + 2
    output.write("README.txt", "".join(f"{name:{width}}{text}\n" for name, text in files.items()))


# --- several data sets or classes ---------------------------------------------------------------------------


#: Id of the table with the numbers of each frame that a verdict cites, on a page of several parts.
PARTS_ANCHORS = {"pairs": "tables", "ranking": "table-across", "iauprec": "table-datasets"}


@dataclass(frozen=True, eq=False)
class PartsResult(Result):
    """Base of comparisons in several parts, data sets or classes, each a comparison of its own."""

    #: Names of one part, of all parts and of the output.
    PART: ClassVar[str]
    PARTS: ClassVar[str]
    KIND: ClassVar[str]
    #: Frames that are written as CSV files with what they hold, and the files with the numbers of each table.
    FRAMES: ClassVar[Mapping[str, str]]
    FILES: ClassVar[Mapping[str, tuple[str, ...]]]

    comparisons: Mapping[str, ReportSource] = field(repr=False)
    tests: pd.DataFrame = field(repr=False)
    pairs: pd.DataFrame = field(repr=False)
    ranking: pd.DataFrame
    alpha: float
    warnings: tuple[str, ...]

    @abstractmethod
    def _format_choice(self, width: int) -> str:
        """Return the verdict across data sets, or the choice for each class, as text wrapped to `width`."""

    @abstractmethod
    def _list_headings(self) -> list[str]:
        """Return lines of text on the number of parts, the level and the deployment priors."""

    @abstractmethod
    def _build_tables(self) -> tuple[Table, ...]:
        """Return the tables of the page, the first of which stands in the brief summary."""

    @abstractmethod
    def _build_page_items(self, colors: Mapping[str, int]) -> dict[str, Any]:
        """Return template variables: title, subject, `phrases` by part and name and, if any, a screen."""

    def _format_brief(self, width: int) -> str:
        """Return the choice and the first table as text wrapped to `width`."""
        table = self._build_tables()[0].to_text(width, names=shorten_names(self.ranking["model"]))
        return f"{self._format_choice(width)}\n\n{table}"

    def _format_details(self, width: int) -> list[str]:
        """Return headings, conclusions, the other tables and any warnings, each as wrapped text."""
        short = shorten_names(self.ranking["model"])
        return [
            wrap_lines(self._list_headings(), width),
            format_section("Conclusions", self.conclusions, width),
            *(table.to_text(width, names=short) for table in self._build_tables()[1:]),
            *([format_section("Warnings", self.warnings, width)] if self.warnings else []),
        ]

    def _draw_figures(self, formats: Sequence[str]) -> dict[str, dict[str, bytes]]:
        """Return the bytes of each figure by name and format; here none."""
        return {}

    def _map_folders(self) -> dict[str, str]:
        """Return the name of each part, which may be unsafe in paths, by its folder (``dataset-001``)."""
        return {f"{self.PART}-{i:03d}": name for i, name in enumerate(self.comparisons, start=1)}

    def _write_folder(self, directory: Path, figures: str | Sequence[str] | None) -> Path:
        """Write page, tables, figures and a subfolder for each part, and return `directory`."""
        formats, folders = check_formats(figures), self._map_folders()
        results = list(self.comparisons.values())
        inputs = [result.source for result in results]
        files = {
            "report.html": f"the report, with links to that on each {self.PART}",
            f"tables/{self.PARTS}.csv": f"the folder of each {self.PART}",
            "tables/tables.md": "the tables in Markdown",
            **{f"tables/{name}.csv": text for name, text in self.FRAMES.items()},
        }
        with replace_folder(directory, self._build_provenance(results), inputs=inputs) as output:
            for name in self.FRAMES:
                output.write_csv(f"tables/{name}.csv", getattr(self, name))
            index = pd.DataFrame(folders.items(), columns=["folder", self.PART])
            output.write_csv(f"tables/{self.PARTS}.csv", index)
            tables = [table.to_markdown() for table in self._build_tables()]
            output.write("tables/tables.md", "\n\n".join(tables) + "\n")
            output.write("report.html", self._render_page())
            if formats:
                write_figures(output, self._draw_figures(formats).items())
            write_readme(output, files)
            for folder, result in zip(folders, results, strict=True):
                write_part(result, output, folder, formats=formats)
        return directory

    def _build_provenance(self, results: Sequence[ReportSource]) -> dict[str, Any]:
        """Return the provenance with the settings that all parts share, and the input file if it is one."""
        first, *others = results
        settings = first.settings.items()
        shared = {k: v for k, v in settings if all(other.settings.get(k) == v for other in others)}
        path = first.source if len({result.source for result in results}) == 1 else None
        digest = first.sha256 if path else None
        return make_provenance(self.KIND, shared, seed=shared.get("seed"), source=path, sha256=digest)

    def _render_page(self) -> str:
        """Return the page as an HTML document, with links to the reports of the parts."""
        verdict = getattr(self, "verdict", None)
        colors = screen.color_models(self.ranking["model"].unique().tolist(), verdict)
        items = self._build_page_items(colors)
        phrases = items.pop("phrases")
        charts = screen.list_small_charts(self.comparisons, colors)
        parts = [
            {"folder": f, "name": n, "chart": charts.get(n), **phrases[n]}
            for f, n in self._map_folders().items()
        ]
        context = {
            **build_page_context(verdict, colors, PARTS_ANCHORS),
            "conclusions": self.conclusions,
            "warnings": self.warnings,
            "alpha": f"{self.alpha:g}",
            "views": [build_view(table, *self.FILES[table.name]) for table in self._build_tables()],
            "parts": parts,
            **items,
        }
        return load_templates().get_template(f"{self.PARTS}.html.j2").render(context)
