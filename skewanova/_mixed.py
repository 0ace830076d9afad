"""Mixed model for tables with missing cells: folds random, model:fold the residual."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from scipy import stats

from skewanova._checks import InputError
from skewanova._fold_kernels import FTest
from skewanova._omnibus_result import OmnibusResult, omnibus_result


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
        If there are fewer than 2 models or 2 folds, or no residual degrees of freedom.

    Examples
    --------
    >>> from skewanova import evaluate, load_satellite_scores, mixed_model_anova
    >>> measures = evaluate(load_satellite_scores(), priors=(0.5, 0.2))
    >>> mixed_model_anova(measures.iauprec.iloc[1:]).to_frame()["df_error"].tolist()
    [37.0]
    """
    coded = pd.DataFrame(
        {
            "y": iauprec["iauprec"].to_numpy(dtype=np.float64),
            "m": pd.factorize(iauprec["model"])[0],
            "f": pd.factorize(iauprec["fold"])[0],
        }
    )
    n_models, n_folds = coded["m"].nunique(), coded["f"].nunique()
    df_error = len(coded) - n_folds - n_models + 1
    if min(n_models, n_folds) < 2 or df_error < 1:
        raise InputError(
            f"a mixed model needs 2 models, 2 folds and cells to spare, but has {n_models} models, {n_folds} "
            f"folds and {len(coded)} cells"
        )
    statistic, notes = _wald_f(coded, n_models)
    p_value = stats.f.sf(statistic, n_models - 1, df_error)
    found = FTest(*(np.asarray(v) for v in (statistic, n_models - 1, df_error, p_value)))
    return omnibus_result("mixed", role, found, notes=notes)


def _wald_f(coded: pd.DataFrame, n_models: int) -> tuple[float, list[str]]:
    """Wald F of the models under restricted maximum likelihood."""
    scale = float(coded["y"].std()) or 1.0
    data = coded.assign(y=(coded["y"] - coded["y"].mean()) / scale)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit: Any = smf.mixedlm("y ~ C(m)", data, groups=data["f"]).fit(reml=True)
    names = [f"C(m)[T.{code}]" for code in range(1, n_models)]
    effect, cov = fit.params[names].to_numpy(), fit.cov_params().loc[names, names].to_numpy()
    notes = [] if fit.converged else ["the mixed model did not converge: its test is a rough guide"]
    boundary = any("boundary" in str(note.message).lower() for note in told)
    if boundary:
        notes.append("the mixed model finds no variation between folds")
    return float(effect @ np.linalg.solve(cov, effect) / len(names)), notes
