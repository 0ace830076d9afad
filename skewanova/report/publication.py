"""For a paper: methods with references, tables that fit the page, and a folder with results and a figure."""

from __future__ import annotations

import os
import re
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import resources
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.checks import InputError, InputTypeError, check_choice, check_count
from skewanova.base.folders import replace_folder
from skewanova.base.frames import iter_rows
from skewanova.base.text import (
    Table,
    drop_column,
    drop_empty_columns,
    escape_latex,
    escape_markdown,
    format_number,
    format_p,
    is_number,
    pack_columns,
    select_cells,
    set_decimals,
    shorten_name,
)
from skewanova.inference.catalogue import TESTS, get_test
from skewanova.report import sentences
from skewanova.report.source import (
    TEMPLATES,
    TEXTS,
    ReportSource,
    TestedResult,
    build_provenance,
    fill_template,
    format_level,
    get_control,
    orient_pairs,
    select_primary,
)
from skewanova.report.tables import NO_ADVICE, add_columns, write_cases
from skewanova.scores.design import FoldDesign

#: Tables with more lines span several pages.
MAX_PAGE_LINES = 36


#: Characters of a line in footnote size, in an article of one column.
LINE_WIDTH = 78


#: Longer texts are wrapped, and longer words may be divided.
MAX_TEXT, MAX_WORD = 20, 14


#: What the tables of a folder need before them.
LATEX_HEAD = (TEMPLATES / "tables.tex").read_text(encoding="utf-8")


_NUMBER = re.compile(r"(<?)(-?)(\d+)(?:\.(\d+))?")


_MEAN_SD = re.compile(r"\S+ \(\S+\)")


def build_publication_table(
    source: TestedResult,
    name: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    rows: int | Sequence[str] | None = None,
    digits: int | None = None,
    caption: str | None = None,
) -> Table:
    """Return one table of a result, by default its first, without empty columns.

    It is cut to `rows`, a number or the names in cells, and then to `columns`, headings in the order wanted.
    """
    names = list(source.SPECS)
    name = check_choice(names[0] if name is None else name, names, "table")
    with nullcontext() if digits is None else set_decimals(check_count(digits, "digits", minimum=0)):
        table = drop_empty_columns(source.SPECS[name].make(source))
    if rows is not None:
        table = select_cells(table, rows=_find_rows(table, rows))
    if columns is not None:
        table = select_cells(table, _find_columns(table, columns))
    return table if caption is None else replace(table, caption=str(caption))


def _find_columns(table: Table, columns: Any) -> list[int]:
    """Return the indices of a list of headings, in its order; raise unless it has one or more, all known."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InputTypeError(f"`columns` must be a list from {', '.join(table.header)}, not {columns!r}")
    result = [table.header.index(check_choice(head, table.header, "columns")) for head in columns]
    if not result:
        raise InputError(f"`columns` must name at least one of {', '.join(table.header)}, but is empty")
    return result


def _find_rows(table: Table, rows: Any) -> list[int]:
    """Return indices of the first `rows`, or, in its order, of those with a cell of that name; or raise."""
    if isinstance(rows, str) or not isinstance(rows, int | np.integer | Iterable):
        example = [row[0] for row in table.rows[:1]]
        raise InputTypeError(f"`rows` must be a number or a list of names, as {example}, but got {rows!r}")
    if isinstance(rows, int | np.integer):
        number: Any = rows
        return list(range(min(check_count(number, "rows", minimum=1), len(table.rows))))
    result: dict[int, None] = {}
    for requested in rows:
        name = get_test(requested).name if requested in [*TESTS] else requested
        # the cell of a test has its measure too
        matches = [
            i for i, row in enumerate(table.rows) if any(f"{c}, ".startswith(f"{name}, ") for c in row)
        ]
        if not matches:
            check_choice(requested, list(dict.fromkeys(row[0] for row in table.rows)), "rows")
        result |= dict.fromkeys(matches)
    if not result:
        raise InputError("`rows` must name at least one model, pair or test, but is empty; None has all rows")
    return list(result)


#: Tables of the page and of the folder, in order; `to_latex` has the others.
REPORT_TABLES = ("leaders", "ranking", "pairwise", "performance", "assumptions", "plans", "tests")


#: Rows of each of them; the files have all.
MAX_REPORT_ROWS = 20


#: Letters of more models would be long words.
MAX_GROUPED_MODELS = 10


def build_report_tables(source: TestedResult) -> dict[str, Table]:
    """Return those of REPORT_TABLES that have rows, by name, cut to MAX_REPORT_ROWS.

    Left out are secondary tests, checks without advice, the column Group of more than MAX_GROUPED_MODELS
    models without a control and, if no test is reliable, leaders. `pairwise` has p-values of equivalence too.
    """
    tables = {name: build_publication_table(source, name) for name in REPORT_TABLES if name in source.SPECS}
    published = source.tests["role"].isin(["primary", "published"])
    tables["tests"] = select_cells(tables["tests"], rows=np.flatnonzero(published).tolist())
    checks = tables["assumptions"]
    rows = [i for i, row in enumerate(checks.rows) if row[-1] != NO_ADVICE]
    note = f"{len(checks.rows) - len(rows)} more checks have nothing to add."
    tables["assumptions"] = replace(select_cells(checks, rows=rows), note=note)
    tables["pairwise"] = _add_equivalence(source, tables["pairwise"])
    if len(source.ranking) > MAX_GROUPED_MODELS and get_control(source) is None:
        for name in tables.keys() & {"ranking", "performance"}:
            tables[name] = drop_column(tables[name], "Group")
    if not source.verdict.is_trusted:
        tables.pop("leaders", None)
    return {
        name: _cut_rows(table, source.SPECS[name].files[0]) for name, table in tables.items() if table.rows
    }


def _add_equivalence(source: TestedResult, table: Table) -> Table:
    """Return the table with the adjusted p of equivalence, if tests are reliable and rows are all pairs."""
    frame = source.tables["equivalence"]
    if not source.verdict.is_trusted or len(frame) != len(table.rows):
        return table
    head = f"Equal within {frame['rope'].iloc[0]:g}: p"
    return add_columns(table, {head: map(format_p, frame["p_adjusted"])})


def _cut_rows(table: Table, file: str) -> Table:
    """Return the table; if over MAX_REPORT_ROWS rows, the first of these, with a note that `file` has all."""
    if len(table.rows) <= MAX_REPORT_ROWS:
        return table
    note = f"{table.note} The first {MAX_REPORT_ROWS} of {len(table.rows):,} rows; {file} has all.".strip()
    return replace(select_cells(table, rows=range(MAX_REPORT_ROWS)), note=note)


# --- LaTeX --------------------------------------------------------------------------------------------------


def write_fixed_latex(table: Table) -> str:
    """Return the LaTeX of a table as a ``skewanovatable`` of LATEX_HEAD, or longtable, not a float."""
    text = write_latex(table, siunitx=False).replace("\\centering\\footnotesize\n", "")
    text = text.replace("\\begin{table}[htbp]", "\\begin{skewanovatable}")
    return text.replace("\\end{table}", "\\end{skewanovatable}")


def write_latex(table: Table, *, siunitx: bool, label: str | None = None) -> str:
    r"""Return the LaTeX of a table for array and booktabs, and longtable if it is longer than a page.

    Columns that do not fit the line follow below. With `siunitx`, numbers have type S, and "mean (sd)" is two
    columns under one heading. The label is ``tab:NAME`` if `label` is None.
    """
    columns = [
        _LatexColumn(head, [row[j] for row in table.rows], siunitx=siunitx)
        for j, head in enumerate(table.header)
    ]
    blocks = [[0, *block] for block in pack_columns([column.width for column in columns], LINE_WIDTH)]
    label = rf"\label{{{f'tab:{table.name}' if label is None else label}}}"
    n_lines = sum(_estimate_row_lines(columns, i) for i in range(len(table.rows)))
    is_long = len(blocks) * n_lines > MAX_PAGE_LINES
    caption = escape_latex(table.caption)
    start, end = (_START_LONG, r"\par\endgroup") if is_long else (_START_FLOAT, r"\end{table}")
    lines = [*start] if is_long else [*start, rf"\caption{{{caption}}}", label, r"\smallskip"]
    for number, block in enumerate(blocks):
        layout = "".join(columns[j].layout for j in block)
        head = [r"\toprule", _join_cells(columns[j].latex_head for j in block), r"\midrule"]
        rows = [
            _join_cells(columns[j].write_cell(i, bold=(i, j) in table.bold) for j in block)
            for i in range(len(table.rows))
        ]
        if is_long:
            repeated = rf"\caption[]{{{caption} (continued)}}\\"
            first = repeated if number else rf"\caption{{{caption}}}{label}\\"
            lines += [r"\addtocounter{table}{-1}"] if number else []
            lines += [rf"\begin{{longtable}}{{{layout}}}", first, *head, r"\endfirsthead"]
            lines += [repeated, *head, r"\endhead", r"\bottomrule", r"\endfoot", *rows]
            lines += [r"\end{longtable}"]
        else:
            lines += [r"\par\medskip"] if number else []
            lines += [rf"\begin{{tabular}}{{{layout}}}", *head, *rows, r"\bottomrule", r"\end{tabular}"]
    if table.full_note:
        note = rf"{{\footnotesize\raggedright {escape_latex(table.full_note)}}}"
        lines += ["", rf"\smallskip\noindent\parbox{{\linewidth}}{note}"]
    return "\n".join([*lines, end]) + "\n"


_START_FLOAT = (r"\begin{table}[htbp]", r"\centering\footnotesize", r"\setlength{\tabcolsep}{4pt}")


#: A table over several pages keeps its number for the columns that follow below.
_START_LONG = (r"\begingroup\footnotesize", r"\setlength{\tabcolsep}{4pt}\setlength{\LTcapwidth}{\linewidth}")


def _join_cells(cells: Iterable[str]) -> str:
    r"""Return a row of LaTeX: the cells, separated by ``&`` and ended by ``\\``."""
    return rf"{' & '.join(cells)} \\"


def _estimate_row_lines(columns: Sequence[_LatexColumn], row: int) -> int:
    """Return about how many lines of 13 characters a row's longest wrapped text takes; at least one."""
    texts = (column.texts[row] for column in columns if column.wrapped)
    return max((len(text) // (MAX_TEXT - MAX_WORD // 2) + 1 for text in texts), default=1)


def check_label(label: object) -> str:
    """Return the label, or raise unless it is a text of ASCII letters, digits and : . _ / - only."""
    if not isinstance(label, str) or not re.fullmatch(r"[A-Za-z0-9:._/-]+", label):
        raise InputError(
            f"`label` must consist of letters, digits and : . _ / -, such as 'tab:main', but got {label!r}"
        )
    return label


@dataclass
class _LatexColumn:
    """One column of a table in LaTeX: text, numbers, or numbers followed by numbers in brackets."""

    head: str
    texts: Sequence[str]
    siunitx: bool

    def __post_init__(self) -> None:
        """Split cells "mean (sd)" for siunitx, and set alignment, wrapping and width in characters."""
        self.split = self.siunitx and bool(self.texts) and all(map(_MEAN_SD.fullmatch, self.texts))
        parts = [cell.split(" ") if self.split else [cell, ""] for cell in self.texts]
        self.first, self.second = ([part[i] for part in parts] for i in range(2))
        self.numbers = [*filter(None, map(_NUMBER.fullmatch, self.first))]
        others = {cell for cell in self.first if not _NUMBER.fullmatch(cell)}
        self.aligned = self.siunitx and bool(self.numbers) and others <= {"", "inf", "-inf"}
        self.numeric = any(self.texts) and all(map(is_number, self.texts))
        longest = max(map(len, self.texts), default=0)
        self.wrapped = not self.numeric and longest > MAX_TEXT
        cells_width = MAX_TEXT if self.wrapped else longest
        room = max(cells_width, *map(len, self.head.split()), 1)
        self.head_lines = textwrap.wrap(self.head, room, break_on_hyphens=False)
        self.width = max(cells_width, *map(len, self.head_lines))

    @property
    def layout(self) -> str:
        """Column type of the tabular: l or wrapped p for text, r or S (decimal points) for numbers."""
        if self.wrapped:
            return r">{\raggedright\arraybackslash}p{.25\linewidth}"
        if not self.aligned:
            return "r" if self.numeric else "l"
        less, minus, integers, decimals = (
            max((match[group] or "" for match in self.numbers), key=len) for group in range(1, 5)
        )
        format_ = f"{less}{minus}{len(integers)}" + (f".{len(decimals)}" if decimals else "")
        column = f"S[table-format={format_},detect-weight]"
        return f"{column}@{{~}}l" if self.split else column

    @property
    def latex_head(self) -> str:
        """Heading in LaTeX, over both columns if there are two."""
        side = "c" if self.aligned else "r" if self.numeric else "l"
        text = r"\\".join(map(escape_latex, self.head_lines))
        if len(self.head_lines) > 1:
            text = rf"\begin{{tabular}}[b]{{@{{}}{side}@{{}}}}{text}\end{{tabular}}"
        if self.aligned and self.split:
            return rf"\multicolumn{{2}}{{c}}{{{text}}}"
        return f"{{{text}}}" if self.aligned else text

    def write_cell(self, row: int, *, bold: bool) -> str:
        """Return the LaTeX of one cell, or of two for a number with brackets."""
        text = self.first[row]
        if not self.aligned:
            cell = _allow_breaks(self.texts[row]) if self.wrapped else escape_latex(self.texts[row])
            return rf"\textbf{{{cell}}}" if bold else cell
        cell = text if _NUMBER.fullmatch(text) else f"{{{escape_latex(text)}}}" if text else ""
        first = rf"\bfseries {cell}" if bold else cell
        return f"{first} & {escape_latex(self.second[row])}" if self.split else first


def _allow_breaks(text: str) -> str:
    """Return a text in LaTeX that may break in long words: after each sign, and between many letters."""
    pattern = rf"[^\W_]{{1,{MAX_WORD}}}|-+|."
    words = (re.findall(pattern, word) if len(word) > MAX_WORD else [word] for word in text.split())
    return " ".join(r"\allowbreak{}".join(map(escape_latex, pieces)) for pieces in words)


# --- methods ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reference:
    """A work by its BibTeX entry; a text cites it by the surname of its first author."""

    key: str
    entry: str

    @cached_property
    def fields(self) -> dict[str, str]:
        """Fields of the entry by name, as Unicode text."""
        entry = self.entry
        for command, sign in {"{\\'i}": "\u00ed", "{\\v s}": "\u0161", "\\&": "&"}.items():
            entry = entry.replace(command, sign)
        return dict(re.findall(r"^  (\w+) = \{+(.*?)\}+,$", entry, flags=re.MULTILINE))

    @property
    def surname(self) -> str:
        """Surname of the first author."""
        return self.fields["author"].split(",")[0]

    @property
    def year(self) -> int:
        """Year of publication."""
        return int(self.fields["year"])

    def to_text(self) -> str:
        """Return one line of text: authors (year), title, place of publication, volume and pages."""
        fields, places = self.fields, ("journal", "booktitle", "publisher", "howpublished")
        venue = next(fields[name] for name in places if name in fields)
        volume = f" {fields['volume']}" if "volume" in fields else ""
        pages = f", {fields['pages'].replace('--', chr(0x2013))}" if "pages" in fields else ""
        authors = fields["author"].replace(" and ", "; ")
        return f"{authors} ({self.year}). {fields['title']}. {venue}{volume}{pages}."


_BIBLIOGRAPHY = (resources.files("skewanova.report") / "references.bib").read_text(encoding="ascii")


#: Works in ``references.bib``, sorted by key.
REFERENCES = tuple(
    Reference(re.split("[{,]", entry)[1], entry)
    for entry in _BIBLIOGRAPHY.replace("VERSION", version("skewanova")).strip().split("\n\n")
)


_SOFTWARE_YEAR = next(each.year for each in REFERENCES if each.key == "skewanova")


@dataclass(frozen=True)
class Prose:
    """Paragraphs of plain text for a paper, also as Markdown or LaTeX, with the works that they cite.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> result = compare(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> result.methods.paragraphs[1][:64]
    'Tests, at level 0.05, about methods retrained on data like these'
    >>> [reference.key for reference in result.methods.references][:2]
    ['holm1979', 'hotelling1931']
    """

    paragraphs: tuple[str, ...]

    def __str__(self) -> str:
        """Return the paragraphs with a blank line between them."""
        return "\n\n".join(self.paragraphs)

    @property
    def references(self) -> list[Reference]:
        """Works cited, sorted by key."""
        return find_references(self.paragraphs)

    def to_markdown(self) -> str:
        """Return Markdown, with all special characters escaped."""
        return "\n\n".join(map(escape_markdown, self.paragraphs))

    def to_latex(self) -> str:
        r"""Return LaTeX, with a ``\\cite`` after the first mention of each work in `to_bibtex`."""
        text = "\n\n".join(map(escape_latex, self.paragraphs)) + "\n"
        for reference in self.references:
            surname = re.escape(escape_latex(reference.surname)).replace("\u0161", "[\u0161s]")
            mention = rf"{surname}[^.;]{{0,60}}?(?:al\.[^.;]{{0,8}})?{reference.year}\)?"
            text = re.sub(mention, rf"\g<0>~\\cite{{{reference.key}}}", text, count=1)
        return text

    def to_bibtex(self) -> str:
        """Return the works cited, sorted by key, as the text of a BibTeX file."""
        return write_bibtex(self.references)


def write_methods(source: ReportSource) -> list[str]:
    """Return the paragraphs of the methods section: curves, tests of the conclusions, design and software."""
    words = {"estimator": source.settings["area_estimator"]}
    words["deployment_prior"] = source.settings["deployment_prior"]
    each = "It" if source.design.is_test_set else f"Each {source.unit}"
    design = f"{source.design.describe()}. {each} tests {write_cases(source.tables['iauprec'])}"
    return [*_describe_tests(source, "curves", "tests", **words), _write_software(source, design)]


def write_values_methods(source: TestedResult) -> list[str]:
    """Return the paragraphs of the methods section of values: measure, tests, design and software."""
    order = "higher" if source.settings["greater_is_better"] else "lower"
    over = "" if source.design.is_test_set else f" over {source.unit}s"
    described = str(source.settings.get("measure_description", ""))
    return [
        f"Models are ranked by {'mean ' if over else ''}{source.measure}{over}, where {order} is better. "
        f"{described}".strip(),
        *_describe_tests(source, "tests"),
        _write_software(source, str(source.settings["design_description"])),
    ]


def _write_software(source: TestedResult, design: str) -> str:
    """Return the paragraph on design, software and seed."""
    seed = source.settings["seed"]
    generator = "a random generator" if seed is None else f"seed {seed}"
    return (
        f"Design: {design}. Software: skewanova {version('skewanova')} (The skewanova developers "
        f"{_SOFTWARE_YEAR}), {generator}."
    )


def _describe_tests(source: TestedResult, *blocks: str, **words: Any) -> list[str]:
    """Return the paragraphs `blocks` of `fill_methods` on the primary tests; `curves` needs further words."""
    primary = [frame.loc[frame["role"] == "primary", "test"] for frame in (source.tests, source.pairs)]
    words["population"], words["alpha"] = source.population, f"{source.alpha:g}"
    words["trusted"], words["state"] = source.verdict.is_trusted, source.verdict.state
    return fill_methods(source.design, pd.concat(primary), blocks, **words)


def fill_methods(
    design: FoldDesign, tests: Iterable[str], blocks: Iterable[str] = ("curves", "tests"), **words: Any
) -> list[str]:
    """Return the paragraphs `blocks` of the methods; `words` are the others that the template needs."""
    words = {"population": design.population, "estimators": TEXTS["estimators"], **words}
    words["primary"] = [get_test(test).methods for test in dict.fromkeys(tests)]
    words["fixed_runs"] = design.has_runs and design.runs == "fixed"
    return [fill_template("methods", block, design=design, **words) for block in blocks]


def find_references(paragraphs: Iterable[str]) -> list[Reference]:
    """Return the references cited by first author, and year if several share the name, sorted by key."""
    text = " ".join(paragraphs).replace("Demsar", "Dem\u0161ar")
    first = re.sub(r"(\b[A-Z]\w+) and [A-Z]\w+", r"\1", text)  # drop second authors
    result = [reference for reference in REFERENCES if reference.surname in first]
    surnames = [reference.surname for reference in result]
    return [each for each in result if surnames.count(each.surname) == 1 or str(each.year) in text]


def write_bibtex(references: Iterable[Reference]) -> str:
    """Return the entries as the text of one BibTeX file."""
    return "\n\n".join(reference.entry for reference in references) + "\n"


# --- results, methods, one table and one figure -------------------------------------------------------------


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
        document = (TEMPLATES / "paper.tex").read_text(encoding="utf-8")
        drawing = ("figure", lambda: FIGURES[self.figure].draw(source))
        files: dict[str, str | bytes] = {
            "paper.tex": document.replace("CAPTION", escape_latex(self.caption)),
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
    """Return results, methods, table and references; `figure` is a name of FIGURES, which `save` draws."""
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
    """Return means, intervals and groups; if trusted also models less the control or first model, and p."""
    table = build_publication_table(source, "ranking")
    if len(source.ranking) > MAX_GROUPED_MODELS:
        table = drop_column(table, "Group")
    heads = {*table.header[:2], f"{format_level(source.alpha)} interval", "Group"}
    table = select_cells(table, [i for i, head in enumerate(table.header) if head in heads])
    if not source.verdict.is_trusted:
        return table
    reference = get_control(source) or source.ranking["model"].iloc[0]
    primary = select_primary(source.pairs)
    rows = {row.model_a: row for row in iter_rows(orient_pairs(primary, reference))}
    others = [rows.get(model) for model in source.ranking["model"]]  # None for the reference
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
    average = "" if source.design.is_test_set else f", mean over {source.design.n_folds} {source.unit}s"
    text = f"AUPREC along the prior{average}. The deployment prior is shaded."
    if source.verdict.is_trusted and source.by_prior["conf_low"].notna().any():
        text += f" Bands hold at all priors and for all models at once, at {format_level(source.alpha)}."
    return text
