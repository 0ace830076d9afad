"""Folders written whole or not at all; only an earlier output of ours is replaced.

An earlier output is replaced; an input, a foreign file and a file of ours that was edited since never are.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import platform
import secrets
import shutil
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from skewanova.base.checks import InputError, emit
from skewanova.base.operating_system import LITTER, flush_folder, is_closed_pipe, locked, rename, undisturbed

if TYPE_CHECKING:
    import pandas as pd

#: How many names a message shows.
SHOWN = 3


PROVENANCE = "provenance.json"


#: Files of each figure that an output may hold.
FIGURE_FORMATS = ("svg", "png", "pdf")


VERSIONS = ("skewanova", "numpy", "scipy", "pandas", "statsmodels", "matplotlib", "seaborn")


Provenance = Mapping[str, Any]


class OutputError(OSError):
    """The output cannot be written; the message names it and says what the system answered."""


def provenance_of(
    kind: str,
    settings: Mapping[str, Any],
    *,
    seed: object = None,
    source: Path | None = None,
    sha256: str | None = None,
) -> dict[str, Any]:
    """What made an output: read back to tell an earlier output from anything else."""
    now = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return {
        "tool": "skewanova",
        "version": _versions()["skewanova"],
        "kind": kind,
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now)),
        "input": {"name": source.name if source else None, "sha256": sha256},
        "seed": seed,
        "settings": dict(settings),
        "versions": dict(_versions()),
    }


@cache
def _versions() -> Mapping[str, str]:
    return {"python": platform.python_version(), **{name: version(name) for name in VERSIONS}}


def check_formats(figures: str | Sequence[str]) -> tuple[str, ...]:
    """The formats of figures asked for, by name or as `svg,png`; none where there shall be no figures."""
    names = figures.split(",") if isinstance(figures, str) else figures
    wanted = [name.strip() for name in names]
    if wanted == ["none"]:
        return ()
    for name in wanted:
        if name not in FIGURE_FORMATS:
            raise InputError(
                f"`figures` must be some of {', '.join(FIGURE_FORMATS)}, or none, but got {name!r}"
            )
    return tuple(dict.fromkeys(wanted))


def is_output(folder: Path) -> bool:
    """Whether the folder's provenance says that this package wrote it."""
    return _provenance_in(folder) is not None


def own_files(folder: Path) -> dict[str, str]:
    """SHA-256 of every file that the provenance of a folder counts as its own, by relative name."""
    found = _provenance_in(folder)
    files = found.get("files") if found else None
    return {str(name): str(digest) for name, digest in files.items()} if isinstance(files, dict) else {}


def _provenance_in(folder: Path) -> dict[str, Any] | None:
    try:
        found = json.loads((folder / PROVENANCE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and found.get("tool") == "skewanova" else None


#: Rows that are turned to text at once.
ROWS_AT_ONCE = 50_000


def csv_text(frame: pd.DataFrame, *, float_format: str | None = None) -> str:
    """Comma-separated values, floats in full; a bare carriage return in a name would end its row."""
    if float_format is None:
        text = _full_text(frame)
    else:
        text = frame.to_csv(index=False, lineterminator="\n", float_format=float_format)
    if "\r" in text:
        text = frame.to_csv(
            index=False, lineterminator="\n", float_format=float_format, quoting=csv.QUOTE_NONNUMERIC
        )
    return text


def _full_text(frame: pd.DataFrame) -> str:
    """The same text as `to_csv`, in half the time, which is most of saving a large comparison."""
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(frame.columns)
    for start in range(0, len(frame), ROWS_AT_ONCE):
        rows = frame.iloc[start : start + ROWS_AT_ONCE]
        writer.writerows(zip(*(_cells(rows[name]) for name in rows), strict=True))
    return buffer.getvalue()


def _cells(column: pd.Series[Any]) -> list[Any]:
    """Values of a column for a writer of rows; numbers that repeat are turned to text once."""
    if column.dtype != np.float64:
        values: list[Any] = column.tolist()
        missing = column.isna().to_numpy()
        return ["" if gap else value for value, gap in zip(values, missing, strict=True)]
    bits, codes = np.unique(column.to_numpy().view(np.int64), return_inverse=True)  # tells -0.0 from 0.0
    texts = ["" if isnan(value) else repr(value) for value in bits.view(np.float64).tolist()]
    return [texts[code] for code in codes.tolist()]


class Output:
    """A folder that is being written: takes files, and keeps the fingerprint of each."""

    def __init__(self, path: Path, prefix: str = "", digests: dict[str, str] | None = None) -> None:
        self.path = path
        self._prefix = prefix
        self._digests = {} if digests is None else digests

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file and flush it; text has the same bytes on every system."""
        data = _encoded(content) if isinstance(content, str) else content
        path = self.path / self._prefix / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        self._digests[self._prefix + name] = hashlib.sha256(data).hexdigest()

    def write_csv(self, name: str, frame: pd.DataFrame, *, float_format: str | None = None) -> None:
        """Write a frame as comma-separated values."""
        self.write(name, csv_text(frame, float_format=float_format))

    def below(self, name: str) -> Output:
        """Return a part of this output in a folder of its own."""
        return Output(self.path, f"{self._prefix}{name}/", self._digests)

    def sign(self, provenance: Provenance) -> None:
        """Write the provenance, last of all, with the names and fingerprints of all files here."""
        files = {
            name.removeprefix(self._prefix): digest
            for name, digest in sorted(self._digests.items())
            if name.startswith(self._prefix)
        }
        text = json.dumps({**provenance, "files": files}, indent=2, default=_plain)
        self.write(PROVENANCE, text + "\n")


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise InputError(
            f"names must be text that can be written as UTF-8, but one holds {bad!a}; rename it"
        ) from error


def _plain(value: object) -> object:
    """A numpy number or array as JSON has it, anything else in words."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


def check_folder(directory: str | os.PathLike[str], *, inputs: Sequence[Path | None] = ()) -> Path:
    """The real path of a folder that an output may take, as far as can be told before it is written."""
    target = Path(os.path.realpath(directory))
    with _told(target):
        _check_place(target)
        _check_content(target, target.name)
        _check_inputs(target, inputs)
    return target


def _check_place(target: Path) -> None:
    """A folder, or nothing yet, that may be renamed."""
    standing = next(path for path in (*target.parents, target) if _is_there(path))  # the root has no parent
    if not standing.is_dir():
        raise InputError(f"`directory` cannot be written ({standing.name!r} is a file); choose another place")
    if os.path.ismount(target) or Path.cwd().is_relative_to(target):
        raise InputError(
            "`directory` must not be the current folder, one above it or a mounted one, for it is replaced "
            "as a whole; name a new folder in it"
        )


def _is_there(path: Path) -> bool:
    """Whether something has that name; unlike `Path.exists` it tells of a folder that may not be entered."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def _check_inputs(target: Path, inputs: Sequence[Path | None]) -> None:
    """No input is replaced, nor a folder that holds one."""
    for path in inputs:
        if path is not None and Path(os.path.realpath(path)).is_relative_to(target):
            raise InputError(
                f"`directory` must not be the input or hold it, but {target.name!r} does ({path.name!r}); "
                "choose another folder"
            )


def _check_content(folder: Path, name: str) -> None:
    """Nothing yet, an empty folder or an earlier output as it was written."""
    if not _is_there(folder):
        return
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise InputError(f"`directory` must be a folder, but {name!r} is a file; choose another name")
    foreign = _foreign(folder)
    if foreign:
        shown = ", ".join(map(repr, foreign[:SHOWN])) + (", ..." if len(foreign) > SHOWN else "")
        raise InputError(
            f"`directory` must be new, empty or an earlier output of skewanova, but {name!r} holds {shown}; "
            "move that away or choose another folder"
        )


def _foreign(folder: Path) -> list[str]:
    """Relative names of all in the folder that this package did not write, or that was changed since."""
    own = own_files(folder)
    known = {PROVENANCE} if own else set()
    return sorted(name for name in _held(folder) if name not in known and not _is_own(folder, name, own))


def _is_own(folder: Path, name: str, own: Mapping[str, str]) -> bool:
    """Whether the provenance counts the file as its own, and nobody has edited it."""
    path = folder / name
    if path.is_symlink() or not path.is_file():
        return False
    if own and path.name in LITTER:
        return True
    return name in own and hashlib.sha256(path.read_bytes()).hexdigest() == own[name]


def _held(folder: Path) -> Iterator[str]:
    """Relative names of all files below; a folder counts where it is empty, a link never is followed."""
    for place, folders, names in os.walk(folder, onerror=_raise):
        linked = [name for name in folders if Path(place, name).is_symlink()]
        for name in [*names, *linked]:
            yield Path(place, name).relative_to(folder).as_posix()
        if not folders and not names and Path(place) != folder:
            yield Path(place).relative_to(folder).as_posix()


def _raise(error: OSError) -> None:
    raise error


@contextmanager
def whole_folder(
    directory: str | os.PathLike[str], provenance: Provenance, *, inputs: Sequence[Path | None] = ()
) -> Iterator[Output]:
    r"""Yield an output that takes the place of `directory` once the block ends without an error.

    Parameters
    ----------
    directory : path
        The folder to write; parents that are missing are made in place.
    provenance : mapping
        As :func:`provenance_of` returns it; written last.
    inputs : sequence of path, optional
        Files and folders that were read: neither they nor a folder around them is replaced.

    Yields
    ------
    Output
        Takes the files, in a hidden folder beside the target, on the same file system.

    Raises
    ------
    ValueError
        If an input or anything that is not an earlier output stands there, or another run is writing there.
    OSError
        If the place cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewanova.base.folders import is_output, provenance_of, whole_folder
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with whole_folder(Path(place) / "new" / "out", provenance_of("example", {})) as output:
    ...         output.write("numbers.csv", "a,b\n1,2\n")
    ...     is_output(Path(place) / "new" / "out")
    True
    """
    target = check_folder(directory, inputs=inputs)
    with _told(target), _with_parents(target), _alone(target):
        _tidy_up(target)
        scratch = _hidden(target, ".new")
        try:
            with undisturbed():
                scratch.mkdir()
            output = Output(scratch)
            yield output
            output.sign(provenance)
            _flush(scratch)
            with undisturbed():
                _swap(scratch, target)
        finally:
            with undisturbed():
                shutil.rmtree(scratch, ignore_errors=True)  # of this run alone: nobody else writes there


@contextmanager
def _told(target: Path) -> Iterator[None]:
    """Tell what the system answered, without the hidden names of this module."""
    try:
        yield
    except OSError as error:
        if isinstance(error, OutputError) or is_closed_pipe(error):  # what is shown meanwhile has no reader
            raise
        told = OutputError(
            f"{target.name!r} cannot be written ({error.strerror or error}); "
            "choose another place, or make room"
        )
        told.errno = error.errno
        raise told from error


@contextmanager
def _with_parents(target: Path) -> Iterator[None]:
    """Make the parents that are missing; those that are still empty after an error go again."""
    missing = [path for path in target.parents if not _is_there(path)]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for path in missing:
            with suppress(OSError):  # somebody uses it by now
                path.rmdir()
        raise


@contextmanager
def _alone(target: Path) -> Iterator[None]:
    """Hold the lock of the target; the second of two runs is refused."""
    with locked(_lock_of(target)) as held:
        if not held:
            raise InputError(
                f"another run of skewanova is writing to {target.name!r}; "
                "wait for it or choose another folder"
            )
        yield


def _mark(target: Path) -> str:
    """Beginning of all hidden names that belong to a target; no longer than any name may be."""
    return f".skewanova-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:12]}"


def _lock_of(target: Path) -> Path:
    return target.with_name(f"{_mark(target)}.lock")


def _hidden(target: Path, suffix: str) -> Path:
    return target.with_name(f"{_mark(target)}-{secrets.token_hex(8)}{suffix}")


def _tidy_up(target: Path) -> None:
    """Take away what a run that was killed left here; who holds the lock knows that it is dead.

    What such a run had moved aside comes back where nothing stands, and else goes as far as it is ours.
    """
    for path in target.parent.glob(f"{_mark(target)}-*"):
        if path.suffix == ".new":
            shutil.rmtree(path, ignore_errors=True)
        elif path.suffix == ".old" and not _is_there(target):
            rename(path, target)
            _check_content(target, target.name)
        elif path.suffix == ".old":
            _take_away(path, target)


def _flush(scratch: Path) -> None:
    for place, _, _ in os.walk(scratch, topdown=False):
        flush_folder(Path(place))


def _swap(scratch: Path, target: Path) -> None:
    """Rename the new folder into place; what stood there is checked where nobody can reach it by its name."""
    _check_place(target)
    _check_content(target, target.name)  # nothing foreign is moved unless it comes in this very moment
    old = _moved_aside(target)
    try:
        if old is not None:
            _check_content(old, target.name)
        rename(scratch, target)
    except BaseException:
        if old is not None:
            _put_back(old, target)
        raise
    flush_folder(target.parent)
    if old is not None:
        _take_away(old, target)


def _moved_aside(target: Path) -> Path | None:
    old = _hidden(target, ".old")
    try:
        rename(target, old)
    except FileNotFoundError:
        return None
    return old


def _put_back(old: Path, target: Path) -> None:
    """Give the folder its name again, or one that shows where that is taken by now."""
    try:
        rename(old, target)
    except OSError:
        _keep(old, target)


def _take_away(old: Path, target: Path) -> None:
    """Remove file by file what an output says it holds; what is left then gets a name that shows."""
    own = own_files(old)
    with suppress(OSError):
        for name in sorted(_held(old)):
            if _is_own(old, name, own):
                (old / name).unlink()
        if own:
            (old / PROVENANCE).unlink(missing_ok=True)
        for place, _, _ in os.walk(old, topdown=False):
            Path(place).rmdir()
    if _is_there(old):
        _keep(old, target)


def _keep(old: Path, target: Path) -> None:
    kept = target.with_name(f"{target.name}-kept-{secrets.token_hex(4)}")
    rename(old, kept)
    emit([f"{target.name!r} held something else by the time it was replaced; that is now in {kept.name!r}"])
