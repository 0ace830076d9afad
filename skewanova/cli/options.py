"""What the commands share: options, how they are read, and how bad input is told."""

from __future__ import annotations

import csv
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import wraps
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

import skewanova
from skewanova.base.checks import DiskFullError, InputError, InputTypeError, SkewanovaWarning
from skewanova.base.folders import OutputError, check_folder, check_formats
from skewanova.base.operating_system import is_closed_pipe
from skewanova.base.text import visible
from skewanova.cli.estimates import parse_prior_or_estimate
from skewanova.curves.estimators import ESTIMATORS
from skewanova.inference.catalogue import ADJUSTMENTS, PAIRS
from skewanova.priors.parsing import parse_priors
from skewanova.scores.kinds import DESIGNS

if TYPE_CHECKING:
    pass

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic in late versions only


BAD_INPUT, FAILED = 2, 1


#: What a message calls an argument of Python, as the shell has it.
IN_THE_SHELL = {
    "with `pos_label`": "with --positive",
    "missing='drop'": "--missing drop",
    "a test_fraction, as in FoldDesign('repeated_kfold', test_fraction=0.1)": "--test-fraction, 0.1",
    "`directory`": "--out",
}


class Parsed(_ParamType):
    """An option read by one of the package's own parsers."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self.parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Read the text, or tell the rule that it breaks."""
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except (InputError, InputTypeError) as error:
            self.fail(str(error), param, ctx)


class Failure(click.ClickException):
    """One line that tells what went wrong."""

    exit_code = FAILED

    def __init__(self, message: str) -> None:
        super().__init__(visible(message))

    def show(self, file: Any = None) -> None:
        """Print the line, if somebody still reads."""
        with suppress(OSError):
            click.echo(f"{click.style('Error:', fg='red', bold=True)} {self.message}", err=True, file=file)


class Refusal(Failure):
    """The same where what was given is at fault."""

    exit_code = BAD_INPUT


class Group(click.Group):
    """Commands that tell in one line what the system refuses, wherever it happens, also in printing.

    rich-click would bring three packages more for headings among the options of one command.
    """

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command; a reader who left early (`| head`) is no news."""
        try:
            return super().main(*args, **extra)
        except (OSError, MemoryError) as error:
            if not (isinstance(error, OSError) and is_closed_pipe(error)):
                Failure(failure_text(error)).show()
            _drop_output()
            sys.exit(FAILED)


def failure_text(error: OSError | MemoryError) -> str:
    """What the system refused, on one line."""
    if isinstance(error, MemoryError):
        return "there is not enough memory; a larger table is compared in parts by Dask"
    if isinstance(error, OutputError) or not error.strerror:
        return str(error)
    return f"{error.strerror}: {error.filename!r}" if error.filename is not None else error.strerror


def _drop_output() -> None:
    """Let what was not printed go, so that its end at the exit of Python is not told a second time."""
    with suppress(OSError, ValueError):  # what stands in for it may have no file
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


@contextmanager
def _raised_signals() -> Iterator[None]:
    """Raise SystemExit on signals that ask to end, so that what is half written is removed."""

    def leave(number: int, _frame: object) -> None:
        raise SystemExit(128 + number)

    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    main_thread = threading.current_thread() is threading.main_thread()  # only there may handlers be set
    default = [n for n in numbers if main_thread and signal.getsignal(n) == signal.SIG_DFL]
    for number in default:
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in default:
            signal.signal(number, signal.SIG_DFL)


def exits_on_bad_input(command: Callable[..., None]) -> Callable[..., None]:
    """Turn bad input into one clear line and exit status 2, a full disk into one and status 1.

    Warnings are part of what is printed.

    A folder that could not be written is refused before the work begins.
    """

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a name that the terminal cannot show is no reason to stop
                stream.reconfigure(errors="backslashreplace")
        try:
            with _raised_signals(), warnings.catch_warnings():
                warnings.simplefilter("ignore", SkewanovaWarning)
                if options.get("out") is not None:
                    check_folder(options["out"], inputs=[options.get("scores")])
                command(*args, **options)
        except (InputError, InputTypeError) as error:
            message = str(error)
            for argument, option in IN_THE_SHELL.items():
                message = message.replace(argument, option)
            kind = Failure if isinstance(error, DiskFullError) else Refusal
            raise kind(message) from error

    return run


def with_design(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with --design and --test-fraction as one keyword."""
    keywords = dict(options)
    fraction = keywords.pop("test_fraction")
    if fraction is not None:
        from skewanova.scores.design import as_design

        keywords["design"] = replace(as_design(keywords["design"]), test_fraction=fraction)
    return keywords


def comparison_options(command: Callable[..., None]) -> Callable[..., None]:
    """What a comparison can be asked for."""
    options: list[Callable[..., Any]] = [
        click.option(
            "--deployment-prior",
            type=Parsed("RANGE", parse_prior_or_estimate),
            default="0.05:0.20",
            help="Where the prior of the deployment lies: LOW:HIGH, one prior, skew:LOW:HIGH (negatives per "
            "positive), beta:A:B, quantiles:0.05=LOW:0.95=HIGH or estimate:UNLABELLED, a file of scores "
            "without labels.",
        ),
        click.option(
            "--at-priors",
            type=Parsed("LIST", parse_priors),
            default="0.5,0.1,0.01",
            help="Priors at which AUPREC is tabulated, separated by commas.",
        ),
        click.option("--alpha", type=float, default=0.05, help="Level of the tests and intervals."),
        named_option("--area-estimator", ESTIMATORS, "How the area is computed", default="trapezoid"),
        design_options,
        family_options,
        click.option("--rope", type=float, default=0.01, help="Difference of IAUPREC that would not matter."),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            help="Seed of all resampling.",
        ),
        click.option(
            "--full/--brief",
            "full",
            default=False,
            help="Print all that was found, or verdict and ranking alone.",
        ),
        out_option("report.html, tables, figures and CSV files"),
        click.option(
            "--figures",
            type=Parsed("LIST", check_formats),
            default="svg",
            help="Files of each figure that --out writes: svg, png and pdf, separated by commas, or none "
            "(fastest).",
        ),
    ]
    return with_options(options, command)


def family_options(command: Callable[..., None]) -> Callable[..., None]:
    """Which models and pairs are compared, by which test and adjustment."""
    options = [
        click.option(
            "--models",
            type=Parsed("LIST", names_of),
            multiple=True,
            callback=_all_named,
            help="Compare these only: names separated by commas (in quotes where a name has one), or the "
            "option once for each.",
        ),
        named_option("--pairwise", PAIRS, "Test of pairs behind conclusions and groups", default="auto"),
        named_option("--p-adjust", ADJUSTMENTS, "How p-values of pairs are adjusted"),
        click.option(
            "--control",
            metavar="MODEL",
            help="Compare all models with this one only, by the test of the design.",
        ),
    ]
    return with_options(options, command)


def named_option(
    flag: str, names: Sequence[str], text: str, more: str = "", **default: Any
) -> Callable[..., Any]:
    """Give an option that takes one of several names, which its help lists."""
    told = f"{text}: {', '.join(names)}{more}."
    return click.option(flag, type=click.Choice(names), metavar="NAME", help=told, **default)


def names_of(text: str) -> list[str]:
    """Names separated by commas, as a row of CSV has them."""
    rows = list(csv.reader([text], skipinitialspace=True))
    return [name for row in rows for name in row if name]


def _all_named(
    context: click.Context, option: click.Parameter, value: Sequence[Sequence[str]]
) -> list[str] | None:
    """All names of an option that may be there several times; none where it is not."""
    return [name for names in value for name in names] if value else None


def design_options(command: Callable[..., None]) -> Callable[..., None]:
    """How the folds came about."""
    options = [
        named_option(
            "--design",
            DESIGNS,
            "How the folds were made",
            "; auto looks at the case column",
            default="auto",
        ),
        click.option(
            "--test-fraction",
            type=float,
            help="Share of the data set that each fold tests, where the cases do not tell.",
        ),
    ]
    return with_options(options, command)


def out_option(content: str) -> Callable[..., Any]:
    """The folder that a command writes, whole or not at all."""
    return click.option(
        "--out", type=click.Path(path_type=Path), metavar="DIR", help=f"Write {content} to this folder."
    )


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    """What is printed."""
    options = [
        click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object."),
        click.option(
            "--quiet", "-q", is_flag=True, help="Print nothing but errors (and JSON, if asked for)."
        ),
    ]
    return with_options(options, command)


#: Columns of a score table by the words that options have for them.
COLUMN_WORDS = {
    "model": "model",
    "fold": "fold",
    "label": "y_true",
    "score": "y_score",
    "case": "case",
    "cluster": "cluster",
    "weight": "weight",
    "part": "part",
    "halving": "halving",
}


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    """How the score table is laid out."""
    options = [
        click.option(f"--{word}-column", metavar="NAME", help=f"Column to use as {column}.")
        for word, column in COLUMN_WORDS.items()
    ]
    positive = "Label of the positive class, unless labels are 0/1 or -1/1."
    options.append(click.option("--positive", metavar="LABEL", help=positive))
    wide = "The table has one column of scores for each model."
    return with_options([*options, click.option("--wide", is_flag=True, help=wide)], command)


def with_options(options: Sequence[Callable[..., Any]], command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options, in the order listed."""
    for option in reversed(options):
        command = option(command)
    return command


_Table = TypeVar("_Table")


def classes_option(command: Callable[..., None]) -> Callable[..., None]:
    """Columns of scores where classifiers have several classes."""
    option = click.option(
        "--classes",
        type=Parsed("LIST", names_of),
        help="Of classifiers with several classes: columns of scores in the place of y_score, one a class, "
        "named as the classes in y_true. Each class is compared against the rest.",
    )
    return option(command)


def read_classes(path: Path, options: dict[str, Any]) -> skewanova.scores.MulticlassScores:
    """Read the scores of several classes into memory, taking the options about them out of `options`."""
    if options["wide"]:
        raise InputError("--classes needs a row for each model and case: leave out --wide")
    columns, positive = column_names(options)
    if positive is not None:
        raise InputError("--classes takes each class as the positive one in turn: leave out --positive")
    with reading(path):
        return skewanova.scores.read_multiclass(path, options.pop("classes"), columns=columns)


def column_names(options: dict[str, Any]) -> tuple[dict[str, str], str | None]:
    """Names of columns and the positive label, taken out of `options` with what belongs to them."""
    named = {column: options.pop(f"{word}_column") for word, column in COLUMN_WORDS.items()}
    options.pop("wide")
    return {column: name for column, name in named.items() if name is not None}, options.pop("positive")


def read_several(path: Path, options: dict[str, Any]) -> dict[str, skewanova.ScoreTable]:
    """Read the tables of several data sets into memory, taking the options about them out of `options`."""
    with reading(path):
        return _long(path, options, skewanova.read_datasets)


def read_table(path: Path, options: dict[str, Any]) -> skewanova.ScoreTable:
    """Read the score table into memory, taking the options about it out of `options`."""
    with reading(path):
        return _wide(path, options) if options["wide"] else _long(path, options, skewanova.read_scores)


def read_chosen_part(
    path: Path, part: str, options: dict[str, Any]
) -> tuple[skewanova.ScoreTable, skewanova.ScoreTable]:
    """As :func:`read_table`, the rows of one part and those of all others."""
    from skewanova.scores.reading import read_parts

    if options["wide"]:
        raise InputError("--choose-on needs a table with a column part: leave out --wide")
    with reading(path):
        columns, positive = column_names(options)
        return read_parts(path, part, columns=columns, pos_label=positive)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Tell of a table that cannot be read, or takes more memory than there is, as of any bad input."""
    try:
        yield
    except OSError as error:
        if is_closed_pipe(error):  # that is what is shown meanwhile
            raise
        raise InputError(f"{path.name!r} cannot be read ({error.strerror or error})") from error
    except MemoryError as error:
        raise InputError(
            f"{path.name!r} takes more memory than there is; compare it in parts by Dask (pip install "
            "'skewanova[dask]')"
        ) from error


def _long(path: Path, options: dict[str, Any], read: Callable[..., _Table]) -> _Table:
    given, positive = column_names(options)
    return read(path, columns=given, pos_label=positive)


def _wide(path: Path, options: dict[str, Any]) -> skewanova.ScoreTable:
    given, positive = column_names(options)
    if "model" in given or "y_score" in given:
        raise InputError(
            "--wide takes every other column as a model: leave out --model-column, --score-column"
        )
    if "part" in given or "halving" in given:
        raise InputError(
            "--wide finds the columns part and halving by these names: leave out --part-column, "
            "--halving-column"
        )
    return skewanova.scores_from_wide(path, pos_label=positive, **given)
