import itertools

import numpy as np
import pytest
from by_statsmodels import adjusted_by_statsmodels
from fold_tables import INPUTS, r_number, random_table, table_of
from loops import each
from scipy import stats
from scipy.linalg import helmert

from skewanova.inference import fold_statistics
from skewanova.inference.fold_statistics import range_isf, range_sf

MEASURES = "r_repeated_measures.csv"


def close(found, expected, rel=1e-9):
    assert float(found) == pytest.approx(expected, rel=rel, abs=0)


@pytest.mark.parametrize("name", INPUTS)
def test_blocked_f_epsilons_and_mauchly_equal_r(name):
    found = fold_statistics.blocked_f(table_of(name)), fold_statistics.blocked_test(table_of(name))
    for quantity, value in {**found[0]._asdict(), **found[1]._asdict()}.items():
        close(value, r_number(MEASURES, name, "afex_model", quantity))
    values = table_of(name)
    n_folds, n_models = values.shape
    found = fold_statistics.gg_test(values)
    cov = fold_statistics.fold_covariance(values @ helmert(n_models).T)
    gg = fold_statistics.epsilon_gg(cov)
    hf = fold_statistics.epsilon_hf(gg, n_models - 1, n_folds)
    raw = r_number(MEASURES, name, "afex_model", "hf_epsilon")
    df = np.array([n_models - 1, (n_models - 1) * (n_folds - 1)])
    close(gg, r_number(MEASURES, name, "afex_model", "gg_epsilon"))
    close(hf, min(raw, 1.0))
    close(stats.f.sf(found.statistic, *(hf * df)), r_number(MEASURES, name, "afex_model", "hf_p_value"))
    w, p = fold_statistics.mauchly(cov, n_folds)
    close(w, r_number(MEASURES, name, "mauchly_base", "statistic"))
    close(w, r_number(MEASURES, name, "afex_model", "mauchly_w"))
    # mauchly.test has the number of models, not of contrasts, in one place of the second-order term
    expected = r_number(MEASURES, name, "mauchly_base", "p_value")
    close(p, expected, rel=1e-9 if n_models == 3 else 0.005)


def test_mauchly_rejects_at_its_level_and_friedman_has_ties_or_nothing():
    contrasts = np.random.default_rng(5).normal(size=(40_000, 9, 4))
    p = fold_statistics.mauchly(fold_statistics.fold_covariance(contrasts), 9)[1]
    for level in (0.05, 0.5, 0.95):
        slack = 3 * np.sqrt(level * (1 - level) / len(p)) + 0.003
        assert (p < level).mean() == pytest.approx(level, abs=slack)
    values = np.round(random_table(9, 4, seed=3), 2)
    assert any(len(set(row)) < 4 for row in values)
    chi2 = stats.friedmanchisquare(*values.T).statistic
    close(fold_statistics.friedman_test(values).statistic, 8 * chi2 / (9 * 3 - chi2))
    w, p = fold_statistics.mauchly(np.zeros((3, 3)), 6)
    assert np.isnan([w, p]).all()
    assert np.isnan(fold_statistics.blocked_f(np.tile(np.linspace(0.5, 1.0, 5)[:, None], 3)).statistic)
    assert fold_statistics.blocked_f(np.array([[0.0, 1.0]] * 4)).statistic == np.inf


@pytest.mark.parametrize("n_folds", [2, 3])
def test_friedman_with_full_agreement_has_the_chance_of_it_as_p(n_folds):
    values = np.tile([0.7, 0.8, 0.9], (n_folds, 1)) + np.linspace(0, 0.05, n_folds)[:, None]
    found = fold_statistics.friedman_test(values)
    assert np.isinf(found.statistic)
    orders = list(itertools.product(itertools.permutations(range(3)), repeat=n_folds))
    close(found.p_value, sum(len(set(folds)) == 1 for folds in orders) / len(orders))


KERNELS = {
    "blocked_f": lambda v: np.stack(fold_statistics.blocked_f(v)[:3]),
    "blocked_test": lambda v: np.stack(fold_statistics.blocked_test(v, inflation=3.0)),
    "gg_test": lambda v: np.stack(fold_statistics.gg_test(v)),
    "hotelling_test": lambda v: np.stack(fold_statistics.hotelling_test(v, inflation=2.0)),
    "friedman_test": lambda v: np.stack(fold_statistics.friedman_test(v)),
    "contrast_f": lambda v: np.stack(fold_statistics.contrast_f(v @ helmert(4).T)),
    "paired_t": lambda v: np.stack(fold_statistics.paired_t(v, inflation=1.5)),
    "paired_t_p_values": fold_statistics.paired_t_p_values,
    "pair_differences": fold_statistics.pair_differences, "fold_covariance": fold_statistics.fold_covariance,
    "epsilon_gg": lambda v: fold_statistics.epsilon_gg(fold_statistics.fold_covariance(v)),
    "epsilon_hf": lambda v: fold_statistics.epsilon_hf(
        fold_statistics.epsilon_gg(fold_statistics.fold_covariance(v)), 4, 7),
    "mauchly": lambda v: np.stack(
        fold_statistics.mauchly(fold_statistics.fold_covariance(v @ helmert(4).T), 7)),
    "holm": lambda v: fold_statistics.adjust_holm(np.abs(v) % 1),
    "sign_flip_test": fold_statistics.sign_flip_test, "max_t_test": fold_statistics.max_t_test,
}  # fmt: skip
#: Their results are stacked before the leading axes.
STACKED = (
    "blocked_f", "blocked_test", "gg_test", "hotelling_test", "friedman_test", "contrast_f", "paired_t",
    "mauchly",
)  # fmt: skip


@each("name", KERNELS)
def test_kernels_equal_a_loop_over_tables(name):
    tables = np.random.default_rng(1).normal(size=(3, 2, 7, 4))
    before = tables.copy()
    found = KERNELS[name](tables)
    np.testing.assert_array_equal(tables, before)
    if name in STACKED:
        found = np.moveaxis(found, 0, 2)
    for i, j in itertools.product(range(3), range(2)):
        np.testing.assert_allclose(found[i, j], KERNELS[name](tables[i, j]), rtol=1e-12, atol=1e-15)


@each("seed", range(30))
def test_holm_equals_statsmodels_on_what_is_tested(seed):
    rng = np.random.default_rng(seed)
    p_values = rng.integers(0, 30, size=rng.integers(1, 10)) / (30 if seed % 2 else 300)  # with ties
    p_values[rng.random(len(p_values)) < 0.2] = np.nan
    tested = ~np.isnan(p_values)
    found = fold_statistics.adjust_holm(p_values)
    np.testing.assert_array_equal(np.isnan(found), ~tested)
    if tested.any():
        np.testing.assert_allclose(found[tested], adjusted_by_statsmodels(p_values[tested]), rtol=1e-14)


@pytest.mark.parametrize("offset", [0.0, 1e-16, 5e-16])
def test_models_alike_up_to_rounding_have_no_t(offset):
    one = random_table(6, 1)[:, 0]
    found = fold_statistics.paired_t(np.column_stack([one, one + offset, one + 0.1]))
    assert np.isnan(found.statistic[0])
    assert np.isnan(fold_statistics.paired_t_p_values(np.column_stack([one, one + offset]))[0])
    assert (found.std_error == 0).all()
    np.testing.assert_array_equal(found.statistic[1:], -np.inf)
    np.testing.assert_array_equal(fold_statistics.paired_t_p_values(np.column_stack([one, one + 0.01])), 0.0)


@pytest.fixture(scope="module")
def halved():
    """Three tables of 6 folds and 4 models, and their differences between 9 halvings."""
    rng = np.random.default_rng(8)
    return rng.normal(size=(3, 6, 4)) + np.arange(4) / 2, 0.4 * rng.normal(size=(3, 9, 4))


def test_tests_with_halvings_by_hand(halved):
    """All tables at once."""
    tests = fold_statistics.hotelling_test, fold_statistics.gg_test, fold_statistics.paired_t
    hotelling, gg, paired = (test(halved[0], halves=halved[1]) for test in tests)
    covariance = fold_statistics.split_half_covariance(*halved)
    for at, (values, halves) in enumerate(zip(*halved, strict=True)):
        cov = halves.T @ halves / 9 + np.cov(values, rowvar=False) / 6
        np.testing.assert_allclose(covariance[at], cov, rtol=1e-12)
        ahead = values.mean(axis=0)[1:] - values.mean(axis=0)[0]
        centre = np.eye(4) - 1 / 4
        apart = np.column_stack([-np.ones(3), np.eye(3)])
        t2 = ahead @ np.linalg.solve(apart @ cov @ apart.T, ahead)
        assert (hotelling.df[at], hotelling.df_error[at]) == (3, 7)
        assert hotelling.statistic[at] == pytest.approx(t2 * 7 / (9 * 3))
        spread = np.linalg.eigvalsh(centre @ cov @ centre)[1:]
        df = spread.sum() ** 2 / (spread**2).sum()
        assert gg.statistic[at] == pytest.approx(((centre @ values.mean(axis=0)) ** 2).sum() / spread.sum())
        assert (gg.df[at], gg.df_error[at]) == (pytest.approx(df), pytest.approx(9 * df))
        for k, (i, j) in enumerate(itertools.combinations(range(4), 2)):
            folds, between = values[:, i] - values[:, j], halves[:, i] - halves[:, j]
            error = np.sqrt(folds.var(ddof=1) / 6 + (between**2).mean())
            assert paired.std_error[at, k] == pytest.approx(error)
            assert paired.statistic[at, k] == pytest.approx(folds.mean() / error)


VALUES = np.array([0.0, 1e-3, 0.05, 0.3, 1.0, 2.0, 3.5, 5.0, 10.0, 30.0])


@each(("n_levels", "df"), [
    (2, 1), (3, 2), (3, 38), (6, 9), (12, 209), (30, 100), (12, 3), *((n, np.inf) for n in (2, 5, 40, 400)),
])  # fmt: skip
def test_tail_is_that_of_scipy(n_levels, df):
    known = stats.studentized_range.sf(VALUES, n_levels, df)
    np.testing.assert_allclose(range_sf(VALUES, n_levels, df), known, rtol=0, atol=1e-13)


def test_tail_at_the_edges():
    tail = range_sf(np.array([np.nan, np.inf, 0.0]), 4, 10)
    np.testing.assert_allclose(tail, [np.nan, 0.0, 1.0], rtol=0, atol=1e-13)
    assert range_sf(np.array([]), 4, 10).shape == (0,)


@pytest.mark.parametrize(
    ("alpha", "n_levels", "df"), [(0.05, 3, 38), (0.005, 12, 209), (0.5, 2, 1), (0.9, 4, 5)]
)
def test_critical_value_is_that_of_scipy(alpha, n_levels, df):
    found = range_isf(alpha, n_levels, df)
    assert found == pytest.approx(stats.studentized_range.isf(alpha, n_levels, df), rel=1e-9)
    assert range_sf(np.array([found]), n_levels, df)[0] == pytest.approx(alpha, abs=1e-14)


# Slow twins: every arrangement in turn, statistics from their definitions.


def blocked(values):
    """The sum of squares of the models over that of the residuals."""
    centred = values - values.mean(axis=1, keepdims=True)
    effect = centred.mean(axis=0)
    return (effect**2).sum() / ((centred - effect) ** 2).sum()


def share_reaching(observed, others):
    return np.mean([other >= observed * (1 - 1e-9) for other in others])


def flipped_p(values):
    """Sign flips of whole fold profiles about the fold mean, all 2^J of them, by the blocked F itself."""
    mean = values.mean(axis=1, keepdims=True)
    flips = itertools.product((1, -1), repeat=len(values))
    others = [blocked(mean + np.array(s)[:, None] * (values - mean)) for s in flips]
    return share_reaching(blocked(values), others)


def permuted_p(values):
    """All (K!)^J permutations of models within folds."""
    tables = itertools.product(list(itertools.permutations(range(values.shape[1]))), repeat=len(values))
    others = [blocked(np.array([row[list(o)] for row, o in zip(values, t, strict=True)])) for t in tables]
    return share_reaching(blocked(values), others)


def pair_t(values):
    """Paired |t| of every pair of models."""
    return np.abs(fold_statistics.paired_t(values).statistic)


def westfall_young(values, signs):
    """Step-down max-T as the book has it: free one hypothesis at a time, from the largest |t| down."""
    observed = pair_t(values)
    draws = np.array([pair_t(s[:, None] * values) for s in signs])
    order = np.argsort(-observed)
    adjusted, before = np.empty(len(observed)), 0.0
    for step, pair in enumerate(order):
        before = max(before, share_reaching(observed[pair], draws[:, order[step:]].max(axis=1)))
        adjusted[pair] = before
    return adjusted


@each("seed", range(4))
@each(("n_folds", "n_models"), [(2, 2), (4, 3), (7, 4)])
def test_sign_flips_equal_brute_force(n_folds, n_models, seed):
    values = random_table(n_folds, n_models, seed=seed, effect=0.01)
    assert float(fold_statistics.sign_flip_test(values)) == pytest.approx(flipped_p(values), abs=1e-12)


@each("seed", range(3))
@each(("n_folds", "n_models"), [(2, 2), (6, 2), (4, 3), (2, 4)])
def test_permutation_equals_brute_force(n_folds, n_models, seed):
    values = random_table(n_folds, n_models, seed=seed, effect=0.01)
    assert float(fold_statistics.permutation_test(values)) == pytest.approx(permuted_p(values), abs=1e-12)


@pytest.mark.parametrize("decimals", [1, 2])
def test_ties_are_counted(decimals):
    values = np.round(random_table(5, 3, seed=8, spread=0.08), decimals)
    assert float(fold_statistics.sign_flip_test(values)) == pytest.approx(flipped_p(values), abs=1e-12)
    values = np.round(random_table(4, 3, seed=9, spread=0.08), decimals)
    assert float(fold_statistics.permutation_test(values)) == pytest.approx(permuted_p(values), abs=1e-12)


@each("seed", range(6))
@each(("n_folds", "n_models"), [(4, 3), (6, 3), (7, 4)])
def test_max_t_equals_westfall_and_young(n_folds, n_models, seed):
    values = random_table(n_folds, n_models, seed=seed, effect=0.01)
    found = fold_statistics.max_t_test(values)
    expected = westfall_young(values, map(np.array, itertools.product((1, -1), repeat=n_folds)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


TESTS = [fold_statistics.sign_flip_test, fold_statistics.permutation_test, fold_statistics.max_t_test]


@pytest.mark.parametrize("test", TESTS)
def test_random_arrangements_agree_with_all_and_count_the_observed_one(test):
    n_folds = 7 if test is fold_statistics.permutation_test else 12
    values = random_table(n_folds, 3, seed=2, spread=0.03, effect=0.006)
    exact = test(values, n_resamples=50_000)
    drawn = test(values, n_resamples=2000, rng=3)
    np.testing.assert_allclose(drawn * 2001, np.round(drawn * 2001), atol=1e-9)
    p = np.asarray(exact)
    assert ((p > 0.003) & (p < 0.9)).any()
    assert (np.abs(drawn - p) < 4 * np.sqrt(p * (1 - p) / 2000) + 1 / 2001).all()
    np.testing.assert_allclose(test(random_table(20, 3, spread=0.001, effect=0.1), n_resamples=499), 1 / 500)
    some = test(random_table(20, 3), n_resamples=499) * 500
    np.testing.assert_allclose(some, np.round(some), atol=1e-9)
    assert (np.asarray(some) >= 1).all()


@pytest.mark.parametrize("test", TESTS)
def test_the_seed_decides_and_blocks_do_not_and_defaults_are_9999_arrangements_from_seed_0(test, monkeypatch):
    values = random_table(20, 3, effect=0.005)
    first, second = (test(values, n_resamples=500, rng=7) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(first, test(values, n_resamples=500, rng=np.random.default_rng(7)))
    assert any((test(values, n_resamples=500, rng=s) != first).any() for s in range(8, 12))
    monkeypatch.setattr(fold_statistics, "BLOCK_SIZE", 60 * 33)
    np.testing.assert_array_equal(first, test(values, n_resamples=500, rng=7))
    monkeypatch.undo()
    found = test(values)
    np.testing.assert_allclose(found * 10_000, np.round(found * 10_000), atol=1e-8)
    np.testing.assert_array_equal(found, test(values, n_resamples=9999, rng=0))
    one = random_table(6, 1)
    for offset in (0.0, 2e-16):  # the mean of three equal numbers need not be that number
        np.testing.assert_array_equal(test(np.hstack([one, one + offset, one])), 1.0)


def test_max_t_permutations_and_sign_flips_of_many_arrangements():
    one, other = random_table(6, 1), random_table(6, 1, seed=1)
    found = fold_statistics.max_t_test(np.hstack([one, one + 1e-16, other, other + 0.1]))
    assert found[0] == 1.0  # identical
    assert found[-1] == 2.0**-5  # constant: the same sign in every fold
    values = random_table(4, 25, effect=0.02)  # 25! is no machine integer
    assert float(fold_statistics.permutation_test(values, n_resamples=99)) == pytest.approx(0.01)
    values = random_table(3, 3)  # 36 arrangements
    every, drawn = (fold_statistics.permutation_test(values, n_resamples=number) for number in (35, 34))
    assert float(every) == pytest.approx(permuted_p(values), abs=1e-12)
    assert float(drawn) * 35 == pytest.approx(round(float(drawn) * 35))
    signs = fold_statistics.draw_sign_flips(5, n_resamples=15)  # all of them
    assert np.unique(signs, axis=0).shape == (16, 5)
    signs = fold_statistics.draw_sign_flips(5, n_resamples=14)
    assert signs.shape == (15, 5)
    assert (signs[0] == 1).all()
    many = fold_statistics.draw_sign_flips(30, n_resamples=9999)[1:]
    assert set(np.unique(many)) == {-1.0, 1.0}
    assert abs(many.mean()) < 4 / np.sqrt(many.size)


def test_shares_by_hand():
    means = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 2.0], [1.0, 1.0, 1.0], [0.0, 0.0, 5.0]])
    third, half = 1 / 3, 1 / 2
    expected = [1 + third, half + third, half + third + 1]
    np.testing.assert_allclose(fold_statistics.fraction_best(means) * 4, expected, rtol=1e-14)
    sums = [0.1 + 0.2 + 0.3, 0.2 + 0.3 + 0.1, 0.3 + 0.1 + 0.2]  # the same, summed in another order
    np.testing.assert_allclose(fold_statistics.fraction_best(np.array([sums])), 1 / 3)
    assert fold_statistics.fraction_best(np.array([[0.1 + 0.2, 0.3]])).tolist() == [0.5, 0.5]
    assert fold_statistics.fraction_best(np.array([[0.5, 0.5 + 1e-9]])).tolist() == [0.0, 1.0]
