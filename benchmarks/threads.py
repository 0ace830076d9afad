"""Processor and wall time with the default threads of linear algebra, over those with one thread.

``python -m benchmarks.threads`` runs this alone. Calls take turns in one process.
"""

from __future__ import annotations

import sys
import warnings
from statistics import median
from time import perf_counter, process_time

import numpy as np
from threadpoolctl import threadpool_limits

import skewanova as sa
from benchmarks.measuring import Call, Row, scored_cases
from benchmarks.one_set import scores
from skewanova.inference import compare_test_set
from skewanova.inference.case_resampling import SortedScores, bootstrap_estimates
from skewanova.inference.fold_statistics import max_t_test, permutation_test, sign_flip_test
from skewanova.inference.sampling import Sample


def rows(reduced: bool) -> list[Row]:
    """List two rows for each call: processor time and wall time."""
    result = []
    for name, call in _list_calls(20_000 if reduced else 200_000).items():
        call()
        took = np.array([_compare_threads(call) for _ in range(9)])
        for kind, ratios, most in zip(("processor", "wall"), took.T, (1.2, 1.0), strict=True):
            work = f"default threads over one, {kind} time"
            result.append(Row("threads", name, work, float(ratios.min()), median(ratios), at_most=most))
    return result


def _compare_threads(call: Call) -> list[float]:
    """Return processor and wall time of a call with the default threads over those with one."""
    took = [_time(call)]
    with threadpool_limits(1, user_api="blas"):
        took.append(_time(call))
    return [default / one for default, one in zip(*took, strict=True)]


def _time(call: Call) -> tuple[float, float]:
    """Return the seconds of processor and of wall time of a call."""
    start = process_time(), perf_counter()
    call()
    return process_time() - start[0], perf_counter() - start[1]


def _list_calls(n: int) -> dict[str, Call]:
    """Return calls by name, on test sets of `n` cases by three models, and on tables of folds."""
    frame = scores(n, 3).assign(fold=0)
    label, score = frame["y_true"].to_numpy()[:n], frame["y_score"].to_numpy().reshape(3, n).T
    one, table = scored_cases(5 * n), sa.load_satellite_scores()
    sample, prior = Sample(label[:1300]), sa.UniformPrior(0.1, 0.1)
    means = np.random.default_rng(0).normal(size=(20, 10))
    return {
        f"compare, one test set, 3 models x {n:g} cases": lambda: sa.compare(frame),
        "compare, Satellite, 3 models x 20 folds": lambda: sa.compare(table),
        "compare_values, 10 models x 20 folds": lambda: sa.compare_values(
            {f"m{k}": column for k, column in enumerate(means.T)}, design="kfold"
        ),
        f"compare_test_set, 3 models x {n:g} cases": lambda: compare_test_set(label, score, prior=0.1),
        f"one prior, {5 * n:g} cases": lambda: sa.auprec_score(*one, prior=0.1),
        f"101 priors, {5 * n:g} cases": lambda: sa.auprec_score(*one, prior=np.linspace(0.01, 0.5, 101)),
        f"IAUPREC, {5 * n:g} cases": lambda: sa.iauprec_score(*one, deployment_prior=(0.05, 0.2)),
        "evaluate, Satellite": lambda: sa.evaluate(table),
        "interval, 1300 cases": lambda: sa.confidence_interval(label[:1300], score[:1300, 0], prior=0.1),
        "2000 resamples, 1300 cases": lambda: bootstrap_estimates(
            SortedScores(sample, score[:1300, 0]), prior, "trapezoid", n_resamples=2000, rng=1
        ),
        "permutation test": lambda: permutation_test(means),
        "sign flips": lambda: sign_flip_test(means),
        "step-down max-T": lambda: max_t_test(means),
    }


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for row in rows(reduced="--reduced" in sys.argv):
        sys.stdout.write(f"{row.work}: {row.typical:.2f} {row.compared} (target {row.target})\n")
