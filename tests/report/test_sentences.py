"""Tests and pairs in words, and what was found in a paragraph for a paper: every number stands in a frame."""

import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hostile_results import HOSTILE, simulated
from loops import each
from report_frames import ANOVA, NAN, posthoc

import skewanova as sa
from skewanova.base.text import format_number
from skewanova.report import sentences
from skewanova.report.publication import Prose

NAMES = {name: name for name in "ABCDEabcd"}
LINE = "(2-way ANOVA of IAUPREC: F(2, 38) = 15.25, p"


def test_anova_and_pairs_in_words():
    lines = [sentences.write_test_line(rows) for _, rows in ANOVA.groupby("test", sort=False)]
    assert lines == [
        "2-way ANOVA of IAUPREC: F(2, 38) = 15.25, p <0.0001",
        "odd_test of IAUPREC: F(1.235, 20.5) = inf, p <0.0001",
        "3-way ANOVA of AUPREC: F(1, 5) = nan, p undefined",
    ]
    frame = ANOVA.assign(role=["primary", "primary", "check", "published"])
    frame.loc[0, ["statistic", "p_value"]] = np.inf, 0.0
    found = sentences.write_omnibus_sentence(frame, 0.05, pd.DataFrame({"reject": [True]}))
    assert found.startswith("The models' differences do not vary, so that no test can judge them")
    flat = posthoc(("A", "B", -0.2, 0.0, True)).assign(std_error=0.0)
    (said,) = sentences.write_pair_sentences(flat, 0.05, NAMES)
    assert said == "B is above A by 0.200 in IAUPREC throughout, which no test can judge."
    frame = posthoc(
        ("A", "B", 0.1234, 1e-9, True), ("A", "C", -0.05, 0.04, True), ("B", "C", 0.1, 0.2, False),
        ("B", "D", 0.0, NAN, False)
    )  # fmt: skip
    assert sentences.write_pair_sentences(frame, 0.05, NAMES) == [
        "A is ahead of B by 0.123 in IAUPREC (adjusted p <0.0001).",
        "C is ahead of A by 0.050 in IAUPREC (adjusted p = 0.040).",
        "B and C were not found to differ in IAUPREC at level 0.05 (adjusted p = 0.20).",
        "B and D could not be tested, because their values are the same.",
    ]
    assert sentences.write_pair_sentences(frame.iloc[:0], 0.05, NAMES) == []


@each(("p_value", "rejected", "begins", "ends"), [
    (0.04, True, "The models differ at level 0.05", " = 0.040)."),
    (0.04, False, "The models are not all equal at level 0.05",
     " = 0.040), but the pairs do not tell which differ."),
    (0.06, False, "The models were not found to differ at level 0.05", " = 0.060)."),
    (0.06, True, "All models at once were not found to differ at level 0.05",
     " = 0.060). The tests of pairs hold their level without that test, and find more."),
    (NAN, False, "The models could not be tested for a difference, because they do not differ in any fold",
     " undefined)."),
])  # fmt: skip
def test_the_primary_in_a_sentence_that_pairs_do_not_contradict(p_value, rejected, begins, ends):
    frame = ANOVA.assign(role=["primary", "primary", "check", "published"])
    frame.loc[0, "p_value"] = p_value
    found = sentences.write_omnibus_sentence(frame, 0.05, pd.DataFrame({"reject": [rejected, False]}))
    assert found == f"{begins} {LINE}{ends}"


@each(("estimate", "std_error", "why"), [
    (1e-14, NAN, "their values are the same"), (0.3, 0.0, "their difference does not vary"),
    (0.3, NAN, "how their difference varies is not known"),
])  # fmt: skip
def test_pairs_without_p_are_not_said_to_be_alike(estimate, std_error, why):
    untested = posthoc(("A", "B", estimate, NAN, False), std_error=std_error)
    (said,) = sentences.write_pair_sentences(untested, 0.05, NAMES)
    assert said == f"A and B could not be tested, because {why}."
    every = pd.concat([untested] * 4, ignore_index=True)
    assert sentences.write_pair_findings(every, 0.05, NAMES) == [f"No pair could be tested, because {why}."]
    tested = posthoc(("A", "C", 0.2, 0.3, False), ("A", "D", 0.2, 0.2, False))
    assert sentences.write_pair_findings(pd.concat([every, tested], ignore_index=True), 0.05, NAMES) == [
        "The other 2 pairs were not found to differ in IAUPREC at level 0.05 (smallest adjusted p = 0.20).",
        f"4 of the 6 pairs could not be tested, because {why}.",
    ]


def test_stretches_of_priors_in_words():
    curves = pd.DataFrame({"model_a": "A", "model_b": "B", "prior": [0.6, 0.012345], "p_adjusted": 0.01})
    curves = curves.assign(estimate=0.1, std_error=0.1)
    rows = [("A", "B", 0.012345, 0.2), ("B", "A", 0.55, 0.6), ("B", "A", 0.7, 0.7)]
    differing = pd.DataFrame(rows, columns=["better", "worse", "prior_low", "prior_high"])
    tables = {"difference_curves": curves, "differing_priors": differing}
    assert sentences.write_curve_sentences(tables, {"A": "Ada", "B": "Bob"}) == [
        "Ada is ahead of Bob at priors 0.0123 to 0.2 (simultaneous band).",
        "Bob is ahead of Ada at priors 0.55 to 0.6 (simultaneous band).",
        "Bob is ahead of Ada at prior 0.7 (simultaneous band).",
    ]
    none = {**tables, "differing_priors": differing.iloc[:0]}
    (said,) = sentences.write_curve_sentences(none, NAMES)
    assert said == "At no single prior from 0.0123 to 0.6 were any two models found to differ."
    tables["difference_curves"] = curves.assign(std_error=0.0)
    assert sentences.write_curve_sentences(tables, NAMES) == [
        "Differences along the prior could not be tested, because their difference does not vary."
    ]


def test_many_pairs_alike_are_said_once():
    frame = posthoc(*[(a, b, 0.1, 0.4, False) for a, b in ("ab", "ac", "ad", "bc", "bd", "cd")])
    none = sentences.write_pair_findings(frame, 0.05, NAMES)
    assert none == [
        "No two models were found to differ in IAUPREC at level 0.05 (smallest adjusted p = 0.40)."
    ]
    frame["reject"] = [True, *[False] * 5]
    first, rest = sentences.write_pair_findings(frame, 0.05, NAMES)
    assert first.startswith("a is ahead of b")
    assert rest == (
        "The other 5 pairs were not found to differ in IAUPREC at level 0.05 (smallest adjusted p = 0.40)."
    )
    most = 1 + sentences.MAX_LISTED_PAIRS
    assert len(sentences.write_pair_findings(frame.iloc[:most], 0.05, NAMES)) == most


@pytest.fixture(scope="module")
def hostile():
    return simulated([*HOSTILE, "b"], priors=(0.5, 0.1), rng=3)


def test_the_primary_test_comes_first_numbers_are_those_of_frames_and_names_are_escaped(hostile):
    (text,) = hostile.results_paragraph.paragraphs
    pairs = hostile.pairs[hostile.pairs["role"] == "primary"]
    first = next(pairs.itertuples())
    effect = hostile.tables["effects"]["effect"].iloc[0]
    assert f"{format_number(first.estimate)} ({format_number(first.conf_low)} to" in text
    assert f"t({first.df:.4g}) = {first.statistic:.2f}, adjusted p" in text
    assert f"d = {effect:.2f}" in text
    assert text.index("The models ") < text.index("Differences (") < text.index("These statements")
    assert f"about {hostile.design.population}." in text
    assert text.count(" minus ") == sentences.MAX_PAIRS
    assert f"{len(pairs) - sentences.MAX_PAIRS} more in the table" in text
    assert f"{len(hostile.ranking) - sentences.MAX_MEANS} more in the table" in text
    for prose in (hostile.results_paragraph, hostile.methods):
        assert "<script>" not in prose.to_markdown().replace("\\<script\\>", "")
        assert "\n" not in str(prose).replace("\n\n", "")
    assert r"a\_b\%\$" in hostile.results_paragraph.to_latex()


def test_methods_name_their_choices_and_cite_works_once(hostile):
    _, tests, made = hostile.methods.paragraphs
    version = sa.__version__
    assert tests.startswith(
        f"Tests, at level 0.05, about {hostile.design.population}: the repeated-measures F"
    )
    assert "Landgrebe" not in tests
    assert len(str(hostile.methods).split()) <= 150
    assert "4 folds" in made
    assert "Each fold tests 30 positives and 90 negatives." in made
    assert made.endswith(f"Software: skewanova {version} (The skewanova developers 2026), seed 3.")
    assert f"note = {{Version {version}}}" in hostile.methods.to_bibtex()
    named = ("Demsar (2006) and Holm (1979).", "Nadeau and Bengio's (2003) variance; Holm (1979) & co.")
    prose = Prose(named)
    assert prose.to_latex() == (
        "Demsar (2006)~\\cite{demsar2006} and Holm (1979)~\\cite{holm1979}.\n\n"
        "Nadeau and Bengio's (2003)~\\cite{nadeau2003} variance; Holm (1979) \\& co.\n"
    )
    assert [reference.key for reference in prose.references] == ["demsar2006", "holm1979", "nadeau2003"]


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_one_test_set_has_no_folds_and_what_was_not_tested_is_said_so():
    label = np.repeat([0, 1], 200)
    score = np.random.default_rng(0).normal(label)
    scores = pd.DataFrame({"y_true": label, "a": score, "b": score})
    with pytest.warns(sa.SkewanovaWarning, match="change alike"):
        found = sa.compare(sa.scores_from_wide(scores), (0.3, 0.5), at_priors=(0.5,))
    assert "a minus b 0.000, not tested, because their values are the same" in str(found.results_paragraph)
    (text,) = simulated(["a", "b"], n_folds=1, priors=(0.5,)).results_paragraph.paragraphs
    assert text.startswith("IAUPREC (uniform over priors")
    assert "fold" not in text


def test_the_outcome_for_a_paper_is_told_in_the_past_without_advice(hostile):
    source = replace(hostile, settings={**hostile.settings, "control": None})
    for state, words in sentences.TEXTS["outcomes"].items():
        source.__dict__["verdict"] = replace(hostile.verdict, state=state, models=("a", "b"))
        text = str(source.results_paragraph)
        last = text[text.rindex(words.split("{")[0] or "a and b w") :]
        assert last.endswith(".")
        assert not re.search(r"\b(Use|Choose|Keep|take|collect)\b|\{", last)
        assert re.search(r"\b(was|were|depended|did|do)\b", last)
    source.__dict__["verdict"] = replace(hostile.verdict, state="control", models=("a",))
    source.__dict__["settings"] = {**hostile.settings, "control": "c"}
    assert "a was better than the control, c." in str(source.results_paragraph)
