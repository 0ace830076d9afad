"""compare_values of held-out scores with a measure: against DeLong, over folds, on a test set."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from halved_tables import halved_frame
from loops import each
from messages import expect_error

import skewanova as sa
from skewanova.cli import commands
from skewanova.curves.estimators import ROC_AUC
from skewanova.decision import Measure
from skewanova.decision.bands import compare_over_folds, difference_grid, tabulate_differences
from skewanova.inference.paired_test_set import get_test_set
from skewanova.inference.single_test_set import ArcsineAreas
from skewanova.scores.design import logit_interval

REFERENCE = Path(__file__).resolve().parents[1] / "reference"
STATED = Measure.expected_cost(1, 5, (0.05, 0.3), threshold=0.5)


@pytest.fixture(scope="module")
def wide():
    """Labels and scores of three models on 150 cases, as R had them."""
    return pd.read_csv(REFERENCE / "delong_scores.csv")


def lengthen(wide, **columns):
    """Held-out scores in long form."""
    models = [name for name in wide if name != "y_true"]
    shared = {"fold": 1, "case": range(len(wide)), "y_true": wide["y_true"], **columns}
    parts = [pd.DataFrame({"model": name, "y_score": wide[name], **shared}) for name in models]
    return pd.concat(parts, ignore_index=True)


def measure_auc(scores):
    """Areas under ROC with their jackknife, in the order of the models of the table."""
    evaluation = replace(sa.evaluate(scores), area_estimator=ROC_AUC)
    prior = sa.UniformPrior(0.5, 0.5)
    areas: ArcsineAreas = get_test_set(evaluation).measure_areas(evaluation, prior)
    return list(evaluation.models), areas


def test_areas_and_covariance_are_those_of_delong(wide):
    models, areas = measure_auc(lengthen(wide))
    for row in pd.read_csv(REFERENCE / "r_delong.csv").itertuples():
        i, j = models.index(row.a), models.index(row.b)
        result = areas.area[i] if row.quantity == "auc" else areas.area_covariance[i, j]
        assert result == pytest.approx(row.value, rel=1e-12)
    result = sa.compare_values(lengthen(wide), measure=Measure.roc_auc())
    order = [models.index(model) for model in ("fine", "coarse", "weak")]
    assert result.ranking["model"].tolist() == [models[i] for i in order]
    assert result.ranking["mean"].to_numpy() == pytest.approx(areas.area[order])
    covariance = areas.area_covariance[np.ix_(order, order)][:2, :2]
    delong = (areas.area[order[0]] - areas.area[order[1]]) / np.sqrt([1, -1] @ covariance @ [1, -1])
    assert result.pairs["statistic"].iloc[0] == pytest.approx(delong, rel=0.05)  # on the angular scale


def test_clusters_are_those_of_obuchowski():
    """Obuchowski (1997, Biometrics 53, 567-578) sums the placements of clusters.

    In 1,500 tables of this kind the variance of the area was .00093 (.00003). Its mean is .00092 by the
    jackknife and .00098 by Obuchowski.
    """
    rng = np.random.default_rng(2)
    cluster = np.repeat(np.arange(80), 3)
    positive = rng.random(240) < 0.4
    shared = rng.normal(size=80)[cluster]
    wide = pd.DataFrame({"y_true": positive.astype(int)})
    for name, distance in (("a", 1.5), ("b", 1.0)):
        wide[name] = distance * positive + shared + rng.normal(size=240)
    _, areas = measure_auc(lengthen(wide, cluster=cluster))
    placements = []
    for name in ("a", "b"):
        above = wide[name].to_numpy()[positive][:, None] > wide[name].to_numpy()[~positive]
        sums = np.zeros((2, 80))
        np.add.at(sums[0], cluster[positive], above.mean(axis=1))
        np.add.at(sums[1], cluster[~positive], above.mean(axis=0))
        sizes = [np.bincount(cluster[side], minlength=80) for side in (positive, ~positive)]
        placements.append([part - size * above.mean() for part, size in zip(sums, sizes, strict=True)])
    m, n = positive.sum(), (~positive).sum()
    counts = [len(np.unique(cluster[side])) for side in (positive, ~positive)]
    for i, (a10, a01) in enumerate(placements):
        for j, (b10, b01) in enumerate(placements):
            value = (
                counts[0] / (counts[0] - 1) * a10 @ b10 / m**2
                + counts[1] / (counts[1] - 1) * a01 @ b01 / n**2
            )
            value += 80 / 79 * (a10 @ b01 + a01 @ b10) / (m * n)
            assert areas.area_covariance[i, j] == pytest.approx(value, rel=0.2)


@each("measure", [Measure.precision_at_recall(0.8, 0.1), Measure.recall_at_alert_rate(0.2, 0.1)])
def test_means_of_precision_and_recall_over_folds_have_limits_on_the_logit_scale(measure):
    scores = sa.load_satellite_scores()
    result, support = sa.compare_values(scores, measure=measure), sa.evaluate(scores).support
    mean, std = (result.ranking[name].to_numpy() for name in ("mean", "std"))
    negatives = support.n_negative * (1 if measure.value == "recall" else 1 / 9)
    size = min(support.n_positive, negatives)
    error = std * np.sqrt(1 / result.design.n_folds + result.design.ratio)
    limits = logit_interval(mean, error, df=result.design.n_folds - 1, level=0.95, size=size)
    assert result.ranking[["conf_low", "conf_high"]].to_numpy() == pytest.approx(np.transpose(limits))
    assert result.ranking["conf_high"].max() < 1


@each("measure", [Measure.roc_auc(), Measure.expected_cost(1, 20), Measure.recall_at_alert_rate(0.2)])
def test_measures_over_folds_are_tested_as_their_values(measure):
    scores = sa.load_satellite_scores()
    result = sa.compare_values(scores, measure=measure, rope=0.01)
    evaluation = sa.evaluate(scores)
    frame = pd.DataFrame(list(evaluation.curves), columns=["model", "fold"])
    frame = frame.assign(value=measure.mean(evaluation.curves)).astype({"model": str, "fold": str})
    expected = sa.compare_values(
        frame, design=evaluation.design, rope=0.01, greater_is_better=measure.greater_is_better
    )
    limits = [] if measure.value != "recall" else ["conf_low", "conf_high"]  # on the logit scale
    ranking, other = (each.ranking.drop(columns=limits) for each in (result, expected))
    pd.testing.assert_frame_equal(ranking, other)
    for name in ("pairs", "tests", "effects", "equivalence", "plans"):
        one, other = (
            each.tables[name].drop(columns="response", errors="ignore") for each in (result, expected)
        )
        pd.testing.assert_frame_equal(one, other)
    assert result.verdict.choose == expected.verdict.choose


def test_bands_along_the_prior_are_those_of_compare():
    evaluation = sa.evaluate(sa.load_satellite_scores())
    grid = difference_grid(evaluation)
    expected = sa.decision.difference_curves(evaluation)
    values = evaluation.auprec_by_cell(grid).swapaxes(0, 1)
    options = {"alpha": 0.05, "control": None, "rng": 0}
    tests = compare_over_folds(grid, values, None, evaluation.design)
    result = tabulate_differences(tests, evaluation.models, **options)
    pd.testing.assert_frame_equal(result, expected)
    result = sa.compare_values(sa.load_satellite_scores(), measure=Measure.expected_cost(1, 20))
    curves = result.tables["difference_curves"]
    assert curves["prior"].min() == pytest.approx(0.01)
    by_prior = result.tables["by_prior"].pivot(index="prior", columns="model", values="value")
    one = curves[(curves["model_a"] == "A") & (curves["model_b"] == "B")].set_index("prior")
    assert one["estimate"].to_numpy() == pytest.approx((by_prior["B"] - by_prior["A"]).to_numpy())  # a cost
    assert result.tables["by_prior"].query("rank == 1")["model"].eq("A").all()


def test_a_stated_threshold_on_a_test_set_is_a_paired_t_test(wide):
    result = sa.compare_values(lengthen(wide), measure=STATED, alpha=0.1)
    prior, positive = 0.175, wide["y_true"].to_numpy() == 1
    flagged = {name: wide[name].to_numpy() >= 0.5 for name in ("fine", "coarse", "weak")}
    for row in result.pairs.itertuples():
        a, b = flagged[row.model_a].astype(float), flagged[row.model_b].astype(float)
        gains = [5 * prior * (a - b)[positive], (1 - prior) * (b - a)[~positive]]
        assert row.estimate == pytest.approx(sum(part.mean() for part in gains))
        assert row.std_error == pytest.approx(np.sqrt(sum(part.var(ddof=1) / len(part) for part in gains)))
    costs = {
        name: prior * 5 * (1 - rate[positive].mean()) + (1 - prior) * rate[~positive].mean()
        for name, rate in flagged.items()
    }
    ranking = result.ranking
    assert ranking["model"].tolist() == sorted(costs, key=costs.get)
    assert ranking["mean"].to_numpy() == pytest.approx(sorted(costs.values()))
    assert ranking["mean"].between(ranking["conf_low"], ranking["conf_high"], inclusive="neither").all()


@each("kind", ["folds", "test set"])
def test_bands_and_crossings_are_those_of_the_tests_at_single_priors(kind):
    rng, n = np.random.default_rng(3), 600
    shared = {"case": np.arange(n), "y_true": (rng.random(n) < 0.25).astype(int)}
    shapes = (("a", 1.5, 1.0), ("b", 1.0, 0.6), ("c", 1.45, 1.2))
    scores = pd.concat(
        pd.DataFrame({"model": m, "y_score": d * shared["y_true"] + s * rng.normal(size=n), **shared})
        for m, d, s in shapes
    ).assign(fold=lambda frame: frame["case"] % 5 if kind == "folds" else 0)
    measure = Measure.expected_cost(1, 5, (0.05, 0.4), threshold=0.8)
    design = "kfold" if kind == "folds" else "auto"
    result = sa.compare_values(scores, measure=measure, design=design, alpha=0.1)
    curves, crossings = result.tables["difference_curves"], result.tables["crossings"]

    def compare_at(prior, a, b):
        at_prior = replace(measure, deployment_prior=sa.UniformPrior(prior, prior))
        pairs = sa.compare_values(scores, measure=at_prior, design=design).pairs.query("role == 'primary'")
        return next(row for row in pairs.itertuples() if {row.model_a, row.model_b} == {a, b})

    for row in curves.iloc[[3, 60, 120]].itertuples():
        pair = compare_at(row.prior, row.model_a, row.model_b)
        sign = 1 if pair.model_a == row.model_a else -1
        assert sign * pair.estimate == pytest.approx(row.estimate, rel=1e-9)
        assert pair.std_error == pytest.approx(row.std_error, rel=1e-9)
        assert row.p_adjusted > pair.p_value
    assert len(crossings) >= 2
    assert crossings["prior"].is_monotonic_increasing
    for row in crossings.head(2).itertuples():
        pair = compare_at(row.prior, row.model_below, row.model_above)
        assert abs(pair.estimate) < 0.02 * pair.std_error
        for limit, is_open in ((row.conf_low, row.open_low), (row.conf_high, row.open_high)):
            p = compare_at(limit, row.model_below, row.model_above).p_value
            assert p > 0.1 if is_open else p == pytest.approx(0.1, abs=0.005)
    lead = crossings[crossings["lead"]].iloc[0]
    text = result.verdict.where_it_changes
    assert f"from {lead.model_below} to {lead.model_above} near prior {lead.prior:.3g} (interval" in text


def test_where_it_changes_is_said_by_the_kind_of_measure(wide):
    scores = lengthen(wide)
    lines = [
        sa.compare_values(scores, measure=m).verdict.where_it_changes
        for m in (Measure.roc_auc(), STATED, replace(STATED, deployment_prior=sa.UniformPrior(0.1, 0.1)))
    ]
    assert lines[0] == "Nowhere: area under ROC does not depend on the prior."
    assert lines[1].startswith(("The best value changes from", "Nowhere from prior 0.01 to 0.5:"))
    folds = sa.compare_values(sa.load_satellite_scores(), measure=Measure.expected_cost(1, 20))
    assert folds.verdict.where_it_changes == (
        "Nowhere from prior 0.01 to 0.5: A has the best mean; it ranks first in 15 of 20 folds."
    )


def test_page_and_paper_name_the_measure_and_its_test_set(wide, tmp_path):
    result = sa.compare_values(lengthen(wide), measure=STATED, rope=0.05)
    result.save(tmp_path / "report")
    page = (tmp_path / "report" / "report.html").read_text(encoding="utf-8")
    for text in ("expected cost 1:5, threshold 0.5 on a test set", "along the prior", "Times the cases"):
        assert text in page
    for text in ("AUPREC", "Best in", "1 test sets", ">nan<"):
        assert text not in page
    assert len(pd.read_csv(tmp_path / "report" / "tables" / "by_prior.csv")) == 3 * 41
    assert "Threshold: stated. Prior: uniform over priors 0.05 to 0.3." in str(result.methods)
    result.for_paper().save(tmp_path / "paper")


def test_runs_are_tested_as_folds(wide):
    rng, names = np.random.default_rng(0), ["fine", "coarse", "weak"]
    draws = (wide.assign(**(wide[names] + rng.normal(0, 0.3, (150, 3)))) for _ in range(5))
    runs = pd.concat([lengthen(draw, fold=k) for k, draw in enumerate(draws)])
    result = sa.compare_values(runs, measure=Measure.roc_auc())
    assert (result.unit, result.population) == ("run", "further runs on this test set")


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_halvings_serve_auprec_only():
    halved = halved_frame()
    holdouts = halved[halved["part"] == "holdout"].drop(columns=["part", "halving"])
    measure = Measure.expected_cost(1, 5)
    result = sa.compare_values(halved, measure=measure)
    design = sa.FoldDesign("repeated_holdout", result.design.test_fraction)
    expected = sa.compare_values(holdouts, measure=measure, design=design)
    assert "halvings serve AUPREC only; these tests correct for shared training data" in result.warnings
    assert (result.design.kind, result.design.n_halvings) == ("repeated_holdout", 0)
    pd.testing.assert_frame_equal(result.pairs, expected.pairs)


@each(("options", "message"), [
    ({"measure": Measure.expected_cost(1, 5)}, "expected cost 1:5 has no test on the cases on which its "
     "threshold is chosen; state it in the measure by threshold=0.5 (--threshold 0.5), or read the numbers"),
    ({"measure": Measure.recall_at_precision(0.5)}, "threshold is chosen; read the numbers from"),
    ({"measure": Measure.roc_auc(), "greater_is_better": False},
     "greater_is_better=False does not fit area under ROC; leave it out"),
    ({}, "the table has scores: compare AUPREC by skewanova.compare(values)"),
    ({"measure": Measure.roc_auc(), "control": "x"}, "`control` must be one of"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(options, message):
    wide = pd.read_csv(REFERENCE / "delong_scores.csv")
    expect_error(re.escape(message), sa.compare_values, lengthen(wide), **options)


@each(("arguments", "text"), [
    (["--score-measure", "roc_auc"], "Ranking by area under ROC on a single test set"),
    (["--score-measure", "expected_cost:1:5", "--threshold", "0.5", "--deployment-prior", "0.05:0.3"],
     "Ranking by expected cost"),
    (["--score-measure", "auc"], "--score-measure must be one of roc_auc, precision_at"),
    (["--score-measure", "expected_cost:1"], "--score-measure must be one of roc_auc, precision_at"),
    (["--score-measure", "expected_cost:1:5"], "--threshold 0.5, or read the numbers from `skewanova"),
    (["--score-measure", "roc_auc", "--lower-is-better"], "--lower-is-better does not fit area under ROC"),
    (["--score-measure", "roc_auc", "--threshold", "2"], "--score-measure roc_auc takes no --threshold"),
    (["--threshold", "2"], "--threshold can be given with a measure of scores only: leave that"),
    (["--measure", "auc", "--positive", "yes"], "--label-column, --positive can be given with held-out"),
])  # fmt: skip
def test_the_command_takes_a_measure_of_scores(arguments, text, tmp_path_factory):
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    frame = lengthen(pd.read_csv(REFERENCE / "delong_scores.csv"))
    frame.rename(columns={"y_true": "truth"}).to_csv(path, index=False)
    arguments = ["--label-column", "truth", *arguments]
    result = CliRunner().invoke(commands.main, ["compare-values", str(path), *arguments])
    assert text in " ".join(result.output.split())
    assert result.exit_code == (0 if "=" not in text and text[0] != "-" else 2)


def test_scores_in_single_precision_are_flagged_at_the_threshold(wide):
    scores = lengthen(wide.round(1)).astype({"y_score": np.float32})
    measure = Measure.expected_cost(1, 5, 0.1, threshold=0.7)
    result = sa.compare_values(scores, measure=measure)
    values = result.tables["values"].set_index("model")["value"]
    assert result.ranking["mean"].to_numpy() == pytest.approx(values[result.ranking["model"]].to_numpy())


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_few_cases_are_named_by_their_unit_and_risk(wide):
    few = wide.groupby("y_true").head(12)
    area, cost = (sa.compare_values(lengthen(few), measure=m).verdict for m in (Measure.roc_auc(), STATED))
    risk = "the test of all models may reject too often, so it has no p-value"
    assert area.weakest_point == f"Only 12 positives: {risk}."
    assert cost.weakest_point == "Only 12 positives: differences are hard to find."
    number, positive = np.arange(150), wide["y_true"] == 1
    clustered = lengthen(wide, cluster=np.where(positive, number % 9, 9 + number % 40))
    verdict = sa.compare_values(clustered, measure=Measure.roc_auc()).verdict
    assert re.fullmatch(r"Only [89][.0-9]* clusters with positives: the test .*", verdict.weakest_point)
    fixed = pd.concat([lengthen(wide, fold=k) for k in range(3)])
    expect_error("over further runs only", sa.compare_values, fixed, measure=STATED, design="fixed_runs")


def test_few_cases_leave_the_test_of_all_areas_without_a_p_value(wide):
    few = lengthen(pd.concat([wide[wide["y_true"] == 1].head(12), wide[wide["y_true"] == 0]]))
    with pytest.warns(sa.SkewanovaWarning, match="few positives, 30 are needed: the test of all models"):
        areas = sa.compare_values(few, measure=Measure.roc_auc())
    assert any("few positives" in text for text in areas.warnings)
    assert areas.tests["p_value"].isna().all()
    assert np.isfinite(areas.tests["statistic"]).all()
    assert areas.pairs["p_value"].notna().all()
    assert areas.tables["assumptions"].index.is_unique
    reason = "could not be tested for a difference, because a class has too few cases"
    assert reason in areas.conclusions[0]
    others = few[few["model"] != "weak"], Measure.roc_auc()
    for scores, measure in (others, (few, STATED)):  # a single pair, whose test holds, and a cost
        result = sa.compare_values(scores, measure=measure)
        assert result.tests["p_value"].notna().all()
        assert not any("are needed" in text for text in result.warnings)


def test_a_recall_that_no_threshold_reaches_is_reported(wide):
    strong = wide.drop(columns="weak")
    folds = pd.concat([lengthen(strong.iloc[k::5], fold=k, case=range(k, 150, 5)) for k in range(5)])
    measure = Measure.recall_at_precision(0.999, (0.001, 0.1))
    with pytest.warns(sa.SkewanovaWarning, match=r"recall at precision 0.999 is 0 in \d+ of 10 curves"):
        result = sa.compare_values(folds, measure=measure, design="independent")
    assert any("of 10 curves" in text for text in result.warnings)
    easy = Measure.recall_at_precision(0.05, (0.1, 0.2))
    assert easy.list_unmet_targets(sa.evaluate(folds, design="independent").curves) == []
