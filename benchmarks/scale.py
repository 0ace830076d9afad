"""Seconds and peak memory of `compare` and of saving its folder, for many folds, priors and models.

``python -m benchmarks.scale`` runs all; each comparison has a process of its own, so the peaks are its own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from time import process_time

import numpy as np
import pandas as pd

from benchmarks.measuring import Row, resident_peak

#: Models, folds and priors; the targets are a minute and 2 GB.
SIZES = {"1,000 folds": (5, 1000, 3), "1,000 priors": (5, 20, 1000), "200 models": (200, 20, 3)}
REDUCED = {"100 folds": (5, 100, 3)}
CASES = 60


def rows(reduced: bool) -> list[Row]:
    """Seconds of processor time and gigabytes of each size."""
    found = []
    for name, size in (REDUCED if reduced else SIZES).items():
        compared, saved, peak = _measured(size)
        found += [
            Row("9", f"compare, {name}", "seconds", compared, compared, at_most=60),
            Row("9", f"compare and save, {name}", "seconds", compared + saved, compared + saved, at_most=60),
            Row("9", f"compare and save, {name}", "GB at the peak", peak, peak, at_most=2),
        ]
    return found


def scores(n_models: int, n_folds: int) -> pd.DataFrame:
    """Return normal scores of models that get better step by step."""
    rng = np.random.default_rng(1)
    label = np.tile(np.arange(CASES) < CASES // 3, n_models * n_folds)
    model, fold = np.divmod(np.repeat(np.arange(n_models * n_folds), CASES), n_folds)
    gain = np.linspace(0.5, 1.5, n_models)[model] + rng.normal(0, 0.2, n_folds)[fold]
    names = np.array([f"m{i:04d}" for i in range(n_models)])[model]
    score = rng.normal(size=len(label)) + gain * label
    return pd.DataFrame({"model": names, "fold": fold, "y_true": label.astype(int), "y_score": score})


def _measured(size: tuple[int, int, int]) -> list[float]:
    command = [sys.executable, "-m", "benchmarks.scale", json.dumps(size)]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(value) for value in json.loads(run.stdout)]


def _measure(n_models: int, n_folds: int, n_priors: int) -> list[float]:
    """Seconds to compare, seconds to save, and the peak in gigabytes, of this process."""
    from skewanova import compare

    table = scores(n_models, n_folds)
    start = process_time()
    result = compare(table, at_priors=np.geomspace(0.001, 0.5, n_priors).tolist())
    compared = process_time()
    with tempfile.TemporaryDirectory() as place:
        result.save(Path(place) / "out")
    peak = resident_peak() / 1e9
    return [compared - start, process_time() - compared, peak]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        warnings.simplefilter("ignore")
        sys.stdout.write(json.dumps(_measure(*json.loads(sys.argv[1]))))
    else:
        for row in rows(reduced=False):
            sys.stdout.write(f"{row.work}: {row.best:.3g} {row.compared} (target {row.target})\n")
