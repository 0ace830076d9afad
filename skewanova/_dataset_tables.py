"""Score tables of several data sets: read, told apart and checked one by one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova._checks import InputError, InputTypeError, Where
from skewanova._score_table import ScoreTable, build_table, check_any_row
from skewanova._tables_in import load_table
from skewanova.scores import COLUMNS, column_names, read_scores

DATASET = "dataset"


def read_datasets(
    source: object, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> dict[str, ScoreTable]:
    """Read one checked score table for each data set.

    Parameters
    ----------
    source : path, frame or mapping
        A table with the column dataset beside those of :func:`~skewanova.read_scores`, or a mapping from the
        names of data sets to tables.
    columns : mapping, optional
        Other names of columns, that of the column dataset among them.
    pos_label : object, optional
        The positive class.

    Returns
    -------
    dict
        Score tables by name, in order of first appearance.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; the message begins with the name of the data set.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova import read_datasets
    >>> frame = pd.DataFrame({"dataset": list("xxyy"), "model": "A", "fold": 1, "y_true": [0, 1] * 2,
    ...                       "y_score": [0.2, 0.4, 0.9, 0.1]})
    >>> {name: table.models for name, table in read_datasets(frame).items()}
    {'x': ('A',), 'y': ('A',)}
    """
    if isinstance(source, Mapping):
        return {
            str(name): _read(str(name), table, columns=columns, pos_label=pos_label)
            for name, table in source.items()
        }
    names = column_names(columns, (DATASET, *COLUMNS, "case"))
    required = [name for column, name in names.items() if column != "case" or column in (columns or {})]
    labels = [name for column, name in names.items() if column != "y_score"]
    raw = load_table(source, required=required, optional=labels, text=labels)
    frame = raw.frame.rename(columns={name: column for column, name in names.items()})
    tables = {}
    for name, rows in _rows_by_name(frame).items():
        part = frame.iloc[rows].drop(columns=DATASET).reset_index(drop=True)
        with naming(name):
            tables[name] = build_table(part, _places(raw.where, rows), pos_label, raw.source)
    return tables


@contextmanager
def naming(dataset: str) -> Iterator[None]:
    """Begin the message of bad input with the data set it is in."""
    try:
        yield
    except InputTypeError as error:
        raise InputTypeError(f"data set {dataset!r}: {error}") from error
    except InputError as error:
        raise InputError(f"data set {dataset!r}: {error}") from error


def _read(name: str, table: object, *, columns: Mapping[str, str] | None, pos_label: object) -> ScoreTable:
    if isinstance(table, ScoreTable):
        return table
    with naming(name):
        return read_scores(table, columns=columns, pos_label=pos_label)


def _rows_by_name(frame: pd.DataFrame) -> dict[str, NDArray[np.intp]]:
    codes, found = pd.factorize(frame[DATASET].map(str, na_action="ignore"))
    names = [str(name) for name in found]
    if (codes < 0).any() or not all(name.strip() for name in names):
        raise InputError("`dataset` must not be empty in any row")
    check_any_row(len(names))
    return {name: np.flatnonzero(codes == code) for code, name in enumerate(names)}


def _places(where: Where, rows: NDArray[np.intp]) -> Where:
    """Where a row of one data set stands in the whole table."""
    return lambda row: where(int(rows[row]))
