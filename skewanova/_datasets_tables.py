"""Results across data sets as tables and sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pandas as pd

from skewanova._rendering import Table, format_number, format_p

#: More pairs than these are counted.
MOST_LISTED = 3


class AcrossSource(Protocol):
    """What the tables need of a comparison on several data sets."""

    @property
    def iauprec(self) -> pd.DataFrame:
        """Mean IAUPREC of every data set and model."""

    @property
    def ranking(self) -> pd.DataFrame:
        """Mean ranks."""

    @property
    def hierarchical(self) -> pd.DataFrame:
        """Random-effects meta-analysis of every pair."""

    @property
    def alpha(self) -> float:
        """Level of the tests."""


def across_tables(source: AcrossSource) -> tuple[Table, ...]:
    """Ranking, mean IAUPREC by data set, and the hierarchical comparison.

    Parameters
    ----------
    source : DatasetsComparison
        What was found.

    Returns
    -------
    tuple of Table
        Three tables.
    """
    return _ranking(source.ranking), _means(source), _hierarchical(source.hierarchical, source.alpha)


def hierarchical_sentences(hierarchical: pd.DataFrame, alpha: float, names: Mapping[str, str]) -> list[str]:
    """Say what the meta-analysis found of each pair that differs, or that none does.

    Parameters
    ----------
    hierarchical : DataFrame
        As a comparison on several data sets holds it.
    alpha : float
        Level of the tests.
    names : mapping
        Short forms of the models' names.

    Returns
    -------
    list of str
        Sentences.
    """
    found = []
    for row in _records(hierarchical[hierarchical["reject"].astype(bool)]):
        ahead, behind = (row.model_a, row.model_b) if row.estimate >= 0 else (row.model_b, row.model_a)
        found.append(
            f"Meta-analysis: {names[ahead]} is ahead of {names[behind]} by {abs(row.estimate):.3f} on "
            f"average over data sets (adjusted p {_equals(row.p_adjusted)})."
        )
    untested = list(_records(hierarchical[hierarchical["p_adjusted"].isna()]))
    if not found and len(untested) < len(hierarchical):
        some = "no two models" if not untested else "no two of the models it could test"
        found.append(f"Meta-analysis: {some} were found to differ on average at {alpha:g}.")
    if untested:
        pairs = "the models" if len(untested) == len(hierarchical) else _listed(untested, names)
        found.append(
            f"Meta-analysis: {pairs} could not be tested, because in some data set their difference does not "
            "vary, or how it varies is not known."
        )
    return found


def _listed(rows: Sequence[Any], names: Mapping[str, str]) -> str:
    """The first pairs, and how many more."""
    shown = [f"{names[row.model_a]} and {names[row.model_b]}" for row in rows[:MOST_LISTED]]
    return "; ".join(shown) + (f"; {len(rows) - MOST_LISTED} more" if len(rows) > MOST_LISTED else "")


def _equals(p_value: float) -> str:
    shown = format_p(p_value)
    return shown if shown.startswith("<") else f"= {shown}"


def _ranking(ranking: pd.DataFrame) -> Table:
    rows = [
        (row.model, format_number(row.mean_rank, 2), format_number(row.iauprec), f"{row.n_best}", row.group)
        for row in _records(ranking)
    ]
    note = (
        "Best on: number of data sets. Models that share a letter were not found to differ by signed ranks."
    )
    header = ("Model", "Mean rank", "Mean IAUPREC", "Best on", "Group")
    return Table("across", "Ranking across data sets", header, tuple(rows), note=note)


def _means(source: AcrossSource) -> Table:
    models = source.ranking["model"].tolist()
    rows = []
    for name, group in source.iauprec.groupby("dataset", sort=False, observed=True):
        found = {row.model: row for row in _records(group)}
        cells = [_with_error(found[m].iauprec, found[m].std_error) for m in models]
        rows.append((str(name), *cells))
    return Table(
        "datasets", "Mean IAUPREC (corrected standard error) by data set", ("Data set", *models), tuple(rows)
    )


def _with_error(value: float, error: float) -> str:
    return format_number(value) if np.isnan(error) else f"{format_number(value)} ({format_number(error)})"


def _hierarchical(hierarchical: pd.DataFrame, alpha: float) -> Table:
    rows = [
        (
            f"{row.model_a} - {row.model_b}",
            format_number(row.estimate),
            _interval(row.conf_low, row.conf_high),
            format_p(row.p_adjusted),
            format_number(row.tau),
            _interval(row.prediction_low, row.prediction_high),
        )
        for row in _records(hierarchical)
    ]
    level = f"{100 * (1 - alpha):g} % interval"
    return Table(
        "hierarchical",
        "Random-effects meta-analysis of differences across data sets",
        ("Pair", "Difference", level, "Adjusted p", "Between (SD)", "A new data set"),
        tuple(rows),
        note="Intervals are each pair's own; p is adjusted by Holm. A new data set: where its true "
        "difference is expected, at the same level.",
    )


def _interval(low: float, high: float) -> str:
    return "" if np.isnan(low) else f"{format_number(low)} to {format_number(high)}"


def _records(frame: pd.DataFrame) -> Iterator[Any]:
    """Rows as named tuples, of whatever types the columns have."""
    yield from frame.itertuples(index=False)
