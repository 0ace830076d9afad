"""Several runs on one test set: recorded numbers of R, plain loops, and rates on equal learners."""

import json
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
from loops import each
from messages import expect_error, expect_warning
from scipy import stats

from skewanova import SkewanovaWarning
from skewanova.inference import auprec_covariance, compare_runs, compare_test_set
from skewanova.inference.runs import MATCHED_LEVEL, DegreesOfFreedom

VANDYKE = json.loads((Path(__file__).parents[1] / "data" / "vandyke.json").read_text(encoding="utf-8"))


def test_the_numbers_of_mrmcaov():
    """What R's MRMCaov 0.3.0 prints for VanDyke: two modalities, five readers, DeLong's covariance."""
    found = compare_runs(np.reshape(VANDYKE["area"], (2, 5)), VANDYKE["covariance"], df="hillis")
    printed = VANDYKE["published"]
    assert found.f_omnibus == pytest.approx(printed["F"], abs=5e-7)
    assert found.df_omnibus == pytest.approx(printed["df_error"], abs=5e-6)
    assert found.p_omnibus == pytest.approx(printed["p"], abs=5e-9)
    assert (found.df, found.p_value[0]) == (1, pytest.approx(found.p_omnibus))
    assert found.statistic[0] ** 2 == pytest.approx(found.f_omnibus)


def drawn(n_models=3, n_runs=4, seed=0):
    """Areas with effects of run and model x run, and a covariance with all kinds of sharing."""
    rng = np.random.default_rng(seed)
    areas = 0.7 + 0.02 * rng.normal(size=n_runs) + 0.01 * rng.normal(size=(n_models, n_runs))
    root = rng.normal(size=(n_models * n_runs, 200)) + 2 * rng.normal(size=(1, 200))
    root += np.repeat(rng.normal(size=(n_models, 200)), n_runs, axis=0)
    return areas, root @ root.T * 1e-6


def test_all_models_and_pairs_by_plain_loops():
    areas, covariance = drawn()
    found = compare_runs(areas, covariance, models=["a", "b", "c"], df="hillis")
    n_models, n_runs = areas.shape
    entries = {(i, j): i * n_runs + j for i in range(n_models) for j in range(n_runs)}

    def cov(models, same_model):
        every = product(models, range(n_runs), models, range(n_runs))
        entry = [p for p in every if p[1] != p[3] and (p[0] == p[2]) == same_model]
        return np.mean([covariance[entries[i, j], entries[k, m]] for i, j, k, m in entry])

    def d_of(models):
        part = areas[list(models)]
        moved = part - part.mean(axis=1, keepdims=True) - part.mean(axis=0) + part.mean()
        noise = (moved**2).sum() / ((len(models) - 1) * (n_runs - 1))
        return noise, noise + n_runs * max(cov(models, True) - cov(models, False), 0)

    noise, spread = d_of((0, 1, 2))
    effect = n_runs * areas.mean(axis=1).var(ddof=1)
    assert found.f_omnibus == pytest.approx(effect / spread)
    sample = np.cov(areas, rowvar=True)
    centre = np.eye(3) - 1 / 3
    eigen = np.linalg.eigvalsh(centre @ sample @ centre)[1:]
    epsilon = eigen.sum() ** 2 / (2 * (eigen**2).sum())
    assert found.df == pytest.approx(2 * epsilon)
    assert found.df_omnibus == pytest.approx(spread**2 / (noise**2 / (epsilon * 2 * (n_runs - 1))))
    assert found.p_omnibus == pytest.approx(stats.f.sf(found.f_omnibus, found.df, found.df_omnibus))
    for row, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
        noise, spread = d_of((i, j))
        gap = areas[i].mean() - areas[j].mean()
        assert found.difference[row] == pytest.approx(gap)
        assert found.std_error[row] == pytest.approx(np.sqrt(2 * spread / n_runs))
        assert found.df_error[row] == pytest.approx(spread**2 / (noise**2 / (n_runs - 1)))
        p = 2 * stats.t.sf(abs(gap) / found.std_error[row], found.df_error[row])
        assert found.p_value[row] == pytest.approx(p)
    for i in range(3):
        rows = [entries[i, j] for j in range(n_runs)]
        shared = np.mean([covariance[r, s] for r in rows for s in rows if r != s])
        noise = areas[i].var(ddof=1)
        spread = noise + n_runs * max(shared, 0)
        reach = stats.t.ppf(0.975, spread**2 / (noise**2 / (n_runs - 1))) * np.sqrt(spread / n_runs)
        assert found.model_low[i] == pytest.approx(areas[i].mean() - reach)
        assert found.model_high[i] == pytest.approx(areas[i].mean() + reach)
    assert (found.model_a, found.model_b) == (("a", "a", "b"), ("b", "c", "c"))
    assert found.to_frame()["p_adjusted"].tolist() == found.p_adjusted.tolist()


def test_intervals_hold_together_and_errors_keep_the_size_of_the_areas():
    areas, covariance = drawn()
    for level in (0.9, 0.95):
        found = compare_runs(areas, covariance, confidence_level=level)
        reach = stats.t.ppf(1 - (1 - level) / 6, found.df_error) * found.std_error
        assert found.conf_low == pytest.approx(found.difference - reach)
        assert found.conf_high == pytest.approx(found.difference + reach)
    (areas, covariance), size = drawn(), 1e-6
    found, small = compare_runs(areas, covariance), compare_runs(areas * size, covariance * size**2)
    assert small.std_error == pytest.approx(found.std_error * size)
    assert small.p_value == pytest.approx(found.p_value)


def test_components_by_plain_loops():
    """Two models, three runs; covariances of their own for each kind of sharing."""
    kinds = {(False, False): 1.0, (True, False): 2.0, (False, True): 4.0, (True, True): 9.0}
    at = [(i, j) for i in range(2) for j in range(3)]
    covariance = np.array([[kinds[a[0] == b[0], a[1] == b[1]] for b in at] for a in at]) * 1e-6
    areas = np.array([[0.80, 0.83, 0.78], [0.70, 0.76, 0.75]])
    found = compare_runs(areas, covariance).components.set_index("component")["variance"] * 1e6
    moved = areas - areas.mean(axis=1, keepdims=True) - areas.mean(axis=0) + areas.mean()
    noise = (moved**2).sum() / 2 * 1e6
    runs = 2 * areas.mean(axis=0).var(ddof=1) * 1e6
    assert found["model x run"] == pytest.approx(noise - (9 - 4 - 2 + 1))
    assert found["run"] == pytest.approx((runs - noise) / 2 - (4 - 1))
    assert found["cases, all runs and models"] == pytest.approx(1)
    assert found["cases, all runs of a model"] == pytest.approx(2 - 1)
    assert found["cases, all models of a run"] == pytest.approx(4 - 1)
    assert found["cases, one area"] == pytest.approx(9 - 4 - 2 + 1)
    covariance = np.full((6, 6), 2e-4)  # negative covariances of runs count as none
    for i in (0, 3):
        covariance[i : i + 3, i : i + 3] = -3e-4
    np.fill_diagonal(covariance, 1e-3)
    found = compare_runs(areas, covariance)
    gap = areas[0] - areas[1]
    assert found.std_error == pytest.approx(gap.std(ddof=1) / np.sqrt(3))
    assert found.df_error == pytest.approx(2)
    assert found.f_omnibus == pytest.approx((gap.mean() / found.std_error[0]) ** 2)
    reach = stats.t.ppf(0.975, 2) * areas.std(axis=1, ddof=1) / np.sqrt(3)
    assert found.model_high - found.estimate == pytest.approx(reach)


@pytest.mark.parametrize("rounding", [0.0, np.array([[0, 1, 0], [1, 0, 0], [0, 0, 3]]) * 1e-16])
def test_runs_without_any_spread_leave_the_cases(rounding):
    """Learners without chance: rounding of their mean is no spread of runs."""
    areas = np.repeat([[0.8], [0.7], [0.75]], 3, axis=1) + rounding
    found = compare_runs(areas, np.kron(np.eye(3), np.full((3, 3), 4e-4)) + 1e-4)
    assert (found.df, found.df_omnibus) == (2, np.inf)
    assert found.std_error == pytest.approx(np.full(3, np.sqrt(2 * 4e-4)))
    assert found.f_omnibus == pytest.approx(3 * areas[:, 0].var(ddof=1) / (3 * 4e-4))
    assert found.p_omnibus == pytest.approx(stats.chi2.sf(2 * found.f_omnibus, 2))


def test_nested_runs_by_plain_loops():
    areas, covariance = drawn()
    found = compare_runs(areas, covariance, runs="nested", df="hillis")
    n_models, n_runs = areas.shape
    blocks = covariance.reshape(n_models, n_runs, n_models, n_runs)
    for row, pair in enumerate(((0, 1), (0, 2), (1, 2))):
        i, j = pair
        own = [blocks[k, r, k, s] for k in pair for r in range(n_runs) for s in range(n_runs) if r != s]
        variances = [areas[k].var(ddof=1) for k in pair]
        noise = np.mean(variances)
        spread = noise + n_runs * max(np.mean(own) - blocks[i, :, j].mean(), 0)
        df = sum(variances) ** 2 / sum(v**2 for v in variances) * (n_runs - 1)
        assert found.std_error[row] == pytest.approx(np.sqrt(2 * spread / n_runs))
        assert found.df_error[row] == pytest.approx(spread**2 / (noise**2 / df))
    own = [blocks[k, r, k, s] for k in range(3) for r in range(n_runs) for s in range(n_runs) if r != s]
    other = [blocks[i, :, j].mean() for i in range(3) for j in range(3) if i != j]
    variances = areas.var(axis=1, ddof=1)
    spread = variances.mean() + n_runs * max(np.mean(own) - np.mean(other), 0)
    assert found.f_omnibus == pytest.approx(n_runs * areas.mean(axis=1).var(ddof=1) / spread)
    centre = np.eye(3) - 1 / 3
    eigen = np.linalg.eigvalsh(centre @ np.diag(variances) @ centre)[1:]
    assert found.df == pytest.approx(eigen.sum() ** 2 / (eigen**2).sum())
    df = variances.sum() ** 2 / (variances**2).sum() * (n_runs - 1)
    assert found.df_omnibus == pytest.approx(spread**2 / (variances.mean() ** 2 / df))
    names = ["run", "cases, all runs and models", "cases, all runs of a model", "cases, one area"]
    assert found.components["component"].tolist() == names


def test_two_models_with_runs_of_their_own_are_compared_as_by_welch():
    """Where cases add nothing, what is left is Welch's t test of the runs."""
    areas = np.array([[0.71, 0.74, 0.69, 0.73], [0.8, 0.62, 0.9, 0.65]])
    found = compare_runs(areas, np.zeros((8, 8)), runs="nested")
    expected = stats.ttest_ind(*areas, equal_var=False)
    assert found.statistic[0] == pytest.approx(expected.statistic)
    assert found.p_value[0] == pytest.approx(expected.pvalue)
    assert found.p_omnibus == pytest.approx(expected.pvalue)


def test_runs_that_all_agree_and_equal_models():
    """One fitted model copied as all runs: what is left is the test over cases, with a normal deviate."""
    rng = np.random.default_rng(2)
    labels = np.repeat([1, 0], [80, 300])
    scores = labels[:, None] * [1.4, 0.9] + rng.normal(size=(380, 2))
    one = auprec_covariance(labels, np.repeat(scores, 3, axis=1), prior=0.2)
    found = compare_runs(one.estimate.reshape(2, 3), one.covariance)
    error = np.sqrt([1, -1] @ auprec_covariance(labels, scores, prior=0.2).covariance @ [1, -1])
    assert found.std_error[0] == pytest.approx(error)
    assert found.df_error[0] > 1e6
    assert found.p_value[0] == pytest.approx(2 * stats.norm.sf(abs(found.difference[0]) / error), rel=1e-3)
    assert found.p_value[0] == pytest.approx(compare_test_set(labels, scores, prior=0.2).p_value[0], abs=0.02)
    areas, covariance = drawn(2)
    same = np.tile(areas[0], (2, 1))
    block = covariance[:4, :4]
    found = expect_warning("models 0 and 1 differ by a constant", compare_runs, same, np.tile(block, (2, 2)))
    assert np.isnan(found.p_value[0])
    with pytest.warns(SkewanovaWarning, match="models 0 and 1 differ by a constant"):
        apart = compare_runs(np.add(same, [[0.25], [0.0]]), np.tile(block, (2, 2)))
    assert apart.difference[0] == pytest.approx(0.25)
    assert (apart.std_error[0], np.isnan(apart.statistic[0]), np.isnan(apart.p_value[0])) == (0, True, True)


@pytest.mark.parametrize(("areas", "covariance", "message"), [
    ([[0.5, 0.6]], np.eye(2), "at least 2 models"),
    ([[0.5], [0.6]], np.eye(2), "at least 2 models in rows and 2 runs"),
    ([[0.5, 0.6], [0.5, 0.7]], np.eye(3), r"must have shape \(4, 4\)"),
    ([[0.5, np.nan], [0.5, 0.7]], np.eye(4), "finite"),
])  # fmt: skip
def test_what_is_refused(areas, covariance, message):
    expect_error(message, compare_runs, areas, covariance)
    expect_error("must be one of crossed, nested; but got 'fixed'", compare_runs, *drawn(), runs="fixed")
    for case_df in (0.0, -1.0, np.nan):
        expect_error("`case_df` must be degrees of freedom above 0", compare_runs, *drawn(), case_df=case_df)


def test_degrees_of_freedom_lie_between_those_of_runs_and_of_cases():
    assert DegreesOfFreedom("hillis").compute_df(0.0, 1e-34, 2) == np.inf
    of = DegreesOfFreedom(case_df=50.0)
    found = of.compute_df([1.0, 1.0, 1.0, 0.0], [0.0, 0.4, 1.0, 0.0], 3, n_tests=2)
    assert found[[0, 2, 3]] == pytest.approx([50, 3, np.inf])
    assert 3 < found[1] < 50
    assert (DegreesOfFreedom(case_df=1e15).compute_df(1.0, [1e-14, 0.5], [3.0, 1e13], n_tests=2) > 1e9).all()


@each("case_df", [np.inf, 30.0])
@each("n_runs", [2, 3, 5])
def test_bounded_degrees_of_freedom_have_the_critical_value_of_banerjee(n_runs, case_df):
    areas, covariance = drawn(4, n_runs)
    found = compare_runs(areas, covariance, case_df=case_df)
    published = compare_runs(areas, covariance, case_df=case_df, df="hillis")
    assert found.std_error.tolist() == published.std_error.tolist()
    level = MATCHED_LEVEL / 6
    for row, (i, j) in enumerate(combinations(range(4), 2)):
        share = (areas[i] - areas[j]).var(ddof=1) / n_runs / found.std_error[row] ** 2
        of_runs, others = (stats.t.isf(level / 2, df) for df in (n_runs - 1, case_df))
        critical = np.sqrt(share * of_runs**2 + (1 - share) * others**2)
        assert stats.t.isf(level / 2, found.df_error[row]) == pytest.approx(critical, rel=1e-9)


def rejected(n_models, n_runs, degrees, tables=6000):
    """Share of tables of equal models of which a pair is told apart at .05 and at .005 (Bonferroni).

    Normal areas whose runs bring in nine tenths of the variance, over cases of known covariance.
    """
    rng = np.random.default_rng([n_models, n_runs])
    areas = np.sqrt(0.9) * rng.normal(size=(tables, n_models, n_runs))
    areas += np.sqrt(0.1 / n_runs) * rng.normal(size=(tables, n_models, 1))
    pairs = list(combinations(range(n_models), 2))
    smallest = np.ones(tables)
    for i, j in pairs:
        gap = areas[:, i] - areas[:, j]
        noise = gap.var(axis=1, ddof=1) / 2
        df = degrees.compute_df(noise + 0.1, noise, n_runs - 1, n_tests=len(pairs))
        t = gap.mean(axis=1) / np.sqrt(2 * (noise + 0.1) / n_runs)
        smallest = np.minimum(smallest, 2 * stats.t.sf(np.abs(t), df) * len(pairs))
    return (smallest < [[0.05], [0.005]]).mean(axis=1)


@pytest.mark.parametrize(("n_models", "n_runs"), [(2, 2), (4, 3)])
def test_few_runs_that_differ_much_hold_the_level(n_models, n_runs):
    bounded, published = (rejected(n_models, n_runs, DegreesOfFreedom(of)) for of in ("banerjee", "hillis"))
    assert (bounded <= [0.05, 0.0095]).all()
    assert (published > [0.064, 0.0095]).all()
