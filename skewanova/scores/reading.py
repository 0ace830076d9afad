"""Score tables read from files and frames."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cache
from importlib.resources import as_file, files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from skewanova.base.checks import (
    InputError,
    InputTypeError,
    Where,
    check_choice,
    emit,
    first_rounded,
    naming,
)
from skewanova.base.operating_system import available_memory
from skewanova.scores.clusters import SAMPLING_COLUMNS, refuse_in_passes
from skewanova.scores.engines import Engine, engine_of, query_of
from skewanova.scores.formats import (
    NO_PYARROW,
    PARQUET,
    RawTable,
    TextTable,
    existing,
    is_text,
    load_table,
    open_parquet,
    wanted_columns,
)
from skewanova.scores.gathering import gather
from skewanova.scores.halvings import HALVING_COLUMNS, HALVINGS_IN_MEMORY, build_scores, places
from skewanova.scores.pairing import STREAMED
from skewanova.scores.table import (
    DATASET_COLUMNS,
    Scores,
    ScoreTable,
    StreamedScores,
    build_table,
    check_any_row,
    refuse_several_datasets,
    score_values,
    with_fold,
)

if TYPE_CHECKING:
    from skewanova.scores.parquet import ParquetSource

COLUMNS = ("model", "fold", "y_true", "y_score")


#: Columns that a table may have beside them.
OPTIONAL = ("case", *SAMPLING_COLUMNS, *HALVING_COLUMNS)


KNOWN = (*COLUMNS, *OPTIONAL)


#: What is said of a table that does not tell of folds.
NO_FOLD = (
    "there is no column fold: all rows are taken as one test set; if they are several folds, say which "
    "column tells them (--fold-column, or columns=)"
)


#: Columns that hold numbers; the others are labels, taken as they are written.
NUMBERS = frozenset({"y_score", "weight"})


#: About what a row costs at the worst moment of reading it, and the share of the free memory for that.
BYTES_A_ROW = 200


MEMORY_SHARE = 0.5


#: Rows of one test set, or of runs on it, that come here from an engine, if they fit: more stay there.
MOST_ROWS_HERE = 1_000_000


#: Bytes that a row of text has at least, as a rule, and how much smaller gzip makes them.
BYTES_OF_TEXT, PACKED = 25, 4


def read_scores(
    source: object, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> ScoreTable:
    """Read and check a long table of held-out scores.

    Parameters
    ----------
    source : path or frame
        ``.csv``, ``.jsonl`` or ``.ndjson`` (each also ``.gz``), ``.parquet`` or a folder of ``.parquet``
        files (extra ``parquet``), or a pandas, polars or pyarrow table, with the columns model, fold (without
        one, all rows are one test set), y_true, y_score and, optionally, case (which case of the data set a
        row is about), cluster, weight, part and halving (see Notes). Of JSON lines that tell the scores of
        both classes, as ``[p0, p1]`` or by name, the positive class's is read. A higher score speaks for the
        positive class.
    columns : mapping, optional
        Where the table uses other names: ``{"model": "classifier", "y_score": "probability"}``.
    pos_label : object, optional
        The positive class; needed unless the labels are {0, 1}, booleans or {-1, 1}.

    Returns
    -------
    ScoreTable
        The checked table.

    Raises
    ------
    ValueError
        If a column is missing, a value is missing or unusable, a (model, fold) lacks a class, a (model, fold,
        case) stands twice, a case has two labels, clusters or weights, or a fold tests part of a cluster. The
        message names the rows, by line of a file.
    TypeError
        If scores are not real numbers, or `source` is neither a path nor a frame.

    Notes
    -----
    ``cluster`` says which cases were drawn together, such as those of one patient: they are left out, drawn
    and counted together, and a fold must test all of a cluster or none. ``weight`` says how many cases of the
    population each stands for; a weight of 0 leaves a case out. Both are the same for a case in every row.

    Beside hold-outs (``part`` is holdout) a table may hold random halvings of the data set, numbered in
    ``halving``, with every model cross-validated in both halves (half_a and half_b; ``fold`` is then the fold
    there). Each case is tested once in a halving. :func:`~skewanova.compare` takes from them how much the
    means over the hold-outs vary: see :func:`~skewanova.compare_estimators`, which makes such tables.

    Examples
    --------
    >>> import pandas as pd
    >>> from skewanova import read_scores
    >>> frame = pd.DataFrame({"model": ["A"] * 3, "fold": 1, "y_true": [0, 1, 1], "y_score": [0.2, 0.4, 0.9]})
    >>> table = read_scores(frame)
    >>> table.models, table.folds, table.counts.tolist()
    (('A',), (1,), [[[1, 2]]])
    """
    raw = load_rows(source, columns, pos_label)
    return build_scores(raw.frame, raw.where, pos_label, raw.source)


def load_rows(
    source: object,
    columns: Mapping[str, str] | None,
    pos_label: object = None,
    *,
    classes: Sequence[str] = (),
) -> RawTable:
    """The columns of one data set by their own names, not yet checked; with `classes`, these for y_score."""
    names = column_names(columns, [name for name in KNOWN if name != "y_score" or not classes])
    taken = [name for name in classes if name in names.values()]
    if taken:
        raise InputError(
            f"`classes` must name columns of scores, but {taken[0]!r} is read as another column: rename it"
        )
    required = _required(names, columns)
    labels = [name for column, name in names.items() if column not in NUMBERS]
    datasets = [*DATASET_COLUMNS.difference(names.values())]
    kept, text = [*names.values(), *datasets, *classes], [*labels, *DATASET_COLUMNS]
    raw = load_table(source, required=[*required, *classes], optional=kept, text=text, pos_label=pos_label)
    _check_one_dataset(raw.frame, datasets)
    frame = raw.frame.rename(columns={name: column for column, name in names.items()})
    return replace(raw, frame=_with_fold(frame))


def _required(names: Mapping[str, str], columns: Mapping[str, str] | None) -> list[str]:
    """Names of columns that must be there: those named, used twice, or that no table may lack."""
    used = [*names.values()]
    return [
        name
        for column, name in names.items()
        if column not in (*OPTIONAL, "fold") or column in (columns or {}) or used.count(name) > 1
    ]


def _with_fold(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows that no column divides into folds are one test set."""
    if "fold" not in frame and "halving" in frame:
        raise InputError("a table with halvings needs the column fold, the fold of each half; add it")
    _note_fold(frame)
    return with_fold(frame)


def _note_fold(columns: Container[str]) -> None:
    """Warn where no column divides the rows into folds."""
    if "fold" not in columns:
        emit([NO_FOLD])


def read_parts(
    source: object, part: str, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> tuple[ScoreTable, ScoreTable]:
    """The rows of one part of a table, by its column part, and those of all other parts."""
    raw = load_rows(source, columns, pos_label)
    if "part" not in raw.frame or "halving" in raw.frame:
        raise InputError(
            "`choose_on` needs the column part, which says of every row where it belongs, and no column "
            "halving: add such a column, or name it"
        )
    names = raw.frame["part"].astype(str)
    check_choice(part, list(dict.fromkeys(names)), "choose_on")
    chosen = (names == part).to_numpy()
    if chosen.all():
        raise InputError(f"`choose_on` must leave rows to judge on, but all are of part {part!r}")
    rest = raw.frame.drop(columns="part")
    first, second = (
        build_table(rest.iloc[rows].reset_index(drop=True), places(raw.where, rows), pos_label, raw.source)
        for rows in (np.flatnonzero(chosen), np.flatnonzero(~chosen))
    )
    return first, second


def stream_scores(
    source: object,
    *,
    columns: Mapping[str, str] | None = None,
    pos_label: object = None,
    progress: bool = True,
) -> StreamedScores:
    """Read and check a long table of held-out scores that need not fit in memory.

    Parameters
    ----------
    source : path, frame of Dask or Spark, or query of DuckDB or polars
        ``.parquet`` file, or folder of such files, whose names may hold columns (``model=forest/fold=3/``);
        ``.csv``, ``.jsonl`` or ``.ndjson`` (each also ``.gz``); a Dask data frame; a Spark frame (of SQL or
        of the pandas API); a DuckDB relation or a polars lazy frame. All but Dask and Spark need the extra
        ``parquet``. Columns as for :func:`read_scores`; rows in any order.
    columns, pos_label
        As for :func:`read_scores`.
    progress : bool, default True
        Whether to show progress bars, if there is a terminal.

    Returns
    -------
    StreamedScores
        What :func:`~skewanova.compare` and :func:`~skewanova.evaluate` need of the table, in two bits a row.

    Raises
    ------
    ValueError, TypeError
        As :func:`read_scores`; ValueError if the temporary folder has too little room.

    Notes
    -----
    One group (model and fold) is in memory at a time. Unless the rows of every group stand together, they go
    through a temporary file (TMPDIR) of 9 bytes a row, and so do the cases, where there are any, of 9 more.
    Text and queries are first written to temporary Parquet.

    Groups of Dask and Spark are packed where their rows are, one or two bits a case, and so are the checks
    made; models then stand in the order of their names. Clusters and weights are honoured there (16 bytes for
    every different score of weighted cases), and refused elsewhere. Workers need skewanova (and Spark 4 or
    later).

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from skewanova import load_satellite_scores, stream_scores
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "scores.parquet"
    ...     load_satellite_scores().frame.to_parquet(path)
    ...     stream_scores(path)
    <StreamedScores: 77,220 rows, 3 models x 20 folds, of 'scores.parquet'>
    """
    engine = engine_of(source)
    if engine is not None:
        known = _known_columns(engine.names, columns, name=engine.name, sampled=True)
        for column in _dataset_columns(engine.names, columns):
            refuse_several_datasets(column, engine.n_distinct(column))
        _note_fold(known)
        return gather(engine, known, pos_label=pos_label)
    with ExitStack() as stack:
        table, known = _in_passes(source, columns, stack, pos_label=pos_label, progress=progress)
        for column in _dataset_columns(table.names, columns):
            if table.holds_several(column):
                raise InputError(
                    f"a table that is read in passes must hold one data set, but {column!r} tells of "
                    "several: write a file for each"
                )
        from skewanova.scores.streaming import stream  # needs an extra package

        _note_fold(known)
        if "fold" not in known:
            table, known = table.with_constant("fold", "1"), known | {"fold": "fold"}
        found = stream(table, known, pos_label=pos_label, progress=progress)
        return found if query_of(source) is None else replace(found, source=None)


def _in_passes(
    source: object,
    columns: Mapping[str, str] | None,
    stack: ExitStack,
    *,
    pos_label: object,
    progress: bool,
) -> tuple[ParquetSource, dict[str, str]]:
    """What passes read, kept until the stack is left, and what its columns are called."""
    query = query_of(source)
    path = None if query is not None else existing(_path(source))
    try:
        from skewanova.scores.spooling import query_as_parquet, text_as_parquet  # needs an extra package
    except ImportError as error:
        raise InputError(NO_PYARROW) from error
    if path is None:
        table = stack.enter_context(query_as_parquet(query))
        return table, _known_columns(table.names, columns, name="the query")
    if path.is_dir() or not is_text(path):
        table = open_parquet(path)
        return table, _known_columns(table.names, columns, name=repr(path.name))
    text = TextTable.open(path)
    known = _known_columns(text.names, columns, name=repr(path.name))
    wanted = [*known.values(), *_dataset_columns(text.names, columns)]
    options: dict[str, Any] = {"score": known["y_score"], "pos_label": pos_label, "progress": progress}
    return stack.enter_context(text_as_parquet(text, wanted, **options)), known


def _path(source: object) -> str | os.PathLike[str]:
    """A path, or an error that says what else can be read in passes."""
    if isinstance(source, str | os.PathLike):
        return source
    raise InputTypeError(
        "scores that are read in passes must be a path, a frame of Dask or Spark, or a query of DuckDB or "
        f"polars (lazy), but got {type(source).__name__}"
    )


def _dataset_columns(has: Sequence[str], columns: Mapping[str, str] | None) -> list[str]:
    """Columns that tell data sets apart."""
    return sorted(DATASET_COLUMNS.difference(column_names(columns).values()).intersection(has))


def _known_columns(
    has: Sequence[str], columns: Mapping[str, str] | None, *, name: str, sampled: bool = False
) -> dict[str, str]:
    """What the columns that are read are called in a table that has these; halvings are refused.

    So are clusters and weights, unless they are honoured where the rows are.
    """
    names = column_names(columns)
    required = _required(names, columns)
    if names.get("halving") in has:
        raise InputError(HALVINGS_IN_MEMORY)
    unread = {*HALVING_COLUMNS}
    if not sampled:
        refuse_in_passes(has, [names[column] for column in SAMPLING_COLUMNS if column in names])
        unread |= {*SAMPLING_COLUMNS}
    names = {column: name for column, name in names.items() if column not in unread}
    found = wanted_columns(has, required, [*names.values()], name=name)
    return {column: name for column, name in names.items() if name in found}


def open_scores(
    source: object, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> Scores:
    """Read a table in memory or, where it would take up too much of it, in passes.

    Parameters
    ----------
    source, columns, pos_label
        As for :func:`read_scores` and :func:`stream_scores`; frames of Dask and Spark stay where they are,
        but for few rows of one test set or runs on it, and halvings.

    Returns
    -------
    ScoreTable or StreamedScores
        The checked table.
    """
    engine = engine_of(source)
    if engine is not None:
        return _from_engine(engine, source, columns, pos_label)
    if _too_large(source):
        return stream_scores(source, columns=columns, pos_label=pos_label)
    return read_scores(source, columns=columns, pos_label=pos_label)


def _from_engine(
    engine: Engine, source: object, columns: Mapping[str, str] | None, pos_label: object
) -> Scores:
    """Curves from where the rows are or, where cases are compared one by one, the rows if they fit."""
    has = {column: name for column, name in column_names(columns).items() if name in engine.names}
    if any(column in has for column in HALVING_COLUMNS):
        if _fits(engine.n_rows()):
            return _collected(engine, has, columns, pos_label)
        return stream_scores(source, columns=columns, pos_label=pos_label)  # says what is wrong
    found = stream_scores(source, columns=columns, pos_label=pos_label)
    n_rows = int(found.counts.sum())
    if _over_cases(found) and _fits(n_rows) and (found.parts is None or n_rows <= MOST_ROWS_HERE):
        return _collected(engine, has, columns, pos_label)
    return found


def _over_cases(scores: StreamedScores) -> bool:
    """Whether all folds test the same cases, and these are named: rows of an engine have no order."""
    cases = scores.cases
    return cases is not None and bool((cases.shared == cases.n_cases).all())


def _collected(
    engine: Engine, has: Mapping[str, str], columns: Mapping[str, str] | None, pos_label: object
) -> ScoreTable:
    """All rows of an engine in memory, in the order of names, so that no engine's own order tells."""
    datasets = {name: name for name in _dataset_columns(engine.names, columns)}
    frame = engine.rows({**has, **datasets})
    keys = [key for key in ("model", "fold", "case") if key in frame]
    if "case" not in keys and frame["fold"].nunique() < 2 and frame["model"].nunique() > 1:
        raise InputError(STREAMED)
    ordered = frame.sort_values(keys, key=lambda values: values.astype(str), kind="stable")
    return read_scores(ordered, pos_label=pos_label)


def _fits(n_rows: int) -> bool:
    """Whether so many rows take up no more than their share of the free memory."""
    free = available_memory()
    return free is None or n_rows * BYTES_A_ROW <= MEMORY_SHARE * free


def _too_large(source: object) -> bool:
    """Whether a table would fill more than its share of the free memory, and can be read in passes."""
    if available_memory() is None or find_spec("pyarrow") is None:
        return False
    query = query_of(source)
    if query is not None:
        n_rows = int(nw.from_native(query).select(nw.len()).collect().item())
    elif isinstance(source, str | os.PathLike):
        n_rows = _about_rows(existing(source))
    else:
        return False
    return not _fits(n_rows)


def _about_rows(path: Path) -> int:
    """Rows of a Parquet table; of text about as many as its size tells."""
    if path.is_dir() or path.suffix.lower() in PARQUET:
        return open_parquet(path).n_rows
    packed = PACKED if path.suffix.lower() == ".gz" else 1
    return packed * path.stat().st_size // BYTES_OF_TEXT if is_text(path) else 0


def _check_one_dataset(frame: pd.DataFrame, columns: Sequence[str]) -> None:
    """Folds of several data sets are not folds of one."""
    for column in columns:
        if column in frame:
            refuse_several_datasets(column, frame[column].nunique())


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
    """Read and check a wide table of held-out scores: one row a case, one column a model.

    Parameters
    ----------
    source : path or frame
        As for :func:`read_scores`.
    y_true : str, default "y_true"
        Column of the labels.
    models : sequence of str, optional
        Columns of scores, named by model; by default all columns that have a name and no other role.
    fold, case, cluster, weight : str, optional
        Columns of the fold, and of the case, its cluster and its weight (see :func:`read_scores`); by default
        those of these names, where there are any and `models` does not name them. Without a fold, all rows
        are one fold.
    pos_label : object, optional
        As for :func:`read_scores`.

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
    roles = {"y_true": y_true, "fold": fold, "case": case, "cluster": cluster, "weight": weight}
    given = [name for name in roles.values() if name is not None]
    usual = [*(role for role, name in roles.items() if name is None), *HALVING_COLUMNS]
    known = [*given, *(name for name in usual if name not in (models or ()))]
    rest = None if models is None else known
    named = {role: roles.get(role) or role for role in (*roles, *HALVING_COLUMNS)}
    text = [name for name in known if name != named["weight"]]
    raw = load_table(
        source, required=[*given, *(models or ())], optional=rest, text=text, pos_label=pos_label
    )
    wide = raw.frame
    _check_both_there(wide, [column for column in HALVING_COLUMNS if column in known])
    chosen = [column for column in wide.columns.tolist() if column not in known]
    if not chosen:
        raise InputError("`models` must name at least one column of scores, but there is none left")
    scores = [score_values(wide[column], str(column), raw.where) for column in chosen]
    found = {role: wide[name] for role, name in named.items() if name in known and name in wide}
    labels = pd.DataFrame({"fold": 1, **found})
    parts = [labels.assign(model=str(column)) for column in chosen]
    # What is wrong with a row is wrong once: the first model's rows are checked by themselves.
    build_scores(parts[0].assign(y_score=scores[0]), raw.where, pos_label, raw.source)
    long = pd.concat(parts, ignore_index=True).assign(y_score=_stacked(scores, chosen, raw.where))
    return build_scores(long, raw.where, pos_label, raw.source)


def _check_both_there(wide: pd.DataFrame, columns: Sequence[str]) -> None:
    """Columns about halvings go together; one alone may be a model's."""
    found = [column for column in columns if column in wide]
    if len(found) == 1:
        raise InputError(
            f"the column {found[0]!r} tells of halvings only beside {' and '.join(HALVING_COLUMNS)}: if it "
            "holds scores of a model, name all such columns in `models`; else leave it out"
        )


def column_names(columns: Mapping[str, str] | None, known: Sequence[str] = KNOWN) -> dict[str, str]:
    """What every column is called in the source; one that serves as another is no optional one."""
    names = {column: column for column in known}
    for column, name in (columns or {}).items():
        names[check_choice(column, tuple(known), "columns")] = name
    for column in OPTIONAL:
        if column not in (columns or {}) and [*names.values()].count(names[column]) > 1:
            del names[column]
    return names


def _stacked(columns: Sequence[NDArray[Any]], names: Sequence[object], where: Where) -> NDArray[Any]:
    """One column over another; whole numbers that the common dtype would round are refused."""
    common = np.result_type(*columns)
    for column, name in zip(columns, names, strict=True):
        lossy = first_rounded(column) if common.kind == "f" and column.dtype.kind in "iu" else None
        if lossy is not None:
            raise InputError(
                f"`{name}` must keep its order as floats, which other columns hold, but has {column[lossy]} "
                f"at {where(lossy)}, which would be rounded, and may tie with another; write the ranks"
            )
    return np.concatenate([column.astype(common) for column in columns])


DATASET = "dataset"


def read_datasets(
    source: object, *, columns: Mapping[str, str] | None = None, pos_label: object = None
) -> dict[str, ScoreTable]:
    """Read one checked score table for each data set.

    Parameters
    ----------
    source : path, frame or mapping
        A table with the column dataset beside those of :func:`~skewanova.read_scores`, or a mapping from the
        names of data sets to tables.
    columns : mapping, optional
        Other names of columns, that of the column dataset among them.
    pos_label : object, optional
        The positive class.

    Returns
    -------
    dict
        Score tables by name, in order of first appearance.

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
    if isinstance(source, Mapping):
        return {
            str(name): _read(str(name), table, columns=columns, pos_label=pos_label)
            for name, table in source.items()
        }
    names = column_names(columns, (DATASET, *KNOWN))
    required = _required(names, columns)
    labels = [name for column, name in names.items() if column not in NUMBERS]
    kept = [*names.values()]
    raw = load_table(source, required=required, optional=kept, text=labels, pos_label=pos_label)
    frame = _with_fold(raw.frame.rename(columns={name: column for column, name in names.items()}))
    tables = {}
    for name, rows in _rows_by_name(frame).items():
        part = frame.iloc[rows].drop(columns=DATASET).reset_index(drop=True)
        with naming(f"data set {name!r}"):
            tables[name] = build_scores(part, places(raw.where, rows), pos_label, raw.source)
    return tables


def _read(name: str, table: object, *, columns: Mapping[str, str] | None, pos_label: object) -> ScoreTable:
    if isinstance(table, ScoreTable):
        return table
    with naming(f"data set {name!r}"):
        return read_scores(table, columns=columns, pos_label=pos_label)


def _rows_by_name(frame: pd.DataFrame) -> dict[str, NDArray[np.intp]]:
    codes, found = pd.factorize(frame[DATASET].map(str, na_action="ignore"))
    names = [str(name) for name in found]
    if (codes < 0).any() or not all(name.strip() for name in names):
        raise InputError("`dataset` must not be empty in any row")
    check_any_row(len(names))
    return {name: np.flatnonzero(codes == code) for code, name in enumerate(names)}


def load_satellite_scores() -> ScoreTable:
    """Scores of Landgrebe et al.'s models A, B and C over 20 random hold-outs of the Satellite data.

    A is a mixture of Gaussians on three principal components; B and C are nearest-prototype classifiers with
    15 and 50 prototypes. `examples/satellite.py` trains them and writes these scores.

    Returns
    -------
    ScoreTable
        77,220 rows: 3 models, 20 folds, 1,287 cases a fold.

    References
    ----------
    Landgrebe et al. (2006), section 6; Statlog (Landsat Satellite), UCI Machine Learning Repository,
    CC BY 4.0.

    Examples
    --------
    >>> from skewanova import load_satellite_scores
    >>> load_satellite_scores().models
    ('A', 'B', 'C')
    """
    read = _satellite_scores()
    return replace(read, frame=read.frame.copy())


@cache
def _satellite_scores() -> ScoreTable:
    """The bundled scores, read once; whoever changes a frame changes a copy."""
    with as_file(files("skewanova.scores") / "data" / "satellite_scores.csv.gz") as path:
        return scores_from_wide(path, fold="fold", case="case", models=("A", "B", "C"))
