"""Replicates in seeded blocks over processes.

Blocks have seeds of their own, so a result depends on the seed and the number of replicates, and never on how
many processes shared the work, or on which other cells were asked for.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from tqdm import tqdm

from skewanova.base.checks import Floats, check_choice, check_count
from skewanova.base.system import tied

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


def simulated(
    study: str, cells: Sequence[Cell], *, rng: int, n_jobs: int, progress: bool
) -> Iterator[tuple[Cell, Any]]:
    """Measures of all replicates, cell by cell: what the blocks hold, joined along the first axis."""
    check_count(rng, "rng", minimum=0)
    check_count(n_jobs, "n_jobs", minimum=1)
    blocks = [(cell.measure, seed, size) for cell in cells for size, seed in cell.blocks(study, rng)]
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(tied(measure))(seed, size) for measure, seed, size in blocks
    )
    bar = tqdm(results, total=len(blocks), unit="block", disable=None if progress else True)
    found: Iterator[Any] = iter(bar)
    for cell in cells:
        yield cell, _joined([next(found) for _ in cell.blocks(study, rng)])
    bar.close()


def _joined(parts: Sequence[Any]) -> Any:
    if isinstance(parts[0], Mapping):
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    return np.concatenate(parts)


def means(values: Floats) -> list[tuple[float, float]]:
    """Mean over replicates and its Monte Carlo standard error, of every column."""
    errors = values.std(axis=0) / np.sqrt(len(values))
    return [(float(mean), float(error)) for mean, error in zip(values.mean(axis=0), errors, strict=True)]


def chosen(settings: Sequence[str] | None, known: Mapping[str, object]) -> list[str]:
    """Names asked for, all by default."""
    return [check_choice(name, list(known), "settings") for name in (known if settings is None else settings)]
