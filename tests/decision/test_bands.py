"""Differences and bands along the prior: against loops and t tests, and at exact limits."""

import warnings
from dataclasses import replace
from inspect import signature
from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from fold_tables import designed, draw_rows, evaluated, score_rows, scored
from loops import each
from messages import expect_error
from scipy import stats
from scipy.special import logit

import skewanova as sa
from skewanova.base.rounding import TIE
from skewanova.decision import auprec_bands, bands, difference_curves, find_differing_priors
from skewanova.decision.bands import _mean_critical_value, critical_value, pair_critical_value
from skewanova.decision.joint_curves import JointCurves, joint_curves
from skewanova.evaluation import auprec_by_prior
from skewanova.evaluation.measures import prior_grid
from skewanova.inference.fold_statistics import paired_t

RATIO = 0.25


def scores(quality, *, n_folds=6, n_cases=60, seed=0):
    """Scores of binormal models on the same cases; every quality a model."""
    labels, rng = np.repeat([0, 1], n_cases // 2), np.random.default_rng(seed)
    return draw_rows(quality, range(n_folds), labels, rng, common=0.7, own=0.7)


def measured(frame, priors=(0.5, 0.3), deployment_prior=(0.4, 0.6)):
    return sa.evaluate(frame, at_priors=priors, deployment_prior=deployment_prior, design="independent")


@pytest.fixture(scope="module")
def satellite():
    return sa.evaluate(sa.load_satellite_scores(), at_priors=(0.5, 0.2))


def test_estimates_and_standard_errors_equal_a_loop(satellite):
    priors = [0.2, 0.35, 0.5]
    found = difference_curves(designed(satellite, RATIO), priors, n_draws=99)
    assert found.columns.tolist() == [
        "model_a", "model_b", "prior", "estimate", "std_error", "statistic", "p_adjusted", "conf_low",
        "conf_high", "reject",
    ]  # fmt: skip
    wide = auprec_by_prior(satellite, priors).set_index(["model", "prior", "fold"])["auprec"].sort_index()
    rows = iter(found.to_dict("records"))
    for a, b in combinations(satellite.models, 2):
        for prior in priors:
            d = (wide[a, prior] - wide[b, prior]).to_numpy()
            row = next(rows)
            assert (row["model_a"], row["model_b"], row["prior"]) == (a, b, prior)
            assert row["estimate"] == pytest.approx(d.mean(), rel=1e-9)
            assert row["std_error"] == pytest.approx(np.sqrt(d.var(ddof=1) * (1 / 20 + RATIO)), rel=1e-9)
            assert row["statistic"] == pytest.approx(row["estimate"] / row["std_error"], rel=1e-9)
    assert next(rows, None) is None


def test_defaults_are_41_priors_level_5_percent_4999_draws_and_seed_0(satellite):
    for found in (difference_curves(satellite, n_draws=99), auprec_bands(satellite, n_draws=99)):
        assert found["prior"].tolist() == [*prior_grid(satellite, 41)] * 3
    for function in (difference_curves, auprec_bands, pair_critical_value):
        defaults = {name: option.default for name, option in signature(function).parameters.items()}
        assert (defaults["n_draws"], defaults["rng"]) == (4999, 0)
        assert defaults["alpha"] in (0.05, signature(function).empty)


@each("alpha", [0.05, 0.005, 0.37])
@each("n_draws", [101, 499])
def test_decision_p_value_and_band_say_the_same(satellite, alpha, n_draws):
    found = difference_curves(satellite, alpha=alpha, n_draws=n_draws)
    assert (found["reject"] == (found["p_adjusted"] < alpha)).all()
    if found["conf_low"].notna().all():
        outside = (found["conf_low"] > 0) | (found["conf_high"] < 0)
        assert (outside == found["reject"]).all()
        margin = (found["conf_high"] - found["estimate"]) / found["std_error"]
        np.testing.assert_allclose(margin, margin.iloc[0], rtol=1e-9)  # one critical value for all
    else:  # too few draws for the level
        assert alpha * (n_draws + 1) <= 1
        assert not found["reject"].any()


@each("n_draws", [99, 100, 101, 199, 1000, 4999])
@each("alpha", [0.05, 0.01, 0.1])
def test_critical_value_is_where_p_falls_below_alpha(n_draws, alpha):
    largest = np.arange(1.0, n_draws + 1)
    critical = critical_value(largest, alpha)
    p_at = lambda t: (1 + (largest >= t).sum()) / (1 + n_draws)  # noqa: E731
    assert np.isnan(critical) or p_at(critical) >= alpha - 1e-12 > p_at(critical + 0.5) - 2e-12
    assert np.isnan(critical) == (1 / (1 + n_draws) >= alpha - 1e-12)


def test_one_prior_and_two_models_are_a_t_test_that_names_the_better_model():
    measures = measured(scores({"A": 1.0, "B": 1.6}, n_folds=10))
    row = difference_curves(measures, 0.5, n_draws=20_000).iloc[0]
    areas = measures.auprec[measures.auprec["prior"] == 0.5]
    wide = areas.pivot(index="fold", columns="model", values="auprec")
    expected = stats.ttest_rel(wide["A"], wide["B"])
    assert row["statistic"] == pytest.approx(expected.statistic, rel=1e-9)
    p = expected.pvalue
    assert row["p_adjusted"] == pytest.approx(p, abs=4 * np.sqrt(p * (1 - p) / 20_000) + 1e-4)
    margin = (row["conf_high"] - row["estimate"]) / row["std_error"]
    assert margin == pytest.approx(stats.t.isf(0.025, 9), rel=0.03)
    measures = measured(scores({"worse": 0.5, "better": 2.5}, n_folds=12))
    found = difference_curves(measures)
    assert found["reject"].all()
    assert (found["estimate"] < 0).all()
    (stretch,) = find_differing_priors(measures).to_numpy().tolist()
    assert stretch == ["better", "worse", pytest.approx(0.3), pytest.approx(0.6)]


def test_two_folds_separate_no_models_where_their_differences_cross():
    frame = scores({"A": 1.0, "B": 1.0, "C": 1.0}, n_folds=2, n_cases=200, seed=3)
    measures = measured(frame, deployment_prior=(0.02, 0.6))
    found = difference_curves(measures)
    first, second = measures.auprec_by_cell(found["prior"].unique()).swapaxes(0, 1)
    for i, j in combinations(range(3), 2):  # a variance of 0 between two priors
        assert np.ptp(np.sign((first - second)[i] - (first - second)[j])) == 2
    assert found["conf_low"].isna().all()
    assert not found["reject"].any()
    assert find_differing_priors(measures).empty
    assert difference_curves(measures, 0.5)["conf_low"].notna().all()


def test_identical_and_perfect_models_beside_a_constant_difference():
    frame = scores({"A": 1.0, "B": 1.5})
    twin = frame[frame["model"] == "A"].assign(model="twin", y_score=lambda f: 3 * f["y_score"] + 1)
    found = difference_curves(measured(pd.concat([frame, twin])), n_draws=299)
    found = found.set_index(["model_a", "model_b"])
    same = found.loc[("A", "twin")]
    assert same[["statistic", "p_adjusted"]].isna().all(axis=None)
    assert (same[["estimate", "std_error", "conf_low", "conf_high"]] == 0).all(axis=None)
    assert not same["reject"].any()
    expected = -found.loc[("B", "twin"), "statistic"].to_numpy()
    np.testing.assert_allclose(found.loc[("A", "B"), "statistic"].to_numpy(), expected)
    only = pd.concat([frame[frame["model"] == "A"], twin])
    assert difference_curves(measured(only), n_draws=99)["p_adjusted"].isna().all()
    rows = pd.DataFrame({"y_true": np.repeat([0, 1], 30)})
    fold = pd.concat([rows.assign(model=m, y_score=s * rows["y_true"]) for m, s in (("A", 1), ("B", -1))])
    found = difference_curves(measured(pd.concat([fold.assign(fold=f) for f in range(4)])), n_draws=199)
    assert (found["statistic"] == np.inf).all()
    assert (found["std_error"] == 0).all()
    assert found["reject"].all()
    np.testing.assert_allclose(found["p_adjusted"], 1 / 200)
    np.testing.assert_array_equal(found["conf_low"], found["estimate"])


def test_errors(satellite):
    frame = scores({"A": 1.0, "B": 1.5})
    gap = frame[(frame["model"] != "B") | (frame["fold"] != 0)]
    for call, message in (
        (lambda: difference_curves(satellite, alpha=1.5), "`alpha` must lie above 0 and at most 0.5"),
        (lambda: difference_curves(satellite, n_draws=98), "`n_draws` must be at least 99, but got 98"),
        (lambda: difference_curves(satellite, [0.0, 0.5]), "`priors` must lie strictly between 0 and 1"),
        (lambda: difference_curves(measured(gap)),
         "`auprec` must be present and finite for every fold and model, but is not"),
        (lambda: auprec_bands(satellite, alpha=1.0), "`alpha` must lie above 0 and at most 0.5"),
        (lambda: auprec_bands(satellite, n_draws=98), "`n_draws` must be at least 99, but got 98")
    ):  # fmt: skip
        expect_error(f"^{message}", call, error=ValueError)


PRIORS = np.array([0.1, 0.5])


def curves(deviations, df):
    deviations = np.asarray(deviations, dtype=float)
    return JointCurves(PRIORS[: deviations.shape[2]], np.full(deviations.shape[1:], 0.7), deviations, df)


@pytest.fixture(scope="module")
def several():
    return evaluated(scored(4))[0]


@pytest.mark.parametrize(("share", "value"), [(0.5, 1.96), (2.0, 2.236)])
def test_deviations_that_are_rounding_do_not_count(share, value):
    joint = curves(np.array([[1.0, 0.0], [0.0, share * TIE]])[:, :, None], np.inf)
    assert _mean_critical_value(joint, 0.05, n_draws=100_000, rng=1) == pytest.approx(value, rel=0.01)
    assert joint.deviations[1, 1, 0] == share * TIE  # left as it was


def test_few_folds_have_the_value_of_one_t_and_limits_stay_within_0_and_1(several):
    deviations = np.random.default_rng(3).normal(size=(5, 1, 1))
    deviations -= deviations.mean(axis=0)
    found = _mean_critical_value(curves(np.repeat(deviations, 2, axis=2), 4), 0.05, n_draws=40_000, rng=0)
    assert found == pytest.approx(stats.t.isf(0.025, 4), rel=0.03)
    unknown = JointCurves(PRIORS, np.ones((2, 2)), np.empty((0, 2, 2)), np.nan)
    assert np.isnan(pair_critical_value(unknown, 0.05))
    assert np.isnan(_mean_critical_value(unknown, 0.05, n_draws=99, rng=0))
    found = auprec_bands(designed(several, 400.0), PRIORS)
    assert (found["conf_low"] == 0).all()
    assert (found["conf_high"] == 1).all()


@pytest.mark.parametrize("ratio", [0, 0.25])
def test_bands_are_the_mean_and_its_errors_times_the_value(several, ratio):
    found = auprec_bands(designed(several, ratio), PRIORS, alpha=0.1)
    areas = several.auprec_by_cell(PRIORS)  # models, folds, priors
    error = areas.std(axis=1, ddof=1) * np.sqrt(1 / 4 + ratio)
    assert found["model"].tolist() == [m for m in several.models for _ in PRIORS]
    assert found["prior"].tolist() == [*PRIORS] * 3
    assert found["auprec"].to_numpy() == pytest.approx(areas.mean(axis=1).ravel())
    inside = (found["conf_low"] > 0) & (found["conf_high"] < 1)
    low = ((found["auprec"] - found["conf_low"]) / error.ravel())[inside]
    high = ((found["conf_high"] - found["auprec"]) / error.ravel())[inside]
    assert len(low) >= 2
    assert low.to_numpy() == pytest.approx([low.iloc[0]] * len(low))
    assert high.to_numpy() == pytest.approx(low.to_numpy())
    assert low.iloc[0] > stats.t.isf(0.05, 3)


def test_bands_over_cases_are_symmetric_on_the_logit_scale_or_without_width():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], [60, 600])
    columns = [rng.normal(labels * d) for d in (1.0, 2.5)]
    parts = [score_rows(f"m{d}", 1, labels, column, case=range(660)) for d, column in enumerate(columns)]
    measures = sa.evaluate(pd.concat(parts), at_priors=(0.5,), deployment_prior=(0.2, 0.5))
    found = auprec_bands(measures, [0.2, 0.5], n_draws=499)
    low, middle, high = (logit(found[name]) for name in ("conf_low", "auprec", "conf_high"))
    np.testing.assert_allclose(high - middle, middle - low, rtol=1e-9)
    joint = joint_curves(measures, np.array([0.2, 0.5]))
    spread = np.sqrt((joint.deviations**2).sum(axis=0)).ravel()
    reach = (high - middle) * found["auprec"] * (1 - found["auprec"]) / spread
    normal = -stats.norm.ppf(stats.t.cdf(-reach, joint.model_df.ravel()))
    np.testing.assert_allclose(normal, normal[0], rtol=1e-6)
    assert 1.96 < normal[0] < stats.norm.isf(0.025 / 4) + 0.1
    assert (reach > normal).all()
    assert auprec_bands(replace(measures, scores=None), [0.3])["conf_low"].isna().all()
    labels = np.repeat([1, 0], [60, 600])
    frame = pd.DataFrame({"fold": 1, "case": range(660), "y_true": labels})
    both = pd.concat([frame.assign(model=m, y_score=labels * s + 1.0) for m, s in (("a", 1), ("b", 2))])
    found = auprec_bands(sa.evaluate(both, at_priors=(0.5,), deployment_prior=(0.2, 0.5)), [0.5])
    assert (found[["auprec", "conf_low", "conf_high"]] == 1).all(axis=None)


N_UNITS, N_MODELS, N_PRIORS = 6, 3, 2
PAIRS = [*combinations(range(N_MODELS), 2)]


def folds(seed=0, n_units=N_UNITS):
    values = np.random.default_rng(seed).normal(size=(n_units, N_MODELS, N_PRIORS))
    return values - values.mean(axis=0)


def columns_of(deviations):
    """Differences of all pairs at all priors, a column each."""
    first, second = np.array(PAIRS).T
    return (deviations[:, first] - deviations[:, second]).reshape(len(deviations), -1)


def t_of(table):
    """|t| of the mean of every column."""
    return np.abs(table.mean(axis=0)) / (table.std(axis=0, ddof=1) / np.sqrt(len(table)))


def largest(deviations, moved=None, df=None, *, n_draws=5, alpha=0.05):
    moved = np.ones(len(PAIRS) * N_PRIORS, dtype=bool) if moved is None else moved
    df = len(deviations) - 1 if df is None else df
    return bands.draw_max_t(deviations, moved, alpha, n_draws=n_draws, rng=3, df=df)


def by_tables(columns, size, rows, *, blocks=(5,)):
    """Largest |t| of Gaussian tables, drawn block by block for so many columns at once."""
    generator, parts = np.random.default_rng(3), []
    for start in range(0, columns.shape[1], size):
        unit = columns[:, start : start + size] / np.linalg.norm(columns[:, start : start + size], axis=0)
        drawn = ((n, generator.standard_normal((n * rows, N_UNITS))) for n in blocks)
        tables = [(normal @ unit).reshape(n, rows, -1) for n, normal in drawn]
        parts.append([t_of(table).max() for block in tables for table in block])
    return np.max(parts, axis=0)


@pytest.mark.parametrize(("df", "size"), [(1, 1), (8, 2), (9, 6)])
def test_a_draw_is_the_largest_t_of_a_gaussian_table(df, size):
    """With fewer than ten folds pairs are drawn one after another, with two only column by column."""
    assert largest(folds(), df=df) == pytest.approx(by_tables(columns_of(folds()), size, df + 1))


def test_columns_that_do_not_move_and_loadings_on_few_axes(monkeypatch):
    moved = np.array([True, False, True, True, True, True])
    columns = columns_of(folds())
    columns[:, 1] = 0
    drawn = bands.draw_max_t_of_columns(columns, N_PRIORS, 5, 3, df=N_UNITS - 1)
    assert largest(folds(), moved).tolist() == drawn.tolist()
    assert largest(folds(), np.zeros(6, dtype=bool)).tolist() == [0.0] * 5
    columns = np.array([[3.0, 0.0, 1.0], [4.0, 0.0, 1.0]])
    z = np.abs(np.random.default_rng(1).standard_normal((4, 2)) @ columns[:, [0, 2]] / [5.0, np.sqrt(2)])
    assert bands._draw_max_z(columns, 4, 1) == pytest.approx(z.max(axis=1))
    assert bands._draw_max_z(np.zeros((2, 3)), 7, 0).tolist() == [0.0] * 7
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


@pytest.mark.parametrize(("size", "blocks"), [(2 * N_UNITS * N_PRIORS, (2, 2, 1)), (1, (1,) * 5)])
def test_blocks_of_draws_change_nothing_but_the_numbers_drawn(monkeypatch, size, blocks):
    monkeypatch.setattr(bands, "MAX_CELLS", size)
    assert largest(folds()) == pytest.approx(by_tables(columns_of(folds()), 2, N_UNITS, blocks=blocks))


def by_axes(deviations, df, n_draws, columns_of=columns_of):
    """Largest |t| of columns from mean and root of samples on the axes that the deviations vary along."""
    generator, loading = np.random.default_rng(3), bands._compute_loadings(deviations)
    columns, found = columns_of(loading), []
    for _ in range(n_draws):
        mean, root = bands._draw_gaussian_sample(len(loading), df, generator)
        found.append(np.sqrt(max(df * (mean @ x) ** 2 / ((root.T @ x) ** 2).sum() for x in columns.T)))
    return found


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
    gaps = ((drawn[:, i] - drawn[:, j], deviations[:, i] - deviations[:, j]) for i, j in PAIRS)
    z = [np.abs(gap) / np.sqrt((deviation**2).sum(axis=0)) for gap, deviation in gaps]
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
    with warnings.catch_warnings(action="ignore", category=sa.SkewanovaWarning):
        return sa.evaluate(pd.concat(frame.assign(model=m, y_score=s) for m, s in scores.items()), **options)


def test_over_cases_bands_and_p_values_come_from_the_same_draws(one_set):
    """90 negatives are enough from the prior 30 / 120 on: below there is the difference alone."""
    grid = np.array([0.2, 0.25, 0.5])
    found = bands.difference_curves(one_set, grid, alpha=0.1, n_draws=99, rng=2)
    assert one_set.support.smallest_prior == 0.25
    nothing = found[found["prior"] == 0.2]
    assert nothing.loc[:, "std_error":"conf_high"].isna().all(axis=None)
    assert not nothing["reject"].any()
    means = one_set.mean_auprec(grid)
    expected = np.array([means[i] - means[j] for i, j in PAIRS])
    assert found["estimate"].to_numpy().reshape(3, 3) == pytest.approx(expected)
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
    pairs = ({"a": perfect, "b": other} for other in (0, perfect))
    sets = (on_one_set(pair, at_priors=(0.5,), deployment_prior=0.5) for pair in pairs)
    beside, same = (bands.difference_curves(each, [0.5], n_draws=99) for each in sets)
    assert beside["estimate"].tolist() == [0.5]
    assert beside[["p_adjusted", "conf_low", "conf_high"]].isna().all(axis=None)
    assert same[["estimate", "conf_low", "conf_high"]].to_numpy().tolist() == [[0, 0, 0]]


def test_halves_go_with_their_prior_and_rounding_has_no_width():
    rng = np.random.default_rng(0)
    values, halves = rng.normal(size=(6, 3, 2)), rng.normal(size=(4, 3, 2))
    design = SimpleNamespace(variance_inflation=2.0, ratio=0.25)
    _, found, _ = bands.compare_over_folds(np.array([0.1, 0.5]), values, halves, design=design)
    for prior in range(2):
        alone = paired_t(values[..., prior], inflation=2.0, halves=halves[..., prior])
        np.testing.assert_array_equal([part[:, prior] for part in found], alone)
    area = np.array([np.nextafter(1.0, 2.0), 1.0, 0.0, 0.5])
    low, high = bands._logit_limits(area, np.full(4, 0.1))
    assert low[:3].tolist() == high[:3].tolist() == area[:3].tolist()
    assert 0 < low[3] < 0.5 < high[3] < 1
