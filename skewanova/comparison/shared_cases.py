"""The same of several runs of every model on one test set.

Runs (trainings anew, such as seeds) and cases both vary: these tests ask whether the learners differ over
further runs and further cases. See :mod:`skewanova.inference.shared_cases` for the formulas.
"""

from __future__ import annotations

import pandas as pd
from scipy import special

from skewanova.base.progress import stage
from skewanova.comparison.folds import Analysis, Options, headline_groups, prior_pairs_of, published_tests
from skewanova.comparison.one_set import (
    omnibus_result,
    pair_families,
    posterior_over_cases,
    set_checks,
    supported,
)
from skewanova.decision.bands import difference_curves
from skewanova.decision.choice import ranking_of
from skewanova.decision.joint_curves import matched_runs, run_areas
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.pairwise import tukey_hsd
from skewanova.inference.shared_cases import SharedCasesComparison, compare_runs
from skewanova.priors.weightings import Target, as_deployment_prior


def analyse_runs(measures: Evaluation, promised: pd.DataFrame, options: Options) -> Analysis:
    """Compare models whose folds are runs on the same cases; the paper's tests stand beside as published."""
    alpha = options.alpha
    stage("tests of all models")
    found = _compared(measures, measures.deployment_prior, alpha)
    published = published_tests(measures, options)
    stage("pairs of models")
    posthoc = _posthoc(measures, found, options)
    stage("ranking, differences")
    groups = headline_groups(measures.models, posthoc, options.control)
    ranked = ranking_of(measures, promised, letters=groups, alpha=alpha)
    sample, _ = matched_runs(measures)
    error = float(found.model_high[0] - found.estimate[0]) / float(special.ndtri(1 - alpha / 2))
    return Analysis(
        tests=(omnibus_result(found, "obuchowski_rockette"), *published),
        posthoc=pd.concat(
            [posthoc, tukey_hsd(published[0], alpha=alpha, order=measures.models).to_frame()],
            ignore_index=True,
        ),
        prior_pairs=prior_pairs_of(published[1], alpha),
        ranking=ranked.assign(conf_low=found.model_low, conf_high=found.model_high),
        difference_curves=difference_curves(measures, alpha=alpha, rng=options.rng),
        equivalence=posterior_over_cases(found, options),
        assumptions=set_checks(sample, measures.deployment_prior.low, found.estimate, error),
        residuals=published[0].residuals(),
    )


def _compared(measures: Evaluation, target: Target, alpha: float) -> SharedCasesComparison:
    """Compare at one prior or over a deployment prior."""
    sample, runs = matched_runs(measures)
    areas, units = run_areas(sample, runs, as_deployment_prior(target), measures.area_estimator)
    return compare_runs(areas, units.T @ units, models=measures.models, confidence_level=1 - alpha)


def _posthoc(measures: Evaluation, found: SharedCasesComparison, options: Options) -> pd.DataFrame:
    """The pairs over the deployment prior and, as a check, at each prior: one family each."""
    at_priors = {prior: _compared(measures, prior, options.alpha) for prior in measures.priors}
    sample, _ = matched_runs(measures)
    known = [prior for prior in at_priors if supported(sample, prior)]
    return pair_families(found, at_priors, "obuchowski_rockette", options=options, known=known)
