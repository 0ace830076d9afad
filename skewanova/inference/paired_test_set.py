"""The cases of one test set with every model's scores on them, in memory or on workers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from itertools import combinations
from typing import Any

import numpy as np

from skewanova.base.checks import Floats, InputError
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.case_deviations import CaseDeviations, UnitDeviations
from skewanova.inference.intervals import IntervalInputs
from skewanova.inference.jackknife import SortedScores, measure_models
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import AreasOnArcsine, angles_of
from skewanova.priors.weightings import DeploymentPrior
from skewanova.scores.pairing import paired_cases
from skewanova.scores.table import Scores, ScoreTable

#: Home of the test sets whose cases are on workers, loaded when there is one.
DISTRIBUTED = "skewanova.distributed.paired_cases"


class PairedTestSet(ABC):
    """Models on the cases of one test set.

    Attributes
    ----------
    sample : Sample
        How the cases were drawn.
    cache : dict
        Results that are measured once, by what they depend on.
    """

    sample: Sample

    def __init__(self) -> None:
        self.cache: dict[tuple[object, ...], Any] = {}

    @abstractmethod
    def angles(self, evaluation: Evaluation, weighting: DeploymentPrior) -> tuple[AreasOnArcsine, Floats]:
        """Return the areas of the models on the angular scale, and their covariance as they are."""

    @abstractmethod
    def interval_inputs(self, evaluation: Evaluation, confidence_level: float) -> Sequence[IntervalInputs]:
        """Return what an interval of every model's IAUPREC is computed from."""

    @abstractmethod
    def pair_strata(self, evaluation: Evaluation) -> tuple[Floats, Floats, Floats]:
        """Return IAUPREC, what strata add to the variances of differences, and variances of these."""

    @abstractmethod
    def mean_auprec(self, evaluation: Evaluation, priors: Floats) -> Floats:
        """Return AUPREC of shape (n_models, n_priors)."""

    @abstractmethod
    def deviations(self, evaluation: Evaluation, priors: Floats) -> UnitDeviations:
        """Return the deviations of all units at priors."""


class InMemoryTestSet(PairedTestSet):
    """A test set in memory, sorted once."""

    def __init__(self, table: Scores) -> None:
        super().__init__()
        cases = paired_cases(table)
        self.sample = Sample(cases.positive, cases.cluster, cases.weight)
        self._models = {
            name: SortedScores(self.sample, scores)
            for name, scores in zip(table.models, cases.scores, strict=True)
        }

    def models(self, evaluation: Evaluation) -> list[SortedScores]:
        """Return the models in the order of an evaluation."""
        return [self._models[name] for name in evaluation.models]

    def angles(self, evaluation: Evaluation, weighting: DeploymentPrior) -> tuple[AreasOnArcsine, Floats]:
        """Return the areas of the models on the angular scale, and their covariance as they are."""
        return angles_of(self.sample, self.models(evaluation), weighting, evaluation.area_estimator)

    def interval_inputs(self, evaluation: Evaluation, confidence_level: float) -> Sequence[IntervalInputs]:
        """Return what an interval of every model's IAUPREC is computed from."""
        options = evaluation.deployment_prior, evaluation.area_estimator, confidence_level
        return [IntervalInputs(model, *options) for model in self.models(evaluation)]

    def pair_strata(self, evaluation: Evaluation) -> tuple[Floats, Floats, Floats]:
        """Return IAUPREC, what strata add to the variances of differences, and variances of these."""
        prior, models = evaluation.deployment_prior, self.models(evaluation)
        area, values = measure_models(self.sample, models, [prior], evaluation.area_estimator)
        return area[:, 0], *strata_of_pairs(self.sample, values[..., 0])

    def mean_auprec(self, evaluation: Evaluation, priors: Floats) -> Floats:
        """Return AUPREC of shape (n_models, n_priors)."""
        models = self.models(evaluation)
        return np.stack([model.areas(priors, evaluation.area_estimator) for model in models])

    def deviations(self, evaluation: Evaluation, priors: Floats) -> CaseDeviations:
        """Return the deviations of all units at priors."""
        return CaseDeviations.of(self.models(evaluation), priors, evaluation.area_estimator)


def paired_test_set(evaluation: Evaluation) -> PairedTestSet:
    """Return the models on the cases of a single test set, matched once for all copies of an evaluation."""
    table = evaluation.scores
    if table is None:
        raise InputError("the cases of a test set come from its scores, which this evaluation lacks")
    if table not in evaluation.cache:
        if isinstance(table, ScoreTable) or table.parts is None:
            evaluation.cache[table] = InMemoryTestSet(table)
        else:
            evaluation.cache[table] = import_module(DISTRIBUTED).DistributedTestSet(table, table.parts)
    test_set: PairedTestSet = evaluation.cache[table]
    return test_set


def variable_test_set(evaluation: Evaluation) -> PairedTestSet | None:
    """Return the single test set of an evaluation if its variance is estimable, else None.

    It is not without scores, with several folds, if the cases of the models do not match, or if all cases
    of a class are one unit.
    """
    if evaluation.scores is None or len(evaluation.folds) > 1:
        return None
    try:
        test_set = paired_test_set(evaluation)
    except InputError:
        return None
    return None if test_set.sample.alone else test_set


def strata_of_pairs(sample: Sample, values: Floats) -> tuple[Floats, Floats]:
    """Return what strata add to the variance of every difference, from values (n_units, n_models)."""
    pairs = combinations(range(values.shape[1]), 2)
    strata = [sample.spread_by_stratum(values[:, i] - values[:, j]) for i, j in pairs]
    variance, var_of_var = (np.array(part) for part in zip(*strata, strict=True))
    return variance, var_of_var
