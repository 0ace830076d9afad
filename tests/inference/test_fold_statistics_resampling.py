import itertools

import numpy as np
import pytest
from fold_tables import correlated_folds, random_table
from loops import each

from skewanova.inference import fold_statistics
from skewanova.inference.fold_statistics import (
    draw_sign_flips,
    fraction_best,
    max_t_test,
    permutation_test,
    sign_flip_test,
)

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
    orders = list(itertools.permutations(range(values.shape[1])))
    tables = itertools.product(orders, repeat=len(values))
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
        left = order[step:]
        before = max(before, share_reaching(observed[pair], draws[:, left].max(axis=1)))
        adjusted[pair] = before
    return adjusted


@each("seed", range(4))
@each(("n_folds", "n_models"), [(2, 2), (4, 3), (7, 4)])
def test_sign_flips_equal_brute_force(n_folds, n_models, seed):
    values = random_table(n_folds, n_models, seed=seed, effect=0.01)
    found = sign_flip_test(values)
    assert float(found) == pytest.approx(flipped_p(values), abs=1e-12)


@each("seed", range(3))
@each(("n_folds", "n_models"), [(2, 2), (6, 2), (4, 3), (2, 4)])
def test_permutation_equals_brute_force(n_folds, n_models, seed):
    values = random_table(n_folds, n_models, seed=seed, effect=0.01)
    found = permutation_test(values)
    assert float(found) == pytest.approx(permuted_p(values), abs=1e-12)


@pytest.mark.parametrize("decimals", [1, 2])
def test_ties_are_counted(decimals):
    values = np.round(random_table(5, 3, seed=8, spread=0.08), decimals)
    assert float(sign_flip_test(values)) == pytest.approx(flipped_p(values), abs=1e-12)
    values = np.round(random_table(4, 3, seed=9, spread=0.08), decimals)
    assert float(permutation_test(values)) == pytest.approx(permuted_p(values), abs=1e-12)


@each("seed", range(6))
@each(("n_folds", "n_models"), [(4, 3), (6, 3), (7, 4)])
def test_max_t_equals_westfall_and_young(n_folds, n_models, seed):
    values = random_table(n_folds, n_models, seed=seed, effect=0.01)
    found = max_t_test(values)
    expected = westfall_young(values, map(np.array, itertools.product((1, -1), repeat=n_folds)))
    np.testing.assert_allclose(found, expected, atol=1e-12)


TESTS = [sign_flip_test, permutation_test, max_t_test]


@pytest.mark.parametrize("test", TESTS)
def test_random_arrangements_agree_with_all_of_them(test):
    values = random_table(7 if test is permutation_test else 12, 3, seed=2, spread=0.03, effect=0.006)
    exact = test(values, n_resamples=50_000)
    drawn = test(values, n_resamples=2000, rng=3)
    np.testing.assert_allclose(drawn * 2001, np.round(drawn * 2001), atol=1e-9)
    p = np.asarray(exact)
    assert ((p > 0.003) & (p < 0.9)).any()
    assert (np.abs(drawn - p) < 4 * np.sqrt(p * (1 - p) / 2000) + 1 / 2001).all()


@pytest.mark.parametrize("test", TESTS)
def test_random_p_counts_the_observed_arrangement(test):
    certain = random_table(20, 3, spread=0.001, effect=0.1)
    found = test(certain, n_resamples=499)
    np.testing.assert_allclose(found, 1 / 500)
    some = test(random_table(20, 3), n_resamples=499) * 500
    np.testing.assert_allclose(some, np.round(some), atol=1e-9)
    assert (np.asarray(some) >= 1).all()


@pytest.mark.parametrize("test", TESTS)
def test_the_seed_decides_and_blocks_do_not(test, monkeypatch):
    values = random_table(20, 3, effect=0.005)
    first, second = (test(values, n_resamples=500, rng=7) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    generator = test(values, n_resamples=500, rng=np.random.default_rng(7))
    np.testing.assert_array_equal(first, generator)
    assert any((test(values, n_resamples=500, rng=s) != first).any() for s in range(8, 12))
    monkeypatch.setattr(fold_statistics, "BLOCK_SIZE", 60 * 33)
    blocks = test(values, n_resamples=500, rng=7)
    np.testing.assert_array_equal(first, blocks)


@pytest.mark.parametrize("test", TESTS)
def test_by_default_9999_arrangements_are_drawn_from_seed_0(test):
    values = random_table(20, 3, effect=0.005)
    found = test(values)
    np.testing.assert_allclose(found * 10_000, np.round(found * 10_000), atol=1e-8)
    np.testing.assert_array_equal(found, test(values, n_resamples=9999, rng=0))


@pytest.mark.parametrize("test", TESTS)
def test_identical_models_give_p_1(test):
    one = random_table(6, 1)
    for offset in (0.0, 2e-16):  # the mean of three equal numbers need not be that number
        found = test(np.hstack([one, one + offset, one]))
        np.testing.assert_array_equal(found, 1.0)


def test_max_t_with_an_identical_pair_and_a_constant_difference():
    one, other = random_table(6, 1), random_table(6, 1, seed=1)
    found = max_t_test(np.hstack([one, one + 1e-16, other, other + 0.1]))
    assert found[0] == 1.0  # identical
    assert found[-1] == 2.0**-5  # constant: the same sign in every fold


@pytest.mark.parametrize("test", [sign_flip_test, max_t_test])
def test_leading_axes_equal_a_loop(test):
    tables = np.random.default_rng(4).normal(size=(2, 3, 6, 3))
    found = test(tables)
    for i, j in itertools.product(range(2), range(3)):
        np.testing.assert_array_equal(found[i, j], test(tables[i, j]))


def test_permutation_serves_many_models():
    values = random_table(4, 25, effect=0.02)  # 25! is no machine integer
    found = permutation_test(values, n_resamples=99)
    assert float(found) == pytest.approx(0.01)


@pytest.mark.parametrize("n_folds", [1, 2, 3, 8])
def test_sign_flips_enumerates_every_arrangement_once(n_folds):
    signs, exact = draw_sign_flips(n_folds)
    assert exact
    assert len({tuple(row) for row in signs}) == len(signs) == 2 ** (n_folds - 1)
    assert (signs[0] == 1).all()
    assert (signs[:, 0] == 1).all()


def test_sign_flips_draws_where_there_are_more_arrangements_than_asked_for():
    assert draw_sign_flips(5, n_resamples=15)[1]
    signs, exact = draw_sign_flips(5, n_resamples=14)
    assert not exact
    assert signs.shape == (15, 5)
    assert (signs[0] == 1).all()
    many = draw_sign_flips(30, n_resamples=9999)[0][1:]
    assert set(np.unique(many)) == {-1.0, 1.0}
    assert abs(many.mean()) < 4 / np.sqrt(many.size)


def test_permutation_enumerates_up_to_the_number_asked_for():
    values = random_table(3, 3)  # 36 arrangements
    every, drawn = permutation_test(values, n_resamples=35), permutation_test(values, n_resamples=34)
    assert float(every) == pytest.approx(permuted_p(values), abs=1e-12)
    assert float(drawn) * 35 == pytest.approx(round(float(drawn) * 35))


def test_shares_by_hand():
    means = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 2.0], [1.0, 1.0, 1.0], [0.0, 0.0, 5.0]])
    third, half = 1 / 3, 1 / 2
    expected = [1 + third, half + third, half + third + 1]
    np.testing.assert_allclose(fraction_best(means) * 4, expected, rtol=1e-14)


def test_rounding_does_not_break_a_tie():
    sums = [0.1 + 0.2 + 0.3, 0.2 + 0.3 + 0.1, 0.3 + 0.1 + 0.2]  # the same, summed in another order
    np.testing.assert_allclose(fraction_best(np.array([sums])), 1 / 3)
    assert fraction_best(np.array([[0.1 + 0.2, 0.3]])).tolist() == [0.5, 0.5]


def test_a_small_lead_is_a_lead():
    assert fraction_best(np.array([[0.5, 0.5 + 1e-9]])).tolist() == [0.0, 1.0]


def test_sign_flips_hold_their_level_whatever_the_spreads():
    rng = np.random.default_rng(21)
    tables = correlated_folds(4000, 10, 4, rho=0.0, rng=rng) * (1, 1, 1, 2.3)
    three_errors = 3 * np.sqrt(0.05 * 0.95 / 4000)
    p = np.concatenate([sign_flip_test(part) for part in np.split(tables, 8)])
    assert (p <= 0.05).mean() == pytest.approx(0.05, abs=three_errors)
    family = np.concatenate([max_t_test(part).min(axis=-1) for part in np.split(tables, 8)])
    assert (family <= 0.05).mean() == pytest.approx(0.05, abs=three_errors)
