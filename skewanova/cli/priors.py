"""The commands ``prior`` and ``monitor``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skewanova.base.text import Table, format_number, format_p, interval, table_of
from skewanova.cli.options import (
    exits_on_bad_input,
    out_option,
    output_options,
    read_table,
    reading,
    table_options,
)
from skewanova.cli.output import Files, screen_width, show, wrapped, write_results
from skewanova.priors.binning import N_BINS

if TYPE_CHECKING:
    from skewanova.comparison.estimated_prior import PriorEstimates
    from skewanova.scores.unlabelled import UnlabelledScores

#: Exit status where another model leads.
LEADER_CHANGED = 3


@click.command()
@click.argument("scores", metavar="LABELLED", type=click.Path(path_type=Path))
@click.argument("unlabelled", type=click.Path(path_type=Path))
@click.option("--batch-column", metavar="NAME", help="Column of UNLABELLED to use as batch.")
@click.option("--fold", metavar="LABEL", help="Take the labelled cases of this fold alone.")
@click.option("--bins", type=int, default=N_BINS, help="Bins of the score, fewer with few cases.")
@click.option("--confidence-level", type=float, default=0.95, help="Level of the intervals.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of bootstraps.")
@out_option("prior.csv, bins.csv, their tables and a figure for each model")
@table_options
@output_options
@exits_on_bad_input
def prior(
    scores: Path,
    unlabelled: Path,
    *,
    batch_column: str | None,
    seed: int,
    out: Path | None,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Estimate the prior where the models run.

    LABELLED is a table as for compare. UNLABELLED holds scores of the same models where they run: model,
    y_score and, if there are any, batch and case.

    \b
    Example:
      skewanova prior scores.csv field.csv --batch-column week --out prior
    """  # noqa: D301 - click wants the sign \b itself
    from skewanova.comparison.estimated_prior import estimate_prior_from_tables

    names = {"model": options["model_column"], "y_score": options["score_column"], "batch": batch_column}
    table = read_table(scores, options)
    field = _read(unlabelled, {column: name for column, name in names.items() if name is not None})
    result = estimate_prior_from_tables(
        table,
        field,
        fold=options["fold"],
        n_bins=options["bins"],
        confidence_level=options["confidence_level"],
        rng=seed,
    )
    displayed = prior_table(result)
    warned = [f"warning: {text}" for text in result.warnings]
    parts = ["\n".join(map(wrapped, lines)) for lines in (warned, prior_sentences(result))]
    text = "\n\n".join(filter(None, [parts[0], displayed.to_text(screen_width()), parts[1]]))
    if out is not None:
        files: Files = {
            "prior.csv": result.to_frame(),
            "bins.csv": result.bins_frame(),
            "prior.md": "\n\n".join([*warned, displayed.to_markdown(), *prior_sentences(result)]),
            **_figures(result),
        }
        settings = {**options, "unlabelled": unlabelled.name, "batch_column": batch_column}
        inputs = [field.source]
        write_results(out, files, command="prior", table=table, settings=settings, seed=seed, inputs=inputs)
    content = {
        "prior": result.to_frame(),
        "bins": result.bins_frame(),
        "sentences": [*warned, *prior_sentences(result)],
    }
    show("prior", text, as_json=as_json, quiet=quiet, **content)


@click.command()
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.argument("unlabelled", type=click.Path(path_type=Path))
@click.option("--batch-column", metavar="NAME", help="Column of UNLABELLED to use as batch.")
@click.option("--confidence-level", type=float, default=0.95, help="Level of the intervals of the prior.")
@click.option("--seed", type=click.IntRange(min=0), default=0, help="Seed of bootstraps.")
@out_option("monitor.csv, its table and a figure")
@output_options
@exits_on_bad_input
def monitor(
    directory: Path,
    unlabelled: Path,
    *,
    batch_column: str | None,
    confidence_level: float,
    seed: int,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Tell whether the chosen model is still the choice.

    DIR is a folder that compare --out wrote, UNLABELLED later scores of the model that it ranked first:
    model, y_score and, if there are any, batch. Exit status 3 means that another model is ahead at every
    prior that the scores of a batch allow.

    \b
    Example:
      skewanova monitor report field.csv --batch-column week
    """  # noqa: D301 - click wants the sign \b itself
    from skewanova.comparison.monitor import monitor as watched

    field = _read(unlabelled, {} if batch_column is None else {"batch": batch_column})
    result = watched(directory, field, confidence_level=confidence_level, rng=seed)
    if out is not None:
        from skewanova.plotting.priors import plot_monitor
        from skewanova.report.rendering import render_plot

        files: Files = {
            "monitor.csv": result.to_frame(),
            "monitor.md": "\n\n".join([*result.sentences, result.to_table().to_markdown()]),
            "monitor.svg": render_plot(plot_monitor, result),
        }
        settings = {"directory": directory.name, "confidence_level": confidence_level}
        write_results(out, files, command="monitor", table=field, settings=settings, seed=seed)
    content = {
        "chosen": result.chosen,
        "changed": result.changed,
        "sentences": result.sentences,
        "warnings": result.warnings,
        "monitor": result.to_frame(),
    }
    text = "\n".join([*map(wrapped, result.sentences), *(wrapped(f"warning: {t}") for t in result.warnings)])
    text = "\n\n".join([text, result.to_table().to_text(screen_width())])
    show("monitor", text, as_json=as_json, quiet=quiet, **content)
    if result.changed:
        click.get_current_context().exit(LEADER_CHANGED)


def prior_table(found: PriorEstimates) -> Table:
    """Estimates by model and batch."""
    level = f"{100 * found.prior.confidence_level:g} % interval"
    return table_of(
        "prior",
        "Prior where the models run",
        found.to_frame(),
        {
            "Model": lambda row: row.model or "(all together)",
            "Batch": lambda row: row.batch,
            "Prior": lambda row: format_number(row.estimate),
            level: lambda row: interval(row.conf_low, row.conf_high),
            "Shifted by 0.1 SD": lambda row: _range(row.sensitivity_low, row.sensitivity_high),
            "Label shift p": lambda row: "" if row.p_value != row.p_value else format_p(row.p_value),
            "By": lambda row: row.method,
        },
    )


def _range(low: float, high: float) -> str:
    return "" if low != low else interval(low, high)


def prior_sentences(found: PriorEstimates) -> list[str]:
    """What the estimate is, and what it takes for granted."""
    return [
        f"As a deployment prior: {found.describe()}.",
        *(f"It is assumed that {text}." for text in found.assumptions),
    ]


def _read(path: Path, columns: dict[str, str]) -> UnlabelledScores:
    from skewanova.scores.unlabelled import read_unlabelled

    with reading(path):
        return read_unlabelled(path, columns=columns)


def _figures(found: PriorEstimates) -> dict[str, bytes]:
    """One picture a model, by its number: a name may be no name of a file."""
    from skewanova.plotting.priors import plot_prior_estimate
    from skewanova.report.rendering import render_plot

    models = enumerate(found.by_model.values(), 1)
    return {f"figures/prior_{i}.svg": render_plot(plot_prior_estimate, item) for i, item in models}
