"""Comparisons of pairs of models: Tukey, t, rank, resampling and Bayesian."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy import special, stats
from scipy.optimize import brentq

from skewanova.base.checks import (
    Floats,
    InputError,
    Seed,
    check_choice,
    check_fraction,
    check_prior,
    check_rope,
)
from skewanova.base.frames import Framed
from skewanova.base.rounding import argsort_descending, snap_ties
from skewanova.evaluation.measures import Evaluation, between_halves, with_ratio
from skewanova.inference import fold_statistics
from skewanova.inference.anova import (
    AnovaResult,
    check_frame,
    two_way_anova,
)
from skewanova.inference.catalogue import ADJUSTMENTS, get_test, name_family
from skewanova.inference.families import equivalence_family, family
from skewanova.inference.fold_resampling import max_t_test, sign_flips, split_signs, squared_t
from skewanova.inference.fold_statistics import deviation_nodes, pair_indices, range_isf, range_sf
from skewanova.inference.omnibus import fold_table, kernel_arguments
from skewanova.priors.quadrature import gauss_nodes

#: Columns of every post-hoc frame about models, whatever the test.
POSTHOC_COLUMNS = (
    "test",
    "role",
    "response",
    "prior",
    "model_a",
    "model_b",
    "estimate",
    "std_error",
    "df",
    "statistic",
    "p_value",
    "p_adjusted",
    "conf_low",
    "conf_high",
    "reject",
)


@dataclass(frozen=True, eq=False)
class PosthocResult(Framed):
    """All pairwise differences between the levels of one factor.

    Attributes
    ----------
    test : str
        ``tukey`` (on the two-way residual mean square) or ``tukey_three_way``.
    role : str
        ``published`` for the paper's procedure.
    response : str
        ``iauprec`` or ``auprec``.
    factor : str
        ``model`` or ``prior``.
    alpha : float
        Family-wise level of `reject` and of the intervals.
    """

    test: str
    role: str
    response: str
    factor: str
    alpha: float
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row a pair; the differences are level a minus level b, the larger mean first."""
        return self._table.copy()


def tukey_hsd(
    result: AnovaResult,
    *,
    factor: str = "model",
    alpha: float = 0.05,
    prior: float = np.nan,
    order: Sequence[str] | None = None,
) -> PosthocResult:
    """Tukey's honestly significant differences on the residual mean square of a blocked ANOVA.

    Parameters
    ----------
    result : AnovaResult
        Of :func:`~skewanova.inference.two_way_anova` or :func:`~skewanova.inference.three_way_anova` without
        interaction. The residual mean square is the ANOVA's, so the variation between folds is taken out; a
        one-way Tukey test of the same values (statsmodels' ``pairwise_tukeyhsd``) would leave it in.
    factor : {"model", "prior"}, default "model"
        Factor whose levels are compared.
    alpha : float, default 0.05
        Family-wise level.
    prior : float, optional
        Written to the column prior: the prior at which the response was measured.
    order : sequence of str, optional
        Order of the levels; by default falling effects. Differences are earlier minus later.

    Returns
    -------
    PosthocResult
        Its frame has the columns of `POSTHOC_COLUMNS` (for priors, prior_a and prior_b instead of prior,
        model_a and model_b). ``statistic`` is the studentized range, ``p_value`` that of a single t test.

    Raises
    ------
    ValueError
        If the ANOVA has an interaction, or the factor is not in it.

    Notes
    -----
    Tukey-Kramer standard errors where cells are missing. Without residual variation, equal levels have p nan
    and unequal ones p 0.

    References
    ----------
    Tukey (1949); Kramer (1956). Equal to R's ``TukeyHSD(aov(y ~ model + fold), "model")``.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.inference import tukey_hsd, two_way_anova
    >>> frame = pd.DataFrame({
    ...     "model": list("AAABBB"), "fold": [1, 2, 3] * 2, "iauprec": [0.70, 0.74, 0.71, 0.78, 0.80, 0.81]
    ... })
    >>> pairs = tukey_hsd(two_way_anova(frame)).to_frame()
    >>> pairs[["model_a", "model_b", "estimate", "p_adjusted"]].round(4)
      model_a model_b  estimate  p_adjusted
    0       B       A      0.08      0.0202
    """
    check_fraction(alpha, "alpha")
    if str(prior) != "nan":
        check_prior(prior)
    check_choice(factor, [c for c in ("model", "prior") if c in {*result.to_frame()["term"]}], "factor")
    levels, effect, cov = result.effects(factor)
    ranks = _positions(levels, effect, order)
    a, b = (np.array(ranks)[side] for side in pair_indices(len(ranks)))
    df = float(result.row("model")["df_error"])
    estimate = effect[a] - effect[b]
    std_error = np.sqrt(np.maximum(cov[a, a] + cov[b, b] - 2 * cov[a, b], 0.0))
    if result.rounding:  # no residual variation
        estimate, std_error = np.where(np.abs(estimate) > result.rounding, estimate, 0.0), 0.0 * std_error
    frame = _compare(estimate, std_error, df, n_levels=len(levels), alpha=alpha)
    test = get_test(result.test).pairs
    frame = frame.assign(test=test, role=result.role, response=result.response)
    frame[f"{factor}_a"], frame[f"{factor}_b"] = [levels[i] for i in a], [levels[i] for i in b]
    columns = list(POSTHOC_COLUMNS) if factor == "model" else prior_pair_columns()
    return PosthocResult(
        test=test,
        role=result.role,
        response=result.response,
        factor=factor,
        alpha=alpha,
        _table=frame.assign(prior=prior)[columns],
    )


def tukey_by_prior(
    auprec: pd.DataFrame, *, alpha: float = 0.05, order: Sequence[str] | None = None
) -> pd.DataFrame:
    """Tukey's differences between models at each prior by itself: one family a prior.

    Parameters
    ----------
    auprec : DataFrame
        Columns model, fold, prior, auprec.
    alpha : float, default 0.05
        Family-wise level at each prior.
    order : sequence of str, optional
        As for :func:`tukey_hsd`.

    Returns
    -------
    DataFrame
        Columns of `POSTHOC_COLUMNS`, response auprec, with the prior filled in.

    Raises
    ------
    ValueError
        As :func:`~skewanova.inference.two_way_anova`.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import tukey_by_prior
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> tukey_by_prior(measures.auprec)["prior"].tolist()
    [0.5, 0.5, 0.5, 0.2, 0.2, 0.2]
    """
    check_frame(auprec, ("model", "fold", "prior"), "auprec")
    parts = []
    for prior, group in auprec.groupby("prior", sort=False, observed=True):
        result = two_way_anova(group, response="auprec", alpha=alpha)
        parts.append(tukey_hsd(result, alpha=alpha, prior=float(str(prior)), order=order).to_frame())
    return pd.concat(parts, ignore_index=True)


def prior_pair_columns() -> list[str]:
    """Columns of the frame of differences between priors."""
    names = {"model_a": "prior_a", "model_b": "prior_b"}
    return [names.get(column, column) for column in POSTHOC_COLUMNS if column != "prior"]


def _positions(levels: Sequence[Any], effect: Floats, order: Sequence[str] | None) -> list[int]:
    if order is None:
        return argsort_descending(effect)
    if sorted(map(str, order)) != sorted(map(str, levels)):
        raise InputError(f"`order` must name every level once, but got {list(order)!r} for {list(levels)!r}")
    position = {str(level): i for i, level in enumerate(levels)}
    return [position[str(level)] for level in order]


def _compare(estimate: Floats, std_error: Floats, df: float, *, n_levels: int, alpha: float) -> pd.DataFrame:
    """Studentized-range tests and intervals of pairwise differences."""
    size = np.abs(estimate)
    flat = std_error == 0  # no residual variation
    t_value = np.where(flat, np.where(size > 0, np.inf, np.nan), size / np.where(flat, 1.0, std_error))
    range_value = np.sqrt(2.0) * t_value
    p_value = 2 * stats.t.sf(t_value, df)
    p_adjusted = range_sf(range_value, n_levels, df)
    margin = range_isf(alpha, n_levels, df) / np.sqrt(2.0) * std_error
    return pd.DataFrame(
        {
            "estimate": estimate,
            "std_error": std_error,
            "df": df,
            "statistic": range_value,
            "p_value": p_value,
            "p_adjusted": p_adjusted,
            "conf_low": estimate - margin,
            "conf_high": estimate + margin,
            "reject": p_adjusted < alpha,
        }
    )


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
        Every model in every fold: an evaluation, which knows how its folds came about, or a frame with the
        columns model, fold, iauprec.
    method : str, default "corrected_t"
        One of

        - ``paired_t``: paired t;
        - ``corrected_t``: paired t with the variance of Nadeau and Bengio (2003);
        - ``split_half_t``: t with the variance that halvings of the data set show; needs an evaluation that
          has them;
        - ``wilcoxon``: signed ranks;
        - ``games_howell``: each pair's own standard error and the studentized range, in the way of Games and
          Howell (1976) for paired differences; liberal with few folds;
        - ``max_t``: step-down max-T of Westfall and Young (1993) under sign flips of whole fold profiles;
        - ``nemenyi``: mean ranks and the studentized range (Demsar 2006);
        - ``dunnett``: against `control`, on the blocked residual mean square (Dunnett 1955).
    p_adjust : {"holm", "bonferroni", "hochberg", "bh"}, optional
        How the p-values of the first four are adjusted, by default Holm's (1979) step-down; "bh" holds the
        expected share of false findings rather than the chance of any. The others adjust by themselves.
    ratio : float, optional
        Test cases for each training case, which ``corrected_t`` needs where a frame is given.
    alpha : float, default 0.05
        Family-wise level.
    control : str, optional
        Model that the others are compared with, and nothing else: by the first four methods or ``dunnett``,
        which needs it. Differences are the other model less the control.
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
        Columns of `POSTHOC_COLUMNS`; ``test`` is the method with its adjustment, such as
        ``corrected_t_holm``. ``estimate`` is always the difference of mean IAUPREC. Intervals of the first
        three methods are each at the level of the step that decided the pair (Holm's smallest p at
        ``alpha / n_pairs``), so that they agree with the tests; those of the others hold together; rank tests
        have none.

    Raises
    ------
    ValueError
        If the table is incomplete, an option is unknown, out of range or does not go with the method, or
        ``corrected_t`` is asked for without a design.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores
    >>> from skewanova.inference import posthoc
    >>> measures = evaluate(load_satellite_scores(), at_priors=(0.5, 0.2))
    >>> pairs = posthoc(measures)
    >>> pairs[["model_a", "model_b", "reject"]].to_numpy().tolist()
    [['A', 'C', False], ['A', 'B', False], ['C', 'B', False]]
    """
    check_choice(method, PAIRWISE_TESTS, "method")
    check_fraction(alpha, "alpha")
    test, p_adjust = get_test(method), check_family(method, p_adjust, control)
    frame, ratio = with_ratio(iauprec, "iauprec", ratio, needed=method if test.corrected else "")
    values, models = ordered_table(frame, order)
    if control is not None:  # the last of all: then every pair with it is another model less the control
        last = models.index(check_choice(control, models, "control"))
        places = [*(i for i in range(len(models)) if i != last), last]
        values, models = values[:, places], [models[i] for i in places]
    halves = between_halves(iauprec, models, needed=method) if test.halved else None
    inflation = 1 + len(values) * ratio
    needs = kernel_arguments(test, inflation=inflation, halves=halves, n_resamples=n_resamples, rng=rng)
    frame = _FAMILIES[method](values, alpha, **needs)
    names = {"model_a": [models[i] for i in frame.pop("a")], "model_b": [models[i] for i in frame.pop("b")]}
    frame = frame.assign(role=role, response="iauprec", prior=np.nan, **names)
    if p_adjust:
        frame = family(frame, alpha=alpha, p_adjust=p_adjust, control=control)
    test_name = name_family(method, p_adjust, control=control is not None)
    return frame.assign(test=test_name, reject=frame["p_adjusted"] < alpha)[list(POSTHOC_COLUMNS)]


def check_family(method: str, p_adjust: str | None, control: str | None, *, name: str = "method") -> str:
    """The adjustment of a family, empty for one that adjusts by itself; whether it can have a control."""
    test = get_test(method)
    if p_adjust is not None:
        check_choice(p_adjust, ADJUSTMENTS, "p_adjust")
        if not test.adjusted:
            raise InputError(
                f"`p_adjust` is for tests whose p-values stand alone, but {name}={method!r} adjusts by "
                "itself: leave out one of the two"
            )
    if test.control and control is None:
        raise InputError(f"`control` must name the model that {name}={method!r} compares the others with")
    if control is not None and not (test.control or test.adjusted):
        raise InputError(
            f"`control` leaves the pairs with one model, but {name}={method!r} compares all: leave out one "
            "of the two"
        )
    return p_adjust or ("holm" if test.adjusted else "")


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


def ordered_table(iauprec: pd.DataFrame, order: Sequence[str] | None) -> tuple[Floats, list[str]]:
    """Table of folds and models, in the order given or by falling means, and the models."""
    values, models = fold_table(iauprec)
    if order is None:
        ranks = np.array(argsort_descending(values.mean(axis=0)))
    elif sorted(order) == sorted(models):
        ranks = np.array([models.index(model) for model in order])
    else:
        raise InputError(f"`order` must name every model once, but got {list(order)!r}")
    return values[:, ranks], [models[i] for i in ranks]


def _frame(
    values: Floats,
    tests: fold_statistics.PairedT | None = None,
    margin: Floats | float = np.nan,
    **columns: object,
) -> pd.DataFrame:
    """Return pairs in order, with their t tests, intervals of this half-width, and the columns given."""
    a, b = pair_indices(values.shape[1])
    estimate = (values[:, a] - values[:, b]).mean(axis=0)
    empty = dict.fromkeys(("std_error", "df", "statistic", "p_value", "conf_low", "conf_high"), np.nan)
    data: dict[str, object] = {"a": a, "b": b, "estimate": estimate, **empty}
    if tests is not None:
        data |= {"std_error": tests.std_error, "statistic": tests.statistic}
        data |= {"conf_low": tests.estimate - margin, "conf_high": tests.estimate + margin}
    return pd.DataFrame(data | columns)


def _paired_t(
    values: Floats, alpha: float, *, inflation: float = 1.0, halves: Floats | None = None
) -> pd.DataFrame:
    tests = fold_statistics.paired_t(values, inflation=inflation, halves=halves)
    p_value = fold_statistics.paired_t_p(values, inflation=inflation, halves=halves)
    return _frame(values, tests, df=fold_statistics.mean_df(values, halves), p_value=p_value)


def _games_howell(values: Floats, alpha: float) -> pd.DataFrame:
    tests, df, n_models = fold_statistics.paired_t(values), len(values) - 1, values.shape[1]
    adjusted = range_sf(np.sqrt(2) * np.abs(tests.statistic), n_models, df)
    margin = range_isf(alpha, n_models, df) / np.sqrt(2) * tests.std_error
    p_value = fold_statistics.paired_t_p(values)
    return _frame(values, tests, margin, df=df, p_value=p_value, p_adjusted=adjusted)


def _max_t(values: Floats, alpha: float, *, n_resamples: int, rng: Seed) -> pd.DataFrame:
    """Interval: the single-step critical value of the largest |t| under sign flips, where it is reachable."""
    tests, n_folds = fold_statistics.paired_t(values), len(values)
    adjusted = max_t_test(values, n_resamples=n_resamples, rng=rng).p_value
    a, b = pair_indices(values.shape[1])
    signs, _ = sign_flips(n_folds, n_resamples=n_resamples, rng=rng)
    difference = values[:, a] - values[:, b]
    centred = difference - difference.mean(axis=0)
    largest = np.concatenate(
        [squared_t(centred, part).max(axis=-1) for part in split_signs(signs[1:], len(a))]
    )
    critical = np.sqrt((n_folds - 1) * np.quantile(largest, 1 - alpha, method="higher"))
    margin = critical * tests.std_error if len(signs) * alpha >= 1 else np.full(len(a), np.nan)
    adjusted = np.where(np.isnan(tests.statistic), np.nan, adjusted)
    return _frame(values, tests, margin, df=np.nan, p_value=np.nan, p_adjusted=adjusted)


def _nemenyi(values: Floats, alpha: float) -> pd.DataFrame:
    n_folds, n_models = values.shape
    a, b = pair_indices(n_models)
    mean_rank = stats.rankdata(snap_ties(values), axis=1).mean(axis=0)
    z_value = (mean_rank[a] - mean_rank[b]) / np.sqrt(n_models * (n_models + 1) / (6 * n_folds))
    adjusted = range_sf(np.sqrt(2) * np.abs(z_value), n_models, np.inf)
    return _frame(
        values, df=np.inf, statistic=z_value, p_value=2 * stats.norm.sf(np.abs(z_value)), p_adjusted=adjusted
    )


def _wilcoxon(values: Floats, alpha: float) -> pd.DataFrame:
    """Test by Wilcoxon's signed ranks (exact p-value for at most 50 folds without ties, as in scipy)."""
    difference = fold_statistics.pair_differences(values)
    ordered = np.sort(snap_ties(np.abs(difference).T), axis=1)
    plain = (ordered[:, 0] > 0) & (np.diff(ordered) > 0).all(axis=1)  # these go through scipy at once
    statistic, p_value = np.empty(len(plain)), np.empty(len(plain))
    if plain.any():
        statistic[plain], p_value[plain] = stats.wilcoxon(difference[:, plain], axis=0)
    for i in np.flatnonzero(~plain):
        statistic[i], p_value[i] = _signed_rank(difference[:, i])
    return _frame(values, statistic=statistic, p_value=p_value)


def _signed_rank(difference: Floats) -> tuple[float, float]:
    nonzero = difference[difference != 0]
    if not len(nonzero):
        return np.nan, np.nan
    result = stats.wilcoxon(np.copysign(snap_ties(np.abs(nonzero)), nonzero))
    return float(result.statistic), float(result.pvalue)


def _dunnett(values: Floats, alpha: float) -> pd.DataFrame:
    """The last model is the control."""
    blocked = fold_statistics.blocked_f(values)
    control = values.shape[1] - 1
    others = np.arange(control)
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
    node, weight = gauss_nodes("hermite_e", 80)
    deviation, density = deviation_nodes(df)
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


#: Tests of pairs over folds.
PAIRWISE_TESTS = tuple(_FAMILIES)
