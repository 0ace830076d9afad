"""Means along the prior: intervals against scipy, regret against single curves and the ranking's integral."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed
from scipy import stats
from scipy.integrate import trapezoid

from skewanova import auprec, evaluate, load_satellite_scores
from skewanova.base.checks import InputError
from skewanova.decision import ranking
from skewanova.evaluation import auprec_intervals, regret
from skewanova.evaluation.along_prior import INTERVAL_COLUMNS, REGRET_COLUMNS


@pytest.fixture(scope="module")
def measures():
    return evaluate(load_satellite_scores(), priors=(0.5, 0.2), deployment_prior=(0.05, 0.2))


def test_intervals_equal_scipys(measures):
    frame = auprec_intervals(designed(measures, 0), alpha=0.1)
    assert tuple(frame) == INTERVAL_COLUMNS
    assert len(frame) == 6
    for row in frame.itertuples():
        mine = measures.auprec.query("model == @row.model and prior == @row.prior")["auprec"]
        low, high = stats.t.interval(0.9, len(mine) - 1, loc=mine.mean(), scale=stats.sem(mine))
        assert (row.auprec, row.conf_low, row.conf_high) == pytest.approx((mine.mean(), low, high))
        assert (row.std_error, row.n_folds) == (pytest.approx(stats.sem(mine)), 20)


def test_shared_training_data_widens_the_intervals(measures):
    alone, shared = (auprec_intervals(designed(measures, ratio)) for ratio in (0.0, 0.25))
    width = [frame["conf_high"] - frame["conf_low"] for frame in (alone, shared)]
    np.testing.assert_allclose(width[1] / width[0], np.sqrt(1 + 20 * 0.25))  # Nadeau and Bengio 2003
    pd.testing.assert_series_equal(alone["auprec"], shared["auprec"])


def test_intervals_keep_the_order_of_the_frame_and_know_none_of_one_fold(measures):
    ordered = measures.ordered(("C", "A", "B"))
    one = ordered.auprec.query("fold == 1")
    frame = auprec_intervals(replace(ordered, auprec=one))
    assert list(dict.fromkeys(frame["model"])) == ["C", "A", "B"]
    assert frame[["std_error", "conf_low", "conf_high"]].isna().all(axis=None)
    np.testing.assert_array_equal(frame["auprec"], one["auprec"])


def test_interval_options_are_checked(measures):
    with pytest.raises(InputError, match="`alpha` must"):
        auprec_intervals(measures, alpha=1.0)


def test_regret_is_the_shortfall_of_single_curves(measures):
    frame = regret(measures, [0.02, 0.3])
    assert tuple(frame) == REGRET_COLUMNS
    for prior, rows in frame.groupby("prior"):
        mean = {
            model: np.mean([auprec(roc, prior) for (m, _), roc in measures.curves.items() if m == model])
            for model in measures.models
        }
        best = max(mean, key=mean.get)
        assert rows["best"].tolist() == [best] * 3
        assert rows["model"].tolist() == list(measures.models)
        np.testing.assert_allclose(rows["auprec"], list(mean.values()), rtol=1e-12)
        np.testing.assert_allclose(rows["regret"], mean[best] - np.array(list(mean.values())), atol=1e-12)


def test_regret_averages_and_peaks_as_the_ranking_says(measures):
    grid = np.linspace(0.05, 0.2, 801)
    frame = regret(measures, grid)
    ranked = ranking(measures).set_index("model")
    for model, rows in frame.groupby("model"):
        mean = trapezoid(rows["regret"], rows["prior"]) / 0.15
        assert mean == pytest.approx(ranked.loc[model, "expected_regret"], abs=1e-6)
        assert rows["regret"].max() == pytest.approx(ranked.loc[model, "max_regret"], abs=1e-6)


def test_regret_covers_the_deployment_prior_exactly(measures):
    priors = regret(measures)["prior"]
    assert {0.05, 0.2, 0.5} <= set(priors)
    assert priors.min() == 0.05
    assert len(priors) == 3 * priors.nunique()


def test_regret_checks_the_priors(measures):
    with pytest.raises(InputError, match="must lie strictly between 0 and 1"):
        regret(measures, [1.5])
