"""Crossings, leaders, bands and support: against loops over fine grids and against simulated truth."""

import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed
from scipy import stats
from scipy.special import expit, logit

from skewanova import evaluate, read_scores
from skewanova.base.checks import InputError
from skewanova.decision import (
    auprec_bands,
    crossings,
    decisions,
    difference_curves,
    leaders,
    ranking,
    regions,
)
from skewanova.decision.bands import BAND_COLUMNS
from skewanova.decision.choice import probability_best
from skewanova.decision.leads import CROSSING_COLUMNS, LEADER_COLUMNS
from skewanova.evaluation import auprec_by_prior
from skewanova.inference import auprec_covariance, compare_test_set
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
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
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


# --- crossings ----------------------------------------------------------------------------------------------


@pytest.mark.no_cover
@pytest.mark.parametrize("ratio", [0.0, RATIO])
@pytest.mark.parametrize("alpha", [0.05, 0.3])
def test_intervals_are_where_the_t_test_does_not_reject(folds, ratio, alpha):
    measures, _ = folds
    found = crossings(designed(measures, ratio), alpha=alpha)
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
        assert row.std_error == pytest.approx(error[here] / slope, rel=0.01)
        assert row.df == 9


def test_lead_marks_the_limits_of_regions(folds):
    measures, _ = folds
    found, leads = crossings(measures), regions(measures)
    changes = found[found["lead"]]
    np.testing.assert_allclose(changes["prior"], leads["prior_high"].iloc[:-1], rtol=1e-7)
    assert changes["model_below"].tolist() == leads["model"].tolist()[:-1]
    assert changes["model_above"].tolist() == leads["model"].tolist()[1:]


def test_every_sign_change_on_a_grid_is_found(folds):
    measures, _ = folds
    grid = expit(np.linspace(logit(0.004), logit(0.6), 1501))
    mean = auprec_by_prior(measures, grid).groupby(["model", "prior"])["auprec"].mean()
    means = {model: mean.loc[model].to_numpy() for model in measures.models}
    changes = sum(
        int((np.diff(np.sign(means[a] - means[b])) != 0).sum())
        for i, a in enumerate(measures.models)
        for b in measures.models[i + 1 :]
    )
    assert len(crossings(measures)) == changes > 0


def t_of_difference(table, prior):
    """The t of the difference of both models at a prior, on the angular scale, as a normal deviate."""
    positive = table.frame["y_true"].to_numpy()[:3000] == 1
    columns = table.frame["y_score"].to_numpy().reshape(2, -1)
    found = compare_test_set(positive, columns.T, prior=prior)
    return stats.norm.isf(found.p_value[0] / 2)


def test_one_set_leaves_out_its_cases(one_set):
    measures, table = one_set
    found = crossings(measures)
    row = found.iloc[0]
    for limit in (row.conf_low, row.conf_high):
        if not (row.open_low if limit == row.conf_low else row.open_high):
            assert t_of_difference(table, limit) == pytest.approx(stats.norm.isf(0.025), rel=1e-6)
    assert np.isinf(row.df)
    unknown = crossings(replace(measures, scores=None))
    assert unknown["prior"].tolist() == found["prior"].tolist()
    assert unknown[["conf_low", "conf_high", "std_error", "df"]].isna().all(axis=None)


def test_cases_may_stand_in_any_order(one_set):
    measures, table = one_set
    frame = table.frame.assign(case=np.tile(np.arange(3000), 2), y_true=table.frame["y_true"].astype(int))
    shuffled = read_scores(frame.sample(frac=1, random_state=1))
    pd.testing.assert_frame_equal(crossings(replace(measures, scores=shuffled)), crossings(measures))


def test_unpaired_cases_give_no_interval(one_set):
    measures, table = one_set
    frame = table.frame.assign(y_true=table.frame["y_true"].astype(int))
    turned = pd.concat([frame[frame["model"] == "M0"], frame[frame["model"] == "M1"].iloc[::-1]])
    turned = replace(measures, scores=read_scores(turned))
    assert crossings(turned)["conf_low"].isna().all()


def test_no_crossings_at_one_prior_of_one_model_or_of_equal_models(folds):
    _, table = folds
    assert crossings(simulated(SampleSizes(4, 20, 60), (Model(),))[0]).empty
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        at_one = evaluate(table, at_priors=(0.1,), deployment_prior=0.1, design="independent")
        twins = table.frame.query("model == 'M0'").assign(y_true=lambda d: d["y_true"].astype(int))
        both = pd.concat([twins, twins.assign(model="copy")])
        equal = evaluate(both, at_priors=PRIORS, design="independent")
    for evaluation in (at_one, equal):
        found = crossings(evaluation)
        assert found.empty
        assert tuple(found) == CROSSING_COLUMNS
    assert leaders(at_one)["prior_low"].tolist() == leaders(at_one)["prior_high"].tolist()
    assert leaders(equal)["contender"].tolist() == ["M0", "copy"]


@pytest.mark.parametrize("function", [crossings, leaders, auprec_bands])
def test_options_are_checked(folds, function):
    with pytest.raises(InputError, match="`alpha` must lie strictly between 0 and 1, but got 2"):
        function(folds[0], alpha=2)


# --- leaders ------------------------------------------------------------------------------------------------


def test_contenders_follow_the_simultaneous_bands(folds):
    measures, _ = folds
    grid = expit(np.linspace(logit(0.004), logit(0.6), 41))
    found = leaders(measures)
    assert tuple(found) == LEADER_COLUMNS
    bands = difference_curves(measures, grid)  # the same draws, so the same critical value
    means = auprec_by_prior(measures, grid).groupby(["prior", "model"])["auprec"].mean()
    for prior in grid[1:-1]:
        here = found[(found["prior_low"] <= prior) & (prior <= found["prior_high"])]
        rows = bands[bands["prior"] == prior]
        out = {*rows.loc[rows["conf_low"] > 0, "model_b"], *rows.loc[rows["conf_high"] < 0, "model_a"]}
        assert set(here["contender"]) == set(measures.models) - out
        assert here["leader"].unique().tolist() == [means.loc[prior].idxmax()]
    stretches = found.drop_duplicates(["prior_low", "prior_high"])
    assert (stretches["prior_low"].iloc[0], stretches["prior_high"].iloc[-1]) == (0.004, 0.6)
    assert stretches["prior_low"].tolist()[1:] == stretches["prior_high"].tolist()[:-1]


def test_a_swap_of_the_lead_has_no_single_winner():
    found = leaders(simulated(SampleSizes(20, 100, 1900, 0.1))[0])
    alone = found[~found.duplicated(["prior_low", "prior_high"], keep=False)]
    assert set(alone["contender"]) == {"M0", "M1"}


def test_shortfall_is_the_mean_distance_from_the_leader(folds):
    measures, _ = folds
    for row in leaders(measures).itertuples():
        at = expit(np.linspace(logit(row.prior_low), logit(row.prior_high), 2001))
        means = auprec_by_prior(measures, at).groupby(["model", "prior"])["auprec"].mean()
        gap = means.loc[row.leader].to_numpy() - means.loc[row.contender].to_numpy()
        assert row.shortfall == pytest.approx((gap[1:] + gap[:-1]).mean() / 2, abs=1e-7)


def test_without_scores_one_fold_leaves_everyone_in(one_set):
    measures, _ = one_set
    leads = regions(measures)
    assert len(leaders(replace(measures, scores=None))) == 2 * len(leads)
    assert len(leaders(measures).drop_duplicates(["prior_low"])) > len(leads)


@pytest.mark.slow
def test_nobody_is_left_out_where_one_fold_has_few_effective_negatives():
    measures, _ = simulated(SampleSizes(1, 1000, 9000), seed=1)
    found = leaders(measures)
    rarest = 100 / 9100
    below = found[found["prior_low"] < rarest * (1 - 1e-9)]
    assert set(below["contender"]) == {"M0", "M1"}
    assert not below.duplicated(["prior_low", "contender"]).any()
    assert len(below) == 2 * below["prior_low"].nunique()
    assert (found["prior_low"].value_counts() == 1).any()  # and somewhere above somebody is


# --- bands and support --------------------------------------------------------------------------------------


def test_bands_hold_the_means_at_one_width_in_standard_errors(folds):
    measures, _ = folds
    priors = [0.3, 0.4, 0.5]
    bands = auprec_bands(designed(measures, RATIO), priors)
    assert tuple(bands) == BAND_COLUMNS
    values = auprec_by_prior(measures, priors).groupby(["model", "prior"], sort=False)["auprec"]
    np.testing.assert_allclose(bands["auprec"], values.mean(), rtol=1e-12)
    error = values.std(ddof=1).to_numpy() * np.sqrt(1 / 10 + RATIO)
    reach = (bands["conf_high"] - bands["auprec"]) / error
    np.testing.assert_allclose(reach, reach.iloc[0], rtol=1e-9)
    assert stats.t.isf(0.025, 9) < reach.iloc[0] < stats.t.isf(0.025 / 9, 9)  # up to Bonferroni


def test_bands_of_one_set_and_without_scores(one_set):
    measures, table = one_set
    bands = auprec_bands(measures, [0.3])
    positive = table.frame["y_true"].to_numpy()[:3000] == 1
    error = auprec_covariance(
        positive, table.frame["y_score"].to_numpy().reshape(2, -1).T, prior=0.3
    ).std_error
    area = bands["auprec"]
    on_logits = error / (area * (1 - area))
    reach = (logit(bands["conf_high"]) - logit(area)) / on_logits
    assert stats.norm.isf(0.025) < reach.iloc[0] < stats.norm.isf(0.025 / 2) + 0.05
    assert reach.iloc[1] == pytest.approx(reach.iloc[0], rel=0.01)  # t, of as many degrees as cases have
    np.testing.assert_allclose(logit(area) - logit(bands["conf_low"]), reach * on_logits, rtol=1e-9)
    assert auprec_bands(replace(measures, scores=None), [0.3])["conf_low"].isna().all()


# --- decisions from one fold --------------------------------------------------------------------------------


def test_p_best_of_one_set_rests_on_the_cases(one_set):
    measures, table = one_set
    positive = table.frame["y_true"].to_numpy()[:3000]
    columns = table.frame["y_score"].to_numpy().reshape(2, -1).T
    known = auprec_covariance(positive, columns, deployment_prior=(0.05, 0.2), area_estimator="trapezoid")
    expected = probability_best(known.estimate, known.covariance, df=np.inf, n_draws=40_000)
    found = decisions(measures).set_index("model")
    assert found.loc[["M0", "M1"], "p_best"].tolist() == pytest.approx(expected.tolist(), abs=0.02)
    assert found["p_best_over"].unique().tolist() == ["cases"]
    ranked = ranking(measures)
    assert ranked["p_best"].tolist() == found["p_best"].tolist()
    assert ranking(replace(measures, scores=None))["p_best"].isna().all()
