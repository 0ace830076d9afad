"""What the cases of a stream tell: repeated and mixed ones, unpaired models, and what folds share.

Keys of all groups go to a temporary file, cut by a hash into buckets that each fit in memory; a case is in
one bucket, so each bucket can be looked at by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skewanova._checks import Bools
from skewanova._group_pass import read_records, write_scattered
from skewanova._score_table import SHOWN

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
    n_cases : int
        Number of cases in all.
    repeated, mixed : int
        Rows that repeat a (model, fold, case), and cases that have both labels.
    unpaired : ndarray of shape (n_folds,)
        Number of cases in each fold that lack a model.
    repeated_keys, mixed_keys, unpaired_keys : list
        The first of them: (cell, key), key, (fold, key).
    """

    shared: NDArray[np.int64]
    unpaired: NDArray[np.int64]
    n_cases: int = 0
    repeated: int = 0
    mixed: int = 0
    repeated_keys: list[tuple[int, int]] = field(default_factory=list)
    mixed_keys: list[int] = field(default_factory=list)
    unpaired_keys: list[tuple[int, int]] = field(default_factory=list)


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
        n_folds = counts.shape[1]
        self.facts = CaseFacts(
            np.zeros((n_folds, n_folds), dtype=np.int64), np.zeros(n_folds, dtype=np.int64)
        )

    def add(self, cell: int, key: NDArray[np.int64], positive: Bools) -> None:
        """Keep the cases of one group, and note those that stand in it twice."""
        ordered = np.sort(key)
        repeated = ordered[1:][ordered[1:] == ordered[:-1]]
        self.facts.repeated += len(repeated)
        room = SHOWN - len(self.facts.repeated_keys)
        self.facts.repeated_keys += [(cell, int(k)) for k in dict.fromkeys(repeated[: 2 * room].tolist())][
            :room
        ]
        bucket = self._bucket(key)
        count = np.bincount(bucket, minlength=1 << self._bits)
        self._offsets[cell] = self._starts[cell] + np.concatenate(([0], np.cumsum(count)))
        filled = self._offsets[cell, :-1].copy()
        write_scattered(self._file, {"key": key, "positive": positive}, RECORD, cell=bucket, filled=filled)

    def finish(self) -> CaseFacts:
        """Look at all buckets."""
        for bucket in range(1 << self._bits):
            self._look(*self._read(bucket))
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

    def _look(self, fold: NDArray[np.int64], key: NDArray[np.int64], positive: Bools) -> None:
        facts, n_folds = self.facts, len(self._n_models)
        keys, case = np.unique(key, return_inverse=True)
        pair, seen = np.unique(case * n_folds + fold, return_counts=True)
        case_of, fold_of = np.divmod(pair, n_folds)
        member: Any = sparse.csr_array((np.ones_like(pair), (case_of, fold_of)), shape=(len(keys), n_folds))
        facts.shared += (member.T @ member).toarray()
        facts.n_cases += len(keys)
        of_case = np.bincount(case, weights=positive, minlength=len(keys))
        mixed = np.flatnonzero((of_case > 0) & (of_case < np.bincount(case, minlength=len(keys))))
        facts.mixed += len(mixed)
        facts.mixed_keys = sorted([*facts.mixed_keys, *keys[mixed[:SHOWN]].tolist()])[:SHOWN]
        odd = np.flatnonzero(seen != self._n_models[fold_of])
        facts.unpaired += np.bincount(fold_of[odd], minlength=n_folds)
        found = zip(fold_of[odd].tolist(), keys[case_of[odd]].tolist(), strict=True)
        facts.unpaired_keys = sorted([*facts.unpaired_keys, *found])[:SHOWN]
