"""Scores of all models on the cases of a single test set, in one run or several, in memory or on workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, TypeGuard

import numpy as np
from scipy.linalg import block_diag

from skewanova.base.checks import Floats, InputError
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.case_deviations import CaseDeviations, PriorProjection
from skewanova.inference.case_resampling import SortedScores, measure_models, measure_rates
from skewanova.inference.runs import DegreesOfFreedom, compare_run_pairs, run_mean_errors
from skewanova.inference.sampling import Sample, VarianceEstimates
from skewanova.inference.single_test_set import ArcsineAreas, measure_arcsine_areas
from skewanova.priors.weightings import DeploymentPrior
from skewanova.scores.pairing import pair_cases, pair_runs
from skewanova.scores.table import Scores, ScoreTable, StreamedScores

#: Module of test sets on workers, imported on first use because it ranks above this package.
DISTRIBUTED = "skewanova.distributed.loading"


class PairedTestSet:
    """Models on the shared cases of one fold, sorted once, with a `cache` for results; here in memory."""

    def __init__(self, table: Scores) -> None:
        """Take the cases of the first fold; raise if models or folds differ in cases, or not in memory."""
        self.cache: dict[tuple[object, ...], Any] = {}
        cases = pair_cases(table)
        self.sample = Sample(cases.positive, cases.cluster, cases.weight)
        scores = zip(table.models, cases.scores, strict=True)
        self._models = {name: SortedScores(self.sample, score) for name, score in scores}

    def measure_areas(self, evaluation: Evaluation, weighting: DeploymentPrior) -> ArcsineAreas:
        """Return the models' areas over a weighting, uncached, with arcsine angles and jackknife values."""
        scores = [self._models[name] for name in evaluation.models]
        return measure_arcsine_areas(self.sample, scores, weighting, evaluation.area_estimator)

    def measure_rates(self, models: Sequence[str], threshold: float) -> tuple[Floats, Floats]:
        """Return tpr and fpr at score >= threshold (n_models, 2), jackknife values (n_units, n_models, 2)."""
        parts = [measure_rates(self._models[name], threshold) for name in models]
        return np.stack([rates for rates, _ in parts]), np.stack([values for _, values in parts], axis=1)

    def project_deviations(
        self, evaluation: Evaluation, priors: Floats, projections: Sequence[PriorProjection]
    ) -> list[tuple[Floats, VarianceEstimates]]:
        """Return, by projection, `CaseDeviations.project_units` before `scale`, and variances after it."""
        scores = [self._models[name] for name in evaluation.models]
        return CaseDeviations.from_models(scores, priors, evaluation.area_estimator).project(projections)


def get_test_set(evaluation: Evaluation) -> PairedTestSet:
    """Return the first fold's test set, cached in the evaluation; raise without scores or if cases differ."""
    table = evaluation.scores
    if table is None:
        raise InputError(
            "the cases of a test set come from its scores, which this evaluation lacks; make it by "
            "skewanova.evaluate(scores)"
        )
    if table not in evaluation.cache:
        make = import_module(DISTRIBUTED).distribute_cases if is_distributed(table) else PairedTestSet
        evaluation.cache[table] = make(table)
    test_set: PairedTestSet = evaluation.cache[table]
    return test_set


def is_distributed(table: Scores | None) -> TypeGuard[StreamedScores]:
    """Return True for `StreamedScores` with `parts`, whose cases are on workers; else False."""
    return isinstance(table, StreamedScores) and table.parts is not None


def find_test_set(evaluation: Evaluation) -> PairedTestSet | None:
    """Return the test set; None without scores, for several folds, a class of one unit, or unequal cases."""
    if evaluation.scores is None or len(evaluation.folds) > 1:
        return None
    try:
        test_set = get_test_set(evaluation)
    except InputError:
        return None
    return None if test_set.sample.single_unit_classes else test_set


#: Jackknife values in memory while runs are measured at many priors (32 MB).
MAX_VALUES = 1 << 22


@dataclass(frozen=True, eq=False)
class RunAreas:
    """Areas (n_models, n_runs), with the jackknife values (n_units, n_models * n_runs) of all units.

    `runs` is what the runs have in common, as of :class:`~skewanova.scores.design.FoldDesign`.
    """

    area: Floats
    values: Floats
    sample: Sample
    runs: str

    @cached_property
    def means(self) -> ArcsineAreas:
        """Means of areas over runs (n_models,) with their angles, and means of the jackknife values."""
        values = self.values.reshape(len(self.values), *self.area.shape).mean(axis=2)
        return ArcsineAreas.from_areas(self.area.mean(axis=1), values, self.sample)

    @cached_property
    def covariance(self) -> Floats:
        """Covariance over cases of all areas (n_models * n_runs square), the runs of a model together."""
        return self.sample.covariance(self.values)

    @property
    def run_deviations(self) -> Floats:
        """Deviations (n_rows, n_models), whose products sum to means' covariance over runs; none if fixed."""
        n_models, n_runs = self.area.shape
        if self.runs == "fixed":
            return np.empty((0, n_models))
        centered = (self.area - self.area.mean(axis=1, keepdims=True)) / np.sqrt(n_runs * (n_runs - 1))
        if self.runs == "crossed":
            return np.asarray(centered.T)
        return np.asarray(block_diag(*centered[:, :, None]))  # models share no run

    @property
    def covariance_of_means(self) -> Floats:
        """Covariance (n_models, n_models) of means over cases and, unless the runs are fixed, over runs."""
        over_runs = self.run_deviations
        return np.asarray(self.means.area_covariance + over_runs.T @ over_runs)

    def pair_errors(self) -> tuple[Floats, Floats]:
        """Return std errors, df (n_pairs,) of differences of means, over cases and, unless fixed, runs."""
        if self.runs == "fixed":
            return self.means.pair_errors()
        degrees = DegreesOfFreedom(case_df=self.sample.df)
        return compare_run_pairs(self.area, self.covariance, degrees, nested=self.runs == "nested")[1:]

    def model_errors(self) -> tuple[Floats, Floats]:
        """Return std errors and df (n_models,) of means, over cases and, unless fixed, runs."""
        if self.runs == "fixed":
            return self.means.model_errors()
        return run_mean_errors(self.area, self.covariance, DegreesOfFreedom(case_df=self.sample.df))


def measure_runs(evaluation: Evaluation, weighting: DeploymentPrior) -> RunAreas:
    """Return all models' areas in all runs over one deployment prior, of scores in memory or on workers."""
    return next(iter_run_areas(evaluation, [weighting]))


def iter_run_areas(evaluation: Evaluation, weightings: Sequence[DeploymentPrior]) -> Iterator[RunAreas]:
    """Yield areas of all models and runs, by weighting; raise if cases differ or scores are not at hand."""
    table = evaluation.scores
    if is_distributed(table):
        yield from import_module(DISTRIBUTED).iter_distributed_areas(evaluation, weightings)
        return
    if not isinstance(table, ScoreTable):
        raise InputError(
            "several runs on one test set need the scores in memory: pass frame.compute() of Dask or "
            "frame.toPandas() of Spark"
        )
    paired, runs, n_models = pair_runs(table), evaluation.design.runs, len(evaluation.models)
    sample = Sample(paired[0].positive, paired[0].cluster, paired[0].weight)
    columns = [run.scores[table.models.index(model)] for model in evaluation.models for run in paired]
    step = max(1, MAX_VALUES // (sample.n_units * len(columns)))
    for start in range(0, len(weightings), step):
        part = weightings[start : start + step]
        areas, values = measure_models(sample, columns, part, evaluation.area_estimator)
        for i, area in enumerate(areas.T):
            deviations = np.ascontiguousarray(values[..., i])
            yield RunAreas(area.reshape(n_models, -1), deviations, sample, runs)
