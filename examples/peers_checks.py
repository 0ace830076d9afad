"""What the tables of peers.py ask, and how a cell is filled: by a small function that runs the tool.

The functions are in peers_areas and peers_comparisons. A "no" is found too: no public name or parameter of
the package holds any of the words that a function for the purpose would.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from inspect import signature

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Check = Callable[[], str]

AREAS = {
    "constant": "constant classifier, 25 % positive",
    "prior": "area at another prior",
    "range": "mean over a range of priors",
    "weights": "weights equal repeated rows",
    "interval": "interval of one area",
    "one_set": "difference on one test set",
    "regions": "who leads at which prior",
    "soft": "soft labels",
    "classes": "more than two classes",
}
COMPARISONS = {
    "two_overlap": "shared training data, two models",
    "several_overlap": "shared training data, several models",
    "same": "p-values that skewanova also has",
    "names": "odd names in results",
    "latex": "LaTeX table, odd names",
    "html": "HTML report",
    "letters": "compact letters",
    "rope": "practical equivalence",
    "plan": "planning the next study",
    "missing": "one value missing",
    "factors": "covariates, other factors",
}
NAMES = ["$x$_1", "<b>B</b>", "my model", 'say "hi" & 100%']
MODULES = {
    "skewanova": "skewanova",
    "scikit-learn": "sklearn.metrics",
    "autorank": "autorank",
    "scikit-posthocs": "scikit_posthocs",
    "pingouin": "pingouin",
    "baycomp": "baycomp",
}
CHECKS: dict[tuple[str, str], Check] = {}


def check(question: str, tool: str) -> Callable[[Check], Check]:
    """Register what answers a question about a tool."""

    def register(function: Check) -> Check:
        CHECKS[question, tool] = function
        return function

    return register


def lacks(tool: str, *words: str) -> Check:
    """Whether no public name or parameter of the package holds any of the words."""

    def search() -> str:
        package = import_module(MODULES[tool])
        public = {name: getattr(package, name) for name in dir(package) if not name.startswith("_")}
        names = set(public)
        for thing in public.values():
            try:
                names |= set(signature(thing).parameters)
            except (TypeError, ValueError):  # not callable, or without a signature
                continue
        found = sorted(name for name in names if any(word in name.lower() for word in words))
        return f"see {', '.join(found)}" if found else "no"

    return search


def verdict(holds: object, yes: str) -> str:
    """Answer as expected if it holds."""
    return yes if holds else "checked, and not so"


def score_table() -> pd.DataFrame:
    """Held-out scores of four models with odd names in eight folds."""
    rng = np.random.default_rng(1)
    rows = [
        pd.DataFrame({"model": name, "fold": fold, "y_true": y, "y_score": y * (1 + 0.2 * i) + noise[:, i]})
        for fold in range(8)
        for y, noise in [(np.repeat([1, 0], [20, 60]), rng.normal(size=(80, 4)))]
        for i, name in enumerate(NAMES)
    ]
    return pd.concat(rows, ignore_index=True)


def refused(call: Callable[[], object]) -> str:
    """Whether labels are refused by an error."""
    try:
        call()
    except ValueError:
        return "refused"
    return "accepted"
