"""The public names, each once."""

from .distributions import BinormalFit as BinormalFit
from .distributions import fit_binormal as fit_binormal
from .distributions import sample_scores as sample_scores
from .distributions import true_auc as true_auc
from .distributions import true_auprec as true_auprec
from .distributions import true_iauprec as true_iauprec
from .distributions import true_roc as true_roc
from .estimators import ESTIMATORS as ESTIMATORS
from .possible import AreaPair as AreaPair
from .possible import AreaRange as AreaRange
from .possible import FeasibilityReport as FeasibilityReport
from .possible import max_loss_ratio as max_loss_ratio
from .possible import check_reported_areas as check_reported_areas
from .roc import convex_hull as convex_hull
