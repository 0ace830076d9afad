"""The public names, each once."""

from .along_prior import auprec_by_prior as auprec_by_prior
from .along_prior import auprec_intervals as auprec_intervals
from .along_prior import regret_by_prior as regret_by_prior
from .along_prior import support_by_prior as support_by_prior
from .distributed import measure_group as measure_group
from .measures import Evaluation as Evaluation
from .measures import evaluate as evaluate
from .points import operating_points as operating_points
from .points import precision_recall_points as precision_recall_points
from .points import roc_points as roc_points
from .points import surface_points as surface_points
