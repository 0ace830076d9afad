"""Several classes: each as compared alone, adjusted together."""

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from by_statsmodels import adjusted_by_statsmodels
from command_runs import run
from loops import each
from messages import expect_error
from statsmodels.stats.multitest import multipletests

import skewanova as sa
from skewanova.decision.verdict import Verdict
from skewanova.report.pairs_verdict import write_class_choice

OPTIONS = {"at_priors": (0.3,)}


def drawn(n=900, seed=0, pulls=(1.5, 1.4, 0.3)):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 3, size=n)
    shared = rng.normal(size=(n, 3))
    own = (pull * np.eye(3)[labels] + 0.7 * rng.normal(size=(n, 3)) for pull in pulls)
    return labels, {f"m{i}": scores + 0.7 * shared for i, scores in enumerate(own)}


@pytest.fixture(scope="module")
def found():
    scores = sa.scores_from_multiclass(*drawn())
    return scores, sa.compare_classes(scores, 0.3, **OPTIONS)


def test_every_class_is_compared_as_alone_in_one_family_of_pairs(found):
    scores, result = found
    for name in scores.classes:
        alone = sa.compare(scores.tables[name], 0.3, **OPTIONS)
        rows = result.pairs[result.pairs["class"] == name]
        primary = alone.pairs[alone.pairs["role"] == "primary"]
        for column in ("model_a", "model_b", "estimate", "std_error", "p_value"):
            assert rows[column].tolist() == primary[column].tolist()
        assert result.comparisons[name].ranking.equals(alone.ranking)
    pairs = result.pairs
    assert len(pairs) == 9
    rejected, adjusted, *_ = multipletests(pairs["p_value"], alpha=0.05, method="holm")
    np.testing.assert_allclose(pairs["p_adjusted"], adjusted, rtol=1e-12)
    assert pairs["reject"].tolist() == rejected.tolist()
    agree = (pairs["conf_low"] > 0) | (pairs["conf_high"] < 0)
    assert agree.tolist() == pairs["reject"].tolist()
    omnibus = adjusted_by_statsmodels(result.tests["p_value"])
    np.testing.assert_allclose(result.tests["p_adjusted"], omnibus, rtol=1e-12)
    assert result.tests["reject"].tolist() == (omnibus < 0.05).tolist() == [True] * 3


def test_groups_are_those_of_the_joint_family_and_words_name_each_class(found):
    _, result = found
    for name, rows in result.ranking.groupby("class"):
        pairs = result.pairs[result.pairs["class"] == name]
        group = dict(zip(rows["model"], rows["group"], strict=True))
        for pair in pairs.itertuples():
            assert bool(set(group[pair.model_a]) & set(group[pair.model_b])) != pair.reject
    text = result.summary(full=True)
    assert "3 classes, each against the rest; pairs are adjusted over all classes" in " ".join(text.split())
    assert all(f"class {name}, IAUPREC: " in text for name in "012")
    assert max(map(len, text.splitlines())) <= 80
    assert str(result) == result.summary()
    assert re.findall(r"(\w+)=", repr(result)) == ["ranking", "alpha", "warnings"]
    assert result.to_frame().equals(result.ranking)
    assert list(result.ranking) == ["class", *result.comparisons["0"].ranking]
    assert [line[:9] for line in result.conclusions] == [f"class {name}: " for name in "000111222"]
    frames = [getattr(result, name) for name in result.FRAMES]
    assert [frame.index[-1] for frame in frames] == [len(frame) - 1 for frame in frames]


@pytest.mark.slow
def test_priors_by_class_and_a_control(found):
    scores, _ = found
    with pytest.warns(sa.SkewanovaWarning, match="effective negatives"):
        result = sa.compare_classes(scores, {"0": 0.3, "1": (0.04, 0.3), "2": 0.5}, control="m2", **OPTIONS)
    assert (result.pairs["model_b"] == "m2").all()
    assert "share a letter" not in result.summary(full=True)
    assert (len(result.pairs), result.comparisons["2"].evaluation.deployment_prior.low) == (6, 0.5)
    with pytest.raises(sa.InputError, match=r"by the names '0', '1', '2', but has '0', '1'$"):
        sa.compare_classes(scores, {"0": 0.3, "1": 0.2}, **OPTIONS)


def test_refusals(found):
    scores, _ = found
    with pytest.raises(sa.InputTypeError, match=r"; use skewanova.compare_classes\(scores\)$"):
        sa.compare_datasets(scores, 0.3)
    message = (
        r"\.read_multiclass\(table, classes\), but got mappingproxy; with two classes use skewanova.compare"
    )
    expect_error(message, sa.compare_classes, scores.tables, 0.3, error=sa.InputTypeError)
    with pytest.raises(sa.InputTypeError, match=r"scores must be .* by skewanova.compare_classes\(scores\)$"):
        sa.compare(scores)
    with pytest.raises(sa.InputTypeError, match=r"^compare_classes\(\) has no .*'columns'; leave it out"):
        sa.compare_classes(scores, columns={})
    expect_error(r"by the names '0', '1', '2', but has none$", sa.compare_classes, scores, {}, **OPTIONS)
    expect_error(r"^class '0': ", sa.compare_classes, scores, 0.3, control="m9", **OPTIONS)


def test_what_to_deploy_goes_by_the_joint_family_and_the_control(found):
    _, result = found
    assert set(result.choices) == set("012")
    for name, choice in result.choices.items():
        pairs = result.pairs[result.pairs["class"] == name]
        behind = [f"m{k}" for k in range(3) if (pairs["reject"] & (pairs["model_b"] == f"m{k}")).any()]
        assert behind == ["m2"]
        assert choice in {"Use m0 or m1; m2 is worse.", "Use m1 or m0; m2 is worse."}
    none = replace(result, pairs=result.pairs.assign(reject=False))
    assert none.choices["0"].startswith("The data do not separate ")
    assert result.summary(full=True).startswith(result.summary())
    rows, models = list(result.pairs.itertuples()), ["m0", "m1", "m2"]
    for state, said in (("untrusted", "No test holds."), ("unsupported", "support little of its")):
        assert said in write_class_choice(models, rows[:3], Verdict(state, (), "No test holds.", "", "", ""))
    pairs = [row for row in rows if row.model_b == "m2"][:2]
    said = write_class_choice(models, pairs, Verdict("control", (), "", "", "", ""), control="m2")
    assert said == "m0 and m1 are better than m2, the control."


@pytest.mark.usefixtures("quick_parts")
def test_folder_has_numbers_for_names(found, tmp_path):
    _, result = found
    names, tagged = ("pairs", "ranking"), {"class": lambda f: "<b>" + f["class"] + "</b>"}
    bold = {name: getattr(result, name).assign(**tagged) for name in names}
    comparisons = {f"<b>{name}</b>": one for name, one in result.comparisons.items()}
    folder = replace(result, comparisons=comparisons, **bold).save(tmp_path / "out")
    files = {"tests.csv", "classes.csv", "pairs.csv", "ranking.csv"}
    assert {path.name for path in folder.iterdir()} == {
        "README.txt", "provenance.json", "report.html", "tables", "class-001", "class-002", "class-003"
    }  # fmt: skip
    assert {path.name for path in (folder / "tables").iterdir()} == {*files, "tables.md"}
    contents = pd.read_csv(folder / "tables" / "classes.csv")
    assert contents["class"].tolist() == ["<b>0</b>", "<b>1</b>", "<b>2</b>"]
    assert contents["folder"].tolist() == ["class-001", "class-002", "class-003"]
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<b>" not in page
    assert page.count("&lt;b&gt;0&lt;/b&gt;") > 3
    sections = re.findall(r'<(?:section|details)[^>]* ?id="(\w+)"', page)
    assert sections == re.findall(r'href="#(\w+)"', page[page.index("<nav") : page.index("</nav>")])
    assert set(re.findall(r'href="tables/([\w.]+\.csv)"', page)) == files - {"classes.csv"}


@pytest.fixture
def table(tmp_path):
    """A file with a column of scores a class."""
    labels, scores = drawn()
    rows = {model: pd.DataFrame(values, columns=list("012")) for model, values in scores.items()}
    parts = [part.assign(model=m, fold=1, case=np.arange(900), y_true=labels) for m, part in rows.items()]
    pd.concat(parts).to_csv(tmp_path / "scores.csv", index=False)
    return tmp_path / "scores.csv"


@pytest.mark.usefixtures("quick_parts")
def test_command(found, table, tmp_path, monkeypatch):
    scores, result = found
    asked = {}

    def compared(tables, weighting, **options):
        asked.update(options, tables=tables, low=weighting.low)
        return result

    monkeypatch.setattr("skewanova.compare_classes", compared)
    arguments = "compare", table, "--classes", "0,1,2", "--deployment-prior", "0.3"
    done = run(*arguments, "--out", tmp_path / "out", "--alpha", "0.01")
    assert done.exit_code == 0, done.output
    assert done.stdout.startswith(result.summary())
    assert asked["tables"].to_frame().equals(scores.to_frame())
    assert (asked["low"], asked["alpha"], asked["rng"]) == (0.3, 0.01, 0)
    page = tmp_path / "out" / "report.html"
    assert run("report", tmp_path / "out").stdout == f"{page}\n"
    told = json.loads(run(*arguments, "--json").stdout)
    assert (told["choices"], list(told["classes"])) == (result.choices, ["0", "1", "2"])
    assert (len(told["pairs"]), run(*arguments, "--quiet").output) == (9, "")


def test_check_tells_what_compare_will_do(table):
    done = run("check", table, "--classes", "0,1,2")
    assert done.exit_code == 0, done.output
    assert done.stdout.count("The table can be compared.") == 3
    assert "3 classes: `compare` will compare the models on each against the rest." in done.stdout
    facts = json.loads(run("check", table, "--classes", "0,1,2", "--json").stdout)["classes"]
    assert [facts[name]["n_positive"] for name in "012"] == (3 * np.bincount(drawn()[0])).tolist()


@each(("options", "message"), [
    ("0,1", "has the class '2', which is not one of 0, 1"),
    ("0,1,2 --positive 1", "each class as the positive one in turn"),
    ("0,1,2 --wide", "leave out --wide"),
    ("0,1,3", "'3'"),
])  # fmt: skip
def test_refusals_of_the_command(table, options, message):
    refused = run("compare", table, "--classes", *options.split())
    assert refused.exit_code == 2
    assert message in refused.stderr
