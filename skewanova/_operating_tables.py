"""Operating points as tables of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from skewanova._rendering import Table, format_number
from skewanova.operating import MEAN

HEADS = {
    "recall": "Recall",
    "fpr": "FPR",
    "precision": "Precision",
    "npv": "NPV",
    "flagged": "Flagged",
    "error_rate": "Error",
    "f_measure": "F",
    "expected_cost": "Cost",
}
RULES = {
    "threshold": "score at least {target:g}",
    "recall": "the highest with recall {target:g} or more",
    "precision": "the lowest with precision {target:g} or more at the prior it was chosen for",
    "flagged": "the lowest that flags at most {target:g} of cases at the prior it was chosen for",
    "cost": "the one of smallest expected cost at the prior it was chosen for",
}


def operating_points_table(operating: pd.DataFrame) -> Table:
    """Operating points of every model: the mean over folds where there are several.

    Parameters
    ----------
    operating : DataFrame
        As :func:`~skewanova.operating_table` returns it.

    Returns
    -------
    Table
        One row a model and prior (with the prior that its threshold was chosen for, where that is another);
        estimates with their intervals, of single folds where there is one.
    """
    means = operating[operating["level"] == MEAN]
    shown = means if len(means) else operating
    costless = shown.loc[shown["measure"] == "expected_cost", "estimate"].isna().all()
    measures = [m for m in HEADS if m != "expected_cost" or not costless]
    keys = ["model", "chosen_prior", "prior"]
    rows = []
    for _, group in shown.groupby(keys, sort=False, observed=True, dropna=False):
        found = {row.measure: row for row in _records(group)}
        rows.append((_label(found["recall"]), *(_cell(found[measure]) for measure in measures)))
    header = ("Model, prior", *(HEADS[m] for m in measures))
    return Table("operating", "Operating points", header, tuple(rows), note=_note(shown, bool(len(means))))


def thresholds_table(operating: pd.DataFrame) -> Table:
    """The threshold of every model, and the prior it was chosen for where the rule asks for one.

    Parameters
    ----------
    operating : DataFrame
        As :func:`~skewanova.operating_table` returns it.

    Returns
    -------
    Table
        Every digit of the threshold, so that it flags the same cases; of several folds the smallest, the
        median and the largest.
    """
    single = operating[(operating["fold"] != MEAN) & (operating["measure"] == "recall")]
    chosen = single.drop_duplicates(["model", "fold", "chosen_prior"])
    rows = []
    keys: Any = ["model", "chosen_prior"]
    for (model, prior), group in chosen.groupby(keys, sort=False, observed=True, dropna=False):
        values = group["threshold"].to_numpy(dtype=np.float64)
        found = values if len(values) == 1 else np.quantile(values, [0, 0.5, 1], method="lower")
        label = str(model) if pd.isna(prior) else f"{model} (for {prior:g})"
        rows.append((label, *map(_threshold, found)))
    several = max(map(len, rows)) > 2
    header = ("Model", *(("Smallest", "Median", "Largest") if several else ("Threshold",)))
    note = "A case that scores at least the threshold is flagged."
    if several:
        note += " Each fold has its own threshold: these are the smallest, the median and the largest."
    return Table("thresholds", "Thresholds", header, tuple(rows), note=note)


def _threshold(value: float) -> str:
    if np.isnan(value):
        return "out of reach"
    return "none is flagged" if value == np.inf else repr(float(value))


def _label(row: Any) -> str:
    """Model and prior, and the prior that the threshold was chosen for where it is another."""
    chosen = f" (for {row.chosen_prior:g})" if abs(row.chosen_prior - row.prior) > 0 else ""
    return f"{row.model}, {row.prior:g}{chosen}"


def _cell(row: Any) -> str:
    if np.isnan(row.estimate):
        return "-"
    return f"{format_number(row.estimate)} ({format_number(row.conf_low)} to {format_number(row.conf_high)})"


def _note(shown: pd.DataFrame, averaged: bool) -> str:
    rule, target, level = (shown[column].iloc[0] for column in ("rule", "target", "confidence_level"))
    several = rule == "threshold" and shown["target"].nunique() > 1
    told = "each model's own" if several else RULES[rule].format(target=target)
    way = (
        "means over folds with t intervals that allow for the training data they share"
        if averaged
        else "Wilson's intervals of recall and false positive rate, and from these the others"
    )
    text = f"Threshold: {told}. In brackets {100 * level:g} % intervals: {way}."
    if rule in {"precision", "cost"}:
        text += " A threshold chosen on the cases that judge it looks better than it is."
    return text


def _records(frame: pd.DataFrame) -> Iterator[Any]:
    """Rows as named tuples, of whatever types the columns have."""
    yield from frame.itertuples(index=False)
