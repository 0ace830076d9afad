"""The commands `prior` and `monitor`, and a deployment prior that is estimated."""

import json

import numpy as np
import pandas as pd
import pytest
from command_runs import assert_refused, content, run

from skewanova.cli import options
from skewanova.priors import batches, estimation

LABELS, FIELD = np.repeat([1, 0], [120, 360]), np.repeat([1, 0], [120, 1080])


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(estimation, "N_RESAMPLES", 49)
    monkeypatch.setattr(batches, "N_RESAMPLES", 99)


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Labelled and unlabelled scores of two models, the second much the worse."""
    monkeypatch.chdir(tmp_path)
    draw = np.random.default_rng(4).normal
    labelled, unlabelled = [], []
    for model, shift in (("good", 2.5), ("poor", 1.2)):
        rows = {"model": model, "fold": 1, "case": range(480), "y_true": LABELS}
        labelled.append(pd.DataFrame({**rows, "y_score": draw(shift * LABELS)}))
        weeks = {"model": model, "y_score": draw(shift * FIELD), "week": np.tile([1, 2], 600)}
        unlabelled.append(pd.DataFrame(weeks))
    pd.concat(labelled).to_csv("scores.csv", index=False)
    pd.concat(unlabelled).to_csv("field.csv", index=False)
    return tmp_path


@pytest.mark.slow
def test_prior_prints_a_row_a_model_and_writes_a_folder(files):
    done = run("prior", "scores.csv", "field.csv", "--out", "out")
    assert (done.exit_code, done.stderr) == (0, "")
    assert "(all together)" in done.stdout
    said = "As a deployment prior: the prior estimated from unlabelled scores of 2 models"
    assert said in " ".join(done.stdout.split())
    assert {str(path) for path in content(files / "out")} == {
        "prior.csv", "bins.csv", "prior.md", "figures/prior_1.svg", "figures/prior_2.svg", "provenance.json",
    }  # fmt: skip
    frame = pd.read_csv("out/prior.csv", keep_default_na=False)
    assert frame["model"].tolist() == ["", "good", "poor"]
    assert float(frame["conf_low"][0]) < 0.1 < float(frame["conf_high"][0])
    settings = json.loads((files / "out" / "provenance.json").read_text())["settings"]
    assert settings["unlabelled"] == "field.csv"


@pytest.mark.slow
def test_warnings_come_before_the_numbers(files):
    pd.read_csv("field.csv").assign(y_score=0.3).to_csv("constant.csv", index=False)
    done = run("prior", "scores.csv", "constant.csv", "--out", "out")
    for text in (done.stdout, (files / "out" / "prior.md").read_text()):
        assert text.startswith("warning: good: label shift is rejected")
        assert text.index("not a mixture") < text.index("(all together)")


def test_prior_as_json_has_batches_that_thresholds_use(files):
    found = json.loads(run("prior", "scores.csv", "field.csv", "--batch-column", "week", "--json").stdout)
    assert [row["batch"] for row in found["prior"]] == ["", "", "1", "2", "", "1", "2"]
    assert {row["model"] for row in found["bins"]} == {"good", "poor"}
    assert any("to estimate how the prior varies" in text for text in found["sentences"])
    done = run("threshold", "scores.csv", "--recall", "0.8", "--at-priors", "estimate:field.csv", "--json")
    assert done.exit_code == 0, done.output
    assert "unlabelled" in done.stdout or json.loads(done.stdout)["threshold"]


@pytest.mark.slow
def test_a_deployment_prior_is_estimated_where_it_is_asked_for(files, monkeypatch):
    command = ["compare", "scores.csv", "--at-priors", "0.5", "--quiet"]
    seen = []

    def record(prior, table):
        seen.append(estimate(prior, table))
        return seen[-1]

    estimate = options.resolve_prior
    monkeypatch.setattr(options, "resolve_prior", record)
    done = run(*command, "--deployment-prior", "estimate:field.csv")
    assert done.exit_code == 0, done.output
    assert seen[0].describe().startswith("the prior estimated from unlabelled scores of 2 models")


def test_what_is_refused(files):
    table = pd.read_csv("scores.csv")
    pd.concat([table.assign(dataset=name) for name in "ab"]).to_csv("several.csv", index=False)
    field = pd.read_csv("field.csv")
    field.head(0).to_csv("empty.csv", index=False)
    field[["y_score"]].set_axis(["A"], axis=1).to_csv("wide.csv", index=False)
    field.assign(y_score=field["y_score"].where(field.index != 2)).to_csv("gap.csv", index=False)
    field.assign(y_score=field["y_score"] + 99).to_csv("far.csv", index=False)
    for command, message in (
        ("prior scores.csv empty.csv", "the table of unlabelled scores must hold"),
        ("prior scores.csv field.csv --out field.csv", "field.csv"),
        ("compare scores.csv --deployment-prior estimate:", "needs a file of unlabelled"),
        ("compare scores.csv --deployment-prior estimate:no.csv",
         "^Error: the unlabelled table: there is no file"),
        ("compare scores.csv --deployment-prior estimate:gap.csv",
         "^Error: the unlabelled table: `y_score` mus"),
        ("compare scores.csv --deployment-prior estimate:far.csv",
         ": the unlabelled table must be scores of t"),
        ("prior scores.csv gap.csv", "^Error: UNLABELLED: `y_score` must not hold .* the first at line 4"),
        ("prior scores.csv wide.csv", ", or make the table long: a row for each model and case$"),
        ("prior scores.csv far.csv", ": UNLABELLED must be scores of the same model"),
        ("compare several.csv --deployment-prior estimate:field.csv",
         "SCORES has several data sets or classes; run `skewanova prior` on the rows of one data set, or"),
    ):  # fmt: skip
        assert_refused(command.split(), message, files)


def test_a_plan_warns_of_its_estimated_prior(files):
    pd.read_csv("field.csv").assign(y_score=0.3).to_csv("constant.csv", index=False)
    done = run("plan", "scores.csv", "--deployment-prior", "estimate:constant.csv", "--json")
    assert done.stderr.startswith("warning: good: label shift is rejected")
    assert json.loads(done.stdout)["plan"]


@pytest.fixture
def report(files):
    options = ["--at-priors", "0.5,0.01", "--out", "report", "--figures", "none", "--quiet"]
    done = run("compare", "scores.csv", *options)
    assert done.exit_code == 0, done.output
    return files


def test_monitor_never_replaces_the_comparison(report):
    message = "--out must not be the input or hold it, but is or holds 'report'; choose another folder"
    for folder in ("report", "./report/", str(report / "report")):
        assert_refused(["monitor", "report", "field.csv", "--out", folder], message, report)
    assert (report / "report" / "report.html").exists()


def test_monitor_says_whether_the_choice_holds_and_needs_a_comparison(report):
    done = run("monitor", "report", "field.csv", "--batch-column", "week", "--out", "watch")
    assert (done.exit_code, done.stderr) == (0, "")
    assert " ".join(done.stdout.split()).count("good is still the choice, since it may be the best") == 2
    assert {str(path) for path in content(report / "watch")} == {
        "monitor.csv", "monitor.md", "monitor.svg", "provenance.json",
    }  # fmt: skip
    assert pd.read_csv("watch/monitor.csv")["state"].tolist() == ["choice", "choice"]
    leaders = pd.read_csv("report/tables/leaders.csv")
    leaders.assign(leader="poor", contender="poor").to_csv("report/tables/leaders.csv", index=False)
    done = run("monitor", "report", "field.csv", "--json")
    assert done.exit_code == 3
    found = json.loads(done.stdout)
    assert (found["changed"], found["chosen"]) == (True, "good")
    assert "no longer the choice, since another model leads at every compared prior" in found["sentences"][0]
    pd.read_csv("field.csv").query("model == 'poor'").to_csv("poor.csv", index=False)
    for folder, field, message in (
        ("field.csv", "field.csv",
         "^Error: DIR must be a new folder of `skewanova compare SCORES --out NEW`, and not edited"),
        ("report", "poor.csv", "must hold scores of 'good', the model that was chosen")
    ):  # fmt: skip
        assert_refused(["monitor", folder, field], message, report)
