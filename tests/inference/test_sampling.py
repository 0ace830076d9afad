"""Cases drawn singly or in clusters, alike or weighted: strata, spread, checks, by hand."""

import re

import numpy as np
import pytest
from messages import expect_error
from scipy import stats

from skewanova import InputError
from skewanova.inference import sampling

POSITIVE = np.array([1, 1, 0, 0, 1, 0, 0, 1, 1, 0]) == 1
#: Clusters 0 and 4 of positives, 1 and 3 of negatives, 2 and 5 of both.
CLUSTER = np.array([0, 0, 1, 1, 2, 2, 3, 4, 5, 5])


def by_hand(values, groups):
    """Stratified jackknife: of G units, the sum of squares about their mean over G (G - 1)."""
    parts = [values[rows] for rows in groups]
    return sum(((part - part.mean()) ** 2).sum() / (len(part) * (len(part) - 1)) for part in parts)


def variance_of_variance(values):
    """(kurtosis - 1) variance^2 / G of a mean of G values, and at least 2 variance^2 / (G - 1)."""
    squares, size = (values - values.mean()) ** 2, len(values)
    return max(squares.var() / size**3, 2 * (squares.mean() / (size - 1)) ** 2 / (size - 1))


def test_strata_by_the_classes_of_a_cluster_and_their_spread():
    sample = sampling.Sample(POSITIVE, CLUSTER)
    assert sample.stratum.tolist() == [1, 0, 2, 0, 1, 2]
    assert [(rows.tolist(), size) for rows, size in sample.strata] == [([1, 3], 2), ([0, 4], 2), ([2, 5], 2)]
    assert (sample.n_units, sample.stratum_size.tolist()) == (6, [2] * 6)
    single = sampling.Sample(POSITIVE)
    assert (single.n_units, [*single.unit], [*single.stratum]) == (10, [*range(10)], [*POSITIVE])
    values = np.array([0.3, -0.2, 0.9, 0.5, -0.4, 0.1])
    sample, groups = sampling.Sample(POSITIVE, CLUSTER), ([1, 3], [0, 4], [2, 5])
    expected = by_hand(values, groups)
    assert sample.covariance(values[:, None]) == pytest.approx(np.array([[expected]]))
    assert sample.deviations(values)[[1, 3]] == pytest.approx(np.array([-0.35, 0.35]) / np.sqrt(2))
    # of two units both squares are the same: as of normal values
    assert sample.estimate_errors(values) == (pytest.approx(np.sqrt(expected)), sampling.MIN_DF)
    sample = sampling.Sample(np.array([True, False, False]))
    assert sample.deviations(np.array([5.0, 1.0, 2.0])).tolist() == pytest.approx([0, -(0.5**1.5), 0.5**1.5])
    assert sample.covariance(np.array([[5.0], [1.0], [2.0]])).tolist() == [[pytest.approx(0.25)]]


@pytest.mark.parametrize("size", [1e-120, 1.0, 1e120])
def test_degrees_of_freedom_of_any_size_of_values(size):
    values = np.array([0.0, 1.0, 5.0, 0.0, 2.0, 3.0, 10.0]) * size
    found = sampling.Sample(np.arange(7) < 3).estimate_errors(values)
    parts = (values[:3] / size, values[3:] / size)
    variance = sum(part.var() / (len(part) - 1) for part in parts)
    doubt = sum(map(variance_of_variance, parts))
    assert found == pytest.approx((np.sqrt(variance) * size, max(2 * variance**2 / doubt, sampling.MIN_DF)))
    heavy = np.array([100.0, *np.zeros(9), *np.zeros(10)]) * size
    assert sampling.Sample(np.arange(20) < 10).estimate_errors(heavy)[1] == sampling.MIN_DF == 4


@pytest.mark.parametrize("at_once", [1 << 15, 1])
def test_estimates_side_by_side_are_as_alone(at_once, monkeypatch):
    monkeypatch.setattr(sampling, "BLOCK_SIZE", at_once)
    values = np.random.default_rng(0).normal(size=(12, 3))
    sample = sampling.Sample(np.arange(12) < 5)
    error, df = sample.estimate_errors(values)
    alone = [sample.estimate_errors(values[:, k]) for k in range(3)]
    np.testing.assert_allclose(np.transpose([error, df]), alone, rtol=1e-6)
    assert np.diag(sample.covariance(values)) == pytest.approx(error**2)
    assert sample.covariance(values)[0, 0] == pytest.approx(by_hand(values[:, 0], np.split(range(12), [5])))
    moved = sample.deviations(values)
    assert moved.T @ moved == pytest.approx(sample.covariance(values))


def test_sums_of_powers_tell_the_spreads_of_models_and_of_their_differences():
    values = np.random.default_rng(1).normal(size=(15, 3, 2)) ** 3
    sample, factor = sampling.Sample(np.arange(15) < 6), np.array([2.0, 0.5])
    moved = sample.deviations(values).swapaxes(0, 1)
    parts = [(k, rows) for k in (0, 1) for rows in np.split(sample.strata[k][0], [4])]
    blocks = [(k, [model.T for model in moved[:, rows]]) for k, rows in parts]
    sums = sampling.power_sums(blocks, 2, 3, 2)
    pairs = values[:, [0, 0, 1]] - values[:, [1, 2, 2]]
    for scale in (np.ones(2), factor):
        spreads = sampling.VarianceEstimates.from_power_sums(sample, sums, 3, scale)
        for (error, df), variance, of_df in (
            (sample.estimate_errors(values * scale), spreads.model, spreads.model_df),
            (sample.estimate_errors(pairs * scale), spreads.pair, spreads.pair_df),
        ):
            assert variance == pytest.approx(error**2)
            expected = df if of_df is spreads.model_df else np.minimum(df, stats.hmean(df))
            assert of_df == pytest.approx(expected)


def test_pairs_of_few_units_share_their_doubt_and_those_of_many_do_not():
    """From 20 units of a class on, a pair has the degrees of freedom of its own kurtosis."""
    for size, shared in ((19, True), (20, False)):
        sample = sampling.Sample(np.arange(2 * size) < size)
        values = np.random.default_rng(1).standard_t(3, size=(2 * size, 3))
        deviations = sample.deviations(values)
        blocks = [(k, [*deviations[rows].T[:, None]]) for k, (rows, _) in enumerate(sample.strata)]
        sums = sampling.power_sums(blocks, 2, 3, 1)
        spreads = sampling.VarianceEstimates.from_power_sums(sample, sums, 3, np.ones(1))
        alone = sample.estimate_errors(values[:, [0, 0, 1]] - values[:, [1, 2, 2]])[1]
        assert np.ptp(alone) > 1
        expected = np.minimum(alone, stats.hmean(alone)) if shared else alone
        assert spreads.pair_df[:, 0] == pytest.approx(expected)


def test_degrees_of_freedom_are_those_of_the_smaller_class_and_of_its_units():
    positive = np.arange(60) < 20
    assert (sampling.Sample(positive).df, sampling.Sample(positive, np.arange(60)).df) == (19, 19)
    assert sampling.Sample(positive, np.arange(60) // 2).df == 9  # ten clusters of positives
    assert sampling.Sample(positive, None, np.full(60, 3.0)).df == pytest.approx(19)
    weight = np.where(np.arange(60) < 10, 3.0, 1.0)
    assert sampling.Sample(positive, None, weight).df == pytest.approx((10 * 3 + 10) ** 2 / (10 * 9 + 10) - 1)
    assert sampling.Sample(np.arange(5) < 1).df == 1
    # Squares that do not vary, or by rounding alone, tell no more of a variance than normal values do.
    for size in np.linspace(0.1, 3, 200):
        values = np.tile([size, -size], 6) + 0.7
        assert sampling.Sample(np.arange(12) < 6).estimate_errors(values)[1] == pytest.approx(10)
    light = np.random.default_rng(0).uniform(size=30)
    one_class = np.concatenate([light, np.zeros(30)])  # of one class alone: 29
    assert sampling.Sample(np.arange(60) < 30).estimate_errors(one_class)[1] == pytest.approx(29)


def test_effective_sizes_names_of_models_and_the_prior():
    sample = sampling.Sample(POSITIVE, CLUSTER, np.array([1.0, 2, 1, 1, 3, 1, 1, 1, 1, 5]))
    assert sample.unit_weights(positive=True).tolist() == [3, 0, 3, 0, 1, 1]
    assert sample.effective_size(positive=True) == pytest.approx(8**2 / (9 + 9 + 1 + 1))
    assert sample.effective_size(positive=False) == pytest.approx(9**2 / (4 + 1 + 1 + 25))
    heavy = sampling.Sample(np.arange(6) < 3, None, np.array([1.0, 2, 3, 1, 1, 1]) * 1e250)
    assert heavy.effective_size(positive=True) == pytest.approx(36 / 14)
    assert sampling.Sample(POSITIVE).effective_size(positive=True) == 5
    assert (sampling.name_models(None, 2), sampling.name_models(["a", 3], 2)) == (("0", "1"), ("a", "3"))
    expect_error("at least 2 models, one a column, but has 1; for one", sampling.name_models, None, 1)
    for names in (["a", "a"], ["a"], ["a", "b", "c"], ["1", 1]):
        expect_error("`models` must hold 2 different names, but got", sampling.name_models, names, 2)
    sample = sampling.Sample(np.array([True, False, False]), None, np.array([3.0, 1, 2]))
    own = sampling.target_prior(None, None, sample)
    assert (own.low, own.high) == (0.5, 0.5)
    assert sampling.target_prior(0.2, None, sample).low == 0.2
    assert sampling.target_prior(None, (0.1, 0.3), sample).high == 0.3
    with pytest.raises(InputError, match="give either `prior` or `deployment_prior`, but got both"):
        sampling.target_prior(0.2, (0.1, 0.3), sample)


@pytest.mark.parametrize(("share", "alone"), [(0.5, True), (2.0, False)])
def test_a_class_whose_weight_is_one_case_has_one_case(share, alone):
    positive, weight = np.arange(4) < 2, np.array([1, 1, 1, share * sampling.MAX_WEIGHT_ROUNDING])
    sample = sampling.Sample(positive, None, weight)
    assert sample.single_unit_classes == (("the only negative case",) if alone else ())
    assert bool(sampling.is_entire_class(weight[2], weight[2:].sum())) == alone
    assert np.isnan(sample.estimate_errors(np.arange(4.0))[0]) == alone


def test_counts_stand_for_cases_of_weight_above_0():
    options = {"cluster": ["c", "b", "a", "b", "d"], "sample_weight": [1, 2, 0, 3, 0]}
    found, columns = sampling.check_sample([1, 0, 1, 0, 1], [5, 4, 3, 2, 1], **options)
    assert found.positive.tolist() == [True, False, False]
    assert (found.cluster.tolist(), found.weight.tolist()) == ([1, 0, 0], [1, 2, 3])
    assert (columns.tolist(), found.n_units) == ([[5], [4], [2]], 2)
    counted = sampling.SampleSummary(sizes=(9, 6, 0))
    assert (counted.n_units, counted.df, counted.stratum.tolist()) == (15, 5, [0, 1])
    assert [(rows.tolist(), size) for rows, size in counted.strata] == [([0], 9), ([1], 6)]
    assert [counted.effective_size(positive=side) for side in (True, False)] == [6, 9]
    assert counted.single_unit_classes == ()
    assert sampling.SampleSummary(sizes=(9, 1, 0)).single_unit_classes == ("the only positive case",)
    assert (counted.positive.tolist(), counted.unit_sums.largest.tolist()) == ([False, True], [1, 1])
    one_of_each = sampling.SampleSummary()
    assert (one_of_each.sizes, one_of_each.n_units) == ((1, 1, 0), 2)
    assert one_of_each.single_unit_classes == ("the only positive case", "the only negative case")
    rows = np.array([[3.0, 1.0], [0.0, 2.0]])
    assert counted.deviations(rows) is rows
    assert counted.covariance(rows).tolist() == [[9, 3], [3, 5]]


def test_columns_are_checked_by_name_and_strata_of_clusters():
    one = sampling.check_sample([0, 1], [0.1, 0.2])[1]
    assert one.tolist() == [[0.1], [0.2]]
    assert sampling.check_sample([0, 1], [[0.1], [0.2]])[1].tolist() == one.tolist()
    for scores, column in (([0.1, np.nan], ""), ([[0.1, 0.2], [0.3, np.nan]], "[:, 1]")):
        expect_error(re.escape(f"`y_score{column}` must not hold NaN"), sampling.check_sample, [0, 1], scores)
    for scores in ([[[0.1]], [[0.2]]], np.empty((2, 0))):
        with pytest.raises(InputError, match=r"must have shape \(n_cases,\) or \(n_cases, n_models\) above"):
            sampling.check_sample([0, 1], scores)
    sample = sampling.Sample(np.array([1, 1, 0, 0, 1, 0, 0, 1]) == 1, np.array([0, 0, 1, 1, 2, 2, 3, 4]))
    assert sample.stratum.tolist() == [1, 0, 0, 0, 1]  # the only mixed cluster joins a largest stratum
    assert ([size for _, size in sample.strata], sample.single_unit_classes) == ([3, 2], ())
    sample = sampling.Sample(np.array([1, 1, 0, 0, 0]) == 1, np.array([0, 0, 1, 2, 3]))
    assert sample.single_unit_classes == ("the only cluster with positive cases",)
    assert np.isnan(sample.estimate_errors(np.ones(4))[0])
    assert sampling.Sample(np.array([1, 0, 0]) == 1).single_unit_classes == ("the only positive case",)


def test_bad_clusters_are_refused():
    two = sampling.check_sample([0, 1], [1.0, 2.0], cluster=["b", "a"])[0]
    assert two.cluster.tolist() == [1, 0]
    with pytest.raises(InputError, match="2 clusters, but all cases are in 'a'; leave out `cluster`"):
        sampling.check_sample([0, 1, 1], [1.0, 2.0, 3.0], cluster=["a", "a", "a"])
    expect_error("equally long", sampling.check_sample, [0, 1, 1], [1.0, 2.0, 3.0], cluster=["a", "b"])
    kinds = "`cluster` must hold names of one kind, but has int, str; pass "
    with pytest.raises(InputError, match=kinds):
        sampling.check_sample([0, 1, 1], [1.0, 2.0, 3.0], cluster=np.array(["a", 1, "b"], dtype=object))
    with pytest.raises(InputError, match="`cluster` must name a cluster for every case, but row 1 has none"):
        sampling.check_sample([0, 1, 1], [1.0, 2.0, 3.0], cluster=["a", None, "b"])
    with pytest.raises(InputError, match="has no positive case of weight above 0"):
        sampling.check_sample([0, 1], [1.0, 2.0], sample_weight=[1, 0])
    with pytest.raises(InputError, match="`cluster` must name a cluster for every case, but row 1 has none"):
        sampling.check_sample([0, 1, 1], [1.0, 2.0, 3.0], cluster=[1.0, np.nan, np.nan])
