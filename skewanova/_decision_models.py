"""Simulated models whose true mean curves are known, for the studies of decisions.

Negatives score N(0, 1) in every model. A model's positives score N(distance, deviation^2), the distance
varying normally over folds, as it does when a model is trained anew for each; models share half the variance
of a case's score. A wide model gains at rare priors, where its best positives count, and loses at common
ones: so curves cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np
from scipy import optimize, stats

from skewanova._checks import Bools, Floats
from skewanova._joint_curves import JointCurves, PanelCurves, case_curves, fold_curves
from skewanova._mean_curves import panel_priors
from skewanova._true_curves import true_auprec
from skewanova.auprec import auprec
from skewanova.roc import curve_from_scores

#: Share of the variance of a case's score that all models have in common.
SHARED_VARIANCE = 0.5
#: Distance between the classes of the first model, and deviation of the second model's positives.
DISTANCE, WIDE = 1.5, 1.4
#: Nodes over the distances of folds: enough for twelve digits.
N_DISTANCES = 24


@dataclass(frozen=True)
class Model:
    """A model: the distance of its classes, and the standard deviation of its positives' scores."""

    distance: float = DISTANCE
    deviation: float = 1.0


@dataclass(frozen=True)
class FoldDesign:
    """How many folds of how many cases, and how the distance varies over folds.

    With one fold the models are fixed, and their spread is that of the cases.
    """

    n_folds: int
    n_positive: int
    n_negative: int
    jitter: float = 0.0

    def describe(self) -> str:
        """Say the design in words."""
        folds = f"{self.n_folds} folds" if self.n_folds > 1 else "one test set"
        return f"{folds} of {self.n_positive} + {self.n_negative} cases"


def mean_true_auprec(model: Model, prior: float, jitter: float) -> float:
    """True AUPREC at a prior, averaged over the distances of folds by Gauss-Hermite quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(N_DISTANCES if jitter else 1)
    values = [
        true_auprec(stats.norm(0, 1), stats.norm(model.distance + jitter * x, model.deviation), prior)
        for x in nodes
    ]
    return float(weights @ values / weights.sum())


@cache
def crossing_pair(prior: float, jitter: float, deviation: float = WIDE) -> tuple[Model, Model]:
    """Two models whose true mean curves cross at a prior, the wide one ahead below it."""
    narrow = Model()
    target = mean_true_auprec(narrow, prior, jitter)

    def excess(distance: float) -> float:
        return mean_true_auprec(Model(distance, deviation), prior, jitter) - target

    return narrow, Model(float(optimize.brentq(excess, 0.3, 3.0, xtol=1e-12)), deviation)


def draw_scores(
    models: Sequence[Model], design: FoldDesign, rng: np.random.Generator
) -> tuple[Bools, Floats]:
    """Labels, the positives first, and scores of shape (n_folds, n_models, n_cases)."""
    positive = np.arange(design.n_positive + design.n_negative) < design.n_positive
    shape = (design.n_folds, len(models), len(positive))
    common = rng.standard_normal((design.n_folds, 1, len(positive)))
    scores = np.sqrt(SHARED_VARIANCE) * common + np.sqrt(1 - SHARED_VARIANCE) * rng.standard_normal(shape)
    distance = np.array([model.distance for model in models])
    distance = distance + design.jitter * rng.standard_normal(shape[:2])
    deviation = np.array([model.deviation for model in models])
    scores[..., positive] = distance[..., None] + deviation[:, None] * scores[..., positive]
    return positive, scores


def draw_panel(
    models: Sequence[Model], design: FoldDesign, limits: tuple[float, float], rng: np.random.Generator
) -> PanelCurves:
    """Simulate the design once, and measure its curves between two priors as the package does."""
    edges, priors = panel_priors(*limits)
    return PanelCurves(*limits, edges, draw_joint(models, design, priors, rng))


def draw_joint(
    models: Sequence[Model], design: FoldDesign, priors: Floats, rng: np.random.Generator
) -> JointCurves:
    """Simulate the design once, and measure its curves at priors."""
    positive, scores = draw_scores(models, design, rng)
    if design.n_folds > 1:
        return fold_curves(priors, trapezoid_areas(scores, design.n_positive, tuple(priors.tolist())))
    estimate = np.array([auprec(curve_from_scores(positive, score), priors) for score in scores[0]])
    return case_curves(priors, estimate, (positive, list(scores[0])))


def trapezoid_areas(scores: Floats, n_positive: int, priors: tuple[float, ...]) -> Floats:
    """AUPREC (..., priors) of scores (..., cases) without ties, positives first, by a table of all gains."""
    gains = _gains(n_positive, scores.shape[-1] - n_positive, priors)
    ranked = np.argsort(-scores, axis=-1) < n_positive
    places = np.nonzero(ranked)[-1].reshape(*scores.shape[:-1], n_positive)
    above = places - np.arange(n_positive)  # negatives above the first, second, ... positive
    return np.asarray(gains[np.arange(n_positive), above].sum(axis=-2))


@lru_cache(maxsize=1)
def _gains(n_positive: int, n_negative: int, priors: tuple[float, ...]) -> Floats:
    """What positive j adds with f negatives above it, at every prior (Landgrebe et al. 2006, eq. 4)."""
    true = np.arange(n_positive + 1)[:, None, None] / n_positive
    false = np.arange(n_negative + 1)[:, None] / n_negative
    at = np.array(priors)
    with np.errstate(invalid="ignore"):
        precision = at * true / (at * true + (1 - at) * false)
    precision[0, 0] = 1.0  # above the first positive; 0 where a negative stands there
    return np.asarray((precision[:-1] + precision[1:]) / (2 * n_positive))
