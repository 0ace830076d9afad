"""How every command reads its score table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import skewanova
from skewanova._checks import InputError


def column_names(options: dict[str, Any]) -> tuple[dict[str, str], str | None]:
    """Names of columns and the positive label, taken out of `options` with what belongs to them."""
    words = {"model": "model", "fold": "fold", "label": "y_true", "score": "y_score", "case": "case"}
    named = {column: options.pop(f"{word}_column") for word, column in words.items()}
    options.pop("wide")
    return {column: name for column, name in named.items() if name is not None}, options.pop("positive")


def read_table(path: Path, options: dict[str, Any]) -> skewanova.ScoreTable:
    """Read the score table, taking the options about it out of `options`."""
    wide = options["wide"]
    given, positive = column_names(options)
    if not wide:
        return skewanova.read_scores(path, columns=given, pos_label=positive)
    if "model" in given or "y_score" in given:
        raise InputError(
            "--wide takes every other column as a model: leave out --model-column, --score-column"
        )
    return skewanova.scores_from_wide(path, pos_label=positive, **given)
