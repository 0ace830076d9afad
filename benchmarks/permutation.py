"""Permutation test of whole model profiles: our kernels against a loop over statsmodels.

10 models x 20 folds x 5 priors. statsmodels fits a few permuted tables, interleaved with our runs; its time
for all is extrapolated linearly.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

from benchmarks.measuring import Row, interleaved, ratio
from skewanova.inference.fold_statistics import max_t_test, permutation_test, sign_flip_test

MODELS, FOLDS, PRIORS, PERMUTATIONS = 10, 20, 5, 9999
PEER_PERMUTATIONS = 10
TESTS = {"permutation": permutation_test, "sign flips": sign_flip_test, "step-down max-T": max_t_test}


def rows(reduced: bool) -> list[Row]:
    """List one row for each test; there is no target but to be far ahead."""
    rng = np.random.default_rng(0)
    means = rng.normal(size=(FOLDS, MODELS, PRIORS)).mean(axis=-1)  # a permutation leaves profiles together
    calls = {name: lambda test=test: test(means, n_resamples=PERMUTATIONS) for name, test in TESTS.items()}
    t = interleaved({**calls, "peer": lambda: _peer(means, rng)}, 2 if reduced else 5)
    work = f"{PERMUTATIONS} arrangements of {MODELS} models x {FOLDS} folds"
    scale = PERMUTATIONS / PEER_PERMUTATIONS
    return [
        Row(
            "tests",
            f"{name}, {work}",
            "statsmodels loop / ours",
            *ratio(t["peer"], t[name], scale),
            at_least=100,
        )
        for name in TESTS
    ]


def _peer(means: np.ndarray, rng: np.random.Generator) -> None:
    """Permute models within folds and fit statsmodels' two-way table, one at a time."""
    labels = pd.MultiIndex.from_product([range(FOLDS), range(MODELS)], names=["f", "m"])
    for _ in range(PEER_PERMUTATIONS):
        table = pd.DataFrame({"y": rng.permuted(means, axis=1).ravel()}, index=labels).reset_index()
        anova_lm(smf.ols("y ~ C(m) + C(f)", table).fit())
