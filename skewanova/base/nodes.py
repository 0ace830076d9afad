"""Nodes and weights of numpy's Gauss rules, worked out once each: they are eigenvalues, often asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from skewanova.base.checks import Floats


@cache
def gauss_nodes(rule: Callable[[int], tuple[Floats, Floats]], size: int) -> tuple[Floats, Floats]:
    """Nodes and weights of a rule such as ``leggauss``; read-only, as everybody has the same."""
    node, weight = rule(size)
    node.flags.writeable = weight.flags.writeable = False
    return node, weight
