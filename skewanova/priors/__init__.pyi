"""The public names, each once."""

from .weightings import BetaPrior as BetaPrior
from .weightings import ContinuousPrior as ContinuousPrior
from .estimation import LabelShift as LabelShift
from .estimation import PriorEstimate as PriorEstimate
from .weightings import DeploymentPrior as DeploymentPrior
from .weightings import DiscretePrior as DiscretePrior
from .weightings import UniformPrior as UniformPrior
from .weightings import UniformSkew as UniformSkew
from .correction import correct_class_prior as correct_class_prior
from .estimation import estimate_prior as estimate_prior
from .weightings import prior_from_skew as prior_from_skew
from .weightings import skew_from_prior as skew_from_prior
