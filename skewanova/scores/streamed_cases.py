"""Facts of the cases of a table whose rows are elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from skewanova.base.checks import Bools
from skewanova.scores.validation import MAX_EXAMPLES

#: Of so many offending cases at most the first are told; of more, the first of some.
KEPT = 100_000


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
    room = max(MAX_EXAMPLES, KEPT // n_folds)
    for at in np.unique(fold_of[odd]).tolist():
        found = keys[case_of[odd[fold_of[odd] == at]]][:room]
        facts.unpaired_keys[at] = sorted([*facts.unpaired_keys.get(at, ()), *found.tolist()])[:room]
