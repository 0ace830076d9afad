"""Jackknife over cases on workers, which return sums.

Workers have the positions of their cases on the curves, and receive all curves. Each returns a triangular
factor of the cross-products of its deviations, which keeps the digits of nearly equal models, and sums of
their squares and fourth powers. Clusters and weighted cases need a first pass for the means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from skewanova.base.checks import Floats
from skewanova.curves.groups import CompactCurve
from skewanova.curves.sorting import RankedCases
from skewanova.inference.case_deviations import CaseDeviations, PriorProjection, compute_r_factor
from skewanova.inference.case_resampling import (
    CurvePositions,
    JackknifeValues,
    StepTable,
    areas_without_units,
    compute_areas,
    number_occupied_positions,
    scale_changes,
)
from skewanova.inference.sampling import Codes, Sample, SampleSummary, VarianceEstimates, classify_units
from skewanova.inference.single_test_set import ArcsineAreas, ArcsineScale
from skewanova.priors.weightings import DeploymentPrior


@dataclass(frozen=True, eq=False)
class CaseJackknife:
    """Jackknife values of the cases of a worker.

    `rows` are the slots of the curves, `weights` the distinct weights of negatives and positives, and `means`
    the mean values by stratum (3, n_models, n_weightings), None in the first pass.
    """

    curves: Sequence[CompactCurve]
    rows: Sequence[int]
    weightings: Sequence[DeploymentPrior]
    area_estimator: str
    sample: SampleSummary
    weights: tuple[Floats, Floats]
    means: Floats | None = None

    def deviations(self, cases: RankedCases) -> CaseDeviations:
        """Return units' jackknife values by curve, raw if `means` are needed first, else centred, scaled."""
        columns = cases.positive, cases.cluster, cases.weight
        slots = (cases.slot[row].astype(np.intp) for row in self.rows)
        sides = [(slot[cases.positive] // 2, slot[~cases.positive]) for slot in slots]
        if not self.sample.clustered:
            tables = []
            for (places, entry, estimate, values), side in zip(self._tables_of_cases, sides, strict=True):
                position = places.locate_cases(cases.positive, *side, cases.weight)
                tables.append(JackknifeValues(estimate, values, entry[position]))
            return CaseDeviations(Sample(cases.positive), tuple(tables))
        stratum = self.sample.stratum_of_kind[classify_units(Sample(*columns))]
        sample, sizes, tables = Sample(*columns, stratum), self.sample.stratum_sizes[stratum], []
        for model, ((gain, fall, area), side) in enumerate(zip(self._tables_of_clusters, sides, strict=True)):
            ranks = (*side, gain, fall)
            without = areas_without_units(sample, ranks, self.weightings, self.area_estimator)
            means = None if self.means is None else self.means[:, model]
            values = self._centre(scale_changes(sizes, area - without), stratum, means)
            tables.append(JackknifeValues(area, values, np.arange(sample.n_units)))
        return CaseDeviations(sample, tuple(tables))

    @cached_property
    def _tables_of_cases(self) -> list[tuple[CurvePositions, Codes, Floats, Floats]]:
        """Per curve: positions, entries (or -1), areas (n_weightings,), values (n_entries, n_weightings)."""
        tables, sizes = [], self.sample.sizes[:2]
        for model, curve in enumerate(self.curves):
            gain, fall = curve.counts()
            places = CurvePositions(StepTable.from_counts(gain, fall), self.weights, sizes)
            repeats = zip((gain, fall), map(len, self.weights[::-1]), strict=True)
            counts = np.concatenate([np.tile(side, n_weights) for side, n_weights in repeats])
            entry = number_occupied_positions(counts > 0)
            estimate, values = places.leave_one_out(entry, self.weightings, self.area_estimator)
            present = np.flatnonzero(entry >= 0)
            stratum = (present < places.n_positive_positions).astype(np.intp)
            means = None if self.means is None else self.means[:, model]
            if self.sample.sums is None:  # all weigh alike
                of_stratum = [np.where(stratum == kind, counts[present], 0) for kind in (0, 1)]
                means = np.array([n @ values / size for n, size in zip(of_stratum, sizes, strict=True)])
            tables.append((places, entry, estimate, self._centre(values, stratum, means)))
        return tables

    @cached_property
    def _tables_of_clusters(self) -> list[tuple[Floats, Floats, Floats]]:
        """Per curve: weights of positives (n_steps,), negatives (2 n_steps + 1,), areas (n_weightings,)."""
        tables = []
        for curve in self.curves:
            gain, fall = (counts.astype(np.float64) for counts in curve.counts())
            tables.append((gain, fall, compute_areas(curve.curve(), self.weightings, self.area_estimator)))
        return tables

    def _centre(self, values: Floats, stratum: Codes, means: Floats | None) -> Floats:
        """Return values less means of their strata of n units, over sqrt(n (n - 1)); as given if None."""
        if means is None:
            return values
        size = self.sample.stratum_sizes[stratum]
        scale = np.sqrt(size * np.maximum(size - 1, 1))[:, None]
        return np.asarray((values - means[stratum]) / scale)

    def sum_by_stratum(self, cases: RankedCases) -> Floats:
        """Return sums of values (3, n_models, n_weightings) over units negative, positive, or both."""
        result = self.deviations(cases)
        sums = np.zeros((3, len(result.tables), len(self.weightings)))
        for kind, (rows, _) in zip(result.sample.stratum_numbers, result.sample.strata, strict=True):
            for model, table in enumerate(result.tables):
                sums[kind, model] = np.bincount(table.entry[rows], minlength=len(table.values)) @ table.values
        return sums

    def sum_powers(
        self, cases: RankedCases, *, turns: Sequence[PriorProjection] | None, mix: Floats | None
    ) -> Sums:
        """Return areas, R factor, and power sums by turn of the deviations of the units of some cases.

        The default turns are those of the arcsine scale and of the areas. A `mix` (n, n_models) gives linear
        combinations in place of the models, except in the R factor.
        """
        result = self.deviations(cases)
        estimate = np.stack([table.estimate for table in result.tables])
        turns = _default_projections(estimate.ravel()) if turns is None else turns
        root, parts = result.sum_products(turns, mix)
        powers = []
        for unit, sums in parts:
            by_stratum = np.zeros((3, *sums.shape[1:]))  # some units may lack a stratum
            by_stratum[result.sample.stratum_numbers] = sums
            powers.append((unit, by_stratum))
        return Sums(self.sample, estimate, root, powers)


def _default_projections(area: Floats) -> list[PriorProjection]:
    """Return two projections of areas over one prior distribution: to the arcsine scale, and to areas."""
    slopes = ArcsineScale.from_areas(area).slope, np.ones(len(area))
    return [PriorProjection(np.ones((1, 1)), 1 / slope[:, None]) for slope in slopes]


class Sums(NamedTuple):
    """Areas (n_models, n_weightings), and sums over the deviations of the units of `sample`.

    `root` is a triangular factor of the cross-products of the deviations. `powers` holds (unit, sums) for
    every turn: sums of powers by stratum (3, 2, n_models + n_pairs, n_priors), in powers of the unit.
    """

    sample: SampleSummary
    estimate: Floats
    root: Floats
    powers: list[tuple[Floats, Floats]]

    @classmethod
    def merge(cls, parts: Sequence[Sums]) -> Sums:
        """Return the sums over all parts, in common units, and the triangular factor of all roots."""
        powers = []
        for turn in zip(*(part.powers for part in parts), strict=True):
            # units of curves are the same in all parts, those of clusters are not
            unit = np.max([part_unit for part_unit, _ in turn], axis=0)
            exponents = np.array([[[2]], [[4]]])
            scaled = [sums * (part_unit / unit) ** exponents for part_unit, sums in turn]
            powers.append((unit, np.sum(scaled, axis=0)))
        return cls(parts[0].sample, parts[0].estimate, compute_r_factor(part.root for part in parts), powers)

    def estimate_variances(self, n_curves: int) -> list[VarianceEstimates]:
        """Return, for every turn, the variances of `n_curves` models or combinations and of their pairs."""
        return [
            VarianceEstimates.from_power_sums(self.sample, sums[self.sample.stratum], n_curves, unit)
            for unit, sums in self.powers
        ]


@dataclass(frozen=True, eq=False)
class DistributedArcsine(ArcsineAreas):
    """Areas on the arcsine scale of distributed cases; `measure` returns the sums of further turns."""

    sums: Sums
    measure: Callable[..., Sums]

    def sum_powers(self, slope: Floats) -> tuple[Floats, Floats]:
        """Return the power of two and power sums for `scale.slope` or, if all slopes are 1, for areas."""
        unit, sums = self.sums.powers[int((slope == 1).all())]
        return unit, sums[self.sample.stratum]

    def estimate_contrasts(self, contrasts: Floats) -> tuple[Floats, Floats]:
        """Return standard errors (n,) of contrasts (n, n_models) of angles, and degrees of freedom."""
        angular, _ = _default_projections(self.area)
        (spreads,) = self.measure(turns=[angular], mix=contrasts).estimate_variances(len(contrasts))
        return self.sample.to_std_errors(spreads.model.ravel()), spreads.model_df.ravel()
