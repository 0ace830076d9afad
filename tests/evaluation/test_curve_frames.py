"""Frames of curves along the prior, and of points on grids, from the vertices of each curve."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed, score_rows
from halved_tables import halved_frame
from loops import each
from messages import expect_error
from precision_twins import cell, sized_models, twin, vertices_of
from scipy import stats

from skewanova import FoldDesign, auprec, evaluate, load_satellite_scores
from skewanova.evaluation import auprec_by_prior, auprec_intervals, curve_frames, precision_recall, regret
from skewanova.evaluation.curve_frames import RATE_GRID, RECALL_GRID, roc, skew, support, surface
from skewanova.evaluation.measures import prior_grid
from skewanova.inference.sampling import Sample
from skewanova.scores.design import logit_interval

quiet = pytest.mark.filterwarnings("ignore::skewanova.base.checks.SkewanovaWarning")


@pytest.fixture(scope="module")
def measures():
    return evaluate(load_satellite_scores(), at_priors=(0.5, 0.2), deployment_prior=(0.05, 0.2))


@pytest.mark.parametrize("ratio", [0, 0.25])
def test_intervals_have_the_corrected_error_and_the_cases_at_the_prior(measures, ratio):
    evaluation = designed(measures, ratio)
    frame, support = auprec_intervals(evaluation, alpha=0.1), evaluation.support
    assert (tuple(frame), len(frame)) == (curve_frames.INTERVAL_COLUMNS, 6)
    for row in frame.itertuples():
        mine = measures.auprec.query("model == @row.model and prior == @row.prior")["auprec"]
        error = stats.sem(mine) * np.sqrt(1 + 20 * ratio)  # Nadeau and Bengio 2003
        size = min(support.n_positive, support.n_negative * row.prior / (1 - row.prior))
        limits = logit_interval(mine.mean(), error, df=len(mine) - 1, level=0.9, size=size)
        assert (row.auprec, row.conf_low, row.conf_high) == pytest.approx((mine.mean(), *limits))
        assert (row.std_error, row.n_folds) == (pytest.approx(error), 20)


def test_intervals_keep_their_order_and_regret_is_the_shortfall(measures):
    ordered = measures.reorder_models(("C", "A", "B"))
    one = ordered.auprec.query("fold == 1")
    frame = auprec_intervals(replace(ordered, auprec=one))
    assert list(dict.fromkeys(frame["model"])) == ["C", "A", "B"]
    assert frame[["std_error", "conf_low", "conf_high"]].isna().all(axis=None)
    np.testing.assert_array_equal(frame["auprec"], one["auprec"])
    priors = regret(measures)["prior"]
    assert {0.05, 0.2, 0.5} <= set(priors)
    assert (priors.min(), len(priors)) == (0.05, 3 * priors.nunique())
    frame = regret(measures, [0.02, 0.3])
    assert list(frame) == ["model", "prior", "auprec", "best", "regret"]
    for prior, rows in frame.groupby("prior"):
        cells = [(model, auprec(roc, prior)) for (model, _), roc in measures.curves.items()]
        mean = {model: np.mean([area for m, area in cells if m == model]) for model in measures.models}
        best = max(mean, key=mean.get)
        assert (rows["best"].tolist(), rows["model"].tolist()) == ([best] * 3, list(measures.models))
        np.testing.assert_allclose(rows["auprec"], list(mean.values()), rtol=1e-12)
        np.testing.assert_allclose(rows["regret"], mean[best] - np.array(list(mean.values())), atol=1e-12)


@quiet
def test_intervals_of_runs_are_unknown_and_those_of_half_splits_hold_the_halvings():
    runs = counted([(6, 20)] * 3).assign(case=lambda frame: frame.groupby("fold").cumcount())
    measures = evaluate(runs, at_priors=(0.5,), design="runs")
    assert measures.design.kind == "runs"
    assert auprec_intervals(measures)[["std_error", "conf_low", "conf_high"]].isna().all(axis=None)
    assert measures.support.smallest_prior == pytest.approx(50 / 70)  # by the cases of the one test set
    split = evaluate(halved_frame(n_cases=36, n_folds=3), at_priors=(0.5, 0.2))
    split = split.reorder_models(("B", "C", "A"))
    found = auprec_intervals(split).set_index(["model", "prior"])
    between = split.auprec_half_differences([0.5, 0.2])
    for (model, prior), row in found.iterrows():
        areas = split.auprec.query("model == @model and prior == @prior")["auprec"]
        halves = between[:, split.models.index(model), (0.5, 0.2).index(prior)]
        variance = (halves**2).mean() + areas.var(ddof=1) / 3
        assert row["std_error"] == pytest.approx(np.sqrt(variance), rel=1e-9)


def counted(sizes):
    """One model in folds of so many positives and negatives."""
    frame = pd.concat(
        pd.DataFrame({"model": "A", "fold": fold, "y_true": [1] * positives + [0] * negatives})
        for fold, (positives, negatives) in enumerate(sizes)
    )
    return frame.assign(y_score=np.arange(len(frame)) % 7)


@quiet
@pytest.mark.parametrize(("stated", "negatives", "positives"), [
    ({"design": "independent"}, 330, 28), ({"design": FoldDesign("repeated_holdout", 0.2)}, 450, 50),
    ({"design": "kfold"}, 360, 40),
])  # fmt: skip
def test_distinct_cases_without_a_case_column_follow_from_the_design(stated, negatives, positives):
    rule = evaluate(counted([(10, 90), (5, 80), (6, 80), (7, 80)]), at_priors=(0.5,), **stated).support
    assert (rule.n_negative, rule.n_positive) == pytest.approx((negatives, positives))


@quiet
def test_distinct_cases_of_one_fold_and_of_cases_that_stand_in_several():
    rule = evaluate(counted([(10, 90)]), at_priors=(0.5,)).support
    assert (rule.n_negative, rule.n_positive) == (90, 10)
    frame = counted([(10, 90), (10, 90)])
    frame["case"] = np.r_[0:100, 0:5, 200:205, 10:70, 300:330]  # 5 new positives, 30 new negatives
    measures = evaluate(frame, at_priors=(0.5,), design=FoldDesign("repeated_holdout", 0.2))
    assert (measures.support.n_negative, measures.support.n_positive) == (120, 15)
    alone = replace(measures, scores=None).support
    assert (alone.n_negative, alone.n_positive) == pytest.approx((450, 50))


@quiet
@pytest.mark.parametrize("n_folds", [1, 4])
def test_support_is_distinct_negatives_over_skew(n_folds):
    measures = evaluate(counted([(10, 90)] * n_folds), at_priors=(0.5,), design="independent")
    n = 90 * n_folds
    limit = 50 / (50 + n)
    assert measures.support.smallest_prior == pytest.approx(limit)
    found = support(measures, [0.2, limit / 2, limit])
    assert list(found) == ["prior", "effective_negatives", "needed", "supported"]
    found = found.set_index("prior")
    assert found.index.tolist() == sorted([limit / 2, limit, 0.2])
    np.testing.assert_allclose(found["effective_negatives"], n * found.index / (1 - found.index), rtol=1e-12)
    assert found["supported"].tolist() == [prior >= limit for prior in found.index]
    assert found["needed"].tolist() == [50] * 3
    for along in (support, regret, auprec_by_prior):
        expect_error("`priors` must lie strictly between 0 and 1", along, measures, [1.5])


@quiet
@each("levels, needed", [(1000, 30), (30, 30), (29, 50)])
@each("n_folds", [1, 3])
def test_few_distinct_scores_need_more_cases(levels, needed, n_folds):
    """The model with the fewest distinct scores decides; where scores are not at hand, they may be few."""
    rng, n = np.random.default_rng(0), 400
    scores = {"A": lambda: rng.normal(size=n), "B": lambda: np.arange(n) % levels}
    cells = product(scores, range(n_folds))
    parts = [score_rows(m, f, np.arange(n) < 32, scores[m](), case=np.arange(n) + n * f) for m, f in cells]
    measures = evaluate(pd.concat(parts), at_priors=(0.5,), design="independent" if n_folds > 1 else "auto")
    assert (measures.support.needed, set(support(measures)["needed"])) == (needed, {needed})
    assert replace(measures, scores=None).support.needed == 50
    folds_of_25 = counted([(5, 20)] * 3).assign(y_score=rng.normal(size=75))
    assert evaluate(folds_of_25, at_priors=(0.5,), design="independent").support.needed == 30


@quiet
def test_weights_support_as_few_as_weigh_the_same():
    frame = counted([(2, 4)] * 3).assign(weight=[1, 1, 1, 1, 1, 3] * 3)  # (1 + 1 + 1 + 3)^2 / 12 = 3 of 4
    measures = evaluate(frame, at_priors=(0.5,), design="independent")
    assert measures.support.smallest_prior == pytest.approx(30 / (30 + 9))


@quiet
@each("n_folds", [1, 3])
def test_clusters_support_as_few_as_there_are_with_cases_of_the_class(n_folds):
    """Kish's number of clusters by class, counted by hand, and that of the sample of one test set."""
    clusters = np.repeat(np.arange(8), [1, 2, 3, 4, 5, 6, 7, 8])
    label = np.arange(36) % 3 == 0
    columns = {"y_true": label.astype(int), "cluster": clusters, "y_score": clusters % 5}
    fold = pd.DataFrame({"model": "A", **columns})
    frame = pd.concat(fold.assign(fold=i, cluster=fold["cluster"] + 8 * i) for i in range(n_folds))
    measures = evaluate(frame, at_priors=(0.5,), design="independent")
    sizes = [np.bincount(clusters[label == side]) for side in (False, True)]
    expected = [n_folds * size.sum() ** 2 / (size**2).sum() for size in sizes]
    assert (measures.support.n_negative, measures.support.n_positive) == pytest.approx(expected)
    if n_folds == 1:
        sample = Sample(label, clusters)
        assert expected == pytest.approx([sample.effective_size(positive=side) for side in (False, True)])


@quiet
@pytest.mark.parametrize(
    ("low", "high", "inside"),
    [(0.5, 0.9, False), (0.01, 0.05, False), (0.05, 0.5, True), (0.1219, 0.5, True), (0.01, 0.122, True)],
)
def test_the_default_grid_of_support_holds_the_limit(low, high, inside):
    priors = {"at_priors": (low, high), "deployment_prior": (low, high)}
    measures = evaluate(counted([(10, 90)] * 4), **priors, design="independent")
    limit = 50 / 410  # 0.12195
    priors = support(measures)["prior"].to_numpy()
    expected = np.sort([*prior_grid(measures), *([limit] if inside else [])])
    np.testing.assert_allclose(priors, expected, rtol=1e-12)


def test_priors_without_support_are_told_with_their_numbers():
    parts = [pd.DataFrame({"fold": i, "y_true": [1] * 20 + [0] * 225}) for i in range(2)]
    frame = pd.concat(parts, ignore_index=True)
    frame = frame.assign(model="A", y_score=frame.index)
    options = {"deployment_prior": (0.1, 0.3), "design": "independent"}
    assert curve_frames.write_support_warnings(evaluate(frame, at_priors=(0.5, 0.1), **options)) == []
    for priors, said in (
        ((0.5, 0.06), "at prior 0.06 there are 28.7 effective"),
        ((0.5, 0.06, 0.01), "at priors 0.06 and 0.01 there are 28.7 and 4.55 effective"),
        ((0.001, 0.06, 0.01), "at priors 0.06 to 0.001 there are 28.7 to 0.45 effective"),
    ):
        measures = evaluate(frame, at_priors=priors, **options)
        (note,) = curve_frames.write_support_warnings(measures)
        assert note.startswith(f"{said} negatives (negatives / skew), but 30 are needed")
        thin = support(measures, [*priors, 0.1]).query("not supported")["prior"]
        assert len(thin) == sum(prior < 0.1 for prior in priors)


@pytest.fixture(scope="module")
def sized():
    return evaluate(sized_models(), at_priors=(0.5, 0.4), deployment_prior=(0.45, 0.5))


def test_auprec_along_the_prior(sized):
    found = auprec_by_prior(sized)
    assert (list(found), len(found)) == (["model", "fold", "prior", "auprec"], 4 * 81)
    points = vertices_of()[1:]
    expected = [twin(points, p) for p in prior_grid(sized)]
    assert cell(found)["auprec"].tolist() == pytest.approx(expected, rel=1e-12)
    chosen = auprec_by_prior(sized, [0.2, 0.9])
    assert cell(chosen)["auprec"].tolist() == pytest.approx([twin(points, p) for p in (0.2, 0.9)], rel=1e-12)
    expected = sized.auprec.loc[sized.auprec["prior"] == 0.5, "auprec"].tolist()
    assert auprec_by_prior(sized, 0.5)["auprec"].tolist() == expected


def between(points, at, x, y):
    """Straight lines; of a step, the end that `max` of y over equal x gives for the ROC."""
    for before, after in pairwise(points):
        if before[x] <= at <= after[x] and after[x] > before[x]:
            share = (at - before[x]) / (after[x] - before[x])
            value = before[y] + share * (after[y] - before[y])
            if at < after[x] or after is points[-1]:
                return value
    return points[-1][y]


def alarms_at(points, recall):
    """The best vertex of that recall, or a point of the segment that rises through it."""
    if here := [f for t, f in points if t == pytest.approx(recall, abs=1e-12)]:
        return min(here)
    low, start = max(p for p in points if p[0] < recall)
    high, end = min(p for p in points if p[0] > recall)
    return start + (recall - low) / (high - low) * (end - start)


def test_roc_and_precision_recall_on_a_grid(sized):
    found = roc(sized)
    assert list(found) == ["model", "fold", "fpr", "tpr"]
    points = [(f, t) for t, f in vertices_of()]
    upper = [p for i, p in enumerate(points) if i + 1 == len(points) or points[i + 1][0] > p[0]]
    np.testing.assert_allclose(RATE_GRID, np.arange(201) / 200, atol=1e-15)
    known = [between(upper, at, 0, 1) for at in RATE_GRID]
    assert cell(found)["tpr"].tolist() == pytest.approx(known, abs=1e-13)
    assert cell(found)["fpr"].tolist() == RATE_GRID.tolist()
    found = precision_recall(sized)
    assert list(found) == ["model", "fold", "prior", "recall", "precision"]
    assert len(found) == 4 * 2 * len(RECALL_GRID)
    np.testing.assert_allclose(RECALL_GRID, np.arange(1, 201) / 200, atol=1e-15)
    points = vertices_of()
    for prior in (0.5, 0.4):
        known = []
        for recall in RECALL_GRID:
            known.append(prior * recall / (prior * recall + (1 - prior) * alarms_at(points, recall)))
        rows = cell(found)[lambda frame, prior=prior: frame["prior"] == prior]
        assert rows["precision"].tolist() == pytest.approx(known, abs=1e-13)
    one = precision_recall(sized, 0.3, recall=[0.5, 1.0])
    assert (one["prior"].unique().tolist(), one["recall"].tolist()) == ([0.3], [0.5, 1.0] * 4)


def test_surface_is_the_mean_over_folds_and_skew_its_section(sized):
    found = surface(sized)
    assert (list(found), len(found)) == (["model", "prior", "recall", "precision"], 2 * 41 * 50)
    np.testing.assert_allclose(found["recall"].unique(), np.arange(1, 51) / 50, atol=1e-15)
    np.testing.assert_array_equal(found["prior"].unique(), prior_grid(sized, 41))
    row = found[(found["model"] == "B") & (found["recall"] == 0.5)].iloc[7]
    known = precision_recall(sized, row["prior"], recall=[0.5])
    assert row["precision"] == pytest.approx(known.loc[known["model"] == "B", "precision"].mean(), rel=1e-13)
    found = skew(sized)
    assert list(found) == ["model", "fold", "prior", "skew", "tpr", "fpr", "accuracy", "precision"]
    tpr, fpr = max(vertices_of()[1:], key=lambda v: v[0] - v[1])
    rows = cell(found)
    np.testing.assert_allclose(rows["skew"], 10 ** (np.arange(61) / 20), rtol=1e-13)
    assert rows["skew"].iloc[[0, -1]].tolist() == pytest.approx([1, 1000])
    for row in rows.itertuples():
        assert (row.tpr, row.fpr, row.prior) == (tpr, fpr, pytest.approx(1 / (1 + row.skew), rel=1e-14))
        assert row.accuracy == pytest.approx((tpr + row.skew * (1 - fpr)) / (1 + row.skew), rel=1e-13)
        assert row.precision == pytest.approx(tpr / (tpr + row.skew * fpr), rel=1e-13)


@pytest.mark.filterwarnings("ignore::skewanova.base.checks.SkewanovaWarning")
def test_a_segment_begins_behind_all_alarms_of_its_recall():
    frame = pd.DataFrame({"model": "A", "fold": 1, "y_true": [1, 0, 1, 0], "y_score": [4, 3, 2, 1]})
    one = evaluate(frame, at_priors=(0.5,))  # vertices (0, 0), (0.5, 0), (0.5, 0.5), (1, 0.5), (1, 1)
    found = precision_recall(one, 0.5, recall=[0.25, 0.5, 0.5 + 1e-13, 0.75, 1])["precision"]
    assert found.tolist() == pytest.approx([1, 1, 1, 0.75 / 1.25, 1 / 1.5])


def test_numbers_out_of_range_are_refused(sized):
    for recall in (0, 1.01, np.nan, [0.5, -1], [[0.5, 0.6]]):
        with pytest.raises(ValueError, match=r"`recall` must (hold numbers above 0 and at most 1|be one-d)"):
            precision_recall(sized, recall=recall)
    for fpr in (-0.01, 1.01, np.nan, [0.5, np.inf]):
        expect_error("`fpr` must hold numbers from 0 to 1, but has", roc, sized, fpr=fpr, error=ValueError)
