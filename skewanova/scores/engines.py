"""Frames of Dask and Spark: every group is packed where its rows are, and its curve comes back.

Two times the engine brings rows together: those of a group (model and fold), which become a packed curve of
one or two bits a case; and, where there are cases, all rows of some cases, which tell whether the models of a
fold have the same ones, and which folds share them. Neither rows nor cases reach this process.

A group of more rows than a worker holds is counted by score level and comes back in pieces. The cases of one
test set, or of several runs on it, stay with the engine, each by its places on the curves; it is asked for
sums over them.

Tables with clusters, weights or halvings, and small test sets, are read as a whole instead; see
:mod:`skewanova.scores.reading`.
"""

from __future__ import annotations

import pickle
import re
import weakref
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from glob import glob
from importlib import import_module
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol
from urllib.parse import unquote

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import (
    Bools,
    FullDiskError,
    InputError,
    check_labels,
    is_full_disk,
    row_number,
)
from skewanova.curves.groups import PackedCurve
from skewanova.curves.placed import PlacedCases, slots_among
from skewanova.scores import packing
from skewanova.scores.packing import (
    Group,
    Packed,
    PieceOf,
    Sketch,
    accepted,
    by_group,
    counted,
    cuts_of,
    group_of,
    group_sizes,
    joined,
    keys_of,
    pack_group,
    read_labels,
    sketches,
)
from skewanova.scores.table import (
    SHOWN,
    WHOLE,
    CaseSummary,
    Label,
    StreamedScores,
    check_any_row,
    check_both_classes,
    levels_of,
    refuse_mixed,
    refuse_repeated,
    score_values,
    with_fold,
)

if TYPE_CHECKING:
    from skewanova.scores.streamed_cases import CaseFacts

#: About how many rows of cases are looked at together.
BUCKET_ROWS = 1 << 20


#: What engines say of workers that are gone or out of reach, and what to do.
ADVICE = (
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
MOST_SAID = 300


#: What a worker makes of the rows of one group.
OfRows = Callable[[pd.DataFrame], Any]


class Engine(Protocol):
    """A frame whose rows are elsewhere."""

    @property
    def name(self) -> str:
        """What messages call the frame."""

    @property
    def names(self) -> list[str]:
        """Names of its columns."""

    def n_rows(self) -> int:
        """Number of its rows."""

    def n_distinct(self, column: str) -> int:
        """Number of values of a column, missing ones aside."""

    def rows(self, columns: Mapping[str, str]) -> pd.DataFrame:
        """All rows, in this process; columns by their own names."""

    def each_group(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """What the function makes of the rows of every model and fold, columns by their own names."""

    def each_part(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """What the function makes of the rows that are together now."""

    def each_piece(self, columns: Mapping[str, str], count: OfRows, function: OfRows) -> list[Any]:
        """What the function makes of the counts of every piece of a model and fold."""

    def each_bucket(self, columns: Mapping[str, str], function: OfRows, n_buckets: int) -> list[Any]:
        """What the function makes of all rows of some of the cases."""

    def keep_buckets(self, columns: Mapping[str, str], function: OfRows, n_buckets: int) -> Kept:
        """The same, which stays with the engine."""


class Kept(Protocol):
    """What an engine keeps until this is gone."""

    def each(self, function: Callable[[Any], Any]) -> list[Any]:
        """What the function makes of each."""


def engine_of(source: object) -> Engine | None:
    """The engine of a Dask or Spark frame; None of all else."""
    kind = type(source)  # a frame of Spark would ask Java for its columns
    homes = {one.__module__ for one in kind.__mro__}
    if hasattr(kind, "map_partitions") and any(home.startswith("dask") for home in homes):
        return DaskFrame(source)
    if any(home.startswith("pyspark.pandas.frame") for home in homes):
        return SparkFrame(source.to_spark())  # type: ignore[attr-defined]
    if any(home.startswith("pyspark.sql") for home in homes) and hasattr(kind, "groupBy"):
        return SparkFrame(source)
    return None


def query_of(source: object) -> Any:
    """The DuckDB relation or polars lazy frame that a source is, or that narwhals wraps; else None."""
    native = nw.to_native(source, pass_through=True)
    home, writes = type(native).__module__.lstrip("_"), ("sink_parquet", "write_parquet")
    is_lazy = home.startswith(("polars.lazyframe", "duckdb"))
    return native if is_lazy and any(hasattr(native, name) for name in writes) else None


@dataclass(frozen=True, eq=False)
class DaskFrame:
    """A Dask data frame."""

    source: Any
    name: str = "the Dask frame"

    @property
    def names(self) -> list[str]:
        """Names of its columns."""
        return list(self.source.columns)

    def n_rows(self) -> int:
        """Number of its rows."""
        with self._told():
            return len(self.source)

    def n_distinct(self, column: str) -> int:
        """Number of values of a column, missing ones aside."""
        with self._told():
            return int(self.source[column].nunique().compute())

    def rows(self, columns: Mapping[str, str]) -> pd.DataFrame:
        """All rows, in this process."""
        with self._told():
            found: pd.DataFrame = self._chosen(columns).compute()
        return found

    def each_group(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """What the function makes of the rows of every model and fold."""
        return self._each(self._chosen(columns), keys_of(columns), function)

    def each_bucket(self, columns: Mapping[str, str], function: OfRows, n_buckets: int) -> list[Any]:
        """What the function makes of all rows of some of the cases."""
        return self._each(self._marked(columns, n_buckets), ("bucket",), function)

    def keep_buckets(self, columns: Mapping[str, str], function: OfRows, n_buckets: int) -> DaskKept:
        """The same, which stays with the workers."""
        work = self._work(self._marked(columns, n_buckets), ("bucket",), function)
        with self._told():
            return DaskKept(import_module("dask").persist(*work), self._told)

    def each_part(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """What the function makes of every partition."""
        dask = import_module("dask")
        work, sent = dask.delayed(of_rows), dask.delayed(function)
        with self._told():
            return list(dask.compute(*(work(sent, part) for part in self._chosen(columns).to_delayed())))

    def each_piece(self, columns: Mapping[str, str], count: OfRows, function: OfRows) -> list[Any]:
        """What the function makes of the counts of every piece of a model and fold."""
        chosen = self._chosen(columns)
        counts = chosen.map_partitions(count, meta=count(chosen._meta))
        return self._each(counts, (*keys_of(columns), "piece"), function)

    def _marked(self, columns: Mapping[str, str], n_buckets: int) -> Any:
        chosen = self._chosen(columns)
        meta = chosen._meta.assign(bucket=np.int64(0))
        return chosen.map_partitions(with_bucket, n_buckets=n_buckets, meta=meta)

    def _chosen(self, columns: Mapping[str, str]) -> Any:
        own = {name: column for column, name in columns.items()}
        return self.source[list(own)].rename(columns=own)

    def _each(self, rows: Any, keys: Sequence[str], function: OfRows) -> list[Any]:
        with self._told():
            found = import_module("dask").compute(*self._work(rows, keys, function))
        return [one for part in found for one in part]

    def _work(self, rows: Any, keys: Sequence[str], function: OfRows) -> list[Any]:
        """What is to be done to every partition of the groups."""
        delayed = import_module("dask").delayed
        work, sent = delayed(of_groups), delayed(function)  # which may be large, so that it is sent once
        with self._told():
            parts = rows.shuffle(on=list(keys)).to_delayed()
        return [work(part, keys=keys, function=sent) for part in parts]

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell of workers that are gone and files that are damaged as of any source that cannot be read."""
        errors: tuple[type[BaseException], ...] = (
            OSError,
            MemoryError,
            import_module("pyarrow").ArrowException,
        )
        try:
            distributed = import_module("distributed")
            lost = distributed.CancelledError, distributed.comm.CommClosedError
            errors = (*errors, distributed.KilledWorker, *lost)
        except ImportError:
            pass  # Dask may run without it, in this process
        with told_as(self.name, errors, self._damage):
            yield

    def _damage(self) -> str | None:
        """What is wrong with the Parquet files of this machine that the rows come from."""
        steps = self.source.expr.walk() if hasattr(self.source, "expr") else ()
        read = [step.operand("path") for step in steps if "path" in step._parameters]
        given = [path for paths in read for path in (paths if isinstance(paths, list | tuple) else [paths])]
        return _damage_of([path for one in given for path in _matching(_local(one))], self.names)


@dataclass(frozen=True, eq=False)
class DaskKept:
    """Results that stay with the workers of Dask, a list of each partition."""

    lists: Sequence[Any]
    told: Callable[[], Any]

    def each(self, function: Callable[[Any], Any]) -> list[Any]:
        """What the function makes of each."""
        dask = import_module("dask")
        work, sent = dask.delayed(of_all), dask.delayed(function)
        with self.told():
            found = dask.compute(*(work(sent, part) for part in self.lists))
        return [one for part in found for one in part]


def of_rows(function: OfRows, frame: pd.DataFrame) -> Any:
    """What the function makes of the rows of a partition."""
    return function(frame)


def of_all(function: Callable[[Any], Any], values: Sequence[Any]) -> list[Any]:
    """What the function makes of each value."""
    return [function(value) for value in values]


@dataclass(frozen=True, eq=False)
class SparkFrame:
    """A Spark frame of SQL; one of the pandas API is turned into it."""

    source: Any
    name: str = "the Spark frame"

    @property
    def names(self) -> list[str]:
        """Names of its columns."""
        with self._told():
            return list(self.source.columns)

    def n_rows(self) -> int:
        """Number of its rows."""
        with self._told():
            return int(self.source.count())

    def n_distinct(self, column: str) -> int:
        """Number of values of a column, missing ones aside."""
        with self._told():
            return int(self._chosen({column: column}).dropna().distinct().count())

    def rows(self, columns: Mapping[str, str]) -> pd.DataFrame:
        """All rows, in this process."""
        with self._told():
            found: pd.DataFrame = self._chosen(columns).toArrow().to_pandas()
        return found

    def each_group(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """What the function makes of the rows of every model and fold."""
        return self._each(self._chosen(columns), keys_of(columns), function)

    def each_bucket(self, columns: Mapping[str, str], function: OfRows, n_buckets: int) -> list[Any]:
        """What the function makes of all rows of some of the cases."""
        return self._each(self._marked(columns, n_buckets), ("bucket",), function)

    def keep_buckets(self, columns: Mapping[str, str], function: OfRows, n_buckets: int) -> SparkKept:
        """The same, which stays with the workers."""
        with self._told():
            records = self._records(self._marked(columns, n_buckets), ("bucket",), function).persist()
        return SparkKept(records, self._told)

    def each_part(self, columns: Mapping[str, str], function: OfRows) -> list[Any]:
        """What the function makes of every batch."""
        with self._told():
            return _collected(
                self._chosen(columns).mapInArrow(partial(_of_batches, function), "record binary")
            )

    def each_piece(self, columns: Mapping[str, str], count: OfRows, function: OfRows) -> list[Any]:
        """What the function makes of the counts of every piece of a model and fold."""
        keys = keys_of(columns)
        chosen = self._chosen({column: columns[column] for column in (*keys, "y_true", "y_score")})
        counts = chosen.mapInArrow(partial(_counts, count), self._with(chosen, "piece", "n"))
        return self._each(counts, (*keys, "piece"), function)

    def _marked(self, columns: Mapping[str, str], n_buckets: int) -> Any:
        chosen = self._chosen(columns)
        return chosen.mapInArrow(partial(_marked, n_buckets=n_buckets), self._with(chosen, "bucket"))

    def _with(self, chosen: Any, *numbers: str) -> Any:
        """Schema of a frame with further columns of whole numbers."""
        types = import_module("pyspark.sql.types")
        more = [types.StructField(name, types.LongType()) for name in numbers]
        return types.StructType([*chosen.schema.fields, *more])

    def _chosen(self, columns: Mapping[str, str]) -> Any:
        column = import_module("pyspark.sql.functions").col
        quoted = {name: "`" + name.replace("`", "``") + "`" for name in columns.values()}
        with self._told():
            return self.source.select(*(column(quoted[name]).alias(own) for own, name in columns.items()))

    def _each(self, rows: Any, keys: Sequence[str], function: OfRows) -> list[Any]:
        with self._told():
            return _collected(self._records(rows, keys, function))

    def _records(self, rows: Any, keys: Sequence[str], function: OfRows) -> Any:
        """What the function makes of every group, pickled."""
        return rows.groupBy(*keys).applyInArrow(_of_arrow(function), "record binary")

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Tell in one line what Spark tells in many."""
        with told_as(self.name, self._errors(), self._damage):
            yield

    def _damage(self) -> str | None:
        """What is wrong with the Parquet files of this machine that the rows come from."""
        names, files = [], []
        with suppress(*self._errors()):  # the session may be gone
            names = list(self.source.columns)
            files = [_local(path) for path in self.source.inputFiles()]
        return _damage_of(files, names)

    def _errors(self) -> tuple[type[BaseException], ...]:
        """What Spark raises."""
        errors = import_module("pyspark.errors").PySparkException, import_module("py4j.protocol").Py4JError
        return (*errors, ConnectionError)


@dataclass(frozen=True, eq=False)
class SparkKept:
    """Results that Spark keeps in memory or on disk until this is gone."""

    records: Any
    told: Callable[[], Any]

    def __post_init__(self) -> None:
        weakref.finalize(self, _let_go, self.records).atexit = False  # the session ends before

    def each(self, function: Callable[[Any], Any]) -> list[Any]:
        """What the function makes of each."""
        with self.told():
            return _collected(self.records.mapInArrow(partial(_of_records, function), "record binary"))


def _let_go(records: Any) -> None:
    """Tell Spark that rows need not be kept; what is gone keeps none."""
    with suppress(ConnectionError, import_module("py4j.protocol").Py4JError):
        records.unpersist()


def _of_records(function: Callable[[Any], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Arrow batches of what the function makes of pickled values."""
    arrow = import_module("pyarrow")
    for batch in batches:
        found = [function(pickle.loads(record)) for record in batch.column("record").to_pylist()]
        yield arrow.RecordBatch.from_pydict({"record": [pickle.dumps(one) for one in found]})


def _of_batches(function: OfRows, batches: Iterator[Any]) -> Iterator[Any]:
    """Arrow batches of what the function makes of each batch of rows."""
    arrow = import_module("pyarrow")
    for batch in batches:
        yield arrow.RecordBatch.from_pydict({"record": [pickle.dumps(function(batch.to_pandas()))]})


def _counts(count: OfRows, batches: Iterator[Any]) -> Iterator[Any]:
    """Arrow batches of the counts of each batch of rows."""
    arrow = import_module("pyarrow")
    for batch in batches:
        schema = arrow.schema([*batch.schema, ("piece", arrow.int64()), ("n", arrow.int64())])
        found = arrow.Table.from_pandas(count(batch.to_pandas()), preserve_index=False)
        yield from found.cast(schema).combine_chunks().to_batches()


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
    parquet = import_module("skewanova.scores.parquet")  # needs an extra package
    files = [path for path in map(Path, paths) if path.is_dir() or path.suffix in parquet.SUFFIXES]
    found: str | None = parquet.damage([path for path in files if path.exists()], columns)
    return found


@contextmanager
def told_as(
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
        known = next((one for one in (error, error.__cause__) if isinstance(one, errors)), None)
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
        line = shorten(lines[0], MOST_SAID, placeholder=" ...")
        kind = FullDiskError if is_full else InputError
        raise kind(f"{name} cannot be read: {line}{advice}") from error


def _advice(error: BaseException) -> str:
    """What to do about workers that are gone or out of reach."""
    told = f"{type(error).__name__} {error}"
    return next((advice for pattern, advice in ADVICE if re.search(pattern, told)), "")


def of_groups(frame: pd.DataFrame, *, keys: Sequence[str], function: OfRows) -> list[Any]:
    """What the function makes of every group of a partition."""
    groups = frame.groupby(list(keys), sort=False, observed=True, dropna=False)
    return [function(rows) for _, rows in groups]


def _of_arrow(function: OfRows) -> Callable[[Any], Any]:
    """What the function makes of an Arrow table, as a table that Spark takes; Spark looks at the types."""
    arrow = import_module("pyarrow")

    def pickled(table: Any) -> Any:
        return arrow.table({"record": [pickle.dumps(function(table.to_pandas()))]})

    pickled.__annotations__ = {"table": arrow.Table, "return": arrow.Table}
    return pickled


def _marked(batches: Iterator[Any], *, n_buckets: int) -> Iterator[Any]:
    """Arrow batches with the buckets of their cases."""
    for batch in batches:
        bucket = bucket_of(batch.column("case").to_pandas(), n_buckets)
        yield batch.append_column("bucket", import_module("pyarrow").array(bucket))


def with_bucket(frame: pd.DataFrame, n_buckets: int) -> pd.DataFrame:
    """The rows of a partition with the buckets of their cases."""
    return frame.assign(bucket=bucket_of(frame["case"], n_buckets))


def bucket_of(case: pd.Series[Any], n_buckets: int) -> NDArray[np.int64]:
    """Bucket of every case by a hash of its name; 3 and 3.0 share one."""
    codes, found = pd.factorize(case)
    names = np.array([str(value).removesuffix(".0") for value in [*found, ""]], dtype=object)
    hashed = pd.util.hash_array(names, categorize=False) % np.uint64(n_buckets)
    return np.asarray(hashed.astype(np.int64)[codes])


def gather(engine: Engine, columns: Mapping[str, str], *, pos_label: object) -> StreamedScores:
    """The packed curves of all groups, and what the cases tell."""
    shown: list[Sketch] = []
    if _largest_group(engine, columns) > packing.MOST_ROWS_OF_GROUP:
        shown = [one for part in accepted(engine.each_part(columns, sketches)) for one in part]
    if cuts := cuts_of(shown, packing.MOST_ROWS_OF_GROUP):
        packed = _in_pieces(engine, columns, shown, cuts=cuts, pos_label=pos_label)
    else:
        packed = accepted(engine.each_group(columns, partial(pack_group, pos_label=pos_label)))
    check_any_row(len(packed))
    groups = _Groups.of(packed)
    groups.check(pos_label)
    cases, parts = _cases(engine, columns, groups, pos_label) if "case" in columns else (None, None)
    return StreamedScores(
        models=groups.models,
        folds=groups.folds,
        counts=groups.counts(),
        packed=groups.in_order(),
        cases=cases,
        source=None,
        parts=parts,
    )


def _largest_group(engine: Engine, columns: Mapping[str, str]) -> int:
    """Rows of the largest group, or of all if they are few: the keys alone are read."""
    total = engine.n_rows()
    if total <= packing.MOST_ROWS_OF_GROUP:
        return total
    sizes: Counter[str] = Counter()
    for part in engine.each_part({key: columns[key] for key in keys_of(columns)}, group_sizes):
        sizes.update(part)
    return max(sizes.values(), default=0)


def _in_pieces(
    engine: Engine,
    columns: Mapping[str, str],
    shown: Sequence[Sketch],
    *,
    cuts: Mapping[Group, NDArray[Any]],
    pos_label: object,
) -> list[Packed]:
    """Groups of which some are larger than a worker, merged from counts by score level."""
    ordered = sorted(shown, key=lambda one: one.group)
    written = [
        (label, "model {!r} in fold {!r}".format(*one.group)) for one in ordered for label in one.labels
    ]
    labels = [label for label, _ in written]
    positive = check_labels(labels, pos_label=pos_label, where=lambda row: written[row][1])
    both = labels[int(np.argmin(positive))], labels[int(np.argmax(positive))]
    whole = {group: all(one.whole for one in some) for group, some in by_group(shown).items()}
    one_set = "case" in columns and len({fold for _, fold in whole}) == 1
    counted_columns = {column: name for column, name in columns.items() if column != "case"}
    pack = PieceOf(both, pos_label, with_levels=one_set)
    found = joined(engine.each_piece(counted_columns, partial(counted, cuts=cuts), pack))
    packed = [Packed(*group, curve, both, whole[group], levels) for group, (curve, levels) in found.items()]
    groups = _Groups.of(packed)
    check_both_classes(groups.models, groups.folds, groups.counts())
    return packed


@dataclass(frozen=True, eq=False)
class _Groups:
    """All groups, and the levels of their models and folds: models in the order of their names."""

    packed: Sequence[Packed]
    models: tuple[str, ...]
    folds: tuple[Label, ...]
    model: NDArray[Any]
    fold: NDArray[Any]

    @classmethod
    def of(cls, packed: Sequence[Packed]) -> _Groups:
        """Order the groups."""
        some = sorted(packed, key=lambda one: (one.model, one.fold))
        model = levels_of(pd.Series([one.model for one in some]), "model", row_number)
        fold = levels_of(pd.Series([one.fold for one in some]), "fold", row_number, whole=True)
        models, folds = tuple(model.categories.tolist()), tuple(fold.categories.tolist())
        return cls(some, models, folds, model.codes.astype(np.intp), fold.codes.astype(np.intp))

    def check(self, pos_label: object) -> None:
        """One spelling a fold, and the same two labels in all groups."""
        if len({*zip(self.model.tolist(), self.fold.tolist(), strict=True)}) < len(self.packed):
            raise InputError(
                "a fold must be spelled in one way, but some are both whole numbers and fractions"
            )
        written = [label for one in self.packed for label in one.labels]
        check_labels(written, pos_label=pos_label, where=lambda row: self._place(row // 2))

    def counts(self) -> NDArray[np.int64]:
        """Number of negatives and positives, of shape (n_models, n_folds, 2)."""
        counts = np.zeros((len(self.models), len(self.folds), 2), dtype=np.int64)
        sizes = [(one.curve.n_negative, one.curve.n_positive) for one in self.packed]
        counts[self.model, self.fold] = sizes
        return counts

    def in_order(self) -> dict[tuple[str, Label], PackedCurve]:
        """Packed curves, models first."""
        order = np.lexsort((self.fold, self.model)).tolist()
        return {(self.models[self.model[i]], self.folds[self.fold[i]]): self.packed[i].curve for i in order}

    def _place(self, at: int) -> str:
        return f"model {self.packed[at].model!r} in fold {self.packed[at].fold!r}"


@dataclass(frozen=True, eq=False)
class _Bucket:
    """Looks at all rows of some of the cases, by what is known of all groups."""

    folds: tuple[Label, ...]
    n_models: NDArray[np.intp]
    whole: bool
    labels: tuple[str, str]
    pos_label: object

    def __call__(self, frame: pd.DataFrame) -> CaseFacts:
        """Facts of the rows, cases by their names."""
        from skewanova.scores.streamed_cases import CaseFacts, look_at_bucket  # needs an extra package

        case = levels_of(frame["case"], "case", row_number, whole=self.whole)
        names = case.categories.tolist()
        order = sorted(range(len(names)), key=names.__getitem__)
        rank = np.argsort(order)
        facts = CaseFacts.none(len(self.folds))
        fold, positive = self.fold(with_fold(frame)["fold"]), self.positive(frame["y_true"])
        look_at_bucket(facts, self.n_models, fold, key=rank[case.codes], positive=positive)
        named = [names[i] for i in order]
        unpaired = {at: [named[k] for k in keys[:SHOWN]] for at, keys in facts.unpaired_keys.items()}
        rows = pd.DataFrame(
            {"model": frame["model"].astype(str).to_numpy(), "fold": fold, "case": case.codes}
        )
        again = rows[rows.duplicated()]
        repeated = [(m, self.folds[f], names[c]) for m, f, c in again.head(SHOWN).itertuples(index=False)]
        return replace(
            facts,
            mixed_keys=[named[k] for k in facts.mixed_keys[:SHOWN]],
            unpaired_keys=unpaired,
            repeated=len(again),
            repeated_keys=repeated,
        )

    def fold(self, values: pd.Series[Any]) -> NDArray[np.intp]:
        """Position of every row's fold, whole numbers by their plain spelling, as groups tell them."""
        codes, found = pd.factorize(values)
        place = {str(fold): i for i, fold in enumerate(self.folds)}
        texts = [str(value) for value in found]
        plain = [text.removesuffix(".0") if WHOLE.fullmatch(text) else text for text in texts]
        return np.array([place[text] for text in plain], dtype=np.intp)[codes]

    def positive(self, values: pd.Series[Any]) -> Bools:
        """Labels as all groups together read them."""
        return read_labels(values, self.labels, self.pos_label)


@dataclass(frozen=True, eq=False)
class _LevelsOf:
    """Finds the different scores of a model's positives, in ascending order."""

    look: _Bucket

    def __call__(self, frame: pd.DataFrame) -> tuple[Group, NDArray[Any]]:
        """Model and fold, and the scores."""
        score = score_values(frame["y_score"], "y_score", row_number)
        return group_of(with_fold(frame)), np.unique(score[self.look.positive(frame["y_true"])])


class _Found(NamedTuple):
    """What a bucket of one test set keeps: facts, and its cases, placed if all models have the same ones."""

    facts: CaseFacts
    placed: PlacedCases | None


@dataclass(frozen=True, eq=False)
class _Placed:
    """Looks at all rows of some of the cases of one test set, and finds their places on the curves.

    The scores of the positives of each model in each run, in ascending order, tell these.
    """

    look: _Bucket
    cells: tuple[tuple[str, Label], ...]
    levels: tuple[NDArray[Any], ...]

    def __call__(self, frame: pd.DataFrame) -> _Found:
        """Facts and places."""
        return _Found(self.look(frame), self._placed(frame))

    def _placed(self, frame: pd.DataFrame) -> PlacedCases | None:
        fold, model = self.look.fold(with_fold(frame)["fold"]), frame["model"].map(str).to_numpy()
        case = levels_of(frame["case"], "case", row_number, whole=self.look.whole).codes
        score = score_values(frame["y_score"], "y_score", row_number)
        places = [(name, self.look.folds.index(label)) for name, label in self.cells]
        rows = [np.flatnonzero((model == name) & (fold == at)) for name, at in places]
        rows = [at[np.argsort(case[at])] for at in rows]
        if any(not np.array_equal(case[at], case[rows[0]]) for at in rows):
            return None
        slot = [slots_among(levels, score[at]) for levels, at in zip(self.levels, rows, strict=True)]
        most = max(map(len, self.levels))
        small = np.min_scalar_type(2 * most + 1)
        return PlacedCases(self.look.positive(frame["y_true"])[rows[0]], np.array(slot, dtype=small))


@dataclass(frozen=True, eq=False)
class _Parts:
    """Cases of one test set that an engine keeps."""

    cells: tuple[tuple[str, Label], ...]
    kept: Kept

    def each(self, function: Callable[[PlacedCases], Any]) -> list[Any]:
        """What the function makes of each part."""
        return self.kept.each(_OfPlaced(function))


@dataclass(frozen=True, eq=False)
class _OfPlaced:
    function: Callable[[PlacedCases], Any]

    def __call__(self, found: _Found) -> Any:
        if found.placed is None:
            raise InputError("the models of one test set must be scored on the same cases")
        return self.function(found.placed)


def _facts(found: _Found) -> CaseFacts:
    return found.facts


def _cases(
    engine: Engine, columns: Mapping[str, str], groups: _Groups, pos_label: object
) -> tuple[CaseSummary, _Parts | None]:
    """What the cases of all groups together tell; those of one test set stay with the engine."""
    counts = groups.counts()
    look = _Bucket(
        folds=groups.folds,
        n_models=(counts.sum(axis=2) > 0).sum(axis=0),
        whole=all(one.whole for one in groups.packed),
        labels=groups.packed[0].labels,
        pos_label=pos_label,
    )
    n_buckets = int(counts.sum()) // BUCKET_ROWS + 1
    if len(groups.folds) > 1:
        needed = {column: name for column, name in columns.items() if column != "y_score"}
        found = _summary(engine.each_bucket(needed, look, n_buckets), groups.folds)
        if found.unpaired.any() or not (found.shared == found.n_cases).all():
            return found, None
    levels = {(one.model, one.fold): one.levels for one in groups.packed if one.levels is not None}
    if not levels:
        needed = {column: name for column, name in columns.items() if column != "case"}
        levels = dict(engine.each_group(needed, _LevelsOf(look)))
    cells = tuple(groups.in_order())
    place = _Placed(look, cells, tuple(levels[model, str(fold)] for model, fold in cells))
    kept = engine.keep_buckets(columns, place, n_buckets)
    return _summary(kept.each(_facts), groups.folds), _Parts(cells, kept)


def _summary(parts: Sequence[CaseFacts], folds: Sequence[Label]) -> CaseSummary:
    """What all buckets together tell."""
    if repeated := sum(part.repeated for part in parts):  # groups that came back whole have none
        shown = sorted(name for part in parts for name in part.repeated_keys)[:SHOWN]
        refuse_repeated(repeated, ", ".join(map(str, shown)))
    if mixed := sum(part.mixed for part in parts):
        refuse_mixed(mixed, sorted(name for part in parts for name in part.mixed_keys)[:SHOWN])
    examples = [
        (name, fold)
        for at, fold in enumerate(folds)
        for name in sorted(name for part in parts for name in part.unpaired_keys.get(at, ()))[:SHOWN]
    ]
    return CaseSummary(
        shared=np.sum([part.shared for part in parts], axis=0),
        n_cases=sum(part.n_cases for part in parts),
        n_positive=sum(part.n_positive for part in parts),
        unpaired=np.sum([part.unpaired for part in parts], axis=0),
        examples=tuple(examples),
    )
