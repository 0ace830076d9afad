"""Sums over parts of the cases against the same cases in memory."""

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from case_values import Pieces
from loops import each
from messages import expect_error

from skewanova.curves.estimators import STEP_ESTIMATORS
from skewanova.curves.groups import PackedCurve, WeightedCurve
from skewanova.curves.sorting import RankedCases, rank_among_positives
from skewanova.distributed.loading import DistributedCases
from skewanova.inference.case_deviations import CaseDeviations, PriorProjection, choose_nodes
from skewanova.inference.case_resampling import SortedScores
from skewanova.inference.sampling import Sample, SampleSummary, classify_units
from skewanova.inference.single_test_set import measure_arcsine_areas
from skewanova.priors.evidence import UnitSums
from skewanova.priors.weightings import BetaPrior, UniformPrior


def measured(models="xyz", area_estimator="trapezoid"):
    return SimpleNamespace(models=(*models,), folds=(1,), area_estimator=area_estimator)


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(1)
    positive = rng.random(150) < 0.4
    scores = {"x": rng.normal(size=150).round(1) + positive, "y": rng.integers(0, 3, 150) + 2 * positive}
    scores["z"] = scores["x"] + 1e-7 * rng.normal(size=150)
    curves = {(name, 1): PackedCurve.from_cases(positive, score) for name, score in scores.items()}
    sizes = SampleSummary(sizes=((~positive).sum(), positive.sum(), 0))
    pieces = Pieces(positive, {(name, 1): score for name, score in scores.items()})
    return Sample(positive), scores, DistributedCases(sizes, curves, pieces)


@each("area_estimator", STEP_ESTIMATORS)
@each("weighting", [UniformPrior(0.1, 0.1), UniformPrior(0.05, 0.2)])
def test_angles_are_those_of_memory(cases, area_estimator, weighting):
    sample, scores, elsewhere = cases
    here = measure_arcsine_areas(sample, scores.values(), weighting, area_estimator)
    found = elsewhere.measure_areas(measured("xyz", area_estimator), weighting)
    close = {"rel": 1e-10, "abs": 1e-16}
    assert found.area == pytest.approx(here.area, **close)
    assert found.area_covariance == pytest.approx(here.area_covariance, **close)
    assert found.covariance == pytest.approx(here.covariance, **close)
    contrasts = np.array([[1.0, -1.0, 0.0], [0.5, 0.5, -1.0]])
    for ours, theirs in (
        (found.pair_errors(), here.pair_errors()),
        (found.estimate_contrasts(contrasts), here.estimate_contrasts(contrasts)),
        (found.model_errors(), here.model_errors()),
    ):
        assert np.array(ours) == pytest.approx(np.array(theirs), rel=1e-7)  # of x and z half the digits go
    for ours, theirs in zip(found.pair_variances_by_stratum(), here.pair_variances_by_stratum(), strict=True):
        assert (ours, ours.shape) == (pytest.approx(theirs, rel=1e-7), (3, 3))


def test_deviations_along_the_prior_are_those_of_memory(cases):
    sample, scores, elsewhere = cases
    priors = np.linspace(0.02, 0.6, 45)
    nodes = choose_nodes(priors, 0.02, 0.6, "trapezoid")
    assert len(nodes.priors) < len(priors)
    scale = np.array([[1.0], [2.0], [3.0]]) * np.ones(45)
    turns = [PriorProjection(nodes.weight, scale), PriorProjection(nodes.weight[:, 3:5], scale[:, 3:5])]
    models = [SortedScores(sample, score) for score in scores.values()]
    here = CaseDeviations.from_models(models, nodes.priors, "trapezoid").project(turns)
    found = elsewhere.project_deviations(measured(), nodes.priors, turns)
    for (units, spreads), (other, expected) in zip(found, here, strict=True):
        assert units.T @ units == pytest.approx(other.T @ other, rel=1e-10, abs=1e-15)
        for ours, theirs in zip(spreads, expected, strict=True):
            assert ours == pytest.approx(theirs, rel=1e-6)


@each("weightings", [
    [UniformPrior(prior, prior) for prior in np.geomspace(0.02, 0.6, 40)],
    [UniformPrior(0.1, 0.1), UniformPrior(0.05, 0.2)],
    [UniformPrior(0.1, 0.1), BetaPrior(2.0, 30.0)],
])  # fmt: skip
def test_rows_stand_for_the_units(cases, weightings):
    sample, scores, elsewhere = cases
    area, rows = elsewhere.measure_rows(measured(), weightings)
    assert (area.shape, rows.shape[1:]) == ((3, len(weightings)), (3, len(weightings)))
    assert len(rows) <= 3 * 36  # three models at a few nodes serve for 40 priors
    for k in (0, len(weightings) // 2, len(weightings) - 1):
        here = measure_arcsine_areas(sample, scores.values(), weightings[k], "trapezoid")
        assert area[:, k] == pytest.approx(here.area, rel=1e-10)
        assert rows[..., k].T @ rows[..., k] == pytest.approx(here.area_covariance, rel=1e-9, abs=1e-16)


class Sampled:
    """Cases with clusters or weights in pieces; a cluster is in one of them, whose first is of one class."""

    def __init__(self, sample, scores):
        self.cells = tuple(sorted(scores))
        positive = sample.positive
        columns = [scores[cell] for cell in self.cells]
        slots = np.array([rank_among_positives(np.unique(score[positive]), score) for score in columns])
        part = np.where(sample.unit < 4, 0, np.where(sample.unit % 3 == 0, 1, 2))
        self.pieces = [self.piece(sample, slots, part == k) for k in range(3)]

    @staticmethod
    def piece(sample, slots, rows):
        cluster = None if sample.cluster is None else np.unique(sample.cluster[rows], return_inverse=True)[1]
        weight = None if sample.weight is None else sample.weight[rows]
        return RankedCases(sample.positive[rows], slots[:, rows], cluster, weight)

    def map(self, function):
        return [function(piece) for piece in self.pieces]


def as_elsewhere(sample, scores, kinds=None):
    """Sums of the cases in place of the cases."""
    positive, weight = sample.positive, sample.weight
    pack = PackedCurve.from_cases if weight is None else partial(WeightedCurve.from_cases, weight=weight)
    curves = {cell: pack(positive, score) for cell, score in scores.items()}
    sums = UnitSums.from_cases(positive.astype(int), sample.unit, weight, 2)
    counted = SampleSummary(sizes=tuple(kinds), sums=sums, clustered=sample.cluster is not None)
    distinct = np.unique(1.0 if weight is None else weight)
    return DistributedCases(counted, curves, Sampled(sample, scores), (distinct, distinct))


def sampled_cases(kind):
    """The sample, the scores, and the same elsewhere; the only cluster of positives alone joins the most."""
    rng = np.random.default_rng(2)
    positive = rng.random(240) < 0.4
    positive[:20] = np.arange(20) < 5
    cluster = None
    if "clusters" in kind:
        cluster = np.repeat(np.arange(60), 4)
        cluster[:5], cluster[5:20] = 0, 1 + np.arange(15) // 5
        positive[20::4] = True
        positive[21::4] = False
        cluster = np.unique(cluster, return_inverse=True)[1]
    sample = Sample(positive, cluster, rng.choice([0.5, 1.0, 4.0], 240) if "weights" in kind else None)
    scores = {(name, 1): rng.normal(size=240).round(1) + positive for name in "xyz"}
    return sample, scores, as_elsewhere(sample, scores, np.bincount(classify_units(sample), minlength=3))


SAMPLED = ("clusters", "weights", "clusters and weights")


@each("area_estimator", ["trapezoid", "average_precision", "interpolated_max"])
@each("kind", SAMPLED)
def test_angles_of_clusters_and_weights_are_those_of_memory(kind, area_estimator):
    sample, scores, elsewhere = sampled_cases(kind)
    counted, weighting = elsewhere.sample, UniformPrior(0.05, 0.2)
    assert (counted.single_unit_classes, counted.n_units) == (sample.single_unit_classes, sample.n_units)
    assert counted.df == pytest.approx(sample.df)
    assert [size for _, size in counted.strata] == [size for _, size in sample.strata]
    if "clusters" in kind:
        assert counted.stratum_of_kind.tolist() == [0, 2, 2]  # one cluster has positives alone
    here = measure_arcsine_areas(sample, scores.values(), weighting, area_estimator)
    found = elsewhere.measure_areas(measured("xyz", area_estimator), weighting)
    assert found.area == pytest.approx(here.area, rel=1e-12)
    assert found.area_covariance == pytest.approx(here.area_covariance, rel=1e-9, abs=1e-14)
    for ours, theirs in (
        (found.pair_errors(), here.pair_errors()),
        (found.model_errors(), here.model_errors()),
    ):
        assert np.array(ours) == pytest.approx(np.array(theirs), rel=1e-9)
    for ours, theirs in zip(found.pair_variances_by_stratum(), here.pair_variances_by_stratum(), strict=True):
        assert ours == pytest.approx(np.array(theirs), rel=1e-9, abs=1e-20)


def test_many_different_weights_and_the_only_positive():
    *_, elsewhere = sampled_cases("weights")
    many = replace(elsewhere, weights=(np.arange(1.0, 66.0), np.ones(1)))
    expect_error(r"^more than 64 different weights", many.measure_areas, measured(), UniformPrior(0.1, 0.1))
    # It is a stratum of one, weighted cases having no cluster that it could join.
    rng = np.random.default_rng(0)
    positive, weight = np.arange(60) == 7, rng.choice([0.5, 2.0], 60)
    sample, scores = Sample(positive, None, weight), {(name, 1): rng.normal(size=60) for name in "xy"}
    elsewhere, weighting = as_elsewhere(sample, scores, [59, 1, 0]), UniformPrior(0.1, 0.1)
    here = measure_arcsine_areas(sample, scores.values(), weighting, "trapezoid")
    found = elsewhere.measure_areas(measured("xy"), weighting)
    assert elsewhere.sample.single_unit_classes == sample.single_unit_classes
    assert found.area.tolist() == pytest.approx(here.area.tolist())
    assert found.area_covariance == pytest.approx(here.area_covariance, rel=1e-9)
