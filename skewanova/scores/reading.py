"""Score tables read from files, frames and queries, and one-vs-rest tables of several classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.resources import as_file, files
from types import MappingProxyType
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from skewanova.base import checks
from skewanova.base.checks import Floats, InputError, InputTypeError, RowName
from skewanova.scores import validation
from skewanova.scores.columns import (
    ALL_COLUMNS,
    DATASET_COLUMN,
    HALVING_COLUMNS,
    ColumnMap,
    RawTable,
    add_fold,
)
from skewanova.scores.halvings import build_scores
from skewanova.scores.sources import detect_backend, load_table
from skewanova.scores.table import Scores, ScoreTable


def read_scores(
    source: object, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> ScoreTable:
    """Read and check a long table of held-out scores.

    Parameters
    ----------
    source : path, frame or query
        ``.csv``, ``.jsonl`` or ``.ndjson`` (each also ``.gz``), ``.parquet`` or a folder of ``.parquet``
        files; a pandas, polars or pyarrow table; a DuckDB relation; a cursor of ADBC; or any object with
        ``__arrow_c_stream__``. The columns are model, fold (without one, all rows are one test set), y_true,
        y_score and, optionally, case (an identifier of the case), cluster, weight, part and halving (see
        Notes). Higher scores must mean more likely positive. If JSON lines hold the scores of both classes,
        as ``[p0, p1]`` or by name, the score of the positive class is read.
    columns : mapping, optional
        Other names of the columns, such as ``{"model": "classifier", "y_score": "probability"}``.
    pos_label : object, optional
        The positive class; needed unless the labels are {0, 1}, booleans or {-1, 1}, also as text.

    Returns
    -------
    ScoreTable
        The checked table; a ScoreTable as it is. Of Dask or Spark it is a counterpart with the same methods,
        whose rows stay on the workers; a test set of at most a million rows is read into memory.

    Raises
    ------
    ValueError, TypeError
        If a table does not fit in memory or has several data sets, a column is missing, a value is missing or
        unusable, a (model, fold) lacks a class, a (model, fold, case) occurs twice, a case has two labels,
        clusters or weights, or a fold tests part of a cluster. The message names the row, by its line in a
        file. TypeError if scores are not real numbers, or `source` is neither a path nor a frame.

    Notes
    -----
    ``cluster`` names cases that were sampled together, such as those of one patient. Clusters are the
    sampling units, and a fold must test all cases of a cluster or none. ``weight`` is the number of cases of
    the population that a case represents; a case of weight 0 is left out. Both are the same in every row of
    a case.

    In addition to hold-outs (``part`` is holdout) a table may hold random halvings of the data set, numbered
    in ``halving``. Every model is cross-validated in both halves (half_a and half_b), and ``fold`` numbers
    the folds of a half. Each case is tested once per halving. :func:`~skewanova.compare` estimates from
    them the variance of means over the hold-outs; :func:`~skewanova.compare_estimators` makes such tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova import read_scores
    >>> frame = pd.DataFrame({"model": ["A"] * 3, "fold": 1, "y_true": [0, 1, 1], "y_score": [0.2, 0.4, 0.9]})
    >>> table = read_scores(frame)
    >>> table.models, table.folds, table.counts.tolist()
    (('A',), (1,), [[[1, 2]]])
    """
    if isinstance(source, Scores):
        return cast(ScoreTable, source)
    engine = detect_backend(source)
    if engine is not None:
        distributed: Any = import_module("skewanova.distributed.loading")
        return cast(ScoreTable, distributed.read_distributed(engine, columns, pos_label))
    return read_in_memory(source, columns=columns, pos_label=pos_label)


def read_in_memory(
    source: object, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> ScoreTable:
    """Return the checked table of a source read into memory, even of Dask or Spark; a ScoreTable as it is."""
    if isinstance(source, ScoreTable):
        return source
    return build_scores(load_rows(source, columns, pos_label), pos_label)


def load_rows(
    source: object, columns: Mapping[str, str] | None, pos_label: object, classes: Sequence[str] = ()
) -> RawTable:
    """Return unchecked columns (warn, fold 1 if none), `classes` for y_score; raise for several data sets."""
    raw = load_table(source, ColumnMap.from_names(columns, classes=classes, pos_label=pos_label))
    if DATASET_COLUMN in raw.frame and raw.frame[DATASET_COLUMN].nunique(dropna=False) > 1:
        names = validation.to_categorical(raw.frame[DATASET_COLUMN], DATASET_COLUMN, raw.where)
        validation.raise_multiple_datasets(len(names.categories), classes=classes)
    readers = ["scores.read_multiclass(table, classes, "] if classes else []
    return replace(raw, frame=add_fold(raw.frame, *readers))


def read_parts(
    source: object, part: str, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> tuple[ScoreTable, ScoreTable]:
    """Return checked tables less part: rows of this `part`, all others (blank too); raise if one has none."""
    raw = load_rows(source, columns, pos_label)
    if "part" not in raw.frame or "halving" in raw.frame:
        raise InputError(
            "`choose_on` needs a column part, which names the part of every row, and no column halving; "
            + "leave `choose_on` out" * ("halving" in raw.frame)
            + "add the column, or rename yours to part (--part-column NAME)" * ("halving" not in raw.frame)
        )
    names = raw.frame["part"].astype(str)
    checks.check_choice(part, list(dict.fromkeys(names)), "choose_on")
    chosen = (names == part).to_numpy()
    if chosen.all():
        raise InputError(
            f"`choose_on` must leave rows of another part, but all are of {part!r}; add some or drop it"
        )
    rest = replace(raw, frame=raw.frame.drop(columns="part"))
    first, second = (rest.take(np.flatnonzero(rows)) for rows in (chosen, ~chosen))
    return validation.build_score_table(first, pos_label), validation.build_score_table(second, pos_label)


def scores_from_wide(
    source: object,
    *,
    y_true: str = "y_true",
    models: Sequence[str] | None = None,
    fold: str | None = None,
    case: str | None = None,
    cluster: str | None = None,
    weight: str | None = None,
    pos_label: object = None,
) -> ScoreTable:
    """Read and check a wide table of held-out scores, with one row per case and one column per model.

    Parameters
    ----------
    source, pos_label
        As for :func:`read_scores`.
    y_true : str, default "y_true"
        Column of the labels.
    models : sequence of str, optional
        Columns of scores, named by model; by default all named columns without another role.
    fold, case, cluster, weight : str, optional
        Columns of fold, case, its cluster and its weight (see :func:`read_scores`); by default the columns of
        these names, unless `models` lists them, as are part and halving. Without fold, all rows are one fold.

    Returns
    -------
    ScoreTable
        The checked table in long form.

    Raises
    ------
    ValueError, TypeError
        As :func:`read_scores`.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova import scores_from_wide
    >>> wide = pd.DataFrame({"y_true": [0, 1, 1], "tree": [0.1, 0.7, 0.6], "net": [0.3, 0.2, 0.9]})
    >>> scores_from_wide(wide).models
    ('tree', 'net')
    """
    if isinstance(models, str) or not (models is None or np.iterable(models)):
        raise InputTypeError(f"`models` must be a list of names, but got {models!r}")
    roles = {"y_true": y_true, "fold": fold, "case": case, "cluster": cluster, "weight": weight}
    stated = [name for name in roles.values() if name is not None]
    usual = [*(role for role, name in roles.items() if name is None), *HALVING_COLUMNS]
    with_role = [*stated, *(name for name in usual if name not in (models or ()))]
    rest = None if models is None else with_role
    named = {role: roles.get(role) or role for role in (*roles, *HALVING_COLUMNS)}
    text = [name for name in with_role if name != named["weight"]]
    with _explain_columns(models, named["weight"]):
        raw = load_table(source, ColumnMap([*stated, *(models or ())], rest, text, pos_label=pos_label))
        wide = raw.frame
        chosen = [column for column in wide.columns.tolist() if column not in with_role]
        scores = [validation.validate_scores(wide[column], str(column), raw.where) for column in chosen]
    halving = [column for column in HALVING_COLUMNS if column in with_role and column in wide]
    if len(halving) == 1:
        raise InputError(
            f"halvings need columns {', '.join(HALVING_COLUMNS)}, fold and case, but of the first two only "
            f"{halving[0]!r}; add the rest, or rename it if it holds scores of a model, or else leave it out"
        )
    if not chosen:
        columns = "the table has only " + ", ".join(map(repr, wide.columns)) if models is None else "is empty"
        raise InputError(f"`models` must list the columns of scores, but {columns}")
    result = {role: wide[name] for role, name in named.items() if name in with_role and name in wide}
    labels = pd.DataFrame({"fold": 1, **result})
    if halving and "fold" not in result:
        add_fold(labels[halving])  # which raises
    parts = [labels.assign(model=str(column)) for column in chosen]
    # an error of a row is one of all models: the first model's rows are checked alone, so that none repeats
    build_scores(replace(raw, frame=parts[0].assign(y_score=scores[0])), pos_label)
    long = pd.concat(parts, ignore_index=True).assign(y_score=_stack_columns(scores, chosen, raw.where))
    return build_scores(replace(raw, frame=long), pos_label)


@contextmanager
def _explain_columns(models: Sequence[str] | None, weight: str) -> Iterator[None]:
    """Add a remedy to errors on text taken for scores; change none with `models`, or on column `weight`."""
    try:
        yield
    except (InputError, InputTypeError) as error:
        name, rule, _ = str(error).partition(" must hold real numbers")
        if models is not None or not rule or name == f"`{weight}`":
            raise
        hints = {
            "`model`": "if it names the models, the table is long: skewanova.read_scores(table), or leave "
            "out --wide",
            "`dataset`": "keep the rows of one data set without it, or make the table long: a row for each "
            "model and case",
        }
        other = (
            "if it holds no scores, leave it out, or list the models: skewanova.scores_from_wide(table, "
            "models=LIST), or --models LIST (of compare and compare-values)"
        )
        raise type(error)(f"{error}; {hints.get(name, other)}") from error


def _stack_columns(columns: Sequence[NDArray[Any]], names: Sequence[object], where: RowName) -> NDArray[Any]:
    """Return the columns end to end in their common dtype; raise if that would round a whole number."""
    common = np.result_type(*columns)
    for column, name in zip(columns, names, strict=True):
        lossy = checks.find_rounded(column) if common.kind == "f" and column.dtype.kind in "iu" else None
        if lossy is not None:
            raise InputError(
                f"`{name}` must keep its order as floats, like the other columns, but {column[lossy]} at "
                f"{where(lossy)} would be rounded and may tie with another score; write ranks in such columns"
            )
    return np.concatenate([column.astype(common) for column in columns])


def read_datasets(
    source: object, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> dict[str, ScoreTable]:
    """Read and check one score table per data set.

    Parameters
    ----------
    source : path, frame or mapping
        A table with the column dataset and those of :func:`~skewanova.read_scores`, or a mapping from names
        of data sets to tables.
    columns, pos_label
        As for :func:`~skewanova.read_scores`; `columns` may also name the column dataset.

    Returns
    -------
    dict
        Score tables by name, in order of first appearance, in memory even of Dask or Spark.

    Raises
    ------
    ValueError, TypeError
        As :func:`~skewanova.read_scores`; the message begins with the name of the data set.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova import read_datasets
    >>> frame = pd.DataFrame({"dataset": list("xxyy"), "model": "A", "fold": 1, "y_true": [0, 1] * 2,
    ...                       "y_score": [0.2, 0.4, 0.9, 0.1]})
    >>> {name: table.models for name, table in read_datasets(frame).items()}
    {'x': ('A',), 'y': ('A',)}
    """
    tables: dict[str, ScoreTable] = {}
    if isinstance(source, Mapping):
        checks.check_text(map(str, source), "`dataset`")
        for key, table in source.items():
            with checks.prefix_errors(f"data set {str(key)!r}", "skewanova.read_datasets("):
                tables[str(key)] = read_in_memory(table, columns=columns, pos_label=pos_label)
        return tables
    raw = load_table(
        source, ColumnMap.from_names(columns, allowed=(DATASET_COLUMN, *ALL_COLUMNS), pos_label=pos_label)
    )
    validation.check_any_row(len(raw.frame))
    dataset = validation.to_categorical(raw.frame[DATASET_COLUMN], DATASET_COLUMN, raw.where)
    rest = replace(raw, frame=add_fold(raw.frame, "read_datasets(table, ").drop(columns=DATASET_COLUMN))
    for code, name in enumerate(dataset.categories):
        with checks.prefix_errors(f"data set {name!r}", "skewanova.read_datasets("):
            tables[name] = build_scores(rest.take(np.flatnonzero(dataset.codes == code)), pos_label)
    return tables


def load_satellite_scores() -> ScoreTable:
    """Load scores of Landgrebe et al.'s models A, B and C over 20 random hold-outs of the Satellite data.

    A is a mixture of Gaussians on three principal components; B and C are nearest-prototype classifiers with
    15 and 50 prototypes (Landgrebe et al. 2006, section 6). `examples/satellite.py` trains them and writes
    these scores. The data are Statlog (Landsat Satellite), UCI Machine Learning Repository, CC BY 4.0.

    Returns
    -------
    ScoreTable
        77,220 rows: 3 models, 20 folds, 1,287 cases a fold.

    Examples
    --------
    >>> from skewanova import load_satellite_scores
    >>> load_satellite_scores().models
    ('A', 'B', 'C')
    """
    with as_file(files("skewanova.scores") / "data" / "satellite_scores.csv.gz") as path:
        return scores_from_wide(path, fold="fold", case="case", models=("A", "B", "C"))


# --- several classes ----------------------------------------------------------------------------------------


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
        frames = {name: table.to_frame() for name, table in self.tables.items()}
        return pd.concat(frames, names=["class"]).reset_index(level=0).reset_index(drop=True)


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
    labels = checks.check_vector(checks.to_array(y_true, "y_true"), "y_true")
    names = _check_class_names(labels[~pd.isna(labels)], classes)
    checks.check_named_models(y_score, "y_score")
    scores = {m: _check_class_scores(values, m, len(labels), names) for m, values in y_score.items()}
    rows: dict[str, Any] = {"fold": 1, "case": np.arange(len(labels))}
    for name, values in (("fold", fold), ("case", case)):
        if values is not None:
            rows[name] = checks.check_vector(checks.to_array(values, name), name)
            checks.check_same_length(**{"y_true": labels, name: rows[name]})
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
        As for :func:`~skewanova.scores_from_multiclass`.

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
    if isinstance(classes, str) or not np.iterable(classes):
        raise InputTypeError(f"`classes` must be a list of columns, as ['cat', 'dog'], but got {classes!r}")
    raw = load_rows(source, columns, None, np.asarray([*classes]).tolist())
    names = _check_class_names(raw.frame["y_true"].dropna().to_numpy(), classes)
    rest = replace(raw, frame=raw.frame.drop(columns=names))
    scores = {name: validation.validate_scores(raw.frame[name], name, raw.where) for name in names}
    return _build_tables(rest, scores)


def _build_tables(raw: RawTable, scores: Mapping[str, Any]) -> MulticlassScores:
    """Return a checked table per class, with y_true True for it and y_score its values in `scores`."""
    tables, labels = {}, raw.frame["y_true"].map(str, na_action="ignore")
    for name, score in scores.items():
        y_true = labels.eq(name).astype(object).where(labels.notna())
        with checks.prefix_errors(f"class {name!r}"):
            frame = raw.frame.assign(y_true=y_true, y_score=score)
            tables[name] = build_scores(replace(raw, frame=frame), None)
    return MulticlassScores(MappingProxyType(tables))


def _check_class_names(labels: NDArray[np.generic], classes: Sequence[object] | None) -> list[str]:
    """Return `classes` (None: sorted labels) as text; raise for 1 or equal ones, or a label not in them."""
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
            f"there must be at least 2 classes, whose names differ as text, but got {values!s:.60}"
        )
    checks.check_text(names, "`classes`")
    unknown = sorted({str(label) for label in labels.tolist()} - {*names})
    if unknown:
        raise InputError(
            f"`y_true` has the class {unknown[0]!r}, which is not one of {', '.join(names)}; spell it as "
            "one of these, leave its rows out, or name it by `classes` too if there are scores of it"
        )
    return names


def _check_class_scores(values: ArrayLike, model: str, n_cases: int, classes: Sequence[str]) -> Floats:
    """Return scores as an array with a row per case and a column per class; raise for another shape."""
    result = checks.check_real(checks.to_array(values, name := f"y_score[{model!r}]"), name)
    if result.shape != (shape := (n_cases, len(classes))):
        raise InputError(
            f"the scores of {model!r} must have shape {shape}, one row per case and one column for each of "
            f"{', '.join(classes)}, but have {result.shape}; leave out columns of classes not in `y_true` "
            "(and in `classes`), and rows of classes without a column"
        )
    return result
