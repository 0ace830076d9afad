"""Several models' estimates of one prior: pooled by what they share, and tested."""

import numpy as np
import pytest
from scipy.stats import chi2

from skewanova.priors.batches import CaseBins, assess_agreement

P, Q = np.array([0.1, 0.3, 0.6]), np.array([0.6, 0.3, 0.1])


def drawn(prior, n, rng, same=1.0, *, copies=2):
    """Bins of cases by several models: those of the first in a share of the cases, else their own."""
    positive = rng.random(n) < prior
    own = [np.where(positive, rng.choice(3, n, p=P), rng.choice(3, n, p=Q)) for _ in range(copies)]
    return np.where(rng.random((n, copies)) < same, own[0][:, None], np.stack(own, axis=1)), positive


def cases(rng, same, priors=(0.2, 0.2)):
    labelled, positive = drawn(0.4, 300, rng, same=same)
    if priors[0] == priors[1]:
        return CaseBins(labelled[positive], labelled[~positive], [drawn(priors[0], 500, rng, same=same)[0]])
    fields = [drawn(prior, 500, rng)[0][:, :1] for prior in priors]
    return CaseBins(labelled[positive], labelled[~positive], fields)


def test_models_agree_by_a_statistic_about_chi2():
    rng = np.random.default_rng(0)
    alike = assess_agreement(cases(rng, 1.0), [3, 3], 0.2, rng=rng)
    assert alike.statistic == pytest.approx(0, abs=1e-6)
    assert alike.p_value == 1  # the cases as they are count as one more sample, no further apart than any
    assert alike.weights == pytest.approx([0.5, 0.5], abs=1e-3)
    rng = np.random.default_rng(3)
    assert assess_agreement(cases(rng, 0.0, priors=(0.02, 0.7)), [3, 3], 0.3, rng=rng).p_value < 0.01
    for seed in range(3):
        rng = np.random.default_rng(seed)
        fields = drawn(0.2, 500, rng, copies=1)[0], rng.choice(3, (500, 1), p=(4 * Q + P + 1) / 8)
        found = assess_agreement(
            CaseBins(*beside_a_blurred_one(rng, 0.4), [np.hstack(fields)]), [3, 3], 0.2, rng=rng
        )
        assert found.p_value == pytest.approx(chi2.sf(found.statistic, 1), abs=0.08)


def test_what_models_know_decides_their_weight():
    """Weights of the log-likelihoods sum to 1 where one is as good as both, to 2 where nothing is shared."""
    rng = np.random.default_rng(1)
    own, half, shared = (
        assess_agreement(cases(np.random.default_rng(2), same), [3, 3], 0.2, rng=rng)
        for same in (0.0, 0.5, 1.0)
    )
    assert shared.weights.sum() == pytest.approx(1, abs=1e-3)
    assert 1.05 < half.weights.sum() < own.weights.sum() < 2.1
    assert own.weights.min() > 0.4
    # One that goes with a surer model wherever that errs, but knows less, would be subtracted.
    rng = np.random.default_rng(0)
    unlabelled = np.repeat(drawn(0.2, 200, rng, copies=1)[0], 2, axis=1)
    found = assess_agreement(CaseBins(*beside_a_blurred_one(rng, 0.4), [unlabelled]), [3, 3], 0.2, rng=rng)
    assert found.weights == pytest.approx([1, 0])


def beside_a_blurred_one(rng, share):
    """Bins of cases by a model and by one that guesses in a share of the labelled cases."""
    labelled, positive = drawn(0.4, 300, rng, copies=1)
    guessed = np.where(rng.random((300, 1)) < share, rng.integers(0, 3, (300, 1)), labelled)
    both = np.hstack([labelled, guessed])
    return both[positive], both[~positive]


@pytest.mark.parametrize("prior", [0.2, 0.005])
def test_agreement_holds_its_level(prior):
    """25 samples at .05: five or more rejections have probability .01; at 0 there are no more."""
    found = []
    for seed in range(25):
        rng = np.random.default_rng(seed)
        found.append(assess_agreement(cases(rng, 0.3, priors=(prior, prior)), [3, 3], prior, rng=rng).p_value)
    assert np.mean(np.array(found) <= 0.05) <= 0.16
