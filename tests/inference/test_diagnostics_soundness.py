"""Rankings turned around, and models that collapse in some folds."""

import warnings

import numpy as np
import pandas as pd
import pytest

from skewanova import SkewanovaWarning, compare, evaluate
from skewanova.inference import soundness
from skewanova.scores.pairing import find_collapsed

SETTINGS = {"deployment_prior": (0.3, 0.6), "at_priors": (0.5, 0.4)}


def table(quality, n=240):
    """Folds of models whose quality is given by model and fold."""
    rng = np.random.default_rng(3)
    label = np.arange(n) % 2
    parts = []
    for model, values in quality.items():
        for fold, value in enumerate(values):
            cases = {"case": fold * n + np.arange(n), "y_true": label}
            score = label * value + rng.normal(size=n)
            parts.append(pd.DataFrame({"model": model, "fold": fold, **cases, "y_score": score}))
    return pd.concat(parts, ignore_index=True)


def checked(quality):
    return soundness(evaluate(table(quality), **SETTINGS)).set_index("check")


def test_a_ranking_turned_around_is_told():
    checks = checked({"good": [1.5] * 5, "turned": [-1.0] * 5})
    assert checks.loc["smallest_auc", "statistic"] == pytest.approx(0.24, abs=0.05)
    assert "worse than chance: 'turned' (AUC 0.2" in checks.loc["smallest_auc", "advice"]
    assert checks.loc["collapsed_folds", "advice"] == ""


def test_a_model_that_collapses_in_some_folds_is_told():
    checks = checked({"a": [1.5] * 6, "b": [1.5, 0, 1.5, 1.5, 0, 1.5], "c": [1.4] * 6})
    assert checks.loc["collapsed_folds", "statistic"] == 2
    told = "'b' ranks near chance in 2 of 6 folds (the first: fold 1,"
    assert told in checks.loc["collapsed_folds", "advice"]


def test_a_hard_fold_is_no_collapse_nor_is_a_model_that_never_ranks():
    hard = checked({"a": [1.5, 0, 1.5, 1.5], "b": [1.5, 0, 1.5, 1.5]})
    assert hard.loc["collapsed_folds", "statistic"] == 0
    assert checked({"a": [1.5] * 4, "b": [0.02] * 4}).loc["collapsed_folds", "statistic"] == 0


def test_one_of_two_models_may_collapse():
    auc = pd.DataFrame({"a": [0.8, 0.8, 0.8], "b": [0.8, 0.51, 0.8]})
    assert find_collapsed(auc).tolist() == [[False, False], [False, True], [False, False]]


def test_compare_warns_and_says_each_once():
    frame = table({"good": [1.5] * 5, "turned": [-1.0] * 5})
    with pytest.warns(SkewanovaWarning, match="worse than chance"):
        result = compare(frame, **SETTINGS)
    told = [note for note in result.warnings if "worse than chance" in note]
    assert len(told) == 1
    assert "smallest_auc" in result.tables["assumptions"]["check"].tolist()
    assert result.summary(10_000, full=True).count("worse than chance") == 1


@pytest.mark.parametrize(("columns", "claim"), [
    ({}, "methods retrained on data like these"),
    ({"design": "independent"}, "methods retrained on new data"),
])  # fmt: skip
def test_the_claim_stands_in_summary_and_methods(columns, claim):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        result = compare(table({"a": [1.5] * 5, "b": [1.0] * 5}), **SETTINGS, **columns)
    assert f"Tests and intervals are about {claim}" in result.summary(10_000, full=True)
