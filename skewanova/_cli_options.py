"""What the commands share: options, how they are read, and how bad input is told."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skewanova._checks import InputError, InputTypeError, SkewanovaWarning
from skewanova._design import RESAMPLING
from skewanova._estimators import ESTIMATORS
from skewanova._parsing import parse_deployment_prior, parse_priors
from skewanova._rendering import one_line
from skewanova._signals import tidy_end

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # generic in late versions only

BAD_INPUT = 2
#: What a message calls an argument of Python, as the shell has it.
IN_THE_SHELL = {"with `pos_label`": "with --positive", "missing='drop_fold'": "--missing drop_fold"}


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


def told(command: Callable[..., None]) -> Callable[..., None]:
    """Turn bad input into one clear line and exit status 2; warnings are part of what is printed."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a name that the terminal cannot show is no reason to stop
                stream.reconfigure(errors="backslashreplace")
        try:
            with tidy_end(), warnings.catch_warnings():
                warnings.simplefilter("ignore", SkewanovaWarning)
                command(*args, **options)
        except (InputError, InputTypeError) as error:
            message = one_line(str(error))
            for argument, option in IN_THE_SHELL.items():
                message = message.replace(argument, option)
            click.echo(f"{click.style('Error:', fg='red', bold=True)} {message}", err=True)
            sys.exit(BAD_INPUT)

    return run


def comparison_options(command: Callable[..., None]) -> Callable[..., None]:
    options: list[Callable[..., Any]] = [
        click.option(
            "--deployment-prior",
            type=Parsed("RANGE", parse_deployment_prior),
            default="0.05:0.20",
            show_default=True,
            help="Where the prior of the deployment lies: LOW:HIGH, one prior, skew:LOW:HIGH (negatives per "
            "positive), beta:A:B or quantiles:0.05=LOW:0.95=HIGH.",
        ),
        click.option(
            "--priors",
            type=Parsed("LIST", parse_priors),
            default="0.5,0.1,0.01",
            show_default=True,
            help="Priors at which AUPREC is tabulated, separated by commas.",
        ),
        click.option(
            "--alpha", type=float, default=0.05, show_default=True, help="Level of the tests and intervals."
        ),
        click.option(
            "--estimator",
            type=click.Choice(ESTIMATORS),
            default="trapezoid",
            show_default=True,
            metavar="NAME",
            help=f"How the area is computed: {', '.join(ESTIMATORS)}.",
        ),
        design_options,
        click.option("--control", metavar="MODEL", help="Also compare all models with this one (Dunnett)."),
        click.option(
            "--rope",
            type=float,
            default=0.01,
            show_default=True,
            help="Difference of IAUPREC that would not matter.",
        ),
        click.option("--interaction", is_flag=True, help="Add a 3-way ANOVA with model x prior."),
        click.option(
            "--seed",
            type=click.IntRange(min=0),
            default=0,
            show_default=True,
            help="Seed of all resampling.",
        ),
        click.option(
            "--out",
            type=click.Path(path_type=Path, file_okay=False),
            metavar="DIR",
            help="Write report.html, tables, figures and CSV files to this folder.",
        ),
    ]
    return with_options(options, command)


def design_options(command: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option(
            "--resampling",
            type=click.Choice(RESAMPLING),
            default="auto",
            show_default=True,
            help="How the folds were made; auto looks at the case column.",
        ),
        click.option(
            "--test-fraction",
            type=float,
            help="Share of the data set that each fold tests, where the cases do not tell.",
        ),
    ]
    return with_options(options, command)


def _writable(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Tell before the work begins that a file could not be written after it."""
    if path is not None and path.is_dir():
        raise click.BadParameter(f"{str(path)!r} is a folder; name a file")
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(path.parent)!r} to write to")
    return path


out_file_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    callback=_writable,
    metavar="FILE",
    help="Also write a CSV file.",
)


def output_options(command: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option("--json", "as_json", is_flag=True, help="Print the results as one JSON object."),
        click.option(
            "--quiet", "-q", is_flag=True, help="Print nothing but errors (and JSON, if asked for)."
        ),
    ]
    return with_options(options, command)


def table_options(command: Callable[..., None]) -> Callable[..., None]:
    names = {"model": "model", "fold": "fold", "label": "y_true", "score": "y_score", "case": "case"}
    options = [
        click.option(f"--{word}-column", metavar="NAME", help=f"Column to use as {column}.")
        for word, column in names.items()
    ]
    options.append(
        click.option(
            "--positive", metavar="LABEL", help="Label of the positive class, unless labels are 0/1 or -1/1."
        )
    )
    options.append(
        click.option("--wide", is_flag=True, help="The table has one column of scores for each model.")
    )
    return with_options(options, command)


def with_options(options: Sequence[Callable[..., Any]], command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(options):
        command = option(command)
    return command
