"""What scikit-learn estimators say about cases: one score for the positive class, whatever their labels."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from skewanova._checks import (
    InputError,
    InputTypeError,
    check_choice,
    check_labels,
    check_prior,
    to_array,
)
from skewanova._class_prior import correct_class_prior

RESPONSES = ("decision_function", "predict_proba")
RESPONSE_METHODS = ("auto", *RESPONSES)


def sklearn_module(name: str) -> Any:
    """Part of scikit-learn, or how to install it."""
    try:
        return import_module(f"sklearn.{name}")
    except ImportError as error:
        raise InputError('this needs scikit-learn: pip install "skewanova[sklearn]"') from error


def check_response(response_method: str, class_prior: float | None) -> None:
    """Check that the method is known, and that only probabilities are corrected."""
    check_choice(response_method, RESPONSE_METHODS, "response_method")
    if class_prior is None:
        return
    check_prior(class_prior, "class_prior")
    if response_method != "predict_proba":
        raise InputError(
            "`class_prior` corrects probabilities: use it with response_method='predict_proba', not "
            f"{response_method!r} (ranks, and so AUPREC, do not need it)"
        )


def positive_scores(
    estimator: Any, rows: Any, *, response_method: str = "auto", pos_label: object = None
) -> NDArray[Any]:
    """Scores of a fitted estimator for its positive class."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputError(f"{type(estimator).__name__} has no classes_: it must be a fitted classifier")
    positive = check_labels(classes, pos_label=pos_label, name="classes_")
    if len(positive) != 2 or positive.sum() != 1:
        raise InputError("it learnt one class only; every training set needs both")
    score = to_array(getattr(estimator, _method(estimator, response_method))(rows), "y_score")
    if score.ndim == 2 and score.shape[1] == 2:
        return np.asarray(score[:, positive.argmax()])
    if score.ndim != 1:
        raise InputError(f"its scores have shape {score.shape}, but must be one for each case")
    return score if positive[1] else np.asarray(-score)


def _method(estimator: Any, response_method: str) -> str:
    wanted = RESPONSES if response_method == "auto" else (response_method,)
    for name in wanted:
        if hasattr(estimator, name):
            return name
    raise InputTypeError(f"{type(estimator).__name__} has no {' or '.join(wanted)}, so it cannot score cases")


def at_data_prior(score: NDArray[Any], class_prior: float | None, prior: float) -> NDArray[Any]:
    """Probabilities corrected from the prior that training showed to the prior of the data."""
    if class_prior is None:
        return score
    return np.asarray(correct_class_prior(score, train_prior=class_prior, prior=prior))


def as_rows(data: Any) -> Any:
    """Features or labels as any scikit-learn can cut by rows: lazy frames collected, Arrow as pandas."""
    frame: Any = nw.from_native(data, allow_series=True, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, nw.Series):
        return frame.to_native() if frame.implementation.is_pandas() else frame.to_numpy()
    if isinstance(frame, nw.DataFrame):
        return frame.to_pandas() if frame.implementation.is_pyarrow() else frame.to_native()
    return data


def cut_rows(data: Any, rows: NDArray[np.intp]) -> Any:
    """Rows of an array, sparse matrix, frame or list."""
    return sklearn_module("utils")._safe_indexing(data, rows)


def held_out_rows(cv_result: Any, n_cases: int, name: str) -> list[NDArray[np.intp]]:
    """Positions of the test cases of each fold of one `cross_validate`."""
    lacking = [
        key for key in ("estimator", "indices") if not isinstance(cv_result, Mapping) or key not in cv_result
    ]
    if lacking:
        raise InputError(
            f"the results of {name!r} have no {' and no '.join(map(repr, lacking))}: call "
            "cross_validate(..., return_estimator=True, return_indices=True)"
        )
    tests = [np.asarray(test) for test in cv_result["indices"]["test"]]
    if max(int(test.max()) for test in tests) >= n_cases:
        raise InputError(
            f"`X` must be what {name!r} was validated on, but has {n_cases} rows, fewer than its splits"
        )
    return tests


def count_rows(data: Any, name: str) -> int:
    """Number of rows of an array, sparse matrix, frame or list."""
    shape = getattr(data, "shape", None)
    try:
        return int(shape[0]) if shape else len(data)
    except TypeError as error:
        raise InputTypeError(f"`{name}` must have one row for each case, but is {data!r:.40}") from error


def cut_params(params: Mapping[str, Any], rows: NDArray[np.intp], n_cases: int) -> dict[str, Any]:
    """Arguments of `fit`, those with one value a case cut to its training cases."""
    return {
        name: cut_rows(value, rows) if _has_cases(value, n_cases) else value for name, value in params.items()
    }


def _has_cases(value: Any, n_cases: int) -> bool:
    countable = hasattr(value, "shape") or (
        hasattr(value, "__len__") and not isinstance(value, str | Mapping)
    )
    return countable and getattr(value, "shape", None) != () and count_rows(value, "params") == n_cases
