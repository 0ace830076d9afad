"""The study of measures: its numbers are those of `compare_values`, and what was recorded."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import skewanova as sa
from skewanova.base.checks import Bools, Floats
from skewanova.inference.sampling import Sample
from skewanova.inference.single_test_set import compute_pair_tests, omnibus_f_test
from skewanova.priors.evidence import Support
from studies.measures import (
    CASE_MEASURES,
    FOLD_MEASURES,
    MEASURE_COLUMNS,
    TEST_SETS,
    SampleSize,
    curves_of_test_set,
    gain_numbers,
    measure_sample,
    measures_study,
    true_gain,
)
from studies.values import SAMPLES

RECORDED = Path(__file__).resolve().parents[1] / "records" / "measures.csv"


def lengthen(positive: Bools, scores: Floats) -> pd.DataFrame:
    parts = [
        pd.DataFrame({"model": str(k), "fold": 1, "case": range(len(column)), "y_true": positive.astype(int)})
        for k, column in enumerate(scores.T)
    ]
    return pd.concat(parts, ignore_index=True).assign(y_score=scores.T.ravel())


UNITS: dict[str, dict[str, np.ndarray]] = {
    "cases": {},
    "clusters": {"cluster": np.arange(200) % 50},
    "weights": {"weight": np.random.default_rng(1).choice([1.0, 4.0], 200)},
}


@pytest.mark.parametrize("units", list(UNITS))
@pytest.mark.parametrize("name", list(CASE_MEASURES))
def test_numbers_of_a_test_set_are_those_of_compare_values(name: str, units: str) -> None:
    rng = np.random.default_rng(4)
    positive = np.arange(200) < 70
    scores = rng.normal(size=(200, 3)) + 1.5 * positive[:, None]
    measure = CASE_MEASURES[name]
    areas, limits = measure_sample(measure, Sample(positive, **UNITS[units]), scores)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)
        columns = {column: np.tile(values, 3) for column, values in UNITS[units].items()}
        result = sa.compare_values(lengthen(positive, scores).assign(**columns), measure=measure)
    ranking = result.ranking.set_index("model").loc[["0", "1", "2"]]
    assert measure.sign * areas.area == pytest.approx(ranking["mean"].to_numpy(), rel=1e-12)
    sides = np.sort(measure.sign * np.array(limits), axis=0)
    expected = ranking[["conf_low", "conf_high"]].to_numpy()
    np.testing.assert_allclose(sides.T, expected, rtol=1e-9)
    assert omnibus_f_test(areas)[3] == pytest.approx(result.tests["p_value"].iloc[0], rel=1e-9)
    smallest = compute_pair_tests(areas, level=0.95, simultaneous="none").p_adjusted.min()
    assert smallest == pytest.approx(result.pairs["p_adjusted"].min(), rel=1e-9)


def test_numbers_over_folds_are_those_of_compare_values() -> None:
    gains = np.random.default_rng(1).normal(0.8, 0.02, (12, 3))
    numbers = gain_numbers(gains, "kfold")
    result = sa.compare_values(dict(zip("012", gains.T, strict=True)), design="kfold")
    row = result.ranking.set_index("model").loc["0"]
    assert numbers[3:] == pytest.approx((row["mean"], row["conf_low"], row["conf_high"]), rel=1e-12)
    effect = result.tables["effects"].set_index(["model_a", "model_b"])
    pair = effect.loc[("0", "1")] if ("0", "1") in effect.index else effect.loc[("1", "0")]
    assert numbers[2] == float(pair["conf_low"] > 0 or pair["conf_high"] < 0)


def test_intervals_of_a_mean_over_folds_are_those_of_compare_values() -> None:
    measure, n_folds = FOLD_MEASURES["precision at recall 0.8"], 5
    rng = np.random.default_rng(2)
    parts = []
    for fold in range(n_folds):
        positive = np.arange(60) < 20
        part = lengthen(positive, rng.normal(size=(60, 3)) + 1.5 * positive[:, None])
        parts.append(part.assign(fold=fold, case=part["case"] + 60 * fold))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)
        result = sa.compare_values(pd.concat(parts), measure=measure, design="independent")
    gains = result.tables["values"].pivot(index="fold", columns="model", values="value").to_numpy()
    size = measure.count_limiting_cases(Support(200, 100))
    row = result.ranking.set_index("model").loc["0"]
    limits = row["mean"], row["conf_low"], row["conf_high"]
    assert gain_numbers(gains, "independent", size)[3:] == pytest.approx(limits, rel=1e-12)


def test_bands_and_crossings_along_the_prior_are_counted() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sa.SkewanovaWarning)
        rates = curves_of_test_set(12, crossing=False)
        covered, empty = curves_of_test_set(12, crossing=True)
    assert max(rates) <= 3 / 12
    assert covered >= 9 / 12
    assert empty < 0.5


def test_true_gains_are_means_of_large_samples() -> None:
    rng = np.random.default_rng(0)
    positive = np.arange(400_000) < 100_000
    scores = rng.normal(size=(400_000, 1)) + 2 * positive[:, None]
    for measure in CASE_MEASURES.values():
        area = measure_sample(measure, Sample(positive), scores).areas.area[0]
        assert area == pytest.approx(true_gain(measure, 2.0), abs=0.005)


def test_rates_are_counted_by_measure_and_question() -> None:
    frame = measures_study(
        scenarios=[next(iter(TEST_SETS)), "kfold 10"], replicates=2, progress=False
    ).to_frame()
    assert list(frame) == list(MEASURE_COLUMNS)
    assert len(frame) == (3 + 2 * 5) * 6
    assert frame["rate"].between(0, 1).all()
    assert TEST_SETS["test set 20 + 80, distance 2"] == SampleSize(20, 80, 2.0)


def test_recorded_rates_hold_but_where_the_record_says() -> None:
    frame = pd.read_csv(RECORDED)
    tests = frame[frame["question"].isin(["models", "pairs", "interval of a difference"])]
    hits, n = (tests["rate"] * tests["replicates"]).round(), tests["replicates"]
    exceeds = tests[stats.binom.sf(hits - 1, n, tests["level"]) < 1e-3]
    exceeds = exceeds[exceeds["learner"] != "nearest_neighbours"]
    assert set(exceeds["design"]) == {"test set 10 + 200, distance 2"}
    assert set(exceeds["measure"]) == {"area under ROC"}
    on_cases = frame[frame["design"].isin(TEST_SETS) & (frame["question"] == "interval of a mean")]
    assert on_cases["rate"].max() <= 0.065
    folds = frame[
        frame["question"].str.contains("interval") & ~frame["design"].str.contains("test set|clusters")
    ]
    stable, disjoint = folds["learner"] == "logistic", folds["design"].isin(["kfold 10", *SAMPLES])
    assert folds.loc[stable | disjoint, "rate"].max() <= 0.065
    precision = folds[
        (folds["measure"] == "precision at recall 0.8") & folds["question"].str.endswith("mean")
    ]
    assert precision["rate"].max() <= 0.035
    assert set(frame["design"]) > set(TEST_SETS)
