"""The study of tests of two models: their p-values by plain loops, what is counted, and what was recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sharp_cv import sharp_cross_val_test
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import RepeatedStratifiedKFold

from studies.rivals import CUTS, PAIR_DRAWS, RIVAL_COLUMNS, RIVALS, rival_p_values, rivals_study
from studies.scenarios import Task


def test_5x2_tests_are_those_of_plain_loops() -> None:
    differences = np.random.default_rng(0).standard_normal((3, 10)) + 0.3
    for found_t, found_f, row in zip(
        rival_p_values("5x2 t", differences), rival_p_values("5x2 F", differences), differences, strict=True
    ):
        pairs = [(row[2 * k], row[2 * k + 1]) for k in range(5)]
        variances = [(a - (a + b) / 2) ** 2 + (b - (a + b) / 2) ** 2 for a, b in pairs]
        t = pairs[0][0] / np.sqrt(sum(variances) / 5)
        assert found_t == pytest.approx(2 * stats.t.sf(abs(t), 5))
        f = sum(a**2 + b**2 for a, b in pairs) / (2 * sum(variances))
        assert found_f == pytest.approx(stats.f.sf(f, 10, 5))


def test_sharp_reads_the_differences_in_the_halves() -> None:
    """The same p-value as the package's own run, from the array that it reports."""
    rng = np.random.default_rng(0)
    cases, label = rng.standard_normal((60, 4)), np.arange(60) < 30
    cases[label] += 0.5
    model, options = LinearDiscriminantAnalysis(), {"cv": RepeatedStratifiedKFold(n_splits=3, n_repeats=5)}
    result = sharp_cross_val_test(
        model, LinearDiscriminantAnalysis(priors=[0.9, 0.1]), cases, label, **options
    )
    halves = result.diff_AB[None]
    assert rival_p_values("SHARP", np.zeros((1, 1)), halves) == pytest.approx([result.pvalue])


def test_corrected_tests_have_the_ratio_of_their_cut() -> None:
    folds = np.random.default_rng(1).standard_normal((2, 20)) + 0.5
    for name, ratio in (("half splits, corrected t (default)", 1.0), ("hold-outs 80/20, corrected t", 0.25)):
        error = folds.std(axis=1, ddof=1) * np.sqrt(1 / 20 + ratio)
        expected = 2 * stats.t.sf(np.abs(folds.mean(axis=1) / error), 19)
        np.testing.assert_allclose(rival_p_values(name, folds), expected)


def test_scores_that_no_training_changes() -> None:
    draw, sizes = PAIR_DRAWS["S1"]
    values = [
        draw(3, np.random.default_rng(0), task=Task(CUTS["5x2"], sizes, n_models=2), effect=effect).iauprec
        for effect in (0.0, 1.0)
    ]
    np.testing.assert_array_equal(values[0][..., 1], values[1][..., 1])
    assert (values[0][..., 0] < values[1][..., 0]).all()


def test_what_is_counted() -> None:
    frame = rivals_study(scenarios=["S1", "S2d"], effects=[2.5], replicates=4, progress=False).to_frame()
    assert tuple(frame.columns) == RIVAL_COLUMNS
    assert len(frame) == 2 * 2 * len(RIVALS) * 2
    assert frame.drop_duplicates("test").set_index("test")["n_fits"].to_dict() == {
        name: n_fits for name, (_, n_fits) in RIVALS.items()
    }
    clear = frame[(frame["effect"] > 0) & (frame["level"] == 0.05) & ~frame["test"].str.startswith("5x2")]
    assert (clear["rate"] == 1).all()


def test_the_recorded_study() -> None:
    recorded = pd.read_csv(Path(__file__).resolve().parents[2] / "studies" / "records" / "rivals.csv")
    assert tuple(recorded.columns) == RIVAL_COLUMNS
    assert set(recorded["scenario"]) == set(PAIR_DRAWS)
    null = recorded[(recorded["effect"] == 0) & recorded["test"].str.contains("default")]
    error = np.sqrt(null["level"] * (1 - null["level"]) / null["replicates"])
    assert (null["rate"] <= null["level"] + 2 * error).all()
