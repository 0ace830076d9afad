"""compare() of several runs on one test set: the public test, one variance, words, rates."""

import itertools

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from scipy import stats

from skewanova import SkewanovaWarning, compare, plan_comparison
from skewanova.decision import auprec_bands, rank_models
from skewanova.decision.joint_curves import joint_curves
from skewanova.evaluation import auprec_intervals
from skewanova.inference import auprec_covariance, compare_runs
from skewanova.inference.runs import DegreesOfFreedom, run_mean_errors
from skewanova.report.publication import write_methods

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")

SETTINGS = {"deployment_prior": (0.2, 0.4), "at_priors": (0.5, 0.3)}


def seeds(n_models=3, n_runs=4, n=60, m=300, *, quality=1.2, seed=0):
    """Labels, and scores (n_cases, n_models, n_runs) of learners trained anew with other seeds."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [n, m])
    shared, learner = rng.normal(size=(n + m, 1, 1)), rng.normal(size=(n + m, n_models, 1))
    noise = 0.7 * rng.normal(size=(n + m, n_models, n_runs))
    drawn = np.broadcast_to(quality, n_models)[:, None] + 0.15 * rng.normal(size=(n_models, n_runs))
    return labels, labels[:, None, None] * drawn + 0.7 * (shared + learner) + noise


def table(labels, scores, *, case=True):
    n_cases, n_models, n_runs = scores.shape
    rows = pd.DataFrame({"case": np.arange(n_cases), "y_true": labels})
    cells = itertools.product(range(n_models), range(n_runs))
    parts = (rows.assign(model=f"m{m}", fold=run + 1, y_score=scores[:, m, run]) for m, run in cells)
    frame = pd.concat(parts, ignore_index=True).sample(frac=1, random_state=0)
    return frame if case else frame.sort_values(["model", "fold", "case"]).drop(columns="case")


@pytest.fixture(scope="module")
def found():
    labels, scores = seeds()
    return labels, scores, compare(table(labels, scores), **SETTINGS)


def public(labels, scores, target):
    n_cases, n_models, n_runs = scores.shape
    one = auprec_covariance(labels, scores.reshape(n_cases, -1), deployment_prior=target)
    fewest = min(labels.sum(), (1 - labels).sum())
    return compare_runs(one.estimate.reshape(n_models, n_runs), one.covariance, case_df=fewest - 1)


def test_the_primary_and_its_variance_are_those_of_the_public_function(found):
    labels, scores, result = found
    expected = public(labels, scores, SETTINGS["deployment_prior"])
    primary = result.tests.iloc[0]
    assert (primary["test"], primary["role"]) == ("obuchowski_rockette", "primary")
    assert primary["statistic"] == pytest.approx(expected.f_omnibus)
    assert primary["df_error"] == pytest.approx(expected.df_omnibus)
    assert primary["p_value"] == pytest.approx(expected.p_omnibus)
    pairs = result.pairs[result.pairs["role"] == "primary"]
    assert sorted(pairs["p_adjusted"]) == pytest.approx(sorted(expected.p_adjusted))
    assert sorted(pairs["std_error"]) == pytest.approx(sorted(expected.std_error))
    at = public(labels, scores, 0.5)
    checks = result.pairs[(result.pairs["role"] == "secondary") & (result.pairs["prior"] == 0.5)]
    assert sorted(checks["p_adjusted"]) == pytest.approx(sorted(at.p_adjusted))
    labels, scores, result = found
    expected = public(labels, scores, SETTINGS["deployment_prior"]).components
    pd.testing.assert_frame_equal(result.tables["components"].round(9), expected.round(9))
    assert result.tables["components"]["share"].sum() == pytest.approx(1)
    assert "| run |" in result.to_markdown("components")
    ax = result.plot.components(ax=Figure().subplots())
    assert [text.get_text() for text in ax.get_yticklabels()] == expected["component"].tolist()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx((100 * expected["share"]).tolist())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["more runs help", "more cases help"]
    plan = plan_comparison(table(labels, scores), (0.2, 0.4), difference=0.1).to_frame()
    errors = public(labels, scores, SETTINGS["deployment_prior"]).std_error
    assert sorted(plan["std_error"]) == pytest.approx(sorted(errors))
    assert plan["run_share"].between(0, 1).all()
    assert (plan["case_factor"] > 0).all()
    assert (plan["limit_power"] < 1).all()  # however many runs


def test_bands_of_means_know_that_runs_are_few(found):
    """Their deviate is t of the interval's degrees of freedom, with as much beyond as one normal value."""
    labels, scores, result = found
    n_cases, n_models, n_runs = scores.shape
    names = [int(name[1:]) for name in result.evaluation.models]
    one = auprec_covariance(labels, scores.reshape(n_cases, -1), deployment_prior=0.3)
    areas = one.estimate.reshape(n_models, n_runs)
    _, df = run_mean_errors(areas, one.covariance, DegreesOfFreedom(case_df=59))
    bands = auprec_bands(result.evaluation, [0.3])
    error = np.linalg.norm(joint_curves(result.evaluation, np.array([0.3])).deviations[..., 0], axis=0)
    normal = stats.norm.isf(stats.t.sf((bands["conf_high"] - bands["auprec"]).to_numpy() / error, df[names]))
    assert normal == pytest.approx(np.full(n_models, normal[0]), rel=1e-6)
    assert 2.2 < normal[0] < 2.5  # of three models
    assert df.min() < 30


def test_the_spread_over_runs_in_ranking_and_words(found):
    """Cases vary too, so t over runs would cover too seldom."""
    *_, result = found
    for frame in (auprec_intervals(result.evaluation), rank_models(result.evaluation)):
        assert frame[["conf_low", "conf_high"]].isna().all(axis=None)
        assert frame.drop(columns=["conf_low", "conf_high"]).notna().any(axis=None)
    labels, scores, result = found
    expected = public(labels, scores, SETTINGS["deployment_prior"])
    best = int(np.argmax(expected.estimate))
    top = result.ranking.iloc[0]
    assert top["model"] == f"m{best}"
    limits = expected.model_low[best], expected.model_high[best]
    assert (top["conf_low"], top["conf_high"]) == pytest.approx(limits)
    text = " ".join(result.summary(full=True).split())
    assert "4 runs on one test set (every run tests the same cases)" in text
    assert "Interval: t over runs and cases, for learners over further runs and cases;" in text
    assert "training data they share" not in text


@pytest.mark.slow
def test_a_control_is_the_family_over_runs(found):
    labels, scores, result = found
    names = result.ranking["model"].tolist()
    other = compare(table(labels, scores), **SETTINGS, control=names[1], p_adjust="bonferroni")
    primary = other.pairs[other.pairs["role"] == "primary"]
    assert primary[["model_a", "model_b"]].to_numpy().tolist() == [[names[0], names[1]], [names[2], names[1]]]
    assert set(primary["test"]) == {"obuchowski_rockette_bonferroni_control"}
    every = result.pairs[result.pairs["role"] == "primary"]
    assert primary["p_value"].tolist() == every["p_value"].iloc[[0, 2]].tolist()
    np.testing.assert_allclose(primary["p_adjusted"], np.minimum(2 * primary["p_value"], 1), rtol=1e-12)
    assert other.ranking["group"].tolist()[1] == "control"


def test_effects_of_one_run_and_runs_that_are_all_the_same(found):
    _, _, result = found
    areas = result.tables["iauprec"].pivot(index="fold", columns="model", values="iauprec")
    for row in result.tables["effects"].to_dict("records"):
        runs = (areas[row["model_a"]] - areas[row["model_b"]]).var(ddof=1)  # a J-th of it is in the error
        spread = np.sqrt(row["std_error"] ** 2 + (1 - 1 / len(areas)) * runs)
        assert row["effect"] == pytest.approx(row["estimate"] / spread, rel=1e-9)
        assert row["effect_low"] < row["effect"] < row["effect_high"]
    labels, scores = seeds(n_runs=1, seed=3)
    single = compare(table(labels, scores), **SETTINGS)
    with pytest.warns(SkewanovaWarning, match="there is no residual variation"):
        result = compare(table(labels, np.repeat(scores, 3, axis=2)), design="fixed_runs", **SETTINGS)
    assert result.tests.iloc[0]["test"] == "jackknife"
    assert "nothing is said about further runs" in " ".join(write_methods(result))
    many, one = (each.pairs[each.pairs["role"] == "primary"] for each in (result, single))
    for column in ("estimate", "std_error", "df", "p_value", "p_adjusted", "conf_low"):
        assert many[column].to_numpy() == pytest.approx(one[column].to_numpy())


@pytest.mark.slow
@pytest.mark.parametrize("runs", ["nested", "fixed"])
def test_every_number_of_other_kinds_of_runs_goes_by_one_variance(runs):
    labels, scores = seeds(seed=2)
    result = compare(table(labels, scores), design=f"{runs}_runs", **SETTINGS)
    n_cases, n_models, n_runs = scores.shape
    one = auprec_covariance(labels, scores.reshape(n_cases, -1), deployment_prior=(0.2, 0.4))
    areas = one.estimate.reshape(n_models, n_runs)
    if runs == "nested":
        errors = compare_runs(areas, one.covariance, runs="nested").std_error
    else:  # the covariance of the means over runs, to first order on the angular scale
        means = one.covariance.reshape(n_models, n_runs, n_models, n_runs).mean(axis=(1, 3))
        errors = [np.sqrt(means[i, i] + means[j, j] - 2 * means[i, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    pairs = result.pairs[result.pairs["role"] == "primary"]
    slack = 1e-9 if runs == "nested" else 0.05
    assert sorted(pairs["std_error"]) == pytest.approx(sorted(errors), rel=slack)
    with pytest.warns(SkewanovaWarning, match="planned for the differences observed|Planned"):
        plan = plan_comparison(table(labels, scores), (0.2, 0.4), design=f"{runs}_runs").to_frame()
    assert sorted(plan["std_error"]) == pytest.approx(sorted(pairs["std_error"]), rel=slack)
    assert (plan["n_folds_now"] == n_runs).all()
    assert plan["n_folds"].isna().all() == (runs == "fixed")  # more runs are no part of the claim
    areas = sorted(areas.mean(axis=1), reverse=True)
    assert result.ranking["iauprec"].tolist() == pytest.approx(areas)
    words = "4 separate runs of each model" if runs == "nested" else "4 fixed runs"
    assert f"{words} on one test set" in result.summary(full=True)
