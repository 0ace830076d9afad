"""The public names, each once, in the order of the packages."""

# base
from .base.checks import InputError as InputError
from .base.checks import InputTypeError as InputTypeError
from .base.checks import SkewanovaWarning as SkewanovaWarning

# priors
from .priors.weightings import BetaPrior as BetaPrior
from .priors.weightings import DeploymentPrior as DeploymentPrior
from .priors.weightings import DiscretePrior as DiscretePrior
from .priors.weightings import UniformPrior as UniformPrior
from .priors.weightings import UniformSkew as UniformSkew
from .priors.weightings import correct_class_prior as correct_class_prior
from .priors.weightings import prior_from_skew as prior_from_skew
from .priors.weightings import skew_from_prior as skew_from_prior

# curves
from .curves.areas import auprec as auprec
from .curves.areas import auprec_score as auprec_score
from .curves.areas import iauprec as iauprec
from .curves.areas import iauprec_score as iauprec_score
from .curves.areas import precision_recall_curve as precision_recall_curve
from .curves.binormal import BinormalFit as BinormalFit
from .curves.binormal import fit_binormal as fit_binormal
from .curves.distributions import sample_scores as sample_scores
from .curves.distributions import true_auc as true_auc
from .curves.distributions import true_auprec as true_auprec
from .curves.distributions import true_iauprec as true_iauprec
from .curves.distributions import true_roc as true_roc
from .curves.estimators import ESTIMATORS as ESTIMATORS
from .curves.roc import RocCurve as RocCurve
from .curves.roc import auc as auc
from .curves.roc import convex_hull as convex_hull
from .curves.roc import roc_curve as roc_curve

# scores
from .scores.design import Resampling as Resampling
from .scores.design import find_resampling as find_resampling
from .scores.reading import load_satellite_scores as load_satellite_scores
from .scores.reading import read_datasets as read_datasets
from .scores.reading import read_scores as read_scores
from .scores.reading import scores_from_wide as scores_from_wide
from .scores.reading import stream_scores as stream_scores
from .scores.scikit_learn import auprec_scorer as auprec_scorer
from .scores.scikit_learn import iauprec_scorer as iauprec_scorer
from .scores.scikit_learn import scores_from_cv_results as scores_from_cv_results
from .scores.scikit_learn import scores_from_estimators as scores_from_estimators
from .scores.table import ScoreTable as ScoreTable
from .scores.table import StreamedScores as StreamedScores

# evaluation
from .evaluation.along_prior import auprec_by_prior as auprec_by_prior
from .evaluation.along_prior import auprec_intervals as auprec_intervals
from .evaluation.along_prior import regret as regret
from .evaluation.along_prior import support as support
from .evaluation.distributed import measure_group as measure_group
from .evaluation.measures import Evaluation as Evaluation
from .evaluation.measures import evaluate as evaluate
from .evaluation.points import skew as skew
from .evaluation.points import precision_recall as precision_recall
from .evaluation.points import roc as roc
from .evaluation.points import surface as surface

# inference
from .inference.anova import AnovaResult as AnovaResult
from .inference.anova import three_way_anova as three_way_anova
from .inference.anova import two_way_anova as two_way_anova
from .inference.diagnostics import assumptions as assumptions
from .inference.diagnostics import residuals as residuals
from .inference.diagnostics import residual_quantiles as residual_quantiles
from .inference.influence import AuprecCovariance as AuprecCovariance
from .inference.influence import auprec_covariance as auprec_covariance
from .inference.influence import auprec_influence as auprec_influence
from .inference.influence import auprec_variance as auprec_variance
from .inference.intervals import Interval as Interval
from .inference.intervals import confidence_interval as confidence_interval
from .inference.intervals import interval_table as interval_table
from .inference.omnibus import OmnibusResult as OmnibusResult
from .inference.omnibus import omnibus_test as omnibus_test
from .inference.one_set import OneSetComparison as OneSetComparison
from .inference.one_set import compare_on_one_set as compare_on_one_set
from .inference.pairwise import PosthocResult as PosthocResult
from .inference.pairwise import equivalence as equivalence
from .inference.pairwise import posthoc as posthoc
from .inference.pairwise import tukey_by_prior as tukey_by_prior
from .inference.pairwise import tukey_hsd as tukey_hsd
from .inference.random_effects import mixed_model_anova as mixed_model_anova
from .inference.random_effects import sphericity as sphericity
from .inference.random_effects import split_plot_anova as split_plot_anova
from .inference.ranks import RankComparison as RankComparison
from .inference.ranks import compact_letters as compact_letters
from .inference.ranks import rank_comparison as rank_comparison

# decision
from .decision.bands import auprec_bands as auprec_bands
from .decision.bands import difference_curves as difference_curves
from .decision.bands import differing_priors as differing_priors
from .decision.choice import choices as choices
from .decision.choice import decisions as decisions
from .decision.choice import ranking as ranking
from .decision.leads import crossings as crossings
from .decision.leads import regions as regions
from .decision.leads import leaders as leaders
from .decision.operating import threshold_table as threshold_table
from .decision.planning import ComparisonPlan as ComparisonPlan
from .decision.planning import plan_comparison as plan_comparison

# plotting
from .plotting.comparisons import plot_critical_difference as plot_critical_difference
from .plotting.comparisons import plot_difference_curves as plot_difference_curves
from .plotting.comparisons import plot_posthoc as plot_posthoc
from .plotting.comparisons import plot_p_values as plot_p_values
from .plotting.curves import plot_precision_recall as plot_precision_recall
from .plotting.curves import plot_roc as plot_roc
from .plotting.curves import plot_skew as plot_skew
from .plotting.curves import plot_surface as plot_surface
from .plotting.display import AUPRECDisplay as AUPRECDisplay
from .plotting.performance import plot_auprec as plot_auprec
from .plotting.performance import plot_iauprec as plot_iauprec
from .plotting.performance import plot_interaction as plot_interaction
from .plotting.performance import plot_regions as plot_regions
from .plotting.performance import plot_regret as plot_regret
from .plotting.residuals import plot_residuals as plot_residuals

# comparison
from .comparison.datasets import DatasetsComparison as DatasetsComparison
from .comparison.datasets import compare_datasets as compare_datasets
from .comparison.pipeline import compare as compare
from .comparison.result import Comparison as Comparison

__version__: str
