import os
import signal
import threading

import pytest

from skewanova import _memory
from skewanova._signals import tidy_end


@pytest.fixture
def system(tmp_path, monkeypatch):
    monkeypatch.setattr(_memory, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(_memory, "_CGROUP", tmp_path)
    (tmp_path / "meminfo").write_text("MemTotal: 4000 kB\nMemFree: 10 kB\nMemAvailable: 2000 kB\n\n")
    return tmp_path


def test_what_the_system_tells(system):
    assert _memory.available_memory() == 2000 * 1024


def test_the_limit_of_a_container(system):
    (system / "memory.current").write_text("400\n")
    (system / "memory.max").write_text("max\n")
    assert _memory.available_memory() == 2000 * 1024
    (system / "memory.max").write_text("1000\n")
    assert _memory.available_memory() == 600


def test_systems_that_tell_less(system, monkeypatch):
    (system / "meminfo").unlink()
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 10}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__, raising=False)
    assert _memory.available_memory() == 40960
    monkeypatch.delattr(os, "sysconf")
    assert _memory.available_memory() is None


def test_an_asked_for_end_leaves_as_an_exception_does():
    before = signal.getsignal(signal.SIGTERM)
    with tidy_end(), pytest.raises(SystemExit, match=r"^143$"):
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before


def test_other_threads_leave_signals_alone():
    seen = []

    def work():
        with tidy_end():
            seen.append(signal.getsignal(signal.SIGTERM))

    before = signal.getsignal(signal.SIGTERM)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]
