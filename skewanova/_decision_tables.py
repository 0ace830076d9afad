"""Frames of the decision as tables: what each criterion picks, who may be the best, where curves cross."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from skewanova._rendering import MOST_ROWS, Table, first_rows, format_factor, format_number

#: The rule that each criterion of a choice stands for.
CRITERIA = {
    "highest_expected_auprec": "highest mean (IAUPREC)",
    "minimum_expected_regret": "smallest mean regret",
    "maximin_auprec": "best worst case (maximin)",
    "minimax_regret": "smallest largest regret (minimax)",
    "highest_p_best": "most probably the best",
}

#: Names in one cell; the others are counted.
MOST_NAMES = 12


def choices_table(choices: pd.DataFrame) -> Table:
    """Which model each criterion picks, and how clearly."""
    rows = [
        (
            CRITERIA.get(row.criterion, str(row.criterion).replace("_", " ")),
            row.model,
            format_number(row.value),
            "" if pd.isna(row.runner_up) else row.runner_up,
            format_number(row.margin),
        )
        for row in _records(choices)
    ]
    return Table(
        "choices",
        "Which model each criterion picks over the deployment prior",
        ("Criterion", "Model", "Value", "Runner-up", "Margin"),
        tuple(rows),
        note="Margin: by how much the runner-up is worse by the same criterion. None of them is a test.",
    )


def leaders_table(leaders: pd.DataFrame, level: float) -> Table:
    """Which models may be the best at which prior: one row a stretch of priors."""
    rows, cut = [], False
    for (low, high), stretch in leaders.groupby(["prior_low", "prior_high"], sort=False, observed=True):
        first = stretch.iloc[0]
        others = [name for name in stretch["contender"] if name != first["leader"]]
        rest = len(others) - MOST_NAMES
        cut |= rest > 0
        names = ", ".join(others[:MOST_NAMES]) + (f" and {rest} more" if rest > 0 else "")
        rows.append((f"{low:.3g} to {high:.3g}", first["leader"], names or "none"))
    return Table(
        "leaders",
        f"Which models may be the best, by simultaneous {100 * level:g} % bands of differences",
        ("Priors", "Highest AUPREC", "May be as good or better"),
        tuple(rows[:MOST_ROWS]),
        note="A model is left out where a band puts another one above it."
        + (f" The first {MOST_ROWS:,} of {len(rows):,} stretches." if len(rows) > MOST_ROWS else "")
        + (" leaders.csv names them all." if cut else ""),
    )


def crossings_table(crossings: pd.DataFrame, level: float) -> Table:
    """Where the curves of two models cross; first where the lead changes."""
    ordered = crossings.sort_values("lead", ascending=False, kind="stable")
    shown, cut = first_rows(ordered, "crossings.csv")
    rows = [
        (
            f"{row.prior:.3g}",
            _crossing_interval(row),
            row.model_below,
            row.model_above,
            "yes" if row.lead else "no",
        )
        for row in _records(shown)
    ]
    return Table(
        "crossings",
        "Priors at which the AUPREC of two models crosses",
        ("Prior", f"{100 * level:g} % interval", "Higher below it", "Higher above it", "Changes the lead"),
        tuple(rows),
        note="Intervals are each crossing's own. Or below, or above: the data set no limit within the priors "
        f"looked at. {cut}".strip(),
    )


def plans_table(plans: pd.DataFrame) -> Table:
    """How much more data would tell each pair of models apart: one row a pair."""
    shown, cut = first_rows(plans, "plans.csv")
    rows = [
        (
            f"{row.model_a} - {row.model_b}",
            format_number(row.difference),
            format_number(row.power_now, 2),
            "" if np.isnan(row.case_factor) else _times(row.case_factor),
            f"{row.n_folds:g}" if np.isfinite(row.n_folds) and row.design != "one_set" else "",
        )
        for row in _records(shown)
    ]
    power, alpha = plans["power"].iloc[0], plans["alpha"].iloc[0]
    return Table(
        "plans",
        f"How much more data would tell a pair apart at {alpha:.3g} with power {power:g}",
        ("Pair", "Observed difference", "Power now", "Times the cases", "Folds"),
        tuple(rows),
        note=(
            "As if the true difference were the one observed, which is optimistic where a pair was picked "
            "for its difference: `skewanova plan --difference` takes the smallest that would matter. No "
            f"number of folds is given where folds share training data and no number is enough. {cut}"
        ).strip(),
    )


def _times(factor: float) -> str:
    return "enough now" if factor <= 1 else format_factor(factor) if np.isfinite(factor) else "never"


def sensitivity_table(decisions: pd.DataFrame) -> Table:
    """How much AUPREC depends on the prior."""
    rows = [
        (
            row.model,
            format_number(row.auprec_rarest),
            format_number(row.auprec_commonest),
            format_number(row.sensitivity),
            format_number(row.loss_per_tenfold),
        )
        for row in _records(decisions)
    ]
    return Table(
        "sensitivity",
        "How AUPREC changes between the rarest and the commonest deployment prior",
        ("Model", "At the rarest", "At the commonest", "Change", "Loss per tenfold"),
        tuple(rows),
        note="Loss per tenfold: of AUPREC, where positives become ten times as rare.",
    )


def _crossing_interval(row: Any) -> str:
    if np.isnan(row.conf_low):
        return ""
    low = f"{row.conf_low:.3g}" + (" or below" if row.open_low else "")
    high = f"{row.conf_high:.3g}" + (" or above" if row.open_high else "")
    return f"{low} to {high}"


def _records(frame: pd.DataFrame) -> Iterator[Any]:
    """Rows as named tuples, of whatever types the columns have."""
    yield from frame.itertuples(index=False)
