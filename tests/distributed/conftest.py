"""Engines whose rows stay where they are, and a test set."""

import numpy as np
import pandas as pd
import pytest
from rows_elsewhere import SET_OPTIONS, by_names

import skewanova as sa
from skewanova.distributed import backends, packing


@pytest.fixture
def small_workers(monkeypatch):
    """Workers hold a few rows of a group."""
    monkeypatch.setattr(packing, "MAX_GROUP_ROWS", 12)
    monkeypatch.setattr(packing, "SAMPLE_SIZE", 9)


@pytest.fixture(scope="module")
def test_set():
    """Four models on 700 cases, many of them tied; two are nearly alike, and one ranks nearly all rightly."""
    rng = np.random.default_rng(3)
    truth = rng.random(700) < 0.4
    rows = pd.DataFrame({"case": rng.permutation(700), "y_true": truth})
    scores = {"a": rng.normal(size=700).round(1) + truth, "b": rng.normal(size=700) + 2 * truth}
    scores |= {"c": scores["b"] + 1e-3 * rng.normal(size=700), "d": truth + rng.normal(size=700) / 6}
    return pd.concat([rows.assign(model=m, y_score=s, fold=1) for m, s in scores.items()], ignore_index=True)


@pytest.fixture(scope="module")
def set_here(test_set):
    return sa.compare(by_names(test_set), **SET_OPTIONS)


@pytest.fixture
def stays(monkeypatch):
    """No rows of an engine come here."""
    monkeypatch.setattr("skewanova.distributed.loading.MAX_LOCAL_ROWS", 0)
    monkeypatch.setattr(packing, "BUCKET_ROWS", 500)
    for engine in (backends.DaskFrame, backends.SparkFrame):
        monkeypatch.setattr(engine, "read_rows", None)
