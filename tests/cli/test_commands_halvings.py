"""Tables with halvings on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from halved_tables import halved_frame

import skewanova as sa
from skewanova.cli.commands import main


@pytest.fixture
def path(tmp_path: Path) -> Path:
    halved_frame(n_folds=5, inner_folds=5, n_cases=90).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


def _run(*args: object) -> str:
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_a_file_is_compared_as_its_table(path: Path) -> None:
    found = json.loads(_run("compare", path, "--json"))
    expected = sa.compare(path)
    assert found["pairs"][0]["test"] == "split_half_t_holm"
    assert found["pairs"][0]["p_value"] == pytest.approx(expected.pairs["p_value"].iloc[0])


def test_check_says_that_there_are_halvings(path: Path) -> None:
    assert "halvings: 4, of 90 cases" in _run("check", path)


def test_columns_of_other_names(path: Path, tmp_path: Path) -> None:
    frame = halved_frame(n_folds=5, inner_folds=5, n_cases=90)
    frame.rename(columns={"part": "where", "halving": "cut"}).to_csv(tmp_path / "other.csv", index=False)
    options = ("--part-column", "where", "--halving-column", "cut")
    assert "halvings: 4" in _run("check", tmp_path / "other.csv", *options)
    result = CliRunner().invoke(main, ["check", str(path), "--wide", "--part-column", "part"])
    assert result.exit_code == 2
    assert "leave out --part-column" in result.output


def test_halvings_asked_for_where_there_are_none(tmp_path: Path) -> None:
    held = halved_frame().query("part == 'holdout'").drop(columns=["part", "halving"])
    held.to_csv(tmp_path / "held.csv", index=False)
    result = CliRunner().invoke(main, ["compare", str(tmp_path / "held.csv"), "--design", "split_half"])
    assert result.exit_code == 2
    assert "needs a table with halvings" in " ".join(result.output.split())
