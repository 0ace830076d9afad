"""The comparison with other tools runs with what is installed, and the page says what was recorded."""

import importlib
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from loops import each

import skewanova as sa
from studies.calibration import default_omnibus, default_pairs
from studies.scenarios import SCENARIOS

pytestmark = pytest.mark.no_cover  # the package's lines have tests of their own

ROOT = Path(__file__).resolve().parents[2]
RECORDED = ROOT / "studies" / "records" / "peers.csv"
OURS = ("skewanova", "scikit-learn")
#: Module by which a tool is known to be installed.
FOUND_BY = {"autorank": "autorank", "scikit-posthocs": "scikit_posthocs", "pingouin": "pingouin"}
FOUND_BY["baycomp"] = "baycomp"


@pytest.fixture
def peers(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    return importlib.import_module("peers")


def recorded(peers):
    frame = pd.read_csv(RECORDED, dtype={"version": str, "answer": str}, keep_default_na=False)
    return [peers.Cell(*row) for row in frame.drop(columns="replicates").itertuples(index=False)]


@pytest.mark.usefixtures("undrawn")
def test_runs_with_what_is_installed_and_names_what_is_not(peers, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(peers.shutil, "which", lambda _: None)  # no R
    peers.main(["--replicates", "1", "--out", str(tmp_path / "peers.csv")])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= 80
    assert "skipped: emmeans is not installed" in printed
    for tool, module in FOUND_BY.items():
        assert (f"skipped: {tool} is not installed" in printed) == (find_spec(module) is None)
    found = pd.read_csv(tmp_path / "peers.csv", keep_default_na=False)
    assert {*OURS, "precrec", "PRROC"} <= set(found["tool"])
    assert set(found.loc[found["checked"] == "read", "tool"]) == {"precrec", "PRROC"}
    assert found.loc[found["table"].isin(peers.DESIGNS), "answer"].astype(float).isin([0.0, 1.0]).all()


def test_answers_and_rates_are_those_recorded(peers):
    ours = [c for c in recorded(peers) if c.tool in OURS and c.table in {"areas", "comparisons"}]
    expected = {(cell.question, cell.tool): cell.answer for cell in ours}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)  # the samples are small
        cells = peers.python_cells(dict.fromkeys(OURS, ""))
    assert {(cell.question, cell.tool): cell.answer for cell in cells} == expected
    assert not any("not so" in cell.answer for cell in recorded(peers))
    page = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    for table in peers.TITLES:
        assert peers.markdown(recorded(peers), table) in page
    study = pd.read_csv(RECORDED.with_name("type_one_error.csv")).query("level == 0.05")
    replicates = pd.read_csv(RECORDED)["replicates"].iloc[0]
    for design in peers.DESIGNS:
        scenario = SCENARIOS[design]
        tests = {"default, all models": default_omnibus(scenario), "default, pairs": default_pairs(scenario)}
        for cell in recorded(peers):
            if cell.table == design and cell.tool == "skewanova":
                rows = study[(study["scenario"] == design) & (study["test"] == tests[cell.question])]
                rate = rows["rate"].iloc[0]
                assert abs(float(cell.answer) - rate) < 3 * np.sqrt(rate * (1 - rate) / replicates)


def test_a_no_is_not_said_of_what_is_there_and_r_becomes_cells(peers):
    checks = importlib.import_module("peers_checks")
    named = "see average_precision_score, label_ranking_average_precision_score"
    assert checks.lacks("scikit-learn", "average_precision_s")() == named
    assert "sample_weight" in checks.lacks("scikit-learn", "sample_w")()
    assert checks.lacks("scikit-learn", "skewanova")() == "no"
    assert checks.lacks("skewanova", "compare_cl")() == "see compare_classes"  # loaded when first used
    assert checks.verdict(np.False_, "yes") != "yes"
    p_values = [("S2a", "pairs", 0, 0.01), ("S2a", "pairs", 1, 0.5), ("S1", "joint_tests", 0, 0.2)]
    lines = [
        ["version", "1.8"], ["seconds", "0.031"], *(["p", *map(str, row)] for row in p_values),
        ["cell", "rope", "`delta=`"],
    ]  # fmt: skip
    found, frame = peers._read_r(lines)
    cells = {(cell.table, cell.question): cell.answer for cell in found}
    assert (cells["S2a", "`pairs`, Tukey"], cells["S1", "`joint_tests`, all models"]) == ("0.500", "0.000")
    assert (cells["comparisons", "rope"], cells["seconds", "`pairs`, Tukey"]) == ("`delta=`", "0.031")
    assert frame["p"].tolist() == [0.01, 0.5, 0.2]


def test_defaults_are_those_that_compare_would_choose(peers):
    rates = importlib.import_module("peers_rates")
    checks = importlib.import_module("peers_checks")
    scores = checks.score_table().assign(case=lambda rows: rows.groupby(["model", "fold"]).cumcount())
    with pytest.warns(sa.SkewanovaWarning):
        result = sa.compare(scores, design=sa.FoldDesign("repeated_holdout", 0.2))
    table = result.tables["iauprec"].pivot(index="fold", columns="model", values="iauprec")
    table = table[result.ranking["model"]]
    primary = result.pairs[result.pairs["role"] == "primary"]
    assert set(primary["test"]) == {default_pairs(SCENARIOS["S2a"])}
    assert rates.corrected_pairs(table.to_numpy()) == pytest.approx(primary["p_adjusted"].min())


@each(("shift", "answer"), [(0.0, "F, Tukey"), (0.01, "checked, and not so")])
def test_p_values_of_r_are_held_against_ours(peers, shift, answer):
    rates = importlib.import_module("peers_rates")
    tables = {"S1": rates.draw("S1", 2, 0)}
    rows = [
        ("1.8", "S1", test, i, p + shift)
        for i, values in enumerate(tables["S1"])
        for test, p in zip(peers.R_TESTS, rates.two_way_p(values), strict=True)
    ]
    frame = pd.DataFrame(rows, columns=["version", "scenario", "test", "replicate", "p"])
    assert peers._same_p(frame, tables).answer == answer
