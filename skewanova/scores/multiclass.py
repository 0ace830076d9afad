"""One-vs-rest score tables from the scores of classifiers with several classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from skewanova.base.checks import (
    Floats,
    InputError,
    InputTypeError,
    check_same_length,
    check_text,
    check_vector,
    prefix_errors,
    to_array,
)
from skewanova.scores.columns import RawTable
from skewanova.scores.halvings import build_scores
from skewanova.scores.reading import load_rows
from skewanova.scores.table import ScoreTable
from skewanova.scores.validation import validate_scores


@dataclass(frozen=True, eq=False)
class MulticlassScores:
    """One-vs-rest score tables of the same cases, one per class.

    Attributes
    ----------
    tables : mapping
        Score table of every class by its name; that class is the positive one.
    """

    tables: Mapping[str, ScoreTable]

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, in the order of `tables`."""
        return tuple(self.tables)

    def to_frame(self) -> pd.DataFrame:
        """Return the rows of all tables, class by class, with a column class before those of the tables."""
        parts = [table.to_frame().assign(**{"class": name}) for name, table in self.tables.items()]
        frame = pd.concat(parts, ignore_index=True)
        return frame[["class", *frame.columns.drop("class")]]


def scores_from_multiclass(
    y_true: ArrayLike,
    y_score: Mapping[str, ArrayLike],
    *,
    classes: Sequence[object] | None = None,
    fold: ArrayLike | None = None,
    case: ArrayLike | None = None,
) -> MulticlassScores:
    """Build a one-vs-rest score table for every class.

    Parameters
    ----------
    y_true : array_like of shape (n_cases,)
        Class of every case.
    y_score : mapping
        Probabilities or scores by the name of the model, of shape (n_cases, n_classes); larger means more
        likely.
    classes : sequence, optional
        Class of every column, such as ``estimator.classes_``; by default the sorted classes of `y_true`.
    fold, case : array_like of shape (n_cases,), optional
        Fold and case of every row; by default all rows are one fold, and every row is another case.

    Returns
    -------
    MulticlassScores
        One checked table per class, which is its positive class, for :func:`~skewanova.compare_classes`.

    Raises
    ------
    ValueError, TypeError
        If a shape does not fit, a case has an unknown class, two classes have the same name, or as
        :func:`~skewanova.read_scores`, with the name of the class.

    Examples
    --------
    >>> import numpy as np
    >>> from skewanova import scores_from_multiclass
    >>> labels = np.array(["cat", "dog", "owl", "dog", "cat", "owl"])
    >>> scores = {"tree": np.eye(3)[[0, 1, 2, 1, 1, 2]], "net": np.eye(3)[[0, 1, 2, 2, 0, 0]]}
    >>> multiclass = scores_from_multiclass(labels, scores)
    >>> multiclass.classes, multiclass.tables["dog"].models
    (('cat', 'dog', 'owl'), ('tree', 'net'))
    """
    labels = check_vector(to_array(y_true, "y_true"), "y_true")
    names = _check_class_names(labels[~pd.isna(labels)], classes)
    if not isinstance(y_score, Mapping):
        raise InputTypeError(
            "`y_score` must be a mapping from the names of the models to their scores, but is a "
            f"{type(y_score).__name__}"
        )
    if not y_score:
        raise InputError("`y_score` must hold the scores of at least one model, but is empty")
    shape = len(labels), len(names)
    scores = {str(model): _check_class_scores(values, model, shape) for model, values in y_score.items()}
    rows: dict[str, Any] = {"fold": 1, "case": np.arange(len(labels))}
    for name, values in (("fold", fold), ("case", case)):
        if values is not None:
            rows[name] = check_vector(to_array(values, name), name)
            check_same_length(**{"y_true": labels, name: rows[name]})
    check_text(scores, "`y_score`")
    frame = pd.concat([pd.DataFrame({"model": model, **rows}) for model in scores], ignore_index=True)
    columns = np.concatenate([*scores.values()]).T
    raw = RawTable(frame.assign(y_true=np.tile(labels, len(scores))))
    return _build_tables(raw, dict(zip(names, columns, strict=True)))


def read_multiclass(
    source: object, classes: Sequence[str], *, columns: Mapping[str, str] | None = None
) -> MulticlassScores:
    """Read a long table of the scores of several classes into one-vs-rest score tables.

    Parameters
    ----------
    source : path or frame
        As for :func:`~skewanova.read_scores`, but ``y_true`` is the class of the case. In place of y_score
        there is one column of scores or probabilities per class, named as the class.
    classes : sequence of str
        Columns of scores, named as the classes.
    columns : mapping, optional
        Other names of the other columns, as for :func:`~skewanova.read_scores`.

    Returns
    -------
    MulticlassScores
        One checked table per class, which is its positive class, for :func:`~skewanova.compare_classes`.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.scores_from_multiclass`; the message names the rows, by line of a file.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova.scores import read_multiclass
    >>> frame = pd.DataFrame({"model": "tree", "fold": 1, "y_true": ["cat", "dog", "cat", "dog"],
    ...                       "cat": [0.9, 0.2, 0.4, 0.6], "dog": [0.1, 0.8, 0.6, 0.4]})
    >>> read_multiclass(frame, ["cat", "dog"]).tables["dog"].counts.tolist()
    [[[2, 2]]]
    """
    if isinstance(classes, str):
        raise InputTypeError("`classes` must be a list of columns, such as ['cat', 'dog'], but is one text")
    raw = load_rows(source, columns, classes=classes)
    names = _check_class_names(raw.frame["y_true"].dropna().to_numpy(), classes)
    rest = replace(raw, frame=raw.frame.drop(columns=names))
    return _build_tables(rest, {name: validate_scores(raw.frame[name], name, raw.where) for name in names})


def _build_tables(raw: RawTable, scores: Mapping[str, Any]) -> MulticlassScores:
    """Return a checked table per class, with y_true True for it and y_score its values in `scores`."""
    tables, labels = {}, raw.frame["y_true"].map(str, na_action="ignore")
    for name, score in scores.items():
        y_true = labels.eq(name).astype(object).where(labels.notna())
        with prefix_errors(f"class {name!r}"):
            frame = raw.frame.assign(y_true=y_true, y_score=score)
            tables[name] = build_scores(replace(raw, frame=frame), None)
    return MulticlassScores(MappingProxyType(tables))


def _check_class_names(labels: NDArray[np.generic], classes: Sequence[object] | None) -> list[str]:
    """Return `classes` (by default sorted labels) as texts; raise for fewer than 2, equal or lacking ones."""
    try:
        values = np.unique(labels).tolist() if classes is None else np.asarray(classes).tolist()
    except TypeError as error:
        raise InputError(
            "`y_true` must hold text or numbers, but holds both; name the class of every column of the "
            "scores by `classes`"
        ) from error
    names = [*dict.fromkeys(map(str, values))]
    if len(names) < 2 or len(names) != len(values):
        raise InputError(
            f"there must be at least 2 classes with different names, but got {', '.join(map(str, values))}"
        )
    check_text(names, "`classes`")
    unknown = sorted({str(label) for label in labels.tolist()} - {*names})
    if unknown:
        raise InputError(
            f"`y_true` has the class {unknown[0]!r}, which is not one of {', '.join(names)}; name it too by "
            "`classes`, or leave its rows out"
        )
    return names


def _check_class_scores(values: ArrayLike, model: str, shape: tuple[int, int]) -> Floats:
    """Return scores as an array of `shape` (a row per case, a column per class); raise for another shape."""
    result = to_array(values, f"y_score[{model!r}]")
    if result.shape != shape:
        raise InputError(
            f"the scores of {model!r} must have shape {shape}, one row per case and one column per class, "
            f"but have {result.shape}"
        )
    return result
