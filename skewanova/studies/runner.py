"""Replicates in seeded blocks over processes.

A result depends on the seed and the number of replicates, and never on how many processes shared the work, or
on which other cells were asked for.

Blocks have seeds of their own, so a result depends on the seed and the number of replicates, and never on how
many processes shared the work, or on which other settings were asked for.
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
from skewanova.base.system import tied

#: Samples simulated together, from one seed.
BLOCK = 25


class Cell(NamedTuple):
    """One distribution and size, what is measured on every sample of it, and how many there are.

    `measure` takes a generator and measures one sample, or as many as its second argument if `batched`.
    """

    key: tuple[Any, ...]
    replicates: int
    measure: Callable[..., Floats]
    batched: bool = False

    def blocks(self, study: str, rng: int) -> list[tuple[int, np.random.SeedSequence]]:
        """Size and seed of every block; the seeds depend on the cell's key, not on its neighbours."""
        whole, rest = divmod(self.replicates, BLOCK)
        sizes = [BLOCK] * whole + [rest] * bool(rest)
        label = " ".join(map(str, (study, *self.key)))
        seeds = np.random.SeedSequence([rng, zlib.crc32(label.encode())]).spawn(len(sizes))
        return list(zip(sizes, seeds, strict=True))


def simulated(
    study: str, cells: Sequence[Cell], *, rng: int, n_jobs: int, progress: bool
) -> Iterator[tuple[Cell, Floats]]:
    """Measures of all samples, cell by cell; the first axis is the sample."""
    check_count(rng, "rng", minimum=0)
    check_count(n_jobs, "n_jobs", minimum=1)
    blocks = [(cell, *block) for cell in cells for block in cell.blocks(study, rng)]
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(tied(_block))(*block) for block in blocks
    )
    bar = tqdm(results, total=len(blocks), unit="block", disable=None if progress else True)
    found: Iterator[Floats] = iter(bar)
    for cell in cells:
        yield cell, np.concatenate([next(found) for _ in cell.blocks(study, rng)])
    bar.close()


def _block(cell: Cell, size: int, seed: np.random.SeedSequence) -> Floats:
    draws = np.random.default_rng(seed)
    if cell.batched:
        return cell.measure(draws, size)
    return np.array([cell.measure(draws) for _ in range(size)])


def means(values: Floats) -> list[tuple[float, float]]:
    """Mean over samples and its Monte Carlo standard error, of every column."""
    errors = values.std(axis=0) / np.sqrt(len(values))
    return [(float(mean), float(error)) for mean, error in zip(values.mean(axis=0), errors, strict=True)]


#: Replicates simulated together, from one seed.
NAMED_BLOCK = 25


Measure = Callable[[np.random.Generator], Floats]


@dataclass(frozen=True)
class NamedCell:
    """One setting, how many replicates there are, and what is measured on each."""

    name: str
    replicates: int
    measure: Measure

    def blocks(self, study: str, rng: int) -> list[tuple[int, np.random.SeedSequence]]:
        """Size and seed of every block; the seeds depend on the setting's name, not on its neighbours."""
        whole, rest = divmod(self.replicates, NAMED_BLOCK)
        sizes = [NAMED_BLOCK] * whole + [rest] * bool(rest)
        seeds = np.random.SeedSequence([rng, zlib.crc32(f"{study} {self.name}".encode())]).spawn(len(sizes))
        return list(zip(sizes, seeds, strict=True))


def named_simulated(
    study: str, cells: Sequence[NamedCell], *, rng: int, n_jobs: int, progress: bool
) -> Iterator[tuple[NamedCell, Floats]]:
    """Measures of all replicates, setting by setting; the first axis is the replicate."""
    check_count(rng, "rng", minimum=0)
    check_count(n_jobs, "n_jobs", minimum=1)
    blocks = [(cell.measure, *block) for cell in cells for block in cell.blocks(study, rng)]
    results = Parallel(n_jobs=n_jobs, return_as="generator")(
        delayed(tied(_named_block))(*block) for block in blocks
    )
    bar = tqdm(results, total=len(blocks), unit="block", disable=None if progress else True)
    found: Iterator[Floats] = iter(bar)
    for cell in cells:
        yield cell, np.concatenate([next(found) for _ in cell.blocks(study, rng)])
    bar.close()


def _named_block(measure: Measure, size: int, seed: np.random.SeedSequence) -> Floats:
    draws = np.random.default_rng(seed)
    return np.array([measure(draws) for _ in range(size)])


def chosen(settings: Sequence[str] | None, known: Mapping[str, object]) -> list[str]:
    """Names asked for, all by default."""
    return [check_choice(name, list(known), "settings") for name in (known if settings is None else settings)]
