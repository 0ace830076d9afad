"""Settings shared by every test: how hypothesis draws its examples, and the reference numbers."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from blank_figures import undrawn as undrawn
from hypothesis import HealthCheck, settings

REFERENCE = Path(__file__).parent / "reference"

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell in the background hands that down
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # and so does nohup
    signal.signal(signal.SIGHUP, lambda *_: None)  # still no end of this process, but commands run by it hear

settings.register_profile("local", deadline=None, max_examples=40)
settings.register_profile(
    "ci",
    deadline=None,
    max_examples=40,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],  # a busy runner is not a fault of the strategy
)
settings.load_profile("ci" if os.environ.get("CI", "").lower() in {"1", "true"} else "local")


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Numbers from 40-digit integration and from published examples (tests/reference/README.md)."""
    return json.loads((REFERENCE / "golden.json").read_text(encoding="utf-8"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Examples, printed or drawn at random, run lines that others run too: measuring doubles their time."""
    for item in items:
        drawn = "fuzz" in item.path.parts or getattr(getattr(item, "obj", None), "is_hypothesis_test", False)
        if drawn or isinstance(item, pytest.DoctestItem):
            item.add_marker("no_cover")
