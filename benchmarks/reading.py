"""A large CSV file: read, checked and compared, beside what pandas takes to read it."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

import skewanova as sa
from benchmarks.measuring import Row, interleaved, ratio
from skewanova.cli.commands import main

MODELS, FOLDS = 10, 20

#: Seconds that pandas takes to read five million rows where the targets in seconds were set.
PANDAS_SECONDS = 0.6


def write(path: Path, rows: int) -> None:
    """Scores of ten models on the same cases in twenty folds, five columns."""
    rng = np.random.default_rng(0)
    n_cases = rows // MODELS
    case = np.arange(n_cases)
    label = (rng.random(n_cases) < 0.1).astype(int)
    for k in range(MODELS):
        table = {"model": f"M{k}", "fold": case % FOLDS + 1, "case": case, "y_true": label}
        frame = pd.DataFrame(table | {"y_score": rng.normal(size=n_cases) + (1 + 0.05 * k) * label})
        frame.to_csv(path, mode="a", index=False, header=not k)


def rows(reduced: bool) -> list[Row]:
    """List the row of reading and, at full size, those of checking and comparing."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder, "scores.csv")
        write(path, 400_000 if reduced else 2_000_000)
        frame = pd.read_csv(path)
        work = {
            "pandas": lambda: pd.read_csv(path),
            "checks": lambda: sa.read_scores(frame),
            "read_scores": lambda: sa.read_scores(path),
        }
        times = interleaved(work, rounds=3)
        peer = [a + b for a, b in zip(times["pandas"], times["checks"], strict=True)]
        size = "4e5" if reduced else "2e6"
        compared = "ours / pandas.read_csv and the checks of its frame"
        found = [Row("11", f"CSV of {size} rows", compared, *ratio(times["read_scores"], peer), at_most=1.3)]
        return found if reduced else [*found, *_whole(Path(folder, "large.csv"))]


def _whole(path: Path) -> list[Row]:
    """Return checking and comparing five million rows, in times that pandas takes to read them."""
    write(path, 5_000_000)
    work = {
        "pandas": lambda: pd.read_csv(path),
        "check": lambda: main(["check", str(path), "--quiet"], standalone_mode=False),
        "compare": lambda: sa.compare(path),
    }
    times, compared = interleaved(work, rounds=2), "ours / pandas.read_csv"
    return [
        Row(
            "11",
            f"{name} of 5e6 rows",
            compared,
            *ratio(times[name], times["pandas"]),
            at_most=seconds / PANDAS_SECONDS,
        )
        for name, seconds in (("check", 6), ("compare", 15))
    ]
