"""compare() on tables with clusters and weights: what leaving out clusters changes, in every frame."""

import re

import numpy as np
import pandas as pd
import pytest

import skewanova as sa
from skewanova import compare, read_scores
from skewanova.inference import auprec_covariance, compare_runs, compare_test_set
from skewanova.inference.sampling import Sample

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")

RANGE = (0.2, 0.4)
SETTINGS = {"deployment_prior": RANGE, "at_priors": (0.7, 0.3)}
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


def table(positive, scores, **columns):
    rows = pd.DataFrame({"fold": 1, "case": np.arange(len(positive)), "y_true": positive}).assign(**columns)
    parts = (rows.assign(model=m, y_score=s) for m, s in zip(MODELS, scores.T, strict=True))
    return pd.concat(parts, ignore_index=True).sample(frac=1, random_state=5)


def compared(frame):
    return compare(read_scores(frame), **SETTINGS)


def assert_alike(result, other, *, rtol=1e-7):
    for name in FRAMES:
        frames = [each.tables[name] for each in (result, other)]
        if name == "assumptions":  # the share of rows at the best score counts rows
            frames = [frame[frame["check"] != "share_at_best_score"] for frame in frames]
        pd.testing.assert_frame_equal(*frames, rtol=rtol, atol=1e-9, obj=name)


@pytest.fixture(scope="module")
def clustered():
    positive, scores, cluster, _ = sample()
    return positive, scores, cluster, compared(table(positive, scores, cluster=cluster))


def test_clusters_of_one_and_weights_are_rows():
    positive, scores, *_ = sample(60)
    names = [f"c{i}" for i in np.random.default_rng(1).permutation(len(positive))]
    assert_alike(compared(table(positive, scores, cluster=names)), compared(table(positive, scores)))
    positive, scores, cluster, weight = sample(60)
    row = np.repeat(np.arange(len(positive)), weight)
    both = compared(table(positive, scores, weight=weight, cluster=cluster))
    assert_alike(both, compared(table(positive[row], scores[row], cluster=cluster[row])))


def test_the_tests_are_those_of_the_public_function(clustered):
    positive, scores, cluster, result = clustered
    twin = compare_test_set(positive, scores, deployment_prior=RANGE, models=MODELS, cluster=cluster)
    row = result.tests.iloc[0]
    assert row["p_value"] == pytest.approx(twin.p_omnibus, rel=1e-9)
    assert row["df_error"] == pytest.approx(twin.df_omnibus, rel=1e-9)
    pairs = result.pairs[result.pairs["role"] == "primary"]
    for column, known in (
        ("std_error", twin.std_error), ("df", twin.df_error), ("p_adjusted", twin.p_adjusted)
    ):  # fmt: skip
        np.testing.assert_allclose(pairs[column], known, rtol=1e-9)


def test_clusters_stand_in_the_words_and_in_every_standard_error(clustered):
    *_, result = clustered
    text = result.summary(10_000, full=True)
    n_clusters = result.design.n_clusters
    assert f"cases in {n_clusters} clusters" in text
    assert result.settings["n_clusters"] == n_clusters
    positive, scores, cluster, result = clustered
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
    result = compare(read_scores(table(positive, scores, cluster=cluster)), 0.6, at_priors=(0.6,))
    assert result.design.population == "these fitted models on further clusters"
    assert result.verdict.how_sure.endswith(f"For {result.design.population}.")
    positive, scores, cluster, _ = sample(24)
    checks = compared(table(positive, scores, cluster=cluster)).tables["assumptions"].set_index("check")
    held = np.bincount(cluster[positive])
    assert checks.loc["positives", "statistic"] == pytest.approx(held.sum() ** 2 / (held @ held), rel=1e-9)
    assert "clusters that hold one" in checks.loc["positives", "advice"]
    positive, scores, cluster, _ = sample(40)
    n_units = len(np.unique(cluster[positive]))
    frame = table(positive, scores, cluster=cluster)
    tables = read_scores(frame), read_scores(frame.drop(columns="cluster"))
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
    result = compared(table(positive, scores, cluster=cluster))
    assert set(notes) <= set(result.warnings)
    assert any("effective clusters with negatives (clusters / skew)" in note for note in result.warnings)
    assert not any("effective negatives" in note for note in result.warnings)
    assert re.match(r"No choice: .*\([\d.]+ clusters with positives\)", result.verdict.choose)


def test_a_class_in_one_cluster_has_no_test_and_areas_in_folds_are_weighted():
    positive, scores, *_ = sample(20)
    result = compared(table(positive, scores, cluster=np.where(positive, 0, np.arange(len(positive)) + 1)))
    assert result.pairs["p_value"].isna().all()
    assert any("the only cluster with positive cases" in note for note in result.warnings)
    positive, scores, _, weight = sample(60)
    fold = np.arange(len(positive)) % 3 + 1
    row = np.repeat(np.arange(len(positive)), weight)
    weighted = compared(table(positive, scores, weight=weight, fold=fold))
    repeated = compared(table(positive[row], scores[row], fold=fold[row]))
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
    runs = [table(positive, scores[:, j::3], **sample_of).assign(fold=j + 1) for j in range(3)]
    result = compared(pd.concat(runs, ignore_index=True))
    assert (result.design.kind, result.design.n_clusters) == ("runs", cluster.max() + 1)
    one = auprec_covariance(positive, scores, deployment_prior=RANGE, cluster=cluster, sample_weight=weight)
    df = Sample(positive, cluster, weight).df
    twin = compare_runs(one.estimate.reshape(3, 3), one.covariance, models=MODELS, case_df=df)
    assert result.tests["p_value"].iloc[0] == pytest.approx(twin.p_omnibus, rel=1e-9)
    pairs = result.pairs[result.pairs["role"] == "primary"]
    assert sorted(pairs["std_error"]) == pytest.approx(sorted(twin.std_error), rel=1e-9)
