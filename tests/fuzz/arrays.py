"""Labels and scores in every form that an array can take, through the functions that take arrays."""

import array
from decimal import Decimal
from fractions import Fraction
from operator import attrgetter

import numpy as np
import pandas as pd
from hypothesis import assume
from hypothesis import strategies as st

import skewanova as sa
from fuzz.generator import Generator, answered

FUNCTIONS = {
    "roc_curve": lambda y, s: _lists(attrgetter("tpr", "fpr")(sa.roc_curve(y, s))),
    "auprec_score": lambda y, s: sa.auprec_score(y, s, prior=0.1),
    "iauprec_score": lambda y, s: sa.iauprec_score(y, s, deployment_prior=(0.05, 0.2)),
    "precision_recall_curve": lambda y, s: _lists(sa.precision_recall_curve(y, s, prior=0.1)[:2]),
    "confidence_interval": lambda y, s: _limits(sa.confidence_interval(y, s, prior=0.1)),
    "auprec_variance": lambda y, s: sa.inference.auprec_variance(y, s, prior=0.1),
}
#: Whole numbers that floats or 64 bits cannot all tell apart.
NUMBERS = (
    *(0, 1, 2, 3, -1, 127, 128, 255, 256, 10**40, 10**400, -(10**400)),
    *(2**n + more for n in (24, 53, 62, 63, 64) for more in (-1, 0, 1, 2)),
    *(-(2**n) - more for n in (53, 63) for more in (0, 1)),
)


def _lists(parts):
    return [part.tolist() for part in parts]


def _limits(interval):
    return [value for value in vars(interval).values() if isinstance(value, float)]


def _read_only(values):
    return np.broadcast_to(np.array(values), len(values))


class Wrapped:
    """Something that turns into an array when asked, as torch and other libraries have it."""

    def __init__(self, values):
        self.values = values

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)

    def __len__(self):
        return len(self.values)


FORMS = {
    "list": list, "tuple": tuple, "objects": lambda values: np.array(values, dtype=object),
    "decimals": lambda values: [Decimal(v) for v in values],
    "fractions": lambda values: [Fraction(v, 3) for v in values],
    "decimal objects": lambda values: np.array([Decimal(v) for v in values], dtype=object),
    "memory": lambda values: memoryview(array.array("q", values)),
    "array": lambda values: array.array("q", values),
    "masked": lambda values: np.ma.masked_array(values, mask=[False] * len(values)),
    "strided": lambda values: np.repeat(np.array(values), 3)[::3], "read only": _read_only,
    "reversed": lambda values: np.array(values[::-1])[::-1], "wrapped": Wrapped, "series": pd.Series,
    "shuffled index": lambda values: pd.Series(values, index=range(len(values), 0, -1)),
    "nullable": lambda values: pd.Series(values, dtype="Int64"),
    "arrow": lambda values: pd.Series(values, dtype="int64[pyarrow]"),
    "category": lambda values: pd.Series(values).astype("category"),
    "text": lambda values: [str(v) for v in values],
    "mixed": lambda values: [float(v) if k % 2 else v for k, v in enumerate(values)],
    "range": lambda values: range(len(values)), "bytes": bytes, "set": set,
    "generator": lambda values: (v for v in values), "dict": lambda values: dict(enumerate(values)),
    "none": lambda values: None, "with none": lambda values: [*values[:-1], None],
    "column": lambda values: np.array(values)[:, None], "matrix": lambda values: np.array([values, values]),
    "number": lambda values: values[0], "empty": lambda values: [],
    "complex": lambda values: np.array(values, dtype=complex),
    "dates": lambda values: np.array(values, dtype="datetime64[s]"),
    "durations": lambda values: np.array(values, dtype="timedelta64[s]"),
    "record": lambda values: np.array([(v,) for v in values], dtype=[("a", "i8")]),
    **{name: lambda values, name=name: np.array(values).astype(name)
       for name in ("?", "i1", "u1", "<i2", ">i4", "i8", "u8", ">u8", "f2", "f4", ">f8", "g", "S3", "U3")},
}  # fmt: skip


def exact(values):
    """Return the values as Python numbers that lose nothing; None if they are not one row of numbers."""
    numbers = values.values if isinstance(values, Wrapped) else values
    if isinstance(numbers, pd.Series | np.ndarray):
        numbers = numbers.tolist()
    rows = list | tuple | memoryview | array.array | range
    kinds = int | float | Decimal | Fraction | np.floating
    if not isinstance(numbers, rows) or not all(isinstance(number, kinds) for number in numbers):
        return None
    return [_exactly(number) for number in numbers] or None


def _exactly(value):
    try:
        return Fraction(*value.as_integer_ratio())
    except OverflowError:  # an infinity
        return float(value)


def right_or_refused(case):
    """The number that the exact values have, or a refusal; never another number, error or warning."""
    function = FUNCTIONS[case["function"]]
    labels = ((case["labels"] or [0, 1]) * len(case["scores"]))[: len(case["scores"])]
    try:
        given = [FORMS[case["label form"]](labels), FORMS[case["score form"]](case["scores"])]
    except (OverflowError, ValueError, TypeError, RuntimeWarning):
        assume(False)
    seen = [exact(values) for values in given]
    result = answered(function, *given)
    if None not in seen and result is not None:
        order = sorted(set(seen[1]))
        assert result == answered(function, [*map(int, seen[0])], [order.index(score) for score in seen[1]])


cases = st.fixed_dictionaries({
    "function": st.sampled_from(sorted(FUNCTIONS)), "labels": st.lists(st.integers(0, 1), max_size=8),
    "scores": st.lists(st.one_of(st.integers(0, 9), st.sampled_from(NUMBERS)), min_size=2, max_size=8),
    "label form": st.one_of(st.just("list"), st.sampled_from(sorted(FORMS))),
    "score form": st.sampled_from(sorted(FORMS)),
})  # fmt: skip


GENERATORS = (Generator("arrays", cases, right_or_refused, 150),)
