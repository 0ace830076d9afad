"""Groups gathered from where their rows are: in this process, by Dask in two processes, by Spark."""

import dataclasses
import errno
import gc
import os
import pickle
import re
import shutil
import signal
import sys
import time
from contextlib import suppress
from types import SimpleNamespace

import joblib
import numpy as np
import pandas as pd
import pytest
from damaged_files import damaged

import skewanova as sa
from skewanova.base.checks import FullDiskError, InputError, InputTypeError
from skewanova.curves.groups import PackedCurve
from skewanova.scores import engine_cases, engines, gathering, packing
from skewanova.scores.design import find_resampling
from skewanova.scores.pairing import check_paired, describe_table
from skewanova.scores.reading import open_scores
from skewanova.studies.areas import estimators_study

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = [
    pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning"),
    # the workers' event loops may outlive the last reference to their sockets
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
]

OPTIONS = {"priors": (0.5, 0.2, 0.01), "deployment_prior": sa.UniformSkew(4, 19), "area_estimator": "exact"}


FRAMES = "auprec iauprec anova posthoc ranking regions crossings leaders difference_curves decisions plans"


class Here:
    """Rows in this process, in pieces: groups and cases are brought together as engines do."""

    name = "the frame"

    def __init__(self, frame):
        self.frame = frame
        self.names = list(frame)

    def n_rows(self):
        return len(self.frame)

    def rows(self, columns):
        return self._chosen(columns)

    def n_distinct(self, column):
        return self.frame[column].nunique()

    def largest_group(self, columns):
        return int(self._chosen(columns).groupby(engines.keys_of(columns), dropna=False).size().max())

    def each_group(self, columns, function):
        return engines.of_groups(self._chosen(columns), keys=engines.keys_of(columns), function=function)

    def each_part(self, columns, function):
        return [function(part) for part in self._parts(columns)]

    def each_piece(self, columns, count, function):
        counts = pd.concat([count(part) for part in self._parts(columns)])
        return engines.of_groups(counts, keys=[*engines.keys_of(columns), "piece"], function=function)

    def _parts(self, columns):
        rows = self._chosen(columns)
        return [rows[start : start + 150] for start in range(0, len(rows) + 1, 150)]

    def each_bucket(self, columns, function, by):
        marked = engines.with_bucket(self._chosen(columns), by)
        return engines.of_groups(marked, keys=("bucket",), function=function)

    def keep_buckets(self, columns, function, by):
        return KeptHere(self.each_bucket(columns, function, by))

    def _chosen(self, columns):
        return self.frame[list(columns.values())].set_axis(list(columns), axis=1)


class KeptHere:
    def __init__(self, found):
        self.found = found

    def each(self, function):
        return engines.of_all(pickle.loads(pickle.dumps(function)), self.found)


def gathered(frame, **options):
    names = ("model", "fold", "y_true", "y_score", "case", "cluster", "weight")
    columns = {name: name for name in names if name in frame}
    return gathering.gather(Here(frame), columns, **{"pos_label": None, **options})


def table(seed=0):
    """Three models on the same cases of four folds, which overlap; some scores are tied."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation([0, 1] * 50)
    case = np.concatenate([rng.choice(100, 40, replace=False) for _ in range(4)])
    rows = pd.DataFrame({"fold": np.repeat([4, 3, 2, 1], 40), "case": case, "y_true": truth[case]})
    scored = (rows.assign(model=m, y_score=rng.normal(size=160).round(1) + rows["y_true"]) for m in "abc")
    return pd.concat(scored, ignore_index=True).sample(frac=1, random_state=seed, ignore_index=True)


def assert_alike(found, read):
    """Same counts, curves and facts about the cases, whatever order the models have."""
    assert (sorted(found.models), found.folds) == (sorted(read.models), read.folds)
    order = [read.models.index(model) for model in found.models]
    assert found.counts.tolist() == read.counts[order].tolist()
    assert set(found.curves()) == set(read.curves())
    for cell, curve in read.curves().items():
        other = found.curves()[cell]
        assert (other.fpr.tolist(), other.tpr.tolist()) == (curve.fpr.tolist(), curve.tpr.tolist())
    assert found.has_cases == read.has_cases
    if read.has_cases:
        assert found.unpaired()[0] == read.unpaired()[0]
        assert found.shared_cases()[1] == read.shared_cases()[1]
        assert found.shared_cases()[0].tolist() == read.shared_cases()[0].tolist()
        assert found.class_sizes() == read.class_sizes()


# --- in this process --------------------------------------------------------------------------------------

CASES = {
    "whole": lambda case: case,
    "two spellings": lambda case: case.astype(str) + np.where(case.index % 2, ".0", ""),
    "text": lambda case: "case-" + case.astype(str),
    "some whole": lambda case: case.astype(str).where(case > 3, "x" + case.astype(str)),
    "categories": lambda case: ("c" + case.astype(str)).astype("category"),
    "fractions": lambda case: case / 7,
    "dates": lambda case: pd.Timestamp("2020-01-01") + pd.to_timedelta(case, unit="D"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CASES)
def test_cases_of_any_kind_are_those_of_memory(kind, monkeypatch):
    monkeypatch.setattr(engine_cases, "BUCKET_ROWS", 50)
    frame = table()
    frame["case"] = CASES[kind](frame["case"])
    assert_alike(gathered(frame), sa.read_scores(frame))


@pytest.mark.parametrize(
    ("column", "change"),
    [
        ("case", None),
        ("fold", lambda f: f.astype(float)),
        ("fold", lambda f: "cv" + f.astype(str)),
        ("fold", lambda f: f.astype(str).where(f > 1, "x")),
        ("y_true", lambda y: y.map({0: "-1", 1: "1.0"})),
        ("y_true", lambda y: y.astype(bool)),
        ("y_score", lambda s: (s * 10).astype(np.int64) + 2**53),
        ("model", lambda m: m.map({"a": "NA", "b": "../x", "c": "C(x) = 'é'"}).astype("category")),
    ],
)
def test_columns_of_any_type_are_those_of_memory(column, change):
    frame = table()
    frame = frame.drop(columns=column) if change is None else frame.assign(**{column: change(frame[column])})
    read = sa.read_scores(frame)
    if column == "fold":  # text in the order of first appearance there, in that of names here
        read = dataclasses.replace(read, frame=read.frame.assign(fold=sorted_levels(read.frame["fold"])))
    assert_alike(gathered(frame), read)


def sorted_levels(fold):
    return fold.cat.reorder_categories(sorted(fold.cat.categories))


def test_without_a_column_of_folds_all_rows_are_one_test_set():
    frame = table()[lambda rows: rows["fold"] == 1]
    found = gathered(frame.drop(columns="fold"))
    assert_alike(found, sa.read_scores(frame))
    assert list(found.ties()) == sorted(sa.read_scores(frame).ties())
    message = r"^`y_score` must not hold NaN, .* row 2 of those of model 'A' in fold 1$"
    rows = pd.DataFrame({"model": "A", "y_true": [0, 1, 1], "y_score": [0.1, 0.2, np.nan]})
    with pytest.raises(InputError, match=message):
        gathered(rows)


def test_a_frame_of_dask_without_a_column_of_folds_is_one_test_set():
    frame = table()[lambda rows: rows["fold"] == 1]
    rows = dd.from_pandas(frame.drop(columns="fold"), npartitions=3)
    with pytest.warns(sa.SkewanovaWarning, match="^there is no column fold: all rows are taken as one test"):
        found = sa.stream_scores(rows)
    assert_alike(found, sa.read_scores(frame))


def test_the_positive_label_is_one_for_all_groups():
    words = table().assign(y_true=lambda f: f["y_true"].map({0: "ill", 1: "well"}))
    assert_alike(gathered(words, pos_label="ill"), sa.read_scores(words, pos_label="ill"))
    with pytest.raises(InputError, match=r"has the labels 'ill', 'well': say which is the positive class"):
        gathered(words)
    other = table().assign(y_true=lambda f: f["y_true"] - (f["y_true"] == 0) * (f["model"] == "c"))
    with pytest.raises(
        InputError, match=r"must hold two classes, but has 3, first seen: -1 \(model 'c' in fold '1'"
    ):
        gathered(other)


def test_what_is_wrong_across_groups_is_told_as_in_memory():
    frame = table()
    odd = (frame["model"] == "b") & frame["case"].isin([7, 11])
    for broken, check in (
        (frame.assign(y_true=frame["y_true"].where(~odd, 1 - frame["y_true"])), None),
        (frame.assign(case=frame["case"].where(~odd, frame["case"] + 1000)), check_paired),
    ):
        said = []
        for read in (sa.read_scores, gathered):
            with pytest.raises(
                InputError, match=r"cases have both, the first: 7, 11|pairs lack a model"
            ) as told:
                check(read(broken))
            said.append(str(told.value))
        assert said[0] == said[1]


def test_scores_that_are_no_numbers_keep_their_type_of_error():
    with pytest.raises(
        InputTypeError, match=r"`y_score` must hold real numbers.* at row 0 of those of model 'a'"
    ):
        gathered(table().sort_values("model").assign(y_score="high"))
    with pytest.raises(InputError, match=r"^a fold must be spelled in one way"):
        gathered(table().assign(fold=lambda f: f["fold"].astype(str) + np.where(f["case"] % 2, "", ".0")))


def test_a_fingerprint_tells_curves_apart():
    first, again = gathered(table()), gathered(table().sample(frac=1, random_state=5))
    assert first.sha256() == again.sha256()
    assert first.sha256() != gathered(table(seed=1)).sha256()
    assert repr(first) == "<StreamedScores: 480 rows, 3 models x 4 folds>"
    assert describe_table(first)[0] == "480 rows: 3 models x 4 folds"


def assert_compared_alike(source, frame):
    """The whole comparison, to the last bit."""
    options = {"deployment_prior": (0.05, 0.2), "priors": (0.5, 0.2)}
    found, here = sa.compare(source, **options), sa.compare(frame, **options)
    for name in FRAMES.split():
        pd.testing.assert_frame_equal(getattr(found, name), getattr(here, name), check_exact=True)
    assert (found.design, found.warnings) == (here.design, here.warnings)
    assert str(found.verdict) == str(here.verdict)
    return found


# --- groups larger than a worker --------------------------------------------------------------------------


@pytest.fixture
def small_workers(monkeypatch):
    """Workers hold a few rows of a group."""
    monkeypatch.setattr(packing, "MOST_ROWS_OF_GROUP", 12)
    monkeypatch.setattr(packing, "SCORES_SHOWN", 9)


SCORES = {
    "tied": lambda score: score,
    "apart": lambda score: score + np.random.default_rng(1).random(len(score)) / 100,
    "one score": lambda score: score * 0 + 0.5,
    "signs of zero": lambda score: np.where(score.index % 2, 0.0, -0.0) + (score > 1),
    "large numbers": lambda score: (score * 10).astype(np.int64) + 2**53,
    "single precision": lambda score: score.astype(np.float32) / 3,
    "infinite": lambda score: np.where(score > 1, np.inf, np.where(score < -1, -np.inf, score)),
}  # fmt: skip


@pytest.mark.usefixtures("small_workers")
@pytest.mark.parametrize("kind", SCORES)
def test_groups_in_pieces_have_the_curves_of_memory(kind, monkeypatch):
    cut = []
    monkeypatch.setattr(gathering, "joined", lambda pieces: cut.append(len(pieces)) or packing.joined(pieces))
    frame = table().assign(y_score=lambda f: SCORES[kind](f["y_score"]))
    found = gathered(frame)
    assert_alike(found, sa.read_scores(frame))
    if kind == "one score":
        assert cut == [12]
    elif kind != "signs of zero":
        assert cut[0] > 24
    for (model, fold), packed in found.packed.items():
        rows = frame[(frame["model"] == model) & (frame["fold"] == fold)]
        whole = PackedCurve.of(rows["y_true"].to_numpy() == 1, rows["y_score"].to_numpy())
        assert packed.labels.tolist() == whole.labels.tolist()
        assert (packed.ends is None) == (whole.ends is None)
        assert packed.ends is None or packed.ends.tolist() == whole.ends.tolist()


def test_many_rows_in_groups_that_fit_are_looked_at_once(monkeypatch):
    """Sizes are counted by the keys alone; only where one is too large do rows show where to cut."""
    frame, looked = table(), []
    monkeypatch.setattr(gathering, "sketches", lambda rows: looked.append(rows) or packing.sketches(rows))
    for most, cut in ((40, False), (39, True)):
        monkeypatch.setattr(packing, "MOST_ROWS_OF_GROUP", most)
        assert_alike(gathered(frame), sa.read_scores(frame))
        assert bool(looked) is cut


@pytest.mark.usefixtures("small_workers")
def test_rules_hold_for_groups_in_pieces():
    frame = table()
    words = frame.assign(
        y_true=frame["y_true"].map({0: "ill", 1: "well"}), case=frame["case"].map("c{}".format)
    )
    assert_alike(gathered(words, pos_label="ill"), sa.read_scores(words, pos_label="ill"))
    group = (frame["model"] == "b") & (frame["fold"] == 2)
    for broken, message in (
        (frame.assign(y_score=frame["y_score"].where(~group)), r"NaN, .* a row of model 'b' in fold '2'$"),
        (
            pd.concat([frame, frame[group][:1]]),
            r"^\(model, fold, case\) must be unique, .*: \('b', 2, \d+\);",
        ),
        (frame.assign(y_true=frame["y_true"] * ~group), r"model 'b' has no positive case in fold 2 "),
        (frame.assign(y_true=frame["y_true"] + 5 * group), r"but has 4, first seen: .*model 'b' in fold '2'"),
        (frame.assign(y_true=frame["y_true"].where(~group)), r"not have missing labels, .* 'b' in fold '2'$"),
        (frame.assign(model=frame["model"].where(~group)), r"`model` must not be empty"),
        (words, r"has the labels 'ill', 'well': say which is the positive class"),
    ):
        with pytest.raises(InputError, match=message):
            gathered(broken)


# --- Dask -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def spill(tmp_path_factory):
    """Where the workers write what they shuffle."""
    return tmp_path_factory.mktemp("spill")


@pytest.fixture(scope="module")
def client(spill):
    settings = {
        "n_workers": 2,
        "threads_per_worker": 1,
        "processes": True,
        "dashboard_address": ":0",
        "local_directory": spill,
    }
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def frame():
    """Rows of every group spread over all partitions."""
    scores = sa.load_satellite_scores().only_folds(range(1, 7))
    return scores.frame.sample(frac=1, random_state=0).astype({"model": str})


@pytest.fixture(scope="module")
def spread(client, frame):
    assert len(client.scheduler_info()["workers"]) == 2
    return sa.evaluate(partitioned(frame), **OPTIONS)


def partitioned(frame, n=3):
    return dd.from_pandas(frame.reset_index(drop=True), npartitions=n, sort=False)


def by_name(measured, column):
    """The frame of an evaluation in the order of names."""
    keys = ["model", "fold"]
    return (
        getattr(measured, column).sort_values(keys, kind="stable", ignore_index=True).astype({"model": str})
    )


def test_the_cluster_gives_the_numbers_of_one_process(spread, frame):
    here = sa.evaluate(frame, **OPTIONS)
    for name in ("auprec", "iauprec"):
        pd.testing.assert_frame_equal(by_name(spread, name), by_name(here, name), check_exact=True)
    assert spread.models == tuple(sorted(here.models))
    assert (spread.folds, spread.priors, spread.warnings) == (here.folds, here.priors, here.warnings)
    assert spread.deployment_prior == here.deployment_prior


def test_comparing_on_the_cluster_is_comparing_in_memory(client, frame, tmp_path):
    found = assert_compared_alike(partitioned(frame), frame)
    assert found.source is None
    found.save(tmp_path / "out", figures="none")
    assert (tmp_path / "out" / "ranking.csv").exists()


@pytest.mark.usefixtures("client", "small_workers")
def test_groups_in_pieces_come_from_dask():
    frame = table()
    assert_alike(sa.stream_scores(partitioned(frame)), sa.read_scores(frame))


#: A file of several row groups of which one is damaged.
DAMAGED = r"'b å\.parquet' cannot be read: row group 2 \(rows 200 to 299\): \S"


def two_files(folder):
    """A whole file and a damaged one, with a column that is of no use."""
    frame = table().assign(vector=[[0.5]] * 480)
    for name in ("a", "b å"):
        frame.to_parquet(folder / f"{name}.parquet", index=False, row_group_size=100)
    damaged(folder / "b å.parquet", 2, "y_score")
    return str(folder)


@pytest.mark.parametrize("path", [str, "file://{}".format, "{}/*.parquet".format])
def test_a_row_group_that_is_damaged_is_named_in_one_line(tmp_path, path):
    rows = dd.read_parquet(path(two_files(tmp_path)))
    with pytest.raises(InputError, match=f"^the Dask frame: {DAMAGED}") as told, dask_here():
        sa.stream_scores(rows)
    assert "\n" not in str(told.value)


def left(folder):
    """Files that shuffles have left, without the locks of a cluster that runs."""
    return [path.name for path in folder.rglob("*") if path.is_file() and "lock" not in path.suffix]


def test_a_file_that_is_gone_is_told_in_one_line(tmp_path):
    table().to_parquet(tmp_path / "a.parquet", index=False)
    rows = dd.read_parquet(tmp_path)
    (tmp_path / "a.parquet").unlink()
    with pytest.raises(InputError, match=r"^the Dask frame cannot be read: .*a\.parquet'?$"), dask_here():
        sa.stream_scores(rows)


#: What is said of workers that ended.
ROOM = r"the rows of a group \(one model in one fold\) must fit in that of a worker"


def end_process(part):
    """What a system does that has no memory left."""
    if len(part):
        os.kill(os.getpid(), signal.SIGKILL)
    return part


def test_a_cluster_that_is_gone_and_a_disk_that_is_full_are_told_in_one_line(tmp_path, monkeypatch):
    settings = {
        "n_workers": 1,
        "processes": False,
        "dashboard_address": ":0",
        "local_directory": tmp_path / "spill",
    }
    rows = partitioned(table())
    soon = {"distributed.comm.timeouts.connect": "3s", "distributed.p2p.comm.retry.count": 0}
    with dask.config.set(soon):
        cluster = distributed.LocalCluster(**settings)
        with cluster, distributed.Client(cluster):
            with monkeypatch.context() as patch:
                patch.setattr("distributed.shuffle._disk.DiskShardsBuffer._process", out_of_room)
                with pytest.raises(
                    FullDiskError, match=r"^the Dask frame cannot be read: .*No space left on.*full$"
                ):
                    sa.compare(rows).save(tmp_path / "out")
            assert not left(tmp_path)
            CLUSTERS[:] = [cluster]
            with pytest.raises(InputError, match=r"was the connection to the cluster lost\?$") as told:
                sa.compare(rows.map_partitions(leave, meta=rows._meta)).save(tmp_path / "out")
    assert "\n" not in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["spill"]
    assert not left(tmp_path)


def test_a_shuffle_that_tells_only_words_is_told_and_a_fault_of_ours_is_not_hidden():
    inner = RuntimeError(
        "Unexpected error encountered during P2P barrier: OSError(28, 'No space left on device')"
    )
    with (
        pytest.raises(
            FullDiskError, match=r"^it cannot be read: Unexpected error .*; the disk where .* full$"
        ),
        engines.told_as("it", (OSError,)),
    ):
        raise RuntimeError("P2P 1 failed during barrier phase") from inner
    with pytest.raises(RuntimeError, match="a bug"), engines.told_as("it", (OSError,)):
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


def test_folds_in_words_and_cases_that_are_left_out(client):
    rows = [(m, f, y, y + s / 9) for m in "ba" for f in ("x", "10", "9") for s, y in enumerate([0, 1] * 6)]
    frame = pd.DataFrame(rows, columns=["model", "fold", "y_true", "y_score"])
    spread = sa.evaluate(partitioned(frame, 3))
    assert spread.models == ("a", "b")
    assert set(spread.folds) == {"x", "10", "9"}
    numbers = sa.evaluate(partitioned(frame[frame["fold"] != "x"], 3))
    assert numbers.folds == (9, 10)
    assert numbers.auprec["fold"].tolist() == ([9] * 3 + [10] * 3) * 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda f: f.assign(y_score=f["y_score"].where(f.index != 5)),
            "`y_score` must not hold NaN, but has 1",
        ),
        (
            lambda f: f.assign(y_true=f["y_true"] & (f["fold"] != 3)),
            "model 'B' has no positive|model '[AC]' has",
        ),
        (lambda f: pd.concat([f, f[:1]]), r"^\(model, fold, case\) must be unique, but 1 rows repeat one"),
        (
            lambda f: f.drop(columns=["y_score"]),
            "^the Dask frame must have the column 'y_score', but has 'mod",
        ),
        (
            lambda f: f.assign(dataset=f["fold"] % 2),
            r"^the table holds 2 data sets \(column 'dataset'\), whose",
        ),
        (lambda f: f[:0], "^the score table must hold at least one row, but is empty$"),
        (lambda f: f.assign(model=f["model"].where(f.index != 5)), "`model` must not be empty, but 1 row is"),
    ],
)
def test_rules_hold_on_the_workers(client, frame, change, message):
    bad = change(frame.reset_index(drop=True).astype({"fold": int}))
    with pytest.raises(InputError, match=message):
        sa.evaluate(partitioned(bad))


def test_simulations_spread_over_the_cluster(client):
    run = {"settings": ["binormal", "bibeta"], "sizes": [20], "replicates": 2, "rng": 3, "progress": False}
    alone = estimators_study(n_jobs=1, **run).to_frame()
    with joblib.parallel_config(backend="dask"):
        spread = estimators_study(n_jobs=2, **run).to_frame()
    pd.testing.assert_frame_equal(alone, spread, check_exact=True)
    ran = client.run(lambda: "skewanova.studies.areas" in sys.modules)
    assert any(ran.values())


def test_workers_that_are_killed_are_told_in_one_line(client, spill, tmp_path, monkeypatch):
    rows = partitioned(table())  # the last test of this cluster: its workers begin anew
    monkeypatch.setattr(client.cluster.scheduler, "allowed_failures", 0)
    with pytest.raises(InputError, match=rf"^the Dask frame cannot be read: Attempted .*{ROOM}$") as told:
        sa.compare(rows.map_partitions(end_process, meta=rows._meta)).save(tmp_path / "out")
    assert "\n" not in str(told.value)
    assert not [*tmp_path.iterdir()]
    assert not left(spill)


# --- cases one by one: rows that fit come here --------------------------------------------------------------


def cases_of(design):
    """Three models on 60 cases: one test set, two runs on it, clusters and weights, halvings."""
    rng = np.random.default_rng(2)
    rows = pd.DataFrame({"case": np.arange(60), "y_true": np.arange(60) % 3 == 0})
    if design == "clusters, weights":
        rows = rows.assign(cluster=rows["case"] // 2, weight=1 + rows["case"] % 4 / 4)
    folds = [1, 2] if design == "runs" else [1]
    cells = (rows.assign(fold=f, model=m) for m in "abc" for f in folds)
    scored = (cell.assign(y_score=rng.normal(size=60) + cell["y_true"]) for cell in cells)
    return pd.concat(scored, ignore_index=True)


def by_names(frame):
    """Rows in the order in which they come from an engine."""
    return frame.sort_values(["model", "fold", "case"], key=lambda values: values.astype(str))


KINDS = {"one test set": "one_set", "runs": "shared_cases", "clusters, weights": "one_set"}


@pytest.mark.parametrize("design", KINDS)
def test_designs_over_cases_are_compared_as_in_memory(design):
    frame = cases_of(design)
    mixed = frame.sample(frac=1, random_state=1).rename(columns={"y_score": "p"})
    with dask_here():
        found = open_scores(partitioned(mixed), columns={"y_score": "p"})
    pd.testing.assert_frame_equal(found.frame, sa.read_scores(by_names(frame)).frame)
    assert find_resampling(found).kind == KINDS[design]


def test_what_does_not_fit_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setattr("skewanova.scores.reading.available_memory", lambda: 180 * 200)
    rows = partitioned(cases_of("one test set").assign(part="holdout", halving=None))
    with dask_here(), pytest.raises(InputError, match=r"^a table with halvings must fit in memory, but this"):
        sa.compare(rows)


def test_cases_without_names_are_not_matched_by_an_order_that_engines_lack():
    for design in ("one test set", "clusters, weights"):
        rows = partitioned(cases_of(design).drop(columns="case"))
        with (
            pytest.raises(InputError, match="with a column case, since its rows have no order"),
            dask_here(),
        ):
            sa.compare(rows)


# --- one test set that stays where it is -------------------------------------------------------------------

SET_OPTIONS = {"deployment_prior": (0.05, 0.2), "priors": (0.5, 0.1)}


@pytest.fixture(scope="module")
def test_set():
    """Four models on 700 cases, many of them tied; two are nearly alike, and one ranks nearly all rightly."""
    rng = np.random.default_rng(3)
    truth = rng.random(700) < 0.4
    rows = pd.DataFrame({"case": rng.permutation(700), "y_true": truth})
    scores = {"a": rng.normal(size=700).round(1) + truth, "b": rng.normal(size=700) + 2 * truth}
    scores |= {"c": scores["b"] + 1e-3 * rng.normal(size=700), "d": truth + rng.normal(size=700) / 6}
    return pd.concat([rows.assign(model=m, y_score=s, fold=1) for m, s in scores.items()], ignore_index=True)


@pytest.fixture(scope="module")
def set_here(test_set):
    return sa.compare(by_names(test_set), **SET_OPTIONS)


def assert_nearly_alike(found, here):
    """Every frame of a comparison, its warnings and its verdict; numbers but for rounding."""
    frames = [name for name in vars(here) if isinstance(getattr(here, name), pd.DataFrame)]
    assert {"ranking", "posthoc", "difference_curves", "crossings", "plans", "equivalence"} <= {*frames}
    for name in (*frames, "by_prior"):
        expected = getattr(here, name)
        pd.testing.assert_frame_equal(
            getattr(found, name), expected, rtol=1e-10, atol=1e-10, check_categorical=False
        )
    assert (found.design, found.warnings) == (here.design, here.warnings)
    assert str(found.verdict) == str(here.verdict)


@pytest.fixture
def stays(monkeypatch):
    """No rows of an engine come here."""
    monkeypatch.setattr("skewanova.scores.reading.MOST_ROWS_HERE", 0)
    monkeypatch.setattr(engine_cases, "BUCKET_ROWS", 500)
    for engine in (engines.DaskFrame, engines.SparkFrame):
        monkeypatch.setattr(engine, "rows", None)


@pytest.mark.usefixtures("stays")
def test_a_set_that_stays_is_compared_as_in_memory(test_set, set_here, monkeypatch):
    monkeypatch.setattr(packing, "MOST_ROWS_OF_GROUP", 400)
    found = gathered(test_set.sample(frac=1, random_state=0).drop(columns="fold"))
    assert len(found.parts.each(len)) > 3
    assert_nearly_alike(sa.compare(found, **SET_OPTIONS), set_here)
    assert describe_table(found)[-1] == "The table can be compared."


@pytest.mark.usefixtures("client", "stays")
def test_a_set_stays_with_dask(test_set, set_here):
    assert_nearly_alike(
        sa.compare(partitioned(test_set.sample(frac=1, random_state=1)), **SET_OPTIONS), set_here
    )


def test_a_set_that_stays_without_spread_is_compared_as_in_memory():
    frame = cases_of("one test set")
    scores = frame["y_score"].to_numpy().reshape(3, 60).copy()
    scores[1:] = scores[0], frame["y_true"][:60]
    perfect = frame.assign(y_score=scores.ravel())
    single = frame.assign(y_true=frame["case"] == 0)
    for rows in (perfect, single):
        found, here = (sa.compare(read(rows), **SET_OPTIONS) for read in (gathered, sa.read_scores))
        for name in ("ranking", "posthoc", "plans", "equivalence", "assumptions"):
            pd.testing.assert_frame_equal(
                getattr(found, name), getattr(here, name), rtol=1e-10, atol=1e-10, check_categorical=False
            )
        assert found.warnings == here.warnings


@pytest.mark.parametrize("resampling", ["auto", "nested_runs"])
def test_runs_that_stay_are_compared_as_in_memory(resampling):
    rng = np.random.default_rng(4)
    rows = pd.DataFrame({"case": np.arange(800), "y_true": rng.random(800) < 0.4})
    cells = [rows.assign(fold=f, model=m) for m in "ab" for f in (1, 2, 3)]
    scored = [
        cell.assign(y_score=rng.normal(size=800).round(2) + (1 + k / 9) * cell["y_true"])
        for k, cell in enumerate(cells)
    ]
    frame = pd.concat(scored, ignore_index=True)
    options = {**SET_OPTIONS, "resampling": resampling}
    found, here = (sa.compare(read(frame), **options) for read in (gathered, sa.read_scores))
    assert found.design.kind == "shared_cases"
    assert_nearly_alike(found, here)


def test_fixed_runs_that_stay_are_refused():
    with pytest.raises(InputError, match=r"^fixed runs on one test set are compared by the tails"):
        sa.compare(gathered(cases_of("runs")), resampling="fixed_runs")


def test_what_a_set_that_stays_cannot_be_asked_is_told():
    frame = cases_of("one test set")
    with pytest.raises(
        InputError, match=r"^area_estimator='convex_hull' is measured anew without every case"
    ):
        sa.compare(gathered(frame), area_estimator="convex_hull")
    with pytest.raises(InputError, match=r"pairs lack a model, the first: case 7 in fold 1"):
        sa.compare(gathered(frame.drop(index=7)))


# --- clusters and weights ---------------------------------------------------------------------------------


def sampled(kind, *, n=300, n_folds=1, same=True):
    """Three models on cases in clusters, with weights, some of them 0; each fold tests the same, or some."""
    rng = np.random.default_rng(5)
    rows = pd.DataFrame({"case": np.arange(n), "y_true": rng.random(n) < 0.4})
    cluster = rng.integers(0, n // 4, n)
    if "clusters" in kind:
        rows["cluster"] = [f"p{number}" for number in cluster]
    if "weights" in kind:
        rows["weight"] = rng.choice([0, 0.5, 1, 2.5], n)
    folds = range(1, n_folds + 1)
    held = [rows if same else rows[cluster % n_folds == fold - 1] for fold in folds]
    cells = [part.assign(fold=fold, model=m) for m in "abc" for fold, part in zip(folds, held, strict=True)]
    score = [
        rng.normal(size=len(cell)).round(1) + (1 + k / 9) * cell["y_true"] for k, cell in enumerate(cells)
    ]
    return pd.concat(
        [cell.assign(y_score=s) for cell, s in zip(cells, score, strict=True)], ignore_index=True
    )


def mixed(frame):
    return frame.sample(frac=1, random_state=0, ignore_index=True)


SAMPLED = ("clusters", "weights", "clusters and weights")


@pytest.mark.usefixtures("stays")
@pytest.mark.parametrize("pieces", [False, True])
@pytest.mark.parametrize("case", [False, True])
@pytest.mark.parametrize("kind", SAMPLED)
def test_clusters_and_weights_of_folds_are_those_of_memory(kind, case, pieces, monkeypatch):
    """Folds that share no case: areas from weighted curves, effective numbers, the design and its claim."""
    frame = sampled(kind, n_folds=5, same=False).drop(columns=[] if case else ["case"])
    if pieces:
        monkeypatch.setattr(packing, "MOST_ROWS_OF_GROUP", 40)
    found, here = gathered(mixed(frame)), sa.read_scores(frame)
    assert (found.n_clusters, found.has_weights) == (here.n_clusters, here.has_weights)
    assert found.counts.tolist() == here.counts.tolist()
    assert found.effective_counts == pytest.approx(here.effective_counts, rel=1e-12)
    assert found.weights == (None if here.weights is None else pytest.approx(here.weights, rel=1e-12))
    assert describe_table(found) == describe_table(here)
    compared = [sa.compare(scores, **SET_OPTIONS) for scores in (found, here)]
    assert_nearly_alike(*compared)


@pytest.mark.usefixtures("stays")
@pytest.mark.parametrize("n_folds", [1, 2])
@pytest.mark.parametrize("kind", SAMPLED)
def test_clusters_and_weights_of_a_set_that_stays_are_those_of_memory(kind, n_folds):
    """More clusters than columns, of which rows stand for them in memory too: bands draw from the same."""
    frame = sampled(kind, n=2400, n_folds=n_folds)
    found = gathered(mixed(frame))
    assert len(found.parts.each(len)) > 3
    assert_nearly_alike(sa.compare(found, **SET_OPTIONS), sa.compare(by_names(frame), **SET_OPTIONS))
    assert describe_table(found)[-1] == "The table can be compared."
    few = sampled(kind, n=100, n_folds=n_folds)
    assert_sampled_alike(gathered(mixed(few)), few)


def assert_sampled_alike(source, frame):
    """Of fewer clusters than columns, bands are drawn from other rows with the same products."""
    found, here = (sa.compare(rows, **SET_OPTIONS) for rows in (source, by_names(frame)))
    for name in ("ranking", "posthoc", "crossings", "assumptions", "plans"):
        pd.testing.assert_frame_equal(
            getattr(found, name), getattr(here, name), rtol=1e-10, atol=1e-10, check_categorical=False
        )
    assert found.design == here.design


@pytest.mark.usefixtures("client", "stays")
def test_clusters_and_weights_stay_with_dask():
    for n_folds, same in ((1, True), (4, False)):
        frame = sampled("clusters and weights", n=600, n_folds=n_folds, same=same)
        assert_sampled_alike(partitioned(mixed(frame)), frame)


def test_rows_of_weight_0_are_left_out_group_by_group():
    frame = sampled("weights", n_folds=5, same=False)
    none = frame["fold"] == 3
    for rows in (frame.assign(weight=frame["weight"].where(~none, 0)), frame[~none]):
        found = gathered(mixed(rows))
        assert found.counts[:, [i for i, fold in enumerate(found.folds) if fold != 3]].all()
    assert found.folds == (1, 2, 4, 5)
    left, here = (
        read(frame.assign(weight=frame["weight"].where(~none, 0))) for read in (gathered, sa.read_scores)
    )
    assert left.counts.tolist() == here.counts.tolist()
    with pytest.raises(InputError, match="these are missing: model 'a' in fold 3"):
        sa.compare(left)


def with_value(frame, rows, column, value):
    return frame.assign(**{column: frame[column].where(~rows, value)})


@pytest.mark.usefixtures("stays")
def test_rules_about_clusters_and_weights_hold_where_the_rows_are():
    frame = sampled("clusters and weights", n_folds=5, same=False)
    here = sa.read_scores(frame).frame
    case = here["case"].iloc[0]  # of weight above 0
    of_case, of_b = frame["case"] == case, frame["model"] == "b"
    for broken, message in (
        (
            with_value(frame, of_case & of_b, "cluster", "other"),
            f"^a case must have one cluster .* case {case} has",
        ),
        (
            with_value(frame, of_case & of_b, "weight", 9.0),
            f"^a case must have one weight .* case {case} has .*9",
        ),
        (with_value(frame, of_case, "weight", -1.0), r"^`weight` must .* of model '.' in fold \d has -1"),
        (
            with_value(frame, of_case, "fold", 6 - frame["fold"][of_case].iloc[0]),
            "^every fold must test all known ",
        ),
        (
            with_value(frame, of_case & of_b, "cluster", None),
            r"^`cluster` must not be empty, but 1 row is, the first at row \d+ of those of model 'b' in",
        ),
        (frame.assign(cluster="p"), "^`cluster` must name at least 2 clusters, but all cases are in 'p'"),
        (frame.assign(weight=0), "^`weight` must be above 0 in some row, but is 0 in all"),
        (
            with_value(frame.drop(columns=["case", "weight"]), of_case & of_b, "cluster", "p7"),
            "^a case must have one",
        ),
        (
            with_value(frame.drop(columns=["case", "cluster"]), of_case & of_b, "weight", 7.0),
            "^a case must have one",
        ),
    ):
        with pytest.raises(InputError, match=message):
            sa.compare(gathered(mixed(broken)))
        with pytest.raises(InputError):
            sa.read_scores(broken)


def test_folds_said_to_be_independent_share_no_cluster_on_an_engine_either():
    frame = sampled("clusters", n_folds=5, same=False).drop(columns="case")
    frame["cluster"] = frame["cluster"].str[:2]
    frame["cluster"] = frame["cluster"] + frame.groupby(["model", "fold", "cluster"]).cumcount().astype(str)
    told = []
    for read in (gathered, sa.read_scores):
        with pytest.raises(
            InputError, match=r"no two folds may share a cluster, but cluster 'p\d\d+' is in \d"
        ) as error:
            sa.compare(read(frame), resampling="independent")
        told.append(re.sub("'.*?' is", "", str(error.value).split("but cluster ")[1]))
    assert told[0] == told[1]


def test_what_weights_and_clusters_of_a_set_that_stays_cannot_show_is_told(monkeypatch):
    frame = sampled("weights")
    frame["weight"] = 1 + frame["case"] / 7
    with pytest.raises(
        InputError, match=r"^cases of a class have more than 64 different weights, .*: round the"
    ):
        sa.compare(gathered(frame))
    runs = sampled("clusters", n_folds=2)
    runs["cluster"] = runs["cluster"].where(~runs["y_true"], "one")
    for read in (gathered, sa.read_scores):
        for look in (sa.compare, describe_table):
            with pytest.raises(InputError, match="the only cluster with positive cases cannot show"):
                look(read(runs))


# --- Spark ------------------------------------------------------------------------------------------------


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
@pytest.mark.parametrize(
    "error",
    [
        Py4JNetworkError("Answer from Java side is empty"),
        Py4JError("An error occurred while calling o60.count"),
        ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_lost_gateway_is_told_in_one_line(error):
    gone = GoneFrame(error)
    told = rf"^the Spark frame cannot be read: .*{error.args[-1]}; was the connection to the cluster lost\?$"
    with pytest.raises(InputError, match=told):
        engines.SparkFrame(gone).n_rows()
    with pytest.raises(InputError, match=told):
        _ = engines.SparkFrame(gone).names
    engines.SparkKept(gone, None)  # to be let go is no news either: pytest would tell
    gc.collect()


@pytest.mark.usefixtures("py4j")
def test_an_error_of_java_is_not_taken_for_a_lost_gateway():
    for words in ("An error occurred while calling o6.count. Trace:\njava.lang", "Method f does not exist"):
        with pytest.raises(InputError) as told:
            engines.SparkFrame(GoneFrame(Py4JError(words))).n_rows()
        assert str(told.value) == f"the Spark frame cannot be read: {words.splitlines()[0]}"


@pytest.mark.usefixtures("py4j")
def test_a_disk_that_spark_finds_full_is_told():
    words = "An error occurred while calling o6.count.\n: java.io.IOException: No space left on device"
    with pytest.raises(FullDiskError, match=r"o6\.count\.; the disk where rows are kept meanwhile is full$"):
        engines.SparkFrame(GoneFrame(Py4JError(words))).n_rows()


@pytest.fixture(scope="module")
def spark():
    """Two worker threads, each with a Python process."""
    sql = pytest.importorskip("pyspark.sql")
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "2",
        "spark.log.level": "OFF",
    }
    builder = sql.SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    with suppress(OSError):  # the last test ends its Java
        session.stop()


def test_comparing_on_spark_is_comparing_in_memory(spark, tmp_path):
    frame = sa.load_satellite_scores().only_folds(range(1, 7)).frame.astype({"model": str, "fold": int})
    frame.sample(frac=1, random_state=0).to_parquet(tmp_path / "scores.parquet", index=False)
    rows = spark.read.parquet(str(tmp_path / "scores.parquet"))
    assert_compared_alike(rows, frame)
    dotted = rows.withColumnRenamed("y_score", "the `score`.1")
    renamed = sa.stream_scores(dotted, columns={"y_score": "the `score`.1"})
    assert_alike(renamed, sa.read_scores(frame))
    with pytest.raises(InputError, match=r"^the table holds 2 data sets"):
        sa.compare(rows.withColumn("dataset", rows["fold"] % 2))
    with pytest.raises(InputError, match=r"^the Spark frame must have the column 'y_score', but has 'model'"):
        sa.compare(dotted)
    with pytest.raises(InputError, match=r"^the score table must hold at least one row"):
        sa.compare(rows.filter("fold < 0"))
    first = frame.index == frame.index[frame["model"] == "A"][0]
    frame.assign(y_score=frame["y_score"].mask(first)).to_parquet(tmp_path / "nan.parquet", index=False)
    with pytest.raises(
        InputError, match=r"^`y_score` must not hold NaN, .* of those of model 'A' in fold 1$"
    ):
        sa.compare(spark.read.parquet(str(tmp_path / "nan.parquet")))


@pytest.mark.usefixtures("small_workers")
def test_groups_in_pieces_come_from_spark(spark, tmp_path):
    table().to_parquet(tmp_path / "s.parquet", index=False)
    assert_alike(sa.stream_scores(spark.read.parquet(str(tmp_path / "s.parquet"))), sa.read_scores(table()))


@pytest.mark.usefixtures("stays")
def test_a_set_stays_with_spark(spark, test_set, set_here, tmp_path):
    test_set.sample(frac=1, random_state=1).to_parquet(tmp_path / "s.parquet", index=False)
    found = sa.compare(spark.read.parquet(str(tmp_path / "s.parquet")), **SET_OPTIONS)
    assert_nearly_alike(found, set_here)


@pytest.mark.usefixtures("stays")
def test_clusters_and_weights_stay_with_spark(spark, tmp_path, monkeypatch):
    frames = sampled("clusters and weights"), sampled("clusters and weights", n_folds=4, same=False)
    for i, frame in enumerate(frames):
        path = tmp_path / f"{i}.parquet"
        mixed(frame).to_parquet(path, index=False)
        assert_sampled_alike(spark.read.parquet(str(path)), frame)
    monkeypatch.setattr(packing, "MOST_ROWS_OF_GROUP", 40)
    assert_sampled_alike(spark.read.parquet(str(path)), frame)


def test_a_file_that_spark_cannot_read_is_told_in_one_line(spark, tmp_path):
    table().to_parquet(tmp_path / "s.parquet", index=False)
    rows = spark.read.parquet(str(tmp_path / "s.parquet"))
    (tmp_path / "s.parquet").unlink()
    with pytest.raises(InputError, match=r"^the Spark frame cannot be read: .") as told:
        sa.stream_scores(rows)
    assert "\n" not in str(told.value)
    with pytest.raises(InputError, match=f"^the Spark frame: {DAMAGED}") as told:
        sa.stream_scores(spark.read.parquet(two_files(tmp_path)))
    assert "\n" not in str(told.value)


def test_designs_over_cases_and_workers_that_die_on_spark(spark, tmp_path):
    frame = cases_of("clusters, weights")
    frame.sample(frac=1, random_state=1).to_parquet(tmp_path / "s.parquet", index=False)
    rows = spark.read.parquet(str(tmp_path / "s.parquet"))
    assert open_scores(rows).sha256() == sa.read_scores(by_names(frame)).sha256()
    plain = rows.drop("cluster", "weight")
    assert find_resampling(open_scores(plain)).kind == "one_set"

    def die(batches):  # sent as it stands, since workers do not know this file
        return (os._exit(1) for _ in batches)

    ended = plain.mapInArrow(die, plain.schema)
    with pytest.raises(
        InputError, match=r"^the Spark frame cannot be read: .* must fit in that of a worker$"
    ):
        sa.stream_scores(ended)


def test_a_gateway_that_is_lost_leaves_nothing(spark, tmp_path):
    table().to_parquet(tmp_path / "s.parquet", index=False)
    rows = spark.read.parquet(str(tmp_path / "s.parquet"))
    java = spark.sparkContext._gateway.proc  # the last test of this session
    java.kill()
    java.wait()
    with pytest.raises(
        InputError, match=r"^the Spark frame cannot be read: .*connection to the cl.*\?$"
    ) as told:
        sa.compare(rows).save(tmp_path / "out")
    assert "\n" not in str(told.value)
    assert [path.name for path in tmp_path.iterdir()] == ["s.parquet"]
