"""The public names, each once."""

from .bands import auprec_bands as auprec_bands
from .bands import difference_curves as difference_curves
from .bands import differing_priors as differing_priors
from .choice import decision_choices as decision_choices
from .choice import decision_table as decision_table
from .choice import rank_models as rank_models
from .leads import crossings as crossings
from .leads import lead_regions as lead_regions
from .leads import leaders as leaders
from .operating import operating_table as operating_table
from .planning import ComparisonPlan as ComparisonPlan
from .planning import plan_comparison as plan_comparison
