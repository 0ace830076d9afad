"""Size and coverage where cases are few: what is simulated, and what the recorded study holds."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from loops import each
from scipy import stats

from skewanova import auprec_score, compare, evaluate
from skewanova.base.checks import InputError
from skewanova.evaluation import auprec_intervals
from skewanova.inference import compare_test_set
from skewanova.inference.intervals import confidence_interval
from skewanova.priors.evidence import MIN_CASES, MIN_POSITIVES, effective_negatives
from studies import support
from studies.support import ALPHA, COVERAGES, RATES, Design, support_study

RECORDED = Path(__file__).resolve().parents[2] / "studies" / "records" / "support.csv"

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.base.checks.SkewanovaWarning")


@pytest.fixture(scope="module")
def recorded():
    return pd.read_csv(RECORDED)


@each("prior, effective", [(0.05, 7), (0.2, 50)])
def test_tables_have_the_stated_sizes_and_distributions(prior, effective):
    design = Design("test_set", prior, 2000, 400 * effective)
    assert effective_negatives(design.n_negative, prior) == pytest.approx(400 * effective, rel=1e-3)
    positive, scores = design.draw(np.random.default_rng(0))
    assert positive.sum() == 2000
    assert len(scores) == 2000 + design.n_negative
    assert scores[positive].mean(axis=0) == pytest.approx(support.MEANS, abs=0.08)
    assert scores[~positive].mean(axis=0) == pytest.approx(np.zeros(5), abs=0.08)
    assert np.corrcoef(scores[~positive].T)[0, 4] == pytest.approx(0.5, abs=0.05)


@each("design", ["test_set", "5 folds", "10 folds"])
def test_tables_are_tested_as_compare_tests_them(design):
    """P-values, areas, differences and their intervals are those of the comparison."""
    settings = Design(design, 0.2, 30, 60)
    found = support.measure_table(settings, np.random.default_rng(3))
    positive, scores = settings.draw(np.random.default_rng(3))
    for models, p_values, columns in (([0, 1], [0], []), ([0, 1, 2, 3], [1, 2], []), ([4, 0], [], [2])):
        measures = support._evaluate_folds(positive, scores[:, models], settings)
        stated = "auto" if design == "test_set" else "independent"
        result = compare(measures.scores, 0.2, at_priors=(0.2,), design=stated)
        pairs = result.pairs[result.pairs["role"] == "primary"]
        p_all = result.tests.loc[result.tests["role"] == "primary", "p_value"].iloc[0]
        p_pairs = pairs["p_adjusted"].min()
        expected = {0: p_pairs, 1: p_all, 2: p_pairs}
        for number in p_values:
            assert found[number] == pytest.approx(expected[number])
        for number in columns:
            limits = found[3:].reshape(3, 3)
            sign = 1 if pairs["model_a"].iloc[0] == "0" else -1
            assert limits[number][0] == pytest.approx(sign * pairs["estimate"].iloc[0])
            assert np.diff(limits[number][1:]) == pytest.approx(
                np.diff(pairs[["conf_low", "conf_high"]]).ravel()
            )
            ranking = result.ranking.set_index("model").loc[["1", "0"], ["iauprec", "conf_low", "conf_high"]]
            assert limits[:2] == pytest.approx(ranking.to_numpy())


def test_rates_are_shares_of_tables_and_bands_are_simulated_at_the_rarest_prior():
    sizes = {"priors": [0.1, 0.3], "sizes": [5, 20], "effective": [20]}
    result = support_study(designs=["10 folds"], **sizes, replicates=30, progress=False)
    frame = result.to_frame()
    assert tuple(frame) == support.SUPPORT_COLUMNS
    assert set(frame["n_positive"]) == {20}  # ten folds have no five positives
    assert frame["measure"].value_counts().to_dict() == {
        **dict.fromkeys([*RATES, *(f"{rate}, at .005" for rate in RATES), *COVERAGES], 2),
        support.BANDS: 1,
    }
    np.testing.assert_allclose(frame["rate"] * 30, (frame["rate"] * 30).round())
    assert result.to_table().rows[0][0] == "20, prior 0.1"
    with pytest.raises(InputError, match="`sizes` must be"):
        support_study(sizes=[1])


def test_the_truth_of_one_set_is_that_of_the_distributions():
    weak, strong, difference = support.true_areas(0.2)
    grid = np.linspace(-8, 12, 20_001)
    for area, mean in ((weak, 1.0), (strong, 2.0)):
        hits, alarms = stats.norm.sf(grid, mean), stats.norm.sf(grid)
        precision = 0.2 * hits / (0.2 * hits + 0.8 * alarms)
        assert area == pytest.approx(-np.trapezoid(precision, hits), abs=1e-4)
    assert difference == strong - weak


@pytest.mark.slow
def test_a_cell_of_the_recorded_study_is_simulated_again(recorded):
    sizes = {"designs": ["test_set"], "priors": [0.2], "sizes": [10], "effective": [10]}
    frame = support_study(**sizes, replicates=400, progress=False).to_frame()
    keys = ["design", "prior", "n_positive", "effective_negatives", "measure"]
    frame = frame.merge(recorded[keys])
    same = recorded.merge(frame[keys])
    np.testing.assert_allclose(same["rate"], frame["rate"], rtol=1e-5)
    np.testing.assert_allclose(same["mean"], frame["mean"], rtol=1e-5)


def cells(recorded, least, *, largest=True):
    """Worst rate of each measure and design where there are at least so many cases of both classes."""
    rows = recorded[recorded[["n_positive", "effective_negatives"]].min(axis=1) >= least]
    rates = rows.groupby(["measure", "design"])["rate"]
    return rates.max() if largest else rates.min()


def test_the_recorded_study_holds_what_it_claims(recorded):
    """Tests, bands and differences hold from 20 cases on, areas from 5."""
    assert tuple(recorded) == support.SUPPORT_COLUMNS
    assert recorded["replicates"].isin([400, 2000]).all()
    strict = recorded[recorded["measure"].str.endswith("at .005") & (recorded["replicates"] == 2000)]
    assert (strict["rate"] <= 0.005 + 2 * np.sqrt(0.005 * 0.995 / 2000)).all()
    error = 2.5 * np.sqrt(0.06 * 0.94 / 400)
    assert (cells(recorded, 20)[[*RATES, support.BANDS]] <= 0.06 + error).all()
    short = 2.5 * np.sqrt(0.93 * 0.07 / 400)
    assert (cells(recorded, 20, largest=False)["coverage, difference"] >= 0.93 - short).all()
    assert (cells(recorded, 5, largest=False).loc[list(COVERAGES[:2]), "test_set"] >= 0.93).all()
    areas = cells(recorded, 5, largest=False)[list(COVERAGES[:2])]
    assert areas.min() >= 0.94 - 3 * np.sqrt(0.94 * 0.06 / 400)
    assert cells(recorded, 50, largest=False)[list(COVERAGES)].min() >= 0.89
    assert cells(recorded, 5).loc[RATES[1], "test_set"] > 0.25  # five positives, four models


def test_recorded_cells_that_miss_are_refused_by_compare(recorded):
    """By fewer positives than any test needs, or fewer effective negatives than support a judgement."""
    alpha = np.where(recorded["measure"].str.endswith("at .005"), 0.005, ALPHA)
    size = recorded["measure"].str.startswith("size")
    too_large = size & (recorded["rate"] > alpha + 3 * np.sqrt(alpha * (1 - alpha) / recorded["replicates"]))
    few = recorded[["n_positive", "effective_negatives"]].lt([MIN_POSITIVES, MIN_CASES]).any(axis=1)
    assert few[too_large].all()
    assert too_large.sum() >= 8


@each("n_positive, effective, state", [(5, 100, "untrusted"), (100, 5, "unsupported")])
def test_compare_refuses_the_cells_that_missed(n_positive, effective, state):
    design = Design("test_set", 0.2, n_positive, effective)
    measures = support._evaluate_folds(*design.draw(np.random.default_rng(1)), design)
    verdict = compare(measures.scores, 0.2, at_priors=(0.2,)).verdict
    assert (verdict.state, verdict.is_trusted) == (state, False)
    reason = {"untrusted": "5 positives", "unsupported": "5 effective negatives at prior 0.2"}
    assert reason[state] in verdict.choose


def test_intervals_of_areas_hold_with_few_positives_as_recorded():
    frame = pd.read_csv(RECORDED.with_name("few_positives.csv"))
    assert tuple(frame) == support.FEW_COLUMNS
    difference = frame["measure"].str.startswith("difference")
    thin = (frame["n_positive"] == 30) & (frame["prior"] == 0.01)  # positives times the area are few
    assert (frame[difference & ~thin]["coverage"] >= 0.93).all()
    assert (frame[difference & thin]["coverage"] >= 0.9).all()
    at_limit = frame["effective_negatives"] == MIN_CASES
    assert (frame.loc[at_limit, "coverage"] >= 0.93).all()
    assert (frame.loc[at_limit, "replicates"] == 400).all()
    assert (frame.loc[~at_limit, "replicates"] == support.FULL_FEW).all()
    areas = frame[~difference & ~at_limit]
    few = areas[areas["n_positive"] <= 50]
    assert (few["coverage"] >= 0.94).all()
    assert (few[["too_low", "too_high"]] <= 0.04).all(axis=None)
    assert (areas["coverage"] >= 0.925).all()  # .94 less 2 standard errors
    assert (areas[["too_low", "too_high"]] <= 0.055).all(axis=None)


@pytest.mark.parametrize("setting", support.SHAPES)
def test_true_areas_are_those_of_large_samples(setting):
    shape = support.SHAPES[setting]
    positive, scores = shape.draw(np.random.default_rng(0), 20_000, 200_000)
    for column, truth in zip(scores.T, shape.true_areas(0.05), strict=True):
        assert auprec_score(positive, column, prior=0.05) == pytest.approx(truth, abs=0.01)


def test_limits_with_few_positives_are_those_of_the_public_functions():
    key = ("ties", 0.1, 40, 60)
    limits = support.measure_limits(key, np.random.default_rng(1))
    positive, scores = support.SHAPES["ties"].draw(np.random.default_rng(1), 40, 540)
    area = confidence_interval(positive, scores[:, 0], prior=0.1)
    pair = compare_test_set(positive, scores, prior=0.1, simultaneous="none")
    np.testing.assert_allclose(limits[0], (area.estimate, area.conf_low, area.conf_high))
    np.testing.assert_allclose(limits[1], (pair.difference[0], pair.conf_low[0], pair.conf_high[0]))
    rank = np.concatenate([np.arange(40), np.arange(540)])
    for row, n_folds in zip(limits[2:], (5, 10), strict=True):
        columns = {"model": "a", "fold": rank % n_folds, "y_true": positive, "y_score": scores[:, 0]}
        evaluation = evaluate(
            pd.DataFrame(columns), at_priors=[0.1], deployment_prior=0.1, design="independent"
        )
        frame = auprec_intervals(evaluation)
        np.testing.assert_allclose(row, frame[["auprec", "conf_low", "conf_high"]].to_numpy()[0])
