"""Ranking of the models, decision table, and choice of a model by each criterion."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy.linalg import helmert

from skewanova.base.checks import Floats, InputTypeError, Seed, check_alpha, describe_type
from skewanova.base.rounding import TIE, argsort_descending, is_maximum, limit_blas_threads
from skewanova.curves.chebyshev import MeanCurves
from skewanova.decision.joint_curves import iauprec_covariance, mean_curves
from skewanova.decision.posterior import draw_posterior, expected_losses
from skewanova.evaluation.measures import Evaluation, check_evaluation
from skewanova.inference.anova import check_columns
from skewanova.inference.fold_statistics import fraction_best
from skewanova.priors.weightings import DiscretePrior, typical_prior
from skewanova.scores.design import fold_mean_interval

#: With fewer models, shrinkage does not reduce the squared error (Stein 1956).
MIN_MODELS_TO_SHRINK = 4


CHOICE_COLUMNS = ("criterion", "model", "value", "runner_up", "margin")


#: Column of the decision table that each criterion uses; 1 to maximise it, -1 to minimise it.
CRITERIA = {
    "highest_expected_auprec": ("expected_auprec", 1),
    "minimum_expected_regret": ("expected_regret", -1),
    "maximin_auprec": ("worst_auprec", 1),
    "minimax_regret": ("max_regret", -1),
    "highest_p_best": ("p_best", 1),
}


def choose_models(decisions: pd.DataFrame) -> pd.DataFrame:
    """Choose the best model by each decision criterion.

    Parameters
    ----------
    decisions : DataFrame
        Result of :func:`decision_table`.

    Returns
    -------
    DataFrame
        Columns criterion, model, value, runner_up and margin, one row for each criterion: highest expected
        AUPREC, minimum expected regret (always the same model), maximin of AUPREC, minimax of regret and, if
        known, highest probability of being best. ``margin`` is the difference between the model and
        ``runner_up`` ("" and nan if it is alone). Of equal models the first is chosen.

    Examples
    --------
    >>> import skewanova as sa
    >>> table = sa.decision.decision_table(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> sa.decision.choose_models(table)["model"].unique().tolist()
    ['A']
    """
    check_columns(decisions, ("model", *(column for column, _ in reversed(CRITERIA.values()))))
    rows = []
    for criterion, (column, sign) in CRITERIA.items():
        values = decisions[column].to_numpy(dtype=np.float64)
        if np.isnan(values).any():
            continue
        order = argsort_descending(sign * values)
        names, best = decisions["model"].iloc[order].tolist(), values[order]
        second, margin = (names[1], abs(best[0] - best[1])) if len(names) > 1 else ("", np.nan)
        rows.append((criterion, names[0], best[0], second, margin))
    return pd.DataFrame(rows, columns=list(CHOICE_COLUMNS))


def ranking_order(evaluation: Evaluation) -> tuple[str, ...]:
    """Return the names of the models by descending mean IAUPREC over folds; equal means keep their order."""
    mean = evaluation.iauprec.groupby("model", sort=False, observed=True)["iauprec"].mean()
    return tuple(evaluation.models[i] for i in argsort_descending(mean.loc[list(evaluation.models)]))


def rank_models(
    evaluation: Evaluation, *, letters: Mapping[str, str] | None = None, alpha: float = 0.05, rng: Seed = 0
) -> pd.DataFrame:
    """Rank the models by mean IAUPREC, with intervals and the regret of choosing each.

    Parameters
    ----------
    evaluation, rng
        As for :func:`decision_table`.
    letters : mapping, optional
        Compact letter display of a post-hoc test, by model.
    alpha : float, default 0.05
        The intervals have the level ``1 - alpha``.

    Returns
    -------
    DataFrame
        Columns rank, rank_low, rank_high, model, iauprec, std, conf_low, conf_high, group, auc, rarest_prior,
        auprec_at_rarest, expected_regret, max_regret and p_best. Without tests of pairs the limits of the
        rank exclude nothing; see :func:`~skewanova.inference.rank_intervals`. ``std`` is the standard
        deviation over folds and ``auc`` the mean over folds. ``conf_low`` and ``conf_high`` are the interval
        of the mean, as in :func:`~skewanova.evaluation.auprec_intervals`.
        ``auprec_at_rarest`` is the mean AUPREC at ``rarest_prior``, the smallest deployment prior. The last
        three columns are those of :func:`decision_table`. With one fold, statistics over folds are nan; with
        several runs on one test set, the limits are nan.

    Examples
    --------
    >>> import skewanova as sa
    >>> table = sa.decision.rank_models(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> table["rank"].tolist()
    [1, 2, 3]
    """
    check_alpha(alpha)
    if not isinstance(letters, Mapping | None):
        raise InputTypeError(f"`letters` must be a mapping as {{'A': 'a'}}, but is {describe_type(letters)}")
    return ranking_frame(evaluation, decision_table(evaluation, rng=rng), letters=letters, alpha=alpha)


def ranking_frame(
    evaluation: Evaluation, decisions: pd.DataFrame, *, letters: Mapping[str, str] | None, alpha: float
) -> pd.DataFrame:
    """Return the frame of :func:`rank_models`, in the order of `decisions`; group is "" without letters."""
    measures = evaluation.reorder_models(ranking_order(evaluation))
    groups = measures.iauprec.groupby("model", sort=False, observed=True)
    mean, std, n_folds = (groups["iauprec"].agg(how).to_numpy() for how in ("mean", "std", "count"))
    ratio, halves = measures.design.ratio, measures.iauprec_half_differences
    # the spread over runs on one test set leaves out the variance over cases
    over_folds = np.where(measures.design.has_runs, np.nan, std)
    size = measures.support.effective_size(typical_prior(measures.deployment_prior))
    interval = fold_mean_interval(
        mean, over_folds, n_folds, ratio=ratio, level=1 - alpha, halves=halves, size=size
    )
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(mean) + 1),
            "rank_low": 1,
            "rank_high": len(mean),
            "model": measures.models,
            "iauprec": mean,
            "std": std,
            "conf_low": interval.low,
            "conf_high": interval.high,
            "group": [(letters or {}).get(model, "") for model in measures.models],
            "auc": groups["auc"].mean().to_numpy(),
            "rarest_prior": measures.deployment_prior.low,
            **decisions[["auprec_at_rarest", "expected_regret", "max_regret", "p_best"]],
        }
    )


@limit_blas_threads()
def decision_table(evaluation: Evaluation, *, rng: Seed = 0) -> pd.DataFrame:
    """Compute expected AUPREC, worst case, regret and probability of being best of every model.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluated models.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the posterior draws for p_best.

    Returns
    -------
    DataFrame
        One row for each ``model``, in descending expected AUPREC, with the columns:

        * ``expected_auprec``: mean AUPREC over the deployment prior (IAUPREC);
        * ``shrunken``: its James-Stein estimate (Efron and Morris 1975); nan with fewer than four models;
        * ``worst_auprec``: minimum AUPREC over the deployment prior, at ``worst_prior``;
        * ``expected_regret``, ``max_regret``: mean and largest shortfall from the best model at each prior;
        * ``p_best``: posterior probability that the model has the largest true expected AUPREC, given the
          variance over ``p_best_over`` (folds, or cases if there is one fold), and ``expected_loss``, its
          expected shortfall from the truly best model; nan, "" and nan if the variance is unknown;
        * ``auprec_at_rarest``, ``auprec_commonest``: AUPREC at both ends of the deployment prior, and
          ``sensitivity``, their difference;
        * ``loss_per_tenfold``: this difference per factor of ten in the skew (at one prior, by the slope).

    Notes
    -----
    The range of a beta prior is between its 0.1 % and 99.9 % quantiles; a discrete prior has no values
    between its own. P(best) over folds is about new folds of such data and new training sets; over cases, it
    is about new cases for these fitted models.

    Examples
    --------
    >>> import skewanova as sa
    >>> table = sa.decision.decision_table(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> table[["model", "expected_auprec", "max_regret"]].round(3).values.tolist()
    [['A', 0.772, 0.0], ['C', 0.749, 0.028], ['B', 0.597, 0.195]]
    """
    measures = check_evaluation(evaluation).reorder_models(ranking_order(evaluation))
    weighting, curves = measures.deployment_prior, mean_curves(measures)
    expected, largest = _regrets(measures, curves)
    spread = iauprec_covariance(measures)
    p_best = shrunken = losses = np.full(len(measures.models), np.nan)
    if spread is not None:
        estimate, covariance, df = spread
        draws = draw_posterior(estimate, covariance, df=df, rng=rng)
        p_best, losses = fraction_best(draws), expected_losses(draws)
        shrunken = shrink_estimates(estimate, covariance, df)
    over = "folds" if len(measures.folds) > 1 else "cases"
    worst, worst_prior = _smallest_auprec(measures, curves)
    ends = measures.mean_auprec([weighting.low, weighting.high])
    mean = measures.iauprec.groupby("model", sort=False, observed=True)["iauprec"].mean()
    return pd.DataFrame(
        {
            "model": measures.models,
            "expected_auprec": mean.to_numpy(),
            "shrunken": shrunken,
            "worst_auprec": worst,
            "worst_prior": worst_prior,
            "expected_regret": expected,
            "max_regret": largest,
            "p_best": p_best,
            "expected_loss": losses,
            "p_best_over": np.where(np.isnan(p_best), "", over),
            "auprec_at_rarest": ends[:, 0],
            "auprec_commonest": ends[:, 1],
            "sensitivity": ends[:, 1] - ends[:, 0],
            "loss_per_tenfold": _decline_per_decade(ends, weighting.low, weighting.high, curves),
        }
    )


def _smallest_auprec(measures: Evaluation, curves: MeanCurves) -> tuple[Floats, Floats]:
    """Return each model's smallest mean AUPREC over the deployment prior, and the prior where it occurs."""
    weighting = measures.deployment_prior
    if isinstance(weighting, DiscretePrior):
        priors, weights = weighting.quadrature()
        priors = np.sort(priors[weights > 0])
        values = measures.mean_auprec(priors)
        return values.min(axis=1), priors[is_maximum(-values).argmax(axis=1)]
    minima = [curves.smallest(i, weighting.low, weighting.high) for i in range(len(measures.models))]
    return np.array([value for value, _ in minima]), np.array([prior for _, prior in minima])


def _decline_per_decade(ends: Floats, low: float, high: float, curves: MeanCurves) -> Floats:
    """Return each model's loss per tenfold skew, from `ends` (n_models, 2) at low and high, or the slope."""
    if low == high:
        return np.asarray(curves.slope(low) * np.log(10))
    decades = np.log10((1 - low) / low) - np.log10((1 - high) / high)
    return np.asarray((ends[:, 1] - ends[:, 0]) / decades)


def _regrets(measures: Evaluation, curves: MeanCurves) -> tuple[Floats, Floats]:
    """Return each model's mean and its largest AUPREC shortfall from the best, over the deployment prior."""
    weighting, regions = measures.deployment_prior, curves.regions()
    priors, weights = weighting.quadrature([high for _, _, high in regions[:-1]])
    means = measures.mean_auprec(priors)
    regret = means.max(axis=0) - means
    if isinstance(weighting, DiscretePrior):
        return regret @ weights, regret[:, weights > 0].max(axis=1)
    largest = [
        max(curves.largest_gap(model, region, weighting.low, weighting.high) for region in regions)
        for model in range(len(means))
    ]
    return regret @ weights, np.maximum(np.array(largest), 0.0)


def shrink_estimates(estimate: Floats, covariance: Floats, df: float) -> Floats:
    """Shrink estimates (n_models,) towards their mean (Efron and Morris 1975); nan below four models."""
    # deviations times max(0, 1 - (K - 3) v / S) for K models with sum of squares S about the mean; the mean
    # error variance v of contrasts is multiplied by df / (df + 2) if it is estimated
    n_models = len(estimate)
    if n_models < MIN_MODELS_TO_SHRINK:
        return np.full(n_models, np.nan)
    contrasts = helmert(n_models)
    error = float(np.trace(contrasts @ covariance @ contrasts.T)) / (n_models - 1)
    variance = error if np.isinf(df) else error * df / (df + 2)
    centered = estimate - estimate.mean()
    square = float((centered**2).sum())
    retained = max(1 - (n_models - 3) * variance / square, 0.0) if square > TIE**2 else 1.0
    return np.asarray(estimate.mean() + retained * centered)
