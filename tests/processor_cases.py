"""Writes result folders of tables with near-ties: under any linear algebra they must say the same.

``python processor_cases.py FOLDER`` also writes which kernels the linear algebra took, to ``kernels.json``.
"""

import json
import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info

from skewanova import SkewanovaWarning, compare, compare_datasets
from skewanova.report import figures

#: The one folder that has pictures, and which: they take most of the time, the others draw what tables hold.
WITH_PICTURES = "near"
PICTURES = ("regions", "pairs", "critical_difference")


def first(base, positive):
    return base[:, 0]


def last_digits(base, positive):
    """The same order of the cases, but other numbers."""
    return base[:, 0] * (1 + 1e-14)


def one_case(base, positive):
    """One positive moved: an area that differs in its third or fourth digit."""
    moved = base[:, 0].copy()
    moved[np.flatnonzero(positive)[np.argmin(moved[positive == 1])]] += 0.4
    return moved


def other(base, positive):
    return base[:, 1]


def in_steps(base, positive):
    return np.round(base[:, 2])


def in_three_steps(base, positive):
    return np.clip(in_steps(base, positive), -1, 1)


ALIKE = {"z": first, "b": first, "other": other, "a": first, "digits": last_digits}
NEAR = {"near": one_case, "first": first, "other": other, "digits": last_digits}
TIED = {"steps": in_steps, "again": in_steps, "coarse": in_three_steps}


def table(scores_of, *, n_folds, tests, seed=1):
    """Folds of `tests` cases each: every model's scores by a function of what all models see."""
    rng = np.random.default_rng(seed)
    positive = (np.arange(tests) % 4 == 0).astype(int)
    parts = []
    for fold in range(n_folds):
        base = rng.normal(size=(tests, 3)) + 1.1 * positive[:, None]
        case = fold * tests + np.arange(tests)
        rows = pd.DataFrame({"fold": fold, "case": case, "y_true": positive})
        parts += [rows.assign(model=m, y_score=score(base, positive)) for m, score in scores_of.items()]
    return pd.concat(parts, ignore_index=True)


def results():
    """Name and result of every comparison."""
    yield "near", compare(table(NEAR, n_folds=3, tests=80), at_priors=(0.5, 0.2))
    free = table(ALIKE, n_folds=10, tests=60).drop(columns="case")
    yield "independent", compare(free, at_priors=(0.5, 0.2), design="independent")
    yield "ties", compare(table(TIED, n_folds=6, tests=60), at_priors=(0.5, 0.2))
    yield "test_set", compare(table(NEAR | {"b": first}, n_folds=1, tests=400), at_priors=(0.5, 0.2))
    sets = {f"set {i}": table(ALIKE, n_folds=1 + i, tests=40, seed=i) for i in range(2)}
    yield "datasets", compare_datasets(sets, at_priors=(0.5,))


def main(folder):
    figures.list_figures = lambda source: PICTURES
    with warnings.catch_warnings(action="ignore", category=SkewanovaWarning):
        for name, result in results():
            result.save(folder / name, figures="svg" if name == WITH_PICTURES else None)
            said = [result.summary(full=True), *result.conclusions]
            (folder / name / "said.txt").write_text("\n".join(said))
    kernels = [d.get("architecture") for d in threadpool_info() if d["internal_api"] == "openblas"]
    (folder / "kernels.json").write_text(json.dumps(kernels))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
