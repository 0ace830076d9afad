"""Clean cases of two classes: their jackknife values, as the package has them, and cases elsewhere."""

import numpy as np

from skewanova.curves.groups import PackedCurve
from skewanova.curves.sorting import RankedCases, rank_among_positives
from skewanova.inference.case_resampling import SortedScores
from skewanova.inference.sampling import Sample
from skewanova.scores.table import CaseSummary, StreamedScores


class Pieces:
    """Cases in pieces, one of them without a positive; cells in an order of their own."""

    def __init__(self, positive, scores):
        """Place the scores of every (model, fold)."""
        self.cells = tuple(sorted(scores, key=str, reverse=True))
        slots = [rank_among_positives(np.unique(scores[cell][positive]), scores[cell]) for cell in self.cells]
        ordered, n = np.argsort(positive, kind="stable"), len(positive)
        cuts = np.split(ordered, [n // 5, 2 * n // 3, 2 * n // 3 + 1])
        self.pieces = [RankedCases(positive[rows], np.array(slots)[:, rows]) for rows in cuts]

    def map(self, function):
        """What a function makes of each piece."""
        return [function(piece) for piece in self.pieces]


def moved_elsewhere(table):
    """The scores of a table whose models and folds share their cases, of which the curves alone are here."""
    cells = {(model, fold): (positive, score) for model, fold, positive, score in table.groups()}
    scores = {cell: score for cell, (_, score) in cells.items()}
    positive = next(iter(cells.values()))[0]
    n_folds = len(table.folds)
    shared = np.full((n_folds, n_folds), len(positive))
    return StreamedScores(
        models=table.models, folds=table.folds, counts=table.counts,
        packed={cell: PackedCurve.from_cases(*columns) for cell, columns in cells.items()},
        cases=CaseSummary(shared, len(positive), int(positive.sum()), np.zeros(n_folds, dtype=int), ()),
        parts=Pieces(positive, scores)
    )  # fmt: skip


def unit_values(sample, score, weightings, area_estimator):
    """Areas over several weightings, and the values of all units, as the package has them."""
    return SortedScores(sample, score).jackknife_values(weightings, area_estimator)


def jackknife_values(positive, score, weighting, area_estimator="trapezoid"):
    """Area, and the value of every case."""
    found = unit_values(Sample(np.asarray(positive)), np.asarray(score), [weighting], area_estimator)
    return found.estimate[0], found.select_units()[:, 0]


def spread_of(values, positive):
    """Standard error from the values of all cases, and its degrees of freedom."""
    return Sample(np.asarray(positive)).estimate_errors(np.asarray(values))


def covariance_of(deviations):
    """Covariance of the models at the first prior from deviations (n_units, n_models, n_priors)."""
    first = deviations[..., 0]
    return first.T @ first
