"""Held-out scores that were read in passes: what a comparison needs of them, in two bits a row."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from skewanova._packed_curves import PackedCurve, PackedCurves
from skewanova._score_table import Label, ScoreTable, path_sha256


@dataclass(frozen=True, eq=False)
class CaseSummary:
    """What the cases tell.

    Attributes
    ----------
    shared : ndarray of shape (n_folds, n_folds)
        Number of cases that two folds share.
    n_cases : int
        Number of cases in all.
    unpaired : ndarray of shape (n_folds,)
        Number of cases in each fold that lack a model that has the fold.
    examples : tuple of (case, fold)
        The first few of these.
    """

    shared: NDArray[np.int64]
    n_cases: int
    unpaired: NDArray[np.int64]
    examples: tuple[tuple[Label, Label], ...]


@dataclass(frozen=True, eq=False)
class StreamedScores:
    """Checked held-out scores of a Parquet file or folder of which only the curves are kept.

    Takes the place of a :class:`~skewanova.ScoreTable` in :func:`~skewanova.compare` and
    :func:`~skewanova.evaluate`, with the same numbers.

    Attributes
    ----------
    models, folds : tuple
        As of a score table.
    counts : ndarray of shape (n_models, n_folds, 2)
        Number of negatives and positives.
    packed : dict
        The curve of every (model, fold), models first.
    cases : CaseSummary or None
        What the cases tell, where there are any.
    source : Path
        The file or folder that was read.
    """

    models: tuple[str, ...]
    folds: tuple[Label, ...]
    counts: NDArray[np.int64]
    packed: dict[tuple[str, Label], PackedCurve]
    cases: CaseSummary | None
    source: Path

    def __repr__(self) -> str:
        shape = f"{len(self.models)} models x {len(self.folds)} folds"
        return f"<StreamedScores: {self.counts.sum():,} rows, {shape}, of {self.source.name!r}>"

    @property
    def has_cases(self) -> bool:
        """Whether the table tells which case each row is about."""
        return self.cases is not None

    def curves(self) -> PackedCurves:
        """ROC curve of every (model, fold), models first; thresholds are not kept."""
        return PackedCurves(self.packed)

    def only_folds(self, kept: Collection[Label]) -> StreamedScores:
        """Return the scores of some of the folds."""
        chosen = [i for i, fold in enumerate(self.folds) if fold in kept]
        cases = self.cases
        if cases is not None:
            examples = tuple(pair for pair in cases.examples if pair[1] in kept)
            shared = cases.shared[np.ix_(chosen, chosen)]
            cases = CaseSummary(shared, cases.n_cases, cases.unpaired[chosen], examples)
        return replace(
            self,
            folds=tuple(self.folds[i] for i in chosen),
            counts=self.counts[:, chosen],
            packed={(m, f): curve for (m, f), curve in self.packed.items() if f in kept},
            cases=cases,
        )

    def unpaired(self) -> tuple[int, tuple[tuple[Label, Label], ...]]:
        """How many (fold, case) pairs lack a model that has the fold, and some of them as (case, fold)."""
        return (0, ()) if self.cases is None else (int(self.cases.unpaired.sum()), self.cases.examples)

    def shared_cases(self) -> tuple[NDArray[np.int64], int]:
        """Number of cases that two folds share, and of all cases, those of dropped folds included."""
        if self.cases is None:
            raise LookupError("there is no case column")
        return self.cases.shared, self.cases.n_cases

    def sha256(self) -> str:
        """Fingerprint of the file, or of all files of the folder."""
        return self._sha256

    @cached_property
    def _sha256(self) -> str:
        return path_sha256(self.source)


Scores = ScoreTable | StreamedScores
