"""Output of the commands: colours, progress, JSON, folders."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from tqdm import tqdm

import skewanova
from skewanova.base.checks import SkewanovaWarning
from skewanova.base.folders import make_provenance, replace_folder
from skewanova.base.text import escape_lines, escape_text, listen_to_stages, shorten_notes

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

#: Columns of a terminal that are filled; beyond these lines are hard to read. And those of a pipe.
MAX_WIDTH, MIN_WIDTH, PIPE_WIDTH = 140, 40, 80


#: What a command writes, by the name of the file.
Files = Mapping[str, "pd.DataFrame | str | bytes"]


#: Headings of a summary, and the colour of what stands under them.
SECTIONS = {"Conclusions": None, "Assumptions": "yellow", "Warnings": "yellow"}


#: Remedies of messages that name Python and the shell, and the names of arguments: pattern, in the shell.
SHELL_WORDS = (
    (r"by pos_label=.*, or (?=--positive)", "by "),
    # f(...), or --option
    (r"(?:[\w.=]+\((?:[^()]|\([^()]*\))*\))+,\s+or\s+(?=(?:leave out )?--|`skewanova )", ""),
    (r"\w+=(?:'[^']*'|\{[^}]*\}|\[[^]]*\]|[\d.]+)\s+\((--[^)]*)\)", r"\1"),  # argument=value (--option value)
    (r"\(\w+=?(?:\s+of\s+[\w.]+)?,\s+(--[^)]*)\)", r"(\1)"),  # (argument, --option)
    (r"\b(design|pairwise|missing)='(\w+)'", r"--\1 \2"),
    ("greater_is_better=False", "--lower-is-better"),
    (r"\btest_fraction=([\d.]+)", r"--test-fraction \1"),
    (r"\(low, high\)", "LOW:HIGH"),
    ("`directory`", "--out"),
    ("`pos_label`", "--positive"),
    ("`n_bins`", "--bins"),
    (r"`(low|high)_skew`", r"the \1 skew"),
    ("`unit_cost`", "--cost-case"),
    ("`costs`", "--cost-fp and --cost-fn"),
    ("`comparison`", "DIR"),
    ("`labelled`: ", ""),
    ("`labelled`", "LABELLED"),
    ("`fold` must be one of", "--fold must be one of"),  # else a column
)


def to_shell(text: str) -> str:
    """Return text, its Python remedies and `arguments` replaced by options of the command, such as --out."""
    for pattern, words in SHELL_WORDS:
        text = re.sub(pattern, words, text)
    context = click.get_current_context(silent=True)
    params = [] if context is None else [item for item in context.command.params if item.name != "fold"]
    names = {p.name: p.opts[0] if isinstance(p, click.Option) else p.human_readable_name for p in params}
    names = {"unlabelled": "the unlabelled table", **names}
    return re.sub(r"`(\w+)`", lambda match: names.get(match[1], match[0]), text)


def screen_width() -> int:
    """Return the number of columns to fill: those of the terminal, 40 to 140, or 80 in a pipe."""
    return min(MAX_WIDTH, max(MIN_WIDTH, shutil.get_terminal_size((PIPE_WIDTH, 24)).columns))


def wrap_line(line: str) -> str:
    """Return a text wrapped to the screen, its further lines indented by two spaces."""
    return textwrap.fill(line, screen_width(), subsequent_indent="  ", break_long_words=False)


def warning_lines(notes: Iterable[str]) -> list[str]:
    """Return a wrapped "warning: ..." for each kind of note: the first, and how many are like it."""
    return [wrap_line(f"warning: {note}") for note in shorten_notes(notes)]


def echo(text: str, *, err: bool = False) -> None:
    """Print text with remedies as the shell takes them, and control characters of names escaped."""
    click.echo(escape_lines(to_shell(text)), err=err)


def colour_summary(text: str) -> str:
    """Return text by `to_shell`, headings bold, warnings, assumptions yellow, "is ahead of" lines green."""
    from skewanova.decision.verdict import LINE_TITLES

    displayed, colour = [], None
    for line in escape_lines(to_shell(text)).split("\n"):
        titles = ("Warning", *LINE_TITLES.values())
        title = next((title for title in titles if line.startswith(f"{title} ")), "")
        if title:
            colour = "yellow" if title == "Warning" else None
            displayed.append(click.style(title, bold=True, fg=colour) + line.removeprefix(title))
        elif line in SECTIONS:
            colour = SECTIONS[line]
            displayed.append(click.style(line, bold=True))
        else:
            colour = colour if line else None
            foreground = colour or ("green" if re.search(r"\bis ahead of\b", line) else None)
            displayed.append(click.style(line, fg=foreground) if foreground else line)
    return "\n".join(displayed)


def render_summary(result: Any, *, full: bool) -> str:
    """Return a result's text, uncoloured: all if `full`, else verdict, ranking and a note on the rest."""
    if full:
        return str(result.summary(screen_width(), full=True))
    printed = result.verdict.warnings if hasattr(result, "verdict") else ()
    number = len(set(result.warnings).difference(printed))
    counted = {0: "", 1: "1 warning, "}.get(number, f"{number} warnings, ")
    rest = wrap_line(f"With --full: {counted}conclusions, tests, tables.")
    return f"{result.summary(screen_width())}\n\n{rest}"


@contextmanager
def progress_bar(total: int) -> Iterator[None]:
    """Show the stages of the block as a bar on standard error, on a terminal only; it leaves no trace."""
    form = "{desc} {bar:20} {n_fmt}/{total_fmt}"
    with tqdm(total=total, disable=None, leave=False, mininterval=0, bar_format=form, file=sys.stderr) as bar:

        def show_stage(name: str) -> None:
            bar.set_description_str(f"{escape_text(name):<22}", refresh=False)
            bar.update(1)

        with listen_to_stages(show_stage):
            yield


#: Where a command keeps its warnings until it ends; one that refuses its input has one line only.
DEFERRED = "skewanova.warnings"


def print_lines(lines: Iterable[str]) -> None:
    """Print lines to standard error, each as `echo` does."""
    for line in lines:
        echo(line, err=True)


@contextmanager
def print_warnings() -> Iterator[None]:
    """Print our warnings of the block to stderr as the command ends, unless --quiet; reissue others."""
    with warnings.catch_warnings(record=True, action="always", category=SkewanovaWarning) as caught:
        yield
    notes = [str(each.message) for each in caught if issubclass(each.category, SkewanovaWarning)]
    context = click.get_current_context(silent=True)
    lines = [] if context is not None and context.params.get("quiet") else warning_lines(notes)
    deferred = None if context is None else context.meta.get(DEFERRED)
    if deferred is not None:
        deferred.extend(lines)
    else:
        print_lines(lines)
    for warning in caught:
        if not issubclass(warning.category, SkewanovaWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


class Findings(NamedTuple):
    """Text of a command, content of its JSON, and the files of its folder with what made them."""

    text: str
    content: Mapping[str, Any]
    files: Callable[[], Files] = dict
    table: Any = None
    settings: Mapping[str, Any] = MappingProxyType({})
    inputs: Sequence[Path | None] = ()
    exit_status: int = 0
    is_verdict: bool = False


def report_findings(command: Callable[..., Findings]) -> Callable[..., None]:
    """Return a command: findings with a table to --out, then JSON or (no --quiet) text; exits by status."""

    @wraps(command)
    def run_and_report(*, as_json: bool, quiet: bool, out: Path | None = None, **options: Any) -> None:
        findings, name = command(**options), command.__name__
        if out is not None and findings.table is not None:
            _write_folder(out, name, findings, options.get("seed"))
        if as_json:
            print_json(name, **findings.content)
        elif findings.is_verdict and not quiet:
            click.echo(colour_summary(findings.text))
        elif not quiet:
            echo(findings.text)
        click.get_current_context().exit(findings.exit_status)

    return run_and_report


def _write_folder(out: Path, command: str, findings: Findings, seed: int | None) -> None:
    """Write the files of the findings and their provenance to the folder `out`."""
    settings = {name: value for name, value in findings.settings.items() if value is not None}
    source, sha256 = findings.table.source, findings.table.sha256()
    made = make_provenance(command, settings, seed=seed, source=source, sha256=sha256)
    with print_warnings(), replace_folder(out, made, inputs=[source, *findings.inputs]) as output:
        for name, content in findings.files().items():
            if isinstance(content, str):
                output.write(name, content.rstrip("\n") + "\n")
            elif isinstance(content, bytes):
                output.write(name, content)
            else:
                output.write_csv(name, content)


def print_json(command: str, **content: Any) -> None:
    """Print {"skewanova": VERSION, "command": command, **content} as JSON; nan and infinity are null."""
    head = {"skewanova": skewanova.__version__, "command": command}
    text = json.dumps(_to_json_value({**head, **content}), indent=1, ensure_ascii=False, allow_nan=False)
    click.echo("".join(map(_escape_character, text)) if escape_lines(text) != text else text)


def _escape_character(sign: str) -> str:
    """Return a sign of JSON text, escaped where it would not show (which it may be inside of quotes only)."""
    return sign if sign == "\n" or escape_text(sign) == sign else json.dumps(sign)[1:-1]


def comparison_as_json(result: Any) -> dict[str, Any]:
    """Return verdict or choices, sentences, stored frames by name, and settings or comparisons of parts."""
    from skewanova.report.source import COMPUTED_FRAMES, TestedResult

    head = {"verdict": asdict(result.verdict)} if hasattr(result, "verdict") else {"choices": result.choices}
    words = {**head, "conclusions": result.conclusions, "warnings": result.warnings}
    if isinstance(result, TestedResult):
        names = [name for name in result.FRAMES if name not in {*COMPUTED_FRAMES, "residuals"}]
        return {"settings": result.settings, **words, **{name: result.tables[name] for name in names}}
    frames = {name: getattr(result, name) for name in result.FRAMES}
    comparisons = {name: comparison_as_json(item) for name, item in result.comparisons.items()}
    return {**words, **frames, result.PARTS: comparisons}


#: Keys of JSON with sentences for people; all else, such as names, is data.
NOTE_KEYS = {"advice", "sentences", "warning", "warnings"}


def _note_to_shell(key: object, value: Any) -> Any:
    """Return texts under a key of NOTE_KEYS as `to_shell` does, and any other value as it is."""
    if key not in NOTE_KEYS or isinstance(value, Mapping):
        return value
    return to_shell(value) if isinstance(value, str) else [to_shell(note) for note in value]


def _to_json_value(value: Any) -> Any:
    """Return a value in types of JSON: frames as records, nan, inf as None, notes by `to_shell`, rest str."""
    import numpy as np
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return [_to_json_value(dict(zip(value, row, strict=True))) for row in value.itertuples(index=False)]
    if isinstance(value, Mapping):
        return {str(key): _to_json_value(_note_to_shell(key, item)) for key, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return _to_json_value(value.tolist())
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_to_json_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)
