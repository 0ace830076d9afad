"""Frames of Dask and Spark, whose rows are on workers, behind one protocol.

A backend applies a function to the rows of each group (model and fold), of each partition, or of some cases.
Errors of an engine become one clear line.
"""

from __future__ import annotations

import pickle
import re
import weakref
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
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


#: What a worker makes of some rows.
RowFunction = Callable[[pd.DataFrame], Any]


#: Columns whose values make a group.
GROUP_COLUMNS = ("model", "fold")


#: How Spark sends pickled values.
RECORD_SCHEMA = "record binary"


def group_columns(columns: Container[str]) -> list[str]:
    """Return the columns that make groups: without one of folds, models."""
    return [key for key in GROUP_COLUMNS if key in columns]


class Buckets(NamedTuple):
    """Into how many parts the rows go, and by the names in which column."""

    number: int
    column: str


class Backend(Protocol):
    """A frame whose rows are on the workers of an engine.

    An engine selects and transforms rows. Its four verbs: `_partition` and `_group` apply a function to rows,
    `_persist` leaves the results on the workers, and `_collect` brings them here.
    """

    source: Any
    name: str

    @property
    def names(self) -> list[str]:
        """Names of its columns."""

    def n_rows(self) -> int:
        """Count its rows."""

    def largest_group(self, columns: Mapping[str, str]) -> int:
        """Count the rows of the model and fold that has most."""

    def rows(self, columns: Mapping[str, str], select: RowFunction = pd.DataFrame.copy) -> pd.DataFrame:
        """Return all rows of the columns, or those selected of every partition, in this process."""
        parts = self.map_partitions(columns, select)
        return pd.concat(parts) if parts else pd.DataFrame(columns=[*columns])

    def map_partitions(self, columns: Mapping[str, str], function: RowFunction) -> list[Any]:
        """Apply a function to every partition, or batch of rows."""
        with self._translate_errors():
            return self._collect(self._partition(self._select(columns), function))

    def map_groups(self, columns: Mapping[str, str], function: RowFunction) -> list[Any]:
        """Apply a function to the rows of every model and fold."""
        with self._translate_errors():
            return self._collect(self._group(self._select(columns), group_columns(columns), function))

    def map_pieces(self, columns: Mapping[str, str], count: RowFunction, function: RowFunction) -> list[Any]:
        """Apply a function to the counts of every piece of a model and fold."""
        with self._translate_errors():
            counts = self._transform(self._select(columns), count, ["piece", "n"])
            return self._collect(self._group(counts, [*group_columns(columns), "piece"], function))

    def map_buckets(self, columns: Mapping[str, str], function: RowFunction, by: Buckets) -> list[Any]:
        """Apply a function to all rows of some of the cases."""
        with self._translate_errors():
            return self._collect(self._bucket(columns, function, by))

    def persist_buckets(self, columns: Mapping[str, str], function: RowFunction, by: Buckets) -> Persisted:
        """Apply a function to all rows of some of the cases; the results stay on the workers."""
        with self._translate_errors():
            return Persisted(self, self._persist(self._bucket(columns, function, by)))

    def map_results(self, results: Any, function: Callable[[Any], Any]) -> list[Any]:
        """Apply a function to results that stay on the workers."""
        with self._translate_errors():
            return self._collect(self._continue(results, function))

    def release(self, results: Any) -> None:
        """Let go of results on the workers, where an engine does not by itself."""
        return

    def _bucket(self, columns: Mapping[str, str], function: RowFunction, by: Buckets) -> Any:
        rows = self._transform(self._select(columns), partial(add_bucket, by=by), ["bucket"])
        return self._group(rows, ["bucket"], function)

    def _select(self, columns: Mapping[str, str]) -> Any:
        """Select and rename columns."""

    def _transform(self, rows: Any, function: RowFunction, numbers: Sequence[str]) -> Any:
        """Replace the rows of every partition; the new ones have these further columns of whole numbers."""

    def _partition(self, rows: Any, function: RowFunction) -> Any:
        """Apply a function to every partition."""

    def _group(self, rows: Any, keys: Sequence[str], function: RowFunction) -> Any:
        """Apply a function to the rows of every value of the keys."""

    def _continue(self, results: Any, function: Callable[[Any], Any]) -> Any:
        """Apply a function to every result."""

    def _persist(self, results: Any) -> Any:
        """Compute results that stay on the workers."""

    def _collect(self, results: Any) -> list[Any]:
        """Compute results, in this process."""

    def _errors(self) -> tuple[type[BaseException], ...]:
        """Return the errors of the engine."""

    def _describe_damage(self) -> str | None:
        """Describe damage of the Parquet files of this machine that the rows come from."""

    def _translate_errors(self) -> AbstractContextManager[None]:
        """Turn errors of workers and of damaged files into one clear line."""
        return translate_errors(self.name, self._errors(), self._describe_damage)


@dataclass(frozen=True, eq=False)
class Persisted:
    """Results that stay on the workers until this is gone."""

    backend: Backend
    results: Any

    def __post_init__(self) -> None:
        weakref.finalize(self, self.backend.release, self.results).atexit = False  # the session ends before

    def map(self, function: Callable[[Any], Any]) -> list[Any]:
        """Apply a function to each."""
        return self.backend.map_results(self.results, function)


def make_backend(source: object) -> Backend | None:
    """Return the backend of a Dask or Spark frame; None of all else."""
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
    """A Dask data frame; results are a list for each partition."""

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

    def largest_group(self, columns: Mapping[str, str]) -> int:
        """Count the rows of the model and fold that has most."""
        with self._translate_errors():
            keys = group_columns(columns)
            groups = self._select({key: columns[key] for key in keys}).groupby(
                keys, observed=True, dropna=False
            )
            return int(groups.size().max().compute())

    def _select(self, columns: Mapping[str, str]) -> Any:
        columns_by_name = {name: column for column, name in columns.items()}
        return self.source[list(columns_by_name)].rename(columns=columns_by_name)

    def _transform(self, rows: Any, function: RowFunction, numbers: Sequence[str]) -> Any:
        return rows.map_partitions(function, meta=function(rows._meta))

    def _partition(self, rows: Any, function: RowFunction) -> list[Any]:
        return self._delay(apply_to_rows, rows.to_delayed(), function)

    def _group(self, rows: Any, keys: Sequence[str], function: RowFunction) -> list[Any]:
        parts = rows.shuffle(on=list(keys)).to_delayed()
        return self._delay(partial(apply_to_groups, keys=keys), parts, function)

    def _continue(self, results: Any, function: Callable[[Any], Any]) -> list[Any]:
        return self._delay(apply_to_all, results, function)

    def _delay(
        self, work: Callable[..., list[Any]], parts: Sequence[Any], function: RowFunction
    ) -> list[Any]:
        delayed = import_module("dask").delayed
        sent = delayed(function)  # which may be large, so that it is sent once
        return [delayed(work)(part, sent) for part in parts]

    def _persist(self, results: Any) -> Any:
        return import_module("dask").persist(*results)

    def _collect(self, results: Any) -> list[Any]:
        return [item for part in import_module("dask").compute(*results) for item in part]

    def _errors(self) -> tuple[type[BaseException], ...]:
        errors = OSError, MemoryError, pa.ArrowException
        try:
            distributed = import_module("distributed")
        except ImportError:  # Dask may run without it, in this process
            return errors
        lost = distributed.CancelledError, distributed.comm.CommClosedError
        return (*errors, distributed.KilledWorker, *lost)

    def _describe_damage(self) -> str | None:
        steps = self.source.expr.walk() if hasattr(self.source, "expr") else ()
        sources = [step.operand("path") for step in steps if "path" in step._parameters]
        paths = [path for item in sources for path in (item if isinstance(item, list | tuple) else [item])]
        return _describe_damaged_file(paths, self.names)


def apply_to_rows(frame: pd.DataFrame, function: RowFunction) -> list[Any]:
    """Apply a function to the rows of a partition."""
    return [function(frame)]


def apply_to_groups(frame: pd.DataFrame, function: RowFunction, *, keys: Sequence[str]) -> list[Any]:
    """Apply a function to every group of a partition."""
    groups = frame.groupby(list(keys), sort=False, observed=True, dropna=False)
    return [function(rows) for _, rows in groups]


def apply_to_all(values: Sequence[Any], function: Callable[[Any], Any]) -> list[Any]:
    """Apply a function to each value."""
    return [function(value) for value in values]


@dataclass(frozen=True, eq=False)
class SparkFrame(Backend):
    """A Spark frame of SQL; results are a frame of pickled values."""

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

    def largest_group(self, columns: Mapping[str, str]) -> int:
        """Count the rows of the model and fold that has most."""
        with self._translate_errors():
            rows = self._select({key: columns[key] for key in group_columns(columns)})
            sizes = rows.groupBy(*group_columns(columns)).count()
            return int(sizes.agg({"count": "max"}).collect()[0][0])

    def _select(self, columns: Mapping[str, str]) -> Any:
        column = import_module("pyspark.sql.functions").col
        quoted = {new: "`" + name.replace("`", "``") + "`" for new, name in columns.items()}
        return self.source.select(*(column(name).alias(new) for new, name in quoted.items()))

    def _transform(self, rows: Any, function: RowFunction, numbers: Sequence[str]) -> Any:
        if "weight" in rows.columns:  # whose sums may be no numbers of its own type
            rows = rows.withColumn("weight", rows["weight"].cast("double"))
        types = import_module("pyspark.sql.types")
        added = [types.StructField(name, types.LongType()) for name in numbers]
        schema = types.StructType([*rows.schema.fields, *added])
        return rows.mapInArrow(partial(_transform_batches, function, numbers), schema)

    def _partition(self, rows: Any, function: RowFunction) -> Any:
        return rows.mapInArrow(partial(_apply_to_batches, function), RECORD_SCHEMA)

    def _group(self, rows: Any, keys: Sequence[str], function: RowFunction) -> Any:
        return rows.groupBy(*keys).applyInArrow(_apply_to_table(function), RECORD_SCHEMA)

    def _continue(self, results: Any, function: Callable[[Any], Any]) -> Any:
        return results.mapInArrow(partial(_apply_to_records, function), RECORD_SCHEMA)

    def _persist(self, results: Any) -> Any:
        return results.persist()

    def _collect(self, results: Any) -> list[Any]:
        return [pickle.loads(bytes(row["record"])) for row in results.collect()]

    def release(self, results: Any) -> None:
        """Tell Spark that results need not stay; a session that is gone has none."""
        with suppress(ConnectionError, import_module("py4j.protocol").Py4JError):
            results.unpersist()

    def _errors(self) -> tuple[type[BaseException], ...]:
        errors = import_module("pyspark.errors").PySparkException, import_module("py4j.protocol").Py4JError
        return (*errors, ConnectionError)

    def _describe_damage(self) -> str | None:
        with suppress(*self._errors()):  # the session may be gone
            return _describe_damaged_file(self.source.inputFiles(), list(self.source.columns))
        return None


def _apply_to_records(function: Callable[[Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Yield Arrow batches of what the function makes of pickled values."""
    for batch in batches:
        values = map(pickle.loads, batch.column("record").to_pylist())
        yield from _pickle_values(map(function, values)).to_batches()


def _apply_to_batches(function: RowFunction, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield Arrow batches of what the function makes of each batch of rows."""
    for batch in batches:
        yield from _pickle_values([function(batch.to_pandas())]).to_batches()


def _apply_to_table(function: RowFunction) -> Callable[[Any], Any]:
    """Return a function of an Arrow table that Spark takes, which looks at the types."""

    def apply(table: Any) -> Any:
        return _pickle_values([function(table.to_pandas())])

    apply.__annotations__ = {"table": pa.Table, "return": pa.Table}
    return apply


def _pickle_values(values: Iterable[Any]) -> pa.Table:
    return pa.table({"record": [pickle.dumps(value) for value in values]})


def _transform_batches(
    function: RowFunction, numbers: Sequence[str], batches: Iterator[Any]
) -> Iterator[Any]:
    """Yield Arrow batches of the rows that the function makes of each batch of rows."""
    for batch in batches:
        schema = pa.schema([*batch.schema, *((name, pa.int64()) for name in numbers)])
        result = pa.Table.from_pandas(function(batch.to_pandas()), preserve_index=False)
        yield from result.cast(schema).combine_chunks().to_batches()


def add_bucket(frame: pd.DataFrame, by: Buckets) -> pd.DataFrame:
    """Return the rows of a partition with their buckets."""
    return frame.assign(bucket=hash_buckets(frame[by.column], by.number))


def hash_buckets(named: pd.Series[Any], n_buckets: int) -> NDArray[np.int64]:
    """Bucket of every case or cluster by a hash of its name; 3 and 3.0 share one."""
    codes, result = pd.factorize(named)
    names = np.array([str(value).removesuffix(".0") for value in [*result, ""]], dtype=object)
    hashed = pd.util.hash_array(names, categorize=False) % np.uint64(n_buckets)
    return np.asarray(hashed.astype(np.int64)[codes])


def _describe_damaged_file(paths: Iterable[object], columns: Sequence[str]) -> str | None:
    """Describe the first damaged Parquet file of this machine; engines tell neither file nor row group.

    A path may be a URL, or a pattern that matches several.
    """
    files: list[Path] = []
    for path in map(str, paths):
        local = unquote(re.sub("^file:(//)?", "", path)) if path.startswith("file:") else path
        files += map(Path, [local] if Path(local).exists() else sorted(glob(local)))
    tables = [path for path in files if path.is_dir() or path.suffix in PARQUET_SUFFIXES]
    return describe_damage(tables, columns)


@contextmanager
def translate_errors(
    name: str, errors: tuple[type[BaseException], ...], damage: Callable[[], str | None] = lambda: None
) -> Iterator[None]:
    """Turn the error of an engine that cannot go on into one clear line."""
    # a shuffle of Dask wraps what went wrong, such as a disk that is full, in a RuntimeError
    caught: tuple[type[BaseException], ...] = (*errors, RuntimeError)
    try:
        yield
    except InputError:
        raise
    except caught as error:
        cause = next((item for item in (error, error.__cause__) if isinstance(item, errors)), None)
        if cause is None and "P2P" in str(error):  # the scheduler has only the words of what went wrong
            cause = error.__cause__ or error
        if cause is None:
            raise
        lines = [line for line in str(cause).splitlines() if line.strip()] or [type(cause).__name__]
        is_full = is_full_disk(cause)
        advice = FULL_DISK if is_full else _find_hint(cause)
        # errors of the system, which have a number, and lost workers are no damage of a file
        is_explained = advice or getattr(cause, "errno", None) or "OSError(" in lines[0]
        if not is_explained and (description := damage()) is not None:
            raise InputError(f"{name}: {description}") from error
        line = shorten(lines[0], MAX_MESSAGE_LENGTH, placeholder=" ...")
        kind = DiskFullError if is_full else InputError
        raise kind(f"{name} cannot be read: {line}{advice}") from error


def _find_hint(error: BaseException) -> str:
    """Return what to do about lost workers."""
    text = f"{type(error).__name__} {error}"
    return next((advice for pattern, advice in ERROR_HINTS if re.search(pattern, text)), "")
