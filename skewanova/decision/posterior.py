"""Posterior of the models' true values: the probability of being best, and the value of more data.

The true values of the leading models have a common
normal prior, whose standard deviation has a half-Cauchy prior on the scale of the standard errors (Gelman
2006); the values of the other models have a flat prior. The number of leading models is the one with the
smallest probability for the first model. A flat prior for all models, or a bootstrap of folds, is
overconfident for models that are nearly equal (studies/records/decisions.md). A covariance from few folds is
shrunk towards equal variances of all contrasts, which count for one degree of freedom each.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.linalg import helmert

from skewanova.base.checks import Floats, InputError, Seed, check_choice, check_not_negative, make_generator
from skewanova.base.frames import FrameResult
from skewanova.base.rounding import TIE, argsort_descending
from skewanova.base.text import SCREEN_WIDTH, format_number, shorten_names, wrap_lines
from skewanova.decision.joint_curves import iauprec_covariance
from skewanova.evaluation.measures import Evaluation, check_evaluation
from skewanova.inference.fold_statistics import fraction_best
from skewanova.inference.paired_test_set import get_test_set

#: Number of draws from the posterior.
N_DRAWS = 9999


#: Grid sizes: prior quantiles of the spread between models, and of the scale of an estimated covariance.
N_SPREADS, N_SCALES = 200, 40


def probability_best(
    estimate: Floats, covariance: Floats, *, df: float, n_draws: int = N_DRAWS, rng: Seed = 0
) -> Floats:
    """Return posterior probabilities (n_models,) of the largest true value; models that always tie share."""
    return fraction_best(draw_posterior(estimate, covariance, df=df, n_draws=n_draws, rng=rng))


def draw_posterior(
    estimate: Floats, covariance: Floats, *, df: float, n_draws: int = N_DRAWS, rng: Seed = 0
) -> Floats:
    """Draw true values (n_draws, n_models) from the posterior; only their differences are meaningful."""
    order = argsort_descending(estimate)
    ranked, ranked_covariance = estimate[order], covariance[np.ix_(order, order)]
    seed = make_generator(rng).integers(2**63)
    duplicates = _index_first_duplicates(ranked, ranked_covariance)
    draw = partial(_draw_true_values, ranked, ranked_covariance, df=df, n_draws=n_draws)
    draws = (draw(n, rng=np.random.default_rng(seed))[:, duplicates] for n in _leading_counts(ranked))
    least_certain = min(draws, key=lambda values: float(fraction_best(values)[0]))
    return least_certain[:, np.argsort(order)]


def expected_losses(draws: Floats) -> Floats:
    """Return each model's mean shortfall from the best over draws (n_draws, n_models); the least is EVPI."""
    return np.asarray((draws.max(axis=1, keepdims=True) - draws).mean(axis=0))


def expected_gains(draws: Floats, covariance: Floats, variance_ratios: Floats) -> Floats:
    """Return the EVSI (n_ratios,) of data that multiply the estimates' covariance by each ratio; 0 at 1."""
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
    """Return numbers of leading models to try (2, 3, 4, 6, 9, ..., all) that separate no equal estimates."""
    counts = [2]
    while counts[-1] < len(ranked):
        counts.append(counts[-1] + max(1, counts[-1] // 2))
    return [*(n for n in counts if n < len(ranked) and ranked[n - 1] - ranked[n] > TIE), len(ranked)]


def _draw_true_values(
    estimate: Floats, covariance: Floats, n_leading: int, *, df: float, n_draws: int, rng: np.random.Generator
) -> Floats:
    """Draw true values (n_draws, n_models) from the posterior, less the mean of the first `n_leading`."""
    leading = slice(n_leading)
    variances, axes, observed = _orthogonal_contrasts(estimate[leading], covariance[leading, leading])
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
    """Return variances (n,), axes (n, n_models), values (n,) of uncorrelated contrasts, unless both are 0."""
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
            f"Twice the {self.n_now:,} {self.unit} would gain {format_number(double, 4)} of it on average.",
        ]
        if self._table["cost"].any():
            number = f"about {self.n_worth:,}" if self.n_worth else "no"
            lines.append(f"At the stated cost, {number} more {self.unit} are worth it.")
        return wrap_lines(lines, SCREEN_WIDTH)


def value_of_information(
    evaluation: Evaluation, *, unit: str = "cases", unit_cost: float = 0.0, rng: Seed = 0
) -> ValueOfInformation:
    """Compute how much IAUPREC more data would gain on average by a better choice of model.

    Use it to decide if a larger study is worth its cost. It assumes the posterior of :func:`decision_table`,
    which shrinks models towards each other: between models that differ clearly, the gain is understated.

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
    check_not_negative(unit_cost, "unit_cost", what="an area that one unit costs, 0 or more", largest=1.0)
    resampled = len(measures.folds) > 1 and measures.halvings is None
    check_choice(unit, ("cases", "folds")[: 1 + resampled], "unit")
    spread = None if design.has_runs else iauprec_covariance(measures)
    if spread is None:
        needs = "every model in every fold; score the models that lack one, or leave that fold out"
        if design.has_runs:
            plan = "plan runs by skewanova.plan_comparison(scores), or `skewanova plan` without --cost-case"
            needs = f"a design without runs; {plan}"
        elif len(measures.folds) == 1:
            get_test_set(measures)  # which raises unless it has the cases of all models
            needs = "several cases or clusters of each class; add some"
        raise InputError(f"the value of more data needs {needs}")
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
