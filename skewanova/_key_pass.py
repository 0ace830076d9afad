"""First pass over a stream: levels of models and folds, labels, counts, and whether groups stand together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from skewanova._checks import MISSING_TEXT, Bools, InputError, Where, check_labels
from skewanova._score_table import Label, Levels, check_any_row, check_both_classes, levels_of, refuse_empty

Codes = NDArray[np.int64]
#: A column of labels with more distinct values than this is none: it is refused without reading on.
LABELS_ENOUGH = 1000


@dataclass(eq=False)
class Distinct:
    """Distinct values of a column as they appear, with how often and where first; codes of rows."""

    values: dict[Any, int] = field(default_factory=dict)
    rows: list[int] = field(default_factory=list)
    first: list[int] = field(default_factory=list)
    kind: Any = None

    def codes(self, column: Any, start: int) -> Codes:
        """Codes of a batch's values, whose first row is `start`; values not seen yet are added."""
        encoded = column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
        self.kind = encoded.type.value_type
        known = encoded.dictionary.to_pylist()
        index = encoded.indices.cast(pa.int64()).fill_null(len(known)).to_numpy(zero_copy_only=False)
        count = np.bincount(index, minlength=len(known) + 1)
        values = [None if value != value else value for value in (*known, None)]
        present = np.flatnonzero(count)
        where = np.zeros(len(values), dtype=np.int64)
        if not all(
            values[i] in self.values for i in present.tolist()
        ):  # else neither place nor order matters
            where[index[::-1]] = np.arange(len(index))[::-1]  # of several rows, the first is written last
        code = np.zeros(len(values), dtype=np.int64)
        for i in present[np.argsort(where[present])].tolist():
            code[i] = self._code(values[i], int(count[i]), start + int(where[i]))
        return np.asarray(code[index])

    def series(self) -> pd.Series[Any]:
        """Return the values but the missing one, as pandas reads such a column."""
        known = [value for value in self.values if value is not None]
        series: pd.Series[Any] = pa.array(known, type=self.kind).to_pandas()
        return series

    def known(self) -> NDArray[np.intp]:
        """Codes of the values but the missing one."""
        return np.array([code for value, code in self.values.items() if value is not None], dtype=np.intp)

    def _code(self, value: Any, count: int, first: int) -> int:
        code = self.values.setdefault(value, len(self.values))
        if code == len(self.rows):
            self.rows.append(0)
            self.first.append(first)
        self.rows[code] += count
        return code


@dataclass(frozen=True, eq=False)
class Layout:
    """What the first pass found out.

    Attributes
    ----------
    models, folds : tuple
        Their levels, as of a :class:`~skewanova.ScoreTable`.
    counts : ndarray of shape (n_models, n_folds, 2)
        Number of negatives and positives.
    runs : tuple of (cell, length) or None
        Stretches of rows of one group, cells numbered models first, if every group is one stretch or a few.
    cells, labels : callable
        Cell of every row, and whether it is positive, from batches of the same columns.
    """

    models: tuple[str, ...]
    folds: tuple[Label, ...]
    counts: NDArray[np.int64]
    runs: tuple[tuple[int, int], ...] | None
    cells: Callable[[Any, Any], Codes]
    labels: Callable[[Any], Bools]


def scan_keys(batches: Iterable[Any], pos_label: object, where: Where) -> Layout:
    """Read the columns model, fold and y_true of all batches.

    Raises
    ------
    ValueError
        If there is no row, a model, fold or label is missing, labels are not those of two classes, or a group
        lacks a class.
    """
    model, fold, label = Distinct(), Distinct(), Distinct()
    counted: Counter[tuple[int, int, int]] = Counter()
    runs = Runs()
    start = 0
    for batch in batches:
        m, f, y = (d.codes(c, start) for d, c in zip((model, fold, label), batch.columns, strict=True))
        if len(label.values) > LABELS_ENOUGH:
            check_labels(label.series().to_numpy(), pos_label=pos_label, where=_first_row(label, where))
        _count(counted, m, f, y)
        runs.add(m, f)
        start += len(batch)
    check_any_row(start)
    return _layout((model, fold, label), counted, runs, pos_label=pos_label, where=where)


class Runs:
    """Stretches of rows with one model and fold, as long as these are groups that stand together."""

    def __init__(self) -> None:
        self.found: list[tuple[int, int, int]] | None = []
        self._closed: set[tuple[int, int]] = set()

    def add(self, m: Codes, f: Codes) -> None:
        """Look at the next batch."""
        starts = np.flatnonzero(np.append(True, (np.diff(m) != 0) | (np.diff(f) != 0))) if len(m) else m
        lengths = np.diff(np.append(starts, len(m)))
        for i, length in zip(starts.tolist(), lengths.tolist(), strict=True):
            if self.found is None:
                return
            self._extend(int(m[i]), int(f[i]), length)

    def _extend(self, m: int, f: int, length: int) -> None:
        found = self.found or []
        if found and found[-1][:2] == (m, f):
            found[-1] = (m, f, found[-1][2] + length)
        elif (m, f) in self._closed:
            self.found = None
        else:
            self._closed.add((m, f))
            found.append((m, f, length))
            self.found = found


def _count(counted: Counter[tuple[int, int, int]], m: Codes, f: Codes, y: Codes) -> None:
    if not len(m):
        return
    shape = int(m.max()) + 1, int(f.max()) + 1, int(y.max()) + 1
    flat = np.bincount((m * shape[1] + f) * shape[2] + y, minlength=int(np.prod(shape))).reshape(shape)
    for key in zip(*(part.tolist() for part in np.nonzero(flat)), strict=True):
        counted[key] += int(flat[key])


def _layout(
    columns: tuple[Distinct, Distinct, Distinct],
    counted: Counter[tuple[int, int, int]],
    runs: Runs,
    *,
    pos_label: object,
    where: Where,
) -> Layout:
    model, fold, label = columns
    models, model_code = _levels(model, "model", where, whole=False)
    folds, fold_code = _levels(fold, "fold", where, whole=True)
    positive = _positive(label, pos_label, where)
    counts = np.zeros((len(models), len(folds), 2), dtype=np.int64)
    for (m, f, y), number in counted.items():
        counts[model_code[m], fold_code[f], int(positive[y])] += number
    check_both_classes(models, folds, counts)

    def cells(m: Any, f: Any) -> Codes:
        return np.asarray(model_code[model.codes(m, 0)] * len(folds) + fold_code[fold.codes(f, 0)])

    # Two spellings of a fold, such as 1 and 1.0, may make a group of two stretches.
    merged = [(int(model_code[m] * len(folds) + fold_code[f]), n) for m, f, n in runs.found or ()]
    clustered = runs.found is not None and len({cell for cell, _ in merged}) == len(merged)
    return Layout(
        models=models,
        folds=folds,
        counts=counts,
        runs=tuple(merged) if clustered else None,
        cells=cells,
        labels=lambda y: np.asarray(positive[label.codes(y, 0)]),
    )


def _levels(column: Distinct, name: str, where: Where, *, whole: bool) -> tuple[tuple[Any, ...], Codes]:
    """Levels, and the level of every code."""
    empty = [code for value, code in column.values.items() if value is None or not str(value).strip()]
    if empty:
        n_rows = sum(column.rows[code] for code in empty)
        refuse_empty(name, n_rows, where(min(column.first[code] for code in empty)))
    found: Levels = levels_of(column.series(), name, where, whole=whole)
    return tuple(found.categories.tolist()), found.codes.astype(np.int64)


def _positive(column: Distinct, pos_label: object, where: Where) -> Bools:
    missing = [c for value, c in column.values.items() if value is None or _reads_as_missing(value)]
    if missing:
        raise InputError(
            f"`y_true` must not have missing labels, but has {sum(column.rows[code] for code in missing)}, "
            f"the first at {where(min(column.first[code] for code in missing))}"
        )
    return check_labels(column.series().to_numpy(), pos_label=pos_label, where=_first_row(column, where))


def _reads_as_missing(value: object) -> bool:
    return isinstance(value, str) and value.strip().lower() in MISSING_TEXT


def _first_row(column: Distinct, where: Where) -> Where:
    known = column.known()
    return lambda i: where(column.first[int(known[i])])
