"""How many cases speak for a prior: by counting, and at the limits."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import each

from skewanova.inference.intervals import choose_method
from skewanova.priors import evidence
from skewanova.priors.evidence import SLACK, Support, UnitSums, effective_negatives, is_sufficient


@given(st.integers(1, 10**9), st.floats(1, 1e6))
def test_the_rarest_prior_has_just_enough(n_negative, enough):
    rule = Support(n_negative, 1000, enough)
    lower = rule.smallest_prior * (1 - 1e-6)
    assert rule.is_supported([rule.smallest_prior, lower]).tolist() == [True, False]
    assert effective_negatives(n_negative, rule.smallest_prior) == pytest.approx(enough)


def test_the_rarest_prior_by_hand_and_the_spread_of_auto():
    assert [Support(m, 99, e).smallest_prior for m, e in ((900, 100), (100, 100), (30, 50))] == [
        0.1, 0.5, 0.625
    ]  # fmt: skip
    for enough in (50, 100, 30.5):
        near = [enough, enough * (1 - SLACK), enough * (1 - 3 * SLACK)]
        assert is_sufficient(near, enough).tolist() == [True, True, False]
    assert (evidence.MIN_CASES, evidence.MIN_CASES_WITH_TIES) == (Support(1, 1).needed, 50) == (30, 50)
    assert (evidence.MIN_POSITIVES_FOR_INTERVALS, evidence.MIN_NEGATIVES_FOR_INTERVALS) == (30, 100)
    assert evidence.MIN_FOR_JACKKNIFE == 50
    found = effective_negatives(900, [[0.5, 0.1], [0.01, 0.001]])
    np.testing.assert_allclose(found, [[900, 100], [900 / 99, 900 / 999]])
    assert is_sufficient(found, 100).tolist() == [[True, True], [False, False]]
    chosen = {(n, m): choose_method(n, m) for n in (29, 30) for m in (49.9, 50.0)}
    assert chosen == {
        (29, 49.9): "small_sample", (29, 50.0): "small_sample", (30, 49.9): "small_sample",
        (30, 50.0): "jackknife",
    }  # fmt: skip
    assert Support(900, 60).effective_size([0.5, 0.1, 0.01]) == pytest.approx([60, 60, 900 / 99])


@each(("seen", "prior", "why"), [
    ((6, 49, 1000), 0.5, "positives"), ((7, 30, 100), 0.05, ""), ((29, 29, 1000), 0.5, "positives"),
    ((30, 29, 100), 0.05, ""), ((6, 50, 1000), 0.05, ""), ((6, 10_000, 499), 0.49, "negatives"),
    ((6, 10_000, 499), 0.5, ""),
])  # fmt: skip
def test_limits_of_ties(seen, prior, why):
    """Distinct scores, positives, effective negatives."""
    assert evidence.scarce_class(*seen, prior) == why


@each(("seen", "prior", "n_models", "why"), [
    ((29, 300, 99), 0.1, 3, "negatives"), ((29, 300, 99), 0.1, 2, ""), ((29, 300, 100), 0.1, 3, ""),
    ((30, 300, 99), 0.1, 3, ""), ((29, 99, 99), 0.1, 3, ""), ((29, 300, 99), 0.5, 3, ""),
    ((6, 300, 500), 0.1, 3, "negatives"),
    ((29, 49, 100), 0.5, 5, "positives"), ((29, 49, 100), 0.5, 4, ""), ((29, 50, 100), 0.5, 5, ""),
    ((30, 30, 100), 0.5, 5, ""), ((9, 100, 999), 0.1, 5, "negatives"), ((9, 100, 999), 0.1, 4, ""),
    ((9, 100, 1000), 0.1, 5, ""), ((9, 100, 999), 0.5, 5, ""), ((10, 100, 100), 0.1, 5, ""),
])  # fmt: skip
def test_ties_of_more_models_need_more_cases(seen, prior, n_models, why):
    """Pairs of eight models of 11 scores: .028 at .005 (300 + 50 effective negatives), .020 (30 + 100)."""
    assert evidence.scarce_class(*seen, prior, n_models=n_models) == why


SIZES = st.sampled_from([1e-200, 0.5, 1.0, 3.0, 1e200])
UNITS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5), SIZES), min_size=1)


@given(UNITS, st.integers(1, 6))
def test_units_in_parts_weigh_what_all_do(cases, cut):
    """Kind, unit and weight of cases; every unit is in one part, and a part may lack a kind."""
    kind, unit, weight = (np.array(column) for column in zip(*cases, strict=True))
    first = unit < cut
    parts = [UnitSums.from_cases(kind[rows], unit[rows], weight[rows], 3) for rows in (first, ~first)]
    found = UnitSums.merge(parts).reshape(3, 1).effective_number()[:, 0]
    assert found == pytest.approx(UnitSums.from_cases(kind, unit, weight, 3).effective_number(), rel=1e-12)
    for k in range(3):
        held = [Fraction(0)] * 6
        for of, at, size in cases:
            held[at] += Fraction(size) if of == k else 0
        squares = sum(one**2 for one in held)
        assert found[k] == pytest.approx(float(sum(held) ** 2 / squares) if squares else 0.0, rel=1e-9)
