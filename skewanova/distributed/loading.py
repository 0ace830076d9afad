"""Tables and test sets of distributed scores, for the other packages.

Workers turn the rows of a group (model and fold) into a curve of one or two bits per case, and check cases,
clusters and weights. Rows stay on the workers. Tables with halvings, and small test sets, are read into
memory instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from skewanova.base.checks import Floats, InputError, warn_each
from skewanova.base.folders import find_free_memory
from skewanova.curves.groups import Cell
from skewanova.curves.sorting import CasePartitions
from skewanova.distributed.backends import Backend, make_backend
from skewanova.distributed.case_checks import summarize_groups
from skewanova.distributed.jackknife import DistributedCases
from skewanova.distributed.packing import pack_groups
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.case_deviations import PriorProjection
from skewanova.inference.paired_test_set import PairedTestSet, RunAreas
from skewanova.inference.sampling import SampleSummary, VarianceEstimates
from skewanova.inference.single_test_set import ArcsineAreas
from skewanova.priors.evidence import UnitSums
from skewanova.priors.weightings import DeploymentPrior
from skewanova.scores.columns import DATASET_COLUMN, HALVING_COLUMNS, NO_FOLD_WARNING, ColumnMap
from skewanova.scores.halvings import HALVINGS_TOO_LARGE
from skewanova.scores.pairing import NEEDS_MEMORY, check_clustered_runs, check_paired
from skewanova.scores.reading import read_in_memory
from skewanova.scores.table import Scores, ScoreTable, StreamedScores
from skewanova.scores.validation import raise_multiple_datasets

#: Most rows of one test set, or of runs on it, that are read into memory.
MAX_LOCAL_ROWS = 1_000_000


#: Peak memory of a row that is read from workers, and the share of the free memory that rows may take.
BYTES_PER_ROW, MEMORY_SHARE = 200, 0.5


FIXED_RUNS = (
    "fixed runs on one test set need the scores in memory: pass frame.compute() of Dask or frame.toPandas() "
    "of Spark, or state design='runs' or 'nested_runs'"
)


def read_distributed(source: object, columns: Mapping[str, str] | None, pos_label: object) -> Scores:
    """Return the scores of a Dask or Spark frame: small test sets and halvings in memory, else as curves."""
    engine = make_backend(source)
    if engine is None:
        raise TypeError(type(source).__name__)
    column_map = ColumnMap.from_names(columns, pos_label=pos_label)
    selected = column_map.select(engine.names, engine.name)
    present = {column: name for column, name in column_map.names.items() if name in selected}
    if any(column in present for column in HALVING_COLUMNS):
        if _fits_in_memory(engine.n_rows()):
            return _read_in_memory(engine, present, pos_label)
        raise InputError(HALVINGS_TOO_LARGE)
    if DATASET_COLUMN in selected and DATASET_COLUMN not in present.values():
        datasets = engine.read_rows({DATASET_COLUMN: DATASET_COLUMN}, pd.DataFrame.drop_duplicates)
        raise_multiple_datasets(DATASET_COLUMN, datasets[DATASET_COLUMN].nunique())
    if "fold" not in present:
        warn_each([NO_FOLD_WARNING])
    table = collect_curves(engine, present, pos_label=pos_label)
    n_rows, cases = int(table.counts.sum()), table.cases
    over_cases = cases is not None and (cases.shared == cases.n_cases).all()  # by name, as rows have no order
    if over_cases and _fits_in_memory(n_rows) and (table.parts is None or n_rows <= MAX_LOCAL_ROWS):
        return _read_in_memory(engine, present, pos_label)
    return table


def _fits_in_memory(n_rows: int) -> bool:
    free = find_free_memory()
    return free is None or n_rows * BYTES_PER_ROW <= MEMORY_SHARE * free


def _read_in_memory(engine: Backend, columns: Mapping[str, str], pos_label: object) -> ScoreTable:
    """Return the table of all rows, read into memory in an order that is the same on every engine."""
    datasets = (
        {DATASET_COLUMN: DATASET_COLUMN}
        if DATASET_COLUMN in engine.names and DATASET_COLUMN not in columns.values()
        else {}
    )
    frame = engine.read_rows({**columns, **datasets})
    keys = [key for key in ("model", "fold", "case") if key in frame]
    if "case" not in keys and frame["fold"].nunique() < 2 and frame["model"].nunique() > 1:
        raise InputError(NEEDS_MEMORY)
    return read_in_memory(
        frame.sort_values(keys, key=lambda v: v.astype(str), kind="stable"), pos_label=pos_label
    )


def collect_curves(engine: Backend, columns: Mapping[str, str], *, pos_label: object) -> StreamedScores:
    """Return the checked curves of all groups, and the summaries of cases, clusters and weights."""
    groups = pack_groups(engine, columns, pos_label)
    cases, sampling, parts = summarize_groups(engine, columns, groups, pos_label)
    return StreamedScores(
        models=groups.models,
        folds=groups.folds,
        counts=groups.counts(),
        packed=groups.curves(),
        cases=cases,
        source=None,
        parts=parts,
        sampling=sampling,
    )


# --- one test set, or runs on it, that stay on the workers --------------------------------------------------


class DistributedTestSet(PairedTestSet):
    """A test set whose cases are on workers, which return sums over cases."""

    def __init__(self, table: StreamedScores, parts: CasePartitions) -> None:
        self.cache = {}
        self._cases, self._fold = distribute_cases(table, parts), table.folds[0]
        self.sample = self._cases.sample

    def cells(self, evaluation: Evaluation) -> list[Cell]:
        """Return the cells of the models of an evaluation."""
        return [(model, self._fold) for model in evaluation.models]

    def measure_areas(self, evaluation: Evaluation, weighting: DeploymentPrior) -> ArcsineAreas:
        """Return the areas of the models on the angular scale."""
        area_estimator = evaluation.area_estimator
        key = "angles", evaluation.models, id(weighting), area_estimator  # the value refers to the weighting
        if key not in self.cache:
            self.cache[key] = self._cases.measure_areas(self.cells(evaluation), weighting, area_estimator)
        areas: ArcsineAreas = self.cache[key]
        return areas

    def project_deviations(
        self, evaluation: Evaluation, priors: Floats, turns: Sequence[PriorProjection]
    ) -> list[tuple[Floats, VarianceEstimates]]:
        """Return rows that represent the units, and spreads, for each turn from the priors."""
        return self._cases.project(self.cells(evaluation), priors, evaluation.area_estimator, turns)


def iter_distributed_areas(
    evaluation: Evaluation, weightings: Sequence[DeploymentPrior]
) -> Iterator[RunAreas]:
    """Yield the areas of all runs over each deployment prior, as :func:`.paired_test_set.iter_run_areas`."""
    table = evaluation.scores
    if not isinstance(table, StreamedScores) or table.parts is None:
        raise InputError("several runs on one test set need a case column; add it to the frame")
    if evaluation.design.runs == "fixed":
        raise InputError(FIXED_RUNS)
    cases = distribute_cases(table, table.parts)
    cells = [(model, fold) for model in evaluation.models for fold in evaluation.folds]
    areas, rows = cases.measure_rows(cells, weightings, evaluation.area_estimator)
    for i in range(len(weightings)):
        area = areas[:, i].reshape(len(evaluation.models), -1)
        yield RunAreas(area, np.ascontiguousarray(rows[..., i]), cases.sample, evaluation.design.runs)


def distribute_cases(table: StreamedScores, parts: CasePartitions) -> DistributedCases:
    """Return the curves and cases of a distributed test set, checked for the same cases in all models."""
    check_paired(table)
    if len(table.folds) > 1:
        check_clustered_runs(table)
    weights = (np.ones(1), np.ones(1)) if table.sampling is None else table.sampling.distinct
    return DistributedCases(summarize_sample(table), table.packed, parts, weights)


def summarize_sample(table: StreamedScores) -> SampleSummary:
    """Return the numbers, weights and clusters of the cases of a distributed test set."""
    sampling = table.sampling
    if sampling is None:
        return SampleSummary.from_sizes(table.counts[0, 0])
    sums = UnitSums(*(part[0, 0] for part in sampling.sums))
    sizes = sampling.kinds if table.has_clusters else table.counts[0, 0]
    return SampleSummary.from_sizes(sizes, sums=sums, clustered=table.has_clusters)
