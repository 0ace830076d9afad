"""The passes over a table larger than memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import itemgetter
from typing import IO, Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from tqdm import tqdm

from skewanova.base.checks import MISSING_TEXT, Bools, InputError, Where, check_labels
from skewanova.curves.groups import PackedCurve
from skewanova.scores import parquet
from skewanova.scores.streamed_cases import (
    CaseFacts,
    CaseReader,
    CaseStore,
    all_whole,
    names_of,
    read_records,
    temporary_file,
    write_scattered,
)
from skewanova.scores.table import (
    SHOWN,
    CaseSummary,
    Label,
    Levels,
    StreamedScores,
    check_any_row,
    check_both_classes,
    levels_of,
    refuse_empty,
    refuse_mixed,
    refuse_repeated,
    score_values,
)

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
    """Read the columns model, fold and y_true of all batches."""
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


class Group(NamedTuple):
    """Rows of one model and fold; `case` holds fingerprints, where there are cases."""

    cell: int
    positive: Bools
    score: NDArray[Any]
    case: NDArray[np.int64] | None


class ScoreReader:
    """Scores of batches in their own dtype; NaN are counted and told at the end."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self.n_missing = 0
        self.first = 0

    def take(self, column: Any, start: int) -> NDArray[Any]:
        """Scores of a batch whose first row is `start`."""
        score: NDArray[Any] = column.to_numpy(zero_copy_only=False)
        if score.dtype.kind not in "biuf":
            return score_values(column.to_pandas(), "y_score", lambda row: self._where(start + row))
        if score.dtype.kind == "f" and (missing := np.isnan(score)).any():
            self.first = self.first if self.n_missing else start + int(np.argmax(missing))
            self.n_missing += int(missing.sum())
        return score

    def check(self) -> None:
        """Raise if any score was NaN."""
        if self.n_missing:
            raise InputError(
                f"`y_score` must not hold NaN, but has {self.n_missing} NaN, the first at "
                f"{self._where(self.first)}"
            )


def clustered_groups(
    batches: Iterable[Any], layout: Layout, scores: ScoreReader, cases: CaseReader | None
) -> Iterator[Group]:
    """Groups of batches in which they stand together: columns y_true, y_score and, with `cases`, case."""
    rows = _Rows(batches, layout, scores, cases)
    for cell, length in layout.runs or ():
        positive, score, *case = rows.take(length)
        yield Group(cell, positive, score, case[0] if case else None)
    rows.finish()


class _Rows:
    """Columns of successive batches, cut anew into stretches of given lengths."""

    def __init__(
        self, batches: Iterable[Any], layout: Layout, scores: ScoreReader, cases: CaseReader | None
    ) -> None:
        self._arrays = _columns(batches, layout, scores, cases)
        self._held: list[NDArray[Any]] = []

    def take(self, length: int) -> list[NDArray[Any]]:
        parts: list[list[NDArray[Any]]] = []
        while length:
            if not self._held or not len(self._held[0]):
                self._held = next(self._arrays)
            parts.append([column[:length] for column in self._held])
            length -= len(parts[-1][0])
            self._held = [column[len(part) :] for column, part in zip(self._held, parts[-1], strict=True)]
        return [np.concatenate(columns) for columns in zip(*parts, strict=True)]

    def finish(self) -> None:
        """Read what follows the last row: batches without rows."""
        for _ in self._arrays:
            pass


def _columns(
    batches: Iterable[Any], layout: Layout, scores: ScoreReader, cases: CaseReader | None
) -> Iterator[list[NDArray[Any]]]:
    start = 0
    for batch in batches:
        label, score, *case = batch.columns
        arrays: list[NDArray[Any]] = [layout.labels(label), scores.take(score, start)]
        arrays += [] if cases is None else [cases.take(case[0], start)]
        yield arrays
        start += len(batch)


def scattered_groups(
    batches: Iterable[Any], layout: Layout, scores: ScoreReader, cases: CaseReader | None
) -> Iterator[Group]:
    """Groups of batches in any order: columns model, fold, y_true, y_score and, with `cases`, case.

    Rows are written to a temporary file that has no name, each to the stretch of its group; the system
    removes it as soon as the process ends, however it ends.
    """
    size = layout.counts.sum(axis=2).ravel()
    starts = np.concatenate(([0], np.cumsum(size)))
    with temporary_file() as file:
        dtype = _scatter(batches, layout, file, readers=(scores, cases), starts=starts)
        for cell in np.flatnonzero(size).tolist():
            rows = read_records(file, dtype, int(starts[cell]), int(size[cell]))
            case = rows["case"].copy() if cases is not None else None
            yield Group(cell, rows["positive"].copy(), rows["score"].copy(), case)


def _scatter(
    batches: Iterable[Any],
    layout: Layout,
    file: IO[bytes],
    *,
    readers: tuple[ScoreReader, CaseReader | None],
    starts: NDArray[np.int64],
) -> np.dtype[Any]:
    """Write every row to where its group stands in the file, and return how rows are laid out there."""
    scores, cases = readers
    filled = starts[:-1].copy()
    row, dtype = 0, np.dtype(np.void)
    for batch in batches:
        model, fold, label, score, *case = batch.columns
        columns: dict[str, NDArray[Any]] = {
            "score": scores.take(score, row),
            "positive": layout.labels(label),
        }
        if cases is not None:
            columns["case"] = cases.take(case[0], row)
        dtype = dtype if dtype.names else np.dtype([(name, column.dtype) for name, column in columns.items()])
        cell = layout.cells(model, fold)
        write_scattered(file, columns, dtype, cell=cell, filled=filled)
        row += len(batch)
    return dtype


def stream(
    source: parquet.ParquetSource, names: Mapping[str, str], *, pos_label: object, progress: bool
) -> StreamedScores:
    """Read a table in passes."""
    with tqdm(total=0, unit="row", unit_scale=True, disable=None if progress else True, leave=False) as bar:
        return _Stream(source, names, bar).read(pos_label)


class _Stream:
    """The passes over one table."""

    def __init__(self, source: parquet.ParquetSource, names: Mapping[str, str], bar: Any) -> None:
        self.source = source
        self.names = names
        self.bar = bar

    def read(self, pos_label: object) -> StreamedScores:
        """Pass over the keys, then over the scores and cases."""
        layout = scan_keys(self._batches("keys", ["model", "fold", "y_true"]), pos_label, self.source.where)
        scores = ScoreReader(self.source.where)
        cases = self._case_reader() if "case" in self.names else None
        packed: dict[int, PackedCurve] = {}
        with ExitStack() as stack:
            store = None if cases is None else CaseStore(layout.counts, stack.enter_context(temporary_file()))
            for group in self._groups(layout, scores, cases):
                if store is not None and group.case is not None:
                    store.add(group.cell, group.case, group.positive)
                if not scores.n_missing:
                    packed[group.cell] = PackedCurve.of(group.positive, group.score)
            scores.check()
            summary = None if store is None or cases is None else self._summary(layout, cases, store)
        return StreamedScores(
            models=layout.models,
            folds=layout.folds,
            counts=layout.counts,
            packed={_labels(layout, cell): packed[cell] for cell in sorted(packed)},
            cases=summary,
            source=self.source.path,
        )

    def _groups(self, layout: Layout, scores: ScoreReader, cases: CaseReader | None) -> Iterator[Group]:
        columns = ["y_true", "y_score", *(["case"] if cases is not None else [])]
        if layout.runs is not None:
            return clustered_groups(self._batches("scores", columns), layout, scores, cases)
        batches = self._batches("scores", ["model", "fold", *columns])
        return scattered_groups(batches, layout, scores, cases)

    def _batches(self, word: str, columns: Sequence[str]) -> Iterator[Any]:
        """Batches of some columns, as the progress bar counts them."""
        self.bar.set_description(f"reading {word}")
        self.bar.reset(self.source.n_rows)
        for batch in self.source.batches([self.names[column] for column in columns]):
            yield batch
            self.bar.update(len(batch))

    def _case_reader(self) -> CaseReader:
        kind = self.source.schema.field(self.names["case"]).type
        return CaseReader(whole=all_whole(kind, self._batches("cases", ["case"])), where=self.source.where)

    def _summary(self, layout: Layout, cases: CaseReader, store: CaseStore) -> CaseSummary:
        cases.check()
        facts = store.finish()
        if facts.repeated:
            refuse_repeated(facts.repeated, self._shown(layout, facts, cases))
        if facts.mixed:
            named = self._named(cases, facts.mixed_keys)
            refuse_mixed(facts.mixed, [*named.values()][:SHOWN])
        named = self._named(cases, [key for keys in facts.unpaired_keys.values() for key in keys])
        order = {key: position for position, key in enumerate(named)}
        examples = tuple(
            (named[key], layout.folds[fold])
            for fold in sorted(facts.unpaired_keys)
            for key in sorted(facts.unpaired_keys[fold], key=order.__getitem__)[:SHOWN]
        )
        return CaseSummary(facts.shared, facts.n_cases, facts.n_positive, facts.unpaired, examples)

    def _shown(self, layout: Layout, facts: CaseFacts, cases: CaseReader) -> str:
        """Where the first rows stand that repeat an earlier one."""
        wanted = set(facts.repeated_keys)
        keys, start = np.array([key for _, key in wanted]), 0
        told: list[str] = []
        met: set[tuple[int, int]] = set()
        for batch in self._batches("cases again", ["model", "fold", "case"]):
            key = cases.take(batch.column(2), start)
            cell = layout.cells(batch.column(0), batch.column(1))
            for row in np.flatnonzero(np.isin(key, keys)).tolist():
                pair = int(cell[row]), int(key[row])
                if pair in met:
                    name = names_of(batch.column(2), np.array([row]), whole=cases.named_whole)[0]
                    model, fold = _labels(layout, pair[0])
                    told.append(f"({model!r}, {fold!r}, {name!r}) at {self.source.where(start + row)}")
                if len(told) == SHOWN:
                    return ", ".join(told)
                met |= {pair} & wanted
            start += len(batch)
        return ", ".join(told)

    def _named(self, cases: CaseReader, keys: Sequence[int]) -> dict[int, Label]:
        """How a score table names the cases of some keys, in its order: by number, else as they appear."""
        found: dict[int, Label] = {}
        missing = np.unique(np.array(keys, dtype=np.int64))
        for batch in self._batches("cases again", ["case"]) if len(missing) else ():
            column = batch.column(0)
            key = cases.take(column, 0)
            _, first = np.unique(key, return_index=True)
            rows = np.sort(first[np.isin(key[first], missing)])
            names = names_of(column, rows, whole=cases.named_whole)
            found |= zip(key[rows].tolist(), names, strict=True)
            missing = np.setdiff1d(missing, key[rows])
            if not len(missing):
                break
        return dict(sorted(found.items(), key=itemgetter(1))) if cases.named_whole else found


def _labels(layout: Layout, cell: int) -> tuple[str, Label]:
    model, fold = divmod(cell, len(layout.folds))
    return layout.models[model], layout.folds[fold]
