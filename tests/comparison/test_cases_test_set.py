import re

import numpy as np
import pandas as pd
import pytest
from by_statsmodels import adjusted_by_statsmodels
from scipy import stats

from skewanova import InputError, SkewanovaWarning, auprec_score, compare
from skewanova.inference import compare_test_set
from skewanova.inference.case_deviations import compute_r_factor, symmetric_root
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


def table(labels, scores, names=("low", "top", "mid"), *, case=True):
    parts = []
    for name, column in zip(names, scores.T, strict=True):
        frame = pd.DataFrame({"model": name, "fold": 1, "y_true": labels, "y_score": column})
        parts.append(frame.assign(case=np.arange(len(labels))) if case else frame)
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def found():
    labels, scores = cases()
    return labels, scores, compare(table(labels, scores, ("top", "mid", "low")), **SETTINGS)


def test_the_primary_is_the_f_test_of_one_set(found):
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


def test_pairs_are_the_one_set_comparisons_primary_first_then_at_each_prior(found):
    labels, scores, result = found
    assert result.pairs["test"].unique().tolist() == ["jackknife_holm"]
    primary = result.pairs[result.pairs["role"] == "primary"]
    twin = compare_test_set(labels, scores, deployment_prior=RANGE, area_estimator="trapezoid")
    pairs = [["top", "mid"], ["top", "low"], ["mid", "low"]]
    assert primary[["model_a", "model_b"]].to_numpy().tolist() == pairs
    for column in ("estimate", "std_error", "p_adjusted"):
        known = getattr(twin, "difference" if column == "estimate" else column)
        np.testing.assert_allclose(primary[column], known, rtol=1e-12)
    before = np.minimum(stats.rankdata(primary["p_value"]) - 1, primary["reject"].sum())
    level = 0.05 / (3 - before)  # of the step that decided each pair
    reach = stats.t.isf(level / 2, primary["df"]) * primary["std_error"]
    np.testing.assert_allclose(primary["conf_low"], primary["estimate"] - reach, rtol=1e-9)
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
    _, _, result = found
    ranking = result.ranking
    assert ranking["model"].tolist() == ["top", "mid", "low"]
    assert ranking["std"].isna().all()
    assert ranking["p_best"].sum() == pytest.approx(1)
    top = result.pairs.iloc[0]  # of three models the third is far behind: a normal tail is left
    expected = stats.norm.cdf(top["estimate"] / top["std_error"])
    assert ranking["p_best"].iloc[0] == pytest.approx(expected, abs=0.03)  # drawn in by the third's errors
    labels, scores, result = found
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


def test_summary_and_folder_of_one_set(found, undrawn, tmp_path):
    _, _, result = found
    text = result.summary(full=True)
    assert "\n\n3 models, one test set, level 0.05\n" in text
    assert "Data: one test set (120 positives, 600 negatives)" in text
    assert "standard deviation over folds" not in text
    assert max(map(len, text.splitlines())) <= 80
    html = (result.save(tmp_path / "out") / "report.html").read_text(encoding="utf-8")
    assert "one test set (120 positives, 600 negatives)" in html
    assert re.search(r"\bnan\b", html) is None
