"""Pages name what is public, their links lead somewhere, and the README prints what it says."""

import re
import subprocess
import sys
from inspect import ismodule
from pathlib import Path

from loops import each

import skewanova

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(path for path in DOCS.rglob("*.md") if "_build" not in path.parts)
PAGES += [*DOCS.parent.glob("*.md"), *DOCS.parent.glob("*/README.md")]


def test_the_reference_lists_every_public_name_once():
    listed = re.findall(r"^   ([\w.]+)$", (DOCS / "api.rst").read_text(encoding="utf-8"), flags=re.MULTILINE)
    public = {name: getattr(skewanova, name) for name in skewanova.__all__}
    parts = {name: value for name, value in public.items() if ismodule(value)}
    names = set(skewanova.__all__) - {"__version__", *parts}
    inside = {f"{part}.{name}" for part, found in parts.items() for name in getattr(found, "__all__", ())}
    assert sorted(listed) == sorted(names | {path for path in inside if path.split(".")[1] not in names})


@each("page", PAGES)
def test_links_between_pages_lead_somewhere(page):
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose)
    assert [link for link in links if not (page.parent / link).exists()] == []


README = Path(__file__).parents[2] / "README.md"


def block(marker: str) -> str:
    text = README.read_text(encoding="utf-8")
    found = re.search(rf"<!-- {marker} -->\n```\w+\n(.*?)```", text, flags=re.DOTALL)
    assert found, f"the README has no block {marker}"
    return found.group(1)


def test_example_prints_what_the_readme_shows() -> None:
    command = [sys.executable, "-W", "error", "-c", block("example")]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.stderr, run.stdout.split()) == ("", block("example-output").split())


def test_commands_set_themselves_up() -> None:
    for marker, made, end in (
        ("main-command", "python3 -m venv .venv", "--out demo-report\n"),
        # groups of dependencies need a newer pip than the one that comes with Python 3.11
        ("test-command", "python3 -m venv --upgrade-deps .venv", '-m pytest -m "not kernels"\n'),
    ):
        command = block(marker)
        assert command.startswith(f"{made} && .venv/bin/pip install ")
        assert command.endswith(end)
