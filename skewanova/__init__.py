"""Which classifier to deploy when the class prior is uncertain.

From held-out scores (model, fold, y_true, y_score) to the area under precision-recall at any prior (AUPREC),
its mean over the priors of a deployment (IAUPREC), the analyses of variance of Landgrebe et al. (2006) with
post-hoc tests, a ranking, and a report.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from skewanova._checks import InputError, InputTypeError, SkewanovaWarning
from skewanova._estimators import ESTIMATORS
from skewanova.auprec import auprec, auprec_score, iauprec, iauprec_score, precision_recall_curve
from skewanova.priors import (
    BetaPrior,
    DeploymentPrior,
    DiscretePrior,
    UniformPrior,
    UniformSkew,
    prior_from_skew,
    skew_from_prior,
)
from skewanova.roc import RocCurve, auc, convex_hull, roc_curve

if TYPE_CHECKING:
    from skewanova._score_table import ScoreTable
    from skewanova.anova import AnovaResult, residual_checks, three_way_anova, two_way_anova
    from skewanova.comparison import Comparison, compare
    from skewanova.datasets import load_satellite_scores
    from skewanova.decision import lead_regions, rank_models
    from skewanova.evaluation import (
        Evaluation,
        auprec_by_prior,
        evaluate,
        operating_points,
        precision_recall_points,
        roc_points,
        surface_points,
    )
    from skewanova.plots import (
        plot_auprec,
        plot_differences,
        plot_iauprec,
        plot_precision_recall,
        plot_regions,
        plot_roc,
        plot_skew,
        plot_surface,
    )
    from skewanova.posthoc import PosthocResult, compact_letters, tukey_by_prior, tukey_hsd
    from skewanova.scores import read_scores, scores_from_wide

__version__ = "0.1.0"

#: Names whose modules load frames, models or plots: loaded when first used, so that importing stays light.
_LAZY = {
    "AnovaResult": "anova",
    "Comparison": "comparison",
    "Evaluation": "evaluation",
    "PosthocResult": "posthoc",
    "ScoreTable": "_score_table",
    "auprec_by_prior": "evaluation",
    "compact_letters": "posthoc",
    "compare": "comparison",
    "evaluate": "evaluation",
    "lead_regions": "decision",
    "load_satellite_scores": "datasets",
    "operating_points": "evaluation",
    "plot_auprec": "plots",
    "plot_differences": "plots",
    "plot_iauprec": "plots",
    "plot_precision_recall": "plots",
    "plot_regions": "plots",
    "plot_roc": "plots",
    "plot_skew": "plots",
    "plot_surface": "plots",
    "precision_recall_points": "evaluation",
    "rank_models": "decision",
    "read_scores": "scores",
    "residual_checks": "anova",
    "roc_points": "evaluation",
    "scores_from_wide": "scores",
    "surface_points": "evaluation",
    "three_way_anova": "anova",
    "tukey_by_prior": "posthoc",
    "tukey_hsd": "posthoc",
    "two_way_anova": "anova",
}

__all__ = [
    "AnovaResult",
    "BetaPrior",
    "Comparison",
    "DeploymentPrior",
    "DiscretePrior",
    "ESTIMATORS",
    "Evaluation",
    "InputError",
    "InputTypeError",
    "PosthocResult",
    "RocCurve",
    "ScoreTable",
    "SkewanovaWarning",
    "UniformPrior",
    "UniformSkew",
    "auc",
    "auprec",
    "auprec_by_prior",
    "auprec_score",
    "compact_letters",
    "compare",
    "convex_hull",
    "evaluate",
    "iauprec",
    "iauprec_score",
    "lead_regions",
    "load_satellite_scores",
    "operating_points",
    "plot_auprec",
    "plot_differences",
    "plot_iauprec",
    "plot_precision_recall",
    "plot_regions",
    "plot_roc",
    "plot_skew",
    "plot_surface",
    "precision_recall_curve",
    "precision_recall_points",
    "prior_from_skew",
    "rank_models",
    "read_scores",
    "residual_checks",
    "roc_curve",
    "roc_points",
    "scores_from_wide",
    "skew_from_prior",
    "surface_points",
    "three_way_anova",
    "tukey_by_prior",
    "tukey_hsd",
    "two_way_anova",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'skewanova' has no attribute {name!r}")
    value = getattr(import_module(f"skewanova.{_LAZY[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
