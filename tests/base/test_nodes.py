"""Gauss rules that are worked out once."""

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss

from skewanova.base.nodes import gauss_nodes


@pytest.mark.parametrize("size", [1, 24])
@pytest.mark.parametrize("rule", [leggauss, hermegauss])
def test_rules_are_those_of_numpy(rule, size):
    for ours, theirs in zip(gauss_nodes(rule, size), rule(size), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_rule_is_worked_out_once_and_nobody_may_change_it():
    asked = []

    def rule(size):
        asked.append(size)
        return leggauss(size)

    node, weight = gauss_nodes(rule, 3)
    assert gauss_nodes(rule, 3)[0] is node
    assert asked == [3]
    for held in (node, weight):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 0.0
