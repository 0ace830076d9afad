"""What is declared about the package: lowest versions, files in the wheel, how to cite it."""

import importlib.util
import re
import tomllib
from importlib.resources import files
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def lowest():
    spec = importlib.util.spec_from_file_location("lowest", ROOT / ".ci" / "lowest.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_lowest_versions_are_those_declared(lowest):
    found = dict(line.split("==") for line in lowest.lowest())
    assert found.pop("pyparsing")  # a dependency of matplotlib's
    declared = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]]
    assert {re.split(r"[\[>]", need)[0]: need.split(">=")[1] for need in declared} == found


def test_the_extras_for_users_are_tested():
    optional = PROJECT["optional-dependencies"]
    assert {need for extra in ("parquet", "sklearn") for need in optional[extra]} <= set(optional["test"])


def test_files_that_are_no_modules_are_in_the_package():
    for name in (
        "py.typed",
        "_data/satellite_scores.csv.gz",
        "_templates/report.html.j2",
        "_templates/report.css",
    ):
        assert (files("skewanova") / name).is_file()
        assert f"{name}" in (ROOT / ".ci" / "wheel").read_text(encoding="utf-8")


def test_the_citation_has_the_version_and_licence():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    cited = dict(re.findall(r"^([\w-]+): (.+)$", text, flags=re.MULTILINE))
    assert (cited["version"], cited["license"]) == (PROJECT["version"], PROJECT["license"])
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
