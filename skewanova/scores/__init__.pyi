"""The public names, each once."""

from .design import infer_design as infer_design
from .table import Halvings as Halvings
from .multiclass import MulticlassScores as MulticlassScores
from .multiclass import read_multiclass as read_multiclass
from .multiclass import scores_from_multiclass as scores_from_multiclass
from .reading import load_satellite_scores as load_satellite_scores
from .reading import read_datasets as read_datasets
from .reading import read_scores as read_scores
from .unlabelled import UnlabelledScores as UnlabelledScores
from .unlabelled import read_unlabelled as read_unlabelled
from .reading import scores_from_wide as scores_from_wide
from .scikit_learn import auprec_scorer as auprec_scorer
from .scikit_learn import iauprec_scorer as iauprec_scorer
from .scikit_learn import scores_from_cv_results as scores_from_cv_results
from .scikit_learn import scores_from_estimators as scores_from_estimators
from .table import ScoreTable as ScoreTable
from .table import StreamedScores as StreamedScores
