"""A large Parquet table: peak memory and time of `evaluate` and `compare` against pandas.

Run: python -m benchmarks.large [--rows 2e7] [--cases]

Two tables of 10 models x 20 folds are made in a temporary folder (TMPDIR), one with the rows of every group
together and one with all rows mixed. Each measurement runs in a process of its own, which tells its largest
resident memory. The peer reads the whole table with pandas, groups it, and computes the area at three priors
from scikit-learn's `roc_curve`; `evaluate` does the same and IAUPREC, and checks every row; `compare` also
tests, ranks, and follows the models along the prior.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.measuring import Row, resident_peak

MODELS, FOLDS = 10, 20
PRIORS = (0.5, 0.1, 0.01)
CHUNK = 1_000_000
PREVALENCE = 0.1
#: Times faster than pandas that are known to be reached, processor time of imports included.
KNOWN = {"clustered": 3.0, "shuffled": 3.0}


def chunks(rows: int, kind: str) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Group and case of every row, in the order in which they are written."""
    size = rows // (MODELS * FOLDS)
    if kind == "clustered":
        for group in range(MODELS * FOLDS):
            yield np.full(size, group), np.arange(size)
        return
    order = np.random.default_rng(0).permutation(MODELS * FOLDS * size)
    for start in range(0, len(order), CHUNK):
        yield np.divmod(order[start : start + CHUNK], size)


def make(path: Path, rows: int, kind: str, cases: bool) -> None:
    """Write the table; a case is one of a fold's, and has the same label for all models."""
    rng = np.random.default_rng(1)
    size = rows // (MODELS * FOLDS)
    label = rng.random((FOLDS, size)) < PREVALENCE
    names = pa.array([f"model {i}" for i in range(MODELS)])
    writer = None
    for group, case in chunks(rows, kind):
        model, fold = np.divmod(group, FOLDS)
        positive = label[fold, case]
        columns = {
            "model": pa.DictionaryArray.from_arrays(model.astype(np.int8), names).dictionary_decode(),
            "fold": pa.array(fold + 1),
            "y_true": pa.array(positive.astype(np.int8)),
            "y_score": pa.array(rng.normal(size=len(group)) + (1 + 0.05 * model) * positive),
            **({"case": pa.array(fold * size + case)} if cases else {}),
        }
        table = pa.table(columns)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()


def compare(path: Path) -> object:
    """Compare the models."""
    import skewanova as sa

    warnings.simplefilter("ignore")
    return float(sa.compare(path, at_priors=PRIORS).tables["auprec"]["auprec"].mean())


def evaluate(path: Path) -> object:
    """Measure the models as the peer does, and IAUPREC; every row checked."""
    import skewanova as sa

    warnings.simplefilter("ignore")
    return float(sa.evaluate(path, at_priors=PRIORS).auprec["auprec"].mean())


def nothing(path: Path) -> object:
    """Compare as many models and folds with next to no rows: what all that is loaded takes by itself."""
    with tempfile.TemporaryDirectory() as folder:
        small = Path(folder) / path.name
        make(small, 500 * MODELS * FOLDS, "clustered", cases=False)
        return compare(small)


def pandas(path: Path) -> object:
    """Read everything, group it, and compute the area at three priors: what a user would write."""
    import pandas as pd
    from sklearn.metrics import roc_curve

    areas = []
    for _, rows in pd.read_parquet(path).groupby(["model", "fold"]):
        fpr, tpr, _ = roc_curve(rows["y_true"], rows["y_score"], drop_intermediate=False)
        for prior in PRIORS:
            precision = prior * tpr[1:] / (prior * tpr[1:] + (1 - prior) * fpr[1:])
            areas.append(np.trapezoid(np.append(precision[0], precision), tpr))
    return float(np.mean(areas))


TASKS = {"nothing": nothing, "evaluate": evaluate, "compare": compare, "pandas": pandas}


def in_child(*arguments: str) -> dict[str, float]:
    """Time and peak memory of one task in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.large", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}


def child(task: str, path: Path) -> None:
    """Do one task and print what it took."""
    start = perf_counter()
    found = TASKS[task](path)
    took = {"seconds": perf_counter() - start, "cpu": process_time(), "peak": resident_peak(), "found": found}
    print(json.dumps(took))


def rows(reduced: bool) -> list[Row]:
    """List the rows of target 7; the reduced table is too small to tell more than the memory."""
    n = 1_000_000 if reduced else 20_000_000
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for kind, most in (("clustered", 700), ("shuffled", 800)):
            path = Path(folder) / f"{kind}.parquet"
            in_child("--make", kind, str(path), "--rows", str(n), "--cases")
            ours = in_child("--child", "evaluate", str(path))
            work, peak = f"Parquet of {n:.0e} rows, 200 groups, {kind}", ours["peak"] / 1e6
            found.append(Row("7", work, "evaluate, peak MB", peak, peak, at_most=most))
            if not reduced:
                faster = in_child("--child", "pandas", str(path))["cpu"] / ours["cpu"]
                label = "pandas in memory / evaluate"
                found.append(Row("7", work, label, faster, faster, at_least=4, known=KNOWN[kind]))
            path.unlink()
    return found


def main() -> None:
    """Make the tables, run each task on each, and print one row each."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--cases", action="store_true", help="with a case column")
    parser.add_argument("--kinds", nargs="+", default=["clustered", "shuffled"])
    parser.add_argument("--tasks", nargs="+", default=list(TASKS), choices=list(TASKS))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--make", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options.child[0], Path(options.child[1]))
        return
    if options.make:
        make(Path(options.make[1]), int(options.rows), options.make[0], options.cases)
        return
    print(f"{options.rows:,.0f} rows, {MODELS} models x {FOLDS} folds, cases: {options.cases}")
    print(f"{'table':12}{'MB on disk':>12}{'task':>10}{'seconds':>10}{'CPU':>10}{'peak MB':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            path = Path(folder) / f"{kind}.parquet"
            flags = ["--cases"] if options.cases else []
            in_child("--make", kind, str(path), "--rows", str(options.rows), *flags)
            for task in options.tasks:
                took = in_child("--child", task, str(path))
                size = path.stat().st_size / 1e6
                print(
                    f"{kind:12}{size:12,.0f}{task:>10}{took['seconds']:10.1f}{took['cpu']:10.1f}"
                    f"{took['peak'] / 1e6:10,.0f}",
                    flush=True,
                )
            path.unlink()


if __name__ == "__main__":
    main()
