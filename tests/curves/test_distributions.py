"""True curves of known distributions, at few points and by hand."""

import warnings
from dataclasses import FrozenInstanceError

import mpmath as mp
import numpy as np
import pytest
from loops import each
from messages import exact, expect_error, expect_warning
from scipy import stats
from statsmodels.stats.diagnostic import normal_ad

import skewanova as sa
from skewanova.curves import distributions, fit_binormal, sample_scores, true_auc, true_auprec
from skewanova.curves.distributions import BinormalFit, curve_from_rates, find_best_power, shape_covariance


def test_thresholds_are_even_quantiles_without_repeated_points():
    """Of uniform classes on [0, 1] and [0.5, 1.5], three points each: 1/4, 1/2 and 3/4 of either."""
    curve = sa.curves.true_roc(stats.uniform(0, 1), stats.uniform(0.5, 1), n_points=3)
    assert curve.thresholds.tolist() == pytest.approx([np.inf, 1.25, 1.0, 0.75, 0.5, 0.25, -np.inf])
    assert curve.fpr.tolist() == pytest.approx([0, 0, 0, 0.25, 0.5, 0.75, 1])
    assert curve.tpr.tolist() == pytest.approx([0, 0.25, 0.5, 0.75, 1, 1, 1])
    assert len(sa.curves.true_roc(stats.uniform(0, 1), stats.uniform(0, 1)).fpr) == 2001 + 2
    rates = ([3.0, 2.0, 1.0, 0.0], [0, 0.5, 0.5, 1], [0.2, 0.2, 0.2, 1])
    curve = curve_from_rates(*map(np.array, rates))
    assert curve.thresholds.tolist() == [np.inf, 3.0, 2.0, 0.0]
    assert (curve.fpr.tolist(), curve.tpr.tolist()) == ([0, 0, 0.5, 1], [0, 0.2, 0.2, 1])
    risen = curve_from_rates(np.array([3.0, 2.0]), np.array([0.5, 0.5]), np.array([0.2, 0.4]))
    assert risen.tpr.tolist() == [0, 0.2, 0.4, 1]


@pytest.mark.parametrize(("prior", "n_positive"), [(0.99, 2), (0.01, 1), (0.5, 1), (0.4, 1)])
def test_neither_class_is_left_empty(prior, n_positive):
    labels, scores = sample_scores(stats.norm(), stats.norm(), 3, prior=prior)
    assert (int(labels.sum()), len(scores)) == (n_positive, 3)


def test_both_rates_agree_to_the_last_tail_on_panels_even_in_their_logits():
    recall, weight, alarms = distributions._recall_nodes(stats.norm(), stats.norm())
    assert recall.min() < 1e-18
    assert (alarms, weight.sum()) == (pytest.approx(recall, rel=1e-11, abs=0), pytest.approx(1, abs=1e-15))
    edges = distributions._find_rate_panels(stats.logistic(), stats.logistic(1))
    even = np.arange(-44.5, 44.75, 0.5)
    assert np.abs(edges).max() == 44.5
    for wanted in (even, even[even <= 43.5] + 1):  # the logit of recall is that of the alarms, and 1
        assert np.abs(wanted[:, None] - edges).min(axis=1).max() < 1e-9
    assert len(edges) <= 2 * len(even)


SETTINGS = {
    "binormal": (stats.norm(0, 1), stats.norm(1, 1)),
    "bibeta": (stats.beta(2, 5), stats.beta(5, 2)),
    "offset_uniform": (stats.uniform(0, 1), stats.uniform(0.5, 1)),
}
SHAPES = [(1, 1), (1, 1e-6), (1, 0.02), (0.7, 0.3), (2, 5), (0.5, 100), (0.5, 1e5), (-2, 0.7), (30, 3)]


def fitted(gap, ratio, alpha=0.4):
    return BinormalFit(gap, 0.0, ratio, 1.0, 40, 60, alpha)


@pytest.mark.parametrize("setting", SETTINGS)
def test_recorded_true_areas(golden, setting):
    for prior, value in golden["auprec"][setting].items():
        assert true_auprec(*SETTINGS[setting], float(prior)) == pytest.approx(value, rel=1e-13)
    by_prior, by_skew = golden["iauprec_prior"][setting], golden["iauprec_skew"][setting]
    assert sa.curves.true_iauprec(*SETTINGS[setting], (0.05, 0.20)) == pytest.approx(by_prior, abs=2e-14)
    found = sa.curves.true_iauprec(*SETTINGS[setting], sa.UniformSkew(4, 19))
    assert found == pytest.approx(by_skew, abs=2e-14)
    assert true_auc(*SETTINGS[setting]) == pytest.approx(golden["auc"][setting], abs=1e-14)


@each("prior", [1e-6, 0.01, 0.5, 0.999])
@each("either", [stats.norm(0, 1), stats.gamma(0.5), stats.expon()])
def test_chance_scores_the_prior(either, prior):
    assert true_auprec(either, either, prior) == pytest.approx(prior, rel=1e-12)
    assert true_auc(either, either) == pytest.approx(0.5, abs=1e-13)


@each(("low", "high"), [(0.2, 0.9), (0.5, 3.0), (-1.0, 0.4)])
def test_kinks_of_unequal_supports_are_met(low, high):
    negative, positive = stats.uniform(0, 1), stats.uniform(low, high - low)

    def at(x):
        recall = np.clip((high - x) / (high - low), 0, 1)
        return recall / (recall + 9 * np.clip(1 - x, 0, 1)) if x < high else 0.0

    middle = [x for x in (0.0, 1.0) if low < x < high]
    with mp.workdps(20):
        truth = mp.quad(lambda x: mp.mpf(float(at(float(x)))), [low, *middle, high]) / (high - low)
    assert true_auprec(negative, positive, 0.1) == pytest.approx(float(truth), rel=1e-9)


def test_the_kink_with_an_infinite_slope_and_the_roc_that_converges():
    # negatives on (0, 1) with S-(x) = sqrt(1 - x), positives uniform on (0.5, 1.5)
    negative, positive = stats.beta(1, 0.5), stats.uniform(0.5, 1)
    with mp.workdps(30):
        rest = mp.quad(lambda u: u / (u + 9 * mp.sqrt(u - 0.5)), [0.5, 0.6, 1])
    assert true_auprec(negative, positive, 0.1) == pytest.approx(float(rest) + 0.5, rel=1e-8)
    for setting in SETTINGS.values():
        curve = sa.curves.true_roc(*setting, n_points=4000)
        assert sa.auc(curve) == pytest.approx(true_auc(*setting), abs=1e-6)
        area = sa.auprec(curve, 0.1, area_estimator="exact")
        assert area == pytest.approx(true_auprec(*setting, 0.1), rel=1e-4)
        assert curve.fpr[1:-1] == pytest.approx(setting[0].sf(curve.thresholds[1:-1]), abs=1e-15)
        assert (curve.fpr[0], curve.tpr[0], curve.fpr[-1], curve.tpr[-1]) == (0, 0, 1, 1)
        assert np.isnan(curve.n_positive)


def test_samples_have_exact_or_random_counts():
    def count(n, prior, **options):
        labels, scores = sample_scores(*SETTINGS["offset_uniform"], n, prior=prior, **options)
        assert len(labels) == len(scores) == n
        assert (scores[labels] >= 0.5).all()
        assert (scores[~labels] <= 1).all()
        return labels.sum()

    assert count(100, 0.4) == 40
    assert count(10, 0.75) == 7  # 2.5 negatives are 3
    drawn = [count(100, 0.4, exact_counts=False, rng=seed) for seed in range(200)]
    assert (np.mean(drawn), np.std(drawn)) == (pytest.approx(40, abs=1.1), pytest.approx(24**0.5, rel=0.2))
    drawn = (sample_scores(*SETTINGS["binormal"], 30, prior=0.5, rng=seed)[1] for seed in (1, 1, 2))
    one, same, other = (scores.tolist() for scores in drawn)
    assert one == same != other


NORMAL = stats.norm()
NO_PRIOR = "`prior` must lie strictly between 0 and 1, but got "
FITTED = "of scores use skewanova.curves.fit_binormal(y_true, scores)"
FROZEN = f"`positive` must be a frozen distribution such as scipy.stats.norm(0, 1), but got 1.0; {FITTED}"
NO_MEDIAN = "`positive` must have valid parameters, one value each, but its median is nan"
REFUSED = {
    NO_PRIOR + "0": lambda: true_auprec(NORMAL, NORMAL, 0),
    NO_PRIOR + "4; write skew 4 as prior 0.2, or 4% as 0.04":
        lambda: sample_scores(NORMAL, NORMAL, 10, prior=4),
    "`negative` must be continuous, as scipy.stats.norm(0, 1), but is discrete":
        lambda: true_auc(stats.poisson(3), NORMAL),
    "`negative` must have its parameters, such as scipy.stats.gamma(2)": lambda: true_auc(stats.beta, NORMAL),
    FROZEN: lambda: true_auc(NORMAL, 1.0), NO_MEDIAN: lambda: sa.curves.true_roc(NORMAL, stats.norm(0, -1)),
    "`n_points` must be at least 1, but got 0": lambda: sa.curves.true_roc(NORMAL, NORMAL, n_points=0),
    "`n_cases` must be at least 2, but got 1": lambda: sample_scores(NORMAL, NORMAL, 1, prior=0.5),
}  # fmt: skip


@each(("message", "call"), REFUSED.items())
def test_true_curves_refuse(message, call):
    error = TypeError if "continuous" in message or "frozen" in message or "gamma" in message else ValueError
    expect_error(exact(message), call, error=error)


def test_recorded_binormal_and_brodersen_areas(golden):
    fit = fitted(1, 1)
    assert fit.auc == pytest.approx(golden["auc"]["binormal"], abs=1e-15)
    assert fit.iauprec((0.05, 0.20)) == pytest.approx(golden["iauprec_prior"]["binormal"], abs=1e-13)
    assert fit.iauprec(sa.UniformSkew(4, 19)) == pytest.approx(golden["iauprec_skew"]["binormal"], abs=1e-13)
    fit = BinormalFit(1, -1, 2, 2, 40, 60, 0.4)
    recorded = {k: v for k, v in golden["brodersen_average_precision"].items() if k != "note"}
    assert len(recorded) == 14
    for alpha, value in recorded.items():
        assert fit.auprec(float(alpha)) == pytest.approx(value, rel=1e-13)
    assert fit.auprec() == pytest.approx(recorded["0.4"], rel=1e-13)


@each("shape", SHAPES)
@each("prior", [1e-6, 0.01, 0.5, 1 - 1e-6])
def test_areas_hold_however_unequal_the_spreads(shape, prior):
    expected = true_auprec(stats.norm(0, 1), stats.norm(*shape), prior)
    assert fitted(*shape).auprec(prior) == pytest.approx(expected, rel=1e-11)


@each("shape", [(1, 1), (0.7, 0.3), (2, 5), (-1, 1.5)])
def test_slopes_are_derivatives(shape):
    nodes, step = (np.array([0.02, 0.5]), np.array([0.3, 0.7])), 1e-5
    for both in (lambda a, b: distributions.auprec_and_slopes(a, b, *nodes), distributions.auc_and_slopes):
        for axis, slope in enumerate(both(*shape)[1]):
            move = step * np.eye(2)[axis]
            ends = [both(*(shape + side * move))[0] for side in (1, -1)]
            assert slope == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=1e-9)


@each("shape", [(0.7, 0.3), (2, 3)])
def test_roc_has_the_areas_of_the_model(shape):
    fit = BinormalFit(5 + 2 * shape[0], 5, 2 * shape[1], 2, 40, 60, 0.4)
    curve = fit.roc(n_points=4000)
    assert sa.auc(curve) == pytest.approx(fit.auc, abs=1e-6)
    mean = sa.iauprec(curve, (0.05, 0.2), area_estimator="exact")
    assert mean == pytest.approx(fit.iauprec((0.05, 0.2)), abs=1e-4)
    few, shares = fit.roc(n_points=3).thresholds, [0.25, 0.5, 0.75]  # of either class
    places = [*stats.norm.ppf(shares, fit.mean_positive, fit.std_positive), *stats.norm.ppf(shares, 5, 2)]
    assert few[1:-1] == pytest.approx(np.sort(places)[::-1])
    assert (few[[0, -1]].tolist(), len(fit.roc().thresholds)) == ([np.inf, -np.inf], 2 * 1001 + 2)
    inner = curve.thresholds[1:-1]
    assert curve.tpr[1:-1] == pytest.approx(stats.norm.sf(inner, fit.mean_positive, fit.std_positive))
    assert curve.fpr[1:-1] == pytest.approx(stats.norm.sf(inner, 5, 2))
    assert (curve.n_positive, curve.n_negative) == (40, 60)


@each("shape", [(0.7, 0.3), (2, 3)])
def test_precision_recall_is_equation_seven_corrected(shape):
    fit = fitted(*shape, alpha=0.3)
    precision, recall = fit.precision_recall()
    flagged = 0.3 * recall[:-1], 0.7 * stats.norm.sf(stats.norm.isf(recall[:-1], *shape))
    assert precision[:-1] == pytest.approx(flagged[0] / (flagged[0] + flagged[1]), rel=1e-9)
    assert (recall[-1], precision[-1]) == (1, pytest.approx(0.3))
    some, at = fit.precision_recall(0.1, recall=[0.2, 0.8])
    assert at.tolist() == [0.2, 0.8]
    assert some[0] < precision[199]
    area = fit.precision_recall(0.1, recall=(np.arange(2000) + 0.5) / 2000)[0].mean()
    assert area == pytest.approx(fit.auprec(0.1), abs=1e-3)


def test_fit_is_by_moments():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [60, 40])
    scores = rng.normal(2.0 * labels - 1, 2)
    fit, other = fit_binormal(labels, scores), fit_binormal(labels, scores, ddof=1, alpha=0.5)
    assert (fit.mean_positive, fit.mean_negative) == (scores[60:].mean(), scores[:60].mean())
    assert (fit.std_positive, fit.std_negative) == (scores[60:].std(), scores[:60].std())
    assert (other.std_positive, other.std_negative) == (scores[60:].std(ddof=1), scores[:60].std(ddof=1))
    assert (fit.alpha, other.alpha, fit.n_positive, fit.n_negative) == (0.4, 0.5, 40, 60)
    assert fit.power is None
    assert other.auprec() == other.auprec(0.5)
    assert fit_binormal(np.where(labels == 1, "ill", "well"), scores, pos_label="ill") == fit
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'alpha'"):
        fit.alpha = 0.5


@pytest.mark.slow
@pytest.mark.no_cover
def test_standard_errors_are_the_spread_of_fresh_fits():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [100, 300])
    scores = rng.normal(labels, np.where(labels == 1, 1.5, 1.0), size=(250, 400))
    with warnings.catch_warnings(action="ignore", category=sa.SkewanovaWarning):
        fits = [fit_binormal(labels, s) for s in scores]
    for value, error in (
        (lambda f: f.auc, lambda f: f.auc_std_error),
        (lambda f: f.auprec(0.1), lambda f: f.auprec_std_error(0.1)),
        (lambda f: f.iauprec((0.05, 0.2)), lambda f: f.iauprec_std_error((0.05, 0.2))),
    ):
        assert np.mean([error(f) for f in fits]) == pytest.approx(np.std([value(f) for f in fits]), rel=0.15)
    assert fits[0].auprec_std_error() == fits[0].auprec_std_error(0.25)


def test_shape_covariance_by_hand_and_checks_of_either_class():
    found = shape_covariance(2.0, 0.5, 10, 20)
    assert found == pytest.approx(np.array([[0.25 / 10 + 1 / 20 + 4 / 40, 1 / 40], [1 / 40, 0.25 * 3 / 40]]))
    scores = np.exp(np.random.default_rng(0).normal(size=200)) + 1
    # two copies of one class have the likelihood of one
    assert find_best_power(scores, scores) == pytest.approx(stats.boxcox(scores)[1], abs=1e-5)
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], [500, 500])
    scores = np.where(labels == 1, rng.normal(8, 1, 1000), 4 + 2 * rng.beta(0.5, 0.5, 1000))
    message = r"does not hold because scores are not normal for negatives \(p <0\.0001\); .*: try boxcox"
    expect_warning(message, fit_binormal, labels, scores)
    with pytest.warns(sa.SkewanovaWarning, match="scores transformed by the Box-Cox power .* are not normal"):
        fit_binormal(labels, scores, boxcox=True)
    labels = np.repeat([0, 1], [60, 40])
    scores = np.random.default_rng(0).normal(2.0 * labels, 2)
    fit = fit_binormal(labels, scores)
    assert fit.normality_positive == pytest.approx(normal_ad(scores[60:])[1])
    assert fit.normality_negative == pytest.approx(normal_ad(scores[:60])[1])
    assert np.isnan(distributions.normality_p_value(np.arange(7.0)))
    assert "normality" not in repr(fit)


@each("power", [-1.0, 0.0, 2.0])
def test_boxcox_finds_the_power(power):
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], [6000, 4000])
    normal = rng.normal(8 + labels, 1)
    scores = np.exp(normal / 4) if power == 0 else normal ** (1 / power)
    fit = fit_binormal(labels, scores, boxcox=True)
    assert fit.power == pytest.approx(power, abs=0.15 if power else 0.05)
    assert fit.auc == pytest.approx(stats.norm.cdf((1 if power > -1 else -1) / 2**0.5), abs=0.02)
    scaled = find_best_power(scores[labels == 1] * 1e3, scores[labels == 0] * 1e3)
    assert scaled == pytest.approx(fit.power, abs=1e-4)


Y, S = [0, 0, 1, 1], [0.5, 1.0, 2.0, 3.0]


VARY = "`y_score` must vary within each class, but all negative cases have {}; use skewanova.auprec_score("
TOO_FEW, MODEL_FREE = "`y_true` must hold at least ", "y_true, y_score, prior=0.1), which needs no model"
REFUSED_BY_FIT = {
    "`y_score` must be finite for the binormal model, but has 2 infinite, the first at row 1; use "
    "skewanova.auprec_score(y_true, y_score, prior=0.1)": lambda: fit_binormal(Y, [0.5, np.inf, -np.inf, 1]),
    "`y_score` must not hold NaN or blanks, but has 1, the first at row 1; fill them in, "
    "or leave out their whole rows for all models": lambda: fit_binormal(Y, [0, np.nan]),
    TOO_FEW + "2 positive cases, but has 1": lambda: fit_binormal([0, 0, 1], S[:3]),
    TOO_FEW + "2 negative cases, but has 0": lambda: fit_binormal([1, 1, 1], S[:3]),
    TOO_FEW + "3 positive cases for `ddof`=2, but has 2": lambda: fit_binormal(Y, S, ddof=2),
    "`ddof` must be at least 0, but got -1": lambda: fit_binormal(Y, S, ddof=-1),
    VARY.format(1) + MODEL_FREE: lambda: fit_binormal(Y, [1, 1, 2, 3]),
    VARY.format(4) + MODEL_FREE: lambda: fit_binormal(Y, [4, 4, 2, 3], boxcox=True),
    "`boxcox` needs scores above 0, but the lowest is 0; add more than 0 to all scores": lambda: fit_binormal(
        Y, [0, 1, 2, 3], boxcox=True
    ),
    "`alpha` must lie strictly between 0 and 1, but got 1": lambda: fit_binormal(Y, S, alpha=1.0),
    NO_PRIOR + "0": lambda: fit_binormal(Y, S).auprec(0),
    "`recall` must lie in (0, 1], but got 0": lambda: fit_binormal(Y, S).precision_recall(recall=[0.5, 0]),
    "`n_points` must be at least 2, but got 1": lambda: fit_binormal(Y, S).roc(n_points=1),
}


@each(("message", "call"), REFUSED_BY_FIT.items())
def test_refused(message, call):
    expect_error(exact(message), call, error=ValueError)


@each(("p", "warned"), [(0.0049, True), (0.0051, False)])
def test_either_class_is_checked_at_half_the_level_of_one_percent(p, warned):
    assert bool(distributions._normality_notes([p, 0.5], None)) == warned
    assert bool(distributions._normality_notes([0.5, p], 0.3)) == warned


def test_distributions_have_one_value_a_parameter_and_boxcox_needs_scores_above_0():
    message = "`negative` must have valid parameters, one value each, but its median"
    expect_error(message, sample_scores, stats.norm([0, 1], 1), stats.norm(), 9, prior=0.5)
    labels = np.repeat([0, 1], 500)
    scores = np.exp(np.random.default_rng(0).normal(labels))
    expect_warning(
        "at any sample size: try boxcox=True, or use skewanova.auprec_score", fit_binormal, labels, scores
    )
    expect_warning(
        "at any sample size: use skewanova.auprec_score", fit_binormal, labels, scores - scores.min()
    )
