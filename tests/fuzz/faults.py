"""What the system does to a run: no room, no rights, signals, files of others in the way."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from fuzz.command import DONE, FAILED, REFUSED, assert_told, content, folder_of, run
from fuzz.generator import Generator, sample
from fuzz.options import files

NOBODY = 65534
COMMANDS = (["intervals", "folds.csv"], ["plan", "folds.csv"])
SIGNALS = ("SIGTERM", "SIGINT", "SIGHUP")
#: Seconds that a run may take to end on a machine that is busy with other things.
PATIENCE = 300


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


def listen():
    """Ignore no signal, though whoever started the fuzzing (nohup, a shell in the background) may."""
    for name in SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def read_process(pid, what, *, otherwise=""):
    """What Linux tells of a process."""
    try:
        return Path(f"/proc/{pid}/{what}").read_text(errors="replace")
    except OSError:
        return otherwise


def handles_signals(pid, _folder):
    """Whether the process has its own way to end."""
    caught = re.search(r"^SigCgt:\s*(\w+)", read_process(pid, "status"), re.MULTILINE)
    return caught is None or bool(int(caught[1], 16) >> (signal.SIGTERM - 1) & 1)


#: When a phase of a run has begun, whatever the machine does besides; before loading, Python itself starts.
PHASES = {
    "loading": lambda pid, _folder: "numpy" in read_process(pid, "maps", otherwise="numpy"),
    "working": handles_signals,
    "writing": lambda _pid, folder: any(folder.glob(".skewanova-*.new")),
}


def ends_tidily(case):
    """A signal at any moment of any phase: nothing hidden is left, and the target is whole or absent."""
    with folder_of(files()) as folder:
        before = content(folder)
        command = [sys.executable, "-m", "skewanova.cli", *case["command"], "--out", "new"]
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder, preexec_fn=listen
        )
        try:
            while process.poll() is None and not PHASES[case["phase"]](process.pid, folder):
                time.sleep(0.002)
            time.sleep(case["after"] / 1000)
            process.send_signal(getattr(signal, case["signal"]))
            _, errors = process.communicate(timeout=PATIENCE)
        finally:
            process.kill()
            process.wait()
        after = content(folder)
        assert b"Traceback" not in errors, errors.decode()
        new = dict(after.items() - before.items())
        assert set(before) <= set(after)
        if process.returncode == DONE or new:  # the signal may come when all is written
            assert set(new) == written(tuple(case["command"])), sorted(new)


@cache
def written(command):
    """Names that the command writes when nothing disturbs it."""
    with folder_of(files()) as folder:
        before = set(content(folder))
        run([*command, "--out", "new"])
        return set(content(folder)) - before


_room = st.fixed_dictionaries(sample(command=COMMANDS, room=range(6001)))
_rights = st.fixed_dictionaries(sample(command=COMMANDS, out=(False, True)))
_signals = st.fixed_dictionaries(
    sample(command=[["compare", "folds.csv"]], signal=SIGNALS, phase=sorted(PHASES), after=range(3001))
)
_ALL = (
    Generator("no room", _room, told_without_room, 12),
    Generator("no rights", _rights, told_without_rights, 4),
    Generator("signals", _signals, ends_tidily, 0, repeatable=False),
)
GENERATORS = _ALL if os.name == "posix" else ()
