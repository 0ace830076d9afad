import itertools
import warnings
from functools import cache

import numpy as np
import pandas as pd
import pytest
from fold_tables import REFERENCE, cells
from hypothesis import given, settings
from hypothesis import strategies as st
from loops import each
from messages import exact, expect_error, expect_warning
from scipy import stats

from skewanova import InputTypeError, SkewanovaWarning
from skewanova.inference import anova, catalogue, diagnostics, three_way_anova, tukey_hsd, two_way_anova
from skewanova.inference.anova import ANOVA_COLUMNS, IDENTICAL_MODELS, NO_RESIDUAL_VARIATION, threshold_anova

LONG = dict(list(pd.read_csv(REFERENCE / "anova_auprec.csv").groupby("input")))
PUBLISHED = ("two_way", "three_way", "three_way_interaction")
MEANS = dict(list(pd.read_csv(REFERENCE / "anova_iauprec.csv").groupby("input")))
R_ANOVA = pd.read_csv(REFERENCE / "r_anova.csv")


def analyse(test, data, **options):
    """One of the three analyses by its name, of one recorded input or a pair (means, long)."""
    return of_recorded(test, data, **options) if isinstance(data, str) else of_frames(test, *data, **options)


@cache
def of_recorded(test, name, **options):
    """Made once: it hands out copies."""
    return of_frames(test, MEANS[name], LONG[name], **options)


def of_frames(test, means, long, **options):
    if test == "two_way":
        return two_way_anova(means, **options)
    return three_way_anova(long, interaction=test == "three_way_interaction", **options)


def cube(values, priors=(0.5, 0.1, 0.01)):
    """Long frame of an array of models x folds x priors."""
    rows = [(f"M{m}", f, priors[p], v) for (m, f, p), v in np.ndenumerate(np.asarray(values, dtype=float))]
    return pd.DataFrame(rows, columns=["model", "fold", "prior", "auprec"])


def table_of(result):
    return result.to_frame().set_index("term")


def random_cells(seed=0, shape=(3, 5)):
    return np.random.default_rng(seed).normal(0.8, 0.05, shape)


@pytest.mark.no_cover
@each("data", list(LONG))
@each("test", ["two_way", "three_way", "three_way_interaction"])
@each("kind", [1, 2, 3])
def test_equals_r(data, test, kind):
    recorded = R_ANOVA[(R_ANOVA["input"] == data) & (R_ANOVA["test"] == f"{test}.type{kind}")]
    table = table_of(analyse(test, data, sum_of_squares=kind))
    assert (set(recorded["term"]), len(recorded)) == (set(table.index), 5 * (len(table) - 1) + 3)
    for row in recorded.itertuples():
        assert table.loc[row.term, row.quantity] == pytest.approx(row.value, rel=1e-9, abs=0), row
    error = table.loc["residual", "df"]
    assert (table["df_error"].drop("residual") == error).all()
    assert table.loc["residual", ["df_error", "statistic", "p_value", "partial_eta_sq"]].isna().all()


def test_default_is_type_2_and_the_response_may_have_any_name():
    for test in ("two_way", "three_way", "three_way_interaction"):
        default, second = analyse(test, "unbalanced"), analyse(test, "unbalanced", sum_of_squares=2)
        pd.testing.assert_frame_equal(default.to_frame(), second.to_frame())
        assert tuple(default.to_frame()) == ANOVA_COLUMNS
    frame = cells(random_cells())
    result = two_way_anova(frame.rename(columns={"iauprec": "C(x) + y"}), response="C(x) + y")
    assert (result.response, set(result.to_frame()["response"])) == ("C(x) + y", {"C(x) + y"})
    np.testing.assert_array_equal(table_of(result)["sum_sq"], table_of(two_way_anova(frame))["sum_sq"])


def numbers(result):
    """Everything an analysis gives, as arrays."""
    yield result.to_frame().select_dtypes("number").to_numpy(dtype=float)
    yield result.residuals()[["fitted", "residual"]].to_numpy()
    if result.test != "three_way_interaction":
        for factor in ("model", "fold"):
            yield from result.effects(factor)[1:]
        yield tukey_hsd(result).to_frame().select_dtypes("number").to_numpy(dtype=float)


def complete_table():
    values = random_cells(8, (4, 6, 3)) + 0.02 * np.arange(4)[:, None, None]
    return cube(values).sample(frac=1, random_state=8)


@pytest.mark.parametrize("sum_of_squares", [1, 2, 3])
@pytest.mark.parametrize("interaction", [None, False, True])
def test_analyses_by_means_equal_those_of_statsmodels(sum_of_squares, interaction, monkeypatch):
    def analysed():
        frame = complete_table()
        if interaction is None:
            one = frame[frame["prior"] == 0.1]
            return two_way_anova(one, response="auprec", sum_of_squares=sum_of_squares)
        return three_way_anova(frame, interaction=interaction, sum_of_squares=sum_of_squares)

    by_means = analysed()
    assert isinstance(by_means._fit, anova.CompleteFit)
    monkeypatch.setattr(anova, "prod", lambda sizes: 0)
    fitted = analysed()
    assert not isinstance(fitted._fit, anova.CompleteFit)
    for found, expected in zip(numbers(by_means), numbers(fitted), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-10)


def test_effect_sizes_by_hand():
    for test in ("two_way", "three_way", "three_way_interaction"):
        result = analyse(test, "balanced")
        table, sizes = table_of(result), result.effect_sizes().set_index("term")
        assert list(result.effect_sizes()) == ["term", "eta_sq", "partial_eta_sq", "omega_sq", "cohen_f"]
        assert sizes.index.tolist() == table.index[:-1].tolist()
        error = table.loc["residual"]
        total = ((result._frame[result.response] - result._frame[result.response].mean()) ** 2).sum()
        for term in sizes.index:
            ss, df = table.loc[term, "sum_sq"], table.loc[term, "df"]
            eta = ss / (ss + error["sum_sq"])
            assert table.loc[term, "partial_eta_sq"] == pytest.approx(eta, rel=1e-12)
            assert sizes.loc[term, "partial_eta_sq"] == pytest.approx(eta, rel=1e-12)
            assert sizes.loc[term, "eta_sq"] == pytest.approx(ss / total, rel=1e-9)
            omega = (ss - df * error["mean_sq"]) / (total + error["mean_sq"])
            assert sizes.loc[term, "omega_sq"] == pytest.approx(omega, rel=1e-9)
            assert sizes.loc[term, "cohen_f"] == pytest.approx(np.sqrt(eta / (1 - eta)), rel=1e-9)


@given(st.integers(2, 6), st.integers(2, 12), st.integers(1, 400), st.sampled_from([0.05, 0.005]))
@settings(max_examples=15)
def test_breakdown_correlation_solves_its_equation(models, folds, effect, alpha):
    y = random_cells(effect, (models, folds)) + 0.001 * effect * np.arange(models)[:, None]
    row = two_way_anova(cells(y), alpha=alpha).row("model")
    critical = stats.f.isf(alpha, row["df"], row["df_error"])
    rho = row["breakdown_correlation"]
    if row["statistic"] <= critical:
        assert np.isnan(rho)
    else:
        assert 0 < rho < 1
        assert row["statistic"] / (1 + folds * rho / (1 - rho)) == pytest.approx(critical, rel=1e-9)


@pytest.mark.parametrize("interaction", [False, True])
def test_breakdown_correlation_is_of_models_where_priors_are_no_factor(interaction):
    told = table_of(analyse("two_way", "balanced"))["breakdown_correlation"].notna()
    assert told.tolist() == [True, False, False]
    result = three_way_anova(complete_table(), interaction=interaction)
    assert result.row("model")["p_value"] < 0.01
    assert result.to_frame()["breakdown_correlation"].isna().all()


def test_residuals_and_fitted_add_up_and_input_is_never_modified():
    for test in ("two_way", "three_way"):
        result = analyse(test, "unbalanced")
        frame = result.residuals()
        factors = ["model", "fold", "prior"][: len(frame.columns) - 2]
        assert list(frame) == [*factors, "fitted", "residual"]
        assert frame.index.tolist() == list(range(len(frame)))
        total = frame["fitted"] + frame["residual"]
        np.testing.assert_allclose(total, result._frame[result.response], rtol=1e-14)
        assert (frame["residual"] ** 2).sum() == pytest.approx(result.row("residual")["sum_sq"], rel=1e-9)
        for factor in factors:
            np.testing.assert_allclose(frame.groupby(factor)["residual"].sum(), 0, atol=1e-12)
    for test, data in itertools.product(PUBLISHED, ("balanced", "unbalanced")):
        before = (MEANS[data].copy(deep=True), LONG[data].copy(deep=True))
        result = analyse(test, data, sum_of_squares=3)
        for handed_out in (result.residuals(), result.to_frame()):
            handed_out.loc[:, handed_out.columns[-1]] = 0.5
        assert (result.residuals()["residual"] != 0.5).any()
        pd.testing.assert_frame_equal(MEANS[data], before[0])
        pd.testing.assert_frame_equal(LONG[data], before[1])


def test_further_columns_the_index_and_the_dtype_change_nothing():
    plain = MEANS["balanced"].drop(columns="input")
    other = plain.assign(m=1, f="x", p=2.0, y=np.nan, C=3).set_axis(np.repeat(7, len(plain)), axis=0)
    other.index.name = "model"
    pd.testing.assert_frame_equal(two_way_anova(other).to_frame(), two_way_anova(plain).to_frame())
    y = np.random.default_rng(5).integers(0, 9, (3, 4))
    expected = two_way_anova(cells(y)).to_frame()
    for dtype in ("int64", "float32", "Float64", "object"):
        pd.testing.assert_frame_equal(two_way_anova(cells(y).astype({"iauprec": dtype})).to_frame(), expected)


@pytest.mark.parametrize("folds", [
    [0.5, 1.5, 2.5, 3.5, 4.5], [1, "1", 2.0, "x", (0, 1)], [9, 7, 5, 3, 1],
])  # fmt: skip
def test_folds_of_any_type(folds):
    y = random_cells()
    expected = two_way_anova(cells(y)).to_frame()
    for frame in (cells(y, folds=folds), cells(y, folds=folds).astype({"model": "category"})):
        pd.testing.assert_frame_equal(two_way_anova(frame).to_frame(), expected)
    unused = pd.CategoricalDtype(["unused", "M2", "M1", "M0"], ordered=True)
    found = two_way_anova(cells(y, folds=folds).astype({"model": unused, "fold": "category"})).to_frame()
    pd.testing.assert_frame_equal(found, expected)


def quiet(function, *args, **options):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = function(*args, **options)
    return result, [str(w.message) for w in caught]


ADDITIVE = np.array([0.1, 0.3, 0.35])[:, None] + np.array([0.0, 0.2, 0.27, 0.4])


@pytest.mark.parametrize("kind", [1, 2, 3])
def test_no_residual_variation(kind):
    result = expect_warning(exact(NO_RESIDUAL_VARIATION), two_way_anova, cells(ADDITIVE), sum_of_squares=kind)
    table = table_of(result)
    assert result.warnings == (NO_RESIDUAL_VARIATION,)
    assert table["statistic"].tolist()[:2] == [np.inf, np.inf]
    assert table["p_value"].tolist()[:2] == [0.0, 0.0]
    assert table.loc["residual", ["statistic", "p_value"]].isna().all()
    assert table.loc["model", "breakdown_correlation"] == 1.0
    assert table.loc["model", "partial_eta_sq"] == pytest.approx(1)
    assert diagnostics.residuals(result)[["statistic", "p_value"]].isna().all(axis=None)


def test_differences_and_variation_begin_above_rounding():
    """The limit of one value is that of the sum of squares, spread over the cells; else there is none."""
    for values in (ADDITIVE, np.full((2, 3), 0.7)):
        result, _ = quiet(two_way_anova, cells(values))
        limit = np.sqrt(anova.variation_limit(values) / values.size)
        assert result.rounding == pytest.approx(limit, rel=1e-12)
    assert quiet(two_way_anova, cells(np.zeros((2, 3))))[0].rounding == anova.TINY
    assert two_way_anova(cells(random_cells())).rounding == 0
    y = np.full((3, 6), 0.7)
    y[1, 2], y[2, 4] = np.nextafter(0.7, 1), np.nextafter(0.7, 0)
    expect_warning(exact(IDENTICAL_MODELS), two_way_anova, cells(y))
    y = 0.97 + 1e-11 * random_cells(6)
    result, told = quiet(two_way_anova, cells(y))
    assert told == []
    assert 0 < result.row("model")["p_value"] < 1
    assert anova.variation_limit(np.array([0.0, 1.0, 2.0])) == pytest.approx(2e-12)
    assert anova.variation_limit(np.full(4, 0.5)) == pytest.approx(4 * (8 * 0.5 * 2.0**-52) ** 2)


@each("missing", [[], [0], [3, 5]])
@each("kind", [2, 3])
def test_identical_models(missing, kind):
    frame = cells(np.tile([0.1, 0.5, 0.9, 0.3], (3, 1))).drop(index=missing)
    result = expect_warning(exact(IDENTICAL_MODELS), two_way_anova, frame, sum_of_squares=kind)
    table = table_of(result)
    assert table.loc["model", ["statistic", "p_value", "breakdown_correlation"]].isna().all()
    assert (table.loc["fold", "statistic"], result.warnings) == (np.inf, (IDENTICAL_MODELS,))


@each("value", [0.0, 1 / 3, 0.97, 1e6, 1e-300])
def test_constant_response(value):
    result = expect_warning(exact(IDENTICAL_MODELS), two_way_anova, cells(np.full((3, 7), value)))
    assert table_of(result)[["statistic", "p_value"]].isna().all(axis=None)
    with pytest.warns(SkewanovaWarning, match=exact(IDENTICAL_MODELS)):
        three_way_anova(cube(np.full((2, 3, 2), value)), interaction=True)


def test_three_way_without_residual_variation_or_with_one_prior():
    y = ADDITIVE[:, :, None] + np.array([0.0, -0.1, -0.3])
    table = table_of(expect_warning(exact(NO_RESIDUAL_VARIATION), three_way_anova, cube(y), interaction=True))
    assert table["statistic"].tolist()[:3] == [np.inf] * 3
    assert np.isnan(table.loc["model:prior", "statistic"])  # an interaction that is not there
    result, told = quiet(three_way_anova, cube(np.tile([[0.1], [0.2], [0.4]], (2, 1, 1)), priors=(0.5,)))
    assert len(told) == len(result.warnings) == 2
    assert result.warnings[1] == IDENTICAL_MODELS


@pytest.mark.parametrize("interaction", [False, True])
def test_one_prior_leaves_the_two_way(interaction):
    frame = LONG["unbalanced"][LONG["unbalanced"]["prior"] == 0.5]
    note = (
        "there is one prior only, so the three-way ANOVA is the two-way; evaluate at more by "
        "at_priors=[0.5, 0.1] (--at-priors 0.5,0.1)"
    )
    result = expect_warning(exact(note), three_way_anova, frame, interaction=interaction, sum_of_squares=3)
    two = two_way_anova(frame, response="auprec", sum_of_squares=3).to_frame()
    names = ["test", "breakdown_correlation"]
    pd.testing.assert_frame_equal(result.to_frame().drop(columns=names), two.drop(columns=names))
    assert (result.test, result.warnings) == ("three_way", (note,))


def points_of(seed, recalls):
    rng = np.random.default_rng(seed)
    cells = [(m, f, p, r) for m in "ab" for f in range(4) for p in (0.5, 0.1) for r in recalls]
    frame = pd.DataFrame(cells, columns=["model", "fold", "prior", "recall"])
    return frame.assign(precision=rng.random(len(frame)))


def test_anova_over_thresholds_by_means_of_several_cells():
    frame = points_of(0, (0.2, 0.5, 0.9))
    with pytest.warns(SkewanovaWarning, match="makes 6 observations of every curve"):
        table = threshold_anova(frame).to_frame().set_index("term")
    grand = frame["precision"].mean()
    means = {
        term: frame.groupby(term)["precision"].transform("mean") for term in ("model", "prior", "recall")
    }
    by_term = {term: ((mean - grand) ** 2).sum() for term, mean in means.items()}
    error = ((frame["precision"] - grand) ** 2).sum() - sum(by_term.values())
    df_error = len(frame) - 1 - 1 - 1 - 2
    assert table["df"].to_dict() == {"model": 1, "prior": 1, "recall": 2, "residual": df_error}
    assert table.loc["model", "statistic"] == pytest.approx(by_term["model"] / (error / df_error), rel=1e-10)
    assert catalogue.get_test("three_way_thresholds").note.endswith("observations of their own.")
    expect_error("at least 2 values, but have 2 and 1", threshold_anova, points_of(0, (0.5,)))


@pytest.mark.filterwarnings("ignore:this ANOVA makes")
def test_sums_of_squares_of_anova_over_thresholds():
    frame = points_of(1, (0.2, 0.5)).drop(index=[0, 1, 2, 9, 13])
    found = [threshold_anova(frame, **given) for given in ({}, {"sum_of_squares": 2}, {"sum_of_squares": 1})]
    default, second, first = (table_of(result)["sum_sq"] for result in found)
    assert default.tolist() == second.tolist()
    assert not np.allclose(first, second, rtol=1e-3)


GOOD = cells(random_cells())
APART = cells(random_cells(0, (6, 6))).query("(model < 'M3') == (fold < 3)")
TWO_FOLDS = (
    "a test over folds needs at least 2 folds, but has 1; compare models on a single test set by "
    "skewanova.compare(scores), whose tests are over cases"
)
NAMELESS, OUT = "is missing in 1, the first row", "; fill in or leave out those"
UNTOLD = "a residual variance; add the missing rows"


def without(column, row, value=np.nan):
    return GOOD.assign(**{column: GOOD[column].where(GOOD.index != row, value)})


@each(("frame", "message"), [
    (GOOD[GOOD["model"] == "M1"], "a comparison needs at least 2 models, but has 1; add models"),
    (GOOD[:0], "a comparison needs at least 2 models, but has 0; add models"),
    (GOOD[GOOD["fold"] == 1], TWO_FOLDS),
    (pd.concat([GOOD, GOOD[6:8]]),
     "the frame must have one row for each model and fold, but 2 more rows repeat one, the first "
     "model='M1', fold=1; keep one row, or the mean, of each"),
    (GOOD.drop(columns=["model", "fold"]),
     "the frame needs the columns model, fold, iauprec, but lacks model, fold; "
     "skewanova.evaluate(scores).iauprec has them"),
    (without("iauprec", 3),
     "`iauprec` must be finite in every row, but is nan in row 3; leave such rows out"),
    (without("iauprec", 3, np.inf),
     "`iauprec` must be finite in every row, but is inf in row 3; leave such rows out"),
    (without("fold", 1), f"`fold` must be given in every row, but {NAMELESS} 1{OUT}"),
    (without("model", 4), f"`model` must be given in every row, but {NAMELESS} 4{OUT}"),
    (cells(random_cells(0, (2, 2)))[:3], f"3 rows do not identify 3 effects and {UNTOLD}"),
    (APART, f"18 rows do not identify 11 effects and {UNTOLD}"),
])  # fmt: skip
def test_bad_frame(frame, message):
    expect_error(exact(message), two_way_anova, frame)


def test_interactions_need_all_cells_and_numbers_must_be_numbers():
    gone = cube(random_cells(0, (3, 4, 2))).query("model != 'M1' or prior != 0.1")
    assert three_way_anova(gone).row("model")["df"] == 2
    expect_error(r"^20 rows do not identify 9 effects and ", three_way_anova, gone, interaction=True)
    for values in (list("abcdefghijklmno"), [0.5 + 1j] * 15, [{}] * 15, [pd.Timestamp(2026, 1, 1)] * 15):
        with pytest.raises(InputTypeError, match=r"^`iauprec` must hold real numbers, but has dtype "):
            two_way_anova(GOOD.assign(iauprec=pd.Series(values)))
    values = [0.5, "0.6", None, "0,7", *[0.5] * 11]
    with pytest.raises(InputTypeError, match=r"; the first that is not a number is '0,7' in row 3$"):
        two_way_anova(GOOD.assign(iauprec=pd.Series(values, dtype=object)))


@each(("call", "message"), [
    (lambda: two_way_anova(GOOD).row("prior"),
     "`term` must be one of model, fold, residual; but got 'prior'"),
    (lambda: three_way_anova(GOOD),
     "the frame needs the columns model, fold, prior, auprec, but lacks prior, auprec; "
     "skewanova.evaluate(scores).auprec has them"),
])  # fmt: skip
def test_refused(call, message):
    expect_error(exact(message), call)
