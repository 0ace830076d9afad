"""The commands ``skewanova study``: the simulations behind the claims."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skewanova.cli.options import out_option, told, with_options
from skewanova.cli.output import say

if TYPE_CHECKING:
    from skewanova.studies.output import Study


@click.group()
def study() -> None:
    """Run the simulations behind the claims, reduced or in full."""


def _study_options(replicates: int, unit: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The options of a study, and how many replicates it has unless told."""
    options = [
        click.option(
            "--replicates", type=click.IntRange(min=1), default=replicates, show_default=True, help=unit
        ),
        click.option("--full", is_flag=True, help="As many as in the recorded study: hours."),
        click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed."),
        click.option(
            "--jobs", type=click.IntRange(min=1), default=1, show_default=True, help="Processes to use."
        ),
        out_option("numbers, tables and figures"),
    ]
    return partial(with_options, options)


_scenarios = click.option("--scenarios", metavar="LIST", help="Names separated by commas; all by default.")


_of_tests = _study_options(400, "Replicates of each scenario.")


_of_samples = _study_options(200, "Samples of each setting and size.")


@study.command("type-one-error")
@_scenarios
@_of_tests
@told
def type_one_error(scenarios: str | None, **options: Any) -> None:
    """How often each test finds a difference between models that are equal."""
    from skewanova.studies.calibration import type_one_error_study

    _run(type_one_error_study, scenarios=_named(scenarios), **options)


@study.command()
@_scenarios
@_of_tests
@told
def power(scenarios: str | None, **options: Any) -> None:
    """How often each test finds a difference that is there."""
    from skewanova.studies.calibration import power_study

    _run(power_study, scenarios=_named(scenarios), **options)


@study.command(short_help="How far each estimator of AUPREC is off.")
@_of_samples
@told
def estimators(**options: Any) -> None:
    """How far each estimator of AUPREC is off (Boyd et al. 2013)."""
    from skewanova.studies.areas import estimators_study

    _run(estimators_study, **options)


@study.command("intervals", short_help="How often intervals of AUPREC hold the truth.")
@_of_samples
@told
def interval_coverage(**options: Any) -> None:
    """How often intervals of AUPREC hold the truth (Boyd et al. 2013)."""
    from skewanova.studies.areas import INTERVAL_PRIORS, intervals_study

    _run(intervals_study, priors=INTERVAL_PRIORS, **options)


@study.command("binormal", short_help="How far smooth and empirical areas are off.")
@_of_samples
@told
def binormal_bias(**options: Any) -> None:
    """How far smooth and empirical areas are off (Brodersen et al. 2010)."""
    from skewanova.studies.areas import binormal_study

    _run(binormal_study, **options)


@study.command("paired")
@_of_samples
@told
def paired_size(**options: Any) -> None:
    """How often two models of equal AUPREC on one test set are found to differ."""
    from skewanova.studies.one_set import paired_study

    _run(paired_study, **options)


@study.command("crossings")
@_of_samples
@told
def crossing_coverage(**options: Any) -> None:
    """How often intervals of crossings hold the prior at which true curves cross."""
    from skewanova.studies.decisions import crossings_study

    _run(crossings_study, **options)


@study.command("leaders")
@_of_samples
@told
def leader_sets(**options: Any) -> None:
    """What the sets of leaders say of models that are equal, or swap the lead."""
    from skewanova.studies.decisions import leaders_study

    _run(leaders_study, **options)


@study.command("p-best")
@_of_samples
@told
def p_best_reliability(**options: Any) -> None:
    """How often a model is the best, against its probability of being best."""
    from skewanova.studies.decisions import p_best_study

    _run(p_best_study, **options)


def _run(study: Callable[..., Study], *, seed: int, jobs: int, out: Path | None, **options: Any) -> None:
    """Run a study, write it if a folder is named, print its tables."""
    result = study(rng=seed, n_jobs=jobs, **options)
    if out is not None:
        from skewanova.studies.output import write_study

        write_study(result, out, options)
    say("\n\n".join(table.to_text() for table in result.to_tables()))


def _named(scenarios: str | None) -> list[str] | None:
    return None if scenarios is None else [name.strip() for name in scenarios.split(",")]
