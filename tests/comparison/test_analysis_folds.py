from functools import cache

import numpy as np
import pandas as pd
import pytest
from fold_tables import draw_rows, evaluation_of, fold_tests, random_table
from loops import each

from skewanova import FoldDesign, compare
from skewanova.comparison.analysis import choose_pairwise_test
from skewanova.inference import posthoc

pytestmark = pytest.mark.filterwarnings("ignore::skewanova.SkewanovaWarning")  # few cases

OVERLAPPING = ("kfold", "repeated_kfold", "repeated_holdout")


def design(kind, n_folds):
    return FoldDesign(kind, None if kind == "independent" else 0.2, n_folds=n_folds, reason="as stated")


def omnibus(values, kind, priors=(0.5, 0.1)):
    return fold_tests(values, kind, priors).test_models()


@each("n_models", [2, 3, 4, 8])
@each("n_folds", [2, 4, 5, 9, 10, 14, 15, 20, 34, 35])
@each("kind", ["independent", *OVERLAPPING])
def test_primary_test(kind, n_folds, n_models):
    found = fold_tests(random_table(n_folds, n_models), kind).omnibus
    if kind == "independent":
        assert found == "repeated_measures"
    else:
        assert found == ("corrected_hotelling" if n_folds >= 5 * (n_models - 1) else "corrected_gg")


@each(("n_folds", "alpha", "expected"), [
    (2, 0.05, "paired_t"), (8, 0.05, "paired_t"), (9, 0.05, "max_t"), (20, 0.05, "max_t"),
    (8, 0.005, "paired_t"), (9, 0.005, "max_t"), (9, 0.003, "paired_t"),  # 2 ** -8 = .0039
    (9, 2.0**-8, "paired_t"), (12, 0.0005, "max_t"), (11, 0.0005, "paired_t"),
    (20, 1e-4, "paired_t"), (20, 1.1e-4, "max_t"),  # 9,999 random arrangements go down to .0001
])  # fmt: skip
def test_pairs_of_independent_folds(n_folds, alpha, expected):
    assert choose_pairwise_test(design("independent", n_folds), alpha) == expected


@each("kind", OVERLAPPING)
@each("n_folds", [2, 10, 100])
def test_pairs_of_overlapping_folds(kind, n_folds):
    assert choose_pairwise_test(design(kind, n_folds), 0.05) == "corrected_t"


@pytest.mark.parametrize(("n_folds", "alpha"), [(9, 0.005), (12, 0.0005), (20, 1.1e-4)])
def test_max_t_can_reject_wherever_it_is_chosen(n_folds, alpha):
    measures = evaluation_of(random_table(n_folds, 3, spread=0.001, effect=0.1), "independent")
    assert choose_pairwise_test(measures.design, alpha) == "max_t"
    assert posthoc(measures, method="max_t", alpha=alpha)["reject"].all()


@pytest.mark.parametrize(
    ("kind", "primary"), [("independent", "repeated_measures"), ("kfold", "corrected_hotelling")]
)
def test_rows_and_roles(kind, primary):
    found = omnibus(random_table(12, 3), kind)
    assert (found[0].test, found[0].role) == (primary, "primary")
    assert {result.role for result in found[1:]} == {"secondary"}
    split_plot = "repeated_measures" if kind == "independent" else "corrected_gg"
    assert (found[-1].test, found[-1].response) == (split_plot, "auprec")
    expected = ["repeated_measures", "hotelling", "friedman", "sign_flip", "permutation"]
    if kind == "kfold":
        expected += ["corrected_f", "corrected_gg", "corrected_hotelling"]
    assert sorted(result.test for result in found[:-1]) == sorted(expected)


def test_one_prior_has_no_split_plot_and_two_folds_one_p():
    found = omnibus(random_table(12, 3), "kfold", priors=(0.5,))
    assert {result.response for result in found} == {"iauprec"}
    anova, posthoc = primary(run(score_frame(2, "AB")))
    assert anova["test"].tolist() == ["corrected_gg"]
    assert posthoc["p_adjusted"].between(0, 1).all()
    assert anova["p_value"].item() == pytest.approx(posthoc["p_value"].item(), rel=1e-9)


@each("kind", ["independent", "repeated_holdout"])
@each(("n_folds", "n_models"), [(2, 2), (2, 4), (3, 4), (4, 4)])
def test_hotelling_is_left_out_where_folds_are_too_few(kind, n_folds, n_models):
    found = [result.test for result in omnibus(random_table(n_folds, n_models), kind)]
    assert ("hotelling" in found) == (n_folds >= n_models)
    assert ("corrected_hotelling" in found) == (n_folds >= n_models and kind != "independent")


@pytest.mark.parametrize("kind", ["independent", "kfold"])
def test_two_identical_models_among_three(kind):
    found = omnibus(random_table(12, 2)[:, [0, 0, 1]], kind)
    assert found[0].test == ("repeated_measures" if kind == "independent" else "corrected_gg")
    assert not [result for result in found if "hotelling" in result.test]
    assert 0 < found[0].to_frame()["p_value"].iloc[0] <= 1


def score_frame(n_folds=6, names="ABC"):
    """Scores of 80 cases in each of disjoint folds; the models differ, a little."""
    shifts = {name: 1.1 + 0.3 * i for i, name in enumerate(names)}
    rng = np.random.default_rng(0)
    return draw_rows(shifts, range(n_folds), np.tile([0, 1], 40), rng, common=0.6, own=0.8, stride=80)


def run(frame, **options):
    return compare(frame, **{"at_priors": (0.5, 0.4, 0.3), "deployment_prior": (0.4, 0.6)} | options)


@cache
def base(n_folds=6, design="auto"):
    return run(score_frame(n_folds), design=design)


def primary(result):
    anova = result.tests[result.tests["role"] == "primary"].reset_index(drop=True)
    return anova, result.pairs[result.pairs["role"] == "primary"].reset_index(drop=True)


@pytest.mark.slow
@pytest.mark.no_cover
@pytest.mark.parametrize("design", ["auto", "independent"])
def test_conclusions_do_not_depend_on_the_grid_of_priors(design):
    few = base(10, design)
    many = run(score_frame(10), design=design, at_priors=np.linspace(0.3, 0.5, 16).round(6).tolist())
    for one, other in zip(primary(few), primary(many), strict=True):
        assert len(one)
        pd.testing.assert_frame_equal(one, other)
    columns = ["rank", "model", "iauprec", "conf_low", "conf_high", "group"]
    pd.testing.assert_frame_equal(few.ranking[columns], many.ranking[columns])
    three_way = [
        float(r.tests.query("test == 'three_way' and term == 'model'")["p_value"].iloc[0])
        for r in (few, many)
    ]
    assert three_way[1] < 0.5 * three_way[0]  # the published test counts one curve once for each prior


@pytest.mark.parametrize(("design", "n_folds", "test", "pairs"), [
    ("auto", 6, "corrected_gg", "corrected_t_holm"),
    ("auto", 10, "corrected_hotelling", "corrected_t_holm"),
    ("independent", 6, "repeated_measures", "paired_t_holm"),
    ("independent", 10, "repeated_measures", "max_t"),
])  # fmt: skip
def test_compare_shows_the_calibrated_tests_first(design, n_folds, test, pairs):
    result = base(n_folds, design)
    anova, posthoc = primary(result)
    assert anova["test"].tolist() == [test] == [result.tests["test"].iloc[0]]
    assert set(posthoc["test"]) == {pairs} == {result.pairs["test"].iloc[0]}
    assert set(result.tests.query("test in ['two_way', 'three_way']")["role"]) == {"published"}
    assert set(result.pairs.query("test in ['tukey', 'tukey_three_way']")["role"]) == {"published"}
    assert "mixed" not in set(result.tests["test"])
