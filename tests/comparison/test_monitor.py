"""Monitoring: states by stretch, bins that a comparison keeps, what is said."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from skewanova import InputError, load_satellite_scores, read_scores
from skewanova.comparison.monitor import MONITOR_COLUMNS, STATES, Monitoring, _state
from skewanova.plotting import plot_monitor
from skewanova.scores.bins import SCORE_BIN_COLUMNS, labelled_cases, score_bins

LEADERS = pd.DataFrame(
    {
        "prior_low": [0.01, 0.1, 0.1, 0.3],
        "prior_high": [0.1, 0.3, 0.3, 0.5],
        "leader": ["A", "A", "A", "B"],
        "contender": ["A", "A", "B", "B"],
    }
)


@pytest.mark.parametrize(
    ("limits", "state", "leaders"),
    [
        ((0.02, 0.05), "choice", "A"),
        ((0.05, 0.2), "choice", "A, B"),
        ((0.2, 0.4), "open", "A, B"),
        ((0.35, 0.45), "changed", "B"),
        ((0.6, 0.9), "beyond", ""),
        ((0.0, 1.0), "open", "A, B"),
        ((0.4, 0.9), "changed", "B"),
    ],
)
def test_state_of_the_chosen_model(limits, state, leaders):
    assert _state(LEADERS, "A", limits) == (leaders, state)


def watched(state):
    row = ("week 1", 100, 0.2, 0.1, 0.3, 0.5, "A", state)
    return Monitoring("A", 0.95, pd.DataFrame([row], columns=list(MONITOR_COLUMNS)), LEADERS)


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_said_and_drawn(state):
    found = watched(state)
    assert found.changed == (state == "changed")
    assert STATES[state] in found.sentences[0]
    assert "week 1: prior 0.2 (95 % 0.1 to 0.3)" in found.summary()
    ax = plot_monitor(found, ax=Figure().subplots())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["week 1"]
    assert found.to_frame().equals(found.table)


def test_cases_of_several_folds_count_once():
    table = load_satellite_scores()
    frame = score_bins(table)
    assert tuple(frame.columns) == SCORE_BIN_COLUMNS
    negative, positive = table.class_sizes()
    for _, rows in frame.groupby("model"):
        assert (rows["n_positive"].sum(), rows["n_negative"].sum()) == (positive, negative)
    cases = labelled_cases(table, "B")
    rows = table.frame[table.frame["model"] == "B"]
    means = rows.groupby("case", observed=True)["y_score"].mean()
    assert np.sort(cases.score) == pytest.approx(np.sort(means.to_numpy()))


def test_folds_without_cases_keep_no_bins():
    table = load_satellite_scores()
    bare = read_scores(table.frame.drop(columns="case"))
    assert score_bins(bare).empty
    assert tuple(score_bins(bare).columns) == SCORE_BIN_COLUMNS
    with pytest.raises(InputError, match="must have a case column"):
        labelled_cases(bare, "A")
    one = labelled_cases(bare, "A", fold=3)
    assert len(one.score) == 1287


def test_scores_all_alike_keep_no_bins():
    frame = pd.DataFrame({"model": ["A"] * 4, "fold": 1, "y_true": [0, 1, 0, 1], "y_score": 0.5})
    assert score_bins(read_scores(frame)).empty
