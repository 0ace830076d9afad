"""The command ``skewanova``: arguments to calls, and nothing else."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from functools import wraps
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import skewanova
from skewanova._checks import InputError, InputTypeError, SkewanovaWarning
from skewanova._design import RESAMPLING
from skewanova._estimators import ESTIMATORS
from skewanova._parsing import parse_deployment_prior, parse_prior, parse_priors
from skewanova._rendering import one_line
from skewanova.intervals import METHODS
from skewanova.priors import DeploymentPrior

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
    from skewanova._curve_result import CurveStudy
    from skewanova.simulation import StudyResult
else:
    _ParamType = click.ParamType  # generic in late versions only

BAD_INPUT = 2


class _Parsed(_ParamType):
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


def _told(command: Callable[..., None]) -> Callable[..., None]:
    """Turn bad input into one clear line and exit status 2; warnings are part of what is printed."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> None:
        for stream in (sys.stdout, sys.stderr):
            if isinstance(stream, TextIOWrapper):  # a name that the terminal cannot show is no reason to stop
                stream.reconfigure(errors="backslashreplace")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SkewanovaWarning)
                command(*args, **options)
        except (InputError, InputTypeError) as error:
            click.echo(f"Error: {one_line(str(error))}", err=True)
            sys.exit(BAD_INPUT)

    return run


def _comparison_options(command: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option(
            "--deployment-prior",
            type=_Parsed("RANGE", parse_deployment_prior),
            default="0.05:0.20",
            show_default=True,
            help="Where the prior of the deployment lies: LOW:HIGH, one prior, skew:LOW:HIGH (negatives per "
            "positive) or beta:A:B.",
        ),
        click.option(
            "--priors",
            type=_Parsed("LIST", parse_priors),
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
    return _with(options, command)


def _writable(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Tell before the work begins that a file could not be written after it."""
    if path is not None and path.is_dir():
        raise click.BadParameter(f"{str(path)!r} is a folder; name a file")
    if path is not None and not path.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(path.parent)!r} to write to")
    return path


_out_file_option = click.option(
    "--out",
    type=click.Path(path_type=Path),
    callback=_writable,
    metavar="FILE",
    help="Also write a CSV file.",
)


def _table_options(command: Callable[..., None]) -> Callable[..., None]:
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
    return _with(options, command)


def _with(options: Sequence[Callable[..., Any]], command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(options):
        command = option(command)
    return command


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(skewanova.__version__, prog_name="skewanova")
def main() -> None:
    """Tell which classifier to deploy when the class prior is uncertain.

    Start with `skewanova demo`. For your own models, write their held-out scores to a CSV file with the
    columns model, fold, y_true, y_score (and case, if you can), then run `skewanova check` and
    `skewanova compare` on it.
    """


@main.command()
@_comparison_options
@_told
def demo(**options: Any) -> None:
    """Compare three models on real data (Satellite, bundled).

    The models and the 20 random hold-outs are those of Landgrebe et al. (2006), whose level was 0.005.
    """
    _run(skewanova.load_satellite_scores(), **options)


@main.command()
@click.argument("scores", type=click.Path(path_type=Path))
@_comparison_options
@click.option(
    "--missing",
    type=click.Choice(["error", "drop_fold"]),
    default="error",
    show_default=True,
    help="What to do if a model lacks a fold.",
)
@_table_options
@_told
def compare(scores: Path, **options: Any) -> None:
    r"""Compare the models in the table SCORES.

    SCORES is a .csv, .csv.gz or .parquet file with one row for each model and held-out case: model, fold,
    y_true, y_score and, if you can, case (which case of the data set the row is about). A higher score speaks
    for the positive class.

    \b
    Example:
      skewanova compare scores.csv --deployment-prior 0.05:0.20 \
          --priors 0.5,0.1,0.01 --alpha 0.005 --out report
    """
    _run(_read(scores, options), **options)


@main.command()
@click.argument("scores", type=click.Path(path_type=Path))
@_table_options
@_told
def check(scores: Path, **options: Any) -> None:
    """Check the table SCORES, and tell what it holds.

    Nothing is computed or written. Exit status 0 means that `compare` will accept the table.
    """
    from skewanova.scores import describe_table

    for line in describe_table(_read(scores, options)):
        click.echo(line)


@main.command()
@click.argument("scores", type=click.Path(path_type=Path))
@click.option("--prior", type=_Parsed("PRIOR", parse_prior), help="Prior of the deployment.")
@click.option(
    "--deployment-prior",
    type=_Parsed("RANGE", parse_deployment_prior),
    help="Instead of one prior, average over LOW:HIGH, skew:LOW:HIGH or beta:A:B.",
)
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", show_default=True, help="How intervals are made."
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Coverage of the intervals.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of bootstraps.")
@_out_file_option
@_table_options
@_told
def intervals(scores: Path, seed: int, out: Path | None, **options: Any) -> None:
    """Give a confidence interval for every model and fold of SCORES.

    At one prior, over a deployment prior, or (with neither) at each fold's own prior. Where no case is in two
    folds, all folds are also pooled.
    """
    from skewanova.tables import intervals_table

    frame = skewanova.interval_table(_read(scores, options), rng=seed, **options)
    if out is not None:
        frame.to_csv(out, index=False)
    click.echo(intervals_table(frame).to_text())


@main.group()
def study() -> None:
    """Run the simulations behind the claims, reduced or in full."""


def _study_options(command: Callable[..., None]) -> Callable[..., None]:
    options = [
        click.option("--scenarios", metavar="LIST", help="Names separated by commas; all by default."),
        click.option(
            "--replicates",
            type=click.IntRange(min=1),
            default=400,
            show_default=True,
            help="Replicates of each scenario.",
        ),
        click.option("--full", is_flag=True, help="As many replicates as in the recorded study: hours."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed."),
        click.option(
            "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to use."
        ),
        _out_file_option,
    ]
    return _with(options, command)


@study.command("type-one-error")
@_study_options
@_told
def type_one_error(**options: Any) -> None:
    """How often each test finds a difference between models that are equal."""
    from skewanova.simulation import type_one_error_study

    _run_study(type_one_error_study, **options)


@study.command()
@_study_options
@_told
def power(**options: Any) -> None:
    """How often each test finds a difference that is there."""
    from skewanova.simulation import power_study

    _run_study(power_study, **options)


def _curve_study_options(command: Callable[..., None]) -> Callable[..., None]:
    """The same options but for the scenarios, and fewer replicates, which cost more here."""
    options = [
        click.option(
            "--replicates",
            type=click.IntRange(min=1),
            default=200,
            show_default=True,
            help="Samples of each setting and size.",
        ),
        click.option("--full", is_flag=True, help="As many samples as in the recorded study: hours."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed."),
        click.option(
            "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to use."
        ),
        click.option("--out", type=click.Path(path_type=Path), metavar="FILE", help="Also write a CSV file."),
    ]
    return _with(options, command)


@study.command()
@_curve_study_options
@_told
def estimators(**options: Any) -> None:
    """How far each estimator of AUPREC is off (Boyd et al. 2013)."""
    from skewanova._curve_studies import estimators_study

    _run_curve_study(estimators_study, **options)


@study.command("intervals")
@_curve_study_options
@_told
def interval_coverage(**options: Any) -> None:
    """How often intervals of AUPREC hold the truth (Boyd et al. 2013)."""
    from skewanova._curve_studies import intervals_study

    _run_curve_study(intervals_study, **options)


@study.command("binormal")
@_curve_study_options
@_told
def binormal_bias(**options: Any) -> None:
    """How far smooth and empirical areas are off (Brodersen et al. 2010)."""
    from skewanova._curve_studies import binormal_study

    _run_curve_study(binormal_study, **options)


def _run_curve_study(
    run: Callable[..., CurveStudy], *, seed: int, jobs: int, out: Path | None, **options: Any
) -> None:
    result = run(rng=seed, n_jobs=jobs, **options)
    if out is not None:
        result.to_frame().to_csv(out, index=False)
    click.echo("\n\n".join(table.to_text() for table in result.to_tables()))


def _run_study(
    run: Callable[..., StudyResult],
    *,
    scenarios: str | None,
    seed: int,
    jobs: int,
    out: Path | None,
    **options: Any,
) -> None:
    names = None if scenarios is None else [name.strip() for name in scenarios.split(",")]
    result = run(scenarios=names, rng=seed, n_jobs=jobs, **options)
    if out is not None:
        result.to_frame().to_csv(out, index=False)
    click.echo(result.to_table().to_text())


def _read(path: Path, options: dict[str, Any]) -> skewanova.ScoreTable:
    """Read the score table, taking the options about it out of `options`."""
    words = {"model": "model", "fold": "fold", "label": "y_true", "score": "y_score", "case": "case"}
    named = {column: options.pop(f"{word}_column") for word, column in words.items()}
    given = {column: name for column, name in named.items() if name is not None}
    positive, wide = options.pop("positive"), options.pop("wide")
    if not wide:
        return skewanova.read_scores(path, columns=given, pos_label=positive)
    if "model" in given or "y_score" in given:
        raise InputError(
            "--wide takes every other column as a model: leave out --model-column, --score-column"
        )
    return skewanova.scores_from_wide(path, **{"pos_label": positive, **given})


def _run(
    scores: skewanova.ScoreTable,
    *,
    deployment_prior: DeploymentPrior,
    seed: int,
    out: Path | None,
    **options: Any,
) -> None:
    result = skewanova.compare(scores, deployment_prior, rng=seed, **options)
    written = None if out is None else result.save(out)
    click.echo(result.summary())
    if written is not None:
        click.echo(f"\nWritten to {written}: open {written / 'report.html'} in a browser.")


if __name__ == "__main__":
    main()
