"""MonitorReport: states by stretch, bins that a comparison keeps, what is said."""

import numpy as np
import pandas as pd
import pytest
from loops import each
from matplotlib.figure import Figure

from skewanova import InputError, SkewanovaWarning
from skewanova.comparison.monitoring import MONITOR_COLUMNS, STATES, MonitorReport, _classify_state, monitor
from skewanova.plotting import plot_monitor

LEADERS = pd.DataFrame(
    [
        (0.01, 0.1, "A", "A"),
        (0.1, 0.3, "A", "A"),
        (0.1, 0.3, "A", "B"),
        (0.3, 0.5, "B", "B"),
        (0.5, 0.5, "B", "B"),
    ],
    columns=["prior_low", "prior_high", "leader", "contender"],
)


@each(("limits", "state", "leaders"), [
    ((0.02, 0.05), "choice", "A"), ((0.05, 0.2), "choice", "A, B"), ((0.2, 0.4), "open", "A, B"),
    ((0.35, 0.45), "changed", "B"), ((0.6, 0.9), "beyond", ""), ((0.0, 1.0), "open", "A, B"),
    ((0.4, 0.9), "changed", "B"), ((0.5, 0.9), "changed", "B"), ((0.001, 0.01), "choice", "A"),
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


def write_folder(folder, **edited):
    """What `monitor` reads of a folder, with some cells edited as "column": text."""
    frames = {
        "ranking": pd.DataFrame({"rank": [1, 2], "model": ["A", "B"], "iauprec": 0.5, "group": "a"}),
        "leaders": LEADERS,
        "score_bins": pd.DataFrame(
            [
                ("A", 1, 0.0, 0, 60),
                ("A", 2, 1.0, 20, 20),
                ("A", 3, np.nan, 60, 1),
                ("0", 1, 0.0, 1, 0),
                ("0", 2, np.nan, 0, 1),
                ("B", 1, 0.0, 9, 9),
                ("B", 2, 1.0, 0, 0),
                ("B", 3, np.nan, 9, 9),
            ],
            columns=["model", "bin", "score_high", "n_positive", "n_negative"],
        ),
    }
    (folder / "tables").mkdir(exist_ok=True)
    for name, frame in frames.items():
        cells = {column: [text, *frame[column][1:]] for column, text in edited.items() if column in frame}
        frame.assign(**cells).to_csv(folder / "tables" / f"{name}.csv", index=False)
    return folder


FIELD = pd.DataFrame({"model": "A", "y_score": np.repeat([-0.5, 0.5, 1.5], [60, 20, 10])})
SUMMARY = """\
prior 0.13 (95 % 0.0444 to 0.233): A is still the choice, since it may be the best at every prior of the interval.

Prior by batch, and whether A is still the choice

Batch  Scores  Prior   95 % interval  May be the best  State
(all)      90  0.130  0.044 to 0.233  A, B             choice"""  # noqa: E501


def test_a_folder_is_read(tmp_path):
    found = monitor(write_folder(tmp_path), FIELD)
    assert (found.chosen, found.confidence_level, found.warnings) == ("A", 0.95, ())
    assert found.summary() == found.summary(80) == SUMMARY
    first = FIELD.assign(batch="week 2")
    second = FIELD[:1].assign(batch="week 1", y_score=0.5)
    with pytest.warns(SkewanovaWarning, match="^week 1: "):
        weeks = monitor(tmp_path, pd.concat([first, *[second] * 60]))
    with pytest.warns(SkewanovaWarning, match="^0: "):
        monitor(tmp_path, pd.concat([first.assign(batch=1), *[second.assign(batch=0)] * 60]))
    assert weeks.table["batch"].tolist() == ["week 2", "week 1"]
    assert weeks.table["n_unlabelled"].tolist() == [90, 60]
    columns = list(MONITOR_COLUMNS[2:])
    pd.testing.assert_frame_equal(weeks.table[columns][:1], found.table[columns])
    assert len(weeks.warnings) == 2
    assert weeks.summary().count("\nwarning: week 1: ") == 2
    fits, wide = (MonitorReport("A", 0.95, found.table.assign(leaders="A" * n), LEADERS) for n in (34, 35))
    assert fits.summary() == fits.summary(100) != fits.summary(79)
    assert wide.summary() != wide.summary(81) == wide.summary(100)


def test_a_model_without_scores_is_named(tmp_path):
    others = pd.DataFrame({"model": [*"BCDEFGH"], "y_score": 0.5})
    with pytest.raises(InputError, match=r"has those of 'B', 'C', 'D', 'E', 'F'$"):
        monitor(write_folder(tmp_path), others)


@each("edited", [
    {"rank": "first"}, {"rank": ""}, {"prior_low": "x"}, {"prior_low": 0.9}, {"prior_low": ""},
    {"contender": ""}, {"score_high": "x"}, {"score_high": 2.0}, {"score_high": 1.0}, {"score_high": ""},
    {"n_positive": -1}, {"n_negative": "inf"}, {"n_negative": ""}, {"n_negative": "1e308"},
])  # fmt: skip
def test_a_folder_that_somebody_edited_is_refused(tmp_path, edited):
    with pytest.raises(InputError, match=r"`comparison` must be a folder written by .*, but got '"):
        monitor(write_folder(tmp_path, **edited), FIELD)


def test_a_folder_whose_bins_have_one_class_or_other_columns_is_refused(tmp_path):
    bins = pd.read_csv(write_folder(tmp_path) / "tables" / "score_bins.csv")
    for changed in (bins.assign(n_positive=0), bins.rename(columns={"model": "name"}), bins[:1]):
        changed.to_csv(tmp_path / "tables" / "score_bins.csv", index=False)
        with pytest.raises(InputError, match=r"`comparison` must be a folder written by .*, but got '"):
            monitor(tmp_path, FIELD)
