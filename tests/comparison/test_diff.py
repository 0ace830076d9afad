"""What changed between two comparisons, from results, folders and JSON."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest
from hostile_results import simulated
from loops import each
from messages import expect_error

from skewanova import InputError
from skewanova.base.folders import PROVENANCE
from skewanova.comparison.diff import CHANGE_COLUMNS, changes
from skewanova.comparison.monitoring import monitor


@pytest.fixture(scope="module")
def old():
    return simulated(("A", "NA", "C"))


def write_json(path, *ranking, **settings):
    rows = [dict(zip(("rank", "model", "iauprec", "group"), row, strict=True)) for row in ranking]
    path.write_text(json.dumps({"ranking": rows, "settings": settings}), encoding="utf-8")
    return path


def write_folder(result, folder):
    """Write what is read of an output folder."""
    (folder / "tables").mkdir(parents=True)
    result.ranking.to_csv(folder / "tables" / "ranking.csv", index=False)
    (folder / PROVENANCE).write_text(json.dumps({"settings": result.settings}, default=str), encoding="utf-8")
    return folder


SUMMARY = """\
The leader changed from A to C.
C: group b, now a.
A: group a, now b.
E: group b, now none.
NA is gone.
D\\x1b[31m is new.
alpha: 0.05 before, 0.01 now.

IAUPREC, rank and group, before and now

Model      Before    Now  Change  Rank    Group
C           0.700  0.800   0.100  3 -> 1  b -> a
A           0.900  0.750  -0.150  1 -> 2  a -> b
E           0.600  0.650   0.050  4 -> 3  b -> -
D\\x1b[31m          0.600          - -> 4  - -> b
F           0.500  0.550   0.050  5 -> 5  b -> b
NA          0.850                 2 -> -  - -> -"""


def test_leader_groups_and_areas(tmp_path):
    rows = (3, "C", 0.7, "b"), (1, "A", 0.9, "a"), (2, "NA", 0.85, ""), (4, "E", 0.6, "b"), (5, "F", 0.5, "b")
    old = write_json(tmp_path / "old", *rows, alpha=0.05, control=None)
    rows = (5, "F", 0.55, "b"), (1, "C", 0.8, "a"), (2, "A", 0.75, "b"), (3, "E", 0.65, "")
    new = write_json(tmp_path / "new", *rows, (4, "D\x1b[31m", 0.6, "b"), alpha=0.01, control=None)
    result = changes(old, new)
    assert (result.leader_old, result.leader_new, result.leader_changed) == ("A", "C", True)
    assert result.summary() == str(result) == result.summary(80) == SUMMARY
    assert (tuple(result.table), result.table.index.tolist()) == (CHANGE_COLUMNS, list(range(6)))
    pd.testing.assert_frame_equal(result.to_frame(), result.table)
    back = changes(new, old)
    assert back.leader_changed
    assert back.sentences[:4] == (
        "The leader changed from C to A.", "A: group b, now a.", "C: group a, now b.",
        "E: group none, now b.",
    )  # fmt: skip
    same = changes(old, old)
    assert (same.leader_changed, same.sentences) == (False, ("A still leads.",))
    assert (same.table["change"] == 0).all()


def test_another_question_is_said_and_folders_and_json_say_the_same(old, tmp_path):
    other = simulated(("A", "NA", "C"), deployment_prior=(0.3, 0.5))
    told = [text for text in changes(old, other).sentences if text.startswith("deployment prior: ")]
    before, now = (f"uniform over priors {limits}" for limits in ("0.05 to 0.2", "0.3 to 0.5"))
    assert told == [f"deployment prior: {before} before, {now} now."]
    new = simulated(("C", "A", "D\x1b[31m"))
    wanted = changes(old, new)
    paths = [write_folder(result, tmp_path / name) for result, name in ((old, "old"), (new, "new"))]
    pd.testing.assert_frame_equal(changes(*paths).table, wanted.table)
    content = {"settings": new.settings, "ranking": new.ranking.to_dict("records")}
    (tmp_path / "new.json").write_text(json.dumps(content, default=str), encoding="utf-8-sig")  # of Windows
    assert changes(paths[0], tmp_path / "new.json").sentences == wanted.sentences


ROW = {"rank": 1, "model": "A", "iauprec": 0.5, "group": "a"}


@each("content", ["{}", "[]", "no JSON", *(json.dumps(edited) for edited in (
    {"ranking": []}, {"ranking": [{"model": "A"}]}, {"ranking": [ROW], "settings": 1},
    {"ranking": [ROW | {"rank": "first"}]}, {"ranking": [ROW | {"rank": None}]},
    {"ranking": [ROW | {"rank": 0}]}, {"ranking": [ROW | {"rank": 2}]}, {"ranking": [ROW | {"iauprec": "x"}]},
    {"ranking": [ROW, ROW | {"rank": 2}]},
))])  # fmt: skip
def test_what_is_no_comparison_or_was_edited_is_refused(old, tmp_path, content):
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=r"^`new` must be a new folder of .*--json, but got '.*x.json'$"):
        changes(old, tmp_path / "x.json")


def test_what_is_not_there_or_only_in_one_is_told(old, tmp_path):
    for other, end in ((tmp_path, "but got '"), (tmp_path / "absent", "but there is no '.*absent'$")):
        expect_error(f"^`new` must be a new folder of .*--json, {end}", changes, old, other)
    write_folder(old, tmp_path / "classes" / "class-001")
    (tmp_path / "values" / "tables").mkdir(parents=True)
    (tmp_path / "values" / "tables" / "values.csv").touch()
    for read in (changes, monitor):
        expect_error("holds a comparison of values, which has no IAUPREC$", read, tmp_path / "values", old)
        with pytest.raises(InputError, match=r"holds several; give that of one, such as '.*class-001'$"):
            read(tmp_path / "classes", old)
    several = SimpleNamespace(comparisons={"a": old})
    for other, end in ((3, "int; make one by"), (several, r"pass .* such as \.comparisons\['a'\]$")):
        expect_error(f"`old` must be a Comparison, a folder or a JSON file, .*{end}", changes, other, old)
        expect_error(f"`comparison` must be a Comparison or a folder, .*{end}", monitor, other, old)
    row = (1, "A", 0.5, "a")
    write_json(tmp_path / "a", row, alpha=0.05)
    write_json(tmp_path / "b", row)
    assert changes(tmp_path / "a", tmp_path / "b").sentences == ("A still leads.",)
    write_json(tmp_path / "a", row, control="\x1b[31m")
    write_json(tmp_path / "b", row, control=None)
    told = changes(tmp_path / "a", tmp_path / "b").sentences
    assert told == ("A still leads.", "control: \\x1b[31m before, None now.")
