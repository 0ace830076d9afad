"""MonitorReport: states by stretch, bins that a comparison keeps, what is said."""

import numpy as np
import pandas as pd
import pytest
from loops import each
from matplotlib.figure import Figure
from messages import expect_error, expect_warning
from scipy.stats import norm

import skewanova
from skewanova import InputError, InputTypeError, SkewanovaWarning
from skewanova.comparison.monitoring import (
    LEAD_COLUMNS,
    LEAD_STATES,
    MONITOR_COLUMNS,
    STATES,
    MonitorReport,
    _classify_state,
    monitor,
    simulate_critical_values,
)
from skewanova.decision.verdict import list_contenders
from skewanova.inference import compare_test_set
from skewanova.plotting import plot_monitor
from skewanova.priors.mixtures import bin_scores

LEADERS = pd.DataFrame(
    [(0.01, 0.1, "A", "A"), (0.1, 0.3, "A", "A"), (0.1, 0.3, "A", "B"), (0.3, 0.5, "B", "B"),
     (0.5, 0.5, "B", "B")], columns=["prior_low", "prior_high", "leader", "contender"]
)  # fmt: skip


@each(("limits", "state", "leaders"), [
    ((0.02, 0.05), "choice", "A"), ((0.05, 0.2), "choice", "A, B"), ((0.2, 0.4), "open", "A, B"),
    ((0.35, 0.45), "changed", "B"), ((0.6, 0.9), "beyond", ""), ((0.0, 1.0), "open", "A, B"),
    ((0.4, 0.9), "changed", "B"), ((0.5, 0.9), "changed", "B"), ((0.001, 0.01), "choice", "A"),
])  # fmt: skip
def test_state_of_the_chosen_model(limits, state, leaders):
    assert _classify_state(list_contenders(LEADERS), "A", limits) == (leaders, state)


@pytest.mark.parametrize("state", STATES)
def test_every_state_is_said_and_drawn(state):
    row = ("week 1", 1, 100, 0.2, 0.1, 0.3, 0.5, "A", state, False)
    found = MonitorReport("A", 0.95, 52, pd.DataFrame([row], columns=list(MONITOR_COLUMNS)), LEADERS)
    assert found.changed == (state == "changed")
    assert STATES[state][1] in found.sentences[0]
    assert "week 1: prior 0.2 (95 % over 52 looks: 0.1 to 0.3)" in found.summary()
    ax = plot_monitor(found, ax=Figure().subplots())
    assert [label.get_text() for label in ax.get_xticklabels()] == ["week 1"]
    assert found.to_frame().equals(found.table)


def write_folder(folder, **edited):
    """What `monitor` reads of a folder, with some cells edited as "column": text."""
    frames = {
        "ranking": pd.DataFrame({"rank": [1, 2], "model": ["A", "B"], "iauprec": 0.5, "group": "a"}),
        "leaders": LEADERS,
        "score_bins": pd.DataFrame([("A", 1, 0.0, 0, 60), ("A", 2, 1.0, 20, 20), ("A", 3, np.nan, 60, 1),
                                    ("0", 1, 0.0, 1, 0), ("0", 2, np.nan, 0, 1), ("B", 1, 0.0, 9, 9),
                                    ("B", 2, 1.0, 0, 0), ("B", 3, np.nan, 9, 9)],
                                   columns=["model", "bin", "score_high", "n_positive", "n_negative"]),
    }  # fmt: skip
    (folder / "tables").mkdir(exist_ok=True)
    for name, frame in frames.items():
        cells = {column: [text, *frame[column][1:]] for column, text in edited.items() if column in frame}
        frame.assign(**cells).to_csv(folder / "tables" / f"{name}.csv", index=False)
    (folder / "provenance.json").write_text('{"settings": {}}')
    return folder


FIELD = pd.DataFrame({"model": "A", "y_score": np.repeat([-0.5, 0.5, 1.5], [60, 20, 10])})
SUMMARY = """\
prior 0.13 (95 %: 0.0444 to 0.233): A is still the choice, since it may be the best at every compared prior of the interval.

Prior by batch, and whether A is still the choice

Batch  Scores  Prior   95 % interval  May be the best  State   Prior moved
(all)      90  0.130  0.044 to 0.233  A, B             choice"""  # noqa: E501


def test_a_folder_is_read_and_a_model_without_scores_named(tmp_path):
    found = monitor(write_folder(tmp_path), FIELD)
    assert (found.chosen, found.confidence_level, found.warnings) == ("A", 0.95, ())
    assert found.summary() == found.summary(80) == SUMMARY
    first = FIELD.assign(batch="week 2")
    second = FIELD[:1].assign(batch="week 1", y_score=0.5)
    weeks = expect_warning("^batch week 1: ", monitor, tmp_path, pd.concat([first, *[second] * 60]))
    with pytest.warns(SkewanovaWarning, match="^batch 0: "):
        monitor(tmp_path, pd.concat([first.assign(batch=1), *[second.assign(batch=0)] * 60]))
    assert weeks.table["batch"].tolist() == ["week 2", "week 1"]
    assert weeks.table["n_unlabelled"].tolist() == [90, 60]
    columns = list(MONITOR_COLUMNS)
    pd.testing.assert_frame_equal(weeks.table[columns][:1], monitor(tmp_path, first).table[columns])
    assert all(text.startswith("batch week 1: ") for text in weeks.warnings)
    assert weeks.summary().count("\nwarning: batch week 1: ") == len(weeks.warnings) >= 1
    fits, wide = (MonitorReport("A", 0.95, 1, found.table.assign(leaders="A" * n), LEADERS) for n in (21, 22))
    assert fits.summary() == fits.summary(100) != fits.summary(79)
    assert wide.summary() != wide.summary(81) == wide.summary(100)
    others = pd.DataFrame({"model": [*"BCDEFGH"], "y_score": 0.5})
    with pytest.raises(InputError, match=r"has those of 'B', 'C', 'D', 'E', 'F'; add its rows, or rename"):
        monitor(write_folder(tmp_path), others)


@each("edited", [
    {"rank": "first"}, {"rank": ""}, {"prior_low": "x"}, {"prior_low": 0.9}, {"prior_low": ""},
    {"contender": ""}, {"score_high": "x"}, {"score_high": 2.0}, {"score_high": 1.0}, {"score_high": ""},
    {"n_positive": -1}, {"n_positive": "1" * 400}, {"n_negative": "inf"}, {"n_negative": ""},
    {"n_negative": "1e308"}, {"rank": "1" * 400}])  # fmt: skip
def test_a_folder_that_somebody_edited_is_refused(tmp_path, edited):
    with pytest.raises(InputError, match=r"`comparison` must be .* and not edited, but got '"):
        monitor(write_folder(tmp_path, **edited), FIELD)


def test_critical_values_and_folders_with_bins_of_one_class(tmp_path):
    bins = pd.read_csv(write_folder(tmp_path) / "tables" / "score_bins.csv")
    for changed in (bins.assign(n_positive=0), bins.rename(columns={"model": "name"}), bins[:1]):
        changed.to_csv(tmp_path / "tables" / "score_bins.csv", index=False)
        expect_error(r"`comparison` must be .* and not edited, but got '", monitor, tmp_path, FIELD)
    assert simulate_critical_values(1, 0.05)[0] == pytest.approx(1.959964)
    values = brute_force_critical_values(5, 0.05, np.random.default_rng(1))
    assert simulate_critical_values(5, 0.05) == pytest.approx(values, abs=0.05)


def brute_force_critical_values(looks, alpha, rng):
    """Critical values from loops over every look and window, of all series at once."""
    drawn, mean, move = rng.standard_normal((20_000, looks)), 0.0, 0.0
    for look in range(1, looks + 1):
        for length in (size for size in (1, 2, 4, 8) if size <= look):
            before, last = np.split(drawn[:, :look], [look - length], axis=1)
            mean = np.maximum(mean, abs(last.sum(axis=1)) / np.sqrt(length))
            if look > length:
                error = np.sqrt(1 / length + 1 / (look - length))
                move = np.maximum(move, abs(last.mean(axis=1) - before.mean(axis=1)) / error)
    return np.quantile([mean, move], 1 - alpha, axis=1)


def draw_weeks(priors, rng, n=1000):
    """Unlabelled scores of A, N(0, 1) and N(1.5, 1), week by week at these priors."""
    parts = []
    for week, prior in enumerate(priors, 1):
        score = rng.normal(size=n) + 1.5 * (rng.random(n) < prior)
        parts.append(pd.DataFrame({"model": "A", "batch": week, "y_score": score}))
    return pd.concat(parts)


@pytest.fixture
def labelled_folder(tmp_path):
    """A folder in which A leads up to a prior of .1, with 2,000 labelled cases of each class."""
    rng = np.random.default_rng(2)
    score, label = rng.normal(size=4000) + 1.5 * (np.arange(4000) < 2000), np.arange(4000) < 2000
    bins = bin_scores(label, score, score, 8)
    frame = pd.DataFrame({"model": "A", "bin": range(1, 9), "score_high": [*bins.edges, np.nan]})
    folder = write_folder(tmp_path)
    frame = frame.assign(n_positive=bins.counts.positive, n_negative=bins.counts.negative)
    frame.to_csv(folder / "tables" / "score_bins.csv", index=False)
    return folder


def test_a_moved_prior_is_named_at_once_or_in_pooled_batches(labelled_folder):
    report = monitor(labelled_folder, draw_weeks([0.05] * 12 + [0.5] * 6, np.random.default_rng(3)))
    assert (report.looks, report.table["prior_moved"].tolist()) == (52, [False] * 12 + [True] * 6)
    assert report.table["state"].eq("changed").tolist() == [False] * 12 + [True] * 6
    assert "The prior has moved." in report.sentences[12]
    assert "The prior has moved." not in report.sentences[11]
    weeks = draw_weeks([0.05] * 4 + [0.38] * 16, np.random.default_rng(4), n=300)
    table = monitor(labelled_folder, weeks).table
    changed = table[table["state"] == "changed"]
    assert (changed["n_batches"] > 1).any()
    assert changed.index.min() > 4
    pooled = changed[changed["n_batches"] > 1].iloc[0]
    assert pooled["n_unlabelled"] == 300 * pooled["n_batches"]
    assert pooled["conf_low"] > 0.3  # where B leads


def test_more_looks_widen_intervals_and_an_open_number_most(labelled_folder):
    weeks = draw_weeks([0.1] * 3, np.random.default_rng(5))
    limits = ["conf_low", "conf_high"]
    tables = [monitor(labelled_folder, weeks, looks=looks).table for looks in (3, 52, 520)]
    widths = [np.ptp(table[limits].iloc[2]) for table in tables]
    assert widths == sorted(widths)
    late = draw_weeks([0.1] * 30, np.random.default_rng(6), n=100)
    without = monitor(labelled_folder, late, looks=None)
    usual = monitor(labelled_folder, late)
    assert np.ptp(without.table[limits].iloc[-1]) > np.ptp(usual.table[limits].iloc[-1])
    assert "95 % over all looks: " in without.sentences[0]
    expect_error("`looks` must be", monitor, labelled_folder, weeks, looks=0)
    with pytest.raises(InputTypeError, match="`rng` must be a whole number"):
        monitor(labelled_folder, weeks, rng="x")


def test_label_shift_is_warned_of_and_the_lead_is_that_of_a_test_set(labelled_folder):
    rng = np.random.default_rng(7)
    weeks = draw_weeks([0.1] * 2, rng)
    narrow = rng.normal(scale=0.2, size=2000)
    shifted = weeks.assign(y_score=np.where(weeks["batch"] == 2, narrow, weeks["y_score"]))
    report = expect_warning("^batch 2: label shift is rejected", monitor, labelled_folder, shifted)
    assert report.table["p_value"].iloc[1] < 0.05 / 52
    frame = draw_labelled(0.1, np.random.default_rng(11))
    shuffled = frame.sample(frac=1, random_state=0).sort_values("batch", kind="stable")
    first, second = (monitor(labelled_folder, each, deployment_prior=0.05).lead for each in (frame, shuffled))
    pd.testing.assert_frame_equal(first, second)
    frame = draw_labelled(0.1, np.random.default_rng(9))
    row = monitor(labelled_folder, frame, deployment_prior=(0.02, 0.05)).lead.iloc[-1]
    rows = frame[frame["batch"] > 6 - row["n_batches"]]
    scores = np.column_stack([rows.loc[rows["model"] == name, "y_score"] for name in "AB"])
    labels = rows.loc[rows["model"] == "A", "y_true"]
    level = 1 - 2 * norm.sf(simulate_critical_values(52, 0.05)[0])
    test = compare_test_set(labels, scores, deployment_prior=(0.02, 0.05), confidence_level=level)
    assert row["difference"] == pytest.approx(test.difference[0], abs=1e-12)
    assert (row["conf_low"], row["conf_high"]) == pytest.approx((test.conf_low[0], test.conf_high[0]))
    assert row["n_positive"] == labels.sum()


def draw_labelled(lead, rng, n_batches=6, n=400):
    """Scores of A and B on the same cases, a fifth positive, where B's positives score `lead` lower."""
    positive = rng.random(n_batches * n) < 0.2
    common = rng.normal(size=len(positive))
    frame = pd.DataFrame({"batch": np.repeat(range(1, n_batches + 1), n), "case": range(len(positive))})
    frame["y_true"] = positive * 1.0
    shifts = {"B": 1.5 - lead, "A": 1.5}
    score = {
        m: (common + rng.normal(size=len(positive))) / np.sqrt(2) + s * positive for m, s in shifts.items()
    }
    return pd.concat(frame.assign(model=model, y_score=score[model]) for model in shifts)


@each(("lead", "state"), [(0.8, "ahead"), (0.0, "open"), (-0.8, "behind")])
def test_labelled_cases_compare_the_chosen_model_with_the_runner_up(labelled_folder, lead, state):
    frame = draw_labelled(lead, np.random.default_rng(8))
    report = monitor(labelled_folder, frame, deployment_prior=(0.02, 0.05))
    assert (report.runner_up, tuple(report.lead.columns)) == ("B", LEAD_COLUMNS)
    row = report.lead[report.lead["state"] == state].iloc[0 if state == "behind" else -1]
    assert state == "behind" or report.lead["state"].iloc[-1] == state
    assert (state == "behind") <= report.changed
    assert f"IAUPREC of A minus B is {row['difference']:.3g} (95 %" in report.sentences[-1]
    assert LEAD_STATES[state] in report.sentences[-1]


def test_labels_that_come_late_are_used_when_there_are_ten_of_each_class(labelled_folder):
    frame = draw_labelled(0.0, np.random.default_rng(10))
    late = frame.assign(y_true=frame["y_true"].where(frame["batch"] == 3))
    lead = monitor(labelled_folder, late, deployment_prior=0.05).lead
    assert lead["batch"].tolist() == ["3"]
    late = frame.assign(y_true=frame["y_true"].where(frame["batch"].isin([1, 3, 6])))
    lead = monitor(labelled_folder, late, deployment_prior=0.05).lead
    assert (lead["batch"].tolist(), lead["n_batches"].max()) == (["1", "3", "6"], 2)
    few = frame.assign(y_true=frame["y_true"].where(frame["case"] < 20))
    few = monitor(labelled_folder, few, deployment_prior=0.05)
    assert few.lead.empty
    assert few.sentences[-1].startswith("The labelled cases that A and B both scored are too few")
    once = frame.assign(y_true=frame["y_true"].where(frame["model"] == "B"))
    whole = monitor(labelled_folder, frame, deployment_prior=0.05).lead
    pd.testing.assert_frame_equal(monitor(labelled_folder, once, deployment_prior=0.05).lead, whole)
    early = frame.assign(y_true=frame["y_true"].where(frame["case"] < 100))
    assert len(monitor(labelled_folder, early, deployment_prior=0.05).lead) == 1
    tied = early.assign(y_score=early["y_score"].round())
    with pytest.warns(SkewanovaWarning, match="label shift"):
        assert monitor(labelled_folder, tied, deployment_prior=0.05).lead.empty
    assert monitor(labelled_folder, frame.assign(y_true=[np.nan, " "] * (len(frame) // 2))).lead.empty


@each(("change", "message"), [
    ({"select": "A"}, r"only scores of 'A': add those of another model, such as 'B', for all"),
    ({"flip": "A"}, r"the same `y_true` of a case .*, but case '\d+' has both$"),
    ({"drop": "case"}, "name them in a column `case`"),
    ({"label": 2}, r"`y_true` must be 0 or 1, or blank .* is '2"),
    ({"label": "?"}, r"`y_true` must be 0 or 1, or blank .* is '\?' at row 0"),
])  # fmt: skip
def test_labels_without_another_model_or_with_other_labels_are_refused(labelled_folder, change, message):
    frame = draw_labelled(0.1, np.random.default_rng(12))
    if "select" in change:
        frame = frame[frame["model"] == change["select"]]
    if "flip" in change:
        frame = frame.assign(y_true=(frame["y_true"] == 1) ^ (frame["model"] == change["flip"]))
    if "drop" in change:
        frame = frame.drop(columns=change["drop"]).iloc[:-1]
    if "label" in change:
        frame = frame.assign(y_true=change["label"])
    expect_error(message, monitor, labelled_folder, frame, deployment_prior=0.05)


def test_a_folder_without_its_deployment_prior_asks_for_it(labelled_folder):
    settings = '{"deployment_prior": "uniform over skews 4 to 19", "deployment_limits": [0.05, 0.2]}'
    (labelled_folder / "provenance.json").write_text(f'{{"settings": {settings}}}')
    frame = draw_labelled(0.1, np.random.default_rng(13))
    with pytest.raises(InputError, match=r"`deployment_prior` must be given.*skews 4 to 19; state"):
        monitor(labelled_folder, frame)
    (labelled_folder / "provenance.json").write_text('{"settings": {}}')
    expect_error(r"`deployment_prior` must be given.*: none; state", monitor, labelled_folder, frame)
    one = '{"settings": {"deployment_prior": "prior 0.05", "deployment_limits": [0.05, 0.05]}}'
    (labelled_folder / "provenance.json").write_text(one)
    expected = monitor(labelled_folder, frame, deployment_prior=0.05).lead
    pd.testing.assert_frame_equal(monitor(labelled_folder, frame).lead, expected)


def test_the_lead_uses_the_deployment_prior_of_the_comparison_and_of_its_folder(tmp_path):
    scores = skewanova.load_satellite_scores()
    comparison = skewanova.compare(scores, at_priors=(0.5, 0.1), deployment_prior=(0.02, 0.08))
    later = scores.select_folds([13]).to_frame()[["model", "y_score", "case", "y_true"]]
    later["y_true"] = later["y_true"].astype(int)
    lead = monitor(comparison, later).lead
    comparison.save(tmp_path / "folder")
    pd.testing.assert_frame_equal(monitor(tmp_path / "folder", later).lead, lead)
    pd.testing.assert_frame_equal(monitor(comparison, later, deployment_prior=(0.02, 0.08)).lead, lead)
    assert lead["difference"][0] != monitor(comparison, later, deployment_prior=0.5).lead["difference"][0]
