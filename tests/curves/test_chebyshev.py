"""Mean curves: series against the functions they were sampled from, signs and leads at known places."""

import numpy as np
import pytest
from loops import each
from numpy.polynomial import Chebyshev
from scipy.special import expit, logit

from skewanova.base.rounding import TIE
from skewanova.curves import chebyshev
from skewanova.curves.chebyshev import DEGREE, PANEL_WIDTH, MeanCurves, panel_priors, sign_intervals

LOW, HIGH = 0.001, 0.6  # 7.3 apart in log-odds: two panels


def three(priors):
    """A wave, a rising line and a level in the log-odds."""
    x = logit(np.asarray(priors))
    return np.array([0.5 + 0.1 * np.sin(x), 0.5 + 0.02 * (x + 2), np.full(x.shape, 0.45)])


@pytest.fixture(scope="module")
def curves():
    return MeanCurves.fit(three, LOW, HIGH)


def between(low, high):
    """Priors of the fine grid between two priors, and these."""
    return np.array([low, *FINE[(low < FINE) & (high > FINE)], high])


NODES = np.sort(np.cos(np.pi * (np.arange(DEGREE + 1) + 0.5) / (DEGREE + 1)))
FINE = expit(np.linspace(logit(LOW), logit(HIGH), 20_001))


@each(("width", "count"), [(PANEL_WIDTH, 1), (PANEL_WIDTH + 0.01, 2), (3 * PANEL_WIDTH - 0.01, 3)])
def test_panels_are_as_few_as_their_width_allows(width, count):
    low = 0.01
    edges, priors = panel_priors(low, float(expit(logit(low) + width)))
    assert (len(edges), np.diff(edges)) == (count + 1, pytest.approx(np.full(count, width / count)))
    assert edges[0] == pytest.approx(logit(low))
    x = logit(priors).reshape(count, -1)
    assert x.shape == (count, DEGREE + 1)
    for k in range(count):
        assert (x[k] - edges[k]) / (width / count) * 2 - 1 == pytest.approx(NODES, abs=1e-9)


def test_one_prior_has_a_panel_and_signs_change_at_zeros(monkeypatch):
    edges, priors = panel_priors(0.2, 0.2)
    assert (edges, len(priors)) == (pytest.approx(logit(0.2) + np.array([-0.5, 0.5])), DEGREE + 1)
    found = meeting(RISING, LEVEL).regions()
    assert [model for model, _, _ in found] == [1, 0]
    assert found[0][2] == found[1][1] == 0.5
    curves = meeting(ROUND, [piece - 1 for piece in ROUND])
    assert curves.regions() == [(0, curves.low, curves.high)]
    assert meeting(ROUND, LEVEL).smallest(0, 0.3, 0.6) == (pytest.approx(0.0, abs=1e-15), 0.5)
    curves = meeting([1 - piece for piece in ROUND], LEVEL)
    assert curves.largest_gap(1, (0, 0.3, 0.7), 0.3, 0.7) == pytest.approx(1.0, rel=1e-12)
    found = stretches(np.sin, [-4.0, -0.5, 3.0, 6.0])
    assert [sign for sign, _, _ in found] == [1, -1, 1, -1]
    assert [low for _, low, _ in found] == pytest.approx([-4.0, -np.pi, 0.0, np.pi])
    assert [high for _, _, high in found] == pytest.approx([-np.pi, 0.0, np.pi, 6.0])
    # A parabola that dips to 0.02 at the end of a part, and one through 0, either sign; and rounding.
    edges, dip = np.array([-1.0, 1.0, 3.0]), lambda x: (x - 0.5) ** 2
    x = (np.array([0.0, 2.0])[:, None] + NODES).ravel()
    rows = [dip(x) + 0.02, -dip(x) - 0.02, dip(x) - 0.01, 0.01 - dip(x), x - 1.5, 1.5 - x, x + 1.1, -x - 1.1]
    levels = [0.5 * TIE, 4 * TIE, -0.5 * TIE, -4 * TIE]
    found = chebyshev.certain_signs(edges, np.array([*rows, *(np.full(len(x), level) for level in levels)]))
    assert found.tolist() == [1, -1, 0, 0, 0, 0, 1, -1, 0, 1, 0, -1]
    found = stretches(lambda x: x**2, [-1.0, 1.0])
    assert {sign for sign, _, _ in found} <= {0, 1}
    assert found[0][0] == found[-1][0] == 1
    assert sign_intervals(np.array([0.0, 1.0]), [Chebyshev([0.5, 0.5], domain=[0, 1])]) == [(1, 0.0, 1.0)]
    piece = Chebyshev([1.1, -1.7, 0.5], domain=[-1, 1])  # (x - 0.5) (x - 1.2)
    assert [s for s, _, _ in sign_intervals(np.array([-1.0, 1.0]), [piece])] == [1, -1]
    assert sign_intervals(EDGES, RISING) == [(-1, -1.0, 0.0), (1, 0.0, 1.0)]
    edges = np.array([-1.0, 1.0])
    barely = [Chebyshev([1.0, 1.0 + 1e-6], domain=edges)]  # a root just inside the left end
    found = sign_intervals(edges, barely)
    assert ([sign for sign, _, _ in found], found[0][2]) == ([-1, 1], pytest.approx(-1 / (1 + 1e-6)))
    assert [s for s, _, _ in sign_intervals(edges, [Chebyshev([-1.0, -1.0 - 1e-6], domain=edges)])] == [1, -1]
    monkeypatch.setattr(Chebyshev, "roots", None)
    assert sign_intervals(edges, [Chebyshev([1.0, 0.5, 0.2], domain=edges)]) == [(1, -1.0, 1.0)]


def test_series_and_leads_are_those_on_a_fine_grid(curves):
    assert curves.evaluate(FINE) == pytest.approx(three(FINE), abs=1e-13)
    assert curves.evaluate(0.1).shape == (3, 1)
    assert (curves.low, curves.high, len(curves.panels)) == (LOW, HIGH, 2)
    middle = expit(curves.edges[1])
    assert curves.evaluate(middle) == pytest.approx(three([middle]), abs=1e-13)
    for prior in (LOW, 0.01, 0.2, float(expit(curves.edges[1])), HIGH):
        x = logit(prior)
        assert curves.slope(prior) == pytest.approx([0.1 * np.cos(x), 0.02, 0.0], abs=1e-11)
    leader = three(FINE).argmax(axis=0)
    changes = np.flatnonzero(np.diff(leader))
    found = curves.regions()
    assert [model for model, _, _ in found] == [leader[0], *leader[changes + 1]]
    assert len(found) >= 3
    assert [high for _, _, high in found[:-1]] == pytest.approx(FINE[changes], rel=1e-3)
    assert [low for _, low, _ in found] == [LOW, *[high for _, _, high in found[:-1]]]
    assert found[-1][2] == HIGH


@each(("gap", "leader"), [(0.5, 0), (3.0, 1)])
def test_a_lead_within_rounding_is_that_of_the_first(gap, leader):
    curves = MeanCurves.fit(lambda p: np.array([0 * p, 0 * p + gap * TIE]), 0.1, 0.2)
    assert (curves.leader(0.15), [model for model, _, _ in curves.regions()]) == (leader, [leader])


@each("model", [0, 1, 2])
def test_the_smallest_value_is_that_on_a_fine_grid(curves, model):
    for low, high in ((LOW, HIGH), (0.01, 0.3), (0.2, 0.5)):
        inside = between(low, high)
        value, prior = curves.smallest(model, low, high)
        assert value == pytest.approx(three(inside)[model].min(), abs=1e-8)
        assert low <= prior <= high
        assert three([prior])[model] == pytest.approx(value, abs=1e-12)


def test_the_largest_gap_is_that_on_a_fine_grid(curves):
    for region in curves.regions():
        for model in range(3):
            for low, high in ((LOW, HIGH), (0.005, 0.3)):
                first, last = max(region[1], low), min(region[2], high)
                found = curves.largest_gap(model, region, low, high)
                if first > last:
                    assert found == 0
                    continue
                values = three(between(first, last))
                assert found == pytest.approx((values[region[0]] - values[model]).max(), abs=1e-8)
    assert curves.largest_gap(2, (0, 0.3, 0.4), 0.001, 0.2) == 0.0
    at_the_limit = curves.largest_gap(2, (0, 0.3, 0.4), 0.001, 0.3)
    assert at_the_limit == pytest.approx(float(three([0.3])[0, 0] - 0.45), abs=1e-12)


def stretches(function, edges):
    edges = np.asarray(edges, dtype=float)
    middle, half = (edges[1:] + edges[:-1]) / 2, np.diff(edges) / 2
    x = (middle[:, None] + half[:, None] * NODES).ravel()
    return sign_intervals(edges, [piece for (piece,) in chebyshev.panel_series(edges, function(x)[None])])


@each(("size", "sign"), [(1.0, 0), (4.0, 1), (-0.5, 0), (-4.0, -1)])
def test_what_is_rounding_has_no_sign(size, sign):
    pieces = [Chebyshev([size * TIE], domain=[-1, 1])]
    assert sign_intervals(np.array([-1.0, 1.0]), pieces) == [(sign, -1.0, 1.0)]


EDGES = np.array([-1.0, 0.0, 1.0])
RISING = [Chebyshev([-0.5, 0.5], domain=[-1, 0]), Chebyshev([0.5, 0.5], domain=[0, 1])]  # x
ROUND = [Chebyshev([0.375, k * 0.5, 0.125], domain=d) for k, d in ((-1, [-1, 0]), (1, [0, 1]))]  # x^2
LEVEL = [Chebyshev([0.0], domain=[-1, 0]), Chebyshev([0.0], domain=[0, 1])]


def meeting(*functions):
    panels = tuple(zip(*functions, strict=True))
    return MeanCurves(float(expit(-1)), float(expit(1)), EDGES, panels)
