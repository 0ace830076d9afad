"""The studies of operating points and of several data sets, reduced, and what was recorded."""

from pathlib import Path

import pandas as pd
import pytest

from skewanova.decision.operating import MEASURES
from studies.operating import RULES, SIZES, datasets_study, operating_study

STUDIES = Path(__file__).parents[2] / "studies" / "records"


def test_operating_study_agrees_with_what_was_recorded():
    frame = operating_study(replicates=40, rng=1)
    known = pd.read_csv(STUDIES / "operating.csv")
    assert list(frame) == list(known)
    assert len(frame) == len(known) == len(SIZES) * 3 * len(RULES) * len(MEASURES)
    chosen = (frame["rule"] == "fpr_0.05") & (frame["measure"] == "precision")
    assert frame[chosen]["coverage"].mean() == pytest.approx(known[chosen]["coverage"].mean(), abs=0.06)


def test_datasets_study_agrees_with_what_was_recorded():
    frame = datasets_study(replicates=40, rng=1)
    known = pd.read_csv(STUDIES / "datasets.csv")
    assert list(frame) == list(known)
    merged = frame.merge(known, on=["n_datasets", "between", "test", "level"], suffixes=("", "_known"))
    assert len(merged) == len(frame) == len(known)
    chosen = merged[(merged["test"] == "hierarchical") & (merged["level"] == 0.05)]
    assert chosen["rate"].mean() == pytest.approx(chosen["rate_known"].mean(), abs=0.05)
