"""The result of a comparison: its frames, sentences, plots and files."""

from __future__ import annotations

import textwrap
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from skewanova.base.checks import check_subset, suggest_name
from skewanova.base.text import Table, format_item, format_section, shorten_name, shorten_names, wrap_lines
from skewanova.inference.catalogue import get_test
from skewanova.report import document, publication, screen, sentences
from skewanova.report.publication import Paper, Prose
from skewanova.report.source import ReportSource, TestedResult, get_control
from skewanova.report.tables import NOT_RELIABLE, TABLES, build_performance_table

#: Sentences of one list in a summary; `conclusions` and the frames have all.
MAX_CONCLUSIONS = 20


@dataclass(frozen=True)
class Plots:
    """Plots of a comparison by name: ``result.plot.auprec()`` is ``plot_auprec(result)``."""

    result: TestedResult

    def __call__(self, **options: Any) -> Any:
        """Draw AUPREC along the prior by `plot_auprec` with its options, and return the axes."""
        return self.auprec(**options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from skewanova import plotting  # imports matplotlib

        if name.startswith("_") or f"plot_{name}" not in dir(plotting):
            remedy = suggest_name(name, dir(self)) or "; dir(result.plot) lists them"
            raise AttributeError(f"there is no plot {name!r}{remedy}")
        return partial(getattr(plotting, f"plot_{name}"), self.result)

    def __dir__(self) -> list[str]:
        from skewanova import plotting

        names = (name.removeprefix("plot_") for name in dir(plotting) if name.startswith("plot_"))
        return [n for n in names if n in (self.result.FIGURES or [n]) or len(self.result.tables.get(n, ()))]


@dataclass(frozen=True, eq=False, repr=False)
class PublishedResult(TestedResult):
    """Base class of the comparisons over folds or cases: plots, tables for a paper, summary and folder."""

    def __repr__(self) -> str:
        """Return one line with the numbers of models and folds, the measure, and the first model."""
        best = shorten_name(self.ranking["model"].iloc[0])
        over = "on a test set" if self.design.is_test_set else f"over {self.design.n_folds} {self.unit}s"
        return f"<Comparison of {len(self.ranking)} models {over} by {self.measure}: {best!r} ranks first>"

    @property
    def plot(self) -> Plots:
        """Plots of ``skewanova.plotting`` by name, as in ``result.plot.auprec(ax=ax)``."""
        return Plots(self)

    @property
    def labels(self) -> dict[str, str]:
        """Note on the assumptions of each test, by its name in the column `test`."""
        return {test: get_test(test).note for test in [*self.tests["test"], *self.pairs["test"]]}

    @property
    def results_paragraph(self) -> Prose:
        """Results section for a paper: the primary test, and each pair with interval, test and effect."""
        return Prose((sentences.write_results(self),))

    @abstractmethod
    def for_paper(self) -> Paper:
        """Return results, methods, table, figure and references for a paper."""

    def _format_brief(self, width: int) -> str:
        """Return the verdict and the ranking as text of at most `width` columns."""
        short, table = shorten_names(self.ranking["model"]), self._build_short_ranking()
        return f"{self.verdict.to_text(width)}\n\n{table.to_text(width, names=short)}"

    def _build_short_ranking(self) -> Table:
        """Return the text table of the ranking, with an explanation of the column Group only."""
        table: Table = self.SPECS["ranking"].make(self)
        return replace(table, explanations={"Group": table.explanations["Group"]})

    def to_latex(
        self,
        table: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        rows: int | Sequence[str] | None = None,
        digits: int | None = None,
        caption: str | None = None,
        label: str | None = None,
        siunitx: bool = False,
    ) -> str:
        r"""Return one table as LaTeX for a paper.

        Parameters
        ----------
        table : str, optional
            By default ``performance`` (table 1 of Landgrebe et al. 2006; of values ``ranking``). Others are
            ``choices``, ``regions``, ``leaders``, ``crossings``, ``sensitivity``, ``tests``, ``pairwise``
            (pairs of the primary test), ``pairs`` (of all tests), ``prior_pairs``, ``effects``,
            ``equivalence``, ``plans``, ``components`` (for runs) or ``assumptions``.
        columns : sequence of str, optional
            Headings of the columns to print, in this order, by default all.
        rows : int or sequence of str, optional
            Number of rows, or the models, pairs or tests to print, by default all. Pairs are written as in
            the table: "A - B".
        digits : int, optional
            Decimals of areas and differences, by default 3.
        caption, label : str, optional
            Caption and label, by default those of the table: for ``ranking`` the label is ``tab:ranking``.
        siunitx : bool, default False
            Align numbers at the decimal point, by the LaTeX package siunitx (version 3).

        Returns
        -------
        str
            A table with caption and note. Columns that do not fit are printed below the others; a table of
            more than 36 lines is a longtable. The document needs the packages array, booktabs, longtable and
            fontenc (T1). Names in a script other than Latin need LuaLaTeX or XeLaTeX.

        Raises
        ------
        ValueError
            If there is no such table, row or column, or the label is not plain.

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
        label = None if label is None else publication.check_label(label)
        options: dict[str, Any] = {"columns": columns, "rows": rows, "digits": digits, "caption": caption}
        chosen = publication.build_publication_table(self, table, **options)
        return publication.write_latex(chosen, siunitx=siunitx, label=label)

    def to_markdown(self, table: str | None = None, **options: Any) -> str:
        """Return one table as GitHub Markdown; options are columns, rows, digits, caption of `to_latex`."""
        check_subset(options, ("columns", "rows", "digits", "caption"), "arguments of to_markdown")
        return publication.build_publication_table(self, table, **options).to_markdown()

    def to_html(self, table: str | None = None, **options: Any) -> str:
        """Return one table as HTML; options are columns, rows, digits, caption of :meth:`to_latex`."""
        check_subset(options, ("columns", "rows", "digits", "caption"), "arguments of to_html")
        return publication.build_publication_table(self, table, **options).to_html()

    def _write_folder(self, directory: Path, figures: str | Sequence[str] | None) -> Path:
        """Write the report, all tables, and figures in these formats to a folder; return its path."""
        return document.write_folder(self, directory, figures=figures)


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(PublishedResult, ReportSource):
    """Results of :func:`~skewanova.compare` and :func:`~skewanova.compare_estimators`.

    ``print(result)`` shows the verdict and the ranking. In all frames the models are in ranking order, and
    a difference is that of `model_a` minus `model_b`.

    Attributes
    ----------
    verdict : Verdict
        The model to deploy, how sure that is, where the choice changes, and the weakest point of the data.
        ``verdict.state`` and ``verdict.models`` are for programs, ``verdict.choose`` is a sentence.
    ranking : DataFrame
        One row for each model: mean IAUPREC with its interval, group (models that share a letter were not
        found to differ), regret, and the probability of being best; see
        :func:`skewanova.decision.rank_models`.
    pairs : DataFrame
        One row for each pair of models and test: estimate, interval, adjusted p-value and `reject`. The
        conclusions use the rows with role ``primary``; columns of `inference.POSTHOC_COLUMNS`.
    tests : DataFrame
        One row for each term of each test of all models, such as an F test of the ANOVA. The role is
        ``primary``, ``published`` or ``secondary``; columns of `inference.ANOVA_COLUMNS`.
    by_prior : DataFrame
        Rank, AUPREC, simultaneous band and regret of each model at each prior; `contender` is True if the
        model may be the best there. See :func:`skewanova.decision.tabulate_by_prior`.
    tables : mapping of str to DataFrame
        All frames by name; ``print(result.tables)`` lists them. ``save`` writes each as a CSV file.
    design : FoldDesign
        How the folds were made.
    warnings : tuple of str
        Reasons why numbers may be unreliable.
    settings : dict
        Arguments of the comparison.
    scores, evaluation : ScoreTable, Evaluation
        The scores, and AUPREC and IAUPREC of each model and fold.
    conclusions : tuple of str
        Results of the primary tests, in sentences.
    methods, results_paragraph : Prose
        Methods and results sections for a paper.
    plot : Plots
        Plots, as in ``result.plot.auprec()``; ``dir(result.plot)`` lists them.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> result = compare(load_satellite_scores(), (0.05, 0.20), at_priors=(0.5, 0.2))
    >>> primary = result.pairs[result.pairs["role"] == "primary"]
    >>> primary[["model_a", "model_b", "reject"]].values.tolist()
    [['A', 'C', False], ['A', 'B', False], ['C', 'B', False]]
    >>> result.tables["leaders"]["leader"].unique().tolist()
    ['A']
    """

    SPECS = TABLES

    def _repr_html_(self) -> str:
        """Return the verdict, AUPREC along the prior and the ranking as HTML, for a notebook."""
        chart = next(iter(screen.build_screen(self).charts), None)
        return document.render_notebook(self, self._build_short_ranking(), chart)

    @property
    def methods(self) -> Prose:
        """Methods section for a paper, as text, Markdown, LaTeX or BibTeX."""
        return Prose(tuple(publication.write_methods(self)))

    def for_paper(self) -> Paper:
        """Return `results`, `methods`, one `table`, one figure with `caption` and the `references`.

        ``result.for_paper().save("paper")`` writes them as LaTeX that compiles.
        """
        return publication.build_paper(self, "regions", publication.write_caption(self))

    def _render_page(self, provenance: Mapping[str, Any]) -> str:
        """Return the report as an HTML document."""
        return document.render_page(self, provenance)

    @property
    def conclusions(self) -> tuple[str, ...]:
        """Sentences on the primary tests and the leaders along the prior; one if tests are not reliable."""
        if not self.verdict.is_trusted:
            return (f"{NOT_RELIABLE}, so no difference is claimed.",)
        short, frames = shorten_names(self.evaluation.models), self.tables
        return (
            *sentences.write_test_findings(self, short),
            *sentences.write_curve_sentences(frames, short, control=get_control(self)),
            *sentences.write_winner_note(frames["decisions"], short),
        )

    def _format_details(self, width: int) -> list[str]:
        """Return sections of text: ranking's note, heading, conclusions, tables, assumptions, warnings."""
        short, frames = shorten_names(self.evaluation.models), self.tables
        performance = build_performance_table(frames["auprec"], frames["iauprec"], self.ranking, self.unit)
        rest = [text for text in self.warnings if text not in self.verdict.warnings]
        checks = frames["assumptions"][~frames["assumptions"]["advice"].isin(["", *self.warnings])]
        advice = [f"{check}: {text}" for check, text in zip(checks["check"], checks["advice"], strict=True)]
        ranking = TABLES["ranking"].make(self)
        texts = {head: text for head, text in ranking.explanations.items() if head != "Group"}  # said above
        return [
            textwrap.fill(replace(ranking, note="", explanations=texts).full_note, width),
            self._format_heading(width),
            format_section("Conclusions", _truncate(self.conclusions, MAX_CONCLUSIONS), width),
            performance.to_text(width, names=short),
            *self._format_published(short, width),
            TABLES["regions"].make(self).to_text(width, names=short),
            *([format_section("Assumptions", advice, width)] if advice else []),
            *([format_section("Warnings", rest, width)] if rest else []),
        ]

    def _format_heading(self, width: int) -> str:
        """Return lines on models, folds, level, measures and design, as text of at most `width` columns."""
        measures = self.evaluation
        test_set = self.design.is_test_set
        folds = "one test set" if test_set else f"{len(measures.folds)} {self.unit}s"
        lines = [
            f"{len(measures.models)} models, {folds}, level {self.alpha:.3g}",
            f"AUPREC: {measures.area_estimator} estimator, by prior (probability of the positive class)",
            f"IAUPREC: mean AUPREC over the deployment prior, {measures.deployment_prior.describe()}",
            f"{'Data' if test_set else f'{self.unit}s'.capitalize()}: {self.design.describe()}",
            f"Tests and intervals are about {self.design.population}",
            f"Each conclusion (all models, pairs, along the prior) is at level {self.alpha:.3g} by itself",
        ]
        return wrap_lines(lines, width)

    def _format_published(self, short: dict[str, str], width: int) -> list[str]:
        """Return a text for each published test: its result, note and findings on pairs."""
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


def _truncate(items: Sequence[str], max_items: int) -> list[str]:
    """Return at most `max_items` items; if more, the last one says how many are left out."""
    if len(items) <= max_items:
        return list(items)
    return [*items[: max_items - 1], f"and {len(items) - max_items + 1} more, in the tables of differences"]
