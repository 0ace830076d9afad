"""CSV, JSON lines, and queries of DuckDB and polars, as Parquet in temporary files that the passes read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from tqdm import tqdm

from skewanova.base.checks import first_rounded
from skewanova.scores.engines import told_as
from skewanova.scores.formats import TextTable, number_column, refuse_number, refuse_rounded
from skewanova.scores.parquet import ParquetSource, Part
from skewanova.scores.plain_csv import doubles, plain_blocks
from skewanova.scores.streamed_cases import temporary_file

#: Rows of text taken apart at once.
BLOCK = 1 << 15


@contextmanager
def text_as_parquet(
    table: TextTable, names: Sequence[str], *, score: str, pos_label: object, progress: bool
) -> Iterator[ParquetSource]:
    """Some columns of a text file in temporary files without a name; labels stay text, as in memory."""
    labels = [name for name in names if name != score]
    blocks = table.blocks(names, labels=labels, pos_label=pos_label, n_rows=BLOCK)
    with ExitStack() as stack:
        parts = None
        if table.is_plain():
            with suppress(pa.ArrowInvalid):  # what Arrow cannot read, the csv module reads, or tells of
                parts = _written(plain_blocks(table.path, names), _Parts(table, score, stack), progress)
        if parts is None:
            parts = _written(blocks, _Parts(table, score, stack), progress)
        schema = pa.schema([(name, parts.kind if name == score else pa.string()) for name in names])
        yield ParquetSource(table.path, parts.finished(), schema, table.where)


def _written(blocks: Iterator[dict[str, Any]], parts: _Parts, progress: bool) -> _Parts:
    """The parts with all blocks in them."""
    disable = None if progress else True
    with tqdm(unit="row", unit_scale=True, desc="reading text", disable=disable, leave=False) as bar:
        for block in blocks:
            bar.update(parts.add(block))
    return parts


class _Parts:
    """Files of one table; a new one begins where the scores need a wider type than those before."""

    def __init__(self, table: TextTable, score: str, stack: ExitStack) -> None:
        self._table, self._score, self._stack = table, score, stack
        self._files: list[IO[bytes]] = []
        self._rows: list[int] = []
        self._writer: Any = None
        self._names: tuple[str, ...] = ()
        self._dtype = np.dtype(np.void)
        self._first = ""
        self._negative = False
        self._large: tuple[int, str] | None = None

    @property
    def kind(self) -> Any:
        """Arrow's type of the scores of the whole table."""
        return pa.from_numpy_dtype(self._dtype) if self._files else pa.float64()

    def add(self, block: dict[str, Any]) -> int:
        """Write some rows, and return their number."""
        texts, start = block[self._score], sum(self._rows)
        place = lambda row: self._table.where(start + row)  # noqa: E731 - one line, used twice
        values = doubles(texts) if isinstance(texts, pa.Array) else None
        if values is None:
            texts = texts.to_pylist() if isinstance(texts, pa.Array) else texts
            values = number_column(texts, self._score, self._table.path.name, place)
        self._first = self._first or str(texts[0])
        dtype = self._widened(values, texts, start)
        if dtype != self._dtype:
            self._begin(block, dtype)
        labels = {name: column for name, column in block.items() if name != self._score}
        texts_of = {
            name: column if isinstance(column, pa.Array) else pa.array(column, pa.string())
            for name, column in labels.items()
        }
        arrays = {**texts_of, self._score: pa.array(values.astype(dtype))}
        self._writer.write_table(pa.table({name: arrays[name] for name in self._names}))
        self._rows[-1] += len(texts)
        return len(texts)

    def finished(self) -> tuple[Part, ...]:
        """Close the last file, and tell of all."""
        if self._writer is not None:
            self._writer.close()
        files = zip(self._files, self._rows, strict=True)
        return tuple(Part(self._table.path, self._names, {}, n_rows, file) for file, n_rows in files)

    def _begin(self, block: dict[str, Any], dtype: np.dtype[Any]) -> None:
        """Begin the next file."""
        if self._writer is not None:
            self._writer.close()
        self._dtype, self._names = dtype, tuple(block)
        self._files.append(self._stack.enter_context(temporary_file()))
        self._rows.append(0)
        kinds = {name: pa.string() for name in block} | {self._score: pa.from_numpy_dtype(dtype)}
        labels = [name for name in block if name != self._score]
        self._writer = pq.ParquetWriter(self._files[-1], pa.schema(kinds), use_dictionary=labels)
        self._stack.callback(self._writer.close)

    def _widened(self, values: NDArray[Any], texts: Sequence[str], start: int) -> np.dtype[Any]:
        """The type that holds these scores and all before: one kind, or doubles if none is rounded."""
        before, kinds = self._dtype, {self._dtype.kind, values.dtype.kind}
        self._look(values, texts, start)
        if before.kind == "V" or before == values.dtype:
            return values.dtype
        if "b" in kinds:
            truth, at = (self._first, 0) if before.kind == "b" else (str(texts[0]), start)
            refuse_number(truth, self._score, self._table.path.name, self._table.where(at))
        if kinds == {"i", "u"} and not self._negative:
            return np.dtype(np.uint64)
        if self._large is not None:
            at, text = self._large
            refuse_rounded(text, self._score, self._table.path.name, self._table.where(at))
        return np.dtype(np.float64)

    def _look(self, values: NDArray[Any], texts: Sequence[str], start: int) -> None:
        """Note what of whole numbers decides whether they can stand beside other numbers."""
        if values.dtype.kind not in "iu":
            return
        self._negative = self._negative or bool(values.min() < 0)
        if self._large is None and (at := first_rounded(values)) is not None:
            self._large = start + at, texts[at]


@contextmanager
def query_as_parquet(source: Any) -> Iterator[ParquetSource]:
    """All rows of a DuckDB relation or a polars lazy frame, which the engine itself writes to a file."""
    with tempfile.TemporaryDirectory(prefix="skewanova-") as folder:
        path = Path(folder) / "rows.parquet"
        with told_as(
            f"the query, or {tempfile.gettempdir()!r}, where its rows go (TMPDIR),", _errors_of(source)
        ):
            write = source.sink_parquet if hasattr(source, "sink_parquet") else source.write_parquet
            write(str(path))
        yield ParquetSource.open(path)


def _errors_of(query: Any) -> tuple[type[BaseException], ...]:
    """What a query raises that cannot be carried out."""
    home = import_module(type(query).__module__.split(".")[0].lstrip("_"))
    own = home.Error if hasattr(home, "Error") else home.exceptions.PolarsError
    return own, OSError, MemoryError
