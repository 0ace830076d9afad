"""What a paper takes: it compiles as it stands, and its table holds the numbers of the frames."""

import json
import shutil
import subprocess
from dataclasses import replace

import pandas as pd
import pytest
from click.testing import CliRunner
from hostile_results import HOSTILE, simulated
from messages import expect_warning

import skewanova as sa
from skewanova.base.text import format_number, format_p
from skewanova.cli import commands
from skewanova.report.source import select_primary


@pytest.fixture(scope="module")
def hostile():
    return simulated(HOSTILE, n_folds=6)


def test_the_table_has_differences_from_the_first_model_or_the_control(hostile):
    table = hostile.for_paper().table
    assert table.header == ("Model", "IAUPREC", "95 % interval", "Group", "Difference", "Adjusted p")
    assert [row[0] for row in table.rows] == hostile.ranking["model"].tolist()
    assert table.rows[0][4:] == ("", "")
    pairs = select_primary(hostile.pairs)
    pairs = pairs[pairs["model_a"] == hostile.ranking["model"].iloc[0]].set_index("model_b")
    for name, *_, difference, p in table.rows[1:]:
        assert difference == format_number(-pairs.loc[name, "estimate"])
        assert p == format_p(pairs.loc[name, "p_adjusted"])
    assert "At rarest" not in table.full_note
    assert "Difference: from" in table.full_note
    silent = replace(hostile)
    silent.__dict__["verdict"] = replace(hostile.verdict, state="untrusted", models=())
    paper = silent.for_paper()
    assert paper.table.header == ("Model", "IAUPREC", "95 % interval")
    assert "Bands" not in paper.caption
    assert "No test was reliable" in str(paper.results)
    result = simulated(["a", "b", "c"], n_folds=6, control="b")
    rows = {name: cells for name, *cells in result.for_paper().table.rows}
    assert rows["b"][-2:] == ["", ""]
    assert all(rows[name][-1] for name in "ac")


@pytest.mark.parametrize("names", [HOSTILE, [f"m{i}" for i in range(12)]])
@pytest.mark.skipif(
    shutil.which("pdflatex") is None or shutil.which("bibtex") is None, reason="no LaTeX with BibTeX here"
)
def test_a_paper_compiles_as_it_stands(names, tmp_path):
    folder = simulated(names, n_folds=5).for_paper().save(tmp_path / "paper")
    assert {path.name for path in folder.iterdir()} == {
        "paper.tex", "methods.tex", "results.tex", "table.tex", "figure.pdf", "references.bib",
        "provenance.json",
    }  # fmt: skip
    for command in ("pdflatex", "bibtex", "pdflatex", "pdflatex"):
        option = ["-interaction=nonstopmode", "-halt-on-error"] if command == "pdflatex" else []
        name = "paper.tex" if command == "pdflatex" else "paper"
        run = subprocess.run([command, *option, name], cwd=folder, capture_output=True, check=False)
        log = run.stdout.decode("latin-1")
        assert run.returncode == 0, log[-2000:]
    assert "undefined" not in log
    assert (folder / "paper.pdf").read_bytes().startswith(b"%PDF")


def test_the_command_writes_the_same_but_for_several_data_sets(tmp_path):
    simulated(["a", "b"], n_folds=6).scores.to_frame().to_csv(tmp_path / "scores.csv", index=False)
    run = CliRunner().invoke(
        commands.main,
        ["compare", str(tmp_path / "scores.csv"), "--paper", str(tmp_path / "paper"), "--quiet"],
    )
    assert run.exit_code == 0, run.output
    paper = expect_warning(r".", sa.compare, tmp_path / "scores.csv").for_paper()
    assert (tmp_path / "paper" / "methods.tex").read_text() == paper.methods.to_latex()
    assert (tmp_path / "paper" / "results.tex").read_text() == paper.results.to_latex()
    assert json.loads((tmp_path / "paper" / "provenance.json").read_text())["input"]["name"] == "scores.csv"
    table = simulated(["a", "b"], n_folds=6).scores.to_frame()
    pd.concat([table.assign(dataset=name) for name in "xyz"]).to_csv(tmp_path / "scores.csv", index=False)
    run = CliRunner().invoke(
        commands.main, ["compare", str(tmp_path / "scores.csv"), "--paper", str(tmp_path / "other")]
    )
    assert run.exit_code == 2
    assert "--paper takes one comparison" in run.output
    assert not (tmp_path / "other").exists()
