"""Drawings to pictures: one style, the same bytes each time, and SVG for use inside a page."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from markupsafe import Markup
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skewanova.base.checks import warn_each

#: Name of what lies behind the curves of the main figure: where the page puts its cursor.
PRIOR_AREA = "prior-area"


#: On top of matplotlib's defaults, whatever the user has set: same input, same bytes.
#: Text of an SVG stays text: it can be searched, read aloud, copied.
_STYLE: list[Any] = [
    "default",
    {
        "svg.hashsalt": "skewanova",
        "svg.fonttype": "none",
        "pdf.fonttype": 42,
        "font.size": 11,
        "axes.titley": 1.0,
    },
]


#: How matplotlib tells that a font lacks a sign, and so many of them a message shows.
_GLYPH, MAX_GLYPHS = re.compile(r"Glyph (\d+) .* missing from"), 5


_METADATA: dict[str, dict[str, Any]] = {
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
    "png": {"Software": None},
    "svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
}


def render_figures(
    drawings: Iterable[tuple[str, Callable[[], Figure]]], formats: Sequence[str]
) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the name of each figure and its picture in each format; one figure is in memory at a time."""
    missing: set[str] = set()
    for name, draw in drawings:
        with style.context(_STYLE), _collect_missing_glyphs(missing):
            pictures = _render_formats(draw(), formats)
        yield name, pictures
    _warn_missing_glyphs(missing, formats)


def render_plot(plot: Callable[..., Axes], source: object) -> bytes:
    """Return one plot as SVG in the style of a report."""
    drawing = ("plot", lambda: draw_single(plot, source, (7, 4.6)))
    return dict(render_figures([drawing], ("svg",)))["plot"]["svg"]


def _render_formats(figure: Figure, formats: Iterable[str]) -> dict[str, bytes]:
    """Render the figure in each format, laid out once, since saving would draw all before each file."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # with "none", saving would draw twice as well
    return {name: _render_figure(figure, name) for name in dict.fromkeys(formats)}


def _render_figure(figure: Figure, name: str) -> bytes:
    buffer = BytesIO()
    figure.savefig(buffer, format=name, dpi=150, metadata=_METADATA[name])
    return buffer.getvalue()


def draw_single(
    plot: Callable[..., Axes], source: object, size: tuple[float, float], **options: Any
) -> Figure:
    """Draw one plot in a figure that pyplot does not know."""
    figure = Figure(figsize=size, layout="constrained")
    plot(source, ax=figure.subplots(), **options)
    return figure


def _warn_missing_glyphs(missing: Collection[str], formats: Sequence[str]) -> None:
    """Warn of signs that files show as boxes."""
    if missing and set(formats) != {"svg"}:  # whoever shows the text of an SVG looks for a font that has them
        signs = ", ".join(f"{sign!r}" for sign in sorted(missing)[:MAX_GLYPHS])
        rest = f" and {len(missing) - MAX_GLYPHS} more" if len(missing) > MAX_GLYPHS else ""
        warn_each([f"figures show boxes where their font lacks a sign ({signs}{rest}); tables show them all"])


@contextmanager
def _collect_missing_glyphs(missing: set[str]) -> Iterator[None]:
    """Collect the signs that the font of the figures lacks, of which each text would warn."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message=_GLYPH.pattern)
        yield
    for warning in caught:
        glyph = _GLYPH.match(str(warning.message))
        if glyph:
            missing.add(chr(int(glyph[1])))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


#: Colours of the figures that are those of the page: they follow it where that is dark.
_PAGE_COLOURS = {
    "#ffffff": "var(--paper)",
    "#000000": "var(--ink)",
    "#262626": "var(--ink)",
    "#595959": "var(--soft)",
    "#808080": "var(--soft)",
}


#: Text between tags: words of a figure, names among them.
_WORDS = re.compile(r">([^<]*[^<\s][^<]*)<")


def inline_svg(svg: bytes, kind: str) -> Markup:
    """Return the picture for use inside HTML: no rules of style, ids of its own, the page's colours.

    Its words stay as they are, whatever they look like.
    """
    text = svg.decode("utf-8")
    text = re.sub(r"<!--.*?-->|<style.*?</style>", "", text[text.index("<svg") :], flags=re.DOTALL)
    words = iter(_WORDS.findall(text))
    text = _WORDS.sub(">\0<", text)
    text = re.sub(r' xmlns(:xlink)?="[^"]*"', "", text)
    text = re.sub(r'(?: xlink:)?\bhref="#', ' href="#', text)
    text = re.sub(rf'<g id="(?!{PRIOR_AREA}")[^"]*"', "<g", text)
    text = re.sub(r'(\bid="|\bhref="#|url\(#)', rf"\g<1>{kind}-", text)
    text = re.sub("|".join(_PAGE_COLOURS), lambda match: _PAGE_COLOURS[match[0]], text)
    text = text.replace("<svg", '<svg aria-hidden="true" focusable="false"', 1)
    text = re.sub(r"\s*\n\s*", "\n", text).strip()
    return Markup(re.sub("\0", lambda _: next(words), text))
