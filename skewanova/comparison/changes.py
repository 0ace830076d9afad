"""What changed between two comparisons: leader, groups, IAUPREC."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from skewanova.base.checks import InputError
from skewanova.base.folders import PROVENANCE
from skewanova.base.frames import Framed, records
from skewanova.base.text import Table, format_number, short_names, table_of, visible
from skewanova.comparison.datasets import DatasetsComparison
from skewanova.comparison.result import Comparison

CHANGE_COLUMNS = (
    "model",
    "rank_old",
    "rank_new",
    "iauprec_old",
    "iauprec_new",
    "change",
    "group_old",
    "group_new",
)


#: Columns of a ranking that are held against each other.
COMPARED = ("rank", "model", "iauprec", "group")


#: Settings without which IAUPREC and groups are not the same thing in both.
SAME_QUESTION = ("deployment_prior", "area_estimator", "alpha", "design_description", "control")


@dataclass(frozen=True, eq=False)
class Changes(Framed):
    """What changed from one comparison to another.

    Attributes
    ----------
    leader_old, leader_new : str
        The model with the highest mean IAUPREC (across data sets, the best mean rank).
    table : DataFrame
        One row a model of either, in the order of the new ranking; columns of `CHANGE_COLUMNS`.
    settings : tuple of str
        Settings that differ, so that numbers may differ for that reason alone.
    """

    leader_old: str
    leader_new: str
    table: pd.DataFrame = field(repr=False)
    settings: tuple[str, ...] = ()

    @property
    def leader_changed(self) -> bool:
        """Whether another model leads."""
        return self.leader_old != self.leader_new

    def to_frame(self) -> pd.DataFrame:
        """Return the table."""
        return self.table.copy()

    def __str__(self) -> str:
        """Return the summary."""
        return self.summary()

    @property
    def sentences(self) -> tuple[str, ...]:
        """What changed, in words."""
        names = short_names([*self.table["model"], self.leader_old])
        old, new = names[self.leader_old], names[self.leader_new]
        first = f"The leader changed from {old} to {new}." if self.leader_changed else f"{new} still leads."
        both = self.table[self.table["rank_old"].notna() & self.table["rank_new"].notna()]
        changed = both[both["group_old"] != both["group_new"]]
        groups = [
            f"{names[row.model]}: group {row.group_old or 'none'}, now {row.group_new or 'none'}."
            for row in records(changed)
        ]
        gone = [f"{names[m]} is gone." for m in self.table.loc[self.table["rank_new"].isna(), "model"]]
        come = [f"{names[m]} is new." for m in self.table.loc[self.table["rank_old"].isna(), "model"]]
        return (first, *groups, *gone, *come, *self.settings)

    def summary(self, width: int = 80) -> str:
        """Return what changed as text of at most `width` columns.

        Parameters
        ----------
        width : int, default 80
            Columns to fill.

        Returns
        -------
        str
            Sentences, and the table.
        """
        names = short_names(self.table["model"])
        return "\n".join([*self.sentences, "", _table(self.table).to_text(width, names=names)])


def changes(old: Any, new: Any) -> Changes:
    """Tell what changed between two comparisons in leader, groups and IAUPREC.

    Parameters
    ----------
    old, new : Comparison, DatasetsComparison or path
        Results, folders that ``save`` or ``--out`` wrote, or files that ``--json`` printed.

    Returns
    -------
    Changes
        The leaders, a table of all models, and sentences.

    Raises
    ------
    ValueError
        If a path holds no comparison.

    Examples
    --------
    >>> from skewanova import compare, load_satellite_scores
    >>> from skewanova.comparison.changes import changes
    >>> scores = load_satellite_scores()
    >>> old, new = (compare(scores, prior, at_priors=(0.5, 0.2)) for prior in ((0.05, 0.2), (0.3, 0.5)))
    >>> found = changes(old, new)
    >>> found.leader_changed, found.sentences[0]
    (False, 'A still leads.')
    >>> found.table["change"].round(3).tolist()
    [0.142, 0.152, 0.212]
    """
    before, after = _known(old, "old"), _known(new, "new")
    joined = after.ranking.merge(before.ranking, on="model", how="outer", suffixes=("_new", "_old"))
    joined = joined.sort_values(["rank_new", "rank_old"], kind="stable", ignore_index=True)
    joined["change"] = joined["iauprec_new"] - joined["iauprec_old"]
    differing = (
        visible(f"{name}: {before.settings.get(name)} before, {after.settings.get(name)} now.")
        for name in SAME_QUESTION
        if before.settings.get(name) != after.settings.get(name)
    )
    return Changes(
        leader_old=_leader(before.ranking),
        leader_new=_leader(after.ranking),
        table=joined[list(CHANGE_COLUMNS)],
        settings=tuple(differing),
    )


@dataclass(frozen=True)
class _Known:
    ranking: pd.DataFrame
    settings: Mapping[str, Any]


def _leader(ranking: pd.DataFrame) -> str:
    return str(ranking.sort_values("rank", kind="stable")["model"].iloc[0])


def _known(source: Any, name: str) -> _Known:
    """Ranking and settings of a result, a folder or a JSON file."""
    if isinstance(source, Comparison):
        return _Known(source.ranking[list(COMPARED)], source.settings)
    if isinstance(source, DatasetsComparison):
        settings = {"deployment_prior": source.deployment_prior, "alpha": source.alpha}
        return _Known(source.ranking[list(COMPARED)], settings)
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"`{name}` must be a comparison, a folder or a JSON file, but got {source!r}")
    path = Path(source)
    refusal = InputError(
        f"`{name}` must be a folder that `skewanova compare --out` wrote or a file that its --json printed, "
        f"but got {str(path)!r}"
    )
    try:
        return _of_folder(path) if path.is_dir() else _of_json(path)
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise refusal from error


def _of_folder(path: Path) -> _Known:
    text = {"model": str, "group": str}
    ranking = pd.read_csv(
        path / "ranking.csv", dtype=text, keep_default_na=False, na_values={"iauprec": [""]}
    )
    with (path / PROVENANCE).open(encoding="utf-8") as file:
        return _read(ranking, json.load(file)["settings"])


def _of_json(path: Path) -> _Known:
    with path.open(encoding="utf-8") as file:
        content = json.load(file)
    return _read(pd.DataFrame(content["ranking"]), content.get("settings", {}))


def _read(ranking: pd.DataFrame, settings: Any) -> _Known:
    """Ranking and settings, as far as they are such."""
    if not isinstance(settings, Mapping):
        raise ValueError("settings have names")
    return _Known(checked_ranking(ranking), settings)


def checked_ranking(frame: pd.DataFrame) -> pd.DataFrame:
    """The ranking of a file that somebody may have edited: every model once, with a rank and an area."""
    areas = pd.to_numeric(frame["iauprec"], errors="raise")
    result = frame[list(COMPARED)].assign(iauprec=areas).astype({"rank": float, "model": str})
    if not result["rank"].between(1, len(result)).all() or result["model"].duplicated().any() or result.empty:
        raise ValueError("every model has a rank, once")
    return result


def _table(changed: pd.DataFrame) -> Table:
    """Old and new of every model."""
    return table_of(
        "changes",
        "IAUPREC, rank and group, before and now",
        changed,
        {
            "Model": lambda row: row.model,
            "Before": lambda row: format_number(row.iauprec_old),
            "Now": lambda row: format_number(row.iauprec_new),
            "Change": lambda row: format_number(row.change),
            "Rank": lambda row: f"{_rank(row.rank_old)} -> {_rank(row.rank_new)}",
            "Group": lambda row: f"{_group(row.group_old)} -> {_group(row.group_new)}",
        },
    )


def _rank(value: float) -> str:
    return format_number(value, 0) or "-"


def _group(value: Any) -> str:
    return str(value) if isinstance(value, str) and value else "-"
