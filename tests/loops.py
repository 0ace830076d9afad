"""One test for many cases that take no time each: all are tried, and all that fail are listed."""

from collections.abc import Callable, Iterable
from typing import Any


def for_each(cases: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Make a test that calls the function with every case; a tuple is several arguments."""

    def decorate(function: Callable[..., None]) -> Callable[[], None]:
        def test() -> None:
            failures = []
            for case in cases:
                try:
                    function(*case) if isinstance(case, tuple) else function(case)
                except AssertionError as error:
                    failures.append(f"{case!r}: {error}")
            assert not failures, "\n".join(failures)

        test.__name__, test.__module__, test.__doc__ = (
            function.__name__,
            function.__module__,
            function.__doc__,
        )
        return test

    return decorate
