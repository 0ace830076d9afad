"""The commands ``skewanova study``: the simulations behind the claims."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skewanova._cli_options import out_file_option, told, with_options

if TYPE_CHECKING:
    from skewanova._curve_result import CurveStudy
    from skewanova._decision_runner import DecisionStudy
    from skewanova.simulation import StudyResult


@click.group()
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
        out_file_option,
    ]
    return with_options(options, command)


@study.command("type-one-error")
@_study_options
@told
def type_one_error(**options: Any) -> None:
    """How often each test finds a difference between models that are equal."""
    from skewanova.simulation import type_one_error_study

    _run_study(type_one_error_study, **options)


@study.command()
@_study_options
@told
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
        click.option(
            "--out",
            type=click.Path(path_type=Path),
            metavar="DIR",
            help="Write numbers, tables and figures to this folder; a name in .csv: that file only.",
        ),
    ]
    return with_options(options, command)


@study.command()
@_curve_study_options
@told
def estimators(**options: Any) -> None:
    """How far each estimator of AUPREC is off (Boyd et al. 2013)."""
    from skewanova._curve_studies import estimators_study

    _run_curve_study(estimators_study, **options)


@study.command("intervals")
@_curve_study_options
@told
def interval_coverage(**options: Any) -> None:
    """How often intervals of AUPREC hold the truth (Boyd et al. 2013)."""
    from skewanova._curve_studies import INTERVAL_PRIORS, intervals_study

    _run_curve_study(intervals_study, priors=INTERVAL_PRIORS, **options)


@study.command("binormal")
@_curve_study_options
@told
def binormal_bias(**options: Any) -> None:
    """How far smooth and empirical areas are off (Brodersen et al. 2010)."""
    from skewanova._curve_studies import binormal_study

    _run_curve_study(binormal_study, **options)


@study.command("paired")
@_curve_study_options
@told
def paired_size(**options: Any) -> None:
    """How often two models of equal AUPREC on one test set are found to differ."""
    from skewanova._paired_study import paired_study

    _run_curve_study(paired_study, **options)


@study.command("crossings")
@_curve_study_options
@told
def crossing_coverage(**options: Any) -> None:
    """How often intervals of crossings hold the prior at which true curves cross."""
    from skewanova._decision_studies import crossings_study

    _run_curve_study(crossings_study, **options)


@study.command("leaders")
@_curve_study_options
@told
def leader_sets(**options: Any) -> None:
    """What the sets of leaders say of models that are equal, or swap the lead."""
    from skewanova._decision_studies import leaders_study

    _run_curve_study(leaders_study, **options)


@study.command("p-best")
@_curve_study_options
@told
def p_best_reliability(**options: Any) -> None:
    """How often a model is the best, against its probability of being best."""
    from skewanova._best_study import p_best_study

    _run_curve_study(p_best_study, **options)


def _run_curve_study(
    run: Callable[..., CurveStudy | DecisionStudy], *, seed: int, jobs: int, out: Path | None, **options: Any
) -> None:
    from skewanova._study_folder import check_study_folder, write_study

    if out is not None:
        check_study_folder(out)
    result = run(rng=seed, n_jobs=jobs, **options)
    if out is not None:
        write_study(result, out)
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
