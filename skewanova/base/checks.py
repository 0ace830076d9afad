"""Error classes, and checks that return the cleaned argument or raise an error that names it."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from difflib import get_close_matches
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


Bools = NDArray[np.bool_]


RowName = Callable[[int], str]


T = TypeVar("T", bound=np.generic)


Seed = int | np.random.Generator | np.random.SeedSequence | None


#: Texts of a missing label, in lower case.
MISSING_TEXT = frozenset({"", "nan", "na", "n/a", "none", "null", "<na>", "nat"})


#: The smallest whole number whose successor is no double.
FIRST_INEXACT = 2**53


class InputError(ValueError):
    """Invalid input; the message names the argument, the rule and a remedy."""


class MultipleDatasetsError(InputError):
    """Scores of several data sets where one is required."""


class DiskFullError(InputError):
    """Too little room on the disk for the result."""


class InputTypeError(TypeError):
    """Input of an unusable type; the message names the argument."""


class SkewanovaWarning(UserWarning):
    """A result that may be unreliable; the message says why."""


def is_full_disk(error: BaseException) -> bool:
    """Return True if the error says that a disk or quota is full, by its number or text."""
    full = {errno.ENOSPC, getattr(errno, "EDQUOT", errno.ENOSPC)}  # not every system has quotas
    text = re.search("No space left on device|Disk quota exceeded", str(error))
    return getattr(error, "errno", None) in full or text is not None


#: Notes that the enclosing block has issued.
_issued: ContextVar[set[str]] = ContextVar("issued")


def warn_each(notes: Iterable[str]) -> tuple[str, ...]:
    """Issue distinct notes as SkewanovaWarnings, once in a `warn_once` block; return all, without repeats."""
    unique, issued = tuple(dict.fromkeys(notes)), _issued.get(set())
    for note in unique:
        if note not in issued:
            warnings.warn(note, SkewanovaWarning, stacklevel=_find_user_level())
    issued.update(unique)
    return unique


@contextmanager
def set_variable(variable: ContextVar[Any], value: object) -> Iterator[None]:
    """Set a context variable to the value in the block, and reset it at the end."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def warn_once() -> AbstractContextManager[None]:
    """Return a context in which `warn_each` issues each distinct note once; a nested one starts afresh."""
    return set_variable(_issued, set())


#: The folder of this package, and the modules through which cached properties and decorators call it.
_SKIPPED_FILES = (
    os.path.dirname(os.path.dirname(__file__)) + os.sep,
    functools.__file__,
    contextlib.__file__,
)


def _find_user_level() -> int:
    """Return the `stacklevel` of the first frame outside `_SKIPPED_FILES`, for a warning of the caller."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_SKIPPED_FILES):
        frame, level = frame.f_back, level + 1
    return level


@contextmanager
def prefix_errors(part: str, reader: str = "skewanova.read_scores(") -> Iterator[None]:
    """Raise input errors of the block again as "PART: ERROR", with `reader` for "read_scores(" in it."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        raise type(error)(f"{part}: {error}".replace("skewanova.read_scores(", reader)) from error


#: The smallest prior; the skew of a smaller one overflows when multiplied by numbers of cases.
SMALLEST_PRIOR = 1e-300


def check_priors(value: ArrayLike, name: str = "prior") -> Floats:
    """Return priors as floats of the same shape; raise if empty or not all in [SMALLEST_PRIOR, 1)."""
    prior = check_float_array(value, name, "numbers strictly between 0 and 1")
    if prior.size == 0:
        raise InputError(f"`{name}` must hold at least one prior, but is empty")
    bad = prior[~((prior > 0) & (prior < 1))]
    if bad.size:
        worst = float(bad.max())
        percent = f", or {worst:g}% as {worst / 100:g}" if worst < 100 else ""
        is_skew = 1 < worst < 1 / SMALLEST_PRIOR
        hint = f"; write skew {worst:g} as prior {1 / (1 + worst):g}{percent}" if is_skew else ""
        raise InputError(f"`{name}` must lie strictly between 0 and 1, but got {worst:g}{hint}")
    if prior.min() < SMALLEST_PRIOR:
        raise InputError(
            f"`{name}` must be {SMALLEST_PRIOR:g} or more, as the skew of less cannot be computed with, "
            f"but got {prior.min():g}"
        )
    return prior


def check_prior(value: float, name: str = "prior") -> float:
    """Return one prior as a float; raise unless it is one number in [SMALLEST_PRIOR, 1)."""
    return float(check_priors(check_number(value, name, "strictly between 0 and 1"), name))


def check_prior_list(value: ArrayLike, name: str = "prior") -> Floats:
    """Return one prior or a list as a vector; raise if empty, 2-D or not all in [SMALLEST_PRIOR, 1)."""
    return check_vector(np.atleast_1d(check_priors(value, name)), name)


def check_skews(value: ArrayLike, name: str = "skew") -> Floats:
    """Return skews (negatives per positive) as floats of the same shape; raise for 0 or less, inf or nan."""
    skew = check_float_array(value, name)
    bad = skew[~((skew > 0) & np.isfinite(skew))]
    if bad.size:
        raise InputError(f"`{name}` must be positive and finite, but got {float(bad.reshape(-1)[0]):g}")
    return skew


def describe_type(value: object) -> str:
    """Return the name of a value's type, with its library for a DataFrame only: "DataFrame of polars"."""
    name, library = type(value).__name__, type(value).__module__.partition(".")[0]
    return f"{name} of {library}" if name == "DataFrame" else name


def check_fraction(value: float, name: str, *, or_one: bool = False, largest: float = 1.0) -> float:
    """Return a number above 0 and below 1 (or 1, if `or_one`), at most a `largest` below 1, or raise."""
    is_closed = or_one or largest < 1
    rule = f"above 0 and at most {largest:g}" if is_closed else "strictly between 0 and 1"
    number = check_number(value, name, rule)
    if not (0 < number < largest or (is_closed and number == largest)):
        share = number / 100 if number > 1 else number
        share = share if share <= largest else 1 - share
        hint = f"; did you mean {share:g}?" if 2 < number < 100 or largest < number < 1 else ""
        raise InputError(f"`{name}` must lie {rule}, but got {number:.15g}{hint}")
    return number


def check_alpha(alpha: float) -> float:
    """Return a significance level as a float; raise unless it is above 0 and at most 0.5."""
    return check_fraction(alpha, "alpha", largest=0.5)


def check_not_negative(value: float, name: str, *, what: str, largest: float) -> float:
    """Return a number as a float; raise, saying that it must be `what`, unless from 0 to `largest`."""
    number = check_number(value, name, "of 0 or more")
    if not 0 <= number <= largest:
        limit = f", {largest:g} or less" if number > largest else ""
        raise InputError(f"`{name}` must be {what}{limit}, but got {number:.15g}")
    return number


def check_rope(rope: float, *, of_areas: bool = True) -> float:
    """Return the half-width of practical equivalence; raise if negative, infinite or, of areas, above 1."""
    rule, largest = "a difference that would not matter, 0 or more", 1.0 if of_areas else sys.float_info.max
    return check_not_negative(rope, "rope", what=rule, largest=largest)


def check_sum_of_squares(kind: object) -> int:
    """Return the type of the sums of squares as an int; raise unless it is the integer 1, 2 or 3."""
    if isinstance(kind, bool) or not isinstance(kind, int | np.integer) or kind not in {1, 2, 3}:
        raise InputError(f"`sum_of_squares` must be the integer 1, 2 or 3, but got {kind!r}")
    return int(kind)


def make_generator(rng: Seed) -> np.random.Generator:
    """Return `default_rng(rng)`, a Generator as it is; raise for a RandomState and what numpy refuses."""
    try:
        if isinstance(rng, np.random.RandomState):  # its streams cannot be spawned
            raise TypeError
        return np.random.default_rng(rng)
    except (TypeError, ValueError) as error:
        rule = "`rng` must be a whole number of 0 or more, a Generator, a SeedSequence or None"
        kind = InputTypeError if isinstance(error, TypeError) else InputError
        raise kind(f"{rule}, but got {rng!r}") from error


def check_ordered(low: float, high: float) -> None:
    """Raise an InputError on a range of priors if `low` exceeds `high`."""
    if low > high:
        raise InputError(f"a prior range must be given as (low, high), but got low={low:g} > high={high:g}")


def check_choice(value: object, choices: Sequence[str], name: str) -> str:
    """Return the value; raise unless it is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        near = suggest_name(value, choices)
        raise InputError(f"`{name}` must be one of {', '.join(choices)}; but got {value!r}{near}")
    return value


def check_subset(values: Iterable[str], choices: Sequence[str], name: str = "models") -> tuple[str, ...]:
    """Return the chosen values, maybe none, in the order of the choices; raise for others or a string."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputTypeError(f"`{name}` must be a list of names, but got {values!r}")
    chosen = {check_choice(value, choices, name) for value in values}
    return tuple(each for each in choices if each in chosen)


#: Half of a character, which can neither be written nor stored.
_SURROGATE = re.compile("[\ud800-\udfff]")


def check_text(names: Iterable[str], what: str) -> None:
    """Raise unless all names can be written as UTF-8; `what` begins the message."""
    bad = next(filter(_SURROGATE.search, names), None)
    if bad is not None:
        raise InputError(f"{what} must hold text that UTF-8 can write, but has {bad!a}; rename it")


def check_named_models(models: object, name: str) -> None:
    """Raise unless `models` is a mapping, not empty, whose keys are all text that UTF-8 can write."""
    if not isinstance(models, Mapping):
        kind = type(models).__name__
        raise InputTypeError(f"`{name}` must be a mapping by names, as {{'A': a, 'B': b}}, but got {kind}")
    if not models:
        raise InputError(f"`{name}` must hold at least one model, but is empty")
    unnamed = [key for key in models if not isinstance(key, str)]
    if unnamed:
        raise InputTypeError(f"`{name}` must have names that are text, but has the name {unnamed[0]!r}")
    check_text(models, f"`{name}`")


def suggest_name(value: object, choices: Iterable[str]) -> str:
    """Return "; did you mean 'NAME'?" with the choice closest to the value in lower case, "" if none is."""
    matches = get_close_matches(str(value).casefold(), choices, n=1, cutoff=0.75)
    return f"; did you mean {matches[0]!r}?" if matches and matches[0] != value else ""


def check_count(value: int, name: str, *, minimum: int) -> int:
    """Return an integer as an int; raise for other types, even 2.0 or True, and below `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputTypeError(f"`{name}` must be a whole number, but got {value!r}")
    if value < minimum:
        raise InputError(f"`{name}` must be at least {minimum}, but got {value}")
    return int(value)


def name_row(row: int) -> str:
    """Return the text "row N" for row number N, which counts from 0."""
    return f"row {row}"


def to_array(values: Any, name: str, *, where: RowName = name_row) -> NDArray[Any]:
    """Return an array, of objects for a list of floats with one from 2^53 on; raise if masked or ragged."""
    _check_unmasked(values, name, where)
    try:
        array = np.asarray(values)
        rounded = array.dtype.kind == "f" and not hasattr(values, "dtype") and _has_large(array)
        return np.array(values, dtype=object) if rounded else array
    except ValueError as error:
        raise InputError(f"`{name}` must be a flat list, or an array with rows of equal length") from error


def to_numbers(values: Any, name: str, *, exact: bool = True, where: RowName = name_row) -> NDArray[Any]:
    """Return `to_array(values)`, text unparsed; huge numbers in a list are doubles, or `exact` raises."""
    array = to_array(values, name, where=where)
    typed = hasattr(values, "dtype") or array.dtype != object
    if typed or not all(isinstance(value, Integral | float) for value in array.flat):
        return array
    lossy = [v for v in array.flat if isinstance(v, Integral) and not is_exact(int(v))]
    if lossy and exact:
        raise InputError(
            f"`{name}` must keep its order in 64 bits, but {lossy[0]!s:.40} would be rounded, and may tie "
            f"with another; pass ranks or, if a tie does no harm, numpy.asarray({name}, dtype=float)"
        )
    return np.array([_to_double(value) for value in array.flat]).reshape(array.shape)


def _check_unmasked(values: Any, name: str, where: RowName) -> None:
    """Raise if a numpy masked array, or one in a list, has masked values; numpy would drop the mask."""
    if not isinstance(values, np.ma.MaskedArray | list | tuple):
        return
    rows = np.ma.atleast_1d(values) if isinstance(values, np.ma.MaskedArray) else values
    masked = np.array([np.ma.getmaskarray(row).sum() if np.ma.isMA(row) else 0 for row in rows])
    _check_none(
        masked, f"`{name}` must not hold masked values", where, "leave them out (cases in all arrays)"
    )


#: What to do about rows without a label or a score.
_FILL_IN = "fill them in, or leave out their whole rows for all models"


def _check_none(bad: NDArray[Any], rule: str, where: RowName, remedy: str) -> None:
    """Raise "RULE, but has N, the first at ROW; REMEDY" unless all of `bad`, numbers by row, are 0."""
    if bad.any():
        first = where(int(np.flatnonzero(bad)[0]))
        raise InputError(f"{rule}, but has {int(bad.sum())}, the first at {first}; {remedy}")


def _has_large(array: NDArray[Any]) -> bool:
    """Return True if a number is 2^53 or more in size, so that a double may round it."""
    return bool((np.abs(array) >= FIRST_INEXACT).any())


def _to_double(value: Any) -> float:
    """Return the value as a float, infinite if it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return float(np.copysign(np.inf, 1 if value > 0 else -1))


def is_exact(number: int) -> bool:
    """Return True if a double holds the whole number with all its digits."""
    return _to_double(number) == number


def find_rounded(values: NDArray[Any]) -> int | None:
    """Return the index of the first whole number that a double cannot hold, or None."""
    large = np.flatnonzero((values >= FIRST_INEXACT) | (values <= -FIRST_INEXACT)).tolist()
    return next((i for i in large if not is_exact(int(values[i]))), None)


def check_scores(
    y_score: ArrayLike, name: str = "y_score", *, where: RowName = name_row, remedy: str = ""
) -> NDArray[Any]:
    """Return real or boolean scores, maybe infinite, in their dtype; raise if NaN, text, empty or not 1-D."""
    score = check_real(check_vector(to_numbers(y_score, name, where=where), name), name, where, remedy)
    if score.dtype.kind == "f":
        _check_none(np.isnan(score), f"`{name}` must not hold NaN or blanks", where, _FILL_IN)
    return score


def check_real(values: NDArray[Any], name: str, where: RowName = name_row, remedy: str = "") -> NDArray[Any]:
    """Return the values unchanged; raise unless they have a real (or boolean) dtype."""
    if values.dtype.kind not in "biuf":
        flat = values.ravel().tolist() if values.dtype.kind in "OU" else []
        bad = next((i for i, value in enumerate(flat) if not is_numeric(value)), None)
        hint = f"; {remedy or f'pass numpy.asarray({name}, dtype=float)'}" * bool(flat)  # text, Decimal
        if bad is not None:
            row = int(np.unravel_index(bad, values.shape or (1,))[0])
            hint = f"; the first that is not a number is {flat[bad]!r:.40} at {where(row)}"
        raise InputTypeError(f"`{name}` must hold real numbers, but has dtype {values.dtype}{hint}")
    return values


def is_numeric(value: object) -> bool:
    """Return True for a number that a float holds, even infinity but not NaN, or for text of a finite one."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return False
    return bool(np.isfinite(number) or (np.isinf(number) and not isinstance(value, str)))


def check_vector(values: NDArray[T], name: str) -> NDArray[T]:
    """Return the array unchanged; raise unless it is one-dimensional and not empty."""
    if values.ndim == 0:
        raise InputError(f"`{name}` must be a list or an array, but got {describe_value(values.item())}")
    if values.ndim != 1:
        shape = f"shape {values.shape}"
        raise InputError(f"`{name}` must be one-dimensional, but has {shape}; pass one column or row")
    if values.size == 0:
        raise InputError(f"`{name}` must hold at least one value, but is empty")
    return values


def check_same_length(**arrays: NDArray[Any]) -> None:
    """Raise unless the arrays, passed by argument name, are equally long."""
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        sizes = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        raise InputError(f"arguments must be equally long, but {sizes}")


def check_weights(
    sample_weight: ArrayLike, name: str = "sample_weight", *, where: RowName = name_row
) -> Floats:
    """Return weights as floats; raise unless each is 0 or above 1e-200 of the largest, and the sum finite."""
    weight = check_vector(check_float_array(sample_weight, name, "a list of numbers"), name)
    largest = float(weight.max())
    valid = {"finite and not negative": np.isfinite(weight) & (weight >= 0)}
    # rates of smaller weights would underflow where priors multiply them
    valid["0 or more than 1e-200 of the largest"] = (weight == 0) | (weight > 1e-200 * largest)
    for rule, fits in valid.items():
        if not fits.all():
            first = int(np.argmin(fits))
            raise InputError(f"`{name}` must be {rule}, but {where(first)} has {weight[first]:g}")
    if not np.isfinite(largest * len(weight)):
        raise InputError(f"`{name}` must have a finite sum; divide all by the largest, {largest:g}")
    return weight


def check_labels(
    y_true: ArrayLike, *, pos_label: object = None, name: str = "y_true", where: RowName = name_row
) -> Bools:
    """Return a mask of positives, `pos_label` or 1 of {0, 1}, {-1, 1}, even as text, maybe none; or raise."""
    labels = check_vector(to_array(y_true, name, where=where), name)
    if pos_label is None and labels.dtype.kind in "biuf":
        positive = np.asarray(labels == 1)
        if (positive | (labels == 0)).all():
            return positive
    comparable = _to_comparable(labels, name, where)
    distinct, first, codes = np.unique(comparable, return_index=True, return_inverse=True)
    _check_two_classes(distinct, [where(int(row)) for row in first[:5]], name)
    return np.asarray(codes.reshape(-1) == _find_positive(distinct, pos_label, name))


def check_both_classes(positive: Bools, *, weighted: bool = False) -> None:
    """Raise unless the mask has both values; `weighted` only adds "of weight above 0" to the message."""
    for present, word in ((positive.any(), "positive"), (not positive.all(), "negative")):
        if not present:
            rest = " of weight above 0" * weighted
            raise InputError(f"`y_true` must hold both classes, but has no {word} case{rest}")


def check_labelled_scores(
    y_true: ArrayLike, y_score: ArrayLike, pos_label: object = None
) -> tuple[Bools, NDArray[Any]]:
    """Return a mask of positives, and as many scores in their own dtype; raise unless of both classes."""
    positive = check_labels(y_true, pos_label=pos_label)
    score = check_scores(y_score)
    check_same_length(y_true=positive, y_score=score)
    check_both_classes(positive)
    return positive, score


def _to_comparable(labels: NDArray[Any], name: str, where: RowName) -> NDArray[Any]:
    """Return floats if labels are exact numbers or truth values, even text, else text; raise if missing."""
    if labels.dtype.kind in "bf" or (labels.dtype.kind in "iu" and not _has_large(labels)):
        missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(labels.shape, dtype=bool)
        comparable: NDArray[Any] = labels.astype(np.float64)
    else:
        distinct, codes = _encode_distinct(labels.tolist())
        text = np.array([_format_label(value) for value in distinct], dtype=str)
        missing = np.isin(np.char.lower(text), list(MISSING_TEXT))[codes]
        comparable = (text if missing.any() else _parse_labels(text))[codes]
    _check_none(missing, f"`{name}` must not have missing labels", where, _FILL_IN)
    return comparable


def _encode_distinct(values: Sequence[object]) -> tuple[list[object], NDArray[np.intp]]:
    """Return values distinct with their type (all, if some lack a hash), in order, and an index of each."""
    codes_of: dict[Any, int] = {}
    try:
        codes = [codes_of.setdefault((type(value), value), len(codes_of)) for value in values]
    except TypeError:  # some, such as lists, cannot be hashed
        return list(values), np.arange(len(values))
    return [value for _, value in codes_of], np.array(codes, dtype=np.intp)


def _check_two_classes(distinct: NDArray[Any], rows: Sequence[str], name: str) -> None:
    """Raise unless there are at most two classes, and no fractions."""
    labels = ", ".join(f"{label} ({row})" for label, row in zip(_list_labels(distinct), rows, strict=False))
    if distinct.dtype.kind == "f" and (distinct != np.floor(distinct)).any():
        raise InputError(f"`{name}` must hold classes such as 0 and 1, but has fractions; labels: {labels}")
    if len(distinct) > 2:
        raise InputError(
            f"`{name}` must hold two classes, but has {len(distinct)}, first seen: {labels}; make it 1 for "
            "one class and 0 for the rest, without `pos_label`; or, with scores of each class, use "
            "skewanova.compare_classes(skewanova.scores_from_multiclass(y_true, {'A': a, 'B': b})), or "
            "`skewanova compare --classes LIST`"
        )


def _format_label(value: object) -> str:
    """Return a label as text without outer spaces: a boolean as 0 or 1, and None as ""."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return "" if value is None else str(value).strip()


def _parse_labels(text: NDArray[Any]) -> NDArray[Any]:
    """Return floats if every label is the text of a number (exact if whole) or truth value, else the text."""
    truth = {"true": "1", "false": "0"}
    names = [truth.get(label.lower(), label) for label in text.tolist()]
    try:
        numbers = np.array([float(name) for name in names])
    except ValueError:
        return text
    return numbers if all(is_exact(int(name)) for name in names if name.isdecimal()) else text


def _find_positive(distinct: NDArray[Any], pos_label: object, name: str) -> int:
    """Return the index of the positive class among the distinct labels, -1 if absent; raise if unclear.

    An absent `pos_label` is unclear among two labels; None is 1 of {0, 1} or {-1, 1}.
    """
    labels, values = _list_labels(distinct), {*distinct.tolist()}
    if pos_label is None and (values <= {0.0, 1.0} or values <= {-1.0, 1.0}):
        pos_label = 1
    if pos_label is None and len(labels) == 1:
        raise InputError(
            f"`{name}` must hold both classes, but has only the label {labels[0]}; add cases of the other "
            "class, and name the positive one by pos_label (--positive)"
        )
    if pos_label is None:
        raise InputError(
            f"`{name}` has the labels {', '.join(labels)}: name the positive class by pos_label={labels[-1]} "
            f"(of a table: skewanova.read_scores(table, pos_label={labels[-1]})), or --positive {labels[-1]}"
        )
    text = _format_label(pos_label)
    number = _parse_labels(np.array([text]))[0]
    spellings = {number} if distinct.dtype.kind == "f" else {text, str(pos_label).strip()}
    code = next((code for code, label in enumerate(distinct.tolist()) if label in spellings), -1)
    if code < 0 and len(distinct) == 2:
        raise InputError(f"`pos_label` must be one of the labels {', '.join(labels)}, but got {pos_label!r}")
    return code


def _list_labels(distinct: NDArray[Any]) -> list[str]:
    """Return up to five labels as text: numbers without a trailing .0, and text in quotes."""
    values = distinct.tolist()[:5]
    return [f"{v:.{16 if v.is_integer() else 6}g}" if isinstance(v, float) else repr(v) for v in values]


def describe_value(value: object) -> str:
    """Return the repr of a value or, if that has lines or over 60 characters, the name of its type."""
    text = repr(value)
    return text if len(text) <= 60 and "\n" not in text else type(value).__name__


def check_float_array(value: ArrayLike, name: str, rule: str = "a number or numbers") -> Floats:
    """Return real numbers, nan too, as floats of the same shape; raise, saying `rule`, for other types."""
    array = to_numbers(value, name, exact=False)
    if array.dtype.kind not in "biuf":
        raise InputTypeError(f"`{name}` must be {rule}, but got {describe_value(value)}")
    return array.astype(np.float64)


def check_number(value: ArrayLike, name: str, rule: str = "") -> float:
    """Return one real number, maybe nan, as a float; raise, adding `rule`, for other types and for arrays."""
    array = check_float_array(value, name, rule := f"one number {rule}".strip())
    if array.ndim:
        raise InputTypeError(f"`{name}` must be {rule}, but got {array.size} in shape {array.shape}")
    return float(array)
