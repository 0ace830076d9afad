"""compare() over cases: of one test set, of clusters and weights, and of several runs on one test set."""

import itertools
import re

import numpy as np
import pandas as pd
import pytest
from by_statsmodels import adjusted_by_statsmodels
from fold_tables import score_rows
from matplotlib.figure import Figure
from scipy import stats

import skewanova as sa
from skewanova import InputError, SkewanovaWarning, auprec_score, compare
from skewanova.comparison.cases import check_sizes
from skewanova.decision.joint_curves import joint_curves
from skewanova.evaluation import auprec_intervals
from skewanova.inference import auprec_covariance, compare_runs, compare_test_set, sampling
from skewanova.inference.case_deviations import compute_r_factor, symmetric_root
from skewanova.inference.runs import DegreesOfFreedom, run_mean_errors
from skewanova.priors.evidence import Support
from skewanova.report.publication import write_methods
from skewanova.report.sentences import write_curve_sentences

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")

RANGE = (0.2, 0.4)
SETTINGS = {"deployment_prior": RANGE, "at_priors": (0.5, 0.2)}


def cases(n=120, m=600, quality=(1.5, 1.2, 0.6), seed=0):
    """Labels, and correlated scores of one column a model."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [n, m])
    shared = rng.normal(size=(n + m, 1))
    noise = rng.normal(size=(n + m, len(quality)))
    return labels, labels[:, None] * np.array(quality) + (shared + noise) / np.sqrt(2)


def table(labels, scores, names=("low", "top", "mid")):
    columns = zip(names, scores.T, strict=True)
    parts = [score_rows(name, 1, labels, column, case=np.arange(len(labels))) for name, column in columns]
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def found():
    labels, scores = cases()
    return labels, scores, compare(table(labels, scores, ("top", "mid", "low")), **SETTINGS)


def test_the_primary_and_its_pairs_are_those_of_one_set_then_pairs_at_each_prior(found):
    labels, scores, result = found
    twin = compare_test_set(labels, scores, deployment_prior=RANGE, area_estimator="trapezoid")
    (row,) = result.tests.to_dict("records")
    assert [row[k] for k in ("test", "role", "response", "term", "df")] == [
        "jackknife", "primary", "iauprec", "model", 2,
    ]  # fmt: skip
    assert row["statistic"] == pytest.approx(twin.f_omnibus, rel=1e-9)
    assert row["df_error"] == pytest.approx(twin.df_omnibus, rel=1e-9)
    expected = stats.f.sf(twin.f_omnibus, 2, min(twin.df_omnibus, 1e12))
    assert row["p_value"] == pytest.approx(expected, rel=1e-6)
    assert result.design.kind == "test_set"
    assert "F over cases of one test set of IAUPREC: F(2, " in result.conclusions[0]
    assert result.pairs["test"].unique().tolist() == ["jackknife_holm"]
    primary = result.pairs[result.pairs["role"] == "primary"]
    pairs = [["top", "mid"], ["top", "low"], ["mid", "low"]]
    assert primary[["model_a", "model_b"]].to_numpy().tolist() == pairs
    for column in ("estimate", "std_error", "p_adjusted"):
        known = getattr(twin, "difference" if column == "estimate" else column)
        np.testing.assert_allclose(primary[column], known, rtol=1e-12)
    before = np.minimum(stats.rankdata(primary["p_value"]) - 1, primary["reject"].sum())
    level = 0.05 / (3 - before)  # of the step that decided each pair
    reach = stats.t.isf(level / 2, primary["df"]) * primary["std_error"]
    np.testing.assert_allclose(primary["conf_low"], primary["estimate"] - reach, rtol=1e-9)
    posterior = result.tables["equivalence"][["p_a_ahead", "p_b_ahead"]].to_numpy().T
    lead = np.array([twin.difference, -twin.difference]) - 0.01
    np.testing.assert_allclose(posterior, stats.t.cdf(lead / twin.std_error, twin.df_error), rtol=1e-9)
    ceiling = result.tables["assumptions"].set_index("check")["statistic"]["ceiling"]
    assert ceiling == pytest.approx((1 - twin.estimate[0]) / np.sqrt(twin.covariance[0, 0]))
    limit = check_sizes(Support(30.0, 30.0), 0.5, np.array([0.5]), 0.25, clustered=False)
    assert {*limit["advice"], *result.tables["assumptions"]["advice"]} == {""}
    assert all(frame.index.equals(pd.RangeIndex(len(frame))) for frame in result.tables.values())
    checks = result.pairs[result.pairs["role"] == "secondary"]
    assert checks["prior"].tolist() == [0.5] * 3 + [0.2] * 3
    at = compare_test_set(labels, scores, prior=0.2, area_estimator="trapezoid")
    np.testing.assert_allclose(checks["std_error"].iloc[3:], at.std_error, rtol=1e-12)


def test_a_control_is_the_family_on_one_set(found):
    labels, scores, result = found
    other = compare(table(labels, scores, ("top", "mid", "low")), **SETTINGS, control="top")
    every = result.pairs[result.pairs["model_a"] == "top"]
    assert other.pairs[["model_a", "model_b"]].to_numpy().tolist() == [["mid", "top"], ["low", "top"]] * 3
    assert set(other.pairs["test"]) == {"jackknife_holm_control"}
    for column, sign in (("estimate", -1), ("statistic", -1), ("std_error", 1), ("p_value", 1)):
        np.testing.assert_array_equal(other.pairs[column], sign * every[column])
    primary = other.pairs.iloc[:2]
    np.testing.assert_allclose(primary["p_adjusted"], adjusted_by_statsmodels(primary["p_value"]), rtol=1e-12)
    assert other.ranking["group"].tolist() == ["control", "", "behind"]
    pairs = other.tables["equivalence"][["model_a", "model_b"]].to_numpy().tolist()
    assert pairs == [["mid", "top"], ["low", "top"]]
    assert "mid and top were not found to differ" in other.conclusions[1]
    assert "top is ahead of low by" in other.conclusions[2]
    assert (other.tables["difference_curves"][["model_a", "model_b"]] == "top").any(axis=1).all()
    assert len(other.tables["plans"]) == 2
    assert "control is not used" not in " ".join(other.warnings)
    with pytest.raises(InputError, match=r"^`pairwise` must be 'auto' here, because this design tests"):
        compare(table(labels, scores), **SETTINGS, pairwise="max_t")


def test_ranking_and_difference_curves_have_intervals_over_cases(found):
    labels, scores, result = found
    ranking = result.ranking
    assert ranking["model"].tolist() == ["top", "mid", "low"]
    assert ranking["std"].isna().all()
    assert ranking["p_best"].sum() == pytest.approx(1)
    top = result.pairs.iloc[0]  # of three models the third is far behind: a normal tail is left
    expected = stats.norm.cdf(top["estimate"] / top["std_error"])
    assert ranking["p_best"].iloc[0] == pytest.approx(expected, abs=0.03)  # drawn in by the third's errors
    curves = result.tables["difference_curves"]
    pair = curves[(curves["model_a"] == "top") & (curves["model_b"] == "mid")]
    for row in pair.iloc[::10].itertuples():
        one = compare_test_set(labels, scores[:, :2], prior=row.prior, area_estimator="trapezoid")
        assert row.std_error == pytest.approx(one.std_error[0], rel=1e-9)
        areas = [auprec_score(labels, column, prior=row.prior) for column in scores[:, :2].T]
        assert row.estimate == pytest.approx(areas[0] - areas[1], abs=1e-12)
    reach = pair["conf_high"] - pair["estimate"]
    np.testing.assert_array_equal(pair["reject"], np.abs(pair["estimate"]) > reach)
    assert (stats.norm.isf(0.025) * pair["std_error"] < reach).all()


def test_bands_of_two_models_nearly_alike_or_with_few_positives():
    labels, scores = cases(quality=(1.4, 1.0))
    result = compare(table(labels, scores, ("a", "b")), deployment_prior=0.4, at_priors=(0.4,))
    (row,) = result.tables["difference_curves"].to_dict("records")
    one = compare_test_set(labels, scores, prior=0.4, area_estimator="trapezoid")
    assert row["conf_high"] == pytest.approx(one.conf_high[0], rel=0.01)
    assert row["p_adjusted"] == pytest.approx(one.p_value[0], abs=0.01)
    # Their covariance would lose it: squared, it is below what a double adds to the rest.
    rng = np.random.default_rng(0)
    values, moved = rng.normal(size=(60, 2)), 1e-9 * rng.normal(size=60)
    root = symmetric_root(compute_r_factor([np.column_stack([values, values[:, 0] + moved])]))
    expected = np.sqrt((moved**2).sum())
    assert np.linalg.norm(root @ [-1, 0, 1]) == pytest.approx(expected, rel=1e-5)
    labels, scores = cases(n=60, m=6000, quality=(0.3, 0.2))
    result = compare(table(labels, scores, ("a", "b")), deployment_prior=0.02, at_priors=(0.5, 0.02))
    row = result.tables["assumptions"].set_index("check").loc["positives_times_area"]
    assert row["statistic"] == pytest.approx(60 * result.tables["iauprec"]["iauprec"].min())
    assert row["statistic"] < 10
    assert row["advice"].endswith("below 10: tests may reject too often; add positives")
    small = "Positives times the smallest area are below 10: tests may reject too often; add positives."
    assert result.verdict.weakest_point == small


def test_priors_that_the_set_cannot_speak_for_are_not_tested():
    labels, scores = cases()
    with pytest.warns(SkewanovaWarning, match=r"at prior 0\.01 there are 6\.06 effective negatives"):
        result = compare(table(labels, scores), deployment_prior=RANGE, at_priors=(0.5, 0.01))
    curves = result.tables["difference_curves"]
    support = 600 * curves["prior"] / (1 - curves["prior"])
    np.testing.assert_array_equal(curves["p_adjusted"].notna(), support >= 30)
    rare = result.pairs[result.pairs["prior"] == 0.01]
    assert rare["p_adjusted"].isna().all()
    assert not rare["reject"].any()
    assert rare["estimate"].notna().all()
    low = result.tables["assumptions"].set_index("check").loc["effective_negatives"]
    assert low["statistic"] == pytest.approx(600 * 0.2 / 0.8)
    labels, scores = cases(n=20, m=60)
    result = compare(table(labels, scores), deployment_prior=(0.1, 0.2), at_priors=(0.2,))
    assert result.tables["difference_curves"]["p_adjusted"].isna().all()
    assert result.conclusions == ("No test is reliable here, so no difference is claimed.",)
    assert write_curve_sentences(result.tables, {name: name for name in result.ranking["model"]}) == [
        "Differences along the prior could not be tested, because the test set is too small for any of "
        "the priors."
    ]
    assert result.tables["assumptions"].set_index("check")["advice"]["positives"].startswith("few positives")
    assert any(text.endswith("wide on purpose; add negatives and positives") for text in result.warnings)


def test_models_alike_and_sets_too_small_have_no_test():
    labels, scores = cases(n=60, m=300, quality=(1.2,))
    with pytest.warns(SkewanovaWarning, match="change alike when any case"):
        result = compare(table(labels, np.hstack([scores, scores]), ("a", "b")), **SETTINGS)
    assert np.isnan(result.tests["p_value"].iloc[0])
    assert not result.pairs["reject"].any()
    assert result.ranking["p_best"].tolist() == [0.5, 0.5]
    assert result.tables["equivalence"]["p_equal"].tolist() == [1.0]
    labels, scores = cases(n=1, m=600)
    result = compare(table(labels, scores), **SETTINGS)
    assert np.isnan(result.tests["p_value"].iloc[0])
    assert not (result.pairs["reject"].any())
    assert not (result.tables["difference_curves"]["reject"].any())
    assert result.ranking["p_best"].isna().all()
    assert set(result.tables["leaders"]["contender"]) == {"low", "top", "mid"}
    assert result.tables["crossings"][["conf_low", "conf_high"]].isna().all(axis=None)
    assert result.verdict.state == "untrusted"
    assert "Choose" not in result.verdict.choose
    labels = np.repeat([1, 0], 3)
    result = compare(table(labels, np.column_stack([labels, np.ones(6)]), ("a", "b")), **SETTINGS)
    assert not result.pairs["reject"].any()
    assert result.tables["equivalence"][["p_a_ahead", "p_equal", "p_b_ahead"]].isna().all(axis=None)


CLUSTERS = {"deployment_prior": RANGE, "at_priors": (0.7, 0.3)}
MODELS = ("top", "mid", "low")

#: Frames of a comparison that go by the covariance over cases.
FRAMES = (
    "auprec", "tests", "pairs", "ranking", "crossings", "leaders", "decisions", "choices", "support",
    "plans", "difference_curves", "equivalence", "assumptions", "by_prior",
)  # fmt: skip


def sample(n_clusters=150, *, seed=0):
    """Labels, scores of three models, clusters that hold one or both classes, and whole weights."""
    rng = np.random.default_rng(seed)
    cluster = np.sort(rng.integers(0, n_clusters, size=5 * n_clusters))
    positive = rng.random(len(cluster)) < np.array([0.0, 0.4, 0.8])[cluster % 3]
    own = rng.normal(size=(n_clusters, 3))[cluster] + rng.normal(size=(len(cluster), 3))
    scores = positive[:, None] * np.array([2.4, 2.0, 1.2]) + own
    return positive, scores, cluster, rng.integers(1, 4, len(cluster))


def rows_of(positive, scores, **columns):
    rows = pd.DataFrame({"fold": 1, "case": np.arange(len(positive)), "y_true": positive}).assign(**columns)
    parts = (rows.assign(model=m, y_score=s) for m, s in zip(MODELS, scores.T, strict=True))
    return pd.concat(parts, ignore_index=True).sample(frac=1, random_state=5)


def compared(frame):
    return sa.compare(sa.read_scores(frame), **CLUSTERS)


def assert_alike(result, other, *, rtol=1e-7):
    for name in FRAMES:
        frames = [each.tables[name] for each in (result, other)]
        if name == "assumptions":  # the share of rows at the best score counts rows
            frames = [frame[frame["check"] != "share_at_best_score"] for frame in frames]
        pd.testing.assert_frame_equal(*frames, rtol=rtol, atol=1e-9, obj=name)


@pytest.fixture(scope="module")
def clustered():
    positive, scores, cluster, _ = sample()
    return positive, scores, cluster, compared(rows_of(positive, scores, cluster=cluster))


def test_clusters_of_one_and_weights_are_rows():
    positive, scores, *_ = sample(60)
    names = [f"c{i}" for i in np.random.default_rng(1).permutation(len(positive))]
    assert_alike(compared(rows_of(positive, scores, cluster=names)), compared(rows_of(positive, scores)))
    positive, scores, cluster, weight = sample(60)
    row = np.repeat(np.arange(len(positive)), weight)
    both = compared(rows_of(positive, scores, weight=weight, cluster=cluster))
    assert_alike(both, compared(rows_of(positive[row], scores[row], cluster=cluster[row])))


def test_the_tests_are_those_of_the_public_function_and_clusters_stand_in_every_error(clustered):
    positive, scores, cluster, result = clustered
    twin = compare_test_set(positive, scores, deployment_prior=RANGE, models=MODELS, cluster=cluster)
    row = result.tests.iloc[0]
    assert row["p_value"] == pytest.approx(twin.p_omnibus, rel=1e-9)
    assert row["df_error"] == pytest.approx(twin.df_omnibus, rel=1e-9)
    pairs = result.pairs[result.pairs["role"] == "primary"]
    expected = {"std_error": twin.std_error, "df": twin.df_error, "p_adjusted": twin.p_adjusted}
    for column, known in expected.items():
        np.testing.assert_allclose(pairs[column], known, rtol=1e-9)
    n_clusters = result.design.n_clusters
    assert f"cases in {n_clusters} clusters" in result.summary(10_000, full=True)
    assert "Interval: over samples of clusters, for" in result.summary(10_000, full=True)
    assert result.settings["n_clusters"] == n_clusters
    found = auprec_covariance(positive, scores, deployment_prior=RANGE, cluster=cluster)
    contrast = np.array([1, -1, 0])
    error = np.sqrt(contrast @ found.covariance @ contrast)
    assert result.tables["plans"]["std_error"].iloc[0] == pytest.approx(error, rel=1e-9)
    interval = sa.confidence_interval(positive, scores[:, 0], deployment_prior=RANGE, cluster=cluster)
    shown = result.ranking.iloc[0][["conf_low", "conf_high"]].tolist()
    assert shown == pytest.approx([interval.conf_low, interval.conf_high], rel=1e-9)
    at = sa.inference.compare_test_set(positive, scores, prior=0.7, models=MODELS, cluster=cluster)
    curve = result.tables["difference_curves"]
    last = curve[(curve["model_a"] == "top") & (curve["model_b"] == "mid")].iloc[-1]
    assert last["prior"] == pytest.approx(0.7)
    assert last["std_error"] == pytest.approx(at.std_error[0], rel=1e-9)


def test_the_verdict_and_thresholds_count_clusters():
    positive, scores, cluster, _ = sample(400)
    result = sa.compare(sa.read_scores(rows_of(positive, scores, cluster=cluster)), 0.6, at_priors=(0.6,))
    assert result.design.population == "these fitted models on further clusters"
    assert result.verdict.how_sure.endswith(f"For {result.design.population}.")
    positive, scores, cluster, _ = sample(24)
    checks = compared(rows_of(positive, scores, cluster=cluster)).tables["assumptions"].set_index("check")
    held = np.bincount(cluster[positive])
    assert checks.loc["positives", "statistic"] == pytest.approx(held.sum() ** 2 / (held @ held), rel=1e-9)
    assert "clusters that hold one" in checks.loc["positives", "advice"]
    positive, scores, cluster, _ = sample(40)
    n_units = len(np.unique(cluster[positive]))
    frame = rows_of(positive, scores, cluster=cluster)
    tables = sa.read_scores(frame), sa.read_scores(frame.drop(columns="cluster"))
    rows = (sa.threshold_table(table, threshold=1.0, at_priors=(0.5,)) for table in tables)
    recall, other = (each[each["measure"] == "recall"].iloc[0] for each in rows)
    assert recall["estimate"] == other["estimate"]
    width = (recall["conf_high"] - recall["conf_low"]) / (other["conf_high"] - other["conf_low"])
    assert width == pytest.approx(np.sqrt(positive.sum() / n_units), rel=0.25)


def test_few_clusters_of_a_class_have_a_warning_that_counts_them():
    positive, scores, *_ = sample(60)
    cluster = np.where(np.arange(len(positive)) < 200, 0, np.arange(len(positive)) % 20 + 1)
    with pytest.warns(sa.SkewanovaWarning) as raised:
        compare_test_set(positive, scores, deployment_prior=RANGE, cluster=cluster)
    notes = sorted(str(warning.message) for warning in raised)
    for side, note in zip((False, True), notes, strict=True):
        cases = np.bincount(cluster[positive == side])
        count, name = cases.sum() ** 2 / (cases @ cases), "positives" if side else "negatives"
        assert note.startswith(f"the clusters with {name} count as {count:.3g} of equal size, but 10 are ")
    result = compared(rows_of(positive, scores, cluster=cluster))
    assert set(notes) <= set(result.warnings)
    assert any("effective clusters with negatives (clusters / skew)" in note for note in result.warnings)
    assert not any("effective negatives" in note for note in result.warnings)
    assert re.match(r"No choice: .*\([\d.]+ clusters with positives\)", result.verdict.choose)


def test_a_class_in_one_cluster_has_no_test_and_areas_in_folds_are_weighted():
    positive, scores, *_ = sample(20)
    result = compared(rows_of(positive, scores, cluster=np.where(positive, 0, np.arange(len(positive)) + 1)))
    assert result.pairs["p_value"].isna().all()
    assert any("the only cluster with positive cases" in note for note in result.warnings)
    positive, scores, _, weight = sample(60)
    fold = np.arange(len(positive)) % 3 + 1
    row = np.repeat(np.arange(len(positive)), weight)
    weighted = compared(rows_of(positive, scores, weight=weight, fold=fold))
    repeated = compared(rows_of(positive[row], scores[row], fold=fold[row]))
    pd.testing.assert_frame_equal(weighted.tables["auprec"], repeated.tables["auprec"], rtol=1e-9)
    columns = ["model", "fold", "iauprec", "auc"]
    pd.testing.assert_frame_equal(weighted.tables["iauprec"][columns], repeated.tables["iauprec"][columns])
    assert weighted.design.weighted
    assert "cases weighted" in weighted.design.describe()


def test_runs_leave_out_clusters_too():
    positive, _, cluster, weight = sample(60)
    rng = np.random.default_rng(4)
    noise = rng.normal(size=(cluster.max() + 1, 9))[cluster] + rng.normal(size=(len(cluster), 9))
    scores = positive[:, None] * np.repeat([1.6, 1.4, 1.2], 3) + noise
    sample_of = {"cluster": cluster, "weight": weight}
    runs = [rows_of(positive, scores[:, j::3], **sample_of).assign(fold=j + 1) for j in range(3)]
    result = compared(pd.concat(runs, ignore_index=True))
    assert (result.design.kind, result.design.n_clusters) == ("runs", cluster.max() + 1)
    one = auprec_covariance(positive, scores, deployment_prior=RANGE, cluster=cluster, sample_weight=weight)
    df = sampling.Sample(positive, cluster, weight).df
    twin = compare_runs(one.estimate.reshape(3, 3), one.covariance, models=MODELS, case_df=df)
    assert result.tests["p_value"].iloc[0] == pytest.approx(twin.p_omnibus, rel=1e-9)
    pairs = result.pairs[result.pairs["role"] == "primary"]
    assert sorted(pairs["std_error"]) == pytest.approx(sorted(twin.std_error), rel=1e-9)


RUNS = {"deployment_prior": (0.2, 0.4), "at_priors": (0.5, 0.3)}


def seeds(n_models=3, n_runs=4, n=60, m=300, *, quality=1.2, seed=0):
    """Labels, and scores (n_cases, n_models, n_runs) of learners trained anew with other seeds."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [n, m])
    shared, learner = rng.normal(size=(n + m, 1, 1)), rng.normal(size=(n + m, n_models, 1))
    noise = 0.7 * rng.normal(size=(n + m, n_models, n_runs))
    drawn = np.broadcast_to(quality, n_models)[:, None] + 0.15 * rng.normal(size=(n_models, n_runs))
    return labels, labels[:, None, None] * drawn + 0.7 * (shared + learner) + noise


def runs_of(labels, scores):
    n_cases, n_models, n_runs = scores.shape
    rows = pd.DataFrame({"case": np.arange(n_cases), "y_true": labels})
    cells = itertools.product(range(n_models), range(n_runs))
    parts = (rows.assign(model=f"m{m}", fold=run + 1, y_score=scores[:, m, run]) for m, run in cells)
    return pd.concat(parts, ignore_index=True).sample(frac=1, random_state=0)


@pytest.fixture(scope="module")
def compared_runs():
    labels, scores = seeds()
    return labels, scores, sa.compare(runs_of(labels, scores), **RUNS)


def public(labels, scores, target):
    n_cases, n_models, n_runs = scores.shape
    one = auprec_covariance(labels, scores.reshape(n_cases, -1), deployment_prior=target)
    fewest = min(labels.sum(), (1 - labels).sum())
    return compare_runs(one.estimate.reshape(n_models, n_runs), one.covariance, case_df=fewest - 1)


def test_the_primary_and_its_variance_are_those_of_the_public_function(compared_runs):
    labels, scores, result = compared_runs
    expected = public(labels, scores, RUNS["deployment_prior"])
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
    errors, expected = expected.std_error, expected.components
    pd.testing.assert_frame_equal(result.tables["components"].round(9), expected.round(9))
    assert result.tables["components"]["share"].sum() == pytest.approx(1)
    assert "| run |" in result.to_markdown("components")
    ax = result.plot.components(ax=Figure().subplots())
    assert [text.get_text() for text in ax.get_yticklabels()] == expected["component"].tolist()
    assert [bar.get_width() for bar in ax.patches] == pytest.approx((100 * expected["share"]).tolist())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["more runs help", "more cases help"]
    plan = sa.plan_comparison(runs_of(labels, scores), (0.2, 0.4), difference=0.1).to_frame()
    assert sorted(plan["std_error"]) == pytest.approx(sorted(errors))
    assert plan["run_share"].between(0, 1).all()
    assert (plan["case_factor"] > 0).all()
    assert (plan["limit_power"] < 1).all()  # however many runs


def test_bands_of_means_know_that_runs_are_few(compared_runs):
    """Their deviate is t of the interval's degrees of freedom, with as much beyond as one normal value."""
    labels, scores, result = compared_runs
    n_cases, n_models, n_runs = scores.shape
    names = [int(name[1:]) for name in result.evaluation.models]
    one = auprec_covariance(labels, scores.reshape(n_cases, -1), deployment_prior=0.3)
    areas = one.estimate.reshape(n_models, n_runs)
    _, df = run_mean_errors(areas, one.covariance, DegreesOfFreedom(case_df=59))
    bands = sa.decision.auprec_bands(result.evaluation, [0.3])
    error = np.linalg.norm(joint_curves(result.evaluation, np.array([0.3])).deviations[..., 0], axis=0)
    normal = stats.norm.isf(stats.t.sf((bands["conf_high"] - bands["auprec"]).to_numpy() / error, df[names]))
    assert normal == pytest.approx(np.full(n_models, normal[0]), rel=1e-6)
    assert 2.2 < normal[0] < 2.5  # of three models
    assert df.min() < 30


def test_the_spread_over_runs_in_ranking_and_words(compared_runs):
    """Cases vary too, so t over runs would cover too seldom."""
    labels, scores, result = compared_runs
    for frame in (auprec_intervals(result.evaluation), sa.decision.rank_models(result.evaluation)):
        assert frame[["conf_low", "conf_high"]].isna().all(axis=None)
        assert frame.drop(columns=["conf_low", "conf_high"]).notna().any(axis=None)
    expected = public(labels, scores, RUNS["deployment_prior"])
    best = int(np.argmax(expected.estimate))
    top = result.ranking.iloc[0]
    assert top["model"] == f"m{best}"
    limits = expected.model_low[best], expected.model_high[best]
    assert (top["conf_low"], top["conf_high"]) == pytest.approx(limits)
    error = (top["conf_high"] - top["iauprec"]) / stats.norm.isf(0.025)
    ceiling = result.tables["assumptions"].set_index("check")["statistic"]["ceiling"]
    assert ceiling == pytest.approx((1 - top["iauprec"]) / error)
    assert all(frame.index.equals(pd.RangeIndex(len(frame))) for frame in result.tables.values())
    text = " ".join(result.summary(full=True).split())
    assert "4 runs on one test set (every run tests the same cases)" in text
    assert "Interval: t over runs and cases, for learners over further runs and cases;" in text
    assert "3 models, 4 runs, level" in text
    assert "Runs: 4 runs on one test set" in text
    assert "(standard deviation over runs)" in text
    assert "training data they share" not in text


def test_effects_of_one_run_and_runs_that_are_all_the_same(compared_runs):
    _, _, result = compared_runs
    areas = result.tables["iauprec"].pivot(index="fold", columns="model", values="iauprec")
    for row in result.tables["effects"].to_dict("records"):
        runs = (areas[row["model_a"]] - areas[row["model_b"]]).var(ddof=1)  # a J-th of it is in the error
        spread = np.sqrt(row["std_error"] ** 2 + (1 - 1 / len(areas)) * runs)
        assert row["effect"] == pytest.approx(row["estimate"] / spread, rel=1e-9)
        assert row["effect_low"] < row["effect"] < row["effect_high"]
    labels, scores = seeds(n_runs=1, seed=3)
    single = sa.compare(runs_of(labels, scores), **RUNS)
    with pytest.warns(sa.SkewanovaWarning, match="there is no residual variation"):
        result = sa.compare(runs_of(labels, np.repeat(scores, 3, axis=2)), design="fixed_runs", **RUNS)
    assert result.tests.iloc[0]["test"] == "jackknife"
    assert "nothing is said about further runs" in " ".join(write_methods(result))
    many, one = (each.pairs[each.pairs["role"] == "primary"] for each in (result, single))
    for column in ("estimate", "std_error", "df", "p_value", "p_adjusted", "conf_low"):
        assert many[column].to_numpy() == pytest.approx(one[column].to_numpy())
    for column in ("conf_low", "conf_high"):
        assert result.ranking[column].tolist() == pytest.approx(single.ranking[column].tolist())


@pytest.mark.slow
@pytest.mark.parametrize("runs", ["nested", "fixed"])
def test_every_number_of_other_kinds_of_runs_goes_by_one_variance(runs):
    labels, scores = seeds(seed=2)
    result = sa.compare(runs_of(labels, scores), design=f"{runs}_runs", **RUNS)
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
    with pytest.warns(sa.SkewanovaWarning, match="planned for the differences observed|Planned"):
        plan = sa.plan_comparison(runs_of(labels, scores), (0.2, 0.4), design=f"{runs}_runs").to_frame()
    assert sorted(plan["std_error"]) == pytest.approx(sorted(pairs["std_error"]), rel=slack)
    assert (plan["n_folds_now"] == n_runs).all()
    assert plan["n_folds"].isna().all() == (runs == "fixed")  # more runs are no part of the claim
    areas = sorted(areas.mean(axis=1), reverse=True)
    assert result.ranking["iauprec"].tolist() == pytest.approx(areas)
    by_run = result.tables["iauprec"].groupby("model", observed=True)["iauprec"]
    pairs = itertools.combinations(by_run.var().reindex(result.ranking["model"]), 2)
    over_runs = [a + b if runs == "nested" else 0.0 for a, b in pairs]
    effects = result.tables["effects"]
    spread = np.sqrt(effects["std_error"] ** 2 + (1 - 1 / n_runs) * np.array(over_runs))
    np.testing.assert_allclose(effects["effect"], effects["estimate"] / spread, rtol=1e-9)
    words = "4 separate runs of each model" if runs == "nested" else "4 fixed runs"
    assert f"{words} on one test set" in result.summary(full=True)
