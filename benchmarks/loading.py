"""Import of the package against that of what it needs anyway, in fresh processes."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.measuring import Row, ratio

_TIMED = "from time import process_time as t; start = t(); import {}; print(t() - start)"


def rows(reduced: bool) -> list[Row]:
    """List the row of the import."""
    modules = {"ours": "skewanova", "theirs": "numpy, pandas"}
    times: dict[str, list[float]] = {name: [] for name in modules}
    for _ in range(3 if reduced else 15):
        for name, imported in modules.items():
            done = subprocess.run(
                [sys.executable, "-c", _TIMED.format(imported)], capture_output=True, text=True, check=True
            )
            times[name].append(float(done.stdout))
    found = ratio(times["ours"], times["theirs"])
    return [Row("import", "import skewanova", "ours / import numpy, pandas", *found, at_most=1.5)]
