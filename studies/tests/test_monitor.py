"""The study of looks: what is recorded, and what a series of batches is measured by."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from studies.monitor import (
    MEASURES,
    MONITOR_STUDY_COLUMNS,
    SCENARIOS,
    Series,
    _draw_labelled,
    _first,
    measure_series,
    monitor_study,
)

RECORDED = Path(__file__).parents[2] / "studies/records/monitor.csv"


def test_recorded_false_alarms_hold_the_level_but_for_weeks_judged_alone():
    frame = pd.read_csv(RECORDED)
    assert tuple(frame) == MONITOR_STUDY_COLUMNS
    together = frame[frame["looks"] != "each"]
    n = together["replicates"]
    assert (together["rate"] <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / n)).all()
    alone = frame[frame["looks"] == "each"].set_index("measure")["rate"]
    assert alone["lead"] > 0.4
    assert alone["label shift"] > 0.4
    delay = frame[frame["scenario"] == "change"].set_index("measure")["median_delay"]
    assert delay["prior"] < delay["lead"] < 26


def test_first_alarms_are_counted_from_one():
    alarms = np.array([[False, True, True], [False, False, False]])
    assert _first(alarms).tolist() == [2, np.inf]
    assert _first(alarms[:, :0]).tolist() == [np.inf, np.inf]


def test_a_short_series_has_no_alarm_before_its_change():
    values = measure_series(Series(4, change=3), np.random.default_rng(0))
    assert values.shape == (2, 3)
    assert np.isinf(values[0]).all()


def test_a_series_has_a_row_for_each_measure(monkeypatch):
    names = ["year, one by one", "change, labels"]
    for name, n_batches, change in zip(names, (3, 4), (0, 3), strict=True):
        shorter = SCENARIOS[name]._replace(n_batches=n_batches, change=change)
        monkeypatch.setitem(SCENARIOS, name, shorter)
    frame = monitor_study(scenarios=names, replicates=1, progress=False).to_frame()
    assert frame["measure"].tolist() == list(MEASURES)


def test_labelled_batches_find_a_chosen_model_that_got_worse():
    series = Series(12, change=5, n_labelled=1000)
    early, late = measure_series(series, np.random.default_rng(1))
    assert np.isinf(early).all()
    assert (late <= 8).all()


@pytest.mark.parametrize("count", [5, 7, 11])
def test_ratings_have_so_many_levels(count):
    rows = _draw_labelled(SCENARIOS[f"year, {count} levels"], np.random.default_rng(2))
    assert rows["y_score"].nunique() == count
