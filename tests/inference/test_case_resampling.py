"""The jackknife of the estimator in use, against leaving out every case or cluster in turn."""

import numpy as np
import pandas as pd
import pytest
import twins
from case_values import unit_values
from fold_tables import REFERENCE
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import each
from strategies import tie_groups

from skewanova import DiscretePrior, UniformPrior, UniformSkew, iauprec_score
from skewanova.curves import estimators, roc, sorting
from skewanova.inference import auprec_covariance, case_resampling
from skewanova.inference.case_resampling import block_seeds, bootstrap_estimates
from skewanova.inference.sampling import Sample

PRIORS = UniformPrior(0.05, 0.2), UniformPrior(0.3, 0.3)
WEIGHTINGS = (*PRIORS, UniformSkew(4, 19), DiscretePrior((0.1, 0.4), (3, 1)))


def brute_values(sample, score, weighting, area_estimator):
    """(G - 1) (area - area without the unit), each from the remaining rows."""
    weight = np.ones(len(score)) if sample.weight is None else sample.weight

    def area(rows):
        if area_estimator == "roc_auc":  # by all pairs of a positive and a negative
            positive, negative = (rows & side for side in (sample.positive, ~sample.positive))
            above = np.sign(score[positive][:, None] - score[negative]) / 2 + 0.5
            return float(
                np.average(above @ weight[negative], weights=weight[positive]) / weight[negative].sum()
            )
        options = {"deployment_prior": weighting, "area_estimator": area_estimator}
        return iauprec_score(sample.positive[rows], score[rows], sample_weight=weight[rows], **options)

    whole, found = area(np.full(len(score), True)), []
    for unit in range(sample.n_units):
        rows = sample.unit != unit
        held = sample.positive[rows]
        without = whole if held.all() or not held.any() else area(rows)
        found.append((sample.stratum_size[unit] - 1) * (whole - without))
    return whole, np.array(found)


def assert_brute(sample, score, area_estimator):
    found = unit_values(sample, score, WEIGHTINGS, area_estimator)
    for k, weighting in enumerate(WEIGHTINGS):
        whole, values = brute_values(sample, score, weighting, area_estimator)
        assert found.estimate[k] == pytest.approx(whole, abs=1e-13)
        assert found.select_units()[:, k] == pytest.approx(values, abs=1e-10)


KINDS = ("cluster", "weight")


@each("area_estimator", estimators.ESTIMATORS)
@settings(max_examples=12)
@given(groups=tie_groups(5, 2), seed=st.integers(0, 10**6), drawn=st.sets(st.sampled_from(KINDS)))
def test_values_are_those_of_leaving_out_every_case_or_cluster(area_estimator, groups, seed, drawn):
    labels, scores = twins.labels_and_scores(groups)
    rng = np.random.default_rng(seed)
    cluster = np.unique(rng.integers(0, 4, size=len(scores)), return_inverse=True)[1]
    weight = rng.choice([0.5, 1.0, 3.0], size=len(scores))
    options = {name: value for name, value in (("cluster", cluster), ("weight", weight)) if name in drawn}
    assert_brute(Sample(np.array(labels) == 1, **options), np.array(scores, dtype=float), area_estimator)


def test_many_weights_go_one_by_one_and_the_latest_weighting_is_kept(monkeypatch):
    rng = np.random.default_rng(2)
    positive, score = np.arange(40) < 12, np.round(rng.normal(size=40), 1)
    sample = Sample(positive, None, rng.choice([0.5, 1.0, 3.0], size=40))
    together = unit_values(sample, score, WEIGHTINGS, "trapezoid").select_units()
    monkeypatch.setattr(case_resampling, "MAX_DISTINCT_WEIGHTS", 1)
    alone = unit_values(sample, score, WEIGHTINGS, "trapezoid").select_units()
    assert alone == pytest.approx(together, abs=1e-12)
    model = case_resampling.SortedScores(Sample(np.arange(12) < 5), np.arange(12) % 7)
    first, prior, skew = WEIGHTINGS[:3]
    kept = model.jackknife_values([first], "exact")
    both = model.jackknife_values([first, skew], "exact")
    assert (both.values[:, :1], both.values.shape[1]) == (pytest.approx(kept.values), 2)
    model.jackknife_values([prior], "exact")
    assert model.jackknife_values([first], "exact") is kept
    assert model.jackknife_values([first], "trapezoid").estimate != kept.estimate
    assert model.jackknife_values([skew], "exact").estimate == pytest.approx(both.estimate[1:])
    assert model.jackknife_values([first], "exact") is not kept


@pytest.mark.slow
@each("block", [1, 12])
@each("area_estimator", estimators.STEP_ESTIMATORS)
def test_values_by_blocks_of_rises_are_those_of_areas_without_each_case(area_estimator, block, monkeypatch):
    monkeypatch.setattr(case_resampling, "BLOCK_SIZE", block)
    rng = np.random.default_rng(3)
    positive = rng.random(20) < 0.4
    score = np.round(rng.normal(size=20) + positive, 1)
    assert_brute(Sample(positive, None, 1.0 + (np.arange(20) % 3 == 0)), score, area_estimator)


def test_deviations_of_alike_units_sum_to_the_covariance():
    """Units that leave the same curve share an entry; their deviations are weighed by how many they are."""
    positive, score = np.arange(40) < 12, np.round(np.random.default_rng(4).normal(size=40), 0)
    sample = Sample(positive)
    found = unit_values(sample, score, WEIGHTINGS[:2], "trapezoid")
    assert len(found.values) < 40
    expected = sample.deviations(found.select_units())
    assert found.centre_in_place(sample).select_units() == pytest.approx(expected, abs=1e-15)
    pair = Sample(np.arange(4) < 2)  # two units a class: values over sqrt(2), about their mean
    few = unit_values(pair, np.array([3.0, 1.0, 2.0, 0.0]), WEIGHTINGS[:1], "trapezoid")
    values = few.select_units()[:, 0]
    apart = few.centre_in_place(pair).select_units()[:, 0]
    assert apart[:2] == pytest.approx((values[:2] - values[:2].mean()) / np.sqrt(2))
    assert apart[2:] == pytest.approx((values[2:] - values[2:].mean()) / np.sqrt(2))


@each("area_estimator", estimators.ESTIMATORS)
@each("clustered", [False, True])
def test_a_unit_with_all_the_weight_of_a_class_is_the_only_one(area_estimator, clustered):
    """Without it nothing but rounding would be left: it has the value 0, and nothing is divided by 0."""
    positive, score = np.arange(6) < 2, np.array([3.0, 1.0, 2.0, 2.5, 0.5, 0.5])
    weight = np.array([1, 2, 1e-300, 1, 1e-12, 5e-324])
    sample = Sample(positive, np.arange(6) if clustered else None, weight)
    found = unit_values(sample, score, WEIGHTINGS[:1], area_estimator)
    assert found.select_units()[3, 0] == 0
    assert np.isfinite(found.select_units()).all()
    assert (found.select_units()[:2, 0] != 0).all()
    only = "cluster with negative cases" if clustered else "negative case"
    assert sample.single_unit_classes == (f"the only {only}",)


@pytest.mark.parametrize("name", ["mixed", "apart"])
def test_clusters_and_weights_as_the_r_package_survey_has_them(name):
    data = pd.read_csv(REFERENCE / "r_clusters_inputs.csv").query("input == @name")
    known = pd.read_csv(REFERENCE / "r_clusters.csv").query("input == @name")
    known = known.set_index(["model", "quantity"])["value"]
    options = {"prior": 0.3, "cluster": data["cluster"], "sample_weight": data["weight"]}
    found = auprec_covariance(data["positive"], data[["a", "b"]].to_numpy(), **options)
    contrast = np.array([1, -1])
    estimate = dict(zip("ab", found.estimate, strict=True)) | {"difference": contrast @ found.estimate}
    error = dict(zip("ab", found.std_error, strict=True))
    error["difference"] = np.sqrt(contrast @ found.covariance @ contrast)
    for model, value in estimate.items():
        assert value == pytest.approx(known[model, "estimate"], rel=1e-12)
        assert error[model] == pytest.approx(known[model, "std_error_by_strata"], rel=1e-9)
        one_stratum = 1e-9 if name == "mixed" else 2e-3  # survey has one centre for all strata
        assert error[model] == pytest.approx(known[model, "std_error"], rel=one_stratum)


@each("area_estimator", estimators.STEP_ESTIMATORS)
@pytest.mark.parametrize("weighted", [False, True])
def test_values_at_places_are_those_of_the_cases_that_stand_there(weighted, area_estimator, monkeypatch):
    """Of weights that only one class has, too; the curve is looked at in blocks."""
    monkeypatch.setattr(case_resampling, "BLOCK_SIZE", 8)
    rng = np.random.default_rng(4)
    positive = rng.random(80) < 0.4
    score = rng.normal(size=80).round(1) + positive
    drawn = np.where(positive, rng.choice([1.0, 3.0], 80), rng.choice([0.5, 1.0, 2.0], 80))
    weight = drawn if weighted else None
    sample, weightings = Sample(positive, None, weight), [UniformPrior(0.1, 0.1), UniformPrior(0.05, 0.2)]
    held = np.ones(80) if weight is None else weight
    slot = sorting.rank_among_positives(np.unique(score[positive]), score)
    gain = np.bincount(slot[positive] // 2, weights=held[positive])
    fall = np.bincount(slot[~positive], weights=held[~positive], minlength=2 * len(gain) + 1)
    weights = np.unique(held[~positive]), np.unique(held[positive])
    sizes = int((~positive).sum()), int(positive.sum())
    places = case_resampling.CurvePositions(case_resampling.StepTable.from_counts(gain, fall), weights, sizes)
    present = [np.tile(gain > 0, len(weights[1])), np.tile(fall > 0, len(weights[0]))]
    entry = case_resampling.number_occupied_positions(np.concatenate(present))
    estimate, values = places.leave_one_out(entry, weightings, area_estimator)
    at = entry[places.locate_cases(positive, slot[positive] // 2, slot[~positive], weight)]
    expected = case_resampling.SortedScores(sample, score).jackknife_values(weightings, area_estimator)
    curve = roc.curve_from_scores(positive, score, weight)
    assert estimate == pytest.approx(case_resampling.compute_areas(curve, weightings, area_estimator))
    assert values[at] == pytest.approx(expected.select_units(), rel=1e-9, abs=1e-12)
    assert set(at[positive]).isdisjoint(at[~positive])
    assert places.n_positive_positions == len(gain) * (2 if weighted else 1)


def test_clusters_are_left_out_few_at_a_time_on_curves_that_end_with_a_positive(monkeypatch):
    monkeypatch.setattr(case_resampling, "BLOCK_SIZE", 2)
    rng = np.random.default_rng(6)
    positive, cluster = np.arange(40) % 3 == 0, np.repeat(np.arange(10), 4)
    score = rng.normal(size=40).round(1) + positive
    score[0] = score.min() - 1
    sample, weighting = Sample(positive, cluster), UniformPrior(0.1, 0.1)
    found = case_resampling.SortedScores(sample, score).jackknife_values([weighting], "trapezoid")
    _, expected = brute_values(sample, score, weighting, "trapezoid")
    assert found.select_units()[:, 0] == pytest.approx(expected, rel=1e-9)


WEIGHTING = UniformPrior(0.05, 0.3)
LABELS = np.array([1, 0, 1, 0, 0, 1, 0, 0, 1, 0]) == 1
SCORES = np.array([5.0, 5.0, 4.0, 4.5, 3.0, 3.0, 2.0, 2.0, 1.0, 0.5])


def estimates(sample, n_resamples, area_estimator="trapezoid", rng=7):
    model = case_resampling.SortedScores(sample, SCORES)
    return bootstrap_estimates(model, WEIGHTING, area_estimator, n_resamples=n_resamples, rng=rng)


def area(labels, scores, area_estimator, weight=None):
    options = {"deployment_prior": WEIGHTING, "area_estimator": area_estimator}
    return iauprec_score(labels, scores, **options, sample_weight=weight)


def streams(n_blocks, rng=7):
    """Generators of the blocks: children of one sequence whose entropy are the next four numbers."""
    entropy = np.random.default_rng(rng).integers(2**32, size=4).tolist()
    return [np.random.default_rng(child) for child in np.random.SeedSequence(entropy).spawn(n_blocks)]


def test_seeds_of_blocks_are_children_and_resamples_without_a_class_are_left_out():
    rng = np.random.default_rng(3)
    first, second = block_seeds(rng, 2), block_seeds(rng, 2)
    again = np.random.default_rng(3)
    for seeds in (first, second):
        entropy = again.integers(2**32, size=4).tolist()
        assert [seed.entropy for seed in seeds] == [entropy, entropy]
        assert [seed.spawn_key for seed in seeds] == [(0,), (1,)]
    assert case_resampling.MAX_CASES_AT_ONCE == 65_536
    # Two clusters, one of each class and a mixed one that joins them: some draws lack a class.
    found = estimates(Sample(LABELS, np.where(LABELS, 0, 1)), 40)
    assert 0 < len(found) < 40
    assert found == pytest.approx(np.full(len(found), area(LABELS, SCORES, "trapezoid")))


@each("area_estimator", estimators.ESTIMATORS)
def test_cases_are_drawn_within_their_class_from_the_best_score_down(area_estimator):
    found = estimates(Sample(LABELS), 6, area_estimator)
    (stream,) = streams(1)
    ranked = [np.sort(SCORES[rows])[::-1] for rows in (LABELS, ~LABELS)]
    drawn = [scores[stream.integers(0, len(scores), size=(6, len(scores)))] for scores in ranked]
    labels = np.repeat([1, 0], [4, 6])
    expected = [area(labels, np.concatenate(pair), area_estimator) for pair in zip(*drawn, strict=True)]
    assert found == pytest.approx(expected, abs=1e-14)


CLUSTERS = np.array([0, 0, 1, 2, 2, 1, 3, 4, 5, 3])
WEIGHTS = np.array([1.0, 2, 0.5, 1, 1, 3, 0.25, 1, 1, 2])


@pytest.mark.parametrize(("cluster", "weight"), [(CLUSTERS, None), (None, WEIGHTS), (CLUSTERS, WEIGHTS)])
def test_units_are_drawn_whole_within_their_stratum(cluster, weight):
    sample, expected = Sample(LABELS, cluster, weight), []
    (stream,) = streams(1)
    for _ in range(8):
        times = np.zeros(sample.n_units, dtype=int)
        for rows, size in sample.strata:
            np.add.at(times, rows[stream.integers(0, size, size=size)], 1)
        rows = np.repeat(np.arange(10), times[sample.unit])
        if 0 < LABELS[rows].sum() < len(rows):
            of_rows = None if weight is None else weight[rows]
            expected.append(area(LABELS[rows], SCORES[rows], "trapezoid", of_rows))
    assert estimates(sample, 8) == pytest.approx(expected, abs=1e-14)


@pytest.mark.parametrize(("block", "sizes"), [(0, [1] * 5), (19, [1] * 5), (20, [2, 2, 1]), (30, [3, 2])])
def test_blocks_hold_so_many_cases(monkeypatch, block, sizes):
    monkeypatch.setattr(case_resampling, "MAX_CASES_AT_ONCE", block)
    found = estimates(Sample(LABELS), 5)
    parts = []
    for stream, size in zip(streams(len(sizes)), sizes, strict=True):
        monkeypatch.setattr(case_resampling, "block_seeds", lambda *_, stream=stream: [stream])
        monkeypatch.setattr(case_resampling, "MAX_CASES_AT_ONCE", 1000)
        parts.append(estimates(Sample(LABELS), size))
    assert found.tolist() == np.concatenate(parts).tolist()
