from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from messages import exact, expect_error
from sklearn import metrics
from strategies import tie_groups

from skewanova.curves import roc, sorting


def curve_of(groups):
    return roc.roc_curve(*twins.labels_and_scores(groups))


def points(curve):
    return list(zip(curve.tpr.tolist(), curve.fpr.tolist(), strict=True))


def as_floats(vertices):
    return [(float(t), float(f)) for t, f in vertices]


@given(st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), min_size=2, max_size=25))
def test_curve_equals_brute_force(rows):
    labels, scores = zip(*rows, strict=True)
    if len(set(labels)) < 2:
        return
    curve = roc.roc_curve(labels, scores)
    assert points(curve) == as_floats(twins.roc_by_thresholds(labels, scores))
    assert curve.thresholds.tolist() == [np.inf, *sorted(set(scores), reverse=True)]
    assert (curve.n_positive, curve.n_negative) == (sum(labels), len(labels) - sum(labels))


@given(tie_groups(), st.randoms(use_true_random=False))
def test_auc_equals_pair_counting(groups, random):
    labels, scores = twins.labels_and_scores(groups)
    weights = [random.randint(1, 4) for _ in labels]
    unit = twins.auc_by_pairs(labels, scores, [1] * len(labels))
    weighted = twins.auc_by_pairs(labels, scores, weights)
    assert roc.auc(roc.roc_curve(labels, scores)) == pytest.approx(float(unit), rel=1e-14, abs=1e-15)
    curve = roc.roc_curve(labels, scores, sample_weight=weights)
    assert roc.auc(curve) == pytest.approx(float(weighted), rel=1e-14, abs=1e-15)


@each("n_negative", range(1, 60))
def test_auc_of_perfect_constant_and_reversed_rankings_is_exact(n_negative):
    negatives = list(range(n_negative))
    labels = [0] * n_negative + [1] * 3
    assert roc.auc(roc.roc_curve(labels, [*negatives, 90, 91, 92])) == 1.0
    assert roc.auc(roc.roc_curve(labels, [*negatives, -1, -2, -3])) == 0.0
    assert roc.auc(roc.roc_curve(labels, [7] * (n_negative + 3))) == 0.5


def test_scores_keep_their_dtype_and_rates_their_digits():
    large = roc.roc_curve([0, 1, 0, 1], 2**53 + np.arange(4, dtype=np.uint64))
    assert points(large) == [(0.0, 0.0), (0.5, 0.0), (0.5, 0.5), (1.0, 0.5), (1.0, 1.0)]
    assert len(roc.roc_curve([0, 1, 0], np.array([1.0, 1.0 + 1e-9, 0.0], np.float32)).fpr) == 3
    assert len(roc.roc_curve([0, 1, 0], np.array([1.0, 1.0 + 1e-9, 0.0])).fpr) == 4
    curve = roc.roc_curve([0, 1, 1, 0], np.array([True, True, False, False]))
    assert curve.thresholds.tolist() == [np.inf, 1.0, 0.0]
    assert {v.dtype for v in (curve.fpr, curve.tpr, curve.thresholds)} == {np.dtype(float)}
    curve = roc.roc_curve(["b", "a", "a"], [3, 2, 1], pos_label="b")
    assert points(curve) == [(0.0, 0.0), (1.0, 0.0), (1.0, 0.5), (1.0, 1.0)]
    flipped = roc.roc_curve(["b", "a", "a"], [3, 2, 1], pos_label="a")
    assert points(flipped) == [(f, t) for t, f in points(curve)]
    # one light negative above many heavy ones: its rate decides precision at low recall
    n = 3000
    weights = np.concatenate(([1.0, 1e-12], np.full(n, 0.1), [1.0]))
    curve = roc.roc_curve([1, 0] + [0] * n + [1], np.arange(n + 3, 0, -1), sample_weight=weights)
    total = sum(map(Fraction, weights[1:-1].tolist()))
    assert curve.fpr[2] == pytest.approx(float(Fraction(1e-12) / total), rel=1e-12)
    assert curve.fpr[0] == curve.fpr[1] == 0.0
    assert curve.fpr[-1] == curve.tpr[-1] == 1.0
    curve = roc.RocCurve.from_rates([0, 0, 0.5, 1], [0, 0.5, 1, 1], n_positive=3, n_negative=4)
    assert points(curve) == [(0.0, 0.0), (0.5, 0.0), (1.0, 0.5), (1.0, 1.0)]
    assert np.isnan(curve.thresholds).all()
    assert (len(curve.thresholds), curve.n_positive, curve.n_negative) == (4, 3.0, 4.0)
    assert np.isnan(roc.RocCurve.from_rates([0, 1], [0, 1]).n_positive)
    repeated = roc.RocCurve.from_rates([0, 0, 0, 0.5, 0.5, 1, 1], [0, 0, 0.5, 1, 1, 1, 1])
    assert (points(repeated), len(repeated.thresholds)) == (points(curve), 4)


UNEQUAL, BOTH = "arguments must be equally long, but ", "`y_true` must hold both classes, but has no "
WEIGHT = "`sample_weight` must be "


@each(("arguments", "message"), [
    (([0, 1], [0, "b"]),
     "`y_score` must hold real numbers, but has dtype <U21; the first that is not a number is 'b' at row 1"),
    (([0, 1], [[1], [2]]), "`y_score` must be one-dimensional, but has shape (2, 1); pass one column or row"),
    (([[0], [1]], [1, 2]), "`y_true` must be one-dimensional, but has shape (2, 1); pass one column or row"),
    (([0, 1], [1, 2, 3]), UNEQUAL + "`y_true` has 2, `y_score` has 3"),
    (([0, 0], [1, 2]), BOTH + "positive case"), (([1, 1], [1, 2]), BOTH + "negative case"),
    (([0, 1, 0], [1, 2, 3], [1, 1]), UNEQUAL + "`y_score` has 3, `sample_weight` has 2"),
    (([0, 1, 0], [1, 2, 3], [1, -1, 1]), WEIGHT + "finite and not negative, but row 1 has -1"),
    (([0, 1, 0], [1, 2, 3], [1, 0, 1]), BOTH + "positive case of weight above 0"),
    (([0, 1, 0], [1, 2, 3], [0, 1, 0]), BOTH + "negative case of weight above 0"),
    (([0, 1], [1, 2], ["1", "1"]), WEIGHT + "a list of numbers, but got ['1', '1']"),
])  # fmt: skip
def test_bad_input(arguments, message):
    labels, scores, weight = (*arguments, None)[:3]
    with pytest.raises(TypeError if "numbers" in message else ValueError, match=exact(message)):
        roc.roc_curve(labels, scores, sample_weight=weight)


@given(tie_groups(), st.data())
def test_integer_weights_equal_repeated_rows(groups, data):
    labels, scores = map(np.array, twins.labels_and_scores(groups))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(labels), max_size=len(labels))))
    if not (weights[labels == 1].sum() and weights[labels == 0].sum()):
        return
    weighted = roc.roc_curve(labels, scores, sample_weight=weights)
    repeated = roc.roc_curve(np.repeat(labels, weights), np.repeat(scores, weights))
    assert points(weighted) == points(repeated)
    assert weighted.thresholds.tolist() == repeated.thresholds.tolist()
    assert (weighted.n_positive, weighted.n_negative) == (repeated.n_positive, repeated.n_negative)


@given(tie_groups(max_groups=12, max_count=3))
def test_hull_equals_monotone_chain(groups):
    curve, truth = curve_of(groups), twins.upper_hull(twins.vertices(groups))
    hull = roc.convex_hull(curve)
    found = points(hull)
    assert (hull.n_positive, hull.n_negative) == (curve.n_positive, curve.n_negative)
    corners = np.isin(curve.thresholds, hull.thresholds)
    assert found == [point for point, corner in zip(points(curve), corners, strict=True) if corner]
    assert set(as_floats(truth)) <= set(found) <= set(points(curve))
    for a, b in pairwise(truth):  # whatever else is kept lies on an edge
        for t, f in found:
            if a[1] < f < b[1]:
                edge = float(a[0]) + (f - float(a[1])) * float((b[0] - a[0]) / (b[1] - a[1]))
                assert t == pytest.approx(edge, abs=1e-14)
    assert roc.auc(hull) == pytest.approx(float(twins.area_under(truth)), rel=1e-14)


@each("fpr", [
    [0, 0.6, 0.5, 1], [0.1, 0.2, 0.5, 1], [0, 0.2, 0.5, 0.9], [0, np.nan, 0.5, 1], [[0, 1]], [1], [],
    [0, 1 + 1e-12],
])  # fmt: skip
def test_bad_rates(fpr):
    shown = np.array2string(np.asarray(fpr, dtype=float), precision=17)
    message = f"`fpr` must rise from 0 to 1 without falling, but got {shown}"
    expect_error(exact(message), roc.RocCurve.from_rates, fpr, [0, 0.5, 0.6, 1], error=ValueError)
    expect_error(exact(message.replace("fpr", "tpr")), roc.RocCurve.from_rates, [0, 0.5, 0.6, 1], fpr)
    message, make = "`fpr` must be a list of numbers", roc.RocCurve.from_rates
    expect_error(message, make, ["0", "1"], fpr, error=TypeError)
    expect_error(exact(UNEQUAL + "`fpr` has 2, `tpr` has 3"), roc.RocCurve.from_rates, [0, 1], [0, 0.5, 1])


@each("high", [0.013, 0.5, 1.0])
def test_partial_auc_against_scikit_learn(high):
    rng = np.random.default_rng(0)
    labels = rng.random(300) < 0.4
    score = np.round(rng.normal(labels), 1)
    area = roc.auc(roc.roc_curve(labels, score), fpr_range=(0, high))
    lowest, highest = high**2 / 2, high  # McClish 1989; the whole area is left as it is
    standardised = area if high == 1 else ((area - lowest) / (highest - lowest) + 1) / 2
    assert standardised == pytest.approx(metrics.roc_auc_score(labels, score, max_fpr=high), rel=1e-12)


def test_parts_of_the_auc_add_up_and_rises_by_hand():
    curve = roc.roc_curve([0, 0, 1, 1, 0, 1], [1, 2, 2, 3, 3, 4])
    cuts = [0, 0.1, 0.35, 0.8, 1]
    parts = [roc.auc(curve, fpr_range=limits) for limits in pairwise(cuts)]
    assert sum(parts) == pytest.approx(roc.auc(curve), rel=1e-14)
    assert roc.auc(curve, fpr_range=(0, 1), normalised=True) == pytest.approx(roc.auc(curve))
    narrow = roc.auc(curve, fpr_range=(0.5, 0.5 + 1e-9), normalised=True)
    assert narrow == pytest.approx(np.interp(0.5, curve.fpr, curve.tpr), abs=1e-6)
    # From the best score down: two negatives, a tie of both classes, a negative, a positive, a negative.
    labels, scores = [0, 0, 1, 0, 0, 1, 0], [9, 8, 7, 7, 6, 5, 4]
    known = [[0, 0.4, 0.5, 0.6, 0], [0.5, 0.8, 1, 0.8, 0.6]]
    assert columns(roc.concatenate_steps(list(roc.steps_from_curve(roc.roc_curve(labels, scores))))) == known
    rises = roc.steps_from_scores(np.array(labels) == 1, np.array(scores))
    assert columns(roc.concatenate_steps(list(rises))) == known


@each("limits", [(0.5, 0.2), (0, 0), (-0.1, 0.5), (0, 1.1), (0,), (0, float("nan"))])
def test_range_of_rates_is_checked(limits):
    expect_error(r"`fpr_range` must be", roc.auc, roc.roc_curve([0, 1], [0, 1]), fpr_range=limits)


def columns(rises):
    columns = rises.start_tpr, rises.start_fpr, rises.tpr, rises.fpr, rises.fpr_at_first_reach
    return np.array(columns).T.tolist()


def test_rises_in_blocks_are_those_at_once(monkeypatch):
    rng = np.random.default_rng(0)
    positive = rng.random((3, 90)) < 0.4
    score = rng.normal(positive).round(1)
    curves = [roc.roc_curve(*each) for each in zip(positive, score, strict=True)]
    whole = [roc.steps_from_vertices(curve.tpr, curve.fpr) for curve in curves]
    for module in (roc, sorting):
        monkeypatch.setattr(module, "BLOCK_SIZE", 13)
    for curve, labels, scores, rises in zip(curves, positive, score, whole, strict=True):
        blocks = list(roc.steps_from_curve(curve))
        assert [len(block.tpr) for block in blocks[:-1]] == [13] * (len(blocks) - 1)
        assert columns(roc.concatenate_steps(blocks)) == columns(rises)
        assert columns(roc.concatenate_steps(list(roc.steps_from_scores(labels, scores)))) == columns(rises)
        np.testing.assert_array_equal(rises.height, rises.tpr - rises.start_tpr)
    assert [columns(part) for part in roc.batch_steps(iter(whole))] == [columns(rises) for rises in whole]
    small = [rises.select(slice(9)) for rises in whole]
    joined = [roc.concatenate_steps(small[:2]), small[2]]
    assert [columns(part) for part in roc.batch_steps(small)] == [columns(part) for part in joined]
