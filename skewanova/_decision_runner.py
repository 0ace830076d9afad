"""Replicates of a study in blocks, and the result of a study of decisions.

Blocks have seeds of their own, so a result depends on the seed and the number of replicates, and never on how
many processes shared the work, or on which other settings were asked for.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from tqdm import tqdm

from skewanova._checks import Floats, check_choice, check_count
from skewanova._framed import Framed
from skewanova._rendering import Table, format_number
from skewanova._system import tied

#: Replicates simulated together, from one seed.
BLOCK = 25
Measure = Callable[[np.random.Generator], Floats]


@dataclass(frozen=True)
class Cell:
    """One setting, how many replicates there are, and what is measured on each."""

    name: str
    replicates: int
    measure: Measure

    def blocks(self, study: str, rng: int) -> list[tuple[int, np.random.SeedSequence]]:
        """Size and seed of every block; the seeds depend on the setting's name, not on its neighbours."""
        whole, rest = divmod(self.replicates, BLOCK)
        sizes = [BLOCK] * whole + [rest] * bool(rest)
        seeds = np.random.SeedSequence([rng, zlib.crc32(f"{study} {self.name}".encode())]).spawn(len(sizes))
        return list(zip(sizes, seeds, strict=True))


def simulated(
    study: str, cells: Sequence[Cell], *, rng: int, n_jobs: int, progress: bool
) -> Iterator[tuple[Cell, Floats]]:
    """Measures of all replicates, setting by setting; the first axis is the replicate."""
    check_count(rng, "rng", minimum=0)
    check_count(n_jobs, "n_jobs", minimum=1)
    blocks = [(cell.measure, *block) for cell in cells for block in cell.blocks(study, rng)]
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(tied(_block))(*block) for block in blocks
    )
    bar = tqdm(results, total=len(blocks), unit="block", disable=None if progress else True)
    found: Iterator[Floats] = iter(bar)
    for cell in cells:
        yield cell, np.concatenate([next(found) for _ in cell.blocks(study, rng)])
    bar.close()


def _block(measure: Measure, size: int, seed: np.random.SeedSequence) -> Floats:
    draws = np.random.default_rng(seed)
    return np.array([measure(draws) for _ in range(size)])


def chosen(settings: Sequence[str] | None, known: Mapping[str, object]) -> list[str]:
    """Names asked for, all by default."""
    return [check_choice(name, list(known), "settings") for name in (known if settings is None else settings)]


@dataclass(frozen=True, eq=False)
class DecisionStudy(Framed):
    """How decisions fared where the truth is known.

    Attributes
    ----------
    study : str
        ``crossings``, ``leaders`` or ``p_best``.
    rng : int
        The seed.
    """

    study: str
    rng: int
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each setting and method or range of probabilities."""
        return self._table.copy()

    def to_tables(self) -> tuple[Table, ...]:
        """Return the frame as a table, numbers rounded."""
        frame = self._table.drop(columns="replicates")
        rows = tuple(
            tuple(format_number(v) if isinstance(v, float) else str(v) for v in row)
            for row in frame.itertuples(index=False)
        )
        note = f"{int(self._table['replicates'].max()):,} replicates of each setting, seed {self.rng}."
        header = tuple(str(column).replace("_", " ") for column in frame)
        return (Table(self.study, f"Study of decisions: {self.study}", header, rows, note=note),)
