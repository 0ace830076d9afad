"""`compare` of a Dask and a Spark frame with its whole report, beside what the engine's own shuffle takes.

Run: python -m benchmarks.billion [--rows 1e6 1e7] [--engines dask spark]   (extras dask and spark, and Java)

Rows of 10 models x 20 folds, all mixed, a tenth positive, are written once a size as a folder of Parquet,
file by file, so that any number of them can be made (`--rows 1e9` takes some 10 GB, and three times that
while engines spill). Each task has a process of its own with two workers:

- shuffle: the engine brings the rows of every group (model and fold) together and counts them, nothing else;
- compare: `sa.compare(frame)` and its folder with all figures, as the command line writes it, in two lines:
  until the packed curves of all groups are here, and what follows, which knows of no engine.

It prints seconds, processor seconds of all processes, and the largest resident memory of the process that
asks (the driver) and of all others together (workers; of Spark also its Java process).
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.large import FOLDS, MODELS, PREVALENCE
from benchmarks.measuring import Row

#: Rows of a file, and of a row group in it.
FILE_ROWS, GROUP_ROWS = 5_000_000, 500_000


#: Worker processes, and the memory of each (of Spark: of its Java process for each of them). At 1e9 rows two
#: workers of Dask with 4 GB each stood still during its own shuffle, one of them full.
WORKERS, WORKER_MEMORY = 2, "8g"


#: Seconds between two looks at the processes.
TICK = 0.2


def make(folder: Path, rows: int) -> None:
    """Write the rows, mixed: every group has as many, but for the last few."""
    folder.mkdir()
    names = pa.array([f"model {i}" for i in range(MODELS)])
    for number, start in enumerate(range(0, rows, FILE_ROWS)):
        rng = np.random.default_rng([rows, number])
        group = rng.permutation(np.arange(start, min(start + FILE_ROWS, rows)) % (MODELS * FOLDS))
        model, fold = np.divmod(group, FOLDS)
        positive = rng.random(len(group)) < PREVALENCE
        table = pa.table(
            {
                "model": pa.DictionaryArray.from_arrays(model.astype(np.int8), names).dictionary_decode(),
                "fold": pa.array(fold + 1),
                "y_true": pa.array(positive.astype(np.int8)),
                "y_score": pa.array(rng.normal(size=len(group)) + (1 + 0.05 * model) * positive),
            }
        )
        pq.write_table(table, folder / f"{number:05d}.parquet", row_group_size=GROUP_ROWS)


@contextmanager
def dask_frame(folder: Path, scratch: Path) -> Iterator[Any]:
    """Yield the rows as a Dask frame of a cluster of this machine."""
    import dask
    import dask.dataframe as dd

    distributed = import_module("distributed")
    logging.getLogger("distributed").setLevel(logging.ERROR)
    dask.config.set({"temporary-directory": str(scratch), "dataframe.shuffle.method": "p2p"})
    with (
        distributed.LocalCluster(
            n_workers=WORKERS,
            threads_per_worker=1,
            memory_limit=WORKER_MEMORY.upper() + "B",
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield dd.read_parquet(folder)


@contextmanager
def spark_frame(folder: Path, scratch: Path) -> Iterator[Any]:
    """Yield the rows as a Spark frame, its workers being threads of one Java process."""
    sql = import_module("pyspark.sql")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": WORKER_MEMORY,
        "spark.driver.maxResultSize": "0",
        "spark.local.dir": str(scratch),
        "spark.log.level": "OFF",
    }
    builder = sql.SparkSession.builder.master(f"local[{WORKERS}]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    try:
        yield session.read.parquet(str(folder))
    finally:
        session.stop()


FRAMES = {"dask": dask_frame, "spark": spark_frame}


def shuffle(frame: Any, engine: str, _scratch: Path) -> int:
    """Rows that the engine counts in all groups, having brought those of each together."""
    keys = ["model", "fold"]
    if engine == "dask":
        return int(frame.shuffle(on=keys).map_partitions(len).compute().sum())
    found = frame.groupBy(*keys).applyInArrow(_counted, "n long").collect()
    return sum(row["n"] for row in found)


def _counted(table: pa.Table) -> pa.Table:
    return pa.table({"n": [table.num_rows]})


def gather(frame: Any, _engine: str, _scratch: Path) -> Any:
    """Return the packed curves of all groups."""
    import skewanova as sa

    return sa.read_scores(frame)


def report(scores: Any, _engine: str, scratch: Path) -> int:
    """Files of the whole report."""
    import skewanova as sa

    warnings.simplefilter("ignore")
    sa.compare(scores).save(scratch / "report")
    return sum(1 for _ in (scratch / "report").rglob("*"))


#: Times the engine's own shuffle of the same rows: what is aimed at, and what the whole takes of few rows.
OF_SHUFFLE, KNOWN = 1.4, 3.0


def rows(reduced: bool) -> list[Row]:
    """Processor time to the curves of all groups, in times of the shuffle alone, on Dask."""
    if find_spec("distributed") is None:
        return []
    size, steps = (1_000_000, ("curves",)) if reduced else (10_000_000, ("curves", "compare"))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "rows"
        make(folder, size)
        (alone,) = in_child("dask", "shuffle", folder)
        found = in_child("dask", steps[-1], folder)
    spent = [sum(one["cpu"] for one in found[: n + 1]) / alone["cpu"] for n in range(len(found))]
    names = ("to all curves / shuffle alone", "whole comparison with its report / shuffle alone")
    work = f"{size:.0e} rows on Dask"
    return [
        Row("15", work, name, took, took, at_most=OF_SHUFFLE, known=None if n == 0 else KNOWN)
        for n, (name, took) in enumerate(zip(names, spent, strict=False))
    ]


#: What is done one after another, each with what came of the one before; `curves` begins `compare`.
TASKS: dict[str, dict[str, Callable[[Any, str, Path], Any]]] = {
    "shuffle": {"shuffle": shuffle},
    "curves": {"curves": gather},
    "compare": {"curves": gather, "comparison, report": report},
}


@dataclass
class Watch:
    """Memory and processor time of this process and of all that it started, looked at again and again."""

    driver: int = 0
    others: int = 0
    before: dict[int, float] = field(default_factory=dict)
    seconds: dict[int, float] = field(default_factory=dict)

    @property
    def cpu(self) -> float:
        """Processor seconds since the looking began."""
        return sum(self.seconds.values()) - sum(self.before.values())

    @contextmanager
    def looking(self) -> Iterator[None]:
        """Look until the block ends."""
        self._look()
        self.before = dict(self.seconds)
        over = threading.Event()
        thread = threading.Thread(target=self._look_until, args=[over], daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
            self._look()

    def _look_until(self, over: threading.Event) -> None:
        while not over.wait(TICK):
            self._look()

    def _look(self) -> None:
        psutil = import_module("psutil")
        mine, others = psutil.Process(), 0
        for process in [mine, *mine.children(recursive=True)]:
            try:
                times, resident = process.cpu_times(), process.memory_info().rss
            except psutil.Error:  # it has ended meanwhile
                continue
            self.seconds[process.pid] = times.user + times.system
            if process.pid == mine.pid:
                self.driver = max(self.driver, resident)
            else:
                others += resident
        self.others = max(self.others, others)


def child(engine: str, task: str, folder: str) -> None:
    """Do one task and print what each step took."""
    with (
        tempfile.TemporaryDirectory(dir=Path(folder).parent) as scratch,
        FRAMES[engine](Path(folder), Path(scratch)) as found,
    ):
        for name, step in TASKS[task].items():
            watch, start = Watch(), perf_counter()
            with watch.looking():
                found = step(found, engine, Path(scratch))
            took = {"seconds": perf_counter() - start, "cpu": watch.cpu}
            print(json.dumps({"step": name, **took, "driver": watch.driver, "others": watch.others}))


def in_child(engine: str, task: str, folder: Path) -> list[dict[str, Any]]:
    """Return what the steps of one task take in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.billion", "--child", engine, task, str(folder)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"step"')]


def line_of(took: dict[str, Any]) -> str:
    """Return what one step took, as cells."""
    driver, others = (f"{took[name] / 1e6:,.0f}" for name in ("driver", "others"))
    return " | ".join([took["step"], f"{took['seconds']:.1f}", f"{took['cpu']:.1f}", driver, others])


def main() -> None:
    """Make the rows of each size, run each task of each engine, and print one row each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--engines", nargs="+", default=list(FRAMES), choices=list(FRAMES))
    parser.add_argument("--tasks", nargs="+", default=["shuffle", "compare"], choices=list(TASKS))
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    print("| rows | engine | | seconds | processor seconds | driver, MB | others, MB |")
    print("|---|---|---|---|---|---|---|")
    for rows in map(int, options.rows):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "rows"
            make(folder, rows)
            for engine in options.engines:
                for task in options.tasks:
                    for took in in_child(engine, task, folder):
                        print(f"| {rows:,} | {engine} | {line_of(took)} |", flush=True)


if __name__ == "__main__":
    main()
