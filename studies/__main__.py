"""The command ``python -m studies``: the simulations behind the claims."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import click

from skewanova.cli.options import handle_errors, out_option
from skewanova.cli.output import echo


class _Simulation(NamedTuple):
    """One study: its function, and what the command says it tells."""

    file: str
    function: str
    told: str
    replicates: int = 200
    unit: str = "Samples of each setting and size."
    by_prior: str = ""  # function that has the priors instead of the sizes


def _of_tests(function: str, text: str) -> _Simulation:
    return _Simulation("calibration", function, text, 400, "Replicates of each scenario.")


#: Every study by the name of its command.
STUDIES = {
    "type-one-error": _of_tests(
        "type_one_error_study", "How often each test finds a difference between models that are equal."
    ),
    "power": _of_tests("power_study", "How often each test finds a difference that is there."),
    "split-half": _Simulation(
        "halvings",
        "split_half_study",
        "What half splits and halvings of the data tell, and what they cost.",
        unit="Replicates of each scenario, effect and kind of splits.",
    ),
    "learners": _Simulation(
        "learners",
        "learners_study",
        "How often the default of compare_estimators finds a difference between equal models.",
        unit="Data sets of each learner and setting.",
    ),
    "rivals": _Simulation(
        "rivals",
        "rivals_study",
        "What tests of two models on one data set find, at what price in fits.",
        unit="Data sets of each scenario, effect and cut.",
    ),
    "instability": _Simulation(
        "learners",
        "instability_study",
        "How far scores over folds tell stable from unstable learners.",
        unit="Data sets of each scenario.",
    ),
    "estimators": _Simulation(
        "areas",
        "estimators_study",
        "How far each estimator of AUPREC is off (Boyd et al. 2013).",
        by_prior="estimators_by_prior_study",
    ),
    "intervals": _Simulation(
        "areas", "intervals_at_all_priors", "How often intervals of AUPREC hold the truth (Boyd et al. 2013)."
    ),
    "binormal": _Simulation(
        "areas", "binormal_study", "How far smooth and empirical areas are off (Brodersen et al. 2010)."
    ),
    "paired": _Simulation(
        "one_set", "paired_study", "How often models of equal AUPREC on one test set are found to differ."
    ),
    "support": _Simulation(
        "support",
        "support_study",
        "How tests and intervals do where positives or effective negatives are few.",
        unit="Tables of each design and size.",
    ),
    "few-positives": _Simulation(
        "support", "few_positives_study", "How often intervals of areas hold the truth with few positives."
    ),
    "prior": _Simulation(
        "priors", "prior_study", "How often intervals of a prior estimated from unlabelled scores hold it."
    ),
    "monitor": _Simulation(
        "monitor",
        "monitor_study",
        "How often weekly looks raise a false alarm, and how late a change is found.",
        unit="Years of each scenario.",
    ),
    "crossings": _Simulation(
        "decisions",
        "crossings_study",
        "How often intervals of crossings hold the prior at which true curves cross.",
    ),
    "leaders": _Simulation(
        "decisions",
        "leaders_study",
        "What the sets of leaders say of models that are equal, or swap the lead.",
    ),
    "information": _Simulation(
        "decisions",
        "information_study",
        "How much a wrong choice loses and more data gain, against the value of information.",
    ),
    "levels": _Simulation(
        "levels", "levels_study", "How tests and intervals do where scores have few levels, such as ratings."
    ),
    "ranks": _Simulation("ranks", "rank_study", "How often intervals of all ranks hold the true ranks."),
    "plans": _Simulation(
        "plans",
        "plans_study",
        "How often samples of a planned size tell two models apart.",
        unit="Pilots of each design.",
    ),
    "values": _Simulation(
        "values",
        "values_study",
        "How often compare_values finds a difference between equal models, by measure and design.",
        unit="Data sets, or samples of them, of each learner and design.",
    ),
    "measures": _Simulation(
        "measures",
        "measures_study",
        "How often tests and intervals of cost, net benefit and other measures of scores err.",
        unit="Data sets, or test sets, of each learner and design.",
    ),
    "p-best": _Simulation(
        "decisions", "p_best_study", "How often a model is the best, against its probability of being best."
    ),
}


#: Files of studies whose scenarios can be chosen.
CHOSEN = {"calibration", "halvings", "learners", "measures", "priors", "rivals", "values"}


@click.group()
def study() -> None:
    """Run the simulations behind the claims, reduced or in full."""


def _options(simulation: _Simulation) -> list[click.Parameter]:
    chosen = click.Option(["--scenarios"], metavar="LIST", help="Names separated by commas; all by default.")
    by = click.Choice(["size", "prior"])
    count, seed = click.IntRange(min=1), click.IntRange(min=0)
    return [
        *([chosen] if simulation.file in CHOSEN else []),
        *(
            [click.Option(["--by"], type=by, default="size", help="What varies.")]
            if simulation.by_prior
            else []
        ),
        click.Option(["--replicates"], type=count, default=simulation.replicates, help=simulation.unit),
        click.Option(["--full"], is_flag=True, help="As many as in the recorded study: hours."),
        click.Option(["--seed"], type=seed, default=0, help="Seed."),
        click.Option(["--jobs"], type=count, default=1, help="Processes to use."),
        out_option("numbers, tables and figures"),
    ]


def _command(name: str, simulation: _Simulation) -> click.Command:
    @handle_errors
    def run(*, seed: int, jobs: int, out: Path | None, **options: Any) -> None:
        """Run a study, write it if a folder is named, print its tables."""
        if options.get("scenarios") is not None:
            options["scenarios"] = [each.strip() for each in options["scenarios"].split(",")]
        by_prior = options.pop("by", "size") == "prior"
        function = simulation.by_prior if by_prior else simulation.function
        simulate = getattr(import_module(f"studies.{simulation.file}"), function)
        result = simulate(rng=seed, n_jobs=jobs, **options)
        if out is not None:
            from studies.output import write_study

            write_study(result, out, options)
        echo("\n\n".join(table.to_text() for table in result.to_tables()))

    short = f"{simulation.told.split(' (')[0].removesuffix('.')}."  # the first full stop would end it
    command = click.command(name, help=simulation.told, short_help=short, params=_options(simulation))
    return command(run)


for _name, _simulation in STUDIES.items():
    study.add_command(_command(_name, _simulation))


if __name__ == "__main__":
    study(prog_name="python -m studies")
