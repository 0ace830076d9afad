"""Every curve of up to six cases: each label and tie pattern against exact fractions."""

import random
from fractions import Fraction
from functools import cache

import pytest
import twins
from loops import each

import skewanova as sa

MOST_CASES = 6
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


def both_classes(groups):
    return any(p for p, _ in groups) and any(n for _, n in groups)


ALL = [groups for n in range(2, MOST_CASES + 1) for groups in filter(both_classes, patterns(n))]


@cache
def curve_of(groups):
    return sa.roc_curve(*twins.labels_and_scores(groups))


def test_all_patterns_are_here():
    # Sequences of counts (p, n), not both 0, that sum to k cases: 1 / (2 - 1 / (1 - x)^2).
    assert [len(patterns(n)) for n in range(1, 7)] == [2, 7, 24, 82, 280, 956]
    assert len(ALL) == sum(
        count - 2 * 2 ** (n - 1) for n, count in zip(range(2, 7), [7, 24, 82, 280, 956], strict=True)
    )
    assert len(set(ALL)) == len(ALL)


def test_roc_and_auc():
    for groups in ALL:
        labels, scores = twins.labels_and_scores(groups)
        roc = curve_of(groups)
        told = [*zip(roc.tpr.tolist(), roc.fpr.tolist(), strict=True)]
        assert told == [(float(t), float(f)) for t, f in twins.vertices(groups)], groups
        exact = twins.auc_by_pairs(labels, scores, [1] * len(labels))
        assert sa.auc(roc) == pytest.approx(float(exact), rel=1e-14, abs=1e-300), groups


@pytest.mark.parametrize("estimator", RATIONAL)
def test_auprec_as_fractions(estimator):
    for groups in ALL:
        areas = sa.auprec(curve_of(groups), PRIORS, area_estimator=estimator)
        for prior, area in zip(PRIORS, areas.tolist(), strict=True):
            exact = twins.auprec_as_fraction(twins.vertices(groups), prior, estimator)
            assert abs(Fraction(area) - exact) <= exact * Fraction(1, 10**14), (groups, prior)


@pytest.mark.parametrize("estimator", sorted(set(sa.curves.ESTIMATORS) - set(RATIONAL)))
def test_auprec_with_logarithms(estimator):
    for groups in ALL:
        curve = twins.vertices(groups)
        areas = sa.auprec(curve_of(groups), FEWER_PRIORS, area_estimator=estimator)
        for prior, area in zip(FEWER_PRIORS, areas.tolist(), strict=True):
            error = twins.relative_error(area, twins.auprec_twin(curve, prior, estimator))
            assert error < 2e-14, (groups, prior, error)


WEIGHTINGS = {
    "priors": (sa.UniformPrior(0.05, 0.2), (0.05, 0.2), twins.uniform_prior_density),
    "skews": (sa.UniformSkew(4, 19), (0.05, 0.2), twins.uniform_skew_density),
}


@each("weighting", sorted(WEIGHTINGS))
@each("estimator", sa.curves.ESTIMATORS)
def test_iauprec_by_quadrature(estimator, weighting):
    prior, limits, density = WEIGHTINGS[weighting]
    for groups in random.Random(f"{estimator} {weighting}").sample(ALL, 3):
        curve = twins.vertices(groups)
        truth = twins.mean_over_priors(
            lambda pi, curve=curve: twins.auprec_twin(curve, pi, estimator),
            density,
            tuple(map(twins.log_odds, limits)),
        )
        got = sa.iauprec(curve_of(groups), prior, area_estimator=estimator)
        # Smooth only where the same threshold keeps the largest precision at a recall.
        assert twins.relative_error(got, truth) < 1e-9, groups
