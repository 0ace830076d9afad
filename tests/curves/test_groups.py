"""Many groups at once against each by itself: equal in the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import tie_groups
from twins import labels_and_scores

from skewanova.curves import groups as curves_groups
from skewanova.curves import sorting
from skewanova.curves.areas import auprec, iauprec
from skewanova.curves.estimators import ESTIMATORS
from skewanova.curves.roc import auc, curve_from_scores
from skewanova.priors.weightings import BetaPrior, UniformPrior, UniformSkew

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


@settings(max_examples=40)
@given(tables(), st.sampled_from([1, 7, 1 << 16]))
def test_curves_are_those_of_each_group(table, block_size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves_groups, "BLOCK_SIZE", block_size)
        found = curves_groups.curves_of_groups(*table)
    single = [curve_from_scores(*part) for part in parts(*table)]
    assert len(found) == len(single)
    for one, other in zip(found, single, strict=True):
        for name in ("fpr", "tpr", "thresholds"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()
        assert (one.n_positive, one.n_negative) == (other.n_positive, other.n_negative)
    assert curves_groups.aucs_of_curves(found).tolist() == [auc(curve) for curve in single]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@settings(max_examples=12)
@given(table=tables(), weighting=st.sampled_from(WEIGHTINGS), block_size=st.sampled_from([7, 1 << 16]))
def test_measures_are_those_of_each_curve(estimator, table, weighting, block_size):
    curves = [curve_from_scores(*part) for part in parts(*table)]
    areas = [auprec(curve, PRIORS, estimator=estimator).tolist() for curve in curves]
    means = [iauprec(curve, weighting, estimator=estimator) for curve in curves]
    assert curves_groups.areas_of_curves(curves, PRIORS, estimator).tolist() == areas
    assert curves_groups.mean_areas_of_curves(curves, weighting, estimator) == pytest.approx(means, rel=1e-14)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(curves_groups, "BLOCK_SIZE", block_size)
        patch.setattr(sorting, "BLOCK_SIZE", block_size)
        found = curves_groups.group_measures(*table, prior=PRIORS, weighting=weighting, estimator=estimator)
    assert found[0].tolist() == areas
    assert found[1] == pytest.approx(means, rel=1e-14)
