"""Second pass over a stream: one group at a time, by a temporary file where the groups' rows are mixed."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from skewanova._case_keys import CaseReader
from skewanova._checks import Bools, InputError, Where
from skewanova._key_pass import Layout
from skewanova._score_table import score_values


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


def write_scattered(
    file: IO[bytes],
    columns: dict[str, NDArray[Any]],
    dtype: np.dtype[Any],
    *,
    cell: NDArray[np.int64],
    filled: NDArray[np.int64],
) -> None:
    """Write rows to the stretches of their cells, behind those that are `filled`, which moves on."""
    small = cell.astype(np.uint16) if len(filled) <= np.iinfo(np.uint16).max else cell
    order = np.argsort(small, kind="stable")
    records = np.empty(len(cell), dtype=dtype)
    for name, column in columns.items():
        records[name] = column[order]
    count = np.bincount(cell, minlength=len(filled))
    ends = np.cumsum(count)
    for i in np.flatnonzero(count).tolist():
        file.seek(int(filled[i]) * dtype.itemsize)
        file.write(records[ends[i] - count[i] : ends[i]].tobytes())
    filled += count


def read_records(file: IO[bytes], dtype: np.dtype[Any], start: int, length: int) -> NDArray[Any]:
    """Read rows that :func:`write_scattered` has written."""
    file.seek(start * dtype.itemsize)
    records: NDArray[Any] = np.frombuffer(file.read(length * dtype.itemsize), dtype=dtype)
    return records


@contextmanager
def temporary_file() -> Iterator[IO[bytes]]:
    """File without a name in the system's temporary folder (TMPDIR)."""
    try:
        with tempfile.TemporaryFile(prefix="skewanova-") as file:
            yield file
    except OSError as error:
        raise InputError(
            f"the temporary folder {tempfile.gettempdir()!r} cannot take the rows ({error.strerror}); "
            "set TMPDIR to a folder with more room"
        ) from error
