"""What differs between systems: locks, renames, signals, processes, free memory.

Nothing else in the package asks which system it runs on, so every branch here is tested on all of them.
"""

from __future__ import annotations

import ctypes
import errno
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any, Generic, TypeVar

T = TypeVar("T")


#: Files that file managers leave in every folder they show.
LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})


#: Signals that ask a process to end, where the system has them.
ENDING = ("SIGTERM", "SIGHUP", "SIGBREAK")


#: What a file system answers that has no locks, or cannot flush a folder.
UNSUPPORTED = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


#: Seconds to try a rename that another program hinders, between looks whether a parent lives, and until a
#: signal that got lost is raised anew.
PATIENCE, LOOK, AGAIN = 2.0, 0.5, 0.01


_MEMINFO = Path("/proc/meminfo")


#: Limit and use of a container: cgroup v2, v1.
_CGROUP = Path("/sys/fs/cgroup")


_CONTAINERS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def on_windows() -> bool:
    """Whether the system is Windows."""
    return sys.platform == "win32"


@contextmanager
def locked(path: Path) -> Iterator[bool]:
    """Whether this process holds the lock in the block; the file of the lock is gone after it.

    The system lets go of it when the process ends, however it ends. Where there are no locks, it is held.
    """
    file = None
    try:
        with undisturbed():  # or the file is there and nobody knows of it
            file = _open_locked(path)
        yield file is not None
    finally:
        if file is not None:
            with undisturbed():
                _let_go(path, file)


def _let_go(path: Path, file: int) -> None:
    """Remove and close the file of a lock that is ours."""
    if on_windows():  # an open file cannot be removed there
        os.close(file)
        path.unlink(missing_ok=True)
    else:  # removed while it is held, so that nobody locks a file that is about to go
        path.unlink(missing_ok=True)
        os.close(file)


def _open_locked(path: Path) -> int | None:
    """The open file of a lock that is now ours, or None where another process holds it."""
    while True:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            held = _lock(file)
            if held and _is_still(path, file):
                return file
        except BaseException:
            os.close(file)
            raise
        os.close(file)
        if not held:
            return None


def _is_still(path: Path, file: int) -> bool:
    """Whether the open file is the one of that name; its last owner may have removed it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except FileNotFoundError:
        return False


def _lock(file: int) -> bool:
    """Lock an open file at once, or tell that another process has."""
    try:
        if on_windows():
            windows = import_module("msvcrt")
            windows.locking(file, windows.LK_NBLCK, 1)
        else:
            posix = import_module("fcntl")
            posix.flock(file, posix.LOCK_EX | posix.LOCK_NB)
    except OSError as error:
        if not on_windows() and error.errno in UNSUPPORTED:
            return True
        if error.errno not in {errno.EACCES, errno.EAGAIN, errno.EDEADLK}:
            raise
        return False
    return True


def rename(old: Path, new: Path) -> None:
    """Rename a folder; on Windows a program that looks into it may hinder that for a moment."""
    until = time.monotonic() + (PATIENCE if on_windows() else 0)
    while True:
        try:
            old.rename(new)
        except PermissionError:
            if time.monotonic() >= until:
                raise
            time.sleep(0.05)
        else:
            return


def flush_folder(folder: Path) -> None:
    """Have the names in a folder survive a loss of power, where the system can do so."""
    if on_windows():
        return
    file = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(file)
    except OSError as error:
        if error.errno not in UNSUPPORTED:
            raise
    finally:
        os.close(file)


def is_closed_pipe(error: OSError) -> bool:
    """Whether nobody reads any more what is printed."""
    return error.errno == errno.EPIPE or (on_windows() and error.errno == errno.EINVAL)


@contextmanager
def tidy_end() -> Iterator[None]:
    """Let a signal that asks to end leave the block as an exception does, so that what tidies up runs.

    It may come up anywhere: what turns it into another error on the way (Python does, where a class is being
    made) hides it no more than a destructor does, from which no exception leaves.
    """
    asked: list[tuple[int, BaseException]] = []

    def leave(number: int, _frame: FrameType | None) -> None:
        asked.append((number, KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)))
        raise asked[-1][1]

    ending = [number for number in _numbers(ENDING) if signal.getsignal(number) != signal.SIG_IGN]
    ctrl_c = [signal.SIGINT] if signal.getsignal(signal.SIGINT) is signal.default_int_handler else []
    with _handling([*ending, *ctrl_c], leave), _asked_again(asked):
        try:
            yield
        except BaseException as error:
            if asked and error is not asked[-1][1]:
                raise asked[-1][1] from None
            raise


@contextmanager
def _asked_again(asked: Sequence[tuple[int, BaseException]]) -> Iterator[None]:
    """Raise a signal anew whose exception Python could only tell of, for no caller was there to take it."""
    before = sys.unraisablehook
    timers: list[threading.Timer] = []

    def told(unraisable: Any) -> None:
        if not asked or unraisable.exc_value is not asked[-1][1]:
            before(unraisable)
            return
        timers.append(threading.Timer(AGAIN, _wake_and_raise, [asked[-1][0]]))
        timers[-1].daemon = True
        timers[-1].start()

    sys.unraisablehook = told
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in timers:
            timer.cancel()


def _wake_and_raise(number: int) -> None:
    """Raise a signal in the main thread, also while it sleeps or waits; another thread's own wakes nobody."""
    main = threading.main_thread().ident
    if main is not None and hasattr(signal, "pthread_kill"):
        signal.pthread_kill(main, number)
    else:  # Windows
        signal.raise_signal(number)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let signals that ask to end, Ctrl-C among them, wait until the block is done."""
    waiting: list[int] = []
    numbers = _numbers((*ENDING, "SIGINT"))
    with _handling(numbers, lambda number, _frame: waiting.append(number)):
        yield
    for number in waiting[:1]:
        signal.raise_signal(number)


@contextmanager
def _handling(
    numbers: list[signal.Signals], handler: Callable[[int, FrameType | None], None]
) -> Iterator[None]:
    """Handlers in the block, and those that were there before after it."""
    if threading.current_thread() is not threading.main_thread():  # only there may handlers be set
        yield
        return
    before = {n: signal.signal(n, handler) for n in numbers if signal.getsignal(n) is not None}
    try:
        yield
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def _numbers(names: tuple[str, ...]) -> list[signal.Signals]:
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


@dataclass(frozen=True)
class Tied(Generic[T]):
    """A function for worker processes, which end soon after the process that made this, however it ended."""

    function: Callable[..., T]
    parent: int

    def __call__(self, *args: Any) -> T:
        """Watch the parent, then do the work."""
        _watch(self.parent)
        return self.function(*args)


def tied(function: Callable[..., T]) -> Tied[T]:
    """Tie workers that run the function to this process."""
    return Tied(function, os.getpid())


_watched: set[int] = set()


def _watch(parent: int) -> None:
    """Look after the parent from the first call on, in its own children only."""
    if os.getppid() == parent:
        if parent not in _watched:
            _watched.add(parent)
            threading.Thread(target=_end_after, args=(parent,), daemon=True).start()
    elif os.getpid() != parent and _is_joblibs():  # the parent ended before the first call
        os._exit(1)


def _is_joblibs() -> bool:
    """Whether joblib made this process; one of a cluster has work of others to do."""
    return "loky" in type(multiprocessing.current_process()).__module__


def _end_after(parent: int) -> None:
    """Wait for the end of the parent, then end this process without ado: nobody waits for its results."""
    while is_alive(parent):
        time.sleep(LOOK)
    os._exit(1)


def is_alive(parent: int) -> bool:
    """Whether the parent of this process still runs."""
    if not on_windows():
        return os.getppid() == parent  # an orphan has another
    system: Any = ctypes.windll.kernel32  # type: ignore[attr-defined]
    handle = system.OpenProcess(0x00100000, False, parent)  # SYNCHRONIZE
    if not handle:
        return False
    timeout = 0x102
    alive: bool = system.WaitForSingleObject(handle, 0) == timeout
    system.CloseHandle(handle)
    return alive


def available_memory() -> int | None:
    """Bytes that can be had without swapping, or None where the system does not tell."""
    known = [bytes_ for bytes_ in (_of_system(), *_of_containers()) if bytes_ is not None]
    return min(known, default=None)


def _of_system() -> int | None:
    """What is free; on systems that tell less, what is built in."""
    if on_windows():
        return _of_windows()
    found = _of_mac() if sys.platform == "darwin" else _of_linux()
    return _built_in() if found is None else found


def _of_linux() -> int | None:
    if not _MEMINFO.is_file():
        return None
    found = re.search(r"^MemAvailable:\s*(\d+)", _MEMINFO.read_text(), flags=re.MULTILINE)
    return int(found[1]) * 1024 if found else None


def _of_mac() -> int | None:
    """Free pages, and those that the system gives up when asked."""
    try:
        text = subprocess.check_output(["/usr/bin/vm_stat"], text=True, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return None
    size = re.search(r"page size of (\d+)", text)
    pages = re.findall(r"^Pages (?:free|inactive|speculative):\s+(\d+)", text, flags=re.MULTILINE)
    return int(size[1]) * sum(map(int, pages)) if size and pages else None


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of Windows."""

    _fields_ = [
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("available", ctypes.c_uint64),
        *((f"rest_{number}", ctypes.c_uint64) for number in range(5)),
    ]


def _of_windows() -> int | None:
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    system: Any = ctypes.windll.kernel32  # type: ignore[attr-defined]
    return int(status.available) if system.GlobalMemoryStatusEx(ctypes.byref(status)) else None


def _built_in() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):  # not on every system
        return None


def _of_containers() -> Iterator[int]:
    """What is left of the limits of a container, if there are any."""
    for limit, used in _CONTAINERS:
        with suppress(OSError, ValueError):  # no container, or "max"
            yield int((_CGROUP / limit).read_text()) - int((_CGROUP / used).read_text())
