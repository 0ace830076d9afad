"""The public names, each once, in the order of the packages."""

# packages: the parts, for those who build on them
from . import comparison as comparison
from . import curves as curves
from . import decision as decision
from . import evaluation as evaluation
from . import inference as inference
from . import plotting as plotting
from . import priors as priors
from . import scores as scores

# base
from .base.checks import InputError as InputError
from .base.checks import InputTypeError as InputTypeError
from .base.checks import SkewanovaWarning as SkewanovaWarning

# priors
from .priors.weightings import BetaPrior as BetaPrior
from .priors.weightings import DiscretePrior as DiscretePrior
from .priors.weightings import UniformPrior as UniformPrior
from .priors.weightings import UniformSkew as UniformSkew
from .priors.weightings import correct_class_prior as correct_class_prior
from .priors.estimation import PriorEstimate as PriorEstimate
from .priors.estimation import estimate_prior as estimate_prior
from .priors.weightings import prior_from_skew as prior_from_skew
from .priors.weightings import skew_from_prior as skew_from_prior

# curves
from .curves.areas import auprec as auprec
from .curves.areas import auprec_score as auprec_score
from .curves.areas import iauprec as iauprec
from .curves.areas import iauprec_score as iauprec_score
from .curves.areas import precision_recall_curve as precision_recall_curve
from .curves.roc import RocCurve as RocCurve
from .curves.roc import auc as auc
from .curves.roc import roc_curve as roc_curve

# scores
from .scores.design import FoldDesign as FoldDesign
from .scores.reading import scores_from_multiclass as scores_from_multiclass
from .scores.reading import load_satellite_scores as load_satellite_scores
from .scores.reading import read_datasets as read_datasets
from .scores.reading import read_scores as read_scores
from .scores.reading import scores_from_wide as scores_from_wide
from .scores.scikit_learn import auprec_scorer as auprec_scorer
from .scores.scikit_learn import iauprec_scorer as iauprec_scorer
from .scores.scikit_learn import scores_from_cv_results as scores_from_cv_results
from .scores.scikit_learn import scores_from_estimators as scores_from_estimators
from .scores.table import ScoreTable as ScoreTable

# evaluation
from .evaluation.measures import Evaluation as Evaluation
from .evaluation.measures import evaluate as evaluate

# inference
from .inference.intervals import confidence_interval as confidence_interval

# decision
from .decision.operating import threshold_table as threshold_table
from .decision.planning import plan_comparison as plan_comparison

# plotting
from .plotting.display import AUPRECDisplay as AUPRECDisplay

# comparison
from .comparison.parts import ClassesComparison as ClassesComparison
from .comparison.parts import compare_classes as compare_classes
from .comparison.parts import DatasetsComparison as DatasetsComparison
from .comparison.parts import compare_datasets as compare_datasets
from .comparison.pipeline import compare_estimators as compare_estimators
from .comparison.estimated_prior import PriorEstimates as PriorEstimates
from .comparison.estimated_prior import estimate_prior_from_tables as estimate_prior_from_tables
from .comparison.pipeline import compare as compare
from .comparison.result import Comparison as Comparison
from .comparison.values import compare_values as compare_values

__version__: str
