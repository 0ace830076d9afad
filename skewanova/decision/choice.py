"""Ranking, decisions, choices, and the probability of being best.

The true values of the leading models are taken as draws from one normal distribution, whose spread has a
half-Cauchy prior on the scale of the standard errors (Gelman 2006). Differences that do not stand out from
the noise are thereby drawn together; with a flat prior, or a bootstrap of folds, the probability is too near
to 1 where models are nearly equal (docs/studies/decisions.md). Of all numbers of leading models, the one that
leaves the first least sure of being best is taken; the values of the others have a flat prior. A covariance
from few folds is drawn towards equal variances of all contrasts, which count for one degree of freedom each.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from skewanova.base.checks import Floats, Seed, check_fraction, make_generator
from skewanova.base.rounding import TIE, argsort_descending, is_maximum
from skewanova.curves.chebyshev import MeanCurves
from skewanova.decision.joint_curves import iauprec_covariance, mean_curves
from skewanova.evaluation.measures import Evaluation
from skewanova.inference.fold_statistics import fraction_best, helmert
from skewanova.priors.weightings import DiscretePrior
from skewanova.scores.design import fold_mean_interval

#: Draws from the posterior.
N_DRAWS = 9999


#: Equally likely values of the spread between models, and of the scale of a covariance estimated from folds.
N_SPREADS, N_SCALES = 200, 40


def probability_best(
    estimate: Floats, covariance: Floats, *, df: float, n_draws: int = N_DRAWS, rng: Seed = 0
) -> Floats:
    """Return the posterior probability that each model has the largest true value.

    The covariance of the estimates has `df` degrees of freedom, infinite where it is as good as known. Models
    that never differ share their probability.
    """
    order = argsort_descending(estimate)
    falling, among = estimate[order], covariance[np.ix_(order, order)]
    seed = make_generator(rng).integers(2**63)
    draws = (
        _values(falling, among, n_leading, df=df, n_draws=n_draws, rng=np.random.default_rng(seed))
        for n_leading in _leading_counts(falling)
    )
    duplicates = _first_duplicates(falling, among)
    candidates = (fraction_best(drawn[:, duplicates]) for drawn in draws)
    probability = np.empty(len(order))
    probability[order] = min(candidates, key=lambda share: float(share[0]))
    return probability


def _first_duplicates(estimate: Floats, covariance: Floats) -> NDArray[np.intp]:
    """Return for every model the first that differs from it by rounding only: their draws shall be equal."""
    size = np.diag(covariance)[:, None] + np.diag(covariance)
    same = (size - 2 * covariance <= TIE * size) & (np.abs(estimate[:, None] - estimate) <= TIE)
    return np.asarray(same.argmax(axis=1))


def _leading_counts(falling: Floats) -> list[int]:
    """Return how many models may lead: all, or fewer, each number at most half above the last.

    Models with equal estimates lead together or not at all.
    """
    numbers = [2]
    while numbers[-1] < len(falling):
        numbers.append(numbers[-1] + max(1, numbers[-1] // 2))
    apart = (n for n in numbers if n < len(falling) and falling[n - 1] - falling[n] > TIE)
    return [*apart, len(falling)]


def _values(
    estimate: Floats,
    covariance: Floats,
    n_leading: int,
    *,
    df: float,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Draw all values, less the mean of the leading models'."""
    variances, axes, seen = _contrasts(estimate[:n_leading], covariance[:n_leading, :n_leading])
    if variances.any():
        pooled = len(variances) / (len(variances) + df)
        variances = (1 - pooled) * variances + pooled * variances.mean()
    noise = rng.standard_normal((n_draws, len(estimate)))
    leading, others = noise[:, :n_leading] @ axes.T, noise[:, n_leading:]  # whichever way the axes point
    spread, scale = _grid(float(np.sqrt(variances.mean())) if variances.any() else 1.0, df)
    error = scale[:, None] * variances  # (n_points, n_contrasts)
    total = error + spread[:, None] ** 2
    log_likelihood = -0.5 * (np.log(total) + seen**2 / total).sum(axis=1)
    weight = np.exp(log_likelihood - log_likelihood.max())
    point = rng.choice(len(weight), size=n_draws, p=weight / weight.sum())
    retained = 1 - error[point] / total[point]
    drawn = retained * seen + np.sqrt(retained * error[point]) * leading
    slope, root = _given_leading(covariance, variances, axes)
    behind = estimate[n_leading:] - estimate[:n_leading].mean() + (drawn - seen) @ slope.T
    return np.hstack([drawn @ axes, behind + np.sqrt(scale[point])[:, None] * (others @ root)])


def _given_leading(covariance: Floats, variances: Floats, axes: Floats) -> tuple[Floats, Floats]:
    """Return the regression of other models on contrasts of leading ones, and a root of what is left."""
    n, n_leading = len(covariance), axes.shape[1]
    behind = np.eye(n)[n_leading:]
    behind[:, :n_leading] = -1 / n_leading
    shared = behind @ covariance[:, :n_leading] @ axes.T
    slope = np.divide(shared, variances, out=np.zeros_like(shared), where=variances > 0)
    left, vectors = np.linalg.eigh(behind @ covariance @ behind.T - slope @ shared.T)
    left = np.where(left <= TIE * np.trace(covariance), 0.0, left)  # models that are the same stay the same
    return slope, (vectors * np.sqrt(left)) @ vectors.T


def _contrasts(estimate: Floats, covariance: Floats) -> tuple[Floats, Floats, Floats]:
    """Return variances, directions (n_contrasts, n_models) and values of contrasts not always zero."""
    contrasts = helmert(len(estimate))
    variances, vectors = np.linalg.eigh(contrasts @ covariance @ contrasts.T)
    variances = np.where(variances <= TIE * np.trace(covariance), 0.0, variances)
    axes = vectors.T @ contrasts
    seen = axes @ estimate
    informative = (variances > 0) | (np.abs(seen) > TIE)
    return variances[informative], axes[informative], seen[informative]


def _grid(size: float, df: float) -> tuple[Floats, Floats]:
    """Return all pairs of a spread between models and a scale of the covariance, equally likely a priori."""
    spread = size * np.tan(np.pi / 2 * (np.arange(N_SPREADS) + 0.5) / N_SPREADS)
    share = (np.arange(N_SCALES) + 0.5) / N_SCALES
    scale = df / stats.chi2.isf(share, df) if np.isfinite(df) else np.ones(1)
    spreads, scales = np.meshgrid(spread, scale)
    return spreads.ravel(), scales.ravel()


#: Models below which estimates are not drawn together: there is nothing to gain (Stein 1956).
MIN_MODELS_TO_SHRINK = 4


CHOICE_COLUMNS = ("criterion", "model", "value", "runner_up", "margin")


#: Column of the decisions that each criterion looks at, and 1 if it is to be large, -1 if small.
CRITERIA = {
    "highest_expected_auprec": ("expected_auprec", 1),
    "minimum_expected_regret": ("expected_regret", -1),
    "maximin_auprec": ("worst_auprec", 1),
    "minimax_regret": ("max_regret", -1),
    "highest_p_best": ("p_best", 1),
}


def choices(decisions: pd.DataFrame) -> pd.DataFrame:
    """Pick the best model by each criterion of choice.

    Parameters
    ----------
    decisions : DataFrame
        As :func:`decisions` returns it.

    Returns
    -------
    DataFrame
        Columns of `CHOICE_COLUMNS`, a row for each criterion: highest expected AUPREC, minimum expected
        regret (always the same model), maximin of AUPREC, minimax of regret and, where there is one, highest
        probability of being best. ``margin`` is how far ``runner_up`` stays behind; of equal models the first
        is picked.

    Examples
    --------
    >>> import skewanova as sa
    >>> table = sa.decision.decisions(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> sa.decision.choices(table)["model"].unique().tolist()
    ['A']
    """
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
    """Return the models by falling mean IAUPREC over folds; equal means keep their order."""
    mean = evaluation.iauprec.groupby("model", sort=False, observed=True)["iauprec"].mean()
    return tuple(evaluation.models[i] for i in argsort_descending(mean.loc[list(evaluation.models)]))


def ranking(
    evaluation: Evaluation,
    *,
    letters: Mapping[str, str] | None = None,
    alpha: float = 0.05,
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
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws behind p_best.

    Returns
    -------
    DataFrame
        Columns rank, model, iauprec, std, conf_low, conf_high, group, auc, rarest_prior, auprec_at_rarest,
        expected_regret, max_regret and p_best. ``std`` is over folds, ``auc`` their mean, and ``conf_low``,
        ``conf_high`` the t interval of the mean, its variance inflated by ``1 + J ratio`` (Nadeau and Bengio
        2003) or the split-half variance. ``auprec_at_rarest`` is the mean AUPREC at ``rarest_prior``, the
        rarest prior of the deployment; the last three are those of :func:`decisions`. With one fold, all that
        rests on the spread over folds is nan; with several runs on one test set, the limits are.

    Examples
    --------
    >>> import skewanova as sa
    >>> table = sa.decision.ranking(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> table["rank"].tolist()
    [1, 2, 3]
    """
    check_fraction(alpha, "alpha")
    return ranking_of(evaluation, decisions(evaluation, rng=rng), letters=letters, alpha=alpha)


def ranking_of(
    evaluation: Evaluation, promised: pd.DataFrame, *, letters: Mapping[str, str] | None, alpha: float
) -> pd.DataFrame:
    """Return the ranking, from the frame of :func:`decisions`."""
    measures = evaluation.ordered(ranking_order(evaluation))
    groups = measures.iauprec.groupby("model", sort=False, observed=True)
    mean, std, n_folds = (groups["iauprec"].agg(how).to_numpy() for how in ("mean", "std", "count"))
    ratio, halves = measures.design.ratio, measures.iauprec_between_halves
    over_folds = np.where(measures.design.has_runs, np.nan, std)  # of runs it is not all
    result = fold_mean_interval(mean, over_folds, n_folds, ratio=ratio, level=1 - alpha, halves=halves)
    interval = result.clipped()
    return pd.DataFrame(
        {
            "rank": np.arange(1, len(mean) + 1),
            "model": measures.models,
            "iauprec": mean,
            "std": std,
            "conf_low": interval.low,
            "conf_high": interval.high,
            "group": [(letters or {}).get(model, "") for model in measures.models],
            "auc": groups["auc"].mean().to_numpy(),
            "rarest_prior": measures.deployment_prior.low,
            **promised[["auprec_at_rarest", "expected_regret", "max_regret", "p_best"]],
        }
    )


def decisions(evaluation: Evaluation, *, rng: Seed = 0) -> pd.DataFrame:
    """Compute what every model promises and risks over the deployment prior.

    Parameters
    ----------
    evaluation : Evaluation
        The measured models.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws behind p_best.

    Returns
    -------
    DataFrame
        One row a model, the largest expected AUPREC first, with its name in ``model`` and the columns:

        * ``expected_auprec``: mean AUPREC over the deployment prior (IAUPREC);
        * ``shrunken``: the same drawn towards the mean of all models (Efron and Morris 1975), from four on;
        * ``worst_auprec``: its minimum over the deployment prior, reached at ``worst_prior``;
        * ``expected_regret``, ``max_regret``: mean and largest shortfall from the best model at each prior;
        * ``p_best``: probability that the model has the largest expected AUPREC in truth, from the spread
          over ``p_best_over``: folds, or cases where there is one fold;
        * ``auprec_at_rarest``, ``auprec_commonest``: AUPREC at either end of the deployment prior,
          ``sensitivity`` their difference, and ``loss_per_tenfold`` that for each ten-fold of the skew (at a
          single prior, by the slope there).

    Notes
    -----
    The range of a beta weighting is that between its 0.1 % and 99.9 % quantiles; a discrete weighting has no
    priors between its own. P(best) is a posterior probability under a normal distribution of the models' true
    values with unknown spread: from folds for new folds of such data (and new training sets), from cases for
    new cases of these fitted models.

    Examples
    --------
    >>> import skewanova as sa
    >>> table = sa.decision.decisions(sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2)))
    >>> table[["model", "expected_auprec", "max_regret"]].round(3).values.tolist()
    [['A', 0.772, 0.0], ['C', 0.749, 0.028], ['B', 0.597, 0.195]]
    """
    measures = evaluation.ordered(ranking_order(evaluation))
    weighting, curves = measures.deployment_prior, mean_curves(measures)
    expected, largest = _regrets(measures, curves)
    spread = iauprec_covariance(measures)
    p_best = shrunken = np.full(len(measures.models), np.nan)
    if spread is not None:
        estimate, covariance, df = spread
        p_best = probability_best(estimate, covariance, df=df, rng=rng)
        shrunken = shrink_estimates(estimate, covariance, df)
    over = "folds" if len(measures.folds) > 1 else "cases"
    worst, worst_prior = _worst(measures, curves)
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
            "p_best_over": np.where(np.isnan(p_best), "", over),
            "auprec_at_rarest": ends[:, 0],
            "auprec_commonest": ends[:, 1],
            "sensitivity": ends[:, 1] - ends[:, 0],
            "loss_per_tenfold": _decline_per_decade(ends, weighting.low, weighting.high, curves),
        }
    )


def _worst(measures: Evaluation, curves: MeanCurves) -> tuple[Floats, Floats]:
    """Return the smallest mean AUPREC over the deployment prior, and the prior there."""
    weighting = measures.deployment_prior
    if isinstance(weighting, DiscretePrior):
        priors, weights = weighting.quadrature()
        priors = np.sort(priors[weights > 0])
        values = measures.mean_auprec(priors)
        return values.min(axis=1), priors[is_maximum(-values).argmax(axis=1)]
    minima = [curves.smallest(i, weighting.low, weighting.high) for i in range(len(measures.models))]
    return np.array([value for value, _ in minima]), np.array([prior for _, prior in minima])


def _decline_per_decade(ends: Floats, low: float, high: float, curves: MeanCurves) -> Floats:
    """Return AUPREC lost for each ten-fold of the skew, between the ends of the deployment prior."""
    if low == high:
        return np.asarray(curves.slope(low) * np.log(10))
    decades = np.log10((1 - low) / low) - np.log10((1 - high) / high)
    return np.asarray((ends[:, 1] - ends[:, 0]) / decades)


def _regrets(measures: Evaluation, curves: MeanCurves) -> tuple[Floats, Floats]:
    """Return the mean and largest shortfall from the best model, over the deployment prior."""
    weighting, regions = measures.deployment_prior, curves.regions()
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


def shrink_estimates(estimate: Floats, covariance: Floats, df: float) -> Floats:
    """Shrink estimates towards their mean (Efron and Morris 1975); nan with fewer than four models.

    They retain 1 - (K - 3) v / S, at least 0, of K models with the sum of squares S about their mean; v is
    the mean error variance of contrasts, times df / (df + 2) where it is estimated.
    """
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
