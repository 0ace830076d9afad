"""Seconds and peak memory of `compare` on one wide test set.

``python -m benchmarks.one_set`` runs all sizes; each has a process of its own, so the peaks are its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import warnings
from time import process_time

import numpy as np
import pandas as pd

from benchmarks.measuring import Row, resident_peak

#: Cases and models, with the seconds of processor time and the gigabytes aimed at.
SIZES = {(1_000_000, 3): (8.0, 0.5), (5_000_000, 3): (40.0, 1.5)}
REDUCED = {(20_000, 3): (8.0, 0.5)}


def rows(reduced: bool) -> list[Row]:
    """Seconds and gigabytes of each size."""
    found = []
    for (n_cases, n_models), (seconds, gigabytes) in (REDUCED if reduced else SIZES).items():
        command = [sys.executable, "-m", "benchmarks.one_set", str(n_cases), str(n_models)]
        run = subprocess.run(command, check=True, capture_output=True, text=True)
        took, peak = json.loads(run.stdout)
        work = f"compare, one test set, {n_models} models x {n_cases:.0e} cases"
        found += [
            Row("12", work, "seconds", took, took, at_most=seconds),
            Row("12", work, "GB at the peak", peak, peak, at_most=gigabytes),
        ]
    return found


def scores(n_cases: int, n_models: int) -> pd.DataFrame:
    """Return normal scores that the models share in part, a tenth of the cases positive."""
    rng = np.random.default_rng(1)
    label, common = rng.random(n_cases) < 0.1, rng.normal(size=n_cases)
    names = pd.Index([f"m{k:02d}" for k in range(n_models)])
    score = np.empty((n_models, n_cases))
    for k, row in enumerate(score):
        row[:] = 0.7 * (common + rng.normal(size=n_cases)) + label * (1 + 0.05 * k)
    model = pd.Categorical.from_codes(np.repeat(np.arange(n_models), n_cases), names)
    return pd.DataFrame({"model": model, "y_true": np.tile(label, n_models), "y_score": score.ravel()})


def _measure(n_cases: int, n_models: int) -> list[float]:
    """Seconds to compare once all is imported, and the peak in gigabytes, of this process."""
    from skewanova import compare

    compare(scores(300, n_models).assign(fold=0))  # what is imported for it, and compiled where it never was
    frame = scores(n_cases, n_models)
    start = process_time()
    compare(frame.assign(fold=0))
    return [process_time() - start, resident_peak() / 1e9]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        warnings.simplefilter("ignore")
        sys.stdout.write(json.dumps(_measure(int(sys.argv[1]), int(sys.argv[2]))))
    else:
        for row in rows(reduced=False):
            sys.stdout.write(f"{row.work}: {row.best:.3g} {row.compared} (target {row.target})\n")
