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


#: Phrases that a new user had to read twice.
BANNED = (
    "cannot tell", "can tell", "told apart", "tell apart", "no test is trusted", "rests on very few",
    "weigh as much", "lowest judged", "trained anew", "mean seen", "is no test", "give finer ones",
    "turn them around", "these are decisions", "nothing tells", "hold together", "came about",
    "how little sure", "be on paper", "nor the other way round", "if you can, case", "holds no 0",
    "are no mixture", "speak of", "speaks for", "a model's best",
)  # fmt: skip
#: For developers: not in the navigation.
INTERNAL = {"mutants.md", "CHANGELOG.md"}


def sentences(text):
    """Sentences of a page without its code, tables and headings; code within a line is one word."""
    text = re.sub(r"\A---\n.*?\n---\n|^```.*?^```", "\n\n", text, flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"<[!/a-z][^>]*>|!\[[^\]]*\]\([^)]*\)", "", text)
    text = re.sub(r"`[^`]*`", "`x`", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text))
    blocks = re.split(r"\n\s*\n|\n(?=\s*(?:[-*|#>]|\d+\.) )", text)
    cells = [
        cell for block in blocks if block.lstrip().startswith("|") for cell in re.split(r"\s\|\s", block)
    ]
    prose = [block for block in blocks if not block.lstrip().startswith(("|", "#", ">>>"))]
    joined = [" ".join(block.split()) for block in prose + cells]
    return [each for block in joined for each in re.split(r"(?<=[.?!])\)?\s+(?=[A-Z`*(\"\d])", block)]


@each("page", [*(page for page in PAGES if page.name not in INTERNAL), *DOCS.parent.glob("paper/*.md")])
def test_sentences_are_short_and_plain(page):
    text = page.read_text(encoding="utf-8")
    words = {each: len(re.findall(r"\S*\w\S*", each)) for each in sentences(text)}
    assert [each for each, count in words.items() if count > 30] == []
    plain = " ".join(text.split()).lower()
    assert [phrase for phrase in BANNED if phrase in plain] == []


def test_readme_and_docs_are_short():
    counts = {page: len(page.read_text(encoding="utf-8").split()) for page in PAGES}
    assert counts[DOCS.parent / "README.md"] <= 700
    assert sum(count for page, count in counts.items() if DOCS in page.parents) <= 30_000
