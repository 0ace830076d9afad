"""What the page says of one prior, which its reader moves."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.text import Table, format_factor, format_number, limits, number, table_of, without
from skewanova.report.figures import shown_models
from skewanova.report.source import ReportSource, level_of

#: Between the cells of a row as the script takes them: none of these cells has a name in it.
BETWEEN = "|"


@dataclass(frozen=True)
class Slider:
    """The rows of `by_prior` that a page can show, and those it shows first.

    Attributes
    ----------
    table : Table
        The rows at the first prior.
    start, last : int
        Places of the first prior shown and of the last there is.
    steps : str
        Priors, captions and cells for the script, as JSON.
    """

    table: Table
    start: int
    last: int
    steps: str


def slider_of(source: ReportSource) -> Slider | None:
    """The slider of a comparison, where there is more than one prior."""
    models = shown_models(source)
    frame = source.by_prior[source.by_prior["model"].isin(models)]
    tables = [
        _table(source, float(str(prior)), rows) for prior, rows in frame.groupby("prior", observed=True)
    ]
    if len(tables) < 2:
        return None
    priors = frame["prior"].unique()
    low, high = source.evaluation.deployment_prior.low, source.evaluation.deployment_prior.high
    start = int(np.abs(np.log(priors) - np.log(low * high) / 2).argmin())
    steps = {
        "priors": [float(f"{prior:.9g}") for prior in priors],  # the last digits are the processor's
        "captions": [table.caption for table in tables],
        "rows": [[BETWEEN.join(cells) for _, *cells in table.rows] for table in tables],
    }
    return Slider(tables[start], start, len(tables) - 1, json.dumps(steps, separators=(",", ":")))


def _table(source: ReportSource, prior: float, rows: pd.DataFrame) -> Table:
    """What is known of every model at one prior."""
    weighting = source.evaluation.deployment_prior
    inside = "within" if weighting.low <= prior <= weighting.high else "outside of"
    caption = (
        f"At prior {prior:.3g} (negatives for each positive: {format_factor((1 - prior) / prior)}), "
        f"{inside} the deployment prior"
    )
    band = f"{level_of(source)} band"
    cells: Mapping[str, Callable[[Any], str]] = {
        "Model": lambda row: str(row.model),
        "Rank": lambda row: str(row.rank),
        "AUPREC": number("auprec"),
        band: limits,
        "May be the best": lambda row: "yes" if row.contender else "no",
        "Regret": lambda row: format_number(row.regret),
    }
    table = table_of("by_prior", caption, rows, cells, note=_NOTE)
    return table if source.by_prior["conf_low"].notna().any() else without(table, band)


_NOTE = (
    "Bands hold at all priors and for all models at once. A model may be the best where no band of a "
    "difference puts it behind another. Regret: by how much it stays below the highest."
)
