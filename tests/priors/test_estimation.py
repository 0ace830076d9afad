"""The estimated prior: intervals, test of label shift, what it refuses, and its use as a deployment prior."""

import pickle

import numpy as np
import pandas as pd
import pytest
from loops import each
from messages import expect_error, expect_warning
from scipy.special import expit, logit
from scipy.stats import chi2, norm

from skewanova import InputError, InputTypeError, SkewanovaWarning, estimate_prior
from skewanova.curves import areas
from skewanova.priors import batches, estimation, mixtures, weightings
from skewanova.priors.mixtures import BinCounts, BinnedScores

LABELS = np.repeat([1, 0], [100, 300])


def scores(rng=0, prior=0.1, shift=1.5, n=2000):
    draw, n_positive = np.random.default_rng(rng), round(prior * n)
    labelled = np.append(draw.normal(shift, 1, 100), draw.normal(0, 1, 300))
    return labelled, np.append(draw.normal(shift, 1, n_positive), draw.normal(0, 1, n - n_positive))


@pytest.fixture(autouse=True)
def few_draws(monkeypatch):
    monkeypatch.setattr(estimation, "N_RESAMPLES", 99)


@pytest.fixture(scope="module")
def found():
    return estimate_prior(LABELS, *scores())


def of_counts(*counts, level=0.95):
    """An estimate from counts alone."""
    parts = BinCounts(*(np.asarray(part, dtype=float) for part in counts))
    bare = BinnedScores(np.arange(len(parts.positive) - 1), parts, np.zeros(2), np.zeros(2), np.zeros(1))
    return estimation.estimate_from_bins(bare, level)


WEAK = ([16, 20, 24], [45, 40, 35], [360, 330, 330])


@each("counts", [
    WEAK, ([9, 60], [180, 60], [300, 40]), ([2, 5, 9, 12], [30, 22, 10, 6], [50, 50, 30, 30]),
    ([1, 3, 6, 10], [20, 12, 6, 2], [60, 50, 40, 60]),
])  # fmt: skip
def test_limits_are_where_the_stretched_likelihood_ratio_is_that_of_chi2(counts):
    one = of_counts(*counts)
    for limit in (one.conf_low, one.conf_high):
        if 0 < limit < 1:
            ratio = estimation.likelihood_ratio(one, np.array([logit(limit)]))
            assert ratio == pytest.approx(chi2.ppf(0.95, 1), rel=1e-6)
    low, high = mixtures.log_odds_range(np.asarray(float(one.n_unlabelled)))
    for at, end in ((one.log_odds[:1], low), (one.log_odds[-1:], high)):
        ratio = pytest.approx(chi2.ppf(0.999, 1), rel=1e-6)
        assert at[0] == end or estimation.likelihood_ratio(one, at) == ratio
    assert one.conf_low > 0 or 0 < one.low == pytest.approx(expit(low))
    assert min(one.ratio_scale) >= 1
    assert (max(one.ratio_scale) > 1) == (one.method == "bootstrap")
    assert one.method == "chi2" or one.ratio_scale[0] != one.ratio_scale[1]


def test_the_estimate_lies_between_and_fills_its_frames(found):
    at = np.linspace(found.low, found.high, 20_001)[1:-1]
    mass = found.density(at) / (at * (1 - at))  # the density is that of the log-odds
    below = np.cumsum(mass) / mass.sum()
    for share in (0.5, 0.9):
        low, high = found.central_interval(share)
        expected = (0.5 - share / 2, 0.5 + share / 2)
        assert np.interp((low, high), at, below) == pytest.approx(expected, abs=0.01)
    expect_error("share", found.central_interval, 1.0)
    assert found.density(found.high - 1e-12) == pytest.approx(np.exp(found.log_density[-1]), rel=1e-6)
    assert found.density([0, found.low / 2, (1 + found.high) / 2, 1]).tolist() == [0] * 4
    assert found.estimate == pytest.approx(0.1, abs=0.03)
    assert found.conf_low < 0.1 < found.conf_high
    assert (found.method, found.label_shift.df, found.warnings) == ("chi2", 6, ())
    wide = estimate_prior(LABELS, *scores(), confidence_level=0.99)
    assert wide.conf_low < found.conf_low < found.conf_high < wide.conf_high
    columns = "batch estimate conf_low conf_high n_positive n_negative n_unlabelled n_bins auc statistic df"
    assert list(found.to_frame().columns) == [*columns.split(), "p_value", "method"]
    assert found.to_frame()["estimate"].tolist() == [found.estimate]
    assert repr(found) == f"PriorEstimate: {found.describe()}"
    assert list(of_counts([5, 5], [9, 1], [7, 3]).to_frame().columns) == list(found.to_frame().columns)
    assert pickle.loads(pickle.dumps(found)).quadrature()[1].tolist() == found.quadrature()[1].tolist()


def test_the_interval_turns_round_with_residuals_and_sensitivity(found):
    labelled, unlabelled = scores()
    with pytest.warns(SkewanovaWarning, match="rank negatives above positives"):
        turned = estimate_prior(1 - LABELS, labelled, unlabelled)
    assert turned.estimate == pytest.approx(1 - found.estimate, abs=1e-6)
    ends = (1 - turned.conf_high, 1 - turned.conf_low)
    assert ends == pytest.approx((found.conf_low, found.conf_high), abs=1e-6)
    none = of_counts([10, 40], [90, 10], [90, 10])
    assert (none.estimate, none.conf_low) == (pytest.approx(0, abs=2e-2), 0.0)
    everyone = of_counts([10, 40], [90, 10], [10, 45])
    assert (everyone.estimate, everyone.conf_high) == (1.0, 1.0)
    frame = found.bins_frame()
    expected = (frame["n_unlabelled"] - frame["expected"]) / np.sqrt(frame["expected"])
    assert frame["residual"].tolist() == pytest.approx(expected.tolist())
    assert frame["expected"].sum() == pytest.approx(2000) == frame["n_unlabelled"].sum()
    assert frame["n_positive"].sum() == 100
    rare = of_counts([0.0, 10, 90], [1.0, 1999, 2000], [2.0, 300, 298])  # less than a case expected
    expected = rare.bins_frame()["expected"]
    assert 0 < expected[0] < 1
    assert rare.label_shift.residuals[0] == pytest.approx((2 - expected[0]) / np.sqrt(expected[0]), rel=1e-3)
    moved = [{"positive": 0.3}, {"positive": -0.3}, {"negative": 0.3}, {"negative": -0.3}]
    each = [float(mixtures.find_likeliest_prior(found.bins.shift_classes(**one))) for one in moved]
    assert found.sensitivity(0.3) == pytest.approx((min(each), max(each)), abs=1e-9)
    assert found.sensitivity(0) == pytest.approx((found.estimate, found.estimate))
    expect_error("`delta` must be standard deviations, 0 or more", found.sensitivity, -1)


def test_label_shift_is_noticed_with_more_than_two_bins():
    labelled, _ = scores()
    strange = np.random.default_rng(5).normal(0.5, 0.2, 2000)
    with pytest.warns(SkewanovaWarning, match="not a mixture of the.*; to check it, label some 50 of"):
        shifted = estimate_prior(LABELS, labelled, strange)
    assert shifted.label_shift.is_rejected
    assert np.abs(shifted.label_shift.residuals).max() > 3
    assert "df, p <0.0001" in str(shifted.label_shift)
    two = expect_warning("cannot be tested with two bins", estimate_prior, LABELS, *scores(), n_bins=2)
    assert two.label_shift.df == 0
    assert np.isnan(two.label_shift.p_value)
    assert not two.label_shift.is_rejected
    assert two.label_shift.statistic == 0
    assert "not tested" in str(two.label_shift)


def test_weak_models_have_wider_intervals_that_cover():
    weak = of_counts(*WEAK)
    assert weak.method == "bootstrap"
    assert any("hardly separate" in text for text in weak.warnings)
    again = of_counts(*WEAK)
    assert (weak.conf_low, weak.conf_high) == (again.conf_low, again.conf_high)
    told = [text for n in (19, 20) for text in of_counts([2, n - 2], [30, 10], [300, 60]).warnings]
    assert [text.split(" labelled")[0] for text in told if "are few" in text] == ["19"]
    described = of_counts([2, 18], [30, 10], [1, 0]).describe()
    assert described.startswith("the prior estimated from 1 unlabelled score")
    assert "1 unlabelled scores" not in described
    labelled = np.arange(500.0)
    for beyond, told in ((10, 0), (11, 1)):  # of 500: 10 are what chance may bring of 500 labelled ones
        unlabelled = np.append(np.full(500 - beyond, 7.0), np.full(beyond, 900.0))
        assert len(estimation.note_scores_beyond(labelled, unlabelled)) == told
    # 1,000 samples of 60 + 240 labelled, 1,000 unlabelled.
    draw, shift = np.random.default_rng(11), norm.ppf(0.85) * np.sqrt(2)
    many = np.append(draw.normal(shift, 1, 60000), draw.normal(0, 1, 240000))
    edges = np.quantile(many, np.arange(1, 6) / 6)
    p, q = (np.diff(norm.cdf([-np.inf, *(edges - at), np.inf])) for at in (shift, 0))
    sizes = (60, p), (240, q), (1000, 0.05 * p + 0.95 * q)
    counts = BinCounts(*(draw.multinomial(n, share, 1000).astype(float) for n, share in sizes))
    top = mixtures.find_peak(counts).height
    ratios = mixtures.likelihood_ratio_statistic(counts, np.full(1000, logit(0.05)), top)
    held = ratios <= chi2.ppf(0.95, 1)
    assert 0.93 <= held.mean() <= 0.97
    for i in range(6):  # what an interval is made of
        one = of_counts(*(part[i] for part in counts))
        assert (one.conf_low <= 0.05 <= one.conf_high) == held[i]


def test_weighting_beta_prior_and_deployment_prior_of_the_estimate(found):
    priors, weights = found.quadrature()
    assert weights.sum() == pytest.approx(1)
    assert found.low < priors.min() < found.conf_low < found.conf_high < priors.max() < found.high
    odds = np.linspace(np.log(found.low / (1 - found.low)), np.log(found.high / (1 - found.high)), 4001)
    height = found.density(expit(odds))
    assert weights @ priors == pytest.approx((height * expit(odds)).sum() / height.sum(), rel=1e-3)
    assert height.max() == pytest.approx(1, abs=5e-3)
    broken, parts = found.quadrature([0.1])
    assert parts[broken < 0.1].sum() == pytest.approx(weights[priors < 0.1].sum(), abs=0.05)
    beta, (priors, weights) = found.to_beta(), found.quadrature()
    nodes, of_beta = beta.quadrature()
    assert of_beta @ nodes == pytest.approx(weights @ priors)
    assert of_beta @ nodes**2 == pytest.approx(weights @ priors**2)
    labelled, _ = scores()
    assert weightings.as_deployment_prior(found) is found
    area = areas.iauprec_score(LABELS, labelled, deployment_prior=found)
    narrow = areas.iauprec_score(LABELS, labelled, deployment_prior=(found.conf_low, found.conf_high))
    assert area == pytest.approx(narrow, abs=0.05)
    assert found.describe() == f"the prior estimated from 2,000 unlabelled scores: {found}"


@each(("labels", "labelled", "unlabelled", "message"), [
    ([1, 1, 1], [1, 2, 3], [1, 2], "`y_true` must hold both classes, but has no negative case"),
    ([0, 0, 0], [1, 2, 3], [1, 2], "`y_true` must hold both classes, but has no positive case"),
    ([0, 1, 1], [2, 2, 2], [2, 2], "`y_score` must not be constant, but is 2; use another model"),
    ([0, 1, 1], [0.1, 0.2, 0.9], [3, 4], "give both on one scale"),
    ([0, 1, 1], [0.1, 0.2, 0.9], [-3, -4], "give both on one scale"),
    ([0, 1, 1], [0.1, 0.2, 0.9], [], "`unlabelled` must hold at least one value"),
    ([0, 1, 1], [0.1, 0.2, 0.9], [0.1, np.nan], "`unlabelled` must not hold NaN"),
    ([0, 1], [0.1, 0.2, 0.9], [0.1], "equally long"),
    ([0, 1, 1], [0.1, 0.2, 0.9], ["high", "low"], "`unlabelled` must hold real numbers"),
])  # fmt: skip
def test_what_cannot_be_estimated_is_refused(labels, labelled, unlabelled, message):
    with pytest.raises(InputTypeError if "real" in message else InputError, match=message):
        estimate_prior(labels, labelled, unlabelled)
    for name, value in (("n_bins", 1), ("confidence_level", 1.0), ("rng", -1)):
        expect_error(f"`{name}`", estimate_prior, LABELS, *scores(n=50, shift=0.3), **{name: value})


@pytest.mark.parametrize(("labels", "labelled", "unlabelled", "message"), [
    ([0] * 30 + [1] * 30, [*range(60)], [*range(60)], "every labelled positive scores above"),
    (LABELS, scores()[0], np.append(scores()[1], [9.0] * 300), "13% of the unlabelled scores are beyond"),
    ([0, 1, 0, 1] * 3, [*range(12)], [*range(12)], "are few for an estimate"),
    ([0, 1] * 50, [*range(100)], [*range(100)], "hardly separate the classes"),
    ([0, 1] * 50, [*range(100)], [*range(20)], "the interval is 0 to 1; give more scores, labelled"),
])  # fmt: skip
@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_doubtful_input_is_estimated_with_a_warning(labels, labelled, unlabelled, message):
    doubtful = expect_warning(message, estimate_prior, labels, labelled, unlabelled)
    assert 0 <= doubtful.conf_low <= doubtful.estimate <= doubtful.conf_high <= 1
    assert any(message.split()[-1] in text for text in doubtful.warnings)


def test_enough_batches_have_limits_and_a_weighting_for_a_further_one():
    rows = {str(k): np.array([100.0 - 3 * k, 3 * k]) for k in (3, 7, 2, 5, 4)}
    pooled = of_counts([2, 18], [15, 5], sum(rows.values()), level=0.8)
    found = estimation.add_batches(pooled, rows)
    told = batches.predict_batch(pooled.bins.counts._replace(unlabelled=np.stack([*rows.values()])))
    below = np.concatenate([[0], np.cumsum((told.likelihood[1:] + told.likelihood[:-1]) / 2)])
    limits = logit([found.conf_low, found.estimate, found.conf_high])
    assert np.interp(limits, told.centres, below / below[-1]) == pytest.approx([0.1, 0.5, 0.9], abs=1e-6)
    assert found.method == "batches"
    many = BinCounts(np.full(2, 10.0), np.full(2, 10.0), np.full(2, 8.0))
    assert estimation._note_unpredicted(4, many) == ""
    at, counts = np.linspace(-20, 20, 801), BinCounts(np.ones(2), np.ones(2), np.array([40.0, 60.0]))
    for centre in (-15.0, 15.0):
        told = batches.BatchPrediction(at, norm.pdf(at, centre), at, norm.pdf(at, centre))
        log_odds, _ = estimation._truncate_density(told, counts)
        assert log_odds[[0, -1]] == pytest.approx(centre + norm.ppf([0.0005, 0.9995]), abs=0.05)
    told = batches.BatchPrediction(at, norm.pdf(at, 5.0, 3.0), at, norm.pdf(at, 5.0, 3.0))
    assert estimation._truncate_density(told, counts)[0][-1] == mixtures.log_odds_range(np.asarray(100.0))[1]


@pytest.mark.parametrize("n", [1, 19])
def test_few_labelled_cases_predict_no_further_batch(n):
    """Batches of priors .03 to .09, which tell what the two classes are where the labelled cases do not."""
    pooled = of_counts([0, n], [n, 0], [283, 17])
    rows = {str(k): np.array([75.0 - k, k]) for k in (3, 7, 2, 5)}
    found = estimation.add_batches(pooled, rows, rng=np.random.default_rng(0))
    assert found.warnings[-1].startswith("fewer than 20 labelled positives or negatives are too few")
    pd.testing.assert_frame_equal(found.to_frame()[:1], pooled.to_frame())
    assert found.quadrature()[0] == pytest.approx(pooled.quadrature()[0])
    assert [name for name, _ in found.batches] == ["3", "7", "2", "5"]


def test_halves_of_the_positives_are_the_lower_and_the_upper_scores(found):
    labelled, unlabelled = scores()
    positive = np.sort(labelled[:100])
    ends = []
    for half in (positive[:50], positive[50:]):
        edges = found.bins.edges
        parts = half, labelled[100:], unlabelled
        counts = BinCounts(*(mixtures.count_by_bin(part, edges) for part in parts))
        ends.append(float(mixtures.find_likeliest_prior(counts)))
    ends.append(found.estimate)  # which is the largest here: no half alone explains the unlabelled scores
    assert found.half_range() == pytest.approx((min(ends), max(ends)), rel=1e-6)


def audited_sample(rng, n_audited, prior=0.05, shift=0.0):
    """Labels of cases in deployment drawn at random, whose positives score higher than the labelled ones."""
    true = rng.random(2000) < prior
    unlabelled = rng.normal((1.5 + shift) * true)
    labels = np.full(len(true), np.nan)
    chosen = rng.choice(len(true), n_audited, replace=False)
    labels[chosen] = true[chosen]
    return unlabelled, labels


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_audited_labels_cover_the_prior_and_exclude_batches():
    rng, labelled, critical = np.random.default_rng(0), scores()[0], float(chi2.ppf(0.95, 1))
    inside, naive = [], []
    for sample in range(60):
        unlabelled, labels = audited_sample(rng, 100, shift=1.0)
        strata = mixtures.AuditedStrata.from_scores(unlabelled, labels).add_half_cases()
        inside.append(strata.likelihood_ratio(0.05) <= critical)
        if sample < 12:
            plain = estimate_prior(LABELS, labelled, unlabelled)
            naive.append(plain.conf_low <= 0.05 <= plain.conf_high)
        if sample < 2:  # what an interval is made of
            audit = estimate_prior(LABELS, labelled, unlabelled, audited=labels)
            assert (audit.conf_low, audit.conf_high) == strata.interval_limits(critical)
    assert np.mean(inside) >= 0.88  # 60 draws of .95
    assert np.mean(naive) < np.mean(inside)
    labels = np.zeros(2000)
    with pytest.raises(InputError, match="leave out `batch`"):
        estimate_prior(LABELS, *scores(), audited=labels, batch=np.zeros(2000, dtype=int))


def test_an_audited_estimate_is_a_deployment_prior_that_may_hold_0():
    labelled = scores()[0]
    unlabelled, labels = audited_sample(np.random.default_rng(1), 400, prior=0.3)
    result = estimate_prior(LABELS, labelled, unlabelled, audited=labels)
    assert result.method == "audited"
    assert result.low < result.conf_low < result.estimate < result.conf_high < result.high
    assert result.caveats == ()
    assert "audited labels among 2,000 unlabelled scores" in result.describe()
    with pytest.warns(SkewanovaWarning, match="the audited labels exclude the estimate under label shift"):
        estimate_prior(LABELS, labelled, unlabelled, audited=np.where(np.isnan(labels), np.nan, 1 - labels))
    labelled, unlabelled = scores(prior=0.01)
    labels = np.full(len(unlabelled), np.nan)
    labels[-50:] = 0
    result = estimate_prior(LABELS, labelled, unlabelled, audited=labels)
    assert (result.estimate, result.conf_low) == (0.0, 0.0)
    assert 0.02 < result.conf_high < 0.1
    mirrored = estimate_prior(1 - LABELS, -labelled, -unlabelled, audited=1 - labels)
    assert (mirrored.estimate, mirrored.conf_high) == (1.0, 1.0)
    assert mirrored.conf_low == pytest.approx(1 - result.conf_high, rel=1e-6)
    new, labels = audited_sample(np.random.default_rng(1), 2000)
    with pytest.warns(SkewanovaWarning, match="the audited labels exclude"):
        assert estimate_prior(LABELS, labelled, new, audited=labels).estimate == pytest.approx(labels.mean())


@each(("audited", "message"), [
    ([0.0, 1.0], "arguments must be equally long, but `unlabelled` has 2000, `audited` has 2"),
    ([2.0] * 2000, "or nan for each unlabelled score, with at least 10 labels, but has the label 2$"),
    ([None] * 1995 + [1.0] * 5, "with at least 10 labels, but has 5$"),
    (["ill"] * 2000, "with at least 10 labels, but could not convert string to float: 'ill'$"),
    ([[0.0]] * 2000, "`audited` must be one-dimensional"),
])  # fmt: skip
def test_audited_labels_are_checked(audited, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        estimate_prior(LABELS, *scores(), audited=audited)


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
def test_audited_labels_need_no_other_scores_in_deployment():
    labelled, unlabelled = scores()
    beyond = np.append(unlabelled, [9.0] * 300)
    with expect_warning(r"drawn at random, and pass the labels to skewanova.estimate_prior"):
        estimate_prior(LABELS, labelled, beyond)
    audited = np.where(np.arange(2300) % 20 == 0, np.arange(2300) % 400 == 0, np.nan)
    told = estimate_prior(LABELS, labelled, beyond, audited=audited).warnings
    assert all("exclude" in text for text in told)


@each("batch", [["a", None] * 1000, [1.0, np.nan] * 1000])
def test_batches_are_named(batch):
    with pytest.raises(InputError, match="`batch` must name a batch for every score, but row 1 has"):
        estimate_prior(LABELS, *scores(), batch=batch)
