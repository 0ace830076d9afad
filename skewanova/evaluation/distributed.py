"""One group measured where its rows are, by an engine of one's own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from skewanova.base.checks import InputError
from skewanova.curves.areas import auprec, iauprec
from skewanova.curves.roc import auc
from skewanova.priors.weightings import Target, as_deployment_prior
from skewanova.scores.clusters import refuse_in_passes
from skewanova.scores.columns import SAMPLING_COLUMNS
from skewanova.scores.table import build_table
from skewanova.scores.validation import locate_row_of_group, with_fold

#: Columns of what `measure_group` returns, and their types.
GROUP_COLUMNS = {
    "model": "object",
    "fold": "object",
    "prior": "float64",
    "auprec": "float64",
    "iauprec": "float64",
    "auc": "float64",
    "n_positive": "int64",
    "n_negative": "int64",
}


def measure_group(
    frame: pd.DataFrame,
    *,
    at_priors: Sequence[float] = (0.5, 0.1, 0.01),
    deployment_prior: Target = (0.05, 0.20),
    area_estimator: str = "trapezoid",
    pos_label: object = None,
) -> pd.DataFrame:
    """Measure one model in one fold, given all its rows: the function of a grouped map.

    Parameters
    ----------
    frame : DataFrame
        All rows of one (model, fold), with the columns model, fold (without one, all rows are one test set),
        y_true, y_score and, optionally, case.
    at_priors : sequence of float, default (0.5, 0.1, 0.01)
        As for :func:`~skewanova.evaluate`.
    deployment_prior : (low, high), float or deployment prior, default (0.05, 0.20)
        As for :func:`~skewanova.evaluate`.
    area_estimator : str, default "trapezoid"
        As for :func:`~skewanova.auprec`.
    pos_label : object, optional
        As for :func:`~skewanova.read_scores`.

    Returns
    -------
    DataFrame
        One row a prior, with the columns model and fold (as text), prior, auprec, iauprec, auc, n_positive,
        n_negative. In Spark's words: ``"model string, fold string, prior double, auprec double, iauprec
        double, auc double, n_positive long, n_negative long"``.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`, for the rows of this group; ValueError if there are several groups.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.evaluation import measure_group
    >>> columns = {"y_true": [0, 0, 1, 1], "y_score": [0.1, 0.4, 0.35, 0.8]}
    >>> rows = pd.DataFrame({"model": "A", "fold": 1, **columns})
    >>> measure_group(rows, at_priors=(0.5, 0.1))["auprec"].round(4).tolist()
    [0.7917, 0.5705]
    """
    refuse_in_passes(frame.columns.tolist(), SAMPLING_COLUMNS)
    rows = with_fold(frame.reset_index(drop=True))
    table = build_table(rows, locate_row_of_group(rows), pos_label, None)
    curves = table.curves()
    if len(curves) > 1:
        raise InputError(
            f"`frame` must hold the rows of one model in one fold, but holds {len(curves)} groups"
        )
    ((model, fold), roc), *_ = curves.items()
    grid = np.asarray(at_priors, dtype=np.float64)
    measured: dict[str, Any] = {
        "model": str(model),
        "fold": str(fold),
        "prior": grid,
        "auprec": auprec(roc, grid, area_estimator=area_estimator),
        "iauprec": iauprec(roc, as_deployment_prior(deployment_prior), area_estimator=area_estimator),
        "auc": auc(roc),
        "n_positive": int(roc.n_positive),
        "n_negative": int(roc.n_negative),
    }
    return pd.DataFrame(measured).astype(GROUP_COLUMNS)
