"""The public names, each once."""

from .along_prior import auprec_by_prior as auprec_by_prior
from .along_prior import auprec_intervals as auprec_intervals
from .along_prior import regret as regret
from .along_prior import support as support
from .measures import measure_group as measure_group
from .points import skew as skew
from .points import precision_recall as precision_recall
from .points import roc as roc
from .points import surface as surface
