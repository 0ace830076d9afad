"""Effective sample size at a prior, and the minimum required for inference.

At a prior rarer than the sample's, m negatives weigh as much as m / skew of them: one false alarm among them
moves precision by that much. All limits stand here, side by side.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova.base.checks import Bools, Floats

#: Effective negatives below which a number over folds rests on too few false alarms.
MIN_NEGATIVES_OVER_FOLDS = 50


#: Effective negatives below which the spread over cases of one test set is estimated too small.
MIN_NEGATIVES_OVER_CASES = 100


#: Positives below which the interval by the jackknife covers too seldom.
MIN_POSITIVES_FOR_INTERVALS = 30


#: Positives of the smallest fold below which the mean area over folds may be off that of large samples by
#: more than its standard error (20 folds, N(0, 1) against N(1, 1), prior .5: -1.2 with 30, -2.6 with 5).
MIN_POSITIVES_PER_FOLD = 30


#: Positives below which standard errors over cases are rough.
MIN_POSITIVES_FOR_TESTS = 50


#: Distinct scores below which most cases tie: no test over cases holds then with few positives.
MIN_DISTINCT_SCORES = 30


#: Distinct scores below which an area at rare priors hangs on the negatives of one or two of them, so that no
#: test over cases holds, whatever the positives, with fewer effective negatives than these
#: (docs/studies/paired.md). From the prior on it holds.
VERY_FEW_SCORES, ENOUGH_WITH_VERY_FEW, RARE_WITH_VERY_FEW = 10, 1000, 0.5


#: Share by which rounding may take an effective number below its limit.
SLACK = 1e-9


Codes = NDArray[np.intp]


class UnitSums(NamedTuple):
    """Weights of the units of every kind: the largest, and sums of fractions of it and of their squares."""

    largest: Floats
    total: Floats
    squares: Floats

    @classmethod
    def from_cases(cls, kind: Codes, unit: Codes, weight: Floats | None, n_kinds: int) -> UnitSums:
        """Sum what the cases of every unit and kind weigh."""
        size = unit.max(initial=0) + 1
        each, codes = np.unique(kind * size + unit, return_inverse=True)
        weights, of = np.bincount(codes.reshape(-1), weights=weight).astype(np.float64), each // size
        largest = np.zeros(n_kinds)
        np.maximum.at(largest, of, weights)
        share = weights / largest[of]  # squares may leave the doubles
        sums = [np.bincount(of, weights=part, minlength=n_kinds) for part in (share, share**2)]
        return cls(largest, *(part.astype(np.float64) for part in sums))

    @classmethod
    def merge(cls, parts: Sequence[UnitSums]) -> UnitSums:
        """Merge the sums of parts that share no unit."""
        largest = np.max([part.largest for part in parts], axis=0)
        scale = [part.largest / np.where(largest > 0, largest, 1.0) for part in parts]
        total = np.sum([part.total * by for part, by in zip(parts, scale, strict=True)], axis=0)
        squares = np.sum([part.squares * by**2 for part, by in zip(parts, scale, strict=True)], axis=0)
        return cls(largest, total, squares)

    def reshape(self, *shape: int) -> UnitSums:
        """Return the sums with the kinds in another shape."""
        return UnitSums(*(part.reshape(shape) for part in self))

    def effective_number(self) -> Floats:
        """Return the effective number of units (Kish 1965)."""
        return np.asarray(self.total**2 / np.maximum(self.squares, 1.0))  # the largest alone has 1


def kish_effective_size(kind: Codes, unit: Codes, weight: Floats | None, n_kinds: int) -> Floats:
    """Return the effective number of units (Kish) in every kind."""
    return UnitSums.from_cases(kind, unit, weight, n_kinds).effective_number()


def effective_negatives(n_negative: ArrayLike, prior: ArrayLike) -> Floats:
    """Return the effective number of negatives at a prior: negatives over the skew."""
    pi = np.asarray(prior, dtype=np.float64)
    return np.asarray(np.asarray(n_negative) * pi / (1 - pi))


def smallest_supported_prior(n_negative: float, enough: float) -> float:
    """Return the smallest prior at which the effective number of negatives is `enough`."""
    return float(enough / (enough + n_negative))


def scarce_class(n_scores: float, n_positive: float, effective: float, prior: float) -> str:
    """Return the class that is too small for a test with so few distinct scores, or ''."""
    if n_scores < MIN_DISTINCT_SCORES and n_positive < MIN_POSITIVES_FOR_TESTS:
        return "positives"
    rare = prior < RARE_WITH_VERY_FEW and not is_sufficient(effective, ENOUGH_WITH_VERY_FEW)
    if n_scores < VERY_FEW_SCORES and rare:
        return "negatives"
    return ""


def is_sufficient(effective: ArrayLike, enough: float) -> Bools:
    """Return True where the effective number is sufficient, up to rounding."""
    return np.asarray(np.asarray(effective) >= enough * (1 - SLACK))
