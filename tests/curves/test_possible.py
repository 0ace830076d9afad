"""Which areas complete curves can have: constants against dynamic programming over curves with ties."""

import numpy as np
import pytest
from loops import each
from scipy.integrate import quad
from scipy.optimize import brentq

import skewanova as sa
from skewanova.curves import ESTIMATORS, check_reported_areas, max_loss_ratio
from skewanova.curves.possible import MIN_MISSING_RECALL, _compare_pairs, _CurveSearch, _estimator_error

INTEGRALS, FIRST = ("exact", "interpolated_max"), ("interpolated_max", "upper_trapezoid")
PAIRS = [(0.5, 0.1), (0.1, 0.01), (0.9, 0.8), (0.99, 0.2)]
# Landgrebe et al. 2006, table 1
ROWS = {
    "A": ({0.5: 0.554, 0.1: 0.554, 0.01: 0.552}, 0.943),
    "B": ({0.5: 0.775, 0.1: 0.629, 0.01: 0.487}, 0.825),
    "C": ({0.5: 0.803, 0.1: 0.781, 0.01: 0.734}, 0.905),
}


@pytest.fixture(scope="module")
def rows():
    return {name: check_reported_areas(areas, auc=auc) for name, (areas, auc) in ROWS.items()}


def loss(tpr, fpr, skew):
    return np.where(fpr == 0, 0.0, skew * fpr / np.where(fpr == 0, 1, tpr + skew * fpr))


def worth(estimator, start, end, value):
    """What a rise between two vertices adds to a sum of losses, of shape (starts, ends)."""
    (true, false), (next_true, next_false) = start, end
    gain, at_end = next_true - true, value(next_true, next_false)
    if estimator == "average_precision":
        return gain * at_end
    if estimator in INTEGRALS:
        node, weight = np.polynomial.legendre.leggauss(24)
        share = [(1 + x) / 2 for x in node]
        along = [true + s * gain for s in share], [false + s * (next_false - false) for s in share]
        return gain * sum(w / 2 * value(t, f) for w, t, f in zip(weight, *along, strict=True))
    limit = 0.0 if estimator == "upper_trapezoid" else 1.0 * value(0, 1)
    at_start = np.where(true > 0, value(true, false), limit)
    if estimator == "trapezoid":
        at_start = np.where((true == 0) & (false == 0), at_end, at_start)
    return gain * (at_start + at_end) / 2


def largest_sum(estimator, value, points, levels):
    """Dynamic programming over all curves with vertices on a lattice, of any steps, so ties included.

    Every rise starts where the last one ended, or after a run of negatives: at a level not below it. The
    upper trapezoid and the largest precision start where the recall was first reached, whatever follows.
    """
    best = np.full((len(points), len(levels)), -np.inf)
    best[0, 0] = 0
    for place, recall in enumerate(points[1:], start=1):
        for before in range(place):
            reached = best[before] if estimator in FIRST else np.maximum.accumulate(best[before])
            start, end = (points[before], levels[:, None]), (recall, levels[None, :])
            added = np.where(levels[:, None] <= levels[None, :], worth(estimator, start, end, value), -np.inf)
            best[place] = np.maximum(best[place], (reached[:, None] + added).max(axis=0))
    return best[-1].max()


@each("estimator", [*INTEGRALS, "average_precision", "upper_trapezoid", "trapezoid"])
@each(("prior", "rarer"), PAIRS)
def test_constant_with_ties_against_dynamic_programming(estimator, prior, rarer):
    skews = (1 - prior) / prior, (1 - rarer) / rarer
    constant = max_loss_ratio(prior, rarer, area_estimator=estimator, ties=True)
    few = estimator in INTEGRALS
    points = np.append([0, 1e-8], np.geomspace(1e-3, 1, 7 if few else 25))
    levels = np.append(0, np.geomspace(1e-5, 1, 6))

    def excess(c):
        gap = lambda t, f: loss(t, f, skews[0]) - c * loss(t, f, skews[1])  # noqa: E731
        return largest_sum(estimator, gap, points, levels)

    assert excess(constant + 1e-9) <= 1e-7  # no curve exceeds it
    assert excess(constant * 0.85) > 1e-4  # and one comes near


@each(("estimator", "points"), [
    ("interpolated_mean", [(0.001, 0), *((0.001, rate) for rate in np.linspace(0.999, 1, 19))]),
    ("interpolated_median", [(0.0087, 0), (0.0087, 1)]),
])  # fmt: skip
def test_means_of_vertices_exceed_the_constant_of_distinct_scores(estimator, points):
    pair, (true, false) = (0.99, 0.9), np.array([(0, 0), *points, (1, 1)]).T
    losses = 1 - sa.auprec(sa.RocCurve.from_rates(false, true), np.array(pair), area_estimator=estimator)
    distinct = max_loss_ratio(*pair, area_estimator=estimator)
    largest = max_loss_ratio(*pair, area_estimator=estimator, ties=True)
    assert distinct * 1.02 < losses[0] / losses[1] < largest == 1


def adversary(rng, n_steps):
    """A curve of random ties with most of its negatives early."""
    steps = rng.integers(0, 4, size=(n_steps, 2)) * (rng.random((n_steps, 2)) < 0.5)
    true, false = np.cumsum([(0, 0), (0, rng.integers(0, 40)), *steps, (1, 1)], axis=0).T
    return sa.RocCurve.from_rates(false / false[-1], true / true[-1])


@each("estimator", [name for name in ESTIMATORS if name != "convex_hull"])
def test_all_negatives_first_meet_the_constant_in_the_limit(estimator):
    roc = sa.roc_curve(np.repeat([0, 1], [50, 4000]), -np.arange(4050))
    losses = 1 - sa.auprec(roc, [0.5, 0.1], area_estimator=estimator)
    expected = max_loss_ratio(0.5, 0.1, area_estimator=estimator)
    assert losses[0] / losses[1] == pytest.approx(expected, abs=1e-3)


def test_constant_of_the_published_table_and_landgrebes_rows(rows):
    assert max_loss_ratio(0.5, 0.1) == pytest.approx(np.log(2) / (9 * np.log(10 / 9)), rel=1e-14)
    assert max_loss_ratio(0.5, 0.1, area_estimator="convex_hull") == pytest.approx(5 / 9)
    assert all(max_loss_ratio(0.3, 0.3, area_estimator=e, ties=True) == 1 for e in ESTIMATORS)
    diagonal = 1 - sa.auprec(sa.roc_curve([0, 1], [1, 1]), [0.5, 0.1], area_estimator="convex_hull")
    assert diagonal[0] / diagonal[1] == pytest.approx(5 / 9)
    assert not any(row.possible for row in rows.values())
    assert [row.missing_recall for row in rows.values()] == pytest.approx([0.435, 0.021, 0.136], abs=1e-3)
    lowest = rows["A"].find_range("AUPREC(0.5)").low_given_auc
    assert lowest == pytest.approx(0.8324, abs=2e-4)  # at .943 + .0005
    assert [pair.holds for pair in rows["A"].pairs] == [False, False, False]
    assert [pair.holds for pair in rows["B"].pairs] == [True, True, True]
    assert not rows["C"].pairs[0].holds
    assert rows["C"].find_range("AUPREC(0.5)").low == pytest.approx(0.877, abs=1e-3)
    assert rows["B"].find_range("AUPREC(0.5)").low == pytest.approx(0.788, abs=1e-3)


@each("pair", [(0.9, 0.8), (0.99, 0.2), (0.999, 0.99)])
def test_constant_of_steps_by_the_best_of_here_and_the_end(pair):
    """The worth of a recall falls and rises again: the best behind it is its own or that of recall 1."""
    k, rare = ((1 - prior) / prior for prior in pair)

    def excess(c):
        def worth(t):
            return k / (t + k) - c * rare / (t + rare)

        return quad(lambda t: max(worth(t), worth(1)), 0, 1, limit=200, epsabs=1e-11)[0]

    found = max_loss_ratio(*pair, area_estimator="average_precision", ties=True)
    assert found == pytest.approx(brentq(excess, 0.01, 1), abs=1e-6)
    assert found > max_loss_ratio(*pair)
    for low in ((0.5, 0.1), (0.1, 0.01)):  # there the constant of distinct scores holds
        found = max_loss_ratio(*low, area_estimator="average_precision", ties=True)
        assert found == pytest.approx(max_loss_ratio(*low), rel=1e-8)


def lowest_auprec(auc, prior):
    """Twin in closed form: the smallest exact area at a prior of any curve with this AUC.

    Where F rises, k T / (T + k F)^2 is the same everywhere, which gives k F = c sqrt(T) - T. That would fall
    beyond T = c^2 / 4; so from some knee on, k F stays at a level g, and the mean of k T / (T + k F)^2 from
    there on equals its value at the knee.
    """

    def flat_after_knee(g):
        def excess(t):
            mean = (np.log((1 + g) / (t + g)) + g / (1 + g) - g / (t + g)) / (1 - t)
            return t / (t + g) ** 2 - mean

        knee = brentq(excess, 0, g, xtol=1e-30)
        c = (knee + g) / np.sqrt(knee)
        area = 2 / 3 * c * knee**1.5 - knee**2 / 2 + g * (1 - knee)
        return area, 2 / 3 * knee**1.5 / c + (1 - knee) - g * np.log((1 + g) / (knee + g))

    area = (1 - prior) / prior * (1 - auc)
    if area >= flat_after_knee(0.999)[0]:
        return 2 / (4.5 * (area + 0.5))
    return flat_after_knee(brentq(lambda g: flat_after_knee(g)[0] - area, 1e-9, 0.999, xtol=1e-15))[1]


@each(("auc", "prior"), [(0.943, 0.5), (0.943, 0.01), (0.6, 0.3)])
def test_lowest_area_given_the_auc_equals_the_closed_form(auc, prior):
    twin = lowest_auprec(auc, prior)
    area = check_reported_areas({prior: twin}, auc=auc, rounding=0).find_range(f"AUPREC({prior:g})")
    assert [area.low, area.low_given_auc] == pytest.approx([twin, twin], abs=2e-4)
    assert check_reported_areas({prior: twin + 2e-4}, auc=auc, rounding=0).possible
    assert not check_reported_areas({prior: twin - 2e-3}, auc=auc, rounding=0).possible


def test_curves_are_possible_and_recall_cut_out_of_one_is_missing():
    rng = np.random.default_rng(1)
    priors = np.array([0.5, 0.1, 0.01])
    areas, aucs = [], []
    for _ in range(2):
        roc = adversary(rng, 20)
        areas.append(sa.auprec(roc, priors, area_estimator="exact"))
        aucs.append(sa.auc(roc))
        assert check_reported_areas(dict(zip(priors, areas[-1], strict=True)), auc=aucs[-1]).possible
    found = check_reported_areas(dict(zip(priors, np.mean(areas, axis=0), strict=True)), auc=np.mean(aucs))
    assert found.possible
    assert (found.missing_recall, str(found)) == (0, "possible on complete curves")
    auc = found.find_range("AUC")
    assert auc.low - 1e-6 <= auc.value <= auc.high + 1e-6
    areas, missing = np.array([0.97, 0.95]), 0.25
    found = check_reported_areas(dict(zip((0.5, 0.1), areas - missing, strict=True)))
    assert not found.possible
    assert 0 < found.missing_recall <= missing
    assert f"at least {found.missing_recall:.3f} is missing" in str(found)


def test_what_the_constant_a_rising_area_and_the_diagonal_leave_possible():
    auc, skews = 0.7, (1, 9)  # a share of 0.3 with all negatives first, the rest perfect
    common, rare = (1 - (1 - auc) * skew * np.log1p(1 / skew) for skew in skews)
    assert check_reported_areas({0.5: common, 0.1: rare}, auc=auc, rounding=1e-4).possible
    assert not check_reported_areas({0.5: common - 3e-3, 0.1: rare}, auc=auc, rounding=1e-4).possible
    found = check_reported_areas({0.5: 0.4, 0.1: 0.6})
    assert np.isnan(found.missing_recall)
    assert str(found) == "impossible, even with recall missing"
    assert not found.possible
    below = {0.5: 0.40, 0.1: 0.07}
    assert check_reported_areas(below).possible
    assert not check_reported_areas(below, area_estimator="convex_hull").possible
    assert check_reported_areas({0.5: 0.5, 0.1: 0.1}, area_estimator="convex_hull").possible
    assert [check_reported_areas(areas).possible for areas, _ in ROWS.values()] == [False, True, False]


@each("n", [1, 3, 30, 300])
def test_estimators_stay_near_the_exact_area_of_distinct_scores(n):
    rng = np.random.default_rng(n)
    for _ in range(20):
        n_negative = int(rng.integers(1, 400))
        score = rng.permutation(n + n_negative)
        roc = sa.roc_curve(np.repeat([1, 0], [n, n_negative]), score)
        exact = sa.auprec(roc, np.array([0.5, 0.1, 0.001]), area_estimator="exact")
        for estimator in set(ESTIMATORS) - {"convex_hull"}:
            off = sa.auprec(roc, np.array([0.5, 0.1, 0.001]), area_estimator=estimator) - exact
            assert np.abs(off).max() <= _estimator_error(n)


def test_pairs_by_hand_and_room_for_few_positives():
    # the constant of hulls is 0.5 / 0.9, so the rarer loss 0.36 allows 0.2, and the digits 0.0005 (1 + 5 / 9)
    allowed = 0.2 + 0.0005 * 14 / 9
    for loss_, holds in ((0.2, True), (allowed - 1e-9, True), (allowed + 1e-9, False)):
        (pair,) = _compare_pairs({0.5: 1 - loss_, 0.1: 0.64}, 0.0005, "convex_hull")
        assert (pair[:2], pair[2:5], pair.holds) == ((0.5, 0.1), pytest.approx((5 / 9, loss_, 0.2)), holds)
    assert _compare_pairs({0.5: 1.0, 0.1: 1.0}, 0.0, "exact")[0].holds  # neither loses anything
    assert (_estimator_error(1), _estimator_error(55)) == (1.5, pytest.approx(0.045488, abs=1e-6))
    areas, auc = ROWS["B"]
    assert check_reported_areas(areas, auc=auc, n_positive=30).possible
    assert not check_reported_areas(areas, auc=auc, n_positive=100_000).possible


@pytest.mark.parametrize(
    ("least", "told"),
    [(MIN_MISSING_RECALL / 2, 0.0), (MIN_MISSING_RECALL, 0.0), (0.0006, 0.0006), (np.nan, np.nan)],
)
def test_recall_missing_within_the_error_of_the_grid_is_none(least, told, monkeypatch):
    monkeypatch.setattr(_CurveSearch, "solve", lambda *_: least)
    found = check_reported_areas({0.5: 0.8})
    assert (found.missing_recall, found.possible) == (pytest.approx(told, abs=0, nan_ok=True), told == 0)


HALF = {0.5: 0.5}


@each(("call", "message"), [
    (lambda: check_reported_areas([0.5]), "`auprec` must map priors to areas"),
    (lambda: check_reported_areas({}), "is empty"),
    (lambda: check_reported_areas({0.5: 1.2}), r"`auprec\[0.5\]` must lie between 0 and 1, but got 1.2"),
    (lambda: check_reported_areas({4.0: 0.5}), "write skew 4"),
    (lambda: check_reported_areas(HALF, auc=-1), "`auc` must lie between 0 and 1"),
    (lambda: check_reported_areas(HALF, n_positive=0), "`n_positive`"),
    (lambda: check_reported_areas(HALF, rounding=0.6), "`rounding` must be half a unit"),
    (lambda: check_reported_areas(HALF, area_estimator="exakt"), "did you mean 'exact'"),
    (lambda: check_reported_areas(HALF).find_range("AUC"), r"must be one of AUPREC\(0.5\); but got 'AUC'"),
    (lambda: max_loss_ratio(0.1, 0.5), "`rarer_prior` must not be above `prior`, but got"),
])  # fmt: skip
def test_bad_input_is_named(call, message):
    with pytest.raises(TypeError if "must map" in message else ValueError, match=message):
        call()
