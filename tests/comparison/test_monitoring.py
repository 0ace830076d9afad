"""MonitorReport: states by stretch, bins that a comparison keeps, what is said."""

import numpy as np
import pandas as pd
import pytest
from loops import each
from matplotlib.figure import Figure

from skewanova import InputError, load_satellite_scores, read_scores
from skewanova.comparison.monitoring import MONITOR_COLUMNS, STATES, MonitorReport, _classify_state, monitor
from skewanova.plotting import plot_monitor
from skewanova.scores.unlabelled import SCORE_BIN_COLUMNS, collect_labelled_cases, score_bins

LEADERS = pd.DataFrame(
    [(0.01, 0.1, "A", "A"), (0.1, 0.3, "A", "A"), (0.1, 0.3, "A", "B"), (0.3, 0.5, "B", "B")],
    columns=["prior_low", "prior_high", "leader", "contender"],
)


@each(("limits", "state", "leaders"), [
    ((0.02, 0.05), "choice", "A"), ((0.05, 0.2), "choice", "A, B"), ((0.2, 0.4), "open", "A, B"),
    ((0.35, 0.45), "changed", "B"), ((0.6, 0.9), "beyond", ""), ((0.0, 1.0), "open", "A, B"),
    ((0.4, 0.9), "changed", "B"),
])  # fmt: skip
def test_state_of_the_chosen_model(limits, state, leaders):
    assert _classify_state(LEADERS, "A", limits) == (leaders, state)


def watched(state):
    row = ("week 1", 100, 0.2, 0.1, 0.3, 0.5, "A", state)
    return MonitorReport("A", 0.95, pd.DataFrame([row], columns=list(MONITOR_COLUMNS)), LEADERS)


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_said_and_drawn(state):
    found = watched(state)
    assert found.changed == (state == "changed")
    assert STATES[state][1] in found.sentences[0]
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
    cases = collect_labelled_cases(table, "B")
    rows = table.frame[table.frame["model"] == "B"]
    means = rows.groupby("case", observed=True)["y_score"].mean()
    assert np.sort(cases.score) == pytest.approx(np.sort(means.to_numpy()))


def test_folds_without_cases_keep_no_bins():
    table = load_satellite_scores()
    bare = read_scores(table.frame.drop(columns="case"))
    assert score_bins(bare).empty
    assert tuple(score_bins(bare).columns) == SCORE_BIN_COLUMNS
    with pytest.raises(InputError, match="must have a case column"):
        collect_labelled_cases(bare, "A")
    one = collect_labelled_cases(bare, "A", fold=3)
    assert len(one.score) == 1287


def test_scores_all_alike_keep_no_bins():
    frame = pd.DataFrame({"model": ["A"] * 4, "fold": 1, "y_true": [0, 1, 0, 1], "y_score": 0.5})
    assert score_bins(read_scores(frame)).empty


def written(folder, **edited):
    """What `monitor` reads of a folder, with some cells edited as "column": text."""
    frames = {
        "ranking": pd.DataFrame({"rank": [1, 2], "model": ["A", "B"], "iauprec": 0.5, "group": "a"}),
        "leaders": LEADERS,
        "score_bins": pd.DataFrame(
            [("A", 1, 0.0, 1, 60), ("A", 2, 1.0, 20, 20), ("A", 3, np.nan, 60, 1)],
            columns=["model", "bin", "score_high", "n_positive", "n_negative"],
        ),
    }
    for name, frame in frames.items():
        cells = {column: [text, *frame[column][1:]] for column, text in edited.items() if column in frame}
        frame.assign(**cells).to_csv(folder / f"{name}.csv", index=False)
    return folder


FIELD = pd.DataFrame({"model": "A", "y_score": np.repeat([-0.5, 0.5, 1.5], [60, 20, 10])})


def test_a_folder_is_read(tmp_path):
    found = monitor(written(tmp_path), FIELD)
    assert (found.chosen, found.table["n_unlabelled"].tolist()) == ("A", [90])


@each("edited", [
    {"rank": "first"}, {"rank": ""}, {"prior_low": "x"}, {"prior_low": 0.9}, {"prior_low": ""},
    {"contender": ""}, {"score_high": "x"}, {"score_high": 2.0}, {"score_high": ""}, {"n_positive": -1},
    {"n_negative": "inf"}, {"n_negative": ""}, {"n_negative": "1e308"},
])  # fmt: skip
def test_a_folder_that_somebody_edited_is_refused(tmp_path, edited):
    with pytest.raises(InputError, match="`comparison` must be a folder that"):
        monitor(written(tmp_path, **edited), FIELD)


def test_a_folder_whose_bins_have_one_class_or_other_columns_is_refused(tmp_path):
    bins = pd.read_csv(written(tmp_path) / "score_bins.csv")
    for changed in (bins.assign(n_positive=0), bins.rename(columns={"model": "name"}), bins[:1]):
        changed.to_csv(tmp_path / "score_bins.csv", index=False)
        with pytest.raises(InputError, match="`comparison` must be a folder that"):
            monitor(tmp_path, FIELD)
