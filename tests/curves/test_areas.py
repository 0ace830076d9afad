from functools import partial

import numpy as np
import pytest
import twins
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from messages import exact, expect_error
from sklearn import metrics
from strategies import priors, ranges, tie_groups, untied_groups

from skewanova.base.checks import InputTypeError
from skewanova.curves.areas import auprec, auprec_score, iauprec, iauprec_score, precision_recall_curve
from skewanova.curves.estimators import ESTIMATORS
from skewanova.curves.roc import RocCurve, auc, convex_hull, roc_curve
from skewanova.priors.weightings import BetaPrior, DiscretePrior, UniformPrior, UniformSkew

TOLERANCE = 1e-13  # relative, against 40 digits
LINEAR = ("trapezoid", "average_precision", "upper_trapezoid")
SEGMENTS = ("exact", "interpolated_max", "interpolated_mean", "interpolated_median", "convex_hull")
EXACT_AT_CHANCE = tuple(e for e in ESTIMATORS if e != "upper_trapezoid")
EXACT_WHEN_PERFECT = (
    "trapezoid", "exact", "average_precision", "upper_trapezoid", "interpolated_max", "convex_hull"
)  # fmt: skip
GOLDEN_NAMES = {"lower_trapezoid": "trapezoid"} | {e: e for e in ESTIMATORS}
RANGES = [
    (0.05, 0.2), (1e-6, 0.999), (0.3, 0.3 + 1e-9), (1e-6, 1e-6 + 1e-9), (1 - 2e-6, 1 - 1e-6), (0.4, 0.9),
]  # fmt: skip


def curve_of(groups, **options):
    return roc_curve(*twins.labels_and_scores(groups), **options)


def in_skews(limits):
    return tuple(1 / p - 1 for p in reversed(limits))


def assert_close(found, truth):
    assert twins.relative_error(found, truth) < TOLERANCE


def test_worked_roc_and_the_curve_of_weighted_rows(golden):
    worked = golden["worked_roc"]
    curve = RocCurve.from_rates(worked["fpr"], worked["tpr"])
    for prior, by_estimator in worked["auprec"].items():
        for estimator, truth in by_estimator.items():
            assert auprec(curve, float(prior), area_estimator=estimator) == pytest.approx(truth, abs=6e-16)
    prior, skew = (worked[key] for key in ("iauprec_prior_0.05_0.20", "iauprec_skew_4_19"))
    for weighting, by_estimator in ((UniformPrior(0.05, 0.20), prior), (UniformSkew(4, 19), skew)):
        for estimator, truth in by_estimator.items():
            assert iauprec(curve, weighting, area_estimator=estimator) == pytest.approx(truth, abs=6e-16)
    labels, scores, weights = [1, 0, 1, 0], [4, 3, 2, 1], [0.5, 2, 1, 0]
    precision, recall, thresholds = precision_recall_curve(labels, scores, sample_weight=weights)
    assert precision == pytest.approx([1, 1, 0.5 / 2.5, 1.5 / 3.5], rel=1e-15)
    assert (recall, thresholds.tolist()) == (pytest.approx([0, 1 / 3, 1 / 3, 1], rel=1e-15), [4, 3, 2])


def _golden_sample(golden, name):
    sample = golden[name]
    if "positive_ranks" in sample:
        ranks = range(1, sample["n"] + 1)
        return [r in sample["positive_ranks"] for r in ranks], [-r for r in ranks], None
    return sample["y_true"], sample["y_score"], sample.get("pos_label")


@pytest.mark.parametrize("name", ["slide_example", "statisticalmeasures_example", "tied_example"])
def test_published_examples(golden, name):
    labels, scores, pos_label = _golden_sample(golden, name)
    curve = roc_curve(labels, scores, pos_label=pos_label)
    prior = curve.n_positive / (curve.n_positive + curve.n_negative)
    told = {GOLDEN_NAMES[key]: value for key, value in golden[name].items() if key in GOLDEN_NAMES}
    assert len(told) == (8 if name == "slide_example" else 3)
    for estimator, truth in told.items():
        score = auprec_score(labels, scores, prior=prior, area_estimator=estimator, pos_label=pos_label)
        assert score == auprec(curve, prior, area_estimator=estimator)
        assert score == pytest.approx(truth, abs=6e-13)


@each("estimator", ESTIMATORS)
@given(groups=tie_groups(), prior=priors())
def test_auprec_equals_twin(estimator, groups, prior):
    truth = twins.auprec_twin(twins.vertices(groups), prior, estimator)
    assert_close(auprec(curve_of(groups), prior, area_estimator=estimator), truth)


@given(tie_groups())
def test_many_priors_equal_one_by_one_and_leave_the_curve_alone(groups):
    curve, at = curve_of(groups), np.array([[0.5, 0.1, 0.01], [0.9, 0.5, 1e-6]])
    before = [values.tolist() for values in (curve.fpr, curve.tpr)]
    for estimator in ESTIMATORS:
        area = partial(auprec, curve, area_estimator=estimator)
        assert area(at).tolist() == [[area(p) for p in row] for row in at.tolist()]
        assert {type(area(0.5)), type(area(np.float32(0.5)))} == {float}
        assert type(iauprec(curve, (0.1, 0.2), area_estimator=estimator)) is float
    assert [values.tolist() for values in (curve.fpr, curve.tpr)] == before


@pytest.mark.parametrize("estimator", LINEAR)
@given(groups=tie_groups(), limits=st.one_of(st.sampled_from(RANGES), ranges()))
def test_iauprec_of_linear_estimators_equals_antiderivatives(estimator, groups, limits):
    curve, vertices, skews = curve_of(groups), twins.vertices(groups), in_skews(limits)
    for weighting, mean in (
        (UniformPrior(*limits), lambda t, f: twins.mean_precision_uniform_prior(t, f, *limits)),
        (UniformSkew(*skews), lambda t, f: twins.mean_precision_uniform_skew(t, f, *skews)),
    ):
        truth = twins.iauprec_linear_twin(vertices, estimator, mean)
        assert_close(iauprec(curve, weighting, area_estimator=estimator), truth)


@each("estimator", LINEAR)
@each(("a", "b"), [(0.1, 0.1), (2, 30), (30, 0.2), (0.5, 20), (2000, 3000), (1e5, 3e5)])
def test_iauprec_of_linear_estimators_over_beta_priors(estimator, a, b):
    groups = [(0, 1), (2, 1), (1, 3), (3, 0), (0, 4), (2, 2)]
    mean = partial(twins.mean_precision_beta, a=a, b=b)
    truth = twins.iauprec_linear_twin(twins.vertices(groups), estimator, mean)
    assert_close(iauprec(curve_of(groups), BetaPrior(a, b), area_estimator=estimator), truth)


@pytest.mark.no_cover
@each("estimator", ESTIMATORS)
@each("limits", RANGES)
def test_iauprec_equals_quadrature(estimator, limits):
    """The antiderivatives used as twins above as well."""
    groups = [(0, 1), (2, 1), (1, 3), (3, 0), (0, 1), (0, 3), (2, 2)]
    for weighting, density in (
        (UniformPrior(*limits), twins.uniform_prior_density),
        (UniformSkew(*in_skews(limits)), twins.uniform_skew_density),
    ):
        truth = _integral(groups, estimator, density, weighting)
        assert_close(iauprec(curve_of(groups), weighting, area_estimator=estimator), truth)


def _integral(groups, estimator, density, weighting):
    vertices = twins.vertices(groups)
    if isinstance(weighting, UniformSkew):
        limits = [-twins.mp.log(twins.mp.mpf(s)) for s in (weighting.high_skew, weighting.low_skew)]
    else:
        limits = [twins.log_odds(p) for p in (weighting.low, weighting.high)]
    return twins.mean_over_priors(lambda pi: twins.auprec_twin(vertices, pi, estimator), density, limits)


@pytest.mark.no_cover
@each("estimator", SEGMENTS)
@each(("a", "b", "limits"), [(2, 30, (-33, 2)), (2000, 3000, (-0.75, -0.05)), (1e5, 3e5, (-1.145, -1.052))])
def test_iauprec_of_segments_over_beta_priors(estimator, a, b, limits):
    groups = [(0, 1), (2, 1), (1, 3), (0, 1), (2, 2)]
    vertices = twins.vertices(groups)
    truth = twins.mean_over_priors(
        lambda pi: twins.auprec_twin(vertices, pi, estimator), twins.beta_density(a, b), limits,
        width=(limits[1] - limits[0]) / 3
    )  # fmt: skip
    assert_close(iauprec(curve_of(groups), BetaPrior(a, b), area_estimator=estimator), truth)


@pytest.mark.no_cover
@each(
    ("estimator", "shapes"),
    [*((e, (2, 0.2)) for e in ESTIMATORS), ("trapezoid", (0.1, 0.1)), ("exact", (0.1, 2))],
)
def test_beta_priors_that_reach_0_and_1(estimator, shapes):
    """Log-odds beyond 37 are priors of 1 to a double, where a vertex without recall has precision 0/0."""
    value = iauprec(curve_of([(0, 1), (2, 1), (1, 2)]), BetaPrior(*shapes), area_estimator=estimator)
    mean = shapes[0] / sum(shapes)
    assert 0.6 * mean < value < 1


@given(tie_groups(), st.lists(priors(), min_size=1, max_size=4), st.randoms(use_true_random=False))
def test_iauprec_over_discrete_priors_is_a_weighted_mean(groups, at, random):
    curve, weights = curve_of(groups), [random.randint(1, 5) for _ in at]
    for estimator in ESTIMATORS:
        areas = [twins.auprec_twin(twins.vertices(groups), prior, estimator) for prior in at]
        truth = sum(w * area for w, area in zip(weights, areas, strict=True)) / sum(weights)
        assert_close(iauprec(curve, DiscretePrior(at, weights), area_estimator=estimator), truth)


@given(tie_groups(), priors())
def test_range_of_one_prior_or_of_neighbours_is_auprec(groups, prior):
    curve = curve_of(groups)
    for estimator in ESTIMATORS:
        truth = auprec(curve, prior, area_estimator=estimator)
        assert iauprec(curve, (prior, prior), area_estimator=estimator) == pytest.approx(truth, rel=1e-15)
        assert iauprec(curve, prior, area_estimator=estimator) == pytest.approx(truth, rel=1e-15)
        assert iauprec(curve, DiscretePrior([prior]), area_estimator=estimator) == truth
        skew = (1 - prior) / prior
        at_skew = iauprec(curve, UniformSkew(skew, skew), area_estimator=estimator)
        assert at_skew == pytest.approx(truth, rel=1e-14)
        neighbours = iauprec(curve, (prior, float(np.nextafter(prior, 1))), area_estimator=estimator)
        assert neighbours == pytest.approx(truth, rel=1e-13)


@given(st.integers(1, 50), st.integers(1, 50), st.floats(1e-300, 1, exclude_max=True))
def test_constant_classifier_scores_exactly_its_prior(n, m, prior):
    curve = curve_of([(n, m)])
    for estimator in EXACT_AT_CHANCE:
        assert auprec(curve, prior, area_estimator=estimator) == prior, estimator
    assert auprec(curve, prior, area_estimator="upper_trapezoid") == pytest.approx((1 + prior) / 2, rel=1e-15)


@given(untied_groups(max_cases=20), priors(), ranges(), st.booleans())
def test_perfect_ranking_scores_exactly_one(groups, prior, limits, tied):
    n, m = (sum(g[k] for g in groups) for k in (0, 1))
    curve = curve_of([(n, 0), (0, m)] if tied else [(1, 0)] * n + [(0, 1)] * m)
    weightings = [limits, UniformSkew(*in_skews(limits)), DiscretePrior((0.1, 0.2, 0.3), (1, 3, 7))]
    for estimator in EXACT_WHEN_PERFECT:
        assert auprec(curve, prior, area_estimator=estimator) == 1.0, estimator
        for weighting in weightings:
            assert iauprec(curve, weighting, area_estimator=estimator) == 1.0, (estimator, weighting)


@given(st.integers(1, 30), st.integers(1, 30), st.lists(st.integers(1, 9), min_size=60, max_size=60))
def test_perfect_weighted_ranking_scores_exactly_one(n, m, tenths):
    curve = curve_of([(1, 0)] * n + [(0, 1)] * m, sample_weight=np.array(tenths[: n + m]) / 10)
    for estimator in EXACT_WHEN_PERFECT:
        assert auprec(curve, 0.013, area_estimator=estimator) == 1.0, estimator


@given(tie_groups(max_groups=12), st.integers(0, 2**31), priors())
def test_fractional_weights_equal_scikit_learn_at_any_prior(groups, seed, prior):
    """Its number at the sample's own prior, from weights that give the positives the share `prior`."""
    labels, scores = map(np.array, twins.labels_and_scores(groups))
    weights = np.random.default_rng(seed).integers(1, 20, len(labels)) / 7
    positive, negative = weights[labels == 1].sum(), weights[labels == 0].sum()
    of_class = np.where(labels == 1, prior / positive, (1 - prior) / negative)
    truth = metrics.average_precision_score(labels, scores, sample_weight=weights * of_class)
    options = {"prior": prior, "area_estimator": "average_precision", "sample_weight": weights}
    assert auprec_score(labels, scores, **options) == pytest.approx(truth, rel=1e-12)
    own = positive / (positive + negative)
    truth = metrics.average_precision_score(labels, scores, sample_weight=weights)
    assert auprec_score(labels, scores, **options | {"prior": own}) == pytest.approx(truth, rel=1e-13)


def test_scores_equal_their_parts():
    labels, scores = ["b", "a", "b", "a", "a"], [5, 4, 3, 2, 2]
    weights = [1, 2, 0.5, 1, 1]
    curve = roc_curve(labels, scores, pos_label="b", sample_weight=weights)
    options = {"pos_label": "b", "sample_weight": weights}
    assert auprec_score(labels, scores, prior=0.1, **options) == auprec(curve, 0.1)
    for prior in ([0.5, 0.1], [[0.5, 0.1]]):
        found = auprec_score([1, 0, 1, 0], [3, 2, 1, 0], prior=prior)
        assert found.tolist() == auprec(roc_curve([1, 0, 1, 0], [3, 2, 1, 0]), prior).tolist()
    for estimator in ESTIMATORS:
        options |= {"deployment_prior": (0.1, 0.3), "area_estimator": estimator}
        found = iauprec_score(labels, scores, **options)
        assert found == iauprec(curve, (0.1, 0.3), area_estimator=estimator)


NO_PRIOR = "`prior` must lie strictly between 0 and 1, but got "
REFUSED = {
    NO_PRIOR + "4; write skew 4 as prior 0.2, or 4% as 0.04": lambda c: auprec(c, 4),
    NO_PRIOR + "0": lambda c: precision_recall_curve([0, 1], [1, 2], prior=0),
    "`prior` must be one number strictly between 0 and 1, but got 2 in shape (2,)":
        lambda c: precision_recall_curve([0, 1], [1, 2], prior=[0.1, 0.2]),
    f"`area_estimator` must be one of {', '.join(ESTIMATORS)}; but got 'ap'": lambda c: iauprec(
        c, (0.1, 0.2), area_estimator="ap"),
}  # fmt: skip


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_labels_in_place_of_a_curve_are_refused(estimator):
    labels = [0, 1]
    for call in (
        lambda: auc(labels), lambda: auprec(labels, 0.1, area_estimator=estimator),
        lambda: iauprec(labels, [0.3, 0.1, 0.2], area_estimator=estimator), lambda: convex_hull(labels)
    ):  # fmt: skip
        expect_error(r"but got list; .* use skewanova\.auprec_score\(y_true, ", call, error=InputTypeError)


@each(("message", "call"), REFUSED.items())
def test_bad_arguments(message, call):
    with pytest.raises(TypeError if "number" in message else ValueError, match=exact(message)):
        call(curve_of([(1, 0), (0, 1)]))


@given(tie_groups(), st.one_of(st.none(), priors()))
def test_precision_recall_curve_runs_from_precision_1_to_the_prior(groups, prior):
    labels, scores = twins.labels_and_scores(groups)
    precision, recall, thresholds = precision_recall_curve(labels, scores, prior=prior)
    assert (recall[0], precision[0]) == (0.0, 1.0)
    assert (recall[-1], precision[-1]) == (1.0, np.mean(labels) if prior is None else prior)
    assert thresholds.tolist() == sorted(set(scores), reverse=True)
    vertices = twins.vertices(groups)
    assert recall.tolist() == [float(t) for t, _ in vertices]
    skew = (1 - precision[-1]) / precision[-1]
    for p, (t, f) in zip(precision[1:], vertices[1:], strict=True):
        assert p == pytest.approx(float(t) / (float(t) + skew * float(f)), rel=1e-14)
