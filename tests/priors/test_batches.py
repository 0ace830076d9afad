"""Batches of one prior and of several models: against brute force, pooled by what they share."""

import numpy as np
import pytest
from messages import expect_error, expect_warning
from scipy.integrate import quad
from scipy.optimize import approx_fprime, minimize, minimize_scalar
from scipy.special import expit, logit, logsumexp
from scipy.stats import chi2, norm

from skewanova import estimate_prior
from skewanova.priors import batches, mixtures
from skewanova.priors.batches import BatchNormal, CaseBins, assess_agreement
from skewanova.priors.mixtures import BinCounts


@pytest.fixture(autouse=True)
def few_places(monkeypatch):
    monkeypatch.setattr(batches, "N_CENTRES", 7)
    monkeypatch.setattr(batches, "N_SPREADS", 5)


P, Q = np.array([0.05, 0.15, 0.3, 0.5]), np.array([0.5, 0.3, 0.15, 0.05])
PRIORS = np.array([0.05, 0.1, 0.2, 0.12, 0.08, 0.15])


def mixed(priors, n=400):
    unlabelled = np.round(n * (priors[:, None] * P + (1 - priors[:, None]) * Q))
    return BinCounts(np.round(80 * P), np.round(320 * Q), unlabelled)


def fitted(counts):
    pooled = BinCounts(counts.positive, counts.negative, counts.unlabelled.sum(axis=0))
    return mixtures.fit_classes(pooled, expit(mixtures.find_peak(pooled).log_odds))


@pytest.mark.parametrize("normal", [BatchNormal(-2.2, 0.5), BatchNormal(-1.5, 0.02), BatchNormal(-3.0, 1.5)])
def test_joint_likelihood_is_the_integral_over_the_prior_of_each_batch(normal):
    counts = mixed(PRIORS[:3])
    fit = fitted(counts)
    logs = np.log(np.concatenate([fit.positive, fit.negative]))
    nodes, weights = batches._quadrature_nodes(counts, fit, normal)
    height, slope, cases = batches._joint_log_likelihood(counts, logs, nodes, weights)
    assert cases.sum() == pytest.approx(sum(part.sum() for part in counts))
    expected = np.concatenate([counts.positive, counts.negative]) @ logs
    for row in counts.unlabelled:

        def log_height(at, row=row):
            shares = mixtures.mix_classes(fit.positive, fit.negative, expit(at))
            return row @ np.log(shares) + norm.logpdf(at, *normal)

        top = max(log_height(at) for at in np.linspace(-6, 2, 201))
        area = quad(lambda at, top=top: np.exp(log_height(at) - top), -9, 4, points=[normal.centre])
        expected += np.log(area[0]) + top
    assert height == pytest.approx(expected, abs=2e-2)
    height = lambda x: batches._joint_log_likelihood(counts, x, nodes, weights)[0]  # noqa: E731
    by_steps = approx_fprime(logs, height, 1e-6)
    assert slope == pytest.approx(by_steps, abs=2e-2)


def test_steps_that_go_too_far_and_centres_that_come_nearer():
    counts = mixed(PRIORS[:3])
    fit, normal = fitted(counts), BatchNormal(-2.2, 0.5)
    nodes, weights = batches._quadrature_nodes(counts, fit, normal)
    logs = np.log(np.concatenate([fit.positive, fit.negative]))
    gone = np.where(np.arange(8) % 4 == 1, -2000.0, logs)
    height, slope, _ = batches._joint_log_likelihood(counts, gone, nodes, weights)
    assert height < batches._joint_log_likelihood(counts, logs, nodes, weights)[0] - 1e4
    assert np.isfinite(height)
    assert np.isfinite(slope).all()
    near = np.where(np.arange(8) % 4 == 1, -40.0, logs)  # the way back is long
    assert np.isfinite(batches._maximise_over_classes(counts, fit, normal, near))
    centres = np.linspace(0, 10, 11)
    height = np.stack([-((centres - 3) ** 2), np.full(11, -40.0)], axis=1) * 10
    assert batches._zoom_centres(centres, height) == pytest.approx(np.linspace(1, 5, 11))
    height[6] = -5.0  # about as likely, but what is between is not
    assert batches._zoom_centres(centres, height) == pytest.approx(np.linspace(1, 5, 11))
    height[6:] = -1000.0
    height[8:] = -5.0  # as likely, but there is nothing between
    assert batches._zoom_centres(centres, height) == pytest.approx(np.linspace(1, 5, 11))
    height[0:6, 1] = -8.0
    assert batches._zoom_centres(centres, height) is None
    height[5] = -1000
    assert batches._zoom_centres(centres, height) == pytest.approx(np.linspace(0, 5, 11))
    last = -10 * (centres[:, None] - np.array([10.0, 14.0])) ** 2
    assert batches._zoom_centres(centres, last) == pytest.approx(np.linspace(8, 10, 11))


@pytest.mark.parametrize("normal", [BatchNormal(-2.2, 0.5), BatchNormal(-4.0, 1.0)])
def test_the_likeliest_classes_are_found_from_afar(normal):
    counts = mixed(PRIORS[:3])
    fit = fitted(counts)
    start = np.log(np.concatenate([fit.positive, fit.negative]))
    best = batches._maximise_over_classes(counts, fit, normal, start)
    for by in (4, 8, 40):
        for bin_ in range(8):
            moved = start - by * (np.arange(8) == bin_)
            found = batches._maximise_over_classes(counts, fit, normal, moved)
            assert found == pytest.approx(best, abs=5e-3)


@pytest.mark.parametrize(("centre", "spread", "n"), [(-4, 0.7, 5000), (-2, 0.5, 300), (-5, 1.0, 5000)])
def test_heights_are_those_of_a_longer_search(centre, spread, n, monkeypatch):
    """Of a hundred positives, where every place used to begin where the one before ended."""
    draw, priors = np.random.default_rng(1), expit(centre + spread * norm.ppf((np.arange(6) + 0.5) / 6))
    shares = norm.cdf([-np.inf, *np.linspace(-1.2, 2.6, 7), np.inf] - np.array([[1.5], [0.0]]))
    positive, negative = np.diff(shares)
    unlabelled = np.array([draw.multinomial(n, p * positive + (1 - p) * negative) for p in priors], float)
    labelled = draw.multinomial(100, positive) * 1.0, draw.multinomial(400, negative) * 1.0
    counts = BinCounts(*labelled, unlabelled)
    fit, places = fitted(counts), (np.linspace(centre - 3, centre + 2, 4), np.array([0.1, 0.8, 2.5]))
    found = batches._likelihood_surface(counts, fit, *places)
    monkeypatch.setattr(batches, "MAX_STEPS", 2000)
    monkeypatch.setattr(batches, "MIN_GAIN", 1e-7)
    best = batches._likelihood_surface(counts, fit, *places)
    likely = best > best.max() - batches.NEGLIGIBLE_FALL
    assert found[likely] == pytest.approx(best[likely], abs=0.02)


@pytest.mark.parametrize(("centre", "spread"), [(-2.2, 0.5), (0.4, 2.0)])
def test_nodes_of_a_batch_without_cases_have_the_moments_of_its_normal(centre, spread):
    counts = BinCounts(80 * P, 320 * Q, np.zeros((1, 4)))
    fit = mixtures.ClassFit(0.0, P, Q)
    (nodes,), (logs,) = batches._quadrature_nodes(counts, fit, BatchNormal(centre, spread))
    weights, standard = np.exp(logs), (nodes - centre) / spread
    moments = [weights @ standard**power for power in range(17)]
    assert moments[::2] == pytest.approx([norm.moment(power) for power in range(0, 17, 2)], rel=1e-10)
    assert moments[1::2] == pytest.approx(np.zeros(8), abs=1e-6)
    assert standard[len(standard) // 2] == pytest.approx(0, abs=1e-12)  # the mode itself is a node


@pytest.mark.parametrize("normal", [BatchNormal(-2.2, 0.3), BatchNormal(-4.0, 2.0)])
def test_each_batch_is_looked_at_around_its_mode(normal):
    counts = mixed(PRIORS)
    fit = fitted(counts)
    at, width = batches._find_modes(counts, fit, normal)

    def fall(odds, row):
        mixed = mixtures.mix_classes(fit.positive, fit.negative, expit(odds))
        return -(row @ np.log(mixed)) - norm.logpdf(odds, *normal)

    for i, row in enumerate(counts.unlabelled):
        mode = minimize_scalar(fall, bounds=(at[i] - 1, at[i] + 1), args=(row,), options={"xatol": 1e-9})
        assert at[i] == pytest.approx(mode.x, abs=1e-3)
        bend = fall(at[i] + 0.01, row) + fall(at[i] - 0.01, row) - 2 * fall(at[i], row)
        assert width[i] == pytest.approx(0.01 / np.sqrt(bend), rel=0.25)  # which is the expected bend


def test_known_classes_and_batches_without_positives():
    counts = BinCounts(np.array([0, 1e7]), np.array([1e7, 0]), np.array([[900.0, 100], [400, 100]]))
    labelled = {"positive": counts.positive[None], "negative": counts.negative[None]}
    places, errors = batches._fit_log_odds(counts._replace(**labelled))
    assert expit(places) == pytest.approx([0.1, 0.2], rel=1e-4)
    assert errors == pytest.approx(1 / np.sqrt([1000 * 0.1 * 0.9, 500 * 0.2 * 0.8]), rel=1e-3)
    rates, prior = np.array([0.8, 0.3]), 0.2  # of the upper bin, in each class
    share = prior * rates[0] + (1 - prior) * rates[1]
    cells = [size * np.array([1 - rate, rate]) for size, rate in ((20_000, 0.8), (20_000, 0.3), (1e9, share))]
    weights = np.array([prior, 1 - prior]) / (rates[0] - rates[1])
    error = np.sqrt((weights**2 * rates * (1 - rates) / 20_000).sum()) / (prior * (1 - prior))
    assert batches._fit_log_odds(BinCounts(*cells))[1] == pytest.approx(error, rel=0.01)
    priors = expit(-5 + norm.ppf((np.arange(10) + 0.5) / 10))
    unlabelled = np.round(300 * (priors[:, None] * P + (1 - priors[:, None]) * Q))
    labelled = np.array([1.0, 4, 8, 12]), np.array([50.0, 30, 15, 5])
    told = batches.predict_batch(BinCounts(*labelled, unlabelled))
    density = told.log_odds, told.density
    low, high = (expit(batches.density_quantile(*density, share)) for share in (0.5, 0.975))
    assert low < priors.mean()
    assert priors.max() < high < 0.2
    lowest = mixtures.log_odds_range(unlabelled.sum())[0]  # no positive in any batch
    assert told.centres[0] == pytest.approx(lowest)


@pytest.mark.parametrize("normal", [BatchNormal(-2.2, 0.5), BatchNormal(-3.5, 0.1), BatchNormal(-1.0, 1.5)])
def test_classes_are_the_likeliest(normal):
    counts = mixed(PRIORS)
    fit = fitted(counts)
    start = np.log(np.concatenate([fit.positive, fit.negative]))
    nodes, weights = batches._quadrature_nodes(counts, fit, normal)
    loss = lambda x: -batches._joint_log_likelihood(counts, x, nodes, weights)[0]  # noqa: E731
    best = minimize(loss, start, method="BFGS")
    assert batches._maximise_over_classes(counts, fit, normal, start) == pytest.approx(-best.fun, abs=5e-3)


def by_brute_force(unlabelled, spreads, centres):
    """Likelihood of every spread and centre where the classes are known, each batch integrated by sums."""
    log_height = np.zeros((len(spreads), len(centres)))
    wide = np.linspace(-12, 8, 20001)
    for row in unlabelled:
        height = np.log(mixtures.mix_classes(P, Q, expit(wide))) @ row
        near = wide[height > height.max() - 15]
        at = np.linspace(near[0], near[-1], 151)
        height = np.log(mixtures.mix_classes(P, Q, expit(at))) @ row
        here = norm.logpdf(at[:, None], centres, spreads[:, None, None]) + height[:, None]
        log_height += logsumexp(here, axis=1) + np.log(at[1] - at[0])
    return np.exp(log_height - log_height.max())


@pytest.mark.slow
@pytest.mark.parametrize(("n", "apart"), [(5000, 0.5), (100_000, 0.2), (1000, 0.0)])
def test_a_prediction_is_that_of_brute_force(n, apart, monkeypatch):
    monkeypatch.undo()  # as many places as users have
    priors = expit(-2 + apart * norm.ppf((np.arange(8) + 0.5) / 8))
    unlabelled = np.round(n * (priors[:, None] * P + (1 - priors[:, None]) * Q))
    told = batches.predict_batch(BinCounts(np.round(1e7 * P), np.round(1e7 * Q), unlabelled))
    spreads, reach = np.geomspace(0.02, 2.5, 50), 0.2 + 2 * apart
    centres = np.linspace(-2 - reach, -2 + reach, 61)
    weight = by_brute_force(unlabelled, spreads, centres) * np.gradient(spreads)[:, None]
    weight /= weight.sum()
    expected, found = centres @ weight.sum(axis=0), told.centres @ told.likelihood
    assert found == pytest.approx(expected, abs=0.01)
    error = np.sqrt((centres - expected) ** 2 @ weight.sum(axis=0))
    assert np.sqrt((told.centres - found) ** 2 @ told.likelihood) == pytest.approx(error, rel=0.06)
    reach = batches.N_STD_ERRORS * (spreads @ weight.sum(axis=1))
    assert told.centres[0] - told.log_odds[0] == pytest.approx(reach, rel=0.1)
    for share in (0.025, 0.5, 0.975):
        at = batches.density_quantile(told.log_odds, told.density, share)
        assert (norm.cdf(at, centres, spreads[:, None]) * weight).sum() == pytest.approx(share, abs=0.006)


def rough_height(rough, centre, spread):
    """Log-likelihood of a centre and a spread at the likeliest way that all are off together."""
    scale = np.hypot(spread, rough.errors)
    offs = np.linspace(-3, 3, 60001)[:, None]
    return (norm.logpdf(rough.places, centre + offs, scale).sum(axis=1) - 8 * offs[:, 0] ** 2).max()


def test_the_rough_likelihood_leaves_out_what_is_ruled_out_and_interpolates():
    rough = batches.RoughLikelihood(np.array([-2.0, -1.0, -1.7]), np.array([0.1, 0.3, 0.2]), 0.25)
    centres, spreads = np.array([-3.0, -1.5]), np.array([0.05, 0.4])
    found = rough.log_likelihood(centres, spreads)
    exact = np.array([[rough_height(rough, centre, spread) for spread in spreads] for centre in centres])
    assert found - found[0, 0] == pytest.approx(exact - exact[0, 0], abs=1e-6)
    places = map(np.array, ([1.0] * 4, [0, 1, 2, 3.0]))
    alike, apart = (batches.RoughLikelihood(at, np.full(4, 0.01), 0.0) for at in places)
    assert alike.spreads(3.0)[0] == pytest.approx(batches.MIN_SPREAD)
    least, most = apart.spreads(3.0)
    falls = apart._best(np.array([1.25**0.5, least, least / 1.06]))[0]
    assert falls[0] - falls[1] < batches.NEGLIGIBLE_FALL < falls[0] - falls[2]
    assert most == pytest.approx(3.02)
    centres, spreads = np.linspace(-3, 1, 7), np.linspace(0.1, 1.5, 5)
    height = rough.log_likelihood(centres, spreads) - 0.1 * centres[:, None] + 0.2 * spreads
    near, wide, weight = batches._interpolate_surface(centres, spreads, height, rough)
    assert (near[0], near[-1], wide[0], wide[-1]) == (-3, 1, 0.1, 1.5)
    exact = np.exp(rough.log_likelihood(near, wide) - 0.1 * near[:, None] + 0.2 * wide)
    assert weight == pytest.approx(exact / exact.sum(), rel=1e-9)


def test_a_further_batch_is_spread_like_those_seen():
    told = batches.predict_batch(mixed(PRIORS))
    quantiles = (batches.density_quantile(told.log_odds, told.density, s) for s in (0.025, 0.5, 0.975))
    low, middle, high = map(expit, quantiles)
    assert middle == pytest.approx(expit(logit(PRIORS).mean()), abs=0.02)
    assert low < PRIORS.min() < PRIORS.max() < high < 0.6
    centre = [expit(batches.density_quantile(told.centres, told.likelihood, s)) for s in (0.025, 0.975)]
    assert told.density.sum() * np.diff(told.log_odds)[0] == pytest.approx(1, abs=5e-3)  # nothing is cut off
    assert told.density[[0, -1]].max() < 5e-3 * told.density.max()
    ends = told.centres[0] - told.log_odds[0], told.log_odds[-1] - told.centres[-1]
    assert ends[0] == pytest.approx(ends[1])
    assert told.likelihood[[0, -1]].max() < 2e-2 * told.likelihood.max()
    assert low < centre[0] < middle < centre[1] < high  # where a mean lies is surer than where a batch does
    at = np.linspace(-6, 6, 2001)
    assert batches.density_quantile(at, norm.pdf(at), 0.975) == pytest.approx(1.96, abs=1e-3)
    even = np.linspace(2, 4, 5)
    expected = [2, 2.6, 4]
    assert [batches.density_quantile(even, np.ones(5), s) for s in (0.0, 0.3, 1.0)] == pytest.approx(expected)


def drawn(n_batches, rng=0):
    draw = np.random.default_rng(rng)
    labels, names = np.repeat([1, 0], [80, 320]), np.repeat([f"week {i}" for i in range(n_batches)], 300)
    positive = draw.random(len(names)) < 0.1
    return labels, draw.normal(labels * 1.5), draw.normal(positive * 1.5), names


def test_how_many_batches_predict_a_further_one():
    labels, labelled, unlabelled, names = drawn(3)
    found = expect_warning("3 batches are too few", estimate_prior, labels, labelled, unlabelled, batch=names)
    pooled = estimate_prior(labels, labelled, unlabelled)
    assert (found.estimate, found.conf_low, found.method) == (pooled.estimate, pooled.conf_low, "chi2")
    assert found.to_frame()["batch"].tolist() == ["", "week 0", "week 1", "week 2"]
    assert found.to_frame()["n_unlabelled"].tolist() == [900, 300, 300, 300]
    labels, labelled, unlabelled, names = drawn(5)
    found = estimate_prior(labels, labelled, unlabelled, batch=names)
    assert found.method == "batches"
    assert "a further batch, predicted from 5 batches of together 1,500 unlabelled scores" in found.describe()
    low, high = found.central_interval(0.95)
    assert found.low < low < found.conf_low < found.estimate < found.conf_high < high < found.high
    one = estimate_prior(labels, labelled, unlabelled[names == "week 2"])
    assert (found.batches[2][0], found.batches[2][1].estimate) == ("week 2", one.estimate)
    priors, weights = found.quadrature()
    assert weights[(priors > low) & (priors < high)].sum() == pytest.approx(0.95, abs=0.01)
    labels, labelled, unlabelled, names = drawn(2)
    expect_error("`batch` has 599", estimate_prior, labels, labelled, unlabelled, batch=names[1:])


P3, Q3 = np.array([0.1, 0.3, 0.6]), np.array([0.6, 0.3, 0.1])


def draw_bins(prior, n, rng, same=1.0, *, copies=2):
    """Bins of cases by several models: those of the first in a share of the cases, else their own."""
    positive = rng.random(n) < prior
    own = [np.where(positive, rng.choice(3, n, p=P3), rng.choice(3, n, p=Q3)) for _ in range(copies)]
    return np.where(rng.random((n, copies)) < same, own[0][:, None], np.stack(own, axis=1)), positive


def cases(rng, same, priors=(0.2, 0.2)):
    labelled, positive = draw_bins(0.4, 300, rng, same=same)
    if priors[0] == priors[1]:
        fields = [draw_bins(priors[0], 500, rng, same=same)[0]]
    else:
        fields = [draw_bins(prior, 500, rng)[0][:, :1] for prior in priors]
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
        fields = draw_bins(0.2, 500, rng, copies=1)[0], rng.choice(3, (500, 1), p=(4 * Q3 + P3 + 1) / 8)
        bins = CaseBins(*beside_a_blurred_one(rng, 0.4), [np.hstack(fields)])
        found = assess_agreement(bins, [3, 3], 0.2, rng=rng)
        assert found.p_value == pytest.approx(chi2.sf(found.statistic, 1), abs=0.08)


def test_what_models_know_decides_their_weight():
    """Weights of the log-likelihoods sum to 1 where one is as good as both, to 2 where nothing is shared."""
    rng = np.random.default_rng(1)
    bins = (cases(np.random.default_rng(2), same) for same in (0.0, 0.5, 1.0))
    own, half, shared = (assess_agreement(each, [3, 3], 0.2, rng=rng) for each in bins)
    assert shared.weights.sum() == pytest.approx(1, abs=1e-3)
    assert 1.05 < half.weights.sum() < own.weights.sum() < 2.1
    assert own.weights.min() > 0.4
    # One that goes with a surer model wherever that errs, but knows less, would be subtracted.
    rng = np.random.default_rng(0)
    unlabelled = np.repeat(draw_bins(0.2, 200, rng, copies=1)[0], 2, axis=1)
    found = assess_agreement(CaseBins(*beside_a_blurred_one(rng, 0.4), [unlabelled]), [3, 3], 0.2, rng=rng)
    assert found.weights == pytest.approx([1, 0])


def beside_a_blurred_one(rng, share):
    """Bins of cases by a model and by one that guesses in a share of the labelled cases."""
    labelled, positive = draw_bins(0.4, 300, rng, copies=1)
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
