"""What the scores themselves tell against taking them for what they are given as."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.text import visible
from skewanova.curves.groups import aucs_of_curves
from skewanova.priors.evidence import POSITIVES_A_FOLD
from skewanova.scores.table import Scores, ScoreTable, TieCounts

#: Share of a fold's cases at its best score from which the top of the ranking tells little, if so many are.
MANY_AT_THE_TOP, FEWEST_AT_THE_TOP = 0.05, 10


#: Shares of all cases between which every fold lies, if folds are bootstrap resamples.
RESAMPLED = (0.60, 0.99)


#: Share of a model's usual gain in AUC below which it has collapsed in a fold; the least gain to speak of.
COLLAPSED, CLEAR_GAIN = 0.25, 0.1


#: Cases from which on whole numbers that all differ are taken for names of cases.
FEWEST_NAMED = 20


class Finding(NamedTuple):
    """One check: its name, what was measured, and advice where there is any."""

    check: str
    statistic: float
    advice: str


def score_findings(table: Scores, auc: pd.DataFrame) -> list[Finding]:
    """Positives of the smallest fold, resamples, decisions, ties at the top, and names of cases."""
    ties = list(table.ties())
    return [
        _positives(table), *_resamples(table), _decisions(ties), _top(ties), *_identifiers(table, auc)
    ]  # fmt: skip


def ranking_findings(auc: pd.DataFrame) -> list[Finding]:
    """Rankings turned around, and models that collapse in some folds; from a row a fold, a column a model."""
    return [_inverted(auc), _collapsed(auc)]


def auc_of_folds(table: Scores) -> pd.DataFrame:
    """AUC, a row a fold and a column a model."""
    curves = table.curves()
    cells = pd.MultiIndex.from_tuples(list(curves), names=["model", "fold"])
    result = pd.Series(aucs_of_curves(list(curves.values())), index=cells).unstack("model")
    return result.loc[list(table.folds), list(table.models)]


def collapsed(auc: pd.DataFrame) -> NDArray[np.bool_]:
    """Folds in which a model loses most of what its ranking gains elsewhere, and most others do not."""
    gain, usual = auc - 0.5, auc.median() - 0.5
    lost = ((gain < COLLAPSED * usual) & (usual >= CLEAR_GAIN)).to_numpy()
    return np.asarray(lost & (lost.mean(axis=1) <= 0.5)[:, None])


def _inverted(auc: pd.DataFrame) -> Finding:
    """A ranking worse than chance is most often one turned around."""
    means = auc.mean()
    model, least = str(means.idxmin()), float(means.min())
    advice = (
        f"model {visible(model)!r} ranks worse than chance (AUC {least:.3f}): if its scores speak for the "
        "negative class, turn them around, or name the positive class"
    )
    return Finding("smallest_auc", least, advice if least < 0.5 else "")


def _collapsed(auc: pd.DataFrame) -> Finding:
    """In how many folds models collapse, and where first."""
    lost = collapsed(auc)
    if not lost.any():
        return Finding("collapsed_folds", 0.0, "")
    fold, model = np.argwhere(lost)[0].tolist()
    name, low = str(auc.columns.tolist()[model]), float(auc.to_numpy()[fold, model])
    advice = (
        f"model {visible(name)!r} ranks near chance in {int(lost[:, model].sum())} of {len(auc)} folds (the "
        f"first: fold {auc.index.tolist()[fold]!r}, AUC {low:.3f}), but well in the others: tests reject too "
        "often (.10 to .12 at .05 where models collapse in 1 of 10 folds); see why training failed there"
    )
    return Finding("collapsed_folds", float(lost.sum()), advice)


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


def fewest_different(ties: Sequence[TieCounts]) -> TieCounts:
    """Of the model with the fewest different scores, the fold where it has most."""
    most: dict[str, TieCounts] = {}
    for found in ties:
        most[found.model] = max(most.get(found.model, found), found, key=lambda fold: fold.n_different)
    return min(most.values(), key=lambda found: found.n_different)


def _decisions(ties: Sequence[TieCounts]) -> Finding:
    """Scores with two different values are decisions."""
    least = fewest_different(ties)
    fewest = least.n_different
    advice = (
        f"model {visible(least.model)!r} has only {fewest} different score{'s' if fewest > 1 else ''} in any "
        "fold: these are decisions, of which a curve has one point; give probabilities or the decision "
        "function"
    )
    return Finding("different_scores", float(fewest), advice if fewest <= 2 < least.n_cases else "")


def _top(ties: Sequence[TieCounts]) -> Finding:
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


def _identifiers(table: Scores, auc: pd.DataFrame) -> Iterator[Finding]:
    """Whole numbers that all differ are rather names of cases; of one fold they may be ranks that work."""
    if not isinstance(table, ScoreTable) or len(table.frame) < FEWEST_NAMED * len(table.models):
        return
    works = (auc.mean() - 0.5).abs() >= CLEAR_GAIN
    each = table.frame.groupby("model", sort=False, observed=True)["y_score"]
    named = [
        str(model) for model, score in each if _all_differ(score) and not (len(auc) == 1 and works[model])
    ]
    if named:
        advice = (
            f"the scores of {visible(named[0])!r} are whole numbers that all differ: if they name the cases, "
            "leave the column out, or choose the models"
        )
        yield Finding("identifiers", float(len(named)), advice)


def _all_differ(score: pd.Series[Any]) -> bool:
    """Whether all are whole numbers, and none stands twice."""
    values = score.to_numpy()
    return bool((np.mod(values, 1) == 0).all()) and len(np.unique(values)) == len(values)
