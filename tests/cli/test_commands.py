import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from command_runs import QUICK, assert_refused, content, frame, run, wide
from loops import each

import skewanova as sa
from skewanova.cli import commands as cli_commands


def run_process(*arguments, **environment):
    """The command as a shell starts it."""
    script = Path(sys.executable).with_name("skewanova")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "skewanova.cli"]
    return subprocess.run(
        [*command, *map(str, arguments)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        env={**os.environ, **environment},
    )


# --- as a process -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_demo_as_a_process(tmp_path):
    done = run_process("demo", "--alpha", "0.005", "--at-priors", "0.5,0.1")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Choose            The data cannot tell which of A, C and B is best.\n")
    assert all(line.isprintable() and len(line) <= 80 for line in done.stdout.split("\n"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_compare_as_a_process_writes_the_folder(folder):
    done = run_process("compare", "scores.csv", *QUICK, "--out", "report", "--figures", "none")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.endswith("Written to report: open report/report.html in a browser.\n")
    assert all(line.isprintable() and len(line) <= 80 for line in done.stdout.split("\n"))
    result = sa.read_scores("scores.csv")
    with pytest.warns(sa.SkewanovaWarning, match=r"."):
        known = sa.compare(result, (0.4, 0.5), at_priors=(0.5,))
    for name in ("auprec", "iauprec", "tests", "pairs", "ranking", "regions"):
        written = pd.read_csv(folder / "report" / f"{name}.csv", keep_default_na=False, na_values=[""])
        assert list(written) == list(known.tables[name])
    assert written.shape == known.tables["regions"].shape
    assert (folder / "report" / "report.html").is_file()
    assert sorted(p.name for p in folder.iterdir()) == ["report", "scores.csv", "wide.csv"]


@pytest.mark.slow
def test_bad_input_as_a_process(folder):
    before = content(folder)
    done = run_process("compare", "absent.csv", "--out", "report")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "Error: there is no file 'absent.csv'\n"
    assert content(folder) == before


@pytest.mark.slow
def test_names_that_the_terminal_cannot_show_do_not_stop_it(folder):
    frame().replace({"model": {"m0": "模型"}}).to_csv("scores.csv", index=False)
    done = run_process("check", "scores.csv", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert (done.returncode, done.stderr) == (0, "")
    assert "models: \\u6a21\\u578b, m1\n" in done.stdout


@pytest.mark.slow
def test_what_is_no_fault_of_the_input_exits_with_1(folder):
    code = (
        "import skewanova.scores.pairing as s\n"
        "def fail(table): raise RuntimeError('a bug')\n"
        "s.describe_table = fail\n"
        "from skewanova.cli.commands import main\n"
        "main(['check', 'scores.csv'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "RuntimeError: a bug" in done.stderr


# --- help and version -------------------------------------------------------------------------------------


def commands(group=cli_commands.main, path=()):
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, (*path, name))


@each("path", list(commands()), ids=" ".join)
@each("flag", ["--help", "-h"])
def test_help_fits_80_columns(path, flag):
    done = CliRunner().invoke(cli_commands.main, [*path, flag], prog_name="skewanova", env={"COLUMNS": "200"})
    assert done.exit_code == 0
    lines = done.output.split("\n")
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(f"Usage: {' '.join(['skewanova', *path])} [OPTIONS]")
    assert lines[2].strip().endswith((".", ","))


def test_every_option_has_help():
    for path in commands():
        command = cli_commands.main
        for name in path:
            command = command.commands[name]
        for parameter in command.params:
            assert parameter.param_type_name == "argument" or parameter.help.endswith((".", ")", "DIR")), (
                parameter
            )


def test_version():
    assert run("--version").output == f"skewanova, version {sa.__version__}\n"


# --- check ------------------------------------------------------------------------------------------------


NAMED_CASES = "cases: named, and the same for all models of a fold"


def test_check(folder):
    known = [
        "240 rows: 2 models x 3 folds",
        "models: m0, m1",
        "positives a fold: 20; negatives a fold: 20",
        "prior in the table: 0.5",
        "cases: not named",
        "The table can be compared.",
    ]
    few = "warning: the smallest fold has 20 positives: means and intervals are about areas"
    for arguments, cases in ((["scores.csv"], known[4]), (["wide.csv", "--wide"], NAMED_CASES)):
        told = run("check", *arguments).output.split("\n")[:-1]
        assert told[:5] == [*known[:4], cases]
        assert told[-1] == known[5]
        warned = [line for line in told if line.startswith("warning: ")]
        assert warned == [
            "warning: model 'm0' ranks near chance in 1 of 3 folds (the first: fold 3, AUC",
            few,
        ]


def test_check_shows_control_signs_escaped(folder):
    frame().replace({"model": {"m0": "\x1b[31mred\nline"}}).to_csv("scores.csv", index=False)
    done = run("check", "scores.csv")
    assert r"models: \x1b[31mred line, m1" in done.output
    assert all(line.isprintable() for line in done.output.split("\n"))


def test_check_tells_what_it_cannot_check(folder):
    frame()[1:].to_csv("scores.csv", index=False)
    done = run("check", "scores.csv")
    assert done.exit_code == 0
    assert "warning: models have different numbers of cases in 1 folds (the first: fold 1)" in done.output


def test_options_about_columns(folder):
    names = {"model": "clf", "fold": "split", "y_true": "label", "y_score": "p"}
    renamed = frame().rename(columns=names)
    renamed["label"] = np.where(renamed["label"] == 1, "ill", "well")
    renamed["id"] = renamed.groupby(["clf", "split"]).cumcount() + 1000 * renamed["split"]
    renamed.to_parquet("renamed.parquet")
    renamed.to_csv("renamed.csv.gz", index=False)
    options = [
        "--model-column", "clf", "--fold-column", "split", "--label-column", "label", "--score-column", "p",
        "--case-column", "id", "--positive", "ill",
    ]  # fmt: skip
    known = run("check", "wide.csv", "--wide").output
    for name in ("renamed.parquet", "renamed.csv.gz"):
        done = run("check", name, *options)
        assert (done.exit_code, done.output) == (0, known)
    table = wide(frame()).rename(columns={"fold": "split", "y_true": "label", "case": "id"})
    table.assign(label=np.where(table["label"] == 1, "ill", "well")).to_csv("w.csv", index=False)
    done = run("check", "w.csv", "--wide", *options[2:6], *options[8:])
    assert (done.exit_code, done.output) == (0, known)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["check", "absent.csv"], r"^Error: there is no file 'absent\.csv'$"),
        (["check", "."], r"^Error: the folder '\.' holds no file that ends in \.parquet or \.pq$"),
        (["check", "scores.txt"], r"^Error: 'scores\.txt' must end in \.csv, \.csv\.gz, \.jsonl, "),
        (["check", "wide.csv"], r"must have the columns 'model', 'y_score', but has .*\(--wide\)$"),
        (
            ["check", "scores.csv", "--wide"],
            r"^Error: `model` must hold real numbers, but 'scores\.csv' has 'm0' at line 2$",
        ),
        (
            ["check", "wide.csv", "--wide", "--score-column", "m0"],
            "leave out --model-column, --score-column$",
        ),
        (["check", "scores.csv", "--case-column", "id"], r"must have the column 'id', but has 'model'"),
        (
            ["check", "scores.csv", "--fold-column", "model"],
            r"^Error: the column 'model' cannot serve twice$",
        ),
        (
            ["check", "scores.csv", "--positive", "yes"],
            r"`pos_label` must be one of the labels 0, 1, but got 'yes'$",
        ),
        (["check"], r"^Error: Missing argument 'SCORES'\.$"),
        (["check", "scores.csv", "--at-priors", "0.5"], "No such option"),
        (["compare", "scores.csv", "extra.csv"], "unexpected extra argument"),
        (["chek"], "No such command 'chek'"),
    ],
)
def test_tables_that_are_refused(folder, arguments, message):
    (folder / "scores.txt").write_text("model\n", encoding="utf-8")
    assert_refused(arguments, message, folder)


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda f: f[f["model"] == "m0"], "a comparison needs at least 2 models, but the table has 1$"),
        (lambda f: f[:200], "these are missing: model 'm1' in fold 3"),
        (lambda f: f.assign(y_true=0), "model 'm0' has no positive case in fold 1"),
        (lambda f: f.assign(y_score=f["y_score"].mask(f.index == 7)), "has 1 NaN, the first at line 9$"),
        (
            lambda f: f.assign(y_score=f["y_score"].astype(str).mask(f.index == 7, "\x1b[31m\nx")),
            r"has '\\x1b\[31m\\nx' at line 9$",
        ),
        (
            lambda f: f.assign(fold=f["fold"].astype(object).mask(f.index == 7, "")),
            "`fold` must not be empty, but 1 row is, the first at line 9$",
        ),
        (lambda f: f.assign(case=np.arange(len(f))), "must be scored on the same cases"),
        (lambda f: f[:0], "must hold at least one row, but is empty$"),
        (lambda f: f.rename(columns={"model": "a\nb"}), r"must have the column 'model', but has 'a\\nb'"),
    ],
)
def test_rows_that_are_refused(folder, edit, message):
    edit(frame()).to_csv("scores.csv", index=False)
    assert_refused(["check", "scores.csv"], message, folder)
    if "needs at least" not in message:
        assert_refused(["compare", "scores.csv", *QUICK, "--out", "report"], message, folder)


def test_a_comparison_of_one_model_is_refused(folder):
    one = frame()
    one[one["model"] == one["model"].iloc[0]].to_csv("scores.csv", index=False)
    assert_refused(["compare", "scores.csv", *QUICK, "--out", "report"], "needs at least 2 models", folder)


def test_one_fold_is_checked_and_compared_by_its_cases(folder, undrawn):
    one = frame()
    one[one["fold"] == one["fold"].iloc[0]].to_csv("scores.csv", index=False)
    assert (
        "one fold: models are compared by how much their areas vary over cases"
        in run("check", "scores.csv").output
    )
    done = run("compare", "scores.csv", *QUICK, "--full", "--out", "report")
    assert done.exit_code == 0
    assert "F over cases of one test set of IAUPREC: F(" in " ".join(done.output.split())
    assert (folder / "report" / "report.html").is_file()


def test_a_column_name_with_a_line_break_stays_on_the_line_of_the_error(folder):
    wide(frame()).assign(**{"a\nb": "text"}).to_csv("wide.csv", index=False)
    assert_refused(["check", "wide.csv", "--wide"], "^Error: `a b` must hold real numbers", folder)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--deployment-prior", "4"], r"did you mean skew=4, that is prior=0\.2\?$"),
        (
            ["--deployment-prior", "0.2:0.05"],
            r"must be given as \(low, high\), but got low=0\.2 > high=0\.05$",
        ),
        (
            ["--deployment-prior", "x"],
            "a deployment prior is LOW:HIGH, one prior, skew:LOW:HIGH, beta:A:B or "
            "quantiles:SHARE=PRIOR:SHARE=PRIOR, but got 'x'$",
        ),
        (["--deployment-prior", "0.1:"], "a deployment prior is LOW:HIGH"),
        (["--deployment-prior", ""], "a deployment prior is LOW:HIGH"),
        (["--deployment-prior", "0.1:0.2:0.3"], "a deployment prior is LOW:HIGH"),
        (["--deployment-prior", "nan"], "strictly between 0 and 1, but got nan$"),
        (["--deployment-prior", "skew:4"], "a deployment prior is LOW:HIGH"),
        (["--deployment-prior", "skew:0:4"], "must be positive and finite, but got 0$"),
        (["--deployment-prior", "skew:19:4"], "low=19 > high=4"),
        (["--deployment-prior", "beta:0:1"], r"`a` must be finite and at least 0\.1, but got 0$"),
        (["--at-priors", "x"], "priors are numbers separated by commas, but got 'x'$"),
        (["--at-priors", "0.5,"], "priors are numbers separated by commas, but got '0.5,'$"),
        (["--at-priors", "0.5,5"], "did you mean skew=5"),
        (["--at-priors", "0.5,0.5"], r"`at_priors` must be distinct, but got 0\.5, 0\.5$"),
        (["--alpha", "0"], "`alpha` must lie strictly between 0 and 1, but got 0$"),
        (["--alpha", "nan"], "`alpha` must lie strictly between 0 and 1, but got nan$"),
        (["--alpha", "x"], "'x' is not a valid float"),
        (["--area-estimator", "auc"], "'auc' is not one of 'trapezoid', 'exact'"),
        (["--missing", "ignore"], "'ignore' is not one of 'raise', 'drop'"),
        (
            ["--design", "repeated_kfold"],
            "design='repeated_kfold' needs --test-fraction, 0.1 for 10-fold",
        ),
        (["--seed", "-1"], "-1 is not in the range x>=0"),
        (["--seed", "1.5"], "'1.5' is not a valid integer"),
        (["--out", "scores.csv"], "'scores.csv' is a file"),
        (["--out", "."], r"."),
        (["--figures", "svg,gif"], "must be some of svg, png, pdf, or none, but got 'gif'"),
    ],
)
def test_options_that_are_refused(folder, arguments, message):
    assert_refused(["compare", "scores.csv", *QUICK, *arguments], message, folder)


# --- compare ----------------------------------------------------------------------------------------------


def test_compare_prints_the_summary_and_drops_folds_if_asked(folder):
    frame()[:200].to_csv("scores.csv", index=False)
    assert_refused(["compare", "scores.csv", *QUICK], "--missing drop$", folder)
    done = run("compare", "scores.csv", *QUICK, "--missing", "drop", "--full")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.output.startswith("Choose  ")
    assert "dropped 1 of 3 folds for all models" in " ".join(done.output.split())


def test_compare_writes_the_figures_asked_for(folder, undrawn):
    assert run("compare", "scores.csv", *QUICK, "--out", "bare", "--figures", "none").exit_code == 0
    assert not (folder / "bare" / "figures").exists()
    assert run("compare", "scores.csv", *QUICK, "--out", "two", "--figures", "svg,pdf").exit_code == 0
    assert {path.suffix for path in (folder / "two" / "figures").iterdir()} == {".svg", ".pdf"}


def test_compare_passes_every_option_on(folder, monkeypatch):
    seen = {}

    def keep(scores, deployment_prior, **options):
        seen.update(options, deployment_prior=deployment_prior, models=scores.models)
        raise sa.InputError("seen enough")

    monkeypatch.setattr(sa, "compare", keep)
    arguments = [
        "compare", "wide.csv", "--wide", "--deployment-prior", "skew:4:19", "--at-priors", "0.5, 0.1",
        "--alpha", "0.005", "--area-estimator", "exact", "--missing", "drop",
        "--seed", "7",
    ]  # fmt: skip
    assert run(*arguments).exit_code == 2
    assert seen["deployment_prior"] == sa.UniformSkew(4, 19)
    assert seen["at_priors"] == (0.5, 0.1)
    assert (seen["alpha"], seen["area_estimator"]) == (0.005, "exact")
    assert (seen["missing"], seen["rng"], seen["models"]) == ("drop", 7, ("m0", "m1"))
    assert run("demo").exit_code == 2
    assert seen["deployment_prior"] == sa.UniformPrior(0.05, 0.2)
    assert (seen["at_priors"], seen["alpha"], seen["rng"]) == ((0.5, 0.1, 0.01), 0.05, 0)


# --- intervals and studies --------------------------------------------------------------------------------


def test_intervals(folder):
    done = run("intervals", "scores.csv", "--prior", "0.4", "--out", "i")
    assert (done.exit_code, done.stderr) == (0, "")
    assert max(map(len, done.output.split("\n"))) <= 80
    assert "about these fitted models on further cases: what training anew" in " ".join(done.output.split())
    with pytest.warns(sa.SkewanovaWarning, match=r"."):
        known = sa.inference.interval_table(sa.read_scores("scores.csv"), prior=0.4)
    assert pd.read_csv("i/intervals.csv")["estimate"].tolist() == pytest.approx(
        known["estimate"].tolist(), rel=1e-12
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--prior", "4"], "did you mean skew=4"),
        (["--prior", "x"], r"'x'"),
        (["--prior", "0.1", "--deployment-prior", "0.1:0.2"], "give either `prior` or `deployment_prior`"),
        (["--confidence-level", "2"], "`confidence_level` must lie strictly between 0 and 1, but got 2$"),
        (["--method", "magic"], "'magic' is not one of"),
        (
            ["--out", "scores.csv"],
            "^Error: --out must be a folder, but 'scores.csv' is a file; choose another",
        ),
        (["--out", "scores.csv/i"], r"^Error: --out cannot be written \('scores\.csv' is a file\); choose"),
        (["--out", "."], r"^Error: --out must not be the current folder"),
    ],
)
def test_intervals_that_are_refused(folder, arguments, message):
    assert_refused(["intervals", "scores.csv", *arguments], message, folder)
