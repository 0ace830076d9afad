"""One self-contained HTML document, and the output folder with every table and figure."""

from __future__ import annotations

import csv
import json
import os
import platform
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skewanova import tables
from skewanova._checks import InputError
from skewanova._document import ReportSource, alpha_of, render, title
from skewanova._figures import FORMATS, KINDS, draw_figures
from skewanova._folder import whole_folder
from skewanova._rendering import Table

__all__ = ["ReportSource", "render_html", "write_folder"]

#: The frame that each file of numbers holds.
CSV_FILES = {
    "auprec.csv": "auprec",
    "iauprec.csv": "iauprec",
    "anova.csv": "anova",
    "posthoc.csv": "posthoc",
    "prior_differences.csv": "prior_posthoc",
    "ranking.csv": "ranking",
    "regions.csv": "regions",
    "crossings.csv": "crossings",
    "leaders.csv": "leaders",
    "decisions.csv": "decisions",
    "choices.csv": "choices",
    "support.csv": "support",
    "differences.csv": "differences",
    "practical.csv": "practical",
    "checks.csv": "checks",
}
FIGURE_FILES = tuple(f"figures/{kind}.{name}" for kind in KINDS for name in FORMATS)
FILES = frozenset({*CSV_FILES, *FIGURE_FILES, "report.html", "tables.tex", "tables.md", "provenance.json"})
VERSIONS = ("skewanova", "numpy", "scipy", "pandas", "statsmodels", "matplotlib", "seaborn")
#: Longer tables would run off a printed page: in LaTeX they are cut into several.
LATEX_ROWS = 36
LATEX_HEAD = r"""% Tables of a comparison by skewanova, to be read in with \input.
% Needs \usepackage{booktabs}, \usepackage{graphicx} and \usepackage[T1]{fontenc}.
% Names in scripts other than Latin need LuaLaTeX or XeLaTeX and a font that has them.
\providecommand{\skewanovafit}[1]{% too wide a table is scaled down to the line
  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}
"""


def render_html(source: ReportSource) -> str:
    """Return the report as one HTML document that needs no other file and no network.

    Parameters
    ----------
    source : Comparison
        What to report.

    Returns
    -------
    str
        The document. Two calls give the same text within a second, or at any time while the environment
        variable ``SOURCE_DATE_EPOCH`` is set.

    Examples
    --------
    >>> import warnings
    >>> from skewanova import compare, load_satellite_scores
    >>> from skewanova.report import render_html
    >>> result = compare(load_satellite_scores(), priors=(0.5, 0.2))
    >>> "<title>Comparison of 3 classifiers</title>" in render_html(result)
    True
    """
    drawn = {kind: pictures["svg"] for kind, pictures in draw_figures(source, ("svg",))}
    return render(source, drawn, _provenance(source))


def write_folder(source: ReportSource, directory: str | os.PathLike[str]) -> Path:
    """Write every table, figure and the report to a folder, whole or not at all.

    Parameters
    ----------
    source : Comparison
        What to report.
    directory : path
        Folder to write; missing parents are made. An empty folder or an earlier output is replaced.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    ValueError
        If a file or a folder with anything else stands there, or a name cannot be written as UTF-8. Whatever
        is raised, the folder is as it was.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewanova import compare, load_satellite_scores
    >>> from skewanova.report import write_folder
    >>> result = compare(load_satellite_scores(), priors=(0.5, 0.2))
    >>> with tempfile.TemporaryDirectory() as place:
    ...     folder = write_folder(result, Path(place) / "out")
    ...     sorted(path.name for path in folder.glob("*.csv"))[:3]
    ['anova.csv', 'auprec.csv', 'checks.csv']
    """
    try:
        with whole_folder(directory, files=FILES, is_ours=_is_ours) as folder:
            _write_files(source, folder)
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise InputError(
            f"names must be text that can be written as UTF-8, but one holds {bad!a}; rename it"
        ) from error
    return Path(directory)


def _is_ours(folder: Path) -> bool:
    """Whether the folder's provenance.json says that this package wrote it."""
    try:
        found = json.loads((folder / "provenance.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("tool") == "skewanova"


def _write_files(source: ReportSource, folder: Path) -> None:
    """Numbers and tables first: they are quick, and whatever is wrong with a name shows in them."""
    for name, attribute in CSV_FILES.items():
        _write_text(folder / name, _csv_text(getattr(source, attribute)))
    _write_text(folder / "tables.tex", _latex_text(source))
    _write_text(folder / "tables.md", _markdown_text(source))
    provenance = _provenance(source)
    _write_text(folder / "provenance.json", json.dumps(provenance, indent=2, default=_plain) + "\n")
    drawn = {}
    (folder / "figures").mkdir()
    for kind, pictures in draw_figures(source, FORMATS):
        for name, picture in pictures.items():
            (folder / "figures" / f"{kind}.{name}").write_bytes(picture)
        drawn[kind] = pictures["svg"]
    _write_text(folder / "report.html", render(source, drawn, provenance))


def _write_text(path: Path, text: str) -> None:
    """The same bytes on every system."""
    path.write_bytes(text.encode("utf-8"))


def _csv_text(frame: pd.DataFrame) -> str:
    """Comma-separated values, floats in full; a bare carriage return in a name would end its row."""
    text: str = frame.to_csv(index=False, lineterminator="\n")
    if "\r" in text:
        text = frame.to_csv(index=False, lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
    return text


def _tables(source: ReportSource) -> dict[str, Table]:
    """Every table, in the order of the report."""
    alpha = alpha_of(source)
    shown = {
        "ranking": tables.ranking_table(source.ranking, 1 - alpha),
        "performance": tables.performance_table(source.auprec, source.iauprec, source.ranking),
        "regions": tables.regions_table(source.regions),
        "anova": tables.anova_table(source.anova),
        "pairs": tables.posthoc_table(source.posthoc, alpha),
        "practical": tables.practical_table(source.practical),
        "checks": tables.checks_table(source.checks),
    }
    if len(source.prior_posthoc):
        shown["prior_pairs"] = tables.prior_pairs_table(source.prior_posthoc, alpha)
    return shown


def _markdown_text(source: ReportSource) -> str:
    parts = [f"# {title(source)}", *(t.to_markdown() for t in _tables(source).values())]
    return "\n\n".join(parts) + "\n"


def _latex_text(source: ReportSource) -> str:
    """Every table as a float that fits a page."""
    floats = [_fitted(part.to_latex()) for table in _tables(source).values() for part in _parts(table)]
    return "\n".join([LATEX_HEAD, *floats])


def _fitted(text: str) -> str:
    """The float in small print, its table scaled down where it is wider than the line."""
    text = text.replace("\\centering\n", "\\centering\\footnotesize\n")
    text = text.replace("\\begin{tabular}", "\\skewanovafit{%\n\\begin{tabular}")
    return text.replace("\\end{tabular}", "\\end{tabular}}")


def _parts(table: Table) -> Iterator[Table]:
    """The table, cut where it would run off a page."""
    for turn, start in enumerate(range(0, max(len(table.rows), 1), LATEX_ROWS)):
        end = start + LATEX_ROWS
        yield replace(
            table,
            name=f"{table.name}-{turn + 1}" if turn else table.name,
            caption=f"{table.caption} (continued)" if turn else table.caption,
            rows=table.rows[start:end],
            bold=frozenset((i - start, j) for i, j in table.bold if start <= i < end),
        )


def _provenance(source: ReportSource) -> dict[str, Any]:
    """What made this output: read back to tell an earlier output from anything else."""
    now = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return {
        "tool": "skewanova",
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
        "input": {"name": source.source.name if source.source else None, "sha256": source.sha256},
        "seed": source.settings.get("seed"),
        "settings": dict(source.settings),
        "versions": {"python": platform.python_version(), **{name: version(name) for name in VERSIONS}},
    }


def _plain(value: object) -> object:
    """A numpy number or array as JSON has it, anything else in words."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)
