"""Rows of the benchmark table, interleaved timing, and peak memory."""

from __future__ import annotations

import resource
import sys
import tracemalloc
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np

Call = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of the table: a ratio (or bytes a row) and what it should be.

    Attributes
    ----------
    item : str
        Number of the target in benchmarks/performance.md.
    work, compared : str
        What is measured, and against what.
    best, typical : float
        Ratio of the minima over rounds, and the median ratio over rounds.
    at_most, at_least : float or None
        The target; none for what is only shown.
    known : float or None
        What is known to be reached where the target is not (benchmarks/performance.md says why).
    """

    item: str
    work: str
    compared: str
    best: float
    typical: float
    at_most: float | None = None
    at_least: float | None = None
    known: float | None = None

    @property
    def target(self) -> str:
        """The target in words."""
        if self.at_most is not None:
            return f"<= {self.at_most:g}"
        return "" if self.at_least is None else f">= {self.at_least:g}"

    @property
    def verdict(self) -> str:
        """Whether the best round reaches the target."""
        return {None: "", True: "yes", False: "no"}[self._within(1)]

    @property
    def far_off(self) -> bool:
        """Whether the row is worse than half its target, or than half of what is known to be reached."""
        return self._within(2, self.known) is False

    def _within(self, factor: float, known: float | None = None) -> bool | None:
        if self.at_most is not None:
            return self.best <= factor * (known or self.at_most)
        return None if self.at_least is None else self.best * factor >= (known or self.at_least)


def interleaved(calls: Mapping[str, Call], rounds: int) -> dict[str, list[float]]:
    """Seconds of processor time of every call in every round, after one round that is not counted.

    Processor time, because others may share the machine; it counts all threads, so the ratios are per core.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for counted in [False] + [True] * rounds:
        for name, call in calls.items():
            start = process_time()
            call()
            if counted:
                times[name].append(process_time() - start)
    return times


def ratio(over: list[float], under: list[float], scale: float = 1.0) -> tuple[float, float]:
    """Ratio of the minima, and median of the rounds' ratios; `scale` extrapolates the numerator."""
    pairs = zip(over, under, strict=True)
    return scale * min(over) / min(under), scale * median(o / u for o, u in pairs)


def peak_bytes(call: Call) -> int:
    """Most bytes allocated at once during a call, numpy's arrays included."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def resident_peak() -> int:
    """Most bytes this process held at once."""
    status = Path("/proc/self/status")
    if status.is_file():  # `ru_maxrss` of a new process is at least its parent's
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


#: How many times faster than a stable sort a vectorised one is, at least.
VECTORISED = 3.0


@cache
def simd_level() -> str:
    """Return the widest vector instructions that numpy's sort uses here, by its features and its time."""
    values = np.random.default_rng(0).random(1_000_000)
    took = interleaved({kind: partial(np.sort, values, kind=kind) for kind in ("quicksort", "stable")}, 3)
    if min(took["stable"]) < VECTORISED * min(took["quicksort"]):
        return "none"
    core = "numpy._core" if find_spec("numpy._core") else "numpy.core"  # numpy 1.26
    features = import_module(f"{core}._multiarray_umath").__cpu_features__
    found = {"AVX512_SKX": "AVX-512", "AVX2": "AVX2"}
    return next((name for flag, name in found.items() if features.get(flag)), "none")


def scored_cases(n: int, share: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    """Labels and untied scores in (0, 1): logistic of two normals 1.5 apart."""
    rng = np.random.default_rng(n)
    label = rng.random(n) < share
    return label, 1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * label)))
