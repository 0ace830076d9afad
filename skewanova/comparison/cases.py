"""Run the tests of a comparison on one test set, scored once or by several runs of each model.

Tests over folds ask whether learners differ when they are trained and tested again. A single test set shows
whether the fitted models differ on further cases. Several runs, which are repeated trainings, show whether
the learners differ over further runs and cases.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from skewanova.base.checks import Floats, InputError, SkewanovaWarning, warn_each, warn_once
from skewanova.base.text import report_stage
from skewanova.comparison.analysis import Analysis, DesignAnalysis, Frames
from skewanova.inference import single_test_set
from skewanova.inference.catalogue import get_test, name_family
from skewanova.inference.effect_sizes import add_effect_sizes, add_equivalence_tests
from skewanova.inference.fold_statistics import FTest, pair_differences, pair_indices
from skewanova.inference.intervals import IntervalInputs, compute_interval
from skewanova.inference.omnibus import OmnibusResult, make_omnibus_result
from skewanova.inference.paired_test_set import RunAreas, get_test_set, iter_run_areas
from skewanova.inference.pairwise import POSTHOC_COLUMNS, adjust_family, tukey_hsd
from skewanova.inference.runs import RunsComparison, compare_runs
from skewanova.inference.single_test_set import ArcsineAreas, TestSetComparison
from skewanova.priors.evidence import Support, effective_negatives
from skewanova.priors.weightings import DeploymentPrior, PriorLike, as_deployment_prior, typical_prior
from skewanova.scores.design import logit_interval

CasesComparison = TestSetComparison | RunsComparison


#: Positives times area below which the test may be liberal (studies/records/paired.md).
MIN_POSITIVES_TIMES_AREA = 10


#: Columns that are nan if a pair is not tested.
TEST_COLUMNS = ["std_error", "df", "statistic", "p_value", "p_adjusted", "conf_low", "conf_high"]


#: Models' limits, SDs of differences in one run (or standard errors), the best model's error, and warnings.
Limits = tuple[tuple[Any, Any], Floats, float, Sequence[str]]


@dataclass(frozen=True)
class CasesAnalysis(DesignAnalysis):
    """Base class of the analyses over the cases of one test set."""

    @property
    def primary_test(self) -> str:
        """Name of the primary test: ``obuchowski_rockette`` over further runs, else ``jackknife``."""
        design = self.evaluation.design
        return "obuchowski_rockette" if design.has_runs and not design.has_fixed_models else "jackknife"

    @abstractmethod
    def measure(self, weightings: Sequence[DeploymentPrior]) -> Iterator[ArcsineAreas | RunAreas]:
        """Yield the models' areas with their jackknife values, over each deployment prior in turn."""

    def compare(self, areas: Any) -> CasesComparison:
        """Return tests and intervals of all models and pairs, by areas on the arcsine scale."""
        level, models = 1 - self.options.alpha, self.evaluation.models
        return single_test_set.compare_areas(areas, weighting="", models=models, confidence_level=level)

    @abstractmethod
    def compute_limits(self, areas: Any, result: Any) -> Limits:
        """Return models' confidence limits, differences' spreads, the best model's error, and warnings."""

    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Return the omnibus test, frames and warnings; `decisions` is the frame of `decision_table`."""
        measures = self.evaluation
        report_stage("tests of all models")
        prior, support = measures.deployment_prior, measures.support
        measured = self.measure([prior, *map(as_deployment_prior, measures.priors)])
        areas = next(measured)
        result = self.compare(areas)
        report_stage("pairs of models")
        at_priors = dict(zip(measures.priors, map(self.compare, measured), strict=True))  # keeps no areas
        pairs = self.compare_families(result, at_priors)
        (low, high), spread, best_error, notes = self.compute_limits(areas, result)
        clustered = areas.sample.clustered
        checks = check_sizes(support, prior.low, result.estimate, best_error, clustered=clustered)
        del areas  # whose jackknife values are large
        differences = self.describe_pairs(result, spread)
        frames = self.build_frames(decisions, pairs, assumptions=checks, **differences)
        frames["ranking"] = frames["ranking"].assign(conf_low=low, conf_high=high)
        if isinstance(result, RunsComparison):
            frames["components"] = result.components
        return Analysis([self.test_models(result)], frames, notes)

    def test_models(self, result: CasesComparison) -> OmnibusResult:
        """Return the primary test of all models, an F test."""
        numbers = (result.f_omnibus, result.df, result.df_omnibus, result.p_omnibus)
        return make_omnibus_result(self.primary_test, "primary", FTest(*map(np.asarray, numbers)))

    def describe_pairs(self, result: CasesComparison, spread: Floats) -> Frames:
        """Return `effects`, in SDs `spread` (n_pairs,), and, unless `rope` is None, `equivalence`."""
        options, differences = self.options, build_difference_frame(result).assign(spread=spread)
        frames = {"effects": add_effect_sizes(differences, alpha=options.alpha, control=options.control)}
        if options.rope is not None:
            frames["equivalence"] = compute_posterior(result, options.rope, options.family_options)
        return frames

    def compare_pairs(self, deployment_prior: PriorLike) -> pd.DataFrame:
        """Return `POSTHOC_COLUMNS`, a row a pair: the primary test over another deployment prior."""
        areas = next(self.measure([as_deployment_prior(deployment_prior)]))
        return self.compare_families(self.compare(areas), {})

    def compare_families(
        self, result: CasesComparison, at_priors: Mapping[float, CasesComparison]
    ) -> pd.DataFrame:
        """Return `POSTHOC_COLUMNS`, by pair over the deployment prior (primary), then at priors (secondary).

        At an unsupported prior, all statistics but the estimates are nan, and `reject` is False.
        """
        parts = [self.compare_family(result).assign(role="primary", response="iauprec", prior=np.nan)]
        for prior, at_prior in at_priors.items():
            rows = self.compare_family(at_prior).assign(role="secondary", response="auprec", prior=prior)
            if not self.evaluation.support.is_supported(prior):
                rows[TEST_COLUMNS] = np.nan
                rows["reject"] = False
            parts.append(rows)
        return pd.concat([part[list(POSTHOC_COLUMNS)] for part in parts], ignore_index=True)

    def compare_family(self, result: CasesComparison) -> pd.DataFrame:
        """Return `build_difference_frame`, test, p-values, limits, reject; raise if `pairwise` is stated."""
        settings, pairwise = self.options.family_options, self.options.pairwise
        test = name_family(self.primary_test, settings["p_adjust"], control=self.options.control is not None)
        if pairwise != "auto":
            raise InputError(
                f"`pairwise` must be 'auto' here, because this design tests pairs over cases "
                f"({get_test(test).name}) and not over folds, but got {pairwise!r}"
            )
        rows = build_difference_frame(result).assign(test=test, p_value=result.p_value)
        return adjust_family(rows, **settings)


@dataclass(frozen=True)
class TestSetAnalysis(CasesAnalysis):
    """Analysis over the cases of a single test set."""

    __test__ = False  # pytest collects classes named Test...

    def measure(self, weightings: Sequence[DeploymentPrior]) -> Iterator[ArcsineAreas]:
        """Yield the models' areas with their jackknife values, over each deployment prior in turn."""
        test_set = get_test_set(self.evaluation)
        return (test_set.measure_areas(self.evaluation, weighting) for weighting in weightings)

    def compute_limits(self, areas: ArcsineAreas, result: TestSetComparison) -> Limits:
        """Return Limits: the models', differences' standard errors, the best's error, and issued warnings."""
        measures, level = self.evaluation, 1 - self.options.alpha
        options = areas.sample, np.empty(0), measures.deployment_prior, measures.area_estimator, level
        estimate = measures.iauprec.set_index("model")["iauprec"].loc[list(measures.models)]
        spreads = zip(estimate.tolist(), *(part.tolist() for part in areas.model_errors()), strict=True)
        with warnings.catch_warnings(), warn_once():
            warnings.simplefilter("ignore", SkewanovaWarning)  # each interval has its warning as a field
            items = [compute_interval(IntervalInputs(*options, precomputed=item), "auto") for item in spreads]
        notes = warn_each(dict.fromkeys(item.warning for item in items if item.warning))
        limits = [item.conf_low for item in items], [item.conf_high for item in items]
        error = float(np.sqrt(np.diag(result.covariance))[0])
        return limits, result.std_error, error, (*single_test_set.list_sample_warnings(areas.sample), *notes)


@dataclass(frozen=True)
class RunsAnalysis(CasesAnalysis):
    """Analysis over runs and cases, with the published ANOVA over runs."""

    def measure(self, weightings: Sequence[DeploymentPrior]) -> Iterator[RunAreas]:
        """Yield all models' areas in all runs with their jackknife values, over each deployment prior."""
        return iter_run_areas(self.evaluation, weightings)

    def compare(self, areas: RunAreas) -> CasesComparison:
        """Return tests of models and pairs over runs and cases, or over cases only if runs are fixed."""
        if areas.runs == "fixed":
            return super().compare(areas.means)
        shared: dict[str, Any] = {"models": self.evaluation.models, "case_df": areas.sample.df}
        level = 1 - self.options.alpha
        return compare_runs(areas.area, areas.covariance, runs=areas.runs, confidence_level=level, **shared)

    def analyse(self, decisions: pd.DataFrame) -> Analysis:
        """Return the tests over runs and cases and the published ANOVAs, with all frames; no warnings."""
        result = super().analyse(decisions)
        tukey = tukey_hsd(self.published[0], alpha=self.options.alpha, order=self.evaluation.models)
        pairs = pd.concat([result.frames["pairs"], tukey.to_frame()], ignore_index=True)
        frames = {**result.frames, **self.describe_published(), "pairs": pairs}
        return Analysis([*result.tests, *self.published], frames)

    def compute_limits(self, areas: RunAreas, result: CasesComparison) -> Limits:
        """Return Limits of models' means in 0 to 1, SDs of differences in a run, best's error by its high."""
        alpha = self.options.alpha
        if isinstance(result, RunsComparison):
            low, high = np.maximum(result.model_low, 0.0), np.minimum(result.model_high, 1.0)
        else:
            size = self.evaluation.support.effective_size(typical_prior(self.evaluation.deployment_prior))
            std_error, df = areas.means.model_errors()
            low, high = logit_interval(result.estimate, std_error, df=df, level=1 - alpha, size=size)
        error = float(high[0] - result.estimate[0]) / float(special.ndtri(1 - alpha / 2))
        return (low, high), _compute_spread(result, areas), error, ()


def _compute_spread(result: CasesComparison, areas: RunAreas) -> Floats:
    """Return the SD (n_pairs,) of each pair's difference in one run; its standard error if runs are fixed."""
    if areas.runs == "fixed":
        return result.std_error
    variance = areas.area.var(axis=1, ddof=1)
    a, b = pair_indices(len(variance))
    paired = pair_differences(areas.area.T).var(axis=0, ddof=1)
    over_runs = variance[a] + variance[b] if areas.runs == "nested" else paired
    return np.asarray(np.sqrt(result.std_error**2 + (1 - 1 / areas.area.shape[1]) * over_runs))


def build_difference_frame(result: CasesComparison) -> pd.DataFrame:
    """Return model_a, model_b, estimate, std_error, df, statistic (t), a row a pair in ranking order."""
    pairs = pd.DataFrame({"model_a": result.model_a, "model_b": result.model_b})
    numbers = {"estimate": result.difference, "std_error": result.std_error, "df": result.df_error}
    return pairs.assign(**numbers, statistic=result.statistic)


def compute_posterior(result: CasesComparison, rope: float, settings: Mapping[str, Any]) -> pd.DataFrame:
    """Return `add_equivalence_tests` by t posteriors, nan if a standard error is 0 and its difference not."""
    spread = np.where(result.std_error == 0, np.nan, result.std_error)
    equal = (result.std_error == 0) & (result.difference == 0)
    ahead, behind = (
        np.where(equal, 0.0, special.stdtr(result.df_error, (side * result.difference - rope) / spread))
        for side in (1, -1)
    )
    return add_equivalence_tests(build_difference_frame(result), ahead, behind, rope=rope, **settings)


def check_sizes(
    support: Support, prior: float, areas: Floats, best_error: float, *, clustered: bool
) -> pd.DataFrame:
    """Return checks of a test set's size at a prior: check, statistic, p_value (nan), advice ("" if passed).

    Sizes are positives, positives times the smallest area, effective negatives, and the best's distance from
    1 in standard errors. `areas` are those of the models, the best first, and `best_error` is its error.
    """
    positives, effective = support.n_positive, float(effective_negatives(support.n_negative, prior))
    units = " (counted in clusters that hold one)" if clustered else ""
    distance = float(1 - areas[0]) / best_error if best_error > 0 else 0.0
    few = f"few positives{units}, {support.needed:g} are needed: standard errors are rough; add positives"
    small = f"negatives / skew at prior {prior:g} is small, {support.needed:g} are needed; add negatives"
    least = f"positives times the smallest area are below {MIN_POSITIVES_TIMES_AREA}"
    liberal = f"{least}: tests may reject too often; add positives"
    close = "the best model is close to the ceiling of 1, where differences shrink"
    checks = (
        ("positives", positives, support.needed, few),
        ("positives_times_area", positives * float(areas.min()), MIN_POSITIVES_TIMES_AREA, liberal),
        ("effective_negatives", effective, support.needed, small),
        ("ceiling", distance, 2.0, close),
    )
    rows = [(name, size, np.nan, advice if size < least else "") for name, size, least, advice in checks]
    return pd.DataFrame(rows, columns=["check", "statistic", "p_value", "advice"])
