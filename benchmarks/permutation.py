"""Permutation test of whole model profiles: our kernel against a loop over statsmodels, as a ratio.

Run: python -m benchmarks.permutation

10 models x 20 folds x 5 priors, 9,999 permutations. statsmodels fits a few permuted tables, interleaved with
our runs, and its time for all of them is extrapolated linearly.
"""

from __future__ import annotations

from statistics import median
from time import perf_counter

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm

from skewanova.resampling import max_t_test, permutation_test, sign_flip_test

MODELS, FOLDS, PRIORS, PERMUTATIONS = 10, 20, 5, 9999
ROUNDS, PEER_PERMUTATIONS = 5, 10


def seconds(call: object, *args: object, **options: object) -> float:
    """Wall time of one call."""
    start = perf_counter()
    call(*args, **options)  # type: ignore[operator]
    return perf_counter() - start


def peer(profiles: np.ndarray, rng: np.random.Generator) -> None:
    """Permute models within folds and fit statsmodels' split-plot numerator, a table at a time."""
    means = profiles.mean(axis=-1)
    labels = pd.MultiIndex.from_product([range(FOLDS), range(MODELS)], names=["f", "m"])
    for _ in range(PEER_PERMUTATIONS):
        table = pd.DataFrame({"y": rng.permuted(means, axis=1).ravel()}, index=labels).reset_index()
        anova_lm(smf.ols("y ~ C(m) + C(f)", table).fit())


def ours(profiles: np.ndarray, test: object) -> None:
    """Average whole profiles over priors, which the permutation leaves together, and permute."""
    test(profiles.mean(axis=-1), n_resamples=PERMUTATIONS)  # type: ignore[operator]


def main() -> None:
    """Print one row a test: time of ours as median of rounds, and the ratio to the peer's."""
    rng = np.random.default_rng(0)
    profiles = rng.normal(size=(FOLDS, MODELS, PRIORS))
    tests = {"permutation": permutation_test, "sign flips": sign_flip_test, "step-down max-T": max_t_test}
    times: dict[str, list[float]] = {name: [] for name in (*tests, "peer")}
    for _ in range(ROUNDS):
        for name, test in tests.items():
            times[name].append(seconds(ours, profiles, test))
        times["peer"].append(seconds(peer, profiles, rng) * PERMUTATIONS / PEER_PERMUTATIONS)
    print(
        f"{MODELS} models x {FOLDS} folds x {PRIORS} priors, {PERMUTATIONS} arrangements, median of {ROUNDS}"
    )
    print(f"{'test':18}{'seconds':>10}{'statsmodels loop / ours':>26}")
    for name in tests:
        ratio = median(p / t for p, t in zip(times["peer"], times[name], strict=True))
        print(f"{name:18}{median(times[name]):10.3f}{ratio:26,.0f}")


if __name__ == "__main__":
    main()
