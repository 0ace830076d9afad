"""Mean AUPREC of several models along the prior together with how their estimates vary, and vary together.

Whether the spread was seen over folds or comes from leaving out single cases, it is held in the same
way: as deviations whose products sum to the covariance of the estimates, at every prior and between priors.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from skewanova import _fold_kernels as kernels
from skewanova._checks import Bools, Floats, InputError
from skewanova._influence_kernels import JackknifeLookup, influence_kernel, stratified_covariance
from skewanova._mean_curves import MeanCurves, panel_priors, panel_series
from skewanova._paired_cases import paired_cases
from skewanova._streamed_scores import Scores
from skewanova._ties import TIE
from skewanova.evaluation import Evaluation, prior_grid

#: Cases whose deviations are held at once.
CASES_AT_ONCE = 1 << 14


@dataclass(frozen=True, eq=False)
class JointCurves:
    """Estimates of every model at several priors, and what they deviate by.

    Attributes
    ----------
    priors : ndarray of shape (n_priors,)
        Where the curves are known.
    estimate : ndarray of shape (n_models, n_priors)
        Mean AUPREC.
    deviations : ndarray of shape (n_units, n_models, n_priors)
        The covariance of two estimates is the sum over units of the products of their deviations; with one
        fold and no scores there are no units.
    df : float
        Degrees of freedom of the covariance: folds less one, infinite for cases, nan without units.
    """

    priors: Floats
    estimate: Floats
    deviations: Floats
    df: float

    @property
    def known(self) -> bool:
        """Whether anything is known about the spread."""
        return len(self.deviations) > 0

    def averaged(self, weights: Floats) -> JointCurves:
        """Average over the priors, as one curve of one value."""
        return JointCurves(
            np.array([np.nan]),
            (self.estimate @ weights)[:, None],
            (self.deviations @ weights)[..., None],
            self.df,
        )

    def covariance(self) -> Floats:
        """Covariance of the models at the first prior, of shape (n_models, n_models)."""
        first = self.deviations[..., 0]
        return np.asarray(first.T @ first)

    def pairs(self) -> tuple[Floats, Floats]:
        """Difference and its variance of every pair of models, each of shape (n_pairs, n_priors)."""
        a, b = kernels.pair_indices(len(self.estimate))
        variance = np.full((len(a), len(self.priors)), np.nan)
        for k, (i, j) in enumerate(zip(a.tolist(), b.tolist(), strict=True)) if self.known else ():
            moved = self.deviations[:, i] - self.deviations[:, j]
            variance[k] = (moved * moved).sum(axis=0)
        difference = self.estimate[a] - self.estimate[b]
        alike = (np.abs(difference).max(axis=1) <= TIE) & (variance.max(axis=1) <= TIE**2)
        difference[alike] = variance[alike] = 0.0  # models that are the same, but for rounding
        return difference, variance

    def critical_value(self, alpha: float) -> float:
        """Two-sided value of one t; nan where nothing is known."""
        return float(stats.t.isf(alpha / 2, self.df)) if self.known else np.nan


@dataclass(frozen=True, eq=False)
class PanelCurves:
    """Joint curves sampled so that they are known, but for rounding, at every prior of a range."""

    low: float
    high: float
    edges: Floats
    joint: JointCurves

    @cached_property
    def curves(self) -> MeanCurves:
        """The mean curves alone."""
        return MeanCurves(self.low, self.high, self.edges, panel_series(self.edges, self.joint.estimate))


def fold_curves(priors: Floats, values: Floats, *, ratio: float = 0.0) -> JointCurves:
    """Curves from AUPREC of shape (n_folds, n_models, n_priors).

    The covariance of the means over folds is inflated by ``1 + J ratio`` (Nadeau and Bengio 2003) where folds
    share training data.
    """
    n_folds = len(values)
    mean = values.mean(axis=0)
    if n_folds < 2:
        return JointCurves(priors, mean, np.empty((0, *mean.shape)), np.nan)
    scale = np.sqrt((1 / n_folds + ratio) / (n_folds - 1))
    return JointCurves(priors, mean, scale * (values - mean), n_folds - 1)


def case_curves(
    priors: Floats, estimate: Floats, cases: tuple[Bools, list[NDArray[np.float64]]]
) -> JointCurves:
    """Curves of models on one set of cases, from what leaving out every case changes (jackknife)."""
    positive, scores = cases
    size = np.where(positive, positive.sum(), (~positive).sum())[:, None]
    lookups = [JackknifeLookup(positive, score, priors) for score in scores]

    def deviations(rows: slice) -> Floats:
        return np.hstack([lookup.rows(rows) / size[rows] for lookup in lookups])

    if len(positive) <= estimate.size:
        units = deviations(slice(None))
    else:  # as many directions as columns say the same
        starts = range(0, len(positive), CASES_AT_ONCE)
        units = _condensed(deviations(slice(start, start + CASES_AT_ONCE)) for start in starts)
    return JointCurves(priors, estimate, units.reshape(-1, *estimate.shape), np.inf)


def _condensed(blocks: Iterable[Floats]) -> Floats:
    """As many rows as columns with the same products of columns: the symmetric root of these.

    Through triangles, as the products themselves would lose half of the digits of columns that are nearly
    alike; the root is the only one that no processor may turn another way.
    """
    stacked = reduce(lambda kept, block: np.vstack([np.linalg.qr(kept, mode="r"), block]), blocks)
    _, size, axes = np.linalg.svd(np.linalg.qr(stacked, mode="r"), full_matrices=False)
    return np.asarray(axes.T * size @ axes)


def joint_curves(
    evaluation: Evaluation, priors: Floats, *, ratio: float = 0.0, scores: Scores | None = None
) -> JointCurves:
    """Measure the curves of an evaluation at priors, from folds or, with one fold, from its scores.

    Without scores one fold tells nothing about the spread, nor do folds in which a model is missing, or cases
    that do not match between models.
    """
    values = evaluation.cell_auprec(priors).swapaxes(0, 1)
    if np.isnan(values).any():
        mean = evaluation.mean_auprec(priors)
        return JointCurves(priors, mean, np.empty((0, *mean.shape)), np.nan)
    cases = matched_cases(scores, evaluation.models) if len(values) == 1 and scores is not None else None
    return (
        fold_curves(priors, values, ratio=ratio) if cases is None else case_curves(priors, values[0], cases)
    )


def panel_curves(evaluation: Evaluation, *, ratio: float = 0.0, scores: Scores | None = None) -> PanelCurves:
    """Measure the curves over the grid of priors and the deployment prior together."""
    grid = prior_grid(evaluation, 2)
    low, high = float(grid[0]), float(grid[-1])
    edges, priors = panel_priors(low, high)
    return PanelCurves(low, high, edges, joint_curves(evaluation, priors, ratio=ratio, scores=scores))


def matched_cases(scores: Scores, models: tuple[str, ...]) -> tuple[Bools, list[NDArray[np.float64]]] | None:
    """Labels of the only fold's cases and the scores of every model on them.

    None if they do not match, or if a class has one case, which shows no spread.
    """
    try:
        cases = paired_cases(scores)
    except InputError:
        return None
    if min(np.count_nonzero(cases.positive), np.count_nonzero(~cases.positive)) < 2:
        return None
    return cases.positive, [cases.scores[scores.models.index(name)] for name in models]


def iauprec_covariance(
    evaluation: Evaluation, *, ratio: float = 0.0, scores: Scores | None = None
) -> tuple[Floats, Floats, float] | None:
    """Mean IAUPREC of every model, the covariance of these means and its degrees of freedom, where known."""
    table = evaluation.iauprec.pivot(index="fold", columns="model", values="iauprec")
    values = table.loc[list(evaluation.folds), list(evaluation.models)].to_numpy(dtype=np.float64)
    n_folds = len(values)
    if not np.isfinite(values).all():
        return None
    if n_folds > 1:
        return values.mean(axis=0), kernels.fold_covariance(values) * (1 / n_folds + ratio), n_folds - 1.0
    cases = None if scores is None else matched_cases(scores, evaluation.models)
    if cases is None:
        return None
    positive, columns = cases
    influence = [influence_kernel(positive, score, evaluation.deployment_prior)[1] for score in columns]
    return values[0], stratified_covariance(np.stack(influence, axis=1), positive), np.inf
