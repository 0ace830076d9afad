"""Choice of a vertex and limits of its measures: on a curve small enough to read, at every boundary."""

import numpy as np
import pytest
from loops import each
from scipy import stats

from skewanova import roc_curve
from skewanova.base.rounding import TIE
from skewanova.decision import operating
from skewanova.decision.operating import Estimate

# Thresholds  .9   .8   .7   .6   .5   .4
# Label        +    -    +    +    -    -      so tpr 1/3 1/3 2/3 1 1 1, fpr 0 1/3 1/3 1/3 2/3 1
ROC = roc_curve([1, 0, 1, 1, 0, 0], [0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
RECALL, FPR = Estimate(0.8, 0.7, 0.95), Estimate(0.1, 0.05, 0.3)


def rates(vertex):
    return (float(ROC.tpr[vertex]), float(ROC.fpr[vertex]))


@each(
    ("recall", "expected"),
    [(0.0, 0.0), (1 / 3, 1 / 3), (1 / 3 + 0.5 * TIE, 1 / 3), (1 / 3 + 2 * TIE, 2 / 3), (1.0, 1.0)],
)
def test_reaching_recall_takes_the_highest_threshold(recall, expected):
    vertex = operating.vertex_at_recall(ROC, recall)
    assert ROC.tpr[vertex] == pytest.approx(expected)
    assert vertex == 0 or ROC.tpr[vertex - 1] < ROC.tpr[vertex]


@each(
    ("precision", "expected"),
    # At prior 1/2 precision is 1, 1/2, 2/3, 3/4, 3/5, 1/2 at the six thresholds.
    [(1.0, (1 / 3, 0)), (0.75 + 4 * TIE, (1 / 3, 0)), (0.75 + TIE / 2, (1, 1 / 3)), (0.5, (1, 1))],
)
def test_reaching_precision_takes_the_lowest_threshold(precision, expected):
    assert rates(operating.vertex_at_precision(ROC, precision, 0.5)) == pytest.approx(expected)


@each(
    ("flagged", "expected"),
    # At prior 1/4 the thresholds flag 1/12, 1/3, 5/12, 1/2, 3/4, 1.
    [(0.08, (0, 0)), (0.5 - 0.5 * TIE, (1, 1 / 3)), (0.5 - 2 * TIE, (2 / 3, 1 / 3)), (1.0, (1, 1))],
)
def test_within_budget_takes_the_lowest_threshold(flagged, expected):
    assert rates(operating.vertex_at_alert_rate(ROC, flagged, 0.25)) == pytest.approx(expected)


def test_of_equal_costs_the_one_that_flags_least():
    # At prior 1/2 and equal costs, the origin and no threshold cost 1/2; here every vertex does.
    chance = roc_curve([1, 0, 1, 0], [2, 2, 1, 1])
    assert operating.vertex_at_min_cost(chance, (1.0, 1.0), 0.5) == 0
    assert operating.vertex_at_min_cost(chance, (1.0, 1.0), 0.5 + 0.4 * TIE) == 0  # but for rounding
    assert operating.vertex_at_min_cost(chance, (1.0, 1.0), 0.5 + 100 * TIE) == 2
    assert (
        operating.vertex_at_min_cost(chance, (1e6, 1e6), 0.5 + 0.4 * TIE) == 0
    )  # which grows with the costs


def test_limits_of_a_sum_move_both_shares_by_their_own_error():
    found = operating.weighted_sum(RECALL, FPR, (2.0, 3.0))
    below = np.sqrt((2 * 0.1) ** 2 + (3 * 0.05) ** 2)
    above = np.sqrt((2 * 0.15) ** 2 + (3 * 0.2) ** 2)
    assert found == pytest.approx((1.9, 1.9 - below, 1.9 + above))


def reach(over, under, quotient, *, low):
    """Limit of over - q under: where it is 0, q is a limit of the quotient (Donner and Zou 2012, eq. 4)."""
    value = over.value - quotient * under.value
    if low:
        return value - np.hypot(over.value - over.low, quotient * (under.high - under.value))
    return value + np.hypot(over.high - over.value, quotient * (under.value - under.low))


@pytest.mark.parametrize("under", [FPR, Estimate(0.5, 0.4, 0.9), Estimate(0.02, 0.001, 0.2)])
def test_limits_of_a_quotient_are_where_the_limit_of_a_difference_is_0(under):
    found = operating.proportion_ratio(RECALL, under)
    assert found.value == pytest.approx(0.8 / under.value)
    assert found.low < found.value < found.high
    assert reach(RECALL, under, found.low, low=True) == pytest.approx(0, abs=1e-12)
    assert reach(RECALL, under, found.high, low=False) == pytest.approx(0, abs=1e-9)


def test_quotients_at_the_boundary():
    nothing = Estimate(0.0, 0.0, 0.2)
    assert operating.proportion_ratio(RECALL, nothing)[0::2] == (np.inf, np.inf)
    assert operating.proportion_ratio(RECALL, nothing).low == pytest.approx(
        np.sqrt(RECALL.low * (2 * RECALL.value - RECALL.low)) / 0.2
    )
    assert operating.proportion_ratio(nothing, RECALL)[:2] == (0.0, 0.0)
    high = operating.proportion_ratio(nothing, RECALL).high
    assert reach(nothing, RECALL, high, low=False) == pytest.approx(0, abs=1e-12)
    neither = operating.proportion_ratio(nothing, nothing)
    assert np.isnan(neither.value)
    assert neither[1:] == (0.0, np.inf)


def test_a_share_known_exactly_gives_the_limits_of_the_other():
    exact = Estimate(0.5, 0.5, 0.5)
    assert operating.proportion_ratio(RECALL, exact) == pytest.approx((1.6, 1.4, 1.9))
    assert operating.proportion_ratio(exact, RECALL) == pytest.approx((0.625, 0.5 / 0.95, 0.5 / 0.7))


def test_precision_and_f_have_limits_that_follow_their_quotient():
    found = operating.compute_measures(RECALL, FPR, 0.2, None)
    quotient = np.array(operating.proportion_ratio(RECALL, FPR))
    assert found["precision"] == pytest.approx(tuple(quotient / (quotient + 4)))
    assert np.isnan(found["expected_cost"]).all()
    cost = operating.compute_measures(RECALL, FPR, 0.2, (3.0, 7.0))["expected_cost"]
    assert cost == operating.weighted_sum(RECALL.complement(), FPR, (0.2 * 7, 0.8 * 3))
    rest = Estimate(1 + 4 * 0.1, 1 + 4 * 0.05, 1 + 4 * 0.3)
    quotient = np.array(operating.proportion_ratio(RECALL, rest))
    assert found["f_measure"] == pytest.approx(tuple(2 * quotient / (1 + quotient)))
    right, wrong = FPR.complement(), RECALL.complement()
    quotient = np.array(operating.proportion_ratio(right, wrong))
    assert found["npv"] == pytest.approx(tuple(quotient / (quotient + 0.25)))


@pytest.mark.parametrize("ratio", [0.0, 0.25])
def test_the_mean_over_folds_has_its_corrected_t(ratio):
    values = np.array([0.5, 0.7, 0.65, 0.8])
    plain = stats.ttest_1samp(values, 0).confidence_interval(0.9)
    wide = np.sqrt(1 + 4 * ratio)
    mean = values.mean()
    expected = (mean, mean - wide * (mean - plain.low), mean + wide * (plain.high - mean))
    assert operating.fold_mean(values, 0.9, ratio=ratio) == pytest.approx(expected)
    assert isinstance(operating.fold_mean(values, 0.9, ratio=ratio), Estimate)
    for power in (-900, 1022):  # whose squares are no numbers
        large = operating.fold_mean(np.ldexp(values, power), 0.9, ratio=ratio)
        assert np.ldexp(large, -power) == pytest.approx(expected)
