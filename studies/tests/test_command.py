"""The command that runs studies prints what their functions return."""

import re
from functools import partial
from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from studies import areas
from studies.__main__ import study as main
from studies.areas import binormal_study
from studies.calibration import type_one_error_study


def run(*args: object) -> str:
    result = CliRunner().invoke(main, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result.output


def test_type_one_error_prints_and_writes_the_study(tmp_path):
    args = ("--scenarios", "S1, G-0.2", "--replicates", 20, "--seed", 3)
    text = run("type-one-error", *args, "--out", tmp_path / "rates")
    expected = type_one_error_study(scenarios=["S1", "G-0.2"], replicates=20, rng=3, progress=False)
    pd.testing.assert_frame_equal(
        pd.read_csv(tmp_path / "rates" / "type_one_error.csv"), expected.to_frame(), check_dtype=False
    )
    assert text == expected.to_table().to_text() + "\n"


def test_power_prints_a_row_for_every_test():
    assert "default_omnibus" in run("power", "--scenarios", "S1", "--replicates", 4)


def test_binormal_prints_and_writes_the_study(tmp_path):
    text = run("binormal", "--replicates", 4, "--out", tmp_path / "bias")
    expected = binormal_study(replicates=4, progress=False)
    assert len(pd.read_csv(tmp_path / "bias" / "binormal.csv")) == len(expected.to_frame())
    assert all(table.to_text() in text for table in expected.to_tables())


def test_estimators_by_prior_are_one_option_away(monkeypatch):
    few = {"settings": ["binormal"], "sizes": [50], "priors": [0.1, 0.5]}
    monkeypatch.setattr(areas, "estimators_by_prior_study", partial(areas.estimators_by_prior_study, **few))
    text = run("estimators", "--by", "prior", "--replicates", 2)
    assert text == areas.estimators_by_prior_study(replicates=2, progress=False).to_table().to_text() + "\n"
    assert "by prior (binormal, 50 cases)" in " ".join(text.split())


def test_unknown_scenario_is_one_clear_line():
    result = CliRunner().invoke(main, ["power", "--scenarios", "S9"])
    assert result.exit_code == 2
    assert "S9" in result.output
    assert "Traceback" not in result.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--scenarios", "zzz"], r"^Error: --scenarios must be one of .*; but got 'zzz'"),
        (["--replicates", "0"], "0 is not in the range x>=1"),
        (["--out", "file"], r"'file' is a file"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("text")
    result = CliRunner().invoke(main, ["power", *arguments])
    assert result.exit_code == 2
    assert re.search(message, result.output, re.MULTILINE)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
