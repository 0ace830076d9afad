"""Tables of operating points, and of the thresholds that were chosen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.frames import iter_rows
from skewanova.base.text import Table, format_limits, format_number
from skewanova.decision.operating import MEAN, ON_OTHER_CASES
from skewanova.report.source import TEXTS


def build_operating_table(operating: pd.DataFrame) -> Table:
    """Return a row for each model and prior, cells "value (interval)": means over folds, or of one fold."""
    means = operating[operating["level"] == MEAN]
    displayed = means if len(means) else operating
    filled = displayed.loc[displayed["estimate"].notna(), "measure"]
    measures = [m for m in TEXTS["operating_heads"] if m != "expected_cost" or m in set(filled)]
    keys, rows = ["model", "chosen_prior", "prior"], []
    for _, group in displayed.groupby(keys, sort=False, observed=True, dropna=False):
        points = {row.measure: row for row in iter_rows(group)}
        first = points["recall"]
        chosen = f" (for {first.chosen_prior:g})" if abs(first.chosen_prior - first.prior) > 0 else ""
        cells = (_format_point(points[measure]) for measure in measures)
        rows.append((f"{first.model}, {first.prior:g}{chosen}", *cells))
    header = ("Model, prior", *(TEXTS["operating_heads"][m] for m in measures))
    note = _write_operating_note(displayed, averaged=bool(len(means)))
    return Table("operating", "Operating points", header, tuple(rows), note=note)


def _format_point(row: Any) -> str:
    """Return "value (LOW to HIGH)" of a row, or "-" if the value is nan."""
    return "-" if np.isnan(row.estimate) else f"{format_number(row.estimate)} ({format_limits(row)})"


def _write_operating_note(points: pd.DataFrame, *, averaged: bool) -> str:
    """Return sentences on the threshold, the intervals, and the bias of choosing on the same cases."""
    rule, target, level = (points[column].iloc[0] for column in ("rule", "target", "confidence_level"))
    several = rule == "threshold" and points["target"].nunique() > 1
    threshold = "each model's own" if several else TEXTS["rules"][rule].format(target=target)
    method = "Wilson's intervals of recall and false positive rate, and from these the others"
    if averaged:
        method = "means over folds with t intervals that allow for the training data they share"
    text = f"Threshold: {threshold}. In brackets {100 * level:g} % intervals: {method}."
    if ON_OTHER_CASES in points["chosen_on"].to_numpy():
        return text + (" Chosen on other cases than those that judge it." if rule != "threshold" else "")
    if rule in {"precision", "cost"}:
        text += " A threshold chosen on the cases that judge it looks better than it is."
    if rule in {"precision", "cost", "flagged"} and not averaged:
        text += " Intervals take it as given, and may hold the truth less often than they say (.89 to .99)."
    return text


def build_thresholds_table(operating: pd.DataFrame) -> Table:
    """Return a row by model and chosen prior: the threshold, or smallest, lower median, largest of folds."""
    single = operating[(operating["fold"] != MEAN) & (operating["measure"] == "recall")]
    chosen = single.drop_duplicates(["model", "fold", "chosen_prior"])
    rows = []
    keys: Any = ["model", "chosen_prior"]
    for (model, prior), group in chosen.groupby(keys, sort=False, observed=True, dropna=False):
        values = group["threshold"].to_numpy(dtype=np.float64)
        result = values if len(values) == 1 else np.quantile(values, [0, 0.5, 1], method="lower")
        label = str(model) if pd.isna(prior) else f"{model} (for {prior:g})"
        rows.append((label, *map(_format_threshold, result)))
    several = max(map(len, rows)) > 2
    header = ("Model", *(("Smallest", "Median", "Largest") if several else ("Threshold",)))
    note = "A case that scores at least the threshold is flagged; threshold.csv and JSON have all digits."
    if several:
        note += (
            " Each fold has its own threshold: these are the smallest, the median and the largest. For a "
            "model that is retrained on all data, choose it on cases held out from that training."
        )
    return Table("thresholds", "Thresholds", header, tuple(rows), note=note)


def _format_threshold(value: float) -> str:
    """Return a threshold with four significant digits; "out of reach" if nan, "none is flagged" if inf."""
    if np.isnan(value):
        return "out of reach"
    return "none is flagged" if value == np.inf else f"{value:.4g}"
