"""Joint curves of one test set, block by block, against the jackknife values of every case held at once."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from case_values import covariance_of, jackknife_values, moved_elsewhere
from fold_tables import designed, evaluated, score_rows, scored
from loops import each
from messages import expect_error
from scipy import stats

from skewanova import FoldDesign, InputError, evaluate
from skewanova.decision import joint_curves
from skewanova.inference import auprec_covariance, case_deviations, compare_runs, paired_test_set
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import measure_arcsine_areas
from skewanova.priors.weightings import UniformPrior
from studies.decisions import case_curves

PRIORS = np.array([0.5, 0.1, 0.02])


@pytest.mark.parametrize(("n", "rows"), [(5, 500), (900, 1), (900, 500)])
def test_covariance_is_that_of_all_cases_at_once(n, rows, monkeypatch):
    rng = np.random.default_rng(n)
    positive = np.append([True, False], rng.random(n - 2) < 0.3)
    scores = [np.round(rng.normal(size=n) + positive, 1), rng.normal(size=n) + positive]
    values = [jackknife_values(positive, score, UniformPrior(at, at))[1] for score in scores for at in PRIORS]
    monkeypatch.setattr(case_deviations, "ROWS", rows)
    units = case_curves(PRIORS, Sample(positive), scores, "trapezoid").deviations.reshape(-1, 6)
    assert len(units) == min(n, 6)
    expected = Sample(positive).covariance(np.transpose(values))
    assert units.T @ units == pytest.approx(expected, rel=1e-9, abs=1e-14)
    same = case_curves(PRIORS, Sample(positive), scores[:1] * 3, "trapezoid")
    assert np.isfinite(same.deviations).all()  # though rounding leaves eigenvalues below 0
    if n > 5:
        assert same.pairs()[1] == pytest.approx(0.0, abs=1e-14)


def test_bands_have_the_degrees_of_freedom_of_pairs():
    rng, positive = np.random.default_rng(4), np.arange(3000) < 30
    sample, scores = Sample(positive), [rng.normal(size=3000) + mean * positive for mean in (0.8, 1.2)]
    curves = case_curves(PRIORS, sample, scores, "trapezoid")
    for at, df in zip(PRIORS, curves.pair_df[0], strict=True):
        areas = measure_arcsine_areas(sample, scores, UniformPrior(at, at), "trapezoid")
        assert df == pytest.approx(areas.pair_errors()[1][0], rel=1e-6)
    assert curves.pair_df[0, 2] == pytest.approx(30 * curves.estimate[:, 2].sum())


@pytest.fixture(scope="module")
def four_folds():
    """AUPREC of shape (4 folds, 3 models, 2 priors)."""
    return np.random.default_rng(2).uniform(0.4, 0.9, (4, 3, 2))


@pytest.mark.parametrize(("n_folds", "ratio"), [(2, 0.25), (4, 0), (4, 0.25)])
def test_fold_curves_have_the_corrected_covariance_of_means(four_folds, n_folds, ratio):
    values = four_folds[:n_folds]
    found = joint_curves.joint_curves_over_folds(PRIORS[:2], values, ratio=ratio)
    inflated = 1 / n_folds + ratio  # Nadeau and Bengio 2003
    assert found.has_covariance
    assert (found.df, found.priors.tolist()) == (n_folds - 1, PRIORS[:2].tolist())
    assert found.estimate == pytest.approx(values.mean(axis=0))
    assert covariance_of(found.deviations) == pytest.approx(np.cov(values[:, :, 0], rowvar=False) * inflated)
    difference, variance = found.pairs()
    for row, (a, b) in enumerate(combinations(range(3), 2)):
        d = values[:, a] - values[:, b]
        assert difference[row] == pytest.approx(d.mean(axis=0))
        assert variance[row] == pytest.approx(d.var(axis=0, ddof=1) * inflated)
    assert found.critical_value(0.1) == pytest.approx(stats.t(n_folds - 1).ppf(0.95))


def test_halvings_add_their_mean_square_and_one_fold_has_no_spread(four_folds):
    halves = np.random.default_rng(3).normal(size=(5, 3, 2))
    found = joint_curves.joint_curves_over_folds(PRIORS[:2], four_folds, ratio=0.25, halves=halves)
    assert found.df == 5
    for k in range(2):
        over_folds = np.cov(four_folds[..., k], rowvar=False) / 4
        expected = over_folds + halves[..., k].T @ halves[..., k] / 5
        assert covariance_of(found.deviations[..., k:]) == pytest.approx(expected)
    found = joint_curves.joint_curves_over_folds(PRIORS[:2], four_folds[:1], ratio=0)
    assert not found.has_covariance
    assert (found.estimate.tolist(), found.deviations.shape) == (four_folds[0].tolist(), (0, 3, 2))
    assert np.isnan([found.df, found.critical_value(0.05)]).all()
    difference, variance = found.pairs()
    assert (difference[0], variance.shape) == (pytest.approx(four_folds[0, 0] - four_folds[0, 1]), (3, 2))
    assert np.isnan(variance).all()


@pytest.fixture(scope="module")
def several():
    return evaluated(scored(3))


@pytest.fixture(scope="module")
def single():
    return evaluated(scored(1))


def areas_of(evaluation, prior):
    """AUPREC of shape (n_folds, n_models), from the curves."""
    return evaluation.auprec_by_cell([prior])[:, :, 0].T


def test_several_folds_are_compared_over_folds_even_with_scores(several):
    measures, _ = several
    values = measures.iauprec.pivot(index="fold", columns="model", values="iauprec")[list(measures.models)]
    for ratio, known in ((0, measures), (0.5, designed(measures, 0.5))):
        found = joint_curves.joint_curves(known, PRIORS[1:])
        areas = areas_of(measures, 0.1)
        assert (found.df, found.estimate[:, 0]) == (2, pytest.approx(areas.mean(axis=0)))
        expected = np.cov(areas, rowvar=False) * (1 / 3 + ratio)
        assert covariance_of(found.deviations) == pytest.approx(expected)
        mean, covariance, df = joint_curves.iauprec_covariance(known)
        assert mean == pytest.approx(values.mean().to_numpy())
        assert (covariance, df) == (pytest.approx(values.cov().to_numpy() * (1 / 3 + ratio)), 2)


def test_one_fold_is_compared_over_cases_if_its_scores_are_known(single):
    measures, table = single[0].reorder_models(("c", "a", "b")), single[1]
    assert not joint_curves.joint_curves(replace(measures, scores=None), PRIORS).has_covariance
    found = joint_curves.joint_curves(measures, PRIORS)
    frame = table.frame
    positive, at = frame["y_true"].to_numpy()[:60].astype(bool), UniformPrior(0.5, 0.5)
    columns = [frame.loc[frame["model"] == m, "y_score"].to_numpy() for m in measures.models]
    values = [jackknife_values(positive, column, at)[1] for column in columns]
    assert np.isinf(found.df)
    assert found.estimate == pytest.approx(measures.mean_auprec(PRIORS))
    assert covariance_of(found.deviations) == pytest.approx(Sample(positive).covariance(np.transpose(values)))
    assert found.critical_value(0.05) == pytest.approx(1.959963985)
    assert joint_curves.iauprec_covariance(replace(measures, scores=None)) is None
    mean, covariance, df = joint_curves.iauprec_covariance(measures)
    truth = auprec_covariance(positive.astype(int), np.transpose(columns), deployment_prior=(0.05, 0.3))
    assert covariance == pytest.approx(truth.covariance)
    assert mean == pytest.approx(measures.iauprec.set_index("model")["iauprec"][list(measures.models)])
    assert 4 <= df < 60  # fewer than the 60 cases, whose values have heavy tails


def test_models_that_lack_folds_cases_or_spread(several):
    frame = scored(3)
    measures, _ = evaluated(frame[(frame["model"] != "c") | (frame["fold"] != 1)])
    found = joint_curves.joint_curves(measures, PRIORS)
    assert not found.has_covariance
    assert np.isnan(found.df)
    assert found.estimate == pytest.approx(measures.mean_auprec(PRIORS))
    assert found.deviations.shape == (0, 3, 3)
    assert joint_curves.iauprec_covariance(measures) is None
    frame = scored(1)
    turned = pd.concat([frame[frame["model"] != "c"], frame[frame["model"] == "c"].iloc[::-1]])
    measures, _ = evaluated(turned)
    assert paired_test_set.find_test_set(measures) is None
    assert joint_curves.iauprec_covariance(measures) is None
    assert paired_test_set.find_test_set(several[0]) is None  # of several folds
    estimate = np.array([[0.7, 0.6], [0.7, 0.6 + 1e-15], [0.7, 0.5]])
    difference, variance = joint_curves.JointCurves(PRIORS[:2], estimate, np.zeros((1, 3, 2)), 1).pairs()
    assert difference[0].tolist() == [0, 0]  # not the rounding of the second
    assert difference[1:] == pytest.approx(np.array([[0, 0.1], [0, 0.1]]))
    assert (variance == 0).all()
    one = joint_curves.JointCurves(PRIORS[:1], np.array([[0.7], [0.4]]), np.array([[[0.3], [0.1]]]), 1)
    assert one.has_covariance
    assert one.pairs()[1][0, 0] == pytest.approx(0.04)
    error, df = np.array([[0.1, 0.2]]), np.array([[7.0, 40.0]])
    estimate = np.array([[0.8, 0.7], [0.6, 0.6]])
    curves = joint_curves.JointCurves(PRIORS[:2], estimate, np.ones((1, 2, 2)), np.inf, error, df)
    np.testing.assert_allclose(curves.pairs()[1], error**2)
    beyond = stats.norm.sf(1.7)
    np.testing.assert_allclose(curves.half_widths(1.7), error * stats.t.isf(beyond, df), rtol=1e-9)
    np.testing.assert_allclose(replace(curves, pair_df=None).half_widths(1.7), 1.7 * error)


def test_panels_reach_over_the_grid_and_are_measured_once(several, monkeypatch):
    measures, _ = several
    found = joint_curves.panel_curves(designed(measures, 0.5))
    assert (found.low, found.high) == (0.05, 0.4)
    assert (found.curves.low, found.curves.high) == (0.05, 0.4)
    assert found.curves.evaluate(PRIORS[1:2]) == pytest.approx(measures.mean_auprec(PRIORS[1:2]), rel=1e-12)
    at = int(np.argmin(found.joint.priors))
    areas = areas_of(measures, found.joint.priors[at])
    spread = (found.joint.deviations[:, :, at] ** 2).sum(axis=0)
    assert spread == pytest.approx(areas.var(axis=0, ddof=1) * (1 / 3 + 0.5))
    measures, _ = evaluated(scored(1))
    found = joint_curves.joint_curves(measures, PRIORS)
    monkeypatch.setattr(case_deviations.CaseDeviations, "from_models", None)  # nothing is measured again
    assert joint_curves.joint_curves(measures, PRIORS) is found
    assert joint_curves.panel_curves(measures).joint.has_covariance


@each(("n_positive", "known"), [(1, False), (2, True), (58, True), (59, False)])
def test_a_class_of_one_case_shows_no_spread(n_positive, known):
    measures, _ = evaluated(scored(1, n_positive=n_positive))
    assert (paired_test_set.find_test_set(measures) is not None) is known
    assert joint_curves.joint_curves(measures, PRIORS).has_covariance is known


@pytest.fixture(scope="module")
def runs():
    """Labels, scores (n_cases, n_models, n_runs), and the evaluation of two models in three runs."""
    rng = np.random.default_rng(6)
    labels = np.repeat([1, 0], [14, 60])
    scores = rng.normal(size=(74, 1, 1)) + 0.5 * rng.normal(size=(74, 2, 3)) + labels[:, None, None]
    frame = pd.concat(
        score_rows(f"m{m}", r, labels, scores[:, m, r], case=range(74)) for m in range(2) for r in range(3)
    )
    return labels, scores, evaluate(frame, at_priors=(0.5, 0.6), deployment_prior=(0.5, 0.6))


@pytest.mark.parametrize("kind", ["crossed", "nested", "fixed"])
def test_areas_of_runs_vary_over_cases_and_over_runs(runs, kind):
    labels, scores, evaluation = runs
    at = 0.2
    found = replace(paired_test_set.measure_runs(evaluation, UniformPrior(at, at)), runs=kind)
    assert found.area == pytest.approx(areas_of(evaluation, at).T)
    covariance = auprec_covariance(labels, scores.reshape(74, 6), prior=at).covariance
    assert found.covariance == pytest.approx(covariance, rel=1e-9)
    over_cases = covariance.reshape(2, 3, 2, 3).mean(axis=(1, 3))
    over_runs = {"crossed": np.cov(found.area), "nested": np.diag(found.area.var(axis=1, ddof=1))}
    assert found.covariance_of_means == pytest.approx(over_cases + over_runs.get(kind, 0) / 3, rel=1e-9)
    error, df = found.pair_errors()
    if kind == "fixed":
        assert found.model_errors()[1] == pytest.approx(found.sample.estimate_errors(found.means.values)[1])
        return
    twin = compare_runs(found.area, covariance, runs=kind, case_df=found.sample.df)
    assert (error, df) == (pytest.approx(twin.std_error), pytest.approx(twin.df_error))
    assert found.model_errors()[1].shape == (2,)


@pytest.mark.parametrize("n_priors", [3, 40])
def test_curves_of_runs_are_those_at_every_prior(runs, n_priors):
    priors, evaluation = np.linspace(0.1, 0.5, n_priors), runs[2]
    found = joint_curves.joint_curves(evaluation, priors)
    assert found.df == np.inf
    for at in (0, n_priors // 2, n_priors - 1):
        alone = paired_test_set.measure_runs(evaluation, UniformPrior(priors[at], priors[at]))
        assert found.estimate[:, at] == pytest.approx(alone.area.mean(axis=1))
        deviations = found.deviations[:, :, at]
        assert deviations.T @ deviations == pytest.approx(alone.covariance_of_means, rel=1e-8)
        spread = found.pair_error[:, at], found.pair_df[:, at], found.model_df[:, at]
        for one, other in zip(spread, (*alone.pair_errors(), alone.model_errors()[1]), strict=True):
            assert one == pytest.approx(other)
    assert len(found.deviations) == 3 + min(74, 2 * n_priors)  # runs, and units or as many rows as columns


def test_blocks_of_runs_do_not_matter(runs, monkeypatch):
    evaluation = runs[2]
    found = joint_curves.joint_curves(evaluation, PRIORS)
    held, measured = [], paired_test_set.measure_models

    def noted(sample, columns, weightings, area_estimator):
        held.append(len(weightings))
        return measured(sample, columns, weightings, area_estimator)

    monkeypatch.setattr(paired_test_set, "measure_models", noted)
    joint_curves.joint_curves(evaluation, PRIORS)
    monkeypatch.setattr(paired_test_set, "MAX_VALUES", 74 * 6 * 2)
    monkeypatch.setattr(joint_curves, "QR_BLOCK_ROWS", 5)
    again = joint_curves.joint_curves(evaluation, PRIORS)
    assert held == [3, 2, 1]  # all that fit at once
    assert again.estimate == pytest.approx(found.estimate, rel=1e-12)
    assert again.pair_error == pytest.approx(found.pair_error, rel=1e-12)
    assert again.deviations == pytest.approx(found.deviations, rel=1e-8, abs=1e-12)


def same_curves(found, here):
    """Whether joint curves agree: estimates, covariances at every prior, errors and degrees of freedom."""
    assert found.estimate == pytest.approx(here.estimate, rel=1e-12)
    for at in range(len(here.priors)):
        covariances = [covariance_of(each.deviations[..., at:]) for each in (found, here)]
        assert covariances[0] == pytest.approx(covariances[1], rel=1e-9, abs=1e-15)
    for name in ("pair_error", "pair_df", "model_df"):
        assert getattr(found, name) == pytest.approx(getattr(here, name), rel=1e-7)


def test_a_set_elsewhere_has_the_curves_of_memory(single):
    measures, table = single
    away = replace(measures, scores=moved_elsewhere(table))
    same_curves(joint_curves.joint_curves(away, PRIORS), joint_curves.joint_curves(measures, PRIORS))
    sets = ((each, paired_test_set.find_test_set(each)) for each in (away, measures))
    sums, cases = (found.measure_areas(each, each.deployment_prior) for each, found in sets)
    for found, expected in (
        (joint_curves.iauprec_covariance(away), joint_curves.iauprec_covariance(measures)),
        (sums.pair_variances_by_stratum(), cases.pair_variances_by_stratum()),
        (sums.model_errors(), cases.model_errors()),
    ):
        for one, other in zip(found, expected, strict=True):
            assert one == pytest.approx(other, rel=1e-9)


def test_runs_elsewhere_have_the_curves_of_memory(runs):
    evaluation = runs[2]
    mean, covariance, df = joint_curves.iauprec_covariance(evaluation)
    away = replace(evaluation, scores=moved_elsewhere(evaluation.scores))
    same_curves(joint_curves.joint_curves(away, PRIORS), joint_curves.joint_curves(evaluation, PRIORS))
    at = evaluation.deployment_prior
    found, here = (paired_test_set.measure_runs(each, at) for each in (away, evaluation))
    assert (found.area, found.covariance) == (pytest.approx(here.area), pytest.approx(here.covariance))
    assert mean == pytest.approx(evaluation.iauprec.groupby("model")["iauprec"].mean().to_numpy())
    assert (covariance, df) == (pytest.approx(here.covariance_of_means), here.pair_errors()[1].min())
    assert [size for _, size in found.sample.strata] == [size for _, size in here.sample.strata]
    with pytest.raises(InputError, match=r"^fixed runs on one test set"):
        paired_test_set.measure_runs(replace(away, stated_design=FoldDesign("runs", runs="fixed")), at)
    without = replace(away, scores=replace(away.scores, parts=None))
    expect_error("need the scores in memory", paired_test_set.measure_runs, without, at)
