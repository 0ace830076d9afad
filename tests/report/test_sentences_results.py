"""What was found, in words for a paper: every number stands in a frame, and names stay names."""

import re
import shutil
import subprocess
import warnings

import numpy as np
import pandas as pd
import pytest
from hostile_results import HOSTILE, simulated
from latex_runs import compiled, has_package

import skewanova as sa
from skewanova.base.text import format_number
from skewanova.report.methods import Prose
from skewanova.report.sentences import MOST_MEANS, MOST_PAIRS


@pytest.fixture(scope="module")
def hostile():
    return simulated([*HOSTILE, "b"], priors=(0.5, 0.1), rng=3)


def test_the_primary_test_comes_first_and_every_number_is_that_of_a_frame(hostile):
    (text,) = hostile.results_paragraph.paragraphs
    pairs = hostile.pairs[hostile.pairs["role"] == "primary"]
    first = next(pairs.itertuples())
    effect = hostile.tables["effects"]["effect"].iloc[0]
    assert f"{format_number(first.estimate)} ({format_number(first.conf_low)} to" in text
    assert f"t({first.df:.4g}) = {first.statistic:.2f}, adjusted p" in text
    assert f"d = {effect:.2f}" in text
    assert text.index("The models ") < text.index("Differences (") < text.index(hostile.verdict.choose)
    assert f"about {hostile.design.population}." in text
    assert text.count(" minus ") == MOST_PAIRS
    assert f"{len(pairs) - MOST_PAIRS} more in the table" in text
    assert f"{len(hostile.ranking) - MOST_MEANS} more in the table" in text


def test_names_from_outside_are_escaped(hostile):
    for prose in (hostile.results_paragraph, hostile.methods):
        assert "<script>" not in prose.to_markdown().replace("\\<script\\>", "")
        assert "\n" not in str(prose).replace("\n\n", "")
    assert r"a\_b\%\$" in hostile.results_paragraph.to_latex()


def test_methods_name_the_primary_tests_design_sizes_seed_and_software(hostile):
    paragraphs = hostile.methods.paragraphs
    tests, made = paragraphs[2], paragraphs[-1]
    first, beside = tests.split(" Reported beside them: ")
    assert first.startswith(
        "The conclusions rest on these tests, each at level 0.05: the repeated-measures F"
    )
    assert "Landgrebe" in beside
    assert "Landgrebe" not in first
    assert "4 folds" in made
    assert "Each fold tests 30 positives and 90 negatives." in made
    assert made.endswith(
        f"Computed by skewanova {sa.__version__} (The skewanova developers 2026) with seed 3."
    )
    assert f"note = {{Version {sa.__version__}}}" in hostile.methods.to_bibtex()


def test_one_test_set_has_no_folds():
    one = simulated(["a", "b"], n_folds=1, priors=(0.5,))
    assert "fold" not in one.results_paragraph.paragraphs[0]
    assert one.results_paragraph.paragraphs[0].startswith("IAUPREC (uniform over priors")


def test_what_was_not_tested_is_said_so():
    label = np.repeat([0, 1], 10)
    scores = pd.DataFrame({"y_true": label, "a": label / 2, "b": label / 2})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)
        found = sa.compare(sa.scores_from_wide(scores), at_priors=(0.5,))
    assert "a minus b 0.000, not tested, because their values are the same" in str(found.results_paragraph)


def test_works_are_cited_once_where_they_are_first_named():
    prose = Prose(
        ("Demsar (2006) and Holm (1979).", "Nadeau and Bengio's (2003) variance; Holm (1979) & co.")
    )
    text = prose.to_latex()
    assert text == (
        "Demsar (2006)~\\cite{demsar2006} and Holm (1979)~\\cite{holm1979}.\n\n"
        "Nadeau and Bengio's (2003)~\\cite{nadeau2003} variance; Holm (1979) \\& co.\n"
    )
    assert [reference.key for reference in prose.references] == ["demsar2006", "holm1979", "nadeau2003"]


@pytest.mark.no_cover
@pytest.mark.skipif(
    not has_package("booktabs.sty") or shutil.which("bibtex") is None, reason="no LaTeX with BibTeX here"
)
def test_a_paper_of_words_tables_and_references_compiles(hostile, tmp_path):
    (tmp_path / "references.bib").write_text(hostile.methods.to_bibtex(), encoding="utf-8")
    text = "\n\n".join(
        [
            r"\section{Methods}", hostile.methods.to_latex(),
            r"\section{Results}", hostile.results_paragraph.to_latex(),
            hostile.to_latex(), hostile.to_latex("pairwise"),
            r"\bibliographystyle{plain}\bibliography{references}",
        ]
    )  # fmt: skip
    compiled(text, "", tmp_path)
    run = subprocess.run(["bibtex", "main"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout
    assert "Warning" not in run.stdout
    compiled(text, "", tmp_path)
    log = compiled(text, "", tmp_path)
    assert not re.search("undefined|Citation .* on page", log)
