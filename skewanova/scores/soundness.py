"""What the scores themselves tell against taking them for what they are given as."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from skewanova.base.text import visible
from skewanova.priors.evidence import POSITIVES_A_FOLD
from skewanova.scores.table import Scores, Ties

#: Share of a fold's cases at its best score from which the top of the ranking tells little, if so many are.
MANY_AT_THE_TOP, FEWEST_AT_THE_TOP = 0.05, 10


#: Shares of all cases between which every fold lies, if folds are bootstrap resamples.
RESAMPLED = (0.60, 0.99)


class Finding(NamedTuple):
    """One check: its name, what was measured, and advice where there is any."""

    check: str
    statistic: float
    advice: str


def score_findings(table: Scores) -> list[Finding]:
    """Positives of the smallest fold, resamples given as folds, decisions, and ties at the top."""
    ties = list(table.ties())
    return [_positives(table), *_resamples(table), _decisions(ties), _top(ties)]


def _positives(table: Scores) -> Finding:
    """With few positives a fold's area is not that of the population, however many folds there are."""
    fewest = float(table.effective_counts[table.counts.sum(axis=2) > 0][:, 1].min())
    few = fewest < POSITIVES_A_FOLD and len(table.folds) > 1
    advice = (
        f"the smallest fold has {fewest:.4g} positives: means and intervals are about areas in folds of that "
        f"size, which below {POSITIVES_A_FOLD} positives may differ from those of large samples; use fewer "
        "or larger folds"
    )
    return Finding("positives_a_fold", fewest, advice if few else "")


def _resamples(table: Scores) -> Iterator[Finding]:
    """Bootstrap resamples without repeated cases hold about 63 % of all cases, and overlap throughout."""
    if not table.has_cases or len(table.folds) < 2:
        return
    shared, n_cases = table.shared_cases()
    share = np.diag(shared) / n_cases
    looks = bool((share >= RESAMPLED[0]).all() and (share <= RESAMPLED[1]).all())
    advice = (
        f"every fold tests {share.min():.0%} to {share.max():.0%} of all cases: if folds are resamples of "
        "one test set, they tell nothing about other cases, and tests over them reject far too often; give "
        "the test set once, as one fold, and its cases are resampled for you"
    )
    yield Finding("share_of_cases", float(share.min()), advice if looks else "")


def _decisions(ties: Sequence[Ties]) -> Finding:
    """Scores with two different values are decisions; a fold of two cases cannot have more."""
    most: dict[str, Ties] = {}
    for found in ties:
        most[found.model] = max(most.get(found.model, found), found, key=lambda fold: fold.n_different)
    least = min(most.values(), key=lambda found: found.n_different)
    fewest = least.n_different
    advice = (
        f"model {visible(least.model)!r} has only {fewest} different score{'s' if fewest > 1 else ''} in any "
        "fold: these are decisions, of which a curve has one point; give probabilities or the decision "
        "function"
    )
    return Finding("different_scores", float(fewest), advice if fewest <= 2 < least.n_cases else "")


def _top(ties: Sequence[Ties]) -> Finding:
    """Cases at the best score cannot be told apart, whatever threshold is chosen."""
    worst = max(ties, key=lambda found: found.n_best / found.n_cases)
    share = worst.n_best / worst.n_cases
    advice = (
        f"{share:.0%} of the cases share the best score of model {visible(worst.model)!r} in fold "
        f"{worst.fold!r}: its ranking ends there, and precision at rare priors with it; write scores "
        "unrounded, or as log-odds"
    )
    many = share >= MANY_AT_THE_TOP and worst.n_best >= FEWEST_AT_THE_TOP
    return Finding("share_at_best_score", share, advice if many else "")
