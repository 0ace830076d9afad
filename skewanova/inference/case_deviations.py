"""Jackknife deviations at many priors, interpolated from a few and summed over blocks of cases.

Precision, as a function of the log-odds of the prior, is one curve, shifted for each operating point, and
analytic for imaginary parts below pi. Sums of it follow at any prior from about forty Chebyshev nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from scipy.linalg.lapack import dtpqrt
from scipy.special import expit, logit

from skewanova.base.checks import Floats
from skewanova.base.rounding import limit_blas_threads
from skewanova.curves.chebyshev import chebyshev_transform
from skewanova.curves.estimators import STEP_ESTIMATORS
from skewanova.inference.case_resampling import JackknifeValues, SortedScores
from skewanova.inference.fold_statistics import split_rows
from skewanova.inference.sampling import Sample, VarianceEstimates, ceil_power_of_two, power_sums
from skewanova.inference.single_test_set import ArcsineScale
from skewanova.priors.weightings import UniformPrior

#: Largest error of interpolation, relative to the largest value of a panel.
TOLERANCE = 1e-18


#: Largest width of a panel in log-odds; values at its ends differ by a factor of a few thousand at most.
PANEL_WIDTH = 8.0


#: Numbers in memory at once, so that a few arrays of them stay in the second-level cache.
BLOCK_SIZE = 1 << 16


#: Rows that one step of a QR decomposition adds.
QR_BLOCK_ROWS = 1 << 10


#: Columns that are reflected at once.
QR_COLUMNS = 16


#: Tables of more entries than this many a node are compressed.
MIN_ENTRIES_PER_NODE = 8


#: Singular values below this share of the largest are rounding errors of the jackknife values.
RANK_TOLERANCE = 1e-15


class ChebyshevNodes(NamedTuple):
    """Priors at which areas are measured, and their weights (n_nodes, n_priors) in the target priors."""

    priors: Floats
    weight: Floats


def choose_nodes(priors: Floats, low: float, high: float, area_estimator: str) -> ChebyshevNodes:
    """Return Chebyshev nodes between two priors if fewer than `priors`, else the priors themselves."""
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


def _place_nodes(edges: Floats, count: int, odds: Floats) -> ChebyshevNodes:
    """Return `count` Chebyshev nodes a panel, as priors, and weights that interpolate to log-odds."""
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    weight = np.zeros((len(half) * count, len(odds)))
    panel = np.clip(np.searchsorted(edges, odds, side="right") - 1, 0, len(half) - 1)
    for k in range(len(half)):
        in_panel = panel == k
        series = chebvander((odds[in_panel] - middle[k]) / half[k], count - 1)
        weight[k * count : (k + 1) * count, in_panel] = chebyshev_transform(count) @ series.T
    nodes = expit(middle[:, None] + half[:, None] * chebpts1(count))
    return ChebyshevNodes(np.asarray(nodes.ravel()), weight)


class PriorProjection(NamedTuple):
    """Map from nodes to priors: `weight` (n_nodes, n_priors), then `scale` (n_models, n_priors)."""

    weight: Floats
    scale: Floats


@dataclass(frozen=True, eq=False)
class CaseDeviations:
    """Deviations of every model's area at the nodes; their products over units sum to covariances."""

    sample: Sample
    tables: tuple[JackknifeValues, ...]
    axes: tuple[Floats, ...]  #: (n_columns, n_nodes) a model: values of its table times these are deviations

    @classmethod
    def from_models(cls, models: Sequence[SortedScores], priors: Floats, area_estimator: str) -> Self:
        """Return the jackknife deviations of every model's AUPREC at each of the priors, the nodes."""
        weightings = [UniformPrior(prior, prior) for prior in priors.tolist()]
        sample = models[0].sample
        values = (model.jackknife_values(weightings, area_estimator) for model in models)
        return cls(sample, *zip(*(_compress(each.deviations(sample)) for each in values), strict=True))

    @classmethod
    def from_tables(cls, sample: Sample, tables: Sequence[JackknifeValues]) -> Self:
        """Return the deviations of tables as they are."""
        return cls(sample, tuple(tables), tuple(np.eye(table.values.shape[1]) for table in tables))

    def project_units(self, weight: Floats) -> Floats:
        """Return deviations (n_rows, n_models * n_priors), a row a unit or fewer with the same products."""
        n_models, n_priors = len(self.tables), weight.shape[1]
        if self.sample.n_units <= n_models * n_priors:
            pairs = zip(self.tables, self.axes, strict=True)
            return np.hstack([table.select_units() @ (axes @ weight) for table, axes in pairs])
        return project_r_factor(self.r_factor, weight, n_models)

    @cached_property
    def r_factor(self) -> Floats:
        """R of the QR decomposition of all units' deviations at the nodes, (n_rows, n_models * n_nodes)."""
        root = compute_r_factor(np.hstack(parts) for _, parts in self._blocks(QR_BLOCK_ROWS))
        parts = np.split(root, np.cumsum([len(axes) for axes in self.axes])[:-1], axis=1)
        return np.hstack([part @ axes for part, axes in zip(parts, self.axes, strict=True)])

    @limit_blas_threads()
    def project(self, projections: Sequence[PriorProjection]) -> list[tuple[Floats, VarianceEstimates]]:
        """Return, for each projection, deviations (n_rows, n_models * n_priors) and their variances."""
        return [(self.project_units(each.weight), self.variances(each)) for each in projections]

    @limit_blas_threads()
    def project_angles(
        self, priors: Floats, projections: Sequence[PriorProjection]
    ) -> list[tuple[Floats, VarianceEstimates]]:
        """Return what `project` does on the arcsine scale, by power sums at the nodes, which are `priors`."""
        areas = np.transpose([table.estimate for table in self.tables])
        scale = 1 / np.transpose([ArcsineScale.from_areas(area).slope for area in areas])
        plain = np.hstack([scale, *(each.scale for each in projections)]) == 1
        if plain.any() and not plain.all():  # the scale is no smooth function of the prior
            return self.project(projections)
        weight, unit = np.eye(len(priors)), self.magnitude(PriorProjection(np.eye(len(priors)), scale))
        sums = self.sums(PriorProjection(weight, scale / unit))
        square, basis = sums[:, 0].sum(axis=0), np.vander(logit(priors), 3)
        # over a quadratic trend of their logarithms, sums keep their digits where they are small
        size = np.log(np.where(square > 0, square, 1.0)) + 2 * np.log(unit)
        trend = (basis @ np.linalg.lstsq(basis, size.T, rcond=None)[0]).T
        sums *= np.exp(np.multiply.outer([1, 2], 2 * np.log(unit) - trend))
        result = []
        for each in projections:
            smooth, root = np.maximum(sums @ each.weight, 0.0), np.exp(trend @ each.weight / 2)
            spreads = VarianceEstimates.from_power_sums(self.sample, smooth, len(self.tables), root)
            result.append((self.project_units(each.weight), spreads))
        return result

    def variances(self, projection: PriorProjection) -> VarianceEstimates:
        """Return variances and degrees of freedom of all models and pairs at the priors of a projection."""
        unit = self.magnitude(projection)
        sums = self.sums(projection._replace(scale=projection.scale / unit))
        return VarianceEstimates.from_power_sums(self.sample, sums, len(projection.scale), unit)

    def sums(self, projection: PriorProjection, mix: Floats | None = None) -> Floats:
        """Return sums of d^2, d^4 (n_strata, 2, n_curves + n_pairs, n_priors); a `mix` makes the curves."""
        pairs = zip(self.axes, projection.scale, strict=True)
        weights = [axes @ projection.weight * row for axes, row in pairs]
        blocks = self._blocks(max(16, BLOCK_SIZE // (len(weights) * projection.weight.shape[1])))
        curves = ((k, [part @ by for part, by in zip(parts, weights, strict=True)]) for k, parts in blocks)
        if mix is not None:
            curves = ((k, list(np.tensordot(mix, np.stack(parts), 1))) for k, parts in curves)
        n_curves = len(weights) if mix is None else len(mix)
        return power_sums(curves, len(self.sample.strata), n_curves, projection.weight.shape[1])

    def magnitude(self, projection: PriorProjection) -> Floats:
        """Return a power of two above the largest scaled deviation of any model at each prior (n_priors,)."""
        rows = zip(self.tables, self.axes, projection.scale, strict=True)
        largest = [
            np.maximum(table.values.max(axis=0), -table.values.min(axis=0))
            @ np.abs(axes @ projection.weight)
            * row
            for table, axes, row in rows
        ]
        return ceil_power_of_two(np.max(largest, axis=0))

    def _blocks(self, step: int) -> Iterator[tuple[int, list[Floats]]]:
        """Yield a stratum's position and each model's deviations (n_rows, n_nodes), by `step` units."""
        for kind, (rows, _) in enumerate(self.sample.strata):
            for part in split_rows(rows, step):
                yield kind, [table.select_units(part) for table in self.tables]


def _compress(table: JackknifeValues) -> tuple[JackknifeValues, Floats]:
    """Return a table of fewer columns, if it is long, and the axes that turn these back to the nodes."""
    n_entries, n_nodes = table.values.shape
    if n_entries <= MIN_ENTRIES_PER_NODE * n_nodes:
        return table, np.eye(n_nodes)
    root = compute_r_factor(split_rows(table.values, QR_BLOCK_ROWS))
    norm = np.linalg.norm(root, axis=0)
    norm[norm == 0] = 1.0
    _, size, axes = np.linalg.svd(root / norm)
    axes = axes[size > RANK_TOLERANCE * size[0]]
    return replace(table, values=table.values @ (axes / norm).T), axes * norm


def project_r_factor(root: Floats, weight: Floats, n_models: int) -> Floats:
    """Return a symmetric matrix (n_models * n_priors) with the products of deviations at projected priors."""
    columns = root.reshape(-1, n_models, len(weight)) @ weight
    return symmetric_root(columns.reshape(-1, n_models * weight.shape[1]))


@limit_blas_threads()
def compute_r_factor(blocks: Iterable[Floats]) -> Floats:
    """Return R of the QR decomposition of stacked blocks; normal equations would lose half of the digits."""
    root = np.empty(0)
    for block in blocks:
        n_columns = block.shape[1]
        root = root if root.size else np.zeros((n_columns, n_columns), order="F")
        if block.size:
            root = dtpqrt(0, min(QR_COLUMNS, n_columns), root, block, overwrite_a=True)[0]
    return np.asarray(root)


@limit_blas_threads()
def symmetric_root(root: Floats) -> Floats:
    """Return the symmetric S with S S = root.T @ root, which is unique and so alike on all processors."""
    _, size, axes = np.linalg.svd(root, full_matrices=False)
    return np.asarray(axes.T * size @ axes)
