"""What the commands print: for people in colours, for programs as JSON, for logs as plain text."""

import json
import os
import re
import subprocess
import sys
import warnings
from contextlib import contextmanager
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from command_runs import QUICK, assert_refused, frame, run
from fuzz.names import on_terminal
from loops import each
from messages import expect_warning

import skewanova as sa
from skewanova.base import folders
from skewanova.base.checks import warn_each
from skewanova.base.text import STAGES, escape_text, listen_to_stages, report_stage
from skewanova.cli import commands as cli_commands
from skewanova.cli import output as cli_output
from skewanova.report import document as report_folder
from skewanova.report.figures import FIGURES
from skewanova.report.source import COMPUTED_FRAMES, FRAMES


@pytest.fixture
def known():
    return expect_warning(r".", sa.compare, sa.read_scores("scores.csv"), (0.4, 0.5), at_priors=(0.5,))


def test_comparison_as_json_holds_every_frame(folder, known, undrawn):
    done = run("compare", "scores.csv", *QUICK, "--json", "--out", "report")
    assert (done.exit_code, done.stderr) == (0, "")
    found = json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert (found["command"], found["skewanova"]) == ("compare", sa.__version__)
    assert tuple(found["conclusions"]) == known.conclusions
    assert tuple(found["warnings"]) == tuple(map(cli_output.to_shell, known.warnings)) != known.warnings
    assert found["warnings"][0].endswith("state the design, as in --design kfold")
    assert found["verdict"]["warnings"][0] == found["warnings"][0]
    assert found["verdict"]["choose"] == known.verdict.choose
    assert [n["table"] for n in found["verdict"]["numbers"]] == [n.table for n in known.verdict.numbers]
    assert found["settings"]["deployment_limits"] == [0.4, 0.5]
    for name in set(FRAMES) - {*COMPUTED_FRAMES, "residuals"}:
        records, rows = found[name], known.tables[name]
        assert len(records) == len(rows)
        for record, row in zip(records, rows.to_dict("records"), strict=True):
            assert list(record) == list(row)
            for value, wanted in zip(record.values(), row.values(), strict=True):
                missing = isinstance(wanted, float) and not np.isfinite(wanted)
                assert value is None if missing else value == wanted


@pytest.mark.parametrize("command", [["compare", "scores.csv", *QUICK, "--json"], ["plan", "scores.csv"]])
def test_what_is_warned_of_while_an_output_is_written_is_told(folder, undrawn, monkeypatch, command):
    whole = folders.replace_folder

    @contextmanager
    def noisy(*args, **options):
        with whole(*args, **options) as output:
            yield output
        warn_each(["what stood there is now in 'x\x1b[31m'"])

    monkeypatch.setattr(cli_output, "replace_folder", noisy)
    monkeypatch.setattr(report_folder, "replace_folder", noisy)
    done = run(*command, "--out", "report")
    assert (done.exit_code, done.stderr) == (0, "warning: what stood there is now in 'x\\x1b[31m'\n")


def test_other_warnings_of_writing_pass():
    with pytest.warns(UserWarning, match=r"^mine$"), cli_output.print_warnings():
        warnings.warn("mine", UserWarning, stacklevel=1)


def test_check_as_json_and_inverted_scores_in_every_output(folder):
    found = json.loads(run("check", "scores.csv", "--json").stdout)
    near_chance, few = found.pop("warnings")
    said = "model 'm0' ranks near chance in 1 of 3 folds (the first: fold 3, AUC 0.495)"
    assert near_chance.startswith(said)
    assert few.startswith("the smallest fold has 20 positives: means and intervals are about areas in folds")
    assert found == {
        "command": "check", "models": ["m0", "m1"], "folds": ["1", "2", "3"], "n_rows": 240,
        "n_positive": 120, "n_negative": 120, "has_cases": False, "has_clusters": False, "has_weights": False,
        "skewanova": sa.__version__,
    }  # fmt: skip
    assert_refused(["check", "absent.csv", "--json"], "there is no file", folder)
    table = frame(n_models=3, size=200)
    inverted = table.assign(y_score=table["y_score"].where(table["model"] == "m2", -table["y_score"]))
    inverted.to_csv("scores.csv", index=False)
    printed = " ".join(run("compare", "scores.csv", *QUICK).output.split())
    named = re.search(r"worse than chance: 'm0' \(AUC [\d.]+\), 'm1' \(AUC [\d.]+\)", printed)
    assert named.start() < printed.index("Choose Use m2.")
    assert named[0] in " ".join(run("check", "scores.csv").output.split())
    verdict = json.loads(run("compare", "scores.csv", *QUICK, "--json").output)["verdict"]
    assert any(named[0] in text for text in verdict["warnings"])
    (decisive,) = [row for row in verdict["evidence"] if row["decisive"]]
    assert decisive["p_adjusted"] == max(row["p_adjusted"] for row in verdict["evidence"])


@each(("value", "plain"), [
    (np.nan, None), (-np.inf, None), (np.float64(0.5), 0.5), (np.int64(3), 3), (np.bool_(True), True),
    (pd.NA, "<NA>"), ({"a": (1, np.nan)}, {"a": [1, None]}), (np.arange(2), [0, 1]), (None, None),
    (pd.DataFrame({"a b": [np.nan]}), [{"a b": None}]),
])  # fmt: skip
def test_what_json_has(value, plain):
    assert cli_output._to_json_value(value) == plain


def test_quiet_prints_nothing_and_every_stage_is_counted(folder, undrawn):
    done = run("compare", "scores.csv", *QUICK, "--quiet", "--out", "report")
    assert (done.exit_code, done.output) == (0, "")
    assert (folder / "report" / "report.html").is_file()
    assert run("intervals", "scores.csv", "-q").output == ""
    assert_refused(["check", "absent.csv", "--quiet"], "there is no file", folder)
    heard = []
    with listen_to_stages(heard.append), pytest.warns(sa.SkewanovaWarning, match=r"."):
        sa.compare("scores.csv", (0.4, 0.5), at_priors=(0.5, 0.4)).save("report", figures="svg")
    report_stage("nobody hears")
    figures = [kind.replace("_", " ") for kind in FIGURES if kind not in {"components", "prior_estimate"}]
    assert heard == [*STAGES, *(f"figure {kind}" for kind in figures)]


@pytest.mark.parametrize("columns", [60, 80, 140])
def test_lines_fit_the_screen(folder, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    frame(n_models=5).to_csv("scores.csv", index=False)
    for command, options in (
        ("compare", [*QUICK, "--full"]), ("intervals", ["--prior", "0.01"]), ("check", [])
    ):  # fmt: skip
        done = run(command, "scores.csv", *options)
        assert done.exit_code == 0
        lengths = [len(line) for line in done.output.split("\n")]
        assert max(lengths) <= columns
        assert command == "check" or max(lengths) > columns - 25


@pytest.mark.slow
def test_colours_on_a_terminal_only(folder, known):
    def output(colour, **environment):
        options = {"color": colour, "env": environment, "prog_name": "skewanova"}
        command = ["compare", "scores.csv", *QUICK, "--full"]
        return CliRunner().invoke(cli_commands.main, command, **options).output

    plain, colour_summary = output(False), output(True)
    assert plain == cli_output.to_shell(known.summary(full=True)) + "\n" == output(True, NO_COLOR="1")
    assert "\x1b[1mConclusions\x1b[0m\n" in colour_summary
    assert "\x1b[1mHow sure\x1b[0m  " in colour_summary
    done = CliRunner().invoke(cli_commands.main, ["check", "absent.csv"], color=True)
    assert done.stderr.startswith("\x1b[31m\x1b[1mError:\x1b[0m there is no file")


def test_verdict_and_ranking_are_printed_and_a_missing_fold_column_is_told(folder, known):
    brief = run("compare", "scores.csv", *QUICK).output
    assert brief == run("compare", "scores.csv", *QUICK, "--brief").output
    assert brief.startswith(cli_output.to_shell(known.summary()))
    assert "state the design, as in --design kfold\n" in brief.replace("\n                  ", " ")
    number = len(known.warnings) - len(known.verdict.warnings)
    assert 0 < number < len(known.warnings)
    assert f"With --full: {number} warnings, conclusions, tests, tables." in brief
    assert "Conclusions" not in brief
    frame().drop(columns="fold").to_csv("scores.csv", index=False)
    for command in (["compare", *QUICK], ["check"]):
        note = " ".join(run(command[0], "scores.csv", *command[1:]).stderr.split())
        assert note.endswith("if they are several folds, name the fold column: --fold-column NAME")
        assert run(command[0], "scores.csv", *command[1:], "--quiet").output == ""


def test_diff_tells_what_changed_by_its_exit_status(folder):
    swapped = frame().replace({"model": {"m0": "m1", "m1": "m0"}})
    for name, table in (("old", frame()), ("new", swapped)):
        table.to_csv("other.csv", index=False)
        (folder / f"{name}.json").write_text(run("compare", "other.csv", *QUICK, "--json").stdout)
    same = run("diff", "old.json", "old.json")
    assert (same.exit_code, same.stderr) == (0, "")
    assert same.stdout.startswith("m0 still leads.\n")
    changed = run("diff", "old.json", "new.json")
    assert (changed.exit_code, changed.stderr) == (3, "")
    assert changed.stdout.startswith("The leader changed from m0 to m1.\n")
    found = json.loads(run("diff", "old.json", "new.json", "--json").stdout)
    assert (found["command"], found["leader_changed"], len(found["changes"])) == ("diff", True, 2)
    assert run("diff", "old.json", "new.json", "-q").output == ""
    message = "Error: NEW must be a new folder of `skewanova"
    assert_refused(["diff", "old.json", "scores.csv"], message, folder)


def test_what_is_coloured_and_completed():
    text = "Warning  w\nChoose  a\n\nConclusions\n- a is ahead of b.\n- c\n\nWarnings\n- few\n\nlast"
    red = cli_output.colour_summary(text).split("\n")
    assert red[:2] == ["\x1b[33m\x1b[1mWarning\x1b[0m  w", "\x1b[1mChoose\x1b[0m  a"]
    assert red[4:6] == ["\x1b[32m- a is ahead of b.\x1b[0m", "- c"]
    assert red[8:] == ["\x1b[33m- few\x1b[0m", "", "last"]
    for shell in ("bash", "zsh", "fish"):
        done = run("completion", shell)
        assert done.exit_code == 0
        assert f"_SKEWANOVA_COMPLETE={shell}_complete" in done.output
    environment = {"_SKEWANOVA_COMPLETE": "bash_complete", "COMP_WORDS": "skewanova com", "COMP_CWORD": "1"}
    done = CliRunner().invoke(cli_commands.main, [], prog_name="skewanova", env=environment)
    assert {"plain,compare", "plain,completion"} <= set(done.output.split())


@pytest.mark.slow
@pytest.mark.skipif(find_spec("pty") is None, reason="needs a pseudo-terminal")
def test_progress_on_a_terminal_leaves_the_output_clean(folder):
    import pty
    import select
    import termios

    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 80))
    command = [sys.executable, "-m", "skewanova.cli.commands", "compare", "scores.csv", *QUICK]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=slave, check=False, env={**os.environ})
    assert select.select([master], [], [], 5)[0], "nothing was shown"
    shown = os.read(master, 100_000).decode()
    os.close(slave)
    os.close(master)
    assert done.returncode == 0
    assert "measures" in shown
    assert shown.endswith("\r")
    assert b"measures  " not in done.stdout
    assert done.stdout.startswith(b"Warning  ")


@pytest.mark.slow
def test_report_tells_and_opens_the_page(folder, undrawn, monkeypatch):
    opened = []
    monkeypatch.setattr(cli_commands.click, "launch", lambda address: opened.append(address) or 0)
    run("compare", "scores.csv", *QUICK, "--quiet", "--out", "my report")
    page = os.path.join("my report", "report.html")
    assert (run("report", "my report").output, opened) == (f"{page}\n", [])
    assert run("report", "my report", "--open").output == f"{page}\n"
    assert opened == [(folder / page).as_uri()]
    monkeypatch.setattr(cli_commands.click, "launch", lambda address: 3)
    failed = "no browser could be started; open '.*' yourself"
    assert_refused(["report", "my report", "--open"], failed, folder)
    (folder / page).unlink()
    (folder / "report.html").write_text("mine")
    for place in ("my report", ".", "absent", "scores.csv"):
        assert_refused(["report", place], "SCORES --out NEW`, a new folder", folder)


#: Title of the window, C1 control sequence, text from right to left, sign without width, delete, filler.
HOSTILE = ("a\x1b]0;title\x07", "b\x9b31m", "c\u202etxt", "d\u200b", "e\x7f", "f\u3164", "g\x08\x08")


@pytest.mark.slow
def test_no_name_of_a_table_acts_on_a_terminal(folder, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    table = frame().replace({"model": {"m0": HOSTILE[0] + HOSTILE[1], "m1": "".join(HOSTILE[2:])}})
    parts = [table.assign(dataset=name) for name in HOSTILE[:5]]
    for name, written in {
        "scores": table,
        "folds": table.assign(fold=HOSTILE[0]),
        "labels": table.iloc[:-1].assign(y_true=HOSTILE[1]),
        "lacking": table.query("not (fold == 2 and model.str.startswith('a'))"),
        "heads": table.rename(columns={"y_score": HOSTILE[0]}),
        HOSTILE[0]: table,
        "sets": pd.concat(parts),
        "wrong": pd.concat([*parts, parts[0].assign(dataset=HOSTILE[5], fold="")]),
    }.items():
        written.to_csv(f"{name}.csv", index=False)
    pytest.importorskip("pty", reason="this system has no pseudo-terminals")
    text = "".join(map(on_terminal, [
        ["check", "scores.csv"], ["check", "scores.csv", "--json"], ["compare", "scores.csv", "--seed", "1"],
        ["intervals", "scores.csv", "--method", "wilson"], ["threshold", "scores.csv", "--threshold", "0"],
        ["plan", "scores.csv"], ["compare", "scores.csv", "--control", "\x1b[2J"],
        *(["check", f"{name}.csv"] for name in ("folds", "labels", "lacking", "heads", "sets", "wrong")),
        ["check", f"{HOSTILE[0]}.csv", "--score-column", HOSTILE[2]], ["check", f"{HOSTILE[2]}.txt"],
        ["check", "sets.csv", "--json"], ["compare", "sets.csv", *QUICK],
    ]))  # fmt: skip
    own = re.sub(r"\x1b\[(\d+m|A)|\r", "", text)  # colours and movements of the commands' own are left
    assert own.count("\nError: ") + own.startswith("Error: ") == 7
    assert [line for line in own.split("\n") if escape_text(line) != line] == []
    assert all(escape_text(name) in text for name in HOSTILE)
    assert all(f"data set {escape_text(name)}" in text for name in HOSTILE[:5])
