"""LaTeX tables that fit the line in print of one size, and align their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from skewanova.base.checks import InputError
from skewanova.base.text import Table, column_blocks, latex_escape
from skewanova.report.publication import publication_tables
from skewanova.report.source import ReportSource

#: Tables of more lines go over several pages, with their heads on each.
PAGE_ROWS = 36


#: Signs of a line of small print, at two a font size: what an article of one column has.
LINE = 78


#: Longer text is broken into lines; words longer than the other limit are broken too.
LONG_TEXT, LONG_WORD = 20, 14


#: Width of a column of long text.
WRAPPED = r".25\linewidth"


LATEX_HEAD = r"""% Tables of a comparison by skewanova, to be read in with \input.
% Needs \usepackage{array}, \usepackage{booktabs}, \usepackage{longtable} and \usepackage[T1]{fontenc}.
% Names in scripts other than Latin need LuaLaTeX or XeLaTeX and a font that has them.
\makeatletter% a table with its caption that stays where it is: LaTeX holds only so many floats
\@ifundefined{skewanovatable}{\newenvironment{skewanovatable}%
  {\par\medskip\noindent\begin{minipage}{\linewidth}\def\@captype{table}\centering\footnotesize}%
  {\end{minipage}\par\medskip}}{}
\makeatother
"""


_NUMBER = re.compile(r"(<?)(-?)(\d+)(?:\.(\d+))?")


_MEAN_SD = re.compile(r"(\S+) (\(\S+\))")


def latex_file(source: ReportSource) -> str:
    """Every table in its place: none of them floats."""
    return "\n".join([LATEX_HEAD, *(_placed(table) for table in publication_tables(source).values())])


def _placed(table: Table) -> str:
    """The table as it is, but not floating."""
    text = latex_of(table, siunitx=False).replace("\\centering\\footnotesize\n", "")
    text = text.replace("\\begin{table}[htbp]", "\\begin{skewanovatable}")
    return text.replace("\\end{table}", "\\end{skewanovatable}")


def latex_of(table: Table, *, siunitx: bool, label: str | None = None) -> str:
    r"""Return a table for the packages array and booktabs, and longtable where it is longer than a page.

    Long text is broken into lines, and columns beyond the line follow below the others. With `siunitx`
    (version 3) a column of numbers is of type S; "mean (sd)" becomes two, the second in brackets. pandas'
    Styler sets a head over two columns only by a second row of heads, so the rows are put together here.
    """
    columns = [
        _Column(head, [row[j] for row in table.rows], siunitx=siunitx) for j, head in enumerate(table.header)
    ]
    blocks = column_blocks([column.width for column in columns], LINE)
    parts = [_Part(columns, [0, *block], table) for block in blocks]
    named = rf"\label{{{f'tab:{table.name}' if label is None else label}}}"
    if len(parts) * sum(_height(columns, i) for i in range(len(table.rows))) > PAGE_ROWS:
        return _over_pages(table, parts, named)
    return _float(table, parts, named)


def _height(columns: Sequence[_Column], row: int) -> int:
    """Lines of print of a row."""
    texts = (column.texts[row] for column in columns if column.wrapped)
    return max((len(text) // (LONG_TEXT - LONG_WORD // 2) + 1 for text in texts), default=1)


def check_label(label: object) -> str:
    """A label that LaTeX takes as it is."""
    if not isinstance(label, str) or not re.fullmatch(r"[A-Za-z0-9:._/-]+", label):
        raise InputError(
            f"`label` must be of letters, digits and the signs : . _ / -, but got {label!r}; write tab:main"
        )
    return label


def _float(table: Table, parts: Sequence[_Part], label: str) -> str:
    """One float, the parts below each other."""
    lines = [
        r"\begin{table}[htbp]",
        r"\centering\footnotesize",
        r"\setlength{\tabcolsep}{4pt}",
        rf"\caption{{{latex_escape(table.caption)}}}",
        label,
        r"\smallskip",
    ]
    for turn, part in enumerate(parts):
        lines += [r"\par\medskip"] if turn else []
        lines += [rf"\begin{{tabular}}{{{part.layout}}}", r"\toprule", part.head, r"\midrule"]
        lines += [*part.rows, r"\bottomrule", r"\end{tabular}"]
    return "\n".join([*lines, *_note(table), r"\end{table}"]) + "\n"


def _over_pages(table: Table, parts: Sequence[_Part], label: str) -> str:
    """A table over several pages under one number; further parts go on under the same."""
    lines = [
        r"\begingroup\footnotesize",
        r"\setlength{\tabcolsep}{4pt}\setlength{\LTcapwidth}{\linewidth}",
    ]
    caption = latex_escape(table.caption)
    for turn, part in enumerate(parts):
        first = rf"\caption[]{{{caption} (continued)}}\\" if turn else rf"\caption{{{caption}}}{label}\\"
        head = [r"\toprule", part.head, r"\midrule"]
        lines += [r"\addtocounter{table}{-1}"] if turn else []
        lines += [rf"\begin{{longtable}}{{{part.layout}}}", first, *head, r"\endfirsthead"]
        lines += [rf"\caption[]{{{caption} (continued)}}\\", *head, r"\endhead"]
        lines += [r"\bottomrule", r"\endfoot", *part.rows, r"\end{longtable}"]
    return "\n".join([*lines, *_note(table), r"\par\endgroup"]) + "\n"


def _note(table: Table) -> list[str]:
    """What the reader must know, below the table."""
    if not table.note:
        return []
    return [
        "",
        rf"\smallskip\noindent\parbox{{\linewidth}}{{\footnotesize\raggedright {latex_escape(table.note)}}}",
    ]


class _Part:
    """Columns of a table that stand side by side: layout, heads and rows in LaTeX."""

    def __init__(self, columns: Sequence[_Column], places: Sequence[int], table: Table) -> None:
        displayed = [columns[j] for j in places]
        self.layout = "".join(column.layout for column in displayed)
        self.head = rf"{' & '.join(column.latex_head for column in displayed)} \\"
        cells = (
            [columns[j].cell(i, bold=(i, j) in table.bold) for j in places] for i in range(len(table.rows))
        )
        self.rows = [rf"{' & '.join(row)} \\" for row in cells]


@dataclass
class _Column:
    """One column of a table in LaTeX: text, numbers, or numbers with brackets behind them."""

    head: str
    texts: Sequence[str]
    siunitx: bool

    def __post_init__(self) -> None:
        pairs = [_MEAN_SD.fullmatch(cell) for cell in self.texts]
        self.split = self.siunitx and bool(pairs) and all(pairs)
        self.first = [
            pair[1] if pair and self.split else cell for pair, cell in zip(pairs, self.texts, strict=True)
        ]
        self.second = [pair[2] if pair else "" for pair in pairs]
        result = [_NUMBER.fullmatch(cell) for cell in self.first]
        self.numbers = [match for match in result if match]
        others = {cell for cell, match in zip(self.first, result, strict=True) if not match}
        self.aligned = self.siunitx and bool(self.numbers) and others <= {"", "inf", "-inf"}
        self.numeric = any(self.texts) and all(map(_begins_with_a_number, self.texts))
        self.longest = max(map(len, self.texts), default=0)
        self.wrapped = not self.numeric and self.longest > LONG_TEXT
        self.width = max(min(self.longest, LONG_TEXT) if self.wrapped else self.longest, _widest(self.lines))

    @property
    def lines(self) -> list[str]:
        """The head, broken where its cells are narrower."""
        room = max(LONG_TEXT if self.wrapped else self.longest, *map(len, self.head.split()), 1)
        lines = [""]
        for word in self.head.split():
            longer = f"{lines[-1]} {word}".strip()
            lines = [*lines[:-1], longer] if len(longer) <= room else [*lines, word]
        return lines

    @property
    def layout(self) -> str:
        """How the column is set: numbers to the right or at their points, text to the left."""
        if self.wrapped:
            return rf">{{\raggedright\arraybackslash}}p{{{WRAPPED}}}"
        if not self.aligned:
            return "r" if self.numeric else "l"
        signs = max(match[1] for match in self.numbers) + max(match[2] for match in self.numbers)
        whole = max(len(match[3]) for match in self.numbers)
        decimals = max(len(match[4] or "") for match in self.numbers)
        format_ = f"{signs}{whole}" + (f".{decimals}" if decimals else "")
        number = f"S[table-format={format_},detect-weight]"
        return f"{number}@{{~}}l" if self.split else number

    @property
    def latex_head(self) -> str:
        """The head, over both columns where there are two."""
        lines = [latex_escape(line) for line in self.lines]
        side = "c" if self.aligned else "r" if self.numeric else "l"
        text = lines[0]
        if len(lines) > 1:
            stacked = r"\\".join(lines)
            text = rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{stacked}\end{{tabular}}"
        if self.aligned and self.split:
            return rf"\multicolumn{{2}}{{c}}{{{text}}}"
        return f"{{{text}}}" if self.aligned else text

    def cell(self, row: int, *, bold: bool) -> str:
        """One cell, or two behind each other."""
        text = self.first[row]
        if not self.aligned:
            cell = _breakable(self.texts[row]) if self.wrapped else latex_escape(self.texts[row])
            return rf"\textbf{{{cell}}}" if bold else cell
        cell = text if _NUMBER.fullmatch(text) else f"{{{latex_escape(text)}}}" if text else ""
        first = rf"\bfseries {cell}" if bold else cell
        return f"{first} & {latex_escape(self.second[row])}" if self.split else first


def _widest(lines: Sequence[str]) -> int:
    return max(map(len, lines))


def _begins_with_a_number(cell: str) -> bool:
    return not cell or cell.lstrip("-<(")[:1].isdecimal() or cell in {"inf", "-inf"}


def _breakable(text: str) -> str:
    """Text whose long words may be broken: behind a sign, or anywhere in a row of too many letters."""
    return " ".join(_broken(word) if len(word) > LONG_WORD else latex_escape(word) for word in text.split())


def _broken(word: str) -> str:
    pieces = re.findall(rf"[^\W_]{{1,{LONG_WORD}}}|-+|.", word)
    return r"\allowbreak{}".join(map(latex_escape, pieces))
