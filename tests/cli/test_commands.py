import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from command_runs import QUICK, assert_refused, content, frame, list_commands, run, wide
from halved_tables import halved_frame
from loops import each
from messages import expect_warning

import skewanova as sa
from skewanova.cli import commands as cli_commands


def run_process(*arguments, **environment):
    """The command as a shell starts it: exit status, standard output, standard error."""
    script = Path(sys.executable).with_name("skewanova")
    command = [str(script)] if script.exists() else [sys.executable, "-m", "skewanova.cli"]
    options = {"capture_output": True, "text": True, "encoding": "utf-8", "check": False}
    done = subprocess.run([*command, *map(str, arguments)], env={**os.environ, **environment}, **options)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.slow
def test_compare_as_a_process_writes_the_folder(folder):
    status, told, warned = run_process("compare", "scores.csv", *QUICK, "--out", "report")
    assert (status, warned) == (0, "")
    assert told.endswith("Written to report: open report/report.html in a browser.\n")
    assert all(line.isprintable() and len(line) <= 80 for line in told.split("\n"))
    known = expect_warning(r".", sa.compare, sa.read_scores("scores.csv"), (0.4, 0.5), at_priors=(0.5,))
    for name in ("auprec", "iauprec", "tests", "pairs", "ranking", "regions"):
        path = folder / "report" / "tables" / f"{name}.csv"
        written = pd.read_csv(path, keep_default_na=False, na_values=[""])
        assert (list(written), written.shape) == (list(known.tables[name]), known.tables[name].shape)
    assert (folder / "report" / "report.html").is_file()
    assert sorted(p.name for p in folder.iterdir()) == ["report", "scores.csv", "wide.csv"]


@pytest.mark.slow
def test_bad_input_and_faults_of_the_program_as_a_process(folder, monkeypatch):
    before = content(folder)
    refused = run_process("compare", "absent.csv", "--out", "report")
    assert (refused, content(folder)) == ((2, "", "Error: there is no file 'absent.csv'\n"), before)
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


@pytest.mark.slow
def test_names_that_the_terminal_cannot_show_do_not_stop_it(folder):
    frame().replace({"model": {"m0": "模型"}}).to_csv("scores.csv", index=False)
    status, told, warned = run_process("check", "scores.csv", PYTHONIOENCODING="cp1252", PYTHONUTF8="0")
    assert (status, warned) == (0, "")
    assert "models: \\u6a21\\u578b, m1\n" in told


@each("path", list(list_commands()))
@each("flag", ["--help", "-h"])
def test_help_fits_80_columns(path, flag):
    done = CliRunner().invoke(cli_commands.main, [*path, flag], prog_name="skewanova", env={"COLUMNS": "200"})
    assert done.exit_code == 0
    lines = done.output.split("\n")
    assert max(map(len, lines)) <= 80
    assert len(lines) < 62  # 60 lines, and those after the last line break
    assert lines[0].startswith(f"Usage: {' '.join(['skewanova', *path])} [OPTIONS]")
    assert lines[2].strip().endswith((".", ","))


def test_every_option_has_help_and_the_version_is_printed():
    for path in list_commands():
        command = cli_commands.main
        for name in path:
            command = command.commands[name]
        for parameter in command.params:
            ends = parameter.param_type_name == "argument" or parameter.help.endswith((".", ")", "DIR"))
            assert ends, parameter
    assert run("--version").output == f"skewanova, version {sa.__version__}\n"


def test_check(folder):
    few = "warning: the smallest fold has 20 positives: means and intervals are about areas"
    for arguments, cases in (
        (["scores.csv"], "cases: not named"),
        (["wide.csv", "--wide"], "cases: named, and the same for all models of a fold"),
    ):
        told = run("check", *arguments).output.split("\n")[:-1]
        assert told[:5] == [
            "240 rows: 2 models x 3 folds", "models: m0, m1",
            "positives per fold: 20; negatives per fold: 20", "prior in the table: 0.5", cases
        ]  # fmt: skip
        assert told[-1] == "The table can be compared."
        near_chance = "warning: model 'm0' ranks near chance in 1 of 3 folds (the first: fold 3, AUC"
        assert [line for line in told if line.startswith("warning: ")] == [near_chance, few]
    frame()[1:].replace({"model": {"m0": "\x1b[31mred\nline"}}).to_csv("scores.csv", index=False)
    done = run("check", "scores.csv")
    assert done.exit_code == 0
    assert r"models: \x1b[31mred line, m1" in done.output
    assert all(line.isprintable() for line in done.output.split("\n"))
    assert "warning: models have different numbers of cases in 1 folds (the first: fold 1)" in done.output


def test_options_about_columns_and_those_that_are_refused(folder):
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
    planned = [("--cost-case -1", "^Error: --cost-case must be an area that one unit costs, 0 or more")]
    commands = (["compare", *QUICK], COMPARED), (["intervals"], INTERVALS), (["plan"], planned)
    for command, table in commands:
        for options, message in table:
            assert_refused([*command, "scores.csv", *options.split()], message, folder)


TABLES = [
    (["absent.csv"], r"^Error: there is no file 'absent\.csv'$"),
    (["scores.txt"], r"^Error: 'scores\.txt' must be written as \.csv, \.csv\.gz, \.jsonl, "),
    (["wide.csv"],
     r"must have the columns 'model', 'y_score', but has .*; read one column per model with --wide$"),
    (["scores.csv", "--wide"],
     r"`model` must hold real numbers, but 'scores\.csv' has 'm0' at line 2; .* leave out --wide$"),
    (["wide.csv", "--wide", "--score-column", "m0"], "leave out --model-column, --score-column$"),
    (["wide.csv", "--wide", "--part-column", "part"], "leave out --part-column"),
    (["scores.csv", "--case-column", "id"], r"must have the column 'id', but has 'model'"),
    (["scores.csv", "--positive", "yes"], r"--positive must be one of the labels 0, 1, but got 'yes'$"),
    ([], r"^Error: Missing argument 'SCORES'\.$"),
]  # fmt: skip


@each(("arguments", "message"), TABLES)
def test_tables_that_are_refused(folder, arguments, message):
    (folder / "scores.txt").write_text("model\n", encoding="utf-8")
    assert_refused(["check", *arguments], message, folder)


ROWS = [
    (lambda f: f[f["model"] == "m0"], "a comparison needs at least 2 models, but the table has 1; add"),
    (lambda f: f[:200], "these are missing: model 'm1' in fold 3"),
    (lambda f: f.assign(y_score=f["y_score"].astype(str).mask(f.index == 7, "\x1b[31m\nx")),
     r"has '\\x1b\[31m\\nx' at line 9$"),
    (lambda f: f.rename(columns={"model": "a\nb"}), r"must have the column 'model', but has 'a\\nb'"),
    (lambda f: f.replace({"y_true": {0: "ok", 1: "fraud"}}), "the positive class by --positive 'ok'$"),
]  # fmt: skip


@each(("edit", "message"), ROWS)
def test_rows_that_are_refused(folder, edit, message):
    edit(frame()).to_csv("scores.csv", index=False)
    assert_refused(["check", "scores.csv"], message, folder)
    message = message.replace("a comparison needs", "needs").removesuffix(", but the table has 1; add")
    assert_refused(["compare", "scores.csv", *QUICK, "--out", "report"], message, folder)


def test_one_fold_and_wide_models_are_compared(folder, undrawn, tmp_path, monkeypatch):
    frame().query("fold == 1").to_csv("scores.csv", index=False)
    told = "one fold: models are compared by the variation of their areas over cases"
    assert told in run("check", "scores.csv").output
    done = run("compare", "scores.csv", *QUICK, "--full", "--out", "report")
    assert done.exit_code == 0
    assert "No test is reliable here, so no difference is claimed." in done.output
    page = (folder / "report" / "report.html").read_text(encoding="utf-8")
    assert "F over cases of one test set of IAUPREC: F(" in " ".join(page.split())
    monkeypatch.chdir(tmp_path)
    labels = [0, 1] * 30
    columns = {"y_true": labels, "a": np.arange(60.0), "b": np.arange(60.0) % 7, "site": "north"}
    pd.DataFrame(columns).to_csv(tmp_path / "wide.csv", index=False)
    message = r"`site` must hold real numbers, .* leave it out, or list the models: --models LIST \(of"
    assert_refused(["compare", "wide.csv", "--wide"], message, tmp_path)
    assert run("compare", "wide.csv", "--wide", "--models", "a ,\n b", "--quiet").exit_code == 0


COMPARED = [
    ("--deployment-prior 4", r"write skew 4 as prior 0\.2, or 4% as 0\.04$"),
    ("--deployment-prior 0.2:0.05",
     r"a prior range must be given as LOW:HIGH, but got low=0\.2 > high=0\.05$"),
    ("--deployment-prior 1%:5%", r"but got '1%:5%'; did you mean 0\.01:0\.05\?$"),
    ("--at-priors 0.5,0.5", r"--at-priors must be distinct, but got 0\.5, 0\.5$"),
    ("--alpha nan", "--alpha must lie above 0 and at most 0.5, but got nan$"),
    ("--pairwise tukey --p-adjust holm",
     "^Error: --p-adjust is for .*, but --pairwise tukey adjusts by itself: leave --pairwise out$"),
    ("--wide", "`model` must hold real numbers, .* names the models, the table is long: leave out --wide$"),
    ("--missing ignore", "'ignore' is not one of 'raise', 'drop'"),
    ("--design repeated_kfold",
     "needs the size of the folds: state --test-fraction, as in --test-fraction 0.1"),
    ("--pairwise dunnett", "leave --pairwise out, or, for a test over folds, state --control NAME$"),
    ("--at-priors 5", "^Error: Invalid value for '--at-priors': --at-priors must lie strictly between"),
    ("--paper .", "^Error: --paper must not be the current folder"),
    ("--seed -1", "-1 is not in the range x>=0"), ("--out scores.csv", "'scores.csv' is a file"),
    ("--figures svg,gif", "must be one of svg, png, pdf, none; but got 'gif'"),
]  # fmt: skip
INTERVALS = [
    ("--prior x", "'x'"),
    ("--prior 5", ": --prior must lie strictly between 0 and 1, but got 5"),
    ("--prior 0.1 --deployment-prior 0.1:0.2", "give either --prior or --deployment-prior"),
    ("--out scores.csv/i", r"^Error: --out cannot be written \('scores\.csv' is a file\); choose"),
    ("--out .", r"^Error: --out must not be the current folder"),
]


def test_compare_prints_the_summary_drops_folds_and_writes_the_figures_asked_for(folder, undrawn):
    for asked, written in (("none", set()), ("svg,pdf", {".svg", ".pdf"})):
        assert run("compare", "scores.csv", *QUICK, "--out", "out", "--figures", asked).exit_code == 0
        assert {path.suffix for path in (folder / "out" / "figures").glob("*")} == written
    frame()[:200].to_csv("scores.csv", index=False)
    assert_refused(["compare", "scores.csv", *QUICK], "--missing drop$", folder)
    done = run("compare", "scores.csv", *QUICK, "--missing", "drop", "--full")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.output.startswith("Warning  ")
    assert "\nChoose  " in done.output
    assert "dropped 1 of 3 folds for all models" in " ".join(done.output.split())


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
    assert (run(*arguments).exit_code, seen["deployment_prior"]) == (2, sa.UniformSkew(4, 19))
    assert (seen["at_priors"], seen["alpha"], seen["area_estimator"]) == ((0.5, 0.1), 0.005, "exact")
    assert (seen["missing"], seen["rng"], seen["models"]) == ("drop", 7, ("m0", "m1"))
    assert (run("demo").exit_code, seen["deployment_prior"]) == (2, sa.UniformPrior(0.05, 0.2))
    assert (seen["at_priors"], seen["alpha"], seen["rng"]) == ((0.5, 0.1, 0.01), 0.05, 0)


def test_intervals_of_folds_and_pooled_where_they_are_disjoint(folder):
    table = sa.load_satellite_scores().frame.query("fold == 1 and model != 'C'")
    case = table["case"].factorize()[0]
    table.assign(case=case, fold=case % 2, y_true=table["y_true"].astype(int)).to_csv("one.csv", index=False)
    done = run("intervals", "one.csv", "--prior", 0.2, "--out", "out")
    assert (done.exit_code, done.stderr) == (0, "")
    assert max(map(len, done.output.split("\n"))) <= 80
    assert "about these fitted models on further cases: what training anew" in " ".join(done.output.split())
    expected = sa.inference.interval_table(sa.read_scores("one.csv"), prior=0.2)
    assert expected["level"].tolist() == ["fold"] * 4 + ["pooled"] * 2
    written = pd.read_csv("out/intervals.csv", keep_default_na=False)
    assert written["estimate"].tolist() == expected["estimate"].tolist()
    rows = expected.itertuples()
    assert all(f"{row.conf_low:.3f} to {row.conf_high:.3f}" in done.output for row in rows)


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_halvings_are_compared_as_their_table_whatever_their_columns(folder):
    table = halved_frame(n_folds=5, inner_folds=5, n_cases=90)
    table.to_csv("halved.csv", index=False)
    table.rename(columns={"part": "where", "halving": "cut"}).to_csv("other.csv", index=False)
    assert "halvings: 4, of 90 cases" in run("check", "halved.csv").output
    named = ("--part-column", "where", "--halving-column", "cut")
    assert "halvings: 4" in run("check", "other.csv", *named).output
    found, expected = json.loads(run("compare", "halved.csv", "--json").stdout), sa.compare("halved.csv")
    assert found["pairs"][0]["test"] == "split_half_t_holm"
    assert found["pairs"][0]["p_value"] == pytest.approx(expected.pairs["p_value"].iloc[0])
    table.query("part == 'holdout'").drop(columns=["part", "halving"]).to_csv("held.csv", index=False)
    assert_refused(["compare", "held.csv", "--design", "split_half"], "needs a table with halvings", folder)


@pytest.fixture
def values(folder):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal([0.8, 0.8, 0.85], 0.01, (10, 3)), columns=["m0", "m1", "m2"])
    table.to_csv("values.csv", index=False)
    return table


def test_compare_values(values):
    options = ("--measure", "accuracy", "--design", "kfold")
    places = ["--out", "report", "--paper", "paper"]
    done = run("compare-values", "values.csv", *options, *places, "--rope", 0.01)
    assert (done.exit_code, done.stdout.split("\n")[0]) == (0, "Choose            Use m2.")
    assert done.stdout.endswith("Written to report: open report/report.html in a browser.\n")
    known = sa.compare_values(values, measure="accuracy", design="kfold", rope=0.01)
    pd.testing.assert_frame_equal(pd.read_csv("report/tables/pairs.csv"), known.pairs, check_dtype=False)
    assert {path.name for path in Path("paper").iterdir()} >= {"paper.tex", "figure.pdf", "references.bib"}
    assert run("report", "report").stdout == "report/report.html\n"
    found = json.loads(run("compare-values", "values.csv", *options, "--models", "m0,m2", "--json").stdout)
    assert (found["settings"]["n_models"], found["verdict"]["models"]) == (2, ["m2"])
    assert set(found) > {"values", "pairs", "ranking", "plans", "equivalence"}
    losses = run("compare-values", "values.csv", *options, "--lower-is-better", "--control", "m2").stdout
    assert "m2, the control" in " ".join(losses.split())


@each(("arguments", "message"), [
    (["values.csv"], "--design must say how .* as in --design repeated_kfold --test-fraction 0.2;"),
    (["values.csv", "--design", "datasets", "--test-fraction", 0.2], "--test-fraction is for folds"),
    (["values.csv", "--design", "kfold", "--models", "m0,m9"], "--models must be one of m0, m1, m2"),
    (["values.csv", "--design", "kfold", "--models", "m0"], "at least 2 models"),
    (["values.csv", "--design", "kfold", "--control", "m9"], "--control must be one of m0, m1, m2"),
    (["none.csv", "--design", "kfold"], "there is no file 'none.csv'"),
    (["scores.csv", "--design", "kfold"], "the table has scores: compare AUPREC by"),
])  # fmt: skip
def test_compare_values_refuses(values, folder, arguments, message):
    assert_refused(["compare-values", *arguments, "--out", "new"], message, folder)
