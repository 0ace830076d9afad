import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from loops import each
from messages import exact

from skewanova.base import checks as base_checks
from skewanova.base.checks import InputError, InputTypeError, SkewanovaWarning
from skewanova.curves.roc import RocCurve, roc_curve
from skewanova.inference.covariance import auprec_covariance
from skewanova.inference.intervals import confidence_interval
from skewanova.priors.weightings import DiscretePrior, as_deployment_prior, correct_class_prior
from skewanova.scores.reading import read_scores

# --- scalars ------------------------------------------------------------------------------------------------


def test_errors_are_builtin_errors_too():
    assert issubclass(InputError, ValueError)
    assert issubclass(InputTypeError, TypeError)
    assert issubclass(SkewanovaWarning, UserWarning)


@pytest.mark.parametrize("value", [0.3, [0.3], [[0.3, 0.4]], np.float32(0.25)])
def test_priors_keep_shape_and_become_float64(value):
    prior = base_checks.check_priors(value)
    assert prior.shape == np.shape(value)
    assert prior.dtype == np.float64
    assert (prior == np.asarray(value)).all()


def test_priors_are_copied():
    given = np.array([0.1, 0.2])
    base_checks.check_priors(given)[0] = 0.9
    assert given[0] == 0.1


@each(
    ("value", "shown"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (-0.5, "-0.5"),
        (np.nan, "nan"),
        (-np.inf, "-inf"),
        (np.inf, "inf"),
        ([0.5, 1, 2], "1"),
        (True, "1"),
        (4.0, "4; did you mean skew=4, that is prior=0.2?"),
        ([[0.5, 19]], "19; did you mean skew=19, that is prior=0.05?"),
    ],
)
def test_prior_out_of_range(value, shown):
    message = f"`prior` must lie strictly between 0 and 1, but got {shown}"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_priors(value)


@pytest.mark.parametrize("prior", [5e-324, 1e-320, [0.5, 9e-301]])
def test_priors_whose_skew_cannot_be_computed_with_are_refused(prior):
    shown = f"{np.min(prior):g}"
    message = f"`prior` must be 1e-300 or more, as the skew of less cannot be computed with, but got {shown}"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_priors(prior)
    assert base_checks.check_prior(1e-300) == 1e-300


def test_prior_empty():
    with pytest.raises(InputError, match=exact("`p` must hold at least one prior, but is empty")):
        base_checks.check_priors([], "p")


@pytest.mark.parametrize("value", ["0.5", None, 0.5j, [Decimal("0.5")], object()])
def test_prior_of_wrong_type(value):
    message = f"`prior` must be a number or numbers, but got {value!r}"
    with pytest.raises(InputTypeError, match=exact(message)):
        base_checks.check_priors(value)


def test_one_prior():
    assert base_checks.check_prior(0.25) == 0.25
    assert type(base_checks.check_prior(np.float64(0.25))) is float
    with pytest.raises(InputTypeError, match=exact("`prior` must be one number, but got 2 in shape (2,)")):
        base_checks.check_prior([0.1, 0.2])
    with pytest.raises(InputError, match=re.escape("did you mean skew=4, that is prior=0.2?")):
        base_checks.check_prior(4)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0.0, "0"), (-1.0, "-1"), (np.nan, "nan"), (np.inf, "inf"), ([1, -np.inf], "-inf")],
)
def test_skew_out_of_range(value, shown):
    with pytest.raises(InputError, match=exact(f"`skew` must be positive and finite, but got {shown}")):
        base_checks.check_skews(value)


def test_skews_keep_shape():
    assert base_checks.check_skews([[4, 19]]).tolist() == [[4.0, 19.0]]


def test_fraction():
    assert base_checks.check_fraction(0.95, "level") == 0.95
    for bad, shown in ((0, "0"), (1, "1"), (np.nan, "nan"), (95, "95")):
        message = f"`level` must lie strictly between 0 and 1, but got {shown}"
        with pytest.raises(InputError, match=exact(message)):
            base_checks.check_fraction(bad, "level")
    with pytest.raises(InputTypeError, match=exact("`level` must be one number, but got 1 in shape (1,)")):
        base_checks.check_fraction([0.95], "level")
    with pytest.raises(InputTypeError, match=exact("`level` must be a number or numbers, but got '0.9'")):
        base_checks.check_fraction("0.9", "level")


def test_ordered():
    base_checks.check_ordered(0.1, 0.1, "range")
    base_checks.check_ordered(0.1, 0.2, "range")
    message = "`range` must be given as (low, high), but got low=0.2 > high=0.1"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_ordered(0.2, 0.1, "range")


def test_choice():
    assert base_checks.check_choice("b", ("a", "b"), "letter") == "b"
    with pytest.raises(InputError, match=exact("`letter` must be one of a, b; but got 'c'")):
        base_checks.check_choice("c", ("a", "b"), "letter")


def test_count():
    assert base_checks.check_count(3, "n", minimum=3) == 3
    assert type(base_checks.check_count(np.int64(3), "n", minimum=1)) is int
    with pytest.raises(InputError, match=exact("`n` must be at least 2, but got 1")):
        base_checks.check_count(1, "n", minimum=2)


@pytest.mark.parametrize("value", [True, 2.0, "2", None])
def test_count_of_wrong_type(value):
    with pytest.raises(InputTypeError, match=exact(f"`n` must be a whole number, but got {value!r}")):
        base_checks.check_count(value, "n", minimum=1)


def test_warnings_point_to_the_line_of_the_user():
    labels = [0, 1, 0, 1]
    frame = pd.DataFrame({"model": "A", "y_true": labels, "y_score": [0.1, 0.9, 0.2, 0.8]})
    with pytest.warns(SkewanovaWarning, match="no column fold") as deep:
        read_scores(frame)
    with pytest.warns(SkewanovaWarning, match="one") as near:
        base_checks.emit(["one"])
    assert [each.filename for each in (*deep, *near)] == [__file__, __file__]


def test_the_part_that_is_bad_begins_the_message():
    for kind in (InputError, InputTypeError):
        with pytest.raises(kind, match=exact("class 'x': too few")), base_checks.naming("class 'x'"):
            raise kind("too few")


def test_emit_warns_once_for_every_note():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = base_checks.emit(["one", "two", "one"])
    assert kept == ("one", "two")
    assert [str(w.message) for w in caught] == ["one", "two"]
    assert all(w.category is SkewanovaWarning for w in caught)


# --- vectors ------------------------------------------------------------------------------------------------


@each(
    "score",
    [
        np.array([3, 1], np.uint8),
        np.array([2**53, 2**53 + 1]),
        np.array([0.5, 1], np.float16),
        np.array([0.5, 1], np.float32),
        np.array([True, False]),
        np.array([np.inf, -np.inf]),
    ],
)
def test_scores_keep_their_dtype(score):
    checked = base_checks.check_scores(score)
    assert checked.dtype == score.dtype
    assert (checked == score).all()


def test_scores_with_nan():
    message = "`y_score` must not hold NaN, but has 2 NaN, the first at row 1"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_scores([0.5, np.nan, 1, np.nan])
    message = "`s` must not hold NaN, but has 1 NaN, the first at line 2"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_scores([np.nan], "s", where=lambda row: f"line {row + 2}")


@each(
    ("score", "dtype"),
    [
        (["0.1", "0.2"], "<U3"),
        ([b"0.1"], "|S3"),
        ([1j, 2], "complex128"),
        ([1, None], "object"),
        ([Decimal(1)], "object"),
        (np.array(["2020-01-01"], "datetime64[D]"), "datetime64[D]"),
    ],
)
def test_scores_of_wrong_dtype(score, dtype):
    message = f"`y_score` must hold real numbers, but has dtype {dtype}"
    with pytest.raises(InputTypeError, match=exact(message)):
        base_checks.check_scores(score)


@pytest.mark.parametrize(("score", "shape"), [([[1, 2]], "(1, 2)"), (3, "()"), (np.zeros((2, 0)), "(2, 0)")])
def test_scores_of_wrong_shape(score, shape):
    message = f"`y_score` must be one-dimensional, but has shape {shape}"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_scores(score)


def test_scores_empty():
    message = "`y_score` must hold at least one value, but is empty"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_scores([])


def test_same_length():
    base_checks.check_same_length(a=np.zeros(2), b=np.ones(2))
    message = "arguments must be equally long, but `a` has 2, `b` has 3"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_same_length(a=np.zeros(2), b=np.ones(3))


@pytest.mark.parametrize(
    ("weight", "told"),
    [([1, -0.5], "row 1 has -0.5"), ([np.nan], "row 0 has nan"), ([np.inf], "row 0 has inf")],
)
def test_weights_out_of_range(weight, told):
    message = f"`sample_weight` must be finite and not negative, but {told}"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_weights(weight)


def test_weights_have_a_sum():
    message = "`sample_weight` must have a finite sum, but has 1e+308; divide all by the same number"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_weights([1, 1e308])
    assert base_checks.check_weights([1e308]).tolist() == [1e308]


def test_weights_of_wrong_type_or_shape():
    with pytest.raises(InputTypeError, match=exact("`w` must be a number or numbers, but got ['1']")):
        base_checks.check_weights(["1"], "w")
    with pytest.raises(InputError, match=exact("`w` must be one-dimensional, but has shape ()")):
        base_checks.check_weights(1.0, "w")
    assert base_checks.check_weights([0, 2]).tolist() == [0.0, 2.0]


# --- labels -------------------------------------------------------------------------------------------------


@each(
    "labels",
    [
        [0, 1, 1],
        [False, True, True],
        [-1, 1, 1],
        [0.0, 1.0, 1.0],
        np.array([0, 1, 1], np.uint8),
        np.array([-1, 1, 1], np.int8),
        ["0", "1", "1"],
        ["0.0", "1", " 1.0 "],
        ["-1", "1", "1"],
        ["False", "true", "TRUE"],
        np.array([False, True, 1], dtype=object),
        np.array([np.False_, np.True_, np.True_], dtype=object),
        np.array([0, 1.0, "1"], dtype=object),
        [-0.0, 1, 1],
    ],
)
def test_labels_that_name_their_positive_class(labels):
    positive = base_checks.check_labels(labels)
    assert positive.dtype == bool
    assert positive.tolist() == [False, True, True]


def test_minus_zero_and_zero_are_one_label():
    assert base_checks.check_labels([-0.0, 0.0, 1.0]).tolist() == [False, False, True]


@each(
    ("labels", "pos_label"),
    [
        (["no", "yes", "yes"], "yes"),
        (["yes", "no", "no"], "no"),
        ([1, 2, 2], 2),
        ([1, 2, 2], 2.0),
        ([1, 2, 2], "2"),
        ([1, 2, 2], np.int8(2)),
        (["1", "2", "2"], 2),
        (["1.0", "2", "2.0"], 2),
        ([1, 0, 0], 0),
        ([1, 0, 0], False),
        ([0, 1, 1], True),
        ([0, 1, 1], "True"),
        ([0, 1, 1], np.True_),
        ([False, True, True], "1"),
        # one of the labels reads as a number, the other does not
        (["rest", "1", "1"], "1"),
        (["rest", "1", "1"], 1),
        (["1", "rest", "rest"], "rest"),
        (["other", "True", "True"], True),
        (["other", "True", "True"], "True"),
        ([b"no", b"yes", b"yes"], b"yes"),
        ([" no", "yes ", "yes"], "yes"),
        (np.array([(1), "x", "x"], dtype=object), "x"),
    ],
)
def test_labels_with_a_named_positive_class(labels, pos_label):
    assert base_checks.check_labels(labels, pos_label=pos_label).tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("labels", "expected"), [([1, 1], [True, True]), ([0, 0], [False] * 2), ([-1], [False])]
)
def test_labels_of_one_class(labels, expected):
    assert base_checks.check_labels(labels).tolist() == expected


def test_single_other_class_has_no_positives():
    assert base_checks.check_labels(["no", "no"], pos_label="yes").tolist() == [False, False]


@pytest.mark.parametrize(
    ("labels", "shown"),
    [([1, 2], "1, 2"), (["no", "yes"], "'no', 'yes'"), ([5, 5], "5"), (["rest", "1"], "'1', 'rest'")],
)
def test_labels_that_need_pos_label(labels, shown):
    message = (
        f"`y_true` has the labels {shown}: say which is the positive class with `pos_label` "
        "(labels 0/1, -1/1 and booleans need none)"
    )
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_labels(labels)


def test_pos_label_that_does_not_occur():
    message = "`pos_label` must be one of the labels 'no', 'yes', but got 'maybe'"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_labels(["no", "yes"], pos_label="maybe")
    with pytest.raises(InputError, match=exact("`pos_label` must be one of the labels 0, 1, but got 'yes'")):
        base_checks.check_labels([0, 1], pos_label="yes")


@pytest.mark.parametrize("pos_label", [None, 1])
def test_three_labels(pos_label):
    message = "`y_true` must hold two classes, but has 3, first seen: 0 (row 0), 1 (row 2), 2 (row 1)"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_labels([0, 2, 1], pos_label=pos_label)


def test_many_labels_are_cut_short():
    with pytest.raises(InputError, match=r"has 9, first seen: 0 .* 4 [^,]*$"):
        base_checks.check_labels(range(9))


@pytest.mark.parametrize("labels", [[0, 0.5], ["0", "0.5"], [0.5, 0.5]])
def test_fractional_labels(labels):
    with pytest.raises(InputError, match=r"^`y_true` must hold class labels, but has fractions; .*0\.5"):
        base_checks.check_labels(labels)


@each(
    "labels",
    [
        [0.0, np.nan, 1.0],
        [0, None, 1],
        ["0", "", "1"],
        ["no", "nan", "yes"],
        ["no", " N/A ", "yes"],
        ["no", "None", "yes"],
        np.array([0, np.nan, 1], dtype=object),
        np.array(["2020", "NaT", "2021"], "datetime64[Y]"),
        np.array([0, np.nan, 1], np.float16),
    ],
)
def test_missing_labels(labels):
    message = "`y_true` must not have missing labels, but has 1, the first at row 1"
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_labels(labels, pos_label="yes")


def test_rows_of_labels_are_named_as_the_caller_wants():
    with pytest.raises(InputError, match=r"the first at line 3$"):
        base_checks.check_labels([0, None], where=lambda row: f"line {row + 2}")
    with pytest.raises(InputError, match=r"first seen: 0 \(line 2\), 1 \(line 3\), 2 \(line 4\)$"):
        base_checks.check_labels([0, 1, 2], where=lambda row: f"line {row + 2}")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([[0, 1]], "`y_true` must be one-dimensional, but has shape (1, 2)"),
        ([], "`y_true` must hold at least one value, but is empty"),
    ],
)
def test_labels_of_wrong_shape(labels, message):
    with pytest.raises(InputError, match=exact(message)):
        base_checks.check_labels(labels)


# --- masked arrays and numbers of Python that numpy rounds --------------------------------------------------

MASKED = np.ma.array([0.2, 0.9, 0.4], mask=[False, True, False])
ROUNDED = [2**63 + 1, 2**63, -1]


@each(
    ("check", "name"),
    [
        (base_checks.check_scores, "y_score"),
        (base_checks.check_labels, "y_true"),
        (base_checks.check_weights, "sample_weight"),
        (base_checks.check_priors, "prior"),
        (base_checks.check_skews, "skew"),
        (as_deployment_prior, "deployment_prior"),
        (DiscretePrior, "priors"),
        (lambda p: correct_class_prior(p, train_prior=0.5, prior=0.1), "probability"),
        (lambda p: confidence_interval([0, 1, 1], p, prior=0.1), "y_score"),
        (lambda p: RocCurve.from_rates(p, [0, 1, 1]), "fpr"),
        (lambda f: confidence_interval([0, 1, 1], [1, 2, 3], prior=0.1, method="cross_validation", folds=f),
         "folds"),
    ],
)  # fmt: skip
@each("given", [MASKED, [0.2, np.ma.masked, 0.4]])
def test_masked_values_are_refused_everywhere(check, name, given):
    message = f"`{name}` must not hold masked values, but has 1, the first at row 1; leave them out"
    with pytest.raises(InputError, match=exact(message)):
        check(given)


def test_masks_of_tables_and_empty_masks():
    table = np.ma.array([[1, 2], [3, 4]], mask=[[False, False], [True, True]])
    with pytest.raises(InputError, match="but has 2, the first at row 1;"):
        auprec_covariance([0, 1], table, prior=0.5)
    with pytest.raises(InputError, match="but has 2, the first at row 1;"):
        base_checks.check_scores(list(table))
    with pytest.raises(InputError, match="`prior` must not hold masked values"):
        base_checks.check_prior(np.ma.masked)
    assert base_checks.check_scores(np.ma.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    with pytest.raises(InputError, match="`y_score` must be an array, but its rows are not equally long"):
        base_checks.check_scores([[1, 2], [1]])


@pytest.mark.parametrize("given", [ROUNDED, [2**53 + 1, 2**53, 0.5], [2**64 + 1, 2**64, 1], [10**400, 1, 0]])
def test_scores_that_would_lose_their_order_are_refused(given):
    message = f"`y_score` must keep its order in 64 bits, but {given[0]!s:.40} would be rounded, and may tie"
    for check in (base_checks.check_scores, lambda s: roc_curve([0, 1, 1], s)):
        with pytest.raises(InputError, match="^" + re.escape(message)):
            check(given)


@pytest.mark.parametrize("given", [[2**63 + 1, 2**63], [2**63, -1], [2**64, 0.5], [-(2**70), 1, np.inf]])
def test_scores_of_python_that_64_bits_hold_keep_their_order(given):
    score = base_checks.check_scores(given)
    assert [int(s) if abs(s) > 1e9 and s < np.inf else s for s in score.tolist()] == given


def test_labels_and_weights_of_any_size():
    for labels in ([2**53 + 1, 2**53], [2**64 + 1, 2**64], [2**63 + 1, -1]):
        for given in (labels, [str(label) for label in labels], np.array(labels, dtype=object)):
            assert base_checks.check_labels(given, pos_label=labels[0]).tolist() == [True, False]
    assert base_checks.check_labels(np.array([2**53 + 1, 2**53]), pos_label=2**53).tolist() == [False, True]
    assert base_checks.check_weights([2**64, 1]).tolist() == [2.0**64, 1.0]
    with pytest.raises(InputError, match="must be finite and not negative, but row 0 has inf"):
        base_checks.check_weights([10**400, 1])
    with pytest.raises(InputError, match="`prior` must lie strictly between 0 and 1, but got -inf"):
        base_checks.check_priors([-(10**400), 0.5])
