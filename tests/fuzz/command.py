"""The command in this process, and what must hold whatever it is given."""

import json
import re
import tempfile
import traceback
from contextlib import chdir, contextmanager
from pathlib import Path

from click.testing import CliRunner

from skewanova.cli import commands

#: Done; an error of the system; bad usage or input; (diff, monitor) the leader changed.
DONE, FAILED, REFUSED, CHANGED = range(4)
MAX_MESSAGE = 20_000
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
    return {
        path.relative_to(folder).as_posix(): None if path.is_symlink() or path.is_dir() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
    }


def checked_run(arguments, folder, *, statuses=(DONE, REFUSED)):
    """Run the command: it does what it should, or refuses in one line and leaves all as it was."""
    before = content(folder)
    result = run(arguments)
    assert_told(result, arguments, statuses)
    after = content(folder)
    ours = {Path(name).parent.as_posix() for name in before if name.endswith("/provenance.json")}
    foreign = {name for name in before if not ours & {path.as_posix() for path in Path(name).parents}}
    changed = [name for name in foreign if after.get(name, "absent") != before[name]]
    assert not changed, f"files that are not ours were changed: {changed}"
    hidden = [name for name in after if Path(name).name.startswith(".skewanova")]
    assert not hidden, f"left behind: {hidden}"
    if result.exit_code in (FAILED, REFUSED):
        assert after == before, f"written although refused: {sorted(set(after) ^ set(before))}"
    return result


def assert_told(result, arguments, statuses):
    """The status is one of those allowed; what is printed is whole, readable and steers no terminal."""
    command = f"skewanova {' '.join(map(ascii, arguments))}"
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        trace = "".join(traceback.format_exception(result.exception)[-12:])
        raise AssertionError(f"{command} let through: {trace}") from result.exception
    assert result.exit_code in statuses, f"{command} ended with {result.exit_code}: {result.output!r}"
    assert "Traceback" not in result.output
    if result.exit_code in (FAILED, REFUSED):
        lines = result.stderr.removesuffix("\n").split("\n")
        assert result.stdout == "", result.stdout
        assert lines[-1].startswith("Error: "), result.stderr
        assert len(lines) == 1 or lines[0].startswith("Usage: "), f"more than one line: {result.stderr!r}"
        assert len(lines[-1]) < MAX_MESSAGE, f"a message of {len(lines[-1])} signs"
    steering = STEERS.search(result.output)
    assert steering is None, f"{command} prints {steering!r}"
    if result.exit_code == DONE and "--json" in arguments:
        json.loads(result.stdout, parse_constant=_refuse_constant)


def _refuse_constant(name):
    raise AssertionError(f"{name} is not JSON")
