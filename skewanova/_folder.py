"""A folder written whole or not at all; an earlier one of ours is replaced, anything else is left alone."""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from skewanova._checks import InputError

#: How many names a message shows.
SHOWN = 3


def is_output(folder: Path) -> bool:
    """Whether the folder's provenance.json says that this package wrote it."""
    try:
        found = json.loads((folder / "provenance.json").read_bytes())
    except (OSError, ValueError):
        return False
    return isinstance(found, dict) and found.get("tool") == "skewanova"


@contextmanager
def whole_folder(
    directory: str | os.PathLike[str], *, files: Collection[str], is_ours: Callable[[Path], bool]
) -> Iterator[Path]:
    """Yield an empty folder that takes the place of `directory` once the block ends without an error.

    Parameters
    ----------
    directory : path
        The folder to write; parents that are missing are made.
    files : collection of str
        Relative names of all that an earlier output may hold.
    is_ours : callable
        Whether a folder holds an earlier output.

    Yields
    ------
    Path
        A hidden folder beside the target, on the same file system.

    Raises
    ------
    ValueError
        If a file or a folder that holds anything else stands there, or the place cannot be written.
    """
    target = Path(os.path.realpath(directory))
    _check_place(target)
    _check_content(target, files, is_ours)
    top = _first_missing(target)
    scratch = _beside(top)
    try:
        content = scratch / target.relative_to(top)
        _make(content)
        yield content
        _check_content(target, files, is_ours)  # a file may have come in the meantime
        _swap(scratch, top)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _check_place(target: Path) -> None:
    """A folder, or nothing yet, that may be renamed."""
    if target.exists() and not target.is_dir():
        raise InputError(f"`directory` must be a folder, but {target.name!r} is a file; choose another name")
    if os.path.ismount(target) or Path.cwd().is_relative_to(target):
        raise InputError(
            "`directory` must not be the current folder, one above it or a mounted one, for it is replaced "
            "as a whole; name a new folder in it"
        )


def _check_content(target: Path, files: Collection[str], is_ours: Callable[[Path], bool]) -> None:
    """Nothing yet, an empty folder or an earlier output without a file that is not ours."""
    if not target.is_dir():
        return
    held = sorted(_held(target))
    known = {*files, *(Path(name).parent.as_posix() for name in files)} if is_ours(target) else set()
    foreign = [name for name in held if name not in known]
    if foreign:
        shown = ", ".join(map(repr, foreign[:SHOWN])) + (", ..." if len(foreign) > SHOWN else "")
        raise InputError(
            f"`directory` must be new, empty or an earlier output of skewanova, but {target.name!r} holds "
            f"{shown}; move that away or choose another folder"
        )


def _held(target: Path) -> Iterator[str]:
    """Relative names of all files below; a folder counts where it is empty, a link never is followed."""
    for folder, folders, names in os.walk(target):
        linked = [name for name in folders if Path(folder, name).is_symlink()]
        for name in [*names, *linked]:
            yield Path(folder, name).relative_to(target).as_posix()
        if not folders and not names and Path(folder) != target:
            yield Path(folder).relative_to(target).as_posix()


def _first_missing(target: Path) -> Path:
    """The target, or the uppermost of its parents that is missing: what one rename brings into place."""
    missing = [path for path in (target, *target.parents) if not path.exists()]
    return missing[-1] if missing else target


def _beside(path: Path) -> Path:
    return path.parent / f".skewanova-{secrets.token_hex(8)}"


def _make(content: Path) -> None:
    """Make the hidden folder with the rights that the user's files have."""
    try:
        content.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"`directory` cannot be written ({error.strerror}); choose another place") from error


def _swap(scratch: Path, top: Path) -> None:
    """Rename the new folder into place; what stood there comes back if that fails."""
    if not top.exists():
        scratch.rename(top)
        return
    old = _beside(top)
    top.rename(old)
    try:
        scratch.rename(top)
    except BaseException:
        old.rename(top)
        raise
    shutil.rmtree(old, ignore_errors=True)
