import gzip
import json
import math
import os
import random
import re
import struct
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from loops import each
from messages import expect_error
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GridSearchCV

from skewanova import read_scores, scores_from_wide
from skewanova.base.checks import InputError, InputTypeError
from skewanova.scores import text_files
from skewanova.scores.columns import ColumnMap
from skewanova.scores.sources import load_table
from skewanova.scores.unlabelled import read_unlabelled

HEAD = "model,fold,y_true,y_score"
LABELS = ["model", "fold", "y_true"]
NEEDED = [*LABELS, "y_score"]
UNREADABLE = "'scores.csv' cannot be read"


def write(folder, text, name="scores.csv"):
    path = folder / name
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(data) if name.lower().endswith(".gz") else data)
    return path


def load(source, required=NEEDED, optional=(), text=LABELS):
    return load_table(source, ColumnMap(required, optional, text))


def scores_of(folder, texts):
    path = write(folder, "\n".join([HEAD, *(f'A,1,0,"{text}"' for text in texts)]))
    return load(path).frame["y_score"].to_numpy()


def double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def test_doubles_are_read_exactly_and_other_columns_left_out(tmp_path):
    draw = random.Random(1)
    values = [double(draw.getrandbits(64)) for _ in range(4000)]
    values += [double(draw.getrandbits(52)) for _ in range(500)]  # subnormals
    values += [5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -0.0, 0.1, 1 / 3]
    values = [v for v in values if not math.isnan(v)]
    read = scores_of(tmp_path, map(repr, values))
    assert (read.dtype, read.tobytes()) == (np.float64, np.array(values).tobytes())
    values = [2**64, 3 * 2**70, -(2**63), int(1e300), 7]
    read = scores_of(tmp_path, map(str, values))
    assert (read.dtype, list(map(int, read))) == (np.float64, values)
    assert scores_of(tmp_path, ["0.5", "9007199254740992"]).tolist() == [0.5, 2.0**53]
    raw = load(write(tmp_path, f'{HEAD}\n""\nA,1,0,1\n'))
    assert (len(raw.frame), raw.where(0)) == (1, "line 3")
    rows = [f'A,1,{i % 2},{i},"{"text " * (i % 5)}",{i if i < 5000 else "x"}' for i in range(20_000)]
    raw = load(write(tmp_path, "\n".join([f"{HEAD},notes,notes", *rows])))
    assert (list(raw.frame), raw.frame["y_score"].tolist()) == (NEEDED, list(range(20_000)))
    path = write(tmp_path, ",y_true,Unnamed: 0,a, ,__index_level_0__,y_true2\n0,1,7,3,q,5,4\n")
    raw = load(path, required=["y_true"], optional=None, text=["y_true"])
    assert list(raw.frame) == ["y_true", "a", "y_true2"]
    frame = pd.DataFrame([[1, 2, 3]], columns=["y_true", "Unnamed: 0", "a"])
    assert list(load(frame, required=["y_true"], optional=None).frame) == ["y_true", "a"]


@pytest.mark.parametrize(("texts", "dtype", "values"), [
    (["9007199254740993", "9007199254740992"], np.int64, [2**53 + 1, 2**53]),
    (["-9223372036854775808", "9223372036854775807"], np.int64, [-(2**63), 2**63 - 1]),
    (["18446744073709551615", "18446744073709551614"], np.uint64, [2**64 - 1, 2**64 - 2]),
    ([" 7", "+8 ", "007"], np.int64, [7, 8, 7]), (["True", "false", " TRUE"], np.bool_, [True, False, True]),
    (["1", "0.5"], np.float64, [1.0, 0.5]),
    (["inf", "-Infinity", "+INF"], np.float64, [np.inf, -np.inf, np.inf]),
    ([".5", "5.", "1E3", " 1e-3 "], np.float64, [0.5, 5.0, 1000.0, 0.001]),
    (["9007199254740993.0", "1.7976931348623158e308", "1e23"], np.float64,
     [2.0**53, 1.7976931348623157e308, 1e23]),
])  # fmt: skip
def test_numbers_keep_every_digit(tmp_path, texts, dtype, values):
    read = scores_of(tmp_path, texts)
    assert (read.dtype, read.tolist()) == (dtype, values)


@pytest.mark.parametrize("texts", [
    ["5", "18446744073709551617", "18446744073709551616"], ["-1", "18446744073709551615"],
    ["1", "-9223372036854775809"], ["7", "1" + "0" * 3999], ["0.5", "9007199254740993"],
])  # fmt: skip
def test_whole_numbers_that_would_lose_their_order_are_refused(tmp_path, texts):
    message = (
        f"`y_score` must keep its order in 64 bits, but 'scores.csv' has {texts[1]:.40} at line 3, which "
        "would be rounded, and may tie with another; write it as a decimal, such as 1e21, or, "
        "of scores that then tie, write the ranks"
    )
    expect_error(f"^{re.escape(message)}$", scores_of, tmp_path, texts)


@pytest.mark.parametrize("text", ["", "NA", "n/a", "NaN", "nan", "-nan", "null", "None", "NULL", " nan "])
def test_missing_scores_are_nan(tmp_path, text):
    assert np.isnan(scores_of(tmp_path, ["0.5", text, "3"])).tolist() == [False, True, False]


@pytest.mark.parametrize("text", [
    "abc", "1_000", "\uff11", "0x10", "1d5", "1,5", "#N/A", "--1", "1e", "1 2", "\u0663", "True",
    "x" * 38, "x" * 39, "x" * 5000,
])  # fmt: skip
def test_text_among_the_numbers_is_shown_with_its_line(tmp_path, text):
    shown = re.escape(ascii(text) if len(text) <= 38 else ascii(text)[:36] + "...")
    message = f"^`y_score` must hold real numbers, but 'scores.csv' has {shown} at line 3$"
    expect_error(message, scores_of, tmp_path, ["0.5", text, "2"])


@pytest.mark.parametrize("name", ["scores.csv", "scores.csv.gz", "SCORES.CSV", "Scores.Csv.Gz"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("bom", ["", "\ufeff"])
def test_line_numbers_count_blank_lines_and_quoted_line_ends(tmp_path, name, end, bom):
    lines = ["", "model,fold,y_true,y_score,notes", "A,1,0,0.5,plain", "   ", '"B ""x"", y",1,1,0.5,"two']
    lines += ['lines"', "", "C,1,0,oops,"]
    expect_error(r"has 'oops' at line 8$", load, write(tmp_path, bom + end.join(lines) + end, name))
    good = write(tmp_path, bom + end.join(lines).replace("oops", "1") + end, name)
    raw = load(good)
    assert [raw.where(row) for row in range(3)] == ["line 3", "line 5", "line 8"]
    assert raw.frame["model"].tolist() == ["A", 'B "x", y', "C"]
    assert (list(raw.frame), raw.source) == (NEEDED, good)


@pytest.mark.parametrize(("text", "message"), [
    ("", "'scores.csv' is empty"), ("\n \n\r\n", "'scores.csv' is empty"),
    (f"{HEAD}\nA,1,0,1\n,\n", "line 3 of 'scores.csv' has 2 fields, but its header 4"),
    ('"model"x,fold\nA,1\n', f"{UNREADABLE} from line 1 on: ',' expected after '\"'"),
    (f"{HEAD}\nA,1,0,1\n\nA,1,1\n", "line 4 of 'scores.csv' has 3 fields, but its header 4"),
    (f'{HEAD}\nA,1,0,1\n"A,1,0,1\n', f"{UNREADABLE} from line 3 on: unexpected end of data; mend quotes"),
    (f'{HEAD}\n"A"B,1,0,1\n', f"{UNREADABLE} from line 2 on: ',' expected after '\"'"),
    (f"{HEAD},n\nA,1,0,1,{'x' * 200_000}\n", f"{UNREADABLE} from line 2 on: field larger than"),
    (f"{HEAD}\nÄ,1,0,1\n".encode("latin-1"), "'scores.csv' is not UTF-8 text: 'utf-8' codec"),
    (f"{HEAD}\nA,1,0,1\n".encode("utf-16"), "'scores.csv' is not UTF-8 text: 'utf-8' codec"),
    ("model;fold;y_true;y_score\nA;1;0;1\n",
     "'scores.csv' must have the columns 'model', 'fold', 'y_true', 'y_score', but has "
     "'model;fold;y_true;y_score'; its columns seem to be separated by ';': separate them by commas"),
    ("model,fold,y_true, y_score\nA,1,0,1\n", "'scores.csv' must have the column 'y_score', but has"),
    ("model,model,fold,y_true,y_score\nA,B,1,0,1\n", "'scores.csv' has the column 'model' more than"),
    ("", "'scores.jsonl' is empty"),
    ('{"model": "Ä"}'.encode("latin-1"), "'scores.jsonl' is not UTF-8 text: 'utf-8' codec"),
    ('{"model": "A","fold": 1}', "'scores.jsonl' must have the columns 'y_true', 'y_score', but has 'model'"),
])  # fmt: skip
def test_broken_text_files_are_closed(tmp_path, text, message, monkeypatch):
    opened, open_bytes = [], text_files._open_bytes
    monkeypatch.setattr(text_files, "_open_bytes", lambda path: opened.append(open_bytes(path)) or opened[-1])
    with expect_error(f"^{re.escape(message)}") as caught:
        load(write(tmp_path, text, message.split("'")[1]))
    assert [file.closed for file in opened] == [True] * len(opened) != [], caught.tb  # whose frames hold them


def test_broken_archives_and_places_without_a_table(tmp_path):
    whole = gzip.compress(f"{HEAD}\nA,1,0,1\n".encode() + bytes(range(32, 120)) * 100)
    cut, other, bad, path = whole[:-12], b"model,fold", whole[:12] + b"\xff" * 30, tmp_path / "scores.csv.gz"
    for data, reason in ((cut, "Compressed file ended"), (other, "Not a gzipped"), (bad, "Error -3|invalid")):
        path.write_bytes(data)
        expect_error(f"^'scores.csv.gz' cannot be read: .*({reason}).*write it anew$", load, path)
    expect_error(r"^there is no file '.*absent\.csv'$", load, tmp_path / "absent.csv")
    expect_error(r"^the folder '.*' has no file that ends in \.parquet or \.pq \(", load, str(tmp_path))
    with expect_error(r"^'scores\.txt' must be written as \.csv, \.csv\.gz, \.jsonl, \.ndjson or \.parquet$"):
        load(write(tmp_path, HEAD, "scores.txt"))
    with pytest.raises(InputError, match=r"^'scores\.parquet' cannot be read: .*Parquet"):
        load(write(tmp_path, HEAD, "scores.parquet"))


FOREIGN = type("Foreign", (), {"__module__": "__main__"})()  # as in a script of a user


@each("source", [None, 3, b"scores.csv", {"model": []}, [1], np.zeros(3), pd.Series([1]), FOREIGN])
def test_sources_of_other_types(source):
    message = f"^scores must be a path or a pandas, polars or pyarrow table, but got {type(source).__name__}"
    expect_error(message, load, source, error=InputTypeError)
    message = r"estimators by skewanova\.compare_estimators\(estimators, X, y\)$"
    expect_error(message, load, {"A": DummyClassifier()}, error=InputTypeError)
    search = GridSearchCV(DummyClassifier(), {"random_state": [0, 1]}).fit(np.zeros((20, 1)), [0, 1] * 10)
    message = r"of a search by skewanova\.compare_values\(search\.cv_results_\)$"
    expect_error(message, load, search, error=InputTypeError)


def test_columns_that_are_missing_and_the_index_of_parquet(tmp_path):
    frame = pd.DataFrame([["A", 1, 0, 0.5]], columns=NEEDED)
    with expect_error(r"^the table must have the column 'fold', but has 'model', 'y_true'"):
        load(frame.drop(columns="fold"))
    expect_error(r"^the table must have the columns .* but has none; ", load, pd.DataFrame())
    with pytest.raises(InputError, match=r"^the table has the column 'fold' more than once; leave one out$"):
        load(frame[["model", "fold", "fold", "y_true", "y_score"]])
    with pytest.raises(InputError, match=r"^the column 'fold' is used twice; use each column once$"):
        load(frame, required=["fold", "model", "fold"])
    doubled = pa.Table.from_arrays([pa.array([1])] * 5, names=[*NEEDED, "model"])
    expect_error(r"^the table has the column 'model' more than once; leave one out$", load, doubled)
    assert list(load(pd.concat([frame, pd.DataFrame([[1, 2]], columns=["x", "x"])], axis=1)).frame) == NEEDED
    pd.DataFrame(ROWS, index=[5, 5]).to_parquet(tmp_path / "s.pq")
    raw = load(tmp_path / "s.pq")
    assert (raw.where(1), raw.source.name, raw.frame.index.tolist()) == ("row 1", "s.pq", [0, 1])
    with pytest.raises(InputError, match=r"but has 'c0', .*'c19' and 4,980 more; correct the") as caught:
        ColumnMap(["model"], [], []).select([f"c{k}" for k in range(5000)], "the table")
    assert len(str(caught.value)) < 1000


ROWS = {"model": ["A", "NA"], "fold": [1, 2], "y_true": [True, False], "y_score": [2**53 + 1, 2**53]}


@each("make", [
    pd.DataFrame,
    lambda rows: pd.DataFrame(rows).convert_dtypes(),
    lambda rows: pd.DataFrame(rows).convert_dtypes(dtype_backend="pyarrow"),
    pa.table,
    lambda rows: pl.DataFrame(rows).with_columns(pl.col("model").cast(pl.Enum(["NA", "A"]))),
    lambda rows: pd.DataFrame(rows).astype({"model": "category", "fold": "category"}),
    lambda rows: pa.table({**rows, "model": pa.array(rows["model"], pa.large_string())}),
    lambda rows: pa.table({**rows, "model": pa.chunked_array([[m] for m in rows["model"]])}),
    lambda rows: pa.table(
        {**rows, "model": pa.chunked_array([pa.array([m]).dictionary_encode() for m in rows["model"]])}
    ),
])  # fmt: skip
def test_every_kind_of_frame(make):
    frame = load(make(ROWS)).frame
    assert {name: frame[name].tolist() for name in frame} == ROWS
    assert frame["y_score"].to_numpy().dtype == np.int64


@pytest.mark.parametrize("kind", [np.int64, np.uint64, np.float32, np.float16, np.uint8, np.bool_])
def test_parquet_and_polars_keep_the_dtype(tmp_path, kind):
    frame = pd.DataFrame(ROWS).assign(y_score=np.array([1, 0], dtype=kind))
    if kind != np.float16:
        frame.to_parquet(tmp_path / "scores.parquet")
        assert load(tmp_path / "scores.parquet").frame["y_score"].to_numpy().dtype == kind
        assert load(pl.from_pandas(frame)).frame["y_score"].to_numpy().dtype == kind
    assert load(frame).frame["y_score"].to_numpy().dtype == kind


KINDS_OF_FILES = [".csv", ".csv.gz", ".jsonl", ".parquet"]


@pytest.mark.parametrize("suffix", KINDS_OF_FILES)
def test_names_that_are_too_long_and_pipes_are_refused(tmp_path, suffix):
    for path in (tmp_path / f"{'x' * 300}{suffix}", tmp_path / ("y" * 5000)):
        expect_error(r"^'[xy]{60}' cannot be read: File name too long$", load, path)
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no pipes with names")
    os.mkfifo(tmp_path / f"scores{suffix}")
    with pytest.raises(InputError, match=r"^'scores.* is neither a file nor a folder \(a pipe can be read"):
        load(tmp_path / f"scores{suffix}")


def test_folders_that_cannot_be_entered(tmp_path, monkeypatch):
    pd.DataFrame(ROWS).to_parquet(tmp_path / "a.parquet")
    (tmp_path / "closed").mkdir()
    scandir = os.scandir

    def closed(path):
        if Path(path).name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", closed)
    expect_error(r"cannot be read: .*Permission denied$", load, tmp_path)


def test_a_file_that_may_not_be_read(tmp_path, monkeypatch):
    path = write(tmp_path, HEAD)

    def refuse(*_args, **_options):
        raise PermissionError(13, "Permission denied")

    for name in ("open", "exists"):
        with monkeypatch.context() as patched:
            patched.setattr(text_files if name == "open" else Path, name, refuse, raising=False)
            expect_error(r"^'scores\.csv' cannot be read: Permission denied$", load, path)


def test_an_archive_that_unpacks_to_one_endless_line(tmp_path):
    for name in ("scores.csv.gz", "scores.jsonl.gz"):
        path = write(tmp_path, f"{HEAD}\n" + "x" * (text_files.MAX_LINE_LENGTH + 1), name)
        with expect_error(f"^line 2 of '{name}' is longer than 16,777,216 characters; write"):
            load(path) if "csv" in name else load(write(tmp_path, "\n" + "x" * 2**24, name))


def test_a_table_that_does_not_fit_in_memory(tmp_path, monkeypatch):
    def full(_texts):
        raise MemoryError

    monkeypatch.setattr(text_files, "_parse_numbers", full)
    with pytest.raises(InputError, match=r"^'scores\.csv' does not fit in memory; keep fewer rows"):
        scores_of(tmp_path, ["+1"])  # as of unlabelled scores, which Dask does not compare
    with pytest.raises(InputError, match=r"not fit in memory; .*; only skewanova\.compare and .* in parts"):
        load_table(tmp_path / "scores.csv", ColumnMap.from_names({}))


PAIRS = {"model": ["A"] * 4, "fold": [1] * 4, "y_true": [0, 1] * 2, "y_score": [0.1, 0.9, 0.4, 0.8]}


def write_parquet(path, columns, metadata=None):
    names, arrays = zip(*columns, strict=True)
    table = pa.Table.from_arrays([pa.array(values) for values in arrays], names=list(names))
    pq.write_table(table.replace_schema_metadata(metadata), path)
    return path


def test_columns_that_are_not_needed_are_not_read(tmp_path):
    odd = [("x", [1] * 4), ("x", ["a"] * 4), ("vector", [[0.5] * 768] * 4), ("", [{"a": 1}] * 4)]
    assert len(read_scores(write_parquet(tmp_path / "s.parquet", [*PAIRS.items(), *odd])).frame) == 4
    doubled = write_parquet(tmp_path / "d.parquet", [*PAIRS.items(), ("fold", [2] * 4)])
    expect_error(r"^'d\.parquet' has the column 'fold' more than once; leave one out$", read_scores, doubled)
    path = write_parquet(tmp_path / "s.parquet", [*PAIRS.items(), ("note", ["here it is"] * 4)])
    data = path.read_bytes()
    assert data.count(b"here it is") >= 1
    start = pq.read_metadata(path).row_group(0).column(4).data_page_offset
    path.write_bytes(data[:start] + b"\xff" * 12 + data[start + 12 :])
    expect_error(r".", pq.read_table, path, error=OSError)
    assert len(read_scores(path).frame) == 4


@pytest.mark.parametrize("values", [[[0.1, 0.9]] * 4, [{"a": 1}] * 4, [[("a", 1)]] * 4])
@pytest.mark.parametrize("name", ["model", "fold", "y_true", "y_score", "case"])
def test_columns_of_several_values_a_row(tmp_path, name, values):
    is_map = isinstance(values[0], list) and isinstance(values[0][0], tuple)
    column = pa.array(values, pa.map_(pa.string(), pa.int64())) if is_map else pa.array(values)
    columns = [*(item for item in PAIRS.items() if item[0] != name), (name, column)]
    path = write_parquet(tmp_path / "s.parquet", columns)
    expect_error(rf"^'s\.parquet' must hold one value per row in '{name}', but", read_scores, path)


@pytest.mark.parametrize(
    "stored",
    [b"", b"{", b"\xff\xfe", b"[]", b"3", b"null", b"{}", b'"x"', b"[" * 100_000, b'{"index_columns": 3}',
     b'{"index_columns": [{"kind": "range"}, 3, null, ["model"]]}'],
)  # fmt: skip
def test_metadata_of_others_under_the_name_of_pandas(tmp_path, stored):
    path = write_parquet(tmp_path / "s.parquet", list(PAIRS.items()), {b"pandas": stored})
    assert len(read_scores(path).frame) == 4


ROW = {"model": "A", "fold": 1, "y_true": 0, "y_score": 0.25}


def write_json(folder, rows, name="scores.jsonl"):
    return write(folder, "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), name)


def rows_of(scores, **more):
    """Two cases a score, one of either class, so that every table is complete."""
    return [ROW | {"y_true": label, "y_score": score, **more} for score in scores for label in (0, 1)]


def scores_of_json(folder, scores, **options):
    return read_scores(write_json(folder, rows_of(scores)), **options).frame["y_score"].to_numpy()[::2]


@pytest.mark.parametrize("name", ["s.jsonl", "s.ndjson", "S.JSONL", "s.jsonl.gz", "s.ndjson.gz"])
def test_the_table_is_that_of_a_csv_file(tmp_path, name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "model": np.repeat(["A", "NA", "Ä,\n", "1"], 25), "fold": np.tile([10, 9, 2, 1, 3], 20),
        "y_true": np.tile([0, 1], 50), "y_score": rng.normal(size=100), "case": np.arange(100),
    })  # fmt: skip
    frame.to_csv(tmp_path / "s.csv", index=False)
    table = read_scores(write_json(tmp_path, frame.to_dict("records"), name))
    pd.testing.assert_frame_equal(table.frame, read_scores(tmp_path / "s.csv").frame)
    assert table.source.name == name


@pytest.mark.parametrize(("scores", "dtype", "values"), [
    ([2**53 + 1, 2**53], np.int64, [2**53 + 1, 2**53]), ([True, False], np.bool_, [True, False]),
    (["0.5", 1], np.float64, [0.5, 1.0]), ([2**70, 1], np.float64, [2.0**70, 1.0]),
])  # fmt: skip
def test_numbers_are_those_of_csv(tmp_path, scores, dtype, values):
    read = scores_of_json(tmp_path, scores)
    assert (read.dtype, read.tolist()) == (dtype, values)


def test_numbers_are_not_rounded_and_columns_renamed(tmp_path):
    lines = [json.dumps(row).replace('"big"', "1" + "0" * 3999) for row in rows_of(["big", 1])]
    with expect_error(r"^`y_score` must keep its order in 64 bits, but 'scores\.jsonl' has"):
        read_scores(write_json(tmp_path, lines))
    rows = [ROW | {"y_true": y, "y_score": named(("ham", 0.75), ("Spam", 0.25))} for y in ("ham", "spam")]
    for pos_label, score in [("spam", 0.25), ("ham", 0.75)]:
        frame = read_scores(write_json(tmp_path, rows), pos_label=pos_label).frame
        assert frame["y_score"].tolist() == [score] * 2
    lines = [
        "\ufeff"
        + '{"classifier": "B", "prediction": 0.5, "id": "x", "target": "spam", "run": 1, "note": [1]}',
        "",
        '  {"run": 1, "target": "ham", "id": "y", "prediction": 0.25, "classifier": "B"}  ',
    ]
    names = {"model": "classifier", "fold": "run", "y_true": "target", "y_score": "prediction", "case": "id"}
    frame = read_scores(write_json(tmp_path, lines), columns=names, pos_label="spam").frame
    assert frame["y_true"].tolist() == [True, False]
    assert (frame["y_score"].tolist(), frame["case"].tolist()) == ([0.5, 0.25], ["x", "y"])
    lines = [{"label": 1, "tree": 0.5, "net": 2}, {"net": 1, "label": 0, "tree": 0.25}]
    table = scores_from_wide(write_json(tmp_path, lines), y_true="label")
    assert (table.models, table.frame["y_score"].tolist()) == (("tree", "net"), [0.5, 0.25, 2, 1])
    two_weights = write_json(tmp_path, rows_of([0.5], weight=[1, 2]))
    expect_error(r"^`weight` at line 1 must hold one value, but has \[1, 2\]$", read_scores, two_weights)


def named(*pairs):
    return [{"label": label, "score": score} for label, score in pairs]


@pytest.mark.parametrize("score", [
    [0.75, 0.25], named(("NEGATIVE", 0.75), ("POSITIVE", 0.25)),
    named(("POSITIVE", 0.25), ("NEGATIVE", 0.75)), named(("LABEL_0", 0.75), ("LABEL_1", 0.25)),
    named((1, 0.25), (0, 0.75)), named((True, 0.25), (False, 0.75)),
])  # fmt: skip
@pytest.mark.parametrize("pos_label", [None, 1, "1"])
def test_the_positive_class_is_read_where_it_is_told(tmp_path, score, pos_label):
    assert scores_of_json(tmp_path, [score], pos_label=pos_label).tolist() == [0.25]


@pytest.mark.parametrize(("score", "pos_label", "message"), [
    ({"label": "POSITIVE", "score": 0.9}, None,
     "has {'label': 'POSITIVE', 'score': 0.9}, the score of one class only"),
    ([0.25, 0.75], "0", "has [0.25, 0.75] in the order of labels 0 and 1, but the positive class is '0'"),
    ([0.1, 0.2, 0.7], None, "has [0.1, 0.2, 0.7], in which the score of the positive class is not"),
    ([0.5], None, "has [0.5], in which"), ([], None, "has [], in which"),
    ({"0": 0.1, "1": 0.9}, None, "must hold one value"), (["1", "2"], None, "has ['1', '2'], in which"),
    (named(("a", 0.5), ("b", 1)), None, "has [{'label': 'a', 'score': 0.5}, {'label': 'b', 'score': 1}], in"),
    (named(("POSITIVE", 0.5), ("LABEL_1", 0.5)), None, "has [{'label': 'POSITIVE'"),
    (named(("POSITIVE", 0.5)), None, "has [{'label': 'POSITIVE'"),
    (named(("0", 0.1), ("1", 0.2), ("2", 0.7)), None, "has [{'label': '0'"),
    (named(("POSITIVE", [1]), ("NEGATIVE", 0)), None, "must hold one value, but has [1]"),
])  # fmt: skip
def test_scores_that_could_mean_several_things(tmp_path, score, pos_label, message):
    path = write_json(tmp_path, ["", *rows_of([0.5]), *rows_of([score])])
    expect_error(rf"^`y_score` at line 4 {re.escape(message)}", read_scores, path, pos_label=pos_label)
    if pos_label is None:  # unlabelled scores have no such option
        expect_error(r"^`y_score` at line 4 .*(?<!--positive LABEL)$", read_unlabelled, path)


@pytest.mark.parametrize(("line", "message"), [
    ('{"model": "A",', "line 3 of 'scores.jsonl' is not JSON: Expecting property name"),
    ("model,fold", "line 3 of 'scores.jsonl' is not JSON: Expecting value at column 1"),
    ("[1, 2]", 'line 3 of \'scores.jsonl\' must be a JSON object such as {"model": "A", ...}, but is [1, 2]'),
    ("[" * 200_000, "line 3 of 'scores.jsonl' is not JSON: "),
    (json.dumps(ROW)[:-1] + ', "fold": 2}', "line 3 of 'scores.jsonl' has the key 'fold' more than once"),
    ({"model": "A", "fold": 1, "y_true": 1},
     "`y_score` at line 3 is missing, but other objects have it; write it in each"),
    (ROW | {"y_score": "high"}, "`y_score` must hold real numbers, but 'scores.jsonl' has 'high' at line 3"),
    (ROW | {"y_score": None}, "`y_score` must not hold NaN or blanks, but has 1, the first at line 3"),
    (ROW | {"model": None}, "`model` must not be empty, but 1 row is, the first at line 3"),
    (ROW | {"model": {"name": "A"}}, "`model` at line 3 must hold one value, but has {'name': 'A'}"),
    (ROW | {"model": "\ud800"},
     "`model` at line 3 has an incomplete character in '\\ud800'; write it in full"),
    (ROW | {"case": 3}, "`case` at line 1 is missing, but other objects have it; write it in each"),
    (ROW | {"y_true": 2},
     "`y_true` must hold two classes, but has 3, first seen: 0 (line 1), 1 (line 2), 2 (line 3)"),
])  # fmt: skip
def test_broken_lines_are_named(tmp_path, line, message):
    expect_error(f"^{re.escape(message)}", read_scores, write_json(tmp_path, [*rows_of([0.5]), line]))
