"""Tables of the decision: what stands in them is what the frames hold."""

import numpy as np
import pandas as pd

from skewanova.report.tables import TABLES, leaders_table


def test_choices_say_the_rule_in_words():
    frame = pd.DataFrame(
        {
            "criterion": ["maximin_auprec", "odd_rule"],
            "model": ["A", "B"],
            "value": [0.25, 0.5],
            "runner_up": ["B", None],
            "margin": [0.125, np.nan],
        }
    )
    assert TABLES["choices"].build(frame).rows == (
        ("best worst case (maximin)", "A", "0.250", "B", "0.125"),
        ("odd rule", "B", "0.500", "", ""),
    )


def test_leaders_have_one_row_a_stretch_of_priors():
    frame = pd.DataFrame(
        {
            "prior_low": [0.01, 0.01, 0.01, 0.1],
            "prior_high": [0.1, 0.1, 0.1, 0.5],
            "leader": ["A", "A", "A", "B"],
            "contender": ["A", "C", "B", "B"],
        }
    )
    table = leaders_table(frame, "95 %")
    assert table.rows == (("0.01 to 0.1", "A", "C, B"), ("0.1 to 0.5", "B", "none"))
    assert "95 %" in table.caption


def test_crossings_that_change_the_lead_come_first():
    frame = pd.DataFrame(
        {
            "prior": [0.02, 0.08, 0.3],
            "conf_low": [np.nan, 0.05, 0.01],
            "conf_high": [np.nan, 0.1, 0.5],
            "model_below": ["C", "B", "C"],
            "model_above": ["B", "A", "A"],
            "lead": [False, True, False],
            "open_low": [False, False, True],
            "open_high": [False, True, True],
        }
    )
    assert TABLES["crossings"].build(frame, level="95 %").rows == (
        ("0.08", "0.05 to 0.1 or above", "B", "A", "yes"),
        ("0.02", "", "C", "B", "no"),
        ("0.3", "0.01 or below to 0.5 or above", "C", "A", "no"),
    )


def test_sensitivity():
    frame = pd.DataFrame(
        {
            "model": ["A"],
            "auprec_at_rarest": [0.25],
            "auprec_commonest": [0.75],
            "sensitivity": [0.5],
            "loss_per_tenfold": [0.375],
        }
    )
    assert TABLES["sensitivity"].build(frame).rows == (("A", "0.250", "0.750", "0.500", "0.375"),)
