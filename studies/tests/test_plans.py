"""The study of plans: what is drawn at a size, and the recorded powers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from skewanova import compare
from studies.plans import DESIGNS, PLANS_COLUMNS, POWER, WEIGHTING, plans_study, primary_p_value

RECORDED = pd.read_csv(Path(__file__).parents[2] / "docs/studies/plans.csv")


@pytest.mark.parametrize("name", DESIGNS)
def test_a_table_grows_with_its_size(name):
    small, large = (DESIGNS[name].draw(np.random.default_rng(0), size) for size in (1.0, 2.0))
    assert len(large) == 2 * len(small)
    assert set(small["model"]) == {"A", "B"}
    assert small.groupby("model")["y_true"].sum().nunique() == 1


@pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")
@pytest.mark.parametrize("name", ["5 folds", "10 folds", "test set", "clusters", "hold-outs"])
def test_p_is_that_of_compare(name):
    design = DESIGNS[name]
    frame = design.draw(np.random.default_rng(1), 1.0)
    pairs = compare(frame, deployment_prior=WEIGHTING, at_priors=(0.1,), **design.options).pairs
    primary = pairs.loc[pairs["role"] == "primary", "p_adjusted"].iloc[0]
    assert primary_p_value(frame, design.options) == pytest.approx(primary, abs=1e-12)


def test_rows_of_a_design():
    frame = plans_study(designs=["10 folds"], replicates=3, progress=False).to_frame()
    assert tuple(frame.columns) == PLANS_COLUMNS
    assert frame["measure"].tolist() == ["planned", "assured", "no size"]
    assert frame["difference"].iloc[0] < 0
    assert frame["rate"].between(0, 1).all()


def test_every_design_is_recorded_near_the_power_that_was_planned():
    planned = RECORDED[RECORDED["measure"] == "planned"]
    assert set(planned["design"]) == set(DESIGNS)
    assert (planned["rate"] > POWER - 0.03 - 2 * planned["std_error"]).all()
