"""The generators, bounded: the same few cases every time, and all that once broke a rule."""

import ast

import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import strategies as st
from loops import each

from fuzz import run, same, search
from fuzz.search import Generator
from studies.one_set import paired_study

BOUNDED = [generator for generator in run.GENERATORS if generator.examples]
KEPT = [(generator, name, case) for generator in run.GENERATORS for name, case in search.kept(generator)]


@each("generator", BOUNDED, ids=lambda generator: generator.name)
def test_no_case_breaks_the_rule(generator):
    assert search.search(generator, examples=generator.examples).tried >= generator.examples // 2


@pytest.mark.parametrize(("generator", "name", "case"), KEPT, ids=[f"{g.name}-{name}" for g, name, _ in KEPT])
def test_what_once_broke_it_does_not_any_more(generator, name, case, monkeypatch):
    few = {"sizes": (30,), "models": (3,)}  # of the 1,440 designs of a study 90, which differ in all else
    for option, values in few.items():
        monkeypatch.setitem(paired_study.__kwdefaults__, option, values)
    generator.check(case)


def test_every_folder_of_the_corpus_has_a_generator():
    names = {generator.name for generator in run.GENERATORS}
    assert len(names) == len(run.GENERATORS)
    assert {path.name for path in search.CORPUS.iterdir() if path.is_dir()} <= names


def test_names_are_named_back_in_messages_too():
    """A message quotes a name as Python does, whatever quotation marks are in it."""
    name = "z é'0\""
    found = same._named_back(pd.DataFrame({"model": [name], "advice": [f"model {name!r}"]}), {name: "m0"})
    assert found.to_numpy().tolist() == [["m0", "model 'm0'"]]


# --- the search itself --------------------------------------------------------------------------------------


def small_enough(case):
    assert case["number"] < 17


SEEDED = Generator("seeded", st.fixed_dictionaries({"number": st.integers(0, 1000)}), small_enough, 50)


def test_a_broken_rule_is_found_made_small_and_kept(tmp_path, monkeypatch):
    with pytest.raises(AssertionError) as caught:
        search.search(SEEDED, examples=50, seed=1)
    trial = search.trial_of(caught.value)
    assert trial.case == {"number": 17}
    path = search.keep(SEEDED, trial.case, tmp_path)
    assert ast.literal_eval(path.read_text(encoding="ascii")) == {"number": 17}
    monkeypatch.setattr(search, "CORPUS", tmp_path)
    assert [*search.kept(SEEDED)] == [(path.stem, {"number": 17})]


def test_what_depends_on_the_moment_is_told_as_it_was(tmp_path, capsys):
    tried = []

    def broken_once(case):
        tried.append(case["number"])
        assert case["number"] < 17 or tried.count(case["number"]) > 1, f"{case} broke it"

    moment = Generator("moment", SEEDED.cases, broken_once, 20, repeatable=False)
    with pytest.raises(ExceptionGroup) as caught:
        search.search(moment, examples=20, seed=1)
    run.told(moment, caught.value, tmp_path)
    assert f"AssertionError: {search.trial_of(caught.value).case} broke it" in capsys.readouterr().out


def test_any_case_can_be_kept(tmp_path):
    case = {"text": "\udcff\u202e\x00'\"\\" * 30, "bytes": b"\xff\x00" * 60, "more": [(1, None), (2.5, True)]}
    path = search.keep(SEEDED, case, tmp_path)
    assert ast.literal_eval(path.read_text(encoding="ascii")) == case


def test_foreign_warnings_break_every_rule():
    import warnings

    noisy = Generator("noisy", st.none(), lambda _: warnings.warn("x", RuntimeWarning, stacklevel=1), 1)
    with pytest.raises(RuntimeWarning):
        noisy.check(None)


def test_the_hunt_tells_what_it_found(tmp_path, monkeypatch):
    monkeypatch.setattr(run, "GENERATORS", (SEEDED, Generator("right", st.integers(), lambda _: None, 1)))
    monkeypatch.setattr(search, "CORPUS", tmp_path)
    tried, found = run.hunt(run.GENERATORS, seed=3, minutes=0.05, corpus=tmp_path)
    assert set(found) == {"seeded"}
    assert 0 < found["seeded"] <= run.MOST_FOUND
    assert tried["right"] > run.FIRST
    assert [path.name for path in tmp_path.iterdir()] == ["seeded"]


@pytest.mark.parametrize(("word", "status"), [("seeded", 1), ("right", 0)])
def test_the_status_of_the_hunt(tmp_path, monkeypatch, word, status):
    monkeypatch.setattr(run, "GENERATORS", (SEEDED, Generator("right", st.integers(), lambda _: None, 1)))
    monkeypatch.setattr(run.hunt, "__kwdefaults__", {"corpus": tmp_path})
    done = CliRunner().invoke(
        run.main, ["--seed", "2", "--minutes", "2" if status else "0.01", "--only", word]
    )
    assert done.exit_code == status, done.output
    assert f"{status and run.MOST_FOUND} found" in done.output.splitlines()[-1]
