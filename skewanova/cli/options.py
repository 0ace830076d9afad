"""Options that commands share, reading of the tables, and errors in one line."""

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
from skewanova.base.checks import (
    DiskFullError,
    InputError,
    InputTypeError,
    MultipleDatasetsError,
    SkewanovaWarning,
)
from skewanova.base.folders import OutputError, check_folder, check_formats, is_closed_pipe
from skewanova.base.text import escape_text
from skewanova.curves.estimators import ESTIMATORS
from skewanova.inference.catalogue import ADJUSTMENTS, PAIRS
from skewanova.priors.parsing import parse_deployment_prior, parse_priors
from skewanova.scores.kinds import DESIGNS

if TYPE_CHECKING:
    from skewanova.priors.weightings import DeploymentPrior
    from skewanova.scores.table import Scores
    from skewanova.scores.unlabelled import UnlabelledScores

#: An option or argument, as click's decorators make it.
Option = Callable[..., Any]


T = TypeVar("T")


BAD_INPUT, FAILED = 2, 1


#: What a message calls an argument of Python, as the shell has it.
IN_THE_SHELL = {
    "with `pos_label`": "with --positive",
    "missing='drop'": "--missing drop",
    "a test_fraction, as in FoldDesign('repeated_kfold', test_fraction=0.1)": "--test-fraction, 0.1",
    "`directory`": "--out",
}


# --- errors and signals -------------------------------------------------------------------------------------


class Failure(click.ClickException):
    """One line that says what went wrong."""

    exit_code = FAILED

    def __init__(self, message: str) -> None:
        super().__init__(escape_text(message))

    def show(self, file: Any = None) -> None:
        """Print the line, if somebody still reads."""
        with suppress(OSError):
            click.echo(f"{click.style('Error:', fg='red', bold=True)} {self.message}", err=True, file=file)


class Refusal(Failure):
    """Failure where the input is at fault."""

    exit_code = BAD_INPUT


class Group(click.Group):
    """Commands that report in one line what the system refuses, wherever it happens, also in printing.

    rich-click would bring three packages more for headings among the options of one command.
    """

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run a command; a reader who left early (`| head`) is no news."""
        try:
            return super().main(*args, **extra)
        except (OSError, MemoryError) as error:
            if not (isinstance(error, OSError) and is_closed_pipe(error)):
                Failure(_failure_text(error)).show()
            with suppress(OSError, ValueError):  # what was not printed must not fail again when Python ends
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, sys.stdout.fileno())
                os.close(nowhere)
            sys.exit(FAILED)


def _failure_text(error: OSError | MemoryError) -> str:
    if isinstance(error, MemoryError):
        return "there is not enough memory; a larger table is compared in parts by Dask"
    if isinstance(error, OutputError) or not error.strerror:
        return str(error)
    return f"{error.strerror}: {error.filename!r}" if error.filename is not None else error.strerror


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


def handle_errors(command: Callable[..., None]) -> Callable[..., None]:
    """Turn bad input into one line and exit status 2, a full disk into one and status 1.

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


# --- deployment priors that are estimated -------------------------------------------------------------------

#: How a deployment prior that is to be estimated begins.
ESTIMATE = "estimate:"


def accept_estimate(parse: Callable[[str], T]) -> Callable[[str], T | Path]:
    """Return a parser that also takes ``estimate:UNLABELLED``, and returns the path of that file."""

    def parse_or_path(text: str) -> T | Path:
        if not text.strip().startswith(ESTIMATE):
            return parse(text)
        name = text.strip().removeprefix(ESTIMATE)
        if not name:
            raise InputError("estimate: needs a file of unlabelled scores, such as estimate:field.csv")
        return Path(name)

    return parse_or_path


def with_estimate(prior: T | Path, table: Scores) -> T | DeploymentPrior:
    """Return the weighting, estimated from the unlabelled scores if it is the path of such a file."""
    if not isinstance(prior, Path):
        return prior
    from skewanova.comparison.estimated_prior import estimate_prior_from_tables

    return estimate_prior_from_tables(table, prior)


# --- options ------------------------------------------------------------------------------------------------


def with_options(*options: Option) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options, in the order listed."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def parsed_option(flag: str, metavar: str, parse: Callable[[str], Any], text: str, **settings: Any) -> Option:
    """Declare an option that one of the package's own parsers reads."""

    def convert(value: str) -> Any:
        try:
            return parse(value)
        except (InputError, InputTypeError) as error:
            raise click.BadParameter(str(error)) from error

    return click.option(flag, metavar=metavar, type=convert, help=text, **settings)


def named_option(flag: str, names: Sequence[str], text: str, remark: str = "", **settings: Any) -> Option:
    """Declare an option that takes one of several names, which its help lists."""
    text = f"{text}: {', '.join(names)}{remark}."
    return click.option(flag, type=click.Choice(names), metavar="NAME", help=text, **settings)


def path_argument(name: str, **settings: Any) -> Option:
    """Declare a path on the command line."""
    return click.argument(name, type=click.Path(path_type=Path), **settings)


def seed_option(use: str) -> Option:
    """Declare the seed of a command."""
    return click.option("--seed", type=click.IntRange(min=0), default=0, help=f"Seed of {use}.")


def level_option(text: str) -> Option:
    """Declare the confidence level of a command."""
    return click.option("--confidence-level", type=float, default=0.95, help=text)


def deployment_option(text: str) -> Option:
    """Declare the deployment prior, which may be estimated."""
    parse = accept_estimate(parse_deployment_prior)
    return parsed_option("--deployment-prior", "RANGE", parse, text, default="0.05:0.20")


def out_option(content: str) -> Option:
    """Declare the folder that a command writes, whole or not at all."""
    text = f"Write {content} to this folder."
    return click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help=text)


def split_names(text: str) -> list[str]:
    """Return names separated by commas, as a row of CSV has them."""
    rows = list(csv.reader([text], skipinitialspace=True))
    return [name for row in rows for name in row if name]


def _join_names(_context: object, _option: object, value: Sequence[Sequence[str]]) -> list[str] | None:
    return [name for names in value for name in names] if value else None


SCORES, UNLABELLED = path_argument("scores"), path_argument("unlabelled")


BATCH_COLUMN = click.option("--batch-column", metavar="NAME", help="Column of UNLABELLED to use as batch.")


DESIGN_OPTIONS = (
    named_option(
        "--design", DESIGNS, "How the folds were made", "; auto looks at the case column", default="auto"
    ),
    click.option(
        "--test-fraction",
        type=float,
        help="Share of the data set that each fold tests, where the cases do not tell.",
    ),
)


COMPARISON_OPTIONS = (
    deployment_option(
        "Where the prior of the deployment lies: LOW:HIGH, one prior, skew:LOW:HIGH (negatives per "
        "positive), beta:A:B, quantiles:0.05=LOW:0.95=HIGH or estimate:UNLABELLED, a file of scores "
        "without labels."
    ),
    parsed_option(
        "--at-priors",
        "LIST",
        parse_priors,
        "Priors at which AUPREC is tabulated, separated by commas.",
        default="0.5,0.1,0.01",
    ),
    click.option("--alpha", type=float, default=0.05, help="Level of the tests and intervals."),
    named_option("--area-estimator", ESTIMATORS, "How the area is computed", default="trapezoid"),
    *DESIGN_OPTIONS,
    parsed_option(
        "--models",
        "LIST",
        split_names,
        "Compare these only: names separated by commas (in quotes where a name has one), or the option once "
        "for each.",
        multiple=True,
        callback=_join_names,
    ),
    named_option("--pairwise", PAIRS, "Test of pairs behind conclusions and groups", default="auto"),
    named_option("--p-adjust", ADJUSTMENTS, "How p-values of pairs are adjusted"),
    click.option(
        "--control",
        metavar="MODEL",
        help="Compare all models with this one only, by the test of the design.",
    ),
    click.option("--rope", type=float, default=0.01, help="Difference of IAUPREC that would not matter."),
    seed_option("all resampling"),
    click.option(
        "--full/--brief", default=False, help="Print all that was found, or verdict and ranking alone."
    ),
    out_option("report.html, tables, figures and CSV files"),
    parsed_option(
        "--figures",
        "LIST",
        check_formats,
        "Files of each figure that --out writes: svg, png and pdf, separated by commas, or none (fastest).",
        default="svg",
    ),
)


CLASSES_OPTION = parsed_option(
    "--classes",
    "LIST",
    split_names,
    "Of classifiers with several classes: columns of scores in the place of y_score, one a class, named as "
    "the classes in y_true. Each class is compared against the rest.",
)


OUTPUT_OPTIONS = (
    click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object."),
    click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors (and JSON, if asked for)."),
)


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


TABLE_OPTIONS = (
    *(
        click.option(f"--{word}-column", metavar="NAME", help=f"Column to use as {column}.")
        for word, column in COLUMN_WORDS.items()
    ),
    click.option(
        "--positive", metavar="LABEL", help="Label of the positive class, unless labels are 0/1 or -1/1."
    ),
    click.option("--wide", is_flag=True, help="The table has one column of scores for each model."),
)


def with_design(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with --design and --test-fraction as one keyword."""
    keywords = dict(options)
    fraction = keywords.pop("test_fraction")
    if fraction is not None:
        from skewanova.scores.design import as_design

        keywords["design"] = replace(as_design(keywords["design"]), test_fraction=fraction)
    return keywords


# --- tables -------------------------------------------------------------------------------------------------


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Report a table that cannot be read, or takes more memory than there is, as any bad input."""
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


def _pop_columns(options: dict[str, Any]) -> tuple[dict[str, str], str | None, bool]:
    named = {column: options.pop(f"{word}_column") for word, column in COLUMN_WORDS.items()}
    columns = {column: name for column, name in named.items() if name is not None}
    return columns, options.pop("positive"), options.pop("wide")


def read_table(path: Path, options: dict[str, Any]) -> skewanova.ScoreTable:
    """Read the score table into memory, taking the options about it out of `options`."""
    columns, positive, wide = _pop_columns(options)
    with reading(path):
        if not wide:
            return skewanova.read_scores(path, columns=columns, pos_label=positive)
        if {"model", "y_score"} & columns.keys():
            raise InputError(
                "--wide takes every other column as a model: leave out --model-column, --score-column"
            )
        if {"part", "halving"} & columns.keys():
            raise InputError(
                "--wide finds the columns part and halving by these names: leave out --part-column, "
                "--halving-column"
            )
        return skewanova.scores_from_wide(path, pos_label=positive, **columns)


def read_long(path: Path, options: dict[str, Any], read: Callable[..., T], refusal: str = "") -> T:
    """Read a table with a row for each model and case by a function; with --wide, raise the refusal."""
    columns, positive, wide = _pop_columns(options)
    if wide:
        raise InputError(refusal)
    with reading(path):
        return read(path, columns=columns, pos_label=positive)


def read_tables(path: Path, options: dict[str, Any]) -> Any:
    """Read a score table or, by name, those of several data sets; with --classes, scores of classes."""
    classes, settings = options.pop("classes"), dict(options)
    if classes is None:
        try:
            return read_table(path, options)
        except MultipleDatasetsError:
            return read_long(path, settings, skewanova.read_datasets)  # which are never wide

    def read_classes(path: Path, *, columns: Mapping[str, str], pos_label: object) -> Any:
        if pos_label is not None:
            raise InputError("--classes takes each class as the positive one in turn: leave out --positive")
        return skewanova.scores.read_multiclass(path, classes, columns=columns)

    refusal = "--classes needs a row for each model and case: leave out --wide"
    return read_long(path, options, read_classes, refusal)


def read_field(path: Path, columns: Mapping[str, str | None]) -> UnlabelledScores:
    """Read scores of cases without labels; columns without a name of their own have the usual one."""
    from skewanova.scores.unlabelled import read_unlabelled

    with reading(path):
        return read_unlabelled(path, columns={key: name for key, name in columns.items() if name is not None})
