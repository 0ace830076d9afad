"""One threshold at the priors of its use: rules, numbers, intervals, frames, tables and the command."""

import dataclasses
import itertools
import json

import numpy as np
import pandas as pd
import pytest
import twins
from command_runs import run
from fold_tables import draw_rows, score_rows
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from messages import expect_error, expect_warning
from scipy import stats
from statsmodels.stats.proportion import proportion_confint
from strategies import priors, tie_groups

import skewanova as sa
from skewanova.base.rounding import TIE
from skewanova.curves.groups import PackedCurve, PackedCurves
from skewanova.decision import operating
from skewanova.decision.operating import OPERATING_COLUMNS, Estimate
from skewanova.report.operating_tables import build_operating_table, build_thresholds_table
from skewanova.scores.table import StreamedScores

LABELS = np.array([1, 1, 0, 1, 0, 1, 0, 0, 0, 0])
SCORES = np.array([9, 8, 8, 7, 6, 5, 4, 3, 2, 1.0])


def one_fold(labels=LABELS, scores=SCORES):
    return pd.DataFrame({"model": "A", "fold": 1, "y_true": labels, "y_score": scores})


def streamed():
    """An evaluation whose curves were packed on the workers of Dask or Spark."""
    measured = sa.evaluate(one_fold())
    curves = PackedCurves({("A", 1): PackedCurve.from_cases(LABELS == 1, SCORES)})
    return dataclasses.replace(measured, curves=curves, scores=None)


def values(frame, column="estimate"):
    return dict(zip(frame["measure"], frame[column], strict=True))


def expand(groups):
    """Labels and scores of (positives, negatives) for each distinct score, best first."""
    return tuple(map(np.array, twins.labels_and_scores(groups)))


def by_hand(labels, scores, threshold, prior):
    """Twin: every measure counted on cases that are weighted to the prior."""
    weight = np.where(labels == 1, prior / (labels == 1).sum(), (1 - prior) / (labels == 0).sum())
    flag = scores >= threshold
    hit, alarm = weight[flag & (labels == 1)].sum(), weight[flag & (labels == 0)].sum()
    miss, quiet = prior - hit, 1 - prior - alarm
    recall, precision = hit / prior, hit / (hit + alarm) if flag.any() else np.nan
    f = stats.hmean([recall, precision]) if hit > 0 else 0.0
    return {
        "recall": recall, "fpr": alarm / (1 - prior), "precision": precision,
        "npv": quiet / (quiet + miss) if not flag.all() else np.nan, "flagged": hit + alarm,
        "error_rate": miss + alarm, "f_measure": f, "expected_cost": 1 * alarm + 20 * miss,
    }  # fmt: skip


@given(tie_groups(), st.integers(0, 9), priors())
def test_measures_of_a_threshold_against_counting(groups, threshold, prior):
    labels, scores = expand(groups)
    options = {"threshold": threshold, "costs": (1, 20), "at_priors": [prior]}
    frame = sa.threshold_table(one_fold(labels, scores), **options)
    expected = by_hand(labels, scores, threshold, prior)
    assert list(frame["measure"]) == list(operating.MEASURES)
    for measure, value in values(frame).items():
        assert value == pytest.approx(expected[measure], rel=1e-9, abs=1e-12, nan_ok=True), measure
    known = frame[frame["estimate"].notna()]
    assert (known["conf_low"] <= known["estimate"] + 1e-9).all()
    assert (known["conf_high"] >= known["estimate"] - 1e-9).all()
    rates = (labels == 1, labels == 0)
    for measure, rows in zip(("recall", "fpr"), rates, strict=True):
        limits = proportion_confint((scores[rows] >= threshold).sum(), rows.sum(), 0.05, "wilson")
        found = frame.loc[frame["measure"] == measure, ["conf_low", "conf_high"]].to_numpy()[0]
        assert found == pytest.approx(limits, abs=1e-12)


def vertex_by(name, roc, target, prior, *, costs=(1.0, 1.0)):
    return operating.ThresholdRule(name, target, costs).vertex(roc, target, prior)


@given(tie_groups(), st.integers(1, 20), priors())
def test_rules_against_a_search_over_all_thresholds(groups, twentieth, prior):
    labels, scores = expand(groups)
    target = min(twentieth / 20, 0.999)
    table = [(t, by_hand(labels, scores, t, prior)) for t in [np.inf, *np.unique(scores)[::-1]]]
    curve = sa.roc_curve(labels, scores)
    recall = max(t for t, found in table if found["recall"] >= target - 1e-12)
    assert curve.thresholds[vertex_by("recall", curve, target, prior)] == recall
    flagged = min(t for t, found in table if found["flagged"] <= target + 1e-12)
    assert curve.thresholds[vertex_by("flagged", curve, target, prior)] == flagged
    precise = [t for t, found in table[1:] if found["precision"] >= target - 1e-12]
    vertex = vertex_by("precision", curve, target, prior)
    assert (None if vertex is None else curve.thresholds[vertex]) == (min(precise) if precise else None)
    cost = vertex_by("cost", curve, np.nan, prior, costs=(1, 20))
    least = min(found["expected_cost"] for _, found in table)
    assert by_hand(labels, scores, curve.thresholds[cost], prior)["expected_cost"] <= least + 1e-9


@each(("rule", "cutoff"), [
    ({"recall": 0.5}, 8),  # two of four, and the negative tied with the second
    ({"recall": 1}, 5),
    ({"precision": 0.75}, 7),  # 3 of 4 flagged at the sample's own prior
    ({"flagged": 0.45}, 7),
    ({"costs": (20, 1)}, 9),
    ({"costs": (1, 0)}, np.inf),  # of equal costs, the one that flags least
])  # fmt: skip
def test_rules_by_hand(rule, cutoff):
    assert set(sa.threshold_table(one_fold(), at_priors=[0.4], **rule)["threshold"]) == {cutoff}


def test_precision_out_of_reach_and_a_prior_to_choose_at():
    scores = one_fold(LABELS, np.zeros(10))
    message = r"^no threshold of model 'A' has precision 0\.9 at prior 0\.1 in 1 of its folds; its rows"
    frame = expect_warning(message, sa.threshold_table, scores, precision=0.9, at_priors=[0.1])
    assert frame[["estimate", "conf_low", "conf_high", "threshold"]].isna().all(axis=None)
    frame = sa.threshold_table(one_fold(), precision=0.75, at_priors=[0.4, 0.01], chosen_prior=0.4)
    assert (tuple(frame), frame["chosen_prior"].tolist()) == (OPERATING_COLUMNS, [0.4] * 16)
    assert set(frame["threshold"]) == {7}
    precision = frame[frame["measure"] == "precision"]["estimate"].to_numpy()
    assert (precision[0], precision[1]) == (pytest.approx(0.75), pytest.approx(0.75 / (0.75 + 99 / 6)))
    cost = sa.threshold_table(one_fold(), costs=(1, 20), at_priors=[0.01], chosen_prior=[0.4, 0.01])
    paid = cost[cost["measure"] == "expected_cost"].set_index("chosen_prior")["estimate"]
    assert paid[0.4] > paid[0.01]


def several_folds():
    labels, rng = np.repeat([0, 1], [60, 30]), np.random.default_rng(1)
    return draw_rows({"A": 1.5, "B": 1.0}, (1, 2, 3, 4), labels, rng)


def test_an_evaluation_knows_its_folds():
    stated, given = {"design": sa.FoldDesign("repeated_holdout", 0.2)}, {"A": 0.5, "B": 1}
    measures = sa.evaluate(several_folds(), at_priors=(0.5,), deployment_prior=0.5, **stated)
    known = sa.threshold_table(several_folds(), recall=0.8, **stated)
    pd.testing.assert_frame_equal(sa.threshold_table(measures, recall=0.8), known)
    assert (known["method"][known["level"] == "mean"] == "corrected_t").all()
    assert known.index.tolist() == list(range(len(known)))
    assert known["measure"][known["level"] == "mean"].tolist() == [*operating.MEASURES] * 6
    table = several_folds().query("fold < 3")
    alone = sa.threshold_table(table, recall=0.8, design="independent")
    elsewhere = sa.threshold_table(table, recall=0.8, design="independent", choose_on=table)
    assert elsewhere["threshold"].equals(alone["threshold"])
    lacking = sa.threshold_table(table.query("model == 'A' or fold == 1"), recall=0.8, design="independent")
    fold, mean = (lacking[(lacking["model"] == "B") & (lacking["level"] == x)] for x in ("fold", "mean"))
    np.testing.assert_array_equal(mean["estimate"], fold["estimate"])
    assert mean[["conf_low", "conf_high"]].isna().all(axis=None)
    message = r"^the mean precision over folds is undefined for 'A', 'B', since no case is flagged in some"
    expect_warning(message, sa.threshold_table, measures, threshold=100)
    by_model = sa.threshold_table(measures, threshold=given)
    assert tuple(by_model) == OPERATING_COLUMNS
    assert by_model.groupby("model")["target"].unique().map(list).to_dict() == {"A": [0.5], "B": [1]}
    chosen = known[(known["model"] == "B") & (known["measure"] == "npv") & (known["prior"] == 0.1)]
    each, mean = chosen[chosen["level"] == "fold"]["estimate"], chosen[chosen["level"] == "mean"].iloc[0]
    low, high = stats.t.interval(0.95, 3, loc=each.mean(), scale=stats.sem(each) * np.sqrt(1 + 4 * 0.25))
    assert mean["estimate"] == pytest.approx(each.mean())
    assert (mean["conf_low"], mean["conf_high"]) == pytest.approx((low, min(high, 1)))
    pd.testing.assert_frame_equal(sa.threshold_table(measures, recall=0.8, design=sa.FoldDesign()), known)
    with pytest.raises(ValueError, match="`scores` is an Evaluation, which has its design"):
        sa.threshold_table(measures, recall=0.8, design="independent")


@each(("options", "message"), [
    ({}, r"^exactly one of `threshold`.*but got none; for example, state recall=0.8"),
    ({"recall": 0.8, "flagged": 0.1}, r"^exactly one of .*but got recall, flagged; leave out all but one$"),
    ({"recall": 0}, "`recall` must lie above 0 and at most 1, but got 0"),
    ({"precision": 1.5}, "`precision` must lie strictly between 0 and 1, but got 1.5"),
    ({"costs": (1, -1)}, "`costs` must be finite, not negative and not both 0"),
    ({"threshold": {"A": np.nan}}, "`threshold` must be a number for every model, but got {'A': nan}"),
    ({"threshold": {"B": 1}}, "`threshold` must name every model once"),
    ({"recall": 0.8, "chosen_prior": 0.1}, "`chosen_prior` has no effect with `recall`; remove it"),
    ({"recall": 0.8, "at_priors": [2]}, "`at_priors` must lie strictly between 0 and 1"),
    ({"recall": 0.8, "confidence_level": 95}, "`confidence_level` must lie strictly between 0 and 1"),
    ({"costs": (1, (2, 3))}, "`costs` must be a pair"), ({"costs": ("1", "5")}, "`costs` must be a pair"),
    ({"costs": 3}, "`costs` must be a pair"), ({"costs": {"fp": 1, "fn": 5}}, "`costs` must be a pair"),
    ({"threshold": "x"}, "`threshold` must be a number for every model, in a dict if they differ, but"),
])  # fmt: skip
def test_options_out_of_range(options, message):
    kind = TypeError if "a pair" in message or "in a dict" in message else ValueError
    expect_error(message, sa.threshold_table, one_fold(), **options, error=kind)


def test_table_of_text():
    frame = sa.threshold_table(one_fold(), precision=0.75, at_priors=[0.4, 0.01], chosen_prior=0.4)
    table = build_operating_table(frame)
    assert [row[0] for row in table.rows] == ["A, 0.4", "A, 0.01 (for 0.4)"]
    assert "Cost" not in table.header
    assert table.rows[0][table.header.index("Precision")].startswith("0.750 (")
    assert "looks better than it is" in table.note
    for rule, less in (({"flagged": 0.1}, True), ({"recall": 0.8}, False)):
        note = build_operating_table(sa.threshold_table(one_fold(), **rule, at_priors=[0.4])).note
        assert ("Intervals take it as given, and may hold the truth less often" in note) == less
    costs = build_operating_table(sa.threshold_table(one_fold(), recall=0.8, costs=(1, 2), at_priors=[0.4]))
    assert "Cost" in costs.header


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_thresholds_have_four_digits():
    table = build_thresholds_table(sa.threshold_table(one_fold(), recall=0.8, at_priors=[0.4, 0.01]))
    assert (table.header, *table.rows) == (("Model", "Threshold"), ("A", "5"))
    frame = sa.threshold_table(several_folds(), costs=(1, 20), at_priors=[0.4, 0.01], design="independent")
    table = build_thresholds_table(frame)
    assert table.header == ("Model", "Smallest", "Median", "Largest")
    names = [f"{model} (for {prior})" for model in "AB" for prior in (0.4, 0.01)]
    assert [row[0] for row in table.rows] == names
    folds = frame[(frame["model"] == "A") & (frame["chosen_prior"] == 0.4) & (frame["fold"] != "mean")]
    smallest, median, largest = map(float, table.rows[0][1:])
    ends = folds["threshold"].min(), folds["threshold"].max()
    assert (smallest, largest) == tuple(float(f"{end:.4g}") for end in ends)
    assert smallest <= median <= largest


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_thresholds_that_are_none():
    unreached = sa.threshold_table(one_fold(LABELS[::-1]), precision=0.999, at_priors=[0.001])
    flagless = sa.threshold_table(one_fold(), flagged=1e-9, at_priors=[0.1])
    assert "out of reach" in {row[1] for row in build_thresholds_table(unreached).rows}
    assert {row[1] for row in build_thresholds_table(flagless).rows} == {"none is flagged"}


def test_command(tmp_path):
    several_folds().to_csv(tmp_path / "scores.csv", index=False)
    out = tmp_path / "threshold"
    options = ["--recall", 0.8, "--at-priors", "0.1,0.01", "--cost-fp", 1, "--cost-fn", 20, "--out", out]
    done = run("threshold", tmp_path / "scores.csv", *options)
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith("Thresholds\n\nModel")  # the threshold comes first
    assert done.stdout.index("Operating points\n\nModel, prior") < done.stdout.index("warning: cannot tell")
    assert all(len(line) <= 80 for line in done.stdout.split("\n"))
    with pytest.warns(sa.SkewanovaWarning, match="cannot tell"):
        known = sa.threshold_table(several_folds(), recall=0.8, at_priors=(0.1, 0.01), costs=(1, 20))
    assert build_thresholds_table(known).to_text() in done.stdout
    assert build_thresholds_table(known).to_markdown() in (out / "threshold.md").read_text()
    np.testing.assert_allclose(pd.read_csv(out / "threshold.csv")["estimate"], known["estimate"])


def test_command_takes_the_design(tmp_path):
    several_folds().to_csv(tmp_path / "scores.csv", index=False)
    options = ["--recall", 0.8, "--at-priors", 0.1, "--out", tmp_path / "out", "--quiet"]
    done = run("threshold", tmp_path / "scores.csv", *options, "--test-fraction", 0.25)
    assert (done.exit_code, done.output) == (0, "")
    stated = sa.FoldDesign("auto", 0.25)
    known = sa.threshold_table(several_folds(), recall=0.8, at_priors=(0.1,), design=stated)
    np.testing.assert_allclose(pd.read_csv(tmp_path / "out" / "threshold.csv")["conf_low"], known["conf_low"])
    settings = json.loads((tmp_path / "out" / "provenance.json").read_text())["settings"]
    assert (settings["design"], settings["test_fraction"]) == ("auto", 0.25)


def test_a_fold_called_mean_and_a_distribution_of_priors():
    frame = several_folds()
    frame["fold"] = frame["fold"].map(lambda fold: "mean" if fold == frame["fold"].iloc[0] else str(fold))
    found = sa.threshold_table(frame, recall=0.8, at_priors=[0.1], design="independent")
    rows = found[(found["model"] == "B") & (found["measure"] == "recall")]
    assert rows["level"].tolist() == ["fold"] * 4 + ["mean"]
    assert (rows["fold"].isna().tolist(), (rows["fold"] == "mean").sum()) == ([False] * 4 + [True], 1)
    assert len(build_operating_table(found).rows) == found["model"].nunique()
    weighting = sa.BetaPrior(2, 98)
    found = sa.threshold_table(one_fold(), costs=(1, 20), at_priors=weighting)
    quantiles = stats.beta(2, 98).ppf([0.05, 0.95])
    np.testing.assert_allclose(found["prior"].unique(), [0.02, *quantiles], rtol=0.02)
    assert found["chosen_prior"].unique() == pytest.approx([0.02])
    at, weight = weighting.quadrature()
    cost = sa.threshold_table(one_fold(), threshold=found["threshold"].iloc[0], costs=(1, 20), at_priors=at)
    expected = weight @ cost.loc[cost["measure"] == "expected_cost", "estimate"] / weight.sum()
    assert values(found[found["prior"] == found["chosen_prior"]])["expected_cost"] == pytest.approx(expected)
    assert sa.threshold_table(one_fold(), recall=0.8, at_priors=weighting)["chosen_prior"].isna().all()


def parts():
    """Two parts of scores on scales of their own: a threshold of one is not the best of the other."""
    rng, label = np.random.default_rng(5), np.repeat([1, 0], [40, 160])
    cells = itertools.product("AB", (("tuning", 0.0), ("test", 0.3)))
    scored = ((model, part, rng.normal(label + shift)) for model, (part, shift) in cells)
    rows = [score_rows(model, 1, label, score, part=part) for model, part, score in scored]
    return pd.concat(rows, ignore_index=True)


def test_thresholds_are_chosen_on_one_part_and_judged_on_the_others():
    frame = parts()
    tuning, test = (frame[frame["part"] == name].drop(columns="part") for name in ("tuning", "test"))
    options = {"costs": (1, 3), "at_priors": [0.1]}
    chosen = sa.threshold_table(tuning, **options)
    cutoff = chosen.groupby("model")["threshold"].first().to_dict()
    known = sa.threshold_table(test, threshold=cutoff, **options)
    found = sa.threshold_table(frame, choose_on="tuning", **options)
    np.testing.assert_array_equal(found["threshold"], chosen["threshold"])
    np.testing.assert_array_equal(found[["estimate", "conf_low"]], known[["estimate", "conf_low"]])
    assert (set(found["chosen_on"]), set(chosen["chosen_on"])) == ({"other cases"}, {"same cases"})
    by_table = sa.threshold_table(test, choose_on=sa.read_scores(tuning), **options)
    pd.testing.assert_frame_equal(by_table, found)
    assert "looks better than it is" in build_operating_table(chosen).note
    assert "looks better than it is" not in build_operating_table(found).note
    assert "less often" not in build_operating_table(found).note
    assert "Chosen on other cases than those that judge it." in build_operating_table(found).note


@each(("frame", "choose_on", "message"), [
    (parts(), "nowhere", "`choose_on` must be one of tuning, test; but got"),
    (one_fold(), "x", "`choose_on` needs a column part"), (parts()[:200], "tuning", "must leave rows of"),
    (parts().replace({"y_true": {0: "a", 1: "b"}}), "test", r"a.read_scores\(each part of table, pos_label"),
    (sa.read_scores(one_fold()), "x", r"can name a part .* as choose_on=skewanova.read_scores\(FILE\)$"),
    (one_fold(), one_fold().assign(model="B"), "lacks 'A'; add its rows, or leave the model out of `scores`"),
    (one_fold(), ["x"], "^`choose_on`: scores must be a path or"),
    (parts().replace({"part": {"tuning": 1, "test": 2}}), 3, "`choose_on` must be one of 1, 2; but got '3'"),
    (one_fold(), sa.evaluate(one_fold()), "but got Evaluation; pass the scores of which it was made$"),
    (streamed(), None, "whose curves have no thresholds; pass the Dask or Spark frame instead"),
    (StreamedScores(("A",), (1,), np.ones((1, 1, 2)), {}, None, None), None, "StreamedScores; pass the"),
])  # fmt: skip
def test_parts_that_do_not_fit_are_refused(frame, choose_on, message):
    with pytest.raises((sa.InputError, sa.InputTypeError), match=message):
        sa.threshold_table(frame, choose_on=choose_on, recall=0.5)
    with pytest.raises(sa.InputError, match="has no effect with `threshold`"):
        sa.threshold_table(parts(), choose_on="tuning", threshold=0.5)


def test_command_chooses_on_a_part_and_warns_in_one_line(tmp_path):
    parts().rename(columns={"part": "set"}).to_csv(tmp_path / "scores.csv", index=False)
    options = ["--precision", 0.5, "--at-priors", "beta:2:8", "--choose-on", "tuning", "--part-column", "set"]
    done = run("threshold", tmp_path / "scores.csv", *options, "--json")
    assert done.exit_code == 0, done.output
    rows = pd.DataFrame(json.loads(done.stdout)["threshold"])
    known = sa.threshold_table(parts(), precision=0.5, at_priors=sa.BetaPrior(2, 8), choose_on="tuning")
    np.testing.assert_allclose(rows["estimate"].astype(float), known["estimate"])
    for more, message in (
        ([*options, "--wide"], "leave out --wide"),
        ([], "exactly one of"),
        (["--recall", 0.8, "--cost-fp", 1], "--cost-fp and --cost-fn go together"),
    ):
        refused = run("threshold", tmp_path / "scores.csv", *more)
        assert (refused.exit_code, message in " ".join(refused.stderr.split())) == (2, True)
    frame = pd.concat([one_fold(LABELS[::-1]).assign(model=f"m{i}") for i in range(3)])
    frame.to_csv(tmp_path / "scores.csv", index=False)
    done = run("threshold", tmp_path / "scores.csv", "--precision", 0.999, "--at-priors", 0.001)
    text = " ".join(done.stdout.split())
    assert text.count("warning: no threshold of model 'm0' has precision 0.999 at prior 0.001") == 1
    assert text.endswith("(and 2 more like it)")


# Thresholds  .9   .8   .7   .6   .5   .4
# Label        +    -    +    +    -    -      so tpr 1/3 1/3 2/3 1 1 1, fpr 0 1/3 1/3 1/3 2/3 1
ROC = sa.roc_curve([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
RECALL, FPR = Estimate(0.8, 0.7, 0.95), Estimate(0.1, 0.05, 0.3)


@each(("rule", "prior", "target", "expected"), [
    *(("recall", np.nan, target, rates) for target, rates in (
        (0.0, (0, 0)), (1 / 3, (1 / 3, 0)), (1 / 3 + 0.5 * TIE, (1 / 3, 0)),
        (1 / 3 + 2 * TIE, (2 / 3, 1 / 3)), (1.0, (1, 1 / 3)),
    )),
    # At prior 1/2 precision is 1, 1/2, 2/3, 3/4, 3/5, 1/2 at the six thresholds.
    *(("precision", 0.5, target, rates) for target, rates in (
        (1.0, (1 / 3, 0)), (0.75 + 4 * TIE, (1 / 3, 0)), (0.75 + TIE / 2, (1, 1 / 3)), (0.5, (1, 1)),
    )),
    # At prior 1/4 the thresholds flag 1/12, 1/3, 5/12, 1/2, 3/4, 1.
    *(("flagged", 0.25, target, rates) for target, rates in (
        (0.08, (0, 0)), (0.5 - 0.5 * TIE, (1, 1 / 3)), (0.5 - 2 * TIE, (2 / 3, 1 / 3)), (1.0, (1, 1)),
    )),
])  # fmt: skip
def test_recall_takes_the_highest_threshold_precision_and_budget_the_lowest(rule, prior, target, expected):
    vertex = vertex_by(rule, ROC, target, prior)
    assert (ROC.tpr[vertex], ROC.fpr[vertex]) == pytest.approx(expected)


def test_equal_costs_and_limits_of_a_sum_and_of_a_known_share():
    # At prior 1/2 and equal costs, the origin and no threshold cost 1/2; here every vertex does.
    chance = sa.roc_curve([1, 0, 1, 0], [2, 2, 1, 1])
    assert vertex_by("cost", chance, np.nan, 0.5) == 0
    assert vertex_by("cost", chance, np.nan, 0.5 + 0.4 * TIE) == 0  # but for rounding
    assert vertex_by("cost", chance, np.nan, 0.5 + 100 * TIE) == 2
    large = vertex_by("cost", chance, np.nan, 0.5 + 0.4 * TIE, costs=(1e6, 1e6))
    assert large == 0  # rounding grows with the costs
    found = operating.weighted_sum(RECALL, FPR, (2.0, 3.0))
    below = np.sqrt((2 * 0.1) ** 2 + (3 * 0.05) ** 2)
    assert found == pytest.approx((1.9, 1.9 - below, 1.9 + np.sqrt((2 * 0.15) ** 2 + (3 * 0.2) ** 2)))
    exact = Estimate(0.5, 0.5, 0.5)
    assert operating.proportion_ratio(RECALL, exact) == pytest.approx((1.6, 1.4, 1.9))
    assert operating.proportion_ratio(exact, RECALL) == pytest.approx((0.625, 0.5 / 0.95, 0.5 / 0.7))


def reach(over, under, quotient, *, low):
    """Limit of over - q under: where it is 0, q is a limit of the quotient (Donner and Zou 2012, eq. 4)."""
    value = over.value - quotient * under.value
    if low:
        return value - np.hypot(over.value - over.low, quotient * (under.high - under.value))
    return value + np.hypot(over.high - over.value, quotient * (under.value - under.low))


@pytest.mark.parametrize("under", [FPR, Estimate(0.5, 0.4, 0.9), Estimate(0.02, 0.001, 0.2)])
def test_limits_of_a_quotient_are_where_the_limit_of_a_difference_is_0(under):
    found = operating.proportion_ratio(RECALL, under)
    assert found.value == pytest.approx(0.8 / under.value)
    assert found.low < found.value < found.high
    assert reach(RECALL, under, found.low, low=True) == pytest.approx(0, abs=1e-12)
    assert reach(RECALL, under, found.high, low=False) == pytest.approx(0, abs=1e-9)


def test_quotients_at_the_boundary():
    nothing = Estimate(0.0, 0.0, 0.2)
    assert operating.proportion_ratio(RECALL, nothing)[0::2] == (np.inf, np.inf)
    expected = np.sqrt(RECALL.low * (2 * RECALL.value - RECALL.low)) / 0.2
    assert operating.proportion_ratio(RECALL, nothing).low == pytest.approx(expected)
    assert operating.proportion_ratio(nothing, RECALL)[:2] == (0.0, 0.0)
    high = operating.proportion_ratio(nothing, RECALL).high
    assert reach(nothing, RECALL, high, low=False) == pytest.approx(0, abs=1e-12)
    neither = operating.proportion_ratio(nothing, nothing)
    assert np.isnan(neither.value)
    assert neither[1:] == (0.0, np.inf)


def test_precision_and_f_follow_their_quotient_and_warn_where_unreached():
    found = operating.compute_measures(RECALL, FPR, 0.2, None)
    quotient = np.array(operating.proportion_ratio(RECALL, FPR))
    assert found["precision"] == pytest.approx(tuple(quotient / (quotient + 4)))
    assert np.isnan(found["expected_cost"]).all()
    cost = operating.compute_measures(RECALL, FPR, 0.2, (3.0, 7.0))["expected_cost"]
    assert cost == operating.weighted_sum(RECALL.complement(), FPR, (0.2 * 7, 0.8 * 3))
    quotient = np.array(operating.proportion_ratio(RECALL, Estimate(1 + 4 * 0.1, 1 + 4 * 0.05, 1 + 4 * 0.3)))
    assert found["f_measure"] == pytest.approx(tuple(2 * quotient / (1 + quotient)))
    right, wrong = FPR.complement(), RECALL.complement()
    quotient = np.array(operating.proportion_ratio(right, wrong))
    assert found["npv"] == pytest.approx(tuple(quotient / (quotient + 0.25)))
    with pytest.warns(sa.SkewanovaWarning) as caught:
        sa.threshold_table(sa.load_satellite_scores(), precision=0.999999, at_priors=(1e-6,))
    assert all("its rows there are nan, so state a lower `precision`" in str(each.message) for each in caught)


@pytest.mark.parametrize("ratio", [0.0, 0.25])
def test_the_mean_over_folds_has_its_corrected_t(ratio):
    values = np.array([0.5, 0.7, 0.65, 0.8])
    plain = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    wide = np.sqrt(1 + 4 * ratio)
    mean = values.mean()
    expected = (mean, mean - wide * (mean - plain.low), mean + wide * (plain.high - mean))
    assert operating.fold_mean(values, 0.9, ratio=ratio) == pytest.approx(expected)
    assert isinstance(operating.fold_mean(values, 0.9, ratio=ratio), Estimate)
    for power in (-900, 1022):  # whose squares are no numbers
        large = operating.fold_mean(np.ldexp(values, power), 0.9, ratio=ratio)
        assert np.ldexp(large, -power) == pytest.approx(expected)


@each(("rule", "remedy"), [
    ({"threshold": 1e9}, {"threshold": -1e9}), ({"flagged": 1e-6}, {"flagged": 0.5}),
    ({"costs": (1e6, 1e-6)}, {"costs": (1, 1e6)}),
])  # fmt: skip
def test_a_lower_threshold_is_stated_by_its_rule(rule, remedy):
    table = sa.load_satellite_scores()
    names = {"costs": "state a larger cost of a false negative", "threshold": "state a lower `threshold`"}
    with pytest.warns(sa.SkewanovaWarning, match=names.get(*rule, "state a larger `flagged`")):
        sa.threshold_table(table, at_priors=(0.01,), **rule)
    sa.threshold_table(table, at_priors=(0.01,), **remedy)
