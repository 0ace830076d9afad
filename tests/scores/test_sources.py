"""Every kind of source, tried for real: the same table, and errors in one line."""

import re
from functools import partial

import adbc_driver_sqlite.dbapi as sqlite
import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from loops import each
from messages import expect_error

import skewanova as sa
from skewanova.base.checks import InputError, InputTypeError
from skewanova.scores import columns, sources

RNG = np.random.default_rng(0)
TABLE = pd.DataFrame({
    "model": np.repeat(["b", "001", "1"], 12), "fold": np.tile(np.arange(12) % 2 + 9, 3),
    "case": np.tile(np.arange(12) * 3 - 5, 3), "y_true": np.tile(np.arange(12) // 2 % 2, 3),
    "y_score": RNG.normal(size=36),
})  # fmt: skip


class Stream:
    """An object that can be read as an Arrow stream, and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def arrow(frame):
    return pa.Table.from_pandas(frame, preserve_index=False)


OPEN = []


@pytest.fixture(autouse=True)
def closed_connections():
    yield
    while OPEN:
        OPEN.pop().close()


def cursor(frame):
    connection = sqlite.connect(autocommit=True)
    found = connection.cursor()
    OPEN.extend((connection, found))
    found.adbc_ingest("scores", arrow(frame), mode="replace")  # a database in memory is shared
    found.execute("select * from scores")
    return found


CONNECTION = duckdb.connect()  # relations of older versions do not keep theirs


def relation(frame):
    return CONNECTION.from_arrow(arrow(frame))


def lazy(frame):
    return pl.from_pandas(frame).lazy()


KINDS = {
    "a cursor of a database": cursor, "a relation of DuckDB": relation, "polars": pl.from_pandas,
    "polars, lazy": lazy, "polars, by narwhals": lambda frame: nw.from_native(pl.from_pandas(frame)),
    "pyarrow": arrow, "a reader of pyarrow": lambda frame: arrow(frame).to_reader(max_chunksize=5),
    "a stream": lambda frame: Stream(arrow(frame)),
    "a stream of pieces": lambda frame: Stream(
        pa.concat_tables([arrow(frame[i : i + 7]) for i in range(0, 36, 7)])),
    "a stream of categories": lambda frame: Stream(
        arrow(frame.astype({"model": "category", "fold": "category"}))),
}  # fmt: skip


@each("kind", KINDS)
@each("more", [{}, {"note": "x"}])
def test_every_source_gives_the_table_of_pandas(kind, more):
    shuffled = TABLE.sample(frac=1, random_state=1, ignore_index=True)
    table = sa.read_scores(KINDS[kind](shuffled.assign(**more)))
    expected = sa.read_scores(shuffled)
    pd.testing.assert_frame_equal(table.frame, expected.frame)
    assert (table.models, table.folds, table.source) == (expected.models, expected.folds, None)
    assert set(table.models) == {"b", "001", "1"}
    renamed = sa.read_scores(KINDS[kind](shuffled.rename(columns={"y_score": "p"})), columns={"y_score": "p"})
    pd.testing.assert_frame_equal(renamed.frame, expected.frame)


@each("kind", KINDS)
def test_what_is_wrong_is_told_alike(kind):
    frame = TABLE.assign(y_score=TABLE["y_score"].mask(TABLE.index == 7))
    with expect_error(r"^`y_score` must not hold NaN or blanks, but has 1, the first at row 7;"):
        sa.read_scores(KINDS[kind](frame))
    with expect_error("^`dataset` must not be empty, but 20 rows are, the first at row 0$"):
        sa.read_scores(KINDS[kind](TABLE.assign(dataset=[None] * 20 + ["x"] * 16)))
    name = "the query" if "DuckDB" in kind or "lazy" in kind else "the table"
    with expect_error(f"^{name} must have the column 'y_true', but has 'model', 'fold', 'case'"):
        sa.read_scores(KINDS[kind](TABLE.drop(columns="y_true")))
    with expect_error(r"^`y_score` must hold real numbers, but has dtype (str|object)", error=InputTypeError):
        sa.read_scores(KINDS[kind](TABLE.assign(y_score=TABLE["y_score"].astype(str))))


def test_queries_that_fail_columns_and_dates():
    bad = lazy(TABLE).with_columns(pl.col("model").cast(pl.Int8))
    broken = relation(TABLE).project("model::INT as model, fold, y_true, y_score")
    late = pl.DataFrame(TABLE).to_arrow()
    late = late.set_column(1, "fold", pa.array([86_400_000_000] * len(late)).view(pa.time64("us")))
    for query, reason in ((bad, "."), (broken, ".*Could not convert string"), (late, ".*time64")):
        with pytest.raises(InputError, match=f"^the query cannot be read: {reason}") as caught:
            sa.read_scores(query)
        assert "\n" not in str(caught.value)
    column = pl.Series([0.5, 1.0])
    for source in (column, column.to_pandas(), column.to_arrow()):
        expect_error(r"^scores must .*; make one by pandas\.D", sa.read_scores, source, error=InputTypeError)
    expect_error(r"scikit-learn by skewanova\.comp", sa.read_scores, {"params": []}, error=InputTypeError)
    table = pl.DataFrame({"model": "A", "fold": 1, "y_true": [0, 1], "y_score": ["0.5", "1.5"]})
    words = table.with_columns(pl.col("y_score").cast(pl.Categorical))
    dates = table.with_columns(pl.date(2020, 1, 1).alias("y_score"))
    for frame, rest in ((words, "convert the column to floats$"), (dates, "has dtype datetime64")):
        expect_error(f"^`y_score` must hold real .*{rest}", sa.read_scores, frame, error=InputTypeError)


def files(folder):
    TABLE.to_csv(folder / "s.csv", index=False)
    TABLE.to_csv(folder / "s.csv.gz", index=False)
    TABLE.to_json(folder / "s.jsonl", orient="records", lines=True)
    TABLE.to_parquet(folder / "s.parquet", index=False)
    return [folder / name for name in ("s.csv", "s.csv.gz", "s.jsonl", "s.parquet")]


def test_a_table_that_does_not_fit_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "find_free_memory", lambda: 500)
    for path in files(tmp_path):
        reader = {".csv": "csv", ".gz": "csv", ".jsonl": "json", ".parquet": "parquet"}[path.suffix]
        rows, plain = path.stat().st_size // 25, path
        if path.suffix == ".gz":  # which Dask cannot take apart
            rows, plain = 4 * path.stat().st_size // 25, path.with_suffix("")
        rows = 36 if reader == "parquet" else rows
        size = rf"{rows:,} rows, which take {rows * 30 / 1e9:.2g} GB of memory, but 5e-07 GB are free"
        code = re.escape(f"skewanova.compare(dask.dataframe.read_{reader}({str(plain)!r}")
        start = rf"^'{re.escape(path.name)}' holds about {size}; keep fewer rows, or "
        step = "unpacked, " * (plain != path)
        end = rf"in parts, {step}with Dask .*: import dask\.dataframe, skewanova; {code}"
        expect_error(f"{start}take a machine .* {end}", sa.read_scores, path)
    renamed = r"skewanova.compare\(skewanova.read_scores\(dask.*, columns={'model': 'y_true'}\)\)$"
    expect_error(renamed, sa.read_scores, tmp_path / "s.csv", columns={"model": "y_true"})
    for query in (relation(TABLE), lazy(TABLE)):
        with expect_error(r"^the query holds about 36 rows, which take 1\.1e-06 GB of memory"):
            sa.read_scores(query)
    for free in (36 * 30 / 0.9, None):  # nine tenths of the free memory suffice
        monkeypatch.setattr(sources, "find_free_memory", lambda free=free: free)
        assert sa.read_scores(lazy(TABLE)).counts.sum() == 36
    monkeypatch.setattr(sources, "find_free_memory", lambda: 36 * 30 / 0.9 - 1)
    expect_error("^the query holds about 36 rows", sa.read_scores, lazy(TABLE))


def pieces(folder, frame):
    for i, rows in enumerate(np.array_split(np.arange(len(frame)), 3)):
        (folder / f"part {i}").mkdir(parents=True)
        frame.iloc[rows].to_parquet(folder / f"part {i}" / "rows.parquet", index=False)
    (folder / "_metadata.parquet").write_bytes(b"of others")
    return folder


def hive(folder, frame):
    pq.write_to_dataset(arrow(frame), folder, partition_cols=["model", "fold"])
    return folder


@pytest.mark.parametrize("write", [pieces, hive])
def test_a_folder_is_one_table(tmp_path, monkeypatch, write):
    monkeypatch.setattr(sources, "BATCH_ROWS", 5)
    table = sa.read_scores(write(tmp_path / "rows", TABLE))
    expected = sa.read_scores(TABLE)
    assert (sorted(table.models), table.folds) == (sorted(expected.models), expected.folds)
    keys = ["model", "fold", "case"]
    for frame in (table.frame, expected.frame):
        frame[keys] = frame[keys].astype({"model": str})
    sort = {"by": keys, "ignore_index": True}
    frames = (one.frame.astype({"model": str, "fold": int, "case": int}) for one in (table, expected))
    pd.testing.assert_frame_equal(*(frame.sort_values(**sort) for frame in frames))


def test_folders_of_files_are_one_table_that_names_file_and_row(tmp_path):
    TABLE[:12].to_parquet(tmp_path / "a.parquet")
    smaller = {"fold": "int8", "y_score": "float32", "case": "int16"}
    TABLE[12:24].astype(smaller).to_parquet(tmp_path / "b.parquet")
    TABLE[24:].astype({"fold": str}).astype({"fold": "int32"}).to_parquet(tmp_path / "c.parquet")
    table = sa.read_scores(tmp_path)
    assert (table.models, table.folds, table.frame["y_score"].dtype) == (
        ("b", "001", "1"), (9, 10), np.float64
    )  # fmt: skip
    TABLE[:12].drop(columns="fold").to_parquet(tmp_path / "d.parquet")
    with expect_error(r"^`fold` must not be empty, but 12 rows are, the first at row 0 of 'd"):
        sa.read_scores(tmp_path)
    folder = pieces(tmp_path / "rows", TABLE.assign(y_score=TABLE["y_score"].mask(TABLE.index == 14)))
    expect_error(r"the first at row 2 of 'part 1/rows\.parquet';", sa.read_scores, folder)
    (tmp_path / "keys" / "model=a=b").mkdir(parents=True)
    TABLE[:12].drop(columns="model").to_parquet(tmp_path / "keys" / "model=a=b" / "rows.parquet")
    assert sa.read_scores(tmp_path / "keys").models == ("a=b",)


def test_damaged_row_groups_are_named(tmp_path):
    frame = pd.concat([TABLE] * 10, ignore_index=True).drop(columns="case")
    path = tmp_path / "s.parquet"
    frame.to_parquet(path, row_group_size=100, compression="none", index=False)
    column = pq.read_metadata(path).row_group(2).column(3)
    data = bytearray(path.read_bytes())
    start = column.dictionary_page_offset or column.data_page_offset
    data[start : start + 40] = b"\xff" * 40
    path.write_bytes(data)
    place, end = r"row group 2 \(rows 200 to 299\)", "if it is damaged or of another format, write it anew"
    with pytest.raises(InputError, match=rf"^'s\.parquet' cannot be read: {place}: .*; {end}$") as caught:
        sa.read_scores(path)
    assert "\n" not in str(caught.value)


PLAIN = [(["-9", "-10", "0", "128"], True), (["7", "012"], False), ([20 * "0", None], False), ([], True)]


def test_text_of_plain_whole_numbers_alone_is_read_as_numbers():
    schema = pa.schema([("case", pa.string())])
    read = partial(columns.read_batches, schema=schema, labels=["case"], source="the table")
    names = [*map(str, range(30, 10, -1)), *(f"{i:03d}" for i in range(16))]  # the later ones are text
    found = read([pa.array(names[i : i + 7])] for i in range(0, 36, 7))["case"]
    assert (list(found), list(found.cat.categories)) == (names, names)
    for texts, plain in PLAIN:
        found = read([[pa.array(texts, pa.string())]])["case"]
        assert (found.dtype.kind == "i") == plain
        expected = [*map(int, texts)] if plain else texts
        assert found.astype(object).where(found.notna(), None).tolist() == expected
    for kind in ("int8", "float32", "bool"):
        assert read([[pa.array(np.array([0, 1], kind))]])["case"].dtype == kind
    codes = np.array([0, 2, 1], dtype=np.int8)
    assert columns.encode_whole_numbers(codes)[0] is codes
    lists = [-500, 508], [1 - 10**18], [-500, 509], [-(10**18)]  # the range may be 4 a row and 1,000
    assert [columns.encode_whole_numbers(np.array(x)) is None for x in lists] == [False, False, True, True]
    raw = columns.RawTable(TABLE).take(np.array([3, 1]))
    assert (list(raw.frame), raw.where(0)) == (list(TABLE), "row 3")
    for count, end in ((20, "'c19'; map"), (21, "'c19' and 1 more; map")):
        expect_error(end, sa.read_scores, pd.DataFrame(columns=[f"c{i}" for i in range(count)]))


KEYS = {
    "whole": TABLE["case"], "text of whole numbers": TABLE["case"].astype(str),
    "text with zeros": TABLE["case"].map("{:03d}".format), "text": TABLE["case"].map("case {}".format),
    "fractions": TABLE["case"] / 4, "unsigned": (TABLE["case"] + 5).astype("uint64") + np.uint64(2**63),
    "far between": TABLE["case"] * 10**15, "days": pd.to_datetime(TABLE["case"] + 10, unit="D"),
    "truth": TABLE["case"] > 3,
}  # fmt: skip


@pytest.mark.parametrize("column", ["case", "fold"])
@pytest.mark.parametrize("kind", KEYS)
def test_names_of_any_type_are_those_of_pandas(tmp_path, monkeypatch, kind, column):
    monkeypatch.setattr(sources, "BATCH_ROWS", 5)
    frame = TABLE.drop(columns="case").assign(**{column: KEYS[kind]})
    if column == "fold" or kind == "truth":
        frame = frame.assign(y_true=TABLE.groupby(frame[column]).cumcount() % 2)
        frame = frame.assign(fold=1) if column == "case" else frame
    frame.to_parquet(tmp_path / "s.parquet", index=False)

    def told(source):
        try:
            return sa.read_scores(source).frame.astype({"model": str}).to_dict("list")
        except InputError as error:
            return str(error)

    assert (told(tmp_path / "s.parquet"), told(Stream(arrow(frame)))) == (told(frame), told(frame))
    if kind != "days":
        frame.to_csv(tmp_path / "s.csv", index=False)
        expected = told(frame)
        if isinstance(expected, str):
            expected = re.sub(r"row (\d+)", lambda found: f"line {int(found[1]) + 2}", expected)
        assert told(tmp_path / "s.csv") == expected


@pytest.mark.slow
def test_data_sets_of_hugging_face():
    datasets = pytest.importorskip("datasets")  # of the dependency group `bridges`
    data = datasets.Dataset.from_pandas(TABLE)
    expected = sa.read_scores(TABLE).frame
    for table in (data, data.with_format("numpy"), data.to_iterable_dataset()):
        pd.testing.assert_frame_equal(sa.read_scores(table).frame, expected)
    mixed = RNG.permutation(len(TABLE))
    shuffled = sa.read_scores(data.select(mixed)).frame
    pd.testing.assert_frame_equal(shuffled, sa.read_scores(TABLE.iloc[mixed]).frame)
    expect_error("^the score table must hold at least one row, but is emp", sa.read_scores, data.select([]))
    remedy = r"pass one of its splits, such as scores\['test'\]"
    message = rf"^scores must be a path .* but got DatasetDict; {remedy}$"
    expect_error(message, sa.read_scores, datasets.DatasetDict({"test": data}), error=InputTypeError)


def test_tables_do_not_follow_later_changes_of_a_frame():
    frame = TABLE.copy()
    table = sa.read_scores(frame)
    expected = table.to_frame()
    frame.loc[:, "y_score"] = 0.5
    pd.testing.assert_frame_equal(table.to_frame(), expected)
