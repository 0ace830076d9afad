"""What a study found: frame and tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from skewanova.base.checks import check_choice
from skewanova.base.frames import FrameResult, iter_rows, list_distinct
from skewanova.base.text import Table, format_number
from skewanova.comparison.analysis import choose_pairwise_test
from skewanova.inference.catalogue import get_test, name_family
from skewanova.scores.design import FoldDesign
from studies.runner import Cell, Run, simulated
from studies.scenarios import BRODERSEN_CASES, LEVEL, PRIOR, SIXTEEN_PRIORS

OMNIBUS_DEFAULT = "default_omnibus"


PAIRS_DEFAULT = "default"


def name_pairwise_test(design: FoldDesign, alpha: float) -> str:
    """Return the chosen pairwise test with its adjustment, as in ``corrected_t_holm``; ``max_t`` has none."""
    method = choose_pairwise_test(design, alpha)
    return name_family(method, "holm" if get_test(method).needs_adjustment else "")


class _Layout(NamedTuple):
    """How a frame becomes tables: one for each `group`, and what a cell shows."""

    caption: Callable[[str], str]
    group: str
    row: str
    column: str
    cell: Callable[[Any], str]
    unit: str = "samples"
    rows: Callable[[pd.DataFrame], pd.DataFrame] = lambda frame: frame


@dataclass(frozen=True, eq=False)
class Study(FrameResult):
    """What a simulation found.

    Attributes
    ----------
    study : str
        Its name, such as ``type_one_error``.
    rng : int
        The seed.
    """

    study: str
    rng: int
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return the numbers: the columns are listed where the study is."""
        return self._table.copy()

    @property
    def groups(self) -> tuple[str, ...]:
        """What there is a table for each of: distributions of scores, measures, or kinds of rates."""
        if self.study not in _LAYOUTS:
            return ("all",)
        return tuple(list_distinct(self._laid_out()[_LAYOUTS[self.study].group]))

    def to_table(self, group: str | None = None) -> Table:
        """Return one group as text.

        Parameters
        ----------
        group : str, optional
            One of `groups`, by default the first.

        Raises
        ------
        ValueError
            If the group was not simulated.
        """
        if self.study not in _LAYOUTS:
            return self._whole()
        layout, frame = _LAYOUTS[self.study], self._laid_out()
        chosen = self.groups[0] if group is None else check_choice(group, self.groups, layout.group)
        frame = frame[frame[layout.group] == chosen]
        places = zip(frame[layout.row], frame[layout.column], strict=True)
        cells = dict(zip(places, map(layout.cell, iter_rows(frame)), strict=True))
        columns = list_distinct(frame[layout.column])
        rows = tuple(
            (str(name), *(cells.get((name, column), "") for column in columns))
            for name in list_distinct(frame[layout.row])
        )
        header = (layout.row.capitalize(), *map(_head, columns))
        note = f"{self._counted()} {layout.unit}, seed {self.rng}{_errors(frame)}."
        return Table(self.study, layout.caption(chosen), header, rows, note=note)

    def to_tables(self) -> tuple[Table, ...]:
        """Return a table for every group."""
        return tuple(self.to_table(group) for group in self.groups)

    def _laid_out(self) -> pd.DataFrame:
        return _LAYOUTS[self.study].rows(self._table)

    def _counted(self) -> str:
        few, many = self._table["replicates"].min(), self._table["replicates"].max()
        return f"{few:,}" if few == many else f"{few:,} to {many:,}"

    def _whole(self) -> Table:
        """Return the frame as it is, numbers rounded."""
        frame = self._table.drop(columns="replicates")
        rows = tuple(
            tuple(format_number(v) if isinstance(v, float) else str(v) for v in row)
            for row in iter_rows(frame)
        )
        note = f"{self._counted()} replicates of each setting, seed {self.rng}."
        header = tuple(str(column).replace("_", " ") for column in frame)
        return Table(self.study, f"Study of decisions: {self.study}", header, rows, note=note)


def study_of(
    name: str,
    cells: Sequence[Cell],
    rows: Callable[[Cell, Any], Iterable[tuple[object, ...]]],
    *,
    columns: Sequence[str],
    run: Run,
    seeded_by: str | None = None,
) -> Study:
    """Simulate the cells, and make rows of what was measured in each; seeds come from the study's name."""
    found = simulated(name if seeded_by is None else seeded_by, cells, run)
    table = pd.DataFrame([row for cell, values in found for row in rows(cell, values)], columns=list(columns))
    return Study(name, run.rng, table)


def _by_design(frame: pd.DataFrame) -> pd.DataFrame:
    """Return tests in rows for each weighting, sizes in columns."""
    sizes = frame["n_positive"].astype(str) + " / " + frame["support"].astype(str)
    models = frame["n_models"].astype(str) + " models"
    level = "at " + frame["level"].map(_short_level)
    row = frame["test"] + ", " + models + ", " + frame["weighting"] + ", " + level
    return frame.assign(test=row, design=sizes)


def _short_level(level: float) -> str:
    return f"{level:g}".removeprefix("0")


def _by_prior(frame: pd.DataFrame) -> pd.DataFrame:
    """Methods in rows, for each prior where there are several."""
    if frame["prior"].nunique() == 1:
        return frame
    return frame.assign(method=frame["method"] + ", prior " + frame["prior"].map("{:g}".format))


def _rates(frame: pd.DataFrame) -> pd.DataFrame:
    """Rates of every test and scenario at the levels side by side, of either kind in turn."""
    head = frame["scenario"]
    if "effect" in frame:
        head = head + ", +" + frame["effect"].map("{:g}".format)
    kinds = [kind for kind in _OF_RATES if kind in frame]
    long = frame.assign(head=head).melt(["test", "head"], kinds, "rate of", "share")
    return long.groupby(["rate of", "test", "head"], sort=False, as_index=False).agg({"share": list})


def _by_way(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the levels side by side; the price in fits stands with the way."""
    truth = frame["effect"].map(lambda e: f"one better by {e:g}" if e else "all equal")
    way = frame["way"] + ", " + frame["question"] + ", " + frame["n_fits"].astype(str) + " fits"
    named = frame.assign(**{"models in truth": truth, "way and test": way})
    keys = ["models in truth", "way and test", "scenario"]
    return named.groupby(keys, sort=False, as_index=False).agg({"rate": list, "std_error": "max"})


def _levels(rates: Sequence[float]) -> str:
    return " / ".join("-" if np.isnan(rate) else _short(rate) for rate in rates)


def _errors(frame: pd.DataFrame) -> str:
    if "std_error" not in frame:
        return ". Monte Carlo standard errors are in the frame"
    return f"; largest Monte Carlo standard error {_short(float(frame['std_error'].max()))}"


def _head(column: object) -> str:
    return column if isinstance(column, str) else f"{column:,}"


def _short(value: float) -> str:
    """Three decimals without the leading zero."""
    return f"{value:.3f}".removeprefix("0")


_OF_RATES = {
    "rate": "Power at .05 / .005; for pairs, share of the true differences found",
    "adjusted_rate": "Power at .05 / .005 once every test is held to that level in truth",
}


_LAYOUTS: Mapping[str, _Layout] = {
    "estimators": _Layout(
        lambda group: f"Mean estimate over truth at prior {PRIOR:g}, by number of cases ({group})",
        "setting",
        "estimator",
        "n_total",
        lambda row: format_number(row.ratio),
    ),
    "estimators_by_prior": _Layout(
        lambda group: f"Mean estimate over truth (standard deviation over truth), by prior ({group})",
        "sample",
        "estimator",
        "prior",
        lambda row: f"{row.ratio:.3f} ({row.std_dev / row.truth:.3f})",
        rows=lambda frame: frame.assign(
            sample=frame["setting"] + ", " + frame["n_total"].map("{:,}".format) + " cases"
        ),
    ),
    "intervals": _Layout(
        lambda group: (
            f"Coverage (mean width) of {LEVEL:.0%} intervals for average precision, by number of cases "
            f"({group})"
        ),
        "setting",
        "method",
        "n_total",
        lambda row: f"{_short(row.coverage)} ({_short(row.width)})",
        rows=_by_prior,
    ),
    "prior": _Layout(
        lambda group: f"Coverage (mean width) of intervals of the prior at level {group}, by number of bins",
        "level",
        "setting",
        "bins",
        lambda row: f"{_short(row.coverage)} ({format_number(row.width)})",
        rows=lambda frame: frame.assign(level=frame["level"].map(_short_level)),
    ),
    "paired": _Layout(
        lambda group: (
            f"Size of tests of models with the same true area, by number of positives and m/lam ({group})"
        ),
        "setting",
        "test",
        "design",
        lambda row: _short(row.rate),
        rows=_by_design,
    ),
    "support": _Layout(
        lambda group: f"{group[0].upper()}{group[1:]}, by positives and effective negatives",
        "group",
        "positives",
        "effective_negatives",
        lambda row: _short(row.rate),
        "tables",
        rows=lambda frame: frame.assign(
            group=frame["measure"] + ", " + frame["design"],
            positives=frame["n_positive"].astype(str) + ", prior " + frame["prior"].map("{:g}".format),
        ),
    ),
    "binormal": _Layout(
        lambda group: f"Bias of the area with {BRODERSEN_CASES} cases, by share of positives ({group})",
        "measure",
        "model",
        "alpha",
        lambda row: f"{row.bias:+.3f}",
    ),
    "type_one_error": _Layout(
        lambda _: "Rejections of true equality at .05 / .005; for pairs, of any true equality",
        "rate of",
        "test",
        "head",
        lambda row: _levels(row.share),
        "replicates",
        _rates,
    ),
    "split_half": _Layout(
        lambda group: f"Rejections at .05 / .005, {group}",
        "models in truth",
        "way and test",
        "scenario",
        lambda row: _levels(row.rate),
        "replicates",
        _by_way,
    ),
    "power": _Layout(
        _OF_RATES.__getitem__, "rate of", "test", "head", lambda row: _levels(row.share), "replicates", _rates
    ),
}


def role(test: str) -> str:
    """Whether a test is the primary test, as published, or another."""
    if test in {OMNIBUS_DEFAULT, PAIRS_DEFAULT}:
        return "primary"
    return "published" if get_test(test.removesuffix(SIXTEEN_PRIORS)).published else "secondary"
