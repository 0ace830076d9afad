"""Audited strata: likelihood by brute force, strata by hand, coverage of the interval with few positives."""

import numpy as np
import pytest
from loops import each
from scipy.stats import chi2

from skewanova.priors.mixtures import AuditedStrata


def brute_ratio(counts, prior):
    """Likelihood ratio of audited strata at a prior, on a grid of the rate of the first of two."""
    weight, positive, negative = (np.asarray(part, dtype=float) for part in counts)
    first = np.linspace(1e-6, 1 - 1e-6, 400_001)
    second = (prior - weight[0] * first) / weight[1]
    inside = (second > 0) & (second < 1)
    rates = np.stack([first[inside], second[inside]])
    height = positive @ np.log(rates) + negative @ np.log1p(-rates)
    best = positive / (positive + negative)
    top = positive @ np.log(best) + negative @ np.log1p(-best)
    return 2 * (top - height.max())


@each("prior", [0.05, 0.12, 0.3, 0.6])
def test_likelihood_ratio_of_audited_strata_is_that_of_brute_force(prior):
    counts = [0.7, 0.3], [1.4, 6.2], [38.6, 9.8]
    ratio = AuditedStrata(*map(np.array, counts)).likelihood_ratio(prior)
    assert ratio == pytest.approx(brute_ratio(counts, prior), abs=1e-4)


def test_strata_have_equal_numbers_of_labels_and_their_shares_of_all_cases():
    scores = np.arange(100.0)
    labels = np.full(100, np.nan)
    labels[np.r_[0:10, 90:100]] = np.repeat([0.0, 1.0], 10)
    strata = AuditedStrata.from_scores(scores, labels)
    assert strata.weight.tolist() == [0.5, 0.5]
    assert (strata.positive.tolist(), strata.negative.tolist(), strata.estimate) == ([0, 10], [10, 0], 0.5)


@each(("prior", "n"), [(0.05, 50), (0.05, 200), (0.2, 50)])
def test_intervals_cover(prior, n):
    rng, inside = np.random.default_rng(0), []
    for _ in range(200):
        true = rng.random(2000) < prior
        scores, labels = rng.normal(1.5 * true), np.full(2000, np.nan)
        chosen = rng.choice(2000, n, replace=False)
        labels[chosen] = true[chosen]
        strata = AuditedStrata.from_scores(scores, labels).add_half_cases()
        low, high = strata.interval_limits(float(chi2.ppf(0.95, 1)))
        inside.append(low <= prior <= high)
    assert np.mean(inside) >= 0.92
