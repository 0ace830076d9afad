"""Cases of one kind with the rule that each must keep, and the cases that once broke a rule."""

import ast
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import strategies as st

import skewanova as sa

CORPUS = Path(__file__).with_name("corpus")
#: Texts that a file, an option or a name may hold by mistake or malice.
HOSTILE = json.loads(Path(__file__).with_name("hostile.json").read_text(encoding="ascii"))


@dataclass(frozen=True)
class Generator:
    """Cases of one kind, the rule for each, and how many the ordinary tests try (0: only `make fuzz`)."""

    name: str
    cases: st.SearchStrategy[Any]
    rule: Callable[[Any], None]
    examples: int

    def check(self, case):
        """Raise if the case breaks the rule; a warning that is not the package's own breaks every rule."""
        with warnings.catch_warnings(action="error"):
            warnings.simplefilter("ignore", sa.SkewanovaWarning)
            self.rule(case)

    def corpus(self):
        """Yield names and cases of what once broke the rule."""
        for path in sorted((CORPUS / self.name).glob("*.txt")):
            yield path.stem, ast.literal_eval(path.read_text(encoding="ascii"))


def sample(**choices):
    """Return a strategy for each name: one of the values listed."""
    return {name: st.sampled_from(values) for name, values in choices.items()}


def answered(function, *arguments, **options):
    """Return the answer, or None if the package refuses; any other error goes through."""
    try:
        return function(*arguments, **options)
    except (sa.InputError, sa.InputTypeError):
        return None


def near(result, expected):
    """Assert equality up to sums in another order."""
    result, expected = np.asarray(result, float), np.asarray(expected, float)
    np.testing.assert_allclose(result, expected, rtol=1e-7, atol=1e-10, equal_nan=True)
