"""The study of values: its p-values are those of `compare_values`, and what was recorded."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score

import skewanova as sa
from skewanova.report.pairs_verdict import VALUES_RATES
from studies.values import (
    DESIGNS,
    MEASURES,
    PROBABILITIES,
    SAMPLES,
    VALUES_COLUMNS,
    default_p_values,
    values_study,
)

RECORDED = Path(__file__).resolve().parents[2] / "studies" / "records" / "values.csv"

#: Designs in which nearest neighbours, which change with their training set, exceed the level.
UNSTABLE = ("20 hold-outs of 0.2", "20 hold-outs of 0.5", "repeated kfold 4 x 5")

#: What the verdict calls each design.
KEYS = {
    "20 hold-outs of 0.2": ("repeated_holdout", 20, 0.2),
    "20 hold-outs of 0.5": ("repeated_holdout", 20, 0.5),
    "repeated kfold 4 x 5": ("repeated_kfold", 20, 0.2),
    "kfold 10": ("kfold", 10, 0.1),
}


@pytest.mark.parametrize(
    "design", ["kfold", "independent", "datasets", sa.FoldDesign("repeated_holdout", 0.2)]
)
def test_p_values_are_those_of_compare_values(design: str | sa.FoldDesign) -> None:
    gains = np.random.default_rng(1).normal(0.8, 0.02, (12, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)
        result = sa.compare_values(dict(zip("012", gains.T, strict=True)), design=design)
    tests, pairs = (frame[frame["role"] == "primary"] for frame in (result.tests, result.pairs))
    expected = tests["p_value"].iloc[0], pairs["p_adjusted"].min()
    assert default_p_values(gains, design) == pytest.approx(expected, rel=1e-12)


def test_measures_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    p, positive = rng.uniform(0.05, 0.95, 50).round(1), rng.random(50) < 0.4
    expected = {
        "accuracy": np.mean((p >= 0.5) == positive), "roc_auc": roc_auc_score(positive, p),
        "brier": brier_score_loss(positive, p), "log_loss": log_loss(positive, p),
    }  # fmt: skip
    assert {name: measure(p, positive) for name, (measure, _) in MEASURES.items()} == pytest.approx(expected)


def test_every_design_is_counted() -> None:
    frame = values_study(scenarios=["kfold 10", "6 data sets"], replicates=2, progress=False).to_frame()
    assert list(frame) == list(VALUES_COLUMNS)
    assert len(frame) == 2 * 2 * len(MEASURES) * 2 * 2
    assert frame["rate"].between(0, 1).all()


def test_recorded_rates_hold_the_level() -> None:
    frame = pd.read_csv(RECORDED)
    assert set(frame["design"]) == {*DESIGNS, *SAMPLES}
    assert set(frame["learner"]) == set(PROBABILITIES)
    stable = frame[(frame["learner"] == "logistic") | ~frame["design"].isin(UNSTABLE)]
    hits, n = (stable["rate"] * stable["replicates"]).round(), stable["replicates"]
    assert (stats.binom.sf(hits - 1, n, stable["level"]) > 1e-3).all()  # of 176 rates


def test_the_verdict_quotes_the_worst_recorded_rate() -> None:
    frame = pd.concat([pd.read_csv(RECORDED), pd.read_csv(RECORDED.with_name("measures.csv"))])
    pairs = frame[(frame["question"] == "pairs") & (frame["level"] == 0.05)]
    worst = pairs.groupby("design")["rate"].max().to_dict()
    assert {key: worst[name] for name, key in KEYS.items()} == VALUES_RATES
