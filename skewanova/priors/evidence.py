"""Effective sample sizes, and the smallest sizes required for inference.

At a small prior, m negatives have the effective number m / skew, because one false positive among them
changes the precision as much as one among m / skew does at the prior 0.5.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skewanova.base.checks import Bools, Floats

#: Fewest distinct positives, and effective negatives at a prior, that support a judgement; the second
#: number where scores have fewer than `MIN_DISTINCT_SCORES` values or are not available
#: (studies/records/support.md).
MIN_CASES, MIN_CASES_WITH_TIES = 30, 50


#: Fewest effective negatives for jackknife intervals of an area (studies/records/support.md).
MIN_FOR_JACKKNIFE = 50


#: Fewest effective negatives for bootstrap intervals; with fewer, the variance is underestimated.
MIN_NEGATIVES_FOR_INTERVALS = 100


#: Fewest positives for jackknife intervals of an area (studies/records/support.md).
MIN_POSITIVES_FOR_INTERVALS = 30


#: Fewest positives for any test; with fewer, tests of several models exceed their level
#: (studies/records/support.md).
MIN_POSITIVES = 10


#: Fewest positives of a fold; with fewer, single cases determine its area.
MIN_POSITIVES_PER_FOLD = 10


#: Fewest positives of a fold for areas like those of large samples; with fewer, the bias of their mean may
#: exceed its standard error (20 folds, N(0, 1) against N(1, 1), prior .5: -1.2 of it with 30 positives, -2.6
#: with 5).
MIN_POSITIVES_FOR_LARGE_FOLDS = 30


#: Fewest positives for tests over cases by the number of distinct scores: with fewer than 30, fewer than 7
#: (studies/records/levels.md).
MIN_POSITIVES_WITH_TIES = {30: 30, 7: 50}


#: Distinct scores below which most cases tie, and below which they are very few.
MIN_DISTINCT_SCORES, VERY_FEW_SCORES = MIN_POSITIVES_WITH_TIES


#: With very few distinct scores, tests over cases need this many effective negatives at priors below the last
#: number, because the area depends on the negatives at one or two scores (studies/records/paired.md).
ENOUGH_WITH_VERY_FEW, RARE_WITH_VERY_FEW = 1000, 0.5


#: With few distinct scores, tests of more models need this many effective negatives where positives outnumber
#: them, because the variance lacks the negatives at a best score without any (studies/records/paired.md).
MAX_MODELS_WITH_TIES, ENOUGH_WITH_TIES = 2, 100


#: With more models than this, few distinct scores need `MIN_CASES_WITH_TIES` positives, and scores are very
#: few below the second number (studies/records/paired.md).
MANY_MODELS, VERY_FEW_FOR_MANY_MODELS = 4, 10


#: Relative tolerance for rounding errors in effective numbers.
SLACK = 1e-9


Codes = NDArray[np.intp]


class UnitSums(NamedTuple):
    """Largest weight of the units of every kind, and sums of weights and squares relative to it."""

    largest: Floats
    total: Floats
    squares: Floats

    @classmethod
    def from_cases(cls, kind: Codes, unit: Codes, weight: Floats | None, n_kinds: int) -> UnitSums:
        """Return sums by kind over units, which weigh their cases of that kind together (each 1 if None)."""
        size = unit.max(initial=0) + 1
        each, codes = np.unique(kind * size + unit, return_inverse=True)
        weights = np.bincount(codes.reshape(-1), weights=weight).astype(np.float64)
        unit_kind = each // size
        largest = np.zeros(n_kinds)
        np.maximum.at(largest, unit_kind, weights)
        share = weights / largest[unit_kind]  # squares of the weights could overflow
        sums = [np.bincount(unit_kind, weights=part, minlength=n_kinds) for part in (share, share**2)]
        return cls(largest, *(part.astype(np.float64) for part in sums))

    @classmethod
    def merge(cls, parts: Sequence[UnitSums]) -> UnitSums:
        """Return the sums over the units of all parts, which have no unit in common."""
        largest = np.max([part.largest for part in parts], axis=0)
        scale = [part.largest / np.where(largest > 0, largest, 1.0) for part in parts]
        total = np.sum([part.total * by for part, by in zip(parts, scale, strict=True)], axis=0)
        squares = np.sum([part.squares * by**2 for part, by in zip(parts, scale, strict=True)], axis=0)
        return cls(largest, total, squares)

    def reshape(self, *shape: int) -> UnitSums:
        """Return the same sums, each array reshaped to `shape`."""
        return UnitSums(*(part.reshape(shape) for part in self))

    def effective_number(self) -> Floats:
        """Return (sum of weights)^2 / (sum of squares) of each kind's units (Kish 1965), 0 without any."""
        return np.asarray(self.total**2 / np.maximum(self.squares, 1.0))  # squares are 0 or at least 1


def effective_negatives(n_negative: ArrayLike, prior: ArrayLike) -> Floats:
    """Return n_negative * prior / (1 - prior): the number of negatives divided by the skew."""
    pi = np.asarray(prior, dtype=np.float64)
    return np.asarray(np.asarray(n_negative) * pi / (1 - pi))


@dataclass(frozen=True)
class Support:
    """The rule that decides at which priors the data support a judgement.

    `n_negative` and `n_positive` are the effective numbers of distinct cases, or of clusters with cases of
    the class. At least `needed` positives are needed, and so many effective negatives at a prior.
    """

    n_negative: float
    n_positive: float
    needed: int = MIN_CASES

    @property
    def smallest_prior(self) -> float:
        """Smallest prior with `needed` effective negatives, needed / (needed + n_negative)."""
        return float(self.needed / (self.needed + self.n_negative))

    @property
    def has_enough_positives(self) -> bool:
        """True if `n_positive` is at least `needed`, up to rounding."""
        return bool(is_sufficient(self.n_positive, self.needed))

    def effective_size(self, prior: ArrayLike) -> Floats:
        """Return the smaller of `n_positive` and the effective negatives at each prior."""
        return np.minimum(self.n_positive, effective_negatives(self.n_negative, prior))

    def is_supported(self, prior: ArrayLike) -> Bools:
        """Return True for each prior with at least `needed` effective negatives, whatever `n_positive`."""
        return is_sufficient(effective_negatives(self.n_negative, prior), self.needed)


def scarce_class(
    n_scores: float, n_positive: float, n_effective_negative: float, prior: float, *, n_models: int = 2
) -> str:
    """Return "positives" if too few for so few distinct scores, else "negatives" (not from .5 on), or ""."""
    limits, very_few = MIN_POSITIVES_WITH_TIES, VERY_FEW_SCORES
    if n_models > MANY_MODELS:
        limits, very_few = {MIN_DISTINCT_SCORES: MIN_CASES_WITH_TIES}, VERY_FEW_FOR_MANY_MODELS
    if any(n_scores < few and n_positive < least for few, least in limits.items()):
        return "positives"
    several = n_models > MAX_MODELS_WITH_TIES and n_positive > n_effective_negative
    enough = ENOUGH_WITH_TIES if several and n_scores < MIN_DISTINCT_SCORES else 0
    enough = ENOUGH_WITH_VERY_FEW if n_scores < very_few else enough
    scarce = prior < RARE_WITH_VERY_FEW and not is_sufficient(n_effective_negative, enough)
    return "negatives" if scarce else ""


def is_sufficient(effective: ArrayLike, enough: float) -> Bools:
    """Return True where the number `effective` is at least `enough`, up to rounding."""
    return np.asarray(np.asarray(effective) >= enough * (1 - SLACK))
