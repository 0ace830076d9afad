"""Random-effects meta-analysis: what its estimates solve, effects that agree, errors of zero."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from skewanova.inference.effect_sizes import estimate_mean_effect

EFFECTS, VARIANCES = np.array([0.1, 0.5, -0.2, 0.3]), np.array([0.01, 0.02, 0.04, 0.01])


def test_the_variance_between_studies_makes_the_sum_of_squares_what_it_should_be():
    found = estimate_mean_effect(EFFECTS, VARIANCES)
    weight = 1 / (VARIANCES + found.tau**2)
    mean = np.average(EFFECTS, weights=weight)
    assert found.tau > 0
    assert (weight * (EFFECTS - mean) ** 2).sum() == pytest.approx(3)  # Paule and Mandel 1982
    assert found.estimate == pytest.approx(mean)
    # Hartung and Knapp's error, whose factor Q / (k - 1) is 1 here.
    assert found.std_error == pytest.approx(np.sqrt(1 / weight.sum()))
    assert found.statistic == pytest.approx(found.estimate / found.std_error)
    assert found.df == 3
    assert found.p_value == pytest.approx(2 * stats.t.sf(abs(found.statistic), 3))


def test_heterogeneity_by_its_definitions():
    found = estimate_mean_effect(EFFECTS, VARIANCES)
    weight = 1 / VARIANCES
    q = (weight * (EFFECTS - np.average(EFFECTS, weights=weight)) ** 2).sum()
    assert found.q == pytest.approx(q)
    assert found.q_p_value == pytest.approx(stats.chi2.sf(q, 3))
    typical = 3 * weight.sum() / (weight.sum() ** 2 - (weight**2).sum())  # Higgins and Thompson 2002
    assert found.i_sq == pytest.approx(found.tau**2 / (found.tau**2 + typical))


def test_studies_that_agree_have_no_variance_between_them():
    found = estimate_mean_effect(np.array([0.2, 0.21, 0.19]), VARIANCES[:3])
    weight = 1 / VARIANCES[:3]
    assert (found.tau, found.i_sq) == (0.0, 0.0)
    assert found.estimate == pytest.approx(np.average([0.2, 0.21, 0.19], weights=weight))
    assert found.std_error == pytest.approx(weight.sum() ** -0.5)
    alike = estimate_mean_effect(np.array([0.2, 0.2]), VARIANCES[:2])
    assert (alike.tau, alike.q, alike.q_p_value) == (0.0, pytest.approx(0.0, abs=1e-20), pytest.approx(1.0))


def test_the_robust_error_counts_where_it_is_larger():
    """Studies of small errors lie further from the mean than those of large ones."""
    effects, variances = np.array([0.6, -0.4, 0.1, 0.12, 0.08]), np.array([0.01, 0.02, 0.2, 0.3, 0.2])
    found = estimate_mean_effect(effects, variances)
    share = 1 / (variances + found.tau**2)
    share /= share.sum()
    residual = effects - share @ effects
    robust = np.sqrt(sum(w**2 * e**2 / (1 - w) for w, e in zip(share, residual, strict=True)))
    assert found.std_error == pytest.approx(robust)
    assert robust > 1.05 / np.sqrt((1 / (variances + found.tau**2)).sum())


@pytest.mark.parametrize("variance", [0.0, np.nan, -0.1])
def test_a_study_without_an_error_leaves_the_mean_alone(variance):
    found = estimate_mean_effect(EFFECTS, np.array([variance, 0.02, 0.04, 0.01]))
    assert found.estimate == pytest.approx(EFFECTS.mean())
    assert found.df == 3
    assert np.isnan([found.std_error, *found[3:]]).all()


@pytest.mark.parametrize("spread", [1.0, 1e-12, 1e-19, 1e-200])
def test_one_study_may_have_all_the_weight(spread):
    """Found by fuzzing: the square of the sum less the sum of squares was 0 from variances 1e16 apart on."""
    effects = np.array([0.1, 0.2, 0.5])
    variances = [Fraction(spread) / 100, Fraction(1, 100), Fraction(1, 50)]
    weight = [1 / variance for variance in variances]
    typical = 2 * sum(weight) / (sum(weight) ** 2 - sum(one**2 for one in weight))
    found = estimate_mean_effect(effects, np.array([float(variance) for variance in variances]))
    share = found.tau**2 / (found.tau**2 + float(typical))
    assert found.i_sq == pytest.approx(share, rel=1e-12)


METAFOR_EFFECTS = np.array([0.03, 0.01, -0.02, 0.08, 0.05, 0.02])
METAFOR_VARIANCES = np.array([4, 9, 1, 16, 2.5, 6]) * 1e-4
#: R 4, metafor 3.8.1: rma(d, v, method="PM", test="adhoc", control=list(tol=1e-12, maxiter=10000)), for d as
#: it stands and d / 3: b, se, zval, pval, sqrt(tau2), QE, QEp, I2 / 100.
METAFOR = {
    1: (0.0217128111372, 0.0135849683843, 1.59829677353, 0.170869730736, 0.025002689626, 19.5851942312,
        0.00149465276364, 0.628634310232),
    3: (0.00283786927192, 0.0070883173495, 0.40035866511, 0.705425385371, 0, 2.17613269236,
        0.824275882755, 0),
}  # fmt: skip


@pytest.mark.parametrize("divisor", METAFOR)
def test_meta_analysis_against_metafor(divisor):
    found = estimate_mean_effect(METAFOR_EFFECTS / divisor, METAFOR_VARIANCES, robust=False)
    numbers = (found.estimate, found.std_error, found.statistic, found.p_value, found.tau, found.q)
    assert (*numbers, found.q_p_value, found.i_sq) == pytest.approx(METAFOR[divisor], rel=1e-10, abs=1e-12)
    assert found.df == 5


@pytest.mark.no_cover
def test_meta_analysis_holds_its_level():
    """Equal models whose differences vary over data sets; 3,000 tables, Monte Carlo error .004."""
    rng = np.random.default_rng(2)
    rejected = 0
    for _ in range(3000):
        true_variances = rng.uniform(0.5, 2, size=8) * 1e-4
        effects = rng.normal(0, 0.02, size=8) + rng.normal(size=8) * np.sqrt(true_variances)
        estimated = true_variances * rng.chisquare(9, size=8) / 9
        rejected += estimate_mean_effect(effects, estimated).p_value < 0.05
    assert rejected / 3000 == pytest.approx(0.05, abs=0.015)
