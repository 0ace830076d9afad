"""Stages of a long computation, for whoever listens."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

#: Stages of a comparison, in order; those of its figures follow.
STAGES = ("scores", "measures", "tests of all models", "pairs of models", "ranking, differences")


_listener: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


def stage(name: str) -> None:
    """Report that a stage begins."""
    listener = _listener.get()
    if listener is not None:
        listener(name)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Call `listener` with the name of each stage that begins within the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
