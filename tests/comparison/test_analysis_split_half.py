"""The split-half variance: against its definitions, and the same wherever a mean over folds has one."""

import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from case_values import covariance_of
from halved_tables import halved_frame
from messages import expect_error, expect_warning
from scipy import stats

import skewanova as sa
from skewanova.comparison.analysis import choose_omnibus_test, choose_pairwise_test
from skewanova.decision import auprec_bands, difference_curves
from skewanova.decision.joint_curves import iauprec_covariance, joint_curves
from skewanova.evaluation import auprec_intervals
from skewanova.inference import equivalence, omnibus_test, posthoc, split_plot_anova
from skewanova.priors.weightings import typical_prior
from skewanova.scores.design import FoldDesign, logit_interval

PRIOR = (0.1, 0.3)


pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")


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
    intervals = auprec_intervals(measures)
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
    design = FoldDesign("split_half", 0.2, n_folds=20, n_halvings=20)
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
    for test in (
        lambda: omnibus_test(result.tables["iauprec"], method="split_half_gg"),
        lambda: posthoc(result.tables["iauprec"], method="split_half_t"),
    ):
        expect_error(r"split_half_.* needs halvings .*: pass the Evalu", test)
    few = sa.evaluate(halved_frame(models=tuple("ABCDE"), n_halvings=3, inner_folds=5, n_cases=90))
    expect_error("needs 4 halvings for 5 models, but has 3", omnibus_test, few, method="split_half_hotelling")
