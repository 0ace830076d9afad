"""Draws behind the bands: every one again, from the same numbers by plain loops."""

import warnings
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
    return bands.max_t_draws(deviations, moved, alpha, n_draws=n_draws, rng=3, df=df)


# --- few folds: tables of as many rows ----------------------------------------------------------------------


@pytest.mark.parametrize(("df", "size"), [(None, 2), (4, 2), (1, 1), (30, 6)])
def test_a_draw_is_the_largest_t_of_a_gaussian_table(df, size):
    """With few degrees of freedom pairs are drawn one after another, with one only column by column."""
    columns, rows = columns_of(folds()), (N_UNITS - 1 if df is None else df) + 1
    generator = np.random.default_rng(3)
    parts = []
    for start in range(0, columns.shape[1], size):
        unit = columns[:, start : start + size] / np.linalg.norm(columns[:, start : start + size], axis=0)
        tables = (generator.standard_normal((5 * rows, N_UNITS)) @ unit).reshape(5, rows, -1)
        parts.append([t_of(table).max() for table in tables])
    assert largest(folds(), df=df) == pytest.approx(np.max(parts, axis=0))


@pytest.mark.parametrize("df", [bands.FOLDS_FOR_JOINT_DRAWS - 2, bands.FOLDS_FOR_JOINT_DRAWS - 1])
def test_pairs_are_drawn_together_from_enough_folds_on(df):
    columns, size = columns_of(folds()), 6 if df + 1 == bands.FOLDS_FOR_JOINT_DRAWS else 2
    generator = np.random.default_rng(3)
    unit = columns[:, :size] / np.linalg.norm(columns[:, :size], axis=0)
    table = (generator.standard_normal((5 * (df + 1), N_UNITS)) @ unit).reshape(5, df + 1, -1)
    first = [t_of(part).max() for part in table]
    found = largest(folds(), df=df)
    assert (found >= np.array(first) - 1e-12).all()
    assert (found == pytest.approx(first)) == (size == 6)


def test_differences_that_do_not_move_are_left_out():
    moved = np.array([True, False, True, True, True, True])
    columns = columns_of(folds())
    columns[:, 1] = 0
    assert largest(folds(), moved).tolist() == bands.max_t_draws_of_columns(columns, N_PRIORS, 5, 3).tolist()
    assert largest(folds(), np.zeros(6, dtype=bool)).tolist() == [0.0] * 5


def test_blocks_of_draws_change_nothing_but_the_numbers_drawn(monkeypatch):
    deviations = folds()
    monkeypatch.setattr(bands, "BLOCK_SIZE", 2 * N_UNITS * N_PRIORS)  # two draws at once
    generator = np.random.default_rng(3)
    parts = []
    for start in range(0, 6, 2):
        unit = columns_of(deviations)[:, start : start + 2]
        unit = unit / np.linalg.norm(unit, axis=0)
        tables = [
            (generator.standard_normal((n * N_UNITS, N_UNITS)) @ unit).reshape(n, N_UNITS, -1)
            for n in (2, 2, 1)
        ]
        parts.append([t_of(table).max() for part in tables for table in part])
    assert largest(deviations) == pytest.approx(np.max(parts, axis=0))


# --- many: axes in place of rows ----------------------------------------------------------------------------


def by_axes(deviations, df, n_draws, generator):
    """Largest |t| of all pairs from mean and root of samples on the axes that the curves vary along."""
    size, loading = bands._loadings(deviations)
    found = []
    for _ in range(n_draws):
        mean, root = bands._gaussian_sample(size, df, generator)
        squares = []
        for i, j in PAIRS:
            for k in range(N_PRIORS):
                along = loading[:, i, k] - loading[:, j, k]
                squares.append(df * (mean @ along) ** 2 / ((root.T @ along) ** 2).sum())
        found.append(np.sqrt(max(squares)))
    return found


def test_loadings_hold_the_covariance_on_as_few_axes_as_there_are():
    deviations = folds(n_units=9)
    deviations[:, 2] = deviations[:, 0] - 2 * deviations[:, 1]
    size, loading = bands._loadings(deviations)
    assert (size, loading.shape) == (4, (4, N_MODELS, N_PRIORS))
    flat, kept = deviations.reshape(9, -1), loading.reshape(4, -1)
    assert kept.T @ kept == pytest.approx(flat.T @ flat)


def test_loadings_of_fewer_units_than_columns():
    size, loading = bands._loadings(folds(n_units=4))
    assert (size, loading.shape) == (3, (3, N_MODELS, N_PRIORS))


@pytest.mark.parametrize("cells", [1, 10**6])
def test_much_work_is_drawn_on_axes(monkeypatch, cells):
    df = bands.FOLDS_FOR_JOINT_DRAWS
    monkeypatch.setattr(bands, "MAX_PRODUCTS", 0)
    monkeypatch.setattr(bands, "MAX_CELLS", cells)
    deviations = folds()
    deviations[:, 1] = deviations[:, 0] + 1e-7 * deviations[:, 1]  # a pair that hardly differs
    found = largest(deviations, df=df, n_draws=7)
    assert found == pytest.approx(by_axes(deviations, df, 7, np.random.default_rng(3)), rel=1e-6)


def test_on_axes_what_does_not_move_is_left_out(monkeypatch):
    df = bands.FOLDS_FOR_JOINT_DRAWS
    monkeypatch.setattr(bands, "MAX_PRODUCTS", 0)
    deviations = folds()
    deviations[:, 1] = deviations[:, 0]
    moved = np.array([False, False, True, True, True, True])
    found = largest(deviations, moved, df=df, n_draws=4)
    assert np.isfinite(found).all()
    generator = np.random.default_rng(3)
    size, loading = bands._loadings(deviations)
    for value in found:
        mean, root = bands._gaussian_sample(size, df, generator)
        along = loading[:, 0] - loading[:, 2]
        squares = df * (mean @ along) ** 2 / ((root.T @ along) ** 2).sum(axis=0)
        assert value == pytest.approx(np.sqrt(squares.max()))


def test_columns_of_much_work_are_drawn_on_axes(monkeypatch):
    monkeypatch.setattr(bands, "MAX_PRODUCTS", 0)
    unit = folds()[:, 0] / np.linalg.norm(folds()[:, 0], axis=0)
    found = bands._largest_t(folds()[:, 0], 4, np.random.default_rng(2), 12)
    generator = np.random.default_rng(2)
    size, loading = bands._loadings(unit)
    for value in found:
        mean, root = bands._gaussian_sample(size, 12, generator)
        squares = 12 * (mean @ loading) ** 2 / ((root.T @ loading) ** 2).sum(axis=0)
        assert value == pytest.approx(np.sqrt(squares.max()))


@pytest.mark.parametrize(
    ("alpha", "few"),
    [(0.05, bands.MIN_DRAWS), (bands.MIN_EXCEEDANCES / 4e4, 39_999)],
)
def test_large_comparisons_have_fewer_draws_that_still_decide(monkeypatch, alpha, few):
    monkeypatch.setattr(bands, "MIN_DRAWS", 99)
    assert bands.min_draws(alpha) == max(99, round(bands.MIN_EXCEEDANCES / alpha) - 1)
    monkeypatch.undo()
    assert bands.min_draws(alpha) == max(few, round(bands.MIN_EXCEEDANCES / alpha) - 1)


def test_how_many_draws_much_work_leaves(monkeypatch):
    monkeypatch.setattr(bands, "MAX_PRODUCTS", 0)
    monkeypatch.setattr(bands, "min_draws", lambda _: 3)
    few, many = bands.FOLDS_FOR_JOINT_DRAWS - 2, bands.FOLDS_FOR_JOINT_DRAWS - 1
    assert len(largest(folds(), df=few, n_draws=9)) == 3
    size = bands._loadings(folds())[0]
    monkeypatch.setattr(bands, "MAX_CURVE_PRODUCTS", 5 * N_MODELS**2 * N_PRIORS * (size + 5))
    assert len(largest(folds(), df=many, n_draws=9)) == 5
    assert len(largest(folds(), df=many, n_draws=4)) == 4
    monkeypatch.setattr(bands, "MAX_CURVE_PRODUCTS", 0)
    assert len(largest(folds(), df=many, n_draws=9)) == 3


def test_work_is_draws_by_units_by_rows_by_columns(monkeypatch):
    monkeypatch.setattr(bands, "min_draws", lambda _: 2)
    work = 9 * N_UNITS * 3 * 6
    for most, drawn in ((work, 9), (work - 1, 2)):
        monkeypatch.setattr(bands, "MAX_PRODUCTS", most)
        assert len(largest(folds(), df=2, n_draws=9)) == drawn


@pytest.mark.parametrize(("n_axes", "df"), [(3, 8), (3, 3), (5, 3)])
def test_roots_have_the_sums_of_squares_of_samples(n_axes, df):
    generator = np.random.default_rng(1)
    drawn = [bands._gaussian_sample(n_axes, df, generator) for _ in range(3000)]
    squares = np.mean([root @ root.T for _, root in drawn], axis=0)
    assert squares == pytest.approx(df * np.eye(n_axes), abs=0.12 * df)
    assert np.var([mean for mean, _ in drawn]) == pytest.approx(1, rel=0.05)
    spread = np.var([(root @ root.T)[0, 0] for _, root in drawn])
    assert spread == pytest.approx(2 * df, rel=0.15)  # of chi-square


# --- over cases ---------------------------------------------------------------------------------------------


def drawn_over_cases(joint, alpha, n_draws, rng):
    """Of all pairs, in ascending order."""
    varies = np.ones((len(joint.pairs()[0]), len(joint.priors)), dtype=bool)
    return bands.pair_draws(joint, varies, alpha, n_draws=n_draws, rng=rng)


def test_draws_over_cases_are_those_of_normal_curves():
    deviations = folds(n_units=8)
    joint = JointCurves(np.array([0.1, 0.5]), np.full((N_MODELS, N_PRIORS), 0.7), deviations, np.inf)
    normal = np.random.default_rng(5).standard_normal((6, 8))
    drawn = np.einsum("du,umk->dmk", normal, deviations)
    z = [
        np.abs(drawn[:, i] - drawn[:, j]) / np.sqrt(((deviations[:, i] - deviations[:, j]) ** 2).sum(axis=0))
        for i, j in PAIRS
    ]
    found = drawn_over_cases(joint, 0.05, 6, 5)
    assert found == pytest.approx(np.sort(np.max(z, axis=(0, 2))))


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


def test_the_value_is_the_draw_that_may_still_be_reached():
    """p = (1 + reached) / (1 + n): of 99 draws four may reach a |t| that is rejected at .05 (p < .05)."""
    draws = np.arange(99.0)
    assert bands.critical_value(draws, 0.05) == 95.0
    assert bands.critical_value(draws, 0.02) == 98.0
    assert np.isnan(bands.critical_value(draws, 0.01))
    reached = (draws >= 95.0 + 1e-9).sum()
    assert (1 + reached) / 100 < 0.05 <= (1 + reached + 1) / 100


def test_normal_columns_are_divided_by_their_size():
    columns = np.array([[3.0, 0.0, 1.0], [4.0, 0.0, 1.0]])
    normal = np.random.default_rng(1).standard_normal((4, 2))
    z = np.abs(normal @ columns[:, [0, 2]] / [5.0, np.sqrt(2)])
    assert bands._max_z_draws(columns, 4, 1) == pytest.approx(z.max(axis=1))


# --- one test set, whole ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def one_set():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [30, 150])
    parts = [
        pd.DataFrame(
            {"model": name, "fold": 1, "y_true": labels, "y_score": q * labels + rng.normal(size=180)}
        )
        for name, q in {"a": 2.0, "b": 1.0, "c": 0.5}.items()
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        return evaluate(pd.concat(parts), at_priors=(0.5, 0.4), deployment_prior=(0.3, 0.6))


def test_over_cases_bands_and_p_values_come_from_the_same_draws(one_set):
    """150 negatives are enough from the prior 100 / 250 on: below there is the difference alone."""
    grid = np.array([0.3, 0.4, 0.5])
    found = bands.difference_curves(one_set, grid, alpha=0.1, n_draws=99, rng=2)
    assert bands.decision_floor(one_set) == 0.4
    nothing = found[found["prior"] == 0.3]
    assert nothing.loc[:, "std_error":"conf_high"].isna().all(axis=None)
    assert not nothing["reject"].any()
    means = one_set.mean_auprec(grid)
    assert found["estimate"].to_numpy().reshape(3, 3) == pytest.approx(
        np.array([means[i] - means[j] for i, j in PAIRS])
    )
    joint = joint_curves(one_set, grid[1:])
    draws = drawn_over_cases(joint, 0.1, 99, 2)
    known = found[found["prior"] >= 0.4]
    df = joint.pair_df.ravel()
    t = known["statistic"].to_numpy()
    z = stats.norm.isf(stats.t.sf(np.abs(t), df))
    assert known["p_adjusted"].to_numpy() == pytest.approx([(1 + (draws >= v).sum()) / 100 for v in z])
    width = joint.half_widths(bands.critical_value(draws, 0.1)).ravel()
    assert (known["conf_high"] - known["estimate"]).to_numpy() == pytest.approx(width)
    assert (known["estimate"] - known["conf_low"]).to_numpy() == pytest.approx(width)
    assert (known["reject"] == (known["p_adjusted"] < 0.1)).all()


def test_over_folds_the_value_is_that_of_the_pairs_that_move():
    deviations = folds()
    deviations[:, 1] = deviations[:, 0]
    joint = JointCurves(np.array([0.1, 0.5]), np.full((N_MODELS, N_PRIORS), 0.7), deviations, 5)
    moved = np.array([False, False, True, True, True, True])
    draws = np.sort(bands.max_t_draws(deviations, moved, 0.05, n_draws=99, rng=0, df=5))
    assert bands.pair_critical(joint, 0.05, n_draws=99) == bands.critical_value(draws, 0.05)


def test_with_several_folds_everything_is_decided():
    labels = np.tile([1, 0, 0], 10)
    scores = np.random.default_rng(1).normal(size=(2, 2, 30)) + labels
    parts = [
        pd.DataFrame({"model": f"m{m}", "fold": f, "y_true": labels, "y_score": scores[m, f]})
        for m in (0, 1)
        for f in (0, 1)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        measures = evaluate(pd.concat(parts), at_priors=(0.5,), deployment_prior=0.5, design="independent")
    assert bands.decision_floor(measures) == 0


def test_seed_0_and_4999_draws_unless_stated(one_set):
    grid = [0.5]
    stated = bands.difference_curves(one_set, grid, alpha=0.05, n_draws=4999, rng=0)
    assert bands.difference_curves(one_set, grid).equals(stated)
    assert not bands.difference_curves(one_set, grid, rng=1).equals(stated)


def test_the_grid_that_is_decided_begins_at_the_rarest_prior(one_set):
    whole, decided = bands.difference_grid(one_set), bands.decision_grid(one_set)
    assert len(whole) == bands.BAND_PRIORS
    assert decided.tolist() == [p for p in whole if p >= 0.4 * (1 - 1e-9)]
    assert 0 < len(decided) < len(whole)


def test_where_nothing_is_decided_the_grid_is_whole(one_set, monkeypatch):
    monkeypatch.setattr(bands, "decision_floor", lambda _: 0.9)
    assert len(bands.decision_grid(one_set)) == bands.BAND_PRIORS


@pytest.mark.parametrize(("most", "n_priors"), [(400_000, 41), (100, 33), (30, 21), (1, 21)])
def test_rows_of_all_pairs_are_limited(one_set, monkeypatch, most, n_priors):
    monkeypatch.setattr(bands, "MAX_DIFFERENCES", most)
    assert len(bands.difference_grid(one_set)) == n_priors


def test_the_value_behind_bands_is_read_from_the_widest():
    frame = pd.DataFrame(
        {
            "std_error": [0.0, 0.2, np.nan, 0.1],
            "conf_low": [0, -0.5, np.nan, 7],
            "conf_high": [0, 0.3, np.nan, 9],
        }
    )
    assert bands.critical_of(frame) == pytest.approx(0.8 / 0.4)
    assert bands.critical_of(frame.iloc[:1]) is None
    assert bands.critical_of(frame.iloc[2:3]) is None


def test_a_model_that_never_moves_has_no_band_at_a_distance():
    """A perfect model and a constant one: a difference, no spread, nothing known of how it varies."""
    labels = np.repeat([1, 0], [30, 150])
    parts = [
        pd.DataFrame({"model": m, "fold": 1, "y_true": labels, "y_score": s})
        for m, s in (("a", labels), ("b", 0))
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        measures = evaluate(pd.concat(parts), at_priors=(0.5,), deployment_prior=0.5)
        found = bands.difference_curves(measures, [0.5], n_draws=99)
    assert found["estimate"].tolist() == [0.5]
    assert found[["p_adjusted", "conf_low", "conf_high"]].isna().all(axis=None)
    twice = pd.concat([parts[0], parts[0].assign(model="b")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkewanovaWarning)
        same = bands.difference_curves(
            evaluate(twice, at_priors=(0.5,), deployment_prior=0.5), [0.5], n_draws=99
        )
    assert same[["estimate", "conf_low", "conf_high"]].to_numpy().tolist() == [[0, 0, 0]]


# --- pairs --------------------------------------------------------------------------------------------------


def test_pairs_with_the_control_are_compared():
    assert bands.compared_pairs(("A", "B", "C"), None).tolist() == [True] * 3
    assert bands.compared_pairs(("A", "B", "C"), "B").tolist() == [True, False, True]


def test_pairs_for_which_products_cancel_are_drawn_one_by_one():
    loading = np.random.default_rng(0).normal(size=(4, 3, 2)) - 2.0
    loading[:, 1] = loading[:, 0] * (1 + 1e-5)
    moved = np.ones((3, 2), dtype=bool)
    excluded, close = bands._split_pairs(loading, moved)
    np.testing.assert_array_equal(close, loading[:, 0] - loading[:, 1])
    together = np.isfinite(excluded)
    assert [[*zip(*np.nonzero(part), strict=True)] for part in together] == [[(0, 2), (1, 2)]] * 2


def test_halves_go_with_their_prior():
    rng = np.random.default_rng(0)
    values, halves = rng.normal(size=(6, 3, 2)), rng.normal(size=(4, 3, 2))
    design = SimpleNamespace(variance_inflation=2.0, ratio=0.25)
    _, found, _ = bands._tests_over_folds(np.array([0.1, 0.5]), values, halves, design=design)
    for prior in range(2):
        alone = paired_t(values[..., prior], inflation=2.0, halves=halves[..., prior])
        np.testing.assert_array_equal([part[:, prior] for part in found], alone)


def test_an_area_of_1_but_for_rounding_has_a_band_without_width():
    area = np.array([np.nextafter(1.0, 2.0), 1.0, 0.0, 0.5])
    low, high = bands._logit_limits(area, np.full(4, 0.1))
    assert low[:3].tolist() == high[:3].tolist() == area[:3].tolist()
    assert 0 < low[3] < 0.5 < high[3] < 1
