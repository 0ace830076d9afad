"""Bootstrap of cases: every resample drawn again by hand from the same seeds, and measured from its rows."""

import numpy as np
import pytest
from loops import each

from skewanova import UniformPrior, iauprec_score
from skewanova.curves.estimators import ESTIMATORS
from skewanova.inference import case_resampling
from skewanova.inference.case_resampling import block_seeds, bootstrap_estimates
from skewanova.inference.sampling import Sample

WEIGHTING = UniformPrior(0.05, 0.3)
LABELS = np.array([1, 0, 1, 0, 0, 1, 0, 0, 1, 0]) == 1
SCORES = np.array([5.0, 5.0, 4.0, 4.5, 3.0, 3.0, 2.0, 2.0, 1.0, 0.5])


def estimates(sample, n_resamples, area_estimator="trapezoid", rng=7):
    options = {"area_estimator": area_estimator, "n_resamples": n_resamples, "rng": rng}
    return bootstrap_estimates(sample, SCORES, WEIGHTING, **options)


def area(labels, scores, area_estimator, weight=None):
    return iauprec_score(
        labels, scores, deployment_prior=WEIGHTING, area_estimator=area_estimator, sample_weight=weight
    )


def streams(n_blocks, rng=7):
    """Generators of the blocks: children of one sequence whose entropy are the next four numbers."""
    entropy = np.random.default_rng(rng).integers(2**32, size=4).tolist()
    return [np.random.default_rng(child) for child in np.random.SeedSequence(entropy).spawn(n_blocks)]


def test_seeds_of_blocks_are_children_of_the_next_numbers():
    rng = np.random.default_rng(3)
    first, second = block_seeds(rng, 2), block_seeds(rng, 2)
    again = np.random.default_rng(3)
    for seeds in (first, second):
        entropy = again.integers(2**32, size=4).tolist()
        assert [seed.entropy for seed in seeds] == [entropy, entropy]
        assert [seed.spawn_key for seed in seeds] == [(0,), (1,)]


@each("area_estimator", ESTIMATORS)
def test_cases_are_drawn_within_their_class_from_the_best_score_down(area_estimator):
    found = estimates(Sample(LABELS), 6, area_estimator)
    (stream,) = streams(1)
    ranked = [np.sort(SCORES[rows])[::-1] for rows in (LABELS, ~LABELS)]
    drawn = [scores[stream.integers(0, len(scores), size=(6, len(scores)))] for scores in ranked]
    labels = np.repeat([1, 0], [4, 6])
    expected = [area(labels, np.concatenate(pair), area_estimator) for pair in zip(*drawn, strict=True)]
    assert found == pytest.approx(expected, abs=1e-14)


CLUSTERS = np.array([0, 0, 1, 2, 2, 1, 3, 4, 5, 3])
WEIGHTS = np.array([1.0, 2, 0.5, 1, 1, 3, 0.25, 1, 1, 2])


@pytest.mark.parametrize(("cluster", "weight"), [(CLUSTERS, None), (None, WEIGHTS), (CLUSTERS, WEIGHTS)])
def test_units_are_drawn_whole_within_their_stratum(cluster, weight):
    sample, expected = Sample(LABELS, cluster, weight), []
    (stream,) = streams(1)
    for _ in range(8):
        times = np.zeros(sample.n_units, dtype=int)
        for rows, size in sample.strata:
            np.add.at(times, rows[stream.integers(0, size, size=size)], 1)
        rows = np.repeat(np.arange(10), times[sample.unit])
        if 0 < LABELS[rows].sum() < len(rows):
            of_rows = None if weight is None else weight[rows]
            expected.append(area(LABELS[rows], SCORES[rows], "trapezoid", of_rows))
    assert estimates(sample, 8) == pytest.approx(expected, abs=1e-14)


def test_a_resample_without_a_class_is_left_out():
    """Two clusters, one of each class and a mixed one that joins them: some draws lack a class."""
    sample = Sample(LABELS, np.where(LABELS, 0, 1))
    found = estimates(sample, 40)
    assert 0 < len(found) < 40
    assert found == pytest.approx(np.full(len(found), area(LABELS, SCORES, "trapezoid")))


@pytest.mark.parametrize(("block", "sizes"), [(0, [1] * 5), (19, [1] * 5), (20, [2, 2, 1]), (30, [3, 2])])
def test_blocks_hold_so_many_cases(monkeypatch, block, sizes):
    monkeypatch.setattr(case_resampling, "MAX_CASES_AT_ONCE", block)
    found = estimates(Sample(LABELS), 5)
    parts = []
    for stream, size in zip(streams(len(sizes)), sizes, strict=True):
        monkeypatch.setattr(case_resampling, "block_seeds", lambda *_, stream=stream: [stream])
        monkeypatch.setattr(case_resampling, "MAX_CASES_AT_ONCE", 1000)
        parts.append(estimates(Sample(LABELS), size))
    assert found.tolist() == np.concatenate(parts).tolist()


def test_the_size_of_blocks_is_part_of_what_repeats():
    assert case_resampling.MAX_CASES_AT_ONCE == 65_536
