"""The command in this process, and what must hold whatever it is given."""

import json
import os
import re
import tempfile
import traceback
from contextlib import chdir, contextmanager
from pathlib import Path

from click.testing import CliRunner

from skewanova.cli import commands

#: Done; an error of the system; bad usage or input; (diff, monitor) the leader changed.
DONE, FAILED, REFUSED, CHANGED = range(4)
#: What would steer a terminal or hide text: C0 but the line feed, DEL and C1, and the bidirectional controls.
STEERS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def run(arguments):
    return CliRunner().invoke(commands.main, list(arguments), prog_name="skewanova", terminal_width=80)


@contextmanager
def folder_of(files):
    """A new current folder that holds the files."""
    with tempfile.TemporaryDirectory(prefix="skewanova-fuzz-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        for file, content in files.items():
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        with chdir(folder):
            yield folder


def content(folder):
    """Every file below with its bytes, every folder and link with none."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[name] = path.read_bytes() if path.is_file() and not path.is_symlink() else None
    return found


def checked_run(arguments, folder, *, statuses=(DONE, REFUSED)):
    """Run the command: it does what it should, or refuses in one line and leaves all as it was."""
    before = content(folder)
    result = run(arguments)
    assert_told(result, arguments, statuses)
    after = content(folder)
    assert {name: after.get(name) for name in before if not _replaceable(name, before)} == {
        name: held for name, held in before.items() if not _replaceable(name, before)
    }, "a file that is not ours was changed"
    hidden = [name for name in after if Path(name).name.startswith(".skewanova")]
    assert not hidden, f"left behind: {hidden}"
    if result.exit_code in (FAILED, REFUSED):
        assert after == before, f"written although refused: {sorted(set(after) ^ set(before))}"
    return result


def _replaceable(name, before):
    """Whether the file stands in an earlier output of ours."""
    parents = [parent.as_posix() for parent in Path(name).parents]
    return any(f"{parent}/provenance.json" in before for parent in parents)


def assert_told(result, arguments, statuses):
    """The status is one of those allowed; what is printed is whole, readable and steers no terminal."""
    shown = " ".join(map(ascii, arguments))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        told = "".join(traceback.format_exception(result.exception)[-12:])
        raise AssertionError(f"skewanova {shown} let through: {told}") from result.exception
    assert result.exit_code in statuses, f"skewanova {shown} ended with {result.exit_code}: {result.output!r}"
    assert "Traceback" not in result.output
    if result.exit_code in (FAILED, REFUSED):
        assert_one_line(result)
    steering = STEERS.search(result.output)
    assert steering is None, f"skewanova {shown} prints {steering!r}"
    if result.exit_code == DONE and "--json" in arguments:
        json.loads(result.stdout, parse_constant=_no_constant)


def assert_one_line(result):
    lines = result.stderr.removesuffix("\n").split("\n")
    usage = bool(lines) and lines[0].startswith("Usage: ")
    assert result.stdout == "", result.stdout
    assert lines[-1].startswith("Error: "), result.stderr
    assert len(lines) == 1 or usage, f"more than one line: {result.stderr!r}"
    assert len(lines[-1]) < LONGEST_MESSAGE, f"a message of {len(lines[-1])} signs"


LONGEST_MESSAGE = 20_000


def _no_constant(name):
    raise AssertionError(f"{name} is not JSON")


def is_root():
    return hasattr(os, "geteuid") and os.geteuid() == 0
