import re

import numpy as np
import pandas as pd
import pytest
from loops import each

from skewanova import FoldDesign, SkewanovaWarning, read_scores
from skewanova.scores import infer_design
from skewanova.scores.design import SAME_CASES, SAME_LABELS, population_of_cases
from skewanova.scores.pairing import complete_table


def exact(message):
    return f"^{re.escape(message)}$"


def table_of(folds, *, models=("A", "B"), cases=True, skip=()):
    """Score table whose folds test the given cases; odd cases are positive."""
    rows = [
        (model, f, case, case % 2, (case * 7919 % 101) / 101)
        for model in models
        for f, held in enumerate(folds)
        for case in np.sort(held)
        if (model, f) not in skip
    ]
    frame = pd.DataFrame(rows, columns=["model", "fold", "case", "y_true", "y_score"])
    return read_scores(frame if cases else frame.drop(columns="case"))


def kfold(n_cases, k, rng):
    """Stratified folds of shuffled cases, sizes as equal as they can be."""
    even, odd = (rng.permutation(np.arange(start, n_cases, 2)) for start in (0, 1))
    return [np.concatenate([even[i::k], odd[i::k]]) for i in range(k)]


def holdouts(n_cases, j, fraction, rng):
    half = round(n_cases * fraction / 2)
    return [
        np.concatenate([rng.choice(np.arange(s, n_cases, 2), half, replace=False) for s in (0, 1)])
        for _ in range(j)
    ]


def found(folds, **options):
    design = infer_design(table_of(folds), **options)
    return design, design.warnings


# --- what the cases show ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_cases", "k"), [(200, 5), (200, 10), (203, 5), (20, 10), (40, 2)])
def test_disjoint_folds_are_a_cross_validation(n_cases, k):
    design, notes = found(kfold(n_cases, k, np.random.default_rng(1)))
    assert (design.kind, design.n_folds, notes) == ("kfold", k, ())
    assert design.ratio == pytest.approx(1 / (k - 1), rel=1e-12)  # whatever the sizes
    assert design.variance_inflation == pytest.approx(1 + k / (k - 1))
    assert design.overlapping


def test_folds_of_two_cases_are_the_smallest_there_can_be():
    design, _ = found([np.array([2 * i, 2 * i + 1]) for i in range(30)])  # leave one pair out
    assert design.kind == "kfold"
    assert design.ratio == pytest.approx(1 / 29)


def test_unequal_folds_of_a_cross_validation():
    design, _ = found([np.arange(0, 10), np.arange(10, 40), np.arange(40, 100)])
    assert design.ratio == pytest.approx(1 / 2)


@each("seed", range(5))
@each(("n_cases", "k", "repeats"), [(200, 2, 5), (300, 10, 3), (60, 10, 10), (103, 5, 2)])
def test_repeated_cross_validation_in_any_order_of_folds(n_cases, k, repeats, seed):
    rng = np.random.default_rng(seed)
    folds = [fold for _ in range(repeats) for fold in kfold(n_cases, k, rng)]
    folds = [folds[i] for i in rng.permutation(len(folds))]
    design, notes = found(folds)
    assert (design.kind, design.n_folds, notes) == ("repeated_kfold", k * repeats, ())
    assert design.ratio == pytest.approx(1 / (k - 1), rel=1e-12)


def test_folds_of_two_repeats_may_be_disjoint_by_chance():
    # 10 times 10 folds of 6 cases: every other pair of folds from different repeats shares no case
    rng = np.random.default_rng(0)
    folds = [fold for _ in range(10) for fold in kfold(60, 10, rng)]
    disjoint = sum(not set(a) & set(b) for i, a in enumerate(folds) for b in folds[:i])
    assert disjoint > 2 * 450
    assert found(folds)[0].kind == "repeated_kfold"


def test_a_cross_validation_beside_part_of_another():
    rng = np.random.default_rng(3)
    folds = [*kfold(200, 5, rng), *kfold(200, 5, rng)[:3]]
    design, _ = found(folds)
    assert design.kind == "repeated_kfold"
    assert design.ratio == pytest.approx(1 / 4)


@pytest.mark.parametrize(("fraction", "rel"), [(0.1, 0.07), (0.2, 0.02), (0.5, 0.02)])
def test_twenty_holdouts_tell_the_ratio_within_2_percent(fraction, rel):
    for seed in range(5):
        design, notes = found(holdouts(1000, 20, fraction, np.random.default_rng(seed)))
        assert (design.kind, notes) == ("repeated_holdout", ())
        assert design.ratio == pytest.approx(fraction / (1 - fraction), rel=rel)


@pytest.mark.parametrize(("j", "rel"), [(2, 0.3), (3, 0.2), (5, 0.1)])
def test_few_holdouts_tell_it_roughly_and_without_bias(j, rel):
    ratios = [found(holdouts(2000, j, 0.2, np.random.default_rng(seed)))[0].ratio for seed in range(8)]
    np.testing.assert_allclose(ratios, 0.25, rtol=rel)
    assert np.mean(ratios) == pytest.approx(0.25, rel=rel / 2)


def test_the_data_set_has_at_least_the_cases_seen():
    folds = [np.arange(0, 40), np.arange(38, 80), np.arange(78, 120)]  # hardly overlapping
    design, _ = found(folds)
    assert design.ratio <= 41 / (120 - 41)


def test_all_folds_on_one_test_set_tell_nothing_about_training():
    design, notes = found([np.arange(40)] * 6)
    assert (design.kind, design.ratio, notes) == ("runs", 0, ())
    design, notes = found([np.arange(40)] * 6, design="repeated_holdout")
    assert design.kind == "repeated_holdout"
    assert design.ratio == pytest.approx(0.25)
    assert notes[0] == SAME_CASES
    design, notes = found([np.arange(40)] * 6, design=FoldDesign("auto", 0.5))
    assert (design.ratio, notes) == (1.0, (SAME_CASES,))
    design, notes = found([np.arange(40)] * 6, design="independent")
    assert design.ratio == 0
    assert notes == ("cases occur in several folds, but the folds were stated to be independent",)


def test_dropped_folds_still_count_towards_the_size_of_the_data_set():
    folds = [np.arange(20 * i, 20 * (i + 1)) for i in range(5)]
    for gone in (0, 4):
        table = table_of(folds, skip={("A", gone)})
        with pytest.warns(SkewanovaWarning, match="dropped 1 of 5 folds"):
            kept, _ = complete_table(table, missing="drop")
        design = infer_design(kept)
        assert (design.kind, design.n_folds) == ("kfold", 4)
        assert design.ratio == pytest.approx(1 / 4)


def test_a_repeated_cross_validation_with_a_fold_dropped():
    rng = np.random.default_rng(3)
    table = table_of([f for _ in range(5) for f in kfold(200, 2, rng)], skip={("A", 3)})
    with pytest.warns(SkewanovaWarning, match="dropped 1 of 10 folds"):
        kept, _ = complete_table(table, missing="drop")
    design = infer_design(kept)
    assert (design.kind, design.n_folds, design.ratio) == ("repeated_kfold", 9, 1.0)


def test_models_and_names_of_folds_do_not_matter():
    folds = holdouts(300, 4, 0.3, np.random.default_rng(0))
    one, many = (infer_design(table_of(folds, models=m)) for m in (("A", "B"), ("x", "y", "z")))
    assert one == many


# --- what the user says -------------------------------------------------------------------------------------

FOLDS = kfold(100, 5, np.random.default_rng(0))
OVERLAPPING = holdouts(400, 8, 0.2, np.random.default_rng(0))


def test_independent_as_stated():
    design, notes = found(FOLDS, design="independent")
    assert (design.kind, design.ratio, design.variance_inflation, notes) == ("independent", 0.0, 1.0, ())
    assert not design.overlapping


def test_independent_is_doubted_where_cases_recur():
    for folds in (OVERLAPPING, [*FOLDS, *kfold(100, 5, np.random.default_rng(5))]):
        design, notes = found(folds, design="independent")
        assert design.ratio == 0
        assert notes == ("cases occur in several folds, but the folds were stated to be independent",)


def test_independent_has_no_use_for_a_test_fraction():
    _, notes = found(FOLDS, design=FoldDesign("independent", 0.2))
    assert notes == ("test_fraction=0.2 is not used, because the folds were stated to be independent",)


def test_a_stated_kind_overrules_the_cases_with_a_note():
    design, notes = found(FOLDS, design="repeated_holdout")
    assert (design.kind, design.reason) == ("repeated_holdout", "design as stated")
    assert design.ratio == pytest.approx(1 / 4)
    assert notes == ("the cases look like kfold, but design='repeated_holdout' was stated and is used",)
    assert found(FOLDS, design="kfold")[1] == ()


def test_a_stated_fraction_overrules_the_cases_with_a_note_if_it_differs():
    design, notes = found(FOLDS, design=FoldDesign("auto", 0.05))
    assert design.ratio == pytest.approx(0.05 / 0.95)
    assert design.reason == "test_fraction as stated"
    assert notes == (
        "the cases look like 0.2 of the data set in each fold, but test_fraction=0.05 was stated and is used",
    )
    design, notes = found(OVERLAPPING, design=FoldDesign("auto", 0.2))
    assert (design.ratio, notes) == (pytest.approx(0.25), ())


def test_both_stated():
    design, notes = found(FOLDS, design=FoldDesign("kfold", 0.2))
    assert design.reason == "design and test_fraction as stated"
    assert notes == ()


# --- without cases ------------------------------------------------------------------------------------------


def without_cases(j, **options):
    design = infer_design(table_of([np.arange(10)] * j, cases=False), **options)
    return design, design.warnings


@pytest.mark.parametrize(
    ("j", "ratio", "share"), [(2, 1.0, "50%"), (3, 0.5, "33%"), (5, 0.25, "20%"), (20, 0.25, "20%")]
)
def test_nothing_known_is_taken_as_holdouts(j, ratio, share):
    design, notes = without_cases(j)
    assert (design.kind, design.reason) == ("repeated_holdout", "assumed")
    assert design.ratio == pytest.approx(ratio)
    assert notes[0] == SAME_LABELS  # of two models and j folds with labels in the same order
    assert notes[1:] == (
        f"cannot tell how the folds were made, so repeated hold-out of one data set with {share} test cases "
        "is assumed; add a case column, or state the design, as in "
        "design=skewanova.FoldDesign('kfold', test_fraction=0.1), or --design kfold --test-fraction 0.1",
    )


def test_the_assumption_is_never_below_a_cross_validation_of_that_many_folds():
    for j in range(2, 30):
        assert without_cases(j)[0].ratio >= without_cases(j, design="kfold")[0].ratio - 1e-15


def test_stated_without_cases():
    design, notes = without_cases(10, design="kfold")
    assert (design.kind, design.ratio, notes) == ("kfold", pytest.approx(1 / 9), ())
    design, notes = without_cases(10, design="independent")
    assert (design.kind, design.ratio, notes) == ("independent", 0.0, ())
    design, notes = without_cases(10, design=FoldDesign("repeated_kfold", 0.5))
    assert (design.kind, design.ratio, notes) == ("repeated_kfold", 1.0, ())
    design, notes = without_cases(10, design=FoldDesign("auto", 0.1))
    assert (design.kind, design.ratio, notes) == ("repeated_holdout", pytest.approx(1 / 9), ())
    design, notes = without_cases(10, design="repeated_holdout")
    assert design.ratio == pytest.approx(0.25)
    assert notes[0].startswith("cannot tell how large the folds are, so repeated hold-out")


# --- messages and text --------------------------------------------------------------------------------------


def test_errors():
    message = (
        "design='repeated_kfold' needs the size of the folds: state test_fraction, as in "
        "design=skewanova.FoldDesign('repeated_kfold', test_fraction=0.1), or add a case column"
    )
    with pytest.raises(ValueError, match=exact(message)):
        without_cases(10, design="repeated_kfold")
    message = (
        "`design` must be one of auto, independent, kfold, repeated_kfold, repeated_holdout, split_half, "
        "runs, nested_runs, fixed_runs, test_set; but got 'bootstrap'"
    )
    with pytest.raises(ValueError, match=exact(message)):
        without_cases(10, design="bootstrap")
    for fraction in (0, 1, -0.2, 20):
        message = f"`test_fraction` must lie strictly between 0 and 1, but got {fraction:g}"
        with pytest.raises(ValueError, match=exact(message)):
            without_cases(10, design=FoldDesign("auto", fraction))


def test_one_fold_has_no_design():
    for design, notes in (without_cases(1), found([np.arange(10)])):
        assert (design.kind, design.n_folds, design.ratio, notes) == ("test_set", 1, 0.0, ())
        assert not design.overlapping
        assert re.fullmatch(r"one test set \(\d+ positives, \d+ negatives\)", design.describe())
    _, notes = without_cases(1, design=FoldDesign("kfold", 0.2))
    assert notes == ("design='kfold' and test_fraction=0.2 not used, because there is only one fold",)


def test_descriptions():
    assert found(FOLDS)[0].describe() == (
        "one cross-validation, 5 folds, 0.25 test cases for each training case (no case occurs in two folds)"
    )
    twice = found([*FOLDS, *kfold(100, 5, np.random.default_rng(5))])[0]
    assert twice.describe() == (
        "repeated cross-validation, 10 folds, 0.25 test cases for each training case (the folds fall into "
        "sets that each cover all cases)"
    )
    assert found(FOLDS, design="independent")[0].describe() == "independent folds, 5 folds (as stated)"
    assert without_cases(20)[0].describe() == (
        "repeated hold-out, 20 folds, 0.25 test cases for each training case (assumed)"
    )
    assert "(folds overlap at random)" in found(OVERLAPPING)[0].describe()


def test_intervals_over_cases_are_about_fitted_models_whatever_the_folds():
    frame = table_of([range(20), range(20, 40)]).to_frame()
    assert population_of_cases(read_scores(frame)) == "these fitted models on further cases"
    patients = frame.assign(cluster=frame["case"].astype(int) // 2, weight=2.0)
    assert population_of_cases(read_scores(patients)) == (
        "these fitted models on further clusters of cases of the population that the weights stand for"
    )


def test_a_test_set_is_a_single_fold():
    assert without_cases(1, design="test_set")[1] == ()
    with pytest.raises(ValueError, match=exact("design='test_set' needs a single fold, but there are 10")):
        without_cases(10, design="test_set")


def test_a_design_that_was_inferred_can_be_stated_again():
    for first in (found(FOLDS)[0], found(OVERLAPPING)[0]):
        again, notes = found(FOLDS if first.kind == "kfold" else OVERLAPPING, design=first)
        assert (again.kind, again.ratio, again.n_folds, notes) == (first.kind, first.ratio, first.n_folds, ())
    with pytest.raises(TypeError, match="`design` must be a name or a FoldDesign, but is of type int"):
        found(FOLDS, design=3)
