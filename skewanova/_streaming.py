"""Parquet tables larger than memory: every group becomes a packed curve, one after the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from tqdm import tqdm

from skewanova import _parquet as parquet
from skewanova._case_keys import CaseReader, all_whole, name_of
from skewanova._case_pass import CaseFacts, CaseStore
from skewanova._group_pass import Group, ScoreReader, clustered_groups, scattered_groups, temporary_file
from skewanova._key_pass import Layout, scan_keys
from skewanova._packed_curves import PackedCurve
from skewanova._score_table import Label, refuse_mixed, refuse_repeated
from skewanova._streamed_scores import CaseSummary, StreamedScores


def stream(
    source: parquet.ParquetSource, names: Mapping[str, str], *, pos_label: object, progress: bool
) -> StreamedScores:
    """Read a table in passes.

    Parameters
    ----------
    source : ParquetSource
        The table.
    names : mapping
        Its columns for model, fold, y_true, y_score and, if there are cases, case.
    pos_label : object
        The positive class, or None.
    progress : bool
        Whether to show a progress bar, if there is a terminal.
    """
    with tqdm(total=0, unit="row", unit_scale=True, disable=None if progress else True, leave=False) as bar:
        return _Stream(source, names, bar).read(pos_label)


class _Stream:
    """The passes over one table."""

    def __init__(self, source: parquet.ParquetSource, names: Mapping[str, str], bar: Any) -> None:
        self.source = source
        self.names = names
        self.bar = bar

    def read(self, pos_label: object) -> StreamedScores:
        """Pass over the keys, then over the scores and cases."""
        layout = scan_keys(self._batches("keys", ["model", "fold", "y_true"]), pos_label, self.source.where)
        scores = ScoreReader(self.source.where)
        cases = self._case_reader() if "case" in self.names else None
        packed: dict[int, PackedCurve] = {}
        with ExitStack() as stack:
            store = None if cases is None else CaseStore(layout.counts, stack.enter_context(temporary_file()))
            for group in self._groups(layout, scores, cases):
                if store is not None and group.case is not None:
                    store.add(group.cell, group.case, group.positive)
                if not scores.n_missing:
                    packed[group.cell] = PackedCurve.of(group.positive, group.score)
            scores.check()
            summary = None if store is None or cases is None else self._summary(layout, cases, store)
        return StreamedScores(
            models=layout.models,
            folds=layout.folds,
            counts=layout.counts,
            packed={_labels(layout, cell): packed[cell] for cell in sorted(packed)},
            cases=summary,
            source=self.source.path,
        )

    def _groups(self, layout: Layout, scores: ScoreReader, cases: CaseReader | None) -> Iterator[Group]:
        columns = ["y_true", "y_score", *(["case"] if cases is not None else [])]
        if layout.runs is not None:
            return clustered_groups(self._batches("scores", columns), layout, scores, cases)
        batches = self._batches("scores", ["model", "fold", *columns])
        return scattered_groups(batches, layout, scores, cases)

    def _batches(self, word: str, columns: Sequence[str]) -> Iterator[Any]:
        """Batches of some columns, as the progress bar counts them."""
        self.bar.set_description(f"reading {word}")
        self.bar.reset(self.source.n_rows)
        for batch in self.source.batches([self.names[column] for column in columns]):
            yield batch
            self.bar.update(len(batch))

    def _case_reader(self) -> CaseReader:
        kind = self.source.schema.field(self.names["case"]).type
        return CaseReader(whole=all_whole(kind, self._batches("cases", ["case"])), where=self.source.where)

    def _summary(self, layout: Layout, cases: CaseReader, store: CaseStore) -> CaseSummary:
        cases.check()
        facts = store.finish()
        if facts.repeated:
            refuse_repeated(facts.repeated, self._shown(layout, facts, cases))
        if facts.mixed:
            named = self._named(cases, facts.mixed_keys)
            refuse_mixed(facts.mixed, [named[key] for key in facts.mixed_keys])
        named = self._named(cases, [key for _, key in facts.unpaired_keys])
        examples = tuple((named[key], layout.folds[fold]) for fold, key in facts.unpaired_keys)
        return CaseSummary(facts.shared, facts.n_cases, facts.unpaired, examples)

    def _shown(self, layout: Layout, facts: CaseFacts, cases: CaseReader) -> str:
        """Where some of the rows stand that repeat an earlier one."""
        wanted, told = set(facts.repeated_keys), []
        keys, start = np.array([key for _, key in wanted]), 0
        met: set[tuple[int, int]] = set()
        for batch in self._batches("cases again", ["model", "fold", "case"]):
            key = cases.take(batch.column(2), start)
            rows = np.flatnonzero(np.isin(key, keys))
            cell = layout.cells(batch.column(0), batch.column(1))
            for row in rows.tolist():
                pair = int(cell[row]), int(key[row])
                if pair in wanted and pair in met:
                    name = name_of(batch.column(2), row, whole=cases.whole)
                    model, fold = _labels(layout, pair[0])
                    told.append(f"({model!r}, {fold!r}, {name!r}) at {self.source.where(start + row)}")
                    wanted.discard(pair)
                met.add(pair)
            start += len(batch)
        return ", ".join(told)

    def _named(self, cases: CaseReader, keys: Sequence[int]) -> dict[int, Label]:
        """How the table spells the cases of some keys."""
        found: dict[int, Label] = {}
        if not keys:
            return found
        for batch in self._batches("cases again", ["case"]):
            column = batch.column(0)
            key = cases.take(column, 0)
            rows = np.flatnonzero(np.isin(key, np.array(keys)))
            for row in rows.tolist():
                found.setdefault(int(key[row]), name_of(column, row, whole=cases.whole))
            if len(found) == len(set(keys)):
                break
        return found


def _labels(layout: Layout, cell: int) -> tuple[str, Label]:
    model, fold = divmod(cell, len(layout.folds))
    return layout.models[model], layout.folds[fold]
