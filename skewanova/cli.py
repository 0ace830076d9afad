"""The command ``skewanova``: arguments to calls, and nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import skewanova
from skewanova._checks import SeveralDatasetsError
from skewanova._cli_decisions import operate, plan, run_datasets
from skewanova._cli_options import Parsed, comparison_options, out_file_option, table_options, told
from skewanova._cli_reading import open_table, read_table
from skewanova._cli_studies import study
from skewanova._parsing import parse_deployment_prior, parse_prior
from skewanova.intervals import METHODS
from skewanova.priors import DeploymentPrior

if TYPE_CHECKING:
    from skewanova._streamed_scores import Scores


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80})
@click.version_option(skewanova.__version__, prog_name="skewanova")
def main() -> None:
    """Tell which classifier to deploy when the class prior is uncertain.

    Start with `skewanova demo`. For your own models, write their held-out scores to a CSV file with the
    columns model, fold, y_true, y_score (and case, if you can), then run `skewanova check` and
    `skewanova compare` on it.
    """


@main.command()
@comparison_options
@told
def demo(**options: Any) -> None:
    """Compare three models on real data (Satellite, bundled).

    The models and the 20 random hold-outs are those of Landgrebe et al. (2006), whose level was 0.005.
    """
    _run(skewanova.load_satellite_scores(), **options)


@main.command()
@click.argument("scores", type=click.Path(path_type=Path))
@comparison_options
@click.option(
    "--missing",
    type=click.Choice(["error", "drop_fold"]),
    default="error",
    show_default=True,
    help="What to do if a model lacks a fold.",
)
@table_options
@told
def compare(scores: Path, **options: Any) -> None:
    r"""Compare the models in the table SCORES.

    SCORES is a .csv, .jsonl (or .gz of these) or .parquet file, or a folder of .parquet files, with one row
    for each model and held-out case: model, fold, y_true, y_score and, if you can, case (which case of the
    data set the row is about). A higher score speaks for the positive class. With a column dataset, every
    data set is compared by itself and then all together.

    \b
    Example:
      skewanova compare scores.csv --deployment-prior 0.05:0.20 \
          --priors 0.5,0.1,0.01 --alpha 0.005 --out report
    """
    given = dict(options)
    try:
        table = open_table(scores, options)
    except SeveralDatasetsError:
        run_datasets(scores, **given)
    else:
        _run(table, **options)


@main.command()
@click.argument("scores", type=click.Path(path_type=Path))
@table_options
@told
def check(scores: Path, **options: Any) -> None:
    """Check the table SCORES, and tell what it holds.

    Nothing is computed or written. Exit status 0 means that `compare` will accept the table.
    """
    from skewanova.scores import describe_table

    for line in describe_table(open_table(scores, options)):
        click.echo(line)


@main.command()
@click.argument("scores", type=click.Path(path_type=Path))
@click.option("--prior", type=Parsed("PRIOR", parse_prior), help="Prior of the deployment.")
@click.option(
    "--deployment-prior",
    type=Parsed("RANGE", parse_deployment_prior),
    help="Instead of one prior, average over LOW:HIGH, skew:LOW:HIGH, beta:A:B or "
    "quantiles:0.05=LOW:0.95=HIGH.",
)
@click.option(
    "--method", type=click.Choice(METHODS), default="auto", show_default=True, help="How intervals are made."
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Coverage of the intervals.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of bootstraps.")
@out_file_option
@table_options
@told
def intervals(scores: Path, seed: int, out: Path | None, **options: Any) -> None:
    """Give a confidence interval for every model and fold of SCORES.

    At one prior, over a deployment prior, or (with neither) at each fold's own prior. Where no case is in two
    folds, all folds are also pooled.
    """
    from skewanova.tables import intervals_table

    frame = skewanova.interval_table(read_table(scores, options), rng=seed, **options)
    if out is not None:
        frame.to_csv(out, index=False)
    click.echo(intervals_table(frame).to_text())


def _run(
    scores: Scores,
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


main.add_command(study)
main.add_command(operate)
main.add_command(plan)

if __name__ == "__main__":
    main()
