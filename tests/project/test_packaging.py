"""What is declared about the package: versions, what is built, how to cite it, links that work elsewhere."""

import importlib.metadata
import os
import re
import tomllib
import zipfile
from importlib.resources import files
from itertools import chain
from pathlib import Path

import pytest

import skewanova
from skewanova.report.publication import REFERENCES, write_bibtex

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PROJECT, GROUPS = PYPROJECT["project"], PYPROJECT["dependency-groups"]
EXTRAS = PROJECT["optional-dependencies"]
HOME = PROJECT["urls"]["Source"]
#: `nox -s lowest` and `nox -s package` set these.
LOWEST, WHEEL = os.environ.get("SKEWANOVA_VERSIONS") == "lowest", os.environ.get("SKEWANOVA_WHEEL")
NEEDED_FILES = (
    "py.typed", "scores/data/satellite_scores.csv.gz", "report/templates/report.html.j2",
    "report/templates/report.css", "report/references.bib"
)  # fmt: skip


def name_of(need):
    return re.split(r"[\[>=]", need)[0]


def needs(group):
    """What a group asks for by itself, without the groups it includes."""
    return [need for need in GROUPS[group] if isinstance(need, str)]


def bounded():
    """Every requirement with a lowest version."""
    extras = (EXTRAS[name] for name in EXTRAS if name != "all")
    return [*PROJECT["dependencies"], *chain(*extras), *needs("test")]


def text_of(name):
    return (ROOT / name).read_text(encoding="utf-8")


def readme_on_an_index():
    """The README as a package index shows it: pyproject.toml's substitutions, applied."""
    text = text_of("README.md")
    for change in PYPROJECT["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        text = re.sub(change["pattern"], change["replacement"], text)
    return text.replace("$HFPR_VERSION", skewanova.__version__)


def test_requirements_citation_and_change_log_agree():
    lists = [PROJECT["dependencies"], *EXTRAS.values(), *(needs(group) for group in GROUPS)]
    names = [name_of(need) for needed in lists for need in needed]
    assert sorted(names) == sorted(set(names))
    assert EXTRAS["all"] == [f"skewanova[{','.join(sorted(set(EXTRAS) - {'all', 'spark'}))}]"]
    assert [need for need in bounded() if not re.search(r">=\d", need)] == []
    assert "version" not in PROJECT
    assert importlib.metadata.version("skewanova") == skewanova.__version__
    cited = dict(re.findall(r"^([\w-]+): (.+)$", text_of("CITATION.cff"), flags=re.MULTILINE))
    assert (cited["version"], cited["license"]) == (skewanova.__version__, PROJECT["license"])
    assert (cited["repository-code"], cited["url"]) == (HOME, PROJECT["urls"]["Documentation"])
    heads = re.findall(r"^## (\S+)", text_of("CHANGELOG.md"), flags=re.MULTILINE)
    assert heads[0] == skewanova.__version__


@pytest.mark.skipif(not LOWEST, reason="the newest versions are installed")
def test_the_lowest_versions_are_installed():
    declared = {name_of(need): need.split(">=")[1] for need in bounded()}
    release = re.compile(r"(\.0)*$")  # 14 is 14.0.0
    installed = {name: release.sub("", importlib.metadata.version(name)) for name in declared}
    assert installed == {name: release.sub("", version) for name, version in declared.items()}


def test_links_of_the_readme_and_quotes_of_the_paper():
    targets = re.findall(r"\]\(([^)]*)\)", readme_on_an_index())
    pages = f"{HOME}/blob/v{skewanova.__version__}/"
    pictures = pages.replace("github.com", "raw.githubusercontent.com").replace("/blob", "")
    assert len(targets) > 20
    for target in targets:
        assert target.startswith((pages, pictures)), target
        assert (ROOT / target.removeprefix(pages).removeprefix(pictures).split("#")[0]).exists(), target
        assert target.startswith(pictures) == target.endswith(".png")
    keys = set(re.findall(r"@(\w+\d{4})", text_of("paper/paper.md")))
    works = dict(re.findall(r"(@\w+\{(\w+),.*?\n\})\n", text_of("paper/paper.bib"), re.DOTALL))
    assert list(works.values()) == sorted(keys)
    shared = [reference for reference in REFERENCES if reference.key in keys]
    assert all(write_bibtex([reference]).strip() in works for reference in shared)
    assert len(text_of("paper/paper.md").split("# Summary")[1].split()) <= 1200
    page = text_of("docs/measured.md")
    for rate in re.findall(r" (\.\d{3})\b", text_of("paper/paper.md")):
        assert rate in page, rate


def test_files_pythons_and_workflows_are_those_declared():
    assert [name for name in NEEDED_FILES if not (files("skewanova") / name).is_file()] == []
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert f">={declared[0]}" == PROJECT["requires-python"]
    tested = re.search(r"python: \[(.*)\]", text_of(".github/workflows/ci.yml"))
    assert re.findall(r"3\.\d+", tested[1]) == declared
    steps = set(re.findall(r"^(\w+)\(\)", text_of(".ci/run"), flags=re.MULTILINE))
    every = re.search(r"^all=\((.*)\)$", text_of(".ci/run"), flags=re.MULTILINE)[1].split()
    matrix = re.search(r"step: \[(.*)\]", text_of(".github/workflows/ci.yml"))[1].split(", ")
    workflows = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob(".github/workflows/*.yml"))
    assert set(re.findall(r"\.ci/run (\w+)", workflows)) | set(every) <= steps
    assert matrix == [*every, "spark"]  # which is no part of every run, since it needs Java


@pytest.mark.skipif(WHEEL is None, reason="no wheel was built")
def test_the_wheel_has_the_package_alone_and_a_readme_for_an_index():
    with zipfile.ZipFile(WHEEL) as wheel:
        names = wheel.namelist()
        (metadata,) = (name for name in names if name.endswith("METADATA"))
        written = wheel.read(metadata).decode()
    assert {f"skewanova/{name}" for name in NEEDED_FILES} <= set(names)
    assert {name.split("/")[0] for name in names} == {"skewanova", metadata.split("/")[0]}
    assert written.split("\n\n", 1)[1].strip() == readme_on_an_index().strip()
