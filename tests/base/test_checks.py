import re
import warnings
from decimal import Decimal
from functools import partial

import numpy as np
import pandas as pd
import pytest
from loops import each
from messages import exact, expect_error

from skewanova.base import checks
from skewanova.base.checks import InputError, InputTypeError, SkewanovaWarning
from skewanova.curves.roc import RocCurve, roc_curve
from skewanova.inference.covariance import auprec_covariance
from skewanova.inference.intervals import confidence_interval
from skewanova.priors.weightings import DiscretePrior, as_deployment_prior, correct_class_prior
from skewanova.scores.reading import read_scores


def test_what_is_right_is_handed_on():
    for value in (0.3, [0.3], [[0.3, 0.4]], np.float32(0.25)):
        prior = checks.check_priors(value)
        assert (prior.shape, prior.dtype) == (np.shape(value), np.float64)
        assert (prior == np.asarray(value)).all()
    given = np.array([0.1, 0.2])
    checks.check_priors(given)[0] = 0.9
    assert (given[0], checks.check_prior(1e-300)) == (0.1, 1e-300)
    assert type(checks.check_prior(np.float64(0.25))) is float
    assert checks.check_skews([[4, 19]]).tolist() == [[4.0, 19.0]]
    assert checks.check_fraction(0.95, "level") == 0.95
    assert [checks.check_rope(rope) for rope in (0, 0.5, 1)] == [0, 0.5, 1]
    assert [checks.check_sum_of_squares(kind) for kind in (1, 2, np.int64(3))] == [1, 2, 3]
    assert checks.check_choice("b", ("a", "b"), "letter") == "b"
    assert checks.check_count(3, "n", minimum=3) == 3
    assert type(checks.check_count(np.int64(3), "n", minimum=1)) is int
    assert checks.check_weights([0, 2]).tolist() == [0.0, 2.0]
    assert checks.check_weights([1e308]).tolist() == [1e308]
    checks.check_ordered(0.1, 0.1)
    checks.check_same_length(a=np.zeros(2), b=np.ones(2))


def line(row):
    return f"line {row + 2}"


def named(check, name, **options):
    return lambda value: check(value, name=name, **options)


level = named(checks.check_fraction, "level")
of_x = partial(checks.check_labels, pos_label="x")
BETWEEN, ONE = (f" must {verb} strictly between 0 and 1, but got " for verb in ("lie", "be one number"))
TINY = "`prior` must be 1e-300 or more, as the skew of less cannot be computed with, but got "
POSITIVE = "`skew` must be positive and finite, but got "
NAN, EMPTY = " must not hold NaN or blanks, but has ", " must hold at least one value, but is empty"
LEAVE_OUT = "; fill them in, or leave out their whole rows for all models"
ONE_DIMENSION = " must be one-dimensional, but has shape "
REAL = "`y_score` must hold real numbers, but has dtype "
PASS_ONE, WEIGHT = "; pass one column or row", "`sample_weight` must be finite and not negative, but row "
SUM = "`sample_weight` must have a finite sum; divide all by the largest, 1e+308"
LABEL = (
    "`y_true` has the labels {0}: name the positive class by pos_label={1} (of a table: "
    "skewanova.read_scores(table, pos_label={1})), or --positive {1}"
)
THREE = (
    "`y_true` must hold two classes, but has 3, first seen: 0 (row 0), 1 (row 2), 2 (row 1); make it 1 for "
    "one class and 0 for the rest, without `pos_label`; or, with scores of each class, use skewanova."
    "compare_classes(skewanova.scores_from_multiclass(y_true, {'A': a, 'B': b})), or "
    "`skewanova compare --classes LIST`"
)
SINGLE = "`y_true` must hold both classes, but has only the label 5; add cases of the other class, and name "
SINGLE += "the positive one by pos_label (--positive)"
FRACTIONS = "`y_true` must hold classes such as 0 and 1, but has fractions; labels: "
SUM_TYPE = "`sum_of_squares` must be the integer 1, 2 or 3, but got "
ROPE = "`rope` must be a difference that would not matter, 0 or more"
VALUES = {
    checks.check_priors: [
        (0.0, f"`prior`{BETWEEN}0"), (1.0, f"`prior`{BETWEEN}1"), (np.nan, f"`prior`{BETWEEN}nan"),
        (-np.inf, f"`prior`{BETWEEN}-inf"), ([0, 1, 0.5], f"`prior`{BETWEEN}1"),
        (True, f"`prior`{BETWEEN}1"),
        ([[0.5, 19]], f"`prior`{BETWEEN}19; write skew 19 as prior 0.05, or 19% as 0.19"),
        (5e-324, TINY + "4.94066e-324"), ([0.5, 9e-301], TINY + "9e-301"),
        ([], "`prior` must hold at least one prior, but is empty")],
    checks.check_prior: [(4, f"`prior`{BETWEEN}4; write skew 4 as prior 0.2, or 4% as 0.04")],
    checks.check_skews: [(v, f"{POSITIVE}{np.min(v):g}") for v in (0.0, -1.0, np.nan, np.inf)],
    partial(checks.check_skews): [([1, -3, -4], POSITIVE + "-3"), ([1, -np.inf], POSITIVE + "-inf")],
    checks.check_rope: [(-0.1, ROPE + ", but got -0.1"), (1.5, ROPE + ", 1 or less, but got 1.5")],
    checks.check_sum_of_squares: [(v, f"{SUM_TYPE}{v!r}") for v in (0, 4, 2.5, True)],
    level: [(1, f"`level`{BETWEEN}1"), (95, f"`level`{BETWEEN}95; did you mean 0.95?")],
    checks.check_alpha: [
        (v, f"`alpha` must lie above 0 and at most 0.5, but got {v}; did you mean 0.05?") for v in (5, 0.95)],
    lambda v: checks.check_ordered(*v): [
        ((2, 1), "a prior range must be given as (low, high), but got low=2 > high=1")],
    named(checks.check_choice, "x", choices=("a", "b")): [("c", "`x` must be one of a, b; but got 'c'")],
    named(checks.check_count, "n", minimum=2): [(1, "`n` must be at least 2, but got 1")],
    named(checks.check_scores, "s", where=line): [([np.nan], f"`s`{NAN}1, the first at line 2{LEAVE_OUT}")],
    checks.check_scores: [
        ([0.5, np.nan, 1, np.nan], f"`y_score`{NAN}2, the first at row 1{LEAVE_OUT}"),
        *((np.zeros(shape), f"`y_score`{ONE_DIMENSION}{shape}{PASS_ONE}") for shape in ((1, 2), (2, 0))),
        ([], f"`y_score`{EMPTY}"), (np.array(3.0), "`y_score` must be a list or an array, but got 3.0")],
    lambda v: checks.check_same_length(a=[1], b=v): [
        ([1, 2], "arguments must be equally long, but `a` has 1, `b` has 2")],
    checks.check_weights: [
        ([1, -0.5, -2], WEIGHT + "1 has -0.5"), ([np.nan], WEIGHT + "0 has nan"),
        ([np.inf], WEIGHT + "0 has inf"), ([1e308, 1e308], SUM),
        (1.0, "`sample_weight` must be a list or an array, but got 1.0")],
    checks.check_labels: [
        ([[0, 1]], f"`y_true`{ONE_DIMENSION}(1, 2){PASS_ONE}"), ([], f"`y_true`{EMPTY}"), ([0, 2, 1], THREE),
        ([1, 2], LABEL.format("1, 2", "2")), (["no", "yes"], LABEL.format("'no', 'yes'", "'yes'")),
        ([1234567, 1234568], LABEL.format("1234567, 1234568", "1234568")), ([5, 5], SINGLE),
        ([0, 0.5], FRACTIONS + "0 (row 0), 0.5 (row 1)"),
        (["rest", "1"], LABEL.format("'1', 'rest'", "'rest'"))],
    of_x: [
        (["n", "y"], "`pos_label` must be one of the labels 'n', 'y', but got 'x'"),
        ([0, 1], "`pos_label` must be one of the labels 0, 1, but got 'x'"), ([0, 2, 1], THREE)],
}  # fmt: skip
TYPES = {
    checks.check_priors: [
        (v, f"`prior` must be numbers strictly between 0 and 1, but got {v!r}")
        for v in ("0.5", None, 0.5j, [Decimal("0.5")], object())],
    checks.check_prior: [([0.1, 0.2], f"`prior`{ONE}2 in shape (2,)")],
    level: [
        ([0.95], f"`level`{ONE}1 in shape (1,)"), ("0.9", f"`level`{ONE}'0.9'")],
    named(checks.check_count, "n", minimum=1): [
        (value, f"`n` must be a whole number, but got {value!r}") for value in (True, 2.0, "2", None)
    ],
    checks.check_weights: [(["1"], "`sample_weight` must be a list of numbers, but got ['1']")],
    checks.check_scores: [
        (["0.1", "0.2"], REAL + "<U3; pass numpy.asarray(y_score, dtype=float)"),
        ([b"0.1"], REAL + "|S3"), ([1j, 2], REAL + "complex128"),
        ([1, None], REAL + "object; the first that is not a number is None at row 1"),
        ([Decimal(1)], REAL + "object; pass numpy.asarray(y_score, dtype=float)"),
        (np.array(["2020"], "datetime64[Y]"), REAL + "datetime64[Y]")],
}  # fmt: skip


@each(("check", "cases"), VALUES.items())
def test_values_that_are_refused(check, cases):
    for value, message in cases:
        expect_error(exact(message), check, value)


@each(("check", "cases"), TYPES.items())
def test_types_that_are_refused(check, cases):
    for value, message in cases:
        expect_error(exact(message), check, value, error=InputTypeError)


def test_each_note_is_one_warning_at_the_line_of_the_user():
    frame = pd.DataFrame({"model": "A", "y_true": [0, 1, 0, 1], "y_score": [0.1, 0.9, 0.2, 0.8]})
    with pytest.warns(SkewanovaWarning, match="no column fold") as deep:
        read_scores(frame)
    with pytest.warns(SkewanovaWarning, match="one") as near:
        checks.warn_each(["one"])
    assert [each.filename for each in (*deep, *near)] == [__file__, __file__]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = checks.warn_each(["one", "two", "one"])
    assert (kept, [str(w.message) for w in caught]) == (("one", "two"), ["one", "two"])
    assert all(w.category is SkewanovaWarning for w in caught)


def test_messages_begin_with_the_part_that_is_bad_and_masks_are_heeded():
    for kind in (InputError, InputTypeError):
        with pytest.raises(kind, match=exact("class 'x': too few")), checks.prefix_errors("class 'x'"):
            raise kind("too few")
    assert checks.check_labels([-0.0, 0.0, 1.0]).tolist() == [False, False, True]
    for labels, expected in (([1, 1], [True, True]), ([0, 0], [False] * 2), ([-1], [False])):
        assert checks.check_labels(labels).tolist() == expected
    assert checks.check_labels(["no", "no"], pos_label="yes").tolist() == [False, False]
    table = np.ma.array([[1, 2], [3, 4]], mask=[[False, False], [True, True]])
    expect_error("but has 2, the first at row 1;", auprec_covariance, [0, 1], table, prior=0.5)
    expect_error("but has 2, the first at row 1;", checks.check_scores, list(table))
    expect_error("`prior` must not hold masked values", checks.check_prior, np.ma.masked)
    assert checks.check_scores(np.ma.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    with pytest.raises(InputError, match="`y_score` must be a flat list, or an array with rows of"):
        checks.check_scores([[1, 2], [1]])
    for labels in ([2**53 + 1, 2**53], [2**64 + 1, 2**64], [2**63 + 1, -1]):
        for given in (labels, [str(label) for label in labels], np.array(labels, dtype=object)):
            assert checks.check_labels(given, pos_label=labels[0]).tolist() == [True, False]
    assert checks.check_labels(np.array([2**53 + 1, 2**53]), pos_label=2**53).tolist() == [False, True]
    assert checks.check_weights([2**64, 1]).tolist() == [2.0**64, 1.0]
    expect_error("must be finite and not negative, but row 0 has inf", checks.check_weights, [10**400, 1])
    small = "must be 0 or more than 1e-200 of the largest, but row 1 has 1e-300"
    expect_error(small, checks.check_weights, [1, 1e-300])  # an area would underflow
    with pytest.raises(InputError, match="`prior` must lie strictly between 0 and 1, but got -inf"):
        checks.check_priors([-(10**400), 0.5])


@each("score", [
    np.array([3, 1], np.uint8), np.array([2**53, 2**53 + 1]), np.array([0.5, 1], np.float16),
    np.array([0.5, 1], np.float32), np.array([True, False]), np.array([np.inf, -np.inf]),
])  # fmt: skip
def test_scores_keep_their_dtype(score):
    checked = checks.check_scores(score)
    assert checked.dtype == score.dtype
    assert (checked == score).all()


PLAIN = [
    [0, 1, 1], [False, True, True], [-1, 1, 1], [0.0, 1.0, 1.0], np.array([0, 1, 1], np.uint8),
    np.array([-1, 1, 1], np.int8), ["0", "1", "1"], ["0.0", "1", " 1.0 "], ["-1", "1", "1"],
    ["False", "true", "TRUE"], np.array([False, True, 1], dtype=object),
    np.array([np.False_, np.True_, np.True_], dtype=object), np.array([0, 1.0, "1"], dtype=object),
    [-0.0, 1, 1],
]  # fmt: skip


@each(("labels", "message"), [
    (range(9), r"has 9, first seen: 0 .* 4 [^,]*; make it"),
    (["0", "0.5"], r"^`y_true` must hold classes such as 0 and 1, but has fractions; .*0\.5"),
    ([0.5, 0.5], r"^`y_true` must hold classes such as 0 and 1, but has fractions; .*0\.5"),
    ([0, 1, 2], r"first seen: 0 \(line 2\), 1 \(line 3\), 2 \(line 4\); make"),
])  # fmt: skip
def test_labels_that_are_refused(labels, message):
    expect_error(message, checks.check_labels, labels, **{"where": line} if "line" in message else {})


@each(("labels", "pos_label"), [
    *((labels, None) for labels in PLAIN), (["no", "yes", "yes"], "yes"), (["yes", "no", "no"], "no"),
    ([1, 2, 2], 2), ([1, 2, 2], 2.0), ([1, 2, 2], "2"), ([1, 2, 2], np.int8(2)), (["1", "2", "2"], 2),
    (["1.0", "2", "2.0"], 2), ([1, 0, 0], 0), ([1, 0, 0], False), ([0, 1, 1], True), ([0, 1, 1], "True"),
    ([0, 1, 1], np.True_), ([False, True, True], "1"),
    # one of the labels reads as a number, the other does not
    (["rest", "1", "1"], "1"), (["rest", "1", "1"], 1), (["1", "rest", "rest"], "rest"),
    (["other", "True", "True"], True), (["other", "True", "True"], "True"), ([b"no", b"yes", b"yes"], b"yes"),
    ([" no", "yes ", "yes"], "yes"), (np.array([(1), "x", "x"], dtype=object), "x"),
])  # fmt: skip
def test_positive_classes_that_are_named_or_evident(labels, pos_label):
    positive = checks.check_labels(labels, pos_label=pos_label)
    assert (positive.dtype, positive.tolist()) == (bool, [False, True, True])


@each("labels", [
    [0.0, np.nan, 1.0], [0, None, 1], ["0", "", "1"], ["no", "nan", "yes"], ["no", " N/A ", "yes"],
    ["no", "None", "yes"], np.array([0, np.nan, 1], dtype=object),
    np.array(["2020", "NaT", "2021"], "datetime64[Y]"), np.array([0, np.nan, 1], np.float16),
])  # fmt: skip
def test_missing_labels(labels):
    message = "`y_true` must not have missing labels, but has 1, the first at row 1; fill them in, or leave"
    expect_error(message, checks.check_labels, labels, pos_label="yes")


MASKED = np.ma.array([0.2, 0.9, 0.4], mask=[False, True, False])
ROUNDED = [2**63 + 1, 2**63, -1]


@each(("check", "name"), [
    (checks.check_scores, "y_score"),
    (checks.check_labels, "y_true"),
    (checks.check_weights, "sample_weight"),
    (checks.check_priors, "prior"),
    (checks.check_skews, "skew"),
    (as_deployment_prior, "deployment_prior"),
    (DiscretePrior, "priors"),
    (lambda p: correct_class_prior(p, train_prior=0.5, prior=0.1), "probability"),
    (lambda p: confidence_interval([0, 1, 1], p, prior=0.1), "y_score"),
    (lambda p: RocCurve.from_rates(p, [0, 1, 1]), "fpr"),
    (lambda f: confidence_interval([0, 1, 1], [1, 2, 3], prior=0.1, method="cross_validation", folds=f),
     "folds"),
])  # fmt: skip
@each("given", [MASKED, [0.2, np.ma.masked, 0.4]])
def test_masked_values_are_refused_everywhere(check, name, given):
    message = f"`{name}` must not hold masked values, but has 1, the first at row 1; leave them out"
    expect_error("^" + re.escape(message), check, given)


@pytest.mark.parametrize("given", [ROUNDED, [2**53 + 1, 2**53, 0.5], [2**64 + 1, 2**64, 1], [10**400, 1, 0]])
def test_scores_that_would_lose_their_order_are_refused(given):
    message = f"`y_score` must keep its order in 64 bits, but {given[0]!s:.40} would be rounded, and may tie"
    for check in (checks.check_scores, lambda s: roc_curve([0, 1, 1], s)):
        expect_error("^" + re.escape(message), check, given)


@pytest.mark.parametrize("given", [[2**63 + 1, 2**63], [2**63, -1], [2**64, 0.5], [-(2**70), 1, np.inf]])
def test_scores_of_python_that_64_bits_hold_keep_their_order(given):
    score = checks.check_scores(given)
    assert [int(s) if abs(s) > 1e9 and s < np.inf else s for s in score.tolist()] == given
