"""Jackknife deviations at many priors, interpolated from a few and summed over blocks of cases.

Precision is 1 / (1 + skew * ratio). As a function of the log-odds of the prior it is one curve, shifted for
each operating point, and analytic for imaginary parts below pi. Any sum of precisions at any prior of a range
is therefore one fixed combination of its values at about thirty Chebyshev nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from scipy.linalg import block_diag, lapack
from scipy.special import expit, logit

from skewanova.base.checks import Floats
from skewanova.base.rounding import limit_blas_threads
from skewanova.curves.chebyshev import chebyshev_transform
from skewanova.curves.estimators import STEP_ESTIMATORS
from skewanova.inference import sampling
from skewanova.inference.case_resampling import JackknifeValues, SortedScores
from skewanova.inference.fold_statistics import split_rows
from skewanova.inference.sampling import Sample, VarianceEstimates
from skewanova.priors.weightings import UniformPrior

#: Largest error of interpolation, relative to the largest value of a panel.
TOLERANCE = 1e-15


#: Largest width of a panel in log-odds; values at its ends differ by a factor of a few thousand at most.
PANEL_WIDTH = 8.0


#: Units, and numbers of projected deviations, in memory at once; the larger counts. More leave the cache.
ROWS, BLOCK_SIZE = 500, 1 << 16


#: Columns that a QR decomposition reflects at once.
QR_PANEL = 8


#: Largest rounding of deviations at many nodes, relative to their largest singular value.
ROUNDING = 4e-15


class ChebyshevNodes(NamedTuple):
    """Priors at which areas are measured, and their weights (n_nodes, n_priors) in the target priors."""

    priors: Floats
    weight: Floats


def choose_nodes(priors: Floats, low: float, high: float, area_estimator: str) -> ChebyshevNodes:
    """Return Chebyshev nodes with weights to `priors`, if fewer and for step estimators; else `priors`."""
    first, last = float(logit(low)), float(logit(high))
    if area_estimator in STEP_ESTIMATORS and first < last:
        edges = np.linspace(first, last, int(np.ceil((last - first) / PANEL_WIDTH)) + 1)
        count = _count_panel_nodes(float(edges[1] - edges[0]) / 2)
        if count * (len(edges) - 1) < len(priors):
            return _place_nodes(edges, count, logit(priors))
    return ChebyshevNodes(priors, np.eye(len(priors)))


def _count_panel_nodes(half: float) -> int:
    """Return the number of nodes that a panel of half-width `half` in log-odds needs (Bernstein's bound)."""
    rho = np.pi / half + np.hypot(1.0, np.pi / half)
    return int(np.ceil(-np.log(TOLERANCE) / np.log(rho)))


def _place_nodes(edges: Floats, count: int, log_odds: Floats) -> ChebyshevNodes:
    """Return `count` Chebyshev nodes, as priors, between two log-odds `edges` each; weights to `log_odds`."""
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    weight = np.zeros((len(half) * count, len(log_odds)))
    panel = np.clip(np.searchsorted(edges, log_odds, side="right") - 1, 0, len(half) - 1)
    for k in range(len(half)):
        in_panel = panel == k
        series = chebvander((log_odds[in_panel] - middle[k]) / half[k], count - 1)
        weight[k * count : (k + 1) * count, in_panel] = chebyshev_transform(count) @ series.T
    nodes = expit(middle[:, None] + half[:, None] * chebpts1(count))
    return ChebyshevNodes(np.asarray(nodes.ravel()), weight)


class PriorProjection(NamedTuple):
    """Map from nodes to priors: `weight` (n_nodes, n_priors), then `scale` (n_models, n_priors)."""

    weight: Floats
    scale: Floats


@dataclass(frozen=True, eq=False)
class CaseDeviations:
    """Deviations of every model's area at the nodes; their products over units sum to covariances.

    `tables` hold the deviations, or coordinates of these, by which `bases` (n_coordinates, n_nodes) of the
    models are multiplied.
    """

    sample: Sample
    tables: tuple[JackknifeValues, ...]
    bases: tuple[Floats, ...] = ()

    @classmethod
    def from_models(cls, models: Sequence[SortedScores], priors: Floats, area_estimator: str) -> Self:
        """Return the jackknife deviations of every model's AUPREC, with `priors` as the nodes."""
        weightings = [UniformPrior(prior, prior) for prior in priors.tolist()]
        sample = models[0].sample

        def reduce(model: SortedScores) -> tuple[JackknifeValues, Floats]:
            table = model.jackknife_values(weightings, area_estimator).centre_in_place(sample)
            combine, basis = find_basis(table.values)
            return table.combine_in_place(combine), basis

        tables, bases = zip(*map(reduce, models), strict=True)  # one at a time: a whole table is large
        return cls(sample, tables, bases)

    @limit_blas_threads()
    def project(self, projections: Sequence[PriorProjection]) -> list[tuple[Floats, VarianceEstimates]]:
        """Return, by projection, `project_units`, and variances after `scale`."""
        root, powers = self.sum_products(projections)
        units = [self.project_units(each.weight, root) for each in projections]
        estimate = partial(VarianceEstimates.from_power_sums, self.sample, n_models=len(self.tables))
        return list(zip(units, [estimate(sums=sums, unit=unit) for unit, sums in powers], strict=True))

    def project_units(self, weight: Floats, root: Floats) -> Floats:
        """Return deviations (n_units, n_models * n_priors) or, if of fewer rows, their root from `root`."""
        weights = self._weigh(weight)
        if self.sample.n_units <= len(weights) * weight.shape[1]:
            pairs = zip(self.tables, weights, strict=True)
            return np.hstack([table.select_units() @ by for table, by in pairs])
        return project_r_factor(root, weights)

    @limit_blas_threads()
    def sum_products(
        self, projections: Sequence[PriorProjection], mix: Floats | None = None
    ) -> tuple[Floats, list[tuple[Floats, Floats]]]:
        """Return R of the QR of all units' tables, and by projection a power of two by prior, and power sums.

        These are sums of (deviation / that power)^2 and ^4 of models and of pairs, (n_strata, 2, n_curves +
        n_pairs, n_priors). `mix` (n_curves, n_models) combines models.
        """
        weight, scale = (np.hstack(parts) for parts in zip(*projections, strict=True))
        weights = self._weigh(weight)
        pairs = zip(self.tables, weights, strict=True)
        largest = np.array([sampling.max_abs(table.values) @ np.abs(by) for table, by in pairs])
        unit = sampling.ceil_power_of_two((scale * largest).max(axis=0))
        weights = [(by * row).T for by, row in zip(weights, scale / unit, strict=True)]
        n_curves = len(weights) if mix is None else len(mix)
        sums = sampling.zero_power_sums(len(self.sample.strata), n_curves, len(unit))
        root = np.zeros((sum(table.values.shape[1] for table in self.tables),) * 2)
        step = max(ROWS, BLOCK_SIZE // (n_curves * max(len(unit), 1)))
        for kind, (rows, _) in enumerate(self.sample.strata):
            for part in split_rows(rows, step):
                blocks = [table.select_units(part) for table in self.tables]
                root = update_r_factor(root, np.hstack(blocks))
                if len(unit):
                    curves = [by @ block.T for by, block in zip(weights, blocks, strict=True)]
                    curves = curves if mix is None else [*np.tensordot(mix, np.stack(curves), 1)]
                    sampling.add_powers(sums[kind], curves)
        ends = np.cumsum([each.weight.shape[1] for each in projections])[:-1]
        return root, list(zip(np.split(unit, ends), np.split(sums, ends, axis=-1), strict=True))

    def _weigh(self, weight: Floats) -> list[Floats]:
        """Return the weights (n_columns, n_priors) of the columns of every table."""
        return [basis @ weight for basis in self.bases] or [weight] * len(self.tables)


def find_basis(values: Floats) -> tuple[Floats, Floats]:
    """Return (n_nodes, n) and (n, n_nodes) whose product changes the rows by rounding only."""
    size = sampling.ceil_power_of_two(sampling.max_abs(values))
    root = compute_r_factor(rows / size for rows in split_rows(values, ROWS))
    _, spread, axes = np.linalg.svd(root)
    axes = axes[: max(1, np.count_nonzero(spread > ROUNDING * spread[0]))]  # 1 if all deviations are 0
    return axes.T / size[:, None], axes * size


def project_r_factor(root: Floats, weights: Sequence[Floats]) -> Floats:
    """Return the symmetric root, n_models * n_priors square, of `root` mapped to priors by model."""
    return symmetric_root(root @ block_diag(*weights))


@limit_blas_threads()
def compute_r_factor(blocks: Iterable[Floats]) -> Floats:
    """Return R (n_columns square) of the QR of stacked blocks; normal equations lose half of the digits."""
    root = np.empty((0, 0))
    for block in blocks:
        root = update_r_factor(root if root.size else np.zeros((block.shape[1],) * 2), block)
    return root


def update_r_factor(root: Floats, block: Floats) -> Floats:
    """Return R (n_columns square) of the QR of `root`, which is such an R, with `block` below it."""
    return lapack.dtpqrt(0, min(QR_PANEL, len(root)), root, block)[0] if block.size else root


@limit_blas_threads()
def symmetric_root(root: Floats) -> Floats:
    """Return the symmetric S with S S = root.T @ root, which is unique and so alike on all processors."""
    _, size, axes = np.linalg.svd(root, full_matrices=False)
    return np.asarray(axes.T * size @ axes)
