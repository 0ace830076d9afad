"""Power and the size that reaches it: by simulation-free identities and at every limit."""

from types import SimpleNamespace

import numpy as np
import pytest
from loops import each
from scipy import stats

from skewanova.decision import planning
from skewanova.decision import power as decision_power
from skewanova.decision.power import FoldTest


@pytest.mark.parametrize("n_folds", [2, 5, 40])
def test_power_is_1_where_nothing_is_left_to_doubt(n_folds):
    certain = decision_power.CERTAIN_NONCENTRALITY * (1 + stats.t.isf(0.025, n_folds - 1)) / np.sqrt(n_folds)
    assert FoldTest(1.001 * certain, 1.0, ratio=0.0, alpha=0.05).power(n_folds) == 1.0
    # Just below, the distribution itself says so.
    below = FoldTest(0.999 * certain, 1.0, ratio=0.0, alpha=0.05).power(n_folds)
    assert below == pytest.approx(1.0, abs=1e-9)
    # An eighth of it leaves a doubt that must be told.
    assert FoldTest(certain / 8, 1.0, ratio=0.0, alpha=0.05).power(n_folds) < 0.95


@pytest.mark.parametrize("df", [None, 5.0])
def test_of_pairs_that_share_nothing_and_others_each_has_its_limit(df):
    options = {"alpha": 0.05, "df": df}
    found = FoldTest([0.1, 0.0, 0.1], 0.2, ratio=np.array([0.0, 0.0, 0.25]), **options).limit_power()
    assert found[:2].tolist() == [1.0, 1.0]
    assert found[2] == FoldTest(0.1, 0.2, ratio=0.25, **options).limit_power()


def case_pair(negative, positive, df):
    """Variances of negatives and positives, of so many degrees of freedom each."""
    variance = np.array([negative, positive, 0.0])
    return planning._CaseVariances(0.05, variance, 2 * variance**2 / df)


@pytest.mark.parametrize(
    ("difference", "now", "factors"),
    [(0.0, 0.05, (np.nan, np.nan, np.inf)), (0.1, 1.0, [decision_power.MIN_FACTOR] * 3)],
)
def test_variances_next_to_nothing_are_planned_with_in_silence(difference, now, factors):
    pair = planning._CaseVariances(difference, np.array([0.0, 1e-320, 0.0]), np.zeros(3))
    found = planning._plan_cases_of_pair(pair, planning.PowerTarget(None, 0.8, 0.05, 0.8))
    names = ("power_now", "case_factor", "positive_factor", "negative_factor")
    assert [found[name] for name in names] == pytest.approx([now, *factors], nan_ok=True)


def test_power_on_one_set_is_that_of_both_variances():
    pair, shift = case_pair(1e-4, 4e-4, np.inf), 1.959964 + 0.841621
    found = planning._plan_cases_of_pair(pair, planning.PowerTarget(0.05, 0.8, 0.05, 0.8))
    assert found["power_now"] == pytest.approx(decision_power.z_power(0.05, np.sqrt(5e-4), 0.05))
    wanted = (0.05 / shift) ** 2  # the variance with that power, but for the other side
    assert found["case_factor"] == pytest.approx(5e-4 / wanted, rel=1e-4)
    assert found["case_factor_assured"] == pytest.approx(5e-4 / wanted, rel=1e-4)  # all is known
    assert found["positive_factor"] == pytest.approx(4e-4 / (wanted - 1e-4), rel=1e-4)
    assert np.isinf(found["negative_factor"])  # the positives' variance alone is too large
    assert found["detectable"] == pytest.approx(shift * np.sqrt(5e-4), rel=1e-4)
    assert case_pair(0.0, 4e-4, 12.0).scale_variance(1.0, 1.0) == pytest.approx((4e-4, 12.0))
    assert case_pair(0.0, 4e-4, 12.0).scale_variance(2.0, 1.0) == pytest.approx((2e-4, 24.0))


RUNS = planning._RunVariances(
    runs=4e-4, run_cases=1e-4, shared=1e-4, df=3.0, n_runs=4, cases_df=np.inf, n_tests=1
)


def test_runs_cases_and_folds_that_have_the_power():
    wanted, pilot = planning.PowerTarget(0.05, 0.8, 0.05, 0.8), decision_power.Pilot.from_df(3.0)
    runs = RUNS.runs_for_power(0.05, pilot, wanted)
    assert RUNS.power(0.05, 0.05, pilot, n_runs=runs) >= 0.8
    assert RUNS.power(0.05, 0.05, pilot, n_runs=runs - 1) < 0.8
    times = decision_power.case_factor_for_power(
        lambda factor: RUNS.power(0.06, 0.05, pilot, n_runs=4, factor=factor), 0.8
    )
    assert RUNS.power(0.06, 0.05, pilot, n_runs=4, factor=times) == pytest.approx(0.8, abs=1e-8)
    assert np.isinf(RUNS.runs_for_power(0.028, pilot, wanted))  # the cases that all runs share leave too much
    assert np.isfinite(RUNS.runs_for_power(0.0281, pilot, wanted))
    assert RUNS.run_share == pytest.approx(3e-4 / 4 / 2e-4)
    halves = np.array([[0.3, 0.1], [0.1, 0.0]])
    assert planning._split_half_ratio(halves, np.array([0.5])) == pytest.approx(
        [(0.2**2 + 0.1**2) / 2 / 0.25]
    )


NOW = "A and B: a difference of 0.050 is found at level 0.005 with power 0.61 now"
CANNOT = "More folds of the same data cannot: they share training data, and infinitely many have power 0.73."
MORE = "times as many cases in the data would give power 0.8 on average, 2.1 times with 80 % assurance."
CASES = f"{NOW}. About 1.5 {MORE.replace('cases in the data', 'test cases')}"
RUNS_FIRST = "More runs rather than more cases: runs bring in 71 % of the variance of the difference."
CASES_FIRST = "More cases rather than more runs: runs bring in 20 % of the variance of the difference."
SO_RUNS = "So would 12 runs on the same cases (20 assured) instead of 8."
NO_RUNS = "More runs cannot: they share their cases, and infinitely many have power 0.73."
ALONE = {"n_folds": 12.0, "case_factor_assured": np.inf}
RUN = {"design": "runs", "n_folds": 12.0, "n_folds_assured": 20.0}


@each(("changed", "overlapping", "sentence"), [
    ({"case_factor": 1.0}, True, f"{NOW}, which is enough."), ({}, True, f"{NOW}. About 1.5 {MORE} {CANNOT}"),
    ({"case_factor": np.inf}, True, f"{NOW}. No number of cases gives power 0.8. {CANNOT}"),
    (ALONE, False,
     f"{NOW}. About 1.5 {MORE.partition(' on')[0]}. So would 12 independent folds instead of 8."),
    ({"design": "test_set", "n_folds": np.nan}, False, CASES),
    (RUN | {"run_share": 0.71}, False, f"{CASES} {SO_RUNS} {RUNS_FIRST}"),
    (RUN | {"run_share": 0.2, "n_folds": np.inf}, False, f"{CASES} {NO_RUNS} {CASES_FIRST}"),
])  # fmt: skip
def test_what_a_plan_says_of_a_pair(changed, overlapping, sentence):
    row = {"model_a": "a", "model_b": "b", "design": "kfold", "difference": 0.05, "alpha": 0.005}
    row |= {"power": 0.8, "power_now": 0.6142, "limit_power": 0.7251, "case_factor": 1.5, "run_share": np.nan}
    row |= {"case_factor_assured": 2.1, "assurance": 0.8, "n_folds_assured": np.inf}
    row |= {"n_folds": np.inf, "n_folds_now": 8.0} | changed
    plan = SimpleNamespace(difference_is_stated=True, overlapping=overlapping, units="cases")
    assert planning._describe_pair(SimpleNamespace(**row), {"a": "A", "b": "B"}, plan) == sentence
