"""Replicates in seeded blocks over processes.

Blocks have seeds of their own, so a result depends on the seed and the number of replicates, and never on how
many processes shared the work, or on which other cells were asked for.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from skewanova.base.checks import Floats, check_choice, check_count

#: Replicates simulated together, from one seed.
BLOCK = 25

#: What is measured on a block of so many replicates, from its seed; the first axis is the replicate.
Measure = Callable[[np.random.SeedSequence, int], Any]


class Cell(NamedTuple):
    """One setting, how many replicates there are, and what is measured on each block of them.

    The seeds come from the words of the key, so the key of a recorded study stays as it is.
    """

    key: tuple[Any, ...]
    replicates: int
    measure: Measure

    def blocks(self, study: str, rng: int) -> list[tuple[int, np.random.SeedSequence]]:
        """Size and seed of every block; the seeds depend on the cell's key, not on its neighbours."""
        whole, rest = divmod(self.replicates, BLOCK)
        sizes = [BLOCK] * whole + [rest] * bool(rest)
        label = " ".join(map(str, (*([study] if study else []), *self.key)))
        seeds = np.random.SeedSequence([rng, zlib.crc32(label.encode())]).spawn(len(sizes))
        return list(zip(sizes, seeds, strict=True))


@dataclass(frozen=True, kw_only=True)
class Run:
    """How a study is run.

    Attributes
    ----------
    replicates : int, default 200
        Replicates of each setting.
    full : bool, default False
        As many as in the recorded study instead.
    rng : int, default 0
        Seed.
    n_jobs : int, default 1
        Processes; the result is the same for any number.
    progress : bool, default True
        Show a progress bar, if the output is a terminal.
    """

    replicates: int = 200
    full: bool = False
    rng: int = 0
    n_jobs: int = 1
    progress: bool = True

    def __post_init__(self) -> None:
        check_count(self.replicates, "replicates", minimum=1)
        check_count(self.rng, "rng", minimum=0)
        check_count(self.n_jobs, "n_jobs", minimum=1)

    def number(self, recorded: int) -> int:
        """Replicates of a setting of which so many were recorded."""
        return recorded if self.full else self.replicates


def one_by_one(
    measure: Callable[[np.random.Generator], Any], seed: np.random.SeedSequence, size: int
) -> Floats:
    """Measure replicate by replicate, with one generator for the block."""
    draws = np.random.default_rng(seed)
    return np.array([measure(draws) for _ in range(size)])


def together(
    measure: Callable[[np.random.Generator, int], Floats], seed: np.random.SeedSequence, size: int
) -> Floats:
    """Measure all replicates of the block at once."""
    return measure(np.random.default_rng(seed), size)


def simulated(study: str, cells: Sequence[Cell], run: Run) -> Iterator[tuple[Cell, Any]]:
    """Measures of all replicates, cell by cell: what the blocks hold, joined along the first axis."""
    blocks = [(cell.measure, seed, size) for cell in cells for size, seed in cell.blocks(study, run.rng)]
    results = Parallel(n_jobs=run.n_jobs, return_as="generator")(
        delayed(measure)(seed, size) for measure, seed, size in blocks
    )
    bar = tqdm(results, total=len(blocks), unit="block", disable=None if run.progress else True)
    found: Iterator[Any] = iter(bar)
    for cell in cells:
        yield cell, _joined([next(found) for _ in cell.blocks(study, run.rng)])
    bar.close()


def _joined(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], Mapping):
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return np.concatenate(parts)


def means(values: Floats) -> list[tuple[float, float]]:
    """Mean over replicates and its Monte Carlo standard error, of every column."""
    errors = values.std(axis=0) / np.sqrt(len(values))
    return [(float(mean), float(error)) for mean, error in zip(values.mean(axis=0), errors, strict=True)]


def share_and_error(hits: Floats) -> tuple[float, float]:
    """Share of ones, and its Monte Carlo standard error."""
    share = float(hits.mean())
    return share, float(np.sqrt(share * (1 - share) / len(hits)))


def chosen(
    names: Sequence[str] | None, known: Mapping[str, object], *, argument: str = "settings"
) -> list[str]:
    """Names asked for, each once, all by default."""
    asked = dict.fromkeys(known if names is None else names)
    return [check_choice(name, list(known), argument) for name in asked]
