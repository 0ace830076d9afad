"""Analysis of a single test set.

The tests over folds ask whether methods differ when they are trained and tested again; these ask whether the
fitted models differ on further cases. See :mod:`skewanova.inference.case_resampling` for the covariance.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from skewanova.base.checks import Floats, SkewanovaWarning, emit
from skewanova.base.text import stage
from skewanova.comparison.analysis import (
    Analysis,
    DesignAnalysis,
    Options,
    group_models,
    no_prior_pairs,
)
from skewanova.decision.bands import difference_curves
from skewanova.decision.choice import ranking_of
from skewanova.inference.catalogue import name_family
from skewanova.inference.effect_sizes import effect_family, equivalence_family
from skewanova.inference.fold_statistics import FTest
from skewanova.inference.intervals import Interval, IntervalInputs, compute_interval
from skewanova.inference.omnibus import OmnibusResult, omnibus_result
from skewanova.inference.paired_test_set import PairedTestSet, paired_test_set
from skewanova.inference.pairwise import POSTHOC_COLUMNS, family
from skewanova.inference.runs import RunsComparison
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import ALONE, TestSetComparison, compare_areas
from skewanova.priors.evidence import (
    ENOUGH_OVER_CASES,
    POSITIVES_FOR_TESTS,
    effective_negatives,
    is_sufficient,
)
from skewanova.priors.weightings import Target, as_deployment_prior

#: Positives times area below which the test may be liberal (docs/studies/paired.md).
ENOUGH_HITS = 10


#: Columns of a pair that is not tested.
UNTESTED = ["std_error", "df", "statistic", "p_value", "p_adjusted", "conf_low", "conf_high"]


@dataclass(frozen=True)
class TestSetAnalysis(DesignAnalysis):
    """Analysis over the cases of a single test set."""

    __test__ = False  # no test of pytest

    @property
    def test_set(self) -> PairedTestSet:
        """Models on the same cases."""
        return paired_test_set(self.evaluation)

    def compare(self, target: Target) -> TestSetComparison:
        """Compare at one prior or over a deployment prior."""
        weighting = as_deployment_prior(target)
        return compare_areas(
            self.test_set.angles(self.evaluation, weighting),
            weighting=weighting.describe(),
            models=self.evaluation.models,
            confidence_level=1 - self.options.alpha,
        )

    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Run the jackknife tests of all models and of pairs."""
        measures, options = self.evaluation, self.options
        stage("tests of all models")
        sample, result = self.test_set.sample, self.compare(measures.deployment_prior)
        stage("pairs of models")
        at_priors = {prior: self.compare(prior) for prior in measures.priors}
        pairs = pair_families(result, at_priors, "jackknife", options, sample=sample)
        stage("ranking, differences")
        intervals = self._intervals()
        groups = group_models(measures.models, pairs, options.control)
        ranked = ranking_of(measures, decisions, letters=groups, alpha=options.alpha)
        limits = {end: [getattr(each, end) for each in intervals] for end in ("conf_low", "conf_high")}
        error = float(np.sqrt(np.diag(result.covariance))[0])
        notes = [ALONE.format(unit) for unit in sample.alone]
        notes += emit(dict.fromkeys(each.warning for each in intervals if each.warning))
        return Analysis(
            tests=(equality_test(result, "jackknife"),),
            pairs=pairs,
            prior_pairs=no_prior_pairs(),
            ranking=ranked.assign(**limits),
            difference_curves=difference_curves(
                measures, alpha=options.alpha, control=options.control, rng=options.rng
            ),
            effects=effects_over_cases(result, options, result.std_error),
            equivalence=posterior_over_cases(result, options),
            assumptions=check_sizes(sample, measures.deployment_prior.low, result.estimate, error),
            residuals=pd.DataFrame(columns=["model", "fold", "fitted", "residual"]),
            warnings=tuple(notes),
        )

    def compare_pairs(self, deployment_prior: Target) -> pd.DataFrame:
        """Compare the pairs over another deployment prior."""
        return pair_families(self.compare(deployment_prior), {}, "jackknife", self.options)

    def _intervals(self) -> list[Interval]:
        """Return the interval of every model's IAUPREC, in the order of the measures."""
        measures, level = self.evaluation, 1 - self.options.alpha
        areas = self.test_set.angles(measures, measures.deployment_prior)
        options = areas.sample, np.empty(0), measures.deployment_prior, measures.area_estimator, level
        estimate = measures.iauprec.set_index("model")["iauprec"].loc[list(measures.models)]
        spreads = zip(estimate.tolist(), *(part.tolist() for part in areas.singles()), strict=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkewanovaWarning)  # each interval carries its own
            return [compute_interval(IntervalInputs(*options, measured=each), "auto") for each in spreads]


def equality_test(result: TestSetComparison | RunsComparison, test: str) -> OmnibusResult:
    """F test that all models are equal, as a row of the ANOVA frame."""
    numbers = (result.f_omnibus, result.df, result.df_omnibus, result.p_omnibus)
    return omnibus_result(test, "primary", FTest(*map(np.asarray, numbers)))


def supported(sample: Sample, prior: float) -> bool:
    """Whether the effective negatives are enough."""
    negatives = effective_negatives(sample.effective_size(positive=False), prior)
    return bool(is_sufficient(negatives, ENOUGH_OVER_CASES))


def pair_families(
    result: TestSetComparison | RunsComparison,
    at_priors: Mapping[float, TestSetComparison | RunsComparison],
    method: str,
    options: Options,
    *,
    sample: Sample | None = None,
) -> pd.DataFrame:
    """Compare pairs over the deployment prior and at each prior, untested where the sample is too small."""
    parts = [_pairs(result, method, options).assign(role="primary", response="iauprec", prior=np.nan)]
    for prior, at_prior in at_priors.items():
        rows = _pairs(at_prior, method, options).assign(role="secondary", response="auprec", prior=prior)
        if sample is not None and not supported(sample, prior):  # the formula would promise too much
            rows[UNTESTED] = np.nan
            rows["reject"] = False
        parts.append(rows)
    return pd.concat([part[list(POSTHOC_COLUMNS)] for part in parts], ignore_index=True)


def _pairs(result: TestSetComparison | RunsComparison, method: str, options: Options) -> pd.DataFrame:
    """One family: all pairs, or those with the control."""
    how = options.family
    test = name_family(method, how["p_adjust"], control=options.control is not None)
    options.check_over_cases(test)
    return family(_pair_frame(result).assign(test=test, p_value=result.p_value), **how)


def _pair_frame(result: TestSetComparison | RunsComparison) -> pd.DataFrame:
    """Difference of every pair with its t."""
    return pd.DataFrame(
        {
            "model_a": result.model_a,
            "model_b": result.model_b,
            "estimate": result.difference,
            "std_error": result.std_error,
            "df": result.df_error,
            "statistic": result.statistic,
        }
    )


def posterior_over_cases(result: TestSetComparison | RunsComparison, options: Options) -> pd.DataFrame:
    """Posterior of each difference under a flat prior, t about the estimate, and the two one-sided tests.

    Without spread, models that are the same are equal; of others nothing is known.
    """
    rope = options.rope
    spread = np.where(result.std_error == 0, np.nan, result.std_error)
    alike = (result.std_error == 0) & (result.difference == 0)
    ahead, behind = (
        np.where(alike, 0.0, special.stdtr(result.df_error, (side * result.difference - rope) / spread))
        for side in (1, -1)
    )
    return equivalence_family(_pair_frame(result), ahead, behind, rope=rope, **options.family)


def effects_over_cases(
    result: TestSetComparison | RunsComparison, options: Options, spread: Floats
) -> pd.DataFrame:
    """Effect sizes; `spread` is the standard deviation of each difference on one test set, or in one run."""
    pairs = _pair_frame(result).assign(spread=spread)
    return effect_family(pairs, alpha=options.alpha, control=options.control)


def check_sizes(sample: Sample, low: float, estimate: Floats, error: float) -> pd.DataFrame:
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
