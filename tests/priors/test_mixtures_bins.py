"""Bins of scores: quantiles, ties, scales."""

import numpy as np
import pytest
from loops import each

from skewanova.base.checks import InputError
from skewanova.priors.mixtures import bin_edges, bin_scores, binned_auc, count_by_bin


def test_bins_hold_equally_many_labelled_scores():
    scores = np.arange(100)[::-1]
    edges = bin_edges(scores, 8)
    assert count_by_bin(scores, edges).sum() == 100
    assert set(count_by_bin(scores, edges)) <= {12.0, 13.0}
    assert count_by_bin(scores[:80], bin_edges(scores[:80], 8)).tolist() == [10.0] * 8
    assert bin_edges(np.array([2, 0, 1]), 3).tolist() == [0, 1]


@each("scores", [[0] * 90 + [1] * 10, [0] * 10 + [1] * 90, [0, 1]])
def test_two_values_are_two_bins(scores):
    edges = bin_edges(np.array(scores), 8)
    assert edges.tolist() == [0]
    assert count_by_bin(np.array(scores), edges).tolist() == [scores.count(0), scores.count(1)]


def test_scores_all_alike_are_refused():
    with pytest.raises(InputError, match=r"at least two different values, but all are 0.5"):
        bin_edges(np.full(9, 0.5), 4)


def test_few_cases_make_few_bins():
    draw = np.random.default_rng(0)
    for n, bins in ((8, 2), (39, 3), (200, 8)):
        positive = np.repeat([True, False], [n, 400])
        found = bin_scores(positive, draw.normal(size=n + 400), draw.normal(size=50), 8)
        assert len(found.counts.positive) == bins == len(found.edges) + 1
        assert [part.sum() for part in found.counts] == [n, 400, 50]
        assert np.ptp(found.counts.positive + found.counts.negative) <= 1


def test_scale_of_the_scores_is_nothing():
    draw = np.random.default_rng(3)
    positive, score = np.repeat([True, False], 60), draw.normal(size=120).round(1)
    field = draw.normal(size=80)
    one, other = bin_scores(positive, score, field, 5), bin_scores(positive, np.exp(score), np.exp(field), 5)
    either = [[*bins.counts, *bins.shift_classes(positive=0.4)] for bins in (one, other)]
    for a, b in zip(*either, strict=True):
        assert a.tolist() == b.tolist()


def test_a_shift_is_one_in_standard_deviations_of_the_class():
    draw = np.random.default_rng(5)
    positive = np.repeat([True, False], [70, 90])
    found = bin_scores(
        positive, draw.normal(size=160) * np.where(positive, 0.3, 2) + positive, np.zeros(9), 6
    )
    assert [part.tolist() for part in found.shift_classes()] == [part.tolist() for part in found.counts]
    for share in (-0.7, 0.5):
        moved = found.shift_classes(positive=share, negative=share)
        for scores, counts in ((found.positive, moved.positive), (found.negative, moved.negative)):
            above = [np.sum((scores - edge) / scores.std() > -share) for edge in found.normal_edges]
            assert counts[::-1].cumsum()[-2::-1].tolist() == above


def test_separation_is_the_area_under_roc_of_the_bins():
    positive, score = np.array([1, 1, 1, 0, 0, 0], dtype=bool), np.array([3, 3, 1, 1, 0, 0])
    wide = bin_scores(np.repeat(positive, 10), np.repeat(score, 10), score, 3)
    assert binned_auc(wide.counts) == pytest.approx((6 + 2 + 0.5) / 9)
