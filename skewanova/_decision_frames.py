"""The frames that the choice of a model rests on."""

from __future__ import annotations

from math import comb

import pandas as pd

from skewanova._checks import Seed
from skewanova._choices import decision_choices
from skewanova._crossings import crossings_frame
from skewanova._design import Resampling
from skewanova._joint_bands import BAND_PRIORS, pair_critical
from skewanova._joint_curves import joint_curves, panel_curves
from skewanova._leaders import leaders_frame, rarest_decided
from skewanova._plans import plan_frame
from skewanova._streamed_scores import Scores
from skewanova._support import support_by_prior
from skewanova.decision import decision_table
from skewanova.evaluation import Evaluation, prior_grid


def decision_frames(
    measures: Evaluation, scores: Scores, design: Resampling, *, alpha: float, rng: Seed
) -> dict[str, pd.DataFrame]:
    """Measure everything about the choice at once: the curves are sampled a single time.

    Parameters
    ----------
    measures : Evaluation
        Models in ranking order.
    scores : ScoreTable or StreamedScores
        What was evaluated; with one fold the spread rests on it.
    design : Resampling
        How the folds came about.
    alpha : float
        Intervals and sets are at level ``1 - alpha``.
    rng : int, Generator, SeedSequence or None
        Seed of all draws.

    Returns
    -------
    dict
        crossings, leaders, decisions, choices, support and plans, as a comparison has them.
    """
    ratio, n_models = design.ratio, len(measures.models)
    panel = panel_curves(measures, ratio=ratio, scores=scores)
    joint = joint_curves(measures, prior_grid(measures, BAND_PRIORS), ratio=ratio, scores=scores)
    critical = pair_critical(joint, alpha, rng=rng)
    rarest = rarest_decided(measures)
    decisions = decision_table(measures, ratio=ratio, scores=scores, rng=rng)
    return {
        "crossings": crossings_frame(panel, measures.models, alpha),
        "leaders": leaders_frame(panel, measures.models, critical, rarest=rarest),
        "decisions": decisions,
        "choices": decision_choices(decisions),
        "support": support_by_prior(measures),
        "plans": plan_frame(scores, measures, design, alpha=alpha / comb(n_models, 2)),
    }
