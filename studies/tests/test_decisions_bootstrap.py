import re
from itertools import product

import numpy as np
import pytest
from loops import each

from skewanova import InputError, InputTypeError
from studies.decisions import fold_bootstrap_means

VALUES = np.random.default_rng(0).normal(0.8, [0.02, 0.05, 0.2], (12, 3))
COUNT = 40_000


def exact(message):
    return f"^{re.escape(message)}$"


# --- bootstrap of whole folds -------------------------------------------------------------------------------


def test_means_and_covariances_of_the_bootstrap():
    """Multinomial theory: mean of the sample, covariance with divisor n, divided by n."""
    means = fold_bootstrap_means(VALUES, n_resamples=COUNT)
    assert means.shape == (COUNT, 3)
    theory = np.cov(VALUES.T, ddof=0) / len(VALUES)
    spread = np.sqrt(np.diag(theory))
    np.testing.assert_array_less(
        np.abs(means.mean(axis=0) - VALUES.mean(axis=0)), 4 * spread / np.sqrt(COUNT)
    )
    # standard error of a covariance is about sqrt(2 / n) of the product of the spreads
    np.testing.assert_array_less(
        np.abs(np.cov(means.T) - theory), 4 * np.sqrt(2 / COUNT) * np.outer(spread, spread)
    )


def test_two_folds_by_enumeration():
    means = fold_bootstrap_means(np.array([[0.0, 1.0], [1.0, 0.0]]), n_resamples=COUNT)
    found, counts = np.unique(means[:, 0], return_counts=True)
    assert found.tolist() == [0.0, 0.5, 1.0]
    np.testing.assert_allclose(counts / COUNT, [0.25, 0.5, 0.25], atol=4 * 0.5 / np.sqrt(COUNT))
    np.testing.assert_allclose(means.sum(axis=1), 1.0)  # models stay paired


def test_three_folds_reach_every_sample_and_no_other():
    values = np.array([[1.0], [10.0], [100.0]])
    every = {round(sum(drawn) / 3, 9) for drawn in product((1.0, 10.0, 100.0), repeat=3)}
    assert set(np.round(fold_bootstrap_means(values, n_resamples=2000)[:, 0], 9)) == every


def test_same_seed_same_draws():
    first = fold_bootstrap_means(VALUES, n_resamples=50, rng=7)
    np.testing.assert_array_equal(fold_bootstrap_means(VALUES, n_resamples=50, rng=7), first)
    np.testing.assert_array_equal(
        fold_bootstrap_means(VALUES, n_resamples=50, rng=np.random.default_rng(7)), first
    )
    np.testing.assert_array_equal(
        fold_bootstrap_means(VALUES, n_resamples=50, rng=np.random.SeedSequence(7)), first
    )
    assert (fold_bootstrap_means(VALUES, n_resamples=50, rng=8) != first).any()
    assert (fold_bootstrap_means(VALUES, n_resamples=50, rng=None) != first).any()


def test_default_seed_and_count():
    means = fold_bootstrap_means(VALUES)
    assert len(means) == 9999
    np.testing.assert_array_equal(means, fold_bootstrap_means(VALUES, rng=0))


def test_a_generator_moves_on():
    rng = np.random.default_rng(1)
    assert (
        fold_bootstrap_means(VALUES, n_resamples=9, rng=rng)
        != fold_bootstrap_means(VALUES, n_resamples=9, rng=rng)
    ).any()


def test_draws_do_not_depend_on_the_models():
    all_models = fold_bootstrap_means(VALUES, n_resamples=30)
    np.testing.assert_allclose(fold_bootstrap_means(VALUES[:, [2, 0]], n_resamples=30), all_models[:, [2, 0]])


def test_values_stay_as_they_are():
    values = VALUES.copy()
    fold_bootstrap_means(values, n_resamples=3)
    np.testing.assert_array_equal(values, VALUES)
    assert fold_bootstrap_means([[1, 2], [3, 4]], n_resamples=1).shape == (1, 2)


@each(
    ("values", "shape"),
    [
        (VALUES[:1], "(1, 3)"),
        (VALUES[:, 0], "(12,)"),
        (VALUES[None], "(1, 12, 3)"),
        (np.empty((0, 3)), "(0, 3)"),
        (np.where(VALUES > 1, np.nan, np.inf), "(12, 3)"),
        (np.full((2, 2), np.nan), "(2, 2)"),
    ],
)
def test_bad_values(values, shape):
    message = f"`values` must be finite, of shape (at least 2 folds, models), but has shape {shape}"
    with pytest.raises(InputError, match=exact(message)):
        fold_bootstrap_means(values)


@pytest.mark.parametrize("count", [0, -5])
def test_too_few_resamples(count):
    with pytest.raises(InputError, match=exact(f"`n_resamples` must be at least 1, but got {count}")):
        fold_bootstrap_means(VALUES, n_resamples=count)


@pytest.mark.parametrize("count", [10.0, "10", True, None])
def test_resamples_are_counted_in_whole_numbers(count):
    with pytest.raises(
        InputTypeError, match=exact(f"`n_resamples` must be a whole number, but got {count!r}")
    ):
        fold_bootstrap_means(VALUES, n_resamples=count)
