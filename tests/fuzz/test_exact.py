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
