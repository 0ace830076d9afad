"""Pairwise comparisons on the fold x model table: t, rank and resampling families, one frame for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.polynomial.hermite_e import hermegauss
from numpy.polynomial.legendre import leggauss
from scipy import special, stats
from scipy.optimize import brentq

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats, InputError, Seed, check_choice, check_fraction, check_rope
from skewanova._omnibus_result import check_ratio, fold_table
from skewanova._studentized_range import range_isf, range_sf
from skewanova._ties import falling_order, levelled
from skewanova.posthoc import POSTHOC_COLUMNS
from skewanova.resampling import max_t_test, sign_blocks, sign_flips, squared_t

PAIRWISE_TESTS = (
    "paired_t_holm",
    "corrected_t_holm",
    "games_howell",
    "max_t",
    "nemenyi",
    "wilcoxon_holm",
    "dunnett",
)


#: How each family may be read.
PAIR_LABELS = {
    "paired_t_holm": "Valid when folds are independent, whatever the models' spreads.",
    "corrected_t_holm": "Allows for folds that share training data (Nadeau and Bengio 2003).",
    "games_howell": "Rejects too often with few folds (.08 at level .05 with 5 folds and 4 models).",
    "max_t": "Valid when folds are independent and their profiles symmetric, whatever the models' spreads.",
    "nemenyi": "On mean ranks. Valid when folds are independent; a further model changes the others' ranks.",
    "wilcoxon_holm": "On signed ranks. Valid when folds are independent.",
    "dunnett": "Against the control. Valid when folds are independent and models spread alike.",
    "influence_holm": "About these fitted models on further cases: t of the differences over cases.",
}


def pairwise_comparisons(
    iauprec: pd.DataFrame,
    *,
    method: str = "corrected_t_holm",
    ratio: float = 0.0,
    alpha: float = 0.05,
    control: str | None = None,
    order: Sequence[str] | None = None,
    role: str = "check",
    n_resamples: int = 9999,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Compare all pairs of models, or all models with a control, over folds.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; every model in every fold.
    method : str, default "corrected_t_holm"
        One of

        - ``paired_t_holm``: paired t, Holm (1979);
        - ``corrected_t_holm``: paired t with the variance of Nadeau and Bengio (2003), Holm;
        - ``games_howell``: each pair's own standard error and the studentized range, in the way of Games and
          Howell (1976) for paired differences; liberal with few folds;
        - ``max_t``: step-down max-T of Westfall and Young (1993) under sign flips of whole fold profiles;
        - ``nemenyi``: mean ranks and the studentized range (Demsar 2006);
        - ``wilcoxon_holm``: signed ranks, Holm;
        - ``dunnett``: against `control`, on the blocked residual mean square (Dunnett 1955).
    ratio : float, default 0
        Test cases for each training case, for ``corrected_t_holm``.
    alpha : float, default 0.05
        Family-wise level.
    control : str, optional
        Model that the others are compared with (needed by ``dunnett``, which it is for).
    order : sequence of str, optional
        Order of the models; by default falling means. Differences are earlier minus later.
    role : str, default "check"
        Written to the frame.
    n_resamples : int, default 9999
        Random arrangements for ``max_t``, unless all can be enumerated.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    DataFrame
        Columns of `POSTHOC_COLUMNS`. ``estimate`` is always the difference of mean IAUPREC. Intervals are
        simultaneous (for Holm's families by Bonferroni, so a pair may be rejected whose interval holds 0);
        rank tests have none.

    Raises
    ------
    ValueError
        If the table is incomplete, or an option is unknown or out of range.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, pairwise_comparisons
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> pairs = pairwise_comparisons(measures.iauprec, ratio=0.25)
    >>> pairs[["model_a", "model_b", "reject"]].to_numpy().tolist()
    [['A', 'C', False], ['A', 'B', False], ['C', 'B', False]]
    """
    check_choice(method, PAIRWISE_TESTS, "method")
    check_fraction(alpha, "alpha")
    check_ratio(ratio)
    values, models = _ordered_table(iauprec, order)
    if (method == "dunnett") != (control is not None):
        raise InputError(
            "`control` names the model that method='dunnett' compares with, and goes with it alone"
        )
    if method == "dunnett":
        frame = _dunnett(values, models.index(check_choice(str(control), models, "control")), alpha)
    elif method == "max_t":
        frame = _max_t(values, alpha, n_resamples=n_resamples, rng=rng)
    elif method in {"paired_t_holm", "corrected_t_holm"}:
        frame = _paired_t(values, alpha, inflation=1 + len(values) * (ratio if method[0] == "c" else 0.0))
    else:
        frame = _SIMPLE[method](values, alpha)
    names = {"model_a": [models[i] for i in frame.pop("a")], "model_b": [models[i] for i in frame.pop("b")]}
    frame = frame.assign(test=method, role=role, response="iauprec", prior=np.nan, **names)
    return frame.assign(reject=frame["p_adjusted"] < alpha)[list(POSTHOC_COLUMNS)]


def bayesian_comparisons(
    iauprec: pd.DataFrame, *, rope: float = 0.01, ratio: float = 0.0, order: Sequence[str] | None = None
) -> pd.DataFrame:
    """Probability that two models are practically equal, or one ahead: the Bayesian correlated t test.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; every model in every fold.
    rope : float, default 0.01
        Half-width of the region of practical equivalence: differences of IAUPREC that would not matter.
    ratio : float, default 0
        Test cases for each training case, where folds share training data.
    order : sequence of str, optional
        As for :func:`pairwise_comparisons`.

    Returns
    -------
    DataFrame
        Columns model_a, model_b, rope, p_a_ahead, p_equal, p_b_ahead, which sum to 1 in each row.

    Raises
    ------
    ValueError
        If the table is incomplete, or `rope` is negative.

    References
    ----------
    Corani and Benavoli (2015), A Bayesian approach for comparing cross-validated algorithms on multiple data
    sets.

    Examples
    --------
    >>> from skewanova import bayesian_comparisons, evaluate, load_satellite_scores
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> bayesian_comparisons(measures.iauprec, rope=0.02, ratio=0.25)["p_equal"].round(2).tolist()
    [0.39, 0.03, 0.05]
    """
    check_rope(rope)
    values, models = _ordered_table(iauprec, order)
    a, b = kernels.pair_indices(len(models))
    found = kernels.paired_t(values, inflation=1 + len(values) * check_ratio(ratio))
    certain = found.std_error == 0  # all of the posterior on the estimate
    estimate = np.where(np.isnan(found.statistic), 0.0, found.estimate)
    posterior = stats.t(len(values) - 1, loc=estimate, scale=np.where(certain, 1.0, found.std_error))
    ahead = np.where(certain, estimate > rope, posterior.sf(rope))
    behind = np.where(certain, estimate < -rope, posterior.cdf(-rope))
    return pd.DataFrame(
        {
            "model_a": [models[i] for i in a],
            "model_b": [models[i] for i in b],
            "rope": rope,
            "p_a_ahead": ahead,
            "p_equal": np.clip(1 - ahead - behind, 0, 1),
            "p_b_ahead": behind,
        }
    )


def _ordered_table(iauprec: pd.DataFrame, order: Sequence[str] | None) -> tuple[Floats, list[str]]:
    values, models = fold_table(iauprec)
    if order is None:
        ranks = np.array(falling_order(values.mean(axis=0)))
    elif sorted(order) == sorted(models):
        ranks = np.array([models.index(model) for model in order])
    else:
        raise InputError(f"`order` must name every model once, but got {list(order)!r}")
    return values[:, ranks], [models[i] for i in ranks]


def _frame(values: Floats, **columns: object) -> pd.DataFrame:
    """Pairs in order, with the columns given and the rest empty."""
    a, b = kernels.pair_indices(values.shape[1])
    estimate = (values[:, a] - values[:, b]).mean(axis=0)
    empty = dict.fromkeys(("std_error", "df", "statistic", "p_value", "conf_low", "conf_high"), np.nan)
    return pd.DataFrame({"a": a, "b": b, "estimate": estimate, **empty, **columns})


def _paired_t(values: Floats, alpha: float, *, inflation: float) -> pd.DataFrame:
    found = kernels.paired_t(values, inflation=inflation)
    p_value = kernels.paired_t_p(values, inflation=inflation)
    df = len(values) - 1
    margin = stats.t.isf(alpha / 2 / len(p_value), df) * found.std_error
    return _with_margin(values, found, margin, df=df, p_value=p_value, p_adjusted=kernels.holm(p_value))


def _games_howell(values: Floats, alpha: float) -> pd.DataFrame:
    found, df, n_models = kernels.paired_t(values), len(values) - 1, values.shape[1]
    adjusted = range_sf(np.sqrt(2) * np.abs(found.statistic), n_models, df)
    margin = range_isf(alpha, n_models, df) / np.sqrt(2) * found.std_error
    p_value = kernels.paired_t_p(values)
    return _with_margin(values, found, margin, df=df, p_value=p_value, p_adjusted=adjusted)


def _max_t(values: Floats, alpha: float, *, n_resamples: int, rng: Seed) -> pd.DataFrame:
    """Interval: the single-step critical value of the largest |t| under sign flips, where it is reachable."""
    found, n_folds = kernels.paired_t(values), len(values)
    adjusted = max_t_test(values, n_resamples=n_resamples, rng=rng).p_value
    a, b = kernels.pair_indices(values.shape[1])
    signs, _ = sign_flips(n_folds, n_resamples=n_resamples, rng=rng)
    difference = values[:, a] - values[:, b]
    centred = difference - difference.mean(axis=0)
    largest = np.concatenate(
        [squared_t(centred, part).max(axis=-1) for part in sign_blocks(signs[1:], len(a))]
    )
    critical = np.sqrt((n_folds - 1) * np.quantile(largest, 1 - alpha, method="higher"))
    margin = critical * found.std_error if len(signs) * alpha >= 1 else np.full(len(a), np.nan)
    adjusted = np.where(np.isnan(found.statistic), np.nan, adjusted)
    return _with_margin(values, found, margin, df=np.nan, p_value=np.nan, p_adjusted=adjusted)


def _with_margin(values: Floats, found: kernels.PairedT, margin: Floats, **columns: object) -> pd.DataFrame:
    return _frame(
        values,
        std_error=found.std_error,
        statistic=found.statistic,
        conf_low=found.estimate - margin,
        conf_high=found.estimate + margin,
        **columns,
    )


def _nemenyi(values: Floats, alpha: float) -> pd.DataFrame:
    n_folds, n_models = values.shape
    a, b = kernels.pair_indices(n_models)
    mean_rank = stats.rankdata(levelled(values), axis=1).mean(axis=0)
    z_value = (mean_rank[a] - mean_rank[b]) / np.sqrt(n_models * (n_models + 1) / (6 * n_folds))
    adjusted = range_sf(np.sqrt(2) * np.abs(z_value), n_models, np.inf)
    return _frame(
        values, df=np.inf, statistic=z_value, p_value=2 * stats.norm.sf(np.abs(z_value)), p_adjusted=adjusted
    )


def _wilcoxon(values: Floats, alpha: float) -> pd.DataFrame:
    """Exact where there are no ties and at most 50 folds, as scipy decides."""
    difference = kernels.pair_differences(values)
    ordered = np.sort(np.abs(difference), axis=0)
    plain = (ordered[0] > 0) & (np.diff(ordered, axis=0) > 0).all(axis=0)  # these go through scipy at once
    statistic, p_value = np.empty(len(plain)), np.empty(len(plain))
    if plain.any():
        statistic[plain], p_value[plain] = stats.wilcoxon(difference[:, plain], axis=0)
    for i in np.flatnonzero(~plain):
        statistic[i], p_value[i] = _signed_rank(difference[:, i])
    return _frame(values, statistic=statistic, p_value=p_value, p_adjusted=kernels.holm(p_value))


def _signed_rank(difference: Floats) -> tuple[float, float]:
    moved = difference[difference != 0]
    if not len(moved):
        return np.nan, np.nan
    result = stats.wilcoxon(np.copysign(levelled(np.abs(moved)), moved))
    return float(result.statistic), float(result.pvalue)


def _dunnett(values: Floats, control: int, alpha: float) -> pd.DataFrame:
    blocked = kernels.blocked_f(values)
    others = np.array([i for i in range(values.shape[1]) if i != control])
    std_error = float(np.sqrt(2 * blocked.error_sum_sq / blocked.df_error / len(values)))
    estimate = values[:, others].mean(axis=0) - values[:, control].mean()
    scale = np.abs(values).max()
    certain = np.where(np.abs(estimate) <= 1e-12 * scale, np.nan, np.copysign(np.inf, estimate))
    flat = std_error <= 1e-12 * scale
    statistic = certain if flat else estimate / std_error
    df, count = blocked.df_error, len(others)
    single, bonferroni = (float(stats.t.isf(tail, df)) for tail in (alpha / 2, alpha / 2 / count))  # limits
    below, above = 0.99 * single, 1.01 * bonferroni
    reached = dunnett_sf(below, count, df) > alpha > dunnett_sf(above, count, df)
    critical = brentq(lambda c: dunnett_sf(c, count, df) - alpha, below, above) if reached else bonferroni
    return pd.DataFrame(
        {
            "a": others,
            "b": control,
            "estimate": estimate,
            "std_error": std_error,
            "df": df,
            "statistic": statistic,
            "p_value": 2 * stats.t.sf(np.abs(statistic), df),
            "p_adjusted": [dunnett_sf(abs(float(t)), count, df) for t in statistic],
            "conf_low": estimate - critical * std_error,
            "conf_high": estimate + critical * std_error,
        }
    )


def dunnett_sf(value: float, count: int, df: int) -> float:
    """Chance that the largest of `count` equally correlated (1/2) |t| exceeds a value (Dunnett 1955).

    Given the pooled deviation s and the control's z, the comparisons are independent:
    1 - E_s E_z [Phi(z + sqrt(2) t s) - Phi(z - sqrt(2) t s)]^count.
    """
    if not np.isfinite(value):
        return 0.0 if np.isinf(value) else np.nan
    node, weight = hermegauss(80)
    low, high = np.sqrt(stats.chi2.isf([1 - 1e-15, 1e-15], df))
    legendre, density = leggauss(200)
    chi = (high + low) / 2 + (high - low) / 2 * legendre
    density = density * stats.chi.pdf(chi, df)
    reach = np.sqrt(2 / df) * value * chi[:, None]
    inside = (special.ndtr(node + reach) - special.ndtr(node - reach)) ** count
    return float(np.clip(1 - (density / density.sum()) @ (inside @ (weight / weight.sum())), 0.0, 1.0))


_SIMPLE: dict[str, Callable[[Floats, float], pd.DataFrame]] = {
    "games_howell": _games_howell,
    "nemenyi": _nemenyi,
    "wilcoxon_holm": _wilcoxon,
}
