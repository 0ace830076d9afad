"""Which classifier to deploy when the class prior is uncertain.

From held-out scores (model, fold, y_true, y_score) to the area under precision-recall at any prior (AUPREC),
its mean over the priors of a deployment (IAUPREC), the analyses of variance of Landgrebe et al. (2006) with
post-hoc tests, a ranking, and a report.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skewanova._checks import InputError, InputTypeError, SkewanovaWarning
from skewanova._class_prior import correct_class_prior
from skewanova._estimators import ESTIMATORS
from skewanova.auprec import auprec, auprec_score, iauprec, iauprec_score, precision_recall_curve
from skewanova.priors import (
    BetaPrior,
    DeploymentPrior,
    DiscretePrior,
    UniformPrior,
    UniformSkew,
    prior_from_skew,
    skew_from_prior,
)
from skewanova.roc import RocCurve, auc, convex_hull, roc_curve

if TYPE_CHECKING:
    from skewanova._anova_result import AnovaResult
    from skewanova._assumptions import assumption_checks
    from skewanova._choices import decision_choices
    from skewanova._comparison_result import Comparison
    from skewanova._crossings import crossings
    from skewanova._curve_plots import plot_precision_recall, plot_roc, plot_skew, plot_surface
    from skewanova._dataset_tables import read_datasets
    from skewanova._datasets_comparison import DatasetsComparison, compare_datasets
    from skewanova._design import Resampling, find_resampling
    from skewanova._differences import difference_curves, differing_priors
    from skewanova._display import AUPRECDisplay
    from skewanova._distributed import measure_group
    from skewanova._interval_table import interval_table
    from skewanova._joint_bands import auprec_bands
    from skewanova._leaders import leaders
    from skewanova._mixed import mixed_model_anova
    from skewanova._omnibus import (
        corrected_anova,
        friedman_anova,
        hotelling_anova,
        repeated_measures_anova,
        resampling_anova,
    )
    from skewanova._omnibus_result import OmnibusResult
    from skewanova._pairwise import bayesian_comparisons, pairwise_comparisons
    from skewanova._prior_plots import plot_interaction, plot_regret
    from skewanova._prior_summaries import auprec_intervals, regret_by_prior
    from skewanova._rank_comparison import RankComparison, rank_comparison
    from skewanova._residual_plots import plot_residuals
    from skewanova._residual_quantiles import residual_quantiles
    from skewanova._score_table import ScoreTable
    from skewanova._split_plot import sphericity, split_plot_anova
    from skewanova._streamed_scores import StreamedScores
    from skewanova._support import support_by_prior
    from skewanova._test_plots import plot_critical_difference, plot_p_values
    from skewanova._true_curves import sample_scores, true_auc, true_auprec, true_iauprec, true_roc
    from skewanova.anova import residual_checks, three_way_anova, two_way_anova
    from skewanova.binormal import BinormalFit, fit_binormal
    from skewanova.comparison import compare
    from skewanova.crossval import (
        auprec_scorer,
        iauprec_scorer,
        scores_from_cv_results,
        scores_from_estimators,
    )
    from skewanova.datasets import load_satellite_scores
    from skewanova.decision import decision_table, lead_regions, rank_models
    from skewanova.evaluation import (
        Evaluation,
        auprec_by_prior,
        evaluate,
        operating_points,
        precision_recall_points,
        roc_points,
        surface_points,
    )
    from skewanova.influence import (
        AuprecCovariance,
        OneSetComparison,
        auprec_covariance,
        auprec_influence,
        auprec_variance,
        compare_on_one_set,
    )
    from skewanova.intervals import Interval, confidence_interval
    from skewanova.operating import operating_table
    from skewanova.planning import ComparisonPlan, plan_comparison
    from skewanova.plots import (
        plot_auprec,
        plot_difference_curves,
        plot_differences,
        plot_iauprec,
        plot_regions,
    )
    from skewanova.posthoc import PosthocResult, compact_letters, tukey_by_prior, tukey_hsd
    from skewanova.scores import read_scores, scores_from_wide, stream_scores

__version__ = "0.1.0"

#: Names whose modules load frames, models or plots: loaded when first used, so that importing stays light.
_LAZY = {
    "AUPRECDisplay": "_display",
    "AnovaResult": "_anova_result",
    "AuprecCovariance": "influence",
    "BinormalFit": "binormal",
    "Comparison": "_comparison_result",
    "ComparisonPlan": "planning",
    "DatasetsComparison": "_datasets_comparison",
    "Evaluation": "evaluation",
    "Interval": "intervals",
    "OmnibusResult": "_omnibus_result",
    "OneSetComparison": "influence",
    "PosthocResult": "posthoc",
    "RankComparison": "_rank_comparison",
    "Resampling": "_design",
    "ScoreTable": "_score_table",
    "StreamedScores": "_streamed_scores",
    "assumption_checks": "_assumptions",
    "auprec_bands": "_joint_bands",
    "auprec_by_prior": "evaluation",
    "auprec_covariance": "influence",
    "auprec_influence": "influence",
    "auprec_intervals": "_prior_summaries",
    "auprec_scorer": "crossval",
    "auprec_variance": "influence",
    "bayesian_comparisons": "_pairwise",
    "compact_letters": "posthoc",
    "compare": "comparison",
    "compare_datasets": "_datasets_comparison",
    "compare_on_one_set": "influence",
    "confidence_interval": "intervals",
    "corrected_anova": "_omnibus",
    "crossings": "_crossings",
    "decision_choices": "_choices",
    "decision_table": "decision",
    "difference_curves": "_differences",
    "differing_priors": "_differences",
    "evaluate": "evaluation",
    "find_resampling": "_design",
    "fit_binormal": "binormal",
    "friedman_anova": "_omnibus",
    "hotelling_anova": "_omnibus",
    "iauprec_scorer": "crossval",
    "interval_table": "_interval_table",
    "lead_regions": "decision",
    "leaders": "_leaders",
    "load_satellite_scores": "datasets",
    "measure_group": "_distributed",
    "mixed_model_anova": "_mixed",
    "operating_points": "evaluation",
    "operating_table": "operating",
    "pairwise_comparisons": "_pairwise",
    "plan_comparison": "planning",
    "plot_auprec": "plots",
    "plot_critical_difference": "_test_plots",
    "plot_difference_curves": "plots",
    "plot_differences": "plots",
    "plot_iauprec": "plots",
    "plot_interaction": "_prior_plots",
    "plot_p_values": "_test_plots",
    "plot_precision_recall": "_curve_plots",
    "plot_regions": "plots",
    "plot_regret": "_prior_plots",
    "plot_residuals": "_residual_plots",
    "plot_roc": "_curve_plots",
    "plot_skew": "_curve_plots",
    "plot_surface": "_curve_plots",
    "precision_recall_points": "evaluation",
    "rank_comparison": "_rank_comparison",
    "rank_models": "decision",
    "read_datasets": "_dataset_tables",
    "read_scores": "scores",
    "regret_by_prior": "_prior_summaries",
    "repeated_measures_anova": "_omnibus",
    "resampling_anova": "_omnibus",
    "residual_checks": "anova",
    "residual_quantiles": "_residual_quantiles",
    "roc_points": "evaluation",
    "sample_scores": "_true_curves",
    "scores_from_cv_results": "crossval",
    "scores_from_estimators": "crossval",
    "scores_from_wide": "scores",
    "sphericity": "_split_plot",
    "split_plot_anova": "_split_plot",
    "stream_scores": "scores",
    "support_by_prior": "_support",
    "surface_points": "evaluation",
    "three_way_anova": "anova",
    "true_auc": "_true_curves",
    "true_auprec": "_true_curves",
    "true_iauprec": "_true_curves",
    "true_roc": "_true_curves",
    "tukey_by_prior": "posthoc",
    "tukey_hsd": "posthoc",
    "two_way_anova": "anova",
}

__all__ = [
    "AUPRECDisplay",
    "AnovaResult",
    "AuprecCovariance",
    "BetaPrior",
    "BinormalFit",
    "Comparison",
    "ComparisonPlan",
    "DatasetsComparison",
    "DeploymentPrior",
    "DiscretePrior",
    "ESTIMATORS",
    "Evaluation",
    "InputError",
    "InputTypeError",
    "Interval",
    "OmnibusResult",
    "OneSetComparison",
    "PosthocResult",
    "RankComparison",
    "Resampling",
    "RocCurve",
    "ScoreTable",
    "SkewanovaWarning",
    "StreamedScores",
    "UniformPrior",
    "UniformSkew",
    "assumption_checks",
    "auc",
    "auprec",
    "auprec_bands",
    "auprec_by_prior",
    "auprec_covariance",
    "auprec_influence",
    "auprec_intervals",
    "auprec_score",
    "auprec_scorer",
    "auprec_variance",
    "bayesian_comparisons",
    "compact_letters",
    "compare",
    "compare_datasets",
    "compare_on_one_set",
    "confidence_interval",
    "convex_hull",
    "correct_class_prior",
    "corrected_anova",
    "crossings",
    "decision_choices",
    "decision_table",
    "difference_curves",
    "differing_priors",
    "evaluate",
    "find_resampling",
    "fit_binormal",
    "friedman_anova",
    "hotelling_anova",
    "iauprec",
    "iauprec_score",
    "iauprec_scorer",
    "interval_table",
    "lead_regions",
    "leaders",
    "load_satellite_scores",
    "measure_group",
    "mixed_model_anova",
    "operating_points",
    "operating_table",
    "pairwise_comparisons",
    "plan_comparison",
    "plot_auprec",
    "plot_critical_difference",
    "plot_difference_curves",
    "plot_differences",
    "plot_iauprec",
    "plot_interaction",
    "plot_p_values",
    "plot_precision_recall",
    "plot_regions",
    "plot_regret",
    "plot_residuals",
    "plot_roc",
    "plot_skew",
    "plot_surface",
    "precision_recall_curve",
    "precision_recall_points",
    "prior_from_skew",
    "rank_comparison",
    "rank_models",
    "read_datasets",
    "read_scores",
    "regret_by_prior",
    "repeated_measures_anova",
    "resampling_anova",
    "residual_checks",
    "residual_quantiles",
    "roc_curve",
    "roc_points",
    "sample_scores",
    "scores_from_cv_results",
    "scores_from_estimators",
    "scores_from_wide",
    "skew_from_prior",
    "sphericity",
    "split_plot_anova",
    "stream_scores",
    "support_by_prior",
    "surface_points",
    "three_way_anova",
    "true_auc",
    "true_auprec",
    "true_iauprec",
    "true_roc",
    "tukey_by_prior",
    "tukey_hsd",
    "two_way_anova",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'skewanova' has no attribute {name!r}")
    value = getattr(import_module(f"skewanova.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
