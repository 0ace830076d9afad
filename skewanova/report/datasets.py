"""Tables, page and folder across data sets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from skewanova.base.folders import check_formats
from skewanova.base.frames import records
from skewanova.base.text import (
    Table,
    format_p,
    format_with_error,
    interval,
    limits,
    number,
    p_words,
    table_of,
)
from skewanova.decision.verdict import Verdict
from skewanova.report.parts import Parts, PartsSource, parts_folder, parts_page
from skewanova.report.source import ReportSource, control_of
from skewanova.report.verdict_text import datasets_verdict

if TYPE_CHECKING:
    from skewanova.report.document import Picture

#: More pairs than these are counted.
MOST_LISTED = 3


@dataclass(frozen=True, eq=False)
class DatasetsSource(PartsSource):
    """What tables, page and folder are made of: the frames of a comparison on several data sets.

    See :class:`~skewanova.comparison.datasets.DatasetsComparison`.
    """

    comparisons: Mapping[str, ReportSource] = field(repr=False)
    iauprec: pd.DataFrame = field(repr=False)
    tests: pd.DataFrame = field(repr=False)
    pairs: pd.DataFrame = field(repr=False)
    by_dataset: pd.DataFrame = field(repr=False)
    hierarchical: pd.DataFrame = field(repr=False)
    ranking: pd.DataFrame
    alpha: float
    deployment_prior: str
    warnings: tuple[str, ...]

    @cached_property
    def verdict(self) -> Verdict:
        """Which model to deploy across data sets, how sure that is, and what is weakest about it."""
        pairs = self.pairs[self.pairs["role"] == "primary"]
        control = control_of(next(iter(self.comparisons.values())))
        return datasets_verdict(self.ranking, pairs, self.iauprec, control=control)


def across_tables(source: DatasetsSource) -> tuple[Table, ...]:
    """Ranking, mean IAUPREC by data set, and the hierarchical comparison."""
    return _ranking(source.ranking), _means(source), _hierarchical(source.hierarchical, source.alpha)


def hierarchical_sentences(hierarchical: pd.DataFrame, alpha: float, names: Mapping[str, str]) -> list[str]:
    """Say what the meta-analysis found of each pair that differs, or that none does."""
    result = []
    for row in records(hierarchical[hierarchical["reject"].astype(bool)]):
        ahead, behind = (row.model_a, row.model_b) if row.estimate >= 0 else (row.model_b, row.model_a)
        result.append(
            f"Meta-analysis: {names[ahead]} is ahead of {names[behind]} by {abs(row.estimate):.3f} on "
            f"average over data sets (adjusted {p_words(row.p_adjusted)})."
        )
    untested = list(records(hierarchical[hierarchical["p_adjusted"].isna()]))
    if not result and len(untested) < len(hierarchical):
        some = "no two models" if not untested else "no two of the models it could test"
        result.append(f"Meta-analysis: {some} were found to differ on average at {alpha:g}.")
    if untested:
        pairs = "the models" if len(untested) == len(hierarchical) else _listed(untested, names)
        result.append(
            f"Meta-analysis: {pairs} could not be tested, because in some data set their difference does not "
            "vary, or how it varies is not known."
        )
    return result


def _listed(rows: Sequence[Any], names: Mapping[str, str]) -> str:
    """The first pairs, and how many more."""
    displayed = [f"{names[row.model_a]} and {names[row.model_b]}" for row in rows[:MOST_LISTED]]
    return "; ".join(displayed) + (f"; {len(rows) - MOST_LISTED} more" if len(rows) > MOST_LISTED else "")


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
        result = {row.model: row for row in records(group)}
        cells = [format_with_error(result[m].iauprec, result[m].std_error) for m in models]
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


#: Frames and files across data sets.
ACROSS = Parts(
    one="dataset",
    several="datasets",
    kind="comparison on several data sets",
    frames=("iauprec", "tests", "pairs", "by_dataset", "hierarchical", "ranking"),
    files={
        "across": ("ranking.csv", "tests.csv", "pairs.csv"),
        "datasets": ("iauprec.csv",),
        "hierarchical": ("hierarchical.csv", "by_dataset.csv"),
    },
)


def write_datasets_folder(
    source: DatasetsSource, directory: Path, *, figures: str | Sequence[str] = ("svg",)
) -> Path:
    """Write the folder, whole or not at all."""
    formats = check_formats(figures)
    with parts_folder(source, directory, ACROSS, tables=across_tables(source), formats=formats) as output:
        drawn = across_pictures(source, formats) if formats else {}
        for name, pictures in drawn.items():
            for kind in formats:
                output.write(f"figures/{name}.{kind}", pictures[kind])
        output.write("report.html", _page(source, {name: files["svg"] for name, files in drawn.items()}))
    return directory


def across_pictures(source: DatasetsSource, formats: Sequence[str]) -> dict[str, dict[str, bytes]]:
    """The figures across data sets, for the page and for the folder."""
    from skewanova.report.figures import draw_across, draw_hierarchical
    from skewanova.report.rendering import render_figures

    draw = {
        "across": lambda: draw_across(source.iauprec, source.pairs, source.alpha),
        "hierarchical": lambda: draw_hierarchical(source.by_dataset, source.hierarchical),
    }
    return dict(render_figures(draw.items(), tuple(dict.fromkeys(("svg", *formats)))))


def _shown(source: DatasetsSource, drawn: Mapping[str, bytes]) -> dict[str, Picture]:
    """Drawing, description and caption of each figure."""
    from skewanova.report.document import Picture
    from skewanova.report.figures import across_caption, hierarchical_caption
    from skewanova.report.rendering import inline_svg

    ranks = "; ".join(f"{row.model} {row.mean_rank:.2f}" for row in records(source.ranking))
    item = next(records(source.hierarchical))
    result = f"Over all data sets {number('estimate')(item)}, {limits(item)}."
    told = {
        "across": (across_caption(source.pairs), f"Mean ranks: {ranks}."),
        "hierarchical": (hierarchical_caption(source.by_dataset, source.alpha), result),
    }
    return {
        name: Picture(inline_svg(svg, name), " ".join(told[name]), told[name][0], ACROSS.files[name])
        for name, svg in drawn.items()
    }


def _page(source: DatasetsSource, drawn: Mapping[str, bytes]) -> str:
    return parts_page(
        source,
        ACROSS,
        tables=across_tables(source),
        said={name: {"choose": result.verdict.choose} for name, result in source.comparisons.items()},
        title=f"Comparison of {len(source.ranking)} classifiers on {len(source.comparisons)} data sets",
        verdict=source.verdict.lines(),
        deployment_prior=source.deployment_prior,
        figures=_shown(source, drawn),
    )
