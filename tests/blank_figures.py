"""A fixture that tests and pages share: folders and reports without drawing."""

from dataclasses import replace

import pytest


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blank figures in folders and reports: drawing takes most of the time, and has tests of its own."""
    from matplotlib.figure import Figure

    from skewanova.report import figures

    blank = {kind: replace(each, draw=lambda _: Figure()) for kind, each in figures.FIGURES.items()}
    monkeypatch.setattr(figures, "FIGURES", blank)
    monkeypatch.setattr(figures, "_render_formats", lambda _, formats: dict.fromkeys(formats, b"<svg></svg>"))
