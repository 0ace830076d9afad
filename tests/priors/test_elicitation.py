"""Beta priors from stated quantiles: recovered, refused, and read from the command line."""

import re

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from loops import each
from messages import exact, expect_error
from scipy import stats
from scipy.special import betainc, expit

import skewanova as sa
from skewanova.priors import elicitation
from skewanova.priors.elicitation import beta_quantile, beta_quantiles

shares = st.tuples(st.integers(1, 998), st.integers(1, 998)).filter(lambda p: p[0] != p[1])
tenths = st.integers(-9, 40)


@given(shares, tenths, tenths)
def test_quantiles_of_any_beta_prior_are_recovered(share, log_a, log_b):
    p = np.sort(share) / 999
    a, b = 10 ** (log_a / 10), 10 ** (log_b / 10)
    q = beta_quantiles(a, b, p)
    assume(q[0] > 1e-12 and q[1] < 1 - 1e-6 and q[1] > q[0] * (1 + 1e-6))
    found = sa.BetaPrior.from_quantiles(dict(zip(p.tolist(), q.tolist(), strict=True)))
    slip = (stats.beta.cdf(q, found.a, found.b) - p) / stats.beta.pdf(q, found.a, found.b)
    np.testing.assert_allclose(slip / q, 0, atol=1e-9)  # how far its quantiles lie from those stated


def test_quantiles_without_an_exact_prior_are_fitted_or_limited():
    """betaincinv(1 + 3e-16, 1, 0.328) is 0.5 in scipy 1.17."""
    found = sa.BetaPrior.from_quantiles({0.001: 0.001, 0.328: 0.328})
    assert (found.a, found.b) == (pytest.approx(1), pytest.approx(1))
    p = np.array([0.05, 0.25, 0.5, 0.95])
    stated = dict(zip(p.tolist(), stats.beta.ppf(p, 2, 30).tolist(), strict=True))
    found = sa.BetaPrior.from_quantiles(stated)
    assert (found.a, found.b) == (pytest.approx(2, rel=1e-7), pytest.approx(30, rel=1e-7))
    low, high = expit(-700.0), expit(36.0)
    # Of beta(0.001, 5) a share of about 1/2 lies below e^-700; of beta(5, 0.01) about 0.7 above 1 - e^-36.
    assert beta_quantile(0.001, 5, 0.1) == low
    assert beta_quantile(0.001, 5, 0.9) > low
    assert beta_quantile(5, 0.01, 0.9) == high
    assert beta_quantile(5, 0.01, 0.01) < high
    assert beta_quantile(0.001, 5, float(betainc(0.001, 5, low))) == low
    assert beta_quantile(5, 0.01, float(betainc(5, 0.01, high))) == high
    stated = {0.05: 0.02, 0.5: 0.075, 0.95: 0.15}
    with pytest.warns(sa.SkewanovaWarning, match=r"^the closest beta distribution has the quantiles 0\.05: "):
        found = sa.BetaPrior.from_quantiles(stated)

    def loss(a, b):
        q = stats.beta.ppf(list(stated), a, b)
        target = np.array(list(stated.values()))
        return float(((np.log(q / (1 - q)) - np.log(target / (1 - target))) ** 2).sum())

    best = loss(found.a, found.b)
    for shift in (0.99, 1.01):
        for other in (0.99, 1.0, 1.01):
            assert loss(found.a * shift, found.b * other) > best
            assert loss(found.a * other, found.b * shift) > best


RISE = "`quantiles` must rise with their shares, but got "
WIDE, TIGHT = {0.05: 1e-12, 0.95: 0.999}, {0.05: 0.1, 0.95: 0.1 + 1e-13}
LEAST = f"`quantiles` must leave shapes of at least 0.1, but {WIDE} would need beta(0.0978, 0.253); "
NO_BETA = "`quantiles` are not those of a beta distribution: the closest has"


@each(("quantiles", "message"), [
    ({0.5: 0.1}, "`quantiles` must have at least two entries, but got {0.5: 0.1}; add one"),
    ({0.05: 0.2, 0.95: 0.1}, RISE + "{0.05: 0.2, 0.95: 0.1}"),
    ({0.05: 0.2, 0.95: 0.2}, RISE + "{0.05: 0.2, 0.95: 0.2}"),
    ({0: 0.1, 0.95: 0.2}, "`share of quantiles` must lie strictly between 0 and 1, but got 0"),
    (WIDE, LEAST + "state two of these priors as the range (low, high)"),
    (TIGHT,
     f"`quantiles` are too close together, or to 0 or 1, for a beta prior, but got {TIGHT}; "
     "state two of these priors as the range (low, high)"), ({0.25: 0.02, 0.5: 0.05, 0.75: 0.4}, NO_BETA),
    ({5: 0.02, 95: 0.1},
     "`share of quantiles` must lie strictly between 0 and 1, but got 5; did you mean 0.05?"),
    ([(0.05, 0.02), (0.95, 0.15)], "`quantiles` must map shares to priors"),
])  # fmt: skip
def test_quantiles_that_no_prior_has(quantiles, message):
    whole = exact(message) if "closest" not in message and "map" not in message else "^" + re.escape(message)
    with pytest.raises(ValueError if isinstance(quantiles, dict) else TypeError, match=whole):
        sa.BetaPrior.from_quantiles(quantiles)


@each("share", [1e-6, 0.3, 0.999])
@each(("a", "b"), [(0.1, 0.1), (2, 30), (1, 1), (3000, 2)])
def test_quantiles_are_those_of_scipy(a, b, share):
    assert beta_quantile(a, b, share) == pytest.approx(stats.beta.ppf(share, a, b), rel=1e-10)


@each("factor", [1.04, 1 / 1.04, 1.06, 1 / 1.06, 1.24, 1 / 1.24, 1.26, 1 / 1.26])
def test_odds_off_by_5_percent_are_told_and_by_25_refused(factor):
    stated = np.array([0.2, 0.5])
    odds = stated / (1 - stated) * np.array([1.0, factor])
    off = max(factor, 1 / factor) - 1
    arguments = (np.array([0.1, 0.9]), stated, odds / (1 + odds))
    if off > 0.25:
        expect_error(rf"odds off by {off:.0%}", elicitation._misfit_notes, *arguments)
    else:
        assert len(elicitation._misfit_notes(*arguments)) == (off > 0.05)


@each(("log_size", "found"), [(29.5, True), (30.5, False), (-7.5, True), (-8.5, False)])
def test_shapes_are_sought_between_sums_of_e_to_the_minus_8_and_30(log_size, found):
    shape = np.exp(log_size) / 2
    shares = np.array([0.05, 0.95]) if log_size > 0 else np.array([0.499, 0.501])
    quantiles = beta_quantiles(shape, shape, shares)
    if found:
        assert elicitation.fit_shapes(shares, quantiles)[0] == pytest.approx(shape, rel=1e-3)
    else:
        expect_error("sign", elicitation.fit_shapes, shares, quantiles, error=ValueError)
