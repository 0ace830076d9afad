"""Several models' estimates of one prior: pooled by what they share, and tested."""

import numpy as np
import pytest
from scipy.special import expit

from skewanova.priors import agreement
from skewanova.priors.agreement import Cases, Together, interval, together, weighting

P, Q = np.array([0.1, 0.3, 0.6]), np.array([0.6, 0.3, 0.1])


def drawn(prior, n, rng, same=1.0, *, copies=2):
    """Bins of cases by several models: those of the first in a share of the cases, else their own."""
    positive = rng.random(n) < prior
    own = [np.where(positive, rng.choice(3, n, p=P), rng.choice(3, n, p=Q)) for _ in range(copies)]
    kept = rng.random((n, copies)) < same
    return np.where(kept, own[0][:, None], np.stack(own, axis=1)), positive


def cases(rng, same, priors=(0.2, 0.2)):
    labelled, positive = drawn(0.4, 300, rng, same=same)
    if priors[0] == priors[1]:
        return Cases(labelled[positive], labelled[~positive], [drawn(priors[0], 500, rng, same=same)[0]])
    fields = [drawn(prior, 500, rng)[0][:, 0] for prior in priors]
    return Cases(labelled[positive], labelled[~positive], fields)


def test_models_with_the_same_scores_agree_and_are_one():
    rng = np.random.default_rng(0)
    alike = together(cases(rng, 1.0), [3, 3], rng=rng)
    assert alike.statistic == pytest.approx(0, abs=1e-6)
    assert alike.p_value > 0.9


def test_independent_models_are_surer_together():
    rng = np.random.default_rng(1)
    own, shared = (together(cases(np.random.default_rng(2), same), [3, 3], rng=rng) for same in (0.0, 1.0))
    assert own.std_error < 0.85 * shared.std_error
    assert own.weights.sum() == pytest.approx(1)
    assert own.weights.min() > 0.2


def test_models_that_see_different_priors_do_not_agree():
    rng = np.random.default_rng(3)
    apart = together(cases(rng, 0.0, priors=(0.02, 0.7)), [3, 3], rng=rng)
    assert apart.p_value < 0.01


def test_agreement_holds_its_level():
    """25 samples at .05: five or more rejections have probability .01."""
    found = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        found.append(together(cases(rng, 0.3), [3, 3], rng=rng).p_value)
    assert np.mean(np.array(found) <= 0.05) <= 0.16


def test_weighting_and_interval_are_those_of_the_angle():
    told = Together(np.arcsin(np.sqrt(0.1)), 0.05, np.ones(1), 0.0, 1.0)
    low, high = interval(told, 0.95)
    assert np.arcsin(np.sqrt([low, high])) == pytest.approx(told.angle + 1.959964 * np.array([-0.05, 0.05]))
    log_odds, log_density = weighting(told, 0.999, 41, 10_000)
    priors = expit(log_odds)
    assert priors[log_density.argmax()] == pytest.approx(0.1, abs=0.02)
    assert log_density[[0, -1]] == pytest.approx([-(3.290527**2) / 2] * 2, abs=1e-3)
    none = interval(Together(0.02, 0.05, np.ones(1), 0.0, 1.0), 0.95)
    assert none[0] == 0.0
    assert agreement.weighting(Together(0.02, 0.05, np.ones(1), 0.0, 1.0), 0.999, 41, 100)[0][0] > -10
