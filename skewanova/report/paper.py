"""Results, methods, one table, one figure and the references of a comparison, for a paper."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path

from skewanova.base.folders import replace_folder
from skewanova.base.frames import iter_rows
from skewanova.base.text import Table, drop_column, escape_latex, format_number, format_p, shorten_name
from skewanova.inference.catalogue import get_test
from skewanova.report import sentences
from skewanova.report.document import build_provenance
from skewanova.report.publication import (
    MAX_GROUPED_MODELS,
    Prose,
    build_publication_table,
    write_latex,
)
from skewanova.report.source import (
    ReportSource,
    TestedResult,
    format_level,
    get_control,
    orient_pairs,
    select_primary,
)
from skewanova.report.tables import add_columns

#: A document that reads the other files.
DOCUMENT = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage{array,booktabs,graphicx,longtable}
\begin{document}
\section*{Methods}
\input{methods}
\section*{Results}
\input{results}
\input{table}
\begin{figure}[htbp]
\centering
\includegraphics[width=\linewidth]{figure.pdf}
\caption{CAPTION}
\label{fig:auprec}
\end{figure}
\bibliographystyle{plain}
\bibliography{references}
\end{document}
"""


@dataclass(frozen=True)
class Paper:
    """Results, methods, table, figure and references of a comparison, for a paper.

    Attributes
    ----------
    results, methods : Prose
        The results and methods sections, as text, Markdown or LaTeX.
    table : Table
        The models with their means, intervals and the difference from the first model or the control.
    caption : str
        Caption of the figure, for :func:`~skewanova.compare` AUPREC along the prior.
    references : str
        Works cited, as BibTeX.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> paper = compare(load_satellite_scores(), at_priors=(0.5, 0.2)).for_paper()
    >>> paper.table.header
    ('Model', 'IAUPREC', '95 % interval', 'Group', 'Difference', 'Adjusted p')
    """

    results: Prose
    methods: Prose
    table: Table
    caption: str
    references: str
    source: TestedResult = field(repr=False)
    figure: str = field(repr=False)

    def save(self, directory: str | os.PathLike[str]) -> Path:
        r"""Write a folder that compiles as it stands, and return its path.

        The folder is a new one, an empty one or an earlier output, which is replaced; raise ValueError if it
        has files of the user. Its ``paper.tex`` reads ``methods.tex``, ``results.tex``, ``table.tex``,
        ``figure.pdf`` and ``references.bib``.
        """
        from skewanova.report.figures import FIGURES, render_figures, restrict_to_drawn  # imports matplotlib

        source = restrict_to_drawn(self.source)
        drawing = ("figure", lambda: FIGURES[self.figure].draw(source))
        files: dict[str, str | bytes] = {
            "paper.tex": DOCUMENT.replace("CAPTION", escape_latex(self.caption)),
            "methods.tex": self.methods.to_latex(),
            "results.tex": self.results.to_latex(),
            "table.tex": write_latex(self.table, siunitx=False),
            "references.bib": self.references,
            "figure.pdf": dict(render_figures([drawing], ("pdf",)))["figure"]["pdf"],
        }
        with replace_folder(directory, build_provenance(source), inputs=[source.source]) as output:
            for name, content in files.items():
                output.write(name, content)
        return Path(directory)


def build_paper(source: TestedResult, figure: str, caption: str) -> Paper:
    """Return results, methods, table and references, with a figure and its caption."""
    methods = source.methods
    return Paper(
        results=Prose((sentences.write_results(source),)),
        methods=methods,
        table=_build_difference_table(source),
        caption=caption,
        references=methods.to_bibtex(),
        source=source,
        figure=figure,
    )


def _build_difference_table(source: TestedResult) -> Table:
    """Return the ranking, if trusted with each model's difference from the control or the first model."""
    interval = f"{format_level(source.alpha)} interval"
    ranking = build_publication_table(source, "ranking")
    columns = [head for head in ranking.header if head in {*ranking.header[:2], interval, "Group"}]
    table = build_publication_table(source, "ranking", columns=columns)
    if len(source.ranking) > MAX_GROUPED_MODELS:
        table = drop_column(table, "Group")
    if not source.verdict.is_trusted:
        return table
    models = [str(model) for model in source.ranking["model"]]
    reference = get_control(source) or models[0]
    primary = select_primary(source.pairs)
    rows = {str(row.model_a): row for row in iter_rows(orient_pairs(primary, reference))}
    others = [rows.get(model) for model in models]  # None for the reference
    differences = {
        "Difference": ["" if row is None else format_number(row.estimate) for row in others],
        "Adjusted p": ["" if row is None else format_p(row.p_adjusted) or "not tested" for row in others],
    }
    test = get_test(primary["test"].iloc[0]).name
    note = f"Difference: from {shorten_name(reference)}; p is adjusted over all pairs ({test})."
    table = add_columns(table, differences)
    return replace(table, explanations={**table.explanations, "Difference": note})


def write_caption(source: ReportSource) -> str:
    """Return the caption of the figure of AUPREC along the prior."""
    average = "" if source.design.is_test_set else f", mean over {source.design.n_folds} "
    average += "" if source.design.is_test_set else "runs" if source.design.has_runs else "folds"
    text = f"AUPREC along the prior{average}. The deployment prior is shaded."
    if source.verdict.is_trusted and source.by_prior["conf_low"].notna().any():
        text += f" Bands hold at all priors and for all models at once, at {format_level(source.alpha)}."
    return text
