"""Areas of several runs of every model on one test set, and their covariance over cases and over runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import NamedTuple

import numpy as np

from skewanova.base.checks import Floats, InputError
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.jackknife import measure_models
from skewanova.inference.paired_test_set import DISTRIBUTED
from skewanova.inference.runs import Degrees, run_means, run_pairs
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import ArcsineAreas
from skewanova.priors.weightings import DeploymentPrior
from skewanova.scores.pairing import paired_runs
from skewanova.scores.table import ScoreTable, StreamedScores

#: Values of units held at once while runs are measured at many priors: 32 MB.
MAX_VALUES = 1 << 22


class RunAreas(NamedTuple):
    """Areas of every model in every run of one test set, with the jackknife values of all units.

    Attributes
    ----------
    area : ndarray of shape (n_models, n_runs)
        Areas.
    values : ndarray of shape (n_units, n_models * n_runs)
        Jackknife values, the runs of the first model first.
    sample : Sample
        The cases.
    runs : str
        What the runs have in common, as of :class:`~skewanova.scores.design.FoldDesign`.
    """

    area: Floats
    values: Floats
    sample: Sample
    runs: str

    @property
    def means(self) -> ArcsineAreas:
        """Means over runs, as areas that vary with the cases alone."""
        values = self.values.reshape(len(self.values), *self.area.shape).mean(axis=2)
        return ArcsineAreas.of(self.area.mean(axis=1), values, self.sample)

    @property
    def covariance(self) -> Floats:
        """Covariance of all areas over cases."""
        return self.sample.covariance(self.values)

    @property
    def run_deviations(self) -> Floats:
        """Deviations (n_units, n_models) of the means whose products sum to their covariance over runs."""
        n_models, n_runs = self.area.shape
        if self.runs == "fixed":
            return np.empty((0, n_models))
        centered = (self.area - self.area.mean(axis=1, keepdims=True)) / np.sqrt(n_runs * (n_runs - 1))
        if self.runs == "crossed":
            return np.asarray(centered.T)
        nested = np.zeros((n_models, n_runs, n_models))  # a run of one model is none of another
        nested[np.arange(n_models), :, np.arange(n_models)] = centered
        return nested.reshape(-1, n_models)

    @property
    def covariance_of_means(self) -> Floats:
        """Covariance of the models' means: over cases and, unless the runs are fixed, over runs too."""
        over_runs = self.run_deviations
        return np.asarray(self.means.area_covariance + over_runs.T @ over_runs)

    def pair_errors(self) -> tuple[Floats, Floats]:
        """Return the standard error and the degrees of freedom of every difference of two means."""
        if self.runs == "fixed":
            return self.means.pairs()
        degrees, nested = Degrees(of_cases=self.sample.df), self.runs == "nested"
        return run_pairs(self.area, self.covariance, degrees, nested=nested)[1:]

    def means_df(self) -> Floats:
        """Return the degrees of freedom of every mean, as its interval has them."""
        if self.runs == "fixed":
            return self.means.singles()[1]
        return run_means(self.area, self.covariance, Degrees(of_cases=self.sample.df))[1]


def measure_runs(evaluation: Evaluation, weighting: DeploymentPrior) -> RunAreas:
    """Measure every model in every run over one deployment prior."""
    return next(iter_run_areas(evaluation, [weighting]))


def iter_run_areas(evaluation: Evaluation, weightings: Sequence[DeploymentPrior]) -> Iterator[RunAreas]:
    """Yield the areas over each deployment prior; few are measured at once, as all would not fit."""
    runs, n_models = evaluation.design.runs, len(evaluation.models)
    if isinstance(evaluation.scores, StreamedScores) and evaluation.scores.parts is not None:
        yield from import_module(DISTRIBUTED).iter_run_areas(evaluation, weightings)
        return
    sample, columns = match_runs(evaluation)
    step = max(1, MAX_VALUES // (sample.n_units * len(columns)))
    for start in range(0, len(weightings), step):
        part = weightings[start : start + step]
        areas, values = measure_models(sample, columns, part, evaluation.area_estimator)
        for i in range(len(part)):
            area = areas[:, i].reshape(n_models, -1)
            yield RunAreas(area, np.ascontiguousarray(values[..., i]), sample, runs)


def match_runs(evaluation: Evaluation) -> tuple[Sample, list[Floats]]:
    """Return the cases that all runs share and their scores: model by model, and in each run by run."""
    table = evaluation.scores
    if not isinstance(table, ScoreTable):
        raise InputError("several runs on one test set are compared with the scores in memory only")
    runs = paired_runs(table)
    sample = Sample(runs[0].positive, runs[0].cluster, runs[0].weight)
    return sample, [run.scores[table.models.index(model)] for model in evaluation.models for run in runs]


def run_sample(evaluation: Evaluation) -> Sample:
    """Return the cases of the test set that all runs share, or their numbers."""
    table = evaluation.scores
    if isinstance(table, StreamedScores) and table.parts is not None:
        sample: Sample = import_module(DISTRIBUTED).count_sample(table)
        return sample
    return match_runs(evaluation)[0]
