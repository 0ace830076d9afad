"""One self-contained HTML document, and the output folder with every table and figure."""

from __future__ import annotations

import csv
import json
import os
import platform
import time
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skewanova._checks import InputError
from skewanova._document import ReportSource, methods_of, render, title
from skewanova._figures import FORMATS, KINDS, draw_figures
from skewanova._folder import is_output, whole_folder
from skewanova._methods import bibtex, cited
from skewanova._publication import latex_file, publication_tables

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
    "plans.csv": "plans",
    "differences.csv": "differences",
    "practical.csv": "practical",
    "checks.csv": "checks",
}
#: Points of the curves that the figures show.
CURVE_FILES = {
    "roc.csv": "roc_points",
    "precision_recall.csv": "precision_recall_points",
    "auprec_by_prior.csv": "auprec_by_prior",
    "auprec_intervals.csv": "auprec_intervals",
    "regret.csv": "regret_by_prior",
    "surface.csv": "surface_points",
    "skew.csv": "operating_points",
    "residuals.csv": "residuals",
}
FIGURE_FILES = tuple(f"figures/{kind}.{name}" for kind in KINDS for name in FORMATS)
TEXT_FILES = ("report.html", "tables.tex", "tables.md", "references.bib", "provenance.json")
FILES = frozenset({*CSV_FILES, *CURVE_FILES, *FIGURE_FILES, *TEXT_FILES})
VERSIONS = ("skewanova", "numpy", "scipy", "pandas", "statsmodels", "matplotlib", "seaborn")


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


def write_folder(
    source: ReportSource, directory: str | os.PathLike[str], *, formats: Sequence[str] = FORMATS
) -> Path:
    """Write every table, figure and the report to a folder, whole or not at all.

    Parameters
    ----------
    source : Comparison
        What to report.
    directory : path
        Folder to write; missing parents are made. An empty folder or an earlier output is replaced.
    formats : sequence of str, default ("svg", "png")
        Files of each figure, svg among them, which the report shows; drawing takes most of the time.

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
    ['anova.csv', 'auprec.csv', 'auprec_by_prior.csv']
    """
    try:
        with whole_folder(directory, files=FILES, is_ours=is_output) as folder:
            _write_files(source, folder, formats)
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise InputError(
            f"names must be text that can be written as UTF-8, but one holds {bad!a}; rename it"
        ) from error
    return Path(directory)


def _write_files(source: ReportSource, folder: Path, formats: Sequence[str]) -> None:
    """Numbers and tables first: they are quick, and whatever is wrong with a name shows in them."""
    for name, attribute in {**CSV_FILES, **CURVE_FILES}.items():
        _write_text(folder / name, _csv_text(getattr(source, attribute)))
    _write_text(folder / "tables.tex", latex_file(source))
    _write_text(folder / "tables.md", _markdown_text(source))
    _write_text(folder / "references.bib", bibtex(cited(methods_of(source))))
    provenance = _provenance(source)
    _write_text(folder / "provenance.json", json.dumps(provenance, indent=2, default=_plain) + "\n")
    drawn = {}
    (folder / "figures").mkdir()
    for kind, pictures in draw_figures(source, formats):
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


def _markdown_text(source: ReportSource) -> str:
    parts = [f"# {title(source)}", *(t.to_markdown() for t in publication_tables(source).values())]
    return "\n\n".join(parts) + "\n"


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
