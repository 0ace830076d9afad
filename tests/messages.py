"""Messages of errors, to the letter."""

import re


def exact(message: str) -> str:
    """Return the pattern that matches this message alone."""
    return f"^{re.escape(message)}$"
