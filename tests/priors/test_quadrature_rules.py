"""Gauss rules that are worked out once."""

import pytest

from skewanova.priors.quadrature import gauss_nodes


def test_a_rule_is_worked_out_once_and_nobody_may_change_it():
    node, weight = gauss_nodes("legendre", 3)
    assert gauss_nodes("legendre", 3)[0] is node
    for held in (node, weight):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 0.0
