"""Pairwise comparisons after the ANOVA, with simultaneous intervals, and compact letters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from skewanova._anova_result import IDENTICAL, NO_RESIDUALS, TINY, AnovaResult
from skewanova._checks import Floats, InputError, check_choice, check_fraction, check_prior, emit
from skewanova._fold_kernels import blocked_f, pair_indices
from skewanova._framed import Framed
from skewanova._studentized_range import range_isf, range_sf
from skewanova._ties import falling_order
from skewanova.anova import check_frame, two_way_anova, variation_limit

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
        ``as_published`` for the paper's procedure.
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
        Of :func:`~skewanova.two_way_anova` or :func:`~skewanova.three_way_anova` without interaction. The
        residual mean square is the ANOVA's, so the variation between folds is taken out; a one-way Tukey test
        of the same values (statsmodels' ``pairwise_tukeyhsd``) would leave it in.
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
    >>> from skewanova import tukey_hsd, two_way_anova
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
    estimate, std_error = effect[a] - effect[b], _standard_errors(cov, a, b)
    if result.rounding:  # no residual variation
        estimate, std_error = np.where(np.abs(estimate) > result.rounding, estimate, 0.0), 0.0 * std_error
    frame = _compare(estimate, std_error, df, n_levels=len(levels), alpha=alpha)
    test = "tukey" if result.test == "two_way" else "tukey_three_way"
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
        As :func:`~skewanova.two_way_anova`.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, tukey_by_prior
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> tukey_by_prior(measures.auprec)["prior"].tolist()
    [0.5, 0.5, 0.5, 0.2, 0.2, 0.2]
    """
    check_frame(auprec, ("model", "fold", "prior"), "auprec")
    complete = len(auprec) == prod(auprec[factor].nunique() for factor in ("model", "fold", "prior"))
    if complete:
        return _complete_by_prior(auprec, check_fraction(alpha, "alpha"), order)
    parts = []
    for prior, group in auprec.groupby("prior", sort=False, observed=True):
        result = two_way_anova(group, response="auprec", alpha=alpha)
        parts.append(tukey_hsd(result, alpha=alpha, prior=float(str(prior)), order=order).to_frame())
    return pd.concat(parts, ignore_index=True)


def _complete_by_prior(auprec: pd.DataFrame, alpha: float, order: Sequence[str] | None) -> pd.DataFrame:
    """All priors at once, where every cell stands: the two-way residual mean square is the blocked F's."""
    at, (models, folds, priors) = zip(
        *(pd.factorize(auprec[c]) for c in ("model", "fold", "prior")), strict=True
    )
    cube = np.empty((len(priors), len(folds), len(models)))
    cube[at[2], at[1], at[0]] = auprec["auprec"].to_numpy(dtype=np.float64)
    means, found = cube.mean(axis=1), blocked_f(cube)
    ranks = np.array([_positions(list(models), mean, order) for mean in means])
    first, second = pair_indices(len(models))
    a, b = ranks[:, first], ranks[:, second]
    estimate = np.take_along_axis(means, a, axis=1) - np.take_along_axis(means, b, axis=1)
    std_error = np.sqrt(2 * found.error_sum_sq / found.df_error / len(folds))
    limit = np.array([variation_limit(table) for table in cube])
    flat = found.error_sum_sq <= limit
    rounding = np.where(flat, np.maximum(np.sqrt(limit / cube[0].size), TINY), 0.0)[:, None]
    emit(
        [
            NO_RESIDUALS if e > most else IDENTICAL
            for e, most in zip(found.model_sum_sq[flat], limit[flat], strict=True)
        ]
    )
    estimate = np.where(np.abs(estimate) > rounding, estimate, 0.0)
    std_error = np.repeat(np.where(flat, 0.0, std_error), len(first))
    frame = _compare(estimate.ravel(), std_error, float(found.df_error), n_levels=len(models), alpha=alpha)
    names = {"model_a": [models[i] for i in a.ravel()], "model_b": [models[i] for i in b.ravel()]}
    frame = frame.assign(test="tukey", role="as_published", response="auprec", **names)
    prior = np.repeat(np.asarray(priors, dtype=np.float64), len(first))
    return frame.assign(prior=prior)[list(POSTHOC_COLUMNS)]


def prior_pair_columns() -> list[str]:
    """Columns of the frame of differences between priors."""
    names = {"model_a": "prior_a", "model_b": "prior_b"}
    return [names.get(column, column) for column in POSTHOC_COLUMNS if column != "prior"]


def compact_letters(levels: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Letters such that two levels share one exactly if they were not found to differ.

    Parameters
    ----------
    levels : sequence of str
        Levels, best first: letters are given out in this order.
    different : iterable of (str, str)
        Pairs found to differ.

    Returns
    -------
    dict
        Letters of every level, in the order of `levels`.

    References
    ----------
    Piepho (2004), An algorithm for a letter-based representation of all-pairwise comparisons (insert and
    absorb).

    Examples
    --------
    >>> from skewanova import compact_letters
    >>> compact_letters(["A", "C", "B"], [("A", "B")])
    {'A': 'a', 'C': 'ab', 'B': 'b'}
    """
    columns: list[frozenset[str]] = [frozenset(levels)]
    for first, second in different:
        split = [c - {gone} if {first, second} <= c else c for c in columns for gone in (first, second)]
        distinct = list(dict.fromkeys(split))
        columns = [c for c in distinct if not any(c < other for other in distinct)]
    position = {level: i for i, level in enumerate(levels)}
    columns.sort(key=lambda column: sorted(position[level] for level in column))
    return {
        level: "".join(_letter(i) for i, column in enumerate(columns) if level in column) for level in levels
    }


def _letter(index: int) -> str:
    """Letters a to z, then a1, b1, ... so that no count of groups runs out."""
    turn, place = divmod(index, 26)
    return chr(ord("a") + place) + (str(turn) if turn else "")


def _positions(levels: Sequence[Any], effect: Floats, order: Sequence[str] | None) -> list[int]:
    if order is None:
        return falling_order(effect)
    if sorted(map(str, order)) != sorted(map(str, levels)):
        raise InputError(f"`order` must name every level once, but got {list(order)!r} for {list(levels)!r}")
    position = {str(level): i for i, level in enumerate(levels)}
    return [position[str(level)] for level in order]


def _standard_errors(cov: Floats, a: Any, b: Any) -> Floats:
    return np.asarray(np.sqrt(np.maximum(cov[a, a] + cov[b, b] - 2 * cov[a, b], 0.0)))


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
