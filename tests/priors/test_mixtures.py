"""The profile likelihood against brute force, and the roots it rests on."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, logit, xlogy
from scipy.stats import chi2

from skewanova.priors import mixtures
from skewanova.priors.mixtures import Counts, Peak, likeliest, limits, misfit, profile, ratio, root

DRAW = np.random.default_rng(1)
SAMPLES = {
    "usual": Counts(np.array([2.0, 5, 9, 14]), np.array([25.0, 20, 10, 5]), np.array([80.0, 70, 30, 20])),
    "empty": Counts(np.array([0.0, 5, 9, 14]), np.array([25.0, 20, 10, 0]), np.array([80.0, 70, 30, 20])),
    "no unlabelled": Counts(np.array([1.0, 5, 9]), np.array([25.0, 20, 1]), np.array([80.0, 0, 30])),
    "nobody labelled": Counts(np.array([0.0, 5, 9]), np.array([0.0, 20, 1]), np.array([3.0, 50, 30])),
}


def brute(counts, prior=None):
    """The largest log-likelihood over both classes (and the prior), by a general optimiser."""
    n_bins = len(counts.positive)

    def fall(x):
        p, q = (np.exp(part - np.logaddexp.reduce(part)) for part in (x[:n_bins], x[n_bins : 2 * n_bins]))
        pi = expit(x[-1]) if prior is None else prior
        mixed = pi * p + (1 - pi) * q
        return -sum(xlogy(n, s).sum() for n, s in zip(counts, (p, q, mixed), strict=True))

    starts = DRAW.normal(size=(2, 2 * n_bins + 1))
    found = [minimize(fall, start, method="BFGS", options={"gtol": 1e-7}) for start in starts]
    best = min(found, key=lambda one: one.fun)
    return -best.fun, expit(best.x[-1])


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("prior", [0.01, 0.3, 0.8])
def test_profile_is_what_an_optimiser_finds(name, prior):
    fit = profile(SAMPLES[name], np.array(prior))
    highest = brute(SAMPLES[name], prior)[0]
    assert highest - 1e-9 <= fit.log_likelihood == pytest.approx(highest, abs=1e-4)
    assert fit.positive.sum() == pytest.approx(1) == fit.negative.sum()
    assert min(fit.positive.min(), fit.negative.min()) >= 0


@pytest.mark.parametrize("name", ["usual", "empty"])
def test_likeliest_prior_is_what_an_optimiser_finds(name):
    highest, prior = brute(SAMPLES[name])
    best, top = likeliest(SAMPLES[name])
    assert top == pytest.approx(highest, abs=1e-5)
    assert expit(best) == pytest.approx(prior, abs=1e-3)


def test_two_bins_have_the_estimate_of_adjusted_counts():
    counts = Counts(np.array([10.0, 40]), np.array([90.0, 10]), np.array([700.0, 300]))
    best, _ = likeliest(counts)
    assert expit(best) == pytest.approx((0.3 - 0.1) / (0.8 - 0.1))  # share above, less what negatives bring


def test_classes_known_for_sure_leave_the_likelihood_of_a_share():
    counts = Counts(np.array([0.0, 1e9]), np.array([1e9, 0]), np.array([90.0, 10]))
    best, top = likeliest(counts)
    assert expit(best) == pytest.approx(0.1, rel=1e-3)
    for limit in map(expit, limits(counts, Peak(best, top), (np.asarray(3.0), np.asarray(3.0)))):
        fall = xlogy(10, 0.1 / limit) + xlogy(90, 0.9 / (1 - limit))  # binomial: 10 of 100
        assert 2 * fall == pytest.approx(3.0, abs=1e-5)


def test_limits_reach_the_critical_value_on_both_sides():
    counts = Counts(
        4 * SAMPLES["usual"].positive, 4 * SAMPLES["usual"].negative, np.array([90.0, 80, 60, 70])
    )
    best, top = likeliest(counts)
    low, high = limits(counts, Peak(best, top), (np.asarray(1.0), np.asarray(2.0)))
    assert low < best < high
    assert ratio(counts, low, top) == pytest.approx(1.0, abs=1e-5)
    assert ratio(counts, high, top) == pytest.approx(2.0, abs=1e-5)


def test_many_samples_at_once_are_what_each_is():
    stacked = Counts(*(DRAW.poisson(9.0, size=(6, 5)).astype(float) for _ in range(3)))
    best, top = likeliest(stacked)
    for i in range(6):
        one = Counts(*(part[i] for part in stacked))
        assert [best[i], top[i]] == pytest.approx([float(value) for value in likeliest(one)], abs=1e-6)


def test_the_higher_of_several_maxima_is_taken():
    found = 0
    for _ in range(25):
        counts = Counts(*(DRAW.multinomial(n, [0.25] * 4).astype(float) for n in (12, 15, 30)))
        places = np.linspace(*mixtures.ends(np.array(30.0)), 400)
        heights = profile(counts.widened(), expit(places)).log_likelihood
        rises = np.diff([-np.inf, *heights, -np.inf]) > 0
        found += np.sum(rises[:-1] & ~rises[1:]) > 1
        assert likeliest(counts)[1] >= heights.max() - 1e-4
    assert found  # the case does occur


def test_misfit_is_nothing_where_the_unlabelled_are_a_mixture():
    p, q = np.array([0.1, 0.3, 0.6]), np.array([0.5, 0.3, 0.2])
    counts = Counts(100 * p, 200 * q, 400 * (0.25 * p + 0.75 * q))
    fit = profile(counts, np.array(0.25))
    assert misfit(counts, fit, np.array(0.25)) == pytest.approx(0, abs=1e-8)
    assert expit(likeliest(counts)[0]) == pytest.approx(0.25)


def test_bootstrap_critical_value_is_no_smaller_than_chi2():
    draw = np.random.default_rng(0)
    found = mixtures.bootstrap_critical(SAMPLES["usual"], logit(0.2), 0.95, n_resamples=50, rng=draw)
    assert chi2.ppf(0.95, 1) <= found < 12


def test_root_closes_in_on_each_element_and_stops_at_ends():
    shift = np.array([-3.0, 0.0, 0.7, 40.0])
    found = root(lambda x: np.expm1(x) - shift, np.full(4, -2.0), np.full(4, 3.0))
    assert found == pytest.approx([-2.0, 0.0, np.log(1.7), 3.0], abs=1e-9)
