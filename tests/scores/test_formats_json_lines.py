"""JSON lines read by the rules of CSV: the same table, every digit kept, every error with its line."""

import gzip
import json
import re

import numpy as np
import pandas as pd
import pytest

from skewanova import InputError, read_scores, scores_from_wide

ROW = {"model": "A", "fold": 1, "y_true": 0, "y_score": 0.25}


def write(folder, rows, name="scores.jsonl"):
    path = folder / name
    data = "\n".join([row if isinstance(row, str) else json.dumps(row) for row in rows]).encode()
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def rows_of(scores, **more):
    """Two cases a score, one of either class, so that every table is complete."""
    return [ROW | {"y_true": label, "y_score": score, **more} for score in scores for label in (0, 1)]


def scores_of(folder, scores, **options):
    return read_scores(write(folder, rows_of(scores)), **options).frame["y_score"].to_numpy()[::2]


@pytest.mark.parametrize("name", ["s.jsonl", "s.ndjson", "S.JSONL", "s.jsonl.gz", "s.ndjson.gz"])
def test_the_table_is_that_of_a_csv_file(tmp_path, name):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({
        "model": np.repeat(["A", "NA", "Ä,\n", "1"], 25), "fold": np.tile([10, 9, 2, 1, 3], 20),
        "y_true": np.tile([0, 1], 50), "y_score": rng.normal(size=100), "case": np.tile(np.arange(50), 2),
    })  # fmt: skip
    frame["case"] = np.arange(100)
    frame.to_csv(tmp_path / "s.csv", index=False)
    table = read_scores(write(tmp_path, frame.to_dict("records"), name))
    pd.testing.assert_frame_equal(table.frame, read_scores(tmp_path / "s.csv").frame)
    assert table.source.name == name


@pytest.mark.parametrize(("scores", "dtype", "values"), [
    ([2**53 + 1, 2**53], np.int64, [2**53 + 1, 2**53]), ([True, False], np.bool_, [True, False]),
    (["0.5", 1], np.float64, [0.5, 1.0]), ([2**70, 1], np.float64, [2.0**70, 1.0]),
])  # fmt: skip
def test_numbers_are_those_of_csv(tmp_path, scores, dtype, values):
    read = scores_of(tmp_path, scores)
    assert (read.dtype, read.tolist()) == (dtype, values)


def test_numbers_that_would_be_rounded(tmp_path):
    lines = [json.dumps(row).replace('"big"', "1" + "0" * 3999) for row in rows_of(["big", 1])]
    with pytest.raises(
        InputError, match=r"^`y_score` must keep its order in 64 bits, but 'scores\.jsonl' has"
    ):
        read_scores(write(tmp_path, lines))


def test_renamed_columns_blank_lines_and_keys_in_any_order(tmp_path):
    lines = [
        "\ufeff"
        + '{"classifier": "B", "prediction": 0.5, "id": "x", "target": "spam", "run": 1, "note": [1]}',
        "",
        '  {"run": 1, "target": "ham", "id": "y", "prediction": 0.25, "classifier": "B"}  ',
    ]
    names = {"model": "classifier", "fold": "run", "y_true": "target", "y_score": "prediction", "case": "id"}
    frame = read_scores(write(tmp_path, lines), columns=names, pos_label="spam").frame
    assert frame["y_true"].tolist() == [True, False]
    assert frame["y_score"].tolist() == [0.5, 0.25]
    assert frame["case"].tolist() == ["x", "y"]


def test_wide_lines(tmp_path):
    lines = [{"label": 1, "tree": 0.5, "net": 2}, {"net": 1, "label": 0, "tree": 0.25}]
    table = scores_from_wide(write(tmp_path, lines), y_true="label")
    assert table.models == ("tree", "net")
    assert table.frame["y_score"].tolist() == [0.5, 0.25, 2, 1]


# --- scores of both classes -------------------------------------------------------------------------------


def named(*pairs):
    return [{"label": label, "score": score} for label, score in pairs]


@pytest.mark.parametrize("score", [
    [0.75, 0.25], named(("NEGATIVE", 0.75), ("POSITIVE", 0.25)),
    named(("POSITIVE", 0.25), ("NEGATIVE", 0.75)), named(("LABEL_0", 0.75), ("LABEL_1", 0.25)),
    named((1, 0.25), (0, 0.75)), named((True, 0.25), (False, 0.75)),
])  # fmt: skip
@pytest.mark.parametrize("pos_label", [None, 1, "1"])
def test_the_positive_class_is_read_where_it_is_told(tmp_path, score, pos_label):
    assert scores_of(tmp_path, [score], pos_label=pos_label).tolist() == [0.25]


def test_a_named_class_may_be_any_of_the_two(tmp_path):
    pair = named(("ham", 0.75), ("Spam", 0.25))
    rows = [ROW | {"y_true": label, "y_score": pair} for label in ("ham", "spam")]
    for pos_label, score in [("spam", 0.25), ("ham", 0.75)]:
        frame = read_scores(write(tmp_path, rows), pos_label=pos_label).frame
        assert frame["y_score"].tolist() == [score] * 2


@pytest.mark.parametrize(("score", "pos_label", "message"), [
    ({"label": "POSITIVE", "score": 0.9}, None,
     "has {'label': 'POSITIVE', 'score': 0.9}, the score of one class only"),
    ([0.25, 0.75], "0", "has [0.25, 0.75] in the order of labels 0 and 1, but the positive class is '0'"),
    ([0.1, 0.2, 0.7], None, "has [0.1, 0.2, 0.7], in which the score of the positive class is not"),
    ([0.5], None, "has [0.5], in which"), ([], None, "has [], in which"),
    (["0.25", "0.75"], None, "has ['0.25', '0.75'], in which"),
    (named(("a", 0.5), ("b", 0.5)), None, "has [{'label': 'a'"),
    (named(("POSITIVE", 0.5), ("LABEL_1", 0.5)), None, "has [{'label': 'POSITIVE'"),
    (named(("POSITIVE", 0.5)), None, "has [{'label': 'POSITIVE'"),
    (named(("0", 0.1), ("1", 0.2), ("2", 0.7)), None, "has [{'label': '0'"),
    (named(("POSITIVE", [1]), ("NEGATIVE", 0)), None, "must hold one value, but has [1]"),
])  # fmt: skip
def test_scores_that_could_mean_several_things(tmp_path, score, pos_label, message):
    path = write(tmp_path, ["", *rows_of([0.5]), *rows_of([score])])
    with pytest.raises(InputError, match=rf"^`y_score` {re.escape(message)}.*, at line 4$"):
        read_scores(path, pos_label=pos_label)


# --- what cannot be read ----------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "message"), [
    ('{"model": "A",', "line 3 of 'scores.jsonl' is not JSON: Expecting property name"),
    ("model,fold", "line 3 of 'scores.jsonl' is not JSON: Expecting value at column 1"),
    ("[1, 2]", 'line 3 of \'scores.jsonl\' must be a JSON object such as {"model": "A", ...}, but is [1, 2]'),
    ("[" * 200_000, "line 3 of 'scores.jsonl' is not JSON: "),
    (json.dumps(ROW)[:-1] + ', "fold": 2}', "line 3 of 'scores.jsonl' has the key 'fold' more than once"),
    ({"model": "A", "fold": 1, "y_true": 1},
     "`y_score` is missing in one object but present in others, at line 3"),
    (ROW | {"y_score": "high"}, "`y_score` must hold real numbers, but 'scores.jsonl' has 'high' at line 3"),
    (ROW | {"y_score": None}, "`y_score` must not hold NaN or blanks, but has 1, the first at line 3"),
    (ROW | {"model": None}, "`model` must not be empty, but 1 row is, the first at line 3"),
    (ROW | {"model": {"name": "A"}}, "`model` must hold one value, but has {'name': 'A'}, at line 3"),
    (ROW | {"model": "\ud800"},
     "`model` must hold text, but has an incomplete character in '\\ud800', at line 3"),
    (ROW | {"case": 3}, "`case` is missing in one object but present in others, at line 1"),
    (ROW | {"y_true": 2},
     "`y_true` must hold two classes, but has 3, first seen: 0 (line 1), 1 (line 2), 2 (line 3)"),
])  # fmt: skip
def test_broken_lines_are_named(tmp_path, line, message):
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        read_scores(write(tmp_path, [*rows_of([0.5]), line]))


@pytest.mark.parametrize(("data", "message"), [
    (b"", "'scores.jsonl' is empty"),
    ('{"model": "Ä"}'.encode("latin-1"), "'scores.jsonl' is not UTF-8 text: 'utf-8' codec"),
    (b'{"model": "A"}', "'scores.jsonl' must have the columns 'y_true', 'y_score', but has 'model'"),
])  # fmt: skip
def test_broken_files(tmp_path, data, message):
    path = tmp_path / "scores.jsonl"
    path.write_bytes(data)
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        read_scores(path)
