"""Files larger than memory: our passes beside DuckDB's `ORDER BY model, fold`, streamed as record batches.

Run: python -m benchmarks.engines [--rows 1e7] [--memory 200MB]   (needs duckdb)

The tables are those of `benchmarks.streaming`, as Parquet and CSV, with and without cases. Both sides pack
the curve of every group, each in a process of its own, on one thread. DuckDB's checks nothing but, where
there are cases, that a case has one label and every model, by two `GROUP BY`; ours applies every rule.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
import pyarrow.csv as text
import pyarrow.parquet as pq

from benchmarks import streaming


def ours(path: Path, _cases: bool, _memory: str) -> int:
    """Number of groups that the passes pack."""
    import skewanova as sa

    return len(sa.stream_scores(path, progress=False).packed)


def duckdb(path: Path, cases: bool, memory: str) -> int:
    """Number of groups packed from what one ORDER BY streams."""
    from skewanova.curves.groups import PackedCurve

    with tempfile.TemporaryDirectory() as folder:
        options = {"memory_limit": memory, "threads": 1, "temp_directory": folder}
        engine = import_module("duckdb").connect(config={**options, "preserve_insertion_order": False})
        rows = f"read_parquet('{path}')" if path.suffix == ".parquet" else f"read_csv('{path}')"
        chosen = 'model, fold, y_true, y_score, "case"' if cases else "model, fold, y_true, y_score"
        query = engine.sql(f"SELECT {chosen} FROM {rows} ORDER BY model, fold")
        packed = [PackedCurve.of(*columns) for columns in groups(query.to_arrow_reader(1 << 17))]
        for keys in ['"case"', 'fold, "case"'] if cases else []:
            inner = f"SELECT count(*) n, min(y_true) low, max(y_true) high FROM {rows} GROUP BY {keys}"
            engine.sql(f"SELECT min(n), max(n), sum((low < high)::INT) FROM ({inner})").fetchall()
    return len(packed)


def groups(batches: Any) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Labels and scores of every group of batches in order."""
    held: list[tuple[np.ndarray, np.ndarray]] = []
    last: object = None
    for batch in batches:
        model, fold = batch.column(0).dictionary_encode(), batch.column(1).to_numpy()
        code, label, score = (c.to_numpy() for c in (model.indices, batch.column(2), batch.column(3)))
        cuts = np.flatnonzero((np.diff(code) != 0) | (np.diff(fold) != 0)) + 1
        for start, stop in zip([0, *cuts.tolist()], [*cuts.tolist(), len(code)], strict=True):
            group = (model.dictionary[int(code[start])].as_py(), int(fold[start])) if stop > start else last
            if held and group != last:
                yield np.concatenate([y for y, _ in held]), np.concatenate([s for _, s in held])
                held = []
            last = group
            held.append((label[start:stop].astype(bool), score[start:stop]))
    if held:
        yield np.concatenate([y for y, _ in held]), np.concatenate([s for _, s in held])


TASKS = {"ours": ours, "duckdb": duckdb}


def in_child(task: str, path: Path, cases: bool, memory: str) -> dict[str, float]:
    """Time and peak memory of one task in a process of its own."""
    command = [
        sys.executable,
        "-m",
        "benchmarks.engines",
        "--child",
        task,
        str(path),
        str(int(cases)),
        memory,
    ]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def child(task: str, path: str, cases: str, memory: str) -> None:
    """Do one task and print what it took."""
    start = perf_counter()
    found = TASKS[task](Path(path), cases == "1", memory)
    took = {"seconds": perf_counter() - start, "cpu": process_time(), "peak": streaming.peak_bytes()}
    print(json.dumps({**took, "groups": found}))


def as_csv(path: Path) -> Path:
    """The same rows as CSV, made batch by batch."""
    made = path.with_suffix(".csv")
    with pq.ParquetFile(path) as file, text.CSVWriter(made, file.schema_arrow) as writer:
        for batch in file.iter_batches():
            writer.write_batch(batch)
    return made


def main() -> None:
    """Make the tables, run both sides on each, and print one row each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e7)
    parser.add_argument("--memory", default="200MB", help="memory limit of DuckDB")
    parser.add_argument("--kinds", nargs="+", default=["clustered", "shuffled"])
    parser.add_argument("--formats", nargs="+", default=["parquet", "csv"], choices=["parquet", "csv"])
    parser.add_argument("--cases", nargs="+", type=int, default=[0, 1], choices=[0, 1])
    parser.add_argument("--child", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(*options.child)
        return
    print("| rows | cases | file | | seconds | processor seconds | peak MB |\n|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for cases in map(bool, options.cases):
            for kind in options.kinds:
                path = Path(folder) / f"{kind}.parquet"
                streaming.make(path, int(options.rows), kind, cases)
                for name in options.formats:
                    table = as_csv(path) if name == "csv" else path
                    for task in TASKS:
                        took = in_child(task, table, cases, options.memory)
                        numbers = f"{took['seconds']:.1f} | {took['cpu']:.1f} | {took['peak'] / 1e6:,.0f}"
                        said = "named" if cases else "none"
                        print(f"| {kind} | {said} | {name} | {task} | {numbers} |", flush=True)
                    if table != path:
                        table.unlink()


if __name__ == "__main__":
    main()
