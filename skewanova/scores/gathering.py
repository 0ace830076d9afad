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

from skewanova.base.checks import check_labels
from skewanova.scores import packing
from skewanova.scores.engine_cases import look_at_cases
from skewanova.scores.engines import Engine
from skewanova.scores.packing import (
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
from skewanova.scores.table import StreamedScores, check_any_row, check_both_classes


def gather(engine: Engine, columns: Mapping[str, str], *, pos_label: object) -> StreamedScores:
    """The packed curves of all groups, and what the cases tell."""
    shown: list[Sketch] = []
    if _largest_group(engine, columns) > packing.MOST_ROWS_OF_GROUP:
        shown = [one for part in accepted(engine.each_part(columns, sketches)) for one in part]
    if cuts := cuts_of(shown, packing.MOST_ROWS_OF_GROUP):
        packed = _in_pieces(engine, columns, shown, cuts=cuts, pos_label=pos_label)
    else:
        packed = accepted(engine.each_group(columns, partial(pack_group, pos_label=pos_label)))
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


def _largest_group(engine: Engine, columns: Mapping[str, str]) -> int:
    """Rows of the largest group, or of all if they are few."""
    total = engine.n_rows()
    return total if total <= packing.MOST_ROWS_OF_GROUP else engine.largest_group(columns)


def _in_pieces(
    engine: Engine,
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
    one_set = "case" in columns and len({fold for _, fold in whole}) == 1
    pack = PieceOf(both, pos_label, with_levels=one_set)
    needed = {own: name for own, name in columns.items() if own not in {"case", "cluster"}}
    found = joined(engine.each_piece(needed, partial(counted, cuts=cuts), pack))
    weights: dict[Group, list[Weights]] = {}
    if "weight" in columns:
        look = partial(weights_of_groups, labels=both, pos_label=pos_label)
        for group, one in (each for part in engine.each_part(needed, look) for each in part):
            weights.setdefault(group, []).append(one)
    packed = []
    for group, names in whole.items():
        curve, levels = found.get(group, (None, None))
        known = Weights.joined(weights[group]) if group in weights else None
        packed.append(Packed(*group, curve, both, names, levels, known))
    groups = Groups.of(packed)
    check_both_classes(groups.models, groups.folds, groups.counts())
    return packed
