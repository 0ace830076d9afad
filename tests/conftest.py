"""Settings shared by every test: signals, and the reference numbers."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from blank_figures import undrawn as undrawn

REFERENCE = Path(__file__).parent / "reference"

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # a shell in the background hands that down
    signal.signal(signal.SIGINT, signal.default_int_handler)
if hasattr(signal, "SIGHUP") and signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:  # and so does nohup
    signal.signal(signal.SIGHUP, lambda *_: None)  # still no end of this process, but commands run by it hear


@pytest.fixture(scope="session")
def golden() -> dict[str, Any]:
    """Numbers from 40-digit integration and from published examples (tests/reference/README.md)."""
    return json.loads((REFERENCE / "golden.json").read_text(encoding="utf-8"))
