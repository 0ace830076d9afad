from functools import partial

import numpy as np
import pandas as pd
import pytest
from fold_tables import INPUTS, evaluation_of, frame_of, means_of, r_number, random_table, table_of
from loops import each
from messages import exact

from skewanova import SkewanovaWarning
from skewanova.inference import omnibus, omnibus_test, two_way_anova
from skewanova.inference.anova import ANOVA_COLUMNS, IDENTICAL_MODELS, NO_RESIDUAL_VARIATION
from skewanova.inference.catalogue import get_test
from skewanova.inference.fold_statistics import blocked_test, gg_test, permutation_test, sign_flip_test
from skewanova.inference.omnibus import (
    OMNIBUS_TESTS,
    _check_has_full_rank,
    build_fold_table,
    degenerate_result,
    partial_eta_squared,
)

RATIO = 0.25
TESTS = {
    method: partial(omnibus_test, method=method, **({"ratio": RATIO} if get_test(method).needs_ratio else {}))
    for method in OMNIBUS_TESTS
    if not get_test(method).needs_halvings  # which frames lack: tests/comparison/test_analysis_split_half.py
}
VARIED = [name for name in TESTS if name != "friedman"]


FOLD = np.linspace(0.6, 0.9, 8)[:, None]


def row_of(result):
    frame = result.to_frame()
    assert len(frame) == 1
    return frame.iloc[0]


R_ROWS = {
    "repeated_measures": ("r_repeated_measures.csv", "afex_model",
                          {"statistic": "statistic", "df": "gg_df", "df_error": "gg_df_error",
                           "p_value": "gg_p_value", "sum_sq": "sum_sq"}),
    "friedman": ("r_pairs.csv", "iman_davenport",
                 {name: name for name in ("statistic", "df", "df_error", "p_value")}),
    **{test: ("r_repeated_measures.csv", test, {n: n for n in ("statistic", "df", "df_error", "p_value")})
       for test in ("hotelling", "corrected_f", "corrected_gg", "corrected_hotelling")},
}  # fmt: skip


@each("name", INPUTS)
@each("test", R_ROWS)
def test_rows_equal_r(test, name):
    file, recorded, quantities = R_ROWS[test]
    row = row_of(TESTS[test](means_of(name)))
    for column, quantity in quantities.items():
        expected = r_number(file, name, recorded, quantity)
        assert float(row[column]) == pytest.approx(expected, rel=1e-9, abs=0), column


@each("test", TESTS)
def test_every_test_fills_the_same_columns(test):
    result = TESTS[test](means_of("balanced"), role="primary")
    row = row_of(result)
    assert tuple(row.index) == ANOVA_COLUMNS
    assert (row["test"], row["role"], row["response"], row["term"]) == (test, "primary", "iauprec", "model")
    assert (result.test, result.role, result.response) == (test, "primary", "iauprec")
    assert result.warnings == ()
    assert np.isnan(row["breakdown_correlation"])
    assert row[["sum_sq", "mean_sq", "partial_eta_sq"]].isna().all() == (test == "friedman")
    frame = result.to_frame()
    frame["test"] = "changed"
    assert row_of(result)["test"] == test  # a copy


@each("test", VARIED)
def test_sums_of_squares_are_the_two_way_ones(test):
    expected = two_way_anova(means_of("balanced")).row("model")
    row = row_of(TESTS[test](means_of("balanced")))
    for column in ("sum_sq", "mean_sq"):
        assert row[column] == pytest.approx(expected[column], rel=1e-9)
    scaled = row["statistic"] * row["df"]
    assert row["partial_eta_sq"] == pytest.approx(scaled / (scaled + row["df_error"]), rel=1e-9)


def test_resampling_rows_hold_the_f_and_the_resampled_p():
    frame = means_of("heteroscedastic")
    for method, kernel in (("sign_flip", sign_flip_test), ("permutation", permutation_test)):
        row = row_of(omnibus_test(frame, method=method, n_resamples=299, rng=4))
        assert row["statistic"] == pytest.approx(two_way_anova(frame).row("model")["statistic"], rel=1e-9)
        expected = kernel(table_of("heteroscedastic"), n_resamples=299, rng=4)
        assert row["p_value"] == pytest.approx(float(expected), abs=1e-15)


@pytest.mark.parametrize("method", ["sign_flip", "permutation"])
def test_random_arrangements_by_default(method):
    """9,999 of them and the table itself, by the same seed."""
    frame = frame_of(random_table(18, 3))
    p_value = row_of(omnibus_test(frame, method=method))["p_value"]
    assert 0.01 < p_value < 0.99
    assert p_value * 10_000 == pytest.approx(round(p_value * 10_000), abs=1e-8)
    assert p_value == row_of(omnibus_test(frame, method=method, rng=0))["p_value"]


def test_halvings_that_are_enough():
    """One for each model but one, on differences that vary; then the folds are not asked."""
    alike = random_table(6, 3)[:, [0, 1, 2, 2]]
    halves = random_table(3, 4, seed=5)
    for enough in (halves, random_table(5, 4, seed=6)):
        _check_has_full_rank(alike, enough, "ABCD")
    message = "Hotelling's test needs 3 halvings for 4 models, but has 2; add halvings"
    with pytest.raises(ValueError, match=exact(message)):
        _check_has_full_rank(random_table(6, 4), halves[:2], "ABCD")
    with pytest.raises(ValueError, match="changes over folds of 'D' follow from those of other models"):
        _check_has_full_rank(alike, halves[:, [0, 1, 2, 2]], "ABCD")


def test_folds_without_variation_are_tested_by_halvings_that_vary(monkeypatch):
    flat, halves = FOLD + 0.03 * np.arange(3), random_table(5, 3)
    monkeypatch.setattr(omnibus, "half_differences", lambda *_, **__: halves)
    expected = gg_test(flat, halves=halves)
    assert row_of(omnibus_test(frame_of(flat), method="split_half_gg"))["statistic"] == expected.statistic
    halves = np.full((5, 3), 0.7)
    with pytest.warns(SkewanovaWarning, match=exact(NO_RESIDUAL_VARIATION)):
        assert row_of(omnibus_test(frame_of(flat), method="split_half_gg"))["statistic"] == np.inf


NOT_HOTELLING = [name for name in VARIED if "hotelling" not in name]


@each("test", VARIED)
@each("offset", [0.0, 2e-16])
@each("level", [FOLD, np.full((8, 1), 0.7)])
def test_identical_models_are_undefined(test, level, offset):
    frame = frame_of(level + offset * np.arange(3))
    with pytest.warns(SkewanovaWarning, match=exact(IDENTICAL_MODELS)):
        result = TESTS[test](frame)
    assert result.warnings == (IDENTICAL_MODELS,)
    assert row_of(result)[["statistic", "p_value"]].isna().all()
    assert row_of(result)["df"] == 2


def test_an_effect_up_to_the_limit_of_rounding_is_none():
    for effect, known_as in ((1.0, IDENTICAL_MODELS), (np.nextafter(1.0, 2), NO_RESIDUAL_VARIATION)):
        found, note = degenerate_result(effect, 1.0, limit=1.0, df=(2.0, 14.0))
        assert note == known_as
        assert np.isnan(found.statistic) == np.isnan(found.p_value) == (known_as == IDENTICAL_MODELS)
    assert degenerate_result(1.0, np.nextafter(1.0, 2), limit=1.0, df=(2.0, 14.0)) is None


def test_an_infinite_f_shows_all_of_the_variance():
    plain = blocked_test(random_table(6, 3))
    assert partial_eta_squared(plain._replace(statistic=np.asarray(np.inf))) == 1


@each("test", VARIED)
def test_constant_differences_have_p_0_and_a_warning(test):
    with pytest.warns(SkewanovaWarning, match=exact(NO_RESIDUAL_VARIATION)):
        row = row_of(TESTS[test](frame_of(FOLD + 0.03 * np.arange(3))))
    assert row["statistic"] == np.inf
    assert row["p_value"] == 0


def test_friedman_of_degenerate_tables():
    assert np.isnan(row_of(omnibus_test(frame_of(np.tile(FOLD, 3)), method="friedman"))["p_value"])
    row = row_of(omnibus_test(frame_of(FOLD + 0.03 * np.arange(3)), method="friedman"))
    assert row["statistic"] == np.inf
    assert row["p_value"] == pytest.approx(6.0**-7)


@each("test", TESTS)
def test_two_folds_of_two_models_or_of_more_than_folds(test):
    for n_models in (2,) if "hotelling" in test or test == "friedman" else (2, 5):
        assert 0 < row_of(TESTS[test](frame_of(random_table(2, n_models))))["p_value"] <= 1


def test_two_identical_models_among_three():
    values = random_table(8, 2)[:, [0, 0, 1]]
    for test in NOT_HOTELLING:
        assert 0 < row_of(TESTS[test](frame_of(values)))["p_value"] < 1
    frame = frame_of(values)
    with pytest.raises(
        ValueError, match=r"full rank, but changes over folds of '\w+' follow .*; leave it out$"
    ):
        omnibus_test(frame, method="hotelling")
    second = frame["model"].unique()[1]
    assert 0 < row_of(omnibus_test(frame[frame["model"] != second], method="hotelling"))["p_value"] < 1


def test_hotelling_needs_as_many_folds_as_models():
    for method, options in (("hotelling", {}), ("corrected_hotelling", {"ratio": 0.2})):
        with pytest.raises(ValueError, match=r"^Hotelling's test needs as many folds as models, but has 3"):
            omnibus_test(frame_of(random_table(3, 4)), method=method, **options)
    assert row_of(omnibus_test(frame_of(random_table(4, 4)), method="hotelling"))["df_error"] == 1


def test_fold_table_puts_folds_and_models_in_order_of_appearance():
    values = random_table(4, 3)
    frame = frame_of(values, ["z", "a", "m"])
    found, models = build_fold_table(frame)
    np.testing.assert_array_equal(found, values)
    assert models == ["z", "a", "m"]
    found, models = build_fold_table(frame[::-1])
    np.testing.assert_array_equal(found, values[::-1, ::-1])
    assert models == ["m", "a", "z"]


def test_a_missing_name_is_a_level_of_its_own():
    values = random_table(3, 3)
    found, models = build_fold_table(frame_of(values).replace({"model": {"M1": None}, "fold": {1: np.nan}}))
    np.testing.assert_array_equal(found, values)
    assert len(models) == 3


def test_incomplete_frames():
    frame = frame_of(random_table(4, 3))
    cases = {
        "a comparison needs at least 2 models, but has 1": frame[frame["model"] == "M0"],
        "a test over folds needs at least 2 folds, but has 1; compare models on a single test set by "
        "skewanova.compare(scores), whose tests are over cases": frame[frame["fold"] == 0],
        "the frame must have one row for each model and fold, but 1 more rows repeat one, the first "
        "model='M0', fold=0; keep one row of each": pd.concat([frame, frame.iloc[:1]]),
        "`iauprec` must be present and finite for every fold and model, but is not for 1, the first "
        "fold 0 and model 'M0'; leave out all rows of each such fold or model": frame.iloc[1:],
        "the frame has the column iauprec more than once; keep one of them": pd.concat(
            [frame, frame[["iauprec"]]], axis=1
        ),
    }
    for message, broken in cases.items():
        for test in TESTS.values():
            with pytest.raises(ValueError, match=exact(message)):
                test(broken)
        with pytest.raises(TypeError, match="`iauprec` must hold real numbers"):
            TESTS[next(iter(TESTS))](frame.assign(iauprec="x"))
    with pytest.raises(ValueError, match="present and finite"):
        omnibus_test(frame.assign(iauprec=np.inf), method="repeated_measures")


def test_an_evaluation_brings_its_design():
    measures = evaluation_of(random_table(10, 3), "repeated_holdout")
    known = omnibus_test(measures.iauprec, method="corrected_gg", ratio=0.25).to_frame()
    pd.testing.assert_frame_equal(omnibus_test(measures, method="corrected_gg").to_frame(), known)
    with pytest.raises(ValueError, match=r"^corrected_gg depends on how the folds were made: pass skew"):
        omnibus_test(measures.iauprec, method="corrected_gg")
