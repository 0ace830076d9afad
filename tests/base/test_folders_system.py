"""What differs between systems, each branch on any system: closed pipes and free memory."""

import errno
import os
import sys

import pytest

from skewanova.base import folders as base_system
from skewanova.base.folders import find_free_memory


def test_a_closed_pipe_has_another_number_on_windows(monkeypatch):
    closed = OSError(errno.EINVAL, "Invalid argument")
    assert base_system.is_closed_pipe(BrokenPipeError(errno.EPIPE, "Broken pipe"))
    assert not base_system.is_closed_pipe(closed)
    monkeypatch.setattr(sys, "platform", "win32")
    assert base_system.is_closed_pipe(closed)


@pytest.fixture
def system(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(base_system, "_MEMINFO", tmp_path / "meminfo")
    monkeypatch.setattr(base_system, "_CGROUP", tmp_path)
    (tmp_path / "meminfo").write_text("MemTotal: 4000 kB\nMemFree: 10 kB\nMemAvailable: 2000 kB\n\n")
    return tmp_path


def test_what_the_system_tells(system):
    assert find_free_memory() == 2000 * 1024


def test_the_limit_of_a_container(system):
    (system / "memory.current").write_text("400\n")
    (system / "memory.max").write_text("max\n")
    assert find_free_memory() == 2000 * 1024
    (system / "memory.max").write_text("1000\n")
    assert find_free_memory() == 600
    (system / "memory").mkdir()  # cgroup v1
    (system / "memory" / "memory.limit_in_bytes").write_text("700\n")
    (system / "memory" / "memory.usage_in_bytes").write_text("200\n")
    assert find_free_memory() == 500


def test_systems_that_tell_less(system, monkeypatch):
    (system / "meminfo").unlink()
    sizes = {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 10}
    monkeypatch.setattr(os, "sysconf", sizes.__getitem__, raising=False)
    assert find_free_memory() == 40960
    monkeypatch.delattr(os, "sysconf")
    assert find_free_memory() is None
