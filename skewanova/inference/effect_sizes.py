"""Effect sizes: how large a difference is, in IAUPREC and in standard deviations, with intervals."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import special

from skewanova.base.checks import Floats, check_fraction
from skewanova.evaluation.measures import Evaluation
from skewanova.inference import fold_statistics
from skewanova.inference.families import orient_to_control
from skewanova.inference.fold_statistics import REACH, deviation_nodes
from skewanova.inference.pairwise import paired_tests
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
