from decimal import Decimal

import numpy as np
import pytest
import twins
from by_statsmodels import adjusted_by_statsmodels
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from messages import exact, expect_error, expect_warning
from scipy import stats
from strategies import ranges, tie_groups

import skewanova as sa
from skewanova.curves.estimators import prior_averaged_precision
from skewanova.inference import auprec_covariance, compare_test_set
from skewanova.inference.covariance import auprec_influence, auprec_variance, precision_slopes
from skewanova.inference.single_test_set import max_z_value

PRIORS = st.sampled_from([0.001, 0.05, 0.3, 0.5, 0.9])
AP = "average_precision"


def slopes(labels, scores, score_function, **target):
    """Derivative of an estimate in the log weight of every case, by central differences."""
    found = []
    for i in range(len(labels)):
        up, down = np.ones(len(labels)), np.ones(len(labels))
        up[i], down[i] = 1 + 1e-5, 1 - 1e-5
        options = {"area_estimator": AP, **target}
        ends = [score_function(labels, scores, sample_weight=w, **options) for w in (up, down)]
        found.append((ends[0] - ends[1]) / 2e-5)
    return np.array(found)


def class_sizes(labels):
    labels = np.asarray(labels)
    return np.where(labels == 1, labels.sum(), (1 - labels).sum())


def simulated(n, m, quality, *, seed=0, shared=0.5):
    """Scores of correlated binormal models, one column each."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [n, m])
    noise = shared**0.5 * rng.normal(size=(n + m, 1))
    noise = noise + (1 - shared) ** 0.5 * rng.normal(size=(n + m, len(quality)))
    return labels, labels[:, None] * np.asarray(quality) + noise


@given(tie_groups(max_groups=6), PRIORS, ranges())
def test_influence_is_the_derivative_in_the_weights(groups, prior, limits):
    labels, scores = twins.labels_and_scores(groups)
    for score, target in (
        (sa.auprec_score, {"prior": prior}), (sa.iauprec_score, {"deployment_prior": limits})
    ):  # fmt: skip
        expected = slopes(labels, scores, score, **target) * class_sizes(labels)
        assert auprec_influence(labels, scores, **target) == pytest.approx(expected, rel=1e-6, abs=1e-8)


def test_influence_sees_ranks_only_and_makes_the_covariance():
    labels, scores = simulated(20, 45, [1.0])
    scores = scores[:, 0]
    found = auprec_influence(labels, scores, prior=0.2)
    assert auprec_influence(labels, np.exp(scores), prior=0.2).tolist() == found.tolist()
    order = np.random.default_rng(0).permutation(65)
    assert auprec_influence(labels[order], scores[order], prior=0.2) == pytest.approx(found[order], abs=1e-15)
    infinite = np.where(scores == scores.max(), np.inf, scores)
    assert auprec_influence(labels, infinite, prior=0.2).tolist() == found.tolist()
    labels, scores = simulated(30, 80, [1.2])
    expected = ((auprec_influence(labels, scores[:, 0], prior=0.3) / class_sizes(labels)) ** 2).sum()
    assert auprec_variance(labels, scores[:, 0], prior=0.3) == pytest.approx(expected, rel=1e-12)
    labels, scores = simulated(40, 80, [1.0, 0.5])
    for area_estimator in ("trapezoid", "exact", AP):
        options = {"deployment_prior": sa.UniformSkew(4, 19), "area_estimator": area_estimator}
        found = auprec_covariance(labels, scores, **options)
        for j in range(2):
            of_one = auprec_covariance(labels, scores[:, j], **options)
            assert found.std_error[j] == pytest.approx(of_one.covariance[0, 0] ** 0.5, rel=1e-12)
            estimate = sa.iauprec_score(labels, scores[:, j], **options)
            assert found.estimate[j] == pytest.approx(estimate, rel=1e-12)


def leave_one_out(labels, score, prior):
    """(size of the class - 1) (theta - theta without the case), case by case."""
    theta = sa.auprec_score(labels, score, prior=prior)
    kept = [np.delete(np.arange(len(labels)), i) for i in range(len(labels))]
    without = [sa.auprec_score(labels[rows], score[rows], prior=prior) for rows in kept]
    return (class_sizes(labels) - 1) * (theta - np.array(without))


def test_comparison_of_models_pair_by_pair():
    labels, scores = simulated(60, 140, [1.5, 0.8, 1.1])
    options = {"prior": 0.1, "confidence_level": 0.9}
    found = compare_test_set(labels, scores, models=["A", "B", "C"], simultaneous="none", **options)
    shared = compare_test_set(labels, scores, simultaneous="bonferroni", **options)
    area = found.estimate
    values = np.stack([leave_one_out(labels, column, 0.1) for column in scores.T], axis=1)
    values, angle = values / np.sqrt(area * (1 - area)), 2 * np.arcsin(np.sqrt(area))
    for row, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        parts = [(values[:, i] - values[:, j])[labels == label] for label in (1, 0)]
        variances = [part.var(ddof=1) / len(part) for part in parts]
        error = np.sqrt(sum(variances))
        t = (angle[i] - angle[j]) / error
        by_kurtosis = [((part - part.mean()) ** 2).var() / len(part) ** 3 for part in parts]
        by_size = [2 * variance**2 / (len(part) - 1) for variance, part in zip(variances, parts, strict=True)]
        df = 2 * error**4 / np.maximum(by_kurtosis, by_size).sum()
        assert found.statistic[row] == pytest.approx(t, rel=1e-10)
        assert found.df_error[row] == pytest.approx(df, rel=1e-10)
        assert found.difference[row] == pytest.approx(area[i] - area[j])
        assert found.std_error[row] == pytest.approx(found.difference[row] / t)
        assert found.p_value[row] == pytest.approx(2 * stats.t.sf(abs(t), df))
        for result, pairs in ((found, 1), (shared, 3)):
            assert result.critical_value[row] == pytest.approx(stats.t.isf(0.05 / pairs, df))
    assert found.p_adjusted == pytest.approx(adjusted_by_statsmodels(found.p_value))
    reach = found.critical_value * found.std_error
    assert found.conf_high - found.difference == pytest.approx(reach)
    assert found.difference - found.conf_low == pytest.approx(reach)
    assert (found.models, found.model_a, found.model_b) == (("A", "B", "C"), tuple("AAB"), tuple("BCC"))
    assert (found.df, found.confidence_level, found.weighting) == (2, 0.9, "prior 0.1")
    two = compare_test_set(labels, scores[:, :2], **options)
    assert (two.df, two.f_omnibus) == (1, pytest.approx(found.statistic[0] ** 2))
    assert (two.p_omnibus, two.p_adjusted) == (pytest.approx(found.p_value[0]), pytest.approx(two.p_omnibus))


@pytest.mark.parametrize(("n", "m", "word"), [(1, 50, "positive"), (50, 1, "negative")])
def test_a_class_of_one_case_allows_no_test(n, m, word):
    labels, scores = simulated(n, m, [1.5, 0.2, 0.8])
    with expect_warning(f"^the only {word} case cannot show how others would differ"):
        found = compare_test_set(labels, scores, prior=0.3)
    assert np.isnan([found.std_error, found.statistic, found.p_value, found.p_adjusted, found.conf_low]).all()
    assert np.isnan([found.f_omnibus, found.p_omnibus]).all()


@pytest.mark.parametrize(("n_models", "level"), [(3, 0.95), (5, 0.95), (4, 0.995)])
def test_max_z_is_the_studentized_range_where_models_are_alike(n_models, level):
    a, b = np.triu_indices(n_models, 1)
    contrasts = np.eye(n_models)[a] - np.eye(n_models)[b]
    expected = stats.studentized_range.ppf(level, n_models, np.inf) / 2**0.5
    assert max_z_value(contrasts, np.eye(n_models), level) == pytest.approx(expected, rel=5e-3)


def test_equal_models_have_no_test_and_lower_the_degrees_of_freedom():
    labels, scores = simulated(60, 140, [1.5, 0.8])
    tripled = np.hstack([scores, np.exp(scores[:, :1])])
    message = "models A and C change alike when any case is left out, so their difference has no "
    found = expect_warning(message, compare_test_set, labels, tripled, prior=0.3, models=["A", "B", "C"])
    two = compare_test_set(labels, scores, prior=0.3)
    assert (found.df, found.f_omnibus) == (1, pytest.approx(two.f_omnibus))
    assert np.isnan([found.statistic[1], found.p_value[1], found.p_adjusted[1]]).all()
    assert (found.conf_low[1], found.conf_high[1]) == (0, 0)
    assert found.critical_value[0] == pytest.approx(two.critical_value[0], rel=2e-3)


Y, S = [0, 1, 1, 0], [[0.1, 0.2], [0.3, 0.4], [0.5, 0.1], [0.2, 0.3]]


@each(("call", "error", "message"), [
    (lambda: auprec_influence([0, 0], [1, 2]), ValueError,
     "`y_true` must hold both classes, but has no positive case"),
    (lambda: auprec_variance(Y, S), ValueError,
     "`y_score` must be one-dimensional, but has shape (4, 2); of one model pass y_score[:, "
     "0], of several use skewanova.inference.auprec_covariance likewise"),
    (lambda: auprec_variance(Y, 0.5), ValueError,
     "`y_score` must have shape (n_cases,) or (n_cases, n_models) above 0, but has shape ()"),
    (lambda: compare_test_set(Y, {"A": S}), ValueError,
     "`y_score` must have shape (n_cases,) or (n_cases, n_models) above 0, but is a mapping; "
     "pass pandas.DataFrame(y_score), with n_cases scores of each model"),
    (lambda: compare_test_set(Y, np.array(S)[:, :1]), ValueError,
     "`y_score` must hold at least 2 models, one a column, but has 1; for one model pass its "
     "column to skewanova.confidence_interval"),
    (lambda: compare_test_set(Y, S, simultaneous="tukey"), ValueError,
     "`simultaneous` must be one of max_z, bonferroni, none; but got 'tukey'"),
    (lambda: auprec_covariance(Y, S, area_estimator="mean"), ValueError,
     f"`area_estimator` must be one of {', '.join(sa.curves.ESTIMATORS)}; but got 'mean'"),
    (lambda: compare_test_set(Y, S, area_estimator="mean"), ValueError,
     f"`area_estimator` must be one of {', '.join(sa.curves.ESTIMATORS)}; but got 'mean'"),
    (lambda: auprec_influence(Y, [["a"], ["b"], ["c"], ["d"]]), TypeError,
     "`y_score[:, 0]` must hold real numbers, but has dtype <U1; "
     "the first that is not a number is 'a' at row 0"),
    (lambda: auprec_variance(Y, [Decimal(1)] * 4), TypeError,
     "`y_score` must hold real numbers, but has dtype object; pass numpy.asarray(y_score, dtype=float)"),
])  # fmt: skip
def test_refused(call, error, message):
    expect_error(exact(message), call, error=error)


@pytest.mark.parametrize("target", [{"prior": 1e-320}, {"deployment_prior": (1e-320, 0.1)}])
def test_a_prior_too_small_to_compute_with_is_refused(target):
    scores = np.random.default_rng(0).normal(size=(60, 2))
    with pytest.raises(sa.InputError, match=r"must be 1e-300 or more, .* but got 9\.99989e-321$"):
        compare_test_set(np.arange(60) % 3 == 0, scores, **target)
    assert np.isfinite(compare_test_set(np.arange(60) % 3 == 0, scores, prior=1e-300).std_error).all()


POSITIVE = np.array([1, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 0], dtype=bool)
#: Ties within and between the classes; a negative above and one below all positives.
SCORE = np.array([5.0, 6.0, 4.0, 4.0, 4.0, 3.0, 2.0, 2.0, 1.0, 0.0, 3.5, 3.5])
TWO = sa.DiscretePrior([0.1, 0.6], [0.75, 0.25])


def test_slopes_of_precision_and_labels_by_name():
    tpr, fpr, step = np.array([0.2, 0.9]), np.array([0.0, 0.4]), 1e-6
    value, by_tpr, by_fpr = precision_slopes(tpr, fpr, TWO)
    assert value == pytest.approx(prior_averaged_precision(tpr, fpr, TWO))
    ahead = (prior_averaged_precision(tpr + step, fpr, TWO), prior_averaged_precision(tpr, fpr + step, TWO))
    behind = prior_averaged_precision(tpr - step, fpr, TWO)
    assert by_tpr == pytest.approx((ahead[0] - behind) / (2 * step), rel=1e-6, abs=1e-9)
    assert by_fpr == pytest.approx((ahead[1] - value) / step, rel=1e-4)
    labels, scores = simulated(10, 20, [1.0])
    found = auprec_influence(np.where(labels == 1, "fraud", "fine"), scores, prior=0.1, pos_label="fraud")
    assert (found == auprec_influence(labels, scores, prior=0.1)).all()
    labels, other = POSITIVE.astype(int), SCORE[::-1]
    both = auprec_influence(labels, np.stack([SCORE, other], axis=1), prior=0.3)
    assert both.shape == (12, 2)
    for column, score in zip(both.T, (SCORE, other), strict=True):
        assert column.tolist() == auprec_influence(labels, score, prior=0.3).tolist()


@pytest.mark.no_cover
@pytest.mark.slow
def test_the_tests_of_six_models_in_15_clusters_hold_their_level():
    """With degrees of freedom above 14 and half of Hotelling's factor, F rejected .32 of null tables."""
    cluster, p_values = np.repeat(np.arange(15), 60), []
    for seed in range(150):
        rng = np.random.default_rng(seed)
        labels = rng.random(900) < 0.3
        scores = rng.normal(size=(900, 6)) + 1.2 * labels[:, None] + 0.1 * rng.normal(size=(15, 6))[cluster]
        found = compare_test_set(labels, scores, prior=0.45, cluster=cluster, simultaneous="none")
        assert (found.df_error <= 14 + 1e-9).all()
        p_values.append((found.p_omnibus, found.p_adjusted.min()))
    assert ((np.array(p_values) < 0.05).mean(axis=0) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 150)).all()
