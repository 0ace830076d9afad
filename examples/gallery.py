"""Draw every plot by the code that stands on docs/gallery.md, and put the pictures on the page.

The build of the documentation does both. Run it with::

    python examples/gallery.py --out pictures

in a folder with the tables that ``python examples/samples.py`` writes.
"""

from __future__ import annotations

import argparse
import re
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import matplotlib as mpl
from matplotlib import pyplot as plt

from skewanova import SkewanovaWarning

DPI = 110
PAGE = Path(__file__).resolve().parents[1] / "docs" / "gallery.md"


class Picture(NamedTuple):
    """A plot on the page: its heading, what it shows, and the code that draws it."""

    title: str
    about: str
    code: str

    @property
    def name(self) -> str:
        """The name of its file, and its anchor on the page."""
        return re.sub(r"[^\w-]", "", self.title.lower().replace(" ", "-"))


def list_pictures(text: str) -> list[Picture]:
    """Return the plots of the page: sections of a heading, a sentence and a block of Python."""
    sections = re.findall(r"^## (.+)\n\n(.+)\n\n```python\n((?:(?!```).*\n)*)```", text, re.MULTILINE)
    return [Picture(*section) for section in sections]


def draw(code: str, path: Path) -> None:
    """Run the code, and save the one figure that it draws."""
    plt.close("all")
    with warnings.catch_warnings(action="ignore", category=SkewanovaWarning):  # the report has them
        exec(code, {})
    plt.gcf().savefig(path, dpi=DPI, bbox_inches="tight")
    plt.close("all")


def draw_pictures(out: Path, text: str) -> None:
    """Save the picture of every plot of the page."""
    out.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"backend": "Agg"}):
        for picture in list_pictures(text):
            draw(picture.code, out / f"{picture.name}.png")


def add_pictures(text: str, images: str) -> str:
    """Return the page with thumbnails at its head and each picture in its section."""
    pictures = list_pictures(text)
    thumbnails = "".join(
        f'<a href="#{each.name}"><img src="{images}/{each.name}.png" alt="" loading="lazy">{each.title}</a>\n'
        for each in pictures
    )
    for each in pictures:
        image = f'<img src="{images}/{each.name}.png" alt="{each.about}" loading="lazy">'
        text = text.replace(f"\n\n{each.about}\n\n", f"\n\n{each.about}\n\n{image}\n\n", 1)
    return text.replace("<!-- thumbnails -->", f'<div class="thumbnails">\n{thumbnails}</div>')


def main(argv: Sequence[str] | None = None) -> None:
    """Draw everything."""
    parser = argparse.ArgumentParser(description="Draw every plot by the code on docs/gallery.md.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    draw_pictures(parser.parse_args(argv).out, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
