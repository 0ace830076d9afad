"""Tiers of the tests: `pytest` alone runs the fast one, `pytest -m "not kernels"` everything.

Whole folders and files get their mark here; single tests that take over a second are marked `slow` where they
stand.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ROOT = Path(__file__).parent

#: Marks of all tests below a path.
MARKS = {
    "docs": "docs",
    "studies": "studies",
    "tests/distributed": "distributed",
    "tests/fuzz": "fuzz",
    **{f"tests/project/{path.name}": "docs" for path in (ROOT / "tests/project").glob("test_example*.py")},
    **{
        f"tests/project/test_{name}.py": "docs"
        for name in ("gallery", "pages", "papers", "readme", "measured_tests")
    },
}

settings.register_profile("local", deadline=None, max_examples=15)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=40,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # a busy runner is not a fault of the strategy
)
settings.load_profile("ci" if os.environ.get("CI", "").lower() in {"1", "true"} else "local")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tiers, and what measuring of coverage leaves out."""
    for item in items:
        place = item.path.relative_to(ROOT).as_posix() if item.path.is_relative_to(ROOT) else ""
        for path, mark in MARKS.items():
            if place == path or place.startswith(f"{path}/"):
                item.add_marker(mark)
        # Examples, printed or drawn at random, run lines that others run too: measuring doubles their time.
        drawn = getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if drawn or place.startswith("tests/fuzz/") or isinstance(item, pytest.DoctestItem):
            item.add_marker("no_cover")
