"""A comparison as it shows itself: text, notebook, frames, plots by name."""

import re

import pandas as pd
import pytest
from hostile_results import simulated

import skewanova as sa


@pytest.fixture(scope="module")
def result():
    return simulated(("<A>\x1b[31m", "B", "C"))


def test_print_shows_the_summary_and_repr_one_line(result):
    assert str(result) == result.summary()
    assert repr(result) == "<Comparison of 3 models over 4 folds: '<A>\\\\x1b[31m' ranks first>"


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
