"""Mean AUPREC of all models along the prior, with the covariance between models and priors.

The covariance is stored as deviations (of folds or cases) whose products sum to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy import stats

from skewanova.base.checks import Floats
from skewanova.base.rounding import TIE
from skewanova.curves.chebyshev import MeanCurves, panel_priors, panel_series
from skewanova.evaluation.measures import Evaluation, prior_grid
from skewanova.inference import case_deviations, fold_statistics, paired_test_set
from skewanova.inference.case_deviations import PriorProjection
from skewanova.inference.paired_test_set import PairedTestSet, RunAreas
from skewanova.inference.sampling import Sample, SampleSummary, VarianceEstimates
from skewanova.inference.single_test_set import ArcsineAreas, ArcsineScale, t_from_z
from skewanova.priors.weightings import UniformPrior

#: Rows of deviations in one step of the QR decomposition.
QR_BLOCK_ROWS = 1 << 14


@dataclass(frozen=True, eq=False)
class JointCurves:
    """Estimates (n_models, n_priors) of mean AUPREC, with deviations that give their covariance.

    The covariance of two estimates is the sum of the products of their `deviations` (n_units, n_models,
    n_priors); without units it is unknown. `df` is infinite over cases. Over cases, `pair_error` and
    `pair_df` (n_pairs, n_priors) are the standard errors and degrees of freedom of differences, and
    `model_df` (n_models, n_priors) are the degrees of freedom of estimates.
    """

    priors: Floats
    estimate: Floats
    deviations: Floats
    df: float
    pair_error: Floats | None = None
    pair_df: Floats | None = None
    model_df: Floats | None = None

    @property
    def has_covariance(self) -> bool:
        """True if there are deviations, so that the covariance is known."""
        return len(self.deviations) > 0

    def pairs(self) -> tuple[Floats, Floats]:
        """Return differences (a - b) and variances (nan: unknown), (n_pairs, n_priors); 0 where rounding."""
        a, b = fold_statistics.pair_indices(len(self.estimate))
        variance = np.full((len(a), len(self.priors)), np.nan)
        if self.pair_error is not None:
            variance = self.pair_error**2
        elif self.has_covariance:
            for k, (i, j) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
                deviation = self.deviations[:, i] - self.deviations[:, j]
                variance[k] = (deviation * deviation).sum(axis=0)
        difference = self.estimate[a] - self.estimate[b]
        same = (np.abs(difference).max(axis=1) <= TIE) & (variance.max(axis=1) <= TIE**2)
        difference[same] = variance[same] = 0.0  # models that differ by rounding only
        return difference, variance

    def deviates(self, critical: float) -> float | Floats:
        """Return `critical` or, over cases, the t with the same upper tail as this z (n_pairs, n_priors)."""
        return critical if self.pair_df is None else t_from_z(critical, self.pair_df)

    def half_widths(self, critical: float) -> Floats:
        """Return half-widths of intervals (n_pairs, n_priors): std. errors times `deviates(critical)`."""
        return np.sqrt(self.pairs()[1]) * self.deviates(critical)

    def critical_value(self, alpha: float) -> float:
        """Return the pointwise two-sided critical t (over cases z); nan if the covariance is unknown."""
        return float(stats.t.isf(alpha / 2, self.df)) if self.has_covariance else np.nan


@dataclass(frozen=True, eq=False)
class PanelCurves:
    """Joint curves at Chebyshev nodes, from which they are interpolated at any prior from low to high."""

    low: float
    high: float
    edges: Floats
    joint: JointCurves
    rarest: float = 0.0  #: smallest supported prior; below it, bands separate no models

    @cached_property
    def curves(self) -> MeanCurves:
        """Mean AUPREC of all models as Chebyshev series in the log-odds."""
        return MeanCurves(self.low, self.high, self.edges, panel_series(self.edges, self.joint.estimate))


def joint_curves_over_folds(
    priors: Floats, values: Floats, *, ratio: float, halves: Floats | None = None
) -> JointCurves:
    """Return the curves of means over folds of values (n_folds, n_models, n_priors).

    Their covariance is inflated by ``1 + J ratio`` (Nadeau and Bengio 2003), or increased by the mean square
    of differences between halves (n_halvings, n_models, n_priors), whose number is the df. It is unknown (df
    nan) with one fold.
    """
    n_folds, mean = len(values), values.mean(axis=0)
    if n_folds < 2:
        return JointCurves(priors, mean, np.empty((0, *mean.shape)), np.nan)
    if halves is None:
        scale = np.sqrt((1 / n_folds + ratio) / (n_folds - 1))
        return JointCurves(priors, mean, scale * (values - mean), n_folds - 1)
    over_folds = (values - mean) / np.sqrt(n_folds * (n_folds - 1))
    units = np.concatenate([halves / np.sqrt(len(halves)), over_folds])
    return JointCurves(priors, mean, units, len(halves))


def _joint_curves_of_test_set(test_set: PairedTestSet, evaluation: Evaluation, priors: Floats) -> JointCurves:
    """Return curves of one test set at `priors`, from its cache; curves for the panels are cached too."""
    key = "curves", evaluation.models, evaluation.area_estimator
    cache: dict[bytes, JointCurves] = test_set.cache.setdefault(key, {})
    if priors.tobytes() not in cache:
        grids = {grid.tobytes(): grid for grid in (priors, panel_priors(*_prior_range(evaluation))[1])}
        missing = [(grid, evaluation.mean_auprec(grid)) for name, grid in grids.items() if name not in cache]
        measure, sample = partial(test_set.project_deviations, evaluation), test_set.sample
        for curves in joint_curves_over_cases(missing, measure, sample, evaluation.area_estimator):
            cache[curves.priors.tobytes()] = curves
    return cache[priors.tobytes()]


def joint_curves_over_cases(
    estimates: Sequence[tuple[Floats, Floats]],
    measure: Callable[[Floats, Sequence[PriorProjection]], list[tuple[Floats, VarianceEstimates]]],
    sample: Sample,
    area_estimator: str,
) -> list[JointCurves]:
    """Return the curves, over cases, for each (priors, areas (n_models, n_priors)) of `estimates`.

    `measure` takes nodes of priors and, for each grid, the projection from nodes to the grid, and returns
    deviations and variances over cases. Errors of pairs are nan if a class has a single unit.
    """
    priors = np.concatenate([grid for grid, _ in estimates])
    nodes = case_deviations.choose_nodes(priors, float(priors.min()), float(priors.max()), area_estimator)
    weights = np.split(nodes.weight, np.cumsum([len(grid) for grid, _ in estimates])[:-1], axis=1)
    scales = [[ArcsineScale.from_areas(area) for area in estimate.T] for _, estimate in estimates]
    slopes = [np.transpose([1 / scale.slope for scale in row]) for row in scales]
    parts = measure(nodes.priors, [PriorProjection(*turn) for turn in zip(weights, slopes, strict=True)])
    result = []
    for (grid, estimate), row, (units, spreads) in zip(estimates, scales, parts, strict=True):
        columns = zip(row, spreads.pair.T, spreads.model.T, strict=True)
        error = np.transpose([scale.pair_errors(pair, model) for scale, pair, model in columns])
        if sample.single_unit_classes:
            error = np.full(error.shape, np.nan)
        units = units.reshape(-1, *estimate.shape)
        df = np.minimum(spreads.pair_df, np.transpose([scale.max_pair_df(sample) for scale in row]))
        result.append(JointCurves(grid, estimate, units, np.inf, error, df, spreads.model_df))
    return result


def join_areas(priors: Floats, areas_by_prior: Iterable[RunAreas | ArcsineAreas]) -> JointCurves:
    """Return the curves of areas or gains, measured at each of the priors, over cases and runs."""
    rows = []
    for areas in areas_by_prior:
        deviations = areas.sample.deviations(areas.means.values), areas.run_deviations
        rows.append((areas.means.area, *deviations, *areas.pair_errors(), areas.model_errors()[1]))
    mean, over_cases, over_runs, *spreads = (np.stack(parts, axis=-1) for parts in zip(*rows, strict=True))
    if len(over_cases) > over_cases[0].size or isinstance(areas.sample, SampleSummary):
        flat = over_cases.reshape(len(over_cases), -1)
        factor = case_deviations.compute_r_factor(fold_statistics.split_rows(flat, QR_BLOCK_ROWS))
        root = case_deviations.symmetric_root(factor)
        over_cases = root.reshape(-1, *over_cases.shape[1:])
    return JointCurves(priors, mean, np.concatenate([over_runs, over_cases]), np.inf, *spreads)


def joint_curves(evaluation: Evaluation, priors: Floats) -> JointCurves:
    """Return mean AUPREC curves of an evaluation at priors, with the covariance over folds, cases or runs.

    It is unknown (df nan) if a model lacks a fold, or cases of a single fold are missing or differ by model.
    """
    values = evaluation.auprec_by_cell(priors).swapaxes(0, 1)
    if np.isnan(values).any():
        return joint_curves_over_folds(priors, evaluation.mean_auprec(priors)[None], ratio=0.0)
    if evaluation.design.has_runs:
        points = [UniformPrior(prior, prior) for prior in priors.tolist()]
        return join_areas(priors, paired_test_set.iter_run_areas(evaluation, points))
    test_set = paired_test_set.find_test_set(evaluation)
    if test_set is not None:
        return _joint_curves_of_test_set(test_set, evaluation, priors)
    halves = evaluation.auprec_half_differences(priors)
    return joint_curves_over_folds(priors, values, ratio=evaluation.design.ratio, halves=halves)


def panel_curves(evaluation: Evaluation) -> PanelCurves:
    """Return joint AUPREC curves at Chebyshev nodes over the range of the evaluated and deployment priors."""
    low, high = _prior_range(evaluation)
    edges, priors = panel_priors(low, high)
    return PanelCurves(low, high, edges, joint_curves(evaluation, priors), evaluation.support.smallest_prior)


def _prior_range(evaluation: Evaluation) -> tuple[float, float]:
    """Return the smallest and the largest of the evaluated priors and the limits of the deployment prior."""
    priors = prior_grid(evaluation, 2).tolist()
    return priors[0], priors[-1]


def mean_curves(evaluation: Evaluation) -> MeanCurves:
    """Return mean AUPREC as Chebyshev series over the range of the evaluated and deployment priors."""
    return MeanCurves.fit(evaluation.mean_auprec, *_prior_range(evaluation))


def iauprec_covariance(evaluation: Evaluation) -> tuple[Floats, Floats, float] | None:
    """Return mean IAUPREC (n_models,), the covariance matrix of these means, and its df; None if unknown."""
    table = evaluation.iauprec.pivot(index="fold", columns="model", values="iauprec")
    values = table.loc[list(evaluation.folds), list(evaluation.models)].to_numpy(dtype=np.float64)
    if not np.isfinite(values).all():
        return None
    if evaluation.design.has_runs:
        runs = paired_test_set.measure_runs(evaluation, evaluation.deployment_prior)
        df = np.inf if runs.runs == "fixed" else float(runs.pair_errors()[1].min())
        return runs.area.mean(axis=1), runs.covariance_of_means, df
    if len(values) == 1:
        test_set = paired_test_set.find_test_set(evaluation)
        if test_set is None:
            return None
        areas = test_set.measure_areas(evaluation, evaluation.deployment_prior)
        return values[0], areas.area_covariance, test_set.sample.df
    halves, mean = evaluation.iauprec_half_differences, values.mean(axis=0)
    if halves is not None:
        return mean, fold_statistics.split_half_covariance(values, halves), float(len(halves))
    return mean, fold_statistics.covariance_of_means(values, evaluation.design.ratio), len(values) - 1.0
