"""Areas or intervals against the truth: the result of a study, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import pandas as pd

from skewanova._checks import check_choice
from skewanova._curve_measures import BRODERSEN_CASES, LEVEL, PRIOR
from skewanova._framed import Framed
from skewanova._rendering import Table, format_number


class _Layout(NamedTuple):
    """How a frame becomes tables: one for each `group`, and what a cell shows."""

    caption: str
    group: str
    row: str
    column: str
    cell: Callable[[pd.Series], str]


_LAYOUTS: Mapping[str, _Layout] = {
    "estimators": _Layout(
        f"Mean estimate over truth at prior {PRIOR:g}, by number of cases",
        "setting",
        "estimator",
        "n_total",
        lambda row: format_number(row["ratio"]),
    ),
    "intervals": _Layout(
        f"Coverage (mean width) of {LEVEL:.0%} intervals for average precision, by number of cases",
        "setting",
        "method",
        "n_total",
        lambda row: f"{_short(row['coverage'])} ({_short(row['width'])})",
    ),
    "paired": _Layout(
        "Size at .05 of tests of two models with the same true area, by number of positives and m/lam",
        "setting",
        "test",
        "design",
        lambda row: _short(row["rate"]),
    ),
    "binormal": _Layout(
        f"Bias of the area with {BRODERSEN_CASES} cases, by share of positives",
        "measure",
        "model",
        "alpha",
        lambda row: f"{row['bias']:+.3f}",
    ),
}


@dataclass(frozen=True, eq=False)
class CurveStudy(Framed):
    """Areas or intervals against the truth.

    Attributes
    ----------
    study : str
        ``estimators``, ``intervals``, ``binormal`` or ``paired``.
    rng : int
        The seed.
    """

    study: str
    rng: int
    _table: pd.DataFrame = field(repr=False)

    def to_frame(self) -> pd.DataFrame:
        """Return one row for each distribution, size (or share of positives) and estimator or method."""
        return self._table.copy()

    @property
    def groups(self) -> tuple[str, ...]:
        """Distributions of the scores; in the study of binormal fits, the areas."""
        return tuple(dict.fromkeys(self._table[_LAYOUTS[self.study].group]))

    def to_table(self, group: str | None = None) -> Table:
        """Return one group as text, a row an estimator or method.

        Parameters
        ----------
        group : str, optional
            One of `groups`, by default the first.

        Raises
        ------
        ValueError
            If the group was not simulated.
        """
        layout = _LAYOUTS[self.study]
        chosen = self.groups[0] if group is None else check_choice(group, self.groups, layout.group)
        frame = _ROWS.get(self.study, _unchanged)(self._table[self._table[layout.group] == chosen])
        cells = {(row[layout.row], row[layout.column]): layout.cell(row) for _, row in frame.iterrows()}
        columns = list(dict.fromkeys(frame[layout.column]))
        rows = tuple(
            (str(name), *(cells.get((name, column), "") for column in columns))
            for name in dict.fromkeys(frame[layout.row])
        )
        few, many = frame["replicates"].min(), frame["replicates"].max()
        counts = f"{few:,}" if few == many else f"{few:,} to {many:,}"
        note = (
            f"{counts} samples, seed {self.rng}; largest Monte Carlo standard error "
            f"{_short(float(frame['std_error'].max()))}."
        )
        header = (layout.row.capitalize(), *(_head(column) for column in columns))
        return Table(self.study, f"{layout.caption} ({chosen})", header, rows, note=note)

    def to_tables(self) -> tuple[Table, ...]:
        """Return a table for every group."""
        return tuple(self.to_table(group) for group in self.groups)


def _unchanged(frame: pd.DataFrame) -> pd.DataFrame:
    return frame


def _by_design(frame: pd.DataFrame) -> pd.DataFrame:
    """Tests in rows for each weighting, sizes in columns."""
    sizes = frame["n_positive"].astype(str) + " / " + frame["support"].astype(str)
    return frame.assign(test=frame["test"] + ", " + frame["weighting"], design=sizes)


def _by_prior(frame: pd.DataFrame) -> pd.DataFrame:
    """Methods in rows, for each prior where there are several."""
    if frame["prior"].nunique() == 1:
        return frame
    return frame.assign(method=frame["method"] + ", prior " + frame["prior"].map("{:g}".format))


_ROWS: Mapping[str, Callable[[pd.DataFrame], pd.DataFrame]] = {"paired": _by_design, "intervals": _by_prior}


def _head(column: object) -> str:
    return column if isinstance(column, str) else f"{column:,}"


def _short(value: float) -> str:
    """Three decimals without the leading zero."""
    return f"{value:.3f}".removeprefix("0")
