"""Extra memory of one area at one prior, in bytes a case."""

from __future__ import annotations

import numpy as np

from benchmarks import peers
from benchmarks.measuring import Call, Row, peak_bytes, scored_cases
from skewanova import auprec_score

CASES = 10_000_000


def rows(reduced: bool) -> list[Row]:
    """List the rows of target 6."""
    label, score = scored_cases(CASES)
    single = score.astype(np.float32)
    found: dict[str, tuple[float | None, Call]] = {
        "float64": (8.5, lambda: auprec_score(label, score, prior=0.1)),
        "float32": (4.5, lambda: auprec_score(label, single, prior=0.1)),
    }
    if not reduced:
        found["scikit-learn"] = (None, lambda: peers.sklearn_areas(label, score, np.array([0.1])))
    bytes_a_row = {name: peak_bytes(call) / CASES for name, (_, call) in found.items()}
    return [
        Row("6", f"one prior, 1e7 cases, {name}", "bytes a case", value, value, at_most=found[name][0])
        for name, value in bytes_a_row.items()
    ]
