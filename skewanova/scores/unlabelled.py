"""Scores of cases without labels, from where the models run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import InputError, Where, check_choice
from skewanova.scores.columns import ColumnMap
from skewanova.scores.sources import load_table
from skewanova.scores.table import path_sha256
from skewanova.scores.validation import check_any_row, to_categorical, validate_scores

#: Columns of such a table; the last two may be missing.
UNLABELLED_COLUMNS = ("model", "y_score", "batch", "case")


@dataclass(frozen=True, eq=False)
class UnlabelledScores:
    """Checked scores of several models where they run.

    Attributes
    ----------
    frame : DataFrame
        Columns model (categorical), y_score and, where they were given, batch and case (categorical).
    source : Path or None
        The file they were read from.
    """

    frame: pd.DataFrame
    source: Path | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """Model names in order of first appearance."""
        return tuple(self.frame["model"].cat.categories)

    @property
    def has_batches(self) -> bool:
        """Whether the table tells of batches."""
        return "batch" in self.frame

    def of(self, model: str) -> pd.DataFrame:
        """Rows of a model, by case where there are cases."""
        rows = self.frame[self.frame["model"] == model]
        return rows.sort_values("case", kind="stable") if "case" in rows else rows

    @cached_property
    def paired(self) -> bool:
        """Whether the rows of all models are about the same cases, one by one."""
        parts = [self.of(model) for model in self.models]
        if "case" in self.frame:
            return all(np.array_equal(part["case"], parts[0]["case"]) for part in parts)
        return len({len(part) for part in parts}) == 1

    def sha256(self) -> str:
        """Fingerprint of the file; empty where there is none."""
        return "" if self.source is None else path_sha256(self.source)


def read_unlabelled(source: object, *, columns: Mapping[str, str] | None = None) -> UnlabelledScores:
    """Read and check a table of scores of cases without labels.

    Parameters
    ----------
    source : path or frame
        As for :func:`~skewanova.read_scores`, with the columns model, y_score and, optionally, batch (which
        week or site a row is of) and case (which case it is about).
    columns : mapping, optional
        Where the table uses other names: ``{"batch": "week"}``.

    Returns
    -------
    UnlabelledScores
        The checked table.

    Raises
    ------
    ValueError
        If a column is missing, a value is missing or unusable, or a model has a case twice.
    TypeError
        If scores are not real numbers, or `source` is neither a path nor a frame.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.scores import read_unlabelled
    >>> frame = pd.DataFrame({"model": "A", "week": [1, 1, 2], "y_score": [0.2, 0.4, 0.9]})
    >>> found = read_unlabelled(frame, columns={"batch": "week"})
    >>> found.models, found.has_batches
    (('A',), True)
    """
    given_names = {
        check_choice(key, UNLABELLED_COLUMNS, "columns"): name for key, name in (columns or {}).items()
    }
    names = {column: given_names.get(column, column) for column in UNLABELLED_COLUMNS}
    required = {"model", "y_score", *(columns or {})}
    raw = load_table(
        source,
        ColumnMap(
            required=[name for column, name in names.items() if column in required],
            optional=[*names.values()],
            text=[name for column, name in names.items() if column != "y_score"],
            names=names,
        ),
    )
    check_any_row(len(raw.frame), "table of unlabelled scores")
    given = raw.frame
    frame = pd.DataFrame(
        {
            "model": to_categorical(given["model"], "model", raw.where),
            "y_score": validate_scores(given["y_score"], "y_score", raw.where),
        }
    )
    for column in ("batch", "case"):
        if column in given:
            frame[column] = to_categorical(given[column], column, raw.where, whole=True)
    _check_once(frame, raw.where)
    return UnlabelledScores(frame, raw.source)


def _check_once(frame: pd.DataFrame, where: Where) -> None:
    """No case twice for a model."""
    if "case" not in frame:
        return
    repeated: NDArray[np.intp] = np.flatnonzero(frame.duplicated(["model", "case"]))
    if len(repeated):
        raise InputError(
            f"(model, case) must be unique among unlabelled scores, but {len(repeated)} rows repeat one, the "
            f"first at {where(int(repeated[0]))}"
        )
