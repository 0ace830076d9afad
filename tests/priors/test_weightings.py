from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from messages import exact, expect_error
from scipy import stats
from scipy.special import betainc
from strategies import priors, ranges

from skewanova import BetaPrior, DiscretePrior, UniformPrior, UniformSkew, correct_class_prior
from skewanova.base.checks import InputError, InputTypeError
from skewanova.priors import weightings
from skewanova.priors.evidence import SLACK
from skewanova.priors.weightings import as_deployment_prior, prior_from_skew, skew_from_prior

SHAPES = [(0.1, 0.1), (0.5, 0.5), (2, 30), (30, 0.2), (0.1, 20), (2000, 3000), (1e5, 3e5), (1, 1)]


def mean(weighting, function, breaks=()):
    at, weight = weighting.quadrature(breaks)
    return float(weight @ function(at))


@given(priors())
def test_prior_survives_the_round_trip(prior):
    skew = skew_from_prior(prior)
    assert type(skew) is float
    assert skew == pytest.approx((1 - prior) / prior, rel=1e-15)
    again = prior_from_skew(skew)
    assert type(again) is float
    assert again == pytest.approx(prior, rel=1e-14)


def test_arrays_keep_their_shape_and_a_kink_needs_its_break():
    assert skew_from_prior([[0.5, 0.2]]).tolist() == [[1.0, 4.0]]
    assert prior_from_skew([[1.0, 4.0]]).tolist() == [[0.5, 0.2]]
    for weighting, function, kink, truth in (
        (UniformPrior(0.01, 0.9), lambda p: np.abs(p - 0.3), 0.3, (0.29**2 + 0.6**2) / 2 / 0.89),
        (UniformSkew(4, 19), lambda p: np.abs(1 / p - 11), 1 / 11, (6**2 + 9**2) / 2 / 15),
    ):
        error = 1e-14 if isinstance(weighting, UniformPrior) else 1e-13
        assert mean(weighting, function, [kink]) == pytest.approx(truth, rel=error)
        assert mean(weighting, function) != pytest.approx(truth, rel=1e-6)
        assert mean(weighting, function, [0.07, kink, kink, 0.95]) == pytest.approx(truth, rel=error)


@given(ranges())
def test_uniform_prior_moments(limits):
    low, high = limits
    weighting = UniformPrior(low, high)
    assert (weighting.low, weighting.high) == limits
    assert weighting.quadrature()[1].sum() == pytest.approx(1.0, abs=1e-15)
    assert mean(weighting, lambda p: p) == pytest.approx((low + high) / 2, rel=1e-13)
    assert mean(weighting, lambda p: p**2) == pytest.approx((low**2 + low * high + high**2) / 3, rel=1e-13)


@given(ranges())
def test_uniform_skew_moments(limits):
    low, high = (1 / p - 1 for p in reversed(limits))
    weighting = UniformSkew(low, high)
    assert weighting.low == pytest.approx(limits[0], rel=1e-14)
    assert weighting.high == pytest.approx(limits[1], rel=1e-14)
    assert weighting.quadrature()[1].sum() == pytest.approx(1.0, abs=1e-15)
    # 1/prior = 1 + skew, and prior = 1/(1 + skew)
    assert mean(weighting, lambda p: 1 / p) == pytest.approx(1 + (low + high) / 2, rel=1e-13)
    with mp.workdps(40):
        low, high = mp.mpf(low), mp.mpf(high)
        truth = mp.log((1 + high) / (1 + low)) / (high - low)
    # the ends of a narrow range are known to the spacing of log skew
    assert twins.relative_error(mean(weighting, lambda p: p), truth) < 1e-13


@each(("low", "high"), [(1e-20, 1e-19), (1e-20, 1.0), (1e-3, 1e30), (1.0, 1e300)])
def test_uniform_skew_far_out(low, high):
    weighting = UniformSkew(low, high)
    at, weight = weighting.quadrature()
    assert 0 < weighting.low <= weighting.high < 1
    assert ((at > 0) & (at < 1)).all()
    assert weight.sum() == pytest.approx(1.0, abs=1e-14)
    with mp.workdps(60):
        truth = mp.log((1 + mp.mpf(high)) / (1 + mp.mpf(low))) / (mp.mpf(high) - low)
        assert twins.relative_error(weight @ at, truth) < 1e-12


def test_limits_of_skews_and_discrete_weights():
    assert (UniformSkew(4, 19).low, UniformSkew(4, 19).high) == (0.05, 0.2)
    assert UniformSkew(1e-30, 1).high == 1 - 2**-53  # the largest prior below 1
    for weighting in (UniformPrior(0.3, 0.3), *(UniformSkew(k, k) for k in (3, 7, 9, 49, 99, 999))):
        at, weight = weighting.quadrature([0.3])
        skew = getattr(weighting, "low_skew", None)
        assert (at.tolist(), weight.tolist()) == ([1 / (1 + skew) if skew else 0.3], [1.0])
    at, weight = DiscretePrior((0.1, 0.2, 0.4), (1, 2, 1)).quadrature(breaks=[0.15])
    assert (at.tolist(), weight.tolist()) == ([0.1, 0.2, 0.4], [0.25, 0.5, 0.25])
    assert DiscretePrior([0.1, 0.2]).quadrature()[1].tolist() == [0.5, 0.5]
    assert DiscretePrior(0.1).quadrature()[0].tolist() == [0.1]
    unweighted_ends = DiscretePrior((0.9, 0.2, 0.1, 0.01), (0, 1, 1, 0))
    assert (unweighted_ends.low, unweighted_ends.high) == (0.1, 0.2)
    assert "nodes" not in repr(unweighted_ends)
    given_priors = np.array([0.1, 0.2])
    weighting = DiscretePrior(given_priors)
    given_priors[:] = 0.9
    at, weight = weighting.quadrature()
    at[:], weight[:] = 0.9, 7
    assert [v.tolist() for v in weighting.quadrature()] == [[0.1, 0.2], [0.5, 0.5]]


@each(("a", "b"), SHAPES)
def test_beta_moments(a, b):
    weighting = BetaPrior(a, b)
    with mp.workdps(40):
        x, y = mp.mpf(a), mp.mpf(b)
        first, second = x / (x + y), x * (x + 1) / (x + y) / (x + y + 1)
        variance = x * y / (x + y) ** 2 / (x + y + 1)
        log_prior = mp.digamma(x) - mp.digamma(x + y)
    assert twins.relative_error(mean(weighting, lambda p: p), first) < 2e-14
    assert twins.relative_error(mean(weighting, lambda p: p**2), second) < 2e-14
    assert twins.relative_error(mean(weighting, lambda p: (p - float(first)) ** 2), variance) < 1e-12
    assert twins.relative_error(mean(weighting, np.log), log_prior) < 2e-14


@each(("a", "b", "kink"), [(2, 30, 0.05), (2000, 3000, 0.4), (0.5, 0.5, 0.3)])
def test_beta_integrates_a_kink_at_a_break(a, b, kink):
    below, mean_below = betainc([a, a + 1], b, kink)
    centre = a / (a + b)
    truth = centre - kink + 2 * (kink * below - centre * mean_below)
    assert mean(BetaPrior(a, b), lambda p: np.abs(p - kink), [kink]) == pytest.approx(truth, rel=1e-12)


@each(("a", "b"), [
    (1, 1), (1 + 1e-9, 1), (1, 1 - 1e-9), (0.999999, 2), (1.0000001, 30), (0.1, 10), (3, 1 + 1e-12),
    (2000, 3000),
])  # fmt: skip
def test_beta_limits_against_mpmath(a, b):
    """Also next to shapes of 1, where scipy's inverse fails."""
    weighting = BetaPrior(a, b)
    with mp.workdps(40):
        for limit, share in ((weighting.low, "0.001"), (weighting.high, "0.999")):
            below = mp.betainc(mp.mpf(a), mp.mpf(b), 0, mp.mpf(limit), regularized=True)
            density = mp.mpf(limit) ** (a - 1) * (1 - mp.mpf(limit)) ** (b - 1) / mp.beta(a, b)
            assert abs((below - mp.mpf(share)) / density) < 1e-13 * limit
    assert 1 - 1e-15 < BetaPrior(30, 0.2).high < 1  # the largest prior


@each(("weighting", "words"), [
    (UniformPrior(0.05, 0.20), "uniform over priors 0.05 to 0.2"), (UniformPrior(0.05, 0.05), "prior 0.05"),
    (UniformSkew(4, 19), "uniform over skews 4 to 19"),
    (BetaPrior(2, 30), "beta(2, 30) over priors, mean 0.0625"),
    (DiscretePrior((0.1, 0.2), (3, 1)), "priors (weights) 0.1 (0.75), 0.2 (0.25)"),
])  # fmt: skip
def test_weightings_are_values_with_a_description(weighting, words):
    assert weighting.describe() == words
    assert as_deployment_prior(weighting) is weighting
    again = type(weighting)(*(getattr(weighting, f) for f in weighting.__match_args__))
    assert (weighting, hash(weighting)) == (again, hash(again))


BETWEEN, ORDER = " must lie strictly between 0 and 1, but got ", "must be given as (low, high), but got "
HINT = "4; write skew 4 as prior 0.2, or 4% as 0.04"
POSITIVE, NUMBER = " must be positive and finite, but got ", " must be one number from 0.1 to 1e+14, but got "
SHAPE = " must be from 0.1 to 1e+14, but got "
EQUAL = "arguments must be equally long, but "
REFUSED = {
    f"`prior`{BETWEEN}{HINT}": lambda: skew_from_prior(4), f"`skew`{POSITIVE}0": lambda: prior_from_skew(0),
    f"a prior range {ORDER}low=0.2 > high=0.05": lambda: UniformPrior(0.2, 0.05),
    f"`deployment_prior`{BETWEEN}{HINT}": lambda: as_deployment_prior(4),
    f"`deployment_prior`{BETWEEN}(5, 20); did you mean skewanova.UniformSkew(5, 20), or (0.05, 0.2)?":
        lambda: as_deployment_prior((5, 20)),
    f"`deployment_prior`{BETWEEN}[50, 150]; did you mean skewanova.UniformSkew(50, 150)?":
        lambda: as_deployment_prior([50, 150]),
    "`low_skew` must not be above `high_skew`, but got 19 > 4": lambda: UniformSkew(19, 4),
    f"`a`{SHAPE}0.09": lambda: BetaPrior(0.09, 1),
    f"`b`{SHAPE}inf; give one prior as a number instead": lambda: BetaPrior(1, np.inf),
    f"`a`{NUMBER}None": lambda: BetaPrior(None, 1), f"`priors`{BETWEEN}1": lambda: DiscretePrior((0.1, 1.0)),
    f"{EQUAL}`priors` has 1, `weights` has 2": lambda: DiscretePrior((0.1,), (1, 2)),
    "`weights` must be finite and not negative, but row 1 has -1": lambda: DiscretePrior((0.1, 0.2), (1, -1)),
    "`weights` must not all be zero, but got [0. 0.]": lambda: DiscretePrior((0.1, 0.2), (0, 0)),
}  # fmt: skip


@each(("message", "call"), REFUSED.items())
def test_what_is_refused(message, call):
    with pytest.raises(TypeError if NUMBER in message else ValueError, match=exact(message)):
        call()


@each(("value", "limits"), [
    ((0.05, 0.2), (0.05, 0.2)), ([0.05, 0.2], (0.05, 0.2)), (np.array([0.05, 0.2]), (0.05, 0.2)),
    (0.3, (0.3, 0.3)), (np.float32(0.25), (0.25, 0.25)),
])  # fmt: skip
def test_ranges_and_single_priors_become_uniform(value, limits):
    weighting = as_deployment_prior(value)
    assert weighting == UniformPrior(*limits)
    assert type(weighting.low) is float


@each("value", [None, "0.05:0.2", ("a", "b"), (0.1, "x"), (0.1, 0.2, 0.3), {0.1: 1}, [], object])
def test_no_deployment_prior(value):
    message = (
        "`deployment_prior` must be a pair (low, high), one prior, or a deployment prior such as "
        f"skewanova.BetaPrior(2, 30), but got {value!r}"
    )
    expect_error(exact(message), as_deployment_prior, value, error=TypeError)


def test_scipys_distributions_are_those_of_the_package_within_priors():
    assert as_deployment_prior(stats.beta(2, 30)) == BetaPrior(2, 30)
    found = as_deployment_prior(stats.uniform(0.05, 0.15))
    assert (type(found), found.low, found.high) == (UniformPrior, 0.05, pytest.approx(0.2))
    with pytest.raises(ValueError, match=r"between 0 and 1, but has -inf to inf; state two quantiles"):
        as_deployment_prior(stats.norm(0.1, 0.02))
    with pytest.raises(ValueError, match=r"support between 0 and 1, but has -0\.5 to 0\.5"):
        as_deployment_prior(stats.triang(0.3, -0.5, 1.0))
    assert as_deployment_prior(stats.triang(0.3, 0.0, 1.0)).low == pytest.approx(np.sqrt(0.3e-3))
    for other in (stats.binom(3, 0.5), stats.beta):
        with pytest.raises(TypeError, match=r"continuous, with its parameters, .*DiscretePrior"):
            as_deployment_prior(other)
    expect_error(r"such as skewanova\.Beta.* but got <class", as_deployment_prior, BetaPrior, error=TypeError)


@each(("distribution", "accuracy"), [
    (stats.truncnorm(-2, 2, loc=0.1, scale=0.04), 1e-9), (stats.truncexpon(3, loc=0.01, scale=0.05), 1e-9),
    (stats.beta(2, 30, loc=0.1, scale=0.5), 1e-9), (stats.triang(0.3, 0.05, 0.2), 2e-5),
])  # fmt: skip
def test_a_frozen_distribution_averages_as_scipys_quadrature(distribution, accuracy):
    weighting = as_deployment_prior(distribution)
    for function in (np.sqrt, lambda p: 0.8 * p / (0.8 * p + 0.01 * (1 - p))):
        expected = distribution.expect(function, epsabs=1e-13, epsrel=1e-12)
        assert mean(weighting, function) == pytest.approx(expected, rel=accuracy)
        assert mean(weighting, function, breaks=[0.11, 0.9]) == pytest.approx(expected, rel=accuracy)
    assert distribution.cdf([weighting.low, weighting.high]) == pytest.approx([1e-3, 1 - 1e-3])
    assert f"mean {distribution.mean():.3g}" in weighting.describe()


def test_objects_with_a_quadrature_and_what_lies_at_a_limit():
    class Point:
        low = high = 0.25

        def quadrature(self, breaks=()):
            return np.array([0.25]), np.array([1.0])

        def describe(self):
            return "a point"

    point = Point()
    assert as_deployment_prior(point) is point
    weighting = DiscretePrior((0.1, 0.2, 0.4, 0.5), (1, 2, 1, 0))
    for limit in (0.2, 0.2 * (1 + SLACK / 2), 0.15):
        at, weight = weightings.truncate_below(weighting, limit).quadrature()
        assert (at.tolist(), weight) == ([0.2, 0.4], pytest.approx([2 / 3, 1 / 3], rel=1e-15))
        assert weightings.mass_above(weighting, limit) == 0.75
    assert weightings.mass_above(weighting, 0.2 * (1 + 3 * SLACK)) == 0.25


SHARES = st.integers(1, 99).map(lambda n: n / 100)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), min_size=1), st.integers(1, 9))
def test_it_is_bayes_where_negatives_are_repeated(cells, times):
    """Cells of (positives, negatives): adding copies of all negatives changes the prior and nothing else."""
    cells = [cell for cell in cells if sum(cell)] + [(3, 5)]
    positives, negatives = (sum(column) for column in zip(*cells, strict=True))
    learnt = [float(Fraction(p, p + n)) for p, n in cells]
    expected = [float(Fraction(p, p + times * n)) for p, n in cells]
    train_prior, prior = positives / (positives + negatives), positives / (positives + times * negatives)
    corrected = correct_class_prior(learnt, train_prior=train_prior, prior=prior)
    np.testing.assert_allclose(corrected, expected, rtol=1e-12)


def test_probabilities_by_hand_at_certainty_and_at_the_edge_of_the_doubles():
    near = np.concatenate((np.geomspace(5e-324, 1e-3, 400), 1 - np.geomspace(1e-3, 1e-16, 400), [1.0]))
    for train_prior, prior in [(0.5, 1e-6), (1e-6, 0.5), (0.5, 0.999999)]:
        corrected = correct_class_prior(near, train_prior=train_prior, prior=prior)
        assert (np.diff(corrected) >= 0).all()
        assert corrected.min() >= 0
        assert corrected[-1] == 1
    # Odds of 1 to 4 learnt at 1 to 3, used at 1 to 9: a third of them.
    found = correct_class_prior(0.2, train_prior=0.25, prior=0.1)
    assert type(found) is float
    assert found == pytest.approx(1 / 13)
    assert correct_class_prior([0.2], train_prior=0.25, prior=0.1).tolist() == [found]
    corrected = correct_class_prior([[0, 1], [0.5, 1]], train_prior=0.5, prior=0.01)
    np.testing.assert_allclose(corrected, [[0, 1], [0.01, 1]])


@each(("probability", "options", "message"), [
    ([-0.5, 2.0], {}, "`probability` must lie between 0 and 1, but got -0.5"),
    ([0.5, 1.5, -1], {}, "`probability` must lie between 0 and 1, but got 1.5"),
    ([0.1, np.nan], {}, "`probability` must lie between 0 and 1, but got nan"),
    (["0.1"], {}, "`probability` must hold real numbers, but has dtype <U3"),
    (0.1, {"prior": 0}, "`prior` must lie strictly between 0 and 1, but got 0"),
    (0.1, {"train_prior": 4}, "`train_prior` must lie strictly between 0 and 1, but got 4"),
])  # fmt: skip
def test_what_is_refused_of_a_correction(probability, options, message):
    with pytest.raises(InputTypeError if "real" in message else InputError, match=f"^{message}"):
        correct_class_prior(probability, **{"train_prior": 0.5, "prior": 0.1, **options})
