"""LaTeX that aligns numbers and fits a page."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from skewanova.base.text import Table, latex_escape
from skewanova.report.source import ReportSource
from skewanova.report.tables import publication_tables

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


_NUMBER = re.compile(r"(<?)(-?)(\d+)(?:\.(\d+))?")


_MEAN_SD = re.compile(r"(\S+) (\(\S+\))")


def latex_file(source: ReportSource) -> str:
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
    column as in the plain table. Cells that are no numbers are set in braces. pandas' Styler sets a head over
    two columns only by a second row of heads, so the rows are put together here.
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
