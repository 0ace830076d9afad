"""Frames of Dask and Spark, whose rows are elsewhere.

An engine is asked for what a function makes of the rows of each group (model and fold), of each part that it
has, of all rows of some cases or clusters. What it cannot do is told in one line.
"""

from __future__ import annotations

import pickle
import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from glob import glob
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import Any, NamedTuple, Protocol
from urllib.parse import unquote

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from skewanova.base.checks import DiskFullError, InputError, is_full_disk
from skewanova.distributed.packing import group_sizes, keys_of
from skewanova.scores.sources import PARQUET_SUFFIXES, describe_damage

#: What engines say of workers that are gone or out of reach, and what to do.
ERROR_HINTS = (
    (
        "KilledWorker|MemoryError|OutOfMemory|worker exited|Executor(Lost|Exited)",
        "; if memory ran out: the rows of a group (one model in one fold) must fit in that of a worker",
    ),
    (
        "CancelledError|CommClosed|Connection|Py4JNetworkError|"
        r"^Py4JError An error occurred while calling \S+$",  # a call that was cut off, as py4j tells it
        "; was the connection to the cluster lost?",
    ),
)


FULL_DISK = "; the disk where rows are kept meanwhile is full"


#: Characters of what an engine says that are shown.
MAX_MESSAGE_LENGTH = 300


#: What a worker makes of the rows of one group.
OfRows = Callable[[pd.DataFrame], Any]


class Buckets(NamedTuple):
    """Into how many parts the rows go, and by the names in which column."""

    number: int
    column: str = "case"


class Backend(Protocol):
    """A frame whose rows are on the workers of an engine."""

    source: Any
    name: str

    @property
    def names(self) -> list[str]:
        """Names of its columns."""

    def n_rows(self) -> int:
        """Count its rows."""

    def n_distinct(self, column: str) -> int:
        """Count the values of a column, missing ones aside."""

    def largest_group(self, columns: Mapping[str, str]) -> int:
        """Count the rows of the model and fold that has most."""

    def rows(self, columns: Mapping[str, str]) -> pd.DataFrame:
        """Return all rows, in this process; columns by their own names."""

    def map_groups(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """Apply a function to the rows of every model and fold, columns by their own names."""
        return self._map(self._select(columns), keys_of(columns), function)

    def map_buckets(self, columns: Mapping[str, str], function: OfRows, by: Buckets) -> list[Any]:
        """Apply a function to all rows of some of the cases."""
        return self._map(self._mark(columns, by), ("bucket",), function)

    def map_partitions(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """Apply a function to every partition, or batch of rows."""

    def map_pieces(self, columns: Mapping[str, str], count: OfRows, function: OfRows) -> list[Any]:
        """Apply a function to the counts of every piece of a model and fold."""

    def persist_buckets(self, columns: Mapping[str, str], function: OfRows, by: Buckets) -> Persisted:
        """Apply a function to all rows of some of the cases; the results stay on the workers."""

    def _select(self, columns: Mapping[str, str]) -> Any:
        """Select columns by their own names."""

    def _mark(self, columns: Mapping[str, str], by: Buckets) -> Any:
        """Select columns, and add the bucket of every row."""

    def _map(self, rows: Any, keys: Sequence[str], function: OfRows) -> list[Any]:
        """Apply a function to the rows of every value of the keys."""

    def _errors(self) -> tuple[type[BaseException], ...]:
        """Return the errors of the engine."""

    def _damage(self) -> str | None:
        """Describe damage of the Parquet files of this machine that the rows come from."""

    def _translate_errors(self) -> AbstractContextManager[None]:
        """Turn errors of workers and of damaged files into one clear line."""
        return translate_errors(self.name, self._errors(), self._damage)


class Persisted(Protocol):
    """Results that stay on the workers until this is gone."""

    def map(self, function: Callable[[Any], Any]) -> list[Any]:
        """Apply a function to each."""


def detect_backend(source: object) -> Backend | None:
    """The engine of a Dask or Spark frame; None of all else."""
    kind = type(source)  # a frame of Spark would ask Java for its columns
    homes = {item.__module__ for item in kind.__mro__}
    if hasattr(kind, "map_partitions") and any(home.startswith("dask") for home in homes):
        return DaskFrame(source)
    if any(home.startswith("pyspark.pandas.frame") for home in homes):
        return SparkFrame(source.to_spark())  # type: ignore[attr-defined]
    if any(home.startswith("pyspark.sql") for home in homes) and hasattr(kind, "groupBy"):
        return SparkFrame(source)
    return None


@dataclass(frozen=True, eq=False)
class DaskFrame(Backend):
    """A Dask data frame."""

    source: Any
    name: str = "the Dask frame"

    @property
    def names(self) -> list[str]:
        """Names of its columns."""
        return list(self.source.columns)

    def n_rows(self) -> int:
        """Count its rows."""
        with self._translate_errors():
            return len(self.source)

    def n_distinct(self, column: str) -> int:
        """Count the values of a column, missing ones aside."""
        with self._translate_errors():
            return int(self.source[column].nunique().compute())

    def largest_group(self, columns: Mapping[str, str]) -> int:
        """Count the rows of the model and fold that has most."""
        sizes: Counter[str] = Counter()
        for part in self.map_partitions({key: columns[key] for key in keys_of(columns)}, group_sizes):
            sizes.update(part)
        return max(sizes.values(), default=0)

    def rows(self, columns: Mapping[str, str]) -> pd.DataFrame:
        """Return all rows, in this process; columns by their own names."""
        with self._translate_errors():
            result: pd.DataFrame = self._select(columns).compute()
        return result

    def persist_buckets(self, columns: Mapping[str, str], function: OfRows, by: Buckets) -> DaskPersisted:
        """Apply a function to all rows of some of the cases; the results stay on the workers."""
        work = self._work(self._mark(columns, by), ("bucket",), function)
        with self._translate_errors():
            return DaskPersisted(import_module("dask").persist(*work), self._translate_errors)

    def map_partitions(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """Apply a function to every partition, or batch of rows."""
        dask = import_module("dask")
        work, sent = dask.delayed(apply_to_rows), dask.delayed(function)
        with self._translate_errors():
            return list(dask.compute(*(work(sent, part) for part in self._select(columns).to_delayed())))

    def map_pieces(self, columns: Mapping[str, str], count: OfRows, function: OfRows) -> list[Any]:
        """Apply a function to the counts of every piece of a model and fold."""
        chosen = self._select(columns)
        counts = chosen.map_partitions(count, meta=count(chosen._meta))
        return self._map(counts, (*keys_of(columns), "piece"), function)

    def _mark(self, columns: Mapping[str, str], by: Buckets) -> Any:
        chosen = self._select(columns)
        meta = chosen._meta.assign(bucket=np.int64(0))
        return chosen.map_partitions(with_bucket, by, meta=meta)

    def _select(self, columns: Mapping[str, str]) -> Any:
        own = {name: column for column, name in columns.items()}
        return self.source[list(own)].rename(columns=own)

    def _map(self, rows: Any, keys: Sequence[str], function: OfRows) -> list[Any]:
        with self._translate_errors():
            result = import_module("dask").compute(*self._work(rows, keys, function))
        return [item for part in result for item in part]

    def _work(self, rows: Any, keys: Sequence[str], function: OfRows) -> list[Any]:
        """What is to be done to every partition of the groups."""
        delayed = import_module("dask").delayed
        work = delayed(apply_to_groups)
        sent = delayed(function)  # which may be large, so that it is sent once
        with self._translate_errors():
            parts = rows.shuffle(on=list(keys)).to_delayed()
        return [work(part, keys=keys, function=sent) for part in parts]

    def _errors(self) -> tuple[type[BaseException], ...]:
        errors = OSError, MemoryError, pa.ArrowException
        try:
            distributed = import_module("distributed")
        except ImportError:  # Dask may run without it, in this process
            return errors
        lost = distributed.CancelledError, distributed.comm.CommClosedError
        return (*errors, distributed.KilledWorker, *lost)

    def _damage(self) -> str | None:
        steps = self.source.expr.walk() if hasattr(self.source, "expr") else ()
        read = [step.operand("path") for step in steps if "path" in step._parameters]
        given = [path for paths in read for path in (paths if isinstance(paths, list | tuple) else [paths])]
        return _damage_of([path for item in given for path in _matching(_local(item))], self.names)


@dataclass(frozen=True, eq=False)
class DaskPersisted:
    """Results that stay with the workers of Dask, a list of each partition."""

    lists: Sequence[Any]
    translate_errors: Callable[[], Any]

    def map(self, function: Callable[[Any], Any]) -> list[Any]:
        """Apply a function to each."""
        dask = import_module("dask")
        work, sent = dask.delayed(apply_to_all), dask.delayed(function)
        with self.translate_errors():
            result = dask.compute(*(work(sent, part) for part in self.lists))
        return [item for part in result for item in part]


def apply_to_rows(function: OfRows, frame: pd.DataFrame) -> Any:
    """What the function makes of the rows of a partition."""
    return function(frame)


def apply_to_all(function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """What the function makes of each value."""
    return [function(value) for value in values]


@dataclass(frozen=True, eq=False)
class SparkFrame(Backend):
    """A Spark frame of SQL; one of the pandas API is turned into it."""

    source: Any
    name: str = "the Spark frame"

    @property
    def names(self) -> list[str]:
        """Names of its columns."""
        with self._translate_errors():
            return list(self.source.columns)

    def n_rows(self) -> int:
        """Count its rows."""
        with self._translate_errors():
            return int(self.source.count())

    def n_distinct(self, column: str) -> int:
        """Count the values of a column, missing ones aside."""
        with self._translate_errors():
            return int(self._select({column: column}).dropna().distinct().count())

    def largest_group(self, columns: Mapping[str, str]) -> int:
        """Count the rows of the model and fold that has most."""
        keys = keys_of(columns)
        with self._translate_errors():
            sizes = self._select({key: columns[key] for key in keys}).groupBy(*keys).count()
            return int(sizes.agg({"count": "max"}).collect()[0][0] or 0)

    def rows(self, columns: Mapping[str, str]) -> pd.DataFrame:
        """Return all rows, in this process; columns by their own names."""
        with self._translate_errors():
            result: pd.DataFrame = self._select(columns).toArrow().to_pandas()
        return result

    def persist_buckets(self, columns: Mapping[str, str], function: OfRows, by: Buckets) -> SparkPersisted:
        """Apply a function to all rows of some of the cases; the results stay on the workers."""
        with self._translate_errors():
            records = self._records(self._mark(columns, by), ("bucket",), function).persist()
        return SparkPersisted(records, self._translate_errors)

    def map_partitions(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """Apply a function to every partition, or batch of rows."""
        with self._translate_errors():
            return _collected(
                self._select(columns).mapInArrow(partial(_apply_to_batches, function), "record binary")
            )

    def map_pieces(self, columns: Mapping[str, str], count: OfRows, function: OfRows) -> list[Any]:
        """Apply a function to the counts of every piece of a model and fold."""
        keys, weight = keys_of(columns), ["weight"] * ("weight" in columns)
        chosen = self._select({column: columns[column] for column in (*keys, "y_true", "y_score", *weight)})
        if weight:
            chosen = chosen.withColumn("weight", chosen["weight"].cast("double"))
        counts = chosen.mapInArrow(partial(_counts, count), self._with(chosen, "piece", "n"))
        return self._map(counts, (*keys, "piece"), function)

    def _mark(self, columns: Mapping[str, str], by: Buckets) -> Any:
        chosen = self._select(columns)
        return chosen.mapInArrow(partial(_marked, by=by), self._with(chosen, "bucket"))

    def _with(self, chosen: Any, *numbers: str) -> Any:
        """Schema of a frame with further columns of whole numbers."""
        types = import_module("pyspark.sql.types")
        more = [types.StructField(name, types.LongType()) for name in numbers]
        return types.StructType([*chosen.schema.fields, *more])

    def _select(self, columns: Mapping[str, str]) -> Any:
        column = import_module("pyspark.sql.functions").col
        quoted = {name: "`" + name.replace("`", "``") + "`" for name in columns.values()}
        with self._translate_errors():
            return self.source.select(*(column(quoted[name]).alias(own) for own, name in columns.items()))

    def _map(self, rows: Any, keys: Sequence[str], function: OfRows) -> list[Any]:
        with self._translate_errors():
            return _collected(self._records(rows, keys, function))

    def _records(self, rows: Any, keys: Sequence[str], function: OfRows) -> Any:
        """What the function makes of every group, pickled."""
        return rows.groupBy(*keys).applyInArrow(_apply_to_arrow(function), "record binary")

    def _damage(self) -> str | None:
        names, files = [], []
        with suppress(*self._errors()):  # the session may be gone
            names = list(self.source.columns)
            files = [_local(path) for path in self.source.inputFiles()]
        return _damage_of(files, names)

    def _errors(self) -> tuple[type[BaseException], ...]:
        errors = import_module("pyspark.errors").PySparkException, import_module("py4j.protocol").Py4JError
        return (*errors, ConnectionError)


@dataclass(frozen=True, eq=False)
class SparkPersisted:
    """Results that Spark keeps in memory or on disk until this is gone."""

    records: Any
    translate_errors: Callable[[], Any]

    def __post_init__(self) -> None:
        weakref.finalize(self, _unpersist, self.records).atexit = False  # the session ends before

    def map(self, function: Callable[[Any], Any]) -> list[Any]:
        """Apply a function to each."""
        with self.translate_errors():
            return _collected(self.records.mapInArrow(partial(_apply_to_records, function), "record binary"))


def _unpersist(records: Any) -> None:
    """Tell Spark that rows need not be kept; what is gone keeps none."""
    with suppress(ConnectionError, import_module("py4j.protocol").Py4JError):
        records.unpersist()


def _apply_to_records(function: Callable[[Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Arrow batches of what the function makes of pickled values."""
    for batch in batches:
        result = [function(pickle.loads(record)) for record in batch.column("record").to_pylist()]
        yield pa.RecordBatch.from_pydict({"record": [pickle.dumps(item) for item in result]})


def _apply_to_batches(function: OfRows, batches: Iterator[Any]) -> Iterator[Any]:
    """Arrow batches of what the function makes of each batch of rows."""
    for batch in batches:
        yield pa.RecordBatch.from_pydict({"record": [pickle.dumps(function(batch.to_pandas()))]})


def _counts(count: OfRows, batches: Iterator[Any]) -> Iterator[Any]:
    """Arrow batches of the counts of each batch of rows."""
    for batch in batches:
        schema = pa.schema([*batch.schema, ("piece", pa.int64()), ("n", pa.int64())])
        result = pa.Table.from_pandas(count(batch.to_pandas()), preserve_index=False)
        yield from result.cast(schema).combine_chunks().to_batches()


def _collected(records: Any) -> list[Any]:
    """Pickled values, in this process."""
    return [pickle.loads(bytes(row["record"])) for row in records.collect()]


def _local(path: object) -> str:
    """Path of a file of this machine, which may be told as a URL."""
    return unquote(re.sub("^file:(//)?", "", text)) if (text := str(path)).startswith("file:") else text


def _matching(path: str) -> list[str]:
    """The path, or those that it matches."""
    return [path] if Path(path).exists() else sorted(glob(path))


def _damage_of(paths: Iterable[str], columns: Sequence[str]) -> str | None:
    """What is said of the first damaged Parquet file; engines tell neither file nor row group."""
    files = [path for path in map(Path, paths) if path.is_dir() or path.suffix in PARQUET_SUFFIXES]
    return describe_damage([path for path in files if path.exists()], columns)


@contextmanager
def translate_errors(
    name: str, errors: tuple[type[BaseException], ...], damage: Callable[[], str | None] = lambda: None
) -> Iterator[None]:
    """Turn what an engine says when it cannot go on into one clear line."""
    # a shuffle of Dask wraps what went wrong, such as a disk that is full, in a RuntimeError
    caught: tuple[type[BaseException], ...] = (*errors, RuntimeError)
    try:
        yield
    except InputError:
        raise
    except caught as error:
        known = next((item for item in (error, error.__cause__) if isinstance(item, errors)), None)
        if known is None and "P2P" in str(error):  # the scheduler has only the words of what went wrong
            known = error.__cause__ or error
        if known is None:
            raise
        lines = [line for line in str(known).splitlines() if line.strip()] or [type(known).__name__]
        is_full = is_full_disk(known)
        advice = FULL_DISK if is_full else _advice(known)
        # errors of the system, which have a number, and lost workers are no damage of a file
        is_known = advice or getattr(known, "errno", None) or "OSError(" in lines[0]
        if not is_known and (said := damage()) is not None:
            raise InputError(f"{name}: {said}") from error
        line = shorten(lines[0], MAX_MESSAGE_LENGTH, placeholder=" ...")
        kind = DiskFullError if is_full else InputError
        raise kind(f"{name} cannot be read: {line}{advice}") from error


def _advice(error: BaseException) -> str:
    """What to do about workers that are gone or out of reach."""
    told = f"{type(error).__name__} {error}"
    return next((advice for pattern, advice in ERROR_HINTS if re.search(pattern, told)), "")


def apply_to_groups(frame: pd.DataFrame, *, keys: Sequence[str], function: OfRows) -> list[Any]:
    """What the function makes of every group of a partition."""
    groups = frame.groupby(list(keys), sort=False, observed=True, dropna=False)
    return [function(rows) for _, rows in groups]


def _apply_to_arrow(function: OfRows) -> Callable[[Any], Any]:
    """What the function makes of an Arrow table, as a table that Spark takes; Spark looks at the types."""

    def pickled(table: Any) -> Any:
        return pa.table({"record": [pickle.dumps(function(table.to_pandas()))]})

    pickled.__annotations__ = {"table": pa.Table, "return": pa.Table}
    return pickled


def _marked(batches: Iterator[Any], *, by: Buckets) -> Iterator[Any]:
    """Arrow batches with the buckets of their rows."""
    for batch in batches:
        bucket = bucket_of(batch.column(by.column).to_pandas(), by.number)
        yield batch.append_column("bucket", pa.array(bucket))


def with_bucket(frame: pd.DataFrame, by: Buckets) -> pd.DataFrame:
    """The rows of a partition with their buckets."""
    return frame.assign(bucket=bucket_of(frame[by.column], by.number))


def bucket_of(named: pd.Series[Any], n_buckets: int) -> NDArray[np.int64]:
    """Bucket of every case or cluster by a hash of its name; 3 and 3.0 share one."""
    codes, result = pd.factorize(named)
    names = np.array([str(value).removesuffix(".0") for value in [*result, ""]], dtype=object)
    hashed = pd.util.hash_array(names, categorize=False) % np.uint64(n_buckets)
    return np.asarray(hashed.astype(np.int64)[codes])
