"""True curves of known distributions, at few points and by hand."""

import numpy as np
import pytest
from scipy import stats

from skewanova.curves import distributions
from skewanova.curves.distributions import curve_from_rates, sample_scores, true_roc


def test_thresholds_are_even_quantiles_of_both_classes():
    """Of uniform classes on [0, 1] and [0.5, 1.5], three points each: 1/4, 1/2 and 3/4 of either."""
    curve = true_roc(stats.uniform(0, 1), stats.uniform(0.5, 1), n_points=3)
    assert curve.thresholds.tolist() == pytest.approx([np.inf, 1.25, 1.0, 0.75, 0.5, 0.25, -np.inf])
    assert curve.fpr.tolist() == pytest.approx([0, 0, 0, 0.25, 0.5, 0.75, 1])
    assert curve.tpr.tolist() == pytest.approx([0, 0.25, 0.5, 0.75, 1, 1, 1])
    assert len(true_roc(stats.uniform(0, 1), stats.uniform(0, 1)).fpr) == 2001 + 2


def test_points_that_repeat_are_left_out():
    curve = curve_from_rates(
        np.array([3.0, 2.0, 1.0, 0.0]), np.array([0, 0.5, 0.5, 1]), np.array([0.2, 0.2, 0.2, 1])
    )
    assert curve.thresholds.tolist() == [np.inf, 3.0, 2.0, 0.0]
    assert (curve.fpr.tolist(), curve.tpr.tolist()) == ([0, 0, 0.5, 1], [0, 0.2, 0.2, 1])
    risen = curve_from_rates(np.array([3.0, 2.0]), np.array([0.5, 0.5]), np.array([0.2, 0.4]))
    assert risen.tpr.tolist() == [0, 0.2, 0.4, 1]


@pytest.mark.parametrize(("prior", "n_positive"), [(0.99, 2), (0.01, 1), (0.5, 1), (0.4, 1)])
def test_neither_class_is_left_empty(prior, n_positive):
    labels, scores = sample_scores(stats.norm(), stats.norm(), 3, prior=prior)
    assert (int(labels.sum()), len(scores)) == (n_positive, 3)


def test_of_equal_classes_both_rates_agree_to_the_last_tail():
    recall, weight, alarms = distributions._recall_nodes(stats.norm(), stats.norm())
    assert recall.min() < 1e-18
    assert alarms == pytest.approx(recall, rel=1e-11, abs=0)
    assert weight.sum() == pytest.approx(1, abs=1e-15)


def test_panels_are_even_in_the_logit_of_either_rate():
    edges = distributions._find_rate_panels(stats.logistic(), stats.logistic(1))
    even = np.arange(-44.5, 44.75, 0.5)
    assert np.abs(edges).max() == 44.5
    for wanted in (even, even[even <= 43.5] + 1):  # the logit of recall is that of the alarms, and 1
        assert np.abs(wanted[:, None] - edges).min(axis=1).max() < 1e-9
    assert len(edges) <= 2 * len(even)
