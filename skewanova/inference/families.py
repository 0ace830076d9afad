"""Families of comparisons: which pairs are tested together, how their p-values are adjusted, their intervals.

An interval agrees with the decision about its pair: it is at the level of the step that decided it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats
from statsmodels.stats.multitest import multipletests

from skewanova.base.checks import Floats
from skewanova.base.rounding import TIE
from skewanova.inference.fold_statistics import holm

#: What statsmodels calls the adjustments; Holm's is :func:`~.fold_statistics.holm`, equal to the last digit.
_OTHERS = {"bonferroni": "bonferroni", "hochberg": "simes-hochberg", "bh": "fdr_bh"}


#: Columns that change places where a pair is turned round.
_SIDES = (("model_a", "model_b"), ("p_a_ahead", "p_b_ahead"))


def adjust_p_values(p_values: Floats, p_adjust: str) -> Floats:
    """Adjusted p-values of one family; nan stays nan and counts as not tested."""
    if p_adjust == "holm":
        return holm(p_values)
    p_adjusted = np.full(p_values.shape, np.nan)
    tested = np.isfinite(p_values)
    if tested.any():
        p_adjusted[tested] = multipletests(p_values[tested], method=_OTHERS[p_adjust])[1]
    return p_adjusted


def stepwise_levels(p_values: Floats, alpha: float, *, p_adjust: str) -> Floats:
    """Level of each pair's interval: that of the step which decided the pair, so that the two agree.

    Of m pairs tested, r are rejected. Bonferroni: alpha / m. Benjamini and Hochberg: alpha r / m (Benjamini
    and Yekutieli 2005). Holm: the i-th smallest p by alpha / (m - i + 1), all pairs kept by that of the first
    of them. Hochberg: the same, but all rejected pairs by that of the last of them.
    """
    tested = max(int(np.isfinite(p_values).sum()), 1)
    rejected = int((adjust_p_values(p_values, p_adjust) < alpha).sum())
    if p_adjust == "bonferroni":
        return np.full(p_values.shape, alpha / tested)
    if p_adjust == "bh":
        return np.full(p_values.shape, alpha * max(rejected, 1) / tested)
    before = np.argsort(np.argsort(p_values))  # pairs of smaller p: i - 1
    step = np.minimum(before, rejected) if p_adjust == "holm" else np.maximum(before, rejected - 1)
    return np.asarray(alpha / (tested - np.minimum(step, tested - 1)))


def family(
    pairs: pd.DataFrame, *, alpha: float, p_adjust: str = "holm", control: str | None = None
) -> pd.DataFrame:
    """Adjusted p, intervals and decisions of pairs tested together: all of them, or those with the control.

    Of `pairs` the columns model_a, model_b, estimate, std_error, df, statistic and p_value are used; with a
    control, a difference is the other model less the control.
    """
    chosen = pairs if control is None else orient_to_control(pairs, control)
    estimate, error, df, p_value = (
        chosen[column].to_numpy(dtype=np.float64) for column in ("estimate", "std_error", "df", "p_value")
    )
    level, p_adjusted = stepwise_levels(p_value, alpha, p_adjust=p_adjust), adjust_p_values(p_value, p_adjust)
    unknown = np.isnan(p_value) & (np.abs(estimate) > TIE)  # a difference without spread tells nothing
    half_width = np.where(error == 0, np.where(unknown, np.nan, 0.0), stats.t.isf(level / 2, df) * error)
    return chosen.assign(
        p_adjusted=p_adjusted,
        conf_low=estimate - half_width,
        conf_high=estimate + half_width,
        reject=p_adjusted < alpha,
    )


def orient_to_control(pairs: pd.DataFrame, control: str) -> pd.DataFrame:
    """Pairs that hold the control, as the other model less the control."""
    selected = pairs[(pairs["model_a"] == control) | (pairs["model_b"] == control)].reset_index(drop=True)
    turned = selected["model_a"] == control
    swapped = selected.rename(columns=dict((*_SIDES, *((b, a) for a, b in _SIDES))))[list(selected)]
    sided = [column for pair in _SIDES for column in pair if column in selected]
    selected[sided] = selected[sided].where(~turned, swapped[sided], axis=0)
    signed = [column for column in ("estimate", "statistic") if column in selected]
    selected[signed] = selected[signed].where(~turned, -selected[signed], axis=0)
    return selected


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
