import itertools

import numpy as np
import pytest
from by_statsmodels import adjusted_by_statsmodels
from fold_tables import INPUTS, correlated_folds, r_number, random_table, table_of
from hypothesis import given
from hypothesis import strategies as st
from loops import each
from scipy import stats
from scipy.linalg import helmert

from skewanova.inference import fold_statistics

RATIO = 0.25
MEASURES = "r_repeated_measures.csv"


def close(found, expected, rel=1e-9):
    assert float(found) == pytest.approx(expected, rel=rel, abs=0)


@pytest.mark.parametrize("name", INPUTS)
def test_blocked_f_equals_afex(name):
    found = fold_statistics.blocked_f(table_of(name)), fold_statistics.blocked_test(table_of(name))
    for quantity, value in {**found[0]._asdict(), **found[1]._asdict()}.items():
        close(value, r_number(MEASURES, name, "afex_model", quantity))


@pytest.mark.parametrize("name", INPUTS)
def test_greenhouse_geisser_and_huynh_feldt_equal_afex(name):
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


def mauchly_p_of_r(w, n_folds, n_models):
    """Literal copy of what mauchly.test computes: 3 p where the textbook has 3 pp (p = pp + 1)."""
    n, p, pp = n_folds - 1, n_models, n_models - 1
    rho = 1 - (2 * pp**2 + pp + 2) / (6 * pp * n)
    w2 = (pp + 2) * (pp - 1) * (pp - 2) * (2 * pp**3 + 6 * pp**2 + 3 * p + 2)
    w2 /= 288 * (n * pp * rho) ** 2
    z, f = -n * rho * np.log(w), pp * (pp + 1) / 2 - 1
    first, second = stats.chi2.sf(z, f), stats.chi2.sf(z, f + 4)
    return first + w2 * (second - first)


@pytest.mark.parametrize("name", INPUTS)
def test_mauchly_equals_mauchly_test_but_for_its_slip(name):
    values = table_of(name)
    cov = fold_statistics.fold_covariance(values @ helmert(values.shape[1]).T)
    w, p = fold_statistics.mauchly(cov, len(values))
    close(w, r_number(MEASURES, name, "mauchly_base", "statistic"))
    close(w, r_number(MEASURES, name, "afex_model", "mauchly_w"))
    expected = r_number(MEASURES, name, "mauchly_base", "p_value")
    close(mauchly_p_of_r(w, *values.shape), expected)
    close(p, expected, rel=1e-9 if values.shape[1] == 3 else 0.005)


def test_mauchly_rejects_sphericity_at_its_level():
    contrasts = np.random.default_rng(5).normal(size=(40_000, 9, 4))
    p = fold_statistics.mauchly(fold_statistics.fold_covariance(contrasts), 9)[1]
    for level in (0.05, 0.5, 0.95):
        slack = 3 * np.sqrt(level * (1 - level) / len(p)) + 0.003
        assert (p < level).mean() == pytest.approx(level, abs=slack)


def test_friedman_with_ties_equals_scipys_chi_square():
    values = np.round(random_table(9, 4, seed=3), 2)
    assert any(len(set(row)) < 4 for row in values)
    chi2 = stats.friedmanchisquare(*values.T).statistic
    close(fold_statistics.friedman_test(values).statistic, 8 * chi2 / (9 * 3 - chi2))


@pytest.mark.parametrize("n_folds", [2, 3])
def test_friedman_with_full_agreement_has_the_chance_of_it_as_p(n_folds):
    values = np.tile([0.7, 0.8, 0.9], (n_folds, 1)) + np.linspace(0, 0.05, n_folds)[:, None]
    found = fold_statistics.friedman_test(values)
    assert np.isinf(found.statistic)
    orders = list(itertools.product(itertools.permutations(range(3)), repeat=n_folds))
    agreeing = sum(len(set(folds)) == 1 for folds in orders)
    close(found.p_value, agreeing / len(orders))


KERNELS = {
    "blocked_f": lambda v: np.stack(fold_statistics.blocked_f(v)[:3]),
    "blocked_test": lambda v: np.stack(fold_statistics.blocked_test(v, inflation=3.0)),
    "gg_test": lambda v: np.stack(fold_statistics.gg_test(v)),
    "hotelling_test": lambda v: np.stack(fold_statistics.hotelling_test(v, inflation=2.0)),
    "friedman_test": lambda v: np.stack(fold_statistics.friedman_test(v)),
    "contrast_f": lambda v: np.stack(fold_statistics.contrast_f(v @ helmert(4).T)),
    "paired_t": lambda v: np.stack(fold_statistics.paired_t(v, inflation=1.5)),
    "paired_t_p_values": fold_statistics.paired_t_p_values,
    "pair_differences": fold_statistics.pair_differences,
    "fold_covariance": fold_statistics.fold_covariance,
    "epsilon_gg": lambda v: fold_statistics.epsilon_gg(fold_statistics.fold_covariance(v)),
    "epsilon_hf": lambda v: fold_statistics.epsilon_hf(
        fold_statistics.epsilon_gg(fold_statistics.fold_covariance(v)), 4, 7
    ),
    "mauchly": lambda v: np.stack(
        fold_statistics.mauchly(fold_statistics.fold_covariance(v @ helmert(4).T), 7)
    ),
    "holm": lambda v: fold_statistics.adjust_holm(np.abs(v) % 1),
}
#: Their results are not stacked before the leading axes.
ALONE = ("paired_t_p_values", "pair_differences", "fold_covariance", "epsilon_gg", "epsilon_hf", "holm")


@each("name", KERNELS)
def test_kernels_equal_a_loop_over_tables(name):
    tables = np.random.default_rng(1).normal(size=(3, 2, 7, 4))
    before = tables.copy()
    found = KERNELS[name](tables)
    np.testing.assert_array_equal(tables, before)
    if name not in ALONE:
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
        expected = adjusted_by_statsmodels(p_values[tested])
        np.testing.assert_allclose(found[tested], expected, rtol=1e-14)


@given(st.integers(2, 12), st.integers(2, 6), st.integers(0, 999))
def test_epsilons_lie_within_their_bounds(n_folds, n_models, seed):
    values = np.random.default_rng(seed).normal(size=(n_folds, n_models))
    size = n_models - 1
    contrasts = values @ helmert(n_models).T
    gg = fold_statistics.epsilon_gg(fold_statistics.fold_covariance(contrasts))
    hf = fold_statistics.epsilon_hf(gg, size, n_folds)
    assert 1 / size - 1e-12 <= gg <= 1 + 1e-12
    if n_folds > 2 or size == 1:
        assert gg - 1e-9 <= hf <= 1
    else:
        assert np.isnan(hf)  # two folds: 0 / 0


def test_mauchly_of_nothing_is_nan():
    w, p = fold_statistics.mauchly(np.zeros((3, 3)), 6)
    assert np.isnan([w, p]).all()


def test_blocked_f_of_nothing_is_nan_and_of_constant_differences_infinite():
    fold = np.linspace(0.5, 1.0, 5)[:, None]
    assert np.isnan(fold_statistics.blocked_f(np.tile(fold, 3)).statistic)
    assert fold_statistics.blocked_f(np.array([[0.0, 1.0]] * 4)).statistic == np.inf


@pytest.mark.parametrize("offset", [0.0, 1e-16, 5e-16])
def test_models_alike_up_to_rounding_have_no_t(offset):
    one = random_table(6, 1)[:, 0]
    found = fold_statistics.paired_t(np.column_stack([one, one + offset, one + 0.1]))
    assert np.isnan(found.statistic[0])
    assert np.isnan(fold_statistics.paired_t_p_values(np.column_stack([one, one + offset]))[0])
    assert (found.std_error == 0).all()
    np.testing.assert_array_equal(found.statistic[1:], -np.inf)
    np.testing.assert_array_equal(fold_statistics.paired_t_p_values(np.column_stack([one, one + 0.01])), 0.0)


@pytest.mark.parametrize(("n_folds", "columns", "expected"), [
    (8, [0, 1, 2], True), (8, [0, 1, 1], False), (8, [0, 0], False), (3, [0, 1, 2], True),
    (2, [0, 1, 2], False),
])  # fmt: skip
def test_full_rank(n_folds, columns, expected):
    assert fold_statistics.has_full_rank(random_table(n_folds, 3)[:, columns]) is expected


def rate(p_values):
    return (p_values < 0.05).mean()


def test_corrected_tests_hold_their_level_when_folds_correlate_as_assumed():
    # K = 4, J = 20, rho = .2 = r / (1 + r), r = .25: the corrected F is exact
    tables = correlated_folds(20_000, 20, 4, rho=0.2, rng=np.random.default_rng(12))
    inflation = 1 + 20 * RATIO
    three_errors = 3 * np.sqrt(0.05 * 0.95 / len(tables))
    plain = fold_statistics.blocked_test(tables).p_value
    assert rate(plain) == pytest.approx(0.711, abs=0.012)
    for kernel in (fold_statistics.blocked_test, fold_statistics.hotelling_test):
        assert rate(kernel(tables, inflation=inflation).p_value) == pytest.approx(0.05, abs=three_errors)
    # a little conservative
    assert 0.036 < rate(fold_statistics.gg_test(tables, inflation=inflation).p_value) < 0.05
    pairs = fold_statistics.paired_t_p_values(tables, inflation=inflation)
    family = fold_statistics.adjust_holm(pairs).min(axis=-1)
    assert 0.03 < rate(family) < 0.05 + three_errors


@pytest.fixture(scope="module")
def halved():
    """Three tables of 6 folds and 4 models, and their differences between 9 halvings."""
    rng = np.random.default_rng(8)
    return rng.normal(size=(3, 6, 4)) + np.arange(4) / 2, 0.4 * rng.normal(size=(3, 9, 4))


def test_tests_with_halvings_by_hand(halved):
    """All tables at once."""
    hotelling, gg, paired = (
        test(halved[0], halves=halved[1])
        for test in (fold_statistics.hotelling_test, fold_statistics.gg_test, fold_statistics.paired_t)
    )
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
        square = ((centre @ values.mean(axis=0)) ** 2).sum()
        assert gg.statistic[at] == pytest.approx(square / spread.sum())
        assert (gg.df[at], gg.df_error[at]) == (pytest.approx(df), pytest.approx(9 * df))
        for k, (i, j) in enumerate(itertools.combinations(range(4), 2)):
            folds, between = values[:, i] - values[:, j], halves[:, i] - halves[:, j]
            error = np.sqrt(folds.var(ddof=1) / 6 + (between**2).mean())
            assert paired.std_error[at, k] == pytest.approx(error)
            assert paired.statistic[at, k] == pytest.approx(folds.mean() / error)
