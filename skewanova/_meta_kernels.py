"""Random-effects meta-analysis: one effect in several studies, each with its own error."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import special
from scipy.optimize import brentq

from skewanova._checks import Floats


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


def random_effects(effects: Floats, variances: Floats) -> MetaAnalysis:
    """Mean effect with Paule and Mandel's variance between studies and a t test with k - 1 df.

    The standard error is that of Hartung and Knapp (2001) and Sidik and Jonkman (2002), never below the
    ordinary one (Rover et al. 2015). With Paule and Mandel's (1982) variance their factor, Q / (k - 1), is
    1 wherever that variance is positive and below 1 elsewhere, so the ordinary error is the one that is left.
    """
    df = len(effects) - 1
    if not (variances > 0).all():
        return MetaAnalysis(float(effects.mean()), *(np.nan,), df, *[np.nan] * 6)
    between = _paule_mandel(effects, variances)
    weight = 1 / (variances + between)
    estimate, std_error = float(weight @ effects / weight.sum()), float(weight.sum() ** -0.5)
    statistic = estimate / std_error
    q = _spread(effects, 1 / variances)
    typical = _typical_variance(variances)
    return MetaAnalysis(
        estimate=estimate,
        std_error=std_error,
        df=df,
        statistic=statistic,
        p_value=float(2 * special.stdtr(df, -abs(statistic))),
        tau=float(np.sqrt(between)),
        q=q,
        q_p_value=float(special.chdtrc(df, q)),
        i_sq=float(between / (between + typical)),
    )


def _spread(effects: Floats, weight: Floats) -> float:
    """Weighted sum of squares about the weighted mean (Cochran 1954)."""
    mean = weight @ effects / weight.sum()
    return float(weight @ (effects - mean) ** 2)


def _paule_mandel(effects: Floats, variances: Floats) -> float:
    """Variance between studies at which the weighted sum of squares is what it should be, k - 1."""
    df = len(effects) - 1

    def excess(between: float) -> float:
        return _spread(effects, 1 / (variances + between)) - df

    if excess(0.0) <= 0:
        return 0.0
    high = float(np.ptp(effects) ** 2 * len(effects))  # there, the sum is below (k - 1)
    return float(brentq(excess, 0.0, high, xtol=1e-300, rtol=1e-14))


def _typical_variance(variances: Floats) -> float:
    """Error variance of a typical study (Higgins and Thompson 2002)."""
    weight = 1 / variances
    return float((len(weight) - 1) * weight.sum() / (weight.sum() ** 2 - (weight**2).sum()))
