"""The output folder of a comparison: CSV files, tables, figures and the report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from skewanova.base.folders import Output, Provenance, check_formats, make_provenance, replace_folder
from skewanova.report.document import render_page, write_title
from skewanova.report.figures import draw_figures
from skewanova.report.methods import find_references, write_bibtex, write_methods
from skewanova.report.publication import build_publication_tables, write_latex_file
from skewanova.report.source import ReportSource


def write_folder(
    source: ReportSource, directory: str | os.PathLike[str], *, figures: str | Sequence[str] = ("svg",)
) -> Path:
    """Write all frames, tables, figures and the report to a folder; see :meth:`Comparison.save`."""
    provenance, formats = _build_provenance(source), check_formats(figures)
    with replace_folder(directory, provenance, inputs=[source.source]) as output:
        write_files(output, source, provenance, formats)
    return Path(directory)


def write_part(source: ReportSource, output: Output, name: str, *, formats: Sequence[str]) -> None:
    """Write a comparison to a subfolder, with its own provenance."""
    part, provenance = output.make_subfolder(name), _build_provenance(source)
    write_files(part, source, provenance, formats)
    part.write_manifest(provenance)


def write_files(output: Output, source: ReportSource, provenance: Provenance, formats: Sequence[str]) -> None:
    """Write all files; the figures come last, because they take most of the time."""
    for name, frame in [*source.tables.items(), *source.prior_frames.items()]:
        output.write_csv(f"{name}.csv", frame)
    output.write("tables.tex", write_latex_file(source))
    tables = (table.to_markdown() for table in build_publication_tables(source).values())
    output.write("tables.md", "\n\n".join([f"# {write_title(source)}", *tables]) + "\n")
    output.write("references.bib", write_bibtex(find_references(write_methods(source))))
    figures = draw_figures(source, ("svg", *formats)) if formats else ()
    drawings = write_figures(output, figures, formats)
    output.write("report.html", render_page(source, drawings, provenance))


def write_figures(
    output: Output, figures: Iterable[tuple[str, Mapping[str, bytes]]], formats: Sequence[str]
) -> dict[str, bytes]:
    """Write each figure in the formats, and return all as SVG for the page."""
    drawings = {}
    for name, pictures in figures:
        for suffix in formats:
            output.write(f"figures/{name}.{suffix}", pictures[suffix])
        drawings[name] = pictures["svg"]
    return drawings


def _build_provenance(source: ReportSource) -> Provenance:
    seed, path = source.settings.get("seed"), source.source
    return make_provenance("comparison", source.settings, seed=seed, source=path, sha256=source.sha256)
