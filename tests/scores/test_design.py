"""The design of the folds: inferred from the cases, stated by the user, or assumed."""

import itertools

import numpy as np
import pandas as pd
import pytest
from halved_tables import halved_frame
from loops import each
from messages import exact, expect_error
from scipy import special, stats

import skewanova as sa
from skewanova.scores import design as module
from skewanova.scores import infer_design, pairing
from skewanova.scores.design import SAME_CASES, SAME_LABELS, fold_mean_interval, logit_interval


def table_of(folds, *, cases=True, skip=(), **columns):
    """Score table whose folds test the given cases; odd cases are positive."""
    rows = [
        (model, f, case, case % 2, (case * 7919 % 101) / 101)
        for model in "AB"
        for f, members in enumerate(folds)
        for case in np.sort(members)
        if (model, f) not in skip
    ]
    frame = pd.DataFrame(rows, columns=["model", "fold", "case", "y_true", "y_score"])
    frame = frame.assign(**{name: make(frame) for name, make in columns.items()})
    return sa.read_scores(frame if cases else frame.drop(columns="case"))


def kfold(n_cases, k, rng):
    """Stratified folds of shuffled cases, sizes as equal as they can be."""
    even, odd = (rng.permutation(np.arange(start, n_cases, 2)) for start in (0, 1))
    return [np.concatenate([even[i::k], odd[i::k]]) for i in range(k)]


def holdouts(n_cases, j, fraction, rng):
    half = round(n_cases * fraction / 2)
    classes = [np.arange(start, n_cases, 2) for start in (0, 1)]
    return [np.concatenate([rng.choice(c, half, replace=False) for c in classes]) for _ in range(j)]


def infer(folds, *, cases=True, **options):
    design = infer_design(table_of(folds, cases=cases), **options)
    return design, design.warnings


FOLDS = kfold(100, 5, np.random.default_rng(0))
OVERLAPPING = holdouts(400, 8, 0.2, np.random.default_rng(0))
REPEATED = [*FOLDS, *kfold(100, 5, np.random.default_rng(5))]
RUNS = [np.arange(40)] * 6


@each(("folds", "ratio"), [
    *((kfold(n, k, np.random.default_rng(1)), 1 / (k - 1)) for n, k in [(203, 5), (20, 10), (40, 2)]),
    ([np.array([2 * i, 2 * i + 1]) for i in range(30)], 1 / 29),  # leave one pair out
    ([np.arange(10), np.arange(10, 40), np.arange(40, 100)], 1 / 2),
])  # fmt: skip
def test_disjoint_folds_are_a_cross_validation(folds, ratio):
    design, notes = infer(folds)
    assert (design.kind, design.n_folds, notes) == ("kfold", len(folds), ())
    assert design.ratio == pytest.approx(ratio, rel=1e-12)  # whatever the sizes
    assert design.variance_inflation == pytest.approx(1 + len(folds) * ratio)
    assert design.overlapping


@each("seed", range(5))
@each(
    ("n_cases", "k", "repeats", "missing"),
    [(200, 2, 5, 0), (300, 10, 3, 0), (60, 10, 10, 0), (103, 5, 2, 0), (200, 5, 2, 2)],
)
def test_repeated_cross_validation_in_any_order_of_folds(n_cases, k, *, repeats, missing, seed):
    """Folds of two repeats may be disjoint: of (60, 10, 10), every other pair is. One may lack folds."""
    rng = np.random.default_rng(seed)
    folds = [fold for _ in range(repeats) for fold in kfold(n_cases, k, rng)]
    folds = [folds[i] for i in rng.permutation(len(folds))] if not missing else folds[:-missing]
    design, notes = infer(folds)
    assert (design.kind, design.n_folds, notes) == ("repeated_kfold", len(folds), ())
    assert design.ratio == pytest.approx(1 / (k - 1), rel=1e-12)


@each("seed", range(5))
@each(("n_cases", "fractions"), [(1000, [0.2] * 20), (300, [0.5, 0.2, 0.3]), (120, [0.1, 0.2, 0.15, 0.4])])
def test_holdouts_show_the_size_of_the_data_set_by_their_overlap(n_cases, fractions, seed):
    rng = np.random.default_rng(seed)
    folds = [set(holdouts(n_cases, 1, fraction, rng)[0].tolist()) for fraction in fractions]
    pairs = list(itertools.combinations(folds, 2))
    total = sum(len(a) * len(b) for a, b in pairs) / sum(len(a & b) for a, b in pairs)
    fraction = np.mean([len(fold) for fold in folds]) / max(total, len(set.union(*folds)))
    design, notes = infer([list(fold) for fold in folds])
    assert (design.kind, notes) == ("repeated_holdout", ())
    assert design.test_fraction == pytest.approx(fraction, rel=1e-12)
    if len(folds) == 20:
        assert design.ratio == pytest.approx(0.25, rel=0.02)


def test_folds_of_all_cases_dropped_folds_and_clusters_that_recur():
    assert infer([np.arange(40), np.arange(20), np.arange(10, 30)])[0].kind == "repeated_holdout"
    rng = np.random.default_rng(3)
    twice = [fold for _ in range(5) for fold in kfold(200, 2, rng)]
    once = [np.arange(20 * i, 20 * (i + 1)) for i in range(5)]
    for folds, dropped, kind, ratio in [
        (once, 0, "kfold", 1 / 4), (once, 4, "kfold", 1 / 4), (twice, 3, "repeated_kfold", 1),
    ]:  # fmt: skip
        with pytest.warns(sa.SkewanovaWarning, match=f"dropped 1 of {len(folds)} folds"):
            table, _ = pairing.complete_table(table_of(folds, skip={("A", dropped)}), missing="drop")
        design = infer_design(table)
        assert (design.kind, design.n_folds, design.ratio) == (kind, len(folds) - 1, pytest.approx(ratio))
    options = {"cluster": lambda frame: frame["case"] // 2}
    pairs = np.arange(16).reshape(8, 2)
    folds = [pairs[:4], pairs[4:], pairs[::2], pairs[1::2]]
    table = table_of([fold.ravel() for fold in folds], **options)
    design = infer_design(table)
    assert (design.kind, design.n_clusters, design.weighted) == ("repeated_kfold", 8, False)
    assert "cases in 8 clusters, each whole in a fold or not in it" in design.describe()
    for stated in ("independent", "kfold"):
        message = (
            f"with design='{stated}' no two folds may share a cluster, but cluster 0 is in 2 folds (such "
            "clusters in all: 8); use design='auto' (--design auto)"
        )
        expect_error(exact(message), infer_design, table, design=stated, error=ValueError)
    for folds in (FOLDS, OVERLAPPING):
        first = infer(folds)[0]
        again, notes = infer(folds, design=first)
        assert (again.kind, again.ratio, again.n_folds, notes) == (first.kind, first.ratio, first.n_folds, ())


RECUR = "cases occur in several folds, but the folds were stated to be independent; leave out `design`"


NEW, A_CASE = "methods retrained on data like these", "test cases for each training case"


@each(("folds", "stated", "description", "population", "notes"), [
    (FOLDS, "auto", f"one cross-validation, 5 folds, 0.25 {A_CASE} (no case occurs in two folds)", NEW,
     ()),
    (REPEATED, "auto", f"repeated cross-validation, 10 folds, 0.25 {A_CASE} (the folds fall into sets "
     "that each cover all cases)", NEW, ()),
    (FOLDS, "kfold", f"one cross-validation, 5 folds, 0.25 {A_CASE} (design as stated)", NEW, ()),
    *((folds, "independent", f"independent folds, {len(folds)} folds (as stated)",
       "methods retrained on new data", notes)
      for folds, notes in [(FOLDS, ()), (OVERLAPPING, (RECUR,)), (REPEATED, (RECUR,)), (RUNS, (RECUR,))]),
    (FOLDS, sa.FoldDesign("independent", 0.2), "independent folds, 5 folds (as stated)",
     "methods retrained on new data",
     ("test_fraction=0.2 is not used, because the folds were stated to be independent; leave it out",)),
    (FOLDS, "repeated_holdout", f"repeated hold-out, 5 folds, 0.25 {A_CASE} (design as stated)", NEW,
     ("the cases look like kfold, but design='repeated_holdout' was stated and is used; if it is wrong, "
      "leave out `design`",)),
    (FOLDS, sa.FoldDesign("repeated_holdout", reason="drawn so"), f"repeated hold-out, 5 folds, 0.25 "
     f"{A_CASE} (design as stated)", NEW, ()),
    (FOLDS, sa.FoldDesign("auto", 0.05), f"one cross-validation, 5 folds, 0.0526 {A_CASE} (test_fraction as "
     "stated)", NEW, ("the cases look like 0.2 of the data set in each fold, but test_fraction=0.05 was "
                      "stated and is used; if it is wrong, leave out `test_fraction`",)),
    (OVERLAPPING, sa.FoldDesign("auto", 0.2), f"repeated hold-out, 8 folds, 0.25 {A_CASE} (test_fraction as "
     "stated)", NEW, ()),
    (OVERLAPPING, sa.FoldDesign("auto", 0.2, correlation=0.5), f"repeated hold-out, 8 folds, 0.25 {A_CASE}, "
     "results correlated by 0.5 (r = 1) (test_fraction as stated)", NEW, ()),
    (FOLDS, sa.FoldDesign("kfold", 0.2), f"one cross-validation, 5 folds, 0.25 {A_CASE} (design and "
     "test_fraction as stated)", NEW, ()),
    (RUNS, "auto", "6 runs on one test set (every run tests the same cases)",
     "learners over further runs and cases", ()),
    (RUNS, "nested_runs", "6 separate runs of each model on one test set (every run tests the same "
     "cases)", "learners over further runs and cases", ()),
    (RUNS, "fixed_runs", "6 fixed runs on one test set (every run tests the same cases)",
     "these fitted models on further cases", ()),
    (RUNS, "repeated_holdout", f"repeated hold-out, 6 folds, 0.25 {A_CASE} (assumed)", NEW,
     (SAME_CASES,)),
    (RUNS, sa.FoldDesign("auto", 0.5), "repeated hold-out, 6 folds, 1 test case for each training case "
     "(test_fraction as stated)",
     NEW, (SAME_CASES,)),
])  # fmt: skip
def test_designs_stated_of_cases(folds, stated, *, description, population, notes):
    design = infer(folds, design=stated)[0]
    assert (design.describe(), design.population) == (description, population)
    assert design.warnings[: len(notes)] == notes
    assert len(design.warnings) == len(notes) + ("(assumed)" in description)
    assert design.overlapping is (population == NEW)
    assert design.has_fixed_models is population.startswith("these fitted models")


@each(("factor", "agrees"), [(1.09, True), (1 / 1.09, True), (1.11, False), (1 / 1.11, False)])
def test_a_stated_ratio_may_differ_by_a_tenth(factor, agrees):
    ratio = 0.25 * factor
    assert (not infer(FOLDS, design=sa.FoldDesign("auto", ratio / (1 + ratio)))[1]) is agrees


def test_halvings_make_a_split_half_design():
    frame = halved_frame()  # hold-outs of 21 of 60 cases, halves in 2 folds
    table = sa.read_scores(frame)
    design = infer_design(table)
    assert (design.kind, design.n_folds, design.n_halvings, design.inner_folds) == ("split_half", 6, 4, 2)
    assert design.ratio == pytest.approx(21 / 39)
    assert design.warnings == (module.FEW_INNER_FOLDS.format(fewest=2),)
    assert design.describe() == (
        "repeated hold-out and 4 halvings of the data, 6 folds, 0.538 test cases for each training case "
        "(folds overlap at random)"
    )
    assert infer_design(table, design="split_half") == design
    assert infer_design(table, design=sa.FoldDesign("split_half", 0.2)).ratio == pytest.approx(0.25)
    for inner, n_warnings in ((4, 1), (5, 0)):
        enough = infer_design(sa.read_scores(halved_frame(n_cases=90, inner_folds=inner)))
        assert (enough.inner_folds, len(enough.warnings)) == (inner, n_warnings)
    plain = infer_design(table, design="repeated_holdout")
    assert (plain.kind, plain.n_halvings, plain.inner_folds) == ("repeated_holdout", 0, 0)
    assert plain.warnings == (module.NOT_USED.format(design="repeated_holdout"),)
    single = infer_design(sa.read_scores(frame[frame["fold"].eq(1) | frame["part"].ne("holdout")]))
    assert single.kind == "test_set"
    assert single.warnings == ("halvings not used for only one fold; leave that out",)


def without_cases(j, **options):
    return infer([np.arange(10)] * j, cases=False, **options)


@each(("j", "ratio", "share"), [(2, 1.0, "50%"), (3, 0.5, "33%"), (5, 0.25, "20%"), (20, 0.25, "20%")])
def test_nothing_known_is_taken_as_holdouts(j, ratio, share):
    design, notes = without_cases(j)
    assert (design.kind, design.reason, design.n_folds) == ("repeated_holdout", "assumed", j)
    assert design.ratio == pytest.approx(ratio)
    assert notes[0] == SAME_LABELS  # of two models and j folds with labels in the same order
    assert notes[1:] == (
        f"cannot tell how the folds were made, so repeated hold-out of one data set with {share} test cases "
        "is assumed; add a case column, or state the design, as in design='kfold'",
    )


@each(("labels", "same"), [
    (["0110", "0110", "0110"], True),
    (["0011", "0011", "0011"], False),  # merely sorted by class
    (["0110", "1001", "0110"], False),
    (["0110", "0110", "01101"], False),
])  # fmt: skip
def test_labels_in_the_same_order_may_be_runs(labels, same):
    rows = [(m, f, int(y)) for m in "AB" for f, text in enumerate(labels) for y in text]
    frame = pd.DataFrame(rows, columns=["model", "fold", "y_true"])
    table = sa.read_scores(frame.assign(y_score=np.arange(len(rows))))
    assert (SAME_LABELS in infer_design(table).warnings) is same
    assert SAME_LABELS not in infer_design(table, design="repeated_holdout").warnings


@each(("stated", "kind", "ratio", "reason"), [
    ("kfold", "kfold", 1 / 9, "as stated"), ("independent", "independent", 0, "as stated"),
    (sa.FoldDesign("repeated_kfold", 0.5), "repeated_kfold", 1, "test_fraction as stated"),
    (sa.FoldDesign("auto", 0.1), "repeated_holdout", 1 / 9, "test_fraction as stated"),
    (sa.FoldDesign("auto", 0.1, correlation=0.5), "repeated_holdout", 1, "test_fraction as stated"),
    (sa.FoldDesign("kfold", correlation=0.2), "kfold", 0.25, "as stated"),
    ("repeated_holdout", "repeated_holdout", 0.25, "assumed"),
])  # fmt: skip
def test_designs_stated_without_cases(stated, kind, ratio, reason):
    design, notes = without_cases(10, design=stated)
    assert (design.kind, design.n_folds, design.reason) == (kind, 10, reason)
    assert design.ratio == pytest.approx(ratio)
    expected = ["cannot tell how large the folds are"] if reason == "assumed" else []
    assert [note.partition(",")[0] for note in notes] == expected


@each(("stated", "message"), [
    ("repeated_kfold",
     "design='repeated_kfold' needs the size of the folds: state `test_fraction`, as in "
     "design=skewanova.FoldDesign('repeated_kfold', test_fraction=0.1), or --test-fraction 0.1; or "
     "add a case column"),
    ("bootstrap",
     "`design` must be one of auto, independent, kfold, repeated_kfold, repeated_holdout, split_half, "
     "runs, nested_runs, fixed_runs, test_set; but got 'bootstrap'"),
    ("test_set",
     "design='test_set' needs a single fold, but there are 10; use design='auto' (--design auto)"),
    ("split_half", module.NO_HALVINGS), ("runs", module.NEEDS_SAME_CASES.format(design="runs")),
    ("fixed_runs", module.NEEDS_SAME_CASES.format(design="fixed_runs")),
])  # fmt: skip
def test_designs_that_cannot_be(stated, message):
    expect_error(exact(message), without_cases, 10, design=stated, error=ValueError)
    if stated == "test_set":
        expect_error(exact(message), module.design_without_cases, 10, sa.FoldDesign("test_set"))
    if stated in {"runs", "split_half"}:
        expect_error(exact(message), infer, FOLDS, design=stated, error=ValueError)
        expect_error(exact(message), module.design_without_cases, 10, module.as_design(stated))


def test_fractions_and_types_that_cannot_be():
    for fraction, advice in ((0, ""), (1, ""), (-0.2, ""), (20, "; did you mean 0.2?")):
        message = f"`test_fraction` must lie strictly between 0 and 1, but got {fraction:g}{advice}"
        expect_error(exact(message), sa.FoldDesign, "auto", fraction, error=ValueError)
    message = "`design` must be a name such as 'kfold' or a FoldDesign, but has type int"
    expect_error(message, infer, FOLDS, design=3, error=TypeError)


def test_one_fold_has_no_design_and_clusters_and_weights_are_named():
    for cases in (True, False):
        design, notes = infer([np.arange(11)], cases=cases)
        assert (design.kind, design.n_folds, design.ratio, notes) == ("test_set", 1, 0.0, ())
        assert (design.overlapping, design.has_fixed_models) == (False, True)
        assert design.describe() == "one test set (5 positives, 6 negatives)"
    assert without_cases(1, design="test_set")[1] == ()
    _, notes = without_cases(1, design=sa.FoldDesign("kfold", 0.2))
    assert notes == ("design='kfold' and test_fraction=0.2 not used for only one fold; leave that out",)
    one = module.design_without_cases(1, sa.FoldDesign("kfold"))
    assert (one.kind, one.n_folds, one.reason) == ("test_set", 1, "one fold")
    folds = [np.arange(20), np.arange(20, 40)]
    patients = table_of(folds, cluster=lambda frame: frame["case"] // 2, weight=lambda _: 2.0)
    assert sa.FoldDesign("test_set", n_clusters=20, weighted=True).population == (
        "these fitted models on further clusters of the population that the weights stand for"
    )
    design = infer_design(patients)
    assert (design.n_clusters, design.weighted) == (20, True)
    assert design.describe().endswith(
        "folds; cases in 20 clusters, each whole in a fold or not in it; cases weighted)"
    )
    single = infer_design(table_of(folds[:1], cluster=lambda frame: frame["case"] // 2))
    assert single.describe() == "one test set (10 positives, 10 negatives; cases in 10 clusters)"


def test_intervals_are_those_of_nadeau_and_bengio():
    rng = np.random.default_rng(0)
    values = 0.9 + 0.1 * rng.normal(size=(7, 3))
    mean, std = values.mean(axis=0), values.std(axis=0, ddof=1)
    plain = fold_mean_interval(mean, std, 7, ratio=0.25, level=0.9)
    np.testing.assert_allclose(plain.std_error, std * np.sqrt(1 / 7 + 0.25), rtol=1e-14)
    limits = stats.t.interval(0.9, 6, loc=mean, scale=plain.std_error)
    np.testing.assert_allclose([plain.low, plain.high], limits, rtol=1e-12)
    halves = 0.01 * rng.normal(size=(5, 3))
    halved = fold_mean_interval(mean, std, 7, ratio=0.25, level=0.9, halves=halves)
    squares = [sum(x**2 for x in column) / 5 for column in halves.T]
    np.testing.assert_allclose(halved.std_error**2, std**2 / 7 + squares, rtol=1e-12)
    limits = stats.t.interval(0.9, 5, loc=mean, scale=halved.std_error)
    np.testing.assert_allclose([halved.low, halved.high], limits, rtol=1e-12)
    single = fold_mean_interval(0.5, 0.1, 1, ratio=1.0, level=0.5)  # df are 1 at least
    assert single.high == pytest.approx(0.5 + 0.1 * np.sqrt(2))
    areas = fold_mean_interval(mean, std, 7, ratio=0.25, level=0.9, halves=halves, size=30)
    np.testing.assert_array_equal(areas.std_error, halved.std_error)
    limits = logit_interval(mean, halved.std_error, df=5, level=0.9, size=30)
    np.testing.assert_array_equal([areas.low, areas.high], limits)


@pytest.mark.parametrize("df", [np.inf, 6.0])
def test_the_logit_interval_divides_the_error_by_the_slope(df):
    limits = logit_interval(0.7, 0.03, df=df, level=0.9)
    margin = stats.t.ppf(0.95, df) * 0.03 / 0.21 * np.array([-1, 1])
    assert special.logit(limits) == pytest.approx(special.logit(0.7) + margin)


def test_the_logit_interval_counts_half_a_case_and_holds_the_area():
    # precisions 1 and 0 of weight 1/2 beside 8 cases, whose mean has the variance of its sum over 9^2
    mean = (8 * 0.7 + 0.5) / 9
    variance = (8**2 * 0.03**2 + 0.5 * (1 - mean) ** 2 + 0.5 * mean**2) / 9**2
    margin = stats.t.ppf(0.95, 6) * variance**0.5 / (mean * (1 - mean)) * np.array([-1, 1])
    limits = logit_interval(0.7, 0.03, df=6, level=0.9, size=8)
    assert special.logit(limits) == pytest.approx(special.logit(mean) + margin)
    low, high = logit_interval([0.0, 1e-9, 1 - 1e-9, 1.0], 0.0, df=9, level=0.95, size=30)
    assert (low[:2].tolist(), high[2:].tolist()) == ([0, 1e-9], [1 - 1e-9, 1])
    assert (high > low + 0.1).all()
