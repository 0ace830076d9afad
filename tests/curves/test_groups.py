"""Many groups at once against each by itself: equal in the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import each
from strategies import tie_groups
from twins import labels_and_scores

from skewanova.curves import estimators, roc, sorting
from skewanova.curves import groups as curves_groups
from skewanova.curves.areas import auprec, iauprec
from skewanova.curves.groups import GroupCurves, PackedCurve, PackedCurves, WeightedCurve
from skewanova.priors.weightings import BetaPrior, DiscretePrior, UniformPrior, UniformSkew

PRIORS = np.array([0.5, 0.1, 1e-4])
WEIGHTINGS = [UniformPrior(0.05, 0.2), UniformSkew(4, 19), BetaPrior(2, 30)]


@st.composite
def tables(draw):
    """Labels, scores and sizes of groups; neighbouring groups may share scores, and sizes may agree."""
    groups = draw(st.lists(tie_groups(max_groups=5, max_count=3), min_size=1, max_size=5))
    groups = groups * draw(st.sampled_from([1, 2]))
    rows = [labels_and_scores(group) for group in groups]
    sizes = np.array([len(labels) for labels, _ in rows])
    labels, scores = (np.concatenate(column) for column in zip(*rows, strict=True))
    order = np.concatenate([draw(st.permutations(range(n))) + np.sum(sizes[:i]) for i, n in enumerate(sizes)])
    return labels[order.astype(int)] == 1, scores[order.astype(int)], sizes


def parts(positive, score, sizes):
    cuts = np.cumsum(sizes)[:-1]
    return list(zip(np.split(positive, cuts), np.split(score, cuts), strict=True))


def in_memory(table):
    positive, score, sizes = table
    return GroupCurves([("a", fold) for fold in range(len(sizes))], positive, score, sizes=sizes)


@settings(max_examples=40)
@given(tables(), st.sampled_from([1, 7, 1 << 16]))
def test_curves_are_those_of_each_group(table, block_size):
    curves = in_memory(table)
    single = [roc.curve_from_scores(*part) for part in parts(*table)]
    for one, other in zip(curves.values(), single, strict=True):
        for name in ("fpr", "tpr", "thresholds"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()
        assert (one.n_positive, one.n_negative) == (other.n_positive, other.n_negative)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves_groups, "BLOCK_SIZE", block_size)
        found = curves_groups.aucs_of_groups(curves)
    assert found.tolist() == [roc.auc(curve) for curve in single]


def group_measures(table, weighting, estimator):
    return curves_groups.measures_of_groups(in_memory(table), PRIORS, weighting, estimator)


@each("estimator", estimators.ESTIMATORS)
@settings(max_examples=5)
@given(table=tables(), weighting=st.sampled_from(WEIGHTINGS), block_size=st.sampled_from([7, 1 << 16]))
def test_measures_are_those_of_each_curve(estimator, table, weighting, block_size):
    curves = [roc.curve_from_scores(*part) for part in parts(*table)]
    areas = [auprec(curve, PRIORS, area_estimator=estimator).tolist() for curve in curves]
    means = [iauprec(curve, weighting, area_estimator=estimator) for curve in curves]
    plain = dict(enumerate(curves))
    assert curves_groups.areas_of_groups(plain, PRIORS, estimator).tolist() == areas
    measures = curves_groups.measures_of_groups(plain, PRIORS, weighting, estimator)
    assert measures.iauprec == pytest.approx(means, rel=1e-14)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves_groups, "BLOCK_SIZE", block_size)
        patch.setattr(sorting, "BLOCK_SIZE", block_size)
        found = group_measures(table, weighting, estimator)
    assert (found[0].tolist(), found[1]) == (areas, pytest.approx(means, rel=1e-14))


def drawn(sizes, seed=0):
    rng = np.random.default_rng(seed)
    positive = rng.random(sum(sizes)) < 0.5
    starts = np.cumsum(sizes) - sizes
    positive[starts], positive[starts + 1] = True, False
    return positive, rng.normal(size=sum(sizes)) + positive, np.array(sizes)


@each("sizes", [[40, 30, 40], [6000, 30, 7000, 20], [6000], [30, 6000]])
@each("estimator", estimators.ESTIMATORS)
def test_short_and_long_groups_are_measured_as_each_by_itself(estimator, sizes):
    table = drawn(sizes)
    curves = [roc.curve_from_scores(*part) for part in parts(*table)]
    for weighting in (UniformPrior(0.05, 0.2), ONCE):
        found = group_measures(table, weighting, estimator)
        expected = [auprec(curve, PRIORS, area_estimator=estimator) for curve in curves]
        assert found.auprec == pytest.approx(np.array(expected), rel=1e-13)
        means = [iauprec(curve, weighting, area_estimator=estimator) for curve in curves]
        assert found.iauprec == pytest.approx(means, rel=1e-13)
        assert found.auc == pytest.approx([roc.auc(curve) for curve in curves], rel=1e-13)


ONCE = DiscretePrior([0.1, 0.4], [3, 1])


class Twice:
    """A weighting of one's own: two priors, with weights that sum to 2."""

    low, high = 0.1, 0.4

    def quadrature(self, breaks=()):
        return np.array([0.1, 0.4]), np.array([1.5, 0.5])


@each("estimator", estimators.ESTIMATORS)
@each("sizes", [[40, 30], [40]])
def test_only_the_relative_size_of_weights_matters(estimator, sizes):
    once, twice = (group_measures(drawn(sizes), w, estimator).iauprec for w in (ONCE, Twice()))
    assert twice == pytest.approx(once, rel=1e-14)


@each(("n_rises", "expected"), [(2047, 1), (2048, 2)])
def test_a_curve_of_2048_rises_is_summed_by_itself(n_rises, expected):
    curve = roc.curve_from_scores(np.arange(2 * n_rises) % 2 == 0, -np.arange(2 * n_rises))
    short = roc.curve_from_scores(np.array([True, False]), np.array([1.0, 0.0]))
    batches = [*curves_groups._iter_steps({("a", 0): short, ("a", 1): curve})]
    assert [len(steps.tpr) for steps in batches] == [n_rises + 1]
    assert len([*curves_groups._isolate_long_curves(batches)]) == expected


LABELS = np.array([1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0]) == 1
APART = np.arange(11.0)[::-1]
TIED = np.array([5, 5, 5, 4, 3, 3, 2, 2, 1, 1, 1.0])


@each("score", [APART, APART[::-1], TIED, np.zeros(11)])
def test_a_packed_curve_is_the_curve_without_thresholds(score):
    packed, whole = PackedCurve.from_cases(LABELS, score), roc.curve_from_scores(LABELS, score)
    found = packed.curve()
    assert (found.tpr.tolist(), found.fpr.tolist()) == (whole.tpr.tolist(), whole.fpr.tolist())
    assert (found.n_positive, found.n_negative) == (4.0, 7.0)
    assert np.isnan(found.thresholds).all()
    assert (packed.ends is None, packed.labels.nbytes) == (len(set(score.tolist())) == 11, 2)
    rises, expected = packed.steps(), roc.steps_from_vertices(whole.tpr, whole.fpr)
    for name in ("start_tpr", "start_fpr", "tpr", "fpr", "fpr_at_first_reach"):
        assert getattr(rises, name).tolist() == getattr(expected, name).tolist()


def packed_and_plain():
    scores = {("a", 1): APART, ("a", 2): TIED, ("b", 1): APART[::-1]}
    packed = PackedCurves({cell: PackedCurve.from_cases(LABELS, score) for cell, score in scores.items()})
    return packed, {cell: roc.curve_from_scores(LABELS, score) for cell, score in scores.items()}


@each("estimator", estimators.ESTIMATORS)
def test_packed_curves_are_measured_as_plain_ones(estimator):
    packed, plain = packed_and_plain()
    expected = np.array([auprec(curve, PRIORS, area_estimator=estimator) for curve in plain.values()])
    assert curves_groups.areas_of_groups(packed, PRIORS, estimator) == pytest.approx(expected, rel=1e-13)
    found = curves_groups.measures_of_groups(packed, PRIORS, WEIGHTINGS[0], estimator)
    assert found.auprec == pytest.approx(expected, rel=1e-13)
    assert found.auc == pytest.approx([roc.auc(curve) for curve in plain.values()], rel=1e-13)
    means = [iauprec(curve, WEIGHTINGS[0], area_estimator=estimator) for curve in plain.values()]
    assert found.iauprec == pytest.approx(means, rel=1e-12)


def test_packed_curves_are_a_mapping():
    packed, plain = packed_and_plain()
    assert [*packed] == [*plain]
    assert (("a", 2) in packed, ("z", 2) in packed) == (True, False)
    assert repr(packed) == f"<{len(plain)} ROC curves, packed>"


WEIGHTS = (0.25, 1.0, 3.0)


@settings(max_examples=40)
@given(tables(), st.randoms(use_true_random=False), st.integers(0, 9))
def test_a_weighted_curve_is_that_of_its_cases_and_equal_weights_change_none(table, random, cut):
    """Whatever the order of the rows, and joined of parts that share no score."""
    positive, score, sizes = table
    positive, score = positive[: sizes[0]], score[: sizes[0]]
    weight = np.array([random.choice(WEIGHTS) for _ in positive])
    cases = positive, score, weight
    whole, expected = WeightedCurve.from_cases(*cases), roc.curve_from_scores(*cases)
    assert whole.curve().tpr == pytest.approx(expected.tpr, rel=1e-15)
    assert whole.curve().fpr == pytest.approx(expected.fpr, rel=1e-15)
    assert (whole.curve().n_positive, whole.curve().n_negative) == (expected.n_positive, expected.n_negative)
    order = random.sample(range(len(score)), len(score))
    assert WeightedCurve.from_cases(positive[order], score[order], weight[order]).tobytes() == whole.tobytes()
    assert (whole.n_positive, whole.n_negative) == (positive.sum(), (~positive).sum())
    assert whole.ties() == (np.count_nonzero(score == score.max()), len(np.unique(score)))
    areas = PackedCurves({("a", 1): whole, ("b", 1): whole})
    for found in curves_groups.areas_of_groups(areas, PRIORS, "trapezoid"):
        assert found == pytest.approx(auprec(expected, PRIORS), rel=1e-13)
    below = score < np.unique(score)[cut % len(np.unique(score))]
    if below.any():
        rows = (~below, below)
        some = [WeightedCurve.from_cases(positive[part], score[part], weight[part]) for part in rows]
        assert WeightedCurve.concatenate(some).tobytes() == whole.tobytes()
        assert WeightedCurve.concatenate(some).ties() == whole.ties()
    packed, weight = PackedCurve.from_cases(positive, score), np.full(sizes[0], 2.0)
    weighted = WeightedCurve.from_cases(positive, score, weight)
    for ours, theirs in zip(weighted.counts(), packed.counts(), strict=True):
        assert ours.tolist() == (2.0 * theirs).tolist()
    assert len(weighted.steps().tpr) <= weighted.n_positive
    assert weighted.n_cases == packed.n_cases
