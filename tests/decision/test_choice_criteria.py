"""Choices read off a table of decisions written by hand."""

import numpy as np
import pandas as pd
import pytest

from skewanova.decision.choice import CHOICE_COLUMNS, choose_models


def decisions(**changes):
    columns = {
        "model": ["A", "B", "C"],
        "expected_auprec": [0.6, 0.8, 0.7],
        "expected_regret": [0.3, 0.1, 0.2],
        "worst_auprec": [0.5, 0.4, 0.55],
        "max_regret": [0.2, 0.4, 0.25],
        "p_best": [0.1, 0.3, 0.6],
    }
    return pd.DataFrame({**columns, **changes})


def test_each_criterion_by_hand():
    found = choose_models(decisions())
    assert tuple(found) == CHOICE_COLUMNS
    assert found[["criterion", "model", "value", "runner_up"]].to_numpy().tolist() == [
        ["highest_expected_auprec", "B", 0.8, "C"],
        ["minimum_expected_regret", "B", 0.1, "C"],
        ["maximin_auprec", "C", 0.55, "A"],
        ["minimax_regret", "A", 0.2, "C"],
        ["highest_p_best", "C", 0.6, "B"],
    ]
    assert found["margin"].to_numpy() == pytest.approx([0.1, 0.1, 0.05, 0.05, 0.3])
    unknown = choose_models(decisions(worst_auprec=[0.5, np.nan, 0.4]))  # leaves the criteria behind it
    assert unknown["criterion"].tolist() == found["criterion"].drop(2).tolist()


def test_of_two_models_one_is_the_runner_up_and_of_one_none():
    two, one = choose_models(decisions().iloc[:2]), choose_models(decisions().iloc[:1])
    assert two["runner_up"].tolist() == ["A", "A", "B", "B", "A"]
    assert two["margin"].notna().all()
    assert (one["model"] == "A").all()
    assert (one["runner_up"] == "").all()
    assert one["margin"].isna().all()


@pytest.mark.parametrize(("more", "first"), [(0.2, "A"), (2.0, "B")])
def test_of_equal_models_the_first_is_picked(more, first):
    unit = 1e-12
    table = decisions(expected_auprec=[0.5, 0.5 + more * unit, 0.3], max_regret=[0.5 + more * unit, 0.5, 0.8])
    found = choose_models(table).set_index("criterion")
    assert found.loc["highest_expected_auprec", "model"] == first
    assert found.loc["minimax_regret", "model"] == first
