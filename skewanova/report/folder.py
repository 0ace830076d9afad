"""The output folder of a comparison: the page, its tables and, if asked for, figures."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO
from pathlib import Path

import pandas as pd

from skewanova.base.folders import (
    PROVENANCE,
    Output,
    Provenance,
    check_formats,
    make_provenance,
    replace_folder,
)
from skewanova.report.document import render_page, write_title
from skewanova.report.methods import find_references, write_bibtex, write_methods
from skewanova.report.publication import build_report_tables, write_latex_file
from skewanova.report.source import FRAMES, ReportSource

#: Frames of curves, which are written as Parquet because they have many rows.
CURVE_FRAMES = frozenset({"auprec_by_prior", "precision_recall", "regret", "roc", "skew", "surface"})


#: Frames of an estimated prior.
PRIOR_FRAMES = {"prior": "the estimated prior by model", "bins": "labelled and unlabelled cases by score"}


#: Files of every output.
FILES = {
    "report.html": "the report, for any browser",
    PROVENANCE: "versions, settings, input and the SHA-256 of each file",
    "tables/tables.tex": "tables for a paper, in LaTeX",
    "tables/tables.md": "the same tables in Markdown",
    "tables/references.bib": "works cited by the methods section",
}


def write_folder(
    source: ReportSource, directory: str | os.PathLike[str], *, figures: str | Sequence[str] | None = None
) -> Path:
    """Write the page, all tables and figures to a folder; see :meth:`Comparison.save`."""
    provenance, formats = build_provenance(source), check_formats(figures)
    with replace_folder(directory, provenance, inputs=[source.source]) as output:
        write_files(output, source, provenance, formats)
    return Path(directory)


def write_part(source: ReportSource, output: Output, name: str, *, formats: Sequence[str]) -> None:
    """Write a comparison to a subfolder, with its own provenance."""
    part, provenance = output.make_subfolder(name), build_provenance(source)
    write_files(part, source, provenance, formats)
    part.write_manifest(provenance)


def write_files(output: Output, source: ReportSource, provenance: Provenance, formats: Sequence[str]) -> None:
    """Write all files; the figures come last, because they take most of the time."""
    files = dict(FILES)
    for name, frame in [*source.tables.items(), *source.prior_frames.items()]:
        file = f"tables/{name}.{'parquet' if name in CURVE_FRAMES else 'csv'}"
        files[file] = {**FRAMES, **PRIOR_FRAMES}[name]
        if name in CURVE_FRAMES:
            output.write(file, format_parquet(frame))
        else:
            output.write_csv(file, frame)
    output.write("tables/tables.tex", write_latex_file(source))
    tables = (table.to_markdown() for table in build_report_tables(source).values())
    output.write("tables/tables.md", "\n\n".join([f"# {write_title(source)}", *tables]) + "\n")
    output.write("tables/references.bib", write_bibtex(find_references(write_methods(source))))
    output.write("report.html", render_page(source, provenance))
    if formats:
        from skewanova.report.figures import FIGURES, draw_figures  # imports matplotlib

        names = write_figures(output, draw_figures(source, formats))
        files |= {f"figures/{name}": FIGURES[name].text for name in names}
    write_readme(output, files)


def format_parquet(frame: pd.DataFrame) -> bytes:
    """Return a frame as Parquet."""
    buffer = BytesIO()
    frame.to_parquet(buffer, index=False)
    return buffer.getvalue()


def write_figures(output: Output, figures: Iterable[tuple[str, Mapping[str, bytes]]]) -> list[str]:
    """Write each figure in its formats, and return the names."""
    names = []
    for name, pictures in figures:
        for suffix, content in pictures.items():
            output.write(f"figures/{name}.{suffix}", content)
        names.append(name)
    return names


def write_readme(output: Output, files: Mapping[str, str]) -> None:
    """Write README.txt, with a line on each file."""
    width = max(map(len, files)) + 2
    output.write("README.txt", "".join(f"{name:{width}}{text}\n" for name, text in files.items()))


def build_provenance(source: ReportSource) -> Provenance:
    """Return the record of how a comparison was made."""
    seed, path = source.settings.get("seed"), source.source
    return make_provenance("comparison", source.settings, seed=seed, source=path, sha256=source.sha256)
