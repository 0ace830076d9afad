"""Jackknife values at many priors, projected from a few and summed over blocks of cases.

A precision is 1 / (1 + skew * ratio): along the log-odds of the prior it is the same curve for all operating
points, shifted, and analytic for imaginary parts below pi. So whatever is a sum of precisions is, at every
prior of a range, the same combination of its values at some forty Chebyshev nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from numpy.polynomial.chebyshev import chebpts1, chebvander
from scipy.special import expit, logit

from skewanova.base.checks import Floats
from skewanova.curves.chebyshev import chebyshev_transform
from skewanova.curves.estimators import BY_STEPS
from skewanova.inference.case_resampling import JackknifeValues, SortedScores
from skewanova.inference.sampling import Sample, VarianceEstimates, ceil_power_of_two, power_sums
from skewanova.priors.weightings import UniformPrior

#: What interpolation may leave out, beside the largest value of a panel.
TOLERANCE = 1e-18


#: Widest panel in the log-odds: values at its ends differ in size by no more than a few thousand times.
PANEL_WIDTH = 8.0


#: Numbers held at once, so that a few arrays of them stay in the second-level cache.
BLOCK_SIZE = 1 << 16


#: Rows that are turned to a triangle at once, for each column (more leave the cache, fewer are repeated), and
#: in all.
ROWS_PER_COLUMN, MIN_ROWS = 8, 512


class ChebyshevNodes(NamedTuple):
    """Priors to measure at, and what each counts at the priors asked for (n_nodes, n_priors)."""

    priors: Floats
    weight: Floats


def choose_nodes(priors: Floats, low: float, high: float, area_estimator: str) -> ChebyshevNodes:
    """ChebyshevNodes over a range that holds the priors; the priors themselves where these are as few."""
    first, last = float(logit(low)), float(logit(high))
    if area_estimator in BY_STEPS and first < last:
        edges = np.linspace(first, last, int(np.ceil((last - first) / PANEL_WIDTH)) + 1)
        count = _count_panel_nodes(float(edges[1] - edges[0]) / 2)
        if count * (len(edges) - 1) < len(priors):
            return _place_nodes(edges, count, logit(priors))
    return ChebyshevNodes(priors, np.eye(len(priors)))


def _count_panel_nodes(half: float) -> int:
    """Count the nodes that a panel of this half-width needs for the tolerance (Bernstein's bound)."""
    rho = np.pi / half + np.hypot(1.0, np.pi / half)
    return int(np.ceil(-np.log(TOLERANCE) / np.log(rho)))


def _place_nodes(edges: Floats, count: int, odds: Floats) -> ChebyshevNodes:
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    weight = np.zeros((len(half) * count, len(odds)))
    panel = np.clip(np.searchsorted(edges, odds, side="right") - 1, 0, len(half) - 1)
    for k in range(len(half)):
        here = panel == k
        series = chebvander((odds[here] - middle[k]) / half[k], count - 1)
        weight[k * count : (k + 1) * count, here] = chebyshev_transform(count) @ series.T
    return ChebyshevNodes(
        np.asarray(expit(middle[:, None] + half[:, None] * chebpts1(count)).ravel()), weight
    )


class PriorProjection(NamedTuple):
    """Priors that follow by `weight` (n_nodes, n_priors), times `scale` (n_models, n_priors)."""

    weight: Floats
    scale: Floats


@dataclass(frozen=True, eq=False)
class CaseDeviations:
    """Deviations of the areas of every model at the nodes, whose products over units sum to covariances."""

    sample: Sample
    tables: tuple[JackknifeValues, ...]

    @classmethod
    def from_models(
        cls, models: Sequence[SortedScores], priors: Floats, area_estimator: str
    ) -> CaseDeviations:
        """Measure at the nodes."""
        weightings = [UniformPrior(prior, prior) for prior in priors.tolist()]
        sample = models[0].sample
        tables = (
            model.jackknife_values(weightings, area_estimator).deviations(sample, overwrite=True)
            for model in models
        )
        return cls(sample, tuple(tables))

    def project_units(self, weight: Floats) -> Floats:
        """Deviations at priors that follow by `weight`, or as many rows as columns (n_models * n_priors)."""
        n_models, n_priors = len(self.tables), weight.shape[1]
        if self.sample.n_units <= n_models * n_priors:
            return np.hstack([table.select_units() @ weight for table in self.tables])
        return project_r_factor(self.r_factor, weight, n_models)

    @cached_property
    def r_factor(self) -> Floats:
        """A triangle (n_rows, n_models * n_nodes) with the same products as the deviations at the nodes."""
        step = max(ROWS_PER_COLUMN * len(self.tables) * self.tables[0].values.shape[1], MIN_ROWS)
        return compute_r_factor(np.hstack(parts) for _, parts in self._blocks(step))

    def project(self, turns: Sequence[PriorProjection]) -> list[tuple[Floats, VarianceEstimates]]:
        """Units and spreads at priors that follow by each weight, times each scale."""
        return [(self.project_units(turn.weight), self.variances(turn)) for turn in turns]

    def variances(self, turn: PriorProjection) -> VarianceEstimates:
        """Variances of all models and pairs for a turn."""
        unit = self.magnitude(turn)
        sums = self.sums(turn._replace(scale=turn.scale / unit))
        return VarianceEstimates.from_power_sums(self.sample, sums, len(turn.scale), unit)

    def sums(self, turn: PriorProjection, mix: Floats | None = None) -> Floats:
        """Return sums of powers (n_strata, 2, n_curves + n_pairs, n_priors) of models or a mix of them."""
        turns = [turn.weight * row for row in turn.scale]
        blocks = self._blocks(max(16, BLOCK_SIZE // (len(turns) * turn.weight.shape[1])))
        curves = ((k, [part @ by for part, by in zip(parts, turns, strict=True)]) for k, parts in blocks)
        if mix is not None:
            curves = ((k, list(np.tensordot(mix, np.stack(parts), 1))) for k, parts in curves)
        n_curves = len(turns) if mix is None else len(mix)
        return power_sums(curves, len(self.sample.strata), n_curves, turn.weight.shape[1])

    def magnitude(self, turn: PriorProjection) -> Floats:
        """Return a power of two near the largest deviation at every prior."""
        largest = np.array([np.abs(table.values).max(axis=0) for table in self.tables])
        return ceil_power_of_two((turn.scale * (largest @ np.abs(turn.weight))).max(axis=0))

    def _blocks(self, step: int) -> Iterator[tuple[int, list[Floats]]]:
        """Yield a stratum's number, and deviations (n_rows, n_nodes) of every model for some of its units."""
        for kind, (rows, _) in enumerate(self.sample.strata):
            for start in range(0, len(rows), step):
                yield kind, [table.select_units(rows[start : start + step]) for table in self.tables]


def project_r_factor(root: Floats, weight: Floats, n_models: int) -> Floats:
    """Return as many rows as columns (n_models * n_priors) for all units, from a triangle at the nodes."""
    columns = root.reshape(-1, n_models, len(weight)) @ weight
    return symmetric_root(columns.reshape(-1, n_models * weight.shape[1]))


def compute_r_factor(blocks: Iterable[Floats]) -> Floats:
    """Return as many rows as columns with the same products; the products would lose half of the digits."""
    stacked = reduce(lambda root, block: np.vstack([np.linalg.qr(root, mode="r"), block]), blocks)
    return np.asarray(np.linalg.qr(stacked, mode="r"))


def symmetric_root(root: Floats) -> Floats:
    """Return the symmetric root of the same products: the only one that no processor may turn another way."""
    _, size, axes = np.linalg.svd(root, full_matrices=False)
    return np.asarray(axes.T * size @ axes)
