"""The commands ``operate`` and ``plan``, and ``compare`` where there are several data sets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skewanova._cli_options import (
    Parsed,
    design_options,
    out_option,
    output_options,
    table_options,
    told,
)
from skewanova._cli_output import (
    Files,
    datasets_as_json,
    print_json,
    say,
    screen_width,
    write_results,
)
from skewanova._cli_reading import column_names, read_table, reading
from skewanova._parsing import parse_deployment_prior, parse_priors

if TYPE_CHECKING:
    from skewanova._score_table import ScoreTable


@click.command()
@click.argument("scores", type=click.Path(path_type=Path))
@click.option("--threshold", type=float, help="Flag cases that score at least this.")
@click.option("--recall", type=float, help="Instead: the highest threshold with this recall.")
@click.option("--precision", type=float, help="Instead: the lowest threshold with this precision.")
@click.option("--flagged", type=float, help="Instead: the lowest threshold that flags this share at most.")
@click.option("--cost-fp", type=float, help="Cost of a false positive.")
@click.option(
    "--cost-fn", type=float, help="Cost of a false negative; costs alone choose the cheapest threshold."
)
@click.option(
    "--priors",
    type=Parsed("LIST", parse_priors),
    default="0.5,0.1,0.01",
    show_default=True,
    help="Priors of the deployment, separated by commas.",
)
@click.option(
    "--chosen-prior",
    type=Parsed("LIST", parse_priors),
    help="Priors for which the threshold is chosen; by default each of --priors for itself.",
)
@click.option("--level", type=float, default=0.95, show_default=True, help="Level of the intervals.")
@design_options
@out_option("operating.csv and its tables")
@table_options
@output_options
@told
def operate(
    scores: Path,
    *,
    cost_fp: float | None,
    cost_fn: float | None,
    resampling: str,
    test_fraction: float | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Tell what one threshold does at the priors of its use.

    \b
    Example:
      skewanova operate scores.csv --recall 0.8 --priors 0.1,0.01 \\
          --cost-fp 1 --cost-fn 20
    """  # noqa: D301 - click wants the sign \b itself
    from skewanova._design import find_resampling
    from skewanova._operating_tables import operating_points_table, thresholds_table
    from skewanova.operating import operating_table

    costs = None if cost_fp is None or cost_fn is None else (cost_fp, cost_fn)
    if costs is None and (cost_fp, cost_fn) != (None, None):
        raise click.UsageError("--cost-fp and --cost-fn go together")
    table = read_table(scores, options)
    design, _ = find_resampling(table, resampling=resampling, test_fraction=test_fraction)
    frame = operating_table(table, costs=costs, ratio=design.ratio, **options)
    tables = operating_points_table(frame), thresholds_table(frame)
    settings = {**options, "costs": costs, "resampling": resampling, "test_fraction": test_fraction}
    text = "\n\n".join(found.to_markdown() for found in tables)
    files: Files = {"operating.csv": frame, "operating.md": text}
    write_results(out, files, command="operate", table=table, settings=settings)
    if as_json:
        print_json("operate", operating=frame)
    elif not quiet:
        say("\n\n".join(found.to_text(screen_width()) for found in tables))


@click.command()
@click.argument("scores", type=click.Path(path_type=Path))
@click.option(
    "--deployment-prior",
    type=Parsed("RANGE", parse_deployment_prior),
    default="0.05:0.20",
    show_default=True,
    help="Where the prior of the deployment lies, as for compare.",
)
@click.option("--difference", type=float, help="Difference of IAUPREC to find; by default the observed one.")
@click.option("--power", type=float, default=0.8, show_default=True, help="Probability of finding it.")
@click.option("--alpha", type=float, default=0.05, show_default=True, help="Level of each pair's test.")
@click.option("--bonferroni", is_flag=True, help="Divide the level by the number of pairs.")
@design_options
@out_option("plans.csv and its text")
@table_options
@output_options
@told
def plan(scores: Path, *, out: Path | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """Tell how much more data would tell the models apart.

    \b
    Example:
      skewanova plan scores.csv --deployment-prior 0.05:0.20 --difference 0.02
    """  # noqa: D301 - click wants the sign \b itself
    from skewanova.planning import plan_comparison

    table = read_table(scores, options)
    found = plan_comparison(table, **options)
    files: Files = {"plans.csv": found.to_frame(), "plans.txt": found.summary()}
    write_results(out, files, command="plan", table=table, settings=options)
    if as_json:
        print_json("plan", plan=found.to_frame(), sentences=found.sentences)
    elif not quiet:
        say(found.summary())


def describe_datasets(
    scores: Path, options: dict[str, Any]
) -> tuple[dict[str, ScoreTable], dict[str, list[str]]]:
    """Tables of several data sets and what `check` says of each, or bad input as `compare` would tell it."""
    from skewanova._dataset_tables import naming, read_datasets
    from skewanova._datasets_comparison import check_same_models
    from skewanova.scores import describe_table

    columns, positive = column_names(options)
    with reading(scores):
        tables = read_datasets(scores, columns=columns, pos_label=positive)
    check_same_models({name: table.models for name, table in tables.items()})
    described = {}
    for name, table in tables.items():
        with naming(name):
            described[name] = describe_table(table)
    return tables, described


def run_datasets(scores: Path, *, as_json: bool, quiet: bool, **options: Any) -> None:
    """Compare on several data sets, and print what was found across them."""
    from skewanova._dataset_tables import read_datasets
    from skewanova._datasets_comparison import compare_datasets

    columns, positive = column_names(options)
    out, rng = options.pop("out"), options.pop("seed")
    prior, alpha = options.pop("deployment_prior"), options.pop("alpha")
    with reading(scores):
        tables = read_datasets(scores, columns=columns, pos_label=positive)
    result = compare_datasets(tables, prior, alpha=alpha, rng=rng, options=options)
    written = None if out is None else result.save(out)
    if as_json:
        print_json("compare", **datasets_as_json(result))
    if as_json or quiet:
        return
    say(result.summary())
    if written is not None:
        say(f"\nWritten to {written}: open {written / 'report.html'} in a browser.")
