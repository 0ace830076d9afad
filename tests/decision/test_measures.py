"""Measures of scores by brute force over thresholds, and their errors over cases by leaving out each."""

import re

import numpy as np
import pytest
from loops import each
from messages import expect_error

import skewanova as sa
from skewanova.curves.roc import curve_from_scores
from skewanova.decision import Measure
from skewanova.inference.case_resampling import SortedScores, measure_rates
from skewanova.inference.sampling import Sample

PRIORS = (0.02, 0.3)


def draw_scores(seed):
    """Labels and scores with ties."""
    rng = np.random.default_rng(seed)
    positive = np.arange(40) < 15
    return positive, np.round(rng.normal(size=40) + 1.2 * positive, 1)


def list_rules(positive, score):
    """Rates (tpr, fpr) of every rule, the highest threshold first."""
    cuts = [np.inf, *np.unique(score)[::-1]]
    return [((score >= cut)[positive].mean(), (score >= cut)[~positive].mean()) for cut in cuts]


def precision(tpr, fpr, prior):
    return prior * tpr / (prior * tpr + (1 - prior) * fpr)


def slow_values(positive, score, prior):
    """Every measure at one prior, by trying every threshold."""
    rules = list_rules(positive, score)
    flagged = [prior * t + (1 - prior) * f for t, f in rules]
    costs = [(1 - prior) * 2 * f + prior * 9 * (1 - t) for t, f in rules]
    benefits = [prior * t - (1 - prior) * f * 0.2 / 0.8 for t, f in rules]
    return {
        "precision at recall 0.7": precision(*next(rule for rule in rules if rule[0] >= 0.7), prior),
        "recall at precision 0.4": max(
            [t for t, f in rules if t + f > 0 and precision(t, f, prior) >= 0.4], default=0.0
        ),
        "recall at alert rate 0.3": max(
            t for (t, _), rate in zip(rules, flagged, strict=True) if rate <= 0.3
        ),
        "expected cost 2:9": min(costs),
        "net benefit at 0.2": max(benefits),
    }


def make_measures(prior, threshold=None):
    """All measures at a deployment prior, by name."""
    made = [Measure.expected_cost(2, 9, prior, threshold=threshold)]
    made.append(Measure.net_benefit(0.2, prior, threshold=threshold))
    if threshold is None:
        made.append(Measure.precision_at_recall(0.7, prior))
        made.append(Measure.recall_at_precision(0.4, prior))
        made.append(Measure.recall_at_alert_rate(0.3, prior))
    return {measure.name: measure for measure in made}


@each("seed", range(10))
def test_measures_are_those_of_all_thresholds(seed):
    positive, score = draw_scores(seed)
    curves = {("a", 1): curve_from_scores(positive, score)}
    for prior in PRIORS:
        expected = slow_values(positive, score, prior)
        values = {name: measure.mean(curves)[0] for name, measure in make_measures(prior).items()}
        assert values == pytest.approx(expected, abs=1e-12)
    mean = Measure.expected_cost(2, 9, sa.DiscretePrior(PRIORS, [1, 3])).mean(curves)[0]
    each_prior = [slow_values(positive, score, prior)["expected cost 2:9"] for prior in PRIORS]
    assert mean == pytest.approx((each_prior[0] + 3 * each_prior[1]) / 4, abs=1e-12)
    auc = np.mean([(p > n) + (p == n) / 2 for p in score[positive] for n in score[~positive]])
    assert Measure.roc_auc().mean(curves)[0] == pytest.approx(auc, abs=1e-12)


def test_a_precision_that_no_threshold_has_is_a_recall_of_0():
    positive = np.array([False, True, False, True])
    curves = {("a", 1): curve_from_scores(positive, np.array([0.9, 0.5, 0.4, 0.3]))}
    assert Measure.recall_at_precision(0.9, 0.1).mean(curves)[0] == 0.0


@each("clustered", [False, True])
@each("weighted", [False, True])
def test_jackknife_of_rates_leaves_out_each_unit(clustered, weighted):
    rng = np.random.default_rng(5)
    positive, score = draw_scores(3)
    cluster = rng.integers(0, 12, 40) if clustered else None
    cluster = None if cluster is None else np.unique(cluster, return_inverse=True)[1]
    weight = rng.uniform(0.5, 2, 40) if weighted else None
    sample = Sample(positive, cluster, weight)
    rates, values = measure_rates(SortedScores(sample, score), 0.6)
    case_weight = np.ones(40) if weight is None else weight

    def rate(rows):
        return np.array(
            [np.average(score[rows & s] >= 0.6, weights=case_weight[rows & s]) for s in (positive, ~positive)]
        )

    assert rates == pytest.approx(rate(np.ones(40, dtype=bool)))
    for unit in range(sample.n_units):
        expected = (sample.stratum_size[unit] - 1) * (rates - rate(sample.unit != unit))
        assert values[unit] == pytest.approx(expected, abs=1e-12)


@each("prior", [0.1, (0.02, 0.3)])
def test_gains_at_rates_are_the_measure_at_a_stated_threshold(prior):
    positive, score = draw_scores(1)
    curves = {("a", 1): curve_from_scores(positive, score)}
    rates = np.array([(score >= 0.5)[positive].mean(), (score >= 0.5)[~positive].mean()])
    for measure in make_measures(prior, threshold=0.5).values():
        origin, slopes = measure.gains_at_rates()
        assert measure.sign * measure.mean(curves)[0] == pytest.approx(origin + slopes @ rates, abs=1e-12)
        assert measure.threshold == 0.5


@each(("make", "message"), [
    (lambda: Measure.precision_at_recall(0), "`recall` must lie above 0 and at most 1, but got 0"),
    (lambda: Measure.recall_at_precision(1), "`precision` must lie strictly between 0 and 1, but got 1"),
    (lambda: Measure.recall_at_alert_rate(20), "`flagged` must lie strictly between 0 and 1, but got 20; did "
     "you mean 0.2?"),
    (lambda: Measure.expected_cost(1, -1), "the costs must be finite, not negative and not both 0, but got"),
    (lambda: Measure.net_benefit(2), "`probability` must lie strictly between 0 and 1, but got 2"),
    (lambda: Measure.net_benefit(0.2, (0.3, 0.1)), "a prior range must be"),
])  # fmt: skip
def test_numbers_out_of_range_are_refused(make, message):
    expect_error(re.escape(message), make)
