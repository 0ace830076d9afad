"""Frames of Dask and Spark behind one protocol.

A backend applies functions to the rows of groups (model and fold), of partitions, or of buckets of cases, on
the workers. Errors of the engine become one-line input errors.
"""

from __future__ import annotations

import pickle
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
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

from skewanova.base.checks import DiskFullError, InputError, is_full_disk
from skewanova.scores.sources import PARQUET_SUFFIXES, describe_damage

#: Patterns in errors of lost or unreachable workers, and the hint for each.
ERROR_HINTS = (
    (
        "KilledWorker|MemoryError|OutOfMemory|worker exited|Executor(Lost|Exited)",
        "; if memory ran out, note that the rows of one model in one fold must fit in the memory of a worker",
    ),
    (
        "CancelledError|CommClosed|Connection|Py4JNetworkError|"
        r"^Py4JError An error occurred while calling \S+$",  # py4j, if a call is interrupted
        "; was the connection to the cluster lost?",
    ),
)


#: Function of some rows, which a worker calls.
RowFunction = Callable[[pd.DataFrame], Any]


#: Columns whose values define a group.
GROUP_COLUMNS = ("model", "fold")


#: Schema of Spark for pickled values.
RECORD_SCHEMA = "record binary"


def group_columns(columns: Container[str]) -> list[str]:
    """Return the names of `GROUP_COLUMNS` that are among the columns, in that order."""
    return [key for key in GROUP_COLUMNS if key in columns]


class Split(NamedTuple):
    """Columns `keys` that define groups, after `transform` of the rows adds the integer columns `added`."""

    keys: Sequence[str]
    transform: RowFunction
    added: Sequence[str]

    @classmethod
    def into_buckets(cls, n_buckets: int, column: str) -> Split:
        """Return the split of rows into at most `n_buckets` groups by the hash of a column."""
        return cls(["bucket"], partial(add_bucket, column=column, n_buckets=n_buckets), ["bucket"])


class Backend(Protocol):
    """A frame whose rows are on the workers of an engine.

    The private methods are those of an engine. `_partition` and `_group` apply a function to rows, `_persist`
    keeps the results on the workers, and `_collect` returns them to this process.
    """

    source: Any
    name: str

    @property
    def names(self) -> list[str]:
        """Names of the columns of the frame."""
        with self._translate_errors():
            return list(self.source.columns)

    def n_rows(self) -> int:
        """Return the number of rows."""
        with self._translate_errors():
            return self._count()

    def count_rows(self, columns: Mapping[str, str]) -> Counter[Any]:
        """Return a counter of the rows of every (model, fold), or value of the only group column."""
        keys = {key: columns[key] for key in group_columns(columns)}
        return sum(map(Counter, self.map_partitions(keys, count_by_group)), Counter())

    def read_rows(self, columns: Mapping[str, str], select: RowFunction = pd.DataFrame.copy) -> pd.DataFrame:
        """Return a local frame of these columns, each partition as `select` leaves it; the index repeats."""
        parts = self.map_partitions(columns, select)
        return pd.concat(parts) if parts else pd.DataFrame(columns=[*columns])

    def map_partitions(self, columns: Mapping[str, str], function: RowFunction) -> list[Any]:
        """Return a list of the function's result for the rows of every partition or batch, in their order."""
        with self._translate_errors():
            return self._collect(self._partition(self._select(columns), function))

    def map_groups(
        self, columns: Mapping[str, str], function: RowFunction, split: Split | None = None
    ) -> list[Any]:
        """Return the function's results for every (model, fold), or group of `split`: a list in any order."""
        with self._translate_errors():
            return self._collect(self._split(columns, function, split))

    def persist_groups(self, columns: Mapping[str, str], function: RowFunction, split: Split) -> Any:
        """Return a handle on the function's results by group of `split`, which workers keep once computed."""
        with self._translate_errors():
            return self._persist(self._split(columns, function, split))

    def map_results(self, results: Any, function: Callable[[Any], Any]) -> list[Any]:
        """Return a list of the function's result for every result on the workers."""
        with self._translate_errors():
            return self._collect(self._continue(results, function))

    def release(self, results: Any) -> None:
        """Do nothing; an engine that must delete results on the workers does so here."""
        return

    def _split(self, columns: Mapping[str, str], function: RowFunction, split: Split | None) -> Any:
        """Return the function's lazy results for every (model, fold), or every group of `split`."""
        rows = self._select(columns)
        if split is None:
            return self._group(rows, group_columns(columns), function)
        return self._group(self._transform(rows, split.transform, split.added), split.keys, function)

    def _count(self) -> int:
        """Return the number of rows."""

    def _select(self, columns: Mapping[str, str]) -> Any:
        """Return the frame of these columns, renamed to the keys of `columns`."""

    def _transform(self, rows: Any, function: RowFunction, numbers: Sequence[str]) -> Any:
        """Return the frame that a function makes of every partition, with new integer columns `numbers`."""

    def _partition(self, rows: Any, function: RowFunction) -> Any:
        """Return the lazy results of a function of the rows of every partition."""

    def _group(self, rows: Any, keys: Sequence[str], function: RowFunction) -> Any:
        """Return the lazy results of a function of the rows of every value of the keys."""

    def _continue(self, results: Any, function: Callable[[Any], Any]) -> Any:
        """Return the lazy results of a function of every result."""

    def _persist(self, results: Any) -> Any:
        """Return the results, which the workers keep once they are computed."""

    def _collect(self, results: Any) -> list[Any]:
        """Return the computed results as a list in this process."""

    def _errors(self) -> tuple[type[BaseException], ...]:
        """Return the types of the errors of the engine."""

    def _describe_damage(self) -> str | None:
        """Return a sentence on the first damaged local Parquet file that the frame reads, or None."""

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        """Raise errors of workers and of damaged files in the block as one-line input errors."""
        errors = self._errors()
        # a shuffle of Dask wraps errors, such as those of a full disk, in a RuntimeError
        caught: tuple[type[BaseException], ...] = (*errors, RuntimeError)
        try:
            yield
        except InputError:
            raise
        except caught as error:
            cause = next((item for item in (error, error.__cause__) if isinstance(item, errors)), None)
            if cause is None and "P2P" in str(error):  # the scheduler has only the text of the error
                cause = error.__cause__ or error
            if cause is None:
                raise
            lines = [line for line in str(cause).splitlines() if line.strip()] or [type(cause).__name__]
            is_full = is_full_disk(cause)
            text = f"{type(cause).__name__} {cause}"
            hints = [hint for pattern, hint in ERROR_HINTS if re.search(pattern, text)]
            advice = "; the disk for temporary rows is full" if is_full else "".join(hints[:1])
            # lost workers and errors of the system, which have a number, do not mean a damaged file
            is_explained = advice or getattr(cause, "errno", None) or "OSError(" in lines[0]
            if not is_explained and (description := self._describe_damage()) is not None:
                raise InputError(f"{self.name}: {description}") from error
            line = shorten(lines[0], 300, placeholder=" ...")
            kind = DiskFullError if is_full else InputError
            raise kind(f"{self.name} cannot be read: {line}{advice}") from error


def count_by_group(frame: pd.DataFrame) -> dict[Any, int]:
    """Return the numbers of rows of a partition by (model, fold), or by the only group column."""
    return frame.groupby(group_columns(frame), observed=True, dropna=False).size().to_dict()


def apply_to_groups(frame: pd.DataFrame, function: RowFunction, *, keys: Sequence[str]) -> list[Any]:
    """Return the function's results for the groups of a partition by `keys`, in order of first occurrence."""
    text = [key for key in keys if isinstance(frame[key].dtype, pd.StringDtype)]
    frame = frame.reset_index(drop=True).astype(dict.fromkeys(text, "category"))  # codes are grouped faster
    groups = frame.groupby(list(keys), sort=False, observed=True, dropna=False)
    return [function(rows) for _, rows in groups]


def apply_to_all(values: Sequence[Any], function: Callable[[Any], Any]) -> list[Any]:
    """Return a list of the function's result for every value."""
    return [function(value) for value in values]


@dataclass(frozen=True, eq=False)
class DaskFrame(Backend):
    """A Dask data frame, whose lazy results are one delayed list per partition."""

    source: Any
    name: str = "the Dask frame"

    def _count(self) -> int:
        """Return the number of rows."""
        return len(self.source)

    def _select(self, columns: Mapping[str, str]) -> Any:
        """Return the Dask frame of these columns, renamed to the keys of `columns`."""
        columns_by_name = {name: column for column, name in columns.items()}
        return self.source[list(columns_by_name)].rename(columns=columns_by_name)

    def _transform(self, rows: Any, function: RowFunction, numbers: Sequence[str]) -> Any:
        """Return the Dask frame that a function makes of every partition."""
        return rows.map_partitions(function, meta=function(rows._meta))

    def _partition(self, rows: Any, function: RowFunction) -> list[Any]:
        """Return a delayed list per partition, of the function's result for its rows."""
        return self._continue([[part] for part in rows.to_delayed()], function)

    def _group(self, rows: Any, keys: Sequence[str], function: RowFunction) -> list[Any]:
        """Return a delayed list per shuffled partition, of the function's result for each of its groups."""
        parts = rows.shuffle(on=list(keys)).to_delayed()
        return self._continue(parts, function, work=partial(apply_to_groups, keys=keys))

    def _continue(self, results: Any, function: Callable[[Any], Any], work: Any = apply_to_all) -> list[Any]:
        """Return a delayed list `work(part, function)` for every part of the results."""
        delayed = import_module("dask").delayed
        sent = delayed(function)  # sent once, as it may be large
        return [delayed(work)(part, sent) for part in results]

    def _persist(self, results: Any) -> Any:
        """Return a tuple of the delayed lists, computed and kept on the workers."""
        return import_module("dask").persist(*results)

    def _collect(self, results: Any) -> list[Any]:
        """Return the items of all computed lists in one list."""
        return [item for part in import_module("dask").compute(*results) for item in part]

    def _errors(self) -> tuple[type[BaseException], ...]:
        """Return the types of errors of the system, memory, Arrow and, if installed, dask.distributed."""
        errors = OSError, MemoryError, pa.ArrowException
        try:
            distributed = import_module("distributed")
        except ImportError:  # Dask can run in this process without it
            return errors
        lost = distributed.CancelledError, distributed.comm.CommClosedError
        return (*errors, distributed.KilledWorker, *lost)

    def _describe_damage(self) -> str | None:
        """Return a sentence on the first damaged Parquet file that the frame reads, or None."""
        steps = self.source.expr.walk() if hasattr(self.source, "expr") else ()
        sources = [step.operand("path") for step in steps if "path" in step._parameters]
        paths = [path for item in sources for path in (item if isinstance(item, list | tuple) else [item])]
        return _describe_damaged_file(paths, self.names)


@dataclass(frozen=True, eq=False)
class SparkFrame(Backend):
    """A Spark SQL frame, whose lazy results are a Spark frame of pickled values."""

    source: Any
    name: str = "the Spark frame"

    def _count(self) -> int:
        """Return the number of rows."""
        return int(self.source.count())

    def _select(self, columns: Mapping[str, str]) -> Any:
        """Return the Spark frame of these columns, renamed to the keys of `columns`."""
        column = import_module("pyspark.sql.functions").col
        quoted = {new: "`" + name.replace("`", "``") + "`" for new, name in columns.items()}
        return self.source.select(*(column(name).alias(new) for new, name in quoted.items()))

    def _transform(self, rows: Any, function: RowFunction, numbers: Sequence[str]) -> Any:
        """Return the Spark frame a function makes of batches; columns `numbers` are long, weight double."""
        if "weight" in rows.columns:  # sums of weights may exceed their type
            rows = rows.withColumn("weight", rows["weight"].cast("double"))
        types = import_module("pyspark.sql.types")
        added = [types.StructField(name, types.LongType()) for name in numbers]
        schema = types.StructType([*rows.schema.fields, *added])
        return rows.mapInArrow(partial(_transform_batches, function, numbers), schema)

    def _partition(self, rows: Any, function: RowFunction) -> Any:
        """Return the Spark frame of the function's pickled result for every batch of rows."""
        return rows.mapInArrow(partial(_apply_to_rows_of_batches, function), RECORD_SCHEMA)

    def _group(self, rows: Any, keys: Sequence[str], function: RowFunction) -> Any:
        """Return the Spark frame of the function's pickled result for the rows of every group."""
        return rows.groupBy(*keys).applyInArrow(_apply_to_table(function), RECORD_SCHEMA)

    def _continue(self, results: Any, function: Callable[[Any], Any]) -> Any:
        """Return the Spark frame of the function's pickled result for every pickled result."""
        return results.mapInArrow(partial(_apply_to_pickled_values, function), RECORD_SCHEMA)

    def _persist(self, results: Any) -> Any:
        """Return the Spark frame of results, which its workers keep once it is computed."""
        return results.persist()

    def _collect(self, results: Any) -> list[Any]:
        """Return a list of the unpickled results."""
        return [pickle.loads(bytes(row["record"])) for row in results.collect()]

    def release(self, results: Any) -> None:
        """Unpersist results, unless the session has ended."""
        with suppress(ConnectionError, import_module("py4j.protocol").Py4JError):
            results.unpersist()

    def _errors(self) -> tuple[type[BaseException], ...]:
        """Return the types of errors of Spark, of py4j and of connections."""
        errors = import_module("pyspark.errors").PySparkException, import_module("py4j.protocol").Py4JError
        return (*errors, ConnectionError)

    def _describe_damage(self) -> str | None:
        """Return a sentence on the first damaged Parquet file that the frame reads, or None."""
        with suppress(*self._errors()):  # the session may have ended
            return _describe_damaged_file(self.source.inputFiles(), list(self.source.columns))
        return None


def _apply_to_rows_of_batches(function: RowFunction, batches: Iterator[Any]) -> Iterator[Any]:
    """Yield, for each Arrow batch, one with the pickled result of a function of its rows, a data frame."""
    for batch in batches:
        yield from _pickle_values([function(batch.to_pandas())]).to_batches()


def _apply_to_pickled_values(function: Callable[[Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Yield, for each Arrow batch of pickled values, one with the pickled results of a function of each."""
    for batch in batches:
        values = map(pickle.loads, batch.column("record").to_pylist())
        yield from _pickle_values(map(function, values)).to_batches()


def _apply_to_table(function: RowFunction) -> Callable[[Any], Any]:
    """Return a function of an Arrow table for Spark, whose result is a table of the pickled result."""

    def pickle_result(table: Any) -> Any:
        return _pickle_values([function(table.to_pandas())])

    pickle_result.__annotations__ = {"table": pa.Table, "return": pa.Table}
    return pickle_result


def _pickle_values(values: Iterable[Any]) -> pa.Table:
    """Return an Arrow table with the pickled values in its column record."""
    return pa.table({"record": [pickle.dumps(value) for value in values]})


def _transform_batches(
    function: RowFunction, numbers: Sequence[str], batches: Iterator[Any]
) -> Iterator[Any]:
    """Yield Arrow batches of the rows that a function makes of each batch, with integer columns `numbers`."""
    for batch in batches:
        schema = pa.schema([*batch.schema, *((name, pa.int64()) for name in numbers)])
        result = pa.Table.from_pandas(function(batch.to_pandas()), preserve_index=False)
        yield from result.cast(schema).combine_chunks().to_batches()


def add_bucket(frame: pd.DataFrame, *, column: str, n_buckets: int) -> pd.DataFrame:
    """Return the rows with a column bucket, the hash of `column` modulo `n_buckets`; 3 and 3.0 are equal."""
    codes, levels = pd.factorize(frame[column])
    names = np.array([str(value).removesuffix(".0") for value in [*levels, ""]], dtype=object)
    hashed = pd.util.hash_array(names, categorize=False) % np.uint64(n_buckets)
    return frame.assign(bucket=hashed.astype(np.int64)[codes])


def _describe_damaged_file(paths: Iterable[object], columns: Sequence[str]) -> str | None:
    """Return a sentence on the first local Parquet file (path or pattern) with damaged `columns`, or None."""
    files: list[Path] = []
    for path in map(str, paths):
        local = unquote(re.sub("^file:(//)?", "", path)) if path.startswith("file:") else path
        files += map(Path, [local] if Path(local).exists() else sorted(glob(local)))
    tables = [path for path in files if path.is_dir() or path.suffix in PARQUET_SUFFIXES]
    return describe_damage(tables, columns)
