"""The tests over folds that a design leads to, and the split-half variance wherever a mean has one."""

import warnings
from dataclasses import replace
from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from case_values import covariance_of
from fold_tables import draw_rows, fold_tests, random_table
from halved_tables import halved_frame
from loops import each
from messages import expect_error, expect_warning
from scipy import stats

import skewanova as sa
from skewanova.comparison.analysis import (
    choose_datasets_test,
    choose_omnibus_test,
    choose_pairwise_test,
    resolve_pairwise,
)
from skewanova.decision import auprec_bands, difference_curves
from skewanova.decision.joint_curves import iauprec_covariance, joint_curves
from skewanova.inference import equivalence, omnibus_test, posthoc, split_plot_anova
from skewanova.priors.weightings import typical_prior
from skewanova.scores.design import logit_interval

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")  # few cases

OVERLAPPING = ("kfold", "repeated_kfold", "repeated_holdout")


def design(kind, n_folds):
    return sa.FoldDesign(kind, None if kind == "independent" else 0.2, n_folds=n_folds, reason="as stated")


def omnibus(values, kind, priors=(0.5, 0.1)):
    return fold_tests(values, kind, priors).test_models()


@each("n_models", [2, 3, 4, 8])
@each("n_folds", [2, 4, 5, 9, 10, 14, 15, 20, 34, 35])
@each("kind", ["independent", *OVERLAPPING])
def test_primary_test(kind, n_folds, n_models):
    found = fold_tests(random_table(n_folds, n_models), kind).omnibus
    if kind == "independent":
        assert found == "repeated_measures"
    else:
        assert found == ("corrected_hotelling" if n_folds >= 5 * (n_models - 1) else "corrected_gg")


@each(("n_folds", "alpha", "expected"), [
    (2, 0.05, "paired_t"), (8, 0.05, "paired_t"), (9, 0.05, "max_t"), (20, 0.05, "max_t"),
    (8, 0.005, "paired_t"), (9, 0.005, "max_t"), (9, 0.003, "paired_t"),  # 2 ** -8 = .0039
    (9, 2.0**-8, "paired_t"), (12, 0.0005, "max_t"), (11, 0.0005, "paired_t"),
    (20, 1e-4, "paired_t"), (20, 1.1e-4, "max_t"),  # 9,999 random arrangements go down to .0001
])  # fmt: skip
def test_pairs_of_independent_folds(n_folds, alpha, expected):
    assert choose_pairwise_test(design("independent", n_folds), alpha) == expected


@pytest.mark.parametrize(
    ("kind", "primary"), [("independent", "repeated_measures"), ("kfold", "corrected_hotelling")]
)
def test_rows_and_roles(kind, primary):
    found = omnibus(random_table(12, 3), kind)
    assert (found[0].test, found[0].role) == (primary, "primary")
    assert {result.role for result in found[1:]} == {"secondary"}
    split_plot = "repeated_measures" if kind == "independent" else "corrected_gg"
    assert (found[-1].test, found[-1].response) == (split_plot, "auprec")
    expected = ["repeated_measures", "hotelling", "friedman", "sign_flip", "permutation"]
    if kind == "kfold":
        expected += ["corrected_f", "corrected_gg", "corrected_hotelling"]
    assert sorted(result.test for result in found[:-1]) == sorted(expected)


def test_one_prior_has_no_split_plot_and_two_folds_one_p():
    found = omnibus(random_table(12, 3), "kfold", priors=(0.5,))
    assert {result.response for result in found} == {"iauprec"}
    anova, posthoc = primary(run(score_frame(2, "AB")))
    assert anova["test"].tolist() == ["corrected_gg"]
    assert posthoc["p_adjusted"].between(0, 1).all()
    assert anova["p_value"].item() == pytest.approx(posthoc["p_value"].item(), rel=1e-9)


@each("kind", ["independent", "repeated_holdout"])
@each(("n_folds", "n_models"), [(2, 2), (2, 4), (3, 4), (4, 4)])
def test_hotelling_is_left_out_where_folds_are_too_few(kind, n_folds, n_models):
    found = [result.test for result in omnibus(random_table(n_folds, n_models), kind)]
    assert ("hotelling" in found) == (n_folds >= n_models)
    assert ("corrected_hotelling" in found) == (n_folds >= n_models and kind != "independent")


def test_a_warning_says_that_folds_are_not_independent_whatever_the_note_of_the_test():
    tests = fold_tests(random_table(5, 3), "kfold")
    (text,) = replace(tests, options=replace(tests.options, pairwise="games_howell")).list_warnings()
    assert "with 5 folds and 4 models). These folds are not independent: one cross-validation" in text
    assert tests.list_warnings() == []
    stated = replace(tests, primary=("corrected_gg", "corrected_t"))
    assert (stated.omnibus, stated.pairwise) == ("corrected_gg", "corrected_t")


def test_names_of_tests_of_pairs():
    options = fold_tests(random_table(3, 2), "independent").options
    for changed in ({"p_adjust": "bh"}, {"control": "m0"}):
        assert resolve_pairwise(design("independent", 12), replace(options, **changed)) == "paired_t"
    names = [choose_pairwise_test(design(kind, 12), 0.05) for kind in ("independent", "kfold")]
    assert names == ["max_t", "corrected_t"]
    names = [choose_datasets_test(n_sets, n_pairs, 0.05)[0] for n_sets, n_pairs in ((5, 1), (6, 1), (6, 3))]
    assert names == ["paired_t", "wilcoxon", "paired_t"]


@pytest.mark.parametrize("kind", ["independent", "kfold"])
def test_two_identical_models_among_three(kind):
    found = omnibus(random_table(12, 2)[:, [0, 0, 1]], kind)
    assert found[0].test == ("repeated_measures" if kind == "independent" else "corrected_gg")
    assert not [result for result in found if "hotelling" in result.test]
    assert 0 < found[0].to_frame()["p_value"].iloc[0] <= 1


def score_frame(n_folds=6, names="ABC"):
    """Scores of 80 cases in each of disjoint folds; the models differ, a little."""
    shifts = {name: 1.1 + 0.3 * i for i, name in enumerate(names)}
    rng = np.random.default_rng(0)
    return draw_rows(shifts, range(n_folds), np.tile([0, 1], 40), rng, common=0.6, own=0.8, stride=80)


def run(frame, **options):
    return sa.compare(frame, **{"at_priors": (0.5, 0.4, 0.3), "deployment_prior": (0.4, 0.6)} | options)


@cache
def base(n_folds=6, design="auto"):
    return run(score_frame(n_folds), design=design)


def primary(result):
    anova = result.tests[result.tests["role"] == "primary"].reset_index(drop=True)
    return anova, result.pairs[result.pairs["role"] == "primary"].reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("design", ["auto", "independent"])
def test_conclusions_do_not_depend_on_the_grid_of_priors(design):
    few = base(10, design)
    many = run(score_frame(10), design=design, at_priors=np.linspace(0.3, 0.5, 16).round(6).tolist())
    for one, other in zip(primary(few), primary(many), strict=True):
        assert len(one)
        pd.testing.assert_frame_equal(one, other)
    columns = ["rank", "model", "iauprec", "conf_low", "conf_high", "group"]
    pd.testing.assert_frame_equal(few.ranking[columns], many.ranking[columns])
    published = (r.tests.query("test == 'three_way' and term == 'model'") for r in (few, many))
    three_way = [float(rows["p_value"].iloc[0]) for rows in published]
    assert three_way[1] < 0.5 * three_way[0]  # the published test counts one curve once for each prior


@pytest.mark.parametrize(("design", "n_folds", "test", "pairs"), [
    ("auto", 6, "corrected_gg", "corrected_t_holm"),
    ("auto", 10, "corrected_hotelling", "corrected_t_holm"),
    ("independent", 6, "repeated_measures", "paired_t_holm"),
    ("independent", 10, "repeated_measures", "max_t"),
])  # fmt: skip
def test_compare_shows_the_calibrated_tests_first(design, n_folds, test, pairs):
    result = base(n_folds, design)
    anova, posthoc = primary(result)
    assert anova["test"].tolist() == [test] == [result.tests["test"].iloc[0]]
    assert set(posthoc["test"]) == {pairs} == {result.pairs["test"].iloc[0]}
    assert set(result.tests.query("test in ['two_way', 'three_way']")["role"]) == {"published"}
    assert set(result.pairs.query("test in ['tukey', 'tukey_three_way']")["role"]) == {"published"}
    assert "mixed" not in set(result.tests["test"])


PRIOR = (0.1, 0.3)


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    return halved_frame(n_folds=7, n_halvings=12, inner_folds=5, n_cases=90)


@pytest.fixture(scope="module")
def result(frame: pd.DataFrame) -> sa.Comparison:
    return sa.compare(frame, PRIOR, at_priors=(0.5, 0.2))


@pytest.fixture(scope="module")
def covariance(frame: pd.DataFrame) -> pd.DataFrame:
    """V + S / J of the models A, B, C by their definitions, and the means."""
    area = pd.Series({
        keys: sa.iauprec_score(rows["y_true"], rows["y_score"], deployment_prior=PRIOR)
        for keys, rows in frame.fillna({"halving": 0}).groupby(["model", "part", "halving", "fold"])
    })  # fmt: skip
    half = area.groupby(level=[0, 1, 2]).mean().unstack(0)
    apart = (half.loc["half_a"] - half.loc["half_b"]) / 2
    held = area.xs("holdout", level=1).unstack(0)
    assert (len(apart), len(held)) == (12, 7)
    return (apart.T @ apart / 12 + held.cov() / 7).assign(mean=held.mean())


def _variance(covariance: pd.DataFrame, a: str, b: str) -> float:
    return covariance.loc[a, a] + covariance.loc[b, b] - 2 * covariance.loc[a, b]


def test_fewer_halvings_than_contrasts_leave_out_hotelling() -> None:
    """Three halvings cannot estimate a covariance of four contrasts, which hold-outs alone could."""
    table = halved_frame(models=tuple("ABCDE"), n_folds=7, n_halvings=3, inner_folds=5, n_cases=90)
    tests = sa.compare(table, PRIOR, at_priors=(0.5, 0.2)).tests["test"]
    assert "split_half_gg" in set(tests)
    assert "split_half_hotelling" not in set(tests)


def test_pairs_are_those_of_the_definitions(result: sa.Comparison, covariance: pd.DataFrame) -> None:
    primary = result.pairs[result.pairs["role"] == "primary"]
    assert (set(primary["test"]), set(primary["df"])) == ({"split_half_t_holm"}, {12.0})
    for row in primary.itertuples():
        estimate = covariance["mean"][row.model_a] - covariance["mean"][row.model_b]
        error = _variance(covariance, row.model_a, row.model_b) ** 0.5
        assert row.estimate == pytest.approx(estimate, abs=1e-12)
        assert row.std_error == pytest.approx(error, rel=1e-10)
        assert row.statistic == pytest.approx(estimate / error, rel=1e-9)
        assert row.p_value == pytest.approx(2 * stats.t.sf(abs(estimate / error), 12), rel=1e-9)
    raw = primary["p_value"].to_numpy()
    order = np.argsort(raw)
    holm = np.maximum.accumulate(raw[order] * [3, 2, 1]).clip(max=1)
    np.testing.assert_allclose(primary["p_adjusted"].to_numpy()[order], holm, rtol=1e-12)


def test_tests_of_all_models_by_hand(result: sa.Comparison, covariance: pd.DataFrame) -> None:
    row = result.tests[result.tests["role"] == "primary"].iloc[0]
    assert row["test"] == "split_half_hotelling"
    contrast = np.array([[1, -1, 0], [0, 1, -1]])
    matrix = contrast @ covariance[list("ABC")].to_numpy() @ contrast.T
    mean = contrast @ covariance["mean"].to_numpy()
    t2 = mean @ np.linalg.inv(matrix) @ mean
    # Hotelling's T2 of 2 contrasts on 12 degrees of freedom
    assert row["statistic"] == pytest.approx((12 - 2 + 1) / (12 * 2) * t2, rel=1e-9)
    assert (row["df"], row["df_error"]) == (2, 11)
    assert row["p_value"] == pytest.approx(stats.f.sf(row["statistic"], 2, 11), rel=1e-9)
    row = result.tests[result.tests["test"] == "split_half_gg"].iloc[0]
    centre = np.eye(3) - 1 / 3
    matrix = centre @ covariance[list("ABC")].to_numpy() @ centre  # its eigenvalues are the contrasts'
    mean = centre @ covariance["mean"].to_numpy()
    epsilon = np.trace(matrix) ** 2 / (2 * (matrix**2).sum())
    assert row["statistic"] == pytest.approx(mean @ mean / np.trace(matrix), rel=1e-9)
    assert (row["df"], row["df_error"]) == pytest.approx((2 * epsilon, 2 * epsilon * 12))


def test_one_variance_everywhere(result: sa.Comparison, covariance: pd.DataFrame) -> None:
    measures = result.evaluation
    mean, matrix, df = iauprec_covariance(measures)
    models = list(measures.models)
    assert df == 12
    np.testing.assert_allclose(mean, covariance.loc[models, "mean"], atol=1e-12)
    np.testing.assert_allclose(matrix, covariance.loc[models, models], rtol=1e-9)
    ranking = result.ranking.set_index("model")
    size = measures.support.effective_size(typical_prior(measures.deployment_prior))
    limits = logit_interval(ranking["iauprec"], np.sqrt(np.diag(matrix)), df=12, level=0.95, size=size)
    np.testing.assert_allclose(ranking[["conf_low", "conf_high"]].T, limits, rtol=1e-9)
    for row in result.tables["plans"].itertuples():
        assert row.std_error**2 == pytest.approx(_variance(covariance, row.model_a, row.model_b), rel=1e-9)
    for row in result.tables["equivalence"].itertuples():
        difference = covariance.loc[row.model_a, "mean"] - covariance.loc[row.model_b, "mean"]
        scale = _variance(covariance, row.model_a, row.model_b) ** 0.5
        assert row.p_a_ahead == pytest.approx(stats.t.sf((0.01 - difference) / scale, 12), rel=1e-9)


def test_bands_and_intervals_at_a_prior_have_the_variance_there(frame: pd.DataFrame) -> None:
    measures = sa.evaluate(frame, at_priors=(0.2,), deployment_prior=0.2)  # IAUPREC is AUPREC at 0.2 there
    matrix = iauprec_covariance(measures)[1]
    joint = joint_curves(measures, np.array([0.2]))
    np.testing.assert_allclose(covariance_of(joint.deviations), matrix, rtol=1e-9)
    intervals = sa.evaluation.auprec_intervals(measures)
    np.testing.assert_allclose(intervals["std_error"], np.sqrt(np.diag(matrix)), rtol=1e-9)
    size = measures.support.effective_size(0.2)
    limits = logit_interval(intervals["auprec"], np.sqrt(np.diag(matrix)), df=12, level=0.95, size=size)
    np.testing.assert_allclose(intervals[["conf_low", "conf_high"]].T, limits)
    curves = difference_curves(measures, [0.2])
    pairs = [matrix[i, i] + matrix[j, j] - 2 * matrix[i, j] for i, j in combinations(range(3), 2)]
    np.testing.assert_allclose(curves["std_error"] ** 2, pairs, rtol=1e-9)
    bands = auprec_bands(measures, [0.2])
    assert (bands["conf_high"] - bands["conf_low"] > 0).all()


def test_words_on_the_variance_and_halves_that_contradict_no_design(result: sa.Comparison) -> None:
    assert "12 halvings" in result.design.describe()
    assert result.settings["design"] == "split_half"
    assert "split-half Hotelling T2" in result.to_markdown("tests")
    assert result.design.overlapping
    assert "by the split-half variance" in result.to_markdown("equivalence")
    assert split_plot_anova(result.evaluation).test == "corrected_gg"
    assert len(equivalence(result.tables["iauprec"], ratio=0.5)) == 3
    with warnings.catch_warnings(action="ignore", category=sa.SkewanovaWarning):
        result = sa.compare(halved_frame(), at_priors=(0.2,), rng=0)
    assert any("cross-validated in 2 folds" in note for note in result.design.warnings)
    assert "stated design" not in str(result.verdict)
    design = sa.FoldDesign("split_half", 0.2, n_folds=20, n_halvings=20)
    assert [choose_omnibus_test(design, n) for n in (5, 6)] == ["split_half_hotelling", "split_half_gg"]
    assert choose_pairwise_test(design, 0.05) == "split_half_t"


def test_other_designs_are_not_touched_and_equal_models_not_tested(frame: pd.DataFrame) -> None:
    held = frame[frame["part"] == "holdout"].drop(columns=["part", "halving"])
    options = {"at_priors": (0.5, 0.2), "design": sa.FoldDesign("repeated_holdout", 1 / 3)}
    stated = expect_warning("halvings are not used", sa.compare, frame, PRIOR, **options)
    plain = sa.compare(held, PRIOR, **options)
    for name in ("tests", "pairs", "ranking", "difference_curves", "plans", "equivalence"):
        pd.testing.assert_frame_equal(stated.tables[name], plain.tables[name])
    assert "split_half_t_holm" not in set(plain.pairs["test"])
    twin = frame[frame["model"] == "A"].assign(model="twin")
    found = sa.compare(pd.concat([frame, twin]), PRIOR, at_priors=(0.5, 0.2))
    assert found.tests["test"].iloc[0] == "split_half_gg"
    same = found.pairs.query("role == 'primary' and model_a == 'A' and model_b == 'twin'").iloc[0]
    assert same["std_error"] == 0
    assert np.isnan(same["p_value"])


def test_refusals(frame: pd.DataFrame, result: sa.Comparison) -> None:
    held = frame[frame["part"] == "holdout"].drop(columns=["part", "halving"])
    with pytest.raises(sa.InputError, match=r"needs a table with halvings.*compare_estimators"):
        sa.compare(held, PRIOR, design="split_half")
    for test, method in ((omnibus_test, "split_half_gg"), (posthoc, "split_half_t")):
        message = r"split_half_.* needs halvings .*: pass the Evalu"
        expect_error(message, test, result.tables["iauprec"], method=method)
    few = sa.evaluate(halved_frame(models=tuple("ABCDE"), n_halvings=3, inner_folds=5, n_cases=90))
    expect_error("needs at least 4 halvings, but has 3", omnibus_test, few, method="split_half_hotelling")
