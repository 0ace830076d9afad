"""What differs between operating systems: closed pipes, and the memory that is free."""

from __future__ import annotations

import errno
import os
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

_MEMINFO = Path("/proc/meminfo")


#: Limit and use of a container: cgroup v2, v1.
_CGROUP = Path("/sys/fs/cgroup")


_CONTAINERS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def is_closed_pipe(error: OSError) -> bool:
    """Return True if the reader of a pipe has left."""
    return error.errno == errno.EPIPE or (sys.platform == "win32" and error.errno == errno.EINVAL)


def available_memory() -> int | None:
    """Return the bytes that are free without swapping, or None if the system does not say."""
    return min((*_of_system(), *_of_containers()), default=None)


def _of_system() -> Iterator[int]:
    """Yield the free memory (Linux), else all memory (other systems but Windows)."""
    if _MEMINFO.is_file():
        free = re.search(r"^MemAvailable:\s*(\d+)", _MEMINFO.read_text(), flags=re.MULTILINE)
        if free:
            yield int(free[1]) * 1024
            return
    with suppress(AttributeError, OSError, ValueError):
        yield os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _of_containers() -> Iterator[int]:
    """Yield what is left of the limit of a container, if there is one."""
    for limit, used in _CONTAINERS:
        with suppress(OSError, ValueError):  # no container, or "max"
            yield int((_CGROUP / limit).read_text()) - int((_CGROUP / used).read_text())
