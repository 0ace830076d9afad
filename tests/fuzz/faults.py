"""What the system does to a run: no room, no rights."""

import os
from contextlib import contextmanager

from hypothesis import strategies as st

from fuzz.command import DONE, FAILED, REFUSED, assert_told, content, folder_of, run
from fuzz.generator import Generator, sample
from fuzz.options import files

NOBODY = 65534
COMMANDS = (["intervals", "folds.csv"], ["plan", "folds.csv"])


@contextmanager
def room_for(size):
    """No file may grow beyond so many bytes: what a full disk does to a writer."""
    import resource  # not on Windows

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@contextmanager
def without_rights(folder):
    """The folder cannot be written; root, who may write all, becomes nobody."""
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if os.geteuid() == NOBODY:
            os.seteuid(0)
        folder.chmod(0o755)


def told_without_room(case):
    """A full disk: one line, status 1, and all is as it was; or, where the room suffices, done."""
    with folder_of(files()) as folder:
        before = content(folder)
        with room_for(case["room"]):
            result = run([*case["command"], "--out", "new"])
        assert_told(result, case["command"], (DONE, FAILED))
        if result.exit_code == FAILED:
            assert content(folder) == before


def told_without_rights(case):
    """A folder that cannot be written: one line, and nothing is left; without `--out` it does not matter."""
    with folder_of(files()) as folder:
        out = ["--out", "new"] if case["out"] else []
        rehearse([*case["command"], *out])
        before = content(folder)
        with without_rights(folder):
            result = run([*case["command"], *out])
        assert_told(result, case["command"], (FAILED, REFUSED) if out else (DONE,))
        assert content(folder) == before


def rehearse(command):
    """Run what works, what fails and what is refused, so that all modules are read before the rights go."""
    with folder_of(files()):
        run(command)
        run([*command, "--out", "folds.csv"])
        with room_for(0):
            run([*command, "--out", "other"])


_room = st.fixed_dictionaries(sample(command=COMMANDS, room=range(6001)))
_rights = st.fixed_dictionaries(sample(command=COMMANDS, out=(False, True)))
_ALL = (
    Generator("no room", _room, told_without_room, 12),
    Generator("no rights", _rights, told_without_rights, 4),
)
GENERATORS = _ALL if os.name == "posix" else ()
