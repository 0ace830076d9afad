import re
import warnings

import mpmath
import numpy as np
import pandas as pd
import pytest
from case_values import jackknife_values, spread_of
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from messages import exact, expect_error, expect_warning
from scipy import special, stats
from scipy.integrate import quad

from skewanova import BetaPrior, SkewanovaWarning, UniformPrior, UniformSkew, auprec_score, iauprec_score
from skewanova.curves.distributions import true_auprec
from skewanova.inference import case_resampling, catalogue, covariance, intervals, sampling
from skewanova.inference.intervals import confidence_interval
from skewanova.scores.design import logit_interval

SETTINGS = {
    "binormal": (stats.norm(0, 1), stats.norm(1, 1)),
    "bibeta": (stats.beta(2, 5), stats.beta(5, 2)),
    "offset_uniform": (stats.uniform(0, 1), stats.uniform(0.5, 1)),
}


def sample(setting, n, m, seed=0):
    rng = np.random.default_rng(seed)
    negative, positive = SETTINGS[setting]
    scores = [positive.rvs(n, random_state=rng), negative.rvs(m, random_state=rng)]
    return np.repeat([1, 0], [n, m]), np.concatenate(scores)


def quiet(*args, **options):
    with warnings.catch_warnings(action="ignore", category=SkewanovaWarning):
        return confidence_interval(*args, **options)


def limits(interval):
    return interval.conf_low, interval.conf_high


@pytest.mark.parametrize(("case", "theta", "n"), [("theta=.5,n=25", 0.5, 25), ("theta=.8,n=10", 0.8, 10)])
def test_recorded_limits(golden, case, theta, n):
    expected = golden["intervals_95"][case]
    assert intervals.binomial_limits(theta, n, 0.95) == pytest.approx(expected["binomial"], abs=1e-10)
    assert intervals.logit_limits(theta, n, 0.95) == pytest.approx(expected["logit"], abs=1e-10)
    assert intervals.wilson_limits(theta, n, 0.95) == pytest.approx(expected["wilson"], abs=1e-10)


@each("method", catalogue.INTERVALS)
@each("estimator", ["average_precision", "trapezoid", "interpolated_median"])
def test_every_method_answers(method, estimator):
    labels, scores = sample("binormal", 70, 180)
    folds = np.arange(250) % 5 if method == "cross_validation" else None
    options = {"method": method, "area_estimator": estimator, "folds": folds}
    found = confidence_interval(labels, scores, prior=0.4, **options)
    assert found.conf_low < found.estimate < found.conf_high
    assert found.conf_high - found.conf_low < 0.3
    assert (found.area_estimator, found.weighting, found.warning) == (estimator, "prior 0.4", None)
    assert found.method == ("jackknife" if method == "auto" else method)
    if method != "cross_validation":
        area = auprec_score(labels, scores, prior=0.4, area_estimator=estimator)
        assert found.estimate == pytest.approx(area)


def test_named_methods_are_their_formulas_over_cases_or_folds():
    labels, scores = sample("bibeta", 60, 240)
    theta = auprec_score(labels, scores, prior=0.3)
    formulas = {
        "binomial": intervals.binomial_limits,
        "logit": intervals.logit_limits,
        "wilson": intervals.wilson_limits,
    }
    for method, formula in formulas.items():
        found = confidence_interval(labels, scores, prior=0.3, method=method, confidence_level=0.9)
        assert limits(found) == formula(theta, 60, 0.9)
    weighting = sampling.target_prior(0.3, None, sampling.Sample(labels == 1))
    error, df = spread_of(jackknife_values(labels == 1, scores, weighting)[1], labels == 1)
    found = confidence_interval(labels, scores, prior=0.3, method="jackknife")
    assert limits(found) == pytest.approx(logit_interval(theta, error, df=df, level=0.95, size=60))
    assert error == pytest.approx(covariance.auprec_variance(labels, scores, prior=0.3) ** 0.5, rel=0.1)
    labels, scores = sample("binormal", 100, 400)
    folds = np.array(list("abcd"))[np.arange(500) % 4]
    options = {"prior": 0.3, "area_estimator": "exact"}
    areas = [auprec_score(labels[folds == f], scores[folds == f], **options) for f in "abcd"]
    found = confidence_interval(labels, scores, method="cross_validation", folds=folds, **options)
    assert found.estimate == pytest.approx(np.mean(areas))
    assert limits(found) == pytest.approx(intervals.t_limits(np.array(areas), 0.95))


def test_deployment_prior_in_place_of_a_prior():
    labels, scores = sample("binormal", 150, 3000)
    for weighting in ((0.1, 0.3), UniformSkew(2, 9), BetaPrior(20, 80)):
        found = confidence_interval(labels, scores, deployment_prior=weighting)
        estimate = iauprec_score(labels, scores, deployment_prior=weighting)
        assert found.estimate == pytest.approx(estimate, rel=1e-14)
        assert found.conf_low < estimate < found.conf_high
        assert (found.method, found.warning) == ("jackknife", None)
    with pytest.warns(SkewanovaWarning, match=r"^m/lam = 45.2 \(negatives over skew, at uniform over priors"):
        rare = confidence_interval(labels[:1650], scores[:1650], deployment_prior=(0.0125, 0.05))
    trials = 1500 / np.exp(quad(lambda prior: np.log((1 - prior) / prior), 0.0125, 0.05)[0] / 0.0375)
    assert limits(rare) == pytest.approx(intervals.wilson_limits(rare.estimate, trials, 0.95), rel=1e-8)
    narrow, own = confidence_interval(labels, scores, deployment_prior=(0.2, 0.2)), 150 / 3150
    assert limits(narrow) == limits(confidence_interval(labels, scores, prior=0.2))
    assert limits(quiet(labels, scores)) == limits(quiet(labels, scores, prior=own))


def test_auto_turns_to_wilson_at_a_rare_prior_and_with_few_cases():
    labels, scores = sample("bibeta", 266, 1021)
    message = (
        "m/lam = 20.8 (negatives over skew, at prior 0.02) is below 50: the interval is Wilson's with "
        "min(n, m/lam) = 20.84 trials, wide on purpose; add negatives"
    )
    found = expect_warning(exact(message), confidence_interval, labels, scores, prior=0.02)
    assert (found.method, found.warning) == ("wilson", message)
    assert limits(found) == pytest.approx(intervals.wilson_limits(found.estimate, 1021 / 49, 0.95), rel=1e-8)
    labels, scores = sample("binormal", 60, 450)
    assert confidence_interval(labels, scores, prior=0.1).method == "jackknife"  # m/lam = 50
    found = expect_warning(r"^m/lam = 49.9 ", confidence_interval, labels[:-1], scores[:-1], prior=0.1)
    assert limits(found) == pytest.approx(intervals.wilson_limits(found.estimate, 449 / 9, 0.95))
    with pytest.warns(SkewanovaWarning, match="^49 negatives are fewer than 50: the interval is Wilson's"):
        confidence_interval(*sample("binormal", 60, 49), prior=0.9)  # though m/lam = 441
    message = "29 positives are fewer than 30: the interval is Wilson's with min(n, m/lam) = 29 trials"
    with pytest.warns(SkewanovaWarning, match=f"^{re.escape(message)}"):
        found = confidence_interval(*sample("binormal", 29, 400), prior=0.5)
    assert limits(found) == intervals.wilson_limits(found.estimate, 29, 0.95)


@each(("n_positive", "n_negative", "prior", "lacking"), [
    (20, 2000, 0.2, "positives"), (40, 40, 0.6, "negatives"), (10, 100, 0.01, "negatives and positives"),
    (20, 40, 0.6, "negatives and positives"),
])  # fmt: skip
def test_what_a_wide_interval_lacks_is_all_named(n_positive, n_negative, prior, lacking):
    with pytest.warns(SkewanovaWarning, match=f"wide on purpose; add {lacking}$"):
        confidence_interval(*sample("binormal", n_positive, n_negative), prior=prior)


def test_auto_turns_to_clopper_and_pearson_and_covers_few_positives():
    labels, scores = sample("bibeta", 266, 1021)
    message = "Clopper and Pearson's with min(n, m/lam) = 10.31 trials, wide on purpose; add negatives"
    found = expect_warning(f"{re.escape(message)}$", confidence_interval, labels, scores, prior=0.01)
    assert found.method == "clopper_pearson"
    size, wins = 1021 / 99, found.estimate * 1021 / 99
    with mpmath.workdps(30):  # the tails at the limits, by the regularised incomplete beta function
        low = mpmath.betainc(wins, size - wins + 1, 0, found.conf_low, regularized=True)
        high = mpmath.betainc(wins + 1, size - wins, 0, found.conf_high, regularized=True)
    assert (float(low), float(high)) == pytest.approx((0.025, 0.975), rel=1e-9)
    # by the jackknife alone the limits are below the truth in .065 of these samples
    truth, found = true_auprec(stats.norm(0, 1), stats.norm(1.5, 1), 0.01), []
    labels, rng = np.repeat([1, 0], [50, 20_000]), np.random.default_rng(0)
    for _ in range(400):
        found.append(limits(confidence_interval(labels, rng.normal(size=20_050) + 1.5 * labels, prior=0.01)))
    low, high = np.transpose(found)
    assert (high < truth).mean() <= 0.035
    assert (low > truth).mean() <= 0.035


@each("method", ["auto", "jackknife", "binomial", "logit", "bootstrap", "bca"])
def test_perfect_scores(method):
    labels, scores = np.repeat([0, 1], [40, 12]), np.arange(52)
    message = (
        "the estimate is at its limit, where no method has a standard error: the limits are exact ones for "
        "min(n, m/lam) = 12 trials, with m/lam = 40 (negatives over skew, at prior 0.5); check that the "
        "scores are held out"
    )
    found = expect_warning(exact(message), confidence_interval, labels, scores, prior=0.5, method=method)
    assert (found.estimate, found.conf_high, found.method) == (1, 1, "boundary")
    assert found.conf_low == pytest.approx(0.025 ** (1 / 12))


def test_perfect_scores_and_folds_that_lack_a_class():
    labels, scores = np.repeat([0, 1], [40, 12]), np.arange(52)
    with pytest.warns(SkewanovaWarning, match="for min\\(n, m/lam\\) = 4.444 trials"):
        rare = confidence_interval(labels, scores, prior=0.1, confidence_level=0.9)
    assert rare.conf_low == pytest.approx(0.05 ** (9 / 40))  # the negatives count
    found = confidence_interval(labels, scores, prior=0.5, method="wilson")
    assert limits(found) == intervals.wilson_limits(1.0, 12, 0.95)
    by_fold = {"method": "cross_validation", "folds": np.arange(52) % 3}
    with pytest.warns(SkewanovaWarning, match="the estimate is at its limit"):
        folds = confidence_interval(labels, scores, prior=0.5, **by_fold)
    assert folds.conf_low == pytest.approx(0.025 ** (1 / 12))
    folds = np.repeat(np.arange(8), 2)
    labels = np.where(folds < 7, 1, [0, 1] * 8)
    with pytest.raises(ValueError, match="missing in 0, 1, 2, 3, 4; stratify"):
        confidence_interval(labels, np.arange(16.0), prior=0.3, method="cross_validation", folds=folds)


@each("method", ["binomial", "logit", "wilson", "jackknife", "bootstrap", "bca", "cross_validation"])
def test_methods_named_at_a_rare_prior_are_warned_of(method):
    folds = np.arange(598) % 4 if method == "cross_validation" else None
    told = (
        f"below the 120 positives: the prior is rarer than the sample's, and {method} with the positives as "
        "trials is too short; use method='auto' (--method auto)"
        if method in {"binomial", "logit", "wilson"}
        else f"below {50 if method == 'jackknife' else 100}, where {method} tends to be too short; "
        "add negatives, or use method='auto' (--method auto)"
        + " without `folds`"
        * (method == "cross_validation")
    )
    message = exact(f"m/lam = 25.2 (negatives over skew, at prior 0.05) is {told}")
    with pytest.warns(SkewanovaWarning, match=message):
        confidence_interval(*sample("binormal", 120, 478), prior=0.05, method=method, folds=folds)


Y, S = [0, 1, 1, 0], [0.1, 0.2, 0.3, 0.15]


@each(("options", "error", "message"), [
    ({"method": "exact"}, ValueError,
     "`method` must be one of auto, jackknife, wilson, binomial, logit, bootstrap, bca, "
     "cross_validation; but got 'exact'"),
    ({"prior": [0.1, 0.2]}, TypeError,
     "`prior` must be one number strictly between 0 and 1, but got 2 in shape (2,)"),
    ({"method": "cross_validation"}, ValueError,
     "method='cross_validation' needs `folds`, one for each case"),
    ({"method": "logit", "folds": [0, 0, 1, 1]}, ValueError,
     "method='logit' uses no `folds`; leave them out, or state method='cross_validation'"),
    ({"method": "cross_validation", "folds": [0, 0, 1]}, ValueError,
     "arguments must be equally long, but `y_true` has 4, `folds` has 3"),
    ({"method": "cross_validation", "folds": [7, 7, 7, 7]}, ValueError,
     "`folds` must name at least 2 folds, but all cases are in 7; leave `folds` and `method` out"),
    ({"method": "cross_validation", "folds": [0, 0, 1, 1], "sample_weight": [1, 1, 1, 0]}, ValueError,
     "`folds` must each hold both classes, but a class is missing in 1; stratify them, or leave "
     "`folds` and `method` out"),
])  # fmt: skip
def test_refused(options, error, message):
    expect_error(exact(message), confidence_interval, Y, S, **options, error=error)
    with pytest.raises(ValueError, match=r"^`y_score` must be one-dimensional, .* \(4, 1\); pass one column"):
        confidence_interval(Y, np.ones((4, 1)))


SIZE, PRIORS = st.integers(1, 40), st.sampled_from([1e-300, 1e-12, 0.001, 0.1, 0.5, 0.99])


@given(SIZE, SIZE, PRIORS, st.integers(0, 99))
def test_auto_always_answers_within_the_unit_interval(n, m, prior, seed):
    labels, scores = sample("bibeta", n, m, seed)
    found = quiet(labels, np.round(scores, 1), prior=prior)
    assert 0 <= found.conf_low <= found.estimate <= found.conf_high <= 1
    assert found.conf_low < found.conf_high


def test_a_fold_within_one_cluster_is_named():
    columns = {"model": "A", "fold": [1, 1, 2, 2, 2], "y_true": [0, 1, 0, 1, 0], "y_score": [1, 2, 3, 4, 5]}
    frame = pd.DataFrame(columns).assign(cluster=["P1", "P1", "P2", "P3", "P3"])
    message = "2 clusters, but all cases of model 'A' in fold 1 are in {}; leave out the column of clusters"
    for first, name in (("P1", "'P1'"), (1, "1")):
        rows = frame.assign(cluster=[first, first, 2, 3, 3]) if first == 1 else frame
        expect_error(message.format(name), intervals.interval_table, rows, prior=0.5)
    with pytest.warns(SkewanovaWarning):
        assert len(intervals.interval_table(frame.drop(columns="cluster"), prior=0.5)) == 2


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_a_bootstrap_draws_2000_samples():
    labels, scores = np.arange(20) % 2, np.random.default_rng(0).normal(size=20) + np.arange(20) % 2
    cases, weighting = sampling.Sample(labels == 1), UniformPrior(0.3, 0.3)
    model, options = case_resampling.SortedScores(cases, scores), {"n_resamples": 2000, "rng": 0}
    drawn = case_resampling.bootstrap_estimates(model, weighting, "trapezoid", **options)
    asked = {"prior": 0.3, "confidence_level": 0.9, "rng": 0}
    found = confidence_interval(labels, scores, method="bootstrap", **asked)
    assert limits(found) == pytest.approx(np.quantile(drawn, [0.05, 0.95]), rel=1e-12)
    area, values = jackknife_values(labels == 1, scores, weighting)
    expected = intervals.bca_limits(area, drawn, intervals.bca_acceleration(cases.deviations(values)), 0.9)
    found = confidence_interval(labels, scores**3, method="bca", **asked)  # ranks are all that counts
    assert limits(found) == pytest.approx(expected, rel=1e-9)


def test_limits_end_at_0_and_1_of_small_samples_percentiles_and_t():
    z2 = stats.norm.ppf(0.975) ** 2
    for size in (*range(1, 60), 0.3, 1e6):
        low, high = intervals.wilson_limits(0.0, size, 0.95)
        assert 0 <= low < 1e-12
        assert high == pytest.approx(z2 / (size + z2))
        low, high = intervals.wilson_limits(1.0, size, 0.95)
        assert 1 - 1e-12 < high <= 1
        assert low == pytest.approx(size / (size + z2))
    assert intervals.small_sample_limits(0.7, 20, 0.95) == intervals.wilson_limits(0.7, 20, 0.95)
    exact = intervals.clopper_pearson_limits(0.7, 19.99, 0.95)
    assert intervals.small_sample_limits(0.7, 19.99, 0.95) == exact
    assert intervals.boundary_limits(1.0, 9, 0.9) == pytest.approx((0.05 ** (1 / 9), 1.0))
    assert intervals.boundary_limits(0.0, 9, 0.9) == pytest.approx((0.0, 1 - 0.05 ** (1 / 9)))
    assert intervals.percentile_limits(np.arange(1001) / 1000, 0.9) == pytest.approx((0.05, 0.95))
    estimates = np.array([0.5, 0.7, 0.65, 0.8])
    expected = stats.ttest_1samp(estimates, 0).confidence_interval(0.9)
    assert intervals.t_limits(estimates, 0.9) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize(("wins", "size"), [(3, 10), (0, 10), (10, 10), (1, 1), (7.5, 12.5)])
def test_clopper_and_pearson_leave_a_tail_on_either_side(wins, size):
    low, high = intervals.clopper_pearson_limits(wins / size, size, 0.9)
    # The chance of so many wins or more is an incomplete beta function, also of sizes that are not whole.
    assert low == 0 if wins == 0 else special.betainc(wins, size - wins + 1, low) == pytest.approx(0.05)
    assert high == 1 if wins == size else special.betaincc(wins + 1, size - wins, high) == pytest.approx(0.05)
    if wins == round(wins) and 0 < wins < size:
        assert (low, high) == pytest.approx(tuple(stats.binomtest(wins, size).proportion_ci(0.9)))


def bca_of_scipy(estimates, theta, acceleration, level):
    """Efron's (1987) shares written with scipy's distributions: eq. 6.8."""
    bias = stats.norm.ppf((np.sum(estimates < theta) + np.sum(estimates <= theta)) / 2 / len(estimates))
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        step = bias + stats.norm.ppf(tail)
        ends.append(stats.norm.cdf(bias + step / (1 - acceleration * step)))
    return tuple(np.quantile(estimates, ends))


@pytest.mark.parametrize("acceleration", [0.0, 0.08, -0.05])
def test_bca_follows_efrons_formula(acceleration):
    estimates = np.round(np.random.default_rng(1).gamma(4, size=2000), 2)  # with ties at theta
    theta = float(np.median(estimates)) + 0.3
    theta = float(estimates[np.argmin(np.abs(estimates - theta))])
    found = intervals.bca_limits(theta, estimates, acceleration, 0.9)
    assert found == pytest.approx(bca_of_scipy(estimates, theta, acceleration, 0.9))


def test_bca_beyond_all_resamples_and_its_acceleration():
    estimates = np.linspace(0, 1, 100)
    for theta, end in ((2.0, 1.0), (-1.0, 0.0)):
        limits = intervals.bca_limits(theta, estimates, 0.0, 0.95)
        shift = stats.norm.ppf(0.995) * (1 if theta > 1 else -1)  # half a resample from the end
        shares = stats.norm.cdf(2 * shift + stats.norm.ppf([0.025, 0.975]))
        assert limits == pytest.approx(tuple(np.quantile(estimates, shares)))
        assert abs(limits[0] - end) < 0.1
    rng = np.random.default_rng(2)
    sizes = np.where(np.arange(40) < 15, 15, 25)
    moved = rng.gamma(2, size=40)
    moved -= np.where(sizes == 15, moved[:15].mean(), moved[15:].mean())
    # Third and second moment of a sum of two independent means.
    third = sum((moved[sizes == n] ** 3).mean() / n**2 for n in (15, 25))
    second = sum((moved[sizes == n] ** 2).mean() / n for n in (15, 25))
    assert intervals.bca_acceleration(moved / sizes) == pytest.approx(third / second**1.5 / 6)
    assert intervals.bca_acceleration(1e-3 * moved / sizes) == pytest.approx(third / second**1.5 / 6)
    assert intervals.bca_acceleration(np.zeros(40)) == 0.0
