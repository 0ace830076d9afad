"""The public names, each once."""

from .weightings import ContinuousPrior as ContinuousPrior
from .estimation import LabelShift as LabelShift
from .weightings import DeploymentPrior as DeploymentPrior
