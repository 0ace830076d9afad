"""Tables, page and folder of a comparison in several parts: data sets or classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import pandas as pd

from skewanova.base.folders import check_formats, make_provenance, replace_folder
from skewanova.base.text import Table, format_section, shorten_names, wrap_lines
from skewanova.report.source import ReportSource, Result, load_templates

#: Id of the table with the numbers of each frame that a verdict cites.
PAGE_ANCHORS = {"pairs": "tables", "ranking": "table-across", "iauprec": "table-datasets"}


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
        """Return template variables of this kind: title, subject, `phrases` by part and, if any, a screen."""

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
        from skewanova.report.document import write_figures, write_part, write_readme

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
        """Return the provenance with the settings and the input file that all parts share."""
        first = results[0]
        shared = {
            name: value
            for name, value in first.settings.items()
            if all(result.settings.get(name) == value for result in results)
        }
        path = first.source if len({result.source for result in results}) == 1 else None
        digest = first.sha256 if path else None
        return make_provenance(self.KIND, shared, seed=shared.get("seed"), source=path, sha256=digest)

    def _render_page(self) -> str:
        """Return the page as an HTML document, with links to the reports of the parts."""
        from skewanova.report.document import build_page_context, build_view
        from skewanova.report.screen import color_models, list_small_charts

        verdict = getattr(self, "verdict", None)
        colors = color_models(list(dict.fromkeys(map(str, self.ranking["model"]))), verdict)
        items = self._build_page_items(colors)
        phrases = items.pop("phrases")
        charts = list_small_charts(self.comparisons, colors)
        parts = [
            {"folder": f, "name": n, "chart": charts.get(n), **phrases[n]}
            for f, n in self._map_folders().items()
        ]
        context = {
            **build_page_context(verdict, colors, PAGE_ANCHORS),
            "conclusions": self.conclusions,
            "warnings": self.warnings,
            "alpha": f"{self.alpha:g}",
            "views": [build_view(table, *self.FILES[table.name]) for table in self._build_tables()],
            "parts": parts,
            **items,
        }
        return load_templates().get_template(f"{self.PARTS}.html.j2").render(context)
