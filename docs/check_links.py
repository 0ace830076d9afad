"""Follow every link within a built site, hand-written HTML too: ``python docs/check_links.py SITE``."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Anchors of a page, and where its links lead."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, _tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note anchors and links of a tag."""
        values = {name: value for name, value in attributes if value}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        self.links += [values[name] for name in ("href", "src") if name in values]


def broken(site: Path) -> list[str]:
    """Return page and link of every link that leads to no file or no anchor of the site."""
    pages = {path: Page(path) for path in site.rglob("*.html")}
    found = []
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchors = pages[target].anchors if target in pages else {unquote(parts.fragment)}
            if not (parts.scheme or (target.exists() and unquote(parts.fragment) in {*anchors, ""})):
                found.append(f"{path.relative_to(site)}: {link}")
    return found


if __name__ == "__main__":
    sys.exit("\n".join(broken(Path(sys.argv[1]).resolve())) or 0)
