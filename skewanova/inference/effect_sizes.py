"""How large differences are: effect sizes with intervals, and tests of practical equivalence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import special, stats

from skewanova.base.checks import Floats, check_choice, check_fraction, check_rope
from skewanova.evaluation.measures import Evaluation, between_halves, with_ratio
from skewanova.inference import fold_statistics
from skewanova.inference.catalogue import ADJUSTMENTS
from skewanova.inference.fold_statistics import REACH, deviation_nodes, pair_indices
from skewanova.inference.pairwise import adjust_p_values, ordered_table, orient_to_control
from skewanova.priors.quadrature import gauss_nodes

EFFECT_COLUMNS = (
    "model_a",
    "model_b",
    "estimate",
    "std_error",
    "df",
    "conf_low",
    "conf_high",
    "effect",
    "effect_low",
    "effect_high",
)


#: Of so many nodes of the deviation, this many of its own standard deviations are as fine as a normal's.
CLOSE, MANY = 3.0, 96


#: Halvings of the range that holds a noncentrality: to the last digits.
HALVINGS = 60


#: Statistics whose limits are looked for together.
STATISTICS_AT_ONCE = 256


def effects(
    iauprec: Evaluation | pd.DataFrame,
    *,
    alpha: float = 0.05,
    control: str | None = None,
    ratio: float | None = None,
    order: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Effect size of every pair: the difference of mean IAUPREC, and the same in standard deviations.

    Parameters
    ----------
    iauprec : Evaluation or DataFrame
        Every model in every fold: an evaluation, which knows how its folds came about, or a frame with the
        columns model, fold, iauprec.
    alpha : float, default 0.05
        Each interval is at level ``1 - alpha`` by itself.
    control : str, optional
        Model that the others are compared with; by default all pairs are.
    ratio : float, optional
        Test cases for each training case, needed where a frame is given; 0 for independent folds.
    order : sequence of str, optional
        As for :func:`posthoc`.

    Returns
    -------
    DataFrame
        Columns of `EFFECT_COLUMNS`: the difference with its standard error, degrees of freedom and t
        interval; ``effect`` is the difference over the standard deviation that it has in one fold, and
        ``effect_low``, ``effect_high`` its interval. A difference that does not vary has no effect size.

    Raises
    ------
    ValueError
        If the table is incomplete, an option is out of range, or a frame is given without `ratio`.

    Notes
    -----
    Folds that share training data vary less among themselves than folds of new data would: their deviation s
    estimates the standard deviation times ``sqrt(1 - rho)``, so that with ``rho = r / (1 + r)`` (Nadeau and
    Bengio 2003) the effect is ``difference / (s sqrt(1 + r))``; with halvings ``sqrt(s^2 + V)`` takes the
    place of the deviation. The corrected t statistic is noncentral t, and the interval of its noncentrality,
    scaled like the effect, is that of the effect (Steiger and Fouladi 1997).

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import effects
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> effects(measures)[["effect", "effect_low", "effect_high"]].round(2).to_numpy().tolist()
    [[0.48, -0.5, 1.44], [0.87, -0.14, 1.86], [0.71, -0.28, 1.69]]
    """
    check_fraction(alpha, "alpha")
    values, pairs = paired_tests(iauprec, ratio=ratio, order=order, control=control, needed="an effect size")
    variance = fold_statistics.paired_t(values).std_error ** 2 * len(values)
    one_fold = pairs["std_error"] ** 2 + variance * (1 - 1 / len(values))  # s^2 (1 + ratio) without halvings
    return effect_family(pairs.assign(spread=np.sqrt(one_fold)), alpha=alpha, control=control)


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
    """Test whether models are practically equal: two one-sided t tests, and the Bayesian correlated t test.

    Parameters
    ----------
    iauprec : Evaluation or DataFrame
        Every model in every fold: an evaluation, which knows how its folds came about, or a frame with the
        columns model, fold, iauprec.
    rope : float, default 0.01
        Half-width of the region of practical equivalence: differences of IAUPREC that would not matter.
    alpha : float, default 0.05
        Family-wise level of the claims that pairs are practically equal.
    p_adjust : {"holm", "bonferroni", "hochberg", "bh"}, default "holm"
        How their p-values are adjusted.
    control : str, optional
        Model that the others are compared with; by default all pairs are.
    ratio : float, optional
        Test cases for each training case, needed where a frame is given; 0 for independent folds.
    order : sequence of str, optional
        As for :func:`posthoc`.

    Returns
    -------
    DataFrame
        Columns model_a, model_b, rope; p_a_ahead, p_equal, p_b_ahead, the probabilities, which sum to 1 in
        each row; p_value and p_adjusted of the two one-sided tests that the difference lies within `rope`,
        and equivalent, whether the latter is below `alpha`.

    Raises
    ------
    ValueError
        If the table is incomplete, `rope` is negative, or a frame is given without `ratio`.

    Notes
    -----
    The posterior of a difference is the t distribution of its corrected test or, where the design has
    halvings, of its split-half test. Two one-sided tests (Schuirmann 1987) ask for the difference to be
    significantly above ``-rope`` and significantly below ``rope``; the p of either is the posterior
    probability of the side it speaks against.

    References
    ----------
    Schuirmann (1987), A comparison of the two one-sided tests procedure and the power approach;
    Corani and Benavoli (2015), A Bayesian approach for comparing cross-validated algorithms on multiple data
    sets.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import equivalence
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> equivalence(measures, rope=0.02)[["p_equal", "p_value"]].round(2).to_numpy().tolist()
    [[0.39, 0.56], [0.03, 0.93], [0.05, 0.89]]
    """
    check_rope(rope)
    check_fraction(alpha, "alpha")
    check_choice(p_adjust, ADJUSTMENTS, "p_adjust")
    _, pairs = paired_tests(
        iauprec, ratio=ratio, order=order, control=control, needed="the correlated t test"
    )
    columns = ("estimate", "std_error", "statistic")
    estimate, std_error, statistic = (pairs[column].to_numpy() for column in columns)
    certain = std_error == 0  # all of the posterior on the estimate
    estimate = np.where(np.isnan(statistic), 0.0, estimate)
    posterior = stats.t(pairs["df"].to_numpy(), loc=estimate, scale=np.where(certain, 1.0, std_error))
    ahead = np.where(certain, estimate > rope, posterior.sf(rope))
    behind = np.where(certain, estimate < -rope, posterior.cdf(-rope))
    names = pairs["model_a"].tolist(), pairs["model_b"].tolist()
    return equivalence_family(
        names, ahead, behind, rope=rope, alpha=alpha, p_adjust=p_adjust, control=control
    )


def equivalence_family(
    names: tuple[Sequence[str], Sequence[str]],
    ahead: Floats,
    behind: Floats,
    *,
    rope: float,
    alpha: float,
    p_adjust: str = "holm",
    control: str | None = None,
) -> pd.DataFrame:
    """Two one-sided t tests of each pair at the limits of practical equivalence, adjusted over the family.

    Under a flat prior the posterior is t about the estimate, so that the p of either test is the probability
    of the side it is about (Schuirmann 1987; Berger and Hsu 1996).
    """
    model_a, model_b = names
    posterior = pd.DataFrame(
        {
            "model_a": model_a,
            "model_b": model_b,
            "rope": rope,
            "p_a_ahead": ahead,
            "p_equal": np.maximum(1 - ahead - behind, 0),
            "p_b_ahead": behind,
        }
    )
    chosen = posterior if control is None else orient_to_control(posterior, control)
    p_value = chosen[["p_a_ahead", "p_b_ahead"]].max(axis=1, skipna=False).to_numpy(dtype=np.float64)
    p_adjusted = adjust_p_values(p_value, p_adjust)
    return chosen.assign(p_value=p_value, p_adjusted=p_adjusted, equivalent=p_adjusted < alpha)


def paired_tests(
    iauprec: Evaluation | pd.DataFrame,
    *,
    ratio: float | None,
    order: Sequence[str] | None,
    control: str | None,
    needed: str,
) -> tuple[Floats, pd.DataFrame]:
    """Return the fold table, and the t test of every pair by the variance of the design."""
    frame, ratio = with_ratio(iauprec, "iauprec", ratio, needed=needed)
    values, models = ordered_table(frame, order)
    if control is not None:
        check_choice(control, models, "control")
    halves = between_halves(iauprec, models)
    tests = fold_statistics.paired_t(values, inflation=1 + len(values) * ratio, halves=halves)
    a, b = pair_indices(len(models))
    names = {"model_a": [models[i] for i in a], "model_b": [models[i] for i in b]}
    df = float(fold_statistics.mean_df(values, halves))
    return values, pd.DataFrame({**names, **tests._asdict(), "df": df})


def effect_family(pairs: pd.DataFrame, *, alpha: float, control: str | None = None) -> pd.DataFrame:
    """Effect sizes of pairs with the columns estimate, std_error, df, statistic and spread (in one fold)."""
    chosen = pairs if control is None else orient_to_control(pairs, control)
    columns = ("estimate", "std_error", "df", "statistic", "spread")
    estimate, error, df, statistic, spread = (chosen[c].to_numpy(dtype=np.float64) for c in columns)
    varies = (error > 0) & np.isfinite(statistic)
    half_width = np.where(varies, special.stdtrit(df, 1 - alpha / 2) * error, np.nan)
    limits = np.full((2, len(chosen)), np.nan)
    limits[:, varies] = shift_limits(statistic[varies], df[varies], alpha / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(varies, error / spread, np.nan)
    return chosen.assign(
        conf_low=estimate - half_width,
        conf_high=estimate + half_width,
        effect=statistic * scale,
        effect_low=limits[0] * scale,
        effect_high=limits[1] * scale,
    )[list(EFFECT_COLUMNS)]


def shift_limits(statistic: Floats, df: Floats, tail: float) -> Floats:
    """Noncentralities at which t is the upper, then the lower `tail` of its distribution: (2, n)."""
    limits = np.empty((len(statistic), 2))
    for each in np.unique(df).tolist():
        rows = np.flatnonzero(df == each)
        for start in range(0, len(rows), STATISTICS_AT_ONCE):
            part = rows[start : start + STATISTICS_AT_ONCE]
            limits[part] = _limits(np.abs(statistic[part]), each, tail)
    return np.asarray(np.where((statistic < 0)[:, None], -limits[:, ::-1], limits).T)


def _limits(t: Floats, df: float, tail: float) -> Floats:
    """The same (n, 2) of t that are not negative: P(T < t) falls with the noncentrality: halve the range."""
    largest, target = deviation_nodes(df)[0].max(), np.array([1 - tail, tail])
    low = np.full((len(t), 2), -REACH)
    high = np.broadcast_to(t[:, None] * largest + REACH, low.shape)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = _below(t, df, middle) > target
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray((low + high) / 2)


def _below(t: Floats, df: float, shift: Floats) -> Floats:
    """P(T < t) at noncentralities (n, 2): P(Z + shift < t S), Z normal, S the deviation, over Z or S.

    Over S where the nodes are close enough for its normal tail, else over Z, as the tail of S is wide then.
    """
    node, weight = deviation_nodes(df)
    normal, density = gauss_nodes("hermite_e", 80)
    close, probability = t <= CLOSE * len(node) / MANY * np.sqrt(2 * df), np.empty(shift.shape)
    probability[close] = special.ndtr(t[close, None, None] * node - shift[close, :, None]) @ weight
    bound = np.maximum(shift[~close, :, None] + normal, 0.0) / t[~close, None, None]
    probability[~close] = special.chdtrc(df, df * bound**2) @ (density / density.sum())
    return probability
