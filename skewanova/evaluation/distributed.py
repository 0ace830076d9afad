"""Groups of Dask or Spark measured where their rows are."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np
import pandas as pd

from skewanova.base.checks import InputError, SkewanovaWarning, Where, row_number
from skewanova.curves.areas import auprec, iauprec
from skewanova.curves.groups import Cell
from skewanova.curves.roc import RocCurve, auc
from skewanova.priors.weightings import Target, as_deployment_prior
from skewanova.scores.clusters import SAMPLING_COLUMNS, refuse_in_passes
from skewanova.scores.formats import wanted_columns
from skewanova.scores.halvings import HALVINGS_IN_MEMORY
from skewanova.scores.table import (
    DATASET_COLUMNS,
    Label,
    build_table,
    check_any_row,
    levels_of,
    refuse_several_datasets,
)

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


KEYS = ("model", "fold")


def measure_group(
    frame: pd.DataFrame,
    *,
    priors: Sequence[float] = (0.5, 0.1, 0.01),
    deployment_prior: Target = (0.05, 0.20),
    area_estimator: str = "trapezoid",
    pos_label: object = None,
) -> pd.DataFrame:
    """Measure one model in one fold, given all its rows: the function of a grouped map.

    Parameters
    ----------
    frame : DataFrame
        All rows of one (model, fold), with the columns model, fold, y_true, y_score and, optionally, case.
    priors : sequence of float, default (0.5, 0.1, 0.01)
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
    >>> measure_group(rows, priors=(0.5, 0.1))["auprec"].round(4).tolist()
    [0.7917, 0.5705]
    """
    refuse_in_passes(frame.columns.tolist(), SAMPLING_COLUMNS)
    table = build_table(frame.reset_index(drop=True), _place(frame), pos_label, None)
    curves = table.curves()
    if len(curves) > 1:
        raise InputError(
            f"`frame` must hold the rows of one model in one fold, but holds {len(curves)} groups"
        )
    ((model, fold), roc), *_ = curves.items()
    grid = np.asarray(priors, dtype=np.float64)
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


def is_distributed(source: object) -> bool:
    """Whether a table is a Dask data frame."""
    return hasattr(source, "map_partitions") and type(source).__module__.startswith("dask")


def measure_distributed(source: Any, **options: Any) -> pd.DataFrame:
    """Measure all groups of a Dask data frame, each where its rows meet, and collect the numbers."""
    names = list(source.columns)
    kept = wanted_columns(names, [*KEYS, "y_true", "y_score"], ["case"], name="the Dask frame")
    if "halving" in names:
        raise InputError(HALVINGS_IN_MEMORY)
    refuse_in_passes(names, SAMPLING_COLUMNS)
    for column in sorted(DATASET_COLUMNS.intersection(names)):
        refuse_several_datasets(column, int(source[column].nunique().compute()))
    together = source[kept].shuffle(on=list(KEYS))
    measured = together.map_partitions(partial(_measure_groups, **options), meta=_no_groups())
    frame = pd.DataFrame(measured.compute())
    check_any_row(len(frame))
    return frame


def in_order(measured: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...], tuple[Label, ...]]:
    """Numbers of all groups by model, in the order of names, and fold, and the levels of both."""
    frame = measured.sort_values(["model", "fold"], kind="stable", ignore_index=True)
    model = levels_of(frame["model"], "model", row_number)
    fold = levels_of(frame["fold"], "fold", row_number, whole=True)
    frame["model"] = frame["model"].astype(object)
    frame["fold"] = np.asarray(fold.categories, dtype=object)[fold.codes]
    if frame.duplicated(["model", "fold", "prior"]).any():
        raise InputError("a fold must be spelled in one way, but some are both whole numbers and fractions")
    order = np.lexsort((fold.codes, model.codes))  # stable, so priors keep their order
    ordered = frame.iloc[order].reset_index(drop=True).infer_objects()
    return ordered, tuple(model.categories), tuple(fold.categories.tolist())


def _measure_groups(frame: pd.DataFrame, **options: Any) -> pd.DataFrame:
    """Measure all groups of a partition."""
    groups = frame.groupby(list(KEYS), sort=False, observed=True, dropna=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        return pd.concat([_no_groups(), *(measure_group(rows, **options) for _, rows in groups)])


def _no_groups() -> pd.DataFrame:
    return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in GROUP_COLUMNS.items()})


def _place(frame: pd.DataFrame) -> Where:
    """Rows of a group have no number in the table."""
    if not len(frame) or any(key not in frame for key in KEYS):
        return row_number
    model, fold = (frame[key].head(1).tolist()[0] for key in KEYS)
    return lambda row: f"{row_number(row)} of those of model {model!r} in fold {fold!r}"


class AbsentCurves(Mapping[Cell, RocCurve]):
    """Stands for curves that stayed where the rows are, and says so when they are asked for."""

    def __getitem__(self, cell: Cell) -> RocCurve:
        self._refuse()

    def __iter__(self) -> Iterator[Cell]:
        self._refuse()

    def __len__(self) -> int:
        self._refuse()

    def __repr__(self) -> str:
        return "<ROC curves that stayed where the rows are>"

    def _refuse(self) -> NoReturn:
        raise InputError(
            "this needs the ROC curves, which stayed where the rows are: only AUPREC at the priors asked for "
            "and IAUPREC came back. Ask evaluate() for more priors, or write the rows to Parquet and use "
            "stream_scores()"
        )
