import math

import mpmath as mp
import numpy as np
import pytest
import twins
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import each
from strategies import priors, ranges

from skewanova.curves import areas, estimators, roc
from skewanova.priors.weightings import DiscretePrior, UniformPrior, UniformSkew

#: Estimators of AUPREC that are sums over recall steps; the area under ROC is one too.
AREA_ESTIMATORS = [name for name in estimators.ESTIMATORS if name in estimators.STEP_ESTIMATORS]


def curve_of(groups):
    return roc.roc_curve(*twins.labels_and_scores(groups))


@st.composite
def rates(draw):
    """(tpr, fpr) at an operating point, neither rate negative and not both 0, some of them tiny."""
    size = draw(st.sampled_from([1, 7, 10**3, 10**9]))
    t, f = draw(st.integers(0, size)), draw(st.integers(0, size))
    return (t or 1) / size, f / size


@given(rates(), priors())
def test_vertex_precision(point, prior):
    t, f = point
    with mp.workdps(40):
        truth = mp.mpf(prior) * t / (mp.mpf(prior) * t + (1 - mp.mpf(prior)) * f)
    assert twins.relative_error(estimators.vertex_precision(np.array(t), np.array(f), prior), truth) < 1e-15


@each("u", [
    *(sign * 10.0**e for sign in (1, -1) for e in range(-18, 0)),
    *(-0.05, np.nextafter(-0.05, 0), 0.05, np.nextafter(0.05, 0), -0.5, -0.999, -1 + 1e-9),
    *(10.0**e for e in range(16)),
])  # fmt: skip
def test_log_ratio(u):
    g, h = estimators.log1p_over_u(np.array([u]))
    with mp.workdps(60):
        x = mp.mpf(float(u))
        truth_g = mp.log1p(x) / x
        assert twins.relative_error(g[0], truth_g) < 1e-15
        assert twins.relative_error(h[0], (1 - truth_g) / x) < 1e-14
    assert [v.tolist() for v in estimators.log1p_over_u(np.zeros((1, 2)))] == [[[1.0, 1.0]], [[0.5, 0.5]]]


@each("limits", [(0.001, 0.9999), (1e-6, 1 - 1e-6), (0.5, 1 - 1e-9)])
@each("t", [1e-9, 1e-6, 1e-3])
def test_mean_precision_of_a_vertex_with_next_to_no_recall(t, limits):
    """Here log(1 + u) is taken of a 1 + u that has lost its digits, unless it is found another way."""
    found = estimators.prior_averaged_precision(np.array([t]), np.ones(1), UniformPrior(*limits))[0]
    truth = twins.mean_precision_uniform_prior(twins.Fraction(t), twins.Fraction(1), *limits)
    assert twins.relative_error(found, truth) < 2e-15


@given(rates(), ranges())
def test_mean_precision_over_uniform_priors_and_skews(point, limits):
    t, f = map(twins.Fraction, point)
    skews = tuple(1 / p - 1 for p in reversed(limits))
    tpr, fpr = np.array([0, float(t)]), np.array([0.5, float(f)])
    weightings = UniformPrior(*limits), UniformSkew(*skews)
    by_prior, by_skew = (estimators.prior_averaged_precision(tpr, fpr, each) for each in weightings)
    assert by_prior[0] == by_skew[0] == 0
    assert twins.relative_error(by_prior[1], twins.mean_precision_uniform_prior(t, f, *limits)) < 1e-14
    assert twins.relative_error(by_skew[1], twins.mean_precision_uniform_skew(t, f, *skews)) < 1e-14


def test_sums_over_blocks_and_rises_below_the_doubles():
    ones = np.ones(5)
    start = np.arange(10) / 10
    rises = [roc.RecallSteps(s, 0 * ones, s + 0.1, 0 * ones, 0 * ones) for s in (start[:5], start[5:])]
    assert sum(r.height.sum() for r in rises) != 1.0
    for estimator in AREA_ESTIMATORS:
        assert estimators.areas_from_steps(rises, np.array([0.1]), estimator).tolist() == [1.0]
    for fpr in (0.0, 5e-324):
        rises = roc.steps_from_vertices(np.array([0, 5e-324]), np.array([0, fpr]))
        assert estimators.segment_areas(rises, 0.2).tolist() == [5e-324 - fpr]
    tpr = np.array([1e-9, 0.1, 1 / 3, 0.7, 1.0])
    for weighting in (UniformPrior(0.05, 0.2), UniformPrior(0.3, 0.31), UniformSkew(1.0, 7.0)):
        assert (estimators.prior_averaged_precision(tpr, np.zeros(5), weighting) == 1).all()


@given(
    st.lists(st.integers(0, 50), min_size=2, max_size=2), st.lists(st.integers(0, 50), min_size=2), priors()
)
def test_segment_equals_its_integral(true, false, prior):
    (t0, t1), (f0, f1) = sorted(true), sorted(false)[:2]
    if t0 == t1:
        return
    t0, t1, f0, f1 = (twins.Fraction(k, 50) for k in (t0, t1, f0, f1))
    found = estimators.segment_areas(roc.steps_from_vertices(*np.array([[t0, t1], [f0, f1]], float)), prior)
    assert found.shape == (1,)
    # near 0 alarms the integrand turns too sharply for mpmath's quadrature: closed form there
    with mp.workdps(80):
        skew = (1 - mp.mpf(prior)) / mp.mpf(prior)
        t0, t1, f0, f1 = map(twins.exactly, (t0, t1, f0, f1))
        truth = twins._segment(t0, skew * f0, t1, skew * f1)
    assert twins.relative_error(found[0], truth) < 5e-15


@each("prior", [0.5, 0.1, 0.01])
@each(
    "ends", [(0, 0, 1, 1), (0, 1, 1, 2), (1, 1, 3, 1), (1, 2, 2, 2), (2, 0, 3, 0), (2, 1, 3, 4), (0, 0, 2, 0)]
)
def test_segment_twin_equals_the_definition(ends, prior):
    """The closed form used as a twin above, against the integral it stands for."""
    t0, f0, t1, f1 = (twins.Fraction(k, 4) for k in ends)
    truth = twins.segment_by_quadrature((t0, f0), (t1, f1), prior)
    found = estimators.segment_areas(roc.steps_from_vertices(*np.array([[t0, t1], [f0, f1]], float)), prior)
    assert twins.relative_error(found[0], truth) < 5e-15


@each("start", [5e-324, 1e-310, 1e-40, 2e-30, 1e-20])
def test_a_segment_that_begins_all_but_at_the_origin(start):
    """However near, it has the area of one from the origin, and nothing overflows."""
    near = estimators.segment_areas(roc.steps_from_vertices(np.array([0, 1.0]), np.array([start, 0.5])), 0.2)
    origin = estimators.segment_areas(roc.steps_from_vertices(np.array([0, 1.0]), np.array([0, 0.5])), 0.2)
    assert near == pytest.approx(origin, rel=1e-14 if start < 1e-18 else 1e-12)


@each("estimator", [e for e in estimators.ESTIMATORS if e != "upper_trapezoid"])
def test_vertical_segments_at_priors_below_rounding(estimator):
    """The positives' share of a vertical segment vanishes beside its false alarms, yet never divides by 0."""
    groups = [(0, 1), (1, 0), (1, 1)]
    small, tiny = estimators.area_kernel(curve_of(groups), estimator)(np.array([1e-17, 1e-200]))
    assert twins.relative_error(small, twins.auprec_twin(twins.vertices(groups), 1e-17, estimator)) < 1e-13
    assert tiny / 1e-200 == pytest.approx(small / 1e-17, rel=1e-14)  # proportional to so small a prior


@pytest.mark.parametrize("held", [1, 5, 12, 1000])
def test_how_many_precisions_are_held_at_once_changes_nothing(held, monkeypatch):
    curve = curve_of([(1, 0), (0, 1), (0, 1), (1, 0), (1, 0), (0, 3)])
    steps = roc.steps_from_vertices(curve.tpr, curve.fpr)
    at = np.linspace(0.01, 0.9, 7)
    each = [estimators.area_sums(steps, at[i : i + 1], "trapezoid")[0] for i in range(7)]
    monkeypatch.setattr(estimators, "MAX_PRECISIONS", held)
    assert estimators.area_sums(steps, at, "trapezoid").tolist() == each


def long_curve(n_rises):
    rng = np.random.default_rng(5)
    fpr, tpr = (np.append(0, np.cumsum(rng.integers(1, 9, n_rises))) for _ in range(2))
    return [roc.steps_from_vertices(tpr / tpr[-1], fpr / fpr[-1])]


@each("estimator", estimators.LINEAR)
def test_areas_by_moments_equal_those_one_by_one(estimator):
    rises, at = long_curve(2048), np.geomspace(1e-4, 0.9, 12)
    found = estimators.areas_from_steps(rises, at, estimator)
    each = [estimators.areas_from_steps(rises, at[i : i + 1], estimator)[0] for i in range(12)]
    assert found == pytest.approx(each, rel=1e-13)
    blocks = [rises[0].select(slice(0, 900)), rises[0].select(slice(900, None))]
    total, height = estimators.sum_by_moments(map(estimators.LINEAR[estimator], blocks), at)
    assert total / height == pytest.approx(each, rel=1e-13)


@pytest.mark.parametrize(
    ("n_rises", "n_priors", "moments"), [(2048, 12, True), (2047, 12, False), (2048, 11, False)]
)
def test_moments_serve_from_12_priors_on_2048_rises(n_rises, n_priors, moments, monkeypatch):
    used, sums = [], estimators.sum_by_moments
    monkeypatch.setattr(estimators, "sum_by_moments", lambda *of: used.append(True) or sums(*of))
    estimators.areas_from_steps(long_curve(n_rises), np.full(n_priors, 0.1), "trapezoid")
    assert bool(used) == moments
    estimators.areas_from_steps(long_curve(2048), np.full(2, 0.1), "exact")
    assert len(used) == moments  # exact segments have no moments


@each("estimator", AREA_ESTIMATORS)
def test_parts_over_several_priors_are_the_weighted_parts_at_each(estimator):
    curve = curve_of([(2, 1), (0, 2), (1, 1), (3, 4)])
    rises = roc.steps_from_vertices(curve.tpr, curve.fpr)
    flat = [np.array([0.2]), np.array([0.1]), np.array([0.2]), np.array([0.3]), np.array([0.1])]
    fields = ("start_tpr", "start_fpr", "tpr", "fpr", "fpr_at_first_reach")
    joined = {name: np.append(getattr(rises, name), one) for name, one in zip(fields, flat, strict=True)}
    rises = roc.RecallSteps(**joined)
    few = DiscretePrior([0.1, 0.3, 0.6], [0.5, 0.3, 0.2])
    alone = [estimators.step_terms(rises, np.array([[prior]]), estimator)[0] for prior in (0.1, 0.3, 0.6)]
    found = estimators.step_terms(rises, few, estimator)
    assert found == pytest.approx(np.array([0.5, 0.3, 0.2]) @ np.array(alone), rel=1e-13)
    assert found[-1] == 0  # a rise without height
    assert (found[:-1] > 0).all()


def test_sums_by_moments_hold_every_digit_and_perfect_scores_stay_exact():
    offset, weight, pi = 0.1, 3.0, 0.2
    moments = [np.array([weight * offset**power]) for power in range(estimators.N_MOMENTS)]
    found = estimators._sums_from_moments(np.array([0.5]), moments, np.array([[pi]]))[0]
    truth = weight * pi / (pi + (1 - pi) * 0.5 * (1 + offset))
    shrink = offset * 2 / 3  # of a term to the next: the offset times 1 - precision in the middle
    assert abs(found - truth) <= weight * shrink**estimators.N_MOMENTS + 1e-15
    u = estimators.SERIES_LIMIT * np.array([-0.999999, -0.7, -0.1, 1e-9, 0.2, 0.8, 0.999999])
    g, h = estimators.log1p_over_u(u)
    with mp.workdps(40):
        exact = [mp.log1p(value) / mp.mpf(value) for value in u]
        beside = [(1 - ratio) / mp.mpf(value) for ratio, value in zip(exact, u, strict=True)]
        errors = [abs(a - b) / b for a, b in zip([*g, *h], [*exact, *beside], strict=True)]
    assert max(errors) < 2.5e-16
    positive = np.arange(300_000) < 100_000
    grid = np.linspace(0.01, 0.99, 20)
    perfect, constant = positive + np.arange(len(positive)) * 1e-9, np.ones(len(positive))
    for estimator in AREA_ESTIMATORS:
        assert (areas.auprec_score(positive, perfect, prior=grid, area_estimator=estimator) == 1.0).all()
        chance = areas.auprec_score(positive, constant, prior=grid, area_estimator=estimator)
        assert chance.tolist() == ((1 + grid) / 2 if estimator == "upper_trapezoid" else grid).tolist()


def moment_sum(points, priors):
    parts = [estimators.Points(weight, ((tpr, fpr),)) for weight, tpr, fpr in points]
    return estimators.sum_by_moments(parts, priors)[0]


@pytest.mark.parametrize(("n_points", "rows"), [(1, [3, 3, 1]), (2, [1] * 7), (5, [1] * 7)])
def test_a_sum_by_moments_holds_as_many_precisions_at_once_as_it_may(n_points, rows, monkeypatch):
    held, one_block = [], estimators._sums_from_moments
    tpr, fpr, at = np.full(n_points, 0.5), np.geomspace(0.01, 0.9, n_points), np.linspace(0.1, 0.7, 7)
    monkeypatch.setattr(estimators, "MAX_PRECISIONS", 3)
    counted = lambda *of: held.append(len(of[-1])) or one_block(*of)  # noqa: E731
    monkeypatch.setattr(estimators, "_sums_from_moments", counted)
    truth = estimators.vertex_precision(tpr, fpr, at[:, None]).sum(axis=1)
    found = moment_sum([(np.ones(n_points), tpr, fpr)], at)
    assert (found, held) == (pytest.approx(truth, rel=1e-14), rows)


PRIORS = np.array([1e-9, 1e-3, 0.01, 0.1, 0.3, 0.5, 0.9, 0.999])


def exact_sum(weight, tpr, fpr, prior):
    return math.fsum((weight * estimators.vertex_precision(tpr, fpr, prior)).tolist())


@settings(max_examples=50)
@given(st.integers(1, 400), st.floats(0, 4), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 10]))
def test_points_of_any_rates(n, power, seed, n_ties):
    """Rates over many orders of magnitude, none with both rates 0; runs of points with equal rates."""
    rng = np.random.default_rng(seed)
    weight, tpr = rng.random(n), rng.random(n) ** (1 + 10 * power)
    fpr = rng.random(n) ** (1 + 10 * power) * (rng.random(n) < 0.9)
    tpr[fpr > 0] *= rng.random((fpr > 0).sum()) < 0.9
    tpr[(tpr == 0) & (fpr == 0)] = 1e-300
    weight, tpr, fpr = (np.repeat(v, 1 + 31 * n_ties) for v in (weight, tpr, fpr))
    halves = [(weight[part], tpr[part], fpr[part]) for part in (slice(None, n // 2), slice(n // 2, None))]
    truth = [exact_sum(weight, tpr, fpr, prior) for prior in PRIORS]
    assert moment_sum(halves, PRIORS) == pytest.approx(truth, rel=4e-15, abs=1e-300)


def test_centres_of_bins_and_rates_too_small_to_divide_by():
    ratio = np.exp(np.random.default_rng(7).uniform(-300, 300, 5000))
    code = ratio.view(np.int64) >> estimators.LOW_BITS
    low, high = ((code + k << estimators.LOW_BITS).view(np.float64) for k in (0, 1))
    centre = estimators._bin_centres(code)
    assert centre == pytest.approx((low + high) / 2, rel=1e-15)
    assert (np.abs(ratio - centre) <= centre / 128).all()  # eight terms then reach 128^-8 = 1.4e-17
    weight = np.array([1.0, 2.0, 4.0, 8.0])
    tpr, fpr = np.array([1e-160, 3e-200, 0.0, 0.5]), np.array([2e-160, 0.3, 0.7, 1e-170])
    assert moment_sum([], PRIORS).tolist() == [0.0] * len(PRIORS)
    truth = [exact_sum(weight, tpr, fpr, prior) for prior in PRIORS]
    assert moment_sum([(weight, tpr, fpr)], PRIORS) == pytest.approx(truth, rel=4e-15)
    perfect = np.array([0.25, 0.5]), np.array([0.1, 1e-200]), np.zeros(2)
    assert moment_sum([perfect], PRIORS).tolist() == [0.75] * len(PRIORS)


@each("n", [1, 31, 32, 33, 100])
def test_points_at_the_very_centre_of_a_bin_count(n):
    centre = float(estimators._bin_centres(np.array([1.7]).view(np.int64) >> estimators.LOW_BITS)[0])
    truth = 0.5 * n * PRIORS / (PRIORS + (1 - PRIORS) * centre)
    points = np.full(n, 0.5), np.full(n, 0.5), np.full(n, 0.5 * centre)
    assert moment_sum([points], PRIORS) == pytest.approx(truth, rel=1e-14)
