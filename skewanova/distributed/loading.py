"""Tables of engines: every group is packed where its rows are, and its curve comes back.

The engine brings rows together: those of a group (model and fold), which become a packed curve of one or two
bits a case; and, where there are cases, clusters or weights, all rows of some of them. Neither rows nor cases
reach this process.

A group of more rows than a worker holds is counted by score level and comes back in pieces.

Tables with halvings, and small test sets, are read as a whole instead; see :mod:`skewanova.scores.reading`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from skewanova.base.checks import InputError, check_labels, emit
from skewanova.base.folders import available_memory
from skewanova.distributed import packing
from skewanova.distributed.backends import Backend, detect_backend
from skewanova.distributed.case_checks import look_at_cases
from skewanova.distributed.packing import (
    Group,
    Groups,
    Packed,
    PieceOf,
    Sketch,
    Weights,
    accepted,
    by_group,
    counted,
    cuts_of,
    joined,
    pack_group,
    sketches,
    weights_of_groups,
)
from skewanova.scores.columns import DATASET, HALVING_COLUMNS, NO_FOLD, ColumnMap
from skewanova.scores.halvings import HALVINGS_IN_MEMORY
from skewanova.scores.pairing import STREAMED
from skewanova.scores.reading import read_rows
from skewanova.scores.table import ScoreTable, StreamedScores
from skewanova.scores.validation import check_any_row, check_both_classes, raise_multiple_datasets

#: Rows of one test set, or of runs on it, that come here from an engine, if they fit: more stay there.
MOST_ROWS_HERE = 1_000_000


#: About what a row costs at the worst moment of coming here, and the share of the free memory for that.
BYTES_A_ROW, MEMORY_SHARE = 200, 0.5


def read_distributed(
    source: object, columns: Mapping[str, str] | None, pos_label: object
) -> ScoreTable | StreamedScores:
    """Curves from where the rows are or, where cases are compared one by one, the rows if they fit."""
    engine = detect_backend(source)
    if engine is None:
        raise TypeError(type(source).__name__)
    column_map = ColumnMap.from_names(columns, pos_label=pos_label)
    selected = column_map.select(engine.names, engine.name)
    known = {column: name for column, name in column_map.names.items() if name in selected}
    if any(column in known for column in HALVING_COLUMNS):
        if _fits(engine.n_rows()):
            return _collected(engine, known, pos_label)
        raise InputError(HALVINGS_IN_MEMORY)
    if DATASET in selected and DATASET not in known.values():
        raise_multiple_datasets(DATASET, engine.n_distinct(DATASET))
    if "fold" not in known:
        emit([NO_FOLD])
    result = gather(engine, known, pos_label=pos_label)
    n_rows = int(result.counts.sum())
    if _over_cases(result) and _fits(n_rows) and (result.parts is None or n_rows <= MOST_ROWS_HERE):
        return _collected(engine, known, pos_label)
    return result


def _fits(n_rows: int) -> bool:
    """Whether so many rows take up no more than their share of the free memory."""
    free = available_memory()
    return free is None or n_rows * BYTES_A_ROW <= MEMORY_SHARE * free


def _over_cases(scores: StreamedScores) -> bool:
    """Whether all folds test the same cases, and these are named: rows of an engine have no order."""
    cases = scores.cases
    return cases is not None and bool((cases.shared == cases.n_cases).all())


def _collected(engine: Backend, known: Mapping[str, str], pos_label: object) -> ScoreTable:
    """All rows of an engine in memory, in the order of names, so that no engine's own order tells."""
    datasets = {DATASET: DATASET} if DATASET in engine.names and DATASET not in known.values() else {}
    frame = engine.rows({**known, **datasets})
    keys = [key for key in ("model", "fold", "case") if key in frame]
    if "case" not in keys and frame["fold"].nunique() < 2 and frame["model"].nunique() > 1:
        raise InputError(STREAMED)
    return read_rows(frame.sort_values(keys, key=lambda v: v.astype(str), kind="stable"), pos_label=pos_label)


def gather(engine: Backend, columns: Mapping[str, str], *, pos_label: object) -> StreamedScores:
    """The packed curves of all groups, and what the cases tell."""
    displayed: list[Sketch] = []
    if _largest_group(engine, columns) > packing.MOST_ROWS_OF_GROUP:
        displayed = [item for part in accepted(engine.map_partitions(columns, sketches)) for item in part]
    if cuts := cuts_of(displayed, packing.MOST_ROWS_OF_GROUP):
        packed = _in_pieces(engine, columns, displayed, cuts=cuts, pos_label=pos_label)
    else:
        packed = accepted(engine.map_groups(columns, partial(pack_group, pos_label=pos_label)))
    check_any_row(len(packed))
    groups = Groups.of(packed)
    groups.check(pos_label)
    cases, sampling, parts = look_at_cases(engine, columns, groups, pos_label)
    return StreamedScores(
        models=groups.models,
        folds=groups.folds,
        counts=groups.counts(),
        packed=groups.in_order(),
        cases=cases,
        source=None,
        parts=parts,
        sampling=sampling,
    )


def _largest_group(engine: Backend, columns: Mapping[str, str]) -> int:
    """Rows of the largest group, or of all if they are few."""
    total = engine.n_rows()
    return total if total <= packing.MOST_ROWS_OF_GROUP else engine.largest_group(columns)


def _in_pieces(
    engine: Backend,
    columns: Mapping[str, str],
    shown: Sequence[Sketch],
    *,
    cuts: Mapping[Group, NDArray[Any]],
    pos_label: object,
) -> list[Packed]:
    """Groups of which some are larger than a worker, merged from counts by score level."""
    ordered = sorted(shown, key=lambda one: one.group)
    written = [
        (label, "model {!r} in fold {!r}".format(*one.group)) for one in ordered for label in one.labels
    ]
    labels = [label for label, _ in written]
    positive = check_labels(labels, pos_label=pos_label, where=lambda row: written[row][1])
    both = labels[int(np.argmin(positive))], labels[int(np.argmax(positive))]
    whole = {group: all(one.whole for one in some) for group, some in by_group(shown).items()}
    test_set = "case" in columns and len({fold for _, fold in whole}) == 1
    pack = PieceOf(both, pos_label, with_levels=test_set)
    needed = {own: name for own, name in columns.items() if own not in {"case", "cluster"}}
    result = joined(engine.map_pieces(needed, partial(counted, cuts=cuts), pack))
    weights: dict[Group, list[Weights]] = {}
    if "weight" in columns:
        look = partial(weights_of_groups, labels=both, pos_label=pos_label)
        for group, one in (each for part in engine.map_partitions(needed, look) for each in part):
            weights.setdefault(group, []).append(one)
    packed = []
    for group, names in whole.items():
        curve, levels = result.get(group, (None, None))
        known = Weights.joined(weights[group]) if group in weights else None
        packed.append(Packed(*group, curve, both, names, levels, known))
    groups = Groups.of(packed)
    check_both_classes(groups.models, groups.folds, groups.counts())
    return packed
