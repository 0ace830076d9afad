"""Comparison: frames, words, writers."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from skewanova.base.checks import suggest_name
from skewanova.base.text import Table, format_item, format_section, shorten_name, shorten_names, wrap_lines
from skewanova.inference.catalogue import get_test
from skewanova.report import sentences
from skewanova.report.methods import Prose, write_methods
from skewanova.report.publication import build_publication_table, check_label, write_latex
from skewanova.report.source import ReportSource, get_control
from skewanova.report.tables import TABLES, build_performance_table

#: More sentences than these are counted in a summary; `conclusions` and the frames have them all.
MAX_CONCLUSIONS = 20


@dataclass(frozen=True)
class Plots:
    """Every plot of a comparison by its name: ``result.plot.auprec()`` is ``plot_auprec(result)``."""

    result: Comparison

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from skewanova import plotting  # drawing is heavy: loaded when something is drawn

        if name.startswith("_") or f"plot_{name}" not in dir(plotting):
            raise AttributeError(f"there is no plot {name!r}{suggest_name(name, dir(self))}")
        return partial(getattr(plotting, f"plot_{name}"), self.result)

    def __dir__(self) -> list[str]:
        from skewanova import plotting

        return [name.removeprefix("plot_") for name in dir(plotting) if name.startswith("plot_")]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(ReportSource):
    """Results of a comparison; models stand in ranking order everywhere.

    Attributes
    ----------
    verdict : Verdict
        Which model to deploy, how sure that is, where it would change, what is weakest about it.
    ranking : DataFrame
        One row a model, as of :func:`~skewanova.decision.rank_models`.
    pairs : DataFrame
        One row a pair of models of each family of comparisons; columns of `inference.POSTHOC_COLUMNS`.
    tests : DataFrame
        One row a term of each test of all models; columns of `inference.ANOVA_COLUMNS`.
    by_prior : DataFrame
        What is known of every model, prior by prior (see :func:`~skewanova.decision.tabulate_by_prior`).
    tables : mapping of str to DataFrame
        Every frame by its name, which is that of its CSV file; ``print(result.tables)`` lists them.
    design : FoldDesign
        How the folds came about.
    warnings : tuple of str
        What to keep in mind when reading the numbers.
    settings : dict
        The arguments of the comparison.
    scores, evaluation
        The score table, and AUPREC and IAUPREC of every model and fold.
    methods, results_paragraph : Prose
        Methods and results, in words for a paper.
    """

    def __repr__(self) -> str:
        """Return one line; the summary is ``print(result)``."""
        measures = self.evaluation
        best, n_folds = (
            shorten_name(self.ranking["model"].iloc[0]),
            _format_count(len(measures.folds), "fold"),
        )
        return f"<Comparison of {len(measures.models)} models over {n_folds}: {best!r} ranks first>"

    def _repr_html_(self) -> str:
        """Verdict and ranking, for a notebook."""
        return f"{self.verdict._repr_html_()}\n{self._build_ranking_table().to_html()}"

    @property
    def plot(self) -> Plots:
        """Plots by name, as in ``result.plot.auprec(ax=ax)``: those of ``skewanova.plotting``."""
        return Plots(self)

    @property
    def labels(self) -> dict[str, str]:
        """Notes on how to read each test."""
        return {test: get_test(test).note for test in [*self.tests["test"], *self.pairs["test"]]}

    @property
    def methods(self) -> Prose:
        """Methods section of a paper: text, Markdown, LaTeX and BibTeX."""
        return Prose(tuple(write_methods(self)))

    @property
    def results_paragraph(self) -> Prose:
        """Results section of a paper: the primary test, then every pair with interval, test and effect."""
        return Prose((sentences.write_results(self),))

    @property
    def conclusions(self) -> tuple[str, ...]:
        """Findings of the primary tests, in words."""
        primary = self.pairs[self.pairs["role"] == "primary"]
        short, frames = shorten_names(self.evaluation.models), self.tables
        return (
            sentences.write_omnibus_sentence(self.tests, self.alpha, primary),
            *sentences.write_pair_findings(primary, self.alpha, short),
            *sentences.write_curve_sentences(
                frames["difference_curves"], frames["differing_priors"], short, control=get_control(self)
            ),
            *sentences.write_winner_note(frames["decisions"], short),
        )

    def _format_brief(self, width: int) -> str:
        short = shorten_names(self.evaluation.models)
        return f"{self.verdict.to_text(width)}\n\n{self._build_ranking_table().to_text(width, names=short)}"

    def _format_details(self, width: int) -> list[str]:
        short, frames = shorten_names(self.evaluation.models), self.tables
        performance = build_performance_table(frames["auprec"], frames["iauprec"], self.ranking)
        checks = frames["assumptions"][~frames["assumptions"]["advice"].isin(["", *self.warnings])]
        advice = [f"{check}: {text}" for check, text in zip(checks["check"], checks["advice"], strict=True)]
        return [
            self._format_heading(width),
            format_section("Conclusions", _truncate(self.conclusions, MAX_CONCLUSIONS), width),
            performance.to_text(width, names=short),
            *self._format_published(short, width),
            TABLES["regions"].make(self).to_text(width, names=short),
            *([format_section("Assumptions", advice, width)] if advice else []),
            *([format_section("Warnings", self.warnings, width)] if self.warnings else []),
        ]

    def to_latex(
        self,
        table: str = "performance",
        *,
        columns: Sequence[str] | None = None,
        rows: int | Sequence[str] | None = None,
        digits: int | None = None,
        caption: str | None = None,
        label: str | None = None,
        siunitx: bool = False,
    ) -> str:
        r"""Return one table for a paper.

        Parameters
        ----------
        table : str, default "performance"
            performance (table 1 of Landgrebe et al. 2006), ranking, choices, regions, leaders, crossings,
            sensitivity, tests, pairwise (of the test that the conclusions rest on), pairs (of every test),
            prior_pairs, effects, equivalence, plans, components (of runs) or assumptions.
        columns : sequence of str, optional
            Heads of the columns to print, in this order; by default all.
        rows : int or sequence of str, optional
            Number of the first rows, or names of models, of pairs as the table has them, or of tests; by
            default all.
        digits : int, optional
            Decimals of areas and differences; by default three.
        caption, label : str, optional
            Instead of the table's own caption, and of ``tab:`` with its name for ``\ref``.
        siunitx : bool, default False
            Align numbers at the decimal point by the package siunitx (version 3).

        Returns
        -------
        str
            A float with caption and note; columns that have no room follow below, and beyond 36 lines it is a
            longtable. Needs the packages array, booktabs and longtable, and fontenc with T1; names in other
            scripts than Latin need LuaLaTeX or XeLaTeX.

        Raises
        ------
        ValueError
            If there is no such table, row or column.

        Examples
        --------
        >>> from skewanova import compare, load_satellite_scores
        >>> result = compare(load_satellite_scores(), at_priors=(0.5, 0.2))
        >>> text = result.to_latex("ranking", columns=["Model", "IAUPREC"], rows=2, digits=4, caption="Means")
        >>> print("\n".join(text.split("\n")[3:13]))
        \caption{Means}
        \label{tab:ranking}
        \smallskip
        \begin{tabular}{lr}
        \toprule
        Model & IAUPREC \\
        \midrule
        A & 0.7723 \\
        C & 0.7485 \\
        \bottomrule
        """
        label = None if label is None else check_label(label)
        chosen = build_publication_table(
            self, table, columns=columns, rows=rows, digits=digits, caption=caption
        )
        return write_latex(chosen, siunitx=siunitx, label=label)

    def to_markdown(self, table: str = "performance", **options: Any) -> str:
        """Return one table as GitHub-flavoured Markdown; names and options as for :meth:`to_latex`."""
        return build_publication_table(self, table, **options).to_markdown()

    def to_html(self, table: str = "performance", **options: Any) -> str:
        """Return one table as HTML; names and options as for :meth:`to_latex`."""
        return build_publication_table(self, table, **options).to_html()

    def _write_folder(self, directory: Path, figures: str | Sequence[str]) -> Path:
        from skewanova.report.folder import write_folder  # drawing is heavy: loaded when something is drawn

        return write_folder(self, directory, figures=figures)

    def _build_ranking_table(self) -> Table:
        return TABLES["ranking"].make(self)

    def _format_heading(self, width: int) -> str:
        measures = self.evaluation
        test_set = self.design.is_test_set
        folds = "one test set" if test_set else _format_count(len(measures.folds), "fold")
        lines = [
            f"{len(measures.models)} models, {folds}, level {self.alpha:.3g}",
            f"AUPREC: {measures.area_estimator} estimator, by prior (probability of the positive class)",
            f"IAUPREC: mean AUPREC over the deployment prior, {measures.deployment_prior.describe()}",
            f"Data: {self.design.describe()}" if test_set else f"Folds: {self.design.describe()}",
            f"Tests and intervals are about {self.design.population}",
            sentences.write_level(self.alpha),
        ]
        return wrap_lines(lines, width)

    def _format_published(self, short: dict[str, str], width: int) -> list[str]:
        parts = []
        published = self.tests[self.tests["role"] == "published"]
        for test, group in published.groupby("test", sort=False, observed=True):
            entry = get_test(str(test))
            lines = [textwrap.fill(text, width) for text in (sentences.write_test_line(group), entry.note)]
            if entry.posthoc_test:
                in_family = self.pairs["test"] == entry.posthoc_test
                rows = self.pairs[in_family & (self.pairs["response"] == group["response"].iloc[0])]
                result = _truncate(sentences.write_pair_findings(rows, self.alpha, short), MAX_CONCLUSIONS)
                lines += [format_item(sentence, width) for sentence in result]
            parts.append("\n".join(lines))
        return parts


def _truncate(items: Sequence[str], most: int) -> list[str]:
    if len(items) <= most:
        return list(items)
    return [*items[: most - 1], f"and {len(items) - most + 1} more, in the tables of differences"]


def _format_count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
