"""Analysis of several runs of every model on one test set.

Runs (trainings anew, such as seeds) and cases both vary: these tests ask whether the learners differ over
further runs and further cases or, of fixed runs, whether these fitted models do over further cases. See
:mod:`skewanova.inference.runs` for the formulas.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from skewanova.base.checks import Floats
from skewanova.base.text import stage
from skewanova.comparison.analysis import Analysis, DesignAnalysis, compare_priors, group_models
from skewanova.comparison.folds import published_tests
from skewanova.comparison.single_test_set import (
    check_sizes,
    effects_over_cases,
    equality_test,
    pair_families,
    posterior_over_cases,
)
from skewanova.decision.bands import difference_curves
from skewanova.decision.choice import ranking_of
from skewanova.inference.fold_statistics import pair_differences, pair_indices
from skewanova.inference.intervals import delta_logit_limits
from skewanova.inference.paired_test_set import RunAreas, iter_run_areas, measure_runs
from skewanova.inference.pairwise import tukey_hsd
from skewanova.inference.runs import RunsComparison, compare_runs, no_components
from skewanova.inference.single_test_set import TestSetComparison, compare_areas
from skewanova.priors.weightings import Target, as_deployment_prior


@dataclass(frozen=True)
class RunsAnalysis(DesignAnalysis):
    """Analysis over runs and cases; the published analyses of the runs stand beside it."""

    @property
    def test(self) -> str:
        """Name of the primary test."""
        return "jackknife" if self.evaluation.design.models_are_fixed else "obuchowski_rockette"

    def compare(self, areas: RunAreas) -> RunsComparison | TestSetComparison:
        """Compare the models over runs and cases or, if the runs are fixed, their means over cases."""
        models, level = self.evaluation.models, 1 - self.options.alpha
        if areas.runs != "fixed":
            return compare_runs(
                areas.area,
                areas.covariance,
                models=models,
                confidence_level=level,
                runs=areas.runs,
                case_df=areas.sample.df,
            )
        return compare_areas(
            areas.means,
            weighting=self.evaluation.deployment_prior.describe(),
            models=models,
            confidence_level=level,
        )

    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Run the tests over runs and cases, and the published analyses."""
        measures, options = self.evaluation, self.options
        alpha = options.alpha
        stage("tests of all models")
        along = iter_run_areas(
            measures, [measures.deployment_prior, *map(as_deployment_prior, measures.priors)]
        )
        areas = next(along)
        result = self.compare(areas)
        published = published_tests(measures, alpha)
        stage("pairs of models")
        at_priors = {prior: self.compare(each) for prior, each in zip(measures.priors, along, strict=True)}
        pairs = pair_families(result, at_priors, self.test, options, sample=areas.sample)
        tukey = tukey_hsd(published[0], alpha=alpha, order=measures.models).to_frame()
        stage("ranking, differences")
        groups = group_models(measures.models, pairs, options.control)
        ranked = ranking_of(measures, decisions, letters=groups, alpha=alpha)
        low, high = _intervals(areas, result, alpha)
        error = float(high[0] - result.estimate[0]) / float(special.ndtri(1 - alpha / 2))
        return Analysis(
            tests=(equality_test(result, self.test), *published),
            pairs=pd.concat([pairs, tukey], ignore_index=True),
            prior_pairs=compare_priors(published[1], alpha),
            ranking=ranked.assign(conf_low=low, conf_high=high),
            difference_curves=difference_curves(
                measures, alpha=alpha, control=options.control, rng=options.rng
            ),
            effects=effects_over_cases(result, options, _one_run(result, areas)),
            equivalence=posterior_over_cases(result, options),
            assumptions=check_sizes(areas.sample, measures.deployment_prior.low, result.estimate, error),
            residuals=published[0].residuals(),
            components=result.components if isinstance(result, RunsComparison) else no_components(),
        )

    def compare_pairs(self, deployment_prior: Target) -> pd.DataFrame:
        """Compare the pairs over another deployment prior."""
        areas = measure_runs(self.evaluation, as_deployment_prior(deployment_prior))
        return pair_families(self.compare(areas), {}, self.test, self.options)


def _one_run(result: RunsComparison | TestSetComparison, areas: RunAreas) -> Floats:
    """Standard deviation of each difference in one run, on cases of its own; of fixed runs, of their mean.

    What runs add to the variance of the mean over J runs is a J-th of their variance.
    """
    if areas.runs == "fixed":
        return result.std_error
    own = areas.area.var(axis=1, ddof=1)
    a, b = pair_indices(len(own))
    paired = pair_differences(areas.area.T).var(axis=0, ddof=1)
    over_runs = own[a] + own[b] if areas.runs == "nested" else paired
    return np.asarray(np.sqrt(result.std_error**2 + (1 - 1 / areas.area.shape[1]) * over_runs))


def _intervals(
    areas: RunAreas, result: RunsComparison | TestSetComparison, alpha: float
) -> tuple[Floats, Floats]:
    """Interval of every model's mean over runs."""
    if isinstance(result, RunsComparison):
        return np.maximum(result.model_low, 0.0), np.minimum(result.model_high, 1.0)
    spread = zip(*areas.means.singles(), strict=True)
    limits = [
        delta_logit_limits(area, error, 1 - alpha, df=df) if 0 < area < 1 else (area, area)
        for area, (error, df) in zip(result.estimate.tolist(), spread, strict=True)
    ]
    low, high = np.transpose(limits)
    return low, high
