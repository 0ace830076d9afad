"""The public names, each once."""

from .comparisons import plot_by_dataset as plot_by_dataset
from .comparisons import plot_components as plot_components
from .comparisons import plot_critical_difference as plot_critical_difference
from .comparisons import plot_difference_curves as plot_difference_curves
from .comparisons import plot_pairs as plot_pairs
from .comparisons import plot_p_values as plot_p_values
from .performance import plot_precision_recall as plot_precision_recall
from .performance import plot_roc as plot_roc
from .performance import plot_skew as plot_skew
from .performance import plot_surface as plot_surface
from .styling import model_palette as model_palette
from .performance import plot_auprec as plot_auprec
from .performance import plot_iauprec as plot_iauprec
from .performance import plot_interaction as plot_interaction
from .performance import plot_regions as plot_regions
from .performance import plot_regret as plot_regret
from .priors import plot_monitor as plot_monitor
from .priors import plot_prior_estimate as plot_prior_estimate
from .performance import plot_residuals as plot_residuals
