"""Draws behind the bands: every one again, from the same numbers by plain loops."""

import warnings
from dataclasses import replace
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from skewanova import SkewanovaWarning, evaluate
from skewanova.base.rounding import TIE
from skewanova.decision import bands
from skewanova.decision.joint_curves import JointCurves, joint_curves
from skewanova.inference.fold_statistics import paired_t

N_UNITS, N_MODELS, N_PRIORS = 6, 3, 2
PAIRS = [*combinations(range(N_MODELS), 2)]


def folds(seed=0, n_units=N_UNITS):
    values = np.random.default_rng(seed).normal(size=(n_units, N_MODELS, N_PRIORS))
    return values - values.mean(axis=0)


def columns_of(deviations):
    """Differences of all pairs at all priors, a column each."""
    return np.stack(
        [deviations[:, i, k] - deviations[:, j, k] for i, j in PAIRS for k in range(N_PRIORS)], axis=1
    )


def t_of(table):
    """|t| of the mean of every column."""
    return np.abs(table.mean(axis=0)) / (table.std(axis=0, ddof=1) / np.sqrt(len(table)))


def largest(deviations, moved=None, df=None, *, n_draws=5, alpha=0.05):
    moved = np.ones(len(PAIRS) * N_PRIORS, dtype=bool) if moved is None else moved
    return bands.draw_max_t(deviations, moved, alpha, n_draws=n_draws, rng=3, df=df)


def by_tables(columns, size, rows, *, blocks=(5,)):
    """Largest |t| of Gaussian tables, drawn block by block for so many columns at once."""
    generator, parts = np.random.default_rng(3), []
    for start in range(0, columns.shape[1], size):
        unit = columns[:, start : start + size] / np.linalg.norm(columns[:, start : start + size], axis=0)
        tables = [
            (generator.standard_normal((n * rows, N_UNITS)) @ unit).reshape(n, rows, -1) for n in blocks
        ]
        parts.append([t_of(table).max() for block in tables for table in block])
    return np.max(parts, axis=0)


@pytest.mark.parametrize(("df", "size"), [(None, 2), (1, 1), (8, 2), (9, 6)])
def test_a_draw_is_the_largest_t_of_a_gaussian_table(df, size):
    """With fewer than ten folds pairs are drawn one after another, with two only column by column."""
    rows = (N_UNITS - 1 if df is None else df) + 1
    assert largest(folds(), df=df) == pytest.approx(by_tables(columns_of(folds()), size, rows))


def test_columns_that_do_not_move_are_left_out_and_others_divided_by_their_size():
    moved = np.array([True, False, True, True, True, True])
    columns = columns_of(folds())
    columns[:, 1] = 0
    assert largest(folds(), moved).tolist() == bands.draw_max_t_of_columns(columns, N_PRIORS, 5, 3).tolist()
    assert largest(folds(), np.zeros(6, dtype=bool)).tolist() == [0.0] * 5
    columns = np.array([[3.0, 0.0, 1.0], [4.0, 0.0, 1.0]])
    z = np.abs(np.random.default_rng(1).standard_normal((4, 2)) @ columns[:, [0, 2]] / [5.0, np.sqrt(2)])
    assert bands._draw_max_z(columns, 4, 1) == pytest.approx(z.max(axis=1))
    assert bands._draw_max_z(np.zeros((2, 3)), 7, 0).tolist() == [0.0] * 7


@pytest.mark.parametrize(("size", "blocks"), [(2 * N_UNITS * N_PRIORS, (2, 2, 1)), (1, (1,) * 5)])
def test_blocks_of_draws_change_nothing_but_the_numbers_drawn(monkeypatch, size, blocks):
    monkeypatch.setattr(bands, "BLOCK_SIZE", size)
    assert largest(folds()) == pytest.approx(by_tables(columns_of(folds()), 2, N_UNITS, blocks=blocks))


def by_axes(deviations, df, n_draws, columns_of=columns_of):
    """Largest |t| of columns from mean and root of samples on the axes that the deviations vary along."""
    generator, loading = np.random.default_rng(3), bands._compute_loadings(deviations)
    columns, found = columns_of(loading), []
    for _ in range(n_draws):
        mean, root = bands._draw_gaussian_sample(len(loading), df, generator)
        found.append(np.sqrt(max(df * (mean @ x) ** 2 / ((root.T @ x) ** 2).sum() for x in columns.T)))
    return found


def test_loadings_hold_the_covariance_on_few_axes_on_which_much_work_is_drawn(monkeypatch):
    deviations = folds(n_units=9)
    deviations[:, 2] = deviations[:, 0] - 2 * deviations[:, 1]
    loading = bands._compute_loadings(deviations)
    assert loading.shape == (4, N_MODELS, N_PRIORS)
    flat, kept = deviations.reshape(9, -1), loading.reshape(4, -1)
    assert kept.T @ kept == pytest.approx(flat.T @ flat)
    assert bands._compute_loadings(folds(n_units=4)).shape == (3, N_MODELS, N_PRIORS)
    monkeypatch.setattr(bands, "MAX_PRODUCTS", 0)
    unit = folds()[:, 0] / np.linalg.norm(folds()[:, 0], axis=0)
    found = bands._draw_max_t_of_block(folds()[:, 0], 4, np.random.default_rng(3), 12)
    assert found == pytest.approx(by_axes(unit, 12, 4, lambda loading: loading))


@pytest.mark.parametrize("cells", [1, 10**6])
def test_much_work_is_drawn_on_axes(monkeypatch, cells):
    df = bands.MIN_FOLDS_FOR_JOINT_DRAWS
    monkeypatch.setattr(bands, "MAX_PRODUCTS", 0)
    monkeypatch.setattr(bands, "MAX_CELLS", cells)
    deviations = folds()
    deviations[:, 1] = deviations[:, 0] + 1e-7 * deviations[:, 1]  # a pair that hardly differs
    assert largest(deviations, df=df, n_draws=7) == pytest.approx(by_axes(deviations, df, 7), rel=1e-6)
    deviations[:, 1] = deviations[:, 0]  # and one that does not: it is left out
    found = largest(deviations, np.array([False, False, True, True, True, True]), df=df, n_draws=4)
    assert found == pytest.approx(by_axes(deviations, df, 4, lambda loading: loading[:, 0] - loading[:, 2]))


def test_how_many_draws_much_work_leaves(monkeypatch):
    for alpha, few in ((0.05, bands.MIN_DRAWS), (bands.MIN_EXCEEDANCES / 4e4, 39_999)):
        assert bands.min_draws(alpha) == max(few, round(bands.MIN_EXCEEDANCES / alpha) - 1)
    monkeypatch.setattr(bands, "min_draws", lambda _: 3)
    work = 9 * N_UNITS * 3 * 6  # draws by units by rows by columns
    for most, drawn in ((work, 9), (work - 1, 3)):
        monkeypatch.setattr(bands, "MAX_PRODUCTS", most)
        assert len(largest(folds(), df=2, n_draws=9)) == drawn
    monkeypatch.setattr(bands, "MAX_PRODUCTS", 0)
    few, many = bands.MIN_FOLDS_FOR_JOINT_DRAWS - 2, bands.MIN_FOLDS_FOR_JOINT_DRAWS - 1
    assert len(largest(folds(), df=few, n_draws=9)) == 3
    size = len(bands._compute_loadings(folds()))
    monkeypatch.setattr(bands, "MAX_CURVE_PRODUCTS", 5 * N_MODELS**2 * N_PRIORS * (size + 5))
    assert [len(largest(folds(), df=many, n_draws=n)) for n in (9, 4)] == [5, 4]
    monkeypatch.setattr(bands, "MAX_CURVE_PRODUCTS", 0)
    assert len(largest(folds(), df=many, n_draws=9)) == 3


@pytest.mark.parametrize(("n_axes", "df"), [(3, 8), (3, 3), (5, 3)])
def test_roots_have_the_sums_of_squares_of_samples(n_axes, df):
    generator = np.random.default_rng(1)
    drawn = [bands._draw_gaussian_sample(n_axes, df, generator) for _ in range(3000)]
    squares = np.mean([root @ root.T for _, root in drawn], axis=0)
    assert squares == pytest.approx(df * np.eye(n_axes), abs=0.12 * df)
    assert np.var([mean for mean, _ in drawn]) == pytest.approx(1, rel=0.05)
    spread = np.var([(root @ root.T)[0, 0] for _, root in drawn])
    assert spread == pytest.approx(2 * df, rel=0.15)  # of chi-square


def drawn_over_cases(joint, alpha, n_draws, rng):
    """Of all pairs, in ascending order."""
    varies = np.ones((len(joint.pairs()[0]), len(joint.priors)), dtype=bool)
    return bands.draw_max_pair_t(joint, varies, alpha, n_draws=n_draws, rng=rng)


def test_draws_over_cases_are_those_of_normal_curves():
    deviations = folds(n_units=8)
    joint = JointCurves(np.array([0.1, 0.5]), np.full((N_MODELS, N_PRIORS), 0.7), deviations, np.inf)
    drawn = np.einsum("du,umk->dmk", np.random.default_rng(5).standard_normal((6, 8)), deviations)
    z = [
        np.abs(drawn[:, i] - drawn[:, j]) / np.sqrt(((deviations[:, i] - deviations[:, j]) ** 2).sum(axis=0))
        for i, j in PAIRS
    ]
    assert drawn_over_cases(joint, 0.05, 6, 5) == pytest.approx(np.sort(np.max(z, axis=(0, 2))))


@pytest.mark.parametrize(("most", "drawn"), [(0, 4), (6 * 6, 6), (10**6, 9)])
def test_draws_over_cases_are_fewer_if_that_is_much_work(monkeypatch, most, drawn):
    monkeypatch.setattr(bands, "min_draws", lambda _: 4)
    monkeypatch.setattr(bands, "MAX_DIFFERENCES_DRAWN", most)
    joint = JointCurves(np.array([0.1, 0.5]), np.full((N_MODELS, N_PRIORS), 0.7), folds(), np.inf)
    assert len(drawn_over_cases(joint, 0.05, 9, 0)) == drawn


@pytest.mark.parametrize(("share", "counts"), [(0.5, False), (4.0, True)])
def test_over_cases_rounding_does_not_count(share, counts):
    deviations = np.zeros((2, 2, 1))
    deviations[1, 0] = share * TIE
    joint = JointCurves(np.array([0.1]), np.full((2, 1), 0.7), deviations, np.inf)
    assert (drawn_over_cases(joint, 0.05, 99, 0).max() > 0) == counts


@pytest.fixture(scope="module")
def one_set():
    rng, labels = np.random.default_rng(0), np.repeat([1, 0], [30, 90])
    scores = {name: q * labels + rng.normal(size=120) for name, q in (("a", 2.0), ("b", 1.0), ("c", 0.5))}
    return on_one_set(scores, at_priors=(0.5, 0.4), deployment_prior=(0.2, 0.6))


def on_one_set(scores, **options):
    """Evaluation of models on 30 positives and 90 negatives."""
    frame = pd.DataFrame({"fold": 1, "y_true": np.repeat([1, 0], [30, 90])})
    with warnings.catch_warnings(action="ignore", category=SkewanovaWarning):
        return evaluate(pd.concat(frame.assign(model=m, y_score=s) for m, s in scores.items()), **options)


def test_over_cases_bands_and_p_values_come_from_the_same_draws(one_set):
    """90 negatives are enough from the prior 30 / 120 on: below there is the difference alone."""
    grid = np.array([0.2, 0.25, 0.5])
    found = bands.difference_curves(one_set, grid, alpha=0.1, n_draws=99, rng=2)
    assert one_set.support.smallest_prior == 0.25
    nothing = found[found["prior"] == 0.2]
    assert nothing.loc[:, "std_error":"conf_high"].isna().all(axis=None)
    assert not nothing["reject"].any()
    means = one_set.mean_auprec(grid)
    assert found["estimate"].to_numpy().reshape(3, 3) == pytest.approx(
        np.array([means[i] - means[j] for i, j in PAIRS])
    )
    joint = joint_curves(one_set, grid[1:])
    draws = drawn_over_cases(joint, 0.1, 99, 2)
    known = found[found["prior"] >= 0.25]
    df = joint.pair_df.ravel()
    z = stats.norm.isf(stats.t.sf(np.abs(known["statistic"].to_numpy()), df))
    assert known["p_adjusted"].to_numpy() == pytest.approx([(1 + (draws >= v).sum()) / 100 for v in z])
    width = joint.half_widths(bands.critical_value(draws, 0.1)).ravel()
    assert (known["conf_high"] - known["estimate"]).to_numpy() == pytest.approx(width)
    assert (known["estimate"] - known["conf_low"]).to_numpy() == pytest.approx(width)
    assert (known["reject"] == (known["p_adjusted"] < 0.1)).all()


def test_pairs_that_move_or_cancel_and_the_grid_of_one_set(one_set):
    deviations = folds()
    deviations[:, 1] = deviations[:, 0]
    joint = JointCurves(np.array([0.1, 0.5]), np.full((N_MODELS, N_PRIORS), 0.7), deviations, 5)
    moved = np.array([False, False, True, True, True, True])
    draws = np.sort(bands.draw_max_t(deviations, moved, 0.05, n_draws=99, rng=0, df=5))
    assert bands.pair_critical_value(joint, 0.05, n_draws=99) == bands.critical_value(draws, 0.05)
    loading = 1e-3 * (np.random.default_rng(0).normal(size=(4, 3, 2)) - 2.0)
    loading[:, 1] = loading[:, 0] * (1 + 1e-5)
    excluded, close = bands._split_pairs(loading, np.ones((3, 2), dtype=bool))
    np.testing.assert_array_equal(close, loading[:, 0] - loading[:, 1])
    together = np.isfinite(excluded)
    assert [[*zip(*np.nonzero(part), strict=True)] for part in together] == [[(0, 2), (1, 2)]] * 2
    whole, supported = bands.difference_grid(one_set), bands.grid_of_bands(one_set)
    assert len(whole) == bands.BAND_PRIORS == 41
    assert supported.tolist() == [p for p in whole if p >= 0.25 * (1 - 1e-9)]
    assert 0 < len(supported) < len(whole)
    few = replace(one_set)
    few.__dict__["support"] = replace(one_set.support, n_negative=1.0)  # where none is supported, it is whole
    assert len(bands.grid_of_bands(few)) == bands.BAND_PRIORS


@pytest.mark.parametrize(("most", "n_priors"), [(400_000, 41), (200, 33), (60, 21)])
def test_rows_of_all_pairs_are_limited(monkeypatch, most, n_priors):
    monkeypatch.setattr(bands, "MAX_DIFFERENCES", most)
    monkeypatch.setattr(bands, "prior_grid", lambda _, size: size)
    assert bands.difference_grid(SimpleNamespace(models="abcd")) == n_priors


def test_widest_values_behind_bands_and_models_that_never_move():
    rows = [(0, 0, 0), (0.2, -0.5, 0.3), (np.nan, np.nan, np.nan), (0.1, 7, 9)]
    frame = pd.DataFrame(rows, columns=["std_error", "conf_low", "conf_high"])
    assert bands.critical_value_of_bands(frame) == pytest.approx(0.8 / 0.4)
    assert bands.critical_value_of_bands(frame.iloc[:1]) is None
    assert bands.critical_value_of_bands(frame.iloc[2:3]) is None
    # A perfect model and a constant one: a difference, no spread, nothing known of how it varies.
    perfect = np.repeat([1, 0], [30, 90])
    beside, same = (
        bands.difference_curves(
            on_one_set({"a": perfect, "b": other}, at_priors=(0.5,), deployment_prior=0.5), [0.5], n_draws=99
        )
        for other in (0, perfect)
    )
    assert beside["estimate"].tolist() == [0.5]
    assert beside[["p_adjusted", "conf_low", "conf_high"]].isna().all(axis=None)
    assert same[["estimate", "conf_low", "conf_high"]].to_numpy().tolist() == [[0, 0, 0]]


def test_halves_go_with_their_prior_and_rounding_has_no_width():
    rng = np.random.default_rng(0)
    values, halves = rng.normal(size=(6, 3, 2)), rng.normal(size=(4, 3, 2))
    design = SimpleNamespace(variance_inflation=2.0, ratio=0.25)
    _, found, _ = bands._test_over_folds(np.array([0.1, 0.5]), values, halves, design=design)
    for prior in range(2):
        alone = paired_t(values[..., prior], inflation=2.0, halves=halves[..., prior])
        np.testing.assert_array_equal([part[:, prior] for part in found], alone)
    area = np.array([np.nextafter(1.0, 2.0), 1.0, 0.0, 0.5])
    low, high = bands._logit_limits(area, np.full(4, 0.1))
    assert low[:3].tolist() == high[:3].tolist() == area[:3].tolist()
    assert 0 < low[3] < 0.5 < high[3] < 1
