"""Frames of Dask in two processes, and of Spark, against the same rows in memory."""

import errno
import gc
import os
import shutil
import signal
import sys
import time
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import joblib
import pandas as pd
import pyarrow.parquet as pq
import pytest
from loops import each
from messages import expect_error
from rows_elsewhere import (
    SET_OPTIONS,
    assert_alike,
    assert_nearly_alike,
    assert_sampled_alike,
    by_names,
    cases_of,
    mixed,
    sampled,
    table,
)

import skewanova as sa
from skewanova.base.checks import DiskFullError, InputError
from skewanova.distributed import backends, packing
from skewanova.distributed.packing import PersistedCases
from skewanova.scores.design import infer_design
from studies.areas import estimators_study

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    # the workers' event loops may outlive the last reference to their sockets
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

FRAMES = "auprec iauprec tests pairs ranking regions crossings leaders difference_curves decisions plans"


def assert_compared_alike(source, frame):
    """The whole comparison, to the last bit."""
    options = {"deployment_prior": (0.05, 0.2), "at_priors": (0.5, 0.2)}
    found, here = sa.compare(source, **options), sa.compare(frame, **options)
    for name in FRAMES.split():
        pd.testing.assert_frame_equal(found.tables[name], here.tables[name], check_exact=True)
    assert (found.design, found.warnings) == (here.design, here.warnings)
    assert str(found.verdict) == str(here.verdict)
    return found


@contextmanager
def told_in_one_line(message, kind=InputError):
    with pytest.raises(kind, match=message) as told:
        yield
    assert "\n" not in str(told.value)


@pytest.fixture(scope="module")
def spill(tmp_path_factory):
    """Where the workers write what they shuffle."""
    return tmp_path_factory.mktemp("spill")


@pytest.fixture(scope="module")
def client(spill):
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    cluster = distributed.LocalCluster(**settings, local_directory=spill)
    with cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def frame():
    """Rows of every group spread over all partitions."""
    scores = sa.load_satellite_scores().select_folds(range(1, 7))
    return scores.frame.sample(frac=1, random_state=0).astype({"model": str})


def partitioned(frame, n=3):
    return dd.from_pandas(frame.reset_index(drop=True), npartitions=n, sort=False)


@pytest.mark.slow
def test_comparing_on_the_cluster_is_comparing_in_memory(client, frame, tmp_path):
    found = assert_compared_alike(partitioned(frame), frame)
    assert found.source is None
    found.save(tmp_path / "out", figures="none")
    assert (tmp_path / "out" / "tables" / "ranking.csv").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("client", "small_workers")
def test_groups_in_pieces_come_from_dask():
    frame = table()
    assert_alike(sa.read_scores(partitioned(frame)), sa.read_scores(frame))


def damage(path, group, column):
    """Overwrite the head of one column in one row group."""
    metadata = pq.read_metadata(path).row_group(group)
    chunks = [metadata.column(i) for i in range(metadata.num_columns)]
    start = next(one.data_page_offset for one in chunks if one.path_in_schema == column)
    content = bytearray(path.read_bytes())
    content[start : start + 8] = b"\xff" * 8
    path.write_bytes(content)


#: A file of several row groups of which one is damaged.
DAMAGED = r"'b å\.parquet' cannot be read: row group 2 \(rows 200 to 299\): \S"


def two_files(folder):
    """A whole file and a damaged one, with a column that is of no use."""
    frame = table().assign(vector=[[0.5]] * 480)
    for name in ("a", "b å"):
        frame.to_parquet(folder / f"{name}.parquet", index=False, row_group_size=100)
    damage(folder / "b å.parquet", 2, "y_score")
    return str(folder)


@pytest.mark.parametrize("path", [str, "file://{}".format, "{}/*.parquet".format])
def test_a_row_group_that_is_damaged_is_named_in_one_line(tmp_path, path):
    rows = dd.read_parquet(path(two_files(tmp_path)))
    with told_in_one_line(f"^the Dask frame: {DAMAGED}"), dask_here():
        sa.read_scores(rows)


def assert_no_files_stay(folder):
    """Wait until shuffles leave no file but locks of a cluster that runs: folders of dead workers go late."""
    for _ in range(100):
        names = [name for _, _, files in os.walk(folder) for name in files if not name.endswith("lock")]
        if not names:
            return
        time.sleep(0.1)
    raise AssertionError(f"files stay: {names}")


def test_a_file_that_is_gone_is_told_in_one_line(tmp_path):
    table().to_parquet(tmp_path / "a.parquet", index=False)
    rows = dd.read_parquet(tmp_path)
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(InputError, match=r"^the Dask frame cannot be read: .*a\.parquet'?$"), dask_here():
        sa.read_scores(rows)


#: What is said of workers that ended.
ROOM = "the rows of one model in one fold must fit in the memory of a worker"


def end_process(part):
    """What a system does that has no memory left."""
    if len(part):
        os.kill(os.getpid(), signal.SIGKILL)
    return part


@pytest.mark.slow
def test_a_cluster_that_is_gone_and_a_disk_that_is_full_are_told_in_one_line(tmp_path, monkeypatch):
    settings = {"n_workers": 1, "processes": False, "dashboard_address": ":0"}
    full = r"^the Dask frame cannot be read: .*No space left on.*full$"
    rows = partitioned(table())
    soon = {"distributed.comm.timeouts.connect": "3s", "distributed.p2p.comm.retry.count": 0}
    with dask.config.set(soon):
        cluster = distributed.LocalCluster(**settings, local_directory=tmp_path / "spill")
        with cluster, distributed.Client(cluster):
            with monkeypatch.context() as patch:
                patch.setattr("distributed.shuffle._disk.DiskShardsBuffer._process", out_of_room)
                with expect_error(full, error=DiskFullError):
                    sa.compare(rows).save(tmp_path / "out")
            assert_no_files_stay(tmp_path)
            CLUSTERS[:] = [cluster]
            with told_in_one_line(r"was the connection to the cluster lost\?$"):
                sa.compare(rows.map_partitions(leave, meta=rows._meta)).save(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["spill"]
    assert_no_files_stay(tmp_path)


def test_a_shuffle_that_tells_only_words_is_told_and_a_fault_of_ours_is_not_hidden():
    inner = RuntimeError("Unexpected error encountered: OSError(28, 'No space left on device')")
    full = r"^it cannot be read: Unexpected error .*; the disk for .* full$"
    engine = SimpleNamespace(name="it", _errors=lambda: (OSError,), _describe_damage=lambda: None)
    with pytest.raises(DiskFullError, match=full), backends.Backend._translate_errors(engine):
        raise RuntimeError("P2P 1 failed during barrier phase") from inner
    with pytest.raises(RuntimeError, match="a bug"), backends.Backend._translate_errors(engine):
        raise RuntimeError("a bug")


CLUSTERS = []


def leave(part):
    """End the scheduler while a worker, a thread of this process, is at work."""
    if CLUSTERS and len(part):
        cluster = CLUSTERS.pop()
        cluster.loop.add_callback(cluster.scheduler.close)
        time.sleep(0.5)
    return part


def out_of_room(*_args):
    raise OSError(errno.ENOSPC, "No space left on device")


def dask_here():
    """Dask in this process alone."""
    return dask.config.set({"scheduler": "synchronous", "dataframe.shuffle.method": "tasks"})


@each(("change", "message"), [
    (lambda f: f.assign(y_score=f["y_score"].where(f.index != 5)), "`y_score` must not hold NaN or blanks"),
    (lambda f: f.drop(columns=["y_score"]), "^the Dask frame must have the column 'y_score', but has 'mod"),
    (lambda f: f.assign(dataset=f["fold"] % 2), r"^the table holds 2 data sets \(column 'dataset'\), whose"),
    (lambda f: f.assign(dataset=f["fold"].where(f["fold"] == 1)), "^the table holds 2 data sets"),
    (lambda f: f[:0], "^the score table must hold at least one row, but is empty$"),
])  # fmt: skip
def test_rules_hold_on_the_workers(client, frame, change, message):
    bad = change(frame.reset_index(drop=True).astype({"fold": int}))
    expect_error(message, sa.evaluate, partitioned(bad))


def test_simulations_spread_over_the_cluster(client):
    run = {"settings": ["binormal", "bibeta"], "sizes": [20], "replicates": 2, "rng": 3, "progress": False}
    alone = estimators_study(n_jobs=1, **run).to_frame()
    with joblib.parallel_config(backend="dask"):
        spread = estimators_study(n_jobs=2, **run).to_frame()
    pd.testing.assert_frame_equal(alone, spread, check_exact=True)
    assert any(client.run(lambda: "studies.areas" in sys.modules).values())


def test_workers_that_are_killed_are_told_in_one_line(client, spill, tmp_path, monkeypatch):
    rows = partitioned(table())  # the last test of this cluster: its workers begin anew
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    with told_in_one_line(rf"^the Dask frame cannot be read: Attempted .*{ROOM}$"):
        sa.compare(rows.map_partitions(end_process, meta=rows._meta)).save(tmp_path / "out")
    assert not [*tmp_path.iterdir()]
    assert_no_files_stay(spill)


def test_frames_of_dask_without_folds_or_names_of_cases():
    frame = table()[lambda rows: rows["fold"] == 1]
    rows = dd.from_pandas(frame.drop(columns="fold"), npartitions=3)
    note = "^there is no column fold, so all rows are taken as one test"
    with pytest.warns(sa.SkewanovaWarning, match=note) as caught, dask_here():
        found = sa.read_scores(rows)
    assert len(caught) == 1
    assert_alike(found, sa.read_scores(frame))
    for design in ("one test set", "clusters, weights"):
        rows = partitioned(cases_of(design).drop(columns="case"))
        with told_in_one_line("rows of Dask and Spark have no order; add a column case"), dask_here():
            sa.compare(rows)


KINDS = {"one test set": "test_set", "runs": "runs", "clusters, weights": "test_set"}


@pytest.mark.parametrize("design", KINDS)
def test_designs_over_cases_are_compared_as_in_memory(design):
    frame = cases_of(design)
    mixed = frame.sample(frac=1, random_state=1).rename(columns={"y_score": "p"})
    with dask_here():
        found = sa.read_scores(partitioned(mixed), columns={"y_score": "p"})
    pd.testing.assert_frame_equal(found.frame, sa.read_scores(by_names(frame)).frame)
    assert infer_design(found).kind == KINDS[design]


def test_what_does_not_fit_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr("skewanova.distributed.loading.find_free_memory", lambda: 180 * 200)
    rows = partitioned(cases_of("one test set").assign(part="holdout", halving=None))
    with dask_here(), pytest.raises(InputError, match=r"leave out these columns \(and, of halv"):
        sa.compare(rows)
    with dask_here():  # as the message says
        sa.read_scores(rows[rows["part"] == "holdout"].drop(columns=["part", "halving"]))


@pytest.mark.slow
@pytest.mark.usefixtures("client", "stays")
def test_a_set_stays_with_dask(test_set, set_here):
    assert_nearly_alike(sa.compare(partitioned(mixed(test_set)), **SET_OPTIONS), set_here)


@pytest.mark.slow
@pytest.mark.usefixtures("client", "stays")
def test_clusters_and_weights_stay_with_dask():
    for n_folds, same in ((1, True), (4, False)):
        frame = sampled("clusters and weights", n=600, n_folds=n_folds, same=same)
        assert_sampled_alike(partitioned(mixed(frame)), frame)


class Py4JError(Exception):
    """Stands in for what py4j raises."""


class Py4JNetworkError(Py4JError):
    """The same."""


class GoneFrame:
    """A frame of a session whose Java has ended."""

    def __init__(self, error):
        self.error = error

    def fail(self):
        raise self.error

    columns = property(fail)
    count = inputFiles = unpersist = fail


@pytest.fixture
def py4j(monkeypatch):
    """The errors of Spark and py4j, installed or not."""
    for name, kind in (("pyspark.errors", "PySparkException"), ("py4j.protocol", "Py4JError")):
        monkeypatch.setitem(sys.modules, name, SimpleNamespace(**{kind: Py4JError}))


@pytest.mark.usefixtures("py4j")
@each("error", [
    Py4JNetworkError("Answer from Java side is empty"),
    Py4JError("An error occurred while calling o60.count"),
    ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
])  # fmt: skip
def test_a_lost_gateway_is_told_in_one_line(error):
    gone = GoneFrame(error)
    told = rf"^the Spark frame cannot be read: .*{error.args[-1]}; was the connection to the cluster lost\?$"
    expect_error(told, backends.SparkFrame(gone).n_rows)
    with pytest.raises(InputError, match=told):
        _ = backends.SparkFrame(gone).names
    PersistedCases((), backends.SparkFrame(gone), gone)  # to be let go is no news either: pytest would tell
    gc.collect()


@pytest.mark.usefixtures("py4j")
def test_errors_of_java_are_no_lost_gateway_and_of_a_full_disk_told_as_such():
    for words in ("An error occurred while calling o6.count. Trace:\njava.lang", "Method f does not exist"):
        with pytest.raises(InputError) as told:
            _ = backends.SparkFrame(GoneFrame(Py4JError(words))).names
        assert str(told.value) == f"the Spark frame cannot be read: {words.splitlines()[0]}"
    words = "An error occurred while calling o6.count.\n: java.io.IOException: No space left on device"
    with pytest.raises(DiskFullError, match=r"o6\.count\.; the disk for temporary rows is full$"):
        _ = backends.SparkFrame(GoneFrame(Py4JError(words))).names


@pytest.fixture(scope="module")
def spark():
    """Two worker threads, each with a Python process."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.log.level": "OFF",
        "spark.driver.bindAddress": "127.0.0.1", "spark.sql.shuffle.partitions": "2",
    }  # fmt: skip
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    with suppress(OSError):  # the last test ends its Java
        session.stop()


def test_comparing_on_spark_is_comparing_in_memory(spark, tmp_path):
    frame = sa.load_satellite_scores().select_folds(range(1, 7)).frame.astype({"model": str, "fold": int})
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "scores.parquet", index=False)
    rows = spark.read.parquet(str(tmp_path / "scores.parquet"))
    assert_compared_alike(rows, frame)
    dotted = rows.withColumnRenamed("y_score", "the `score`.1")
    assert_alike(sa.read_scores(dotted, columns={"y_score": "the `score`.1"}), sa.read_scores(frame))
    expect_error(r"^the table holds 2 data sets", sa.compare, rows.withColumn("dataset", rows["fold"] % 2))
    expect_error(r"^the Spark frame must have the column 'y_score', but has 'model'", sa.compare, dotted)
    expect_error(r"^the score table must hold at least one row", sa.compare, rows.filter("fold < 0"))
    first = frame.index == frame.index[frame["model"] == "A"][0]
    frame.assign(y_score=frame["y_score"].mask(first)).to_parquet(tmp_path / "nan.parquet", index=False)
    with told_in_one_line(r"^`y_score` must not hold NaN or blanks, .* of model 'A' in fold 1;"):
        sa.compare(spark.read.parquet(str(tmp_path / "nan.parquet")))


@pytest.mark.usefixtures("small_workers")
def test_groups_in_pieces_come_from_spark(spark, tmp_path):
    table().to_parquet(tmp_path / "s.parquet", index=False)
    assert_alike(sa.read_scores(spark.read.parquet(str(tmp_path / "s.parquet"))), sa.read_scores(table()))


@pytest.mark.usefixtures("stays")
def test_a_set_stays_with_spark(spark, test_set, set_here, tmp_path):
    mixed(test_set).to_parquet(tmp_path / "s.parquet", index=False)
    assert_nearly_alike(sa.compare(spark.read.parquet(str(tmp_path / "s.parquet")), **SET_OPTIONS), set_here)


@pytest.mark.usefixtures("stays")
def test_clusters_and_weights_stay_with_spark(spark, tmp_path, monkeypatch):
    frames = sampled("clusters and weights"), sampled("clusters and weights", n_folds=4, same=False)
    for i, frame in enumerate(frames):
        path = tmp_path / f"{i}.parquet"
        mixed(frame).to_parquet(path, index=False)
        assert_sampled_alike(spark.read.parquet(str(path)), frame)
    monkeypatch.setattr(packing, "MAX_GROUP_ROWS", 40)
    assert_sampled_alike(spark.read.parquet(str(path)), frame)


def test_a_file_that_spark_cannot_read_is_told_in_one_line(spark, tmp_path):
    table().to_parquet(tmp_path / "s.parquet", index=False)
    rows = spark.read.parquet(str(tmp_path / "s.parquet"))
    (tmp_path / "s.parquet").unlink()
    with told_in_one_line(r"^the Spark frame cannot be read: ."):
        sa.read_scores(rows)
    with told_in_one_line(f"^the Spark frame: {DAMAGED}"):
        sa.read_scores(spark.read.parquet(two_files(tmp_path)))


def test_designs_over_cases_and_workers_that_die_on_spark(spark, tmp_path):
    frame = cases_of("clusters, weights")
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "s.parquet", index=False)
    rows = spark.read.parquet(str(tmp_path / "s.parquet"))
    assert sa.read_scores(rows).sha256() == sa.read_scores(by_names(frame)).sha256()
    plain = rows.drop("cluster", "weight")
    assert infer_design(sa.read_scores(plain)).kind == "test_set"

    def die(batches):  # sent as it stands, since workers do not know this file
        return (os._exit(1) for _ in batches)

    ended = plain.mapInArrow(die, plain.schema)
    with told_in_one_line(rf"^the Spark frame cannot be read: .*{ROOM}$"):
        sa.read_scores(ended)


def test_a_gateway_that_is_lost_leaves_nothing(spark, tmp_path):
    table().to_parquet(tmp_path / "s.parquet", index=False)
    rows = spark.read.parquet(str(tmp_path / "s.parquet"))
    java = spark.sparkContext._gateway.proc  # the last test of this session
    java.kill()
    java.wait()
    with told_in_one_line(r"^the Spark frame cannot be read: .*connection to the cl.*\?$"):
        sa.compare(rows).save(tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir()] == ["s.parquet"]
