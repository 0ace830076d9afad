"""Files that are broken: Parquet with bytes flipped, gzip cut short, other encodings, other content."""

import gzip
import zlib
from functools import cache

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import strategies as st

import skewanova as sa
from fuzz.command import checked_run, folder_of
from fuzz.generator import HOSTILE, Generator, answered, sample
from fuzz.tables import COLUMNS, SHAPE, as_csv, as_json_lines, as_parquet, damaged, damages_by, rows_of

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "latin-1", "cp037", "utf-7", "cp1252")
#: What other programs write into the footer of a Parquet file, and what they should not.
FOOTERS = (*HOSTILE["footers"], "{" * 5000)


@cache
def contents():
    rows = rows_of(SHAPE)
    accented = [row | {"model": f"{row['model']}\u00e9"} for row in rows]
    parquet = as_parquet(rows, {"model": "dictionary"}, 5)
    return {
        "csv": as_csv(accented), "jsonl": as_json_lines(rows), "parquet": parquet,
        "parquet of folds": as_parquet(rows, {"fold": "string", "y_score": "float"}, 1000),
        "csv.gz": gzip.compress(as_csv(rows), mtime=0),
        "jsonl.gz": gzip.compress(as_json_lines(rows), mtime=0),
        "two gzips": gzip.compress(b"model,fold,", mtime=0) + gzip.compress(as_csv(rows)[11:], mtime=0),
        "zlib": zlib.compress(as_csv(rows)), "nothing": b"", "zip": b"PK\x03\x04" + bytes(40),
        "pickle": b"\x80\x04\x95" + bytes(20), "page": b"<!doctype html><title>404</title>",
        "deep json": b'{"a":' * 3000 + b"1" + b"}" * 3000, "one long line": b"x" * 200_000,
        "many columns": b",".join(b"c%d" % k for k in range(5000)) + b"\n" + b"1," * 4999 + b"1\n",
        "zeros": bytes(5000),
    }  # fmt: skip


def file_of(case):
    content = contents()[case["content"]]
    if case["footer"] is not None and case["content"].startswith("parquet"):
        table = pq.read_table(pa.BufferReader(content))
        out = pa.BufferOutputStream()
        pq.write_table(table.replace_schema_metadata({b"pandas": case["footer"].encode()}), out)
        return out.getvalue().to_pybytes()
    if case["encoding"] != "utf-8" and case["content"] in {"csv", "jsonl"}:
        content = content.decode().encode(case["encoding"], "replace")
    return damaged(content, case["damages"])


def broken_files_are_refused(case):
    """Read, or refused in one line."""
    name = case["name"]
    with folder_of({name: file_of(case)}) as folder:
        checked_run(["check", name], folder)


def parts_are_one_table(case):
    """A folder of Parquet files, some broken, foreign or of other columns: read, or refused in one line."""
    rows = rows_of(SHAPE)
    half = len(rows) // 2
    parts = {"a.parquet": as_parquet(rows[:half], {}, 5), case["extra"]: file_of(case)}
    parts = {"b.parquet": as_parquet(rows[half:], case["types"], 5), **parts}
    with folder_of({f"scores/{name}": content for name, content in parts.items()}) as folder:
        checked_run(["check", "scores"], folder)
        answered(sa.read_scores, "scores")


def _cases(**more):
    kinds = [*contents(), "parquet", "parquet of folds", "parquet", "csv.gz", "csv", "jsonl"]
    damages = damages_by(st.binary(min_size=1, max_size=4), 1, 3)
    parts = sample(content=kinds, encoding=ENCODINGS, footer=(*[None] * len(FOOTERS), *FOOTERS))
    return st.fixed_dictionaries({**parts, "damages": damages, **more})


def _fitting(case):
    """The name that goes with the content, more often than not."""
    ending = case["content"].split()[0]
    fits = ending in {"csv", "jsonl", "parquet", "csv.gz", "jsonl.gz"} and case["fits"]
    return {**case, "name": f"scores.{ending}" if fits else case["name"]}


_files = _cases(**sample(name=HOSTILE["file_names"], fits=(False, True, True, True))).map(_fitting)
EXTRA = ("c.parquet", "_SUCCESS", ".hidden.parquet", "notes.txt", "model=x/c.parquet", "a.csv")
KINDS = ("string", "float", "double", "int8", "bool", "decimal", "dictionary", "list", "binary")
_types = st.dictionaries(st.sampled_from(COLUMNS[:5]), st.sampled_from(KINDS), max_size=1)
_parts = _cases(**sample(extra=EXTRA), types=_types)

GENERATORS = (
    Generator("damaged files", _files, broken_files_are_refused, 80),
    Generator("folders of files", _parts, parts_are_one_table, 20),
)
