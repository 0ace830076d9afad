"""Joint curves of one test set, block by block, against the jackknife values of every case held at once."""

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from case_values import covariance_of, jackknife_values
from fold_tables import designed, evaluated, scored
from scipy import stats

from skewanova.decision import joint_curves
from skewanova.inference import auprec_covariance, case_deviations
from skewanova.inference.sampling import Sample
from skewanova.priors.weightings import UniformPrior

PRIORS = np.array([0.5, 0.1, 0.02])


@pytest.mark.parametrize("n", [5, 900])
@pytest.mark.parametrize("rows", [1, 3, 500])
def test_covariance_is_that_of_all_cases_at_once(n, rows, monkeypatch):
    rng = np.random.default_rng(n)
    positive = np.append([True, False], rng.random(n - 2) < 0.3)
    scores = [np.round(rng.normal(size=n) + positive, 1), rng.normal(size=n) + positive]
    values = [jackknife_values(positive, score, UniformPrior(at, at))[1] for score in scores for at in PRIORS]
    monkeypatch.setattr(case_deviations, "ROWS_A_COLUMN", rows)
    found = joint_curves.case_curves(PRIORS, Sample(positive), scores, "trapezoid")
    units = found.deviations.reshape(-1, 6)
    assert len(units) == min(n, 6)
    expected = Sample(positive).covariance(np.transpose(values))
    assert units.T @ units == pytest.approx(expected, rel=1e-9, abs=1e-14)


# --- what is kept of the curves -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def four_folds():
    """AUPREC of shape (4 folds, 3 models, 2 priors)."""
    return np.random.default_rng(2).uniform(0.4, 0.9, (4, 3, 2))


@pytest.mark.parametrize("ratio", [0, 0.25])
@pytest.mark.parametrize("n_folds", [2, 4])
def test_fold_curves_have_the_corrected_covariance_of_means(four_folds, n_folds, ratio):
    values = four_folds[:n_folds]
    found = joint_curves.fold_curves(PRIORS[:2], values, ratio=ratio)
    inflated = 1 / n_folds + ratio  # Nadeau and Bengio 2003
    assert found.known
    assert found.df == n_folds - 1
    assert found.priors.tolist() == PRIORS[:2].tolist()
    assert found.estimate == pytest.approx(values.mean(axis=0))
    assert covariance_of(found.deviations) == pytest.approx(np.cov(values[:, :, 0], rowvar=False) * inflated)
    difference, variance = found.pairs()
    for row, (a, b) in enumerate(combinations(range(3), 2)):
        d = values[:, a] - values[:, b]
        assert difference[row] == pytest.approx(d.mean(axis=0))
        assert variance[row] == pytest.approx(d.var(axis=0, ddof=1) * inflated)
    assert found.critical_value(0.1) == pytest.approx(stats.t(n_folds - 1).ppf(0.95))


def test_some_of_the_priors_are_kept(four_folds):
    whole = joint_curves.fold_curves(PRIORS[:2], four_folds, ratio=0)
    found = whole.at(np.array([1]))
    assert found.priors.tolist() == [PRIORS[1]]
    assert found.estimate[:, 0].tolist() == whole.estimate[:, 1].tolist()
    assert found.pairs()[1][:, 0].tolist() == whole.pairs()[1][:, 1].tolist()


def test_one_fold_says_nothing_of_the_spread(four_folds):
    found = joint_curves.fold_curves(PRIORS[:2], four_folds[:1], ratio=0)
    assert not found.known
    assert found.estimate.tolist() == four_folds[0].tolist()
    assert found.deviations.shape == (0, 3, 2)
    assert np.isnan([found.df, found.critical_value(0.05)]).all()
    difference, variance = found.pairs()
    assert difference[0] == pytest.approx(four_folds[0, 0] - four_folds[0, 1])
    assert variance.shape == (3, 2)
    assert np.isnan(variance).all()


# --- from an evaluation -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def several():
    return evaluated(scored(3))


@pytest.fixture(scope="module")
def single():
    return evaluated(scored(1))


def areas_of(evaluation, prior):
    """AUPREC of shape (n_folds, n_models), from the curves."""
    return evaluation.cell_auprec([prior])[:, :, 0].T


def test_several_folds_are_compared_over_folds_even_with_scores(several):
    measures, _ = several
    for ratio, known in ((0, measures), (0.5, designed(measures, 0.5))):
        found = joint_curves.joint_curves(known, PRIORS[1:])
        areas = areas_of(measures, 0.1)
        assert found.df == 2
        assert found.estimate[:, 0] == pytest.approx(areas.mean(axis=0))
        expected = np.cov(areas, rowvar=False) * (1 / 3 + ratio)
        assert covariance_of(found.deviations) == pytest.approx(expected)


def test_one_fold_is_compared_over_cases_if_its_scores_are_known(single):
    measures, table = single
    assert not joint_curves.joint_curves(replace(measures, scores=None), PRIORS).known
    found = joint_curves.joint_curves(measures, PRIORS)
    frame = table.frame
    positive = frame["y_true"].to_numpy()[:60].astype(bool)
    values = [
        jackknife_values(
            positive, frame.loc[frame["model"] == m, "y_score"].to_numpy(), UniformPrior(0.5, 0.5)
        )[1]
        for m in measures.models
    ]
    assert np.isinf(found.df)
    assert found.estimate == pytest.approx(measures.mean_auprec(PRIORS))
    assert covariance_of(found.deviations) == pytest.approx(Sample(positive).covariance(np.transpose(values)))
    assert found.critical_value(0.05) == pytest.approx(1.959963985)


def test_a_model_that_lacks_a_fold_leaves_the_means_alone():
    frame = scored(3)
    measures, _ = evaluated(frame[(frame["model"] != "c") | (frame["fold"] != 1)])
    found = joint_curves.joint_curves(measures, PRIORS)
    assert not found.known
    assert np.isnan(found.df)
    assert found.estimate == pytest.approx(measures.mean_auprec(PRIORS))
    assert found.deviations.shape == (0, 3, 3)
    assert joint_curves.iauprec_covariance(measures) is None


@pytest.mark.parametrize("ratio", [0, 0.5])
def test_panels_reach_over_the_grid_and_the_deployment_prior(several, ratio):
    measures, _ = several
    found = joint_curves.panel_curves(designed(measures, ratio))
    assert (found.low, found.high) == (0.05, 0.4)
    assert (found.curves.low, found.curves.high) == (0.05, 0.4)
    assert found.curves.at(PRIORS[1:2]) == pytest.approx(measures.mean_auprec(PRIORS[1:2]), rel=1e-12)
    at = int(np.argmin(found.joint.priors))
    areas = areas_of(measures, found.joint.priors[at])
    spread = (found.joint.deviations[:, :, at] ** 2).sum(axis=0)
    assert spread == pytest.approx(areas.var(axis=0, ddof=1) * (1 / 3 + ratio))


def test_panels_of_one_set_rest_on_its_scores(single):
    measures, _ = single
    assert not joint_curves.panel_curves(replace(measures, scores=None)).joint.known
    assert joint_curves.panel_curves(measures).joint.known


def test_matched_models_follow_the_models_named(single):
    measures, table = single
    known = joint_curves.matched_set(measures)
    columns = known.of(measures.ordered(("c", "a", "b")))
    frame = table.frame
    assert known.sample.positive.sum() == 20
    for name, column in zip(("c", "a", "b"), columns, strict=True):
        assert column.score.tolist() == frame.loc[frame["model"] == name, "y_score"].tolist()


@pytest.mark.parametrize(("n_positive", "known"), [(1, False), (2, True), (58, True), (59, False)])
def test_a_class_of_one_case_shows_no_spread(n_positive, known):
    measures, _ = evaluated(scored(1, n_positive=n_positive))
    assert (joint_curves.matched_set(measures) is not None) is known
    assert joint_curves.joint_curves(measures, PRIORS).known is known


def test_cases_that_do_not_match_show_no_spread(several):
    frame = scored(1)
    turned = pd.concat([frame[frame["model"] != "c"], frame[frame["model"] == "c"].iloc[::-1]])
    measures, _ = evaluated(turned)
    assert joint_curves.matched_set(measures) is None
    assert joint_curves.iauprec_covariance(measures) is None
    assert joint_curves.matched_set(several[0]) is None  # of several folds


@pytest.mark.parametrize("ratio", [0, 0.5])
@pytest.mark.parametrize("n_folds", [2, 3])
def test_covariance_of_iauprec_over_folds(several, ratio, n_folds):
    measures, _ = several if n_folds == 3 else evaluated(scored(2))
    mean, covariance, df = joint_curves.iauprec_covariance(designed(measures, ratio))
    values = measures.iauprec.pivot(index="fold", columns="model", values="iauprec")[list(measures.models)]
    assert mean == pytest.approx(values.mean().to_numpy())
    assert covariance == pytest.approx(values.cov().to_numpy() * (1 / n_folds + ratio))
    assert df == n_folds - 1


def test_covariance_of_iauprec_over_cases(single):
    measures, table = single
    assert joint_curves.iauprec_covariance(replace(measures, scores=None)) is None
    mean, covariance, df = joint_curves.iauprec_covariance(measures)
    frame = table.frame
    columns = [frame.loc[frame["model"] == m, "y_score"].to_numpy() for m in measures.models]
    truth = auprec_covariance(
        frame["y_true"].to_numpy()[:60].astype(int), np.transpose(columns), deployment_prior=(0.05, 0.3)
    )
    assert covariance == pytest.approx(truth.covariance)
    values = measures.iauprec.set_index("model")["iauprec"]
    assert mean == pytest.approx(values[list(measures.models)].to_numpy())
    assert 4 <= df < 60  # fewer than the 60 cases, whose values have heavy tails


def test_models_that_are_the_same_vary_alike():
    positive = np.arange(40) < 10
    score = np.random.default_rng(4).normal(size=40) + positive
    found = joint_curves.case_curves(PRIORS, Sample(positive), [score, score, score], "trapezoid")
    assert np.isfinite(found.deviations).all()  # though rounding leaves eigenvalues below 0
    assert np.isinf(found.df)
    assert covariance_of(found.deviations) == pytest.approx(
        np.full((3, 3), covariance_of(found.deviations)[0, 0])
    )
    assert found.pairs()[1] == pytest.approx(0.0, abs=1e-14)


def test_one_unit_is_some_knowledge_of_the_spread():
    found = joint_curves.JointCurves(PRIORS[:1], np.array([[0.7], [0.4]]), np.array([[[0.3], [0.1]]]), 1)
    assert found.known
    assert found.pairs()[1][0, 0] == pytest.approx(0.04)
