"""The public names, each once."""

from .curve_frames import auprec_by_prior as auprec_by_prior
from .curve_frames import auprec_intervals as auprec_intervals
from .curve_frames import regret as regret
from .curve_frames import support as support
from .measures import measure_group as measure_group
from .curve_frames import skew as skew
from .curve_frames import precision_recall as precision_recall
from .curve_frames import roc as roc
from .curve_frames import surface as surface
