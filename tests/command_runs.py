"""Runs of the command line, and what a refusal looks like."""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from fold_tables import draw_rows

from skewanova.cli import commands as cli_commands

QUICK = ["--at-priors", "0.5", "--deployment-prior", "0.4:0.5"]


def frame(n_models=2, n_folds=3, size=40):
    shifts = {f"m{model}": 0.3 + 0.4 * model for model in range(n_models)}
    labels, rng = np.repeat([0, 1], size // 2), np.random.default_rng(0)
    return draw_rows(shifts, range(1, n_folds + 1), labels, rng, digits=1)


def wide(table):
    cases = table.assign(case=table.groupby(["model", "fold"]).cumcount() + 1000 * table["fold"])
    return cases.pivot(index=["fold", "case", "y_true"], columns="model", values="y_score").reset_index()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    frame().to_csv("scores.csv", index=False)
    wide(frame()).to_csv("wide.csv", index=False)
    return tmp_path


def run(*arguments):
    """The command in this process: quicker, and enough to see what it says."""
    return CliRunner().invoke(
        cli_commands.main, list(map(str, arguments)), prog_name="skewanova", terminal_width=80
    )


def list_commands(group=cli_commands.main, path=()):
    """Words that call the group and each of its commands."""
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from list_commands(command, (*path, name))


def content(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def assert_refused(arguments, message, folder):
    """Exit status 2, one line that begins with Error, nothing on the standard output, nothing written."""
    before = content(folder)
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    lines = done.stderr.rstrip("\n").split("\n")
    assert [line for line in lines if line.startswith("Error: ")] == [lines[-1]]
    assert len(lines) == 1 or lines[0].startswith("Usage: ")
    assert re.search(message, lines[-1]), lines[-1]
    assert "Traceback" not in done.output
    assert content(folder) == before
