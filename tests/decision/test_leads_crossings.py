"""Crossings, leaders, bands and support: against loops over fine grids and against simulated truth."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed
from messages import expect_error
from scipy import stats
from scipy.special import expit, logit

from skewanova import decision, evaluate, read_scores
from skewanova.decision.leads import CROSSING_COLUMNS, LEADER_COLUMNS
from skewanova.evaluation import auprec_by_prior
from skewanova.inference import compare_test_set
from studies.decisions import Model, SampleSizes, crossing_pair, draw_scores

PRIORS = (0.6, 0.1, 0.004)
RATIO = 0.25


def simulated(design, models=None, *, seed=5, **options):
    """Evaluation and scores of a narrow and a wide model (and others), whose curves cross at prior 0.05."""
    models = models or crossing_pair(0.05, design.jitter, 1.8)
    positive, scores = draw_scores(models, design, np.random.default_rng(seed))
    frame = pd.concat(
        pd.DataFrame({"model": f"M{k}", "fold": f, "y_true": positive.astype(int), "y_score": scores[f, k]})
        for f in range(design.n_folds)
        for k in range(len(models))
    )
    table = read_scores(frame)
    with warnings.catch_warnings(action="ignore"):
        stated = "independent" if design.n_folds > 1 else "auto"
        return evaluate(table, at_priors=PRIORS, design=stated, **options), table


@pytest.fixture(scope="module")
def folds():
    return simulated(SampleSizes(10, 100, 900, 0.1), (*crossing_pair(0.05, 0.1, 1.8), Model(1.2)))


@pytest.fixture(scope="module")
def one_set():
    return simulated(SampleSizes(1, 300, 2700))


def t_along(evaluation, pair, priors, *, ratio):
    """Mean difference of a pair over folds, and its standard error."""
    frame = auprec_by_prior(evaluation, priors)
    wide = frame.pivot(index="fold", columns=["model", "prior"], values="auprec")
    d = wide[pair[0]].to_numpy() - wide[pair[1]].to_numpy()
    return d.mean(axis=0), d.std(axis=0, ddof=1) * np.sqrt(1 / len(d) + ratio)


@pytest.mark.no_cover
@pytest.mark.parametrize("ratio", [0.0, RATIO])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_intervals_are_where_the_t_test_does_not_reject(folds, ratio, alpha):
    measures, _ = folds
    found = decision.find_crossings(designed(measures, ratio), alpha=alpha)
    assert tuple(found) == CROSSING_COLUMNS
    assert found["prior"].is_monotonic_increasing
    assert {"M0", "M1"} <= {*found["model_below"], *found["model_above"]}
    grid = expit(np.linspace(logit(0.004), logit(0.6), 4001))
    step = np.diff(logit(grid))[0]
    critical = stats.t.isf(alpha / 2, 9)
    for row in found.itertuples():
        difference, error = t_along(measures, (row.model_above, row.model_below), grid, ratio=ratio)
        here = np.searchsorted(grid, row.prior)
        assert difference[here - 1] <= 0 <= difference[here]  # the better one changes at this prior
        inside = np.abs(difference) <= critical * error
        low = high = here
        while low > 0 and inside[low - 1]:
            low -= 1
        while high < len(grid) - 1 and inside[high + 1]:
            high += 1
        assert abs(logit(row.conf_low) - logit(grid[low])) <= 1.01 * step
        assert abs(logit(row.conf_high) - logit(grid[high])) <= 1.01 * step
        assert (row.open_low, row.open_high) == (low == 0, high == len(grid) - 1)
        slope = (difference[here] - difference[here - 1]) / (grid[here] - grid[here - 1])
        assert (row.std_error, row.df) == (pytest.approx(error[here] / slope, rel=0.01), 9)


def t_of_difference(table, prior):
    """The t of the difference of both models at a prior, on the angular scale, as a normal deviate."""
    positive = table.frame["y_true"].to_numpy()[:3000] == 1
    found = compare_test_set(positive, table.frame["y_score"].to_numpy().reshape(2, -1).T, prior=prior)
    return stats.norm.isf(found.p_value[0] / 2)


def test_one_set_leaves_out_its_cases(one_set):
    measures, table = one_set
    found = decision.find_crossings(measures)
    row = found.iloc[0]
    for limit in (row.conf_low, row.conf_high):
        if not (row.open_low if limit == row.conf_low else row.open_high):
            assert t_of_difference(table, limit) == pytest.approx(stats.norm.isf(0.025), rel=1e-6)
    assert np.isinf(row.df)
    unknown = decision.find_crossings(replace(measures, scores=None))
    assert unknown["prior"].tolist() == found["prior"].tolist()
    assert unknown[["conf_low", "conf_high", "std_error", "df"]].isna().all(axis=None)


def test_contenders_follow_the_simultaneous_bands(folds):
    measures, _ = folds
    grid = expit(np.linspace(logit(0.004), logit(0.6), 41))
    found = decision.find_leaders(measures)
    assert tuple(found) == LEADER_COLUMNS
    bands = decision.difference_curves(measures, grid)  # the same draws, so the same critical value
    means = auprec_by_prior(measures, grid).groupby(["prior", "model"])["auprec"].mean()
    for prior in grid[1:-1]:
        here = found[(found["prior_low"] <= prior) & (prior <= found["prior_high"])]
        rows = bands[
            (bands["prior"] == prior) & bands["reject"]
        ]  # below the smallest supported prior all are in
        assert rows.empty or prior >= measures.support.smallest_prior
        out = {*rows.loc[rows["conf_low"] > 0, "model_b"], *rows.loc[rows["conf_high"] < 0, "model_a"]}
        assert set(here["contender"]) == set(measures.models) - out
        assert here["leader"].unique().tolist() == [means.loc[prior].idxmax()]
    stretches = found.drop_duplicates(["prior_low", "prior_high"])
    assert (stretches["prior_low"].iloc[0], stretches["prior_high"].iloc[-1]) == (0.004, 0.6)
    assert stretches["prior_low"].tolist()[1:] == stretches["prior_high"].tolist()[:-1]


def test_without_scores_one_fold_leaves_everyone_in(one_set):
    measures, _ = one_set
    leads, found = decision.find_regions(measures), decision.find_leaders(measures)
    assert len(decision.find_leaders(replace(measures, scores=None))) == 2 * len(leads)
    assert len(found.drop_duplicates(["prior_low"])) > len(leads)
    below = found[found["prior_low"] < 100 / 2800 * (1 - 1e-9)]  # too few effective negatives
    assert len(below) == 2 * below["prior_low"].nunique()
    for function in (decision.find_crossings, decision.find_leaders):
        expect_error("`alpha` must lie strictly between 0 and 1, but got 2", function, measures, alpha=2)
