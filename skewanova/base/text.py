"""Tables of formatted text, formats of numbers, escapes of names, and stages of a run."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

import numpy as np

from skewanova.base.checks import set_variable
from skewanova.base.frames import FrameResult, iter_rows, make_frame

if TYPE_CHECKING:
    import pandas as pd

#: Largest number of characters of a name in a text table; files have full names.
NAME_WIDTH = 24


SCREEN_WIDTH = 80


#: Largest number of names in a sentence; other names are counted.
MAX_NAMES = 5


#: Largest number of rows of a table; files have all rows.
MAX_ROWS = 1000


@dataclass(frozen=True)
class Table(FrameResult):
    """Table of formatted text that is not yet escaped; `report.publication` writes LaTeX.

    Attributes
    ----------
    name : str
        Short name, used in LaTeX labels.
    caption : str
        Caption.
    header : tuple of str
        Column heads.
    rows : tuple of tuple of str
        Cells.
    bold : frozenset of (int, int)
        Cells (row, column) to emphasise.
    note : str
        Note below the table.
    explanations : mapping of str to str
        Sentences that the note adds for the columns with these heads.
    """

    name: str
    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    bold: frozenset[tuple[int, int]] = frozenset()
    note: str = ""
    explanations: Mapping[str, str] = field(default_factory=dict)

    @property
    def full_note(self) -> str:
        """The note and the explanations of the columns that the table has, as one text."""
        texts = (text for head, text in self.explanations.items() if head in self.header)
        return " ".join(filter(None, [self.note, *dict.fromkeys(texts)]))

    @property
    def is_numeric(self) -> list[bool]:
        """List by column, True if all cells are numbers or empty; False for the first."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.header)
        return [i > 0 and all(map(is_number, cells)) for i, cells in enumerate(columns)]

    def to_frame(self) -> pd.DataFrame:
        """Return a frame of the cells as text, with the heads as columns."""
        return make_frame(list(self.rows), self.header)

    def to_text(self, width: int = SCREEN_WIDTH, names: Mapping[str, str] | None = None) -> str:
        """Return caption, columns in blocks of `width`, note; `names` shorten cells (default: column 0's)."""
        short = shorten_names(row[0] for row in self.rows) if names is None else names
        rows = [[short.get(cell, cell) for cell in row] for row in self.rows]
        first = max(len(shorten_name(row[0])) for row in [self.header, *rows])
        room = [first, *[max(width - 2 - first, 4)] * (len(self.header) - 1)]
        cells = [[shorten_name(c, n) for c, n in zip(row, room, strict=True)] for row in (self.header, *rows)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines, numeric = [textwrap.fill(self.caption, width)], self.is_numeric
        for block in pack_columns(widths, width):
            lines.append("")
            for row in cells:
                parts = [(str.rjust if numeric[j] else str.ljust)(row[j], widths[j]) for j in [0, *block]]
                lines.append("  ".join(parts).rstrip())
        return "\n".join([*lines, *(["", textwrap.fill(self.full_note, width)] if self.full_note else [])])

    def _formatted(self, escape_cell: Callable[[str], str], plain: str, bold: str) -> list[list[str]]:
        """Return the escaped cells of every row, each in the plain or the bold format."""
        forms = {False: plain, True: bold}
        return [
            [forms[(i, j) in self.bold].format(escape_cell(cell)) for j, cell in enumerate(row)]
            for i, row in enumerate(self.rows)
        ]

    def to_markdown(self) -> str:
        """Return a GitHub-flavoured Markdown table with its caption and note."""
        heads = [escape_markdown(cell) for cell in self.header]
        rules = ["---:" if numeric else "---" for numeric in self.is_numeric]
        rows = [heads, rules, *self._formatted(escape_markdown, "{}", "**{}**")]
        lines = ["| " + " | ".join(row) + " |" for row in rows]
        note = f"\n\n{escape_markdown(self.full_note)}" if self.full_note else ""
        return f"**{escape_markdown(self.caption)}**\n\n" + "\n".join(lines) + note

    def to_html(self) -> str:
        """Return an HTML table of class "skewanova" with its caption, then its note; no column is aligned."""
        head = "".join(f'<th scope="col">{_escape_html(cell)}</th>' for cell in self.header)
        rows = self._formatted(_escape_html, "<td>{}</td>", "<td><strong>{}</strong></td>")
        body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in rows)
        note = f"\n<p>{_escape_html(self.full_note)}</p>" if self.full_note else ""
        return (
            f'<table class="skewanova">\n<caption>{_escape_html(self.caption)}</caption>\n'
            f"<thead>\n<tr>{head}</tr>\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>{note}"
        )


def is_number(cell: str, signs: str = "-<(") -> bool:
    """Return True if a cell is "", "inf", "-inf", or begins with a digit after any number of the signs."""
    return not cell or cell.lstrip(signs)[:1].isdecimal() or cell in {"inf", "-inf"}


def build_table(
    name: str, caption: str, frame: pd.DataFrame, cells: Mapping[str, Callable[[Any], str]], *, note: str = ""
) -> Table:
    """Return a table with a row for each row of a frame; `cells` maps a head to a formatter of named rows."""
    rows = tuple(tuple(cell(row) for cell in cells.values()) for row in iter_rows(frame))
    return Table(name, caption, tuple(cells), rows, note=note)


def format_column(column: str, digits: int | None = None) -> Callable[[Any], str]:
    """Return a function of a row that formats its attribute `column` in `digits` or the default decimals."""
    return lambda row: format_number(getattr(row, column), digits)


def format_limits(row: Any) -> str:
    """Return the text "LOW to HIGH" of the `conf_low` and `conf_high` of a row; empty if the lower is nan."""
    return format_interval(row.conf_low, row.conf_high)


def format_interval(low: float, high: float, digits: int | None = None) -> str:
    """Return "LOW to HIGH" of two limits in `digits` or the default decimals; empty if the lower is nan."""
    return "" if np.isnan(low) else f"{format_number(low, digits)} to {format_number(high, digits)}"


def format_prior_interval(row: Any) -> str:
    """Return "LOW[ or below] to HIGH[ or above]", three digits each, by conf_* and open_*; "" if nan."""
    if np.isnan(row.conf_low):
        return ""
    low = f"{row.conf_low:.3g}" + (" or below" if row.open_low else "")
    high = f"{row.conf_high:.3g}" + (" or above" if row.open_high else "")
    return f"{low} to {high}"


def format_with_error(value: float, error: float) -> str:
    """Return the text "VALUE (ERROR)", or only the value if the standard error is nan."""
    return format_number(value) if np.isnan(error) else f"{format_number(value)} ({format_number(error)})"


def truncate_rows(frame: pd.DataFrame, file: str) -> tuple[pd.DataFrame, str]:
    """Return the first rows of each test and response, about MAX_ROWS in all, and a sentence on it or ""."""
    if len(frame) <= MAX_ROWS:
        return frame, ""
    families = [column for column in ("test", "response") if column in frame]
    groups = frame.groupby(families, sort=False, observed=True) if families else None
    rows = frame.head(MAX_ROWS) if groups is None else groups.head(max(1, MAX_ROWS // groups.ngroups))
    each = " of each test" if families else ""
    return rows, f"The first rows{each}, {len(rows):,} of {len(frame):,}: {file} holds them all."


#: Default number of decimals.
_decimals: ContextVar[int] = ContextVar("decimals", default=3)


def set_decimals(digits: int) -> AbstractContextManager[None]:
    """Return a context in which this is the default number of decimals of `format_number`."""
    return set_variable(_decimals, digits)


#: Largest number of decimals of small numbers.
MAX_DECIMALS = 6


def format_number(value: float, digits: int | None = None) -> str:
    """Return text with fixed decimals, by default 3 or as set; nan is "", infinity "inf", 0 has no sign."""
    if not np.isfinite(value):
        return "" if np.isnan(value) else f"{value:g}"
    text = f"{value:.{_decimals.get() if digits is None else digits}f}"
    return text if float(text) else text.removeprefix("-")


def count_decimals(values: Iterable[float]) -> int:
    """Return the fewest decimals, from the default to six, at which no number but 0 is rounded to 0."""
    sizes = [value for value in values if value and np.isfinite(value)]
    digits = range(_decimals.get(), MAX_DECIMALS)
    return next((n for n in digits if all(round(size, n) for size in sizes)), max(digits.start, digits.stop))


def format_factor(value: float) -> str:
    """Return a number with two significant digits, and no exponent from 0.0001 on: 3.2, 47, 1,200."""
    rounded = float(f"{value:.2g}")
    return f"{rounded:,.0f}" if rounded >= 10 else f"{rounded:g}"


def format_p(value: float) -> str:
    """Return a p-value with two decimals, three below 0.1, four below 0.01, up to six near 0.05; "" if nan.

    Examples
    --------
    >>> from skewanova.base.text import format_p
    >>> format_p(0.04567), format_p(0.0048), format_p(1e-9), format_p(0.0496)
    ('0.046', '0.0048', '<0.0001', '0.0496')
    """
    if np.isnan(value):
        return ""
    if value < 1e-4:
        return "<0.0001"
    digits = 4 if value < 0.01 else 3 if value < 0.1 else 2
    while digits < MAX_DECIMALS and round(value, digits) == 0.05 != value:  # the side of the usual level
        digits += 1
    return f"{value:.{digits}f}"


def write_p(value: float) -> str:
    """Return a p-value as text with its name: "p = 0.050", "p <0.0001" or "p undefined"."""
    text = format_p(value)
    return "p undefined" if not text else f"p {text}" if text.startswith("<") else f"p = {text}"


def escape_latex(text: str) -> str:
    r"""Return text with what LaTeX reads as a command escaped, and "-" before a number as $-$.

    Examples
    --------
    >>> from skewanova.base.text import escape_latex
    >>> print(escape_latex("a_b%$"))
    a\_b\%\$
    """
    # NFC, because pdflatex cannot typeset separate accents
    escaped = "".join(_LATEX_ESCAPES.get(sign, sign) for sign in normalize("NFC", escape_text(text)))
    return re.sub(r"(?<![\w.])-(?=\d)", "$-$", re.sub("-(?=-)", "-{}", escaped))


def escape_markdown(text: str) -> str:
    r"""Return the text on one line, with every character escaped that Markdown or HTML would act on.

    Examples
    --------
    >>> from skewanova.base.text import escape_markdown
    >>> print(escape_markdown("<script>|a_b"))
    \<script\>\|a\_b
    """
    return re.sub(r"([\\`*_{}\[\]<>|#~$&!])", r"\\\1", escape_text(text))


_LATEX_ESCAPES: Mapping[str, str] = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "{}$&#_%"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "[": "{[}",  # at the start of a row, LaTeX reads it as an argument of the line break above
    "*": "{*}",
}


def _escape_html(text: str) -> str:
    """Return the text with `escape_text` applied, and HTML signs such as < as entities."""
    return escape(escape_text(text))


def escape_text(text: str) -> str:
    """Return text on one line, every white space a space, with backslash escapes for invisible characters."""
    return "".join(map(_escape_sign, str(text)))


def _escape_sign(sign: str) -> str:
    """Return the character, a space for white space, or a backslash escape if it is invisible."""
    if sign.isspace():
        return " "
    printable = sign.isprintable() and not _INVISIBLE.match(sign)
    return sign if printable else sign.encode("unicode_escape").decode()


def escape_lines(text: str) -> str:
    """Return the text with :func:`escape_text` applied to each line."""
    return "\n".join(map(escape_text, text.split("\n")))


#: Invisible characters that Unicode counts as printable: fillers, joiners, variation selectors.
_INVISIBLE = re.compile(
    "[\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180d\\u180f\\u2800\\u3164\\ufe00-\\ufe0f\\uffa0"
    "\\U000e0100-\\U000e01ef]"
)


def shorten_names(names: Iterable[str], width: int = NAME_WIDTH) -> dict[str, str]:
    """Return the short form by name, at most `width` long, on one line and distinct from the others.

    Examples
    --------
    >>> from skewanova.base.text import shorten_names
    >>> list(shorten_names(["forest", "a" * 40 + "x", "a" * 30 + "x"]).values())
    ['forest', 'aaaaaaaaaaaaaaaaaaaaa...', 'aaaaaaaaaaaaaaaaa... (2)']
    """
    short: dict[str, str] = {}
    for name in dict.fromkeys(names):
        label, copy = shorten_name(name, width), 1
        while label in short.values():
            copy += 1
            mark = f" ({copy})"
            label = shorten_name(name, width - len(mark)) + mark
        short[name] = label
    return short


def wrap_lines(lines: Iterable[str], width: int) -> str:
    """Return the lines wrapped to the width, with continuation lines indented, as one text."""
    return "\n".join(textwrap.fill(line, width, subsequent_indent="  ") for line in lines)


def format_section(title: str, items: Iterable[str], width: int) -> str:
    """Return a title, not wrapped, and a bulleted list, wrapped to the width, as one text."""
    return "\n".join([title, *(format_item(text, width) for text in items)])


def format_item(text: str, width: int) -> str:
    """Return the text as a bulleted item, wrapped to the width."""
    return textwrap.fill(text, width, initial_indent="- ", subsequent_indent="  ")


def group_notes(notes: Iterable[tuple[str, str]]) -> list[list[tuple[str, str]]]:
    """Return groups of distinct pairs (name, note) whose notes differ only in numbers and quoted names.

    Examples
    --------
    >>> from skewanova.base.text import group_notes
    >>> [len(group) for group in group_notes([("x", "5 cases"), ("y", "few"), ("z", "7 cases")])]
    [2, 1]
    """
    groups: dict[str, list[tuple[str, str]]] = {}
    for name, note in dict.fromkeys(notes):
        groups.setdefault(re.sub(r"\d[\d.,]*|'[^']*'", "", note), []).append((name, note))
    return list(groups.values())


def shorten_notes(notes: Iterable[str]) -> list[str]:
    """Return the first of notes that differ only in numbers and quoted names, with "(and N more like it)"."""
    groups = group_notes(("", note) for note in notes)
    return [f"{note} (and {len(others)} more like it)" if others else note for (_, note), *others in groups]


def merge_notes(what: str, notes: Mapping[str, Iterable[str]]) -> list[str]:
    """Return sentences on notes about things by name; similar notes are one with up to MAX_NAMES more names.

    Examples
    --------
    >>> from skewanova.base.text import merge_notes
    >>> merge_notes("data set", {"x": ["5 cases are few"], "y": [], "z": ["7 cases are few"]})
    ['data set x: 5 cases are few (and likewise z)']
    """
    pairs = [(name, note) for name, several in notes.items() for note in several]
    sentences = []
    for (name, note), *others in group_notes(pairs):
        names = list(dict.fromkeys(escape_text(other) for other, _ in others if other != name))
        more_names = [f"{len(names) - MAX_NAMES} more"] if len(names) > MAX_NAMES else []
        rest = ", ".join([*names[:MAX_NAMES], *more_names])
        sentences.append(f"{what} {escape_text(name)}: {note}" + (f" (and likewise {rest})" if rest else ""))
    return sentences


def shorten_name(name: str, width: int = NAME_WIDTH) -> str:
    """Return the name on one line, single-spaced; if longer than `width`, cut to it with "..." at the end."""
    line = " ".join(escape_text(name).split())
    return line if len(line) <= width else f"{line[: max(width - 3, 1)].rstrip()}..."


def pack_columns(widths: Sequence[int], width: int) -> list[list[int]]:
    """Return blocks of one or more columns from 1 that fit beside column 0 with gaps of 2; [[]] if none."""
    blocks: list[list[int]] = [[]]
    for column in range(1, len(widths)):
        used = widths[0] + sum(2 + widths[j] for j in [*blocks[-1], column])
        if blocks[-1] and used > width:
            blocks.append([])
        blocks[-1].append(column)
    return blocks


def drop_column(table: Table, head: str) -> Table:
    """Return the table without any column of this head; unchanged if there is none."""
    return select_cells(table, [j for j, name in enumerate(table.header) if name != head])


def drop_empty_columns(table: Table) -> Table:
    """Return the table without its empty columns except the first; unchanged if it has no rows."""
    filled = [j for j in range(len(table.header)) if j == 0 or any(row[j] for row in table.rows)]
    return select_cells(table, filled) if table.rows else table


def select_cells(
    table: Table, columns: Sequence[int] | None = None, *, rows: Sequence[int] | None = None
) -> Table:
    """Return the table with these columns and rows, in this order; None is all."""
    across = range(len(table.header)) if columns is None else columns
    down = range(len(table.rows)) if rows is None else rows
    cells = [[(i, j) for j in across] for i in down]
    bold = {(i, j) for i, row in enumerate(cells) for j, cell in enumerate(row) if cell in table.bold}
    return replace(
        table,
        header=tuple(table.header[j] for j in across),
        rows=tuple(tuple(table.rows[i][j] for i, j in row) for row in cells),
        bold=frozenset(bold),
    )


#: Stages of a comparison, in order, before those of its figures.
STAGES = ("scores", "measures", "tests of all models", "pairs of models", "ranking, differences")


_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def report_stage(name: str) -> None:
    """Call the listener of the block, if any, with the name of a stage that begins."""
    listener = _listener.get()
    if listener is not None:
        listener(name)


def listen_to_stages(listener: Callable[[str], None]) -> AbstractContextManager[None]:
    """Return a context in which `listener` is called with the name of each stage that begins."""
    return set_variable(_listener, listener)
