"""Large tables by shorter ways: each way gives the numbers of the ordinary one."""

import re
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hostile_results import render_html, simulated
from latex_runs import compiled, has_package

import skewanova as sa
from skewanova.base.text import MAX_ROWS, Table
from skewanova.comparison.analysis import Options
from skewanova.comparison.pipeline import build_decision_frames
from skewanova.evaluation.curve_frames import precision_recall
from skewanova.inference.pairwise import tukey_by_prior
from skewanova.report import figures as report_figures
from skewanova.report import screen as report_screen
from skewanova.report import source as report_source
from skewanova.report import tables as report_tables
from skewanova.report.publication import LATEX_HEAD, write_fixed_latex
from skewanova.report.tables import build_leaders_table


def long(n_models=4, n_folds=6, n_priors=3, seed=0):
    rng = np.random.default_rng(seed)
    levels = [[f"m{i}" for i in range(n_models)], range(n_folds), np.geomspace(0.01, 0.5, n_priors)]
    frame = pd.MultiIndex.from_product(levels, names=["model", "fold", "prior"]).to_frame(index=False)
    frame["auprec"] = 0.6 + 0.2 * rng.random(len(frame)) + 0.02 * frame["model"].str[1:].astype(int)
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def test_long_tables_priors_and_leaders_are_cut_and_none_floats():
    found = tukey_by_prior(long(n_models=20, n_folds=3, n_priors=8))
    table = report_tables.PAIRS.build(found, alpha=0.05)
    assert len(table.rows) == MAX_ROWS < len(found)
    assert table.note.endswith("The first rows of each test, 1,000 of 1,520: pairs.csv holds them all.")
    assert "holds them all" not in report_tables.PAIRS.build(found.head(1000), alpha=0.05).note
    assert report_source.subsample(np.arange(100.0), 4).tolist() == [0, 33, 66, 99]
    assert report_source.subsample([0.5, 0.1], 4).tolist() == [0.5, 0.1]
    contenders = [f"m{i}" for i in range(20)]
    frame = pd.DataFrame({"prior_low": 0.1, "prior_high": 0.2, "leader": "m0", "contender": contenders})
    table = build_leaders_table(frame, "95 %")
    assert table.rows[0][2].endswith("m11, m12 and 7 more")
    assert table.note.endswith("leaders.csv names them all.")
    text = write_fixed_latex(Table("t", "c", ("a", "b"), (("x", "1"),)))
    assert text.startswith(r"\begin{skewanovatable}")
    assert r"\begin{table}" not in text
    assert text.count(r"\caption{") == text.count(r"\label{tab:t}") == 1
    result = simulated(["a", "b"], priors=tuple(np.linspace(0.1, 0.5, 9)))
    figure = report_figures.FIGURES["precision_recall"].draw(result)
    titles = [ax.get_title(loc="left").rsplit(" ", 1)[1] for ax in figure.axes]
    assert titles == ["0.1", "0.2", "0.25", "0.35", "0.4", "0.5"]


@pytest.mark.skipif(not has_package("booktabs.sty"), reason="no LaTeX here; the structure is tested above")
def test_hundreds_of_tables_and_a_long_one_compile(tmp_path):
    assert shutil.which("pdflatex")
    small = [Table(f"t{i}", "c", ("a", "b"), (("x", "1"),) * 36) for i in range(119)]
    long = Table("long", "c", ("a", "b"), tuple((str(i), "1") for i in range(1000)))
    log = compiled(LATEX_HEAD + "\n".join(map(write_fixed_latex, [*small, long])), "", tmp_path)
    assert not re.search("Overfull|Float too large|Too many", log)


@pytest.fixture(scope="module")
def satellite():
    with pytest.MonkeyPatch.context() as patch:  # the draws of the bands serve the leaders too
        patch.setattr("skewanova.decision.bands.pair_critical_value", None)
        return sa.compare(sa.load_satellite_scores(), at_priors=(0.5, 0.2, 0.1, 0.05), rng=0)


def test_surface_bands_and_many_curves_in_fewer_points(satellite, monkeypatch):
    frame = satellite.tables["surface"]
    points = precision_recall(satellite.evaluation, frame["prior"].unique(), recall=frame["recall"].unique())
    keys = ["model", "prior", "recall"]
    known = points.groupby(keys, sort=False, observed=True)["precision"].mean().reset_index()
    pd.testing.assert_frame_equal(frame, known, rtol=1e-12, atol=1e-14)
    measures, options = satellite.evaluation, Options(0.05, "auto", None, None, 0.01, 0)
    promised = sa.decision.decision_table(measures, rng=0)
    drawn_anew = build_decision_frames(measures, promised, options)
    shared = build_decision_frames(measures, promised, options, satellite.tables["difference_curves"])
    for name, frame in drawn_anew.items():
        pd.testing.assert_frame_equal(shared[name], frame, rtol=1e-10, atol=1e-12)
    complete = {name: satellite.tables[name] for name in ("roc", "precision_recall")}
    monkeypatch.setattr(report_source, "MAX_POINTS", 0)
    thinned = replace(satellite)
    for name, keys, size in (("roc", ["fpr"], 51), ("precision_recall", ["recall", "prior"], 50)):
        found, whole = thinned.tables[name], complete[name]
        assert found.groupby(["model", "fold", *keys[1:]], observed=True).size().eq(size).all()
        assert found[keys[0]].max() == 1.0
        pd.testing.assert_frame_equal(found, whole.merge(found[["model", "fold", *keys]]))


@pytest.mark.slow
def test_figures_show_the_first_models_and_whoever_leads(monkeypatch):
    result = simulated(["a", "b", "c", "d", "e"], n_folds=10)
    for module in (report_figures, report_screen):
        monkeypatch.setattr(module, "MAX_MODELS", 2)
    order = result.ranking["model"].tolist()
    regions = result.tables["regions"].assign(model=order[3])
    result = replace(result, tables={**result.tables, "regions": regions})
    shown = [*order[:2], order[3]]
    assert report_screen.list_drawn_models(result) == shown
    source = report_figures.restrict_to_drawn(result)
    assert source.ranking["model"].tolist() == shown
    assert {*source.pairs["model_a"], *source.pairs["model_b"]} == set(shown)
    assert source.settings is result.settings
    assert "critical_difference" not in report_figures.list_figures(result)
    pattern = r'<tr data-model="\d"[^>]*><th[^>]*><span class="swatch"></span>(\w)</th>'
    names = re.findall(pattern, render_html(result))
    assert sorted(names) == sorted(shown)
    axes = {kind: report_figures.FIGURES[kind].draw(source).axes[0] for kind in ("iauprec", "p_values")}
    assert [label.get_text() for label in axes["iauprec"].get_yticklabels()] == shown
    assert len(axes["p_values"].patches) == 3
