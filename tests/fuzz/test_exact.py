"""Every curve of up to five cases: each label and tie pattern against exact fractions."""

from fractions import Fraction
from functools import cache

import pytest
import twins

import skewanova as sa

PRIORS = (0.5, 0.01, 1e-9)
FEWER_PRIORS = (0.25, 1e-4)  # 80-digit logarithms take their time
RATIONAL = ("trapezoid", "upper_trapezoid", "average_precision")


@cache
def patterns(n_cases):
    """Every ranking of so many cases, with ties: (positives, negatives) a score, best first."""
    if not n_cases:
        return ((),)
    return tuple(
        ((p, size - p), *rest)
        for size in range(1, n_cases + 1)
        for p in range(size + 1)
        for rest in patterns(n_cases - size)
    )


ALL = [
    (groups, twins.vertices(groups), sa.roc_curve(*twins.labels_and_scores(groups)))
    for n_cases in range(2, 6)
    for groups in patterns(n_cases)
    if any(p for p, _ in groups) and any(n for _, n in groups)
]


def test_all_patterns_are_here_with_roc_and_auc():
    # Sequences of counts (p, n), not both 0, that sum to k cases: 1 / (2 - 1 / (1 - x)^2).
    counts = [2, 7, 24, 82, 280]
    assert [len(patterns(n)) for n in range(1, 6)] == counts
    assert len(ALL) == sum(count - 2**n for n, count in enumerate(counts, start=1) if n > 1)
    assert len({groups for groups, *_ in ALL}) == len(ALL)
    for groups, vertices, roc in ALL:
        labels, scores = twins.labels_and_scores(groups)
        found = [*zip(roc.tpr.tolist(), roc.fpr.tolist(), strict=True)]
        assert found == [(float(t), float(f)) for t, f in vertices], groups
        exact = twins.auc_by_pairs(labels, scores, [1] * len(labels))
        assert sa.auc(roc) == pytest.approx(float(exact), rel=1e-14, abs=1e-300), groups


@pytest.mark.parametrize("estimator", RATIONAL)
def test_auprec_as_fractions(estimator):
    for groups, vertices, roc in ALL:
        areas = sa.auprec(roc, PRIORS, area_estimator=estimator)
        for prior, area in zip(PRIORS, areas.tolist(), strict=True):
            exact = twins.auprec_as_fraction(vertices, prior, estimator)
            assert abs(Fraction(area) - exact) <= exact * Fraction(1, 10**14), (groups, prior)


@pytest.mark.parametrize("estimator", sorted(set(sa.curves.ESTIMATORS) - set(RATIONAL)))
def test_auprec_with_logarithms(estimator):
    for groups, vertices, roc in ALL:
        areas = sa.auprec(roc, FEWER_PRIORS, area_estimator=estimator)
        for prior, area in zip(FEWER_PRIORS, areas.tolist(), strict=True):
            error = twins.relative_error(area, twins.auprec_twin(vertices, prior, estimator))
            assert error < 2e-14, (groups, prior, error)
