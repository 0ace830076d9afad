"""How much more data: power against statsmodels, planned sizes by simulation, frames and words."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from case_values import jackknife_values
from command_runs import run
from fold_tables import draw_rows
from loops import each
from messages import expect_error, expect_warning
from scipy import stats
from statsmodels.stats.power import TTestPower

import skewanova as sa
from skewanova.decision import planning
from skewanova.decision import power as decision_power
from skewanova.decision.planning import PLAN_COLUMNS, _RunVariances
from skewanova.decision.power import FoldTest
from skewanova.priors.weightings import UniformPrior


def folds_table(n_folds=8, size=120, effects=(1.5, 1.0), seed=0):
    labels, rng = np.repeat([0, 1], [2 * size // 3, size // 3]), np.random.default_rng(seed)
    return draw_rows({f"m{m}": e for m, e in enumerate(effects)}, range(n_folds), labels, rng)


def test_plan_of_independent_folds():
    table = folds_table()
    whole = sa.plan_comparison(table, 0.4, difference=0.05, design="independent")
    plan = whole.to_frame().iloc[0]
    values = sa.evaluate(table, at_priors=(0.5,), deployment_prior=0.4).iauprec
    wide = values.pivot(index="fold", columns="model", values="iauprec")
    deviation = (wide["m0"] - wide["m1"]).std()
    assert abs(plan["observed"]) == pytest.approx(abs((wide["m0"] - wide["m1"]).mean()))
    assert plan["std_error"] == pytest.approx(deviation / np.sqrt(8))
    options = {"ratio": 0.0, "alpha": 0.05, "pilot_df": 7.0}
    n_folds = plan["n_folds"]
    assert FoldTest(0.05, deviation, **options).power(n_folds) >= 0.8 - 1e-6
    assert FoldTest(0.05, deviation, **options).power(n_folds - 1) < 0.8
    assert FoldTest(plan["detectable"], deviation, **options).power(8) == pytest.approx(0.8, abs=1e-4)
    narrower = deviation / np.sqrt(plan["case_factor"])
    assert FoldTest(0.05, narrower, **options).power(8) == pytest.approx(0.8, abs=1e-6)
    unlucky = deviation * np.sqrt(7 / stats.chi2.ppf(0.2, 7))
    known = TTestPower().solve_power(0.05 / unlucky, power=0.8, alpha=0.05)
    assert plan["n_folds_assured"] == np.ceil(known)
    assert f"So would {n_folds:g} independent folds ({np.ceil(known):g} assured)" in whole.sentences[0]
    assert (plan["limit_power"], plan["n_folds_now"]) == (1.0, 8)
    assert np.isnan(plan["positive_factor"])
    assert tuple(plan.index) == PLAN_COLUMNS


def one_set():
    rng, labels = np.random.default_rng(3), np.repeat([1, 0], [60, 240])
    common = rng.normal(size=300)
    scores = [np.sqrt(0.5) * (common + rng.normal(size=300)) + e * labels for e in (1.4, 1.0)]
    return labels, np.stack(scores, axis=1)


def long_frame(labels, scores):
    frame = pd.DataFrame({"fold": 1, "case": range(len(labels)), "y_true": labels})
    parts = [frame.assign(model=f"m{m}", y_score=s) for m, s in enumerate(scores.T)]
    return pd.concat(parts, ignore_index=True)


def test_plan_of_one_test_set():
    labels, scores = one_set()
    frame = long_frame(labels, scores)
    whole = sa.plan_comparison(frame, 0.2, difference=0.12)
    plan = whole.to_frame().iloc[0]
    expect_warning(r"^Planned for the differences observed", sa.plan_comparison, frame, 0.2)
    assert "times as many test cases would give" in whole.sentences[0]
    clusters = sa.plan_comparison(frame.assign(cluster=frame["case"] // 2), 0.4, difference=0.05)
    assert "times as many test clusters would give" in clusters.sentences[0]
    twins = pd.concat([frame[frame["model"] == "m0"].assign(model=name) for name in "ab"])
    same = sa.plan_comparison(twins, 0.2, difference=0.05).to_frame()
    assert same[["power_now", "case_factor", "positive_factor", "negative_factor"]].isna().all(axis=None)
    covariance = sa.inference.auprec_covariance(labels, scores, prior=0.2).covariance
    assert plan["std_error"] == pytest.approx(np.sqrt([1, -1] @ covariance @ [1, -1]))
    shift = stats.norm.isf(0.025) + stats.norm.isf(0.2)
    by_normal = (shift * plan["std_error"] / 0.12) ** 2  # as if the variance were known
    assert by_normal < plan["case_factor"] < 1.1 * by_normal
    assert plan["case_factor"] < plan["case_factor_assured"] < 1.4 * by_normal
    assert (plan["design"], plan["n_folds_now"]) == ("test_set", 1)
    assert plan["positive_factor"] > plan["case_factor"]
    at = UniformPrior(0.2, 0.2)
    gap = np.subtract(*(jackknife_values(labels == 1, column, at)[1] for column in scores.T))
    parts = [gap[labels == y].var(ddof=1) / (labels == y).sum() for y in (1, 0)]
    assert shift < 0.12 / np.sqrt(parts[0] / plan["positive_factor"] + parts[1]) < 1.05 * shift


def test_unnamed_cases_and_runs_that_do_not_differ_are_not_planned_with():
    mixed = long_frame(*one_set()).sample(frac=1, random_state=0)
    with pytest.raises(ValueError, match=r"^all models of a test set must be scored on the same cases"):
        sa.plan_comparison(mixed.drop(columns="case"), 0.2, difference=0.1)
    _, _, frame = seeds_frame((1.6,))
    both = pd.concat([frame, frame.assign(model="again")], ignore_index=True)
    plan = sa.plan_comparison(both, 0.4, difference=0.15, design="runs").to_frame()
    assert plan["std_error"].tolist() == [0]
    assert plan[["power_now", "n_folds", "case_factor", "limit_power"]].isna().all(axis=None)


def test_models_that_agree_and_a_control():
    frame = folds_table()
    frame["y_score"] = np.tile(frame["y_score"].to_numpy()[:120], 16)
    plan = sa.plan_comparison(frame, 0.4, difference=0.05, design="independent")
    assert plan.to_frame()["case_factor"].isna().all()
    said = "m0 and m1: their difference does not vary, so nothing can be planned from it."
    assert plan.sentences == (said,)
    frame = folds_table(effects=(1.5, 1.2, 0.9))
    options = {"difference": 0.05, "design": "independent"}
    every = sa.plan_comparison(frame, 0.4, **options).to_frame()
    assert sa.plan_comparison(frame, 0.4, bonferroni=True, **options).alpha == pytest.approx(0.05 / 3)
    plan = sa.plan_comparison(frame, 0.4, control="m1", bonferroni=True, **options)
    assert plan.alpha == pytest.approx(0.05 / 2)
    assert plan.to_frame()[["model_a", "model_b"]].to_numpy().tolist() == [["m0", "m1"], ["m1", "m2"]]
    alike = sa.plan_comparison(frame, 0.4, control="m1", **options).to_frame()
    pd.testing.assert_frame_equal(alike, every.iloc[[0, 2]].reset_index(drop=True))


@each(("options", "message"), [
    ({"power": 80}, "`power` must lie strictly between 0 and 1, but got 80"),
    ({"assurance": 1}, "`assurance` must lie strictly between 0 and 1, but got 1"),
    ({"control": "x"}, "`control` must be one of"), ({"alpha": 1e-300}, "`alpha` must be at least 1e-12 in"),
    ({"alpha": 0.6}, "`alpha` must lie above 0 and at most 0.5, but got 0.6; did you mean 0.4"),
    *(({"difference": size}, f"`difference` must be finite and above 0, but got {size}") for size in (0, -1)),
    ({"area_estimator": "x"}, "`area_estimator` must be one of"),
])  # fmt: skip
def test_options_out_of_range(options, message):
    expect_error(message, sa.plan_comparison, folds_table(), 0.4, **options, error=ValueError)
    with pytest.raises(ValueError, match=r"^a comparison needs at least 2 models, but the table has 1; add"):
        sa.plan_comparison(folds_table(effects=(1,)), difference=0.1)


def test_words():
    plan = sa.plan_comparison(sa.load_satellite_scores(), difference=0.05)
    text = plan.summary()
    assert repr(plan) == text
    assert all(len(line) <= 80 for line in text.split("\n"))
    joined = " ".join(text.split())
    assert (
        "About 2.3 times as many cases in the data would give power 0.8 on average, 2.9 times with 80 % "
        "assurance."
    ) in joined
    assert "More folds of the same data cannot: they share training data" in joined


def test_command(tmp_path):
    folds_table().to_csv(tmp_path / "scores.csv", index=False)
    arguments = ["plan", tmp_path / "scores.csv", "--difference", 0.05, "--out", tmp_path / "out"]
    done = run(*arguments, "--design", "independent")
    assert done.exit_code == 0, done.output
    said = "Design: independent folds, 8 folds (as stated)\n- m0 and m1: a difference of"
    assert done.stdout.startswith(said)
    assert tuple(pd.read_csv(tmp_path / "out" / "plans.csv")) == PLAN_COLUMNS
    assert (tmp_path / "out" / "plans.txt").read_text() == done.stdout
    bad = run("plan", tmp_path / "scores.csv", "--power", 2)
    assert bad.exit_code == 2
    assert "--power must lie strictly between 0 and 1" in bad.stderr


def seeds_frame(effects, n_runs=4, noise=0.7):
    """Labels, scores (case, model, run) of learners trained anew on one test set, and their table."""
    rng, labels, shape = np.random.default_rng(5), np.repeat([1, 0], [40, 120]), (len(effects), n_runs)
    common = rng.normal(size=(160, 1, 1)) + 0.7 * rng.normal(size=(160, len(effects), 1))
    quality = np.asarray(effects)[:, None] + 0.3 * noise * rng.normal(size=shape)
    scores = labels[:, None, None] * quality + common + noise * rng.normal(size=(160, *shape))
    parts = [long_frame(labels, scores[:, :, run]).assign(fold=run + 1) for run in range(n_runs)]
    return labels, scores, pd.concat(parts, ignore_index=True)


@pytest.mark.parametrize("runs", ["runs", "nested_runs"])
def test_plan_of_several_runs_takes_apart_what_runs_and_cases_bring_in(runs):
    labels, scores, frame = seeds_frame((1.6, 1.2, 0.8))
    plan = sa.plan_comparison(frame, 0.4, difference=0.15, design=runs).to_frame()
    one = sa.inference.auprec_covariance(labels, scores.reshape(160, -1), prior=0.4)
    area, covariance = one.estimate.reshape(3, 4), one.covariance.reshape(3, 4, 3, 4)
    assert len(plan) == 3
    for row in plan.to_dict("records"):
        a, b = (int(row[name][1:]) for name in ("model_a", "model_b"))
        assert row["observed"] == pytest.approx((area[a] - area[b]).mean())
        if runs == "runs":
            of_runs, df = (area[a] - area[b]).var(ddof=1), 3
            parts = [covariance[a, :, a] + covariance[b, :, b] - covariance[a, :, b] - covariance[b, :, a]]
        else:
            each = area[[a, b]].var(axis=1, ddof=1)
            of_runs, df = each.sum(), 3 * each.sum() ** 2 / (each**2).sum()
            parts = [covariance[a, :, a], covariance[b, :, b]]
        off = ~np.eye(4, dtype=bool)
        own = min(sum(np.diag(part).mean() - part[off].mean() for part in parts), of_runs)
        shared = row["std_error"] ** 2 - of_runs / 4
        assert row["run_share"] == pytest.approx((of_runs - own) / 4 / row["std_error"] ** 2)
        away, bound = 0.15 / np.sqrt(shared), stats.norm.isf(0.025)
        expected = stats.norm.sf(bound - away) + stats.norm.cdf(-bound - away)
        assert row["limit_power"] == pytest.approx(expected)
        pair = _RunVariances(of_runs, own, shared, df, 4, cases_df=39.0, n_tests=3)  # of 40 positives
        power = partial(pair.power, alpha=0.05, pilot=decision_power.Pilot.from_df(df))
        assert row["power_now"] == pytest.approx(power(0.15, n_runs=4))
        assert power(row["detectable"], n_runs=4) == pytest.approx(0.8, abs=1e-6)
        assert power(0.15, n_runs=row["n_folds"]) >= 0.8 > power(0.15, n_runs=row["n_folds"] - 1)
        by_cases = [power(0.15, n_runs=4, factor=times) for times in 10.0 ** np.arange(-6, 7)]
        assert by_cases == sorted(by_cases)  # few degrees of freedom of few cases had a power of 1
        if np.isfinite(row["case_factor"]):
            assert power(0.15, n_runs=4, factor=row["case_factor"]) == pytest.approx(0.8, abs=1e-6)
        else:
            assert by_cases[-1] < 0.8


@pytest.mark.parametrize("df", [3.0, 4.5])
def test_power_of_runs_without_shared_cases_is_that_of_a_t_test(df):
    pair = _RunVariances(4e-4, 0.0, 0.0, df, 4, cases_df=np.inf, n_tests=1)
    known = decision_power.Pilot(np.ones(1), np.ones(1))
    for n_runs in (4, 7):
        degrees = df / 3 * (n_runs - 1)
        away, bound = 0.02 / np.sqrt(4e-4 / n_runs), stats.t.isf(0.025, degrees)
        expected = stats.nct.sf(bound, degrees, away) + stats.nct.cdf(-bound, degrees, away)
        assert pair.power(0.02, 0.05, known, n_runs=n_runs) == pytest.approx(expected, abs=0.012)


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
    assert case_pair(0.0, 4e-4, 12.0).scale_variance() == pytest.approx((4e-4, 12.0))
    assert planning._CaseVariances(1, *np.full((2, 3), 1e160)).scale_variance()[1] == pytest.approx(6e160)
    assert case_pair(0.0, 4e-4, 12.0).scale_variance(positive=2.0) == pytest.approx((2e-4, 24.0))


RUNS = planning._RunVariances(
    runs=4e-4, run_cases=1e-4, shared=1e-4, df=3.0, n_runs=4, cases_df=np.inf, n_tests=1
)


def test_runs_cases_and_folds_that_have_the_power():
    wanted, pilot = planning.PowerTarget(0.05, 0.8, 0.05, 0.8), decision_power.Pilot.from_df(3.0)
    runs = RUNS.runs_for_power(0.05, pilot, wanted)
    assert RUNS.power(0.05, 0.05, pilot, n_runs=runs) >= 0.8
    assert RUNS.power(0.05, 0.05, pilot, n_runs=runs - 1) < 0.8
    power = partial(RUNS.power, 0.06, 0.05, pilot, n_runs=4)
    times = decision_power.case_factor_for_power(lambda factor: power(factor=factor), 0.8)
    assert power(factor=times) == pytest.approx(0.8, abs=1e-8)
    assert np.isinf(RUNS.runs_for_power(0.028, pilot, wanted))  # the cases that all runs share leave too much
    assert np.isfinite(RUNS.runs_for_power(0.0281, pilot, wanted))
    assert RUNS.run_share == pytest.approx(3e-4 / 4 / 2e-4)


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
