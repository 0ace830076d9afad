"""How every command reads its score table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import skewanova
from skewanova._checks import InputError
from skewanova._system import is_closed_pipe

if TYPE_CHECKING:
    from skewanova._streamed_scores import Scores

_Table = TypeVar("_Table")


def column_names(options: dict[str, Any]) -> tuple[dict[str, str], str | None]:
    """Names of columns and the positive label, taken out of `options` with what belongs to them."""
    words = {"model": "model", "fold": "fold", "label": "y_true", "score": "y_score", "case": "case"}
    named = {column: options.pop(f"{word}_column") for word, column in words.items()}
    options.pop("wide")
    return {column: name for column, name in named.items() if name is not None}, options.pop("positive")


def read_table(path: Path, options: dict[str, Any]) -> skewanova.ScoreTable:
    """Read the score table into memory, taking the options about it out of `options`."""
    with reading(path):
        return _wide(path, options) if options["wide"] else _long(path, options, skewanova.read_scores)


def open_table(path: Path, options: dict[str, Any]) -> Scores:
    """As :func:`read_table`, or in passes where the table would take up too much memory."""
    from skewanova.scores import open_scores

    with reading(path):
        return _wide(path, options) if options["wide"] else _long(path, options, open_scores)


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Tell of a table that cannot be read, or takes more memory than there is, as of any bad input."""
    try:
        yield
    except OSError as error:
        if is_closed_pipe(error):  # that is what is shown meanwhile
            raise
        raise InputError(f"{path.name!r} cannot be read ({error.strerror or error})") from error
    except MemoryError as error:
        raise InputError(
            f"{path.name!r} takes more memory than there is; write it to a Parquet file, which is read in "
            "passes where it must be"
        ) from error


def _long(path: Path, options: dict[str, Any], read: Callable[..., _Table]) -> _Table:
    given, positive = column_names(options)
    return read(path, columns=given, pos_label=positive)


def _wide(path: Path, options: dict[str, Any]) -> skewanova.ScoreTable:
    given, positive = column_names(options)
    if "model" in given or "y_score" in given:
        raise InputError(
            "--wide takes every other column as a model: leave out --model-column, --score-column"
        )
    return skewanova.scores_from_wide(path, pos_label=positive, **given)
