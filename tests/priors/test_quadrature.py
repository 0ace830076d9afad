import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from scipy import stats
from scipy.special import expit
from strategies import ranges

from skewanova.priors import quadrature as priors_quadrature
from skewanova.priors.quadrature import LARGEST_PRIOR, SMALLEST_PRIOR, beta_nodes, gauss_nodes, log_skew_nodes


def test_log_skew_nodes_panels_and_rules_that_nobody_may_change():
    assert priors_quadrature.log_skew(0.5) == 0.0
    assert priors_quadrature.log_skew(0.2) == pytest.approx(np.log(4), rel=1e-15)
    assert (priors_quadrature.log_skew(0.0), priors_quadrature.log_skew(1.0)) == (np.inf, -np.inf)
    at = priors_quadrature.prior_from_log_odds(np.array([-1e4, -800.0, 0.0, 37.0, 40.0, 1e4]))
    assert at.tolist() == [SMALLEST_PRIOR, SMALLEST_PRIOR, 0.5, *[LARGEST_PRIOR] * 3]
    assert 0 < SMALLEST_PRIOR < LARGEST_PRIOR < 1
    edges = priors_quadrature._panel_edges(0.0, 9.0, width=4.0, cuts=[5.0, 5.0, 9.0, 0.0])
    assert edges.tolist() == [0.0, 2.5, 5.0, 9.0]
    assert priors_quadrature._panel_edges(0.0, 8.0, width=4.0, cuts=[]).tolist() == [0.0, 4.0, 8.0]
    assert priors_quadrature._panel_edges(0.0, 8.1, width=4.0, cuts=[]) == pytest.approx([0, 2.7, 5.4, 8.1])
    node, weight = gauss_nodes("legendre", 3)
    assert gauss_nodes("legendre", 3)[0] is node
    for held in (node, weight):
        with pytest.raises(ValueError, match="read-only"):
            held[0] = 0.0


@each(("low", "high"), [(-0.5, 0.5), (1.0, 3.0), (-7.0, 14.0), (-30.0, 30.0), (0.0, 690.0)])
def test_log_skew_rule_integrates_what_is_analytic_within_pi(low, high):
    nodes, step = log_skew_nodes(low, high, [])
    assert ((nodes > low) & (nodes < high)).all()
    assert (step > 0).all()
    assert step.sum() == pytest.approx(high - low, rel=1e-14)
    assert step @ nodes == pytest.approx((high**2 - low**2) / 2, rel=1e-14, abs=1e-13)
    # the logistic function, its poles at distance pi as those of precision: integral of log(1 + e^v)
    truth = np.logaddexp(0, high) - np.logaddexp(0, low)
    assert step @ expit(nodes) == pytest.approx(truth, rel=1e-14)
    if high < 20:  # weights of a uniform skew, almost all at one end of a wide range
        assert step @ np.exp(nodes) == pytest.approx(np.exp(high) - np.exp(low), rel=2e-14)


@given(ranges(), st.lists(st.integers(1, 999).map(lambda k: k / 1000), max_size=4))
def test_breaks_are_panel_edges(limits, breaks):
    low, high = (priors_quadrature.log_skew(p) for p in reversed(limits))
    nodes, step = log_skew_nodes(low, high, breaks)
    assert step.sum() == pytest.approx(high - low, rel=1e-13)
    for cut in map(priors_quadrature.log_skew, breaks):
        if low < cut < high:
            kink = ((cut - low) ** 2 + (high - cut) ** 2) / 2
            assert step @ np.abs(nodes - cut) == pytest.approx(kink, rel=1e-12)


@each(("width", "count"), [(0.5, 1), (3.0, 1), (4.0, 1), (4.1, 2), (9.0, 3)])
def test_nodes_are_two_more_than_the_poles_at_distance_pi_ask_for(width, count):
    nodes, _ = log_skew_nodes(-1.0, width - 1.0, [])
    each, rest = divmod(len(nodes), count)
    assert rest == 0
    # Error of n nodes: rho^(-2 n), with rho the sum of the half-axes of the ellipse through the nearest pole.
    height = np.pi / (width / count / 2)
    rho = height + np.sqrt(1 + height**2)
    assert rho ** (-2.0 * (each - 2)) <= 1e-18 < rho ** (-2.0 * (each - 3))


@pytest.mark.parametrize(("a", "b"), [(0.1, 0.1), (2, 30), (2000, 3000), (0.5, 8), (0.1, 1e6)])
def test_beta_panels_hold_all_but_1e18_of_the_weight(a, b):
    nodes, _ = beta_nodes(a, b, [])
    law = stats.beta(a, b)
    assert law.logcdf(nodes.min()) < np.log(1e-17)
    assert nodes.max() == LARGEST_PRIOR or law.logsf(nodes.max()) < np.log(1e-17)
