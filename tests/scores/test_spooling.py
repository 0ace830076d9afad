"""Text and queries that need not fit in memory: the numbers and the messages of memory."""

import csv
import gzip
import re
import tempfile

import numpy as np
import pandas as pd
import polars as pl
import pytest

import skewanova as sa
from skewanova.base.checks import InputError, InputTypeError
from skewanova.scores import formats, plain_csv, reading, spooling
from skewanova.scores.reading import open_scores, stream_scores

ROWS = 24


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(spooling, "BLOCK", 7)
    monkeypatch.setattr(plain_csv, "BLOCK_BYTES", 150)


def table(score=None):
    """Two models on the same cases, each in one of two folds; names that look like numbers or missing."""
    rng = np.random.default_rng(0)
    case = np.tile(np.arange(12), 2)
    columns = {
        "model": np.repeat(["NA", "007"], 12),
        "fold": case % 2 + 1,
        "case": case + 1,
        "y_true": case // 2 % 2,
    }
    drawn = rng.normal(size=ROWS).round(2).astype(str)
    return pd.DataFrame({**columns, "y_score": drawn if score is None else score}).sample(
        frac=1, random_state=1
    )


def written(folder, frame, suffix=".csv"):
    path = folder / f"scores{suffix}"
    lines = suffix.startswith(".jsonl")
    text = frame.to_json(orient="records", lines=True) if lines else frame.to_csv(index=False)
    path.write_bytes(gzip.compress(text.encode()) if suffix.endswith(".gz") else text.encode())
    return path


def assert_alike(found, read):
    assert (found.models, found.folds) == (read.models, read.folds)
    assert found.counts.tolist() == read.counts.tolist()
    assert list(found.curves()) == list(read.curves())
    for cell, curve in read.curves().items():
        other = found.curves()[cell]
        assert (other.fpr.tolist(), other.tpr.tolist()) == (curve.fpr.tolist(), curve.tpr.tolist())
    assert found.unpaired() == read.unpaired()
    assert found.shared_cases()[0].tolist() == read.shared_cases()[0].tolist()
    assert (found.source, found.sha256()) == (read.source, read.sha256())


def whole(large=0):
    return [str(large + i) for i in range(ROWS)]


SCORES = {
    "fractions": None,
    "whole": whole(),
    "whole and large": whole(2**60),
    "beyond 63 bits": whole(2**63 - 12),
    "beyond 64 bits": [str(2**70 * (i + 1)) for i in range(ROWS)],
    "whole, then fractions": [*whole()[:-1], "0.5"],
    "truth": ["True", "false"] * (ROWS // 2),
    "infinite": ["inf", "-inf", *whole()[2:]],
}


@pytest.mark.parametrize(
    ("suffix", "scores"),
    [
        *((".csv", name) for name in SCORES),
        *((".csv.gz", name) for name in SCORES if "whole" in name),
        (".jsonl", "fractions"),
        (".jsonl.gz", "whole, then fractions"),
    ],
)
def test_text_in_passes_is_text_in_memory(tmp_path, suffix, scores):
    path = written(tmp_path, table(SCORES[scores]), suffix)
    assert_alike(stream_scores(path), sa.read_scores(path))


def test_quotes_blank_lines_and_other_columns(tmp_path):
    rows = [f'"z,\n""b""",{model},1,{i % 2},{i / 8},c{i}' for model in ('"m ""1"""', "n") for i in range(9)]
    path = tmp_path / "scores.csv"
    path.write_text("\r\n\r\n".join(["more,model,fold,y_true,y_score,case", *rows]), newline="")
    assert_alike(stream_scores(path), sa.read_scores(path))
    assert stream_scores(path).models == ('m "1"', "n")


@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_NONNUMERIC, csv.QUOTE_ALL])
def test_plain_csv_is_taken_apart_by_arrow(tmp_path, monkeypatch, quoting):
    path = tmp_path / "scores.csv"
    path.write_text(table().to_csv(index=False, quoting=quoting, lineterminator="\r\n\r\n"), newline="")
    read = sa.read_scores(path)
    monkeypatch.setattr(formats, "CHUNK", 60)
    monkeypatch.setattr(formats, "_csv_blocks", None)
    assert_alike(stream_scores(path), read)


@pytest.mark.parametrize("field", ['"a,b"', '"a""b"', '"a\nb"', 'a"b', '"a"b', '"a', "a" * 80])
def test_csv_that_is_not_plain_is_left_to_the_csv_module(tmp_path, monkeypatch, field):
    path = written(tmp_path, table().assign(model="m"))
    path.write_text(path.read_text() + f"{field},1,99,0,0.5\n")
    assert formats.TextTable.open(path).is_plain() == field.startswith("aa")
    monkeypatch.setattr(formats, "CHUNK", 60)
    assert not formats.TextTable.open(path).is_plain()


@pytest.mark.parametrize("more", ["NA,1,99,0", "NA,1,99,0,1,2", " ", "NA,1,\xff,0,.5"])
def test_what_arrow_cannot_read_is_told_as_in_memory(tmp_path, more):
    path = written(tmp_path, table())
    path.write_bytes(path.read_bytes() + more.encode("latin-1") + b"\n")
    told = []
    for read in (sa.read_scores, stream_scores):
        try:
            told.append(read(path).counts.tolist())
        except InputError as error:
            told.append(str(error))
    assert told[0] == told[1]


BROKEN = {
    "no number": lambda f: f.assign(y_score=f["y_score"].mask(f["case"] == 9, "high")),
    "missing": lambda f: f.assign(y_score=f["y_score"].mask(f["case"] == 9, "")),
    "label": lambda f: f.assign(y_true=f["y_true"].astype(object).mask(f["case"] == 9, "")),
    "third label": lambda f: f.assign(y_true=f["y_true"].mask(f["case"] == 9, 2)),
    "model": lambda f: f.assign(model=f["model"].mask(f["case"] == 9, " ")),
    "case": lambda f: f.assign(case=f["case"].astype(str).mask(f["case"] == 9, "")),
    "twice": lambda f: pd.concat([f, f[3:5]]),
    "no column": lambda f: f.drop(columns="model"),
    "empty": lambda f: f[:0],
    "truth among numbers": lambda f: f.assign(y_score=["0.5"] * 23 + ["True"]),
    "numbers among truth": lambda f: f.assign(y_score=["True"] * 23 + ["0.5"]),
    "rounded": lambda f: f.assign(y_score=["0.5"] * 23 + [str(2**53 + 1)]),
    "rounded before": lambda f: f.assign(y_score=[str(2**53 + 1)] * 23 + ["0.5"]),
}  # fmt: skip


@pytest.mark.parametrize(
    ("suffix", "what"),
    [*((".csv", what) for what in BROKEN), *((".jsonl", what) for what in ("no number", "case", "missing"))],
)
def test_the_message_is_that_of_memory(tmp_path, suffix, what):
    path = written(tmp_path, BROKEN[what](table()), suffix)
    with pytest.raises((InputError, InputTypeError)) as read:
        sa.read_scores(path)
    said = re.escape(str(read.value))
    if what in {"numbers among truth", "rounded before"}:  # a row of the block that first shows it is named
        said = re.sub(r"line\\ \d+", r"line\\ \\d+", said)
    with pytest.raises(type(read.value), match=f"^{said}$"):
        stream_scores(path)


@pytest.mark.parametrize("line", ["a,1,3,0", 'a,1,3,0,"0.5', "\x00"])
def test_lines_that_are_broken_are_named(tmp_path, line):
    path = written(tmp_path, table())
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError) as read:
        sa.read_scores(path)
    with pytest.raises(InputError, match=f"^{re.escape(str(read.value))}$"):
        stream_scores(path)


def test_several_data_sets_are_refused(tmp_path):
    path = written(tmp_path, table().assign(dataset="a"))
    assert stream_scores(path).counts.sum() == ROWS
    path = written(tmp_path, table().assign(dataset=["a", "b"] * 12))
    with pytest.raises(InputError, match=r"must hold one data set, but 'dataset' tells of several"):
        stream_scores(path)


def test_a_temporary_folder_that_is_not_there(tmp_path, monkeypatch):
    path = written(tmp_path, table())
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "absent"))
    with pytest.raises(InputError, match=r"^the temporary folder '.*absent' cannot take the rows"):
        stream_scores(path)


def test_a_folder_that_is_full(tmp_path, monkeypatch):
    def full(*_args, **_options):
        raise OSError(28, "No space left on device")

    path = written(tmp_path, table())
    monkeypatch.setattr(spooling.pq.ParquetWriter, "write_table", full)
    with pytest.raises(InputError, match=r"cannot take the rows \(No space left on device\); set TMPDIR to"):
        stream_scores(path)


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".jsonl"])
def test_large_text_is_read_in_passes_unasked(tmp_path, monkeypatch, suffix):
    path = written(tmp_path, table(), suffix)
    for free, kind in ((10**12, sa.ScoreTable), (1000, sa.scores.StreamedScores)):
        monkeypatch.setattr(reading, "available_memory", lambda free=free: free)
        assert isinstance(open_scores(path), kind)


# --- queries ----------------------------------------------------------------------------------------------


def lazy(frame):
    return pl.from_pandas(frame.reset_index(drop=True)).lazy()


def relation(frame):
    rows = frame.reset_index(drop=True)  # noqa: F841 - the query finds it by its name
    return pytest.importorskip("duckdb").sql("select * from rows")


def kept(folder):
    return [*folder.iterdir()]


@pytest.mark.parametrize("query", [lazy, relation])
def test_a_query_in_passes_is_the_frame_in_memory(tmp_path, monkeypatch, query):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    frame = table(np.arange(ROWS) / 7)
    read = sa.read_scores(frame)
    curves = [roc.tpr.tolist() for roc in read.curves().values()]
    for free, kind in ((10**12, sa.ScoreTable), (1000, sa.scores.StreamedScores)):
        monkeypatch.setattr(reading, "available_memory", lambda free=free: free)
        found = open_scores(query(frame))
        assert isinstance(found, kind)
        assert found.source is None
        assert [roc.tpr.tolist() for roc in found.curves().values()] == curves
    assert (found.models, found.folds, found.unpaired()) == (read.models, read.folds, read.unpaired())
    with pytest.raises(InputError, match=r"^the query must have the column 'y_score', but has 'model'"):
        stream_scores(query(frame.rename(columns={"y_score": "p"})))
    assert not kept(tmp_path)


def test_a_query_that_fails_is_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    bad = lazy(table()).with_columns(pl.col("y_score").str.slice(0, 2).cast(pl.Int8))
    with pytest.raises(
        InputError, match=r"^the query, or '.*', where its rows go \(TMPDIR\), cannot be read: ."
    ) as told:
        stream_scores(bad)
    assert "\n" not in str(told.value)
    assert not kept(tmp_path)


def test_what_cannot_be_read_in_passes():
    with pytest.raises(
        InputTypeError, match=r"must be a path, a frame of Dask or Spark, .* but got DataFrame$"
    ):
        stream_scores(table())
