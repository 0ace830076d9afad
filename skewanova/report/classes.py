"""Tables, page and folder of a comparison of several classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from skewanova.base.folders import check_formats, provenance_of, whole_folder
from skewanova.base.frames import Framed, records
from skewanova.base.text import Table, format_p, limits, number, table_of
from skewanova.decision.verdict import class_choice
from skewanova.report.datasets import shared_provenance
from skewanova.report.source import ReportSource, control_of

CLASSES_FILES = ("anova", "posthoc", "ranking")


KIND = "comparison of several classes"


#: Files that hold the numbers of each table of all classes.
TABLE_FILES = {"classes": ("ranking.csv",), "class_pairs": ("posthoc.csv", "anova.csv")}


@dataclass(frozen=True, eq=False)
class ClassesSource(Framed):
    """What tables, page and folder are made of: the frames of a comparison of several classes.

    See :class:`~skewanova.comparison.classes.ClassesComparison`.
    """

    comparisons: Mapping[str, ReportSource] = field(repr=False)
    anova: pd.DataFrame = field(repr=False)
    posthoc: pd.DataFrame = field(repr=False)
    ranking: pd.DataFrame
    alpha: float
    warnings: tuple[str, ...]

    @property
    @abstractmethod
    def conclusions(self) -> tuple[str, ...]:
        """What was found, in words."""

    @property
    def choices(self) -> dict[str, str]:
        """What to deploy for each class, by the pairs of all classes together."""
        return {
            name: class_choice(
                [str(model) for model in result.ranking["model"]],
                list(records(self.posthoc[self.posthoc["class"] == name])),
                result.verdict,
                control=control_of(result),
            )
            for name, result in self.comparisons.items()
        }


def classes_tables(source: ClassesSource) -> tuple[Table, ...]:
    """Ranking and pairs of every class."""
    level = f"{100 * (1 - source.alpha):g} %"
    return (
        table_of(
            "classes",
            "Ranking of every class against the rest",
            source.ranking.rename(columns={"class": "label"}),
            {
                "Class": lambda row: str(row.label),
                "Model": lambda row: row.model,
                "IAUPREC": number("iauprec"),
                f"{level} interval": limits,
                "Group": lambda row: row.group,
            },
            note="Intervals are each model's own. Models of a class that share a letter were not found to "
            "differ, all classes and pairs together.",
        ),
        table_of(
            "class_pairs",
            "Pairs of models, class by class",
            source.posthoc.rename(columns={"class": "label"}),
            {
                "Class": lambda row: str(row.label),
                "Pair": lambda row: f"{row.model_a} - {row.model_b}",
                "Difference": number("estimate"),
                "Interval": limits,
                "Adjusted p": lambda row: format_p(row.p_adjusted),
            },
            note="p is adjusted over all classes and pairs together; an interval leaves out 0 exactly where "
            f"adjusted p is below {source.alpha:g}.",
        ),
    )


def write_classes_folder(
    source: ClassesSource, directory: Path, *, figures: str | Sequence[str] = ("svg",)
) -> Path:
    """Write the folder, whole or not at all."""
    from skewanova.report.folder import write_part  # drawing is heavy: loaded when something is drawn

    formats, results = check_formats(figures), list(source.comparisons.values())
    shared, path, digest = shared_provenance(results)
    provenance = provenance_of(KIND, shared, seed=shared.get("seed"), source=path, sha256=digest)
    with whole_folder(directory, provenance, inputs=[result.source for result in results]) as output:
        for name in CLASSES_FILES:
            output.write_csv(f"{name}.csv", getattr(source, name))
        output.write_csv("classes.csv", _contents(source))
        text = "\n\n".join(table.to_markdown() for table in classes_tables(source))
        output.write("tables.md", text + "\n")
        output.write("report.html", _page(source))
        for place, result in enumerate(results, start=1):
            write_part(result, output, folder_name(place), formats=formats)
    return directory


def folder_name(place: int) -> str:
    """Folder of a class: its name is data and stays out of paths."""
    return f"class-{place:03d}"


def _contents(source: ClassesSource) -> pd.DataFrame:
    """Which folder holds which class."""
    names = list(source.comparisons)
    return pd.DataFrame({"folder": [folder_name(n) for n in range(1, len(names) + 1)], "class": names})


def _page(source: ClassesSource) -> str:
    """The page of all classes, in the looks of the report on each."""
    from skewanova.report.document import environment, script, view

    choices = source.choices
    context: dict[str, Any] = {
        "title": f"Comparison of classifiers of {len(choices)} classes",
        "version": version("skewanova"),
        "conclusions": source.conclusions,
        "warnings": source.warnings,
        "alpha": f"{source.alpha:g}",
        "views": [view(table, *TABLE_FILES[table.name]) for table in classes_tables(source)],
        "classes": [
            {"folder": row.folder, "name": name, "prior": prior, "choose": choices[name]}
            for row, (name, prior) in zip(records(_contents(source)), priors_of(source).items(), strict=True)
        ],
        "linked": True,
        **script(),
    }
    return environment().get_template("classes.html.j2").render(context)


def priors_of(source: ClassesSource) -> dict[str, str]:
    """Deployment prior of every class in words."""
    return {
        name: result.evaluation.deployment_prior.describe() for name, result in source.comparisons.items()
    }
