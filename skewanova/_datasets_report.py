"""The output folder of a comparison on several data sets: one numbered folder each, and the whole."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import pandas as pd

from skewanova._datasets_tables import AcrossSource, across_tables
from skewanova._document import ReportSource, environment, script, view
from skewanova._folder import whole_folder
from skewanova.report import FILES, write_folder

ACROSS_FILES = ("iauprec", "anova", "posthoc", "hierarchical", "ranking")
KIND = "comparison on several data sets"
OWN_FILES = (
    *(f"{name}.csv" for name in ACROSS_FILES), "datasets.csv", "report.html", "tables.md", "provenance.json"
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
    earlier = len([p for p in directory.glob("dataset-*") if p.is_dir()])
    numbers = range(1, max(earlier, len(source.comparisons)) + 1)
    inside = {f"{folder_name(n)}/{name}" for n in numbers for name in FILES}
    figures = {f"{folder_name(n)}/figures" for n in numbers}
    with whole_folder(directory, files={*OWN_FILES, *inside, *figures}, is_ours=_is_ours) as folder:
        for name in ACROSS_FILES:
            frame: pd.DataFrame = getattr(source, name)
            frame.to_csv(folder / f"{name}.csv", index=False)
        _contents(source).to_csv(folder / "datasets.csv", index=False)
        tables = across_tables(source)
        text = "\n\n".join(table.to_markdown() for table in tables)
        (folder / "tables.md").write_text(text + "\n", encoding="utf-8")
        (folder / "report.html").write_text(_page(source), encoding="utf-8")
        settings = {"kind": KIND, "alpha": source.alpha, "deployment_prior": source.deployment_prior}
        (folder / "provenance.json").write_text(json.dumps(settings, indent=2) + "\n", encoding="utf-8")
        for number, result in enumerate(source.comparisons.values(), start=1):
            write_folder(result, folder / folder_name(number), formats=("svg",))
    return directory


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


def _is_ours(directory: Path) -> bool:
    """Whether an earlier output of this kind stands there."""
    try:
        known = json.loads((directory / "provenance.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(known, dict) and known.get("kind") == KIND
