"""How often learners that are equal in truth are told apart, with several runs on one test set.

    python examples/runs_study.py --replicates 300 --out docs/studies/runs.csv

Scores are normal with a variance of 1.47; positives' lie 1.2 higher, by .15 more or less in every run of
every model. A third of the variance of a case's score is shared by all models, a third by a model's runs.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from skewanova.decision.choice import probability_best
from skewanova.decision.joint_curves import RunAreas
from skewanova.inference import compare_runs
from skewanova.inference.fold_statistics import holm
from skewanova.inference.jackknife import measured
from skewanova.inference.sampling import Sample
from skewanova.priors.weightings import UniformPrior

DESIGNS = ((2, 5), (3, 5), (4, 4))


N_POSITIVE, N_NEGATIVE = 60, 300


PRIOR = UniformPrior(0.2, 0.4)


def drawn(n_models, n_runs, rng):
    """Areas of one table of equal learners, with what leaving out every case changes in them."""
    n_cases = N_POSITIVE + N_NEGATIVE
    shared, learner = rng.normal(size=(n_cases, 1, 1)), rng.normal(size=(n_cases, n_models, 1))
    scores = 0.7 * (shared + learner + rng.normal(size=(n_cases, n_models, n_runs)))
    scores[:N_POSITIVE] += 1.2 + 0.15 * rng.normal(size=(n_models, n_runs))
    sample = Sample(np.arange(n_cases) < N_POSITIVE)
    area, values = measured(sample, list(scores.reshape(n_cases, -1).T), [PRIOR], "trapezoid")
    return RunAreas(area.reshape(n_models, n_runs), values[..., 0], sample, "crossed")


def replicate(n_models, n_runs, rng):
    """p-values of all models, of the pairs and of those with the first as control; largest P(best)."""
    areas = drawn(n_models, n_runs, rng)
    found = compare_runs(areas.area, areas.covariance)
    beside = holm(found.p_value[: n_models - 1])
    df = float(areas.pairs()[1].min())
    best = probability_best(found.estimate, areas.covariance_of_means, df=df, n_draws=1000, rng=rng)
    return {
        "all models": found.p_omnibus,
        "pairs (Holm)": found.p_adjusted.min(),
        "pairs with a control (Holm)": beside.min(),
        "P(best) of .9 or more": np.nan if best.max() < 0.9 else 0.0,
    }


def study(replicates, seed=0):
    """One row a design, question and level."""
    rows = []
    for n_models, n_runs in DESIGNS:
        rng = np.random.default_rng([seed, n_models, n_runs])
        found = pd.DataFrame([replicate(n_models, n_runs, rng) for _ in range(replicates)])
        for question in found:
            for level in (0.05, 0.005) if question[0] != "P" else (np.nan,):
                rate = float((found[question] <= (0.0 if np.isnan(level) else level)).mean())
                error = np.sqrt(rate * (1 - rate) / replicates)
                rows.append((n_models, n_runs, question, level, rate, error, replicates))
    columns = ["n_models", "n_runs", "question", "level", "rate", "std_error", "replicates"]
    return pd.DataFrame(rows, columns=columns)


def main(arguments=None):
    """Simulate, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=300)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    study(options.replicates).to_csv(options.out, index=False, float_format="%.6g")


if __name__ == "__main__":
    main()
