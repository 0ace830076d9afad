"""Messages of errors, to the letter, and errors and warnings that are expected."""

import re

import pytest

from skewanova import InputError, SkewanovaWarning


def exact(message: str) -> str:
    """Return the pattern that matches this message alone."""
    return f"^{re.escape(message)}$"


def expect_error(match, function=None, /, *arguments, error=InputError, **options):
    """Expect an error whose message matches: in a `with` block, or in the call of a function."""
    context = pytest.raises(error, match=match)
    if function is None:
        return context
    with context:
        function(*arguments, **options)
    return None


def expect_warning(match, function=None, /, *arguments, **options):
    """Expect a warning of the package likewise, and return what the function returns."""
    context = pytest.warns(SkewanovaWarning, match=match)
    if function is None:
        return context
    with context:
        return function(*arguments, **options)
