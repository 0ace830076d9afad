"""Measure all rows and print or write the table of benchmarks/performance.md.

Run: python -m benchmarks [--reduced] [--out FILE]
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.measuring import Row, simd_level

#: In the order of the table; `large` reads Parquet of 2e7 rows.
MODULES = (
    "curves", "groups", "bootstrap", "memory", "large", "permutation", "loading", "one_set", "threads",
    "reading", "billion", "suite",
)  # fmt: skip
HEADER = ("", "work", "compared", "target", "best", "median", "reached")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write; 1 if a row is worse than half its target, else 0."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--reduced", action="store_true", help="smaller sizes and fewer rounds, two minutes")
    parser.add_argument("--out", type=Path, help="also write the table, as Markdown")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    for name in MODULES:
        if find_spec(f"benchmarks.{name}") is not None:
            rows += import_module(f"benchmarks.{name}").rows(options.reduced)
    text = table(rows)
    print(text)
    if options.out is not None:
        options.out.write_text(text, encoding="utf-8")
    failed = [row for row in rows if row.far_off]
    for row in failed:
        print(f"worse than half its target: {row.work}, {row.compared}: {row.best:.3g}", file=sys.stderr)
    return int(bool(failed))


def table(rows: Sequence[Row]) -> str:
    """Return the machine in a line, and the rows as a Markdown table."""
    cells = [
        (r.item, r.work, r.compared, r.target, f"{r.best:.3g}", f"{r.typical:.3g}", r.verdict) for r in rows
    ]
    lines = [" | ".join(line) for line in (HEADER, ("---",) * len(HEADER), *cells)]
    versions = f"Python {platform.python_version()}, numpy {np.__version__}"
    return "\n".join(
        [
            f"{versions}, sort with {simd_level()} on {platform.machine()}.",
            "",
            *(f"| {line} |" for line in lines),
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
