"""Which model each criterion of choice under an uncertain prior picks."""

from __future__ import annotations

import numpy as np
import pandas as pd

from skewanova._ties import falling_order

CHOICE_COLUMNS = ("criterion", "model", "value", "runner_up", "margin")
#: Column of the decisions that each criterion looks at, and whether more is better.
CRITERIA = {
    "highest_expected_auprec": ("expected_auprec", True),
    "minimum_expected_regret": ("expected_regret", False),
    "maximin_auprec": ("worst_auprec", True),
    "minimax_regret": ("max_regret", False),
    "highest_p_best": ("p_best", True),
}


def decision_choices(decisions: pd.DataFrame) -> pd.DataFrame:
    """Tell which model each criterion of choice picks.

    Parameters
    ----------
    decisions : DataFrame
        As :func:`decision_table` returns it.

    Returns
    -------
    DataFrame
        Columns of `CHOICE_COLUMNS`, a row for each criterion: the highest expected AUPREC, the minimum
        expected regret (always the same model), the largest worst AUPREC (maximin), the smallest largest
        regret (minimax), and, where it is known, the highest probability of being best. ``margin`` is how far
        ``runner_up`` stays behind; of equal models the first is picked.

    Examples
    --------
    >>> from skewanova import decision_choices, decision_table, evaluate, load_satellite_scores
    >>> table = decision_table(evaluate(load_satellite_scores(), priors=(0.5, 0.2)), ratio=0.25)
    >>> decision_choices(table)["model"].unique().tolist()
    ['A']
    """
    rows = []
    for criterion, (column, more) in CRITERIA.items():
        values = decisions[column].to_numpy(dtype=np.float64)
        if np.isnan(values).any():
            continue
        order = falling_order(values if more else -values)
        first, second = order[0], order[1] if len(order) > 1 else None
        behind = np.nan if second is None else abs(values[first] - values[second])
        runner_up = "" if second is None else decisions["model"].iloc[second]
        rows.append((criterion, decisions["model"].iloc[first], values[first], runner_up, behind))
    return pd.DataFrame(rows, columns=list(CHOICE_COLUMNS))
