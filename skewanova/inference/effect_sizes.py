"""Effect sizes with intervals, tests of practical equivalence, and mean effects over studies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special, stats
from scipy.optimize import brentq

from skewanova.base.checks import Floats, check_alpha, check_choice, check_rope
from skewanova.evaluation.measures import Evaluation, half_differences, resolve_ratio
from skewanova.inference import fold_statistics
from skewanova.inference.catalogue import ADJUSTMENTS
from skewanova.inference.fold_statistics import MAX_NORMAL, deviation_nodes, pair_indices
from skewanova.inference.pairwise import adjust_p_values, build_ordered_table, orient_to_control
from skewanova.priors.quadrature import gauss_nodes

#: With so many nodes of the deviation, t up to this many of its standard deviations is integrated over them.
MAX_DEVIATIONS, MIN_NODES = 3.0, 96


#: Bisections of the range of a noncentrality, down to the last digits.
N_BISECTIONS = 60


def effects(
    iauprec: Evaluation | pd.DataFrame,
    *,
    alpha: float = 0.05,
    control: str | None = None,
    ratio: float | None = None,
    order: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Estimate the effect size of every pair, the difference of mean IAUPREC in standard deviations.

    Parameters
    ----------
    iauprec : Evaluation or DataFrame
        Every model in every fold; a frame has the columns model, fold, iauprec, and no design.
    alpha : float, default 0.05
        Each interval is at level ``1 - alpha``.
    control : str, optional
        Model that is subtracted from each other model; by default all pairs are compared.
    ratio : float, optional
        Test cases for each training case, needed where a frame is given; 0 for independent folds.
    order : sequence of str, optional
        As for :func:`posthoc`.

    Returns
    -------
    DataFrame
        Columns model_a, model_b, estimate, std_error, df, conf_low, conf_high; ``effect``, the difference
        over its standard deviation in a fold, nan where it does not vary; its limits effect_low, effect_high.

    Raises
    ------
    ValueError
        If the table is incomplete, an option is out of range, or a frame is given without `ratio`.

    Notes
    -----
    The deviation s of folds that share training data estimates the standard deviation times
    ``sqrt(1 - rho)``, rho = r / (1 + r) (Nadeau and Bengio 2003): the effect is
    ``difference / (s sqrt(1 + r))``, with halvings over ``sqrt(s^2 + V)``. Its interval is that of the
    noncentrality of the corrected t (Steiger and Fouladi 1997).

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.inference.effects(measures)[["effect", "effect_low", "effect_high"]].round(2).to_numpy().tolist()
    [[0.48, -0.5, 1.44], [0.87, -0.14, 1.86], [0.71, -0.28, 1.69]]
    """
    check_alpha(alpha)
    values, pairs = paired_t_table(iauprec, ratio=ratio, order=order, needed="an effect size")
    variance = fold_statistics.paired_t(values).std_error ** 2 * len(values)
    one_fold = pairs["std_error"] ** 2 + variance * (1 - 1 / len(values))  # s^2 (1 + ratio) without halvings
    return add_effect_sizes(pairs.assign(spread=np.sqrt(one_fold)), alpha=alpha, control=control)


def equivalence(
    iauprec: Evaluation | pd.DataFrame,
    *,
    rope: float = 0.01,
    alpha: float = 0.05,
    p_adjust: str = "holm",
    control: str | None = None,
    ratio: float | None = None,
    order: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Test practical equality of models by two one-sided t tests and the Bayesian correlated t test.

    Parameters
    ----------
    iauprec, control, ratio, order
        As for :func:`effects`.
    rope : float, default 0.01
        Half-width of the region of practical equivalence, the largest irrelevant difference of IAUPREC.
    alpha : float, default 0.05
        Family-wise level of the claims that pairs are practically equal.
    p_adjust : {"holm", "bonferroni", "hochberg", "bh"}, default "holm"
        Adjustment of the p-values.

    Returns
    -------
    DataFrame
        Columns model_a, model_b, rope; p_a_ahead, p_equal, p_b_ahead, which sum to 1; p_value and p_adjusted
        of the two one-sided tests that the difference lies within `rope`; equivalent (p_adjusted < `alpha`).

    Raises
    ------
    ValueError
        If the table is incomplete, `rope` is negative, or a frame is given without `ratio`.

    Notes
    -----
    The posterior of a difference is the t distribution of its corrected or split-half test (Corani and
    Benavoli 2015). The p-value of a one-sided test (Schuirmann 1987) is the posterior probability of its null
    hypothesis.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.inference.equivalence(measures, rope=0.02)[["p_equal", "p_value"]].round(2).to_numpy().tolist()
    [[0.39, 0.56], [0.03, 0.93], [0.05, 0.89]]
    """
    check_rope(rope, of_areas=isinstance(iauprec, Evaluation))
    check_alpha(alpha)
    check_choice(p_adjust, ADJUSTMENTS, "p_adjust")
    _, pairs = paired_t_table(iauprec, ratio=ratio, order=order, needed="the correlated t test")
    estimate, std_error, statistic = pairs[["estimate", "std_error", "statistic"]].to_numpy().T
    certain = std_error == 0  # all of the posterior on the estimate
    estimate = np.where(np.isnan(statistic), 0.0, estimate)
    posterior = stats.t(pairs["df"].to_numpy(), loc=estimate, scale=np.where(certain, 1.0, std_error))
    ahead = np.where(certain, estimate > rope, posterior.sf(rope))
    behind = np.where(certain, estimate < -rope, posterior.cdf(-rope))
    return add_equivalence_tests(
        pairs, ahead, behind, rope=rope, alpha=alpha, p_adjust=p_adjust, control=control
    )


def add_equivalence_tests(
    pairs: pd.DataFrame,
    ahead: Floats,
    behind: Floats,
    *,
    rope: float,
    alpha: float,
    p_adjust: str = "holm",
    control: str | None = None,
) -> pd.DataFrame:
    """Return model_a, model_b, rope, p_a_ahead, p_equal, p_b_ahead, p_value, p_adjusted, equivalent.

    `ahead`, `behind`: P(model_a is so by over `rope`); p_value is the larger; with `control`, its pairs only.
    """
    equal = np.maximum(1 - ahead - behind, 0)
    posterior = pairs[["model_a", "model_b"]].assign(
        rope=rope, p_a_ahead=ahead, p_equal=equal, p_b_ahead=behind
    )
    chosen = posterior if control is None else orient_to_control(posterior, control)
    p_value = chosen[["p_a_ahead", "p_b_ahead"]].max(axis=1, skipna=False).to_numpy(dtype=np.float64)
    p_adjusted = adjust_p_values(p_value, p_adjust)  # Berger and Hsu 1996
    return chosen.assign(p_value=p_value, p_adjusted=p_adjusted, equivalent=p_adjusted < alpha)


def paired_t_table(
    iauprec: Evaluation | pd.DataFrame, *, ratio: float | None, order: Sequence[str] | None, needed: str
) -> tuple[Floats, pd.DataFrame]:
    """Return IAUPREC (n_folds, n_models), and pairs: model_a, model_b, estimate, std_error, statistic, df."""
    frame, ratio = resolve_ratio(iauprec, "iauprec", ratio, needed=needed)
    values, models = build_ordered_table(frame, order)
    halves = half_differences(iauprec, models)
    tests = fold_statistics.paired_t(values, inflation=1 + len(values) * ratio, halves=halves)
    a, b = pair_indices(len(models))
    names = {"model_a": [models[i] for i in a], "model_b": [models[i] for i in b]}
    df = float(fold_statistics.mean_df(values, halves))
    return values, pd.DataFrame({**names, **tests._asdict(), "df": df})


def add_effect_sizes(pairs: pd.DataFrame, *, alpha: float, control: str | None = None) -> pd.DataFrame:
    """Return pairs (of `control`) with limits, effect, its limits, nan if constant; no statistic, spread."""
    chosen = pairs if control is None else orient_to_control(pairs, control)
    columns = ("estimate", "std_error", "df", "statistic", "spread")
    estimate, error, df, statistic, spread = (chosen[c].to_numpy(dtype=np.float64) for c in columns)
    varies = (error > 0) & np.isfinite(statistic)
    half_width = np.where(varies, special.stdtrit(df, 1 - alpha / 2) * error, np.nan)
    limits = np.full((2, len(chosen)), np.nan)
    limits[:, varies] = noncentrality_limits(statistic[varies], df[varies], alpha / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(varies, error / spread, np.nan)
    return chosen.assign(
        conf_low=estimate - half_width,
        conf_high=estimate + half_width,
        effect=statistic * scale,
        effect_low=limits[0] * scale,
        effect_high=limits[1] * scale,
    ).drop(columns=["statistic", "spread"])


def noncentrality_limits(statistic: Floats, df: Floats, tail: float) -> Floats:
    """Return low and high limits (2, n) of the noncentrality of t, `tail` the probability beyond each."""
    limits = np.empty((len(statistic), 2))
    for each in np.unique(df).tolist():
        limits[df == each] = _bisect_noncentrality(np.abs(statistic[df == each]), each, tail)
    return np.asarray(np.where((statistic < 0)[:, None], -limits[:, ::-1], limits).T)


def _bisect_noncentrality(t: Floats, df: float, tail: float) -> Floats:
    """Return low and high limits (n, 2) of the noncentrality of nonnegative t, by bisection."""
    largest, target = deviation_nodes(df)[0].max(), np.array([1 - tail, tail])
    low = np.full((len(t), 2), -MAX_NORMAL)
    high = np.broadcast_to(t[:, None] * largest + MAX_NORMAL, low.shape)
    for _ in range(N_BISECTIONS):
        middle = (low + high) / 2
        above = _noncentral_t_cdf(t, df, middle) > target
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)


def _noncentral_t_cdf(t: Floats, df: float, shift: Floats) -> Floats:
    """Return P(T <= t) (n, 2) of noncentral t, for the noncentralities `shift` (n, 2)."""
    # over S where the nodes are close enough for its normal tail, else over Z, as the tail of S is wide then;
    # scipy's noncentral t loses its digits, and takes seconds, from t of 10,000 on: models that hardly vary
    node, weight = deviation_nodes(df)
    normal, density = gauss_nodes("hermite_e", 80)
    close, probability = t <= MAX_DEVIATIONS * len(node) / MIN_NODES * np.sqrt(2 * df), np.empty(shift.shape)
    probability[close] = special.ndtr(t[close, None, None] * node - shift[close, :, None]) @ weight
    bound = np.maximum(shift[~close, :, None] + normal, 0.0) / t[~close, None, None]
    probability[~close] = special.chdtrc(df, df * bound**2) @ (density / density.sum())
    return probability


class MetaAnalysis(NamedTuple):
    """Mean effect over studies, and how much the studies differ beyond their errors."""

    estimate: float
    std_error: float
    df: int
    statistic: float
    p_value: float
    tau: float
    q: float
    q_p_value: float
    i_sq: float


def estimate_mean_effect(effects: Floats, variances: Floats, *, robust: bool = True) -> MetaAnalysis:
    """Return a random-effects meta-analysis by t on k - 1 df; nan but for mean and df if a variance is 0.

    If `robust`, the standard error is the larger of the usual one and HC2's.
    """
    # With Paule and Mandel's (1982) variance, Hartung and Knapp's (2001) error equals the ordinary one.
    # Both take weights for exact, so the larger of it and the robust one is used (Sidik and Jonkman 2006).
    # Without `robust` .07 of tables are rejected at .05 (studies/records/datasets.md).
    df = len(effects) - 1
    if not (variances > 0).all():
        return MetaAnalysis(float(effects.mean()), np.nan, df, *[np.nan] * 6)
    between = _paule_mandel_variance(effects, variances)
    weight = 1 / (variances + between)
    estimate, share = float(weight @ effects / weight.sum()), weight / weight.sum()
    std_error = float(weight.sum() ** -0.5)
    if robust:  # HC2; a study with all of the weight has no residual
        residual, rest = effects - estimate, np.maximum(1 - share, np.finfo(float).tiny)
        std_error = max(std_error, float(np.sqrt((share**2 * residual**2 / rest).sum())))
    statistic, q = estimate / std_error, _cochran_q(effects, 1 / variances)
    p_value, q_p_value = float(2 * special.stdtr(df, -abs(statistic))), float(special.chdtrc(df, q))
    tau, i_sq = float(np.sqrt(between)), float(between / (between + _typical_variance(variances)))
    return MetaAnalysis(estimate, std_error, df, statistic, p_value, tau, q, q_p_value, i_sq)


def _cochran_q(effects: Floats, weight: Floats) -> float:
    """Return the weighted sum of squares about the weighted mean (Cochran 1954)."""
    mean = weight @ effects / weight.sum()
    return float(weight @ (effects - mean) ** 2)


def _paule_mandel_variance(effects: Floats, variances: Floats) -> float:
    """Return the variance between studies at which Cochran's Q equals k - 1, 0 if Q is always below."""
    df = len(effects) - 1

    def excess(between: float) -> float:
        return _cochran_q(effects, 1 / (variances + between)) - df

    if excess(0.0) <= 0:
        return 0.0
    high = float(np.ptp(effects) ** 2 * len(effects))  # there, the sum is below (k - 1)
    return float(brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-14))


def _typical_variance(variances: Floats) -> float:
    """Return Higgins and Thompson's (2002) variance (k - 1) sum(w) / (sum(w)^2 - sum(w^2)), w = 1 / v."""
    # the square of the sum less the sum of squares is rounding where one study has nearly all the weight
    least = variances.min()
    weight = least / variances
    before, after = np.append(0.0, weight[:-1]), np.append(weight[1:], 0.0)
    others = np.cumsum(before) + np.cumsum(after[::-1])[::-1]
    return float((len(weight) - 1) * weight.sum() / (weight @ others) * least)
