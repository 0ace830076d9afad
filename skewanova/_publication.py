"""Tables for a paper: which there are, and LaTeX that aligns numbers or fits a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Protocol

import pandas as pd

from skewanova import _decision_tables as decision_tables
from skewanova import tables
from skewanova._checks import check_choice
from skewanova._rendering import Table, latex_escape
from skewanova._sentences import RESPONSE_NAMES, TEST_NAMES

#: Longer tables would run off a printed page: in LaTeX they are cut into several.
LATEX_ROWS = 36
FIT = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}"
LATEX_HEAD = r"""% Tables of a comparison by skewanova, to be read in with \input.
% Needs \usepackage{booktabs}, \usepackage{graphicx} and \usepackage[T1]{fontenc}.
% Names in scripts other than Latin need LuaLaTeX or XeLaTeX and a font that has them.
\providecommand{\skewanovafit}[1]{% too wide a table is scaled down to the line
  \resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{#1}}
\makeatletter% a table with its caption that stays where it is: LaTeX holds only so many floats
\@ifundefined{skewanovatable}{\newenvironment{skewanovatable}%
  {\par\medskip\noindent\begin{minipage}{\linewidth}\def\@captype{table}\centering\footnotesize}%
  {\end{minipage}\par\medskip}}{}
\makeatother
"""
#: A table by its name, in the order of the report.
NAMES = (
    "performance",
    "ranking",
    "choices",
    "regions",
    "leaders",
    "crossings",
    "sensitivity",
    "anova",
    "pairwise",
    "pairs",
    "prior_pairs",
    "practical",
    "plans",
    "checks",
)
_NUMBER = re.compile(r"(<?)(-?)(\d+)(?:\.(\d+))?")
_MEAN_SD = re.compile(r"(\S+) (\(\S+\))")


class TableSource(Protocol):
    """What the tables show; a comparison has it all."""

    @property
    def auprec(self) -> pd.DataFrame:
        """AUPREC of every model, fold and prior."""

    @property
    def iauprec(self) -> pd.DataFrame:
        """IAUPREC of every model and fold."""

    @property
    def ranking(self) -> pd.DataFrame:
        """One row a model, best first."""

    @property
    def regions(self) -> pd.DataFrame:
        """Which model leads at which prior."""

    @property
    def crossings(self) -> pd.DataFrame:
        """Where mean curves cross; may be empty."""

    @property
    def leaders(self) -> pd.DataFrame:
        """Which models may be the best at which prior."""

    @property
    def decisions(self) -> pd.DataFrame:
        """What every model promises and risks."""

    @property
    def choices(self) -> pd.DataFrame:
        """Which model each criterion picks."""

    @property
    def anova(self) -> pd.DataFrame:
        """One row a term of each analysis of variance."""

    @property
    def posthoc(self) -> pd.DataFrame:
        """One row a pair of models of each family of comparisons."""

    @property
    def prior_posthoc(self) -> pd.DataFrame:
        """One row a pair of priors; may be empty."""

    @property
    def practical(self) -> pd.DataFrame:
        """One row a pair of models: probability of practical equivalence."""

    @property
    def plans(self) -> pd.DataFrame:
        """One row a pair of models: how much more data would tell it apart."""

    @property
    def checks(self) -> pd.DataFrame:
        """What the tests assume, with advice."""

    @property
    def settings(self) -> Mapping[str, object]:
        """What was asked for."""


def alpha_of(source: TableSource) -> float:
    """Level of the tests."""
    return float(str(source.settings["alpha"]))


def is_one_set(source: TableSource) -> bool:
    """Whether there is one test set, so that nothing is averaged over folds."""
    return source.iauprec["fold"].nunique() == 1


def headline_rows(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of the test that the conclusions rest on: the headline's on IAUPREC, or else the first."""
    for column, wanted in (("response", "iauprec"), ("role", "headline")):
        found = frame[frame[column] == wanted]
        frame = frame if found.empty else found
    rows: pd.DataFrame = frame[frame["test"] == frame["test"].iloc[0]]
    return rows


def publication_table(source: TableSource, name: str) -> Table:
    """Return one table by its name, one of `NAMES`."""
    check_choice(name, NAMES, "table")
    alpha = alpha_of(source)
    made = {
        "performance": lambda: _performance(source),
        "ranking": lambda: tables.ranking_table(source.ranking, 1 - alpha),
        "regions": lambda: tables.regions_table(source.regions),
        "choices": lambda: decision_tables.choices_table(source.choices),
        "leaders": lambda: decision_tables.leaders_table(source.leaders, 1 - alpha),
        "crossings": lambda: decision_tables.crossings_table(source.crossings, 1 - alpha),
        "sensitivity": lambda: decision_tables.sensitivity_table(source.decisions),
        "anova": lambda: tables.anova_table(source.anova),
        "pairwise": lambda: _pairwise(source),
        "pairs": lambda: tables.posthoc_table(source.posthoc, alpha),
        "prior_pairs": lambda: tables.prior_pairs_table(source.prior_posthoc, alpha),
        "practical": lambda: tables.practical_table(source.practical, one_set=is_one_set(source)),
        "plans": lambda: decision_tables.plans_table(source.plans),
        "checks": lambda: tables.checks_table(source.checks),
    }
    return without_empty(made[name]())


def publication_tables(source: TableSource) -> dict[str, Table]:
    """Return every table that has rows."""
    rows = {"prior_pairs": source.prior_posthoc, "crossings": source.crossings}
    shown = [name for name in NAMES if name not in rows or len(rows[name])]
    return {name: publication_table(source, name) for name in shown}


def latex_file(source: TableSource) -> str:
    """Every table in its place, cut where it would run off a page; none of them floats."""
    placed = [_placed(part) for table in publication_tables(source).values() for part in parts(table)]
    return "\n".join([LATEX_HEAD, *placed])


def _placed(table: Table) -> str:
    """The table as it is, but not floating."""
    text = fitted(table.to_latex(), r"\skewanovafit").replace("\\centering\\footnotesize\n", "")
    text = text.replace("\\begin{table}[htbp]", "\\begin{skewanovatable}")
    return text.replace("\\end{table}", "\\end{skewanovatable}")


def latex_of(table: Table, *, siunitx: bool) -> str:
    """The table as a float, or as several on pages of their own where it is longer than a page."""
    floats = [fitted(siunitx_latex(part) if siunitx else part.to_latex()) for part in parts(table)]
    return "\\clearpage\n".join(floats)


def siunitx_latex(table: Table) -> str:
    r"""Return a LaTeX table with numbers aligned at the decimal point, for booktabs and siunitx (version 3).

    A column of numbers is of type S; "mean (sd)" becomes two, the second in brackets; any other text is a
    column as in the plain table. Cells that are no numbers are set in braces.
    """
    columns = [_Column(head, cells) for head, cells in _columns(table)]
    body = [
        [part for j, column in enumerate(columns) for part in column.cells(i, bold=(i, j) in table.bold)]
        for i in range(len(table.rows))
    ]
    heads = [head for column in columns for head in column.heads()]
    caption = latex_escape(f"{table.caption}. {table.note}".removesuffix(". ").strip())
    lines = [
        r"\begin{table}[htbp]",
        r"\centering",
        rf"\caption{{{caption}}}",
        rf"\label{{tab:{table.name}}}",
        rf"\begin{{tabular}}{{l{''.join(column.layout() for column in columns[1:])}}}",
        r"\toprule",
        rf"{' & '.join(heads)} \\",
        r"\midrule",
        *(rf"{' & '.join(row)} \\" for row in body),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


class _Column:
    """One column of a table as LaTeX columns: text, numbers, or numbers with brackets behind them."""

    def __init__(self, head: str, cells: Sequence[str]) -> None:
        self.head = latex_escape(head)
        self.texts = cells
        pairs = [_MEAN_SD.fullmatch(cell) for cell in cells]
        self.split = bool(cells) and all(pairs)
        self.first = [
            pair[1] if pair and self.split else cell for pair, cell in zip(pairs, cells, strict=True)
        ]
        self.second = [pair[2] if pair else "" for pair in pairs]
        found = [_NUMBER.fullmatch(cell) for cell in self.first]
        self.numbers = [match for match in found if match]
        plain = [cell for cell, match in zip(self.first, found, strict=True) if not match]
        self.numeric = bool(self.numbers) and set(plain) <= {"", "inf", "-inf"}

    def layout(self) -> str:
        if not self.numeric:
            return "r"
        signs = max(match[1] for match in self.numbers) + max(match[2] for match in self.numbers)
        whole = max(len(match[3]) for match in self.numbers)
        decimals = max(len(match[4] or "") for match in self.numbers)
        format_ = f"{signs}{whole}" + (f".{decimals}" if decimals else "")
        number = f"S[table-format={format_},detect-weight]"
        return f"{number}@{{~}}l" if self.split else number

    def heads(self) -> list[str]:
        if self.split and self.numeric:
            return [rf"\multicolumn{{2}}{{c}}{{{self.head}}}"]
        return [f"{{{self.head}}}" if self.numeric else self.head]

    def cells(self, row: int, *, bold: bool) -> list[str]:
        text = self.first[row]
        if not self.numeric:
            return [rf"\textbf{{{latex_escape(self.texts[row])}}}" if bold else latex_escape(self.texts[row])]
        shown = text if _NUMBER.fullmatch(text) else f"{{{latex_escape(text)}}}" if text else ""
        first = rf"\bfseries {shown}" if bold else shown
        return [first, latex_escape(self.second[row])] if self.split else [first]


def _columns(table: Table) -> Iterator[tuple[str, Sequence[str]]]:
    """Head and cells; the first column is text whatever stands in it."""
    for j, head in enumerate(table.header):
        yield head, [row[j] for row in table.rows]


def _performance(source: TableSource) -> Table:
    """Table 1 of Landgrebe et al. 2006, with the letters of the calibrated comparisons."""
    table = tables.performance_table(source.auprec, source.iauprec, source.ranking)
    letters = source.ranking["group"].tolist()
    rows = tuple((*row, letter) for row, letter in zip(table.rows, letters, strict=True))
    note = "Bold: the largest mean. Models that share a letter were not found to differ in IAUPREC."
    return replace(table, header=(*table.header, "Group"), rows=rows, note=note)


def _pairwise(source: TableSource) -> Table:
    """The pairs of the test that the conclusions rest on."""
    rows = headline_rows(source.posthoc)
    test, response = rows["test"].iloc[0], rows["response"].iloc[0]
    named = f"{TEST_NAMES.get(test, test)} of {RESPONSE_NAMES.get(response, response)}"
    table = without(without(tables.posthoc_table(rows, alpha_of(source)), "Test"), "Measure")
    return replace(table, name="pairwise", caption=f"Pairwise differences, {named}")


def without(table: Table, head: str) -> Table:
    """The table but for one column, which says the same in every row."""
    return _only(table, [j for j, name in enumerate(table.header) if name != head])


def without_empty(table: Table) -> Table:
    """The table but for columns that are empty in every row."""
    filled = [j for j in range(len(table.header)) if j == 0 or any(row[j] for row in table.rows)]
    return _only(table, filled) if table.rows else table


def _only(table: Table, kept: Sequence[int]) -> Table:
    """Some columns of the table; what is bold stays so."""
    place = {j: new for new, j in enumerate(kept)}
    return replace(
        table,
        header=tuple(table.header[j] for j in kept),
        rows=tuple(tuple(row[j] for j in kept) for row in table.rows),
        bold=frozenset((i, place[j]) for i, j in table.bold if j in place),
    )


def fitted(text: str, command: str = FIT) -> str:
    """The float in small print, its table scaled down where it is wider than the line."""
    text = text.replace("\\centering\n", "\\centering\\footnotesize\n")
    text = text.replace("\\begin{tabular}", f"\\smallskip\n{command}{{%\n\\begin{{tabular}}")
    return text.replace("\\end{tabular}", "\\end{tabular}}")


def parts(table: Table) -> Iterator[Table]:
    """The table, cut where it would run off a page."""
    for turn, start in enumerate(range(0, max(len(table.rows), 1), LATEX_ROWS)):
        end = start + LATEX_ROWS
        yield replace(
            table,
            name=f"{table.name}-{turn + 1}" if turn else table.name,
            caption=f"{table.caption} (continued)" if turn else table.caption,
            rows=table.rows[start:end],
            bold=frozenset((i - start, j) for i, j in table.bold if start <= i < end),
        )
