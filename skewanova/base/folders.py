"""Output folders, written to a hidden folder and renamed when complete; closed pipes and free memory.

An earlier output is replaced. An input, or a folder with anything else in it, never is.
"""

from __future__ import annotations

import csv
import errno
import hashlib
import json
import os
import platform
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skewanova.base.checks import InputError, InputTypeError, check_choice, check_text

if TYPE_CHECKING:
    import pandas as pd

#: Largest number of names in a message.
MAX_EXAMPLES = 3


PROVENANCE = "provenance.json"


#: Files that file managers leave in folders.
DESKTOP_FILES = frozenset({".DS_Store", "Thumbs.db", "desktop.ini"})


#: File formats of figures.
FIGURE_FORMATS = ("svg", "png", "pdf")


VERSIONS = ("skewanova", "numpy", "scipy", "pandas", "statsmodels", "matplotlib", "seaborn")


Provenance = Mapping[str, Any]


class OutputError(OSError):
    """Output that cannot be written; the message names it and the system's error."""


def make_provenance(
    kind: str,
    settings: Mapping[str, Any],
    *,
    seed: object = None,
    source: Path | None = None,
    sha256: str | None = None,
) -> dict[str, Any]:
    """Return tool, version, kind, created, input {name, sha256} (maybe None), seed, settings and versions."""
    versions = _read_versions()
    now = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return {
        "tool": "skewanova",
        "version": versions["skewanova"],
        "kind": kind,
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
        "input": {"name": source.name if source else None, "sha256": sha256},
        "seed": seed,
        "settings": dict(settings),
        "versions": dict(versions),
    }


@cache
def _read_versions() -> Mapping[str, str]:
    """Return the versions of python and of all packages in `VERSIONS`, read once, while files can be."""
    return {"python": platform.python_version(), **{name: version(name) for name in VERSIONS}}


def check_formats(figures: str | Sequence[str] | None) -> tuple[str, ...]:
    """Return distinct figure formats from names or text as `svg,png`, () from None or `none`, or raise."""
    if figures is None:
        return ()
    listed: Any = figures.split(",") if isinstance(figures, str) else figures
    names = [str(name).strip() for name in (listed if np.iterable(listed) else [listed])]
    chosen = dict.fromkeys(check_choice(name, (*FIGURE_FORMATS, "none"), "figures") for name in names)
    return tuple(name for name in chosen if name != "none")


def read_manifest(folder: Path) -> dict[str, str]:
    """Return {relative name: SHA-256} of files that skewanova's provenance in a folder lists, or {}."""
    try:
        provenance = json.loads((folder / PROVENANCE).read_bytes())
        files = provenance["files"] if provenance["tool"] == "skewanova" else {}
        return {str(name): str(digest) for name, digest in files.items()}
    except (OSError, ValueError, RecursionError, LookupError, TypeError, AttributeError):
        return {}


def format_csv(frame: pd.DataFrame, *, float_format: str | None = None) -> str:
    """Return comma-separated text without the index; text cells are quoted if any has a carriage return."""
    options: dict[str, Any] = {"index": False, "lineterminator": "\n", "float_format": float_format}
    text: str = frame.to_csv(**options)
    return frame.to_csv(**options, quoting=csv.QUOTE_NONNUMERIC) if "\r" in text else text


class Output:
    """Folder that is being written, with the SHA-256 of each file."""

    def __init__(self, path: Path, prefix: str = "", digests: dict[str, str] | None = None) -> None:
        """Store the folder `path`, the subfolder `prefix` in it, and the SHA-256 of files by name."""
        self.path = path
        self._prefix = prefix
        self._digests = {} if digests is None else digests

    def write(self, name: str, content: str | bytes) -> None:
        """Write a new file and its folders through to disk, text as UTF-8, and store its SHA-256."""
        try:
            data = content.encode("utf-8") if isinstance(content, str) else content
        except UnicodeEncodeError as error:
            check_text([error.object[error.start : error.end]], "names")
            raise
        path = self.path / self._prefix / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._digests[self._prefix + name] = hashlib.sha256(data).hexdigest()

    def write_csv(self, name: str, frame: pd.DataFrame, *, float_format: str | None = None) -> None:
        """Write a frame as a new file of comma-separated values, and store its SHA-256."""
        self.write(name, format_csv(frame, float_format=float_format))

    def make_subfolder(self, name: str) -> Output:
        """Return the output of a subfolder, which its first file creates; both share the SHA-256 of files."""
        return Output(self.path, f"{self._prefix}{name}/", self._digests)

    def write_manifest(self, provenance: Provenance) -> None:
        """Write `provenance.json`: the provenance and {name: SHA-256} `files` of this (sub)folder."""
        listed = sorted(item for item in self._digests.items() if item[0].startswith(self._prefix))
        files = {name.removeprefix(self._prefix): digest for name, digest in listed}
        text = json.dumps({**provenance, "files": files}, indent=2, default=_to_json)
        self.write(PROVENANCE, text + "\n")


def _to_json(value: object) -> object:
    """Return a numpy number or array as Python numbers or lists, anything else as text."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


def check_path(directory: object) -> Path:
    """Return the path of an output folder; raise InputTypeError unless it is one."""
    if not isinstance(directory, str | os.PathLike):
        raise InputTypeError(f"`directory` must be a path, but got {directory!r}")
    return Path(directory)


def check_folder(directory: str | os.PathLike[str], *, inputs: Sequence[Path | None] = ()) -> Path:
    """Return a folder's real path; raise if a file, the current one, or with an input or foreign files."""
    target = Path(os.path.realpath(check_path(directory)))
    with _as_output_error(target):
        _check_place(target)
        _check_content(target, target.name)
        for path in inputs:
            if path is not None and Path(os.path.realpath(path)).is_relative_to(target):
                raise InputError(
                    f"`directory` must not be the input or hold it, but is or holds {path.name!r}; choose "
                    "another folder"
                )
    return target


def _check_place(target: Path) -> None:
    """Raise if its nearest existing parent is a file, or it is mounted, or is or holds the current folder."""
    existing = next(path for path in (*target.parents, target) if os.path.lexists(path))
    if not existing.is_dir():
        raise InputError(f"`directory` cannot be written ({existing.name!r} is a file); choose another place")
    if os.path.ismount(target) or Path.cwd().is_relative_to(target):
        raise InputError(
            "`directory` must not be the current folder, one above it or a mounted one, for it is replaced "
            "as a whole; name a new folder in it"
        )


def _check_content(folder: Path, name: str) -> None:
    """Raise unless the folder is absent, empty, or an earlier output without other files."""
    if not os.path.lexists(folder):
        return
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise InputError(f"`directory` must be a folder, but {name!r} is a file; choose another name")
    unknown = _unknown_files(folder)
    if unknown:
        examples = ", ".join(map(repr, unknown[:MAX_EXAMPLES])) + (", ..." * (len(unknown) > MAX_EXAMPLES))
        raise InputError(
            f"`directory` must be new, empty or an earlier output of skewanova, but {name!r} holds "
            f"{examples}; move that away or choose another folder"
        )


def _unknown_files(folder: Path) -> list[str]:
    """Return sorted relative names of links, empty folders, and files changed or not in the manifest."""
    manifest = read_manifest(folder)
    walked = os.walk(folder, onerror=raise_error)
    paths = [Path(parent, name) for parent, folders, names in walked for name in (*folders, *names)]
    parents = {path.parent for path in paths}
    by_name = {path.relative_to(folder).as_posix(): path for path in paths if path not in parents}
    return sorted(name for name, path in by_name.items() if not _is_listed(path, name, manifest))


def _is_listed(path: Path, name: str, manifest: Mapping[str, str]) -> bool:
    """Return True for the manifest, desktop files and files (no links) as in it; all False if it is empty."""
    if path.is_symlink() or not path.is_file() or not manifest:
        return False
    if name == PROVENANCE or path.name in DESKTOP_FILES:
        return True
    return hashlib.sha256(path.read_bytes()).hexdigest() == manifest.get(name)


def raise_error(error: OSError) -> None:
    """Raise an error that `os.walk` would otherwise ignore."""
    raise error


@contextmanager
def replace_folder(
    directory: str | os.PathLike[str], provenance: Provenance, *, inputs: Sequence[Path | None] = ()
) -> Iterator[Output]:
    """Yield an Output that replaces `directory` (earlier or new), manifest added, unless the block fails."""
    target = check_folder(directory, inputs=inputs)
    with _as_output_error(target), _make_parents(target):
        scratch = Path(tempfile.mkdtemp(prefix=".skewanova-", dir=target.parent))
        output = Output(scratch / "new")
        try:
            output.path.mkdir()
            yield output
            output.write_manifest(provenance)
            _replace(target, output.path, scratch / "old")
        except BaseException:
            shutil.rmtree(output.path, ignore_errors=True)
            with suppress(OSError):  # an earlier output that could not be restored is kept
                scratch.rmdir()
            raise
        shutil.rmtree(scratch, ignore_errors=True)


def _replace(target: Path, new: Path, old: Path) -> None:
    """Rename `target`, if any, to `old` and `new` to `target`; after an error, put `old` back or beside."""
    _check_place(target)
    _check_content(target, target.name)
    try:
        with suppress(FileNotFoundError):
            target.rename(old)
        _check_content(old, target.name)
        new.rename(target)
    except BaseException:
        if os.path.lexists(old):
            taken = os.path.lexists(target)
            old.rename(target.with_name(f"{target.name}-kept-{new.parent.name[-8:]}") if taken else target)
        raise


@contextmanager
def _as_output_error(target: Path) -> Iterator[None]:
    """Raise system errors of the block, but a closed pipe, as OutputError without temporary paths."""
    try:
        yield
    except OSError as error:
        if isinstance(error, OutputError) or is_closed_pipe(error):  # the reader of standard output left
            raise
        message = f"{target.name!r} cannot be written ({error.strerror or error})"
        output_error = OutputError(f"{message}; choose another place, or make room")
        output_error.errno = error.errno
        raise output_error from error


@contextmanager
def _make_parents(target: Path) -> Iterator[None]:
    """Make missing parent folders; after an error in the block, remove those that are still empty."""
    missing = [path for path in target.parents if not os.path.lexists(path)]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for path in missing:
            with suppress(OSError):
                path.rmdir()
        raise


_MEMINFO = Path("/proc/meminfo")


_CGROUP = Path("/sys/fs/cgroup")


#: Files with the memory limit and use of a container, cgroup v2 and v1.
_CONTAINERS = (
    ("memory.max", "memory.current"),
    ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"),
)


def is_closed_pipe(error: OSError) -> bool:
    """Return True if the error says that the reader of a pipe has closed it."""
    return error.errno == errno.EPIPE or (sys.platform == "win32" and error.errno == errno.EINVAL)


def find_free_memory() -> int | None:
    """Return the least of physical, available and the container's free memory in bytes; None if unknown."""
    sizes = []
    with suppress(AttributeError, OSError, ValueError):  # no such function on Windows
        sizes.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError):
        lines = re.findall(r"^MemAvailable:\s*(\d+)", _MEMINFO.read_text(), flags=re.MULTILINE)
        sizes += [1024 * int(kilobytes) for kilobytes in lines]
    for limit, used in _CONTAINERS:
        with suppress(OSError, ValueError):  # no container, or "max"
            sizes.append(int((_CGROUP / limit).read_text()) - int((_CGROUP / used).read_text()))
    return min(sizes, default=None)
