"""Batches: the joint likelihood against brute force, and what is predicted of a further one."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import approx_fprime, minimize
from scipy.special import expit, logit
from scipy.stats import norm

from skewanova import InputError, SkewanovaWarning, estimate_prior
from skewanova.priors import batches, estimation, mixtures
from skewanova.priors.batches import Normal
from skewanova.priors.mixtures import Counts


@pytest.fixture(autouse=True)
def few_places(monkeypatch):
    monkeypatch.setattr(batches, "CENTRES", 7)
    monkeypatch.setattr(batches, "SPREADS", 5)


P, Q = np.array([0.05, 0.15, 0.3, 0.5]), np.array([0.5, 0.3, 0.15, 0.05])
PRIORS = np.array([0.05, 0.1, 0.2, 0.12, 0.08, 0.15])


def mixed(priors, n=400):
    unlabelled = np.round(n * (priors[:, None] * P + (1 - priors[:, None]) * Q))
    return Counts(np.round(80 * P), np.round(320 * Q), unlabelled)


def fitted(counts):
    pooled = Counts(counts.positive, counts.negative, counts.unlabelled.sum(axis=0))
    return mixtures.profile(pooled, expit(mixtures.likeliest(pooled).log_odds))


@pytest.mark.parametrize("normal", [Normal(-2.2, 0.5), Normal(-1.5, 0.02), Normal(-3.0, 1.5)])
def test_joint_likelihood_is_the_integral_over_the_prior_of_each_batch(normal):
    counts = mixed(PRIORS[:3])
    fit = fitted(counts)
    logs = np.log(fit.positive), np.log(fit.negative)
    nodes, weights = batches._nodes(counts, fit, normal)
    height, slope = batches._joint(counts, logs, nodes, weights)
    expected = counts.positive @ logs[0] + counts.negative @ logs[1]
    for row in counts.unlabelled:

        def log_height(at, row=row):
            shares = mixtures.mixed(fit.positive, fit.negative, expit(at))
            return row @ np.log(shares) + norm.logpdf(at, *normal)

        top = max(log_height(at) for at in np.linspace(-6, 2, 201))
        area = quad(lambda at, top=top: np.exp(log_height(at) - top), -9, 4, points=[normal.centre])
        expected += np.log(area[0]) + top
    assert height == pytest.approx(expected, abs=2e-2)
    whole = np.concatenate(logs)
    by_steps = approx_fprime(whole, lambda x: batches._joint(counts, (x[:4], x[4:]), nodes, weights)[0], 1e-6)
    assert slope == pytest.approx(by_steps, abs=2e-2)


def test_a_step_that_leaves_nothing_of_a_bin_goes_too_far():
    counts = mixed(PRIORS[:3])
    fit, normal = fitted(counts), Normal(-2.2, 0.5)
    nodes, weights = batches._nodes(counts, fit, normal)
    logs = np.log(fit.positive), np.log(fit.negative)
    gone = tuple(np.where(np.arange(4) == 1, -2000.0, part) for part in logs)
    height, slope = batches._joint(counts, gone, nodes, weights)
    assert height < batches._joint(counts, logs, nodes, weights)[0] - 1e4
    assert np.isfinite(height)
    assert np.isfinite(slope).all()
    near = np.concatenate([np.where(np.arange(4) == 1, -40.0, part) for part in logs])  # the way back is long
    found, _ = batches._profiled(counts, fit, normal, near)
    assert np.isfinite(found)


@pytest.mark.parametrize("spread", [0.1, 0.5])
def test_the_curvature_is_how_fast_the_slope_falls_where_counts_are_as_expected(spread):
    counts = Counts(800 * P, 3200 * Q, np.repeat([4000 * (0.2 * P + 0.8 * Q)], 3, axis=0))
    fit, normal = fitted(counts), Normal(float(logit(0.2)), spread)
    nodes, weights = batches._nodes(counts, fit, normal)
    logs = np.log(np.concatenate([fit.positive, fit.negative]))

    def slope(at):
        return batches._joint(counts, (at[:4], at[4:]), nodes, weights)[1]

    falls = np.array([(slope(logs - step) - slope(logs + step)) / 2e-5 for step in 1e-5 * np.eye(8)])
    found = batches._curvature(counts, fit, normal) - np.eye(8)  # that of the free sums of the logs
    assert found == pytest.approx(falls, abs=3e-3 * falls.max())


def test_batches_of_known_classes_are_as_far_off_as_a_share():
    counts = Counts(np.array([0, 1e7]), np.array([1e7, 0]), np.array([[900.0, 100], [400, 100]]))
    places, errors = batches._each(counts)
    assert expit(places) == pytest.approx([0.1, 0.2], rel=1e-4)
    assert errors == pytest.approx(1 / np.sqrt([1000 * 0.1 * 0.9, 500 * 0.2 * 0.8]), rel=1e-3)


@pytest.mark.parametrize("normal", [Normal(-2.2, 0.5), Normal(-3.5, 0.1), Normal(-1.0, 1.5)])
def test_classes_are_the_likeliest(normal):
    counts = mixed(PRIORS)
    fit = fitted(counts)
    start = np.log(np.concatenate([fit.positive, fit.negative]))
    nodes, weights = batches._nodes(counts, fit, normal)
    best = minimize(
        lambda x: -batches._joint(counts, (x[:4], x[4:]), nodes, weights)[0], start, method="BFGS"
    )
    assert batches._profiled(counts, fit, normal, start)[0] == pytest.approx(-best.fun, abs=5e-3)


def test_a_further_batch_is_spread_like_those_seen():
    told = batches.predicted(mixed(PRIORS))
    low, middle, high = (expit(batches.quantile(told.log_odds, told.density, s)) for s in (0.025, 0.5, 0.975))
    assert middle == pytest.approx(expit(logit(PRIORS).mean()), abs=0.02)
    assert low < PRIORS.min() < PRIORS.max() < high < 0.6
    centre = [expit(batches.quantile(told.centres, told.likelihood, s)) for s in (0.025, 0.975)]
    assert told.density.sum() * np.diff(told.log_odds)[0] == pytest.approx(1, abs=5e-3)  # nothing is cut off
    assert told.density[[0, -1]].max() < 5e-3 * told.density.max()
    assert low < centre[0] < middle < centre[1] < high  # where a mean lies is surer than where a batch does


def test_more_spread_between_batches_is_a_wider_prediction():
    alike, apart = (batches.predicted(mixed(expit(-2 + by * np.linspace(-1, 1, 6)))) for by in (0.0, 1.5))
    widths = [
        np.diff([batches.quantile(t.log_odds, t.density, s) for s in (0.025, 0.975)])[0]
        for t in (alike, apart)
    ]
    assert 2 * widths[0] < widths[1]


def test_quantile_of_a_density():
    at = np.linspace(-6, 6, 2001)
    assert batches.quantile(at, norm.pdf(at), 0.975) == pytest.approx(1.96, abs=1e-3)


def drawn(n_batches, rng=0):
    draw = np.random.default_rng(rng)
    labels, names = np.repeat([1, 0], [80, 320]), np.repeat([f"week {i}" for i in range(n_batches)], 300)
    positive = draw.random(len(names)) < 0.1
    return labels, draw.normal(labels * 1.5), draw.normal(positive * 1.5), names


def test_few_batches_are_pooled_with_a_note():
    labels, labelled, unlabelled, names = drawn(3)
    with pytest.warns(SkewanovaWarning, match="3 batches do not tell how much the prior varies"):
        found = estimate_prior(labels, labelled, unlabelled, batch=names)
    pooled = estimate_prior(labels, labelled, unlabelled)
    assert (found.estimate, found.conf_low, found.method) == (pooled.estimate, pooled.conf_low, "chi2")
    assert found.to_frame()["batch"].tolist() == ["", "week 0", "week 1", "week 2"]
    assert found.to_frame()["n_unlabelled"].tolist() == [900, 300, 300, 300]


def test_enough_batches_predict_a_further_one():
    labels, labelled, unlabelled, names = drawn(5)
    found = estimate_prior(labels, labelled, unlabelled, batch=names)
    assert found.method == "batches"
    assert "a further batch, predicted from 5 batches of together 1,500 unlabelled scores" in found.describe()
    low, high = found.between(0.95)
    assert found.low < low < found.conf_low < found.estimate < found.conf_high < high < found.high
    one = estimate_prior(labels, labelled, unlabelled[names == "week 2"])
    assert found.batches[2][0] == "week 2"
    assert found.batches[2][1].estimate == one.estimate
    priors, weights = found.quadrature()
    assert weights[(priors > low) & (priors < high)].sum() == pytest.approx(0.95, abs=0.01)


def test_batches_must_be_named_for_every_score():
    labels, labelled, unlabelled, names = drawn(2)
    with pytest.raises(InputError, match="`batch` has 599"):
        estimate_prior(labels, labelled, unlabelled, batch=names[1:])


def test_batches_are_counted_in_order_of_appearance():
    found = estimation.counts_by_batch(np.array(["b", "a", "b"]), np.array([1.0, 2.0, 3.0]), np.array([1.5]))
    assert {name: row.tolist() for name, row in found.items()} == {"b": [1, 1], "a": [0, 1]}
