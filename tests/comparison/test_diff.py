"""What changed between two comparisons, from results, folders and JSON."""

import json

import numpy as np
import pandas as pd
import pytest
from hostile_results import simulated
from loops import each

from skewanova import InputError
from skewanova.base.folders import PROVENANCE
from skewanova.comparison.diff import CHANGE_COLUMNS, changes


@pytest.fixture(scope="module")
def old():
    return simulated(("A", "NA", "C"))


@pytest.fixture(scope="module")
def new():
    return simulated(("C", "A", "D\x1b[31m"))


def folder_of(result, folder):
    """What `changes` reads of an output folder, without its figures."""
    folder.mkdir()
    result.ranking.to_csv(folder / "ranking.csv", index=False)
    text = json.dumps({"settings": result.settings}, default=str)
    (folder / PROVENANCE).write_text(text, encoding="utf-8")
    return folder


def test_leader_groups_and_areas(old, new):
    found = changes(old, new)
    assert (found.leader_old, found.leader_new, found.leader_changed) == ("A", "C", True)
    assert found.sentences[0] == "The leader changed from A to C."
    assert tuple(found.table) == CHANGE_COLUMNS
    frame = found.to_frame().set_index("model")
    before, now = (result.ranking.set_index("model").loc["A", "iauprec"] for result in (old, new))
    assert frame.loc["A", "change"] == pytest.approx(now - before)
    assert np.isnan(frame.loc["NA", "iauprec_new"])
    assert "NA is gone." in found.sentences
    assert "D\\x1b[31m is new." in found.sentences
    assert "\x1b" not in str(found)
    assert all(len(line) <= 60 for line in found.summary(60).split("\n"))


def test_nothing_changed(old):
    found = changes(old, old)
    assert (found.leader_changed, found.sentences) == (False, ("A still leads.",))
    assert (found.table["change"] == 0).all()


def test_another_question_is_said(old):
    other = simulated(("A", "NA", "C"), deployment_prior=(0.3, 0.5))
    told = [text for text in changes(old, other).sentences if text.startswith("deployment_prior: ")]
    assert told == [
        "deployment_prior: uniform over priors 0.05 to 0.2 before, uniform over priors 0.3 to 0.5 now."
    ]


def test_folders_and_json_say_the_same(old, new, tmp_path):
    wanted = changes(old, new)
    paths = [folder_of(result, tmp_path / name) for result, name in ((old, "old"), (new, "new"))]
    found = changes(*paths)
    pd.testing.assert_frame_equal(found.table, wanted.table)
    content = {"settings": new.settings, "ranking": new.ranking.to_dict("records")}
    (tmp_path / "new.json").write_text(json.dumps(content, default=str), encoding="utf-8")
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
    with pytest.raises(InputError, match=r"^`new` must be a folder that `skewanova compare --out` wrote"):
        changes(old, tmp_path / "x.json")


def test_what_is_not_there_is_refused(old, tmp_path):
    for other in (tmp_path, tmp_path / "absent"):
        with pytest.raises(InputError, match=r"^`new` must be a folder that `skewanova compare --out` wrote"):
            changes(old, other)
    with pytest.raises(InputError, match="`old` must be a comparison, a folder or a JSON file"):
        changes(3, old)


def test_settings_of_a_file_steer_no_terminal(tmp_path):
    for name, control in (("a", "\x1b[31m"), ("b", None)):
        content = {"ranking": [ROW], "settings": {"control": control}}
        (tmp_path / name).write_text(json.dumps(content), encoding="utf-8")
    told = changes(tmp_path / "a", tmp_path / "b").sentences
    assert told == ("A still leads.", "control: \\x1b[31m before, None now.")
