"""Tables, page and folder across data sets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from skewanova.base.folders import PROVENANCE, check_formats, provenance_of, whole_folder
from skewanova.base.frames import Framed, records
from skewanova.base.text import (
    Table,
    format_p,
    interval,
    limits,
    number,
    p_words,
    table_of,
    with_error,
)
from skewanova.decision.verdict import Verdict, datasets_verdict
from skewanova.report.source import ReportSource, control_of

if TYPE_CHECKING:
    from skewanova.report.document import Picture

#: More pairs than these are counted.
MOST_LISTED = 3


@dataclass(frozen=True, eq=False)
class DatasetsSource(Framed):
    """What tables, page and folder are made of: the frames of a comparison on several data sets.

    See :class:`~skewanova.comparison.datasets.DatasetsComparison`.
    """

    comparisons: Mapping[str, ReportSource] = field(repr=False)
    iauprec: pd.DataFrame = field(repr=False)
    anova: pd.DataFrame = field(repr=False)
    posthoc: pd.DataFrame = field(repr=False)
    hierarchical: pd.DataFrame = field(repr=False)
    ranking: pd.DataFrame
    alpha: float
    deployment_prior: str
    warnings: tuple[str, ...]

    @cached_property
    def verdict(self) -> Verdict:
        """Which model to deploy across data sets, how sure that is, and what is weakest about it."""
        pairs = self.posthoc[self.posthoc["role"] == "headline"]
        control = control_of(next(iter(self.comparisons.values())))
        return datasets_verdict(self.ranking, pairs, self.iauprec, control=control)

    @property
    @abstractmethod
    def conclusions(self) -> tuple[str, ...]:
        """What was found, in words."""


def across_tables(source: DatasetsSource) -> tuple[Table, ...]:
    """Ranking, mean IAUPREC by data set, and the hierarchical comparison."""
    return _ranking(source.ranking), _means(source), _hierarchical(source.hierarchical, source.alpha)


def hierarchical_sentences(hierarchical: pd.DataFrame, alpha: float, names: Mapping[str, str]) -> list[str]:
    """Say what the meta-analysis found of each pair that differs, or that none does."""
    found = []
    for row in records(hierarchical[hierarchical["reject"].astype(bool)]):
        ahead, behind = (row.model_a, row.model_b) if row.estimate >= 0 else (row.model_b, row.model_a)
        found.append(
            f"Meta-analysis: {names[ahead]} is ahead of {names[behind]} by {abs(row.estimate):.3f} on "
            f"average over data sets (adjusted {p_words(row.p_adjusted)})."
        )
    untested = list(records(hierarchical[hierarchical["p_adjusted"].isna()]))
    if not found and len(untested) < len(hierarchical):
        some = "no two models" if not untested else "no two of the models it could test"
        found.append(f"Meta-analysis: {some} were found to differ on average at {alpha:g}.")
    if untested:
        pairs = "the models" if len(untested) == len(hierarchical) else _listed(untested, names)
        found.append(
            f"Meta-analysis: {pairs} could not be tested, because in some data set their difference does not "
            "vary, or how it varies is not known."
        )
    return found


def _listed(rows: Sequence[Any], names: Mapping[str, str]) -> str:
    """The first pairs, and how many more."""
    shown = [f"{names[row.model_a]} and {names[row.model_b]}" for row in rows[:MOST_LISTED]]
    return "; ".join(shown) + (f"; {len(rows) - MOST_LISTED} more" if len(rows) > MOST_LISTED else "")


def _ranking(ranking: pd.DataFrame) -> Table:
    return table_of(
        "across",
        "Ranking across data sets",
        ranking,
        {
            "Model": lambda row: row.model,
            "Mean rank": number("mean_rank", 2),
            "Mean IAUPREC": number("iauprec"),
            "Best on": lambda row: f"{row.n_best}",
            "Group": lambda row: row.group,
        },
        note="Best on: number of data sets. Models that share a letter were not found to differ.",
    )


def _means(source: DatasetsSource) -> Table:
    models = source.ranking["model"].tolist()
    rows = []
    for name, group in source.iauprec.groupby("dataset", sort=False, observed=True):
        found = {row.model: row for row in records(group)}
        cells = [with_error(found[m].iauprec, found[m].std_error) for m in models]
        rows.append((str(name), *cells))
    return Table(
        "datasets", "Mean IAUPREC (corrected standard error) by data set", ("Data set", *models), tuple(rows)
    )


def _hierarchical(hierarchical: pd.DataFrame, alpha: float) -> Table:
    return table_of(
        "hierarchical",
        "Random-effects meta-analysis of differences across data sets",
        hierarchical,
        {
            "Pair": lambda row: f"{row.model_a} - {row.model_b}",
            "Difference": number("estimate"),
            f"{100 * (1 - alpha):g} % interval": limits,
            "Adjusted p": lambda row: format_p(row.p_adjusted),
            "Between (SD)": number("tau"),
            "A new data set": lambda row: interval(row.prediction_low, row.prediction_high),
        },
        note="Intervals are each pair's own; p is adjusted by Holm. A new data set: where its true "
        "difference is expected, at the same level.",
    )


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


def write_datasets_folder(
    source: DatasetsSource, directory: Path, *, figures: str | Sequence[str] = ("svg",)
) -> Path:
    """Write the folder, whole or not at all."""
    from skewanova.report.folder import write_part  # drawing is heavy: loaded when something is drawn

    provenance, formats = _provenance(source), check_formats(figures)
    inputs = [result.source for result in source.comparisons.values()]
    with whole_folder(directory, provenance, inputs=inputs) as output:
        for name in ACROSS_FILES:
            output.write_csv(f"{name}.csv", getattr(source, name))
        output.write_csv("datasets.csv", _contents(source))
        text = "\n\n".join(table.to_markdown() for table in across_tables(source))
        output.write("tables.md", text + "\n")
        drawn = _drawn(source, formats) if formats else {}
        for name in formats:
            output.write(f"figures/across.{name}", drawn[name])
        output.write("report.html", _page(source, drawn.get("svg")))
        for number, result in enumerate(source.comparisons.values(), start=1):
            write_part(result, output, folder_name(number), formats=formats)
    return directory


def _provenance(source: DatasetsSource) -> dict[str, Any]:
    """That of all data sets."""
    shared, path, digest = shared_provenance(list(source.comparisons.values()))
    return provenance_of(KIND, shared, seed=shared.get("seed"), source=path, sha256=digest)


def shared_provenance(results: Sequence[ReportSource]) -> tuple[dict[str, Any], Path | None, str | None]:
    """Settings and input that comparisons have in common; what differs is in the folder of each."""
    first = results[0]
    shared = {
        name: value
        for name, value in first.settings.items()
        if all(result.settings.get(name) == value for result in results)
    }
    path = first.source if len({result.source for result in results}) == 1 else None
    return shared, path, first.sha256 if path else None


def folder_name(number: int) -> str:
    """Folder of a data set: its name is data and stays out of paths."""
    return f"dataset-{number:03d}"


def _contents(source: DatasetsSource) -> pd.DataFrame:
    """Which folder holds which data set."""
    names = list(source.comparisons)
    return pd.DataFrame({"folder": [folder_name(n) for n in range(1, len(names) + 1)], "dataset": names})


def _drawn(source: DatasetsSource, formats: Sequence[str]) -> dict[str, bytes]:
    """The figure across data sets, for the page and for the folder."""
    from skewanova.report.figures import across_pictures

    return across_pictures(source.iauprec, source.posthoc, source.alpha, ("svg", *formats))


def _picture(source: DatasetsSource, svg: bytes) -> Picture:
    from skewanova.report.document import Picture
    from skewanova.report.figures import across_caption, inline_svg

    told = across_caption(source.posthoc)
    ranks = "; ".join(f"{row.model} {row.mean_rank:.2f}" for row in records(source.ranking))
    return Picture(inline_svg(svg, "across"), f"{told} Mean ranks: {ranks}.", told, TABLE_FILES["across"])


def _page(source: DatasetsSource, svg: bytes | None) -> str:
    """The page across data sets, in the looks of the report on each."""
    from skewanova.report.document import environment, script, view

    names = _contents(source).itertuples(index=False)
    judged = zip(names, source.comparisons.values(), strict=True)
    context = {
        "title": f"Comparison of {len(source.ranking)} classifiers on {len(source.comparisons)} data sets",
        "version": version("skewanova"),
        "verdict": source.verdict.lines(),
        "conclusions": source.conclusions,
        "warnings": source.warnings,
        "deployment_prior": source.deployment_prior,
        "alpha": f"{source.alpha:g}",
        "views": [view(table, *TABLE_FILES[table.name]) for table in across_tables(source)],
        "datasets": [
            {"folder": folder, "name": name, "choose": result.verdict.choose}
            for (folder, name), result in judged
        ],
        "figure": None if svg is None else _picture(source, svg),
        "linked": True,
        **script(),
    }
    return environment().get_template("datasets.html.j2").render(context)
