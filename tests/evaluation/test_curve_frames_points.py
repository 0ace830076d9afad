"""Points of curves on grids, from the vertices of each curve."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from messages import expect_error
from precision_twins import cell, sized_models, vertices_of

from skewanova import InputTypeError, evaluate
from skewanova.evaluation import (
    auprec_by_prior,
    auprec_intervals,
    precision_recall,
    regret,
    roc,
    skew,
    support,
    surface,
)
from skewanova.evaluation.curve_frames import RATE_GRID, RECALL_GRID
from skewanova.evaluation.measures import prior_grid


@pytest.fixture(scope="module")
def measures():
    return evaluate(sized_models(), at_priors=(0.5, 0.4), deployment_prior=(0.45, 0.5))


@pytest.mark.parametrize(
    "compute", [auprec_by_prior, auprec_intervals, precision_recall, regret, roc, skew, support, surface]
)
def test_scores_in_place_of_an_evaluation_are_refused(compute):
    with pytest.raises(InputTypeError, match=r"^`evaluation` must be an Evaluation, .*evaluate\(scores\)$"):
        compute(sized_models())


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


def test_roc_and_precision_recall_on_a_grid(measures):
    found = roc(measures)
    assert list(found) == ["model", "fold", "fpr", "tpr"]
    points = [(f, t) for t, f in vertices_of()]
    upper = [p for i, p in enumerate(points) if i + 1 == len(points) or points[i + 1][0] > p[0]]
    np.testing.assert_allclose(RATE_GRID, np.arange(201) / 200, atol=1e-15)
    known = [between(upper, at, 0, 1) for at in RATE_GRID]
    assert cell(found)["tpr"].tolist() == pytest.approx(known, abs=1e-13)
    assert cell(found)["fpr"].tolist() == RATE_GRID.tolist()
    found = precision_recall(measures)
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
    one = precision_recall(measures, 0.3, recall=[0.5, 1.0])
    assert (one["prior"].unique().tolist(), one["recall"].tolist()) == ([0.3], [0.5, 1.0] * 4)


def test_surface_is_the_mean_over_folds_and_skew_its_section(measures):
    found = surface(measures)
    assert (list(found), len(found)) == (["model", "prior", "recall", "precision"], 2 * 41 * 50)
    np.testing.assert_allclose(found["recall"].unique(), np.arange(1, 51) / 50, atol=1e-15)
    np.testing.assert_array_equal(found["prior"].unique(), prior_grid(measures, 41))
    row = found[(found["model"] == "B") & (found["recall"] == 0.5)].iloc[7]
    known = precision_recall(measures, row["prior"], recall=[0.5])
    assert row["precision"] == pytest.approx(known.loc[known["model"] == "B", "precision"].mean(), rel=1e-13)
    found = skew(measures)
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
    found = precision_recall(one, 0.5, recall=[0.25, 0.5, 0.5 + 1e-13, 0.75, 1])
    assert found["precision"].tolist() == pytest.approx([1, 1, 1, 0.75 / 1.25, 1 / 1.5])


def test_numbers_out_of_range_are_refused(measures):
    for recall in (0, 1.01, np.nan, [0.5, -1]):
        with pytest.raises(ValueError, match="`recall` must hold numbers above 0 and at most 1, but has"):
            precision_recall(measures, recall=recall)
    for fpr in (-0.01, 1.01, np.nan, [0.5, np.inf]):
        expect_error("`fpr` must hold numbers from 0 to 1, but has", roc, measures, fpr=fpr, error=ValueError)
