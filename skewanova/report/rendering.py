"""Render figures to files with reproducible bytes."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from skewanova.base.checks import warn_each

#: matplotlib's defaults and these, whatever the user has set, so that equal input gives equal bytes.
#: Text of an SVG stays text, so that it can be searched, copied and read aloud.
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


#: Warning of matplotlib that a font lacks a character, and how many of them a message lists.
_GLYPH, MAX_GLYPHS = re.compile(r"Glyph (\d+) .* missing from"), 5


_METADATA: dict[str, dict[str, Any]] = {
    "pdf": dict.fromkeys(("CreationDate", "Creator", "Producer")),
    "png": {"Software": None},
    "svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
}


def render_figures(
    drawings: Iterable[tuple[str, Callable[[], Figure]]], formats: Sequence[str]
) -> Iterator[tuple[str, dict[str, bytes]]]:
    """Yield the name of each figure and its files by format; one figure is in memory at a time."""
    missing: set[str] = set()
    for name, draw in drawings:
        with style.context(_STYLE), _collect_missing_glyphs(missing):
            pictures = _render_formats(draw(), formats)
        yield name, pictures
    _warn_missing_glyphs(missing, formats)


def render_plot(plot: Callable[..., Axes], source: object) -> bytes:
    """Render one plot as SVG in the style of the report."""
    drawing = ("plot", lambda: draw_single(plot, source, (7, 4.6)))
    return dict(render_figures([drawing], ("svg",)))["plot"]["svg"]


def _render_formats(figure: Figure, formats: Iterable[str]) -> dict[str, bytes]:
    """Render a figure in each format; its layout is computed once, and not by each call of savefig."""
    engine = figure.get_layout_engine()
    if engine is not None:
        engine.execute(figure)
        figure.set_layout_engine(None)  # "none" would leave a placeholder, and savefig draw twice
    files = {}
    for name in dict.fromkeys(formats):
        buffer = BytesIO()
        figure.savefig(buffer, format=name, dpi=150, metadata=_METADATA[name])
        files[name] = buffer.getvalue()
    return files


def draw_single(
    plot: Callable[..., Axes], source: object, size: tuple[float, float], **options: Any
) -> Figure:
    """Draw one plot in a figure outside pyplot."""
    figure = Figure(figsize=size, layout="constrained")
    plot(source, ax=figure.subplots(), **options)
    return figure


def _warn_missing_glyphs(missing: Collection[str], formats: Sequence[str]) -> None:
    """Warn of characters that PNG and PDF files show as boxes; viewers of SVG find another font."""
    if missing and set(formats) != {"svg"}:
        signs = ", ".join(f"{sign!r}" for sign in sorted(missing)[:MAX_GLYPHS])
        rest = f" and {len(missing) - MAX_GLYPHS} more" if len(missing) > MAX_GLYPHS else ""
        warn_each([f"figures show boxes where their font lacks a sign ({signs}{rest}); tables show them all"])


@contextmanager
def _collect_missing_glyphs(missing: set[str]) -> Iterator[None]:
    """Collect the characters that the font lacks, instead of one warning for each text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", message=_GLYPH.pattern)
        yield
    for warning in caught:
        glyph = _GLYPH.match(str(warning.message))
        if glyph:
            missing.add(chr(int(glyph[1])))
        else:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
