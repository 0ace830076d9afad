"""Scores in bins: edges at quantiles of the labelled scores, ties kept together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from skewanova.base.checks import Bools, Floats, InputError
from skewanova.priors.mixtures import Counts

#: Labelled cases of the rarer class that a bin should have on average.
CASES_A_BIN = 10


#: Bins, unless the cases are too few.
N_BINS = 8


@dataclass(frozen=True, eq=False)
class Binned:
    """The two classes and the unlabelled scores in common bins.

    Attributes
    ----------
    edges : array
        The largest labelled score in each bin but the last.
    counts : Counts
        Cases in each bin.
    positive, negative : array
        Normal scores of the labelled cases: what does not change with the scale of the scores.
    normal_edges : array
        The edges among them.
    """

    edges: NDArray[Any]
    counts: Counts
    positive: Floats
    negative: Floats
    normal_edges: Floats

    def shifted(self, *, positive: float = 0.0, negative: float = 0.0) -> Counts:
        """Return the counts with a class's labelled scores shifted by `by` standard deviations."""
        return Counts(
            tally(self.positive + positive * self.positive.std(), self.normal_edges),
            tally(self.negative + negative * self.negative.std(), self.normal_edges),
            self.counts.unlabelled,
        )

    @property
    def separation(self) -> float:
        """Probability that a positive is in a higher bin than a negative, ties half."""
        return separation(self.counts)


def separation(counts: Counts) -> float:
    """Return the area under the ROC curve of the bins."""
    positive, negative = counts.positive / counts.positive.sum(), counts.negative / counts.negative.sum()
    below = np.cumsum(negative) - negative / 2
    return float(positive @ below)


def tally(scores: NDArray[Any], edges: NDArray[Any]) -> Floats:
    """Count the scores in each bin."""
    return np.bincount(np.searchsorted(edges, scores), minlength=len(edges) + 1).astype(np.float64)


def binned(positive: Bools, score: NDArray[Any], unlabelled: NDArray[Any], n_bins: int) -> Binned:
    """Sort scores into at most `n_bins` bins, fewer if a class is small or scores are tied."""
    rarer = int(min(positive.sum(), (~positive).sum()))
    edges = bin_edges(score, max(2, min(n_bins, rarer // CASES_A_BIN)))
    normal = normal_scores(score)
    return Binned(
        edges=edges,
        counts=Counts(*(tally(part, edges) for part in (score[positive], score[~positive], unlabelled))),
        positive=normal[positive],
        negative=normal[~positive],
        normal_edges=_between(score, normal, edges),
    )


def bin_edges(score: NDArray[Any], n_bins: int) -> NDArray[Any]:
    """Return the largest score in each bin but the last, for bins of equal size as far as ties allow."""
    ordered = np.sort(score)
    if ordered[0] == ordered[-1]:
        raise InputError(
            f"`y_score` must take at least two values for two bins, but all of them are {ordered[0]:g}; "
            "give the scores, not decisions"
        )
    places = np.ceil(len(ordered) * np.arange(1, n_bins) / n_bins).astype(int) - 1
    edges = np.unique(ordered[places])
    edges = edges[edges < ordered[-1]]
    chosen: NDArray[Any] = edges if len(edges) else ordered[ordered < ordered[-1]][-1:]
    return chosen


def normal_scores(score: NDArray[Any]) -> Floats:
    """Return the normal quantiles of the mid-ranks."""
    return np.asarray(scipy.special.ndtri(scipy.stats.rankdata(score) / (len(score) + 1)))


def _between(score: NDArray[Any], normal: Floats, edges: NDArray[Any]) -> Floats:
    """Return the edges on the scale of normal scores, half-way to the next value."""
    order = np.argsort(score, kind="stable")
    last = np.searchsorted(score[order], edges, side="right")
    return np.asarray((normal[order][last - 1] + normal[order][last]) / 2)
