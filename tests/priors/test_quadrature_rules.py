"""Gauss rules that are worked out once."""

import numpy as np
import pytest
from loops import each

from skewanova.priors.quadrature import RULES, gauss_nodes


@each("size", [1, 24])
@each("rule", RULES)
def test_rules_are_those_of_numpy(rule, size):
    for ours, theirs in zip(gauss_nodes(rule, size), RULES[rule](size), strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_rule_is_worked_out_once_and_nobody_may_change_it():
    node, weight = gauss_nodes("legendre", 3)
    assert gauss_nodes("legendre", 3)[0] is node
    for held in (node, weight):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 0.0
