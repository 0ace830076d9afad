"""Import, help, a small comparison, the demo with its folder: each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.measuring import Row, ratio

_TIMED = "from time import process_time as t; start = t(); import {}; print(t() - start)"


#: A command of the shell, with the processor time of its whole process.
_COMMAND = (
    "import sys; from time import process_time; from skewanova.cli.commands import main; "
    "main({}, standalone_mode=False); print(process_time(), file=sys.stderr)"
)


#: Seconds that importing numpy and pandas takes on an idle core: targets in seconds are shared by these.
IMPORT_SECONDS = 0.4


def rows(reduced: bool) -> list[Row]:
    """List the rows of the import and of three commands."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "scores.csv")
        scores().to_csv(table, index=False)
        work = {
            "import numpy, pandas": _TIMED.format("numpy, pandas"),
            "import skewanova": _TIMED.format("skewanova"),
            "--help": _COMMAND.format(["--help"]),
            "compare of 2,276 rows": _COMMAND.format(["compare", str(table), "--quiet"]),
            "demo --out": _COMMAND.format(["demo", "--quiet", "--out", str(Path(folder, "out"))]),
        }
        return _compared(work, rounds=2 if reduced else 5)


def scores() -> pd.DataFrame:
    """Scores of four models for 569 cases in five folds."""
    rng = np.random.default_rng(0)
    case = np.arange(569)
    label = (case % 3 == 0).astype(int)
    shared = pd.DataFrame({"fold": case % 5, "case": case, "y_true": label})
    gains = {"a": 2.0, "b": 1.7, "c": 1.4, "d": 1.0}
    noise = (gain * label + rng.normal(size=len(case)) for gain in gains.values())
    return pd.concat([shared.assign(model=m, y_score=s) for m, s in zip(gains, noise, strict=True)])


def _compared(work: Mapping[str, str], rounds: int) -> list[Row]:
    times: dict[str, list[float]] = {name: [] for name in work}
    for _ in range(rounds):
        for name, code in work.items():
            times[name].append(_seconds([sys.executable, "-c", code]))
    imported = times["import numpy, pandas"]
    targets = {
        "import skewanova": ("import", 1.5, None),
        "--help": ("10", 0.4 / IMPORT_SECONDS, None),
        "compare of 2,276 rows": ("10", 1.5 / IMPORT_SECONDS, 6.0),
        "demo --out": ("9", 3.5 / IMPORT_SECONDS, 20.0),
    }
    compared = "ours / import numpy, pandas"
    return [
        Row(item, name, compared, *ratio(times[name], imported), at_most=most, known=known)
        for name, (item, most, known) in targets.items()
    ]


def _seconds(command: Sequence[str]) -> float:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float((done.stderr or done.stdout).split()[-1])
