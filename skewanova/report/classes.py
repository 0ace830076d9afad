"""Tables, page and folder of a comparison of several classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from skewanova.base.folders import check_formats
from skewanova.base.frames import records
from skewanova.base.text import Table, format_p, limits, number, table_of
from skewanova.report.parts import Parts, PartsSource, parts_folder, parts_page
from skewanova.report.source import ReportSource, control_of
from skewanova.report.verdict_text import class_choice

#: Frames and files of all classes.
ALL_CLASSES = Parts(
    one="class",
    several="classes",
    kind="comparison of several classes",
    frames=("tests", "pairs", "ranking"),
    files={"classes": ("ranking.csv",), "class_pairs": ("pairs.csv", "tests.csv")},
)


@dataclass(frozen=True, eq=False)
class ClassesSource(PartsSource):
    """What tables, page and folder are made of: the frames of a comparison of several classes.

    See :class:`~skewanova.comparison.classes.ClassesComparison`.
    """

    comparisons: Mapping[str, ReportSource] = field(repr=False)
    tests: pd.DataFrame = field(repr=False)
    pairs: pd.DataFrame = field(repr=False)
    ranking: pd.DataFrame
    alpha: float
    warnings: tuple[str, ...]

    @property
    def choices(self) -> dict[str, str]:
        """What to deploy for each class, by the pairs of all classes together."""
        return {
            name: class_choice(
                [str(model) for model in result.ranking["model"]],
                list(records(self.pairs[self.pairs["class"] == name])),
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
            source.pairs.rename(columns={"class": "label"}),
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
    formats, tables = check_formats(figures), classes_tables(source)
    with parts_folder(source, directory, ALL_CLASSES, tables=tables, formats=formats) as output:
        choices, priors = source.choices, priors_of(source)
        title = f"Comparison of classifiers of {len(choices)} classes"
        said = {name: {"choose": choices[name], "prior": priors[name]} for name in choices}
        output.write("report.html", parts_page(source, ALL_CLASSES, tables=tables, said=said, title=title))
    return directory


def priors_of(source: ClassesSource) -> dict[str, str]:
    """Deployment prior of every class in words."""
    return {
        name: result.evaluation.deployment_prior.describe() for name, result in source.comparisons.items()
    }
