"""What the commands print: colours, progress, JSON."""

from __future__ import annotations

import json
import math
import re
import shutil
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from tqdm import tqdm

import skewanova
from skewanova.base.checks import SkewanovaWarning
from skewanova.base.folders import provenance_of, replace_folder
from skewanova.base.progress import listening
from skewanova.base.text import group_notes, visible, visible_lines

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

    from skewanova.comparison.classes import ClassesComparison
    from skewanova.comparison.datasets import DatasetsComparison
    from skewanova.comparison.result import Comparison
    from skewanova.scores.table import (
        Scores,
    )
    from skewanova.scores.unlabelled import UnlabelledScores

#: Columns of a terminal that are filled; beyond these lines are hard to read. And those of a pipe.
WIDEST, NARROWEST, OF_A_PIPE = 140, 40, 80


#: A comparison of one kind or another.
AnyComparison: TypeAlias = "Comparison | DatasetsComparison | ClassesComparison"


#: What a command writes, by the name of the file.
Files = Mapping[str, "pd.DataFrame | str | bytes"]


#: Headings of a summary, and the colour of what stands under them.
SECTIONS: Mapping[str, str | None] = {
    "Conclusions": None,
    "Assumptions": "yellow",
    "Warnings": "yellow",
}


def screen_width() -> int:
    """Columns to fill: those of the terminal up to 140; 80 in a pipe."""
    return min(WIDEST, max(NARROWEST, shutil.get_terminal_size((OF_A_PIPE, 24)).columns))


def wrapped(line: str) -> str:
    """One line of text, folded to the screen."""
    return textwrap.fill(line, screen_width(), subsequent_indent="  ", break_long_words=False)


def warning_lines(notes: Iterable[str]) -> list[str]:
    """Warnings of one kind on one line."""
    lines = []
    for (_, first), *others in group_notes(("", note) for note in notes):
        more = f" (and {len(others)} more like it)" if others else ""
        lines.append(wrapped(f"warning: {first}{more}"))
    return lines


def say(text: str, *, err: bool = False) -> None:
    """Print text that may hold names from outside; all that commands print goes through here or `print_json`.

    What names bring along is written out before colours are added, so that none of it reaches a terminal.
    """
    click.echo(visible_lines(text), err=err)


def say_summary(text: str) -> None:
    """As :func:`say`, in colours."""
    click.echo(coloured(visible_lines(text)))


def coloured(text: str) -> str:
    """Headings of a summary bold, warnings yellow, findings green; a pipe gets none of it."""
    from skewanova.decision.verdict import LINES

    heading, *lines = text.split("\n")
    verdict = next((title for title in LINES.values() if heading.startswith(f"{title} ")), "")
    displayed = [click.style(heading, bold=True)] if not verdict else []
    colour: str | None = None
    for line in lines if not verdict else [heading, *lines]:
        title = next((title for title in LINES.values() if verdict and line.startswith(f"{title} ")), "")
        if title:
            displayed.append(click.style(title, bold=True) + line.removeprefix(title))
        elif line in SECTIONS:
            colour = SECTIONS[line]
            displayed.append(click.style(line, bold=True))
        else:
            colour = colour if line else None
            result = "green" if re.search(r"\bis ahead of\b", line) else None
            displayed.append(click.style(line, fg=colour or result) if colour or result else line)
    return "\n".join(displayed)


def told(result: AnyComparison, *, full: bool) -> str:
    """All that was found, or verdict and ranking and what else there is."""
    if full:
        return result.summary(screen_width(), full=True)
    number = len(result.warnings)
    counted = {0: "", 1: "1 warning, "}.get(number, f"{number} warnings, ")
    rest = wrapped(f"With --full: {counted}conclusions, tests, tables.")
    return f"{result.summary(screen_width())}\n\n{rest}"


@contextmanager
def stages_shown(total: int) -> Iterator[None]:
    """Show the stages of the block as a bar, on a terminal only; it leaves no trace."""
    layout = "{desc} {bar:20} {n_fmt}/{total_fmt}"
    with tqdm(
        total=total, disable=None, leave=False, mininterval=0, bar_format=layout, file=sys.stderr
    ) as bar:

        def show(name: str) -> None:
            bar.set_description_str(f"{visible(name):<22}", refresh=False)
            bar.update(1)

        with listening(show):
            yield


@contextmanager
def writing() -> Iterator[None]:
    """Tell what is warned of while an output is written, which no result can hold any more."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkewanovaWarning)
        yield
    own = [str(each.message) for each in caught if issubclass(each.category, SkewanovaWarning)]
    for line in warning_lines(own):
        say(line, err=True)
    for warning in caught:
        if not issubclass(warning.category, SkewanovaWarning):
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def saved(result: AnyComparison, out: Path | None, figures: Sequence[str]) -> Path | None:
    """Write the folder of a comparison, if one is asked for; where it is."""
    if out is None:
        return None
    with writing():
        return result.save(out, figures=figures)


def write_results(
    out: Path | None,
    files: Files,
    *,
    command: str,
    table: Scores | UnlabelledScores,
    settings: Mapping[str, Any],
    seed: int | None = None,
    inputs: Sequence[Path | None] = (),
) -> None:
    """Write what a command found in a score table to its folder, if one is asked for, with what made it."""
    if out is None:
        return
    stated = {name: value for name, value in settings.items() if value is not None}
    made = provenance_of(command, stated, seed=seed, source=table.source, sha256=table.sha256())
    with writing(), replace_folder(out, made, inputs=[table.source, *inputs]) as output:
        for name, content in files.items():
            if isinstance(content, str):
                output.write(name, content.rstrip("\n") + "\n")
            elif isinstance(content, bytes):
                output.write(name, content)
            else:
                output.write_csv(name, content)


def show(command: str, text: str, *, as_json: bool, quiet: bool, **content: Any) -> None:
    """Print what a command found: as text, as JSON, or not at all."""
    if as_json:
        print_json(command, **content)
    elif not quiet:
        say(text)


def print_json(command: str, **content: Any) -> None:
    """Print one JSON object; what is not a number in a frame is null."""
    head = {"skewanova": skewanova.__version__, "command": command}
    text = json.dumps(_plain({**head, **content}), indent=1, ensure_ascii=False, allow_nan=False)
    click.echo("".join(map(_json_sign, text)) if visible_lines(text) != text else text)


def _json_sign(sign: str) -> str:
    """A sign of JSON text, escaped where it would not show (which it may be inside of quotes only)."""
    return sign if sign == "\n" or visible(sign) == sign else json.dumps(sign)[1:-1]


def comparison_as_json(result: Comparison) -> dict[str, Any]:
    """Every frame as records, by the name of its CSV file, with what is said in words."""
    from skewanova.report.source import FRAMES, POINTS

    return {
        "settings": result.settings,
        "verdict": asdict(result.verdict),
        "conclusions": result.conclusions,
        "warnings": result.warnings,
        **{name: result.tables[name] for name in FRAMES if name not in {*POINTS, "residuals"}},
    }


def parts_as_json(result: DatasetsComparison | ClassesComparison) -> dict[str, Any]:
    """Frames across data sets or of all classes, and the comparison on each."""
    from skewanova.report.classes import ALL_CLASSES
    from skewanova.report.datasets import ACROSS, DatasetsSource

    if isinstance(result, DatasetsSource):
        parts, judged = ACROSS, {"verdict": asdict(result.verdict)}
    else:
        parts, judged = ALL_CLASSES, {"choices": result.choices}
    return {
        **judged,
        "conclusions": result.conclusions,
        "warnings": result.warnings,
        **{name: getattr(result, name) for name in parts.frames},
        parts.several: {name: comparison_as_json(item) for name, item in result.comparisons.items()},
    }


def _plain(value: Any) -> Any:
    """Only what JSON has: frames are records; nan, inf and other missing values are null."""
    import numpy as np
    import pandas as pd

    if isinstance(value, pd.DataFrame):
        return [_plain(dict(zip(value, row, strict=True))) for row in value.itertuples(index=False)]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.generic | np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, Iterable) and not isinstance(value, str):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)
