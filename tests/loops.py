"""One test for many cases that take no time each: all are tried, and all that fail are listed."""

from collections.abc import Callable, Iterable, Sequence
from inspect import Signature, signature
from typing import Any

import pytest
from _pytest.mark import ParameterSet

#: What a failed check raises; any other exception ends the loop.
FAILURES = (AssertionError, pytest.fail.Exception)


def each(
    names: str | Sequence[str], cases: Iterable[Any], ids: object = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make one test of what `pytest.mark.parametrize` makes a test a case; fixtures are shared by all."""
    keys = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    rows = [_values(case, len(keys)) for case in cases]

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        def test(**fixtures: Any) -> None:
            failures = []
            for row in rows:
                case = dict(zip(keys, row, strict=True))
                try:
                    function(**case, **fixtures)
                except FAILURES as error:
                    failures.append(f"{case!r}: {error}")
            assert not failures, "\n".join(failures)

        parameters = [p for p in signature(function).parameters.values() if p.name not in keys]
        test.__signature__ = Signature(parameters)
        for name in ("__name__", "__module__", "__doc__", "pytestmark"):
            if hasattr(function, name):
                setattr(test, name, getattr(function, name))
        return test

    return decorate


def _values(case: Any, n_names: int) -> Sequence[Any]:
    """Return the values of one case."""
    if isinstance(case, ParameterSet):
        return case.values
    return case if n_names > 1 else (case,)
