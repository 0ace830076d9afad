"""What differs between systems, each branch on any system: locks, renames, signals, memory, orphans."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from skewanova.base import operating_system as base_system
from skewanova.base.operating_system import (
    available_memory,
    flush_folder,
    locked,
    rename,
    tidy_end,
    undisturbed,
)


@pytest.fixture
def windows(monkeypatch):
    """Windows as far as this module can tell; the calls that only Windows has are counted."""
    calls = []
    locks = SimpleNamespace(LK_NBLCK=2, locking=lambda file, mode, size: calls.append(("lock", mode, size)))
    monkeypatch.setattr(base_system, "on_windows", lambda: True)
    monkeypatch.setattr(base_system, "import_module", {"msvcrt": locks}.__getitem__)
    return SimpleNamespace(calls=calls, locks=locks)


# --- locks and renames --------------------------------------------------------------------------------------


def test_a_lock_is_held_by_one_and_leaves_nothing(tmp_path):
    path = tmp_path / "lock"
    with locked(path) as first, locked(path) as second:
        assert (first, second) == (True, False)
    with locked(path) as again:
        assert again
    assert list(tmp_path.iterdir()) == []


def test_a_lock_of_a_file_that_its_owner_removed_is_tried_again(tmp_path, monkeypatch):
    path, lock = tmp_path / "lock", base_system._lock
    tries = []

    def removed_meanwhile(file):
        held = lock(file)
        if not tries:
            path.unlink()
        tries.append(file)
        return held

    monkeypatch.setattr(base_system, "_lock", removed_meanwhile)
    with locked(path) as held:
        assert held
        assert path.exists()
    assert len(tries) == 2


def test_a_lock_dies_with_its_process(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from skewanova.base.operating_system import locked\n"
        "with locked(Path(sys.argv[1])):\n    print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path / "lock")], stdout=subprocess.PIPE
    ) as other:
        assert other.stdout.readline() == b"held\n"
        with locked(tmp_path / "lock") as held:
            assert not held
        other.kill()
        other.wait()
    with locked(tmp_path / "lock") as held:
        assert held


def test_a_file_system_without_locks_is_no_reason_to_stop(tmp_path, monkeypatch):
    def refuse(error):
        def flock(*_):
            raise OSError(error, os.strerror(error))

        return SimpleNamespace(LOCK_EX=2, LOCK_NB=4, flock=flock)

    monkeypatch.setattr(base_system, "import_module", lambda _: refuse(errno.ENOLCK))
    with locked(tmp_path / "lock") as held:
        assert held
    monkeypatch.setattr(base_system, "import_module", lambda _: refuse(errno.EIO))
    with pytest.raises(OSError, match="Input/output"), locked(tmp_path / "lock"):
        pass


def test_locks_of_windows(windows, tmp_path):
    with locked(tmp_path / "lock") as held:
        assert held
    assert windows.calls == [("lock", 2, 1)]
    assert list(tmp_path.iterdir()) == []

    def taken(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    windows.locks.locking = taken
    with locked(tmp_path / "lock") as held:
        assert not held


def test_windows_tries_a_rename_for_a_while(windows, tmp_path, monkeypatch):
    (tmp_path / "old").mkdir()
    kept, tries = Path.rename, []

    def hindered(path, new):
        tries.append(new)
        if len(tries) < 3:
            raise PermissionError(errno.EACCES, "in use")
        return kept(path, new)

    monkeypatch.setattr(Path, "rename", hindered)
    rename(tmp_path / "old", tmp_path / "new")
    assert (tmp_path / "new").is_dir()
    assert len(tries) == 3
    monkeypatch.setattr(base_system, "PATIENCE", 0.1)

    def busy(*_):
        raise PermissionError(errno.EACCES, "in use")

    monkeypatch.setattr(Path, "rename", busy)
    with pytest.raises(PermissionError):
        rename(tmp_path / "new", tmp_path / "old")


def test_other_systems_tell_of_a_rename_at_once(tmp_path, monkeypatch):
    tries = []

    def refused(*_):
        tries.append(1)
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(Path, "rename", refused)
    with pytest.raises(PermissionError):
        rename(tmp_path / "old", tmp_path / "new")
    assert len(tries) == 1


def test_a_folder_is_flushed_where_the_system_can(tmp_path, monkeypatch):
    flush_folder(tmp_path)
    answers = [errno.EINVAL, errno.EIO]

    def refuse(_file):
        raise OSError(answers[0], "no")

    monkeypatch.setattr(os, "fsync", refuse)
    flush_folder(tmp_path)  # the file system knows no such thing
    answers.pop(0)
    with pytest.raises(OSError, match="no"):
        flush_folder(tmp_path)


def test_windows_flushes_no_folders(windows, tmp_path):
    flush_folder(tmp_path / "absent")


def test_a_closed_pipe_has_another_number_on_windows(monkeypatch):
    closed = OSError(errno.EINVAL, "Invalid argument")
    assert base_system.is_closed_pipe(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert not base_system.is_closed_pipe(closed)
    monkeypatch.setattr(base_system, "on_windows", lambda: True)
    assert base_system.is_closed_pipe(closed)


# --- signals ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP"])
def test_an_asked_for_end_leaves_as_an_exception_does(name):
    number = getattr(signal, name)
    before = signal.getsignal(number)
    with tidy_end(), pytest.raises(SystemExit, match=rf"^{128 + number}$"):
        signal.raise_signal(number)
    assert signal.getsignal(number) is before


ASKED = [("SIGINT", KeyboardInterrupt), ("SIGTERM", SystemExit), ("SIGHUP", SystemExit)]


@pytest.mark.parametrize(("name", "error"), ASKED)
def test_an_asked_for_end_is_one_whatever_it_was_turned_into(name, error):
    def work():
        with tidy_end():
            try:
                signal.raise_signal(getattr(signal, name))
            except BaseException as cause:
                raise RuntimeError("Error calling __set_name__") from cause  # as Python 3.11 does

    with pytest.raises(error) as caught:
        work()
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(("name", "error"), ASKED)
def test_an_asked_for_end_is_not_lost_in_a_destructor(name, error, capsys):
    class Held:
        def __del__(self):
            signal.raise_signal(getattr(signal, name))

    hook = sys.unraisablehook

    def work():
        with tidy_end():
            held = Held()
            del held
            time.sleep(60)

    started = time.monotonic()
    with pytest.raises(error):
        work()
    assert time.monotonic() - started < 30  # what sleeps is woken
    assert sys.unraisablehook is hook
    assert capsys.readouterr() == ("", "")


def test_a_lost_end_is_raised_anew_where_no_thread_can_be_woken(monkeypatch):
    class Held:
        def __del__(self):
            signal.raise_signal(signal.SIGTERM)

    def work():
        with tidy_end():
            held = Held()
            del held
            for _ in range(3000):
                time.sleep(0.01)
        raise AssertionError("lost")

    monkeypatch.delattr(signal, "pthread_kill", raising=False)
    with pytest.raises(SystemExit):
        work()


def test_other_errors_are_none_of_the_end(monkeypatch):
    class Held:
        def __del__(self):
            raise ValueError("lost")

    told = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)

    def work():
        with tidy_end():
            held = Held()
            del held
            raise ValueError("mine")

    with pytest.raises(ValueError, match=r"^mine$"):
        work()
    assert [str(unraisable.exc_value) for unraisable in told] == ["lost"]


def test_a_signal_that_is_ignored_stays_so():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as under nohup
    try:
        with tidy_end():
            signal.raise_signal(signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_signals_that_a_system_lacks_are_left_out(monkeypatch):
    monkeypatch.delattr(signal, "SIGHUP")
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)
    with tidy_end(), pytest.raises(SystemExit):
        signal.raise_signal(signal.SIGUSR1)


@pytest.mark.parametrize(("name", "error"), ASKED)
def test_signals_wait_until_a_block_is_done(name, error):
    done = []

    def work():
        with tidy_end(), undisturbed():
            signal.raise_signal(getattr(signal, name))
            signal.raise_signal(getattr(signal, name))
            done.append(name)

    with pytest.raises(error):
        work()
    assert done == [name]


def test_other_threads_leave_signals_alone():
    seen = []

    def work():
        with tidy_end(), undisturbed():
            seen.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


# --- processes ----------------------------------------------------------------------------------------------


def test_a_tied_function_gives_what_it_gives():
    assert base_system.tied(divmod)(7, 2) == (3, 1)


def _gone(pid):
    """Whether a process has ended, as far as anybody but its parent can tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def test_workers_end_with_a_parent_that_was_killed(tmp_path):
    code = (
        "import os, sys, time\n"
        "from joblib import Parallel, delayed\n"
        "from skewanova.base.operating_system import tied\n"
        "def work(folder, n):\n"
        "    open(os.path.join(folder, str(os.getpid())), 'w').close()\n"
        "    time.sleep(120)\n"
        "Parallel(n_jobs=2)(delayed(tied(work))(sys.argv[1], n) for n in range(2))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code, str(tmp_path)]) as parent:
        try:
            assert _soon(lambda: len(list(tmp_path.iterdir())) == 2, 60)
        finally:
            parent.kill()
    workers = [int(path.name) for path in tmp_path.iterdir()]
    assert _soon(lambda: all(map(_gone, workers)), 15)


def _soon(reached, seconds):
    until = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > until:
            return False
        time.sleep(0.1)
    return True


def test_a_worker_that_is_nobodys_child_is_not_watched(monkeypatch):
    started = []
    monkeypatch.setattr(threading.Thread, "start", lambda _thread: started.append(1))
    base_system.Tied(abs, os.getpid())(-1)  # on another machine, or in the process itself
    assert started == []
    monkeypatch.setattr(base_system, "_watched", set())
    for _ in range(2):
        base_system.Tied(abs, os.getppid())(-1)
    assert len(started) == 1


def test_a_worker_whose_parent_ended_before_its_first_task_ends(monkeypatch):
    ended = []
    monkeypatch.setattr(os, "_exit", ended.append)
    nobody = 2**22 + 1  # more than any process has for a number
    assert base_system.Tied(abs, nobody)(-1) == 1  # one of a cluster
    assert ended == []
    worker = type("LokyProcess", (), {"__module__": "joblib.externals.loky.backend.process"})
    monkeypatch.setattr(base_system.multiprocessing, "current_process", worker)
    base_system.Tied(abs, nobody)(-1)
    assert ended == [1]


def test_a_watch_ends_the_process_with_its_parent(monkeypatch):
    alive = iter([True, False])
    ended = []
    monkeypatch.setattr(base_system, "is_alive", lambda parent: next(alive))
    monkeypatch.setattr(base_system, "LOOK", 0.01)
    monkeypatch.setattr(os, "_exit", ended.append)
    base_system._end_after(1)
    assert ended == [1]


@pytest.mark.parametrize("case", [(0, 0, False), (7, 0x102, True), (7, 0, False)])
def test_windows_tells_whether_a_parent_lives(windows, monkeypatch, case):
    handle, answer, alive = case
    system = SimpleNamespace(
        OpenProcess=lambda access, inherit, pid: handle,
        WaitForSingleObject=lambda held, seconds: answer,
        CloseHandle=windows.calls.append,
    )
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=system), raising=False)
    assert base_system.is_alive(1) is alive
    assert windows.calls == [handle] * bool(handle)


def test_a_parent_lives_as_long_as_it_is_the_parent():
    assert base_system.is_alive(os.getppid())
    assert not base_system.is_alive(os.getpid())


# --- memory -------------------------------------------------------------------------------------------------


@pytest.fixture
def system(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(base_system, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(base_system, "_CGROUP", tmp_path)
    (tmp_path / "meminfo").write_text("MemTotal: 4000 kB\nMemFree: 10 kB\nMemAvailable: 2000 kB\n\n")
    return tmp_path


def test_what_the_system_tells(system):
    assert available_memory() == 2000 * 1024


def test_the_limit_of_a_container(system):
    (system / "memory.current").write_text("400\n")
    (system / "memory.max").write_text("max\n")
    assert available_memory() == 2000 * 1024
    (system / "memory.max").write_text("1000\n")
    assert available_memory() == 600
    (system / "memory").mkdir()  # cgroup v1
    (system / "memory" / "memory.limit_in_bytes").write_text("700\n")
    (system / "memory" / "memory.usage_in_bytes").write_text("200\n")
    assert available_memory() == 500


def test_systems_that_tell_less(system, monkeypatch):
    (system / "meminfo").unlink()
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 10}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__, raising=False)
    assert available_memory() == 40960
    monkeypatch.delattr(os, "sysconf")
    assert available_memory() is None


VM_STAT = """Mach Virtual Memory Statistics: (page size of 16384 bytes)
Pages free:                               100.
Pages active:                          300000.
Pages inactive:                            20.
Pages speculative:                          3.
"""


def test_free_memory_of_macos(system, monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(subprocess, "check_output", lambda command, **_: VM_STAT)
    assert available_memory() == 123 * 16384
    monkeypatch.setattr(subprocess, "check_output", lambda command, **_: "nothing")
    monkeypatch.setattr(base_system, "_built_in", lambda: 77)
    assert available_memory() == 77

    def absent(command, **_):
        raise FileNotFoundError(command[0])

    monkeypatch.setattr(subprocess, "check_output", absent)
    assert available_memory() == 77


@pytest.mark.usefixtures("system", "windows")
@pytest.mark.parametrize(("works", "known"), [(1, 4321), (0, None)])
def test_free_memory_of_windows(monkeypatch, works, known):
    def status(reference):
        reference._obj.available = 4321
        assert reference._obj.length == ctypes.sizeof(reference._obj) == 64
        return works

    kernel = SimpleNamespace(GlobalMemoryStatusEx=status)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    assert available_memory() == known
