"""The cases of one test set, or of runs on it, that are on workers, which return sums over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from skewanova.base.checks import Floats, InputError
from skewanova.curves.groups import Cell
from skewanova.curves.sorting import Parts
from skewanova.distributed.jackknife import DistributedCases
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.case_deviations import Turn
from skewanova.inference.paired_test_set import PairedTestSet, RunAreas
from skewanova.inference.sampling import SampleSummary, Spreads
from skewanova.inference.single_test_set import ArcsineAreas
from skewanova.priors.evidence import UnitSums
from skewanova.priors.weightings import DeploymentPrior
from skewanova.scores.pairing import check_clustered_runs, check_paired
from skewanova.scores.table import StreamedScores

FIXED_RUNS = (
    "fixed runs on one test set are compared by the tails of the changes over cases, which takes the scores "
    "in memory: read them by read_scores(), or take the runs as crossed or nested"
)


class DistributedTestSet(PairedTestSet):
    """A test set whose cases are on workers, which return sums over them."""

    def __init__(self, table: StreamedScores, parts: Parts) -> None:
        super().__init__()
        self._cases, self._fold = distribute_cases(table, parts), table.folds[0]
        self.sample = self._cases.sample

    def cells(self, evaluation: Evaluation) -> list[Cell]:
        """Return the cells of the models of an evaluation."""
        return [(model, self._fold) for model in evaluation.models]

    def angles(self, evaluation: Evaluation, weighting: DeploymentPrior) -> ArcsineAreas:
        """Return the areas of the models on the angular scale."""
        area_estimator = evaluation.area_estimator
        key = "angles", evaluation.models, id(weighting), area_estimator  # the value refers to the weighting
        if key not in self.cache:
            self.cache[key] = self._cases.angles(self.cells(evaluation), weighting, area_estimator)
        areas: ArcsineAreas = self.cache[key]
        return areas

    def deviations(
        self, evaluation: Evaluation, priors: Floats, turns: Sequence[Turn]
    ) -> list[tuple[Floats, Spreads]]:
        """Return rows that represent the units, and spreads, for each turn from the priors."""
        return self._cases.along(self.cells(evaluation), priors, evaluation.area_estimator, turns)


def iter_run_areas(evaluation: Evaluation, weightings: Sequence[DeploymentPrior]) -> Iterator[RunAreas]:
    """Yield the areas of all runs over each deployment prior, as :func:`.paired_test_set.iter_run_areas`."""
    table = evaluation.scores
    if not isinstance(table, StreamedScores) or table.parts is None:
        raise InputError("several runs on one test set need their cases")
    if evaluation.design.runs == "fixed":
        raise InputError(FIXED_RUNS)
    cases = distribute_cases(table, table.parts)
    cells = [(model, fold) for model in evaluation.models for fold in evaluation.folds]
    areas, rows = cases.rows_along(cells, weightings, evaluation.area_estimator)
    for i in range(len(weightings)):
        area = areas[:, i].reshape(len(evaluation.models), -1)
        yield RunAreas(area, np.ascontiguousarray(rows[..., i]), cases.sample, evaluation.design.runs)


def distribute_cases(table: StreamedScores, parts: Parts) -> DistributedCases:
    """Return curves and cases of a distributed test set whose models have the same cases."""
    check_paired(table)
    if len(table.folds) > 1:
        check_clustered_runs(table)
    sample, sampling = count_sample(table), table.sampling
    if sampling is None:
        return DistributedCases(sample, table.packed, parts)
    return DistributedCases(sample, table.packed, parts, sampling.distinct)


def count_sample(table: StreamedScores) -> SampleSummary:
    """Return how the cases of a distributed test set were drawn."""
    sampling = table.sampling
    if sampling is None:
        return SampleSummary.of(table.counts[0, 0])
    sums = UnitSums(*(part[0, 0] for part in sampling.sums))
    sizes = sampling.kinds if table.has_clusters else table.counts[0, 0]
    return SampleSummary.of(sizes, sums=sums, clustered=table.has_clusters)
