"""The study of plans: what is drawn at a size, and the recorded powers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skewanova import compare
from skewanova.curves.distributions import true_iauprec
from skewanova.decision.power import FoldTest, noncentrality_for_power, t_power
from studies.plans import DESIGNS, PLANS_COLUMNS, POWER, WEIGHTING, plans_study, primary_p_value

RECORDED = pd.read_csv(Path(__file__).parents[2] / "studies/records/plans.csv")


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


@pytest.mark.parametrize(
    ("name", "truth"), [("test set", (1.0, 0.35)), ("clusters", (1.49**0.5, 0.4)), ("hold-outs", 0.181)]
)
def test_recorded_power_is_that_of_the_true_difference(name, truth):
    """Planned were sizes for means of 400 tables, which are up to 6 % off the truth."""
    if name != "hold-outs":
        std, lead = truth
        areas = [true_iauprec(stats.norm(0, std), stats.norm(mean, std), WEIGHTING) for mean in (1, 1 + lead)]
        truth = areas[1] - areas[0]
    row = RECORDED[(RECORDED["design"] == name) & (RECORDED["measure"] == "planned")].iloc[0]
    planned = noncentrality_for_power(40, POWER, 0.05)
    expected = t_power(planned * truth / -row["difference"], 40, 0.05)
    assert row["rate"] == pytest.approx(expected, abs=1.5 * row["std_error"])


@pytest.mark.parametrize("n_folds", [5, 10])
def test_recorded_power_over_folds_is_that_of_rounded_numbers(n_folds):
    row = RECORDED[(RECORDED["design"] == f"{n_folds} folds") & (RECORDED["measure"] == "planned")].iloc[0]
    size, df = -row["difference"], n_folds - 1.0
    deviation = 0.12 * np.sqrt(stats.chi2.ppf((np.arange(40) + 0.5) / 40, df) / df)
    folds = FoldTest(size, deviation, np.zeros(40), 0.05, None, df).folds_for_power(POWER)
    expected = t_power(size * np.sqrt(folds) / 0.12, folds - 1, 0.05).mean()
    assert 0.81 < expected < 0.83
    assert row["rate"] == pytest.approx(expected, abs=2 * row["std_error"])


def test_every_design_is_recorded_near_the_power_that_was_planned():
    planned = RECORDED[RECORDED["measure"] == "planned"]
    assert dict(zip(planned["design"], planned["difference"], strict=True)) == {
        name: design.difference for name, design in DESIGNS.items()
    }
    assert (planned["rate"] > POWER - 0.03 - 2 * planned["std_error"]).all()
