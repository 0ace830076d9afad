"""Keys and facts of the cases of a stream, scattered to a file.

Keys of all groups go to a temporary file, cut by a hash into buckets that each fit in memory; a case is in
one bucket, so each bucket can be looked at by itself.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from skewanova.base.checks import Bools, FullDiskError, InputError, Where, is_full_disk
from skewanova.scores.parquet import plain, value_type
from skewanova.scores.table import SHOWN, WHOLE, Label, refuse_empty


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
        kind = FullDiskError if is_full_disk(error) else InputError
        raise kind(
            f"the temporary folder {tempfile.gettempdir()!r} cannot take the rows ({error.strerror}); "
            "set TMPDIR to a folder with more room"
        ) from error


Keys = NDArray[np.int64]


class CaseReader:
    """Keys of the cases in batches.

    Whole numbers are their own keys, whether written as numbers or as text; numbers with fractions are keyed
    by their bits. Other cases are keyed by 64 bits of a hash: among n of them two are mistaken for one with
    probability n^2 / 2^65, which is 3e-6 for ten million.

    Parameters
    ----------
    whole : bool
        Whether all cases that are text read as whole numbers.
    where : callable
        Says where a row is.

    Attributes
    ----------
    named_whole : bool
        Whether all cases taken so far, numbers or text, are named as whole numbers.
    """

    def __init__(self, *, whole: bool, where: Where) -> None:
        self.whole = whole
        self.named_whole = True
        self._where = where
        self.n_empty = 0
        self.first = 0

    def take(self, column: Any, start: int) -> Keys:
        """Keys of a batch whose first row is `start`; empty cases get any key and are counted."""
        values = plain(column)
        if is_number(values.type):
            self._count(_missing(values), start)
            self.named_whole = self.named_whole and _all_whole_numbers(values)
            return _number_keys(values)
        self.named_whole = self.whole
        text = as_text(values)
        self._count(_blank(text), start)
        return _whole_keys(text) if self.whole else _hashed(text)

    def check(self) -> None:
        """Raise if any case was empty."""
        if self.n_empty:
            refuse_empty("case", self.n_empty, self._where(self.first))

    def _count(self, empty: NDArray[np.bool_], start: int) -> None:
        if empty.any():
            self.first = self.first if self.n_empty else start + int(np.argmax(empty))
            self.n_empty += int(empty.sum())


def all_whole(kind: Any, batches: Iterable[Any]) -> bool:
    """Whether a column of this type, the only one of the batches, is text that reads as whole numbers."""
    if is_number(value_type(kind)):
        return False
    return all(_reads_whole(as_text(plain(batch.column(0)))) for batch in batches)


def names_of(column: Any, rows: NDArray[np.int64], *, whole: bool) -> list[Label]:
    """Cases of some rows as a score table names them."""
    texts = as_text(plain(column.take(pa.array(rows)))).to_pylist()
    return [int(text.removesuffix(".0")) if whole else text for text in texts]


def as_text(values: Any) -> Any:
    """Arrow text of any column, numbers and dates spelled as pandas does."""
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return values
    series = values.to_pandas()
    return pa.array([None if pd.isna(value) else str(value) for value in series.tolist()], pa.string())


def is_number(kind: Any) -> bool:
    """Whether a column of this type holds numbers."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _all_whole_numbers(values: Any) -> bool:
    """Whether all numbers of a column are spelled as whole numbers of at most 18 digits."""
    number = values.drop_null().to_numpy(zero_copy_only=False)
    if number.dtype.kind == "f":  # from 1e16 on their spelling has an exponent
        double = number.astype(np.float64)  # a half has no room for the limit
        return bool(np.all((np.abs(double) < 1e16) & (double == np.floor(double))))
    return number.dtype.kind != "b" and bool(np.all((number < 10**18) & (number > -(10**18))))


def _missing(values: Any) -> NDArray[np.bool_]:
    found: NDArray[np.bool_] = pc.is_null(values, nan_is_null=True).to_numpy(zero_copy_only=False)
    return found


def _number_keys(values: Any) -> Keys:
    if pa.types.is_floating(values.type):
        number = values.fill_null(0).to_numpy(zero_copy_only=False).astype(np.float64) + 0.0  # -0.0 is 0.0
        return np.asarray(number.view(np.int64))
    filler = False if pa.types.is_boolean(values.type) else 0
    return np.asarray(values.fill_null(filler).to_numpy(zero_copy_only=False).astype(np.int64))


def _blank(text: Any) -> NDArray[np.bool_]:
    empty = pc.equal(pc.utf8_trim_whitespace(text), "")
    found: NDArray[np.bool_] = pc.fill_null(empty, True).to_numpy(zero_copy_only=False)
    return found


def _reads_whole(text: Any) -> bool:
    matching = pc.match_substring_regex(text, f"^(?:{WHOLE.pattern})$")
    return bool(pc.all(pc.fill_null(matching, False), min_count=0).as_py())


def _whole_keys(text: Any) -> Keys:
    number = pc.replace_substring_regex(text, r"\.0$", "").cast(pa.int64())
    return np.asarray(number.to_numpy(zero_copy_only=False))


def _hashed(text: Any) -> Keys:
    names = np.array(text.fill_null("").to_pylist(), dtype=object)
    return np.asarray(pd.util.hash_array(names, categorize=False).view(np.int64))


#: Of so many offending cases at most the first are told; of more, the first of some.
KEPT = 100_000


#: About how many rows are looked at together.
BUCKET_ROWS = 1 << 20


RECORD = np.dtype([("key", np.int64), ("positive", np.bool_)])


#: Spreads keys over buckets by their high bits (Knuth's multiplicative hashing, 2^64 / golden ratio).
_SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(eq=False)
class CaseFacts:
    """What was found out about the cases.

    Attributes
    ----------
    shared : ndarray of shape (n_folds, n_folds)
        Number of cases that two folds share.
    n_cases, n_positive : int
        Number of cases in all, and of the positive class.
    repeated, mixed : int
        Rows that repeat a (model, fold, case), and cases that have both labels.
    unpaired : ndarray of shape (n_folds,)
        Number of cases in each fold that lack a model.
    repeated_keys, mixed_keys, unpaired_keys
        As many of them as are kept: (cell, key), key, keys by fold; of an engine names stand for keys.
    """

    shared: NDArray[np.int64]
    unpaired: NDArray[np.int64]
    n_cases: int = 0
    n_positive: int = 0
    repeated: int = 0
    mixed: int = 0
    repeated_keys: list[tuple[Any, ...]] = field(default_factory=list)
    mixed_keys: list[Any] = field(default_factory=list)
    unpaired_keys: dict[int, list[Any]] = field(default_factory=dict)

    @classmethod
    def none(cls, n_folds: int) -> CaseFacts:
        """Facts of no rows."""
        return cls(np.zeros((n_folds, n_folds), dtype=np.int64), np.zeros(n_folds, dtype=np.int64))


class CaseStore:
    """Keys and labels of every group, in a file.

    Parameters
    ----------
    counts : ndarray of shape (n_models, n_folds, 2)
        Number of rows of every group.
    file : file
        Where they are kept.
    """

    def __init__(self, counts: NDArray[np.int64], file: IO[bytes]) -> None:
        size = counts.sum(axis=2)
        self._file = file
        self._bits = max(0, int(np.ceil(np.log2(size.sum() / BUCKET_ROWS))))
        self._starts = np.concatenate(([0], np.cumsum(size)))
        self._offsets = np.zeros((size.size, (1 << self._bits) + 1), dtype=np.int64)
        self._n_models = (size > 0).sum(axis=0)
        self.facts = CaseFacts.none(counts.shape[1])

    def add(self, cell: int, key: NDArray[np.int64], positive: Bools) -> None:
        """Keep the cases of one group, and note those that stand in it twice."""
        ordered = np.sort(key)
        repeated = ordered[1:][ordered[1:] == ordered[:-1]]
        self.facts.repeated += len(repeated)
        room = KEPT - len(self.facts.repeated_keys)
        self.facts.repeated_keys += [(cell, k) for k in np.unique(repeated)[:room].tolist()]
        bucket = self._bucket(key)
        count = np.bincount(bucket, minlength=1 << self._bits)
        self._offsets[cell] = self._starts[cell] + np.concatenate(([0], np.cumsum(count)))
        filled = self._offsets[cell, :-1].copy()
        write_scattered(self._file, {"key": key, "positive": positive}, RECORD, cell=bucket, filled=filled)

    def finish(self) -> CaseFacts:
        """Look at all buckets."""
        for bucket in range(1 << self._bits):
            fold, key, positive = self._read(bucket)
            look_at_bucket(self.facts, self._n_models, fold, key=key, positive=positive)
        return self.facts

    def _bucket(self, key: NDArray[np.int64]) -> NDArray[np.int64]:
        if not self._bits:
            return np.zeros(len(key), dtype=np.int64)
        spread = key.view(np.uint64) * _SPREAD
        return np.asarray((spread >> np.uint64(64 - self._bits)).astype(np.int64))

    def _read(self, bucket: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Bools]:
        """Fold, key and label of all rows of a bucket."""
        spans = [
            (cell, *self._offsets[cell, bucket : bucket + 2].tolist()) for cell in range(len(self._offsets))
        ]
        parts = [read_records(self._file, RECORD, low, high - low) for _, low, high in spans]
        fold = np.repeat([cell % len(self._n_models) for cell, *_ in spans], [len(part) for part in parts])
        records = np.concatenate(parts)
        return fold, records["key"].copy(), records["positive"].copy()


def look_at_bucket(
    facts: CaseFacts, n_models: NDArray[np.intp], fold: NDArray[Any], *, key: NDArray[Any], positive: Bools
) -> None:
    """Add to the facts those of all rows of some cases; `n_models` have each fold."""
    n_folds = len(n_models)
    keys, case = np.unique(key, return_inverse=True)
    pair, seen = np.unique(case * n_folds + fold, return_counts=True)
    case_of, fold_of = np.divmod(pair, n_folds)
    member: Any = sparse.csr_array((np.ones_like(pair), (case_of, fold_of)), shape=(len(keys), n_folds))
    facts.shared += (member.T @ member).toarray()
    facts.n_cases += len(keys)
    of_case = np.bincount(case, weights=positive, minlength=len(keys))
    facts.n_positive += int(np.count_nonzero(of_case))
    mixed = np.flatnonzero((of_case > 0) & (of_case < np.bincount(case, minlength=len(keys))))
    facts.mixed += len(mixed)
    facts.mixed_keys = sorted([*facts.mixed_keys, *keys[mixed[:KEPT]].tolist()])[:KEPT]
    odd = np.flatnonzero(seen != n_models[fold_of])
    facts.unpaired += np.bincount(fold_of[odd], minlength=n_folds)
    room = max(SHOWN, KEPT // n_folds)
    for at in np.unique(fold_of[odd]).tolist():
        found = keys[case_of[odd[fold_of[odd] == at]]][:room]
        facts.unpaired_keys[at] = sorted([*facts.unpaired_keys.get(at, ()), *found.tolist()])[:room]
