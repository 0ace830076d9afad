"""The methods in words: every test of the package is named, every citation has its reference."""

import re
import shutil
import subprocess

import pytest
from loops import each

from skewanova.inference.catalogue import TESTS, get_test
from skewanova.report.publication import REFERENCES, fill_methods, find_references, write_bibtex
from skewanova.scores.design import FoldDesign


def text(tests, kind="independent", **options):
    options = {"estimator": "trapezoid", "deployment_prior": "uniform", "alpha": 0.05} | options
    options = {"trusted": True, "state": "choose"} | options
    return fill_methods(FoldDesign(kind, n_halvings=20 * (kind == "split_half")), tests, **options)


def test_text_names_estimator_prior_level_and_tests_once():
    words = " ".join(text(["two_way", "tukey", "two_way", "new"], estimator="exact", alpha=0.005))
    assert ", by exact segments" in words
    assert "deployment prior (uniform)" in words
    assert "at level 0.005, about" in words
    assert words.count(get_test("two_way").methods) == 1
    assert "; new." in words


@each("test", TESTS)
def test_every_year_cited_is_that_of_a_reference(test):
    paragraphs = text([test], "test_set" if get_test(test).sampling_unit == "cases" else "independent")
    references = {(r.surname, r.year) for r in find_references(paragraphs)}
    words = " ".join(paragraphs).replace("Demsar", "Dem\u0161ar")
    words = words.replace("DeLong, DeLong and Clarke-Pearson", "DeLong et al.")
    surname = r"([A-Z]\w+)(?:'s)?(?: and [A-Z]\w+(?:'s)?| et al\.)? \(?(\d{4})"
    named = re.findall(surname, words)
    assert ("Landgrebe", "2006") in named
    assert {(name, int(year)) for name, year in named} <= references


def test_references_stand_in_order_and_are_cited_by_their_first_author_alone():
    assert [r.key for r in REFERENCES] == sorted(r.key for r in REFERENCES)
    found = find_references(["Holm and nobody else"])
    assert [r.key for r in found] == ["holm1979"]
    assert found[0].to_text() == (
        "Holm, Sture (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal "
        "of Statistics 6, 65\u201370."
    )
    assert [r.key for r in find_references(["Benjamini and Hochberg (1995)"])] == ["benjamini1995"]
    assert [r.key for r in find_references(["Hochberg (1988)"])] == ["hochberg1988"]


@pytest.mark.skipif(shutil.which("bibtex") is None, reason="no BibTeX here")
def test_bibtex_reads_every_entry(tmp_path):
    (tmp_path / "all.bib").write_text(write_bibtex(REFERENCES), encoding="ascii")
    (tmp_path / "all.aux").write_text("\\citation{*}\n\\bibstyle{plain}\n\\bibdata{all}\n")
    run = subprocess.run(["bibtex", "all"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "Warning" not in run.stdout, run.stdout
    assert (tmp_path / "all.bbl").read_text().count("\\bibitem") == len(REFERENCES)


def test_words_on_runs_equivalence_and_tests_are_those_of_the_comparison():
    assert "Schuirmann" in " ".join(text(["two_way"], state="equal"))
    assert "Schuirmann" not in " ".join(text(["two_way"]))
    silent = " ".join(text(["two_way"], trusted=False))
    assert get_test("two_way").methods not in silent
    assert "No test is reliable for these data" in silent
