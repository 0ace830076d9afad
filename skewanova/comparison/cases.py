"""Run the tests of a comparison on one test set, scored once or by several runs of each model.

Tests over folds ask whether learners differ when they are trained and tested again. A single test set shows
whether the fitted models differ on further cases. Several runs, which are repeated trainings, show whether
the learners differ over further runs and cases.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from skewanova.base.checks import Floats, SkewanovaWarning, warn_each, warn_once
from skewanova.base.text import report_stage
from skewanova.comparison.analysis import Analysis, DesignAnalysis
from skewanova.inference.catalogue import name_family
from skewanova.inference.effect_sizes import add_effect_sizes, add_equivalence_tests
from skewanova.inference.fold_statistics import FTest, pair_differences, pair_indices
from skewanova.inference.intervals import Interval, IntervalInputs, compute_interval
from skewanova.inference.omnibus import OmnibusResult, make_omnibus_result
from skewanova.inference.paired_test_set import (
    PairedTestSet,
    RunAreas,
    get_test_set,
    iter_run_areas,
    measure_runs,
)
from skewanova.inference.pairwise import POSTHOC_COLUMNS, adjust_family, tukey_hsd
from skewanova.inference.runs import RunsComparison, compare_runs
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import (
    ArcsineAreas,
    TestSetComparison,
    compare_areas,
    list_sample_warnings,
)
from skewanova.priors.evidence import Support, effective_negatives
from skewanova.priors.weightings import DeploymentPrior, PriorLike, as_deployment_prior, typical_prior
from skewanova.scores.design import logit_interval

CasesComparison = TestSetComparison | RunsComparison


#: Positives times area below which the test may be liberal (docs/studies/paired.md).
MIN_POSITIVES_TIMES_AREA = 10


#: Columns that are nan if a pair is not tested.
TEST_COLUMNS = ["std_error", "df", "statistic", "p_value", "p_adjusted", "conf_low", "conf_high"]


@dataclass(frozen=True)
class CasesAnalysis(DesignAnalysis):
    """Base class of the analyses over the cases of one test set."""

    @property
    def primary_test(self) -> str:
        """Name of the primary test."""
        return "jackknife"

    def compare_arcsine_areas(self, areas: ArcsineAreas, weighting: DeploymentPrior) -> TestSetComparison:
        """Compare the models by their areas on the arcsine scale."""
        level, models = 1 - self.options.alpha, self.evaluation.models
        return compare_areas(areas, weighting=weighting.describe(), models=models, confidence_level=level)

    def test_equality(self, result: CasesComparison) -> OmnibusResult:
        """Return the F test of equality of all models."""
        numbers = (result.f_omnibus, result.df, result.df_omnibus, result.p_omnibus)
        return make_omnibus_result(self.primary_test, "primary", FTest(*map(np.asarray, numbers)))

    def compare_families(
        self, result: CasesComparison, at_priors: Mapping[float, CasesComparison]
    ) -> pd.DataFrame:
        """Compare all pairs over the deployment prior and at each supported prior."""
        parts = [self.compare_family(result).assign(role="primary", response="iauprec", prior=np.nan)]
        for prior, at_prior in at_priors.items():
            rows = self.compare_family(at_prior).assign(role="secondary", response="auprec", prior=prior)
            if not self.evaluation.support.is_supported(prior):
                rows[TEST_COLUMNS] = np.nan
                rows["reject"] = False
            parts.append(rows)
        return pd.concat([part[list(POSTHOC_COLUMNS)] for part in parts], ignore_index=True)

    def compare_family(self, result: CasesComparison) -> pd.DataFrame:
        """Compare all pairs, or those with the control, and adjust their p-values."""
        settings = self.options.family_options
        test = name_family(self.primary_test, settings["p_adjust"], control=self.options.control is not None)
        self.options.check_pairwise_auto(test)
        return adjust_family(
            _build_difference_frame(result).assign(test=test, p_value=result.p_value), **settings
        )

    def build_case_frames(
        self, result: CasesComparison, sample: Sample, *, spread: Floats, error: float
    ) -> dict[str, pd.DataFrame]:
        """Build the frames of effect sizes, equivalence and checks.

        `spread` is the standard deviation of each difference in one run, or on one test set its standard
        error; `error` is the standard error of the best model.
        """
        options = self.options
        pairs = _build_difference_frame(result).assign(spread=spread)
        low = self.evaluation.deployment_prior.low
        return {
            "effects": add_effect_sizes(pairs, alpha=options.alpha, control=options.control),
            "equivalence": compute_posterior(result, options.rope, options.family_options),
            "assumptions": check_sizes(
                self.evaluation.support, low, result.estimate, error, is_clustered=sample.clustered
            ),
        }


@dataclass(frozen=True)
class TestSetAnalysis(CasesAnalysis):
    """Analysis over the cases of a single test set."""

    __test__ = False  # pytest collects classes named Test...

    @property
    def test_set(self) -> PairedTestSet:
        """Areas and jackknife covariance of the models on the test set."""
        return get_test_set(self.evaluation)

    def compare(self, target: PriorLike) -> TestSetComparison:
        """Compare the models at one prior or over a deployment prior."""
        weighting = as_deployment_prior(target)
        return self.compare_arcsine_areas(self.test_set.measure_areas(self.evaluation, weighting), weighting)

    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Run the jackknife tests of all models and of the pairs."""
        measures = self.evaluation
        report_stage("tests of all models")
        sample, result = self.test_set.sample, self.compare(measures.deployment_prior)
        report_stage("pairs of models")
        at_priors = {prior: self.compare(prior) for prior in measures.priors}
        pairs = self.compare_families(result, at_priors)
        intervals = self._compute_intervals()
        error = float(np.sqrt(np.diag(result.covariance))[0])
        frames = self.build_frames(
            decisions,
            pairs,
            ([item.conf_low for item in intervals], [item.conf_high for item in intervals]),
            **self.build_case_frames(result, sample, spread=result.std_error, error=error),
        )
        notes = warn_each(dict.fromkeys(item.warning for item in intervals if item.warning))
        notes = (*list_sample_warnings(sample), *notes)
        return Analysis([self.test_equality(result)], frames, notes)

    def compare_pairs(self, deployment_prior: PriorLike) -> pd.DataFrame:
        """Compare the pairs over another deployment prior."""
        return self.compare_families(self.compare(deployment_prior), {})

    def _compute_intervals(self) -> list[Interval]:
        measures, level = self.evaluation, 1 - self.options.alpha
        areas = self.test_set.measure_areas(measures, measures.deployment_prior)
        options = areas.sample, np.empty(0), measures.deployment_prior, measures.area_estimator, level
        estimate = measures.iauprec.set_index("model")["iauprec"].loc[list(measures.models)]
        spreads = zip(estimate.tolist(), *(part.tolist() for part in areas.model_errors()), strict=True)
        with warnings.catch_warnings(), warn_once():
            warnings.simplefilter("ignore", SkewanovaWarning)  # each interval has its warning as a field
            return [compute_interval(IntervalInputs(*options, precomputed=item), "auto") for item in spreads]


@dataclass(frozen=True)
class RunsAnalysis(CasesAnalysis):
    """Analysis over runs and cases, with the published ANOVA over runs."""

    @property
    def primary_test(self) -> str:
        """Name of the primary test."""
        return "jackknife" if self.evaluation.design.has_fixed_models else "obuchowski_rockette"

    def compare(self, areas: RunAreas) -> CasesComparison:
        """Compare the models over runs and cases; if the runs are fixed, compare their means over cases."""
        if areas.runs != "fixed":
            return compare_runs(
                areas.area,
                areas.covariance,
                models=self.evaluation.models,
                confidence_level=1 - self.options.alpha,
                runs=areas.runs,
                case_df=areas.sample.df,
            )
        return self.compare_arcsine_areas(areas.means, self.evaluation.deployment_prior)

    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Run the tests over runs and cases, and the published analyses."""
        measures, alpha = self.evaluation, self.options.alpha
        report_stage("tests of all models")
        priors = map(as_deployment_prior, measures.priors)
        run_areas = iter_run_areas(measures, [measures.deployment_prior, *priors])
        areas = next(run_areas)
        result = self.compare(areas)
        two_way = self.published[0]
        report_stage("pairs of models")
        at_priors = {p: self.compare(item) for p, item in zip(measures.priors, run_areas, strict=True)}
        pairs = self.compare_families(result, at_priors)
        tukey = tukey_hsd(two_way, alpha=alpha, order=measures.models).to_frame()
        low, high = self._compute_mean_intervals(areas, result)
        error = float(high[0] - result.estimate[0]) / float(special.ndtri(1 - alpha / 2))
        spread = _compute_run_sd(result, areas)
        frames = self.build_frames(
            decisions,
            pairs,
            (low, high),
            prior_pairs=self.compare_priors(),
            residuals=two_way.residuals(),
            **self.build_case_frames(result, areas.sample, spread=spread, error=error),
        )
        frames["pairs"] = pd.concat([pairs, tukey], ignore_index=True)
        if isinstance(result, RunsComparison):
            frames["components"] = result.components
        return Analysis([self.test_equality(result), *self.published], frames)

    def compare_pairs(self, deployment_prior: PriorLike) -> pd.DataFrame:
        """Compare the pairs over another deployment prior."""
        areas = measure_runs(self.evaluation, as_deployment_prior(deployment_prior))
        return self.compare_families(self.compare(areas), {})

    def _compute_mean_intervals(self, areas: RunAreas, result: CasesComparison) -> tuple[Floats, Floats]:
        """Compute the confidence limits of the mean over runs of each model."""
        if isinstance(result, RunsComparison):
            return np.maximum(result.model_low, 0.0), np.minimum(result.model_high, 1.0)
        size = self.evaluation.support.effective_size(typical_prior(self.evaluation.deployment_prior))
        std_error, df = areas.means.model_errors()
        return logit_interval(result.estimate, std_error, df=df, level=1 - self.options.alpha, size=size)


def _compute_run_sd(result: CasesComparison, areas: RunAreas) -> Floats:
    """Return, for each pair (n_pairs,), the SD of its difference in one run; of the mean over fixed runs."""
    if areas.runs == "fixed":
        return result.std_error
    variance = areas.area.var(axis=1, ddof=1)
    a, b = pair_indices(len(variance))
    paired = pair_differences(areas.area.T).var(axis=0, ddof=1)
    over_runs = variance[a] + variance[b] if areas.runs == "nested" else paired
    return np.asarray(np.sqrt(result.std_error**2 + (1 - 1 / areas.area.shape[1]) * over_runs))


def _build_difference_frame(result: CasesComparison) -> pd.DataFrame:
    """Return the difference of each pair with its standard error and t statistic."""
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


def compute_posterior(result: CasesComparison, rope: float, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return the posterior probabilities of each difference: a t distribution, from a flat prior.

    With a standard error of zero, two models with equal areas are equal; else the probabilities are nan.
    """
    spread = np.where(result.std_error == 0, np.nan, result.std_error)
    equal = (result.std_error == 0) & (result.difference == 0)
    ahead, behind = (
        np.where(equal, 0.0, special.stdtr(result.df_error, (side * result.difference - rope) / spread))
        for side in (1, -1)
    )
    return add_equivalence_tests(_build_difference_frame(result), ahead, behind, rope=rope, **settings)


def check_sizes(
    support: Support, low: float, estimate: Floats, error: float, *, is_clustered: bool
) -> pd.DataFrame:
    """Check that the test set is large enough; `error` is the standard error of the best model."""
    positives, effective = support.n_positive, float(effective_negatives(support.n_negative, low))
    units = " (counted in clusters that hold one)" if is_clustered else ""
    distance = float(1 - estimate[0]) / error if error > 0 else 0.0
    sizes = {
        "positives": (positives, support.needed),
        "positives_times_area": (positives * float(estimate.min()), MIN_POSITIVES_TIMES_AREA),
        "effective_negatives": (effective, support.needed),
        "ceiling": (distance, 2.0),
    }
    advice = {
        "positives": f"few positives{units}, {support.needed:g} are needed: standard errors are rough",
        "positives_times_area": "positives times the smallest area are few: tests may reject too often",
        "effective_negatives": f"negatives / skew at prior {low:g} is small: standard errors are too small "
        "there",
        "ceiling": "the best model is close to the ceiling of 1, where differences shrink",
    }
    rows = [
        (name, size, np.nan, advice[name] if size < least else "") for name, (size, least) in sizes.items()
    ]
    return pd.DataFrame(rows, columns=["check", "statistic", "p_value", "advice"])
