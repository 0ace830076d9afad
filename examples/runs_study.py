"""How often learners that are equal in truth are told apart, with several runs on one test set.

    python examples/runs_study.py --replicates 1000 --out runs.csv --few runs-few.csv --power runs-power.csv

The first table: scores are normal with a variance of 1.47; positives' lie 1.2 higher, by .15 more or less in
every run of every model. A third of the variance of a case's score is shared by all models, a third by a
model's runs.

The second, of few runs: areas themselves are normal, with a known covariance over cases, and runs bring in so
much of the variance of a difference; by the degrees of freedom that `compare` takes, and by Hillis's.

The third: as the first, but the first learner's positives lie .4 higher, and how often that is found.
"""

from __future__ import annotations

import argparse
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import special

from skewanova.decision.posterior import probability_best
from skewanova.inference import compare_runs
from skewanova.inference.case_resampling import measure_models
from skewanova.inference.fold_statistics import adjust_holm
from skewanova.inference.paired_test_set import RunAreas
from skewanova.inference.runs import DF_METHODS, DegreesOfFreedom
from skewanova.inference.sampling import Sample
from skewanova.priors.weightings import UniformPrior

DESIGNS = ((2, 5), (3, 5), (4, 4))


N_POSITIVE, N_NEGATIVE = 60, 300


PRIOR = UniformPrior(0.2, 0.4)


SEED = 20261


#: Numbers of models and of runs, and shares of the variance that runs bring in, of the second table.
FEW_MODELS, FEW_RUNS, SHARES = (2, 4, 8), (2, 3, 5, 10), (0.2, 0.5, 0.9)


#: Tables of each setting of it.
FEW_TABLES = 4_000


#: By how much the first learner's positives lie higher where power is measured.
BETTER = 0.4


def drawn(n_models, n_runs, rng, better=0.0):
    """Areas of one table of learners equal but for the first, with what leaving out every case changes."""
    n_cases = N_POSITIVE + N_NEGATIVE
    shared, learner = rng.normal(size=(n_cases, 1, 1)), rng.normal(size=(n_cases, n_models, 1))
    scores = 0.7 * (shared + learner + rng.normal(size=(n_cases, n_models, n_runs)))
    scores[:N_POSITIVE] += 1.2 + 0.15 * rng.normal(size=(n_models, n_runs))
    scores[:N_POSITIVE, 0] += better
    sample = Sample(np.arange(n_cases) < N_POSITIVE)
    area, values = measure_models(sample, list(scores.reshape(n_cases, -1).T), [PRIOR], "trapezoid")
    return RunAreas(area.reshape(n_models, n_runs), values[..., 0], sample, "crossed")


def judged(areas):
    """p-values of all models, of the pairs and of those with the first as control; largest P(best)."""
    n_models = len(areas.area)
    found = compare_runs(areas.area, areas.covariance, case_df=areas.sample.df)
    beside = adjust_holm(found.p_value[: n_models - 1])
    df = float(areas.pair_errors()[1].min())
    best = probability_best(found.estimate, areas.covariance_of_means, df=df, n_draws=1000, rng=0)
    return {
        "all models": found.p_omnibus,
        "pairs (Holm)": found.p_adjusted.min(),
        "pairs with a control (Holm)": beside.min(),
        "P(best) of .9 or more": np.nan if best.max() < 0.9 else 0.0,
    }


def study(replicates, seed=SEED):
    """One row a design, question and level."""
    rows = []
    for n_models, n_runs in DESIGNS:
        rng = np.random.default_rng([seed, n_models, n_runs])
        found = pd.DataFrame([judged(drawn(n_models, n_runs, rng)) for _ in range(replicates)])
        for question in found:
            for level in (0.05, 0.005) if question[0] != "P" else (np.nan,):
                rate = float((found[question] <= (0.0 if np.isnan(level) else level)).mean())
                error = np.sqrt(rate * (1 - rate) / replicates)
                rows.append((n_models, n_runs, question, level, rate, error, replicates))
    columns = ["n_models", "n_runs", "question", "level", "rate", "std_error", "replicates"]
    return pd.DataFrame(rows, columns=columns)


def found_of(areas, of):
    """P of all models, and of the pairs that differ in truth, by whose degrees of freedom."""
    found = compare_runs(areas.area, areas.covariance, df=of, case_df=areas.sample.df)
    return {"all models": found.p_omnibus, "true differences (Holm)": found.p_adjusted[: len(areas.area) - 1]}


def power(replicates, seed=SEED):
    """One row a design, degrees of freedom, question and level."""
    rows = []
    for n_models, n_runs in DESIGNS:
        rng = np.random.default_rng([seed, n_models, n_runs, 1])
        tables = [drawn(n_models, n_runs, rng, BETTER) for _ in range(replicates)]
        for of in DF_METHODS:
            found = pd.DataFrame([found_of(areas, of) for areas in tables])
            for question, level in product(found, (0.05, 0.005)):
                shares = [np.mean(p < level) for p in found[question]]
                error = np.std(shares) / np.sqrt(replicates)
                rows.append(
                    (n_models, n_runs, BETTER, of, question, level, np.mean(shares), error, replicates)
                )
    columns = ["n_models", "n_runs", "effect", "df", "question", "level", "rate", "std_error", "replicates"]
    return pd.DataFrame(rows, columns=columns)


def smallest_of_pairs(n_models, n_runs, share, rng):
    """Smallest p of a pair, by Bonferroni, of many tables at once, by whose degrees of freedom."""
    cases = (1 - share) / n_runs
    areas = np.sqrt(share) * rng.normal(size=(FEW_TABLES, n_models, n_runs))
    areas += np.sqrt(cases) * rng.normal(size=(FEW_TABLES, n_models, 1))
    pairs = list(combinations(range(n_models), 2))
    found = {of: np.ones(FEW_TABLES) for of in DF_METHODS}
    for i, j in pairs:
        gap = areas[:, i] - areas[:, j]
        noise = gap.var(axis=1, ddof=1) / 2
        spread = noise + n_runs * cases
        statistic = np.abs(gap.mean(axis=1)) / np.sqrt(2 * spread / n_runs)
        for of, smallest in found.items():
            df = DegreesOfFreedom(of).compute_df(spread, noise, n_runs - 1, n_tests=len(pairs))
            np.minimum(smallest, 2 * len(pairs) * special.stdtr(df, -statistic), out=smallest)
    return found


def few_runs(seed=SEED):
    """One row a number of models and runs, share, degrees of freedom and level."""
    rows = []
    for n_models, n_runs, share in product(FEW_MODELS, FEW_RUNS, SHARES):
        rng = np.random.default_rng([seed, n_models, n_runs, round(100 * share)])
        for of, smallest in smallest_of_pairs(n_models, n_runs, share, rng).items():
            for level in (0.05, 0.005):
                rate = float((smallest < level).mean())
                error = np.sqrt(rate * (1 - rate) / FEW_TABLES)
                rows.append((n_models, n_runs, share, of, level, rate, error, FEW_TABLES))
    columns = ["n_models", "n_runs", "run_share", "df", "level", "rate", "std_error", "replicates"]
    return pd.DataFrame(rows, columns=columns)


def main(arguments=None):
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--few", type=Path)
    parser.add_argument("--power", type=Path)
    options = parser.parse_args(arguments)
    study(options.replicates).to_csv(options.out, index=False, float_format="%.6g")
    if options.few:
        few_runs().to_csv(options.few, index=False, float_format="%.6g")
    if options.power:
        power(options.replicates).to_csv(options.power, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
