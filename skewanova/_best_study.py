"""Study of the probability of being best: how often a model is the best against how often it says so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import pandas as pd

from skewanova._checks import Floats, check_count
from skewanova._decision_models import FoldDesign, Model, draw_joint, draw_scores
from skewanova._decision_runner import Cell, DecisionStudy, chosen, simulated
from skewanova._learners import lda
from skewanova._p_best import probability_best
from skewanova._scenarios import DEPLOYMENT, Splits, Task, measures
from skewanova.resampling import fold_bootstrap_means, share_best

#: Replicates in a full study.
FULL = 1000
BINS = (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.99, 1.0)
P_BEST_METHODS = ("posterior", "bootstrap")
P_BEST_COLUMNS = (
    "setting", "design", "spread", "method", "p_low", "p_high", "mean_p", "truly_best", "std_error",
    "n_models", "replicates",
)  # fmt: skip
HOLD_OUTS = Task(Splits(20, 5), sizes=(100, 300))


@dataclass(frozen=True)
class BestSetting:
    """Four models whose distances differ at random by `spread`, and how they are tested."""

    spread: float
    design: FoldDesign | None = None

    def describe(self) -> str:
        """Say the design in words."""
        return self.design.describe() if self.design else "20 hold-outs (80/20) of 400 cases"


BEST_SETTINGS: Mapping[str, BestSetting] = MappingProxyType(
    {
        **{
            f"folds-{n}-{spread:g}": BestSetting(spread, FoldDesign(n, 50, 150, 0.2))
            for n in (10, 20)
            for spread in (0.05, 0.1, 0.2)
        },
        **{f"hold-outs-{spread:g}": BestSetting(spread) for spread in (0.1, 0.2, 0.4)},
        **{
            f"one-set-{spread:g}": BestSetting(spread, FoldDesign(1, 100, 900)) for spread in (0.05, 0.1, 0.2)
        },
    }
)


def p_best_study(
    *,
    settings: Sequence[str] | None = None,
    replicates: int = 200,
    full: bool = False,
    rng: int = 0,
    n_jobs: int = 1,
    progress: bool = True,
) -> DecisionStudy:
    """Simulate models that differ at random, and hold P(best) against how often a model is the best.

    Parameters
    ----------
    settings : sequence of str, optional
        Names from `BEST_SETTINGS`; by default all.
    replicates, full, rng, n_jobs, progress
        As for :func:`~skewanova._decision_studies.crossings_study`, 1,000 replicates in full.

    Returns
    -------
    DecisionStudy
        Frame with the columns of `P_BEST_COLUMNS`: for each range of P(best), its mean and the share of
        models that were the best in truth. ``bootstrap`` resamples folds (with one test set: draws from a
        flat prior), its deviations widened as the posterior's are.

    Raises
    ------
    ValueError
        If a setting is unknown, or a number out of range.

    Examples
    --------
    >>> from skewanova._best_study import p_best_study
    >>> frame = p_best_study(settings=["folds-10-0.1"], replicates=4, progress=False).to_frame()
    >>> int(frame["n_models"].sum())
    32
    """
    check_count(replicates, "replicates", minimum=1)
    cells = [
        Cell(name, FULL if full else replicates, partial(_best_measures, BEST_SETTINGS[name]))
        for name in chosen(settings, BEST_SETTINGS)
    ]
    rows = []
    for cell, found in simulated("p_best", cells, rng=rng, n_jobs=n_jobs, progress=progress):
        setting = BEST_SETTINGS[cell.name]
        for j, method in enumerate(P_BEST_METHODS):
            head = (cell.name, setting.describe(), setting.spread, method)
            told = _reliability(found[:, 1 + j].ravel(), found[:, 0].ravel())
            rows += [(*head, *values, len(found)) for values in told]
    return DecisionStudy("p_best", rng, pd.DataFrame(rows, columns=list(P_BEST_COLUMNS)))


def _best_measures(setting: BestSetting, rng: np.random.Generator) -> Floats:
    """1 for the truly best model, and P(best) by each method, of shape (3, n_models)."""
    distance = 1.5 + setting.spread * rng.standard_normal(4)
    if setting.design is None:
        values, ratio = _held_out(distance - 1.5, rng), HOLD_OUTS.splits.ratio
    else:
        models = [Model(d) for d in distance]
        if setting.design.n_folds == 1:
            return np.array([distance == distance.max(), *_one_set_shares(models, setting.design, rng)])
        _, scores = draw_scores(models, setting.design, rng)
        values = measures(scores, setting.design.n_positive).iauprec
        ratio = 0.0
    n_folds = len(values)
    covariance = np.cov(values.T) * (1 / n_folds + ratio)
    mean = values.mean(axis=0)
    posterior = probability_best(mean, covariance, df=n_folds - 1, n_draws=2000, rng=rng)
    moved = np.sqrt(1 + n_folds * ratio) * (fold_bootstrap_means(values, n_resamples=2000, rng=rng) - mean)
    return np.array([distance == distance.max(), posterior, share_best(mean + moved)])


def _one_set_shares(
    models: Sequence[Model], design: FoldDesign, rng: np.random.Generator
) -> tuple[Floats, Floats]:
    """P(best) by the posterior, and by draws around the estimates."""
    priors, weights = DEPLOYMENT.quadrature()
    joint = draw_joint(models, design, priors, rng).averaged(weights)
    estimate, covariance = joint.estimate[:, 0], joint.covariance()
    draws = rng.multivariate_normal(estimate, covariance, size=2000)
    return probability_best(estimate, covariance, df=np.inf, n_draws=2000, rng=rng), share_best(draws)


def _held_out(shift: Floats, rng: np.random.Generator) -> Floats:
    """IAUPREC (folds, models) of discriminants on features of their own, moved apart by `shift` more."""
    task = HOLD_OUTS
    held = task.subsets(task.data(1, rng), rng, 0.0)
    held[0, :, : task.sizes[0]] += shift[:, None, None] / np.sqrt(task.n_used)
    test, train = task.folds(1, rng)
    tested = np.take_along_axis(held[0][:, None], test[0][None, :, :, None], axis=2)  # models, folds, cases
    scores = lda(held[0], train, tested, task.sizes[0])
    return np.asarray(task.measured(scores[None]).iauprec[0])


def _reliability(p_best: Floats, is_best: Floats) -> Iterator[tuple[float, ...]]:
    """Limits, mean P(best), share that is the best, its standard error and count, of every range."""
    place = np.clip(np.searchsorted(BINS, p_best, side="right") - 1, 0, len(BINS) - 2)
    for k, (low, high) in enumerate(pairwise(BINS)):
        rows = place == k
        if rows.any():
            share, count = float(is_best[rows].mean()), int(rows.sum())
            yield (
                low,
                high,
                float(p_best[rows].mean()),
                share,
                float(np.sqrt(share * (1 - share) / count)),
                count,
            )
