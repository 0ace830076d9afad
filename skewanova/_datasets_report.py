"""The output folder of a comparison on several data sets: one numbered folder each, and the whole."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from skewanova._datasets_tables import AcrossSource, across_tables
from skewanova._document import ReportSource, environment, script, view
from skewanova._folder import PROVENANCE, provenance_of, whole_folder
from skewanova.report import write_part

ACROSS_FILES = ("iauprec", "anova", "posthoc", "hierarchical", "ranking")
KIND = "comparison on several data sets"
OWN_FILES = (
    *(f"{name}.csv" for name in ACROSS_FILES), "datasets.csv", "report.html", "tables.md", PROVENANCE
)  # fmt: skip
#: Files that hold the numbers of each table across data sets.
TABLE_FILES = {
    "across": ("ranking.csv", "anova.csv", "posthoc.csv"),
    "datasets": ("iauprec.csv",),
    "hierarchical": ("hierarchical.csv",),
}


class FolderSource(AcrossSource, Protocol):
    """What the folder needs of a comparison on several data sets."""

    @property
    def comparisons(self) -> Mapping[str, ReportSource]:
        """Comparison on each data set."""

    @property
    def conclusions(self) -> tuple[str, ...]:
        """What was found, in words."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to keep in mind."""

    @property
    def deployment_prior(self) -> str:
        """The weighting, in words."""


def write_datasets_folder(source: FolderSource, directory: Path) -> Path:
    """Write the folder, whole or not at all.

    Parameters
    ----------
    source : DatasetsComparison
        What to write.
    directory : path
        The folder; an earlier output there is replaced.

    Returns
    -------
    Path
        The folder.
    """
    provenance = _provenance(source)
    inputs = [result.source for result in source.comparisons.values()]
    with whole_folder(directory, provenance, inputs=inputs) as output:
        for name in ACROSS_FILES:
            output.write_csv(f"{name}.csv", getattr(source, name))
        output.write_csv("datasets.csv", _contents(source))
        text = "\n\n".join(table.to_markdown() for table in across_tables(source))
        output.write("tables.md", text + "\n")
        output.write("report.html", _page(source))
        for number, result in enumerate(source.comparisons.values(), start=1):
            write_part(result, output, folder_name(number), formats=("svg",))
    return directory


def _provenance(source: FolderSource) -> dict[str, Any]:
    """That of all data sets; settings that differ between them are in the folder of each."""
    results = list(source.comparisons.values())
    first = results[0]
    shared = {
        name: value
        for name, value in first.settings.items()
        if all(result.settings.get(name) == value for result in results)
    }
    path = first.source if len({result.source for result in results}) == 1 else None
    digest = first.sha256 if path else None
    return provenance_of(KIND, shared, seed=first.settings.get("seed"), source=path, sha256=digest)


def folder_name(number: int) -> str:
    """Folder of a data set: its name is data and stays out of paths."""
    return f"dataset-{number:03d}"


def _contents(source: FolderSource) -> pd.DataFrame:
    """Which folder holds which data set."""
    names = list(source.comparisons)
    return pd.DataFrame({"folder": [folder_name(n) for n in range(1, len(names) + 1)], "dataset": names})


def _page(source: FolderSource) -> str:
    """The page across data sets, in the looks of the report on each."""
    names = _contents(source).itertuples(index=False)
    advised = zip(names, source.comparisons.values(), strict=True)
    context = {
        "title": f"Comparison of {len(source.ranking)} classifiers on {len(source.comparisons)} data sets",
        "version": version("skewanova"),
        "conclusions": source.conclusions,
        "warnings": source.warnings,
        "deployment_prior": source.deployment_prior,
        "alpha": f"{source.alpha:g}",
        "views": [view(table, *TABLE_FILES[table.name]) for table in across_tables(source)],
        "datasets": [
            {"folder": folder, "name": name, "advice": result.advice} for (folder, name), result in advised
        ],
        **script(),
    }
    return environment().get_template("datasets.html.j2").render(context)
