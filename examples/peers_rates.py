"""How often each tool's default test finds models different that are equal, and how long it takes.

The tables are those of skewanova's own studies: S2a, 20 random 80/20 hold-outs of one data set, and S1, 20
independent folds; four models in each, equal in truth.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from io import StringIO
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import skewanova as sa
from studies.scenarios import SCENARIOS

Floats = NDArray[np.float64]
#: From values (folds, models) to the smallest p-value, adjusted as the tool does by default.
Test = Callable[[Floats], float]

LEVEL = 0.05
DESIGNS = {"S2a": "20 hold-outs 80/20 of one data set", "S1": "20 independent folds"}
N_MODELS, N_FOLDS = 10, 20  # of the task that is timed
TIMED = 5


def draw(scenario: str, replicates: int, seed: int) -> Floats:
    """IAUPREC of models equal in truth (replicates, folds, models)."""
    rng = np.random.default_rng([seed, list(DESIGNS).index(scenario)])
    return np.asarray(SCENARIOS[scenario].draw(replicates, rng).iauprec)


def timed_task(seed: int) -> Floats:
    """Gaussian values of ten models in twenty folds."""
    return np.random.default_rng(seed).normal(0.5, 0.05, size=(N_FOLDS, N_MODELS))


def wide(values: Floats) -> pd.DataFrame:
    """One column for each model."""
    return pd.DataFrame(values, columns=[f"m{i}" for i in range(values.shape[1])])


def long(values: Floats) -> pd.DataFrame:
    """One row for each model and fold."""
    table = wide(values).reset_index(names="fold")
    return table.melt("fold", var_name="model", value_name="iauprec")


# --- skewanova ----------------------------------------------------------------------------------------------


def corrected_all(values: Floats) -> float:
    """Return the p-value of the default test of all models for hold-outs of one data set."""
    found = sa.inference.omnibus_test(long(values), ratio=0.25, method="corrected_hotelling")
    return float(found.to_frame()["p_value"].iloc[0])


def corrected_pairs(values: Floats) -> float:
    """Smallest adjusted p of its pairs."""
    return float(sa.inference.posthoc(long(values), ratio=0.25)["p_adjusted"].min())


def independent_all(values: Floats) -> float:
    """Return the p-value of the default test of all models for independent folds."""
    return float(
        sa.inference.omnibus_test(long(values), method="repeated_measures").to_frame()["p_value"].iloc[0]
    )


def independent_pairs(values: Floats) -> float:
    """Smallest adjusted p of its pairs."""
    found = sa.inference.posthoc(long(values), method="max_t", n_resamples=999)
    return float(found["p_adjusted"].min())


def two_way_p(values: Floats) -> tuple[float, float]:
    """Return the p-value of the two-way F and the smallest of Tukey's pairs, which emmeans has too."""
    result = sa.inference.two_way_anova(long(values))
    model = result.to_frame().query("term == 'model'")
    pairs = sa.inference.tukey_hsd(result).to_frame()
    return float(model["p_value"].iloc[0]), float(pairs["p_adjusted"].min())


# --- others -------------------------------------------------------------------------------------------------


def autorank_all(values: Floats) -> float:
    """Return the p-value of the test of all models that autorank chooses."""
    from autorank import autorank

    with redirect_stdout(StringIO()):  # it prints its table
        return float(autorank(wide(values)).pvalue)


def nemenyi(values: Floats) -> float:
    """Smallest p of Nemenyi's pairs."""
    from scikit_posthocs import posthoc_nemenyi_friedman

    return float(posthoc_nemenyi_friedman(wide(values)).to_numpy().min())


def rm_anova(values: Floats) -> float:
    """Return the p-value of the repeated measures, corrected where pingouin finds that sphericity fails."""
    from pingouin import rm_anova

    found = rm_anova(long(values), dv="iauprec", within="model", subject="fold").iloc[0]
    return float(found.get("p_GG_corr", found["p_unc"]))


def pairwise_tests(adjustment: str) -> Test:
    """Smallest p of pingouin's paired t tests."""

    def smallest(values: Floats) -> float:
        from pingouin import pairwise_tests

        options = {"dv": "iauprec", "within": "model", "subject": "fold", "padjust": adjustment}
        found = pairwise_tests(long(values), **options)
        return float(found["p_unc" if adjustment == "none" else "p_corr"].min())

    return smallest


def two_on_single(runs: int, *, all_pairs: bool) -> Test:
    """Twice the smaller posterior probability, of the first pair or the smallest of all pairs."""

    def smallest(values: Floats) -> float:
        from baycomp import two_on_single

        pairs = list(combinations(range(values.shape[1]), 2)) if all_pairs else [(0, 1)]
        return 2 * min(min(two_on_single(values[:, a], values[:, b], runs=runs)) for a, b in pairs)

    return smallest


OTHERS: dict[tuple[str, str], Test] = {
    ("autorank", "`autorank()`, all models"): autorank_all,
    ("scikit-posthocs", "`posthoc_nemenyi_friedman`, pairs"): nemenyi,
    ("pingouin", "`rm_anova`, all models"): rm_anova,
    ("pingouin", "`pairwise_tests`, pairs, not adjusted"): pairwise_tests("none"),
    ("pingouin", '`pairwise_tests(padjust="holm")`, pairs'): pairwise_tests("holm"),
    ("baycomp", "`two_on_single`, one pair"): two_on_single(1, all_pairs=False),
    ("baycomp", "`two_on_single`, pairs"): two_on_single(1, all_pairs=True),
}
OURS = ("default, all models", "default, pairs")
BY_DESIGN: Mapping[str, dict[tuple[str, str], Test]] = {
    "S2a": {
        ("skewanova", OURS[0]): corrected_all,
        ("skewanova", OURS[1]): corrected_pairs,
        **OTHERS,
        ("baycomp", "`two_on_single(runs=4)`, one pair"): two_on_single(4, all_pairs=False),
        ("baycomp", "`two_on_single(runs=4)`, pairs"): two_on_single(4, all_pairs=True),
    },
    "S1": {("skewanova", OURS[0]): independent_all, ("skewanova", OURS[1]): independent_pairs, **OTHERS},
}
SPEED: dict[tuple[str, str], Test] = {
    ("skewanova", "corrected t, Holm"): corrected_pairs,
    ("autorank", "`autorank()`"): autorank_all,
    ("scikit-posthocs", "`posthoc_nemenyi_friedman`"): nemenyi,
    ("pingouin", '`pairwise_tests(padjust="holm")`'): pairwise_tests("holm"),
    ("baycomp", "`two_on_single` 45 times"): two_on_single(1, all_pairs=True),
}


def rejection_rate(test: Test, tables: Floats) -> float:
    """Share of the tables in which the test finds a difference."""
    return float(np.mean([test(values) < LEVEL for values in tables]))


def seconds(test: Test, values: Floats) -> float:
    """Median time of five calls after a first."""
    test(values)
    times = []
    for _ in range(TIMED):
        start = time.perf_counter()
        test(values)
        times.append(time.perf_counter() - start)
    return float(np.median(times))
