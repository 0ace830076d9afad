"""Processor time of the tests, as README's command runs them."""

from __future__ import annotations

import resource
import subprocess
import sys
from pathlib import Path

from benchmarks.measuring import Row

#: The repository, and the seconds aimed at.
ROOT, SECONDS = Path(__file__).parents[1], 360.0


def rows(reduced: bool) -> list[Row]:
    """Seconds of all processes, in the environment at hand; at reduced size nothing is run."""
    if reduced:
        return []
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not kernels"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.DEVNULL,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [Row("16", "all tests", "seconds", took, took, at_most=SECONDS)]
