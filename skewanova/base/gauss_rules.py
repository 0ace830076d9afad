"""Nodes and weights of numpy's Gauss rules, worked out once each: they are eigenvalues, often asked for."""

from __future__ import annotations

from functools import cache

from numpy.polynomial.hermite import hermgauss
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss

from skewanova.base.checks import Floats

RULES = {"legendre": leggauss, "hermite": hermgauss, "hermite_e": hermegauss}


@cache
def gauss_nodes(rule: str, size: int) -> tuple[Floats, Floats]:
    """Return read-only nodes and weights of one of `RULES`."""
    node, weight = RULES[rule](size)
    node.flags.writeable = weight.flags.writeable = False
    return node, weight
