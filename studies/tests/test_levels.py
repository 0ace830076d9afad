"""The study of few levels: what is drawn, the truth, and the recorded cells."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skewanova import iauprec_score
from studies.levels import CUTS, DESIGNS, LEVELS, WEIGHTING, Rating, levels_study

RECORDED = pd.read_csv(Path(__file__).parents[2] / "studies/records/levels.csv")


@pytest.mark.parametrize("cut", CUTS)
@pytest.mark.parametrize("n_levels", LEVELS)
def test_levels_and_their_true_areas(n_levels, cut):
    rating = Rating("test_set", n_levels, cut, 20_000, 180_000)
    positive, levels = rating.draw(np.random.default_rng(0))
    assert len(np.unique(levels[:, 0])) == n_levels
    if cut == "share":
        counts = np.bincount(levels[:, 0, 0].astype(int)) / len(positive)
        assert counts == pytest.approx(np.full(n_levels, 1 / n_levels), abs=0.005)
    for model in (0, 4):
        area = iauprec_score(positive, levels[:, model, 0], deployment_prior=WEIGHTING)
        assert area == pytest.approx(rating.true_areas()[model], abs=0.01)


@pytest.mark.parametrize("design", DESIGNS)
def test_rows_of_a_design(design):
    options = {"designs": [design], "levels": [3], "cuts": ["width"], "samples": [(50, 450)]}
    frame = levels_study(**options, replicates=3, progress=False).to_frame()
    assert frame["rate"].between(0, 1).all()
    assert len(frame) == 10


def test_a_recorded_cell_is_simulated_again():
    options = {"designs": ["test_set"], "levels": [5], "cuts": ["width"], "samples": [(32, 368)]}
    frame = levels_study(**options, replicates=500, progress=False).to_frame()
    rows = RECORDED.query("design == 'test_set' and levels == 5 and cut == 'width' and n_positive == 32")
    assert frame["rate"].tolist() == pytest.approx(rows["rate"].tolist(), abs=1e-6)
