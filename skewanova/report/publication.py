"""The tables of a report by name, and the rows and columns that a paper takes from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace

import numpy as np

from skewanova.base.checks import InputError, InputTypeError, check_choice, check_count
from skewanova.base.frames import records
from skewanova.base.text import Table, decimals, format_number, only, without, without_empty
from skewanova.inference.catalogue import TESTS, get_test, name_test
from skewanova.report import tables
from skewanova.report.source import (
    ReportSource,
    has_halvings,
    primary_rows,
    spread_of,
)


def _performance(source: ReportSource) -> Table:
    """Table 1 of Landgrebe et al. 2006, with the letters of the calibrated comparisons."""
    table = tables.performance_table(source.tables["auprec"], source.tables["iauprec"], source.ranking)
    if not source.verdict.trusted:
        return replace(table, note=f"Bold: the largest mean. {tables.NO_GROUPS}.")
    letters = source.ranking["group"].tolist()
    rows = tuple((*row, letter) for row, letter in zip(table.rows, letters, strict=True))
    note = f"Bold: the largest mean. {tables.group_note(source.ranking)} in IAUPREC."
    return replace(table, header=(*table.header, "Group"), rows=rows, note=note)


def _pairwise(source: ReportSource) -> Table:
    """The pairs of the test that the conclusions rest on."""
    rows = primary_rows(source.pairs)
    table = without(without(tables.pairs_table(rows, source.alpha), "Test"), "Measure")
    sizes = source.tables["effects"].set_index(["model_a", "model_b"])["effect"]
    effect = [
        format_number(sizes.get(pair, np.nan), 2)
        for pair in zip(rows["model_a"], rows["model_b"], strict=True)
    ]
    return replace(
        table,
        name="pairwise",
        caption=f"Pairwise differences, {name_test(next(records(rows)))}",
        header=(*table.header, "Effect"),
        rows=tuple((*row, size) for row, size in zip(table.rows, effect, strict=False)),
        note=f"{table.note} Effect: difference in standard deviations of one {spread_of(source)}.",
    )


@dataclass(frozen=True)
class TableOf:
    """One table of a comparison: how it is made, and the files that have its numbers."""

    make: Callable[[ReportSource], Table]
    files: tuple[str, ...]


def _of_frame(name: str, make: Callable[..., Table], *files: str, argument: str | None = None) -> TableOf:
    """Return the table of one frame, which may depend on the level of the tests or of the intervals."""

    def table(source: ReportSource) -> Table:
        levels = {"alpha": source.alpha, "level": 1 - source.alpha}
        return make(source.tables[name], *([levels[argument]] if argument else []))

    return TableOf(table, (f"{name}.csv", *files))


#: Every table by its name, in the order of the report.
TABLES: Mapping[str, TableOf] = {
    "performance": TableOf(_performance, ("auprec.csv", "iauprec.csv")),
    "ranking": TableOf(
        lambda source: tables.ranking_table(
            source.ranking,
            1 - source.alpha,
            design=source.design,
            sizes=source.tables["iauprec"],
            deployment_prior=source.evaluation.deployment_prior.describe(),
            trusted=source.verdict.trusted,
        ),
        ("ranking.csv", "decisions.csv"),
    ),
    "choices": _of_frame("choices", tables.choices_table),
    "regions": _of_frame("regions", tables.regions_table, "support.csv"),
    "leaders": _of_frame("leaders", tables.leaders_table, "differing_priors.csv", argument="level"),
    "crossings": _of_frame("crossings", tables.crossings_table, argument="level"),
    "sensitivity": _of_frame("decisions", tables.sensitivity_table),
    "tests": _of_frame("tests", tables.tests_table),
    "pairwise": TableOf(_pairwise, ("pairs.csv",)),
    "pairs": _of_frame("pairs", tables.pairs_table, argument="alpha"),
    "prior_pairs": _of_frame("prior_pairs", tables.prior_pairs_table, argument="alpha"),
    "effects": TableOf(
        lambda source: tables.effects_table(
            source.tables["effects"], 1 - source.alpha, per=spread_of(source)
        ),
        ("effects.csv",),
    ),
    "equivalence": TableOf(
        lambda source: tables.equivalence_table(
            source.tables["equivalence"],
            test_set=not source.design.over_folds,
            halved=has_halvings(source),
        ),
        ("equivalence.csv",),
    ),
    "plans": TableOf(
        lambda source: tables.plans_table(source.tables["plans"], source.design.units), ("plans.csv",)
    ),
    "components": _of_frame("components", tables.components_table),
    "assumptions": _of_frame("assumptions", tables.assumptions_table),
}


def publication_table(
    source: ReportSource,
    name: str,
    *,
    columns: Sequence[str] | None = None,
    rows: int | Sequence[str] | None = None,
    digits: int | None = None,
    caption: str | None = None,
) -> Table:
    """Return one table by its name, one of `TABLES`, or those of its rows and columns that are asked for."""
    check_choice(name, list(TABLES), "table")
    with nullcontext() if digits is None else decimals(check_count(digits, "digits", minimum=0)):
        table = without_empty(TABLES[name].make(source))
    if rows is not None:
        table = only(table, rows=_rows_asked(table, rows))
    if columns is not None:
        table = only(table, _columns_asked(table, columns))
    return table if caption is None else replace(table, caption=str(caption))


def _columns_asked(table: Table, columns: Sequence[str]) -> list[int]:
    """Places of columns by their heads."""
    if isinstance(columns, str):
        raise InputTypeError(f"`columns` must be a list of heads, but got {columns!r}")
    result = [table.header.index(check_choice(head, table.header, "columns")) for head in columns]
    if not result:
        raise InputError(f"`columns` must name at least one of {', '.join(table.header)}, but is empty")
    return result


def _rows_asked(table: Table, rows: int | Sequence[str]) -> list[int]:
    """Places of the first rows, or of those that a cell names: a model, a pair, a test."""
    if isinstance(rows, str):
        raise InputTypeError(f"`rows` must be a number or a list of names, but got {rows!r}")
    if isinstance(rows, int | np.integer):
        return list(range(min(check_count(rows, "rows", minimum=1), len(table.rows))))
    result: list[int] = []
    for requested in rows:
        name = get_test(requested).name if requested in TESTS else requested
        here = [i for i, row in enumerate(table.rows) if any(_names(cell, name) for cell in row)]
        if not here:
            check_choice(requested, [row[0] for row in table.rows], "rows")
        result += here
    return list(dict.fromkeys(result))


def _names(cell: str, name: str) -> bool:
    """Whether a cell is that name, or begins with it as a test of some measure does."""
    return cell == name or cell.startswith(f"{name}, ")


def publication_tables(source: ReportSource) -> dict[str, Table]:
    """Return every table that has rows."""
    empty = {name for name in ("prior_pairs", "crossings", "components") if source.tables[name].empty}
    return {name: publication_table(source, name) for name in TABLES if name not in empty}
