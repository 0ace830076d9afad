"""Fixtures of folders whose parts have reports of their own."""

import pytest


@pytest.fixture
def quick_parts(monkeypatch):
    """Reports of the parts, one a data set or class, take most of the time and have their own tests."""

    def quick(_result, output, name, *, formats):
        assert formats == ()
        part = output.make_subfolder(name)
        part.write("report.html", "one")
        part.write_manifest({"tool": "skewanova"})

    monkeypatch.setattr("skewanova.report.document.write_part", quick)
