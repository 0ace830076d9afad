"""The README's example runs and prints what the README says, and its commands are there for CI to find."""

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[2] / "README.md"


def block(marker: str) -> str:
    found = re.search(
        rf"<!-- {marker} -->\n```\w+\n(.*?)```", README.read_text(encoding="utf-8"), flags=re.DOTALL
    )
    assert found, f"the README has no block {marker}"
    return found.group(1)


def test_example_prints_what_the_readme_shows() -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", block("example")], capture_output=True, text=True, check=False
    )
    assert (run.stderr, run.stdout.split()) == ("", block("example-output").split())


def test_commands_set_themselves_up() -> None:
    for marker, made, end in (
        ("main-command", "python3 -m venv .venv", "--out demo-report\n"),
        # groups of dependencies need a newer pip than the one that comes with Python 3.11
        ("test-command", "python3 -m venv --upgrade-deps .venv", '-m pytest -m "not kernels"\n'),
    ):
        command = block(marker)
        assert command.startswith(f"{made} && .venv/bin/pip install ")
        assert command.endswith(end)
