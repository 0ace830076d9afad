"""Score table and priors in, long-form frames out: AUPREC, IAUPREC, and the points of every curve."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from skewanova._checks import Floats, InputError, check_choice, check_prior_list, emit
from skewanova._distributed import AbsentCurves, in_order, is_distributed, measure_distributed
from skewanova._estimators import BY_RISES, ESTIMATORS, vertex_precision
from skewanova._framed import Framed
from skewanova._group_curves import Cell, GroupCurves
from skewanova._group_kernels import (
    GroupMeasures,
    areas_of_curves,
    areas_of_rises,
    measures_of_curves,
    measures_of_rises,
)
from skewanova._packed_curves import PackedCurves, select_curves
from skewanova._score_table import Label, ScoreTable
from skewanova._streamed_scores import Scores, StreamedScores
from skewanova.priors import DeploymentPrior, as_deployment_prior
from skewanova.roc import RocCurve
from skewanova.scores import open_scores

#: Below this many effective negatives (negatives / skew) a number at that prior rests on too little.
FEW_EFFECTIVE_NEGATIVES = 50
#: Folds whose positive counts differ by more than this factor do not weigh alike.
FOLD_IMBALANCE = 2.0
#: Vertices of all curves that are measured together.
MOST_VERTICES = 100_000

Curves = Mapping[Cell, RocCurve]

RECALL_GRID = np.linspace(0.005, 1.0, 200)
RATE_GRID = np.linspace(0.0, 1.0, 201)


@dataclass(frozen=True, eq=False)
class Evaluation(Framed):
    """AUPREC and IAUPREC of every model in every fold.

    Attributes
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec.
    iauprec : DataFrame
        Columns model, fold, iauprec, auc, n_positive, n_negative.
    curves : mapping
        ROC curve of every (model, fold); of streamed scores without thresholds, of a Dask data frame none.
    models, folds : tuple
        Their order in the frames.
    priors : tuple of float
        Grid of priors, in the order given.
    deployment_prior : DeploymentPrior
        Weighting behind IAUPREC.
    estimator : str
        Estimator behind both.
    warnings : tuple of str
        What to keep in mind when reading the numbers.
    """

    auprec: pd.DataFrame
    iauprec: pd.DataFrame
    curves: Curves = field(repr=False)
    models: tuple[str, ...]
    folds: tuple[Label, ...]
    priors: tuple[float, ...]
    deployment_prior: DeploymentPrior
    estimator: str
    warnings: tuple[str, ...] = ()

    def to_frame(self) -> pd.DataFrame:
        """Return the long-form frame of AUPREC."""
        return self.auprec

    def cell_auprec(self, priors: ArrayLike) -> Floats:
        """AUPREC of shape (n_models, n_folds, n_priors), nan where a model lacks a fold."""
        pi = check_prior_list(priors)
        values = np.full((len(self.models), len(self.folds), len(pi)), np.nan)
        model, fold = ({level: i for i, level in enumerate(levels)} for levels in (self.models, self.folds))
        cells = [(model[m], fold[f]) for m, f in self.curves]
        values[tuple(np.transpose(cells))] = _areas(self.curves, pi, self.estimator)
        return values

    def mean_auprec(self, priors: ArrayLike) -> Floats:
        """Mean AUPREC over folds, of shape (n_models, n_priors)."""
        pi = check_prior_list(priors)
        areas = _areas(self.curves, pi, self.estimator)
        model_of = np.array([model for model, _ in self.curves])
        return np.array([areas[model_of == model].mean(axis=0) for model in self.models])

    def ordered(self, models: Sequence[str]) -> Evaluation:
        """Return the same numbers with the models in the order given."""
        position = {model: i for i, model in enumerate(models)}

        def sort(frame: pd.DataFrame) -> pd.DataFrame:
            return frame.sort_values("model", key=lambda m: m.map(position), kind="stable", ignore_index=True)

        return replace(self, auprec=sort(self.auprec), iauprec=sort(self.iauprec), models=tuple(models))


def evaluate(
    scores: object,
    *,
    priors: Sequence[float] = (0.5, 0.1, 0.01),
    deployment_prior: DeploymentPrior | tuple[float, float] | float = (0.05, 0.20),
    estimator: str = "trapezoid",
) -> Evaluation:
    """Measure every model in every fold at the priors and over the deployment prior.

    Parameters
    ----------
    scores : ScoreTable, StreamedScores, path or frame
        Held-out scores, as for :func:`~skewanova.read_scores`; Parquet that would not fit in memory is read
        as by :func:`~skewanova.stream_scores`. The groups of a Dask data frame are measured where its rows
        are, each by :func:`~skewanova.measure_group`; models then stand in the order of their names.
    priors : sequence of float, default (0.5, 0.1, 0.01)
        Distinct priors at which AUPREC is tabulated.
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        Weighting over which AUPREC is averaged to IAUPREC.
    estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.

    Returns
    -------
    Evaluation
        Long-form frames and the curves behind them.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; ValueError if a prior is out of range or stands twice.

    Warns
    -----
    SkewanovaWarning
        If a fold has fewer than 50 effective negatives (negatives / skew) at a prior in use, or the folds'
        numbers of positives differ by more than a factor of 2.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> list(measures.auprec), len(measures.auprec), len(measures.iauprec)
    (['model', 'fold', 'prior', 'auprec'], 120, 60)
    """
    grid = _distinct_priors(priors)
    weighting = as_deployment_prior(deployment_prior)
    check_choice(estimator, ESTIMATORS, "estimator")
    if is_distributed(scores):
        return _collected(scores, grid, weighting, estimator)
    table = scores if isinstance(scores, ScoreTable | StreamedScores) else open_scores(scores)
    curves = table.curves()
    measured = _measures(curves, grid, weighting, estimator)
    sums = _iauprec_frame(list(curves), measured, table)
    return Evaluation(
        auprec=_auprec_frame(list(curves), grid, measured.auprec),
        iauprec=sums,
        curves=curves,
        models=table.models,
        folds=table.folds,
        priors=tuple(grid.tolist()),
        deployment_prior=weighting,
        estimator=estimator,
        warnings=emit(_notes(sums, [*grid.tolist(), weighting.low])),
    )


def auprec_by_prior(evaluation: Evaluation, priors: ArrayLike | None = None) -> pd.DataFrame:
    """AUPREC of every model and fold along a fine grid of priors.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    priors : array_like, optional
        By default 81 priors, evenly spaced in the log-odds, over all that the evaluation uses.

    Returns
    -------
    DataFrame
        Columns model, fold, prior, auprec.

    Examples
    --------
    >>> from skewanova import auprec_by_prior, evaluate, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> len(auprec_by_prior(measures, [0.1, 0.3]))
    120
    """
    grid = prior_grid(evaluation) if priors is None else check_prior_list(priors)
    areas = dict(zip(evaluation.curves, _areas(evaluation.curves, grid, evaluation.estimator), strict=True))
    cells = _ordered_cells(evaluation)
    return _auprec_frame(cells, grid, np.array([areas[cell] for cell in cells]))


def prior_grid(evaluation: Evaluation, size: int = 81) -> Floats:
    """Priors evenly spaced in the log-odds over the grid and the deployment prior together."""
    low = min(*evaluation.priors, evaluation.deployment_prior.low)
    high = max(*evaluation.priors, evaluation.deployment_prior.high)
    logit = np.linspace(np.log(low) - np.log1p(-low), np.log(high) - np.log1p(-high), size)
    inner = 1 / (1 + np.exp(-logit[1:-1]))
    return np.concatenate(([low], inner, [high])) if low < high else np.array([low])


def roc_points(evaluation: Evaluation) -> pd.DataFrame:
    """True positive rate of every model and fold on a common grid of false positive rates.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns model, fold, fpr, tpr; between vertices the curve is straight, and at a vertical step the
        upper end counts.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, roc_points
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> roc_points(measures).columns.tolist()
    ['model', 'fold', 'fpr', 'tpr']
    """

    def points(roc: RocCurve) -> dict[str, Floats]:
        last = np.append(np.diff(roc.fpr) > 0, True)
        return {"fpr": RATE_GRID, "tpr": np.interp(RATE_GRID, roc.fpr[last], roc.tpr[last])}

    return _by_group(_ordered_curves(evaluation), points)


def precision_recall_points(
    evaluation: Evaluation, priors: ArrayLike | None = None, *, recall: ArrayLike = RECALL_GRID
) -> pd.DataFrame:
    """Precision of every model and fold on a common grid of recalls, at several priors.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    priors : array_like, optional
        By default the evaluation's grid.
    recall : array_like, optional
        Recalls above 0; by default 0.005, 0.01, ..., 1.

    Returns
    -------
    DataFrame
        Columns model, fold, prior, recall, precision; between vertices along the exact segment, as true and
        false positives grow in proportion.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, precision_recall_points
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> len(precision_recall_points(measures, 0.1, recall=[0.5, 0.9]))
    120
    """
    grid = np.asarray(evaluation.priors) if priors is None else check_prior_list(priors)
    at = np.asarray(recall, dtype=np.float64)

    def points(roc: RocCurve) -> dict[str, Floats]:
        first = np.insert(np.diff(roc.tpr) > 0, 0, True)
        alarms = np.interp(at, roc.tpr[first], roc.fpr[first])
        precision = vertex_precision(at, alarms, grid[:, None])
        return {
            "prior": np.repeat(grid, len(at)),
            "recall": np.tile(at, len(grid)),
            "precision": precision.ravel(),
        }

    return _by_group(_ordered_curves(evaluation), points)


def surface_points(evaluation: Evaluation) -> pd.DataFrame:
    """P-ROC surface: mean precision over folds on a grid of priors and recalls (Landgrebe et al. 2006, 4).

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns model, prior, recall, precision.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, surface_points
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> surface_points(measures).columns.tolist()
    ['model', 'prior', 'recall', 'precision']
    """
    points = precision_recall_points(
        evaluation, prior_grid(evaluation, 41), recall=np.linspace(0.02, 1.0, 50)
    )
    mean = points.groupby(["model", "prior", "recall"], sort=False, observed=True)["precision"].mean()
    return mean.reset_index()


def operating_points(evaluation: Evaluation) -> pd.DataFrame:
    """Accuracy and precision of one fixed threshold as the skew grows (Landgrebe et al. 2006, figure 1).

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns model, fold, prior, skew, tpr, fpr, accuracy, precision. The threshold of each fold is the one
        with the largest ``tpr - fpr``, which is best at prior 0.5.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, operating_points
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> operating_points(measures)["skew"].iloc[[0, -1]].round(6).tolist()
    [1.0, 1000.0]
    """
    skew = np.geomspace(1.0, 1000.0, 61)
    prior = 1 / (1 + skew)

    def points(roc: RocCurve) -> dict[str, Floats]:
        chosen = 1 + int(np.argmax(roc.tpr[1:] - roc.fpr[1:]))
        tpr, fpr = roc.tpr[chosen], roc.fpr[chosen]
        return {
            "prior": prior,
            "skew": skew,
            "tpr": np.full_like(skew, tpr),
            "fpr": np.full_like(skew, fpr),
            "accuracy": prior * tpr + (1 - prior) * (1 - fpr),
            "precision": vertex_precision(tpr, fpr, prior),
        }

    return _by_group(_ordered_curves(evaluation), points)


def _distinct_priors(priors: Sequence[float]) -> Floats:
    grid = check_prior_list(priors, "priors")
    if len(np.unique(grid)) < len(grid):
        raise InputError(f"`priors` must be distinct, but got {', '.join(f'{p:g}' for p in grid)}")
    return grid


def _by_group(
    curves: Mapping[Cell, RocCurve], points: Callable[[RocCurve], dict[str, Floats]]
) -> pd.DataFrame:
    """Stack what `points` makes of each curve, behind the columns model and fold."""
    parts = [pd.DataFrame({"model": m, "fold": f, **points(roc)}) for (m, f), roc in curves.items()]
    return pd.concat(parts, ignore_index=True)


def _ordered_cells(evaluation: Evaluation) -> list[Cell]:
    cells = ((m, f) for m in evaluation.models for f in evaluation.folds)
    return [cell for cell in cells if cell in evaluation.curves]


def _ordered_curves(evaluation: Evaluation) -> Mapping[Cell, RocCurve]:
    return select_curves(evaluation.curves, _ordered_cells(evaluation))


def _batches(curves: Curves) -> Iterator[list[RocCurve]]:
    """Curves one after another, as many together as may be unpacked at once."""
    batch: list[RocCurve] = []
    size = 0
    for roc in curves.values():
        batch.append(roc)
        size += len(roc.fpr)
        if size >= MOST_VERTICES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _areas(curves: Curves, priors: Floats, estimator: str) -> Floats:
    """AUPREC of every curve at every prior, of shape (n_curves, n_priors)."""
    if estimator in BY_RISES and isinstance(curves, GroupCurves | PackedCurves):
        return areas_of_rises(curves.rises(), priors, estimator)
    return np.concatenate([areas_of_curves(batch, priors, estimator) for batch in _batches(curves)])


def _measures(curves: Curves, priors: Floats, weighting: DeploymentPrior, estimator: str) -> GroupMeasures:
    """AUPREC at every prior, IAUPREC and AUC of every curve, each curve being looked at once."""
    if estimator in BY_RISES and isinstance(curves, GroupCurves | PackedCurves):
        return measures_of_rises(curves.rises(), priors, weighting, estimator)
    parts = [measures_of_curves(batch, priors, weighting, estimator) for batch in _batches(curves)]
    return GroupMeasures(*map(np.concatenate, zip(*parts, strict=True)))


def _auprec_frame(cells: Sequence[Cell], grid: Floats, areas: Floats) -> pd.DataFrame:
    row = np.repeat(np.arange(len(cells)), len(grid))
    frame = pd.DataFrame(list(cells), columns=["model", "fold"]).take(row).reset_index(drop=True)
    return frame.assign(prior=np.tile(grid, len(cells)), auprec=areas.ravel())


def _iauprec_frame(cells: Sequence[Cell], measured: GroupMeasures, table: Scores) -> pd.DataFrame:
    counts = table.counts.reshape(-1, 2)
    negative, positive = counts[counts.sum(axis=1) > 0].T
    return pd.DataFrame(list(cells), columns=["model", "fold"]).assign(
        iauprec=measured.iauprec, auc=measured.auc, n_positive=positive, n_negative=negative
    )


def _collected(source: object, grid: Floats, weighting: DeploymentPrior, estimator: str) -> Evaluation:
    """Evaluation of a table whose rows, and curves, stay where they are."""
    options = {"priors": grid.tolist(), "deployment_prior": weighting, "estimator": estimator}
    long, models, folds = in_order(measure_distributed(source, **options))
    sums = long.drop(columns=["prior", "auprec"]).drop_duplicates(["model", "fold"], ignore_index=True)
    return Evaluation(
        auprec=long[["model", "fold", "prior", "auprec"]],
        iauprec=sums,
        curves=AbsentCurves(),
        models=models,
        folds=folds,
        priors=tuple(grid.tolist()),
        deployment_prior=weighting,
        estimator=estimator,
        warnings=emit(_notes(sums, [*grid.tolist(), weighting.low])),
    )


def _notes(sums: pd.DataFrame, priors: Sequence[float]) -> list[str]:
    """What the numbers of cases say about how far the measures are to be trusted."""
    return [*_support_notes(sums["n_negative"].min(), priors), *_imbalance_notes(sums["n_positive"])]


def _support_notes(fewest: int, priors: Sequence[float]) -> list[str]:
    """Priors so rare that the smallest fold's negatives cannot speak for them."""
    thin = {prior: fewest * prior / (1 - prior) for prior in sorted(set(priors), reverse=True)}
    return [
        f"at prior {prior:g} the smallest fold's {fewest:g} negatives weigh as much as {effective:.3g} "
        f"(negatives / skew, below {FEW_EFFECTIVE_NEGATIVES}): AUPREC there rests on very few false positives"
        for prior, effective in thin.items()
        if effective < FEW_EFFECTIVE_NEGATIVES
    ]


def _imbalance_notes(positives: pd.Series[int]) -> list[str]:
    fewest, most = int(positives.min()), int(positives.max())
    if most <= FOLD_IMBALANCE * fewest:
        return []
    return [
        f"folds hold between {fewest} and {most} positives, more than a factor of "
        f"{FOLD_IMBALANCE:g}: they do not estimate AUPREC equally well, yet count alike"
    ]
