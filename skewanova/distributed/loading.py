"""Tables and test sets of distributed scores, for the other packages.

Workers turn the rows of a group (model and fold) into a curve of one or two bits per case, and check cases,
clusters and weights. Rows stay on the workers. Tables with halvings, and small test sets, are read into
memory instead.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.checks import Floats, InputError
from skewanova.base.folders import find_free_memory
from skewanova.curves.estimators import ESTIMATORS, STEP_ESTIMATORS
from skewanova.curves.groups import Cell, CompactCurve
from skewanova.curves.sorting import MAX_DISTINCT_WEIGHTS
from skewanova.distributed.backends import Backend
from skewanova.distributed.jackknife import CaseJackknife, DistributedArcsine, Sums
from skewanova.distributed.packing import PersistedCases, collect_curves
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.case_deviations import PriorProjection, choose_nodes, project_r_factor
from skewanova.inference.paired_test_set import PairedTestSet, RunAreas
from skewanova.inference.sampling import SampleSummary, VarianceEstimates
from skewanova.inference.single_test_set import ArcsineAreas, ArcsineScale
from skewanova.priors.evidence import UnitSums
from skewanova.priors.weightings import DeploymentPrior, UniformPrior
from skewanova.scores.columns import DATASET_COLUMN, HALVING_COLUMNS, ColumnMap, warn_without_fold
from skewanova.scores.halvings import HALVINGS_TOO_LARGE
from skewanova.scores.pairing import NEEDS_MEMORY, check_clustered_runs, check_paired
from skewanova.scores.reading import read_in_memory
from skewanova.scores.table import Scores, ScoreTable, StreamedScores
from skewanova.scores.validation import raise_multiple_datasets

#: Most rows of one test set, or of runs on it, that are read into memory.
MAX_LOCAL_ROWS = 1_000_000


#: Peak memory of a row that is read from workers, and the share of the free memory that rows may take.
BYTES_PER_ROW, MEMORY_SHARE = 200, 0.5


#: What needs the scores in memory, and what else can be done.
NOT_ON_WORKERS = "{} the scores in memory: pass frame.compute() of Dask or frame.toPandas() of Spark, or {}"


def read_distributed(engine: Backend, columns: Mapping[str, str] | None, pos_label: object) -> Scores:
    """Return a ScoreTable of halvings (raise if large) or few paired named cases, else StreamedScores."""
    column_map = ColumnMap.from_names(columns, pos_label=pos_label)
    selected = column_map.select(engine.names, engine.name)
    present = {column: name for column, name in column_map.names.items() if name in selected}
    is_extra = DATASET_COLUMN in selected and DATASET_COLUMN not in present.values()
    dataset = {DATASET_COLUMN: DATASET_COLUMN} if is_extra else {}
    if any(column in present for column in HALVING_COLUMNS):
        if not _fits_in_memory(engine.n_rows()):
            raise InputError(HALVINGS_TOO_LARGE)
        return _read_in_memory(engine, present | dataset, pos_label)
    if dataset:
        names = engine.read_rows(dataset, pd.DataFrame.drop_duplicates)[DATASET_COLUMN]
        raise_multiple_datasets(names.nunique(dropna=False))
    table = collect_curves(engine, present, pos_label=pos_label)
    n_rows, cases = int(table.counts.sum()), table.cases
    over_cases = cases is not None and (cases.shared == cases.n_cases).all()  # by name, as rows have no order
    if over_cases and _fits_in_memory(n_rows) and (table.parts is None or n_rows <= MAX_LOCAL_ROWS):
        return _read_in_memory(engine, present, pos_label)
    if "fold" not in present:
        warn_without_fold()
    return table


def _fits_in_memory(n_rows: int) -> bool:
    """Return True if so many rows take at most half of the free memory, or if this is unknown."""
    free = find_free_memory()
    return free is None or n_rows * BYTES_PER_ROW <= MEMORY_SHARE * free


def _read_in_memory(engine: Backend, columns: Mapping[str, str], pos_label: object) -> ScoreTable:
    """Return all rows in memory, sorted by model, fold, case as text; raise if only order pairs them."""
    frame = engine.read_rows(columns)
    keys = [key for key in ("model", "fold", "case") if key in frame]
    one_fold = "fold" not in keys or frame["fold"].nunique() < 2
    if "case" not in keys and one_fold and frame["model"].nunique() > 1:
        raise InputError(NEEDS_MEMORY)
    return read_in_memory(
        frame.sort_values(keys, key=lambda v: v.astype(str), kind="stable"), pos_label=pos_label
    )


# --- one test set, or runs on it, that stay on the workers --------------------------------------------------


@dataclass(eq=False)
class DistributedCases(PairedTestSet):
    """Curves of models or runs on one test set, by (model, fold), and its cases on workers.

    `sample` summarizes the units, `parts` are the cases on the workers, and `weights` the distinct weights of
    the negatives and of the positives, up to one too many.
    """

    sample: SampleSummary
    curves: Mapping[Cell, CompactCurve]
    parts: PersistedCases
    weights: tuple[Floats, Floats] = (np.ones(1), np.ones(1))
    cache: dict[tuple[object, ...], DistributedArcsine] = field(default_factory=dict, init=False)

    def measure(
        self,
        evaluation: Evaluation,
        weightings: Sequence[DeploymentPrior],
        *,
        turns: Sequence[PriorProjection] | None = None,
        mix: Floats | None = None,
    ) -> Sums:
        """Return areas of models and runs, sums of deviations; raise if estimator or weights need memory."""
        area_estimator = evaluation.area_estimator
        if area_estimator not in STEP_ESTIMATORS:
            allowed = ", ".join(name for name in ESTIMATORS if name in STEP_ESTIMATORS)
            raise InputError(
                NOT_ON_WORKERS.format(f"area_estimator={area_estimator!r} needs", f"use one of {allowed}")
            )
        cells = [(model, fold) for model in evaluation.models for fold in evaluation.folds]
        rows = [self.parts.cells.index(cell) for cell in cells]
        curves = [self.curves[cell] for cell in cells]
        values = CaseJackknife(curves, rows, weightings, area_estimator, self.sample, self.weights)
        if self.sample.sums is not None:  # else the means follow from the curves
            if not self.sample.clustered and max(map(len, self.weights)) > MAX_DISTINCT_WEIGHTS:
                many = f"more than {MAX_DISTINCT_WEIGHTS} different weights in a class need"
                raise InputError(NOT_ON_WORKERS.format(many, "round the weights to fewer"))
            sums = np.sum(self.parts.map(values.sum_by_stratum), axis=0)
            means = sums / np.maximum(self.sample.stratum_sizes, 1)[:, None, None]
            values = replace(values, means=means)
        return Sums.merge(self.parts.map(partial(values.sum_powers, turns=turns, mix=mix)))

    def measure_areas(self, evaluation: Evaluation, weighting: DeploymentPrior) -> ArcsineAreas:
        """Return the models' areas over a prior distribution, with the arcsine scale; they are cached."""
        # the value refers to the weighting
        key = "angles", evaluation.models, id(weighting), evaluation.area_estimator
        if key not in self.cache:
            measure = partial(self.measure, evaluation, [weighting])
            sums = measure()
            scale = ArcsineScale.from_areas(sums.estimate.ravel())
            self.cache[key] = DistributedArcsine(scale, sums.root, self.sample, sums, measure)
        return self.cache[key]

    def project_deviations(
        self, evaluation: Evaluation, priors: Floats, projections: Sequence[PriorProjection]
    ) -> list[tuple[Floats, VarianceEstimates]]:
        """Return, by projection, the symmetric root of deviations' products (model, prior) and variances."""
        weightings = [UniformPrior(prior, prior) for prior in priors.tolist()]
        sums = self.measure(evaluation, weightings, turns=projections)
        n_curves = len(sums.estimate)
        spreads = zip(projections, sums.estimate_variances(n_curves), strict=True)
        return [(project_r_factor(sums.root, [turn.weight] * n_curves), each) for turn, each in spreads]

    def measure_rows(
        self, evaluation: Evaluation, weightings: Sequence[DeploymentPrior]
    ) -> tuple[Floats, Floats]:
        """Return areas (n_cells, n_weightings) and R factor of deviations (n_rows, n_cells, n_weightings).

        Cells are (model, run), run by run of each model. Many priors are interpolated from some nodes.
        """
        targets, weight = list(weightings), np.eye(len(weightings))
        if all(isinstance(item, UniformPrior) and item.low == item.high for item in weightings):
            priors = np.array([item.low for item in weightings])
            nodes = choose_nodes(priors, priors.min(), priors.max(), evaluation.area_estimator)
            targets, weight = [UniformPrior(prior, prior) for prior in nodes.priors.tolist()], nodes.weight
        n_cells = len(evaluation.models) * len(evaluation.folds)
        nowhere = PriorProjection(np.empty((len(targets), 0)), np.empty((n_cells, 0)))
        sums = self.measure(evaluation, targets, turns=[nowhere])
        return sums.estimate @ weight, sums.root.reshape(-1, len(sums.estimate), len(targets)) @ weight


def iter_distributed_areas(
    evaluation: Evaluation, weightings: Sequence[DeploymentPrior]
) -> Iterator[RunAreas]:
    """Yield areas and deviations of all models and runs, by deployment prior; raise if the runs are fixed."""
    table: Any = evaluation.scores
    if evaluation.design.runs == "fixed":
        remedy = "state design='runs' or 'nested_runs'"
        raise InputError(NOT_ON_WORKERS.format("fixed runs on one test set need", remedy))
    cases = distribute_cases(table)
    areas, rows = cases.measure_rows(evaluation, weightings)
    for i in range(len(weightings)):
        area = areas[:, i].reshape(len(evaluation.models), -1)
        yield RunAreas(area, np.ascontiguousarray(rows[..., i]), cases.sample, evaluation.design.runs)


def distribute_cases(table: StreamedScores) -> DistributedCases:
    """Return the curves and cases of a distributed test set; raise if models differ in named cases."""
    check_paired(table)
    if len(table.folds) > 1:
        check_clustered_runs(table)
    sampling, sizes = table.sampling, (*table.counts[0, 0].tolist(), 0)
    if sampling is None:
        return DistributedCases(SampleSummary(sizes=sizes), table.packed, table.parts)
    sums = UnitSums(*(part[0, 0] for part in sampling.sums))
    sizes = sampling.kinds if table.has_clusters else sizes
    sample = SampleSummary(sizes=sizes, sums=sums, clustered=table.has_clusters)
    return DistributedCases(sample, table.packed, table.parts, sampling.distinct)
