"""The same on one test set.

The tests over folds ask whether methods differ when they are trained and tested again; these ask whether the
fitted models differ on further cases. See :mod:`skewanova.inference.jackknife` for the covariance.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from skewanova.base.checks import Floats, SkewanovaWarning, emit
from skewanova.base.progress import stage
from skewanova.comparison.folds import Analysis, Options, headline_groups, needs_no_folds, no_prior_pairs
from skewanova.decision.bands import difference_curves
from skewanova.decision.choice import ranking_of
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.anova import ANOVA_COLUMNS
from skewanova.inference.catalogue import name_family
from skewanova.inference.effect_sizes import effect_family
from skewanova.inference.families import equivalence_family, family
from skewanova.inference.intervals import Interval, compute_interval
from skewanova.inference.omnibus import OmnibusResult
from skewanova.inference.one_set import ALONE, TestSetComparison, compare_areas
from skewanova.inference.paired_test_set import PairedTestSet, paired_test_set
from skewanova.inference.pairwise import POSTHOC_COLUMNS
from skewanova.inference.sampling import Sample
from skewanova.inference.shared_cases import RunsComparison
from skewanova.priors.evidence import (
    ENOUGH_OVER_CASES,
    POSITIVES_FOR_TESTS,
    effective_negatives,
    is_sufficient,
)
from skewanova.priors.weightings import Target, as_deployment_prior

#: Positives times area below which the test may be liberal (docs/studies/paired.md).
ENOUGH_HITS = 10


class _Set(NamedTuple):
    """Models on the cases of the test set, and their measures in ranking order."""

    known: PairedTestSet
    measures: Evaluation

    @property
    def sample(self) -> Sample:
        """How the cases were drawn."""
        return self.known.sample

    def compare(self, target: Target, alpha: float) -> TestSetComparison:
        """Compare at one prior or over a deployment prior."""
        weighting = as_deployment_prior(target)
        angles, covariance = self.known.angles(self.measures, weighting)
        return compare_areas(
            angles,
            covariance,
            weighting=weighting.describe(),
            models=self.measures.models,
            confidence_level=1 - alpha,
        )


def analyse_one_set(
    measures: Evaluation, promised: pd.DataFrame, options: Options
) -> tuple[Analysis, list[str]]:
    """Compare models on the only fold."""
    stage("tests of all models")
    cases = _Set(paired_test_set(measures), measures)
    found = cases.compare(measures.deployment_prior, options.alpha)
    stage("pairs of models")
    posthoc = _posthoc(cases, found, options)
    stage("ranking, differences")
    intervals = _intervals(cases, options)
    groups = headline_groups(measures.models, posthoc, options.control)
    ranked = ranking_of(measures, promised, letters=groups, alpha=options.alpha)
    analysis = Analysis(
        tests=(omnibus_result(found, "jackknife"),),
        posthoc=posthoc,
        prior_pairs=no_prior_pairs(),
        ranking=ranked.assign(
            conf_low=[one.conf_low for one in intervals], conf_high=[one.conf_high for one in intervals]
        ),
        difference_curves=difference_curves(
            measures, alpha=options.alpha, control=options.control, rng=options.rng
        ),
        effects=effects_over_cases(found, options, found.std_error),
        equivalence=posterior_over_cases(found, options),
        assumptions=set_checks(
            cases.sample,
            measures.deployment_prior.low,
            found.estimate,
            float(np.sqrt(np.diag(found.covariance))[0]),
        ),
        residuals=pd.DataFrame(columns=["model", "fold", "fitted", "residual"]),
    )
    alone = [ALONE.format(unit) for unit in cases.sample.alone]
    rough = dict.fromkeys(one.warning for one in intervals if one.warning)
    return analysis, [*alone, *emit(rough)]


def omnibus_result(found: TestSetComparison | RunsComparison, test: str) -> OmnibusResult:
    """F test that all models are equal, as a row of the ANOVA frame."""
    row = dict.fromkeys(ANOVA_COLUMNS, np.nan) | {
        "test": test,
        "role": "headline",
        "response": "iauprec",
        "term": "model",
        "df": float(found.df),
        "df_error": found.df_omnibus,
        "statistic": found.f_omnibus,
        "p_value": found.p_omnibus,
    }
    frame = pd.DataFrame([row])[list(ANOVA_COLUMNS)]
    return OmnibusResult(test, "headline", "iauprec", (), frame)


def _posthoc(cases: _Set, found: TestSetComparison, options: Options) -> pd.DataFrame:
    """The pairs over the deployment prior and, as a check, at each prior: one family each."""
    at_priors = {prior: cases.compare(prior, options.alpha) for prior in cases.measures.priors}
    known = [prior for prior in at_priors if supported(cases.sample, prior)]
    return pair_families(found, at_priors, "jackknife", options=options, known=known)


def pairs_over(measures: Evaluation, target: Target, options: Options) -> pd.DataFrame:
    """The pairs over another deployment prior."""
    found = _Set(paired_test_set(measures), measures).compare(target, options.alpha)
    return pair_families(found, {}, "jackknife", options=options, known=())


def supported(sample: Sample, prior: float) -> bool:
    """Whether the effective negatives are enough."""
    negatives = effective_negatives(sample.effective_size(positive=False), prior)
    return bool(is_sufficient(negatives, ENOUGH_OVER_CASES))


def pair_families(
    found: TestSetComparison | RunsComparison,
    at_priors: Mapping[float, TestSetComparison | RunsComparison],
    method: str,
    *,
    options: Options,
    known: Collection[float],
) -> pd.DataFrame:
    """The pairs over the deployment prior and, as a check, at each prior, untested where little is known."""
    parts = [_pairs(found, method, options).assign(role="headline", response="iauprec", prior=np.nan)]
    for prior, result in at_priors.items():
        at = _pairs(result, method, options).assign(role="check", response="auprec", prior=prior)
        if prior not in known:  # the formula would promise too much
            at[list(POSTHOC_COLUMNS[7:14])] = np.nan
            at["reject"] = False
        parts.append(at)
    return pd.concat([part[list(POSTHOC_COLUMNS)] for part in parts], ignore_index=True)


def _pairs(found: TestSetComparison | RunsComparison, method: str, options: Options) -> pd.DataFrame:
    """One family: all pairs, or those with the control."""
    how = options.family
    test = name_family(method, how["adjust"], control=options.control is not None)
    needs_no_folds(options, test)
    return family(_pair_frame(found).assign(test=test, p_value=found.p_value), **how)


def _pair_frame(found: TestSetComparison | RunsComparison) -> pd.DataFrame:
    """Difference of every pair with its t."""
    return pd.DataFrame(
        {
            "model_a": found.model_a,
            "model_b": found.model_b,
            "estimate": found.difference,
            "std_error": found.std_error,
            "df": found.df_error,
            "statistic": found.statistic,
        }
    )


def _intervals(cases: _Set, options: Options) -> list[Interval]:
    """Interval of every model's IAUPREC, in the order of the measures."""
    level = 1 - options.alpha
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)  # each keeps its own
        return [
            compute_interval(question, "auto")
            for question in cases.known.interval_inputs(cases.measures, level)
        ]


def posterior_over_cases(found: TestSetComparison | RunsComparison, options: Options) -> pd.DataFrame:
    """Posterior of each difference under a flat prior, t about the estimate, and the two one-sided tests.

    Without spread, models that are the same are equal; of others nothing is known.
    """
    rope = options.rope
    spread = np.where(found.std_error == 0, np.nan, found.std_error)
    alike = (found.std_error == 0) & (found.difference == 0)
    ahead, behind = (
        np.where(alike, 0.0, special.stdtr(found.df_error, (side * found.difference - rope) / spread))
        for side in (1, -1)
    )
    return equivalence_family((found.model_a, found.model_b), ahead, behind, rope=rope, **options.family)


def effects_over_cases(
    found: TestSetComparison | RunsComparison, options: Options, spread: Floats
) -> pd.DataFrame:
    """Effect sizes; `spread` is the standard deviation of each difference on one test set, or in one run."""
    pairs = _pair_frame(found).assign(spread=spread)
    return effect_family(pairs, alpha=options.alpha, control=options.control)


def set_checks(sample: Sample, low: float, estimate: Floats, error: float) -> pd.DataFrame:
    """Return whether the set is large enough for a formula that holds in large samples.

    `low` is the rarest prior, `error` the standard error of the first estimate, which is the best.
    """
    negatives, positives = (sample.effective_size(positive=side) for side in (False, True))
    units = " (counted in clusters that hold one)" if sample.clustered else ""
    support = float(effective_negatives(negatives, low))
    distance = float(1 - estimate[0]) / error if error > 0 else 0.0
    rows = [
        ("positives", positives, POSITIVES_FOR_TESTS, f"few positives{units}: standard errors are rough"),
        (
            "positives_times_area",
            positives * float(estimate.min()),
            ENOUGH_HITS,
            "positives times the smallest area are few: tests may reject too often",
        ),
        (
            "effective_negatives",
            support,
            ENOUGH_OVER_CASES,
            f"negatives / skew at prior {low:g} is small: standard errors are too small there",
        ),
        ("ceiling", distance, 2.0, "the best model is close to the ceiling of 1, where differences shrink"),
    ]
    return pd.DataFrame(
        [(name, value, np.nan, advice if value < enough else "") for name, value, enough, advice in rows],
        columns=["check", "statistic", "p_value", "advice"],
    )
