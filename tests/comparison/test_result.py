"""A comparison as it shows itself: text, notebook, frames, plots by name."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from fold_tables import draw_rows
from hostile_results import simulated

import skewanova as sa
from skewanova.comparison.result import _truncate
from skewanova.report.sentences import write_pair_findings, write_test_line


@pytest.fixture(scope="module")
def result():
    return simulated(("<A>\x1b[31m", "B", "C"))


def test_print_shows_the_summary_and_repr_one_line(result):
    assert str(result) == result.summary()
    assert repr(result) == "<Comparison of 3 models over 4 folds by IAUPREC: '<A>\\\\x1b[31m' ranks first>"


def test_a_notebook_shows_verdict_and_ranking_with_names_as_data(result):
    shown = result._repr_html_()
    assert "&lt;A&gt;" in shown
    assert "<A>" not in shown
    assert "\x1b" not in shown
    assert shown.count("<table") == 1
    assert "<dt>Choose</dt><dd>" in shown
    assert shown.index("<dl><dt>Warning</dt><dd>cannot tell how the folds were made") < shown.index("<svg")
    assert shown.index("<svg") < shown.index("<table")
    assert "<script" not in shown


def test_long_lists_end_with_the_number_left_out():
    assert _truncate("abc", 3) == ["a", "b", "c"]
    assert _truncate("abcdefgh", 3) == ["a", "b", "and 6 more, in the tables of differences"]


def test_details_say_what_was_measured_and_have_each_published_test_with_its_pairs(result):
    text = " ".join(result.summary(full=True).split())
    assert "3 models, 4 folds, level 0.05 AUPREC: trapezoid" in text
    assert f"Folds: {result.design.describe()}" in text
    short = dict.fromkeys(result.evaluation.models, "m")
    published = result._format_published(short, 10_000)
    names = ("two_way", "tukey", "iauprec"), ("three_way", "tukey_three_way", "auprec")
    for part, (name, test, response) in zip(published, names, strict=True):
        assert part.startswith(f"{write_test_line(result.tests[result.tests['test'] == name])}\n")
        pairs = result.pairs[(result.pairs["test"] == test) & (result.pairs["response"] == response)]
        assert part.count("\n- ") == len(write_pair_findings(pairs, result.alpha, short)) > 0
    rest = [note for note in result.warnings if note not in result.verdict.warnings]
    assert all(" ".join(note.split()) in text for note in rest)
    lines = result.summary(full=True).split("\n")
    assert ("Warnings" in lines) == bool(rest)
    advice = [each for each in result.tables["assumptions"]["advice"] if each not in {"", *result.warnings}]
    assert ("Assumptions" in lines) == bool(advice)
    assert all(" ".join(each.split()) in text for each in advice)


def test_a_test_set_is_described_as_data():
    y_true, rng = np.repeat([0, 1], [40, 20]), np.random.default_rng(0)
    with warnings.catch_warnings(action="ignore"):
        one = sa.compare(draw_rows({"A": 1.0, "B": 1.0}, [1], y_true, rng, stride=0), at_priors=(0.5,))
    assert (
        repr(one)
        == f"<Comparison of 2 models on a test set by IAUPREC: {one.ranking['model'][0]!r} ranks first>"
    )
    text = " ".join(one._format_heading(80).split())
    assert text.startswith("2 models, one test set, level 0.05 AUPREC: ")
    assert "Data: one test set (20 positives, 40 negatives)" in text
    assert "standard deviation over folds" not in " ".join(one.summary(full=True).split())


def test_the_frame_of_a_comparison_is_its_ranking(result):
    pd.testing.assert_frame_equal(result.to_frame(), result.ranking)
    assert result.to_polars()["model"].to_list() == result.ranking["model"].tolist()


def test_every_plot_goes_by_its_name(result):
    assert "auprec" in dir(result.plot)
    assert {f"plot_{name}" for name in dir(result.plot)} <= set(dir(sa.plotting))
    ours, plain = result.plot(), sa.plotting.plot_auprec(result)
    assert len({str([line.get_ydata().tolist() for line in ax.lines]) for ax in (ours, plain)}) == 1
    assert result.plot.iauprec(ax=ours) is ours


def test_a_misspelt_plot_gets_the_nearest_name(result):
    with pytest.raises(AttributeError, match=re.escape("there is no plot 'auprc'; did you mean 'auprec'?")):
        result.plot.auprc()
    with pytest.raises(ValueError, match=r"but got 'rankin'; did you mean 'ranking'\?$"):
        result.to_latex("rankin")
