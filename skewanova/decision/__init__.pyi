"""The public names, each once."""

from .bands import auprec_bands as auprec_bands
from .bands import difference_curves as difference_curves
from .choice import choices as choices
from .choice import decisions as decisions
from .choice import ranking as ranking
from .leads import by_prior as by_prior
from .leads import crossings as crossings
from .leads import differing_priors as differing_priors
from .leads import regions as regions
from .leads import leaders as leaders
from .planning import ComparisonPlan as ComparisonPlan
from .planning import plans as plans
from .verdict import Verdict as Verdict
