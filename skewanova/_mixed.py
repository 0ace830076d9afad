"""Mixed model for tables with missing cells: folds random, model:fold the residual."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import brentq

from skewanova._checks import Floats, InputError
from skewanova._fold_kernels import FTest
from skewanova._omnibus_result import OmnibusResult, flat_test, omnibus_result
from skewanova.anova import variation_limit

Codes = NDArray[np.intp]

#: Ratios of the variance between folds to the residual variance, between which the likelihood is searched.
VARIANCE_RATIOS = np.concatenate(([0.0], np.geomspace(1e-6, 1e12, 91)))


def mixed_model_anova(iauprec: pd.DataFrame, *, role: str = "check") -> OmnibusResult:
    """Test of the models where cells are missing: folds random, model:fold the residual.

    Parameters
    ----------
    iauprec : DataFrame
        Columns model, fold, iauprec; cells may be missing.
    role : str, default "check"
        Written to the frame.

    Returns
    -------
    OmnibusResult
        The term model. The Wald statistic over its degrees of freedom is referred to F with the residual
        degrees of freedom of the table, ``n_cells - n_folds - n_models + 1``: with a complete table that is
        the blocked F test, where the Wald chi-square of the software would reject too often.

    Raises
    ------
    ValueError
        If there are fewer than 2 models or 2 folds, no residual degrees of freedom, a cell stands twice or is
        not finite.

    Notes
    -----
    Restricted maximum likelihood, as R's ``lme4::lmer(iauprec ~ model + (1 | fold))``, with its one variance
    ratio found exactly: general optimisers may stop so early that F is off by a percent.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova import mixed_model_anova
    >>> frame = pd.DataFrame({
    ...     "model": list("AAAABBB"), "fold": [1, 2, 3, 4, 1, 2, 3],
    ...     "iauprec": [0.70, 0.74, 0.71, 0.75, 0.78, 0.80, 0.81],
    ... })
    >>> mixed_model_anova(frame).to_frame()[["df", "df_error", "statistic", "p_value"]].round(3)
        df  df_error  statistic  p_value
    0  1.0       2.0     41.275    0.023
    """
    values = iauprec["iauprec"].to_numpy(dtype=np.float64)
    model, models = pd.factorize(iauprec["model"])
    fold, folds = pd.factorize(iauprec["fold"])
    df, df_error = len(models) - 1, len(values) - len(folds) - len(models) + 1
    if min(len(models), len(folds)) < 2 or df_error < 1:
        raise InputError(
            f"a mixed model needs 2 models, 2 folds and cells to spare, but has {len(models)} models, "
            f"{len(folds)} folds and {len(values)} cells"
        )
    if iauprec.duplicated(["model", "fold"]).any() or not np.isfinite(values).all():
        raise InputError("every (model, fold) must stand once in the frame, with a finite `iauprec`")
    design = np.column_stack([np.ones(len(values)), model[:, None] == np.arange(1, len(models))])
    sums = _within_folds(values, design, fold)
    flat = flat_test(*sums, limit=variation_limit(values), df=(df, df_error))
    if flat is not None:
        return omnibus_result("mixed", role, flat[0], notes=[flat[1]])
    statistic, ratio = _wald_f((values - values.mean()) / values.std(), design, fold)
    p_value = stats.f.sf(statistic, df, df_error)
    found = FTest(*(np.asarray(v) for v in (statistic, df, df_error, p_value)))
    notes = ["the mixed model finds no variation between folds"] if ratio == 0 else []
    return omnibus_result("mixed", role, found, notes=notes)


def _within_folds(values: Floats, design: Floats, fold: Codes) -> tuple[float, float]:
    """Sums of squares of the models and of the residuals, folds taken out."""
    table = np.column_stack([values, design[:, 1:]])
    within = table - (_fold_sums(table, fold) / np.bincount(fold)[:, None])[fold]
    effect = np.linalg.lstsq(within[:, 1:], within[:, 0], rcond=None)[0]
    error = float(((within[:, 0] - within[:, 1:] @ effect) ** 2).sum())
    return float((within[:, 0] ** 2).sum()) - error, error


def _fold_sums(table: Floats, fold: Codes) -> Floats:
    sums = np.zeros((int(fold.max()) + 1, table.shape[1]))
    np.add.at(sums, fold, table)
    return sums


class _Likelihood(NamedTuple):
    """Restricted likelihood at one variance ratio: twice its negative log, its slope, the Wald F."""

    deviance: float
    slope: float
    wald_f: float


def _wald_f(values: Floats, design: Floats, fold: Codes) -> tuple[float, float]:
    """Wald F of the models under restricted maximum likelihood, and the variance ratio."""
    at = [_likelihood(ratio, values, design, fold) for ratio in VARIANCE_RATIOS]
    found = [(at[0], 0.0)] if at[0].slope >= 0 else []
    for i in range(len(at) - 1):
        if at[i].slope < 0 <= at[i + 1].slope:
            low, high = VARIANCE_RATIOS[i], VARIANCE_RATIOS[i + 1]
            ratio = brentq(
                lambda r: _likelihood(r, values, design, fold).slope, low, high, xtol=1e-18, rtol=1e-14
            )
            found.append((_likelihood(ratio, values, design, fold), ratio))
    best, ratio = min(found, key=lambda pair: pair[0].deviance, default=(at[-1], VARIANCE_RATIOS[-1]))
    return best.wald_f, float(ratio)


def _likelihood(ratio: float, values: Floats, design: Floats, fold: Codes) -> _Likelihood:
    """Profile over effects and residual variance; V = I + ratio Z Z', Z the membership of folds."""
    n_cells, n_effects = design.shape
    count = np.bincount(fold)
    shrink = 1 / (1 + count * ratio)  # Z' V^-1 = diag(shrink) Z'
    x_sum, y_sum = _fold_sums(design, fold), np.bincount(fold, weights=values)
    weight = ratio * shrink
    cross = design.T @ design - (x_sum.T * weight) @ x_sum  # X' V^-1 X
    inverse = np.linalg.inv(cross)
    effect = inverse @ (design.T @ values - (x_sum.T * weight) @ y_sum)
    residual = values - design @ effect
    total = np.bincount(fold, weights=residual)  # Z' P y = shrink * total
    rest = ((residual - (total / count)[fold]) ** 2).sum() + (shrink * total**2 / count).sum()  # y' P y
    df = n_cells - n_effects
    trace = (count * shrink).sum() - np.trace(inverse @ (x_sum.T * shrink**2) @ x_sum)
    deviance = df * np.log(rest) - np.log(shrink).sum() + np.linalg.slogdet(cross)[1]
    wald = effect[1:] @ np.linalg.solve(inverse[1:, 1:], effect[1:]) / (rest / df) / (n_effects - 1)
    return _Likelihood(float(deviance), float(trace - df * ((shrink * total) ** 2).sum() / rest), float(wald))
