"""Compare two comparisons, such as those of two months, by leader, groups and IAUPREC."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from skewanova.base.checks import InputError
from skewanova.base.folders import PROVENANCE
from skewanova.base.frames import FrameResult, iter_rows
from skewanova.base.text import build_table, escape_text, format_column, format_number, shorten_names
from skewanova.comparison.parts import DatasetsComparison
from skewanova.comparison.result import Comparison

CHANGE_COLUMNS = (
    "model", "rank_old", "rank_new", "iauprec_old", "iauprec_new", "change", "group_old", "group_new",
)  # fmt: skip


#: Columns of the ranking that are compared.
RANKING_COLUMNS = ("rank", "model", "iauprec", "group")


#: Settings that must be equal for IAUPREC and groups to be comparable, in words.
COMPARABLE_SETTINGS = {
    "deployment_prior": "deployment prior", "area_estimator": "area estimator", "alpha": "alpha",
    "design_description": "design", "control": "control",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ComparisonDiff(FrameResult):
    """Differences between an old and a new comparison.

    Attributes
    ----------
    leader_old, leader_new : str
        The model with the highest mean IAUPREC (across data sets, with the best mean rank).
    table : DataFrame
        One row for each model of either comparison, in the new ranking order; columns of `CHANGE_COLUMNS`.
    settings : tuple of str
        Settings that differ, in words. If there are any, numbers may differ for that reason alone.
    """

    leader_old: str
    leader_new: str
    table: pd.DataFrame = field(repr=False)
    settings: tuple[str, ...] = ()

    @property
    def leader_changed(self) -> bool:
        """True if another model leads."""
        return self.leader_old != self.leader_new

    def to_frame(self) -> pd.DataFrame:
        """Return model, _old, _new of rank, iauprec, group (nan if absent), change (new - old), by model."""
        return self.table.copy()

    def __str__(self) -> str:
        """Return the summary."""
        return self.summary()

    @property
    def sentences(self) -> tuple[str, ...]:
        """Sentences on the leader, the groups, new and missing models, and settings that differ."""
        names = shorten_names([*self.table["model"], self.leader_old])
        old, new = names[self.leader_old], names[self.leader_new]
        first = f"The leader changed from {old} to {new}." if self.leader_changed else f"{new} still leads."
        both = self.table[self.table["rank_old"].notna() & self.table["rank_new"].notna()]
        changed = both[both["group_old"] != both["group_new"]]
        groups = [
            f"{names[row.model]}: group {row.group_old or 'none'}, now {row.group_new or 'none'}."
            for row in iter_rows(changed)
        ]
        for column, word in (("rank_new", "gone"), ("rank_old", "new")):
            absent = self.table.loc[self.table[column].isna(), "model"]
            groups += [f"{names[model]} is {word}." for model in absent]
        return (first, *groups, *self.settings)

    def summary(self, width: int = 80) -> str:
        """Return as text the sentences, one a line of any length, and a table of at most `width` columns."""
        names = shorten_names(self.table["model"])
        cells: dict[str, Callable[[Any], str]] = {
            "Model": lambda row: row.model,
            "Before": format_column("iauprec_old"),
            "Now": format_column("iauprec_new"),
            "Change": format_column("change"),
            "Rank": lambda row: " -> ".join(format_number(x, 0) or "-" for x in (row.rank_old, row.rank_new)),
            "Group": lambda row: " -> ".join(
                x if isinstance(x, str) and x else "-" for x in (row.group_old, row.group_new)
            ),
        }
        table = build_table("changes", "IAUPREC, rank and group, before and now", self.table, cells)
        return "\n".join([*self.sentences, "", table.to_text(width, names=names)])


def changes(old: Any, new: Any) -> ComparisonDiff:
    """Find what changed between two comparisons: the leader, the groups, and IAUPREC of each model.

    Use it to see if new data would change the choice. It does not test the changes.

    Parameters
    ----------
    old, new : Comparison, DatasetsComparison or path
        Results in memory, folders written by ``save`` or ``--out``, or files with the output of ``--json``.

    Returns
    -------
    ComparisonDiff
        The two leaders, a table of all models, and sentences; print it.

    Raises
    ------
    ValueError
        If an argument is no comparison, and no path of one.

    Examples
    --------
    >>> import skewanova as sa
    >>> scores = sa.load_satellite_scores()
    >>> old, new = (sa.compare(scores, prior, at_priors=(0.5, 0.2)) for prior in ((0.05, 0.2), (0.3, 0.5)))
    >>> result = sa.comparison.changes(old, new)
    >>> result.leader_changed, result.sentences[0]
    (False, 'A still leads.')
    >>> result.table["change"].round(3).tolist()
    [0.142, 0.152, 0.212]
    """
    (before, settings_old), (after, settings_new) = load_ranking(old, "old"), load_ranking(new, "new")
    table = after.merge(before, on="model", how="outer", suffixes=("_new", "_old"))
    table = table.sort_values(["rank_new", "rank_old"], kind="stable", ignore_index=True)
    table["change"] = table["iauprec_new"] - table["iauprec_old"]
    differing = (
        escape_text(f"{words}: {settings_old[name]} before, {settings_new[name]} now.")
        for name, words in COMPARABLE_SETTINGS.items()
        if {name} <= settings_old.keys() & settings_new.keys() and settings_old[name] != settings_new[name]
    )
    return ComparisonDiff(
        leader_old=get_leader(before),
        leader_new=get_leader(after),
        table=table[list(CHANGE_COLUMNS)],
        settings=tuple(differing),
    )


def get_leader(ranking: pd.DataFrame) -> str:
    """Return the name of the model with the lowest rank."""
    return str(ranking.sort_values("rank", kind="stable")["model"].iloc[0])


def load_ranking(source: Any, name: str) -> tuple[pd.DataFrame, Mapping[str, Any]]:
    """Return rank, model, iauprec, group; settings ({} if a JSON lacks them) of a result, path; or raise."""
    if isinstance(source, Comparison):
        return source.ranking[list(RANKING_COLUMNS)], source.settings
    if isinstance(source, DatasetsComparison):
        settings: Mapping[str, Any] = {"deployment_prior": source.deployment_prior, "alpha": source.alpha}
        return source.ranking[list(RANKING_COLUMNS)], settings
    if not isinstance(source, str | os.PathLike):
        raise InputError(f"`{name}` must be a Comparison, a folder or a JSON file, {describe_other(source)}")
    path = Path(source)
    try:
        if path.is_dir():
            ranking = read_result_csv(path / "tables" / "ranking.csv")
            settings = json.loads((path / PROVENANCE).read_text(encoding="utf-8"))["settings"]
        else:
            content = json.loads(path.read_text(encoding="utf-8-sig"))
            ranking, settings = pd.DataFrame(content["ranking"]), content.get("settings", {})
        if not isinstance(settings, Mapping):
            raise ValueError("settings have names")
        return check_ranking(ranking), settings
    except (OSError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"`{name}` must be {WRITTEN_FOLDER}, or a file with the output of its --json, "
            f"{describe_path(path)}"
        ) from error


#: What writes the folder of a comparison.
WRITTEN_FOLDER = "a new folder of result.save('NEW'), or `skewanova compare SCORES --out NEW`, and not edited"


def describe_path(path: Path) -> str:
    """Return "but ..." on a path without a comparison: of values, of several, another path, or none there."""
    if (path / "tables" / "values.csv").is_file():
        return f"but {str(path)!r} holds a comparison of values, which has no IAUPREC"
    parts = sorted(path.glob("*/tables/ranking.csv")) if path.is_dir() else []
    if parts:
        return f"but {str(path)!r} holds several; give that of one, such as {str(parts[0].parents[1])!r}"
    return f"but got {str(path)!r}" if path.exists() else f"but there is no {str(path)!r}"


def describe_other(source: object) -> str:
    """Return the end of a message on an object that is no comparison, with the call that makes one."""
    remedy, several = "make one by skewanova.compare(scores)", getattr(source, "comparisons", None)
    if several:
        remedy = f"pass one of its comparisons, such as .comparisons[{next(iter(several))!r}]"
    return f"but got {type(source).__name__}; {remedy}"


def read_result_csv(path: Path) -> pd.DataFrame:
    """Return a ranking, leaders or score_bins file: names text (NA too), nan in score_high, iauprec only."""
    text = dict.fromkeys(("model", "leader", "contender", "runner_up", "group"), str)
    missing = {"score_high": [""], "iauprec": [""]}
    return pd.read_csv(path, dtype=text, keep_default_na=False, na_values=missing)


def check_ranking(frame: pd.DataFrame) -> pd.DataFrame:
    """Return rank, model, iauprec, group of a file; raise KeyError if one lacks, ValueError if not valid."""
    areas = pd.to_numeric(frame["iauprec"], errors="raise")
    result = frame[list(RANKING_COLUMNS)].assign(iauprec=areas).astype({"rank": float, "model": str})
    if not result["rank"].between(1, len(result)).all() or result["model"].duplicated().any() or result.empty:
        raise ValueError("a model in the ranking is repeated, or its rank is not valid")
    return result
