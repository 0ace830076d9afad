"""Ranking, decision table, choice of a model, and the probability that each model is best.

The probability of being best is a posterior probability. The true values of the leading models have a common
normal prior, whose standard deviation has a half-Cauchy prior on the scale of the standard errors (Gelman
2006); the values of the other models have a flat prior. The number of leading models is the one with the
smallest probability for the first model. A flat prior for all models, or a bootstrap of folds, is
overconfident for models that are nearly equal (docs/studies/decisions.md). A covariance from few folds is
shrunk towards equal variances of all contrasts, which count for one degree of freedom each.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import helmert

from skewanova.base.checks import (
    Floats,
    InputError,
    Seed,
    check_alpha,
    check_choice,
    check_not_negative,
    make_generator,
)
from skewanova.base.frames import FrameResult
from skewanova.base.rounding import TIE, argsort_descending, is_maximum
from skewanova.base.text import SCREEN_WIDTH, format_number, shorten_names, wrap_lines
from skewanova.curves.chebyshev import MeanCurves
from skewanova.decision.joint_curves import iauprec_covariance, mean_curves
from skewanova.evaluation.measures import Evaluation, check_evaluation
from skewanova.inference.anova import check_columns
from skewanova.inference.fold_statistics import fraction_best
from skewanova.priors.weightings import DiscretePrior, typical_prior
from skewanova.scores.design import fold_mean_interval

#: Number of draws from the posterior.
N_DRAWS = 9999


#: Grid sizes: prior quantiles of the spread between models, and of the scale of an estimated covariance.
N_SPREADS, N_SCALES = 200, 40


def probability_best(
    estimate: Floats, covariance: Floats, *, df: float, n_draws: int = N_DRAWS, rng: Seed = 0
) -> Floats:
    """Return the posterior probability (n_models,) that each model has the largest true value.

    The covariance has `df` degrees of freedom, infinite if known. Models that never differ share theirs.
    """
    return fraction_best(draw_posterior(estimate, covariance, df=df, n_draws=n_draws, rng=rng))


def draw_posterior(
    estimate: Floats, covariance: Floats, *, df: float, n_draws: int = N_DRAWS, rng: Seed = 0
) -> Floats:
    """Draw true values (n_draws, n_models) from the posterior; only their differences are meaningful."""
    order = argsort_descending(estimate)
    ranked, ranked_covariance = estimate[order], covariance[np.ix_(order, order)]
    seed = make_generator(rng).integers(2**63)
    duplicates = _index_first_duplicates(ranked, ranked_covariance)
    draws = (
        _draw_true_values(
            ranked, ranked_covariance, n_leading, df=df, n_draws=n_draws, rng=np.random.default_rng(seed)
        )[:, duplicates]
        for n_leading in _leading_counts(ranked)
    )
    least_certain = min(draws, key=lambda values: float(fraction_best(values)[0]))
    return least_certain[:, np.argsort(order)]


def expected_losses(draws: Floats) -> Floats:
    """Return each model's mean shortfall from the best over draws (n_draws, n_models); the least is EVPI."""
    return np.asarray((draws.max(axis=1, keepdims=True) - draws).mean(axis=0))


def expected_gains(draws: Floats, covariance: Floats, variance_ratios: Floats) -> Floats:
    """Return the EVSI (n_ratios,) of studies that multiply the covariance of the estimates by each ratio."""
    # Deviations of the draws are rescaled to the preposterior covariance, in the axes in which the posterior
    # precision is a multiple of that of the data (moment matching, Jalal and Alarid-Escudero 2018).
    mean = draws.mean(axis=0)
    variances, axes, _ = _orthogonal_contrasts(mean, covariance)
    axes, size = axes[variances > 0], np.sqrt(variances[variances > 0])
    deviations = (draws - mean) @ axes.T / size
    shares, vectors = np.linalg.eigh(np.atleast_2d(deviations.T @ deviations / len(draws)))
    turned, back = deviations @ vectors, (vectors.T * size) @ axes
    gains = []
    for added in shares * (1 / variance_ratios - 1)[:, None]:
        values = mean + (turned * np.sqrt(added / (1 + added))) @ back
        gains.append(values.max(axis=1).mean() - mean.max())
    return np.asarray(gains)


def _index_first_duplicates(estimate: Floats, covariance: Floats) -> NDArray[np.intp]:
    """Return for every model the index of the first model (maybe itself) that equals it up to rounding."""
    size = np.diag(covariance)[:, None] + np.diag(covariance)
    same = (size - 2 * covariance <= TIE * size) & (np.abs(estimate[:, None] - estimate) <= TIE)
    return np.asarray(same.argmax(axis=1))


def _leading_counts(ranked: Floats) -> list[int]:
    """Return numbers of leading models to try (2, 3, 4, 6, ..., all) that separate no equal estimates."""
    counts = [2]
    while counts[-1] < len(ranked):
        counts.append(counts[-1] + max(1, counts[-1] // 2))
    return [*(n for n in counts if n < len(ranked) and ranked[n - 1] - ranked[n] > TIE), len(ranked)]


def _draw_true_values(
    estimate: Floats,
    covariance: Floats,
    n_leading: int,
    *,
    df: float,
    n_draws: int,
    rng: np.random.Generator,
) -> Floats:
    """Draw true values (n_draws, n_models) from the posterior, less the mean of the first `n_leading`."""
    variances, axes, observed = _orthogonal_contrasts(
        estimate[:n_leading], covariance[:n_leading, :n_leading]
    )
    if variances.any():
        pooled = len(variances) / (len(variances) + df)
        variances = (1 - pooled) * variances + pooled * variances.mean()
    noise = rng.standard_normal((n_draws, len(estimate)))
    # noise is drawn by model and then rotated, because the signs of the axes are arbitrary
    leading_noise, other_noise = noise[:, :n_leading] @ axes.T, noise[:, n_leading:]
    spread, scale = _spread_and_scale_grid(float(np.sqrt(variances.mean())) if variances.any() else 1.0, df)
    error = scale[:, None] * variances  # (n_points, n_contrasts)
    total = error + spread[:, None] ** 2
    log_likelihood = -0.5 * (np.log(total) + observed**2 / total).sum(axis=1)
    weight = np.exp(log_likelihood - log_likelihood.max())
    point = rng.choice(len(weight), size=n_draws, p=weight / weight.sum())
    retained = 1 - error[point] / total[point]
    contrasts = retained * observed + np.sqrt(retained * error[point]) * leading_noise
    slope, root = _regress_on_leading(covariance, variances, axes)
    others = estimate[n_leading:] - estimate[:n_leading].mean() + (contrasts - observed) @ slope.T
    return np.hstack([contrasts @ axes, others + np.sqrt(scale[point])[:, None] * (other_noise @ root)])


def _regress_on_leading(covariance: Floats, variances: Floats, axes: Floats) -> tuple[Floats, Floats]:
    """Return slopes (n_others, n_contrasts) and a residual root (n_others, n_others).

    They regress the other models, less the mean of the leading ones, on contrasts of the leading ones.
    """
    n, n_leading = len(covariance), axes.shape[1]
    others = np.eye(n)[n_leading:]
    others[:, :n_leading] = -1 / n_leading
    shared = others @ covariance[:, :n_leading] @ axes.T
    slope = np.divide(shared, variances, out=np.zeros_like(shared), where=variances > 0)
    residual, vectors = np.linalg.eigh(others @ covariance @ others.T - slope @ shared.T)
    residual = np.where(residual <= TIE * np.trace(covariance), 0.0, residual)  # identical models stay so
    return slope, (vectors * np.sqrt(residual)) @ vectors.T


def _orthogonal_contrasts(estimate: Floats, covariance: Floats) -> tuple[Floats, Floats, Floats]:
    """Return variances (n,), axes (n, n_models) and values (n,) of uncorrelated contrasts that are not 0."""
    contrasts = helmert(len(estimate))
    variances, vectors = np.linalg.eigh(contrasts @ covariance @ contrasts.T)
    variances = np.where(variances <= TIE * np.trace(covariance), 0.0, variances)
    axes = vectors.T @ contrasts
    observed = axes @ estimate
    informative = (variances > 0) | (np.abs(observed) > TIE)
    return variances[informative], axes[informative], observed[informative]


def _spread_and_scale_grid(size: float, df: float) -> tuple[Floats, Floats]:
    """Return equally likely spreads (half-Cauchy, times `size`) and covariance scales (df / chi2), flat."""
    spread = size * np.tan(np.pi / 2 * (np.arange(N_SPREADS) + 0.5) / N_SPREADS)
    level = (np.arange(N_SCALES) + 0.5) / N_SCALES
    scale = df / stats.chi2.isf(level, df) if np.isfinite(df) else np.ones(1)
    spreads, scales = np.meshgrid(spread, scale)
    return spreads.ravel(), scales.ravel()


#: With fewer models, shrinkage does not reduce the squared error (Stein 1956).
MIN_MODELS_TO_SHRINK = 4


#: Sizes of further data, as factors of the present size, at which their value is computed.
GROWTH = np.geomspace(0.01, 100, 41)


@dataclass(frozen=True, eq=False)
class ValueOfInformation(FrameResult):
    """Expected value of more data, in units of IAUPREC.

    Attributes
    ----------
    model, evpi : str, float
        Model to choose now, and its expected shortfall from the truly best one (the expected value of perfect
        information).
    unit, n_now : str, int
        Cases, clusters or folds, and their present number.
    n_worth : int
        Further units that maximise the gain less their cost; 0 if none pays or no cost is stated.
    """

    model: str
    evpi: float
    unit: str
    n_now: int
    n_worth: int
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return a row for each number of further units: n_more, n_total, evsi, cost, net_gain (IAUPREC)."""
        return self._table.copy()

    def summary(self) -> str:
        """Return sentences on the EVPI, on twice the data and on what pays, in at most 80 columns."""
        double = np.interp(self.n_now, self._table["n_more"], self._table["evsi"])
        name, loss = shorten_names([self.model])[self.model], format_number(self.evpi, 4)
        lines = [
            f"Choosing {name} now loses {loss} IAUPREC on average (EVPI).",
            f"Twice the {self.n_now} {self.unit} would gain {format_number(double, 4)} of it.",
        ]
        if self._table["cost"].any():
            pays = f"{self.n_worth} more {self.unit} pay best" if self.n_worth else f"no more {self.unit} pay"
            lines.append(f"At the stated cost {pays}.")
        return wrap_lines(lines, SCREEN_WIDTH)


def value_of_information(
    evaluation: Evaluation, *, unit: str = "cases", unit_cost: float = 0.0, rng: Seed = 0
) -> ValueOfInformation:
    """Compute how much IAUPREC more data would gain on average by a better choice of model.

    Use it to decide if a larger study is worth its cost. It assumes the posterior of :func:`decision_table`,
    which shrinks models towards each other, so near ties promise little.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluated models.
    unit : str, default "cases"
        What more data consist of: cases (clusters, if the table names them) or folds of the same data.
    unit_cost : float, default 0
        Cost of one unit in IAUPREC: its price over what a gain of 1 in IAUPREC is worth.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the posterior draws.

    Returns
    -------
    ValueOfInformation
        The expected value of perfect information (EVPI), and of further data (EVSI) by their number.

    Raises
    ------
    ValueError
        If an option is out of range, the covariance of the models is unknown, or a design of runs or random
        halves has no such unit.

    Notes
    -----
    EVPI = E[max_k theta_k] - max_k E[theta_k]. EVSI replaces theta by its posterior mean given further data,
    whose covariance is matched (Jalal and Alarid-Escudero 2018). The variance is inversely proportional to
    cases; n more folds multiply it by ``(1/(J+n) + r) / (1/J + r)``, r the ratio of test to training cases.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> value = sa.decision.value_of_information(measures, unit_cost=1e-7)
    >>> value.model, round(value.evpi, 4), value.n_now
    ('A', 0.0067, 6362)
    """
    measures, design = check_evaluation(evaluation), evaluation.design
    check_not_negative(unit_cost, "unit_cost", what="an area that one unit may cost", largest=1.0)
    resampled = len(measures.folds) > 1 and measures.halvings is None
    check_choice(unit, ("cases", "folds")[: 1 + resampled], "unit")
    spread = None if design.has_runs else iauprec_covariance(measures)
    if spread is None:
        raise InputError(
            "the value of more data needs the covariance of the models over folds or cases of one design "
            "without runs; plan runs by skewanova.plan_comparison(scores)"
        )
    estimate, covariance, df = spread
    draws = draw_posterior(estimate, covariance, df=df, rng=rng)
    losses = expected_losses(draws)
    n_cases = design.n_clusters or round(measures.support.n_negative + measures.support.n_positive)
    n_now, fixed = (n_cases, 0.0) if unit == "cases" else (len(measures.folds), design.ratio)
    n_more = np.unique(np.ceil(n_now * GROWTH)).astype(int)
    evsi = expected_gains(draws, covariance, (1 / (n_now + n_more) + fixed) / (1 / n_now + fixed))
    net = evsi - unit_cost * n_more
    columns = {"n_more": n_more, "n_total": n_now + n_more, "evsi": evsi, "cost": unit_cost * n_more}
    return ValueOfInformation(
        model=measures.models[int(losses.argmin())],
        evpi=float(losses.min()),
        unit=unit if unit == "folds" else design.units,
        n_now=n_now,
        n_worth=int(n_more[net.argmax()]) if unit_cost > 0 and net.max() > 0 else 0,
        _table=pd.DataFrame({**columns, "net_gain": net}),
    )


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
        ``runner_up``. Of equal models the first is chosen.

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
    evaluation: Evaluation,
    *,
    letters: Mapping[str, str] | None = None,
    alpha: float = 0.05,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Rank the models by mean IAUPREC, with intervals and the regret of choosing each.

    Parameters
    ----------
    evaluation : Evaluation
        The evaluated models.
    letters : mapping, optional
        Compact letter display of a post-hoc test, by model.
    alpha : float, default 0.05
        The intervals have the level ``1 - alpha``.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the posterior draws for p_best.

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
    return ranking_frame(evaluation, decision_table(evaluation, rng=rng), letters=letters, alpha=alpha)


def ranking_frame(
    evaluation: Evaluation, decisions: pd.DataFrame, *, letters: Mapping[str, str] | None, alpha: float
) -> pd.DataFrame:
    """Return the frame of :func:`rank_models`, given that of :func:`decision_table`.

    One row for each model by descending mean IAUPREC: rank, rank_low (1), rank_high (the last), model,
    iauprec, std, conf_low, conf_high, group (its letters), auc, rarest_prior and four columns of `decisions`.
    """
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
          expected shortfall from the truly best model;
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
    """Return each model's loss of AUPREC per tenfold skew between two priors; at one prior, by the slope."""
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
    """Shrink estimates (n_models,) towards their mean (Efron and Morris 1975); nan below four models.

    Deviations are multiplied by max(0, 1 - (K - 3) v / S) for K models with sum of squares S about the mean.
    The mean error variance v of contrasts is multiplied by df / (df + 2) if it is estimated.
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
