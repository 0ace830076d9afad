import re
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
