"""Estimation of the prior from audited labels, stratified by score, without label shift.

The share of each stratum in all cases counts as known, and its labelled cases are binomial.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq
from scipy.special import xlogy

from skewanova.base.checks import Floats, InputError, InputTypeError, check_same_length, check_vector
from skewanova.priors.mixtures import CASES_PER_BIN, count_by_bin

#: Most strata.
MAX_STRATA = 5


#: Range of priors of the likelihood, and the largest Lagrange multiplier.
AUDIT_RANGE, MAX_SLOPE = (1e-6, 1 - 1e-6), 1e9


class AuditedStrata(NamedTuple):
    """Shares of the strata in all cases, and counts of labelled positives and negatives in each."""

    weight: Floats
    positive: Floats
    negative: Floats

    @classmethod
    def from_scores(cls, scores: NDArray[Any], audited: ArrayLike) -> Self:
        """Return strata of equal numbers of labels (0, 1; nan or None: no label); raise for others or few."""
        rule = (
            f"`audited` must be 0, 1 or nan for each unlabelled score, with at least {CASES_PER_BIN} labels"
        )
        try:
            labels = np.asarray(audited, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputTypeError(f"{rule}, but has one that is no number") from error
        check_same_length(unlabelled=scores, audited=check_vector(labels, "audited"))
        positive, labelled = labels == 1, ~np.isnan(labels)
        others = np.setdiff1d(labels[labelled], (0, 1))
        if len(others) or labelled.sum() < CASES_PER_BIN:
            reason = f"the label {others[0]:g}" if len(others) else f"{labelled.sum()}"
            raise InputError(f"{rule}, but has {reason}")
        n_strata = min(int(labelled.sum()) // CASES_PER_BIN, MAX_STRATA)
        edges = np.unique(np.quantile(scores[labelled], np.arange(1, n_strata) / n_strata))
        weight = count_by_bin(scores, edges) / len(scores)
        counts = [count_by_bin(scores[labelled & side], edges) for side in (positive, ~positive)]
        weight, *counts = (part[sum(counts) > 0] for part in (weight, *counts))  # none lie between tied edges
        return cls(weight / weight.sum(), *counts)

    def add_half_cases(self) -> Self:
        """Return the strata with half a case of each class more, shared out by weight."""
        # without these, intervals by few positives cover .87 to .92
        half = self.weight / 2
        return self._replace(positive=self.positive + half, negative=self.negative + half)

    @property
    def estimate(self) -> float:
        """Share of positives in all cases: the mean of their shares in the strata, by `weight`."""
        return float(self.weight @ (self.positive / (self.positive + self.negative)))

    def likelihood_ratio(self, prior: float) -> float:
        """Return twice the fall of the log-likelihood from its maximum at this share of positives."""
        n = self.positive + self.negative

        # the rates solve a / r - c / (1 - r) = m w, with the Lagrange multiplier m
        def find_rates(multiplier: float) -> Floats:
            slope = multiplier * self.weight
            total = n + slope
            root = np.sqrt(np.maximum(total**2 - 4 * slope * self.positive, 0.0))
            with np.errstate(divide="ignore", invalid="ignore"):  # of the two forms, one has no cancellation
                return np.where(total > 0, 2 * self.positive / (total + root), (total - root) / (2 * slope))

        def excess(multiplier: float) -> float:
            return float(self.weight @ find_rates(multiplier)) - prior

        multiplier = brentq(excess, -MAX_SLOPE, MAX_SLOPE)
        heights = [
            (xlogy(self.positive, rate) + xlogy(self.negative, 1 - rate)).sum()
            for rate in (self.positive / n, find_rates(multiplier))
        ]
        return float(2 * (heights[0] - heights[1]))

    def interval_limits(self, critical: float) -> tuple[float, float]:
        """Return priors below and above the estimate with this likelihood ratio; 0 or 1 if none has it."""

        def excess(prior: float) -> float:
            return self.likelihood_ratio(prior) - critical

        def find_limit(end: float, edge: float) -> float:
            if excess(edge) <= 0:
                return end
            return float(brentq(excess, self.estimate, edge))

        return find_limit(0.0, AUDIT_RANGE[0]), find_limit(1.0, AUDIT_RANGE[1])
