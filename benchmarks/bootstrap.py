"""Bootstrap of the cases, each class apart."""

from __future__ import annotations

import numpy as np
from scipy import stats
from sklearn import metrics

from benchmarks.measuring import Row, interleaved, ratio, scored_cases
from skewanova import UniformPrior
from skewanova.inference.case_resampling import MAX_CASES_AT_ONCE, SortedScores, bootstrap_estimates
from skewanova.inference.sampling import Sample

RESAMPLES, PEER_RESAMPLES = 2000, 10


def rows(reduced: bool) -> list[Row]:
    """List the rows of target 5."""
    return [
        *_at_size(1300, RESAMPLES, 80, 3 if reduced else 7),
        *_at_size(100_000, RESAMPLES // (20 if reduced else 4), 20, 2 if reduced else 3),
    ]


def _at_size(n: int, resamples: int, least: float, rounds: int) -> list[Row]:
    label, score = scored_cases(n)
    sample, prior = Sample(label), UniformPrior(0.1, 0.1)
    t = interleaved(
        {
            "ours": lambda: bootstrap_estimates(
                SortedScores(sample, score), prior, "average_precision", n_resamples=resamples, rng=1
            ),
            "limit": lambda: _draws_and_counts(label, resamples),
            "sklearn": lambda: _sklearn(label, score),
            "scipy": lambda: _scipy(label, score),
        },
        rounds,
    )
    work, scale = f"{resamples} stratified resamples, {n:g} cases", resamples / PEER_RESAMPLES
    return [
        Row("5", work, "scikit-learn loop / ours", *ratio(t["sklearn"], t["ours"], scale), at_least=least),
        Row("5", work, "scipy.stats.bootstrap / ours", *ratio(t["scipy"], t["ours"], scale)),
        Row("5", work, "ours / draws and bincount alone", *ratio(t["ours"], t["limit"]), at_most=2.2),
    ]


def _draws_and_counts(label: np.ndarray, resamples: int) -> None:
    """Draw and count the cases as we do, and nothing else."""
    rng, block = np.random.default_rng(1), max(1, MAX_CASES_AT_ONCE // len(label))
    for start in range(0, resamples, block):
        size = min(block, resamples - start)
        for n in (np.count_nonzero(label), np.count_nonzero(~label)):
            drawn = rng.integers(0, n, size=(size, n)) + np.arange(size)[:, None] * n
            np.bincount(drawn.ravel(), minlength=size * n)


def _precision(positive: np.ndarray, negative: np.ndarray) -> float:
    labels = np.repeat([1, 0], [len(positive), len(negative)])
    return float(metrics.average_precision_score(labels, np.concatenate((positive, negative))))


def _sklearn(label: np.ndarray, score: np.ndarray) -> None:
    rng = np.random.default_rng(1)
    for _ in range(PEER_RESAMPLES):
        drawn = [rng.choice(part, len(part)) for part in (score[label], score[~label])]
        _precision(*drawn)


def _scipy(label: np.ndarray, score: np.ndarray) -> None:
    stats.bootstrap(
        (score[label], score[~label]),
        _precision,
        n_resamples=PEER_RESAMPLES,
        vectorized=False,
        method="percentile",
        random_state=1,
    )
