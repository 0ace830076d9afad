"""The command ``skewanova``: arguments to calls, and nothing else."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import shell_complete

import skewanova
from skewanova.base.checks import InputError, SkewanovaWarning, prefix_errors
from skewanova.base.text import STAGES
from skewanova.cli import options as shared
from skewanova.cli import output
from skewanova.cli.output import Findings, echo, print_warnings, screen_width
from skewanova.inference.catalogue import TABLE_INTERVALS
from skewanova.priors.mixtures import N_BINS

if TYPE_CHECKING:
    from skewanova.priors.weightings import DeploymentPrior
    from skewanova.scores.table import Scores, ScoreTable

#: Exit status where another model leads.
LEADER_CHANGED = 3


#: How the names of what is read first in a folder end, best first.
PAGES = ("report.html", ".md", ".txt")


@click.group(
    cls=shared.Group,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80, "show_default": True},
)
@click.version_option(skewanova.__version__, prog_name="skewanova")
@click.pass_context
def main(context: click.Context) -> None:
    """Find out which classifier to deploy when the class prior is uncertain.

    Start with `skewanova demo`. For your own models, write their held-out scores to a CSV file with the
    columns model, fold, y_true, y_score (ideally also case), then run `skewanova check` and
    `skewanova compare` on it. The variable NO_COLOR turns colours off.
    """
    if os.environ.get("NO_COLOR"):  # https://no-color.org
        context.color = False


def add_command(*options: click.Parameter) -> Callable[[Callable[..., Findings]], click.Command]:
    """Return a decorator that makes a function that returns Findings a command with --json and --quiet."""
    decorate = main.command(params=[*options, *shared.OUTPUT_OPTIONS])
    return lambda function: decorate(shared.handle_errors(output.report_findings(function)))


# --- comparisons --------------------------------------------------------------------------------------------


@add_command(*shared.COMPARISON_OPTIONS)
def demo(**options: Any) -> Findings:
    """Compare three models on bundled real data (Satellite).

    The models and the 20 random hold-outs follow Landgrebe et al. (2006), who used alpha 0.005.

    \b
    Example:
      skewanova demo --alpha 0.005 --out report
    """
    return _compare(skewanova.load_satellite_scores(), options)


@add_command(
    shared.SCORES,
    *shared.COMPARISON_OPTIONS,
    shared.choice_option("--missing", ["raise", "drop"], "If a model lacks a fold", default="raise"),
    shared.CLASSES_OPTION,
    *shared.TABLE_OPTIONS,
)
def compare(scores: Path, **options: Any) -> Findings:
    """Compare the models in SCORES and say which one to deploy.

    SCORES is a CSV, JSON lines (also .gz) or Parquet file, or a folder of Parquet files. It has one row per
    model and held-out case with the columns model, y_true, y_score (higher means more likely positive) and,
    if there are any, fold (without it all rows are one test set), case, cluster (such as the patient of
    several cases), weight and dataset.

    \b
    Example:
      skewanova compare scores.csv --deployment-prior 0.05:0.20 --out report
    """
    return _compare(shared.read_tables(scores, options), options)


def _compare(scores: Any, options: dict[str, Any]) -> Findings:
    """Compare the scores, write the folders of --out and --paper, and return summary and JSON (Findings)."""
    out, quiet = (click.get_current_context().params[name] for name in ("out", "quiet"))
    paper, figures, models = (options.pop(name) for name in ("paper", "figures", "models"))
    full, seed, prior = (options.pop(name) for name in ("full", "seed", "deployment_prior"))
    several = _is_several(scores)
    scores = scores if models is None else _select_models(scores, models)
    compare_scores: Any = skewanova.compare
    if several:
        _refuse_for_several(prior, paper)
        datasets = isinstance(scores, Mapping)
        compare_scores = skewanova.compare_datasets if datasets else skewanova.compare_classes
    n_stages = len(STAGES)
    if out is not None and figures:
        from skewanova.report.figures import FIGURES

        n_stages += len(FIGURES)
    with nullcontext() if quiet or several else output.progress_bar(n_stages):
        weighting = shared.resolve_prior(prior, scores)
        result = compare_scores(scores, weighting, rng=seed, **shared.merge_design_options(options))
        return _write_result(result, paper, figures, full=full)


def _write_result(result: Any, paper: Path | None, figures: Any, *, full: bool) -> Findings:
    """Write the folders of --out and --paper, if any; return summary, with the path of the page, and JSON."""
    out = click.get_current_context().params["out"]
    with print_warnings():
        if out is not None:
            result.save(out, figures=figures)
        if paper is not None:
            result.for_paper().save(paper)
    text = output.render_summary(result, full=full)
    if out is not None:
        text += f"\n\nWritten to {out}: open {out / 'report.html'} in a browser."
    return Findings(text, output.comparison_as_json(result), is_verdict=hasattr(result, "verdict"))


@add_command(shared.path_argument("scores", metavar="VALUES"), *shared.VALUES_OPTIONS, *shared.TABLE_OPTIONS)
def compare_values(scores: Path, *, lower_is_better: bool, seed: int, full: bool, **options: Any) -> Findings:
    """Compare models by values of any measure, fold by fold.

    VALUES is a file with the columns model, value (or the one that --measure names) and fold, or one with a
    column for each model and a row for each fold. A column run numbers repetitions of the folds, and a column
    dataset names data sets.

    \b
    Example:
      skewanova compare-values accuracies.csv --design kfold --out report
    """
    paper, figures, measure = (options.pop(name) for name in ("paper", "figures", "measure"))
    of_scores = shared.make_score_measure(options)
    if of_scores is None:
        table = shared.read_values_table(scores, options, measure)
    elif measure is None:
        table = shared.read_table(scores, options)
    else:
        raise InputError("--measure is of values, --score-measure of scores: leave out the one VALUES lacks")
    models = options.pop("models")
    table = table if models is None else table.select_models(models)
    keywords = {"measure": of_scores, **shared.merge_design_options(options)}
    result = skewanova.compare_values(table, greater_is_better=not lower_is_better, rng=seed, **keywords)
    return _write_result(result, paper, figures, full=full)


def _refuse_for_several(deployment_prior: DeploymentPrior | Path, paper: Path | None) -> None:
    """Raise `InputError` if the prior is a file or `paper` is set, which several comparisons cannot use."""
    if isinstance(deployment_prior, Path):
        raise InputError(
            "--deployment-prior estimate:FILE needs one labelled table, but SCORES has several data sets or "
            "classes; run `skewanova prior` on the rows of one data set, or on a file with y_true 1 for one "
            "class and 0 for the rest, and its scores as y_score, and give the interval as LOW:HIGH"
        )
    if paper is not None:
        raise InputError("--paper takes one comparison, but SCORES has several; leave out --paper")


def _is_several(scores: Any) -> bool:
    """Return True if the scores are of several data sets (a mapping) or of several classes."""
    return isinstance(scores, Mapping | skewanova.scores.MulticlassScores)


def _select_models(scores: Any, models: Sequence[str]) -> Any:
    """Return the scores of these models only, in the form of the input; raise if one is unknown."""
    if isinstance(scores, Mapping):
        return {name: table.select_models(models) for name, table in scores.items()}
    if _is_several(scores):
        return replace(scores, tables=_select_models(scores.tables, models))
    return scores.select_models(models)


@add_command(shared.SCORES, shared.CLASSES_OPTION, *shared.TABLE_OPTIONS)
def check(scores: Path, **options: Any) -> Findings:
    """Check the table SCORES and describe what it holds.

    No test is computed and nothing is written. Exit status 0 means that `compare` accepts the table.

    \b
    Example:
      skewanova check scores.csv
    """
    tables = shared.read_tables(scores, options)
    if not _is_several(tables):
        return _check_table(tables)
    if not isinstance(tables, Mapping):
        return _check_parts(tables.tables, "class", "classes", "each against the rest")
    from skewanova.comparison.parts import check_same_models

    check_same_models({name: table.models for name, table in tables.items()})
    return _check_parts(tables, "data set", "data sets", "each by itself, then across all")


def _check_table(table: Scores) -> Findings:
    """Return a table's description as text, and models, folds, row counts, `has_...`, warnings as JSON."""
    from skewanova.scores.pairing import describe_table

    lines = describe_table(table)
    content = {
        "models": table.models,
        "folds": [str(fold) for fold in table.folds],
        "n_rows": int(table.counts.sum()),
        "n_positive": int(table.counts[..., 1].sum()),
        "n_negative": int(table.counts[..., 0].sum()),
        **{name: getattr(table, name) for name in ("has_cases", "has_clusters", "has_weights")},
        "warnings": [line.removeprefix("warning: ") for line in lines if line.startswith("warning: ")],
    }
    return Findings("\n".join(map(output.wrap_line, lines)), content)


def _check_parts(tables: Mapping[str, ScoreTable], part: str, parts: str, manner: str) -> Findings:
    """Return descriptions by name: text that ends with `manner` (of comparing), JSON by `parts` unspaced."""
    texts, content = [], {}
    for name, table in tables.items():
        with prefix_errors(f"{part} {name!r}"):
            findings = _check_table(table)
        texts.append(f"{output.wrap_line(f'{part} {name}')}\n{findings.text}")
        content[name] = findings.content
    texts.append(output.wrap_line(f"{len(tables)} {parts}: `compare` will compare the models on {manner}."))
    return Findings("\n\n".join(texts), {parts.replace(" ", ""): content})


@add_command(shared.path_argument("old"), shared.path_argument("new"))
def diff(old: Path, new: Path) -> Findings:
    """Show what changed between two comparisons.

    That is the leader, the groups and IAUPREC. OLD and NEW are folders that --out wrote, or files of what
    --json printed. Exit status 3 means that the leader changed.

    \b
    Example:
      skewanova diff last-month report
    """
    from skewanova.comparison.diff import changes

    result = changes(old, new)
    content = {name: getattr(result, name) for name in ("leader_old", "leader_new", "leader_changed")}
    content |= {"sentences": result.sentences, "changes": result.to_frame()}
    status = LEADER_CHANGED if result.leader_changed else 0
    return Findings(result.summary(screen_width()), content, exit_status=status)


# --- thresholds, plans, intervals ---------------------------------------------------------------------------


@add_command(
    shared.SCORES,
    shared.number_option("--threshold", "Flag cases with at least this score."),
    shared.number_option("--recall", "Or choose the highest threshold with this recall."),
    shared.number_option("--precision", "Or choose the lowest threshold with this precision."),
    shared.number_option("--flagged", "Or choose the lowest threshold that flags at most this share."),
    shared.number_option("--cost-fp", "Cost of a false positive."),
    shared.number_option("--cost-fn", "Cost of a false negative; costs alone choose the cheapest threshold."),
    shared.parsed_option(
        "--at-priors",
        shared.accept_estimate(shared.parse_priors_or_range),
        "Priors of the deployment, or a distribution such as beta:2:98; then its mean and its 5 % and 95 % "
        "quantiles, with the threshold chosen for the mean.",
        default=shared.AT_PRIORS,
    ),
    shared.parsed_option(
        "--chosen-prior",
        shared.parse_priors,
        "Priors for which the threshold is chosen; by default those of --at-priors, one by one.",
    ),
    click.Option(
        ["--choose-on"],
        metavar="PART",
        help="Choose the threshold on this part (column part) and evaluate it on the others.",
    ),
    shared.level_option("Confidence level of the intervals."),
    *shared.DESIGN_OPTIONS,
    shared.out_option("threshold.csv and its tables"),
    *shared.TABLE_OPTIONS,
)
def threshold(
    scores: Path, *, choose_on: str | None, cost_fp: float | None, cost_fn: float | None, **options: Any
) -> Findings:
    """Choose a threshold and show its performance in use.

    \b
    Example:
      skewanova threshold scores.csv --recall 0.8 --at-priors 0.1,0.01 \\
          --cost-fp 1 --cost-fn 20
    """
    from skewanova.decision.operating import threshold_table
    from skewanova.report.operating_tables import build_operating_table, build_thresholds_table
    from skewanova.scores.reading import read_parts

    costs = None if cost_fp is None or cost_fn is None else (cost_fp, cost_fn)
    if (cost_fp is None) != (cost_fn is None):
        raise click.UsageError("--cost-fp and --cost-fn go together; give both")
    if choose_on is None:
        choosing, table = None, shared.read_table(scores, options)
    else:
        refusal = "--choose-on needs a table with a column part: leave out --wide"
        choosing, table = shared.read_table(scores, options, partial(read_parts, part=choose_on), refusal)
    with warnings.catch_warnings(record=True, action="always", category=SkewanovaWarning) as caught:
        options["at_priors"] = shared.resolve_prior(options["at_priors"], table)
        keywords = shared.merge_design_options(options)
        frame = threshold_table(table, costs=costs, choose_on=choosing, **keywords)
    tables = build_thresholds_table(frame), build_operating_table(frame)
    markdown = "\n\n".join(each.to_markdown() for each in tables)
    notes = [str(each.message) for each in caught]
    return Findings(
        "\n\n".join([*(each.to_text(screen_width()) for each in tables), *output.warning_lines(notes)]),
        {"threshold": frame, "warnings": notes},
        files=lambda: {"threshold.csv": frame, "threshold.md": markdown},
        table=table,
        settings={**options, "costs": costs, "choose_on": choose_on},
    )


@add_command(
    shared.SCORES,
    shared.deployment_option("Prior where the model will run, in the forms that compare takes."),
    shared.number_option("--difference", "Difference in IAUPREC to detect; by default the observed one."),
    shared.number_option("--power", "Probability of detecting it.", 0.8),
    shared.number_option("--alpha", "Significance level of each pair's test.", 0.05),
    shared.number_option("--assurance", "Probability that the assured sizes reach this power.", 0.8),
    click.Option(["--bonferroni"], is_flag=True, help="Divide alpha by the number of pairs."),
    click.Option(["--control"], metavar="MODEL", help="Plan only for the pairs with this model."),
    shared.number_option("--cost-case", "Add the value of more cases; the cost of one, in IAUPREC."),
    *shared.DESIGN_OPTIONS,
    shared.out_option("plans.csv and its text"),
    *shared.TABLE_OPTIONS,
)
def plan(scores: Path, *, cost_case: float | None, **options: Any) -> Findings:
    """Plan how much data it takes to separate the models.

    \b
    Example:
      skewanova plan scores.csv --deployment-prior 0.05:0.20 --difference 0.02
    """
    from skewanova.decision.planning import plan_comparison

    table = shared.read_table(scores, options)
    with print_warnings():
        options["deployment_prior"] = shared.resolve_prior(options["deployment_prior"], table)
    keywords = shared.merge_design_options(options)
    result = plan_comparison(table, **keywords)
    content: dict[str, Any] = {"plan": result.to_frame()}
    files, summary = {"plans.csv": content["plan"]}, result.summary()
    if cost_case is not None:
        prior, design = keywords["deployment_prior"], keywords["design"]
        measures = skewanova.evaluate(table, deployment_prior=prior, design=design)
        value = skewanova.decision.value_of_information(measures, unit_cost=cost_case)
        content["information"] = files["information.csv"] = value.to_frame()
        summary += f"\n\n{value.summary()}"
    return Findings(
        summary,
        {**content, "sentences": result.sentences},
        files=lambda: {**files, "plans.txt": summary},
        table=table,
        settings={**options, "cost_case": cost_case},
    )


@add_command(
    shared.SCORES,
    shared.parsed_option("--prior", shared.parse_prior, "Prior of the deployment.", metavar="PRIOR"),
    shared.range_option("Or average over LOW:HIGH, skew:LOW:HIGH, beta:A:B or quantiles:0.05=LOW:0.95=HIGH."),
    shared.choice_option("--method", TABLE_INTERVALS, "Method of the intervals"),
    shared.level_option("Confidence level of the intervals."),
    shared.seed_option("bootstraps"),
    shared.out_option("intervals.csv and its table"),
    *shared.TABLE_OPTIONS,
)
def intervals(scores: Path, seed: int, **options: Any) -> Findings:
    """Compute a confidence interval for every model and fold.

    The area is taken at one prior, over a deployment prior, or (with neither) at each fold's own prior. Where
    no case is in two folds, the folds are also pooled. The intervals are about these fitted models on new
    cases.

    \b
    Example:
      skewanova intervals scores.csv --prior 0.1
    """
    from skewanova.report.tables import build_intervals_table

    table = shared.read_table(scores, options)
    frame = skewanova.inference.interval_table(table, rng=seed, **options)
    design = skewanova.FoldDesign("test_set", n_clusters=table.n_clusters, weighted=table.has_weights)
    rendered = build_intervals_table(frame, design.population)
    return Findings(
        rendered.to_text(screen_width()),
        {"claim": design.population, "intervals": frame},
        files=lambda: {"intervals.csv": frame, "intervals.md": rendered.to_markdown()},
        table=table,
        settings=options,
    )


# --- priors of the deployment -------------------------------------------------------------------------------


@add_command(
    shared.path_argument("scores", metavar="LABELLED"),
    shared.UNLABELLED,
    shared.BATCH_COLUMN,
    click.Option(["--fold"], metavar="LABEL", help="Use only the labelled cases of this fold."),
    click.Option(
        ["--bins"], type=int, default=N_BINS, help="Bins of the scores; fewer are used with few cases."
    ),
    shared.level_option("Confidence level of the intervals."),
    shared.seed_option("bootstraps"),
    shared.out_option("prior.csv, bins.csv, their tables and a figure for each model"),
    *shared.TABLE_OPTIONS,
)
def prior(scores: Path, unlabelled: Path, *, batch_column: str | None, seed: int, **options: Any) -> Findings:
    """Estimate the prior where the models run.

    LABELLED is a table as for compare. UNLABELLED holds scores of the same models where they run, with the
    columns model, y_score and, optionally, batch and case.

    \b
    Example:
      skewanova prior scores.csv field.csv --batch-column week --out prior
    """
    from skewanova.comparison.estimated_prior import estimate_prior_from_tables
    from skewanova.report.tables import PRIOR_TABLE

    columns = {"model": options["model_column"], "y_score": options["score_column"], "batch": batch_column}
    table, field = shared.read_table(scores, options), shared.read_unlabelled_table(unlabelled, columns)
    level = options["confidence_level"]
    result = estimate_prior_from_tables(
        table, field, fold=options["fold"], n_bins=options["bins"], confidence_level=level, rng=seed
    )
    frames = {"prior": result.to_frame(), "bins": result.bins_frame()}
    rendered = PRIOR_TABLE.build(frames["prior"], level=f"{100 * level:g} %")
    notes = [f"warning: {text}" for text in result.warnings]
    sentences = [
        f"As a deployment prior: {result.describe()}.",
        *(f"It is assumed that {text}." for text in result.assumptions),
    ]
    warning_text, sentence_text = ("\n".join(map(output.wrap_line, lines)) for lines in (notes, sentences))
    return Findings(
        "\n\n".join(filter(None, [warning_text, rendered.to_text(screen_width()), sentence_text])),
        {**frames, "sentences": [*notes, *sentences]},
        files=lambda: {
            **{f"{name}.csv": frame for name, frame in frames.items()},
            "prior.md": "\n\n".join([*notes, rendered.to_markdown(), *sentences]),
            **{  # by number, since a name may be no name of a file
                f"figures/prior_{i}.svg": _draw("plot_prior_estimate", estimate)
                for i, estimate in enumerate(result.by_model.values(), 1)
            },
        },
        table=table,
        settings={**options, "unlabelled": unlabelled.name, "batch_column": batch_column},
        inputs=[field.source],
    )


def _draw(plot: str, result: Any) -> bytes:
    """Return the SVG file of a result, drawn by the function `plot` of `skewanova.plotting`."""
    from skewanova import plotting  # drawing is heavy: loaded when something is drawn
    from skewanova.report.figures import render_plot

    return render_plot(getattr(plotting, plot), result)


@add_command(
    shared.path_argument("directory", metavar="DIR"),
    shared.UNLABELLED,
    shared.BATCH_COLUMN,
    shared.count_option("--looks", "Number of batches for which the level holds; 0 for any number.", 52),
    shared.range_option("Priors at which labelled cases compare models, by default those of DIR."),
    shared.level_option("Confidence level of all intervals of the prior together."),
    shared.seed_option("bootstraps"),
    shared.out_option("monitor.csv, lead.csv if cases have labels, a table and a figure"),
)
def monitor(
    directory: Path, unlabelled: Path, *, batch_column: str | None, looks: int, seed: int, **options: Any
) -> Findings:
    """Check whether the chosen model is still the best choice.

    DIR is a folder that compare --out wrote. UNLABELLED holds later scores of the model that was ranked
    first, with the columns model, y_score and, optionally, batch: all batches so far, in order of time. On
    cases with a y_true (0, 1, else blank) it is compared with the next model that has scores. Exit status 3
    means that another model is ahead, at every prior that a batch allows or on labelled cases.

    \b
    Example:
      skewanova monitor report field.csv --batch-column week
    """
    from skewanova.comparison.monitoring import monitor as watch

    field = shared.read_unlabelled_table(unlabelled, {"batch": batch_column})
    result = watch(directory, field, looks=looks or None, rng=seed, **options)
    frame, rendered = result.to_frame(), result.to_table()
    content = {name: getattr(result, name) for name in ("chosen", "changed", "sentences", "warnings")}
    lines = [*result.sentences, *(f"warning: {text}" for text in result.warnings)]
    return Findings(
        "\n".join([*map(output.wrap_line, lines), "", rendered.to_text(screen_width())]),
        {**content, "monitor": frame, "lead": result.lead},
        files=lambda: {
            "monitor.csv": frame,
            **({"lead.csv": result.lead} if result.runner_up else {}),
            "monitor.md": "\n\n".join([*result.sentences, rendered.to_markdown()]),
            "monitor.svg": _draw("plot_monitor", result),
        },
        table=field,
        settings={"directory": directory.name, "looks": looks, **options},
        exit_status=LEADER_CHANGED if result.changed else 0,
    )


# --- reports and shells -------------------------------------------------------------------------------------


@main.command(
    params=[
        shared.path_argument("directory", metavar="DIR"),
        click.Option(["--open", "in_browser"], is_flag=True, help="Open it in the browser."),
    ]
)
@shared.handle_errors
def report(directory: Path, in_browser: bool) -> None:
    """Print the path of the report in DIR; --open opens it.

    \b
    Example:
      skewanova report DIR --open
    """
    from skewanova.base.folders import read_manifest

    pages = [name for name in read_manifest(directory) if Path(name).name == name]
    pages.sort(key=lambda name: [not name.endswith(end) for end in PAGES])
    if not pages or not (directory / pages[0]).is_file():
        raise InputError(
            f"{str(directory)!r} is no folder with a report of skewanova; write one by `skewanova compare "
            "SCORES --out NEW`, a new folder"
        )
    page = directory / pages[0]
    if in_browser and click.launch(page.resolve().as_uri()):
        raise InputError(f"no browser could be started; open {str(page)!r} yourself")
    echo(str(page))


@main.command(params=[click.Argument(["shell"], type=click.Choice(["bash", "zsh", "fish"]))])
def completion(shell: str) -> None:
    """Print the script that completes commands in SHELL.

    \b
    For example, in ~/.bashrc:
      eval "$(skewanova completion bash)"
    """
    shell_complete(main, {}, "skewanova", "_SKEWANOVA_COMPLETE", f"{shell}_source")


if __name__ == "__main__":
    main()
