"""What the scores themselves tell against taking them for what they are given as."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from skewanova.base.text import visible
from skewanova.priors.evidence import POSITIVES_A_FOLD
from skewanova.scores.table import Scores, ScoreTable

#: Share of a fold's cases at its best score from which the top of the ranking tells little, if so many are.
MANY_AT_THE_TOP, FEWEST_AT_THE_TOP = 0.05, 10


#: Shares of all cases between which every fold lies, if folds are bootstrap resamples.
RESAMPLED = (0.60, 0.99)


#: Rows looked at before all are.
FIRST_ROWS = 1000


class Finding(NamedTuple):
    """One check: its name, what was measured, and advice where there is any."""

    check: str
    statistic: float
    advice: str


def score_findings(table: Scores) -> list[Finding]:
    """Positives of the smallest fold and, of scores in memory, resamples, decisions and ties at the top."""
    found = [_positives(table)]
    if isinstance(table, ScoreTable):
        found += [*_resamples(table), _decisions(table), _top(table)]
    return found


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


def _resamples(table: ScoreTable) -> Iterator[Finding]:
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


def _decisions(table: ScoreTable) -> Finding:
    """Scores with two different values are decisions."""
    counts = {model: _distinct(table, k) for k, model in enumerate(table.models)}
    model, fewest = min(counts.items(), key=lambda item: item[1])
    advice = (
        f"model {visible(model)!r} has only {fewest} different score{'s' if fewest > 1 else ''}: these are "
        "decisions, of which a curve has one point; give probabilities or the decision function"
    )
    return Finding("different_scores", float(fewest), advice if fewest <= 2 else "")


def _distinct(table: ScoreTable, model: int) -> int:
    """Different scores of a model; where the first rows have many, so many."""
    score = table.frame["y_score"].to_numpy()[table.codes("model") == model]
    first = len(np.unique(score[:FIRST_ROWS]))
    return first if first > 2 else len(np.unique(score))


def _top(table: ScoreTable) -> Finding:
    """Cases at the best score cannot be told apart, whatever threshold is chosen."""
    groups = ((score == score.max(), model, fold) for model, fold, _, score in table.groups())
    shares = [(int(best.sum()), float(best.mean()), model, fold) for best, model, fold in groups]
    number, most, model, fold = max(shares, key=lambda found: found[1])
    advice = (
        f"{most:.0%} of the cases share the best score of model {visible(model)!r} in fold {fold!r}: its "
        "ranking ends there, and precision at rare priors with it; write scores unrounded, or as log-odds"
    )
    many = most >= MANY_AT_THE_TOP and number >= FEWEST_AT_THE_TOP
    return Finding("share_at_best_score", most, advice if many else "")
