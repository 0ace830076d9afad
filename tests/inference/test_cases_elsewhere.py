"""Sums over parts of the cases against the same cases in memory."""

import numpy as np
import pytest
from case_values import Pieces

from skewanova.curves.estimators import BY_RISES
from skewanova.curves.groups import PackedCurve
from skewanova.inference.case_deviations import CaseDeviations, Turn, nodes_for
from skewanova.inference.cases_elsewhere import CasesElsewhere, DeviationsElsewhere
from skewanova.inference.jackknife import Ranked, places_of
from skewanova.inference.one_set import angles_of
from skewanova.inference.sampling import CountedSample, Sample
from skewanova.priors.weightings import BetaPrior, UniformPrior

CELLS = (("x", 1), ("y", 1), ("z", 1))


@pytest.fixture(scope="module")
def cases():
    rng = np.random.default_rng(1)
    positive = rng.random(150) < 0.4
    scores = {"x": rng.normal(size=150).round(1) + positive, "y": rng.integers(0, 3, 150) + 2 * positive}
    scores["z"] = scores["x"] + 1e-7 * rng.normal(size=150)
    curves = {(name, 1): PackedCurve.of(positive, score) for name, score in scores.items()}
    sizes = CountedSample.of([(~positive).sum(), positive.sum()])
    pieces = Pieces(positive, {(name, 1): score for name, score in scores.items()})
    return Sample(positive), scores, CasesElsewhere(sizes, curves, pieces)


@pytest.mark.parametrize("area_estimator", BY_RISES)
@pytest.mark.parametrize("weighting", [UniformPrior(0.1, 0.1), UniformPrior(0.05, 0.2)])
def test_angles_are_those_of_memory(cases, area_estimator, weighting):
    sample, scores, elsewhere = cases
    here, covariance = angles_of(sample, scores.values(), weighting, area_estimator)
    found = elsewhere.angles(CELLS, weighting, area_estimator)
    close = {"rel": 1e-10, "abs": 1e-16}
    assert found.area == pytest.approx(here.area, **close)
    assert found.area_covariance == pytest.approx(covariance, **close)
    assert found.covariance == pytest.approx(here.covariance, **close)
    contrasts = np.array([[1.0, -1.0, 0.0], [0.5, 0.5, -1.0]])
    for ours, theirs in (
        (found.pairs(), here.pairs()),
        (found.along(contrasts), here.along(contrasts)),
        (found.own(), sample.spread(here.values * found.scale.slope)),
    ):
        assert np.array(ours) == pytest.approx(np.array(theirs), rel=1e-7)  # of x and z half the digits go


def test_deviations_along_the_prior_are_those_of_memory(cases):
    sample, scores, elsewhere = cases
    priors = np.linspace(0.02, 0.6, 45)
    nodes = nodes_for(priors, 0.02, 0.6, "trapezoid")
    assert len(nodes.priors) < len(priors)
    scale = np.array([[1.0], [2.0], [3.0]]) * np.ones(45)
    turns = [Turn(nodes.weight, scale), Turn(nodes.weight[:, 3:5], scale[:, 3:5])]
    models = [Ranked(sample, score) for score in scores.values()]
    here = CaseDeviations.of(models, nodes.priors, "trapezoid").along(turns)
    found = DeviationsElsewhere(elsewhere, CELLS, nodes.priors, "trapezoid").along(turns)
    for (units, spreads), (other, expected) in zip(found, here, strict=True):
        assert units.T @ units == pytest.approx(other.T @ other, rel=1e-10, abs=1e-15)
        for ours, theirs in zip(spreads, expected, strict=True):
            assert ours == pytest.approx(theirs, rel=1e-6)


def test_what_classes_add_to_the_variance_of_differences_is_that_of_memory(cases):
    sample, scores, elsewhere = cases
    weighting = UniformPrior(0.05, 0.2)
    here, _ = angles_of(sample, scores.values(), weighting, "trapezoid")
    found = elsewhere.angles(CELLS, weighting, "trapezoid")
    values = here.values * found.scale.slope
    pairs = [sample.spread_by_stratum(values[:, i] - values[:, j]) for i, j in ((0, 1), (0, 2), (1, 2))]
    for ours, theirs in zip(found.pair_strata(), zip(*pairs, strict=True), strict=True):
        assert ours == pytest.approx(np.array(theirs), rel=1e-7)
        assert ours.shape == (3, 3)


@pytest.mark.parametrize(
    "weightings",
    [
        [UniformPrior(prior, prior) for prior in np.geomspace(0.02, 0.6, 40)],
        [UniformPrior(0.1, 0.1), UniformPrior(0.05, 0.2)],
        [UniformPrior(0.1, 0.1), BetaPrior(2.0, 30.0)],
    ],
)
def test_rows_stand_for_the_units(cases, weightings):
    sample, scores, elsewhere = cases
    area, rows = elsewhere.rows_along(CELLS, weightings, "trapezoid")
    assert (area.shape, rows.shape[1:]) == ((3, len(weightings)), (3, len(weightings)))
    assert len(rows) <= 3 * 36  # three models at a few nodes serve for 40 priors
    for k in (0, len(weightings) // 2, len(weightings) - 1):
        here, covariance = angles_of(sample, scores.values(), weightings[k], "trapezoid")
        assert area[:, k] == pytest.approx(here.area, rel=1e-10)
        assert rows[..., k].T @ rows[..., k] == pytest.approx(covariance, rel=1e-9, abs=1e-16)


def test_a_count_of_cases_is_a_sample():
    here, counted = Sample(np.arange(7) < 3), CountedSample.of((4, 3))
    for name in ("n_units", "df", "alone"):
        assert getattr(counted, name) == getattr(here, name)
    assert [size for _, size in counted.strata] == [size for _, size in here.strata]
    sizes = [[each.effective_size(positive=side) for side in (True, False)] for each in (counted, here)]
    assert sizes[0] == sizes[1]
    assert CountedSample.of((1, 1)).alone == Sample(np.array([True, False])).alone


@pytest.mark.parametrize("digits", [0, 9])
def test_counts_of_a_packed_curve_are_those_of_its_scores(digits):
    rng = np.random.default_rng(0)
    positive, score = rng.random(60) < 0.5, rng.normal(size=60).round(digits)
    gain, fall = PackedCurve.of(positive, score).counts()
    places = places_of(Sample(positive), score)
    assert gain.tolist() == np.bincount(places.rise).tolist()
    assert fall.tolist() == np.bincount(places.slot, minlength=len(fall)).tolist()
