"""Scalars and vectors: each check returns the cleaned value or raises, naming argument, rule and value."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Seed = int | np.random.Generator | np.random.SeedSequence | None

#: What a missing label looks like once it has been turned into text.
MISSING_TEXT = frozenset({"", "nan", "na", "n/a", "none", "null", "<na>", "nat"})


class InputError(ValueError):
    """What was given breaks a stated rule; the message names it and says what to do next."""


class InputTypeError(TypeError):
    """What was given has a type that cannot be used; the message names it."""


class SkewanovaWarning(UserWarning):
    """The number is computed, but the message says why it should be read with care."""


def emit(notes: Iterable[str]) -> tuple[str, ...]:
    """Send every note through :mod:`warnings` and return the notes without repeats."""
    unique = tuple(dict.fromkeys(notes))
    for note in unique:
        warnings.warn(note, SkewanovaWarning, stacklevel=3)
    return unique


def check_priors(value: ArrayLike, name: str = "prior") -> Floats:
    """Priors strictly between 0 and 1, as a float array of the same shape."""
    prior = _float_array(value, name)
    if prior.size == 0:
        raise InputError(f"`{name}` must hold at least one prior, but is empty")
    bad = prior[~((prior > 0) & (prior < 1))]
    if bad.size:
        worst = float(bad.reshape(-1)[0])
        hint = f"; did you mean skew={worst:g}, that is prior={1 / (1 + worst):g}?" if worst > 1 else ""
        raise InputError(f"`{name}` must lie strictly between 0 and 1, but got {worst:g}{hint}")
    return prior


def check_skews(value: ArrayLike, name: str = "skew") -> Floats:
    """Skews (negatives per positive) that are positive and finite, as a float array."""
    skew = _float_array(value, name)
    bad = skew[~((skew > 0) & np.isfinite(skew))]
    if bad.size:
        raise InputError(f"`{name}` must be positive and finite, but got {float(bad.reshape(-1)[0]):g}")
    return skew


def check_fraction(value: float, name: str) -> float:
    """A number strictly between 0 and 1, such as a level of significance."""
    number = float(_float_array(value, name))
    if not 0 < number < 1:
        raise InputError(f"`{name}` must lie strictly between 0 and 1, but got {number:g}")
    return number


def check_ordered(low: float, high: float, name: str) -> None:
    """Limits in ascending order: they are never swapped silently."""
    if low > high:
        raise InputError(f"`{name}` must be given as (low, high), but got low={low:g} > high={high:g}")


def check_choice(value: str, choices: Sequence[str], name: str) -> str:
    """One of the named options."""
    if value not in choices:
        raise InputError(f"`{name}` must be one of {', '.join(choices)}; but got {value!r}")
    return value


def check_count(value: int, name: str, *, minimum: int) -> int:
    """A whole number that is at least `minimum`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputTypeError(f"`{name}` must be a whole number, but got {value!r}")
    if value < minimum:
        raise InputError(f"`{name}` must be at least {minimum}, but got {value}")
    return int(value)


def check_scores(y_score: ArrayLike, name: str = "y_score") -> NDArray[Any]:
    """One-dimensional real scores in their own dtype, without NaN (infinities are ranks and stay)."""
    score = check_real(np.asarray(y_score), name)
    check_vector(score, name)
    if score.dtype.kind == "f" and np.isnan(score).any():
        bad = np.flatnonzero(np.isnan(score))
        raise InputError(f"`{name}` must not hold NaN, but has {len(bad)} NaN, the first at row {bad[0]}")
    return score


def check_real(values: NDArray[Any], name: str) -> NDArray[Any]:
    """Values of a real number type; text, complex numbers, dates and objects are refused by dtype."""
    if values.dtype.kind not in "biuf":
        raise InputTypeError(f"`{name}` must hold real numbers, but has dtype {values.dtype}")
    return values


def check_vector(values: NDArray[Any], name: str) -> None:
    """A one-dimensional array with at least one value."""
    if values.ndim != 1:
        raise InputError(f"`{name}` must be one-dimensional, but has shape {values.shape}")
    if values.size == 0:
        raise InputError(f"`{name}` must hold at least one value, but is empty")


def check_same_length(**arrays: NDArray[Any]) -> None:
    """Arrays given under their argument names must be equally long."""
    lengths = {name: len(values) for name, values in arrays.items()}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"`{name}` has {length}" for name, length in lengths.items())
        raise InputError(f"arguments must be equally long, but {told}")


def check_weights(sample_weight: ArrayLike, name: str = "sample_weight") -> Floats:
    """Finite, non-negative weights."""
    weight = _float_array(sample_weight, name)
    check_vector(weight, name)
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if bad.size:
        raise InputError(f"`{name}` must be finite and not negative, but row {bad[0]} has {weight[bad[0]]:g}")
    return weight


def check_labels(y_true: ArrayLike, *, pos_label: object = None, name: str = "y_true") -> Bools:
    """Binary labels as a boolean vector, True for the positive class.

    Without `pos_label` the labels must be {0, 1}, booleans or {-1, 1}; numbers written as text count as
    numbers. Any other pair needs `pos_label`.
    """
    labels = np.asarray(y_true)
    check_vector(labels, name)
    distinct, codes = np.unique(_comparable_labels(labels, name), return_inverse=True)
    positive = _positive_code(distinct, pos_label, name)
    return np.asarray(codes.reshape(-1) == positive)


def _comparable_labels(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Labels as floats where they are numbers, else as text; missing labels raise."""
    if labels.dtype.kind in "biuf":
        missing = np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(labels.shape, dtype=bool)
        comparable: NDArray[Any] = labels.astype(np.float64)
    else:
        text = np.array([_label_text(value) for value in labels.tolist()], dtype=str)
        missing = np.isin(np.char.lower(text), list(MISSING_TEXT))
        comparable = text if missing.any() else _numbers_if_possible(text)
    if missing.any():
        raise InputError(
            f"`{name}` must not have missing labels, but has {int(missing.sum())}, "
            f"the first at row {int(np.argmax(missing))}"
        )
    return comparable


def _label_text(value: object) -> str:
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    return "" if value is None else str(value).strip()


def _numbers_if_possible(text: NDArray[Any]) -> NDArray[Any]:
    """Floats if every distinct label reads as a number or a truth value, else the text itself."""
    truth = {"true": 1.0, "false": 0.0}
    distinct, codes = np.unique(text, return_inverse=True)
    try:
        numbers = [truth[t.lower()] if t.lower() in truth else float(t) for t in distinct.tolist()]
    except ValueError:
        return text
    return np.array(numbers)[codes.reshape(-1)]


def _positive_code(distinct: NDArray[Any], pos_label: object, name: str) -> int:
    """Index of the positive class among the distinct labels (-1 where it does not occur)."""
    shown = _listed(distinct)
    if distinct.dtype.kind == "f" and (distinct != np.floor(distinct)).any():
        raise InputError(f"`{name}` must hold class labels, but has fractions: {shown}")
    if len(distinct) > 2:
        raise InputError(f"`{name}` must hold two classes, but has {len(distinct)}: {shown}")
    if pos_label is not None:
        return _code_of(pos_label, distinct, name)
    if distinct.dtype.kind == "f" and set(distinct.tolist()) <= {0.0, 1.0}:
        return int(np.searchsorted(distinct, 1.0)) if 1.0 in distinct else -1
    if distinct.dtype.kind == "f" and set(distinct.tolist()) <= {-1.0, 1.0}:
        return int(np.searchsorted(distinct, 1.0)) if 1.0 in distinct else -1
    raise InputError(
        f"`{name}` has the labels {shown}: say which is the positive class with `pos_label` "
        "(labels 0/1, -1/1 and booleans need no `pos_label`)"
    )


def _code_of(pos_label: object, distinct: NDArray[Any], name: str) -> int:
    wanted = _numbers_if_possible(np.array([_label_text(pos_label)]))[0]
    for code, label in enumerate(distinct.tolist()):
        if label == wanted or str(label) == str(wanted):
            return code
    if len(distinct) == 2:
        raise InputError(f"`pos_label` must be one of the labels {_listed(distinct)}, but got {pos_label!r}")
    return -1


def _listed(distinct: NDArray[Any], limit: int = 5) -> str:
    """The first few labels, numbers without a trailing .0."""
    shown = [f"{v:g}" if isinstance(v, float) else repr(v) for v in distinct.tolist()[:limit]]
    return ", ".join(shown) + (", ..." if len(distinct) > limit else "")


def _float_array(value: ArrayLike, name: str) -> Floats:
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise InputTypeError(f"`{name}` must be a number or numbers, but got {value!r}")
    return array.astype(np.float64)
