"""Comparisons of pairs of models by Tukey's, t, rank and resampling tests, adjusted as a family.

An interval is at the level of the step that decided its pair, so that it agrees with the decision.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats
from scipy.optimize import brentq
from statsmodels.stats.multitest import multipletests

from skewanova.base.checks import Floats, InputError, Seed, check_alpha, check_choice, check_prior
from skewanova.base.rounding import TIE, argsort_descending, snap_ties
from skewanova.evaluation.measures import Evaluation, half_differences, resolve_ratio
from skewanova.inference import fold_statistics
from skewanova.inference.anova import AnovaResult, HypothesisTest, check_anova, check_frame, two_way_anova
from skewanova.inference.catalogue import ADJUSTMENTS, get_test, name_family
from skewanova.inference.omnibus import build_fold_table, kernel_arguments
from skewanova.priors.quadrature import gauss_nodes

#: Columns of every post-hoc frame about models, whatever the test.
POSTHOC_COLUMNS = (
    *("test", "role", "response", "prior", "model_a", "model_b"),
    *("estimate", "std_error", "df", "statistic", "p_value", "p_adjusted", "conf_low", "conf_high", "reject"),
)


#: Columns of the frame of differences between priors.
PRIOR_PAIR_COLUMNS = [c.replace("model_", "prior_") for c in POSTHOC_COLUMNS if c != "prior"]


@dataclass(frozen=True, eq=False, kw_only=True)
class PosthocResult(HypothesisTest):
    """All pairwise differences between the levels of one factor.

    Its frame has one row a pair, with level a minus level b, the larger mean first.

    Attributes
    ----------
    test, role, response : str
        As in the frame.
    factor : str
        ``model`` or ``prior``.
    alpha : float
        Family-wise level of `reject` and of the intervals.
    """

    factor: str
    alpha: float


def tukey_hsd(
    result: AnovaResult,
    *,
    factor: str = "model",
    alpha: float = 0.05,
    prior: float = np.nan,
    order: Sequence[str] | None = None,
) -> PosthocResult:
    """Compare all levels of a factor by Tukey's HSD, on the residual mean square of a blocked ANOVA.

    Parameters
    ----------
    result : AnovaResult
        Result of :func:`~skewanova.inference.two_way_anova`, or of
        :func:`~skewanova.inference.three_way_anova` without interaction. Unlike a one-way Tukey test
        (statsmodels' ``pairwise_tukeyhsd``), its residual mean square excludes the variation between folds.
    factor : {"model", "prior"}, default "model"
        Factor whose levels are compared.
    alpha : float, default 0.05
        Family-wise level.
    prior : float, optional
        Prior at which the response was measured, for the column prior.
    order : sequence of str, optional
        Order of the levels; by default falling effects. Differences are earlier minus later.

    Returns
    -------
    PosthocResult
        Pairs with estimate, std_error, df, statistic (the studentized range), p_value (of a single t test),
        p_adjusted, conf_low, conf_high, reject; by model_a, model_b, prior or, for priors, prior_a, prior_b.
        The test is that of Tukey (1949) and, where cells are missing, Kramer (1956), equal to R's
        ``TukeyHSD(aov(y ~ model + fold), "model")``. Without residual variation p is 0, or nan for equal
        levels.

    Raises
    ------
    ValueError
        If the ANOVA has an interaction, or the factor is not in it.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.inference import tukey_hsd, two_way_anova
    >>> iauprec = [0.70, 0.74, 0.71, 0.78, 0.80, 0.81]
    >>> frame = pd.DataFrame({"model": list("AAABBB"), "fold": [1, 2, 3] * 2, "iauprec": iauprec})
    >>> pairs = tukey_hsd(two_way_anova(frame)).to_frame()
    >>> pairs[["model_a", "model_b", "estimate", "p_adjusted"]].round(4)
      model_a model_b  estimate  p_adjusted
    0       B       A      0.08      0.0202
    """
    check_anova(result)
    check_alpha(alpha)
    if str(prior) != "nan":
        check_prior(prior)
    check_choice(factor, [c for c in ("model", "prior") if c in {*result.to_frame()["term"]}], "factor")
    levels, effect, cov = result.effects(factor)
    ranks = _order_levels(levels, effect, order)
    a, b = (np.array(ranks)[side] for side in fold_statistics.pair_indices(len(ranks)))
    estimate = effect[a] - effect[b]
    std_error = np.sqrt(np.maximum(cov[a, a] + cov[b, b] - 2 * cov[a, b], 0.0))
    if result.rounding:  # no residual variation
        estimate, std_error = np.where(np.abs(estimate) > result.rounding, estimate, 0.0), 0.0 * std_error
    df, size = float(result.row("model")["df_error"]), np.abs(estimate)
    with np.errstate(divide="ignore", invalid="ignore"):
        t_value = size / std_error
    frame = _pair_frame(
        (a, b),
        estimate,
        std_error=std_error,
        df=df,
        statistic=np.sqrt(2.0) * t_value,
        p_value=2 * stats.t.sf(t_value, df),
        **_adjust_by_range(t_value, std_error, len(levels), df=df, alpha=alpha),
    )
    names = {"test": get_test(result.test).posthoc_test, "role": result.role, "response": result.response}
    frame = _name_pairs(frame, levels, factor=factor, alpha=alpha, prior=prior, **names)
    return PosthocResult(**names, factor=factor, alpha=alpha, _table=frame)


def tukey_by_prior(
    auprec: pd.DataFrame, *, alpha: float = 0.05, order: Sequence[str] | None = None
) -> pd.DataFrame:
    """Compare models at each prior by Tukey's test, with one family per prior.

    Parameters
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec; raises as :func:`~skewanova.inference.two_way_anova`.
    alpha : float, default 0.05
        Family-wise level at each prior.
    order : sequence of str, optional
        As for :func:`tukey_hsd`.

    Returns
    -------
    DataFrame
        One row a prior and pair: estimate, p_adjusted, limits, reject etc., as columns of :func:`posthoc`.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> sa.inference.tukey_by_prior(measures.auprec)["prior"].tolist()
    [0.5, 0.5, 0.5, 0.2, 0.2, 0.2]
    """
    check_frame(auprec, ("model", "fold", "prior"), "auprec")
    parts = []
    for prior, group in auprec.groupby("prior", sort=False, observed=True):
        result = two_way_anova(group, response="auprec", alpha=alpha)
        parts.append(tukey_hsd(result, alpha=alpha, prior=float(str(prior)), order=order).to_frame())
    return pd.concat(parts, ignore_index=True)


def _order_levels(levels: Sequence[Any], effect: Floats, order: Sequence[str] | None) -> list[int]:
    """Return the levels' indices in the order stated (raise unless it names all), or by falling effects."""
    if order is None:
        return argsort_descending(effect)
    names = [order] if isinstance(order, str) or not isinstance(order, Iterable) else list(order)
    if sorted(map(str, names)) != sorted(map(str, levels)):
        raise InputError(f"`order` must name every level once, but got {names!r} for {list(levels)!r}")
    position = {str(level): i for i, level in enumerate(levels)}
    return [position[str(level)] for level in names]


def posthoc(
    iauprec: Evaluation | pd.DataFrame,
    *,
    method: str = "corrected_t",
    p_adjust: str | None = None,
    ratio: float | None = None,
    alpha: float = 0.05,
    control: str | None = None,
    order: Sequence[str] | None = None,
    role: str = "secondary",
    n_resamples: int = 9999,
    rng: Seed = 0,
) -> pd.DataFrame:
    """Compare all pairs of models, or all models with a control, over folds.

    Parameters
    ----------
    iauprec : Evaluation or DataFrame
        Every model in every fold; a frame has the columns model, fold, iauprec, and no design.
    method : str, default "corrected_t"
        One of

        - ``paired_t``: paired t;
        - ``corrected_t``: paired t with the variance of Nadeau and Bengio (2003);
        - ``split_half_t``: t with the variance that halvings of the evaluation show;
        - ``wilcoxon``: signed ranks;
        - ``games_howell``: paired t by the studentized range (Games and Howell 1976), liberal with few folds;
        - ``max_t``: step-down max-T under sign flips of fold profiles (Westfall and Young 1993);
        - ``nemenyi``: mean ranks by the studentized range (Demsar 2006);
        - ``dunnett``: against `control`, on the blocked residual mean square (Dunnett 1955).
    p_adjust : {"holm", "bonferroni", "hochberg", "bh"}, optional
        Adjustment of the p-values of the first four methods, by default Holm's (1979); "bh" controls the
        false discovery rate. The other methods include an adjustment.
    ratio : float, optional
        Test cases for each training case, which ``corrected_t`` needs where a frame is given.
    alpha : float, default 0.05
        Family-wise level.
    control : str, optional
        Model that the others are compared with, by the first four methods or ``dunnett``, which requires it.
        Differences are the other model minus the control.
    order : sequence of str, optional
        Order of the models; by default falling means. Differences are earlier minus later.
    role : str, default "secondary"
        Written to the frame.
    n_resamples : int, default 9999
        Random arrangements for ``max_t``, unless all can be enumerated.
    rng : int, Generator, SeedSequence or None, default 0
        Seed of the draws.

    Returns
    -------
    DataFrame
        One row a pair: test (the method with its adjustment, as ``corrected_t_holm``), role, response, prior,
        model_a, model_b, estimate (of mean IAUPREC, for ``wilcoxon`` the pseudo-median), std_error, df,
        statistic, p_value, p_adjusted, conf_low, conf_high, reject. An interval of the first three methods is
        at the level of the step that decided its pair; rank tests have none; others are simultaneous, and of
        ``max_t`` end at 0 where its steps decide otherwise.

    Raises
    ------
    ValueError
        If the table is incomplete, an option is unknown, out of range or does not go with the method, or
        ``corrected_t`` has no design.

    Examples
    --------
    >>> import skewanova as sa
    >>> measures = sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> pairs = sa.inference.posthoc(measures)
    >>> pairs[["model_a", "model_b", "reject"]].to_numpy().tolist()
    [['A', 'C', False], ['A', 'B', False], ['C', 'B', False]]
    """
    check_choice(method, PAIRWISE_TESTS, "method")
    check_alpha(alpha)
    test, p_adjust = get_test(method), choose_adjustment(method, p_adjust, control)
    frame, ratio = resolve_ratio(iauprec, "iauprec", ratio, needed=method if test.needs_ratio else "")
    values, models = build_ordered_table(frame, order, control)
    halves = half_differences(iauprec, models, needed=method) if test.needs_halvings else None
    inflation = 1 + len(values) * ratio
    needs = kernel_arguments(test, inflation=inflation, halves=halves, n_resamples=n_resamples, rng=rng)
    frame = _FAMILIES[method](values, alpha, **needs)
    if p_adjust:
        chosen = frame if control is None else frame[frame["b"] == len(models) - 1]
        frame = adjust_family(chosen, alpha=alpha, p_adjust=p_adjust)
    test_name = name_family(method, p_adjust, control=control is not None)
    names = {"test": test_name, "role": role, "response": "iauprec"}
    return _name_pairs(frame, models, alpha=alpha, prior=np.nan, **names)


def choose_adjustment(method: str, p_adjust: str | None, control: str | None, *, name: str = "method") -> str:
    """Return `p_adjust` (default holm), or "" if the method adjusts by itself; raise for unfit options."""
    test = get_test(method)
    if p_adjust is not None:
        check_choice(p_adjust, ADJUSTMENTS, "p_adjust")
        if not test.needs_adjustment:
            raise InputError(
                f"`p_adjust` is for tests with unadjusted p-values, but {name}={method!r} adjusts by itself: "
                f"leave `{name if name == 'pairwise' else 'p_adjust'}` out"
            )
    if test.needs_control and control is None:
        raise InputError(
            f"`control` must name the model that {name}={method!r} compares the others with; "
            + "leave `pairwise` out, or, for a test over folds, " * (name == "pairwise")
            + "state control='NAME' (--control NAME)"
        )
    if control is not None and not (test.needs_control or test.needs_adjustment):
        raise InputError(
            f"`control` selects the pairs with one model, but {name}={method!r} compares all pairs: leave "
            f"`{name if name == 'pairwise' else 'control'}` out"
        )
    return p_adjust or ("holm" if test.needs_adjustment else "")


def build_ordered_table(
    iauprec: pd.DataFrame, order: Sequence[str] | None, control: str | None = None
) -> tuple[Floats, list[str]]:
    """Return IAUPREC (n_folds, n_models), and its models, by `order` or falling means, a control last."""
    values, models = build_fold_table(iauprec)
    ranks = _order_levels(models, values.mean(axis=0), order)
    if control is not None:  # last, so that its pairs are other models less the control
        check_choice(control, [models[i] for i in ranks], "control")
        ranks.sort(key=lambda i: models[i] == control)
    return values[:, ranks], [models[i] for i in ranks]


#: statsmodels' names of the adjustments; Holm's is `fold_statistics.adjust_holm`, equal to the last digit.
_STATSMODELS_METHODS = {"bonferroni": "bonferroni", "hochberg": "simes-hochberg", "bh": "fdr_bh"}


#: Pairs of columns that are exchanged when a pair is reversed.
_SWAPPED_COLUMNS = (("model_a", "model_b"), ("p_a_ahead", "p_b_ahead"))


def adjust_p_values(p_values: Floats, p_adjust: str) -> Floats:
    """Return the p-values of one family, adjusted; those that are nan stay so and do not count."""
    if p_adjust == "holm":
        return fold_statistics.adjust_holm(p_values)
    p_adjusted = np.full(p_values.shape, np.nan)
    tested = np.isfinite(p_values)
    if tested.any():
        p_adjusted[tested] = multipletests(p_values[tested], method=_STATSMODELS_METHODS[p_adjust])[1]
    return p_adjusted


def stepwise_levels(p_values: Floats, alpha: float, *, p_adjust: str) -> Floats:
    """Return the significance level of each pair's interval (n_pairs,), of its deciding step; never nan."""
    # Benjamini and Yekutieli (2005) for "bh"; Holm: the i-th smallest of m by alpha / (m - i + 1), all not
    # rejected by that of the first of them; Hochberg: all rejected by that of the last of them
    tested = max(int(np.isfinite(p_values).sum()), 1)
    rejected = int((adjust_p_values(p_values, p_adjust) < alpha).sum())
    if p_adjust == "bonferroni":
        return np.full(p_values.shape, alpha / tested)
    if p_adjust == "bh":
        return np.full(p_values.shape, alpha * max(rejected, 1) / tested)
    before = np.searchsorted(np.sort(p_values), p_values)  # number of pairs with smaller p
    step = np.minimum(before, rejected) if p_adjust == "holm" else np.maximum(before, rejected - 1)
    return np.asarray(alpha / (tested - np.minimum(step, tested - 1)))


def adjust_family(
    pairs: pd.DataFrame, *, alpha: float, p_adjust: str = "holm", control: str | None = None
) -> pd.DataFrame:
    """Return pairs, or models less `control`, with p_adjusted, reject, limits at `stepwise_levels` or nan."""
    chosen = pairs if control is None else orient_to_control(pairs, control)
    columns = chosen[["estimate", "std_error", "df", "p_value"]]
    estimate, error, df, p_value = columns.to_numpy(dtype=np.float64).T
    level, p_adjusted = stepwise_levels(p_value, alpha, p_adjust=p_adjust), adjust_p_values(p_value, p_adjust)
    unknown = np.isnan(p_value) & (np.abs(estimate) > TIE)  # a difference without variance is not tested
    half_width = np.where(error == 0, np.where(unknown, np.nan, 0.0), stats.t.isf(level / 2, df) * error)
    return chosen.assign(
        p_adjusted=p_adjusted,
        conf_low=estimate - half_width,
        conf_high=estimate + half_width,
        reject=p_adjusted < alpha,
    )


def orient_to_control(pairs: pd.DataFrame, control: str) -> pd.DataFrame:
    """Return the pairs with the control, turned to other model (a) less control (b), but not their limits."""
    check_choice(control, list(dict.fromkeys([*pairs["model_a"], *pairs["model_b"]])), "control")
    selected = pairs[(pairs["model_a"] == control) | (pairs["model_b"] == control)].reset_index(drop=True)
    turned = selected["model_a"] == control
    for side, other in _SWAPPED_COLUMNS:
        if side in selected:
            selected.loc[turned, [side, other]] = selected.loc[turned, [other, side]].to_numpy(copy=True)
    for column in ("estimate", "statistic"):
        if column in selected:
            selected.loc[turned, column] *= -1
    return selected


def _pair_frame(
    pairs: tuple[Any, Any], estimate: Floats, *, margin: Floats | float = np.nan, **columns: Any
) -> pd.DataFrame:
    """Return a frame: a, b (indices), estimate, std_error, df, statistic, p_value (or nan), limits, more."""
    data = {"a": pairs[0], "b": pairs[1], "estimate": estimate}
    data |= dict.fromkeys(("std_error", "df", "statistic", "p_value"), np.nan)
    limits = {"conf_low": estimate - margin, "conf_high": estimate + margin}
    return pd.DataFrame(data | limits | columns)


def _name_pairs(
    frame: pd.DataFrame, levels: Sequence[Any], *, alpha: float, factor: str = "model", **columns: Any
) -> pd.DataFrame:
    """Return a post-hoc frame, a row a pair: names for indices, `columns`, reject if p_adjusted < alpha."""
    names = {f"{factor}_{side}": [levels[i] for i in frame[side]] for side in ("a", "b")}
    order = list(POSTHOC_COLUMNS) if factor == "model" else PRIOR_PAIR_COLUMNS
    frame = frame.assign(**names, reject=frame["p_adjusted"] < alpha, **columns)
    return frame[order].reset_index(drop=True)


def _adjust_by_range(
    t_value: Floats, std_error: Floats | float, n_levels: int, *, df: float, alpha: float
) -> dict[str, Any]:
    """Return p_adjusted of pairs by the studentized range, and margin, the half-width of their intervals."""
    p_adjusted = fold_statistics.range_sf(np.sqrt(2) * np.abs(t_value), n_levels, df)
    critical = fold_statistics.range_isf(alpha, n_levels, df) / np.sqrt(2)
    return {"p_adjusted": p_adjusted, "margin": critical * std_error}


def _paired_t(
    values: Floats, alpha: float, *, inflation: float = 1.0, halves: Floats | None = None, **columns: object
) -> pd.DataFrame:
    """Return :func:`_pair_frame` of paired t tests of all pairs; limits are nan unless in `columns`."""
    tests: dict[str, Any] = fold_statistics.paired_t(values, inflation=inflation, halves=halves)._asdict()
    tests["df"] = fold_statistics.mean_df(values, halves)
    tests["p_value"] = fold_statistics.paired_t_p_values(values, inflation=inflation, halves=halves)
    return _pair_frame(fold_statistics.pair_indices(values.shape[1]), **tests | columns)


def _games_howell(values: Floats, alpha: float) -> pd.DataFrame:
    """Return :func:`_pair_frame` of paired t tests with p_adjusted and limits by the studentized range."""
    tests, n_models = fold_statistics.paired_t(values), values.shape[1]
    adjusted = _adjust_by_range(tests.statistic, tests.std_error, n_models, df=len(values) - 1, alpha=alpha)
    return _paired_t(values, alpha, **adjusted)


def _max_t(values: Floats, alpha: float, *, n_resamples: int, rng: Seed) -> pd.DataFrame:
    """Return `_pair_frame` of step-down max-T; single-step limits, or 0 if steps differ, nan if few draws."""
    tests, n_folds = fold_statistics.paired_t(values), len(values)
    adjusted = fold_statistics.max_t_test(values, n_resamples=n_resamples, rng=rng)
    a, b = fold_statistics.pair_indices(values.shape[1])
    signs = fold_statistics.draw_sign_flips(n_folds, n_resamples=n_resamples, rng=rng)
    difference = values[:, a] - values[:, b]
    centred = difference - difference.mean(axis=0)
    blocks = fold_statistics.split_rows(signs[1:], fold_statistics.BLOCK_SIZE // len(a))
    largest = np.concatenate([fold_statistics.squared_t(centred, block).max(axis=-1) for block in blocks])
    critical = np.sqrt((n_folds - 1) * np.quantile(largest, 1 - alpha, method="higher"))
    margin = critical * tests.std_error if len(signs) * alpha >= 1 else np.nan
    adjusted, size = np.where(np.isnan(tests.statistic), np.nan, adjusted), np.abs(tests.estimate)
    side = np.where(adjusted < alpha, 1.0, -1.0)  # the step-down tests decide on which side of 0 a limit is
    near = side * np.maximum(side * (size - margin), 0.0)
    low, high = np.sort(np.where(tests.estimate < 0, -1.0, 1.0) * [near, size + margin], axis=0) + 0.0
    tested = {"df": np.nan, "p_value": np.nan, "p_adjusted": adjusted, "conf_low": low, "conf_high": high}
    return _paired_t(values, alpha, **tested)


def _nemenyi(values: Floats, alpha: float) -> pd.DataFrame:
    """Return `_pair_frame` of Nemenyi's tests: mean difference, z of mean ranks (1: lowest), no limits."""
    n_folds, n_models = values.shape
    a, b = fold_statistics.pair_indices(n_models)
    mean_rank = stats.rankdata(snap_ties(values), axis=1).mean(axis=0)
    z_value = (mean_rank[a] - mean_rank[b]) / np.sqrt(n_models * (n_models + 1) / (6 * n_folds))
    adjusted = _adjust_by_range(z_value, np.nan, n_models, df=np.inf, alpha=alpha)
    p_value = 2 * stats.norm.sf(np.abs(z_value))
    estimate = fold_statistics.pair_differences(values).mean(axis=0)
    return _pair_frame((a, b), estimate, df=np.inf, statistic=z_value, p_value=p_value, **adjusted)


def _wilcoxon(values: Floats, alpha: float) -> pd.DataFrame:
    """Return `_pair_frame` of scipy's Wilcoxon tests, exact to 50 folds without ties, and pseudo-medians."""
    difference = fold_statistics.pair_differences(values)
    estimate, statistic, p_value = np.transpose([_signed_rank(column) for column in difference.T])
    pairs = fold_statistics.pair_indices(values.shape[1])
    return _pair_frame(pairs, estimate, statistic=statistic, p_value=p_value)


def _signed_rank(difference: Floats) -> tuple[float, float, float]:
    """Return pseudo-median, lesser rank sum, two-sided p of differences but 0; (0, nan, nan) if all are 0."""
    # Hodges and Lehmann's (1963) median of means of two differences, or one twice, has the sign of the ranks
    nonzero = np.sort(difference[difference != 0])
    if not len(nonzero):
        return 0.0, np.nan, np.nan
    spaced = np.linspace(0, len(nonzero) - 1, min(len(nonzero), MAX_WALSH)).round().astype(np.intp)
    first, second = np.triu_indices(len(spaced))
    median = float(np.median(nonzero[spaced][first] + nonzero[spaced][second]) / 2)
    result = stats.wilcoxon(np.copysign(snap_ties(np.abs(nonzero)), nonzero))
    return median, float(result.statistic), float(result.pvalue)


def _dunnett(values: Floats, alpha: float) -> pd.DataFrame:
    """Return `_pair_frame` of Dunnett's (1955) tests of all models with the last, the control."""
    control = values.shape[1] - 1
    others, df = np.arange(control), control * (len(values) - 1)
    std_error = float(np.sqrt(2 * fold_statistics.blocked_f(values).error_sum_sq / df / len(values)))
    estimate = values[:, others].mean(axis=0) - values[:, control].mean()
    scale = np.abs(values).max()
    certain = np.where(np.abs(estimate) <= 1e-12 * scale, np.nan, np.copysign(np.inf, estimate))
    flat = std_error <= 1e-12 * scale
    statistic = certain if flat else estimate / std_error
    single, bonferroni = (float(stats.t.isf(tail, df)) for tail in (alpha / 2, alpha / 2 / control))
    low, high = 0.99 * single, 1.01 * bonferroni
    reached = dunnett_sf(low, control, df) > alpha > dunnett_sf(high, control, df)
    critical = brentq(lambda c: dunnett_sf(c, control, df) - alpha, low, high) if reached else bonferroni
    return _pair_frame(
        (others, control),
        estimate,
        margin=critical * std_error,
        std_error=std_error,
        df=df,
        statistic=statistic,
        p_value=2 * stats.t.sf(np.abs(statistic), df),
        p_adjusted=[dunnett_sf(abs(float(t)), control, df) for t in statistic],
    )


def dunnett_sf(value: float, count: int, df: int) -> float:
    """Return P(the largest of `count` |t| with correlations 1/2 exceeds the value) (Dunnett 1955)."""
    # 1 - E_s E_z [Phi(z + sqrt(2) t s) - Phi(z - sqrt(2) t s)]^count, s the pooled deviation, z the control's
    if not np.isfinite(value):
        return 0.0 if np.isinf(value) else np.nan
    node, weight = gauss_nodes("hermite_e", 80)
    deviation, density = fold_statistics.deviation_nodes(df)
    half_width = np.sqrt(2) * value * deviation[:, None]
    inside = (special.ndtr(node + half_width) - special.ndtr(node - half_width)) ** count
    return float(np.clip(1 - density @ (inside @ (weight / weight.sum())), 0.0, 1.0))


_FAMILIES: dict[str, Callable[..., pd.DataFrame]] = {
    "paired_t": _paired_t,
    "corrected_t": _paired_t,
    "split_half_t": _paired_t,
    "max_t": _max_t,
    "games_howell": _games_howell,
    "nemenyi": _nemenyi,
    "wilcoxon": _wilcoxon,
    "dunnett": _dunnett,
}


#: Differences whose pairs are averaged; of more, so many evenly spaced ones.
MAX_WALSH = 1000


#: Tests of pairs over folds.
PAIRWISE_TESTS = tuple(_FAMILIES)
