"""The cases of one test set with every model's scores on them, in memory or on workers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from skewanova.base.checks import Floats, InputError
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.case_deviations import CaseDeviations, Turn
from skewanova.inference.jackknife import SortedScores
from skewanova.inference.sampling import Sample, Spreads
from skewanova.inference.single_test_set import ArcsineAreas, angles_of
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
    def angles(self, evaluation: Evaluation, weighting: DeploymentPrior) -> ArcsineAreas:
        """Return the areas of the models on the angular scale."""

    @abstractmethod
    def deviations(
        self, evaluation: Evaluation, priors: Floats, turns: Sequence[Turn]
    ) -> list[tuple[Floats, Spreads]]:
        """Return rows that represent the units, and spreads, for each turn from the priors."""


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

    def sorted_scores(self, evaluation: Evaluation) -> list[SortedScores]:
        """Return the scores of the models in the order of an evaluation."""
        return [self._models[name] for name in evaluation.models]

    def angles(self, evaluation: Evaluation, weighting: DeploymentPrior) -> ArcsineAreas:
        """Return the areas of the models on the angular scale."""
        return angles_of(self.sample, self.sorted_scores(evaluation), weighting, evaluation.area_estimator)

    def deviations(
        self, evaluation: Evaluation, priors: Floats, turns: Sequence[Turn]
    ) -> list[tuple[Floats, Spreads]]:
        """Return rows that represent the units, and spreads, for each turn from the priors."""
        return CaseDeviations.of(self.sorted_scores(evaluation), priors, evaluation.area_estimator).along(
            turns
        )


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
