"""Commands and lines of Python on the pages run, on tables such as a reader has."""

import re
import shlex
import warnings
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from blank_figures import undrawn as undrawn
from click.testing import CliRunner
from example_scripts import ROOT, load_example
from matplotlib import pyplot as plt

import skewanova as sa
from skewanova.cli.commands import main as command

DOCS = ROOT / "docs"
#: Pages whose blocks the build of the site runs.
BUILT = {"samples.md", "gallery.md"}
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if path.name not in BUILT and "_build" not in path.parts]
BLOCKS = [
    (page.name, language, code)
    for page in [ROOT / "README.md", *PAGES]
    for language, code in re.findall(
        r"^```(\w*)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    )
]
#: Every command of the pages, without its comment.
COMMANDS = [
    (name, line)
    for name, _, code in BLOCKS
    for line in re.findall(r"^skewanova (.+?)(?: +#.*)?$", code.replace("\\\n", ""), re.MULTILINE)
]
#: Blocks of Python that are no doctest, by page; a test of its own has the README's.
PYTHON = [
    (name, code)
    for name, language, code in BLOCKS
    if language == "python" and ">>>" not in code and name != "README.md"
]
#: What stands for a bucket, a cluster and a long study.
STAND_INS = {
    "s3://bucket/*.csv": "scores.csv",
    "s3://bucket/scores/": "scores.parquet",
    '"tcp://scheduler:8786"': "processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None",
    "n_jobs=64": "n_jobs=2, replicates=2, scenarios=['S1']",
}
CLASSES = ("cat", "dog", "owl")


def table_for(text: str) -> pd.DataFrame:
    """Return the table that a block calls scores.csv."""
    samples, rng = load_example("samples"), np.random.default_rng(0)
    if "compare_datasets" in text:
        return samples.datasets()
    if "--classes" in text:
        classes = rng.choice(CLASSES, 300)
        scores = {name: rng.normal(size=300) + 2 * (classes == name) for name in CLASSES}
        return pd.concat([
            pd.DataFrame({"model": model, "case": range(300), "y_true": classes, **scores}) for model in "ab"
        ])  # fmt: skip
    if "expected_cost" in text:  # folds: on one test set it needs a stated threshold
        return samples.draw_folds(samples.FRAUD, range(10), 60, 240)
    table = samples.few().assign(site="north")
    return table.assign(part=np.where(table["case"] % 2, "tuning", "rest")) if "choose-on" in text else table


def write_tables(text: str) -> None:
    """Write the tables that a block reads to the working directory."""
    samples, table = load_example("samples"), table_for(text)
    table.to_csv("scores.csv", index=False)
    if "fraud.csv" in text or "field.csv" in text:
        samples.fraud().to_csv("fraud.csv", index=False)
        samples.field().to_csv("field.csv", index=False)
    values = {"a": [0.8, 0.9, 0.85, 0.84, 0.86], "b": [0.7, 0.8, 0.79, 0.75, 0.77]}
    pd.DataFrame(values).to_csv("accuracies.csv", index=False)


@pytest.fixture(autouse=True)
def in_a_folder_of_the_reader(undrawn, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("click.launch", lambda *_, **__: 0)  # no browser opens
    with warnings.catch_warnings(action="ignore", category=sa.SkewanovaWarning):  # the tables are small
        yield
    plt.close("all")


@pytest.mark.parametrize("name", sorted({name for name, _ in COMMANDS}))
def test_commands_of_a_page_run(name):
    for line in (line for page, line in COMMANDS if page == name):
        if not line.startswith("report "):  # it opens what the line before wrote
            write_tables(line)
        run = CliRunner().invoke(command, shlex.split(line))
        allowed = {0, 3} if line.startswith("monitor") else {0}  # 3: another model leads
        assert run.exit_code in allowed, f"{line}: {run.output}"


def reader_of_datasets(names):
    rng = np.random.default_rng(0)
    labels, shares = rng.choice(CLASSES, 300), rng.dirichlet(np.ones(3), (2, 300))
    tree, net = (SimpleNamespace(predict_proba=lambda _, part=part: part) for part in shares)
    names |= {"labels": labels, "tree": tree, "net": net, "X": None}


def reader_of_large_data(names):
    import adbc_driver_sqlite.dbapi
    import distributed
    import joblib

    from studies.calibration import type_one_error_study

    table = table_for("")
    table.to_parquet("scores.parquet")
    with adbc_driver_sqlite.dbapi.connect("scores.db") as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("scores", table)
        connection.commit()
    spark = SimpleNamespace(read=SimpleNamespace(parquet=pd.read_parquet))  # `nox -s spark` has the engine
    names |= {"distributed": distributed, "joblib": joblib, "spark": spark}
    names["type_one_error_study"] = type_one_error_study


def reader_of_scikit_learn(names):
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV

    forest, logistic = RandomForestClassifier(5, random_state=0), LogisticRegression()
    X, y = make_classification(400, 6, weights=[0.7], random_state=2)
    fitted = logistic.fit(X, y)
    names |= {
        "forest": forest,
        "logistic": logistic,
        "X": X,
        "y": y,
        "fitted": fitted,
        "X_test": X,
        "y_test": y,
    }
    names |= {"model": logistic, "grid": {"C": [0.1, 1]}, "GridSearchCV": GridSearchCV}
    names["models"] = {"forest": forest, "logistic": logistic}
    names["score"] = names["probability"] = fitted.predict_proba(X)[:, 1]


READERS = {
    "datasets.md": reader_of_datasets,
    "large-data.md": reader_of_large_data,
    "scikit-learn.md": reader_of_scikit_learn,
}


@pytest.mark.parametrize("name", sorted({name for name, _ in PYTHON}))
def test_lines_of_python_of_a_page_run(name):
    names = {"sa": sa}
    READERS[name](names)
    for code in (code for page, code in PYTHON if page == name):
        write_tables(code)
        for there, here in STAND_INS.items():
            code = code.replace(there, here)
        if "skore." in code:
            if find_spec("skore") is None:
                continue
            names["skore"] = __import__("skore")
        exec(code, names)
    if "client" in names:
        names["client"].close()
