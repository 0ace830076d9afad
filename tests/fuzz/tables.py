"""Score tables that are nearly right: every format, a few cells, rows, columns or bytes changed."""

import csv
import gzip
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import assume
from hypothesis import strategies as st

import skewanova as sa
from fuzz.command import checked_run, folder_of
from fuzz.generator import HOSTILE, Generator, answered, sample

#: Cells that a table may hold by mistake or malice, as text.
CELLS = (*HOSTILE["cells"], "1" * 400, "x" * 3000)
#: The same for JSON, where a cell has a type.
VALUES = (
    *(None, True, False, 0, 1, -1, 2, 0.5, 2**53 + 1, 2**63, 2**64, -(2**63) - 1, 10**400, 1e308, 5e-324),
    *([], {}, [0.1, 0.9], [0.9], [[1]], {"p": 1}, {"0": 0.3, "1": 0.7}, ["a", None], [0.1, "x"], [True, 1]),
)
COLUMNS = ("model", "fold", "y_true", "y_score", "case", "dataset")
FORMATS = ("csv", "csv.gz", "jsonl", "jsonl.gz", "parquet")
#: Types that a Parquet column may have.
TYPES = {
    **{str(t): t for t in (pa.int8(), pa.int64(), pa.uint8(), pa.uint64(), pa.float16(), pa.float32())},
    **{str(t): t for t in (pa.float64(), pa.bool_(), pa.string(), pa.large_string(), pa.binary(), pa.null())},
    **{str(t): t for t in (pa.date32(), pa.timestamp("ns", "UTC"), pa.duration("s"), pa.time64("us"))},
    "decimal": pa.decimal128(20, 3), "dictionary": pa.dictionary(pa.int8(), pa.string()),
    "number dictionary": pa.dictionary(pa.int8(), pa.float64()), "list": pa.list_(pa.float64()),
    "struct": pa.struct([("a", pa.float64())]), "map": pa.map_(pa.string(), pa.float64()),
    "view": pa.string_view(),
}  # fmt: skip


def rows_of(shape):
    """A table that is right: models better than chance, on the same cases, with some ties."""
    rng = np.random.default_rng(shape["seed"])
    rows = []
    for dataset in range(shape["datasets"]):
        for fold in range(1, shape["folds"] + 1):
            labels = np.arange(shape["size"]) % 2
            for model in range(shape["models"]):
                scores = rng.normal(size=len(labels)) + (0.4 + 0.4 * model) * labels
                scores = np.round(scores, shape["digits"])
                for case, (label, score) in enumerate(zip(labels.tolist(), scores.tolist(), strict=True)):
                    row = {"model": f"m{model}", "fold": fold, "y_true": label, "y_score": score}
                    row |= {"case": case + shape["cases"] * 1000 * fold} if shape["cases"] >= 0 else {}
                    rows.append(row | ({"dataset": f"d{dataset}"} if shape["datasets"] > 1 else {}))
    return rows


def shapes(**fixed):
    """Sizes of a table; `cases`: -1 not named, 0 the same in every fold, 1 other cases in every fold."""
    sizes = sample(seed=range(10), models=(1, 2, 3), folds=(1, 2, 3), size=(2, 4, 12, 30), digits=(0, 1, 6))
    return st.fixed_dictionaries(sizes | sample(cases=(-1, 0, 1), datasets=(1, 1, 1, 2)) | sample(**fixed))


#: A small table of two models.
SHAPE = {"seed": 0, "models": 2, "folds": 2, "size": 12, "digits": 1, "cases": 1, "datasets": 1}


def changes_of(columns, values, *more):
    """What is done to the rows of a table: kind, place, column, value."""
    place, column = st.integers(0, 200), st.sampled_from(columns)
    drawn = {"cell": st.sampled_from(values), "column": st.sampled_from(values)}
    drawn["rename"] = st.sampled_from([*COLUMNS, *CELLS])
    kinds = ("cell", "cell", "column", "rename", "drop row", "repeat row", "drop column", *more)
    steps = [st.tuples(st.just(kind), place, column, drawn.get(kind, st.none())) for kind in kinds]
    return st.lists(st.one_of(steps), max_size=3)


changes = changes_of(COLUMNS, [*VALUES, *CELLS], "reverse", "keep")
DAMAGES = (*(bytes([code]) for code in b'\x00\xff\x80\r\n",\t{}\\\x1a'), b"\n\n", b"\xef\xbb\xbf")


def damages_by(payload, min_size=0, max_size=2):
    """What is done to the bytes of a file: kind, place in 1001 parts of its length, what."""
    step = st.tuples(st.sampled_from(["flip", "cut", "insert", "remove"]), st.integers(0, 1000), payload)
    return st.lists(step, min_size=min_size, max_size=max_size)


damages = damages_by(st.sampled_from(DAMAGES))
CHANGES = {
    "cell": lambda rows, at, column, value: [
        row | {column: value} if k == at else row for k, row in enumerate(rows)],
    "column": lambda rows, _, column, value: [row | {column: value} for row in rows],
    "rename": lambda rows, _, column, value: [
        {value if name == column else name: cell for name, cell in row.items()} for row in rows],
    "drop row": lambda rows, at, *_: rows[:at] + rows[at + 1 :],
    "repeat row": lambda rows, at, *_: rows + rows[at : at + 1],
    "drop column": lambda rows, _, column, __: [
        {n: v for n, v in row.items() if n != column} for row in rows],
    "reverse": lambda rows, *_: rows[::-1], "keep": lambda rows, at, *_: rows[: at % 7],
}  # fmt: skip


def changed(rows, steps):
    for kind, place, column, value in steps:
        if rows:
            rows = CHANGES[kind](rows, place % len(rows), column, value)
    return rows


#: What is put in place of the bytes from there on: kind, what, the bytes from there on.
DAMAGE = {
    "flip": lambda what, rest: bytes([rest[0] ^ (what[0] | 1)]) + rest[1:] if rest else rest,
    "cut": lambda _what, _rest: b"",
    "insert": lambda what, rest: what + rest,
    "remove": lambda what, rest: rest[len(what) :],
}


def damaged(content, steps):
    for kind, place, what in steps:
        at = place * len(content) // 1001
        content = content[:at] + DAMAGE[kind](what, content[at:])
    return content


def as_csv(rows):
    out = io.StringIO(newline="")
    names = list(dict.fromkeys(name for row in rows for name in row)) or list(COLUMNS[:4])
    writer = csv.DictWriter(out, names, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode("utf-8", "surrogatepass")


def as_json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_parquet(rows, types, group):
    """Columns of the types asked for, where their values allow it; else of arrow's choice, or text."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = [_arrow([row.get(name) for row in rows], TYPES.get(types.get(name, ""))) for name in names]
    out = io.BytesIO()
    try:
        pq.write_table(pa.Table.from_arrays(columns, names=names), out, row_group_size=group)
    except (pa.ArrowException, OverflowError):
        assume(False)
    return out.getvalue()


WRITERS = {"csv": as_csv, "jsonl": as_json_lines, "parquet": lambda rows: as_parquet(rows, {}, 7)}


def _arrow(values, wanted):
    texts = [None if value is None else str(value) for value in values]
    for given, kind in ((values, wanted), (values, None), (texts, pa.string())):
        try:
            if kind is not None and (pa.types.is_floating(kind) or pa.types.is_temporal(kind)):
                return pa.array(given).cast(kind, safe=False)
            return pa.array(given, kind)
        except (pa.ArrowException, OverflowError, TypeError, ValueError):
            continue
    return pa.nulls(len(values))


def file_of(case):
    """Name and content of the file that a case describes."""
    kind, rows = case["format"], changed(rows_of(case["shape"]), case["changes"])
    if kind == "parquet":
        content = as_parquet(rows, case["types"], case["group"])
    else:
        content = WRITERS[kind.removesuffix(".gz")](rows)
    content = damaged(content, case["damages"])
    return f"scores.{kind}", gzip.compress(content, mtime=0) if kind.endswith(".gz") else content


ARGUMENTS = ([], ["--positive", "1"], ["--wide"], ["--label-column", "case"], ["--json"])


def cases(**fixed):
    parts = {
        "shape": shapes(),
        "changes": changes,
        "types": st.dictionaries(st.sampled_from(COLUMNS), st.sampled_from(list(TYPES)), max_size=2),
        "damages": st.one_of(st.just([]), damages),
    }
    parts |= sample(format=FORMATS, group=(3, 1000), arguments=ARGUMENTS)
    return st.fixed_dictionaries(parts | fixed)


def told_by_check(case):
    """`check` and `intervals` do their work, or refuse in one line."""
    name, content = file_of(case)
    with folder_of({name: content}) as folder:
        for command in ("check", "intervals"):
            checked_run([command, name, *case["arguments"]], folder)


def accepted_by_both(case):
    """What `check` accepts, `compare` compares; what it refuses, `compare` refuses; so does every command."""
    name, content = file_of(case)
    arguments = [a for a in case["arguments"] if a != "--json"]
    quick = ["--at-priors", "0.5", "--json"]
    with folder_of({name: content}) as folder:
        check = checked_run(["check", name, *arguments], folder)
        compare = checked_run(["compare", name, *arguments, *quick], folder)
        assert check.exit_code == compare.exit_code, (check.output[:500], compare.output[:500])
        checked_run(["plan", name, *arguments], folder)


def streamed_as_read(case):
    """A Parquet file gives the table, or the refusal, of its rows as a stream of Arrow."""
    name, content = file_of(case)
    with folder_of({name: content}):
        whole = answered(sa.read_scores, name)
        streamed = answered(lambda: sa.read_scores(pq.read_table(name).to_reader(max_chunksize=7)))
        assert (whole is None) == (streamed is None), f"file: {whole}; stream: {streamed}"
        if whole is not None:
            pd.testing.assert_frame_equal(whole.frame, streamed.frame)


_undamaged = {"damages": st.just([])}
_parquet = cases(**sample(format=["parquet"], arguments=[[]]), **_undamaged, shape=shapes(datasets=[1]))
_mostly_right = cases(**_undamaged, changes=st.one_of(st.just([]), changes), shape=shapes(models=(2, 3)))

GENERATORS = (
    Generator("tables", cases(), told_by_check, 45),
    Generator("comparisons", _mostly_right, accepted_by_both, 4),
    Generator("streams", _parquet, streamed_as_read, 30),
)
