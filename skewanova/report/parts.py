"""Tables, page and folder of a comparison in several parts: data sets, or classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import pandas as pd

from skewanova.base.folders import check_formats, make_provenance, replace_folder
from skewanova.base.frames import iter_rows
from skewanova.base.text import (
    Table,
    format_column,
    format_interval,
    format_limits,
    format_p,
    format_with_error,
    write_p,
)
from skewanova.decision.verdict import Verdict
from skewanova.report.source import ReportSource, Result, format_level, get_control
from skewanova.report.tables import FrameTable, format_pair
from skewanova.report.verdict_text import write_class_choice, write_datasets_verdict

#: More pairs than these are counted.
MAX_LISTED = 3


class Parts(NamedTuple):
    """Names of the parts and of the whole, its frames, and the files behind each table and figure."""

    singular: str
    plural: str
    kind: str
    frames: tuple[str, ...]
    files: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True, eq=False)
class PartsSource(Result):
    """A comparison in several parts: its frames, its page and its folder."""

    PARTS: ClassVar[Parts]

    comparisons: Mapping[str, ReportSource] = field(repr=False)
    tests: pd.DataFrame = field(repr=False)
    pairs: pd.DataFrame = field(repr=False)
    ranking: pd.DataFrame
    alpha: float

    @abstractmethod
    def _build_tables(self) -> tuple[Table, ...]:
        """Return the tables of the page."""

    @abstractmethod
    def _build_page_items(self, drawings: Mapping[str, bytes]) -> dict[str, Any]:
        """Return what the page has of its own: title, what is said of each part, pictures."""

    def _draw_figures(self, formats: Sequence[str]) -> dict[str, dict[str, bytes]]:
        """Return the figures in each format."""
        return {}

    def _name_folders(self) -> dict[str, str]:
        """Names of parts by their folders: names are data and stay out of paths."""
        return {f"{self.PARTS.singular}-{i:03d}": name for i, name in enumerate(self.comparisons, start=1)}

    def _write_folder(self, directory: Path, figures: str | Sequence[str]) -> Path:
        from skewanova.report.folder import write_part  # drawing is heavy: loaded when something is drawn

        formats, parts, folders = check_formats(figures), self.PARTS, self._name_folders()
        results = list(self.comparisons.values())
        inputs = [result.source for result in results]
        with replace_folder(directory, self._build_provenance(results), inputs=inputs) as output:
            for name in parts.frames:
                output.write_csv(f"{name}.csv", getattr(self, name))
            listed = pd.DataFrame(folders.items(), columns=["folder", parts.singular])
            output.write_csv(f"{parts.plural}.csv", listed)
            output.write(
                "tables.md", "\n\n".join(table.to_markdown() for table in self._build_tables()) + "\n"
            )
            drawings = self._draw_figures(formats) if formats else {}
            for name, files in drawings.items():
                for kind in formats:
                    output.write(f"figures/{name}.{kind}", files[kind])
            output.write(
                "report.html", self._render_page({name: files["svg"] for name, files in drawings.items()})
            )
            for folder, result in zip(folders, results, strict=True):
                write_part(result, output, folder, formats=formats)
        return directory

    def _build_provenance(self, results: Sequence[ReportSource]) -> dict[str, Any]:
        """Return the settings and the input that all parts share; what differs is in the folder of each."""
        first = results[0]
        shared = {
            name: value
            for name, value in first.settings.items()
            if all(result.settings.get(name) == value for result in results)
        }
        path = first.source if len({result.source for result in results}) == 1 else None
        digest = first.sha256 if path else None
        return make_provenance(self.PARTS.kind, shared, seed=shared.get("seed"), source=path, sha256=digest)

    def _render_page(self, drawings: Mapping[str, bytes]) -> str:
        """Return the page of all parts, in the looks of the report on each."""
        from skewanova.report.document import build_view, load_script, load_templates

        parts = self.PARTS
        items = self._build_page_items(drawings)
        phrases = items.pop("phrases")
        context = {
            "version": version("skewanova"),
            "conclusions": self.conclusions,
            "warnings": self.warnings,
            "alpha": f"{self.alpha:g}",
            "views": [build_view(table, *parts.files[table.name]) for table in self._build_tables()],
            parts.plural: [{"folder": f, "name": n, **phrases[n]} for f, n in self._name_folders().items()],
            "linked": True,
            **items,
            **load_script(),
        }
        return load_templates().get_template(f"{parts.plural}.html.j2").render(context)


# --- data sets ----------------------------------------------------------------------------------------------


_ACROSS = FrameTable(
    "across",
    {
        "Model": lambda row: row.model,
        "Mean rank": format_column("mean_rank", 2),
        "Mean IAUPREC": format_column("iauprec"),
        "Best on": lambda row: f"{row.n_best}",
        "Group": lambda row: row.group,
    },
)


_HIERARCHICAL = FrameTable(
    "hierarchical",
    {
        "Pair": format_pair,
        "Difference": format_column("estimate"),
        "{level} interval": format_limits,
        "Adjusted p": lambda row: format_p(row.p_adjusted),
        "Between (SD)": format_column("tau"),
        "A new data set": lambda row: format_interval(row.prediction_low, row.prediction_high),
    },
)


@dataclass(frozen=True, eq=False)
class DatasetsSource(PartsSource):
    """Frames, page and folder of :class:`~skewanova.comparison.parts.DatasetsComparison`."""

    PARTS: ClassVar = Parts(
        singular="dataset",
        plural="datasets",
        kind="comparison on several data sets",
        frames=("iauprec", "tests", "pairs", "by_dataset", "hierarchical", "ranking"),
        files={
            "across": ("ranking.csv", "tests.csv", "pairs.csv"),
            "datasets": ("iauprec.csv",),
            "hierarchical": ("hierarchical.csv", "by_dataset.csv"),
        },
    )

    iauprec: pd.DataFrame = field(repr=False)
    by_dataset: pd.DataFrame = field(repr=False)
    hierarchical: pd.DataFrame = field(repr=False)
    deployment_prior: str
    warnings: tuple[str, ...]

    @cached_property
    def verdict(self) -> Verdict:
        """Verdict across data sets."""
        pairs = self.pairs[self.pairs["role"] == "primary"]
        control = get_control(next(iter(self.comparisons.values())))
        return write_datasets_verdict(self.ranking, pairs, self.iauprec, control=control)

    def _build_tables(self) -> tuple[Table, ...]:
        """Return the ranking, mean IAUPREC by data set, and the hierarchical comparison."""
        models = self.ranking["model"].tolist()
        rows = []
        for name, group in self.iauprec.groupby("dataset", sort=False, observed=True):
            means = {row.model: row for row in iter_rows(group)}
            rows.append(
                (str(name), *(format_with_error(means[m].iauprec, means[m].std_error) for m in models))
            )
        caption = "Mean IAUPREC (corrected standard error) by data set"
        return (
            _ACROSS.build(self.ranking),
            Table("datasets", caption, ("Data set", *models), tuple(rows)),
            _HIERARCHICAL.build(self.hierarchical, level=format_level(self.alpha)),
        )

    def _draw_figures(self, formats: Sequence[str]) -> dict[str, dict[str, bytes]]:
        from skewanova.report.figures import draw_hierarchical, draw_mean_ranks
        from skewanova.report.rendering import render_figures

        draw = {
            "across": lambda: draw_mean_ranks(self.iauprec, self.pairs, self.alpha),
            "hierarchical": lambda: draw_hierarchical(self.by_dataset, self.hierarchical),
        }
        return dict(render_figures(draw.items(), tuple(dict.fromkeys(("svg", *formats)))))

    def _build_page_items(self, drawings: Mapping[str, bytes]) -> dict[str, Any]:
        from skewanova.report.document import build_picture
        from skewanova.report.figures import write_across_caption, write_hierarchical_caption

        ranks = "; ".join(f"{row.model} {row.mean_rank:.2f}" for row in iter_rows(self.ranking))
        first = next(iter_rows(self.hierarchical))
        texts = {
            "across": (write_across_caption(self.pairs), f" Mean ranks: {ranks}."),
            "hierarchical": (
                write_hierarchical_caption(self.by_dataset, self.alpha),
                f" Over all data sets {format_column('estimate')(first)}, {format_limits(first)}.",
            ),
        }
        return {
            "title": f"Comparison of {len(self.ranking)} classifiers on {len(self.comparisons)} data sets",
            "verdict": self.verdict.lines(),
            "deployment_prior": self.deployment_prior,
            "figures": {
                n: build_picture(n, svg, texts[n], self.PARTS.files[n]) for n, svg in drawings.items()
            },
            "phrases": {name: {"choose": part.verdict.choose} for name, part in self.comparisons.items()},
        }


def write_hierarchical_sentences(
    hierarchical: pd.DataFrame, alpha: float, names: Mapping[str, str]
) -> list[str]:
    """Say what the meta-analysis found of each pair that differs, or that none does."""
    result = []
    for row in iter_rows(hierarchical[hierarchical["reject"].astype(bool)]):
        ahead, behind = (row.model_a, row.model_b) if row.estimate >= 0 else (row.model_b, row.model_a)
        result.append(
            f"Meta-analysis: {names[ahead]} is ahead of {names[behind]} by {abs(row.estimate):.3f} on "
            f"average over data sets (adjusted {write_p(row.p_adjusted)})."
        )
    untested = list(iter_rows(hierarchical[hierarchical["p_adjusted"].isna()]))
    if not result and len(untested) < len(hierarchical):
        some = "no two models" if not untested else "no two of the models it could test"
        result.append(f"Meta-analysis: {some} were found to differ on average at {alpha:g}.")
    if untested:
        listed = [f"{names[row.model_a]} and {names[row.model_b]}" for row in untested[:MAX_LISTED]]
        listed += [f"{len(untested) - MAX_LISTED} more"] if len(untested) > MAX_LISTED else []
        pairs = "the models" if len(untested) == len(hierarchical) else "; ".join(listed)
        result.append(
            f"Meta-analysis: {pairs} could not be tested, because in some data set their difference does not "
            "vary, or how it varies is not known."
        )
    return result


# --- classes ------------------------------------------------------------------------------------------------


_CLASSES = FrameTable(
    "classes",
    {
        "Class": lambda row: str(row.label),
        "Model": lambda row: row.model,
        "IAUPREC": format_column("iauprec"),
        "{level} interval": format_limits,
        "Group": lambda row: row.group,
    },
)


_CLASS_PAIRS = FrameTable(
    "class_pairs",
    {
        "Class": lambda row: str(row.label),
        "Pair": format_pair,
        "Difference": format_column("estimate"),
        "Interval": format_limits,
        "Adjusted p": lambda row: format_p(row.p_adjusted),
    },
)


@dataclass(frozen=True, eq=False)
class ClassesSource(PartsSource):
    """Frames, page and folder of :class:`~skewanova.comparison.parts.ClassesComparison`."""

    PARTS: ClassVar = Parts(
        singular="class",
        plural="classes",
        kind="comparison of several classes",
        frames=("tests", "pairs", "ranking"),
        files={"classes": ("ranking.csv",), "class_pairs": ("pairs.csv", "tests.csv")},
    )

    warnings: tuple[str, ...]

    @property
    def choices(self) -> dict[str, str]:
        """Choice for each class, by the pairs of all classes together."""
        return {
            name: write_class_choice(
                [str(model) for model in result.ranking["model"]],
                list(iter_rows(self.pairs[self.pairs["class"] == name])),
                result.verdict,
                control=get_control(result),
            )
            for name, result in self.comparisons.items()
        }

    def _describe_priors(self) -> dict[str, str]:
        """Return the deployment prior of every class in words."""
        return {
            name: result.evaluation.deployment_prior.describe() for name, result in self.comparisons.items()
        }

    def _build_tables(self) -> tuple[Table, ...]:
        """Return ranking and pairs of every class."""
        ranking, pairs = (frame.rename(columns={"class": "label"}) for frame in (self.ranking, self.pairs))
        return (
            _CLASSES.build(ranking, level=format_level(self.alpha)),
            _CLASS_PAIRS.build(pairs, alpha=self.alpha),
        )

    def _build_page_items(self, drawings: Mapping[str, bytes]) -> dict[str, Any]:
        priors = self._describe_priors()
        return {
            "title": f"Comparison of classifiers of {len(priors)} classes",
            "phrases": {n: {"choose": choice, "prior": priors[n]} for n, choice in self.choices.items()},
        }
