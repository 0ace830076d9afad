"""The same of several runs of every model on one test set.

Runs (trainings anew, such as seeds) and cases both vary: these tests ask whether the learners differ over
further runs and further cases or, of fixed runs, whether these fitted models do over further cases. See
:mod:`skewanova.inference.shared_cases` for the formulas.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from skewanova.base.checks import Floats
from skewanova.base.progress import stage
from skewanova.comparison.folds import Analysis, Options, headline_groups, prior_pairs_of, published_tests
from skewanova.comparison.one_set import (
    effects_over_cases,
    omnibus_result,
    pair_families,
    posterior_over_cases,
    set_checks,
    supported,
)
from skewanova.decision.bands import difference_curves
from skewanova.decision.choice import ranking_of
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.fold_statistics import pair_differences, pair_indices
from skewanova.inference.intervals import delta_logit_limits
from skewanova.inference.one_set import ArcsineAreas, TestSetComparison, compare_areas
from skewanova.inference.pairwise import tukey_hsd
from skewanova.inference.run_areas import RunAreas, iter_run_areas, measure_runs
from skewanova.inference.shared_cases import RunsComparison, compare_runs, no_components
from skewanova.priors.weightings import Target, as_deployment_prior


def analyse_runs(measures: Evaluation, promised: pd.DataFrame, options: Options) -> Analysis:
    """Compare models whose folds are runs on the same cases; the paper's tests stand beside as published."""
    alpha, fixed = options.alpha, measures.design.runs == "fixed"
    stage("tests of all models")
    weightings = [measures.deployment_prior, *map(as_deployment_prior, measures.priors)]
    along = iter_run_areas(measures, weightings)
    areas = next(along)
    found = _compared(areas, measures, alpha)
    published = published_tests(measures, options)
    stage("pairs of models")
    at_priors = {
        prior: _compared(one, measures, alpha) for prior, one in zip(measures.priors, along, strict=True)
    }
    known = [prior for prior in at_priors if supported(areas.sample, prior)]
    test = "jackknife" if fixed else "obuchowski_rockette"
    posthoc = pair_families(found, at_priors, test, options=options, known=known)
    stage("ranking, differences")
    groups = headline_groups(measures.models, posthoc, options.control)
    ranked = ranking_of(measures, promised, letters=groups, alpha=alpha)
    low, high = _intervals(areas, found, alpha)
    error = float(high[0] - found.estimate[0]) / float(special.ndtri(1 - alpha / 2))
    return Analysis(
        tests=(omnibus_result(found, test), *published),
        posthoc=pd.concat(
            [posthoc, tukey_hsd(published[0], alpha=alpha, order=measures.models).to_frame()],
            ignore_index=True,
        ),
        prior_pairs=prior_pairs_of(published[1], alpha),
        ranking=ranked.assign(conf_low=low, conf_high=high),
        difference_curves=difference_curves(measures, alpha=alpha, control=options.control, rng=options.rng),
        effects=effects_over_cases(found, options, _one_run(found, areas)),
        equivalence=posterior_over_cases(found, options),
        assumptions=set_checks(areas.sample, measures.deployment_prior.low, found.estimate, error),
        residuals=published[0].residuals(),
        components=found.components if isinstance(found, RunsComparison) else no_components(),
    )


def _one_run(found: RunsComparison | TestSetComparison, areas: RunAreas) -> Floats:
    """Standard deviation of each difference in one run, on cases of its own; of fixed runs, of their mean.

    What runs add to the variance of the mean over J runs is a J-th of their variance.
    """
    if areas.runs == "fixed":
        return found.std_error
    own = areas.area.var(axis=1, ddof=1)
    a, b = pair_indices(len(own))
    paired = pair_differences(areas.area.T).var(axis=0, ddof=1)
    over_runs = own[a] + own[b] if areas.runs == "nested" else paired
    return np.asarray(np.sqrt(found.std_error**2 + (1 - 1 / areas.area.shape[1]) * over_runs))


def _compared(areas: RunAreas, measures: Evaluation, alpha: float) -> RunsComparison | TestSetComparison:
    """Compare the models over runs and cases or, if the runs are fixed, their means over cases."""
    if areas.runs != "fixed":
        return compare_runs(
            areas.area,
            areas.covariance,
            models=measures.models,
            confidence_level=1 - alpha,
            runs=areas.runs,
            case_df=areas.sample.df,
        )
    return compare_areas(
        ArcsineAreas.of(areas.area.mean(axis=1), areas.mean_values, areas.sample),
        areas.covariance_of_means,
        weighting=measures.deployment_prior.describe(),
        models=measures.models,
        confidence_level=1 - alpha,
    )


def _intervals(
    areas: RunAreas, found: RunsComparison | TestSetComparison, alpha: float
) -> tuple[Floats, Floats]:
    """Interval of every model's mean over runs."""
    if isinstance(found, RunsComparison):
        return np.maximum(found.model_low, 0.0), np.minimum(found.model_high, 1.0)
    spread = zip(*areas.sample.spread(areas.mean_values), strict=True)
    limits = [
        delta_logit_limits(area, error, 1 - alpha, df=df) if 0 < area < 1 else (area, area)
        for area, (error, df) in zip(found.estimate.tolist(), spread, strict=True)
    ]
    low, high = np.transpose(limits)
    return low, high


def pairs_over_runs(measures: Evaluation, target: Target, options: Options) -> pd.DataFrame:
    """The pairs over another deployment prior."""
    found = _compared(measure_runs(measures, as_deployment_prior(target)), measures, options.alpha)
    test = "jackknife" if measures.design.runs == "fixed" else "obuchowski_rockette"
    return pair_families(found, {}, test, options=options, known=())
