"""Which classifier to deploy when the class prior is uncertain."""

from skewanova.auprec import (
    ESTIMATORS,
    auprec,
    auprec_score,
    iauprec,
    iauprec_score,
    precision_recall_curve,
)
from skewanova.priors import (
    BetaPrior,
    DiscretePrior,
    UniformPrior,
    UniformSkew,
    prior_from_skew,
    skew_from_prior,
)
from skewanova.roc import RocCurve, auc, convex_hull, roc_curve

__all__ = [
    "BetaPrior",
]
from skewanova.scores import read_scores, scores_from_wide
