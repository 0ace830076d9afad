"""What the tests assume of a fold x model table, checked, each with what to do about it."""

from __future__ import annotations

from math import comb, exp, lgamma

import numpy as np
import pandas as pd
from scipy import stats

from skewanova import _fold_kernels as kernels
from skewanova._checks import Floats, check_fraction
from skewanova._omnibus_result import fold_table, without_variation
from skewanova._ties import falling_order
from skewanova.evaluation import FOLD_IMBALANCE

#: Level at which a check gives advice: it warns, it decides nothing.
CHECK_LEVEL = 0.05
#: Shapiro and Wilk's test is tabulated up to here.
MOST_RESIDUALS = 5000
CHECK_COLUMNS = ("check", "statistic", "p_value", "advice")

Row = tuple[str, float, float, str]


def assumption_checks(iauprec: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """Check what the tests of IAUPREC assume, and advise where it does not hold.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec, n_positive; every model in every fold.
    alpha : float, default 0.05
        Level of the tests, for the check whether resampling can reach it.

    Returns
    -------
    DataFrame
        Columns check, statistic, p_value, advice, with the rows normality (Shapiro-Wilk of the two-way
        residuals), spread (Brown-Forsythe of these, over models), sphericity (Mauchly), additivity (Tukey's
        one degree of freedom), fold_imbalance (largest over smallest number of positives), ceiling (how many
        standard deviations the best model's mean lies below 1), smallest_p_sign_flip, smallest_p_permutation
        and smallest_p_wilcoxon_holm (the smallest p-value that all arrangements can give; random ones end at
        1 over their number). ``advice`` is empty where there is none to give.

    Raises
    ------
    ValueError
        If the table is incomplete.

    Examples
    --------
    >>> from skewanova import assumption_checks, evaluate, load_satellite_scores
    >>> checks = assumption_checks(evaluate(load_satellite_scores(), priors=(0.5, 0.2)).iauprec)
    >>> checks.loc[checks["advice"] != "", "check"].tolist()
    ['normality', 'sphericity', 'additivity']
    """
    check_fraction(alpha, "alpha")
    values, _ = fold_table(iauprec)
    rows = [
        *_residual_rows(values),
        _sphericity_row(values),
        _additivity_row(values),
        _imbalance_row(iauprec["n_positive"].to_numpy(dtype=np.float64)),
        _ceiling_row(values),
        *_smallest_p_rows(*values.shape, alpha=alpha),
    ]
    return pd.DataFrame(rows, columns=list(CHECK_COLUMNS))


def additivity_test(values: Floats) -> tuple[float, float]:
    """Tukey's (1949) one degree of freedom for non-additivity: F and p.

    Parameters
    ----------
    values : ndarray of shape (n_folds, n_models)
        The table.

    Returns
    -------
    statistic, p_value : float
        nan where there is no variation between folds, between models, or left over.
    """
    grand = values.mean()
    fold, model = values.mean(axis=1) - grand, values.mean(axis=0) - grand
    residual = values - grand - fold[:, None] - model
    weight = (fold**2).sum() * (model**2).sum()
    if weight <= 1e-24 * grand**4 or without_variation(values) is not None:
        return np.nan, np.nan
    explained = float(fold @ values @ model) ** 2 / weight
    df_error = residual.size - len(fold) - len(model)
    left = float((residual**2).sum()) - explained
    if left <= 1e-12 * explained or df_error < 1:
        return np.nan, np.nan
    statistic = explained / (left / df_error)
    return statistic, float(stats.f.sf(statistic, 1, df_error))


def _residual_rows(values: Floats) -> list[Row]:
    residual = values - values.mean(axis=0) - values.mean(axis=1, keepdims=True) + values.mean()
    if without_variation(values) is not None:
        return [("normality", np.nan, np.nan, ""), ("spread", np.nan, np.nan, "")]
    nothing = (np.nan, np.nan)
    normal = stats.shapiro(residual.ravel()) if residual.size <= MOST_RESIDUALS else nothing
    # two folds leave each model two residuals of one size, and two models mirror each other
    spread = stats.levene(*residual.T, center="median") if min(values.shape) > 2 else nothing
    not_normal = "residuals are not normal: read the sign-flip and Friedman rows beside"
    unequal = (
        "models spread unequally over folds: do not rely on Tukey's tests or label permutation, which pool "
        "their variances"
    )
    return [
        _advised("normality", (float(normal[0]), float(normal[1])), not_normal),
        _advised("spread", (float(spread[0]), float(spread[1])), unequal),
    ]


def _sphericity_row(values: Floats) -> Row:
    n_folds, n_models = values.shape
    contrasts = values @ kernels.helmert(n_models).T
    if n_models < 3 or not kernels.full_rank(values):
        return ("sphericity", np.nan, np.nan, "")
    w, p = kernels.mauchly(kernels.fold_covariance(contrasts), n_folds)
    advice = "differences between models vary unequally: the uncorrected F and Tukey's tests reject too often"
    return _advised("sphericity", (float(w), float(p)), advice)


def _additivity_row(values: Floats) -> Row:
    advice = (
        "differences between models grow with the level of the fold: read the differences fold by fold, or "
        "on another scale"
    )
    return _advised("additivity", additivity_test(values), advice)


def _imbalance_row(positives: Floats) -> Row:
    ratio = float(positives.max() / positives.min())
    advice = f"folds differ by a factor of {ratio:.2g} in positives, yet count alike: use stratified folds"
    return ("fold_imbalance", ratio, np.nan, advice if ratio > FOLD_IMBALANCE else "")


def _ceiling_row(values: Floats) -> Row:
    mean, spread = values.mean(axis=0), values.std(axis=0, ddof=1)
    best = falling_order(mean)[0]
    gap, deviation = float(1 - mean[best]), float(spread[best])
    distance = gap / deviation if deviation > kernels.ROUNDING else np.inf
    distance = distance if gap > kernels.ROUNDING else 0.0
    advice = "the best model is close to the ceiling of 1, where differences shrink and normality fails"
    return ("ceiling", distance, np.nan, advice if distance < 2 else "")


def _smallest_p_rows(n_folds: int, n_models: int, *, alpha: float) -> list[Row]:
    pairs = comb(n_models, 2)
    advice = f"with {n_folds} folds this test cannot reach {alpha:g}: more folds are needed"
    smallest = {
        "sign_flip": 2.0 ** (1 - n_folds),
        "permutation": exp((1 - n_folds) * lgamma(n_models + 1)),
        "wilcoxon_holm": min(1.0, pairs * 2.0 ** (1 - n_folds)),
    }
    return [
        (f"smallest_p_{test}", np.nan, p_value, advice if p_value >= alpha else "")
        for test, p_value in smallest.items()
    ]


def _advised(check: str, found: tuple[float, float], advice: str) -> Row:
    statistic, p_value = float(found[0]), float(found[1])
    return (check, statistic, p_value, advice if p_value < CHECK_LEVEL else "")
