"""The public names, each once."""

from .bands import auprec_bands as auprec_bands
from .bands import difference_curves as difference_curves
from .choice import choose_models as choose_models
from .choice import decision_table as decision_table
from .posterior import ValueOfInformation as ValueOfInformation
from .choice import rank_models as rank_models
from .posterior import value_of_information as value_of_information
from .leads import tabulate_by_prior as tabulate_by_prior
from .leads import find_crossings as find_crossings
from .leads import find_differing_priors as find_differing_priors
from .leads import find_regions as find_regions
from .leads import find_leaders as find_leaders
from .measures import Measure as Measure
from .planning import ComparisonPlan as ComparisonPlan
from .planning import plan_sample_sizes as plan_sample_sizes
from .verdict import Verdict as Verdict
