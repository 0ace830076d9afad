"""From measures and tests to a choice: ranking, regret, and which model leads at which prior."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

from skewanova._checks import Floats, Seed, check_fraction
from skewanova._joint_curves import iauprec_covariance
from skewanova._mean_curves import MeanCurves, Region
from skewanova._omnibus_result import check_ratio
from skewanova._p_best import probability_best
from skewanova._streamed_scores import Scores
from skewanova._ties import falling_order, is_largest
from skewanova.evaluation import Evaluation, prior_grid
from skewanova.priors import DiscretePrior, UniformPrior

RANKING_COLUMNS = (
    "rank",
    "model",
    "iauprec",
    "std",
    "conf_low",
    "conf_high",
    "group",
    "auc",
    "worst_prior",
    "worst_auprec",
    "expected_regret",
    "max_regret",
    "p_best",
)
REGION_COLUMNS = ("model", "prior_low", "prior_high", "margin", "runner_up")
DECISION_COLUMNS = (
    "model",
    "expected_auprec",
    "worst_auprec",
    "worst_prior",
    "expected_regret",
    "max_regret",
    "p_best",
    "p_best_over",
    "auprec_rarest",
    "auprec_commonest",
    "sensitivity",
    "loss_per_tenfold",
)


def ranking_order(evaluation: Evaluation) -> tuple[str, ...]:
    """Models by falling mean IAUPREC over folds; equal means keep their order.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    tuple of str
        Model names, best first.
    """
    mean = evaluation.iauprec.groupby("model", sort=False, observed=True)["iauprec"].mean()
    return tuple(evaluation.models[i] for i in falling_order(mean.loc[list(evaluation.models)]))


def rank_models(
    evaluation: Evaluation,
    *,
    letters: Mapping[str, str] | None = None,
    alpha: float = 0.05,
    ratio: float = 0.0,
    scores: Scores | None = None,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Rank the models by mean IAUPREC, with what a choice between them would cost.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    letters : mapping, optional
        Compact letters of the models, from a post-hoc test.
    alpha : float, default 0.05
        The intervals are at level ``1 - alpha``.
    ratio : float, default 0
        Test cases for each training case, where folds share training data.
    scores : ScoreTable, optional
        What was evaluated. With one fold p_best rests on it; without it it is nan.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws behind p_best.

    Returns
    -------
    DataFrame
        Columns of `RANKING_COLUMNS`. ``std`` is over folds and ``conf_low``, ``conf_high`` the t interval of
        the mean over folds, its variance inflated by ``1 + J ratio`` (Nadeau and Bengio 2003); ``auc`` is the
        mean over folds; ``worst_auprec`` is the mean AUPREC at ``worst_prior``, the rarest prior of the
        deployment; ``expected_regret`` and ``max_regret`` are the mean and largest shortfall from the best
        model at each deployment prior; ``p_best`` is the probability that the model has the largest true
        IAUPREC, as in :func:`decision_table`. With one fold, all else that rests on the spread over folds is
        nan.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, rank_models
    >>> ranking = rank_models(evaluate(load_satellite_scores(), priors=(0.5, 0.2)))
    >>> ranking["rank"].tolist()
    [1, 2, 3]
    """
    level = 1 - check_fraction(alpha, "alpha")
    check_ratio(ratio)
    measures = evaluation.ordered(ranking_order(evaluation))
    groups = measures.iauprec.groupby("model", sort=False, observed=True)
    mean, std, n_folds = (groups["iauprec"].agg(how).to_numpy() for how in ("mean", "std", "count"))
    margin = stats.t.isf((1 - level) / 2, np.maximum(n_folds - 1, 1)) * std
    margin *= np.sqrt(1 / n_folds + ratio)
    low = measures.deployment_prior.low
    expected, largest = _regrets(measures)
    frame = pd.DataFrame(
        {
            "rank": np.arange(1, len(mean) + 1),
            "model": measures.models,
            "iauprec": mean,
            "std": std,
            "conf_low": mean - margin,
            "conf_high": mean + margin,
            "group": [(letters or {}).get(model, "") for model in measures.models],
            "auc": groups["auc"].mean().to_numpy(),
            "worst_prior": low,
            "worst_auprec": measures.mean_auprec([low])[:, 0],
            "expected_regret": expected,
            "max_regret": largest,
            "p_best": _p_best(measures, ratio, scores, rng),
        }
    )
    return frame[list(RANKING_COLUMNS)]


def lead_regions(evaluation: Evaluation) -> pd.DataFrame:
    """Which model has the largest mean AUPREC at which prior.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.

    Returns
    -------
    DataFrame
        Columns of `REGION_COLUMNS`, in ascending priors, over the grid of priors and the deployment prior
        together; limits between regions are the priors at which the mean curves cross. ``margin`` is the lead
        over ``runner_up``, the second-best model of the region, averaged over the region's priors.

    Examples
    --------
    >>> from skewanova import evaluate, lead_regions, load_satellite_scores
    >>> lead_regions(evaluate(load_satellite_scores(), priors=(0.5, 0.2))).columns.tolist()
    ['model', 'prior_low', 'prior_high', 'margin', 'runner_up']
    """
    measures = evaluation.ordered(ranking_order(evaluation))
    curves = _mean_curves(measures)
    rows = [(*region, *_margin(measures, curves, region)) for region in curves.regions()]
    return pd.DataFrame(
        [(measures.models[leader], *rest) for leader, *rest in rows], columns=list(REGION_COLUMNS)
    )


def decision_table(
    evaluation: Evaluation, *, ratio: float = 0.0, scores: Scores | None = None, rng: Seed = 0
) -> pd.DataFrame:
    """Tell what every model promises and risks over the deployment prior.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    ratio : float, default 0
        Test cases for each training case, where folds share training data.
    scores : ScoreTable, optional
        What was evaluated. With one fold p_best rests on it; without it it is nan.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws behind p_best.

    Returns
    -------
    DataFrame
        Columns of `DECISION_COLUMNS`, one row a model, the largest expected AUPREC first.

        * ``expected_auprec``: mean AUPREC over the deployment prior (IAUPREC);
        * ``worst_auprec``: its minimum over the deployment prior, reached at ``worst_prior``;
        * ``expected_regret``, ``max_regret``: mean and largest shortfall from the best model at each prior;
        * ``p_best``: probability that the model has the largest expected AUPREC in truth, from the spread
          over ``p_best_over``: folds, or cases where there is one fold;
        * ``auprec_rarest``, ``auprec_commonest``: AUPREC at either end of the deployment prior,
          ``sensitivity`` their difference, and ``loss_per_tenfold`` that for each ten-fold of the skew (at a
          single prior, by the slope there).

    Raises
    ------
    ValueError
        If the ratio is negative.

    Notes
    -----
    The range of a beta weighting is that between its 0.1 % and 99.9 % quantiles; a discrete weighting has no
    priors between its own. P(best) is the posterior probability under a normal distribution of the models'
    true values with unknown spread, which keeps it honest where models are nearly equal; that from folds
    covers new folds of such data (and new training sets, by the inflation of the variance), that from cases
    new cases for these fitted models.

    Examples
    --------
    >>> from skewanova import decision_table, evaluate, load_satellite_scores
    >>> table = decision_table(evaluate(load_satellite_scores(), priors=(0.5, 0.2)), ratio=0.25)
    >>> table[["model", "expected_auprec", "max_regret"]].round(3).values.tolist()
    [['A', 0.772, 0.0], ['C', 0.749, 0.028], ['B', 0.597, 0.195]]
    """
    check_ratio(ratio)
    measures = evaluation.ordered(ranking_order(evaluation))
    weighting, curves = measures.deployment_prior, _mean_curves(measures)
    expected, largest = _regrets(measures)
    p_best = _p_best(measures, ratio, scores, rng)
    over = "folds" if len(measures.folds) > 1 else "cases"
    worst, worst_prior = _worst(measures, curves)
    ends = measures.mean_auprec([weighting.low, weighting.high])
    frame = pd.DataFrame(
        {
            "model": measures.models,
            "expected_auprec": measures.iauprec.groupby("model", sort=False, observed=True)["iauprec"]
            .mean()
            .to_numpy(),
            "worst_auprec": worst,
            "worst_prior": worst_prior,
            "expected_regret": expected,
            "max_regret": largest,
            "p_best": p_best,
            "p_best_over": np.where(np.isnan(p_best), "", over),
            "auprec_rarest": ends[:, 0],
            "auprec_commonest": ends[:, 1],
            "sensitivity": ends[:, 1] - ends[:, 0],
            "loss_per_tenfold": _loss_per_tenfold(ends, weighting.low, weighting.high, curves),
        }
    )
    return frame[list(DECISION_COLUMNS)]


def _worst(measures: Evaluation, curves: MeanCurves) -> tuple[Floats, Floats]:
    """Smallest mean AUPREC over the deployment prior, and the prior there."""
    weighting = measures.deployment_prior
    if isinstance(weighting, DiscretePrior):
        priors, weights = weighting.quadrature()
        priors = np.sort(priors[weights > 0])
        values = measures.mean_auprec(priors)
        return values.min(axis=1), priors[is_largest(-values).argmax(axis=1)]
    found = [curves.smallest(i, weighting.low, weighting.high) for i in range(len(measures.models))]
    return np.array([value for value, _ in found]), np.array([prior for _, prior in found])


def _loss_per_tenfold(ends: Floats, low: float, high: float, curves: MeanCurves) -> Floats:
    """AUPREC lost for each ten-fold of the skew, from one end of the deployment prior to the other."""
    if low == high:
        return np.asarray(curves.slope(low) * np.log(10))
    decades = np.log10((1 - low) / low) - np.log10((1 - high) / high)
    return np.asarray((ends[:, 1] - ends[:, 0]) / decades)


def _mean_curves(measures: Evaluation) -> MeanCurves:
    """Curves over the grid of priors and the deployment prior together."""
    grid = prior_grid(measures, 2)
    return MeanCurves.sampled(measures.mean_auprec, float(grid[0]), float(grid[-1]))


def _margin(measures: Evaluation, curves: MeanCurves, region: Region) -> tuple[float, str]:
    """Mean lead over the second-best model of a region, and who that is."""
    leader, low, high = region
    if len(measures.models) < 2:
        return np.nan, ""
    priors, weights = UniformPrior(low, high).quadrature()
    mean = curves.at(priors) @ weights
    second = next(i for i in falling_order(mean) if i != leader)
    return float(mean[leader] - mean[second]), measures.models[second]


def _regrets(measures: Evaluation) -> tuple[Floats, Floats]:
    """Mean and largest shortfall from the best model, over the deployment prior."""
    weighting, curves = measures.deployment_prior, _mean_curves(measures)
    regions = curves.regions()
    priors, weights = weighting.quadrature([high for _, _, high in regions[:-1]])
    means = measures.mean_auprec(priors)
    regret = means.max(axis=0) - means
    if isinstance(weighting, DiscretePrior):  # priors between its own do not occur
        return regret @ weights, regret[:, weights > 0].max(axis=1)
    largest = [
        max(curves.largest_gap(model, region, weighting.low, weighting.high) for region in regions)
        for model in range(len(means))
    ]
    return regret @ weights, np.maximum(np.array(largest), 0.0)


def _p_best(measures: Evaluation, ratio: float, scores: Scores | None, rng: Seed) -> Floats:
    """Probability that each model has the largest IAUPREC; nan where no spread is known."""
    found = iauprec_covariance(measures, ratio=ratio, scores=scores)
    if found is None:
        return np.full(len(measures.models), np.nan)
    estimate, covariance, df = found
    return probability_best(estimate, covariance, df=df, rng=rng)
