"""What the commands of studies write: numbers, tables and figures in a folder."""

from __future__ import annotations

from functools import cache, partial

import pandas as pd
import pytest
from click.testing import CliRunner
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from skewanova.base.checks import InputError
from skewanova.base.folders import read_manifest
from studies import output as studies_output
from studies.__main__ import study as main
from studies.areas import (
    binormal_study,
    estimators_by_prior_study,
    estimators_study,
    intervals_study,
    typical_sample,
)
from studies.one_set import paired_study
from studies.priors import prior_study

SMALL = {"replicates": 3, "progress": False}
STUDIES = {
    "estimators": lambda: estimators_study(settings=["bibeta"], sizes=[20, 50], **SMALL),
    "estimators_by_prior": lambda: estimators_by_prior_study(
        settings=["bibeta"], sizes=[50], priors=[0.1, 0.5], **SMALL
    ),
    "intervals": lambda: intervals_study(settings=["bibeta"], sizes=[100], priors=[0.5, 0.1], **SMALL),
    "binormal": lambda: binormal_study(alphas=[0.2, 0.4], **SMALL),
    "paired": lambda: paired_study(
        settings=["binormal", "values_5"], weightings=[0.5, 0.2], sizes=[10, 20], models=[2], **SMALL
    ),
    "prior": lambda: prior_study(scenarios=["usual", "ties"], bins=["8", "rule"], **SMALL),
}


@cache
def study_of(name):
    """Simulated once: nothing that is written or drawn changes it."""
    return STUDIES[name]()


FIGURES = {
    "estimators": ("bias",),
    "estimators_by_prior": ("bias_by_prior_50", "spread_by_prior_50"),
    "intervals": (
        "coverage",
        "coverage_by_prior",
        "width",
        "width_by_prior",
        "location",
        "location_by_prior",
    ),
    "binormal": ("curves", "means", "auprec", "auc"),
    "paired": tuple(
        f"{name}_{setting}" for name in ("size", "size_thin") for setting in ("binormal", "values_5")
    ),
    "prior": ("coverage_0.05", "coverage_0.005"),
}


@pytest.fixture(autouse=True)
def few_samples_to_choose_from(monkeypatch):
    monkeypatch.setattr(studies_output, "typical_sample", partial(typical_sample, n_samples=5))


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_written_with_all_its_figures(name, tmp_path):
    study = study_of(name)
    studies_output.write_study(study, tmp_path / "out")
    drawn = {f"{figure}.{kind}" for figure in FIGURES[name] for kind in ("png", "svg")}
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert written == {f"{name}.csv", f"{name}.md", "provenance.json", *drawn}
    assert read_manifest(tmp_path / "out")
    text = (tmp_path / "out" / f"{name}.md").read_text()
    assert all(table.to_markdown() in text for table in study.to_tables())
    written = pd.read_csv(tmp_path / "out" / f"{name}.csv")
    expected = study.to_frame().replace("", None)
    pd.testing.assert_frame_equal(written, expected, check_dtype=False, rtol=1e-5)


def test_an_earlier_study_is_replaced_and_anything_else_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(studies_output, "study_figures", lambda *_, **__: iter([("curves", Figure())]))
    studies_output.write_study(study_of("estimators"), tmp_path / "out")
    studies_output.write_study(study_of("binormal"), tmp_path / "out")
    assert {"binormal.csv", "curves.svg"} <= {path.name for path in (tmp_path / "out").iterdir()}
    assert not (tmp_path / "out" / "estimators.csv").exists()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds 'notes\.txt'"):
        studies_output.write_study(study_of("binormal"), tmp_path / "out")


def test_the_command_writes_a_folder(tmp_path):
    args = ["binormal", "--replicates", "2", "--out", str(tmp_path / "new")]
    result = CliRunner().invoke(main, args)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "new" / "curves.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize("name", ["file.txt", "file.txt/bias"])
def test_a_place_that_cannot_be_written_is_told_before_the_work(name, tmp_path, monkeypatch):
    (tmp_path / "file.txt").write_text("mine")
    monkeypatch.setattr("studies.areas.binormal_study", None)  # would fail if it were called
    result = CliRunner().invoke(main, ["binormal", "--out", str(tmp_path / name)])
    assert result.exit_code == 2
    assert "Traceback" not in result.output
    assert (tmp_path / "file.txt").read_text() == "mine"


def test_lines_hold_the_numbers_of_the_frame():
    frame = study_of("estimators").to_frame()
    ax = studies_output.plot_ratio(frame)
    assert len(ax.containers) == frame["estimator"].nunique()
    line = ax.containers[0].lines[0]
    rows = frame[frame["estimator"] == ax.containers[0].get_label()]
    assert line.get_ydata().tolist() == rows["ratio"].tolist()
    assert line.get_xdata().tolist() == rows["n_total"].tolist()


def test_figure_2_has_the_papers_lines_and_the_means_of_the_frame():
    frame = STUDIES["binormal"]().to_frame()
    ax = studies_output.plot_means(frame)
    lines = dict(zip(("true", "empirical", "binormal", "alpha-binormal"), ax.lines, strict=False))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(lines)
    assert lines["true"].get_color() == "black"
    styles = [lines[name].get_linestyle() for name in ("empirical", "binormal", "alpha-binormal")]
    assert styles == ["-", "-.", ":"]
    areas = frame[frame["measure"] == "auprec"]
    smooth = areas[areas["model"] == "alpha_binormal_ddof0"]
    assert lines["alpha-binormal"].get_ydata().tolist() == smooth["mean"].tolist()
    assert lines["true"].get_ydata().tolist() == smooth["truth"].tolist()


def test_the_legend_of_a_bias_hides_no_line():
    frame = STUDIES["binormal"]().to_frame()
    for name, figure in studies_output.study_figures("binormal", frame):
        if name in {"auprec", "auc"}:
            FigureCanvasAgg(figure).draw()
            (legend,), (ax,) = figure.legends, figure.axes
            assert ax.get_legend() is None
            assert not legend.get_window_extent().overlaps(ax.bbox)


def test_plots_draw_on_axes_given():
    ax = Figure().subplots()
    assert studies_output.plot_size(study_of("paired").to_frame().iloc[:2], ax=ax) is ax
    sample = typical_sample(n_samples=5)
    assert studies_output.plot_sample(sample, ax=Figure().subplots()).get_xlabel() == "recall"


def test_figure_1_has_its_three_panels_and_the_inset():
    figure = studies_output.draw_figure_1(study_of("binormal").to_frame())
    scores, roc, curves = figure.axes
    assert scores.get_legend_handles_labels()[1] == ["negatives", "positives"]
    assert roc.get_legend_handles_labels()[1] == ["true", "empirical", "binormal, alpha-binormal"]
    assert len(roc.child_axes) == 1
    names = curves.get_legend_handles_labels()[1]
    assert names == ["true", "empirical", "binormal", "alpha-binormal"]
    lines = {line.get_label(): line.get_ydata() for line in curves.lines}
    assert (lines["binormal"] > lines["alpha-binormal"]).all()  # at prior .5 instead of .4
