"""Mixtures of labelled classes: against general optimisers, and of cases that were labelled later."""

import numpy as np
import pytest
from loops import each
from messages import expect_error
from scipy.optimize import minimize
from scipy.special import expit, logit, xlogy
from scipy.stats import chi2

from skewanova.priors import mixtures
from skewanova.priors.mixtures import AuditedStrata, BinCounts, Peak, bin_edges, bin_scores, find_peak

DRAW = np.random.default_rng(1)
SAMPLES = {
    "usual": BinCounts(np.array([2.0, 5, 9, 14]), np.array([25.0, 20, 10, 5]), np.array([80.0, 70, 30, 20])),
    "empty": BinCounts(np.array([0.0, 5, 9, 14]), np.array([25.0, 20, 10, 0]), np.array([80.0, 70, 30, 20])),
    "no unlabelled": BinCounts(np.array([1.0, 5, 9]), np.array([25.0, 20, 1]), np.array([80.0, 0, 30])),
    "nobody labelled": BinCounts(np.array([0.0, 5, 9]), np.array([0.0, 20, 1]), np.array([3.0, 50, 30])),
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


@each("name", SAMPLES)
@each("prior", [0.01, 0.3, 0.8])
def test_profile_is_what_an_optimiser_finds(name, prior):
    fit = mixtures.fit_classes(SAMPLES[name], np.array(prior))
    highest = brute(SAMPLES[name], prior)[0]
    assert highest - 1e-9 <= fit.log_likelihood == pytest.approx(highest, abs=1e-4)
    assert fit.positive.sum() == pytest.approx(1) == fit.negative.sum()
    assert min(fit.positive.min(), fit.negative.min()) >= 0


@each("name", ["usual", "empty"])
def test_likeliest_prior_is_what_an_optimiser_finds(name):
    highest, prior = brute(SAMPLES[name])
    best, top, _ = find_peak(SAMPLES[name])
    assert (top, expit(best)) == (pytest.approx(highest, abs=1e-5), pytest.approx(prior, abs=1e-3))


def test_known_classes_limits_and_critical_values():
    counts = BinCounts(np.array([0.0, 1e9]), np.array([1e9, 0]), np.array([90.0, 10]))
    best, top, _ = find_peak(counts)
    assert expit(best) == pytest.approx(0.1, rel=1e-3)
    for limit in map(
        expit, mixtures.interval_limits(Peak(best, top, counts), (np.asarray(3.0), np.asarray(3.0)))
    ):
        fall = xlogy(10, 0.1 / limit) + xlogy(90, 0.9 / (1 - limit))  # binomial: 10 of 100
        assert 2 * fall == pytest.approx(3.0, abs=1e-5)
    usual = SAMPLES["usual"]
    counts = BinCounts(4 * usual.positive, 4 * usual.negative, np.array([90.0, 80, 60, 70]))
    best, top, _ = find_peak(counts)
    low, high = mixtures.interval_limits(Peak(best, top, counts), (np.asarray(1.0), np.asarray(2.0)))
    assert low < best < high
    assert mixtures.likelihood_ratio_statistic(counts, low, top) == pytest.approx(1.0, abs=1e-5)
    assert mixtures.likelihood_ratio_statistic(counts, high, top) == pytest.approx(2.0, abs=1e-5)
    draw = np.random.default_rng(0)
    found = mixtures.bootstrap_critical_value(SAMPLES["usual"], logit(0.2), 0.95, n_resamples=50, rng=draw)
    assert chi2.ppf(0.95, 1) <= found < 12
    low, high = mixtures.log_odds_range(np.array([0.0, 1.0, 20.0]))
    assert expit(low) * [1, 1, 20] == pytest.approx(0.1)
    assert (1 - expit(high)) * [1, 1, 20] == pytest.approx(0.1)


def test_many_samples_at_once_and_the_higher_of_several_maxima():
    stacked = BinCounts(*(DRAW.poisson(9.0, size=(6, 5)).astype(float) for _ in range(3)))
    best, top, _ = find_peak(stacked)
    for i in range(6):
        one = BinCounts(*(part[i] for part in stacked))
        assert [best[i], top[i]] == pytest.approx([float(value) for value in find_peak(one)[:2]], abs=1e-6)
    found = 0
    for _ in range(25):
        counts = BinCounts(*(DRAW.multinomial(n, [0.25] * 4).astype(float) for n in (12, 15, 30)))
        places = np.linspace(*mixtures.log_odds_range(np.array(30.0)), 400)
        heights = mixtures.fit_classes(counts.add_axis(), expit(places)).log_likelihood
        rises = np.diff([-np.inf, *heights, -np.inf]) > 0
        found += np.sum(rises[:-1] & ~rises[1:]) > 1
        assert find_peak(counts)[1] >= heights.max() - 1e-4
    assert found  # the case does occur


def test_root_closes_in_on_each_element_in_few_looks():
    shift = np.array([-3.0, 0.0, 0.7, 40.0])
    found = mixtures.find_roots(lambda x: np.expm1(x) - shift, np.full(4, -2.0), np.full(4, 3.0))
    assert found == pytest.approx([-2.0, 0.0, np.log(1.7), 3.0], abs=1e-9)
    cases = (
        (lambda x: x * x * x - 2 * x - 5, 2, 3),
        (lambda x: (x - 1 / 3) * (x - 1 / 3) * (x - 1 / 3), 0, 1),  # flat where it is 0
        (lambda x: 1 - 1 / (x * x), 0.5, 10),  # steep at one end
        (lambda x: np.tanh(50 * (x - 0.12)), 0, 1),  # flat at both
    )
    for function, low, high in cases:
        places = []
        counted = lambda x, f=function, seen=places: seen.append(x) or f(x)  # noqa: E731
        found = mixtures.find_roots(counted, np.array(low), np.array(high))
        assert abs(function(found)) < 1e-10
        assert len(places) <= 16  # halving: 37 at least
    for shift, end in ((1, 0), (-2, 1)):
        places = []
        counted = lambda x, by=shift, seen=places: seen.append(x) or x + by  # noqa: E731
        found = mixtures.find_roots(counted, np.array(0), np.array(1))
        assert found == end
        assert len(places) <= 3  # both ends, and one between before they are compared


def test_estimates_and_limits_at_the_ends():
    positive, negative = np.array([11.0, 109]), np.array([109.0, 11])
    for unlabelled in (np.array([1.0, 9]), np.array([9.0, 1])):  # 0.118 cases off; an end is 0.1 off
        share, true, false = unlabelled[1] / 10, 109 / 120, 11 / 120
        best = find_peak(BinCounts(positive, negative, unlabelled)).log_odds
        assert expit(best) == pytest.approx((share - false) / (true - false), abs=1e-9)
    positive, negative = np.array([10.0, 40]), np.array([900.0, 100])
    unlabelled = np.array([[95.0, 5], [50, 50], [5, 95]])  # beyond negatives, between, beyond positives
    counts = BinCounts(*(np.broadcast_to(part, (3, 2)) for part in (positive, negative)), unlabelled)
    assert list(mixtures.find_likeliest_prior(counts)[[0, 2]]) == [0, 1]
    assert mixtures.find_likeliest_prior(counts)[1] == pytest.approx((0.5 - 0.1) / (0.8 - 0.1))
    known = np.array([0.0, 1e9]), np.array([1e9, 0])
    for counts in (BinCounts(*known, np.array([20.0, 1])), BinCounts(*known, np.array([1.0, 20]))):
        best, top, _ = find_peak(counts)
        near, far = mixtures.interval_limits(Peak(best, top, counts), (np.asarray(2.0), np.asarray(2.0)))
        assert np.isfinite([near, far]).all()
        # where a tenth of a case stands for one, the ratio is 2 (log 10 - 20 log(209 / 200)) = 2.84
        low, high = mixtures.interval_limits(Peak(best, top, counts), (np.asarray(3.0), np.asarray(3.0)))
        assert (low == -np.inf, high == np.inf) == (best < 0, best > 0)


def test_slope_of_the_profile_and_misfit_of_known_classes():
    counts = BinCounts(*(np.append(part, 0.0) for part in SAMPLES["usual"]))  # an empty bin adds nothing
    prior, step = np.array([0.05, 0.3, 0.9]), 1e-5
    above, below = (
        mixtures.fit_classes(counts.add_axis(), prior + at).log_likelihood for at in (step, -step)
    )
    found = mixtures.profile_slope(counts.add_axis(), prior)
    assert found == pytest.approx((above - below) / (2 * step), rel=1e-5)
    classes = [[0.0, 1e9, 0]] * 2, [[1e9, 0, 0]] * 2
    counts = BinCounts(*map(np.array, (*classes, [[90.0, 10, 0], [140, 60, 0]])))
    prior = np.array([0.3, 0.3])
    free = xlogy([10, 60], [0.1, 0.3]) + xlogy([90, 140], [0.9, 0.7])
    held = xlogy([10, 60], 0.3) + xlogy([90, 140], 0.7)
    found = mixtures.g2_statistic(counts, mixtures.fit_classes(counts, prior), prior)
    assert found == pytest.approx(2 * (free - held), rel=1e-4, abs=1e-4)


def test_bins_hold_equally_many_scores_of_any_scale():
    scores = np.arange(100)[::-1]
    edges = bin_edges(scores, 8)
    assert mixtures.count_by_bin(scores, edges).sum() == 100
    assert set(mixtures.count_by_bin(scores, edges)) <= {12.0, 13.0}
    assert mixtures.count_by_bin(scores[:80], bin_edges(scores[:80], 8)).tolist() == [10.0] * 8
    assert bin_edges(np.array([2, 0, 1]), 3).tolist() == [0, 1]
    expect_error(r"must not be constant, but is 0.5", bin_edges, np.full(9, 0.5), 4)
    for sizes in ([90, 10], [10, 90], [1, 1]):  # two values are two bins
        values = np.repeat([0, 1], sizes)
        assert bin_edges(values, 8).tolist() == [0]
        assert mixtures.count_by_bin(values, bin_edges(values, 8)).tolist() == sizes
    draw = np.random.default_rng(0)
    for n, bins in ((8, 2), (39, 3), (200, 8)):
        positive = np.repeat([True, False], [n, 400])
        found = bin_scores(positive, draw.normal(size=n + 400), draw.normal(size=50), 8)
        assert len(found.counts.positive) == bins == len(found.edges) + 1
        assert [part.sum() for part in found.counts] == [n, 400, 50]
        assert np.ptp(found.counts.positive + found.counts.negative) <= 1
    draw = np.random.default_rng(3)
    positive, score = np.repeat([True, False], 60), draw.normal(size=120).round(1)
    field = draw.normal(size=80)
    one, other = bin_scores(positive, score, field, 5), bin_scores(positive, np.exp(score), np.exp(field), 5)
    either = [[*bins.counts, *bins.shift_classes(positive=0.4)] for bins in (one, other)]
    for a, b in zip(*either, strict=True):
        assert a.tolist() == b.tolist()


def test_shift_and_separation_of_the_bins():
    draw = np.random.default_rng(5)
    positive = np.repeat([True, False], [70, 90])
    score = draw.normal(size=160) * np.where(positive, 0.3, 2) + positive
    found = bin_scores(positive, score, np.zeros(9), 6)
    assert [part.tolist() for part in found.shift_classes()] == [part.tolist() for part in found.counts]
    for share in (-0.7, 0.5):
        moved = found.shift_classes(positive=share, negative=share)
        for scores, counts in ((found.positive, moved.positive), (found.negative, moved.negative)):
            above = [np.sum((scores - edge) / scores.std() > -share) for edge in found.normal_edges]
            assert counts[::-1].cumsum()[-2::-1].tolist() == above
    positive, score = np.array([1, 1, 1, 0, 0, 0], dtype=bool), np.array([3, 3, 1, 1, 0, 0])
    wide = bin_scores(np.repeat(positive, 10), np.repeat(score, 10), score, 3)
    assert mixtures.binned_auc(wide.counts) == pytest.approx((6 + 2 + 0.5) / 9)


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
    strata = AuditedStrata(*map(np.array, counts))
    assert strata.likelihood_ratio(prior) == pytest.approx(brute_ratio(counts, prior), abs=1e-4)
    low, high = strata.interval_limits(3.84)
    assert low < strata.estimate < high
    assert [strata.likelihood_ratio(limit) for limit in (low, high)] == pytest.approx([3.84] * 2, rel=1e-6)
    more = strata.add_half_cases()  # without these, intervals by few positives cover .87 to .92
    assert [*more.positive, *more.negative] == pytest.approx([1.75, 6.35, 38.95, 9.95])


def test_strata_have_equal_numbers_of_labels_and_their_shares_of_all_cases():
    scores = np.arange(100.0)
    labels = np.full(100, np.nan)
    labels[np.r_[0:10, 90:100]] = np.repeat([0.0, 1.0], 10)
    strata = AuditedStrata.from_scores(scores, labels)
    assert strata.weight.tolist() == [0.5, 0.5]
    assert (strata.positive.tolist(), strata.negative.tolist(), strata.estimate) == ([0, 10], [10, 0], 0.5)
