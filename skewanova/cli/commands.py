"""The command ``skewanova``: arguments to calls, and nothing else."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import BashComplete, FishComplete, ZshComplete

import skewanova
from skewanova.base.checks import InputError, MultipleDatasetsError, SkewanovaWarning, naming
from skewanova.base.progress import STAGES
from skewanova.cli.estimates import (
    Unlabelled,
    parse_prior_or_estimate,
    parse_priors_or_estimate,
    refuse_estimate,
    with_estimate,
)
from skewanova.cli.options import (
    Group,
    Parsed,
    classes_option,
    comparison_options,
    design_options,
    exits_on_bad_input,
    out_option,
    output_options,
    read_chosen_part,
    read_classes,
    read_several,
    read_table,
    table_options,
    with_design,
)
from skewanova.cli.output import (
    Files,
    comparison_as_json,
    parts_as_json,
    print_json,
    saved,
    say,
    say_summary,
    screen_width,
    show,
    stages_shown,
    told,
    warning_lines,
    wrapped,
    write_results,
)
from skewanova.cli.priors import LEADER_CHANGED, monitor, prior
from skewanova.inference.catalogue import INTERVALS
from skewanova.priors.parsing import parse_deployment_prior, parse_prior, parse_priors

if TYPE_CHECKING:
    from skewanova.priors.weightings import DeploymentPrior
    from skewanova.scores.table import (
        Scores,
        ScoreTable,
    )


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
    "--at-priors",
    type=Parsed("LIST", parse_priors_or_estimate),
    default="0.5,0.1,0.01",
    help="Priors of the deployment, separated by commas, or a distribution of them, such as beta:2:98: its "
    "mean and 5 % and 95 % quantiles, with the threshold chosen for the mean.",
)
@click.option(
    "--chosen-prior",
    type=Parsed("LIST", parse_priors),
    help="Priors for which the threshold is chosen; by default each of --at-priors for itself.",
)
@click.option(
    "--choose-on",
    metavar="PART",
    help="Choose the threshold on the rows of this part (column part), and judge it on all others.",
)
@click.option("--confidence-level", type=float, default=0.95, help="Level of the intervals.")
@design_options
@out_option("threshold.csv and its tables")
@table_options
@output_options
@exits_on_bad_input
def threshold(
    scores: Path,
    *,
    choose_on: str | None,
    cost_fp: float | None,
    cost_fn: float | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Choose one threshold, and tell what it does where it is used.

    \b
    Example:
      skewanova threshold scores.csv --recall 0.8 --at-priors 0.1,0.01 \\
          --cost-fp 1 --cost-fn 20
    """  # noqa: D301 - click wants the sign \b itself
    from skewanova.decision.operating import threshold_table
    from skewanova.report.tables import curves_by_skew_table, thresholds_table

    costs = None if cost_fp is None or cost_fn is None else (cost_fp, cost_fn)
    if costs is None and (cost_fp, cost_fn) != (None, None):
        raise click.UsageError("--cost-fp and --cost-fn go together")
    choosing, table = (
        (None, read_table(scores, options))
        if choose_on is None
        else read_chosen_part(scores, choose_on, options)
    )
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SkewanovaWarning)
        options["at_priors"] = with_estimate(options["at_priors"], table)
        frame = threshold_table(table, costs=costs, choose_on=choosing, **with_design(options))
    tables = thresholds_table(frame), curves_by_skew_table(frame)
    settings = {**options, "costs": costs, "choose_on": choose_on}
    files: Files = {"threshold.csv": frame, "threshold.md": "\n\n".join(t.to_markdown() for t in tables)}
    write_results(out, files, command="threshold", table=table, settings=settings)
    parts = [result.to_text(screen_width()) for result in tables]
    text = "\n\n".join([*parts, *warning_lines(str(each.message) for each in caught)])
    show("threshold", text, as_json=as_json, quiet=quiet, threshold=frame)


@click.command()
@click.argument("scores", type=click.Path(path_type=Path))
@click.option(
    "--deployment-prior",
    type=Parsed("RANGE", parse_prior_or_estimate),
    default="0.05:0.20",
    help="Where the prior of the deployment lies, as for compare.",
)
@click.option("--difference", type=float, help="Difference of IAUPREC to find; by default the observed one.")
@click.option("--power", type=float, default=0.8, help="Probability of finding it.")
@click.option("--alpha", type=float, default=0.05, help="Level of each pair's test.")
@click.option(
    "--assurance",
    type=float,
    default=0.8,
    help="Probability with which the assured sizes have the power.",
)
@click.option("--bonferroni", is_flag=True, help="Divide the level by the number of pairs.")
@click.option("--control", metavar="MODEL", help="Plan for the pairs with this model alone.")
@design_options
@out_option("plans.csv and its text")
@table_options
@output_options
@exits_on_bad_input
def plan(scores: Path, *, out: Path | None, as_json: bool, quiet: bool, **options: Any) -> None:
    """Tell how much more data would tell the models apart.

    \b
    Example:
      skewanova plan scores.csv --deployment-prior 0.05:0.20 --difference 0.02
    """  # noqa: D301 - click wants the sign \b itself
    from skewanova.decision.planning import plan_comparison

    table = read_table(scores, options)
    options["deployment_prior"] = with_estimate(options["deployment_prior"], table)
    result = plan_comparison(table, **with_design(options))
    files: Files = {"plans.csv": result.to_frame(), "plans.txt": result.summary()}
    write_results(out, files, command="plan", table=table, settings=options)
    content = {"plan": result.to_frame(), "sentences": result.sentences}
    show("plan", result.summary(), as_json=as_json, quiet=quiet, **content)


SHELLS = {"bash": BashComplete, "zsh": ZshComplete, "fish": FishComplete}


#: How the names of what is read first in a folder end, best first.
PAGES = ("report.html", ".md", ".txt")


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80, "show_default": True},
)
@click.version_option(skewanova.__version__, prog_name="skewanova")
@click.pass_context
def main(context: click.Context) -> None:
    """Tell which classifier to deploy when the class prior is uncertain.

    Start with `skewanova demo`. For your own models, write their held-out scores to a CSV file with the
    columns model, fold, y_true, y_score (and case, if you can), then run `skewanova check` and
    `skewanova compare` on it.
    """
    if os.environ.get("NO_COLOR"):  # https://no-color.org
        context.color = False


@main.command()
@comparison_options
@output_options
@exits_on_bad_input
def demo(**options: Any) -> None:
    """Compare three models on real data (Satellite, bundled).

    The models and the 20 random hold-outs are those of Landgrebe et al. (2006), whose level was 0.005.
    """
    _run("demo", skewanova.load_satellite_scores(), **options)


@main.command()
@click.argument("scores", type=click.Path(path_type=Path))
@comparison_options
@click.option(
    "--missing",
    type=click.Choice(["raise", "drop"]),
    default="raise",
    help="What to do if a model lacks a fold.",
)
@classes_option
@table_options
@output_options
@exits_on_bad_input
def compare(scores: Path, **options: Any) -> None:
    """Compare the models in the table SCORES.

    SCORES is a .csv, .jsonl (or .gz of these) or .parquet file, or a folder of .parquet files, with one row
    for each model and held-out case: model, fold, y_true, y_score and, if you can, case (which case of the
    data set the row is about). A higher score speaks for the positive class. With a column dataset, every
    data set is compared by itself and then all together; with --classes, every class against the rest.

    \b
    Example:
      skewanova compare scores.csv --deployment-prior 0.05:0.20 \\
          --at-priors 0.5,0.1,0.01 --alpha 0.005 --out report
    """  # noqa: D301 - click wants the sign \b itself
    if options["classes"] is not None:
        _run_parts(scores, read_classes, skewanova.compare_classes, **options)
        return
    del options["classes"]
    given = dict(options)
    try:
        table = read_table(scores, options)
    except MultipleDatasetsError:
        _run_parts(scores, read_several, skewanova.compare_datasets, **given)
    else:
        _run("compare", table, **options)


@main.command()
@click.argument("scores", type=click.Path(path_type=Path))
@classes_option
@table_options
@output_options
@exits_on_bad_input
def check(scores: Path, as_json: bool, quiet: bool, **options: Any) -> None:
    """Check the table SCORES, and tell what it holds.

    Nothing is computed or written. Exit status 0 means that `compare` will accept the table.
    """
    if options["classes"] is not None:
        result = _checked_parts(read_classes(scores, options).tables, "class", "each against the rest")
    else:
        del options["classes"]
        given = dict(options)
        try:
            table = read_table(scores, options)
        except MultipleDatasetsError:
            result = _checked_datasets(read_several(scores, given))
        else:
            result = _checked(table)
    show("check", as_json=as_json, quiet=quiet, **result)


def _checked(table: Scores) -> dict[str, Any]:
    """What `check` says of one table, in words and for programs."""
    from skewanova.scores.pairing import describe_table

    lines = describe_table(table)
    return {"text": "\n".join(map(wrapped, lines)), **_facts(table, lines)}


def _checked_datasets(tables: Mapping[str, ScoreTable]) -> dict[str, Any]:
    from skewanova.comparison.datasets import check_same_models

    check_same_models({name: table.models for name, table in tables.items()})
    return _checked_parts(tables, "data set", "each by itself, then across all")


def _checked_parts(tables: Mapping[str, ScoreTable], part: str, how: str) -> dict[str, Any]:
    """What `check` says of every data set or class, and how `compare` will compare the models on them."""
    facts = {}
    for name, table in tables.items():
        with naming(f"{part} {name!r}"):
            facts[name] = _checked(table)
    texts = [f"{wrapped(f'{part} {name}')}\n{each.pop('text')}" for name, each in facts.items()]
    parts = {"class": "classes", "data set": "data sets"}[part]
    texts.append(wrapped(f"{len(tables)} {parts}: `compare` will compare the models on {how}."))
    return {"text": "\n\n".join(texts), parts.replace(" ", ""): facts}


@main.command()
@click.argument("scores", type=click.Path(path_type=Path))
@click.option("--prior", type=Parsed("PRIOR", parse_prior), help="Prior of the deployment.")
@click.option(
    "--deployment-prior",
    type=Parsed("RANGE", parse_deployment_prior),
    help="Instead of one prior, average over LOW:HIGH, skew:LOW:HIGH, beta:A:B or "
    "quantiles:0.05=LOW:0.95=HIGH.",
)
@click.option("--method", type=click.Choice(INTERVALS), default="auto", help="How intervals are made.")
@click.option("--confidence-level", type=float, default=0.95, help="Coverage of the intervals.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of bootstraps.")
@out_option("intervals.csv and its table")
@table_options
@output_options
@exits_on_bad_input
def intervals(
    scores: Path, seed: int, out: Path | None, *, as_json: bool, quiet: bool, **options: Any
) -> None:
    """Give a confidence interval for every model and fold of SCORES.

    At one prior, over a deployment prior, or (with neither) at each fold's own prior. Where no case is in two
    folds, all folds are also pooled. Intervals are about these fitted models on further cases.
    """
    from skewanova.report.tables import intervals_table
    from skewanova.scores.design import population_of_cases

    table = read_table(scores, options)
    frame = skewanova.inference.interval_table(table, rng=seed, **options)
    claim = population_of_cases(table)
    displayed = intervals_table(frame, claim)
    files: Files = {"intervals.csv": frame, "intervals.md": displayed.to_markdown()}
    write_results(out, files, command="intervals", table=table, settings=options, seed=seed)
    text = displayed.to_text(screen_width())
    show("intervals", text, as_json=as_json, quiet=quiet, claim=claim, intervals=frame)


@main.command()
@click.argument("old", type=click.Path(path_type=Path))
@click.argument("new", type=click.Path(path_type=Path))
@output_options
@exits_on_bad_input
def diff(old: Path, new: Path, *, as_json: bool, quiet: bool) -> None:
    """Tell what changed from one comparison to another.

    That is the leader, the groups and IAUPREC.

    OLD and NEW are folders that --out wrote, or files that --json printed. Exit status 3 means that the
    leader changed.

    \b
    Example:
      skewanova diff last-month report
    """  # noqa: D301 - click wants the sign \b itself
    from skewanova.comparison.changes import changes

    result = changes(old, new)
    content = {
        "leader_old": result.leader_old,
        "leader_new": result.leader_new,
        "leader_changed": result.leader_changed,
        "sentences": result.sentences,
        "changes": result.to_frame(),
    }
    show("diff", result.summary(screen_width()), as_json=as_json, quiet=quiet, **content)
    if result.leader_changed:
        click.get_current_context().exit(LEADER_CHANGED)


@main.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option("--open", "in_browser", is_flag=True, help="Open it in the browser.")
@exits_on_bad_input
def report(directory: Path, in_browser: bool) -> None:
    """Tell where the report in the output folder DIR is, or open it."""
    from skewanova.base.folders import read_manifest

    pages = sorted(
        (name for name in read_manifest(directory) if Path(name).name == name),
        key=_by_readability,
    )
    if not pages or not (directory / pages[0]).is_file():
        raise InputError(
            f"{str(directory)!r} is not a folder that skewanova wrote; write one by `skewanova compare "
            "SCORES --out DIR`"
        )
    page = directory / pages[0]
    if in_browser and click.launch(page.resolve().as_uri()):
        raise InputError(f"no browser could be started; open {str(page)!r} yourself")
    say(str(page))


def _by_readability(name: str) -> tuple[bool, ...]:
    """The report comes first, then tables of text."""
    return tuple(not name.endswith(end) for end in PAGES)


@main.command()
@click.argument("shell", type=click.Choice(list(SHELLS)))
def completion(shell: str) -> None:
    """Print the script that completes commands and options in SHELL.

    \b
    For example, in ~/.bashrc:
      eval "$(skewanova completion bash)"
    """  # noqa: D301 - click wants the sign \b itself
    click.echo(SHELLS[shell](main, {}, "skewanova", "_SKEWANOVA_COMPLETE").source())


def _facts(table: Scores, lines: list[str]) -> dict[str, Any]:
    """What `check` says, for programs."""
    return {
        "models": table.models,
        "folds": [str(fold) for fold in table.folds],
        "n_rows": int(table.counts.sum()),
        "n_positive": int(table.counts[..., 1].sum()),
        "n_negative": int(table.counts[..., 0].sum()),
        "has_cases": table.has_cases,
        "has_clusters": table.has_clusters,
        "has_weights": table.has_weights,
        "warnings": [line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")],
    }


def _run(
    command: str,
    scores: Scores,
    *,
    deployment_prior: DeploymentPrior | Unlabelled,
    seed: int,
    out: Path | None,
    figures: Sequence[str],
    as_json: bool,
    quiet: bool,
    full: bool,
    models: Sequence[str] | None,
    **options: Any,
) -> None:
    scores = scores if models is None else scores.select_models(models)
    with nullcontext() if quiet else stages_shown(len(STAGES) + _n_figures(out if figures else None)):
        weighting = with_estimate(deployment_prior, scores)
        result = skewanova.compare(scores, weighting, rng=seed, **with_design(options))
        written = saved(result, out, figures)
    if as_json:
        print_json(command, **comparison_as_json(result))
    elif not quiet:
        say_summary(told(result, full=full))
        if written is not None:
            say(_where(written).removeprefix("\n"))


def _run_parts(
    scores: Path, read: Callable[..., Any], compare: Callable[..., Any], *, full: bool, **options: Any
) -> None:
    """Compare on several data sets, or each class against the rest, and print what was found of all."""
    weighting = refuse_estimate(options.pop("deployment_prior"))
    names = ("out", "figures", "seed", "as_json", "quiet", "models")
    out, figures, rng, as_json, quiet, models = map(options.pop, names)
    table = read(scores, options)
    table = table if models is None else _selected(table, models)
    result = compare(table, weighting, rng=rng, **with_design(options))
    written = saved(result, out, figures)
    if as_json:
        print_json("compare", **parts_as_json(result))
    elif not quiet:
        say(f"{told(result, full=full)}{_where(written)}")


def _selected(scores: Any, models: Sequence[str]) -> Any:
    """Select models in every table of several data sets or classes."""
    if isinstance(scores, Mapping):
        return {name: table.select_models(models) for name, table in scores.items()}
    tables = {name: table.select_models(models) for name, table in scores.tables.items()}
    return replace(scores, tables=tables)


def _where(written: Path | None) -> str:
    """Where the output is, if one was written."""
    if written is None:
        return ""
    return f"\n\nWritten to {written}: open {written / 'report.html'} in a browser."


def _n_figures(out: Path | None) -> int:
    """How many figures are drawn at most."""
    if out is None:
        return 0
    from skewanova.report.figures import KINDS

    return len(KINDS)


main.add_command(monitor)


main.add_command(threshold)


main.add_command(plan)


main.add_command(prior)


if __name__ == "__main__":
    main()
